//! A run with everything that a page can show.

use super::*;

fn position(reviewer: &str, denies: bool) -> Position {
    Position {
        denial: "".into(),
        reviewer: reviewer.into(),
        said: String::new(),
        severity: Severity::known(Tag::Low),
        confidence: None,
        denies,
        observed: false,
    }
}

/// An outcome with a value in every field, and findings in every state.
pub(super) fn full() -> Outcome {
    let mut outcome = clean();
    let number = DisputeNumber(4);
    let earlier = |relation| EarlierDispute {
        dispute: DisputeNumber(2).into(),
        relation,
        title: "earlier".into(),
        disposition: Some(Disposition::Duplicate {
            of: "F9".to_owned(),
        }),
        new_tag: Some(Tag::Low),
        rationale: "rationale".into(),
    };
    let states = [
        FindingState::Open,
        FindingState::Unanswered,
        FindingState::Claimed,
        FindingState::Unchecked,
        FindingState::Unconfirmed,
        FindingState::NotResolved,
        FindingState::Resolved,
        FindingState::Discarded,
        FindingState::Disputed { dispute: number },
        FindingState::Enforced {
            dispute: DisputeNumber(5),
        },
        FindingState::Dismissed {
            dispute: DisputeNumber(6),
        },
        FindingState::AlreadyRuled {
            dispute: DisputeNumber(2).into(),
            disposition: Disposition::Enforced,
        },
        FindingState::AlreadyRuled {
            dispute: DisputeNumber(2).into(),
            disposition: Disposition::Refuted,
        },
    ];
    for (id, state) in (1..).zip(states) {
        let mut raised = finding(id, Tag::High, "src/a.rs:3", "title");
        raised.raw.body = "body".into();
        raised.raw.category = Some("category".to_owned());
        raised.raw.rule = (id % 2 == 0).then(|| "rule".to_owned());
        raised.raw.suggestion = Some("suggestion".into());
        raised.raw.evidence = vec!["evidence".into()];
        raised.raw.severity.raw = "word".to_owned();
        raised.raised_by = vec!["rules".into(), "second".into()];
        raised.reverses = Some(FindingId::new(1));
        raised.consensus = Some(Corroboration {
            class: [
                Class::Accepted,
                Class::Disputed,
                Class::Uncorroborated,
                Class::Rejected,
            ][id as usize % 4],
            reviewers: 2,
            vendors: None,
            positions: vec![position("rules", false), position("third", true)],
            confirmed_by: vec!["fourth".into()],
            assessments: vec![Assessment {
                reviewer: "fourth".into(),
                action: ExaminationWord::Disagree,
                adjustment: -5,
                reasoning: "assessment".into(),
            }],
            confidence: None,
            formula: "formula".to_owned(),
            score: None,
            why: "why".to_owned(),
            would_decide: "would decide".to_owned(),
            notes: vec!["note".to_owned()],
            escalate: false,
            doubted: false,
            withdrawn: false,
        });
        let mut settled = settled(raised, state, Some((Answer::Disagree, "answer")));
        settled.lowered = Some(Lowered {
            was: Severity::known(Tag::Must),
            dispute: DisputeNumber(2).into(),
        });
        settled.earlier = vec![
            earlier(Relation::Reopens {
                evidence: vec!["new".into()],
            }),
            earlier(Relation::CodeChanged {
                diff: Some("@@ -1 +1 @@\n-a\n+b".into()),
            }),
            earlier(Relation::EvidenceGone {
                cited: Location::line("tests/a.rs", 3),
                change: CitedChange::Changed,
            }),
            earlier(Relation::OtherGround {
                was: Ground::Test,
                now: Ground::Product,
            }),
            earlier(Relation::MayRepeat),
        ];
        outcome.findings.push(settled);
    }
    for (number, id) in [(4, 9), (5, 10), (6, 11), (7, 8)] {
        let mut disputed = dispute(
            number,
            finding(id, Tag::High, "src/a.rs:3", "title"),
            "objection",
            &["evidence"],
        );
        let mut given = ruling(RulingWord::Dismiss, "rationale");
        given.ruling.citations = vec!["src/a.rs:1".into(), "nowhere:99".into()];
        given.ruling.coder_evidence = Some("own evidence".into());
        given.votes = vec![
            PanelVote {
                judge: "one".into(),
                ruling: Some(given.ruling.clone()),
                error: None,
            },
            PanelVote {
                judge: "two".into(),
                ruling: None,
                error: Some("error".to_owned()),
            },
        ];
        disputed.rulings = vec![given];
        disputed.disposition = (number > 4).then(|| Disposition::Deferred {
            reference: "#12".to_owned(),
        });
        disputed.discarded_by = (number == 7).then(|| Ruler::Judge {
            name: "judge".into(),
        });
        disputed.opened_by = (number == 7).then(|| RunId("earlier run".to_owned()));
        disputed.earlier = vec![earlier(Relation::MayRepeat)];
        outcome.disputes.push(disputed);
    }
    let mut incomplete = reviewer("second", AnswerStatus::Incomplete, 3);
    incomplete.failure = Some("failure".to_owned());
    incomplete.problems = vec![AnswerProblem {
        call: "call".to_owned(),
        problem: "problem".to_owned(),
    }];
    incomplete.unread = vec![UnreadFile {
        file: "src/b.py".to_owned(),
        language: "Python".to_owned(),
    }];
    outcome.proof.reviewers.push(incomplete);
    outcome.proof.unread = vec![UnreadFile {
        file: "src/b.py".to_owned(),
        language: "Python".to_owned(),
    }];
    outcome.proof.skipped = vec![Skip {
        file: "logo.png".to_owned(),
        reason: SkipReason::Binary,
    }];
    let from = ReusedFrom {
        run: RunId("run".to_owned()),
        files: vec!["src/b.py".to_owned()],
        in_part: Vec::new(),
        reads_unknown: false,
    };
    outcome.proof.reused = vec![Reused {
        reviewer: "rules".into(),
        from,
    }];
    let gone = finding(1, Tag::Low, "src/c.rs:3", "gone").raw;
    outcome.no_longer_raised = vec![NoLongerRaised {
        reviewer: "rules".into(),
        finding: gone,
    }];
    outcome.changes = vec![
        FileChange {
            file: "src/a.rs".to_owned(),
            added: 1,
            removed: 1,
            diff: Some("@@ -1 +1 @@\n-a\n+b\n".to_owned()),
        },
        FileChange {
            file: "logo.png".to_owned(),
            added: 0,
            removed: 0,
            diff: None,
        },
    ];
    outcome.failures = vec![Failure {
        agent: "pen".into(),
        role: Role::Coder,
        error: "broken".to_owned(),
        hint: Some("repair it".to_owned()),
        cause: None,
        call: Some("respond.1".to_owned()),
    }];
    outcome.notices = vec!["notice".to_owned()];
    outcome.undoable = true;
    outcome.exit = ExitReason::AgentFailed;
    outcome
}

/// A call of each kind whose answer the page shows.
pub(super) fn conversation() -> Vec<Event> {
    let examined = Examined {
        finding: FindingId::new(1),
        action: ExaminationWord::Disagree,
        confidence_adjustment: -10,
        reasoning: "examined".into(),
        same_as: None,
    };
    let defended = Defended {
        finding: FindingId::new(1),
        action: DefenceWord::Modify,
        confidence_adjustment: 5,
        reasoning: "defended".into(),
        revised_severity: Some(Severity {
            tag: None,
            raw: "revised".to_owned(),
        }),
        revised_description: Some("described".into()),
    };
    let mut answered = response(2, Answer::Implemented, "answered");
    answered.evidence = vec!["shown".into()];
    let check = Recheck {
        finding: FindingId::new(2),
        resolved: true,
        reason: "checked".into(),
    };
    let answers = [
        (
            "rules",
            Purpose::Review { round: 1, shard: 0 },
            CallAnswer::Invalid {
                error: "unreadable".to_owned(),
            },
        ),
        (
            "rules",
            Purpose::Examine { round: 1 },
            CallAnswer::Examine {
                examinations: vec![examined],
                observations: Vec::new(),
            },
        ),
        (
            "gemini",
            Purpose::Defend { round: 1 },
            CallAnswer::Defend {
                defences: vec![defended],
            },
        ),
        (
            "fixer",
            Purpose::Respond { round: 1 },
            CallAnswer::Respond {
                responses: vec![answered],
                complete: true,
            },
        ),
        (
            "rules",
            Purpose::Recheck { round: 1 },
            CallAnswer::Recheck {
                checks: vec![check],
            },
        ),
    ];
    let mut kinds = vec![started()];
    for (agent, purpose, answer) in answers {
        let call = call(agent, purpose);
        let nonce = String::new();
        kinds.push(
            RunEvent::CallStarted {
                call: call.clone(),
                role: Role::Reviewer,
                prompt_bytes: 1,
                nonce,
            }
            .into(),
        );
        kinds.push(finished(call, answer));
    }
    let record = ruling(RulingWord::Enforce, "ruled");
    kinds.push(
        DisputeEvent::RulingGiven {
            dispute: DisputeNumber(4),
            ruling: record,
        }
        .into(),
    );
    kinds.push(
        DisputeEvent::RulingRevoked {
            dispute: DisputeNumber(4),
            reason: "revoked".into(),
        }
        .into(),
    );
    (1..)
        .zip(kinds)
        .map(|(seq, kind)| event(seq, kind))
        .collect()
}
