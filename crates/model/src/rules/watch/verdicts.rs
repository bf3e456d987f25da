//! Maps the reviewers' verdicts in a cycle to an action (specification `seed 004`, section 4).
//!
//! | case | condition | action | status |
//! |---|---|---|---|
//! | rule 1 | any verdict is `blocker` | STOP & ESCALATE | PAUSED |
//! | rule 2 | two verdicts or more are `concerns` | PAUSE & CLARIFY | PAUSED |
//! | rule 3 | one verdict is `concerns` | LOG & CONTINUE | RUNNING, flagged |
//! | rule 4 | all verdicts are `approved` | CONTINUE | RUNNING |
//!
//! A reviewer without a usable verdict counts as absent. If a reviewer is absent, the same rules apply to the
//! verdicts of the other reviewers. In this case, the action LOG & CONTINUE replaces the action CONTINUE. If all
//! reviewers are absent, the work pauses.

use crate::domain::{Action, Verdict};

/// Returns the action for the verdicts of a cycle. `None` means an absent reviewer.
pub fn decide(verdicts: &[Option<Verdict>]) -> Action {
    let approved = count(verdicts, Some(Verdict::Approved));
    let concerns = count(verdicts, Some(Verdict::Concerns));
    let absent = count(verdicts, None);
    if count(verdicts, Some(Verdict::Blocker)) > 0 {
        return Action::StopAndEscalate;
    }
    match (concerns, approved, absent) {
        (0, 0, _) => Action::NotReviewed,
        (0, _, 0) => Action::Continue,
        (0, _, _) | (1, _, _) => Action::LogAndContinue,
        _ => Action::PauseAndClarify,
    }
}

fn count(verdicts: &[Option<Verdict>], wanted: Option<Verdict>) -> usize {
    verdicts
        .iter()
        .filter(|verdict| **verdict == wanted)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Approved, Blocker, Concerns};

    const A: Option<Verdict> = Some(Approved);
    const C: Option<Verdict> = Some(Concerns);
    const B: Option<Verdict> = Some(Blocker);
    const NONE: Option<Verdict> = None;

    #[test]
    fn the_rows_of_the_specification() {
        for (verdicts, action) in [
            (&[B][..], Action::StopAndEscalate),
            (&[A, A, B], Action::StopAndEscalate),
            (&[C, C, B], Action::StopAndEscalate),
            (&[C, C], Action::PauseAndClarify),
            (&[C, A, C, A], Action::PauseAndClarify),
            (&[C], Action::LogAndContinue),
            (&[A, C, A], Action::LogAndContinue),
            (&[A], Action::Continue),
            (&[A, A, A], Action::Continue),
            (&[A, NONE], Action::LogAndContinue),
            (&[NONE, NONE], Action::NotReviewed),
            (&[], Action::NotReviewed),
            (&[NONE, B], Action::StopAndEscalate),
            (&[NONE, C], Action::LogAndContinue),
            (&[NONE, C, C], Action::PauseAndClarify),
        ] {
            assert_eq!(decide(verdicts), action, "{verdicts:?}");
        }
    }

    #[test]
    fn every_combination_keeps_every_sentence() {
        for reviewers in 0..=5_u32 {
            for number in 0..4_usize.pow(reviewers) {
                let mut rest = number;
                let verdicts: Vec<Option<Verdict>> = (0..reviewers)
                    .map(|_| {
                        let verdict = [A, C, B, NONE][rest % 4];
                        rest /= 4;
                        verdict
                    })
                    .collect();
                let action = decide(&verdicts);
                let concerns = verdicts.iter().filter(|verdict| **verdict == C).count();
                let has_blocker = verdicts.contains(&B);
                assert_eq!(
                    action == Action::StopAndEscalate,
                    has_blocker,
                    "{verdicts:?}"
                );
                assert_eq!(
                    action == Action::PauseAndClarify,
                    !has_blocker && concerns >= 2,
                    "{verdicts:?}"
                );
                let all_approved =
                    !verdicts.is_empty() && verdicts.iter().all(|verdict| *verdict == A);
                assert_eq!(action == Action::Continue, all_approved, "{verdicts:?}");
                assert_eq!(
                    action == Action::NotReviewed,
                    verdicts.iter().all(Option::is_none),
                    "nobody is never approved: {verdicts:?}"
                );
                if !has_blocker && concerns == 1 {
                    assert_eq!(action, Action::LogAndContinue, "{verdicts:?}");
                }
                assert_eq!(
                    action.pauses(),
                    has_blocker || concerns >= 2 || verdicts.iter().all(Option::is_none)
                );
                let mut backwards = verdicts.clone();
                backwards.reverse();
                assert_eq!(
                    decide(&backwards),
                    action,
                    "the order of the reviewers does not count"
                );
            }
        }
    }
}
