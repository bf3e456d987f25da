//! Recognises findings whose code was edited since an earlier finding said the same.

use std::collections::BTreeMap;

use crate::domain::{Anchor, Finding};
use crate::rules::consensus::similarity::identity::Wordings;
use crate::rules::consensus::similarity::likeness::NEAR;
use crate::workflows::review::findings::round::TextOf;
use crate::workspace::code::anchors::Blocks;
use crate::workspace::diff::unified;

/// If the earlier code is not known, a finding is near an earlier one if it is at most this number of lines away.
const FAR: u32 = 20;

/// A finding, with its line in the code that it was raised in.
pub(crate) struct Raised<'a> {
    pub(crate) anchor: &'a Anchor,
    pub(crate) line: Option<u32>,
}

impl<'a> Raised<'a> {
    /// Returns `None` if the finding has no place.
    pub(crate) fn of(finding: &'a Finding) -> Option<Self> {
        Some(Self {
            anchor: finding.anchor.as_ref()?,
            line: finding.raw.line,
        })
    }
}

/// Pairs findings with the earlier findings that say the same about a block that no longer exists. The line of the
/// earlier finding has to be in the block of the finding now, or at most [`NEAR`] lines from it, and the edit has to have
/// left the line or the first line of the block as it was. `text_then` returns the file in which the earlier finding with
/// this index was raised. The result has the likeness, the index of the earlier finding, and the index of the finding.
pub(crate) fn pairs(
    earlier: &[Raised<'_>],
    found: &[Raised<'_>],
    text_of: TextOf<'_>,
    mut text_then: impl FnMut(usize) -> Option<String>,
) -> Vec<(f32, usize, usize)> {
    let mut by_file: BTreeMap<&str, Vec<(usize, &Anchor, u32)>> = BTreeMap::new();
    for (index, Raised { anchor, line }) in found.iter().enumerate() {
        let in_file = by_file.entry(&anchor.file).or_default();
        in_file.extend(line.map(|line| (index, *anchor, line)));
    }
    let mut pairs = Vec::new();
    for (file, found) in by_file {
        let text = text_of(file);
        let blocks = Blocks::of(file, &text);
        let is_gone = |path: &str| path == file || text_of(path).is_empty();
        let old: Vec<(usize, &Anchor, u32)> = earlier
            .iter()
            .enumerate()
            .filter_map(|(index, raised)| Some((index, raised.anchor, raised.line?)))
            .filter(|(_, anchor, _)| is_gone(&anchor.file) && blocks.place(anchor).is_none())
            .collect();
        let anchors = old.iter().chain(&found).map(|(_, anchor, _)| *anchor);
        let wordings = Wordings::of(anchors);
        for (at, (finding, _, line)) in (old.len()..).zip(&found) {
            let here = blocks.enclosing(*line);
            for (before, (known, anchor, line_then)) in old.iter().enumerate() {
                let Some(likeness) = wordings.compare(before, at, None).same() else {
                    continue;
                };
                let is_near = match text_then(*known) {
                    Some(then) => {
                        let now = unified::line_now(&then, &text, *line_then);
                        let of_then = Blocks::of(&anchor.file, &then);
                        let first = of_then.place(anchor).map(|block| *block.start());
                        let is_as_it_was = |then: u32, now: u32| {
                            of_then.hash(&(then..=then)) == blocks.hash(&(now..=now))
                        };
                        let is_kept = is_as_it_was(*line_then, *line)
                            || first.is_some_and(|first| is_as_it_was(first, *here.start()));
                        is_kept && (here.contains(&now) || now.abs_diff(*line) <= NEAR)
                    }
                    None => anchor.file == file && line_then.abs_diff(*line) <= FAR,
                };
                pairs.extend(is_near.then_some((likeness, *known, *finding)));
            }
        }
    }
    pairs
}
