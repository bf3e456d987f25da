//! The interfaces that a caller implements: listeners to events, and the person or policy that decides.

use std::sync::{Arc, Mutex};

use crate::domain::event::{CallId, Event};
use crate::domain::{Approach, Decision, Dispute, Opinion, Question, Route, RulingWord, Untrusted};
use crate::protocol::request::StagePosition;
use crate::workspace::code::anchors::Excerpt;
use serde::Serialize;

pub trait EventSink: Send {
    fn event(&mut self, event: &Event);

    /// Receives the last line of a running agent's output, unescaped and never recorded.
    fn activity(&mut self, call: &CallId, line: &str) {
        let _ = (call, line);
    }
}

pub(crate) type Sink = Arc<Mutex<Box<dyn EventSink>>>;

#[derive(Clone, Debug)]
pub struct PersonQuestion {
    pub dispute: Dispute,
    /// `None` if the finding does not name an existing location.
    pub excerpt: Option<Excerpt>,
    pub cited: Vec<Excerpt>,
    /// The names of the connected judges; `None` excludes the route `judge`.
    pub judge: Option<String>,
    pub default: Route,
    /// `review.on_dispute.default` or its command-line option.
    pub configured: Route,
    /// The number of other waiting disputes; if it is not 0, "same for all" is offered.
    pub waiting: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub route: Route,
    /// False for the configured default.
    pub by_person: bool,
    pub for_all: bool,
}

/// Decides disputes by a person or the configuration. Its methods may block on a person.
pub trait DisputeResolver: Send {
    /// `None` if the person interrupted: the run stops, resumable.
    fn choose(&mut self, question: &PersonQuestion) -> Option<Choice>;

    fn rule(&mut self, question: &PersonQuestion) -> PersonAnswer<RulingWord>;
}

#[derive(Clone, Debug)]
pub struct Deadlock {
    pub stage: String,
    pub reason: String,
    pub conflicts: Vec<Untrusted>,
    pub positions: Vec<StagePosition>,
    /// The arbiter's decision, whose confidence is too low to bind.
    pub arbiter: Option<Decision>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonAnswer<T> {
    /// With the reason, which may be empty.
    Given((T, String)),
    /// The run continues without an answer.
    LeftOpen,
    /// The run stops, resumable.
    Stopped,
}

/// Asks a person about disagreements. Its methods may block on the person.
pub trait Prompter: Send {
    fn decide(&mut self, deadlock: &Deadlock) -> PersonAnswer<Approach>;

    fn answer(&mut self, question: &OpenQuestion) -> PersonAnswer<String>;
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenQuestion {
    #[serde(flatten)]
    pub question: Question,
    /// The most frequent first.
    pub opinions: Vec<Opinion>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validator: Option<Untrusted>,
}
