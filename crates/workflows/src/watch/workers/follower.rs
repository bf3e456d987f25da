//! Reads the events that an agent prints during its task.
//!
//! An event is a line of JSON in the agent's output. The follower reads the output file while the agent writes to
//! the file. Lines without events are part of the agent's answer. A `done` event is ignored, because the task ends
//! only with the agent's answer.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::Duration;

use crate::watch::socket::SocketLines;
use crate::watch::socket::protocol::{self, Batch, Intake, WatchMessage};
use glee_agents::{AdapterKind, Stop};
use glee_model::domain::{Agent, AgentName, EventType, Untrusted};
use glee_protocol::secrets;

const AGAIN: Duration = Duration::from_millis(200);
const PIECE: u64 = 1 << 20;

pub struct Follower {
    name: AgentName,
    adapters: Vec<AdapterKind>,
    stdout: PathBuf,
    intake: Intake,
    /// The inode of the output file, and the number of bytes that were read. If the agent is started again, the
    /// new output file has another inode.
    place: (u64, u64),
    lines: SocketLines,
    said: SocketLines,
    told: Vec<(EventType, Option<Untrusted>)>,
    /// If the agent is started again, the new output file can repeat events of the old output file. The next event
    /// that the new output file can repeat is `told[again]`.
    again: usize,
}

impl Follower {
    pub fn new(agent: &Agent, backups: &[Agent], stdout: PathBuf, intake: Intake) -> Self {
        let adapters = std::iter::once(agent)
            .chain(backups)
            .filter_map(|agent| AdapterKind::of(agent).ok());
        Self {
            name: agent.name.clone(),
            adapters: adapters.collect(),
            stdout,
            intake,
            place: (0, 0),
            lines: SocketLines::default(),
            said: SocketLines::default(),
            told: Vec::new(),
            again: 0,
        }
    }

    /// Forwards the agent's events to the watch. Returns after `work` has ended and the remaining events have been
    /// forwarded.
    pub async fn during<T>(mut self, work: impl Future<Output = T>, stop: Stop) -> T {
        let mut work = std::pin::pin!(work);
        let worked = loop {
            tokio::select! {
                worked = &mut work => break worked,
                () = tokio::time::sleep(AGAIN) => self.hand_over(false, &stop).await,
            }
        };
        self.hand_over(true, &stop).await;
        // Yields to the async task of the watch, so that the watch receives the events before the answer.
        tokio::task::yield_now().await;
        worked
    }

    async fn hand_over(&mut self, is_last: bool, stop: &Stop) {
        let items = self.items(is_last);
        if items.is_empty() {
            return;
        }
        let batch = Batch {
            items,
            by: self.name.0.clone(),
            answer: None,
        };
        tokio::select! {
            biased;
            () = stop.stopped() => {}
            // Sending fails only after the watch has ended, so the error is ignored.
            sent = self.intake.send(batch) => drop(sent),
        }
    }

    fn items(&mut self, is_last: bool) -> Vec<WatchMessage> {
        let mut lines = Vec::new();
        // If the file does not exist, the agent has printed nothing so far.
        while let Some(piece) = self.piece().filter(|piece| !piece.is_empty()) {
            for line in self.lines.take(&piece) {
                self.hear(&line, &mut lines);
            }
        }
        if is_last {
            for line in self.lines.take(b"\n") {
                self.hear(&line, &mut lines);
            }
            lines.extend(self.said.take(b"\n"));
        }
        let events = lines.iter().filter(|line| line.starts_with(b"{"));
        let items = events.map(|line| protocol::for_agent(protocol::read(line, Some(&self.name))));
        let items = items.filter(
            |item| matches!(item, WatchMessage::Event(event) if event.kind != EventType::Done),
        );
        items
            .collect::<Vec<_>>()
            .into_iter()
            .filter(|item| self.is_new(item))
            .collect()
    }

    /// Returns false if an earlier output file already contained the event.
    fn is_new(&mut self, item: &WatchMessage) -> bool {
        let WatchMessage::Event(event) = item else {
            return true;
        };
        let told = (event.kind, secrets::redact_value(event.summary.clone()));
        if self.told.get(self.again) == Some(&told) {
            self.again += 1;
            return false;
        }
        self.told.push(told);
        self.again = self.told.len();
        true
    }

    fn hear(&mut self, line: &[u8], said: &mut Vec<Vec<u8>>) {
        let line = String::from_utf8_lossy(line);
        if let Some(text) = self
            .adapters
            .iter()
            .find_map(|kind| kind.adapter().speech(&line))
        {
            said.extend(self.said.take(text.as_bytes()));
        }
    }

    fn piece(&mut self) -> Option<Vec<u8>> {
        let mut file = File::open(&self.stdout).ok()?;
        let inode = file.metadata().ok()?.ino();
        if inode != self.place.0 {
            self.place = (inode, 0);
            (self.lines, self.said) = Default::default();
            self.again = 0;
        }
        file.seek(SeekFrom::Start(self.place.1)).ok()?;
        let mut piece = Vec::new();
        file.take(PIECE).read_to_end(&mut piece).ok()?;
        self.place.1 += piece.len() as u64;
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use glee_agents::samples;

    fn told(adapter: &str, pieces: &[String]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("work.stdout");
        let agent = samples::agent("claude", adapter, &["claude"]);
        let mut follower = Follower::new(&agent, &[], path.clone(), protocol::intake().0);
        let mut items = follower.items(false);
        let mut all = String::new();
        for piece in pieces {
            all.push_str(piece);
            std::fs::write(&path, &all).expect("a written file");
            items.extend(follower.items(false));
        }
        items.extend(follower.items(true));
        let summary = |item: &WatchMessage| match item {
            WatchMessage::Event(event) => {
                format!(
                    "{} {}",
                    event.kind,
                    event.summary.as_ref().expect("a summary").as_written()
                )
            }
            other => panic!("{other:?}"),
        };
        items.iter().map(summary).collect()
    }

    #[test]
    fn spec_26_every_program_tells_milestones_in_what_it_says_and_nowhere_else() {
        let said = "Now this:\n{\"type\":\"milestone\",\"summary\":\"hashed\"}\nand on I go";
        let used = said.replace("hashed", "read in a file");
        let (cut, rest) = said.split_at(30);
        let lines = |values: &[serde_json::Value]| -> Vec<String> {
            values.iter().map(|value| format!("{value}\n")).collect()
        };
        let message = |kind: &str, block: serde_json::Value| json!({"type": kind, "message": {"content": [block]}});
        let claude = [
            json!({"type": "stream_event", "event": {"delta": {"text": said}}}),
            message("assistant", json!({"type": "text", "text": said})),
            message("user", json!({"type": "tool_result", "content": used})),
            json!({"type": "result", "subtype": "success", "result": said}),
        ];
        let codex = [
            json!({"type": "item.completed", "item": {"type": "agent_message", "text": said}}),
            json!({"type": "item.completed", "item": {"type": "command_execution", "aggregated_output": used}}),
        ];
        let gemini = [
            json!({"type": "message", "role": "user", "content": used}),
            json!({"type": "message", "role": "assistant", "content": cut, "delta": true}),
            json!({"type": "message", "role": "assistant", "content": rest, "delta": true}),
            json!({"type": "tool_result", "output": used}),
        ];
        let opencode = [
            json!({"type": "text", "part": {"text": said}}),
            json!({"type": "tool_use", "part": {"tool": "read", "state": {"output": used}}}),
        ];
        let copilot = [
            json!({"type": "assistant.message", "data": {"content": said}}),
            json!({"type": "tool.execution_complete", "data": {"result": used}}),
        ];
        let chunk = |text: &str| {
            json!({"method": "session/update", "params": {"update":
                {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}})
        };
        let acp = [chunk(cut), chunk(rest)];
        for (adapter, printed) in [
            ("claude", lines(&claude)),
            ("qwen", lines(&claude)),
            ("codex", lines(&codex)),
            ("gemini", lines(&gemini)),
            ("opencode", lines(&opencode)),
            ("copilot", lines(&copilot)),
            ("acp", lines(&acp)),
            ("json", vec![said.to_owned()]),
        ] {
            assert_eq!(told(adapter, &printed), ["milestone hashed"], "{adapter}");
            let halves: Vec<String> = printed
                .concat()
                .as_bytes()
                .chunks(17)
                .map(|part| String::from_utf8(part.to_vec()).expect("ASCII"))
                .collect();
            assert_eq!(told(adapter, &halves), ["milestone hashed"], "{adapter}");
        }
    }

    #[test]
    fn a_file_that_was_cleaned_of_secrets_tells_nothing_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("work.stdout");
        let line =
            |summary: &str| format!("{{\"type\":\"milestone\",\"summary\":\"{summary}\"}}\n");
        let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let before = [line("one"), line(&format!("two {secret}"))].concat();
        std::fs::write(&path, &before).expect("a written file");
        let agent = samples::agent("json", "json", &["json"]);
        let mut follower = Follower::new(&agent, &[], path.clone(), protocol::intake().0);
        assert_eq!(follower.items(false).len(), 2);
        let cleaned = secrets::redact(&before).into_owned();
        assert_ne!(cleaned, before);
        std::fs::write(folder.path().join("new"), cleaned + &line("three"))
            .expect("a written file");
        std::fs::rename(folder.path().join("new"), &path).expect("a renamed file");
        let items = follower.items(true);
        assert!(
            matches!(&items[..], [WatchMessage::Event(event)] if event.summary == Some("three".into())),
            "{items:?}"
        );
    }

    #[test]
    fn the_end_and_what_is_no_event_are_not_told() {
        let printed = "{\"type\":\"done\",\"summary\":\"x\"}\n{\"a\": 1}\n{\"type\":\"blocker\",\"summary\":\"stuck\"}";
        assert_eq!(told("json", &[printed.to_owned()]), ["blocker stuck"]);
    }
}
