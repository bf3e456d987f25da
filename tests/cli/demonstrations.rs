//! Tests findings and objections that are settled by running a test, with real unittest in the real sandbox.

use crate::review::json;
use crate::support::{Output, Sandbox};

const TOTAL: &str = "def total(prices):\n    result = 0\n    for price in prices[1:]:\n        result += price\n    return result\n";

/// Fails while the first price is left out.
const TEST: &str = "import unittest\nfrom shop.total import total\n\n\nclass Total(unittest.TestCase):\n    def test_all_prices_count(self):\n        self.assertEqual(total([1, 2, 3]), 6)\n";

/// Answers each task with the file of its name beside the program, after it ran the script of this name.
const AGENT: &str = r#"#!/bin/sh
here="$(dirname "$0")/$GLEE_AGENT-$GLEE_TASK"
cat > "$here.prompt" 2> /dev/null || cat > /dev/null
[ -e "$here.sh" ] && . "$here.sh"
sed "s/{nonce}/$GLEE_NONCE/g; s/{dispute}/$GLEE_DISPUTE/g" "$here"
"#;

pub(crate) struct Shop {
    pub(crate) sandbox: Sandbox,
}

pub(crate) fn block(path: &str, code: &str) -> String {
    format!("```demonstration path={path} runner=unittest\n{code}```\n")
}

impl Shop {
    pub(crate) fn new() -> Self {
        Self::of(Sandbox::new())
    }

    fn of(sandbox: Sandbox) -> Self {
        sandbox.git_init();
        sandbox
            .write("shop/__init__.py", "")
            .write("shop/total.py", TOTAL);
        sandbox.write("tests/test_old.py", "import unittest\n");
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-q", "-m", "The shop"]);
        for (name, role) in [("lens", "reviewer"), ("pen", "coder"), ("gavel", "judge")] {
            sandbox.connect(name, role, AGENT, &["--user"]);
        }
        let shop = Self { sandbox };
        shop.set("sandbox", "off");
        shop.set("review.reuse", "false");
        shop.set(
            "review.runners",
            "{unittest: {command: \"python3 -m unittest {files}\", folder: tests}}",
        );
        shop.review(&block("tests/test_total.py", TEST));
        shop.says(
            "lens-recheck",
            "[F1] RESOLVED: it counts\nGLEE-RECHECK-END nonce={nonce} answers=1\n",
        );
        shop.fix("s/prices\\[1:\\]/prices/");
        shop.respond("[F1] IMPLEMENTED: all prices count\n");
        shop
    }

    pub(crate) fn set(&self, key: &str, value: &str) {
        let set = self.sandbox.glee(&["config", "set", "--user", key, value]);
        assert_eq!(set.code, 0, "{set}");
    }

    pub(crate) fn says(&self, task: &str, text: &str) {
        let bin = self.sandbox.root().with_file_name("bin");
        std::fs::write(bin.join(task), text).expect("an answer");
    }

    /// The reviewer raises one finding, with this below it.
    pub(crate) fn review(&self, below: &str) {
        self.says(
            "lens-review",
            &format!("[MUST] shop/total.py:3 The first price is not counted (confidence 90, bug)\n{below}\nGLEE-REVIEW-END nonce={{nonce}} findings=1 read=all\n"),
        );
    }

    fn fix(&self, edit: &str) {
        self.says(
            "pen-respond.sh",
            &format!("sed -i '{edit}' shop/total.py\n"),
        );
    }

    fn respond(&self, answer: &str) {
        self.says(
            "pen-respond",
            &format!("{answer}GLEE-RESPONSE-END nonce={{nonce}} answers=1\n"),
        );
    }

    fn rule(&self, word: &str, why: &str) {
        let ruling = serde_json::json!({
            "nonce": "{nonce}", "dispute": 1, "ruling": word, "rationale": why, "grounds": "factual_error",
            "citations": ["shop/total.py:3"],
        });
        self.says(
            "gavel-judge",
            &ruling.to_string().replace(":1,", ":{dispute},"),
        );
    }

    fn prompt(&self, task: &str) -> String {
        let bin = self.sandbox.root().with_file_name("bin");
        std::fs::read_to_string(bin.join(format!("{task}.prompt"))).expect("a prompt")
    }

    fn glee(&self, args: &[&str]) -> Output {
        self.sandbox.glee(args)
    }

    /// What the first demonstration of the first finding shows, as reports say it.
    fn shown(&self) -> String {
        let shown = self.glee(&["runs", "show", "last", "--format", "json"]);
        let outcome = json(&shown.stdout);
        let one = &outcome["findings"][0]["demonstrations"][0];
        let words =
            ["result", "reason", "problem"].map(|key| one[key].as_str().unwrap_or_default());
        words.join(" ").trim().to_owned()
    }
}

#[test]
fn a_test_that_fails_before_and_passes_after_closes_nothing_alone_and_is_shown_everywhere() {
    let shop = Shop::new();
    let output = shop.glee(&["review", "shop", "--fix", "--no-input"]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(shop.shown(), "passes_after");
    assert!(
        !shop.sandbox.exists("tests/test_total.py"),
        "the copy is elsewhere"
    );
    let says = "of the reviewer: failed before, passes after, and fails without the change";
    for args in [
        &["show", "F1"][..],
        &["runs", "show", "last", "--format", "markdown"],
        &["runs", "show", "last", "--format", "html"],
    ] {
        let shown = shop.glee(args);
        let words: Vec<&str> = shown.stdout.split_whitespace().collect();
        assert!(words.join(" ").contains(says), "{args:?} {shown}");
    }
    assert_eq!(shop.glee(&["disputes", "verify"]).code, 0);
    let stats = shop.glee(&["stats", "--json"]);
    let all = json(&stats.stdout)["all"].clone();
    let share = |name: &str| (all[name]["count"].clone(), all[name]["of"].clone());
    assert_eq!(share("demonstrated"), (1.into(), 1.into()), "{stats}");
    assert_eq!(share("fixed_by_test"), (1.into(), 1.into()), "{stats}");
    assert_eq!(
        share("dismissed_despite_test"),
        (0.into(), 1.into()),
        "{stats}"
    );
    // A replay runs nothing, and shows the same.
    let replayed = shop.glee(&["runs", "replay", "last"]);
    assert_eq!(replayed.code, 0, "{replayed}");
    assert!(replayed.stdout.contains("fixed"), "{replayed}");
}

#[test]
fn a_test_runs_where_all_is_in_shared_memory() {
    let memory = "/dev/shm";
    let mut sandbox = Sandbox::local_in(memory.as_ref());
    sandbox.env("TMPDIR", memory);
    let shop = Shop::of(sandbox);
    let output = shop.glee(&["review", "shop", "--fix", "--no-input"]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(shop.shown(), "passes_after");
}

#[test]
fn a_finding_stays_open_while_its_test_fails_whatever_coder_and_recheck_say() {
    let shop = Shop::new();
    shop.fix("s/result = 0/result = 0.0/; s/price in prices/each in prices/; s/+= price/+= each/");
    let output = shop.glee(&["review", "shop", "--fix", "--no-input"]);
    assert_eq!(output.code, 1, "{output}");
    assert_eq!(shop.shown(), "fails_after");
    assert!(
        output.stdout.contains("`tests/test_total.py` still fails"),
        "{output}"
    );
    // The next time, the coder is told.
    shop.fix("s/prices\\[1:\\]/prices/");
    let output = shop.glee(&["fix", "F1"]);
    assert_eq!(output.code, 0, "{output}");
    let prompt = shop.prompt("pen-respond");
    assert!(prompt.contains("failed before, still fails"), "{prompt}");
    assert!(prompt.contains("AssertionError: 5.0 != 6"), "{prompt}");
    assert_eq!(shop.shown(), "passes_after");
}

#[test]
fn a_dismissal_that_says_nothing_of_the_failing_test_waits_for_a_person() {
    for (why, code) in [
        ("the first price is a deposit", 3),
        (
            "tests/test_total.py expects the deposit to count, which the specification excludes",
            0,
        ),
    ] {
        let shop = Shop::new();
        shop.says("pen-respond.sh", "");
        shop.respond("[F1] DISAGREE: the first price is a deposit\nEvidence: shop/total.py:3\n");
        shop.rule("DISMISS", why);
        let output = shop.glee(&["review", "shop", "--arbitrate", "--no-input"]);
        assert_eq!(output.code, code, "{why} {output}");
        let prompt = shop.prompt("gavel-judge");
        assert!(
            prompt.contains("`tests/test_total.py` of the reviewer: fails on the reviewed code"),
            "{prompt}"
        );
        let shown = shop.glee(&["disputes", "show", "1"]);
        assert!(shown.stdout.contains("AssertionError: 5 != 6"), "{shown}");
        let stats = shop.glee(&["stats", "--json"]);
        let despite = &json(&stats.stdout)["all"]["dismissed_despite_test"];
        assert_eq!(despite["count"], i32::from(code == 0), "{stats}");
        let replayed = shop.glee(&["runs", "replay", "last"]);
        assert_eq!(replayed.code, code, "{replayed}");
        assert!(!replayed.stdout.contains("differs"), "{replayed}");
    }
}

#[test]
fn an_objection_with_a_passing_test_goes_to_the_judge_with_the_run() {
    let shop = Shop::new();
    shop.review("");
    shop.says("pen-respond.sh", "");
    let test = TEST.replace("[1, 2, 3]), 6", "[0, 1, 2, 3]), 6");
    shop.respond(&format!(
        "[F1] DISAGREE: the first price is a deposit\nEvidence: shop/total.py:3\n{}",
        block("tests/test_deposit.py", &test)
    ));
    shop.rule("ENFORCE", "the deposit counts as well");
    let output = shop.glee(&["review", "shop", "--arbitrate", "--no-input"]);
    assert_eq!(shop.shown(), "passes", "{output}");
    let prompt = shop.prompt("gavel-judge");
    assert!(
        prompt.contains("`tests/test_deposit.py` of the coder: passes on the reviewed code"),
        "{prompt}"
    );
}

#[test]
fn the_test_of_an_objection_is_stronger_if_it_fails_without_the_guard_that_it_cites() {
    let passes = "of the coder: passes on the reviewed code";
    let stronger = format!("{passes}, and fails without the guard that it names");
    for (cited, most, shown) in [
        ("shop/share.py:2", "40", stronger.as_str()),
        // Another line is no guard.
        ("shop/share.py:4", "40", passes),
        // One execution is all that the budget allows.
        ("shop/share.py:2", "1", passes),
    ] {
        let shop = Shop::new();
        shop.sandbox.write(
            "shop/share.py",
            "def share(part, whole):\n    if part > whole:\n        return 1\n    return part / whole\n",
        );
        shop.set("budget.demonstrations", most);
        shop.says(
            "lens-review",
            "[MUST] shop/share.py:4 A share can be more than 1 (confidence 90, bug)\n\nGLEE-REVIEW-END nonce={nonce} findings=1 read=all\n",
        );
        shop.says("pen-respond.sh", "");
        let test = "import unittest\nfrom shop.share import share\n\n\nclass Share(unittest.TestCase):\n    def test_at_most_1(self):\n        self.assertEqual(share(3, 2), 1)\n";
        shop.respond(&format!(
            "[F1] DISAGREE: it is handled above\nEvidence: {cited}\n{}",
            block("tests/test_share.py", test)
        ));
        shop.rule("ENFORCE", "it is not");
        let output = shop.glee(&["review", "shop", "--arbitrate", "--no-input"]);
        let prompt = shop.prompt("gavel-judge");
        assert!(prompt.contains(shown), "{cited} {output} {prompt}");
        let is_stronger = shown == stronger;
        assert_eq!(prompt.contains(&stronger), is_stronger, "{prompt}");
        let outcome = shop.glee(&["runs", "show", "last", "--format", "json"]);
        let one = &json(&outcome.stdout)["findings"][0]["demonstrations"][0];
        assert_eq!(one["stronger"] == true, is_stronger, "{one:#}");
        let replayed = shop.glee(&["runs", "replay", "last"]);
        assert!(!replayed.stdout.contains("differs"), "{replayed}");
        assert_eq!(
            shop.sandbox.git(&["status", "--porcelain"]),
            "?? shop/share.py\n"
        );
    }
}

/// A judge that asks for a test by its first answer, and rules by its answer to the second request.
fn asks(shop: &Shop, judge: &str, from: &str) {
    let bin = shop.sandbox.root().with_file_name("bin");
    let ruling = std::fs::read_to_string(bin.join("gavel-judge")).expect("a ruling");
    let request = serde_json::json!({
        "nonce": "{nonce}", "dispute": 1, "ruling": "ESCALATE",
        "demonstrate": {"from": from, "question": "that the first price is lost"},
    });
    let request = request.to_string().replace(":1,", ":{dispute},");
    shop.says(&format!("{judge}-judge.first"), &request);
    shop.says(&format!("{judge}-judge.then"), &ruling);
    shop.says(
        &format!("{judge}-judge.sh"),
        "if [ -e \"$here.asked\" ]; then cp \"$here.then\" \"$here\"; else cp \"$here.first\" \"$here\"; touch \"$here.asked\"; cp \"$here.prompt\" \"$here.first.prompt\"; fi\n",
    );
}

fn disputed() -> Shop {
    let shop = Shop::new();
    shop.review("");
    shop.says("pen-respond.sh", "");
    shop.respond("[F1] DISAGREE: the first price is a deposit\nEvidence: shop/total.py:3\n");
    shop.rule("ENFORCE", "the first price is lost");
    shop
}

#[test]
fn a_judge_asks_one_side_for_a_test_once_and_rules_with_its_run() {
    let review: &[&str] = &["review", "shop", "--arbitrate", "--no-input"];
    let rows = [
        (
            "reviewer",
            "lens",
            TEST.to_owned(),
            "of the reviewer: fails on the reviewed code",
        ),
        (
            "coder",
            "pen",
            TEST.replace("[1, 2, 3]), 6", "[0, 1, 2, 3]), 6"),
            "of the coder: passes on the reviewed code",
        ),
    ];
    for (from, agent, test, shown) in rows {
        let shop = disputed();
        asks(&shop, "gavel", from);
        let given = format!(
            "It shows it.\n{}GLEE-DEMONSTRATE-END nonce={{nonce}} answers=1\n",
            block("tests/test_asked.py", &test)
        );
        shop.says(&format!("{agent}-demonstrate"), &given);
        let output = shop.glee(review);
        assert_eq!(output.code, 1, "{output}");
        let asked = shop.prompt(&format!("{agent}-demonstrate"));
        assert!(asked.contains("that the first price is lost"), "{asked}");
        let first = shop.prompt("gavel-judge.first");
        assert!(first.contains("\"demonstrate\": {\"from\""), "{first}");
        let then = shop.prompt("gavel-judge");
        assert!(
            then.contains(&format!("`tests/test_asked.py` {shown}")),
            "{then}"
        );
        assert!(
            then.contains("It gave the test `tests/test_asked.py`. It shows it."),
            "{then}"
        );
        assert!(!then.contains("\"demonstrate\": {\"from\""), "{then}");
        let listed = shop.glee(&["disputes", "show", "1"]);
        assert!(listed.stdout.contains("ENFORCE"), "{listed}");
        assert!(listed.stdout.contains(shown), "{listed}");
        let asks = format!("A judge asked the {from} for a test");
        assert!(listed.stdout.contains(&asks), "{listed}");
        let outcome = shop.glee(&["runs", "show", "last", "--format", "json"]);
        // One review, the coder's answer and its call after the ruling, two calls of the judge, and one of the side.
        assert_eq!(json(&outcome.stdout)["proof"]["calls"], 6, "{outcome}");
        let replayed = shop.glee(&["runs", "replay", "last"]);
        assert_eq!(replayed.code, 1, "{replayed}");
        assert!(!replayed.stdout.contains("differs"), "{replayed}");
    }
}

#[test]
fn a_judge_that_gets_no_test_rules_without_one_and_cannot_ask_for_ever() {
    let review: &[&str] = &["review", "shop", "--arbitrate", "--no-input"];
    let shop = disputed();
    asks(&shop, "gavel", "reviewer");
    shop.says(
        "lens-demonstrate",
        "It needs a till.\nGLEE-DEMONSTRATE-END nonce={nonce} answers=0\n",
    );
    let output = shop.glee(review);
    let then = shop.prompt("gavel-judge");
    assert!(
        then.contains("It gave no test. It needs a till."),
        "{output} {then}"
    );
    let listed = shop.glee(&["disputes", "show", "1"]);
    assert!(listed.stdout.contains("ENFORCE"), "{listed}");
    // A judge that asks for ever gives no ruling.
    let shop = disputed();
    asks(&shop, "gavel", "reviewer");
    shop.says(
        "gavel-judge.sh",
        "cp \"$here.first\" \"$here\"; echo >> \"$here.times\"\n",
    );
    shop.says(
        "lens-demonstrate",
        "It needs a till.\nGLEE-DEMONSTRATE-END nonce={nonce} answers=0\n",
    );
    let output = shop.glee(review);
    assert_eq!(output.code, 4, "{output}");
    let bin = shop.sandbox.root().with_file_name("bin");
    let times = std::fs::read_to_string(bin.join("gavel-judge.times")).expect("its calls");
    assert_eq!(times.lines().count(), 3, "{output}");
    assert!(
        output
            .to_string()
            .contains("cannot be asked for a demonstration"),
        "{output}"
    );
    // Without a runner, nobody is offered the question.
    let shop = disputed();
    shop.set("review.demonstrations", "off");
    shop.glee(review);
    assert!(
        !shop
            .prompt("gavel-judge")
            .contains("\"demonstrate\": {\"from\"")
    );
}

#[test]
fn a_panel_asks_once_for_all() {
    let shop = disputed();
    for name in ["gavel2", "gavel3"] {
        shop.sandbox.connect(name, "judge", AGENT, &["--user"]);
        asks(&shop, name, "coder");
    }
    shop.set("review.judge.panel", "[gavel, gavel2, gavel3]");
    asks(&shop, "gavel", "reviewer");
    let bin = shop.sandbox.root().with_file_name("bin");
    // The last judge rules at once, and again with the run.
    let ruling = std::fs::read_to_string(bin.join("gavel-judge.then")).expect("a ruling");
    shop.says("gavel3-judge.first", &ruling);
    let given = format!(
        "{}GLEE-DEMONSTRATE-END nonce={{nonce}} answers=1\n",
        block("tests/test_asked.py", TEST)
    );
    shop.says("lens-demonstrate", &given);
    let output = shop.glee(&["review", "shop", "--arbitrate", "--no-input"]);
    assert_eq!(output.code, 1, "{output}");
    assert!(!bin.join("pen-demonstrate.prompt").exists(), "{output}");
    for judge in ["gavel", "gavel2", "gavel3"] {
        let prompt = shop.prompt(&format!("{judge}-judge"));
        assert!(
            prompt.contains("`tests/test_asked.py` of the reviewer: fails on the reviewed code"),
            "{prompt}"
        );
    }
    let replayed = shop.glee(&["runs", "replay", "last"]);
    assert!(!replayed.stdout.contains("differs"), "{replayed}");
}

#[test]
fn where_a_demonstration_is_required_a_bug_that_none_shows_does_not_block() {
    let says =
        "1 mandatory finding that no test shows does not block (`review.demonstrations: required`)";
    let broken = format!("import missing\n{TEST}");
    let placed = block("tests/test_total.py", TEST);
    let elsewhere = block("shop/test_total.py", TEST);
    let rows = [
        (placed.as_str(), "bug", 1),
        ("", "bug", 0),
        ("", "security", 0),
        ("", "architecture", 1),
        (&*block("tests/test_x.py", &broken), "bug", 0),
        // It did not run, so it says nothing of the finding.
        (elsewhere.as_str(), "bug", 1),
    ];
    for (below, category, code) in rows {
        let shop = Shop::new();
        shop.set("review.demonstrations", "required");
        shop.says(
            "lens-review",
            &format!("[MUST] shop/total.py:3 The first price is not counted (confidence 90, {category})\n{below}\nGLEE-REVIEW-END nonce={{nonce}} findings=1 read=all\n"),
        );
        let output = shop.glee(&["review", "shop", "--no-input"]);
        assert_eq!(output.code, code, "{below} {category} {output}");
        let first = output.stdout.lines().next().unwrap_or_default();
        assert_eq!(
            first.contains(says),
            code == 0,
            "{below} {category} {output}"
        );
        assert_eq!(
            output.stdout.contains("no test shows it"),
            code == 0,
            "{output}"
        );
        let replayed = shop.glee(&["runs", "replay", "last"]);
        assert!(!replayed.stdout.contains("differs"), "{replayed}");
    }
    // A change cannot make its own findings optional.
    let shop = Shop::new();
    shop.sandbox
        .write(".glee/config.yml", "review: {demonstrations: required}\n");
    let refused = shop.glee(&["review", "shop", "--no-input"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused
            .stderr
            .contains("the project's file cannot set `review.demonstrations` to `required`"),
        "{refused}"
    );
}

#[test]
fn a_test_that_held_is_kept_as_a_new_file_and_over_nothing() {
    let shop = Shop::new();
    let output = shop.glee(&["review", "shop", "--fix", "--no-input"]);
    assert_eq!(output.code, 0, "{output}");
    let sarif = shop.glee(&["runs", "show", "last", "--format", "sarif"]);
    let shown = &json(&sarif.stdout)["runs"][0]["results"][0]["properties"]["demonstrations"][0];
    assert_eq!(shown["path"], "tests/test_total.py");
    assert_eq!(
        shown["shows"],
        "failed before, passes after, and fails without the change"
    );
    // Through a link, nothing is written.
    let [tests, aside] = ["tests", "aside"].map(|name| shop.sandbox.root().join(name));
    std::fs::rename(&tests, &aside).expect("a folder");
    std::os::unix::fs::symlink(&aside, &tests).expect("a link");
    let refused = shop.glee(&["keep", "F1"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused
            .stderr
            .contains("a folder of its path is a link or a file"),
        "{refused}"
    );
    assert!(!aside.join("test_total.py").exists());
    std::fs::remove_file(&tests).expect("a link");
    std::fs::rename(&aside, &tests).expect("a folder");
    let kept = shop.glee(&["keep", "F1"]);
    assert_eq!(
        (kept.code, kept.stdout.as_str()),
        (0, "tests/test_total.py\n"),
        "{kept}"
    );
    assert_eq!(shop.sandbox.read("tests/test_total.py"), TEST);
    assert_eq!(
        shop.sandbox.git(&["status", "--porcelain", "tests"]).trim(),
        "?? tests/test_total.py"
    );
    shop.sandbox.write("tests/test_total.py", "mine\n");
    let refused = shop.glee(&["keep", "F1"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused.stderr.contains("a file with its path exists"),
        "{refused}"
    );
    assert_eq!(shop.sandbox.read("tests/test_total.py"), "mine\n");
    // What shows nothing is not kept.
    let shop = Shop::new();
    shop.review(&block("tests/test_x.py", "import missing\n"));
    shop.glee(&["review", "shop", "--no-input"]);
    let refused = shop.glee(&["keep", "F1"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused.stderr.contains("no test of F1 failed or passed"),
        "{refused}"
    );
    assert!(!shop.sandbox.exists("tests/test_x.py"));
}

/// The whole way: the reviewer's test fails, the coder objects, the judge enforces with the run, the coder changes the code,
/// the test passes, and the reviewer agrees.
#[test]
fn a_test_leads_from_the_finding_through_the_ruling_to_the_closed_finding() {
    let shop = Shop::new();
    shop.respond("[F1] IMPLEMENTED: all prices count\n");
    let bin = shop.sandbox.root().with_file_name("bin");
    std::fs::rename(bin.join("pen-respond"), bin.join("pen-respond.done")).expect("an answer");
    shop.respond("[F1] DISAGREE: the first price is a deposit\nEvidence: shop/total.py:3\n");
    shop.says(
        "pen-respond.sh",
        "if grep -q 'ENFORCED by a ruling' \"$here.prompt\"; then sed -i 's/prices.1:./prices/' shop/total.py; cp \"$here.done\" \"$here\"; fi\n",
    );
    shop.rule(
        "ENFORCE",
        "tests/test_total.py loses the first price as the finding says",
    );
    let output = shop.glee(&["review", "shop", "--arbitrate", "--no-input"]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(shop.shown(), "passes_after");
    let judged = shop.prompt("gavel-judge");
    assert!(
        judged.contains("`tests/test_total.py` of the reviewer: fails on the reviewed code"),
        "{judged}"
    );
    let enforced = shop.prompt("pen-respond");
    assert!(enforced.contains("AssertionError: 5 != 6"), "{enforced}");
    let outcome = shop.glee(&["runs", "show", "last", "--format", "json"]);
    let outcome = json(&outcome.stdout);
    assert_eq!(outcome["findings"][0]["state"], "resolved");
    assert_eq!(outcome["disputes"][0]["disposition"]["as"], "enforced");
    assert_eq!(shop.glee(&["disputes", "verify"]).code, 0);
    let replayed = shop.glee(&["runs", "replay", "last"]);
    assert_eq!(replayed.code, 0, "{replayed}");
    assert!(!replayed.stdout.contains("differs"), "{replayed}");
}

#[test]
fn no_policy_discards_an_objection_whose_test_passes() {
    let objects = |test: &str| {
        let shop = Shop::new();
        shop.review("");
        shop.says("pen-respond.sh", "");
        shop.respond(&format!(
            "[F1] DISAGREE: the first price is a deposit\nEvidence: shop/total.py:3\n{}",
            block("tests/test_deposit.py", test)
        ));
        shop.set("review.on_dispute.default", "discard");
        shop
    };
    let passing = TEST.replace("[1, 2, 3]), 6", "[0, 1, 2, 3]), 6");
    let review: &[&str] = &["review", "shop", "--arbitrate", "--no-input"];
    // With a judge, the judge rules with the run.
    let shop = objects(&passing);
    shop.rule("ENFORCE", "the deposit counts as well");
    let output = shop.glee(review);
    let kept = "dispute 1 is not discarded: `tests/test_deposit.py` of the coder passes on the reviewed code";
    assert!(output.to_string().contains(kept), "{output}");
    let prompt = shop.prompt("gavel-judge");
    assert!(
        prompt.contains("`tests/test_deposit.py` of the coder: passes on the reviewed code"),
        "{prompt}"
    );
    let replayed = shop.glee(&["runs", "replay", "last"]);
    assert!(!replayed.stdout.contains("differs"), "{replayed}");
    // Without a judge, the dispute waits for a person, in the next run as well.
    let shop = objects(&passing);
    let removed = shop.glee(&["disconnect", "--user", "gavel"]);
    assert_eq!(removed.code, 0, "{removed}");
    for _ in 0..2 {
        let output = shop.glee(review);
        assert_eq!(output.code, 3, "{output}");
        assert!(output.to_string().contains(kept), "{output}");
        assert_eq!(shop.shown(), "passes");
    }
    let shown = shop.glee(&["disputes", "show", "1"]);
    assert!(
        shown.stdout.contains("passes on the reviewed code"),
        "{shown}"
    );
    // A person may discard it.
    let settled = shop.glee(&[
        "disputes",
        "resolve",
        "1",
        "dismiss",
        "--reason",
        "a deposit",
        "--by",
        "Ada",
    ]);
    assert_eq!(settled.code, 0, "{settled}");
    // An objection whose test shows nothing is discarded as before.
    let shop = objects("import missing\n");
    let output = shop.glee(review);
    assert_eq!(output.code, 0, "{output}");
    assert!(!output.to_string().contains("not discarded"), "{output}");
}

#[test]
fn what_shows_nothing_is_inconclusive() {
    let test = |line: &str| TEST.replace("self.assertEqual(total([1, 2, 3]), 6)", line);
    let begin = |lines: &str| format!("{lines}\n{TEST}");
    let rows: [(&str, String, &str); 14] = [
        (
            "tests/test_x.py",
            test("self.assertEqual(total([1, 2, 3]), 6"),
            "unclear",
        ),
        ("tests/test_x.py", begin("import missing"), "broken"),
        ("tests/test_x.py", test("total(None)"), "broken"),
        ("tests/test_x.py", test("assert False"), "not_reached"),
        (
            "tests/test_x.py",
            test("self.assertEqual(total([0, 1]), 1)"),
            "passes",
        ),
        (
            "tests/test_x.py",
            test(
                "import os; n = len(os.listdir('.')); open(f'f{n}', 'w').close(); total([]); self.assertEqual(n, 4)",
            ),
            "flaky",
        ),
        (
            "tests/test_x.py",
            test("import time; time.sleep(60)"),
            "timed_out",
        ),
        (
            "tests/test_x.py",
            begin("open('shop/total.py', 'a').write('#')"),
            "changed_tree",
        ),
        (
            "tests/test_x.py",
            "import os\nos._exit(0)\n".to_owned(),
            "broken",
        ),
        ("tests/test_x.py", "x = 1\n".to_owned(), "broken"),
        (
            "shop/test_x.py",
            TEST.to_owned(),
            "refused its path is not that of a file below `tests`",
        ),
        (
            "tests/../x.py",
            TEST.to_owned(),
            "refused its path is not that of a file below `tests`",
        ),
        (
            "tests/test_old.py",
            TEST.to_owned(),
            "refused a file with its path exists",
        ),
        (
            "tests/test_x.py",
            "#".repeat(70_000) + "\n",
            "refused the file is larger than 64 KiB",
        ),
    ];
    for (path, code, expected) in rows {
        let shop = Shop::new();
        shop.set("limits.call_timeout", "4s");
        shop.review(&block(path, &code));
        let output = shop.glee(&["review", "shop", "--no-input"]);
        assert_eq!(output.code, 1, "{output}");
        assert_eq!(
            shop.shown(),
            format!("inconclusive {expected}"),
            "{path} {code} {output}"
        );
        assert_eq!(shop.sandbox.read("shop/total.py"), TOTAL);
        assert_eq!(shop.sandbox.git(&["status", "--porcelain"]), "");
    }
}

#[test]
fn a_test_reaches_neither_home_nor_network_nor_other_folders() {
    let shop = Shop::new();
    std::fs::write(shop.sandbox.home().join("secret"), "s3cret").expect("a file");
    let outside = shop.sandbox.root().with_file_name("outside");
    std::fs::create_dir(&outside).expect("a folder");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let rows = [
        format!("open({:?})", shop.sandbox.home().join("secret")),
        format!("open({:?}, 'w')", outside.join("x")),
        format!("open({:?}, 'a')", shop.sandbox.root().join("shop/total.py")),
        format!("open({:?}, 'a')", shop.sandbox.state().join("x")),
        format!("__import__('socket').create_connection(('127.0.0.1', {port}), 2)"),
    ];
    for line in rows {
        // The test fails by an assertion if it could do it.
        let code = TEST.replace(
            "self.assertEqual(total([1, 2, 3]), 6)",
            &format!("total([])\n        try: {line}\n        except OSError: self.fail('held')"),
        );
        shop.review(&block("tests/test_x.py", &code));
        let output = shop.glee(&["review", "shop", "--no-input"]);
        assert_eq!(shop.shown(), "fails_before", "{line} {output}");
    }
    assert_eq!(std::fs::read_dir(&outside).expect("a folder").count(), 0);
    assert_eq!(shop.sandbox.read("shop/total.py"), TOTAL);
}

#[test]
fn without_runners_nobody_is_invited_and_nothing_runs() {
    let shop = Shop::new();
    let invited = |shop: &Shop| {
        let output = shop.glee(&["review", "shop", "--fix", "--no-input"]);
        assert_eq!(output.code, 0, "{output}");
        let prompts = [shop.prompt("lens-review"), shop.prompt("pen-respond")];
        assert_eq!(shop.sandbox.glee(&["runs", "undo"]).code, 0);
        prompts.map(|prompt| prompt.contains("```demonstration path="))
    };
    assert_eq!(invited(&shop), [true, true]);
    shop.set("review.demonstrations", "off");
    assert_eq!(invited(&shop), [false, false]);
    assert_eq!(shop.shown(), "");
    // A project does not change it.
    shop.sandbox
        .write(".glee/config.yml", "review: {demonstrations: offered}\n");
    assert_eq!(invited(&shop), [false, false]);
    std::fs::remove_file(shop.sandbox.root().join(".glee/config.yml")).expect("a file");
    shop.set("review.demonstrations", "offered");
    shop.set("review.runners", "{}");
    assert_eq!(invited(&shop), [false, false]);
    assert_eq!(shop.shown(), "");
}

#[test]
fn a_run_executes_no_more_demonstrations_than_its_budget_allows() {
    let test = TEST.replace("[1, 2, 3]), 6", "[0, 1, 2, 3]), 6");
    let second = |most: &str| {
        let shop = Shop::new();
        shop.says("pen-respond.sh", "");
        shop.respond(&format!(
            "[F1] DISAGREE: the first price is a deposit\nEvidence: shop/total.py:3\n{}",
            block("tests/test_deposit.py", &test)
        ));
        shop.set("budget.demonstrations", most);
        shop.glee(&["review", "shop", "--fix", "--no-input"]);
        assert_eq!(shop.shown(), "fails_before");
        let shown = shop.glee(&["runs", "show", "last", "--format", "json"]);
        let one = json(&shown.stdout)["findings"][0]["demonstrations"][1].clone();
        (one["result"].clone(), one["problem"].clone())
    };
    assert_eq!(second("2"), ("passes".into(), serde_json::Value::Null));
    let refused = "`budget.demonstrations` is reached".into();
    assert_eq!(second("1"), ("inconclusive".into(), refused));
}

#[test]
fn init_proposes_the_runner_of_the_tree() {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("tests/test_a.py", "");
    let written = sandbox.glee(&["init", "--yes"]);
    assert_eq!(written.code, 0, "{written}");
    let (_, command) = written
        .stderr
        .split_once("`glee config set")
        .expect("a proposal");
    let (command, _) = command.split_once('`').expect("its end");
    let args = shlex::split(command).expect("words of a shell");
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let set = sandbox.glee(&[&["config", "set"], &args[..]].concat());
    assert_eq!(set.code, 0, "{set}");
    let listed = sandbox.glee(&["config", "get", "review.runners"]);
    assert!(listed.stdout.contains("python3"), "{listed}");
}

#[test]
fn a_runner_of_a_project_needs_trust_and_names_a_folder_inside() {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    let runner = "review: {runners: {sh: {command: 'sh {files}', folder: tests}}}\n";
    sandbox.write(".glee/config.yml", runner);
    let refused = sandbox.glee(&["review", "--no-input"]);
    assert_eq!(refused.code, 8, "{refused}");
    assert!(
        refused
            .stderr
            .contains("sh '{files}' (review.runners, `sh`)"),
        "{refused}"
    );
    let known = "review: {runners: {py: {command: pytest, folder: tests}}}\n";
    sandbox.write(".glee/config.yml", known);
    let shown = sandbox.glee(&["trust", "--show"]);
    assert!(shown.stderr.contains("nothing that needs trust"), "{shown}");
    for (wrong, problem) in [
        (
            "{command: 'sh {files}', folder: ../x}",
            "cannot have this runner `sh`",
        ),
        (
            "{command: 'sh {files}', folder: /x}",
            "cannot have this runner `sh`",
        ),
        (
            "{command: sh, folder: tests}",
            "cannot have this runner `sh`",
        ),
        ("{command: 'sh {files}'}", "cannot have this runner `sh`"),
        ("sh", "cannot have this runner `sh`"),
    ] {
        sandbox.write(
            ".glee/config.yml",
            format!("review: {{runners: {{sh: {wrong}}}}}\n"),
        );
        let refused = sandbox.glee(&["review", "--no-input"]);
        assert_eq!(refused.code, 2, "{refused}");
        assert!(refused.stderr.contains(problem), "{refused}");
    }
}
