//! A dispute as its own events tell it.

use super::DisputeRecord;
use crate::domain::DisputeNumber;
use crate::event::{Event, EventKind};

/// Replays the events of a run that concern one dispute; `None` if it was never opened.
pub(super) fn dispute(number: DisputeNumber, events: impl IntoIterator<Item = Event>) -> Option<DisputeRecord> {
    let mut record: Option<DisputeRecord> = None;
    for event in events {
        let Event { run, at, kind, .. } = event;
        match (kind, &mut record) {
            (EventKind::DisputeOpened { dispute }, None) if dispute.number == number => {
                record = Some(DisputeRecord {
                    run,
                    opened_at: at,
                    settled_at: None,
                    dispute: *dispute,
                    settlement: None,
                });
            }
            (EventKind::DisputesReopened { disputes, .. }, Some(record)) if disputes.contains(&number) => {
                record.dispute.route = None;
            }
            (EventKind::RouteChosen { dispute, route, .. }, Some(record)) if dispute == number => {
                record.dispute.route = Some(route);
            }
            (EventKind::RulingGiven { dispute, ruling }, Some(record)) if dispute == number => {
                record.dispute.rulings.push(ruling);
            }
            (EventKind::DisputeSettled { dispute, settlement }, Some(record)) if dispute == number => {
                record.settled_at = Some(at);
                record.dispute.disposition = Some(settlement.disposition.clone());
                let is_discarded = settlement.disposition == crate::domain::Disposition::Discarded;
                record.dispute.discarded_by = is_discarded.then(|| settlement.by.clone());
                record.settlement = Some(settlement);
            }
            _ => {}
        }
    }
    record
}
