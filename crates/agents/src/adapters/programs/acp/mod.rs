//! The adapter `acp` runs agents that speak the Agent Client Protocol on stdin and stdout. The module
//! `permission` decides which tools an agent is allowed to use. The adapter reads the answer only from the
//! recorded output.

#[cfg(feature = "acp")]
mod permission;
#[cfg(feature = "acp")]
mod prompt_turn;
#[cfg(all(test, feature = "acp"))]
mod tests;
#[cfg(feature = "acp")]
mod tree;

use serde_json::Value;

use std::sync::LazyLock;

use crate::adapters::{ReportedError, assemble, number, owned, string, text, usd};
use crate::{
    Adapter, AgentError, Call, Dialogue, Invocation, ParsedOutput, Profile, ProgressEvent,
};
use glee_model::domain::FailureKind;

const AUTH_REQUIRED: i64 = -32000;

pub(crate) struct Acp;

impl Adapter for Acp {
    fn profile(&self) -> &Profile {
        static PROFILE: LazyLock<Profile> = LazyLock::new(|| Profile {
            login: "log in with the agent's own program, or set its key in `agents.<name>.env`"
                .to_owned(),
            ..Profile::named("acp")
        });
        &PROFILE
    }

    fn prints_events(&self) -> bool {
        true
    }

    fn ends_when_done(&self) -> bool {
        true
    }

    fn command(&self, call: &Call) -> Result<Invocation, AgentError> {
        if !cfg!(feature = "acp") {
            let message = "this `glee` was built without the Agent Client Protocol";
            return Err(AgentError::new(FailureKind::NotInstalled, message).hint(
                "compile Glee with ACP: `cargo install --locked glee-review --features acp`",
            ));
        }
        if let Some(model) = &call.agent.model {
            let message = format!(
                "the model `{model}` of `{}` cannot be set over ACP",
                call.agent.name
            );
            return Err(AgentError::new(FailureKind::BadFlags, message)
                .hint("pass the model as an argument in `command`: `command: [gemini, --acp, -m, <model>]`"));
        }
        Ok(Invocation {
            stdin: Vec::new(),
            ..assemble(self.profile(), call, Vec::new(), Vec::new())?
        })
    }

    fn dialogue(&self, call: &Call) -> Option<Box<dyn Dialogue>> {
        #[cfg(feature = "acp")]
        return Some(Box::new(prompt_turn::PromptTurn {
            role: call.request.task.role(),
            root: call.request.root.clone().into(),
            prompt: call.prompt.to_string(),
        }));
        #[cfg(not(feature = "acp"))]
        return Some(call).and(None);
    }

    fn progress<'a>(&self, message: &'a Value) -> Vec<ProgressEvent<'a>> {
        let update = &message["params"]["update"];
        let text = string(update, "/content/text");
        match string(update, "/sessionUpdate") {
            "agent_message_chunk" => vec![ProgressEvent::Piece(text)],
            "agent_thought_chunk" => vec![ProgressEvent::Draft(text)],
            "tool_call" => vec![ProgressEvent::Tool(string(update, "/title").to_owned())],
            _ => Vec::new(),
        }
    }

    fn parse(&self, parsed: &mut ParsedOutput, message: &Value) {
        if let Some(update) = message.pointer("/params/update") {
            return parse_update(parsed, update);
        }
        if let Some(call) = message.pointer("/params/toolCall") {
            parse_tool(parsed, call);
            if let Some(known) = parsed.tools.get_mut(string(call, "/toolCallId")) {
                known.asked = true;
            }
            return;
        }
        if string(message, "/method") == "fs/read_text_file" {
            let id = format!("fs {}", message["id"]);
            return parsed.tool_started(&id, "read", &message["params"]);
        }
        if let Some(error) = message.get("error") {
            let detail = error
                .pointer("/data/details")
                .or_else(|| error.pointer("/data/message"));
            let detail = detail
                .or_else(|| error.get("data"))
                .and_then(Value::as_str)
                .unwrap_or_default();
            let about = format!("{} {detail}", string(error, "/message"));
            parsed.failure = Some(if error["code"].as_i64() == Some(AUTH_REQUIRED) {
                ReportedError::of(FailureKind::NotLoggedIn, about.trim())
            } else {
                ReportedError::text(about.trim())
            });
        }
        let Some(result) = message.get("result") else {
            return;
        };
        parsed.session(result, "/sessionId");
        let Some(reason) = text(result, "/stopReason") else {
            return;
        };
        parsed.done = true;
        parsed.usage.input_tokens =
            number(result, "/usage/inputTokens").or(parsed.usage.input_tokens);
        parsed.usage.output_tokens =
            number(result, "/usage/outputTokens").or(parsed.usage.output_tokens);
        let failed = |kind, text| Some(ReportedError::of(kind, text));
        parsed.failure = match reason {
            "max_tokens" => failed(
                FailureKind::Truncated,
                "the answer reached the maximum length",
            ),
            "max_turn_requests" => failed(
                FailureKind::MaxTurns,
                "the agent reached its maximum number of turns",
            ),
            "refusal" => failed(FailureKind::RefusedTool, "the agent refused to continue"),
            "cancelled" => failed(
                FailureKind::RefusedTool,
                "the agent stopped because a tool call was refused",
            ),
            _ => None,
        };
    }
}

/// Records a tool call. When a tool call begins, the function discards the agent's earlier text, because only
/// the text after the last tool call is the answer.
fn parse_tool(parsed: &mut ParsedOutput, call: &Value) {
    let id = string(call, "/toolCallId");
    if !parsed.tools.contains_key(id) {
        parsed.tool_used();
    }
    let known = parsed.tools.entry(id.to_owned()).or_default();
    // An agent reports a refused call as failed.
    known.denied = known.asked && string(call, "/status") == "failed" || known.denied;
    // An update contains only the fields that changed.
    if let Some(kind) = text(call, "/kind") {
        kind.clone_into(&mut known.name);
    }
    if let Some(input) = call.get("rawInput").filter(|input| input.is_object()) {
        known.input = input.clone();
    }
    for location in call["locations"].as_array().into_iter().flatten() {
        if let Some(path) = text(location, "/path")
            && known.input.get("path").is_none()
        {
            known.input["path"] = path.into();
        }
    }
}

fn parse_update(parsed: &mut ParsedOutput, update: &Value) {
    match string(update, "/sessionUpdate") {
        "agent_message_chunk" => {
            let id = owned(update, "/messageId");
            if id != parsed.open_id && !parsed.open.is_empty() {
                parsed.piece("\n");
            }
            parsed.open_id = id;
            parsed.piece(string(update, "/content/text"));
        }
        "tool_call" | "tool_call_update" => parse_tool(parsed, update),
        "usage_update" => {
            parsed.usage.usd = usd(update, "/cost/amount").or(parsed.usage.usd);
        }
        _ => {}
    }
}

#[cfg(test)]
mod readings {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::{AnswerText, CallOutcome, Output};
    use glee_model::domain::event::Transcript;

    fn reading(lines: &[&str], exit_code: Option<i32>, stderr: &str) -> CallOutcome {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), lines.join("\n")).unwrap();
        let output = Output {
            stdout: file.path().to_owned(),
            stderr_tail: stderr.to_owned(),
            ended: jiff::Timestamp::UNIX_EPOCH,
            failed_requests: 0,
            transcript: Transcript {
                stdout_bytes: 1,
                stdout_hash: String::new(),
                stderr_bytes: 0,
                exit_code,
                signal: None,
                held: false,
                peak_memory: None,
            },
        };
        Acp.reading(&output)
    }

    const SESSION: &str = r#"{"jsonrpc":"2.0","id":"2","result":{"sessionId":"s-1"}}"#;
    const CALL: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"read app.py"}}}"#;

    fn chunk(text: &str) -> String {
        let update = serde_json::json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
        serde_json::json!({"jsonrpc": "2.0", "method": "session/update", "params": {"update": update}}).to_string()
    }

    fn stop(reason: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":"3","result":{{"stopReason":"{reason}","usage":{{"inputTokens":11,"outputTokens":7}}}}}}"#
        )
    }

    #[test]
    fn the_answer_is_what_was_said_after_the_last_tool() {
        let first = chunk("I look.");
        let one = chunk("[MUST] a.py:1 x");
        let two = chunk("\nEND");
        let end = stop("end_turn");
        // The exit code is 143, because Glee ends the agent with SIGTERM.
        let read = reading(&[SESSION, &first, CALL, &one, &two, &end], Some(143), "");
        assert_eq!(
            read.answer,
            Ok(AnswerText::Text("[MUST] a.py:1 x\nEND".to_owned()))
        );
        assert_eq!(read.metadata.session.as_deref(), Some("s-1"));
        assert_eq!(
            (read.usage.input_tokens, read.usage.output_tokens),
            (Some(11), Some(7))
        );
    }

    #[test]
    fn a_cost_of_nothing_is_no_known_cost() {
        let costs = |amount: &str| {
            format!(
                r#"{{"method":"session/update","params":{{"update":{{"sessionUpdate":"usage_update","cost":{{"amount":{amount}}}}}}}}}"#
            )
        };
        let rows = [
            (&["0.0"] as &[&str], None),
            (&["0.25"], Some(0.25)),
            (&["0.25", "0"], Some(0.25)),
        ];
        for (amounts, usd) in rows {
            let mut lines = vec![SESSION.to_owned(), chunk("END")];
            lines.extend(amounts.iter().map(|amount| costs(amount)));
            lines.push(stop("end_turn"));
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            assert_eq!(reading(&lines, Some(0), "").usage.usd, usd, "{amounts:?}");
        }
    }

    #[test]
    fn messages_are_kept_apart_and_a_tool_may_show_in_a_request_alone() {
        let said = |id: &str, text: &str| {
            let update = serde_json::json!({"sessionUpdate": "agent_message_chunk", "messageId": id,
                "content": {"type": "text", "text": text}});
            serde_json::json!({"method": "session/update", "params": {"update": update}})
                .to_string()
        };
        let asks = r#"{"id":"9","method":"session/request_permission","params":{"toolCall":{"toolCallId":"t9"}}}"#;
        let late = CALL.replace("tool_call\"", "tool_call_update\"");
        let lines = [
            SESSION,
            CALL,
            &chunk("Now."),
            asks,
            &said("a", "I have"),
            &said("a", " read it."),
            &said("b", "[MUST]"),
            &late,
            &stop("end_turn"),
        ];
        let text = AnswerText::Text("I have read it.\n[MUST]".to_owned());
        assert_eq!(reading(&lines, Some(0), "").answer, Ok(text));
    }

    #[test]
    fn every_other_end_is_a_failure_of_a_kind() {
        let text = chunk("half");
        let cases = [
            (stop("max_tokens"), FailureKind::Truncated),
            (stop("max_turn_requests"), FailureKind::MaxTurns),
            (stop("cancelled"), FailureKind::RefusedTool),
            (r#"{"id":"3","error":{"code":-32000,"message":"Authentication required"}}"#.to_owned(), FailureKind::NotLoggedIn),
            (
                r#"{"id":"3","error":{"code":-32603,"message":"Internal error","data":{"details":"429 Too Many Requests"}}}"#
                    .to_owned(),
                FailureKind::RateLimited { reset: None },
            ),
            ("{}".to_owned(), FailureKind::Protocol),
        ];
        for (line, kind) in cases {
            let read = reading(&[SESSION, &text, &line], None, "");
            assert_eq!(read.answer.unwrap_err().kind, kind, "{line}");
            assert_eq!(read.partial.as_deref(), Some("half"));
        }
        let crashed = reading(&[SESSION], Some(3), "panic: no such thing")
            .answer
            .unwrap_err();
        assert_eq!(
            crashed.message,
            "`acp` failed (crashed): exit code 3: panic: no such thing"
        );
    }

    #[test]
    fn an_update_tells_what_is_done() {
        assert_eq!(Acp.activity(CALL).as_deref(), Some("read app.py"));
        assert_eq!(
            Acp.activity(&chunk("The query is built from text."))
                .as_deref(),
            Some("The query is built from text.")
        );
        assert_eq!(Acp.activity(SESSION), None);
    }
}
