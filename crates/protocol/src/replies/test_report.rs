//! Reads how the tests of one file ended: from a JUnit report, or from the output of unittest, cargo or `go test -json`. A
//! failing test is told from a broken one; a test that passes, from a file without a test.

use serde::Deserialize;

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

/// Counts the elements of a JUnit report: a `failure` is a failing test, unless it says that an exception was thrown,
/// and an `error` is a broken one. The exit code
/// has to agree with the report.
pub fn of_junit(code: Option<i32>, report: &str) -> TestEnd {
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
                "failure" if is_thrown(rest) => counts.errors += 1,
                "failure" => counts.failures += 1,
                "error" => counts.errors += 1,
                "skipped" => counts.skipped += 1,
                _ => {}
            }
        }
    }
    agreed(code, counts.end())
}

/// Whether the failure with which a report goes on is an exception that is no assertion. pytest begins the message of a
/// failure with the exception, RSpec has it as the type, and Node.js names each exception that a test throws in the text.
fn is_thrown(report: &str) -> bool {
    let failure = report.split("</failure>").next().unwrap_or_default();
    let message = behind(failure, "message=\"");
    let kind = message.split([':', '"', '&']).next().unwrap_or_default();
    let is_exception = ["Error", "Exception", "Exit"]
        .iter()
        .any(|end| kind.ends_with(end) && !kind.contains(char::is_whitespace));
    let of_node = failure.contains("ERR_TEST_FAILURE") && !failure.contains("ERR_ASSERTION");
    let of_rspec = failure.contains("Failure/Error: ") && !failure.contains("type=\"RSpec::");
    is_exception && !kind.ends_with("AssertionError") || of_node || of_rspec
}

/// The end of a test, unless the exit code of the command contradicts it.
fn agreed(code: Option<i32>, end: TestEnd) -> TestEnd {
    match (end, code) {
        (_, None) => TestEnd::Broken,
        (TestEnd::Passed, Some(1..)) | (TestEnd::Failed, Some(0)) => TestEnd::Unclear,
        (end, Some(_)) => end,
    }
}

fn behind<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

/// Reads the output of a command that writes no report. The exit code has to agree with what the output says.
pub fn of_output(code: Option<i32>, stdout: &str, stderr: &str) -> TestEnd {
    let found = [of_unittest(stderr), of_cargo(stdout), of_go(stdout)];
    let mut found = found.into_iter().flatten();
    // A runner that cannot find or compile a test fails without a word about tests.
    let end = match (found.next(), found.next()) {
        (Some(counts), None) => counts.end(),
        (None | Some(_), _) => TestEnd::Unclear,
    };
    agreed(code, end)
}

/// A line of `go test -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoEvent {
    action: String,
    #[serde(default)]
    test: String,
    #[serde(default)]
    output: String,
}

/// The events of `go test -json`. A panic ends all tests, and the test in which it happened fails.
fn of_go(stdout: &str) -> Option<Counts> {
    let mut found = None;
    for line in stdout.lines() {
        let Ok(event) = serde_json::from_str::<GoEvent>(line) else {
            continue;
        };
        let counts: &mut Counts = found.get_or_insert_default();
        match event.action.as_str() {
            "output" if event.output.starts_with("panic: ") => counts.errors += 1,
            _ if event.test.is_empty() => {}
            "run" => counts.tests += 1,
            "fail" => counts.failures += 1,
            "skip" => counts.skipped += 1,
            _ => {}
        }
    }
    found
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
    // Another summary above it is what a test printed, and which one is true is unknown.
    if lines.any(|line| line.starts_with("Ran ")) {
        return None;
    }
    let tests = ran.split(' ').next()?.parse().ok()?;
    let (word, details) = last.split_once(' ').unwrap_or((last, ""));
    let mut counts = Counts {
        tests,
        ..Counts::default()
    };
    let details = details.trim_start_matches('(').trim_end_matches(')');
    for (name, count) in details.split(", ").filter_map(|one| one.split_once('=')) {
        let count: u64 = count.parse().unwrap_or(0);
        match name {
            "failures" | "unexpected successes" => counts.failures += count,
            "errors" => counts.errors = count,
            "skipped" => counts.skipped = count,
            _ => {}
        }
    }
    match word {
        "OK" if counts.failures + counts.errors == 0 => Some(counts),
        "FAILED" if counts.failures + counts.errors > 0 => Some(counts),
        // From Python 3.12 on, a file without a test is `NO TESTS RAN`.
        "NO" => Some(Counts::default()),
        _ => None,
    }
}

/// The line of each test binary of cargo: `test result: FAILED. 1 passed; 1 failed; 0 ignored; ...`. Above it stands each
/// panic with its place. A panic in a file of `tests` that is no assertion is a test that breaks by itself.
fn of_cargo(stdout: &str) -> Option<Counts> {
    let mut found = None;
    let mut errors = 0;
    let mut lines = stdout.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("thread '") && line.contains("panicked at tests/") {
            let message = lines.clone().next().unwrap_or_default();
            errors += u64::from(!message.starts_with("assertion"));
        }
        let Some(rest) = line.strip_prefix("test result: ") else {
            continue;
        };
        let [passed, failed] = ["passed", "failed"].map(|name| {
            let mut parts = rest.split([';', '.']).map(str::trim);
            let part = parts.find_map(|part| part.strip_suffix(name))?;
            part.trim().parse::<u64>().ok()
        });
        let counts: &mut Counts = found.get_or_insert_default();
        counts.tests += passed? + failed?;
        counts.failures += failed?;
        counts.errors += std::mem::take(&mut errors);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use TestEnd::{Broken, Failed, Passed, Unclear};

    #[test]
    fn the_table_of_outputs() {
        let rows: [(Option<i32>, &str, &str, TestEnd); 23] = [
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
            (
                Some(1),
                "",
                "Ran 1 test in 0.0s\n\nOK\nRan 1 test in 0.001s\n\nFAILED (failures=1)\n",
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
                Some(101),
                "---- a stdout ----\n\nthread 'a' (7) panicked at tests/a.rs:4:5:\nassertion `left == right` failed\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n",
                "",
                Failed,
            ),
            (
                Some(101),
                "---- a stdout ----\n\nthread 'a' (7) panicked at tests/a.rs:4:5:\nno\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n",
                "",
                Broken,
            ),
            (
                Some(101),
                "---- a stdout ----\n\nthread 'a' (7) panicked at src/lib.rs:4:5:\nindex out of bounds\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n",
                "",
                Failed,
            ),
            (
                Some(1),
                "{\"Action\":\"run\",\"Test\":\"A\"}\n{\"Action\":\"fail\",\"Test\":\"A\"}\n{\"Action\":\"fail\"}\n",
                "",
                Failed,
            ),
            (
                Some(0),
                "{\"Action\":\"run\",\"Test\":\"A\"}\n{\"Action\":\"pass\",\"Test\":\"A\"}\n{\"Action\":\"pass\"}\n",
                "",
                Passed,
            ),
            (
                Some(1),
                "{\"Action\":\"run\",\"Test\":\"A\"}\n{\"Action\":\"output\",\"Test\":\"A\",\"Output\":\"panic: no [recovered]\\n\"}\n{\"Action\":\"fail\",\"Test\":\"A\"}\n",
                "",
                Broken,
            ),
            (
                Some(1),
                "{\"Action\":\"output\",\"Output\":\"FAIL\\tshop [build failed]\\n\"}\n{\"Action\":\"fail\"}\n",
                "",
                Broken,
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
                "<testsuite><testcase><failure message=\"expected: 6\" type=\"RSpec::Expectations::ExpectationNotMetError\">Failure/Error: expect</failure></testcase></testsuite>",
                Failed,
            ),
            (
                "<testsuite><testcase><failure message=\"x\" type=\"RuntimeError\">Failure/Error: raise</failure></testcase></testsuite>",
                Broken,
            ),
            (
                "<testsuite><testcase><failure type=\"PHPUnit\\Framework\\ExpectationFailedException\">x</failure></testcase></testsuite>",
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
            (
                "<testsuite><testcase><failure message=\"AssertionError: assert 5 == 6&#10;\">x</failure></testcase></testsuite>",
                Failed,
            ),
            (
                "<testsuite><testcase><failure message=\"assert 5 == 6\">x</failure></testcase></testsuite>",
                Failed,
            ),
            (
                "<testsuite><testcase><failure message=\"TypeError: 'NoneType' object\">x</failure></testcase></testsuite>",
                Broken,
            ),
            (
                "<testsuite><testcase><failure message=\"json.decoder.JSONDecodeError: x\">x</failure></testcase></testsuite>",
                Broken,
            ),
            (
                "<testsuite><testcase><failure type=\"testCodeFailure\" message=\"5 == 6\">[Error [ERR_TEST_FAILURE]: 5 == 6] { cause: AssertionError [ERR_ASSERTION]: 5 == 6 }</failure></testcase></testsuite>",
                Failed,
            ),
            (
                "<testsuite><testcase><failure type=\"testCodeFailure\" message=\"no\">[Error [ERR_TEST_FAILURE]: no] { cause: Error: no }</failure></testcase></testsuite>",
                Broken,
            ),
            ("", Broken),
        ];
        for (report, expected) in rows {
            let code = i32::from(expected != Passed);
            assert_eq!(of_junit(Some(code), report), expected, "{report}");
            let opposed = match expected {
                Passed | Failed => Unclear,
                end => end,
            };
            assert_eq!(of_junit(Some(1 - code), report), opposed, "{report}");
            assert_eq!(of_junit(None, report), Broken, "{report}");
        }
    }
}
