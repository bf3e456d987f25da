//! The findings of the report, grouped by file. Files with open mandatory findings come first.

use std::collections::BTreeMap;

use minijinja::value::Value;

use super::code::{CodePlace, Excerpts};
use super::thread::Threads;
use crate::cli::report::html::environment::{tone, value, values};
use crate::cli::report::view::{self, StateNote, View};
use glee_model::domain::{AgentName, EarlierDispute, Outcome, RawFinding, SettledFinding, Tag};

/// The maximum number of findings that are unfolded when the page is opened.
const UNFOLDED: usize = 60;

/// The sentences about earlier disputes.
pub(crate) fn earlier(items: &[EarlierDispute]) -> Vec<Value> {
    let mut earlier = Vec::new();
    for item in items {
        earlier.push(values! {
            sentence => item.sentence(),
            decided => item.decided(),
            diff => item.diff(),
        });
    }
    earlier
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
    let places = sorted.iter().map(|settled| &settled.finding);
    places
        .filter_map(|finding| code_place(&finding.raw, finding.round))
        .collect()
}

/// Returns the agents that raised at least one finding of the run. The filter on the page uses the index of an
/// agent in this list.
pub(crate) fn raisers(outcome: &Outcome) -> Vec<&AgentName> {
    let findings = outcome.findings.iter();
    let mut names: Vec<&AgentName> = findings
        .flat_map(|finding| &finding.finding.raised_by)
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Returns at most `most` open mandatory findings, the most severe first.
pub(crate) fn open(findings: &[&SettledFinding], most: usize) -> Vec<Value> {
    let mut open = findings.to_vec();
    open.retain(|finding| finding.blocks());
    open.sort_by_key(|finding| (finding.finding.raw.severity.tag, finding.finding.id));
    open.into_iter().take(most).map(value).collect()
}

/// Counts the findings of each severity, as the filter of the page lists them.
pub(crate) fn severities(findings: &[&SettledFinding]) -> Vec<(&'static str, usize)> {
    let tags = Tag::ALL.into_iter().map(Some).chain([None]);
    let counted = tags.map(|tag| {
        let of_tag = findings
            .iter()
            .filter(|finding| finding.finding.raw.severity.tag == tag);
        (tag.map_or("other", Tag::as_str), of_tag.count())
    });
    counted.filter(|(_, number)| *number > 0).collect()
}

/// What all findings of the page need.
pub(crate) struct Cards<'a> {
    pub(crate) outcome: &'a Outcome,
    pub(crate) view: View<'a>,
    pub(crate) raisers: &'a [&'a AgentName],
    pub(crate) excerpts: &'a Excerpts,
    pub(crate) threads: Threads,
    /// The number of findings that can still be unfolded.
    unfolded: usize,
}

fn rank(members: &[&SettledFinding]) -> (bool, bool) {
    let blocks = members.iter().any(|finding| finding.blocks());
    let is_over = members.iter().all(|finding| is_over(finding));
    (!blocks, is_over)
}

/// Whether a finding needs no more attention.
fn is_over(settled: &SettledFinding) -> bool {
    !settled.is_open() && !settled.blocks()
}

impl<'a> Cards<'a> {
    pub(crate) fn new(
        outcome: &'a Outcome,
        raisers: &'a [&'a AgentName],
        excerpts: &'a Excerpts,
        threads: Threads,
    ) -> Self {
        Self {
            outcome,
            view: View::of(outcome),
            raisers,
            excerpts,
            threads,
            unfolded: UNFOLDED,
        }
    }

    /// Counts the findings of each state, as the filter of the page lists them.
    pub(crate) fn states(&self, findings: &[&SettledFinding]) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for finding in findings {
            *counts.entry(self.view.state(finding).word).or_default() += 1;
        }
        counts
    }

    pub(crate) fn files(&mut self, findings: &[&SettledFinding]) -> Vec<Value> {
        // A group stands in the file of its head.
        let groups = findings.chunk_by(|one, next| one.finding.id.number == next.finding.id.number);
        let mut by_file: BTreeMap<Option<&str>, Vec<&[&SettledFinding]>> = BTreeMap::new();
        for members in groups {
            let file = members[0].finding.raw.file.as_deref();
            by_file.entry(file).or_default().push(members);
        }
        let mut files: Vec<_> = by_file.into_iter().collect();
        files.sort_by_key(|(path, groups)| {
            let first = groups.iter().map(|members| rank(members)).min();
            (first, path.is_none())
        });
        let mut views = Vec::new();
        for (path, mut groups) in files {
            groups.sort_by_key(|members| {
                let head = &members[0].finding;
                (rank(members), head.raw.line, head.id)
            });
            let mut cards = Vec::new();
            for members in &groups {
                for (at, settled) in members.iter().enumerate() {
                    cards.push(self.card(settled, at > 0, path));
                }
            }
            views.push(values! { path, groups => groups.len(), findings => cards });
        }
        views
    }

    fn card(&mut self, settled: &SettledFinding, is_further: bool, path: Option<&str>) -> Value {
        let is_shown = !is_over(settled) && self.unfolded > 0;
        self.unfolded -= usize::from(is_shown);
        let finding = &settled.finding;
        let by = finding.raised_by.iter();
        let by_keys: Vec<usize> = by
            .filter_map(|name| self.raisers.binary_search(&name).ok())
            .collect();
        let place = code_place(&finding.raw, finding.round);
        let StateNote { word, color, note } = self.view.state(settled);
        let dispute = self.outcome.dispute_of(settled);
        values! {
            number => finding.id.number,
            is_further,
            is_elsewhere => finding.raw.file.as_deref() != path,
            is_shown,
            is_loud => is_shown || settled.blocks(),
            word,
            tone => tone(color),
            note,
            by_keys,
            code => place.and_then(|place| self.excerpts.view(&place)),
            also => finding.further_places(),
            suggestion => finding.other_suggestion(),
            fix => finding.exact_fix.as_ref().map(|fix| fix.shown()),
            opinions => view::opinions(finding),
            tests => tests(settled),
            earlier => earlier(&settled.earlier),
            thread => self.threads.take(finding.id),
            facts => view::facts(finding),
            other_ids => finding.other_ids(),
            dispute => dispute.map(|dispute| dispute.number),
            ..value(settled)
        }
    }
}

/// The demonstrations of a finding: what each shows, its code, and the end of its output.
fn tests(settled: &SettledFinding) -> Vec<Value> {
    let shown = view::demonstrations(settled).into_iter();
    let tests = shown
        .zip(&settled.demonstrations)
        .map(|((shown, color), one)| {
            values! {
                shown,
                tone => tone(color),
                code => one.demonstration.code,
                output => one.output(),
            }
        });
    tests.collect()
}
