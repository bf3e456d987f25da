//! Replaces secrets in requests, answers, events and stored files (setting `redaction.secrets`).
//!
//! Requests to embedded agents are not redacted, because these agents are part of this program. Answers are
//! redacted before they are parsed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek as _};
use std::path::Path;

use crate::agents::AnswerText;
use crate::config::settings;
use crate::domain::event::{ConsensusEvent, EventKind, Plan, ReviewEvent, WatchEvent};
use crate::domain::{Agent, FileChange, FileReview, StagePlan, WatchPlan, number_of};
use crate::protocol::request::{Request, SourceFile};
use crate::protocol::secrets;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Redaction {
    on: bool,
}

impl From<settings::Redaction> for Redaction {
    fn from(settings: settings::Redaction) -> Self {
        Self {
            on: settings.secrets,
        }
    }
}

impl Redaction {
    pub(crate) const ON: Self = Self { on: true };

    /// Redacts the texts of an event. Ids, hashes and the path of the work tree remain unchanged.
    pub(crate) fn event(self, kind: EventKind) -> EventKind {
        if !self.on {
            return kind;
        }
        match kind {
            EventKind::Review(ReviewEvent::RunStarted { plan }) => {
                let Plan {
                    root, commit, tree, ..
                } = (*plan).clone();
                let plan = Box::new(Plan {
                    root,
                    commit,
                    tree,
                    ..secrets::redact_value(*plan)
                });
                ReviewEvent::RunStarted { plan }.into()
            }
            EventKind::Watch(WatchEvent::WatchStarted { plan }) => {
                let WatchPlan { root, tree, .. } = (*plan).clone();
                let plan = Box::new(WatchPlan {
                    root,
                    tree,
                    ..secrets::redact_value(*plan)
                });
                WatchEvent::WatchStarted { plan }.into()
            }
            // Only the text fields of `EventReceived` are redacted, because a watch can record ten thousand of
            // these events per second.
            EventKind::Watch(WatchEvent::EventReceived { mut said }) => {
                let texts = said.summary.iter_mut().chain(&mut said.files);
                texts.for_each(|text| *text = self.text(text.as_written()).into());
                WatchEvent::EventReceived { said }.into()
            }
            EventKind::Consensus(ConsensusEvent::StageStarted { plan }) => {
                let StagePlan { root, id, .. } = (*plan).clone();
                let plan = Box::new(StagePlan {
                    root,
                    id,
                    ..secrets::redact_value(*plan)
                });
                ConsensusEvent::StageStarted { plan }.into()
            }
            EventKind::Review(ReviewEvent::FilesReviewed {
                call,
                asker,
                salt,
                files,
                others,
                places,
                reads,
            }) => {
                let clean = |review: FileReview| FileReview {
                    file: self.text(&review.file),
                    findings: secrets::redact_value(review.findings),
                    ..review
                };
                let files = files.into_iter().map(clean).collect();
                let others = secrets::redact_value(others);
                ReviewEvent::FilesReviewed {
                    call,
                    asker,
                    salt,
                    files,
                    others,
                    places: places
                        .into_iter()
                        .map(|(file, key)| (self.text(&file), key))
                        .collect(),
                    reads,
                }
                .into()
            }
            EventKind::Review(ReviewEvent::AnswersReused {
                call,
                from,
                findings,
                origins,
                asked,
                superseded,
                reads,
            }) => ReviewEvent::AnswersReused {
                call,
                from: secrets::redact_value(from),
                findings: secrets::redact_value(findings),
                origins,
                asked: secrets::redact_value(asked),
                superseded: secrets::redact_value(superseded),
                // A hash can look like a secret. The paths are redacted since the event of the call.
                reads,
            }
            .into(),
            kind => secrets::redact_value(kind),
        }
    }

    pub(crate) fn answer(self, answer: AnswerText) -> AnswerText {
        match answer {
            AnswerText::Text(text) => AnswerText::Text(self.text(&text)),
            // `Redaction::file` has already redacted this file.
            AnswerText::File(path) => AnswerText::File(path),
        }
    }

    pub(crate) fn request(self, agent: &Agent, request: Request) -> Request {
        if !self.on || agent.is_embedded() {
            return request;
        }
        Request {
            task: secrets::redact_value(request.task),
            ..request
        }
    }

    pub(crate) fn text(self, text: &str) -> String {
        if self.on {
            secrets::redact(text).into_owned()
        } else {
            text.to_owned()
        }
    }

    pub(crate) fn files(self, files: Vec<SourceFile>) -> Vec<SourceFile> {
        if self.on {
            secrets::redact_value(files)
        } else {
            files
        }
    }

    /// Says how many secrets of the files agents do not get; `None` if there are none.
    pub(crate) fn withheld(self, files: &[SourceFile]) -> Option<String> {
        let mut withheld = BTreeSet::new();
        for file in files.iter().filter(|_| self.on) {
            withheld.extend(secrets::found(&file.text));
            withheld.extend(file.diff.as_deref().into_iter().flat_map(secrets::found));
        }
        let number = number_of(withheld.len(), "secret");
        (!withheld.is_empty()).then(|| format!("{number} withheld: agents get a placeholder"))
    }

    pub(crate) fn changes(self, changes: Vec<FileChange>) -> Vec<FileChange> {
        if self.on {
            secrets::redact_value(changes)
        } else {
            changes
        }
    }

    /// Replaces a stored file atomically by a copy without secrets.
    pub(crate) fn file(self, path: &Path) -> io::Result<()> {
        if !self.on {
            return Ok(());
        }
        let mut input = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => BufReader::new(opened?),
        };
        if !secrets::copy(&mut input, &mut io::sink())? {
            return Ok(());
        }
        input.rewind()?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut clean = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
        secrets::copy(&mut input, &mut clean)?;
        clean
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .persist(path)
            .map_err(|error| error.error)?;
        Ok(())
    }
}
