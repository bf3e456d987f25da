//! The adapter for Claude Code reads the output of `claude -p --output-format stream-json`. The argument
//! `--setting-sources ""` excludes the hooks, permissions and `CLAUDE.md` of the tree. The flag
//! `--strict-mcp-config` excludes the tree's MCP servers. The agent has no shell in any role, because allow-lists
//! of commands are unreliable. Claude Code reads all words between `--tools` and the next option as names of
//! tools, so `--tools` is never the last option. The adapter was tested with Claude Code 2.1.197 and 2.1.330.

use jiff::Timestamp;
use serde_json::Value;

use crate::adapters::programs;
use crate::adapters::{ReportedError, list, number, owned, string, text, tokens};
use crate::{Adapter, Call, LineMarks, ParsedOutput, Profile, ProgressEvent};
use glee_model::domain::{FailureKind, Role, Usage};

pub struct Claude;

impl Adapter for Claude {
    fn profile(&self) -> &Profile {
        programs::known("claude")
    }

    fn prints_events(&self) -> bool {
        true
    }

    fn marks(&self) -> LineMarks {
        LineMarks {
            preamble: Some(&[r#"{"type":"system""#]),
            failed: &[],
        }
    }

    fn args(&self, call: &Call) -> Vec<String> {
        let mut args = list(&["-p", "--output-format", "stream-json", "--verbose"]);
        if call.program.may_have("--include-partial-messages") {
            args.push("--include-partial-messages".to_owned());
        }
        args.extend(list(&[
            "--setting-sources",
            "",
            "--strict-mcp-config",
            "--disable-slash-commands",
        ]));
        let role = call.request.task.role();
        // With `--restricted`, Claude Code reads only files of the tree and edits no files.
        if role != Role::Coder && call.program.names("--restricted") {
            args.push("--restricted".to_owned());
        }
        let (tools, mode) = match role {
            Role::Coder => ("Read,Grep,Glob,Edit,Write", "acceptEdits"),
            Role::Reviewer => ("Read,Grep,Glob", "dontAsk"),
            Role::Judge | Role::Aggregator => ("", "dontAsk"),
        };
        args.extend(list(&["--tools", tools, "--permission-mode", mode]));
        if role != Role::Coder {
            args.push("--no-session-persistence".to_owned());
        }
        args
    }

    fn progress<'a>(&self, event: &'a Value) -> Vec<ProgressEvent<'a>> {
        match string(event, "/type") {
            "stream_event" => vec![ProgressEvent::Draft(string(event, "/event/delta/text"))],
            "assistant" => blocks(event)
                .filter_map(
                    |block| match (text(block, "/type")?, is_of_subagent(event)) {
                        ("tool_use", _) => {
                            Some(ProgressEvent::tool(string(block, "/name"), &block["input"]))
                        }
                        ("text", false) => Some(ProgressEvent::Message(string(block, "/text"))),
                        ("text", true) => Some(ProgressEvent::Draft(string(block, "/text"))),
                        _ => None,
                    },
                )
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The adapter for Qwen Code also calls this function, because Qwen Code and Claude Code print the same
    /// events.
    fn parse(&self, parsed: &mut ParsedOutput, event: &Value) {
        // What a subagent reads is part of what the agent knows.
        for block in blocks(event).filter(|block| string(block, "/type") == "tool_use") {
            parsed.tool_started(
                string(block, "/id"),
                string(block, "/name"),
                &block["input"],
            );
        }
        if is_of_subagent(event) {
            return;
        }
        match string(event, "/type") {
            "system" if string(event, "/subtype") == "init" => {
                parsed.session(event, "/session_id");
                parsed.metadata.model = owned(event, "/model");
            }
            "stream_event" => parsed.piece(string(event, "/event/delta/text")),
            "assistant" if event.get("is_api_error_message").is_none() => {
                blocks(event)
                    .filter_map(|block| text(block, "/text"))
                    .for_each(|text| parsed.message(text));
            }
            // A `user` event usually starts a new answer, but a `user` event with the text `Output token limit
            // hit` continues a truncated answer.
            "user"
                if !blocks(event)
                    .any(|block| string(block, "/text").starts_with("Output token limit hit")) =>
            {
                parsed.tool_used();
            }
            "rate_limit_event" if string(event, "/rate_limit_info/status") == "rejected" => {
                let seconds = number(event, "/rate_limit_info/resetsAt")
                    .and_then(|at| i64::try_from(at).ok());
                parsed.reset = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
            }
            "result" => parse_result(parsed, event),
            _ => {}
        }
    }
}

fn is_of_subagent(event: &Value) -> bool {
    !event["parent_tool_use_id"].is_null()
}

fn blocks(event: &Value) -> impl Iterator<Item = &Value> {
    event
        .pointer("/message/content")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn parse_result(parsed: &mut ParsedOutput, event: &Value) {
    parsed.done = true;
    parsed.session(event, "/session_id");
    parsed.usage = usage(event);
    for denial in event["permission_denials"].as_array().into_iter().flatten() {
        parsed.denied(text(denial, "/tool_name").unwrap_or("a tool"));
        parsed.tool_refused(string(denial, "/tool_use_id"));
    }
    let message = text(event, "/result")
        .or_else(|| text(event, "/error/message"))
        .unwrap_or_default();
    let failed = event["is_error"].as_bool() == Some(true);
    parsed.failure = match string(event, "/subtype") {
        "error_max_turns" => Some(ReportedError::of(
            FailureKind::MaxTurns,
            "the agent reached its maximum number of \
                                                                            turns",
        )),
        "error_max_budget_usd" => Some(ReportedError::of(
            FailureKind::OverQuota { reset: None },
            "the agent used up its budget",
        )),
        _ if failed && string(event, "/terminal_reason") == "blocking_limit" => {
            Some(ReportedError::of(FailureKind::TooLong, message))
        }
        _ if failed => {
            let errors = event["errors"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            let errors = errors.collect::<Vec<_>>().join("; ");
            let lost = string(event, "/api_error") == "connection_failed";
            let error = ReportedError::text(if message.is_empty() { &errors } else { message });
            let error = error.with_status(number(event, "/api_error_status"));
            Some(ReportedError {
                kind: lost.then_some(FailureKind::Unavailable),
                ..error
            })
        }
        _ => None,
    };
    // If the agent continued a truncated output, the field `result` contains only the last part of the answer.
    let continued = parsed.text.ends_with(message) && parsed.text.len() > message.len();
    parsed.answer = match event.get("structured_output") {
        Some(value) if !value.is_null() => Some(value.to_string()),
        _ if continued => None,
        _ => Some(message.to_owned()),
    };
}

fn usage(event: &Value) -> Usage {
    let reasoning = "/output_tokens_details/thinking_tokens";
    let usage = tokens(
        &event["usage"],
        [
            "/input_tokens",
            "/cache_read_input_tokens",
            "/output_tokens",
            reasoning,
        ],
    );
    let cache = usage.cached_tokens.unwrap_or(0)
        + number(event, "/usage/cache_creation_input_tokens").unwrap_or(0);
    Usage {
        input_tokens: usage.input_tokens.map(|input| input + cache),
        usd: event["total_cost_usd"].as_f64(),
        turns: event["num_turns"].as_u64(),
        ..usage
    }
}
