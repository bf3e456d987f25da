//! Sorts groups, marks the groups that a person must decide, and computes the statistics of a merge.

use std::cmp::Reverse;
use std::fmt::Write as _;

use super::debate::{self, Debate};
use super::evidence;
use super::group::{Group, GroupState, Level, Member, Statistics};
use crate::domain::{AdvisoryStatus, Class, DefenceWord, ExaminationWord, number_of};

impl Statistics {
    pub fn of(members: &[Member], debate: &Debate, groups: &[Group]) -> Self {
        let mut sum = Self {
            total_findings_received: members.len(),
            groups: groups.len(),
            findings_per_model: debate::reviewers(members, debate)
                .into_iter()
                .map(|name| (name.to_owned(), 0))
                .collect(),
            ..Self::default()
        };
        for member in members {
            if let Some(count) = sum.findings_per_model.get_mut(&member.model) {
                *count += 1;
            }
        }
        for group in groups {
            sum.count(group);
        }
        sum.security_advisories_checked = members
            .iter()
            .filter(|member| member.checked.advisory != AdvisoryStatus::Unasked)
            .count();
        sum.round2_cross_examination.new_observations_added =
            members.iter().filter(|member| member.observed).count();
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

    fn count(&mut self, group: &Group) {
        self.repeats_folded += group.repeats.len();
        let row = match (group.class, group.state) {
            (Class::Rejected, _) if group.withdrawn => &mut self.withdrawn,
            (Class::Disputed, _) => &mut self.disputes_unresolved,
            (Class::Uncorroborated, _) => &mut self.unique_findings_uncorroborated,
            (Class::Accepted | Class::Rejected, GroupState::Conflicted(_)) => {
                &mut self.conflicts_resolved
            }
            (Class::Accepted, GroupState::Agreed) => &mut self.agreements,
            (Class::Accepted, GroupState::Unique) => &mut self.unique_findings_accepted,
            (Class::Rejected, GroupState::Unique) => &mut self.unique_findings_rejected,
            (Class::Rejected, GroupState::Agreed) => &mut self.withdrawn,
        };
        *row += 1;
        let moves = &mut self.confidence_changes;
        *match group.confidence.cmp(&group.original_confidence) {
            std::cmp::Ordering::Greater => &mut moves.increased,
            std::cmp::Ordering::Less => &mut moves.decreased,
            std::cmp::Ordering::Equal => &mut moves.unchanged,
        } += 1;
    }
}

/// Marks the severe disputes that a person must decide. If the merge accepts at least one severe finding, no
/// dispute is marked, because the accepted finding already determines the recommendation.
pub(super) fn escalate(groups: &mut [Group]) {
    let settled = groups
        .iter()
        .any(|group| group.class == Class::Accepted && group.severity >= Level::High);
    for group in groups {
        group.escalate =
            group.class == Class::Disputed && group.severity >= Level::High && !settled;
    }
}

pub(super) fn sort(groups: &mut [Group], members: &[Member]) {
    groups.sort_by_cached_key(|group| {
        let lead = &members[group.members[0]];
        let rank = (
            group.class,
            Reverse(group.severity),
            Reverse(group.confidence),
            group.agreement,
        );
        (
            rank,
            lead.raw.file.as_deref(),
            lead.raw.line,
            lead.title(),
            lead.id.as_str(),
        )
    });
}

const NAMED: usize = 3;

pub(super) fn summary(
    sum: &Statistics,
    groups: &[Group],
    debate: &Debate,
    members: &[Member],
) -> String {
    let mut text = String::new();
    let reviewers = sum.findings_per_model.len();
    if sum.total_findings_received == 0 && !debate.silent.is_empty() {
        let answered = reviewers.saturating_sub(debate.silent.len());
        let _ = write!(
            text,
            "{answered} of {reviewers} reviewers answered: no findings."
        );
    } else if sum.total_findings_received == 0 && reviewers == 1 {
        text.push_str("The reviewer agrees that the code passed review: no findings.");
    } else if sum.total_findings_received == 0 {
        let _ = write!(
            text,
            "All {reviewers} reviewers agree that the code passed review: no findings."
        );
    } else {
        let count = |class| groups.iter().filter(|group| group.class == class).count();
        let _ = write!(
            text,
            "{} of {} {} {}: {} accepted, {} uncorroborated, {} disputed, {} rejected.",
            number_of(sum.total_findings_received, "finding"),
            number_of(reviewers, "reviewer"),
            if sum.total_findings_received == 1 {
                "makes"
            } else {
                "make"
            },
            number_of(sum.groups, "group"),
            count(Class::Accepted),
            count(Class::Uncorroborated),
            count(Class::Disputed),
            count(Class::Rejected),
        );
        named(&mut text, "Agreed on", groups, members, |group| {
            group.class == Class::Accepted && group.state == GroupState::Agreed
        });
        named(
            &mut text,
            "To be decided by a person",
            groups,
            members,
            |group| group.class == Class::Disputed,
        );
        let highest = groups
            .iter()
            .filter(|group| group.class != Class::Rejected)
            .map(|group| group.severity)
            .max();
        let risk = highest.map_or("none", Level::as_str);
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
    groups: &[Group],
    members: &[Member],
    wanted: impl Fn(&Group) -> bool,
) {
    let all: Vec<&Group> = groups.iter().filter(|group| wanted(group)).collect();
    if all.is_empty() {
        return;
    }
    let shown: Vec<String> = all
        .iter()
        .take(NAMED)
        .map(|group| {
            let member = &members[group.members[0]];
            format!("{} ({})", member.title(), evidence::place(member))
        })
        .collect();
    let more = all.len().saturating_sub(NAMED);
    let _ = write!(text, " {what}: {}", shown.join("; "));
    if more > 0 {
        let _ = write!(text, "; and {more} more");
    }
    text.push('.');
}
