//! Finds the names of a change in the other code of the tree, by their spelling.

use std::collections::{BTreeMap, BTreeSet};

use glee_model::rules::review::ground;

use crate::code::anchors::Blocks;
use crate::code::text_files;
use crate::git::path_bytes;
use crate::select::ignores::Ignores;
use crate::select::{filter, walk};
use crate::{Result, Workspace};
use glee_protocol::request::SourceFile;

/// A larger file is not searched.
const LARGEST: u64 = 1 << 20;

/// The name of a block stands in its first line, or in one of this number of lines behind it.
const OPENING: u32 = 8;

/// At most this number of files, and of bytes, is searched. The rest of the tree counts as not there.
const FILES: usize = 20_000;
const BYTES: u64 = 256 << 20;

/// At most this number of places is kept of a name.
pub(crate) const PLACES: usize = 64;

/// Words that begin a definition in one of the languages.
const DEFINING: [&str; 21] = [
    "fn",
    "def",
    "func",
    "function",
    "class",
    "struct",
    "enum",
    "trait",
    "interface",
    "type",
    "const",
    "let",
    "var",
    "val",
    "static",
    "mod",
    "module",
    "record",
    "define",
    "union",
    "macro_rules",
];

/// Words before which or after which a name is used, and not defined.
const USING: [&str; 15] = [
    "if", "for", "while", "switch", "match", "return", "catch", "else", "import", "use", "from",
    "new", "throw", "await", "package",
];

/// Other words of the languages that are no names.
const RESERVED: &str = " and as assert async bool boolean break byte case char continue default defer del delete do double elif \
    end except export extends false final finally float global go goto impl implements in instanceof int is lambda long loop \
    map mut nil none None not null number or override pass private protected pub public raise range ref self Self short sizeof \
    str string String super synchronized this throws true True False try typeof undefined unsafe unsigned void where with yield ";

/// Whether a word belongs to a language, and names nothing.
pub(crate) fn is_keyword(word: &str) -> bool {
    DEFINING.contains(&word) || USING.contains(&word) || RESERVED.contains(&format!(" {word} "))
}

/// The place of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePlace {
    pub path: String,
    /// The line, counted from 1.
    pub line: u32,
    /// Whether the line defines the name.
    pub is_definition: bool,
}

/// The places at which names occur, by name.
pub type NamedPlaces = BTreeMap<String, Vec<NamePlace>>;

/// The names in the added and the removed lines of a change, and the names of the blocks that the change is in. A
/// document, and a file that is reviewed as a whole, has none.
pub fn of_change(file: &SourceFile) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let Some(diff) = file
        .diff
        .as_deref()
        .filter(|_| !filter::is_document(&file.path))
    else {
        return names;
    };
    let body = diff.lines().skip_while(|line| !line.starts_with("@@ "));
    for line in body {
        if let Some(line) = line.strip_prefix(['+', '-'])
            && !is_comment(line)
        {
            names.extend(identifiers(line).map(str::to_owned));
        }
    }
    names.extend(defined(file));
    names.retain(|name| !is_keyword(name));
    names
}

/// The names that the changed lines, or the blocks around them, define.
pub fn defined(file: &SourceFile) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    // A file that is reviewed as a whole has no changed lines.
    if file.changed.is_empty() && file.diff.is_none() {
        return names;
    }
    let lines: Vec<&str> = file.text.lines().collect();
    let mut opening: BTreeSet<u32> = file
        .changed
        .iter()
        .flat_map(|(first, last)| *first..=*last)
        .collect();
    if !text_files::is_all(&file.text, &file.changed) {
        let blocks = Blocks::of(&file.path, &file.text);
        for line in opening.clone() {
            let start = *blocks.reached(line).start();
            // Attributes and comments stand before the line that has the name.
            opening.extend(start..=line.min(start + OPENING));
        }
    }
    for line in opening {
        let text = lines.get(line as usize - 1).copied().unwrap_or_default();
        let found = identifiers(text).filter(|name| defines(text, name));
        names.extend(found.map(str::to_owned));
    }
    let removed = file.diff.iter().flat_map(|diff| diff.lines());
    for text in removed.filter_map(|line| line.strip_prefix('-')) {
        let found = identifiers(text).filter(|name| defines(text, name));
        names.extend(found.map(str::to_owned));
    }
    names
}

/// The words of code that can be names.
pub fn words(code: &str) -> impl Iterator<Item = &str> {
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| word.len() > 1 && !word.starts_with(|c: char| c.is_ascii_digit()))
}

/// The words that are long enough to be searched for in the tree.
pub fn identifiers(code: &str) -> impl Iterator<Item = &str> {
    words(code).filter(|word| word.len() > 2)
}

pub fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    ["//", "#", "*", "/*", "--", ";"]
        .iter()
        .any(|mark| line.starts_with(mark))
        && !line.starts_with("#include")
        && !line.starts_with("#define")
}

/// Whether a line begins a function or a type.
pub fn opens_definition(line: &str) -> bool {
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    !is_comment(line)
        && words
            .filter(|word| !word.is_empty())
            .take(4)
            .any(|word| DEFINING[..9].contains(&word) || word == "impl")
}

fn is_source(path: &str) -> bool {
    !filter::is_document(path) && !path.split('/').any(|part| part.starts_with('.'))
}

/// Calls `read` with the text of a file that people wrote. Returns whether any of the bytes in `left` remain.
fn give(path: &str, bytes: Vec<u8>, left: &mut u64, read: &mut dyn FnMut(&str, &str)) -> bool {
    if filter::is_text(path, &bytes) {
        *left = left.saturating_sub(bytes.len() as u64);
        let text = text_files::lossy(bytes);
        if !filter::looks_generated(path, &text) {
            read(path, &text);
        }
    }
    *left > 0
}

/// Whether a line defines a name: behind a word such as `fn` or `class`, as a method with a body, or as a key.
pub fn defines(line: &str, name: &str) -> bool {
    let text = line.trim();
    let Some(at) = find_word(text, name) else {
        return false;
    };
    let before = text[..at].trim_end();
    let after = text[at + name.len()..].trim_start();
    let word_before = before
        .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
        .next();
    if is_comment(line) || begins_use(line) {
        return false;
    }
    if word_before.is_some_and(|word| DEFINING.contains(&word)) || text.starts_with("func (") {
        return word_before.is_some_and(|word| !word.is_empty()) || before.ends_with(')');
    }
    let is_method = after.starts_with('(')
        && !before.ends_with(['.', '(', ',', '=', ':', '!', '&', '|'])
        && (text.ends_with('{') || text.ends_with("=>") || text.ends_with(':'));
    let is_key = before.trim_matches(['"', '\'']).is_empty()
        && after
            .trim_start_matches(['"', '\''])
            .trim_start()
            .starts_with([':', '='])
        && !after.starts_with("==");
    is_method || is_key
}

/// Whether the first word of a line says that the line uses names.
pub(crate) fn begins_use(line: &str) -> bool {
    let mut words = line
        .trim()
        .split(|c: char| !c.is_alphanumeric() && c != '_');
    words.next().is_some_and(|word| USING.contains(&word))
}

fn find_word(text: &str, name: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name)
        .map(|(at, _)| at)
        .find(|at| !text[..*at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}

impl Workspace {
    /// The places of names in the source files of the tree: definitions before uses, and the product before its tests.
    /// A name that is not in the result occurs nowhere.
    pub fn named_places(&self, names: &BTreeSet<String>) -> Result<NamedPlaces> {
        let mut found = NamedPlaces::new();
        if names.is_empty() {
            return Ok(found);
        }
        self.each_source(&mut |path, text| {
            for (line, number) in text.lines().zip(1..) {
                let mut seen: Vec<&str> = Vec::new();
                for name in identifiers(line).filter(|name| names.contains(*name)) {
                    if seen.contains(&name) {
                        continue;
                    }
                    seen.push(name);
                    let places = found.entry(name.to_owned()).or_default();
                    let is_definition = defines(line, name);
                    if is_definition || places.len() < PLACES && !is_comment(line) {
                        places.push(NamePlace {
                            path: path.to_owned(),
                            line: number,
                            is_definition,
                        });
                    }
                }
            }
        })?;
        for places in found.values_mut() {
            places.sort_by_key(|place| (!place.is_definition, ground::of_path(&place.path)));
        }
        Ok(found)
    }

    /// Calls `read` with each source file of the tree, or of the commit from which the workspace reads.
    fn each_source(&self, read: &mut dyn FnMut(&str, &str)) -> Result<()> {
        let mut left = BYTES;

        if let (Some(commit), Some(git)) = (&self.read_commit, &self.repository) {
            let mut objects = git.objects(None)?;
            let files = git.files_of(commit)?.into_iter();
            for (path, (id, _)) in files.filter(|(path, _)| is_source(path)).take(FILES) {
                if let Ok(bytes) = objects.read(&id, LARGEST)?.bytes()
                    && !give(&path, bytes, &mut left, read)
                {
                    break;
                }
            }
            return Ok(());
        }
        let exclude = self
            .repository
            .as_ref()
            .map(|git| git.common.join("info/exclude"));
        let mut ignores = Ignores::both(&self.root, self.recorded_ignores.as_ref(), exclude);
        let mut paths = walk::files(&self.root, b"", &mut ignores)
            .map_err(crate::WorkspaceError::unreadable(&self.root))?;
        paths.sort();
        let named = paths.iter().map(|path| (filter::path_text(path), path));
        for (name, path) in named.filter(|(name, _)| is_source(name)).take(FILES) {
            let full = self.root.join(path_bytes::path(path));
            if let Ok(Some(bytes)) = text_files::read_capped(&full, LARGEST)
                && !give(&name, bytes, &mut left, read)
            {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_defines_a_name_or_uses_it() {
        let definitions = [
            ("fn open(a: u8) -> u8 {", "open"),
            ("    pub(crate) async fn open() {", "open"),
            ("def open(self):", "open"),
            ("func (s *Store) open() error {", "open"),
            ("func open() error {", "open"),
            ("export const open = (a) => a;", "open"),
            ("  open(name: string) {", "open"),
            ("    public static String open(String a) {", "open"),
            ("class open(Base):", "open"),
            ("#define open 3", "open"),
            ("open = 3", "open"),
            ("  \"open\": 3,", "open"),
            ("open: 3", "open"),
        ];
        for (line, name) in definitions {
            assert!(defines(line, name), "{line}");
        }
        let uses = [
            "    open(name);",
            "    let a = open(name);",
            "    if open(name) {",
            "    return open(name)",
            "    self.open(name) {",
            "// fn open",
            "from store import open",
            "use crate::open;",
            "    a.map(|b| open(b))",
            "    open == 3",
            "    reopen = 3",
        ];
        for line in uses {
            assert!(!defines(line, "open"), "{line}");
        }
    }
}
