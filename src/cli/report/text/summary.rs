//! The last section of the report: conclusion, counts, coverage and next steps.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::reviewers;
use crate::cli::report::options::{Detail, FixCommand, RenderOptions};
use crate::cli::report::text::layout::{facts, heading, list, wrapped};
use crate::cli::report::view::{self, FindingCounts};
use crate::cli::style::{self, Color, Glyph, Style, columns, count, widest};
use glee_model::domain::{
    Coverage, ExitReason, Failure, FindingState, Outcome, Proof, SettledFinding, Spent, UnreadFile,
};
use glee_protocol::text::printable;

/// The next steps contain a command for each of the first `NAMED` open disputes.
const NAMED: usize = 3;

/// What the project loosens about its own review, and what was not sent: the first lines of every report. Empty if there
/// is nothing of the kind.
pub(crate) fn caveats(style: Style, outcome: &Outcome) -> String {
    let mut text = String::new();
    for line in outcome.caveats() {
        let head = format!("{} ", style.mark(Glyph::Attention));
        wrapped(&mut text, style, &head, &printable::line(&line));
    }
    text
}

pub(crate) fn clean(style: Style, outcome: &Outcome) -> String {
    let names: Vec<_> = outcome
        .proof
        .reviewers
        .iter()
        .map(|reviewer| reviewer.name.clone())
        .collect();
    let mark = style.paint(Color::Good, &format!("{} Clean", style.glyph(Glyph::Done)));
    let mut text = String::new();
    wrapped(
        &mut text,
        style,
        "",
        &format!("{mark}: {}, reviewed by {}", covered(outcome), list(&names)),
    );
    facts(&mut text, style, "  ", &proof(outcome, Detail::Short));
    text + &reviewers::reused(style, &outcome.proof.reused)
}

/// The conclusion with what was reviewed, and the row of counts.
pub(crate) fn head(style: Style, outcome: &Outcome, detail: Detail) -> String {
    let (glyph, conclusion) = conclusion(outcome);
    let proven = [covered(outcome)].into_iter().chain(proof(outcome, detail));
    let proven = proven
        .filter(|fact| !fact.is_empty())
        .map(|fact| style.faint(fact));
    let conclusion = style.paint(glyph.color(), &conclusion);
    let mut text = String::new();
    let said: Vec<String> = [conclusion].into_iter().chain(proven).collect();
    facts(&mut text, style, &format!("{} ", style.mark(glyph)), &said);
    counts(&mut text, style, outcome);
    text
}

/// The row of counts, and what the coder changed.
fn counts(out: &mut String, style: Style, outcome: &Outcome) {
    let row = FindingCounts::of(outcome).row();
    let changes = match outcome.changes.as_slice() {
        [] => String::new(),
        changes => {
            let files = count(changes.len(), "file");
            format!("the coder changed {files} {}", style.delta(changes))
        }
    };
    let place = view::place_of_changes(outcome).unwrap_or_default();
    facts(out, style, "  ", &[row, changes, printable::line(&place)]);
}

pub(crate) fn verdict(style: Style, outcome: &Outcome) -> String {
    let (glyph, conclusion) = conclusion(outcome);
    let mut text = String::new();
    wrapped(
        &mut text,
        style,
        &format!("{} ", style.mark(glyph)),
        &style.paint(glyph.color(), &conclusion),
    );
    text
}

fn are_open(findings: usize) -> String {
    match findings {
        1 => "1 mandatory finding is open".to_owned(),
        many => format!("{many} mandatory findings are open"),
    }
}

pub(crate) fn conclusion(outcome: &Outcome) -> (Glyph, String) {
    if let Some(nothing) = outcome.nothing_to_review() {
        return (Glyph::Done, printable::line(&nothing));
    }
    let blocking = outcome
        .groups()
        .filter(|group| group.iter().any(SettledFinding::blocks))
        .count();
    // A finding with an open dispute counts as a dispute, and does not count as an open finding.
    let undisputed = outcome
        .groups()
        .filter(|group| {
            group.iter().any(|finding| {
                finding.blocks() && !matches!(finding.state, FindingState::Disputed { .. })
            })
        })
        .count();
    let open = outcome
        .disputes
        .iter()
        .filter(|dispute| dispute.is_open())
        .count();
    let wait = match open {
        1 => "1 dispute waits".to_owned(),
        many => format!("{many} disputes wait"),
    };
    let waiting = match (open, undisputed) {
        (0, 0) => String::new(),
        (0, findings) => format!(": {}", are_open(findings)),
        (_, 0) => format!(": {wait}"),
        (_, findings) => format!(": {wait}, {}", are_open(findings)),
    };
    let languages = printable::line(&UnreadFile::languages(&outcome.proof.unread));
    let unread = match languages.as_str() {
        "" => String::new(),
        languages => format!("; not reviewed: no rules for {languages}"),
    };
    let text = match outcome.exit {
        ExitReason::Clean if outcome.findings.is_empty() => format!("No findings{unread}"),
        ExitReason::Clean => format!("Nothing mandatory is open{unread}"),
        ExitReason::FindingsOpen if blocking == 0 => {
            let failing = outcome
                .notices
                .iter()
                .find(|notice| notice.contains(Outcome::VERIFY_FAILS));
            let why = failing.map_or("the run does not pass: see the notes", String::as_str);
            format!("Nothing mandatory is open, but {}", printable::line(why))
        }
        ExitReason::FindingsOpen => are_open(blocking),
        ExitReason::DisputeOpen => format!("{wait} for you"),
        ExitReason::AgentFailed => {
            let reviewers = outcome.proof.reviewers.iter();
            // If an embedded reviewer has no rules for a file, the reviewer leaves the file unread. A reviewer
            // that has only such unread files is not listed here.
            let silent = reviewers.filter(|reviewer| {
                !reviewer.status.is_complete()
                    && (reviewer.unread.is_empty()
                        || !reviewer.problems.is_empty()
                        || reviewer.failure.is_some())
            });
            let failed = outcome.failures.iter().map(|failure| &failure.agent);
            let mut seen = BTreeSet::new();
            let names = failed
                .chain(silent.map(|reviewer| &reviewer.name))
                .filter(|name| seen.insert(*name));
            let names: Vec<_> = names.cloned().collect();
            match names.as_slice() {
                [] if outcome.not_sent().is_some() => {
                    "Inconclusive: not all of the code was reviewed".to_owned()
                }
                [] if !languages.is_empty() => format!("Not reviewed: no rules for {languages}"),
                [] if outcome.proof.covered.is_empty() => {
                    "Inconclusive: nothing was reviewed".to_owned()
                }
                [] => "Inconclusive: an agent did not answer completely".to_owned(),
                names => format!("Inconclusive: {} did not answer completely", list(names)),
            }
        }
        ExitReason::ReadOnlyViolation => "A read-only agent may have modified files".to_owned(),
        ExitReason::Budget => "The budget is used up".to_owned(),
        ExitReason::Limited => limited(outcome),
        ExitReason::Signal(2) => format!("Stopped by you{waiting}"),
        ExitReason::Signal(number) => format!("Interrupted by signal {number}{waiting}"),
        ExitReason::Usage
        | ExitReason::Locked
        | ExitReason::History
        | ExitReason::Untrusted
        | ExitReason::StillRunning => "The run failed".to_owned(),
    };
    let glyph = match outcome.exit {
        ExitReason::Clean => Glyph::Done,
        ExitReason::DisputeOpen | ExitReason::Signal(2) => Glyph::Attention,
        _ => Glyph::Failed,
    };
    (glyph, text + &outcome.set_apart())
}

/// Names the agents that have reached a limit, and when the first limit ends.
fn limited(outcome: &Outcome) -> String {
    let mut names = BTreeSet::new();
    let mut resets = Vec::new();
    for failure in &outcome.failures {
        if let Some(cause) = failure.cause.filter(|cause| cause.is_exhausted()) {
            names.insert(failure.agent.clone());
            resets.extend(cause.reset());
        }
    }
    let names: Vec<_> = names.into_iter().collect();
    let have = if names.len() == 1 { "has" } else { "have" };
    let until = match resets.into_iter().min() {
        Some(reset) => format!(" until {}", style::moment(reset)),
        None => String::new(),
    };
    format!("{} {have} reached a limit{until}", list(&names))
}

/// Returns the number of files that at least one reviewer could read, and the number of lines of these files.
pub(crate) fn read(outcome: &Outcome) -> (usize, u64) {
    let Proof {
        covered, unread, ..
    } = &outcome.proof;
    let unread: BTreeSet<&str> = unread.iter().map(|unread| unread.file.as_str()).collect();
    let read: Vec<&Coverage> = covered
        .iter()
        .filter(|covered| !unread.contains(covered.file.as_str()))
        .collect();
    (
        read.len(),
        read.iter().map(|file| u64::from(file.lines)).sum(),
    )
}

/// Formats the size of the reviewed code, as in `14 files, 1,203 lines`.
fn covered(outcome: &Outcome) -> String {
    let (_, lines) = read(outcome);
    format!("{}, {}", files(outcome), style::count(lines, "line"))
}

/// The number of files that were read, as in `10 of 13 files`.
pub(crate) fn files(outcome: &Outcome) -> String {
    let (read, _) = read(outcome);
    let all = style::count(outcome.proof.covered.len(), "file");
    match outcome.proof.unread.len() {
        0 => all,
        _ => format!("{} of {all}", style::thousands(read as u64)),
    }
}

/// Shortens the hash in an id to 12 characters. A scheme can precede the hash, as in `scheme:hash`.
fn id(id: &str) -> String {
    let id = printable::line(id);
    let hash = id.find(':').map_or(0, |colon| colon + 1);
    id.chars().take(id[..hash].chars().count() + 12).collect()
}

fn tokens(number: Option<u64>, what: &str) -> String {
    number.map_or_else(String::new, |number| {
        format!("{} {what}", style::count(number, "token"))
    })
}

/// Returns short texts about the run, such as its commit and its duration. The text about a fact is empty if the
/// fact is unknown or does not apply.
fn proof(outcome: &Outcome, detail: Detail) -> Vec<String> {
    let proof = &outcome.proof;
    let mut reviewed = Vec::new();
    if detail == Detail::Full {
        let commit = proof.commit.iter();
        reviewed.extend(commit.map(|commit| format!("commit {}", id(commit))));
        reviewed.push(format!("tree {}", id(&proof.tree)));
    }
    let run = vec![
        if outcome.rounds > 1 {
            style::count(outcome.rounds, "round")
        } else {
            String::new()
        },
        style::duration(proof.millis),
        tokens(proof.usage.input_tokens, "read"),
        tokens(proof.usage.output_tokens, "written"),
        proof
            .usage
            .paid_usd()
            .map_or_else(String::new, style::dollars),
        budget_left(proof),
        format!("run {}", printable::line(outcome.run.short())),
    ];
    [reviewed, run].concat()
}

fn budget_left(proof: &Proof) -> String {
    let Proof {
        caps, usage, calls, ..
    } = proof;
    let spent = Spent {
        calls: *calls,
        usage: *usage,
    }
    .tokens()
    .unwrap_or(0);
    let left: Vec<String> = [
        caps.tokens
            .map(|cap| style::count(cap.saturating_sub(spent), "token")),
        caps.usd
            .map(|cap| style::dollars((cap - usage.usd.unwrap_or(0.0)).max(0.0))),
        caps.calls
            .map(|cap| style::count(cap.saturating_sub(*calls), "call")),
    ]
    .into_iter()
    .flatten()
    .collect();
    if left.is_empty() {
        String::new()
    } else {
        format!("budget left: {}", left.join(", "))
    }
}

/// The commands that a user can run next, with their purposes.
pub(crate) fn steps(outcome: &Outcome, fix: &FixCommand) -> Vec<(String, &'static str)> {
    let run = printable::line(outcome.run.short());
    let mut steps: Vec<(String, &'static str)> = Vec::new();
    if outcome.nothing_to_review().is_some() && outcome.proof.target == "uncommitted changes" {
        steps.push(("glee review .".to_owned(), "review the whole project"));
    }
    let open: Vec<_> = outcome
        .disputes
        .iter()
        .filter(|dispute| dispute.is_open())
        .collect();
    for dispute in open.iter().take(NAMED) {
        steps.push((
            format!("glee disputes resolve {}", dispute.number),
            "judge, discard, enforce or dismiss",
        ));
    }
    if open.len() > NAMED {
        steps.push(("glee disputes --open".to_owned(), "list all open disputes"));
    }
    let is_interrupted = outcome.exit.is_unfinished();
    if !open.is_empty() || is_interrupted {
        let purpose = if is_interrupted {
            "resume the run"
        } else {
            "then resume the run"
        };
        steps.push((format!("glee runs resume {run}"), purpose));
        let is_dated =
            |failure: &Failure| failure.cause.is_some_and(|cause| cause.reset().is_some());
        if outcome.failures.iter().any(is_dated) {
            steps.push((
                format!("glee runs resume {run} --when-reset"),
                "resume the run when the limit ends",
            ));
        }
    }
    let is_untouched = outcome
        .findings
        .iter()
        .any(|finding| finding.state == FindingState::Open)
        && !outcome.undoable
        && outcome
            .findings
            .iter()
            .all(|finding| finding.response.is_none());
    if is_untouched
        && !is_interrupted
        && let Some(command) = &fix.command
    {
        if !fix.has_coder {
            steps.push((
                "glee connect builtin:fixer --role coder".to_owned(),
                "connect a coder, such as this one",
            ));
        }
        steps.push((printable::line(command), "pass the findings to the coder"));
    }
    if !outcome.failures.is_empty() {
        steps.push((
            "glee agents --check".to_owned(),
            "ask each agent one harmless question",
        ));
    }
    if let Some((apply, forget)) = view::next_of_worktree(outcome) {
        steps.push((apply, "bring the coder's changes into your tree"));
        steps.push((forget, "forget the coder's changes"));
    }
    if outcome.undoable && !outcome.changes.is_empty() {
        steps.push((format!("glee runs undo {run}"), "undo the coder's changes"));
    }
    steps
}

pub(crate) fn next(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let style = options.style;
    let steps = steps(outcome, options.fix);
    if steps.is_empty() {
        return String::new();
    }
    let width = widest(steps.iter().map(|(command, _)| command));
    let mut text = heading(style, "Next", "");
    for (command, purpose) in steps {
        // Commands are never cut, because users copy them. If the purpose of a command does not fit into the
        // line, the purpose is omitted.
        let purpose = if width + 4 + columns(purpose) < style.width {
            purpose
        } else {
            ""
        };
        let command = style::pad(&style.paint(Color::Key, &command), width);
        let _ = writeln!(
            text,
            "{}",
            format!("  {command}  {}", style.faint(purpose)).trim_end()
        );
    }
    text
}
