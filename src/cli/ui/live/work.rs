//! The progress of the agents at work, as text for live lines and for heartbeats.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::cli::style::{self, Color, Style, count, duration};
use glee_agents::StopHandle;
use glee_model::domain::event::{CallId, Event, EventKind, Purpose, ReviewEvent, RunEvent};
use glee_model::domain::{AgentName, Role, Usage};
use glee_protocol::text::printable;

/// The maximum number of characters of an agent's output in a live line.
const ACTIVITY: usize = 200;

/// After this time without output, the live line of an agent says that the key `s` skips the agent.
const SILENCE: Duration = Duration::from_secs(60);

/// The number of columns that remain free at the end of a live line. When the terminal prints `^C` for Ctrl-C, the
/// text `^C` fits into these columns. Otherwise, `^C` would wrap the line, and Glee cannot erase a wrapped line.
const FREE: usize = 3;

#[derive(Debug, Default)]
pub(crate) struct Work {
    agents: BTreeMap<AgentName, AgentWork>,
    shards: usize,
    reviewers: usize,
    spent: Usage,
    /// The handles with which the user can stop the agent's calls.
    skips: BTreeMap<CallId, StopHandle>,
    /// Whether the key `s` skips an agent.
    pub(crate) keys: bool,
}

#[derive(Debug, Default)]
struct AgentWork {
    calls: Vec<RunningCall>,
    /// The time at which the agent started to work. `None` if the agent has no running call.
    since: Option<Instant>,
    activity: String,
    /// The time of the latest output.
    heard: Option<Instant>,
    reviewed: BTreeSet<CallId>,
}

#[derive(Debug)]
struct RunningCall {
    id: CallId,
    doing: String,
}

impl Work {
    pub(crate) fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Review(ReviewEvent::RunStarted { plan }) => {
                self.shards = plan.shards.len();
                self.reviewers = plan
                    .agents
                    .iter()
                    .filter(|agent| agent.role == Role::Reviewer)
                    .count();
            }
            EventKind::Review(ReviewEvent::RoundStarted { shards, .. }) => {
                self.shards = shards.len();
                self.agents
                    .values_mut()
                    .for_each(|agent| agent.reviewed.clear());
            }
            EventKind::Review(ReviewEvent::AnswersReused { call, reuse })
                if reuse.asked.is_empty() =>
            {
                self.reviewed(call);
            }
            EventKind::Run(RunEvent::CallFinished { call, usage, .. }) => {
                self.spent = self.spent.plus(**usage);
                self.reviewed(call);
                self.skips.remove(call);
                let agent = self.agents.entry(call.agent.clone()).or_default();
                agent.calls.retain(|running| running.id != *call);
                if agent.calls.is_empty() {
                    agent.since = None;
                    agent.activity.clear();
                }
            }
            EventKind::Run(RunEvent::RunEnded { .. }) => {
                self.agents
                    .values_mut()
                    .for_each(|agent| agent.calls.clear());
            }
            _ => {}
        }
    }

    fn reviewed(&mut self, call: &CallId) {
        if matches!(call.purpose, Purpose::Review { .. }) {
            let agent = self.agents.entry(call.agent.clone()).or_default();
            agent.reviewed.insert(CallId {
                attempt: 1,
                ..call.clone()
            });
        }
    }

    pub(crate) fn begin(&mut self, call: &CallId, doing: String) {
        let agent = self.agents.entry(call.agent.clone()).or_default();
        agent.since.get_or_insert_with(Instant::now);
        agent.heard = Some(Instant::now());
        agent.calls.push(RunningCall {
            id: call.clone(),
            doing,
        });
    }

    pub(crate) fn activity(&mut self, call: &CallId, line: &str) {
        if let Some(agent) = self.agents.get_mut(&call.agent) {
            let line: String = line.trim().chars().take(ACTIVITY).collect();
            agent.activity = printable::line(&line);
            agent.heard = Some(Instant::now());
        }
    }

    pub(crate) fn skippable(&mut self, call: &CallId, skip: StopHandle) {
        self.skips.insert(call.clone(), skip);
    }

    /// Ends the running calls of an agent.
    pub(crate) fn skip(&self, name: &AgentName) {
        let calls = self
            .agents
            .get(name)
            .into_iter()
            .flat_map(|agent| &agent.calls);
        calls
            .filter_map(|call| self.skips.get(&call.id))
            .for_each(StopHandle::stop);
    }

    pub(crate) fn at_work(&self) -> impl Iterator<Item = &AgentName> {
        self.agents
            .iter()
            .filter(|(_, agent)| !agent.calls.is_empty())
            .map(|(name, _)| name)
    }

    /// Describes what an agent does, as in `reviewing 3/12` or `ruling on dispute 1 and 2 more`.
    fn doing(&self, agent: &AgentWork) -> String {
        match agent.calls.as_slice() {
            [] => String::new(),
            [first, ..]
                if matches!(first.id.purpose, Purpose::Review { .. }) && self.shards > 1 =>
            {
                format!("reviewing {}/{}", agent.reviewed.len(), self.shards)
            }
            [only] => only.doing.clone(),
            [first, rest @ ..] => format!("{} and {} more", first.doing, rest.len()),
        }
    }

    pub(crate) fn row(&self, style: Style, name: &AgentName, padded: &str) -> String {
        let Some(agent) = self.agents.get(name) else {
            return String::new();
        };
        let elapsed = agent.since.map_or(Duration::ZERO, |since| since.elapsed());
        let is_silent = agent.heard.is_some_and(|heard| heard.elapsed() >= SILENCE);
        let mut doing = self.doing(agent);
        if self.keys && is_silent {
            doing.push_str(" (s skips)");
        }
        row(style, elapsed, padded, &doing, &agent.activity)
    }

    /// The progress of the whole run, as in `3 of 24 reviews · 45,210 tokens · $0.42 so far`. `hidden` is the
    /// number of working agents for which the screen has no room.
    pub(crate) fn total(&self, style: Style, hidden: usize) -> Option<String> {
        let mut facts = Vec::new();
        if hidden > 0 {
            facts.push(format!("{hidden} more at work"));
        }
        if self.shards > 1 && self.reviewers > 1 {
            let done: usize = self.agents.values().map(|agent| agent.reviewed.len()).sum();
            facts.push(format!(
                "{done} of {}",
                count(self.shards * self.reviewers, "review")
            ));
        }
        let tokens: u64 = [self.spent.input_tokens, self.spent.output_tokens]
            .into_iter()
            .flatten()
            .sum();
        if tokens > 0 {
            facts.push(count(tokens, "token"));
        }
        facts.extend(
            self.spent
                .paid_usd()
                .map(|usd| format!("{} so far", style::dollars(usd))),
        );
        let line = format!("  {}", style.facts(&facts));
        (!facts.is_empty()).then(|| style.faint(style.cut(&line, style.width.saturating_sub(FREE))))
    }

    /// Returns one line about all working agents, or `None` if no agent is working. Agents that a watch started
    /// are left out, because they work until the watch ends.
    pub(crate) fn heartbeat(&self, style: Style) -> Option<String> {
        let facts: Vec<String> = self
            .agents
            .iter()
            .filter(|(_, agent)| {
                let mut calls = agent.calls.iter();
                calls.any(|call| call.id.purpose != Purpose::Work)
            })
            .map(|(name, agent)| {
                let elapsed = agent.since.map_or(Duration::ZERO, |since| since.elapsed());
                format!(
                    "{} {}, {}",
                    printable::line(&name.0),
                    self.doing(agent),
                    seconds(elapsed)
                )
            })
            .collect();
        (!facts.is_empty()).then(|| format!("  at work: {}", style.facts(&facts)))
    }
}

fn seconds(elapsed: Duration) -> String {
    let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    if millis < 60_000 {
        format!("{}s", millis / 1000)
    } else {
        duration(millis)
    }
}

fn row(style: Style, elapsed: Duration, name: &str, doing: &str, activity: &str) -> String {
    let frames: &[&str] = if style.unicode {
        &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
    } else {
        &["-", "\\", "|", "/"]
    };
    let frame = usize::try_from(elapsed.as_millis() / 120).unwrap_or(0) % frames.len();
    let spinner = style.paint(Color::Key, frames[frame]);
    let gap = if activity.is_empty() { "" } else { "  " };
    let name = style.strong(name);
    let time = style.faint(seconds(elapsed));
    let line = format!(
        "{spinner} {name}  {doing}  {time}{gap}{}",
        style.faint(activity)
    );
    style.cut(&line, style.width.saturating_sub(FREE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::style::columns;
    use crate::cli::style::fixture::{call, event, finished, started};
    use glee_model::domain::AnswerStatus;
    use glee_model::domain::event::CallAnswer;

    #[test]
    fn a_live_line_fits_every_screen() {
        let style = Style {
            color: false,
            unicode: true,
            width: 60,
        };
        let at = |style, seconds| {
            row(
                style,
                Duration::from_secs(seconds),
                "rules",
                "reviewing 2/3",
                "reading a.py",
            )
        };
        assert_eq!(at(style, 5), "⠙ rules  reviewing 2/3  5s  reading a.py");
        assert_eq!(
            at(Style { width: 40, ..style }, 65),
            "⠙ rules  reviewing 2/3  1m 05s  read…"
        );
        assert_eq!(
            at(
                Style {
                    width: 20,
                    unicode: false,
                    ..style
                },
                5
            ),
            "\\ rules  revie..."
        );
        let colored = at(
            Style {
                width: 20,
                color: true,
                ..style
            },
            5,
        );
        assert_eq!(columns(&colored), 17);
        assert!(
            colored.ends_with("\u{1b}[0m") || !colored.contains("\u{1b}[2m"),
            "{colored:?}"
        );
    }

    #[test]
    fn a_silent_agent_can_be_skipped() {
        let style = Style {
            color: false,
            unicode: true,
            width: 80,
        };
        let review = call("rules", Purpose::Review { round: 1, shard: 0 });
        let mut work = Work {
            keys: true,
            ..Work::default()
        };
        work.begin(&review, "reviewing".to_owned());
        let row = |work: &Work| work.row(style, &"rules".into(), "rules");
        assert_eq!(row(&work), "⠋ rules  reviewing  0s");
        let silent = |work: &mut Work| {
            let agent = work.agents.get_mut(&AgentName::from("rules"));
            agent.expect("the agent is at work").heard = Instant::now().checked_sub(SILENCE);
        };
        silent(&mut work);
        assert_eq!(row(&work), "⠋ rules  reviewing (s skips)  0s");
        work.activity(&review, "reading a.py");
        assert_eq!(row(&work), "⠋ rules  reviewing  0s  reading a.py");
        silent(&mut work);
        work.keys = false;
        assert_eq!(row(&work), "⠋ rules  reviewing  0s  reading a.py");
    }

    #[test]
    fn an_agent_with_many_calls_has_one_line_that_counts_them() {
        let style = Style {
            color: false,
            unicode: true,
            width: 80,
        };
        let review = |agent: &str, shard| call(agent, Purpose::Review { round: 1, shard });
        let mut work = Work::default();
        work.event(&event(1, started()));
        for shard in [0, 1] {
            work.begin(&review("rules", shard), "reviewing".to_owned());
        }
        work.begin(&review("gemini", 0), "reviewing".to_owned());
        assert_eq!(
            work.heartbeat(style).as_deref(),
            Some("  at work: gemini reviewing 0/2, 0s · rules reviewing 0/2, 0s")
        );
        let clean = CallAnswer::Review {
            status: AnswerStatus::Clean,
            findings: Vec::new(),
            notes: String::new(),
            problem: None,
            read: None,
            is_doubtful: false,
        };
        work.event(&event(2, finished(review("rules", 1), clean)));
        let rules = AgentName::from("rules");
        assert!(
            work.row(style, &rules, "rules ")
                .contains("rules   reviewing 1/2  0s")
        );
        assert!(
            work.total(style, 3)
                .expect("a total")
                .starts_with("  3 more at work · 1 of 4 reviews")
        );
        assert_eq!(work.at_work().count(), 2);
    }
}
