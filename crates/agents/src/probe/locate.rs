//! Finds the program of a command, either by the path in the command or by a search in PATH. Glee refuses a
//! program from PATH in two cases: the program is inside the tree, or the PATH entry is a relative path. The
//! author of the code under review can add or change a program inside the tree.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::probe::executable;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocateError {
    #[error("the agent's command is empty")]
    Empty,
    #[error("`{0}` was not found in any folder of PATH")]
    NotFound(String),
    #[error("`{}` does not exist", .0.display())]
    NoFile(PathBuf),
    #[error("`{}` is a folder, not a program", .0.display())]
    Folder(PathBuf),
    #[error("`{}` is not executable", .0.display())]
    NotExecutable(PathBuf),
    #[error("`{}` cannot be run on this system: {objection}", .path.display())]
    NotRunnable { path: PathBuf, objection: String },
    #[error("`{name}` on PATH is `{}`, a file in the reviewed repository{}", .inside.display(), other(.outside))]
    Shadowed {
        name: String,
        inside: PathBuf,
        outside: Option<PathBuf>,
    },
}

impl LocateError {
    pub fn hint(&self, agent: &str) -> Option<String> {
        let set = |path: &str| format!("`glee config set agents.{agent}.command {path}`");
        match self {
            Self::NotFound(name) => Some(format!(
                "install `{name}`, or give the path of the program: {}",
                set("<path>")
            )),
            Self::NoFile(..) | Self::Folder(..) | Self::NotRunnable { .. } | Self::Empty => {
                Some(format!("give the program's path: {}", set("<path>")))
            }
            Self::NotExecutable(path) => Some(format!(
                "make the file executable: `chmod +x {}`",
                path.display()
            )),
            Self::Shadowed {
                inside, outside, ..
            } => {
                let path = outside.as_ref().unwrap_or(inside);
                Some(format!(
                    "give the path of the program to run: {}",
                    set(&path.display().to_string())
                ))
            }
        }
    }
}

fn other(outside: &Option<PathBuf>) -> String {
    outside.as_ref().map_or_else(String::new, |path| {
        format!("; outside the repository, PATH has `{}`", path.display())
    })
}

/// Returns the absolute path of a command's program. If the first word of the command contains `/`, the word is a
/// path relative to `root`. A word without `/` is looked up in `path`, the value of PATH.
pub fn find(command: &[String], root: &Path, path: Option<&OsStr>) -> Result<PathBuf, LocateError> {
    let name = command
        .first()
        .filter(|name| !name.is_empty())
        .ok_or(LocateError::Empty)?;
    if name.contains(std::path::is_separator) {
        return explicit(root.join(name).components().collect());
    }
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut inside = None;
    let mut forbidden = None;
    for folder in path.map(std::env::split_paths).into_iter().flatten() {
        let relative = folder.is_relative();
        let folder = root.join(folder);
        if let Ok(found) = which::which_in(name, Some(&folder), &root) {
            if !relative && !controls(&root, &folder) && !controls(&root, &found) {
                return match inside {
                    None => may_run(found),
                    Some(inside) => Err(LocateError::Shadowed {
                        name: name.clone(),
                        inside,
                        outside: Some(found),
                    }),
                };
            }
            inside.get_or_insert(found);
        } else if folder.join(name).is_file() {
            forbidden.get_or_insert(folder.join(name));
        }
    }
    Err(match (inside, forbidden) {
        (Some(inside), _) => LocateError::Shadowed {
            name: name.clone(),
            inside,
            outside: None,
        },
        (None, Some(path)) => LocateError::NotExecutable(path),
        (None, None) => LocateError::NotFound(name.clone()),
    })
}

fn controls(root: &Path, path: &Path) -> bool {
    path.starts_with(root) || path.canonicalize().is_ok_and(|real| real.starts_with(root))
}

fn explicit(path: PathBuf) -> Result<PathBuf, LocateError> {
    if path.is_dir() {
        return Err(LocateError::Folder(path));
    }
    if !path.exists() {
        return Err(LocateError::NoFile(path));
    }
    let found = which::which_in(&path, None::<&OsStr>, Path::new("/"));
    may_run(found.map_err(|_| LocateError::NotExecutable(path))?)
}

fn may_run(path: PathBuf) -> Result<PathBuf, LocateError> {
    match executable::objection(&path) {
        None => Ok(path),
        Some(objection) => Err(LocateError::NotRunnable { path, objection }),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    struct Place {
        _folder: tempfile::TempDir,
        root: PathBuf,
        repo: PathBuf,
    }

    impl Place {
        fn new(files: &[(&str, u32)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            for sub in ["repo/bin", "bin", "other"] {
                std::fs::create_dir_all(root.join(sub)).unwrap();
            }
            for (file, mode) in files {
                std::fs::write(root.join(file), "#!/bin/sh\n").unwrap();
                std::fs::set_permissions(root.join(file), std::fs::Permissions::from_mode(*mode))
                    .unwrap();
            }
            Self {
                repo: root.join("repo"),
                root,
                _folder: folder,
            }
        }

        fn find(&self, command: &str, path: &[&str]) -> Result<PathBuf, LocateError> {
            let entries = path.iter().map(|entry| match entry.strip_prefix('/') {
                Some(absolute) => self.root.join(absolute),
                None => PathBuf::from(entry),
            });
            find(
                &[command.to_owned()],
                &self.repo,
                Some(&std::env::join_paths(entries).unwrap()),
            )
        }
    }

    #[test]
    fn a_name_is_looked_for_on_path() {
        let place = tests::Place::new(&[("other/agent", 0o755), ("bin/plain", 0o644)]);
        assert_eq!(
            place.find("agent", &["/bin", "/other"]),
            Ok(place.root.join("other/agent"))
        );
        let missing = place.find("missing", &["/bin", "/other"]).unwrap_err();
        assert_eq!(missing, LocateError::NotFound("missing".to_owned()));
        assert_eq!(
            missing.hint("rev").as_deref(),
            Some(
                "install `missing`, or give the path of the program: `glee config set agents.rev.command <path>`"
            )
        );
        assert_eq!(
            place.find("plain", &["/bin"]),
            Err(LocateError::NotExecutable(place.root.join("bin/plain")))
        );
        assert_eq!(place.find("", &["/bin"]), Err(LocateError::Empty));
    }

    #[test]
    fn the_tree_cannot_stand_in_for_a_program() {
        let place = tests::Place::new(&[
            ("repo/bin/agent", 0o755),
            ("repo/agent", 0o755),
            ("bin/agent", 0o755),
        ]);
        std::os::unix::fs::symlink(place.repo.join("bin"), place.root.join("link")).unwrap();
        let shadowed = |inside: &str, outside: Option<&str>| {
            Err(LocateError::Shadowed {
                name: "agent".to_owned(),
                inside: place.root.join(inside),
                outside: outside.map(|path| place.root.join(path)),
            })
        };
        assert_eq!(
            place.find("agent", &["/repo/bin", "/bin"]),
            shadowed("repo/bin/agent", Some("bin/agent"))
        );
        assert_eq!(
            place.find("agent", &[".", "/bin"]),
            shadowed("repo/agent", Some("bin/agent"))
        );
        assert_eq!(
            place.find("agent", &["", "/other"]),
            shadowed("repo/agent", None)
        );
        assert_eq!(
            place.find("agent", &["/link"]),
            shadowed("link/agent", None)
        );
        assert_eq!(
            place.find("agent", &["/bin", "/repo/bin"]),
            Ok(place.root.join("bin/agent"))
        );
        assert_eq!(
            place
                .find("agent", &["/repo/bin", "/bin"])
                .unwrap_err()
                .to_string(),
            format!(
                "`agent` on PATH is `{0}/repo/bin/agent`, a file in the reviewed repository; outside the repository, \
                 PATH has `{0}/bin/agent`",
                place.root.display()
            )
        );
    }

    #[test]
    fn a_path_is_taken_as_it_is_configured() {
        let place = tests::Place::new(&[("repo/bin/agent", 0o755), ("repo/plain", 0o644)]);
        assert_eq!(
            place.find("bin/agent", &[]),
            Ok(place.repo.join("bin/agent"))
        );
        assert_eq!(
            place.find("./plain", &[]),
            Err(LocateError::NotExecutable(place.repo.join("./plain")))
        );
        assert_eq!(
            place.find("./bin", &[]),
            Err(LocateError::Folder(place.repo.join("./bin")))
        );
        assert_eq!(
            place.find("./none", &[]),
            Err(LocateError::NoFile(place.repo.join("./none")))
        );
        let absolute = place.repo.join("bin/agent");
        assert_eq!(place.find(absolute.to_str().unwrap(), &[]), Ok(absolute));
    }
}
