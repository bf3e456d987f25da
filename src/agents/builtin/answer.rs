//! What the embedded agents print: the JSON answers of design sections 3.3 to 3.5, with the nonce they were asked under.

use serde::Serialize;

use crate::domain::{Answer as Word, DisputeNumber, FindingId, Recheck, Ruling, Tag};

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct BuiltinAnswer<'a> {
    pub(crate) nonce: &'a str,
    #[serde(flatten)]
    pub(crate) body: Body,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Body {
    Review {
        findings: Vec<BuiltinFinding>,
    },
    Recheck {
        checks: Vec<Recheck>,
    },
    Response {
        answers: Vec<BuiltinResponse>,
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
pub(crate) struct BuiltinFinding {
    pub(crate) severity: Tag,
    pub(crate) file: String,
    pub(crate) line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end_line: Option<u32>,
    pub(crate) title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suggestion: Option<String>,
    pub(crate) category: String,
    pub(crate) rule: String,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct BuiltinResponse {
    pub(crate) finding: FindingId,
    pub(crate) answer: Word,
    pub(crate) text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) evidence: Vec<String>,
}
