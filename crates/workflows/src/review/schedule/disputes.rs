//! The steps that are due for disputes: opening, choosing a route, asking judges and people, and settling.

use std::collections::{BTreeMap, BTreeSet};

use crate::review::code::context::is_known;
use crate::review::demonstrations as side_tests;
use crate::review::schedule::steps::{
    DisputeQuestion, ReviewEffect, ReviewStep, SchedulePolicy, ask, is_invalid,
};
use crate::review::state::ReviewState;
use crate::run::workflow::Step;
use glee_model::domain::event::{
    CallAnswer, CallId, DisputeEvent, EventKind, Mode, Purpose, Settlement,
};
use glee_model::domain::{
    AgentName, Answer, Disposition, Dispute, DisputeNumber, Finding, FindingId, Person, Response,
    Route, Ruler, RulingWord, TestedTree, Untrusted,
};
use glee_model::rules::review::progress::Stance;
use glee_model::rules::review::{demonstrations, objections};

pub(super) fn due(
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
    for step in of_open(state, policy, open) {
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
pub(crate) fn of_open<'a>(
    state: &ReviewState,
    policy: &SchedulePolicy,
    open: impl Iterator<Item = &'a Dispute>,
) -> Vec<ReviewStep> {
    let mut steps = Vec::new();
    let mut settled = Vec::new();
    for step in open.flat_map(|dispute| of_dispute(state, policy, dispute)) {
        match step {
            Step::Effect(ReviewEffect::Settle(numbers)) => settled.extend(numbers),
            // Each demonstration runs once, whatever dispute waits for it.
            Step::Effect(ReviewEffect::Demonstrate(_)) if steps.contains(&step) => {}
            step => steps.push(step),
        }
    }
    let mut steps = by_file(state, steps);
    if !settled.is_empty() {
        steps.insert(0, Step::Effect(ReviewEffect::Settle(settled)));
    }
    steps
}

/// The maximum number of disputes in one call. A judge that has to weigh more of them at once weighs each of them less.
const TOGETHER: usize = 8;

/// A judge is asked about the disputes of a file in one call, once the route of each of them is chosen.
fn by_file(state: &ReviewState, steps: Vec<ReviewStep>) -> Vec<ReviewStep> {
    let mut joined: BTreeMap<(AgentName, Place<'_>), Vec<DisputeNumber>> = BTreeMap::new();
    let mut unrouted = BTreeSet::new();
    let mut others = Vec::new();
    for step in steps {
        if let Some((judge, dispute, place)) = joinable(state, &step) {
            joined.entry((judge, place)).or_default().push(dispute);
            continue;
        }
        if let Step::Prompt(DisputeQuestion::Route(number))
        | Step::Effect(ReviewEffect::Send(number)) = &step
        {
            unrouted.extend(state.disputes.get(number).and_then(place));
        }
        others.push(step);
    }
    joined.retain(|(_, place), _| !unrouted.contains(place));
    for ((agent, _), disputes) in joined {
        for disputes in disputes.chunks(TOGETHER) {
            let purpose = match disputes {
                [dispute] => Purpose::Judge { dispute: *dispute },
                disputes => Purpose::JudgeFile {
                    disputes: disputes.to_vec(),
                },
            };
            others.push(Step::Ask(CallId {
                agent: agent.clone(),
                purpose,
                attempt: 1,
            }));
        }
    }
    others
}

/// A file at the start of a round.
type Place<'a> = (&'a str, u32);

fn place(dispute: &Dispute) -> Option<Place<'_>> {
    Some((dispute.finding.raw.file.as_deref()?, dispute.finding.round))
}

/// A question to a judge that can be asked together with others. A program of the user's own is asked about one dispute at a time,
/// and so is a judge that gave no valid answer at first. The finding of a reversal depends on the dispute that it reverses.
fn joinable<'a>(
    state: &'a ReviewState,
    step: &ReviewStep,
) -> Option<(AgentName, DisputeNumber, Place<'a>)> {
    let Step::Ask(CallId {
        agent,
        purpose: Purpose::Judge { dispute },
        attempt: 1,
    }) = step
    else {
        return None;
    };
    let judge = state.judges().find(|judge| judge.name == *agent)?;
    let disputed = state.disputes.get(dispute)?;
    let is_own = disputed.finding.reverses.is_none();
    let is_asked = is_own && is_known(judge) && !judge.is_embedded();
    let place = place(disputed).filter(|_| is_asked)?;
    Some((agent.clone(), *dispute, place))
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

/// The findings about which a dispute is due. Members of one group to which the same objection was made are one dispute.
pub(crate) fn unopened(state: &ReviewState) -> Vec<Vec<FindingId>> {
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

pub(crate) fn sent(state: &ReviewState, dispute: DisputeNumber) -> EventKind {
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

/// Why a policy does not discard a dispute: the test of an objection passes on the reviewed tree.
pub(crate) fn undiscarded(
    state: &ReviewState,
    dispute: DisputeNumber,
    route: Route,
    person: Option<&Person>,
) -> Option<String> {
    let by_policy = person.is_none() && route == Route::Discard;
    let disputed = state.disputes.get(&dispute).filter(|_| by_policy)?;
    let mut findings = disputed.findings();
    let why = findings.find_map(|finding| {
        demonstrations::passing_objection(&state.progress(finding.id).demonstrations)
    })?;
    Some(format!("dispute {dispute} is not discarded: {why}"))
}

/// The event that chooses a route. What a policy does not discard goes to the judge, or else to a person.
pub(crate) fn routed(
    state: &ReviewState,
    dispute: DisputeNumber,
    route: Route,
    person: Option<Person>,
) -> EventKind {
    if undiscarded(state, dispute, route, person.as_ref()).is_some() {
        return sent(state, dispute);
    }
    let chosen = DisputeEvent::RouteChosen {
        dispute,
        route,
        person,
    };
    chosen.into()
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
pub(crate) fn replied(state: &ReviewState, number: DisputeNumber) -> Option<EventKind> {
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
    let mut asks = ask_judges(state, &Purpose::Judge { dispute });
    if asks.is_empty() {
        asks = requested(state, dispute);
    }
    if asks.is_empty() {
        asks.push(Step::Effect(ReviewEffect::Rule(dispute)));
    }
    asks
}

fn ask_judges(state: &ReviewState, purpose: &Purpose) -> Vec<ReviewStep> {
    let judges = state.judges();
    judges
        .filter_map(|judge| ask(state, &judge.name, purpose.clone(), is_invalid))
        .collect()
}

/// If a judge asked for a demonstration, one side is asked, its demonstration runs, and all judges are asked again.
fn requested(state: &ReviewState, number: DisputeNumber) -> Vec<ReviewStep> {
    let Some(request) = side_tests::requested(state, number) else {
        return Vec::new();
    };
    let dispute = state.disputes.get(&number);
    let speaker = dispute.and_then(|dispute| side_tests::speaker(state, dispute, request.from));
    let purpose = Purpose::Demonstrate { dispute: number };
    if let Some(step) = speaker.and_then(|agent| ask(state, agent, purpose, is_invalid)) {
        return vec![step];
    }
    if side_tests::next(state, TestedTree::Before).is_some() {
        return vec![Step::Effect(ReviewEffect::Demonstrate(TestedTree::Before))];
    }
    ask_judges(state, &Purpose::JudgeAgain { dispute: number })
}

/// Returns the settlement that follows from the last ruling on a dispute. If this ruling does not decide the
/// dispute, the finding is discarded.
pub(crate) fn settlement(state: &ReviewState, number: DisputeNumber) -> Option<Settlement> {
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
        let disposition = objections::disposition(&record.ruling)?;
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
