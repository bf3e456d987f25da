//! Determines the paths of the configuration files and of Glee's state folder.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use glee_model::domain::Advice;

pub(crate) const STATE_VARIABLE: &str = "GLEE_STATE_DIR";

/// The path of the project's configuration file, relative to the project's root.
pub const PROJECT_FILE: &str = ".glee/config.yml";

pub const PROJECT_FOLDER: &str = ".glee";

#[derive(Debug, thiserror::Error)]
#[error("cannot determine the home folder")]
pub struct NoHome;

impl Advice for NoHome {
    fn hint(&self) -> Option<String> {
        Some(format!(
            "set `HOME`, or `{STATE_VARIABLE}` and `XDG_CONFIG_HOME`"
        ))
    }
}

/// Returns the path of Glee's state folder. The folder need not exist. The variable `GLEE_STATE_DIR` overrides the
/// default, which is `glee` in the XDG state folder.
pub fn state_dir() -> Result<PathBuf, NoHome> {
    if let Some(folder) = std::env::var_os(STATE_VARIABLE).filter(|folder| !folder.is_empty()) {
        return std::path::absolute(folder).map_err(|_| NoHome);
    }
    let strategy = etcetera::choose_base_strategy().map_err(|_| NoHome)?;
    Ok(strategy
        .state_dir()
        .unwrap_or_else(|| strategy.data_dir())
        .join("glee"))
}

/// Returns the path of the user's configuration file, `glee/config.yml` in the XDG configuration folder. The file
/// need not exist.
pub fn user_config_file() -> Result<PathBuf, NoHome> {
    Ok(etcetera::choose_base_strategy()
        .map_err(|_| NoHome)?
        .config_dir()
        .join("glee/config.yml"))
}

/// Returns the nearest ancestor of `start` that contains `.glee` or `.git`, or `start` if no ancestor matches.
pub fn project_root(start: &Path) -> PathBuf {
    start
        .ancestors()
        .find(|folder| {
            [".glee", ".git"]
                .iter()
                .any(|mark| folder.join(mark).symlink_metadata().is_ok())
        })
        .unwrap_or(start)
        .to_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_nearest_marked_folder_is_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir(folder.path().join("a/.git")).unwrap();
        assert_eq!(project_root(&deep), folder.path().join("a"));
        std::fs::create_dir(folder.path().join("a/b/.glee")).unwrap();
        assert_eq!(project_root(&deep), folder.path().join("a/b"));
    }
}
