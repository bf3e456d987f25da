//! One layer of the configuration: what a file, the environment or the command line sets, checked against the schema.
//!
//! A layer knows for each of its values where it was set; it knows nothing of other layers.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use super::load::ConfigError;
use super::reader::{self, Fault, Wrong};
use super::schema::{self, Key};
use super::settings::{Connected, Settings};
use super::suggest::closest;
use super::yaml::{self, Node, Position, Tree};

/// Where something was set, for messages: displayed, it ends in `: ` or is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a file, at a line and column where they are known.
    File {
        /// The file as it is named to the user.
        name: String,
        /// Line and column, from 1.
        at: Option<(u64, u64)>,
    },
    /// In an environment variable.
    Variable(String),
    /// On the command line.
    CommandLine,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { name, at: Some((line, column)) } => write!(f, "{name}:{line}:{column}: "),
            Self::File { name, at: None } => write!(f, "{name}: "),
            Self::Variable(name) => write!(f, "{name}: "),
            Self::CommandLine => Ok(()),
        }
    }
}

/// Which layer a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// The user's file.
    User(Place),
    /// The project's file.
    Project(Place),
    /// An environment variable.
    Variable(String),
    /// The command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.pad("default"),
            Self::User(Place::File { name, at }) | Self::Project(Place::File { name, at }) => match at {
                Some((line, _)) => f.pad(&format!("{name}:{line}")),
                None => f.pad(name),
            },
            Self::Variable(name) => f.pad(name),
            Self::User(_) | Self::Project(_) | Self::Flag => f.pad("command line"),
        }
    }
}

impl Origin {
    /// The layer's place among the layers, the lowest first.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::User(_) => 1,
            Self::Project(_) => 2,
            Self::Variable(_) => 3,
            Self::Flag => 4,
        }
    }

    /// The layer's one word: `default`, `user`, `project`, `variable` or `flag`.
    pub fn layer(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::User(_) => "user",
            Self::Project(_) => "project",
            Self::Variable(_) => "variable",
            Self::Flag => "flag",
        }
    }
}

/// A value with its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The value in the one form of its kind.
    pub value: Value,
    /// Who set it.
    pub origin: Origin,
}

/// A value that a layer sets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    pub(crate) value: Value,
    pub(crate) place: Place,
}

/// What a layer says about one agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GivenAgent {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) values: BTreeMap<&'static str, Given>,
}

/// What one layer sets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layer {
    pub(crate) values: BTreeMap<&'static str, Given>,
    pub(crate) agents: Vec<GivenAgent>,
}

/// Reads a file's text; `name` is what the file is called in messages, which name no place without it.
pub(crate) fn from_text(name: Option<&str>, text: &str) -> Result<Layer, ConfigError> {
    let place = |at: Option<Position>| match name {
        Some(name) => Place::File { name: name.to_owned(), at: at.map(|at| (at.line, at.column)) },
        None => Place::CommandLine,
    };
    let document = yaml::parse(text)
        .map_err(|error| ConfigError::Syntax { place: place(error.at), message: error.message })?;
    let typed: Settings = reader::read(&document).map_err(|fault| wrong(place(fault.at), fault))?;
    let mut layer = Layer { values: given(schema::keys(), &document, &json!(typed), &place), agents: Vec::new() };
    let agents = document.at("agents").map(|agents| &agents.tree);
    let Some(Tree::List(agents)) = agents else { return Ok(layer) };
    for node in agents {
        let typed: Connected = reader::read(node).map_err(|fault| wrong(place(fault.at), fault))?;
        let (name, place_of_agent) = (typed.name.0.clone(), place(node.at));
        if layer.agents.iter().any(|other| other.name == name) {
            return Err(ConfigError::TwoAgents { place: place_of_agent, name });
        }
        let mut values = given(schema::agent_keys(), node, &json!(typed), &place);
        values.remove("name");
        layer.agents.push(GivenAgent { name, place: place_of_agent, values });
    }
    Ok(layer)
}

/// The values that a document sets, out of its typed form.
fn given(
    keys: &'static [Key],
    document: &Node,
    typed: &Value,
    place: &dyn Fn(Option<Position>) -> Place,
) -> BTreeMap<&'static str, Given> {
    let given = |key: &'static Key| {
        let node = document.at(&key.name)?;
        Some((key.name.as_str(), Given { value: key.of(typed, &node.json()), place: place(node.at) }))
    };
    keys.iter().filter_map(given).collect()
}

/// Reads the variables that set a key. Variables of other names are Glee's own or nobody's business, unless they look
/// like a misspelt one.
pub(crate) fn from_variables(variables: &[(String, String)]) -> Result<Layer, ConfigError> {
    const SECTIONS: [&str; 4] = ["GLEE_REVIEW_", "GLEE_BUDGET_", "GLEE_LIMITS_", "GLEE_AGENTS_"];
    let known: Vec<(String, &Key)> = schema::keys().iter().map(|key| (key.variable(), key)).collect();
    let mut layer = Layer::default();
    for (name, text) in variables.iter().filter(|(name, _)| name.starts_with("GLEE_")) {
        let Some((_, key)) = known.iter().find(|(variable, _)| variable == name) else {
            if SECTIONS.iter().any(|section| name.starts_with(section)) {
                let suggestion = closest(name, known.iter().map(|(variable, _)| variable.as_str()));
                return Err(ConfigError::UnknownVariable {
                    name: name.clone(),
                    suggestion: suggestion.map(str::to_owned),
                });
            }
            continue;
        };
        layer.set(key, &key.read(text), Place::Variable(name.clone()))?;
    }
    Ok(layer)
}

/// Reads what the command line sets.
pub(crate) fn from_flags(flags: &[(String, Value)]) -> Result<Layer, ConfigError> {
    let mut layer = Layer::default();
    for (name, value) in flags {
        let key = schema::find(name).ok_or_else(|| unknown(Place::CommandLine, name))?;
        layer.set(key, value, Place::CommandLine)?;
    }
    Ok(layer)
}

impl Layer {
    fn set(&mut self, key: &'static Key, value: &Value, place: Place) -> Result<(), ConfigError> {
        let value = key.check(value).map_err(|fault| wrong(place.clone(), fault))?;
        self.values.insert(&key.name, Given { value, place });
        Ok(())
    }
}

/// The error for what a type did not take.
pub(crate) fn wrong(place: Place, fault: Fault) -> ConfigError {
    let key = fault.path;
    match fault.wrong {
        Wrong::Value(misfit) => ConfigError::Value { place, key, misfit: Box::new(misfit) },
        Wrong::UnknownKey => unknown(place, &key),
        Wrong::NotASection => {
            let known = schema::children(&key).into_iter().map(str::to_owned).collect();
            ConfigError::NotASection { place, key, known }
        }
        Wrong::NotAList => ConfigError::AgentsNotAList { place },
        Wrong::Missing => ConfigError::NamelessAgent { place, path: key },
        Wrong::Other(message) => ConfigError::Syntax { place, message },
    }
}

/// The error for a key that does not exist, with the key that was probably meant.
pub(crate) fn unknown(place: Place, name: &str) -> ConfigError {
    let (section, last) = name.rsplit_once('.').unwrap_or(("", name));
    let siblings = schema::children(section);
    let suggestion = closest(last, siblings.iter().copied())
        .map(|child| schema::within(section, child))
        .or_else(|| closest(name, schema::keys().iter().map(|key| key.name.as_str())).map(str::to_owned))
        // The right name in the wrong section.
        .or_else(|| {
            let middle = format!(".{last}.");
            schema::keys().iter().find_map(|key| {
                let whole = format!("{}.", key.name);
                whole.find(&middle).map(|start| whole[..start + middle.len() - 1].to_owned())
            })
        });
    let known = siblings.into_iter().map(|child| schema::within(section, child)).collect();
    ConfigError::UnknownKey { place, key: name.to_owned(), suggestion, known }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::json;

    use super::*;

    fn message(text: &str) -> String {
        let error = from_text(Some("c.yml"), text).unwrap_err();
        format!("{error} | {}", error.hint().unwrap_or_default())
    }

    #[test]
    fn reads_values_and_agents_with_their_places() {
        let text =
            "version: 1\nagents:\n  - name: a\n    command: claude -p\nreview:\n  rounds: 2\n  judge:\nbudget:\n";
        let layer = from_text(Some("c.yml"), text).unwrap();
        let at = |line, column| Place::File { name: "c.yml".to_owned(), at: Some((line, column)) };
        assert_eq!(
            layer,
            Layer {
                values: BTreeMap::from([
                    ("version", Given { value: json!(1), place: at(1, 10) }),
                    ("review.rounds", Given { value: json!(2), place: at(6, 11) }),
                ]),
                agents: vec![GivenAgent {
                    name: "a".to_owned(),
                    place: at(3, 5),
                    values: BTreeMap::from([(
                        "command",
                        Given { value: json!(["claude", "-p"]), place: at(4, 14) }
                    )]),
                }],
            }
        );
        assert_eq!(from_text(Some("c.yml"), "# nothing\n").unwrap(), Layer::default());
        assert_eq!(from_text(Some("c.yml"), "agents:\n").unwrap(), Layer::default());
    }

    #[test]
    fn errors_name_the_place_the_key_and_what_is_allowed() {
        for (text, expected) in [
            ("reviews:\n", "c.yml:1:1: unknown key `reviews` | did you mean `review`?"),
            (
                "review:\n  on_disputes: {}\n",
                "c.yml:2:3: unknown key `review.on_disputes` | did you mean `review.on_dispute`?",
            ),
            ("rounds: 2\n", "c.yml:1:1: unknown key `rounds` | did you mean `review.rounds`?"),
            ("review.rounds: 2\n", "c.yml:1:1: unknown key `review.rounds` | write `rounds` under `review`"),
            (
                "xyz: 2\n",
                "c.yml:1:1: unknown key `xyz` | known here: version, agents, review, advisories, sandbox, redaction, watch, budget, limits",
            ),
            (
                "budget: {energy: null}\n",
                "c.yml:1:10: unknown key `budget.energy` | known here: budget.tokens, budget.usd, budget.calls, budget.wall",
            ),
            (
                "review:\n  on_dispute:\n    default: judg\n",
                "c.yml:3:14: `review.on_dispute.default` cannot be `judg` | allowed: judge, human, discard; did you mean `judge`?",
            ),
            (
                "review:\n  issues:\n    mandatory: [HIGH, HIGHH]\n",
                "c.yml:3:23: `review.issues.mandatory` cannot be `HIGHH` | allowed: a list of severity tags such as [MUST, HIGH]; did you mean `HIGH`?",
            ),
            (
                "review: 3\n",
                "c.yml:1:9: `review` is made of keys, not a value | known here: opinions, issues, reviewers, rounds, recheck, quorum, verify, jobs, max_file, skipped, shard, debate, consensus, on_dispute, judge",
            ),
            (
                "- a\n",
                "c.yml:1:1: the file is made of keys, not a value | known here: version, agents, review, advisories, sandbox, redaction, watch, budget, limits",
            ),
            (
                "agents: {a: b}\n",
                "c.yml:1:9: `agents` is a list of agents | connect one with `glee connect <agent> --role coder|reviewer|judge|aggregator`",
            ),
            (
                "agents: [a]\n",
                "c.yml:1:10: `agents[0]` is made of keys, not a value | known here: name, command, adapter, role, domain, focus, model, effort, env, timeout, backup, price",
            ),
            (
                "agents:\n  - rol: coder\n",
                "c.yml:2:5: unknown key `agents[0].rol` | did you mean `agents[0].role`?",
            ),
            ("agents:\n  - role: coder\n", "c.yml:2:5: `agents[0]` has no name | give it one: `name: <name>`"),
            (
                "agents:\n  - name: a\n    role: boss\n",
                "c.yml:3:11: `agents[0].role` cannot be `boss` | allowed: coder, reviewer, judge, aggregator",
            ),
            (
                "agents:\n  - name: a\n  - name: a\n",
                "c.yml:3:5: there is another agent `a` | names are unique: rename one of them",
            ),
            ("a: [1\n", "c.yml:1:4: not valid YAML: unclosed bracket '[' | "),
        ] {
            assert_eq!(message(text), expected, "{text}");
        }
    }

    #[test]
    fn variables_set_keys_and_misspelt_ones_are_errors() {
        let read = |name: &str, text: &str| {
            from_variables(&[(name.to_owned(), text.to_owned())])
                .map(|layer| layer.values.into_iter().map(|(key, given)| (key, given.value)).collect::<Vec<_>>())
                .map_err(|error| format!("{error} | {}", error.hint().unwrap_or_default()))
        };
        assert_eq!(
            read("GLEE_REVIEW_ON_DISPUTE_DEFAULT", "human"),
            Ok(vec![("review.on_dispute.default", json!("human"))])
        );
        assert_eq!(
            read("GLEE_REVIEW_ISSUES_MANDATORY", "HIGH, MEDIUM"),
            Ok(vec![("review.issues.mandatory", json!(["HIGH", "MEDIUM"]))])
        );
        for other in ["GLEE_STATE_DIR", "GLEE_NONCE", "PATH", "GLEEFUL", "GLEE_VERSIONS"] {
            assert_eq!(read(other, "x"), Ok(vec![]), "{other}");
        }
        assert_eq!(
            read("GLEE_REVIEW_ROUND", "2"),
            Err("the variable `GLEE_REVIEW_ROUND` sets nothing | did you mean `GLEE_REVIEW_ROUNDS`?".to_owned())
        );
        assert_eq!(
            read("GLEE_LIMITS_TOTAL", "30"),
            Err("GLEE_LIMITS_TOTAL: `limits.total` cannot be `30` | allowed: a duration such as 90s, 10m or 1h30m"
                .to_owned())
        );
    }
}
