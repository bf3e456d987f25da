//! Tests that nothing ends green that nobody judged: judges that fail, discards by a policy, objections and citations
//! without grounds, and tags that a rule lowers.

use serde_json::Value;

use crate::review::json;
use crate::support::{Output, Sandbox};

const APP: &str = "\
def key(data):
    return md5(data)


def load(path):
    return open(path).read()
";

const REVIEWER: &str = r#"#!/bin/sh
cat > /dev/null
echo "[MUST] app.py:2 The weak digest is wrong here (confidence 90, bug)"
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1"
"#;

/// A coder that says `objection` about each finding, and counts its calls.
fn coder(objection: &str) -> String {
    format!(
        "#!/bin/sh\ncat > /dev/null\necho call >> \"$0.calls\"\nn=0\nfor id in $GLEE_FINDINGS; do n=$((n + 1)); echo \
         \"[$id] DISAGREE: {objection}\"; done\necho \"GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n\"\n"
    )
}

const GROUNDED: &str = "it names a cache entry\n  Evidence: app.py:2";

fn judge(ruling: &str) -> String {
    format!("#!/bin/sh\ncat > \"$0.prompt\"\necho call >> \"$0.calls\"\n{ruling}\n")
}

fn rules(rationale: &str, word: &str) -> String {
    judge(&format!(
        "echo \"{rationale}\"\necho \"GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling={word}\""
    ))
}

fn project(objection: &str, judge: Option<&str>) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init().write("app.py", APP).write(
        "util.py",
        "import os\n\n\ndef chunks(items):\n    return items\n",
    );
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Add the app"]);
    // The agents write down what they were asked.
    set(&sandbox, "sandbox", "off");
    sandbox.connect("rev", "reviewer", REVIEWER, &["--user"]);
    sandbox.connect("pen", "coder", &coder(objection), &["--user"]);
    if let Some(judge) = judge {
        sandbox.connect("scales", "judge", judge, &["--user"]);
    }
    sandbox
}

fn set(sandbox: &Sandbox, key: &str, value: &str) {
    let output = sandbox.glee(&["config", "set", "--user", key, value]);
    assert_eq!(output.code, 0, "{output}");
}

fn arbitrate(sandbox: &Sandbox, more: &[&str]) -> Output {
    sandbox.glee(&[&["review", "app.py", "--arbitrate"][..], more].concat())
}

fn calls(sandbox: &Sandbox, program: &str) -> usize {
    let path = format!("../bin/{program}.calls");
    if sandbox.exists(&path) {
        sandbox.read(&path).lines().count()
    } else {
        0
    }
}

fn dispute(sandbox: &Sandbox) -> Value {
    json(&sandbox.glee(&["disputes", "show", "1", "--json"]).stdout)
}

#[test]
fn a_judge_that_gives_no_ruling_is_not_uncertain() {
    for (judge, code) in [
        (judge("exit 3"), 4),
        (judge("true"), 4),
        (judge("echo 'I cannot decide this.'"), 4),
        // A dismissal that does not count is no uncertainty either.
        (rules("Fine, see gone.py:1.", "DISMISS"), 3),
        (rules("Fine.", "DISMISS"), 3),
    ] {
        let sandbox = project(GROUNDED, Some(&judge));
        set(&sandbox, "review.judge.escalate_to", "discard");
        set(&sandbox, "limits.retries", "0");
        let output = arbitrate(&sandbox, &[]);
        assert_eq!(output.code, code, "{judge}: {output}");
        let dispute = dispute(&sandbox);
        assert_eq!(
            dispute["dispute"]["disposition"],
            Value::Null,
            "{dispute:#}"
        );
        let again = arbitrate(&sandbox, &[]);
        assert_ne!(again.code, 0, "{judge}: {again}");
    }
    let sandbox = project(
        GROUNDED,
        Some(&rules("It depends, see app.py:2.", "ESCALATE")),
    );
    set(&sandbox, "review.judge.escalate_to", "discard");
    let output = arbitrate(&sandbox, &[]);
    assert_eq!(output.code, 0, "an uncertain judge: {output}");
}

#[test]
fn a_discard_by_the_route_closes_its_run_and_is_no_ruling() {
    let sandbox = project(GROUNDED, None);
    let discard = ["--on-dispute", "discard"];
    let first = arbitrate(&sandbox, &discard);
    assert_eq!(first.code, 0, "{first}");
    assert!(
        first.stdout.contains("discarded by policy in dispute 1"),
        "{first}"
    );
    for _ in 0..2 {
        let next = arbitrate(&sandbox, &discard);
        assert_eq!(next.code, 0, "{next}");
        assert!(
            next.stdout.contains("discarded by policy in dispute 1"),
            "{next}"
        );
        assert!(!next.stdout.contains("already ruled"), "{next}");
    }
    assert_eq!(calls(&sandbox, "pen"), 1, "the objection is recorded");
    let listed = sandbox.glee(&["disputes", "--open"]);
    assert!(listed.stdout.contains("weak digest"), "{listed}");
    // Under another route, the recorded objection is an open dispute.
    let review = sandbox.glee(&["review", "app.py"]);
    assert_eq!(review.code, 3, "{review}");
    let human = arbitrate(&sandbox, &["--on-dispute", "human"]);
    assert_eq!(human.code, 3, "{human}");
    sandbox.connect(
        "scales",
        "judge",
        &rules("See app.py:2.", "ENFORCE"),
        &["--user"],
    );
    let judged = arbitrate(&sandbox, &["--on-dispute", "judge"]);
    assert_eq!(judged.code, 1, "{judged}");
    assert_eq!(calls(&sandbox, "scales"), 1);
    assert_eq!(calls(&sandbox, "pen"), 2, "the enforced finding");
}

#[test]
fn a_person_can_rule_on_what_a_policy_discarded() {
    for (word, code, disposition) in [
        ("enforce", 1, "enforced"),
        ("dismiss", 0, "refuted"),
        ("discard", 0, "discarded"),
    ] {
        let sandbox = project(GROUNDED, None);
        assert_eq!(arbitrate(&sandbox, &["--on-dispute", "discard"]).code, 0);
        let resolved = sandbox.glee(&[
            "disputes", "resolve", "1", word, "--by", "Test", "--reason", "I looked",
        ]);
        assert_eq!(resolved.code, 0, "{word}: {resolved}");
        assert_eq!(
            dispute(&sandbox)["dispute"]["disposition"]["as"],
            disposition
        );
        let output = sandbox.glee(&["review", "app.py"]);
        assert_eq!(output.code, code, "{word}: {output}");
        assert_eq!(calls(&sandbox, "pen"), 1, "{word}");
    }
}

#[test]
fn a_dismissal_cites_code_that_the_dispute_is_about() {
    let opinion = "I think my way is better";
    for (objection, rationale, code) in [
        (opinion, "The objection holds, see util.py:1.", 3),
        (opinion, "Agreed, util.py says so.", 3),
        (opinion, "Reasonable: util.py:4.", 3),
        // The block of the finding, code that the coder names, and code that the judge explains.
        (opinion, "The digest is a cache key, see app.py:1.", 0),
        ("see util.py:4", "The objection holds, see util.py:5.", 0),
        (opinion, "Only chunks reads the key, see util.py:4.", 0),
        (opinion, "The objection holds, see app.py:6.", 3),
    ] {
        let sandbox = project(objection, Some(&rules(rationale, "DISMISS")));
        let output = arbitrate(&sandbox, &[]);
        assert_eq!(output.code, code, "{objection}: {rationale}: {output}");
    }
}

#[test]
fn an_objection_without_evidence_is_said_to_be_one() {
    let says = "none: the objection names nothing that can be looked up";
    for (objection, is_opinion) in [
        ("I think my way is better", true),
        ("I disagree\n  Evidence: none", true),
        ("it is a cache key, see app.py:2", false),
        (GROUNDED, false),
    ] {
        let sandbox = project(objection, Some(&rules("See app.py:2.", "ENFORCE")));
        let output = arbitrate(&sandbox, &[]);
        assert_eq!(
            output.stdout.contains(says),
            is_opinion,
            "{objection}: {output}"
        );
        let asked = sandbox.read("../bin/scales.prompt");
        let said = asked.contains("It names nothing that can be looked up");
        assert_eq!(said, is_opinion, "{objection}: {asked}");
        let shown = sandbox.glee(&["disputes", "show", "1"]);
        assert_eq!(
            shown.stdout.contains("without evidence"),
            is_opinion,
            "{shown}"
        );
    }
}

#[test]
fn a_tag_that_the_settings_or_an_advisory_lower_is_said_in_the_report() {
    let sandbox = project(GROUNDED, None);
    set(&sandbox, "review.opinions.mandatory", "CRITICAL");
    let note =
        "1 finding with the tag MUST is optional here: `review.opinions.mandatory` is [CRITICAL]";
    for format in ["text", "markdown", "json", "sarif"] {
        let output = sandbox.glee(&["review", "app.py", "--format", format]);
        assert_eq!(output.code, 0, "{output}");
        let text = output.stdout.replace("\\u0060", "`");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("optional here"), "{format}: {note}: {text}");
    }

    let sandbox = Sandbox::new();
    sandbox
        .git_init()
        .write("requirements.txt", "Jinja2==2.10.2\n")
        .write("app.py", APP)
        .write(".glee/config.yml", "version: 1\nadvisories:\n  path: osv\n")
        .write(
            "osv/GHSA-462w-v97r-4m45.json",
            r#"{"id": "GHSA-462w-v97r-4m45", "aliases": ["CVE-2019-10906"], "affected": [{
            "package": {"ecosystem": "PyPI", "name": "jinja2"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.10.2"}]}]}]}"#,
        );
    let reviewer = REVIEWER.replace(
        "[MUST] app.py:2 The weak digest is wrong here (confidence 90, bug)",
        "[HIGH] app.py:2 \\`jinja2\\` escapes its sandbox: CVE-2019-10906 (confidence 70, security)",
    );
    sandbox.connect("rev", "reviewer", &reviewer, &["--user"]);
    let output = sandbox.glee(&["review", "app.py"]);
    let text = output
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        text.contains("F1 is MEDIUM here: GHSA-462w-v97r-4m45 is patched since 2.10.2"),
        "{output}"
    );
}
