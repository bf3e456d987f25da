//! The answer in the form of the specification, with `groups` beside it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    Agreement, Challenge, Claim, Class, Conflict, Consensus, Debate, Decision, ExaminationWord, Level, Policy,
    Standing, Statistics,
};

/// What a caller adds to an answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras<'a> {
    /// The id of the run, which is given back.
    pub id: Option<&'a str>,
}

/// The consensus of the specification.
#[derive(Debug, Serialize)]
pub struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    model: &'static str,
    role: &'static str,
    policy: Policy,
    file: Option<&'a str>,
    findings: Vec<Finding<'a>>,
    consensus: Lists<'a>,
    debate_statistics: &'a Statistics,
    summary: &'a str,
    groups: Vec<Group<'a>>,
}

#[derive(Debug, Serialize)]
struct Finding<'a> {
    severity: Level,
    /// Absent where no reviewer states one.
    confidence: Option<u8>,
    category: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
    title: &'a str,
    description: Cow<'a, str>,
    suggestion: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    cross_examination_trail: Trail<'a>,
}

#[derive(Debug, Serialize)]
struct Trail<'a> {
    round1: Round1<'a>,
    round2: BTreeMap<&'a str, Round2<'a>>,
    round3: Round3<'a>,
    final_confidence_calculation: &'a str,
}

#[derive(Debug, Serialize)]
struct Round1<'a> {
    original_model: &'a str,
    original_severity: Level,
    original_confidence: Option<u8>,
}

#[derive(Debug, Serialize)]
struct Round2<'a> {
    action: &'static str,
    confidence_adjustment: i32,
    reasoning: &'a str,
}

#[derive(Debug, Serialize)]
struct Round3<'a> {
    defender: &'a str,
    action: &'static str,
    confidence_adjustment: i32,
    reasoning: &'a str,
}

#[derive(Debug, Serialize)]
struct Lists<'a> {
    accepted: Vec<Accepted<'a>>,
    uncorroborated: Vec<Uncorroborated<'a>>,
    rejected: Vec<Rejected<'a>>,
    disputed: Vec<Disputed<'a>>,
}

#[derive(Debug, Serialize)]
struct Accepted<'a> {
    finding_index: usize,
    agreement_level: Option<Agreement>,
    contributing_models: Vec<&'a str>,
    original_severities: BTreeMap<&'a str, Level>,
    original_confidences: BTreeMap<&'a str, Option<u8>>,
    resolution_notes: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    challenge: Option<&'a Challenge>,
}

#[derive(Debug, Serialize)]
struct Uncorroborated<'a> {
    finding_index: usize,
    original_model: &'a str,
    original_severity: Level,
    original_confidence: Option<u8>,
    validation_score: Option<i32>,
    would_decide: &'a str,
    resolution_notes: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    challenge: Option<&'a Challenge>,
}

#[derive(Debug, Serialize)]
struct Rejected<'a> {
    original_title: &'a str,
    original_model: &'a str,
    original_severity: Level,
    original_confidence: Option<u8>,
    rejection_reason: &'a str,
    reversal_criteria: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    cross_examination_trail: Trail<'a>,
}

#[derive(Debug, Serialize)]
struct Disputed<'a> {
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    line: Option<u32>,
    severity: Level,
    confidence: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflict_type: Option<Conflict>,
    original_severities: BTreeMap<&'a str, Level>,
    original_confidences: BTreeMap<&'a str, Option<u8>>,
    perspectives: BTreeMap<&'a str, String>,
    dispute_reason: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    unresolved_questions: Vec<String>,
    recommended_action: String,
    escalate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    cross_examination_trail: Trail<'a>,
}

#[derive(Debug, Serialize)]
struct Group<'a> {
    members: Vec<&'a str>,
    class: Class,
    why: &'a str,
}

impl Consensus {
    /// The answer to the same claims and debate that were merged.
    pub fn answer<'a>(
        &'a self,
        claims: &'a [Claim],
        debate: &'a Debate,
        policy: Policy,
        extras: Extras<'a>,
    ) -> Answer<'a> {
        let index = super::debate::Index::of(debate);
        let view = View {
            claims,
            index,
            reviewers: self.statistics.findings_per_model.keys().map(String::as_str).collect(),
        };
        let mut findings = Vec::new();
        let mut lists =
            Lists { accepted: Vec::new(), uncorroborated: Vec::new(), rejected: Vec::new(), disputed: Vec::new() };
        for decision in &self.decisions {
            match decision.class {
                Class::Accepted => {
                    lists.accepted.push(view.accepted(decision, findings.len()));
                    findings.push(view.finding(decision));
                }
                Class::Uncorroborated => {
                    lists.uncorroborated.push(view.uncorroborated(decision, findings.len()));
                    findings.push(view.finding(decision));
                }
                Class::Rejected => lists.rejected.extend(view.rejected(decision)),
                Class::Disputed => lists.disputed.push(view.disputed(decision)),
            }
        }
        let group = |decision: &'a Decision| Group {
            members: decision.members.iter().chain(&decision.repeats).map(|at| claims[*at].id.as_str()).collect(),
            class: decision.class,
            why: &decision.why,
        };
        Answer {
            id: extras.id,
            model: "glee",
            role: "debate-arbitrator",
            policy,
            file: one_file(claims),
            findings,
            consensus: lists,
            debate_statistics: &self.statistics,
            summary: &self.summary,
            groups: self.decisions.iter().map(group).collect(),
        }
    }
}

/// The file that all claims are about, if it is one.
fn one_file(claims: &[Claim]) -> Option<&str> {
    let first = claims.first()?.file.as_deref()?;
    claims.iter().all(|claim| claim.file.as_deref() == Some(first)).then_some(first)
}

struct View<'a> {
    claims: &'a [Claim],
    index: super::debate::Index<'a>,
    reviewers: Vec<&'a str>,
}

impl<'a> View<'a> {
    fn lead(&self, decision: &Decision) -> &'a Claim {
        &self.claims[decision.members[0]]
    }

    fn members(&self, decision: &'a Decision) -> impl Iterator<Item = &'a Claim> {
        decision.members.iter().map(|at| &self.claims[*at])
    }

    fn severities(&self, decision: &'a Decision) -> BTreeMap<&'a str, Level> {
        self.members(decision).map(|claim| (claim.model.as_str(), severity(claim))).collect()
    }

    fn confidences(&self, decision: &'a Decision) -> BTreeMap<&'a str, Option<u8>> {
        self.members(decision).map(|claim| (claim.model.as_str(), super::normal::confidence(claim))).collect()
    }

    fn finding(&self, decision: &'a Decision) -> Finding<'a> {
        let lead = self.lead(decision);
        let mut description = Cow::Borrowed(decision.revised.as_deref().unwrap_or_else(|| {
            let said = &self.claims[decision.described_by].description;
            if said.is_empty() { &lead.title } else { said }
        }));
        for note in &decision.notes {
            let text = description.to_mut();
            text.push_str("\n\n");
            text.push_str(note);
        }
        Finding {
            severity: decision.severity,
            confidence: decision.confidence,
            category: self.members(decision).find_map(|claim| claim.category.as_deref()),
            file: lead.file.as_deref(),
            line: lead.line,
            end_line: lead.end_line,
            title: &lead.title,
            description,
            suggestion: &self.claims[decision.suggested_by].suggestion,
            source: self.source(decision),
            cross_examination_trail: self.trail(decision),
        }
    }

    /// Where a finding comes from, if everything in it was first observed in round 2.
    fn source(&self, decision: &Decision) -> Option<&'static str> {
        let mut all = decision.members.iter().chain(&decision.repeats);
        all.all(|at| self.claims[*at].observed).then_some("round2_observation")
    }

    fn trail(&self, decision: &'a Decision) -> Trail<'a> {
        let lead = self.lead(decision);
        let all: Vec<&Claim> =
            decision.members.iter().chain(&decision.repeats).map(|at| &self.claims[*at]).collect();
        let effect = self.index.effect(&all);
        let round2 = self.reviewers.iter().map(|name| {
            let said = said_of(&effect, name);
            let (action, adjustment) = said.map_or(("N/A", 0), |said| (said.0.as_str(), said.1));
            let reasoning = said.map_or("", |said| said.2);
            (*name, Round2 { action, confidence_adjustment: adjustment, reasoning })
        });
        Trail {
            round1: Round1 {
                original_model: &lead.model,
                original_severity: severity(lead),
                original_confidence: super::normal::confidence(lead),
            },
            round2: round2.collect(),
            round3: Round3 {
                defender: effect.defence.map_or(lead.model.as_str(), |said| said.by.as_str()),
                action: effect.defence.map_or("N/A", |said| said.word.as_str()),
                confidence_adjustment: effect.defence.map_or(0, |said| said.adjustment),
                reasoning: effect.defence.map_or("", |said| said.reasoning.as_str()),
            },
            final_confidence_calculation: &decision.formula,
        }
    }

    fn accepted(&self, decision: &'a Decision, finding_index: usize) -> Accepted<'a> {
        Accepted {
            finding_index,
            agreement_level: decision.agreement,
            contributing_models: self.members(decision).map(|claim| claim.model.as_str()).collect(),
            original_severities: self.severities(decision),
            original_confidences: self.confidences(decision),
            resolution_notes: notes(decision),
            challenge: decision.challenge.as_ref(),
        }
    }

    fn uncorroborated(&self, decision: &'a Decision, finding_index: usize) -> Uncorroborated<'a> {
        let lead = self.lead(decision);
        Uncorroborated {
            finding_index,
            original_model: &lead.model,
            original_severity: severity(lead),
            original_confidence: decision.original_confidence,
            validation_score: decision.score,
            would_decide: &decision.reversal,
            resolution_notes: notes(decision),
            challenge: decision.challenge.as_ref(),
        }
    }

    /// One row a reviewer whose finding is rejected.
    fn rejected(&self, decision: &'a Decision) -> impl Iterator<Item = Rejected<'a>> {
        self.members(decision).filter(|claim| !claim.denies).map(|claim| Rejected {
            original_title: &claim.title,
            original_model: &claim.model,
            original_severity: severity(claim),
            original_confidence: super::normal::confidence(claim),
            rejection_reason: &decision.why,
            reversal_criteria: &decision.reversal,
            notes: &decision.notes,
            source: self.source(decision),
            cross_examination_trail: self.trail(decision),
        })
    }

    fn disputed(&self, decision: &'a Decision) -> Disputed<'a> {
        let lead = self.lead(decision);
        let mut perspectives: BTreeMap<&str, String> = BTreeMap::new();
        let all: Vec<&Claim> =
            decision.members.iter().chain(&decision.repeats).map(|at| &self.claims[*at]).collect();
        for claim in self.members(decision) {
            let said = if claim.description.is_empty() { &claim.title } else { &claim.description };
            let word = if claim.denies { "no issue" } else { severity(claim).as_str() };
            perspectives.insert(&claim.model, format!("{word}: {said}"));
        }
        for said in self.index.effect(&all).examinations {
            let word = format!("{}: {}", said.word.as_str(), said.reasoning);
            perspectives.entry(&said.by).and_modify(|text| text.push_str(&format!("; {word}"))).or_insert(word);
        }
        let place = super::evidence::place(lead);
        let mut questions = match decision.standing {
            Standing::Conflicted(_) => decision.notes.clone(),
            Standing::Agreed | Standing::Unique => vec![format!("does \"{}\" happen at {place}?", lead.title)],
        };
        questions.extend(decision.challenge.iter().map(|asked| asked.test.clone()));
        let escalate = if decision.escalate { "; the recommendation depends on it" } else { "" };
        Disputed {
            title: &lead.title,
            file: lead.file.as_deref(),
            line: lead.line,
            severity: decision.severity,
            confidence: decision.confidence,
            conflict_type: match decision.standing {
                Standing::Conflicted(conflict) => Some(conflict),
                Standing::Agreed | Standing::Unique => None,
            },
            original_severities: self.severities(decision),
            original_confidences: self.confidences(decision),
            perspectives,
            dispute_reason: &decision.why,
            notes: &decision.notes,
            unresolved_questions: questions,
            recommended_action: format!("{}{escalate}", decision.action.as_deref().unwrap_or(&decision.reversal)),
            escalate: decision.escalate,
            source: self.source(decision),
            cross_examination_trail: self.trail(decision),
        }
    }
}

/// A reviewer's word on a group: word, adjustment, reasoning.
fn said_of<'a>(effect: &super::debate::Effect<'a>, name: &str) -> Option<(ExaminationWord, i32, &'a str)> {
    let said = effect.examinations.iter().find(|said| said.by == name)?;
    Some((said.word, said.adjustment, said.reasoning.as_str()))
}

fn severity(claim: &Claim) -> Level {
    claim.severity.unwrap_or(Level::Medium)
}

/// Why, and what to know besides.
fn notes(decision: &Decision) -> String {
    std::iter::once(&decision.why).chain(&decision.notes).cloned().collect::<Vec<_>>().join("; ")
}
