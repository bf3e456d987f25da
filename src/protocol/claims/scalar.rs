//! Values that several writers write differently.

use std::fmt;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value that several writers write differently.
#[derive(Debug, Default)]
pub(super) enum Scalar {
    #[default]
    None,
    Text(String),
    Number(f64),
    Flag(bool),
}

/// A value that few documents have; the others do not pay for its room.
#[derive(Debug, Default)]
pub(super) struct Rare(Option<Box<Scalar>>);

impl Deref for Rare {
    type Target = Scalar;

    fn deref(&self) -> &Scalar {
        self.0.as_deref().unwrap_or(&Scalar::None)
    }
}

impl<'de> Deserialize<'de> for Rare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Some(Box::new(Scalar::deserialize(deserializer)?))))
    }
}

impl Rare {
    /// Whether the document has it.
    pub(super) fn is_told(&self) -> bool {
        !self.is_none()
    }
}

impl Scalar {
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            Self::Flag(_) | Self::None => None,
        }
    }

    pub(super) fn take_text(&mut self) -> Option<String> {
        match std::mem::take(self) {
            Self::Text(text) => Some(text).filter(|text| !text.is_empty()),
            other => other.text(),
        }
    }

    pub(super) fn number(&self) -> Option<i32> {
        #[expect(clippy::cast_possible_truncation, reason = "a float turns into the nearest integer that exists")]
        match self {
            Self::Number(number) => Some(number.round() as i32),
            Self::Text(text) => text.trim().trim_start_matches('+').trim_end_matches('%').parse().ok(),
            Self::Flag(_) | Self::None => None,
        }
    }

    /// A confidence; numbers between 0 and 1 are shares of 100.
    pub(super) fn percent(&self) -> Option<u8> {
        if let Self::Number(share) = self
            && *share > 0.0
            && *share < 1.0
        {
            return Self::Number(share * 100.0).percent();
        }
        self.number().map(|number| u8::try_from(number.clamp(0, 100)).unwrap_or(100))
    }

    /// `12`, `"12"` or `"12-14"`.
    pub(super) fn range(&self) -> (Option<u32>, Option<u32>) {
        match self {
            Self::Text(text) => {
                let (first, last) = text.split_once('-').unwrap_or((text, ""));
                (first.trim().parse().ok(), last.trim().parse().ok())
            }
            other => (other.number().and_then(|number| u32::try_from(number).ok()), None),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }

            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<Scalar, E> {
                Ok(Scalar::Text(text))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Scalar, E> {
                Ok(i32::try_from(number).map_or(Scalar::None, |number| Scalar::Number(f64::from(number))))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Scalar, E> {
                Ok(u32::try_from(number).map_or(Scalar::None, |number| Scalar::Number(f64::from(number))))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Scalar, E> {
                Ok(Scalar::Number(number))
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Scalar, E> {
                Ok(Scalar::Flag(flag))
            }

            fn visit_unit<E>(self) -> Result<Scalar, E> {
                Ok(Scalar::None)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar, A::Error> {
                while seq.next_element::<de::IgnoredAny>()?.is_some() {}
                Ok(Scalar::None)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
                while map.next_entry::<de::IgnoredAny, de::IgnoredAny>()?.is_some() {}
                Ok(Scalar::None)
            }
        }
        deserializer.deserialize_any(Any)
    }
}
