//! Analyses code for the embedded agents: languages, symbols, lines and source files.

#[cfg(feature = "astgrep")]
pub mod language;
#[cfg(feature = "astgrep")]
pub(crate) mod line_map;
#[cfg(feature = "astgrep")]
pub mod source;
#[cfg(feature = "astgrep")]
pub(crate) mod symbols;
