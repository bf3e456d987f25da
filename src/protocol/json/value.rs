//! JSON values read one field at a time: unknown fields cost nothing, odd values are no errors, lists have a bound.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The most texts that are kept of one list.
const TEXTS_CAP: usize = 1000;

/// An object of which only some fields are looked at. Of a repeated field the last one counts.
pub(in crate::protocol) trait Fields: Default {
    /// Reads the value of a field into `self`; a field that is of no interest goes to [`skip`].
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error>;
}

/// Reads an object; `None` if it does not have the shape.
pub(in crate::protocol) fn object<T: Fields>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok().map(|Nested(value)| value)
}

/// Passes over the value of a field.
pub(in crate::protocol) fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(drop)
}

/// An object with [`Fields`].
#[derive(Debug, Default)]
pub(in crate::protocol) struct Nested<T>(pub(in crate::protocol) T);

impl<'de, T: Fields> Deserialize<'de> for Nested<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NestedVisitor<T>(PhantomData<T>);

        impl<'de, T: Fields> Visitor<'de> for NestedVisitor<T> {
            type Value = Nested<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Nested<T>, A::Error> {
                let mut value = T::default();
                while let Some(name) = map.next_key::<String>()? {
                    value.field(&name, &mut map)?;
                }
                Ok(Nested(value))
            }
        }

        deserializer.deserialize_map(NestedVisitor(PhantomData))
    }
}

/// An item of a list, made of its fields.
pub(in crate::protocol) trait Item: From<Self::Fields> {
    /// The fields that are looked at.
    type Fields: Fields;

    /// The bytes the item takes up in memory.
    fn weight(&self) -> usize;
}

/// A list of objects; what is kept of it is bounded by the weight of its items.
#[derive(Debug)]
pub(in crate::protocol) struct List<T> {
    /// The items kept.
    pub(in crate::protocol) items: Vec<T>,
    /// How many items are in the list.
    pub(in crate::protocol) count: u64,
}

/// The most memory that the items of a list may take up.
const LIST_CAP: usize = 6 << 20;

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { items: Vec::new(), count: 0 }
    }
}

impl<'de, T: Item> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T>(PhantomData<T>);

        impl<'de, T: Item> Visitor<'de> for ListVisitor<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of objects")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
                let (mut list, mut weight) = (List::default(), 0);
                while let Some(Nested(fields)) = seq.next_element()? {
                    let item = T::from(fields);
                    list.count += 1;
                    weight += item.weight();
                    if weight <= LIST_CAP {
                        list.items.push(item);
                    }
                }
                Ok(list)
            }
        }

        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

/// A value of which nobody knows beforehand what it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::protocol) enum Loose {
    /// Absent, null or an object.
    #[default]
    Nothing,
    /// A string.
    Text(String),
    /// A number.
    Number(f64),
    /// True or false.
    Bool(bool),
    /// The strings of a list.
    Texts(Vec<String>),
}

impl Loose {
    /// A string that is not blank.
    pub(in crate::protocol) fn string(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text).filter(|text| !text.trim().is_empty()),
            Self::Nothing | Self::Number(_) | Self::Bool(_) | Self::Texts(_) => None,
        }
    }

    /// A string or number as a word, without white space around it.
    pub(in crate::protocol) fn word(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Self::Number(number) => Some(number.to_string()),
            Self::Nothing | Self::Bool(_) | Self::Texts(_) => None,
        }
    }

    /// This value, or the other where this one is none.
    pub(in crate::protocol) fn or(self, other: Self) -> Self {
        if self == Self::Nothing { other } else { self }
    }

    /// The bytes it takes up in memory.
    pub(in crate::protocol) fn weight(&self) -> usize {
        let texts = match self {
            Self::Text(text) => text.len(),
            Self::Texts(texts) => texts.iter().map(|text| text.len() + size_of::<String>()).sum(),
            Self::Nothing | Self::Number(_) | Self::Bool(_) => 0,
        };
        size_of::<Self>() + texts
    }

    /// The strings of a list, or the one string.
    pub(in crate::protocol) fn texts(self) -> Vec<String> {
        match self {
            Self::Texts(texts) => texts,
            other => other.string().into_iter().collect(),
        }
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Loose, E> {
        Ok(Loose::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Loose, E> {
        Ok(Loose::Bool(value))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Loose, E> {
        Ok(Loose::Number(number))
    }

    // Beyond 2^53 digits are lost; no number that means anything here is so large.
    fn visit_u64<E>(self, number: u64) -> Result<Loose, E> {
        Ok(Loose::Number(number as f64))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Loose, E> {
        Ok(Loose::Number(number as f64))
    }

    fn visit_unit<E>(self) -> Result<Loose, E> {
        Ok(Loose::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Loose, A::Error> {
        let mut texts = Vec::new();
        while let Some(value) = list.next_element::<Self::Value>()? {
            texts.extend(value.string().filter(|_| texts.len() < TEXTS_CAP));
        }
        Ok(Loose::Texts(texts))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loose, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Loose::Nothing)
    }
}

/// The texts of a value in their order, those inside lists and objects included.
#[derive(Debug, Default)]
pub(in crate::protocol) struct Texts(pub(in crate::protocol) Vec<String>);

impl Texts {
    /// All texts as one; `None` where there is none.
    pub(in crate::protocol) fn joined(mut self) -> Option<String> {
        match self.0.len() {
            0 | 1 => self.0.pop(),
            _ => Some(self.0.join("\n")),
        }
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut texts = Self::default();
        deserializer.deserialize_any(Into(&mut texts))?;
        Ok(texts)
    }
}

/// Puts the texts of a value behind others.
struct Into<'a>(&'a mut Texts);

impl<'de> DeserializeSeed<'de> for Into<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Into<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if !text.trim().is_empty() && self.0.0.len() < TEXTS_CAP {
            self.0.0.push(text.to_owned());
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Into(&mut *self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key::<IgnoredAny>()?.is_some() {
            map.next_value_seed(Into(&mut *self.0))?;
        }
        Ok(())
    }
}
