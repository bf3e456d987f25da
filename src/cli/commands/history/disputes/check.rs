//! `glee disputes check`: checks the files in `.glee/rulings`, which contain shared rulings.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;

use crate::cli::commands::history::disputes::common::{max_age, standing};
use crate::cli::context::{CommandResult, Globals, JsonFlag, place};
use crate::cli::style;
use glee_model::domain::{
    Disposition, DisputeId, ExitReason, Location, RuledBy, RulingRef, Untrusted,
};
use glee_model::rules;
use glee_protocol::text::printable;
use glee_store::config::files::rulings::FOLDER;
use glee_workflows::review::disputes::rulings::{SharedRulings, succession};

/// Check the files with shared rulings in `.glee/rulings`
#[derive(clap::Args)]
#[command(after_help = "\
Glee reads the files in `.glee/rulings`, and reports an error for each invalid file. Glee prints a warning for \
each ruling that has expired, that a later ruling replaces, or whose code was removed.

Exit codes: 0 no file has an error, 1 a file has an error.

Example: glee disputes check")]
pub(crate) struct Args {
    #[command(flatten)]
    output: JsonFlag,
}

#[derive(Serialize)]
struct Checked<'a> {
    schema: u32,
    rulings: Vec<Shown<'a>>,
    problems: Vec<Flawed>,
}

#[derive(Serialize)]
struct Shown<'a> {
    file: String,
    id: &'a DisputeId,
    location: Location,
    title: &'a Untrusted,
    disposition: &'a Disposition,
    by: &'a RuledBy,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Date>,
    /// The date (UTC) on which the ruling ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<Date>,
    gone: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
}

#[derive(Serialize)]
struct Flawed {
    file: String,
    line: u32,
    message: String,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let shared = SharedRulings::of(workspace.rulings_in_tree());
    let max_age = max_age(globals)?;
    let bindings = shared.bindings();
    let standing = standing(&workspace, &bindings)?;
    let now = Timestamp::now();
    let rulings = shared.rulings.iter().map(|ruling| Shown {
        file: format!("{FOLDER}/{}.yml", ruling.id),
        id: &ruling.id,
        location: ruling.head.place.location(),
        title: &ruling.head.title,
        disposition: &ruling.disposition,
        by: &ruling.by,
        until: ruling.until,
        ended: rules::review::rulings::ended(
            Some(ruling.date),
            ruling.until,
            max_age.of(&ruling.disposition),
            now,
        ),
        gone: !standing.contains(&RulingRef::Shared(ruling.id.clone())),
        superseded_by: succession(&bindings, &RulingRef::Shared(ruling.id.clone()))
            .1
            .map(|later| later.to_string()),
    });
    let checked = Checked {
        schema: 1,
        rulings: rulings.collect(),
        problems: shared
            .problems
            .iter()
            .map(|(name, line, message)| {
                let file = if name.is_empty() {
                    FOLDER.to_owned()
                } else {
                    format!("{FOLDER}/{name}")
                };
                Flawed {
                    file,
                    line: *line,
                    message: message.clone(),
                }
            })
            .collect(),
    };
    args.output.print(&checked, || text(&checked))?;
    Ok(if checked.problems.is_empty() {
        ExitReason::Clean
    } else {
        ExitReason::FindingsOpen
    })
}

fn text(checked: &Checked<'_>) -> String {
    let mut text = String::new();
    for Flawed {
        file,
        line,
        message,
    } in &checked.problems
    {
        text += &format!(
            "{}:{line}: error: {}\n",
            printable::line(file),
            printable::line(message)
        );
    }
    let mut binding = 0;
    for ruling in &checked.rulings {
        let warnings = [
            ruling.ended.map(|day| format!("it ended on {day}")),
            ruling
                .gone
                .then(|| format!("its code is gone: {}", ruling.location)),
            ruling
                .superseded_by
                .as_ref()
                .map(|later| format!("{FOLDER}/{later}.yml supersedes it")),
        ];
        let warnings: Vec<String> = warnings.into_iter().flatten().collect();
        binding += usize::from(warnings.is_empty());
        for warning in warnings {
            text += &format!(
                "{}:1: warning: {}\n",
                ruling.file,
                printable::line(&warning)
            );
        }
    }
    let all = style::count(checked.rulings.len() + checked.problems.len(), "file");
    let errors = style::count(checked.problems.len(), "error");
    text += &format!(
        "{all}, {} in force, {errors}\n",
        style::count(binding, "ruling")
    );
    text
}
