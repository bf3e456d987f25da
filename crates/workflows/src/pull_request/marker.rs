//! Hidden markers in comments of Glee.
//!
//! A marker is one line `<!-- glee:KIND:DATA -->`, where DATA is JSON in Base64. Markers are the last lines of a
//! comment. Glee ignores a marker that is not at the end of the comment. Therefore, quoted text cannot forge a
//! marker. Glee reads a marker only in a comment that the host attributes to the user of the token.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::hosts::{Comment, CommentId, Conversation, Thread};
use glee_model::domain::{
    Anchor, DisputeId, Finding, FindingId, PostedProblem, ProblemKey, RunId, SharedRuling,
    Untrusted,
};
use glee_protocol::secrets::redact_value;

const VERSION: u32 = 1;
/// The maximum size in bytes of a new marker that contains a ruling. If the marker of a ruling would be larger,
/// Glee does not write the marker.
const WRITTEN: usize = 12 << 10;
/// The maximum size of marker data, in bytes. Glee ignores a marker with more data.
const READ: usize = 32 << 10;
/// The maximum number of names in the anchor that a marker contains.
const NAMES: usize = 20;
/// The maximum number of characters of these texts in a marker: a ruling's title, a ruling's rationale, and the
/// text of a finding's anchor.
const TEXT: usize = 1_000;
/// The maximum number of citations, and of items of evidence, in the marker of a ruling.
const ITEMS: usize = 10;

const OPEN: &str = "<!-- glee:";
const CLOSE: &str = " -->";

/// The name of a finding in its thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct FindingName {
    /// The run that told the finding first.
    pub run: RunId,
    /// The id of the finding in this run.
    pub finding: FindingId,
}

/// Identifies a finding across runs. The comment that tells the finding contains this data: the first comment of a
/// thread, or a later reply of Glee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FindingMark {
    pub version: u32,
    #[serde(flatten)]
    pub name: FindingName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemKey>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mandatory: bool,
    /// The line of the finding in the first run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// If the location of the finding does not exist in the tree, the block is empty.
    pub anchor: Anchor,
}

/// What Glee states in the thread of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "said", rename_all = "snake_case")]
pub(crate) enum ThreadStatement {
    Fixed,
    /// The finding was raised after Glee had resolved the thread.
    RaisedAgain,
    /// The finding is mandatory and open, and a person resolved the thread.
    KeptOpen,
    /// The comment tells further members of the group.
    Told,
    Ruled {
        disposition: String,
    },
    Escalated,
    /// Glee refused a person's ruling: either the person is not allowed to rule, or the last review does not
    /// contain the finding.
    Refused,
}

/// A statement of Glee in a thread, and the comments that the statement answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AnswerMark {
    pub version: u32,
    #[serde(flatten)]
    pub statement: ThreadStatement,
    /// The head commit.
    pub head: String,
    /// The findings of the thread that the statement is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<FindingName>,
    /// Whether Glee opens the resolved thread again after this statement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reopens: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
}

impl AnswerMark {
    pub(super) fn new(statement: ThreadStatement, about: Vec<FindingName>, head: &str) -> Self {
        Self {
            version: VERSION,
            statement,
            head: head.to_owned(),
            about,
            reopens: false,
            answers: Vec::new(),
        }
    }

    pub(super) fn written(&self) -> String {
        line("answer", self)
    }
}

impl FindingMark {
    pub(super) fn new(run: &RunId, finding: &Finding, anchor: Anchor) -> Self {
        let text = anchor.text.chars().take(TEXT).collect();
        let names = anchor.names.into_iter().take(NAMES).collect();
        let anchor = Anchor {
            text,
            names,
            ..anchor
        };
        Self {
            version: VERSION,
            name: FindingName {
                run: run.clone(),
                finding: finding.id,
            },
            mandatory: finding.mandatory,
            problem: finding.problem.clone(),
            line: finding.raw.line,
            anchor,
        }
    }

    pub(super) fn written(&self) -> String {
        line("finding", &redact_value(self.clone()))
    }
}

pub(super) fn summary() -> String {
    line("summary", &BTreeMap::from([("version", VERSION)]))
}

/// The marker of a ruling. `None` if the marker would be too large, or if [`SharedRuling::problem`] finds a
/// problem.
pub(super) fn ruling(ruling: &SharedRuling) -> Option<String> {
    let cut = |text: &Untrusted| text.first(TEXT);
    let mut short = ruling.clone();
    for finding in short.findings_mut() {
        finding.title = cut(&finding.title);
        for place in finding.places_mut() {
            place.anchor.names.truncate(NAMES);
        }
    }
    let small = redact_value(SharedRuling {
        rationale: cut(&ruling.rationale),
        citations: items(&ruling.citations),
        evidence: items(&ruling.evidence),
        ..short
    });
    let written = line("ruling", &small);
    (small.problem().is_none() && written.len() <= WRITTEN).then_some(written)
}

fn items(items: &[Untrusted]) -> Vec<Untrusted> {
    items
        .iter()
        .take(ITEMS)
        .map(|item| item.first(TEXT / 4))
        .collect()
}

fn line(kind: &str, data: &impl Serialize) -> String {
    let json = serde_json::to_vec(data).expect("markers are representable in JSON");
    format!("{OPEN}{kind}:{}{CLOSE}", STANDARD_NO_PAD.encode(json))
}

/// The markers of one comment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Marks {
    pub findings: Vec<FindingMark>,
    pub(crate) is_summary: bool,
    pub answers: Vec<AnswerMark>,
    pub rulings: Vec<SharedRuling>,
    /// The number of markers that cannot be read.
    pub broken: usize,
}

/// Returns the markers of a comment. Returns `None` if Glee did not write the comment. If a comment of the
/// token's user has no markers, a person with the same account wrote the comment.
pub(super) fn marks(comment: &Comment) -> Option<Marks> {
    if !comment.is_own {
        return None;
    }
    let mut marks = Marks::default();
    let mut count = 0;
    for line in comment.body.as_written().trim_end().lines().rev() {
        let inner = line
            .trim()
            .strip_prefix(OPEN)
            .and_then(|rest| rest.strip_suffix(CLOSE));
        let Some((kind, data)) = inner.and_then(|inner| inner.split_once(':')) else {
            break;
        };
        count += 1;
        let is_read = match kind {
            "finding" => read::<FindingMark>(data).map(|mark| marks.findings.insert(0, mark)),
            "summary" => read::<BTreeMap<String, u32>>(data).map(|_| marks.is_summary = true),
            "answer" => read::<AnswerMark>(data).map(|mark| marks.answers.insert(0, mark)),
            "ruling" => read::<SharedRuling>(data)
                .filter(|ruling| ruling.problem().is_none())
                .map(|ruling| marks.rulings.insert(0, ruling)),
            _ => None,
        };
        marks.broken += usize::from(is_read.is_none());
    }
    (count > 0).then_some(marks)
}

fn read<T: DeserializeOwned>(data: &str) -> Option<T> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    if data.len() > READ {
        return None;
    }
    let json = STANDARD_NO_PAD.decode(data).ok()?;
    let versioned: Versioned = serde_json::from_slice(&json).ok()?;
    if versioned.version != VERSION {
        return None;
    }
    serde_json::from_slice(&json).ok()
}

/// The text of a comment as Glee sent it. Hosts can change the line breaks of a text, and the white space at its end.
pub(super) fn unified(body: &Untrusted) -> String {
    body.as_written()
        .replace("\r\n", "\n")
        .trim_end()
        .to_owned()
}

pub(crate) fn is_glee(comment: &Comment) -> bool {
    marks(comment).is_some()
}

/// The ids of the comments that Glee answered in the thread.
pub(super) fn answered(thread: &Thread) -> Vec<CommentId> {
    let marks = thread
        .comments
        .iter()
        .filter_map(marks)
        .flat_map(|marks| marks.answers);
    marks.flat_map(|mark| mark.answers).map(CommentId).collect()
}

/// The findings that the comments of Glee in a thread tell. The list is empty if Glee did not start the thread.
pub(super) fn told(thread: &Thread) -> Vec<FindingMark> {
    let mut comments = thread.comments.iter();
    let mut told = match comments.next().and_then(marks) {
        Some(first) if !first.findings.is_empty() => first.findings,
        _ => return Vec::new(),
    };
    // Like a ruling, a further finding counts only beside the marker of an answer.
    let later = comments.filter_map(marks);
    let later = later.filter(|marks| !marks.answers.is_empty());
    told.extend(later.flat_map(|marks| marks.findings));
    told
}

/// The problems that the threads of Glee are about. A history that does not know a problem takes over its key.
pub fn posted(conversation: &Conversation) -> Vec<PostedProblem> {
    let marks = conversation.threads.iter().flat_map(told);
    let posted = marks.filter_map(|mark| {
        Some(PostedProblem {
            key: mark.problem?,
            anchor: mark.anchor,
        })
    });
    posted.collect()
}

/// The rulings in the markers of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestRulings {
    /// The newest ruling of each dispute. Each ruling is valid (see [`SharedRuling::problem`]).
    pub rulings: Vec<SharedRuling>,
    /// Notices about markers that cannot be read, one line each.
    pub notices: Vec<String>,
}

/// Reads the rulings that Glee published in the conversation. A comment that was edited contains no rulings.
///
/// Other programs, such as other CI jobs, can use the same token to publish texts of strangers. Therefore, Glee
/// reads rulings only in threads that Glee started. A comment with a ruling must also contain a marker of the type
/// `AnswerMark`.
pub fn rulings(conversation: &Conversation) -> RequestRulings {
    let comments = conversation
        .threads
        .iter()
        .filter(|thread| {
            let first = thread.comments.first().and_then(marks);
            first.is_some_and(|marks| !marks.findings.is_empty())
        })
        .flat_map(|thread| &thread.comments);
    let mut newest = BTreeMap::<DisputeId, SharedRuling>::new();
    let mut edited = 0;
    let mut broken = 0;
    for comment in comments {
        let Some(marks) = marks(comment).filter(|marks| !marks.answers.is_empty()) else {
            continue;
        };
        broken += marks.broken;
        if comment.is_edited {
            edited += usize::from(!marks.rulings.is_empty());
            continue;
        }
        for ruling in marks.rulings {
            let known = newest
                .entry(ruling.id.clone())
                .or_insert_with(|| ruling.clone());
            if ruling.date > known.date {
                *known = ruling;
            }
        }
    }
    let ignored = [
        (broken, "marker", "its data cannot be read"),
        (edited, "comment with a ruling", "the comment was edited"),
    ];
    let notices = ignored
        .into_iter()
        .filter_map(|(number, what, why)| match number {
            0 => None,
            1 => Some(format!("1 {what} in the pull request is ignored: {why}")),
            number => Some(format!(
                "{number} {what}s in the pull request are ignored: {why}"
            )),
        });
    RequestRulings {
        rulings: newest.into_values().collect(),
        notices: notices.collect(),
    }
}
