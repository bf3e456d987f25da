//! Processes the lines that a watch receives: records events, executes commands, and answers each line.

use crate::run::error::RunError;
use crate::run::workflow::Workflow as _;
use crate::watch::socket::protocol::{Batch, Clarify, CommandReply, WatchCommand, WatchMessage};
use crate::watch::workers::worker::WorkerMessage;
use crate::watch::workflow::WatchWorkflow;
use glee_model::domain::event::{EventKind, WatchEvent};
use glee_model::domain::{AgentEvent, AgentName, EventType, Trigger, Untrusted, WatchStatus};

impl WatchWorkflow {
    /// Processes the lines that the watch has received. Returns true if a line contains the command to stop the
    /// watch.
    pub(super) fn receive(&mut self, batches: Vec<Batch>) -> Result<bool, RunError> {
        let mut ends = false;
        let mut waiting: Vec<(usize, AgentEvent)> = Vec::new();
        let mut answers: Vec<CommandReply> = Vec::new();
        let mut senders = Vec::new();
        for Batch { items, by, answer } in batches {
            senders.push((items.len(), answer));
            for item in items {
                let reply = match item {
                    WatchMessage::Event(event)
                        if event
                            .agent
                            .as_ref()
                            .is_some_and(|name| !self.state.knows(name)) =>
                    {
                        self.refuse("too many agents")?
                    }
                    WatchMessage::Event(event) => {
                        waiting.push((answers.len(), event));
                        CommandReply::default()
                    }
                    WatchMessage::Malformed(why) => self.refuse(&why)?,
                    WatchMessage::Command(command) => {
                        self.record_events(&mut waiting, &mut answers)?;
                        ends |= command == WatchCommand::Stop;
                        self.execute(command, &by)?
                    }
                };
                answers.push(reply);
            }
        }
        self.record_events(&mut waiting, &mut answers)?;
        let mut answers = answers.into_iter();
        for (count, sender) in senders {
            let answers = answers.by_ref().take(count).collect();
            drop(sender.map(|sender| sender.send(answers)));
        }
        Ok(ends)
    }

    fn record_events(
        &mut self,
        waiting: &mut Vec<(usize, AgentEvent)>,
        answers: &mut [CommandReply],
    ) -> Result<(), RunError> {
        if waiting.is_empty() {
            return Ok(());
        }
        let waiting = waiting
            .drain(..)
            .map(|(place, said)| (place, EventKind::Watch(WatchEvent::EventReceived { said })));
        let (places, kinds): (Vec<usize>, Vec<EventKind>) = waiting.unzip();
        let events = self.resources.record(kinds, Vec::new())?;
        self.accept(&events);
        let now = self.now();
        for (event, place) in events.iter().zip(places) {
            let EventKind::Watch(WatchEvent::EventReceived { said }) = &event.kind else {
                continue;
            };
            self.triggers.event(said.kind, now);
            match &said.agent {
                Some(name) if said.kind == EventType::Done => drop(self.joined.remove(name)),
                Some(name) if !self.started.contains_key(name) => {
                    self.joined.insert(name.clone());
                }
                _ => {}
            }
            answers[place] = self.receipt(event.seq, said.agent.as_ref());
        }
        // While the watch is paused, an agent that has answered the clarification is suspended again.
        if let Some(asked) = self
            .state
            .clarification
            .as_ref()
            .filter(|_| self.state.status == WatchStatus::Paused)
        {
            for name in asked.answers.keys() {
                if let Some(started) = self
                    .started
                    .get(name)
                    .filter(|started| !started.is_suspended())
                {
                    started.tell(&WorkerMessage::Pause {
                        reason: &Untrusted::default(),
                    });
                }
            }
        }
        Ok(())
    }

    fn receipt(&self, seq: u64, from: Option<&AgentName>) -> CommandReply {
        let asked = self.state.clarification.as_ref().filter(|asked| {
            from.is_some_and(|name| asked.waiting().any(|waiting| waiting == name))
        });
        let clarify = asked.map(|asked| Clarify {
            cycle: asked.cycle,
            prompt: asked.prompt.clone(),
        });
        CommandReply {
            ok: true,
            seq: Some(seq),
            status: Some(self.state.status),
            clarify,
            ..CommandReply::default()
        }
    }

    /// Counts an invalid line. Notices report the first ten invalid lines, then the 100th, the 1000th and so on.
    fn refuse(&mut self, why: &str) -> Result<CommandReply, RunError> {
        self.malformed += 1;
        let number = self.malformed;
        if number <= 10 || 10_u64.pow(number.ilog10()) == number {
            let lines = if number == 1 {
                "1 line was".to_owned()
            } else {
                format!("{number} lines were")
            };
            self.notice(format!("{lines} invalid; the last one: {why}"))?;
        }
        Ok(CommandReply::refused(why))
    }

    fn execute(&mut self, command: WatchCommand, by: &str) -> Result<CommandReply, RunError> {
        let now = self.now();
        match command {
            WatchCommand::Status => {}
            WatchCommand::Review => {
                let said = AgentEvent {
                    kind: EventType::UserManual,
                    agent: None,
                    summary: None,
                    files: Vec::new(),
                    clarifies: None,
                };
                self.append(WatchEvent::EventReceived { said })?;
                self.triggers.pull(Trigger::UserManual, now);
            }
            WatchCommand::Pause { reason } => {
                if self.state.status == WatchStatus::Paused {
                    return Ok(CommandReply::refused("the work is already paused"));
                }
                let reason = Untrusted::from(reason);
                self.append(WatchEvent::WatchPaused {
                    by: by.into(),
                    reason: reason.clone(),
                })?;
                self.triggers.pause();
                self.tell_all(&WorkerMessage::Pause { reason: &reason });
            }
            WatchCommand::Resume { reason } => {
                if self.state.status == WatchStatus::Running {
                    return Ok(CommandReply::refused("the work is not paused"));
                }
                self.append(WatchEvent::WatchResumed {
                    by: by.into(),
                    reason: reason.into(),
                })?;
                self.triggers.resume(now);
                self.clarify_until = None;
                self.tell_all(&WorkerMessage::Resume);
            }
            WatchCommand::Issues => {
                return Ok(CommandReply {
                    ok: true,
                    issues: Some(self.state.issues.clone()),
                    ..CommandReply::default()
                });
            }
            WatchCommand::Close { issue, reason } => {
                let open = self.state.open_issues().any(|known| known.number == issue);
                if !open {
                    return Ok(CommandReply::refused(format!(
                        "there is no open issue {issue}"
                    )));
                }
                self.append(WatchEvent::IssueClosed {
                    issue,
                    by: by.into(),
                    reason: reason.into(),
                })?;
            }
            WatchCommand::Stop => {}
        }
        Ok(CommandReply {
            ok: true,
            standing: Some(self.report()),
            ..CommandReply::default()
        })
    }
}
