//! Reading a unified diff backwards and forwards: where a line went, and what the file was before.

/// One hunk: the old and the new first line and its lines with their mark.
#[derive(Debug, PartialEq, Eq)]
struct Hunk<'a> {
    old: u32,
    new: u32,
    lines: Vec<(Mark, &'a str)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Kept,
    Removed,
    Added,
}

/// What a unified diff says of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference<'a> {
    hunks: Vec<Hunk<'a>>,
}

impl<'a> Difference<'a> {
    /// The part of a diff that is about `path`; without hunks if the diff does not name it.
    pub(super) fn of(diff: &'a str, path: &str) -> Self {
        let mut hunks: Vec<Hunk<'a>> = Vec::new();
        let mut ours = false;
        let mut left = (0, 0);
        for line in diff.lines() {
            if left == (0, 0) {
                if let Some(name) = line.strip_prefix("+++ ") {
                    let name = name.split('\t').next().unwrap_or(name);
                    ours = name == path || name.strip_prefix("b/") == Some(path);
                } else if let Some((old, new)) = header(line) {
                    left = (old.1, new.1);
                    if ours {
                        hunks.push(Hunk { old: old.0, new: new.0, lines: Vec::new() });
                    }
                }
                continue;
            }
            let (mark, text) = match (line.get(..1), line.get(1..)) {
                (Some("+"), Some(text)) => (Mark::Added, text),
                (Some("-"), Some(text)) => (Mark::Removed, text),
                (Some("\\"), _) => continue,
                (Some(" "), Some(text)) => (Mark::Kept, text),
                _ => (Mark::Kept, line),
            };
            left.0 = left.0.saturating_sub(u32::from(mark != Mark::Added));
            left.1 = left.1.saturating_sub(u32::from(mark != Mark::Removed));
            if ours && let Some(hunk) = hunks.last_mut() {
                hunk.lines.push((mark, text));
            }
        }
        Self { hunks }
    }

    /// The lines of the new text that stand where the old lines `first` to `last` stood: what replaced them, or they
    /// themselves if they were kept. The first number is greater than the last if nothing is left of them.
    pub(super) fn moved(&self, first: u32, last: u32) -> (u32, u32) {
        let mut shift: i64 = 0;
        for hunk in &self.hunks {
            if last < hunk.old {
                break;
            }
            let (mut old, mut new) = (hunk.old, hunk.new);
            let (mut start, mut end) = (None, None);
            for group in hunk.lines.chunk_by(|a, b| (a.0 == Mark::Kept) == (b.0 == Mark::Kept)) {
                let count =
                    |mark: Mark| u32::try_from(group.iter().filter(|line| line.0 == mark).count()).unwrap_or(0);
                let kept = count(Mark::Kept);
                let (was, is) = (count(Mark::Removed) + kept, count(Mark::Added) + kept);
                if was > 0 && old <= last && first < old + was {
                    let (from, to) = match kept {
                        0 => (new, new + is),
                        _ => (new + first.saturating_sub(old), new + is.min(last + 1 - old)),
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

    /// The text before the change, of the text after it.
    pub(super) fn reversed(&self, after: &str) -> String {
        let lines: Vec<&str> = after.lines().collect();
        let mut before: Vec<&str> = Vec::new();
        let mut next = 0;
        for hunk in &self.hunks {
            let empty = !hunk.lines.iter().any(|line| line.0 != Mark::Removed);
            let start = usize::try_from(hunk.new).unwrap_or(0).saturating_sub(usize::from(!empty)).min(lines.len());
            before.extend(lines.get(next..start).unwrap_or_default());
            before.extend(hunk.lines.iter().filter(|line| line.0 != Mark::Added).map(|line| line.1));
            next = start + hunk.lines.iter().filter(|line| line.0 != Mark::Removed).count();
        }
        before.extend(lines.get(next..).unwrap_or_default());
        before.join("\n") + "\n"
    }
}

type Span = (u32, u32);

/// `@@ -1,2 +3,4 @@`: the first lines and the counts.
fn header(line: &str) -> Option<(Span, Span)> {
    let ranges = line.strip_prefix("@@ -")?.split(" @@").next()?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| {
        let (first, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((first.parse().ok()?, count.parse().ok()?))
    };
    Some((range(old)?, range(new)?))
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
        let difference = Difference::of(DIFF, "app.py");
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
        let difference = Difference::of(DIFF, "app.py");
        let before: String = "abcdefghijkl".chars().map(|c| format!("{c}\n")).collect();
        let after: String =
            ["a", "b", "C", "C2", "d", "e", "f", "g", "h", "i", "k", "l"].map(|l| format!("{l}\n")).concat();
        assert_eq!(difference.reversed(&after), before);
        assert_eq!(Difference::of(DIFF, "other.py").reversed("one\ntwo\n"), "one\n");
        assert_eq!(Difference::of(DIFF, "third.py").reversed("x\n"), "x\n");
    }
}
