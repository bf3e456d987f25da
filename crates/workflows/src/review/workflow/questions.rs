//! Asks a person about the route or the ruling of a dispute.

use crate::review::disputes::references;
use crate::review::schedule::DisputeQuestion;
use crate::review::workflow::{ReviewInput, ReviewWorkflow};
use crate::run::ports::PersonQuestion;
use crate::run::workflow::Pending;
use glee_model::domain::{Dispute, DisputeNumber, Route, Untrusted};
use glee_workspace::code::anchors::Excerpt;

impl ReviewWorkflow {
    fn cited(&self, dispute: &Dispute) -> Vec<Excerpt> {
        let requests = self.requests(&[]);
        let finding = &dispute.finding;
        let redaction = self.resources.redaction();
        let evidence: Vec<&Untrusted> = dispute.objection.evidence.iter().collect();
        references::cited(finding, &evidence, &|path| {
            Some(redaction.text(&requests.shown_text(finding.round, path)?))
        })
    }

    fn question(&self, number: DisputeNumber) -> Option<PersonQuestion> {
        let dispute = self.state.disputes.get(&number)?;
        let judges: Vec<&str> = self
            .state
            .judges()
            .map(|judge| judge.name.0.as_str())
            .collect();
        let judge = (!judges.is_empty()).then(|| judges.join(", "));
        let configured = self.resources.settings.review.on_dispute.default;
        let default = if judge.is_none() && configured == Route::Judge {
            Route::Human
        } else {
            configured
        };
        Some(PersonQuestion {
            excerpt: self.sources.excerpt(&dispute.finding),
            cited: self.cited(dispute),
            can_answer: self.state.reply_of(dispute).is_some(),
            dispute: dispute.clone(),
            judge,
            default,
            configured,
            waiting: self
                .state
                .undecided()
                .filter(|other| *other != number)
                .count(),
        })
    }

    pub(super) fn ask_person(&mut self, asked: DisputeQuestion) -> Option<Pending<ReviewInput>> {
        let (DisputeQuestion::Route(dispute) | DisputeQuestion::Ruling(dispute)) = asked;
        self.resolver.as_ref()?;
        let question = self.question(dispute)?;
        let mut resolver = self.resolver.take()?;
        let answer = tokio::task::spawn_blocking(move || match asked {
            DisputeQuestion::Route(_) => {
                let choice = resolver.choose(&question);
                ReviewInput::Chosen {
                    dispute,
                    choice,
                    resolver,
                }
            }
            DisputeQuestion::Ruling(_) => {
                let ruling = resolver.rule(&question);
                ReviewInput::Ruled {
                    dispute,
                    ruling,
                    resolver,
                }
            }
        });
        Some(Box::pin(async move {
            answer.await.expect("a resolver does not panic")
        }))
    }
}
