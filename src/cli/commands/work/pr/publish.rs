//! `glee pr publish`: publishes a recorded review on its pull request.

use super::apply::{self, Unapplied};
use super::change::PullRequestChange;
use super::connection::{RequestOnHost, failed};
use super::conversation::{self, Decided};
use super::session::{self, RequestSession};
use crate::cli::commands::history::runs::lookup;
use crate::cli::context::{
    CommandError, CommandResult, Format, Globals, Outputs, execute, stream, tell,
};
use crate::cli::style::{self, count};
use glee_model::domain::{ExitReason, RunId};
use glee_protocol::text::printable;
use glee_store::config::choices::PrMode;
use glee_workflows::hosts::{HostError, HostKind, Thread};
use glee_workflows::pull_request::{Publication, ThreadChange, plan};

/// Publish a recorded review on its pull request
#[derive(clap::Args)]
#[command(after_help = "\
Glee comments on new findings, answers in threads, resolves threads of fixed findings, and updates the \
summary and the check. Nothing is published twice. If the token is not allowed to write, for example \
for a fork, Glee prints the findings as annotations of the CI job.

Exit codes: the same as for `glee review`; with `pr.mode: warn`, 0 instead of 1 or 3.

Examples:
  glee pr publish                  publish the last review of the CI job's pull request
  glee pr publish --pr 7 --dry-run")]
pub(crate) struct Args {
    /// The run: its id, the first or last digits of the id, or `last` [default: the newest run of the pull request]
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// The pull request, by its number or address [default: the pull request of the run or of the CI job]
    #[arg(long, value_name = "N|URL")]
    pr: Option<String>,
    /// Print the planned comments and changes without publishing them
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let named = args
        .run
        .as_deref()
        .map(|run| of_run(run, globals))
        .transpose()?;
    let wanted = args
        .pr
        .clone()
        .or_else(|| named.as_ref().map(|(_, link)| link.clone()))
        .unwrap_or_default();
    let on_host = RequestOnHost::open(&wanted, globals)?;
    let run = match named {
        Some((run, _)) => run,
        None => session::newest_run(&on_host, globals)?,
    };
    let mut session = RequestSession::open(on_host, &run, globals)?;
    if args.dry_run {
        let known = conversation::known(&session, globals)?;
        let publication = session.with_review(&known, plan);
        stream::out(described(&publication, globals.table_style().width))?;
        return Ok(ExitReason::Clean);
    }
    publish(&mut session, None, globals)
}

/// Returns the run and the address of its pull request.
fn of_run(text: &str, globals: &Globals) -> Result<(RunId, String), CommandError> {
    let (_, journal, run) = lookup::find(globals, text)?;
    let plan = lookup::plan(&journal.events(&run)?, &run)?;
    let request = plan.pull_request.ok_or_else(|| session::no_request(&run))?;
    Ok((run, request.link))
}

/// Publishes the review that the running command has made. `exit` is the exit reason of that review. `shown` is
/// the format of the report that was printed on standard output.
pub(crate) fn publish_review(
    change: PullRequestChange,
    run: &RunId,
    exit: ExitReason,
    shown: Format,
    globals: &Globals,
) -> CommandResult {
    // Glee publishes a review only after its run has ended. The user can resume a run that was stopped or that
    // used up its budget.
    if exit.is_unfinished() {
        globals.say(format!(
            "note: the review is not published on {}, because it has not ended",
            change.on_host.name()
        ));
        return Ok(exit);
    }
    let PullRequestChange {
        on_host, commits, ..
    } = change;
    let request = on_host.host.request().map_err(failed)?;
    if request.head.id != commits.head {
        globals.say(format!(
            "note: {} has a new head commit, so this review is not published; the review of the new commit is",
            on_host.name()
        ));
        return Ok(exit);
    }
    let on_host = RequestOnHost { request, ..on_host };
    publish(
        &mut RequestSession::open(on_host, run, globals)?,
        Some(shown),
        globals,
    )
}

/// Settles the objections in replies, and publishes the rulings and the review. `shown` is the format of the
/// report that was already printed.
pub(crate) fn publish(
    session: &mut RequestSession,
    shown: Option<Format>,
    globals: &Globals,
) -> CommandResult {
    let decided = conversation::decide(session, globals)?;
    if decided.is_stopped {
        return Ok(ExitReason::Signal(2));
    }
    let publication = session.with_review(&decided.disputes, plan);
    publication
        .notices
        .iter()
        .for_each(|notice| globals.say(format!("note: {}", printable::line(notice))));
    match apply::apply(&session.on_host, &publication, globals) {
        Ok(unapplied) => {
            let text = published(session, &decided, &apply::summary(&publication, unapplied));
            match shown {
                None | Some(Format::Text) => drop(tell(globals, format!("{text}\n"))?),
                Some(_) => globals.say(&text),
            }
        }
        Err(error @ HostError::Forbidden { .. }) => annotate(session, &error, shown, globals)?,
        Err(error) => return Err(failed(error)),
    }
    Ok(reported_exit(
        session.outcome.exit,
        session.settings.mode,
        globals,
    ))
}

fn published(session: &RequestSession, decided: &Decided, summary: &str) -> String {
    let mut text = format!("Published on {}: {summary}.", session.on_host.request.link);
    let replies = [
        (decided.rulings, count(decided.rulings, "ruling")),
        (decided.objections, count(decided.objections, "objection")),
        (
            decided.refused,
            format!(
                "{} by people who are not allowed to rule",
                count(decided.refused, "command")
            ),
        ),
    ];
    let replies: Vec<String> = replies
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(_, words)| words)
        .collect();
    if !replies.is_empty() {
        text += &format!("\nReplies: {}.", replies.join(", "));
    }
    printable::block(&text)
}

/// Prints the findings as annotations of the CI job, and appends the findings to the job summary. If `shown` is
/// a format for programs, no findings are printed, because the printed report already contains them.
fn annotate(
    session: &RequestSession,
    error: &HostError,
    shown: Option<Format>,
    globals: &Globals,
) -> Result<(), CommandError> {
    let is_printed = shown.is_some_and(|shown| shown != Format::Text);
    globals.say(format!(
        "note: nothing more is published on {}, because the token is not allowed to write ({}){}",
        session.on_host.name(),
        printable::line(&error.to_string()),
        if is_printed {
            ""
        } else {
            "; the findings follow"
        }
    ));
    if is_printed {
        return Ok(());
    }
    let format = match session.on_host.host.kind() {
        HostKind::GitHub | HostKind::Gitea => Format::Github,
        HostKind::GitLab => Format::Text,
    };
    let report = execute::reports::RunReport {
        outcome: &session.outcome,
        reviewed: &session.sources,
        events: &[],
        fix: &execute::fix_command(globals, &session.plan),
        only: &[],
        filter: None,
        was_asked: true,
    };
    let root = session.workspace.root();
    report.write(globals, &Outputs::only(format), root)
}

/// Returns the exit reason of a command about a pull request. With `pr.mode: warn`, open findings and open
/// disputes cause no failure.
pub(crate) fn reported_exit(exit: ExitReason, mode: PrMode, globals: &Globals) -> ExitReason {
    let is_quiet =
        mode == PrMode::Warn && matches!(exit, ExitReason::FindingsOpen | ExitReason::DisputeOpen);
    if !is_quiet {
        return exit;
    }
    let what = if exit == ExitReason::FindingsOpen {
        "mandatory findings are open"
    } else {
        "a dispute is open"
    };
    globals.say(format!(
        "note: {what}; the exit code is 0, because `pr.mode` is `warn`"
    ));
    ExitReason::Clean
}

fn place(thread: &Thread) -> String {
    let path = thread.path.as_deref().unwrap_or("the pull request");
    with_line(path, thread.line)
}

fn with_line(path: &str, line: Option<u32>) -> String {
    line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"))
}

/// Lists the planned comments and changes for `--dry-run`.
fn described(publication: &Publication, width: usize) -> String {
    let planned = apply::summary(publication, Unapplied::default());
    let mut text = style::fit(&format!("Would publish: {planned}.\n"), width);
    for comment in &publication.comments {
        let place = with_line(&comment.path, comment.line);
        text += &format!("\ncomment on {place}\n{}\n", indented(&comment.body, width));
    }
    for change in &publication.threads {
        text.push_str(&match change {
            ThreadChange::Reply { thread, body } => {
                format!("\nreply at {}\n{}\n", place(thread), indented(body, width))
            }
            ThreadChange::Resolve {
                thread,
                is_resolved: true,
            } => {
                format!("\nresolve the thread at {}\n", place(thread))
            }
            ThreadChange::Resolve { thread, .. } => {
                format!("\nopen the thread at {} again\n", place(thread))
            }
        });
    }
    if let Some(summary) = &publication.summary {
        let what = if summary.existing.is_some() {
            "edit the summary"
        } else {
            "add the summary"
        };
        text += &format!("\n{what}\n{}\n", indented(&summary.body, width));
    }
    let check = &publication.check;
    let check = format!("\ncheck: {:?}, {}\n", check.state, check.title);
    text.push_str(&style::fit(&check, width));
    printable::block(&text)
}

/// The code of a comment is not wrapped.
fn indented(text: &str, width: usize) -> String {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with("<!-- glee:") {
            continue;
        }
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        let wrapped = if is_code || is_fence {
            vec![line.to_owned()]
        } else {
            style::wrap(line, width.saturating_sub(4))
        };
        // Wrapping a blank line leaves none.
        if wrapped.is_empty() {
            lines.push(String::new())
        } else {
            lines.extend(wrapped.iter().map(|line| format!("    {line}")))
        }
    }
    lines.join("\n")
}
