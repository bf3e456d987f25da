//! Serialises the result of a merge in the JSON format of the specification, with the additional fields `groups` and
//! `unsure`, and with the findings of a group as its `members`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::debate::{Debate, Index};
use super::group::{Consensus, Group, GroupState, Level, Member, Policy, Statistics};
use super::{evidence, normalise};
use crate::domain::{Class, dissent};

/// The result of a merge, in the JSON format of the specification. Rows are built one at a time during
/// serialisation, because all rows for 100,000 findings together would need 0.9 GiB.
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
    unsure: Vec<[&'a str; 2]>,
}

#[derive(Serialize)]
struct Lists<'a> {
    accepted: Rows<'a>,
    uncorroborated: Rows<'a>,
    rejected: Rows<'a>,
    disputed: Rows<'a>,
}

/// A list in the JSON result of a merge. The function `of` gets a group and the group's index in the JSON list
/// `findings`, and returns the rows of the group.
struct Rows<'a> {
    answer: &'a MergeAnswer<'a>,
    of: fn(&View<'_>, &Group, usize) -> Vec<Value>,
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut findings = 0;
        serializer.collect_seq(self.answer.consensus.groups.iter().flat_map(|group| {
            let rows = (self.of)(&self.answer.view, group, findings);
            findings += usize::from(group.is_finding());
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
            file: one_file(self.view.members),
            findings: rows(|view, group, _| row_if(group.is_finding(), || view.finding(group))),
            consensus: Lists {
                accepted: rows(|view, group, index| {
                    row_if(group.class == Class::Accepted, || {
                        view.accepted(group, index)
                    })
                }),
                uncorroborated: rows(|view, group, index| {
                    row_if(group.class == Class::Uncorroborated, || {
                        view.uncorroborated(group, index)
                    })
                }),
                rejected: rows(|view, group, _| match group.class {
                    Class::Rejected => view.rejected(group).collect(),
                    _ => Vec::new(),
                }),
                disputed: rows(|view, group, _| {
                    row_if(group.class == Class::Disputed, || view.disputed(group))
                }),
            },
            debate_statistics: &self.consensus.statistics,
            summary: &self.consensus.summary,
            groups: rows(|view, group, _| {
                let members: Vec<&str> = view
                    .all(group)
                    .iter()
                    .map(|member| member.id.as_str())
                    .collect();
                vec![json!({ "members": members, "class": group.class, "why": group.why })]
            }),
            unsure: self
                .consensus
                .unsure
                .iter()
                .map(|(a, b)| [*a, *b].map(|index| self.view.members[index].id.as_str()))
                .collect(),
        };
        form.serialize(serializer)
    }
}

fn row_if(is_there: bool, row: impl FnOnce() -> Value) -> Vec<Value> {
    is_there.then(row).into_iter().collect()
}

impl Group {
    fn is_finding(&self) -> bool {
        matches!(self.class, Class::Accepted | Class::Uncorroborated)
    }
}

impl Consensus {
    /// The parameters `members` and `debate` must be the values that were passed to `merge`. `id` is the id of the
    /// run.
    pub fn answer<'a>(
        &'a self,
        members: &'a [Member],
        debate: &'a Debate,
        policy: Policy,
        id: Option<&'a str>,
    ) -> MergeAnswer<'a> {
        let reviewers = self
            .statistics
            .findings_per_model
            .keys()
            .map(String::as_str)
            .collect();
        MergeAnswer {
            consensus: self,
            view: View {
                members,
                index: Index::of(debate, policy),
                reviewers,
            },
            policy,
            id,
        }
    }
}

fn one_file(members: &[Member]) -> Option<&str> {
    let first = members.first()?.raw.file.as_deref()?;
    members
        .iter()
        .all(|member| member.raw.file.as_deref() == Some(first))
        .then_some(first)
}

/// Removes empty optional fields. Required fields remain, even if their value is `null`.
fn row(mut row: Value) -> Value {
    const OPTIONAL: [&str; 8] = [
        "cwe",
        "file",
        "end_line",
        "source",
        "challenge",
        "conflict_type",
        "members",
        "notes",
    ];
    if let Value::Object(fields) = &mut row {
        fields.retain(|name, value| {
            !OPTIONAL.contains(&name.as_str())
                || !(value.is_null() || value.as_array().is_some_and(Vec::is_empty))
        });
    }
    row
}

struct View<'a> {
    members: &'a [Member],
    index: Index<'a>,
    reviewers: Vec<&'a str>,
}

impl View<'_> {
    fn members(&self, group: &Group) -> impl Iterator<Item = &Member> {
        group.members.iter().map(|at| &self.members[*at])
    }

    fn all(&self, group: &Group) -> Vec<&Member> {
        group
            .members
            .iter()
            .chain(&group.repeats)
            .map(|at| &self.members[*at])
            .collect()
    }

    /// All findings of a group as they were raised, or nothing if the row of the group has the text of the only one.
    fn raised(&self, group: &Group) -> Vec<Value> {
        let all = self.all(group);
        if all.len() == 1 && group.revised.is_none() && group.class != Class::Rejected {
            return Vec::new();
        }
        let raised = all.iter().map(|member| {
            row(json!({
                "id": member.id,
                "model": member.model,
                "severity": member.level(),
                "confidence": normalise::confidence(member),
                "file": member.raw.file,
                "line": member.raw.line,
                "end_line": member.raw.end_line,
                "cwe": member.raw.cwe,
                "title": member.title(),
                "description": member.description(),
                "suggestion": member.suggestion(),
            }))
        });
        raised.collect()
    }

    fn severities(&self, group: &Group) -> BTreeMap<&str, Level> {
        self.members(group)
            .map(|member| (member.model.as_str(), member.level()))
            .collect()
    }

    fn confidences(&self, group: &Group) -> BTreeMap<&str, Option<u8>> {
        self.members(group)
            .map(|member| (member.model.as_str(), normalise::confidence(member)))
            .collect()
    }

    fn lead(&self, group: &Group) -> &Member {
        &self.members[group.members[0]]
    }

    fn finding(&self, group: &Group) -> Value {
        let lead = self.lead(group);
        let mut description = match &group.revised {
            Some(revised) => revised.clone(),
            None => said(&self.members[group.described_by], lead),
        };
        for note in group.notes.iter().chain(&dissent(&group.assessments)) {
            description.push_str("\n\n");
            description.push_str(note);
        }
        row(json!({
            "severity": group.severity,
            "confidence": group.confidence,
            "cwe": self.members(group).find_map(|member| member.raw.cwe),
            "category": self.members(group).find_map(|member| member.raw.category.as_deref()),
            "file": lead.raw.file,
            "line": lead.raw.line,
            "end_line": lead.raw.end_line,
            "title": lead.title(),
            "description": description,
            "suggestion": self.members[group.suggested_by].suggestion(),
            "source": self.source(group),
            "members": self.raised(group),
            "cross_examination_trail": self.trail(group),
        }))
    }

    fn source(&self, group: &Group) -> Option<&'static str> {
        self.all(group)
            .iter()
            .all(|member| member.observed)
            .then_some("round2_observation")
    }

    fn trail(&self, group: &Group) -> Value {
        let lead = self.lead(group);
        let effect = self.index.effect(&self.all(group));
        let mut reviewers: BTreeSet<&str> = self.reviewers.iter().copied().collect();
        reviewers.extend(
            group
                .assessments
                .iter()
                .map(|said| said.reviewer.0.as_str()),
        );
        let mut round2 = Map::new();
        for name in reviewers {
            let said = group
                .assessments
                .iter()
                .find(|said| said.reviewer.0 == name);
            let said = json!({
                "action": said.map_or("N/A", |said| said.action.as_str()),
                "confidence_adjustment": said.map_or(0, |said| said.adjustment),
                "reasoning": said.map_or("", |said| said.reasoning.as_written()),
            });
            round2.insert(name.to_owned(), said);
        }
        json!({
            "round1": {
                "original_model": lead.model,
                "original_severity": lead.level(),
                "original_confidence": lead.raw.confidence,
            },
            "round2": round2,
            "round3": {
                "defender": effect.defence.map_or(&lead.model, |said| &said.by),
                "action": effect.defence.map_or("N/A", |said| said.word.as_str()),
                "confidence_adjustment": effect.defence.map_or(0, |said| said.adjustment),
                "reasoning": effect.defence.map_or("", |said| &said.reasoning),
            },
            "final_confidence_calculation": group.formula,
        })
    }

    fn accepted(&self, group: &Group, finding_index: usize) -> Value {
        row(json!({
            "finding_index": finding_index,
            "agreement_level": group.agreement,
            "contributing_models": self.members(group).map(|member| member.model.as_str()).collect::<Vec<_>>(),
            "original_severities": self.severities(group),
            "original_confidences": self.confidences(group),
            "resolution_notes": notes(group),
            "challenge": group.challenge,
        }))
    }

    fn uncorroborated(&self, group: &Group, finding_index: usize) -> Value {
        let lead = self.lead(group);
        row(json!({
            "finding_index": finding_index,
            "original_model": lead.model,
            "original_severity": lead.level(),
            "original_confidence": group.original_confidence,
            "validation_score": group.score,
            "would_decide": group.reversal,
            "resolution_notes": notes(group),
            "challenge": group.challenge,
        }))
    }

    fn rejected(&self, group: &Group) -> impl Iterator<Item = Value> {
        let all = self.all(group);
        let all_deny = all.iter().all(|member| member.denies);
        all.into_iter()
            .filter(move |member| all_deny || !member.denies)
            .map(|member| {
                row(json!({
                    "original_title": member.title(),
                    "original_model": member.model,
                    "original_severity": member.level(),
                    "original_confidence": normalise::confidence(member),
                    "rejection_reason": group.why,
                    "reversal_criteria": group.reversal,
                    "notes": group.notes,
                    "members": self.raised(group),
                    "source": self.source(group),
                    "cross_examination_trail": self.trail(group),
                }))
            })
    }

    fn disputed(&self, group: &Group) -> Value {
        let lead = self.lead(group);
        let mut perspectives: BTreeMap<&str, String> = BTreeMap::new();
        for member in self.members(group) {
            let word = if member.denies {
                "no issue"
            } else {
                member.level().as_str()
            };
            perspectives.insert(&member.model, format!("{word}: {}", said(member, member)));
        }
        for said in self.index.effect(&self.all(group)).examinations {
            let word = format!("{}: {}", said.word.as_str(), said.reasoning);
            perspectives
                .entry(&said.by)
                .and_modify(|text| text.push_str(&format!("; {word}")))
                .or_insert(word);
        }
        let place = evidence::place(lead);
        let (conflict, mut questions) = match group.state {
            GroupState::Conflicted(conflict) => (Some(conflict), group.notes.clone()),
            GroupState::Agreed | GroupState::Unique => (
                None,
                vec![format!("does \"{}\" happen at {place}?", lead.title())],
            ),
        };
        questions.extend(group.challenge.iter().map(|asked| asked.test.clone()));
        let action = group.action.as_deref().unwrap_or(&group.reversal);
        let escalate = if group.escalate {
            "; the recommendation depends on it"
        } else {
            ""
        };
        row(json!({
            "title": lead.title(),
            "file": lead.raw.file,
            "line": lead.raw.line,
            "severity": group.severity,
            "confidence": group.confidence,
            "conflict_type": conflict,
            "original_severities": self.severities(group),
            "original_confidences": self.confidences(group),
            "perspectives": perspectives,
            "dispute_reason": group.why,
            "notes": group.notes,
            "unresolved_questions": questions,
            "recommended_action": format!("{action}{escalate}"),
            "escalate": group.escalate,
            "members": self.raised(group),
            "source": self.source(group),
            "cross_examination_trail": self.trail(group),
        }))
    }
}

fn said(member: &Member, named: &Member) -> String {
    let description = member.description();
    if description.is_empty() {
        named.title().to_owned()
    } else {
        description.into_owned()
    }
}

fn notes(group: &Group) -> String {
    std::iter::once(&group.why)
        .chain(&group.notes)
        .chain(&dissent(&group.assessments))
        .cloned()
        .collect::<Vec<_>>()
        .join("; ")
}
