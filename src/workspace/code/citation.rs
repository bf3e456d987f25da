//! Checks a claim against the reviewed code: whether the cited lines exist and contain the names in its text, and which
//! block they are in.

use similar::DiffTag;

use crate::rules::consensus::claim::Claim;
use crate::workspace::code::anchors::Blocks;
use crate::workspace::diff::unified;

/// The shortest name that is searched.
const SHORTEST: usize = 3;

/// Fills in the block and the checks of a claim about a file.
pub fn check(claim: &mut Claim, text: &str, blocks: &Blocks<'_>) {
    let Some(line) = claim.line.filter(|line| *line > 0) else { return };
    let lines = blocks.lines();
    claim.checked.place = Some(line as usize <= lines.len());
    if line as usize > lines.len() {
        return;
    }
    let block = blocks.enclosing(line);
    claim.block = Some((*block.start(), *block.end()));
    let names: Vec<&str> = names(&claim.title).chain(names(&claim.description)).collect();
    if names.is_empty() {
        return;
    }
    let inside = &lines[*block.start() as usize - 1..(*block.end() as usize).min(lines.len())];
    let in_block = names.iter().any(|name| inside.iter().any(|line| line.contains(name)));
    // A name from elsewhere in the file neither supports nor refutes the claim.
    let elsewhere = || names.iter().any(|name| text.contains(name));
    claim.checked.identifiers = if in_block || !elsewhere() { Some(in_block) } else { None };
}

/// The names in the backticks of a text.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .flat_map(|code| code.split(|c: char| !(c.is_alphanumeric() || c == '_')))
        .filter(|name| name.len() >= SHORTEST && name.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// The line ranges of `now`, counted from 1, that `before` does not have.
pub fn inserted(before: &str, now: &str) -> Vec<(u32, u32)> {
    let diff = unified::lines(before, now);
    let inserted = diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal).map(|op| op.new_range());
    inserted
        .filter(|lines| !lines.is_empty())
        .map(|lines| (unified::number(lines.start + 1), unified::number(lines.end)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "def load(path):\n    return eval(path)\n\n\ndef save(path):\n    return dump(path)\n";

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
            let mut claim = Claim { line: Some(line), title: title.to_owned(), ..Claim::default() };
            check(&mut claim, TEXT, &blocks);
            assert_eq!((claim.checked.place, claim.checked.identifiers), (place, identifiers), "{line} {title}");
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
