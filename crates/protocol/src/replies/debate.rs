//! Parses answers in a debate. For each finding, an answer contains a word, an adjustment of the confidence, and a
//! reason.
//!
//! In an answer in prose, the adjustment of the confidence is a number before or after the colon. A missing
//! number counts as 0. A JSON answer contains the `nonce` and a list, which is called `responses` in round 2 and
//! `defenses` in round 3.

use std::io::{self, BufRead};

use crate::merge_input::{self, MergeInput};
use crate::replies::by_finding::{self, AnswerWord, FindingAnswer};
use crate::replies::reply::Walk;
use crate::replies::review::reader;
use crate::text::json::{LenientValue, ScanState};
use crate::text::nonce::is_nonce;
use glee_model::domain::{
    DefenceWord, Defended, ExaminationWord, Examined, Finding, FindingId, RawFinding, Severity,
    Tag, Untrusted,
};
use glee_model::rules::review::mandatory;

pub use crate::replies::by_finding::{AnswersByFinding, Names};

const NEW: &str = "[NEW ";

const REVISED: &str = "Revised:";

/// Maps names of the form `path:line:title` to findings. A name that belongs to several findings is omitted.
pub fn names<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Names {
    let mut names = Names::new();
    let mut twice = Vec::new();
    for finding in findings {
        let name = by_finding::name(&finding.raw.name());
        if names.insert(name.clone(), finding.id).is_some() {
            twice.push(name);
        }
    }
    for name in twice {
        names.remove(&name);
    }
    names
}

/// Reads the examinations of the findings in `asked` by a reviewer. Also reads the new findings that the reviewer
/// raised in round 2.
pub fn examine(
    mut input: impl BufRead,
    nonce: Option<&str>,
    asked: &[FindingId],
    names: &Names,
) -> io::Result<(AnswersByFinding<Examined>, Vec<RawFinding>)> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let read = by_finding::read(bytes.as_slice(), nonce, Some(asked), names)?.map(examined);
    let is_answer = read.complete && !read.entries.is_empty();
    let observations = if is_answer {
        observations(&bytes, nonce)?
    } else {
        Vec::new()
    };
    Ok((read, observations))
}

/// The words of an examination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Examining {
    Verdict(ExaminationWord),
    /// `SAME F12`: the finding names the same defect as the reviewer's own finding F12.
    Same,
}

fn examined(mut entry: FindingAnswer<Examining>) -> Examined {
    let end = entry
        .text
        .find(&format!("\n{NEW}"))
        .unwrap_or(entry.text.len());
    entry.text.truncate(end);
    let mut same_as = None;
    let action = match entry.word {
        Examining::Verdict(word) => word,
        Examining::Same => {
            let (named, rest) = named_first(&entry.text);
            same_as = named.or_else(|| FindingId::parse(entry.more.same_as.as_deref()?));
            entry.text = rest.to_owned();
            ExaminationWord::Agree
        }
    };
    let (confidence_adjustment, _, reasoning) = adjusted(&entry);
    Examined {
        finding: entry.finding,
        action,
        confidence_adjustment,
        reasoning: reasoning.into(),
        same_as,
    }
}

/// Splits the id of a finding from the begin of a text, as in `F12: both read the file`.
fn named_first(text: &str) -> (Option<FindingId>, &str) {
    let Some((first, rest)) = first_word(text) else {
        return (None, text);
    };
    let word = first
        .trim_start_matches('[')
        .trim_end_matches([':', ']', ',']);
    match FindingId::parse(word) {
        Some(id) => (Some(id), rest),
        None => (None, text),
    }
}

/// Reads a reviewer's defences of the findings in `asked`.
pub fn defend(
    input: impl BufRead,
    nonce: Option<&str>,
    asked: &[FindingId],
    names: &Names,
) -> io::Result<AnswersByFinding<Defended>> {
    let read = by_finding::read(input, nonce, Some(asked), names)?;
    Ok(read.map(|entry| {
        let (confidence_adjustment, tag, reasoning) = adjusted(&entry);
        let (reasoning, revised) = match reasoning.split_once(REVISED) {
            Some((reasoning, revised)) => {
                (reasoning.trim().to_owned(), Some(revised.trim().to_owned()))
            }
            None => (reasoning, None),
        };
        let FindingAnswer {
            finding,
            word: action,
            more,
            ..
        } = entry;
        let revised = more.description.or(revised).filter(|text| !text.is_empty());
        Defended {
            finding,
            action,
            confidence_adjustment,
            reasoning: reasoning.into(),
            revised_severity: more.severity.or(tag).map(severity),
            revised_description: revised.map(Untrusted::from),
        }
    }))
}

fn severity(word: String) -> Severity {
    Severity {
        tag: mandatory::normalise(&word),
        raw: word,
    }
}

fn adjusted<W: AnswerWord>(entry: &FindingAnswer<W>) -> (i32, Option<String>, String) {
    let given = entry.more.adjustment.as_deref().and_then(number);
    let mut rest = entry.text.trim();
    let mut written = None;
    let mut tag = None;
    while let Some((first, behind)) = first_word(rest) {
        let plain = first.trim_end_matches(':');
        if written.is_none() && number(plain).is_some() {
            written = number(plain);
        } else if tag.is_none() && Tag::parse(plain).is_some() && plain == plain.to_uppercase() {
            tag = Some(plain.to_owned());
        } else {
            break;
        }
        rest = behind;
        if first.ends_with(':') {
            break;
        }
    }
    let reasoning = rest
        .trim_start_matches([':', '-', '–', ' '])
        .trim()
        .to_owned();
    (given.or(written).unwrap_or(0), tag, reasoning)
}

fn first_word(text: &str) -> Option<(&str, &str)> {
    let text = text
        .trim_start()
        .trim_start_matches([':', '('])
        .trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (end > 0).then(|| (text[..end].trim_end_matches(')'), &text[end..]))
}

fn number(text: &str) -> Option<i32> {
    let plain = text.trim().trim_end_matches('%').replace('−', "-");
    let number: f64 = plain.trim_start_matches('+').parse().ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a cast from a float saturates"
    )]
    Some(number.round() as i32)
}

/// Reads the new findings of round 2. In prose, a new finding is a line that begins with `[NEW TAG]`, together with
/// the indented lines below. In JSON, a new finding is an item of `new_observations` in an object with the nonce.
fn observations(answer: &[u8], nonce: Option<&str>) -> io::Result<Vec<RawFinding>> {
    let mut walk = Walk::new(answer, nonce);
    let mut prose = String::new();
    let mut inside = false;
    let mut in_json = Vec::new();
    while let Some(step) = walk.next(0)? {
        if let ScanState::Found(object) = &step.json {
            in_json.extend(observed_in(&object.text, nonce));
        }
        let begun = step.text.strip_prefix(NEW).filter(|_| step.is_prose());
        if let Some(rest) = begun {
            prose.push('[');
            prose.push_str(rest);
            inside = true;
        } else if inside && step.text.starts_with([' ', '\t']) {
            prose.push_str(step.text);
        } else {
            inside = false;
            continue;
        }
        prose.push('\n');
    }
    if let Some(object) = walk.end() {
        in_json.extend(observed_in(&object.text, nonce));
    }
    let mut observed = reader::parse(prose.as_bytes(), None)?.findings;
    observed.extend(in_json);
    Ok(observed)
}

fn observed_in(text: &str, nonce: Option<&str>) -> impl Iterator<Item = RawFinding> {
    let object: LenientValue = serde_json::from_str(text).unwrap_or_default();
    let is_own = object
        .get(&["nonce"])
        .string()
        .is_some_and(|given| is_nonce(nonce, &given));
    let read = if is_own {
        merge_input::read(text).unwrap_or_default()
    } else {
        MergeInput::default()
    };
    read.members
        .into_iter()
        .filter(|member| member.observed)
        .map(|member| member.raw)
}

impl AnswerWord for Examining {
    type Id = FindingId;

    const WORDS: &'static [(&'static str, Self)] = &[
        ("AGREE", Self::Verdict(ExaminationWord::Agree)),
        ("DISAGREE", Self::Verdict(ExaminationWord::Disagree)),
        ("PARTIALLY AGREE", Self::Verdict(ExaminationWord::Partial)),
        ("PARTIAL", Self::Verdict(ExaminationWord::Partial)),
        ("SAME", Self::Same),
    ];
    const CLOSING: &'static str = "GLEE-EXAMINE-END";
    const LIST: &'static str = "responses";

    fn keeps_open(self) -> bool {
        matches!(self, Self::Verdict(ExaminationWord::Agree) | Self::Same)
    }
}

impl AnswerWord for DefenceWord {
    type Id = FindingId;

    const WORDS: &'static [(&'static str, Self)] = &[
        ("DEFEND", Self::Defend),
        ("CONCEDE", Self::Concede),
        ("MODIFY", Self::Modify),
    ];
    const CLOSING: &'static str = "GLEE-DEFEND-END";
    const LIST: &'static str = "defenses";

    fn keeps_open(self) -> bool {
        self == Self::Defend
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const ASKED: [FindingId; 3] = [FindingId::new(1), FindingId::new(2), FindingId::new(3)];

    #[test]
    fn words_numbers_and_new_observations() {
        let text = "[F1] AGREE +10: `eval` runs it\n[F2] DISAGREE -20: line 4 checks it\n[F3] PARTIAL: the length only\n\
                    [NEW HIGH] app.py:9 The file is never closed\n  on any path\n\
                    GLEE-EXAMINE-END nonce=n answers=3\n";
        let (read, observations) =
            examine(text.as_bytes(), Some("n"), &ASKED, &Names::new()).unwrap();
        let rows: Vec<_> = read
            .entries
            .iter()
            .map(|said| {
                (
                    said.finding.number,
                    said.action.as_str(),
                    said.confidence_adjustment,
                    said.reasoning.as_written(),
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                (1, "agree", 10, "`eval` runs it"),
                (2, "disagree", -20, "line 4 checks it"),
                (3, "partial", 0, "the length only"),
            ]
        );
        assert_eq!(read.problems, Vec::<String>::new());
        let new = &observations[0];
        assert_eq!(
            (new.title.as_written(), new.line, new.body.as_written()),
            ("The file is never closed", Some(9), "on any path")
        );
    }

    #[test]
    fn a_reviewer_says_that_a_finding_is_its_own_in_other_words() {
        let text = "[F1] SAME F12: both read `eval`\n[F2] SAME [F13b] +5: line 4\n[F3] SAME: as mine\n\
                    GLEE-EXAMINE-END nonce=n answers=3\n";
        let json = r#"{"nonce": "n", "responses": [
            {"finding_id": "F1", "action": "same", "same_as": "F12", "reasoning": "both read `eval`"},
            {"finding_id": "F2", "action": "same", "same_as": "F13b", "confidence_adjustment": 5, "reasoning": "line 4"},
            {"finding_id": "F3", "action": "same", "reasoning": "as mine"}]}"#;
        for answer in [text, json] {
            let (read, _) = examine(answer.as_bytes(), Some("n"), &ASKED, &Names::new()).unwrap();
            assert_eq!(read.problems, Vec::<String>::new());
            let rows: Vec<_> = read
                .entries
                .iter()
                .map(|said| {
                    assert_eq!(said.action, ExaminationWord::Agree);
                    let same_as = said.same_as.map(|id| id.to_string());
                    let reasoning = said.reasoning.as_written().to_owned();
                    (same_as, said.confidence_adjustment, reasoning)
                })
                .collect();
            let row = |id: Option<&str>, number, reasoning: &str| {
                (id.map(str::to_owned), number, reasoning.to_owned())
            };
            assert_eq!(
                rows,
                [
                    row(Some("F12"), 0, "both read `eval`"),
                    row(Some("F13b"), 5, "line 4"),
                    row(None, 0, "as mine"),
                ]
            );
        }
    }

    #[test]
    fn the_form_of_the_specification() {
        let text = r#"{"nonce": "n", "responses": [
            {"finding_id": "F1", "action": "partial", "confidence_adjustment": 5, "reasoning": "r",
             "new_observations": [{"severity": "low", "file": "a.py", "line": 3, "title": "Unused"}]}]}"#;
        let (read, observations) =
            examine(text.as_bytes(), Some("n"), &ASKED[..1], &Names::new()).unwrap();
        assert_eq!(read.entries[0].confidence_adjustment, 5);
        assert_eq!(observations[0].title, "Unused");
        assert_eq!(read.problems, Vec::<String>::new());
    }

    #[test]
    fn spec_23_findings_are_known_by_the_names_of_the_specification() {
        let names = Names::from([("src/a.rs:3:the lock leaks".to_owned(), FindingId::new(1))]);
        let text = |named: &str| {
            format!(
                r#"{{"nonce": "n", "responses": [{{"finding_id": "{named}", "action": "agree", "reasoning": "r"}}]}}"#
            )
        };
        let read = |named: &str| {
            examine(text(named).as_bytes(), Some("n"), &ASKED[..1], &names)
                .unwrap()
                .0
        };
        let known = read("src/a.rs:3:The  lock leaks");
        assert_eq!(
            (known.complete, known.entries[0].finding),
            (true, FindingId::new(1))
        );
        assert!(
            read("src/a.rs:4:The lock leaks").entries.is_empty(),
            "another place is another finding"
        );
    }

    #[test]
    fn defences() {
        let text = "[F1] DEFEND: line 2 calls `md5`\n[F2] CONCEDE: right\n[F3] MODIFY -10 LOW: only in tests\n\
                    Revised: Slow in tests\nGLEE-DEFEND-END nonce=n answers=3\n";
        let read = defend(text.as_bytes(), Some("n"), &ASKED, &Names::new()).unwrap();
        assert_eq!(read.problems, Vec::<String>::new());
        let modified = &read.entries[2];
        assert_eq!(modified.confidence_adjustment, -10);
        assert_eq!(modified.revised_severity, Some(Severity::known(Tag::Low)));
        assert_eq!(modified.revised_description, Some("Slow in tests".into()));
        assert_eq!(modified.reasoning, "only in tests");
        assert_eq!(read.entries[0].reasoning, "line 2 calls `md5`");
    }

    #[test]
    fn what_is_no_answer_says_what_is_wrong() {
        let (read, _) = examine(
            "I agree with everything.".as_bytes(),
            Some("n"),
            &ASKED,
            &Names::new(),
        )
        .unwrap();
        assert!(read.entries.is_empty());
        assert!(
            read.problems
                .iter()
                .any(|problem| problem.contains("GLEE-EXAMINE-END")),
            "{:?}",
            read.problems
        );
    }
}
