//! The adapter `text` runs any program that reads a prompt from stdin and prints prose to stdout.

use std::sync::LazyLock;

use crate::adapters::command::{self, PromptPlace};
use crate::process::environment::environment;
use crate::{Adapter, AgentError, Call, Invocation, Profile};

pub(crate) struct TextAdapter;

impl Adapter for TextAdapter {
    fn profile(&self) -> &Profile {
        static PROFILE: LazyLock<Profile> = LazyLock::new(|| Profile::named("text"));
        &PROFILE
    }

    fn command(&self, call: &Call) -> Result<Invocation, AgentError> {
        let args = call.agent.command.iter().skip(1).cloned().collect();
        let PromptPlace { args, stdin, files } = command::place_prompt(self.profile(), call, args)?;
        Ok(Invocation {
            args: args.into_iter().map(Into::into).collect(),
            files,
            ..plain(call, stdin)
        })
    }
}

pub fn plain(call: &Call, stdin: Vec<u8>) -> Invocation {
    let env = environment(&call.agent, &call.request, &[], std::env::vars_os());
    let args = call.agent.command.iter().skip(1);
    Invocation {
        stdin,
        ..Invocation::plain(&call.program.path, args, env, &call.request.root)
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
        let call = Call {
            prompt: "prompt ü".into(),
            ..samples::call(&agent, &program, &request)
        };
        let mut invocation = TextAdapter.command(&call).expect("text takes any request");
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
