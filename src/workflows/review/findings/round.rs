//! The input for processing the findings of a round: state, settings, code and history.

use crate::config::settings::Settings;
use crate::rules::consensus::Policy;
use crate::workflows::review::findings::earlier_records::Past;
use crate::workflows::review::state::ReviewState;

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
    pub(crate) past: Option<Past<'a>>,
}
