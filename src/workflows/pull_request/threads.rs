//! Finds the thread of each finding.
//!
//! A finding continues a thread if the thread's marker names the finding. Otherwise, Glee recognises the finding
//! of a thread by the same rules as a finding of an earlier run. The block of a thread can have been edited. In
//! this case, a finding also continues the thread if the words of the finding and of the thread are similar. Such
//! a finding must meet one of two conditions. Either the finding is near the thread, or it has the title of the
//! thread and no other finding in the file has this title.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Anchor, Finding, SettledFinding};
use crate::rules::consensus::similarity::identity::Wordings;
use crate::workflows::hosts::Thread;
use crate::workflows::pull_request::input::RequestReview;
use crate::workflows::pull_request::marker::{self, FindingMark};
use crate::workflows::review::findings::recognition;
use crate::workspace::code::anchors::{self, Blocks};

/// If the block of a thread was edited, a finding counts as near the thread if it is at most this number of lines
/// away.
const FAR: u32 = 20;

/// A thread of Glee.
#[derive(Clone, Debug)]
pub(crate) struct FindingThread<'a> {
    pub(crate) thread: &'a Thread,
    /// The marker of the thread. If the file was renamed, the marker contains the current path.
    pub(crate) mark: FindingMark,
    /// The thread belongs to this finding of the outcome.
    pub(crate) finding: Option<&'a SettledFinding>,
    /// Whether an older thread is about the same finding.
    pub(crate) is_duplicate: bool,
}

/// The threads of Glee, the oldest first. Glee assigns at most one thread to each finding.
pub(crate) fn of<'a>(review: &RequestReview<'a>) -> Vec<FindingThread<'a>> {
    let mut threads: Vec<FindingThread<'a>> = review
        .conversation
        .threads
        .iter()
        .filter_map(|thread| own(review, thread))
        .collect();
    let mut names = BTreeSet::new();
    for thread in &mut threads {
        thread.is_duplicate = !names.insert((thread.mark.run.clone(), thread.mark.finding));
    }
    let findings: Vec<&SettledFinding> = review
        .outcome
        .findings
        .iter()
        .filter(|settled| settled.finding.raw.file.is_some())
        .collect();
    let mut matched: BTreeMap<usize, usize> = BTreeMap::new();
    for (index, thread) in threads
        .iter()
        .enumerate()
        .filter(|(_, thread)| !thread.is_duplicate)
    {
        let named = |settled: &&SettledFinding| settled.finding.id == thread.mark.finding;
        if let Some(at) = findings
            .iter()
            .position(named)
            .filter(|_| thread.mark.run == review.outcome.run)
        {
            matched.insert(index, at);
        }
    }
    let anchors: Vec<Anchor> = findings
        .iter()
        .map(|settled| anchor(&settled.finding))
        .collect();
    let text_of = |path: &str| (review.text_of)(path).unwrap_or_default();
    let (old, new) = free(&threads, &findings, &matched);
    let (earlier, later): (Vec<&Anchor>, Vec<&Anchor>) = (
        old.iter().map(|at| &threads[*at].mark.anchor).collect(),
        new.iter().map(|at| &anchors[*at]).collect(),
    );
    let continued = recognition::continued(&earlier, &later, &text_of);
    matched.extend(
        continued
            .into_iter()
            .map(|(earlier, later)| (old[earlier], new[later])),
    );
    let (old, new) = free(&threads, &findings, &matched);
    edited(
        review,
        &threads,
        &findings,
        &anchors,
        (old, new),
        &mut matched,
    );
    for (thread, finding) in matched {
        threads[thread].finding = Some(findings[finding]);
    }
    threads
}

fn own<'a>(review: &RequestReview<'_>, thread: &'a Thread) -> Option<FindingThread<'a>> {
    let mut mark = marker::marks(thread.comments.first()?)?.finding?;
    let is_gone = (review.text_of)(&mark.anchor.file).is_none();
    let renamed = review
        .files
        .iter()
        .find(|file| file.previous.as_ref() == Some(&mark.anchor.file));
    if let Some(renamed) = renamed.filter(|_| is_gone) {
        mark.anchor.file.clone_from(&renamed.path);
    }
    Some(FindingThread {
        thread,
        mark,
        finding: None,
        is_duplicate: false,
    })
}

fn free(
    threads: &[FindingThread<'_>],
    findings: &[&SettledFinding],
    matched: &BTreeMap<usize, usize>,
) -> (Vec<usize>, Vec<usize>) {
    let taken: BTreeSet<usize> = matched.values().copied().collect();
    let is_free = |at: &usize| !matched.contains_key(at) && !threads[*at].is_duplicate;
    let old = (0..threads.len()).filter(is_free).collect();
    (
        old,
        (0..findings.len())
            .filter(|at| !taken.contains(at))
            .collect(),
    )
}

/// Matches threads whose block no longer exists in the file.
fn edited(
    review: &RequestReview<'_>,
    threads: &[FindingThread<'_>],
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
        let is_edited = |at: &&usize| {
            let anchor = &threads[**at].mark.anchor;
            // For a renamed file, the host states a single earlier path: the path at the base commit. If a file
            // was renamed twice, the words of the findings decide which thread matches.
            let is_lost = is_renamed && (review.text_of)(&anchor.file).is_none();
            (anchor.file == file || is_lost)
                && !anchor.block.is_empty()
                && blocks.place(anchor).is_none()
        };
        let old: Vec<usize> = old.iter().filter(is_edited).copied().collect();
        let new: Vec<usize> = new
            .iter()
            .filter(|at| anchors[**at].file == file)
            .copied()
            .collect();
        let known = old.iter().map(|at| &threads[*at].mark.anchor);
        let wordings = Wordings::of(known.chain(new.iter().map(|at| &anchors[*at])));
        for (index, thread) in old.iter().enumerate() {
            let FindingThread {
                thread: on_host,
                mark,
                ..
            } = &threads[*thread];
            for (found, finding) in new.iter().enumerate() {
                let Some(likeness) = wordings.compare(index, old.len() + found, None).same() else {
                    continue;
                };
                let text = &anchors[*finding].text;
                let is_only = mark.anchor.text == *text
                    && old
                        .iter()
                        .filter(|at| threads[**at].mark.anchor.text == *text)
                        .count()
                        == 1
                    && new.iter().filter(|at| anchors[**at].text == *text).count() == 1;
                let lines = on_host
                    .line
                    .or(mark.line)
                    .zip(findings[*finding].finding.raw.line);
                let distance = lines.map(|(before, now)| before.abs_diff(now));
                let is_near =
                    mark.anchor.file == file && distance.is_none_or(|distance| distance <= FAR);
                if is_only || is_near {
                    pairs.push((likeness, distance.unwrap_or(0), *thread, *finding));
                }
            }
        }
    }
    pairs.sort_by(|a, b| {
        b.0.total_cmp(&a.0)
            .then((a.1, a.2, a.3).cmp(&(b.1, b.2, b.3)))
    });
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    for (_, _, thread, finding) in pairs {
        if !matched.contains_key(&thread) && taken.insert(finding) {
            matched.insert(thread, finding);
        }
    }
}

/// Returns the anchor of a finding. If the location does not exist in the tree, the block is empty.
pub(crate) fn anchor(finding: &Finding) -> Anchor {
    let raw = &finding.raw;
    finding.anchor.clone().unwrap_or_else(|| Anchor {
        file: raw.file.clone().unwrap_or_default(),
        category: anchors::category(raw.rule.as_deref(), raw.category.as_deref()),
        text: anchors::words(raw.title.as_written()),
        rule: raw.rule.as_ref().map(|rule| rule.to_lowercase()),
        ..Anchor::default()
    })
}

impl FindingThread<'_> {
    /// Whether the code of the finding exists neither in the file of the thread nor in any changed file.
    pub(crate) fn is_gone(&self, review: &RequestReview<'_>) -> bool {
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

    /// Whether every reviewer answered completely, and all reviewers received the file of the thread. A file that no
    /// longer exists or is no longer a part of the change counts as reviewed.
    pub(crate) fn is_reviewed(&self, review: &RequestReview<'_>) -> bool {
        let (file, proof) = (&self.mark.anchor.file, &review.outcome.proof);
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
