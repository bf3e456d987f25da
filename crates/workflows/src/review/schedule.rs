//! Computes the next steps of a review from its state, without side effects.
//!
//! The returned steps can run concurrently. A step is due until the events of the step are recorded, so a killed
//! run can be resumed.

use std::collections::BTreeSet;

use crate::review::findings::convergence;
use crate::review::state::{RecordedCall, ReviewState};
use crate::run::attempts;
use crate::run::workflow::Step;
use glee_model::domain::event::{
    CallAnswer, CallId, DisputeEvent, EventKind, Mode, Purpose, ReviewEvent,
};
use glee_model::domain::{
    AgentName, Answer, AnswerStatus, Disposition, Dispute, DisputeNumber, Finding, FindingId,
    FindingState, RaisedIn, Response, Role, Route, Ruler, RulingWord, Untrusted,
};
use glee_model::rules::review::progress::Stance;
use glee_store::config::settings::DebateRounds;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewEffect {
    /// Merges the findings of the round. The first merge of a round records the pairs that the aggregator is asked
    /// about, if there are any. The same applies to the conclusion of a debate.
    Merge {
        round: u32,
    },
    /// Binds a finding to an earlier dispute if an agent recognised the finding as a repetition of the dispute.
    Recognise {
        round: u32,
    },
    DebateRound {
        round: u32,
        debate_round: u32,
    },
    Conclude {
        round: u32,
    },
    /// Stores a snapshot of the tree before the coder's first call.
    Keep,
    RecordTree(CallId),
    /// Opens all disputes that are due, in one transaction that also assigns their numbers.
    OpenDisputes,
    /// Continues the open disputes of earlier runs that findings of this run repeat.
    CarryOn,
    /// Routes a dispute to the judge or, if the run has no judge, to a person.
    Send(DisputeNumber),
    Rule(DisputeNumber),
    /// Settles disputes, in one transaction.
    Settle(Vec<DisputeNumber>),
    /// Records what the coder replied to a person.
    Reply(DisputeNumber),
    Verify {
        round: u32,
    },
    NextRound {
        round: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisputeQuestion {
    Route(DisputeNumber),
    Ruling(DisputeNumber),
}

pub(crate) type ReviewStep = Step<ReviewEffect, DisputeQuestion>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedulePolicy {
    pub mode: Mode,
    pub recheck: bool,
    /// Whether agents are asked about findings that may be the same.
    pub compare: bool,
    pub rounds: u32,
    pub verify: usize,
    /// If a `review.verify` command fails, at most this number of repair calls is made per round.
    pub repairs: u32,
    pub escalate_to: Route,
}

pub(crate) const REPAIRS: u32 = 2;

/// Returns all steps that are due. No steps are due for the disputes in `parked`, because a person will decide
/// these disputes later.
pub fn next_steps(
    state: &ReviewState,
    policy: &SchedulePolicy,
    parked: &BTreeSet<DisputeNumber>,
) -> Vec<ReviewStep> {
    if state.plan.is_none() || state.ended.is_some() {
        return Vec::new();
    }
    let round = state.round();
    let stages: [&dyn Fn() -> Vec<ReviewStep>; 12] = [
        &|| reviews(state, round),
        &|| same(state, policy, round, RaisedIn::Review),
        &|| merge(state, round),
        &|| compare(state, policy, round),
        &|| debate(state, policy, round),
        &|| coder(state, policy, round),
        &|| disputes(state, policy, parked),
        &|| enforce(state, policy, round),
        &|| verify(state, policy, round),
        &|| repair(state, policy, round),
        &|| rechecks(state, policy, round),
        &|| next_round(state, policy, round),
    ];
    // The result is the first list that contains a step, because the steps of a list begin only after all earlier
    // lists are done. The steps of one list run concurrently.
    stages
        .into_iter()
        .map(|stage| stage())
        .find(|steps| !steps.is_empty())
        .unwrap_or_else(|| vec![Step::Finish])
}

fn reviews(state: &ReviewState, round: u32) -> Vec<ReviewStep> {
    let shards = state.rounds.last().map_or(0, Vec::len);
    let mut steps = Vec::new();
    for shard in 0..u32::try_from(shards).unwrap_or(u32::MAX) {
        for reviewer in state.agents(Role::Reviewer) {
            let purpose = Purpose::Review { round, shard };
            if let Some(close) = doubtful(state, &reviewer.name, &purpose) {
                steps.push(Step::Ask(close));
                continue;
            }
            steps.extend(ask(state, &reviewer.name, purpose, |call| {
                match &call.answer {
                    // The embedded reviewer gives the same answer again.
                    CallAnswer::Review { .. } if reviewer.is_embedded() => false,
                    CallAnswer::Review { status, .. } => {
                        matches!(status, AnswerStatus::Incomplete | AnswerStatus::NotReviewed)
                    }
                    CallAnswer::Invalid { .. } => true,
                    _ => false,
                }
            }));
        }
    }
    steps
}

/// Returns the call that asks a reviewer what its last answer means. Each answer is asked about once.
fn doubtful(state: &ReviewState, reviewer: &AgentName, purpose: &Purpose) -> Option<CallId> {
    let (id, call) = state.last_call(reviewer, purpose)?;
    let CallAnswer::Review {
        is_doubtful: true, ..
    } = &call.answer
    else {
        return None;
    };
    id.close().filter(|close| !state.calls.contains_key(close))
}

fn ask(
    state: &ReviewState,
    agent: &AgentName,
    purpose: Purpose,
    is_lacking: impl Fn(&RecordedCall) -> bool,
) -> Option<ReviewStep> {
    attempts::next(&state.calls, agent, purpose, 2, is_lacking).map(Step::Ask)
}

/// Asks the aggregator, in a single call, which pairs of the round name the same defect. The first merge of a round
/// records the pairs instead of merging, so the question is due before the second merge. The same applies to the
/// conclusion of a debate.
fn same(
    state: &ReviewState,
    policy: &SchedulePolicy,
    round: u32,
    raised_in: RaisedIn,
) -> Vec<ReviewStep> {
    let aggregator = state
        .aggregator()
        .filter(|_| policy.compare && state.asked_pairs(round, raised_in).next().is_some());
    let purpose = Purpose::Same { round, raised_in };
    aggregator
        .and_then(|agent| ask(state, &agent.name, purpose, is_invalid))
        .into_iter()
        .collect()
}

fn is_invalid(call: &RecordedCall) -> bool {
    attempts::is_invalid(&call.answer)
}

fn merge(state: &ReviewState, round: u32) -> Vec<ReviewStep> {
    if state.unmerged().next().is_some() {
        vec![Step::Effect(ReviewEffect::Merge { round })]
    } else {
        Vec::new()
    }
}

/// Asks one agent, in a single call, which findings of the round repeat an earlier dispute. After two unreadable
/// answers, no finding counts as a repetition.
fn compare(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    if state.recognised(round).next().is_some() {
        return vec![Step::Effect(ReviewEffect::Recognise { round })];
    }
    if !policy.compare || state.uncompared(round).next().is_none() {
        return Vec::new();
    }
    state
        .comparing_agent()
        .and_then(|agent| ask(state, &agent.name, Purpose::Compare { round }, is_invalid))
        .into_iter()
        .collect()
}

pub fn recognised(state: &ReviewState, round: u32) -> Vec<EventKind> {
    let bound = state.recognised(round).filter_map(|(finding, earlier)| {
        let finding = finding.id;
        let dispute = earlier.dispute.clone();
        Some(match (earlier.disposition.clone(), dispute.number()) {
            (None, dispute) => EventKind::Review(ReviewEvent::StillDisputed {
                finding,
                dispute: dispute?,
            }),
            (Some(disposition), _) => EventKind::Review(ReviewEvent::AlreadyRuled {
                finding,
                dispute,
                disposition,
                new_tag: None,
                insisted: false,
            }),
        })
    });
    bound.collect()
}

fn debate(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    let rounds = match state.debating() {
        DebateRounds::Off => return Vec::new(),
        DebateRounds::Two => 2,
        DebateRounds::Auto | DebateRounds::Three => 3,
    };
    let debaters: Vec<&AgentName> = state.debaters().collect();
    if state.concluded.contains(&round) || debaters.len() < 2 {
        return Vec::new();
    }
    // Where nobody has anything to examine, the debate only reports that all agree.
    if debaters
        .iter()
        .all(|name| state.examined_by(name, round).is_empty())
    {
        let is_reviewed = state.rounds.last().is_some_and(|shards| !shards.is_empty());
        let conclude = Step::Effect(ReviewEffect::Conclude { round });
        return is_reviewed.then_some(conclude).into_iter().collect();
    }
    for debate_round in 2..=rounds {
        let mut asked = Vec::new();
        for name in &debaters {
            let (purpose, has_items) = if debate_round == 2 {
                let items = state.unexamined(name, round);
                (Purpose::Examine { round }, !items.is_empty())
            } else {
                let items = state.undefended(name, round);
                (Purpose::Defend { round }, !items.is_empty())
            };
            if has_items {
                asked.extend(ask(state, name, purpose, |call| {
                    !matches!(call.answer, CallAnswer::Failed { .. })
                }));
            }
        }
        if !asked.is_empty() {
            return asked;
        }
        if !state.debate_rounds.contains(&(round, debate_round)) {
            return vec![Step::Effect(ReviewEffect::DebateRound {
                round,
                debate_round,
            })];
        }
    }
    let compared = same(state, policy, round, RaisedIn::Debate);
    if !compared.is_empty() {
        return compared;
    }
    vec![Step::Effect(ReviewEffect::Conclude { round })]
}

fn coder(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    if policy.mode == Mode::Review {
        return Vec::new();
    }
    if let Some(call) = &state.unrecorded_change {
        return vec![Step::Effect(ReviewEffect::RecordTree(call.clone()))];
    }
    // The coders work in one tree, so they are asked one after the other.
    match state
        .coders()
        .find_map(|coder| respond(state, coder, round))
    {
        Some(_) if state.before.is_none() => vec![Step::Effect(ReviewEffect::Keep)],
        step => step.into_iter().collect(),
    }
}

fn respond(state: &ReviewState, coder: &AgentName, round: u32) -> Option<ReviewStep> {
    let purpose = Purpose::Respond { round };
    let items = state.items(coder, &purpose);
    if items.is_empty() {
        return None;
    }
    let at_most = state.asked_before(coder) + 2;
    let call = attempts::next(&state.calls, coder, purpose, at_most, |call| {
        match &call.answer {
            CallAnswer::Respond { .. } => items
                .iter()
                .any(|id| state.progress(*id).response.is_none()),
            CallAnswer::Invalid { .. } => true,
            _ => false,
        }
    });
    call.map(Step::Ask)
}

/// The findings about which a dispute is due. Members of one group to which the same objection was made are one dispute.
pub fn unopened(state: &ReviewState) -> Vec<Vec<FindingId>> {
    let mut due: Vec<Vec<FindingId>> = Vec::new();
    for finding in state
        .findings
        .iter()
        .filter(|finding| is_unopened(state, finding))
    {
        // The findings are in the order of their ids, so the members of a group follow each other.
        let mut of_group = due
            .iter_mut()
            .rev()
            .take_while(|members| members[0].number == finding.id.number);
        let known = of_group.find(|members| {
            let first = state.finding(members[0]);
            first.is_some_and(|first| is_one_dispute(state, first, finding))
        });
        match known {
            Some(members) => members.push(finding.id),
            None => due.push(vec![finding.id]),
        }
    }
    due
}

fn is_unopened(state: &ReviewState, finding: &Finding) -> bool {
    let progress = state.progress(finding.id);
    !progress.has_dispute()
        && (finding.reverses.is_some()
            || state.is_judged_first(finding)
            || progress.stance(finding.mandatory) == Stance::Dispute)
}

fn is_one_dispute(state: &ReviewState, one: &Finding, other: &Finding) -> bool {
    let [objection, other_objection] = [one, other].map(|finding| {
        let response = state.progress(finding.id).response.as_ref()?;
        Some((&response.text, &response.evidence))
    });
    one.reverses.is_none()
        && other.reverses.is_none()
        && match (state.is_judged_first(one), state.is_judged_first(other)) {
            (true, true) => true,
            (false, false) => objection == other_objection,
            (true, false) | (false, true) => false,
        }
}

fn disputes(
    state: &ReviewState,
    policy: &SchedulePolicy,
    parked: &BTreeSet<DisputeNumber>,
) -> Vec<ReviewStep> {
    if state
        .findings
        .iter()
        .any(|finding| is_unopened(state, finding))
    {
        return vec![Step::Effect(ReviewEffect::OpenDisputes)];
    }
    if policy.mode == Mode::Arbitrate && !state.left_open().is_empty() {
        return vec![Step::Effect(ReviewEffect::CarryOn)];
    }
    let open = state
        .disputes
        .values()
        .filter(|dispute| dispute.is_open() && !parked.contains(&dispute.number));
    let mut steps: Vec<ReviewStep> = Vec::new();
    let mut asks = false;
    for step in of_disputes(state, policy, open) {
        // A person is asked one question at a time. Judges can rule on other disputes before the person answers.
        let is_question = matches!(step, Step::Prompt(DisputeQuestion::Route(_)));
        if !(is_question && asks) {
            steps.push(step);
        }
        asks |= is_question;
    }
    steps
}

/// The steps that are due for open disputes. One step settles all disputes that can be settled.
pub(crate) fn of_disputes<'a>(
    state: &ReviewState,
    policy: &SchedulePolicy,
    open: impl Iterator<Item = &'a Dispute>,
) -> Vec<ReviewStep> {
    let mut steps = Vec::new();
    let mut settled = Vec::new();
    for step in open.flat_map(|dispute| of_dispute(state, policy, dispute)) {
        match step {
            Step::Effect(ReviewEffect::Settle(numbers)) => settled.extend(numbers),
            step => steps.push(step),
        }
    }
    if !settled.is_empty() {
        steps.insert(0, Step::Effect(ReviewEffect::Settle(settled)));
    }
    steps
}

fn of_dispute(state: &ReviewState, policy: &SchedulePolicy, dispute: &Dispute) -> Vec<ReviewStep> {
    let number = dispute.number;
    let is_reopened = state.reopened.contains(&number);
    // Without `--arbitrate`, no step is due for a dispute about the coder's objection until the dispute is
    // reopened.
    if policy.mode != Mode::Arbitrate && !is_reopened && !state.is_judged_first(&dispute.finding) {
        return Vec::new();
    }
    if let Some(step) = reply(state, dispute) {
        return vec![step];
    }
    let step = match (state.last_ruling(dispute), dispute.route) {
        (None, None) if !is_reopened && state.is_sent_to_judge(&dispute.finding) => {
            Step::Effect(ReviewEffect::Send(number))
        }
        (None, None) => Step::Prompt(DisputeQuestion::Route(number)),
        (None, Some(Route::Discard)) => Step::Effect(ReviewEffect::Settle(vec![number])),
        (None, Some(Route::Human)) => Step::Prompt(DisputeQuestion::Ruling(number)),
        (None, Some(Route::Judge)) => return judges(state, number),
        (Some(record), _) => match (record.ruling.ruling, &record.by) {
            // A judge that gave no valid ruling is not uncertain, so the dispute stays open whatever is configured.
            (RulingWord::Escalate, Ruler::Judge { .. } | Ruler::Panel)
                if record.by_rule || policy.escalate_to != Route::Discard =>
            {
                Step::Prompt(DisputeQuestion::Ruling(number))
            }
            _ => Step::Effect(ReviewEffect::Settle(vec![number])),
        },
    };
    vec![step]
}

/// A coder whose objection a person answered is asked again. If it gives no valid reply, nothing is due from it.
fn reply(state: &ReviewState, dispute: &Dispute) -> Option<ReviewStep> {
    let number = dispute.number;
    if dispute.conceded().is_some() {
        return Some(Step::Effect(ReviewEffect::Settle(vec![number])));
    }
    dispute.unreplied()?;
    if replied(state, number).is_some() {
        return Some(Step::Effect(ReviewEffect::Reply(number)));
    }
    let (coder, purpose) = state.reply_of(dispute)?;
    ask(state, coder, purpose, is_invalid)
}

/// What the coder replied to the last answer of a person: its objection, or IMPLEMENTED for all members of the dispute.
pub fn replied(state: &ReviewState, number: DisputeNumber) -> Option<EventKind> {
    let dispute = state.disputes.get(&number)?;
    let (coder, purpose) = state.reply_of(dispute)?;
    let (_, call) = state.last_call(coder, &purpose)?;
    let CallAnswer::Respond { responses, .. } = &call.answer else {
        return None;
    };
    let is_objection = |response: &&Response| response.answer != Answer::Implemented;
    let response = responses.iter().find(is_objection).or(responses.first())?;
    Some(EventKind::Dispute(DisputeEvent::CoderReplied {
        dispute: number,
        response: response.clone(),
    }))
}

fn judges(state: &ReviewState, dispute: DisputeNumber) -> Vec<ReviewStep> {
    if state.judges().next().is_none() {
        return vec![Step::Prompt(DisputeQuestion::Ruling(dispute))];
    }
    let asks: Vec<ReviewStep> = state
        .judges()
        .filter_map(|judge| ask(state, &judge.name, Purpose::Judge { dispute }, is_invalid))
        .collect();
    if asks.is_empty() {
        vec![Step::Effect(ReviewEffect::Rule(dispute))]
    } else {
        asks
    }
}

fn enforce(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    if policy.mode == Mode::Review {
        return Vec::new();
    }
    let purpose = Purpose::Enforce { round };
    let Some(coder) = state.coders().find(|coder| {
        state
            .items(coder, &purpose)
            .iter()
            .any(|id| state.progress(*id).is_unenforced())
    }) else {
        return Vec::new();
    };
    if state.before.is_none() {
        return vec![Step::Effect(ReviewEffect::Keep)];
    }
    vec![Step::Ask(state.next_call(coder, purpose))]
}

fn verify(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    let changed = state.file_changes().next().is_some();
    if policy.mode != Mode::Review && changed && state.verified.len() < policy.verify {
        return vec![Step::Effect(ReviewEffect::Verify { round })];
    }
    Vec::new()
}

/// Sends the output of failed commands to the coders that edited files, in turn. Stops when the commands pass. A coder
/// is left out after a call that changes no file, and after `policy.repairs` calls.
fn repair(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    if policy.mode == Mode::Review || state.failing().next().is_none() {
        return Vec::new();
    }
    let calls = state
        .coders()
        .filter_map(|coder| repair_by(state, policy, coder, round));
    // Of the calls with the lowest attempt, this is the call of the first coder.
    let next = calls.min_by_key(|call| call.attempt);
    next.map(Step::Ask).into_iter().collect()
}

fn repair_by(
    state: &ReviewState,
    policy: &SchedulePolicy,
    coder: &AgentName,
    round: u32,
) -> Option<CallId> {
    let purpose = Purpose::Repair { round };
    let edits: Vec<&CallId> = state
        .tree_changes
        .iter()
        .filter(|change| change.call.agent == *coder && !change.changes.is_empty())
        .map(|change| &change.call)
        .collect();
    let brought_nothing = state.last_call(coder, &purpose).is_some_and(|(id, call)| {
        matches!(call.answer, CallAnswer::Failed { .. }) || !edits.contains(&id)
    });
    let next = state.next_call(coder, purpose);
    let is_due = next.attempt <= policy.repairs
        && !edits.is_empty()
        && !brought_nothing
        // A fix request goes only to the coders of its findings.
        && state.items(coder, &next.purpose).iter().any(|id| state.is_for_coder(*id));
    is_due.then_some(next)
}

fn rechecks(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    if !policy.recheck || policy.mode == Mode::Review {
        return Vec::new();
    }
    let purpose = Purpose::Recheck { round };
    // A single answer "not resolved" keeps the finding open, so no other reviewer is asked.
    state
        .agents(Role::Reviewer)
        .filter(|reviewer| {
            state.recheck_items(&reviewer.name).iter().any(|id| {
                let finding = state.finding(*id);
                finding.is_some_and(|finding| {
                    state.finding_state(finding) != FindingState::NotResolved
                })
            })
        })
        .map(|reviewer| Step::Ask(state.next_call(&reviewer.name, purpose.clone())))
        .collect()
}

fn next_round(state: &ReviewState, policy: &SchedulePolicy, round: u32) -> Vec<ReviewStep> {
    let is_due = policy.mode != Mode::Review && round < policy.rounds && state.changed_in(round);
    if is_due && !convergence::diverges(state) {
        return vec![Step::Effect(ReviewEffect::NextRound { round: round + 1 })];
    }
    Vec::new()
}

pub fn sent(state: &ReviewState, dispute: DisputeNumber) -> EventKind {
    let has_judge = state.judges().next().is_some();
    EventKind::Dispute(DisputeEvent::RouteChosen {
        dispute,
        route: if has_judge {
            Route::Judge
        } else {
            Route::Human
        },
        person: None,
    })
}

/// Returns the settlement that follows from the last ruling on a dispute. If this ruling does not decide the
/// dispute, the finding is discarded.
pub fn settlement(
    state: &ReviewState,
    number: DisputeNumber,
) -> Option<glee_model::domain::event::Settlement> {
    use glee_model::domain::event::Settlement;
    let dispute = state.disputes.get(&number)?;
    if let Some(answered) = dispute.conceded() {
        return Some(Settlement {
            disposition: Disposition::Enforced,
            by: Ruler::Human(answered.by.clone()),
            reason: answered.answer.clone(),
            until: None,
        });
    }
    let ruled = state.last_ruling(dispute).and_then(|record| {
        let disposition = glee_model::rules::review::objections::disposition(&record.ruling)?;
        Some(Settlement {
            disposition,
            by: record.by.clone(),
            reason: record.ruling.rationale.clone(),
            until: None,
        })
    });
    Some(ruled.unwrap_or_else(|| Settlement {
        disposition: Disposition::Discarded,
        by: match state.chosen.get(&number) {
            Some(person) => Ruler::Human(person.clone()),
            None => Ruler::Policy,
        },
        reason: Untrusted::default(),
        until: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glee_agents::samples;
    use glee_model::domain::event::{Plan, RunEvent, TreeChange, Verified};
    use glee_model::domain::{
        Agent, Anchor, Answer, AnsweredObjection, Comparison, Coverage, EarlierDispute, Finding,
        PairAnswer, PairComparison, PairId, Person, RawFinding, Recheck, Relation, Response,
        Ruling, RulingRecord, Severity, Tag, UnsurePair,
    };
    use glee_model::rules::consensus::Answers;

    struct Play {
        state: ReviewState,
        policy: SchedulePolicy,
        parked: BTreeSet<DisputeNumber>,
    }

    fn agent(name: &str, role: Role) -> Agent {
        Agent {
            role,
            ..samples::agent(name, "text", &[name])
        }
    }

    fn finding(id: u32, tag: Tag) -> Finding {
        Finding {
            id: FindingId::new(id),
            raw: RawFinding {
                severity: Severity::known(tag),
                title: format!("finding {id}").into(),
                file: Some("a.py".into()),
                line: Some(id),
                ..RawFinding::default()
            },
            mandatory: matches!(tag, Tag::Must | Tag::High),
            raised_by: vec![AgentName::from("r1")],
            may_be: Vec::new(),
            round: 1,
            also: Vec::new(),
            anchor: Some(Anchor {
                file: "a.py".into(),
                block: format!("b{id}"),
                category: "bug".into(),
                text: format!("finding {id}"),
                ..Anchor::default()
            }),
            reverses: None,
            restated: Vec::new(),
            was: None,
            problem: None,
            older: false,
            no_such_place: false,
            corrected_from: None,
            exact_fix: None,
            consensus: None,
        }
    }

    fn call(agent: &str, purpose: Purpose, attempt: u32) -> CallId {
        CallId {
            agent: AgentName::from(agent),
            purpose,
            attempt,
        }
    }

    const REVIEW: Purpose = Purpose::Review { round: 1, shard: 0 };
    const RESPOND: Purpose = Purpose::Respond { round: 1 };
    const ENFORCE: Purpose = Purpose::Enforce { round: 1 };
    const D1: DisputeNumber = DisputeNumber(1);

    impl Play {
        fn new(mode: Mode) -> Self {
            let covered = Coverage {
                file: "a.py".into(),
                lines: 9,
                ranges: Vec::new(),
            };
            let plan = Plan {
                root: "/tree".into(),
                target: "a.py".into(),
                tree: "t0".into(),
                mode,
                agents: vec![
                    agent("r1", Role::Reviewer),
                    agent("r2", Role::Reviewer),
                    agent("c", Role::Coder),
                    agent("j", Role::Judge),
                ],
                shards: vec![vec![covered]],
                ..Plan::default()
            };
            let policy = SchedulePolicy {
                mode,
                recheck: true,
                compare: true,
                rounds: 1,
                verify: 0,
                repairs: REPAIRS,
                escalate_to: Route::Human,
            };
            let mut play = Self {
                state: ReviewState::default(),
                policy,
                parked: BTreeSet::new(),
            };
            play.event(ReviewEvent::RunStarted {
                plan: Box::new(plan),
            });
            play
        }

        fn event(&mut self, kind: impl Into<EventKind>) -> &mut Self {
            self.state.apply(&kind.into());
            self
        }

        fn answered(&mut self, call: CallId, answer: CallAnswer) -> &mut Self {
            self.event(RunEvent::CallFinished {
                call,
                answer,
                transcript: None,
                millis: 1,
                usage: Box::default(),
                told: Box::default(),
            })
        }

        fn answered_reviews(&mut self) -> &mut Self {
            for name in ["r1", "r2"] {
                self.answered(
                    call(name, REVIEW, 1),
                    CallAnswer::Review {
                        status: AnswerStatus::Complete,
                        findings: Vec::new(),
                        notes: String::new(),
                        problem: None,
                        read: None,
                        is_doubtful: false,
                    },
                );
            }
            self
        }

        fn reviewed(&mut self, findings: Vec<Finding>) -> &mut Self {
            self.answered_reviews();
            self.event(ReviewEvent::FindingsMerged {
                restated: Vec::new(),
                round: 1,
                findings,
            })
        }

        fn responded(
            &mut self,
            purpose: Purpose,
            attempt: u32,
            answers: &[(u32, Answer)],
        ) -> &mut Self {
            let responses = answers
                .iter()
                .map(|(id, answer)| Response {
                    finding: FindingId::new(*id),
                    answer: *answer,
                    text: "why".into(),
                    evidence: Vec::new(),
                })
                .collect();
            self.answered(
                call("c", purpose, attempt),
                CallAnswer::Respond {
                    responses,
                    complete: true,
                },
            )
        }

        fn changed(&mut self, call: CallId, touched: &[u32]) -> &mut Self {
            let change = glee_model::domain::FileChange {
                file: "a.py".into(),
                added: 1,
                removed: 1,
                diff: Some(String::new()),
            };
            self.event(ReviewEvent::TreeChanged(TreeChange {
                call,
                tree: "t1".into(),
                changes: if touched.is_empty() {
                    Vec::new()
                } else {
                    vec![change]
                },
                touched: touched.iter().map(|id| FindingId::new(*id)).collect(),
                partly: Vec::new(),
            }))
        }

        fn disputed(&mut self, id: u32) -> &mut Self {
            let finding = self
                .state
                .finding(FindingId::new(id))
                .expect("a finding of the play")
                .clone();
            let objection = self
                .state
                .progress(FindingId::new(id))
                .response
                .clone()
                .expect("an answer");
            let dispute = Dispute {
                left: Vec::new(),
                members: Vec::new(),
                number: DisputeNumber(u64::from(id)),
                finding,
                objection,
                route: None,
                rulings: Vec::new(),
                objector: glee_model::domain::Objector::Coder,
                discarded_by: None,
                answered: Vec::new(),
                opened_by: None,
                participant: None,
                disposition: None,
                earlier: Vec::new(),
            };
            self.event(DisputeEvent::DisputeOpened {
                dispute: Box::new(dispute),
            })
        }

        fn routed(&mut self, route: Route) -> &mut Self {
            self.event(DisputeEvent::RouteChosen {
                dispute: D1,
                route,
                person: Some(Person::default()),
            })
        }

        fn ruled(&mut self, word: RulingWord, by: Ruler) -> &mut Self {
            let ruling = Ruling {
                ruling: word,
                rationale: "".into(),
                grounds: None,
                citations: Vec::new(),
                new_tag: None,
                duplicate_of: None,
                coder_evidence: None,
                members: Vec::new(),
            };
            self.event(DisputeEvent::RulingGiven {
                dispute: D1,
                ruling: RulingRecord::new(ruling, by),
            })
        }

        fn settled(&mut self) -> &mut Self {
            let settlement = settlement(&self.state, D1).expect("a dispute of the play");
            self.event(DisputeEvent::DisputeSettled {
                dispute: D1,
                settlement,
            })
        }

        fn due(&self) -> Vec<ReviewStep> {
            next_steps(&self.state, &self.policy, &self.parked)
        }

        fn state_of(&self, id: u32) -> FindingState {
            self.state.finding_state(
                self.state
                    .finding(FindingId::new(id))
                    .expect("a finding of the play"),
            )
        }
    }

    fn judge() -> Ruler {
        Ruler::Judge {
            name: AgentName::from("j"),
        }
    }

    fn one_dispute() -> Play {
        let mut play = Play::new(Mode::Arbitrate);
        play.reviewed(vec![finding(1, Tag::Must)])
            .event(ReviewEvent::BeforeImage {
                kept_as: "ref".into(),
                tree: "t0".into(),
            })
            .responded(RESPOND, 1, &[(1, Answer::Disagree)])
            .changed(call("c", RESPOND, 1), &[])
            .disputed(1);
        play
    }

    #[test]
    fn reviewers_are_asked_side_by_side_then_merged() {
        let mut play = Play::new(Mode::Review);
        assert_eq!(
            play.due(),
            [
                Step::Ask(call("r1", REVIEW, 1)),
                Step::Ask(call("r2", REVIEW, 1))
            ]
        );
        let answer = |status| CallAnswer::Review {
            status,
            findings: Vec::new(),
            notes: String::new(),
            problem: None,
            read: None,
            is_doubtful: false,
        };
        play.answered(call("r1", REVIEW, 1), answer(AnswerStatus::NotReviewed))
            .answered(
                call("r2", REVIEW, 1),
                CallAnswer::Failed {
                    error: "gone".into(),
                    hint: None,
                    cause: None,
                },
            );
        assert_eq!(
            play.due(),
            [Step::Ask(call("r1", REVIEW, 2))],
            "asked once more; what failed is not"
        );
        play.answered(call("r1", REVIEW, 2), answer(AnswerStatus::Clean));
        assert_eq!(play.due(), [Step::Effect(ReviewEffect::Merge { round: 1 })]);
        play.event(ReviewEvent::FindingsMerged {
            restated: Vec::new(),
            round: 1,
            findings: vec![finding(1, Tag::Must)],
        });
        assert_eq!(play.due(), [Step::Finish], "a review changes nothing");
    }

    #[test]
    fn the_aggregator_is_asked_once_and_before_the_merge() {
        let raised_in = RaisedIn::Review;
        let purpose = Purpose::Same {
            round: 1,
            raised_in,
        };
        let same = |attempt| call("g", purpose.clone(), attempt);
        let merge = Step::Effect(ReviewEffect::Merge { round: 1 });
        let pair = |asked: Option<u32>, known: Option<bool>| UnsurePair {
            one: "review-1-0.r1.1/0".into(),
            other: "review-1-0.r2.1/0".into(),
            earlier: None,
            key: "k".into(),
            asked: asked.map(PairId),
            known: known.map(|same| PairAnswer {
                by: "g".into(),
                same,
                reason: "".into(),
            }),
        };
        let begun = |pair: UnsurePair| {
            let mut play = Play::new(Mode::Review);
            let plan = play.state.plan.as_mut().expect("a plan");
            plan.comparers.push(agent("g", Role::Aggregator));
            play.answered_reviews();
            assert_eq!(play.due(), [Step::Effect(ReviewEffect::Merge { round: 1 })]);
            let pairs = vec![pair];
            play.event(ReviewEvent::PairsUnsure {
                round: 1,
                raised_in,
                pairs,
            });
            play
        };
        assert_eq!(
            begun(pair(None, Some(true))).due(),
            std::slice::from_ref(&merge)
        );
        assert_eq!(
            begun(pair(None, None)).due(),
            std::slice::from_ref(&merge),
            "beyond the bound"
        );

        let mut play = begun(pair(Some(1), None));
        assert_eq!(play.due(), [Step::Ask(same(1))]);
        play.event(RunEvent::RunResumed);
        assert_eq!(
            play.due(),
            [Step::Ask(same(1))],
            "a killed call is made again"
        );
        let answer = |pair| CallAnswer::Same {
            pairs: vec![PairComparison {
                pair: PairId(pair),
                same: true,
                reason: "r".into(),
            }],
        };
        play.answered(same(1), answer(1));
        play.event(RunEvent::RunResumed);
        assert_eq!(
            play.due(),
            std::slice::from_ref(&merge),
            "an answer is never paid for twice"
        );
        let answers = play.state.pair_answers();
        let known = answers.are_same("review-1-0.r2.1/0", "review-1-0.r1.1/0");
        assert_eq!(known, Some(true));

        // Neither a failure nor two unreadable answers stop the merge.
        let mut play = begun(pair(Some(1), None));
        let invalid = || CallAnswer::Invalid {
            error: "no word".into(),
        };
        play.answered(same(1), invalid());
        assert_eq!(play.due(), [Step::Ask(same(2))]);
        play.answered(same(2), invalid());
        assert_eq!(play.due(), std::slice::from_ref(&merge));
        let mut play = begun(pair(Some(1), None));
        play.answered(
            same(1),
            CallAnswer::Failed {
                error: "gone".into(),
                hint: None,
                cause: None,
            },
        );
        assert_eq!(play.due(), std::slice::from_ref(&merge));
        let mut play = begun(pair(Some(1), None));
        play.answered(same(1), answer(2));
        assert_eq!(play.state.pair_answers(), Answers::default());
        assert_eq!(play.due(), [merge]);
    }

    fn may_repeat(id: u32, dispute: u64, disposition: Option<Disposition>) -> EventKind {
        let earlier = EarlierDispute {
            dispute: DisputeNumber(dispute).into(),
            relation: Relation::MayRepeat,
            title: "an earlier one".into(),
            disposition,
            new_tag: None,
            rationale: "".into(),
        };
        EventKind::Review(ReviewEvent::RelatedDispute {
            finding: FindingId::new(id),
            earlier: Box::new(earlier),
        })
    }

    #[test]
    fn the_judge_is_asked_once_about_all_that_may_repeat_a_dispute() {
        let compare = |attempt| call("j", Purpose::Compare { round: 1 }, attempt);
        let words = |said: &[(u32, bool)]| CallAnswer::Compare {
            comparisons: said
                .iter()
                .map(|(id, same)| Comparison {
                    finding: FindingId::new(*id),
                    same: *same,
                    reason: "".into(),
                })
                .collect(),
        };
        let begun = |mode| {
            let mut play = Play::new(mode);
            play.reviewed(vec![
                finding(1, Tag::Must),
                finding(2, Tag::Must),
                finding(3, Tag::Must),
            ])
            .event(may_repeat(1, 7, Some(Disposition::Refuted)))
            .event(may_repeat(2, 8, None))
            .event(may_repeat(3, 9, Some(Disposition::Refuted)));
            play
        };
        let mut off = begun(Mode::Arbitrate);
        off.policy.compare = false;
        assert_eq!(off.due(), [Step::Effect(ReviewEffect::Keep)]);

        for mode in [Mode::Review, Mode::Fix] {
            assert_eq!(begun(mode).due(), [Step::Ask(compare(1))]);
        }
        let mut play = begun(Mode::Arbitrate);
        assert_eq!(play.due(), [Step::Ask(compare(1))]);
        play.answered(
            compare(1),
            CallAnswer::Invalid {
                error: "no word".into(),
            },
        );
        assert_eq!(play.due(), [Step::Ask(compare(2))]);
        play.answered(compare(2), words(&[(1, true), (2, true), (3, false)]));
        assert_eq!(
            play.due(),
            [Step::Effect(ReviewEffect::Recognise { round: 1 })]
        );
        let bound = recognised(&play.state, 1);
        for event in bound {
            play.event(event);
        }
        assert_eq!(
            play.due(),
            [Step::Effect(ReviewEffect::Keep)],
            "F3 goes to the coder"
        );
        assert_eq!(
            play.state.items(&AgentName::from("c"), &RESPOND),
            [FindingId::new(3)]
        );
        let ruled = FindingState::AlreadyRuled {
            dispute: DisputeNumber(7).into(),
            disposition: Disposition::Refuted,
        };
        assert_eq!(
            (play.state_of(1), play.state_of(2)),
            (
                ruled,
                FindingState::Disputed {
                    dispute: DisputeNumber(8)
                }
            )
        );

        // If both attempts bring no valid answer, or if the judge fails, all findings count as different.
        let mut play = begun(Mode::Arbitrate);
        play.answered(
            compare(1),
            CallAnswer::Invalid {
                error: "no word".into(),
            },
        )
        .answered(
            compare(2),
            CallAnswer::Invalid {
                error: "no word".into(),
            },
        );
        assert_eq!(play.due(), [Step::Effect(ReviewEffect::Keep)]);
        let mut play = begun(Mode::Arbitrate);
        play.answered(
            compare(1),
            CallAnswer::Failed {
                error: "gone".into(),
                hint: None,
                cause: None,
            },
        );
        assert_eq!(play.due(), [Step::Effect(ReviewEffect::Keep)]);
    }

    #[test]
    fn a_resumed_run_asks_again_what_failed_and_nothing_else() {
        let mut play = Play::new(Mode::Review);
        play.reviewed(Vec::new());
        play.answered(
            call("r2", REVIEW, 1),
            CallAnswer::Failed {
                error: "gone".into(),
                hint: None,
                cause: None,
            },
        );
        assert_eq!(play.due(), [Step::Finish]);
        play.event(RunEvent::RunResumed);
        assert_eq!(play.due(), [Step::Ask(call("r2", REVIEW, 1))]);
    }

    #[test]
    fn the_standard_flow_without_a_dispute() {
        let mut play = Play::new(Mode::Arbitrate);
        play.reviewed(vec![finding(1, Tag::Must), finding(2, Tag::Low)]);
        assert_eq!(
            play.due(),
            [Step::Effect(ReviewEffect::Keep)],
            "nothing is edited before the tree is kept"
        );
        play.event(ReviewEvent::BeforeImage {
            kept_as: "ref".into(),
            tree: "t0".into(),
        });
        assert_eq!(play.due(), [Step::Ask(call("c", RESPOND, 1))]);
        play.responded(RESPOND, 1, &[(1, Answer::Implemented)]);
        assert_eq!(
            play.due(),
            [Step::Effect(ReviewEffect::RecordTree(call(
                "c", RESPOND, 1
            )))]
        );
        play.changed(call("c", RESPOND, 1), &[1]);
        assert_eq!(
            play.due(),
            [Step::Ask(call("c", RESPOND, 2))],
            "F2 was not answered"
        );
        play.responded(RESPOND, 2, &[(2, Answer::Discarded)])
            .changed(call("c", RESPOND, 2), &[]);
        let recheck = call("r1", Purpose::Recheck { round: 1 }, 1);
        assert_eq!(play.due(), [Step::Ask(recheck.clone())]);
        let check = Recheck {
            finding: FindingId::new(1),
            resolved: true,
            reason: "".into(),
        };
        play.answered(
            recheck,
            CallAnswer::Recheck {
                checks: vec![check],
            },
        );
        assert_eq!(play.due(), [Step::Finish]);
        assert_eq!(play.state_of(1), FindingState::Resolved);
        assert_eq!(play.state_of(2), FindingState::Discarded);
    }

    #[test]
    fn implemented_without_a_change_is_only_claimed() {
        let mut play = Play::new(Mode::Fix);
        play.reviewed(vec![finding(1, Tag::High)])
            .event(ReviewEvent::BeforeImage {
                kept_as: "ref".into(),
                tree: "t0".into(),
            })
            .responded(RESPOND, 1, &[(1, Answer::Implemented)])
            .changed(call("c", RESPOND, 1), &[]);
        assert_eq!(play.due(), [Step::Finish]);
        assert_eq!(play.state_of(1), FindingState::Claimed);
    }

    #[test]
    fn a_dispute_is_opened_and_stays_open_without_arbitration() {
        let mut play = Play::new(Mode::Fix);
        play.reviewed(vec![finding(1, Tag::Must), finding(2, Tag::Should)])
            .event(ReviewEvent::BeforeImage {
                kept_as: "ref".into(),
                tree: "t0".into(),
            })
            .responded(RESPOND, 1, &[(1, Answer::Discarded), (2, Answer::Disagree)])
            .changed(call("c", RESPOND, 1), &[]);
        assert_eq!(
            play.due(),
            [Step::Effect(ReviewEffect::OpenDisputes)],
            "only a mandatory finding is disputed"
        );
        play.disputed(1);
        assert_eq!(play.due(), [Step::Finish]);
        assert_eq!(play.state_of(1), FindingState::Disputed { dispute: D1 });
    }

    #[test]
    fn a_finding_goes_to_the_coder_of_the_first_file_of_its_group() {
        let member = |member: u8, file: Option<&str>| {
            let mut finding = finding(1, Tag::Must);
            finding.id = FindingId::new(1).member(member);
            finding.raw.file = file.map(ToOwned::to_owned);
            finding
        };
        // The members of the group, and the coder of all of them.
        let rows = [
            (vec![member(0, Some("a.py"))], "py"),
            (vec![member(0, Some("b.js"))], "js"),
            (vec![member(0, None)], "py"),
            (vec![member(1, Some("b.js")), member(2, Some("a.py"))], "js"),
            (vec![member(1, Some("a.py")), member(2, Some("b.js"))], "py"),
            (vec![member(1, None), member(2, Some("b.js"))], "js"),
            (vec![member(1, Some("c.rb")), member(2, Some("b.js"))], "py"),
        ];
        for (members, expected) in rows {
            let mut play = Play::new(Mode::Fix);
            let plan = play.state.plan.as_mut().expect("the plan of the play");
            plan.agents.retain(|agent| agent.role != Role::Coder);
            for (name, domain) in [("py", "python"), ("js", "javascript")] {
                plan.agents.push(Agent {
                    domain: vec![domain.to_owned()],
                    ..agent(name, Role::Coder)
                });
            }
            let ids: Vec<FindingId> = members.iter().map(|member| member.id).collect();
            play.reviewed(members);
            for coder in ["py", "js"] {
                let items = play.state.items(&AgentName::from(coder), &RESPOND);
                let own = if coder == expected {
                    ids.as_slice()
                } else {
                    &[]
                };
                assert_eq!(items, own, "{coder} of {ids:?}");
            }
        }
    }

    #[test]
    fn the_judge_enforces_and_the_coder_is_called_again() {
        let mut play = one_dispute();
        assert_eq!(play.due(), [Step::Prompt(DisputeQuestion::Route(D1))]);
        play.routed(Route::Judge);
        let asked = call("j", Purpose::Judge { dispute: D1 }, 1);
        assert_eq!(play.due(), [Step::Ask(asked.clone())]);
        play.answered(
            asked,
            CallAnswer::Invalid {
                error: "two rulings".into(),
            },
        );
        let again = call("j", Purpose::Judge { dispute: D1 }, 2);
        assert_eq!(play.due(), [Step::Ask(again.clone())], "asked once more");
        play.answered(
            again,
            CallAnswer::Invalid {
                error: "two rulings".into(),
            },
        );
        assert_eq!(play.due(), [Step::Effect(ReviewEffect::Rule(D1))]);
        play.ruled(RulingWord::Enforce, judge());
        assert_eq!(play.due(), [Step::Effect(ReviewEffect::Settle(vec![D1]))]);
        play.settled();
        assert_eq!(play.state_of(1), FindingState::Enforced { dispute: D1 });
        assert_eq!(play.due(), [Step::Ask(call("c", ENFORCE, 1))]);
        play.responded(ENFORCE, 1, &[(1, Answer::Implemented)])
            .changed(call("c", ENFORCE, 1), &[1]);
        assert_eq!(
            play.due(),
            [Step::Ask(call("r1", Purpose::Recheck { round: 1 }, 1))]
        );
        assert_eq!(play.state_of(1), FindingState::Unchecked);
    }

    #[test]
    fn an_enforced_finding_that_is_not_implemented_stays_open() {
        let mut play = one_dispute();
        play.routed(Route::Judge)
            .ruled(RulingWord::Enforce, judge())
            .settled();
        play.responded(ENFORCE, 1, &[(1, Answer::Disagree)])
            .changed(call("c", ENFORCE, 1), &[]);
        assert_eq!(play.due(), [Step::Finish], "a ruling is not disputed again");
        assert_eq!(play.state_of(1), FindingState::Enforced { dispute: D1 });
    }

    #[test]
    fn an_escalated_dispute_waits_for_a_person_or_is_discarded() {
        let mut play = one_dispute();
        play.routed(Route::Judge)
            .ruled(RulingWord::Escalate, judge());
        assert_eq!(play.due(), [Step::Prompt(DisputeQuestion::Ruling(D1))]);
        play.policy.escalate_to = Route::Discard;
        assert_eq!(play.due(), [Step::Effect(ReviewEffect::Settle(vec![D1]))]);
        let mut silent = one_dispute();
        silent.policy.escalate_to = Route::Discard;
        silent
            .routed(Route::Judge)
            .event(DisputeEvent::RulingGiven {
                dispute: D1,
                ruling: RulingRecord {
                    by_rule: true,
                    ..RulingRecord::new(Ruling::bare(RulingWord::Escalate), judge())
                },
            });
        assert_eq!(
            silent.due(),
            [Step::Prompt(DisputeQuestion::Ruling(D1))],
            "a judge that gave no ruling is not uncertain"
        );
        play.policy.escalate_to = Route::Human;
        play.parked.insert(D1);
        assert_eq!(play.due(), [Step::Finish]);
        play.parked.clear();
        play.ruled(RulingWord::Dismiss, Ruler::Human(Person::default()))
            .settled();
        assert_eq!(play.due(), [Step::Finish]);
        assert_eq!(play.state_of(1), FindingState::Dismissed { dispute: D1 });
    }

    #[test]
    fn a_person_decides_or_the_opinion_is_discarded() {
        let mut human = one_dispute();
        human.routed(Route::Human);
        assert_eq!(human.due(), [Step::Prompt(DisputeQuestion::Ruling(D1))]);
        let mut discard = one_dispute();
        discard.routed(Route::Discard);
        assert_eq!(
            discard.due(),
            [Step::Effect(ReviewEffect::Settle(vec![D1]))]
        );
        discard.settled();
        assert_eq!(discard.state_of(1), FindingState::Discarded);
        assert_eq!(discard.due(), [Step::Finish]);
    }

    #[test]
    fn a_person_answers_the_coder_instead_of_ruling() {
        let answered = |play: &mut Play, text: &str| {
            play.event(DisputeEvent::ObjectionAnswered {
                dispute: D1,
                answered: Box::new(AnsweredObjection {
                    answer: text.into(),
                    by: Person::default(),
                    reply: None,
                }),
            });
        };
        let reply = |answer| Purpose::Reply {
            round: 1,
            dispute: D1,
            answer,
        };
        let mut play = one_dispute();
        play.routed(Route::Human);
        answered(&mut play, "who else calls it?");
        assert_eq!(play.due(), [Step::Ask(call("c", reply(1), 1))]);
        play.responded(reply(1), 1, &[(1, Answer::Disagree)])
            .changed(call("c", reply(1), 1), &[]);
        assert_eq!(play.due(), [Step::Effect(ReviewEffect::Reply(D1))]);
        let event = replied(&play.state, D1).expect("a reply");
        play.event(event);
        assert_eq!(play.due(), [Step::Prompt(DisputeQuestion::Ruling(D1))]);

        // No valid reply twice: the person is asked again.
        answered(&mut play, "what if it is empty?");
        for attempt in 1..=2 {
            assert_eq!(play.due(), [Step::Ask(call("c", reply(2), attempt))]);
            let error = "no answer".to_owned();
            let asked = call("c", reply(2), attempt);
            play.answered(asked.clone(), CallAnswer::Invalid { error })
                .changed(asked, &[]);
        }
        assert_eq!(play.due(), [Step::Prompt(DisputeQuestion::Ruling(D1))]);

        answered(&mut play, "it is called with text of others");
        play.responded(reply(3), 1, &[(1, Answer::Implemented)])
            .changed(call("c", reply(3), 1), &[1]);
        let event = replied(&play.state, D1).expect("a reply");
        play.event(event);
        assert_eq!(play.due(), [Step::Effect(ReviewEffect::Settle(vec![D1]))]);
        play.settled();
        assert_eq!(
            play.due(),
            [Step::Ask(call("r1", Purpose::Recheck { round: 1 }, 1))],
            "what is implemented is checked, and not enforced once more"
        );

        // Once the ruling is revoked, what the coder conceded decides nothing.
        play.event(DisputeEvent::RulingRevoked {
            dispute: D1,
            reason: "".into(),
        });
        assert_eq!(play.due(), [Step::Prompt(DisputeQuestion::Route(D1))]);
        play.routed(Route::Human);
        answered(&mut play, "and today?");
        assert_eq!(play.due(), [Step::Ask(call("c", reply(1), 1))]);
    }

    #[test]
    fn a_reversal_goes_to_a_dispute_and_never_to_the_coder() {
        let mut play = Play::new(Mode::Arbitrate);
        let reversal = Finding {
            reverses: Some(FindingId::new(9)),
            ..finding(1, Tag::Low)
        };
        play.reviewed(vec![reversal]);
        assert_eq!(play.due(), [Step::Effect(ReviewEffect::OpenDisputes)]);
    }

    #[test]
    fn what_was_ruled_is_not_asked_again_and_what_was_enforced_binds_at_once() {
        let mut play = Play::new(Mode::Arbitrate);
        play.reviewed(vec![
            finding(1, Tag::Must),
            finding(2, Tag::Must),
            finding(3, Tag::Must),
        ])
        .event(ReviewEvent::AlreadyRuled {
            finding: FindingId::new(1),
            dispute: DisputeNumber(7).into(),
            disposition: Disposition::Refuted,
            new_tag: None,
            insisted: false,
        })
        .event(ReviewEvent::StillDisputed {
            finding: FindingId::new(2),
            dispute: DisputeNumber(8),
        })
        .event(ReviewEvent::AlreadyRuled {
            finding: FindingId::new(3),
            dispute: DisputeNumber(9).into(),
            disposition: Disposition::Enforced,
            new_tag: None,
            insisted: false,
        });
        assert_eq!(
            play.state.items(&AgentName::from("c"), &RESPOND),
            [FindingId::new(3)]
        );
        play.event(ReviewEvent::BeforeImage {
            kept_as: "ref".into(),
            tree: "t0".into(),
        })
        .responded(RESPOND, 1, &[(3, Answer::Disagree)])
        .changed(call("c", RESPOND, 1), &[]);
        assert_eq!(
            play.due(),
            [Step::Effect(ReviewEffect::CarryOn)],
            "what an earlier run left open goes on in this one"
        );
        play.policy.mode = Mode::Fix;
        assert_eq!(play.due(), [Step::Finish], "where disputes are settled");
    }

    #[test]
    fn rounds_go_on_while_something_changes() {
        let mut play = Play::new(Mode::Fix);
        play.policy.rounds = 2;
        play.policy.recheck = false;
        play.reviewed(vec![finding(1, Tag::Must)])
            .event(ReviewEvent::BeforeImage {
                kept_as: "ref".into(),
                tree: "t0".into(),
            })
            .responded(RESPOND, 1, &[(1, Answer::Implemented)])
            .changed(call("c", RESPOND, 1), &[1]);
        assert_eq!(
            play.due(),
            [Step::Effect(ReviewEffect::NextRound { round: 2 })]
        );
        let covered = Coverage {
            file: "a.py".into(),
            lines: 1,
            ranges: Vec::new(),
        };
        play.event(ReviewEvent::RoundStarted {
            round: 2,
            shards: vec![vec![covered]],
            skipped: Vec::new(),
        });
        let review = |name| Step::Ask(call(name, Purpose::Review { round: 2, shard: 0 }, 1));
        assert_eq!(play.due(), [review("r1"), review("r2")]);
    }

    #[test]
    fn verification_runs_again_after_every_change() {
        let mut play = Play::new(Mode::Fix);
        play.policy.verify = 1;
        play.policy.recheck = false;
        play.reviewed(vec![finding(1, Tag::Must)])
            .event(ReviewEvent::BeforeImage {
                kept_as: "ref".into(),
                tree: "t0".into(),
            })
            .responded(RESPOND, 1, &[(1, Answer::Implemented)])
            .changed(call("c", RESPOND, 1), &[1]);
        assert_eq!(
            play.due(),
            [Step::Effect(ReviewEffect::Verify { round: 1 })]
        );
        play.event(ReviewEvent::Verified(Verified {
            round: 1,
            command: "make".into(),
            passed: true,
            tail: String::new(),
        }));
        assert_eq!(play.due(), [Step::Finish]);
    }
}
