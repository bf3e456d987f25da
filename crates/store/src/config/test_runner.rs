//! The programs that run the tests of findings and objections (`review.runners`), and the commands that Glee knows.

use serde::{Deserialize, Serialize};

/// A program that runs demonstrations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runner {
    pub command: Vec<String>,
    /// The folder below which new files are written, relative to the root of the tree.
    pub folder: String,
}

impl Runner {
    /// The placeholders for the new file: its path, its name without extension, and its folder.
    pub const FILE: [&str; 3] = ["{files}", "{name}", "{folder}"];
    /// The placeholder for the path of a JUnit report.
    pub const REPORT: &str = "{junit}";
    /// The placeholder for the path of a coverage report: LCOV, or the profile of `go test`.
    pub const COVERAGE: &str = "{coverage}";
    /// The commands that a configuration can give by their name alone.
    pub const KNOWN: [(&str, &str); 7] = [
        ("unittest", "python3 -m unittest {files}"),
        ("pytest", "python3 -m pytest -q --junitxml={junit} {files}"),
        (
            "node",
            "node --test --test-reporter=junit --test-reporter-destination={junit} {files}",
        ),
        ("go", "go test -json -coverprofile={coverage} ./{folder}"),
        ("cargo", "cargo test --offline --test {name}"),
        ("phpunit", "phpunit --log-junit {junit} {files}"),
        (
            "rspec",
            "rspec --require rspec_junit_formatter --format RspecJunitFormatter --out {junit} {files}",
        ),
    ];

    /// The known command of this name.
    pub(crate) fn known(name: &str) -> Option<Vec<String>> {
        let mut known = Self::KNOWN.into_iter();
        known.find_map(|(known, command)| (known == name).then(|| shlex::split(command))?)
    }

    /// Whether a command is a known one.
    pub(crate) fn is_known(command: &[String]) -> bool {
        let mut names = Self::KNOWN.into_iter().map(|(name, _)| name);
        names.any(|name| Self::known(name).is_some_and(|known| known == command))
    }
}
