//! Tests runs with several coders: each finding goes to the coder of its file.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::review::{json, outcome_run};
use crate::support::{Output, Sandbox};

/// Raises the findings in `~/findings`, and in the next round those in `~/findings.next`.
const REVIEWER: &str = r#"#!/bin/sh
cat > /dev/null
n=0
if [ "$GLEE_TASK" = recheck ]; then
  for id in $GLEE_FINDINGS; do echo "[$id] RESOLVED: the call is gone"; n=$((n + 1)); done
  echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=$n"
  exit 0
fi
while read -r line; do
  echo "$line"
  case $line in "["*) n=$((n + 1)) ;; esac
done < "$HOME/findings"
echo > "$HOME/findings"
[ -f "$HOME/findings.next" ] && mv "$HOME/findings.next" "$HOME/findings"
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n"
"#;

/// Replaces `eval(` by `int(` in its files and implements everything. The file `~/NAME` changes what it does.
const CODER: &str = r#"#!/bin/sh
cat > "$HOME/prompt.$GLEE_AGENT"
echo "$GLEE_AGENT" $GLEE_FINDINGS >> "$HOME/asked"
word=IMPLEMENTED idle=
[ -f "$HOME/$GLEE_AGENT" ] && . "$HOME/$GLEE_AGENT"
[ "$word$idle" = IMPLEMENTED ] && sed -i 's/eval(/int(/' src/*.ENDING
n=0
for id in $GLEE_FINDINGS; do
  n=$((n + 1))
  echo "[$id] $word: as $GLEE_AGENT sees it"
  [ $word = DISAGREE ] && echo "  Evidence: src/a.py:1"
done
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n"
"#;

const JUDGE: &str = "#!/bin/sh\ncat > /dev/null\necho judge >> \"$HOME/asked\"\necho 'it is ruled so'\n\
    echo \"GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=ENFORCE\"\n";

const FILES: [&str; 2] = ["src/a.py", "src/b.js"];

const BOTH: &str =
    "[MUST] src/a.py:1 Do not evaluate text\n[MUST] src/b.js:1 Do not evaluate markup\n";

/// Two files, and a coder for each. `findings` are those of the reviewer.
fn scene(findings: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.env("GLEE_SANDBOX", "off");
    sandbox.git_init();
    sandbox
        .write("src/a.py", "a = eval(text)\n")
        .write("src/b.js", "b = eval(markup)\n")
        .write("src/c.rb", "c = eval(words)\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Add code"]);
    home(&sandbox, "findings", findings);
    let coder = |ending| CODER.replace("ENDING", ending);
    sandbox
        .connect("lens", "reviewer", REVIEWER, &[])
        .connect("py", "coder", &coder("py"), &["--domain", "python"])
        .connect("js", "coder", &coder("js"), &["--domain", "javascript"]);
    sandbox
}

fn home(sandbox: &Sandbox, file: &str, text: &str) {
    fs::write(sandbox.home().join(file), text).expect("a written file");
}

/// The calls of the coders and the judge since the last question, each with its findings.
fn asked(sandbox: &Sandbox) -> Vec<String> {
    let path = sandbox.home().join("asked");
    let text = fs::read_to_string(&path).unwrap_or_default();
    drop(fs::remove_file(path));
    text.lines().map(|line| line.trim().to_owned()).collect()
}

fn review(sandbox: &Sandbox, more: &[&str]) -> Output {
    sandbox.glee(&[&["review", "src", "--format", "json"], more].concat())
}

fn states(outcome: &Value) -> Vec<String> {
    let findings = outcome["findings"].as_array().expect("findings are a list");
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    findings
        .iter()
        .map(|finding| {
            let words = [&finding["id"], &finding["state"], &finding["coder"]];
            words.map(word).join(" ")
        })
        .collect()
}

/// Whether the first two files were edited.
fn files(sandbox: &Sandbox) -> [bool; 2] {
    FILES.map(|file| !sandbox.read(file).contains("eval("))
}

#[test]
fn each_finding_goes_to_the_coder_of_its_file() {
    // The findings, and the calls of the coders.
    let rows: &[(&str, &[&str])] = &[
        (BOTH, &["py F1", "js F2"]),
        (
            "[MUST] src/b.js:1 Do not evaluate markup\n[MUST] src/a.py:1 Do not evaluate text\n\
             [LOW] src/b.js:1 Name it\n",
            &["py F1", "js F2 F3"],
        ),
        ("[MUST] src/b.js:1 Do not evaluate markup\n", &["js F1"]),
        ("[MUST] src/a.py:1 Do not evaluate text\n", &["py F1"]),
        // Without a file and without a coder of its language, a finding goes to the first coder.
        (
            "[MUST] Say how to install it\n[MUST] src/b.js:1 Do not evaluate markup\n",
            &["py F2", "js F1"],
        ),
        ("[MUST] src/c.rb:1 Do not evaluate words\n", &["py F1"]),
        ("[MUST] docs/gone.txt:3 Say how to install it\n", &["py F1"]),
        ("", &[]),
    ];
    for (findings, expected) in rows {
        let sandbox = scene(findings);
        let output = review(&sandbox, &["--fix"]);
        let mut calls = asked(&sandbox);
        // A finding that the coder's edit does not touch is asked about no more than once.
        calls.dedup();
        assert_eq!(calls, *expected, "{findings}{output}");
        let replayed = sandbox.glee(&["runs", "replay"]);
        assert!(
            replayed.stderr.contains("with the same result"),
            "{findings}{replayed}"
        );
    }
}

#[test]
fn a_domain_of_any_form_and_the_order_of_the_coders_choose() {
    // The domains of the coders `py` and `js`, and the calls for a finding in src/a.py and one in src/b.js.
    let rows: &[(&str, &str, &[&str])] = &[
        ("src/*.py", "*.js,src/b.*", &["py F1", "js F2"]),
        ("src", "javascript", &["py F1 F2"]),
        ("rust", "javascript", &["py F1", "js F2"]),
        ("javascript", "python", &["py F2", "js F1"]),
        ("rust", "go", &["py F1 F2"]),
        ("src/b.js", "src/a.py", &["py F2", "js F1"]),
    ];
    for (first, second, expected) in rows {
        let sandbox = scene(BOTH);
        for (name, domain) in [("py", first), ("js", second)] {
            let key = format!("agents.{name}.domain");
            let set = sandbox.glee(&[
                "config",
                "set",
                &key,
                &format!("[\"{domain}\"]").replace(',', "\", \""),
            ]);
            assert_eq!(set.code, 0, "{set}");
        }
        let output = review(&sandbox, &["--fix"]);
        let mut calls = asked(&sandbox);
        calls.dedup();
        assert_eq!(calls, *expected, "{first} {second} {output}");
    }
}

#[test]
fn only_the_coders_of_the_target_take_part_and_the_reports_name_them() {
    let sandbox = scene(BOTH);
    let planned = |target: &str| {
        let args = ["review", target, "--fix", "--dry-run", "--format", "json"];
        let plan = json(&sandbox.glee(&args).stdout);
        let agents = plan["plan"]["agents"].as_array().expect("a list").clone();
        let coders = agents.iter().filter(|agent| agent["role"] == "coder");
        let names = coders.filter_map(|agent| agent["name"].as_str().map(str::to_owned));
        names.collect::<Vec<_>>()
    };
    assert_eq!(planned("src"), ["py", "js"]);
    assert_eq!(planned("src/b.js"), ["js"]);
    assert_eq!(planned("src/c.rb"), ["py"]);
    let preview = sandbox
        .glee(&["review", "src", "--fix", "--dry-run"])
        .stdout;
    assert!(preview.contains("Coders     py"), "{preview}");
    assert!(
        preview.contains("each finding goes to the coder of its file"),
        "{preview}"
    );

    home(&sandbox, "js", "word=DISAGREE\n");
    let output = sandbox.glee(&["review", "src", "--fix"]);
    assert_eq!(output.code, 3, "{output}");
    assert!(output.stderr.contains("coder py, js"), "{output}");
    assert!(output.stderr.contains("js objects to"), "{output}");
    let report = sandbox.glee(&["-v", "runs", "show"]).stdout;
    assert!(report.contains("py: as py sees it"), "{report}");
    assert!(report.contains("js: as js sees it"), "{report}");
    let shown = json(&sandbox.glee(&["runs", "show", "--format", "json"]).stdout);
    assert_eq!(states(&shown), ["F1 resolved py", "F2 disputed js"]);
    let page = sandbox.glee(&["runs", "show", "--format", "html"]).stdout;
    let objection = page.split("The coder objects").nth(1).expect("a dispute");
    let objector = objection.split("as js sees it").next().expect("a side");
    assert!(objector.contains(">js<"), "{objector}");
}

/// Behaves like `claude`: notes the session that is resumed, and begins one of its own otherwise.
const CLAUDE: &str = r#"#!/bin/sh
case "$*" in
  *--version*) echo "2.1.330 (Claude Code)"; exit ;;
  *--help*) echo "--setting-sources --strict-mcp-config --tools --permission-mode --verbose --resume"; exit ;;
esac
cat > /dev/null
session=$(printf '%s' "$*" | sed -n 's/.*--resume \([a-z0-9-]*\).*/\1/p')
echo "$GLEE_AGENT" $GLEE_FINDINGS "${session:-new}" >> "$HOME/asked"
sed -i 's/eval(/int(/; s/$/ # '$GLEE_FINDINGS/ src/*.$GLEE_AGENT
text=
n=0
for id in $GLEE_FINDINGS; do n=$((n + 1)); text="$text[$id] IMPLEMENTED: done\\n"; done
printf '%s\n' '{"type":"system","subtype":"init","session_id":"s-'$GLEE_AGENT'","model":"m"}'
printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"session_id":"s-'$GLEE_AGENT'","usage":{},"permission_denials":[],"result":"'"$text"'GLEE-RESPONSE-END nonce='$GLEE_NONCE' answers='$n'"}'
"#;

#[test]
fn each_coder_goes_on_in_its_own_session() {
    let sandbox = scene(BOTH);
    home(
        &sandbox,
        "findings.next",
        "[MUST] src/b.js:1 Name the number\n[MUST] src/a.py:1 Check the number\n",
    );
    for (name, domain) in [("py", "python"), ("js", "javascript")] {
        assert_eq!(sandbox.glee(&["disconnect", name]).code, 0);
        sandbox.connect(
            name,
            "coder",
            CLAUDE,
            &["--domain", domain, "--adapter", "claude"],
        );
    }
    assert_eq!(
        sandbox.glee(&["config", "set", "review.rounds", "2"]).code,
        0
    );
    let output = review(&sandbox, &["--fix"]);
    assert_eq!(
        asked(&sandbox),
        ["py F1 new", "js F2 new", "py F3 s-py", "js F4 s-js"],
        "{output}"
    );
}

#[test]
fn what_another_coder_has_changed_counts_for_all_of_the_round() {
    let both = "sed -i 's/eval(/int(/' src/a.py src/b.js\n";
    // What the coders do, and the states of the findings.
    let rows = [
        (both, "", ["F1 resolved py", "F2 resolved js"]),
        (
            "word=DISAGREE\n",
            both,
            ["F1 disputed py", "F2 resolved js"],
        ),
        // Nobody changes the code of the second finding.
        ("", "idle=yes\n", ["F1 resolved py", "F2 claimed js"]),
    ];
    for (py, js, expected) in rows {
        let sandbox = scene(BOTH);
        home(&sandbox, "py", py);
        home(&sandbox, "js", js);
        let output = review(&sandbox, &["--fix"]);
        assert_eq!(states(&json(&output.stdout)), expected, "{output}");
        let replayed = sandbox.glee(&["runs", "replay"]);
        assert!(
            replayed.stderr.contains("with the same result"),
            "{replayed}"
        );
    }
}

#[test]
fn a_finding_without_a_place_is_not_done_by_the_edit_of_another_coder() {
    let sandbox = scene("[MUST] Say how to install it\n[MUST] src/b.js:1 Do not evaluate markup\n");
    home(&sandbox, "py", "idle=yes\n");
    let output = review(&sandbox, &["--fix"]);
    assert_eq!(output.code, 1, "{output}");
    assert_eq!(
        states(&json(&output.stdout)),
        ["F1 resolved js", "F2 claimed py"]
    );
}

#[test]
fn an_enforced_finding_goes_back_to_its_coder() {
    let ruled = "grep -q 'it is ruled so' \"$HOME/prompt.$GLEE_AGENT\" || word=DISAGREE\n";
    // The coders that object, and the calls.
    let rows: [(&[&str], &[&str]); 3] = [
        (&["py"], &["py F1", "js F2", "judge", "py F1"]),
        (&["js"], &["py F1", "js F2", "judge", "js F2"]),
        (
            &["py", "js"],
            &["py F1", "js F2", "judge", "judge", "py F1", "js F2"],
        ),
    ];
    for (objectors, expected) in rows {
        let sandbox = scene(BOTH);
        sandbox.connect("scales", "judge", JUDGE, &[]);
        for name in objectors {
            home(&sandbox, name, ruled);
        }
        let output = review(&sandbox, &["--arbitrate"]);
        assert_eq!(output.code, 0, "{output}");
        assert_eq!(asked(&sandbox), expected, "{output}");
        assert_eq!(files(&sandbox), [true, true]);
        assert_eq!(
            states(&json(&output.stdout)),
            ["F1 resolved py", "F2 resolved js"]
        );
    }
}

#[test]
fn one_undo_takes_back_the_edits_of_all_coders() {
    for later in [None, Some("src/a.py"), Some("src/b.js")] {
        let sandbox = scene(BOTH);
        for file in FILES {
            sandbox.write(file, sandbox.read(file) + "\n\n\nend = 1\n");
        }
        let before = FILES.map(|file| sandbox.read(file));
        assert_eq!(review(&sandbox, &["--fix"]).code, 0);
        assert_eq!(files(&sandbox), [true, true]);
        let added = later.map_or_else(String::new, |file| {
            sandbox.write(file, sandbox.read(file) + "later = 1\n");
            "later = 1\n".to_owned()
        });
        let undone = sandbox.glee(&["runs", "undo"]);
        assert_eq!(undone.code, 0, "{undone}");
        for (file, text) in FILES.iter().zip(&before) {
            let added = if later == Some(*file) {
                added.as_str()
            } else {
                ""
            };
            assert_eq!(sandbox.read(file), format!("{text}{added}"), "{later:?}");
        }
        let redone = sandbox.glee(&["runs", "undo", "--redo"]);
        assert_eq!(redone.code, 0, "{redone}");
        assert_eq!(files(&sandbox), [true, true]);
    }
}

#[test]
fn a_killed_run_asks_only_the_coder_that_did_not_answer() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM] {
        let sandbox = scene(BOTH);
        home(&sandbox, "js", ": > \"$HOME/waits\"; sleep 600\n");
        let mut glee = sandbox
            .command(&["review", "src", "--fix"])
            .spawn()
            .expect("it starts");
        let begun = Instant::now();
        while !sandbox.home().join("waits").exists() {
            assert!(
                begun.elapsed().as_secs() < 60,
                "the second coder is not asked"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        let pid = Pid::from_raw(i32::try_from(glee.id()).expect("a process id"));
        kill(pid, signal).expect("it runs");
        glee.wait().expect("it is a child");
        assert_eq!(asked(&sandbox), ["py F1", "js F2"]);
        assert_eq!(files(&sandbox), [true, false]);
        fs::remove_file(sandbox.home().join("js")).expect("a file");
        let resumed = sandbox.glee(&["runs", "resume", "--format", "json"]);
        assert_eq!(resumed.code, 0, "{resumed}");
        assert_eq!(asked(&sandbox), ["js F2"], "{resumed}");
        assert_eq!(
            states(&json(&resumed.stdout)),
            ["F1 resolved py", "F2 resolved js"]
        );
        assert_eq!(sandbox.glee(&["runs", "undo"]).code, 0);
        assert_eq!(files(&sandbox), [false, false]);
    }
}

#[test]
fn the_work_of_one_coder_stays_if_another_fails() {
    let rows = [
        ("py", ["F1 unanswered py", "F2 resolved js"], [false, true]),
        ("js", ["F1 resolved py", "F2 unanswered js"], [true, false]),
    ];
    for (failing, expected, edited) in rows {
        let sandbox = scene(BOTH);
        home(&sandbox, failing, "exit 9\n");
        let output = review(&sandbox, &["--fix"]);
        assert_eq!(output.code, 4, "{output}");
        assert_eq!(states(&json(&output.stdout)), expected, "{output}");
        assert_eq!(files(&sandbox), edited);
        asked(&sandbox);
        let text = sandbox.glee(&["runs", "show"]).stdout;
        assert!(
            text.contains(&format!("{failing} gave no answer")),
            "{text}"
        );

        fs::remove_file(sandbox.home().join(failing)).expect("a file");
        let resumed = sandbox.glee(&["runs", "resume"]);
        assert_eq!(resumed.code, 0, "{resumed}");
        let own = if failing == "py" { "py F1" } else { "js F2" };
        assert_eq!(asked(&sandbox), [own], "{resumed}");
    }
}

#[test]
fn a_budget_that_ends_between_two_coders_leaves_the_rest_open() {
    let mut sandbox = scene(BOTH);
    sandbox.env("GLEE_BUDGET_CALLS", "2");
    let output = review(&sandbox, &["--fix"]);
    assert_eq!(output.code, 75, "{output}");
    assert_eq!(asked(&sandbox), ["py F1"]);
    assert_eq!(files(&sandbox), [true, false]);
    assert_eq!(
        states(&json(&output.stdout)),
        ["F1 unchecked py", "F2 open -"],
        "{output}"
    );
    sandbox.env("GLEE_BUDGET_CALLS", "20");
    let run = outcome_run(&output.stdout);
    let resumed = sandbox.glee(&["runs", "resume", &run]);
    assert_eq!(resumed.code, 0, "{resumed}");
    assert_eq!(asked(&sandbox), ["js F2"]);
}

#[test]
fn what_fails_on_the_edits_goes_to_each_coder_that_edited() {
    let repairs = |file: &str, by: u32| {
        format!(
            "n=$(cat \"$HOME/$GLEE_AGENT.n\" 2>/dev/null || echo 0)\necho $((n + 1)) > \"$HOME/$GLEE_AGENT.n\"\n\
                 [ $n -ge 1 ] && echo \"# $n\" >> {file}; [ $n -ge {by} ] && : > fine\n"
        )
    };
    // What the coders do in a repair, and the calls.
    let rows: [(&str, &str, i32, &[&str]); 4] = [
        // Each coder is asked in turn, until the command passes.
        (
            &repairs("src/a.py", 9),
            &repairs("src/b.js", 1),
            0,
            &["py F1", "js F2", "py F1", "js F2"],
        ),
        (
            &repairs("src/a.py", 1),
            &repairs("src/b.js", 9),
            0,
            &["py F1", "js F2", "py F1"],
        ),
        // A coder that changes nothing is not asked again.
        (
            "",
            &repairs("src/b.js", 2),
            0,
            &["py F1", "js F2", "py F1", "js F2", "js F2"],
        ),
        // Each coder is asked twice at most.
        (
            &repairs("src/a.py", 9),
            &repairs("src/b.js", 9),
            1,
            &["py F1", "js F2", "py F1", "js F2", "py F1", "js F2"],
        ),
    ];
    for (py, js, code, expected) in rows {
        let sandbox = scene(BOTH);
        sandbox.write(".gitignore", "fine\n");
        home(&sandbox, "py", py);
        home(&sandbox, "js", js);
        let set = ["config", "set", "review.verify", "[\"test -e fine\"]"];
        assert_eq!(sandbox.glee(&set).code, 0);
        assert_eq!(sandbox.glee(&["trust"]).code, 0);
        let output = review(&sandbox, &["--fix"]);
        assert_eq!(asked(&sandbox), expected, "{output}");
        assert_eq!(output.code, code, "{output}");
        let replayed = sandbox.glee(&["runs", "replay"]);
        assert!(
            replayed.stderr.contains("with the same result"),
            "{replayed}"
        );
        let told = json(&output.stdout)["notices"].to_string();
        assert_eq!(told.contains("even after 4 repairs"), code == 1, "{told}");
    }
}

#[test]
fn a_repair_goes_only_to_coders_that_edited() {
    let sandbox = scene(BOTH);
    home(&sandbox, "py", "word=DISAGREE\n");
    let set = ["config", "set", "review.verify", "[\"false\"]"];
    assert_eq!(sandbox.glee(&set).code, 0);
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    let output = review(&sandbox, &["--fix"]);
    assert_eq!(asked(&sandbox), ["py F1", "js F2", "js F2"], "{output}");
}

#[test]
fn fix_hands_each_finding_to_its_coder() {
    // The findings of each command, and the calls.
    let rows: [(&[&[&str]], &[&str]); 4] = [
        (&[&["F1", "F2"]], &["py F1", "js F2"]),
        (&[&["F2"], &["F1"]], &["js F2", "py F1"]),
        (&[&["F1"], &["F2"]], &["py F1", "js F2"]),
        (&[&["F2"], &["F1", "F3"]], &["js F2", "py F1 F3"]),
    ];
    for (commands, expected) in rows {
        let sandbox = scene(&format!("{BOTH}[LOW] Say how to install it\n"));
        assert_eq!(review(&sandbox, &[]).code, 1);
        let before = FILES.map(|file| sandbox.read(file));
        for findings in commands {
            let fixed = sandbox.glee(&[&["fix"], *findings].concat());
            assert!(fixed.code < 2, "{fixed}");
        }
        assert_eq!(asked(&sandbox), expected, "{commands:?}");
        assert_eq!(files(&sandbox), [true, true]);
        let shown = json(&sandbox.glee(&["runs", "show", "--format", "json"]).stdout);
        assert_eq!(
            states(&shown)[..2],
            ["F1 resolved py", "F2 resolved js"],
            "{commands:?}"
        );
        let replayed = sandbox.glee(&["runs", "replay"]);
        assert!(
            replayed.stderr.contains("with the same result"),
            "{replayed}"
        );
        let undone = sandbox.glee(&["runs", "undo"]);
        assert_eq!(undone.code, 0, "{undone}");
        assert_eq!(FILES.map(|file| sandbox.read(file)), before);
    }
}

#[test]
fn a_fix_asks_only_the_coders_of_its_findings() {
    let sandbox = scene(BOTH);
    let set = ["config", "set", "review.verify", "[\"false\"]"];
    assert_eq!(sandbox.glee(&set).code, 0);
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    assert_eq!(review(&sandbox, &[]).code, 1);
    for (finding, expected) in [("F1", ["py F1", "py F1"]), ("F2", ["js F2", "js F2"])] {
        let fixed = sandbox.glee(&["fix", finding]);
        assert_eq!(fixed.code, 1, "{fixed}");
        assert_eq!(asked(&sandbox), expected, "{fixed}");
    }
}

#[test]
fn a_backup_that_answers_is_named() {
    let sandbox = scene(BOTH);
    let set = ["config", "set", "agents.js.backup", "py"];
    assert_eq!(sandbox.glee(&set).code, 0);
    let program = sandbox.root().with_file_name("bin").join("js");
    fs::remove_file(program).expect("a program");
    // The backup replaces the coder of the file, so it edits that file.
    home(
        &sandbox,
        "py",
        "[ $GLEE_FINDINGS = F2 ] && sed -i 's/eval(/int(/' src/b.js\n",
    );
    let output = review(&sandbox, &["--fix"]);
    assert_eq!(asked(&sandbox), ["py F1", "py F2"], "{output}");
    assert_eq!(
        states(&json(&output.stdout)),
        ["F1 resolved py", "F2 resolved py"],
        "{output}"
    );
}

#[test]
fn resume_with_fix_asks_each_coder() {
    let sandbox = scene(BOTH);
    assert_eq!(review(&sandbox, &[]).code, 1);
    let fixed = sandbox.glee(&["runs", "resume", "--fix"]);
    assert_eq!(fixed.code, 0, "{fixed}");
    assert_eq!(asked(&sandbox), ["py F1", "js F2"]);
}

#[test]
fn one_coder_gets_everything_and_is_not_named() {
    let sandbox = scene(BOTH);
    assert_eq!(sandbox.glee(&["disconnect", "js"]).code, 0);
    let output = review(&sandbox, &["--fix"]);
    assert_eq!(asked(&sandbox)[0], "py F1 F2");
    assert_eq!(
        states(&json(&output.stdout)),
        ["F1 resolved -", "F2 claimed -"]
    );
}

#[test]
fn a_coder_that_failed_is_asked_again_and_its_edits_count() {
    // What the coder does before it fails, and how the run goes on.
    let rows: [(&str, &[&str]); 5] = [
        ("exit 9\n", &["runs", "resume"]),
        ("exit 9\n", &["fix", "F1"]),
        ("echo '# half' >> src/a.py; exit 9\n", &["runs", "resume"]),
        ("echo '# half' >> src/a.py; exit 9\n", &["fix", "F1"]),
        // The coder had changed everything before it failed.
        (
            "sed -i 's/eval(/int(/' src/a.py; exit 9\n",
            &["runs", "resume"],
        ),
    ];
    for (fails, then) in rows {
        let sandbox = scene("[MUST] src/a.py:1 Do not evaluate text\n");
        let before = sandbox.read("src/a.py");
        assert_eq!(sandbox.glee(&["disconnect", "js"]).code, 0);
        home(&sandbox, "py", fails);
        assert_eq!(review(&sandbox, &["--fix"]).code, 4);
        fs::remove_file(sandbox.home().join("py")).expect("a file");
        let output = sandbox.glee(then);
        assert_eq!(output.code, 0, "{fails}{then:?}{output}");
        assert_eq!(asked(&sandbox), ["py F1", "py F1"]);
        let shown = json(&sandbox.glee(&["runs", "show", "--format", "json"]).stdout);
        assert_eq!(states(&shown), ["F1 resolved -"], "{fails}{then:?}");
        let replayed = sandbox.glee(&["runs", "replay"]);
        let is_same = replayed.stderr.contains("with the same result");
        assert!(is_same || then[0] == "fix", "{fails}{replayed}");
        assert_eq!(sandbox.glee(&["runs", "undo"]).code, 0);
        assert_eq!(sandbox.read("src/a.py"), before);
    }
}
