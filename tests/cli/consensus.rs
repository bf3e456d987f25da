//! Tests every row of the specification's tables of stages and checkpoints, with agents that print the content of a
//! file.

use std::fs;

use serde_json::Value;

use crate::review::json;
use crate::support::{Output, Sandbox};

/// Prints `said/<agent>.<task>` beside itself, or `<...>.again` for a retry.
const SAY: &str = r#"#!/bin/sh
prompt=$(cat)
file="${0%/*}/said/$GLEE_AGENT.$GLEE_TASK"
case $prompt in *"You are asked again"*) [ -f "$file.again" ] && file="$file.again";; esac
if [ ! -f "$file" ]; then echo "nothing to say" >&2; exit 1; fi
if grep -q '^hang' "$file"; then sleep 100; fi
sed "s/NONCE/$GLEE_NONCE/" "$file"
"#;

const PLAN: &str = "prompt: Plan it.\nrequired_fields: [steps]\n";
const POSITION: &str = r#"{"nonce":"NONCE","steps":["a table"]}"#;
const AGREED: &str = r#"{"nonce":"NONCE","status":"ok","summary":"A table.","steps":["a table"],
 "consensus":{"agreements":["SQLite"],"conflicts":[]}}"#;
pub(crate) const CONFLICT: &str = r#"{"nonce":"NONCE","status":"conflict","summary":"A store.","steps":["a store"],
 "consensus":{"agreements":["a store"],"conflicts":["a takes SQLite, b takes Redis"]}}"#;

fn decision(word: &str, confidence: &str) -> String {
    format!(
        r#"{{"nonce":"NONCE","decision":"{word}","rationale":"One store is enough.","modifications":["index it"],"confidence":"{confidence}"}}"#
    )
}

/// Three agents, an aggregator and a judge; all answer the stage `plan` alike.
pub(crate) fn table() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.program("say", SAY).git_init();
    connect(
        &sandbox,
        &[
            ("a", "reviewer"),
            ("b", "reviewer"),
            ("c", "reviewer"),
            ("g", "aggregator"),
            ("j", "judge"),
        ],
    );
    sandbox.write(".glee/stages/plan.yml", PLAN);
    for agent in ["a", "b", "c"] {
        says(&sandbox, agent, "stage", POSITION);
    }
    says(&sandbox, "g", "aggregate", AGREED);
    sandbox
}

fn connect(sandbox: &Sandbox, agents: &[(&str, &str)]) {
    let agent = |(name, role): &(&str, &str)| {
        format!("  - {{name: {name}, role: {role}, adapter: text, command: [say]}}\n")
    };
    let config = sandbox.user_config();
    fs::create_dir_all(config.parent().expect("a folder")).expect("a folder");
    let text = format!(
        "limits:\n  retries: 0\nagents:\n{}",
        agents.iter().map(agent).collect::<String>()
    );
    fs::write(config, text).expect("a written file");
}

fn said(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.root().with_file_name("bin").join("said")
}

pub(crate) fn says(sandbox: &Sandbox, agent: &str, task: &str, text: &str) {
    let folder = said(sandbox);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(format!("{agent}.{task}")), text).expect("a written file");
}

fn is_silent(sandbox: &Sandbox, agent: &str, task: &str) {
    fs::remove_file(said(sandbox).join(format!("{agent}.{task}"))).expect("the answer exists");
}

/// Finds a file by name below a folder and returns its text.
fn kept(folder: &std::path::Path, name: &str) -> Option<String> {
    fs::read_dir(folder)
        .ok()?
        .flatten()
        .find_map(|entry| match entry.path() {
            path if path.is_dir() => kept(&path, name),
            path if path.ends_with(name) => fs::read_to_string(path).ok(),
            _ => None,
        })
}

/// Finds a file of a stage's last run and returns its text.
fn kept_of(sandbox: &Sandbox, stage: &str, name: &str) -> String {
    let listed = json(&sandbox.glee(&["consensus", "--json"]).stdout);
    let run = listed
        .as_array()
        .into_iter()
        .flatten()
        .find(|one| one["stage"] == stage)
        .expect("the call exists");
    let run = run["run"].as_str().expect("an id");
    kept(&sandbox.state(), &format!("{run}/{name}")).expect("the prompt is kept")
}

fn ask(sandbox: &Sandbox) -> Output {
    sandbox.glee(&[
        "consensus",
        "ask",
        "Plan the queue",
        "--stage",
        "plan",
        "--id",
        "S1",
        "--format",
        "json",
    ])
}

fn file(sandbox: &Sandbox, name: &str) -> Value {
    json(&sandbox.read(format!(".glee/stages-out/S1/plan/{name}.json")))
}

/// The exit code, the status and the number of calls.
fn came(output: &Output) -> (i32, Value, Value) {
    assert!(output.stdout.starts_with('{'), "{output}");
    let outcome = json(&output.stdout);
    (
        output.code,
        outcome["status"].clone(),
        outcome["spent"]["calls"].clone(),
    )
}

#[test]
fn the_log_of_a_stage_names_it() {
    let sandbox = table();
    sandbox.glee(&[
        "consensus",
        "ask",
        "Plan the queue",
        "--stage",
        "plan",
        "--id",
        "S1",
    ]);
    let log = sandbox.glee(&["runs", "show", "--log"]);
    assert!(
        log.stdout.contains(":stage{name=\"plan\"}:call{id="),
        "{log}"
    );
}

#[test]
fn a_stage_is_shown_again_by_its_id_or_its_run() {
    let sandbox = table();
    let printed = sandbox.glee(&[
        "consensus",
        "ask",
        "Plan the queue",
        "--stage",
        "plan",
        "--id",
        "S1",
    ]);
    let listed = sandbox.glee(&["runs"]);
    assert!(
        listed.stdout.contains("`glee consensus` lists the stages"),
        "{listed}"
    );
    let asked = json(&ask(&sandbox).stdout);
    let run = asked["run"].as_str().expect("an id");
    for name in ["S1", run, "last"] {
        let shown = sandbox.glee(&["runs", "show", name]);
        assert_eq!((shown.code, &shown.stdout), (0, &printed.stdout), "{name}");
    }
    let shown = json(&sandbox.glee(&["runs", "show", "S1", "--json"]).stdout);
    assert_eq!(
        (&shown["run"], &shown["status"]),
        (&asked["run"], &asked["status"])
    );
    let events = sandbox.glee(&["runs", "show", "S1", "--format", "jsonl"]);
    assert!(
        events.stdout.starts_with('{') && events.stdout.contains("stage_started"),
        "{events}"
    );
    for args in [
        ["--format", "sarif"],
        ["--format", "json=out.json"],
        ["--severity", "high"],
    ] {
        let refused = sandbox.glee(&[&["runs", "show", "S1"], &args[..]].concat());
        assert_eq!(refused.code, 2, "{refused}");
        assert!(
            refused.stderr.contains("is a stage without findings"),
            "{refused}"
        );
    }
}

#[test]
fn the_transcripts_of_an_old_stage_are_pruned() {
    let sandbox = table();
    says(&sandbox, "g", "aggregate", CONFLICT);
    says(&sandbox, "j", "arbitrate", &decision("hybrid", "low"));
    let waiting = ask(&sandbox);
    assert_eq!(waiting.code, 3, "{waiting}");
    let prune = |more: &[&str]| {
        sandbox.glee(&[&["runs", "prune", "--before", "2099-01-01"], more].concat())
    };
    assert_eq!(
        prune(&[]).stdout,
        "Nothing to prune.\n",
        "the stage waits for a person"
    );
    let resolved = sandbox.glee(&["consensus", "resolve", "S1", "a", "--reason", "simple"]);
    assert_eq!(resolved.code, 0, "{resolved}");
    let transcript = || kept(&sandbox.state(), "position.a.1.prompt");
    assert!(transcript().is_some());
    let planned = prune(&["--dry-run"]);
    assert!(
        planned.stdout.starts_with("1 stage or audit run: "),
        "{planned}"
    );
    let pruned = prune(&[]);
    assert!(pruned.stdout.starts_with("Pruned 1 run: "), "{pruned}");
    assert!(transcript().is_none());
    assert_eq!(prune(&[]).stdout, "Nothing to prune.\n");
    assert!(
        sandbox.glee(&["consensus"]).stdout.contains("plan"),
        "the stage is still listed"
    );
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
}

#[test]
fn all_agree() {
    let sandbox = table();
    let output = ask(&sandbox);
    assert_eq!(came(&output), (0, "ok".into(), 4.into()), "{output}");
    let verdict = file(&sandbox, "verdict");
    assert_eq!(verdict["consensus_ok"], true);
    assert_eq!(
        (&verdict["missing_agents"], &verdict["conflicts"]),
        (&json("[]"), &json("[]"))
    );
    let synthesis = file(&sandbox, "synthesis");
    assert_eq!(
        (&synthesis["status"], &synthesis["steps"]),
        (&"ok".into(), &json(r#"["a table"]"#))
    );
    assert_eq!(
        file(&sandbox, "b")["content"],
        json(r#"{"steps":["a table"]}"#)
    );
    assert_eq!(
        sandbox.git(&["status", "--porcelain"]),
        "?? .glee/\n",
        "the files are ignored, the stage is not"
    );
    assert_eq!(sandbox.glee(&["disputes", "verify"]).code, 0);
}

#[test]
fn an_arbiter_decides_a_conflict() {
    let sandbox = table();
    says(&sandbox, "g", "aggregate", CONFLICT);
    says(&sandbox, "j", "arbitrate", &decision("approach_b", "high"));
    let output = ask(&sandbox);
    assert_eq!(came(&output), (0, "ok".into(), 5.into()), "{output}");
    let decided = &file(&sandbox, "synthesis")["arbiter_decision"];
    assert_eq!(
        (&decided["decision"], &decided["by"]["name"]),
        (&"b".into(), &"j".into())
    );
    assert_eq!(
        decided["approach"],
        json(r#"{"steps":["a table"]}"#),
        "the next stage can go on with it"
    );
    assert_eq!(decided["modifications"], json(r#"["index it"]"#));
    let verdict = file(&sandbox, "verdict");
    assert_eq!(
        (&verdict["aggregator_status"], &verdict["arbiter"]["step"]),
        (&"conflict".into(), &"arbiter-plan".into())
    );
}

#[test]
fn a_status_of_conflict_without_one_is_a_conflict() {
    let sandbox = table();
    says(
        &sandbox,
        "g",
        "aggregate",
        &AGREED.replace("\"ok\"", "\"conflict\""),
    );
    says(&sandbox, "j", "arbitrate", &decision("hybrid", "medium"));
    assert_eq!(came(&ask(&sandbox)), (0, "ok".into(), 5.into()));
}

#[test]
fn an_arbiter_that_answers_rubbish_once_is_asked_again() {
    let sandbox = table();
    says(&sandbox, "g", "aggregate", CONFLICT);
    says(&sandbox, "j", "arbitrate", "Both have merit.");
    says(&sandbox, "j", "arbitrate.again", &decision("a", "high"));
    assert_eq!(came(&ask(&sandbox)), (0, "ok".into(), 6.into()));
}

#[test]
fn every_deadlock_waits_for_a_person_who_ends_it() {
    for (said, calls, reason) in [
        (Some(decision("a", "low")), 5, "confidence is low"),
        (Some("Both have merit.".to_owned()), 6, "no JSON object"),
        (None, 5, "nothing to say"),
    ] {
        let sandbox = table();
        says(&sandbox, "g", "aggregate", CONFLICT);
        if let Some(said) = said {
            says(&sandbox, "j", "arbitrate", &said);
        }
        let output = ask(&sandbox);
        assert_eq!(
            came(&output),
            (3, "conflict".into(), calls.into()),
            "{output}"
        );
        let deadlock = json(&output.stdout)["deadlock"].to_string();
        assert!(deadlock.contains(reason), "{deadlock}");
        let again = ask(&sandbox);
        assert_eq!(
            came(&again),
            (3, "conflict".into(), calls.into()),
            "nobody is asked again: {again}"
        );

        let wrong = sandbox.glee(&["consensus", "resolve", "S1", "nobody"]);
        assert_eq!(wrong.code, 2, "{wrong}");
        assert!(
            wrong.stderr.contains("use `hybrid` or one of a, b, c"),
            "{wrong}"
        );
        let resolved = sandbox.glee(&["consensus", "resolve", "S1", "c", "--reason", "I know it"]);
        assert_eq!(resolved.code, 0, "{resolved}");
        let synthesis = file(&sandbox, "synthesis");
        assert_eq!(
            (
                &synthesis["status"],
                &synthesis["arbiter_decision"]["by"]["kind"]
            ),
            (&"ok".into(), &"human".into())
        );
        assert_eq!(
            sandbox.glee(&["consensus", "resolve", "S1", "c"]).code,
            2,
            "it is over"
        );
    }
}

#[test]
fn an_arbiter_that_hangs_is_a_deadlock() {
    let mut sandbox = table();
    sandbox.env("GLEE_LIMITS_CALL_TIMEOUT", "2s");
    says(&sandbox, "g", "aggregate", CONFLICT);
    says(&sandbox, "j", "arbitrate", "hang");
    let output = ask(&sandbox);
    assert_eq!(came(&output), (3, "conflict".into(), 5.into()), "{output}");
    assert!(
        json(&output.stdout)["deadlock"].to_string().contains("2s"),
        "{output}"
    );
}

#[test]
fn without_an_arbiter_a_conflict_is_a_deadlock() {
    let sandbox = table();
    connect(
        &sandbox,
        &[("a", "reviewer"), ("b", "reviewer"), ("g", "aggregator")],
    );
    says(&sandbox, "g", "aggregate", CONFLICT);
    let output = sandbox.glee(&[
        "consensus",
        "ask",
        "Plan the queue",
        "--stage",
        "plan",
        "--id",
        "S1",
    ]);
    assert_eq!(output.code, 3, "{output}");
    insta::assert_snapshot!(output.stdout);
}

#[test]
fn a_missing_agent_degrades_and_says_so() {
    let sandbox = table();
    is_silent(&sandbox, "b", "stage");
    let output = ask(&sandbox);
    assert_eq!(came(&output), (4, "degraded".into(), 4.into()), "{output}");
    let verdict = file(&sandbox, "verdict");
    assert_eq!(verdict["missing_agents"], json(r#"["b"]"#));
    assert_eq!(json(&output.stdout)["advances"], true);
    assert_eq!(
        (
            &file(&sandbox, "b")["answered"],
            &file(&sandbox, "a")["answered"]
        ),
        (&false.into(), &true.into())
    );
}

#[test]
fn an_answer_without_a_required_field_is_asked_for_twice_more() {
    let sandbox = table();
    says(&sandbox, "b", "stage", r#"{"nonce":"NONCE","steps":[]}"#);
    let output = ask(&sandbox);
    assert_eq!(came(&output), (4, "degraded".into(), 6.into()), "{output}");
    assert_eq!(file(&sandbox, "verdict")["required_fields_ok"], false);
    says(&sandbox, "b", "stage.again", POSITION);
    assert_eq!(
        came(&ask(&sandbox)),
        (0, "ok".into(), 5.into()),
        "the reason in the prompt helps"
    );
}

#[test]
fn spec_13_what_the_arbiter_would_decide_stands_in_every_form() {
    let sandbox = table();
    says(&sandbox, "g", "aggregate", CONFLICT);
    says(&sandbox, "j", "arbitrate", &decision("approach_b", "low"));
    let output = ask(&sandbox);
    assert_eq!(came(&output), (3, "conflict".into(), 5.into()), "{output}");
    let told = &json(&output.stdout)["uncertain"];
    assert_eq!(
        (&told[0]["confidence"], &told[1]),
        (&"low".into(), &"j".into()),
        "{output}"
    );
    let verdict = &file(&sandbox, "verdict")["arbiter_uncertain"];
    assert_eq!(
        (&verdict["decision"], &verdict["by"]["name"]),
        (&"b".into(), &"j".into()),
        "{verdict}"
    );
    assert_eq!(verdict["rationale"], "One store is enough.");
    assert_eq!(verdict["modifications"], json(r#"["index it"]"#));
    let text = sandbox
        .glee(&[
            "consensus",
            "ask",
            "Plan the queue",
            "--stage",
            "plan",
            "--id",
            "S1",
        ])
        .stdout;
    for words in [
        "j would decide: b (confidence low)",
        "One store is enough.",
        "index it",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let resolved = sandbox.glee(&["consensus", "resolve", "S1", "b"]);
    assert_eq!(resolved.code, 0, "{resolved}");
    assert_eq!(
        file(&sandbox, "verdict")["arbiter_uncertain"]["confidence"],
        "low",
        "a person's word hides nothing"
    );
}

#[test]
fn spec_13_a_failed_aggregator_does_not_hide_the_answers() {
    let sandbox = table();
    is_silent(&sandbox, "g", "aggregate");
    let output = ask(&sandbox);
    assert_eq!(came(&output), (4, "degraded".into(), 4.into()), "{output}");
    let answers = &json(&output.stdout)["answers"];
    assert_eq!(
        (&answers[1]["agent"], &answers[1]["content"]),
        (&"b".into(), &json(r#"{"steps":["a table"]}"#))
    );
    let sandbox = table();
    is_silent(&sandbox, "g", "aggregate");
    let text = sandbox
        .glee(&[
            "consensus",
            "ask",
            "Plan the queue",
            "--stage",
            "plan",
            "--id",
            "S1",
        ])
        .stdout;
    for name in ["a", "b", "c"] {
        assert!(text.contains(&format!("{name} answers\n")), "{text}");
    }
    assert!(text.contains("a table"), "{text}");
}

#[test]
fn spec_15_absent_fields_are_named_and_fields_keep_their_order() {
    let sandbox = table();
    says(
        &sandbox,
        "b",
        "stage",
        r#"{"nonce":"NONCE","z":1,"steps":[],"m":2,"a":3}"#,
    );
    let text = sandbox
        .glee(&[
            "consensus",
            "ask",
            "Plan the queue",
            "--stage",
            "plan",
            "--id",
            "S1",
        ])
        .stdout;
    assert!(
        text.contains("Missing required fields: steps (b)"),
        "{text}"
    );
    let kept = sandbox.read(".glee/stages-out/S1/plan/b.json");
    let place = |field: &str| {
        kept.find(&format!("\"{field}\":"))
            .unwrap_or_else(|| panic!("{field}: {kept}"))
    };
    assert!(place("z") < place("m") && place("m") < place("a"), "{kept}");
}

#[test]
fn spec_15_a_decision_may_be_a_list() {
    for (word, taken) in [
        (r#"["approach_b"]"#, "b"),
        (r#"["a", "approach_b"]"#, "hybrid"),
    ] {
        let sandbox = table();
        says(&sandbox, "g", "aggregate", CONFLICT);
        says(
            &sandbox,
            "j",
            "arbitrate",
            &decision("X", "high").replace("\"X\"", word),
        );
        assert_eq!(came(&ask(&sandbox)), (0, "ok".into(), 5.into()), "{word}");
        assert_eq!(
            file(&sandbox, "synthesis")["arbiter_decision"]["decision"],
            taken
        );
    }
}

#[test]
fn spec_15_a_checkpoint_is_known_by_the_name_of_the_specification() {
    let sandbox = table();
    sandbox.write("q.yml", "questions:\n  - {id: db, question: Which?}\n");
    for agent in ["a", "b", "c"] {
        says(
            &sandbox,
            agent,
            "questions",
            r#"{"nonce":"NONCE","answers":[{"id":"db","answer":"SQLite"}]}"#,
        );
    }
    for name in ["PostTasks", "post_tasks", "post-tasks"] {
        let output = sandbox.glee(&["gate", name, "--questions", "q.yml", "--id", "S1"]);
        assert_eq!(output.code, 0, "{name}: {output}");
        assert!(sandbox.exists(".glee/stages-out/S1/post-tasks/resolutions.json"));
    }
    assert_eq!(
        sandbox
            .glee(&["gate", "PostMortem", "--questions", "q.yml"])
            .code,
        2
    );
}

#[test]
fn nobody_stands_in_for_the_aggregator() {
    let sandbox = table();
    is_silent(&sandbox, "g", "aggregate");
    let failed = ask(&sandbox);
    assert_eq!(came(&failed), (4, "degraded".into(), 4.into()), "{failed}");
    assert!(!sandbox.exists(".glee/stages-out/S1/plan/synthesis.json"));
    connect(
        &sandbox,
        &[("a", "reviewer"), ("b", "reviewer"), ("j", "judge")],
    );
    let missing = ask(&sandbox);
    assert_eq!(missing.code, 2, "{missing}");
    assert!(missing.stderr.contains("--role aggregator"), "{missing}");
    sandbox.write(".glee/stages/plan.yml", format!("{PLAN}aggregator: j\n"));
    assert_eq!(
        sandbox
            .glee(&["consensus", "ask", "x", "--stage", "plan"])
            .code,
        4,
        "named, it may be anybody"
    );
}

#[test]
fn who_decides_is_no_party() {
    let sandbox = table();
    sandbox.write(".glee/stages/plan.yml", format!("{PLAN}arbiter: a\n"));
    let output = ask(&sandbox);
    assert_eq!(output.code, 2, "{output}");
    assert!(
        output
            .stderr
            .contains("`a` cannot decide a stage, because the agent takes part in the stage"),
        "{output}"
    );
}

#[test]
fn an_agent_that_writes_is_not_believed() {
    let sandbox = table();
    let mut sandbox = sandbox;
    sandbox.env("GLEE_SANDBOX", "off");
    sandbox.program(
        "say",
        &SAY.replace(
            "prompt=$(cat)",
            "prompt=$(cat); [ $GLEE_AGENT = b ] && echo x > written",
        ),
    );
    let output = ask(&sandbox);
    assert_eq!(output.code, 5, "{output}");
}

pub(crate) const QUESTIONS: &str =
    "questions:\n  - {id: db, question: Which database?, options: [SQLite, PostgreSQL]}\n";

pub(crate) fn answers(sandbox: &Sandbox, words: [Option<&str>; 3]) {
    for (agent, word) in ["a", "b", "c"].into_iter().zip(words) {
        if let Some(word) = word {
            let text = format!(
                r#"{{"nonce":"NONCE","answers":[{{"id":"db","answer":"{word}","reason":"so"}}]}}"#
            );
            says(sandbox, agent, "questions", &text);
        }
    }
}

fn gate(sandbox: &Sandbox) -> Output {
    sandbox.write("q.yml", QUESTIONS);
    sandbox.glee(&[
        "gate",
        "pre-planning",
        "--questions",
        "q.yml",
        "--id",
        "S1",
        "--format",
        "json",
    ])
}

fn validates(sandbox: &Sandbox, agrees: bool) {
    let text =
        format!(r#"{{"nonce":"NONCE","agrees_with_majority":{agrees},"reasoning":"one writer"}}"#);
    says(sandbox, "j", "validate", &text);
}

#[test]
fn the_table_of_checkpoints() {
    let (s, p) = (Some("sqlite"), Some("PostgreSQL"));
    for (words, agrees, code, by) in [
        ([s, s, s], None, 0, "agents"),
        ([s, s, p], Some(true), 0, "arbiter"),
        ([s, s, None], Some(true), 0, "arbiter"),
        ([s, s, p], Some(false), 3, ""),
        ([s, s, p], None, 3, ""),
        ([s, p, Some("both")], Some(true), 3, ""),
        ([s, None, None], Some(true), 3, ""),
        (
            [Some("maybe"), Some("perhaps"), Some("both")],
            Some(true),
            3,
            "",
        ),
        ([None, None, None], Some(true), 4, ""),
    ] {
        let sandbox = table();
        answers(&sandbox, words);
        if let Some(agrees) = agrees {
            validates(&sandbox, agrees);
        }
        let output = gate(&sandbox);
        assert_eq!(output.code, code, "{words:?}: {output}");
        let resolutions = json(&sandbox.read(".glee/stages-out/S1/pre-planning/resolutions.json"));
        let resolved = &resolutions["resolved"];
        if by.is_empty() {
            assert_eq!(
                (resolved, &resolutions["open"]),
                (&json("[]"), &json(r#"["db"]"#)),
                "{words:?}"
            );
        } else {
            assert_eq!(
                (&resolved[0]["answer"], &resolved[0]["by"]["kind"]),
                (&"SQLite".into(), &by.into())
            );
        }
    }
}

#[test]
fn a_person_answers_what_agents_cannot() {
    let sandbox = table();
    answers(&sandbox, [Some("SQLite"), Some("PostgreSQL"), None]);
    let asked = sandbox.write("q.yml", QUESTIONS).glee(&[
        "gate",
        "pre-planning",
        "--questions",
        "q.yml",
        "--id",
        "S1",
    ]);
    assert_eq!(asked.code, 3, "{asked}");
    insta::assert_snapshot!(asked.stdout);
    let wrong = sandbox.glee(&["gate", "answer", "S1", "db", "MySQL"]);
    assert_eq!(
        (
            wrong.code,
            wrong.stderr.contains("use one of SQLite, PostgreSQL")
        ),
        (2, true),
        "{wrong}"
    );
    assert_eq!(
        sandbox.glee(&["gate", "answer", "S1", "other", "x"]).code,
        2
    );
    let answered = sandbox.glee(&[
        "gate",
        "answer",
        "S1",
        "db",
        "postgresql",
        "--reason",
        "two writers",
    ]);
    assert_eq!(answered.code, 0, "{answered}");
    let resolutions = json(&sandbox.read(".glee/stages-out/S1/pre-planning/resolutions.json"));
    assert_eq!(resolutions["resolved"][0]["answer"], "PostgreSQL");
    assert_eq!(
        sandbox.glee(&["gate", "answer", "S1", "db", "SQLite"]).code,
        2,
        "it is answered"
    );
}

#[test]
fn a_pipeline_goes_on_where_it_stood() {
    let sandbox = table();
    sandbox.write("q.yml", QUESTIONS);
    sandbox.write(
        "p.yml",
        "prompt: Build it.\nstages:\n  - plan\n  - {gate: post-plan, questions: q.yml}\n  - next\n",
    );
    sandbox.write(".glee/stages/next.yml", "prompt: Go on.\nagents: [a, b]\n");
    answers(
        &sandbox,
        [Some("SQLite"), Some("PostgreSQL"), Some("SQLite")],
    );
    let run = || {
        sandbox.glee(&[
            "consensus",
            "run",
            "p.yml",
            "--id",
            "S1",
            "--format",
            "json",
        ])
    };
    let first = run();
    assert_eq!(first.code, 3, "the majority has no validator: {first}");
    assert_eq!(json(&first.stdout).as_array().map(Vec::len), Some(2));
    assert_eq!(
        sandbox.glee(&["gate", "answer", "S1", "db", "SQLite"]).code,
        0
    );
    // Agents that have answered are not called again.
    ["a", "b", "c"]
        .into_iter()
        .for_each(|agent| is_silent(&sandbox, agent, "questions"));
    says(
        &sandbox,
        "a",
        "stage",
        "Take a table.\nGLEE-STAGE-END nonce=NONCE answers=1\n",
    );
    is_silent(&sandbox, "c", "stage");
    let second = run();
    assert_eq!(second.code, 0, "{second}");
    let outcomes = json(&second.stdout);
    let calls: Vec<_> = outcomes
        .as_array()
        .expect("outcomes")
        .iter()
        .map(|one| &one["spent"]["calls"])
        .collect();
    assert_eq!(calls, [&Value::from(4), &Value::from(4), &Value::from(3)]);
    let third = run();
    let prompts =
        ["a", "b"].map(|agent| kept_of(&sandbox, "next", &format!("position.{agent}.1.prompt")));
    assert!(
        prompts
            .iter()
            .all(|prompt| prompt.contains("Which database?") && prompt.contains("SQLite")),
        "{prompts:?}"
    );
    assert_eq!(
        (third.code, json(&third.stdout) == outcomes),
        (0, true),
        "everything is settled: {third}"
    );
}

#[test]
fn deadlocks_are_counted() {
    let sandbox = table();
    let none = sandbox.glee(&["stats", "deadlocks"]);
    assert_eq!(
        (none.code, none.stdout.starts_with("No stage")),
        (0, true),
        "{none}"
    );
    assert_eq!(ask(&sandbox).code, 0);
    says(&sandbox, "g", "aggregate", CONFLICT);
    says(&sandbox, "j", "arbitrate", &decision("a", "high"));
    assert_eq!(ask(&sandbox).code, 0);
    says(&sandbox, "j", "arbitrate", &decision("a", "low"));
    assert_eq!(ask(&sandbox).code, 3);
    let table = sandbox.glee(&["stats", "deadlocks", "--fail-above", "5%"]);
    assert_eq!(table.code, 1, "{table}");
    insta::assert_snapshot!(table.stdout);
    assert_eq!(
        sandbox
            .glee(&["stats", "deadlocks", "--fail-above", "34"])
            .code,
        0
    );
    assert_eq!(sandbox.glee(&["consensus", "resolve", "S1", "a"]).code, 0);
    let counted = json(&sandbox.glee(&["stats", "deadlocks", "--json"]).stdout);
    assert_eq!(
        (&counted["all"]["deadlocks"], &counted["all"]["by_person"]),
        (&1.into(), &1.into())
    );
    let listed = sandbox.glee(&["consensus"]);
    assert!(
        listed.stdout.contains("ok, decided by a person")
            && listed.stdout.contains("ok, decided by j"),
        "{listed}"
    );
}

#[test]
fn bad_input_has_one_clear_error() {
    let sandbox = table();
    for (args, part) in [
        (
            &["consensus", "ask", "x", "--id", "../x"][..],
            "hint: use up to 100 letters",
        ),
        (
            &["consensus", "ask", "x", "--stage", "plann"],
            "did you mean `plan`?",
        ),
        (&["consensus", "ask", " "], "the request is empty"),
        (
            &["consensus", "ask", "x", "--agents", "a,z"],
            "`z` is not connected",
        ),
        (
            &["consensus", "ask", "x", "--agents", "a"],
            "at least 2 agents",
        ),
        (
            &["consensus", "run", "none.yml", "--id", "S1"],
            "there is no file",
        ),
        (
            &["consensus", "resolve", "S1", "a"],
            "no stage of `S1` waits",
        ),
        (
            &["gate", "post-plan", "--questions", "none.yml"],
            "there is no file",
        ),
        (
            &["gate", "later", "--questions", "q.yml"],
            "choose one of the checkpoints pre-planning",
        ),
        (
            &["stats", "deadlocks", "--fail-above", "much"],
            "percentage",
        ),
    ] {
        let output = sandbox.glee(args);
        assert_eq!(output.code, 2, "{args:?}: {output}");
        assert!(output.stderr.contains(part), "{args:?}: {output}");
    }
    std::os::unix::fs::symlink("/tmp", sandbox.root().join(".glee/stages-out")).expect("a link");
    let linked = ask(&sandbox);
    assert_eq!(
        (linked.code, linked.stderr.contains("stages-out")),
        (2, true),
        "{linked}"
    );
    insta::assert_snapshot!(sandbox.glee(&["consensus"]).stdout, @"No stage is recorded yet. Start a stage with `glee consensus ask`.");
    sandbox.write("q.yml", QUESTIONS);
    let few = sandbox.glee(&[
        "gate",
        "post-plan",
        "--questions",
        "q.yml",
        "--agents",
        "a,b",
    ]);
    assert!(few.stderr.contains("at least 3 agents"), "{few}");
}

#[test]
fn killed_in_the_middle_nobody_is_asked_again_who_answered() {
    let mut sandbox = table();
    sandbox.env("GLEE_SANDBOX", "off");
    sandbox.program(
        "say",
        &SAY.replace(
            "prompt=$(cat)",
            "prompt=$(cat); echo $GLEE_TASK $GLEE_AGENT >> ~/asked",
        ),
    );
    sandbox.write("p.yml", "prompt: Build it.\nstages: [plan, next]\n");
    sandbox.write(".glee/stages/next.yml", "prompt: Go on.\nagents: [d, e]\n");
    connect(
        &sandbox,
        &[
            ("a", "reviewer"),
            ("b", "reviewer"),
            ("c", "reviewer"),
            ("d", "coder"),
            ("e", "coder"),
            ("g", "aggregator"),
        ],
    );
    says(&sandbox, "d", "stage", POSITION);
    says(&sandbox, "e", "stage", "hang");
    let mut killed = sandbox
        .command(&["consensus", "run", "p.yml", "--id", "S1"])
        .spawn()
        .expect("it starts");
    let events = || sandbox.glee(&["consensus", "--json"]).stdout;
    let begun = std::time::Instant::now();
    // The last stage is running, and one of its agents has answered.
    while json(&events())
        .as_array()
        .is_none_or(|all| all.len() < 2 || all[0]["spent"]["calls"] != 1)
    {
        assert!(begun.elapsed().as_secs() < 60, "it never came so far");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    killed.kill().expect("it runs");
    killed.wait().expect("it is a child");
    says(&sandbox, "e", "stage", POSITION);
    let carried_on = sandbox.glee(&["consensus", "run", "p.yml", "--id", "S1"]);
    assert_eq!(carried_on.code, 0, "{carried_on}");
    let asked = fs::read_to_string(sandbox.home().join("asked")).expect("the list of calls exists");
    let mut asked: Vec<&str> = asked.lines().collect();
    asked.sort_unstable();
    let expected = [
        "aggregate g",
        "aggregate g",
        "stage a",
        "stage b",
        "stage c",
        "stage d",
        "stage e",
        "stage e",
    ];
    assert_eq!(asked, expected, "only whom the kill cut off is asked again");
}

/// The example of `docs/consensus.md`, with scripted agents.
#[test]
fn the_example_is_agreed_on() {
    let sandbox = Sandbox::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/queue");
    for (path, text) in crate::shop::files(std::path::Path::new(example)) {
        if !path.contains("stages-out") {
            sandbox.write(format!("examples/queue/{path}"), text);
        }
    }
    let agent = sandbox.read("examples/queue/agent.sh");
    sandbox.script("examples/queue/agent.sh", &agent).git_init();
    let refused = sandbox.glee(&[
        "-C",
        "examples/queue",
        "consensus",
        "run",
        "pipeline.yml",
        "--id",
        "retries",
    ]);
    assert_eq!(refused.code, 8, "{refused}");
    let page = include_str!("../../docs/consensus.md");
    let hash = page
        .split("--trust ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next())
        .expect("the command");
    let args = [
        "-C",
        "examples/queue",
        "consensus",
        "run",
        "pipeline.yml",
        "--id",
        "retries",
        "--trust",
        hash,
    ];
    let output = sandbox.glee(&args);
    assert_eq!(output.code, 0, "{output}");
    insta::assert_snapshot!(output.stdout);
}

#[cfg(unix)]
#[test]
fn a_deadlock_is_ended_at_the_terminal() {
    use crate::support::pty::Pty;
    let mut sandbox = table();
    sandbox.env("TERM", "xterm-256color");
    says(&sandbox, "g", "aggregate", CONFLICT);
    says(&sandbox, "j", "arbitrate", &decision("a", "low"));
    let mut pty = Pty::open(
        &sandbox,
        &[
            "consensus",
            "ask",
            "Plan it",
            "--stage",
            "plan",
            "--id",
            "S1",
        ],
    );
    pty.expect("Deadlock in stage plan")
        .expect("The arbiter prefers a")
        .expect("Your decision?");
    pty.pick(1)
        .expect("Reason")
        .send("cheaper\r")
        .expect("a person decided: b");
    assert_eq!(pty.end().0, 0);
    assert_eq!(
        file(&sandbox, "synthesis")["arbiter_decision"]["rationale"],
        "cheaper"
    );

    // A question is left open and later answered.
    says(&sandbox, "c", "stage", &POSITION.replace("table", "tree"));
    let ask = [
        "consensus",
        "ask",
        "Plan it",
        "--stage",
        "plan",
        "--id",
        "S1",
        "--fresh",
    ];
    let mut pty = Pty::open(&sandbox, &ask);
    pty.expect("Your decision?")
        .until_it_reads()
        .send("\u{1b}")
        .expect("left open");
    assert_eq!(pty.end().0, 3);
    let mut pty = Pty::open(&sandbox, &["consensus", "resolve", "S1"]);
    pty.expect("Your decision?")
        .pick(3)
        .expect("Reason")
        .send("both\r")
        .expect("hybrid");
    assert_eq!(pty.end().0, 0);
}

#[cfg(unix)]
#[test]
fn a_question_is_answered_at_the_terminal() {
    use crate::support::pty::Pty;
    let mut sandbox = table();
    sandbox.env("TERM", "xterm-256color");
    answers(
        &sandbox,
        [Some("SQLite"), Some("PostgreSQL"), Some("SQLite")],
    );
    validates(&sandbox, false);
    sandbox.write("q.yml", QUESTIONS);
    let mut pty = Pty::open(
        &sandbox,
        &["gate", "post-plan", "--questions", "q.yml", "--id", "S1"],
    );
    pty.expect("The validator does not agree with the majority")
        .expect("Your answer?");
    pty.pick(1)
        .expect("Reason")
        .send("\r")
        .expect("db: PostgreSQL (a person");
    assert_eq!(pty.end().0, 0);
}

#[test]
fn a_stage_brings_its_checkpoints_and_its_template() {
    let sandbox = table();
    answers(&sandbox, [Some("SQLite"); 3]);
    sandbox.write(".glee/stages/q.yml", QUESTIONS);
    let gates = "gates:\n  - {gate: post-plan, questions: q.yml}\n";
    sandbox.write(
        ".glee/stages/plan.yml",
        format!("prompt: 'Plan {{{{ id }}}}.'\nrequired_fields: [steps]\n{gates}"),
    );
    sandbox.write("p.yml", "prompt: Build it.\nstages: [plan]\n");
    let output = sandbox.glee(&[
        "consensus",
        "run",
        "p.yml",
        "--id",
        "S1",
        "--format",
        "json",
    ]);
    assert_eq!(output.code, 0, "{output}");
    let outcomes = json(&output.stdout);
    assert_eq!(
        (&outcomes[0]["stage"], &outcomes[1]["stage"]),
        (&"plan".into(), &"post-plan".into())
    );
    let prompts = kept(&sandbox.state(), "position.a.1.prompt").expect("the prompt is kept");
    assert!(prompts.contains("Plan S1."), "{prompts}");

    sandbox.write(".glee/stages/plan.yml", "prompt: 'Plan {{ it }}.'\n");
    let wrong = sandbox.glee(&["consensus", "ask", "x", "--stage", "plan"]);
    assert_eq!(wrong.code, 2, "{wrong}");
    assert!(wrong.stderr.contains("`prompt` of stage plan:1"), "{wrong}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_it_and_the_same_command_carries_it_on() {
    let sandbox = table();
    says(&sandbox, "b", "stage", "hang");
    let args = [
        "consensus",
        "ask",
        "Plan the queue",
        "--stage",
        "plan",
        "--id",
        "S1",
    ];
    let mut command = sandbox.command(&args);
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let begun = std::time::Instant::now();
    let listed = || json(&sandbox.glee(&["consensus", "--json"]).stdout);
    while listed()[0]["spent"]["calls"] != 2 {
        assert!(begun.elapsed().as_secs() < 60, "it never came so far");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("it runs");
    assert_eq!(child.wait().expect("it is a child").code(), Some(130));
    says(&sandbox, "b", "stage", POSITION);
    assert_eq!(
        came(&ask(&sandbox)),
        (0, "ok".into(), 4.into()),
        "two answers are kept"
    );
}

#[test]
fn a_budget_holds_it_up_and_more_carries_it_on() {
    let mut sandbox = table();
    sandbox.env("GLEE_BUDGET_CALLS", "2");
    let short = ask(&sandbox);
    assert_eq!(short.code, 75, "{short}");
    assert_eq!(json(&short.stdout)["spent"]["calls"], 2);
    assert!(
        short.stdout.contains("`budget.calls` is used up"),
        "{short}"
    );
    sandbox.env("GLEE_BUDGET_CALLS", "9");
    assert_eq!(
        came(&ask(&sandbox)),
        (0, "ok".into(), 4.into()),
        "two answers are kept"
    );
}

#[test]
fn a_secret_reaches_no_agent_and_no_file_and_what_was_asked_is_still_known() {
    let sandbox = table();
    let secret = format!("AKIA{}", "Z7VK2QLM3XW5TRNB");
    says(&sandbox, "b", "stage", "hang");
    let prompt = format!("Use the key {secret}");
    let args = [
        "consensus",
        "ask",
        &prompt,
        "--stage",
        "plan",
        "--id",
        "S1",
        "--format",
        "json",
    ];
    let mut limited = sandbox.command(&args);
    let stopped = limited
        .env("GLEE_BUDGET_DURATION", "2s")
        .output()
        .expect("it runs");
    assert_eq!(stopped.status.code(), Some(75));
    says(&sandbox, "b", "stage", POSITION);
    assert_eq!(
        came(&sandbox.glee(&args)),
        (0, "ok".into(), 4.into()),
        "it is carried on"
    );
    let prompt = kept(&sandbox.state(), "position.a.1.prompt").expect("the prompt is kept");
    assert!(
        !prompt.contains(&secret) && prompt.contains("[secret:"),
        "{prompt}"
    );
}
