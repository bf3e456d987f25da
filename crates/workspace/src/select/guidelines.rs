//! Reads the guidelines of a project, such as `AGENTS.md`, by sections, and selects those that apply to a file.
//!
//! Guidelines apply to the files of their folder and below. A rule of Copilot or Cursor applies to the paths that its front
//! matter names (`applyTo`, `globs`): <https://docs.github.com/en/copilot/how-tos/configure-custom-instructions>,
//! <https://cursor.com/docs/context/rules>.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use crate::code::text_files;
use crate::git::GitObject;
use crate::select::walk;
use crate::{Result, Workspace};
use glee_model::domain::Untrusted;
use glee_protocol::request::Guideline;
use glee_protocol::text::markdown;

/// The names of guidelines in any folder. Those that are written for reviews come first.
const NAMES: [&str; 3] = ["REVIEW.md", "AGENTS.md", "CLAUDE.md"];

const COPILOT: &str = ".github/copilot-instructions.md";

/// Folders in any folder, and the key in the front matter that names the paths to which a file of them applies.
const FOLDERS: [(&str, &str); 2] = [
    (".github/instructions/", "applyTo"),
    (".cursor/rules/", "globs"),
];

/// The maximum size of a file with guidelines, in bytes.
const CAP: u64 = 256 << 10;

/// Where guidelines are read.
#[derive(Clone, Copy, Debug)]
pub enum GuidelineNames<'a> {
    /// The files that have the usual names.
    Usual,
    /// These files, which apply to all files.
    Files(&'a [String]),
}

/// A file with guidelines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GuidelineFile {
    pub path: String,
    pub sections: Vec<Guideline>,
    /// The globs of the paths to which the guidelines apply; empty for all.
    applies_to: Vec<String>,
    depth: usize,
    position: usize,
    #[serde(skip)]
    globs: OnceLock<GlobSet>,
}

impl GuidelineFile {
    /// Returns `None` for a rule that applies only where somebody asks for it, or not in reviews.
    fn of(path: &str, place: &Place<'_>, text: &str) -> Option<Self> {
        let (head, body) = front_matter(text);
        let mut applies_to = Vec::new();
        if let Some(key) = place.key {
            applies_to = patterns(head, key);
            let is_for_all = word(head, "alwaysApply") == "true";
            let is_on_demand = word(head, "alwaysApply") == "false" && applies_to.is_empty();
            if is_on_demand || word(head, "excludeAgent") == "code-review" {
                return None;
            }
            if is_for_all {
                applies_to.clear();
            }
        }
        if applies_to.is_empty() && !place.folder.is_empty() {
            applies_to.push("**".to_owned());
        }
        let applies_to: Vec<String> = applies_to
            .iter()
            .map(|pattern| format!("{}{pattern}", globset::escape(place.folder)))
            .collect();
        Some(Self {
            path: path.to_owned(),
            sections: sections(path, body, &applies_to),
            applies_to,
            depth: place.folder.matches('/').count(),
            position: place.position,
            globs: OnceLock::new(),
        })
    }

    pub fn applies(&self, path: &str) -> bool {
        let globs = self.globs.get_or_init(|| {
            let mut set = GlobSetBuilder::new();
            for pattern in &self.applies_to {
                // A pattern that is no glob names no file.
                if let Ok(glob) = GlobBuilder::new(pattern).literal_separator(true).build() {
                    set.add(glob);
                }
            }
            set.build().unwrap_or_default()
        });
        self.applies_to.is_empty() || globs.is_match(path)
    }
}

impl Workspace {
    /// Returns the guidelines that can apply to the files `paths`: those of the commit, or without one those of the tree.
    /// The deepest folder comes first, and in a folder the guidelines for reviews. Links are not followed.
    pub fn guidelines<'a>(
        &self,
        commit: Option<&str>,
        names: GuidelineNames<'_>,
        paths: impl Iterator<Item = &'a str>,
    ) -> Result<Vec<GuidelineFile>> {
        let mut folders = BTreeSet::from([String::new()]);
        for path in paths {
            folders.extend(
                path.match_indices('/')
                    .map(|(at, _)| path[..=at].to_owned()),
            );
        }
        let texts = match self.repository.as_ref().zip(commit) {
            Some((git, commit)) => {
                let mut objects = git.objects(None)?;
                let mut texts = Vec::new();
                for (path, (id, _)) in git.files_of(commit)? {
                    if self.guideline_place(names, &folders, &path).is_some()
                        && let GitObject::Bytes(bytes) = objects.read(&id, CAP)?
                    {
                        texts.push((path, text_files::lossy(bytes)));
                    }
                }
                texts
            }
            None => {
                let mut found = match names {
                    GuidelineNames::Usual => self.usual_guidelines(&folders),
                    GuidelineNames::Files(files) => {
                        files.iter().map(|file| self.of_project(file)).collect()
                    }
                };
                found.retain(|path| self.guideline_place(names, &folders, path).is_some());
                let texts = found.into_iter().filter_map(|path| {
                    // A folder of the path can be a link.
                    let real = self.root.join(&path).canonicalize().ok()?;
                    if real.strip_prefix(&self.root).ok()?.to_str()? != path {
                        return None;
                    }
                    let bytes = self.bytes_now(path.as_bytes(), CAP).ok()?;
                    Some((path, text_files::lossy(bytes)))
                });
                texts.collect()
            }
        };
        let mut files = Vec::new();
        for (path, text) in texts {
            let place = self.guideline_place(names, &folders, &path);
            files.extend(place.and_then(|place| GuidelineFile::of(&path, &place, &text)));
        }
        files.sort_by(|a, b| {
            let rank = |file: &GuidelineFile| (Reverse(file.depth), file.position);
            rank(a).cmp(&rank(b)).then_with(|| a.path.cmp(&b.path))
        });
        Ok(files)
    }

    /// Returns `None` for a file that is not wanted.
    fn guideline_place<'p>(
        &self,
        names: GuidelineNames<'_>,
        folders: &BTreeSet<String>,
        path: &'p str,
    ) -> Option<Place<'p>> {
        match names {
            GuidelineNames::Usual => Place::of(path).filter(|place| folders.contains(place.folder)),
            GuidelineNames::Files(files) => {
                let position = files.iter().position(|file| self.of_project(file) == path);
                position.map(|position| Place {
                    folder: "",
                    position,
                    key: None,
                })
            }
        }
    }

    /// The paths in the tree at which guidelines have their usual names.
    fn usual_guidelines(&self, folders: &BTreeSet<String>) -> Vec<String> {
        let mut found = Vec::new();
        for folder in folders {
            let names = NAMES.into_iter().chain([COPILOT]);
            found.extend(names.map(|name| format!("{folder}{name}")));
            for (rules, _) in FOLDERS {
                let top = self.root.join(folder).join(rules);
                let below = walk::everything(&top).flatten();
                found.extend(below.filter_map(|entry| {
                    let inside = entry.path().strip_prefix(&self.root).ok()?;
                    Some(inside.to_str()?.to_owned())
                }));
            }
        }
        found
    }
}

/// Whether a file has the usual name of guidelines.
pub fn is_guideline(path: &str) -> bool {
    Place::of(path).is_some()
}

/// What the path of guidelines says about them.
struct Place<'a> {
    /// The folder to which the guidelines apply, with a slash at its end; empty for the root.
    folder: &'a str,
    /// The position among the guidelines of one folder.
    position: usize,
    /// The key of the front matter that names paths.
    key: Option<&'static str>,
}

impl<'a> Place<'a> {
    fn of(path: &'a str) -> Option<Self> {
        for (position, name) in NAMES.into_iter().chain([COPILOT]).enumerate() {
            let folder = path.strip_suffix(name);
            if let Some(folder) = folder.filter(|folder| is_folder(folder)) {
                return Some(Self {
                    folder,
                    // Rules for some paths come behind `REVIEW.md` and before the rest.
                    position: if position == 0 { 0 } else { position + 1 },
                    key: None,
                });
            }
        }
        if !path.ends_with(".md") && !path.ends_with(".mdc") {
            return None;
        }
        FOLDERS.into_iter().find_map(|(rules, key)| {
            let folder = &path[..path.find(rules)?];
            is_folder(folder).then_some(Self {
                folder,
                position: 1,
                key: Some(key),
            })
        })
    }
}

fn is_folder(text: &str) -> bool {
    text.is_empty() || text.ends_with('/')
}

/// Splits a text into the lines of its front matter and the rest.
fn front_matter(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches('\u{feff}');
    let is_rule = |line: &str| line.trim_end() == "---";
    let mut at = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if number == 0 && !is_rule(line) {
            break;
        }
        if number > 0 && is_rule(line) {
            return (&text[..at], &text[at + line.len()..]);
        }
        at += line.len();
    }
    ("", text)
}

/// The value of a key of the front matter; of a list, its first item stands on the same line. Front matter of Cursor is no
/// YAML: `globs: *.ts` has no quotes.
fn value<'a>(head: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = head.lines();
    lines.find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':'))
}

fn word(head: &str, key: &str) -> String {
    let value = value(head, key).unwrap_or_default();
    value.trim_matches([' ', '"', '\'', '\t']).to_lowercase()
}

/// The globs of a key: separated by commas, in brackets, or a list of lines.
fn patterns(head: &str, key: &str) -> Vec<String> {
    let Some(first) = value(head, key) else {
        return Vec::new();
    };
    let behind = &head[first.as_ptr() as usize - head.as_ptr() as usize + first.len()..];
    let items = behind
        .lines()
        .skip(1)
        .map_while(|line| line.trim_start().strip_prefix("- "));
    let mut found = Vec::new();
    for line in std::iter::once(first).chain(items) {
        let line = line.trim();
        let list = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'));
        let mut depth = 0_u32;
        let quotes = ['"', '\''];
        let parts = list.unwrap_or(line.trim_matches(quotes)).split(|letter| {
            match letter {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            letter == ',' && depth == 0
        });
        found.extend(parts.map(|part| part.trim().trim_matches(quotes).trim().to_owned()));
    }
    found.retain(|pattern| !pattern.is_empty());
    found.iter().map(|pattern| in_any_folder(pattern)).collect()
}

/// A pattern without a folder is about names of files in any folder, and a folder means all that is in it.
fn in_any_folder(pattern: &str) -> String {
    let plain = pattern.trim_start_matches("./").trim_start_matches('/');
    let is_name = !pattern.trim_end_matches('/').contains('/') && !plain.starts_with("**");
    let before = if is_name { "**/" } else { "" };
    let behind = if plain.ends_with('/') { "**" } else { "" };
    format!("{before}{plain}{behind}")
}

/// Splits a text at its headings. A section without a text of its own is left out.
fn sections(path: &str, text: &str, applies_to: &[String]) -> Vec<Guideline> {
    let mut structure = markdown::Structure::default();
    let mut found: Vec<(String, String)> = vec![(String::new(), String::new())];
    for line in text.lines() {
        let kind = structure.classify(line);
        if kind == markdown::LineKind::Heading && line.starts_with('#') {
            found.push((slug(line), String::new()));
        }
        let (_, section) = found.last_mut().expect("a text begins with a section");
        section.push_str(line.trim_end());
        section.push('\n');
    }
    let mut sections: Vec<Guideline> = Vec::new();
    let mut slugs: Vec<String> = Vec::new();
    for (slug, section) in found {
        let before = slugs.iter().filter(|known| **known == slug).count();
        let id = match (slug.as_str(), before) {
            ("", 0) => path.to_owned(),
            (slug, 0) => format!("{path}#{slug}"),
            (slug, before) => format!("{path}#{slug}-{before}"),
        };
        slugs.push(slug);
        let section = section.trim_matches('\n');
        let has_text = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
        if section.lines().any(has_text) {
            sections.push(Guideline {
                id,
                applies_to: applies_to.to_vec(),
                text: Untrusted::from(section.to_owned()),
            });
        }
    }
    sections
}

/// The anchor of a heading, as hosts make it: lower case, hyphens for spaces, no punctuation.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().trim_end_matches('#');
    let mut slug = String::new();
    for letter in text.trim().chars() {
        match letter {
            ' ' | '-' => slug.push('-'),
            '_' => slug.push('_'),
            _ if letter.is_alphanumeric() => slug.extend(letter.to_lowercase()),
            _ => {}
        }
    }
    slug
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn file(path: &str, text: &str) -> Option<GuidelineFile> {
        GuidelineFile::of(path, &Place::of(path)?, text)
    }

    #[test]
    fn guidelines_apply_to_their_folder_and_to_the_paths_of_their_front_matter() {
        // The path of the guidelines, their front matter, files to which they apply, files to which they do not.
        let rows: &[(&str, &str, &[&str], &[&str])] = &[
            ("AGENTS.md", "", &["a.py", "web/a.ts"], &[]),
            (
                "web/AGENTS.md",
                "",
                &["web/a.ts", "web/x/b.ts"],
                &["a.py", "webs/a.ts"],
            ),
            ("web/REVIEW.md", "", &["web/a.ts"], &["a.ts"]),
            ("web/CLAUDE.md", "", &["web/a.ts"], &["lib/web/a.ts"]),
            (
                ".github/copilot-instructions.md",
                "",
                &["a.py", "web/a.ts"],
                &[],
            ),
            (
                ".github/instructions/ts.instructions.md",
                "applyTo: \"**/*.ts,**/*.tsx\"",
                &["a.ts", "web/b.tsx"],
                &["a.py", "a.tsx.py"],
            ),
            (
                ".github/instructions/deep/all.instructions.md",
                "applyTo: '**'",
                &["a.ts", "web/b.py"],
                &[],
            ),
            (
                ".github/instructions/src.instructions.md",
                "description: x\napplyTo: src/**/*.{rs,toml}, docs/",
                &["src/a/b.rs", "src/a.toml", "docs/x/y.md"],
                &["a.rs", "src/a.md"],
            ),
            (
                ".cursor/rules/py.mdc",
                "globs: *.py\nalwaysApply: false",
                &["a.py", "x/b.py"],
                &["a.ts"],
            ),
            (
                ".cursor/rules/py.mdc",
                "globs: [\"src/*.py\", 'b.py']",
                &["src/a.py", "x/b.py"],
                &["src/x/a.py"],
            ),
            (
                ".cursor/rules/py.mdc",
                "globs:\n  - 'src/**'\n  - \"*.md\"\nalwaysApply: false",
                &["src/a", "x/b.md"],
                &["x/b.py"],
            ),
            (
                ".cursor/rules/all.mdc",
                "globs: *.py\nalwaysApply: true",
                &["a.ts"],
                &[],
            ),
            (".cursor/rules/all.mdc", "description: all", &["a.ts"], &[]),
            (
                "web/.cursor/rules/ts.mdc",
                "globs: *.ts",
                &["web/x/a.ts"],
                &["a.ts", "web/a.py"],
            ),
        ];
        for (path, head, applies, does_not) in rows {
            let head = match *head {
                "" => String::new(),
                head => format!("---\n{head}\n---\n"),
            };
            let file = file(path, &format!("{head}Be strict.\n")).unwrap();
            assert_eq!(file.sections[0].text.as_written(), "Be strict.", "{path}");
            for other in *applies {
                assert!(file.applies(other), "{path} {head} {other}");
            }
            for other in *does_not {
                assert!(!file.applies(other), "{path} {head} {other}");
            }
        }
    }

    #[test]
    fn a_rule_on_demand_and_a_rule_for_other_agents_do_not_apply() {
        for (path, head) in [
            (
                ".cursor/rules/a.mdc",
                "description: x\nglobs:\nalwaysApply: false",
            ),
            (
                ".github/instructions/a.instructions.md",
                "applyTo: '**'\nexcludeAgent: \"code-review\"",
            ),
        ] {
            assert!(
                file(path, &format!("---\n{head}\n---\nBe strict.\n")).is_none(),
                "{path}"
            );
        }
        for path in [
            "MY-AGENTS.md",
            "docs/agents.md",
            ".cursor/rules/a.json",
            "x.github/instructions/a.md",
        ] {
            assert!(!is_guideline(path), "{path}");
        }
    }

    #[test]
    fn sections_have_the_anchors_of_their_headings() {
        let text = "Be brief.\n\n# Go\n\n## Errors & `panic`\nWrap them.\n```sh\n# no heading\n```\n\n## Tests_in Go\n\n\
                    Table tests.\n## Errors & `panic` ##\nAgain.\n";
        let file = file("go/AGENTS.md", text).unwrap();
        let found: Vec<(&str, &str)> = file
            .sections
            .iter()
            .map(|section| (section.id.as_str(), section.text.as_written()))
            .collect();
        assert_eq!(
            found,
            [
                ("go/AGENTS.md", "Be brief."),
                (
                    "go/AGENTS.md#errors--panic",
                    "## Errors & `panic`\nWrap them.\n```sh\n# no heading\n```"
                ),
                ("go/AGENTS.md#tests_in-go", "## Tests_in Go\n\nTable tests."),
                (
                    "go/AGENTS.md#errors--panic-1",
                    "## Errors & `panic` ##\nAgain."
                ),
            ]
        );
    }
}
