//! Claude Code, as `claude -p` prints it with `--output-format stream-json`.
//!
//! `--setting-sources ""` keeps the reviewed tree's hooks, permissions and `CLAUDE.md` out, `--strict-mcp-config` its
//! MCP servers; nobody gets a shell, because an allow-list of commands does not hold. `--tools` takes all words that
//! follow it, so it never stands last. Seen with 2.1.197 and 2.1.330.

use jiff::Timestamp;
use serde_json::Value;

use crate::agents::adapters::effort;
use crate::agents::adapters::interface::{Adapter, Profile};
use crate::agents::adapters::invocation::{Invocation, Query};
use crate::agents::adapters::json_events::{self, list};
use crate::agents::adapters::parsed_output::{ParsedOutput, ReportedError, number, text};
use crate::agents::error::AgentError;
use crate::agents::schema::SchemaForm;
use crate::agents::streams::output_monitor::Marks;
use crate::domain::{Effort, FailureKind, Role, Usage};

/// The longest prompt it takes on stdin, in bytes.
const LONGEST: usize = 10_000_000;

/// The flags without which a role has no bounds.
const NEEDED: [&str; 4] = ["--setting-sources", "--strict-mcp-config", "--tools", "--permission-mode"];

const SEES: [&str; 5] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
];

pub(crate) struct Claude;

impl Adapter for Claude {
    fn profile(&self) -> Profile {
        Profile {
            name: "claude",
            login: "log in: run `claude` and type `/login`, or set ANTHROPIC_API_KEY",
            helps: &[&["--help"]],
            marks: Marks { mute: Some(&[r#"{"type":"system""#]), vain: None },
            effort: Some(Effort::as_str),
            ..Profile::default()
        }
    }

    fn command(&self, query: &Query<'_>) -> Result<Invocation, AgentError> {
        json_events::fits(query, "claude", query.prompt.len(), LONGEST, "bytes")?;
        query.program.need(&NEEDED)?;
        let mut args = list(&["-p", "--output-format", "stream-json", "--verbose"]);
        if query.program.words.is_none() || query.program.names("--include-partial-messages") {
            args.push("--include-partial-messages".to_owned());
        }
        args.extend(list(&["--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands"]));
        // It also confines reading to the tree; a coder that is confined may not edit.
        let role = query.request.task.role();
        if role != Role::Coder && query.program.names("--restricted") {
            args.push("--restricted".to_owned());
        }
        args.extend(match role {
            Role::Coder => list(&["--tools", "Read,Grep,Glob,Edit,Write", "--permission-mode", "acceptEdits"]),
            Role::Reviewer => {
                list(&["--tools", "Read,Grep,Glob", "--permission-mode", "dontAsk", "--no-session-persistence"])
            }
            Role::Judge | Role::Aggregator => {
                list(&["--tools", "", "--permission-mode", "dontAsk", "--no-session-persistence"])
            }
        });
        let form = SchemaForm::held_to(&query.request.task).filter(|_| query.program.names("--json-schema"));
        args.extend(json_events::option("--json-schema", form.map(SchemaForm::argument)));
        args.extend(json_events::option("--effort", effort::word(self, query, "--effort")?));
        args.extend(json_events::option("--resume", query.session));
        args.extend(json_events::option("--model", query.agent.model.as_deref()));
        args.extend(json_events::own_args(query));
        let set = [
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("CLAUDE_CODE_MAX_RETRIES", "0".to_owned()),
        ];
        Ok(json_events::invocation(query, args, &SEES, &set))
    }

    fn activity(&self, line: &str) -> Option<String> {
        let event: Value = serde_json::from_str(line).ok()?;
        match text(&event, "/type")? {
            "stream_event" => json_events::writing(text(&event, "/event/delta/text")?),
            "assistant" => blocks(&event).find_map(|block| match text(block, "/type")? {
                "tool_use" => Some(json_events::using(text(block, "/name")?, &block["input"])),
                "text" => json_events::writing(text(block, "/text")?),
                _ => None,
            }),
            _ => None,
        }
    }

    fn speech(&self, line: &str) -> Option<String> {
        let event: Value = serde_json::from_str(line).ok()?;
        let is_own = event.get("parent_tool_use_id").is_none_or(Value::is_null);
        (is_own && text(&event, "/type") == Some("assistant")).then(|| {
            blocks(&event).filter_map(|block| text(block, "/text")).map(|text| format!("{text}\n")).collect()
        })
    }

    fn parse(&self, parsed: &mut ParsedOutput, event: &Value) {
        parse(parsed, event);
    }
}

fn blocks(event: &Value) -> impl Iterator<Item = &Value> {
    event.pointer("/message/content").and_then(Value::as_array).into_iter().flatten()
}

/// Takes an event of the form that Claude Code introduced and Qwen Code speaks too.
pub(crate) fn parse(parsed: &mut ParsedOutput, event: &Value) {
    // What a subagent says is not said by the agent.
    if event.get("parent_tool_use_id").is_some_and(|id| !id.is_null()) {
        return;
    }
    match text(event, "/type").unwrap_or_default() {
        "system" if text(event, "/subtype") == Some("init") => {
            parsed.metadata.session = text(event, "/session_id").map(ToOwned::to_owned);
            parsed.metadata.model = text(event, "/model").map(ToOwned::to_owned);
        }
        "stream_event" => parsed.piece(text(event, "/event/delta/text").unwrap_or_default()),
        "assistant" if event.get("is_api_error_message").is_none() => {
            blocks(event).filter_map(|block| text(block, "/text")).for_each(|text| parsed.message(text));
        }
        // What is written after any word to it is a new answer, unless it was told to go on where its output was cut.
        "user" if !blocks(event).any(|block| text(block, "/text").is_some_and(goes_on)) => parsed.tool_used(),
        "rate_limit_event" if text(event, "/rate_limit_info/status") == Some("rejected") => {
            let seconds = number(event, "/rate_limit_info/resetsAt").and_then(|at| i64::try_from(at).ok());
            parsed.reset = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
        }
        "result" => result(parsed, event),
        _ => {}
    }
}

fn goes_on(said: &str) -> bool {
    said.starts_with("Output token limit hit")
}

fn result(parsed: &mut ParsedOutput, event: &Value) {
    parsed.done = true;
    parsed.metadata.session = text(event, "/session_id").map(ToOwned::to_owned).or(parsed.metadata.session.take());
    parsed.usage = usage(event);
    for denial in event["permission_denials"].as_array().into_iter().flatten() {
        parsed.denied(text(denial, "/tool_name").unwrap_or("a tool"));
    }
    let said = text(event, "/result").or_else(|| text(event, "/error/message")).unwrap_or_default();
    let errors = event["errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let errors = || errors.clone().collect::<Vec<_>>().join("; ");
    let failed = event["is_error"].as_bool() == Some(true);
    parsed.failure = match text(event, "/subtype").unwrap_or_default() {
        "error_max_turns" => Some(ReportedError::of(FailureKind::MaxTurns, "it used up its turns")),
        "error_max_budget_usd" => Some(ReportedError::of(
            FailureKind::OverQuota { reset: None },
            "it used up the budget that was set for it",
        )),
        _ if failed && text(event, "/terminal_reason") == Some("blocking_limit") => {
            Some(ReportedError::of(FailureKind::TooLong, said))
        }
        _ if failed => {
            let words = if said.is_empty() { errors() } else { said.to_owned() };
            let lost = text(event, "/api_error") == Some("connection_failed");
            let said = ReportedError::text(&words).with_status(number(event, "/api_error_status"));
            Some(ReportedError { kind: lost.then_some(FailureKind::Unavailable), ..said })
        }
        _ => None,
    };
    // Where the output was cut and went on, `result` holds its last part only.
    let continued = parsed.text.ends_with(said) && parsed.text.len() > said.len();
    parsed.answer = match event.get("structured_output") {
        Some(value) if !value.is_null() => Some(value.to_string()),
        _ if continued => None,
        _ => Some(said.to_owned()),
    };
}

fn usage(event: &Value) -> Usage {
    let of = |name: &str| number(event, &format!("/usage/{name}"));
    let cached = of("cache_read_input_tokens");
    let input = of("input_tokens")
        .map(|input| input + cached.unwrap_or(0) + of("cache_creation_input_tokens").unwrap_or(0));
    Usage {
        input_tokens: input,
        output_tokens: of("output_tokens"),
        usd: event["total_cost_usd"].as_f64(),
        cached_tokens: cached,
        reasoning_tokens: of("output_tokens_details/thinking_tokens"),
        turns: event["num_turns"].as_u64(),
        estimated: false,
    }
}
