//! Tests that the page is well-formed for all texts, that the page shows all data, and that the size of the page
//! is limited.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod run;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cli::report::html::{page as content, render};
use crate::cli::report::options::{Detail, FixCommand, RenderOptions, TextOptions};
use crate::cli::style::Style;
use crate::cli::style::fixture::{
    call, clean, dispute, event, finding, finished, response, reviewer, ruling, settled, started,
};
use glee_model::domain::event::{CallAnswer, DisputeEvent, Event, Purpose, RunEvent};
use glee_model::domain::{
    Answer, AnswerProblem, AnswerStatus, Assessment, CitedChange, Class, Corroboration,
    DefenceWord, Defended, Disposition, DisputeNumber, EarlierDispute, ExaminationWord, Examined,
    ExitReason, Failure, FileChange, FindingId, FindingState, Ground, Location, Lowered,
    NoLongerRaised, Outcome, PanelVote, Position, Recheck, Relation, Reused, ReusedFrom, Role,
    Ruler, RulingWord, RunId, Severity, Skip, SkipReason, Tag, UnreadFile,
};
use glee_protocol::text::printable;
use run::{conversation, full};

/// A text that adds elements or attributes to the page, wherever the page does not escape the text.
const HOSTILE: &str = "</code></pre></title></style></script><script>hit()</script><img src=x onerror=hit()>\
    \"'><svg onload=hit()> javascript:hit() {{ 7*7 }} {% raw %} &lt; `a` \u{202e}\u{1b}[2J";

fn page(
    outcome: &Outcome,
    events: &[Event],
    source: &dyn Fn(&str, u32) -> Option<String>,
) -> String {
    let style = Style {
        color: false,
        unicode: true,
        width: 80,
    };
    let fix = FixCommand {
        command: Some("glee review --fix".to_owned()),
        has_coder: false,
    };
    let options = RenderOptions {
        style,
        detail: Detail::Full,
        source,
        events,
        fix: &fix,
        only: &[],
        whole: outcome,
        text: TextOptions::default(),
    };
    render(content::page(outcome, &options))
}

/// Replaces every text of a value by hostile text, except texts that must be one of several known words.
fn poisoned<T: Serialize + DeserializeOwned>(value: &T, number: &mut usize) -> T {
    fn places(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::String(_) => found.push(at.to_owned()),
            Value::Array(items) => (0..)
                .zip(items)
                .for_each(|(i, item)| places(item, &format!("{at}/{i}"), found)),
            Value::Object(fields) => {
                fields.iter().for_each(|(name, field)| {
                    places(
                        field,
                        &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")),
                        found,
                    );
                });
            }
            _ => {}
        }
    }
    let mut json = serde_json::to_value(value).unwrap();
    let mut found = Vec::new();
    places(&json, "", &mut found);
    for place in found {
        let text = json.pointer_mut(&place).unwrap();
        let before = text.take();
        *text = Value::String(format!("{HOSTILE} {number}"));
        if serde_json::from_value::<T>(json.clone()).is_ok() {
            *number += 1;
        } else {
            *json.pointer_mut(&place).unwrap() = before;
        }
    }
    serde_json::from_value(json).unwrap()
}

/// Parses HTML more strictly than a browser: elements are nested, attributes are quoted, and every other `<`,
/// `>` and `&` is escaped. Fails if two elements have the same id, or if a link has no target in the page.
/// Returns the elements with their attributes.
fn elements(html: &str) -> BTreeSet<String> {
    const EMPTY: [&str; 4] = ["meta", "link", "input", "br"];
    let mut found = BTreeSet::new();
    let mut open = Vec::new();
    let mut ids = BTreeSet::new();
    let mut links = BTreeSet::new();
    let mut rest = html
        .strip_prefix("<!doctype html>")
        .expect("a document type");
    loop {
        let text = &rest[..rest.find('<').unwrap_or(rest.len())];
        assert!(!text.contains('>'), "a bare `>` in {text:?}");
        for (at, _) in text.match_indices('&') {
            let end = text[at..].find(';').map_or(text.len(), |end| at + end + 1);
            let entity = &text[at..end];
            assert!(
                ["&amp;", "&lt;", "&gt;", "&quot;", "&#x27;", "&#x2f;"].contains(&entity),
                "{entity:?}"
            );
        }
        rest = &rest[text.len()..];
        if rest.is_empty() {
            break;
        }
        let end = rest.find('>').expect("a closed tag");
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(
                open.pop().as_deref(),
                Some(name),
                "before {:?}",
                &rest[..rest.len().min(80)]
            );
            continue;
        }
        let (tag, is_closed) = tag
            .strip_suffix('/')
            .map_or((tag, false), |tag| (tag, true));
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(
            name.chars().all(|c| c.is_ascii_alphanumeric()) && !name.is_empty(),
            "{tag:?}"
        );
        found.insert(name.to_owned());
        while !attributes.is_empty() {
            let (attribute, after) = attributes
                .split_once("=\"")
                .map_or((attributes, ""), |(before, after)| (before, after));
            let (flags, attribute) = attribute.rsplit_once(' ').unwrap_or(("", attribute));
            for flag in flags.split(' ').filter(|flag| !flag.is_empty()) {
                found.insert(format!("{name} {flag}"));
            }
            found.insert(format!("{name} {attribute}"));
            let (value, after) = if after.is_empty() {
                ("", "")
            } else {
                after.split_once('"').expect("a quote")
            };
            match attribute {
                "id" => assert!(
                    ids.insert(value.to_owned()),
                    "two elements with the id {value}"
                ),
                "href" => {
                    links.insert(
                        value
                            .strip_prefix('#')
                            .expect("a link within the page")
                            .to_owned(),
                    );
                }
                _ => {}
            }
            attributes = after.trim_start();
        }
        if matches!(name, "script" | "style") {
            rest = &rest[rest
                .find(&format!("</{name}>"))
                .expect("the end of the script")..];
        }
        if !is_closed && !EMPTY.contains(&name) {
            open.push(name.to_owned());
        }
    }
    assert_eq!(open, Vec::<String>::new(), "elements are closed");
    assert_eq!(
        links.difference(&ids).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "links lead somewhere"
    );
    found
}

/// Writes the page to the folder in `GLEE_PAGES`. A test in a browser opens the page.
fn keep(name: &str, html: &str) {
    if let Some(folder) = std::env::var_os("GLEE_PAGES") {
        std::fs::write(std::path::Path::new(&folder).join(name), html).unwrap();
    }
}

#[test]
fn no_text_becomes_markup() {
    let source = |_: &str, _: u32| Some(format!("{HOSTILE}\n").repeat(9));
    let plain = page(&full(), &conversation(), &|_, _| {
        Some("let a = 1;\n".repeat(9))
    });
    let mut number = 0;
    let outcome = poisoned(&full(), &mut number);
    let events: Vec<Event> = conversation()
        .iter()
        .map(|event| poisoned(event, &mut number))
        .collect();
    assert!(number > 400, "only {number} texts were replaced");
    let hostile = page(&outcome, &events, &source);
    keep("hostile.html", &hostile);
    assert_eq!(elements(&hostile), elements(&plain));
    for page in [&plain, &hostile] {
        assert_eq!(page.matches("<script").count(), 1);
        assert!(
            !page
                .chars()
                .any(|c| c != '\n' && c != '\t' && printable::is_unsafe(c))
        );
    }
    assert!(
        hostile.contains("{{ 7*7 }} {% raw %}"),
        "templates inside texts are not rendered"
    );
    // Renders the page without events.
    elements(&page(&outcome, &[], &|_, _| None));
}

#[test]
fn the_policy_allows_nothing_but_the_style_and_the_script_of_the_page() {
    let html = page(&full(), &[], &|_, _| None);
    let policy = html
        .split("Content-Security-Policy\" content=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let nonce = policy
        .split("nonce-")
        .nth(1)
        .unwrap()
        .split("&#x27;")
        .next()
        .unwrap();
    assert_eq!(nonce.len(), 32);
    assert_eq!(
        policy.replace("&#x27;", "'").replace(nonce, "N"),
        "default-src 'none'; style-src 'nonce-N'; script-src 'nonce-N'; base-uri 'none'; form-action 'none'"
    );
    let mut other = full();
    other.notices.push(format!("<script nonce={nonce}>"));
    assert!(
        !page(&other, &[], &|_, _| None).contains(&format!("'nonce-{nonce}'")),
        "the nonce depends on all texts"
    );
    assert!(!html.contains(" style=") && !html.contains("http:") && !html.contains("https:"));
}

#[test]
fn a_page_of_many_findings_and_much_code_is_bounded() {
    let mut outcome = clean();
    for id in 1..=400 {
        let mut raised = finding(
            id,
            Tag::Low,
            &format!("src/{}.txt:{}", id % 4, 3 * id),
            "title",
        );
        raised.raw.end_line = Some(3 * id + 900);
        outcome
            .findings
            .push(settled(raised, FindingState::Open, None));
    }
    let diff = "@@ -1 +1 @@\n".to_owned() + &"+line\n".repeat(20_000);
    outcome.changes = vec![FileChange {
        file: "a".to_owned(),
        added: 20_000,
        removed: 0,
        diff: Some(diff),
    }];
    let html = page(&outcome, &[], &|_, _| {
        Some((["x"; 2_000].join(" ") + "\n").repeat(3_000))
    });
    assert!(html.len() < 3 << 20, "{} bytes", html.len());
    assert!(html.contains("The whole diff: glee runs diff"));
    assert_eq!(html.matches("class=\"card").count(), 400);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_finding_dispute_ruling_failure_and_skipped_file_is_shown(
        texts in prop::collection::vec(r"[^`\s]{1,24}", 1..30),
        states in prop::collection::vec(0_usize..13, 30),
    ) {
        let all = full();
        let mut outcome = clean();
        let mut expected = String::new();
        for (id, (text, state)) in (1..).zip(texts.iter().zip(states)) {
            let unique = |what: &str| format!("{what}{id}:{text}");
            let place = if id % 3 == 0 { String::new() } else { format!("src/{}.py:{id}", id % 5) };
            let raised = finding(id, Tag::ALL[id as usize % 6], &place, &unique("title"));
            let mut disputed = dispute(u64::from(id), raised.clone(), &unique("objection"), &[&unique("evidence")]);
            disputed.rulings = vec![ruling(RulingWord::Escalate, &unique("one")), ruling(RulingWord::Enforce, &unique("two"))];
            outcome.findings.push(settled(raised, all.findings[state].state.clone(), None));
            outcome.disputes.push(disputed);
            outcome.failures.push(Failure { error: unique("error"), hint: Some(unique("hint")), ..all.failures[0].clone() });
            outcome.proof.skipped.push(Skip { file: unique("file"), reason: SkipReason::Oversized });
            outcome.proof.unread.push(UnreadFile { file: unique("unread"), language: unique("language") });
            outcome.notices.push(unique("notice"));
            for what in ["title", "objection", "evidence", "one", "two", "error", "hint", "file", "unread", "language", "notice"] {
                let _ = writeln!(expected, "{}", printable::line(&unique(what)));
            }
        }
        let html = page(&outcome, &[], &|_, _| None);
        elements(&html);
        for text in expected.lines() {
            let escaped = minijinja::HtmlEscape(text).to_string();
            prop_assert!(html.contains(&escaped), "{escaped}");
        }
    }
}

#[test]
fn a_small_cost_is_not_zero() {
    let mut outcome = clean();
    outcome.proof.usage.usd = Some(0.004);
    outcome.proof.caps.usd = Some(1.0);
    let page = page(&outcome, &[], &|_, _| None);
    assert!(
        page.contains("&lt;$0.01") && page.contains("&lt;$0.01 of $1.00"),
        "{page}"
    );
    assert!(!page.contains("$0.00"), "{page}");
}
