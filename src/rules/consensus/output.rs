//! The answer in the form of the specification, with `groups` beside it.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{Class, Debate, Statistics, debate};
use crate::rules::consensus::claim::{Claim, ClaimDecision, ClaimStanding, Consensus, Level, Policy};
use crate::rules::consensus::normalise;

/// The consensus of the specification. Its rows are made one after another while it is written: those of 100,000 findings
/// at once take 0.9 GiB and half of the time.
pub struct MergeAnswer<'a> {
    consensus: &'a Consensus,
    view: View<'a>,
    policy: Policy,
    id: Option<&'a str>,
}

#[derive(Serialize)]
struct Form<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    model: &'static str,
    role: &'static str,
    policy: Policy,
    file: Option<&'a str>,
    findings: Rows<'a>,
    consensus: Lists<'a>,
    debate_statistics: &'a Statistics,
    summary: &'a str,
    groups: Rows<'a>,
}

#[derive(Serialize)]
struct Lists<'a> {
    accepted: Rows<'a>,
    uncorroborated: Rows<'a>,
    rejected: Rows<'a>,
    disputed: Rows<'a>,
}

/// The rows of a list, of which each decision has any number. They are made of the decision and its index in `findings`.
struct Rows<'a> {
    answer: &'a MergeAnswer<'a>,
    of: fn(&View<'_>, &ClaimDecision, usize) -> Vec<Value>,
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut findings = 0;
        serializer.collect_seq(self.answer.consensus.decisions.iter().flat_map(|decision| {
            let rows = (self.of)(&self.answer.view, decision, findings);
            findings += usize::from(decision.is_finding());
            rows
        }))
    }
}

impl Serialize for MergeAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = |of| Rows { answer: self, of };
        let form = Form {
            id: self.id,
            model: "glee",
            role: "debate-arbitrator",
            policy: self.policy,
            file: one_file(self.view.claims),
            findings: rows(|view, decision, _| row_if(decision.is_finding(), || view.finding(decision))),
            consensus: Lists {
                accepted: rows(|view, decision, index| {
                    row_if(decision.class == Class::Accepted, || view.accepted(decision, index))
                }),
                uncorroborated: rows(|view, decision, index| {
                    row_if(decision.class == Class::Uncorroborated, || view.uncorroborated(decision, index))
                }),
                rejected: rows(|view, decision, _| match decision.class {
                    Class::Rejected => view.rejected(decision).collect(),
                    _ => Vec::new(),
                }),
                disputed: rows(|view, decision, _| {
                    row_if(decision.class == Class::Disputed, || view.disputed(decision))
                }),
            },
            debate_statistics: &self.consensus.statistics,
            summary: &self.consensus.summary,
            groups: rows(|view, decision, _| {
                let members: Vec<&str> = view.all(decision).iter().map(|claim| claim.id.as_str()).collect();
                vec![json!({ "members": members, "class": decision.class, "why": decision.why })]
            }),
        };
        form.serialize(serializer)
    }
}

fn row_if(is_there: bool, row: impl FnOnce() -> Value) -> Vec<Value> {
    is_there.then(row).into_iter().collect()
}

impl ClaimDecision {
    fn is_finding(&self) -> bool {
        matches!(self.class, Class::Accepted | Class::Uncorroborated)
    }
}

impl Consensus {
    /// The answer to the same claims and debate that were merged; `id` is that of the run, if it has one.
    pub fn answer<'a>(
        &'a self,
        claims: &'a [Claim],
        debate: &'a Debate,
        policy: Policy,
        id: Option<&'a str>,
    ) -> MergeAnswer<'a> {
        let reviewers = self.statistics.findings_per_model.keys().map(String::as_str).collect();
        MergeAnswer {
            consensus: self,
            view: View { claims, index: debate::Index::of(debate), reviewers },
            policy,
            id,
        }
    }
}

/// The file that all claims are about, if it is one.
fn one_file(claims: &[Claim]) -> Option<&str> {
    let first = claims.first()?.file.as_deref()?;
    claims.iter().all(|claim| claim.file.as_deref() == Some(first)).then_some(first)
}

/// Leaves optional fields out that say nothing; the others are `null` then.
fn row(mut row: Value) -> Value {
    const OPTIONAL: [&str; 6] = ["file", "end_line", "source", "challenge", "conflict_type", "notes"];
    if let Value::Object(fields) = &mut row {
        let is_void = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        fields.retain(|name, value| !OPTIONAL.contains(&name.as_str()) || !is_void(value));
    }
    row
}

struct View<'a> {
    claims: &'a [Claim],
    index: debate::Index<'a>,
    reviewers: Vec<&'a str>,
}

impl View<'_> {
    fn members(&self, decision: &ClaimDecision) -> impl Iterator<Item = &Claim> {
        decision.members.iter().map(|at| &self.claims[*at])
    }

    /// The members and their repeats.
    fn all(&self, decision: &ClaimDecision) -> Vec<&Claim> {
        decision.members.iter().chain(&decision.repeats).map(|at| &self.claims[*at]).collect()
    }

    fn severities(&self, decision: &ClaimDecision) -> BTreeMap<&str, Level> {
        self.members(decision).map(|claim| (claim.model.as_str(), severity(claim))).collect()
    }

    fn confidences(&self, decision: &ClaimDecision) -> BTreeMap<&str, Option<u8>> {
        self.members(decision).map(|claim| (claim.model.as_str(), normalise::confidence(claim))).collect()
    }

    fn finding(&self, decision: &ClaimDecision) -> Value {
        let lead = &self.claims[decision.members[0]];
        let said = &self.claims[decision.described_by].description;
        let said = decision.revised.as_ref().unwrap_or(if said.is_empty() { &lead.title } else { said });
        let description: Vec<&str> = std::iter::once(said).chain(&decision.notes).map(String::as_str).collect();
        row(json!({
            "severity": decision.severity,
            "confidence": decision.confidence,
            "category": self.members(decision).find_map(|claim| claim.category.as_deref()),
            "file": lead.file,
            "line": lead.line,
            "end_line": lead.end_line,
            "title": lead.title,
            "description": description.join("\n\n"),
            "suggestion": self.claims[decision.suggested_by].suggestion,
            "source": self.source(decision),
            "cross_examination_trail": self.trail(decision),
        }))
    }

    /// Where a finding comes from, if everything in it was first observed in round 2.
    fn source(&self, decision: &ClaimDecision) -> Option<&'static str> {
        self.all(decision).iter().all(|claim| claim.observed).then_some("round2_observation")
    }

    fn trail(&self, decision: &ClaimDecision) -> Value {
        let lead = &self.claims[decision.members[0]];
        let effect = self.index.effect(&self.all(decision));
        let round2 = self.reviewers.iter().map(|name| {
            let said = effect.examinations.iter().find(|said| said.by == *name);
            let said = json!({
                "action": said.map_or("N/A", |said| said.word.as_str()),
                "confidence_adjustment": said.map_or(0, |said| said.adjustment),
                "reasoning": said.map_or("", |said| &said.reasoning),
            });
            ((*name).to_owned(), said)
        });
        json!({
            "round1": {
                "original_model": lead.model,
                "original_severity": severity(lead),
                "original_confidence": normalise::confidence(lead),
            },
            "round2": round2.collect::<Map<String, Value>>(),
            "round3": {
                "defender": effect.defence.map_or(&lead.model, |said| &said.by),
                "action": effect.defence.map_or("N/A", |said| said.word.as_str()),
                "confidence_adjustment": effect.defence.map_or(0, |said| said.adjustment),
                "reasoning": effect.defence.map_or("", |said| &said.reasoning),
            },
            "final_confidence_calculation": decision.formula,
        })
    }

    fn accepted(&self, decision: &ClaimDecision, finding_index: usize) -> Value {
        row(json!({
            "finding_index": finding_index,
            "agreement_level": decision.agreement,
            "contributing_models": self.members(decision).map(|claim| claim.model.as_str()).collect::<Vec<_>>(),
            "original_severities": self.severities(decision),
            "original_confidences": self.confidences(decision),
            "resolution_notes": notes(decision),
            "challenge": decision.challenge,
        }))
    }

    fn uncorroborated(&self, decision: &ClaimDecision, finding_index: usize) -> Value {
        let lead = &self.claims[decision.members[0]];
        row(json!({
            "finding_index": finding_index,
            "original_model": lead.model,
            "original_severity": severity(lead),
            "original_confidence": decision.original_confidence,
            "validation_score": decision.score,
            "would_decide": decision.reversal,
            "resolution_notes": notes(decision),
            "challenge": decision.challenge,
        }))
    }

    /// One row a reviewer whose finding is rejected.
    fn rejected(&self, decision: &ClaimDecision) -> impl Iterator<Item = Value> {
        self.members(decision).filter(|claim| !claim.denies).map(|claim| {
            row(json!({
                "original_title": claim.title,
                "original_model": claim.model,
                "original_severity": severity(claim),
                "original_confidence": normalise::confidence(claim),
                "rejection_reason": decision.why,
                "reversal_criteria": decision.reversal,
                "notes": decision.notes,
                "source": self.source(decision),
                "cross_examination_trail": self.trail(decision),
            }))
        })
    }

    fn disputed(&self, decision: &ClaimDecision) -> Value {
        let lead = &self.claims[decision.members[0]];
        let mut perspectives: BTreeMap<&str, String> = BTreeMap::new();
        for claim in self.members(decision) {
            let said = if claim.description.is_empty() { &claim.title } else { &claim.description };
            let word = if claim.denies { "no issue" } else { severity(claim).as_str() };
            perspectives.insert(&claim.model, format!("{word}: {said}"));
        }
        for said in self.index.effect(&self.all(decision)).examinations {
            let word = format!("{}: {}", said.word.as_str(), said.reasoning);
            perspectives.entry(&said.by).and_modify(|text| text.push_str(&format!("; {word}"))).or_insert(word);
        }
        let place = super::evidence::place(lead);
        let (conflict, mut questions) = match decision.standing {
            ClaimStanding::Conflicted(conflict) => (Some(conflict), decision.notes.clone()),
            ClaimStanding::Agreed | ClaimStanding::Unique => {
                (None, vec![format!("does \"{}\" happen at {place}?", lead.title)])
            }
        };
        questions.extend(decision.challenge.iter().map(|asked| asked.test.clone()));
        let action = decision.action.as_deref().unwrap_or(&decision.reversal);
        let escalate = if decision.escalate { "; the recommendation depends on it" } else { "" };
        row(json!({
            "title": lead.title,
            "file": lead.file,
            "line": lead.line,
            "severity": decision.severity,
            "confidence": decision.confidence,
            "conflict_type": conflict,
            "original_severities": self.severities(decision),
            "original_confidences": self.confidences(decision),
            "perspectives": perspectives,
            "dispute_reason": decision.why,
            "notes": decision.notes,
            "unresolved_questions": questions,
            "recommended_action": format!("{action}{escalate}"),
            "escalate": decision.escalate,
            "source": self.source(decision),
            "cross_examination_trail": self.trail(decision),
        }))
    }
}

fn severity(claim: &Claim) -> Level {
    claim.severity.unwrap_or(Level::Medium)
}

/// Why, and what to know besides.
fn notes(decision: &ClaimDecision) -> String {
    std::iter::once(&decision.why).chain(&decision.notes).cloned().collect::<Vec<_>>().join("; ")
}
