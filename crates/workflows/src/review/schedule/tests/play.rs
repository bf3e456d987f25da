//! A review that is played event by event, with the steps that are due after each.

use super::*;

pub(super) struct Play {
    pub(super) state: ReviewState,
    pub(super) policy: SchedulePolicy,
    pub(super) parked: BTreeSet<DisputeNumber>,
}

pub(super) fn agent(name: &str, role: Role) -> Agent {
    Agent {
        role,
        ..samples::agent(name, "text", &[name])
    }
}

pub(super) fn finding(id: u32, tag: Tag) -> Finding {
    Finding {
        mandatory: matches!(tag, Tag::Must | Tag::High),
        raised_by: vec![AgentName::from("r1")],
        anchor: Some(Anchor {
            file: "a.py".into(),
            block: format!("b{id}"),
            category: "bug".into(),
            text: format!("finding {id}"),
            ..Anchor::default()
        }),
        ..Finding::raised(
            FindingId::new(id),
            RawFinding {
                severity: Severity::known(tag),
                title: format!("finding {id}").into(),
                file: Some("a.py".into()),
                line: Some(id),
                ..RawFinding::default()
            },
        )
    }
}

pub(super) fn call(agent: &str, purpose: Purpose, attempt: u32) -> CallId {
    CallId {
        agent: AgentName::from(agent),
        purpose,
        attempt,
    }
}

pub(super) const REVIEW: Purpose = Purpose::Review { round: 1, shard: 0 };
pub(super) const RESPOND: Purpose = Purpose::Respond { round: 1 };
pub(super) const ENFORCE: Purpose = Purpose::Enforce { round: 1 };
pub(super) const D1: DisputeNumber = DisputeNumber(1);

impl Play {
    pub(super) fn new(mode: Mode) -> Self {
        let covered = Coverage {
            file: "a.py".into(),
            lines: 9,
            ranges: Vec::new(),
        };
        let plan = Plan {
            root: "/tree".into(),
            target: "a.py".into(),
            tree: "t0".into(),
            mode,
            agents: vec![
                agent("r1", Role::Reviewer),
                agent("r2", Role::Reviewer),
                agent("c", Role::Coder),
                agent("j", Role::Judge),
            ],
            shards: vec![vec![covered]],
            ..Plan::default()
        };
        let policy = SchedulePolicy {
            mode,
            recheck: true,
            compare: true,
            rounds: 1,
            verify: 0,
            repairs: REPAIRS,
            escalate_to: Route::Human,
        };
        let mut play = Self {
            state: ReviewState::default(),
            policy,
            parked: BTreeSet::new(),
        };
        play.event(ReviewEvent::RunStarted {
            plan: Box::new(plan),
        });
        play
    }

    pub(super) fn event(&mut self, kind: impl Into<EventKind>) -> &mut Self {
        self.state.apply(&kind.into());
        self
    }

    pub(super) fn answered(&mut self, call: CallId, answer: CallAnswer) -> &mut Self {
        self.event(RunEvent::CallFinished {
            call,
            answer,
            transcript: None,
            millis: 1,
            usage: Box::default(),
            told: Box::default(),
        })
    }

    pub(super) fn answered_reviews(&mut self) -> &mut Self {
        for name in ["r1", "r2"] {
            self.answered(
                call(name, REVIEW, 1),
                CallAnswer::Review {
                    status: AnswerStatus::Complete,
                    findings: Vec::new(),
                    notes: String::new(),
                    problem: None,
                    read: None,
                    is_doubtful: false,
                },
            );
        }
        self
    }

    pub(super) fn reviewed(&mut self, findings: Vec<Finding>) -> &mut Self {
        self.answered_reviews();
        self.event(ReviewEvent::FindingsMerged {
            restated: Vec::new(),
            round: 1,
            findings,
        })
    }

    pub(super) fn responded(
        &mut self,
        purpose: Purpose,
        attempt: u32,
        answers: &[(u32, Answer)],
    ) -> &mut Self {
        let responses = answers
            .iter()
            .map(|(id, answer)| Response {
                finding: FindingId::new(*id),
                answer: *answer,
                text: "why".into(),
                evidence: Vec::new(),
                demonstration: None,
            })
            .collect();
        self.answered(
            call("c", purpose, attempt),
            CallAnswer::Respond {
                responses,
                complete: true,
            },
        )
    }

    pub(super) fn changed(&mut self, call: CallId, touched: &[u32]) -> &mut Self {
        let change = glee_model::domain::FileChange {
            file: "a.py".into(),
            added: 1,
            removed: 1,
            diff: Some(String::new()),
        };
        self.event(ReviewEvent::TreeChanged(TreeChange {
            call,
            tree: "t1".into(),
            put_back: Vec::new(),
            changes: if touched.is_empty() {
                Vec::new()
            } else {
                vec![change]
            },
            touched: touched.iter().map(|id| FindingId::new(*id)).collect(),
            partly: Vec::new(),
        }))
    }

    pub(super) fn disputed(&mut self, id: u32) -> &mut Self {
        let finding = self
            .state
            .finding(FindingId::new(id))
            .expect("a finding of the play")
            .clone();
        let objection = self
            .state
            .progress(FindingId::new(id))
            .response
            .clone()
            .expect("an answer");
        let dispute = Dispute {
            left: Vec::new(),
            members: Vec::new(),
            number: DisputeNumber(u64::from(id)),
            finding,
            objection,
            route: None,
            rulings: Vec::new(),
            objector: glee_model::domain::Objector::Coder,
            discarded_by: None,
            answered: Vec::new(),
            opened_by: None,
            participant: None,
            disposition: None,
            earlier: Vec::new(),
        };
        self.event(DisputeEvent::DisputeOpened {
            dispute: Box::new(dispute),
        })
    }

    pub(super) fn routed(&mut self, route: Route) -> &mut Self {
        self.event(DisputeEvent::RouteChosen {
            dispute: D1,
            route,
            person: Some(Person::default()),
        })
    }

    pub(super) fn ruled(&mut self, word: RulingWord, by: Ruler) -> &mut Self {
        let ruling = Ruling {
            ruling: word,
            rationale: "".into(),
            grounds: None,
            citations: Vec::new(),
            new_tag: None,
            duplicate_of: None,
            coder_evidence: None,
            members: Vec::new(),
        };
        self.event(DisputeEvent::RulingGiven {
            dispute: D1,
            ruling: RulingRecord::new(ruling, by),
        })
    }

    pub(super) fn settled(&mut self) -> &mut Self {
        let settlement = settlement(&self.state, D1).expect("a dispute of the play");
        self.event(DisputeEvent::DisputeSettled {
            dispute: D1,
            settlement,
        })
    }

    pub(super) fn due(&self) -> Vec<ReviewStep> {
        next_steps(&self.state, &self.policy, &self.parked)
    }

    pub(super) fn state_of(&self, id: u32) -> FindingState {
        self.state.finding_state(
            self.state
                .finding(FindingId::new(id))
                .expect("a finding of the play"),
        )
    }
}

pub(super) fn judge() -> Ruler {
    Ruler::Judge {
        name: AgentName::from("j"),
    }
}

pub(super) fn one_dispute() -> Play {
    let mut play = Play::new(Mode::Arbitrate);
    play.reviewed(vec![finding(1, Tag::Must)])
        .event(ReviewEvent::BeforeImage {
            kept_as: "ref".into(),
            tree: "t0".into(),
        })
        .responded(RESPOND, 1, &[(1, Answer::Disagree)])
        .changed(call("c", RESPOND, 1), &[])
        .disputed(1);
    play
}
