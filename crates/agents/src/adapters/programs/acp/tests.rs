//! Tests of complete conversations with a scripted agent.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, ContentBlock, ContentChunk, InitializeRequest,
    InitializeResponse, NewSessionRequest, NewSessionResponse, PermissionOption,
    PermissionOptionKind, PromptRequest, PromptResponse, ReadTextFileRequest,
    RequestPermissionOutcome, RequestPermissionRequest, SessionMode, SessionModeState,
    SessionNotification, SessionUpdate, SetSessionModeRequest, SetSessionModeResponse, StopReason,
    TextContent, ToolCall, ToolCallLocation, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
    WriteTextFileRequest,
};
use agent_client_protocol::{Agent, ByteStreams, Client, Error};
use tokio::io::AsyncReadExt as _;
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

use super::prompt_turn::PromptTurn;
use crate::Stop;
use crate::streams::dialogue::{Dialogue as _, relay};
use glee_model::domain::Role;

type Log = Arc<Mutex<Vec<String>>>;

fn note(log: &Log, line: impl Into<String>) {
    log.lock().unwrap().push(line.into());
}

async fn work(
    root: PathBuf,
    log: Log,
    prompt: PromptRequest,
    client: ConnectionTo<Client>,
) -> Result<(), Error> {
    let session = prompt.session_id;
    let inside = root.join("app.py");
    let call = ToolCall::new("t1", "edit app.py")
        .kind(ToolKind::Edit)
        .locations(vec![ToolCallLocation::new(&inside)]);
    client.send_notification(SessionNotification::new(
        session.clone(),
        SessionUpdate::ToolCall(call),
    ))?;
    let options = vec![
        PermissionOption::new("all", "Always", PermissionOptionKind::AllowAlways),
        PermissionOption::new("yes", "Allow", PermissionOptionKind::AllowOnce),
        PermissionOption::new("no", "Reject", PermissionOptionKind::RejectOnce),
    ];
    // The request contains only the tool's id.
    let tool = ToolCallUpdate::new("t1", ToolCallUpdateFields::new());
    let asked = RequestPermissionRequest::new(session.clone(), tool, options);
    let edit = match client.send_request(asked).block_task().await?.outcome {
        RequestPermissionOutcome::Selected(selected) => selected.option_id.0.to_string(),
        _ => "cancelled".to_owned(),
    };
    note(&log, format!("edit: {edit}"));
    for path in [inside.as_path(), Path::new("/etc/hostname")] {
        let read = client
            .send_request(ReadTextFileRequest::new(session.clone(), path))
            .block_task()
            .await;
        note(
            &log,
            format!(
                "read {}: {}",
                path.display(),
                read.map_or("refused".to_owned(), |read| read.content)
            ),
        );
    }
    for path in [
        root.join("new/b.py"),
        root.join(".git/config"),
        root.join("../outside"),
    ] {
        let write = WriteTextFileRequest::new(session.clone(), &path, "written");
        let written = client.send_request(write).block_task().await.is_ok();
        note(&log, format!("write {}: {written}", path.display()));
    }
    let text = ContentBlock::Text(TextContent::new("All done."));
    client.send_notification(SessionNotification::new(
        session,
        SessionUpdate::AgentMessageChunk(ContentChunk::new(text)),
    ))
}

/// Runs the conversation until the prompt is answered. Returns the agent's log and the recorded output.
async fn hold(role: Role, root: &Path, waits: bool, stop: Stop) -> (Vec<String>, String) {
    let log: Log = Log::default();
    let (to_agent, from_glee) = tokio::io::duplex(1 << 16);
    let (to_glee, mut from_agent) = tokio::io::duplex(1 << 16);
    let (cancel, cancelled) = Stop::new();
    let told = log.clone();
    let moded = log.clone();
    let place = root.to_owned();
    let agent = Agent
        .v1()
        .on_receive_request(
            async move |asked: InitializeRequest, responder, _client| {
                responder.respond(
                    InitializeResponse::new(asked.protocol_version)
                        .agent_capabilities(AgentCapabilities::new()),
                )
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |_asked: NewSessionRequest, responder, _client| {
                let modes =
                    ["auto", "default", "read-only"].map(|mode| SessionMode::new(mode, mode));
                let modes = SessionModeState::new("auto", modes.to_vec());
                responder.respond(NewSessionResponse::new("s1").modes(modes))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: SetSessionModeRequest, responder, _client| {
                note(&moded, format!("mode: {}", asked.mode_id.0));
                responder.respond(SetSessionModeResponse::new())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |prompt: PromptRequest, responder, client: ConnectionTo<Client>| {
                let root = place.clone();
                let log = told.clone();
                let cancelled = cancelled.clone();
                let again = client.clone();
                client.spawn(async move {
                    if waits {
                        cancelled.stopped().await;
                        return responder.respond(PromptResponse::new(StopReason::Cancelled));
                    }
                    work(root, log, prompt, again).await?;
                    responder.respond(PromptResponse::new(StopReason::EndTurn))
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |_cancel: CancelNotification, _client| {
                cancel.stop();
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_to(ByteStreams::new(to_glee.compat_write(), from_glee.compat()));
    let agent = tokio::spawn(agent);
    let (mut relay, stdout) = relay(1 << 20);
    let said = tokio::spawn(async move {
        let mut all = Vec::new();
        let mut buffer = vec![0; 4096];
        loop {
            let read = from_agent.read(&mut buffer).await.unwrap();
            relay.pass(&buffer[..read]);
            all.extend_from_slice(&buffer[..read]);
            if read == 0 {
                return String::from_utf8(all).unwrap();
            }
        }
    });
    let turn = PromptTurn {
        role,
        root: root.to_owned(),
        prompt: "the prompt".to_owned(),
    };
    tokio::time::timeout(
        Duration::from_secs(30),
        turn.drive(stdout, Box::new(to_agent), stop),
    )
    .await
    .unwrap();
    agent.abort();
    let said = said.await.unwrap();
    let log = log.lock().unwrap().clone();
    (log, said)
}

#[tokio::test]
async fn a_coder_edits_the_tree_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("tree");
    std::fs::create_dir_all(root.join(".git")).unwrap();
    std::fs::write(root.join("app.py"), "pass").unwrap();
    let (log, said) = hold(Role::Coder, &root, false, Stop::never()).await;
    let shown = root.display();
    assert_eq!(
        log,
        [
            "mode: default".to_owned(),
            "edit: yes".to_owned(),
            format!("read {shown}/app.py: pass"),
            "read /etc/hostname: refused".to_owned(),
            format!("write {shown}/new/b.py: true"),
            format!("write {shown}/.git/config: false"),
            format!("write {shown}/../outside: false"),
        ]
    );
    assert_eq!(
        std::fs::read_to_string(root.join("new/b.py")).unwrap(),
        "written"
    );
    assert!(said.contains(r#""stopReason":"end_turn""#), "{said}");
}

#[tokio::test]
async fn a_reviewer_reads_and_a_judge_does_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("app.py"), "pass").unwrap();
    let shown = root.display();
    for (role, text) in [(Role::Reviewer, "pass"), (Role::Judge, "refused")] {
        let (log, _) = hold(role, &root, false, Stop::never()).await;
        let expected = [
            "mode: read-only".to_owned(),
            "edit: no".to_owned(),
            format!("read {shown}/app.py: {text}"),
            "read /etc/hostname: refused".to_owned(),
            format!("write {shown}/new/b.py: false"),
            format!("write {shown}/.git/config: false"),
            format!("write {shown}/../outside: false"),
        ];
        assert_eq!(log, expected, "{role}");
    }
    assert!(!root.join("new").exists());
}

#[test]
fn a_mode_that_asks_is_chosen() {
    // The modes of codex-acp 2.6.0, and of a program that has none of them.
    let codex = ["read-only", "workspace-write", "agent", "agent-full-access"];
    let rows = [
        (Role::Coder, codex.as_slice(), Some("workspace-write")),
        (Role::Reviewer, &codex, Some("read-only")),
        (Role::Coder, &["auto", "yolo"], None),
        (Role::Coder, &[], None),
    ];
    for (role, modes, expected) in rows {
        let turn = PromptTurn {
            role,
            root: "/".into(),
            prompt: String::new(),
        };
        let modes: Vec<SessionMode> = modes
            .iter()
            .map(|mode| SessionMode::new(*mode, *mode))
            .collect();
        let session = NewSessionResponse::new("s1").modes(SessionModeState::new("agent", modes));
        assert_eq!(turn.mode(&session).as_deref(), expected, "{role}");
    }
}

#[tokio::test]
async fn a_conversation_that_is_stopped_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let (handle, stop) = Stop::new();
    handle.stop();
    let (_, said) = hold(Role::Reviewer, folder.path(), true, stop).await;
    assert!(said.contains(r#""stopReason":"cancelled""#), "{said}");
}
