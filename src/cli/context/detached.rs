//! Detached runs: `--detach` starts the command once more as a process of its own, which has its own session, no terminal,
//! and files in the run's folder as its streams. The starting process returns when the start of the run is recorded.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::json;

use super::globals::Globals;
use super::output::print;
use super::{history, place};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::{Format, formats::json, outputs::Outputs};
use crate::cli::ui::stream;
use glee_model::domain::{ExitReason, RunId};
use glee_store::history::store::Journal;
use glee_system::private;
use glee_workflows::review;
use glee_workspace::root::Workspace;
use glee_workspace::{QueueSubject, QueuedRun};

const STDOUT: &str = "stdout";
const STDERR: &str = "stderr";
/// How often the starting process asks whether the run is recorded.
const STEP: Duration = Duration::from_millis(10);

/// Separates a detached process from the session of the process that started it.
pub(crate) fn begin(globals: &Globals) {
    if globals.detached.is_some() {
        // It fails only for the leader of a process group, which a started process is not.
        let _ = nix::unistd::setsid();
    }
}

/// The id of a run that this process starts.
pub(crate) fn new_run(globals: &Globals) -> RunId {
    globals.detached.clone().unwrap_or_else(review::new_run)
}

/// Starts this process's command once more as a detached run.
pub(crate) fn start_again(globals: &Globals, outputs: &Outputs, stdin: Stdio) -> CommandResult {
    start(globals, outputs, |command| {
        command.args(std::env::args_os().skip(1)).stdin(stdin);
    })
}

/// Starts a detached run, and prints its id. `prepare` adds arguments and the standard input. If the process ends before
/// the run is recorded, prints its errors and returns its exit reason.
pub(crate) fn start(
    globals: &Globals,
    outputs: &Outputs,
    prepare: impl FnOnce(&mut Command),
) -> CommandResult {
    refuse_report(outputs, "--detach")?;
    let workspace = place::workspace(globals)?;
    let journal = history::open(globals, &workspace)?;
    let run = review::new_run();
    let folder = journal.transcripts(&run)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--detached", &run.0]);
    prepare(&mut command);
    let mut child = command
        .stdout(stream_file(&folder, STDOUT)?)
        .stderr(stream_file(&folder, STDERR)?)
        .spawn()?;
    loop {
        let ended = child.try_wait()?;
        if journal.length(&run)? > 0 {
            break;
        }
        if let Some(status) = ended {
            return not_started(&journal, &run, &folder, status);
        }
        std::thread::sleep(STEP);
    }
    let said = fs::read_to_string(folder.join(STDERR)).unwrap_or_default();
    for note in said.lines().filter(|line| line.starts_with("note: ")) {
        globals.say(note);
    }
    let id = run.short();
    if outputs.stdout == Format::Agent {
        return print(format!(
            "glee run {id} works in the background\n> glee runs wait {id} --format agent\n"
        ));
    }
    let words = format!(
        "Run {id} works in the background; wait for its report with `glee runs wait {id}`\n"
    );
    print_id(globals, outputs.stdout, &run, words)
}

/// Fails if a report is to be printed that is not there yet when a command with `flag` returns.
pub(crate) fn refuse_report(outputs: &Outputs, flag: &str) -> Result<(), CommandError> {
    let name = outputs.stdout.as_str();
    let (what, hint) = match outputs.stdout {
        _ if outputs.is_opened => (
            "--web".to_owned(),
            "open it later with `glee runs show --web`".to_owned(),
        ),
        Format::Text | Format::Json | Format::Jsonl | Format::Agent => return Ok(()),
        _ => (
            format!("--format {name}"),
            format!(
                "write it to a file with `--format {name}=FILE`, or print it with `glee runs wait --format {name}`"
            ),
        ),
    };
    let message = format!("`{flag}` returns before there is a report, and `{what}` wants one");
    Err(CommandError::usage(message).hint(hint))
}

/// Prints the id of a run that goes on elsewhere, in the format of the report or as `words`.
pub(crate) fn print_id(
    globals: &Globals,
    format: Format,
    run: &RunId,
    words: String,
) -> CommandResult {
    let id = json!({ "schema": 1, "run": run });
    print(match format {
        Format::Json => json::pretty(&id),
        Format::Jsonl => json::line(&id),
        _ if globals.quiet => format!("{}\n", run.short()),
        _ => words,
    })
}

fn stream_file(folder: &Path, name: &str) -> io::Result<File> {
    private::options()
        .create_new(true)
        .write(true)
        .open(folder.join(name))
}

fn not_started(journal: &Journal, run: &RunId, folder: &Path, status: ExitStatus) -> CommandResult {
    use std::os::unix::process::ExitStatusExt as _;
    let said = fs::read_to_string(folder.join(STDERR))?;
    let printed = fs::read_to_string(folder.join(STDOUT))?;
    if journal.length(run)? == 0 {
        fs::remove_dir_all(folder)?;
    }
    stream::err(&said);
    stream::out(&printed)?;
    let code = match status.code() {
        Some(code) => code,
        None => 128 + status.signal().unwrap_or_default(),
    };
    Ok(ExitReason::with_code(u8::try_from(code).unwrap_or(u8::MAX)))
}

/// Adds a detached run to the queue of its tree; `None` if the run is not detached.
pub(crate) fn enqueue(
    globals: &Globals,
    workspace: &Workspace,
    journal: &Journal,
    run: &RunId,
    subject: Option<QueueSubject>,
) -> Result<Option<QueuedRun>, CommandError> {
    // Nobody else works in the tree of a worker's run.
    if globals.detached.is_none() || globals.fence.is_some() {
        return Ok(None);
    }
    if journal.length(run)? > 0 {
        return Err(
            CommandError::usage(format!("run {} is recorded already", run.short()))
                .hint("start a run in the background with `glee review --detach`"),
        );
    }
    let (queued, superseded) = workspace.enqueue(&place::state_dir()?, run, subject)?;
    for older in superseded {
        globals.say(format!(
            "note: run {} has not begun; this run reviews at least the same and supersedes it",
            older.short()
        ));
    }
    Ok(Some(queued))
}
