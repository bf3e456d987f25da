//! Checks the replacements of lines that reviewers propose. A replacement that fails a check is added to the
//! text of the suggestion.

use glee_model::domain::{ExactFix, RawFinding, Untrusted};
use glee_model::rules::consensus::Member;
use glee_protocol::secrets::{PLACEHOLDER, redact};
use glee_protocol::text::printable::is_unsafe;

/// The maximum size of a replacement.
const MOST_LINES: usize = 50;
const MOST_BYTES: usize = 8 << 10;

/// Converts the proposed replacement of a finding to an exact fix if the replacement passes all checks. A
/// replacement that fails a check is added to the suggestion. If the finding has no suggestion, the replacement
/// becomes the suggestion, whether or not the replacement passes the checks. `reviewed` is the text of the
/// finding's file as the reviewers received it.
pub(super) fn check(member: &mut Member, reviewed: Option<&str>) {
    let Some(proposed) = member.raw.replacement.take() else {
        return;
    };
    let lines = lines_of(proposed.as_written());
    member.fix = reviewed.and_then(|text| exact(&member.raw, &lines, text));
    let as_text = Untrusted::from(lines).trimmed();
    match &mut member.raw.suggestion {
        None => member.raw.suggestion = Some(as_text),
        Some(suggestion) if member.fix.is_none() && suggestion.trimmed() != as_text => {
            *suggestion = Untrusted::joined(&[suggestion.clone(), as_text], "\n\n");
        }
        Some(_) => {}
    }
}

/// Removes the last line end, and converts `\r\n` to `\n`.
fn lines_of(proposed: &str) -> String {
    let lines = proposed.replace("\r\n", "\n");
    lines.strip_suffix('\n').map(str::to_owned).unwrap_or(lines)
}

fn exact(raw: &RawFinding, lines: &str, text: &str) -> Option<ExactFix> {
    let line = raw.line.filter(|line| *line > 0)?;
    let end_line = raw.end_line.unwrap_or(line).max(line);
    let breaks = text.matches('\n').count();
    let is_windows = text.contains("\r\n");
    if is_windows && text.matches("\r\n").count() != breaks {
        return None;
    }
    let old: Vec<&str> = text.lines().collect();
    let old = old
        .get(usize::try_from(line).ok()? - 1..usize::try_from(end_line).ok()?)?
        .join("\n");
    let is_exact =
        lines != old && indentation(lines) == indentation(&old) && !is_numbered(lines, line);
    (is_exact && is_plain(lines)).then(|| ExactFix {
        line,
        end_line,
        text: if is_windows {
            lines.replace('\n', "\r\n")
        } else {
            lines.to_owned()
        }
        .into(),
    })
}

/// Whether the lines can be shown unchanged, contain text but no secret, and do not exceed the maximum size.
fn is_plain(lines: &str) -> bool {
    !lines.trim().is_empty()
        && lines.len() <= MOST_BYTES
        && lines.split('\n').count() <= MOST_LINES
        && !lines
            .chars()
            .any(|c| is_unsafe(c) && !matches!(c, '\n' | '\t'))
        && !lines.contains(PLACEHOLDER)
        && redact(lines) == lines
}

/// Returns the indentation of the first line that is not blank. If a replacement changes this indentation, the
/// reviewer has probably lost the indentation of all lines.
fn indentation(lines: &str) -> &str {
    let first = lines
        .split('\n')
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    &first[..first.len() - first.trim_start().len()]
}

/// Whether the text begins with the line number and `|`, like a line in a prompt.
fn is_numbered(lines: &str, line: u32) -> bool {
    lines
        .trim_start()
        .strip_prefix(&line.to_string())
        .is_some_and(|rest| rest.trim_start().starts_with('|'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "def etag(page):\n    return md5(page)\n\nx = etag(1)";
    const FIX: &str = "    return sha256(page)";

    /// The member after the check of a replacement for the lines of `TEXT`.
    fn checked(text: &str, (line, end): (u32, u32), replacement: &str) -> Member {
        let raw = RawFinding {
            file: Some("a.py".to_owned()),
            line: Some(line),
            end_line: Some(end).filter(|end| *end > line),
            replacement: Some(replacement.into()),
            ..RawFinding::default()
        };
        let mut member = Member {
            raw,
            ..Member::default()
        };
        check(&mut member, Some(text));
        assert_eq!(member.raw.replacement, None);
        assert!(
            member
                .raw
                .suggestion
                .as_ref()
                .is_some_and(|text| *text == *lines_of(replacement).trim())
        );
        member
    }

    fn fix(line: u32, end_line: u32, text: &str) -> ExactFix {
        ExactFix {
            line,
            end_line,
            text: text.into(),
        }
    }

    #[test]
    fn an_exact_fix_replaces_lines_that_exist() {
        let rows = [
            ((2, 2), FIX, Some(fix(2, 2, FIX))),
            ((2, 2), "    return sha256(page)\r\n", Some(fix(2, 2, FIX))),
            (
                (2, 2),
                "    return sha256(page)\n\n",
                Some(fix(2, 2, "    return sha256(page)\n")),
            ),
            (
                (1, 2),
                "def etag(page):\n\treturn 1",
                Some(fix(1, 2, "def etag(page):\n\treturn 1")),
            ),
            ((4, 4), "y = 2", Some(fix(4, 4, "y = 2"))),
            ((0, 0), "y = 2", None),
            ((5, 5), "y = 2", None),
            ((4, 5), "y = 2", None),
            ((2, u32::MAX), FIX, None),
            ((2, 2), "    return md5(page)", None),
            ((2, 2), "return sha256(page)", None),
            ((2, 2), "2 |     return sha256(page)", None),
            ((4, 4), "4 | y = 2", None),
            ((4, 4), " \n", None),
            ((4, 4), "y = '\u{202e}'", None),
            ((4, 4), "y = '\u{1b}[2J'", None),
            ((4, 4), "y = '[secret:github-pat:0123]'", None),
            (
                (4, 4),
                "y = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'",
                None,
            ),
            ((4, 4), "y\u{2028}z", None),
            ((4, 4), "y\rz", None),
        ];
        for (lines, replacement, expected) in rows {
            assert_eq!(
                checked(TEXT, lines, replacement).fix,
                expected,
                "{lines:?} {replacement:?}"
            );
        }
        let long = ["y"; 50].join("\n");
        assert_eq!(checked(TEXT, (4, 4), &long).fix, Some(fix(4, 4, &long)));
        assert_eq!(checked(TEXT, (4, 4), &format!("{long}\ny")).fix, None);
        assert_eq!(checked(TEXT, (4, 4), &"y".repeat(8193)).fix, None);
    }

    #[test]
    fn the_line_ends_of_the_file_are_kept() {
        let windows = TEXT.replace('\n', "\r\n");
        let expected = "def etag(page):\r\n    return 1";
        for replacement in [
            "def etag(page):\n    return 1",
            "def etag(page):\r\n    return 1\r\n",
        ] {
            assert_eq!(
                checked(&windows, (1, 2), replacement).fix,
                Some(fix(1, 2, expected))
            );
        }
        assert_eq!(fix(1, 2, expected).shown(), "def etag(page):\n    return 1");
        assert_eq!(
            checked(&format!("{windows}\nz"), (4, 4), "y = 2").fix,
            None,
            "mixed line ends"
        );
    }

    #[test]
    fn a_refused_replacement_joins_the_suggestion() {
        let raw = |line| RawFinding {
            line,
            suggestion: Some("Use SHA-256".into()),
            replacement: Some(FIX.into()),
            ..RawFinding::default()
        };
        for (line, text, expected) in [
            (Some(2), Some(TEXT), "Use SHA-256"),
            (Some(2), None, "Use SHA-256\n\nreturn sha256(page)"),
            (None, Some(TEXT), "Use SHA-256\n\nreturn sha256(page)"),
        ] {
            let mut member = Member {
                raw: raw(line),
                ..Member::default()
            };
            check(&mut member, text);
            assert_eq!(
                (member.fix.is_some(), member.raw.suggestion),
                (expected == "Use SHA-256", Some(expected.into()))
            );
        }
    }
}
