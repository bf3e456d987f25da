//! The interfaces that a caller implements: listeners to events, and the person or the policy that makes decisions.

use std::sync::{Arc, Mutex};

use crate::domain::event::{CallId, Event};
use crate::domain::{Approach, Decision, Dispute, Opinion, Question, Route, RulingWord, Untrusted};
use crate::protocol::request::StagePosition;
use crate::workspace::code::anchors::Excerpt;
use serde::Serialize;

pub trait EventSink: Send {
    fn event(&mut self, event: &Event);

    /// Receives the last output line of a running agent. The line is neither escaped nor recorded.
    fn activity(&mut self, call: &CallId, line: &str) {
        let _ = (call, line);
    }
}

pub(crate) type Sink = Arc<Mutex<Box<dyn EventSink>>>;

#[derive(Clone, Debug)]
pub struct PersonQuestion {
    pub dispute: Dispute,
    /// `None` if the finding names no location, or one that does not exist.
    pub excerpt: Option<Excerpt>,
    pub cited: Vec<Excerpt>,
    /// The names of the connected judges; if `None`, the route `judge` is not offered.
    pub judge: Option<String>,
    pub default: Route,
    /// The route from `review.on_dispute.default` or from the command-line option that overrides it.
    pub configured: Route,
    /// The number of other disputes that wait for a route; if it is not 0, "same for all" is offered.
    pub waiting: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub route: Route,
    /// Whether a person chose the route; false for the configured default.
    pub by_person: bool,
    pub for_all: bool,
}

/// Decides disputes by asking a person or by the configuration. Its methods may block until the person answers.
pub trait DisputeResolver: Send {
    /// Returns `None` if the person interrupted the question: the run then stops and can be resumed.
    fn choose(&mut self, question: &PersonQuestion) -> Option<Choice>;

    fn rule(&mut self, question: &PersonQuestion) -> PersonAnswer<RulingWord>;
}

#[derive(Clone, Debug)]
pub struct Deadlock {
    pub stage: String,
    pub reason: String,
    pub conflicts: Vec<Untrusted>,
    pub positions: Vec<StagePosition>,
    /// The arbiter's decision, if its confidence is too low for the decision to be binding.
    pub arbiter: Option<Decision>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonAnswer<T> {
    /// The answer and its reason, which may be empty.
    Given((T, String)),
    /// The person gave no answer, and the run continues.
    LeftOpen,
    /// The person stopped the run, which can be resumed.
    Stopped,
}

/// Asks a person about disagreements. Its methods may block until the person answers.
pub trait Prompter: Send {
    fn decide(&mut self, deadlock: &Deadlock) -> PersonAnswer<Approach>;

    fn answer(&mut self, question: &OpenQuestion) -> PersonAnswer<String>;
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenQuestion {
    #[serde(flatten)]
    pub question: Question,
    /// The opinions, the most frequent one first.
    pub opinions: Vec<Opinion>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validator: Option<Untrusted>,
}
