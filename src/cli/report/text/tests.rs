//! Tests of complete text reports.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::cli::report::options::{Detail, FixCommand, TextOptions};
use crate::cli::report::view::FindingCounts;
use crate::cli::report::{Format, render as render_as};
use crate::cli::style::fixture::{clean, dispute, finding, reviewer, ruling, settled};
use glee_model::domain::{
    AgentName, Answer, Class, Confidence, Corroboration, Disposition, DisputeNumber, Failure,
    FileChange, FindingState, Lowered, Position, Role, Ruler, RulingWord, Severity, Skip,
    SkipReason, Tag, Untrusted, Usage,
};
use glee_protocol::text::printable;
use proptest::prelude::*;

const PYTHON: &str = "import hashlib\n\ndef orders(db, user):\n\tdb.execute(\"SELECT * FROM o WHERE u = '\" + user + \"'\")\n\ndef tag(x):\n    return hashlib.md5(x)\n";
const SCRIPT: &str = "export function open(url) {\n  eval(url);\n}\n";

fn source(path: &str, round: u32) -> Option<String> {
    match path {
        _ if round != 1 => None,
        "shop/orders.py" => Some(PYTHON.to_owned()),
        "shop/open.js" => Some(SCRIPT.to_owned()),
        "shop/min.js" => Some(format!(
            "{}eval(a){}\n",
            "x();".repeat(200),
            "y();".repeat(200)
        )),
        _ => None,
    }
}

static FIX: std::sync::LazyLock<FixCommand> = std::sync::LazyLock::new(|| FixCommand {
    command: Some("glee review shop --fix".to_owned()),
    has_coder: true,
});

static WHOLE: std::sync::LazyLock<Outcome> = std::sync::LazyLock::new(clean);

fn options(width: usize, color: bool, detail: Detail) -> RenderOptions<'static> {
    RenderOptions {
        style: Style {
            color,
            unicode: true,
            width,
        },
        detail,
        source: &source,
        events: &[],
        fix: &FIX,
        only: &[],
        whole: &WHOLE,
        text: TextOptions::default(),
    }
}

fn short(outcome: &Outcome) -> String {
    render_as(Format::Text, outcome, &options(80, false, Detail::Short))
}

#[test]
fn spec_10_a_lowered_finding_says_what_it_was() {
    let mut outcome = clean();
    let mut lowered = settled(
        finding(
            1,
            Tag::Should,
            "shop/orders.py:4",
            "SQL is built from `user`",
        ),
        FindingState::Open,
        None,
    );
    lowered.finding.mandatory = false;
    lowered.lowered = Some(Lowered {
        was: Severity::known(Tag::Must),
        dispute: DisputeNumber(3).into(),
    });
    outcome.findings.push(lowered);
    let text = short(&outcome);
    assert!(
        text.contains("now SHOULD, was MUST, by dispute 3"),
        "{text}"
    );
    assert!(text.contains("1 finding: 1 optional"), "{text}");
}

fn reviewed() -> Outcome {
    let mut sql = finding(1, Tag::High, "shop/orders.py:4", "SQL is built from `user`");
    sql.raw.body = "Whoever controls `user` controls the query: it is concatenated into the statement, and the database runs whatever comes out.".into();
    sql.raw.suggestion = Some("Bind the value: execute(\"... u = ?\", (user,))".into());
    sql.raw.rule = Some("python-sql-concat".to_owned());
    sql.raw.confidence = Some(Confidence::clamped(90));
    sql.raised_by.push("codex".into());
    let mut range = finding(2, Tag::Must, "shop/open.js:1", "Do not evaluate a URL");
    range.raw.end_line = Some(3);
    let mut unknown = finding(
        3,
        Tag::High,
        "shop/gone.java:7",
        "The stream is never closed",
    );
    unknown.raw.severity = Severity {
        tag: None,
        raw: "blocker?".to_owned(),
    };
    let mut outcome = clean();
    outcome.exit = ExitReason::FindingsOpen;
    outcome.findings = vec![
        settled(sql, FindingState::Open, None),
        settled(range, FindingState::Open, None),
        settled(unknown, FindingState::Open, None),
        settled(
            finding(
                4,
                Tag::Low,
                "shop/orders.py:6",
                "`x` could have a more descriptive name",
            ),
            FindingState::Open,
            None,
        ),
        settled(
            finding(5, Tag::Medium, "shop/orders.py", "The module has no tests"),
            FindingState::Open,
            None,
        ),
        settled(
            finding(6, Tag::Should, "", "Add a changelog"),
            FindingState::Open,
            None,
        ),
        settled(
            finding(7, Tag::High, "shop/min.js:1", "Remove `eval`"),
            FindingState::Open,
            None,
        ),
    ];
    outcome.proof.reviewers = vec![
        reviewer("rules", AnswerStatus::Complete, 6),
        reviewer("codex", AnswerStatus::Complete, 2),
    ];
    outcome.proof.usage = Usage {
        input_tokens: Some(45_210),
        usd: Some(0.125),
        ..Usage::default()
    };
    outcome.proof.skipped = vec![
        Skip {
            file: "shop/logo.png".to_owned(),
            reason: SkipReason::Binary,
        },
        Skip {
            file: "Cargo.lock".to_owned(),
            reason: SkipReason::Generated,
        },
    ];
    outcome
}

/// The outcome of a run in which the coder fixed, claimed and discarded findings, and in which three disputes ended
/// differently.
fn arbitrated() -> Outcome {
    let weak = finding(
        1,
        Tag::High,
        "shop/orders.py:7",
        "MD5 is broken: `hashlib.md5`",
    );
    let eval = finding(2, Tag::Must, "shop/open.js:2", "Do not evaluate a URL");
    let sql = finding(
        3,
        Tag::Critical,
        "shop/orders.py:4",
        "SQL is built from `user`",
    );
    let mut enforced = dispute(
        1,
        weak.clone(),
        "The tag is no secret, and old clients compare it.",
        &["tests/tag.py:3"],
    );
    enforced.rulings = vec![ruling(
        RulingWord::Enforce,
        "The cited test does not exist.",
    )];
    enforced.disposition = Some(Disposition::Enforced);
    let mut dismissed = dispute(
        2,
        eval.clone(),
        "`url` is a constant of this file.",
        &["shop/open.js:9", "README.md:4"],
    );
    dismissed.rulings = vec![ruling(
        RulingWord::Dismiss,
        "The only caller passes a constant.",
    )];
    dismissed.rulings[0].ruling.citations = vec!["shop/open.js:9".into()];
    dismissed.disposition = Some(Disposition::Refuted);
    let mut open = dispute(3, sql.clone(), "The caller checks `user`.", &[]);
    open.rulings = vec![ruling(
        RulingWord::Escalate,
        "The caller is outside the reviewed tree.",
    )];
    let said = |text| Some((Answer::Disagree, text));
    let mut outcome = clean();
    outcome.exit = ExitReason::DisputeOpen;
    outcome.findings = vec![
        settled(
            weak,
            FindingState::Enforced {
                dispute: DisputeNumber(1),
            },
            said("no"),
        ),
        settled(
            eval,
            FindingState::Dismissed {
                dispute: DisputeNumber(2),
            },
            said("no"),
        ),
        settled(
            sql,
            FindingState::Disputed {
                dispute: DisputeNumber(3),
            },
            said("no"),
        ),
        settled(
            finding(4, Tag::Must, "shop/open.js:1", "Rename `open`"),
            FindingState::Resolved,
            Some((Answer::Implemented, "Renamed it to `openUrl`.")),
        ),
        settled(
            finding(5, Tag::Must, "shop/open.js:3", "Return the value"),
            FindingState::Claimed,
            Some((Answer::Implemented, "Done.")),
        ),
        settled(
            finding(6, Tag::Low, "shop/open.js:1", "Document the function"),
            FindingState::Discarded,
            Some((Answer::Discarded, "The name says it.")),
        ),
        settled(
            finding(7, Tag::High, "shop/orders.py:1", "hashlib is slow"),
            FindingState::AlreadyRuled {
                dispute: DisputeNumber(1).into(),
                disposition: Disposition::AcceptedRisk,
            },
            None,
        ),
    ];
    outcome.disputes = vec![enforced, dismissed, open];
    outcome.changes = vec![FileChange {
        file: "shop/open.js".to_owned(),
        added: 1,
        removed: 1,
        diff: Some(
            "diff --git a/shop/open.js b/shop/open.js\n--- a/shop/open.js\n+++ b/shop/open.js\n@@ -1,3 +1,3 @@\n-export function open(url) {\n+export function openUrl(url) {\n   eval(url);\n }\n"
                .to_owned(),
        ),
    }];
    outcome.undoable = true;
    outcome.rounds = 2;
    outcome.proof.reviewers = vec![reviewer("rules", AnswerStatus::Complete, 7)];
    outcome.notices = vec!["no prompt: the default `judge` applies".to_owned()];
    outcome
}

/// The outcome of a run with failed and incomplete reviewers.
fn failed() -> Outcome {
    let mut outcome = clean();
    outcome.exit = ExitReason::AgentFailed;
    outcome.proof.reviewers = vec![
        reviewer("rules", AnswerStatus::Clean, 0),
        reviewer("gemini", AnswerStatus::Incomplete, 2),
        reviewer("codex", AnswerStatus::NotReviewed, 0),
        reviewer("claude", AnswerStatus::NotReviewed, 0),
    ];
    outcome.proof.reviewers[2].failure = Some("timed out after 30m".to_owned());
    outcome.proof.reviewers[2].millis = 1_800_000;
    outcome.failures = vec![Failure {
        agent: "codex".into(),
        role: Role::Reviewer,
        error: "timed out after 30m".to_owned(),
        hint: Some("raise the time limit: `glee config set agents.codex.timeout 1h`".to_owned()),
        cause: None,
        call: Some("review.codex.1.1".to_owned()),
    }];
    outcome
}

fn append(text: &mut Untrusted, more: &str) {
    *text = format!("{}{more}", text.as_written()).into();
}

fn hostile() -> Outcome {
    let evil = "\x1b[2J\x1b]52;c;eA==\x07\u{202e}\u{9b}31mx\r\n\u{200b}";
    let mut outcome = arbitrated();
    for finding in &mut outcome.findings {
        let raw = &mut finding.finding.raw;
        raw.severity.raw.push_str(evil);
        for text in [&mut raw.title, &mut raw.body] {
            append(text, evil);
        }
        raw.severity.tag = None;
        raw.file = raw.file.as_ref().map(|file| format!("{file}{evil}"));
        raw.suggestion = Some(evil.into());
        raw.rule = Some(evil.to_owned());
        raw.evidence = vec![evil.into()];
        finding.finding.raised_by = vec![AgentName(evil.to_owned())];
        if let Some(response) = &mut finding.response {
            append(&mut response.text, evil);
        }
    }
    for dispute in &mut outcome.disputes {
        append(&mut dispute.finding.raw.title, evil);
        append(&mut dispute.objection.text, evil);
        dispute.objection.evidence.push(evil.into());
        for record in &mut dispute.rulings {
            append(&mut record.ruling.rationale, evil);
            record.ruling.citations.push(evil.into());
            record.by = Ruler::Judge {
                name: AgentName(evil.to_owned()),
            };
        }
        dispute.disposition = Some(Disposition::Deferred {
            reference: evil.to_owned(),
        });
    }
    for change in &mut outcome.changes {
        change.file.push_str(evil);
        change.diff = Some(format!("@@ {evil}\n+{evil}\n"));
    }
    outcome.failures = failed().failures;
    outcome.failures[0].error.push_str(evil);
    outcome.failures[0].hint = Some(evil.to_owned());
    outcome.proof.reviewers[0].failure = Some(evil.to_owned());
    outcome.proof.skipped = vec![Skip {
        file: evil.to_owned(),
        reason: SkipReason::Deleted,
    }];
    outcome.proof.tree = evil.to_owned();
    outcome.proof.commit = Some(evil.to_owned());
    outcome.notices = vec![evil.to_owned()];
    outcome
}

#[test]
fn nothing_found_takes_two_lines_and_proves_it() {
    assert_eq!(
        short(&clean()),
        "✓ Clean: 2 files, 1,203 lines, reviewed by rules\n  0.3s · run 1a2b3c4d\n"
    );
}

#[test]
fn findings_in_three_languages() {
    insta::assert_snapshot!(short(&reviewed()));
}

#[test]
fn everything_in_full() {
    insta::assert_snapshot!(render(&reviewed(), &options(80, false, Detail::Full)));
}

#[test]
fn disputes_enforced_dismissed_and_open() {
    insta::assert_snapshot!(short(&arbitrated()));
}

#[test]
fn in_colour() {
    insta::assert_snapshot!(
        render(&arbitrated(), &options(80, true, Detail::Short)).replace('\x1b', "␛")
    );
}

#[test]
fn who_did_not_review_is_said() {
    insta::assert_snapshot!(short(&failed()));
}

#[test]
fn a_screen_of_twenty_columns() {
    let report = render(&reviewed(), &options(20, false, Detail::Short));
    insta::assert_snapshot!(report);
}

#[test]
fn nothing_of_others_reaches_the_terminal() {
    for detail in [Detail::Short, Detail::Full] {
        for color in [false, true] {
            let report = render(&hostile(), &options(80, color, detail));
            let plain = console::strip_ansi_codes(&report);
            assert_eq!(
                plain
                    .chars()
                    .find(|c| *c != '\n' && printable::is_unsafe(*c)),
                None,
                "{plain}"
            );
            // Colours add only sequences of the form `ESC [ digits m`.
            for code in report.split('\x1b').skip(1) {
                let rest =
                    code.trim_start_matches(|c: char| c == '[' || c == ';' || c.is_ascii_digit());
                assert!(rest.starts_with('m'), "{code:?}");
            }
        }
    }
    insta::assert_snapshot!(short(&hostile()));
}

/// Texts of words between `«` and `»`, which have up to 30 columns.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![8 => "«[a-z]{1,8}»", 1 => "«[a-z]{28}»", 1 => "«[日本語]{1,14}»"];
    let text = proptest::collection::vec(word, 1..25).prop_map(|words| words.join(" "));
    proptest::collection::vec(text, 12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_line_is_too_long_and_no_word_is_torn(width in 40_usize..=120, texts in texts(), is_full in any::<bool>()) {
        let mut texts = texts.into_iter().cycle();
        let mut next = || texts.next().unwrap_or_default();
        let mut outcome = arbitrated();
        for finding in &mut outcome.findings {
            let raw = &mut finding.finding.raw;
            (raw.title, raw.body, raw.suggestion) = (next().into(), next().into(), Some(next().into()));
            raw.evidence = vec![next().into()];
            finding.finding.consensus = Some(consensus(next()));
            if let Some(response) = &mut finding.response {
                response.text = next().into();
            }
        }
        for dispute in &mut outcome.disputes {
            dispute.finding.raw.title = next().into();
            dispute.objection.text = next().into();
            for record in &mut dispute.rulings {
                (record.ruling.rationale, record.ruling.coder_evidence) = (next().into(), Some(next().into()));
            }
        }
        outcome.proof.reviewers = failed().proof.reviewers;
        outcome.proof.reviewers[2].failure = Some(next());
        outcome.failures = failed().failures;
        (outcome.failures[0].error, outcome.failures[0].hint) = (next(), Some(next()));
        outcome.notices = vec![next()];
        let detail = if is_full { Detail::Full } else { Detail::Short };
        for detail in [detail, Detail::Verdict] {
            let report = render(&outcome, &options(width, false, detail));
            for line in report.lines() {
                // Paths, commands and code are never cut, because users copy them.
                let is_command = line.starts_with("  glee ") || line.starts_with("    @@");
                prop_assert!(crate::cli::style::columns(line) <= width || is_command, "{}\n{}", line, report);
                // A line for a finding cuts the title where the state begins.
                let is_cut = line.contains("[F") && line.contains('…');
                let is_whole = line.matches('«').count() == line.matches('»').count();
                prop_assert!(is_whole || is_cut, "{}\n{}", line, report);
            }
        }
    }
}

fn consensus(why: String) -> Corroboration {
    let position = |name: &str, sure| Position {
        denial: "".into(),
        reviewer: AgentName::from(name),
        said: String::new(),
        severity: Severity::known(Tag::High),
        confidence: Some(Confidence::clamped(sure)),
        denies: false,
        observed: false,
    };
    Corroboration {
        class: Class::Disputed,
        reviewers: 3,
        vendors: None,
        positions: vec![position("claude", 90), position("codex", 60)],
        confirmed_by: Vec::new(),
        assessments: Vec::new(),
        confidence: Some(Confidence::clamped(95)),
        formula: String::new(),
        score: None,
        why,
        would_decide: "a third reviewer".to_owned(),
        notes: Vec::new(),
        escalate: false,
        doubted: false,
        withdrawn: false,
    }
}

#[test]
fn several_reviewers_are_counted_in_words() {
    let mut outcome = reviewed();
    for (finding, class) in outcome.findings.iter_mut().zip([
        Class::Accepted,
        Class::Uncorroborated,
        Class::Disputed,
        Class::Rejected,
    ]) {
        let of = consensus("claude says HIGH, codex says no issue".to_owned());
        finding.finding.consensus = Some(Corroboration { class, ..of });
    }
    insta::assert_snapshot!(short(&outcome));
}

#[test]
fn quiet_is_the_open_findings_and_the_verdict() {
    let quiet = |outcome: &Outcome| render(outcome, &options(80, false, Detail::Verdict));
    insta::assert_snapshot!(
        [clean(), arbitrated(), failed()]
            .iter()
            .map(quiet)
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn narrow_and_wide() {
    let report = |width| render(&arbitrated(), &options(width, false, Detail::Short));
    insta::assert_snapshot!([50, 120].map(report).join("\n\n"));
}

#[test]
fn a_dispute_of_another_run_names_the_finding_of_this_one() {
    let mut outcome = reviewed();
    outcome.findings[1].state = FindingState::Disputed {
        dispute: DisputeNumber(2),
    };
    let there = finding(12, Tag::Must, "shop/open.js:1", "Do not evaluate a URL");
    let mut open = dispute(2, there, "The URL is a constant.", &[]);
    open.opened_by = Some(glee_model::domain::RunId("0198-9f8e7d6c".to_owned()));
    outcome.disputes = vec![open];
    let text = short(&outcome);
    assert!(
        text.contains("2 OPEN (waits for you) · MUST[F2] shop/open.js:1 · Do not evaluate a URL"),
        "{text}"
    );
    assert!(
        text.contains("opened by run 9f8e7d6c") && !text.contains("F12"),
        "{text}"
    );
}

fn any_state() -> impl Strategy<Value = FindingState> {
    let dispute = DisputeNumber(1);
    let ruled = |disposition| FindingState::AlreadyRuled {
        dispute: dispute.into(),
        disposition,
    };
    proptest::sample::select(vec![
        FindingState::Open,
        FindingState::Unanswered,
        FindingState::Claimed,
        FindingState::Unchecked,
        FindingState::Unconfirmed,
        FindingState::NotResolved,
        FindingState::Resolved,
        FindingState::Discarded,
        FindingState::Disputed { dispute },
        FindingState::Enforced { dispute },
        FindingState::Dismissed { dispute },
        ruled(Disposition::Enforced),
        ruled(Disposition::AcceptedRisk),
    ])
}

fn words_of(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_counts_of_all_formats_agree_and_add_up(
        members in proptest::collection::vec((any_state(), any::<bool>(), any::<bool>(), any::<bool>()), 1..40),
        width in 40_usize..=120,
    ) {
        let mut outcome = arbitrated();
        outcome.findings.clear();
        let mut head = 0;
        for (index, (state, is_mandatory, joins, insisted)) in members.into_iter().enumerate() {
            let number = u32::try_from(index + 1).unwrap();
            let mut member = finding(number, Tag::Must, "shop/open.js:1", "A defect");
            member.mandatory = is_mandatory;
            let position = u8::try_from(number - head).unwrap();
            if joins && head > 0 {
                member.id = FindingId::new(head).member(position);
            } else {
                head = number;
            }
            outcome.findings.push(settled(member, state, None));
            outcome.findings.last_mut().unwrap().insisted = insisted;
        }
        let groups = outcome.groups().count();
        let options = RenderOptions { whole: &outcome, ..options(width, false, Detail::Short) };
        let text = words_of(&render_as(Format::Text, &outcome, &options));
        let row = FindingCounts::of(&outcome).row();
        let (all, states) = row.split_once(": ").unwrap();
        let number = |part: &str| part.split(' ').next().unwrap().parse::<usize>().unwrap();
        prop_assert_eq!(number(all), groups);
        prop_assert_eq!(states.split(", ").map(number).sum::<usize>(), groups, "{}", row);
        prop_assert!(text.contains(&row), "{}\n{}", row, text);
        let markdown = render_as(Format::Markdown, &outcome, &options);
        prop_assert!(markdown.contains(&row), "{}\n{}", row, markdown);
        let html = render_as(Format::Html, &outcome, &options);
        prop_assert!(html.contains(states), "{}", row);
        let json: serde_json::Value = serde_json::from_str(&render_as(Format::Json, &outcome, &options)).unwrap();
        let ids = json["findings"].as_array().unwrap().iter();
        let heads: BTreeSet<String> = ids
            .map(|id| id["id"].as_str().unwrap().trim_end_matches(char::is_alphabetic).to_owned())
            .collect();
        prop_assert_eq!(heads.len(), groups);
        // Nothing that is open is without a line or its full text.
        for open in outcome.groups().filter(|group| SettledFinding::leading(group).is_open()) {
            let tag = crate::cli::style::tag(&SettledFinding::leading(open).finding);
            prop_assert!(text.contains(&tag), "{}\n{}", tag, text);
        }
    }
}

#[test]
fn a_screen_holds_the_verdict_and_all_that_is_open() {
    for outcome in [reviewed(), arbitrated(), failed()] {
        let text = short(&outcome);
        let screen: Vec<&str> = text.lines().take(24).collect();
        let screen = screen.join("\n");
        let (_, verdict) = summary::conclusion(&outcome);
        assert!(screen.contains(&verdict), "{text}");
        for open in outcome.findings.iter().filter(|finding| finding.is_open()) {
            let tag = crate::cli::style::tag(&open.finding);
            assert!(screen.contains(&tag), "{tag}: {text}");
        }
    }
}
