//! The input for processing the findings of a round: state, settings, code and history.

use crate::workflows::review::code::sources::Sources;
use crate::workflows::review::findings::earlier_records::Past;
use crate::workflows::review::state::ReviewState;
use glee_model::domain::RunId;
use glee_model::rules::consensus::Policy;
use glee_store::config::settings::Settings;
use glee_store::history::queries::problems::KnownProblems;
use glee_workspace::root::Workspace;

#[derive(Clone, Debug)]
pub(crate) struct MergeSettings {
    pub(crate) mandatory: Vec<String>,
    pub(crate) optional: Vec<String>,
    pub(crate) policy: Policy,
}

impl MergeSettings {
    pub(crate) fn of(settings: &Settings) -> Self {
        let review = &settings.review;
        Self {
            mandatory: review.mandatory(),
            optional: review.optional(),
            policy: review.consensus.policy,
        }
    }
}

/// Returns the reviewed text of the file at a path.
pub(crate) type TextOf<'a> = &'a dyn Fn(&str) -> String;

pub(crate) struct Round<'a> {
    pub(crate) state: &'a ReviewState,
    pub(crate) lists: &'a MergeSettings,
    pub(crate) text_of: TextOf<'a>,
    /// `past` is `None` if the history is not available.
    pub(crate) past: Option<&'a Past<'a>>,
}

/// A round whose answers are merged.
pub(crate) struct RoundContext<'a> {
    pub(crate) state: &'a ReviewState,
    pub(crate) round: u32,
    pub(crate) lists: &'a MergeSettings,
    pub(crate) sources: &'a Sources,
    pub(crate) workspace: &'a Workspace,
    /// `past` is `None` if findings are not compared with earlier disputes.
    pub(crate) past: Option<Past<'a>>,
    pub(crate) run: &'a RunId,
    /// The problems that the findings of the round can continue.
    pub(crate) known: &'a KnownProblems,
}
