//! The lines of JSON that a watch receives: each line is an event or a command.
//!
//! Invalid lines are counted and reported. The watch writes an event to the disk before it answers the event's
//! line.

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use crate::watch::issues::Issue;
use crate::watch::status::WatchReport;
use glee_model::domain::{AgentEvent, AgentName, EventType, Untrusted, WatchStatus};

/// The maximum length of a line, in bytes.
pub const LONGEST: usize = 64 << 10;
/// The maximum length of a summary, in characters.
const SUMMARY: usize = 2_000;
/// The maximum number of files in an event.
const FILES: usize = 50;
const PATH: usize = 500;
const NAME: usize = 64;
const WAITING: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub enum WatchMessage {
    Event(AgentEvent),
    Command(WatchCommand),
    Malformed(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "lowercase")]
pub enum WatchCommand {
    Status,
    Review,
    Pause {
        #[serde(default)]
        reason: String,
    },
    Resume {
        #[serde(default)]
        reason: String,
    },
    Issues,
    Close {
        issue: u32,
        #[serde(default)]
        reason: String,
    },
    Stop,
}

#[derive(Debug)]
pub struct Batch {
    pub items: Vec<WatchMessage>,
    pub by: String,
    /// The watch sends one answer per line to this channel, in the order of the lines.
    pub answer: Option<oneshot::Sender<Vec<CommandReply>>>,
}

/// The watch's reply to a received line. The reply is sent as one line of JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandReply {
    pub ok: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<WatchStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clarify: Option<Clarify>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<WatchReport>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issues: Option<Vec<Issue>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clarify {
    pub cycle: u32,
    pub prompt: Untrusted,
}

impl CommandReply {
    pub fn refused(why: impl Into<String>) -> Self {
        Self {
            error: Some(why.into()),
            ..Self::default()
        }
    }
}

pub type Intake = mpsc::Sender<Batch>;

pub fn intake() -> (Intake, mpsc::Receiver<Batch>) {
    mpsc::channel(WAITING)
}

/// Sends messages to the watch and waits for the answers. Returns `None` if the watch has ended.
pub async fn hand_over(
    intake: &Intake,
    items: Vec<WatchMessage>,
    by: &str,
) -> Option<Vec<CommandReply>> {
    let (answer, answered) = oneshot::channel();
    intake
        .send(Batch {
            items,
            by: by.to_owned(),
            answer: Some(answer),
        })
        .await
        .ok()?;
    answered.await.ok()
}

/// The fields of an event in JSON. Unknown fields are ignored.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    agent: Option<String>,
    summary: Option<String>,
    file: Option<Paths>,
    files: Option<Paths>,
    clarifies: Option<u32>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Paths {
    One(String),
    Many(Vec<String>),
}

impl WatchCommand {
    /// Whether the command is read-only. Agents are allowed to send only read-only commands.
    pub(crate) fn only_reads(&self) -> bool {
        match self {
            Self::Status | Self::Issues => true,
            Self::Review
            | Self::Pause { .. }
            | Self::Resume { .. }
            | Self::Close { .. }
            | Self::Stop => false,
        }
    }

    pub fn line(&self, key: Option<&str>) -> String {
        let mut line = serde_json::json!(self);
        if let Some(key) = key
            && let Some(fields) = line.as_object_mut()
        {
            fields.insert(KEY.to_owned(), key.into());
        }
        line.to_string()
    }
}

pub const KEY: &str = "key";

/// Parses a line into an event or a command, and returns the key that the line contains.
pub(crate) fn read_keyed(line: &[u8]) -> (WatchMessage, Option<String>) {
    let fields = Some(line).filter(|line| line.len() <= LONGEST);
    let fields = fields.and_then(|line| serde_json::from_slice::<serde_json::Value>(line).ok());
    let key = fields
        .as_ref()
        .and_then(|fields| fields.get(KEY)?.as_str())
        .map(ToOwned::to_owned);
    let command = fields.filter(|fields| fields.get("command").is_some());
    match command.map(serde_json::from_value) {
        Some(Ok(command)) => (WatchMessage::Command(command), key),
        Some(Err(_)) | None => (read(line, None), key),
    }
}

/// Parses a line from an agent's output or from a file. Accepts events, but no commands. `own` is the agent that
/// wrote the line, or `None` if the agent is unknown.
pub fn read(line: &[u8], own: Option<&AgentName>) -> WatchMessage {
    if line.len() > LONGEST {
        return WatchMessage::Malformed(format!("longer than {LONGEST} bytes"));
    }
    let line: Line = match serde_json::from_slice(line) {
        Ok(line) => line,
        Err(error) => return WatchMessage::Malformed(error.to_string()),
    };
    match event(line, own) {
        Ok(event) => WatchMessage::Event(event),
        Err(error) => WatchMessage::Malformed(error),
    }
}

fn event(line: Line, own: Option<&AgentName>) -> Result<AgentEvent, String> {
    let kind = EventType::parse(&line.kind)
        .filter(|kind| kind.as_str() == line.kind)
        .ok_or_else(|| {
            let known = EventType::ALL.map(EventType::as_str).join(", ");
            format!("`type` has to be one of {known}")
        })?;
    let named = line.agent.map(|name| self::name(&name)).transpose()?;
    let agent = match (own, named) {
        (Some(own), Some(named)) if *own != named => {
            return Err(format!("`{}` cannot speak for another agent", own.0));
        }
        (Some(own), _) => Some(own.clone()),
        (None, None) if kind != EventType::UserManual => {
            return Err("`agent` is missing".to_owned());
        }
        (None, named) => named,
    };
    let paths = line
        .files
        .into_iter()
        .chain(line.file)
        .flat_map(|paths| match paths {
            Paths::One(path) => vec![path],
            Paths::Many(paths) => paths,
        });
    let paths = paths.filter(|path| !path.trim().is_empty());
    let cut = |text: &str, most: usize| -> String { text.trim().chars().take(most).collect() };
    Ok(AgentEvent {
        kind,
        agent,
        summary: line
            .summary
            .map(|text| cut(&text, SUMMARY))
            .filter(|text| !text.is_empty())
            .map(Untrusted::from),
        files: paths
            .take(FILES)
            .map(|path| cut(&path, PATH).into())
            .collect(),
        clarifies: line.clarifies,
    })
}

/// Replaces the event type `user_manual` by `request_review`, because only a person is allowed to send
/// `user_manual`.
pub fn for_agent(item: WatchMessage) -> WatchMessage {
    match item {
        WatchMessage::Event(event) if event.kind == EventType::UserManual => {
            WatchMessage::Event(AgentEvent {
                kind: EventType::RequestReview,
                ..event
            })
        }
        item => item,
    }
}

/// Accepts a name of up to 64 ASCII letters, digits, `.`, `_` and `-`. The first character must be a letter or a
/// digit.
pub fn name(name: &str) -> Result<AgentName, String> {
    let is_name = name.len() <= NAME
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
        && name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if is_name {
        Ok(name.into())
    } else {
        Err("`agent` is not a valid name of an agent".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> WatchMessage {
        read_keyed(line.as_bytes()).0
    }

    fn malformed(item: WatchMessage) -> String {
        match item {
            WatchMessage::Malformed(why) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_type_is_read_with_what_it_says() {
        for kind in EventType::ALL {
            let line = serde_json::json!({"type": kind, "agent": "claude", "summary": " done ", "file": "a.py", "more": 1});
            let event = AgentEvent {
                kind,
                agent: Some("claude".into()),
                summary: Some("done".into()),
                files: vec!["a.py".into()],
                clarifies: None,
            };
            assert_eq!(of(&line.to_string()), WatchMessage::Event(event));
        }
    }

    #[test]
    fn commands_are_read_with_their_key_and_only_from_connections() {
        let line = br#"{"command":"resume","reason":"checked by hand"}"#;
        let resume = WatchCommand::Resume {
            reason: "checked by hand".to_owned(),
        };
        assert_eq!(
            read_keyed(line),
            (WatchMessage::Command(resume.clone()), None)
        );
        assert_eq!(
            read_keyed(resume.line(Some("abc")).as_bytes()),
            (WatchMessage::Command(resume), Some("abc".to_owned()))
        );
        assert_eq!(
            of(r#"{"command":"status"}"#),
            WatchMessage::Command(WatchCommand::Status)
        );
        assert!(malformed(read(line, Some(&"claude".into()))).contains("type"));
        assert!(
            malformed(read(line, None)).contains("type"),
            "a file of events commands nothing"
        );
        // An incomplete command is invalid; a command that also has fields of an event is a command.
        assert!(malformed(of(r#"{"command":"close"}"#)).contains("type"));
        assert_eq!(
            of(r#"{"type":"note","agent":"a","command":"stop"}"#),
            WatchMessage::Command(WatchCommand::Stop)
        );
        assert_eq!(
            read_keyed(br#"{"type":"note","agent":"a","key":7}"#).1,
            None
        );
    }

    #[test]
    fn an_agent_speaks_for_itself_alone() {
        let own = AgentName::from("claude");
        let said = read(br#"{"type":"note"}"#, Some(&own));
        assert!(
            matches!(said, WatchMessage::Event(AgentEvent { agent: Some(name), .. }) if name == own)
        );
        let forged = read(br#"{"type":"milestone","agent":"codex"}"#, Some(&own));
        assert_eq!(malformed(forged), "`claude` cannot speak for another agent");
    }

    #[test]
    fn a_line_that_is_no_event_says_why() {
        for (line, why) in [
            ("", "EOF"),
            ("hello", "expected"),
            ("[]", ""),
            (r#"{"agent":"a"}"#, "type"),
            (
                r#"{"type":"party","agent":"a"}"#,
                "has to be one of milestone, blocker",
            ),
            (r#"{"type":"note"}"#, "`agent` is missing"),
            (r#"{"type":"note","agent":"../x"}"#, "not a valid name"),
            (r#"{"type":"note","agent":"a","summary":7}"#, ""),
        ] {
            assert!(malformed(of(line)).contains(why), "{line}");
        }
        assert!(malformed(read(&vec![b'x'; LONGEST + 1], None)).contains("longer"));
        assert!(matches!(
            of(r#"{"type":"user_manual"}"#),
            WatchMessage::Event(AgentEvent { agent: None, .. })
        ));
    }
}
