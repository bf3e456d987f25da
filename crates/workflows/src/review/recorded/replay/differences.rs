//! Compares the decisions of a replay with the decisions of the recorded run.

use crate::review::recorded::replay::match_findings::Same;
use crate::review::state::ReviewState;
use glee_model::domain::ExitReason;
use glee_protocol::text::printable;

pub(super) fn differences(
    record: &ReviewState,
    state: &ReviewState,
    exit: ExitReason,
) -> Vec<String> {
    let mut lines = Vec::new();
    let recorded = Same::of(&record.findings);
    let decided = Same::of(&state.findings);
    for finding in &state.findings {
        let title = printable::line(&finding.raw.title);
        let now = state.finding_state(finding);
        match recorded
            .places(finding)
            .first()
            .map(|place| &record.findings[*place])
        {
            None => lines.push(format!("{} is new: {title}", finding.id)),
            Some(known) => {
                if known.mandatory != finding.mandatory {
                    let word = |mandatory| if mandatory { "mandatory" } else { "optional" };
                    let then = word(known.mandatory);
                    let now = word(finding.mandatory);
                    lines.push(format!("{} is {now}, was {then}: {title}", finding.id));
                }
                let then = record.finding_state(known);
                if then != now {
                    lines.push(format!("{} is {now}, was {then}: {title}", finding.id));
                }
            }
        }
    }
    for known in &record.findings {
        if decided.places(known).is_empty() {
            lines.push(format!(
                "{} of the record is missing: {}",
                known.id,
                printable::line(&known.raw.title)
            ));
        }
    }
    if let Some((then, _)) = record.ended.filter(|(then, _)| *then != exit) {
        lines.push(format!(
            "the exit code is {}, was {}",
            exit.code(),
            then.code()
        ));
    }
    lines
}
