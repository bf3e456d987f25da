//! opencode, as `opencode run --format json` prints its work.
//!
//! What it may do is a matter of its configuration, which Glee gives it in a variable; its agent `plan` is not
//! read-only. `OPENCODE_DISABLE_PROJECT_CONFIG` keeps the reviewed tree's settings and MCP servers out; `--pure` does not
//! call its plug-ins, but loads their modules all the same, so that it is not asked about a tree that has some. Seen with
//! 1.18.33.

use serde_json::Value;

use crate::agents::adapters::effort;
use crate::agents::adapters::interface::{Adapter, Profile};
use crate::agents::adapters::invocation::{Invocation, Query};
use crate::agents::adapters::json_events::{self, list};
use crate::agents::adapters::parsed_output::{ParsedOutput, ReportedError, number, text};
use crate::agents::error::AgentError;
use crate::agents::streams::output_monitor::Marks;
use crate::domain::{Effort, Role, Usage};

const CODER: &str = r#"{"permission":{"bash":"deny","webfetch":"deny","task":"deny","external_directory":"deny"}}"#;
const REVIEWER: &str =
    r#"{"permission":{"edit":"deny","bash":"deny","webfetch":"deny","task":"deny","external_directory":"deny"}}"#;
const JUDGE: &str = r#"{"permission":{"*":"deny"}}"#;

pub(crate) struct Opencode;

impl Adapter for Opencode {
    fn profile(&self) -> Profile {
        Profile {
            name: "opencode",
            login: "log in with `opencode auth login`",
            helps: &[&["run", "--help"]],
            // When its service aborts an answer, it repeats the step without a message and without a limit.
            marks: Marks { mute: Some(&[r#"{"type":"step_start""#]), vain: Some(r#""reason":"unknown""#) },
            effort: Some(Effort::as_str),
            loads: &[".opencode/plugin", ".opencode/plugins"],
            ..Profile::default()
        }
    }

    fn command(&self, query: &Query<'_>) -> Result<Invocation, AgentError> {
        query.program.need(&["--pure", "--format"])?;
        let mut args = list(&["run", "--pure", "--format", "json", "--title", "glee"]);
        args.extend(json_events::option("-s", query.session));
        if query.agent.effort.is_some() {
            args.extend(json_events::option("--variant", effort::word(self, query, "--variant")?));
        }
        args.extend(json_events::option("-m", query.agent.model.as_deref()));
        args.extend(json_events::own_args(query));
        let permissions = match query.request.task.role() {
            Role::Coder => CODER,
            Role::Reviewer => REVIEWER,
            Role::Judge | Role::Aggregator => JUDGE,
        };
        let set = [
            ("OPENCODE_CONFIG_CONTENT", permissions.to_owned()),
            ("OPENCODE_DISABLE_PROJECT_CONFIG", "1".to_owned()),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
            ("NO_COLOR", "1".to_owned()),
        ];
        let sees = ["OPENCODE_CONFIG", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"];
        Ok(json_events::invocation(query, args, &sees, &set))
    }

    fn activity(&self, line: &str) -> Option<String> {
        let event: Value = serde_json::from_str(line).ok()?;
        match text(&event, "/type")? {
            "text" => json_events::writing(text(&event, "/part/text")?),
            "tool_use" => Some(json_events::using(text(&event, "/part/tool")?, &event["part"]["state"]["input"])),
            _ => None,
        }
    }

    fn speech(&self, line: &str) -> Option<String> {
        let event: Value = serde_json::from_str(line).ok()?;
        let is_said = text(&event, "/type") == Some("text");
        is_said.then(|| text(&event, "/part/text").map(|text| format!("{text}\n")))?
    }

    fn parse(&self, parsed: &mut ParsedOutput, event: &Value) {
        parsed.metadata.session =
            text(event, "/sessionID").map(ToOwned::to_owned).or(parsed.metadata.session.take());
        match text(event, "/type").unwrap_or_default() {
            "text" => parsed.message(text(event, "/part/text").unwrap_or_default()),
            "tool_use" => {
                parsed.tool_used();
                let tool = text(event, "/part/tool").unwrap_or("a tool");
                let error = text(event, "/part/state/error").unwrap_or_default().to_lowercase();
                let refused = ["permission", "rejected", "unavailable", "denied", "prevents"];
                if refused.iter().any(|word| error.contains(word)) {
                    parsed.denied(tool);
                }
            }
            "step_finish" => {
                parsed.done = text(event, "/part/reason") != Some("tool-calls");
                if !parsed.done {
                    parsed.tool_used();
                }
                if text(event, "/part/reason") == Some("length") {
                    parsed.failure = Some(ReportedError::text("the answer was cut off: max_tokens"));
                }
                parsed.usage = parsed.usage.plus(step(event));
            }
            "error" => {
                let name = text(event, "/error/name").unwrap_or("an error");
                let said = text(event, "/error/data/message").unwrap_or(name);
                parsed.failure =
                    Some(ReportedError::text(said).with_status(number(event, "/error/data/statusCode")));
            }
            _ => {}
        }
    }
}

/// What one step took: it tells of each by itself.
fn step(event: &Value) -> Usage {
    let of = |name: &str| number(event, &format!("/part/tokens/{name}"));
    let cached = of("cache/read");
    Usage {
        input_tokens: of("input").map(|input| input + cached.unwrap_or(0) + of("cache/write").unwrap_or(0)),
        output_tokens: of("output").map(|output| output + of("reasoning").unwrap_or(0)),
        usd: event.pointer("/part/cost").and_then(Value::as_f64).filter(|cost| *cost > 0.0),
        cached_tokens: cached,
        reasoning_tokens: of("reasoning"),
        turns: Some(1),
        estimated: false,
    }
}
