//! What a clarification did not settle, ruled on by a judge as in a review (`watch.arbitrate`).
//!
//! Each issue that a reviewer still holds up becomes a dispute in the history: the issue is the finding, what the agents
//! answered is the objection. DISMISS closes the issue, ENFORCE leaves it open and tells the agents so, and with either the
//! work goes on. ESCALATE, a dismissal without evidence and no ruling wait for a person.

use crate::domain::event::{CallId, DisputeEvent, Purpose, Settlement, WatchEvent};
use crate::domain::{
    Answer, Disposition, DisputeNumber, Finding, FindingId, RawFinding, Response, Ruler, Ruling, RulingRecord,
    RulingWord, Severity, Untrusted, WatchStatus,
};
use crate::protocol::request::{SourceFile, Task};
use crate::rules::review::{mandatory, objections};
use crate::workflows::review::disputes::{references, resolve};
use crate::workflows::run::error::RunError;
use crate::workflows::run::redaction::Redaction;
use crate::workflows::watch::cycle;
use crate::workflows::watch::engine::{PendingCall, WatchEngine};
use crate::workflows::watch::issues::Issue;
use crate::workflows::watch::state::{Cycle, Disputed};
use crate::workflows::watch::workers::worker::WorkerMessage;

impl WatchEngine {
    pub(crate) fn arbitrate(&mut self, cycle: &Cycle) -> Result<(), RunError> {
        let answers: Vec<Untrusted> = self
            .state
            .clarification
            .iter()
            .flat_map(|asked| &asked.answers)
            .map(|(name, text)| text.labelled(&format!("{}: ", name.0)))
            .collect();
        let upheld: Vec<Issue> = self.state.open_issues().filter(|issue| holds_up(cycle, issue)).cloned().collect();
        let objection = Untrusted::joined(&answers, "\n");
        for issue in upheld {
            let finding = finding(&issue, cycle.number);
            let response = Response {
                finding: finding.id,
                answer: Answer::Disagree,
                text: objection.clone(),
                evidence: Vec::new(),
            };
            let event = self.setup.journal.open_dispute(&self.run, finding, response)?;
            self.take_in_event(&event);
        }
        if self.state.disputes.is_empty() {
            return self
                .notice("there is nothing to rule on: `glee watch resume --reason WHY` lets the work go on");
        }
        Ok(())
    }

    pub(crate) fn judgements(&self) -> Vec<CallId> {
        let Some(judge) = self.state.plan.as_ref().and_then(|plan| plan.judge.as_ref()) else { return Vec::new() };
        let due = |(number, disputed): (&DisputeNumber, &Disputed)| {
            let purpose = Purpose::Judge { dispute: *number };
            let call = |attempt| CallId { agent: judge.name.clone(), purpose: purpose.clone(), attempt };
            cycle::attempt(&disputed.answers, call).filter(|_| disputed.dispute.rulings.is_empty())
        };
        self.state.disputes.iter().filter_map(due).collect()
    }

    pub(crate) fn judge(&mut self, number: DisputeNumber, id: CallId) -> Result<Option<PendingCall>, RunError> {
        let judge = self.state.plan.as_ref().and_then(|plan| plan.judge.clone());
        let (Some(judge), Some(disputed)) = (judge, self.state.disputes.get(&number)) else { return Ok(None) };
        let again = cycle::again(&disputed.answers, &id);
        let files = self.files_for(disputed);
        let dispute = Box::new(disputed.dispute.clone());
        let task = Task::Judge { dispute, files, written: Vec::new(), precedents: Vec::new() };
        self.put(id, &judge, task, again).map(Some)
    }

    /// The current text of the files that the issue and the answers name.
    fn files_for(&self, disputed: &Disputed) -> Vec<SourceFile> {
        let said = references::references(disputed.dispute.objection.text.as_written());
        let named = disputed.dispute.finding.raw.file.clone().into_iter();
        let mut files: Vec<SourceFile> = Vec::new();
        for path in named.chain(said.into_iter().map(|reference| reference.path)) {
            if let Some(text) =
                self.setup.workspace.read(&path).filter(|_| files.iter().all(|file| file.path != path))
            {
                files.push(SourceFile { path, text, changed: Vec::new(), diff: None });
            }
        }
        Redaction::from(self.setup.settings.redaction).files(files)
    }

    /// Rules where the judge has answered, and lets the work go on once everything is settled.
    pub(crate) fn settle(&mut self) -> Result<(), RunError> {
        let waiting = self.judgements();
        let is_due = |(number, disputed): &(&DisputeNumber, &Disputed)| {
            disputed.dispute.rulings.is_empty()
                && waiting.iter().all(|call| call.purpose != Purpose::Judge { dispute: **number })
        };
        let due: Vec<DisputeNumber> =
            self.state.disputes.iter().filter(is_due).map(|(number, _)| *number).collect();
        let any = !due.is_empty();
        for number in due {
            self.rule(number)?;
        }
        let disputes = &self.state.disputes;
        if disputes.is_empty() || disputes.values().any(|disputed| disputed.dispute.rulings.is_empty()) {
            return Ok(());
        }
        let open = disputes.iter().filter(|(_, disputed)| disputed.dispute.disposition.is_none());
        let open: Vec<String> = open.map(|(number, _)| number.to_string()).collect();
        if !open.is_empty() && any {
            return self.notice(&format!(
                "the judge leaves dispute {} to you: `glee watch issues close N`, then `glee watch resume --reason \
                 WHY`",
                open.join(", ")
            ));
        }
        // What a person stopped, or a blocker, no judge lets go on.
        if !open.is_empty() || self.state.status == WatchStatus::Running || self.state.held {
            return Ok(());
        }
        self.go_on()
    }

    fn rule(&mut self, number: DisputeNumber) -> Result<(), RunError> {
        let Some(disputed) = self.state.disputes.get(&number) else { return Ok(()) };
        let Some((call, last)) = disputed.answers.last_key_value() else { return Ok(()) };
        let by = Ruler::Judge { name: call.agent.clone() };
        let text_of = |path: &str| self.setup.workspace.read(path);
        let require = self.setup.settings.review.judge.require_evidence;
        let ruling = resolve::counted(Some(last), require, &|cited| references::exists(cited, &text_of))
            .unwrap_or_else(|error| Ruling { rationale: error.into(), ..Ruling::bare(RulingWord::Escalate) });
        let disposition = objections::disposition(&ruling);
        let reason = ruling.rationale.clone();
        let ruling = RulingRecord { ruling, by: by.clone(), votes: Vec::new() };
        self.append(DisputeEvent::RulingGiven { dispute: number, ruling })?;
        if let Some(disposition) = disposition {
            let settlement = Settlement { disposition, by, reason, until: None };
            self.append(DisputeEvent::DisputeSettled { dispute: number, settlement })?;
        }
        Ok(())
    }

    /// Everything is ruled on: the agents are told what is enforced, and the work goes on.
    fn go_on(&mut self) -> Result<(), RunError> {
        let ruled: Vec<Disputed> = self.state.disputes.values().cloned().collect();
        let is_enforced = |disputed: &&Disputed| disputed.dispute.disposition == Some(Disposition::Enforced);
        let enforced: Vec<&Disputed> = ruled.iter().filter(is_enforced).collect();
        let by =
            ruled.iter().find_map(|disputed| disputed.dispute.rulings.last()).map(|ruling| ruling.by.to_string());
        let reason = format!("{} dismissed, {} enforced", ruled.len() - enforced.len(), enforced.len());
        self.append(WatchEvent::WatchResumed { by: by.unwrap_or_default().into(), reason: reason.into() })?;
        self.triggers.resume(self.now());
        for disputed in enforced {
            let rationale = disputed.dispute.rulings.last().map(|ruling| ruling.ruling.rationale.clone());
            let description = &disputed.dispute.finding.raw.title;
            self.tell_all(&WorkerMessage::Enforce {
                issue: disputed.dispute.finding.id.0,
                description,
                rationale: &rationale.unwrap_or_default(),
            });
        }
        self.tell_all(&WorkerMessage::Resume);
        Ok(())
    }
}

/// Whether its reviewer raised an issue in this cycle, for the first time or again.
fn holds_up(cycle: &Cycle, issue: &Issue) -> bool {
    cycle::raised(cycle).any(|(reviewer, raised)| {
        *reviewer == issue.reviewer
            && raised.description == issue.issue.description
            && raised.file == issue.issue.file
    })
}

fn finding(issue: &Issue, cycle: u32) -> Finding {
    let word = issue.issue.severity.as_written();
    let severity = Severity { tag: mandatory::normalise(word), raw: word.to_owned() };
    Finding {
        id: FindingId(issue.number),
        raw: RawFinding {
            severity: mandatory::normalised(severity),
            title: issue.issue.description.clone(),
            file: issue.issue.file.as_ref().map(|file| file.as_written().to_owned()),
            ..RawFinding::default()
        },
        mandatory: true,
        raised_by: vec![issue.reviewer.clone()],
        round: cycle,
        anchor: None,
        reverses: None,
        consensus: None,
    }
}
