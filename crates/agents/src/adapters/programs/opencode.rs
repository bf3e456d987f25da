//! The adapter for opencode reads the output of `opencode run --format json`. opencode's predefined agent `plan`
//! is not read-only, so Glee does not use `plan`, and passes the permissions in an environment variable. The
//! variable `OPENCODE_DISABLE_PROJECT_CONFIG` excludes the settings and MCP servers of the tree. The flag `--pure`
//! disables the tree's plug-ins, but opencode still loads the plug-ins' modules. Glee therefore refuses to start
//! opencode in a tree with plug-ins. The adapter was tested with opencode 1.18.33.

use serde_json::Value;

use crate::adapters::programs;
use crate::adapters::{ReportedError, assemble, list, number, string, text, tokens, usd};
use crate::{
    Adapter, AgentError, Call, Invocation, LineMarks, ParsedOutput, Profile, ProgressEvent,
};
use glee_model::domain::{Role, Usage};

const PERMISSIONS: &str = "OPENCODE_CONFIG_CONTENT";
const CODER: &str =
    r#"{"permission":{"bash":"deny","webfetch":"deny","task":"deny","external_directory":"deny"}}"#;
const REVIEWER: &str = r#"{"permission":{"edit":"deny","bash":"deny","webfetch":"deny","task":"deny","external_directory":"deny"}}"#;
const JUDGE: &str = r#"{"permission":{"*":"deny"}}"#;

pub struct Opencode;

impl Adapter for Opencode {
    fn profile(&self) -> &Profile {
        programs::known("opencode")
    }

    fn prints_events(&self) -> bool {
        true
    }

    fn marks(&self) -> LineMarks {
        // If the service aborts an answer, opencode silently repeats its request to the service any number of
        // times. Its log tells of a request that failed.
        LineMarks {
            preamble: Some(&[r#"{"type":"step_start""#]),
            failed: &[
                (r#""reason":"unknown""#, 1),
                (r#"message="stream error""#, 1),
            ],
        }
    }

    fn args(&self, _call: &Call) -> Vec<String> {
        let log = ["--print-logs", "--log-level", "ERROR"];
        let mut args = list(&["run", "--pure", "--format", "json", "--title", "glee"]);
        args.extend(list(&log));
        args
    }

    fn command(&self, call: &Call) -> Result<Invocation, AgentError> {
        let mut invocation = assemble(self.profile(), call, self.args(call), Vec::new())?;
        let permissions = match call.request.task.role() {
            Role::Coder => CODER,
            Role::Reviewer => REVIEWER,
            Role::Judge | Role::Aggregator => JUDGE,
        };
        invocation
            .env
            .entry(PERMISSIONS.into())
            .or_insert(permissions.into());
        Ok(invocation)
    }

    fn progress<'a>(&self, event: &'a Value) -> Vec<ProgressEvent<'a>> {
        match string(event, "/type") {
            "text" => vec![ProgressEvent::Message(string(event, "/part/text"))],
            "tool_use" => vec![ProgressEvent::tool(
                string(event, "/part/tool"),
                &event["part"]["state"]["input"],
            )],
            _ => Vec::new(),
        }
    }

    fn parse(&self, parsed: &mut ParsedOutput, event: &Value) {
        parsed.session(event, "/sessionID");
        match string(event, "/type") {
            "text" => parsed.message(string(event, "/part/text")),
            "tool_use" => {
                let id = string(event, "/part/callID");
                let tool = text(event, "/part/tool").unwrap_or("a tool");
                parsed.tool_started(id, tool, &event["part"]["state"]["input"]);
                let error = string(event, "/part/state/error").to_lowercase();
                let refusals = [
                    "permission",
                    "rejected",
                    "unavailable",
                    "denied",
                    "prevents",
                ];
                let is_refused = refusals.iter().any(|word| error.contains(word));
                parsed.tool_ended(id, is_refused);
            }
            "step_finish" => {
                parsed.done = string(event, "/part/reason") != "tool-calls";
                if !parsed.done {
                    parsed.tool_used();
                }
                if string(event, "/part/reason") == "length" {
                    parsed.failure =
                        Some(ReportedError::text("the answer was cut off: max_tokens"));
                }
                parsed.usage = parsed.usage.plus(usage_of_step(&event["part"]));
            }
            "error" => {
                let name = text(event, "/error/name").unwrap_or("an error");
                let error = ReportedError::text(text(event, "/error/data/message").unwrap_or(name));
                parsed.failure = Some(error.with_status(number(event, "/error/data/statusCode")));
            }
            _ => {}
        }
    }
}

fn usage_of_step(step: &Value) -> Usage {
    let usage = tokens(
        step,
        [
            "/tokens/input",
            "/tokens/cache/read",
            "/tokens/output",
            "/tokens/reasoning",
        ],
    );
    let cache = usage.cached_tokens.unwrap_or(0) + number(step, "/tokens/cache/write").unwrap_or(0);
    Usage {
        input_tokens: usage.input_tokens.map(|input| input + cache),
        output_tokens: usage
            .output_tokens
            .map(|output| output + usage.reasoning_tokens.unwrap_or(0)),
        usd: usd(step, "/cost"),
        turns: Some(1),
        ..usage
    }
}
