//! What leaves the machine or is kept, without secrets (`redaction.secrets`).
//!
//! Everything a run records passes [`Redaction::event`], everything an agent of another vendor is told passes
//! [`Redaction::request`]; the embedded agents, which are this program, are told the code as it stands.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek as _};
use std::path::Path;

use crate::config::settings;
use crate::domain::event::{CallAnswer, ConsensusEvent, EventKind, Plan, ReviewEvent, RunEvent, WatchEvent};
use crate::domain::{Agent, FileChange, FileReview, StagePlan, WatchPlan};
use crate::protocol::request::{Request, SourceFile};
use crate::protocol::secrets;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Redaction {
    on: bool,
}

impl From<settings::Redaction> for Redaction {
    fn from(settings: settings::Redaction) -> Self {
        Self { on: settings.secrets }
    }
}

impl Redaction {
    pub(crate) const ON: Self = Self { on: true };

    /// An event as it is recorded. Findings, of which there may be thousands, are gone through one by one, so that no
    /// second copy of all of them is held.
    pub(crate) fn event(self, kind: EventKind) -> EventKind {
        if !self.on {
            return kind;
        }
        match kind {
            EventKind::Review(ReviewEvent::RunStarted { plan }) => {
                EventKind::Review(ReviewEvent::RunStarted { plan: Box::new(self.plan(*plan)) })
            }
            EventKind::Watch(WatchEvent::WatchStarted { plan }) => {
                let WatchPlan { root, tree, .. } = (*plan).clone();
                EventKind::Watch(WatchEvent::WatchStarted {
                    plan: Box::new(WatchPlan { root, tree, ..secrets::redact_value(*plan) }),
                })
            }
            // There may be ten thousand a second.
            EventKind::Watch(WatchEvent::EventReceived { mut said }) => {
                let texts = said.summary.iter_mut().chain(&mut said.files);
                texts.for_each(|text| *text = self.text(text.as_written()).into());
                EventKind::Watch(WatchEvent::EventReceived { said })
            }
            EventKind::Consensus(ConsensusEvent::StageStarted { plan }) => {
                let StagePlan { root, id, .. } = (*plan).clone();
                EventKind::Consensus(ConsensusEvent::StageStarted {
                    plan: Box::new(StagePlan { root, id, ..secrets::redact_value(*plan) }),
                })
            }
            EventKind::Run(RunEvent::CallFinished {
                call,
                answer: CallAnswer::Review { status, findings, notes, problem },
                transcript,
                millis,
                usage,
                told,
            }) => {
                let findings = findings.into_iter().map(secrets::redact_value).collect();
                let (notes, problem) = (secrets::redact_value(notes), problem.map(secrets::redact_value));
                let answer = CallAnswer::Review { status, findings, notes, problem };
                EventKind::Run(RunEvent::CallFinished {
                    call,
                    answer,
                    transcript,
                    millis,
                    usage,
                    told: secrets::redact_value(told),
                })
            }
            // Hashes are no text.
            EventKind::Review(ReviewEvent::FilesReviewed { call, asker, salt, files, others }) => {
                let clean = |review: FileReview| FileReview {
                    file: self.text(&review.file),
                    findings: review.findings.into_iter().map(secrets::redact_value).collect(),
                    ..review
                };
                let files = files.into_iter().map(clean).collect();
                let others = others.into_iter().map(secrets::redact_value).collect();
                EventKind::Review(ReviewEvent::FilesReviewed { call, asker, salt, files, others })
            }
            EventKind::Review(ReviewEvent::FindingsMerged { round, findings }) => {
                EventKind::Review(ReviewEvent::FindingsMerged {
                    round,
                    findings: findings.into_iter().map(secrets::redact_value).collect(),
                })
            }
            kind => secrets::redact_value(kind),
        }
    }

    fn plan(self, plan: Plan) -> Plan {
        if !self.on {
            return plan;
        }
        let Plan { root, commit, tree, .. } = plan.clone();
        Plan { root, commit, tree, ..secrets::redact_value(plan) }
    }

    /// A request as it is sent to an agent.
    pub(crate) fn request(self, agent: &Agent, request: Request) -> Request {
        if !self.on || agent.is_embedded() {
            return request;
        }
        Request { task: secrets::redact_value(request.task), ..request }
    }

    pub(crate) fn text(self, text: &str) -> String {
        if self.on { secrets::redact(text).into_owned() } else { text.to_owned() }
    }

    pub(crate) fn files(self, files: Vec<SourceFile>) -> Vec<SourceFile> {
        if self.on { secrets::redact_value(files) } else { files }
    }

    pub(crate) fn changes(self, changes: Vec<FileChange>) -> Vec<FileChange> {
        if self.on { secrets::redact_value(changes) } else { changes }
    }

    /// Takes the secrets out of a kept file, which is replaced at once or not at all. Fails when it cannot be read or
    /// replaced.
    pub(crate) fn file(self, path: &Path) -> io::Result<()> {
        if !self.on {
            return Ok(());
        }
        let mut input = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => BufReader::new(opened?),
        };
        // Hardly any file has one, so none is written before one is found.
        if !secrets::copy(&mut input, &mut io::sink())? {
            return Ok(());
        }
        input.rewind()?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut clean = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
        secrets::copy(&mut input, &mut clean)?;
        clean.into_inner().map_err(io::IntoInnerError::into_error)?.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}
