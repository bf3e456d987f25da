//! Replaces secrets in requests, answers and stored files (setting `redaction.secrets`). The history redacts the
//! events.
//!
//! Requests to embedded agents are not redacted, because these agents are part of this program. Answers are
//! redacted before they are parsed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use glee_agents::{AnswerText, TranscriptFiles};
use glee_model::domain::event::EventKind;
use glee_model::domain::{Agent, number_of};
use glee_protocol::request::{Request, SourceFile};
use glee_protocol::secrets;
use glee_store::config::settings;
use glee_store::history::redacted;

#[derive(Clone, Copy, Debug)]
pub struct Redaction {
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
    pub const ON: Self = Self { on: true };

    /// The event as a history records it.
    pub fn event(self, kind: EventKind) -> EventKind {
        if self.on { redacted::event(kind) } else { kind }
    }

    pub fn answer(self, answer: AnswerText) -> AnswerText {
        match answer {
            AnswerText::Text(text) => AnswerText::Text(self.text(&text)),
            // `Redaction::file` has already redacted this file.
            AnswerText::File(path) => AnswerText::File(path),
        }
    }

    pub fn request(self, agent: &Agent, request: Request) -> Request {
        if !self.on || agent.is_embedded() {
            return request;
        }
        Request {
            task: secrets::redact_value(request.task),
            ..request
        }
    }

    pub fn text(self, text: &str) -> String {
        if self.on {
            secrets::redact(text).into_owned()
        } else {
            text.to_owned()
        }
    }

    /// Redacts all texts of a value.
    pub fn value<T: Serialize + DeserializeOwned>(self, value: T) -> T {
        if self.on {
            secrets::redact_value(value)
        } else {
            value
        }
    }

    /// Says how many secrets of the files agents do not get; `None` if there are none.
    pub fn withheld(self, files: &[SourceFile]) -> Option<String> {
        let mut withheld = BTreeSet::new();
        for file in files.iter().filter(|_| self.on) {
            withheld.extend(secrets::found(&file.text));
            withheld.extend(file.diff.as_deref().into_iter().flat_map(secrets::found));
        }
        let number = number_of(withheld.len(), "secret");
        (!withheld.is_empty()).then(|| format!("{number} withheld: agents get a placeholder"))
    }

    /// Redacts all files of a call or a command.
    pub fn transcripts(self, files: &TranscriptFiles) -> io::Result<()> {
        files.all()?.iter().try_for_each(|file| self.file(file))
    }

    /// Replaces a stored file atomically by a copy without secrets.
    fn file(self, path: &Path) -> io::Result<()> {
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
