//! The adapter `text` runs any program that reads a prompt from stdin and prints prose to stdout.

use crate::process::environment::environment;
use crate::{Adapter, AgentError, Invocation, Profile, Query};

pub(crate) struct TextAdapter;

impl Adapter for TextAdapter {
    fn profile(&self) -> Profile {
        Profile {
            name: "text",
            ..Profile::default()
        }
    }

    fn command(&self, query: &Query<'_>) -> Result<Invocation, AgentError> {
        Ok(plain(query, query.prompt.into()))
    }
}

pub fn plain(query: &Query<'_>, stdin: Vec<u8>) -> Invocation {
    let env = environment(query.agent, query.request, &[], std::env::vars_os());
    let args = query.agent.command.iter().skip(1);
    Invocation {
        stdin,
        ..Invocation::plain(&query.program.path, args, env, &query.request.root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::program::Program;
    use crate::samples;

    #[test]
    fn the_command_is_run_as_configured() {
        let agent = samples::agent("rev", "text", &["review", "--deep", "a b"]);
        let request = samples::review(&agent);
        let program = Program::new("/bin/review");
        let query = Query {
            prompt: "prompt ü",
            ..samples::query(&agent, &program, &request)
        };
        let mut invocation = TextAdapter.command(&query).expect("text takes any request");
        assert_eq!(
            invocation.env.remove(std::ffi::OsStr::new("GLEE_TASK")),
            Some("review".into())
        );
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
                files: Vec::new(),
            }
        );
    }
}
