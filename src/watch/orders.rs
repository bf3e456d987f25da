//! What is said to a watch: events are recorded in groups and answered, commands are done.

use super::engine::Engine;
use super::intake::{Answer, Batch, Clarify, Command, Item};
use super::standing::issue_standing;
use super::started::Word;
use crate::domain::{AgentEvent, AgentName, EventType, Trigger, Untrusted, WatchStatus};
use crate::event::EventKind;
use crate::pipeline::RunError;

impl Engine {
    /// Takes in what came together, and answers it. Says whether the watch is to end.
    pub(super) fn take_in(&mut self, batches: Vec<Batch>) -> Result<bool, RunError> {
        let mut ends = false;
        let mut waiting: Vec<AgentEvent> = Vec::new();
        // For each batch the answers; `None` is one that waits for its event to be recorded.
        let mut answers: Vec<Vec<Option<Answer>>> = Vec::new();
        let mut places: Vec<(usize, usize)> = Vec::new();
        let mut senders = Vec::new();
        for (number, Batch { items, by, answer }) in batches.into_iter().enumerate() {
            answers.push(Vec::with_capacity(items.len()));
            senders.push(answer);
            for item in items {
                let reply = match item {
                    Item::Event(event) if event.agent.as_ref().is_some_and(|name| !self.state.knows(name)) => {
                        Some(self.refuse("too many agents")?)
                    }
                    Item::Event(event) => {
                        places.push((number, answers[number].len()));
                        waiting.push(event);
                        None
                    }
                    Item::Malformed(why) => Some(self.refuse(&why)?),
                    Item::Command(command) => {
                        self.record_events(&mut waiting, &mut places, &mut answers)?;
                        ends |= command == Command::Stop;
                        Some(self.obey(command, &by)?)
                    }
                };
                answers[number].push(reply);
            }
        }
        self.record_events(&mut waiting, &mut places, &mut answers)?;
        for (answer, sender) in answers.into_iter().zip(senders) {
            if let Some(sender) = sender {
                // Whoever asked may have gone.
                drop(sender.send(answer.into_iter().flatten().collect()));
            }
        }
        Ok(ends)
    }

    fn record_events(
        &mut self,
        waiting: &mut Vec<AgentEvent>,
        places: &mut Vec<(usize, usize)>,
        answers: &mut [Vec<Option<Answer>>],
    ) -> Result<(), RunError> {
        if waiting.is_empty() {
            return Ok(());
        }
        let kinds = waiting.drain(..).map(|said| EventKind::EventReceived { said }).collect();
        let events = self.append_all(kinds)?;
        let now = self.now();
        for (event, (batch, place)) in events.iter().zip(places.drain(..)) {
            let EventKind::EventReceived { said } = &event.kind else { continue };
            self.triggers.event(said.kind, now);
            match &said.agent {
                Some(name) if said.kind == EventType::Done => drop(self.joined.remove(name)),
                Some(name) if !self.started.contains_key(name) => drop(self.joined.insert(name.clone())),
                _ => {}
            }
            answers[batch][place] = Some(self.receipt(event.seq, said.agent.as_ref()));
        }
        // Whoever has answered a clarification stands still again.
        if let Some(asked) = self.state.clarification.as_ref().filter(|_| self.state.status == WatchStatus::Paused)
        {
            for name in asked.answers.keys() {
                if let Some(started) = self.started.get(name).filter(|started| !started.stands()) {
                    started.tell(&Word::Pause { reason: &Untrusted::default() });
                }
            }
        }
        Ok(())
    }

    fn receipt(&self, seq: u64, from: Option<&AgentName>) -> Answer {
        let asked = self
            .state
            .clarification
            .as_ref()
            .filter(|asked| from.is_some_and(|name| asked.waiting().any(|waiting| waiting == name)));
        let clarify = asked.map(|asked| Clarify { cycle: asked.cycle, prompt: asked.prompt.clone() });
        Answer { ok: true, seq: Some(seq), status: Some(self.state.status), clarify, ..Answer::default() }
    }

    /// Counts a line that is no event, and tells of it: of the first ten each, then ever more rarely.
    fn refuse(&mut self, why: &str) -> Result<Answer, RunError> {
        self.malformed += 1;
        let number = self.malformed;
        if number <= 10 || 10_u64.pow(number.ilog10()) == number {
            let lines = if number == 1 { "1 line was".to_owned() } else { format!("{number} lines were") };
            self.notice(&format!("{lines} no event; the last one: {why}"))?;
        }
        Ok(Answer::refused(why))
    }

    fn obey(&mut self, command: Command, by: &str) -> Result<Answer, RunError> {
        let now = self.now();
        match command {
            Command::Status => {}
            Command::Review => {
                let said = AgentEvent {
                    kind: EventType::UserManual,
                    agent: None,
                    summary: None,
                    files: Vec::new(),
                    clarifies: None,
                };
                self.append(EventKind::EventReceived { said })?;
                self.triggers.pull(Trigger::UserManual, now);
            }
            Command::Pause { reason } => {
                if self.state.status == WatchStatus::Paused {
                    return Ok(Answer::refused("the work is paused already"));
                }
                let reason = Untrusted::from(reason);
                self.append(EventKind::WatchPaused { by: by.into(), reason: reason.clone() })?;
                self.triggers.pause();
                self.tell_all(&Word::Pause { reason: &reason });
            }
            Command::Resume { reason } => {
                if self.state.status == WatchStatus::Running {
                    return Ok(Answer::refused("the work is not paused"));
                }
                self.append(EventKind::WatchResumed { by: by.into(), reason: reason.into() })?;
                self.triggers.resume(now);
                self.clarify_until = None;
                self.tell_all(&Word::Resume);
            }
            Command::Issues => {
                let issues = self.state.issues.iter().map(issue_standing).collect();
                return Ok(Answer { ok: true, issues: Some(issues), ..Answer::default() });
            }
            Command::Close { issue, reason } => {
                let open = self.state.open_issues().any(|known| known.number == issue);
                if !open {
                    return Ok(Answer::refused(format!("there is no open issue {issue}")));
                }
                self.append(EventKind::IssueClosed { issue, by: by.into(), reason: reason.into() })?;
            }
            Command::Stop => {}
        }
        Ok(Answer { ok: true, standing: Some(self.stands()), ..Answer::default() })
    }
}
