//! Opens files after checking their type. Opening a FIFO would block until a writer opens the FIFO. Reading from
//! some devices never ends. A path from a configuration or from the tree must lead to a regular file
//! ([`regular`]). A path on the command line can also lead to a FIFO, as in `--diff <(git diff)` ([`input`]).

use std::fs::{File, FileType, Metadata};
use std::io::{self, IsTerminal as _, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nix::fcntl::OFlag;

/// Opens a regular file for reading, and follows symbolic links. Fails immediately if the file is a FIFO.
pub fn regular(path: &Path) -> io::Result<File> {
    // Opening some devices has side effects, so the type is checked both before and after opening.
    checked(std::fs::metadata(path)?.file_type())?;
    let file = open_at_once(path)?;
    checked(file.metadata()?.file_type())?;
    Ok(file)
}

/// Whether the file with these metadata receives what this process prints, because a shell redirected standard output
/// or standard error.
pub fn is_own_output(meta: &Metadata) -> bool {
    static OWN: OnceLock<Vec<(u64, u64)>> = OnceLock::new();
    let place = |meta: &Metadata| (meta.dev(), meta.ino());
    let own = OWN.get_or_init(|| {
        let out = io::stdout();
        let err = io::stderr();
        let opened = [out.as_fd(), err.as_fd()].map(|output| output.try_clone_to_owned());
        let found = opened
            .into_iter()
            .flatten()
            .filter_map(|output| File::from(output).metadata().ok());
        found.map(|meta| place(&meta)).collect()
    });
    own.contains(&place(meta))
}

pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    regular(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Opens input that the user names: a regular file, a FIFO, a terminal, `/dev/null` or standard input.
pub fn input(path: &Path) -> io::Result<File> {
    if let Some(stdin) = standard(path) {
        return stdin;
    }
    let found = std::fs::metadata(path)?;
    if found.file_type().is_fifo() {
        return File::open(path);
    }
    if is_empty_device(&found) {
        return open_at_once(path);
    }
    match regular(path) {
        Err(_) if is_terminal(path) => File::open(path),
        opened => opened,
    }
}

/// Replaces `target` atomically. `write` creates the new version at `aside`, which is on the same file system as
/// `target`. One process at a time uses `aside`: what a killed process left there is removed.
pub fn replace(
    target: &Path,
    aside: &Path,
    write: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    remove(aside)?;
    let replaced = write(aside).and_then(|()| std::fs::rename(aside, target));
    if replaced.is_err() {
        remove(aside)?;
    }
    replaced
}

/// Removes a file. A missing file is no error.
pub fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The git folder of the work tree that contains `folder`: `.git`, or the folder that a `.git` file names. Runs no
/// git.
pub fn git_folder(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find_map(|above| {
        let git = above.join(".git");
        if git.is_dir() {
            return Some(git);
        }
        let text = read_to_string(&git).ok()?;
        let named = above.join(text.strip_prefix("gitdir: ")?.trim_end());
        named.is_dir().then_some(named)
    })
}

fn checked(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    let text = format!("it is {}, not a regular file", what(kind));
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

fn what(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

fn is_empty_device(found: &Metadata) -> bool {
    found.file_type().is_char_device()
        && std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == found.rdev())
}

/// Duplicates standard input if `path` is a name of standard input, such as `/dev/stdin`. If standard input is a
/// socket, opening the path `/dev/stdin` would fail.
fn standard(path: &Path) -> Option<io::Result<File>> {
    let is_stdin = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"]
        .iter()
        .any(|name| path == Path::new(name));
    is_stdin.then(|| io::stdin().as_fd().try_clone_to_owned().map(File::from))
}

fn is_terminal(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.file_type().is_char_device())
        && open_at_once(path).is_ok_and(|file| file.is_terminal())
}

/// Opens a file without waiting for the writer of a FIFO, and without acquiring a controlling terminal.
fn open_at_once(path: &Path) -> io::Result<File> {
    File::options()
        .read(true)
        .custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits())
        .open(path)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_regular_files_are_opened_and_the_rest_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        std::fs::write(place("file"), "text").unwrap();
        std::os::unix::fs::symlink(place("file"), place("link")).unwrap();
        nix::unistd::mkfifo(&place("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::os::unix::fs::symlink(place("fifo"), place("link to a FIFO")).unwrap();
        let _socket = UnixListener::bind(place("socket")).unwrap();
        assert_eq!(read_to_string(&place("file")).unwrap(), "text");
        assert_eq!(read_to_string(&place("link")).unwrap(), "text");
        let rows = [
            (
                folder.path().to_owned(),
                "it is a folder, not a regular file",
            ),
            (place("fifo"), "it is a FIFO, not a regular file"),
            (place("link to a FIFO"), "it is a FIFO, not a regular file"),
            (place("socket"), "it is a socket, not a regular file"),
            ("/dev/zero".into(), "it is a device, not a regular file"),
            ("/dev/null".into(), "it is a device, not a regular file"),
        ];
        for (path, expected) in rows {
            assert_eq!(
                read(&path).unwrap_err().to_string(),
                expected,
                "{}",
                path.display()
            );
        }
    }

    #[test]
    fn input_may_be_a_fifo_and_nothing_without_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let writing = std::thread::spawn({
            let fifo = fifo.clone();
            move || std::fs::write(fifo, "said").unwrap()
        });
        assert_eq!(io::read_to_string(input(&fifo).unwrap()).unwrap(), "said");
        writing.join().unwrap();
        assert_eq!(
            io::read_to_string(input(Path::new("/dev/null")).unwrap()).unwrap(),
            ""
        );
        for (path, expected) in [
            (folder.path(), "it is a folder, not a regular file"),
            (Path::new("/dev/zero"), "it is a device, not a regular file"),
            (
                Path::new("/dev/urandom"),
                "it is a device, not a regular file",
            ),
        ] {
            assert_eq!(
                input(path).unwrap_err().to_string(),
                expected,
                "{}",
                path.display()
            );
        }
    }
}
