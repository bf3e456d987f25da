//! Copilot CLI, as it prints its work with `--output-format json`.
//!
//! An empty list of tools would mean all of them, so a judge gets one that does not exist. Hooks and MCP servers of
//! the reviewed tree run only with `--trust-folder`, which is never given. Seen with 1.0.102.

use serde_json::Value;

use crate::agents::adapters::effort;
use crate::agents::adapters::interface::{Adapter, Profile};
use crate::agents::adapters::invocation::{Invocation, Query};
use crate::agents::adapters::json_events::{self, list};
use crate::agents::adapters::parsed_output::{ParsedOutput, ReportedError, number, text};
use crate::agents::error::AgentError;
use crate::agents::streams::output_monitor::Marks;
use crate::domain::{Effort, Role};

const SEES: [&str; 9] = [
    "COPILOT_PROVIDER_BASE_URL",
    "COPILOT_PROVIDER_TYPE",
    "COPILOT_PROVIDER_API_KEY",
    "COPILOT_MODEL",
    "COPILOT_OFFLINE",
    "COPILOT_HOME",
    "COPILOT_GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_TOKEN",
];

const MUTE: [&str; 4] = [
    r#"{"type":"session."#,
    r#"{"type":"user.message""#,
    r#"{"type":"assistant.turn_start""#,
    r#"{"type":"model.call_start""#,
];

pub(crate) struct Copilot;

impl Adapter for Copilot {
    fn profile(&self) -> Profile {
        Profile {
            name: "copilot",
            login: "log in with `copilot login`, or set COPILOT_GITHUB_TOKEN",
            helps: &[&["--help"]],
            marks: Marks { mute: Some(&MUTE), vain: None },
            effort: Some(Effort::as_str),
            ..Profile::default()
        }
    }

    fn command(&self, query: &Query<'_>) -> Result<Invocation, AgentError> {
        query.program.need(&[
            "--available-tools",
            "--allow-tool",
            "--disable-builtin-mcps",
            "--no-ask-user",
            "--no-custom-instructions",
        ])?;
        let mut args = list(&["--no-auto-update", "--disable-client-telemetry", "--no-color"]);
        args.extend(list(&["--output-format", "json", "--no-ask-user", "--disable-builtin-mcps"]));
        args.extend(list(&["--no-custom-instructions"]));
        args.push(
            match query.request.task.role() {
                Role::Coder => "--allow-tool=write",
                Role::Reviewer => "--available-tools=view,grep,glob",
                Role::Judge | Role::Aggregator => "--available-tools=none",
            }
            .to_owned(),
        );
        if let Some(session) = query.session {
            args.push(format!("--resume={session}"));
        }
        if query.agent.effort.is_some() {
            args.extend(json_events::option(
                "--reasoning-effort",
                effort::word(self, query, "--reasoning-effort")?,
            ));
        }
        args.extend(json_events::option("--model", query.agent.model.as_deref()));
        args.extend(json_events::own_args(query));
        Ok(json_events::invocation(query, args, &SEES, &[]))
    }

    fn activity(&self, line: &str) -> Option<String> {
        let event: Value = serde_json::from_str(line).ok()?;
        match text(&event, "/type")? {
            "assistant.message_delta" => json_events::writing(text(&event, "/data/deltaContent")?),
            "tool.execution_start" => {
                Some(json_events::using(text(&event, "/data/toolName")?, &event["data"]["arguments"]))
            }
            _ => None,
        }
    }

    fn speech(&self, line: &str) -> Option<String> {
        let event: Value = serde_json::from_str(line).ok()?;
        let is_said = text(&event, "/type") == Some("assistant.message");
        is_said.then(|| text(&event, "/data/content").map(|text| format!("{text}\n")))?
    }

    fn parse(&self, parsed: &mut ParsedOutput, event: &Value) {
        match text(event, "/type").unwrap_or_default() {
            "assistant.message_delta" => parsed.piece(text(event, "/data/deltaContent").unwrap_or_default()),
            "assistant.message" => {
                parsed.usage.turns = Some(parsed.usage.turns.unwrap_or(0) + 1);
                parsed.metadata.model = text(event, "/data/model").map(ToOwned::to_owned);
                let said = text(event, "/data/content").unwrap_or_default();
                parsed.message(said);
                parsed.answer = Some(said.to_owned());
            }
            "tool.execution_start" => {
                if let (Some(id), Some(name)) = (text(event, "/data/toolCallId"), text(event, "/data/toolName")) {
                    parsed.tools.insert(id.to_owned(), name.to_owned());
                }
            }
            "tool.execution_complete" => {
                parsed.tool_used();
                let name = text(event, "/data/toolCallId").and_then(|id| parsed.tools.remove(id));
                let code = text(event, "/data/error/code").unwrap_or_default();
                if let (Some(name), "denied" | "rejected" | "permission_denied") = (name, code) {
                    parsed.denied(&name);
                }
            }
            "session.error" => {
                let said = ReportedError::text(text(event, "/data/message").unwrap_or("it did not say why"));
                parsed.failure = Some(said.with_status(number(event, "/data/statusCode")));
            }
            "result" => {
                parsed.done = true;
                parsed.metadata.session = text(event, "/sessionId").map(ToOwned::to_owned);
                if parsed.failure.is_none() && event["exitCode"].as_i64() != Some(0) {
                    parsed.failure = Some(ReportedError::text("it did not say why"));
                }
            }
            _ => {}
        }
    }
}
