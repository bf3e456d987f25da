//! Implements [`ValueForm`] for each kind of text, number or list that a key accepts.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize as _;
use serde_json::{Value, json};

use super::suggest::closest;
use super::units;
use crate::config::settings::Runner;

use super::values::{
    ADAPTERS, GuidelineChoice, Hyperlink, InvalidValue, ReuseMode, ReviewerChoice, ValueForm, words,
};
use glee_model::domain::{AgentName, Price as Dollars, Tag, is_inside};
use glee_model::rules::review::mandatory;

/// Declares a type that implements [`ValueForm`]. The macro has four parameters: the type of the values, the
/// text for [`ValueForm::allowed`], the JSON Schema, and the parser.
macro_rules! form {
    ($(#[$doc:meta])* $name:ident: $value:ty = $allowed:expr, $schema:tt, $read:expr $(; $($more:item)*)?) => {
        $(#[$doc])*
        pub(crate) struct $name;

        impl ValueForm for $name {
            type Value = $value;

            fn allowed() -> String {
                $allowed.into()
            }

            fn schema() -> Value {
                json!($schema)
            }

            fn read(given: &Value) -> Option<$value> {
                let read: fn(&Value) -> Option<$value> = $read;
                read(given)
            }

            $($($more)*)?
        }
    };
}

form! {
    Whole: u64 = "a whole number from 1",
    {"type": "integer", "minimum": 1},
    |given| given.as_u64().filter(|count| *count > 0)
}

form! {
    Money: f64 = "dollars such as 2.50",
    {"type": "number", "exclusiveMinimum": 0},
    |given| given.as_f64().filter(|dollars| *dollars > 0.0 && dollars.is_finite())
}

form! {
    ReuseForm: ReuseMode = "true, false or strict",
    {"enum": [true, false, "strict"]},
    |given| match given {
        Value::Bool(true) => Some(ReuseMode::On),
        Value::Bool(false) => Some(ReuseMode::Off),
        // A value from the command line is a text.
        Value::String(word) => match word.as_str() {
            "true" => Some(ReuseMode::On),
            "false" => Some(ReuseMode::Off),
            "strict" => Some(ReuseMode::Strict),
            _ => None,
        },
        _ => None,
    };

    const WORDS: &'static [&'static str] = &["true", "false", "strict"];
}

form! {
    /// Accepts an HTTP address that contains no user, query or fragment.
    Url: String = "an address such as https://api.osv.dev",
    {"type": "string", "pattern": "^https?://[^\\s/?#@]+[^\\s?#]*$"},
    |given| {
        let text = given.as_str()?;
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
        let host = rest.split('/').next().unwrap_or_default();
        let is_plain = !rest.contains(|c: char| c.is_whitespace() || c.is_control() || "?#".contains(c));
        (!host.is_empty() && !host.contains('@') && is_plain).then(|| text.to_owned())
    }
}

form! {
    Database: String = "an address such as postgres://user@host/database",
    {"type": "string", "pattern": "^postgres(ql)?://\\S+$"},
    |given| {
        let text = given.as_str()?;
        let rest = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"))?;
        (!rest.is_empty() && !rest.contains(char::is_whitespace)).then(|| text.to_owned())
    }
}

form! {
    Age: Duration = "an age such as 90d or 12h",
    {"type": "string", "pattern": "^([0-9]+d|([0-9]+(h|m|s|ms))+)$"},
    |given| units::age(given.as_str()?);

    fn write(value: &Duration) -> Value {
        json!(units::age_text(*value))
    }

    fn suggestion(given: &Value) -> Option<String> {
        given.is_number().then(|| format!("{given}d"))
    }
}

form! {
    Size: u64 = "a size such as 512KiB or 64MiB",
    {"type": "string", "pattern": "^[0-9]+ *(B|[kK]B|MB|GB|KiB|MiB|GiB)$"},
    |given| units::size(given.as_str()?).filter(|bytes| *bytes > 0);

    fn write(value: &u64) -> Value {
        json!(units::size_text(*value))
    }

    fn suggestion(given: &Value) -> Option<String> {
        given.is_number().then(|| format!("{given}B"))
    }
}

const LONGEST_NAME: usize = 64;

form! {
    /// Accepts agent names that are safe in keys, file names and terminals.
    Name: AgentName =
        format!("up to {LONGEST_NAME} letters, digits, `.`, `_` and `-`, beginning with a letter or digit"),
    {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"},
    |given| {
        let text = given.as_str()?;
        let is_name = text.len() <= LONGEST_NAME
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
        is_name.then(|| text.into())
    }
}

form! {
    /// Accepts project ids that are safe in file names.
    Id: String = format!("4 to {LONGEST_NAME} letters, digits, `.`, `_` and `-`, beginning with a letter or digit"),
    {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{3,63}$"},
    |given| Name::read(given).map(|name| name.0).filter(|id| id.len() >= 4)
}

form! {
    Reviewers: ReviewerChoice = "all, first, or a list of agents' names",
    {"anyOf": [{"enum": ["all", "first"]}, {"type": "array", "items": (Name::schema()), "minItems": 1}]},
    |given| match given {
        Value::String(word) if word == "all" => Some(ReviewerChoice::All),
        Value::String(word) if word == "first" => Some(ReviewerChoice::First),
        Value::Array(names) if !names.is_empty() => list(given, Self::item).map(ReviewerChoice::Named),
        _ => None,
    };

    const WORDS: &'static [&'static str] = &["all", "first"];

    fn item(item: &Value) -> bool {
        Name::read(item).is_some()
    }
}

form! {
    Guidelines: GuidelineChoice = "auto, off, or a list of paths in the project such as [docs/style.md]",
    {"anyOf": [{"enum": ["auto", "off"]}, {"type": "array", "items": {"type": "string", "pattern": "^[^/]"}, "minItems": 1}]},
    |given| match given {
        Value::String(word) if word == "auto" => Some(GuidelineChoice::Auto),
        Value::String(word) if word == "off" => Some(GuidelineChoice::Off),
        Value::Array(paths) if !paths.is_empty() => list(given, Self::item).map(GuidelineChoice::Files),
        _ => None,
    };

    const WORDS: &'static [&'static str] = &["auto", "off"];

    fn item(item: &Value) -> bool {
        item.as_str().is_some_and(|path| is_line(path) && is_inside(path))
    }
}

form! {
    /// Accepts the name of a language, which a prompt contains as it is.
    Language: String = "the name of a language, such as German",
    {"type": "string", "pattern": r"^\p{L}[\p{L} ()-]{0,39}$"},
    |given| {
        let text = given.as_str()?;
        let is_name = text.starts_with(char::is_alphabetic)
            && text.chars().count() <= 40
            && text.chars().all(|c| c.is_alphabetic() || " ()-".contains(c));
        is_name.then(|| text.to_owned())
    }
}

form! {
    Tags: Vec<String> = "a list of severity tags such as [MUST, HIGH]",
    {"type": ["string", "array"], "minLength": 1, "items": {"type": "string", "minLength": 1}},
    |given| match given {
        Value::String(tag) => Self::item(given).then(|| vec![tag.clone()]),
        _ => list(given, Self::item),
    };

    /// Accepts every word that is possibly a severity tag of another vendor. Refuses a likely misspelling of a
    /// standard tag. If Glee accepted the misspelling, the standard tag would be missing in the list, and findings
    /// with the standard tag would become optional.
    fn item(item: &Value) -> bool {
        item.as_str().is_some_and(|text| {
            let word = is_line(text)
                && text.chars().count() <= 20
                && !text.contains(|c: char| c.is_whitespace() || "[]".contains(c));
            word && (mandatory::normalise(text).is_some() || closest(text, Tag::ALL.map(Tag::as_str)).is_none())
        })
    }

    fn suggestion(given: &Value) -> Option<String> {
        closest(given.as_str()?, Tag::ALL.map(Tag::as_str)).map(str::to_owned)
    }
}

form! {
    Words: Vec<String> = "a list of words such as [backend, rust]",
    {"type": ["string", "array"], "minLength": 1, "items": {"type": "string", "minLength": 1}},
    |given| match given {
        Value::String(word) => is_line(word).then(|| vec![word.clone()]),
        _ => list(given, Self::item),
    };

    fn item(item: &Value) -> bool {
        item.as_str().is_some_and(is_line)
    }
}

form! {
    /// Accepts the name of a model. The name becomes a command-line argument, so the name must not look like an
    /// option.
    Model: String = "the name of a model, which does not begin with `-`",
    {"type": "string", "pattern": "^[^-]"},
    |given| {
        let text = given.as_str()?;
        let is_word = is_line(text) && !text.contains(char::is_whitespace);
        (text.len() <= LONGEST_NAME && is_word && !text.starts_with('-')).then(|| text.to_owned())
    }
}

form! {
    Vendor: String = "the name of a vendor, such as `anthropic`",
    {"type": "string", "pattern": r"^\S+$"},
    |given| {
        let text = given.as_str()?;
        let is_word = is_line(text) && !text.contains(char::is_whitespace);
        (text.len() <= LONGEST_NAME && is_word).then(|| text.to_owned())
    }
}

form! {
    Adapter: String = ADAPTERS.join(", "),
    {"type": "string", "enum": ADAPTERS},
    |given| given.as_str().filter(|word| ADAPTERS.contains(word)).map(str::to_owned);

    const WORDS: &'static [&'static str] = &ADAPTERS;
}

form! {
    Price: Dollars = "dollars for a million tokens of input, cached input and output such as 1.25/0.125/10",
    {"type": "string", "pattern": "^[0-9.]+/[0-9.]+/[0-9.]+$"},
    |given| Dollars::parse(given.as_str()?);

    fn write(value: &Dollars) -> Value {
        json!(format!("{}/{}/{}", value.input, value.cached, value.output))
    }
}

form! {
    /// Accepts a program with its arguments, either as a list of words or as text in shell syntax.
    Command: Vec<String> = "a program with its arguments, as text or as a list of words",
    {"type": ["string", "array"], "format": "command", "minLength": 1, "items": {"type": "string"}, "minItems": 1},
    |given| {
        let words = match given {
            Value::String(text) => shlex::split(text)?,
            _ => list(given, Self::item)?,
        };
        let is_named = words.first().is_some_and(|program| !program.trim().is_empty());
        (is_named && !words.iter().any(|word| word.contains('\0'))).then_some(words)
    };

    fn item(item: &Value) -> bool {
        item.is_string()
    }

    fn problem(wrong: &Value) -> Option<String> {
        let text = wrong.as_str().filter(|text| shlex::split(text).is_none())?;
        Some(format!("has an open quote in `{text}`"))
    }
}

form! {
    Commands: Vec<Vec<String>> = "a list of commands such as [cargo test, make lint]",
    {"type": "array", "items": (Command::schema())},
    |given| given.as_array()?.iter().map(Command::read).collect();

    fn item(item: &Value) -> bool {
        Command::read(item).is_some()
    }

    fn problem(wrong: &Value) -> Option<String> {
        Command::problem(wrong)
    }
}

form! {
    /// Accepts the programs that run demonstrations, by name. A command that names no file could not run one.
    Runners: BTreeMap<String, Runner> =
        format!(
            "a map of runners such as {{pytest: {{command: pytest, folder: tests}}}}; a command is one of {}, or has \
             `{{files}}` or `{{name}}` for the file",
            Runner::KNOWN.map(|(name, _)| name).join(", ")
        ),
    {"type": "object", "additionalProperties": {
        "type": "object",
        "properties": {"command": (Command::schema()), "folder": {"type": "string", "pattern": "^[^/]"}},
        "required": ["command", "folder"],
        "additionalProperties": false
    }},
    |given| given.as_object()?.iter().map(|(name, given)| Some((Name::read(&json!(name))?.0, runner(given)?))).collect();

    fn misfit(given: &Value) -> InvalidValue {
        let misfit = InvalidValue::of(given, Self::allowed(), None);
        let mut entries = given.as_object().into_iter().flatten().enumerate();
        match entries.find(|(_, (name, given))| Name::read(&json!(name)).is_none() || runner(given).is_none()) {
            Some((item, (name, _))) => InvalidValue {
                problem: format!("cannot have this runner `{name}`"),
                item: Some(item),
                ..misfit
            },
            None => misfit,
        }
    }
}

fn runner(given: &Value) -> Option<Runner> {
    let keys = given.as_object()?;
    let command = keys.get("command")?;
    let known = command.as_str().and_then(Runner::known);
    let command = known.or_else(|| Command::read(command))?;
    let folder = keys.get("folder")?.as_str()?.trim_end_matches('/');
    let names_file = command
        .iter()
        .any(|word| Runner::FILE.iter().any(|part| word.contains(part)));
    let is_known = keys
        .keys()
        .all(|key| ["command", "folder"].contains(&key.as_str()));
    (names_file && is_known && !folder.is_empty() && is_line(folder) && is_inside(folder)).then(
        || Runner {
            command,
            folder: folder.to_owned(),
        },
    )
}

/// The placeholders that the address of a link can contain.
const LINK_PARTS: [&str; 3] = ["{path}", "{line}", "{column}"];

form! {
    /// Accepts `auto`, `off`, or an address that contains `{path}`. The address has the syntax of ripgrep's
    /// `--hyperlink-format`.
    LinkFormat: Hyperlink =
        "auto, off, or an address with `{path}` and perhaps `{line}` and `{column}`, such as vscode://file{path}:{line}",
    {"anyOf": [{"enum": ["auto", "off"]}, {"type": "string", "pattern": "^[a-z][a-z0-9+.-]*:.*\\{path\\}"}]},
    |given| match given.as_str()? {
        "auto" => Some(Hyperlink::Auto),
        "off" => Some(Hyperlink::Off),
        text => {
            let (scheme, _) = text.split_once(':')?;
            let is_scheme = scheme.starts_with(|c: char| c.is_ascii_lowercase())
                && scheme.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "+.-".contains(c));
            let rest = LINK_PARTS.iter().fold(text.to_owned(), |rest, part| rest.replace(part, ""));
            let is_plain = rest.chars().all(|c| c.is_ascii_graphic() && !"{}".contains(c));
            (is_scheme && is_plain && text.contains("{path}")).then(|| Hyperlink::Format(text.to_owned()))
        }
    };

    const WORDS: &'static [&'static str] = &["auto", "off"];
}

form! {
    Variables: BTreeMap<String, String> = "a map of variables such as {NAME: \"value\"}",
    {"type": "object", "additionalProperties": {"type": "string"}},
    |given| {
        let entries = given.as_object()?;
        entries.iter().all(|(name, value)| is_variable(name, value)).then(|| BTreeMap::deserialize(entries).ok())?
    };

    fn misfit(given: &Value) -> InvalidValue {
        let misfit = InvalidValue::of(given, Self::allowed(), None);
        let mut entries = given.as_object().into_iter().flatten().enumerate();
        match entries.find(|(_, (name, value))| !is_variable(name, value)) {
            Some((item, (name, Value::String(_)))) => {
                InvalidValue { problem: format!("cannot set the variable `{name}`"), item: Some(item), ..misfit }
            }
            Some((item, (name, _))) => InvalidValue {
                problem: format!("sets `{name}` to a value that is not text"),
                allowed: "text; quote a number, `true` or `null`".to_owned(),
                item: Some(item),
                ..misfit
            },
            None => misfit,
        }
    }
}

fn is_variable(name: &str, value: &Value) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && value.as_str().is_some_and(|value| !value.contains('\0'))
}

fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}

fn list(given: &Value, fits: fn(&Value) -> bool) -> Option<Vec<String>> {
    let items = given.as_array()?;
    items.iter().all(fits).then(|| words(given))
}
