//! Reviews of what a reviewer has read before: who is asked about what, and that the findings are those of a full review.
//!
//! The reviewer is a shell script that notes the size of every prompt. It raises a finding for each line that it is shown
//! with a `BUG` in it, so that it says the same of the same line whenever it is asked.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::review::json;
use crate::support::Sandbox;

const REVIEWER: &str = r#"#!/bin/sh
prompt="$HOME/prompt.$$"
cat > "$prompt"
wc -c < "$prompt" >> "$HOME/asked"
awk -v nonce="$GLEE_NONCE" '
  /^<<<GLEE-DATA/ { path = ""; if (match($0, / path=[^ ]+/)) path = substr($0, RSTART + 6, RLENGTH - 6) }
  /^>>>GLEE-DATA-END/ { path = "" }
  path != "" && match($0, /^ *[0-9]+ \| .*BUG[0-9]+/) {
    line = $0; sub(/ *\|.*/, "", line); sub(/^ */, "", line)
    bug = $0; sub(/.*BUG/, "BUG", bug); sub(/[^A-Z0-9].*/, "", bug)
    print "[MUST] " path ":" line " Remove " bug; n++
  }
  END { print "GLEE-REVIEW-END nonce=" nonce " findings=" n + 0 }
' "$prompt"
rm "$prompt"
"#;

/// A project with one reviewer whose program lies outside of the tree.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.program("lens", REVIEWER);
    sandbox.git_init();
    sandbox.write(".gitignore", ".glee/\n.gitignore\n");
    let connected = sandbox.glee(&["connect", "lens", "--role", "reviewer", "--command", "lens", "--name", "lens"]);
    assert_eq!(connected.code, 0, "{connected}");
    // So that the reviewer can write its notes.
    let set = sandbox.glee(&["config", "set", "--user", "sandbox", "off"]);
    assert_eq!(set.code, 0, "{set}");
    sandbox
}

/// Sizes of the prompts since the last time.
fn asked(sandbox: &Sandbox) -> Vec<u64> {
    let path = sandbox.home().join("asked");
    let text = fs::read_to_string(&path).unwrap_or_default();
    drop(fs::remove_file(path));
    text.lines().map(|line| line.trim().parse().expect("a number")).collect()
}

/// What is compared of two reviews: place and title of each finding.
fn findings(outcome: &Value) -> Vec<String> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let shown = |finding: &Value| {
        format!("{}:{} {}", text(finding, "file"), finding["line"], text(finding, "title"))
    };
    let mut findings: Vec<String> = outcome["findings"].as_array().expect("a list").iter().map(shown).collect();
    findings.sort();
    findings
}

fn review(sandbox: &Sandbox, args: &[&str]) -> (Value, Vec<u64>) {
    let args = [&["review", "--no-input", "--format", "json"], args].concat();
    let output = sandbox.glee(&args);
    assert!(matches!(output.code, 0 | 1), "{output}");
    (json(&output.stdout), asked(sandbox))
}

const FILES: usize = 60;
const LINES: usize = 100;

/// The files of a branch, as lines: functions of ten lines, every fourth with a defect.
struct Branch {
    files: BTreeMap<String, Vec<String>>,
    bugs: u32,
}

impl Branch {
    fn new() -> Self {
        let mut branch = Self { files: BTreeMap::new(), bugs: 0 };
        for file in 0..FILES {
            let mut lines = Vec::new();
            for number in 0..LINES {
                lines.push(match number % 10 {
                    0 => format!("def step_{number}(value, options):"),
                    5 if number % 40 == 5 => branch.defect(),
                    9 => String::new(),
                    _ => format!("    value = value * {number} + options.get(\"f{file}_{number}\", {file})"),
                });
            }
            branch.files.insert(format!("src/part{}/module_{file:02}.py", file / 10), lines);
        }
        branch
    }

    fn defect(&mut self) -> String {
        self.bugs += 1;
        format!("    value = eval(value)  # BUG{}", self.bugs)
    }

    /// Edits some lines of a file from a place on: replaces most of them, some with a defect; every third push also adds a
    /// line above and takes one away below, so that the lines between move.
    fn edit(&mut self, file: usize, from: usize, count: usize, push: usize) {
        let defect = (file + push).is_multiple_of(4).then(|| self.defect());
        let lines = self.files.values_mut().nth(file).expect("a file");
        let from = from % (lines.len() - count - 1);
        for (at, line) in lines[from..from + count].iter_mut().enumerate() {
            *line = format!("    value = options.push({push}, {file}, {at})");
        }
        if let Some(defect) = defect {
            lines[from] = defect;
        }
        if push.is_multiple_of(3) {
            lines.insert(from, format!("    value = options.before({push})"));
            lines.remove((from + count).min(lines.len() - 1));
        }
    }

    fn push(&self, sandbox: &Sandbox, push: usize) {
        for (path, lines) in &self.files {
            sandbox.write(path, lines.join("\n") + "\n");
        }
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-q", "-m", &format!("Push {push}")]);
    }
}

/// Pushes a branch twelve times, each edit as `spread` makes it, and compares every review with a full one in a history of
/// its own. Returns for each push the bytes that were asked, in percent of those of the full review.
fn pushes(spread: impl Fn(&mut Branch, usize)) -> Vec<f64> {
    let sandbox = project();
    let mut branch = Branch::new();
    sandbox.git(&["checkout", "-q", "-b", "feature"]);
    branch.push(&sandbox, 0);
    let other = sandbox.home().join("other.db").display().to_string();
    let full = ["--base", "main", "--full", "--history", other.as_str()];
    let (first, bytes) = review(&sandbox, &["--base", "main"]);
    assert_eq!(findings(&first).len(), FILES * 3);
    assert!(bytes.iter().sum::<u64>() > 500_000, "{bytes:?}");
    let mut percents = Vec::new();
    for push in 1..=12 {
        spread(&mut branch, push);
        branch.push(&sandbox, push);
        let (delta, asked) = review(&sandbox, &["--base", "main"]);
        let (whole, all) = review(&sandbox, &full);
        assert_eq!(findings(&delta), findings(&whole), "push {push}");
        assert_eq!(delta["exit"], whole["exit"]);
        assert_eq!(delta["proof"]["covered"], whole["proof"]["covered"]);
        percents.push(asked.iter().sum::<u64>() as f64 * 100.0 / all.iter().sum::<u64>() as f64);
    }
    // The same once more, and the same tree as another commit on another branch.
    let (_, asked) = review(&sandbox, &["--base", "main"]);
    assert_eq!(asked, [0; 0], "an identical review asks nobody");
    sandbox.git(&["reset", "-q", "--soft", "main"]);
    sandbox.git(&["commit", "-q", "-m", "All of it as one commit"]);
    let (again, asked) = review(&sandbox, &["--base", "main"]);
    assert_eq!(asked, [0; 0], "a force-push of the same tree asks nobody");
    assert_eq!(again["proof"]["covered"].as_array().map(Vec::len), Some(FILES));
    percents
}

fn shown(percents: &[f64]) -> String {
    let mut text = String::new();
    for percent in percents {
        let _ = write!(text, "{percent:.1} ");
    }
    text
}

/// 5% of 6,000 lines a push: 25 lines in a row in each of twelve files, as work on a few modules.
#[test]
fn pushes_to_some_files_ask_about_little() {
    let percents = pushes(|branch, push| {
        for at in 0..12 {
            branch.edit((push * 7 + at * 5) % FILES, push * 13 + at * 11, 25, push);
        }
    });
    println!("some files: {}", shown(&percents));
    assert!(percents.iter().all(|percent| *percent <= 20.0), "{}", shown(&percents));
}

/// The same number of lines, five in each of all files, as a change of an interface that everything uses.
#[test]
fn pushes_to_all_files_ask_about_the_lines_that_changed() {
    let percents = pushes(|branch, push| {
        for file in 0..FILES {
            branch.edit(file, push * 17 + file * 3, 5, push);
        }
    });
    println!("all files: {}", shown(&percents));
    assert!(percents.iter().all(|percent| *percent <= 20.0), "{}", shown(&percents));
}

/// The same number of lines, each by itself at its own place.
#[test]
fn pushes_of_scattered_lines_ask_about_these_lines() {
    let percents = pushes(|branch, push| {
        for file in 0..FILES {
            for place in 0..5 {
                branch.edit(file, push * 7 + file * 3 + place * 20, 1, push + place);
            }
        }
    });
    println!("scattered lines: {}", shown(&percents));
    assert!(percents.iter().all(|percent| *percent <= 20.0), "{}", shown(&percents));
}
