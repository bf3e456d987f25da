//! Opens disputes for replies in the conversation of a pull request, and lets the judge or people settle the
//! disputes.
//!
//! Glee records a reply before the judge rules, and publishes the ruling afterwards. If Glee is killed in
//! between, the next command finds the recorded dispute by the ids of the comments. That command publishes a
//! recorded ruling without asking the judge again.

use super::session::RequestSession;
use crate::cli::commands::history::runs::lookup::{self, Recalled};
use crate::cli::context::{
    CommandContext, CommandError, Format, Globals, Outputs, execute, history, place,
};
use crate::domain::event::{DisputeEvent, EventKind, Mode};
use crate::domain::{
    Answer, Disposition, Dispute, DisputeNumber, EarlierDispute, FindingId, FindingState, Objector,
    Participant, Relation, Response, Role, Route, RulingWord, SettledFinding, Sides, Untrusted,
};
use crate::history::{GivenRuling, store::Journal};
use crate::workflows::pull_request::{
    PersonRuling, Replies, ReplyObjection, RequestDispute, replies,
};
use crate::workflows::review::disputes::rulings::shared_form;

/// What Glee decided about the replies in the conversation of a pull request.
#[derive(Debug, Default)]
pub(crate) struct Decided {
    pub(crate) disputes: Vec<RequestDispute>,
    pub(crate) objections: usize,
    pub(crate) rulings: usize,
    pub(crate) refused: usize,
    pub(crate) is_stopped: bool,
}

/// Records the rulings of people, opens disputes for objections, and lets the judge rule on the new disputes.
pub(crate) fn decide(
    session: &mut RequestSession,
    globals: &Globals,
) -> Result<Decided, CommandError> {
    let known = known(session, globals)?;
    let found: Replies = session.with_review(&known, replies);
    let mut decided = Decided {
        refused: found.refusals.len(),
        ..Decided::default()
    };
    let mut numbers: Vec<(FindingId, DisputeNumber, bool)> = Vec::new();
    let mut journal = history::open(globals, &session.workspace)?;
    for given in &found.rulings {
        if let Some(number) = record_ruling(session, &mut journal, given)? {
            numbers.push((given.finding, number, true));
            decided.rulings += 1;
        }
    }
    let mut waiting = Vec::new();
    for objection in &found.objections {
        if numbers
            .iter()
            .any(|(finding, ..)| *finding == objection.finding)
        {
            continue;
        }
        let Some((number, is_waiting)) = record_objection(session, &mut journal, objection)? else {
            continue;
        };
        decided.objections += 1;
        numbers.push((objection.finding, number, true));
        if is_waiting {
            waiting.push(number);
        }
    }
    drop(journal);
    if !waiting.is_empty() {
        decided.is_stopped = settle(session, waiting, globals)?;
    }
    session.refresh(globals)?;
    let journal = session.journal(globals)?;
    for settled in &session.outcome.findings {
        let is_handled = numbers
            .iter()
            .any(|(finding, ..)| *finding == settled.finding.id);
        if let Some(number) = dispute_of(session, settled).filter(|_| !is_handled) {
            numbers.push((settled.finding.id, number, false));
        }
    }
    for (finding, number, is_new) in numbers {
        let mut dispute = read(&journal, finding, number)?;
        // If the field `participant` is set, the dispute was opened for replies on the pull request. An earlier
        // command was possibly killed before it published the ruling, so Glee treats the dispute as new.
        if let Some(dispute) = &mut dispute {
            dispute.is_new = is_new || dispute.dispute.participant.is_some();
        }
        decided.disputes.extend(dispute);
    }
    Ok(decided)
}

/// Returns the recorded disputes about findings of the run.
pub(crate) fn known(
    session: &RequestSession,
    globals: &Globals,
) -> Result<Vec<RequestDispute>, CommandError> {
    let journal = session.journal(globals)?;
    let mut known = Vec::new();
    for settled in &session.outcome.findings {
        if let Some(number) = dispute_of(session, settled) {
            known.extend(read(&journal, settled.finding.id, number)?);
        }
    }
    Ok(known)
}

fn dispute_of(session: &RequestSession, settled: &SettledFinding) -> Option<DisputeNumber> {
    match &settled.state {
        FindingState::AlreadyRuled { dispute, .. } => dispute.number(),
        FindingState::Disputed { dispute } => Some(*dispute),
        _ => session
            .outcome
            .dispute_of(settled)
            .map(|dispute| dispute.number),
    }
}

fn read(
    journal: &Journal,
    finding: FindingId,
    number: DisputeNumber,
) -> Result<Option<RequestDispute>, CommandError> {
    let Some(record) = journal.dispute(number)? else {
        return Ok(None);
    };
    let person = record
        .settlement
        .as_ref()
        .and_then(|settlement| settlement.person.clone());
    let shared = shared_form(&record, &journal.events(&record.run)?, person);
    Ok(Some(RequestDispute {
        finding,
        dispute: record.dispute,
        shared,
        is_new: false,
    }))
}

/// Returns the dispute about `finding`, if the dispute was opened for `comments`.
fn opened(
    session: &RequestSession,
    journal: &Journal,
    finding: &SettledFinding,
    comments: &[String],
) -> Result<Option<Dispute>, CommandError> {
    let is_it = |dispute: &Dispute| {
        let participant = dispute.participant.as_ref();
        participant.is_some_and(|participant| {
            comments
                .iter()
                .all(|comment| participant.comments.contains(comment))
        })
    };
    let own = session
        .outcome
        .disputes
        .iter()
        .filter(|dispute| dispute.finding.id == finding.finding.id);
    if let Some(dispute) = own
        .clone()
        .find(|dispute| dispute.opened_by.is_none() && is_it(dispute))
    {
        return Ok(Some(dispute.clone()));
    }
    let record = dispute_of(session, finding)
        .map(|number| journal.dispute(number))
        .transpose()?
        .flatten();
    Ok(record.map(|record| record.dispute).filter(is_it))
}

fn record_ruling(
    session: &RequestSession,
    journal: &mut Journal,
    given: &PersonRuling,
) -> Result<Option<DisputeNumber>, CommandError> {
    let Some(settled) = session.outcome.finding(given.finding).cloned() else {
        return Ok(None);
    };
    let comments = vec![given.comment.0.clone()];
    if let Some(dispute) = opened(session, journal, &settled, &comments)? {
        return Ok(Some(dispute.number));
    }
    let ruling = GivenRuling {
        disposition: match given.word {
            RulingWord::Dismiss => Disposition::Refuted,
            RulingWord::Enforce | RulingWord::Escalate => Disposition::Enforced,
        },
        reason: given.reason.clone(),
        until: None,
        person: Some(given.by.clone()),
    };
    if let FindingState::Disputed { dispute } = settled.state
        && let Some(record) = journal.dispute(dispute)?
        && record.dispute.is_open()
    {
        journal.resolve_as(dispute, ruling.clone())?;
        if record.run == session.run {
            return Ok(Some(dispute));
        }
        // An earlier run opened the dispute, so the code below also records the ruling in this run.
    }
    let objection = Response {
        finding: given.finding,
        answer: Answer::Disagree,
        text: given.reason.clone(),
        evidence: Vec::new(),
    };
    let sides = Sides {
        objection,
        objector: Objector::Participant,
        earlier: settled.earlier,
        participant: Some(Participant {
            logins: vec![given.by.clone()],
            comments,
        }),
        finding: settled.finding,
        members: Vec::new(),
    };
    Ok(Some(journal.rule_as(&session.run, sides, ruling)?))
}

/// Opens a dispute for an objection, or finds the recorded dispute with the same comments. Returns the number of
/// the dispute, and whether a judge has to rule. Returns `None` if an earlier dispute about the finding waits
/// for a person.
fn record_objection(
    session: &RequestSession,
    journal: &mut Journal,
    objection: &ReplyObjection,
) -> Result<Option<(DisputeNumber, bool)>, CommandError> {
    let Some(settled) = session.outcome.finding(objection.finding).cloned() else {
        return Ok(None);
    };
    let comments: Vec<String> = objection
        .comments
        .iter()
        .map(|comment| comment.0.clone())
        .collect();
    if let Some(dispute) = opened(session, journal, &settled, &comments)? {
        let is_waiting =
            dispute.is_open() && dispute.rulings.is_empty() && dispute.route != Some(Route::Human);
        return Ok(Some((dispute.number, is_waiting)));
    }
    if let FindingState::Disputed { dispute } = settled.state
        && let Some(record) = journal.dispute(dispute)?
        && record.dispute.is_open()
    {
        if record.dispute.participant.is_none() || !record.dispute.rulings.is_empty() {
            return Ok(None);
        }
        // The old dispute ends without a ruling. The new dispute also contains the comments of the old dispute.
        let reason = "a later objection replaces this objection".into();
        let ended = GivenRuling {
            disposition: Disposition::Discarded,
            reason,
            until: None,
            person: None,
        };
        journal.resolve_as(dispute, ended)?;
    }
    let mut earlier = settled.earlier.clone();
    if objection.is_reopening {
        earlier.extend(reopened(session, journal, &settled, &objection.evidence)?);
    }
    let response = Response {
        finding: objection.finding,
        answer: Answer::Disagree,
        text: objection.text.clone(),
        evidence: objection.evidence.clone(),
    };
    let sides = Sides {
        objection: response,
        objector: Objector::Participant,
        earlier,
        participant: Some(Participant {
            logins: objection.by.clone(),
            comments,
        }),
        finding: settled.finding,
        members: Vec::new(),
    };
    let events = journal.open_disputes(&session.run, [sides])?;
    let number = events.iter().find_map(|event| match &event.kind {
        EventKind::Dispute(DisputeEvent::DisputeOpened { dispute }) => Some(dispute.number),
        _ => None,
    });
    Ok(number.map(|number| (number, true)))
}

/// Returns the earlier dispute that ended with a ruling to enforce the finding. The judge receives this dispute
/// together with the new objection.
fn reopened(
    session: &RequestSession,
    journal: &Journal,
    settled: &SettledFinding,
    evidence: &[Untrusted],
) -> Result<Option<EarlierDispute>, CommandError> {
    let Some(record) = dispute_of(session, settled)
        .map(|number| journal.dispute(number))
        .transpose()?
        .flatten()
    else {
        return Ok(None);
    };
    let rationale = record
        .dispute
        .rulings
        .last()
        .map(|last| last.ruling.rationale.clone())
        .unwrap_or_default();
    Ok(Some(EarlierDispute {
        dispute: record.dispute.number.into(),
        relation: Relation::Reopens {
            evidence: evidence.to_vec(),
        },
        title: record.dispute.finding.raw.title.clone(),
        disposition: record.dispute.disposition.clone(),
        new_tag: None,
        rationale,
    }))
}

/// Lets the judge rule on disputes. Without a judge, the disputes wait for a maintainer. Returns whether the
/// user or a signal stopped the judge.
fn settle(
    session: &RequestSession,
    disputes: Vec<DisputeNumber>,
    globals: &Globals,
) -> Result<bool, CommandError> {
    let journal = session.journal(globals)?;
    let recall = |route| {
        lookup::recall(
            globals,
            place::workspace(globals)?,
            &journal,
            &session.run,
            route,
        )
    };
    let Recalled { judges, plan, .. } = recall(None)?;
    let has_judge = !judges.is_empty() || plan.agents.iter().any(|agent| agent.role == Role::Judge);
    if !has_judge {
        let mut journal = history::open(globals, &session.workspace)?;
        let routes = disputes.into_iter().map(|dispute| {
            DisputeEvent::RouteChosen {
                dispute,
                route: Route::Human,
                by_person: false,
            }
            .into()
        });
        journal.append_all(&session.run, routes)?;
        globals.say("note: no judge is connected, so the objections wait for a maintainer");
        return Ok(false);
    }
    let Recalled {
        workspace,
        settings,
        plan,
        judges,
        ..
    } = recall(Some(Route::Judge))?;
    let agents = lookup::programs(&plan, &judges, &workspace)?;
    let outputs = Outputs::only(Format::Text);
    let context = CommandContext {
        outputs: &outputs,
        mode: Mode::Review,
        chosen: Some(Route::Judge),
        globals,
        findings: &[],
        filter: None,
    };
    let (_, is_stopped) = execute::settle(
        &context,
        workspace,
        settings,
        agents,
        &session.run,
        disputes,
        judges,
    )?;
    Ok(is_stopped)
}
