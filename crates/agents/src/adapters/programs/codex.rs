//! The adapter for Codex reads the output of `codex exec --json`. Glee always sets the sandbox of Codex. Codex
//! has no flag for retries. If the agent's command selects a provider, Glee sets the provider's retries to 0.
//! Glee disables the feature `unbounded_connection_retries`, so that the built-in retries end after 30 seconds, and ends
//! Codex when it tells that requests failed too often.
//! Codex ignores the settings of the tree. With `project_doc_max_bytes=0`, Codex also ignores the tree's
//! `AGENTS.md`. The adapter was tested with Codex 0.169.0.

use serde_json::Value;

use crate::adapters::programs;
use crate::adapters::{ReportedError, assemble, list, owned, string, text, tokens, whole};
use crate::schema::strict;
use crate::{
    Adapter, AgentError, Call, Invocation, LineMarks, ParsedOutput, Profile, ProgressEvent,
};
use glee_model::domain::{Effort, Role};

const NOT_FOR_A_JUDGE: [&str; 7] = [
    "shell_tool",
    "unified_exec",
    "multi_agent",
    "goals",
    "view_image",
    "image_generation",
    "hooks",
];

const PREAMBLE: [&str; 3] = [
    r#"{"type":"thread.started""#,
    r#"{"type":"turn.started""#,
    r#""item":{"id":"item_0","type":"error""#,
];

pub struct Codex;

impl Adapter for Codex {
    fn profile(&self) -> &Profile {
        programs::known("codex")
    }

    fn prints_events(&self) -> bool {
        true
    }

    fn marks(&self) -> LineMarks {
        LineMarks {
            preamble: Some(&PREAMBLE),
            // Codex answers a failing service with five requests, and tells then that it reconnects. Behind some
            // proxies, its WebSockets fail and its requests do not.
            failed: &[
                (" ws://", 0),
                (" wss://", 0),
                (r#"{"type":"error","message":"Reconnecting... 1/5 (We"#, 5),
                (r#"{"type":"error","message":"Reconnecting..."#, 1),
            ],
        }
    }

    fn counts_sessions(&self) -> bool {
        true
    }

    fn args(&self, call: &Call) -> Vec<String> {
        let role = call.request.task.role();
        let sandbox = if role == Role::Coder {
            "workspace-write"
        } else {
            "read-only"
        };
        let mut args = list(&["exec", "--json", "-s", sandbox, "--skip-git-repo-check"]);
        if role != Role::Coder {
            args.push("--ephemeral".to_owned());
        }
        let mut off = vec!["plugins", "apps", "unbounded_connection_retries"];
        if matches!(role, Role::Judge | Role::Aggregator) {
            off.extend(NOT_FOR_A_JUDGE);
        }
        // Codex fails if `--disable` names a feature that the installed version does not have.
        for feature in off.into_iter().filter(|name| call.program.may_have(name)) {
            args.extend(list(&["--disable", feature]));
        }
        let mut settings = list(&["analytics.enabled=false", "project_doc_max_bytes=0"]);
        if role != Role::Coder {
            settings.push("web_search=\"disabled\"".to_owned());
        }
        let effort = call
            .agent
            .effort
            .or(call.request.task.wants_effort().then_some(Effort::High));
        let effort = effort.and_then(|effort| self.profile().effort_name(effort));
        settings.extend(effort.map(|name| format!("model_reasoning_effort=\"{name}\"")));
        if let Some(provider) = provider(&call.agent.command) {
            settings.push(format!("model_providers.{provider}.request_max_retries=0"));
            settings.push(format!("model_providers.{provider}.stream_max_retries=0"));
        }
        args.extend(
            settings
                .into_iter()
                .flat_map(|setting| ["-c".to_owned(), setting]),
        );
        args
    }

    fn command(&self, call: &Call) -> Result<Invocation, AgentError> {
        let mut args = self.args(call);
        let mut files = Vec::new();
        let form = whole(&call.request.task);
        if let Some(form) = form.filter(|_| call.program.names("--output-schema")) {
            let path = call.folder().join(format!("{}-schema.json", form.name));
            args.extend([
                "--output-schema".to_owned(),
                path.to_string_lossy().into_owned(),
            ]);
            files.push((path, strict::schema(&form)));
        }
        let last = call
            .session_id()
            .map_or_else(|| list(&["-"]), |session| list(&["resume", session, "-"]));
        Ok(Invocation {
            files,
            ..assemble(self.profile(), call, args, last)?
        })
    }

    fn progress<'a>(&self, event: &'a Value) -> Vec<ProgressEvent<'a>> {
        if string(event, "/type") == "error" {
            return vec![ProgressEvent::Draft(string(event, "/message"))];
        }
        let text = string(event, "/item/text");
        match string(event, "/item/type") {
            "agent_message" if string(event, "/type") == "item.completed" => {
                vec![ProgressEvent::Message(text)]
            }
            "agent_message" | "reasoning" => vec![ProgressEvent::Draft(text)],
            "command_execution" => vec![ProgressEvent::Tool(
                string(event, "/item/command").to_owned(),
            )],
            "file_change" => {
                vec![ProgressEvent::Tool(
                    format!("edit {}", string(event, "/item/changes/0/path"))
                        .trim()
                        .to_owned(),
                )]
            }
            _ => Vec::new(),
        }
    }

    fn parse(&self, parsed: &mut ParsedOutput, event: &Value) {
        match string(event, "/type") {
            "thread.started" => parsed.session(event, "/thread_id"),
            "item.completed" => parse_item(parsed, event),
            // Codex reports every attempt to reconnect as an `error` event. An `error` event means a failure only
            // if no `turn.completed` event follows.
            "error" => parsed.failure = text(event, "/message").map(ReportedError::text),
            "turn.failed" => {
                parsed.failure = Some(ReportedError::text(string(event, "/error/message")))
            }
            "turn.completed" => {
                parsed.done = true;
                parsed.failure = None;
                parsed.usage = tokens(
                    &event["usage"],
                    [
                        "/input_tokens",
                        "/cached_input_tokens",
                        "/output_tokens",
                        "/reasoning_output_tokens",
                    ],
                );
            }
            _ => {}
        }
    }
}

fn parse_item(parsed: &mut ParsedOutput, event: &Value) {
    let id = string(event, "/item/id");
    match string(event, "/item/type") {
        // The agent's last message is the answer. All earlier messages are progress reports.
        "agent_message" => parsed.answer = owned(event, "/item/text"),
        kind @ ("command_execution" | "file_change" | "mcp_tool_call") => {
            parsed.tool_started(id, kind, &event["item"]);
            if string(event, "/item/status") == "declined" {
                parsed.tool_refused(id);
            }
        }
        _ => {}
    }
    if let Some(answer) = &parsed.answer {
        parsed.text.clone_from(answer);
    }
}

fn provider(command: &[String]) -> Option<&str> {
    let value = command
        .iter()
        .find_map(|word| word.strip_prefix("model_provider="))?;
    Some(value.trim_matches(['"', '\''])).filter(|name| !name.is_empty())
}
