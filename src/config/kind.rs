//! The kinds of values a key can take: what fits, what is said where it does not, and what the JSON Schema says.
//!
//! A value that fits comes out in one form however it was written: commands as lists of words, single words of a list
//! as a list. Durations and sizes stay text, in the unit the user chose.

use std::fmt;

use serde_json::{Value, json};

use super::suggest::closest;
use super::units;
use super::yaml::{self, Node, Position, Tree};
use crate::domain::{Price, Tag};
use crate::rules::mandatory;

/// What a key's value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The number of the configuration's form.
    Version,
    /// `true` or `false`.
    Switch,
    /// A whole number from 1 to this.
    Count(u32),
    /// A whole number from 0 to this.
    UpTo(u32),
    /// `all`, or a whole number from 1.
    AllOrCount,
    /// `none`, or a whole number from 1.
    Cap,
    /// `none`, or an amount of dollars greater than 0.
    Money,
    /// `none`, or the address of a server.
    Url,
    /// A duration longer than nothing.
    Time,
    /// A duration, which may be `0s`.
    TimeOrNone,
    /// A number of bytes greater than 0.
    Size,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// The unique name of an agent.
    Name,
    /// `all`, `first`, or a list of agents' names.
    Reviewers,
    /// A list of severity tags.
    Tags,
    /// A list of words.
    Words,
    /// The name of a model.
    Model,
    /// Dollars for a million tokens of input, cached input and output.
    Price,
    /// A program with its arguments: text that is split like a shell does, or a list of words.
    Command,
    /// A list of commands.
    Commands,
    /// Environment variables.
    Variables,
}

/// Why a value does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// What is wrong: `` cannot be `judg` ``.
    pub problem: String,
    /// What would fit.
    pub allowed: String,
    /// The allowed word that was probably meant.
    pub suggestion: Option<String>,
    /// Where the value stands, in text that was read.
    pub(crate) at: Option<Position>,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl Misfit {
    /// What would fit, and what was probably meant.
    pub fn hint(&self) -> String {
        match &self.suggestion {
            Some(word) => format!("allowed: {}; did you mean `{word}`?", self.allowed),
            None => format!("allowed: {}", self.allowed),
        }
    }
}

/// The longest name of an agent or a model.
const LONGEST_NAME: usize = 64;

/// Whether a text is the address of a server, without a user, a query or a fragment.
fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_plain = |text: &str| !text.contains(|c: char| c.is_whitespace() || c.is_control() || "?#".contains(c));
    rest.is_some_and(|rest| {
        let host = rest.split('/').next().unwrap_or_default();
        !host.is_empty() && !host.contains('@') && is_plain(rest)
    })
}

impl Kind {
    /// What would fit, in words.
    pub(crate) fn allowed(self) -> String {
        match self {
            Self::Version => "1".to_owned(),
            Self::Switch => "true, false".to_owned(),
            Self::Count(most) => format!("a whole number from 1 to {most}"),
            Self::UpTo(most) => format!("a whole number from 0 to {most}"),
            Self::AllOrCount => "all, or a whole number from 1".to_owned(),
            Self::Cap => "none, or a whole number from 1".to_owned(),
            Self::Money => "none, or dollars such as 2.50".to_owned(),
            Self::Url => "none, or an address such as https://api.osv.dev".to_owned(),
            Self::Time => "a duration such as 90s, 10m or 1h30m".to_owned(),
            Self::TimeOrNone => "a duration such as 0s, 3s or 1m".to_owned(),
            Self::Size => "a size such as 512KiB or 64MiB".to_owned(),
            Self::OneOf(words) => words.join(", "),
            Self::Name => {
                format!("up to {LONGEST_NAME} letters, digits, `.`, `_` and `-`, beginning with a letter or digit")
            }
            Self::Reviewers => "all, first, or a list of agents' names".to_owned(),
            Self::Tags => "a list of severity tags such as [MUST, HIGH]".to_owned(),
            Self::Words => "a list of words such as [backend, rust]".to_owned(),
            Self::Model => "the name of a model, which does not begin with `-`".to_owned(),
            Self::Price => {
                "dollars for a million tokens of input, cached input and output such as 1.25/0.125/10".to_owned()
            }
            Self::Command => "a program with its arguments, as text or as a list of words".to_owned(),
            Self::Commands => "a list of commands such as [cargo test, make lint]".to_owned(),
            Self::Variables => "a map of variables such as {NAME: \"value\"}".to_owned(),
        }
    }

    /// Checks a value and brings it into its one form.
    pub(crate) fn check(self, node: &Node) -> Result<Value, Misfit> {
        match (self, &node.tree) {
            (Self::Cap | Self::Money | Self::Url, Tree::Null) => Ok(json!("none")),
            (Self::Cap | Self::Money | Self::Url, Tree::Text(word)) if word == "none" => Ok(json!(word)),
            (Self::Cap, Tree::Number(number)) => match number.as_u64() {
                Some(count) if count > 0 => Ok(json!(count)),
                _ => Err(self.misfit(node)),
            },
            (Self::Money, Tree::Number(number)) => match number.as_f64() {
                Some(dollars) if dollars > 0.0 && dollars.is_finite() => Ok(json!(number)),
                _ => Err(self.misfit(node)),
            },
            (Self::Url, Tree::Text(text)) if is_address(text) => Ok(json!(text)),
            (_, Tree::Null) => Err(Misfit { problem: "has no value".to_owned(), ..self.misfit(node) }),
            (Self::Version, Tree::Number(number)) if number.as_u64() == Some(1) => Ok(json!(1)),
            (Self::Switch, Tree::Bool(value)) => Ok(json!(value)),
            (Self::Count(most), Tree::Number(number)) => match number.as_u64() {
                Some(count) if (1..=u64::from(most)).contains(&count) => Ok(json!(count)),
                _ => Err(self.misfit(node)),
            },
            (Self::UpTo(most), Tree::Number(number)) => match number.as_u64() {
                Some(count) if count <= u64::from(most) => Ok(json!(count)),
                _ => Err(self.misfit(node)),
            },
            (Self::Price, Tree::Text(text)) if Price::parse(text).is_some() => Ok(json!(text)),
            (Self::AllOrCount, Tree::Number(number)) => match number.as_u64().and_then(|n| u32::try_from(n).ok()) {
                Some(count) if count > 0 => Ok(json!(count)),
                _ => Err(self.misfit(node)),
            },
            (Self::AllOrCount, Tree::Text(word)) if word == "all" => Ok(json!(word)),
            (Self::Time, Tree::Text(text)) if units::duration(text).is_some_and(|time| !time.is_zero()) => {
                Ok(json!(text))
            }
            (Self::TimeOrNone, Tree::Text(text)) if units::duration(text).is_some() => Ok(json!(text)),
            (Self::Size, Tree::Text(text)) if units::size(text).is_some_and(|bytes| bytes > 0) => Ok(json!(text)),
            (Self::OneOf(words), Tree::Text(word)) if words.contains(&word.as_str()) => Ok(json!(word)),
            (Self::OneOf(words), Tree::Number(number)) if words.contains(&number.to_string().as_str()) => {
                Ok(json!(number.to_string()))
            }
            (Self::Name, Tree::Text(name)) if is_name(name) => Ok(json!(name)),
            (Self::Reviewers, Tree::Text(word)) if word == "all" || word == "first" => Ok(json!(word)),
            (Self::Reviewers, Tree::List(names)) if !names.is_empty() => self.each(names, is_name),
            (Self::Tags, Tree::List(tags)) => self.each(tags, is_tag),
            (Self::Words, Tree::Text(word)) if is_line(word) => Ok(json!([word])),
            (Self::Words, Tree::List(words)) => self.each(words, is_line),
            (Self::Model, Tree::Text(name)) if is_model(name) => Ok(json!(name)),
            (Self::Command, _) => self.command(node),
            (Self::Commands, Tree::List(commands)) => commands.iter().map(|node| self.command(node)).collect(),
            (Self::Variables, Tree::Map(entries)) => entries
                .iter()
                .map(|entry| match &entry.value.tree {
                    Tree::Text(value) if is_variable(&entry.key) && !value.contains('\0') => {
                        Ok((entry.key.clone(), json!(value)))
                    }
                    Tree::Text(_) => Err(Misfit {
                        problem: format!("cannot set the variable `{}`", entry.key),
                        at: entry.at,
                        ..self.misfit(node)
                    }),
                    _ => Err(Misfit {
                        problem: format!("sets `{}` to something that is not text", entry.key),
                        allowed: "text, in quotes where it looks like something else".to_owned(),
                        ..self.misfit(&entry.value)
                    }),
                })
                .collect(),
            _ => Err(self.misfit(node)),
        }
    }

    /// Reads what was typed on a command line or stands in a variable, without judging it.
    pub(crate) fn read(self, text: &str) -> Value {
        let text = text.trim();
        let flow = |opening: char| {
            text.starts_with(opening).then(|| yaml::parse(text).ok()).flatten().map(|node| node.json())
        };
        match self {
            Self::Cap | Self::Money | Self::Url if text == "null" => json!("none"),
            Self::Version
            | Self::Count(_)
            | Self::UpTo(_)
            | Self::AllOrCount
            | Self::Cap
            | Self::Money
            | Self::Switch => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
            Self::Url => json!(text),
            Self::Reviewers if text == "all" || text == "first" => json!(text),
            Self::Reviewers | Self::Tags | Self::Words => flow('[').unwrap_or_else(|| {
                text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(Value::from).collect()
            }),
            Self::Command => flow('[').unwrap_or_else(|| json!(text)),
            Self::Commands => flow('[').unwrap_or_else(|| json!([text])),
            Self::Variables => flow('{').unwrap_or_else(|| json!(text)),
            Self::Time
            | Self::TimeOrNone
            | Self::Size
            | Self::OneOf(_)
            | Self::Name
            | Self::Model
            | Self::Price => json!(text),
        }
    }

    /// What a JSON Schema says about the value.
    pub(crate) fn schema(self) -> Value {
        const DURATION: &str = "^([0-9]+(h|m|s|ms))+$";
        let words = json!({"type": "array", "items": {"type": "string", "minLength": 1}});
        let command = json!({"oneOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
        ]});
        match self {
            Self::Version => json!({"const": 1}),
            Self::Switch => json!({"type": "boolean"}),
            Self::Count(most) => json!({"type": "integer", "minimum": 1, "maximum": most}),
            Self::UpTo(most) => json!({"type": "integer", "minimum": 0, "maximum": most}),
            Self::AllOrCount => json!({"oneOf": [{"const": "all"}, {"type": "integer", "minimum": 1}]}),
            Self::Cap => json!({"oneOf": [{"enum": ["none", null]}, {"type": "integer", "minimum": 1}]}),
            Self::Money => json!({"oneOf": [{"enum": ["none", null]}, {"type": "number", "exclusiveMinimum": 0}]}),
            Self::Url => {
                json!({"oneOf": [{"enum": ["none", null]}, {"type": "string", "pattern": "^https?://[^\\s/?#@]+[^\\s?#]*$"}]})
            }
            Self::Time | Self::TimeOrNone => json!({"type": "string", "pattern": DURATION}),
            Self::Size => json!({"type": "string", "pattern": "^[0-9]+ *(B|[kK]B|MB|GB|KiB|MiB|GiB)$"}),
            Self::OneOf(words) => json!({"enum": words}),
            Self::Name => json!({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}),
            Self::Reviewers => json!({"oneOf": [{"enum": ["all", "first"]}, words]}),
            Self::Tags => words,
            Self::Words => json!({"oneOf": [{"type": "string", "minLength": 1}, words]}),
            Self::Model => json!({"type": "string", "pattern": "^[^-]"}),
            Self::Price => json!({"type": "string", "pattern": "^[0-9.]+/[0-9.]+/[0-9.]+$"}),
            Self::Command => command,
            Self::Commands => json!({"type": "array", "items": command}),
            Self::Variables => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        }
    }

    fn each(self, nodes: &[Node], fits: fn(&str) -> bool) -> Result<Value, Misfit> {
        nodes
            .iter()
            .map(|node| match &node.tree {
                Tree::Text(word) if fits(word) => Ok(json!(word)),
                _ => Err(self.misfit(node)),
            })
            .collect()
    }

    fn command(self, node: &Node) -> Result<Value, Misfit> {
        let words = match &node.tree {
            Tree::Text(text) => shlex::split(text)
                .ok_or_else(|| Misfit { problem: format!("has an open quote in `{text}`"), ..self.misfit(node) })?,
            Tree::List(words) => words
                .iter()
                .map(|word| match &word.tree {
                    Tree::Text(text) => Ok(text.clone()),
                    _ => Err(self.misfit(word)),
                })
                .collect::<Result<_, _>>()?,
            _ => return Err(self.misfit(node)),
        };
        let runnable = words.first().is_some_and(|program| !program.trim().is_empty())
            && !words.iter().any(|word| word.contains('\0'));
        if runnable { Ok(json!(words)) } else { Err(self.misfit(node)) }
    }

    fn misfit(self, node: &Node) -> Misfit {
        let suggestion = match (self, &node.tree) {
            (Self::OneOf(words), Tree::Text(typed)) => closest(typed, words.iter().copied()),
            (Self::Switch, Tree::Text(typed)) => match typed.to_lowercase().as_str() {
                "yes" | "y" | "on" => Some("true"),
                "no" | "n" | "off" => Some("false"),
                typed => closest(typed, ["true", "false"]),
            },
            (Self::Reviewers, Tree::Text(typed)) => closest(typed, ["all", "first"]),
            (Self::AllOrCount, Tree::Text(typed)) => closest(typed, ["all"]),
            (Self::Cap | Self::Money | Self::Url, Tree::Text(typed)) => closest(typed, ["none"]),
            (Self::Tags, Tree::Text(typed)) => closest(typed, Tag::ALL.map(Tag::as_str)),
            _ => None,
        };
        let unit = match (self, &node.tree) {
            (Self::Time | Self::TimeOrNone, Tree::Number(number)) => Some(format!("{number}s")),
            (Self::Size, Tree::Number(number)) => Some(format!("{number}B")),
            _ => None,
        };
        let problem = match &node.tree {
            Tree::Null => "cannot hold an empty value".to_owned(),
            Tree::Map(_) => "cannot be a map".to_owned(),
            Tree::List(items) if items.is_empty() => "cannot be an empty list".to_owned(),
            Tree::List(_) => "cannot be a list".to_owned(),
            Tree::Text(text) => format!("cannot be `{text}`"),
            Tree::Bool(_) | Tree::Number(_) => format!("cannot be `{}`", node.json()),
        };
        Misfit { problem, allowed: self.allowed(), suggestion: unit.or(suggestion.map(str::to_owned)), at: node.at }
    }
}

/// A name is safe in keys, file names and on screens.
fn is_name(text: &str) -> bool {
    text.len() <= LONGEST_NAME
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

/// Tags of other vendors are as good as Glee's own; a misspelt one would silently take findings out of the gate.
fn is_tag(text: &str) -> bool {
    let word = is_line(text)
        && text.chars().count() <= 20
        && !text.contains(|c: char| c.is_whitespace() || "[]".contains(c));
    word && (mandatory::normalise(text).is_some() || closest(text, Tag::ALL.map(Tag::as_str)).is_none())
}

fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}

/// A model's name becomes an argument: it must not be taken for an option.
fn is_model(text: &str) -> bool {
    text.len() <= LONGEST_NAME && is_line(text) && !text.starts_with('-') && !text.contains(char::is_whitespace)
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(kind: Kind, value: Value) -> Result<Value, String> {
        kind.check(&Node::from(&value)).map_err(|misfit| format!("{misfit}; {}", misfit.hint()))
    }

    #[test]
    fn what_fits_comes_out_in_one_form() {
        for (kind, given, one_form) in [
            (Kind::Switch, json!(true), json!(true)),
            (Kind::Count(9), json!(9), json!(9)),
            (Kind::AllOrCount, json!("all"), json!("all")),
            (Kind::AllOrCount, json!(3), json!(3)),
            (Kind::Time, json!("1h30m"), json!("1h30m")),
            (Kind::TimeOrNone, json!("0s"), json!("0s")),
            (Kind::Reviewers, json!(["a", "b.c-1"]), json!(["a", "b.c-1"])),
            (
                Kind::Tags,
                json!(["MUST", "blocker", "P0", "CUSTOM", "🔴"]),
                json!(["MUST", "blocker", "P0", "CUSTOM", "🔴"]),
            ),
            (Kind::Words, json!("backend"), json!(["backend"])),
            (Kind::Words, json!([]), json!([])),
            (Kind::Command, json!("sh -c 'a b'"), json!(["sh", "-c", "a b"])),
            (Kind::Command, json!(["sh", "-c", "a b"]), json!(["sh", "-c", "a b"])),
            (Kind::Commands, json!(["cargo test", ["make", "x y"]]), json!([["cargo", "test"], ["make", "x y"]])),
            (Kind::Variables, json!({"A_1": "x"}), json!({"A_1": "x"})),
        ] {
            assert_eq!(checked(kind, given), Ok(one_form));
        }
    }

    #[test]
    fn a_misfit_says_what_is_allowed() {
        const ROUTES: Kind = Kind::OneOf(&["judge", "human", "discard"]);
        for (kind, given, message) in [
            (ROUTES, json!("judg"), "cannot be `judg`; allowed: judge, human, discard; did you mean `judge`?"),
            (ROUTES, json!("coin"), "cannot be `coin`; allowed: judge, human, discard"),
            (ROUTES, json!(["judge"]), "cannot be a list; allowed: judge, human, discard"),
            (ROUTES, json!(null), "has no value; allowed: judge, human, discard"),
            (Kind::Switch, json!("yes"), "cannot be `yes`; allowed: true, false; did you mean `true`?"),
            (Kind::Count(9), json!(0), "cannot be `0`; allowed: a whole number from 1 to 9"),
            (Kind::Count(9), json!(1.5), "cannot be `1.5`; allowed: a whole number from 1 to 9"),
            (Kind::Count(9), json!(-1), "cannot be `-1`; allowed: a whole number from 1 to 9"),
            (
                Kind::AllOrCount,
                json!("al"),
                "cannot be `al`; allowed: all, or a whole number from 1; did you mean `all`?",
            ),
            (
                Kind::Time,
                json!(90),
                "cannot be `90`; allowed: a duration such as 90s, 10m or 1h30m; did you mean `90s`?",
            ),
            (Kind::Time, json!("0s"), "cannot be `0s`; allowed: a duration such as 90s, 10m or 1h30m"),
            (Kind::Size, json!("64mb"), "cannot be `64mb`; allowed: a size such as 512KiB or 64MiB"),
            (
                Kind::Tags,
                json!(["MSUT"]),
                "cannot be `MSUT`; allowed: a list of severity tags such as [MUST, HIGH]; did you mean `MUST`?",
            ),
            (
                Kind::Tags,
                json!("MUST"),
                "cannot be `MUST`; allowed: a list of severity tags such as [MUST, HIGH]; did you mean `MUST`?",
            ),
            (
                Kind::Command,
                json!(""),
                "cannot be ``; allowed: a program with its arguments, as text or as a list of words",
            ),
            (
                Kind::Command,
                json!("a 'b"),
                "has an open quote in `a 'b`; allowed: a program with its arguments, as text or as a list of words",
            ),
            (
                Kind::Command,
                json!([]),
                "cannot be an empty list; allowed: a program with its arguments, as text or as a list of words",
            ),
            (
                Kind::Variables,
                json!({"A B": "x"}),
                "cannot set the variable `A B`; allowed: a map of variables such as {NAME: \"value\"}",
            ),
            (
                Kind::Variables,
                json!({"A": 1}),
                "sets `A` to something that is not text; allowed: text, in quotes where it looks like something else",
            ),
            (
                Kind::Model,
                json!("--yolo"),
                "cannot be `--yolo`; allowed: the name of a model, which does not begin with `-`",
            ),
        ] {
            assert_eq!(checked(kind, given), Err(message.to_owned()));
        }
    }

    #[test]
    fn typed_text_is_read_by_kind() {
        for (kind, text, value) in [
            (Kind::Switch, "true", json!(true)),
            (Kind::Switch, "yes", json!("yes")),
            (Kind::Count(9), "3", json!(3)),
            (Kind::AllOrCount, "all", json!("all")),
            (Kind::Time, "90", json!("90")),
            (Kind::Tags, "MUST, HIGH", json!(["MUST", "HIGH"])),
            (Kind::Tags, "[MUST, HIGH]", json!(["MUST", "HIGH"])),
            (Kind::Tags, "", json!([])),
            (Kind::Reviewers, "all", json!("all")),
            (Kind::Reviewers, "a", json!(["a"])),
            (Kind::Command, "sh -c x", json!("sh -c x")),
            (Kind::Commands, "cargo test", json!(["cargo test"])),
            (Kind::Commands, "[cargo test, [make, x]]", json!(["cargo test", ["make", "x"]])),
            (Kind::Variables, "{A: b}", json!({"A": "b"})),
        ] {
            assert_eq!(kind.read(text), value, "{text}");
        }
    }
}
