//! Reads regular files of at most [`MAX_BYTES`], and replaces files atomically. The `.glee` folder of a project
//! and the files in this folder must not be symbolic links, because a link could lead out of the project. The
//! user's configuration file is allowed to be a symbolic link.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use glee_model::domain::Advice;
use glee_system::files;

pub const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("`{0}` is a symbolic link")]
    Link(PathBuf),
    #[error("`{0}` is not a {1}")]
    Kind(PathBuf, &'static str),
    #[error("`{0}` is larger than 1 MiB")]
    Size(PathBuf),
    #[error("`{0}` is not UTF-8 text (line {1})")]
    Text(PathBuf, usize),
    #[error("cannot read `{0}`")]
    Read(PathBuf, #[source] io::Error),
    #[error("cannot write `{0}`")]
    Write(PathBuf, #[source] io::Error),
}

impl Advice for FileError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Link(_) => Some(
                "replace the link with a copy of its target; Glee does not follow links in a project".to_owned(),
            ),
            Self::Kind(..) | Self::Size(_) | Self::Text(..) | Self::Read(..) | Self::Write(..) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Links are followed. The user's configuration file can be a link, because users often keep dotfiles as
    /// links.
    Followed,
    /// Links are refused. The `.glee` folder of a project and the configuration file in this folder must not be
    /// links.
    Refused,
}

/// Reads a text file of at most [`MAX_BYTES`]. Returns `None` if the file does not exist.
pub fn read(path: &Path, links: Links) -> Result<Option<String>, FileError> {
    if !exists(path, links)? {
        return Ok(None);
    }
    let unreadable = |error| FileError::Read(path.to_owned(), error);
    let mut bytes = Vec::new();
    files::regular(path)
        .map_err(unreadable)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(FileError::Size(path.to_owned()));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        FileError::Text(
            path.to_owned(),
            1 + good.iter().filter(|byte| **byte == b'\n').count(),
        )
    })
}

/// Writes a file atomically. The new file gets the permissions of the file that it replaces.
pub fn write(path: &Path, text: &str, links: Links) -> Result<(), FileError> {
    let unwritable = |error| FileError::Write(path.to_owned(), error);
    let folder = path
        .parent()
        .ok_or_else(|| FileError::Kind(path.to_owned(), "regular file"))?;
    let exists = exists(path, links)?;
    fs::create_dir_all(folder).map_err(unwritable)?;
    // If the path is a link, the link remains, and the file to which the link points is replaced.
    let target = if exists {
        path.canonicalize().map_err(unwritable)?
    } else {
        path.to_owned()
    };
    let folder = target.parent().unwrap_or(folder);
    let permissions = match exists {
        true => fs::metadata(&target).map_err(unwritable)?.permissions(),
        // The mode of a new file has to be set, because the temporary file has mode 0600.
        false => fs::Permissions::from_mode(0o644),
    };
    let opened = File::open(folder).map_err(unwritable)?;
    // One process at a time writes into the folder. Some file systems have no locks.
    drop(opened.lock());
    files::replace(&target, &aside(&target, folder), |new: &Path| {
        let mut file = File::create_new(new)?;
        file.set_permissions(permissions)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    })
    .map_err(unwritable)?;
    opened.sync_all().or_else(|error| match error.kind() {
        // Errors of these three kinds are ignored, because some systems do not support syncing a folder.
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::Unsupported
        | io::ErrorKind::InvalidInput => Ok(()),
        _ => Err(unwritable(error)),
    })
}

/// Where the new version of a file is written: in the git folder, from which `git add` takes nothing; on another
/// file system, or outside git, beside the file. The name is fixed, so that the next write removes what a killed
/// process left.
fn aside(target: &Path, folder: &Path) -> PathBuf {
    let name = blake3::hash(target.as_os_str().as_encoded_bytes()).to_hex();
    let device = |folder: &Path| fs::metadata(folder).map(|found| found.dev()).ok();
    match files::git_folder(folder).filter(|git| device(git) == device(folder)) {
        Some(git) => git.join(format!("glee-{}", &name[..16])),
        None => folder.join(format!(".glee-{}", &name[..16])),
    }
}

fn exists(path: &Path, links: Links) -> Result<bool, FileError> {
    if links == Links::Refused
        && let Some(folder) = path.parent()
        && let Some(found) = metadata(folder, links)?
        && !found.is_dir()
    {
        return Err(FileError::Kind(folder.to_owned(), "folder"));
    }
    match metadata(path, links)? {
        None => Ok(false),
        Some(found) if found.is_file() => Ok(true),
        Some(_) => Err(FileError::Kind(path.to_owned(), "regular file")),
    }
}

/// Returns `None` if the path does not exist. Fails if the path is a link and `links` is [`Links::Refused`].
pub fn metadata(path: &Path, links: Links) -> Result<Option<Metadata>, FileError> {
    let found = match links {
        Links::Followed => fs::metadata(path),
        Links::Refused => fs::symlink_metadata(path),
    };
    match found {
        Ok(found) if found.is_symlink() => Err(FileError::Link(path.to_owned())),
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::Read(path.to_owned(), error)),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn refusal(path: &Path, links: Links) -> String {
        read(path, links)
            .unwrap_err()
            .to_string()
            .replace(&path.parent().unwrap().display().to_string(), "DIR")
    }

    #[test]
    fn reads_what_it_wrote_and_nothing_where_nothing_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".glee/config.yml");
        assert_eq!(read(&path, Links::Refused).unwrap(), None);
        write(&path, "a: 1\n", Links::Refused).unwrap();
        assert_eq!(
            read(&path, Links::Refused).unwrap().as_deref(),
            Some("a: 1\n")
        );
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn refuses_what_is_not_a_small_text_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c");
        fs::write(&path, vec![b' '; (MAX_BYTES + 1) as usize]).unwrap();
        assert_eq!(
            refusal(&path, Links::Refused),
            "`DIR/c` is larger than 1 MiB"
        );
        fs::write(&path, b"a\nb\xff").unwrap();
        assert_eq!(
            refusal(&path, Links::Refused),
            "`DIR/c` is not UTF-8 text (line 2)"
        );
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(
            refusal(&path, Links::Refused),
            "`DIR/c` is not a regular file"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_never_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        for links in [Links::Refused, Links::Followed] {
            assert_eq!(refusal(&path, links), "`DIR/c` is not a regular file");
        }
        assert_eq!(
            refusal(Path::new("/dev/null"), Links::Followed),
            "`DIR/null` is not a regular file"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_project_may_not_link_and_a_user_may() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        let link = folder.path().join("link");
        fs::create_dir(&real).unwrap();
        fs::write(real.join("c"), "a: 1\n").unwrap();
        fs::set_permissions(real.join("c"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        assert!(
            matches!(read(&link.join("c"), Links::Refused), Err(FileError::Link(path)) if path == link)
        );
        assert!(
            matches!(write(&link.join("c"), "", Links::Refused), Err(FileError::Link(path)) if path == link)
        );
        symlink(real.join("c"), folder.path().join("c")).unwrap();
        let path = folder.path().join("c");
        assert!(matches!(
            read(&path, Links::Refused),
            Err(FileError::Link(_))
        ));
        write(&path, "a: 2\n", Links::Followed).unwrap();
        assert_eq!(fs::read_to_string(real.join("c")).unwrap(), "a: 2\n");
        assert!(path.symlink_metadata().unwrap().is_symlink());
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o640
        );
    }
}
