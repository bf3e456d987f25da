//! Reads how the tests of one file ended: from a JUnit report, or from the closing line of unittest or cargo. A failing
//! test is told from a broken one; a test that passes, from a file without a test.

use glee_model::domain::TestEnd;

/// What a report counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    tests: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
}

impl Counts {
    fn end(self) -> TestEnd {
        if self.errors > 0 || self.tests <= self.skipped {
            TestEnd::Broken
        } else if self.failures > 0 {
            TestEnd::Failed
        } else {
            TestEnd::Passed
        }
    }
}

/// Counts the elements of a JUnit report: a `failure` is a failing test, and an `error` is a broken one.
pub fn of_junit(report: &str) -> TestEnd {
    let mut counts = Counts::default();
    let mut rest = report;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(text) = rest.strip_prefix("![CDATA[") {
            rest = behind(text, "]]>");
        } else if let Some(comment) = rest.strip_prefix("!--") {
            rest = behind(comment, "-->");
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || "/>".contains(c));
            match &rest[..end.unwrap_or(rest.len())] {
                "testcase" => counts.tests += 1,
                "failure" => counts.failures += 1,
                "error" => counts.errors += 1,
                "skipped" => counts.skipped += 1,
                _ => {}
            }
        }
    }
    counts.end()
}

fn behind<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

/// Reads the output of a command that writes no report. The exit code has to agree with what the output says.
pub fn of_output(code: Option<i32>, stdout: &str, stderr: &str) -> TestEnd {
    let Some(code) = code else {
        return TestEnd::Broken;
    };
    let end = match (of_unittest(stderr), of_cargo(stdout)) {
        (Some(counts), None) | (None, Some(counts)) => counts.end(),
        (Some(_), Some(_)) => return TestEnd::Unclear,
        // A runner that cannot find or compile a test fails without a word about tests.
        (None, None) => return TestEnd::Unclear,
    };
    match end {
        TestEnd::Passed if code != 0 => TestEnd::Unclear,
        TestEnd::Failed if code == 0 => TestEnd::Unclear,
        end => end,
    }
}

/// The last lines of unittest: `Ran 2 tests in 0.001s`, and `OK` or `FAILED (failures=1, errors=1)`.
fn of_unittest(stderr: &str) -> Option<Counts> {
    let mut lines = stderr
        .lines()
        .rev()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let last = lines.next()?;
    let ran = lines.next()?.strip_prefix("Ran ")?;
    let tests = ran.split(' ').next()?.parse().ok()?;
    let (word, details) = last.split_once(' ').unwrap_or((last, ""));
    let count = |name: &str| {
        let details = details.trim_start_matches('(').trim_end_matches(')');
        let mut counts = details.split(", ").filter_map(|one| one.split_once('='));
        counts
            .find_map(|(of, count)| count.parse().ok().filter(|_: &u64| of == name))
            .unwrap_or(0)
    };
    let counts = Counts {
        tests,
        failures: count("failures") + count("unexpected successes"),
        errors: count("errors"),
        skipped: count("skipped"),
    };
    match word {
        "OK" if counts.failures + counts.errors == 0 => Some(counts),
        "FAILED" if counts.failures + counts.errors > 0 => Some(counts),
        // From Python 3.12 on, a file without a test is `NO TESTS RAN`.
        "NO" => Some(Counts::default()),
        _ => None,
    }
}

/// The line of each test binary of cargo: `test result: FAILED. 1 passed; 1 failed; 0 ignored; ...`. Cargo itself cannot
/// tell a panic of an assertion from another panic, so each counts as a failing test.
fn of_cargo(stdout: &str) -> Option<Counts> {
    let mut found = None;
    for line in stdout.lines() {
        let Some(rest) = line.strip_prefix("test result: ") else {
            continue;
        };
        let count = |name: &str| {
            let mut parts = rest.split([';', '.']).map(str::trim);
            let part = parts.find_map(|part| part.strip_suffix(name))?;
            part.trim().parse::<u64>().ok()
        };
        let counts: &mut Counts = found.get_or_insert_default();
        let failed = count("failed")?;
        counts.tests += count("passed")? + failed;
        counts.failures += failed;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use TestEnd::{Broken, Failed, Passed, Unclear};

    #[test]
    fn the_table_of_outputs() {
        let rows: [(Option<i32>, &str, &str, TestEnd); 15] = [
            (Some(0), "", ".\n----\nRan 1 test in 0.000s\n\nOK\n", Passed),
            (
                Some(1),
                "",
                "F\nRan 1 test in 0.001s\n\nFAILED (failures=1)\n",
                Failed,
            ),
            (
                Some(1),
                "",
                "E\nRan 1 test in 0.001s\n\nFAILED (errors=1)\n",
                Broken,
            ),
            (
                Some(1),
                "",
                "Ran 2 tests in 0.001s\n\nFAILED (failures=1, errors=1)\n",
                Broken,
            ),
            (
                Some(5),
                "",
                "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n",
                Broken,
            ),
            (Some(0), "", "Ran 0 tests in 0.000s\n\nOK\n", Broken),
            (
                Some(0),
                "",
                "Ran 1 test in 0.000s\n\nOK (skipped=1)\n",
                Broken,
            ),
            (
                Some(0),
                "",
                "Ran 1 test in 0.001s\n\nFAILED (failures=1)\n",
                Unclear,
            ),
            (Some(1), "", "Ran 1 test in 0.001s\n\nOK\n", Unclear),
            (
                Some(1),
                "",
                "Traceback (most recent call last):\nSyntaxError\n",
                Unclear,
            ),
            (Some(1), "FAILED (failures=1)\n", "", Unclear),
            (None, "", "Ran 1 test in 0.000s\n\nOK\n", Broken),
            (
                Some(101),
                "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
                "",
                Failed,
            ),
            (
                Some(0),
                "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
                "",
                Passed,
            ),
            (
                Some(0),
                "test result: ok. 0 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
                "",
                Broken,
            ),
        ];
        for (code, stdout, stderr, expected) in rows {
            assert_eq!(
                of_output(code, stdout, stderr),
                expected,
                "{stdout}{stderr}"
            );
        }
    }

    #[test]
    fn the_table_of_reports() {
        let rows = [
            (
                "<testsuites><testsuite tests=\"1\"><testcase name=\"a\"/></testsuite></testsuites>",
                Passed,
            ),
            (
                "<testsuite><testcase name=\"a\"><failure message=\"x\">y</failure></testcase></testsuite>",
                Failed,
            ),
            (
                "<testsuite><testcase name=\"a\"><error/></testcase></testsuite>",
                Broken,
            ),
            (
                "<testsuite><testcase/><testcase><failure/></testcase><testcase><error/></testcase></testsuite>",
                Broken,
            ),
            (
                "<testsuite><testcase><skipped/></testcase></testsuite>",
                Broken,
            ),
            (
                "<testsuite errors=\"0\" failures=\"0\"></testsuite>",
                Broken,
            ),
            (
                "<testsuite><testcase><system-out><![CDATA[<failure/><error/>]]></system-out></testcase></testsuite>",
                Passed,
            ),
            (
                "<testsuite><!-- <error> --><testcase><system-out>&lt;failure/&gt;</system-out></testcase></testsuite>",
                Passed,
            ),
            ("", Broken),
        ];
        for (report, expected) in rows {
            assert_eq!(of_junit(report), expected, "{report}");
        }
    }
}
