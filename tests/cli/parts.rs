//! Tests that a file that is too large for one call is reviewed in parts, and that what was not sent is not "reviewed".

use serde_json::Value;

use crate::reuse::{asked, findings, project, review};
use crate::support::Sandbox;

/// Functions of four lines, every hundredth with a defect.
fn code(count: usize, end: &str) -> String {
    let mut text = String::new();
    for number in 0..count {
        let bug = if number % 100 == 7 {
            format!("  # BUG{number}")
        } else {
            String::new()
        };
        text.push_str(&format!("def step_{number}(value):{end}    value += {number}{bug}{end}    return value{end}{end}"));
    }
    text
}

fn set(sandbox: &Sandbox, key: &str, value: &str) {
    let set = sandbox.glee(&["config", "set", "--user", key, value]);
    assert_eq!(set.code, 0, "{set}");
}

/// A project whose `review` branch can add a file.
fn started() -> Sandbox {
    let sandbox = project();
    set(&sandbox, "review.confirm_above", "none");
    sandbox.write("base.py", "x = 1\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Base"]);
    sandbox
}

fn lines(outcome: &Value, file: &str) -> u64 {
    let covered = outcome["proof"]["covered"].as_array().expect("a list");
    let of_file: Vec<&Value> = covered
        .iter()
        .filter(|covered| covered["file"] == file)
        .collect();
    assert_eq!(of_file.len(), 1, "a file is listed once: {of_file:?}");
    of_file[0]["lines"].as_u64().expect("a number")
}

#[test]
fn every_line_of_a_large_file_is_reviewed_with_its_own_number() {
    for end in ["\n", "\r\n"] {
        let sandbox = started();
        set(&sandbox, "review.max_shard_size", "16KiB");
        let text = code(2_000, end);
        sandbox.write("big.py", &text);
        let (outcome, calls) = review(&sandbox, &[]);
        assert!(calls.len() > 5, "{calls:?}");
        assert!(calls.iter().all(|bytes| *bytes < 64 << 10), "{calls:?}");
        assert_eq!(lines(&outcome, "big.py"), 8_000);
        let mut expected = Vec::new();
        for (line, at) in text.lines().zip(1..) {
            if let Some((_, bug)) = line.split_once("# BUG") {
                expected.push(format!("big.py:{at} Remove BUG{bug}"));
            }
        }
        expected.sort();
        assert_eq!(findings(&outcome), expected, "each defect is one finding");
        assert_eq!(outcome["proof"]["skipped"], serde_json::json!([]));

        // An identical review asks nobody, and a change asks about its block.
        assert_eq!(review(&sandbox, &[]).1, [0; 0]);
        sandbox.write(
            "big.py",
            text.replace("value += 950\r\n", "value += 9\r\n")
                .replace("value += 950\n", "value += 9\n"),
        );
        let (again, asked) = review(&sandbox, &[]);
        assert_eq!(findings(&again), expected);
        let (few, all): (u64, u64) = (asked.iter().sum(), calls.iter().sum());
        assert!(asked.len() <= 2 && few * 10 < all, "{asked:?} of {calls:?}");
        // A line more moves the parts, but not what is known about them.
        let moved = text.replacen("def step_3(", "import os\ndef step_3(", 1);
        sandbox.write("big.py", &moved);
        let (_, asked) = review(&sandbox, &[]);
        let few: u64 = asked.iter().sum();
        assert!(few * 4 < all, "{asked:?} of {calls:?}");
    }
}

#[test]
fn a_defect_at_the_border_of_two_parts_is_one_finding() {
    let sandbox = started();
    set(&sandbox, "review.max_shard_size", "4KiB");
    let mut text = String::new();
    for number in 0..400 {
        text.push_str(&format!("value_{number} = eval('x')  # BUG{number}\n"));
    }
    sandbox.write("big.py", &text);
    let (outcome, calls) = review(&sandbox, &[]);
    assert!(calls.len() > 3, "{calls:?}");
    assert_eq!(
        findings(&outcome).len(),
        400,
        "lines of context are shown twice"
    );
}

/// A name, the change, more settings, the exit code, and whether the first line of the report says what is left out.
type Row = (
    &'static str,
    fn(&Sandbox),
    &'static [(&'static str, &'static str)],
    i32,
    bool,
);

#[test]
fn what_was_not_sent_is_not_reviewed() {
    let rows: &[Row] = &[
        (
            "a line over the size of a file",
            |sandbox| put(sandbox, "one.js", &"f();".repeat(600_000)),
            &[],
            4,
            true,
        ),
        (
            "and the other lines of its file",
            |sandbox| {
                put(
                    sandbox,
                    "a.js",
                    &format!("a();\n{}\nb();\n", "f();".repeat(600_000)),
                )
            },
            &[],
            4,
            true,
        ),
        (
            "the user accepts it",
            |sandbox| {
                put(
                    sandbox,
                    "a.js",
                    &format!("a();\n{}\nb();\n", "f();".repeat(600_000)),
                )
            },
            &[("review.skipped", "note")],
            0,
            true,
        ),
        (
            "a long line below that size",
            |sandbox| put(sandbox, "a.min.js", &"f();".repeat(100_000)),
            &[],
            0,
            false,
        ),
        (
            "a file of exactly the size of a shard",
            |sandbox| put(sandbox, "a.py", &"x = 1\n".repeat(1_000)),
            &[("review.max_shard_size", "6000B")],
            0,
            false,
        ),
        (
            "a deleted file that is too large to be shown",
            |sandbox| {
                put(sandbox, "old.py", &code(10_000, "\n"));
                sandbox.git(&["add", "-A"]);
                sandbox.git(&["commit", "-q", "-m", "Old"]);
                std::fs::remove_file(sandbox.root().join("old.py")).expect("a file");
            },
            &[],
            4,
            true,
        ),
        (
            "a small deleted file",
            |sandbox| std::fs::remove_file(sandbox.root().join("base.py")).expect("a file"),
            &[],
            0,
            false,
        ),
        (
            "a file of 20 times the size",
            |sandbox| put(sandbox, "a.py", &"x = 1\n".repeat(4_000)),
            &[("review.max_file_size", "1KiB")],
            4,
            true,
        ),
        (
            "many small files",
            |sandbox| {
                (0..300).for_each(|file| {
                    put(sandbox, &format!("src/f{file}.py"), &"x = 1\n".repeat(50))
                })
            },
            &[("review.max_shard_size", "8KiB")],
            0,
            false,
        ),
        (
            "a picture",
            |sandbox| put(sandbox, "logo.png", "\u{0}\u{1}\u{2}\u{3}"),
            &[],
            0,
            false,
        ),
    ];
    for (name, change, settings, code, says) in rows {
        let sandbox = started();
        sandbox.write("base.py", "x = 2\n");
        for (key, value) in *settings {
            set(&sandbox, key, value);
        }
        change(&sandbox);
        let output = sandbox.glee(&["review", "--no-input"]);
        assert_eq!(output.code, *code, "{name}: {output}");
        let first = output.stdout.lines().next().unwrap_or_default();
        assert_eq!(
            first.contains("Not all was reviewed"),
            *says,
            "{name}: {output}"
        );
        drop(asked(&sandbox));
    }
}

fn put(sandbox: &Sandbox, file: &str, text: &str) {
    sandbox.write(file, text);
}
