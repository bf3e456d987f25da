//! Demonstrations over the labelled set in `tests/labelled/demonstrations`, with real unittest.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::demonstrations::{AGENT, says};
use crate::has;
use crate::support::Sandbox;

/// A module of the shop with its defect.
#[derive(Deserialize)]
struct Label {
    module: String,
    line: u32,
    title: String,
    /// The text of the module that is wrong, and the text that corrects it.
    defect: String,
    fix: String,
}

fn folder(name: &str) -> PathBuf {
    let root = env!("CARGO_MANIFEST_DIR");
    PathBuf::from(root)
        .join("tests/labelled/demonstrations")
        .join(name)
}

fn labels() -> Vec<Label> {
    let labels = fs::read_to_string(folder("labels.jsonl")).expect("the labels");
    let labels = labels.lines().map(serde_json::from_str);
    labels.collect::<Result<_, _>>().expect("labels")
}

impl Label {
    fn module(&self) -> String {
        let path = folder("store").join(format!("{}.py", self.module));
        fs::read_to_string(path).expect("a module")
    }

    fn corrected(&self) -> String {
        self.module().replace(&self.defect, &self.fix)
    }

    /// A mandatory finding with the test of this module in a folder of the set.
    fn finding(&self, kind: &str) -> String {
        let Self {
            module,
            line,
            title,
            ..
        } = self;
        let test = fs::read_to_string(folder(kind).join(format!("test_{module}.py")));
        let test = test.expect("a test");
        format!(
            "[MUST] store/{module}.py:{line} {title} (confidence 90, bug)\n```demonstration path=tests/test_{module}.py runner=unittest\n{test}```\n"
        )
    }
}

/// A tree with a module of each label, and a reviewer who raises one finding in each, with its test of `kind`.
fn sandbox(all: &[Label], kind: &str, text: impl Fn(&Label) -> String) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("store/__init__.py", "");
    for label in all {
        sandbox.write(format!("store/{}.py", label.module), text(label));
    }
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "The store"]);
    for (name, role) in [("lens", "reviewer"), ("pen", "coder")] {
        sandbox.connect(name, role, AGENT, &["--user"]);
    }
    for (key, value) in [
        (
            "review.runners",
            "{unittest: {command: 'python3 -m unittest {files}', folder: tests}}",
        ),
        ("review.recheck", "false"),
        ("review.reuse", "false"),
        ("limits.call_timeout", "20s"),
        ("budget.demonstrations", "none"),
        // The judge keeps its prompts beside its program.
        ("sandbox", "off"),
    ] {
        let set = sandbox.glee(&["config", "set", "--user", key, value]);
        assert_eq!(set.code, 0, "{set}");
    }
    let findings: String = all.iter().map(|label| label.finding(kind)).collect();
    let number = all.len();
    says(
        &sandbox,
        "lens-review",
        &format!("{findings}GLEE-REVIEW-END nonce={{nonce}} findings={number} read=all\n"),
    );
    sandbox
}

/// The answer of the coder to all findings.
fn respond(sandbox: &Sandbox, all: &[Label], word: &str) {
    let numbers = 1..=all.len();
    let answers: String = numbers
        .map(|number| format!("[F{number}] {word}: it is as said in store/__init__.py:1\n"))
        .collect();
    let number = all.len();
    says(
        sandbox,
        "pen-respond",
        &format!("{answers}GLEE-RESPONSE-END nonce={{nonce}} answers={number}\n"),
    );
}

/// The findings of the last run by module, and the run.
fn outcome(sandbox: &Sandbox) -> (BTreeMap<String, Value>, Value) {
    let shown = sandbox.glee(&["runs", "show", "last", "--format", "json"]);
    let outcome: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    let findings = outcome["findings"].as_array().expect("findings").iter();
    let by_module = findings.map(|finding| {
        let file = finding["file"].as_str().expect("a file");
        let module = file.trim_start_matches("store/").trim_end_matches(".py");
        (module.to_owned(), finding.clone())
    });
    (by_module.collect(), outcome.clone())
}

/// What the test of a finding shows, as in `inconclusive broken`.
fn shown(finding: &Value) -> String {
    let one = &finding["demonstrations"][0];
    let words = ["result", "reason"].map(|key| one[key].as_str().unwrap_or_default());
    words.join(" ").trim().to_owned()
}

#[test]
fn of_40_defects_at_least_36_fail_before_and_pass_after() {
    if !has("python3", &["--version"], "python3") {
        return;
    }
    let all = labels();
    assert_eq!(all.len(), 40);
    let sandbox = sandbox(&all, "defects", Label::module);
    let corrected = sandbox.root().with_file_name("corrected");
    fs::create_dir(&corrected).expect("a folder");
    for label in &all {
        let path = corrected.join(format!("{}.py", label.module));
        fs::write(path, label.corrected()).expect("a module");
    }
    let copy = format!("cp {}/*.py store/\n", corrected.display());
    says(&sandbox, "pen-respond.sh", &copy);
    respond(&sandbox, &all, "IMPLEMENTED");
    let output = sandbox.glee(&["review", "store", "--fix", "--no-input"]);
    let (findings, _) = outcome(&sandbox);
    assert_eq!(findings.len(), 40, "{output}");
    // A test that passes after has failed before.
    let others = findings
        .iter()
        .map(|(module, finding)| format!("{module}: {}", shown(finding)))
        .filter(|line| !line.ends_with("passes_after"));
    let others: Vec<String> = others.collect();
    assert!(others.len() <= 4, "{others:#?}\n{output}");
}

#[test]
fn of_20_correct_places_each_test_that_fails_mechanically_is_inconclusive() {
    if !has("python3", &["--version"], "python3") {
        return;
    }
    let all = &labels()[..20];
    let sandbox = sandbox(all, "mechanical", Label::corrected);
    let output = sandbox.glee(&["review", "store", "--no-input"]);
    let (findings, _) = outcome(&sandbox);
    let lines = findings
        .iter()
        .map(|(module, finding)| format!("{module}: {}", shown(finding)));
    let lines: Vec<String> = lines.collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    basket: inconclusive broken
    booking: inconclusive passes
    coverage_share: inconclusive broken
    csvline: inconclusive broken
    folder: inconclusive not_reached
    grid: inconclusive not_reached
    leap: inconclusive broken
    lru: inconclusive broken
    markup: inconclusive broken
    median: inconclusive broken
    memo: inconclusive not_reached
    money: inconclusive not_reached
    pages: inconclusive broken
    people: inconclusive broken
    ranking: inconclusive timed_out
    retry: inconclusive changed_tree
    roman: inconclusive broken
    session: inconclusive flaky
    slug: inconclusive unclear
    tasks: inconclusive broken
    ");
    assert_eq!(output.code, 1, "{output}");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn of_20_correct_places_each_wrong_expectation_goes_to_the_judge_and_decides_nothing() {
    if !has("python3", &["--version"], "python3") {
        return;
    }
    let all = &labels()[20..];
    let sandbox = sandbox(all, "wrong", Label::corrected);
    respond(&sandbox, all, "DISAGREE");
    // The judge speaks of the run in every second dispute.
    let judge = "#!/bin/sh\nprompt=\"$(dirname \"$0\")/judge-$GLEE_DISPUTE.prompt\"\ncat > \"$prompt\"\ntest=$(grep -o 'tests/test_[a-z_]*[.]py' \"$prompt\" | head -1)\nplace=$(grep -o 'store/[a-z_]*[.]py:[0-9]*' \"$prompt\" | head -1)\nwhy=\"nobody asks for it\"\n[ $((GLEE_DISPUTE % 2)) = 0 ] && why=\"$test expects what nobody asks for\"\necho \"{\\\"nonce\\\": \\\"$GLEE_NONCE\\\", \\\"dispute\\\": $GLEE_DISPUTE, \\\"ruling\\\": \\\"DISMISS\\\", \\\"rationale\\\": \\\"$why\\\", \\\"grounds\\\": \\\"factual_error\\\", \\\"citations\\\": [\\\"$place\\\"]}\"\n";
    sandbox.connect("gavel", "judge", judge, &["--user"]);
    let output = sandbox.glee(&["review", "store", "--arbitrate", "--no-input"]);
    let (findings, outcome) = outcome(&sandbox);
    assert_eq!(findings.len(), 20, "{output}");
    assert_eq!(output.code, 3, "{output}");
    let mut dismissed = 0;
    for dispute in outcome["disputes"].as_array().expect("disputes") {
        let number = dispute["number"].as_u64().expect("a number");
        let prompt = sandbox
            .root()
            .with_file_name("bin")
            .join(format!("judge-{number}.prompt"));
        let prompt = fs::read_to_string(prompt).expect("a prompt");
        assert!(
            prompt.contains("of the reviewer: fails on the reviewed code"),
            "{prompt}"
        );
        let speaks = number % 2 == 0;
        let state = json!({"as": "refuted"});
        assert_eq!(dispute["disposition"] == state, speaks, "{dispute:#}");
        let last = &dispute["rulings"][0]["ruling"];
        assert_eq!(last, if speaks { "DISMISS" } else { "ESCALATE" });
        dismissed += u32::from(speaks);
    }
    assert_eq!(dismissed, 10, "{output}");
}
