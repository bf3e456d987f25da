//! The adapter `json`, Glee's plug-in interface: the [`Request`] as one JSON object on stdin, the answer as JSON on
//! stdout. `glee agents schema` prints the schemas of both.

use std::path::Path;

use super::adapter::{Adapter, AgentError, Invocation, Output, Reply};
use super::text;
use crate::domain::Agent;
use crate::protocol::request::Request;

/// Runs the configured command as it stands.
pub(super) struct Json;

impl Adapter for Json {
    fn command(
        &self,
        agent: &Agent,
        program: &Path,
        request: &Request,
        _prompt: &str,
    ) -> Result<Invocation, AgentError> {
        let mut stdin = serde_json::to_vec(request)
            .map_err(|error| AgentError { message: format!("the request is no JSON: {error}"), hint: None })?;
        stdin.push(b'\n');
        Ok(text::plain(agent, program, request, stdin))
    }

    fn reply(&self, _output: &Output) -> Result<Reply, AgentError> {
        Ok(text::stdout())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::agents::samples;

    #[test]
    fn the_request_is_one_line_of_json() {
        let agent = samples::agent("plug", "json", &["plug", "-x"]);
        let request = samples::review(&agent);
        let invocation = Json.command(&agent, Path::new("/bin/plug"), &request, "not sent").unwrap();
        assert_eq!(invocation.args, ["-x"]);
        let text = String::from_utf8(invocation.stdin).unwrap();
        assert_eq!(text.find('\n'), Some(text.len() - 1));
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
    }
}
