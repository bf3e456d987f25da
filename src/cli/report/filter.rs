//! The flags that select the findings of a report or a list.

use clap::builder::NonEmptyStringValueParser;
use globset::{GlobBuilder, GlobMatcher};

use crate::cli::report::paths::WorkFolder;
use crate::cli::style::count;
use glee_model::domain::{Dispute, Finding, Outcome, SettledFinding, Tag};

// This struct has no doc comment, because clap would show the comment in the help of every command that flattens
// the struct.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct FindingFilter {
    /// Show only findings of these severities, such as `must,high`
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    severity: Vec<Tag>,
    /// Show only findings in this file, in this folder or in files that match this pattern, such as `src/*.py`
    /// (repeatable)
    #[arg(long = "path", id = "filtered_path", value_name = "PATTERN", value_parser = pattern)]
    path: Vec<PathPattern>,
    /// Show only findings of these categories, weaknesses or rules, such as `bug,CWE-89`; `security` also shows every
    /// finding with a CWE id
    #[arg(long, value_name = "WORDS", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    category: Vec<String>,
}

impl FindingFilter {
    /// Creates a filter for one severity and one path pattern. An empty `severity` matches every severity, and
    /// an empty `path` matches every path.
    pub(crate) fn of(severity: &str, path: &str) -> Result<Self, String> {
        let given = |text: &str| !text.trim().is_empty();
        Ok(Self {
            severity: if given(severity) {
                vec![tag(severity)?]
            } else {
                Vec::new()
            },
            path: if given(path) {
                vec![pattern(path.trim())?]
            } else {
                Vec::new()
            },
            category: Vec::new(),
        })
    }

    /// Returns the names of the flags that the user gave.
    pub(crate) fn flags(&self) -> Vec<&'static str> {
        let flags = [
            ("--severity", self.severity.is_empty()),
            ("--path", self.path.is_empty()),
            ("--category", self.category.is_empty()),
        ];
        flags
            .into_iter()
            .filter(|(_, is_empty)| !is_empty)
            .map(|(flag, _)| flag)
            .collect()
    }

    /// Whether the filter shows a finding. `path` is the path of the finding's file, relative to the folder in
    /// which the user works. `--severity` never hides a finding of an unknown severity, because the finding can
    /// be severe.
    pub(crate) fn shows(&self, finding: &Finding, path: Option<&str>) -> bool {
        let has_severity = self.severity.is_empty()
            || finding
                .raw
                .severity
                .tag
                .is_none_or(|tag| self.severity.contains(&tag));
        let is_in_path = self.path.is_empty()
            || path.is_some_and(|path| self.path.iter().any(|pattern| pattern.contains(path)));
        let raw = &finding.raw;
        let is_of_category = self.category.is_empty()
            || self.category.iter().any(|word| {
                let words = [&raw.category, &raw.rule].into_iter().flatten();
                let is_security = word.eq_ignore_ascii_case("security") && raw.cwe.is_some();
                let cwe = raw.cwe.map(|cwe| cwe.to_string());
                is_security || words.chain(&cwe).any(|of| of.eq_ignore_ascii_case(word))
            });
        has_severity && is_in_path && is_of_category
    }
}

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportFilter {
    #[command(flatten)]
    findings: FindingFilter,
    /// Show only open findings and disputes
    #[arg(long)]
    open: bool,
}

impl ReportFilter {
    pub(crate) fn flags(&self) -> Vec<&'static str> {
        let mut flags = self.findings.flags();
        flags.extend(self.open.then_some("--open"));
        flags
    }

    /// Removes what the filter hides from an outcome whose paths are relative to the root of the tree, and adds a notice
    /// that names the number of hidden findings. The patterns of the filter are relative to `folder`.
    pub(crate) fn narrow(&self, outcome: &mut Outcome, folder: &WorkFolder) {
        let before = outcome.findings.len();
        outcome
            .findings
            .retain(|settled| self.keeps_in(folder, settled.is_open(), &settled.finding));
        outcome
            .disputes
            .retain(|dispute| self.keeps_in(folder, dispute.is_open(), &dispute.finding));
        let hidden = before - outcome.findings.len();
        if hidden > 0 {
            let hidden = count(hidden, "finding");
            let flags = self.flags().join(" and ");
            outcome.notices.push(format!("{hidden} hidden by {flags}"));
        }
    }

    pub(crate) fn shows(&self, finding: &SettledFinding) -> bool {
        self.keeps(finding.is_open(), &finding.finding)
    }

    pub(crate) fn shows_dispute(&self, dispute: &Dispute) -> bool {
        self.keeps(dispute.is_open(), &dispute.finding)
    }

    fn keeps(&self, is_open: bool, finding: &Finding) -> bool {
        (is_open || !self.open) && self.findings.shows(finding, finding.raw.file.as_deref())
    }

    fn keeps_in(&self, folder: &WorkFolder, is_open: bool, finding: &Finding) -> bool {
        let mut seen = finding.clone();
        folder.finding(&mut seen);
        self.keeps(is_open, &seen)
    }
}

fn tag(text: &str) -> Result<Tag, String> {
    Tag::parse(text.trim()).ok_or_else(|| {
        let tags = Tag::ALL.map(|tag| tag.as_str().to_lowercase());
        format!("give one of {}", tags.join(", "))
    })
}

/// A path pattern, similar to a pathspec of git. `*` also matches `/`. A pattern that matches a folder also
/// matches all files below this folder.
#[derive(Clone, Debug)]
struct PathPattern(GlobMatcher);

impl PathPattern {
    fn contains(&self, path: &str) -> bool {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        folders.chain([path]).any(|part| self.0.is_match(part))
    }
}

fn pattern(text: &str) -> Result<PathPattern, String> {
    let text = text.trim_start_matches("./").trim_end_matches('/');
    let text = if text.is_empty() || text == "." {
        "*"
    } else {
        text
    };
    let glob = GlobBuilder::new(text).build();
    let glob = glob.map_err(|error| {
        format!(
            "give a path or a pattern such as `src/*.py` ({})",
            error.kind()
        )
    })?;
    Ok(PathPattern(glob.compile_matcher()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use glee_model::domain::Cwe;

    #[test]
    fn a_pattern_matches_as_with_git() {
        for (text, path, expected) in [
            ("src", "src/deep/a.py", true),
            ("src/", "src/a.py", true),
            ("./src/a.py", "src/a.py", true),
            ("src/*.py", "src/deep/a.py", true),
            ("*.py", "src/deep/a.py", true),
            ("src", "source/a.py", false),
            ("a.py", "src/a.py", false),
            (".", "src/a.py", true),
            ("../b", "../b/a.py", true),
            ("{a,b}.py", "b.py", true),
            ("src/[ab c].py", "src/ .py", true),
        ] {
            assert_eq!(
                pattern(text).unwrap().contains(path),
                expected,
                "{text} {path}"
            );
        }
        assert!(pattern("[").is_err());
        assert_eq!(
            (tag("must"), tag("Critical")),
            (Ok(Tag::Must), Ok(Tag::Critical))
        );
        assert!(tag("huge").unwrap_err().contains("critical, must, high"));
    }

    #[test]
    fn a_category_is_a_word_a_weakness_or_a_rule() {
        let mut finding = crate::cli::style::fixture::finding(1, Tag::Must, "a.py:1", "A defect");
        let shown = |finding: &Finding, words: &str| {
            let words = words.split(',').map(str::to_owned).collect();
            let filter = FindingFilter {
                category: words,
                ..FindingFilter::default()
            };
            filter.shows(finding, Some("a.py"))
        };
        assert!(!shown(&finding, "bug"));
        finding.raw.category = Some("Bug".to_owned());
        assert!(shown(&finding, "security,bug") && !shown(&finding, "security"));
        finding.raw.cwe = Cwe::parse("CWE-89");
        assert!(shown(&finding, "cwe-89") && shown(&finding, "security"));
        finding.raw.rule = Some("py-sql".to_owned());
        assert!(shown(&finding, "py-sql") && !shown(&finding, "CWE-8"));
    }
}
