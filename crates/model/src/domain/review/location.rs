//! Locations in the reviewed code. The path of a location is untrusted until the module `workspace` has resolved
//! the path inside the tree.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A location as `path`, `path:line` or `path:line-end_line`. Line numbers start at 1, and a range includes its
/// first and its last line.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Location {
    /// The path as written; a valid path is relative to the root of the reviewed tree.
    pub file: String,
    pub line: Option<u32>,
    /// `end_line` is absent for a single line.
    pub end_line: Option<u32>,
}

impl Location {
    pub fn line(file: impl Into<String>, line: u32) -> Self {
        Self {
            file: file.into(),
            line: Some(line),
            end_line: None,
        }
    }
}

/// What a reviewer says about a finding of its own whose place does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenPlace {
    /// The number of the finding in the reviewer's answer, counted from 1.
    pub finding: u32,
    /// The place that the reviewer means; absent if the reviewer withdraws the finding.
    pub place: Option<Location>,
}

/// Whether a path is lexically inside the tree and outside `.git`.
pub fn is_inside(path: &str) -> bool {
    path.len() <= 4096
        && path
            .split('/')
            .all(|part| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git"))
        && !path.contains('\\')
        && !path.chars().any(char::is_control)
}

/// Resolves `path` relative to each folder that encloses the file `from`. A text about a finding in the file
/// `from` cites `path`. The nearest folder comes first.
pub fn meanings(path: &str, from: &str) -> impl Iterator<Item = String> {
    let folders = from
        .rmatch_indices('/')
        .map(|(at, _)| &from[..=at])
        .chain([""]);
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
            [
                "examples/shop/orders/tests/t.py",
                "examples/shop/tests/t.py",
                "examples/tests/t.py",
                "tests/t.py"
            ]
        );
        assert_eq!(meanings("t.py", "a.py").collect::<Vec<_>>(), ["t.py"]);
    }
}
