//! Checks whether the cited line of a finding exists, and whether the block of this line contains the cited names.

use similar::DiffTag;

use crate::code::anchors::Blocks;
use crate::diff::unified;
use glee_model::domain::RawFinding;
use glee_model::rules::consensus::Member;

/// Quoted names with fewer bytes than this number are not checked.
const SHORTEST: usize = 3;

pub fn check(member: &mut Member, text: &str, blocks: &Blocks<'_>) {
    let Some(line) = member.raw.line.filter(|line| *line > 0) else {
        return;
    };
    let lines = blocks.lines();
    member.checked.place = Some(line as usize <= lines.len());
    if line as usize > lines.len() {
        return;
    }
    let block = blocks.enclosing(line);
    member.block = Some((*block.start(), *block.end()));
    let description = member.description().into_owned();
    let texts = [member.title(), &description, member.suggestion()].join("\n");
    member.names = blocks.names(&texts, &block);
    let names: Vec<&str> = names(member.title()).chain(names(&description)).collect();
    if names.is_empty() {
        return;
    }
    let inside = &lines[*block.start() as usize - 1..(*block.end() as usize).min(lines.len())];
    let in_block = names
        .iter()
        .any(|name| inside.iter().any(|line| line.contains(name)));
    // The check is inconclusive if the quoted names occur only outside the finding's block.
    let identifiers = if in_block || !names.iter().any(|name| text.contains(name)) {
        Some(in_block)
    } else {
        None
    };
    member.checked.identifiers = identifiers;
}

/// The place of the code that a finding quotes, if the code is in one line alone of `texts`, which are paths and their
/// texts. Code stands in backticks, or is a word that is not written like prose, as titles are without markup. The longest
/// quotation decides.
pub fn quoted_place<'t>(
    finding: &RawFinding,
    texts: &'t [(String, String)],
) -> Option<(&'t str, u32)> {
    let said = [&finding.title, &finding.body];
    let mut quoted: Vec<&str> = Vec::new();
    for text in said.into_iter().chain(&finding.evidence) {
        let text = text.as_written();
        quoted.extend(
            text.split('`')
                .skip(1)
                .step_by(2)
                .flat_map(str::lines)
                .map(str::trim),
        );
        let words = text
            .split_whitespace()
            .map(|word| word.trim_matches(|c: char| "`\"',;:.!?".contains(c)));
        let is_code = |word: &&str| word.chars().skip(1).any(|c| "_(.[=:".contains(c));
        quoted.extend(words.filter(is_code));
    }
    quoted.retain(|code| code.len() >= SHORTEST);
    quoted.sort_by_key(|code| std::cmp::Reverse(code.len()));
    quoted.into_iter().find_map(|code| {
        let mut found = texts.iter().flat_map(|(path, text)| {
            let lines = text.lines().zip(1..);
            lines.filter_map(move |(line, at)| contains(line, code).then_some((path.as_str(), at)))
        });
        found.next().filter(|_| found.next().is_none())
    })
}

/// Whether a line contains a piece of code that is not a part of a longer name.
fn contains(line: &str, code: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(code).any(|(at, _)| {
        let is_cut_before = code.starts_with(is_part) && line[..at].ends_with(is_part);
        let is_cut_behind = code.ends_with(is_part) && line[at + code.len()..].starts_with(is_part);
        !is_cut_before && !is_cut_behind
    })
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .flat_map(|code| code.split(|c: char| !(c.is_alphanumeric() || c == '_')))
        .filter(|name| {
            name.len() >= SHORTEST && name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        })
}

/// Compares two texts, and returns the ranges of inserted or changed lines in the text `now` (1-based, inclusive).
pub fn inserted(before: &str, now: &str) -> Vec<(u32, u32)> {
    let diff = unified::lines(before, now);
    let inserted = diff
        .ops()
        .iter()
        .filter(|op| op.tag() != DiffTag::Equal)
        .map(|op| op.new_range());
    inserted
        .filter(|lines| !lines.is_empty())
        .map(|lines| (unified::number(lines.start + 1), unified::number(lines.end)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "def load(path):\n    return eval(path)\n\n\ndef save(path):\n    return dump(path)\n";

    #[test]
    fn cited_names_are_searched_in_the_block() {
        let rows = [
            (2, "`eval` of a file", Some(true), Some(true)),
            (2, "`dump` of a file", Some(true), None),
            (2, "`pickle` of a file", Some(true), Some(false)),
            (2, "no name at all", Some(true), None),
            (99, "`eval` of a file", Some(false), None),
        ];
        let blocks = Blocks::of("a.py", TEXT);
        for (line, title, place, identifiers) in rows {
            let raw = RawFinding {
                line: Some(line),
                title: title.into(),
                ..RawFinding::default()
            };
            let mut member = Member {
                raw,
                ..Member::default()
            };
            check(&mut member, TEXT, &blocks);
            assert_eq!(
                (member.checked.place, member.checked.identifiers),
                (place, identifiers),
                "{line} {title}"
            );
        }
    }

    #[test]
    fn quoted_code_has_a_place_if_it_stands_in_one_line() {
        let texts = [
            ("a.py".to_owned(), TEXT.to_owned()),
            (
                "b.py".to_owned(),
                "def loader():\n    return eval(1)\n".to_owned(),
            ),
        ];
        let rows = [
            ("`eval(path)` runs code", Some(("a.py", 2))),
            (
                "`load` and `def save(path):` are not closed",
                Some(("a.py", 5)),
            ),
            ("`load` is unsafe", Some(("a.py", 1))),
            ("`loader` is unsafe", Some(("b.py", 1))),
            ("`eval` runs code", None),
            ("`pickle` runs code", None),
            ("```python\n    return dump(path)\n```", Some(("a.py", 6))),
            ("load is unsafe", None),
            (
                "the result of eval(path), as written, is unsafe",
                Some(("a.py", 2)),
            ),
        ];
        for (title, expected) in rows {
            let finding = RawFinding {
                title: title.into(),
                ..RawFinding::default()
            };
            assert_eq!(quoted_place(&finding, &texts), expected, "{title}");
        }
    }

    #[test]
    fn inserted_lines_are_those_that_were_not_there() {
        let rows = [
            ("a\nb\n", "a\nb\n", vec![]),
            ("a\nb\n", "x\na\nb\ny\nz\n", vec![(1, 1), (4, 5)]),
            ("a\nb\n", "a\nc\n", vec![(2, 2)]),
            ("a\nb\n", "b\n", vec![]),
            ("", "a\nb\n", vec![(1, 2)]),
            ("a\n", "", vec![]),
        ];
        for (before, now, expected) in rows {
            assert_eq!(inserted(before, now), expected, "{before:?} {now:?}");
        }
    }
}
