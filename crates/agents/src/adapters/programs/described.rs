//! The adapter for a program that a [`Profile`] describes: one that Glee ships, or one of the user.

use serde_json::Value;

use crate::adapters::profile;
use crate::adapters::{ReportedError, owned, string};
use crate::{
    Adapter, AgentError, AnswerText, Call, CallOutcome, Output, ParsedOutput, Profile,
    ProgressEvent,
};
use glee_model::domain::{Agent, FailureKind};

pub(crate) struct Described(Profile);

impl Described {
    /// `None` if the agent has no profile.
    pub(crate) fn of(agent: &Agent) -> Option<Self> {
        let mut profile = agent.profile.as_deref()?.clone();
        if profile.name.is_empty() {
            profile.name = agent.name.0.clone();
        }
        Some(Self(profile))
    }
}

impl Adapter for Described {
    fn profile(&self) -> &Profile {
        &self.0
    }

    fn prints_events(&self) -> bool {
        self.0.output.is_some()
    }

    fn args(&self, call: &Call) -> Vec<String> {
        let mut command = call.agent.command.iter();
        // A command that says where the prompt goes is the whole command line.
        if command.any(|word| word.contains(Profile::PROMPT) || word.contains(Profile::PROMPT_FILE))
        {
            return Vec::new();
        }
        let role = call.request.task.role();
        self.0.arguments(role).cloned().collect()
    }

    fn reading(&self, output: &Output) -> CallOutcome {
        if self.prints_events() {
            let mut outcome = self.events_reading(output);
            let is_unread = |error: &AgentError| error.kind == FailureKind::Protocol;
            // A limit is often said in words where an object is expected.
            if outcome.answer.as_ref().is_err_and(is_unread)
                && let Some((kind, line)) =
                    profile::known_line(&self.0, &output.said(), output.ended)
            {
                outcome.answer = Err(profile::error(&self.0, kind, line));
            }
            return outcome;
        }
        match output.transcript.exit_code {
            Some(code) if code != 0 => {
                let failed = profile::failed(&self.0, code, &output.said(), output.ended);
                CallOutcome::from(Err(failed))
            }
            _ if self.0.trailer.is_empty() => output.as_answer(),
            _ => {
                let answer = std::fs::read(&output.stdout).map(|bytes| {
                    let text = String::from_utf8_lossy(&bytes);
                    AnswerText::Text(profile::without_trailer(&self.0, &text).to_owned())
                });
                CallOutcome::from(
                    answer
                        .map_err(|error| AgentError::new(FailureKind::Protocol, error.to_string())),
                )
            }
        }
    }

    fn progress<'a>(&self, event: &'a Value) -> Vec<ProgressEvent<'a>> {
        match &self.0.output {
            Some(form) => vec![ProgressEvent::Message(string(event, &form.answer))],
            None => Vec::new(),
        }
    }

    fn parse(&self, parsed: &mut ParsedOutput, event: &Value) {
        let Some(form) = &self.0.output else { return };
        if let Some(answer) = owned(event, &form.answer) {
            parsed.done = true;
            parsed.answer = Some(answer);
        }
        if !form.session.is_empty() {
            parsed.session(event, &form.session);
        }
        let error = string(event, &form.error);
        if !form.error.is_empty() && !error.is_empty() {
            parsed.failure = Some(ReportedError::text(error));
        }
    }
}
