//! The content of the report for the templates: the outcome as it is, and what has to be computed from it. The
//! templates escape all texts.

mod agreement;
mod cast;
mod code;
pub(crate) mod disputes;
mod findings;
mod proof;
mod thread;
mod timeline;

pub(crate) use code::Excerpts;

use jiff::tz::TimeZone;
use minijinja::value::Value;

use crate::cli::report::calls;
use crate::cli::report::html::environment::{diff, tone, value, values};
use crate::cli::report::options::RenderOptions;
use crate::cli::report::text::{disputes as dispute_text, summary};
use crate::cli::report::view::{self, FindingCounts};
use glee_model::domain::event::Mode;
use glee_model::domain::{FileChange, Outcome, ReviewerReport, SettledFinding, Spent};

/// The maximum number of findings in the list of open mandatory findings.
const LISTED: usize = 12;

/// On a page with more findings, the browser lays out a finding only when the user scrolls to it.
const MANY: usize = 100;

/// The maximum number of paths that the filter suggests.
const SUGGESTED: usize = 500;

/// The maximum number of diff lines of one file, and of all files together.
const FILE_LINES: usize = 800;
const ALL_LINES: usize = 8_000;

/// If a diff has at most this number of lines, the diff is unfolded when the page is opened.
const UNFOLDED: usize = 60;

/// Returns the values that the template `run.html` inserts. If `options.events` is empty, the page has no timeline,
/// and the discussions of findings have fewer entries.
pub(crate) fn page(outcome: &Outcome, options: &RenderOptions<'_>) -> Value {
    let RenderOptions {
        source,
        events,
        fix,
        ..
    } = *options;
    let found: Vec<&SettledFinding> = outcome
        .findings
        .iter()
        .filter(|finding| options.shows(finding.finding.id))
        .collect();
    let plan = cast::plan(events);
    let calls = calls::calls(events);
    let cast = cast::Cast::of(outcome, plan, &calls);
    let mut places = findings::code_places(&found);
    places.extend(disputes::code_places(outcome));
    let excerpts = Excerpts::of(&places, source);
    let threads = thread::Threads::of(outcome, events, &cast);
    let raisers = findings::raisers(outcome);
    let groups = found
        .chunk_by(|one, next| one.finding.id.number == next.finding.id.number)
        .count();
    let blocking = found.iter().filter(|finding| finding.blocks()).count();
    let (glyph, verdict) = summary::conclusion(options.whole);
    let began = events.first().map(|first| {
        let began = first.at.to_zoned(TimeZone::system());
        began.strftime("%-d %B %Y, %H:%M %Z").to_string()
    });
    let mut cards = findings::Cards::new(outcome, &raisers, &excerpts, threads);
    let spent = Spent {
        calls: 0,
        usage: outcome.proof.usage,
    };
    let (read, lines) = summary::read(outcome);
    let silent = outcome.proof.reviewers.iter().filter(|reviewer| {
        let mut failures = outcome.failures.iter();
        !reviewer.status.is_complete() && failures.all(|failure| failure.agent != reviewer.name)
    });
    let counts = FindingCounts::of(outcome);
    values! {
        outcome => value(outcome),
        run => outcome.run.short(),
        began,
        mode => plan.map(|plan| mode(plan.mode)),
        verdict,
        tone => tone(glyph.color()),
        by_state => counts.by_state(),
        counts,
        tally => dispute_text::counts(&outcome.disputes),
        is_disputed => outcome.disputes.iter().any(|dispute| dispute.is_open()),
        read,
        lines,
        tokens => spent.tokens(),
        loosening => outcome.loosening(),
        silent => silent.map(|silent| reviewer(outcome, silent)).collect::<Vec<_>>(),
        open => findings::open(&found, LISTED),
        more_open => blocking.saturating_sub(LISTED),
        next => summary::steps(outcome, fix),
        paths => paths(&found),
        raisers,
        severities => findings::severities(&found),
        states => cards.states(&found),
        groups,
        has_many => found.len() > MANY,
        files => cards.files(&found),
        disputes => disputes::views(outcome, &cast, &excerpts),
        matrix => agreement::view(outcome, &calls, &cast),
        timeline => timeline::view(&calls, &cast.members, events.last().map(|event| event.at)),
        usage => timeline::usage(&calls, &cast.members, plan, &outcome.proof),
        changes => changes(outcome),
        reviewers => outcome.proof.reviewers.iter().map(|of| reviewer(outcome, of)).collect::<Vec<_>>(),
        skipped => skipped(outcome),
        columns => proof::columns(outcome, events, &calls, plan),
    }
}

/// A reviewer's report with its status in words.
fn reviewer(outcome: &Outcome, report: &ReviewerReport) -> Value {
    let (glyph, word) = view::status(outcome, report);
    values! {
        word,
        tone => tone(glyph.color()),
        languages => glee_model::domain::UnreadFile::languages(&report.unread),
        ..value(report)
    }
}

/// The files that were left out, each with the reason.
fn skipped(outcome: &Outcome) -> Vec<(&str, &'static str)> {
    let skipped = outcome.proof.skipped.iter();
    skipped
        .map(|skip| (skip.file.as_str(), skip.reason.as_str()))
        .collect()
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Review => "review only",
        Mode::Fix => "review and fix",
        Mode::Arbitrate => "review, fix and settle disputes",
    }
}

fn paths<'a>(findings: &[&'a SettledFinding]) -> Vec<&'a str> {
    let files = findings.iter();
    let mut paths: Vec<&str> = files
        .filter_map(|finding| finding.finding.raw.file.as_deref())
        .collect();
    paths.sort_unstable();
    paths.dedup();
    paths.truncate(SUGGESTED);
    paths
}

/// The coder's changes, each with the beginning of its diff.
fn changes(outcome: &Outcome) -> Vec<Value> {
    let mut left = ALL_LINES;
    let mut changes = Vec::new();
    for FileChange {
        file,
        added,
        removed,
        diff: text,
    } in &outcome.changes
    {
        let lines = text.as_deref().unwrap_or_default().lines();
        let lines: Vec<&str> = lines.skip_while(|line| !line.starts_with("@@")).collect();
        let kept = lines.len().min(FILE_LINES).min(left);
        left -= kept;
        changes.push(values! {
            file,
            added,
            removed,
            is_text => text.is_some(),
            html => (kept > 0).then(|| diff(&lines[..kept].join("\n"))),
            more => lines.len() - kept,
            is_shown => kept <= UNFOLDED,
        });
    }
    changes
}
