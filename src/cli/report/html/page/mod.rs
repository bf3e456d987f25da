//! The content of the report as values that templates insert. All texts are escaped for display, and all numbers
//! are formatted.

mod agreement;
mod calls;
mod cast;
mod code;
mod disputes;
pub(crate) mod findings;
mod proof;
mod thread;
mod timeline;

use jiff::tz::TimeZone;
use minijinja::value::Value;
use serde::Serialize;

use crate::cli::report::html::environment;
use crate::cli::report::options::RenderOptions;
use crate::cli::report::text::{disputes as dispute_text, summary};
use crate::cli::style::{count, dollars, duration, thousands};
use glee_model::domain::event::Event;
use glee_model::domain::{
    AgentName, Dispute, FileChange, FindingState, Outcome, SettledFinding, Spent,
};
use glee_protocol::text::printable;

/// The maximum number of findings in the list of open mandatory findings.
const LISTED: usize = 12;

/// On a page with more findings, the browser lays out a finding only when the user scrolls to it.
const MANY: usize = 100;

/// The maximum number of paths that the filter suggests.
const SUGGESTED: usize = 500;

/// Two limits on the number of diff lines: the maximum for one file, and the maximum for all files together.
const DIFF_LINES: (usize, usize) = (800, 8_000);

/// If a diff has at most this number of lines, the diff is unfolded when the page is opened.
const UNFOLDED: usize = 60;

/// The content of the report on one run, as values that the template `run.html` inserts.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    target: String,
    eyebrow: String,
    verdict: VerdictView,
    tiles: Vec<TileView>,
    sections: Vec<SectionView>,
    problems: Vec<ProblemView>,
    open: Vec<findings::OpenView>,
    more_open: Option<String>,
    next: Vec<StepView>,
    files: Vec<findings::FileView>,
    paths: Vec<String>,
    reviewers: Vec<ReviewerChoice>,
    severities: Vec<findings::FilterView>,
    states: Vec<findings::FilterView>,
    count: String,
    /// Whether the browser lays out each finding only when the user scrolls to the finding.
    has_many: bool,
    disputes: Vec<disputes::DisputeView>,
    matrix: Option<agreement::AgreementView>,
    timeline: Option<timeline::TimelineView>,
    usage: timeline::UsageView,
    changes: Vec<ChangeView>,
    changes_total: String,
    proof: proof::ProofView,
}

#[derive(Debug, Serialize)]
struct VerdictView {
    text: String,
    tone: &'static str,
}

#[derive(Debug, Serialize)]
struct TileView {
    name: &'static str,
    value: String,
    note: String,
    tone: &'static str,
}

#[derive(Debug, Serialize)]
struct SectionView {
    anchor: &'static str,
    name: &'static str,
    count: String,
}

#[derive(Debug, Serialize)]
struct ProblemView {
    who: String,
    text: String,
    hint: Option<String>,
    tone: &'static str,
}

#[derive(Debug, Serialize)]
struct StepView {
    command: String,
    purpose: &'static str,
}

#[derive(Debug, Serialize)]
struct ReviewerChoice {
    key: String,
    name: String,
}

#[derive(Debug, Serialize)]
struct ChangeView {
    file: String,
    added: String,
    removed: String,
    html: Option<Value>,
    note: Option<String>,
    is_shown: bool,
}

impl Page {
    /// If `options.events` is empty, the page has no timeline, and the discussions of findings have fewer
    /// entries.
    pub(crate) fn of(outcome: &Outcome, options: &RenderOptions<'_>) -> Self {
        let RenderOptions {
            source,
            events,
            fix,
            ..
        } = *options;
        let shown = |finding: &&SettledFinding| options.shows(finding.finding.id);
        let found: Vec<&SettledFinding> = outcome.findings.iter().filter(shown).collect();
        let plan = cast::plan(events);
        let calls = calls::calls(events);
        let cast = cast::Cast::of(outcome, plan, &calls);
        let places = [
            findings::code_places(&found),
            disputes::code_places(outcome),
        ]
        .concat();
        let excerpts = code::Excerpts::of(&places, source);
        let mut threads = thread::Threads::of(outcome, events, &cast);
        let raisers = findings::raisers(outcome);
        let groups = found
            .chunk_by(|one, next| one.finding.id.number == next.finding.id.number)
            .count();
        let blocking = found.iter().filter(|finding| finding.blocks()).count();
        let (glyph, verdict) = summary::conclusion(outcome);
        let end = events.last().map(|event| event.at);
        let step = |(command, purpose)| StepView { command, purpose };
        let mut page = Self {
            target: printable::line(&outcome.proof.target),
            eyebrow: eyebrow(outcome, events),
            verdict: VerdictView {
                text: verdict,
                tone: cast::tone(glyph.color()),
            },
            tiles: tiles(outcome),
            sections: Vec::new(),
            problems: problems(outcome),
            open: findings::open(&found, LISTED),
            more_open: (blocking > LISTED)
                .then(|| format!("{} more below.", thousands((blocking - LISTED) as u64))),
            next: summary::steps(outcome, fix).into_iter().map(step).collect(),
            paths: paths(&found),
            reviewers: (0..).zip(&raisers).map(ReviewerChoice::of).collect(),
            severities: findings::severities(&found),
            states: findings::states(&found),
            count: count(groups, "finding"),
            has_many: found.len() > MANY,
            files: findings::files(outcome, &found, &raisers, &excerpts, &mut threads),
            disputes: disputes::views(outcome, &cast, &excerpts),
            matrix: agreement::view(outcome, &calls, &cast),
            timeline: timeline::view(&calls, &cast.members, end),
            usage: timeline::usage(&calls, &cast.members, plan, &outcome.proof),
            changes: changes(outcome),
            changes_total: changes_total(&outcome.changes),
            proof: proof::view(outcome, events, &calls, plan),
        };
        page.sections = page.contents(groups);
        page
    }

    fn contents(&self, findings: usize) -> Vec<SectionView> {
        let number = |number: usize| {
            if number == 0 {
                String::new()
            } else {
                thousands(number as u64)
            }
        };
        let sections = [
            (
                "problems",
                "Read first",
                self.problems.len(),
                !self.problems.is_empty(),
            ),
            ("findings", "Findings", findings, findings > 0),
            (
                "disputes",
                "Disputes",
                self.disputes.len(),
                !self.disputes.is_empty(),
            ),
            ("agreement", "Agreement", 0, self.matrix.is_some()),
            ("timeline", "Timeline", 0, self.timeline.is_some()),
            ("usage", "Tokens and cost", 0, true),
            (
                "changes",
                "Changes",
                self.changes.len(),
                !self.changes.is_empty(),
            ),
            ("proof", "Proof of review", 0, true),
        ];
        let shown = sections.into_iter().filter(|(.., is_shown)| *is_shown);
        shown
            .map(|(anchor, name, count, _)| SectionView {
                anchor,
                name,
                count: number(count),
            })
            .collect()
    }
}

impl ReviewerChoice {
    fn of((key, name): (usize, &AgentName)) -> Self {
        Self {
            key: key.to_string(),
            name: printable::line(&name.0),
        }
    }
}

fn eyebrow(outcome: &Outcome, events: &[Event]) -> String {
    let mut facts = vec![format!("Run {}", printable::line(outcome.run.short()))];
    if let Some(first) = events.first() {
        facts.push(
            first
                .at
                .to_zoned(TimeZone::system())
                .strftime("%-d %B %Y, %H:%M %Z")
                .to_string(),
        );
    }
    if let Some(commit) = &outcome.proof.commit {
        facts.push(format!(
            "commit {}",
            printable::line(&commit.chars().take(10).collect::<String>())
        ));
    }
    facts.extend(cast::plan(events).map(|plan| proof::mode(plan.mode).to_owned()));
    facts.join(" · ")
}

fn tiles(outcome: &Outcome) -> Vec<TileView> {
    // A group counts once, with the state of its leading member.
    let leading: Vec<&SettledFinding> = outcome.groups().map(SettledFinding::leading).collect();
    let number =
        |is: &dyn Fn(&SettledFinding) -> bool| leading.iter().filter(|group| is(group)).count();
    let mandatory = outcome
        .groups()
        .filter(|group| group.iter().any(|member| member.finding.mandatory))
        .count();
    let blocking = number(&SettledFinding::blocks);
    let optional = number(&|finding| finding.is_open() && !finding.finding.mandatory);
    let fixed = number(&|finding| {
        matches!(
            finding.state,
            FindingState::Resolved | FindingState::Unchecked
        )
    });
    let unchecked = number(&|finding| finding.state == FindingState::Unchecked);
    let reviewers = &outcome.proof.reviewers;
    let complete = reviewers
        .iter()
        .filter(|reviewer| reviewer.status.is_complete())
        .count();
    let usage = &outcome.proof.usage;
    let tokens = Spent {
        calls: 0,
        usage: *usage,
    }
    .tokens();
    let (read, lines) = summary::read(outcome);
    let covered = outcome.proof.covered.len();
    let some = |number: usize, what: &str| {
        if number == 0 {
            String::new()
        } else {
            format!("{} {what}", thousands(number as u64))
        }
    };
    let text = |number: usize| thousands(number as u64);
    let mut tiles = vec![
        (
            "Findings",
            text(leading.len()),
            if leading.len() == outcome.findings.len() {
                format!("{} mandatory", text(mandatory))
            } else {
                let members = text(outcome.findings.len());
                format!("{} mandatory, {members} members", text(mandatory))
            },
            "",
        ),
        (
            "Open",
            text(blocking),
            some(optional, "optional"),
            if blocking > 0 { "bad" } else { "good" },
        ),
        ("Fixed", text(fixed), some(unchecked, "unchecked"), ""),
    ];
    if !outcome.disputes.is_empty() {
        let open = outcome.disputes.iter().any(Dispute::is_open);
        let tally = dispute_text::counts(&outcome.disputes);
        tiles.push((
            "Disputes",
            text(outcome.disputes.len()),
            tally,
            if open { "warn" } else { "" },
        ));
    }
    let all = if read == covered {
        count(read, "file")
    } else {
        format!("{} of {} files", text(read), text(covered))
    };
    tiles.push(("Read", all, count(lines, "line"), ""));
    let answered = if complete == reviewers.len() {
        text(complete)
    } else {
        format!("{complete} of {}", reviewers.len())
    };
    let note = if complete == reviewers.len() {
        "complete"
    } else {
        "answered completely"
    };
    let tone = if complete == reviewers.len() {
        ""
    } else {
        "warn"
    };
    tiles.push(("Reviewers", answered, note.to_owned(), tone));
    let rounds = if outcome.rounds > 1 {
        count(outcome.rounds, "round")
    } else {
        String::new()
    };
    tiles.push(("Time", duration(outcome.proof.millis), rounds, ""));
    tiles.extend(tokens.map(|tokens| ("Tokens", thousands(tokens), String::new(), "")));
    let estimated = if usage.estimated {
        "estimated".to_owned()
    } else {
        String::new()
    };
    tiles.extend(usage.usd.map(|usd| ("Cost", dollars(usd), estimated, "")));
    tiles
        .into_iter()
        .map(|(name, value, note, tone)| TileView {
            name,
            value,
            note,
            tone,
        })
        .collect()
}

/// Returns the failures, the incomplete answers and the notices, which the page shows before the findings.
fn problems(outcome: &Outcome) -> Vec<ProblemView> {
    let mut problems: Vec<ProblemView> = outcome
        .loosening()
        .map(|line| ProblemView {
            who: "Configuration:".to_owned(),
            text: printable::line(&line),
            hint: None,
            tone: "warn",
        })
        .into_iter()
        .collect();
    for failure in &outcome.failures {
        problems.push(ProblemView {
            who: format!(
                "{} ({}) failed:",
                printable::line(&failure.agent.0),
                failure.role
            ),
            text: printable::line(&failure.error),
            hint: failure.hint.as_ref().map(printable::line),
            tone: "bad",
        });
    }
    let has_failed = |name: &AgentName| {
        outcome
            .failures
            .iter()
            .any(|failure| failure.agent == *name)
    };
    for reviewer in outcome
        .proof
        .reviewers
        .iter()
        .filter(|reviewer| !reviewer.status.is_complete())
    {
        if !has_failed(&reviewer.name) {
            let (status, tone) = proof::status(reviewer);
            let why = reviewer.failure.as_deref().or(reviewer
                .problems
                .first()
                .map(|problem| problem.problem.as_str()));
            problems.push(ProblemView {
                who: format!("{}: {status}.", printable::line(&reviewer.name.0)),
                text: why.map(printable::line).unwrap_or_default(),
                hint: None,
                tone,
            });
        }
    }
    let notice = |notice: &String| ProblemView {
        who: "Note:".to_owned(),
        text: printable::line(notice),
        hint: None,
        tone: "warn",
    };
    problems.extend(outcome.notices.iter().map(notice));
    problems
}

fn paths(findings: &[&SettledFinding]) -> Vec<String> {
    let mut paths: Vec<&str> = findings
        .iter()
        .filter_map(|finding| finding.finding.raw.file.as_deref())
        .collect();
    paths.sort_unstable();
    paths.dedup();
    paths.truncate(SUGGESTED);
    paths.into_iter().map(printable::line).collect()
}

fn changes(outcome: &Outcome) -> Vec<ChangeView> {
    let whole = format!("glee runs diff {}", printable::line(outcome.run.short()));
    let mut left = DIFF_LINES.1;
    let mut view = |change: &FileChange| {
        let diff = printable::block(change.diff.as_deref().unwrap_or_default());
        let lines: Vec<&str> = diff
            .lines()
            .skip_while(|line| !line.starts_with("@@"))
            .collect();
        let kept = lines.len().min(DIFF_LINES.0).min(left);
        left -= kept;
        let note = match (&change.diff, lines.len() - kept) {
            (None, _) => Some("Not text, or too large to keep.".to_owned()),
            (Some(_), 0) => None,
            (Some(_), more) => Some(format!(
                "{} not shown. The whole diff: {whole}",
                count(more, "more line")
            )),
        };
        let html = environment::diff(lines[..kept].iter().copied());
        ChangeView {
            file: printable::line(&change.file),
            added: thousands(u64::from(change.added)),
            removed: thousands(u64::from(change.removed)),
            html: (kept > 0).then(|| Value::from_safe_string(html)),
            note,
            is_shown: kept <= UNFOLDED,
        }
    };
    outcome.changes.iter().map(&mut view).collect()
}

fn changes_total(changes: &[FileChange]) -> String {
    let (added, removed) = changes.iter().fold((0, 0), |(added, removed), change| {
        (
            added + u64::from(change.added),
            removed + u64::from(change.removed),
        )
    });
    format!(
        "{}, {} added, {} removed",
        count(changes.len(), "file"),
        count(added, "line"),
        count(removed, "line")
    )
}
