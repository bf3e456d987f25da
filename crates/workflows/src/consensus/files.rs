//! Writes the outcome of a stage or a checkpoint to the project's folder `.glee/stages-out/<id>/<stage>/`.
//!
//! People, scripts and the next stage read the files. The files contain only data from the history, and git ignores
//! the files. Each file is written atomically.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::outcome::StageOutcome;
use glee_model::domain::StageAnswer;
use glee_store::config::files::file::{self, FileError, Links};

/// The folder for the outcomes of all stages and checkpoints, relative to the project's folder.
pub const FOLDER: &str = ".glee/stages-out";

/// Returns the path of the folder for a stage or a checkpoint, even if the folder does not exist. Fails if a part
/// of the path is a symbolic link, because the link could lead out of the project.
pub fn folder(root: &Path, id: &str, stage: &str) -> Result<PathBuf, FileError> {
    let mut folder = root.to_owned();
    for part in FOLDER.split('/').chain([id, stage]) {
        folder.push(part);
        if folder
            .symlink_metadata()
            .is_ok_and(|found| found.is_symlink())
        {
            return Err(FileError::Link(folder));
        }
    }
    Ok(folder)
}

pub fn write(root: &Path, outcome: &StageOutcome) -> Result<(), FileError> {
    let folder = folder(root, &outcome.id, &outcome.stage)?;
    let ignore = root.join(FOLDER).join(".gitignore");
    if !ignore.exists() {
        file::write(&ignore, "*\n", Links::Refused)?;
    }
    for (name, answer) in &outcome.answers {
        let why = outcome
            .failures
            .iter()
            .find(|(agent, _)| agent == name)
            .map(|(_, why)| why);
        let content = answer.as_ref().map(StageAnswer::value);
        let value = json!({
            "agent": name,
            "stage": outcome.stage,
            "answered": answer.is_some(),
            "content": content,
            "missing_fields": answer.as_ref().map(|answer| &answer.missing_fields),
            "error": why,
        });
        if outcome.verdict_json().is_some() {
            put(&folder, &format!("{}.json", plain(&name.0)), &value)?;
        }
    }
    let files = [
        ("verdict.json", outcome.verdict_json()),
        ("synthesis.json", outcome.synthesis_json()),
        ("resolutions.json", outcome.resolutions_json()),
    ];
    for (name, value) in files {
        if let Some(value) = value {
            put(&folder, name, &value)?;
        }
    }
    Ok(())
}

fn put(folder: &Path, name: &str, value: &Value) -> Result<(), FileError> {
    file::write(&folder.join(name), &format!("{value:#}\n"), Links::Refused)
}

/// Turns an agent's name into a file name. The names `verdict`, `synthesis` and `resolutions` get a prefix,
/// because other files in the folder have these names.
fn plain(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-_".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    if ["verdict", "synthesis", "resolutions"].contains(&plain.as_str()) {
        format!("agent-{plain}")
    } else {
        plain
    }
}
