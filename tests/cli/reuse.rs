//! Tests the reuse of earlier answers: which lines are reviewed again, and that the findings equal those of a full
//! review.
//!
//! The reviewer is a shell script that records the size of every prompt. It raises a finding for each shown line
//! with a `BUG`, so that its answers are consistent.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use rstest::rstest;
use serde_json::Value;

use crate::review::json;
use crate::support::Sandbox;

const REVIEWER: &str = r#"#!/bin/sh
prompt="$HOME/prompt.$$"
cat > "$prompt"
wc -c < "$prompt" >> "$HOME/asked"
awk -v nonce="$GLEE_NONCE" '
  /^<<<GLEE-DATA/ { path = ""; if (match($0, / (path|diff)=[^ ]+/)) path = substr($0, RSTART + 6, RLENGTH - 6); next }
  /^>>>GLEE-DATA-END/ { path = "" }
  path == "" || /^:-/ { next }
  /^:@@ -/ { at = substr($3, 2) + 0; next }
  /^[0-9]+ [|]/ { at = $1 }
  /BUG[0-9]+/ {
    bug = $0; sub(/.*BUG/, "BUG", bug); sub(/[^A-Z0-9].*/, "", bug)
    print "[MUST] " path ":" at " Remove " bug; n++
  }
  { at++ }
  END { print "GLEE-REVIEW-END nonce=" nonce " findings=" n + 0 }
' "$prompt"
rm "$prompt"
"#;

/// A project with a reviewer whose program is outside the tree.
pub(crate) fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.program("lens", REVIEWER);
    sandbox.git_init();
    sandbox.write(".gitignore", ".glee/\n.gitignore\n");
    let connected = sandbox.glee(&[
        "connect",
        "lens",
        "--role",
        "reviewer",
        "--command",
        "lens",
        "--name",
        "lens",
    ]);
    assert_eq!(connected.code, 0, "{connected}");
    let set = sandbox.glee(&["config", "set", "--user", "sandbox", "off"]);
    assert_eq!(set.code, 0, "{set}");
    sandbox
}

/// The sizes of the prompts since the last call.
pub(crate) fn asked(sandbox: &Sandbox) -> Vec<u64> {
    let path = sandbox.home().join("asked");
    let text = fs::read_to_string(&path).unwrap_or_default();
    drop(fs::remove_file(path));
    text.lines()
        .map(|line| line.trim().parse().expect("a number"))
        .collect()
}

/// The compared parts of two reviews: place and title of each finding.
pub(crate) fn findings(outcome: &Value) -> Vec<String> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let shown = |finding: &Value| {
        format!(
            "{}:{} {}",
            text(finding, "file"),
            finding["line"],
            text(finding, "title")
        )
    };
    let mut findings: Vec<String> = outcome["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .map(shown)
        .collect();
    findings.sort();
    findings
}

pub(crate) fn review(sandbox: &Sandbox, args: &[&str]) -> (Value, Vec<u64>) {
    let args = [&["review", "--no-input", "--format", "json"], args].concat();
    let output = sandbox.glee(&args);
    assert!(matches!(output.code, 0 | 1), "{output}");
    (json(&output.stdout), asked(sandbox))
}

const FILES: usize = 60;
const LINES: usize = 100;

/// The files of a branch: functions of ten lines, every fourth with a defect.
struct Branch {
    files: BTreeMap<String, Vec<String>>,
    bugs: u32,
}

impl Branch {
    fn new() -> Self {
        let mut branch = Self {
            files: BTreeMap::new(),
            bugs: 0,
        };
        for file in 0..FILES {
            let mut lines = Vec::new();
            for number in 0..LINES {
                lines.push(match number % 10 {
                    0 => format!("def step_{number}(value, options):"),
                    5 if number % 40 == 5 => branch.defect(),
                    9 => String::new(),
                    _ => format!(
                        "    value = value * {number} + options.get(\"f{file}_{number}\", {file})"
                    ),
                });
            }
            branch
                .files
                .insert(format!("src/part{}/module_{file:02}.py", file / 10), lines);
        }
        branch
    }

    fn defect(&mut self) -> String {
        self.bugs += 1;
        format!("    value = eval(value)  # BUG{}", self.bugs)
    }

    /// Edits lines of a file from a position on: replaces most of them, some with a defect. Every third push also
    /// inserts a line above and deletes one below, so that the lines between move.
    fn edit(&mut self, file: usize, from: usize, count: usize, push: usize) {
        let rare = if count == 1 { 40 } else { 4 };
        let defect = (file + push + from)
            .is_multiple_of(rare)
            .then(|| self.defect());
        let lines = self.files.values_mut().nth(file).expect("a file");
        let from = from % (lines.len() - count - 1);
        for (at, line) in lines[from..from + count].iter_mut().enumerate() {
            *line = format!("    value = options.push({push}, {file}, {at})");
        }
        if let Some(defect) = defect {
            lines[from] = defect;
        }
        if count > 1 && push.is_multiple_of(3) {
            lines.insert(from, format!("    value = options.before({push})"));
            lines.remove(from + count);
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

/// Pushes a branch `count` times with edits by `spread`, and compares every review with a full one in a separate
/// history. Returns the bytes requested for each push, in percent of the full review.
fn pushes(are_files_new: bool, count: usize, spread: impl Fn(&mut Branch, usize)) -> Vec<f64> {
    let sandbox = project();
    // With whole files, the share of the bytes is the share of the code that is asked about again.
    let files = ["config", "set", "--user", "review.context", "files"];
    assert_eq!(sandbox.glee(&files).code, 0);
    let mut branch = Branch::new();
    if !are_files_new {
        branch.push(&sandbox, 0);
    }
    sandbox.git(&["checkout", "-q", "-b", "feature"]);
    if !are_files_new {
        spread(&mut branch, 1);
    }
    branch.push(&sandbox, 1);
    let other = sandbox.home().join("other.db").display().to_string();
    let full = ["--base", "main", "--full", "--history", other.as_str()];
    let (first, bytes) = review(&sandbox, &["--base", "main"]);
    assert!(
        findings(&first).len() > FILES * 2 && bytes.iter().sum::<u64>() > 250_000,
        "{bytes:?}"
    );
    let mut percents = Vec::new();
    for push in 2..2 + count {
        spread(&mut branch, push);
        branch.push(&sandbox, push);
        let (delta, asked) = review(&sandbox, &["--base", "main"]);
        let (whole, all) = review(&sandbox, &full);
        assert_eq!(findings(&delta), findings(&whole), "push {push}");
        assert_eq!(delta["exit"], whole["exit"]);
        assert_eq!(delta["proof"]["covered"], whole["proof"]["covered"]);
        percents.push(asked.iter().sum::<u64>() as f64 * 100.0 / all.iter().sum::<u64>() as f64);
    }
    // The same tree again, and as another commit on another branch.
    let (_, asked) = review(&sandbox, &["--base", "main"]);
    assert_eq!(asked, [0; 0], "an identical review asks nobody");
    sandbox.git(&["reset", "-q", "--soft", "main"]);
    sandbox.git(&["commit", "-q", "-m", "All of it as one commit"]);
    let (again, asked) = review(&sandbox, &["--base", "main"]);
    assert_eq!(asked, [0; 0], "a force-push of the same tree asks nobody");
    assert_eq!(
        again["proof"]["covered"].as_array().map(Vec::len),
        Some(FILES)
    );
    percents
}

fn shown(percents: &[f64]) -> String {
    let mut text = String::new();
    for percent in percents {
        let _ = write!(text, "{percent:.1} ");
    }
    text
}

/// 5% of 6,000 lines per push: 25 consecutive lines in each of twelve files, as in work on a few modules.
#[test]
fn pushes_to_some_files_ask_about_little() {
    let percents = pushes(true, 4, |branch, push| {
        for at in 0..12 {
            branch.edit((push * 7 + at * 5) % FILES, push * 13 + at * 11, 25, push);
        }
    });
    assert!(
        percents.iter().all(|percent| *percent <= 20.0),
        "{}",
        shown(&percents)
    );
}

/// The same number of lines, five in each file, as in a change of a widely used interface.
#[test]
fn pushes_to_all_files_ask_about_the_lines_that_changed() {
    let percents = pushes(true, 4, |branch, push| {
        for file in 0..FILES {
            branch.edit(file, push * 17 + file * 3, 5, push);
        }
    });
    assert!(
        percents.iter().all(|percent| *percent <= 21.0),
        "{}",
        shown(&percents)
    );
}

/// The same in files of the base. A full review shows about half as much of them because their diffs are small, so
/// that the headers of the files and the removed lines have more weight.
#[rstest]
#[case::few(4)]
#[ignore = "the nightly job runs it"]
#[case::many(12)]
fn pushes_to_all_files_of_the_base_ask_about_the_lines_that_changed(#[case] count: usize) {
    let percents = pushes(false, count, |branch, push| {
        for file in 0..FILES {
            branch.edit(file, push * 17 + file * 3, 5, push);
        }
    });
    assert!(
        percents.iter().all(|percent| *percent <= 20.0),
        "{}",
        shown(&percents)
    );
}

/// The same number of isolated lines. The worst case: each changed line is shown with its neighbours, and so is
/// every earlier finding in the same block.
#[rstest]
#[case::few(4)]
#[ignore = "the nightly job runs it"]
#[case::many(12)]
fn pushes_of_scattered_lines_ask_about_these_lines(#[case] count: usize) {
    let percents = pushes(true, count, |branch, push| {
        for file in 0..FILES {
            for place in 0..5 {
                branch.edit(file, push * 7 + file * 3 + place * 20, 1, push);
            }
        }
    });
    assert!(
        percents.iter().all(|percent| *percent <= 40.0),
        "{}",
        shown(&percents)
    );
}

/// A file with a defect in one of several functions.
const APP: &str =
    "def load(text):\n    return eval(text)  # BUG1\n\n\ndef other(text):\n    return text\n";

fn committed(sandbox: &Sandbox, files: &[(&str, &str)]) {
    for (path, text) in files {
        sandbox.write(path, text);
    }
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Change"]);
}

fn reused(outcome: &Value) -> Vec<String> {
    let lists = |entry: &Value| {
        let list = |key: &str| entry[key].as_array().cloned().unwrap_or_default();
        let named = |key: &'static str| {
            list(key)
                .into_iter()
                .map(move |file| format!("{key} {}", file.as_str().unwrap_or_default()))
        };
        named("files").chain(named("in_part")).collect::<Vec<_>>()
    };
    outcome["proof"]["reused"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(lists)
        .collect()
}

#[test]
fn an_outcome_names_the_run_that_read_the_files() {
    let sandbox = project();
    committed(&sandbox, &[("a.py", APP), ("b.py", APP)]);
    let targets = ["a.py", "b.py"];
    let (first, asked) = review(&sandbox, &targets);
    assert_eq!(asked.len(), 1);
    assert!(first["proof"].get("reused").is_none(), "{first}");
    let (second, asked) = review(&sandbox, &targets);
    assert_eq!((asked.len(), &second["exit"]), (0, &first["exit"]));
    assert_eq!(second["proof"]["reused"][0]["run"], first["run"]);
    assert_eq!(second["proof"]["reused"][0]["reviewer"], "lens");
    assert_eq!(reused(&second), ["files a.py", "files b.py"]);
    assert_eq!(second["proof"]["calls"], 0);
    assert_eq!(findings(&second), findings(&first));
    assert_eq!(second["proof"]["reviewers"][0]["status"], "complete");

    // As text, live and afterwards; pruned data is not needed.
    let short = first["run"]
        .as_str()
        .map(|run| run[run.len() - 8..].to_owned())
        .expect("an id");
    let told = sandbox.glee(&["review", "a.py", "b.py", "--no-input"]);
    assert!(
        told.stdout
            .contains(&format!("lens: 2 files reused from run {short}")),
        "{told}"
    );
    assert!(
        told.stderr
            .contains(&format!("2 files reused from run {short}")),
        "{told}"
    );
    let again = sandbox.glee(&["runs", "show", "last"]);
    assert!(
        again
            .stdout
            .contains(&format!("2 files reused from run {short}")),
        "{again}"
    );
    let replayed = sandbox.glee(&["runs", "replay", "last"]);
    assert_eq!(replayed.code, 1, "{replayed}");
    assert!(replayed.stdout.contains("2 files reused"), "{replayed}");
    let pruned = sandbox.glee(&["runs", "prune", "--before", "2126-01-01"]);
    assert_eq!(pruned.code, 0, "{pruned}");
    let (third, asked) = review(&sandbox, &targets);
    assert_eq!((asked.len(), findings(&third)), (0, findings(&first)));

    // A full review on request or by configuration.
    assert_eq!(review(&sandbox, &["a.py", "b.py", "--full"]).1.len(), 1);
    assert_eq!(
        sandbox
            .glee(&["config", "set", "review.reuse", "false"])
            .code,
        0
    );
    assert_eq!(review(&sandbox, &targets).1.len(), 1);
}

#[test]
fn whatever_makes_another_answer_is_asked_again() {
    let sandbox = project();
    committed(&sandbox, &[("a.py", APP)]);
    let is_asked = || !review(&sandbox, &["a.py"]).1.is_empty();
    assert!(is_asked() && !is_asked());
    for (key, value) in [
        ("agents.lens.model", "another"),
        ("agents.lens.focus", "[security]"),
    ] {
        let set = sandbox.glee(&["config", "set", key, value]);
        assert_eq!(set.code, 0, "{set}");
        assert!(is_asked() && !is_asked(), "{key}");
    }
    // A prompt template of the project.
    let template = "Review.\n{% for file in files %}{{ file.text }}\n{% endfor %}{{ closing }}\n";
    sandbox.write(".glee/prompts/review.md", template);
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    assert!(is_asked() && !is_asked(), "the template");
    sandbox.program("lens", &format!("{REVIEWER}# another version\n"));
    assert!(is_asked() && !is_asked(), "the program");
    sandbox.write("a.py", APP.replace("return text", "return str(text)"));
    assert!(is_asked() && !is_asked(), "the code");
    sandbox.write("a.py", APP);
    assert!(!is_asked(), "the code is again as it was read before");
}

#[test]
fn an_answer_that_cannot_be_relied_on_is_never_reused() {
    let sandbox = project();
    committed(&sandbox, &[("a.py", APP)]);
    // The answer has no closing line.
    sandbox.program(
        "lens",
        "#!/bin/sh\ncat > /dev/null\necho x >> \"$HOME/asked\"\necho '[MUST] a.py:2 Remove BUG1'\n",
    );
    for _ in 0..2 {
        let output = sandbox.glee(&["review", "a.py", "--no-input"]);
        assert_eq!(output.code, 4, "{output}");
        let path = sandbox.home().join("asked");
        assert_eq!(
            fs::read_to_string(&path)
                .expect("the call exists")
                .lines()
                .count(),
            // Each of two answers is asked for its end.
            4
        );
        fs::remove_file(path).expect("a file");
    }
    // The record was altered.
    sandbox.program("lens", REVIEWER);
    assert_eq!(review(&sandbox, &["a.py"]).1.len(), 1);
    let path = sandbox.home().join("other.db");
    let history = path.display().to_string();
    let args = ["a.py", "--history", history.as_str()];
    assert_eq!(review(&sandbox, &args).1.len(), 1);
    assert_eq!(review(&sandbox, &args).1.len(), 0);
    let db = rusqlite::Connection::open(&path).expect("the history");
    let altered = db
        .execute(
            "UPDATE event SET body = replace(body, 'Remove BUG1', 'All is well') WHERE kind = 'files_reviewed'",
            [],
        )
        .expect("an altered record");
    assert_eq!(altered, 1);
    drop(db);
    assert_eq!(
        review(&sandbox, &args).1.len(),
        1,
        "a run with an altered record is not used"
    );
}

#[test]
fn of_a_file_that_changed_the_lines_that_changed_are_asked_about() {
    let sandbox = project();
    let filler: String = (0..30)
        .map(|n| format!("def f{n}(a):\n    return a + {n}\n\n\n"))
        .collect();
    let before = format!("{APP}{filler}def last(text):\n    return eval(text)  # BUG2\n");
    committed(&sandbox, &[("a.py", before.as_str()), ("b.py", APP)]);
    let (first, _) = review(&sandbox, &["a.py", "b.py"]);
    assert_eq!(
        findings(&first),
        [
            "a.py:128 Remove BUG2",
            "a.py:2 Remove BUG1",
            "b.py:2 Remove BUG1"
        ]
    );
    let fixed = format!(
        "import ast\n\n\n{}",
        before.replace("eval(text)  # BUG1", "ast.literal_eval(text)")
    );
    committed(&sandbox, &[("a.py", fixed.as_str())]);
    let dry = sandbox.glee(&["review", "a.py", "b.py", "--dry-run", "--format", "json"]);
    let dry = json(&dry.stdout);
    let (second, asked) = review(&sandbox, &["a.py", "b.py"]);
    assert_eq!(
        findings(&second),
        ["a.py:131 Remove BUG2", "b.py:2 Remove BUG1"]
    );
    assert_eq!(reused(&second), ["files b.py", "in_part a.py"]);
    assert_eq!(
        dry["total"]["prompt_bytes"], asked[0],
        "the dry run told the bytes: {dry}"
    );
    assert_eq!(dry["calls"][0]["reused"][0]["run"], first["run"]);
    assert_eq!(
        dry["total"]["estimated_usd"],
        Value::Null,
        "no price is known"
    );
    let gone = &second["no_longer_raised"][0];
    assert_eq!(
        (&gone["title"], &gone["file"]),
        (&Value::from("Remove BUG1"), &Value::from("a.py"))
    );
    let text = sandbox.glee(&["runs", "show", "last"]).stdout;
    assert!(
        text.contains("1 finding fixed by the change, rechecked by the reviewer"),
        "{text}"
    );
    let text = sandbox.glee(&["review", "a.py", "b.py", "--dry-run", "-v"]);
    assert!(
        text.stdout.contains("0 calls of reviewers") && text.stdout.contains("not called"),
        "{text}"
    );
}

#[test]
fn a_finding_that_belongs_to_no_file_is_good_for_all_files_or_for_none() {
    let sandbox = project();
    committed(&sandbox, &[("a.py", APP), ("b.py", APP)]);
    let general = REVIEWER.replace("  END {", "  END { print \"[LOW] Add tests\"; n++;");
    sandbox.program("lens", &general);
    let targets = ["a.py", "b.py"];
    let (first, _) = review(&sandbox, &targets);
    let (second, asked) = review(&sandbox, &targets);
    assert_eq!((asked.len(), findings(&second)), (0, findings(&first)));
    committed(&sandbox, &[("b.py", "x = 1\n")]);
    let (third, asked) = review(&sandbox, &targets);
    assert_eq!(
        (asked.len(), reused(&third)),
        (1, Vec::new()),
        "all files are read again"
    );
    assert_eq!(findings(&third), [":null Add tests", "a.py:2 Remove BUG1"]);
}

#[cfg(feature = "astgrep")]
#[test]
fn the_embedded_reviewer_is_asked_again_when_the_rules_change() {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    assert_eq!(
        sandbox
            .glee(&[
                "connect",
                "builtin:rules",
                "--role",
                "reviewer",
                "--name",
                "rules"
            ])
            .code,
        0
    );
    let code = "import hashlib\n\n\ndef key(data):\n    return hashlib.md5(data)\n\n\ndef wait():\n    pause(1)\n";
    committed(&sandbox, &[("a.py", code), ("b.py", code)]);
    let calls = |outcome: &Value| outcome["proof"]["calls"].as_u64();
    let targets = ["a.py", "b.py"];
    let (first, _) = review(&sandbox, &targets);
    let (second, _) = review(&sandbox, &targets);
    assert_eq!((calls(&first), calls(&second)), (Some(1), Some(0)));
    assert!(!findings(&first).is_empty());
    assert_eq!(findings(&second), findings(&first));
    sandbox.write(
        ".glee/rules/own.yml",
        "id: no-pause\nlanguage: Python\nseverity: warning\nmessage: Do not pause\nrule: {pattern: pause($N)}\n",
    );
    let trusted = sandbox.glee(&["trust"]);
    assert_eq!(trusted.code, 0, "{trusted}");
    let (third, _) = review(&sandbox, &targets);
    assert_eq!(calls(&third), Some(1));
    assert_eq!(
        findings(&third).len(),
        findings(&first).len() + 2,
        "{third}"
    );
    // A changed file is reviewed completely, the other one is not.
    committed(&sandbox, &[("b.py", &code.replace("md5", "sha256"))]);
    let (fourth, _) = review(&sandbox, &targets);
    assert_eq!(
        (calls(&fourth), reused(&fourth)),
        (Some(1), vec!["files a.py".to_owned()])
    );
}
