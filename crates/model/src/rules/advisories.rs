//! Parses security advisories in the OSV format, and decides whether an advisory affects a package version.
//!
//! Versions are compared by the rules of the package's ecosystem. Packages of crates.io, npm and Go have semantic
//! versions. Packages of PyPI have versions as defined by PEP 440.

use std::cmp::Ordering;
use std::str::FromStr as _;

use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ecosystem {
    Crates,
    Npm,
    Pypi,
    Go,
}

impl Ecosystem {
    /// Parses the OSV name of an ecosystem, and ignores a suffix such as `:12` in `Debian:12`.
    fn parse(word: &str) -> Option<Self> {
        let word = word.split(':').next()?;
        [Self::Crates, Self::Npm, Self::Pypi, Self::Go]
            .into_iter()
            .find(|ecosystem| ecosystem.as_str() == word)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Crates => "crates.io",
            Self::Npm => "npm",
            Self::Pypi => "PyPI",
            Self::Go => "Go",
        }
    }

    /// Returns the canonical name of a package. The canonical name of a PyPI package is in lower case, with `-`
    /// instead of `_` and `.`.
    pub fn canonical(self, name: &str) -> String {
        match self {
            Self::Pypi => {
                let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
                parts.collect::<Vec<_>>().join("-").to_lowercase()
            }
            Self::Crates | Self::Npm | Self::Go => name.to_owned(),
        }
    }

    fn compare(self, a: &str, b: &str) -> Option<Ordering> {
        match self {
            Self::Pypi => {
                let read = |text| pep440_rs::Version::from_str(text).ok();
                Some(read(a)?.cmp(&read(b)?))
            }
            Self::Crates | Self::Npm | Self::Go => Some(semantic(a)?.cmp_precedence(&semantic(b)?)),
        }
    }
}

/// Parses a semantic version. Forms such as `v1.2.3`, `1.2` and `1` are accepted.
fn semantic(text: &str) -> Option<semver::Version> {
    let text = text.trim().trim_start_matches('v');
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let missing = 2_usize.saturating_sub(text[..end].matches('.').count());
    semver::Version::parse(&format!(
        "{}{}{}",
        &text[..end],
        ".0".repeat(missing),
        &text[end..]
    ))
    .ok()
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locked {
    pub ecosystem: Ecosystem,
    pub name: String,
    pub version: String,
}

/// The effect of an advisory on a locked version of a package: the version is affected, or contains the fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdvisoryMatch {
    Affected,
    Patched { fixed: String },
}

#[derive(Clone, Debug, Deserialize)]
pub struct Advisory {
    pub id: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    #[serde(default)]
    withdrawn: Option<String>,
    #[serde(default)]
    affected: Vec<Affected>,
}

#[derive(Clone, Debug, Deserialize)]
struct Affected {
    package: Option<Package>,
    #[serde(default)]
    ranges: Vec<Range>,
    #[serde(default)]
    versions: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Package {
    ecosystem: String,
    name: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Range {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    events: Vec<Event>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Event {
    Introduced(String),
    Fixed(String),
    LastAffected(String),
    Limit(String),
}

impl Event {
    fn version(&self) -> &str {
        let (Self::Introduced(version)
        | Self::Fixed(version)
        | Self::LastAffected(version)
        | Self::Limit(version)) = self;
        version
    }
}

impl Advisory {
    pub fn is_withdrawn(&self) -> bool {
        self.withdrawn.is_some()
    }

    pub fn is_called(&self, id: &str) -> bool {
        std::iter::once(&self.id)
            .chain(&self.aliases)
            .any(|own| own.eq_ignore_ascii_case(id))
    }

    /// Compares the advisory with a locked version of a package. Returns `None` if the advisory does not concern
    /// this package or this version.
    pub fn check(&self, locked: &Locked) -> Option<AdvisoryMatch> {
        let matches = self
            .affected
            .iter()
            .filter(|affected| {
                affected.package.as_ref().is_some_and(|package| {
                    Ecosystem::parse(&package.ecosystem) == Some(locked.ecosystem)
                        && locked.ecosystem.canonical(&package.name) == locked.name
                })
            })
            .flat_map(|affected| {
                let listed = affected
                    .versions
                    .iter()
                    .filter(|version| same(locked, version));
                let ranges = affected.ranges.iter().filter(|range| range.kind != "GIT");
                listed
                    .map(|_| AdvisoryMatch::Affected)
                    .chain(ranges.filter_map(|range| range.check(locked)))
            });
        matches.max_by_key(|found| *found == AdvisoryMatch::Affected)
    }
}

fn same(locked: &Locked, version: &str) -> bool {
    locked.version == version
        || locked.ecosystem.compare(&locked.version, version) == Some(Ordering::Equal)
}

/// In the OSV schema, the version `0` precedes every other version.
fn compare(locked: &Locked, a: &str, b: &str) -> Option<Ordering> {
    match (a == "0", b == "0") {
        (false, false) => locked.ecosystem.compare(a, b),
        (a, b) => Some(b.cmp(&a)),
    }
}

impl Range {
    fn check(&self, locked: &Locked) -> Option<AdvisoryMatch> {
        let mut events: Vec<&Event> = self.events.iter().collect();
        events.sort_by(|a, b| compare(locked, a.version(), b.version()).unwrap_or(Ordering::Equal));
        let mut state = None;
        for event in events {
            let order = compare(locked, event.version(), &locked.version)?;
            match event {
                Event::Introduced(_) if order.is_le() => state = Some(AdvisoryMatch::Affected),
                Event::Fixed(fixed) if order.is_le() && state.is_some() => {
                    state = Some(AdvisoryMatch::Patched {
                        fixed: fixed.clone(),
                    });
                }
                Event::LastAffected(_) if order.is_lt() => state = None,
                Event::Introduced(_)
                | Event::Fixed(_)
                | Event::LastAffected(_)
                | Event::Limit(_) => {}
            }
        }
        state
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn advisory(ecosystem: &str, events: &str, versions: &str) -> Advisory {
        serde_json::from_str(&format!(
            r#"{{"id": "RUSTSEC-2024-0001", "aliases": ["CVE-2024-1"], "affected": [{{
                "package": {{"ecosystem": "{ecosystem}", "name": "Some_Lib"}},
                "ranges": [{{"type": "ECOSYSTEM", "events": [{events}]}}], "versions": [{versions}]}}]}}"#
        ))
        .unwrap()
    }

    #[test]
    fn the_table_of_versions() {
        let twice = r#"{"introduced": "0"}, {"fixed": "1.2.3"}, {"introduced": "2.0.0-rc.1"}, {"fixed": "2.1.0"}"#;
        let last = r#"{"introduced": "1.0"}, {"last_affected": "1.4"}"#;
        let python = r#"{"introduced": "0"}, {"fixed": "2.0rc1"}"#;
        let rows = [
            ("crates.io", twice, "0.1.0", "affected"),
            ("crates.io", twice, "1.2.3-beta.1", "affected"),
            ("crates.io", twice, "1.2.3", "patched in 1.2.3"),
            ("crates.io", twice, "1.2.10", "patched in 1.2.3"),
            ("crates.io", twice, "2.0.0-alpha", "patched in 1.2.3"),
            ("crates.io", twice, "2.0.0", "affected"),
            ("npm", twice, "2.1.0+build.7", "patched in 2.1.0"),
            ("Go", twice, "v2.0.5", "affected"),
            (
                "Go",
                twice,
                "v0.0.0-20200101000000-abcdefabcdef",
                "affected",
            ),
            ("npm", last, "0.9.0", "nothing"),
            ("npm", last, "1.4.0", "affected"),
            ("npm", last, "1.4.1", "nothing"),
            ("PyPI", python, "2.0b3", "affected"),
            ("PyPI", python, "2.0.post1", "patched in 2.0rc1"),
            ("PyPI", python, "not a version", "nothing"),
            ("Debian:12", twice, "0.1.0", "nothing"),
        ];
        for (word, events, version, expected) in rows {
            let ecosystem = Ecosystem::parse(word).unwrap_or(Ecosystem::Crates);
            let name = ecosystem.canonical("Some_Lib");
            let locked = Locked {
                ecosystem,
                name,
                version: version.to_owned(),
            };
            let found = match advisory(word, events, "").check(&locked) {
                None => "nothing".to_owned(),
                Some(AdvisoryMatch::Affected) => "affected".to_owned(),
                Some(AdvisoryMatch::Patched { fixed }) => format!("patched in {fixed}"),
            };
            assert_eq!(found, expected, "{word} {version}");
        }
    }

    #[test]
    fn listed_versions_are_affected_and_names_fit_their_ecosystem() {
        let listed = advisory("PyPI", "", r#""1.0", "1.1""#);
        let locked = |name: &str, version: &str| Locked {
            ecosystem: Ecosystem::Pypi,
            name: Ecosystem::Pypi.canonical(name),
            version: version.to_owned(),
        };
        assert_eq!(
            listed.check(&locked("some.lib", "1.1.0")),
            Some(AdvisoryMatch::Affected)
        );
        assert_eq!(listed.check(&locked("some-lib", "1.2")), None);
        assert_eq!(listed.check(&locked("other", "1.1")), None);
        assert!(listed.is_called("cve-2024-1") && !listed.is_called("CVE-2024-11"));
    }
}
