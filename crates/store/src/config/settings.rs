//! Declares the settings. Each field defines one key with its name, type, default and documentation. From these
//! fields, Glee derives the configuration keys, the environment variables, the JSON Schema, and the settings
//! that a run records. `@stricter` means that a project's file is allowed to set only a stricter value. A
//! stricter value is a smaller number, `true`, or a later word of an enum. `@own` means that only a project's
//! file is allowed to set the key. `@user` means that a project's file is not allowed to set the key.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::choices::{
    CommentOn, Compare, DebateRounds, Demonstrations, Escalation, FixScope, OlderFindings,
    PagerUse, Pause, PrMode, Sandbox, Skipped, TerminalNotice, Validate,
};
use crate::config::programs::ProfileForm;
use crate::config::schema::forms::{
    Adapter, Age, Command, Commands, Database, Guidelines, Id, Language, LinkFormat, Model, Money,
    Name, Price, ReuseForm, Reviewers, Runners, Size, Tags, Url, Variables, Vendor, Whole, Words,
};
use crate::config::schema::values::{
    As, Count, Delay, GuidelineChoice, Hyperlink, OrAll, OrNone, ReuseMode, ReviewerChoice, Time,
};
pub use crate::config::test_runner::Runner;
use glee_model::domain::{
    Agent, AgentName, Caps, CodeContext, Disposition, Effort, Price as Dollars, Profile, Role,
    Route,
};
use glee_model::rules::consensus::Policy;

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
        /// The connected agents. The user's agents and the project's agents are merged by name.
        #[serde(skip_deserializing)]
        #[schemars(!skip_deserializing, with = "Vec<AgentForm>")]
        pub agents: Vec<Agent> = Vec::new(),
        /// The settings of reviews.
        pub review: ReviewSettings = ReviewSettings::default(),
        /// How long rulings apply to later runs.
        pub rulings: Rulings = Rulings::default(),
        /// The sources of security advisories.
        pub advisories: Advisories = Advisories::default(),
        /// Whether reviewers and judges run in a read-only sandbox.
        @stricter pub sandbox: Sandbox = Sandbox::default(),
        /// How Glee protects secrets and private keys from agents and from the history.
        pub redaction: Redaction = Redaction::default(),
        /// The settings of `glee watch`, which reviews the work of running agents.
        pub watch: WatchSettings = WatchSettings::default(),
        /// The limits of a whole run.
        pub budget: Budget = Budget::default(),
        /// The limits of one agent process.
        pub limits: Limits = Limits::default(),
        /// How Glee notifies a person when a long run ends or waits for an answer.
        pub notify: NotifySettings = NotifySettings::default(),
        /// How reports are shown on a terminal.
        pub ui: UiSettings = UiSettings::default(),
        /// How reviews are published on pull requests.
        pub pr: PrSettings = PrSettings::default(),
        /// The PostgreSQL database that keeps the histories of many machines (`glee server init`). Without it, this
        /// machine keeps them.
        @user pub server: Option<String> as "As::<OrNone<Database>>" = None,
    }
}

/// An agent in a configuration file. If both the user's file and the project's file contain an agent of the same
/// name, Glee merges the keys.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Agent", deny_unknown_fields)]
pub(crate) struct AgentForm {
    /// The unique name of the agent.
    #[serde(with = "As::<Name>")]
    name: AgentName,
    /// The command that starts the agent: a supported program, `builtin:rules|fixer|referee`, the address of a
    /// model's server and the name of the variable with its key, or any other command.
    #[serde(with = "As::<Command>")]
    command: Vec<String>,
    /// The adapter through which Glee calls the agent. The default adapter depends on the agent's command.
    #[serde(with = "As::<Adapter>")]
    adapter: String,
    /// The role of the agent.
    role: Role,
    /// The code for which a coder is responsible, as path globs, languages or path components.
    #[serde(default, with = "As::<Words>")]
    domain: Vec<String>,
    /// The kinds of problems that a reviewer looks for.
    #[serde(default, with = "As::<Words>")]
    focus: Vec<String>,
    /// The name of the agent's model.
    #[serde(default, with = "As::<Option<Model>>")]
    model: Option<String>,
    /// Who trained the model. Reviewers of one vendor that agree count as one voice. Without this key, the name of the
    /// model or the agent's program says it.
    #[serde(default, with = "As::<Option<Vendor>>")]
    vendor: Option<String>,
    /// The reasoning effort of the model. The agent's program must have an effort setting.
    #[serde(default)]
    #[schemars(with = "Effort")]
    effort: Option<Effort>,
    /// Environment variables for the agent's process.
    #[serde(default, with = "As::<Variables>")]
    env: BTreeMap<String, String>,
    /// The maximum wall time of one call. This value replaces `limits.call_timeout`.
    #[serde(default, with = "As::<Option<Time>>")]
    timeout: Option<Duration>,
    /// The agent that answers if this agent is rate-limited or not installed.
    #[serde(default, with = "As::<Option<Name>>")]
    backup: Option<AgentName>,
    /// The price of the model's tokens. Glee uses this price if the program reports no cost.
    #[serde(default, with = "As::<Option<Price>>")]
    price: Option<Dollars>,
    /// How Glee calls a program for which Glee has no adapter: the name of a profile, or a profile.
    #[serde(default, with = "As::<Option<ProfileForm>>")]
    profile: Option<Box<Profile>>,
    /// Whether the program can read files of the tree. The default is true for the programs that Glee knows, and false
    /// for a command or a profile of your own and for a server, which are sent more code instead.
    #[serde(default)]
    #[schemars(with = "bool")]
    reads: Option<bool>,
}

section! {
    pub struct ReviewSettings {
        /// Two lists of tags, such as `MUST`, that state an opinion: the mandatory tags and the optional tags.
        pub opinions: Opinions = Opinions::default(),
        /// Two lists of tags, such as `HIGH`, that state the priority of a problem: the mandatory tags and the
        /// optional tags.
        pub issues: Issues = Issues::default(),
        /// The connected reviewers that take part in a review.
        pub reviewers: ReviewerChoice as "As::<Reviewers>" = ReviewerChoice::All,
        /// The maximum number of rounds of review and fix. Three rounds in a row that raise findings in the lines of
        /// the fixes before them are the last ones.
        pub rounds: u32 as "As::<Count<1, 100>>" = 1,
        /// Whether the reviewer that raised a finding checks the fix.
        pub recheck: bool = true,
        /// Whether Glee reuses a reviewer's earlier answers about unchanged content. `strict` reuses them only while no
        /// file of the tree changes.
        pub reuse: ReuseMode as "As::<ReuseForm>" = ReuseMode::On,
        /// Exit code 0 requires complete answers from at least this number of reviewers.
        pub quorum: Option<u32> as "As::<OrAll<Count<1, { u32::MAX }>>>" = None,
        /// What the coder may edit.
        pub fix: Fix = Fix::default(),
        /// Commands that must pass after the coder's edits.
        pub verify: Vec<Vec<String>> as "As::<Commands>" = Vec::new(),
        /// Whether reviewers and coders may give a test with a finding or an answer, which Glee runs. Nobody is asked for
        /// one without a runner. With `required`, a mandatory bug or security finding does not block unless such a test
        /// fails on the reviewed code; only the user's file can set it.
        pub demonstrations: Demonstrations = Demonstrations::Offered,
        /// The programs that run these tests, by name, each with the folder for new files. A command is the name of one
        /// that Glee knows (`unittest`, `pytest`, `node`, `go`, `cargo`, `phpunit`, `rspec`), or your own: `{files}` stands
        /// for the path of the new file, `{name}` for its name without extension, `{folder}` for its folder, and `{junit}`
        /// and `{coverage}` for the paths of a JUnit report and a coverage report (LCOV, or the profile of `go test`) that
        /// the command writes. They run in a copy of the tree, in a sandbox, without network.
        pub runners: BTreeMap<String, Runner> as "As::<Runners>" = BTreeMap::new(),
        /// The maximum number of agents that run at the same time. A further one also waits while the system has less
        /// memory left than the largest process of an earlier call of its program in this run took (Linux).
        pub jobs: Option<u32> as "As::<OrAll<Count<1, { u32::MAX }>>>" = Some(8),
        /// If a review would make more calls, Glee first asks the user on the terminal. Calls of embedded agents are
        /// excluded.
        pub confirm_above: Option<u32> as "As::<OrNone<Count<0, { u32::MAX }>>>" = Some(100),
        /// If the prompts of a review would cost more US dollars, Glee first asks the user on the terminal. A cost that is
        /// unknown is above every amount.
        pub confirm_above_usd: Option<f64> as "As::<OrNone<Money>>" = None,
        /// The maximum size of a file that is reviewed as a whole. If a file is larger, only the changes of the
        /// file are reviewed, without lines over this size.
        pub max_file_size: u64 as "As::<Size>" = 1 << 20,
        /// Whether the run fails if files could not be reviewed.
        @stricter pub skipped: Skipped = Skipped::default(),
        /// What becomes of a mandatory finding that is older than the change under review: no changed line is in the
        /// block of the finding, in a place that it cites, or in code that it depends on or that depends on it.
        pub older: OlderFindings = OlderFindings::default(),
        /// The maximum size of the code that Glee sends to a reviewer in one call. A larger file is sent in parts, one
        /// call a part. A smaller limit of a reviewer's program takes precedence.
        pub max_shard_size: u64 as "As::<Size>" = 128 << 10,
        /// What reviewers are sent of a changed file: only the diff, the diff with the blocks around each change and the
        /// places where their names occur elsewhere, or the whole file. Judges are sent whole files only with `files`.
        pub context: CodeContext = CodeContext::Blocks,
        /// The project's guidelines, which reviewers are sent as rules that findings can cite: those with the usual names
        /// (`AGENTS.md`, `CLAUDE.md`, `REVIEW.md`, rules of Copilot and Cursor), none, or these files. They are read from the
        /// base of a change.
        pub guidelines: GuidelineChoice as "As::<Guidelines>" = GuidelineChoice::Auto,
        /// The language in which reviewers write titles and texts. With `none`, the reviewer chooses.
        pub language: Option<String> as "As::<OrNone<Language>>" = None,
        /// Whether agents are asked about findings that may be the same: the aggregator about findings of different
        /// reviewers and about earlier findings, and the judge, or else the aggregator, about findings that may repeat
        /// an earlier dispute. In a watch, the aggregator is asked about issues.
        pub compare: Compare = Compare::Auto,
        /// The rounds of the debate, in which reviewers examine each other's findings. Round 1 is the review.
        pub debate: DebateRounds = DebateRounds::Off,
        /// How findings of several reviewers are combined.
        pub consensus: Consensus = Consensus::default(),
        /// How disputes are settled.
        pub on_dispute: OnDispute = OnDispute::default(),
        /// The settings of the judge.
        pub judge: Judge = Judge::default(),
    }
}

impl ReviewSettings {
    /// The runners that agents may name; none if `demonstrations` is `off`.
    pub fn offered_runners(&self) -> impl Iterator<Item = (&String, &Runner)> {
        let is_offered = self.demonstrations != Demonstrations::Off;
        self.runners.iter().filter(move |_| is_offered)
    }

    pub fn mandatory(&self) -> Vec<String> {
        [
            self.opinions.mandatory.clone(),
            self.issues.mandatory.clone(),
        ]
        .concat()
    }

    pub fn optional(&self) -> Vec<String> {
        [self.opinions.optional.clone(), self.issues.optional.clone()].concat()
    }
}

section! {
    #[derive(Eq)]
    pub struct Opinions {
        /// The tags of opinions that the coder must implement.
        pub mandatory: Vec<String> as "As::<Tags>" = vec!["MUST".to_owned()],
        /// The tags of opinions that the coder can discard.
        pub optional: Vec<String> as "As::<Tags>" = vec!["SHOULD".to_owned()],
    }
}

section! {
    #[derive(Eq)]
    pub struct Issues {
        /// The tags of issues that the coder must fix.
        pub mandatory: Vec<String> as "As::<Tags>" = vec!["HIGH".to_owned()],
        /// The tags of issues that the coder can discard.
        pub optional: Vec<String> as "As::<Tags>" = vec!["MEDIUM".to_owned(), "LOW".to_owned()],
    }
}

section! {
    #[derive(Copy, Eq)]
    pub struct Fix {
        /// The files that a coder may edit. With `findings`, each other file is put back after the call of the coder.
        pub scope: FixScope = FixScope::default(),
    }
}

section! {
    #[derive(Copy, Eq)]
    pub struct Consensus {
        /// The policy that combines findings of several reviewers.
        pub policy: Policy = Policy::Panel,
        /// Whether the judge decides mandatory findings of a single reviewer before Glee sends these findings to
        /// the coder.
        pub validate: Validate = Validate::Off,
    }
}

section! {
    #[derive(Copy, Eq)]
    pub struct OnDispute {
        /// Whether Glee asks the user on a terminal how to settle a dispute.
        pub prompt_user: bool = true,
        /// The route that is preselected when Glee asks the user how to settle a dispute. Without a terminal,
        /// Glee chooses this route and does not ask.
        pub default: Route = Route::Judge,
    }
}

section! {
    #[derive(Eq)]
    pub struct Judge {
        /// Three judges that vote on every dispute. If the list is empty, the first judge rules alone; an embedded judge rules only where no other is connected.
        pub panel: Vec<String> as "As::<Words>" = Vec::new(),
        /// How a dispute is settled if the judge is uncertain. If a judge gives no valid ruling, the dispute stays
        /// open in any case.
        pub escalate_to: Escalation = Escalation::Human,
        /// Whether the ruling DISMISS must cite the reviewed code.
        @stricter pub require_evidence: bool = true,
    }
}

section! {
    #[derive(Copy, Eq)]
    pub struct Rulings {
        /// The maximum ages of rulings, by disposition.
        pub max_age: MaxAge = MaxAge::default(),
    }
}

section! {
    #[derive(Copy, Eq)]
    pub struct MaxAge {
        /// The maximum age of rulings that enforce a finding.
        pub enforced: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// The maximum age of rulings that refute a finding.
        pub refuted: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// The maximum age of a discarded finding that has no ruling.
        pub discarded: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// The maximum age of rulings that accept a risk.
        pub accepted_risk: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// The maximum age of rulings that defer a finding.
        pub deferred: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// The maximum age of rulings that call a finding a duplicate.
        pub duplicate: Option<Duration> as "As::<OrNone<Age>>" = None,
        /// The maximum age of rulings that call a finding correct but not mandatory.
        pub not_mandatory: Option<Duration> as "As::<OrNone<Age>>" = None,
    }
}

impl MaxAge {
    /// Returns the maximum age of rulings with this disposition. `None` means that there is no limit.
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
        /// Folders or zip archives of OSV advisories, in which Glee looks up the packages that findings mention.
        pub path: Vec<String> as "As::<Words>" = Vec::new(),
        /// An API such as `https://api.osv.dev`. The API receives the names of the packages that findings mention.
        pub url: Option<String> as "As::<OrNone<Url>>" = None,
    }
}

section! {
    #[derive(Copy, Eq)]
    pub struct Redaction {
        /// Whether placeholders replace secrets in prompts, history, transcripts and reports.
        @stricter pub secrets: bool = true,
        /// Whether Glee refuses to send a file with a private key to an agent.
        @stricter pub block_private_keys: bool = true,
    }
}

section! {
    #[derive(Eq)]
    pub struct WatchSettings {
        /// The connected agents of a watch. `glee watch` starts these agents and reads their agent events.
        pub agents: Vec<String> as "As::<Words>" = Vec::new(),
        /// The reviewers in a watch. If the list is empty, all connected reviewers take part.
        pub reviewers: Vec<String> as "As::<Words>" = Vec::new(),
        /// The delay between the first trigger of a review and the start of the review.
        pub debounce: Duration as "As::<Delay>" = Duration::from_secs(2),
        /// If no agent has reported an event for this time, a review starts.
        pub idle_review: Duration as "As::<Time>" = Duration::from_secs(15 * 60),
        /// How a watch pauses the agents that it started.
        pub pause: Pause = Pause::Signal,
        /// The maximum time for which the watch waits for answers to a clarification.
        pub clarify_timeout: Duration as "As::<Time>" = Duration::from_secs(5 * 60),
        /// The topics that reviewers check in a watch.
        pub focus_areas: Vec<String> as "As::<Words>" = ["Security vulnerabilities", "Spec compliance", "Integration correctness"].map(str::to_owned).into(),
        /// The maximum number of words in the summary of a review.
        pub max_words: u32 as "As::<Count<1, 10_000>>" = 200,
        /// Whether the judge rules on issues that a clarification did not settle.
        pub arbitrate: bool = false,
        /// Commands that run if a review stops the work (the action STOP & ESCALATE).
        pub notify: Vec<Vec<String>> as "As::<Commands>" = Vec::new(),
    }
}

section! {
    pub struct ProjectSettings {
        /// The id that every clone uses for the project's history. Only the project's configuration file is
        /// allowed to set this key.
        @own pub id: Option<String> as "As::<OrNone<Id>>" = None,
    }
}

section! {
    #[derive(Copy)]
    pub struct Budget {
        /// The maximum number of tokens that agents read and write in a run.
        @stricter pub tokens: Option<u64> as "As::<OrNone<Whole>>" = None,
        /// The maximum cost of a run in US dollars, as far as costs are known.
        @stricter pub usd: Option<f64> as "As::<OrNone<Money>>" = None,
        /// The maximum cost of a run that nobody can confirm, in US dollars, if no other maximum cost is set. A review whose
        /// prompts alone cost more does not start.
        @stricter pub ci_usd: Option<f64> as "As::<OrNone<Money>>" = Some(5.0),
        /// The maximum cost of all your runs in a month (UTC) in US dollars, in all repositories.
        @stricter pub month_usd: Option<f64> as "As::<OrNone<Money>>" = None,
        /// The maximum cost of all reviews of one pull request in US dollars.
        @stricter pub request_usd: Option<f64> as "As::<OrNone<Money>>" = None,
        /// The maximum number of agent calls in a run, including retries.
        @stricter pub calls: Option<u64> as "As::<OrNone<Whole>>" = None,
        /// The maximum number of demonstrations that a run executes on the reviewed tree. Those that fail there run again
        /// after the coder's edits.
        @stricter pub demonstrations: Option<u64> as "As::<OrNone<Whole>>" = Some(40),
        /// The maximum wall time of a run.
        @stricter pub duration: Duration as "As::<Time>" = Duration::from_secs(60 * 60),
    }
}

impl Budget {
    pub fn caps(&self) -> Caps {
        Caps {
            tokens: self.tokens,
            usd: self.usd,
            ci_usd: self.ci_usd,
            month_usd: self.month_usd,
            request_usd: self.request_usd,
            calls: self.calls,
        }
    }
}

section! {
    #[derive(Copy, Eq)]
    pub struct Limits {
        /// The maximum wall time of one call of an agent.
        @stricter pub call_timeout: Duration as "As::<Time>" = Duration::from_secs(30 * 60),
        /// The maximum time until the first output, for an agent that prints while it runs.
        @stricter pub first_output_timeout: Duration as "As::<Time>" = Duration::from_secs(120),
        /// The maximum time without output, for an agent that prints while it runs.
        @stricter pub idle_timeout: Duration as "As::<Time>" = Duration::from_secs(600),
        /// The maximum size of the recorded output of an agent.
        @stricter pub max_output_size: u64 as "As::<Size>" = 64 << 20,
        /// The maximum length of a line of output.
        @stricter pub max_line_size: u64 as "As::<Size>" = 8 << 20,
        /// The time after which Glee kills an agent that was asked to stop.
        @stricter pub kill_grace: Duration as "As::<Delay>" = Duration::from_secs(3),
        /// The maximum number of times that a call is retried after transient failures, by Glee or by the program itself.
        @stricter pub retries: u32 as "As::<Count<0, 10>>" = 3,
        /// The delay before the first retry. The delay doubles before each further retry.
        pub backoff: Duration as "As::<Time>" = Duration::from_secs(1),
    }
}

section! {
    #[derive(Eq)]
    pub struct NotifySettings {
        /// The minimum time between the last answer of a person and a notification. If no person has answered yet,
        /// the time counts from the start of the run.
        pub after: Option<Duration> as "As::<OrNone<Delay>>" = Some(Duration::from_secs(30)),
        /// How the terminal shows the notification.
        pub terminal: TerminalNotice = TerminalNotice::Auto,
        /// A command that gets the notification in environment variables and as JSON on standard input.
        pub command: Option<Vec<String>> as "As::<OrNone<Command>>" = None,
    }
}

section! {
    #[derive(Eq)]
    pub struct UiSettings {
        /// Whether Glee opens a pager for reports that are longer than the screen: `GLEE_PAGER`, else `PAGER`,
        /// else `less`.
        @user pub pager: PagerUse = PagerUse::Auto,
        /// The link address that a report uses for a location in the code. `auto` links to the file if the
        /// terminal supports links.
        @user pub hyperlink: Hyperlink as "As::<LinkFormat>" = Hyperlink::Auto,
    }
}

section! {
    #[derive(Copy, Eq)]
    pub struct PrSettings {
        /// Whether the check on a pull request can fail.
        @stricter pub mode: PrMode = PrMode::Warn,
        /// Whether the author of a change is allowed to rule on findings about this change.
        pub author_may_rule: bool = false,
        /// The maximum number of comment threads that a run starts on a pull request. The summary lists the
        /// findings that have no thread.
        pub max_comments: u32 as "As::<Count<0, 1_000>>" = 30,
        /// The findings that Glee posts as comments on the code. The summary lists the findings that have no
        /// comment.
        pub comment_on: CommentOn = CommentOn::All,
        /// Whether a reply without a command can be an objection.
        pub replies_object: bool = true,
        /// Whether a pull request that its author marked as a draft is reviewed.
        pub drafts: bool = true,
    }
}
