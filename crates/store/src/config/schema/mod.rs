//! Derives the keys of the configuration and the published JSON Schema from [`Settings`].

pub mod address;
pub mod forms;
pub mod suggest;
pub mod units;
pub mod values;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::value::Serializer;
use serde_json::{Map, Value, json};

use super::settings::{AgentForm, Settings};
use crate::config::{files::yaml, schema::values::InvalidValue};
use glee_model::domain::Role;

#[derive(Debug)]
pub struct SettingKey {
    /// The dotted name of a setting, such as `review.rounds`, or the plain name of an agent's key, such as `role`.
    pub name: String,
    /// The default value of the key. For a key of an agent, this field is `null`.
    pub default: Value,
    schema: Value,
    of_agent: bool,
}

pub const BUILTINS: [(&str, Role); 3] = [
    ("rules", Role::Reviewer),
    ("fixer", Role::Coder),
    ("referee", Role::Judge),
];

static SCHEMA: LazyLock<Value> = LazyLock::new(json_schema);

/// All keys except the keys of agents, in the order in which [`Settings`] declares them.
pub static KEYS: LazyLock<Vec<SettingKey>> =
    LazyLock::new(|| keys(&SCHEMA, "", &json!(Settings::default())));

/// The keys of an agent, in the order in which [`AgentForm`] declares them.
pub(crate) static AGENT_KEYS: LazyLock<Vec<SettingKey>> =
    LazyLock::new(|| keys(&SCHEMA["properties"]["agents"]["items"], "", &Value::Null));

fn keys(schema: &Value, section: &str, defaults: &Value) -> Vec<SettingKey> {
    let mut found = Vec::new();
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        let name = within(section, name);
        if schema["properties"].is_object() {
            found.extend(keys(schema, &name, defaults));
        } else if name != "agents" {
            let default = at(defaults, &name).cloned().unwrap_or_default();
            found.push(SettingKey {
                name,
                default,
                schema: schema.clone(),
                of_agent: defaults.is_null(),
            });
        }
    }
    found
}

/// Returns the environment variable of a key, for example `GLEE_REVIEW_MAX_FILE_SIZE` for `review.max_file_size`.
pub fn variable(key: &str) -> String {
    format!("GLEE_{}", key.replace('.', "_").to_uppercase())
}

impl SettingKey {
    /// Returns whether the key is marked with `@stricter`.
    pub fn is_guarded(&self) -> bool {
        self.schema["x-project"] == "stricter"
    }

    /// Returns whether the key is marked with `@own`.
    pub fn is_of_project(&self) -> bool {
        self.schema["x-project"] == "own"
    }

    /// Returns whether a project's file is forbidden to set the key.
    pub(crate) fn is_of_user(&self) -> bool {
        self.schema["x-project"] == "user"
    }

    /// What the setting means: one or more sentences, on one line.
    pub fn meaning(&self) -> String {
        let text = self.schema["description"].as_str().unwrap_or_default();
        text.replace('\n', " ")
    }

    pub fn words(&self) -> Vec<&str> {
        if self.schema["type"] == "boolean" {
            vec!["true", "false"]
        } else {
            words(&self.schema)
        }
    }

    /// Parses the text of an environment variable or a command-line argument, without checking the value.
    pub fn read(&self, text: &str) -> Value {
        let text = text.trim();
        let is = |kind| admits(&self.schema, kind);
        let is_flow = text.starts_with('[') && is("array") || text.starts_with('{') && is("object");
        if let Some(node) = is_flow.then(|| yaml::parse(text).ok()).flatten() {
            return node.json();
        }
        if text == "null" && self.words().contains(&"none") {
            return json!("none");
        }
        if is("boolean") || is("integer") || is("number") {
            return serde_json::from_str(text).unwrap_or_else(|_| json!(text));
        }
        if !is("array") || is_command(&self.schema) || self.words().contains(&text) {
            return json!(text);
        }
        if is_command(&self.schema["items"]) {
            return json!([text]);
        }
        text.split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(Value::from)
            .collect()
    }

    /// Checks and normalises a value. Durations and sizes keep the user's unit.
    pub fn check(&self, value: &Value) -> Result<Value, InvalidValue> {
        let words = self.words();
        let word = value
            .as_i64()
            .map(|number| number.to_string())
            .filter(|word| words.contains(&word.as_str()));
        let value = word.map_or_else(|| value.clone(), Value::from);
        let typed = if self.of_agent {
            let mut agent =
                json!({"name": "a", "command": "a", "adapter": "text", "role": "coder"});
            agent[&self.name] = value.clone();
            AgentForm::deserialize(agent).and_then(|agent| AgentForm::serialize(&agent, Serializer))
        } else {
            typed([(self.name.clone(), value.clone())]).map(|settings| json!(settings))
        };
        match typed.as_ref().map(|typed| at(typed, &self.name)) {
            Ok(Some(Value::String(_))) if value.is_string() => Ok(value),
            Ok(Some(typed)) if !typed.is_null() => Ok(typed.clone()),
            Ok(_) => Err(InvalidValue::word(&value, &words)),
            // The text of the error is an `InvalidValue` as JSON.
            Err(error) => Err(serde_json::from_str(&error.to_string())
                .unwrap_or_else(|_| InvalidValue::word(&value, &words))),
        }
    }
}

fn is_command(schema: &Value) -> bool {
    let forms = schema["anyOf"].as_array().into_iter().flatten();
    forms
        .chain([schema])
        .any(|form| form["format"] == "command")
}

fn admits(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(one) => one == kind,
        Value::Array(several) => several.iter().any(|one| one == kind),
        _ => schema["anyOf"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|one| admits(one, kind)),
    }
}

fn words(schema: &Value) -> Vec<&str> {
    let list = |name: &str| schema[name].as_array().into_iter().flatten();
    let own = list("enum")
        .chain(schema.get("const"))
        .filter_map(Value::as_str);
    own.chain(list("anyOf").chain(list("oneOf")).flat_map(words))
        .collect()
}

/// Finds a key by its name. Keys of agents, such as `role`, are not found.
pub fn find(name: &str) -> Option<&'static SettingKey> {
    KEYS.iter().find(|key| key.name == name)
}

pub(crate) fn find_agent_key(name: &str) -> Option<&'static SettingKey> {
    AGENT_KEYS.iter().find(|key| key.name == name)
}

/// Finds the key of a setting, such as `review.rounds` or `agents.<name>.role`.
pub fn of_setting(name: &str) -> Option<&'static SettingKey> {
    find(name).or_else(|| find_agent_key(split_agent(name)?.1))
}

/// Splits the name of an agent's setting, such as `agents.<name>.role`, into the name of the agent and the key.
pub fn split_agent(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("agents.")?.rsplit_once('.')
}

/// Returns the names of the keys at the top level of a section. An empty `section` means the whole document.
pub fn children(section: &str) -> Vec<&'static str> {
    let place = if section.starts_with("agents.") || section.starts_with("agents[") {
        &SCHEMA["properties"]["agents"]["items"]
    } else {
        section
            .split('.')
            .filter(|part| !part.is_empty())
            .fold(&*SCHEMA, |place, part| &place["properties"][part])
    };
    place["properties"]
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        .map(String::as_str)
        .collect()
}

pub fn within(section: &str, name: &str) -> String {
    if section.is_empty() {
        name.to_owned()
    } else {
        format!("{section}.{name}")
    }
}

pub fn at<'a>(document: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.')
        .try_fold(document, |value, part| value.get(part))
}

pub fn nested(values: impl IntoIterator<Item = (String, Value)>) -> Value {
    let mut document = json!({});
    for (key, value) in values {
        *key.split('.')
            .fold(&mut document, |place, part| &mut place[part]) = value;
    }
    document
}

/// Builds settings from dotted keys. Missing keys get their defaults.
pub fn typed(values: impl IntoIterator<Item = (String, Value)>) -> serde_json::Result<Settings> {
    serde_json::from_value(nested(values))
}

pub fn json_schema() -> Value {
    let mut schema = SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator()
        .into_root_schema_for::<Settings>()
        .to_value();
    finish(&mut schema);
    schema["title"] = json!("Glee's configuration: .glee/config.yml");
    schema["description"] = json!(
        "Every key has a default. A project's file can set a key marked `stricter` only to a stricter value."
    );
    schema["type"] = json!("object");
    schema
}

/// Permits empty sections in the schema, and removes the defaults of sections and agents.
fn finish(schema: &mut Value) {
    let of_agents = schema
        .get("items")
        .is_some_and(|items| items["properties"].is_object());
    let Some(keys) = schema.pointer_mut(if of_agents {
        "/items/properties"
    } else {
        "/properties"
    }) else {
        return;
    };
    for key in keys.as_object_mut().into_iter().flat_map(Map::values_mut) {
        finish(key);
        if of_agents {
            key.as_object_mut().map(|key| key.shift_remove("default"));
        }
    }
    if of_agents {
        schema["items"]["required"] = json!(["name"]);
    } else {
        schema["type"] = json!(["object", "null"]);
    }
    schema
        .as_object_mut()
        .map(|schema| schema.shift_remove("default"));
}

impl Settings {
    pub fn recorded(&self) -> BTreeMap<String, Value> {
        let document = json!(self);
        KEYS.iter()
            .map(|key| {
                (
                    key.name.clone(),
                    at(&document, &key.name).cloned().unwrap_or_default(),
                )
            })
            .collect()
    }

    /// Builds settings from recorded values. Missing keys get their defaults, and unknown keys are ignored.
    pub fn of_record(record: &BTreeMap<String, Value>) -> Self {
        typed(
            record
                .iter()
                .filter_map(|(name, value)| Some((find(name)?.name.clone(), value.clone()))),
        )
        .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn sections_know_their_children() {
        assert_eq!(
            children(""),
            [
                "version",
                "project",
                "agents",
                "review",
                "rulings",
                "advisories",
                "sandbox",
                "redaction",
                "watch",
                "budget",
                "limits",
                "notify",
                "ui",
                "pr",
                "server",
            ]
        );
        assert_eq!(children("review.on_dispute"), ["prompt_user", "default"]);
        assert_eq!(children("review.rounds"), Vec::<&str>::new());
        assert_eq!(children("rev"), Vec::<&str>::new());
    }

    #[test]
    fn the_published_schema_is_this_one() {
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(
                "../../docs/schema/config.json",
                format!("{:#}\n", json_schema()),
            )
            .unwrap();
        }
        let published: Value =
            serde_json::from_str(include_str!("../../../../../docs/schema/config.json")).unwrap();
        assert!(published == json_schema(), "run with UPDATE_SCHEMA=1");
    }

    #[test]
    fn the_schema_accepts_what_glee_accepts() {
        let schema = jsonschema::validator_for(&json_schema()).unwrap();
        let defaults = nested(
            KEYS.iter()
                .map(|key| (key.name.clone(), key.default.clone())),
        );
        assert!(schema.is_valid(&defaults));
        for (document, valid) in [
            (
                json!({"agents": [{"name": "a", "command": ["x", "y"], "role": "coder", "domain": "backend"}]}),
                true,
            ),
            (json!({"agents": [{"name": "a", "role": "boss"}]}), false),
            (json!({"agents": [{"role": "coder"}]}), false),
            (json!({"limits": {"call_timeout": "1h30m"}}), true),
            (json!({"limits": {"call_timeout": ""}}), false),
            (json!({"limits": {"call_timeout": 30}}), false),
            (json!({"review": null}), true),
            (json!({"reviews": {}}), false),
        ] {
            assert_eq!(schema.is_valid(&document), valid, "{document}");
        }
    }

    #[test]
    fn typed_text_is_read_by_its_key() {
        for (key, text, value) in [
            ("review.recheck", "true", json!(true)),
            ("review.recheck", "yes", json!("yes")),
            ("review.rounds", "3", json!(3)),
            ("review.quorum", "all", json!("all")),
            ("budget.duration", "90", json!("90")),
            (
                "review.issues.mandatory",
                "MUST, HIGH",
                json!(["MUST", "HIGH"]),
            ),
            (
                "review.issues.mandatory",
                "[MUST, HIGH]",
                json!(["MUST", "HIGH"]),
            ),
            ("review.issues.mandatory", "", json!([])),
            ("review.reviewers", "all", json!("all")),
            ("review.reviewers", "a", json!(["a"])),
            ("command", "sh -c x", json!("sh -c x")),
            ("notify.command", "tell a, b", json!("tell a, b")),
            ("notify.command", "[tell, 'a b']", json!(["tell", "a b"])),
            ("review.verify", "cargo test", json!(["cargo test"])),
            (
                "review.verify",
                "[cargo test, [make, x]]",
                json!(["cargo test", ["make", "x"]]),
            ),
            ("env", "{A: b}", json!({"A": "b"})),
        ] {
            assert_eq!(
                find(key)
                    .or_else(|| find_agent_key(key))
                    .unwrap()
                    .read(text),
                value,
                "{text}"
            );
        }
    }
}
