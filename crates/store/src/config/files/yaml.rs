//! Parses YAML into a tree with positions, and prints values as YAML. The parser follows YAML 1.2 for booleans, and
//! accepts at most [`MAX_DEPTH`] levels and [`MAX_NODES`] values. The parser refuses aliases, unknown tags and a
//! second document.

use std::fmt::{self, Write as _};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value, json};
use serde_yaml::budget::BudgetBreach;
use serde_yaml::{Error, Location, MergeKeyPolicy, Spanned, budget, options};

const MAX_DEPTH: usize = 32;
const MAX_NODES: usize = 20_000;

/// Lines and columns are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct YamlPosition {
    pub line: u32,
    pub column: u32,
}

impl From<Location> for YamlPosition {
    fn from(at: Location) -> Self {
        let [line, column] =
            [at.line(), at.column()].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        Self { line, column }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct YamlNode {
    pub tree: YamlTree,
    pub at: YamlPosition,
}

#[derive(Clone, Debug, PartialEq)]
pub enum YamlTree {
    Scalar(Value),
    List(Vec<YamlNode>),
    Map(Vec<YamlEntry>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct YamlEntry {
    pub key: String,
    pub at: YamlPosition,
    pub value: YamlNode,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    pub message: String,
    pub at: Option<YamlPosition>,
}

impl YamlNode {
    pub fn item(&self, index: usize) -> YamlPosition {
        match &self.tree {
            YamlTree::List(items) => items[index].at,
            YamlTree::Map(entries) => entries[index].at,
            YamlTree::Scalar(_) => self.at,
        }
    }

    pub fn json(&self) -> Value {
        match &self.tree {
            YamlTree::Scalar(value) => value.clone(),
            YamlTree::List(items) => Value::Array(items.iter().map(Self::json).collect()),
            YamlTree::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.value.json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }
}

/// Parses a YAML document. An empty document becomes null.
pub fn parse(text: &str) -> Result<YamlNode, Unreadable> {
    let options = options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        reject_unsupported_tags: true,
        with_snippet: false,
        budget: budget! { max_depth: MAX_DEPTH, max_nodes: MAX_NODES, max_aliases: 0 },
    };
    let tree: Spanned<YamlTree> = serde_yaml::from_str_with_options(text, options)
        .map_err(|error| Unreadable::from(&error))?;
    Ok(located(tree))
}

impl From<&Error> for Unreadable {
    fn from(error: &Error) -> Self {
        let at = error.location().map(YamlPosition::from);
        let message = match error.without_snippet() {
            Error::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate key `{key}`"),
            Error::MultipleDocuments { .. } => "more than one document".to_owned(),
            Error::Budget {
                breach: BudgetBreach::Aliases { .. },
                ..
            } => "aliases are not accepted".to_owned(),
            Error::Budget {
                breach: BudgetBreach::Depth { .. },
                ..
            } => {
                format!("nested more than {MAX_DEPTH} levels deep")
            }
            Error::Budget {
                breach: BudgetBreach::Nodes { .. },
                ..
            } => format!("more than {MAX_NODES} values"),
            // The message of the YAML library ends with the position of the error. The position is removed from
            // the message, because the field `at` contains the position.
            other => {
                let message = other.to_string();
                message
                    .rsplit_once(" at line ")
                    .map_or(message.as_str(), |(message, _)| message)
                    .to_owned()
            }
        };
        Self { message, at }
    }
}

fn located(tree: Spanned<YamlTree>) -> YamlNode {
    YamlNode {
        tree: tree.value,
        at: tree.referenced.into(),
    }
}

impl<'de> Deserialize<'de> for YamlTree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = YamlTree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<YamlTree, E> {
        Ok(YamlTree::Scalar(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<YamlTree, E> {
        Ok(YamlTree::Scalar(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<YamlTree, E> {
        Ok(YamlTree::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<YamlTree, E> {
        Ok(YamlTree::Scalar(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<YamlTree, E> {
        Number::from_f64(value)
            .map(|number| YamlTree::Scalar(number.into()))
            .ok_or_else(|| E::custom("not a number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<YamlTree, E> {
        Ok(YamlTree::Scalar(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<YamlTree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(located(item));
        }
        Ok(YamlTree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<YamlTree, A::Error> {
        let mut map = Vec::new();
        while let Some((key, value)) = entries.next_entry::<Spanned<String>, _>()? {
            map.push(YamlEntry {
                key: key.value,
                at: key.referenced.into(),
                value: located(value),
            });
        }
        Ok(YamlTree::Map(map))
    }
}

/// Formats a value as YAML on one line, for example `judge`, `[MUST, HIGH]` or `{A: "1"}`.
pub fn flow(value: &Value) -> String {
    match value {
        Value::Array(items) => format!(
            "[{}]",
            items.iter().map(flow).collect::<Vec<_>>().join(", ")
        ),
        Value::Object(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", word(key), flow(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::String(text) => word(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Formats a text as a YAML scalar, with double quotes only if the text needs quotes.
fn word(text: &str) -> String {
    let plain = text
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '+' | '=' | ' ' | ':'))
        && parse(&format!("{{a: {text}}}")).is_ok_and(|node| node.json() == json!({ "a": text }));
    if plain { text.to_owned() } else { quoted(text) }
}

/// Formats a text as a YAML scalar in double quotes. YAML requires more escapes than JSON.
pub fn quoted(text: &str) -> String {
    Value::String(text.to_owned())
        .to_string()
        .chars()
        .fold(String::new(), |mut quoted, c| {
            if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            } else {
                quoted.push(c);
            }
            quoted
        })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn refusal(text: &str) -> (String, u32, u32) {
        let error = parse(text).unwrap_err();
        let at = error.at.unwrap();
        (error.message, at.line, at.column)
    }

    #[test]
    fn reads_values_as_they_are_meant() {
        let text = "\u{feff}a: 1\r\nb: [yes, 012, 1_0, 1.5, ~, true, 2026-01-01, 10m]\r\nc: {d: !!str 1}\r\n";
        assert_eq!(
            parse(text).unwrap().json(),
            json!({"a": 1, "b": ["yes", "012", "1_0", 1.5, null, true, "2026-01-01", "10m"], "c": {"d": "1"}})
        );
        assert_eq!(parse("# nothing\n").unwrap().json(), json!(null));
    }

    #[test]
    fn every_value_knows_where_it_stands() {
        let YamlTree::Map(entries) = parse("a:\n  - b: c\n").unwrap().tree else {
            panic!("a map")
        };
        assert_eq!(entries[0].at, YamlPosition { line: 1, column: 1 });
        let YamlTree::List(items) = &entries[0].value.tree else {
            panic!("a list")
        };
        let YamlTree::Map(inner) = &items[0].tree else {
            panic!("a map")
        };
        assert_eq!(inner[0].at, YamlPosition { line: 2, column: 5 });
        assert_eq!(inner[0].value.at, YamlPosition { line: 2, column: 8 });
    }

    #[test]
    fn refuses_what_is_ambiguous_or_unbounded() {
        let deep = format!("{}1{}", "[".repeat(40), "]".repeat(40));
        let wide = format!("[{}1]", "1,".repeat(20_001));
        for (text, message, line, column) in [
            ("a: 1\na: 2\n", "duplicate key `a`", 2, 1),
            ("a: &x 1\nb: *x\n", "aliases are not accepted", 2, 4),
            ("a: 1\n---\nb: 1\n", "more than one document", 3, 1),
            ("a: !foo x\n", "unsupported tag `!foo`", 1, 9),
            ("a: [1\n", "unclosed bracket '['", 1, 4),
            (deep.as_str(), "nested more than 32 levels deep", 1, 33),
        ] {
            assert_eq!(refusal(text), (message.to_owned(), line, column), "{text}");
        }
        assert_eq!(refusal(&wide).0, "more than 20000 values");
        // A merge key is parsed as an ordinary key.
        assert_eq!(
            parse("<<: {a: 1}\n").unwrap().json(),
            json!({"<<": {"a": 1}})
        );
    }

    #[test]
    fn writes_what_it_reads_back() {
        for (value, text) in [
            (json!("judge"), "judge"),
            (json!(["MUST", "HIGH"]), "[MUST, HIGH]"),
            (json!("yes"), "yes"),
            (json!("true"), "\"true\""),
            (json!("1.0"), "\"1.0\""),
            (
                json!(["a: b", "c, d", "", " e", "f #g", "*h"]),
                r#"["a: b", "c, d", "", " e", "f #g", "*h"]"#,
            ),
            (json!({"A": "1", "B c": "x:"}), r#"{A: "1", B c: "x:"}"#),
            (json!("a\nb\u{7f}\t\"ü"), "\"a\\nb\\u007f\\t\\\"ü\""),
            (json!([1, true, null]), "[1, true, null]"),
        ] {
            assert_eq!(flow(&value), text);
            assert_eq!(
                parse(&format!("k: {text}")).map(|node| node.json()),
                Ok(json!({"k": value}))
            );
        }
    }
}
