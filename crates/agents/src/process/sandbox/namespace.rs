//! Mounts the private file system of a read-only agent. This file system has a copy of the caches and a separate
//! `/dev/shm`, but no sockets of other programs, and nothing of the home folder but what the agent can open. The
//! mounts are in a separate mount namespace. If the agent does not run as root, Glee first creates a user namespace that keeps the user's id. On some systems, Glee can create
//! a namespace but cannot mount in the namespace. A separate process therefore tests mounting in advance. Landlock
//! prevents the agent from undoing the mounts.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{fs, io};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};

use super::{network, sockets};
use crate::Confinement;
use crate::process::sandbox::confinement::{Hold, SHARED_MEMORY, Surroundings, is_device};
use glee_workspace::git::path_bytes;

/// If Glee's binary gets this hidden first argument, the binary only tests whether namespaces work, and then
/// exits.
pub const NAME: &str = "__namespace";

const OWN: CloneFlags = CloneFlags::CLONE_NEWNS.union(CloneFlags::CLONE_NEWIPC);

/// Tests whether this process can create namespaces and mount in them. The exit status is 0 if the test
/// succeeds.
pub fn probe() -> ExitCode {
    let tried = new_namespaces(false).and_then(|()| empty(Path::new("/")));
    if tried.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Starts Glee's program, whose path is `glee`, to test whether agents can run in namespaces.
pub fn makes_namespaces(glee: &Path) -> bool {
    let mut command = Command::new(glee);
    command
        .arg(NAME)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Moves this process into new namespaces and makes the mounts. Returns the mounts that succeeded.
pub(super) fn enter(confinement: &Confinement, temporary: &Path) -> Surroundings {
    let sockets = sockets::all();
    if new_namespaces(confinement.is_offline).is_err() {
        return Surroundings::without_mounts(confinement);
    }
    if let Some((from, to)) = &confinement.over
        && put_over(Path::new(from), Path::new(to)).is_err()
    {
        return Surroundings::without_mounts(confinement);
    }
    if confinement.is_offline {
        // Without its loopback device, a program can still run; a test that listens on it then fails.
        drop(network::enable_loopback());
    }
    if !confinement.hold.holds() {
        return Surroundings::default();
    }
    let own: Vec<&Path> = confinement.writable.iter().map(Path::new).collect();
    let cache = confinement.cache.as_ref().map(PathBuf::from);
    let cache = cache
        .filter(|cache| !temporary.starts_with(cache) && cover(cache, temporary, &own).is_ok());
    let memory = Path::new(SHARED_MEMORY);
    // Who works in `/dev/shm`, where a tree or `TMPDIR` can be, needs what is there.
    let here = std::env::current_dir().unwrap_or_default();
    let open = confinement.open.iter().map(Path::new);
    let mut needed = open.chain(own.iter().copied()).chain([temporary, &here]);
    let is_needed = needed.any(|path| path.starts_with(memory));
    let has_memory = !is_needed && memory.is_dir() && empty(memory).is_ok();
    for socket in sockets
        .iter()
        .filter(|socket| !own.iter().any(|own| socket.starts_with(own)))
    {
        drop(bind(Path::new("/dev/null"), socket));
    }
    let covered = cover_closed(confinement);
    Surroundings {
        cache,
        has_memory,
        has_covers: covered.is_ok(),
        instead: None,
        has_failed: covered.is_err() && confinement.hold == Hold::Always,
    }
}

/// Mounts empty folders over the closed places, and the open places inside of them in their former places.
fn cover_closed(confinement: &Confinement) -> io::Result<()> {
    let here = std::env::current_dir()?;
    let links = confinement.links.iter().map(Path::new);
    let links = links.filter(|link| !confinement.opens(link));
    let links: Vec<(&Path, PathBuf)> = links
        .filter_map(|link| Some((link, fs::read_link(link).ok()?)))
        .collect();
    let open = confinement.open.iter().map(Path::new);
    // A folder is still reachable by its descriptor after a mount has covered it.
    let open = open.filter_map(|path| Some((path, Some(descriptor(path).ok()?))));
    let closed = confinement
        .closed
        .iter()
        .map(|path| (Path::new(path), None));
    let mut places: BTreeMap<&Path, Option<File>> = closed.chain(open).collect();
    // A folder comes before what it contains.
    for (path, kept) in &mut places {
        let is_visible = path.parent().is_none_or(|above| confinement.opens(above));
        match kept.take() {
            Some(kept) if !is_visible => restore(path, &kept)?,
            None if is_visible && path.is_dir() => empty(path)?,
            None if is_visible && path.exists() => bind(Path::new("/dev/null"), path)?,
            _ => {}
        }
    }
    for (link, target) in links {
        fs::create_dir_all(link.parent().unwrap_or(link))?;
        symlink(target, link)?;
    }
    // The process is still in the covered folder.
    std::env::set_current_dir(here)
}

fn descriptor(path: &Path) -> io::Result<File> {
    let flags = (OFlag::O_PATH | OFlag::O_CLOEXEC).bits();
    File::options().read(true).custom_flags(flags).open(path)
}

fn restore(path: &Path, kept: &File) -> io::Result<()> {
    if kept.metadata()?.is_dir() {
        fs::create_dir_all(path)?;
    } else {
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        File::create(path)?;
    }
    let kept = format!("/proc/self/fd/{}", kept.as_raw_fd());
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    Ok(mount(
        Some(kept.as_str()),
        path,
        None::<&str>,
        flags,
        None::<&str>,
    )?)
}

/// Puts the next process that this thread starts, with its descendants, into a namespace of processes. The kernel kills
/// all of them when the first one ends. Returns true on success.
pub(crate) fn separate_processes() -> bool {
    unshare(CloneFlags::CLONE_NEWPID).is_ok()
}

/// Gives this thread the highest priority, where it may have it.
pub(crate) fn hurry() {
    // Only root may, and only root's programs have no other limit of their processes.
    let _ = rustix::process::setpriority_process(None, -20);
}

/// Makes all mounts read-only for this thread and its descendants. The folders in `writable` stay writable.
/// Returns true on success. Descendants cannot make the mounts writable again, because descendants lack the
/// capability to mount. A descendant can create a new namespace, but the mounts in the new namespace are locked.
/// Unlike Landlock, read-only mounts do not keep a program from creating a sandbox.
pub fn make_read_only<'a>(writable: impl Iterator<Item = &'a Path>) -> bool {
    let writable = writable.filter(|path| path.exists() && !is_device(path));
    remount(&writable.collect::<Vec<_>>()).is_ok()
}

fn remount(writable: &[&Path]) -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    // Without `MS_PRIVATE`, a later mount outside the namespace would also appear inside the namespace, and would
    // be writable there.
    mount(
        None::<&str>,
        "/",
        None::<&str>,
        MsFlags::MS_REC | MsFlags::MS_PRIVATE,
        None::<&str>,
    )?;
    for folder in writable {
        mount(
            Some(*folder),
            *folder,
            None::<&str>,
            MsFlags::MS_BIND | MsFlags::MS_REC,
            None::<&str>,
        )?;
    }
    let table = fs::read("/proc/self/mountinfo")?;
    for line in path_bytes::items(&table, b'\n') {
        let found = MountPoint::of(line).ok_or(io::ErrorKind::InvalidData)?;
        // `/proc` stays writable, because the creation of a user namespace writes to `/proc`. Mounts of the type
        // `autofs` are skipped, because `autofs` contains no files.
        if ["proc", "autofs"].contains(&found.kind.as_str())
            || writable.contains(&found.path.as_path())
        {
            continue;
        }
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | found.flags;
        match mount(None::<&str>, &found.path, None::<&str>, flags, None::<&str>) {
            // These errors are ignored: either another mount covers the mount point, or the user cannot access
            // the mount point.
            Ok(()) | Err(Errno::EINVAL | Errno::ENOENT | Errno::ENOTDIR | Errno::EACCES) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// A line of `/proc/self/mountinfo`.
struct MountPoint {
    path: PathBuf,
    /// The current flags of the mount. A remount must repeat these flags, because a remount clears all flags that
    /// are not repeated.
    flags: MsFlags,
    kind: String,
}

impl MountPoint {
    fn of(line: &[u8]) -> Option<Self> {
        const FLAGS: [(&str, MsFlags); 3] = [
            ("nosuid", MsFlags::MS_NOSUID),
            ("nodev", MsFlags::MS_NODEV),
            ("noexec", MsFlags::MS_NOEXEC),
        ];
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        let options = std::str::from_utf8(fields.get(5)?).ok()?;
        let kind = fields.iter().skip_while(|field| **field != b"-").nth(1)?;
        // The kernel and git use the same escapes for blanks and backslashes.
        let quoted = [b"\"", *fields.get(4)?, b"\""].concat();
        Some(Self {
            path: path_bytes::path(&path_bytes::unquoted(&quoted)?),
            flags: FLAGS
                .iter()
                .filter(|(name, _)| options.split(',').any(|option| option == *name))
                .map(|(_, flag)| *flag)
                .collect(),
            kind: String::from_utf8_lossy(kind).into_owned(),
        })
    }
}

fn new_namespaces(is_offline: bool) -> io::Result<()> {
    let user = geteuid();
    let group = getegid();
    let own = match is_offline {
        true => OWN | CloneFlags::CLONE_NEWNET,
        false => OWN,
    };
    if !user.is_root() || unshare(own).is_err() {
        unshare(own | CloneFlags::CLONE_NEWUSER)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    // Prevents the mounts from propagating to other namespaces.
    Ok(mount(
        None::<&str>,
        "/",
        None::<&str>,
        MsFlags::MS_REC | MsFlags::MS_SLAVE,
        None::<&str>,
    )?)
}

fn empty(folder: &Path) -> io::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    Ok(mount(
        Some("glee"),
        folder,
        Some("tmpfs"),
        flags,
        Some("mode=0700"),
    )?)
}

/// Mounts `from` over `to`, with the `.git` of `to` inside, and enters the new folder if `to` is the current folder.
fn put_over(from: &Path, to: &Path) -> io::Result<()> {
    let here = std::env::current_dir()?;
    let all = MsFlags::MS_BIND | MsFlags::MS_REC;
    let git = to.join(".git");
    let point = from.join(".git");
    if point.exists() {
        mount(Some(&git), &point, None::<&str>, all, None::<&str>)?;
    }
    mount(Some(from), to, None::<&str>, all, None::<&str>)?;
    // The process is still in the covered folder.
    std::env::set_current_dir(here)
}

fn bind(from: &Path, to: &Path) -> io::Result<()> {
    Ok(mount(
        Some(from),
        to,
        None::<&str>,
        MsFlags::MS_BIND,
        None::<&str>,
    )?)
}

/// Mounts an overlay over a folder. Changes to the folder stay in memory, and are lost when the last process in
/// the namespace ends. A write to a path in `own` bypasses the overlay and reaches the disk.
fn cover(folder: &Path, temporary: &Path, own: &[&Path]) -> io::Result<()> {
    let place = temporary.join(".changes");
    fs::create_dir(&place)?;
    empty(&place)?;
    let made = overlay(folder, &place, own);
    let _ = umount2(&place, MntFlags::MNT_DETACH);
    drop(fs::remove_dir(&place));
    made
}

fn overlay(folder: &Path, place: &Path, own: &[&Path]) -> io::Result<()> {
    let upper = place.join("upper");
    let work = place.join("work");
    fs::create_dir(&upper)?;
    fs::create_dir(&work)?;
    fs::set_permissions(&upper, fs::metadata(folder)?.permissions())?;
    let mut kept = Vec::new();
    for (number, path) in own
        .iter()
        .filter(|path| path.starts_with(folder) && path.is_dir())
        .enumerate()
    {
        let at = place.join(number.to_string());
        fs::create_dir(&at)?;
        bind(path, &at)?;
        kept.push((at, *path));
    }
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        option(folder)?,
        option(&upper)?,
        option(&work)?
    );
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    let with_attributes = format!("{options},userxattr");
    mount(
        Some("glee"),
        folder,
        Some("overlay"),
        flags,
        Some(with_attributes.as_str()),
    )
    .or_else(|_| {
        mount(
            Some("glee"),
            folder,
            Some("overlay"),
            flags,
            Some(options.as_str()),
        )
    })?;
    for (at, path) in kept {
        bind(&at, path)?;
    }
    Ok(())
}

// A path with a comma, a colon or a backslash is refused, because these characters have a meaning in mount
// options.
fn option(path: &Path) -> io::Result<String> {
    let text = path
        .to_str()
        .filter(|text| !text.contains([',', ':', '\\']));
    text.map(ToOwned::to_owned)
        .ok_or(io::Error::from(io::ErrorKind::InvalidInput))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_mount_table() {
        let line =
            br#"36 35 98:0 / /a\040b"c rw,nosuid,noexec,relatime shared:1 master:2 - ext4 /dev/root rw,nodev"#;
        let found = MountPoint::of(line).expect("a mount");
        assert_eq!(
            (found.path, found.kind.as_str()),
            (PathBuf::from("/a b\"c"), "ext4")
        );
        assert_eq!(found.flags, MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC);
        assert!(MountPoint::of(b"36 35 98:0 / /a rw").is_none());
    }
}
