//! What the embedded agents print: the JSON answers of design sections 3.3 to 3.5, with the nonce they were asked under.

use serde::Serialize;

use crate::domain::{Answer as Word, FindingId, Grounds, RulingWord, Tag};

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Answer {
    nonce: String,
    #[serde(flatten)]
    body: Body,
}

impl Answer {
    pub(super) fn new(nonce: &str, body: Body) -> Self {
        Self { nonce: nonce.to_owned(), body }
    }
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum Body {
    Review {
        findings: Vec<Finding>,
    },
    Recheck {
        checks: Vec<Check>,
    },
    Response {
        answers: Vec<Response>,
        #[serde(skip_serializing_if = "Option::is_none")]
        notes: Option<String>,
    },
    Ruling {
        dispute: u64,
        ruling: RulingWord,
        rationale: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        grounds: Option<Grounds>,
        citations: Vec<String>,
    },
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) severity: Tag,
    pub(super) file: String,
    pub(super) line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_line: Option<u32>,
    pub(super) title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) suggestion: Option<String>,
    pub(super) category: String,
    pub(super) rule: String,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    pub(super) finding: FindingId,
    pub(super) resolved: bool,
    pub(super) reason: String,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Response {
    pub(super) finding: FindingId,
    pub(super) answer: Word,
    pub(super) text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) evidence: Vec<String>,
}
