//! What holds for any answer, however odd its lines.

use proptest::prelude::*;

use super::*;
use glee_model::domain::{Cwe, Location, Untrusted};

/// Lines as reviewers write them, and lines that look like them.
fn line() -> impl Strategy<Value = String> {
    let mark = prop::sample::select(vec![
        "", "  ", "- ", "* ", "1. ", "12) ", "### ", "> ", "| ", "\t", "- [ ] ", "**", "`", "    ",
        "+ 3. ",
    ]);
    let tag = prop::sample::select(vec![
        "",
        "[MUST] ",
        "[low] ",
        "**[HIGH]** ",
        "`[P1]` ",
        "[INFO] ",
        "[MUST] = ",
        "[x] ",
        "[HIGH](a) ",
        "[nit]: ",
    ]);
    let place = prop::sample::select(vec![
        "",
        "src/ab.rs:12 ",
        "`x/cd.py:3-7` – ",
        "(ef.go#L4) ",
        "src/ab.rs:12, 13 and kl.go:1 ",
        "C:\\gh\\ij.rs:3 ",
    ]);
    let text = "[a-zäß日本 .,:|*`_~<>#=()\\-]{0,40}";
    let whole = prop::sample::select(vec![
        "",
        "```",
        "```suggestion",
        "~~~",
        "---",
        "===",
        "|---|---|",
        "GLEE-REVIEW-END nonce=abc findings=1",
    ]);
    prop_oneof![
        4 => (mark, tag, place, text).prop_map(|(mark, tag, place, text)| format!("{mark}{tag}{place}{text}")),
        1 => whole.prop_map(str::to_owned),
    ]
}

fn answer() -> impl Strategy<Value = String> {
    prop::collection::vec(line(), 0..25).prop_map(|lines| lines.join("\n"))
}

/// Findings that an answer can give: what is not there is absent, never blank.
fn finding() -> impl Strategy<Value = RawFinding> {
    let text = || {
        prop_oneof![
            "\\PC{1,30}",
            "[a-z`*\\[\\]:#|-]{1,12}( [a-z`*<>.:/0-9]{1,9}){0,4}"
        ]
    };
    let shown = |text: String| Some(text).filter(|text| !text.trim().is_empty());
    let optional = move || prop::option::of(text()).prop_map(move |text| text.and_then(shown));
    let word = prop_oneof![
        prop::sample::select(vec!["MUST", "low", "P1", "nit", "Blocker", ""])
            .prop_map(str::to_owned),
        text().prop_map(|text| text.trim().to_owned()),
    ];
    let place = (
        optional(),
        prop::option::of(1..5000u32),
        prop::option::of(1..100u32),
        prop::collection::vec(("[a-c]{1,2}(/d e)?[.]py", prop::option::of(1..99u32)), 0..3),
    );
    let more = (
        optional(),
        optional(),
        prop::option::of(0..=100i64),
        prop::collection::vec(text(), 0..3),
        optional(),
    );
    let lines = prop::option::of("[ \\t]{0,4}\\PC{1,12}(\n[ \\t]{0,4}[`~]{0,4}\\PC{0,12}){0,4}\n?");
    let cwe = prop::option::of(prop::sample::select(vec![22, 79, 89, 1004]));
    let more = (more, lines.prop_map(move |text| text.and_then(shown)), cwe);
    let body = prop::collection::vec(
        prop_oneof![text(), Just(String::new()), Just("  [LOW] x".to_owned())],
        0..5,
    );
    (word, text(), body, place, more).prop_map(
        move |(raw, title, body, (file, line, length, places), (more, lines, cwe))| RawFinding {
            cwe: cwe.map(Cwe),
            places: further(file.as_ref(), places),
            severity: Severity {
                tag: Tag::parse(&raw),
                raw,
            },
            title: Some(glee_model::domain::fold(&title))
                .filter(|title| !title.is_empty())
                .unwrap_or("title".to_owned())
                .into(),
            body: shown(body.join("\n")).unwrap_or_default().into(),
            file,
            line,
            end_line: line.zip(length).map(|(line, length)| line + length),
            category: more.0,
            suggestion: more.1.map(Untrusted::from),
            confidence: more.2.map(Confidence::clamped),
            evidence: more
                .3
                .into_iter()
                .filter(|text| !text.trim().is_empty())
                .map(Untrusted::from)
                .collect(),
            rule: more.4,
            guideline: None,
            insists_on: None,
            replacement: lines.map(Untrusted::from),
            demonstration: None,
        },
    )
}

/// Different places beside the main place, which is in none of their files.
fn further(main: Option<&String>, places: Vec<(String, Option<u32>)>) -> Vec<Location> {
    let mut further: Vec<Location> = Vec::new();
    for (file, line) in places {
        let is_new = further.iter().all(|place| place.file != file);
        if main.is_some_and(|main| *main != file) && is_new {
            let end_line = None;
            further.push(Location {
                file,
                line,
                end_line,
            });
        }
    }
    further
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400), text in "\\PC{0,200}") {
        for input in [&bytes[..], text.as_bytes()] {
            let answer = parse(input, Some(NONCE)).unwrap();
            prop_assert!(!answer.status.is_complete());
        }
    }

    /// A word is a run of letters. Each is somewhere in a finding or in the notes; closing lines, and the words
    /// `line` and `L` of a place, are the only ones that are not kept.
    #[test]
    fn no_word_is_lost(text in answer()) {
        let answer = read(&text);
        let mut kept = answer.notes;
        for finding in &answer.findings {
            let place = finding.locations().iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
            let new = finding.replacement.as_ref().map_or("", Untrusted::as_written);
            let texts = [&finding.title, &finding.body].map(Untrusted::as_written);
            for part in [&finding.severity.raw, texts[0], texts[1], &place, new] {
                kept.push('\n');
                kept.push_str(part);
            }
        }
        for line in text.lines().filter(|line| !line.contains("GLEE-REVIEW-END") && *line != "```suggestion") {
            for word in line.split(|c: char| !c.is_alphabetic()).filter(|word| *word != "L") {
                prop_assert!(kept.contains(word), "{word:?} of {line:?} is lost");
            }
        }
    }

    #[test]
    fn rendered_findings_are_read_back(findings in prop::collection::vec(finding(), 0..6)) {
        let answer = read(&render(&findings, NONCE));
        prop_assert!(answer.status.is_complete());
        prop_assert_eq!(answer.findings, findings);
    }

    #[test]
    fn what_was_read_is_rendered_and_read_back(text in answer()) {
        let findings = read(&text).findings;
        prop_assume!(findings.iter().all(|finding| !finding.title.is_empty()));
        prop_assert_eq!(read(&render(&findings, NONCE)).findings, findings);
    }

    #[test]
    fn the_json_form_is_read_back(text in answer()) {
        let answer = read(&text);
        prop_assume!(answer.findings.iter().all(|finding| !finding.title.is_empty()));
        let json = serde_json::to_string(&answer).unwrap();
        prop_assert_eq!(read(&json).findings, answer.findings);
    }
}

#[test]
fn findings_are_rendered_in_the_seed_form_where_it_says_everything() {
    let text = "[MUST] src/db.rs:42-48 Fix SQL injection\n  Bind it.\n\n  [not an item\n\n[nit] Rename `x`\n";
    let findings = read(text).findings;
    let expected = "[MUST] src/db.rs:42-48 Fix SQL injection\n  Bind it.\n\n  [not an item\n\n[nit] Rename x\n\n\
                    GLEE-REVIEW-END nonce=abc findings=2\n";
    assert_eq!(render(&findings, NONCE), expected);
    assert_eq!(render(&[], NONCE), "GLEE-REVIEW-END nonce=abc findings=0\n");
}
