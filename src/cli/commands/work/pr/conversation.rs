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
use glee_model::domain::event::{DisputeEvent, EventKind, Mode};
use glee_model::domain::{
    Answer, Disposition, Dispute, DisputeNumber, EarlierDispute, FindingId, FindingState, Objector,
    Participant, Person, Relation, Response, Role, Route, RulingWord, SettledFinding, Sides,
    Untrusted,
};
use glee_store::history::queries::rows::DisputeRecord;
use glee_store::history::{GivenRuling, store::Journal};
use glee_workflows::pull_request::{
    PersonRuling, Replies, ReplyObjection, RequestDispute, replies,
};
use glee_workflows::review::disputes::rulings::shared_form;
use glee_workspace::code::cited;

/// What Glee decided about the replies in the conversation of a pull request.
#[derive(Default)]
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
        let ruled = record_ruling(session, &mut journal, given)?;
        decided.rulings += usize::from(!ruled.is_empty());
        numbers.extend(
            ruled
                .into_iter()
                .map(|(finding, number)| (finding, number, true)),
        );
    }
    let mut waiting = Vec::new();
    for objection in &found.objections {
        let Some((dispute, is_waiting)) = record_objection(session, &mut journal, objection)?
        else {
            continue;
        };
        decided.objections += 1;
        let number = dispute.number;
        let about = objection.findings.iter().copied();
        numbers.extend(
            about
                .filter(|finding| dispute.is_about(*finding))
                .map(|finding| (finding, number, true)),
        );
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
    let shared = shared_form(&record, &journal.events(&record.run)?, None);
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
    let mut own = session.outcome.disputes.iter();
    if let Some(dispute) = own.find(|dispute| {
        dispute.is_about(finding.finding.id)
            && dispute.opened_by.is_none()
            && is_for(dispute, comments)
    }) {
        return Ok(Some(dispute.clone()));
    }
    let dispute = record_of(session, journal, finding)?.map(|record| record.dispute);
    Ok(dispute.filter(|dispute| is_for(dispute, comments)))
}

/// Returns the record of the dispute about `finding`.
fn record_of(
    session: &RequestSession,
    journal: &Journal,
    finding: &SettledFinding,
) -> Result<Option<DisputeRecord>, CommandError> {
    match dispute_of(session, finding) {
        Some(number) => Ok(journal.dispute(number)?),
        None => Ok(None),
    }
}

fn is_for(dispute: &Dispute, comments: &[String]) -> bool {
    let participant = dispute.participant.as_ref();
    participant.is_some_and(|participant| {
        comments
            .iter()
            .all(|comment| participant.comments.contains(comment))
    })
}

/// Records a ruling on members of a group. Returns the dispute of each member.
fn record_ruling(
    session: &RequestSession,
    journal: &mut Journal,
    given: &PersonRuling,
) -> Result<Vec<(FindingId, DisputeNumber)>, CommandError> {
    let comments = vec![given.comment.0.clone()];
    let file = given
        .findings
        .first()
        .and_then(|id| session.outcome.finding(*id)?.finding.raw.file.as_deref());
    let ruling = GivenRuling {
        disposition: match given.word {
            RulingWord::Dismiss => Disposition::Refuted,
            RulingWord::Enforce | RulingWord::Escalate => Disposition::Enforced,
        },
        reason: given.reason.clone(),
        until: None,
        person: Person {
            name: given.by.clone(),
            email: String::new(),
        },
        cited: cited::in_reason(&given.reason, file.unwrap_or_default(), &session.workspace),
    };
    let mut ruled: Vec<(FindingId, DisputeNumber)> = Vec::new();
    let mut members: Vec<SettledFinding> = Vec::new();
    let mut resolved: Vec<DisputeNumber> = Vec::new();
    for id in &given.findings {
        let Some(settled) = session.outcome.finding(*id) else {
            continue;
        };
        if let Some(dispute) = opened(session, journal, settled, &comments)? {
            ruled.push((*id, dispute.number));
            continue;
        }
        if let Some(open) = open_dispute(journal, settled)?
            && is_within(&open.dispute, &given.findings)
        {
            let number = open.dispute.number;
            if !resolved.contains(&number) {
                journal.resolve(number, ruling.clone())?;
                resolved.push(number);
            }
            if open.run == session.run {
                ruled.push((*id, number));
                continue;
            }
            // An earlier run opened the dispute, so the code below also records the ruling in this run.
        }
        members.push(settled.clone());
    }
    if !members.is_empty() {
        let ids: Vec<FindingId> = members.iter().map(|member| member.finding.id).collect();
        let objection = Response {
            finding: ids[0],
            answer: Answer::Disagree,
            text: given.reason.clone(),
            evidence: Vec::new(),
            demonstration: None,
        };
        let participant = Participant {
            logins: vec![given.by.clone()],
            comments,
        };
        let sides = sides(members, objection, participant);
        let number = journal.rule(&session.run, sides, ruling)?;
        ruled.extend(ids.into_iter().map(|id| (id, number)));
    }
    Ok(ruled)
}

/// The open dispute that the state of a finding names.
fn open_dispute(
    journal: &Journal,
    settled: &SettledFinding,
) -> Result<Option<DisputeRecord>, CommandError> {
    let FindingState::Disputed { dispute } = settled.state else {
        return Ok(None);
    };
    let record = journal.dispute(dispute)?;
    Ok(record.filter(|record| record.dispute.is_open()))
}

/// Whether a dispute is about no other finding. A dispute of an earlier run, in which findings have other ids, is
/// about one of these findings.
fn is_within(dispute: &Dispute, findings: &[FindingId]) -> bool {
    dispute.members.is_empty() || dispute.findings().all(|known| findings.contains(&known.id))
}

/// The sides of a dispute about members of a group.
fn sides(members: Vec<SettledFinding>, objection: Response, participant: Participant) -> Sides {
    let mut findings = Vec::new();
    let mut earlier = Vec::new();
    for member in members {
        earlier.extend(member.earlier);
        findings.push(member.finding);
    }
    Sides {
        finding: findings.remove(0),
        members: findings,
        objection,
        objector: Objector::Participant,
        earlier,
        participant: Some(participant),
    }
}

/// Opens a dispute for an objection, or finds the recorded dispute with the same comments. Returns the dispute, and
/// whether a judge has to rule. Returns `None` if earlier disputes about the findings wait for a person.
fn record_objection(
    session: &RequestSession,
    journal: &mut Journal,
    objection: &ReplyObjection,
) -> Result<Option<(Dispute, bool)>, CommandError> {
    let comments: Vec<String> = objection
        .comments
        .iter()
        .map(|comment| comment.0.clone())
        .collect();
    let mut members: Vec<SettledFinding> = Vec::new();
    let mut replaced: Vec<DisputeNumber> = Vec::new();
    let found = objection.findings.iter();
    for settled in found.filter_map(|id| session.outcome.finding(*id)) {
        if let Some(dispute) = opened(session, journal, settled, &comments)? {
            let is_waiting = dispute.is_open()
                && dispute.rulings.is_empty()
                && dispute.route != Some(Route::Human);
            return Ok(Some((dispute, is_waiting)));
        }
        if let Some(DisputeRecord { dispute, .. }) = open_dispute(journal, settled)? {
            if dispute.participant.is_none() || !dispute.rulings.is_empty() {
                continue;
            }
            // The new dispute also contains the comments of the old dispute.
            if is_within(&dispute, &objection.findings) && !replaced.contains(&dispute.number) {
                replaced.push(dispute.number);
            }
        }
        members.push(settled.clone());
    }
    let Some(first) = members.first() else {
        return Ok(None);
    };
    let reopened = if objection.is_reopening {
        reopened(session, journal, first, &objection.evidence)?
    } else {
        None
    };
    let response = Response {
        finding: first.finding.id,
        answer: Answer::Disagree,
        text: objection.text.clone(),
        evidence: objection.evidence.clone(),
        demonstration: None,
    };
    let participant = Participant {
        logins: objection.by.clone(),
        comments,
    };
    for dispute in replaced {
        // The old dispute ends without a ruling.
        let reason = "a later objection replaces this objection";
        let ended = GivenRuling {
            person: Person {
                name: objection.by.join(", "),
                email: String::new(),
            },
            ..GivenRuling::new(Disposition::Discarded, reason)
        };
        journal.resolve(dispute, ended)?;
    }
    let mut sides = sides(members, response, participant);
    sides.earlier.extend(reopened);
    let events = journal.open_disputes(&session.run, [sides])?;
    Ok(events.into_iter().find_map(|event| match event.kind {
        EventKind::Dispute(DisputeEvent::DisputeOpened { dispute }) => Some((*dispute, true)),
        _ => None,
    }))
}

/// Returns the earlier dispute that ended with a ruling to enforce the finding. The judge receives this dispute
/// together with the new objection.
fn reopened(
    session: &RequestSession,
    journal: &Journal,
    settled: &SettledFinding,
    evidence: &[Untrusted],
) -> Result<Option<EarlierDispute>, CommandError> {
    let Some(DisputeRecord { mut dispute, .. }) = record_of(session, journal, settled)? else {
        return Ok(None);
    };
    let last = dispute.rulings.pop();
    Ok(Some(EarlierDispute {
        dispute: dispute.number.into(),
        relation: Relation::Reopens {
            evidence: evidence.to_vec(),
        },
        title: dispute.finding.raw.title,
        disposition: dispute.disposition,
        new_tag: None,
        rationale: last.map_or_else(Untrusted::default, |last| last.ruling.rationale),
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
    let workspace = place::workspace(globals)?;
    let recalled = lookup::recall(globals, workspace, &journal, &session.run, None)?;
    let Recalled { judges, plan, .. } = recalled;
    let has_judge = !judges.is_empty() || plan.agents.iter().any(|agent| agent.role == Role::Judge);
    if !has_judge {
        let mut journal = history::open(globals, &session.workspace)?;
        let routes = disputes.into_iter().map(|dispute| {
            DisputeEvent::RouteChosen {
                dispute,
                route: Route::Human,
                person: None,
            }
            .into()
        });
        journal.append_all(&session.run, routes)?;
        globals.say("note: no judge is connected, so the objections wait for a maintainer");
        return Ok(false);
    }
    let workspace = place::workspace(globals)?;
    let route = Some(Route::Judge);
    let Recalled {
        workspace,
        settings,
        plan,
        judges,
        ..
    } = lookup::recall(globals, workspace, &journal, &session.run, route)?;
    let agents = execute::programs_of(&plan, &judges, &workspace)?;
    let outputs = Outputs::only(Format::Text);
    let context = CommandContext {
        outputs: &outputs,
        mode: Mode::Review,
        chosen: Some(Route::Judge),
        globals,
        findings: &[],
        filter: None,
        subject: None,
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
