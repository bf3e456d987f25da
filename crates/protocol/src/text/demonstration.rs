//! Demonstration blocks: tests that agents write below a finding or an answer.

use crate::text::blocks;
use crate::text::json::LenientValue;
use glee_model::domain::Demonstration;

/// The word with which the info string of a demonstration begins.
pub const WORD: &str = "demonstration";

/// The names of the field in a JSON answer.
pub const FIELD: &[&str] = &[WORD];

/// Removes the demonstration block from a text: ```` ```demonstration path=tests/test_x.py runner=unittest ````. See
/// [`blocks::take`]. The path and the runner are checked where the demonstration is run.
pub fn take(text: &mut String) -> Option<Demonstration> {
    let ((path, runner), code) = blocks::take(text, info)?;
    Some(Demonstration {
        runner,
        path,
        code: format!("{code}\n").into(),
    })
}

/// Reads the field of a JSON answer: an object with `path`, `runner` and `code`.
pub fn of_field(field: &LenientValue) -> Option<Demonstration> {
    let code = field.get(&["code"]).string()?;
    Some(Demonstration {
        runner: field.get(&["runner"]).word()?,
        path: field.get(&["path"]).word()?,
        code: format!("{}\n", code.trim_end_matches('\n')).into(),
    })
}

/// Whether a line opens a demonstration block.
pub(crate) fn opens(line: &str) -> bool {
    info(line.trim().trim_start_matches(['`', '~']).trim()).is_some()
}

/// The path and the runner of an info string.
fn info(info: &str) -> Option<(String, String)> {
    let mut words = info.split_whitespace();
    if words.next() != Some(WORD) {
        return None;
    }
    let mut path = None;
    let mut runner = None;
    for word in words {
        match word.split_once('=')? {
            ("path", value) => path = Some(value.to_owned()),
            ("runner", value) => runner = Some(value.to_owned()),
            _ => return None,
        }
    }
    Some((path?, runner?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demonstration_is_taken_out_of_a_text() {
        let rows = [
            (
                "why\n```demonstration path=tests/test_a.py runner=unittest\nimport a\n\n  b\n```\nmore",
                Some(("tests/test_a.py", "unittest", "import a\n\n  b\n")),
                "why\nmore",
            ),
            (
                "why\n  ~~~demonstration runner=go path=a_test.go\n  x\n  ~~~",
                Some(("a_test.go", "go", "x\n")),
                "why",
            ),
            (
                "```demonstration path=a.py\nx\n```",
                None,
                "```demonstration path=a.py\nx\n```",
            ),
            ("```demonstration\nx\n```", None, "```demonstration\nx\n```"),
            (
                "```demonstration path=a runner=b command=rm\nx\n```",
                None,
                "```demonstration path=a runner=b command=rm\nx\n```",
            ),
            (
                "```demonstrations path=a runner=b\nx\n```",
                None,
                "```demonstrations path=a runner=b\nx\n```",
            ),
        ];
        for (text, expected, rest) in rows {
            let mut left = text.to_owned();
            let expected = expected.map(|(path, runner, code)| Demonstration {
                runner: runner.to_owned(),
                path: path.to_owned(),
                code: code.into(),
            });
            assert_eq!((take(&mut left), left.as_str()), (expected, rest), "{text}");
        }
    }
}
