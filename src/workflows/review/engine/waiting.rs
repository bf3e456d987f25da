//! Steps that take time: agents and people are asked, and the project's own commands run.
//!
//! Each is begun here and brings back a `Done`; what it means for the run is decided where that is taken.

use crate::agents::{CommandInput, Session};
use crate::domain::event::CallId;
use crate::domain::{Dispute, DisputeNumber, Route};
use crate::workflows::review::disputes::references;
use crate::workflows::review::engine::work::{Done, PendingStep, ReviewEngine};
use crate::workflows::review::schedule::ReviewStep;
use crate::workflows::run::call;
use crate::workflows::run::error::RunError;
use crate::workflows::run::ports::{Excerpt, PersonQuestion};
use crate::workspace::code::anchors;

/// The places that are shown of what an objection cites, and the lines around each.
const CITED: usize = 4;
const AROUND: u32 = 1;

impl ReviewEngine {
    pub(crate) fn ask(&mut self, step: &ReviewStep, id: &CallId) -> Result<PendingStep, RunError> {
        let desk = self.desk(&self.bindings);
        let (task, again) = (desk.task(id), desk.again(id));
        let plan = || self.state.plan.iter();
        let mut known = plan().flat_map(|plan| &plan.agents).chain(&self.state.called_judges);
        let agent = known.find(|agent| agent.name == id.agent);
        let agent = agent.expect("a call that is due names an agent of the plan");
        let backups = plan().flat_map(|plan| &plan.backups);
        let (started, mut call) = self.runner.call(id, agent, backups, task, again, &self.state.spent)?;
        let changed = self.scripts.changed(&call.agent);
        self.append(started)?;
        let (step, id) = (step.clone(), id.clone());
        if let Some(file) = changed {
            let called = Box::new(call::refused(
                format!("`{file}`, which `{}` runs, was changed in this run", id.agent),
                "read what it says now; a new run goes by it",
            ));
            return Ok(Box::pin(async move { (step, Done::Called { call: id, called }) }));
        }
        call.lookout = Some(self.runner.watch.begin(&self.runner.workspace, &id)?);
        // A reviewer and a judge begin afresh; the coder need not read everything again.
        let session = self.state.coder_session.clone().filter(|_| id.purpose.is_coder());
        call.session = session.map(|(agent, id, used)| Session { agent, id, used });
        call.scope = self.scope();
        Ok(Box::pin(async move { (step, Done::Called { call: id, called: Box::new(call.make().await) }) }))
    }

    /// The code that the objection to a finding cites as evidence.
    fn cited(&self, dispute: &Dispute) -> Vec<Excerpt> {
        let desk = self.desk(&[]);
        let round = dispute.finding.round;
        let references =
            dispute.objection.evidence.iter().flat_map(|said| references::references(said.as_written()));
        let found = references.filter_map(|found| {
            let (first, last) = found.lines?;
            let text = self.runner.redaction().text(&desk.shown_text(round, &found.path)?);
            let cut = anchors::excerpt(&text, first, Some(last), AROUND)?;
            Some(Excerpt { file: found.path, first_line: cut.first_line, text: cut.text, lines: cut.lines })
        });
        found.take(CITED).collect()
    }

    fn question(&self, dispute: DisputeNumber) -> Option<PersonQuestion> {
        let dispute = self.state.disputes.get(&dispute)?;
        let judges: Vec<&str> = self.state.judges().map(|judge| judge.name.0.as_str()).collect();
        let judge = (!judges.is_empty()).then(|| judges.join(", "));
        let configured = self.runner.settings.review.on_dispute.default;
        let default = if judge.is_none() && configured == Route::Judge { Route::Human } else { configured };
        let undecided = self.state.disputes.values().filter(|other| {
            other.is_open() && other.route.is_none() && !self.state.is_sent_to_judge(&other.finding)
        });
        Some(PersonQuestion {
            excerpt: self.sources.excerpt(&dispute.finding),
            cited: self.cited(dispute),
            dispute: dispute.clone(),
            judge,
            default,
            configured,
            waiting: undecided.filter(|other| other.number != dispute.number).count(),
        })
    }

    pub(crate) fn choose(&mut self, step: &ReviewStep, dispute: DisputeNumber) -> Option<PendingStep> {
        let question = self.question(dispute)?;
        let mut decider = self.decider.take()?;
        let step = step.clone();
        let asked = tokio::task::spawn_blocking(move || (decider.choose(&question), decider));
        Some(Box::pin(async move {
            let (choice, decider) = asked.await.expect("a decider does not panic");
            (step, Done::Chosen { dispute, choice, decider })
        }))
    }

    pub(crate) fn ask_person(&mut self, step: &ReviewStep, dispute: DisputeNumber) -> Option<PendingStep> {
        let question = self.question(dispute)?;
        let mut decider = self.decider.take()?;
        let step = step.clone();
        let asked = tokio::task::spawn_blocking(move || (decider.rule(&question), decider));
        Some(Box::pin(async move {
            let (ruling, decider) = asked.await.expect("a decider does not panic");
            (step, Done::Ruled { dispute, ruling, decider })
        }))
    }

    pub(crate) fn verify(&self, step: &ReviewStep, round: u32) -> Result<PendingStep, RunError> {
        let commands: Vec<Vec<String>> =
            self.runner.settings.review.verify.iter().skip(self.state.verified.len()).cloned().collect();
        let (agents, limits, stop) =
            (self.runner.agents.clone(), self.runner.settings.limits, self.runner.stop.clone());
        let files = call::files(&self.runner.journal, &self.runner.run, &format!("verify-{round}"))?;
        let (root, step) = (self.runner.workspace.root().to_owned(), step.clone());
        Ok(Box::pin(async move {
            let mut results = Vec::new();
            for command in commands {
                let checked = agents
                    .run_command(&command, &root, &limits, &files, stop.clone(), CommandInput::default())
                    .await;
                results.push((command.join(" "), checked));
            }
            (step, Done::Verified { round, results })
        }))
    }
}
