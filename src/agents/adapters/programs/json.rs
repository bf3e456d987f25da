//! The adapter `json`, Glee's plug-in interface: the [`Request`](crate::protocol::request::Request) as one JSON object on stdin, the answer as JSON on
//! stdout. `glee agents schema` prints the schemas of both.

use super::text;
use crate::agents::adapters::interface::{Adapter, Profile};
use crate::agents::adapters::invocation::{Invocation, Output, Query, Reading};
use crate::agents::error::AgentError;
use crate::domain::FailureKind;

pub(crate) struct Json;

impl Adapter for Json {
    fn profile(&self) -> Profile {
        Profile { name: "json", ..Profile::default() }
    }

    fn command(&self, query: &Query<'_>) -> Result<Invocation, AgentError> {
        let mut stdin = serde_json::to_vec(query.request)
            .map_err(|error| AgentError::new(FailureKind::Protocol, format!("the request is no JSON: {error}")))?;
        stdin.push(b'\n');
        Ok(text::plain(query, stdin))
    }

    fn reading(&self, output: &Output) -> Reading {
        Reading::stdout(output)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::agents::probe::program::Program;
    use crate::agents::samples;
    use crate::protocol::request::Request;

    #[test]
    fn the_request_is_one_line_of_json() {
        let agent = samples::agent("plug", "json", &["plug", "-x"]);
        let request = samples::review(&agent);
        let invocation = Json.command(&samples::query(&agent, &Program::new("/bin/plug"), &request)).unwrap();
        assert_eq!(invocation.args, ["-x"]);
        let text = String::from_utf8(invocation.stdin).unwrap();
        assert_eq!(text.find('\n'), Some(text.len() - 1));
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
    }
}
