//! Draws the sample of an audit from the dismissals in the history.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;

use crate::review::code::sources::Sources;
use crate::review::state::ReviewState;
use crate::run::error::RunError;
use crate::run::redaction::Redaction;
use crate::run::resources::new_run;
use glee_model::domain::{Agent, AuditPlan, Dispute, DisputeNumber, RunId};
use glee_model::rules::measures;
use glee_model::rules::review::rulings;
use glee_store::config::settings::MaxAge;
use glee_store::history::store::Journal;

/// A sample of dismissals, with all data that a judge needs for new rulings.
#[derive(Debug)]
pub struct AuditSample {
    pub plan: AuditPlan,
    pub disputes: Vec<Dispute>,
    /// The number of dismissals that were drawn but left out, because their code is no longer stored.
    pub unavailable: u64,
    pub cases: BTreeMap<DisputeNumber, RunId>,
    pub runs: BTreeMap<RunId, RecordedRun>,
}

#[derive(Debug)]
pub struct RecordedRun {
    pub state: ReviewState,
    pub sources: Sources,
}

pub fn new_seed() -> u64 {
    let hash = blake3::hash(new_run().0.as_bytes());
    hash.as_bytes()
        .iter()
        .take(4)
        .fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}

/// Draws up to `size` dismissals by judges other than `judge`. Expired dismissals are left out. The same history
/// and `seed` always give the same sample.
pub fn sample(
    journal: &Journal,
    judge: &Agent,
    size: usize,
    seed: u64,
    since: Option<Date>,
    max_age: &MaxAge,
) -> Result<AuditSample, RunError> {
    let mut dismissals = journal.dismissals(since)?;
    let now = Timestamp::now();
    dismissals.retain(|dismissal| {
        let age = dismissal
            .disposition
            .as_ref()
            .and_then(|disposition| max_age.of(disposition));
        let is_expired = rulings::ended(dismissal.settled_at, dismissal.until, age, now).is_some();
        !is_expired && !dismissal.judges.contains(&judge.name.0)
    });
    let runs: BTreeMap<u64, RunId> = dismissals
        .into_iter()
        .map(|dismissal| (dismissal.dispute.0, dismissal.run))
        .collect();
    let plan = AuditPlan {
        seed,
        judge: judge.clone(),
        disputes: Vec::new(),
        population: runs.len() as u64,
    };
    let mut sample = AuditSample {
        plan,
        disputes: Vec::new(),
        unavailable: 0,
        cases: BTreeMap::new(),
        runs: BTreeMap::new(),
    };
    for number in measures::draw(runs.keys().copied(), seed) {
        if sample.disputes.len() == size {
            break;
        }
        match dispute(
            journal,
            &mut sample.runs,
            &runs[&number],
            DisputeNumber(number),
        )? {
            Some(dispute) => {
                sample.plan.disputes.push(dispute.number);
                sample.cases.insert(dispute.number, runs[&number].clone());
                sample.disputes.push(dispute);
            }
            None => sample.unavailable += 1,
        }
    }
    Ok(sample)
}

/// Returns the dispute without its rulings. Returns `None` if the code of the dispute's run is no longer stored.
fn dispute(
    journal: &Journal,
    runs: &mut BTreeMap<RunId, RecordedRun>,
    run: &RunId,
    number: DisputeNumber,
) -> Result<Option<Dispute>, RunError> {
    if !runs.contains_key(run) {
        let state = ReviewState::of(&journal.events(run)?);
        let mut sources = Sources::new(&journal.folder_of(run), Redaction::ON);
        if state.pruned || sources.load(state.round(), None).is_err() {
            return Ok(None);
        }
        runs.insert(run.clone(), RecordedRun { state, sources });
    }
    let recorded = runs[run].state.disputes.get(&number).cloned();
    Ok(recorded.map(|dispute| Dispute {
        route: None,
        rulings: Vec::new(),
        disposition: None,
        discarded_by: None,
        ..dispute
    }))
}
