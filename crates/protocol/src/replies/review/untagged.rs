//! Reads findings whose severity stands without square brackets: behind a word or a badge at the beginning of a line
//! that names a place (`**P1** — src/app.py:13 Close it`, `HIGH: src/app.py:13: ...`), in a heading
//! (`### Critical: Close it`), or in a field below the title (`- Severity: High`).

use std::sync::LazyLock;

use regex::Regex;

use crate::text::location::{self, Paths};
use crate::text::{LineKind, markdown, pattern};
use glee_model::domain::RawFinding;
use glee_model::rules::review::mandatory;

/// A severity at the beginning of a line.
pub(super) struct Mark<'a> {
    pub word: &'a str,
    /// The text behind the severity, with `path:line` where the line has fields that are separated by `|`.
    pub rest: String,
}

/// A severity in capitals, in emphasis or at the start of a heading, and the text behind it.
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x) ^ (?:[*_]{1,3} (?P<bold>(?i:must|should|critical|high|medium|low|blocker|major|minor)|[Pp][0-4]) [*_:：]{1,4}
        | (?P<capitals>MUST|SHOULD|CRITICAL|HIGH|MEDIUM|LOW|BLOCKER|MAJOR|MINOR|P[0-4]) \b
        | (?P<named>(?i:critical|high|medium|low|blocker|major|minor)|[Pp][0-4]) [:：])
        \s* [:：|–—-]? (?P<rest>.*) $",
    )
});

/// A badge, such as `![P1 Badge](https://img.shields.io/badge/P1-orange)`.
static BADGE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:[*_]|</?sub>)*!\[(?P<word>P[0-4]|(?i:critical|high|medium|low))\b[^\]]*\]\([^)]*\)(?:</sub>)*(?P<rest>.*)$",
    )
});

/// Says that there is none of a kind, as in `HIGH: none`.
static NONE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^\W*(?:no|none|nothing|0|n/a|keine?|aucune?)\b|^[\W0-9]*$"));

/// Reads the severity at the beginning of a line without its list marker, or of a table row with the further `cells`.
pub(super) fn read<'a>(
    line: &'a str,
    cells: &str,
    kind: LineKind,
    paths: &Paths,
) -> Option<Mark<'a>> {
    if let Some(badge) = BADGE.captures(line) {
        let word = badge.name("word")?.as_str();
        let rest = badge["rest"].trim_matches(['*', '_', ' ']).to_owned();
        return (!NONE.is_match(&rest)).then_some(Mark { word, rest });
    }
    let found = WORD.captures(line)?;
    let word = ["bold", "capitals", "named"]
        .iter()
        .find_map(|name| found.name(name))?
        .as_str();
    let rest = &format!("{}{cells}", &found["rest"]);
    if NONE.is_match(rest) {
        return None;
    }
    let rest = in_fields(rest).unwrap_or_else(|| rest.to_owned());
    let is_heading = kind == LineKind::Heading && line[word.len()..].contains([':', '：']);
    (is_heading || has_place(&rest, paths) == Some(true)).then_some(Mark { word, rest })
}

fn has_place(rest: &str, paths: &Paths) -> Option<bool> {
    let place = location::find_of(rest, paths)?;
    let before = rest[..place.range.start].trim_end();
    Some(
        before.is_empty()
            || before.ends_with(['(', '`', ':', '—', '–', '-', '['])
            || !before.contains(char::is_alphanumeric),
    )
}

/// An emoji, such as a red circle, or another sign before the severity.
pub(crate) fn is_symbol(letter: char) -> bool {
    letter >= '\u{2190}' && !letter.is_alphanumeric() && !matches!(letter, '［' | '【')
}

/// The text of a line with fields, `path|line|title|...`, as `path:line title|...`.
fn in_fields(rest: &str) -> Option<String> {
    let mut fields = rest.splitn(3, '|');
    let [path, line, text] = [fields.next()?, fields.next()?, fields.next()?];
    let place = format!("{}:{}", path.trim(), line.trim());
    let (_, _, _) = location::split(&place).filter(|_| !path.trim().contains(' '))?;
    Some(format!("{place} {}", text.replacen('|', " | ", 1)))
}

/// Whether a line can be the title of a finding whose severity stands in a field below it: a heading, an item, or a line
/// in emphasis.
pub(crate) fn is_title(line: &str, kind: LineKind) -> bool {
    let item = markdown::peel_item(line);
    let is_set_off = kind == LineKind::Heading || item.listed || item.rest.starts_with("**");
    let text = markdown::plain(item.rest);
    is_set_off && !FILE.is_match(&text) && !LINE.is_match(&text)
}

/// The severity in a field below a title, such as `- Severity: High`.
static SEVERITY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?i:severity|priority|tag|schweregrad|gravité|严重性|重要度)\s*[:：]\s*([\p{L}\d]{2,20})\W*$",
    )
});

pub(crate) fn severity_field(line: &str) -> Option<String> {
    let line = markdown::plain(markdown::peel(line).rest);
    let word = SEVERITY.captures(&line)?[1].to_owned();
    mandatory::normalise(&word).map(|_| word)
}

static FILE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?i:file|path|location|where|datei|fichier|archivo|文件|ファイル)\s*[:：]\s*(.+)$")
});

static LINE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?i:lines?|zeilen?|lignes?|líneas?|行)\s*[:：]?\s*(L?\d.*)$"));

/// How many lines below a title can hold its fields.
const FIELDS: usize = 8;

/// Fills in the place of a finding whose title names none from the fields below it.
pub(crate) fn place_from_fields(finding: &mut RawFinding, body: &str, paths: &Paths) {
    if finding.file.is_some() {
        return;
    }
    let mut file = None;
    let mut lines = None;
    for line in body.lines().take(FIELDS) {
        let line = markdown::plain(markdown::peel(line).rest);
        if let Some(value) = FILE.captures(&line) {
            let place = location::find_of(&value[1], paths).map(|place| place.location());
            lines = lines.or(place
                .as_ref()
                .and_then(|place| Some((place.line?, place.end_line))));
            file = file.or_else(|| {
                Some(place.map_or_else(|| value[1].trim().to_owned(), |place| place.file))
            });
        } else if let Some(value) = LINE.captures(&line) {
            lines = lines.or_else(|| location::lines(&value[1]));
        }
    }
    let Some(file) = file.filter(|file| !file.contains(' ')) else {
        return;
    };
    finding.file = Some(file);
    (finding.line, finding.end_line) = lines.map_or((None, None), |(line, end)| (Some(line), end));
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use crate::replies::review::parse;
    use glee_model::domain::RawFinding;

    fn shown(finding: &RawFinding) -> String {
        let place = finding.location().map(|place| place.to_string());
        format!(
            "{}|{}|{}",
            finding.severity.raw,
            place.unwrap_or_default(),
            finding.title.as_written()
        )
    }

    fn findings(text: &str) -> Vec<String> {
        let answer = parse(text.as_bytes(), None).unwrap();
        answer.findings.iter().map(shown).collect()
    }

    #[test]
    fn a_severity_without_brackets_begins_a_finding() {
        for (text, expected) in [
            (
                "**P1** — src/app.py:13 Close it",
                "P1|src/app.py:13|Close it",
            ),
            (
                "HIGH: src/app.py:13: Close it",
                "HIGH|src/app.py:13|Close it",
            ),
            ("- MUST app.py:2 Close it", "MUST|app.py:2|Close it"),
            (
                "- **High**: Close it (`src/app.py:13`)",
                "High|src/app.py:13|Close it (src/app.py:13)",
            ),
            (
                "🔴 **MUST** src/app.py:13 Close it",
                "MUST|src/app.py:13|Close it",
            ),
            (
                "🔴 [MUST] src/app.py:13 Close it",
                "MUST|src/app.py:13|Close it",
            ),
            (
                "P1|src/app.py|13|Close it|open(a|b)",
                "P1|src/app.py:13|Close it | open(a|b)",
            ),
            ("［MUST］ app.py:2 Close it", "MUST|app.py:2|Close it"),
            (
                "![P1 Badge](https://img.shields.io/badge/P1-orange) Close it",
                "P1||Close it",
            ),
            (
                "### 🔴 Critical: Close it\n\n**File:** `src/app.py:13`\n\nIt leaks.",
                "Critical|src/app.py:13|Close it",
            ),
            (
                "1. **Close it**\n   - Severity: High\n   - File: src/app.py\n   - Line: 13",
                "High|src/app.py:13|Close it",
            ),
            (
                "### Close it\n\n**File:** `src/app.py`\n**Lines:** 13-14\n**Severity:** P1",
                "P1|src/app.py:13-14|Close it",
            ),
            (
                "**[HIGH]** `src/app.py` L13: Close it",
                "HIGH|src/app.py:13|Close it",
            ),
            (
                "[MUST] src/app.py（13行目） 閉じる",
                "MUST|src/app.py:13|閉じる",
            ),
            (
                "[MUST] src/app.py, line 13: Close it",
                "MUST|src/app.py:13|Close it",
            ),
            (
                "| [MUST] | src/app.py:13 | `a | b` is `x || y` |",
                "MUST|src/app.py:13|a | b is x || y",
            ),
        ] {
            assert_eq!(findings(text), [expected], "{text}");
        }
    }

    #[test]
    fn a_word_of_severity_alone_begins_none() {
        for text in [
            "HIGH: none",
            "HIGH: 0, MEDIUM: 0",
            "### High: none",
            "The MUST findings of src/app.py:13 are fixed.",
            "High-level view of src/app.py:13",
            "- Severity: none",
            "Severity: High",
            "MUST be fixed before src/app.py:13 runs",
            "high: see src/app.py:13",
            "**Low** risk overall",
        ] {
            assert_eq!(findings(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn the_json_of_codex_review_keeps_its_place_and_its_priority() {
        let text = r#"{"findings":[{"title":"[P3] Close it","body":"It leaks.","confidence_score":0.8,"priority":3,
            "code_location":{"absolute_file_path":"/tree/src/app.py","line_range":{"start":13,"end":14}}}],
            "overall_correctness":"patch is correct","overall_explanation":"","overall_confidence_score":0.9}"#;
        assert_eq!(findings(text), ["P3|/tree/src/app.py:13-14|[P3] Close it"]);
    }
}
