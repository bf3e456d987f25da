//! The debate, in which reviewers examine and defend findings before the coder receives the findings.
//!
//! The state of the debate is computed only from events. A missing answer never counts as agreement.

use std::collections::{BTreeMap, HashMap};

use crate::review::findings::merge::Revisions;
use crate::review::findings::numbered::Numbered;
use crate::review::findings::round::RoundContext;
use crate::review::findings::{pairs, recognition};
use crate::review::state::ReviewState;
use glee_model::domain::event::{CallAnswer, CallId, EventKind, Purpose, ReviewEvent};
use glee_model::domain::{
    AgentName, Challenge, Class, DebateMessage, DefenceWord, Defended, ExaminationWord, Examined,
    Finding, FindingId, Role, number_of,
};
use glee_model::rules::consensus::{
    self, Answers, Consensus, Debate, Defence, Examination, Group, Level, Member, Policy,
};
use glee_model::rules::review::mandatory;
use glee_store::config::settings::DebateRounds;
use glee_store::history::queries::rows::Binding;

const LEAD: &str = "team-lead";

/// The number of lines within which a reviewer sees its own findings beside those of others.
const NEAR: u32 = 20;

impl ReviewState {
    pub fn debating(&self) -> DebateRounds {
        self.settings.review.debate
    }

    /// The reviewers that are not embedded. Embedded reviewers cannot take part in a debate.
    pub(crate) fn debaters(&self) -> impl Iterator<Item = &AgentName> {
        self.agents(Role::Reviewer)
            .filter(|agent| agent.adapter != "builtin")
            .map(|agent| &agent.name)
    }

    pub(crate) fn examined_by(&self, agent: &AgentName, round: u32) -> Vec<FindingId> {
        let counts = |finding: &Finding| match self.debating() {
            DebateRounds::Auto => {
                let class = finding.consensus.as_ref().map(|consensus| consensus.class);
                finding.mandatory || class == Some(Class::Uncorroborated)
            }
            DebateRounds::Off | DebateRounds::Two | DebateRounds::Three => true,
        };
        let raised = |finding: &Finding| {
            let mut group = self.group(finding.id).iter();
            group.any(|member| member.raised_by.contains(agent))
        };
        self.debated(round)
            .filter(|finding| !raised(finding) && counts(finding))
            .map(|finding| finding.id)
            .collect()
    }

    /// The findings of `agent` near those of `others`: in the same file, at most [`NEAR`] lines apart. A finding
    /// without a line is near all findings of its file.
    pub fn near(&self, agent: &AgentName, round: u32, others: &[Finding]) -> Vec<Finding> {
        let mut near = Vec::new();
        for own in self.debated(round) {
            let is_near = others.iter().any(|other| {
                let apart = own.raw.line.zip(other.raw.line);
                own.raw.file == other.raw.file
                    && apart.is_none_or(|(one, another)| one.abs_diff(another) <= NEAR)
            });
            if own.raised_by.contains(agent) && is_near {
                near.push(Finding {
                    consensus: None,
                    ..own.clone()
                });
            }
        }
        near
    }

    pub fn challenged(&self, agent: &AgentName, round: u32) -> Vec<(FindingId, Vec<Challenge>)> {
        let said: Vec<(&AgentName, &Examined)> = self.examinations(round).collect();
        self.debated(round)
            .filter(|finding| finding.raised_by.contains(agent))
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

    pub(crate) fn unexamined(&self, agent: &AgentName, round: u32) -> Vec<FindingId> {
        let said: Vec<FindingId> = self
            .examinations(round)
            .filter(|(by, _)| *by == agent)
            .map(|(_, said)| said.finding)
            .collect();
        let asked = self.examined_by(agent, round).into_iter();
        asked.filter(|id| !said.contains(id)).collect()
    }

    pub(crate) fn undefended(
        &self,
        agent: &AgentName,
        round: u32,
    ) -> Vec<(FindingId, Vec<Challenge>)> {
        let said: Vec<FindingId> = self
            .defences(round)
            .filter(|(by, _)| *by == agent)
            .map(|(_, said)| said.finding)
            .collect();
        let asked = self.challenged(agent, round).into_iter();
        asked.filter(|(id, _)| !said.contains(id)).collect()
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

    pub fn examinations(&self, round: u32) -> impl Iterator<Item = (&AgentName, &Examined)> {
        self.answers(Purpose::Examine { round }, |answer| match answer {
            CallAnswer::Examine { examinations, .. } => examinations,
            _ => &[],
        })
    }

    pub fn defences(&self, round: u32) -> impl Iterator<Item = (&AgentName, &Defended)> {
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

    fn silent(&self, asked: &[Purpose]) -> Vec<AgentName> {
        let mut last: BTreeMap<(&AgentName, &Purpose), &CallAnswer> = BTreeMap::new();
        for (id, call) in self
            .calls
            .iter()
            .filter(|(id, _)| asked.contains(&id.purpose))
        {
            last.insert((&id.agent, &id.purpose), &call.answer);
        }
        let failed = |answer: &CallAnswer| {
            matches!(
                answer,
                CallAnswer::Failed { .. } | CallAnswer::Invalid { .. }
            )
        };
        let mut silent: Vec<AgentName> = last
            .into_iter()
            .filter(|(_, answer)| failed(answer))
            .map(|((agent, _), _)| agent.clone())
            .collect();
        silent.dedup();
        silent
    }

    /// The reviewers that have not reviewed each part of the code in a round.
    pub(crate) fn without_review(&self, round: u32) -> Vec<String> {
        let at = usize::try_from(round - 1).unwrap_or(usize::MAX);
        let shards = u32::try_from(self.rounds.get(at).map_or(0, Vec::len)).unwrap_or(u32::MAX);
        let is_complete = |reviewer: &AgentName, shard: u32| {
            let last = self.last_call(reviewer, &Purpose::Review { round, shard });
            last.is_some_and(|(_, call)| {
                matches!(&call.answer, CallAnswer::Review { status, .. } if status.is_complete())
            })
        };
        self.agents(Role::Reviewer)
            .map(|agent| &agent.name)
            .filter(|name| !(0..shards).all(|shard| is_complete(name, shard)))
            .map(|name| name.0.clone())
            .collect()
    }

    pub(crate) fn round_message(&self, round: u32, debate_round: u32) -> DebateMessage {
        let mut content = format!("Round {debate_round} complete: ");
        if debate_round == 2 {
            let count = |word| {
                self.examinations(round)
                    .filter(|(_, said)| said.action == word)
                    .count()
            };
            let [agree, disagree, partial] = [
                ExaminationWord::Agree,
                ExaminationWord::Disagree,
                ExaminationWord::Partial,
            ]
            .map(count);
            let (agree, disagree) = (
                number_of(agree, "agreement"),
                number_of(disagree, "disagreement"),
            );
            content.push_str(&format!("{agree}, {disagree}, {partial} partial"));
            self.add_examined(round, &mut content);
        } else {
            let count = |word| {
                self.defences(round)
                    .filter(|(_, said)| said.action == word)
                    .count()
            };
            let [defended, conceded, modified] = [
                DefenceWord::Defend,
                DefenceWord::Concede,
                DefenceWord::Modify,
            ]
            .map(count);
            content.push_str(&format!(
                "{defended} defended, {conceded} conceded, {modified} modified"
            ));
            self.add_defended(round, &mut content);
        }
        let asked = if debate_round == 2 {
            Purpose::Examine { round }
        } else {
            Purpose::Defend { round }
        };
        for name in self.silent(&[asked]) {
            content.push_str(&format!("; {}", incomplete(&name)));
        }
        let summary = format!("Debate round {debate_round} complete");
        DebateMessage::Message {
            recipient: LEAD.to_owned(),
            content,
            summary,
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
        let who = |disagrees: bool| {
            let named = by_finding.iter().filter_map(|(id, said)| {
                let by = said
                    .iter()
                    .filter(|(_, said)| (said.action == ExaminationWord::Disagree) == disagrees);
                let by: Vec<&str> = by.map(|(by, _)| by.0.as_str()).collect();
                (!by.is_empty()).then(|| format!("{id} ({})", by.join(", ")))
            });
            named.collect()
        };
        listed(content, "confidence changes", changes.collect());
        listed(content, "new agreements", who(false));
        listed(content, "conflicts", who(true));
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

fn incomplete(name: &AgentName) -> String {
    format!("Debate incomplete - {name} did not respond")
}

/// The two messages for a debate that stops early: a request to shut down, and a reply that asks for more time.
pub fn shutdown(debate_round: u32) -> Vec<DebateMessage> {
    let request_id = format!("debate-round-{debate_round}");
    let content = Some(format!(
        "Still processing debate round {debate_round}, need more time to complete consensus"
    ));
    vec![
        DebateMessage::ShutdownRequest {
            request_id: request_id.clone(),
        },
        DebateMessage::ShutdownResponse {
            request_id,
            approve: false,
            content,
        },
    ]
}

pub(crate) struct MergedRound {
    members: Vec<Member>,
    revisions: Revisions,
    debate: Debate,
    consensus: Consensus,
}

impl MergedRound {
    /// Merges the findings of a round after the debate. Includes the findings that reviewers added during the
    /// debate.
    pub(crate) fn of(context: &RoundContext<'_>) -> Self {
        let round = context.round;
        let mut members = context
            .raised(|id| matches!(id.purpose, Purpose::Review { round: of, .. } if of == round));
        if round == 1 {
            members.extend(context.own());
        }
        members.extend(observations(context));
        let debate = debate(context, &members);
        let consensus = consensus::merge(
            &members,
            &debate,
            &context.tree(&members),
            context.lists.policy,
            &answers(context, &members),
        );
        Self {
            members,
            revisions: revisions(context),
            debate,
            consensus,
        }
    }

    /// The findings of the round, and the pairs that may name the same defect and have a finding that was raised in the
    /// debate.
    pub(crate) fn observed(self) -> (Vec<Member>, Vec<(usize, usize)>) {
        let mut unsure = self.consensus.unsure;
        unsure.retain(|(one, other)| self.members[*one].observed || self.members[*other].observed);
        (self.members, unsure)
    }

    /// Updates the agreement of the reviewers on a finding of the round.
    pub(crate) fn corroborate(&self, finding: &mut Finding, context: &RoundContext<'_>) {
        let says = |at: &usize| finding.sources().any(|said| said == self.members[*at].id);
        let mut groups = self.consensus.groups.iter();
        let group = groups.find(|group| group.members.iter().chain(&group.repeats).any(says));
        if let Some(group) = group.filter(|_| finding.consensus.is_some()) {
            let consensus = context.agreement(&self.members, &self.revisions, group);
            finding.raw.confidence = consensus.confidence;
            finding.consensus = Some(consensus);
        }
    }

    pub(crate) fn json(&self, policy: Policy, run: Option<&str>) -> serde_json::Value {
        let answer = self
            .consensus
            .answer(&self.members, &self.debate, policy, run);
        serde_json::to_value(answer).expect("an answer is plain data")
    }
}

pub fn conclude(context: &RoundContext<'_>, bindings: &[Binding]) -> Vec<EventKind> {
    let (state, round) = (context.state, context.round);
    let merged = MergedRound::of(context);
    let groups = &merged.consensus.groups;
    let of_round = || {
        state
            .findings
            .iter()
            .filter(|finding| finding.round == round)
    };
    let known: HashMap<&str, FindingId> = of_round()
        .flat_map(|finding| finding.sources().map(|said| (said, finding.id)))
        .collect();
    // An unknown finding of round 1 restated an open finding when it was merged. An observation is new.
    let mut made = context.groups(&merged.members, &merged.revisions, groups);
    for group in &mut made {
        group.retain(|new| {
            let mut said = new.said.iter();
            said.any(|said| known.contains_key(said.as_str()) || said.starts_with(EXAMINE))
        });
    }
    made.retain(|group| !group.is_empty());
    let text_of = |path: &str| context.text(path);
    let Numbered {
        mut findings,
        joined,
        restated,
    } = context.numbered(made, &known, bindings, &text_of);
    pairs::mark(&mut findings, &merged.members, &merged.consensus.unsure);
    let silent = state.silent(&[Purpose::Examine { round }, Purpose::Defend { round }]);
    let content = merged.json(context.lists.policy, None).to_string();
    let count =
        |wanted: &dyn Fn(&Group) -> bool| groups.iter().filter(|group| wanted(group)).count();
    let alone = match count(&Group::is_alone) {
        0 => String::new(),
        alone => format!(", {alone} of one reviewer alone"),
    };
    let summary = format!(
        "Debate consensus: {} confirmed, {} dismissed, {} disputed{alone}",
        count(&Group::is_confirmed),
        count(&|group| group.class == Class::Rejected),
        count(&|group| group.class == Class::Disputed)
    );
    let report = DebateMessage::Message {
        recipient: LEAD.to_owned(),
        content,
        summary,
    };
    let new = findings
        .iter()
        .filter(|finding| finding.was.is_none() && state.finding(finding.id).is_none());
    let ruled = recognition::earlier(new, bindings, &context.compared(&text_of));
    let notices = silent
        .iter()
        .map(|name| EventKind::notice(incomplete(name)))
        .collect::<Vec<_>>();
    let concluded = ReviewEvent::DebateConcluded {
        round,
        findings,
        silent,
        report,
        restated,
    };
    let was_debated = state.debate_rounds.contains(&(round, 2));
    std::iter::once(concluded.into())
        .chain(joined)
        .chain(ruled)
        .chain(notices)
        .chain(was_debated.then(end_of_debate))
        .collect()
}

fn end_of_debate() -> EventKind {
    let request_id = "debate-complete".to_owned();
    let messages = vec![
        DebateMessage::ShutdownRequest {
            request_id: request_id.clone(),
        },
        DebateMessage::ShutdownResponse {
            request_id,
            approve: true,
            content: None,
        },
    ];
    ReviewEvent::DebateShutdown { messages }.into()
}

/// The ids of findings that reviewers added during an examination begin with this prefix (see
/// [`CallId::file_stem`]).
const EXAMINE: &str = "examine-";

pub fn observations(context: &RoundContext<'_>) -> Vec<Member> {
    let round = context.round;
    let calls = context
        .state
        .calls
        .iter()
        .filter(|(id, _)| id.purpose == Purpose::Examine { round });
    let seen = calls.filter_map(|(id, call)| match &call.answer {
        CallAnswer::Examine { observations, .. } => Some((id, observations)),
        _ => None,
    });
    let mut members = context.members(seen.flat_map(|(id, observations)| {
        let stem = id.file_stem();
        observations
            .iter()
            .enumerate()
            .map(move |(index, raw)| (format!("{stem}/{index}"), &id.agent, raw))
    }));
    members.iter_mut().for_each(|member| member.observed = true);
    members
}

fn revisions(context: &RoundContext<'_>) -> Revisions {
    let mut revisions = Revisions::default();
    for (by, said) in context.state.defences(context.round) {
        let Some(source) = source_of(context.state, said.finding, Some(by)) else {
            continue;
        };
        if let Some(severity) = said.revised_severity.clone() {
            let severity = mandatory::normalised(severity);
            revisions.severities.insert(source.clone(), severity);
        }
        if let Some(text) = said.revised_description.clone() {
            revisions.texts.insert(source, text);
        }
    }
    revisions
}

/// Returns the id of the raw finding that the reviewer `by` wrote for the finding `id`. If `by` is `None`, uses
/// the first reviewer that raised the finding.
fn source_of(state: &ReviewState, id: FindingId, by: Option<&AgentName>) -> Option<String> {
    let finding = state.finding(id)?;
    let consensus = finding.consensus.as_ref()?;
    let by = by.or_else(|| finding.raised_by.first())?;
    let mut positions = consensus.positions.iter();
    let own = positions.find(|position| position.reviewer == *by && !position.denies)?;
    Some(own.said.clone())
}

/// What was said about pairs of findings: by who was asked, and by reviewers that called an examined finding the same as
/// their own.
fn answers(context: &RoundContext<'_>, members: &[Member]) -> Answers {
    let state = context.state;
    let mut answers = state.pair_answers();
    for (by, said) in state.examinations(context.round) {
        let Some(own) = said.same_as else { continue };
        let pair = (
            source_of(state, said.finding, None),
            source_of(state, own, Some(by)),
        );
        if let (Some(examined), Some(own)) = pair
            && [&examined, &own]
                .iter()
                .all(|id| members.iter().any(|member| member.id == **id))
        {
            answers.add(&examined, &own, true);
        }
    }
    answers
}

fn debate(context: &RoundContext<'_>, members: &[Member]) -> Debate {
    let (state, round) = (context.state, context.round);
    let source = |id, by| {
        source_of(state, id, by).filter(|id| members.iter().any(|member| member.id == *id))
    };
    let examinations = state.examinations(round).filter_map(|(by, said)| {
        Some(Examination {
            by: by.0.clone(),
            finding: source(said.finding, None)?,
            word: said.action,
            adjustment: said.confidence_adjustment,
            reasoning: said.reasoning.as_written().to_owned(),
        })
    });
    let defences = state.defences(round).filter_map(|(by, said)| {
        let severity = said.revised_severity.clone().map(mandatory::normalised);
        Some(Defence {
            by: by.0.clone(),
            finding: source(said.finding, Some(by))?,
            word: said.action,
            adjustment: said.confidence_adjustment,
            reasoning: said.reasoning.as_written().to_owned(),
            revised_severity: severity.map(|severity| Level::of(severity.tag)),
            revised_description: said
                .revised_description
                .as_ref()
                .map(|text| text.as_written().to_owned()),
        })
    });
    let reviewed = context.debate();
    let mut silent = reviewed.silent;
    for AgentName(name) in state.silent(&[Purpose::Examine { round }, Purpose::Defend { round }]) {
        if !silent.contains(&name) {
            silent.push(name);
        }
    }
    Debate {
        examinations: examinations.collect(),
        defences: defences.collect(),
        silent,
        reviewers: reviewed.reviewers,
    }
}
