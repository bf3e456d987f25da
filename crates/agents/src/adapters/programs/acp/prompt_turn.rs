//! Conducts one prompt turn over the Agent Client Protocol: opens a session, sends one prompt, and answers the
//! requests of the agent.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, ContentBlock, FileSystemCapabilities, Implementation,
    InitializeRequest, NewSessionRequest, NewSessionResponse, PromptRequest, ReadTextFileRequest,
    ReadTextFileResponse, RequestPermissionRequest, RequestPermissionResponse, SessionNotification,
    SessionUpdate, SetSessionModeRequest, StopReason, TextContent, ToolCallUpdateFields,
    WriteTextFileRequest, WriteTextFileResponse,
};
use agent_client_protocol::{Agent, ByteStreams, Client, Error};
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

use super::{permission, tree};
use crate::{Dialogue, StdinWriter, StdoutReader, Stop};
use glee_model::domain::Role;

/// The maximum size in bytes of a file that Glee reads or writes for the agent.
const LONGEST: u64 = 8 << 20;

#[derive(Clone, Debug)]
pub(crate) struct PromptTurn {
    pub role: Role,
    pub root: PathBuf,
    pub prompt: String,
}

impl PromptTurn {
    fn capabilities(&self) -> ClientCapabilities {
        let files = FileSystemCapabilities::new()
            .read_text_file(matches!(self.role, Role::Coder | Role::Reviewer))
            .write_text_file(self.role == Role::Coder);
        ClientCapabilities::new().fs(files)
    }

    /// Returns the session mode that Glee has to set, so that the agent asks for permission. Returns `None` if
    /// the agent already uses the mode, or supports no such mode. In its own mode, codex asks a model about each edit.
    pub(super) fn mode(&self, session: &NewSessionResponse) -> Option<String> {
        let modes = session.modes.as_ref()?;
        let wanted: &[&str] = if self.role == Role::Coder {
            &["default", "workspace-write"]
        } else {
            &["read-only", "default"]
        };
        let has = |id: &&&str| modes.available_modes.iter().any(|mode| &*mode.id.0 == **id);
        let mode = wanted.iter().find(has)?;
        (&*modes.current_mode_id.0 != *mode).then(|| (*mode).to_owned())
    }

    fn read(&self, request: &ReadTextFileRequest) -> Result<ReadTextFileResponse, Error> {
        let file = matches!(self.role, Role::Coder | Role::Reviewer)
            .then(|| tree::readable(&self.root, &request.path))
            .flatten()
            .ok_or_else(|| refused("read", request.path.display()))?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() || metadata.len() > LONGEST {
            return Err(refused("read", request.path.display()));
        }
        let text = String::from_utf8_lossy(&std::fs::read(file).map_err(failed)?).into_owned();
        Ok(ReadTextFileResponse::new(part(
            text,
            request.line,
            request.limit,
        )))
    }

    fn write(&self, request: &WriteTextFileRequest) -> Result<WriteTextFileResponse, Error> {
        let file = (self.role == Role::Coder && request.content.len() as u64 <= LONGEST)
            .then(|| tree::writable(&self.root, &request.path))
            .flatten()
            .ok_or_else(|| refused("write", request.path.display()))?;
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        std::fs::write(file, &request.content).map_err(failed)?;
        Ok(WriteTextFileResponse::new())
    }

    async fn ask(&self, agent: ConnectionTo<Agent>, stop: Stop) -> Result<StopReason, Error> {
        let initialize = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(self.capabilities())
            .client_info(Implementation::new("glee", env!("CARGO_PKG_VERSION")));
        agent.send_request(initialize).block_task().await?;
        let session = agent
            .send_request(NewSessionRequest::new(&self.root))
            .block_task()
            .await?;
        let id = session.session_id.clone();
        if let Some(mode) = self.mode(&session) {
            agent
                .send_request(SetSessionModeRequest::new(id.clone(), mode))
                .block_task()
                .await?;
        }
        let prompt = vec![ContentBlock::Text(TextContent::new(self.prompt.clone()))];
        let answered = agent
            .send_request(PromptRequest::new(id.clone(), prompt))
            .block_task();
        tokio::pin!(answered);
        tokio::select! {
            answer = &mut answered => return Ok(answer?.stop_reason),
            () = stop.stopped() => agent.send_notification(CancelNotification::new(id))?,
        }
        Ok(answered.await?.stop_reason)
    }
}

impl Dialogue for PromptTurn {
    fn drive<'a>(
        &'a self,
        stdout: StdoutReader,
        stdin: StdinWriter,
        stop: Stop,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        let pipes = ByteStreams::new(stdin.compat_write(), stdout.compat());
        let me = Arc::new(self.clone());
        let permits = me.clone();
        let reads = me.clone();
        let writes = me.clone();
        let tools = Arc::new(Mutex::new(Tools::default()));
        let known = tools.clone();
        Box::pin(async move {
            // The `Result` of the connection is ignored, because Glee reads errors from the recorded output.
            let _ = Client
                .v1()
                .name("glee")
                .on_receive_notification(
                    async move |update: SessionNotification, _agent| {
                        tools
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .learn(update.update);
                        Ok(())
                    },
                    agent_client_protocol::on_receive_notification!(),
                )
                .on_receive_request(
                    async move |request: RequestPermissionRequest, responder, _agent| {
                        let tool = known
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .complete(&request);
                        let outcome = permission::answer(
                            permits.role,
                            &permits.root,
                            &tool,
                            &request.options,
                        );
                        responder.respond(RequestPermissionResponse::new(outcome))
                    },
                    agent_client_protocol::on_receive_request!(),
                )
                .on_receive_request(
                    async move |request: ReadTextFileRequest, responder, _agent| {
                        responder.respond_with_result(reads.read(&request))
                    },
                    agent_client_protocol::on_receive_request!(),
                )
                .on_receive_request(
                    async move |request: WriteTextFileRequest, responder, _agent| {
                        responder.respond_with_result(writes.write(&request))
                    },
                    agent_client_protocol::on_receive_request!(),
                )
                .connect_with(pipes, async move |agent: ConnectionTo<Agent>| {
                    me.ask(agent, stop).await
                })
                .await;
        })
    }
}

/// Maps the id of each tool call to the fields that the agent reported. A permission request possibly contains
/// only the id of the tool call, so Glee looks up missing fields in this map.
#[derive(Debug, Default)]
struct Tools(HashMap<String, ToolCallUpdateFields>);

impl Tools {
    fn learn(&mut self, update: SessionUpdate) {
        let (id, fields) = match update {
            SessionUpdate::ToolCall(call) => {
                let fields = ToolCallUpdateFields::new()
                    .kind(call.kind)
                    .content(call.content)
                    .locations(call.locations)
                    .raw_input(call.raw_input);
                (call.tool_call_id, fields)
            }
            SessionUpdate::ToolCallUpdate(update) => (update.tool_call_id, update.fields),
            _ => return,
        };
        let known = self.0.entry(id.0.to_string()).or_default();
        *known = merged(fields, known.clone());
    }

    fn complete(&self, request: &RequestPermissionRequest) -> ToolCallUpdateFields {
        let known = self
            .0
            .get(&*request.tool_call.tool_call_id.0)
            .cloned()
            .unwrap_or_default();
        merged(request.tool_call.fields.clone(), known)
    }
}

fn merged(mut newer: ToolCallUpdateFields, older: ToolCallUpdateFields) -> ToolCallUpdateFields {
    newer.kind = newer.kind.or(older.kind);
    newer.content = newer.content.or(older.content);
    newer.locations = newer.locations.or(older.locations);
    newer.raw_input = newer.raw_input.or(older.raw_input);
    newer
}

/// Returns at most `limit` lines of `text`, starting at line number `line`. Line numbers start at 1.
fn part(text: String, line: Option<u32>, limit: Option<u32>) -> String {
    if (line, limit) == (None, None) {
        return text;
    }
    let skipped = line.unwrap_or(1).saturating_sub(1) as usize;
    text.split_inclusive('\n')
        .skip(skipped)
        .take(limit.map_or(usize::MAX, |limit| limit as usize))
        .collect()
}

fn refused(what: &str, path: impl std::fmt::Display) -> Error {
    Error::invalid_params().data(format!("it is not allowed to {what} `{path}`"))
}

fn failed(error: io::Error) -> Error {
    Error::internal_error().data(error.to_string())
}
