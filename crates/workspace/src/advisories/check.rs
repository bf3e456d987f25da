//! Compares findings about a package or an advisory with the nearest lock files and with an advisory database. The
//! database is a folder or zip archive in OSV format, or a server with OSV's HTTP API. The database is read only if
//! a finding mentions a package or an advisory. The network is used only if a server is configured.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use aho_corasick::AhoCorasick;

use super::osv;
use crate::advisories::lockfiles;
use crate::root::Workspace;
use crate::select::walk;
use glee_model::domain::Advice;
use glee_model::rules::advisories::{Advisory, AdvisoryMatch, Locked};
use glee_model::rules::consensus::{AdvisoryStatus, Category, Member, category};
use glee_store::config::settings::Advisories;
use glee_system::files;

const IDS: [&str; 8] = [
    "CVE-", "GHSA-", "RUSTSEC-", "PYSEC-", "GO-", "OSV-", "MAL-", "SNYK-",
];

/// In the text of a finding, a name next to one of these words counts as the name of a package.
const KINDS: [&str; 6] = [
    "crate",
    "package",
    "module",
    "library",
    "dependency",
    "version",
];

/// The maximum size of an advisory file, in bytes.
const LARGEST: u64 = 4 << 20;

#[derive(Debug, thiserror::Error)]
pub enum AdvisoryError {
    #[error("failed to read the advisories in `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("failed to request advisories from `{url}`: {why}")]
    Ask { url: String, why: String },
}

impl Advice for AdvisoryError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Read { .. } => {
                "set `advisories.path` to a folder or a zip archive of OSV's JSON, or remove the key".to_owned()
            }
            Self::Ask { .. } => {
                "set `advisories.url` to the root of an API like https://api.osv.dev, or remove the key".to_owned()
            }
        })
    }
}

struct Question {
    member: usize,
    ids: Vec<String>,
    named: Vec<Locked>,
    /// All packages in the lock files nearest to the finding's file. If the finding mentions the id of an advisory,
    /// Glee checks all packages in the lock files.
    around: BTreeSet<Locked>,
}

/// Checks findings against the configured databases, and stores the result of each check in the finding. A relative
/// path of a database starts at the root of the tree. Files that are not advisories are skipped.
pub fn check(
    members: &mut [Member],
    workspace: &Workspace,
    databases: &Advisories,
) -> Result<(), AdvisoryError> {
    if databases.path.is_empty() && databases.url.is_none() {
        return Ok(());
    }
    let mut locked: BTreeMap<String, BTreeSet<Locked>> = BTreeMap::new();
    let mut questions = Vec::new();
    for (index, member) in members.iter().enumerate() {
        let raw = &member.raw;
        let title = member.title();
        if category(raw.category.as_deref(), raw.rule.as_deref(), title) != Category::Security
            && ids(title).next().is_none()
        {
            continue;
        }
        let text = format!("{title}\n{}", member.description());
        let ids: Vec<String> = ids(&text).map(str::to_owned).collect();
        let around = around(member, workspace, &mut locked);
        let named: Vec<Locked> = around
            .iter()
            .filter(|package| names(&text, &package.name))
            .cloned()
            .collect();
        if !ids.is_empty() || !named.is_empty() {
            questions.push(Question {
                member: index,
                ids,
                named,
                around,
            });
        }
    }
    if questions.is_empty() {
        return Ok(());
    }
    let ids: BTreeSet<&str> = questions
        .iter()
        .flat_map(|question| &question.ids)
        .map(String::as_str)
        .collect();
    // If a finding mentions the id of an advisory, Glee checks the finding against no other advisory.
    let packages: BTreeSet<&Locked> = questions
        .iter()
        .filter(|question| question.ids.is_empty())
        .flat_map(|question| &question.named)
        .collect();
    let mut advisories = Vec::new();
    if !databases.path.is_empty() {
        let names = packages.iter().map(|package| package.name.as_str());
        let wanted: BTreeSet<&str> = ids.iter().copied().chain(names).collect();
        for path in &databases.path {
            let path = workspace.root().join(path);
            let found =
                matching(&path, &wanted).map_err(|source| AdvisoryError::Read { path, source })?;
            advisories.extend(found);
        }
    }
    if let Some(url) = &databases.url {
        let found = osv::ask(url, &ids, &packages);
        advisories.extend(found.map_err(|why| AdvisoryError::Ask {
            url: url.clone(),
            why,
        })?);
    }
    advisories.retain(|advisory| !advisory.is_withdrawn());
    advisories.sort_by(|a, b| a.id.cmp(&b.id));
    for question in questions {
        members[question.member].checked.advisory = question.answer(&advisories);
    }
    Ok(())
}

fn ids(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.map(|word| word.trim_matches('-')).filter(|word| {
        IDS.iter().any(|start| {
            word.get(..start.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(start))
                && word.len() > start.len() + 3
        })
    })
}

/// Whether `text` mentions the package `name`. A name that consists only of letters can also be an ordinary
/// word. Such a name must be in quotes, next to a version, or next to one of [`KINDS`].
fn names(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '@');
    let is_distinct = name.contains(|c: char| !c.is_ascii_alphabetic());
    let lower = text.to_lowercase();
    let name = name.to_lowercase();
    lower.match_indices(&name).any(|(at, _)| {
        let before = &lower[..at];
        let after = &lower[at + name.len()..];
        if before.ends_with(is_part) && !before.ends_with('@')
            || after.starts_with(|c: char| is_part(c) && c != '@')
        {
            return false;
        }
        let quoted =
            before.ends_with(['`', '"', '\'']) && after.starts_with(['`', '"', '\'', '@', ' ']);
        let neighbours = [
            before.split_whitespace().next_back(),
            after.split_whitespace().next(),
        ];
        is_distinct
            || quoted
            || after.starts_with('@')
            || neighbours.into_iter().flatten().any(|word: &str| {
                let word = word.trim_matches(|c: char| !c.is_alphanumeric());
                KINDS.contains(&word) || word.starts_with(|c: char| c.is_ascii_digit())
            })
    })
}

/// The packages in the lock files nearest to a finding's file. The search starts in the folder of the file, and
/// continues in the parent folders until a folder has a lock file with packages.
fn around(
    member: &Member,
    workspace: &Workspace,
    known: &mut BTreeMap<String, BTreeSet<Locked>>,
) -> BTreeSet<Locked> {
    let file = member
        .raw
        .file
        .as_deref()
        .unwrap_or_default()
        .trim_start_matches("./");
    let mut folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    loop {
        let here = known
            .entry(folder.to_owned())
            .or_insert_with(|| in_folder(folder, workspace));
        if folder.is_empty() || !here.is_empty() {
            return here.clone();
        }
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
    }
}

fn in_folder(folder: &str, workspace: &Workspace) -> BTreeSet<Locked> {
    let mut found = BTreeSet::new();
    for name in lockfiles::NAMES {
        let path = if folder.is_empty() {
            name.to_owned()
        } else {
            format!("{folder}/{name}")
        };
        // `go.sum` also lists unused versions, so `go.sum` is read only if `go.mod` lists no versions.
        if name == "go.sum"
            && found
                .iter()
                .any(|package: &Locked| package.version.starts_with('v'))
        {
            continue;
        }
        if let Some(text) = workspace.read(&path) {
            found.extend(lockfiles::packages(name, &text));
        }
    }
    found
}

/// Reads a folder or zip archive, and returns the advisories that contain at least one of the words in `wanted`.
fn matching(path: &Path, wanted: &BTreeSet<&str>) -> io::Result<Vec<Advisory>> {
    let wanted = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(wanted)
        .map_err(io::Error::other)?;
    let mut found = Vec::new();
    if path.is_dir() {
        for entry in walk::everything(path) {
            let entry = entry?;
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            if is_file && entry.path().extension().is_some_and(|end| end == "json") {
                found.extend(advisory(files::regular(entry.path())?, &wanted)?);
            }
        }
    } else {
        let archive = io::BufReader::new(files::regular(path)?);
        let mut archive = zip::ZipArchive::new(archive).map_err(io::Error::other)?;
        for index in 0..archive.len() {
            let file = archive.by_index(index).map_err(io::Error::other)?;
            if file.is_file() && file.name().ends_with(".json") {
                found.extend(advisory(file, &wanted)?);
            }
        }
    }
    Ok(found)
}

/// Reads an advisory. Returns `None` if the file contains none of the words in `wanted`.
fn advisory(file: impl io::Read, wanted: &AhoCorasick) -> io::Result<Option<Advisory>> {
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    if !wanted.is_match(&bytes) {
        return Ok(None);
    }
    Ok(serde_json::from_slice(&bytes).ok())
}

impl Question {
    /// Returns `Confirmed` if an advisory affects a locked version. If no locked version is affected, but a locked
    /// version contains the fix, returns `Patched`. Returns `Nothing` if no locked version is affected and no
    /// locked version contains a fix.
    fn answer(&self, advisories: &[Advisory]) -> AdvisoryStatus {
        let mut patched = None;
        for advisory in advisories {
            let packages: Vec<&Locked> = if self.ids.iter().any(|id| advisory.is_called(id)) {
                self.around.iter().collect()
            } else if self.ids.is_empty() {
                self.named.iter().collect()
            } else {
                continue;
            };
            for package in packages {
                let version = format!("{} {}", package.name, package.version);
                match advisory.check(package) {
                    Some(AdvisoryMatch::Affected) => {
                        return AdvisoryStatus::Confirmed {
                            id: advisory.id.clone(),
                            version,
                        };
                    }
                    Some(AdvisoryMatch::Patched { fixed }) => {
                        patched.get_or_insert(AdvisoryStatus::Patched {
                            id: advisory.id.clone(),
                            version,
                            fixed,
                        });
                    }
                    None => {}
                }
            }
        }
        patched.unwrap_or(AdvisoryStatus::Nothing)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::fs;
    use std::io::Write as _;

    use super::*;
    use glee_model::domain::RawFinding;

    const TIME: &str = r#"{"id": "RUSTSEC-2020-0071", "aliases": ["CVE-2020-26235"], "affected": [{
        "package": {"ecosystem": "crates.io", "name": "time"},
        "ranges": [{"type": "SEMVER", "events": [{"introduced": "0.1.0"}, {"fixed": "0.2.23"}]}]}]}"#;

    fn finding(category: &str, file: &str, title: &str) -> Member {
        let file = Some(file.to_owned());
        let title = title.into();
        let category = Some(category.to_owned());
        Member {
            raw: RawFinding {
                file,
                title,
                category,
                ..RawFinding::default()
            },
            ..Member::default()
        }
    }

    fn security(file: &str, title: &str) -> Member {
        finding("security", file, title)
    }

    #[test]
    fn the_lock_files_above_a_finding_decide_whether_an_advisory_applies() {
        let folder = tempfile::tempdir().unwrap();
        let lock =
            |version: &str| format!("[[package]]\nname = \"time\"\nversion = \"{version}\"\n");
        fs::create_dir_all(folder.path().join("tree/old")).unwrap();
        fs::write(folder.path().join("tree/Cargo.lock"), lock("0.3.36")).unwrap();
        fs::create_dir_all(folder.path().join("tree/old/src")).unwrap();
        fs::create_dir_all(folder.path().join("tree/new/src")).unwrap();
        fs::write(folder.path().join("tree/old/Cargo.lock"), lock("0.1.43")).unwrap();
        fs::create_dir_all(folder.path().join("osv/crates.io")).unwrap();
        fs::write(
            folder.path().join("osv/crates.io/RUSTSEC-2020-0071.json"),
            TIME,
        )
        .unwrap();
        fs::write(folder.path().join("osv/broken.json"), "time {").unwrap();
        let archive = folder.path().join("all.zip");
        let mut zip = zip::ZipWriter::new(fs::File::create(&archive).unwrap());
        zip.start_file(
            "RUSTSEC-2020-0071.json",
            zip::write::SimpleFileOptions::default(),
        )
        .unwrap();
        zip.write_all(TIME.as_bytes()).unwrap();
        zip.finish().unwrap();
        let workspace = Workspace::discover(&folder.path().join("tree")).unwrap();
        let confirmed = |id: &str| AdvisoryStatus::Confirmed {
            id: id.into(),
            version: "time 0.1.43".into(),
        };
        let rows = [
            (
                security("old/src/a.rs", "`time` has a segfault"),
                confirmed("RUSTSEC-2020-0071"),
            ),
            (
                security("old/src/a.rs", "The crate time may crash"),
                confirmed("RUSTSEC-2020-0071"),
            ),
            (
                security("old/src/a.rs", "Affected by cve-2020-26235"),
                confirmed("RUSTSEC-2020-0071"),
            ),
            (
                security("new/src/a.rs", "`time` has a segfault (CVE-2020-26235)"),
                AdvisoryStatus::Patched {
                    id: "RUSTSEC-2020-0071".into(),
                    version: "time 0.3.36".into(),
                    fixed: "0.2.23".into(),
                },
            ),
            (
                security("old/src/a.rs", "CVE-2099-99999 in `time`"),
                AdvisoryStatus::Nothing,
            ),
            (
                security("old/src/a.rs", "Takes a long time"),
                AdvisoryStatus::Unasked,
            ),
            (
                finding("bug", "old/src/a.rs", "`time` crashes"),
                AdvisoryStatus::Unasked,
            ),
        ];
        for database in [folder.path().join("osv"), archive] {
            let mut members: Vec<Member> = rows.iter().map(|(member, _)| member.clone()).collect();
            let databases = Advisories {
                path: vec![database.to_string_lossy().into_owned()],
                url: None,
            };
            check(&mut members, &workspace, &databases).unwrap();
            for (member, (_, expected)) in members.iter().zip(&rows) {
                assert_eq!(
                    member.checked.advisory,
                    *expected,
                    "{} in {:?}",
                    member.title(),
                    member.raw.file
                );
            }
        }
        let mut members = vec![rows[0].0.clone()];
        let missing = Advisories {
            path: vec!["none".to_owned()],
            url: None,
        };
        let missing = check(&mut members, &workspace, &missing);
        assert!(missing.unwrap_err().to_string().contains("none"));
    }
}
