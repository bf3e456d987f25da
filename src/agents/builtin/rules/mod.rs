//! Loads, matches and measures the rules of the embedded reviewer.

#[cfg(feature = "astgrep")]
pub(crate) mod catalog;
#[cfg(feature = "astgrep")]
pub(crate) mod measure;
#[cfg(feature = "astgrep")]
pub(crate) mod packaged;
#[cfg(all(test, feature = "astgrep"))]
pub(crate) mod samples;
#[cfg(feature = "astgrep")]
pub(crate) mod scan;
#[cfg(feature = "astgrep")]
pub(crate) mod waiver;

pub(crate) const PROJECT_RULES: &str = ".glee/rules";
