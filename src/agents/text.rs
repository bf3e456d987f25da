//! The adapter `text`: the prompt on stdin, prose on stdout. Any program that reads and writes can be an agent.

use std::path::Path;

use super::adapter::{Adapter, AgentError, Body, Invocation, Output, Reply};
use super::environment::environment;
use crate::domain::{Agent, Usage};
use crate::protocol::request::Request;

/// Runs the configured command as it stands.
pub(super) struct Text;

impl Adapter for Text {
    fn command(
        &self,
        agent: &Agent,
        program: &Path,
        request: &Request,
        prompt: &str,
    ) -> Result<Invocation, AgentError> {
        Ok(plain(agent, program, request, prompt.into()))
    }

    fn reply(&self, _output: &Output) -> Result<Reply, AgentError> {
        Ok(stdout())
    }
}

/// The configured command with `stdin`, in the tree's root. Whether it prints piece by piece is unknown.
pub(super) fn plain(agent: &Agent, program: &Path, request: &Request, stdin: Vec<u8>) -> Invocation {
    Invocation {
        program: program.to_owned(),
        args: agent.command.iter().skip(1).map(Into::into).collect(),
        env: environment(agent, request, &[], std::env::vars_os()),
        cwd: request.root.clone().into(),
        stdin,
        streams: false,
    }
}

/// All of stdout is the answer.
pub(super) fn stdout() -> Reply {
    Reply { body: Body::Stdout, usage: Usage::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::samples;

    #[test]
    fn the_command_is_run_as_configured() {
        let agent = samples::agent("rev", "text", &["review", "--deep", "a b"]);
        let request = samples::review(&agent);
        let mut invocation =
            Text.command(&agent, Path::new("/bin/review"), &request, "prompt ü").expect("text takes any request");
        assert_eq!(invocation.env.remove(std::ffi::OsStr::new("GLEE_TASK")), Some("review".into()));
        invocation.env.clear();
        assert_eq!(
            invocation,
            Invocation {
                program: "/bin/review".into(),
                args: vec!["--deep".into(), "a b".into()],
                env: Default::default(),
                cwd: "/tree".into(),
                stdin: "prompt ü".into(),
                streams: false,
            }
        );
    }
}
