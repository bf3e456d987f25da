//! Concludes the debate of a round: merges the findings with what the reviewers said in it.

use std::collections::HashMap;

use crate::review::findings::examinations::{LEAD, incomplete};
use crate::review::findings::merge::Revisions;
use crate::review::findings::numbered::Numbered;
use crate::review::findings::round::RoundContext;
use crate::review::findings::{pairs, recognition};
use crate::review::state::ReviewState;
use glee_model::domain::event::{CallAnswer, EventKind, Purpose, ReviewEvent};
use glee_model::domain::{AgentName, Class, DebateMessage, Finding, FindingId};
use glee_model::rules::consensus::{
    self, Answers, Consensus, Debate, Defence, Examination, Group, Level, Member, Policy,
};
use glee_model::rules::review::mandatory;
use glee_store::history::queries::rows::Binding;

/// The two messages for a debate that stops early: a request to shut down, and a reply that asks for more time.
pub fn shutdown(debate_round: u32) -> Vec<DebateMessage> {
    let refusal = format!(
        "Still processing debate round {debate_round}, need more time to complete consensus"
    );
    shutdown_messages(format!("debate-round-{debate_round}"), Some(refusal))
}

fn shutdown_messages(request_id: String, refusal: Option<String>) -> Vec<DebateMessage> {
    vec![
        DebateMessage::ShutdownRequest {
            request_id: request_id.clone(),
        },
        DebateMessage::ShutdownResponse {
            request_id,
            approve: refusal.is_none(),
            content: refusal,
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
        let mut groups = self.consensus.groups.iter();
        let group = groups.find(|group| {
            group
                .members
                .iter()
                .chain(&group.repeats)
                .any(|at| finding.sources().any(|said| said == self.members[*at].id))
        });
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
    let state = context.state;
    let round = context.round;
    let merged = MergedRound::of(context);
    let groups = &merged.consensus.groups;
    let known: HashMap<&str, FindingId> = state
        .findings
        .iter()
        .filter(|finding| finding.round == round)
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
    let messages = shutdown_messages("debate-complete".to_owned(), None);
    let was_debated = state.debate_rounds.contains(&(round, 2));
    std::iter::once(concluded.into())
        .chain(joined)
        .chain(ruled)
        .chain(notices)
        .chain(was_debated.then(|| ReviewEvent::DebateShutdown { messages }.into()))
        .collect()
}

/// The ids of findings that reviewers added during an examination begin with this prefix (see
/// `CallId::file_stem`).
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
    let state = context.state;
    let round = context.round;
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
