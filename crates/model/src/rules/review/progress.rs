//! Follows a finding from the reviewer's answer to the report: what the run knows of it beside its text, and the state
//! that follows from that.

use std::collections::BTreeMap;

use crate::domain::{
    AgentName, Answer, Class, DemonstrationRun, Disposition, Dispute, DisputeNumber,
    EarlierDispute, Finding, FindingState, Lowered, Recheck, Relation, Response, RulingRef,
};
use crate::rules::review::demonstrations;

/// In one round, a reviewer gets at most this number of requests to re-check the same finding.
pub const RECHECKS: u32 = 2;

/// The dispute of an earlier run that a finding repeats.
#[derive(Clone, Debug, PartialEq)]
pub enum Repeated {
    Ruled {
        dispute: RulingRef,
        disposition: Disposition,
    },
    /// The dispute waits for a person.
    Open(DisputeNumber),
}

/// What happened to one finding so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// The related earlier disputes that do not bind the finding.
    pub related: Vec<EarlierDispute>,
    pub repeats: Option<Repeated>,
    /// Whether a reviewer raised the finding without new evidence, although a ruling in force had closed it.
    pub insisted: bool,
    /// The dispute of this run about the finding.
    pub dispute: Option<DisputeNumber>,
    /// The tag that a ruling replaced.
    pub lowered: Option<Lowered>,
    /// For each time that Glee sent the finding to the coder, the number of earlier tree changes. Only tree changes
    /// after the last time can implement the finding. A person can undo the changes; then earlier times are removed.
    pub asked_after: Vec<usize>,
    /// The coder that last received the finding, or the coder's backup that was called instead.
    pub received_by: Option<AgentName>,
    pub response: Option<Response>,
    /// The number of times that the coder was told to implement the enforced finding.
    pub enforced: u32,
    pub checks: BTreeMap<AgentName, Recheck>,
    /// For each reviewer, the number of re-check requests that got no valid answer in this round.
    pub unanswered_checks: BTreeMap<AgentName, u32>,
    /// The runs of its demonstrations, in the order in which they were recorded.
    pub demonstrations: Vec<DemonstrationRun>,
    /// Whether the finding does not block, because no demonstration shows it and one is required.
    pub undemonstrated: bool,
}

/// What the coder's answer means for a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    Implemented,
    Discarded,
    Dispute,
    Unanswered,
}

impl Progress {
    /// The coder, or its backup `by`, receives the finding after `changes` tree changes. Its earlier answer no longer
    /// counts.
    pub fn send(&mut self, by: &AgentName, changes: usize) {
        self.received_by = Some(by.clone());
        self.asked_after.push(changes);
        self.response = None;
    }

    /// A new answer of the coder invalidates the earlier re-checks.
    pub fn answer(&mut self, by: &AgentName, response: &Response) {
        self.received_by = Some(by.clone());
        self.response = Some(response.clone());
        self.checks.clear();
        self.unanswered_checks.clear();
    }

    /// A person sends the finding to the coder again.
    pub fn restart(&mut self) {
        self.response = None;
        self.enforced = 0;
        self.checks.clear();
        self.unanswered_checks.clear();
    }

    /// An earlier dispute is found to be about the finding, so it is no longer only related.
    pub fn bind(&mut self, repeats: Option<Repeated>) {
        self.related.clear();
        self.repeats = repeats;
    }

    /// The open dispute of an earlier run that the finding repeats.
    pub fn still_disputed(&self) -> Option<DisputeNumber> {
        match self.repeats {
            Some(Repeated::Open(number)) => Some(number),
            Some(Repeated::Ruled { .. }) | None => None,
        }
    }

    /// The earlier ruling that obliges the coder to implement the finding.
    pub fn enforced_by(&self) -> Option<&RulingRef> {
        match &self.repeats {
            Some(Repeated::Ruled {
                dispute,
                disposition: Disposition::Enforced,
            }) => Some(dispute),
            _ => None,
        }
    }

    /// Whether the coder has nothing to do, because an earlier dispute is open or closed the finding.
    pub fn is_settled_earlier(&self) -> bool {
        match &self.repeats {
            Some(Repeated::Ruled { disposition, .. }) => disposition.closes(),
            Some(Repeated::Open(_)) => true,
            None => false,
        }
    }

    /// Whether a dispute of this or of an earlier run is about the finding.
    pub fn has_dispute(&self) -> bool {
        self.dispute.is_some() || self.repeats.is_some()
    }

    /// The earlier dispute that somebody is asked about, because the finding may repeat it. Nobody is asked after the
    /// coder answered or a dispute was opened. A ruling that only changed a tag closes nothing, so it is left out.
    pub fn may_repeat(&self) -> Option<&EarlierDispute> {
        if self.response.is_some() || self.dispute.is_some() {
            return None;
        }
        self.related
            .iter()
            .find(|earlier| earlier.relation == Relation::MayRepeat && earlier.new_tag.is_none())
    }

    /// Interprets the coder's answer (specification, "Coder Can Discard?"). The answers `DISCARDED` and `DISAGREE` open
    /// a dispute about a mandatory finding, and discard an optional finding.
    pub fn stance(&self, mandatory: bool) -> Stance {
        match self.response.as_ref().map(|response| response.answer) {
            None => Stance::Unanswered,
            Some(Answer::Implemented) => Stance::Implemented,
            Some(Answer::Discarded | Answer::Disagree) if mandatory => Stance::Dispute,
            Some(Answer::Discarded | Answer::Disagree) => Stance::Discarded,
        }
    }

    pub fn says_implemented(&self) -> bool {
        self.stance(true) == Stance::Implemented
    }

    /// Whether the coder is due to be told to implement the enforced finding. It is told once more if it gave no answer.
    pub fn is_unenforced(&self) -> bool {
        match self.enforced {
            0 => true,
            1 => self.response.is_none(),
            _ => false,
        }
    }

    pub fn is_given_up(&self, checker: &AgentName) -> bool {
        self.unanswered_checks
            .get(checker)
            .is_some_and(|tries| *tries >= RECHECKS)
    }

    /// Whether a reviewer still has to say whether the changed code resolves the finding.
    pub fn lacks_check(&self, checker: &AgentName) -> bool {
        !self.checks.contains_key(checker) && !self.is_given_up(checker)
    }

    /// The state of the finding, as defined in section 3.1 of the design. `is_touched` tells whether its code changed
    /// since the coder last received it; `checkers` are the reviewers that re-check it.
    pub fn state(
        &self,
        finding: &Finding,
        disputes: &BTreeMap<DisputeNumber, Dispute>,
        is_touched: bool,
        checkers: &[&AgentName],
    ) -> FindingState {
        if let Some(state) = self.state_by_ruling(disputes) {
            return state;
        }
        match self.stance(finding.mandatory) {
            Stance::Unanswered if finding.is_rejected() => FindingState::Discarded,
            Stance::Unanswered if self.asked_after.is_empty() => FindingState::Open,
            Stance::Unanswered => FindingState::Unanswered,
            Stance::Implemented if is_touched => self.checked(checkers),
            Stance::Implemented => FindingState::Claimed,
            Stance::Dispute => FindingState::Open,
            Stance::Discarded => FindingState::Discarded,
        }
    }

    /// The state that a dispute gives the finding. An answer `IMPLEMENTED` to a ruling that closes nothing says more than
    /// the ruling.
    fn state_by_ruling(&self, disputes: &BTreeMap<DisputeNumber, Dispute>) -> Option<FindingState> {
        match &self.repeats {
            Some(Repeated::Open(number)) => {
                // If another finding of this run repeats the same dispute, this run has possibly settled it.
                let ended = disputes
                    .get(number)
                    .and_then(|here| here.disposition.clone());
                return Some(match ended {
                    None => FindingState::Disputed { dispute: *number },
                    Some(disposition) => FindingState::AlreadyRuled {
                        dispute: (*number).into(),
                        disposition,
                    },
                });
            }
            Some(Repeated::Ruled {
                dispute,
                disposition,
            }) if disposition.closes() || !self.says_implemented() => {
                return Some(FindingState::AlreadyRuled {
                    dispute: dispute.clone(),
                    disposition: disposition.clone(),
                });
            }
            Some(Repeated::Ruled { .. }) | None => {}
        }
        let Dispute {
            number: dispute,
            disposition,
            ..
        } = disputes.get(&self.dispute?)?;
        let dispute = *dispute;
        match disposition {
            None => Some(FindingState::Disputed { dispute }),
            Some(Disposition::Discarded) => Some(FindingState::Discarded),
            Some(Disposition::Enforced) if self.says_implemented() => None,
            Some(Disposition::Enforced) => Some(FindingState::Enforced { dispute }),
            Some(_) if self.lowered.is_none() => Some(FindingState::Dismissed { dispute }),
            Some(_) if self.says_implemented() => None,
            Some(_) => Some(FindingState::Open),
        }
    }

    /// The state of an implemented finding. The finding stays open if its re-check is missing or does not confirm the
    /// fix, or if its demonstration still fails.
    fn checked(&self, checkers: &[&AgentName]) -> FindingState {
        let is_denied = self.checks.values().any(|check| !check.resolved);
        if is_denied || demonstrations::still_fails(&self.demonstrations) {
            FindingState::NotResolved
        } else if checkers.iter().any(|name| self.is_given_up(name)) {
            FindingState::Unconfirmed
        } else if !self.checks.is_empty()
            && checkers.iter().all(|name| self.checks.contains_key(*name))
        {
            FindingState::Resolved
        } else {
            FindingState::Unchecked
        }
    }
}

/// What a run lets a judge decide before the coder receives a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgedFirst {
    pub arbitrates: bool,
    pub has_judge: bool,
    /// `review.consensus.validate` is `judge`.
    pub validates: bool,
    /// The policy is `specification`.
    pub weighs: bool,
}

impl JudgedFirst {
    /// Whether a judge rules on a mandatory finding before the coder receives it: the reviewers contradict each other,
    /// the finding is uncorroborated, or it is in doubt.
    pub fn applies(self, finding: &Finding) -> bool {
        let Some(consensus) = &finding.consensus else {
            return false;
        };
        finding.mandatory
            && !consensus.withdrawn
            && match consensus.class {
                Class::Disputed => self.arbitrates || self.has_judge,
                Class::Uncorroborated => self.validates,
                Class::Accepted | Class::Rejected => {
                    self.weighs && self.has_judge && consensus.doubted
                }
            }
    }

    /// Whether such a finding goes to the judge without the choice of a route. With `--arbitrate`, a contradiction
    /// between reviewers is an ordinary dispute, for which a route is chosen.
    pub fn sends(self, finding: &Finding) -> bool {
        self.applies(finding) && !(self.arbitrates && finding.is_contradicted())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Corroboration, FindingId, Severity, Tag};

    fn finding(mandatory: bool, class: Option<Class>) -> Finding {
        let value = serde_json::json!({
            "id": "F1", "tag": "MUST", "tag_raw": "MUST", "title": "x", "file": "a.py", "line": 1, "end_line": null,
            "raised_by": ["r"], "round": 1, "mandatory": mandatory
        });
        let consensus = class.map(|class| Corroboration {
            class,
            reviewers: 2,
            vendors: None,
            positions: Vec::new(),
            confirmed_by: Vec::new(),
            assessments: Vec::new(),
            confidence: None,
            formula: String::new(),
            score: None,
            why: String::new(),
            would_decide: String::new(),
            notes: Vec::new(),
            escalate: false,
            doubted: false,
            withdrawn: false,
        });
        Finding {
            consensus,
            ..serde_json::from_value(value).expect("a finding")
        }
    }

    fn answered(answer: Answer) -> Progress {
        let mut progress = Progress::default();
        progress.send(&"c".into(), 0);
        let response = Response {
            finding: FindingId::new(1),
            answer,
            text: "x".into(),
            evidence: Vec::new(),
            demonstration: None,
        };
        progress.answer(&"c".into(), &response);
        progress
    }

    #[test]
    fn the_table_of_answers() {
        let rows = [
            (true, None, Stance::Unanswered),
            (true, Some(Answer::Implemented), Stance::Implemented),
            (true, Some(Answer::Discarded), Stance::Dispute),
            (true, Some(Answer::Disagree), Stance::Dispute),
            (false, None, Stance::Unanswered),
            (false, Some(Answer::Implemented), Stance::Implemented),
            (false, Some(Answer::Discarded), Stance::Discarded),
            (false, Some(Answer::Disagree), Stance::Discarded),
        ];
        for (mandatory, answer, expected) in rows {
            let progress = answer.map(answered).unwrap_or_default();
            assert_eq!(
                progress.stance(mandatory),
                expected,
                "{mandatory} {answer:?}"
            );
        }
    }

    /// The state of a mandatory finding with dispute 1, to which the coder answered, and whose code changed.
    fn state(progress: &Progress, disposition: Option<Disposition>) -> FindingState {
        let dispute = serde_json::json!({
            "number": 1, "finding": finding(true, None), "objector": "coder",
            "objection": {"finding": "F1", "answer": "DISAGREE", "text": "x", "evidence": []},
            "route": null, "rulings": [], "disposition": null
        });
        let dispute = Dispute {
            disposition,
            ..serde_json::from_value(dispute).expect("a dispute")
        };
        let disputes = BTreeMap::from([(DisputeNumber(1), dispute)]);
        progress.state(&finding(true, None), &disputes, true, &[&"r".into()])
    }

    #[test]
    fn a_dispute_decides_until_the_coder_implements_what_stays_open() {
        let dispute = DisputeNumber(1);
        let lowered = Lowered {
            was: Severity::known(Tag::Must),
            dispute: dispute.into(),
        };
        // The disposition, whether the ruling lowered the tag, and the states after DISAGREE and IMPLEMENTED.
        let rows = [
            (
                None,
                false,
                FindingState::Disputed { dispute },
                FindingState::Disputed { dispute },
            ),
            (
                Some(Disposition::Discarded),
                false,
                FindingState::Discarded,
                FindingState::Discarded,
            ),
            (
                Some(Disposition::Enforced),
                false,
                FindingState::Enforced { dispute },
                FindingState::Unchecked,
            ),
            (
                Some(Disposition::Refuted),
                false,
                FindingState::Dismissed { dispute },
                FindingState::Dismissed { dispute },
            ),
            (
                Some(Disposition::NotMandatory),
                true,
                FindingState::Open,
                FindingState::Unchecked,
            ),
        ];
        for (disposition, is_lowered, objected, implemented) in rows {
            for (answer, expected) in [
                (Answer::Disagree, objected),
                (Answer::Implemented, implemented),
            ] {
                let progress = Progress {
                    dispute: Some(dispute),
                    lowered: is_lowered.then(|| lowered.clone()),
                    ..answered(answer)
                };
                assert_eq!(
                    state(&progress, disposition.clone()),
                    expected,
                    "{disposition:?} {answer:?}"
                );
            }
        }
    }

    #[test]
    fn a_test_that_still_fails_outweighs_a_recheck() {
        let run = |tested, ends: &[&str]| -> DemonstrationRun {
            let runs: Vec<serde_json::Value> = ends
                .iter()
                .map(|end| serde_json::json!({"end": end, "reached": true, "millis": 1, "output": ""}))
                .collect();
            let run = serde_json::json!({
                "finding": "F1", "claim": "defect", "by": "reviewer", "tree": "t", "tested": tested, "command": "x",
                "demonstration": {"runner": "r", "path": "tests/a.py", "code": "x"}, "runs": runs
            });
            serde_json::from_value(run).expect("a run")
        };
        for (ends, after, expected) in [
            (["failed"; 3], "failed", FindingState::NotResolved),
            (["failed"; 3], "passed", FindingState::Resolved),
            (["failed"; 3], "broken", FindingState::Resolved),
            (["passed"; 3], "failed", FindingState::Resolved),
            (
                ["failed", "failed", "passed"],
                "failed",
                FindingState::Resolved,
            ),
        ] {
            let check = Recheck {
                finding: FindingId::new(1),
                resolved: true,
                reason: "".into(),
            };
            let progress = Progress {
                checks: BTreeMap::from([("r".into(), check)]),
                demonstrations: vec![run("before", &ends), run("after", &[after])],
                ..answered(Answer::Implemented)
            };
            assert_eq!(state(&progress, None), expected, "{ends:?} {after}");
        }
    }

    #[test]
    fn an_earlier_dispute_comes_first() {
        let ruled = |disposition: Disposition| Progress {
            repeats: Some(Repeated::Ruled {
                dispute: DisputeNumber(7).into(),
                disposition,
            }),
            ..answered(Answer::Implemented)
        };
        let closed = ruled(Disposition::Refuted);
        assert!(closed.is_settled_earlier() && closed.enforced_by().is_none());
        assert!(matches!(
            state(&closed, None),
            FindingState::AlreadyRuled { .. }
        ));
        let enforced = ruled(Disposition::Enforced);
        assert!(!enforced.is_settled_earlier());
        assert_eq!(enforced.enforced_by(), Some(&DisputeNumber(7).into()));
        assert_eq!(state(&enforced, None), FindingState::Unchecked);
        let mut open = answered(Answer::Disagree);
        open.bind(Some(Repeated::Open(DisputeNumber(1))));
        assert!(open.is_settled_earlier() && open.has_dispute());
        assert!(matches!(state(&open, None), FindingState::Disputed { .. }));
        assert!(matches!(
            state(&open, Some(Disposition::Refuted)),
            FindingState::AlreadyRuled { .. }
        ));
    }

    #[test]
    fn a_change_is_resolved_when_each_reviewer_says_so() {
        let by = AgentName::from("r");
        let check = |resolved| Recheck {
            finding: FindingId::new(1),
            resolved,
            reason: "x".into(),
        };
        let mut progress = answered(Answer::Implemented);
        assert_eq!(state(&progress, None), FindingState::Unchecked);
        assert!(progress.lacks_check(&by));
        progress.unanswered_checks.insert(by.clone(), RECHECKS);
        assert_eq!(state(&progress, None), FindingState::Unconfirmed);
        assert!(!progress.lacks_check(&by));
        progress.unanswered_checks.clear();
        progress.checks.insert(by.clone(), check(true));
        assert_eq!(state(&progress, None), FindingState::Resolved);
        progress.checks.insert(by, check(false));
        assert_eq!(state(&progress, None), FindingState::NotResolved);
        progress.restart();
        assert_eq!(state(&progress, None), FindingState::Unanswered);
    }

    #[test]
    fn the_table_of_findings_that_a_judge_sees_first() {
        let none = JudgedFirst {
            arbitrates: false,
            has_judge: false,
            validates: false,
            weighs: false,
        };
        let judge = JudgedFirst {
            has_judge: true,
            ..none
        };
        let arbitrates = JudgedFirst {
            arbitrates: true,
            ..judge
        };
        let validates = JudgedFirst {
            validates: true,
            ..judge
        };
        let rows = [
            (none, Class::Disputed, false, false),
            (judge, Class::Disputed, true, true),
            (arbitrates, Class::Disputed, true, false),
            (judge, Class::Uncorroborated, false, false),
            (validates, Class::Uncorroborated, true, true),
            (validates, Class::Accepted, false, false),
        ];
        for (rules, class, applies, sends) in rows {
            let found = finding(true, Some(class));
            assert_eq!(
                (rules.applies(&found), rules.sends(&found)),
                (applies, sends),
                "{rules:?} {class:?}"
            );
            assert!(!rules.applies(&finding(false, Some(class))));
        }
        let mut doubted = finding(true, Some(Class::Accepted));
        if let Some(consensus) = &mut doubted.consensus {
            consensus.doubted = true;
        }
        let weighs = JudgedFirst {
            weighs: true,
            ..judge
        };
        assert!(weighs.applies(&doubted) && !judge.applies(&doubted));
        assert!(!weighs.applies(&finding(true, None)));
    }
}
