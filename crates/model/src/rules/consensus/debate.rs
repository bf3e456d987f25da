//! Computes how the cross-examination and the defence in a debate affect a finding (phase 5.5 of the
//! specification). A missing answer never counts as agreement.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::group::{Level, Member, Policy};
use super::similarity::vectors;
pub use crate::domain::{DefenceWord, ExaminationWord};

/// The maximum number of points by which one answer can raise or lower the confidence of a finding.
const LARGEST: i32 = 30;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examination {
    pub by: String,
    pub finding: String,
    pub word: ExaminationWord,
    /// The number of points by which the reviewer wants to change the confidence of the finding. Values beyond ±30
    /// count as ±30.
    pub adjustment: i32,
    pub reasoning: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defence {
    pub by: String,
    pub finding: String,
    pub word: DefenceWord,
    /// The number of points by which the reviewer wants to change the confidence. Glee ignores `adjustment` if
    /// `word` is not `Modify`.
    pub adjustment: i32,
    pub reasoning: String,
    pub revised_severity: Option<Level>,
    pub revised_description: Option<String>,
}

/// The answers of rounds 2 and 3 of a debate. Without a debate, all lists are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Debate {
    /// The names of the debate's participants. Every reviewer that raised a finding participates, even if
    /// `reviewers` does not contain the reviewer's name.
    pub reviewers: Vec<String>,
    pub examinations: Vec<Examination>,
    pub defences: Vec<Defence>,
    pub silent: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Effect<'a> {
    policy: Policy,
    pub examinations: Vec<&'a Examination>,
    pub defence: Option<&'a Defence>,
    pub(crate) withdrew: Vec<&'a str>,
}

#[derive(Default)]
pub(super) struct Index<'a> {
    policy: Policy,
    examinations: HashMap<&'a str, Vec<&'a Examination>>,
    defences: HashMap<&'a str, Vec<&'a Defence>>,
}

impl<'a> Index<'a> {
    pub(super) fn of(debate: &'a Debate, policy: Policy) -> Self {
        let mut index = Self {
            policy,
            ..Self::default()
        };
        for examination in &debate.examinations {
            index
                .examinations
                .entry(&examination.finding)
                .or_default()
                .push(examination);
        }
        for defence in &debate.defences {
            index
                .defences
                .entry(&defence.finding)
                .or_default()
                .push(defence);
        }
        index
    }

    /// Computes the effect of the debate on a group that consists of `members`. At most one examination by each
    /// reviewer is used. A reviewer can neither examine its own finding nor defend the finding of another
    /// reviewer.
    pub(super) fn effect(&self, members: &[&'a Member]) -> Effect<'a> {
        let mut effect = Effect {
            policy: self.policy,
            ..Effect::default()
        };
        let mut defences: Vec<&'a Defence> = Vec::new();
        for Member { id, model, .. } in members {
            for said in self.examinations.get(id.as_str()).into_iter().flatten() {
                let again = effect.examinations.iter().any(|other| other.by == said.by);
                // Who raised the problem as well agrees by that, and adds no further agreement.
                let is_raiser = self.policy == Policy::Panel
                    && said.word != ExaminationWord::Disagree
                    && members.iter().any(|member| member.model == said.by);
                if said.by != *model && !again && !is_raiser {
                    effect.examinations.push(said);
                }
            }
            defences.extend(
                self.defences
                    .get(id.as_str())
                    .into_iter()
                    .flatten()
                    .find(|said| said.by == *model),
            );
        }
        effect.examinations.sort_by(|a, b| a.by.cmp(&b.by));
        let maintained = defences
            .iter()
            .find(|said| said.word != DefenceWord::Concede)
            .copied();
        // If a reviewer gives no defence of its own finding, the finding counts as maintained.
        let silent = members.len() > defences.len();
        effect.defence = maintained.or_else(|| defences.first().copied().filter(|_| !silent));
        if maintained.is_some() || silent {
            let conceded = defences
                .iter()
                .filter(|said| said.word == DefenceWord::Concede);
            effect.withdrew = conceded.map(|said| said.by.as_str()).collect();
        }
        effect
    }
}

impl Effect<'_> {
    pub(super) fn agreements(&self) -> usize {
        self.examinations
            .iter()
            .filter(|said| said.word != ExaminationWord::Disagree)
            .count()
    }

    pub(super) fn disagreements(&self) -> usize {
        self.examinations.len() - self.agreements()
    }

    /// Returns the points by which an examination changes the confidence of the finding, as far as the answer counts.
    pub(super) fn adjustment(&self, said: &Examination) -> i32 {
        if self.counts(said) {
            said.adjustment.clamp(-LARGEST, LARGEST)
        } else {
            0
        }
    }

    pub(super) fn adjustments(&self) -> i32 {
        let examinations = self.examinations.iter();
        examinations.map(|said| self.adjustment(said)).sum()
    }

    /// Whether an examination moves the confidence. Under the policy `panel`, an agreement needs as much as a
    /// disagreement: its reasoning names a line or a piece of the code. Otherwise the answer is an opinion.
    fn counts(&self, said: &Examination) -> bool {
        match self.policy {
            Policy::Panel => is_substantive(&said.reasoning),
            Policy::Specification => true,
        }
    }

    pub(crate) fn cross_examination(&self) -> i32 {
        match self.policy {
            Policy::Panel => self.balance(),
            Policy::Specification => match (self.agreements(), self.disagreements()) {
                (2.., _) => 15,
                (1, 0) => 5,
                (_, 2..) => -20,
                (_, 1) => -10,
                (0, 0) => 0,
            },
        }
    }

    /// Returns the points of the policy `panel`. An agreement and a disagreement cancel each other.
    fn balance(&self) -> i32 {
        let mut balance = 0;
        for said in &self.examinations {
            if self.counts(said) {
                let is_against = said.word == ExaminationWord::Disagree;
                balance += if is_against { -1 } else { 1 };
            }
        }
        match balance {
            ..=-2 => -15,
            -1 => -5,
            0 => 0,
            1 => 5,
            2.. => 15,
        }
    }

    pub(super) fn defended(&self) -> i32 {
        self.defence.map_or(0, |said| match said.word {
            DefenceWord::Defend if is_substantive(&said.reasoning) => 10,
            DefenceWord::Defend => 0,
            DefenceWord::Concede => -25,
            DefenceWord::Modify => said.adjustment.clamp(-LARGEST, LARGEST),
        })
    }

    pub(crate) fn is_conceded(&self) -> bool {
        self.defence
            .is_some_and(|said| said.word == DefenceWord::Concede)
    }

    pub(super) fn is_withdrawn(&self) -> bool {
        let is_negative = match self.policy {
            // The raiser itself gives up the finding, so the others need no grounds.
            Policy::Panel => self.disagreements() > self.agreements(),
            Policy::Specification => self.cross_examination() <= -10,
        };
        self.is_conceded() && is_negative
    }

    pub(crate) fn is_contested(&self) -> bool {
        let gave_way = self
            .defence
            .is_some_and(|said| said.word != DefenceWord::Defend);
        self.examinations
            .iter()
            .any(|said| said.word == ExaminationWord::Disagree && is_substantive(&said.reasoning))
            && !gave_way
    }
}

pub(crate) fn is_substantive(reasoning: &str) -> bool {
    let lower = reasoning.to_lowercase();
    vectors::names_code(reasoning)
        || has_line(&lower, "line ")
        || has_line(&lower, "lines ")
        || has_line(&lower, ":")
}

fn has_line(text: &str, mark: &str) -> bool {
    text.match_indices(mark).any(|(at, _)| {
        text[at + mark.len()..]
            .trim_start()
            .starts_with(|c: char| c.is_ascii_digit())
    })
}

pub(super) fn reviewers<'a>(members: &'a [Member], debate: &'a Debate) -> BTreeSet<&'a str> {
    let mut names: HashSet<&str> = members.iter().map(|member| member.model.as_str()).collect();
    names.extend(debate.reviewers.iter().map(String::as_str));
    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examination(by: &str, word: ExaminationWord, adjustment: i32) -> Examination {
        Examination {
            by: by.into(),
            finding: "f".into(),
            word,
            adjustment,
            reasoning: "see `load`".into(),
        }
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
            let said: Vec<_> = words
                .iter()
                .map(|word| examination("x", *word, 0))
                .collect();
            let effect = Effect {
                policy: Policy::Specification,
                examinations: said.iter().collect(),
                ..Effect::default()
            };
            assert_eq!(effect.cross_examination(), expected, "{words:?}");
        }
    }

    #[test]
    fn under_the_policy_panel_agreement_needs_as_much_as_disagreement() {
        use ExaminationWord::{Agree, Disagree, Partial};
        let rows: [(&[(ExaminationWord, &str)], i32); 9] = [
            (&[(Agree, "line 4 does")], 5),
            (&[(Disagree, "line 4 checks it")], -5),
            (&[(Agree, "yes")], 0),
            (&[(Disagree, "no")], 0),
            (&[(Agree, "see `load`"), (Disagree, "see `load`")], 0),
            (&[(Agree, "see `load`"), (Disagree, "no")], 5),
            (&[(Partial, "line 4"), (Agree, "line 4")], 15),
            (&[(Disagree, "line 4"), (Disagree, "a.py:3")], -15),
            (&[(Disagree, "line 4"), (Disagree, "never")], -5),
        ];
        for (answers, expected) in rows {
            let said: Vec<_> = answers
                .iter()
                .map(|(word, reasoning)| Examination {
                    reasoning: (*reasoning).to_owned(),
                    ..examination("x", *word, 7)
                })
                .collect();
            let effect = Effect {
                policy: Policy::Panel,
                examinations: said.iter().collect(),
                ..Effect::default()
            };
            assert_eq!(effect.cross_examination(), expected, "{answers:?}");
            let grounded = said.iter().filter(|said| is_substantive(&said.reasoning));
            let adjusted = 7 * i32::try_from(grounded.count()).expect("few");
            assert_eq!(effect.adjustments(), adjusted, "{answers:?}");
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
            let effect = Effect {
                defence: Some(&said),
                ..Effect::default()
            };
            assert_eq!(effect.defended(), expected, "{word:?} {reasoning}");
        }
    }

    #[test]
    fn an_adjustment_counts_thirty_at_most() {
        let said = [
            examination("a", ExaminationWord::Agree, 99),
            examination("b", ExaminationWord::Agree, -50),
        ];
        let effect = Effect {
            examinations: said.iter().collect(),
            ..Effect::default()
        };
        assert_eq!(effect.adjustments(), 0);
    }

    #[test]
    fn nobody_examines_its_own_claim_or_defends_another_ones() {
        let member = Member {
            id: "f".into(),
            model: "a".into(),
            ..Member::default()
        };
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
        let index = Index::of(&debate, Policy::Panel);
        let effect = index.effect(&[&member]);
        assert!(effect.examinations.is_empty() && effect.defence.is_none());
    }
}
