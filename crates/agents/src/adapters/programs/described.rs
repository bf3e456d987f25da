//! The adapter for a program that a [`Profile`] describes: one that Glee ships, or one of the user.

use serde_json::Value;

use crate::adapters::profile;
use crate::adapters::{ReportedError, owned, string};
use crate::{Adapter, Call, CallOutcome, Output, ParsedOutput, Profile, ProgressEvent};

pub(crate) struct Described<'a>(pub &'a Profile);

impl Adapter for Described<'_> {
    fn profile(&self) -> &Profile {
        self.0
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
            return self.events_reading(output);
        }
        match output.transcript.exit_code {
            Some(code) if code != 0 => {
                let failed = profile::failed(self.0, code, &output.said(), output.ended);
                CallOutcome::from(Err(failed))
            }
            _ => output.as_answer(),
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
