//! What has changed in a file since a reviewer read it, as the lines to ask about and where the others went.
//!
//! Of the earlier text only a keyed hash of each line is known, and which lines were under review. A changed line is asked
//! about with its block, because what it does is decided there. Where that would be a large part of the file, because its
//! blocks are long or the change is scattered over it, only lines near the changed ones are, with those of earlier findings
//! in the same blocks. Who reviews can read the rest in the tree.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Instant;

use similar::{Algorithm, DiffOp};

use crate::domain::{FileReview, RawFinding};
use crate::protocol::request::SourceFile;

use super::blocks::Blocks;
use super::difference::{self, PATIENCE};
use super::unified::{self, Mark, Side};

/// How many lines of its block are asked about before and after a changed line, and how many lines are shown around these.
/// The first that shows a small part of the file is taken.
const EXTENTS: [(u32, u32); 4] = [(20, 3), (8, 2), (3, 1), (0, 1)];

/// The part of a file that is small, in percent of its lines, and as a number of lines.
const SMALL: (u32, u32) = (15, 16);

/// The part of a file, in percent of its lines, beyond which nothing is gained by showing less.
const LARGE: u32 = 25;

type Lines = (u32, u32);

/// What is to be asked about a file that changed, and what stays known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// The lines under review that are not known, with their blocks; none where everything is known.
    pub ask: Vec<Lines>,
    /// The lines that are shown.
    pub shown: Vec<Lines>,
    /// The lines that are read again, under review or not: nothing that was said about them is carried over.
    touched: Vec<Lines>,
    /// Where the lines of the earlier text are now; the first is at index 0.
    moved: Vec<Option<u32>>,
}

/// A keyed hash of each line of a text, as [`FileReview::lines`] holds them. `salt` is unknown to who writes the text, so
/// that no line can be made to pass for another.
pub fn line_hashes(salt: &str, text: &str) -> String {
    let key = blake3::hash(salt.as_bytes());
    let mut hashes = String::new();
    for line in text.lines() {
        let hash = blake3::keyed_hash(key.as_bytes(), line.as_bytes());
        hashes.push_str(&hash.to_hex()[..FileReview::DIGITS]);
    }
    hashes
}

/// The side of a file before its change, as a hash, with the headers of the diff: two reviews are compared line by line
/// only where both are the same. A file without text, which the change deletes, has nothing to compare.
pub fn frame(file: &SourceFile) -> String {
    let mut hasher = blake3::Hasher::new();
    match &file.diff {
        None => drop(hasher.update(b"no change")),
        Some(diff) if file.text.is_empty() => drop(hasher.update(diff.as_bytes())),
        Some(diff) => {
            for line in diff.lines().take_while(|line| !line.starts_with("@@ ")) {
                hasher.update(line.as_bytes()).update(b"\n");
            }
            for patch in unified::parse(diff.as_bytes()).patches {
                hasher.update(patch.replaced(&file.text, Side::New).as_bytes());
            }
        }
    }
    hasher.finalize().to_hex().to_string()
}

impl Delta {
    /// Compares a file with what was read of it earlier: the hashes of its lines, made with `salt`, and the lines that were
    /// under review. `None` where the hashes are not of that form.
    pub fn since(earlier: &FileReview, salt: &str, file: &SourceFile) -> Option<Self> {
        let hashes = earlier.lines.as_deref().filter(|hashes| hashes.is_ascii())?;
        if hashes.len() % FileReview::DIGITS != 0 {
            return None;
        }
        let digits = |hashes: &str| -> Vec<String> {
            hashes.as_bytes().chunks(FileReview::DIGITS).map(|hash| String::from_utf8_lossy(hash).into_owned()).collect()
        };
        let (old, new) = (digits(hashes), digits(&line_hashes(salt, &file.text)));
        let (known, under) = (Set(&earlier.ranges), Set(&file.changed));
        let last = number(new.len());
        let mut moved = vec![None; old.len()];
        let mut marks: BTreeSet<u32> = BTreeSet::new();
        let deadline = Instant::now() + PATIENCE;
        for op in similar::capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline)) {
            match op {
                DiffOp::Equal { old_index, new_index, len } => {
                    for at in 0..len {
                        let (before, now) = (number(old_index + at) + 1, number(new_index + at) + 1);
                        moved[old_index + at] = Some(now);
                        if under.holds(now) && !known.holds(before) {
                            marks.insert(now);
                        }
                    }
                }
                // What is gone changes what its neighbours do.
                DiffOp::Delete { new_index, .. } => {
                    let before = number(new_index);
                    marks.extend([before, before + 1].into_iter().filter(|line| (1..=last).contains(line)));
                }
                DiffOp::Insert { new_index, new_len, .. } | DiffOp::Replace { new_index, new_len, .. } => {
                    marks.extend(number(new_index) + 1..=number(new_index + new_len));
                }
            }
        }
        let blocks = Blocks::of(&file.path, &file.text);
        let mut delta = Self { moved, ..Self::default() };
        let has_changed = |lines: &Lines| {
            let around = |line: u32| {
                let block = blocks.enclosing(line);
                marks.range(*block.start().min(&line)..=*block.end().max(&line)).next().is_some()
            };
            around(lines.0) || around(lines.1)
        };
        let findings = earlier.findings.iter().filter_map(|finding| delta.place(finding));
        let findings: Vec<Lines> = findings.filter(has_changed).collect();
        let mut extents = EXTENTS.iter().map(|(around, context)| {
            let near = marks.iter().map(|line| near(&blocks, *line, *around, last));
            let touched = joined(near.chain(findings.iter().copied()));
            let wider = |(first, end): &Lines| (first.saturating_sub(*context).max(1), (end + context).min(last));
            let shown = joined(touched.iter().map(wider));
            let lines: u32 = shown.iter().map(|(first, end)| end - first + 1).sum();
            (touched, shown, lines)
        });
        let small = (last * SMALL.0 / 100).max(SMALL.1);
        let widest = extents.next()?;
        let chosen = if widest.2 <= small {
            widest
        } else {
            let rest: Vec<_> = extents.collect();
            let narrowest = rest.last().filter(|(.., lines)| *lines <= last * LARGE / 100).cloned();
            rest.into_iter().find(|(.., lines)| *lines <= small).or(narrowest).unwrap_or(widest)
        };
        (delta.touched, delta.shown) = (chosen.0, chosen.1);
        delta.ask = delta.touched.iter().flat_map(|range| under.within(*range)).collect();
        Some(delta)
    }

    /// Where the lines of an earlier finding are now, if they stand there as they were.
    fn place(&self, finding: &RawFinding) -> Option<Lines> {
        let first = finding.line?;
        let end = finding.end_line.unwrap_or(first).max(first);
        let now = |line: u32| *self.moved.get(usize::try_from(line).ok()?.checked_sub(1)?)?;
        let start = now(first)?;
        let is_whole = (first..=end).zip(start..).all(|(line, expected)| now(line) == Some(expected));
        is_whole.then_some((start, start + (end - first)))
    }

    /// A finding of the earlier text at the lines where its code is now; `None` where it, or the block around it, is not as
    /// it was. A finding without a line is about the whole file, which is not as it was.
    pub fn carried(&self, finding: &RawFinding) -> Option<RawFinding> {
        let (start, end) = self.place(finding)?;
        let is_touched = self.touched.iter().any(|(from, to)| *from <= end && start <= *to);
        (!is_touched).then(|| RawFinding {
            line: Some(start),
            end_line: finding.end_line.map(|_| end),
            ..finding.clone()
        })
    }

    /// Whether a line of the earlier text exists.
    pub fn had_line(&self, line: u32) -> bool {
        usize::try_from(line).is_ok_and(|line| (1..=self.moved.len()).contains(&line))
    }
}

/// The lines of the block around a line, as far as they are near it.
fn near(blocks: &Blocks<'_>, line: u32, around: u32, last: u32) -> Lines {
    let block = blocks.enclosing(line);
    let first = (*block.start()).max(line.saturating_sub(around)).max(1).min(line);
    let end = (*block.end()).min(line.saturating_add(around)).min(last).max(line);
    (first, end)
}

/// Ranges in their order, those that touch joined.
fn joined(ranges: impl Iterator<Item = Lines>) -> Vec<Lines> {
    let mut ranges: Vec<Lines> = ranges.collect();
    ranges.sort_unstable();
    let mut joined = Vec::new();
    ranges.into_iter().for_each(|range| difference::push(&mut joined, range));
    joined
}

/// A file as it is shown to who is asked about some of its lines: the lines `shown`, all others left empty at their numbers,
/// and of the change what it removes there.
pub fn part(file: &SourceFile, ask: &[Lines], shown: &[Lines]) -> SourceFile {
    let is_shown = |line: u32| shown.iter().any(|(first, last)| (*first..=*last).contains(&line));
    let mut text = String::new();
    for (line, at) in file.text.lines().zip(1..) {
        text.push_str(if is_shown(at) { line } else { "" });
        text.push('\n');
    }
    let diff = file.diff.as_deref().and_then(|diff| removed_near(diff, shown));
    SourceFile { path: file.path.clone(), text, changed: ask.to_vec(), diff }
}

/// The hunks of a diff cut down to some lines of the new side, where they remove lines; lines that are only added are in the
/// text itself.
fn removed_near(diff: &str, shown: &[Lines]) -> Option<String> {
    let header: String = diff.lines().take_while(|line| !line.starts_with("@@ ")).map(|line| format!("{line}\n")).collect();
    let is_near = |line: u32| shown.iter().any(|(first, last)| (*first..=last.saturating_add(1)).contains(&line));
    let mut body = String::new();
    for hunk in unified::parse(diff.as_bytes()).patches.iter().flat_map(|patch| &patch.hunks) {
        // The number of the next line of each side.
        let (mut old, mut new) = (hunk.old_start.max(1), hunk.new_start.max(1));
        let mut piece: Vec<(Mark, &str)> = Vec::new();
        let (mut old_first, mut new_first) = (old, new);
        for (mark, line) in &hunk.lines {
            if is_near(new) {
                if piece.is_empty() {
                    (old_first, new_first) = (old, new);
                }
                piece.push((*mark, line));
            } else {
                write_piece(&mut body, (old_first, new_first), &std::mem::take(&mut piece));
            }
            old += u32::from(*mark != Mark::Added);
            new += u32::from(*mark != Mark::Removed);
        }
        write_piece(&mut body, (old_first, new_first), &piece);
    }
    (!body.is_empty()).then(|| header + &body)
}

fn write_piece(body: &mut String, (old, new): (u32, u32), piece: &[(Mark, &str)]) {
    if piece.iter().all(|(mark, _)| *mark != Mark::Removed) {
        return;
    }
    let count = |other: Mark| piece.iter().filter(|(mark, _)| *mark != other).count();
    let _ = writeln!(body, "@@ -{old},{} +{new},{} @@", count(Mark::Added), count(Mark::Removed));
    for (mark, line) in piece {
        let sign = match mark {
            Mark::Kept => ' ',
            Mark::Removed => '-',
            Mark::Added => '+',
        };
        let _ = writeln!(body, "{sign}{line}");
    }
}

/// Ranges of lines; none of them means all lines.
struct Set<'a>(&'a [Lines]);

impl Set<'_> {
    fn holds(&self, line: u32) -> bool {
        self.0.is_empty() || self.0.iter().any(|(first, last)| (*first..=*last).contains(&line))
    }

    fn within(&self, (from, to): Lines) -> Vec<Lines> {
        if self.0.is_empty() {
            return vec![(from, to)];
        }
        let cut = self.0.iter().map(|(first, last)| ((*first).max(from), (*last).min(to)));
        cut.filter(|(first, last)| first <= last).collect()
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
