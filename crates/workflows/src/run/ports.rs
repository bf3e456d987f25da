//! The interfaces that the caller of a workflow implements, to receive events and to make decisions.

use std::sync::{Arc, Mutex};

use glee_agents::StopHandle;
use glee_model::domain::event::{CallId, Event};
use glee_model::domain::{
    Approach, Decision, Dispute, Opinion, Question, Route, RulingWord, Untrusted,
};
use glee_protocol::request::StagePosition;
use glee_workspace::code::anchors::Excerpt;
use serde::Serialize;

pub trait EventSink: Send {
    fn event(&mut self, event: &Event);

    /// Receives the latest output line of a running agent. The line is not escaped, and is not recorded.
    fn activity(&mut self, _call: &CallId, _line: &str) {}

    /// Receives a handle for a call that is about to begin. The handle can end this call without ending the run.
    /// The run then continues without the answer of the call.
    fn skippable(&mut self, _call: &CallId, _skip: StopHandle) {}
}

pub(crate) type Sink = Arc<Mutex<Box<dyn EventSink>>>;

#[derive(Clone, Debug)]
pub struct PersonQuestion {
    pub dispute: Dispute,
    /// The code at the finding's location. `excerpt` is `None` if the finding has no location or the location
    /// does not exist.
    pub excerpt: Option<Excerpt>,
    pub cited: Vec<Excerpt>,
    /// The names of the connected judges. `None` means that the person cannot choose the route `judge`.
    pub judge: Option<String>,
    pub default: Route,
    /// The route that the setting `review.on_dispute.default` or its command-line option selects.
    pub configured: Route,
    /// Whether the person can answer the coder instead of ruling: the coder objected in this run, and can be called.
    pub can_answer: bool,
    /// The number of other disputes to which the person can apply the chosen route.
    pub waiting: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub route: Route,
    /// Whether a person chose the route. `by_person` is false if the route comes from the configuration.
    pub by_person: bool,
    pub for_all: bool,
}

/// What a person does about a dispute that is theirs to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonDecision {
    Rule(RulingWord),
    /// The coder is asked again.
    Answer,
}

/// Decides disputes: asks a person, or uses the configured route. The methods can block until the person answers.
pub trait DisputeResolver: Send {
    /// Returns `None` if the person interrupted the question. The run then stops.
    fn choose(&mut self, question: &PersonQuestion) -> Option<Choice>;

    /// The reason of [`PersonDecision::Answer`] is the answer itself.
    fn rule(&mut self, question: &PersonQuestion) -> PersonAnswer<PersonDecision>;
}

#[derive(Clone, Debug)]
pub struct Deadlock {
    pub stage: String,
    pub reason: String,
    pub conflicts: Vec<Untrusted>,
    pub positions: Vec<StagePosition>,
    /// A decision of the arbiter that is not binding, because the arbiter's confidence is too low.
    pub arbiter: Option<Decision>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonAnswer<T> {
    /// The person's answer and the reason for the answer. The reason can be empty.
    Given((T, String)),
    /// The person gave no answer, and the run continues.
    LeftOpen,
    /// Nobody can be asked, so every question stays open, and the run continues.
    Nobody,
    /// The person stopped the run, but the run can be resumed.
    Stopped,
}

/// Asks a person about disagreements. The methods can block until the person answers.
pub trait Prompter: Send {
    fn decide(&mut self, deadlock: &Deadlock) -> PersonAnswer<Approach>;

    fn answer(&mut self, question: &OpenQuestion) -> PersonAnswer<String>;
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenQuestion {
    #[serde(flatten)]
    pub question: Question,
    /// The agents' opinions, beginning with the most frequent opinion.
    pub opinions: Vec<Opinion>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validator: Option<Untrusted>,
}
