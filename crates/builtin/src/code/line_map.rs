//! Uses a unified diff to map the old line numbers of a file to the new line numbers, and to restore the old text.

use glee_workspace::diff::parse::{self, DiffMark, Patch, Side};

#[derive(Debug)]
pub(crate) struct LineMap(Option<Patch>);

impl LineMap {
    pub(crate) fn of(diff: &str, path: &str) -> Self {
        let patches = parse::parse(diff.as_bytes()).patches;
        Self(
            patches
                .into_iter()
                .find(|patch| patch.new.as_deref() == Some(path.as_bytes())),
        )
    }

    /// Maps a range of old lines to a range of new lines. A replaced line maps to the lines that replace it. If
    /// the lines were deleted, the returned range is empty: its first number is greater than its last number.
    pub(crate) fn moved(&self, first: u32, last: u32) -> (u32, u32) {
        let mut shift: i64 = 0;
        for hunk in self.0.iter().flat_map(|patch| &patch.hunks) {
            if last < hunk.old_start {
                break;
            }
            let mut old = hunk.old_start;
            let mut new = hunk.new_start;
            let mut start = None;
            let mut end = None;
            for group in hunk
                .lines
                .chunk_by(|a, b| (a.0 == DiffMark::Kept) == (b.0 == DiffMark::Kept))
            {
                let marks = [DiffMark::Kept, DiffMark::Removed, DiffMark::Added];
                let [kept, removed, added] = marks.map(|mark| {
                    u32::try_from(group.iter().filter(|line| line.0 == mark).count()).unwrap_or(0)
                });
                let was = removed + kept;
                let is = added + kept;
                if was > 0 && old <= last && first < old + was {
                    let (from, to) = match kept {
                        0 => (new, new + is),
                        _ => (
                            new + first.saturating_sub(old),
                            new + is.min(last + 1 - old),
                        ),
                    };
                    start.get_or_insert(from);
                    end = Some(to);
                }
                old += was;
                new += is;
            }
            if let (Some(start), Some(end)) = (start, end) {
                return (start, end.saturating_sub(1));
            }
            shift = i64::from(new) - i64::from(old);
        }
        let moved = |line: u32| u32::try_from(i64::from(line) + shift).unwrap_or(1);
        (moved(first), moved(last))
    }

    pub(crate) fn reversed(&self, after: &str) -> String {
        self.0.as_ref().map_or_else(
            || after.to_owned(),
            |patch| patch.replaced(after, Side::New),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "\
diff --git a/other.py b/other.py
--- a/other.py
+++ b/other.py
@@ -1 +1,2 @@
 one
+two
diff --git a/app.py b/app.py
--- a/app.py
+++ b/app.py
@@ -2,4 +2,5 @@ def f():
 b
-c
+C
+C2
 d
 e
@@ -9,3 +10,2 @@
 i
-j
 k
";

    #[test]
    fn lines_are_followed_through_a_change() {
        let difference = LineMap::of(DIFF, "app.py");
        let cases = [
            ((1, 1), (1, 1)),
            ((2, 2), (2, 2)),
            ((3, 3), (3, 4)),
            ((2, 4), (2, 5)),
            ((4, 4), (5, 5)),
            ((5, 5), (6, 6)),
            ((7, 8), (8, 9)),
            ((10, 10), (11, 10)),
            ((12, 20), (12, 20)),
        ];
        for ((first, last), expected) in cases {
            assert_eq!(difference.moved(first, last), expected, "{first}-{last}");
        }
    }

    #[test]
    fn the_text_before_is_found_again() {
        let difference = LineMap::of(DIFF, "app.py");
        let before: String = "abcdefghijkl".chars().map(|c| format!("{c}\n")).collect();
        let after: String = ["a", "b", "C", "C2", "d", "e", "f", "g", "h", "i", "k", "l"]
            .map(|l| format!("{l}\n"))
            .concat();
        assert_eq!(difference.reversed(&after), before);
        assert_eq!(
            LineMap::of(DIFF, "other.py").reversed("one\ntwo\n"),
            "one\n"
        );
        assert_eq!(LineMap::of(DIFF, "third.py").reversed("x\n"), "x\n");
    }
}
