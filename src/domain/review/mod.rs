//! The parts of a review: findings, severities, locations, answers and the outcome.

pub(crate) mod advisory;
pub(crate) mod cwe;
pub(crate) mod exact_fix;
pub(crate) mod finding;
pub(crate) mod ground;
pub(crate) mod location;
pub(crate) mod loosened;
pub(crate) mod measures;
pub(crate) mod outcome;
pub(crate) mod response;
pub(crate) mod reuse;
pub(crate) mod severity;
