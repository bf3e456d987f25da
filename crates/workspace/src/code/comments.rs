//! Before Python code is parsed, replaces long sequences of comments by blank lines. The replacement does not
//! change the line or column of any code. For each comment, Python's grammar scans all following comments, so the
//! total time is quadratic in the number of comments.

use std::borrow::Cow;
use std::path::Path;

/// A sequence of comments is replaced if it has at least this number of lines.
const LONG: usize = 500;

pub fn shortened<'a>(path: &str, text: &'a str) -> Cow<'a, str> {
    let extension = Path::new(path)
        .extension()
        .and_then(|extension| extension.to_str());
    if !matches!(extension, Some("py" | "py3" | "pyi")) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    // `text[..copied]` is already in `shown`. `run` is the offset of the current sequence of comments, and
    // `length` is the number of lines in this sequence.
    let mut copied = 0;
    let mut run = 0;
    let mut length = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n').chain([""]) {
        let is_comment =
            line.trim_start().starts_with('#') || (!line.is_empty() && line.trim().is_empty());
        if is_comment {
            length += 1;
        } else {
            if length >= LONG {
                shown.push_str(&text[copied..run]);
                shown.extend(text[run..at].bytes().map(|byte| {
                    if matches!(byte, b'\n' | b'\r') {
                        byte as char
                    } else {
                        ' '
                    }
                }));
                copied = at;
            }
            (run, length) = (at + line.len(), 0);
        }
        at += line.len();
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(&text[copied..]);
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_of_comments_is_blank_and_nothing_moves() {
        let run = "  # é\r\n\n".repeat(LONG);
        let blank = "      \r\n\n".repeat(LONG);
        let text = format!("x = 1 # a\n# b\ndef f():\n{run}    return '# c'\n{run}");
        let shown = format!("x = 1 # a\n# b\ndef f():\n{blank}    return '# c'\n{blank}");
        assert_eq!(shortened("a.py", &text), shown);
        assert_eq!(shown.len(), text.len());
        assert!(matches!(shortened("a.rs", &text), Cow::Borrowed(_)));
        assert!(matches!(shortened("a.py", "# a\n# b\n"), Cow::Borrowed(_)));
    }
}
