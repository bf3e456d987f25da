//! Names of enum variants in JSON.

use super::{
    Answer, AnswerStatus, Certainty, Class, DefenceWord, Effort, EventType, ExaminationWord,
    Grounds, Role, Route, RulingWord, StageStatus, Tag, Trigger, Verdict, WatchStatus,
};

/// Implements `as_str`, `parse` and `Display` for enums without fields. In each enum, the names of the variants
/// are either all upper case or all lower case.
macro_rules! words {
    ($($type:ident),+ $(,)?) => {
        $(impl $type {
            pub fn as_str(self) -> &'static str {
                serde_variant::to_variant_name(&self).expect("a variant without fields has a name")
            }

            /// Parses a name in any letter case.
            pub fn parse(word: &str) -> Option<Self> {
                type Word<'a> = serde::de::value::StrDeserializer<'a, serde::de::value::Error>;
                let cases = [word.to_ascii_uppercase(), word.to_ascii_lowercase()];
                cases.iter().find_map(|word| serde::Deserialize::deserialize(Word::new(word)).ok())
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        })+
    };
}

pub(crate) use words;

words! {
    Answer, AnswerStatus, Certainty, Class, DefenceWord, Effort, EventType, ExaminationWord, Grounds, Role, Route,
    RulingWord, StageStatus, Tag, Trigger, Verdict, WatchStatus
}
