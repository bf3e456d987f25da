//! Code as the embedded agents read it: languages, symbols, lines, references.

#[cfg(feature = "astgrep")]
pub(crate) mod language;
#[cfg(feature = "astgrep")]
pub(crate) mod line_map;
#[cfg(feature = "astgrep")]
pub(crate) mod references;
#[cfg(feature = "astgrep")]
pub(crate) mod source;
#[cfg(feature = "astgrep")]
pub(crate) mod symbols;
