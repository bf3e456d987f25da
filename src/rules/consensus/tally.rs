//! The order of the decisions, what needs a person, and numbers that add up: every claim is counted once, as a member or
//! a repeat of one decision, and every decision in exactly one row.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write as _;

use super::{AdvisoryStatus, Class, Debate, DefenceWord, ExaminationWord, evidence};
use crate::rules::consensus::claim::{Claim, ClaimDecision, ClaimStanding, Level, Statistics};
use crate::rules::consensus::debate;

impl Statistics {
    pub(crate) fn of(claims: &[Claim], debate: &Debate, decisions: &[ClaimDecision]) -> Self {
        let mut sum = Self {
            total_findings_received: claims.len(),
            groups: decisions.len(),
            findings_per_model: debate::reviewers(claims, debate)
                .into_iter()
                .map(|name| (name.to_owned(), 0))
                .collect(),
            ..Self::default()
        };
        let counts = claims.iter().fold(HashMap::<&str, usize>::new(), |mut counts, claim| {
            *counts.entry(&claim.model).or_default() += 1;
            counts
        });
        for (model, count) in counts {
            sum.findings_per_model.insert(model.to_owned(), count);
        }
        for decision in decisions {
            sum.count(decision);
        }
        sum.security_advisories_checked =
            claims.iter().filter(|claim| claim.checked.advisory != AdvisoryStatus::Unasked).count();
        sum.round2_cross_examination.new_observations_added = claims.iter().filter(|claim| claim.observed).count();
        for said in &debate.examinations {
            let round = &mut sum.round2_cross_examination;
            *round.responses_received.entry(said.by.clone()).or_default() += 1;
            match said.word {
                ExaminationWord::Agree => round.agreements += 1,
                ExaminationWord::Disagree => round.disagreements += 1,
                ExaminationWord::Partial => round.partial_agreements += 1,
            }
        }
        for said in &debate.defences {
            let round = &mut sum.round3_defense;
            *round.defenses_received.entry(said.by.clone()).or_default() += 1;
            match said.word {
                DefenceWord::Defend => round.defended += 1,
                DefenceWord::Concede => round.conceded += 1,
                DefenceWord::Modify => round.modified += 1,
            }
        }
        sum
    }

    fn count(&mut self, decision: &ClaimDecision) {
        self.repeats_folded += decision.repeats.len();
        let row = match (decision.class, decision.standing) {
            (Class::Rejected, _) if decision.withdrawn => &mut self.withdrawn,
            (Class::Disputed, _) => &mut self.disputes_unresolved,
            (Class::Uncorroborated, _) => &mut self.unique_findings_uncorroborated,
            (Class::Accepted | Class::Rejected, ClaimStanding::Conflicted(_)) => &mut self.conflicts_resolved,
            (Class::Accepted, ClaimStanding::Agreed) => &mut self.agreements,
            (Class::Accepted, ClaimStanding::Unique) => &mut self.unique_findings_accepted,
            (Class::Rejected, ClaimStanding::Unique) => &mut self.unique_findings_rejected,
            (Class::Rejected, ClaimStanding::Agreed) => &mut self.withdrawn,
        };
        *row += 1;
        let moves = &mut self.confidence_changes;
        *match decision.confidence.cmp(&decision.original_confidence) {
            std::cmp::Ordering::Greater => &mut moves.increased,
            std::cmp::Ordering::Less => &mut moves.decreased,
            std::cmp::Ordering::Equal => &mut moves.unchanged,
        } += 1;
    }
}

/// Marks the disputes that need a person: grave, and nothing accepted settles the recommendation without them.
pub(crate) fn escalate(decisions: &mut [ClaimDecision]) {
    let settled = decisions.iter().any(|d| d.class == Class::Accepted && d.severity >= Level::High);
    for decision in decisions {
        decision.escalate = decision.class == Class::Disputed && decision.severity >= Level::High && !settled;
    }
}

/// Accepted first; within a class by severity, confidence and agreement, then by place.
pub(crate) fn sort(decisions: &mut [ClaimDecision], claims: &[Claim]) {
    // Keys are sorted, not decisions, which are large.
    decisions.sort_by_cached_key(|decision| {
        let lead = &claims[decision.members[0]];
        let rank = (decision.class, Reverse(decision.severity), Reverse(decision.confidence), decision.agreement);
        (rank, lead.file.as_deref(), lead.line, lead.title.as_str(), lead.id.as_str())
    });
}

/// The findings that a summary names.
const NAMED: usize = 3;

/// What was decided, in a few sentences.
pub(crate) fn summary(sum: &Statistics, decisions: &[ClaimDecision], debate: &Debate, claims: &[Claim]) -> String {
    let mut text = String::new();
    let reviewers = sum.findings_per_model.len();
    if sum.total_findings_received == 0 {
        let _ = write!(text, "All {reviewers} reviewers agree that the code passed review: no findings.");
    } else {
        let count = |class| decisions.iter().filter(|decision| decision.class == class).count();
        let _ = write!(
            text,
            "{} findings of {reviewers} reviewers make {} groups: {} accepted, {} uncorroborated, {} disputed, {} \
             rejected.",
            sum.total_findings_received,
            sum.groups,
            count(Class::Accepted),
            count(Class::Uncorroborated),
            count(Class::Disputed),
            count(Class::Rejected),
        );
        named(&mut text, "Agreed on", decisions, claims, |d| {
            d.class == Class::Accepted && d.standing == ClaimStanding::Agreed
        });
        named(&mut text, "Left to a person", decisions, claims, |d| d.class == Class::Disputed);
        let standing = decisions.iter().filter(|d| d.class != Class::Rejected).map(|d| d.severity).max();
        let risk = standing.map_or("none", Level::as_str);
        let _ = write!(text, " Risk: {risk}.");
    }
    for name in &debate.silent {
        let _ = write!(text, " Debate incomplete - {name} did not respond.");
    }
    text
}

fn named(
    text: &mut String,
    what: &str,
    decisions: &[ClaimDecision],
    claims: &[Claim],
    wanted: impl Fn(&ClaimDecision) -> bool,
) {
    let all: Vec<&ClaimDecision> = decisions.iter().filter(|decision| wanted(decision)).collect();
    if all.is_empty() {
        return;
    }
    let name = |decision: &&ClaimDecision| {
        let claim = &claims[decision.members[0]];
        format!("{} ({})", claim.title, evidence::place(claim))
    };
    let shown: Vec<String> = all.iter().take(NAMED).map(name).collect();
    let more = all.len().saturating_sub(NAMED);
    let _ = write!(text, " {what}: {}", shown.join("; "));
    if more > 0 {
        let _ = write!(text, "; and {more} more");
    }
    text.push('.');
}
