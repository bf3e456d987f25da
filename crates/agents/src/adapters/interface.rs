//! Defines the trait [`Adapter`], which translates requests and outputs for one agent program. An adapter starts no
//! process, because `agents::process` runs all programs.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde_json::Value;

use crate::adapters::command;
use crate::{
    AgentError, Call, CallOutcome, Dialogue, Invocation, LineMarks, Output, ParsedOutput, Profile,
};
use glee_model::domain::FailureKind;

/// While an agent writes, Glee displays a line only if the line has at least this number of characters. Instead of
/// a shorter line, Glee displays the word `writing`.
const LEGIBLE: usize = 24;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressEvent<'a> {
    Message(&'a str),
    /// A part of a message, if the program prints each message only in parts.
    Piece(&'a str),
    /// A text that is not part of the answer, for example reasoning. A draft of the answer is also such a text, if
    /// a later event of the output repeats the draft in full. Glee displays the text only while the agent runs.
    Draft(&'a str),
    Tool(String),
}

impl<'a> ProgressEvent<'a> {
    pub fn tool(name: &str, input: &Value) -> Self {
        const ABOUT: [&str; 9] = [
            "file_path",
            "path",
            "filePath",
            "absolute_path",
            "pattern",
            "command",
            "query",
            "url",
            "description",
        ];
        let about = ABOUT
            .iter()
            .find_map(|key| input.get(key)?.as_str())
            .unwrap_or_default();
        Self::Tool(
            format!("{name} {}", about.lines().next().unwrap_or_default())
                .trim()
                .to_owned(),
        )
    }

    fn activity(self) -> Option<String> {
        match self {
            Self::Message(text) | Self::Piece(text) | Self::Draft(text) => {
                let line = text
                    .lines()
                    .rev()
                    .map(str::trim)
                    .find(|line| !line.is_empty())?;
                Some(
                    if line.chars().count() < LEGIBLE {
                        "writing"
                    } else {
                        line
                    }
                    .to_owned(),
                )
            }
            Self::Tool(words) => Some(words).filter(|words| !words.is_empty()),
        }
    }

    fn speech(self) -> Option<String> {
        match self {
            Self::Message(text) => Some(format!("{text}\n")),
            Self::Piece(text) => Some(text.to_owned()),
            // The last part of a message can lack a final line break. A line break at each tool call therefore
            // separates the messages.
            Self::Tool(_) => Some("\n".to_owned()),
            Self::Draft(_) => None,
        }
    }
}

pub trait Adapter: Send + Sync {
    fn profile(&self) -> &Profile;

    /// Whether the program prints JSON events instead of a plain answer.
    fn prints_events(&self) -> bool {
        false
    }

    fn marks(&self) -> LineMarks {
        LineMarks::default()
    }

    /// Whether the reported token counts cover the whole session instead of the last call.
    fn counts_sessions(&self) -> bool {
        false
    }

    /// Whether Glee ends the program after the answer and ignores the exit code.
    fn ends_when_done(&self) -> bool {
        false
    }

    fn args(&self, _call: &Call) -> Vec<String> {
        Vec::new()
    }

    /// Builds the command. Fails if the prompt is too long for the program, or if the program lacks a required
    /// flag.
    fn command(&self, call: &Call) -> Result<Invocation, AgentError> {
        command::assemble(self.profile(), call, self.args(call), Vec::new())
    }

    fn reading(&self, output: &Output) -> CallOutcome {
        if self.prints_events() {
            self.events_reading(output)
        } else {
            output.as_answer()
        }
    }

    fn events_reading(&self, output: &Output) -> CallOutcome {
        let profile = self.profile();
        let mut parsed = ParsedOutput {
            ends_when_done: self.ends_when_done(),
            ..ParsedOutput::default()
        };
        match events(&output.stdout, &mut |event| self.parse(&mut parsed, &event)) {
            Ok(()) => parsed.conclude(profile, output),
            Err(error) => CallOutcome::from(Err(AgentError::new(
                FailureKind::Protocol,
                format!(
                    "the recorded output of `{}` cannot be read: {error}",
                    profile.name
                ),
            ))),
        }
    }

    fn parse(&self, _parsed: &mut ParsedOutput, _event: &Value) {}

    fn progress<'a>(&self, _event: &'a Value) -> Vec<ProgressEvent<'a>> {
        Vec::new()
    }

    /// Returns the dialogue that supplies the program's input. Returns `None` if stdin contains only the prompt.
    fn dialogue(&self, _call: &Call) -> Option<Box<dyn Dialogue>> {
        None
    }

    fn activity(&self, line: &str) -> Option<String> {
        if !self.prints_events() {
            return Some(line.to_owned());
        }
        let event = serde_json::from_str(line).ok()?;
        self.progress(&event)
            .into_iter()
            .find_map(ProgressEvent::activity)
    }

    /// Extracts the agent's messages from one line of stdout, and adds a line break after each complete message.
    /// Returns `None` if the line contains no message.
    fn speech(&self, line: &str) -> Option<String> {
        if !self.prints_events() {
            return Some(format!("{line}\n"));
        }
        let event = serde_json::from_str(line).ok()?;
        self.progress(&event)
            .into_iter()
            .filter_map(ProgressEvent::speech)
            .reduce(|all, next| all + &next)
    }
}

/// Calls `take` for each event in a program's output. An event is a JSON object that fills a whole line. If no
/// line is an event, the whole output is parsed as one event or as an array of events.
fn events(stdout: &Path, take: &mut dyn FnMut(Value)) -> io::Result<()> {
    let mut lines = BufReader::new(File::open(stdout)?);
    let mut line = Vec::new();
    let mut found = false;
    while lines.read_until(b'\n', &mut line)? > 0 {
        if line.trim_ascii_start().starts_with(b"{")
            && let Ok(event) = serde_json::from_slice(&line)
        {
            found = true;
            take(event);
        }
        line.clear();
    }
    if !found {
        match serde_json::from_reader(BufReader::new(File::open(stdout)?)) {
            Ok(Value::Array(events)) => events.into_iter().for_each(take),
            Ok(event) => take(event),
            Err(_) => {}
        }
    }
    Ok(())
}
