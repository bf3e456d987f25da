//! Missing, partial and forged answers.

use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{Adapter, DONE, Kind, OBJECTION, REVIEW, RULING, Scene, emit, outcome};

const WRONG: &str = "00000000000000000000000000000000";

pub(crate) fn add(cases: &mut Cases) {
    const ROW: &str = "answers that are none";
    let wrong = |text: &str| text.replace("{nonce}", WRONG);
    let unclosed = |text: &str| text.lines().next().unwrap_or_default().to_owned() + "\n";
    let bad: Vec<(&str, String)> = vec![
        ("nothing", String::new()),
        ("blank lines", "\n\n   \n".into()),
        (
            "an apology",
            "I am sorry, I cannot help with that.\n".into(),
        ),
        ("an error", "Error: the model did not answer\n".into()),
        (
            "half a JSON",
            "{\"findings\": [{\"severity\": \"MUST\", \"title\": \"x".into(),
        ),
        ("an empty JSON", "{}\n".into()),
        ("a JSON null", "null\n".into()),
        ("HTML", "<html><body>502 Bad Gateway</body></html>\n".into()),
        (
            "a bare closing word",
            "GLEE-REVIEW-END\nGLEE-RESPONSE-END\nGLEE-RULING\n".into(),
        ),
        ("a nonce alone", "{nonce}\n".into()),
    ];
    for adapter in Adapter::ALL {
        for (agent, task) in [("rev", "review"), ("fix", "respond"), ("jud", "judge")] {
            for (shape, text) in &bad {
                let text = text.clone();
                cases.add(
                    ROW,
                    format!("{} {agent} answers {shape}", adapter.word()),
                    move || {
                        let mut scene = Scene::new(Kind::Plain).through(adapter);
                        scene.play(agent, task, [emit(&text)]);
                        let output = scene.arbitrate();
                        // An empty answer is a failure of the reviewer or coder.
                        assert_eq!(output.code, 4, "{output}");
                    },
                );
            }
        }
        let reviews = [
            ("no closing line", unclosed(REVIEW)),
            ("a wrong nonce", wrong(REVIEW)),
            ("a wrong number", REVIEW.replace("findings=1", "findings=2")),
            ("an empty number", REVIEW.replace("findings=1", "findings=")),
            (
                "two closing lines that differ",
                REVIEW.to_owned() + "GLEE-REVIEW-END nonce={nonce} findings=0\n",
            ),
        ];
        for (shape, text) in reviews {
            cases.add(
                ROW,
                format!("{} a review with {shape}", adapter.word()),
                move || {
                    let mut scene = Scene::new(Kind::Plain).through(adapter);
                    scene.play("rev", "review", [emit(&text)]);
                    let output = scene.review();
                    assert!([1, 4].contains(&output.code), "{output}");
                    let status = outcome(&output)["proof"]["reviewers"][0]["status"].clone();
                    assert!(
                        status == "incomplete" || status == "not_reviewed",
                        "{status}: {output}"
                    );
                    assert_eq!(output.code, 4, "{output}");
                },
            );
        }
        let responses = [
            (
                "no answer to the finding",
                "GLEE-RESPONSE-END nonce={nonce} answers=0\n".to_owned(),
            ),
            ("an answer to another finding", DONE.replace("F1", "F7")),
            ("an unknown word", DONE.replace("IMPLEMENTED", "MAYBE")),
            ("IMPLEMENTED while nothing changed", DONE.to_owned()),
            (
                "DISCARDED on a mandatory finding, without a judge",
                OBJECTION.replace("DISAGREE", "DISCARDED"),
            ),
        ];
        for (shape, text) in responses {
            cases.add(
                ROW,
                format!("{} a response with {shape}", adapter.word()),
                move || {
                    let mut scene = Scene::new(Kind::Plain).through(adapter);
                    scene.play("fix", "respond", [emit(&text)]).play(
                        "jud",
                        "judge",
                        [Step::Exit(9)],
                    );
                    let output = scene.arbitrate();
                    assert_ne!(output.code, 0, "{output}");
                },
            );
        }
        let enforce = RULING.replace("DISMISS", "ENFORCE");
        let rulings = [
            ("no closing line", unclosed(RULING)),
            ("a wrong nonce", wrong(RULING)),
            (
                "two rulings",
                format!("{RULING}{}", enforce.lines().last().unwrap_or_default()),
            ),
            ("two that are the same word", format!("{RULING}{RULING}")),
            ("a wrong dispute", RULING.replace("{dispute}", "77")),
            ("no dispute", RULING.replace(" dispute={dispute}", "")),
            ("an unknown word", RULING.replace("DISMISS", "APPROVE")),
            ("no citation", RULING.replace("app.py:2", "the code")),
            (
                "a citation of no file",
                RULING.replace("app.py:2", "nowhere.py:2"),
            ),
            (
                "a citation of no line",
                RULING.replace("app.py:2", "app.py:999"),
            ),
            (
                "text after it",
                format!("{RULING}{}", "and so on\n".repeat(50)),
            ),
        ];
        for (shape, text) in rulings {
            cases.add(
                ROW,
                format!("{} a ruling with {shape}", adapter.word()),
                move || {
                    let mut scene = Scene::new(Kind::Plain).through(adapter);
                    scene.play("jud", "judge", [emit(&text)]);
                    let output = scene.arbitrate();
                    let dispute = outcome(&output)["disputes"][0].clone();
                    // A repeated answer may count as one; all others are not rulings.
                    let tolerated =
                        ["two that are the same word", "text after it"].contains(&shape);
                    assert!(tolerated || output.code != 0, "{output}");
                    assert!(tolerated || dispute["disposition"].is_null(), "{dispute}");
                },
            );
        }
    }
}
