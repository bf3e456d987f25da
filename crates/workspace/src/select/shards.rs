//! Splits the files of a review by path into shards of bounded size. A reviewer receives one shard per call. A file that
//! is larger than a shard is split into parts.

use std::cmp::Reverse;

use crate::code::text_files;
use crate::diff::{blocks, delta};
use crate::select::selection::{FilePart, SelectOptions};
use glee_protocol::request::SourceFile;

/// The number of lines before and after a part that are shown as context.
const CONTEXT: u32 = 3;

/// A longer line is no context, because it would take the place of the lines under review.
const LONG: usize = 400;

/// Splits files into shards of at most `options.shard` bytes of code, counted as it is sent. The files have to be sorted by path.
///
/// The hashes of paths determine where a shard ends. Therefore, a changed, added or removed file affects only a
/// few shards. Files of one folder stay together if they fit into one shard. Each part of a file that is larger than
/// the limit is a separate shard. Equal input always results in equal shards.
pub fn split(files: &[SourceFile], options: &SelectOptions) -> Vec<Vec<FilePart>> {
    let limit = options.shard;
    let sizes: Vec<u64> = files
        .iter()
        .map(|file| blocks::size(file, options.context))
        .collect();
    let mut shards: Vec<Vec<FilePart>> = Vec::new();
    let mut start = 0;
    while start < files.len() {
        let end = end_of_shard(files, &sizes, start, limit);
        if end == start + 1 && sizes[start] > limit && !files[start].text.is_empty() {
            for ranges in parts(&files[start], limit) {
                shards.push(vec![FilePart {
                    file: start,
                    ranges,
                }]);
            }
        } else {
            shards.push(
                (start..end)
                    .map(|file| FilePart {
                        file,
                        ranges: Vec::new(),
                    })
                    .collect(),
            );
        }
        start = end;
    }
    shards
}

/// Splits the lines under review into parts of at most `limit` bytes. A part ends before the least indented line after a
/// blank line, or, without one, before the least indented line, of its second half: between two functions or paragraphs,
/// without parsing the file. A line that is longer than the limit is a part of its own.
fn parts(file: &SourceFile, limit: u64) -> Vec<Vec<(u32, u32)>> {
    let lines: Vec<&str> = file.text.lines().collect();
    let whole = [(1, text_files::lines(&file.text))];
    let under = if file.changed.is_empty() {
        &whole
    } else {
        file.changed.as_slice()
    };
    let mut waiting: Vec<u32> = under
        .iter()
        .flat_map(|(first, last)| *first..=*last)
        .collect();
    waiting.retain(|line| lines.get(*line as usize - 1).is_some());
    let size = |line: u32| lines[line as usize - 1].len() as u64 + 1;
    let mut parts = Vec::new();
    let mut rest = waiting.as_slice();
    while !rest.is_empty() {
        let mut used = 0;
        let mut end = 0;
        // The ends at which the part can end before a line that begins something.
        let mut cuts = Vec::new();
        while let Some(line) = rest.get(end)
            && (end == 0 || used + size(*line) <= limit)
        {
            if used >= limit / 2 && is_beginning(lines[*line as usize - 1]) {
                cuts.push(end);
            }
            used += size(*line);
            end += 1;
        }
        if end < rest.len() {
            // The texts of the lines decide, so that a change moves only the cuts beside it.
            end = cuts
                .into_iter()
                .max_by_key(|cut| {
                    let at = rest[*cut] as usize - 1;
                    let is_after_blank = at > 0 && lines[at - 1].trim().is_empty();
                    let hash = *blake3::hash(lines[at].as_bytes()).as_bytes();
                    (is_after_blank, Reverse(indentation(lines[at])), hash)
                })
                .unwrap_or(end);
        }
        let (part, left) = rest.split_at(end);
        parts.push(ranges(part));
        rest = left;
    }
    parts
}

/// Whether a line can begin a function or a paragraph. A blank line and a closing bracket end one.
fn is_beginning(line: &str) -> bool {
    let first = line.trim_start().chars().next();
    first.is_some_and(|first| !matches!(first, '}' | ')' | ']'))
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn ranges(lines: &[u32]) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *line => *last = *line,
            _ => ranges.push((*line, *line)),
        }
    }
    ranges
}

/// Returns the part of a file that a reviewer receives for a shard. All lines keep their numbers; the lines outside the
/// part and its context are empty.
pub fn part(file: &SourceFile, ranges: &[(u32, u32)]) -> SourceFile {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut shown = Vec::new();
    for (mut first, mut last) in ranges.iter().copied() {
        for _ in 0..CONTEXT {
            first -= u32::from(is_context(&lines, first - 1));
            last += u32::from(is_context(&lines, last + 1));
        }
        shown.push((first, last));
    }
    delta::part(file, ranges, &shown)
}

fn is_context(lines: &[&str], line: u32) -> bool {
    lines
        .get((line as usize).wrapping_sub(1))
        .is_some_and(|line| line.len() <= LONG)
}

/// Returns the exclusive end of the shard that begins at `start`.
fn end_of_shard(files: &[SourceFile], sizes: &[u64], start: usize, limit: u64) -> usize {
    let mut used = 0;
    let mut fitting = start;
    // The indexes at which the shard can end (exclusive), with the resulting size of the shard in bytes.
    let mut cuts: Vec<(usize, u64)> = Vec::new();
    while let Some(size) = sizes.get(fitting)
        && (fitting == start || used + size <= limit)
    {
        used += size;
        fitting += 1;
        cuts.push((fitting, used));
    }
    if fitting == files.len() {
        return fitting;
    }
    let is_large = |(_, used): &(usize, u64)| *used >= limit / 4;
    let between_folders = |(at, _): &(usize, u64)| folder(&files[at - 1]) != folder(&files[*at]);
    let large = cuts.iter().filter(|cut| is_large(cut));
    if let Some(at) = strongest(files, large.clone().filter(|cut| between_folders(cut))) {
        return at;
    }
    // The shard ends before a folder that fits into the next shard, so that the folder is not split.
    if let Some((at, _)) = cuts.iter().rev().find(|cut| between_folders(cut)) {
        let next = folder(&files[*at]);
        let together = files[*at..]
            .iter()
            .zip(&sizes[*at..])
            .take_while(|(file, _)| folder(file) == next);
        if together.map(|(_, size)| size).sum::<u64>() <= limit {
            return *at;
        }
    }
    strongest(files, large).unwrap_or(fitting)
}

/// Of the possible ends of a shard, chooses the end that is directly before the path with the highest hash.
fn strongest<'a>(
    files: &[SourceFile],
    cuts: impl Iterator<Item = &'a (usize, u64)>,
) -> Option<usize> {
    let ends = cuts.map(|(at, _)| *at);
    ends.max_by_key(|at| *blake3::hash(files[*at].path.as_bytes()).as_bytes())
}

fn folder(file: &SourceFile) -> &str {
    file.path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glee_model::domain::CodeContext;

    fn options(shard: u64) -> SelectOptions {
        SelectOptions {
            max_file: u64::MAX,
            shard,
            context: CodeContext::Files,
        }
    }

    fn shards(files: &[(&str, usize)], limit: u64) -> Vec<Vec<usize>> {
        let files: Vec<SourceFile> = files
            .iter()
            .map(|(path, size)| SourceFile {
                path: (*path).to_owned(),
                text: "x".repeat(*size),
                changed: Vec::new(),
                diff: None,
            })
            .collect();
        let shards = split(&files, &options(limit));
        shards
            .iter()
            .map(|shard| shard.iter().map(|part| part.file).collect())
            .collect()
    }

    #[test]
    fn folders_stay_together_where_they_fit() {
        let files = [
            ("a/1", 40),
            ("a/2", 40),
            ("b/1", 30),
            ("b/2", 10),
            ("c/1", 60),
        ];
        assert_eq!(shards(&files, 1000), [vec![0, 1, 2, 3, 4]]);
        assert_eq!(shards(&files, 100), [vec![0, 1], vec![2, 3, 4]]);
        assert_eq!(shards(&files, 80), [vec![0, 1], vec![2, 3], vec![4]]);
    }

    #[test]
    fn large_folders_and_files_are_split_off() {
        let files = [
            ("a/1", 40),
            ("a/2", 200),
            ("a/3", 30),
            ("a/4", 30),
            ("b", 10),
        ];
        assert_eq!(shards(&files, 70), [vec![0], vec![1], vec![2, 3, 4]]);
        assert_eq!(shards(&[], 70), Vec::<Vec<usize>>::new());
    }

    fn tree(count: usize) -> Vec<(String, usize)> {
        (0..count)
            .map(|at| {
                (
                    format!("src/{:02}/file_{at:04}.rs", at / 12),
                    500 + (at * 7919) % 4000,
                )
            })
            .collect()
    }

    fn paths_by_shard(files: &[(String, usize)], limit: u64) -> Vec<Vec<String>> {
        let named: Vec<(&str, usize)> = files
            .iter()
            .map(|(path, size)| (path.as_str(), *size))
            .collect();
        shards(&named, limit)
            .iter()
            .map(|shard| shard.iter().map(|at| files[*at].0.clone()).collect())
            .collect()
    }

    #[test]
    fn a_file_more_or_less_leaves_other_shards_as_they_were() {
        const LIMIT: u64 = 40_000;
        let files = tree(400);
        let before = paths_by_shard(&files, LIMIT);
        assert!(before.len() > 20, "{} shards", before.len());
        let mut new = 0;
        let mut all = 0;
        for at in (0..files.len()).step_by(9) {
            let mut fewer = files.clone();
            fewer.remove(at);
            let mut larger = files.clone();
            larger[at].1 += 700;
            for changed in [fewer, larger] {
                let after = paths_by_shard(&changed, LIMIT);
                new += after.iter().filter(|shard| !before.contains(shard)).count();
                all += 1;
            }
        }
        // On average, a change affects at most one shard besides the one that contains the changed file.
        assert!(new <= all * 2, "{new} new shards in {all} changes");
    }

    fn code(path: &str, text: String, changed: &[(u32, u32)]) -> SourceFile {
        SourceFile {
            path: path.to_owned(),
            text,
            changed: changed.to_vec(),
            diff: None,
        }
    }

    fn functions(count: usize, end: &str) -> String {
        let mut text = String::new();
        for number in 0..count {
            text.push_str(&format!(
                "def f{number}(x):{end}    return x + {number}{end}{end}"
            ));
        }
        text
    }

    /// Every line under review is in exactly one part, and no part exceeds the limit, unless it is one line.
    #[test]
    fn a_large_file_is_split_between_blocks_and_no_line_is_lost() {
        const LIMIT: u64 = 2_000;
        let long = format!("a = 1\n{}\nb = 2\n", "x".repeat(5_000));
        let minified = "f();".repeat(3_000);
        let rows = [
            ("functions", code("a.py", functions(400, "\n"), &[])),
            ("CRLF", code("a.py", functions(400, "\r\n"), &[])),
            ("no language", code("notes", functions(400, "\n"), &[])),
            ("a long line", code("a.py", long, &[])),
            ("one line", code("a.min.js", minified, &[])),
            (
                "some lines",
                code("a.py", functions(400, "\n"), &[(4, 9), (700, 1100)]),
            ),
            (
                "no line end",
                code("a.py", functions(400, "\n") + "last", &[]),
            ),
            ("empty lines", code("a.py", "\n".repeat(9_000), &[])),
            ("at the limit", code("a.py", "x".repeat(1_999) + "\n", &[])),
            (
                "above the limit",
                code("a.py", "x\n".repeat(1_000) + "y", &[]),
            ),
        ];
        for (name, file) in rows {
            let shards = split(std::slice::from_ref(&file), &options(LIMIT));
            let whole = [(1, text_files::lines(&file.text))];
            let under = if file.changed.is_empty() {
                whole.as_slice()
            } else {
                &file.changed
            };
            let expected: Vec<u32> = under
                .iter()
                .flat_map(|(first, last)| *first..=*last)
                .collect();
            let mut lines = Vec::new();
            for shard in &shards {
                let [one] = shard.as_slice() else {
                    panic!("{name}: {shard:?}")
                };
                let ranges = if one.ranges.is_empty() {
                    under
                } else {
                    &one.ranges
                };
                let before = lines.len();
                lines.extend(ranges.iter().flat_map(|(first, last)| *first..=*last));
                let shown = part(&file, ranges);
                let size: usize = shown.text.lines().map(str::len).sum();
                assert!(
                    size as u64 <= LIMIT + 500 || lines.len() == before + 1,
                    "{name}: {size}"
                );
                assert_eq!(
                    shown.text.lines().count(),
                    file.text.lines().count(),
                    "{name}"
                );
                for line in &lines[before..] {
                    let at = *line as usize - 1;
                    assert_eq!(
                        shown.text.lines().nth(at),
                        file.text.lines().nth(at),
                        "{name}: {line}"
                    );
                }
            }
            assert_eq!(lines, expected, "{name}");
        }
        let body = functions(400, "\n");
        let methods: String = body.lines().map(|line| format!("    {line}\n")).collect();
        let mixed = body.replace("):\n", "):\n    if x:\n\n        x += 1\n\n");
        for (text, begins) in [
            (body, "def "),
            (format!("class C:\n{methods}"), "    def "),
            (mixed, "def "),
        ] {
            let file = code("a.py", text, &[]);
            for shard in &split(std::slice::from_ref(&file), &options(LIMIT))[1..] {
                let first = shard[0].ranges[0].0 as usize;
                let line = file.text.lines().nth(first - 1).unwrap_or_default();
                assert!(line.starts_with(begins), "{line}");
            }
        }
    }

    #[test]
    fn a_line_more_moves_few_cuts() {
        let before = code("a.py", functions(2_000, "\n"), &[]);
        let text = before.text.replacen("def f900", "extra = 1\n\ndef f900", 1);
        let after = code("a.py", text, &[]);
        let starts = |file: &SourceFile| -> Vec<String> {
            let lines: Vec<&str> = file.text.lines().collect();
            let shards = split(std::slice::from_ref(file), &options(2_000));
            shards
                .iter()
                .map(|shard| lines[shard[0].ranges[0].0 as usize - 1].to_owned())
                .collect()
        };
        let before = starts(&before);
        let after = starts(&after);
        let moved = after.iter().filter(|start| !before.contains(start)).count();
        assert!(
            before.len() > 20 && moved * 4 <= before.len(),
            "{moved} of {}",
            before.len()
        );
    }

    proptest::proptest! {
        #[test]
        fn every_file_is_in_one_shard_within_the_bound(
            sizes in proptest::collection::vec((0_usize..6, 0_usize..300), 0..60),
            limit in 1_u64..500,
        ) {
            let mut files: Vec<(String, usize)> =
                sizes.iter().enumerate().map(|(at, (folder, size))| (format!("{folder}/{at:03}"), *size)).collect();
            files.sort();
            let named: Vec<(&str, usize)> = files.iter().map(|(path, size)| (path.as_str(), *size)).collect();
            let shards = shards(&named, limit);
            proptest::prop_assert_eq!(shards.concat(), (0..files.len()).collect::<Vec<_>>());
            for shard in &shards {
                let size: u64 = shard.iter().map(|at| files[*at].1 as u64).sum();
                proptest::prop_assert!(shard.len() == 1 || size <= limit);
            }
        }
    }
}
