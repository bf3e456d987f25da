//! The instructions that agents read by themselves, such as `AGENTS.md`. Glee does not send them, but they change
//! answers, so they are part of the key of an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::archive::hash;
use glee_system::files;
use glee_workspace::select::read_hashes;

/// The names under which programs look for instructions, in the folder of a file and in all folders above it.
const NAMES: [&str; 10] = [
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "QWEN.md",
    "REVIEW.md",
    "CONVENTIONS.md",
    ".cursorrules",
    "copilot-instructions.md",
];

/// Places of instructions in any of these folders. Each place is a file or a folder.
const PLACES: [&str; 6] = [
    ".claude/CLAUDE.md",
    ".claude/rules",
    ".cursor/rules",
    ".github/copilot-instructions.md",
    ".github/instructions",
    ".agents/rules",
];

/// Whether programs read the file as instructions by its name.
pub(crate) fn is_instruction(path: &str) -> bool {
    NAMES.contains(&path.rsplit('/').next().unwrap_or(path))
}

/// The maximum number of imports (`@path`) from the first file to the last.
const HOPS: usize = 5;

/// Hashes of the instructions, each read at most once.
#[derive(Debug, Default)]
pub struct Instructions {
    folders: BTreeMap<PathBuf, String>,
}

impl Instructions {
    /// Hashes the instructions for the files in a folder: those of the folder and of all folders above it, up to the
    /// root of the file system.
    pub fn of(&mut self, folder: &Path) -> String {
        let mut hashes = Vec::new();
        for above in folder.ancestors() {
            let known = self.folders.entry(above.to_owned());
            hashes.push(known.or_insert_with(|| in_folder(above)).clone());
        }
        hash(&hashes.iter().map(String::as_bytes).collect::<Vec<_>>())
    }
}

/// Hashes the instructions in one folder, for example in the folder of a program's settings.
pub fn in_folder(folder: &Path) -> String {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut seen = BTreeSet::new();
    for name in NAMES {
        add(&folder.join(name), HOPS, &mut seen, &mut parts);
    }
    for name in PLACES {
        let place = folder.join(name);
        if place.is_dir() {
            parts.push(read_hashes::folder(&place).unwrap_or_default().into_bytes());
        } else {
            add(&place, HOPS, &mut seen, &mut parts);
        }
    }
    hash(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Adds a file and the files that it imports.
fn add(path: &Path, hops: usize, seen: &mut BTreeSet<PathBuf>, parts: &mut Vec<Vec<u8>>) {
    let Ok(bytes) = files::read(path) else { return };
    if !seen.insert(path.to_owned()) {
        return;
    }
    let text = String::from_utf8_lossy(&bytes);
    if hops > 0 {
        for word in text.split_whitespace() {
            let Some(import) = word.strip_prefix('@') else {
                continue;
            };
            let import = import.trim_end_matches([',', '.', ';', ':', ')']);
            let file = match (import.strip_prefix("~/"), std::env::home_dir()) {
                (Some(inside), Some(home)) => home.join(inside),
                _ => path.parent().unwrap_or(path).join(import),
            };
            add(&file, hops - 1, seen, parts);
        }
    }
    parts.push(path.to_string_lossy().into_owned().into_bytes());
    parts.push(bytes);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn instructions_of_a_folder_and_of_those_above_it_count() {
        let top = tempfile::tempdir().unwrap();
        let root = top.path().join("tree");
        let write = |file: &str, text: &str| {
            let place = top.path().join(file);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
        };
        write("tree/src/a.py", "");
        write("tree/web/b.ts", "");
        write("tree/CLAUDE.md", "Read @docs/rules.md, and @a@b.c too.\n");
        let of = |folder: &str| Instructions::default().of(&root.join(folder));
        // A file that is written, and whether the instructions of `src` and of `web` change.
        let rows = [
            ("tree/AGENTS.md", true, true),
            ("tree/docs/rules.md", true, true),
            ("tree/docs/other.md", false, false),
            ("tree/src/AGENTS.md", true, false),
            ("tree/src/a.py", false, false),
            ("CLAUDE.md", true, true),
            ("tree/.github/instructions/web.instructions.md", true, true),
            ("tree/.cursor/rules/one.mdc", true, true),
            ("tree/web/GEMINI.md", false, true),
        ];
        for (file, in_src, in_web) in rows {
            let before = (of("src"), of("web"));
            write(file, "Be strict.\n");
            let after = (of("src"), of("web"));
            assert_eq!(
                (before.0 != after.0, before.1 != after.1),
                (in_src, in_web),
                "{file}"
            );
        }
        let before = of("src");
        write("tree/docs/rules.md", "Import @rules.md and @more.md.\n");
        write("tree/docs/more.md", "Import @rules.md.\n");
        assert_ne!(of("src"), before, "imports in a circle end");
    }
}
