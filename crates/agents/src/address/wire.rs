//! The requests and answers of the three forms: chat completions of OpenAI, messages of Anthropic, and `generateContent`
//! of Gemini.

use serde_json::{Value, json};

use super::message::{ServerEvent, ServerQuestion};
use crate::adapters::{number, owned, string, text};
use glee_model::domain::FailureKind;
use glee_store::config::schema::address::WireForm;
use glee_system::uri;

const SYSTEM: &str = "You have no tools and cannot open files. Everything that there is to read is in the message. \
                      Answer at once, in the form that the message asks for.";

/// The most tokens of an answer. Anthropic's servers want a number, and refuse one that is too high for a model.
const LONGEST_ANSWER: u32 = 16_384;
const LONGEST_PLAIN_ANSWER: u32 = 4_096;

/// How much of a form a request uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestExtent {
    Full,
    /// Without what some servers refuse: a schema, the usage in a stream, a long answer.
    Plain,
}

pub(super) struct WireRequest {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Value,
}

impl WireRequest {
    pub(super) fn new(
        question: &ServerQuestion,
        prompt: &str,
        key: Option<&str>,
        extent: RequestExtent,
    ) -> Self {
        let ServerQuestion {
            form, url, model, ..
        } = question;
        let is_full = extent == RequestExtent::Full;
        let schema = question.schema.as_ref().filter(|_| is_full);
        let mut headers = Vec::new();
        let (path, mut body) = match form {
            WireForm::OpenAi => {
                headers.extend(key.map(|key| ("authorization", format!("Bearer {key}"))));
                let body = json!({
                    "model": model,
                    "stream": true,
                    "messages": [
                        {"role": "system", "content": SYSTEM},
                        {"role": "user", "content": prompt},
                    ],
                });
                ("/chat/completions".to_owned(), body)
            }
            WireForm::Anthropic => {
                headers.push(("anthropic-version", "2023-06-01".to_owned()));
                headers.extend(key.map(|key| ("x-api-key", key.to_owned())));
                let body = json!({
                    "model": model,
                    "stream": true,
                    "max_tokens": if is_full { LONGEST_ANSWER } else { LONGEST_PLAIN_ANSWER },
                    "system": SYSTEM,
                    "messages": [{"role": "user", "content": prompt}],
                });
                ("/messages".to_owned(), body)
            }
            WireForm::Gemini => {
                headers.extend(key.map(|key| ("x-goog-api-key", key.to_owned())));
                let body = json!({
                    "systemInstruction": {"parts": [{"text": SYSTEM}]},
                    "contents": [{"role": "user", "parts": [{"text": prompt}]}],
                });
                let model = uri::segment(model);
                let path = format!("/models/{model}:streamGenerateContent?alt=sse");
                (path, body)
            }
        };
        if *form == WireForm::OpenAi && is_full {
            body["stream_options"] = json!({"include_usage": true});
        }
        if let Some(schema) = schema {
            match form {
                WireForm::OpenAi => {
                    let schema = json!({"name": "answer", "strict": true, "schema": schema});
                    body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
                }
                WireForm::Anthropic => {
                    body["output_config"] =
                        json!({"format": {"type": "json_schema", "schema": schema}});
                }
                WireForm::Gemini => {
                    body["generationConfig"] = json!({
                        "responseMimeType": "application/json",
                        "responseJsonSchema": schema,
                    });
                }
            }
        }
        Self {
            url: format!("{url}{path}"),
            headers,
            body,
        }
    }
}

/// What one event of a stream says, or a whole answer of a server that does not stream. Empty if it is of no form.
pub(super) fn read(form: WireForm, event: &Value) -> Vec<ServerEvent> {
    let mut said = Vec::new();
    if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
        let code = number(error, "/code").and_then(|code| u16::try_from(code).ok());
        let text = message(event).unwrap_or_else(|| error.to_string());
        let kind = string(error, "/type");
        said.push(ServerEvent::Failed {
            kind: None,
            status: code.filter(|code| (400..600).contains(code)),
            text: format!("{kind} {text}").trim().to_owned(),
            reset: None,
        });
        return said;
    }
    match form {
        WireForm::OpenAi => openai(event, &mut said),
        WireForm::Anthropic => anthropic(event, &mut said),
        WireForm::Gemini => gemini(event, &mut said),
    }
    said
}

/// The server's own words about a failure.
pub(super) fn message(body: &Value) -> Option<String> {
    let body = body.get(0).unwrap_or(body);
    ["/error/message", "/error", "/message", "/detail"]
        .into_iter()
        .find_map(|pointer| owned(body, pointer))
}

fn openai(event: &Value, said: &mut Vec<ServerEvent>) {
    said.extend(owned(event, "/model").map(|model| ServerEvent::Model { model }));
    for part in ["/choices/0/delta", "/choices/0/message"] {
        for name in ["reasoning_content", "reasoning"] {
            thought(text(event, &format!("{part}/{name}")), said);
        }
        piece(text(event, &format!("{part}/content")), said);
    }
    usage(
        event.get("usage"),
        [
            "/prompt_tokens",
            "/prompt_tokens_details/cached_tokens",
            "/completion_tokens",
            "/completion_tokens_details/reasoning_tokens",
        ],
        said,
    );
    finish(text(event, "/choices/0/finish_reason"), said);
}

fn anthropic(event: &Value, said: &mut Vec<ServerEvent>) {
    // A stream begins with the message, and a server that does not stream sends nothing else.
    let message = event.get("message").unwrap_or(event);
    said.extend(owned(message, "/model").map(|model| ServerEvent::Model { model }));
    for block in message["content"].as_array().into_iter().flatten() {
        thought(text(block, "/thinking"), said);
        piece(text(block, "/text"), said);
    }
    thought(text(event, "/delta/thinking"), said);
    piece(text(event, "/delta/text"), said);
    if let Some(counts) = message.get("usage") {
        let cached = number(counts, "/cache_read_input_tokens");
        let written = number(counts, "/cache_creation_input_tokens");
        let beside = cached.unwrap_or(0) + written.unwrap_or(0);
        said.push(ServerEvent::Usage {
            // Anthropic counts cached tokens apart from the others.
            input: number(counts, "/input_tokens").map(|input| input + beside),
            cached,
            output: number(counts, "/output_tokens"),
            reasoning: None,
        });
    }
    let reason = text(event, "/delta/stop_reason").or(text(message, "/stop_reason"));
    finish(reason, said);
}

fn gemini(event: &Value, said: &mut Vec<ServerEvent>) {
    said.extend(owned(event, "/modelVersion").map(|model| ServerEvent::Model { model }));
    let parts = event.pointer("/candidates/0/content/parts");
    for part in parts.and_then(Value::as_array).into_iter().flatten() {
        if part["thought"] == true {
            thought(text(part, "/text"), said);
        } else {
            piece(text(part, "/text"), said);
        }
    }
    if let Some(counts) = event.get("usageMetadata") {
        let reasoning = number(counts, "/thoughtsTokenCount");
        let output = number(counts, "/candidatesTokenCount");
        said.push(ServerEvent::Usage {
            input: number(counts, "/promptTokenCount"),
            cached: number(counts, "/cachedContentTokenCount"),
            // Gemini counts the reasoning apart from the answer.
            output: output.map(|output| output + reasoning.unwrap_or(0)),
            reasoning,
        });
    }
    let blocked = text(event, "/promptFeedback/blockReason");
    finish(text(event, "/candidates/0/finishReason").or(blocked), said);
}

fn piece(text: Option<&str>, said: &mut Vec<ServerEvent>) {
    let text = text.filter(|text| !text.is_empty());
    said.extend(text.map(|text| ServerEvent::Piece { text: text.into() }));
}

fn thought(text: Option<&str>, said: &mut Vec<ServerEvent>) {
    let text = text.filter(|text| !text.is_empty());
    said.extend(text.map(|text| ServerEvent::Thought { text: text.into() }));
}

fn usage(
    counts: Option<&Value>,
    [input, cached, output, reasoning]: [&str; 4],
    said: &mut Vec<ServerEvent>,
) {
    if let Some(counts) = counts.filter(|counts| counts.is_object()) {
        said.push(ServerEvent::Usage {
            input: number(counts, input),
            cached: number(counts, cached),
            output: number(counts, output),
            reasoning: number(counts, reasoning),
        });
    }
}

fn finish(reason: Option<&str>, said: &mut Vec<ServerEvent>) {
    said.extend(reason.map(|reason| match reason {
        "stop" | "end_turn" | "stop_sequence" | "STOP" | "eos" => ServerEvent::Done,
        "length" | "max_tokens" | "MAX_TOKENS" | "model_context_window_exceeded" => {
            let text = format!("the model stopped at its output token limit ({reason})");
            ServerEvent::failed(FailureKind::Truncated, text)
        }
        reason => {
            let text = format!("the model declined to answer ({reason})");
            ServerEvent::failed(FailureKind::Crashed, text)
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(form: WireForm, url: &str) -> ServerQuestion {
        ServerQuestion {
            form,
            url: url.to_owned(),
            model: "qwen/3 x".to_owned(),
            key: None,
            schema: Some(json!({"type": "object"})),
        }
    }

    #[test]
    fn each_form_has_its_path_its_key_and_its_schema() {
        for (form, url, header, schema) in [
            (
                WireForm::OpenAi,
                "http://h/v1/chat/completions",
                ("authorization", "Bearer k"),
                "/response_format/json_schema/schema/type",
            ),
            (
                WireForm::Anthropic,
                "http://h/v1/messages",
                ("x-api-key", "k"),
                "/output_config/format/schema/type",
            ),
            (
                WireForm::Gemini,
                "http://h/v1/models/qwen%2F3%20x:streamGenerateContent?alt=sse",
                ("x-goog-api-key", "k"),
                "/generationConfig/responseJsonSchema/type",
            ),
        ] {
            let question = question(form, "http://h/v1");
            let full = WireRequest::new(&question, "the prompt", Some("k"), RequestExtent::Full);
            assert_eq!(full.url, url);
            assert!(full.headers.contains(&(header.0, header.1.to_owned())));
            assert_eq!(string(&full.body, schema), "object", "{}", full.body);
            let plain = WireRequest::new(&question, "the prompt", None, RequestExtent::Plain);
            assert!(plain.headers.iter().all(|(name, _)| *name != header.0));
            let text = plain.body.to_string();
            assert!(
                text.contains("the prompt") && !text.contains("object"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_streamed_and_a_whole_answer_say_the_same() {
        let done = ServerEvent::Done;
        let ok = || ServerEvent::Piece { text: "ok".into() };
        for (form, event) in [
            (
                WireForm::OpenAi,
                json!({"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]}),
            ),
            (
                WireForm::OpenAi,
                json!({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}),
            ),
            (
                WireForm::Anthropic,
                json!({"type": "message", "content": [{"type": "text", "text": "ok"}],
                "stop_reason": "end_turn"}),
            ),
            (
                WireForm::Gemini,
                json!({"candidates": [{"content": {"parts": [{"text": "ok"}]},
                "finishReason": "STOP"}]}),
            ),
        ] {
            assert_eq!(read(form, &event), [ok(), done.clone()], "{event}");
        }
        let began = json!({"type": "message_start", "message": {"model": "m", "content": [], "usage":
            {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 1}}});
        let usage = ServerEvent::Usage {
            input: Some(7),
            cached: Some(4),
            output: Some(1),
            reasoning: None,
        };
        let model = ServerEvent::Model { model: "m".into() };
        assert_eq!(read(WireForm::Anthropic, &began), [model, usage]);
        assert_eq!(read(WireForm::OpenAi, &json!({"hello": 1})), []);
    }

    #[test]
    fn an_end_that_is_no_answer_is_a_failure() {
        let kind = |form, event: Value| match read(form, &event).pop() {
            Some(ServerEvent::Failed {
                kind, status, text, ..
            }) => (kind, status, text),
            other => (None, None, format!("{other:?}")),
        };
        assert_eq!(
            kind(
                WireForm::OpenAi,
                json!({"choices": [{"finish_reason": "length"}]})
            )
            .0,
            Some(FailureKind::Truncated)
        );
        assert_eq!(
            kind(
                WireForm::Gemini,
                json!({"candidates": [{"finishReason": "SAFETY"}]})
            )
            .2,
            "the model declined to answer (SAFETY)"
        );
        assert_eq!(
            kind(
                WireForm::Anthropic,
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
            ),
            (None, None, "overloaded_error Overloaded".to_owned())
        );
        assert_eq!(
            kind(
                WireForm::OpenAi,
                json!({"error": {"code": 429, "message": "slow down"}})
            ),
            (None, Some(429), "slow down".to_owned())
        );
    }
}
