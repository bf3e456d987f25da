//! The call in which reviewers raise findings in files.

use crate::calls::parts::{Guideline, OfferedRunner, ReplyFinding, RulingInForce};
use crate::calls::prelude::*;
use crate::prompts::fence::{closing_without_extent, raised};
use crate::replies::review::{self, reader};
use crate::text::printable;
use glee_model::domain::{CodeContext, CodeRead, Intent, RawFinding, RulingRef};

/// Review files and raise findings (role reviewer; answer: section 3.3 of the design).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ReviewCall {
    /// The files of this shard.
    pub files: Vec<SourceFile>,
    /// The kinds of problems that the reviewer looks for.
    pub focus: Vec<String>,
    /// What the person who asked for the review wants of it; empty if nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    /// The language of titles and texts; absent if the reviewer chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The project's guidelines for these files, as they were before the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guidelines: Vec<Guideline>,
    /// What the change is for: the title and the text of the pull request, the issue that it closes, the messages of its
    /// commits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intent: Vec<Intent>,
    /// Rulings in force on these files.
    pub rulings: Vec<RulingInForce>,
    /// Findings of this reviewer from an earlier review, on lines that were edited after the earlier review.
    /// The line numbers refer to the current version of the file. The reviewer raises a finding again if the
    /// finding still applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recheck: Vec<RawFinding>,
    /// What is sent of each changed file. With `diff` and `blocks`, the lines outside of the diff are empty in the text of
    /// a changed file, and a prompt shows only the diff.
    #[serde(default)]
    pub context: CodeContext,
    /// The places outside of the shown lines at which names of the change occur, one name a line:
    /// `name: path:line, line; path:first-last`. The range of a definition is its block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// The code at the first of these places, for a reviewer that cannot read the tree. The other lines of a file are
    /// empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<SourceFile>,
    /// Whether the reviewer can read files of the tree.
    #[serde(default)]
    pub reads: bool,
    /// The runners of the tests that the reviewer may give with a mandatory finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runners: Vec<OfferedRunner>,
}

impl CallKind for ReviewCall {
    const ABOUT: AboutKind = AboutKind {
        name: "review",
        role: Role::Reviewer,
        template: include_str!("review.md"),
        form: Some(JsonForm::beside_prose::<ReviewReply>(
            "review",
            "A reviewer's findings",
        )),
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        json!({
            "focus": fence.lines("focus", self.focus.iter().map(printable::line)),
            "instructions": self.instructions_in(fence),
            "language": self.language.as_deref().map(|language| fence.line(language)),
            "guidelines": fence.guidelines(&self.guidelines),
            "intent": fence.intent(&self.intent),
            "rulings": fence.rulings("rulings", &self.rulings),
            "recheck": fence.lines("earlier findings", raised(&self.recheck).into_iter()),
            "files": fence.changes(&self.files, self.context),
            "places": fence.lines("places", self.places.iter().map(printable::line)),
            "reads": self.reads,
            "runners": fence.runners(&self.runners),
            "elsewhere": fence.files(&self.elsewhere),
        })
    }

    fn closing(&self, nonce: &str) -> String {
        format!("{} read=all|part", closing_without_extent(nonce))
    }

    // A project's own template can leave out the word `read`.
    fn must_contain(&self, nonce: &str) -> String {
        closing_without_extent(nonce)
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let shown: Vec<RulingRef> = self
            .rulings
            .iter()
            .map(|ruling| ruling.dispute.clone())
            .collect();
        let paths = review::Paths::new(self.files.iter().map(|file| file.path.as_str()));
        let mut read = reader::parse_of(answer, Some(nonce), &paths, &shown)?;
        for finding in &mut read.findings {
            self.cite(finding);
        }
        Ok(CallAnswer::Review {
            status: read.status,
            notes: read.said(),
            findings: read.findings,
            problem: read.problem,
            read: read.read,
            is_doubtful: read.is_doubtful,
        })
    }
}

impl ReviewCall {
    /// The instructions as a prompt contains them. Reviewers work for the person who wrote them, so they are not fenced.
    pub fn instructions_in(&self, fence: &DataFence<'_>) -> String {
        fence.without_mark(&self.instructions)
    }

    /// A rule that is the id of a sent guideline is a citation. Another id with a `#` names no guideline of this call.
    fn cite(&self, finding: &mut RawFinding) {
        let Some(rule) = &finding.rule else { return };
        let mut guidelines = self.guidelines.iter();
        if guidelines.any(|guideline| guideline.id == *rule) {
            finding.guideline = finding.rule.take();
        } else if rule.contains('#') {
            finding.rule = None;
        }
    }
}

/// A review: all findings in the files of the request.
#[derive(JsonSchema)]
pub struct ReviewReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The findings; empty if there are none.
    pub findings: Vec<ReplyFinding>,
    /// The verdict: `approved`, `concerns` or `blocker`.
    pub verdict: Option<String>,
    /// A summary in addition to the findings.
    pub summary: Option<String>,
    /// `all` if the reviewer read all of the code that it was asked to review, otherwise `part`.
    pub read: Option<CodeRead>,
}
