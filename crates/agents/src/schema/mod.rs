//! The forms of answers for programs that hold a model to a JSON Schema. The schemas are published (see
//! [`forms`](glee_protocol::request::forms)): tests compare the copies in `docs/schema` with them. The only permitted
//! change of a published schema is a new optional field.

pub mod strict;

#[cfg(test)]
pub(crate) mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use crate::samples;
    use glee_protocol::calls::kind::JsonForm;
    use glee_protocol::request::forms;
    use serde_json::{Value, json};

    pub(crate) fn form(name: &str) -> JsonForm {
        forms().find(|form| form.name == name).unwrap()
    }

    fn valid(name: &str, value: &Value) -> bool {
        jsonschema::is_valid((form(name).schema)().as_value(), value)
    }

    #[test]
    fn the_published_copies_are_up_to_date() {
        for form in forms() {
            let name = form.name;
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                .join(format!("../../docs/schema/{name}.json"));
            let published: Value =
                serde_json::from_slice(&std::fs::read(&path).unwrap_or_default())
                    .unwrap_or_default();
            let current = (form.schema)().to_value();
            if std::env::var_os("UPDATE_SCHEMA").is_some() && published != current {
                let text =
                    serde_json::to_string_pretty(&(form.schema)()).expect("a schema is plain data");
                std::fs::write(&path, text + "\n").expect("the copy is written");
                continue;
            }
            assert!(
                published == current,
                "`just accept -E 'test(published)'` updates docs/schema/{name}.json"
            );
        }
    }

    #[test]
    fn the_request_fits_its_schema() {
        let agent = samples::agent("rev", "json", &["rev"]);
        for task in [samples::review(&agent).task, samples::dispute()] {
            let request = serde_json::to_value(samples::request(&agent, task)).unwrap();
            assert!(valid("request", &request), "{request}");
        }
    }

    #[test]
    fn spec_23_the_forms_of_a_debate_are_published() {
        let examined = |adjustment: i32| {
            json!({"nonce": "n", "responses": [{"finding_id": "a.rs:3:Leaks", "action": "partial",
                "confidence_adjustment": adjustment, "reasoning": "r",
                "new_observations": [{"severity": "LOW", "title": "t", "confidence": 60, "category": "bug"}]}]})
        };
        assert!(valid("examination", &examined(-30)));
        assert!(!valid("examination", &examined(31)));
        let defended = |action: &str| {
            json!({"nonce": "n", "defenses": [{"finding_id": "F1", "action": action, "reasoning": "r",
                "revised_severity": "low"}]})
        };
        assert!(valid("defence", &defended("modify")));
        assert!(!valid("defence", &defended("agree")));
    }

    #[test]
    fn answers_fit_their_schemas_and_broken_ones_do_not() {
        let good = [
            ("review", json!({"nonce": "n", "findings": []})),
            (
                "review",
                json!({"nonce": "n", "verdict": "blocker", "findings": [{"severity": "MUST", "title": "t",
                    "file": "a.rs", "line": 3, "confidence": 90, "evidence": ["e"]}]}),
            ),
            (
                "response",
                json!({"nonce": "n", "answers": [{"finding": "F1", "answer": "DISAGREE", "text": "because",
                    "evidence": ["a.rs:3"]}]}),
            ),
            (
                "ruling",
                json!({"nonce": "n", "dispute": 1, "ruling": "DISMISS", "rationale": "r",
                    "grounds": "factual_error", "citations": ["a.rs:3"]}),
            ),
            (
                "recheck",
                json!({"nonce": "n", "checks": [{"finding": "F1", "resolved": true, "reason": "r"}]}),
            ),
            (
                "comparison",
                json!({"nonce": "n", "comparisons": [{"finding": "F1", "answer": "SAME"}]}),
            ),
            (
                "same",
                json!({"nonce": "n", "pairs": [{"pair": "P1", "answer": "SAME", "reason": "r"}]}),
            ),
            (
                "peer",
                json!({"nonce": "n", "type": "review_result", "reviewer": "codex", "timestamp": "...", "payload": {
                    "verdict": "blocker", "summary": "s", "issues": [{"severity": "high", "description": "d"}]}}),
            ),
        ];
        for (form, value) in good {
            assert!(valid(form, &value), "{form} {value}");
        }
        let bad = [
            ("review", json!({"findings": []})),
            (
                "review",
                json!({"nonce": "n", "findings": [{"severity": "MUST", "title": "t", "confidence": 101}]}),
            ),
            (
                "response",
                json!({"nonce": "n", "answers": [{"finding": "F1", "answer": "MAYBE", "text": ""}]}),
            ),
            (
                "ruling",
                json!({"nonce": "n", "dispute": 1, "ruling": "PERHAPS"}),
            ),
            (
                "recheck",
                json!({"nonce": "n", "checks": [{"finding": "F1"}]}),
            ),
            (
                "comparison",
                json!({"nonce": "n", "comparisons": [{"finding": "F1"}]}),
            ),
            (
                "same",
                json!({"nonce": "n", "pairs": [{"pair": "F1", "answer": "SAME"}]}),
            ),
            (
                "peer",
                json!({"nonce": "n", "type": "review_result", "reviewer": "codex", "payload": {
                    "verdict": "no blocker", "summary": "s", "issues": []}}),
            ),
            (
                "peer",
                json!({"nonce": "n", "type": "review_request", "reviewer": "codex", "payload": {
                "verdict": "approved", "summary": "s", "issues": []}}),
            ),
        ];
        for (form, value) in bad {
            assert!(!valid(form, &value), "{form} {value}");
        }
    }
}
