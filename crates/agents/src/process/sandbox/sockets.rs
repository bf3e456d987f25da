//! Lists the Unix sockets in the file system.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

/// Agents are allowed to see the sockets in these folders, because the services behind the sockets do nothing but
/// resolve names of hosts and users.
const RESOLVERS: [&str; 4] = [
    "/run/systemd/resolve/",
    "/run/systemd/userdb/",
    "/run/nscd/",
    "/var/run/nscd/",
];
/// The folders in which Glee searches for sockets of other network namespaces. For example, the host of a
/// container has another network namespace.
const FOLDERS: [&str; 5] = ["/run", "/var/run", "/tmp", "/tmp/.X11-unix", "/run/dbus"];
const MOST: usize = 4_000;

pub(super) fn all() -> BTreeSet<PathBuf> {
    let listening = fs::read("/proc/net/unix").unwrap_or_default();
    let mounted = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let found = in_table(&String::from_utf8_lossy(&listening))
        .into_iter()
        .chain(mount_points(&mounted))
        .chain(
            FOLDERS
                .iter()
                .flat_map(|folder| in_folder(Path::new(folder))),
        );
    found
        .filter(|path| !RESOLVERS.iter().any(|begin| path.starts_with(begin)))
        .filter(|path| fs::metadata(path).is_ok_and(|meta| meta.file_type().is_socket()))
        .filter_map(|path| path.canonicalize().ok())
        .take(MOST)
        .collect()
}

fn in_table(table: &str) -> Vec<PathBuf> {
    table
        .lines()
        .filter_map(|line| {
            let at = line
                .match_indices(' ')
                .map(|(at, _)| at + 1)
                .find(|at| line[*at..].starts_with('/'))?;
            Some(PathBuf::from(&line[at..]))
        })
        .collect()
}

fn mount_points(table: &str) -> Vec<PathBuf> {
    // The kernel escapes a space in a path as `\040`.
    table
        .lines()
        .filter_map(|line| {
            line.split(' ')
                .nth(4)
                .map(|path| PathBuf::from(path.replace("\\040", " ")))
        })
        .collect()
}

fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket()))
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn sockets_are_found_by_the_kernels_tables() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            ffff: 00000002 00000000 00010000 0001 01 18151 /run/a b/x.sock\n\
            ffff: 00000002 00000000 00010000 0001 01 18152 @abstract/x\n\
            ffff: 00000003 00000000 00000000 0001 03 18153\n\
            ffff: 00000002 00000000 00000000 0002 01 18154 /dev/log\n";
        assert_eq!(
            in_table(table),
            [PathBuf::from("/run/a b/x.sock"), PathBuf::from("/dev/log")]
        );
        let mounts = "22 1 0:5 / /a\\040b rw - tmpfs t rw\n23 1 0:5 /d.sock /run/d.sock rw - ext4 /dev/x rw\n";
        assert_eq!(
            mount_points(mounts),
            [PathBuf::from("/a b"), PathBuf::from("/run/d.sock")]
        );
    }

    #[test]
    fn a_socket_is_found_while_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("listening");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(all().contains(&path));
        drop(listener);
        fs::remove_file(&path).unwrap();
        assert!(!all().contains(&path));
    }
}
