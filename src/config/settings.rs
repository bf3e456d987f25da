//! Declares the settings. Each field defines one key with its name, type, default and documentation. Files,
//! variables, the JSON Schema and the record of a run follow from these declarations. `@stricter` means that a
//! project's file may only set a stricter value, which is a smaller number, `true`, or a later word of an enum.
//! `@own` means that only a project's file may set the key.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::schema::values::{
    Adapter, Age, As, Command, Commands, Count, Delay, Id, Model, Money, Name, OrAll, OrNone, Price,
    ReviewerChoice, Reviewers, Size, Tags, Time, Url, Variables, Whole, Words,
};
use crate::domain::{Agent, AgentName, Caps, Disposition, Effort, Price as Dollars, Role, Route};
use crate::rules::consensus::Policy;

/// Declares a section of settings. Each key has a type, a default, and often a [`ValueForm`](super::schema::values)
/// that defines how the value is written.
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
    pub struct Settings {
        /// The version of this file's format.
        pub version: u32 as "As::<Count<1, 1>>" = 1,
        /// The project's identity.
        pub project: ProjectSettings = ProjectSettings::default(),
        /// The connected agents; the user's file and the project's are merged by name.
        #[serde(skip_deserializing)]
        #[schemars(!skip_deserializing, with = "Vec<AgentForm>")]
        pub agents: Vec<Agent> = Vec::new(),
        /// How reviews run.
        pub review: ReviewSettings = ReviewSettings::default(),
        /// How long rulings bind.
        pub rulings: Rulings = Rulings::default(),
        /// Where security advisories come from.
        pub advisories: Advisories = Advisories::default(),
        /// Run reviewers and judges in a read-only sandbox; required: never ask one without it.
        @stricter pub sandbox: Sandbox = Sandbox::default(),
        /// What is hidden from agents and from the record.
        pub redaction: Redaction = Redaction::default(),
        /// Event-driven peer review.
        pub watch: WatchSettings = WatchSettings::default(),
        /// The caps on a whole run.
        pub budget: Budget = Budget::default(),
        /// The caps on one agent process.
        pub limits: Limits = Limits::default(),
    }
}

/// An agent in a file; the user's and the project's file may each set some of its keys.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Agent", deny_unknown_fields)]
pub struct AgentForm {
    /// Its unique name.
    #[serde(with = "As::<Name>")]
    name: AgentName,
    /// A known program, builtin:rules|fixer|referee, or a command.
    #[serde(with = "As::<Command>")]
    command: Vec<String>,
    /// The protocol it is called with; derived from the command.
    #[serde(with = "As::<Adapter>")]
    adapter: String,
    /// Its role.
    role: Role,
    /// Code a coder is for: path globs, languages, path components.
    #[serde(default, with = "As::<Words>")]
    domain: Vec<String>,
    /// What a reviewer looks for.
    #[serde(default, with = "As::<Words>")]
    focus: Vec<String>,
    /// The model to ask for.
    #[serde(default, with = "As::<Option<Model>>")]
    model: Option<String>,
    /// The reasoning effort of its model, where its program has such a setting.
    #[serde(default)]
    #[schemars(with = "Effort")]
    effort: Option<Effort>,
    /// Environment variables set for it.
    #[serde(default, with = "As::<Variables>")]
    env: BTreeMap<String, String>,
    /// The wall time of one call, in place of `limits.call_timeout`.
    #[serde(default, with = "As::<Option<Time>>")]
    timeout: Option<Duration>,
    /// The agent that answers when this one is rate-limited or not installed.
    #[serde(default, with = "As::<Option<Name>>")]
    backup: Option<AgentName>,
    /// The price of its tokens, where its program reports no costs.
    #[serde(default, with = "As::<Option<Price>>")]
    price: Option<Dollars>,
}

section! {
    pub struct ReviewSettings {
        /// Which opinions are mandatory.
        pub opinions: Opinions = Opinions::default(),
        /// Which issues are mandatory.
        pub issues: Issues = Issues::default(),
        /// Which connected reviewers are asked.
        pub reviewers: ReviewerChoice as "As::<Reviewers>" = ReviewerChoice::All,
        /// The most rounds of review and fix.
        pub rounds: u32 as "As::<Count<1, 100>>" = 1,
        /// The reviewer that raised a finding checks its fix.
        pub recheck: bool = true,
        /// A reviewer's earlier answers about unchanged content are reused.
        pub reuse: bool = true,
        /// Reviewers that must answer completely for exit 0.
        pub quorum: Option<u32> as "As::<OrAll<Count<1, { u32::MAX }>>>" = None,
        /// Commands that must pass after the coder's edits.
        pub verify: Vec<Vec<String>> as "As::<Commands>" = Vec::new(),
        /// Agents that run at the same time.
        pub jobs: Option<u32> as "As::<OrAll<Count<1, { u32::MAX }>>>" = None,
        /// Of a larger file only the changes are reviewed; without changes it is skipped.
        pub max_file_size: u64 as "As::<Size>" = 1 << 20,
        /// Files that could not be reviewed are listed; fail: the run exits 4.
        @stricter pub skipped: Skipped = Skipped::default(),
        /// The most code in one call of a reviewer.
        pub max_shard_size: u64 as "As::<Size>" = 128 << 10,
        /// Rounds in which reviewers examine each other's findings; the review is the first.
        pub debate: DebateRounds = DebateRounds::Off,
        /// How findings of several reviewers are combined.
        pub consensus: Consensus = Consensus::default(),
        /// How disputes are resolved.
        pub on_dispute: OnDispute = OnDispute::default(),
        /// How the judge rules.
        pub judge: Judge = Judge::default(),
    }
}

impl ReviewSettings {
    pub fn mandatory(&self) -> Vec<String> {
        [self.opinions.mandatory.clone(), self.issues.mandatory.clone()].concat()
    }

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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Skipped {
    /// They are listed.
    #[default]
    Note,
    /// The run exits 4.
    Fail,
}

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
        /// The policy that combines findings of several reviewers.
        pub policy: Policy = Policy::Panel,
        /// judge: it decides mandatory findings of a single reviewer before the coder sees them.
        pub validate: Validate = Validate::Off,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Validate {
    /// They go to the coder like all others.
    #[default]
    Off,
    /// The judge decides them on their content.
    Judge,
}

section! {
    #[derive(Copy, Eq)]
    pub struct OnDispute {
        /// Ask on a terminal.
        pub prompt_user: bool = true,
        /// The preselected route; taken without asking where there is no terminal.
        pub default: Route = Route::Judge,
    }
}

section! {
    #[derive(Eq)]
    pub struct Judge {
        /// Three judges that vote on every dispute; empty: the first judge rules.
        pub panel: Vec<String> as "As::<Words>" = Vec::new(),
        /// What happens when the judge is uncertain.
        pub escalate_to: Escalation = Escalation::Human,
        /// A DISMISS must cite the reviewed code.
        @stricter pub require_evidence: bool = true,
        /// The judge is asked once per round which uncertain findings repeat an earlier dispute.
        pub compare: bool = true,
    }
}

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
        /// How long a ruling binds, by its disposition.
        pub max_age: MaxAge = MaxAge::default(),
    }
}

section! {
    #[derive(Copy, Eq)]
    pub struct MaxAge {
        /// Findings to be implemented.
        pub enforced: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// Findings ruled wrong.
        pub refuted: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// Findings discarded without a ruling.
        pub discarded: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// Accepted risks.
        pub accepted_risk: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// Findings deferred to later.
        pub deferred: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// Findings that repeat others.
        pub duplicate: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// Findings that are right but not mandatory.
        pub not_mandatory: Option<Duration> as "As::<OrNone<Age>>" = None,
    }
}

impl MaxAge {
    /// Returns how long rulings with this disposition bind. `None` means that there is no limit.
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
        /// An API like `https://api.osv.dev` to query too; the packages that findings name are sent to it.
        pub url: Option<String> as "As::<OrNone<Url>>" = None,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// No sandbox; writes of reviewers and judges are still detected by comparing the tree.
    Off,
    /// A sandbox where the system supports one.
    #[default]
    Auto,
    /// A sandbox always; without one they are not asked.
    Required,
}

section! {
    #[derive(Copy, Eq)]
    pub struct Redaction {
        /// Secrets become placeholders in prompts, history, transcripts and reports.
        @stricter pub secrets: bool = true,
        /// Code that contains a private key is sent to no agent.
        @stricter pub block_private_keys: bool = true,
    }
}

section! {
    #[derive(Eq)]
    pub struct WatchSettings {
        /// Connected agents that `glee watch` starts and reads events from.
        pub agents: Vec<String> as "As::<Words>" = Vec::new(),
        /// The reviewers in a watch; empty: every connected reviewer.
        pub reviewers: Vec<String> as "As::<Words>" = Vec::new(),
        /// The delay from the first event of a burst to the review.
        pub debounce: Duration as "As::<Delay>" = Duration::from_secs(2),
        /// A review starts after this time without an event from any agent.
        pub idle_review: Duration as "As::<Time>" = Duration::from_secs(15 * 60),
        /// How agents that the watch started are paused: by signal, by a message on stdin, or not.
        pub pause: Pause = Pause::Signal,
        /// How long the watch waits for answers to a clarification.
        pub clarify_timeout: Duration as "As::<Time>" = Duration::from_secs(5 * 60),
        /// What reviewers check in a watch.
        pub focus_areas: Vec<String> as "As::<Words>" = ["Security vulnerabilities", "Spec compliance", "Integration correctness"].map(str::to_owned).into(),
        /// The most words in the summary of a review.
        pub max_words: u32 as "As::<Count<1, 10_000>>" = 200,
        /// The judge rules on issues that a clarification did not settle.
        pub arbitrate: bool = false,
        /// Commands to run on STOP & ESCALATE.
        pub notify: Vec<Vec<String>> as "As::<Commands>" = Vec::new(),
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pause {
    /// Their processes are stopped and continued by signals.
    #[default]
    Signal,
    /// They get a message on stdin.
    Message,
    /// They keep running.
    None,
}

section! {
    pub struct ProjectSettings {
        /// The id of the project's history in every clone; only the project's file may set it.
        @own pub id: Option<String> as "As::<OrNone<Id>>" = None,
    }
}

section! {
    #[derive(Copy)]
    pub struct Budget {
        /// Tokens read and written in a whole run.
        @stricter pub tokens: Option<u64> as "As::<OrNone<Whole>>" = None,
        /// US dollars of a whole run, where costs are known.
        @stricter pub usd: Option<f64> as "As::<OrNone<Money>>" = None,
        /// Calls of agents in a whole run, including retries.
        @stricter pub calls: Option<u64> as "As::<OrNone<Whole>>" = None,
        /// Wall time of a whole run.
        @stricter pub duration: Duration as "As::<Time>" = Duration::from_secs(60 * 60),
    }
}

impl Budget {
    pub fn caps(&self) -> Caps {
        Caps { tokens: self.tokens, usd: self.usd, calls: self.calls }
    }
}

section! {
    #[derive(Copy, Eq)]
    pub struct Limits {
        /// Wall time of one call of an agent.
        @stricter pub call_timeout: Duration as "As::<Time>" = Duration::from_secs(30 * 60),
        /// Time until the first output of an agent that streams.
        @stricter pub first_output_timeout: Duration as "As::<Time>" = Duration::from_secs(120),
        /// Time between two pieces of output of an agent that streams.
        @stricter pub idle_timeout: Duration as "As::<Time>" = Duration::from_secs(600),
        /// The most output kept of an agent.
        @stricter pub max_output_size: u64 as "As::<Size>" = 64 << 20,
        /// The longest line of output.
        @stricter pub max_line_size: u64 as "As::<Size>" = 8 << 20,
        /// Time between asking an agent to stop and killing it.
        @stricter pub kill_grace: Duration as "As::<Delay>" = Duration::from_secs(3),
        /// How often a call is retried after a transient failure.
        @stricter pub retries: u32 as "As::<Count<0, 10>>" = 3,
        /// The delay before the first retry; each later one waits twice as long.
        pub backoff: Duration as "As::<Time>" = Duration::from_secs(2),
    }
}
