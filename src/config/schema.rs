//! Every key of the configuration, once: its kind, its default, and whether a project may loosen it.
//!
//! Reading, merging, `glee config`, the variables and the JSON Schema all follow these two tables. A key that nothing
//! implements is not in them, and so is an error in a file.

use serde_json::{Map, Value, json};

use super::kind::Kind;
use super::yaml::Node;
use crate::domain::Effort;

/// One key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Its dotted name; for an agent's key, the last part.
    pub(crate) name: &'static str,
    /// What its value may be.
    pub(crate) kind: Kind,
    /// Its default, as one would type it; agents' keys have none.
    pub(crate) default: Option<&'static str>,
    /// How far a project's file may change it.
    pub(crate) guard: Guard,
    /// What it is about, in a few words.
    pub(crate) about: &'static str,
}

/// How far a project's file may change a value (design 3.8: stricter, never looser).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Freely.
    Open,
    /// Only downwards.
    Smaller,
    /// Only to `true`.
    StaysOn,
    /// Only to a word that stands later in the list.
    Later(&'static [&'static str]),
}

/// The adapters that exist: three protocols, the embedded agents, kept calls, and the programs Glee knows.
pub(crate) const ADAPTERS: [&str; 11] =
    ["text", "json", "builtin", "replay", "claude", "codex", "gemini", "opencode", "qwen", "copilot", "acp"];

/// The programs whose adapter supplies the arguments for every role, so that their bare name is a whole command.
pub const KNOWN_PROGRAMS: [&str; 6] = ["claude", "codex", "gemini", "opencode", "qwen", "copilot"];

/// The embedded agents and the one role each has.
pub const BUILTINS: [(&str, crate::domain::Role); 3] = [
    ("rules", crate::domain::Role::Reviewer),
    ("fixer", crate::domain::Role::Coder),
    ("referee", crate::domain::Role::Judge),
];

/// What becomes of files that could not be reviewed, the strictest last.
const SKIPPED: &[&str] = &["note", "fail"];

/// How much Glee insists on the sandbox, from the loosest to the strictest.
pub(crate) const SANDBOX: &[&str] = &["off", "auto", "required"];

/// The words of the four roles.
pub(crate) const ROLES: [&str; 4] = ["coder", "reviewer", "judge", "aggregator"];

/// The keys outside `agents`, in the order in which they are listed.
pub(crate) const KEYS: &[Key] = &[
    key("version", Kind::Version, "1", "the form of this file"),
    key("review.opinions.mandatory", Kind::Tags, "[MUST]", "opinions that must be implemented"),
    key("review.opinions.optional", Kind::Tags, "[SHOULD]", "opinions a coder may discard"),
    key("review.issues.mandatory", Kind::Tags, "[HIGH]", "issues that must be fixed"),
    key("review.issues.optional", Kind::Tags, "[MEDIUM, LOW]", "issues a coder may discard"),
    key("review.reviewers", Kind::Reviewers, "all", "which connected reviewers are asked"),
    key("review.rounds", Kind::Count(100), "1", "review, fix, review again: at most this often"),
    key("review.recheck", Kind::Switch, "true", "who raised a finding sees the fix and says resolved or not"),
    key("review.quorum", Kind::AllOrCount, "all", "reviewers that must have answered completely for exit 0"),
    key("review.verify", Kind::Commands, "[]", "commands that must pass after the coder's edits"),
    key("review.jobs", Kind::AllOrCount, "all", "agents at work at the same time"),
    key(
        "review.max_file",
        Kind::Size,
        "1MiB",
        "of a larger file only what changed is reviewed; else it is skipped",
    ),
    guarded(
        "review.skipped",
        Kind::OneOf(SKIPPED),
        "note",
        Guard::Later(SKIPPED),
        "files that could not be reviewed are listed; fail: the run ends 4",
    ),
    key("review.shard", Kind::Size, "128KiB", "code that one call of a reviewer covers at most"),
    key(
        "review.debate",
        Kind::OneOf(&["off", "auto", "2", "3"]),
        "off",
        "reviewers examine each other's findings: rounds, the review being the first",
    ),
    key(
        "review.consensus.policy",
        Kind::OneOf(&["panel", "specification"]),
        "panel",
        "how findings of several reviewers become one answer",
    ),
    key(
        "review.consensus.validate",
        Kind::OneOf(&["off", "judge"]),
        "off",
        "judge: it decides mandatory findings that one reviewer alone raised, before the coder sees them",
    ),
    key("review.on_dispute.prompt_user", Kind::Switch, "true", "show the selection on a terminal"),
    key(
        "review.on_dispute.default",
        Kind::OneOf(&["judge", "human", "discard"]),
        "judge",
        "preselected, and taken where nobody can be asked",
    ),
    key(
        "review.judge.panel",
        Kind::Words,
        "[]",
        "three judges who vote on every dispute; none: the first judge rules",
    ),
    key("review.judge.escalate_to", Kind::OneOf(&["human", "discard"]), "human", "when the judge is uncertain"),
    guarded(
        "review.judge.require_evidence",
        Kind::Switch,
        "true",
        Guard::StaysOn,
        "a DISMISS must cite the reviewed code",
    ),
    key(
        "advisories.path",
        Kind::Words,
        "[]",
        "folders or zip archives of OSV advisories, for findings that name a package",
    ),
    key(
        "advisories.url",
        Kind::Url,
        "none",
        "an API like https://api.osv.dev that is asked too; it is told the packages that findings name",
    ),
    guarded(
        "sandbox",
        Kind::OneOf(SANDBOX),
        "auto",
        Guard::Later(SANDBOX),
        "hold reviewers and judges back from writing; required: never ask one that is not held",
    ),
    guarded(
        "redaction.secrets",
        Kind::Switch,
        "true",
        Guard::StaysOn,
        "secrets become placeholders in prompts, history, transcripts and reports",
    ),
    guarded(
        "redaction.block_private_keys",
        Kind::Switch,
        "true",
        Guard::StaysOn,
        "code with a private key is shown to no agent",
    ),
    key("watch.agents", Kind::Words, "[]", "connected agents that `glee watch` starts and reads events from"),
    key("watch.reviewers", Kind::Words, "[]", "who reviews in a watch; none: every connected reviewer"),
    key("watch.settle", Kind::TimeOrNone, "2s", "from the first event of a burst to the review"),
    key("watch.fallback", Kind::Time, "15m", "a review after so long without any event from any agent"),
    key(
        "watch.pause",
        Kind::OneOf(&["signal", "message", "none"]),
        "signal",
        "how agents that the watch started are paused: stopped as a group, told on stdin, or not",
    ),
    key("watch.clarify", Kind::Time, "5m", "how long answers to a clarification are awaited"),
    key(
        "watch.focus_areas",
        Kind::Words,
        "[Security vulnerabilities, Spec compliance, Integration correctness]",
        "what reviewers look at in a watch",
    ),
    key("watch.max_words", Kind::Count(10_000), "200", "how long the summary of a review may be"),
    key(
        "watch.arbitrate",
        Kind::Switch,
        "false",
        "the judge rules on what a clarification did not settle, as in a review",
    ),
    key("watch.notify", Kind::Commands, "[]", "commands that are run on STOP & ESCALATE"),
    guarded("budget.tokens", Kind::Cap, "none", Guard::Smaller, "tokens read and written in a whole run"),
    guarded("budget.usd", Kind::Money, "none", Guard::Smaller, "US dollars of a whole run, where they are known"),
    guarded("budget.calls", Kind::Cap, "none", Guard::Smaller, "calls of agents in a whole run, retries counted"),
    guarded("budget.wall", Kind::Time, "60m", Guard::Smaller, "wall time of a whole run"),
    guarded("limits.total", Kind::Time, "30m", Guard::Smaller, "wall time of one call of an agent"),
    guarded(
        "limits.first_output",
        Kind::Time,
        "120s",
        Guard::Smaller,
        "until the first output, where it is streamed",
    ),
    guarded(
        "limits.idle",
        Kind::Time,
        "600s",
        Guard::Smaller,
        "between two pieces of output, where it is streamed",
    ),
    guarded("limits.output", Kind::Size, "64MiB", Guard::Smaller, "output of an agent that is kept"),
    guarded("limits.line", Kind::Size, "8MiB", Guard::Smaller, "the longest line that is read"),
    guarded(
        "limits.grace",
        Kind::TimeOrNone,
        "3s",
        Guard::Smaller,
        "between asking an agent to stop and killing it",
    ),
    guarded(
        "limits.retries",
        Kind::UpTo(10),
        "3",
        Guard::Smaller,
        "how often a call is tried again after a failure that passes",
    ),
    key("limits.backoff", Kind::Time, "2s", "before the first of these tries; each later one waits twice as long"),
];

/// The keys of one agent, in the order in which they are written.
pub(crate) const AGENT_KEYS: &[Key] = &[
    agent_key("name", Kind::Name, "its unique name"),
    agent_key("command", Kind::Command, "a known program, builtin:rules|fixer|referee, or a command"),
    agent_key("adapter", Kind::OneOf(&ADAPTERS), "how it is spoken to; guessed from the command"),
    agent_key("role", Kind::OneOf(&ROLES), "the one role it has"),
    agent_key("domain", Kind::Words, "code a coder is for: path globs, languages, path components"),
    agent_key("focus", Kind::Words, "what a reviewer looks for"),
    agent_key("model", Kind::Model, "the model to ask for"),
    agent_key(
        "effort",
        Kind::OneOf(&Effort::WORDS),
        "how hard its model is to think, where its program can be told",
    ),
    agent_key("env", Kind::Variables, "environment variables set for it"),
    agent_key("timeout", Kind::Time, "its own bound on one call's wall time"),
    agent_key("backup", Kind::Name, "who answers in its place when it is over its limits or missing"),
    agent_key("price", Kind::Price, "what its tokens cost, where its program does not say it"),
];

const fn key(name: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Key {
    guarded(name, kind, default, Guard::Open, about)
}

const fn guarded(name: &'static str, kind: Kind, default: &'static str, guard: Guard, about: &'static str) -> Key {
    Key { name, kind, default: Some(default), guard, about }
}

const fn agent_key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, default: None, guard: Guard::Open, about }
}

impl Key {
    /// The default in its one form.
    ///
    /// # Panics
    /// For a key of an agent, which has none.
    pub(crate) fn default_value(&self) -> Value {
        let text = self.default.expect("only agents' keys have no default");
        self.kind.check(&Node::from(&self.kind.read(text))).expect("the table's defaults fit their kinds")
    }

    /// The variable that sets it: `review.max_file` is `GLEE_REVIEW_MAX_FILE`.
    pub(crate) fn variable(&self) -> String {
        format!("GLEE_{}", self.name.replace('.', "_").to_uppercase())
    }
}

/// The key of this dotted name, outside `agents`.
pub(crate) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The key of an agent.
pub(crate) fn find_agent_key(name: &str) -> Option<&'static Key> {
    AGENT_KEYS.iter().find(|key| key.name == name)
}

/// The names directly under a section; the empty name is the whole document.
pub(crate) fn children(section: &str) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for key in KEYS {
        let rest = if section.is_empty() {
            Some(key.name)
        } else {
            key.name.strip_prefix(section).and_then(|rest| rest.strip_prefix('.'))
        };
        let Some(name) = rest.map(|rest| rest.split('.').next().unwrap_or(rest)) else { continue };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if section.is_empty() {
        names.insert(1, "agents");
    }
    names
}

/// The JSON Schema of a configuration file.
pub fn json_schema() -> Value {
    let mut properties = section("");
    let agent: Map<String, Value> =
        AGENT_KEYS.iter().map(|key| (key.name.to_owned(), described(key, key.kind.schema()))).collect();
    properties.insert(
        "agents".to_owned(),
        json!({
            "description": "the connected agents; the user's file and the project's are merged by name",
            "type": "array",
            "items": {"type": "object", "properties": agent, "required": ["name"], "additionalProperties": false},
        }),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Glee's configuration: .glee/config.yml",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn section(name: &str) -> Map<String, Value> {
    let mut properties = Map::new();
    for child in children(name) {
        let full = if name.is_empty() { child.to_owned() } else { format!("{name}.{child}") };
        let schema = match find(&full) {
            Some(key) => {
                let mut schema = described(key, key.kind.schema());
                schema["default"] = key.default_value();
                schema
            }
            None => {
                json!({"type": ["object", "null"], "properties": section(&full), "additionalProperties": false})
            }
        };
        properties.insert(child.to_owned(), schema);
    }
    properties
}

fn described(key: &Key, mut schema: Value) -> Value {
    schema["description"] = json!(key.about);
    schema
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::domain::{Role, Route};

    #[test]
    fn the_words_are_those_of_the_domain() {
        assert_eq!(ROLES, Role::ALL.map(Role::as_str));
        let Some(Kind::OneOf(routes)) = find("review.on_dispute.default").map(|key| key.kind) else {
            panic!("a choice of words")
        };
        assert_eq!(routes, Route::ALL.map(Route::as_str));
        assert!(KNOWN_PROGRAMS.iter().all(|program| ADAPTERS.contains(program)));
    }

    #[test]
    fn sections_know_their_children() {
        assert_eq!(
            children(""),
            ["version", "agents", "review", "advisories", "sandbox", "redaction", "watch", "budget", "limits"]
        );
        assert_eq!(children("review.on_dispute"), ["prompt_user", "default"]);
        assert_eq!(children("review.rounds"), Vec::<&str>::new());
        assert_eq!(children("rev"), Vec::<&str>::new());
    }

    #[test]
    fn the_published_schema_is_this_one() {
        let published: Value = serde_json::from_str(include_str!("../../docs/schema/config.json")).unwrap();
        assert!(published == json_schema(), "run `glee config schema > docs/schema/config.json`");
    }

    #[test]
    fn the_schema_accepts_what_glee_accepts() {
        let schema = jsonschema::validator_for(&json_schema()).unwrap();
        let defaults: Map<String, Value> = KEYS.iter().fold(Map::new(), |mut document, key| {
            let mut place = &mut document;
            let (path, last) = key.name.rsplit_once('.').unwrap_or(("", key.name));
            for part in path.split('.').filter(|part| !part.is_empty()) {
                place = place.entry(part).or_insert_with(|| json!({})).as_object_mut().unwrap();
            }
            place.insert(last.to_owned(), key.default_value());
            document
        });
        assert!(schema.is_valid(&Value::Object(defaults)));
        for (document, valid) in [
            (json!({"agents": [{"name": "a", "command": ["x", "y"], "role": "coder", "domain": "backend"}]}), true),
            (json!({"agents": [{"name": "a", "role": "boss"}]}), false),
            (json!({"agents": [{"role": "coder"}]}), false),
            (json!({"limits": {"total": "1h30m"}}), true),
            (json!({"limits": {"total": ""}}), false),
            (json!({"limits": {"total": 30}}), false),
            (json!({"review": null}), true),
            (json!({"reviews": {}}), false),
        ] {
            assert_eq!(schema.is_valid(&document), valid, "{document}");
        }
    }
}
