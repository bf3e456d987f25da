//! The parts of a review: findings, severities, places in code, answers, and its outcome.

pub(crate) mod advisory;
pub(crate) mod finding;
pub(crate) mod location;
pub(crate) mod outcome;
pub(crate) mod response;
pub(crate) mod reuse;
pub(crate) mod severity;
