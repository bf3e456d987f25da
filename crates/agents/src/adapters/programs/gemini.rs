//! The adapter for Gemini CLI reads the output of `-o stream-json`. With `--skip-trust`, Gemini runs in an
//! unknown tree but ignores the tree's hooks and MCP servers. The default approval mode offers only read-only
//! tools. Gemini has no flag that limits retries, so Glee passes the limit in a settings file. The user's
//! settings take precedence over this settings file, and can thus override the limit on retries. Gemini always
//! reads the tree's `GEMINI.md`. Gemini silently truncates prompts that are too long. The adapter was tested
//! with Gemini CLI 0.61.0.

use serde_json::Value;

use crate::adapters::programs;
use crate::adapters::{ReportedError, list, owned, string, text, tokens};
use crate::{Adapter, Call, LineMarks, ParsedOutput, Profile, ProgressEvent};
use glee_model::domain::Role;

pub struct Gemini;

impl Adapter for Gemini {
    fn profile(&self) -> &Profile {
        programs::known("gemini")
    }

    fn prints_events(&self) -> bool {
        true
    }

    fn marks(&self) -> LineMarks {
        LineMarks {
            preamble: Some(&[r#"{"type":"init""#, r#""role":"user""#]),
            failed: &[],
        }
    }

    fn args(&self, call: &Call) -> Vec<String> {
        let mode = if call.request.task.role() == Role::Coder {
            "auto_edit"
        } else {
            "default"
        };
        let mut args = list(&["--skip-trust", "--approval-mode", mode, "-e", "none"]);
        args.extend(list(&[
            "--allowed-mcp-server-names",
            "none",
            "-o",
            "stream-json",
        ]));
        args
    }

    fn progress<'a>(&self, event: &'a Value) -> Vec<ProgressEvent<'a>> {
        match string(event, "/type") {
            "message" if string(event, "/role") == "assistant" => {
                vec![ProgressEvent::Piece(string(event, "/content"))]
            }
            "tool_use" => vec![ProgressEvent::tool(
                string(event, "/tool_name"),
                &event["parameters"],
            )],
            _ => Vec::new(),
        }
    }

    fn parse(&self, parsed: &mut ParsedOutput, event: &Value) {
        match string(event, "/type") {
            "init" => {
                parsed.session(event, "/session_id");
                parsed.metadata.model = owned(event, "/model");
            }
            "message" if string(event, "/role") == "assistant" => {
                parsed.piece(string(event, "/content"))
            }
            "tool_use" => parsed.tool_started(
                string(event, "/tool_id"),
                string(event, "/tool_name"),
                &event["parameters"],
            ),
            "tool_result" => {
                let refusals = [
                    "tool_not_registered",
                    "policy_violation",
                    "execution_denied",
                    "denied",
                ];
                let is_refused = refusals.contains(&string(event, "/error/type"));
                parsed.tool_ended(string(event, "/tool_id"), is_refused);
            }
            "error" if string(event, "/severity") == "error" => {
                parsed.failure = text(event, "/message").map(ReportedError::text);
            }
            "result" => {
                parsed.done = true;
                if string(event, "/status") == "success" {
                    parsed.failure = None;
                } else if let Some(error) = text(event, "/error/message") {
                    // Only the first line of the message is kept. The other lines always mention quotas. If Glee
                    // kept the other lines, Glee would report every error as an exceeded quota.
                    parsed.failure = error.lines().next().map(ReportedError::text);
                } else if parsed.failure.is_none() {
                    parsed.failure = Some(ReportedError::text(""));
                }
                parsed.usage = tokens(
                    &event["stats"],
                    ["/input_tokens", "/cached", "/output_tokens", "/"],
                );
            }
            _ => {}
        }
    }
}
