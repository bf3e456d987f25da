//! Finds the comment that tells each finding.
//!
//! A thread is about the members of one group. Its first comment tells the members that are open when the thread
//! starts. Replies of Glee tell members that come later. Each told finding has a marker of its own.
//!
//! A told finding is continued by the finding that its marker names. Otherwise, Glee recognises the finding by the
//! same rules as a finding of an earlier run. The block of a told finding can have been edited. In this case, a
//! finding also continues it if the words of both are similar. Such a finding must meet one of two conditions. Either
//! the finding is near the line of the told finding, or it has the same title and no other finding in the file has
//! this title.

use std::collections::{BTreeMap, BTreeSet};

use crate::hosts::Thread;
use crate::pull_request::input::RequestReview;
use crate::pull_request::marker::{self, FindingMark, FindingName};
use crate::review::findings::pairing;
use glee_model::domain::{Anchor, Finding, SettledFinding};
use glee_model::rules::consensus::similarity::identity::Wordings;
use glee_workspace::code::anchors::{self, Blocks};

/// If the block of a thread was edited, a finding counts as near the thread if it is at most this number of lines
/// away.
const FAR: u32 = 20;

/// A thread of Glee. It is about the members of one group.
#[derive(Clone, Debug)]
pub(crate) struct FindingThread<'a> {
    pub thread: &'a Thread,
    /// The findings that the thread tells, in the order of its comments.
    pub told: Vec<ToldFinding<'a>>,
}

/// A finding that a comment of Glee tells.
#[derive(Clone, Debug)]
pub(crate) struct ToldFinding<'a> {
    /// If the file was renamed, the marker contains the current path.
    pub mark: FindingMark,
    /// The line of the finding, as far as the host followed the lines of the thread.
    line: Option<u32>,
    /// The comment tells this finding of the outcome.
    pub finding: Option<&'a SettledFinding>,
    /// Whether an older comment tells the same finding.
    pub(crate) is_duplicate: bool,
}

/// The threads of Glee, the oldest first. Each finding is told at most once.
pub(super) fn of<'a>(review: &RequestReview<'a>) -> Vec<FindingThread<'a>> {
    let mut threads: Vec<FindingThread<'a>> = review
        .conversation
        .threads
        .iter()
        .filter_map(|thread| own(review, thread))
        .collect();
    let mut names = BTreeSet::new();
    for told in threads.iter_mut().flat_map(|thread| &mut thread.told) {
        told.is_duplicate = !names.insert(told.mark.name.clone());
    }
    let findings: Vec<&SettledFinding> = review
        .outcome
        .findings
        .iter()
        .filter(|settled| settled.finding.raw.file.is_some())
        .collect();
    let told: Vec<&ToldFinding<'a>> = threads.iter().flat_map(|thread| &thread.told).collect();
    let matched = matched(review, &told, &findings);
    let told = threads.iter_mut().flat_map(|thread| &mut thread.told);
    for (index, told) in told.enumerate() {
        told.finding = matched.get(&index).map(|at| findings[*at]);
    }
    threads
}

/// Maps the indices of told findings to the indices of the same findings in the outcome.
fn matched(
    review: &RequestReview<'_>,
    told: &[&ToldFinding<'_>],
    findings: &[&SettledFinding],
) -> BTreeMap<usize, usize> {
    let mut matched: BTreeMap<usize, usize> = BTreeMap::new();
    for (index, known) in told.iter().enumerate() {
        let FindingName { run, finding } = &known.mark.name;
        if !known.is_duplicate
            && *run == review.outcome.run
            && let Some(at) = findings
                .iter()
                .position(|settled| settled.finding.id == *finding)
        {
            matched.insert(index, at);
        }
    }
    let anchors: Vec<Anchor> = findings
        .iter()
        .map(|settled| anchor(&settled.finding))
        .collect();
    let (old, new) = free(told, findings, &matched);
    let earlier: Vec<&Anchor> = old.iter().map(|at| &told[*at].mark.anchor).collect();
    // A comment is about the main place of its finding, which can be a further place now.
    let places = new.iter().flat_map(|at| {
        let further = findings[*at].finding.also.iter().flatten();
        std::iter::once((*at, &anchors[*at])).chain(further.map(move |anchor| (*at, anchor)))
    });
    let (of_finding, later): (Vec<usize>, Vec<&Anchor>) = places.unzip();
    let mut taken = BTreeSet::new();
    let alike = pairing::likenesses(&earlier, &later, &|path| {
        (review.text_of)(path).unwrap_or_default()
    });
    for pair in alike {
        let known = old[pair.known];
        let finding = of_finding[pair.found];
        if !matched.contains_key(&known) && taken.insert(finding) {
            matched.insert(known, finding);
        }
    }
    let (old, new) = free(told, findings, &matched);
    edited(review, told, findings, &anchors, (old, new), &mut matched);
    matched
}

fn own<'a>(review: &RequestReview<'_>, thread: &'a Thread) -> Option<FindingThread<'a>> {
    let marks = marker::told(thread);
    let lead = marks.first()?.clone();
    let mut told = Vec::new();
    for mut mark in marks {
        let line = mark.line.map(|line| match (thread.line, lead.line) {
            (Some(now), Some(before)) if mark.anchor.file == lead.anchor.file => {
                (line + now).saturating_sub(before)
            }
            _ => line,
        });
        let is_gone = (review.text_of)(&mark.anchor.file).is_none();
        let renamed = review
            .files
            .iter()
            .find(|file| file.previous.as_ref() == Some(&mark.anchor.file));
        if let Some(renamed) = renamed.filter(|_| is_gone) {
            mark.anchor.file.clone_from(&renamed.path);
        }
        told.push(ToldFinding {
            mark,
            line,
            finding: None,
            is_duplicate: false,
        });
    }
    Some(FindingThread { thread, told })
}

fn free(
    told: &[&ToldFinding<'_>],
    findings: &[&SettledFinding],
    matched: &BTreeMap<usize, usize>,
) -> (Vec<usize>, Vec<usize>) {
    let taken: BTreeSet<usize> = matched.values().copied().collect();
    let old = (0..told.len())
        .filter(|at| !matched.contains_key(at) && !told[*at].is_duplicate)
        .collect();
    (
        old,
        (0..findings.len())
            .filter(|at| !taken.contains(at))
            .collect(),
    )
}

/// Matches told findings whose block no longer exists in the file.
fn edited(
    review: &RequestReview<'_>,
    told: &[&ToldFinding<'_>],
    findings: &[&SettledFinding],
    anchors: &[Anchor],
    (old, new): (Vec<usize>, Vec<usize>),
    matched: &mut BTreeMap<usize, usize>,
) {
    let files: BTreeSet<&str> = new.iter().map(|at| anchors[*at].file.as_str()).collect();
    let mut pairs = Vec::new();
    for file in files {
        let text = (review.text_of)(file).unwrap_or_default();
        let blocks = Blocks::of(file, &text);
        let is_renamed = review
            .files
            .iter()
            .any(|changed| changed.path == file && changed.previous.is_some());
        let old: Vec<usize> = old
            .iter()
            .filter(|at| {
                let anchor = &told[**at].mark.anchor;
                // For a renamed file, the host states a single earlier path: the path at the base commit. If a file
                // was renamed twice, the words of the findings decide which comment matches.
                let is_lost = is_renamed && (review.text_of)(&anchor.file).is_none();
                (anchor.file == file || is_lost)
                    && !anchor.block.is_empty()
                    && blocks.place(anchor).is_none()
            })
            .copied()
            .collect();
        let new: Vec<usize> = new
            .iter()
            .filter(|at| anchors[**at].file == file)
            .copied()
            .collect();
        let known = old.iter().map(|at| &told[*at].mark.anchor);
        let wordings = Wordings::of(known.chain(new.iter().map(|at| &anchors[*at])));
        for (index, known) in old.iter().enumerate() {
            let ToldFinding { mark, line, .. } = told[*known];
            for (found, finding) in new.iter().enumerate() {
                let Some(likeness) = wordings.compare(index, old.len() + found, None).same() else {
                    continue;
                };
                let text = &anchors[*finding].text;
                let is_only = mark.anchor.text == *text
                    && old
                        .iter()
                        .filter(|at| told[**at].mark.anchor.text == *text)
                        .count()
                        == 1
                    && new.iter().filter(|at| anchors[**at].text == *text).count() == 1;
                let lines = line.zip(findings[*finding].finding.raw.line);
                let distance = lines.map(|(before, now)| before.abs_diff(now));
                let is_near =
                    mark.anchor.file == file && distance.is_none_or(|distance| distance <= FAR);
                if is_only || is_near {
                    pairs.push((likeness, distance.unwrap_or(0), *known, *finding));
                }
            }
        }
    }
    pairs.sort_by(|a, b| {
        b.0.total_cmp(&a.0)
            .then((a.1, a.2, a.3).cmp(&(b.1, b.2, b.3)))
    });
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    for (_, _, known, finding) in pairs {
        if !matched.contains_key(&known) && taken.insert(finding) {
            matched.insert(known, finding);
        }
    }
}

/// Returns the anchor of a finding. If the location does not exist in the tree, the block is empty.
pub(super) fn anchor(finding: &Finding) -> Anchor {
    let raw = &finding.raw;
    finding.anchor.clone().unwrap_or_else(|| Anchor {
        file: raw.file.clone().unwrap_or_default(),
        category: anchors::category(raw.rule.as_deref(), raw.category.as_deref()),
        text: anchors::words(raw.title.as_written()),
        rule: raw.rule.as_ref().map(|rule| rule.to_lowercase()),
        ..Anchor::default()
    })
}

impl<'a> FindingThread<'a> {
    /// The told findings that no older comment tells.
    pub(super) fn own(&self) -> impl Iterator<Item = &ToldFinding<'a>> {
        self.told.iter().filter(|told| !told.is_duplicate)
    }

    /// Whether the thread tells a member of the group of `finding`.
    pub(crate) fn is_of_group(&self, finding: &Finding) -> bool {
        self.own().any(|told| {
            let is_found = told
                .finding
                .is_some_and(|found| found.finding.id.number == finding.id.number);
            is_found || finding.problem.is_some() && told.mark.problem == finding.problem
        })
    }
}

impl ToldFinding<'_> {
    /// Whether the code of the finding exists neither in its file nor in any changed file.
    pub(super) fn is_gone(&self, review: &RequestReview<'_>) -> bool {
        let anchor = &self.mark.anchor;
        let own = (review.text_of)(&anchor.file);
        if anchor.block.is_empty() {
            return own.is_none();
        }
        let is_in = |path: &str, text: &str| Blocks::of(path, text).place(anchor).is_some();
        let others = || review.files.iter().filter(|file| file.path != anchor.file);
        !own.is_some_and(|text| is_in(&anchor.file, &text))
            && !others().any(|file| {
                (review.text_of)(&file.path).is_some_and(|text| is_in(&file.path, &text))
            })
    }

    /// Whether every reviewer answered completely, and all reviewers received the file of the finding. A file that no
    /// longer exists or is no longer a part of the change counts as reviewed.
    pub(super) fn is_reviewed(&self, review: &RequestReview<'_>) -> bool {
        let file = &self.mark.anchor.file;
        let proof = &review.outcome.proof;
        let is_left_out = proof
            .skipped
            .iter()
            .any(|skip| skip.file == *file && skip.reason.is_unread())
            || proof.unread.iter().any(|unread| unread.file == *file);
        let is_covered = proof.covered.iter().any(|covered| covered.file == *file);
        let is_changed = review.files.iter().any(|changed| changed.path == *file);
        let is_there = is_covered || !is_changed || (review.text_of)(file).is_none();
        !is_left_out && is_there && review.is_complete()
    }
}
