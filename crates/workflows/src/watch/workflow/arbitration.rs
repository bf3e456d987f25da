//! Lets a judge rule on issues that remain after a clarification (`watch.arbitrate`).
//!
//! Each issue that a reviewer raises after the clarification becomes the finding of a dispute. The agents' answers
//! to the clarification are the objection of the dispute. The ruling DISMISS closes the issue. After the ruling
//! ENFORCE, the issue remains open and the agents are informed. The work resumes when all disputes are dismissed
//! or enforced. The watch waits for a person in three cases: the judge escalates, the judge dismisses without
//! evidence, or the judge gives no ruling.

use crate::review::disputes::references::support;
use crate::review::disputes::resolve;
use crate::run::attempts;
use crate::run::error::RunError;
use crate::run::workflow::Workflow as _;
use crate::watch::issues::Issue;
use crate::watch::state::{Cycle, Disputed};
use crate::watch::workers::worker::WorkerMessage;
use crate::watch::workflow::WatchWorkflow;
use glee_agents::Call;
use glee_model::domain::event::{CallId, DisputeEvent, Purpose, Settlement, WatchEvent};
use glee_model::domain::{
    Answer, Disposition, DisputeNumber, Finding, FindingId, RawFinding, Response, Ruler, Ruling,
    RulingRecord, RulingWord, Severity, Untrusted, WatchStatus,
};
use glee_model::rules::review::{mandatory, objections};
use glee_protocol::calls::judge::JudgeCall;
use glee_protocol::request::{SourceFile, Task};
use glee_protocol::text::references::references;
use glee_workspace::code::cited;

impl WatchWorkflow {
    pub(super) fn arbitrate(&mut self, cycle: &Cycle) -> Result<(), RunError> {
        let answers: Vec<Untrusted> = self
            .state
            .clarification
            .iter()
            .flat_map(|asked| &asked.answers)
            .map(|(name, text)| text.labelled(&format!("{}: ", name.0)))
            .collect();
        let upheld: Vec<Issue> = self
            .state
            .open_issues()
            .filter(|issue| self.state.is_raised_again(cycle, issue))
            .cloned()
            .collect();
        let objection = Untrusted::joined(&answers, "\n");
        for issue in upheld {
            let finding = finding(&issue, cycle.number);
            let response = Response {
                finding: finding.id,
                answer: Answer::Disagree,
                text: objection.clone(),
                evidence: Vec::new(),
                demonstration: None,
            };
            let event =
                self.resources
                    .journal
                    .open_dispute(&self.resources.run, finding, response)?;
            self.accept(&[event]);
        }
        if self.state.disputes.is_empty() {
            return self.notice(
                "no issue requires a ruling: resume the work with `glee watch resume --reason WHY`",
            );
        }
        Ok(())
    }

    pub(super) fn judge(
        &self,
        number: DisputeNumber,
        id: &CallId,
    ) -> Option<Result<Call, RunError>> {
        let judge = self.state.plan.as_ref()?.judge.as_ref()?;
        let disputed = self.state.disputes.get(&number)?;
        let files = self.files_for(disputed);
        let task = Task::Judge(JudgeCall::of(disputed.dispute.clone(), files));
        Some(self.call(id, judge, task, attempts::why_again(&disputed.answers, id)))
    }

    /// The current content of the files that are named in the issue or in the agents' answers.
    fn files_for(&self, disputed: &Disputed) -> Vec<SourceFile> {
        let said = references(disputed.dispute.objection.text.as_written());
        let named = disputed.dispute.finding.raw.file.clone().into_iter();
        let mut files: Vec<SourceFile> = Vec::new();
        for path in named.chain(said.map(|reference| reference.path)) {
            if let Some(text) = self
                .resources
                .workspace
                .read(&path)
                .filter(|_| files.iter().all(|file| file.path != path))
            {
                files.push(SourceFile::whole(path, text));
            }
        }
        self.resources.redaction().value(files)
    }

    /// The disputes that have no recorded ruling although the judge's last attempt has ended.
    fn unruled(&self) -> Vec<DisputeNumber> {
        let waiting = self.judgements();
        self.state
            .disputes
            .iter()
            .filter(|(number, disputed)| {
                disputed.dispute.rulings.is_empty()
                    && waiting
                        .iter()
                        .all(|call| call.purpose != Purpose::Judge { dispute: **number })
            })
            .map(|(number, _)| *number)
            .collect()
    }

    /// The disputes that the judge escalated to a person. Returns `None` if there is no dispute or a ruling is
    /// missing.
    fn left_open(&self) -> Option<Vec<DisputeNumber>> {
        let disputes = &self.state.disputes;
        if disputes.is_empty()
            || disputes
                .values()
                .any(|disputed| disputed.dispute.rulings.is_empty())
        {
            return None;
        }
        let open = disputes
            .iter()
            .filter(|(_, disputed)| disputed.dispute.disposition.is_none());
        Some(open.map(|(number, _)| *number).collect())
    }

    /// Whether the work can resume: all disputes are settled, and neither a person nor a blocker paused the work.
    fn may_resume(&self) -> bool {
        self.state.status == WatchStatus::Paused
            && !self.state.held
            && self.left_open().is_some_and(|open| open.is_empty())
    }

    pub(super) fn needs_settling(&self) -> bool {
        !self.unruled().is_empty() || self.may_resume()
    }

    /// Records the judge's rulings, and resumes the work if all disputes are settled.
    pub(super) fn settle(&mut self) -> Result<(), RunError> {
        for number in self.unruled() {
            self.rule(number)?;
        }
        if self.may_resume() {
            return self.resume();
        }
        match self.left_open() {
            Some(open) if !open.is_empty() => {
                let open: Vec<String> = open.iter().map(ToString::to_string).collect();
                self.notice(format!(
                    "the judge leaves dispute {} to you: `glee watch issues close N`, then `glee watch resume --reason \
                     WHY`",
                    open.join(", ")
                ))
            }
            _ => Ok(()),
        }
    }

    fn rule(&mut self, number: DisputeNumber) -> Result<(), RunError> {
        let Some(disputed) = self.state.disputes.get(&number) else {
            return Ok(());
        };
        let Some((call, last)) = disputed.answers.last_key_value() else {
            return Ok(());
        };
        let by = Ruler::Judge {
            name: call.agent.clone(),
        };
        let text_of = |path: &str| self.resources.workspace.read(path);
        let require = self.resources.settings.review.judge.require_evidence;
        let ruling = resolve::counted(Some(last), require, &|ruling, cited| {
            support(&disputed.dispute, ruling, cited, &text_of)
        })
        .unwrap_or_else(|error| Ruling {
            rationale: error.into(),
            ..Ruling::bare(RulingWord::Escalate)
        });
        let disposition = objections::disposition(&ruling);
        let reason = ruling.rationale.clone();
        let mut ruling = RulingRecord::new(ruling, by.clone());
        let file = disputed.dispute.finding.raw.file.as_deref();
        let references = cited::relied_on(&ruling, &disputed.dispute.objection.evidence);
        ruling.cited = cited::record(references, file.unwrap_or_default(), &text_of);
        self.append(DisputeEvent::RulingGiven {
            dispute: number,
            ruling,
        })?;
        if let Some(disposition) = disposition {
            let settlement = Settlement {
                disposition,
                by,
                reason,
                until: None,
            };
            self.append(DisputeEvent::DisputeSettled {
                dispute: number,
                settlement,
            })?;
        }
        Ok(())
    }

    fn resume(&mut self) -> Result<(), RunError> {
        let ruled: Vec<Disputed> = self.state.disputes.values().cloned().collect();
        let is_enforced =
            |disputed: &&Disputed| disputed.dispute.disposition == Some(Disposition::Enforced);
        let enforced: Vec<&Disputed> = ruled.iter().filter(is_enforced).collect();
        let by = ruled
            .iter()
            .find_map(|disputed| disputed.dispute.rulings.last())
            .map(|ruling| ruling.by.to_string());
        let reason = format!(
            "{} dismissed, {} enforced",
            ruled.len() - enforced.len(),
            enforced.len()
        );
        self.append(WatchEvent::WatchResumed {
            by: by.unwrap_or_default().into(),
            reason: reason.into(),
        })?;
        self.triggers.resume(self.now());
        for disputed in enforced {
            let rationale = disputed
                .dispute
                .rulings
                .last()
                .map(|ruling| ruling.ruling.rationale.clone());
            let description = &disputed.dispute.finding.raw.title;
            self.tell_all(&WorkerMessage::Enforce {
                issue: disputed.dispute.finding.id.number,
                description,
                rationale: &rationale.unwrap_or_default(),
            });
        }
        self.tell_all(&WorkerMessage::Resume);
        Ok(())
    }
}

fn finding(issue: &Issue, cycle: u32) -> Finding {
    let word = issue.issue.severity.as_written();
    let severity = Severity {
        tag: mandatory::normalise(word),
        raw: word.to_owned(),
    };
    Finding {
        mandatory: true,
        raised_by: vec![issue.reviewer.clone()],
        round: cycle,
        ..Finding::raised(
            FindingId::new(issue.number),
            RawFinding {
                severity: mandatory::normalised(severity),
                title: issue.issue.description.clone(),
                file: issue
                    .issue
                    .file
                    .as_ref()
                    .map(|file| file.as_written().to_owned()),
                ..RawFinding::default()
            },
        )
    }
}
