//! `glee hook list`: lists the hooks of git in this repository.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;

use super::install::{HookFiles, folder};
use super::options::{HOOKS, Hook};
use super::script;
use crate::cli::context::{CommandError, CommandResult, Globals, JsonFlag, place};
use glee_protocol::text::printable;

#[derive(Serialize)]
struct InstalledHook {
    hook: Hook,
    path: PathBuf,
    state: HookState,
    /// The options of the installed hook, such as `--mode warn --timeout 10m`.
    options: Option<String>,
    /// The path of the hook that was installed before Glee's hook. Glee's hook runs the earlier hook first.
    earlier: Option<PathBuf>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum HookState {
    Missing,
    /// Another program installed the hook.
    Foreign,
    Installed,
}

impl HookState {
    fn words(self) -> &'static str {
        match self {
            Self::Missing => "not installed",
            Self::Foreign => "another hook",
            Self::Installed => "installed",
        }
    }
}

pub(crate) fn run(output: &JsonFlag, globals: &Globals) -> CommandResult {
    let folder = folder(&place::workspace(globals)?)?;
    let mut hooks = Vec::new();
    for (_, hook, _) in HOOKS {
        hooks.push(state(&HookFiles::of(&folder, *hook), *hook)?);
    }
    output.print(&hooks, || {
        let heads = ["HOOK", "STATE", "OPTIONS", "FILE"];
        let rows = hooks.iter().map(row);
        globals.table_style().listing(heads, rows, &[])
    })
}

fn row(hook: &InstalledHook) -> [String; 4] {
    let and_earlier = if hook.earlier.is_some() {
        ", after an earlier hook"
    } else {
        ""
    };
    let options = hook
        .options
        .as_deref()
        .map_or_else(|| "-".to_owned(), printable::line);
    let path = printable::line(&hook.path.display().to_string());
    [
        hook.hook.name().to_owned(),
        format!("{}{and_earlier}", hook.state.words()),
        options,
        path,
    ]
}

fn state(files: &HookFiles, hook: Hook) -> Result<InstalledHook, CommandError> {
    let state = match files.is_own(hook)? {
        None => HookState::Missing,
        Some(false) => HookState::Foreign,
        Some(true) => HookState::Installed,
    };
    let text = match state {
        HookState::Installed => fs::read_to_string(&files.own).unwrap_or_default(),
        HookState::Missing | HookState::Foreign => String::new(),
    };
    let options = script::options(hook, &text).map(str::to_owned);
    let earlier = matches!(state, HookState::Installed) && files.earlier.symlink_metadata().is_ok();
    let earlier = earlier.then(|| files.earlier.clone());
    Ok(InstalledHook {
        hook,
        path: files.own.clone(),
        state,
        options,
        earlier,
    })
}
