//! Findings, events and outcomes for the tests of everything that shows them.

use crate::domain::RunId;
use crate::event::{Event, EventKind};

/// An event of the one run that tests know.
pub(crate) fn event(seq: u64, kind: EventKind) -> Event {
    Event {
        run: RunId("0197-1a2b3c4d".to_owned()),
        seq,
        at: "2026-11-21T10:00:00Z".parse().expect("a timestamp"),
        kind,
    }
}
