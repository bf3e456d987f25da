//! The settings: one field a key. A field's name, type, default, form and first comment are the key's name in files and
//! variables, what it holds, its default, what fits it, and its documentation in the JSON Schema; what a run records is
//! this structure.
//!
//! How values come about (defaults, files, variables, flags) is the business of the other files of this folder; nothing
//! below `cli` asks where a value came from. `@stricter` marks a key that a project's file may only make stricter:
//! smaller, `true`, or a later word of its list.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::Deserializer;
use serde::{Deserialize, Serialize};

use crate::config::schema::values::{
    Adapter, Age, As, Command, Commands, Count, Delay, Id, Model, Money, Name, OrAll, OrNone, Price,
    ReviewerChoice, Reviewers, Size, Tags, Time, Url, Variables, Whole, Words,
};
use crate::domain::{Agent, AgentName, Caps, Disposition, Effort, Price as Dollars, Role, Route};
use crate::rules::consensus::claim::Policy;

/// Declares a section: its keys with what they hold, the form that it is written in unless it is its own, and the default.
macro_rules! section {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$about:meta])* $(@$guard:ident)? pub $field:ident: $value:ty $(as $form:literal)? = $default:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[$about])*
                $(#[serde(with = $form)])?
                $(#[schemars(extend("x-project" = stringify!($guard)))])?
                pub $field: $value,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    };
}

section! {
    /// All settings of one invocation.
    pub struct Settings {
        /// The form of this file.
        pub version: u32 as "As::<Count<1, 1>>" = 1,
        /// What the project is.
        pub project: ProjectSettings = ProjectSettings::default(),
        /// The connected agents; the user's file and the project's are merged by name.
        #[serde(deserialize_with = "checked")]
        #[schemars(with = "Vec<Connected>")]
        pub agents: Vec<Agent> = Vec::new(),
        /// How reviews are done.
        pub review: ReviewSettings = ReviewSettings::default(),
        /// How long rulings bind.
        pub rulings: Rulings = Rulings::default(),
        /// Where security advisories come from.
        pub advisories: Advisories = Advisories::default(),
        /// Hold reviewers and judges back from writing; required: never ask one that is not held.
        @stricter pub sandbox: Sandbox = Sandbox::default(),
        /// What is kept from agents and from the record.
        pub redaction: Redaction = Redaction::default(),
        /// How agents are watched.
        pub watch: WatchSettings = WatchSettings::default(),
        /// What a run may cost.
        pub budget: Budget = Budget::default(),
        /// What one agent process may take.
        pub limits: Limits = Limits::default(),
    }
}

/// Checks each agent of a file; what they come to is decided where the files are merged.
fn checked<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Agent>, D::Error> {
    Vec::<Connected>::deserialize(deserializer).map(|_| Vec::new())
}

/// An agent as a file describes it; another file may say the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Connected {
    /// Its unique name.
    #[serde(with = "As::<Name>")]
    pub(crate) name: AgentName,
    /// A known program, builtin:rules|fixer|referee, or a command.
    #[serde(default, with = "As::<Option<Command>>")]
    pub(crate) command: Option<Vec<String>>,
    /// How it is spoken to; guessed from the command.
    #[serde(default, with = "As::<Option<Adapter>>")]
    pub(crate) adapter: Option<String>,
    /// The one role it has.
    #[serde(default)]
    #[schemars(with = "Role")]
    pub(crate) role: Option<Role>,
    /// Code a coder is for: path globs, languages, path components.
    #[serde(default, with = "As::<Words>")]
    pub(crate) domain: Vec<String>,
    /// What a reviewer looks for.
    #[serde(default, with = "As::<Words>")]
    pub(crate) focus: Vec<String>,
    /// The model to ask for.
    #[serde(default, with = "As::<Option<Model>>")]
    pub(crate) model: Option<String>,
    /// How hard its model is to think, where its program can be told.
    #[serde(default)]
    #[schemars(with = "Effort")]
    pub(crate) effort: Option<Effort>,
    /// Environment variables set for it.
    #[serde(default, with = "As::<Variables>")]
    pub(crate) env: BTreeMap<String, String>,
    /// Its own bound on one call's wall time.
    #[serde(default, with = "As::<Option<Time>>")]
    pub(crate) timeout: Option<Duration>,
    /// Who answers in its place when it is over its limits or missing.
    #[serde(default, with = "As::<Option<Name>>")]
    pub(crate) backup: Option<AgentName>,
    /// What its tokens cost, where its program does not say it.
    #[serde(default, with = "As::<Option<Price>>")]
    pub(crate) price: Option<Dollars>,
}

impl Connected {
    /// The agent; its command, adapter and role are known.
    pub(crate) fn agent(self) -> Option<Agent> {
        Some(Agent {
            name: self.name,
            role: self.role?,
            command: self.command?,
            adapter: self.adapter?,
            domain: self.domain,
            focus: self.focus,
            model: self.model,
            effort: self.effort,
            env: self.env,
            timeout: self.timeout,
            backup: self.backup,
            price: self.price,
        })
    }
}

section! {
    pub struct ReviewSettings {
        /// How opinions are weighed.
        pub opinions: Opinions = Opinions::default(),
        /// How issues are weighed.
        pub issues: Issues = Issues::default(),
        /// Which connected reviewers are asked.
        pub reviewers: ReviewerChoice as "As::<Reviewers>" = ReviewerChoice::All,
        /// Review, fix, review again: at most this often.
        pub rounds: u32 as "As::<Count<1, 100>>" = 1,
        /// Who raised a finding sees the fix and says resolved or not.
        pub recheck: bool = true,
        /// What a reviewer has said about the same content is not asked again.
        pub reuse: bool = true,
        /// Reviewers that must have answered completely for exit 0.
        pub quorum: Option<u32> as "As::<OrAll<Count<1, { u32::MAX }>>>" = None,
        /// Commands that must pass after the coder's edits.
        pub verify: Vec<Vec<String>> as "As::<Commands>" = Vec::new(),
        /// Agents at work at the same time.
        pub jobs: Option<u32> as "As::<OrAll<Count<1, { u32::MAX }>>>" = None,
        /// Of a larger file only what changed is reviewed; else it is skipped.
        pub max_file_size: u64 as "As::<Size>" = 1 << 20,
        /// Files that could not be reviewed are listed; fail: the run ends 4.
        @stricter pub skipped: Skipped = Skipped::default(),
        /// Code that one call of a reviewer covers at most.
        pub max_shard_size: u64 as "As::<Size>" = 128 << 10,
        /// Reviewers examine each other's findings: rounds, the review being the first.
        pub debate: DebateRounds = DebateRounds::Off,
        /// How findings of several reviewers are weighed.
        pub consensus: Consensus = Consensus::default(),
        /// What happens to disputes.
        pub on_dispute: OnDispute = OnDispute::default(),
        /// How the judge rules.
        pub judge: Judge = Judge::default(),
    }
}

impl ReviewSettings {
    /// The tags that are mandatory, of opinions and issues.
    pub fn mandatory(&self) -> Vec<String> {
        [self.opinions.mandatory.clone(), self.issues.mandatory.clone()].concat()
    }

    /// The tags that are optional, of opinions and issues.
    pub fn optional(&self) -> Vec<String> {
        [self.opinions.optional.clone(), self.issues.optional.clone()].concat()
    }
}

section! {
    #[derive(Eq)]
    pub struct Opinions {
        /// Opinions that must be implemented.
        pub mandatory: Vec<String> as "As::<Tags>" = vec!["MUST".to_owned()],
        /// Opinions a coder may discard.
        pub optional: Vec<String> as "As::<Tags>" = vec!["SHOULD".to_owned()],
    }
}

section! {
    #[derive(Eq)]
    pub struct Issues {
        /// Issues that must be fixed.
        pub mandatory: Vec<String> as "As::<Tags>" = vec!["HIGH".to_owned()],
        /// Issues a coder may discard.
        pub optional: Vec<String> as "As::<Tags>" = vec!["MEDIUM".to_owned(), "LOW".to_owned()],
    }
}

/// `review.skipped`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Skipped {
    /// They are listed.
    #[default]
    Note,
    /// The run could not review and ends 4.
    Fail,
}

/// `review.debate`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DebateRounds {
    /// None.
    #[default]
    Off,
    /// Three rounds about mandatory findings and those of one reviewer.
    Auto,
    /// Two rounds about all findings.
    #[serde(rename = "2")]
    Two,
    /// Three rounds about all findings.
    #[serde(rename = "3")]
    Three,
}

section! {
    #[derive(Copy, Eq)]
    pub struct Consensus {
        /// How findings of several reviewers become one answer.
        pub policy: Policy = Policy::Panel,
        /// judge: it decides mandatory findings that one reviewer alone raised, before the coder sees them.
        pub validate: Validate = Validate::Off,
    }
}

/// `review.consensus.validate`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Validate {
    /// Nobody; they go to the coder like all others.
    #[default]
    Off,
    /// The judge, on their content.
    Judge,
}

section! {
    #[derive(Copy, Eq)]
    pub struct OnDispute {
        /// Show the selection on a terminal.
        pub prompt_user: bool = true,
        /// Preselected, and taken where nobody can be asked.
        pub default: Route = Route::Judge,
    }
}

section! {
    #[derive(Eq)]
    pub struct Judge {
        /// Three judges who vote on every dispute; none: the first judge rules.
        pub panel: Vec<String> as "As::<Words>" = Vec::new(),
        /// When the judge is uncertain.
        pub escalate_to: Escalation = Escalation::Human,
        /// A DISMISS must cite the reviewed code.
        @stricter pub require_evidence: bool = true,
        /// Asks the judge, in one question a round, which uncertain findings repeat an earlier dispute.
        pub compare: bool = true,
    }
}

/// `review.judge.escalate_to`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Escalation {
    /// A person decides.
    Human,
    /// The finding is discarded.
    Discard,
}

impl From<Escalation> for Route {
    fn from(escalation: Escalation) -> Self {
        match escalation {
            Escalation::Human => Self::Human,
            Escalation::Discard => Self::Discard,
        }
    }
}

section! {
    #[derive(Copy, Eq)]
    pub struct Rulings {
        /// How long after it was given a ruling binds, by its disposition.
        pub max_age: MaxAge = MaxAge::default(),
    }
}

section! {
    #[derive(Copy, Eq)]
    pub struct MaxAge {
        /// Of findings that are to be implemented.
        pub enforced: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// Of findings that are wrong.
        pub refuted: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// Of findings that were discarded without a ruling.
        pub discarded: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// Of risks that are taken knowingly.
        pub accepted_risk: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// Of findings that are to be dealt with later.
        pub deferred: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// Of findings that repeat others.
        pub duplicate: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// Of findings that are right but not mandatory.
        pub not_mandatory: Option<Duration> as "As::<OrNone<Age>>" = None,
    }
}

impl MaxAge {
    /// How long rulings with a disposition bind; `None` without a bound.
    pub fn of(&self, disposition: &Disposition) -> Option<Duration> {
        match disposition {
            Disposition::Enforced => self.enforced,
            Disposition::Refuted => self.refuted,
            Disposition::Discarded => self.discarded,
            Disposition::AcceptedRisk => self.accepted_risk,
            Disposition::Deferred { .. } => self.deferred,
            Disposition::Duplicate { .. } => self.duplicate,
            Disposition::NotMandatory => self.not_mandatory,
        }
    }
}

section! {
    #[derive(Eq)]
    pub struct Advisories {
        /// Folders or zip archives of OSV advisories, for findings that name a package.
        pub path: Vec<String> as "As::<Words>" = Vec::new(),
        /// An API like `https://api.osv.dev` that is asked too; it is told the packages that findings name.
        pub url: Option<String> as "As::<OrNone<Url>>" = None,
    }
}

/// `sandbox`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// Nobody is held; what reviewers and judges change is still found by comparing.
    Off,
    /// They are held where the system can.
    #[default]
    Auto,
    /// They are held, or not asked.
    Required,
}

section! {
    #[derive(Copy, Eq)]
    pub struct Redaction {
        /// Secrets become placeholders in prompts, history, transcripts and reports.
        @stricter pub secrets: bool = true,
        /// Code with a private key is shown to no agent.
        @stricter pub block_private_keys: bool = true,
    }
}

section! {
    #[derive(Eq)]
    pub struct WatchSettings {
        /// Connected agents that `glee watch` starts and reads events from.
        pub agents: Vec<String> as "As::<Words>" = Vec::new(),
        /// Who reviews in a watch; none: every connected reviewer.
        pub reviewers: Vec<String> as "As::<Words>" = Vec::new(),
        /// From the first event of a burst to the review.
        pub debounce: Duration as "As::<Delay>" = Duration::from_secs(2),
        /// A review after so long without any event from any agent.
        pub idle_review: Duration as "As::<Time>" = Duration::from_secs(15 * 60),
        /// How agents that the watch started are paused: stopped as a group, told on stdin, or not.
        pub pause: Pause = Pause::Signal,
        /// How long answers to a clarification are awaited.
        pub clarify_timeout: Duration as "As::<Time>" = Duration::from_secs(5 * 60),
        /// What reviewers look at in a watch.
        pub focus_areas: Vec<String> as "As::<Words>" = ["Security vulnerabilities", "Spec compliance", "Integration correctness"].map(str::to_owned).into(),
        /// How long the summary of a review may be.
        pub max_words: u32 as "As::<Count<1, 10_000>>" = 200,
        /// The judge rules on what a clarification did not settle, as in a review.
        pub arbitrate: bool = false,
        /// Commands that are run on STOP & ESCALATE.
        pub notify: Vec<Vec<String>> as "As::<Commands>" = Vec::new(),
    }
}

/// `watch.pause`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pause {
    /// Their processes are stopped, and continued.
    #[default]
    Signal,
    /// They are told on stdin.
    Message,
    /// They work on.
    None,
}

section! {
    pub struct ProjectSettings {
        /// Names the project's history in every clone and checkout; only the project's file may set it.
        @own pub id: Option<String> as "As::<OrNone<Id>>" = None,
    }
}

section! {
    #[derive(Copy)]
    pub struct Budget {
        /// Tokens read and written in a whole run.
        @stricter pub tokens: Option<u64> as "As::<OrNone<Whole>>" = None,
        /// US dollars of a whole run, where they are known.
        @stricter pub usd: Option<f64> as "As::<OrNone<Money>>" = None,
        /// Calls of agents in a whole run, retries counted.
        @stricter pub calls: Option<u64> as "As::<OrNone<Whole>>" = None,
        /// Wall time of a whole run.
        @stricter pub duration: Duration as "As::<Time>" = Duration::from_secs(60 * 60),
    }
}

impl Budget {
    /// Tokens, money and calls of the whole run.
    pub fn caps(&self) -> Caps {
        Caps { tokens: self.tokens, usd: self.usd, calls: self.calls }
    }
}

section! {
    /// `limits.*`: the caps on one agent process.
    #[derive(Copy, Eq)]
    pub struct Limits {
        /// Wall time of one call of an agent.
        @stricter pub call_timeout: Duration as "As::<Time>" = Duration::from_secs(30 * 60),
        /// Until the first output, where it is streamed.
        @stricter pub first_output_timeout: Duration as "As::<Time>" = Duration::from_secs(120),
        /// Between two pieces of output, where it is streamed.
        @stricter pub idle_timeout: Duration as "As::<Time>" = Duration::from_secs(600),
        /// Output of an agent that is kept.
        @stricter pub max_output_size: u64 as "As::<Size>" = 64 << 20,
        /// The longest line that is read.
        @stricter pub max_line_size: u64 as "As::<Size>" = 8 << 20,
        /// Between asking an agent to stop and killing it.
        @stricter pub kill_grace: Duration as "As::<Delay>" = Duration::from_secs(3),
        /// How often a call is tried again after a failure that passes.
        @stricter pub retries: u32 as "As::<Count<0, 10>>" = 3,
        /// Before the first of these tries; each later one waits twice as long.
        pub backoff: Duration as "As::<Time>" = Duration::from_secs(2),
    }
}
