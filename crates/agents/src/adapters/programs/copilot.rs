//! The adapter for Copilot CLI reads the output of `--output-format json`. An empty list of tools would permit
//! all tools, so a judge's list contains one tool that does not exist. Copilot loads the hooks and MCP servers
//! of the tree only with `--trust-folder`, and Glee never sets this flag. The adapter was tested with Copilot
//! CLI 1.0.102.

use serde_json::Value;

use crate::adapters::programs;
use crate::adapters::{ReportedError, list, number, owned, string};
use crate::{Adapter, Call, LineMarks, ParsedOutput, Profile, ProgressEvent};
use glee_model::domain::Role;

const PREAMBLE: [&str; 5] = [
    r#"{"type":"session."#,
    r#"{"type":"user.message""#,
    r#"{"type":"assistant.turn_start""#,
    r#"{"type":"assistant.turn_retry""#,
    r#"{"type":"model.call_"#,
];

pub struct Copilot;

impl Adapter for Copilot {
    fn profile(&self) -> &Profile {
        programs::known("copilot")
    }

    fn prints_events(&self) -> bool {
        true
    }

    fn marks(&self) -> LineMarks {
        LineMarks {
            preamble: Some(&PREAMBLE),
            failed: &[("{\"type\":\"model.call_failure\"", 1)],
        }
    }

    fn args(&self, call: &Call) -> Vec<String> {
        let mut args = list(&[
            "--no-auto-update",
            "--disable-client-telemetry",
            "--no-color",
        ]);
        args.extend(list(&[
            "--output-format",
            "json",
            "--no-ask-user",
            "--disable-builtin-mcps",
        ]));
        args.extend(list(&["--no-custom-instructions"]));
        args.extend(list(&[match call.request.task.role() {
            Role::Coder => "--allow-tool=write",
            Role::Reviewer => "--available-tools=view,grep,glob",
            Role::Judge | Role::Aggregator => "--available-tools=none",
        }]));
        args
    }

    fn progress<'a>(&self, event: &'a Value) -> Vec<ProgressEvent<'a>> {
        match string(event, "/type") {
            "assistant.message_delta" => {
                vec![ProgressEvent::Draft(string(event, "/data/deltaContent"))]
            }
            "assistant.message" => vec![ProgressEvent::Message(string(event, "/data/content"))],
            "tool.execution_start" => {
                vec![ProgressEvent::tool(
                    string(event, "/data/toolName"),
                    &event["data"]["arguments"],
                )]
            }
            _ => Vec::new(),
        }
    }

    fn parse(&self, parsed: &mut ParsedOutput, event: &Value) {
        match string(event, "/type") {
            "assistant.message_delta" => parsed.piece(string(event, "/data/deltaContent")),
            "assistant.message" => {
                parsed.usage.turns = Some(parsed.usage.turns.unwrap_or(0) + 1);
                parsed.metadata.model = owned(event, "/data/model");
                let message = string(event, "/data/content");
                parsed.message(message);
                parsed.answer = Some(message.to_owned());
            }
            "tool.execution_start" => {
                parsed.tool_started(
                    string(event, "/data/toolCallId"),
                    string(event, "/data/toolName"),
                    &event["data"]["arguments"],
                );
            }
            "tool.execution_complete" => {
                let code = string(event, "/data/error/code");
                let is_refused = ["denied", "rejected", "permission_denied"].contains(&code);
                parsed.tool_ended(string(event, "/data/toolCallId"), is_refused);
            }
            "session.error" => {
                let error = ReportedError::text(string(event, "/data/message"));
                parsed.failure = Some(error.with_status(number(event, "/data/statusCode")));
            }
            "result" => {
                parsed.done = true;
                parsed.session(event, "/sessionId");
                if parsed.failure.is_none() && event["exitCode"].as_i64() != Some(0) {
                    parsed.failure = Some(ReportedError::text(""));
                }
            }
            _ => {}
        }
    }
}
