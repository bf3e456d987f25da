//! Gemini CLI, as it prints its work with `-o stream-json`.
//!
//! `--skip-trust` starts it in a tree that it does not know, without the tree's hooks and MCP servers; in its default
//! approval mode it offers tools that read only. Its retries can be turned down in a settings file alone: one of the
//! lowest rank, so that the user's own settings stand. Nothing keeps it from reading the tree's `GEMINI.md`: its setting
//! for the names of such files only adds to them. A prompt that is too long it would cut silently. Seen with
//! 0.61.0.

use serde_json::Value;

use crate::agents::adapters::interface::{Adapter, Profile};
use crate::agents::adapters::invocation::{Invocation, Query};
use crate::agents::adapters::json_events::{self, list};
use crate::agents::adapters::parsed_output::{ParsedOutput, ReportedError, number, text};
use crate::agents::error::AgentError;
use crate::agents::streams::output_monitor::Marks;
use crate::domain::{FailureKind, Role, Usage};

/// The longest prompt it takes on stdin, in bytes.
const LONGEST: usize = 8 << 20;

const DEFAULTS: &str =
    r#"{"general":{"maxAttempts":1,"enableAutoUpdate":false,"enableAutoUpdateNotification":false}}"#;

const SEES: [&str; 6] = [
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_GENAI_USE_VERTEXAI",
];

pub(crate) struct Gemini;

impl Adapter for Gemini {
    fn profile(&self) -> Profile {
        Profile {
            name: "gemini",
            login: "log in: run `gemini` once, or set GEMINI_API_KEY",
            helps: &[&["--help"]],
            marks: Marks { mute: Some(&[r#"{"type":"init""#, r#""role":"user""#]), vain: None },
            // HTTP errors come out as the status modulo 256.
            exit_codes: &[
                (&[41, 145, 147], FailureKind::NotLoggedIn),
                (&[53], FailureKind::MaxTurns),
                (&[173], FailureKind::RateLimited { reset: None }),
                (&[244, 245, 246, 247, 248], FailureKind::Unavailable),
            ],
            ..Profile::default()
        }
    }

    fn command(&self, query: &Query<'_>) -> Result<Invocation, AgentError> {
        json_events::fits(query, "gemini", query.prompt.len(), LONGEST, "bytes")?;
        query.program.need(&["--skip-trust", "--approval-mode", "--extensions", "--allowed-mcp-server-names"])?;
        let mode = if query.request.task.role() == Role::Coder { "auto_edit" } else { "default" };
        let mut args = list(&["--skip-trust", "--approval-mode", mode, "-e", "none"]);
        args.extend(list(&["--allowed-mcp-server-names", "none", "-o", "stream-json"]));
        args.extend(json_events::option("--resume", query.session));
        args.extend(json_events::option("-m", query.agent.model.as_deref()));
        args.extend(json_events::own_args(query));
        let defaults = query.folder.join("gemini-defaults.json");
        let set = [
            ("GEMINI_CLI_NO_RELAUNCH", "true".to_owned()),
            ("NO_COLOR", "1".to_owned()),
            ("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", defaults.to_string_lossy().into_owned()),
        ];
        let invocation = json_events::invocation(query, args, &SEES, &set);
        Ok(Invocation { files: vec![(defaults, DEFAULTS.to_owned())], ..invocation })
    }

    fn activity(&self, line: &str) -> Option<String> {
        let event: Value = serde_json::from_str(line).ok()?;
        match text(&event, "/type")? {
            "message" if text(&event, "/role") == Some("assistant") => {
                json_events::writing(text(&event, "/content")?)
            }
            "tool_use" => Some(json_events::using(text(&event, "/tool_name")?, &event["parameters"])),
            _ => None,
        }
    }

    fn speech(&self, line: &str) -> Option<String> {
        let event: Value = serde_json::from_str(line).ok()?;
        match text(&event, "/type")? {
            "message" if text(&event, "/role") == Some("assistant") => {
                text(&event, "/content").map(ToOwned::to_owned)
            }
            // Its messages come in pieces; a tool ends one.
            "tool_use" => Some("\n".to_owned()),
            _ => None,
        }
    }

    fn parse(&self, parsed: &mut ParsedOutput, event: &Value) {
        match text(event, "/type").unwrap_or_default() {
            "init" => {
                parsed.metadata.session = text(event, "/session_id").map(ToOwned::to_owned);
                parsed.metadata.model = text(event, "/model").map(ToOwned::to_owned);
            }
            "message" if text(event, "/role") == Some("assistant") => {
                parsed.piece(text(event, "/content").unwrap_or_default());
            }
            "tool_use" => {
                if let (Some(id), Some(name)) = (text(event, "/tool_id"), text(event, "/tool_name")) {
                    parsed.tools.insert(id.to_owned(), name.to_owned());
                }
            }
            "tool_result" => {
                parsed.tool_used();
                let name = text(event, "/tool_id").and_then(|id| parsed.tools.remove(id));
                let refused = ["tool_not_registered", "policy_violation", "execution_denied", "denied"];
                let kind = text(event, "/error/type").unwrap_or_default();
                if let (Some(name), true) = (name, refused.contains(&kind)) {
                    parsed.denied(&name);
                }
            }
            "error" if text(event, "/severity") == Some("error") => {
                parsed.failure = text(event, "/message").map(ReportedError::text);
            }
            "result" => {
                parsed.done = true;
                if text(event, "/status") == Some("success") {
                    parsed.failure = None;
                } else if let Some(said) = text(event, "/error/message") {
                    // What follows the first line is advice, and speaks of quotas whatever happened.
                    parsed.failure = said.lines().next().map(ReportedError::text);
                } else if parsed.failure.is_none() {
                    parsed.failure = Some(ReportedError::text("it did not say why"));
                }
                let of = |name: &str| number(event, &format!("/stats/{name}"));
                parsed.usage = Usage {
                    input_tokens: of("input_tokens"),
                    output_tokens: of("output_tokens"),
                    cached_tokens: of("cached"),
                    ..Usage::default()
                };
            }
            _ => {}
        }
    }
}
