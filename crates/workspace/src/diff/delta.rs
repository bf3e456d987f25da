//! Compares a file with its last review, to determine the lines that have to be reviewed again.
//!
//! Glee records the ranges under review and a keyed hash of each line, but does not record the text. A changed
//! line can affect the whole block around the line (usually a function), so unchanged lines of the block are
//! reviewed too. If the lines to review are a large part of the file, Glee selects fewer lines around each change.
//! The reviewer can read the rest of the file in the tree.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Instant;

use similar::{Algorithm, DiffTag};

use crate::code::anchors::Blocks;
use crate::diff::parse::{self, DiffMark, Side};
use crate::diff::unified::{self, PATIENCE, number};
use glee_model::domain::{FileReview, RawFinding};
use glee_protocol::request::SourceFile;

/// Pairs of line counts, ordered from most to fewest lines. In each pair, the first count limits the reviewed
/// lines before and after a changed line. In each pair, the second count is the number of context lines before
/// and after the reviewed lines.
const EXTENTS: [(u32, u32); 4] = [(20, 3), (8, 2), (3, 1), (0, 1)];

type Lines = (u32, u32);

/// The comparison of a file with its earlier review.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// The lines to review again: the lines in the field `touched` that are under review.
    pub ask: Vec<Lines>,
    pub shown: Vec<Lines>,
    /// The changed lines, the lines around the changed lines, and the lines of affected earlier findings.
    touched: Vec<Lines>,
    /// The new number of each earlier line (index 0 is line 1), or `None` for a changed or removed line.
    moved: Vec<Option<u32>>,
    /// The unchanged lines that were under review earlier, but are no longer under review. The line numbers are
    /// the numbers in the earlier text.
    left: BTreeSet<u32>,
}

/// Returns the keyed hashes of all lines in the form of [`FileReview::lines`]. The author of the text does not know
/// `salt`, and therefore cannot construct different lines with equal hashes. The end of a line is a part of it.
pub fn line_hashes(salt: &str, text: &str) -> String {
    let key = blake3::hash(salt.as_bytes());
    text.split_inclusive('\n')
        .map(|line| {
            blake3::keyed_hash(key.as_bytes(), line.as_bytes()).to_hex()[..FileReview::DIGITS]
                .to_owned()
        })
        .collect()
}

/// Hashes the headers of a file's diff and the content before the change. For a deleted file, hashes the whole
/// diff. If this hash differs between two reviews of a file, Glee does not compare the two reviews line by line.
pub fn frame(file: &SourceFile) -> String {
    let mut hasher = blake3::Hasher::new();
    match &file.diff {
        None => drop(hasher.update(b"no change")),
        Some(diff) if file.text.is_empty() => drop(hasher.update(diff.as_bytes())),
        Some(diff) => {
            for line in diff.lines().take_while(|line| !line.starts_with("@@ ")) {
                hasher.update(line.as_bytes()).update(b"\n");
            }
            for patch in parse::parse(diff.as_bytes()).patches {
                hasher.update(patch.replaced(&file.text, Side::New).as_bytes());
            }
        }
    }
    hasher.finalize().to_hex().to_string()
}

impl Delta {
    pub const LEVELS: usize = EXTENTS.len();

    /// The total size, in bytes, of the lines that a reviewer gets: the lines in `shown`, or no lines if `ask`
    /// is empty.
    pub fn shown_bytes(&self, file: &SourceFile) -> usize {
        let lines = file
            .text
            .lines()
            .zip(1..)
            .filter(|(_, at)| !self.ask.is_empty() && covers(&self.shown, *at));
        lines.map(|(line, _)| line.len() + 1).sum()
    }

    /// Compares a file with its earlier review. `salt` is the key of the line hashes in the earlier review.
    /// `extent` must be below [`Self::LEVELS`]. A larger `extent` selects fewer lines around each change.
    /// Returns `None` if the record of the earlier review contains no valid line hashes.
    pub fn since(
        earlier: &FileReview,
        salt: &str,
        file: &SourceFile,
        extent: usize,
    ) -> Option<Self> {
        let hashes = earlier
            .lines
            .as_deref()
            .filter(|hashes| hashes.is_ascii())?;
        if hashes.len() % FileReview::DIGITS != 0 {
            return None;
        }
        let fresh = line_hashes(salt, &file.text);
        let old: Vec<&[u8]> = hashes.as_bytes().chunks(FileReview::DIGITS).collect();
        let new: Vec<&[u8]> = fresh.as_bytes().chunks(FileReview::DIGITS).collect();
        let known = Set(&earlier.ranges);
        let under = Set(&file.changed);
        let last = number(new.len());
        let mut moved = vec![None; old.len()];
        let mut left = BTreeSet::new();
        let mut marks: BTreeSet<u32> = BTreeSet::new();
        let deadline = Instant::now() + PATIENCE;
        for op in
            similar::capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline))
        {
            let old = op.old_range();
            let new = op.new_range();
            match op.tag() {
                DiffTag::Equal => {
                    for (old, new) in old.zip(new) {
                        let before = number(old) + 1;
                        let now = number(new) + 1;
                        moved[old] = Some(now);
                        match (known.contains(before), under.contains(now)) {
                            (false, true) => drop(marks.insert(now)),
                            (true, false) => drop(left.insert(before)),
                            (true, true) | (false, false) => {}
                        }
                    }
                }
                // The removal of a line can change the meaning of the lines before and after the removed line.
                DiffTag::Delete => {
                    let before = number(new.start);
                    marks.extend(
                        [before, before + 1]
                            .into_iter()
                            .filter(|line| (1..=last).contains(line)),
                    );
                }
                DiffTag::Insert | DiffTag::Replace => {
                    marks.extend(number(new.start) + 1..=number(new.end))
                }
            }
        }
        let blocks = Blocks::of(&file.path, &file.text);
        let mut delta = Self {
            moved,
            left,
            ..Self::default()
        };
        let places = earlier.findings.iter().flat_map(places_of);
        let findings = places.filter_map(|place| delta.read_again(place, &blocks, &marks));

        let (around, context) = EXTENTS[extent.min(EXTENTS.len() - 1)];
        let near = marks.iter().map(|line| {
            let block = blocks.enclosing(*line);
            let first = (*block.start())
                .max(line.saturating_sub(around))
                .max(1)
                .min(*line);
            (
                first,
                (*block.end())
                    .min(line.saturating_add(around))
                    .min(last)
                    .max(*line),
            )
        });
        delta.touched = unified::joined(near.chain(findings).collect());
        delta.shown = unified::joined(
            delta
                .touched
                .iter()
                .map(|(first, end)| {
                    (
                        first.saturating_sub(context).max(1),
                        (end + context).min(last),
                    )
                })
                .collect(),
        );
        delta.ask = delta
            .touched
            .iter()
            .flat_map(|range| under.within(*range))
            .collect();
        Some(delta)
    }

    /// Returns the new line numbers of a place of an earlier finding, or `None` if a line of the place changed.
    fn place(&self, place: Place) -> Option<Lines> {
        let (first, end) = self.lines_of(place);
        let start = self.now(first)?;
        let is_whole = (first..=end)
            .zip(start..)
            .all(|(line, expected)| self.now(line) == Some(expected));
        is_whole.then_some((start, start + (end - first)))
    }

    fn now(&self, line: u32) -> Option<u32> {
        *self
            .moved
            .get(usize::try_from(line).ok()?.checked_sub(1)?)?
    }

    fn lines_of(&self, (first, end_line): Place) -> Lines {
        let end = end_line.unwrap_or(first);
        (first, end.min(number(self.moved.len())).max(first))
    }

    fn rest(&self, place: Place) -> Option<Lines> {
        let (first, end) = self.lines_of(place);
        let first = usize::try_from(first).ok()?.checked_sub(1)?;
        let end = usize::try_from(end).ok()?;
        let left = self.moved.get(first..end)?.iter().flatten();
        Some((*left.clone().min()?, *left.max()?))
    }

    /// The lines of a finding that are reviewed again although none of the changed lines in `marks` is among them.
    ///
    /// If the block of a finding changed, the finding has to be reviewed again even if all lines of the finding
    /// are unchanged. If a line of a finding changed, `marks` already contains the changed line. For such a
    /// finding, the method `rest` returns the range from the first to the last unchanged line of the finding.
    fn read_again(
        &self,
        place: Place,
        blocks: &Blocks<'_>,
        marks: &BTreeSet<u32>,
    ) -> Option<Lines> {
        let Some((first, last)) = self.place(place) else {
            return self.rest(place);
        };
        let is_changed = [first, last].into_iter().any(|line| {
            let block = blocks.enclosing(line);
            let mut changed = marks.range(*block.start().min(&line)..=*block.end().max(&line));
            changed.next().is_some()
        });
        is_changed.then_some((first, last))
    }

    /// Returns an earlier finding with new line numbers. Returns `None` if the finding has no line, or if a line
    /// of one of its places in the file changed or has to be reviewed again.
    pub fn carried(&self, finding: &RawFinding) -> Option<RawFinding> {
        let (line, end_line) = self.carried_place((finding.line?, finding.end_line))?;
        let mut carried = RawFinding {
            line: Some(line),
            end_line,
            ..finding.clone()
        };
        for place in &mut carried.places {
            if carried.file.as_ref() == Some(&place.file)
                && let Some(line) = place.line
            {
                let (line, end_line) = self.carried_place((line, place.end_line))?;
                (place.line, place.end_line) = (Some(line), end_line);
            }
        }
        Some(carried)
    }

    fn carried_place(&self, place: Place) -> Option<Place> {
        let (start, end) = self.place(place)?;
        let is_touched = self
            .touched
            .iter()
            .any(|(from, to)| *from <= end && start <= *to);
        (!is_touched).then(|| (start, place.1.map(|_| end)))
    }

    /// Whether none of a finding's lines in the file is still under review.
    pub fn has_left(&self, finding: &RawFinding) -> bool {
        let mut lines = places_of(finding).map(|(line, _)| line).peekable();
        lines.peek().is_some() && lines.all(|line| self.left.contains(&line))
    }

    /// Returns the finding with the new number of its line. If this line changed, uses the next unchanged line.
    /// If no later line is unchanged, uses the nearest earlier unchanged line.
    pub fn last_place(&self, finding: &RawFinding) -> RawFinding {
        let first = finding
            .line
            .map_or(0, |line| line.saturating_sub(1) as usize);
        let mut below = self.moved.iter().skip(first).flatten();
        let mut above = self.moved.iter().take(first).rev().flatten();
        let line = below.next().or_else(|| above.next()).copied();
        let mut places = finding.places.clone();
        places.retain(|place| Some(&place.file) != finding.file.as_ref());
        RawFinding {
            line,
            end_line: None,
            places,
            replacement: None,
            ..finding.clone()
        }
    }

    /// Whether each place of the finding in the file has a line that existed at the time of the earlier review.
    pub fn had_lines(&self, finding: &RawFinding) -> bool {
        let further = finding.places.iter();
        let mut further = further.filter(|place| Some(&place.file) == finding.file.as_ref());
        self.had_line(finding.line) && further.all(|place| self.had_line(place.line))
    }

    fn had_line(&self, line: Option<u32>) -> bool {
        line.is_some_and(|line| (1..=self.moved.len()).contains(&(line as usize)))
    }
}

/// The first line of a place, and the last line of a range.
type Place = (u32, Option<u32>);

/// The places of a finding in the file of the finding.
fn places_of(finding: &RawFinding) -> impl Iterator<Item = Place> {
    let further = finding.places.iter();
    let further = further.filter(|place| Some(&place.file) == finding.file.as_ref());
    let main = std::iter::once((finding.line, finding.end_line));
    main.chain(further.map(|place| (place.line, place.end_line)))
        .filter_map(|(line, end_line)| Some((line?, end_line)))
}

fn covers(ranges: &[Lines], line: u32) -> bool {
    ranges
        .iter()
        .any(|(first, last)| (*first..=*last).contains(&line))
}

/// Replaces each line outside the line ranges in `shown` by an empty line. The diff of the file keeps only the
/// removed lines inside or next to these ranges.
pub fn part(file: &SourceFile, ask: &[Lines], shown: &[Lines]) -> SourceFile {
    let mut text = String::new();
    for (line, at) in file.text.split_inclusive('\n').zip(1..) {
        text.push_str(if covers(shown, at) { line } else { "\n" });
    }
    let diff = file
        .diff
        .as_deref()
        .and_then(|diff| removed_near(diff, shown));
    SourceFile {
        path: file.path.clone(),
        text,
        changed: ask.to_vec(),
        diff,
    }
}

/// Returns a diff without added lines and context lines. A removed line remains only if the line was inside or
/// next to one of the line ranges in `shown`.
fn removed_near(diff: &str, shown: &[Lines]) -> Option<String> {
    let header = diff
        .lines()
        .take_while(|line| !line.starts_with("@@ "))
        .filter(|line| line.starts_with("--- ") || line.starts_with("+++ "));
    let mut body = String::new();
    for hunk in parse::parse(diff.as_bytes())
        .patches
        .iter()
        .flat_map(|patch| &patch.hunks)
    {
        let mut old = hunk.old_start.max(1);
        let mut new = hunk.new_start.max(1);
        for same in hunk.lines.chunk_by(|(a, _), (b, _)| a == b) {
            let mark = same[0].0;
            let count = u32::try_from(same.len()).unwrap_or(u32::MAX);
            let is_near = |(first, last): &Lines| (*first..=last.saturating_add(1)).contains(&new);
            if mark == DiffMark::Removed && shown.iter().any(is_near) {
                let _ = writeln!(body, "@@ -{old},{count} +{new},0 @@");
                for (_, line) in same {
                    let _ = writeln!(body, "-{line}");
                }
            }
            old += if mark == DiffMark::Added { 0 } else { count };
            new += if mark == DiffMark::Removed { 0 } else { count };
        }
    }
    (!body.is_empty()).then(|| header.map(|line| format!("{line}\n")).collect::<String>() + &body)
}

/// A set of lines, as a list of line ranges. An empty list stands for all lines.
struct Set<'a>(&'a [Lines]);

impl Set<'_> {
    fn contains(&self, line: u32) -> bool {
        self.0.is_empty() || covers(self.0, line)
    }

    fn within(&self, (from, to): Lines) -> Vec<Lines> {
        if self.0.is_empty() {
            return vec![(from, to)];
        }
        let cut = self
            .0
            .iter()
            .map(|(first, last)| ((*first).max(from), (*last).min(to)));
        cut.filter(|(first, last)| first <= last).collect()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use proptest::prelude::*;

    use super::*;
    use crate::diff::unified::between;

    const SALT: &str = "salt";

    fn file(base: Option<&str>, text: &str) -> SourceFile {
        let (changed, diff) = match base {
            None => (Vec::new(), None),
            Some(base) => {
                let found = between((Some(b"a.py"), base), (Some(b"a.py"), text));
                (found.changed, Some(found.text))
            }
        };
        SourceFile {
            path: "a.py".to_owned(),
            text: text.to_owned(),
            changed,
            diff,
        }
    }

    /// Simulates a reviewer that raises each line under review that contains `BUG`.
    fn read(file: &SourceFile) -> Vec<RawFinding> {
        let under = Set(&file.changed);
        let lines = file
            .text
            .lines()
            .zip(1..)
            .filter(|(line, at)| line.contains("BUG") && under.contains(*at));
        lines
            .map(|(line, at)| RawFinding {
                title: line.trim().into(),
                file: Some(file.path.clone()),
                line: Some(at),
                ..RawFinding::default()
            })
            .collect()
    }

    fn reviewed(file: &SourceFile) -> FileReview {
        FileReview {
            file: file.path.clone(),
            lines: Some(line_hashes(SALT, &file.text)),
            ranges: file.changed.clone(),
            findings: read(file),
            ..FileReview::default()
        }
    }

    fn delta_review(old: &SourceFile, new: &SourceFile, extent: usize) -> (Delta, Vec<RawFinding>) {
        let earlier = reviewed(old);
        let delta = Delta::since(&earlier, SALT, new, extent).unwrap();
        let kept = earlier
            .findings
            .iter()
            .filter(|finding| !delta.has_left(finding));
        let mut findings: Vec<RawFinding> =
            kept.filter_map(|finding| delta.carried(finding)).collect();
        if !delta.ask.is_empty() {
            let part = part(new, &delta.ask, &delta.shown);
            assert_eq!(part.text.lines().count(), new.text.lines().count());
            findings.extend(read(&part));
        }
        findings.sort_by_key(|finding| finding.line);
        (delta, findings)
    }

    fn function(name: &str, body: &[&str]) -> String {
        let body: String = body.iter().map(|line| format!("    {line}\n")).collect();
        format!("def {name}():\n{body}\n\n")
    }

    #[test]
    fn a_changed_line_is_asked_about_with_its_block_and_the_rest_is_carried_to_its_new_lines() {
        let filler: String = (0..40)
            .map(|n| function(&format!("f{n}"), &["a = 1", "return a"]))
            .collect();
        let old = function("one", &["x = 1", "return x"])
            + &function("two", &["y = 1  # BUG1", "return y"])
            + &filler;
        let new = format!("import os\n{}", old.replace("x = 1", "x = 2  # BUG2"));
        let (delta, findings) = delta_review(&file(None, &old), &file(None, &new), 0);
        assert_eq!(delta.ask, [(1, 4)]);
        assert_eq!(findings, read(&file(None, &new)));
        let shown = part(&file(None, &new), &delta.ask, &delta.shown);
        assert_eq!(
            shown.text.lines().filter(|line| !line.is_empty()).count(),
            5,
            "{}",
            shown.text
        );
        assert_eq!(shown.changed, [(1, 4)]);
    }

    #[test]
    fn a_finding_in_a_block_that_changed_is_left_to_who_reads_it_again() {
        let old = function("one", &["x = 1  # BUG1", "check(x)", "return x"]);
        let new = old.replace("check(x)", "checked(x)");
        let old = file(None, &old);
        let new = file(None, &new);
        let earlier = reviewed(&old);
        let delta = Delta::since(&earlier, SALT, &new, 0).unwrap();
        assert_eq!(delta.carried(&earlier.findings[0]), None);
        assert_eq!(delta.ask, [(1, 4)]);
        let unsalted = Delta::since(&earlier, "another", &new, 0).unwrap();
        assert_eq!(
            unsalted.carried(&earlier.findings[0]),
            None,
            "no line is known under another salt"
        );
    }

    #[test]
    fn a_finding_over_several_lines_of_which_one_changed_is_read_again_as_a_whole() {
        let lines: String = (0..80).map(|n| format!("line {n}\n")).collect();
        let old = file(None, &lines);
        let new = file(None, &lines.replace("line 40\n", "line forty\n"));
        let mut earlier = reviewed(&old);
        let finding = |line, end_line| RawFinding {
            line: Some(line),
            end_line: Some(end_line),
            ..RawFinding::default()
        };
        earlier.findings = vec![finding(10, 41), finding(60, 9_999), finding(2, 4)];
        let delta = Delta::since(&earlier, SALT, &new, 0).unwrap();
        let carried: Vec<_> = earlier
            .findings
            .iter()
            .map(|finding| delta.carried(finding))
            .collect();
        assert_eq!(carried[0], None);
        assert!(
            Set(&delta.ask).contains(10) && Set(&delta.ask).contains(41),
            "{:?}",
            delta.ask
        );
        // Without a grammar, these lines are one block, so every finding is either carried over or read again.
        for (finding, carried) in earlier.findings.iter().zip(carried) {
            assert!(
                carried.is_some()
                    || finding
                        .line
                        .is_some_and(|line| Set(&delta.ask).contains(line))
            );
        }
    }

    #[test]
    fn a_line_that_is_gone_lets_its_neighbours_be_asked_about() {
        let old = function("one", &["lock()", "work()", "unlock()"]);
        let new = old.replace("    lock()\n", "");
        let delta = Delta::since(&reviewed(&file(None, &old)), SALT, &file(None, &new), 0).unwrap();
        assert_eq!(delta.ask, [(1, 3)]);
    }

    #[test]
    fn of_a_change_only_what_is_under_review_is_asked_about() {
        let base =
            function("one", &["x = 1", "return x"]) + &function("two", &["y = 1", "return y"]);
        let first = base.replace("y = 1", "y = 2");
        let second = first.replace("return x", "return 2 * x");
        let old = file(Some(&base), &first);
        let new = file(Some(&base), &second);
        assert_eq!(
            frame(&old),
            frame(&new),
            "the side before the change is the same"
        );
        let delta = Delta::since(&reviewed(&old), SALT, &new, 0).unwrap();
        assert_eq!(delta.ask, [(3, 3)]);
        let shown = part(&new, &delta.ask, &delta.shown);
        assert!(shown.diff.unwrap().contains("-    return x\n"));
        assert_ne!(
            frame(&old),
            frame(&file(Some(&first), &second)),
            "another base is another frame"
        );
    }

    #[test]
    fn a_change_that_is_taken_back_leaves_nothing_to_ask() {
        let base =
            function("one", &["x = 1", "return x"]) + &function("two", &["y = 1", "return y"]);
        let changed = base.replace("y = 1", "y = 2").replace("x = 1", "x = 2");
        let back = base.replace("y = 1", "y = 2");
        let delta = Delta::since(
            &reviewed(&file(Some(&base), &changed)),
            SALT,
            &file(Some(&base), &back),
            0,
        )
        .unwrap();
        assert_eq!(delta.ask, []);
    }

    #[test]
    fn damaged_hashes_are_not_compared() {
        let text = file(None, "a\n");
        for lines in [None, Some("12345"), Some("é"), Some("ééé123456")] {
            let review = FileReview {
                lines: lines.map(str::to_owned),
                ..reviewed(&text)
            };
            assert_eq!(Delta::since(&review, SALT, &text, 0), None);
        }
    }

    proptest! {
        /// After any change, a review of the delta results in the same findings as a full review.
        #[test]
        fn a_review_of_the_delta_finds_what_a_full_one_does(
            base in proptest::collection::vec(0_u8..8, 0..60),
            first in proptest::collection::vec((0_usize..60, 0_u8..3, 0_u8..8), 0..12),
            second in proptest::collection::vec((0_usize..60, 0_u8..3, 0_u8..8), 0..12),
            is_change: bool,
            extent in 0..Delta::LEVELS,
        ) {
            let edited = |lines: &[u8], edits: &[(usize, u8, u8)]| {
                let mut lines = lines.to_vec();
                for (at, what, word) in edits {
                    let at = at % (lines.len() + 1);
                    match what {
                        0 => lines.insert(at, *word),
                        1 if at < lines.len() => lines[at] = *word,
                        _ if at < lines.len() => drop(lines.remove(at)),
                        _ => {}
                    }
                }
                lines
            };
            let text = |lines: &[u8]| -> String {
                let words = ["x = 1", "y = 2  # BUG1", "def f():", "    z = 3", "    w = 4  # BUG2", "", "# BUG3", "pass"];
                lines.iter().map(|word| format!("{}\n", words[usize::from(*word)])).collect()
            };
            let old = edited(&base, &first);
            let new = edited(&old, &second);
            let base = text(&base);
            let base = is_change.then_some(base.as_str());
            let old = file(base, &text(&old));
            let new = file(base, &text(&new));
            // A change in which no line is under review is not a target.
            prop_assume!(base.is_none() || !old.changed.is_empty() && !new.changed.is_empty());
            let (_, found) = delta_review(&old, &new, extent);
            let whole = read(&new);
            let lines = |findings: &[RawFinding]| -> Vec<(Option<u32>, String)> {
                findings.iter().map(|f| (f.line, f.title.as_written().to_owned())).collect()
            };
            prop_assert_eq!(lines(&found), lines(&whole));
        }
    }
}
