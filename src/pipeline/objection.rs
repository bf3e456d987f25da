//! What stands against a finding when its dispute is opened.
//!
//! The coder's objection, or what takes its place where no coder was asked to take a side.

use crate::domain::{Answer, Class, Finding, FindingId, Response};
use crate::pipeline::state::State;

impl State {
    /// The objection against a finding whose dispute is due.
    pub(crate) fn objection(&self, id: FindingId) -> Response {
        let finding = self.finding(id).expect("an objection is made to a finding of the run");
        match finding.reverses {
            None if self.is_judged_first(finding) => between_reviewers(finding),
            None => self.responses.get(&id).expect("a dispute is opened on an objection").clone(),
            Some(earlier) => self.reversal(id, earlier),
        }
    }

    /// The objection against a reversal is the finding that it asks to undo.
    fn reversal(&self, id: FindingId, earlier: FindingId) -> Response {
        let undone = self.finding(earlier);
        let title = undone.map(|finding| finding.raw.title.clone()).unwrap_or_default();
        let place = undone.and_then(|finding| finding.raw.location());
        Response {
            finding: id,
            answer: Answer::Disagree,
            text: title
                .labelled(&format!("this undoes {earlier}, which asked for the opposite and was implemented: ")),
            evidence: place.iter().map(|place| place.to_string().into()).collect(),
        }
    }
}

/// The objection against a finding that no coder has seen yet is what the others say, or that nobody else says so.
fn between_reviewers(finding: &Finding) -> Response {
    let consensus = finding.consensus.as_ref();
    let notes = consensus.into_iter().flat_map(|consensus| {
        let alone = consensus.class != Class::Disputed;
        let decides = alone.then(|| format!("What would decide it: {}", consensus.would_decide));
        std::iter::once(consensus.why.clone()).chain(consensus.notes.clone()).chain(decides)
    });
    let text = notes.collect::<Vec<_>>().join("\n");
    Response { finding: finding.id, answer: Answer::Disagree, text: text.into(), evidence: Vec::new() }
}
