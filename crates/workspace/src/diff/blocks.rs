//! What a reviewer is sent of a changed file: the diff, with the blocks around the changed lines as its context.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use crate::code::anchors::Blocks;
use crate::code::{names, text_files};
use crate::diff::parse::{self, DiffMark, Side};
use crate::diff::unified;
use crate::select::filter;
use glee_model::domain::CodeContext;
use glee_protocol::request::SourceFile;

type Lines = (u32, u32);

/// At most this number of lines of a block is shown on each side of a place.
const MOST: u32 = 60;

/// At most this number of lines is shown on each side of a place in a language that no grammar knows.
const WINDOW: u32 = 10;

/// At least this number of lines is shown on each side of a place.
const LEAST: u32 = 3;

/// A longer line ends the context, because it would take the place of the lines under review.
const LONG: usize = 400;

/// The lines at the start of a block that are its signature.
const SIGNATURE: u32 = 6;

/// Lines between two shown ranges are shown, too, if they are no more than this number.
const GAP: u32 = 3;

/// At most this number of lines of a file's head is shown.
const HEAD: usize = 12;

/// The lines of a file that are shown for `places`: the block around each place, at most [`MOST`] lines on each side,
/// the signature of the block, and the lines of the file's head that name something that the places use.
pub fn shown(path: &str, text: &str, places: &[Lines]) -> Vec<Lines> {
    if text_files::is_all(text, places) {
        return places.to_vec();
    }
    let blocks = Blocks::of(path, text);
    let lines = blocks.lines();
    let last = unified::number(lines.len());
    let most = if blocks.has_grammar() { MOST } else { WINDOW };
    let mut shown = Vec::new();
    let mut used = BTreeSet::new();
    for place in places
        .iter()
        .filter(|(first, _)| (1..=last).contains(first))
    {
        let first = place.0;
        let end = place.1.clamp(first, last);
        let above = blocks.reached(first);
        let below = blocks.reached(end);
        let from = (*above.start()).clamp(
            first.saturating_sub(most).max(1),
            first.saturating_sub(LEAST).max(1),
        );
        let to = (*below.end()).clamp((end + LEAST).min(last), (end + most).min(last));
        let start = context(lines, (from..first).rev()).unwrap_or(first);
        shown.push((start, context(lines, end + 1..=to).unwrap_or(end)));
        if start > *above.start() && blocks.has_grammar() {
            shown.extend(signature(lines, &above));
        }
        for line in first..=end {
            used.extend(names::words(lines[line as usize - 1]));
        }
    }
    shown.extend(head(lines, &used));
    let mut near: Vec<Lines> = Vec::new();
    for range in unified::joined(shown) {
        match near.last_mut() {
            Some(before) if range.0 <= before.1 + GAP + 1 => before.1 = range.1,
            _ => near.push(range),
        }
    }
    near
}

/// The names in the lines that are shown for a change. A document, and a file that is reviewed as a whole, has none.
pub fn names_shown(file: &SourceFile) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if file.diff.is_none() || filter::is_document(&file.path) {
        return found;
    }
    let mut lines = file.text.lines().zip(1..);
    for (first, last) in shown(&file.path, &file.text, &file.changed) {
        let range = lines.by_ref().skip_while(|(_, at)| *at < first);
        for (line, _) in range.take((last - first) as usize + 1) {
            if !names::is_comment(line) {
                let words = names::identifiers(line).filter(|word| !names::is_keyword(word));
                found.extend(words.map(str::to_owned));
            }
        }
    }
    found
}

/// The lines under review in a file, and three lines on each side.
pub fn near(text: &str, places: &[Lines]) -> Vec<Lines> {
    let last = unified::number(text.lines().count());
    let around = places.iter().filter(|(first, _)| *first <= last);
    let near = around.map(|(first, end)| {
        let from = first.saturating_sub(LEAST).max(1);
        (from, (end + LEAST).min(last))
    });
    unified::joined(near.collect())
}

/// The number of bytes that a prompt shows of a file.
pub fn size(file: &SourceFile, context: CodeContext) -> u64 {
    let diff = file.diff.as_deref().unwrap_or_default();
    let removed = diff.lines().filter(|line| line.starts_with('-'));
    let removed: usize = removed.map(str::len).sum();
    let shown = match context {
        _ if file.text.is_empty() => return diff.len() as u64,
        _ if file.changed.is_empty() => return file.text.len() as u64,
        CodeContext::Files => return file.text.len() as u64,
        CodeContext::Diff => near(&file.text, &file.changed),
        CodeContext::Blocks => shown(&file.path, &file.text, &file.changed),
    };
    let mut lines = file.text.lines().zip(1..);
    let mut size = removed;
    for (first, last) in shown {
        let range = lines.by_ref().skip_while(|(_, at)| *at < first);
        size += range
            .take((last - first) as usize + 1)
            .map(|(line, _)| line.len() + 1)
            .sum::<usize>();
    }
    size as u64
}

/// The last of the lines before the first one that is too long.
fn context(lines: &[&str], mut wanted: impl Iterator<Item = u32>) -> Option<u32> {
    let mut last = None;
    wanted.try_for_each(|line| {
        let is_short = lines.get(line as usize - 1)?.len() <= LONG;
        last = is_short.then_some(line).or(last);
        is_short.then_some(())
    });
    last
}

/// The first lines of a block, up to the line that opens its body.
fn signature(lines: &[&str], block: &RangeInclusive<u32>) -> Option<Lines> {
    let first = *block.start();
    let most = (first + SIGNATURE - 1).min(*block.end());
    let mut head = first..=most;
    let end = head
        .find(|line| lines[*line as usize - 1].trim_end().ends_with(['{', ':']))
        .unwrap_or(first);
    let is_short = (first..=end).all(|line| lines[line as usize - 1].len() <= LONG);
    is_short.then_some((first, end))
}

/// The lines before the first function or type of a file that contain a name in `used`.
fn head(lines: &[&str], used: &BTreeSet<&str>) -> Vec<Lines> {
    let declares = |line: &&str| !names::opens_definition(line);
    let head = lines.iter().take_while(|line| declares(line)).zip(1..);
    let names = head.filter(|(line, _)| {
        !names::is_comment(line)
            && line.len() <= LONG
            && names::words(line).any(|name| used.contains(name))
    });
    names.map(|(_, at)| (at, at)).take(HEAD).collect()
}

/// The diff of a file with all lines of `shown` as its context, and without the changes outside of these lines.
/// Returns `None` if the file has no diff with hunks that fit its text.
pub fn widened(file: &SourceFile, shown: &[Lines]) -> Option<String> {
    let diff = file.diff.as_deref()?;
    let parsed = parse::parse(diff.as_bytes());
    let [patch] = parsed.patches.as_slice() else {
        return None;
    };
    if patch.hunks.is_empty() || shown.is_empty() || !patch.matches(&file.text, Side::New) {
        return None;
    }
    let lines: Vec<&str> = file.text.lines().collect();
    let mut added = BTreeSet::new();
    // The removed lines, by the number of the new line that follows them.
    let mut removed: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for hunk in &patch.hunks {
        let has_new = hunk.side(Side::New).next().is_some();
        let mut at = if has_new {
            hunk.new_start
        } else {
            hunk.new_start + 1
        };
        for (mark, line) in &hunk.lines {
            match mark {
                DiffMark::Removed => removed.entry(at).or_default().push(line),
                DiffMark::Added => drop(added.insert(at)),
                DiffMark::Kept => {}
            }
            at += u32::from(*mark != DiffMark::Removed);
        }
    }
    let header = diff.lines().take_while(|line| !line.starts_with("@@ "));
    let mut text: String = header.flat_map(|line| [line, "\n"]).collect();
    let mut last_shown = 0;
    for (first, last) in shown.iter().copied() {
        let last = last.min(unified::number(lines.len()));
        let mut body = String::new();
        let mut old_lines = 0;
        let mut new_lines = 0;
        for at in first..=last + 1 {
            // Lines that were removed between two ranges belong to the first one.
            for line in removed
                .get(&at)
                .into_iter()
                .flatten()
                .filter(|_| at > last_shown)
            {
                old_lines += 1;
                let _ = writeln!(body, "-{line}");
            }
            if at <= last {
                let mark = if added.contains(&at) { '+' } else { ' ' };
                new_lines += 1;
                old_lines += u32::from(mark == ' ');
                let _ = writeln!(body, "{mark}{}", lines[at as usize - 1]);
            }
        }
        let before = unified::number(added.range(..first).count());
        let gone = removed.range(..first).map(|(_, lines)| lines.len()).sum();
        let old = first - before + unified::number(gone);
        let within = around(&lines, first).unwrap_or_default();
        let _ = writeln!(
            text,
            "@@ -{old},{old_lines} +{first},{new_lines} @@{within}"
        );
        text.push_str(&body);
        if last as usize == lines.len() && !file.text.ends_with('\n') {
            text.push_str("\\ No newline at end of file\n");
        }
        last_shown = last + 1;
    }
    Some(text)
}

/// The nearest line above that is indented less, as git shows it behind the numbers of a hunk.
fn around(lines: &[&str], first: u32) -> Option<String> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let inner = depth(
        lines[first as usize - 1..]
            .iter()
            .find(|line| !line.trim().is_empty())?,
    );
    let above = lines[..first as usize - 1].iter().rev();
    let line = above.take(400).find(|line| {
        depth(line) < inner
            && line
                .trim_start()
                .starts_with(|c: char| c.is_alphabetic() || c == '_')
    })?;
    Some(format!(
        " {}",
        line.trim().chars().take(80).collect::<String>()
    ))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn changed(path: &str, before: &str, after: &str) -> SourceFile {
        let found = unified::between(
            (Some(path.as_bytes()), before),
            (Some(path.as_bytes()), after),
        );
        SourceFile {
            path: path.to_owned(),
            text: after.to_owned(),
            changed: found.changed,
            diff: Some(found.text),
        }
    }

    fn sent(path: &str, before: &str, after: &str) -> String {
        let file = changed(path, before, after);
        let shown = shown(path, after, &file.changed);
        let diff = widened(&file, &shown).unwrap();
        let parsed = parse::parse(diff.as_bytes());
        assert!(
            parsed.broken.is_none() && parsed.patches[0].matches(after, Side::New),
            "{diff}"
        );
        diff
    }

    #[test]
    fn a_change_is_sent_with_its_block_and_the_imports_that_it_uses() {
        let before = "import os\nimport re\nimport sys\n\n\nclass Store:\n    size = 1\n\n    def open(self, name):\n        \
                      path = name\n        return path\n\n    def shut(self):\n        pass\n";
        let after = before.replace("path = name", "path = os.path.join(name)");
        let sent = sent("a.py", before, &after);
        let lines: Vec<&str> = sent.lines().collect();
        let expected = [
            "--- a/a.py",
            "+++ b/a.py",
            "@@ -1,1 +1,1 @@",
            " import os",
            "@@ -7,7 +7,7 @@ class Store:",
            "     size = 1",
            " ",
            "     def open(self, name):",
            "-        path = name",
            "+        path = os.path.join(name)",
            "         return path",
            " ",
            "     def shut(self):",
        ];
        assert_eq!(lines, expected);
    }

    #[cfg(feature = "astgrep")]
    #[test]
    fn a_long_block_is_cut_and_keeps_its_signature() {
        let lines: String = (0..200).map(|n| format!("    let a{n} = {n};\n")).collect();
        let before = format!("fn long(\n    a: u8,\n) -> u8 {{\n{lines}}}\n");
        let after = before.replace("let a100 = 100;\n", "let a100 = 1;\n");
        let file = changed("a.rs", &before, &after);
        assert_eq!(shown("a.rs", &after, &file.changed), [(1, 3), (44, 164)]);
    }

    #[test]
    fn a_window_stands_where_no_grammar_knows_the_language_and_a_long_line_ends_it() {
        let lines: String = (0..100).map(|n| format!("key{n}: {n}\n")).collect();
        assert_eq!(shown("a.yaml", &lines, &[(50, 50)]), [(40, 60)]);
        let long = lines.replace("key45: 45\n", &format!("key45: {}\n", "x".repeat(500)));
        assert_eq!(shown("a.yaml", &long, &[(50, 50)]), [(47, 60)]);
        assert_eq!(near(&lines, &[(1, 1), (9, 9)]), [(1, 4), (6, 12)]);
    }

    #[test]
    fn every_removed_and_added_line_is_sent_once() {
        let text = |skip: &[u32]| {
            let lines = (1..=40).filter(|n| !skip.contains(n));
            lines.map(|n| format!("line {n}\n")).collect::<String>()
        };
        let rows: [(&[u32], &[u32]); 6] = [
            (&[], &[1]),
            (&[], &[40]),
            (&[20], &[]),
            (&[5, 6, 30], &[20, 21]),
            (&[1, 2], &[39, 40]),
            (&[], &[10, 14, 18, 22]),
        ];
        for (absent_before, absent_after) in rows {
            let before = text(absent_before);
            let after = text(absent_after);
            let diff = sent("a.txt", &before, &after);
            let body = || diff.lines().skip(2);
            let removed = body().filter(|line| line.starts_with('-')).count();
            let added = body().filter(|line| line.starts_with('+')).count();
            assert_eq!(
                (removed, added),
                (absent_after.len(), absent_before.len()),
                "{diff}"
            );
            assert_eq!(
                parse::parse(diff.as_bytes()).patches[0].replaced(&after, Side::New),
                before
            );
        }
    }

    #[test]
    fn a_diff_that_does_not_fit_the_text_is_left_as_it_is() {
        let file = changed("a.txt", "a\n", "b\n");
        let other = SourceFile {
            text: "c\n".to_owned(),
            ..file
        };
        assert_eq!(widened(&other, &[(1, 1)]), None);
    }
}
