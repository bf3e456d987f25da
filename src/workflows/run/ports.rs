//! The interfaces that a caller supplies: listeners to events, and the person or policy that decides.

use std::sync::{Arc, Mutex};

use crate::domain::event::{CallId, Event};
use crate::domain::{Approach, Decision, Dispute, Opinion, Question, Route, RulingWord, Untrusted};
use crate::protocol::request::StagePosition;
use crate::workspace::code::anchors::Excerpt;
use serde::Serialize;

/// Listens to a run: the live display, the JSON lines, a test.
pub trait EventSink: Send {
    fn event(&mut self, event: &Event);

    /// Receives the last line of a running agent's output, unescaped. Never recorded.
    fn activity(&mut self, call: &CallId, line: &str) {
        let _ = (call, line);
    }
}

/// The listeners of a run, shared with the calls at work.
pub(crate) type Sink = Arc<Mutex<Box<dyn EventSink>>>;

#[derive(Clone, Debug)]
pub struct PersonQuestion {
    pub dispute: Dispute,
    /// The code, if the finding names an existing location.
    pub excerpt: Option<Excerpt>,
    pub cited: Vec<Excerpt>,
    /// The names of the connected judges; without one the route `judge` is not offered.
    pub judge: Option<String>,
    pub default: Route,
    /// `review.on_dispute.default`, or the value of the command line.
    pub configured: Route,
    /// The number of other disputes that wait; if there are any, "same for all" is offered.
    pub waiting: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub route: Route,
    /// Whether a person chose it; otherwise the configured default was taken.
    pub by_person: bool,
    /// Whether it applies to all waiting disputes.
    pub for_all: bool,
}

/// Decides disputes by a person or the configuration. Its methods may block while a person thinks.
pub trait DisputeResolver: Send {
    /// Chooses the route of a dispute. `None`: the person interrupted, and the run stops, resumable.
    fn choose(&mut self, question: &PersonQuestion) -> Option<Choice>;

    fn rule(&mut self, question: &PersonQuestion) -> PersonAnswer<RulingWord>;
}

#[derive(Clone, Debug)]
pub struct Deadlock {
    pub stage: String,
    pub reason: String,
    pub conflicts: Vec<Untrusted>,
    pub positions: Vec<StagePosition>,
    /// The arbiter's decision, which is not certain enough to bind.
    pub arbiter: Option<Decision>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonAnswer<T> {
    /// The decision and its reason, which may be empty.
    Given((T, String)),
    /// The person leaves the question open; the run continues without it.
    LeftOpen,
    /// The person interrupted: the run stops, resumable.
    Stopped,
}

/// Asks a person about what agents cannot agree on. Its methods may block while the person thinks.
pub trait Prompter: Send {
    fn decide(&mut self, deadlock: &Deadlock) -> PersonAnswer<Approach>;

    fn answer(&mut self, question: &OpenQuestion) -> PersonAnswer<String>;
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenQuestion {
    #[serde(flatten)]
    pub question: Question,
    /// The agents' answers, the most frequent first.
    pub opinions: Vec<Opinion>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validator: Option<Untrusted>,
}
