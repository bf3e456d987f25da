//! What the embedded agents print: the JSON answers of design sections 3.3 to 3.5, with the nonce they were asked under.

use serde::Serialize;

use crate::domain::{Answer as Word, DisputeNumber, FindingId, Recheck, Ruling, Tag};

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Answer<'a> {
    pub(super) nonce: &'a str,
    #[serde(flatten)]
    pub(super) body: Body,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum Body {
    Review {
        findings: Vec<Finding>,
    },
    Recheck {
        checks: Vec<Recheck>,
    },
    Response {
        answers: Vec<Response>,
        #[serde(skip_serializing_if = "Option::is_none")]
        notes: Option<String>,
    },
    Ruling {
        dispute: DisputeNumber,
        #[serde(flatten)]
        ruling: Ruling,
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
pub(super) struct Response {
    pub(super) finding: FindingId,
    pub(super) answer: Word,
    pub(super) text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) evidence: Vec<String>,
}
