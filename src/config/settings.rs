//! The settings as the rest of Glee reads them: every value present, every unit in its type.
//!
//! How they come about (defaults, files, variables, flags) and how they are written down is the business of the
//! other files of this folder; nothing below `cli` asks where a value came from.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::domain::{Agent, Caps, Route};
use crate::rules::consensus::Policy;

/// All settings of one invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The connected agents, in the order of the configuration.
    pub agents: Vec<Agent>,
    /// How reviews are done.
    pub review: ReviewSettings,
    /// Where security advisories come from.
    pub advisories: Advisories,
    /// Whether reviewers and judges are held back from writing.
    pub sandbox: Sandbox,
    /// What is kept from agents and from the record.
    pub redaction: Redaction,
    /// How agents are watched.
    pub watch: WatchSettings,
    /// What a run may cost.
    pub budget: Budget,
    /// What one agent process may take.
    pub limits: Limits,
    /// Every value as dotted key and JSON, as `glee config list` prints it; recorded with each run.
    pub flat: BTreeMap<String, serde_json::Value>,
}

/// `advisories.*`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advisories {
    /// `advisories.path`: folders or zip archives of OSV's JSON.
    pub paths: Vec<String>,
    /// `advisories.url`: the root of an HTTP API like OSV's.
    pub url: Option<String>,
}

/// `review.*`
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewSettings {
    /// `review.opinions.mandatory` and `review.issues.mandatory`, as written.
    pub mandatory: Vec<String>,
    /// `review.opinions.optional` and `review.issues.optional`, as written.
    pub optional: Vec<String>,
    /// `review.reviewers`
    pub reviewers: ReviewerChoice,
    /// `review.rounds`, at least 1.
    pub rounds: u32,
    /// `review.recheck`
    pub recheck: bool,
    /// `review.quorum`: how many reviewers must have answered completely; `None` is all.
    pub quorum: Option<u32>,
    /// `review.verify`: commands that must pass after the coder's edits, each split into words.
    pub verify: Vec<Vec<String>>,
    /// `review.jobs`: how many agents work at the same time; `None` is no bound.
    pub jobs: Option<u32>,
    /// `review.max_file`: of larger files only what changed is reviewed, in bytes.
    pub max_file: u64,
    /// `review.skipped`: what becomes of a run that could not review some files.
    pub skipped: Skipped,
    /// `review.shard`: the bytes of code that one call of a reviewer covers at most.
    pub shard: u64,
    /// `review.consensus.policy`: how the findings of several reviewers become one answer.
    pub consensus: Policy,
    /// `review.consensus.validate`: who decides mandatory findings that one reviewer alone raised.
    pub validate: Validate,
    /// `review.on_dispute.prompt_user`
    pub prompt_user: bool,
    /// `review.on_dispute.default`
    pub on_dispute: Route,
    /// `review.judge.panel`: three judges by name, or nobody.
    pub panel: Vec<String>,
    /// `review.judge.escalate_to`: never `judge`.
    pub escalate_to: Route,
    /// `review.judge.require_evidence`
    pub require_evidence: bool,
}

/// `review.reviewers`
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewerChoice {
    /// Every connected reviewer.
    All,
    /// The first one.
    First,
    /// These.
    Named(Vec<String>),
}

/// `review.skipped`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Skipped {
    /// They are listed.
    #[default]
    Note,
    /// The run could not review and ends 4.
    Fail,
}

/// `review.consensus.validate`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validate {
    /// Nobody; they go to the coder like all others.
    #[default]
    Off,
    /// The judge, on their content.
    Judge,
}

/// `sandbox`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// Nobody is held; what reviewers and judges change is still found by comparing.
    Off,
    /// They are held where the system can.
    #[default]
    Auto,
    /// They are held, or not asked.
    Required,
}

/// `watch.*`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchSettings {
    /// `watch.agents`: who is started, by name.
    pub agents: Vec<String>,
    /// `watch.reviewers`: who reviews, by name; nobody is every connected reviewer.
    pub reviewers: Vec<String>,
    /// `watch.settle`
    pub settle: Duration,
    /// `watch.fallback`
    pub fallback: Duration,
    /// `watch.pause`
    pub pause: Pause,
    /// `watch.clarify`
    pub clarify: Duration,
    /// `watch.focus_areas`
    pub focus_areas: Vec<String>,
    /// `watch.max_words`
    pub max_words: u32,
    /// `watch.arbitrate`
    pub arbitrate: bool,
    /// `watch.notify`: commands, each split into words.
    pub notify: Vec<Vec<String>>,
}

impl Default for WatchSettings {
    fn default() -> Self {
        let areas = ["Security vulnerabilities", "Spec compliance", "Integration correctness"];
        Self {
            agents: Vec::new(),
            reviewers: Vec::new(),
            settle: Duration::from_secs(2),
            fallback: Duration::from_secs(15 * 60),
            pause: Pause::Signal,
            clarify: Duration::from_secs(5 * 60),
            focus_areas: areas.map(str::to_owned).into(),
            max_words: 200,
            arbitrate: false,
            notify: Vec::new(),
        }
    }
}

/// `watch.pause`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pause {
    /// Their processes are stopped, and continued.
    #[default]
    Signal,
    /// They are told on stdin.
    Message,
    /// They work on.
    None,
}

/// `redaction.*`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// `redaction.secrets`
    pub secrets: bool,
    /// `redaction.block_private_keys`
    pub block_private_keys: bool,
}

/// `budget.*`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Wall time of one sitting at a run.
    pub wall: Duration,
    /// Tokens, money and calls of the whole run.
    pub caps: Caps,
}

/// `limits.*`: the caps on one agent process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall time.
    pub total: Duration,
    /// Until the first byte of output; for adapters that stream.
    pub first_output: Duration,
    /// Between two pieces of output; for adapters that stream.
    pub idle: Duration,
    /// Bytes of stdout that are kept.
    pub output: u64,
    /// Bytes of one line that are read.
    pub line: u64,
    /// Between TERM and KILL.
    pub grace: Duration,
    /// How often a call is tried again after a failure that passes.
    pub retries: u32,
    /// Before the first of these tries; each later one waits twice as long.
    pub backoff: Duration,
}
