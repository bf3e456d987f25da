//! Attacks through code, names, histories, answers and settings.
//!
//! The agents are maximally gullible: they quote their whole prompt and obey every line that Glee has not fenced as
//! data. Nothing planted may act, speak or decide.

mod environment;
mod evidence;
mod history;
mod keys;
mod places;
mod project;
mod repository;
mod sandbox;
mod secrets;
mod trust;
mod watch;
mod words;

use std::path::PathBuf;

use crate::runner::Cases;
use crate::scene::Scene;
use crate::support::Output;

/// The name of the files that successful attacks create.
pub(crate) const CANARY: &str = "canary-";

pub(crate) fn add(cases: &mut Cases) {
    words::add(cases);
    places::add(cases);
    history::add(cases);
    repository::add(cases);
    project::add(cases);
    secrets::add(cases);
    keys::add(cases);
    environment::add(cases);
    sandbox::add(cases);
    watch::add(cases);
    evidence::add(cases);
    trust::add(cases);
}

/// Asserts that no attack created a file.
fn nothing_fired(scene: &Scene) {
    let base = scene
        .root()
        .parent()
        .expect("a project lies in a folder")
        .to_owned();
    let fired: Vec<PathBuf> = below(base)
        .into_iter()
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(CANARY))
        })
        .collect();
    assert!(fired.is_empty(), "fired: {fired:?}");
}

fn below(folder: PathBuf) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => files.push(entry.path()),
            }
        }
    }
    files
}

/// Asserts that the output has no effect on a terminal or in the log of a continuous integration.
fn inert(output: &Output) {
    for (stream, text) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let raw = text.chars().find(|c| acts_on_a_terminal(*c));
        assert!(raw.is_none(), "{raw:?} on {stream}: {text:?}");
        let order = text.lines().find(|line| is_an_order(line));
        assert!(order.is_none(), "an order on {stream}: {order:?}");
    }
}

fn acts_on_a_terminal(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(u32::from(c), 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff | 0xfff9..=0xfffb)
}

/// Whether GitHub, Azure or TeamCity would execute a line as a command.
fn is_an_order(line: &str) -> bool {
    const GITHUB: [&str; 12] = [
        "set-output",
        "set-env",
        "save-state",
        "add-path",
        "add-mask",
        "add-matcher",
        "error",
        "warning",
        "notice",
        "group",
        "stop-commands",
        "debug",
    ];
    let github = line
        .trim_start()
        .strip_prefix("::")
        .is_some_and(|rest| GITHUB.iter().any(|word| rest.starts_with(word)));
    github
        || ["##vso[", "##[", "##teamcity["]
            .iter()
            .any(|mark| line.contains(mark))
}
