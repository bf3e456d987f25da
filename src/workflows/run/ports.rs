//! The two edges that lead out of a run: events to listeners, and one kind of question to whoever decides.

use std::sync::{Arc, Mutex};

use crate::domain::event::{CallId, Event};
use crate::domain::{Approach, Decision, Dispute, Opinion, Question, Route, RulingWord, Untrusted};
use crate::protocol::request::StagePosition;
use crate::workspace::code::anchors::Excerpt;
use serde::Serialize;

/// Listens to a run: the live display, the JSON lines, a test.
pub trait EventSink: Send {
    /// Takes an event after it was recorded.
    fn event(&mut self, event: &Event);

    /// Takes a sign of life of an agent at work: the last line of its output, unescaped. Never recorded.
    fn activity(&mut self, call: &CallId, line: &str) {
        let _ = (call, line);
    }
}

/// The listeners of a run, shared with the calls at work.
pub(crate) type Sink = Arc<Mutex<Box<dyn EventSink>>>;

#[derive(Clone, Debug)]
pub struct PersonQuestion {
    pub dispute: Dispute,
    /// The code, where the finding names a place that exists.
    pub excerpt: Option<Excerpt>,
    pub cited: Vec<Excerpt>,
    /// The name of the connected judge; without one the route `judge` is not offered.
    pub judge: Option<String>,
    pub default: Route,
    /// `review.on_dispute.default`, or what the command line says instead.
    pub configured: Route,
    /// How many disputes wait behind this one; "same for all" is offered when there are any.
    pub waiting: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub route: Route,
    /// Whether a person chose it; otherwise the configured default was taken.
    pub by_person: bool,
    /// Whether it holds for all disputes that wait behind this one.
    pub for_all: bool,
}

/// Decides what only a person or the configuration may decide. Its methods may block for as long as a person thinks.
pub trait DisputeResolver: Send {
    /// Chooses the way to settle a dispute. `None`: the person went away (interrupt), the run stops here, resumable.
    fn choose(&mut self, question: &PersonQuestion) -> Option<Choice>;

    fn rule(&mut self, question: &PersonQuestion) -> PersonAnswer<RulingWord>;
}

#[derive(Clone, Debug)]
pub struct Deadlock {
    pub stage: String,
    pub reason: String,
    pub conflicts: Vec<Untrusted>,
    pub positions: Vec<StagePosition>,
    /// What the arbiter would take, unsure as it is.
    pub arbiter: Option<Decision>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonAnswer<T> {
    /// The word, and why; the reason may be empty.
    Given((T, String)),
    /// The person leaves it open; the run goes on without it.
    LeftOpen,
    /// The person went away (interrupt): the run stops here, resumable.
    Stopped,
}

/// The person who decides what agents cannot agree on. Its methods may block for as long as a person thinks.
pub trait Prompter: Send {
    fn decide(&mut self, deadlock: &Deadlock) -> PersonAnswer<Approach>;

    fn answer(&mut self, question: &OpenQuestion) -> PersonAnswer<String>;
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenQuestion {
    #[serde(flatten)]
    pub question: Question,
    /// What the agents say, the most frequent first.
    pub opinions: Vec<Opinion>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validator: Option<Untrusted>,
}
