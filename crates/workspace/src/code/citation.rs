//! Checks whether the cited line of a finding exists, and whether the block of this line contains the cited names.

use similar::DiffTag;

use crate::code::anchors::Blocks;
use crate::diff::unified;
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
    use glee_model::domain::RawFinding;

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
