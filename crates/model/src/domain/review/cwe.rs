//! Weaknesses by the Common Weakness Enumeration (CWE). The table of weaknesses is a part of the program, and
//! `tests/update-weaknesses.py` writes it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SEPARATORS: [char; 4] = ['-', ':', '_', ' '];

/// The entries of view 1000 under which a weakness concerns security by definition: access control (284), references to
/// and exposure of resources of another control sphere (610, 668), protection mechanisms (693), and neutralization
/// (707). Of other entries, such as resource management (664), the table does not tell it.
const SECURITY: [u16; 5] = [284, 610, 668, 693, 707];

static TABLE: LazyLock<BTreeMap<u16, Weakness>> =
    LazyLock::new(|| read_table(include_str!("weaknesses.tsv")));

/// The number of a weakness, written `CWE-89`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cwe(pub u16);

/// How near two weaknesses are to each other in view 1000 (Research Concepts) of the enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinship {
    Equal,
    /// One is an ancestor of the other, such as CWE-943 of CWE-89.
    Parent,
    /// Both have a parent in common, or one leads to the other, such as CWE-73 to CWE-22. The pillars at the top of
    /// the view make no siblings: their children have too little in common.
    Sibling,
    Unrelated,
}

struct Weakness {
    name: &'static str,
    parents: Vec<u16>,
    neighbours: Vec<u16>,
}

impl Cwe {
    /// Parses the id of a weakness in the table, such as `CWE-89`, `cwe-089` or `89`. Deprecated weaknesses,
    /// categories and views are no weaknesses.
    pub fn parse(text: &str) -> Option<Self> {
        let number = number(text).and_then(|digits| digits.parse().ok())?;
        TABLE.contains_key(&number).then_some(Self(number))
    }

    /// Returns the first weakness whose id a text contains, such as `CWE-89` in `external/cwe/cwe-089` or in
    /// `CWE-89: SQL Injection`.
    pub fn find(text: &str) -> Option<Self> {
        ids(text).find_map(Self::parse)
    }

    /// Whether a text has the form `CWE-89`, even if it names no weakness of the table.
    pub fn is_id(text: &str) -> bool {
        ids(text).next() == Some(text)
    }

    /// The name in the table. A record can have an id that the table lacks.
    pub fn name(self) -> Option<&'static str> {
        Some(self.weakness()?.name)
    }

    /// The address of MITRE's page about the weakness.
    pub fn url(self) -> String {
        format!("https://cwe.mitre.org/data/definitions/{}.html", self.0)
    }

    pub(crate) fn kinship(self, other: Self) -> Kinship {
        if self == other {
            return Kinship::Equal;
        }
        if self.ancestors().contains(&other.0) || other.ancestors().contains(&self.0) {
            return Kinship::Parent;
        }
        let have_parent = self.parents().any(|parent| {
            !Self(parent).is_pillar() && other.parents().any(|theirs| theirs == parent)
        });
        if have_parent || self.leads_to(other) || other.leads_to(self) {
            return Kinship::Sibling;
        }
        Kinship::Unrelated
    }

    /// Whether the weakness certainly concerns security. Many other weaknesses can be exploited, too.
    pub fn is_security(self) -> bool {
        let ancestors = self.ancestors();
        SECURITY
            .iter()
            .any(|entry| *entry == self.0 || ancestors.contains(entry))
    }

    fn weakness(self) -> Option<&'static Weakness> {
        TABLE.get(&self.0)
    }

    fn parents(self) -> impl Iterator<Item = u16> {
        self.weakness()
            .into_iter()
            .flat_map(|weakness| weakness.parents.iter().copied())
    }

    fn ancestors(self) -> BTreeSet<u16> {
        let mut found = BTreeSet::new();
        let mut pending = vec![self];
        while let Some(weakness) = pending.pop() {
            for parent in weakness.parents() {
                if found.insert(parent) {
                    pending.push(Self(parent));
                }
            }
        }
        found
    }

    fn is_pillar(self) -> bool {
        self.parents().next().is_none()
    }

    fn leads_to(self, other: Self) -> bool {
        self.weakness()
            .is_some_and(|weakness| weakness.neighbours.contains(&other.0))
    }
}

/// The digits of an id.
fn number(text: &str) -> Option<&str> {
    let text = text.trim();
    let digits = match text.get(..3) {
        Some(prefix) if prefix.eq_ignore_ascii_case("cwe") => {
            text[3..].trim_start_matches(SEPARATORS)
        }
        _ => text,
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(digits)
}

/// The parts of a text that have the form of an id.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.char_indices().filter(|(at, _)| {
        let begins_a_word = !text[..*at].ends_with(char::is_alphanumeric);
        let prefix = text[*at..].get(..3);
        begins_a_word && prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case("cwe"))
    });
    starts.filter_map(|(at, _)| {
        let after = text[at + 3..].trim_start_matches(SEPARATORS);
        let length = after.bytes().take_while(u8::is_ascii_digit).count();
        let end = text.len() - after.len() + length;
        let ends_a_word = !after[length..].starts_with(char::is_alphanumeric);
        (length > 0 && ends_a_word).then(|| &text[at..end])
    })
}

fn read_table(text: &'static str) -> BTreeMap<u16, Weakness> {
    let mut table = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        let id = next().parse().expect("the table has ids");
        let weakness = Weakness {
            parents: read_ids(next()),
            neighbours: read_ids(next()),
            name: next(),
        };
        table.insert(id, weakness);
    }
    table
}

fn read_ids(list: &str) -> Vec<u16> {
    list.split(',').filter_map(|id| id.parse().ok()).collect()
}

impl fmt::Display for Cwe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("CWE-{}", self.0))
    }
}

impl Serialize for Cwe {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cwe {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let id = number(&text).and_then(|digits| digits.parse().ok());
        id.map(Self).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "invalid weakness `{text}`: expected an id such as `CWE-89`"
            ))
        })
    }
}

impl JsonSchema for Cwe {
    fn schema_name() -> Cow<'static, str> {
        "Cwe".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^CWE-[1-9][0-9]*$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weaknesses_of_security_by_the_table() {
        for id in [22, 78, 79, 89, 200, 327, 352, 611, 862, 918] {
            assert!(Cwe(id).is_security(), "{id}");
        }
        for id in [401, 476, 561, 682, 772, 9999] {
            assert!(!Cwe(id).is_security(), "{id}");
        }
    }

    #[test]
    fn an_id_is_read_in_each_form_and_only_when_it_is_in_the_table() {
        for text in [
            "CWE-89", "cwe-089", "CWE 89", "cwe_89", "CWE:89", "CWE89", " 89 ", "0089",
        ] {
            assert_eq!(Cwe::parse(text), Some(Cwe(89)), "{text}");
        }
        // CWE-16 is a category, CWE-1000 a view, and CWE-247 is deprecated.
        for text in [
            "",
            "CWE",
            "CWE-",
            "CWE-x",
            "CWE-89x",
            "-89",
            "8.9",
            "0",
            "CWE-9999",
            "CWE-99999999",
            "CWE-16",
            "CWE-1000",
            "CWE-247",
            "CVE-2021-89",
            "cw\u{e9}-89",
        ] {
            assert_eq!(Cwe::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_first_known_id_in_a_text_is_found() {
        for (text, expected) in [
            ("external/cwe/cwe-089", Some(89)),
            ("CWE-89: SQL Injection (CWE-564)", Some(89)),
            ("not CWE-9999, but cwe 22", Some(22)),
            ("\u{201e}CWE-79\u{201c}", Some(79)),
            ("89", None),
            ("MCWE-89 CWE-89x cwe CWE-", None),
        ] {
            assert_eq!(Cwe::find(text), expected.map(Cwe), "{text}");
        }
    }

    #[test]
    fn each_row_of_the_table_has_a_name_and_known_relatives() {
        assert!(TABLE.len() > 900);
        for (id, weakness) in TABLE.iter() {
            assert!(!weakness.name.is_empty(), "{id}");
            for relative in weakness.parents.iter().chain(&weakness.neighbours) {
                assert!(TABLE.contains_key(relative), "{id}: {relative}");
            }
            assert!(!Cwe(*id).ancestors().contains(id), "{id}");
        }
        let pillars = TABLE.keys().filter(|id| Cwe(**id).is_pillar());
        assert_eq!(pillars.count(), 10);
        assert_eq!(
            Cwe(79).name(),
            Some(
                "Improper Neutralization of Input During Web Page Generation ('Cross-site Scripting')"
            )
        );
    }

    #[test]
    fn weaknesses_are_equal_parents_siblings_or_unrelated() {
        use Kinship::{Equal, Parent, Sibling, Unrelated};
        for (one, other, expected) in [
            (89, 89, Equal),
            (89, 943, Parent),
            (78, 77, Parent),
            (22, 23, Parent),
            (327, 916, Parent),
            (89, 707, Parent),
            (22, 73, Sibling),
            (78, 88, Sibling),
            (798, 1392, Sibling),
            (862, 863, Sibling),
            // Both are injections, but through different parents.
            (78, 89, Unrelated),
            // Only the pillar CWE-710 is above both.
            (476, 571, Unrelated),
            (79, 1073, Unrelated),
            (89, 65_000, Unrelated),
        ] {
            assert_eq!(Cwe(one).kinship(Cwe(other)), expected, "{one} {other}");
            assert_eq!(Cwe(other).kinship(Cwe(one)), expected, "{other} {one}");
        }
    }

    #[test]
    fn a_recorded_id_is_read_back_even_when_the_table_lacks_it() {
        let id: Cwe = serde_json::from_str("\"CWE-65000\"").expect("an id");
        assert_eq!(id, Cwe(65_000));
        assert_eq!(id.name(), None);
        assert_eq!(serde_json::to_string(&id).expect("text"), "\"CWE-65000\"");
        for text in ["\"SQL\"", "\"CWE-99999999\"", "89"] {
            assert!(serde_json::from_str::<Cwe>(text).is_err(), "{text}");
        }
    }
}
