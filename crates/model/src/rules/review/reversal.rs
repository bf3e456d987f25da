//! Detects findings that ask the coder to undo a change of an earlier round.
//!
//! A request to undo a change becomes a dispute, so that the coder does not follow two contradictory findings in
//! turn.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::domain::fold;

const UNDO_WORDS: &str = "revert, undo, restore, remove, drop, delete, unnecessary, redundant, needless, overkill, \
                          instead of, go back, switch back, change back, put back, should not, shouldn't, do not, \
                          don't";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineEdit {
    pub file: String,
    pub removed: Vec<String>,
    /// The added lines, with their line numbers in the new file.
    pub added: Vec<(u32, String)>,
}

/// The lines at which a finding about code at `lines` can be meant.
pub fn near((first, last): (u32, u32)) -> RangeInclusive<u32> {
    first.saturating_sub(2)..=last.saturating_add(2)
}

/// Whether a finding asks the coder to undo `edit`. `text` contains the title, body and suggestion of the finding.
///
/// The finding must be near an added line. In addition, `text` must quote a removed line or request a reversal.
/// `text` requests a reversal if it contains a phrase such as `revert`, and an identifier that occurs only in the
/// new code.
pub fn reverses(file: &str, lines: Option<(u32, u32)>, text: &str, edit: &LineEdit) -> bool {
    let is_near = lines.is_some_and(|lines| {
        let mut added = edit.added.iter();
        added.any(|(number, _)| near(lines).contains(number))
    });
    if file != edit.file || !is_near {
        return false;
    }
    let folded = fold(text);
    let restores = edit.removed.iter().map(|line| fold(line)).any(|line| {
        identifiers(&line).len() >= 2
            && folded.contains(&line)
            && !edit.added.iter().any(|(_, new)| fold(new) == line)
    });
    if restores {
        return true;
    }
    let lower = folded.to_lowercase();
    if !UNDO_WORDS.split(", ").any(|word| lower.contains(word)) {
        return false;
    }
    let old: BTreeSet<String> = edit
        .removed
        .iter()
        .flat_map(|line| identifiers(line))
        .collect();
    let new: BTreeSet<String> = edit
        .added
        .iter()
        .flat_map(|(_, line)| identifiers(line))
        .collect();
    let named = identifiers(text);
    new.difference(&old).any(|word| named.contains(word))
}

fn identifiers(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.chars().count() >= 3 && !word.chars().all(|c| c.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit() -> LineEdit {
        LineEdit {
            file: "a.py".into(),
            removed: vec!["    digest = hashlib.md5(data)".into()],
            added: vec![(12, "    digest = hashlib.sha256(data)".into())],
        }
    }

    #[test]
    fn the_table_of_reversals() {
        let rows = [
            (
                "a.py",
                Some((12, 12)),
                "Use `digest = hashlib.md5(data)`: the cache key need not be long",
                true,
            ),
            (
                "a.py",
                Some((12, 12)),
                "Remove sha256, it is too slow here",
                true,
            ),
            ("a.py", Some((12, 12)), "Remove the trailing blank", false),
            (
                "a.py",
                Some((12, 12)),
                "sha256 output is not compared in constant time",
                false,
            ),
            (
                "a.py",
                Some((40, 41)),
                "Remove sha256, it is too slow here",
                false,
            ),
            (
                "b.py",
                Some((12, 12)),
                "Remove sha256, it is too slow here",
                false,
            ),
            ("a.py", None, "Remove sha256, it is too slow here", false),
        ];
        for (file, lines, text, expected) in rows {
            assert_eq!(
                reverses(file, lines, text, &edit()),
                expected,
                "{file} {lines:?} {text}"
            );
        }
    }
}
