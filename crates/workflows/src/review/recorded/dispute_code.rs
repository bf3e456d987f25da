//! Reads the code and the tests of a recorded dispute from the stored data of its run.

use std::path::Path;

use crate::review::code::coder_changes::Trees;
use crate::review::code::sources::Sources;
use crate::review::demonstrations::request;
use crate::review::disputes::references;
use crate::review::state::ReviewState;
use crate::run::redaction::Redaction;
use glee_model::domain::event::Event;
use glee_model::domain::{Demonstrated, Dispute, Untrusted};
use glee_model::rules::review::demonstrations;
use glee_protocol::calls::judge::RequestedDemonstration;
use glee_workspace::code::anchors::Excerpt;

/// The reviewed code of a dispute. The value is empty if the stored data of the run was deleted.
#[derive(Debug, Default)]
pub struct DisputeCode {
    pub finding: Option<Excerpt>,
    /// The code that the reviewer, the objection and the rulings cite.
    pub cited: Vec<Excerpt>,
    /// The tests of both sides, and what they did.
    pub demonstrated: Vec<Demonstrated>,
    /// The test that a judge asked one side for before its ruling.
    pub requested: Option<RequestedDemonstration>,
}

impl DisputeCode {
    /// `run_folder` contains the stored data of the run. If `trees` is `None`, the result contains only code of
    /// files that reviewers received.
    pub fn of(
        dispute: &Dispute,
        events: &[Event],
        run_folder: &Path,
        trees: Option<Trees<'_>>,
    ) -> Self {
        let finding = &dispute.finding;
        let mut sources = Sources::new(run_folder, Redaction::ON);
        // If the stored files of the round cannot be loaded, the code of the round is omitted.
        drop(sources.load(finding.round, None));
        let state = ReviewState::of(events);
        let before = &state.before;
        let demonstrated = dispute.findings().flat_map(|finding| {
            demonstrations::demonstrated(&state.progress(finding.id).demonstrations)
        });
        let rulings = dispute
            .rulings
            .iter()
            .flat_map(|record| &record.ruling.citations);
        let texts: Vec<&Untrusted> = finding
            .raw
            .evidence
            .iter()
            .chain(&dispute.objection.evidence)
            .chain(rulings)
            .collect();
        Self {
            demonstrated: demonstrated.collect(),
            requested: request(&state, dispute.number),
            finding: sources.excerpt(finding),
            cited: references::cited(finding, &texts, &|path| {
                sources.shown(finding.round, path).or_else(|| {
                    let (_, tree) = before.as_ref()?;
                    let text = String::from_utf8(trees?.read_at(tree, path)?).ok()?;
                    Some(Redaction::ON.text(&text)).filter(|text| !text.contains('\0'))
                })
            }),
        }
    }
}
