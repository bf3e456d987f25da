//! A ruling as a file of the repository: what the other clones and continuous integration need to go by it.
//!
//! What recognition compares is derived from what a reader of the file sees: the words from the title, the category from
//! the category and the rule. So a file binds what it says.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::domain::{
    AgentName, Anchor, Disposition, DisputeId, FindingId, Location, RulingWord, RunId, Tag, Untrusted,
};

/// A ruling on a dispute, as `.glee/rulings/<id>.yml` holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedRuling {
    /// The version of this form.
    pub version: u32,
    /// The dispute; it follows from the run and the finding.
    pub id: DisputeId,
    pub run: RunId,
    pub finding: FindingId,
    /// The path inside the tree.
    pub file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// The finding's tag, or the unknown word it was written with.
    pub tag: String,
    pub title: Untrusted,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    pub anchor: SharedAnchor,
    /// Absent where the finding was discarded without a ruling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<RulingWord>,
    pub disposition: Disposition,
    /// The tag that the ruling gave the finding, where it was right but not mandatory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_tag: Option<Tag>,
    #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
    pub rationale: Untrusted,
    /// Places in the code, as `path:line`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Untrusted>,
    /// The evidence of the objection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Untrusted>,
    pub by: RuledBy,
    /// When the dispute was settled.
    pub date: Timestamp,
    /// The last day, in UTC, on which the ruling binds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Date>,
}

/// Where the finding of a shared ruling is anchored, beside its file and its words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedAnchor {
    /// The BLAKE3 hash (hex) of the block's text, as in [`Anchor::block`].
    pub block: String,
    /// The line within the block, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    /// The identifiers of the block that the title names, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// Who ruled, and who answers for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuledBy {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<AgentName>,
    /// The judge's model, where one was asked for by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The judges that voted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub panel: Vec<AgentName>,
    /// The person who ruled, or who answers for the ruling of a judge or a policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
}

impl SharedRuling {
    /// The version of the form that this program writes and reads.
    pub const VERSION: u32 = 1;

    pub fn location(&self) -> Location {
        Location { file: self.file.clone(), line: self.line, end_line: self.end_line }
    }

    /// The anchor; `text` are the words of the title and `category` that of the finding, both in their one form.
    pub fn anchor(&self, text: String, category: String) -> Anchor {
        Anchor {
            file: self.file.clone(),
            block: self.anchor.block.clone(),
            category,
            text,
            offset: self.anchor.offset,
            rule: self.rule.as_ref().map(|rule| rule.to_lowercase()),
            names: self.anchor.names.clone(),
        }
    }

    /// The first key whose value cannot be true or is not accepted, and why.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let is_hash = self.anchor.block.len() == 64
            && self.anchor.block.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let is_person =
            |name: &String| !name.trim().is_empty() && name.len() <= 200 && !name.chars().any(char::is_control);
        let has_no_ruler = self.by.judge.is_none() && self.by.panel.is_empty() && self.by.person.is_none();
        let is_discarded = self.disposition == Disposition::Discarded;
        let is_reverse = self.end_line.is_some_and(|end| self.line.is_none_or(|line| end < line));
        let checks = [
            (self.version != Self::VERSION, "version", format!("is not {}", Self::VERSION)),
            (!self.id.is_valid(), "id", "is not 16 hexadecimal digits in lower case".to_owned()),
            (
                self.id != DisputeId::of(&self.run, self.finding),
                "id",
                "does not follow from `run` and `finding`".to_owned(),
            ),
            (!is_inside(&self.file), "file", "is not a path inside the tree".to_owned()),
            (self.line == Some(0) || is_reverse, "line", "is not a range of lines".to_owned()),
            (self.title.is_blank(), "title", "is empty".to_owned()),
            (!is_hash, "anchor", "has a `block` that is not 64 hexadecimal digits in lower case".to_owned()),
            (
                self.anchor.offset.is_some() != self.line.is_some(),
                "anchor",
                "has an `offset` exactly where there is a `line`".to_owned(),
            ),
            (
                self.new_tag.is_some() && self.disposition != Disposition::NotMandatory,
                "new_tag",
                "goes with the disposition `not_mandatory`".to_owned(),
            ),
            (has_no_ruler && !is_discarded, "by", "names nobody".to_owned()),
            (
                !self.by.person.iter().all(is_person),
                "by",
                "has a `person` that is not a name on one line".to_owned(),
            ),
        ];
        checks.into_iter().find(|(fails, ..)| *fails).map(|(_, key, why)| (key, why))
    }
}

/// Whether a path, by its letters, leads to a file inside a tree and not to git's own.
fn is_inside(path: &str) -> bool {
    let is_name = |part: &str| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git");
    path.len() <= 4096
        && path.split('/').all(is_name)
        && !path.contains('\\')
        && !path.chars().any(char::is_control)
}
