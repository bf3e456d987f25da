//! The profiles of agent programs: those that Glee ships, in `known.yml`, and those that a configuration gives inline or
//! as a file `profiles/NAME.yml` beside it.

use std::path::Path;
use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::config::files::yaml;
use crate::config::schema::suggest::closest;
use crate::config::schema::values::{InvalidValue, ValueForm};
use glee_model::domain::Profile;

/// The programs that users can name without arguments, because an adapter adds the arguments for each role.
pub const KNOWN_PROGRAMS: [&str; 6] = ["claude", "codex", "gemini", "opencode", "qwen", "copilot"];

static ALL: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let document = yaml::parse(include_str!("known.yml")).expect("the shipped profiles are YAML");
    serde_json::from_value(document.json())
        .expect("the shipped profiles have the form of a profile")
});

/// All programs that Glee knows: first those with an adapter of their own.
pub fn all() -> &'static [Profile] {
    &ALL
}

pub fn known(name: &str) -> Option<&'static Profile> {
    all().iter().find(|profile| profile.name == name)
}

/// The programs that Glee knows by their profile alone.
pub fn described() -> impl Iterator<Item = &'static Profile> + Clone {
    all()
        .iter()
        .filter(|profile| !KNOWN_PROGRAMS.contains(&profile.name.as_str()))
}

/// The shipped profile of the program that a command runs, if the program has no adapter of its own.
pub(crate) fn of_command(command: &[String]) -> Option<&'static Profile> {
    let stem = stem(command.first()?);
    described().find(|profile| profile.name == stem)
}

/// The profile as a configuration has it: the name of a shipped profile, or the whole profile.
pub fn written(profile: &Profile) -> Value {
    let is_name = *profile == Profile::named(&profile.name)
        || known(&profile.name).is_some_and(|known| known == profile);
    if is_name {
        json!(profile.name)
    } else {
        json!(profile)
    }
}

/// The name of a program without its folder.
pub(crate) fn stem(program: &str) -> &str {
    let name = Path::new(program)
        .file_name()
        .and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Accepts a profile, or the name of one: a file `profiles/NAME.yml`, or a shipped profile.
pub(crate) struct ProfileForm;

impl ValueForm for ProfileForm {
    type Value = Box<Profile>;

    fn allowed() -> String {
        let known: Vec<&str> = described().map(|profile| profile.name.as_str()).collect();
        format!(
            "a map with keys such as `args`, `pass` and `folders`, the name of a file `profiles/NAME.yml` beside the \
             configuration, or one of {}",
            known.join(", ")
        )
    }

    fn schema() -> Value {
        let map = profile_schema();
        json!({"anyOf": [{"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9._-]*$"}, map]})
    }

    fn read(given: &Value) -> Option<Box<Profile>> {
        match given {
            Value::String(name) => {
                let is_name = is_name(name) && !KNOWN_PROGRAMS.contains(&name.as_str());
                let profile = || known(name).cloned().unwrap_or_else(|| Profile::named(name));
                is_name.then(|| Box::new(profile()))
            }
            Value::Object(_) => {
                let profile = Profile::deserialize(given).ok()?;
                let is_right = problem(&profile).is_none() && profile.known.is_none();
                is_right.then(|| Box::new(profile))
            }
            _ => None,
        }
    }

    fn write(profile: &Box<Profile>) -> Value {
        written(profile)
    }

    fn misfit(given: &Value) -> InvalidValue {
        let misfit = InvalidValue::of(given, Self::allowed(), None);
        match given {
            Value::String(name) if KNOWN_PROGRAMS.contains(&name.as_str()) => InvalidValue {
                allowed: format!("no profile for `{name}`, which Glee calls through its adapter"),
                ..misfit
            },
            Value::Object(entries) => wrong_entry(entries).unwrap_or(misfit),
            _ => misfit,
        }
    }
}

fn is_name(text: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(is_first) && text.chars().all(|c| is_first(c) || c == '.' || c == '-')
}

/// What is wrong with a profile whose keys are all known.
fn problem(profile: &Profile) -> Option<String> {
    let all = [&profile.limits, &profile.refusals, &profile.trailer];
    let all = all.into_iter().flatten();
    let mut wrong = all.filter_map(|text| Some((text, regex::Regex::new(text).err()?)));
    match wrong.next() {
        Some((text, error)) => {
            let error = error.to_string();
            let reason = error.lines().next_back().unwrap_or_default();
            Some(format!(
                "`{text}` is no regular expression: {}",
                reason.trim_start_matches("error: ")
            ))
        }
        None => profile.problem(),
    }
}

/// The schema of a profile that a user writes, which rests on the user alone.
fn profile_schema() -> Value {
    // The schema stands inside another one, where its parts cannot be referred to by their places in it.
    let settings = SchemaSettings::draft2020_12().with(|form| form.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<Profile>();
    let mut schema = schema.to_value();
    for key in ["$schema", "title"] {
        schema.as_object_mut().map(|schema| schema.remove(key));
    }
    let keys = schema.pointer_mut("/properties");
    if let Some(keys) = keys.and_then(Value::as_object_mut) {
        keys.remove("known");
    }
    schema
}

/// Finds the first key of a profile that is unknown or has a wrong value.
fn wrong_entry(entries: &Map<String, Value>) -> Option<InvalidValue> {
    let schema = profile_schema();
    let keys = schema["properties"].as_object()?.keys();
    let keys: Vec<&str> = keys.map(String::as_str).collect();
    for (item, (key, value)) in entries.iter().enumerate() {
        let problem;
        let allowed;
        let mut suggestion = None;
        if !keys.contains(&key.as_str()) {
            problem = format!("has an unknown key `{key}`");
            allowed = keys.join(", ");
            suggestion = closest(key, keys.iter().copied()).map(str::to_owned);
        } else if let Err(error) = Profile::deserialize(&json!({ key: value })) {
            let form = &schema["properties"][key]["description"];
            problem = format!("has a wrong `{key}`: {error}");
            allowed = form.as_str().unwrap_or_default().replace('\n', " ");
        } else {
            continue;
        }
        return Some(InvalidValue {
            problem,
            allowed,
            suggestion,
            item: Some(item),
        });
    }
    let profile = Profile::deserialize(&Value::Object(entries.clone())).ok()?;
    let problem = problem(&profile)?;
    Some(InvalidValue {
        problem: format!("cannot be used: {problem}"),
        allowed: "a profile as docs/how-to/own-agent.md describes it".to_owned(),
        suggestion: None,
        item: None,
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use glee_model::domain::Known;

    #[test]
    fn every_shipped_profile_can_be_used() {
        for profile in all() {
            assert_eq!(problem(profile), None, "{}", profile.name);
            assert!(
                profile.known.is_some() && !profile.login.is_empty(),
                "{}",
                profile.name
            );
        }
        let first: Vec<&str> = all().iter().map(|profile| profile.name.as_str()).collect();
        assert_eq!(first[..KNOWN_PROGRAMS.len()], KNOWN_PROGRAMS);
        let tested = |name: &&str| known(name).unwrap().known == Some(Known::Tested);
        assert!(KNOWN_PROGRAMS.iter().all(tested));
    }

    #[test]
    fn a_wrong_profile_is_refused_with_what_is_allowed() {
        for (given, expected) in [
            (json!({"foldres": ["~/.x"]}), "has an unknown key `foldres`"),
            (json!({"known": "tested"}), "has an unknown key `known`"),
            (
                json!({"args": "-p"}),
                "has a wrong `args`: invalid type: string \"-p\", expected a sequence",
            ),
            (
                json!({"roles": {"boss": []}}),
                "has a wrong `roles`: unknown variant `boss`",
            ),
            (
                json!({"limits": ["(a"]}),
                "cannot be used: `(a` is no regular expression: unclosed group",
            ),
            (
                json!({"folders": ["x"]}),
                "cannot be used: `x` is neither an absolute path",
            ),
            (json!("claude"), "cannot be `claude`"),
            (json!("../x"), "cannot be `../x`"),
            (json!(3), "cannot be `3`"),
        ] {
            assert_eq!(ProfileForm::read(&given), None, "{given}");
            let problem = ProfileForm::misfit(&given).problem;
            assert!(problem.starts_with(expected), "{given}: {problem}");
        }
        let misfit = ProfileForm::misfit(&json!({"foldres": []}));
        assert_eq!(misfit.suggestion.as_deref(), Some("folders"));
        for given in [
            json!("mine"),
            json!({"args": ["-p", "{prompt}"], "pass": ["MINE_KEY"]}),
        ] {
            let profile = ProfileForm::read(&given).unwrap();
            assert_eq!(ProfileForm::write(&profile), given);
        }
    }
}
