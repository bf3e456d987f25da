//! Checks the replacements of lines that reviewers propose. A replacement that fails a check stays text for people.

use crate::domain::{ExactFix, RawFinding, Untrusted};
use crate::protocol::secrets::redact;
use crate::protocol::text::printable::is_unsafe;
use crate::rules::consensus::Member;

/// The maximum size of a replacement.
const MOST_LINES: usize = 50;
const MOST_BYTES: usize = 8 << 10;

/// Begins the placeholder that reviewers see in place of a secret.
const PLACEHOLDER: &str = "[secret:";

/// Moves the proposed replacement of a finding to the exact fix if the replacement passes all checks. Otherwise, moves
/// the replacement to the suggestion. `reviewed` is the text of the finding's file as the reviewers received it.
pub(crate) fn check(member: &mut Member, reviewed: Option<&str>) {
    let Some(proposed) = member.raw.replacement.take() else { return };
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

/// The lines without the last line end. Agents end the lines with `\n` or with `\r\n`.
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
    let old = old.get(usize::try_from(line).ok()? - 1..usize::try_from(end_line).ok()?)?.join("\n");
    let is_exact = lines != old && indentation(lines) == indentation(&old) && !is_numbered(lines, line);
    (is_exact && is_plain(lines)).then(|| ExactFix {
        line,
        end_line,
        text: if is_windows { lines.replace('\n', "\r\n") } else { lines.to_owned() }.into(),
    })
}

/// Whether the lines can be shown unchanged, are not blank, contain no secret and have at most the maximum size.
fn is_plain(lines: &str) -> bool {
    !lines.trim().is_empty()
        && lines.len() <= MOST_BYTES
        && lines.split('\n').count() <= MOST_LINES
        && !lines.chars().any(|c| is_unsafe(c) && !matches!(c, '\n' | '\t'))
        && !lines.contains(PLACEHOLDER)
        && redact(lines) == lines
}

/// The white space before the first text. A reviewer that changes it has probably lost the indentation of all lines.
fn indentation(lines: &str) -> &str {
    let first = lines.split('\n').find(|line| !line.trim().is_empty()).unwrap_or_default();
    &first[..first.len() - first.trim_start().len()]
}

/// Whether the first line begins with its number and `|`, as lines in prompts do.
fn is_numbered(lines: &str, line: u32) -> bool {
    lines.trim_start().strip_prefix(&line.to_string()).is_some_and(|rest| rest.trim_start().starts_with('|'))
}

/// The exact fix of a merged finding: the only fix that the reviewers of the finding propose.
pub(crate) fn agreed<'a>(raw: &RawFinding, members: impl Iterator<Item = &'a Member>) -> Option<ExactFix> {
    let mut fixes = members.filter(|member| !member.denies && member.raw.file == raw.file).filter_map(|it| it.fix.as_ref());
    let first = fixes.next()?;
    fixes.all(|other| other == first).then(|| first.clone())
}
