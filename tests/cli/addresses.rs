//! Models by their addresses: servers of the three forms, their limits and their faults.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{Output, Sandbox};

/// What a server does with a request.
#[derive(Clone, Copy)]
enum Deed {
    Review,
    /// Refuses a schema, and streams nothing.
    ReviewPlainly,
    /// The status, the headers and the words of a refusal.
    Refuse(u16, &'static str, &'static str),
    /// Sends these bytes after the head of a stream, and closes the connection.
    Send(&'static str),
    Hang,
    /// Sends 100 MB.
    Flood,
    Redirect(SocketAddr),
}

/// A server on loopback, and the requests that it got: the head, and the body.
struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<(String, Value)>>>,
    /// Whether each asking process was in the network namespace of this test.
    shares_network: Arc<Mutex<Vec<bool>>>,
}

impl Server {
    fn new(deed: Deed) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let server = Self {
            address: listener.local_addr().expect("an address"),
            requests: Arc::default(),
            shares_network: Arc::default(),
        };
        let (requests, shared) = (server.requests.clone(), server.shares_network.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (requests, shared) = (requests.clone(), shared.clone());
                thread::spawn(move || serve(stream, deed, &requests, &shared));
            }
        });
        server
    }

    fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    fn heads(&self) -> Vec<String> {
        let requests = self.requests.lock().expect("no panic");
        requests.iter().map(|(head, _)| head.clone()).collect()
    }

    fn bodies(&self) -> Vec<Value> {
        let requests = self.requests.lock().expect("no panic");
        requests.iter().map(|(_, body)| body.clone()).collect()
    }
}

fn serve(
    mut stream: TcpStream,
    deed: Deed,
    requests: &Mutex<Vec<(String, Value)>>,
    shared: &Mutex<Vec<bool>>,
) -> Option<()> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 65536];
    let (head, body) = loop {
        let length = stream.read(&mut buffer).ok().filter(|length| *length > 0)?;
        bytes.extend_from_slice(&buffer[..length]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && let Ok(body) = serde_json::from_str::<Value>(body)
        {
            break (head.to_owned(), body);
        }
    };
    shared
        .lock()
        .expect("no panic")
        .extend(asker_shares_network(&stream));
    requests
        .lock()
        .expect("no panic")
        .push((head.clone(), body.clone()));
    let has_schema = ["response_format", "output_config", "generationConfig"]
        .iter()
        .any(|key| body.get(key).is_some());
    let answer = match deed {
        Deed::ReviewPlainly if has_schema || body.get("stream_options").is_some() => {
            refused(400, "", "unknown field")
        }
        Deed::ReviewPlainly => {
            let choice = json!({"message": {"content": said(&body)}, "finish_reason": "stop"});
            let whole = json!({"model": "tiny", "choices": [choice],
                "usage": {"prompt_tokens": 100, "completion_tokens": 7}});
            format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{whole}")
        }
        Deed::Review => streamed(&head, &said(&body)),
        Deed::Refuse(status, headers, words) => refused(status, headers, words),
        Deed::Send(text) => format!("{STREAM}{text}"),
        Deed::Hang => {
            thread::sleep(Duration::from_secs(60));
            return None;
        }
        Deed::Flood => {
            let piece = format!(
                "data: {}\n\n",
                json!({"choices": [{"delta": {"content": "x".repeat(1 << 20)}}]})
            );
            stream.write_all(STREAM.as_bytes()).ok()?;
            for _ in 0..100 {
                stream.write_all(piece.as_bytes()).ok()?;
            }
            return None;
        }
        Deed::Redirect(to) => format!(
            "HTTP/1.1 307 Moved\r\nlocation: http://{to}/v1/chat/completions\r\ncontent-length: 0\r\n\r\n"
        ),
    };
    stream.write_all(answer.as_bytes()).ok()
}

const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

fn refused(status: u16, headers: &str, words: &str) -> String {
    let body = json!({"error": {"message": words}}).to_string();
    let length = body.len();
    format!("HTTP/1.1 {status} No\r\n{headers}content-length: {length}\r\n\r\n{body}")
}

/// Whether the process at the other end of the connection is in this test's network namespace; `None` if it cannot be
/// found.
fn asker_shares_network(stream: &TcpStream) -> Option<bool> {
    let port = stream.peer_addr().ok()?.port();
    let own = fs::read_link("/proc/self/ns/net").ok()?;
    let table = fs::read_to_string("/proc/net/tcp").ok()?;
    let local = format!(":{port:04X}");
    let socket = table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields
            .get(1)?
            .ends_with(&local)
            .then(|| format!("socket:[{}]", fields[9]))
    })?;
    for process in fs::read_dir("/proc").ok()?.flatten() {
        let files = fs::read_dir(process.path().join("fd"))
            .into_iter()
            .flatten()
            .flatten();
        let mut links = files.filter_map(|file| fs::read_link(file.path()).ok());
        if links.any(|link| link.to_string_lossy() == socket) {
            return Some(fs::read_link(process.path().join("ns/net")).ok()? == own);
        }
    }
    None
}

/// What the model says to a prompt: a finding, a ruling, or that the pairs are the same.
fn said(body: &Value) -> String {
    let messages = [
        body.pointer("/messages/1/content"),
        body.pointer("/messages/0/content"),
        body.pointer("/contents/0/parts/0/text"),
    ];
    let prompt = messages.into_iter().flatten().next();
    let prompt = prompt.and_then(Value::as_str).unwrap_or_default();
    let nonce = word_after(prompt, "nonce=").or_else(|| word_after(prompt, "\"nonce\": \""));
    let nonce = nonce.unwrap_or_default();
    if let Some(dispute) = word_after(prompt, "dispute=") {
        return json!({"nonce": nonce, "dispute": dispute.parse::<u32>().ok(), "ruling": "ENFORCE",
            "rationale": "The input is not checked.", "grounds": null, "citations": ["a.py:1"],
            "new_tag": null, "duplicate_of": null})
        .to_string();
    }
    if prompt.contains("GLEE-SAME-END") {
        let pair = word_after(prompt, "[P").map_or_else(String::new, |id| format!("P{id}"));
        return format!("[{pair}] SAME: one defect\nGLEE-SAME-END nonce={nonce} answers=1");
    }
    format!("[MUST] a.py:1 Check the input\n\nGLEE-REVIEW-END nonce={nonce} findings=1 read=all\n")
}

fn word_after(text: &str, mark: &str) -> Option<String> {
    let rest = text.split(mark).nth(1)?;
    let word: String = rest
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric())
        .collect();
    Some(word).filter(|word| !word.is_empty())
}

/// An answer in two pieces, in the form of the path.
fn streamed(head: &str, text: &str) -> String {
    let (one, two) = text.split_at(text.len() / 2);
    let path = head.lines().next().unwrap_or_default();
    let events = if path.contains("/messages") {
        vec![
            json!({"type": "message_start", "message": {"model": "claude-tiny", "content": [],
                "usage": {"input_tokens": 90, "cache_read_input_tokens": 10, "output_tokens": 1}}}),
            json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": one}}),
            json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": two}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}),
            json!({"type": "message_stop"}),
        ]
    } else if path.contains(":streamGenerateContent") {
        vec![
            json!({"candidates": [{"content": {"parts": [{"text": one}]}}]}),
            json!({"candidates": [{"content": {"parts": [{"text": two}]}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 7}}),
        ]
    } else {
        vec![
            json!({"model": "tiny", "choices": [{"delta": {"content": one}}]}),
            json!({"choices": [{"delta": {"content": two}, "finish_reason": "stop"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 7}}),
        ]
    };
    let mut text = STREAM.to_owned();
    for event in events {
        let _ = write!(text, "event: x\ndata: {event}\n\n");
    }
    if !path.contains("/messages") {
        text.push_str("data: [DONE]\n\n");
    }
    text
}

fn sandbox() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.env("GLEE_LIMITS_RETRIES", "0");
    sandbox.env("GLEE_LIMITS_FIRST_OUTPUT_TIMEOUT", "3s");
    sandbox.git_init().write("a.py", "print(input())\n");
    sandbox.git(&["add", "a.py"]);
    sandbox
}

fn connect(sandbox: &Sandbox, agent: &str, role: &str, name: &str) -> Output {
    let args = [
        "connect", agent, "--role", role, "--model", "tiny", "--name", name,
    ];
    sandbox.glee(&args)
}

fn review(sandbox: &Sandbox, more: &[&str]) -> Output {
    let quick = ["review", "--staged", "--format", "json"];
    sandbox.glee(&[&quick[..], more].concat())
}

fn report(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

#[rstest]
#[case::openai(
    "",
    "POST /v1/chat/completions",
    "authorization: Bearer the-long-made-up-key"
)]
#[case::anthropic("anthropic:", "POST /v1/messages", "x-api-key: the-long-made-up-key")]
#[case::gemini(
    "gemini:",
    "POST /v1/models/tiny:streamGenerateContent?alt=sse",
    "x-goog-api-key: the-long-made-up-key"
)]
fn a_model_reviews_and_its_server_gets_the_code_and_the_key(
    #[case] form: &str,
    #[case] path: &str,
    #[case] key: &str,
) {
    let server = Server::new(Deed::Review);
    let mut sandbox = sandbox();
    sandbox.env("MY_KEY", "the-long-made-up-key");
    let connected = connect(
        &sandbox,
        &format!("{form}{} MY_KEY", server.url()),
        "reviewer",
        "it",
    );
    assert_eq!(connected.code, 0, "{connected}");
    assert!(!sandbox.read(".glee/config.yml").contains("made-up"));
    let output = review(&sandbox, &[]);
    assert_eq!(output.code, 1, "{output}");
    let report = report(&output);
    assert_eq!(
        report.pointer("/findings/0/title"),
        Some(&json!("Check the input")),
        "{output}"
    );
    assert!(output.stdout.contains("100"), "{output}");
    let heads = server.heads();
    assert!(
        heads[0].starts_with(path) && heads[0].contains(key),
        "{heads:?}"
    );
    assert!(server.bodies()[0].to_string().contains("print(input())"));
    let shared = server.shares_network.lock().expect("no panic").clone();
    if fs::metadata("/proc/self/ns/user").is_ok() {
        assert!(
            !shared.contains(&true),
            "the asking process kept the network"
        );
    }
}

#[test]
fn a_server_that_knows_no_schema_and_streams_nothing_is_asked_plainly() {
    let server = Server::new(Deed::ReviewPlainly);
    let sandbox = sandbox();
    assert_eq!(connect(&sandbox, &server.url(), "reviewer", "it").code, 0);
    let output = review(&sandbox, &[]);
    assert_eq!(output.code, 1, "{output}");
    assert_eq!(server.bodies().len(), 2);
}

#[test]
fn two_models_review_and_a_third_judges_by_a_schema() {
    let (one, two) = (Server::new(Deed::Review), Server::new(Deed::Review));
    let sandbox = sandbox();
    assert_eq!(connect(&sandbox, &one.url(), "reviewer", "one").code, 0);
    let anthropic = format!("anthropic:http://{}", two.address);
    assert_eq!(connect(&sandbox, &anthropic, "reviewer", "two").code, 0);
    assert_eq!(connect(&sandbox, &two.url(), "judge", "arbiter").code, 0);
    assert_eq!(connect(&sandbox, &one.url(), "aggregator", "sums").code, 0);
    let coder = "#!/bin/sh\ncat >/dev/null\nfor id in $GLEE_FINDINGS; do n=$((n+1)); \
                 echo \"[$id] DISAGREE: the input is trusted\"; echo 'Evidence: a.py:1'; done\n\
                 echo \"GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n\"\n";
    sandbox.connect("coder", "coder", coder, &[]);
    let output = review(&sandbox, &["--arbitrate"]);
    assert!(output.stdout.contains("ENFORCE"), "{output}");
    let schemas = two.bodies();
    let ruling = schemas
        .iter()
        .find_map(|body| body.pointer("/response_format/json_schema"));
    assert!(
        ruling.is_some_and(|schema| schema.to_string().contains("rationale")),
        "{output}"
    );
    let nonce = ruling.and_then(|ruling| ruling.pointer("/schema/properties/nonce/enum/0"));
    assert!(
        nonce.is_some_and(|nonce| nonce.as_str().is_some_and(|nonce| nonce.len() == 32)),
        "{ruling:?}"
    );
}

#[rstest]
#[case::rate(
    Deed::Refuse(429, "retry-after: 3600\r\n", "Too many requests"),
    75,
    "answers 429: Too many requests"
)]
#[case::credit(
    Deed::Refuse(402, "", "Insufficient credit"),
    75,
    "answers 402: Insufficient credit"
)]
#[case::overload(Deed::Refuse(529, "", "Overloaded"), 4, "answers 529: Overloaded")]
#[case::key(
    Deed::Refuse(401, "", "Invalid key the-long-made-up-key"),
    4,
    "answers 401: Invalid key ***"
)]
#[case::model(
    Deed::Refuse(404, "", "model `tiny` not found"),
    4,
    "answers 404: model `tiny` not found"
)]
#[case::garbage(
    Deed::Send("<html>nonsense</html>\n"),
    4,
    "is no answer of a model: <html>nonsense</html>"
)]
#[case::bad_event(
    Deed::Send("data: {nonsense\n\n"),
    4,
    "is no answer of a model: {nonsense"
)]
#[case::empty(Deed::Send(""), 4, "sent an empty answer")]
#[case::cut(
    Deed::Send("data: {\"choices\": [{\"delta\": {\"content\": \"[MUST] a.py:1 Ch\"}}]}\n\n"),
    4,
    "in the middle of the answer"
)]
#[case::length(
    Deed::Send(
        "data: {\"choices\": [{\"delta\": {\"content\": \"x\"}, \"finish_reason\": \"length\"}]}\n\n"
    ),
    4,
    "output token limit"
)]
#[case::declined(
    Deed::Send(
        "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"content_filter\"}]}\n\n"
    ),
    4,
    "declined to answer"
)]
#[case::error(
    Deed::Send("data: {\"error\": {\"message\": \"Rate limit reached\", \"code\": 429}}\n\n"),
    75,
    "Rate limit reached"
)]
#[case::flood(Deed::Flood, 4, "sent more than 16 MiB")]
#[case::hang(Deed::Hang, 4, "printed nothing for 3s")]
fn what_a_server_does_instead_of_answering_is_named(
    #[case] deed: Deed,
    #[case] code: i32,
    #[case] words: &str,
) {
    let server = Server::new(deed);
    let mut sandbox = sandbox();
    sandbox.env("MY_KEY", "the-long-made-up-key");
    let agent = format!("{} MY_KEY", server.url());
    assert_eq!(connect(&sandbox, &agent, "reviewer", "it").code, 0);
    let output = review(&sandbox, &[]);
    let all = format!("{}{}", output.stdout, output.stderr);
    assert_eq!(output.code, code, "{output}");
    assert!(all.contains(words) && !all.contains("made-up"), "{output}");
}

#[test]
fn a_redirect_is_refused_and_the_other_server_gets_nothing() {
    let other = Server::new(Deed::Review);
    let server = Server::new(Deed::Redirect(other.address));
    let mut sandbox = sandbox();
    sandbox.env("MY_KEY", "the-long-made-up-key");
    let agent = format!("{} MY_KEY", server.url());
    assert_eq!(connect(&sandbox, &agent, "reviewer", "it").code, 0);
    let output = review(&sandbox, &[]);
    assert_eq!(output.code, 4, "{output}");
    assert!(
        output.stdout.contains("Glee follows no redirect"),
        "{output}"
    );
    assert_eq!(other.heads(), Vec::<String>::new());
}

#[rstest]
#[case(&["http://127.0.0.1:9/v1", "--model", "m", "--role", "coder"], "cannot be a coder")]
#[case(&["http://127.0.0.1:9/v1", "--role", "reviewer"], "`127.0.0.1:9` is not told which model to use")]
#[case(&["openai:", "--role", "judge"], "`api.openai.com` is not told which model to use")]
#[case(&["ollama:qwen3", "--model", "other", "--role", "judge"], "name two models")]
#[case(&["https://me:secret@gw.example/v1", "--model", "m", "--role", "judge"], "user name or a password")]
#[case(&["http://gw.example/v1 KEY", "--model", "m", "--role", "judge"], "in clear to gw.example")]
#[case(&["https://gw.example/v1 sk-secret", "--model", "m", "--role", "judge"], "`sk-s...` is not the name")]
#[case(&["mine", "--command", "https://gw.example/?k=v", "--model", "m", "--role", "judge"], "not the address of a server")]
fn what_cannot_be_asked_is_not_connected(#[case] args: &[&str], #[case] words: &str) {
    let sandbox = sandbox();
    let output = sandbox.glee(&[&["connect"], args].concat());
    assert_eq!(output.code, 2, "{output}");
    assert!(
        output.stderr.contains(words) && output.stderr.contains("hint: "),
        "{output}"
    );
    assert!(!sandbox.exists(".glee/config.yml"));
}

#[rstest]
#[case(
    "role: coder, command: 'http://127.0.0.1:9', model: m",
    "cannot be a coder"
)]
#[case("role: reviewer, command: 'openai:'", "not told which model to use")]
#[case(
    "role: reviewer, command: 'openai:gpt-5', model: m",
    "`gpt-5` is not the address"
)]
#[case(
    "role: reviewer, command: 'ollama:', model: m, adapter: text",
    "does not match its command"
)]
fn a_configuration_that_cannot_be_asked_is_refused(#[case] agent: &str, #[case] words: &str) {
    let sandbox = sandbox();
    sandbox.write(
        ".glee/config.yml",
        format!("agents: [{{name: it, {agent}}}]\n"),
    );
    let output = sandbox.glee(&["agents"]);
    assert_eq!(output.code, 2, "{output}");
    assert!(output.stderr.contains(words), "{output}");
}

#[test]
fn a_project_names_no_address_without_trust() {
    let server = Server::new(Deed::Review);
    let sandbox = sandbox();
    let agent = format!(
        "name: it, role: reviewer, command: '{}', model: m",
        server.url()
    );
    sandbox.write(".glee/config.yml", format!("agents: [{{{agent}}}]\n"));
    let output = review(&sandbox, &[]);
    assert_eq!(output.code, 8, "{output}");
    assert!(
        output.stderr.contains("gets the code, agent `it`"),
        "{output}"
    );
    assert_eq!(server.heads(), Vec::<String>::new());
}

#[test]
fn a_model_is_connected_by_its_name_and_a_missing_key_is_named() {
    let sandbox = sandbox();
    let output = sandbox.glee(&["connect", "openai:org/gpt-9", "--role", "reviewer"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output.stderr.contains("`org-gpt-9-reviewer` is connected"),
        "{output}"
    );
    assert!(
        output
            .stderr
            .contains("the key of `org-gpt-9-reviewer` is not set"),
        "{output}"
    );
    let output = review(&sandbox, &[]);
    assert_eq!(output.code, 4, "{output}");
    assert!(
        output.stdout.contains("`OPENAI_API_KEY` is not set"),
        "{output}"
    );
}

#[test]
fn another_model_or_server_is_asked_again_and_the_same_is_not() {
    let (one, two) = (Server::new(Deed::Review), Server::new(Deed::Review));
    let sandbox = sandbox();
    assert_eq!(connect(&sandbox, &one.url(), "reviewer", "it").code, 0);
    let calls = || (one.heads().len(), two.heads().len());
    review(&sandbox, &[]);
    review(&sandbox, &[]);
    assert_eq!(calls(), (1, 0));
    sandbox.glee(&["config", "set", "agents.it.model", "other"]);
    review(&sandbox, &[]);
    assert_eq!(calls(), (2, 0));
    sandbox.glee(&["config", "set", "agents.it.command", &two.url()]);
    review(&sandbox, &[]);
    assert_eq!(calls(), (2, 1));
}

#[test]
fn one_review_asks_a_model_that_is_not_connected() {
    let server = Server::new(Deed::Review);
    let sandbox = sandbox();
    let output = review(&sandbox, &["--with", &server.url(), "--model", "tiny"]);
    assert_eq!(output.code, 1, "{output}");
    assert_eq!(server.bodies()[0]["model"], "tiny");
}
