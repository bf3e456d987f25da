//! The adapter `json` is Glee's plug-in interface. A program reads a request as one JSON object from stdin, and
//! prints its answer as JSON to stdout.

use std::sync::LazyLock;

use super::text;
use crate::{Adapter, AgentError, Call, Invocation, Profile};
use glee_model::domain::FailureKind;

pub struct Json;

impl Adapter for Json {
    fn profile(&self) -> &Profile {
        static PROFILE: LazyLock<Profile> = LazyLock::new(|| Profile::named("json"));
        &PROFILE
    }

    fn command(&self, call: &Call) -> Result<Invocation, AgentError> {
        let mut stdin = serde_json::to_vec(&*call.request).map_err(|error| {
            AgentError::new(
                FailureKind::Protocol,
                format!("failed to write the request: {error}"),
            )
        })?;
        stdin.push(b'\n');
        Ok(text::plain(call, stdin))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::probe::program::Program;
    use crate::samples;
    use glee_protocol::request::Request;

    #[test]
    fn the_request_is_one_line_of_json() {
        let agent = samples::agent("plug", "json", &["plug", "-x"]);
        let request = samples::review(&agent);
        let invocation = Json
            .command(&samples::call(&agent, &Program::new("/bin/plug"), &request))
            .unwrap();
        assert_eq!(invocation.args, ["-x"]);
        let text = String::from_utf8(invocation.stdin).unwrap();
        assert_eq!(text.find('\n'), Some(text.len() - 1));
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
    }
}
