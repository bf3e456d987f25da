//! Detects programs, such as husky, that manage the hooks of a repository. Glee does not overwrite the hooks of
//! these programs.

use super::options::Hook;
use crate::cli::context::CommandError;
use glee_workspace::{HooksFolder, Workspace};

/// The possible names of lefthook's configuration file.
const LEFTHOOK: [&str; 6] = [
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    ".lefthook.yaml",
    ".config/lefthook.yml",
    "lefthook.toml",
];

/// Fails if another program manages the hooks. The hint of the error states how to start Glee from the program
/// that manages the hooks.
pub(crate) fn refuse(
    workspace: &Workspace,
    folder: &HooksFolder,
    hook: Hook,
) -> Result<(), CommandError> {
    let name = hook.name();
    let setting = folder.setting.as_deref().unwrap_or_default();
    let (manager, edit) = if setting.split('/').any(|part| part == ".husky") {
        let arguments = if hook == Hook::PrePush {
            " -- \"$@\""
        } else {
            ""
        };
        (
            "husky",
            format!(
                "append the line `glee hook run {name}{arguments}` to the file `.husky/{name}`"
            ),
        )
    } else if let Some(file) = LEFTHOOK
        .iter()
        .find(|file| workspace.root().join(file).exists())
    {
        (
            "lefthook",
            format!("add a job with `run: glee hook run {name}` to `{file}`, below `{name}`"),
        )
    } else if workspace.root().join(".pre-commit-config.yaml").exists() {
        (
            "pre-commit",
            format!("add the hook `glee-{name}` of Glee's repository to `.pre-commit-config.yaml`"),
        )
    } else {
        return Ok(());
    };
    Err(
        CommandError::usage(format!("{manager} manages the hooks of this repository")).hint(
            format!("{edit}, or install the hook anyway with `glee hook install {name} --force`"),
        ),
    )
}
