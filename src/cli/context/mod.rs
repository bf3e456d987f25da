//! What commands share: global options, settings, history, input, and running a review or a stage to its end.

pub(crate) mod config_edit;
pub(crate) mod execute;
pub(crate) mod execute_stage;
pub(crate) mod globals;
pub(crate) mod history;
pub(crate) mod input;
pub(crate) mod place;
pub(crate) mod settings;
pub(crate) mod words;
