//! Loads, matches and measures the rules of the embedded reviewer.

#[cfg(feature = "astgrep")]
pub mod catalog;
#[cfg(feature = "astgrep")]
pub mod measure;
#[cfg(feature = "astgrep")]
pub mod packaged;
#[cfg(all(test, feature = "astgrep"))]
pub mod samples;
#[cfg(feature = "astgrep")]
pub mod scan;
#[cfg(feature = "astgrep")]
pub(crate) mod waiver;

pub const PROJECT_RULES: &str = ".glee/rules";
