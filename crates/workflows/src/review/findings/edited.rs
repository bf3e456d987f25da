//! Recognises findings whose code was edited since an earlier finding said the same.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::rc::Rc;

use similar::TextDiff;

use crate::review::findings::round::TextOf;
use glee_model::domain::{Anchor, Finding};
use glee_model::rules::consensus::similarity::identity::Wordings;
use glee_model::rules::consensus::similarity::likeness::NEAR;
use glee_workspace::code::anchors::Blocks;
use glee_workspace::diff::unified;

/// If the earlier code is not known, a finding is near an earlier one if it is at most this number of lines away.
const FAR: u32 = 20;

/// A finding, with its line in the code that it was raised in.
pub(super) struct Raised<'a> {
    pub anchor: &'a Anchor,
    pub line: Option<u32>,
}

impl<'a> Raised<'a> {
    /// Returns `None` if the finding has no place.
    pub(super) fn of(finding: &'a Finding) -> Option<Self> {
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
pub(super) fn pairs(
    earlier: &[Raised<'_>],
    found: &[Raised<'_>],
    text_of: TextOf<'_>,
    text_then: impl Fn(usize) -> Option<Rc<str>>,
) -> Vec<(f32, usize, usize)> {
    let found = by_file(found);
    let earlier = by_file(earlier);
    let gone: Vec<&str> = earlier
        .keys()
        .filter(|path| text_of(path).is_empty())
        .copied()
        .collect();
    let mut pairs = Vec::new();
    for (file, found) in &found {
        let text = text_of(file);
        let blocks = Blocks::of(file, &text);
        let paths = std::iter::once(file).chain(gone.iter().filter(|path| *path != file));
        let old = paths.filter_map(|path| earlier.get(path)).flatten();
        let old: Vec<&Placed<'_>> = old
            .filter(|(_, anchor, _)| blocks.place(anchor).is_none())
            .collect();
        let here: Vec<RangeInclusive<u32>> = found
            .iter()
            .map(|(.., line)| blocks.enclosing(*line))
            .collect();
        let anchors = old.iter().copied().chain(found);
        let wordings = Wordings::of(anchors.map(|(_, anchor, _)| *anchor));
        let texts: Vec<Option<Rc<str>>> = old.iter().map(|(known, ..)| text_then(*known)).collect();
        // Findings of one version share its text, so the text is known by its address.
        let mut edits: HashMap<(&str, *const u8), (Blocks<'_>, TextDiff<'_, '_, str>)> =
            HashMap::new();
        for (before, (known, anchor, line_then)) in old.iter().enumerate() {
            let edit = texts[before].as_deref().map(|then| {
                &*edits
                    .entry((&anchor.file, then.as_ptr()))
                    .or_insert_with(|| {
                        let of_then = Blocks::of(&anchor.file, then);
                        (of_then, unified::lines(then, &text))
                    })
            });
            let line_now = edit.map(|(_, diff)| unified::line_now(diff, *line_then));
            for (at, (finding, _, line)) in found.iter().enumerate() {
                let is_near = match line_now {
                    Some(now) => here[at].contains(&now) || now.abs_diff(*line) <= NEAR,
                    None => anchor.file == *file && line_then.abs_diff(*line) <= FAR,
                };
                if !is_near {
                    continue;
                }
                let is_kept = edit.is_none_or(|(of_then, _)| {
                    let block = of_then.place(anchor);
                    let first = block.map(|block| (*block.start(), *here[at].start()));
                    let mut lines = std::iter::once((*line_then, *line)).chain(first);
                    lines.any(|(then, now)| {
                        of_then.hash(&(then..=then)) == blocks.hash(&(now..=now))
                    })
                });
                if is_kept
                    && let Some(likeness) = wordings.compare(before, old.len() + at, None).same()
                {
                    pairs.push((likeness, *known, *finding));
                }
            }
        }
    }
    pairs
}

/// The index of a finding, its anchor, and its line.
type Placed<'a> = (usize, &'a Anchor, u32);

/// The findings that have a line, by file.
fn by_file<'a>(raised: &[Raised<'a>]) -> BTreeMap<&'a str, Vec<Placed<'a>>> {
    let mut by_file: BTreeMap<&str, Vec<Placed<'_>>> = BTreeMap::new();
    for (index, Raised { anchor, line }) in raised.iter().enumerate() {
        let in_file = by_file.entry(&anchor.file).or_default();
        in_file.extend(line.map(|line| (index, *anchor, line)));
    }
    by_file
}
