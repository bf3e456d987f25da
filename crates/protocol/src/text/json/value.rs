//! A JSON value of unknown shape. The accessors treat a value of an unexpected type as missing.

use std::{fmt, iter};

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

const TEXTS_CAP: usize = 1000;

/// A JSON value of any type. For small objects, this type needs much less memory than [`serde_json::Value`].
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LenientValue {
    #[default]
    Nothing,
    Bool(bool),
    /// A number. Integers beyond 2^53 lose precision.
    Number(f64),
    Text(String),
    List(Vec<Self>),
    /// The fields of an object, in the order of the document. If several fields have the same name, the last
    /// field counts.
    Object(Box<[(String, Self)]>),
}

impl LenientValue {
    pub fn fields(&self) -> &[(String, Self)] {
        match self {
            Self::Object(fields) => fields,
            _ => &[],
        }
    }

    pub fn get(&self, names: &[&str]) -> &Self {
        let named = self
            .fields()
            .iter()
            .rev()
            .find(|(name, _)| names.contains(&name.as_str()));
        named.map_or(&Self::Nothing, |(_, value)| value)
    }

    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::Nothing
    }

    pub fn string(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// Converts a string or a number to text without surrounding white space. Returns `None` for a blank string
    /// and for any other value.
    pub fn word(&self) -> Option<String> {
        self.text()
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
    }

    pub fn texts(&self) -> Vec<String> {
        match self {
            Self::List(items) => items
                .iter()
                .filter_map(Self::string)
                .take(TEXTS_CAP)
                .collect(),
            other => other.string().into_iter().collect(),
        }
    }

    /// Returns all strings in a value, including nested strings, joined by line breaks. Returns `None` if the
    /// value contains no string.
    pub fn joined(&self) -> Option<String> {
        let mut texts = Vec::new();
        self.gather(&mut texts);
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    fn gather<'a>(&'a self, texts: &mut Vec<&'a str>) {
        match self {
            Self::Text(text) if texts.len() < TEXTS_CAP && !text.trim().is_empty() => {
                texts.push(text)
            }
            Self::List(items) => items.iter().for_each(|item| item.gather(texts)),
            other => other
                .fields()
                .iter()
                .for_each(|(_, value)| value.gather(texts)),
        }
    }
}

impl<'de> Deserialize<'de> for LenientValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = LenientValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_unit<E>(self) -> Result<LenientValue, E> {
                Ok(LenientValue::Nothing)
            }

            fn visit_bool<E>(self, value: bool) -> Result<LenientValue, E> {
                Ok(LenientValue::Bool(value))
            }

            fn visit_f64<E>(self, number: f64) -> Result<LenientValue, E> {
                Ok(LenientValue::Number(number))
            }

            fn visit_u64<E>(self, number: u64) -> Result<LenientValue, E> {
                Ok(LenientValue::Number(number as f64))
            }

            fn visit_i64<E>(self, number: i64) -> Result<LenientValue, E> {
                Ok(LenientValue::Number(number as f64))
            }

            fn visit_str<E>(self, text: &str) -> Result<LenientValue, E> {
                Ok(LenientValue::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<LenientValue, A::Error> {
                iter::from_fn(|| list.next_element().transpose())
                    .collect::<Result<_, _>>()
                    .map(LenientValue::List)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LenientValue, A::Error> {
                iter::from_fn(|| map.next_entry().transpose())
                    .collect::<Result<_, _>>()
                    .map(LenientValue::Object)
            }
        }

        deserializer.deserialize_any(Any)
    }
}
