//! Reads one layer of the configuration from a file, the environment or the command line, and checks the settings.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::config::files::yaml::{self, YamlEntry, YamlNode, YamlPosition, YamlTree};
use crate::config::origin::{Origin, Owner};
use crate::config::schema::{self, SettingKey};
use crate::config::{error::ConfigError, schema::suggest::closest};

#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The normalised value.
    pub value: Value,
    pub origin: Origin,
}

impl Setting {
    pub(super) fn by_default(value: Value) -> Self {
        Self {
            value,
            origin: Origin::Default,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct GivenAgent {
    pub name: String,
    pub place: Origin,
    pub values: BTreeMap<&'static str, Setting>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    pub values: BTreeMap<&'static str, Setting>,
    pub agents: Vec<GivenAgent>,
}

/// Parses the text of a configuration file. If `name` is given, messages contain this file name and a position.
pub(crate) fn from_text(
    owner: Owner,
    name: Option<&str>,
    text: &str,
) -> Result<Layer, ConfigError> {
    let document = document(owner, name, text)?;
    let mut reader = Reader {
        place: &|at| place(owner, name, Some(at)),
        layer: Layer::default(),
    };
    reader.section("", &document)?;
    Ok(reader.layer)
}

/// Parses the text of a file with a profile.
pub(super) fn profile(owner: Owner, name: &str, text: &str) -> Result<Value, ConfigError> {
    let document = document(owner, Some(name), text)?;
    let key = schema::find_agent_key("profile").expect("`profile` is a key of agents");
    let reader = Reader {
        place: &|at| place(owner, Some(name), Some(at)),
        layer: Layer::default(),
    };
    reader.entries("profile", &document)?;
    Ok(reader.value(key, "profile", &document)?.value)
}

pub(super) fn document(
    owner: Owner,
    name: Option<&str>,
    text: &str,
) -> Result<YamlNode, ConfigError> {
    yaml::parse(text).map_err(|error| ConfigError::Syntax {
        place: place(owner, name, error.at),
        message: error.message,
    })
}

pub(super) fn place(owner: Owner, name: Option<&str>, at: Option<YamlPosition>) -> Origin {
    match name {
        Some(name) => Origin::File {
            owner,
            name: name.to_owned(),
            at,
        },
        None => Origin::Flag,
    }
}

/// Reads the settings in environment variables. Fails if a variable has a prefix such as `GLEE_REVIEW_` but
/// belongs to no key.
pub(crate) fn from_variables(variables: &[(String, String)]) -> Result<Layer, ConfigError> {
    const SECTIONS: [&str; 4] = [
        "GLEE_REVIEW_",
        "GLEE_BUDGET_",
        "GLEE_LIMITS_",
        "GLEE_AGENTS_",
    ];
    let keys = || schema::KEYS.iter().map(|key| key.name.as_str());
    let mut layer = Layer::default();
    for (name, text) in variables
        .iter()
        .filter(|(name, _)| name.starts_with("GLEE_"))
    {
        if let Some(key) = keys().find(|key| schema::variable(key) == *name) {
            let value = schema::find(key)
                .expect("each name is that of a key")
                .read(text);
            layer.set(key, &value, Origin::Variable(name.clone()))?;
        } else if SECTIONS.iter().any(|section| name.starts_with(section)) {
            let known: Vec<String> = keys().map(schema::variable).collect();
            let suggestion = closest(name, known.iter().map(String::as_str)).map(str::to_owned);
            return Err(ConfigError::UnknownVariable {
                name: name.clone(),
                suggestion,
            });
        }
    }
    Ok(layer)
}

pub(crate) fn from_flags(flags: &[(String, Value)]) -> Result<Layer, ConfigError> {
    let mut layer = Layer::default();
    flags
        .iter()
        .try_for_each(|(name, value)| layer.set(name, value, Origin::Flag))?;
    Ok(layer)
}

impl Layer {
    fn set(&mut self, name: &str, value: &Value, place: Origin) -> Result<(), ConfigError> {
        let key = schema::find(name).ok_or_else(|| unknown(place.clone(), name))?;
        let value = key
            .check(value)
            .map_err(|misfit| ConfigError::value(place.clone(), name, misfit))?;
        let origin = place;
        self.values.insert(&key.name, Setting { value, origin });
        Ok(())
    }
}

pub fn unknown(place: Origin, name: &str) -> ConfigError {
    let (section, last) = name.rsplit_once('.').unwrap_or(("", name));
    let siblings = schema::children(section);
    let suggestion = closest(last, siblings.iter().copied())
        .map(|child| schema::within(section, child))
        .or_else(|| {
            closest(name, schema::KEYS.iter().map(|key| key.name.as_str())).map(str::to_owned)
        })
        .or_else(|| {
            let middle = format!(".{last}.");
            schema::KEYS.iter().find_map(|key| {
                let whole = format!("{}.", key.name);
                whole
                    .find(&middle)
                    .map(|start| whole[..start + middle.len() - 1].to_owned())
            })
        });
    let known = siblings
        .into_iter()
        .map(|child| schema::within(section, child))
        .collect();
    ConfigError::UnknownKey {
        place,
        key: name.to_owned(),
        suggestion,
        known,
    }
}

struct Reader<'a> {
    place: &'a dyn Fn(YamlPosition) -> Origin,
    layer: Layer,
}

impl Reader<'_> {
    fn entries<'n>(&self, name: &str, node: &'n YamlNode) -> Result<&'n [YamlEntry], ConfigError> {
        let YamlTree::Map(entries) = &node.tree else {
            let known = schema::children(name)
                .into_iter()
                .map(str::to_owned)
                .collect();
            return Err(ConfigError::NotASection {
                place: (self.place)(node.at),
                key: name.to_owned(),
                known,
            });
        };
        Ok(entries)
    }

    fn section(&mut self, name: &str, node: &YamlNode) -> Result<(), ConfigError> {
        // A section is allowed to be empty, for example if all keys of the section are commented out.
        if node.tree == YamlTree::Scalar(Value::Null) {
            return Ok(());
        }
        for entry in self.entries(name, node)? {
            let full = schema::within(name, &entry.key);
            if entry.key.contains('.') {
                return Err(unknown((self.place)(entry.at), &full));
            }
            if full == "agents" {
                self.agents(&entry.value)?;
            } else if let Some(key) = schema::find(&full) {
                let given = self.value(key, &full, &entry.value)?;
                self.layer.values.insert(&key.name, given);
            } else if schema::children(&full).is_empty() {
                return Err(unknown((self.place)(entry.at), &full));
            } else {
                self.section(&full, &entry.value)?;
            }
        }
        Ok(())
    }

    fn value(&self, key: &SettingKey, full: &str, node: &YamlNode) -> Result<Setting, ConfigError> {
        let value = key.check(&node.json()).map_err(|misfit| {
            let at = misfit.item.map_or(node.at, |item| node.item(item));
            ConfigError::value((self.place)(at), full, misfit)
        })?;
        Ok(Setting {
            value,
            origin: (self.place)(node.at),
        })
    }

    fn agents(&mut self, node: &YamlNode) -> Result<(), ConfigError> {
        match &node.tree {
            YamlTree::Scalar(Value::Null) => Ok(()),
            YamlTree::List(agents) => agents
                .iter()
                .enumerate()
                .try_for_each(|(index, agent)| self.agent(index, agent)),
            YamlTree::Scalar(_) | YamlTree::Map(_) => Err(ConfigError::AgentsNotAList {
                place: (self.place)(node.at),
            }),
        }
    }

    fn agent(&mut self, index: usize, node: &YamlNode) -> Result<(), ConfigError> {
        let place = (self.place)(node.at);
        let path = format!("agents[{index}]");
        let mut values = BTreeMap::new();
        for YamlEntry { key, at, value } in self.entries(&path, node)? {
            let full = format!("{path}.{key}");
            let key =
                schema::find_agent_key(key).ok_or_else(|| unknown((self.place)(*at), &full))?;
            values.insert(key.name.as_str(), self.value(key, &full, value)?);
        }
        let Some(Value::String(name)) = values.remove("name").map(|given| given.value) else {
            return Err(ConfigError::NamelessAgent { place, path });
        };
        if self.layer.agents.iter().any(|other| other.name == name) {
            return Err(ConfigError::TwoAgents { place, name });
        }
        self.layer.agents.push(GivenAgent {
            name,
            place,
            values,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::json;

    use super::*;
    use crate::config::origin::Origin;
    use glee_model::domain::Advice as _;

    fn message(text: &str) -> String {
        let error = from_text(Owner::User, Some("c.yml"), text).unwrap_err();
        format!("{error} | {}", error.hint().unwrap_or_default())
    }

    #[test]
    fn reads_values_and_agents_with_their_places() {
        let text = "version: 1\nagents:\n  - name: a\n    command: claude -p\nreview:\n  rounds: 2\n  judge:\nbudget:\n";
        let layer = from_text(Owner::User, Some("c.yml"), text).unwrap();
        let at = |line, column| {
            let at = Some(YamlPosition { line, column });
            Origin::File {
                owner: Owner::User,
                name: "c.yml".to_owned(),
                at,
            }
        };
        assert_eq!(
            layer,
            Layer {
                values: BTreeMap::from([
                    (
                        "version",
                        Setting {
                            value: json!(1),
                            origin: at(1, 10)
                        }
                    ),
                    (
                        "review.rounds",
                        Setting {
                            value: json!(2),
                            origin: at(6, 11)
                        }
                    ),
                ]),
                agents: vec![GivenAgent {
                    name: "a".to_owned(),
                    place: at(3, 5),
                    values: BTreeMap::from([(
                        "command",
                        Setting {
                            value: json!(["claude", "-p"]),
                            origin: at(4, 14)
                        }
                    )]),
                }],
            }
        );
        assert_eq!(
            from_text(Owner::User, Some("c.yml"), "# nothing\n").unwrap(),
            Layer::default()
        );
        assert_eq!(
            from_text(Owner::User, Some("c.yml"), "agents:\n").unwrap(),
            Layer::default()
        );
    }

    #[test]
    fn errors_name_the_place_the_key_and_what_is_allowed() {
        for (text, expected) in [
            (
                "reviews:\n",
                "c.yml:1:1: unknown key `reviews` | did you mean `review`?",
            ),
            (
                "review:\n  on_disputes: {}\n",
                "c.yml:2:3: unknown key `review.on_disputes` | did you mean `review.on_dispute`?",
            ),
            (
                "rounds: 2\n",
                "c.yml:1:1: unknown key `rounds` | did you mean `review.rounds`?",
            ),
            (
                "review.rounds: 2\n",
                "c.yml:1:1: unknown key `review.rounds` | write `rounds` under `review`",
            ),
            (
                "xyz: 2\n",
                "c.yml:1:1: unknown key `xyz` | use one of the keys version, project, agents, review, rulings, \
                 advisories, sandbox, redaction, watch, budget, limits, notify, ui, pr, server",
            ),
            (
                "budget: {energy: null}\n",
                "c.yml:1:10: unknown key `budget.energy` | use one of the keys budget.tokens, budget.usd, \
                 budget.ci_usd, budget.month_usd, budget.request_usd, budget.calls, budget.demonstrations, \
                 budget.duration",
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
                "c.yml:1:9: `review` must be a mapping | use one of the keys opinions, issues, reviewers, rounds, \
                 recheck, reuse, quorum, fix, verify, demonstrations, runners, jobs, confirm_above, confirm_above_usd, max_file_size, skipped, older, \
                 max_shard_size, context, guidelines, language, compare, debate, consensus, on_dispute, judge",
            ),
            (
                "- a\n",
                "c.yml:1:1: the file must be a mapping | use one of the keys version, project, agents, review, \
                 rulings, advisories, sandbox, redaction, watch, budget, limits, notify, ui, pr, server",
            ),
            (
                "agents: {a: b}\n",
                "c.yml:1:9: `agents` must be a list of agents | connect an agent with `glee connect <agent> --role \
                 coder|reviewer|judge|aggregator`",
            ),
            (
                "agents: [a]\n",
                "c.yml:1:10: `agents[0]` must be a mapping | use one of the keys name, command, adapter, role, \
                 domain, focus, model, vendor, effort, env, timeout, backup, price, profile, reads",
            ),
            (
                "agents:\n  - rol: coder\n",
                "c.yml:2:5: unknown key `agents[0].rol` | did you mean `agents[0].role`?",
            ),
            (
                "agents:\n  - role: coder\n",
                "c.yml:2:5: the agent at `agents[0]` has no name | add `name: <name>`",
            ),
            (
                "agents:\n  - name: a\n    role: boss\n",
                "c.yml:3:11: `agents[0].role` cannot be `boss` | allowed: coder, reviewer, judge, aggregator",
            ),
            (
                "agents:\n  - name: a\n  - name: a\n",
                "c.yml:3:5: duplicate agent `a` | rename one of the agents",
            ),
            (
                "a: [1\n",
                "c.yml:1:4: not valid YAML: unclosed bracket '[' | ",
            ),
        ] {
            assert_eq!(message(text), expected, "{text}");
        }
    }

    #[test]
    fn variables_set_keys_and_misspelt_ones_are_errors() {
        let read = |name: &str, text: &str| {
            from_variables(&[(name.to_owned(), text.to_owned())])
                .map(|layer| {
                    layer
                        .values
                        .into_iter()
                        .map(|(key, given)| (key, given.value))
                        .collect::<Vec<_>>()
                })
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
        for other in [
            "GLEE_STATE_DIR",
            "GLEE_NONCE",
            "PATH",
            "GLEEFUL",
            "GLEE_VERSIONS",
        ] {
            assert_eq!(read(other, "x"), Ok(vec![]), "{other}");
        }
        assert_eq!(
            read("GLEE_REVIEW_ROUND", "2"),
            Err("unknown environment variable `GLEE_REVIEW_ROUND` | did you mean `GLEE_REVIEW_ROUNDS`?".to_owned())
        );
        assert_eq!(
            read("GLEE_LIMITS_CALL_TIMEOUT", "30"),
            Err("GLEE_LIMITS_CALL_TIMEOUT: `limits.call_timeout` cannot be `30` | allowed: a duration such as 90s, 10m or 1h30m"
                .to_owned())
        );
    }
}
