//! Decides a question of a checkpoint from the answers of the agents (specification `seed 002`, section 4).

use crate::domain::{
    AgentName, Certainty, Opinion, Question, QuestionAnswer, Resolution, Settler, Validation, fold,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tally {
    Unanimous(Opinion),
    /// The opinion of more than half of the agents, followed by all other opinions.
    Majority(Opinion, Vec<Opinion>),
    Split(Vec<Opinion>),
}

/// `asked` is the number of agents that received the question, including agents that did not answer.
pub fn tally(question: &Question, answers: &[(AgentName, &QuestionAnswer)], asked: usize) -> Tally {
    let mut opinions: Vec<(String, Opinion)> = Vec::new();
    for (name, given) in answers {
        let Some(key) = key(question, given.answer.as_written()) else {
            continue;
        };
        match opinions.iter_mut().find(|(known, _)| *known == key) {
            Some((_, opinion)) => {
                opinion.by.push(name.clone());
                opinion.reasons.push(given.reason.clone());
            }
            None => {
                let option = question
                    .options
                    .iter()
                    .find(|option| normalised(option) == key);
                let answer =
                    option.map_or_else(|| given.answer.trimmed(), |option| option.as_str().into());
                let opinion = Opinion {
                    answer,
                    by: vec![name.clone()],
                    reasons: vec![given.reason.clone()],
                };
                opinions.push((key, opinion));
            }
        }
    }
    let mut opinions: Vec<Opinion> = opinions.into_iter().map(|(_, opinion)| opinion).collect();
    // The sort is stable, so answers with the same number of votes keep their order.
    opinions.sort_by_key(|opinion| std::cmp::Reverse(opinion.by.len()));
    match opinions.first().map_or(0, |opinion| opinion.by.len()) {
        votes if votes * 2 > asked => {
            let others = opinions.split_off(1);
            let first = opinions.remove(0);
            if votes == asked {
                Tally::Unanimous(first)
            } else {
                Tally::Majority(first, others)
            }
        }
        _ => Tally::Split(opinions),
    }
}

/// Normalises an answer. Returns `None` for a blank answer, and for an answer outside the options of the
/// question.
fn key(question: &Question, answer: &str) -> Option<String> {
    let key = normalised(answer);
    let allowed = question.options.is_empty()
        || question
            .options
            .iter()
            .any(|option| normalised(option) == key);
    (!key.is_empty() && allowed).then_some(key)
}

fn normalised(text: &str) -> String {
    fold(&text.to_lowercase())
        .trim_matches(|c: char| c.is_ascii_punctuation() || c.is_whitespace())
        .to_owned()
}

/// Returns the resolution of a question, or `None` if a person must decide. `validated` contains the name of the
/// arbiter, and the arbiter's assessment of the majority's answer.
pub fn resolved(
    question: &Question,
    tally: &Tally,
    validated: Option<(&AgentName, &Validation)>,
) -> Option<Resolution> {
    let (opinion, by, confidence, reason) = match (tally, validated) {
        (Tally::Unanimous(opinion), _) => (
            opinion,
            Settler::Agents,
            Certainty::High,
            "all agents agree".into(),
        ),
        (Tally::Majority(opinion, _), Some((name, validation)))
            if validation.agrees_with_majority =>
        {
            (
                opinion,
                Settler::Arbiter { name: name.clone() },
                Certainty::Medium,
                validation.reasoning.clone(),
            )
        }
        (Tally::Majority(..) | Tally::Split(_), _) => return None,
    };
    Some(Resolution {
        question: question.id.clone(),
        answer: opinion.answer.clone(),
        by,
        confidence,
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(options: &[&str]) -> Question {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        Question {
            id: "q1".to_owned(),
            question: "Which?".to_owned(),
            options,
        }
    }

    fn answers(words: &[&str]) -> Vec<(AgentName, QuestionAnswer)> {
        words
            .iter()
            .enumerate()
            .map(|(index, word)| {
                let given = QuestionAnswer {
                    id: "q1".to_owned(),
                    answer: (*word).into(),
                    reason: "r".into(),
                };
                (AgentName(format!("a{index}")), given)
            })
            .collect()
    }

    fn tallied(options: &[&str], words: &[&str], asked: usize) -> String {
        let answers = answers(words);
        let answers: Vec<_> = answers
            .iter()
            .map(|(name, given)| (name.clone(), given))
            .collect();
        match tally(&question(options), &answers, asked) {
            Tally::Unanimous(opinion) => {
                format!("all {}", opinion.answer.as_written())
            }
            Tally::Majority(opinion, others) => {
                format!("most {} {}", opinion.answer.as_written(), others.len())
            }
            Tally::Split(opinions) => format!("split {}", opinions.len()),
        }
    }

    #[test]
    fn the_table_of_the_specification() {
        for (words, asked, expected) in [
            (&["yes", "Yes.", " yes "][..], 3, "all yes"),
            (&["yes", "yes", "no"], 3, "most yes 1"),
            (&["no", "yes", "YES"], 3, "most yes 1"),
            (&["yes", "no", "maybe"], 3, "split 3"),
            (&["yes", "yes"], 3, "most yes 0"),
            (&["yes"], 3, "split 1"),
            (&[], 3, "split 0"),
            (&["", "  ", "..."], 3, "split 0"),
            (&["yes", "yes", "no", "no"], 4, "split 2"),
            (&["yes", "yes", "yes", "no"], 4, "most yes 1"),
            (&["yes", "yes", "no", "no", "yes"], 5, "most yes 1"),
        ] {
            assert_eq!(tallied(&[], words, asked), expected, "{words:?} of {asked}");
        }
    }

    #[test]
    fn declared_options_are_the_only_answers() {
        let options = ["PostgreSQL", "SQLite"];
        assert_eq!(
            tallied(&options, &["postgresql", "`PostgreSQL`", "POSTGRESQL"], 3),
            "all PostgreSQL"
        );
        assert_eq!(
            tallied(&options, &["sqlite", "sqlite", "MySQL"], 3),
            "most SQLite 0"
        );
        assert_eq!(
            tallied(&options, &["MySQL", "MySQL", "MySQL"], 3),
            "split 0"
        );
    }

    #[test]
    fn only_a_validated_majority_holds() {
        let given = answers(&["yes", "yes", "no"]);
        let name = AgentName::from("v");
        let given: Vec<_> = given
            .iter()
            .map(|(name, given)| (name.clone(), given))
            .collect();
        let question = question(&[]);
        let validation = |agrees_with_majority| Validation {
            agrees_with_majority,
            reasoning: "because".into(),
        };
        let most = tally(&question, &given, 3);
        assert_eq!(resolved(&question, &most, None), None);
        assert_eq!(
            resolved(&question, &most, Some((&name, &validation(false)))),
            None
        );
        let resolution =
            resolved(&question, &most, Some((&name, &validation(true)))).expect("it holds");
        assert_eq!(resolution.by, Settler::Arbiter { name: name.clone() });
        assert_eq!(
            (resolution.confidence, resolution.answer.as_written()),
            (Certainty::Medium, "yes")
        );
        let all = tally(&question, &given[..2], 2);
        let resolution = resolved(&question, &all, None).expect("it holds");
        assert_eq!(
            (resolution.by, resolution.confidence),
            (Settler::Agents, Certainty::High)
        );
        let split = tally(&question, &given, 6);
        assert_eq!(
            resolved(&question, &split, Some((&name, &validation(true)))),
            None
        );
    }
}
