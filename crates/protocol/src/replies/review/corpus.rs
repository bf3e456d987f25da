//! Tests the parser with each review under `tests/corpus`, and with variations of the review that must give the
//! same result.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::replies::review::answer::ReviewAnswer;
use crate::replies::review::reader::parse;
use glee_model::domain::AnswerStatus;

#[derive(Debug, Deserialize)]
struct Expected {
    nonce: String,
    status: AnswerStatus,
    findings: Vec<ExpectedFinding>,
    not_findings: Vec<String>,
    why: String,
}

#[derive(Debug, Deserialize)]
struct ExpectedFinding {
    tag: Option<String>,
    tag_raw: String,
    title_starts: String,
    file: Option<String>,
    line: Option<u32>,
    end_line: Option<u32>,
}

struct Case {
    name: String,
    answer: Vec<u8>,
    expected: Expected,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

fn cases() -> Vec<Case> {
    let files = files(&folder())
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "txt"));
    let cases: Vec<_> = files
        .map(|path| Case {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            answer: fs::read(&path).unwrap(),
            expected: serde_json::from_slice(
                &fs::read(path.with_extension("expected.json")).unwrap(),
            )
            .unwrap(),
        })
        .collect();
    assert!(cases.len() >= 40, "the corpus is there");
    cases
}

fn normal(title: &str) -> String {
    let words = title.replace("\\|", "|").replace(['*', '`'], "");
    let title = words.split_whitespace().collect::<Vec<_>>().join(" ");
    title
        .trim_start_matches([' ', ':', '-', '–', '—', '|'])
        .to_owned()
}

fn check(name: &str, expected: &Expected, status: AnswerStatus, answer: &ReviewAnswer) {
    let why = &expected.why;
    let titles: Vec<_> = answer
        .findings
        .iter()
        .map(|finding| normal(finding.title.as_written()))
        .collect();
    assert_eq!(answer.status, status, "{name}: {why}\n{titles:#?}");
    assert_eq!(
        titles.len(),
        expected.findings.len(),
        "{name}: {why}\n{titles:#?}"
    );
    for ((finding, title), expected) in answer.findings.iter().zip(&titles).zip(&expected.findings)
    {
        let tag = finding.severity.tag.map(|tag| tag.as_str().to_owned());
        assert_eq!(tag, expected.tag, "{name}: {title}");
        if tag.is_none() {
            assert_eq!(finding.severity.raw, expected.tag_raw, "{name}: {title}");
        }
        assert!(
            finding.severity.raw.eq_ignore_ascii_case(&expected.tag_raw),
            "{name}: {title}"
        );
        assert!(
            title.starts_with(&expected.title_starts),
            "{name}: {title} / {}",
            expected.title_starts
        );
        let place = (finding.file.as_deref(), finding.line, finding.end_line);
        assert_eq!(
            place,
            (expected.file.as_deref(), expected.line, expected.end_line),
            "{name}: {title}"
        );
    }
    for text in &expected.not_findings {
        assert!(
            !titles.iter().any(|title| title.starts_with(text)),
            "{name}: {text}"
        );
    }
}

#[test]
fn every_case_is_read_as_expected() {
    for Case {
        name,
        answer,
        expected,
    } in cases()
    {
        let read = parse(&answer[..], Some(&expected.nonce)).unwrap();
        check(&name, &expected, expected.status, &read);
        assert!(!read.truncated, "{name}");
    }
}

#[test]
fn line_ends_colours_and_marks_change_nothing() {
    for Case {
        name,
        answer,
        expected,
    } in cases()
    {
        let crlf: Vec<u8> = {
            let lf: Vec<u8> = answer
                .iter()
                .copied()
                .filter(|byte| *byte != b'\r')
                .collect();
            lf.iter()
                .flat_map(|byte| {
                    if *byte == b'\n' {
                        vec![b'\r', b'\n']
                    } else {
                        vec![*byte]
                    }
                })
                .collect()
        };
        let marked: Vec<u8> = b"\xef\xbb\xbf"
            .iter()
            .copied()
            .filter(|_| !answer.starts_with(b"\xef\xbb\xbf"))
            .collect();
        let marked = [marked, answer.clone()].concat();
        // Adds colours around every line and inside every pair of brackets, as in the output of a terminal.
        let coloured: Vec<u8> = answer
            .iter()
            .flat_map(|byte| match byte {
                b'[' => b"\x1b[1m[\x1b[31m".to_vec(),
                b']' => b"\x1b[0m]\x1b]8;;https://a.b\x1b\\".to_vec(),
                b'\n' => b"\x1b[K\n\x1b[2m".to_vec(),
                byte => vec![*byte],
            })
            .collect();
        // The answer of case 39 already contains colour codes, so the test adds no colour codes to this answer.
        let coloured = if answer.contains(&0x1b) {
            answer.clone()
        } else {
            coloured
        };
        for (variation, answer) in [("CRLF", crlf), ("BOM", marked), ("colour", coloured)] {
            let read = parse(&answer[..], Some(&expected.nonce)).unwrap();
            check(
                &format!("{name}, {variation}"),
                &expected,
                expected.status,
                &read,
            );
        }
    }
}

#[test]
fn another_nonce_is_never_complete() {
    for Case {
        name,
        answer,
        expected,
    } in cases()
    {
        let status = if expected.findings.is_empty() {
            AnswerStatus::NotReviewed
        } else {
            AnswerStatus::Incomplete
        };
        let read = parse(&answer[..], Some("0123456789abcdef0123456789abcdef")).unwrap();
        // In cases 29 and 32, the last JSON result replaces the earlier findings only if the closing line is
        // valid.
        if name.starts_with("29_") || name.starts_with("32_") {
            assert_eq!((read.status, read.findings.len()), (status, 5), "{name}");
            continue;
        }
        // The answer of case 22 repeats the prompt. The parser removes the repeated prompt only if the closing
        // line is valid.
        if name.starts_with("22_") {
            assert_eq!((read.status, read.findings.len()), (status, 8), "{name}");
            continue;
        }
        check(&name, &expected, status, &read);
    }
}

#[test]
fn cut_off_anywhere_is_never_complete() {
    for Case {
        name,
        answer,
        expected,
    } in cases()
        .into_iter()
        .filter(|case| case.answer.len() < 20_000)
    {
        let text = String::from_utf8_lossy(&answer);
        let Some(end) = text.rfind(&format!("GLEE-REVIEW-END nonce={}", expected.nonce)) else {
            continue;
        };
        // The test truncates an answer at many positions, and parses each truncated answer from the beginning. To
        // limit the time, the test tries every position in the 60 bytes before the closing line, but only some of
        // the earlier positions.
        let cuts = (0..end.saturating_sub(60))
            .step_by(97)
            .chain(end.saturating_sub(60)..=end);
        for cut in cuts.filter(|cut| text.is_char_boundary(*cut)) {
            let read = parse(text[..cut].as_bytes(), Some(&expected.nonce)).unwrap();
            assert!(!read.status.is_complete(), "{name}: cut at {cut}");
        }
    }
}

#[test]
fn real_answers_are_kept_and_never_clean() {
    for path in files(&folder().join("real")) {
        let answer = fs::read_to_string(&path).unwrap();
        let read = parse(answer.as_bytes(), Some("0123456789abcdef")).unwrap();
        assert!(!read.status.is_complete(), "{}", path.display());
        let kept = read.findings.iter().fold(read.notes, |kept, finding| {
            kept + finding.title.as_written() + finding.body.as_written()
        });
        for word in answer.split(|c: char| !c.is_alphanumeric()) {
            assert!(kept.contains(word), "{}: {word}", path.display());
        }
    }
}
