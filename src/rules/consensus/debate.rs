//! Phase 5.5: what cross-examination and defence do to a finding.
//!
//! A missing answer is never agreement: it adds nothing, and is named.

pub use crate::domain::{DefenceWord, ExaminationWord};

use std::collections::{BTreeSet, HashSet};

use crate::rules::consensus::claim::{Claim, Level};
use crate::rules::consensus::similarity::vectors;

/// The largest adjustment of a confidence that one answer may ask for.
const LARGEST: i32 = 30;

/// What a reviewer says of another one's finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examination {
    pub by: String,
    pub finding: String,
    pub word: ExaminationWord,
    /// How much the confidence is to change, clamped to 30 either way.
    pub adjustment: i32,
    pub reasoning: String,
}

/// What a reviewer says of its own challenged finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defence {
    pub by: String,
    pub finding: String,
    pub word: DefenceWord,
    /// How much the confidence is to change, clamped to 30 either way; counts with `modify`.
    pub adjustment: i32,
    pub reasoning: String,
    pub revised_severity: Option<Level>,
    pub revised_description: Option<String>,
}

/// What rounds 2 and 3 brought; empty without a debate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Debate {
    /// All reviewers that took part, also those who raised nothing; those of the claims are added.
    pub reviewers: Vec<String>,
    /// The answers of round 2.
    pub examinations: Vec<Examination>,
    /// The answers of round 3.
    pub defences: Vec<Defence>,
    /// Who did not answer in a round they were asked in.
    pub silent: Vec<String>,
}

/// The debate about one group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effect<'a> {
    /// One answer a reviewer, of those who did not raise it themselves first.
    pub(crate) examinations: Vec<&'a Examination>,
    pub(crate) defence: Option<&'a Defence>,
    /// Raisers that withdrew while others did not.
    pub(crate) withdrew: Vec<&'a str>,
}

/// The debate by claim, so that each group finds its part at once.
pub(crate) struct Index<'a> {
    examinations: std::collections::HashMap<&'a str, Vec<&'a Examination>>,
    defences: std::collections::HashMap<&'a str, Vec<&'a Defence>>,
}

impl<'a> Index<'a> {
    pub(crate) fn of(debate: &'a Debate) -> Self {
        let mut index =
            Self { examinations: std::collections::HashMap::new(), defences: std::collections::HashMap::new() };
        for examination in &debate.examinations {
            index.examinations.entry(&examination.finding).or_default().push(examination);
        }
        for defence in &debate.defences {
            index.defences.entry(&defence.finding).or_default().push(defence);
        }
        index
    }

    /// What was said about a group's claims. A reviewer counts once a group; nobody examines its own claim, and only
    /// who raised a claim defends it.
    pub(crate) fn effect(&self, members: &[&'a Claim]) -> Effect<'a> {
        let mut effect = Effect::default();
        let mut defences: Vec<&'a Defence> = Vec::new();
        for claim in members {
            for said in self.examinations.get(claim.id.as_str()).into_iter().flatten() {
                let again = effect.examinations.iter().any(|other| other.by == said.by);
                if said.by != claim.model && !again {
                    effect.examinations.push(said);
                }
            }
            let own =
                self.defences.get(claim.id.as_str()).into_iter().flatten().find(|said| said.by == claim.model);
            defences.extend(own.copied());
        }
        effect.examinations.sort_by(|a, b| a.by.cmp(&b.by));
        let stands = defences.iter().find(|said| said.word != DefenceWord::Concede);
        let silent = members.len() > defences.len();
        effect.defence = match stands {
            Some(stands) => Some(stands),
            // Who does not answer defends implicitly.
            None if silent => None,
            None => defences.first().copied(),
        };
        if stands.is_some() || silent {
            let conceded = defences.iter().filter(|said| said.word == DefenceWord::Concede);
            effect.withdrew = conceded.map(|said| said.by.as_str()).collect();
        }
        effect
    }
}

impl Effect<'_> {
    pub(crate) fn agreements(&self) -> usize {
        self.examinations.iter().filter(|said| said.word != ExaminationWord::Disagree).count()
    }

    pub(crate) fn disagreements(&self) -> usize {
        self.examinations.len() - self.agreements()
    }

    /// The sum of what round 2 asks for.
    pub(crate) fn adjustments(&self) -> i32 {
        self.examinations.iter().map(|said| said.adjustment.clamp(-LARGEST, LARGEST)).sum()
    }

    /// The boost of the cross-examination.
    pub(crate) fn cross_examination(&self) -> i32 {
        match (self.agreements(), self.disagreements()) {
            (2.., _) => 15,
            (1, 0) => 5,
            (_, 2..) => -20,
            (_, 1) => -10,
            (0, 0) => 0,
        }
    }

    /// The boost of the defence.
    pub(crate) fn defended(&self) -> i32 {
        match self.defence {
            Some(said) => match said.word {
                DefenceWord::Defend if is_substantive(&said.reasoning) => 10,
                DefenceWord::Defend => 0,
                DefenceWord::Concede => -25,
                DefenceWord::Modify => said.adjustment.clamp(-LARGEST, LARGEST),
            },
            None => 0,
        }
    }

    pub(crate) fn is_conceded(&self) -> bool {
        self.defence.is_some_and(|said| said.word == DefenceWord::Concede)
    }

    /// Withdrawn by its raiser, and nobody else supports it.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.is_conceded() && self.cross_examination() <= -10
    }

    /// Whether somebody disagrees with reasons and the raiser has neither conceded nor revised it.
    pub(crate) fn is_contested(&self) -> bool {
        let against =
            |said: &&Examination| said.word == ExaminationWord::Disagree && is_substantive(&said.reasoning);
        let gave_way = self.defence.is_some_and(|said| said.word != DefenceWord::Defend);
        self.examinations.iter().any(against) && !gave_way
    }
}

/// Whether reasoning names code or a line.
pub(crate) fn is_substantive(reasoning: &str) -> bool {
    let has_line = |text: &str, mark: &str| {
        text.match_indices(mark)
            .any(|(at, _)| text[at + mark.len()..].trim_start().starts_with(|c: char| c.is_ascii_digit()))
    };
    let lower = reasoning.to_lowercase();
    vectors::names_code(reasoning)
        || has_line(&lower, "line ")
        || has_line(&lower, "lines ")
        || has_line(&lower, ":")
}

pub(crate) fn reviewers<'a>(claims: &'a [Claim], debate: &'a Debate) -> BTreeSet<&'a str> {
    // A tree sorts all it is built from; few of many claims bring a new name.
    let mut names: HashSet<&str> = claims.iter().map(|claim| claim.model.as_str()).collect();
    names.extend(debate.reviewers.iter().map(String::as_str));
    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examination(by: &str, word: ExaminationWord, adjustment: i32) -> Examination {
        Examination { by: by.into(), finding: "f".into(), word, adjustment, reasoning: "see `load`".into() }
    }

    #[test]
    fn the_table_of_cross_examination() {
        use ExaminationWord::{Agree, Disagree, Partial};
        let rows: [(&[ExaminationWord], i32); 9] = [
            (&[], 0),
            (&[Agree], 5),
            (&[Partial], 5),
            (&[Agree, Partial], 15),
            (&[Agree, Agree, Disagree, Disagree], 15),
            (&[Agree, Disagree], -10),
            (&[Disagree], -10),
            (&[Disagree, Disagree], -20),
            (&[Agree, Disagree, Disagree], -20),
        ];
        for (words, expected) in rows {
            let said: Vec<_> = words.iter().map(|word| examination("x", *word, 0)).collect();
            let effect = Effect { examinations: said.iter().collect(), ..Effect::default() };
            assert_eq!(effect.cross_examination(), expected, "{words:?}");
        }
    }

    #[test]
    fn the_table_of_defences() {
        use DefenceWord::{Concede, Defend, Modify};
        let rows = [
            (Defend, "`open` is never closed", 3, 10),
            (Defend, "the handle leaks on line 14", 3, 10),
            (Defend, "src/a.py:14 leaks", 3, 10),
            (Defend, "I am sure of it", 3, 0),
            (Concede, "you are right", 3, -25),
            (Modify, "", 12, 12),
            (Modify, "", -99, -30),
        ];
        for (word, reasoning, adjustment, expected) in rows {
            let said = Defence {
                by: "a".into(),
                finding: "f".into(),
                word,
                adjustment,
                reasoning: reasoning.into(),
                revised_severity: None,
                revised_description: None,
            };
            let effect = Effect { defence: Some(&said), ..Effect::default() };
            assert_eq!(effect.defended(), expected, "{word:?} {reasoning}");
        }
    }

    #[test]
    fn an_adjustment_counts_thirty_at_most() {
        let said = [examination("a", ExaminationWord::Agree, 99), examination("b", ExaminationWord::Agree, -50)];
        let effect = Effect { examinations: said.iter().collect(), ..Effect::default() };
        assert_eq!(effect.adjustments(), 0);
    }

    #[test]
    fn nobody_examines_its_own_claim_or_defends_another_ones() {
        let claim = Claim { id: "f".into(), model: "a".into(), ..Claim::default() };
        let defence = Defence {
            by: "b".into(),
            finding: "f".into(),
            word: DefenceWord::Concede,
            adjustment: 0,
            reasoning: String::new(),
            revised_severity: None,
            revised_description: None,
        };
        let debate = Debate {
            examinations: vec![examination("a", ExaminationWord::Agree, 5)],
            defences: vec![defence],
            ..Debate::default()
        };
        let index = Index::of(&debate);
        let effect = index.effect(&[&claim]);
        assert!(effect.examinations.is_empty() && effect.defence.is_none());
    }
}
