//! The findings of the report, grouped by file. Files with open mandatory findings come first.

use std::collections::BTreeMap;

use serde::Serialize;

use super::cast::tone;
use super::code::{CodePlace, CodeView, Excerpts};
use super::thread::{ThreadEntry, Threads};
use crate::cli::report::text::findings::{agreement, positions};
use crate::cli::style::{self, Color, count};
use glee_model::domain::{
    AgentName, Class, EarlierDispute, FindingState, Outcome, RawFinding, Restated, RulingRef,
    SettledFinding, Tag, dissent,
};
use glee_protocol::text::printable;

/// The maximum number of findings that are unfolded when the page is opened.
const UNFOLDED: usize = 60;

#[derive(Debug, Serialize)]
pub(crate) struct FileView {
    /// The path of the file. The path is empty for findings without a file.
    path: String,
    name: String,
    count: String,
    findings: Vec<FindingView>,
}

#[derive(Debug, Serialize)]
struct FindingView {
    id: String,
    /// The number of the finding's group.
    number: u32,
    anchor: String,
    tag: String,
    /// The page's severity filter selects the finding by this value.
    level: &'static str,
    tone: &'static str,
    /// Whether the finding is a further member of the group of the finding above.
    is_further: bool,
    title: String,
    /// The line numbers of the finding, as text. The text is empty for a finding about the whole file. A further
    /// member in another file has the path, too.
    lines: String,
    state: StateView,
    group: &'static str,
    by_keys: String,
    is_shown: bool,
    body: String,
    code: Option<CodeView>,
    /// The further places of the finding.
    also: Vec<String>,
    evidence: Vec<String>,
    suggestion: String,
    suggestion_is_code: bool,
    restated: Vec<RestatedView>,
    /// The text of the exact fix.
    fix: String,
    /// The numbers of the lines that the exact fix replaces.
    fixed_lines: String,
    agreement: Vec<String>,
    earlier: Vec<EarlierView>,
    thread: Vec<ThreadEntry>,
    facts: Vec<String>,
    dispute: Option<String>,
}

/// What a reviewer of the finding said about it in other words.
#[derive(Debug, Serialize)]
struct RestatedView {
    by: String,
    title: String,
    body: String,
}

#[derive(Debug, Serialize)]
struct StateView {
    word: String,
    tone: &'static str,
    note: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct EarlierView {
    sentence: String,
    decided: String,
    diff: String,
}

/// An option of a filter.
#[derive(Debug, Serialize)]
pub(crate) struct FilterView {
    key: String,
    name: String,
    count: String,
}

/// A finding in the list of open mandatory findings.
#[derive(Debug, Serialize)]
pub(crate) struct OpenView {
    anchor: String,
    tag: String,
    tone: &'static str,
    title: String,
    place: String,
}

pub(crate) fn anchor(finding: &SettledFinding) -> String {
    finding.finding.id.to_string().to_lowercase()
}

pub(crate) fn place(raw: &RawFinding) -> String {
    raw.location()
        .map_or_else(String::new, |place| printable::line(&place.to_string()))
}

fn lines(raw: &RawFinding) -> String {
    match (raw.line, raw.end_line) {
        (None, _) => String::new(),
        (Some(line), end) => range(line, end.unwrap_or(line)),
    }
}

fn range(line: u32, end: u32) -> String {
    if end > line {
        format!("lines {line}–{end}")
    } else {
        format!("line {line}")
    }
}

pub(crate) fn earlier(items: &[EarlierDispute]) -> Vec<EarlierView> {
    let view = |item: &EarlierDispute| EarlierView {
        sentence: printable::block(&item.sentence()),
        decided: printable::block(&item.decided()),
        diff: item.diff().map(printable::block).unwrap_or_default(),
    };
    items.iter().map(view).collect()
}

pub(crate) fn code_place(raw: &RawFinding, round: u32) -> Option<CodePlace> {
    Some(CodePlace {
        file: raw.file.clone()?,
        round,
        line: raw.line?,
        end_line: raw.end_line,
    })
}

/// Returns the locations of all findings in the code. The locations of open findings come first.
pub(crate) fn code_places(findings: &[&SettledFinding]) -> Vec<CodePlace> {
    let mut sorted = findings.to_vec();
    sorted.sort_by_key(|finding| {
        (
            !finding.blocks(),
            finding.state.is_closed(),
            finding.finding.id,
        )
    });
    sorted
        .iter()
        .filter_map(|finding| code_place(&finding.finding.raw, finding.finding.round))
        .collect()
}

/// Returns the agents that raised at least one finding of the run. The filter on the page uses the index of an
/// agent in this list.
pub(crate) fn raisers(outcome: &Outcome) -> Vec<AgentName> {
    let mut names: Vec<AgentName> = outcome
        .findings
        .iter()
        .flat_map(|finding| finding.finding.raised_by.iter().cloned())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Returns at most `most` open mandatory findings, the most severe first.
pub(crate) fn open(findings: &[&SettledFinding], most: usize) -> Vec<OpenView> {
    let mut open: Vec<&&SettledFinding> =
        findings.iter().filter(|finding| finding.blocks()).collect();
    open.sort_by_key(|finding| (finding.finding.raw.severity.tag, finding.finding.id));
    let view = |finding: &&SettledFinding| OpenView {
        anchor: anchor(finding),
        tag: style::tag(&finding.finding),
        tone: tone(Color::of(&finding.finding.raw.severity)),
        title: printable::line(&finding.finding.raw.title),
        place: place(&finding.finding.raw),
    };
    open.into_iter().take(most).map(view).collect()
}

pub(crate) fn severities(findings: &[&SettledFinding]) -> Vec<FilterView> {
    let levels = Tag::ALL.map(|tag| (level(Some(tag)), tag.to_string()));
    let all = levels
        .into_iter()
        .chain([(level(None), "other".to_owned())]);
    filters(all, findings, |finding| {
        level(finding.finding.raw.severity.tag)
    })
}

pub(crate) fn states(findings: &[&SettledFinding]) -> Vec<FilterView> {
    const GROUPS: [&str; 6] = [
        "open",
        "disputed",
        "enforced",
        "fixed",
        "dismissed",
        "discarded",
    ];
    filters(
        GROUPS.into_iter().map(|group| (group, group.to_owned())),
        findings,
        group,
    )
}

fn filters(
    all: impl Iterator<Item = (&'static str, String)>,
    findings: &[&SettledFinding],
    key: impl Fn(&SettledFinding) -> &'static str,
) -> Vec<FilterView> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for finding in findings {
        *counts.entry(key(finding)).or_default() += 1;
    }
    let view = |(key, name): (&'static str, String)| {
        let count = style::thousands(*counts.get(key)?);
        Some(FilterView {
            key: key.to_owned(),
            name,
            count,
        })
    };
    all.filter_map(view).collect()
}

fn level(tag: Option<Tag>) -> &'static str {
    match tag {
        Some(Tag::Critical) => "critical",
        Some(Tag::Must) => "must",
        Some(Tag::High) => "high",
        Some(Tag::Should) => "should",
        Some(Tag::Medium) => "medium",
        Some(Tag::Low) => "low",
        None => "other",
    }
}

fn group(finding: &SettledFinding) -> &'static str {
    match &finding.state {
        FindingState::Disputed { .. } => "disputed",
        FindingState::Enforced { .. } => "enforced",
        FindingState::AlreadyRuled { disposition, .. } if !disposition.closes() => "enforced",
        FindingState::Resolved | FindingState::Unchecked => "fixed",
        FindingState::Dismissed { .. } | FindingState::AlreadyRuled { .. } => "dismissed",
        FindingState::Discarded => "discarded",
        _ if finding.finding.is_rejected() => "dismissed",
        FindingState::Open
        | FindingState::Unanswered
        | FindingState::Claimed
        | FindingState::Unconfirmed
        | FindingState::NotResolved => "open",
    }
}

pub(crate) fn files(
    outcome: &Outcome,
    findings: &[&SettledFinding],
    raisers: &[AgentName],
    excerpts: &Excerpts,
    threads: &mut Threads,
) -> Vec<FileView> {
    // A group stands in the file of its head.
    let groups = findings.chunk_by(|one, next| one.finding.id.number == next.finding.id.number);
    let mut by_file: BTreeMap<Option<&str>, Vec<&[&SettledFinding]>> = BTreeMap::new();
    for members in groups {
        by_file
            .entry(members[0].finding.raw.file.as_deref())
            .or_default()
            .push(members);
    }
    let mut files: Vec<_> = by_file.into_iter().collect();
    let blocks = |members: &&[&SettledFinding]| members.iter().any(|finding| finding.blocks());
    let is_closed = |finding: &SettledFinding| group(finding) != "open" && !finding.blocks();
    let are_closed =
        |members: &&[&SettledFinding]| members.iter().all(|finding| is_closed(finding));
    files.sort_by_key(|(path, groups)| {
        (
            !groups.iter().any(blocks),
            groups.iter().all(are_closed),
            path.is_none(),
        )
    });
    let mut unfolded = UNFOLDED;
    files
        .into_iter()
        .map(|(path, mut groups)| {
            groups.sort_by_key(|members| {
                let head = &members[0].finding;
                (
                    !blocks(members),
                    are_closed(members),
                    head.raw.line,
                    head.id,
                )
            });
            let mut views = Vec::new();
            for members in &groups {
                for (at, settled) in members.iter().enumerate() {
                    let is_shown = !is_closed(settled) && unfolded > 0;
                    unfolded -= usize::from(is_shown);
                    let mut view =
                        finding_view(outcome, settled, raisers, is_shown, excerpts, threads);
                    view.is_further = at > 0;
                    if settled.finding.raw.file.as_deref() != path {
                        view.lines = place(&settled.finding.raw);
                    }
                    views.push(view);
                }
            }
            FileView {
                path: path.map(printable::line).unwrap_or_default(),
                name: path.map_or_else(|| "General".to_owned(), printable::line),
                count: count(groups.len(), "finding"),
                findings: views,
            }
        })
        .collect()
}

fn finding_view(
    outcome: &Outcome,
    settled: &SettledFinding,
    raisers: &[AgentName],
    is_shown: bool,
    excerpts: &Excerpts,
    threads: &mut Threads,
) -> FindingView {
    let SettledFinding { finding, .. } = settled;
    let raw = &finding.raw;
    let keys = finding
        .raised_by
        .iter()
        .filter_map(|name| raisers.binary_search(name).ok());
    FindingView {
        id: finding.id.to_string(),
        number: finding.id.number,
        anchor: anchor(settled),
        tag: style::tag(finding),
        level: level(raw.severity.tag),
        tone: if is_shown || settled.blocks() {
            tone(Color::of(&raw.severity))
        } else {
            "minor"
        },
        is_further: false,
        title: printable::line(&raw.title),
        lines: lines(raw),
        state: state(settled),
        group: group(settled),
        by_keys: keys
            .map(|key| key.to_string())
            .collect::<Vec<_>>()
            .join(" "),
        is_shown,
        body: printable::block(&raw.body),
        code: code_place(raw, finding.round).and_then(|place| excerpts.view(&place)),
        also: finding
            .further_places()
            .iter()
            .map(printable::line)
            .collect(),
        evidence: raw.evidence.iter().map(printable::block).collect(),
        suggestion: finding
            .other_suggestion()
            .map(printable::block)
            .unwrap_or_default(),
        // A static rule suggests source code. An agent usually suggests a sentence.
        suggestion_is_code: raw.rule.is_some(),
        restated: finding.restated.iter().map(RestatedView::of).collect(),
        fix: finding
            .exact_fix
            .as_ref()
            .map(|fix| printable::block(&fix.shown()))
            .unwrap_or_default(),
        fixed_lines: finding
            .exact_fix
            .as_ref()
            .map(|fix| range(fix.line, fix.end_line))
            .unwrap_or_default(),
        agreement: reviewers(settled),
        earlier: earlier(&settled.earlier),
        thread: threads.take(finding.id),
        facts: facts(settled),
        dispute: outcome
            .dispute_of(settled)
            .map(|dispute| dispute.number.to_string()),
    }
}

impl RestatedView {
    fn of(said: &Restated) -> Self {
        Self {
            by: printable::line(&said.by.0),
            title: printable::line(&said.title),
            body: printable::block(&said.body),
        }
    }
}

/// Lists how many reviewers support the finding, and how each reviewer rates it.
fn reviewers(settled: &SettledFinding) -> Vec<String> {
    let Some(consensus) = &settled.finding.consensus else {
        return Vec::new();
    };
    let mut facts = vec![agreement(settled)];
    match consensus.class {
        Class::Accepted => {}
        Class::Uncorroborated => {
            facts.push(format!("needed for a decision: {}", consensus.would_decide))
        }
        Class::Rejected => facts.push(consensus.why.clone()),
        Class::Disputed => {
            facts[0].clone_from(&consensus.why);
            facts.extend(dissent(&consensus.assessments));
        }
    }
    facts.extend(positions(consensus));
    facts.extend(consensus.notes.iter().cloned());
    facts.retain(|fact| !fact.is_empty());
    facts.iter().map(printable::line).collect()
}

fn facts(settled: &SettledFinding) -> Vec<String> {
    let finding = &settled.finding;
    let raw = &finding.raw;
    let mut facts = vec![format!("raised by {}", style::names(&finding.raised_by))];
    facts.extend(raw.category.iter().chain(&raw.rule).map(printable::line));
    facts.extend(raw.cwe.map(|cwe| cwe.to_string()));
    facts.extend(
        raw.confidence
            .map(|confidence| format!("{}% sure", confidence.get())),
    );
    if raw
        .severity
        .tag
        .is_none_or(|tag| !tag.as_str().eq_ignore_ascii_case(&raw.severity.raw))
    {
        facts.push(format!(
            "written as [{}]",
            printable::line(&raw.severity.raw)
        ));
    }
    if !finding.mandatory {
        facts.push("optional".to_owned());
    }
    if finding.round > 1 {
        facts.push(format!("round {}", finding.round));
    }
    facts.extend(finding.other_ids());
    if let Some(earlier) = finding.reverses {
        facts.push(format!("reverses the change that {earlier} requested"));
    }
    facts.dedup();
    facts
}

fn state(settled: &SettledFinding) -> StateView {
    let ruled = |dispute: &RulingRef| format!("dispute {}", printable::line(&dispute.to_string()));
    let raisers = style::names(&settled.finding.raised_by);
    let coder = match &settled.coder {
        Some(name) => printable::line(&name.0),
        None => "The coder".to_owned(),
    };
    let (word, tone, note) = match &settled.state {
        FindingState::Open if settled.finding.is_rejected() => ("rejected", "minor", String::new()),
        FindingState::Open => match &settled.lowered {
            Some(lowered) => {
                let (now, was) = (&settled.finding.raw.severity, &lowered.was);
                let note = format!("Now {now}, was {was}, by {}.", ruled(&lowered.dispute));
                ("open", "warn", printable::line(&note))
            }
            None if settled.finding.mandatory => ("open", "bad", String::new()),
            None => ("open", "warn", String::new()),
        },
        FindingState::Unanswered => ("not answered", "bad", format!("{coder} gave no answer.")),
        FindingState::Claimed => (
            "claimed",
            "bad",
            printable::line(&format!(
                "{coder} reports it as done, but {}.",
                settled.what_is_unchanged()
            )),
        ),
        FindingState::Unchecked => (
            "changed",
            "good",
            "The code changed. Nobody checked the change.".to_owned(),
        ),
        FindingState::Unconfirmed => (
            "not confirmed",
            "bad",
            format!("The code changed, but {raisers} did not check the change."),
        ),
        FindingState::NotResolved => (
            "not resolved",
            "bad",
            format!("{raisers} checked the change: the problem is still there."),
        ),
        FindingState::Resolved => ("fixed", "good", String::new()),
        FindingState::Discarded => ("discarded", "minor", String::new()),
        FindingState::Disputed { dispute } => (
            "disputed",
            "warn",
            format!("Dispute {dispute} waits for a person."),
        ),
        FindingState::Enforced { dispute } => (
            "enforced",
            "bad",
            format!("Dispute {dispute} enforced it. It is not implemented yet."),
        ),
        FindingState::Dismissed { dispute } => (
            "dismissed",
            "good",
            format!("Dismissed by dispute {dispute}."),
        ),
        FindingState::AlreadyRuled {
            dispute,
            disposition,
        } => {
            let how = disposition.as_str();
            let insisted = if settled.insisted {
                "Raised again without new evidence: "
            } else {
                ""
            };
            let tone = if disposition.closes() { "minor" } else { "bad" };
            (
                "already ruled",
                tone,
                format!("{insisted}{how} in {}.", ruled(dispute)),
            )
        }
    };
    StateView {
        word: word.to_owned(),
        tone,
        note,
    }
}
