//! Defines the trait [`ValueForm`]. An implementation defines the values that a key accepts, the error for all
//! other values, and the JSON Schema. The implementation also normalises values: for example, a command becomes
//! a list of words.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::suggest::closest;
use super::units;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvalidValue {
    /// The error message without the name of the key, for example `` cannot be `judg` ``.
    pub problem: String,
    pub allowed: String,
    pub suggestion: Option<String>,
    /// The index of the invalid item, if the value is a list or a map.
    pub item: Option<usize>,
}

impl fmt::Display for InvalidValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl InvalidValue {
    pub fn of(given: &Value, allowed: String, suggestion: Option<String>) -> Self {
        let problem = match given {
            Value::Null => "has no value".to_owned(),
            Value::Object(_) => "cannot be a map".to_owned(),
            Value::Array(items) if items.is_empty() => "cannot be an empty list".to_owned(),
            Value::Array(_) => "cannot be a list".to_owned(),
            Value::String(text) => format!("cannot be `{text}`"),
            Value::Bool(_) | Value::Number(_) => format!("cannot be `{given}`"),
        };
        Self {
            problem,
            allowed,
            suggestion,
            item: None,
        }
    }

    pub fn word(given: &Value, words: &[&str]) -> Self {
        let suggestion = given
            .as_str()
            .and_then(|typed| match typed.to_lowercase().as_str() {
                "yes" | "y" | "on" if words == ["true", "false"] => Some("true"),
                "no" | "n" | "off" if words == ["true", "false"] => Some("false"),
                typed => closest(typed, words.iter().copied()),
            });
        Self::of(given, words.join(", "), suggestion.map(str::to_owned))
    }

    pub fn hint(&self) -> String {
        match &self.suggestion {
            Some(word) => format!("allowed: {}; did you mean `{word}`?", self.allowed),
            None => format!("allowed: {}", self.allowed),
        }
    }
}

/// The value of `review.reuse`: `false`, `true` or `strict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReuseMode {
    Off,
    On,
    /// An answer is reused only while no file of the tree changes.
    Strict,
}

impl Serialize for ReuseMode {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::On => serializer.serialize_bool(true),
            Self::Strict => serializer.serialize_str("strict"),
        }
    }
}

pub trait ValueForm {
    type Value: Serialize;

    const WORDS: &'static [&'static str] = &[];

    fn allowed() -> String;

    fn schema() -> Value;

    /// Returns `None` for an invalid value.
    fn read(given: &Value) -> Option<Self::Value>;

    fn write(value: &Self::Value) -> Value {
        json!(value)
    }

    fn item(_item: &Value) -> bool {
        true
    }

    fn suggestion(given: &Value) -> Option<String> {
        closest(given.as_str()?, Self::WORDS.iter().copied()).map(str::to_owned)
    }

    fn problem(_wrong: &Value) -> Option<String> {
        None
    }

    fn misfit(given: &Value) -> InvalidValue {
        let item = given
            .as_array()
            .and_then(|items| items.iter().position(|item| !Self::item(item)));
        let wrong = item.map_or(given, |item| &given[item]);
        let misfit = InvalidValue::of(wrong, Self::allowed(), Self::suggestion(wrong));
        InvalidValue {
            item,
            problem: Self::problem(wrong).unwrap_or(misfit.problem),
            ..misfit
        }
    }
}

/// Makes serde read and write a field with the [`ValueForm`] `F`, for example `#[serde(with = "As::<Time>")]`.
pub struct As<F>(PhantomData<F>);

impl<F: ValueForm> As<F> {
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<F::Value, D::Error> {
        let given = Value::deserialize(deserializer)?;
        // A serde error contains only a text, so this text is the `InvalidValue` in JSON form.
        F::read(&given).ok_or_else(|| D::Error::custom(json!(F::misfit(&given))))
    }

    pub fn serialize<S: Serializer>(value: &F::Value, serializer: S) -> Result<S::Ok, S::Error> {
        F::write(value).serialize(serializer)
    }
}

impl<F: ValueForm> JsonSchema for As<F> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        std::any::type_name::<F>().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        F::schema()
            .try_into()
            .expect("a form's schema is an object")
    }
}

impl<F: ValueForm> ValueForm for Option<F> {
    type Value = Option<F::Value>;

    fn allowed() -> String {
        F::allowed()
    }

    fn schema() -> Value {
        F::schema()
    }

    fn read(given: &Value) -> Option<Self::Value> {
        F::read(given).map(Some)
    }

    fn write(value: &Self::Value) -> Value {
        value.as_ref().map_or(Value::Null, F::write)
    }

    fn misfit(given: &Value) -> InvalidValue {
        F::misfit(given)
    }
}

/// Accepts every value that `F` accepts, and one more word. The word is `none` (or `null`) if `NONE` is true,
/// and `all` if `NONE` is false.
pub(crate) struct Or<F, const NONE: bool>(PhantomData<F>);

pub(crate) type OrNone<F> = Or<F, true>;

pub(crate) type OrAll<F> = Or<F, false>;

impl<F, const NONE: bool> Or<F, NONE> {
    const WORD: &str = if NONE { "none" } else { "all" };
}

impl<F: ValueForm, const NONE: bool> ValueForm for Or<F, NONE> {
    type Value = Option<F::Value>;
    const WORDS: &'static [&'static str] = &[Self::WORD];

    fn allowed() -> String {
        format!("{}, or {}", Self::WORD, F::allowed())
    }

    fn schema() -> Value {
        let words = if NONE {
            json!([Self::WORD, null])
        } else {
            json!([Self::WORD])
        };
        json!({"anyOf": [{"enum": words}, F::schema()]})
    }

    fn read(given: &Value) -> Option<Self::Value> {
        if given == Self::WORD || NONE && given.is_null() {
            Some(None)
        } else {
            F::read(given).map(Some)
        }
    }

    fn write(value: &Self::Value) -> Value {
        value.as_ref().map_or_else(|| json!(Self::WORD), F::write)
    }
}

pub struct Count<const LEAST: u32, const MOST: u32>;

impl<const LEAST: u32, const MOST: u32> ValueForm for Count<LEAST, MOST> {
    type Value = u32;

    fn allowed() -> String {
        match (LEAST, MOST) {
            (least, most) if least == most => least.to_string(),
            (least, u32::MAX) => format!("a whole number from {least}"),
            (least, most) => format!("a whole number from {least} to {most}"),
        }
    }

    fn schema() -> Value {
        json!({"type": "integer", "minimum": LEAST, "maximum": MOST})
    }

    fn read(given: &Value) -> Option<u32> {
        given
            .as_u64()
            .and_then(|count| u32::try_from(count).ok())
            .filter(|count| (LEAST..=MOST).contains(count))
    }
}

/// Accepts a duration. The duration `0s` is accepted only if `ZERO` is true.
pub struct DurationForm<const ZERO: bool>;

pub type Time = DurationForm<false>;

pub(crate) type Delay = DurationForm<true>;

impl<const ZERO: bool> ValueForm for DurationForm<ZERO> {
    type Value = Duration;

    fn allowed() -> String {
        format!(
            "a duration such as {}",
            if ZERO {
                "0s, 3s or 1m"
            } else {
                "90s, 10m or 1h30m"
            }
        )
    }

    fn schema() -> Value {
        json!({"type": "string", "pattern": "^([0-9]+(h|m|s|ms))+$"})
    }

    fn read(given: &Value) -> Option<Duration> {
        units::duration(given.as_str()?).filter(|time| ZERO || !time.is_zero())
    }

    fn write(value: &Duration) -> Value {
        json!(units::duration_text(*value))
    }

    fn suggestion(given: &Value) -> Option<String> {
        given.is_number().then(|| format!("{given}s"))
    }
}

pub fn words(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

pub const ADAPTERS: [&str; 12] = [
    "text", "json", "builtin", "address", "replay", "claude", "codex", "gemini", "opencode",
    "qwen", "copilot", "acp",
];

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Hyperlink {
    Auto,
    Off,
    #[serde(untagged)]
    Format(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewerChoice {
    All,
    First,
    #[serde(untagged)]
    Named(Vec<String>),
}

/// The files with the project's guidelines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GuidelineChoice {
    /// The files with the usual names.
    Auto,
    Off,
    /// Paths in the project.
    #[serde(untagged)]
    Files(Vec<String>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::schema;

    fn checked(key: &str, value: Value) -> Result<Value, String> {
        let key = schema::find(key)
            .or_else(|| schema::find_agent_key(key))
            .expect("a key");
        key.check(&value)
            .map_err(|misfit| format!("{misfit}; {}", misfit.hint()))
    }

    #[test]
    fn what_fits_comes_out_in_one_form() {
        for (key, given, one_form) in [
            ("review.recheck", json!(true), json!(true)),
            ("review.rounds", json!(9), json!(9)),
            ("review.quorum", json!("all"), json!("all")),
            ("review.quorum", json!(3), json!(3)),
            ("review.confirm_above", json!(0), json!(0)),
            ("review.confirm_above", json!("none"), json!("none")),
            ("review.confirm_above_usd", json!(2.5), json!(2.5)),
            ("budget.duration", json!("1h30m"), json!("1h30m")),
            ("watch.debounce", json!("0s"), json!("0s")),
            (
                "review.reviewers",
                json!(["a", "b.c-1"]),
                json!(["a", "b.c-1"]),
            ),
            (
                "review.issues.mandatory",
                json!(["MUST", "blocker", "P0", "CUSTOM", "🔴"]),
                json!(["MUST", "blocker", "P0", "CUSTOM", "🔴"]),
            ),
            ("domain", json!("backend"), json!(["backend"])),
            ("domain", json!([]), json!([])),
            ("command", json!("sh -c 'a b'"), json!(["sh", "-c", "a b"])),
            (
                "command",
                json!(["sh", "-c", "a b"]),
                json!(["sh", "-c", "a b"]),
            ),
            (
                "review.verify",
                json!(["cargo test", ["make", "x y"]]),
                json!([["cargo", "test"], ["make", "x y"]]),
            ),
            ("env", json!({"A_1": "x"}), json!({"A_1": "x"})),
            (
                "notify.command",
                json!("tell 'a b'"),
                json!(["tell", "a b"]),
            ),
            ("notify.command", json!("none"), json!("none")),
            (
                "ui.hyperlink",
                json!("vscode://file{path}:{line}"),
                json!("vscode://file{path}:{line}"),
            ),
            (
                "ui.hyperlink",
                json!("file://{path}"),
                json!("file://{path}"),
            ),
        ] {
            assert_eq!(checked(key, given), Ok(one_form));
        }
    }

    #[test]
    fn a_link_format_cannot_break_the_control_sequence() {
        for wrong in [
            "{path}",
            "file://",
            "FILE://{path}",
            "file://{path}\u{1b}\\",
            "file://{path} x",
            "x:{path}{host}",
            "on",
        ] {
            assert!(checked("ui.hyperlink", json!(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_misfit_says_what_is_allowed() {
        for (key, given, message) in [
            (
                "review.on_dispute.default",
                json!("judg"),
                "cannot be `judg`; allowed: judge, human, discard; did you mean `judge`?",
            ),
            (
                "review.on_dispute.default",
                json!("coin"),
                "cannot be `coin`; allowed: judge, human, discard",
            ),
            (
                "review.on_dispute.default",
                json!(["judge"]),
                "cannot be a list; allowed: judge, human, discard",
            ),
            (
                "review.on_dispute.default",
                json!(null),
                "has no value; allowed: judge, human, discard",
            ),
            (
                "review.recheck",
                json!("yes"),
                "cannot be `yes`; allowed: true, false; did you mean `true`?",
            ),
            (
                "review.rounds",
                json!(0),
                "cannot be `0`; allowed: a whole number from 1 to 100",
            ),
            (
                "review.rounds",
                json!(1.5),
                "cannot be `1.5`; allowed: a whole number from 1 to 100",
            ),
            (
                "review.rounds",
                json!(-1),
                "cannot be `-1`; allowed: a whole number from 1 to 100",
            ),
            (
                "review.quorum",
                json!("al"),
                "cannot be `al`; allowed: all, or a whole number from 1; did you mean `all`?",
            ),
            (
                "review.confirm_above",
                json!("$2"),
                "cannot be `$2`; allowed: none, or a whole number from 0",
            ),
            (
                "review.confirm_above",
                json!(-1),
                "cannot be `-1`; allowed: none, or a whole number from 0",
            ),
            (
                "budget.duration",
                json!(90),
                "cannot be `90`; allowed: a duration such as 90s, 10m or 1h30m; did you mean `90s`?",
            ),
            (
                "budget.duration",
                json!("0s"),
                "cannot be `0s`; allowed: a duration such as 90s, 10m or 1h30m",
            ),
            (
                "limits.max_output_size",
                json!("64mb"),
                "cannot be `64mb`; allowed: a size such as 512KiB or 64MiB",
            ),
            (
                "review.issues.mandatory",
                json!(["MSUT"]),
                "cannot be `MSUT`; allowed: a list of severity tags such as [MUST, HIGH]; did you mean `MUST`?",
            ),
            (
                "review.issues.mandatory",
                json!("MSUT"),
                "cannot be `MSUT`; allowed: a list of severity tags such as [MUST, HIGH]; did you mean `MUST`?",
            ),
            (
                "command",
                json!(""),
                "cannot be ``; allowed: a program with its arguments, as text or as a list of words",
            ),
            (
                "command",
                json!("a 'b"),
                "has an open quote in `a 'b`; allowed: a program with its arguments, as text or as a list of words",
            ),
            (
                "command",
                json!([]),
                "cannot be an empty list; allowed: a program with its arguments, as text or as a list of words",
            ),
            (
                "env",
                json!({"A B": "x"}),
                "cannot set the variable `A B`; allowed: a map of variables such as {NAME: \"value\"}",
            ),
            (
                "env",
                json!({"A": 1}),
                "sets `A` to a value that is not text; allowed: text; quote a number, `true` or `null`",
            ),
            (
                "model",
                json!("--yolo"),
                "cannot be `--yolo`; allowed: the name of a model, which does not begin with `-`",
            ),
        ] {
            assert_eq!(checked(key, given), Err(message.to_owned()));
        }
    }
}
