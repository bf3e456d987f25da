//! The rows of the table, one file a subject.

mod answers;
mod coders;
mod ends;
pub(crate) mod kills;
mod readers;
mod trees;
mod world;

use crate::runner::Cases;

/// Adds all cases.
pub(crate) fn add(cases: &mut Cases) {
    ends::add(cases);
    answers::add(cases);
    readers::add(cases);
    coders::add(cases);
    trees::add(cases);
    world::add(cases);
    kills::add(cases);
    crate::attacks::add(cases);
}
