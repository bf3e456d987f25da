//! What several kinds of calls have in common.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::printable;
use glee_model::domain::{AgentName, Disposition, Location, RulingRef, Untrusted};

/// A file that an agent receives, with the lines under review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceFile {
    /// The path inside the tree, with `/` between components.
    pub path: String,
    /// The whole text of the file in the reviewed tree (invalid UTF-8 replaced); empty for a deleted file.
    pub text: String,
    /// The line ranges under review, 1-based and inclusive; empty means the whole file.
    #[serde(default)]
    pub changed: Vec<(u32, u32)>,
    /// The unified diff under review, if the target is a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

impl SourceFile {
    /// A file that is no part of a change.
    pub fn whole(path: impl Into<String>, text: String) -> Self {
        Self {
            path: path.into(),
            text,
            changed: Vec::new(),
            diff: None,
        }
    }

    /// Whether the change deletes the file. In this case, the text is empty, and the diff has the target
    /// `/dev/null`.
    pub fn is_deleted(&self) -> bool {
        let head = self
            .diff
            .iter()
            .flat_map(|diff| diff.lines().take_while(|line| !line.starts_with("@@ ")));
        self.text.is_empty() && head.into_iter().any(|line| line == "+++ /dev/null")
    }

    pub fn deleted_lines(&self) -> u32 {
        u32::try_from(self.removed().count()).unwrap_or(u32::MAX)
    }

    /// The text of a deleted file before the change, as far as the diff shows it. `None` for every other file.
    pub fn deleted_text(&self) -> Option<String> {
        let lines: Vec<&str> = self.removed().collect();
        self.is_deleted().then(|| lines.join("\n"))
    }

    fn removed(&self) -> impl Iterator<Item = &str> {
        let body = self
            .diff
            .iter()
            .flat_map(|diff| diff.lines().skip_while(|line| !line.starts_with("@@ ")));
        body.filter_map(|line| line.strip_prefix('-'))
    }
}

/// A section of the project's guidelines, such as a part of `AGENTS.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Guideline {
    /// The path of the file, and the anchor of the section's heading: `AGENTS.md#errors`.
    pub id: String,
    /// The globs of the paths to which the guideline applies; empty for all files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applies_to: Vec<String>,
    pub text: Untrusted,
}

impl Guideline {
    /// The lines of a prompt.
    pub fn lines(&self) -> Vec<String> {
        let head = match self.applies_to.as_slice() {
            [] => self.id.clone(),
            globs => format!("{} (for {})", self.id, globs.join(", ")),
        };
        below(&head, &self.text)
    }

    /// The size in a prompt, in bytes.
    pub fn size(&self) -> usize {
        /// The colon and the space before a line, and the line end.
        const LINE: usize = 3;
        self.lines().iter().map(|line| line.len() + LINE).sum()
    }
}

/// A text below a head that says where it stands. The text is indented, so that it cannot look like another head.
pub fn below(head: &str, text: &Untrusted) -> Vec<String> {
    let mut lines = vec![printable::line(head)];
    let text = text.as_written().lines();
    lines.extend(text.map(|line| format!("  {line}")));
    lines
}

/// A ruling in force. Reviewers receive the ruling so that they do not raise the same finding again. A judge
/// receives the ruling as a precedent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RulingInForce {
    /// The number of the settled dispute, or the dispute's id if the ruling is shared as a file.
    pub dispute: RulingRef,
    pub location: Option<Location>,
    pub title: Untrusted,
    /// How the dispute was settled.
    pub disposition: Disposition,
    pub rationale: Untrusted,
}

/// An agent's answer to a stage, for the aggregator and the arbiter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StagePosition {
    pub agent: AgentName,
    /// The answer: a JSON object as text, or prose.
    pub content: Untrusted,
}

/// The data that agents receive about a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StageSubject {
    /// The id that the user chose for the work of the agents.
    pub id: String,
    pub stage: String,
    /// The instructions for the agents in this stage.
    pub instructions: String,
    /// The user's request.
    pub prompt: String,
    /// The fields that an answer must have.
    pub required_fields: Vec<String>,
}

/// A runner of demonstrations that an agent may name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedRunner {
    pub name: String,
    /// The folder below which the agent writes its file.
    pub folder: String,
}

/// A finding of a review.
#[derive(JsonSchema)]
pub struct ReplyFinding {
    /// `MUST`, `SHOULD`, `CRITICAL`, `HIGH`, `MEDIUM`, `LOW`, or a word of another well-known scale.
    pub severity: String,
    /// The requested change in one line.
    pub title: String,
    /// The reason, in one or more lines.
    pub description: Option<String>,
    /// The path of the file, spelled as in the request.
    pub file: Option<String>,
    /// The first line of the location, counted from 1.
    pub line: Option<u32>,
    /// The last line of the location.
    pub end_line: Option<u32>,
    /// `security`, `bug`, `architecture`, `performance` or `test-coverage`, or a defect class such as `sql-injection`.
    pub category: Option<String>,
    /// The id of the weakness in the CWE list, such as `CWE-89`, where one applies.
    pub cwe: Option<String>,
    /// The id of the guideline that the code breaks, such as `AGENTS.md#errors`, spelled as in the request.
    pub rule: Option<String>,
    /// The proposed change.
    pub suggestion: Option<String>,
    /// The new text that replaces the lines from `line` to `end_line`. The field `replacement` is omitted if the
    /// fix also changes lines outside the location of the finding.
    pub replacement: Option<String>,
    /// The reviewer's confidence, 0 to 100.
    #[schemars(range(max = 100))]
    pub confidence: Option<u8>,
    /// Concrete evidence for the finding, with one item for each piece of evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The id of a ruling in force that the reviewer contests, for example `D12`.
    pub insists_on: Option<String>,
}
