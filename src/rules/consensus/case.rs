//! One group of claims under decision: what every policy asks of it.

use std::collections::{BTreeSet, HashMap};

use super::debate::{Effect, Index};
use super::evidence::{self, Evidence};
use super::{AdvisoryStatus, Class, Debate, ExaminationWord};
use crate::rules::consensus::claim::{
    Agreement, Claim, ClaimChallenge, ClaimConflict, ClaimDecision, ClaimStanding, Level,
};
use crate::rules::consensus::debate::reviewers;
use crate::rules::consensus::normalise::{NormalClaim, vendor};
use crate::rules::consensus::similarity::vectors::Vectors;
use crate::rules::parallel;

/// Texts less alike than this say different things.
const UNLIKE: f32 = 0.1;

/// The severities of a conflict lie this many levels apart.
const FAR: usize = 2;

/// What an advisory that confirms a finding adds to its confidence.
const ADVISORY: i32 = 10;

pub(crate) struct Case<'a> {
    pub(crate) claims: &'a [Claim],
    /// The members that call it an issue, or all if none does; who speaks for the group first.
    pub(crate) entries: Vec<&'a NormalClaim>,
    /// Members that call it no issue.
    pub(crate) deniers: Vec<&'a NormalClaim>,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) effect: Effect<'a>,
    pub(crate) reviewers: usize,
    vendors: &'a HashMap<&'a str, String>,
    pub(crate) unlike: bool,
}

/// What all cases of a run share.
pub(crate) struct DecisionRun<'a> {
    claims: &'a [Claim],
    index: Index<'a>,
    reviewers: usize,
    /// Who makes each reviewer's model, by its name.
    vendors: HashMap<&'a str, String>,
}

impl<'a> DecisionRun<'a> {
    pub(crate) fn of(claims: &'a [Claim], debate: &'a Debate) -> Self {
        let reviewers = reviewers(claims, debate);
        let vendors = reviewers.iter().map(|name| (*name, vendor(name))).collect();
        Self { claims, index: Index::of(debate), reviewers: reviewers.len(), vendors }
    }

    /// Decides every group by `rule`.
    pub(crate) fn decide(
        &self,
        entries: &[NormalClaim],
        vectors: &Vectors,
        groups: &[Vec<usize>],
        rule: impl Fn(&Case<'_>) -> ClaimDecision + Sync,
    ) -> Vec<ClaimDecision> {
        parallel::each(groups, |group| {
            let pairs = group.iter().enumerate().flat_map(|(at, a)| group[at + 1..].iter().map(move |b| (*a, *b)));
            let unlike = group.len() > 1 && pairs.into_iter().all(|(a, b)| vectors.cosine(a, b) < UNLIKE);
            rule(&Case { unlike, ..self.case(group.iter().map(|at| &entries[*at]).collect()) })
        })
    }

    /// The case of some entries, one a reviewer, whose texts say the same.
    pub(crate) fn case<'e>(&'e self, entries: Vec<&'e NormalClaim>) -> Case<'e> {
        let claims = self.claims;
        let (mut deniers, mut members): (Vec<&NormalClaim>, Vec<&NormalClaim>) =
            entries.into_iter().partition(|entry| claims[entry.claim].denies);
        if members.is_empty() {
            std::mem::swap(&mut deniers, &mut members);
        }
        let detail = |entry: &&NormalClaim| claims[entry.claim].description.len();
        members.sort_by_key(|entry| std::cmp::Reverse((entry.confidence, detail(entry))));
        let of_debate: Vec<&Claim> = members
            .iter()
            .flat_map(|entry| std::iter::once(&entry.claim).chain(&entry.repeats))
            .map(|claim| &claims[*claim])
            .collect();
        let evidence = members.iter().map(|entry| Evidence::of(&claims[entry.claim], entry)).collect();
        let effect = self.index.effect(&of_debate);
        let (reviewers, vendors) = (self.reviewers, &self.vendors);
        Case { claims, effect, entries: members, deniers, evidence, reviewers, vendors, unlike: false }
    }
}

impl<'a> Case<'a> {
    /// The claim that speaks for the group.
    pub(crate) fn lead(&self) -> &'a Claim {
        &self.claims[self.entries[0].claim]
    }

    pub(crate) fn names(&self) -> Vec<&'a str> {
        self.entries.iter().map(|entry| self.claims[entry.claim].model.as_str()).collect()
    }

    /// Who did not raise it and supports it in round 2.
    pub(crate) fn supporters(&self) -> Vec<&'a str> {
        let raisers = self.names();
        let support = self.effect.examinations.iter().filter(|said| said.word != ExaminationWord::Disagree);
        support.map(|said| said.by.as_str()).filter(|by| !raisers.contains(by)).collect()
    }

    /// Phases 2 and 3: how the claims stand to each other.
    pub(crate) fn standing(&self) -> ClaimStanding {
        let severities = || self.entries.iter().map(|entry| entry.severity as usize);
        let apart = severities().max().unwrap_or(0) - severities().min().unwrap_or(0);
        if !self.deniers.is_empty() {
            ClaimStanding::Conflicted(ClaimConflict::Validity)
        } else if self.entries.len() == 1 {
            ClaimStanding::Unique
        } else if apart >= FAR {
            ClaimStanding::Conflicted(ClaimConflict::Severity)
        } else if self.unlike {
            ClaimStanding::Conflicted(ClaimConflict::Cause)
        } else {
            ClaimStanding::Agreed
        }
    }

    /// The median of the severities, the higher of two.
    pub(crate) fn severity(&self) -> Level {
        median(self.entries.iter().map(|entry| entry.severity).collect())
    }

    /// What a dispute counts as until it is settled.
    pub(crate) fn highest_severity(&self) -> Level {
        self.entries.iter().map(|entry| entry.severity).max().unwrap_or(Level::Medium)
    }

    pub(crate) fn highest_confidence(&self) -> Option<u8> {
        self.entries.iter().filter_map(|entry| entry.confidence).max()
    }

    /// The lowest confidence that is stated, on either side.
    pub(crate) fn lowest_confidence(&self) -> Option<u8> {
        self.entries.iter().chain(&self.deniers).filter_map(|entry| entry.confidence).min()
    }

    /// `min(15, 5 x reviewers)`.
    pub(crate) fn agreement_bonus(&self) -> i32 {
        i32::try_from(self.entries.len()).unwrap_or(i32::MAX).saturating_mul(5).min(15)
    }

    /// The same with 2 instead of 5 for a further reviewer of a vendor that has one already.
    pub(crate) fn independent_bonus(&self) -> i32 {
        let mut vendors = BTreeSet::new();
        let points = self.entries.iter().map(|entry| {
            let claim = &self.claims[entry.claim];
            let vendor = claim.vendor.as_ref().unwrap_or_else(|| &self.vendors[claim.model.as_str()]);
            if vendors.insert(vendor) { 5 } else { 2 }
        });
        points.sum::<i32>().min(15)
    }

    pub(crate) fn agreement(&self) -> Agreement {
        match self.entries.len() + self.supporters().len() {
            1 => Agreement::SingleSourceValidated,
            all if all >= self.reviewers => Agreement::Unanimous,
            _ => Agreement::Majority,
        }
    }

    /// A decision with everything that no policy decides differently.
    pub(crate) fn decision(&self, draft: DecisionDraft) -> ClaimDecision {
        let claim = |entry: &&NormalClaim| &self.claims[entry.claim];
        // Of equals the first in the members' order.
        let described_by = self.entries.iter().rev().max_by_key(|entry| claim(entry).description.len());
        let suggested_by = self.entries.iter().rev().max_by_key(|entry| offer(&claim(entry).suggestion));
        let index = |entry: Option<&&NormalClaim>| entry.map_or(0, |entry| entry.claim);
        let mut notes = draft.notes;
        notes.extend(self.debate_notes());
        let revised = self.effect.defence.and_then(|said| said.revised_description.clone());
        let severity = self.effect.defence.and_then(|said| said.revised_severity).unwrap_or(draft.severity);
        let advised = AdvisoryStatus::of(self.entries.iter().map(|entry| &claim(entry).checked.advisory));
        notes.extend(advised.note());
        let severity = if matches!(advised, AdvisoryStatus::Patched { .. }) { severity.lower() } else { severity };
        let (confidence, formula) = self.confidence(draft.original, (draft.bonus, draft.bonus_name), &advised);
        let all = self.entries.iter().chain(&self.deniers);
        ClaimDecision {
            members: all.clone().map(|entry| entry.claim).collect(),
            repeats: all.flat_map(|entry| entry.repeats.clone()).collect(),
            class: draft.class,
            standing: draft.standing,
            agreement: draft.agreement.filter(|_| draft.class == Class::Accepted),
            severity,
            original_confidence: draft.original,
            confidence,
            formula,
            score: draft.score,
            described_by: index(described_by),
            revised,
            suggested_by: index(suggested_by),
            notes,
            why: draft.why,
            challenge: draft.challenge,
            reversal: draft.reversal,
            action: (draft.class == Class::Disputed).then(|| self.action(draft.standing)),
            withdrawn: self.effect.is_withdrawn(),
            advised,
            supporters: self.supporters().into_iter().map(str::to_owned).collect(),
            escalate: false,
        }
    }

    fn debate_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for name in &self.effect.withdrew {
            notes.push(format!("{name} withdrew it; others still support it"));
        }
        if self.effect.is_conceded() && self.effect.cross_examination() > 0 {
            notes.push(format!("{} conceded it; other reviewers still support it", self.lead().model));
        } else if self.effect.is_conceded() {
            notes.push(format!("{} conceded it", self.lead().model));
        }
        notes
    }

    fn confidence(
        &self,
        original: Option<u8>,
        (bonus, bonus_name): (i32, &str),
        advised: &AdvisoryStatus,
    ) -> (Option<u8>, String) {
        let (advisory, id) = match advised {
            AdvisoryStatus::Confirmed { id, .. } => (ADVISORY, id.as_str()),
            AdvisoryStatus::Unasked | AdvisoryStatus::Nothing | AdvisoryStatus::Patched { .. } => (0, ""),
        };
        let terms = [
            (self.effect.adjustments(), "round 2 adjustments"),
            (self.effect.cross_examination(), "cross-examination"),
            (self.effect.defended(), "defence"),
            (bonus, bonus_name),
            (advisory, id),
        ];
        let moved = terms.iter().map(|(number, _)| number).sum::<i32>();
        let confidence = original.map(|sure| u8::try_from((i32::from(sure) + moved).clamp(0, 100)).unwrap_or(100));
        let mut formula = original.map_or_else(|| "not stated".to_owned(), |sure| format!("{sure} (original)"));
        for (number, name) in terms.into_iter().filter(|(number, _)| *number != 0) {
            let sign = if number < 0 { '-' } else { '+' };
            formula.push_str(&format!(" {sign} {} ({name})", number.abs()));
        }
        if let Some(confidence) = confidence {
            formula.push_str(&format!(" = {confidence}"));
        }
        (confidence, formula)
    }

    /// What settles a dispute, as something that can be done.
    fn action(&self, standing: ClaimStanding) -> String {
        let place = evidence::place(self.lead());
        match standing {
            ClaimStanding::Conflicted(ClaimConflict::Severity) => {
                format!(
                    "find out what an attacker or a user can bring about at worst at {place}, and set the severity by that"
                )
            }
            ClaimStanding::Conflicted(ClaimConflict::Cause) => {
                format!("reproduce the symptom at {place} and see which of the changes makes it go away")
            }
            ClaimStanding::Conflicted(ClaimConflict::Validity) | ClaimStanding::Agreed | ClaimStanding::Unique => {
                evidence::challenge(self.lead(), self.entries[0], self.evidence[0]).test
            }
        }
    }

    /// The challenge of phase 5, asked below a confidence of 70 or a score of 5.
    pub(crate) fn challenge(&self, score: Option<i32>) -> Option<ClaimChallenge> {
        let asked = self.highest_confidence().is_some_and(|sure| sure < 70) || score.is_some_and(|score| score < 5);
        asked.then(|| evidence::challenge(self.lead(), self.entries[0], self.evidence[0]))
    }
}

/// What a policy decides about a case.
pub(crate) struct DecisionDraft {
    pub(crate) class: Class,
    pub(crate) standing: ClaimStanding,
    pub(crate) agreement: Option<Agreement>,
    pub(crate) severity: Level,
    pub(crate) original: Option<u8>,
    pub(crate) bonus: i32,
    pub(crate) bonus_name: &'static str,
    pub(crate) score: Option<i32>,
    pub(crate) notes: Vec<String>,
    pub(crate) why: String,
    pub(crate) challenge: Option<ClaimChallenge>,
    pub(crate) reversal: String,
}

/// The median; of two in the middle the level halfway, rounded up.
pub(crate) fn median(mut levels: Vec<Level>) -> Level {
    levels.sort_unstable();
    let Some(last) = levels.len().checked_sub(1) else { return Level::Medium };
    let (low, high) = (levels[last / 2] as usize, levels[last.div_ceil(2)] as usize);
    Level::ALL[(low + high).div_ceil(2)]
}

/// How much a suggestion offers: code first, then length.
fn offer(text: &str) -> (bool, usize) {
    (text.contains('`'), text.len())
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
