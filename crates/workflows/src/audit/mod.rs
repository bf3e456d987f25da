//! In an audit, a judge rules on a sample of findings that other judges dismissed. The audit measures how often
//! dismissals are right.
//!
//! The judge receives the recorded code and the statements of the reviewer and the objector, but no earlier ruling.
//! An audit changes no ruling.

mod sample;
mod workflow;

use std::path::Path;

use crate::audit::workflow::AuditWorkflow;
use crate::run::error::RunError;
use crate::run::resources::{RunResources, RunSetup, new_run};
use crate::run::workflow::Workflow as _;
use glee_model::domain::event::DisputeEvent;

pub use sample::{AuditSample, new_seed, sample};
pub use workflow::AuditOutcome;

/// Asks the judge about each dispute of the sample, and records the answers. Fails if the history or the work tree
/// cannot be accessed.
pub async fn start(
    setup: RunSetup,
    templates: &Path,
    sample: AuditSample,
) -> Result<AuditOutcome, RunError> {
    let run = new_run();
    let mut plan = sample.plan.clone();
    plan.judge = plan.judge.recorded();
    let resources = RunResources::new(setup, run, templates.to_owned())?;
    let mut audit = AuditWorkflow::new(resources, sample);
    audit.append(DisputeEvent::AuditStarted {
        plan: Box::new(plan),
    })?;
    audit.run().await
}
