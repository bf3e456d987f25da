//! Disputes about mandatory findings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{
    Answer, CitedChange, Disposition, DisputeNumber, Finding, FindingId, Ground, Location, Person,
    Response, Ruler, RulingRecord, RulingRef, RunId, Tag, Untrusted,
};

/// The relation of a finding to an earlier dispute whose outcome does not bind the finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "relation", rename_all = "snake_case")]
pub enum Relation {
    /// The reviewer refers to the earlier ruling and cites new evidence. If the finding is disputed, the
    /// earlier dispute is open again.
    Reopens {
        /// The new evidence: locations that exist in the tree, or commands that fail.
        evidence: Vec<Untrusted>,
    },
    /// The dispute was about the same problem, but the disputed code has changed since the dispute.
    CodeChanged {
        /// The unified diff of the block; absent if the old code is no longer available.
        #[serde(skip_serializing_if = "Option::is_none")]
        diff: Option<Untrusted>,
    },
    /// The dispute was about the same problem, but code that the ruling cites no longer stands.
    EvidenceGone {
        cited: Location,
        change: CitedChange,
    },
    /// The dispute was about the same problem in code for another purpose, such as a test.
    OtherGround { was: Ground, now: Ground },
    /// The dispute was about the same problem, but its ruling did not judge this place of the finding.
    NotJudged { place: Location },
    /// It is uncertain whether the finding and the earlier dispute are about the same problem.
    MayRepeat,
}

/// An earlier dispute that is related to a finding, and the outcome of this dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EarlierDispute {
    pub dispute: RulingRef,
    #[serde(flatten)]
    pub relation: Relation,
    pub title: Untrusted,
    /// `disposition` is absent while the dispute is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disposition: Option<Disposition>,
    /// The new tag of the finding. Absent unless the ruling says that the finding is right but not mandatory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_tag: Option<Tag>,
    #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
    pub rationale: Untrusted,
}

impl EarlierDispute {
    /// A sentence about the relation, for example `dispute 3 was about this; the code has changed since`.
    pub fn sentence(&self) -> Untrusted {
        let number = &self.dispute;
        match &self.relation {
            Relation::Reopens { evidence } => Untrusted::joined(evidence, ", ")
                .labelled(&format!("reopens dispute {number} with new evidence: ")),
            Relation::CodeChanged { .. } => {
                format!("dispute {number} was about this; the code has changed since").into()
            }
            Relation::EvidenceGone { cited, change } => {
                let change = match change {
                    CitedChange::Gone => "is gone",
                    CitedChange::Changed => "has changed since",
                };
                format!("dispute {number} was ruled by `{cited}`, which {change}").into()
            }
            Relation::OtherGround { was, now } => format!(
                "dispute {number} was about this in {}; this is {}",
                was.code(),
                now.code()
            )
            .into(),
            Relation::NotJudged { place } => {
                format!("dispute {number} was about this, but not at `{place}`").into()
            }
            Relation::MayRepeat => self
                .title
                .labelled(&format!("may repeat dispute {number}: ")),
        }
    }

    /// The outcome and its reason, for example `refuted: the rationale`.
    pub fn decided(&self) -> Untrusted {
        let word = self
            .disposition
            .as_ref()
            .map_or("open", Disposition::as_str);
        if self.rationale.is_blank() {
            word.into()
        } else {
            self.rationale.labelled(&format!("{word}: "))
        }
    }

    pub fn diff(&self) -> Option<&Untrusted> {
        match &self.relation {
            Relation::CodeChanged { diff } => diff.as_ref(),
            Relation::Reopens { .. }
            | Relation::EvidenceGone { .. }
            | Relation::OtherGround { .. }
            | Relation::NotJudged { .. }
            | Relation::MayRepeat => None,
        }
    }
}

/// The way in which a dispute is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Route {
    /// The judge rules on the dispute.
    Judge,
    /// A person decides the dispute.
    Human,
    /// The finding is discarded.
    Discard,
}

impl Route {
    /// All routes, in the order in which the dialog lists them.
    pub const ALL: [Self; 3] = [Self::Judge, Self::Human, Self::Discard];
}

/// The origin of the objection to a disputed finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Objector {
    /// The coder.
    #[default]
    Coder,
    /// Reviewers that contradicted each other before a coder received the finding.
    Reviewers,
    /// Nobody objects to the finding, but the finding is doubtful: only one reviewer raised the finding, or
    /// another reviewer challenged the evidence.
    Unconfirmed,
    /// An earlier finding of the run. Implementing the new finding would revert the change for the earlier finding.
    Earlier,
    /// A person, who ruled on the finding although no agent objected (`glee dismiss`).
    Person,
    /// A person, who objected to the finding or ruled on the finding in the conversation of a pull request.
    Participant,
}

/// In the conversation of a pull request: the people who objected to a finding or ruled on the finding, and the
/// comments of these people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Participant {
    /// The login names on the host.
    pub logins: Vec<String>,
    /// The host's ids of the comments.
    pub comments: Vec<String>,
}

impl Objector {
    pub fn is_coder(&self) -> bool {
        *self == Self::Coder
    }

    pub fn heading(self) -> &'static str {
        match self {
            Self::Coder => "The coder objects",
            Self::Reviewers => "Reviewers contradict each other",
            Self::Unconfirmed => "Not confirmed",
            Self::Earlier => "It undoes an earlier finding",
            Self::Person => "A person ruled without an objection",
            Self::Participant => "A person objects in the pull request",
        }
    }
}

/// What a person answered the coder's objection instead of ruling on it, and what the coder said then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnsweredObjection {
    pub answer: Untrusted,
    pub by: Person,
    /// IMPLEMENTED ends the dispute in favour of the finding; after any other reply, the person is asked again. Absent
    /// until the coder has replied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<Response>,
}

/// A dispute that has no number yet: a finding and the objection to the finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    pub finding: Finding,
    pub members: Vec<Finding>,
    pub objection: Response,
    pub objector: Objector,
    pub earlier: Vec<EarlierDispute>,
    pub participant: Option<Participant>,
}

impl Sides {
    pub fn numbered(self, number: DisputeNumber) -> Dispute {
        let Self {
            finding,
            members,
            objection,
            objector,
            earlier,
            participant,
        } = self;
        Dispute {
            number,
            finding,
            members,
            left: Vec::new(),
            objection,
            objector,
            route: None,
            rulings: Vec::new(),
            disposition: None,
            discarded_by: None,
            earlier,
            answered: Vec::new(),
            opened_by: None,
            participant,
        }
    }
}

/// A dispute with everything that a judge or a person needs for a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dispute {
    pub number: DisputeNumber,
    pub finding: Finding,
    /// Further members of the finding's group that the dispute is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Finding>,
    /// The members that a ruling left to a dispute of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Finding>,
    /// The coder's objection, or the reason for the dispute if the coder did not object.
    pub objection: Response,
    #[serde(default, skip_serializing_if = "Objector::is_coder")]
    pub objector: Objector,
    /// `route` is absent until a route is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// All rulings on the dispute, oldest first. An ESCALATE can be followed by the ruling of a person.
    #[serde(default)]
    pub rulings: Vec<RulingRecord>,
    /// `disposition` is absent while the dispute is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disposition: Option<Disposition>,
    /// `discarded_by` is present if the finding was discarded without a ruling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discarded_by: Option<Ruler>,
    /// Related earlier disputes that do not bind the finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierDispute>,
    /// What people answered the coder before they ruled, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered: Vec<AnsweredObjection>,
    /// The earlier run that opened the dispute. The disputed finding keeps its number from the earlier run.
    /// `opened_by` is absent if this run opened the dispute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_by: Option<RunId>,
    /// `participant` is present if a comment in a pull request opened the dispute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub participant: Option<Participant>,
}

impl Dispute {
    /// All findings that the dispute is about.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(&self.finding).chain(&self.members)
    }

    pub fn is_about(&self, finding: FindingId) -> bool {
        self.findings().any(|member| member.id == finding)
    }

    pub fn is_open(&self) -> bool {
        self.disposition.is_none()
    }

    /// The answer to which the coder has not replied.
    pub fn unreplied(&self) -> Option<&AnsweredObjection> {
        self.answered.last().filter(|last| last.reply.is_none())
    }

    /// The answer upon which the coder implemented the finding.
    pub fn conceded(&self) -> Option<&AnsweredObjection> {
        self.answered.last().filter(|last| {
            let reply = last.reply.as_ref();
            reply.is_some_and(|reply| reply.answer == Answer::Implemented)
        })
    }

    /// Takes the coder's reply to the last answer.
    pub fn reply(&mut self, response: &Response) {
        if let Some(last) = self.answered.last_mut() {
            last.reply = Some(response.clone());
        }
    }

    /// A person revoked how the dispute was settled, so it waits for a route again. What was answered and conceded before
    /// counts no longer, as the rulings.
    pub fn reopen(&mut self) {
        self.disposition = None;
        self.discarded_by = None;
        self.route = None;
        self.answered.clear();
    }

    /// Restricts the dispute to the members that `named` addresses, and returns the other members. If `named`
    /// addresses no member, the dispute stays as it is.
    pub fn keep(&mut self, named: &[FindingId]) -> Vec<FindingId> {
        let is_named = |id: FindingId| named.iter().any(|named| named.addresses(id));
        let ids = self.findings().map(|finding| finding.id);
        let (kept, left): (Vec<FindingId>, Vec<FindingId>) = ids.partition(|id| is_named(*id));
        let Some(first) = kept.first() else {
            return Vec::new();
        };
        if *first != self.finding.id
            && let Some(place) = self.members.iter().position(|member| member.id == *first)
        {
            std::mem::swap(&mut self.finding, &mut self.members[place]);
            self.objection.finding = *first;
        }
        let members = std::mem::take(&mut self.members);
        let (members, others) = members
            .into_iter()
            .partition(|member| kept.contains(&member.id));
        self.members = members;
        self.left.extend(others);
        left
    }

    pub fn reopens(&self) -> Option<DisputeNumber> {
        let reopened = self
            .earlier
            .iter()
            .find(|earlier| matches!(earlier.relation, Relation::Reopens { .. }));
        reopened.and_then(|earlier| earlier.dispute.number())
    }

    pub fn new_tag(&self) -> Option<Tag> {
        let tag = self.rulings.last().and_then(|record| record.ruling.new_tag);
        tag.filter(|_| self.disposition == Some(Disposition::NotMandatory))
    }
}
