//! `--format json`: formats the outcome as one JSON object that conforms to the schema `docs/schema/outcome.json`.
//! `--format jsonl`: formats each event as one line of JSON.

use serde::Serialize;

use glee_protocol::text::printable;

pub fn pretty<T: Serialize + ?Sized>(value: &T) -> String {
    let text = serde_json::to_string_pretty(value)
        .expect("an output value has string keys only and serializes");
    printable::json(text) + "\n"
}

pub fn line<T: Serialize + ?Sized>(value: &T) -> String {
    let text =
        serde_json::to_string(value).expect("an output value has string keys only and serializes");
    printable::json(text) + "\n"
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::path::Path;

    use serde_json::Value;

    use super::*;
    use crate::cli::style::fixture::{clean, dispute, finding, ruling, settled};
    use glee_model::domain::{
        Answer, Disposition, DisputeNumber, FindingState, Outcome, RulingWord, Tag,
    };

    /// The published schema. As long as the version of the schema is the same, only optional fields are allowed
    /// to be added.
    const PUBLISHED: &str = include_str!("../../../../docs/schema/outcome.json");

    fn generated() -> Value {
        serde_json::to_value(schemars::schema_for!(Outcome)).unwrap()
    }

    fn full() -> Outcome {
        let mut outcome = clean();
        let raised = finding(1, Tag::High, "a.py:3", "A\u{9b}B");
        let mut disputed = dispute(4, raised.clone(), "no", &["a.py:1"]);
        disputed.rulings = vec![ruling(RulingWord::Dismiss, "so it is")];
        disputed.disposition = Some(Disposition::Deferred {
            reference: "#12".to_owned(),
        });
        let state = FindingState::Dismissed {
            dispute: DisputeNumber(4),
        };
        outcome.findings = vec![
            settled(raised, state, Some((Answer::Disagree, "no"))),
            settled(
                finding(2, Tag::Low, "", "B"),
                FindingState::AlreadyRuled {
                    dispute: DisputeNumber(1).into(),
                    disposition: Disposition::Refuted,
                },
                None,
            ),
        ];
        outcome.disputes = vec![disputed];
        outcome
    }

    #[test]
    fn reads_back_the_same_and_shows_no_control_character() {
        let json = pretty(&full());
        assert_eq!(
            json.chars()
                .find(|c| *c != '\n' && printable::is_unsafe(*c)),
            None
        );
        assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap(), full());
    }

    #[test]
    fn output_follows_the_published_schema() {
        let schema = jsonschema::validator_for(&serde_json::from_str(PUBLISHED).unwrap()).unwrap();
        for outcome in [clean(), full()] {
            let value: Value = serde_json::from_str(&pretty(&outcome)).unwrap();
            let errors: Vec<String> = schema
                .iter_errors(&value)
                .map(|error| error.to_string())
                .collect();
            assert_eq!(errors, Vec::<String>::new());
        }
        let mut broken: Value = serde_json::from_str(&pretty(&full())).unwrap();
        broken["findings"][0]["state"] = "approved".into();
        assert!(!schema.is_valid(&broken));
    }

    /// Run `UPDATE_SCHEMA=1 cargo test schema` to regenerate the schema.
    #[test]
    fn the_published_schema_is_the_one_of_the_code() {
        let generated = generated();
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema/outcome.json");
            std::fs::write(
                path,
                serde_json::to_string_pretty(&generated).unwrap() + "\n",
            )
            .unwrap();
        } else {
            assert_eq!(serde_json::from_str::<Value>(PUBLISHED).unwrap(), generated);
        }
    }
}
