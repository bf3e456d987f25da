//! Tests of complete text reports.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod outcomes;

use super::*;
use crate::cli::report::options::{Detail, FixCommand, TextOptions};
use crate::cli::report::view::FindingCounts;
use crate::cli::report::{Format, render as render_as};
use crate::cli::style::fixture::everything::{everything, states};
use crate::cli::style::fixture::{clean, dispute, finding, settled};
use glee_model::domain::{
    Class, Corroboration, DisputeNumber, FindingState, Lowered, Severity, Tag,
};
use glee_protocol::text::printable;
use outcomes::{arbitrated, consensus, failed, reviewed};
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
            let report = render(&everything(), &options(80, color, detail));
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

fn words_of(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_counts_of_all_formats_agree_and_add_up(
        members in proptest::collection::vec((proptest::sample::select(states()), any::<bool>(), any::<bool>(), any::<bool>()), 1..40),
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
