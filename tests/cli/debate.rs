//! Tests debates: confidence, category, and the answer of the debate arbitrator.

use serde_json::{Value, json};

use crate::support::Sandbox;

/// A project with `app.py` and these reviewers, shell scripts that have read their prompt into `$prompt`.
fn reviewed_by(reviewers: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write("app.py", "def load(text):\n    return eval(text)\n");
    sandbox.git(&["add", "app.py"]);
    sandbox.git(&["commit", "-q", "-m", "Add the app"]);
    for (name, script) in reviewers {
        sandbox.script(
            format!("{name}.sh"),
            &format!("#!/bin/sh\nprompt=$(cat)\n{script}"),
        );
        let command = format!("./{name}.sh");
        let connected = sandbox.glee(&[
            "connect",
            name,
            "--role",
            "reviewer",
            "--name",
            name,
            "--command",
            &command,
        ]);
        assert_eq!(connected.code, 0, "{connected}");
    }
    sandbox
}

fn merged(policy: &str, document: &Value) -> Value {
    let output = Sandbox::new().glee_with(&["merge", "--policy", policy], &document.to_string());
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output}");
    serde_json::from_str(&output.stdout).expect("JSON")
}

#[test]
fn spec_16_reviewers_are_asked_for_confidence_and_category_which_are_kept() {
    let sandbox = reviewed_by(&[(
        "lens",
        r#"printf '%s' "$prompt" | grep -q '(confidence 85, security, CWE-89)' || exit 1
echo "[MUST] app.py:2 Do not evaluate text (confidence 92, security)"
echo "[LOW] app.py:1 Name the text (it is one)"
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=2"
"#,
    )]);
    let output = sandbox.glee(&["review", "app.py", "--format", "json"]);
    assert_eq!(output.code, 1, "{output}");
    let outcome: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let said = |title: &str| {
        let findings = outcome["findings"].as_array().expect("a list").clone();
        let found = findings
            .into_iter()
            .find(|finding| finding["title"] == title);
        let found = found.unwrap_or_else(|| panic!("{title}: {outcome:#}"));
        (found["confidence"].clone(), found["category"].clone())
    };
    assert_eq!(said("Do not evaluate text"), (json!(92), json!("security")));
    assert_eq!(
        said("Name the text (it is one)"),
        (Value::Null, Value::Null),
        "what is not stated is absent"
    );
}

#[test]
fn spec_16_a_confidence_that_nobody_states_is_absent_and_said_to_be() {
    let finding = |severity| {
        json!({"findings": [{"model": "a", "file": "a.py", "line": 3, "severity": severity,
            "title": "SQL injection in `find`", "description": "When `name` holds a quote, `find` fails."}]})
    };
    for policy in ["panel", "specification"] {
        let answer = merged(policy, &finding("high"));
        let shown = &answer["findings"][0];
        assert_eq!(
            (&shown["confidence"], &shown["category"]),
            (&Value::Null, &Value::Null),
            "{policy}: {shown:#}"
        );
        let trail = &shown["cross_examination_trail"];
        assert_eq!(trail["round1"]["original_confidence"], Value::Null);
        let formula = trail["final_confidence_calculation"]
            .as_str()
            .expect("a formula");
        assert!(formula.starts_with("not stated"), "{formula}");
    }
    let answer = merged("specification", &finding("high"));
    assert!(
        answer.to_string().contains("no confidence stated"),
        "{answer:#}"
    );
    // Silence does not reach the 85 of rule 9, and the rule for critical claims below 70 requires a number.
    let critical = merged("specification", &finding("critical"));
    assert_eq!(critical["groups"][0]["class"], "disputed");
    assert!(
        !critical.to_string().contains("extraordinary claim"),
        "{critical:#}"
    );
}

#[test]
fn spec_19_support_in_round_2_corroborates_under_both_policies() {
    let document = json!({"reviewers": ["claude", "codex", "gemini"],
        "findings": [{"id": "x", "model": "claude", "severity": "medium", "confidence": 30, "title": "Could be better",
            "description": "The structure is odd.", "suggestion": "move it"}],
        "debate": [
            {"model": "codex", "round": 2, "responses": [{"finding_id": "x", "action": "agree", "reasoning": "yes"}]},
            {"model": "gemini", "round": 2, "responses": [{"finding_id": "x", "action": "partial", "reasoning": "so"}]}]});
    for policy in ["panel", "specification"] {
        let answer = merged(policy, &document);
        let why = answer["groups"][0]["why"].as_str().expect("a reason");
        assert!(!why.contains("uncorroborated"), "{policy}: {why}");
        assert_eq!(answer["debate_statistics"]["unique_findings_rejected"], 0);
    }
    let answer = merged("panel", &document);
    assert_eq!(
        answer["groups"][0]["why"],
        "raised by claude, confirmed by codex, gemini"
    );
    // A reviewer that disagrees confirms nothing.
    let mut split = document.clone();
    split["debate"][1]["responses"][0]["action"] = json!("disagree");
    let answer = merged("panel", &split);
    assert_eq!(
        answer["groups"][0]["why"],
        "raised by claude, confirmed by codex"
    );
}

#[test]
fn spec_19_the_report_names_who_raised_and_who_confirmed() {
    let silent = "echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n";
    let agrees = format!(
        "if [ \"$GLEE_TASK\" = examine ]; then echo '[F1] AGREE +5: line 2 does'\n\
         echo \"GLEE-EXAMINE-END nonce=$GLEE_NONCE answers=1\"; exit 0; fi\n{silent}"
    );
    let raises = "echo '[MUST] app.py:2 Do not evaluate text (confidence 80, security)'\n\
                  echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1\"\n";
    let sandbox = reviewed_by(&[("claude", raises), ("codex", &agrees), ("gemini", &agrees)]);
    let output = sandbox.glee(&["review", "app.py", "--debate"]);
    assert_eq!(output.code, 1, "{output}");
    assert!(
        output
            .stdout
            .contains("raised by claude, confirmed by codex and gemini"),
        "{output}"
    );
    assert!(!output.stdout.contains("1 of 3 reviewers"), "{output}");
}

/// A reviewer that raises nothing and answers each examination with `answer`.
fn examines(answer: &str) -> String {
    format!(
        "if [ \"$GLEE_TASK\" = examine ]; then echo '{answer}'\n\
         echo \"GLEE-EXAMINE-END nonce=$GLEE_NONCE answers=1\"; exit 0; fi\n\
         echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n"
    )
}

#[test]
fn who_disagrees_is_named_with_its_reason_and_moves_the_confidence_only_with_grounds() {
    let raises = "echo '[MUST] app.py:2 Do not evaluate text (confidence 80, security)'\n\
                  echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1\"\n";
    let debated = |two: &str, thr: &str| {
        let sandbox = reviewed_by(&[
            ("one", raises),
            ("two", &examines(two)),
            ("thr", &examines(thr)),
        ]);
        let shown = sandbox.glee(&["review", "app.py", "--debate=2"]);
        assert_eq!(shown.code, 1, "{shown}");
        let outcome = sandbox.glee(&["runs", "show", "--format", "json"]).stdout;
        let outcome: Value = serde_json::from_str(&outcome).expect("JSON");
        let text = shown.stdout.split_whitespace().collect::<Vec<_>>();
        (text.join(" "), outcome["findings"][0].clone(), sandbox)
    };

    let opinion = "[F1] DISAGREE -20: the text is trusted";
    let (text, finding, sandbox) = debated(opinion, opinion);
    assert!(
        text.contains("raised by one; thr and two disagree: the text is trusted"),
        "{text}"
    );
    for silence in ["confirmed it", "only one"] {
        assert!(!text.contains(silence), "{silence}: {text}");
    }
    assert_eq!(finding["confidence"], 80, "{finding:#}");
    let said = &finding["consensus"]["assessments"];
    assert_eq!(
        (&said[0]["action"], &said[0]["adjustment"]),
        (&json!("disagree"), &json!(0)),
        "{finding:#}"
    );
    let sarif = sandbox.glee(&["runs", "show", "--format", "sarif"]);
    assert!(sarif.stdout.contains("\"confidence\": 80"), "{sarif}");

    let (text, finding, sandbox) = debated(
        "[F1] AGREE +5: line 2 evaluates it",
        "[F1] AGREE +30: it is",
    );
    assert!(text.contains("confirmed by thr and two"), "{text}");
    assert_eq!(
        (
            &finding["confidence"],
            &finding["consensus"]["confidence"],
            &finding["consensus"]["formula"]
        ),
        (
            &json!(90),
            &json!(90),
            &json!("80 (original) + 5 (round 2 adjustments) + 5 (cross-examination) = 90")
        ),
        "one of the two agrees with grounds: {finding:#}"
    );
    assert!(text.contains("90% sure"), "{text}");
    let sarif = sandbox.glee(&["runs", "show", "--format", "sarif"]);
    assert!(sarif.stdout.contains("\"confidence\": 90"), "{sarif}");

    let (text, _, _) = debated(
        "[F1] DISAGREE -5: line 1 checks it",
        "[F1] AGREE +5: line 2 evaluates it",
    );
    assert!(text.contains("two disagrees: line 1 checks it"), "{text}");
}

#[test]
fn a_finding_that_a_reviewer_calls_its_own_in_other_words_is_one_finding_of_two() {
    let raises = |finding: &str, same: &str| {
        format!(
            "if [ \"$GLEE_TASK\" = examine ]; then\n\
             printf '%s' \"$prompt\" | grep -q 'Your own findings near those' || exit 1\n\
             echo \"[$GLEE_FINDINGS] {same}\"\n\
             echo \"GLEE-EXAMINE-END nonce=$GLEE_NONCE answers=1\"; exit 0; fi\n\
             echo '{finding}'; echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1\"\n"
        )
    };
    let sandbox = reviewed_by(&[
        (
            "one",
            &raises(
                "[MUST] app.py:2 Do not evaluate text",
                "AGREE +5: line 2 does",
            ),
        ),
        (
            "two",
            &raises(
                "[MUST] app.py:1 Whoever sends a number runs a program",
                "SAME F1: line 2 is what runs it",
            ),
        ),
    ]);
    let reviewed = sandbox.glee(&["review", "app.py", "--debate=2", "--format", "json"]);
    let outcome: Value = serde_json::from_str(&reviewed.stdout).expect("JSON");
    for finding in outcome["findings"].as_array().expect("a list") {
        let consensus = &finding["consensus"];
        assert_eq!(consensus["class"], "accepted", "{outcome:#}");
        let positions = consensus["positions"].as_array().map(Vec::len);
        assert_eq!(positions, Some(2), "one group of two: {outcome:#}");
    }
}

#[test]
fn spec_20_the_answer_says_why_and_what_to_do() {
    let finding = |id: &str,
                   model: &str,
                   line: u32,
                   severity: &str,
                   confidence: u32,
                   title: &str,
                   text: &str| {
        json!({"id": id, "model": model, "file": "a.py", "line": line, "severity": severity, "confidence": confidence,
            "title": title, "description": text})
    };
    let document = json!({"reviewers": ["claude", "codex", "gemini"],
        "findings": [
            finding("c", "claude", 3, "critical", 65, "SQL injection in `find`", "When `name` holds a quote, `find` fails."),
            finding("w", "codex", 90, "medium", 80, "Leaks the `handle`", "When `open` fails, the `handle` leaks."),
            {"id": "r", "model": "claude", "severity": "critical", "confidence": 20, "title": "Odd", "description": "It is odd."}],
        "debate": [
            {"model": "gemini", "round": 2, "responses": [
                {"finding_id": "w", "action": "disagree", "confidence_adjustment": -10, "reasoning": "`open` closes it",
                 "new_observations": [{"file": "a.py", "line": 200, "severity": "low", "confidence": 70,
                    "title": "`x` is never read", "description": "When `f` returns, `x` is lost."}]}]},
            {"model": "codex", "round": 3, "defenses": [{"finding_id": "w", "action": "concede", "reasoning": "right"}]}]});
    let answer = merged("specification", &document);
    let lists = &answer["consensus"];
    let disputed = &lists["disputed"][0];
    assert!(
        disputed["dispute_reason"]
            .as_str()
            .is_some_and(|why| why.contains("critical")),
        "{answer:#}"
    );
    assert!(
        disputed["notes"]
            .to_string()
            .contains("extraordinary claim"),
        "{disputed:#}"
    );
    let action = disputed["recommended_action"].as_str().expect("an action");
    assert!(
        action.starts_with("cause the described condition at a.py:3"),
        "{action}"
    );
    let rejected = lists["rejected"].as_array().expect("a list");
    let odd = rejected
        .iter()
        .find(|row| row["original_title"] == "Odd")
        .expect("rejected");
    assert!(
        odd["notes"].to_string().contains("extraordinary claim"),
        "{odd:#}"
    );
    for row in [disputed, odd] {
        let round2 = row["cross_examination_trail"]["round2"]
            .as_object()
            .expect("rows");
        assert_eq!(
            round2.keys().collect::<Vec<_>>(),
            ["claude", "codex", "gemini"],
            "every row is there"
        );
        assert_eq!(round2["codex"]["action"], "N/A");
    }
    assert_eq!(answer["debate_statistics"]["withdrawn"], 1, "{answer:#}");
    let findings = answer["findings"].as_array().expect("a list");
    let late = findings
        .iter()
        .find(|finding| finding["line"] == 200)
        .expect("observed in round 2");
    assert_eq!(late["source"], "round2_observation");
}

#[test]
fn spec_21_the_score_decides_what_confidence_changes_and_three_severities_have_a_median() {
    let alone = |confidence: u32| {
        let document = json!({"model": "a", "file": "a.py", "findings": [{"line": 3, "severity": "medium",
            "confidence": confidence, "title": "SQL injection in `find`", "description": "When `name` is empty, `find` fails."}]});
        merged("specification", &document)["findings"][0]["confidence"]
            .as_u64()
            .expect("a number")
    };
    assert_eq!(
        (alone(60), alone(59)),
        (55, 54),
        "the same score changes both by the same"
    );
    let of = |model: &str, severity: &str| {
        json!({"model": model, "file": "a.py", "line": 3, "severity": severity, "confidence": 80,
            "title": "SQL injection in `find`", "description": "When `name` holds a quote, `find` fails."})
    };
    let three = json!({"findings": [of("a", "critical"), of("b", "medium"), of("c", "medium")]});
    let answer = merged("specification", &three);
    assert_eq!(
        answer["consensus"]["accepted"][0]["agreement_level"], "unanimous",
        "{answer:#}"
    );
    assert_eq!(answer["findings"][0]["severity"], "medium");
}

#[test]
fn spec_22_asked_again_a_reviewer_is_told_the_parsers_error() {
    let again = |first: &str| {
        let script = format!(
            "if printf '%s' \"$prompt\" | grep -q 'asked again'; then\n\
             echo \"[LOW] app.py:1 told: $(printf '%s' \"$prompt\" | grep 'asked again, because')\"\n\
             echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1\"\n\
             else\n{first}\nfi\n"
        );
        let sandbox = reviewed_by(&[("lens", &script)]);
        let output = sandbox.glee(&["review", "app.py", "--format", "json"]);
        let outcome: Value = serde_json::from_str(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output}"));
        outcome["findings"][0]["title"]
            .as_str()
            .unwrap_or_else(|| panic!("{outcome:#}"))
            .to_owned()
    };
    let broken = "printf 'Here it is:\\n\\n{\"nonce\": \"%s\",\\n \"findings\": [\\n  {\"severity\": \"MUST\" \"title\": 1}]}\\n' \"$GLEE_NONCE\"";
    for (first, cause) in [
        (
            broken,
            "the JSON cannot be read: expected , or } at line 5 column 23",
        ),
        (
            "echo '[MUST] app.py:2 x'; echo 'GLEE-REVIEW-END nonce=other findings=1'",
            "has a different nonce than the request",
        ),
        (
            "[ $GLEE_TASK = close ] || { echo '[MUST] app.py:2 x'; echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=3\"; }",
            "announces 3; 1 finding was read",
        ),
        (
            "echo LGTM",
            "the closing line GLEE-REVIEW-END is missing; no finding was read",
        ),
        ("true", "the answer is empty"),
    ] {
        let told = again(first);
        assert!(told.contains(cause), "{first}: {told}");
        assert!(!told.contains("neither a finding"), "{told}");
    }
}

#[test]
fn spec_23_signals_of_the_lead_and_messages_without_a_model_are_no_errors() {
    let text = r#"{"model": "codex", "file": "a.py", "findings": [{"line": 3, "severity": "low", "confidence": 50, "title": "Leaks"}]}
        {"finding_id": "a.py:3:Leaks", "original_model": "codex", "action": "disagree", "confidence_adjustment": -5,
         "reasoning": "`x`", "new_observations": []}
        "ROUND 2 COMPLETE"
        {"finding_id": "a.py:3:Leaks", "action": "concede", "reasoning": "right"}
        {"type": "message", "recipient": "lead", "content": "Round 3 complete: 0 defended", "summary": "Debate round 3"}
        {"type": "message", "recipient": "lead", "summary": "one more",
         "content": "{\"finding_id\": \"a.py:3:Leaks\", \"model\": \"gemini\", \"action\": \"agree\"}"}
        "ROUND 3 COMPLETE""#;
    let output = Sandbox::new().glee_with(&["merge"], text);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output}");
    let answer: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let statistics = &answer["debate_statistics"];
    assert_eq!(statistics["round2_cross_examination"]["disagreements"], 1);
    assert_eq!(
        statistics["round2_cross_examination"]["responses_received"]["gemini"], 1,
        "what a message holds counts"
    );
    assert_eq!(statistics["total_findings_received"], 1);
    assert_eq!(
        statistics["round3_defense"]["defenses_received"],
        json!({"codex": 1}),
        "only who raised it defends it"
    );
}

/// A reviewer may refer to a finding by place and title, as the specification's messages do.
#[test]
fn spec_23_a_finding_is_called_by_its_place_and_title_live() {
    let raises = "echo '[MUST] app.py:2 Do not evaluate text (confidence 80, security)'\n\
                  echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1\"\n";
    let agrees = "if [ \"$GLEE_TASK\" = examine ]; then\n\
                  printf '{\"nonce\": \"%s\", \"responses\": [{\"finding_id\": \"app.py:2:Do not evaluate text\", \
                  \"action\": \"agree\", \"confidence_adjustment\": 5, \"reasoning\": \"line 2\"}]}\\n' \"$GLEE_NONCE\"\n\
                  exit 0; fi\necho \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n";
    let sandbox = reviewed_by(&[("claude", raises), ("codex", agrees)]);
    let output = sandbox.glee(&["review", "app.py", "--debate", "--format", "json"]);
    assert_eq!(output.code, 1, "{output}");
    let outcome: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(
        outcome["findings"][0]["consensus"]["confirmed_by"],
        json!(["codex"]),
        "{outcome:#}"
    );
}
