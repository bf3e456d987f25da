//! A ruling that is stored in a file of the repository, for all clones and for continuous integration. A shared
//! ruling matches findings only by visible fields: the category, the rule, and the words of the title.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::domain::ids::is_hex;
use crate::domain::{
    AgentName, Anchor, CitedCode, Cwe, Disposition, DisputeId, FindingId, Ground, Location,
    ProblemKey, RulingWord, RunId, Tag, Untrusted, is_inside,
};

/// The content of `.glee/rulings/<id>.yml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedRuling {
    pub version: u32,
    /// The dispute's id, which is derived from the run and the finding.
    pub id: DisputeId,
    pub run: RunId,
    /// The id of the finding's problem in all histories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemKey>,
    #[serde(flatten)]
    pub head: RuledFinding,
    /// The further members of the finding's group that the ruling is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<RuledFinding>,
    /// `ruling` is absent if the finding was discarded without a ruling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<RulingWord>,
    pub disposition: Disposition,
    /// The new tag of the finding. Absent unless the ruling says that the finding is right but not mandatory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_tag: Option<Tag>,
    #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
    pub rationale: Untrusted,
    /// Locations in the code, as `path:line`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Untrusted>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Untrusted>,
    /// The cited code. The ruling binds as long as this code stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cited: Vec<CitedCode>,
    pub by: RuledBy,
    /// The time of the settlement.
    pub date: Timestamp,
    /// The last day, in UTC, on which the ruling binds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Date>,
}

/// A finding that a shared ruling is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuledFinding {
    pub finding: FindingId,
    /// The finding's tag, or the reviewer's word if the word is not a known tag.
    pub tag: String,
    pub title: Untrusted,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwe: Option<Cwe>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The main place.
    #[serde(flatten)]
    pub place: RuledPlace,
    /// The further places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<RuledPlace>,
}

/// A place of a finding that a shared ruling is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuledPlace {
    /// A path inside the tree.
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    pub anchor: SharedAnchor,
}

/// The block of code for which a shared ruling was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedAnchor {
    /// The BLAKE3 hash (hex) of the block's text, as in [`Anchor::block`].
    pub block: String,
    /// The finding's line within the block, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    /// The sorted identifiers that occur both in the block and in the finding's title.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    #[serde(default, skip_serializing_if = "crate::domain::is_default")]
    pub ground: Ground,
}

/// The origin of a shared ruling, and the person who is responsible for the ruling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuledBy {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<AgentName>,
    /// The judge's model, if one was configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub panel: Vec<AgentName>,
    /// The person who gave the ruling, or who is responsible for the ruling of a judge or a policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
}

impl RuledFinding {
    /// All places, the main place first.
    pub fn places(&self) -> impl Iterator<Item = &RuledPlace> {
        std::iter::once(&self.place).chain(&self.places)
    }

    /// The same as [`Self::places`], for changes of the places.
    pub fn places_mut(&mut self) -> impl Iterator<Item = &mut RuledPlace> {
        std::iter::once(&mut self.place).chain(&mut self.places)
    }

    /// The anchor of one of the finding's places. `text` contains the normalised words of the title, and `category`
    /// contains the normalised category.
    pub fn anchor(&self, place: &RuledPlace, text: &str, category: &str) -> Anchor {
        let SharedAnchor {
            block,
            offset,
            names,
            ground,
        } = place.anchor.clone();
        Anchor {
            file: place.file.clone(),
            block,
            category: category.to_owned(),
            text: text.to_owned(),
            offset,
            rule: self.rule.as_ref().map(|rule| rule.to_lowercase()),
            names,
            cwe: self.cwe,
            ground,
        }
    }
}

impl RuledPlace {
    pub fn location(&self) -> Location {
        Location {
            file: self.file.clone(),
            line: self.line,
            end_line: self.end_line,
        }
    }

    fn has_wrong_lines(&self) -> bool {
        self.line == Some(0)
            || self
                .end_line
                .is_some_and(|end| self.line.is_none_or(|line| end < line))
    }
}

impl From<(Location, &Anchor)> for RuledPlace {
    fn from((location, anchor): (Location, &Anchor)) -> Self {
        Self {
            file: anchor.file.clone(),
            line: location.line,
            end_line: location.end_line,
            anchor: SharedAnchor {
                block: anchor.block.clone(),
                offset: anchor.offset,
                names: anchor.names.clone(),
                ground: anchor.ground,
            },
        }
    }
}

impl SharedRuling {
    /// The version of the format that this program reads and writes.
    pub const VERSION: u32 = 1;

    /// The findings that the ruling is about.
    pub fn findings(&self) -> impl Iterator<Item = &RuledFinding> {
        std::iter::once(&self.head).chain(&self.members)
    }

    /// The same as [`Self::findings`], for changes of the findings.
    pub fn findings_mut(&mut self) -> impl Iterator<Item = &mut RuledFinding> {
        std::iter::once(&mut self.head).chain(&mut self.members)
    }

    /// The first key with an invalid value, and the reason why the value is invalid.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        let has_no_ruler =
            self.by.judge.is_none() && self.by.panel.is_empty() && self.by.person.is_none();
        let places = || self.findings().flat_map(RuledFinding::places);
        let has_wrong_tag = self.new_tag.is_some() && self.disposition != Disposition::NotMandatory;
        let checks = [
            (self.version != Self::VERSION, "version", "is not 1"),
            (
                !is_hex(&self.id.0, 16),
                "id",
                "is not 16 hexadecimal digits in lower case",
            ),
            (
                self.id != DisputeId::of(&self.run, self.head.finding),
                "id",
                "does not match `run` and `finding`",
            ),
            (
                !places().all(|place| is_inside(&place.file)),
                "file",
                "is not a path inside the tree",
            ),
            (
                places().any(RuledPlace::has_wrong_lines),
                "line",
                "is not a range of lines",
            ),
            (
                self.findings().any(|finding| finding.title.is_blank()),
                "title",
                "is empty",
            ),
            (
                !places().all(|place| is_hex(&place.anchor.block, 64)),
                "anchor",
                "has a `block` that is not 64 hexadecimal digits in lower case",
            ),
            (
                places().any(|place| place.anchor.offset.is_some() != place.line.is_some()),
                "anchor",
                "needs an `offset` if and only if `line` is set",
            ),
            (
                !self.cited.iter().all(is_cited),
                "cited",
                "has code without a path inside the tree, or a line without a `block`",
            ),
            (
                has_wrong_tag,
                "new_tag",
                "requires the disposition `not_mandatory`",
            ),
            (
                has_no_ruler && self.disposition != Disposition::Discarded,
                "by",
                "names no judge, panel or person",
            ),
            (
                !self.by.person.iter().all(|name| {
                    !name.trim().is_empty()
                        && name.len() <= 200
                        && !name.chars().any(char::is_control)
                }),
                "by",
                "has a `person` that is not a name on one line",
            ),
        ];
        checks
            .into_iter()
            .find(|(fails, ..)| *fails)
            .map(|(_, key, why)| (key, why))
    }
}

fn is_cited(cited: &CitedCode) -> bool {
    is_inside(&cited.file)
        && cited.line != Some(0)
        && is_hex(&cited.block, if cited.line.is_some() { 64 } else { 0 })
}
