//! Collects the votes on one group: which reviewers raised or denied the finding, and the results of the debate.

use std::collections::{BTreeSet, HashMap};

use super::debate::{Debate, Effect, Index, reviewers};
use super::evidence::{self, Evidence};
use super::group::{
    Agreement, ConflictKind, EvidenceChallenge, Group, GroupState, Level, Member, Policy,
};
use super::normalise::{self, NormalMember, vendor};
use super::similarity::vectors::Vectors;
use crate::domain::{AdvisoryStatus, AgentName, Assessment, Class, Confidence, ExaminationWord};
use crate::rules::parallel;

const UNLIKE: f32 = 0.1;

/// The minimum distance, in levels, between two severities that conflict.
const FAR: usize = 2;

/// The number of points by which a confirming security advisory raises the confidence.
const ADVISORY: i32 = 10;

pub(super) struct Votes<'a> {
    /// The members that report the problem, or all members if every member denies the problem. The first member
    /// represents the group.
    pub(crate) affirming: Vec<&'a NormalMember<'a>>,
    pub(crate) denying: Vec<&'a NormalMember<'a>>,
    pub evidence: Vec<Evidence>,
    pub effect: Effect<'a>,
    reviewers: usize,
    vendors: &'a HashMap<&'a str, String>,
    pub unlike: bool,
}

pub(crate) struct Voting<'a> {
    members: &'a [Member],
    index: Index<'a>,
    reviewers: usize,
    vendors: HashMap<&'a str, String>,
}

impl<'a> Voting<'a> {
    pub(super) fn of(members: &'a [Member], debate: &'a Debate, policy: Policy) -> Self {
        let reviewers = reviewers(members, debate);
        let vendors = reviewers.iter().map(|name| (*name, vendor(name))).collect();
        Self {
            members,
            index: Index::of(debate, policy),
            reviewers: reviewers.len(),
            vendors,
        }
    }

    pub(super) fn decide(
        &self,
        entries: &[NormalMember<'_>],
        vectors: &Vectors,
        groups: &[Vec<usize>],
        rule: impl Fn(&Votes<'_>) -> Group + Sync,
    ) -> Vec<Group> {
        parallel::each(groups, |group| {
            let pairs = group
                .iter()
                .enumerate()
                .flat_map(|(at, a)| group[at + 1..].iter().map(move |b| (*a, *b)));
            let unlike = group.len() > 1
                && pairs
                    .into_iter()
                    .all(|(a, b)| vectors.cosine(a, b) < UNLIKE);
            rule(&Votes {
                unlike,
                ..self.votes(group.iter().map(|at| &entries[*at]).collect())
            })
        })
    }

    pub(super) fn votes<'e>(&'e self, entries: Vec<&'e NormalMember<'e>>) -> Votes<'e> {
        let (mut denying, mut affirming): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.member.denies);
        if affirming.is_empty() {
            std::mem::swap(&mut denying, &mut affirming);
        }
        affirming.sort_by_key(|entry| {
            std::cmp::Reverse((entry.confidence, entry.member.description().len()))
        });
        let debated: Vec<&Member> = affirming
            .iter()
            .flat_map(|entry| std::iter::once(&entry.index).chain(&entry.repeats))
            .map(|index| &self.members[*index])
            .collect();
        Votes {
            evidence: affirming.iter().map(|entry| Evidence::of(entry)).collect(),
            effect: self.index.effect(&debated),
            affirming,
            denying,
            reviewers: self.reviewers,
            vendors: &self.vendors,
            unlike: false,
        }
    }
}

impl<'a> Votes<'a> {
    pub(super) fn lead(&self) -> &'a Member {
        self.affirming[0].member
    }

    pub(super) fn names(&self) -> Vec<&'a str> {
        self.affirming
            .iter()
            .map(|entry| entry.member.model.as_str())
            .collect()
    }

    pub(super) fn supporters(&self) -> Vec<&'a str> {
        let raisers = self.names();
        let support = self
            .effect
            .examinations
            .iter()
            .filter(|said| said.word != ExaminationWord::Disagree);
        support
            .map(|said| said.by.as_str())
            .filter(|by| !raisers.contains(by))
            .collect()
    }

    /// The reviewers that disagree in round 2 of the debate, with or without grounds.
    pub(crate) fn dissenting(&self) -> Vec<&'a str> {
        let examinations = self.effect.examinations.iter();
        examinations
            .filter(|said| said.word == ExaminationWord::Disagree)
            .map(|said| said.by.as_str())
            .collect()
    }

    /// Whether all members were first raised in round 2 of the debate.
    pub(super) fn is_observed(&self) -> bool {
        self.affirming.iter().all(|entry| entry.member.observed)
    }

    pub(super) fn state(&self) -> GroupState {
        let severities = || self.affirming.iter().map(|entry| entry.severity as usize);
        let apart = severities().max().unwrap_or(0) - severities().min().unwrap_or(0);
        if !self.denying.is_empty() {
            GroupState::Conflicted(ConflictKind::Validity)
        } else if self.affirming.len() == 1 {
            GroupState::Unique
        } else if apart >= FAR {
            GroupState::Conflicted(ConflictKind::Severity)
        } else if self.unlike {
            GroupState::Conflicted(ConflictKind::Cause)
        } else {
            GroupState::Agreed
        }
    }

    pub(super) fn severity(&self) -> Level {
        median(self.affirming.iter().map(|entry| entry.severity).collect())
    }

    /// Returns the severity for a disputed group: the highest severity among the members that report the
    /// problem.
    pub(crate) fn highest_severity(&self) -> Level {
        self.affirming
            .iter()
            .map(|entry| entry.severity)
            .max()
            .unwrap_or(Level::Medium)
    }

    pub(crate) fn highest_confidence(&self) -> Option<u8> {
        self.affirming
            .iter()
            .filter_map(|entry| entry.confidence)
            .max()
    }

    pub(crate) fn lowest_confidence(&self) -> Option<u8> {
        self.affirming
            .iter()
            .chain(&self.denying)
            .filter_map(|entry| entry.confidence)
            .min()
    }

    pub(crate) fn agreement_bonus(&self) -> i32 {
        i32::try_from(self.affirming.len())
            .unwrap_or(i32::MAX)
            .saturating_mul(5)
            .min(15)
    }

    fn vendor_of(&self, member: &'a Member) -> &'a str {
        let derived = || self.vendors.get(member.model.as_str()).map(String::as_str);
        member
            .vendor
            .as_deref()
            .or_else(derived)
            .unwrap_or(&member.model)
    }

    /// The vendors of the reviewers that affirm the group. The reviewers of one vendor count as one voice.
    fn voices(&self) -> BTreeSet<&'a str> {
        let affirming = self.affirming.iter();
        affirming
            .map(|entry| self.vendor_of(entry.member))
            .collect()
    }

    pub(super) fn shared_vendors(&self) -> Option<u32> {
        let voices = self.voices().len();
        (voices < self.affirming.len()).then(|| u32::try_from(voices).unwrap_or(u32::MAX))
    }

    /// Returns the points that the agreement of reviewers adds to the confidence. The first reviewer of a vendor
    /// adds 5 points, and every further reviewer of this vendor adds 2 points. The sum is at most 15 points.
    pub(crate) fn independent_bonus(&self) -> i32 {
        let mut vendors = BTreeSet::new();
        let points = self.affirming.iter().map(|entry| {
            if vendors.insert(self.vendor_of(entry.member)) {
                5
            } else {
                2
            }
        });
        points.sum::<i32>().min(15)
    }

    pub(super) fn agreement(&self) -> Agreement {
        match self.affirming.len() + self.supporters().len() {
            1 => Agreement::SingleSourceValidated,
            all if all >= self.reviewers => Agreement::Unanimous,
            _ => Agreement::Majority,
        }
    }

    /// Like [`Self::agreement`], but the reviewers of one vendor that raised the finding count as one voice.
    pub(super) fn agreement_of_vendors(&self) -> Agreement {
        if self.shared_vendors() == Some(1) && self.supporters().is_empty() {
            Agreement::SingleSourceValidated
        } else {
            self.agreement()
        }
    }

    pub(super) fn undecided(&self) -> Group {
        let all = || self.affirming.iter().chain(&self.denying);
        Group {
            members: all().map(|entry| entry.index).collect(),
            repeats: all().flat_map(|entry| entry.repeats.clone()).collect(),
            class: Class::Disputed,
            state: self.state(),
            vendors: self.shared_vendors(),
            agreement: None,
            severity: self.severity(),
            original_confidence: self.highest_confidence(),
            confidence: None,
            bonus: (0, ""),
            formula: String::new(),
            score: None,
            described_by: self.best(&|member| (false, member.description().len())),
            revised: self
                .effect
                .defence
                .and_then(|said| said.revised_description.clone()),
            suggested_by: self
                .best(&|member| (member.suggestion().contains('`'), member.suggestion().len())),
            notes: Vec::new(),
            why: String::new(),
            challenge: None,
            reversal: String::new(),
            action: None,
            withdrawn: self.effect.is_withdrawn(),
            advised: AdvisoryStatus::of(
                self.affirming
                    .iter()
                    .map(|entry| &entry.member.checked.advisory),
            ),
            supporters: self.supporters().into_iter().map(str::to_owned).collect(),
            assessments: self.assessments(),
            escalate: false,
        }
    }

    fn best(&self, key: &dyn Fn(&Member) -> (bool, usize)) -> usize {
        // `max_by_key` returns the last maximum, so the iterator is reversed to get the first maximum.
        let best = self
            .affirming
            .iter()
            .rev()
            .max_by_key(|entry| key(entry.member));
        best.map_or(0, |entry| entry.index)
    }

    pub(super) fn complete(&self, mut group: Group) -> Group {
        group.notes.extend(self.debate_notes());
        group.notes.extend(group.advised.note());
        if let Some(revised) = self.effect.defence.and_then(|said| said.revised_severity) {
            group.severity = revised;
        }
        if let AdvisoryStatus::Patched { .. } = group.advised {
            group.severity = group.severity.lower();
        }
        (group.confidence, group.formula) = self.confidence(&group);
        group.agreement = group.agreement.filter(|_| group.class == Class::Accepted);
        group.action = (group.class == Class::Disputed).then(|| self.action(group.state));
        group
    }

    fn debate_notes(&self) -> Vec<String> {
        let withdrew = self.effect.withdrew.iter();
        let mut notes: Vec<String> = withdrew
            .map(|name| format!("{name} withdrew it; others still support it"))
            .collect();
        if self.effect.is_conceded() {
            let others = self.effect.cross_examination() > 0;
            let others = if others {
                "; other reviewers still support it"
            } else {
                ""
            };
            notes.push(format!("{} conceded it{others}", self.lead().model));
        }
        notes
    }

    fn confidence(&self, group: &Group) -> (Option<u8>, String) {
        let original = group.original_confidence;
        let (bonus, bonus_name) = group.bonus;
        let (advisory, id) = match &group.advised {
            AdvisoryStatus::Confirmed { id, .. } => (ADVISORY, id.as_str()),
            AdvisoryStatus::Unasked | AdvisoryStatus::Nothing | AdvisoryStatus::Patched { .. } => {
                (0, "")
            }
        };
        let (stated, mut terms) = self.stated(original);
        terms.extend([
            (self.effect.adjustments(), "round 2 adjustments"),
            (self.effect.cross_examination(), "cross-examination"),
            (self.effect.defended(), "defence"),
            (bonus, bonus_name),
            (advisory, id),
        ]);
        let mut confidence = None;
        let mut formula = "not stated".to_owned();
        if let Some(stated) = stated {
            let sum = i32::from(stated) + terms.iter().map(|(number, _)| number).sum::<i32>();
            let limited = sum.clamp(0, 100);
            terms.push((limited - sum, "limit"));
            confidence = u8::try_from(limited).ok();
            formula = format!("{stated} (original)");
        }
        for (number, name) in terms.into_iter().filter(|(number, _)| *number != 0) {
            let sign = if number < 0 { '-' } else { '+' };
            formula.push_str(&format!(" {sign} {} ({name})", number.abs()));
        }
        if let Some(confidence) = confidence {
            formula.push_str(&format!(" = {confidence}"));
        }
        (confidence, formula)
    }

    /// Returns the confidence that the first reviewer of the group stated, and the points that lead from there to
    /// `original`, the confidence before the debate.
    fn stated(&self, original: Option<u8>) -> (Option<u8>, Vec<(i32, &'static str)>) {
        let lead = self.lead();
        let Some(original) = original else {
            return (None, Vec::new());
        };
        let Some(stated) = lead.raw.confidence.map(Confidence::get) else {
            return (Some(original), Vec::new());
        };
        let counted = normalise::confidence(lead).unwrap_or(stated);
        let terms = vec![
            (
                i32::from(counted) - i32::from(stated),
                "first raised in the debate",
            ),
            (i32::from(original) - i32::from(counted), "other positions"),
        ];
        (Some(stated), terms)
    }

    fn assessments(&self) -> Vec<Assessment> {
        let examinations = self.effect.examinations.iter();
        examinations
            .map(|said| Assessment {
                reviewer: AgentName::from(said.by.as_str()),
                action: said.word,
                adjustment: self.effect.adjustment(said),
                reasoning: said.reasoning.as_str().into(),
            })
            .collect()
    }

    fn action(&self, state: GroupState) -> String {
        let place = evidence::place(self.lead());
        match state {
            GroupState::Conflicted(ConflictKind::Severity) => format!(
                "determine the worst effect that an attacker or a user can cause at {place}, and set the severity to match"
            ),
            GroupState::Conflicted(ConflictKind::Cause) => {
                format!(
                    "reproduce the symptom at {place} and determine which of the changes removes it"
                )
            }
            GroupState::Conflicted(ConflictKind::Validity)
            | GroupState::Agreed
            | GroupState::Unique => evidence::challenge(self.affirming[0], self.evidence[0]).test,
        }
    }

    /// Challenges the finding (phase 5) if its confidence is below 70 or its score is below 5.
    pub(super) fn challenge(&self, score: Option<i32>) -> Option<EvidenceChallenge> {
        let asked = self.highest_confidence().is_some_and(|sure| sure < 70)
            || score.is_some_and(|score| score < 5);
        asked.then(|| evidence::challenge(self.affirming[0], self.evidence[0]))
    }
}

/// Returns the median level. The median of an even number of levels is the rounded-up mean of the two middle
/// levels.
pub(super) fn median(mut levels: Vec<Level>) -> Level {
    levels.sort_unstable();
    let Some(last) = levels.len().checked_sub(1) else {
        return Level::Medium;
    };
    let low = levels[last / 2] as usize;
    let high = levels[last.div_ceil(2)] as usize;
    Level::ALL[(low + high).div_ceil(2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_medians() {
        use Level::{Critical, High, Low, Medium};
        let rows: [(&[Level], Level); 7] = [
            (&[High], High),
            (&[High, High, Medium], High),
            (&[Critical, High], Critical),
            (&[Medium, Low], Medium),
            (&[Critical, Low], High),
            (&[Critical, Medium, Low], Medium),
            (&[Critical, High, Medium, Low], High),
        ];
        for (levels, expected) in rows {
            assert_eq!(median(levels.to_vec()), expected, "{levels:?}");
        }
    }
}
