//! The adapter for a model at its address: Glee starts itself to ask the server (see `crate::address`). The prompt holds
//! the code, and there are no tools.

use std::ffi::OsStr;
use std::sync::LazyLock;

use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::adapters::command::whole;
use crate::adapters::{Adapter, ProgressEvent, ReportedError, string};
use crate::address::message::{ARGUMENT, ServerEvent, ServerQuestion};
use crate::process::environment::environment;
use crate::schema::strict;
use crate::{AgentError, Call, Invocation, ParsedOutput, Profile};
use glee_model::domain::{Advice as _, FailureKind, Usage};
use glee_store::config::schema::address::ModelAddress;

pub(crate) struct Address;

impl Adapter for Address {
    fn profile(&self) -> &Profile {
        static PROFILE: LazyLock<Profile> = LazyLock::new(|| {
            Profile {
            login: "set the environment variable with the key of the server; the agent's `command` can name the \
                    variable after the address"
                .to_owned(),
            model: "model".to_owned(),
            ..Profile::named("address")
        }
        });
        &PROFILE
    }

    fn prints_events(&self) -> bool {
        true
    }

    fn command(&self, call: &Call) -> Result<Invocation, AgentError> {
        let Call {
            agent,
            program,
            request,
            prompt,
            ..
        } = call;
        let model = agent.model.as_deref();
        let address = ModelAddress::check(&agent.command, agent.role, model)
            .and_then(|()| ModelAddress::parse(&agent.command));
        let address = address.map_err(|error| AgentError {
            hint: error.hint(),
            ..AgentError::new(FailureKind::BadFlags, error.to_string())
        })?;
        let key = address.key.as_deref();
        let sees: Vec<&str> = key.into_iter().collect();
        let env = environment(agent, request, &sees, std::env::vars_os());
        let has_key = |name: &str| env.get(OsStr::new(name)).is_some_and(|key| !key.is_empty());
        if let Some(name) = key.filter(|name| address.needs_key && !has_key(name)) {
            let message = format!("{address} wants a key, and `{name}` is not set");
            return Err(AgentError::new(FailureKind::NotLoggedIn, message)
                .hint(format!("set the key: `export {name}=...`")));
        }
        let schema = whole(&request.task).map(|form| strict::schema(&form));
        let mut schema: Option<Value> =
            schema.and_then(|schema| serde_json::from_str(&schema).ok());
        // A vendor prepares each new schema for seconds, and its models can copy. A server of the user's own does not, and
        // small models often miss a digit.
        if let Some(nonce) = schema
            .as_mut()
            .filter(|_| !address.needs_key)
            .and_then(|schema| schema.pointer_mut("/properties/nonce"))
        {
            *nonce = json!({"type": "string", "enum": [request.nonce]});
        }
        let question = ServerQuestion {
            form: address.form,
            url: address.url,
            model: model.unwrap_or_default().to_owned(),
            key: address.key,
            schema,
        };
        let question = serde_json::to_string(&question)
            .map_err(|error| AgentError::new(FailureKind::Protocol, error.to_string()))?;
        let args = [ARGUMENT.to_owned(), question];
        Ok(Invocation {
            stdin: prompt.as_bytes().to_vec(),
            streams: true,
            ..Invocation::plain(&program.path, args, env, &request.root)
        })
    }

    fn progress<'a>(&self, event: &'a Value) -> Vec<ProgressEvent<'a>> {
        match string(event, "/type") {
            "piece" => vec![ProgressEvent::Piece(string(event, "/text"))],
            "thought" => vec![ProgressEvent::Draft(string(event, "/text"))],
            _ => Vec::new(),
        }
    }

    fn parse(&self, parsed: &mut ParsedOutput, event: &Value) {
        match ServerEvent::deserialize(event) {
            Ok(ServerEvent::Model { model }) => parsed.metadata.model = Some(model),
            Ok(ServerEvent::Piece { text }) => parsed.piece(&text),
            Ok(ServerEvent::Usage {
                input,
                cached,
                output,
                reasoning,
            }) => {
                let before = parsed.usage;
                parsed.usage = Usage {
                    input_tokens: input.or(before.input_tokens),
                    cached_tokens: cached.or(before.cached_tokens),
                    output_tokens: output.or(before.output_tokens),
                    reasoning_tokens: reasoning.or(before.reasoning_tokens),
                    ..before
                };
            }
            Ok(ServerEvent::Done) => parsed.done = true,
            Ok(ServerEvent::Failed {
                kind,
                status,
                text,
                reset,
            }) => {
                parsed.failure = Some(ReportedError { kind, status, text });
                parsed.reset = reset;
            }
            Ok(ServerEvent::Thought { .. }) | Err(_) => {}
        }
    }
}
