//! Tests that the rows which writes change add up to the views, as a server keeps them.

use super::*;
use crate::history::changed_rows::{forget, note, views};
use crate::history::shared_log::{SharedDisputeRow, SharedRun, SharedTally, SharedViews};

type Tallies = BTreeMap<(String, Vec<String>, String), SharedTally>;

/// What a server has of one repository.
#[derive(Debug, Default, PartialEq)]
struct Kept {
    runs: BTreeMap<String, SharedRun>,
    disputes: BTreeMap<i64, SharedDisputeRow>,
    /// Of days, and of months.
    tallies: [Tallies; 2],
}

impl Kept {
    fn keep(&mut self, views: SharedViews) {
        let runs = views.runs.into_iter().map(|row| (row.id.clone(), row));
        self.runs.extend(runs);
        let disputes = views.disputes.into_iter().map(|row| (row.number, row));
        self.disputes.extend(disputes);
        for (kept, rows) in self.tallies.iter_mut().zip([views.tallies, views.months]) {
            kept.extend(rows.into_iter().map(|row| {
                let key = (row.kind.clone(), row.name.clone(), row.day.clone());
                (key, row)
            }));
            // A row without a count adds nothing.
            kept.retain(|_, row| row.counts.iter().flatten().any(|count| *count != 0));
        }
    }
}

/// Applies each event in a transaction of its own.
fn kept(events: &[Event]) -> (Kept, Kept) {
    let db = recover::empty().unwrap();
    note(&db).unwrap();
    let mut kept = Kept::default();
    for event in events {
        let tx = db.unchecked_transaction().unwrap();
        forget(&tx).unwrap();
        projections::apply(&tx, event).unwrap();
        kept.keep(views(&tx, false).unwrap());
        tx.commit().unwrap();
    }
    let mut whole = Kept::default();
    whole.keep(views(&db, true).unwrap());
    (kept, whole)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn changed_rows_add_up_to_the_views(ops in ops()) {
        let (kept, whole) = kept(&events(&ops, &mut Fold::default()));
        prop_assert_eq!(kept, whole);
    }
}

#[test]
fn a_call_that_is_made_again_leaves_the_sums_of_its_first_day() {
    let call = CallId {
        agent: AgentName::from("ada"),
        purpose: Purpose::Review { round: 1, shard: 1 },
        attempt: 1,
    };
    let at = |seq: u64, day: i64, kind: EventKind| Event {
        run: super::run("0"),
        seq,
        at: Timestamp::from_second(day * 86_400).unwrap(),
        kind,
    };
    let begun = || {
        EventKind::Run(RunEvent::CallStarted {
            call: call.clone(),
            role: Role::Reviewer,
            prompt_bytes: 1,
            nonce: String::new(),
        })
    };
    let (kept, whole) = kept(&[at(1, 1, begun()), at(2, 2, begun())]);
    assert_eq!(kept, whole);
    let days: Vec<&str> = kept.tallies[0]
        .keys()
        .map(|(_, _, day)| day.as_str())
        .collect();
    assert_eq!(days, ["1970-01-03"]);
}
