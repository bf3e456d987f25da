//! Reads the data for a replay from the record of a run. The data consists of the plan, the rulings that applied,
//! and the results of the `review.verify` commands.

use std::collections::BTreeMap;

use crate::review::state::ReviewState;
use glee_model::domain::event::{CallId, Event, EventKind, Plan, Purpose, ReviewEvent, Verified};
use glee_model::domain::{
    CitedCode, Disposition, EarlierDispute, Relation, RulingRef, RunId, Tag, Untrusted,
};
use glee_model::rules::review::progress::Repeated;
use glee_store::history::queries::rows::Binding;

/// The plan at the start of the run, without the changes of later fix requests.
pub(super) fn begun(events: &[Event]) -> Option<Plan> {
    events.iter().find_map(|event| match &event.kind {
        EventKind::Review(ReviewEvent::RunStarted { plan }) => Some((**plan).clone()),
        _ => None,
    })
}

/// The bindings that applied in the recorded run. In each binding, the disposition and the tag are the values at
/// the time of the recorded run.
pub(super) fn earlier(bindings: Vec<Binding>, record: &ReviewState, run: &RunId) -> Vec<Binding> {
    let related: BTreeMap<RulingRef, &EarlierDispute> = record
        .progress
        .values()
        .flat_map(|progress| &progress.related)
        .map(|earlier| (earlier.dispute.clone(), earlier))
        .collect();
    // The disposition and the tag of each dispute at the time of the run. A ruling takes precedence over
    // an open dispute and a lowered tag.
    let mut states: BTreeMap<RulingRef, (Option<Disposition>, Option<Tag>)> = BTreeMap::new();
    let open = record.still_disputed().map(|(number, _)| number);
    let open = open.chain(record.carried.keys().copied());
    states.extend(open.map(|number| (number.into(), (None, None))));
    states.extend(record.progress.iter().filter_map(|(id, progress)| {
        let lowered = progress.lowered.as_ref()?;
        let tag = record.finding(*id)?.raw.severity.tag;
        Some((
            lowered.dispute.clone(),
            (Some(Disposition::NotMandatory), tag),
        ))
    }));
    for progress in record.progress.values() {
        if let Some(Repeated::Ruled {
            dispute,
            disposition,
        }) = &progress.repeats
        {
            states.insert(dispute.clone(), (Some(disposition.clone()), None));
        }
    }
    let known = bindings.into_iter().filter(|binding| binding.run != *run);
    known
        .filter_map(|binding| {
            if let Some(earlier) = related.get(&binding.dispute) {
                let disposition = earlier.disposition.clone();
                let new_tag = earlier.new_tag;
                return Some(Binding {
                    disposition,
                    new_tag,
                    cited: lost(&earlier.relation).into_iter().collect(),
                    ..binding
                });
            }
            let (disposition, new_tag) = states.get(&binding.dispute)?.clone();
            Some(Binding {
                disposition,
                new_tag,
                ended: None,
                is_vouched: true,
                cited: Vec::new(),
                ..binding
            })
        })
        .collect()
}

/// Cited code that stands in no tree, for a ruling that had fallen in the recorded run.
fn lost(relation: &Relation) -> Option<CitedCode> {
    let Relation::EvidenceGone { cited, .. } = relation else {
        return None;
    };
    Some(CitedCode {
        file: cited.file.clone(),
        line: cited.line,
        end_line: cited.end_line,
        text: Untrusted::default(),
        block: "gone".to_owned(),
    })
}

pub(crate) struct RecordedCheck {
    pub round: u32,
    /// The number of tree changes that the run recorded before this event.
    pub after: usize,
    pub event: EventKind,
}

pub(super) fn checks(events: &[Event]) -> Vec<RecordedCheck> {
    let mut after = 0;
    let mut checks = Vec::new();
    for event in events {
        match &event.kind {
            EventKind::Review(ReviewEvent::TreeChanged { .. }) => after += 1,
            kind @ EventKind::Review(ReviewEvent::Verified(Verified { round, .. })) => {
                checks.push(RecordedCheck {
                    round: *round,
                    after,
                    event: kind.clone(),
                });
            }
            _ => {}
        }
    }
    checks
}

pub(crate) fn count_of_repairs(record: &ReviewState) -> u32 {
    let attempt =
        |call: &CallId| matches!(call.purpose, Purpose::Repair { .. }).then_some(call.attempt);
    record.calls.keys().filter_map(attempt).max().unwrap_or(0)
}
