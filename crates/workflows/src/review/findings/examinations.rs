//! The debate, in which reviewers examine and defend findings before the coder receives the findings.
//!
//! The state of the debate is computed only from events. A missing answer never counts as agreement.

use std::collections::BTreeMap;

use crate::review::state::ReviewState;
use glee_model::domain::event::{CallAnswer, CallId, Purpose, ReviewEvent};
use glee_model::domain::{
    AgentName, Challenge, Class, DebateMessage, DefenceWord, Defended, ExaminationWord, Examined,
    Finding, FindingId, Role, number_of,
};
use glee_store::config::choices::DebateRounds;

pub(super) const LEAD: &str = "team-lead";

/// The number of lines within which a reviewer sees its own findings beside those of others.
const NEAR: u32 = 20;

impl ReviewState {
    pub(crate) fn debating(&self) -> DebateRounds {
        self.settings.review.debate
    }

    /// The reviewers that are not embedded. Embedded reviewers cannot take part in a debate.
    pub(crate) fn debaters(&self) -> impl Iterator<Item = &AgentName> {
        self.agents(Role::Reviewer)
            .filter(|agent| !agent.is_embedded())
            .map(|agent| &agent.name)
    }

    pub(crate) fn examined_by(&self, agent: &AgentName, round: u32) -> Vec<FindingId> {
        self.debated(round)
            .filter(|finding| {
                let counts = match self.debating() {
                    DebateRounds::Auto => {
                        let class = finding.consensus.as_ref().map(|consensus| consensus.class);
                        finding.mandatory || class == Some(Class::Uncorroborated)
                    }
                    DebateRounds::Off | DebateRounds::Two | DebateRounds::Three => true,
                };
                let mut group = self.group(finding.id).iter();
                counts && !group.any(|member| member.raised_by.contains(agent))
            })
            .map(|finding| finding.id)
            .collect()
    }

    /// The findings of `agent` near those of `others`: in the same file, at most [`NEAR`] lines apart. A finding
    /// without a line is near all findings of its file.
    pub(crate) fn near(&self, agent: &AgentName, round: u32, others: &[Finding]) -> Vec<Finding> {
        let mut near = Vec::new();
        for own in self.debated(round) {
            let is_near = others.iter().any(|other| {
                let apart = own.raw.line.zip(other.raw.line);
                own.raw.file == other.raw.file
                    && apart.is_none_or(|(one, another)| one.abs_diff(another) <= NEAR)
            });
            if own.raised_by.contains(agent) && is_near {
                near.push(own.without_consensus());
            }
        }
        near
    }

    pub(crate) fn unexamined(&self, agent: &AgentName, round: u32) -> Vec<FindingId> {
        let said: Vec<FindingId> = self
            .examinations(round)
            .filter(|(by, _)| *by == agent)
            .map(|(_, said)| said.finding)
            .collect();
        let asked = self.examined_by(agent, round).into_iter();
        asked.filter(|id| !said.contains(id)).collect()
    }

    /// The findings of the agent that others challenged, and that it has not defended yet.
    pub(crate) fn undefended(
        &self,
        agent: &AgentName,
        round: u32,
    ) -> Vec<(FindingId, Vec<Challenge>)> {
        let defended: Vec<FindingId> = self
            .defences(round)
            .filter(|(by, _)| *by == agent)
            .map(|(_, said)| said.finding)
            .collect();
        let said: Vec<(&AgentName, &Examined)> = self.examinations(round).collect();
        self.debated(round)
            .filter(|finding| finding.raised_by.contains(agent) && !defended.contains(&finding.id))
            .filter_map(|finding| {
                let against = said.iter().filter(|(by, said)| {
                    said.finding == finding.id
                        && said.action != ExaminationWord::Agree
                        && *by != agent
                });
                let challenges: Vec<Challenge> = against
                    .map(|(by, said)| Challenge {
                        by: (*by).clone(),
                        said: (*said).clone(),
                    })
                    .collect();
                (!challenges.is_empty()).then_some((finding.id, challenges))
            })
            .collect()
    }

    /// Whether the agent left at least one finding unanswered in this call of the debate.
    pub(crate) fn left_unanswered(&self, call: &CallId) -> bool {
        match call.purpose {
            Purpose::Examine { round } => !self.unexamined(&call.agent, round).is_empty(),
            Purpose::Defend { round } => !self.undefended(&call.agent, round).is_empty(),
            _ => false,
        }
    }

    /// The findings of a round, without the findings that repeat an earlier dispute.
    fn debated(&self, round: u32) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| {
            finding.round == round
                && finding.consensus.is_some()
                && self.progress(finding.id).repeats.is_none()
        })
    }

    pub(crate) fn examinations(&self, round: u32) -> impl Iterator<Item = (&AgentName, &Examined)> {
        self.answers(Purpose::Examine { round }, |answer| match answer {
            CallAnswer::Examine { examinations, .. } => examinations,
            _ => &[],
        })
    }

    pub(crate) fn defences(&self, round: u32) -> impl Iterator<Item = (&AgentName, &Defended)> {
        self.answers(Purpose::Defend { round }, |answer| match answer {
            CallAnswer::Defend { defences } => defences,
            _ => &[],
        })
    }

    fn answers<T: 'static>(
        &self,
        purpose: Purpose,
        read: fn(&CallAnswer) -> &[T],
    ) -> impl Iterator<Item = (&AgentName, &T)> {
        let calls = self
            .calls
            .iter()
            .filter(move |(id, _)| id.purpose == purpose);
        calls.flat_map(move |(id, call)| {
            read(&call.answer).iter().map(move |said| (&id.agent, said))
        })
    }

    pub(super) fn silent(&self, asked: &[Purpose]) -> Vec<AgentName> {
        let last = self.last_calls().into_iter();
        let missing =
            last.filter(|(id, call)| asked.contains(&id.purpose) && call.answer.is_missing());
        let mut silent: Vec<AgentName> = missing.map(|(id, _)| id.agent.clone()).collect();
        silent.dedup();
        silent
    }

    /// The reviewers that have not reviewed each part of the code in a round.
    pub(crate) fn without_review(&self, round: u32) -> Vec<String> {
        let mut without = Vec::new();
        for reviewer in self.agents(Role::Reviewer) {
            let is_complete = (0..).zip(self.shards(round)).all(|(shard, _)| {
                let last = self.last_call(&reviewer.name, &Purpose::Review { round, shard });
                last.is_some_and(|(_, call)| {
                    matches!(&call.answer, CallAnswer::Review { status, .. } if status.is_complete())
                })
            });
            if !is_complete {
                without.push(reviewer.name.0.clone());
            }
        }
        without
    }

    pub(crate) fn debate_round(&self, round: u32, debate_round: u32) -> ReviewEvent {
        let mut content = format!("Round {debate_round} complete: ");
        let asked = if debate_round == 2 {
            let words = [
                ExaminationWord::Agree,
                ExaminationWord::Disagree,
                ExaminationWord::Partial,
            ];
            let [agree, disagree, partial] = words.map(|word| {
                let examinations = self.examinations(round);
                examinations.filter(|(_, said)| said.action == word).count()
            });
            let agree = number_of(agree, "agreement");
            let disagree = number_of(disagree, "disagreement");
            content.push_str(&format!("{agree}, {disagree}, {partial} partial"));
            self.add_examined(round, &mut content);
            Purpose::Examine { round }
        } else {
            let words = [
                DefenceWord::Defend,
                DefenceWord::Concede,
                DefenceWord::Modify,
            ];
            let [defended, conceded, modified] = words.map(|word| {
                let defences = self.defences(round);
                defences.filter(|(_, said)| said.action == word).count()
            });
            content.push_str(&format!(
                "{defended} defended, {conceded} conceded, {modified} modified"
            ));
            self.add_defended(round, &mut content);
            Purpose::Defend { round }
        };
        for name in self.silent(&[asked]) {
            content.push_str(&format!("; {}", incomplete(&name)));
        }
        let summary = format!("Debate round {debate_round} complete");
        ReviewEvent::DebateRound {
            round,
            debate_round,
            message: DebateMessage::Message {
                recipient: LEAD.to_owned(),
                content,
                summary,
            },
        }
    }

    fn add_examined(&self, round: u32, content: &mut String) {
        let mut by_finding: BTreeMap<FindingId, Vec<(&AgentName, &Examined)>> = BTreeMap::new();
        for (by, said) in self.examinations(round) {
            by_finding.entry(said.finding).or_default().push((by, said));
        }
        let changes = by_finding.iter().filter_map(|(id, said)| {
            let sum: i32 = said
                .iter()
                .map(|(_, said)| said.confidence_adjustment)
                .sum();
            (sum != 0).then(|| format!("{id} {sum:+}"))
        });
        listed(content, "confidence changes", changes.collect());
        for (what, disagrees) in [("new agreements", false), ("conflicts", true)] {
            let named = by_finding.iter().filter_map(|(id, said)| {
                let by = said
                    .iter()
                    .filter(|(_, said)| (said.action == ExaminationWord::Disagree) == disagrees);
                let by: Vec<&str> = by.map(|(by, _)| by.0.as_str()).collect();
                (!by.is_empty()).then(|| format!("{id} ({})", by.join(", ")))
            });
            listed(content, what, named.collect());
        }
    }

    fn add_defended(&self, round: u32, content: &mut String) {
        let changes = self
            .defences(round)
            .filter(|(_, said)| said.confidence_adjustment != 0);
        let changes =
            changes.map(|(_, said)| format!("{} {:+}", said.finding, said.confidence_adjustment));
        let gave_way = self
            .defences(round)
            .filter(|(_, said)| said.action != DefenceWord::Defend);
        let resolved = gave_way.map(|(by, said)| {
            let word = if said.action == DefenceWord::Concede {
                "conceded"
            } else {
                "modified"
            };
            format!("{} ({word} by {})", said.finding, by.0)
        });
        listed(content, "confidence changes", changes.collect());
        listed(content, "resolved conflicts", resolved.collect());
    }

    pub(crate) fn debate_at_work(&self) -> Option<u32> {
        let round = self.round();
        let begun = self.debating() != DebateRounds::Off && self.debated(round).next().is_some();
        let reported = self.debate_rounds.contains(&(round, 2));
        (begun && !self.concluded.contains(&round)).then_some(if reported { 3 } else { 2 })
    }
}

fn listed(content: &mut String, what: &str, items: Vec<String>) {
    if !items.is_empty() {
        content.push_str(&format!("; {what}: {}", items.join(", ")));
    }
}

pub(super) fn incomplete(name: &AgentName) -> String {
    format!("Debate incomplete - {name} did not respond")
}
