//! Implements audits as a [`Workflow`].

use std::collections::BTreeMap;
use std::convert::Infallible;

use tracing::{Instrument as _, info_span};

use crate::audit::sample::AuditSample;
use crate::review::code::coder_changes::Trees;
use crate::review::disputes::resolve;
use crate::review::requests::RequestBuilder;
use crate::run::attempts;
use crate::run::error::RunError;
use crate::run::resources::RunResources;
use crate::run::runner;
use crate::run::workflow::{Pending, Prepared, Rest, Step, Workflow};
use glee_model::domain::event::{
    CallAnswer, CallId, DisputeEvent, Event, EventKind, Purpose, RunEvent,
};
use glee_model::domain::{
    Dispute, DisputeNumber, ExitReason, RulingAudit, RunId, Spent, SpentByRuns,
};
use glee_protocol::request::Task;

#[derive(Debug)]
pub struct AuditOutcome {
    pub run: RunId,
    /// The results, in the order of the random selection of the disputes.
    pub audits: Vec<RulingAudit>,
    pub spent: Spent,
    pub by_runs: SpentByRuns,
    /// Whether the judge changed files, which judges must not do.
    pub violated: bool,
    pub rest: Rest,
}

pub(crate) struct AuditWorkflow {
    resources: RunResources,
    sample: AuditSample,
    calls: BTreeMap<CallId, CallAnswer>,
    audits: BTreeMap<DisputeNumber, RulingAudit>,
    spent: Spent,
    violated: bool,
    ended: bool,
}

impl AuditWorkflow {
    pub(super) fn new(resources: RunResources, sample: AuditSample) -> Self {
        Self {
            resources,
            sample,
            calls: BTreeMap::new(),
            audits: BTreeMap::new(),
            spent: Spent::default(),
            violated: false,
            ended: false,
        }
    }

    pub(super) async fn run(mut self) -> Result<AuditOutcome, RunError> {
        let span = info_span!(parent: &self.resources.span, "audit", judge = self.sample.plan.judge.name.0);
        let rest = runner::drive(&mut self).instrument(span).await?;
        let drawn = self.sample.plan.disputes.iter();
        let audits = drawn
            .filter_map(|number| self.audits.remove(number))
            .collect();
        let Self {
            resources,
            spent,
            violated,
            ..
        } = self;
        Ok(AuditOutcome {
            run: resources.run,
            audits,
            spent,
            by_runs: resources.by_runs,
            violated,
            rest,
        })
    }

    fn requests(&self, dispute: DisputeNumber) -> RequestBuilder<'_> {
        let recorded = &self.sample.runs[&self.sample.cases[&dispute]];
        let RunResources {
            workspace,
            state_dir,
            ..
        } = &self.resources;
        let trees = Trees {
            workspace,
            state_dir,
        };
        // No earlier ruling is sent to the judge, because an earlier ruling can be about the audited finding.
        RequestBuilder {
            state: &recorded.state,
            sources: &recorded.sources,
            trees,
            bindings: &[],
        }
    }

    fn case(&self, dispute: DisputeNumber) -> &Dispute {
        let mut disputes = self.sample.disputes.iter();
        let case = disputes.find(|case| case.number == dispute);
        case.expect("a dispute of the sample")
    }

    fn step(&self, dispute: DisputeNumber) -> Step<Infallible, Infallible> {
        let judge = &self.sample.plan.judge.name;
        let purpose = Purpose::Judge { dispute };
        if let Some(call) = attempts::next_valid(&self.calls, judge, purpose.clone()) {
            return Step::Ask(call);
        }
        let answer = attempts::last(&self.calls, judge, &purpose).map(|(_, answer)| answer);
        let case = self.case(dispute);
        let review = &self.resources.settings.review;
        let ruling = resolve::counted_by(&self.requests(dispute), case, answer, review);
        let (ruling, error) = match ruling {
            Ok(ruling) => (Some(ruling), None),
            Err(error) => (None, Some(error)),
        };
        let audit = Box::new(RulingAudit {
            dispute,
            judge: judge.clone(),
            ruling,
            error,
        });
        Step::Record(Box::new(DisputeEvent::RulingAudited { audit }.into()))
    }
}

impl Workflow for AuditWorkflow {
    type Effect = Infallible;
    type Question = Infallible;
    type Input = Infallible;

    fn resources(&self) -> &RunResources {
        &self.resources
    }

    fn resources_mut(&mut self) -> &mut RunResources {
        &mut self.resources
    }

    fn apply(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Run(RunEvent::CallFinished {
                call,
                answer,
                usage,
                told,
                ..
            }) => {
                self.spent.add(**usage, told.retries);
                self.calls.insert(call.clone(), answer.clone());
            }
            EventKind::Run(RunEvent::ReadOnlyViolated { .. }) => self.violated = true,
            EventKind::Run(RunEvent::RunEnded { .. }) => self.ended = true,
            EventKind::Dispute(DisputeEvent::RulingAudited { audit }) => {
                self.audits.insert(audit.dispute, (**audit).clone());
            }
            _ => {}
        }
    }

    fn spent(&self) -> &Spent {
        &self.spent
    }

    fn next(&self) -> Vec<Step<Infallible, Infallible>> {
        if self.ended {
            return Vec::new();
        }
        let left = self
            .sample
            .plan
            .disputes
            .iter()
            .filter(|dispute| !self.audits.contains_key(dispute));
        let steps: Vec<_> = left.map(|dispute| self.step(*dispute)).collect();
        if steps.is_empty() {
            vec![Step::Finish]
        } else {
            steps
        }
    }

    fn request(&mut self, call: &CallId) -> Result<Prepared, RunError> {
        let Purpose::Judge { dispute } = call.purpose else {
            unreachable!("an audit only asks its judge")
        };
        let case = self.case(dispute);
        let again = attempts::why_again(&self.calls, call);
        let task = Task::Judge(self.requests(dispute).judge(&[case]));
        // The judge of an audit has no backup, because the backup could be the agent that dismissed the finding.
        let prepared = self
            .resources
            .call(call, &self.sample.plan.judge, &[], task, again)?;
        Ok(Prepared::Call(Box::new(prepared)))
    }

    fn effect(&mut self, effect: &Infallible) -> Result<Option<Pending<Infallible>>, RunError> {
        match *effect {}
    }

    fn prompt(&mut self, question: &Infallible) -> Option<Pending<Infallible>> {
        match *question {}
    }

    fn take(&mut self, input: Infallible, _is_stopped: bool) -> Result<bool, RunError> {
        match input {}
    }

    fn finish(&mut self) -> Result<(), RunError> {
        self.append(RunEvent::RunEnded {
            exit: ExitReason::Clean,
            millis: self.resources.millis(),
        })
    }
}
