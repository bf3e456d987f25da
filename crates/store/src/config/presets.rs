//! Presets: settings that one flag of `glee review` sets together.

use serde_json::Value;

use crate::config::{ConfigError, typed};

#[derive(Clone, Copy, Debug)]
pub struct Preset {
    pub flag: &'static str,
    settings: &'static [(&'static str, &'static str)],
}

pub const QUICK: Preset = Preset {
    flag: "--quick",
    settings: &[
        ("review.reviewers", "first"),
        ("review.rounds", "1"),
        ("review.debate", "off"),
    ],
};

pub const THOROUGH: Preset = Preset {
    flag: "--thorough",
    settings: &[
        ("review.reviewers", "all"),
        ("review.rounds", "3"),
        ("review.debate", "auto"),
        ("review.recheck", "true"),
    ],
};

impl Preset {
    pub const ALL: [Self; 2] = [QUICK, THOROUGH];

    /// Returns the settings of the preset, as pairs of a dotted key and a value.
    pub fn values(&self) -> Result<Vec<(String, Value)>, ConfigError> {
        self.settings
            .iter()
            .map(|(key, text)| Ok(((*key).to_owned(), typed(key, text)?)))
            .collect()
    }

    /// Formats the settings of the preset, for example as `review.rounds = 1, review.debate = off`.
    pub fn sentence(&self) -> String {
        self.settings
            .iter()
            .map(|(key, text)| format!("{key} = {text}"))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_a_preset_is_a_setting() {
        for preset in Preset::ALL {
            assert!(
                preset.values().is_ok_and(|values| !values.is_empty()),
                "{}",
                preset.flag
            );
        }
    }
}
