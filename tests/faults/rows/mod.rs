//! The rows of the table, one file a subject.

mod answers;
mod coders;
mod ends;
pub(crate) mod kills;
mod large;
mod readers;
mod trees;
mod vendors;
mod world;

use crate::runner::Cases;

/// Adds all cases.
pub(crate) fn add(cases: &mut Cases) {
    large::add(cases);
    ends::add(cases);
    vendors::add(cases);
    answers::add(cases);
    readers::add(cases);
    coders::add(cases);
    trees::add(cases);
    world::add(cases);
    kills::add(cases);
    cases.skip(
        "clock jumps",
        "only who may set the system's clock can try them; stopped time is tried with STOP and CONT",
    );
    crate::attacks::add(cases);
}
