//! A YAML tree read as a type: what does not fit is said with the key's path and the place in the file.

use std::fmt;
use std::slice;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, Expected, IntoDeserializer as _, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::suggest::closest;
use super::values::Misfit;
use super::yaml::{Entry, Node, Position, Tree};

/// Why a tree is not what a type asks for.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The dotted key.
    pub(crate) path: String,
    pub(crate) at: Option<Position>,
    pub(crate) wrong: Wrong,
}

/// What is wrong.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// The value does not fit its key.
    Value(Misfit),
    UnknownKey,
    /// A value in the place of keys.
    NotASection,
    NotAList,
    /// A key that has to be there is not.
    Missing,
    Other(String),
}

/// Reads a tree.
pub(crate) fn read<T: DeserializeOwned>(node: &Node) -> Result<T, Fault> {
    T::deserialize(Reader(node))
}

impl Fault {
    fn new(wrong: Wrong) -> Self {
        Self { path: String::new(), at: None, wrong }
    }

    /// Says where it is, unless that is known.
    fn at(mut self, node: &Node) -> Self {
        let item = if let Wrong::Value(misfit) = &self.wrong { misfit.item } else { None };
        self.at = self.at.or_else(|| match (&node.tree, item) {
            (Tree::List(items), Some(item)) => items[item].at,
            (Tree::Map(entries), Some(item)) => entries[item].at,
            _ => node.at,
        });
        self
    }

    fn inside(mut self, parent: &str) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{parent}{dot}{}", self.path);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {:?}", self.path, self.wrong)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Wrong::Other(message.to_string()))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        match serde_json::from_str(&format!("{expected:#}")) {
            Ok(misfit) => Self::new(Wrong::Value(misfit)),
            Err(_) => Self::custom(format_args!("invalid value: {unexpected}, expected {expected}")),
        }
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self::new(Wrong::UnknownKey)
    }

    fn missing_field(_: &'static str) -> Self {
        Self::new(Wrong::Missing)
    }
}

struct Reader<'a>(&'a Node);

impl Reader<'_> {
    fn refuse(&self, allowed: &[&str], suggestion: Option<&str>) -> Fault {
        let misfit = Misfit::of(&self.0.json(), allowed.join(", "), suggestion.map(str::to_owned));
        Fault::new(Wrong::Value(misfit)).at(self.0)
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.tree {
            Tree::Null => visitor.visit_unit(),
            Tree::Bool(value) => visitor.visit_bool(*value),
            Tree::Number(number) => number.deserialize_any(visitor).map_err(de::Error::custom),
            Tree::Text(text) => visitor.visit_str(text),
            Tree::List(items) => visitor.visit_seq(Items { all: items, rest: items.iter() }),
            Tree::Map(entries) => visitor.visit_map(Entries { rest: entries.iter(), value: None }),
        }
        .map_err(|fault| fault.at(self.0))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let Tree::Text(typed) = &self.0.tree else {
            let Tree::Bool(value) = self.0.tree else { return Err(self.refuse(&["true", "false"], None)) };
            return visitor.visit_bool(value);
        };
        let meant = match typed.to_lowercase().as_str() {
            "yes" | "y" | "on" => Some("true"),
            "no" | "n" | "off" => Some("false"),
            typed => closest(typed, ["true", "false"]),
        };
        Err(self.refuse(&["true", "false"], meant))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let typed = match &self.0.tree {
            Tree::Text(word) => word.clone(),
            Tree::Number(number) => number.to_string(),
            _ => return Err(self.refuse(words, None)),
        };
        match words.iter().find(|word| **word == typed) {
            Some(word) => {
                let word: StrDeserializer<'_, Fault> = word.into_deserializer();
                visitor.visit_enum(word)
            }
            None => Err(self.refuse(words, closest(&typed, words.iter().copied()))),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    /// A section whose every key is commented out is one without keys.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let entries = match &self.0.tree {
            Tree::Map(entries) => entries.as_slice(),
            Tree::Null => &[],
            _ => return Err(Fault::new(Wrong::NotASection).at(self.0)),
        };
        visitor.visit_map(Entries { rest: entries.iter(), value: None }).map_err(|fault| fault.at(self.0))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let items = match &self.0.tree {
            Tree::List(items) => items.as_slice(),
            Tree::Null => &[],
            _ => return Err(Fault::new(Wrong::NotAList).at(self.0)),
        };
        visitor.visit_seq(Items { all: items, rest: items.iter() })
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        tuple tuple_struct map identifier ignored_any
    }
}

struct Items<'a> {
    all: &'a [Node],
    rest: slice::Iter<'a, Node>,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let index = self.all.len() - self.rest.len();
        let Some(item) = self.rest.next() else { return Ok(None) };
        seed.deserialize(Reader(item)).map(Some).map_err(|fault| fault.inside(&format!("[{index}]")))
    }
}

struct Entries<'a> {
    rest: slice::Iter<'a, Entry>,
    value: Option<&'a Entry>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        self.value = self.rest.next();
        let Some(entry) = self.value else { return Ok(None) };
        let key: StrDeserializer<'_, Fault> = entry.key.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|fault| Fault { at: entry.at, ..fault.inside(&entry.key) })
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let entry = self.value.take().expect("serde asks for a value after its key");
        seed.deserialize(Reader(&entry.value)).map_err(|fault| fault.at(&entry.value).inside(&entry.key))
    }
}
