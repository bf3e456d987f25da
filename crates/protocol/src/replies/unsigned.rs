//! Property tests for the rule that an answer without the nonce of its call never counts.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;

use super::{debate, recheck, response, ruling};
use crate::calls::questions::QuestionsCall;
use crate::calls::stage::StageCall;
use crate::replies::peer_review;
use crate::replies::review::reader;
use crate::request::{StageSubject, Task};
use glee_model::domain::{DisputeNumber, FindingId, Question, ReviewRequest};

const NONCE: &str = "5e1f0c3a9b7d42e68a1c0f2b4d6e8091";

const FOREIGN: &str = "d00dfeed9b7d42e68a1c0f2b4d6e8091";

fn counts(form: usize, answer: &[u8]) -> bool {
    let asked = &[FindingId::new(1), FindingId::new(2)][..];
    let nonce = Some(NONCE);
    match form {
        0 | 1 => reader::parse(answer, nonce).unwrap().status.is_complete(),
        2 | 3 => recheck::parse(answer, nonce, Some(asked)).unwrap().complete,
        4 | 5 => {
            response::parse(answer, nonce, Some(asked))
                .unwrap()
                .complete
        }
        6 | 7 => {
            debate::examine(answer, nonce, asked, &debate::Names::new())
                .unwrap()
                .0
                .complete
        }
        8 | 9 => {
            debate::defend(answer, nonce, asked, &debate::Names::new())
                .unwrap()
                .complete
        }
        10 | 11 => ruling::parse(answer, nonce, DisputeNumber(1))
            .unwrap()
            .is_ok(),
        12 | 13 => is_valid(&stage_task(), answer),
        14 => is_valid(&questions(), answer),
        _ => peer_review::parse(answer, nonce, &request(), jiff::Timestamp::UNIX_EPOCH)
            .unwrap()
            .is_ok(),
    }
}

fn is_valid(task: &Task, answer: &[u8]) -> bool {
    !task.read(answer, NONCE).unwrap().is_missing()
}

fn stage_task() -> Task {
    let about = StageSubject {
        id: "S1".to_owned(),
        stage: "plan".to_owned(),
        instructions: String::new(),
        prompt: String::new(),
        required_fields: Vec::new(),
    };
    Task::Stage(StageCall {
        about,
        input: None,
        resolved: None,
    })
}

fn questions() -> Task {
    let question = Question {
        id: "q".to_owned(),
        question: "which?".into(),
        options: Vec::new(),
    };
    Task::Questions(QuestionsCall {
        id: "S1".to_owned(),
        checkpoint: "c".to_owned(),
        questions: vec![question],
    })
}

fn request() -> ReviewRequest {
    ReviewRequest {
        form: ReviewRequest::FORM.to_owned(),
        reviewer: "rev".into(),
        targets: Vec::new(),
        context: Default::default(),
        focus_areas: Vec::new(),
        max_words: 200,
        open_concerns: Vec::new(),
    }
}

const ANSWERS: [&str; 16] = [
    "[MUST] app.py:2 Replace the weak hash\nGLEE-REVIEW-END nonce=NONCE findings=1\n",
    r#"{"nonce":"NONCE","findings":[{"severity":"low","title":"a"}]}"#,
    "[F1] RESOLVED: gone\n[F2] RESOLVED: gone\nGLEE-RECHECK-END nonce=NONCE answers=2\n",
    r#"{"nonce":"NONCE","checks":[{"finding":"F1","resolved":true},{"finding":"F2","resolved":true}]}"#,
    "[F1] IMPLEMENTED: a\n[F2] DISAGREE: b\nGLEE-RESPONSE-END nonce=NONCE answers=2\n",
    r#"{"nonce":"NONCE","answers":[{"finding":"F1","answer":"DISCARDED"}]}"#,
    "[F1] AGREE +5: a\n[F2] DISAGREE -5: b\nGLEE-EXAMINE-END nonce=NONCE answers=2\n",
    r#"{"nonce":"NONCE","responses":[{"finding_id":"F1","action":"disagree"}]}"#,
    "[F1] CONCEDE: a\n[F2] DEFEND: b\nGLEE-DEFEND-END nonce=NONCE answers=2\n",
    r#"{"nonce":"NONCE","defenses":[{"finding_id":"F1","action":"concede"}]}"#,
    "See app.py:2.\nGLEE-RULING nonce=NONCE dispute=1 ruling=DISMISS\n",
    r#"{"nonce":"NONCE","dispute":1,"ruling":"DISMISS","rationale":"r","citations":["app.py:2"]}"#,
    "A table.\nGLEE-STAGE-END nonce=NONCE answers=1\n",
    r#"{"nonce":"NONCE","steps":["a"]}"#,
    r#"{"nonce":"NONCE","answers":[{"id":"q","answer":"a","reason":"b"}]}"#,
    r#"{"nonce":"NONCE","type":"review_result","reviewer":"rev","payload":{"verdict":"approved","summary":"s","issues":[]}}"#,
];

/// A random edit of an answer: the position of the edit, the number of removed bytes, and the inserted bytes.
type Change = (prop::sample::Index, usize, Vec<u8>);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..6),
        prop::sample::select(vec![
            "\n",
            "```\n",
            "> ",
            "nonce=",
            "nonce",
            "{",
            "}",
            "\"",
            "[F1] RESOLVED: x\n",
            "\r\n",
            "\0",
            "\u{1b}["
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), 0..12usize, bytes), 0..8)
}

fn changed(answer: &str, changes: Vec<Change>) -> Vec<u8> {
    let mut bytes = answer.as_bytes().to_vec();
    for (at, taken, put) in changes {
        let start = at.index(bytes.len() + 1);
        let end = (start + taken).min(bytes.len());
        bytes.splice(start..end, put);
    }
    bytes
}

#[test]
fn each_answer_counts_with_its_nonce() {
    for (form, answer) in ANSWERS.iter().enumerate() {
        assert!(
            counts(form, answer.replace("NONCE", NONCE).as_bytes()),
            "{answer}"
        );
        assert!(
            !counts(form, answer.replace("NONCE", FOREIGN).as_bytes()),
            "{answer}"
        );
        assert!(
            !counts(form, answer.replace("NONCE", "").as_bytes()),
            "{answer}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// `NONCE` and `FOREIGN` differ in eight digits, so it is practically impossible that random changes convert
    /// `FOREIGN` into `NONCE`.
    #[test]
    fn no_answer_counts_with_a_foreign_nonce(
        form in 0..ANSWERS.len(),
        other in 0..ANSWERS.len(),
        changes in changes(),
        before in "\\PC{0,40}",
        behind in "\\PC{0,40}",
    ) {
        let text = format!("{before}\n{}\n{behind}\n{}", ANSWERS[form], ANSWERS[other]).replace("NONCE", FOREIGN);
        let answer = changed(&text, changes);
        prop_assert!(!counts(form, &answer), "{}", answer.escape_ascii());
    }

    #[test]
    fn no_answer_counts_that_is_cut(form in 0..ANSWERS.len(), at in any::<prop::sample::Index>()) {
        let answer = ANSWERS[form].replace("NONCE", NONCE);
        let whole = answer.trim_end().len();
        let cut = &answer.as_bytes()[..at.index(whole)];
        prop_assert!(!counts(form, cut), "{}", cut.escape_ascii());
    }
}
