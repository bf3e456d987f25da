//! Decides the result of a stage (specification `seed 002`, sections 2.2 and 3).

use crate::domain::{
    AgentName, Approach, Certainty, Decision, StageAnswer, StageStatus, StageVerdict, Synthesis,
};

/// The maximum number of calls to an agent in a stage. After an invalid answer, the prompt of the next call
/// describes the error.
pub const ATTEMPTS: u32 = 3;

/// The maximum number of calls to an arbiter. After a second invalid answer, a person must decide.
pub const ARBITER_ATTEMPTS: u32 = 2;

/// Returns the verdict on a stage. The status of the stage is `Conflict` if the aggregator reports a conflict. If
/// the aggregator reports no conflict, but a summary, an agent or a required field is missing, the status is
/// `Degraded`. If the aggregator reports no conflict and nothing is missing, the status is `Ok`.
pub fn verdict(
    synthesis: Option<&Synthesis>,
    answers: &[&StageAnswer],
    missing_agents: Vec<AgentName>,
) -> StageVerdict {
    let summary = synthesis.filter(|synthesis| !synthesis.summary.is_blank());
    let (agreements, mut conflicts) = synthesis
        .map(|synthesis| (synthesis.agreements.clone(), synthesis.conflicts.clone()))
        .unwrap_or_default();
    if conflicts.is_empty() && synthesis.is_some_and(|synthesis| synthesis.conflict) {
        conflicts.push("the aggregator reports a conflict without naming it".into());
    }
    let required_fields_ok = synthesis.is_some_and(|synthesis| synthesis.missing_fields.is_empty())
        && answers
            .iter()
            .all(|answer| answer.missing_fields.is_empty());
    let ok = summary.is_some()
        && conflicts.is_empty()
        && missing_agents.is_empty()
        && required_fields_ok;
    let status = match (ok, conflicts.is_empty()) {
        (true, _) => StageStatus::Ok,
        (false, false) => StageStatus::Conflict,
        (false, true) => StageStatus::Degraded,
    };
    StageVerdict {
        status,
        missing_agents,
        required_fields_ok,
        agreements,
        conflicts,
    }
}

/// Whether the next stage can use the result. The result must contain a summary, all required fields, and a
/// decision on every conflict. The result can be used even if agents are missing.
pub fn advances(verdict: &StageVerdict, synthesis: Option<&Synthesis>, decided: bool) -> bool {
    let usable = synthesis.is_some_and(|synthesis| !synthesis.summary.is_blank())
        && verdict.required_fields_ok;
    usable && (verdict.conflicts.is_empty() || decided)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arbitration<'a> {
    NoArbiter,
    Decided(&'a Decision),
    /// The reason why the arbiter failed or gave no valid answer.
    Unanswered(&'a str),
}

/// Returns the reason why a person must resolve a conflict, or `None` if the arbiter resolved the conflict.
pub fn deadlock(arbitration: &Arbitration<'_>) -> Option<String> {
    match arbitration {
        Arbitration::NoArbiter => Some("no arbiter is connected".to_owned()),
        Arbitration::Decided(Decision {
            confidence: Certainty::Low,
            ..
        }) => Some("the arbiter's confidence is low".to_owned()),
        Arbitration::Decided(_) => None,
        Arbitration::Unanswered(why) => Some(format!("the arbiter gave no valid decision: {why}")),
    }
}

/// Parses the name of an agent, the word `hybrid`, or a label. The label `approach_a` stands for the first agent
/// in `answered`, and `approach_b` stands for the second agent.
pub fn approach(word: &str, answered: &[AgentName]) -> Option<Approach> {
    let word = word.trim();
    if let Some(name) = answered
        .iter()
        .find(|name| name.0.eq_ignore_ascii_case(word))
    {
        return Some(Approach::Of(name.clone()));
    }
    let word = word.to_ascii_lowercase();
    if word == "hybrid" {
        return Some(Approach::Hybrid);
    }
    let letter = word.strip_prefix("approach_")?;
    (0..answered.len())
        .find(|index| label(*index) == letter)
        .map(|index| Approach::Of(answered[index].clone()))
}

/// Returns the label of an approach: a letter from `a` to `z` for the first 26 approaches, and a number such as
/// `27` for any further approach.
pub fn label(index: usize) -> String {
    ('a'..='z')
        .nth(index)
        .map_or_else(|| (index + 1).to_string(), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn synthesis(summary: &str, conflict: bool, conflicts: &[&str], missing: &[&str]) -> Synthesis {
        Synthesis {
            conflict,
            summary: summary.into(),
            conflicts: conflicts.iter().map(|text| (*text).into()).collect(),
            missing_fields: missing.iter().map(|field| (*field).to_owned()).collect(),
            ..Synthesis::default()
        }
    }

    fn answer(missing: &[&str]) -> StageAnswer {
        let missing_fields = missing.iter().map(|field| (*field).to_owned()).collect();
        StageAnswer {
            content: "{}".into(),
            json: true,
            missing_fields,
        }
    }

    #[test]
    fn the_table_of_verdicts() {
        use StageStatus::{Conflict, Degraded, Ok};
        let good = synthesis("s", false, &[], &[]);
        let whole = answer(&[]);
        let partial = answer(&["risks"]);
        let gone = || vec![AgentName::from("c")];
        for (synthesis, answers, missing, status, advance) in [
            (Some(good.clone()), vec![&whole, &whole], vec![], Ok, true),
            (Some(good.clone()), vec![&whole], gone(), Degraded, true),
            (
                Some(good.clone()),
                vec![&whole, &partial],
                vec![],
                Degraded,
                false,
            ),
            (
                Some(synthesis("s", false, &[], &["risks"])),
                vec![&whole],
                vec![],
                Degraded,
                false,
            ),
            (
                Some(synthesis(" \n", false, &[], &[])),
                vec![&whole],
                vec![],
                Degraded,
                false,
            ),
            (None, vec![&whole], vec![], Degraded, false),
            (None, vec![], gone(), Degraded, false),
            (
                Some(synthesis("s", false, &["x"], &[])),
                vec![&whole],
                vec![],
                Conflict,
                false,
            ),
            (
                Some(synthesis("s", true, &["x"], &[])),
                vec![&whole],
                vec![],
                Conflict,
                false,
            ),
            (
                Some(synthesis("s", true, &[], &[])),
                vec![&whole],
                vec![],
                Conflict,
                false,
            ),
            (
                Some(synthesis("", true, &["x"], &["risks"])),
                vec![&whole],
                gone(),
                Conflict,
                false,
            ),
        ] {
            let verdict = verdict(synthesis.as_ref(), &answers, missing);
            assert_eq!(verdict.status, status, "{synthesis:?}");
            assert_eq!(verdict.conflicts.is_empty(), status != Conflict);
            assert_eq!(
                advances(&verdict, synthesis.as_ref(), false),
                advance,
                "{synthesis:?}"
            );
        }
    }

    #[test]
    fn a_decided_conflict_goes_on_if_there_is_something_to_go_on_with() {
        let conflict = synthesis("s", true, &["x"], &[]);
        let verdict_of = |synthesis: &Synthesis| verdict(Some(synthesis), &[], vec![]);
        assert!(advances(&verdict_of(&conflict), Some(&conflict), true));
        let bare = synthesis("", true, &["x"], &[]);
        assert!(!advances(&verdict_of(&bare), Some(&bare), true));
    }

    #[test]
    fn the_table_of_deadlocks() {
        let decided = |confidence| Decision {
            decision: Approach::Hybrid,
            rationale: "r".into(),
            modifications: vec![],
            confidence,
        };
        let high = decided(Certainty::High);
        let medium = decided(Certainty::Medium);
        let low = decided(Certainty::Low);
        assert_eq!(deadlock(&Arbitration::Decided(&high)), None);
        assert_eq!(deadlock(&Arbitration::Decided(&medium)), None);
        assert!(deadlock(&Arbitration::Decided(&low)).is_some());
        assert!(deadlock(&Arbitration::NoArbiter).is_some());
        assert!(
            deadlock(&Arbitration::Unanswered("it hung"))
                .is_some_and(|why| why.contains("it hung"))
        );
    }

    #[test]
    fn approaches_are_named_by_letter_or_agent() {
        let names: Vec<AgentName> = ["claude", "gemini"].map(AgentName::from).to_vec();
        let of = |name: &str| Some(Approach::Of(name.into()));
        assert_eq!(approach("approach_a", &names), of("claude"));
        assert_eq!(approach(" Approach_B", &names), of("gemini"));
        assert_eq!(approach("GEMINI", &names), of("gemini"));
        assert_eq!(approach("Hybrid", &names), Some(Approach::Hybrid));
        for word in [
            "approach_c",
            "approach_",
            "",
            "both",
            "approach_a | approach_b | hybrid",
        ] {
            assert_eq!(approach(word, &names), None, "{word}");
        }
    }
}
