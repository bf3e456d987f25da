//! `--format json`: the whole outcome as one object, in the form of `docs/schema/outcome.json`.

use crate::domain::Outcome;
use crate::protocol::printable;

/// The outcome as indented JSON with a line end.
pub(super) fn render(outcome: &Outcome) -> String {
    let json = serde_json::to_string_pretty(outcome).expect("an outcome has string keys only and no failing part");
    printable::json(&json) + "\n"
}
