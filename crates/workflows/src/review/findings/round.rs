//! The input for processing the findings of a round: state, settings, code and history.

use crate::review::code::sources::Sources;
use crate::review::findings::earlier_records::Past;
use crate::review::state::ReviewState;
use glee_model::domain::{RunId, Severity};
use glee_model::rules::consensus::Policy;
use glee_model::rules::review::mandatory;
use glee_store::config::choices::OlderFindings;
use glee_store::config::settings::ReviewSettings;
use glee_store::history::queries::problems::KnownProblems;
use glee_workspace::root::Workspace;

#[derive(Clone, Debug)]
pub struct MergeSettings {
    pub mandatory: Vec<String>,
    pub optional: Vec<String>,
    pub policy: Policy,
    pub older: OlderFindings,
}

impl MergeSettings {
    pub fn of(review: &ReviewSettings) -> Self {
        Self {
            mandatory: review.mandatory(),
            optional: review.optional(),
            policy: review.consensus.policy,
            older: review.older,
        }
    }

    pub(crate) fn is_mandatory(&self, severity: &Severity) -> bool {
        mandatory::is_mandatory(severity, &self.mandatory, &self.optional)
    }
}

/// Returns the reviewed text of the file at a path.
pub(crate) type TextOf<'a> = &'a dyn Fn(&str) -> String;

pub struct Round<'a> {
    pub state: &'a ReviewState,
    pub lists: &'a MergeSettings,
    pub text_of: TextOf<'a>,
    /// `past` is `None` if the history is not available.
    pub past: Option<&'a Past<'a>>,
}

/// A round whose answers are merged.
pub struct RoundContext<'a> {
    pub state: &'a ReviewState,
    pub round: u32,
    pub lists: MergeSettings,
    pub sources: &'a Sources,
    pub workspace: &'a Workspace,
    /// `past` is `None` if findings are not compared with earlier disputes.
    pub past: Option<Past<'a>>,
    pub run: &'a RunId,
    /// The problems that the findings of the round can continue.
    pub known: &'a KnownProblems,
}
