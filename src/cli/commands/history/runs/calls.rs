//! `glee runs show --calls`: prints the prompt and the raw answer of recorded calls.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::cli::commands::history::runs::lookup;
use crate::cli::context::{CommandError, CommandResult, Globals, pretty, print, stream};
use crate::cli::style::{Color, Style};
use glee_agents::calls::record::{self, CallRecord};
use glee_model::domain::{ExitReason, RunId};
use glee_protocol::text::printable;
use glee_system::files;

/// Prints the stored prompts and answers, which contain placeholders instead of secrets. The parameter `only` is
/// the name of a call or of an agent. For an agent, all calls of the agent are printed.
pub(crate) fn run(globals: &Globals, text: &str, only: Option<&str>, json: bool) -> CommandResult {
    let (_, journal) = lookup::open(globals)?;
    let run = journal.find_any_run(text)?;
    journal.require_here(&run)?;
    let folder = journal.folder_of(&run);
    let calls = record::all(&folder).map_err(|error| unreadable(&run, &folder, error))?;
    let wanted: Vec<&(String, CallRecord)> = calls
        .iter()
        .filter(|(name, call)| {
            only.is_none_or(|only| {
                name == only || call.agent.0 == only || name.starts_with(&format!("{only}."))
            })
        })
        .collect();
    match (only, wanted.as_slice()) {
        (Some(only), []) => return Err(unknown(&run, only, &calls)),
        (None, []) if !json => stream::err(format!("No call of run {} is stored.\n", run.short())),
        _ => {}
    }
    if json {
        let calls: Vec<Value> = wanted
            .iter()
            .map(|(name, call)| in_json(&folder, name, call))
            .collect();
        return print(pretty(&json!({ "schema": 1, "run": run, "calls": calls })));
    }
    let style = globals.table_style();
    for (name, call) in wanted {
        stream::out(shown(style, &folder, name, call))?;
    }
    Ok(ExitReason::Clean)
}

fn unreadable(run: &RunId, folder: &Path, error: io::Error) -> CommandError {
    CommandError::caused(
        format!("failed to read the calls of run {} in `{}`", run.short(), folder.display()),
        error,
    )
    .hint("`glee runs prune` deletes prompts and answers; print the findings of the run with `glee runs show`")
}

fn unknown(run: &RunId, only: &str, calls: &[(String, CallRecord)]) -> CommandError {
    let message = format!(
        "run {} has no call `{}`",
        run.short(),
        printable::line(only)
    );
    let names: Vec<String> = calls
        .iter()
        .map(|(name, _)| format!("`{}`", printable::line(name)))
        .collect();
    CommandError::usage(message).hint(match names.as_slice() {
        [] => "no call of this run is stored: choose another run; `glee runs` lists the runs"
            .to_owned(),
        names => format!("choose one of {}", names.join(", ")),
    })
}

fn shown(style: Style, folder: &Path, name: &str, call: &CallRecord) -> String {
    let mut facts = vec![
        format!("{} ({})", printable::line(&call.agent.0), call.role),
        call.task.clone(),
    ];
    match &call.end {
        None => facts.push("not ended".to_owned()),
        Some(end) => {
            facts.push(crate::cli::style::duration(end.millis));
            let code = end
                .transcript
                .as_ref()
                .and_then(|transcript| transcript.exit_code);
            facts.extend(code.map(|code| format!("exit status {code}")));
            facts.extend(end.error.as_deref().map(printable::line));
        }
    }
    let mut text = format!(
        "{}  {}\n",
        style.paint(Color::Key, &printable::line(name)),
        style.facts(&facts)
    );
    for (title, bytes) in parts(folder, name, call) {
        let Some(bytes) = bytes else { continue };
        let content = printable::block(&*String::from_utf8_lossy(&bytes));
        let end = if content.is_empty() || content.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        text += &format!("{}\n{content}{end}", style.strong(format!("--- {title}")));
    }
    text + "\n"
}

/// The texts of a call, with their titles.
fn parts(folder: &Path, name: &str, call: &CallRecord) -> [(&'static str, Option<Vec<u8>>); 3] {
    let read = |ending: &str| files::read(&folder.join(format!("{name}.{ending}"))).ok();
    let has_failed = call.end.as_ref().is_none_or(|end| end.error.is_some());
    [
        ("prompt", read("prompt")),
        // If the stdout of an agent's program is a stream of output events, the text of the answer is stored in a
        // separate file.
        ("answer", read("answer").or_else(|| read("stdout"))),
        (
            "errors",
            read("stderr").filter(|bytes| has_failed && !bytes.is_empty()),
        ),
    ]
}

fn in_json(folder: &Path, name: &str, call: &CallRecord) -> Value {
    let mut shown = json!({ "name": name, "record": call });
    for (title, bytes) in parts(folder, name, call) {
        shown[title] = bytes
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .into();
    }
    shown
}
