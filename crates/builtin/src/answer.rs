//! Defines the JSON answers of the embedded agents (design sections 3.3 to 3.5).

use serde::Serialize;

use glee_model::domain::{CodeRead, DisputeNumber, RawFinding, Recheck, Response, Ruling};

#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct BuiltinAnswer<'a> {
    pub nonce: &'a str,
    #[serde(flatten)]
    pub body: Body,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Body {
    Review {
        findings: Vec<RawFinding>,
        /// Absent if the reviewer has no rules for some of the files. The report names these files.
        #[serde(skip_serializing_if = "Option::is_none")]
        read: Option<CodeRead>,
        /// The files that were not reviewed as a whole, with the reasons.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
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
