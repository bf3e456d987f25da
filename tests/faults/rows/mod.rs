//! The rows of the table, one file a subject.

mod answers;
mod ends;
pub(crate) mod kills;
mod readers;

use crate::runner::Cases;

/// Adds all cases.
pub(crate) fn add(cases: &mut Cases) {
    ends::add(cases);
    answers::add(cases);
    readers::add(cases);
    kills::add(cases);
}
