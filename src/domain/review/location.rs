//! Places in the reviewed code.
//!
//! The path is text from an agent until `workspace` has resolved it inside the reviewed tree.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place `path`, `path:line` or `path:line-end_line`; lines count from 1, both ends are included.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    /// The path as written, relative to the root of the reviewed tree when it is valid.
    pub file: String,
    /// The first line, counted from 1.
    pub line: Option<u32>,
    /// The last line of a range; absent unless a range was written.
    pub end_line: Option<u32>,
}

impl Location {
    pub fn line(file: impl Into<String>, line: u32) -> Self {
        Self { file: file.into(), line: Some(line), end_line: None }
    }
}

/// The paths that a path written in the file `from` may mean: relative to each enclosing folder of that file, the nearest
/// first and the root of the tree last.
pub fn meanings(path: &str, from: &str) -> impl Iterator<Item = String> {
    let folders = from.rmatch_indices('/').map(|(at, _)| &from[..=at]).chain([""]);
    folders.map(move |folder| format!("{folder}{path}"))
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(end) = self.end_line {
                write!(f, "-{end}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_looked_for_outwards() {
        let meant: Vec<String> = meanings("tests/t.py", "examples/shop/orders/a.py").collect();
        assert_eq!(
            meant,
            ["examples/shop/orders/tests/t.py", "examples/shop/tests/t.py", "examples/tests/t.py", "tests/t.py"]
        );
        assert_eq!(meanings("t.py", "a.py").collect::<Vec<_>>(), ["t.py"]);
    }
}
