//! The rows of the table, one file for each subject.

mod answers;
mod binding;
mod changes;
pub(crate) mod clean;
mod coders;
mod detached;
mod ends;
mod findings;
mod hooks;
pub(crate) mod kills;
mod large;
mod load;
mod nested;
mod patches;
mod readers;
mod selection;
mod shell;
mod special_files;
mod starts;
mod trees;
mod undo;
mod vendors;
mod world;

use crate::runner::Cases;

pub(crate) fn add(cases: &mut Cases) {
    large::add(cases);
    load::add(cases);
    special_files::add(cases);
    ends::add(cases);
    vendors::add(cases);
    answers::add(cases);
    clean::add(cases);
    findings::add(cases);
    binding::add(cases);
    readers::add(cases);
    coders::add(cases);
    trees::add(cases);
    undo::add(cases);
    nested::add(cases);
    changes::add(cases);
    world::add(cases);
    hooks::add(cases);
    selection::add(cases);
    patches::add(cases);
    kills::add(cases);
    detached::add(cases);
    starts::add(cases);
    cases.skip(
        "clock jumps",
        "only who may set the system's clock can try them; stopped time is tried with STOP and CONT",
    );
    crate::attacks::add(cases);
}
