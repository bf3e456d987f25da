//! `--format junit`: JUnit XML. Each file becomes a test suite, and each finding becomes a test case. The test
//! case of an open mandatory finding fails. The test case of a dismissed finding is skipped. An additional test
//! suite has the name `Review`. This test suite contains a successful test case for each reviewer that answered
//! completely, and a test case for each gap.

use std::collections::BTreeMap;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::cli::report::formats::entry::{self, AlertLevel, Entry};
use crate::cli::report::formats::gaps;
use crate::cli::report::view::ReportedState;
use glee_model::domain::Outcome;

const GENERAL: &str = "General";

pub(crate) fn render(outcome: &Outcome) -> String {
    let mut report = Report::new("Glee");
    report.set_time(Duration::from_millis(outcome.proof.millis));
    report.add_test_suite(review(outcome));
    let entries = entry::all(outcome);
    let mut by_file: BTreeMap<String, Vec<&Entry<'_>>> = BTreeMap::new();
    for entry in &entries {
        by_file
            .entry(entry.path().unwrap_or_else(|| GENERAL.to_owned()))
            .or_default()
            .push(entry);
    }
    for (file, entries) in by_file {
        let mut suite = TestSuite::new(file.as_str());
        suite.add_test_cases(entries.into_iter().map(|entry| case(entry, &file, outcome)));
        report.add_test_suite(suite);
    }
    let text = report.to_string().expect("a report without I/O serializes");
    without_skipped_of_root(text)
}

/// Removes the attribute `skipped` from the root element, because Jenkins's XML schema allows this attribute only
/// on test suites. The root element comes first, so the first attribute `skipped` in `text` belongs to the root
/// element.
fn without_skipped_of_root(text: String) -> String {
    let Some((before, rest)) = text.split_once(" skipped=\"") else {
        return text;
    };
    match rest.split_once('"') {
        Some((_, after)) => format!("{before}{after}"),
        None => text,
    }
}

fn case(entry: &Entry<'_>, file: &str, outcome: &Outcome) -> TestCase {
    let place = entry
        .lines()
        .map_or_else(|| file.to_owned(), |(line, _)| format!("{file}:{line}"));
    let text = format!(
        "{place}\n{}\n\nraised by {}",
        entry.text(),
        entry.raised_by().join(", ")
    );
    let reason = entry.reason(outcome);
    let status = match entry.reported_state() {
        ReportedState::Mandatory => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status
                .set_message(entry.title())
                .set_type(entry.rule())
                .set_description(format!("{text}\n{reason}"));
            status
        }
        ReportedState::Dismissed => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(reason.as_str());
            status
        }
        ReportedState::Optional | ReportedState::Fixed => TestCaseStatus::success(),
    };
    let mut case = TestCase::new(
        format!("{} {} {}", entry.id(), entry.severity(), entry.title()),
        status,
    );
    case.set_classname(file);
    if entry.reported_state() != ReportedState::Mandatory {
        case.set_system_out(format!("{text}\n{reason}"));
    }
    case
}

fn review(outcome: &Outcome) -> TestSuite {
    let mut suite = TestSuite::new("Review");
    for reviewer in outcome
        .proof
        .reviewers
        .iter()
        .filter(|reviewer| gaps::is_complete(reviewer))
    {
        let mut case = TestCase::new(
            format!("the reviewer {}", entry::line(&reviewer.name.0)),
            TestCaseStatus::success(),
        );
        case.set_classname("Review")
            .set_time(Duration::from_millis(reviewer.millis));
        suite.add_test_case(case);
    }
    for gap in gaps::all(outcome) {
        let mut status = match gap.level {
            AlertLevel::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
            AlertLevel::Warning | AlertLevel::Note => TestCaseStatus::skipped(),
        };
        status.set_message(gap.text.as_str());
        let mut case = TestCase::new(gap.text, status);
        case.set_classname("Review");
        suite.add_test_case(case);
    }
    suite
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::style::fixture::clean;
    use crate::cli::style::fixture::everything::{everything, many};

    #[test]
    fn junit_is_well_formed_and_counts_right() {
        for outcome in [clean(), everything(), many(2_000)] {
            let text = render(&outcome);
            let report = Report::deserialize_from_str(&text).expect("JUnit");
            let blocking = outcome.findings.iter().filter(|it| it.blocks()).count();
            let mut cases = 0;
            let mut failures = 0;
            let mut errors = 0;
            for suite in &report.test_suites {
                if suite.name.as_str() != "Review" {
                    cases += suite.test_cases.len();
                }
                for case in &suite.test_cases {
                    match &case.status {
                        TestCaseStatus::NonSuccess {
                            kind: NonSuccessKind::Failure,
                            ..
                        } => failures += 1,
                        TestCaseStatus::NonSuccess {
                            kind: NonSuccessKind::Error,
                            ..
                        } => errors += 1,
                        _ => {}
                    }
                }
            }
            assert_eq!((cases, failures), (outcome.findings.len(), blocking));
            assert_eq!(errors > 0, !gaps::is_conclusive(&outcome));
            let all: usize = report
                .test_suites
                .iter()
                .map(|it| it.test_cases.len())
                .sum();
            assert_eq!((report.tests, report.failures), (all, blocking));
        }
    }
}
