//! The embedded agents: Glee starts itself, with the request as JSON on stdin.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use glee_model::domain::{Advice as _, FailureKind, Profile};

use crate::{Adapter, AgentError, Call, CallOutcome, Invocation, Output};
use glee_builtin::{ARGUMENT, Builtin, BuiltinError};

#[derive(Debug)]
pub(crate) struct BuiltinAdapter;

impl Adapter for BuiltinAdapter {
    fn profile(&self) -> &Profile {
        static PROFILE: LazyLock<Profile> = LazyLock::new(|| Profile::named("builtin"));
        &PROFILE
    }

    fn command(&self, call: &Call) -> Result<Invocation, AgentError> {
        let Call {
            agent,
            program,
            request,
            ..
        } = call;
        let name = agent
            .command
            .first()
            .map(String::as_str)
            .unwrap_or_default();
        let builtin = Builtin::parse(name).ok_or_else(|| AgentError {
            hint: BuiltinError::Unknown(name.to_owned()).hint(),
            ..AgentError::new(
                FailureKind::NotInstalled,
                format!("unknown embedded agent `{name}`"),
            )
        })?;
        if builtin.role() != agent.role {
            let message = format!("`{name}` cannot be a {}", agent.role);
            return Err(AgentError::new(FailureKind::NotInstalled, message)
                .hint(format!("the role of this agent is {}", builtin.role())));
        }
        let stdin = serde_json::to_vec(&**request).map_err(|error| {
            AgentError::new(
                FailureKind::Protocol,
                format!("failed to write the request: {error}"),
            )
        })?;
        let args = [ARGUMENT, builtin.as_str()];
        Ok(Invocation {
            stdin,
            ..Invocation::plain(&program.path, args, BTreeMap::new(), &request.root)
        })
    }

    fn reading(&self, output: &Output) -> CallOutcome {
        if output.transcript.exit_code == Some(0) {
            return output.as_answer();
        }
        let message = match output.stderr_tail.trim() {
            "" => "the embedded agent failed",
            message => message.strip_prefix("error: ").unwrap_or(message),
        };
        CallOutcome::from(Err(AgentError::new(FailureKind::Crashed, message)))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::path::Path;

    use glee_model::domain::{Agent, AgentName, Role};
    use glee_protocol::request::Request;
    use serde_json::json;

    use super::*;
    use crate::probe::program::Program;
    use crate::samples::call;

    #[test]
    fn the_adapter_runs_glee_itself_with_nothing_in_its_environment() {
        let request = json!({
            "version": 1, "nonce": "c0ffee", "agent": "rules", "root": "/tree",
            "task": {"kind": "review", "files": [], "focus": [], "rulings": []},
        });
        let request: Request = serde_json::from_value(request).unwrap();
        let mut agent: Agent = serde_json::from_value(json!({
            "name": "rules", "role": "reviewer", "command": ["builtin:rules"], "adapter": "builtin",
        }))
        .unwrap();
        assert_eq!(agent.name, AgentName::from("rules"));
        let program = Program::new("/bin/glee");
        let invocation = BuiltinAdapter
            .command(&call(&agent, &program, &request))
            .unwrap();
        assert_eq!(invocation.program, Path::new("/bin/glee"));
        assert_eq!(invocation.args, ["__builtin", "rules"]);
        assert!(invocation.env.is_empty());
        assert_eq!(invocation.cwd, Path::new("/tree"));
        assert_eq!(
            serde_json::from_slice::<Request>(&invocation.stdin).unwrap(),
            request
        );
        agent.role = Role::Judge;
        let error = BuiltinAdapter
            .command(&call(&agent, &program, &request))
            .unwrap_err();
        assert_eq!(error.message, "`builtin:rules` cannot be a judge");
        assert_eq!(
            Builtin::ALL.map(Builtin::role),
            [Role::Reviewer, Role::Coder, Role::Judge]
        );
    }
}
