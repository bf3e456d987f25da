//! Searches the tree for files whose names occur in a command. These files determine what the command does. A file
//! name can be a whole word, a part of a word (`--config=FILE`), or a module (`-m MODULE`). The trust hash covers
//! the files that this module finds. In continuous integration, Glee takes these files from the base commit of the
//! reviewed change. Glee does not search scripts for the names of other files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

pub(super) const ENDINGS: [&str; 8] = [
    "",
    ".py",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    "/index.js",
    "/__main__.py",
];

/// The folders in which Glee looks for files: the project, and the work tree that contains the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Roots(Vec<PathBuf>);

impl Roots {
    pub(crate) fn of(project: &Path) -> Self {
        let tree = project
            .ancestors()
            .find(|folder| folder.join(".git").symlink_metadata().is_ok());
        let mut roots = vec![project.to_owned()];
        roots.extend(tree.filter(|tree| *tree != project).map(Path::to_owned));
        Self(roots)
    }

    /// Returns a list with one folder: the copy of a project. Glee does not search the work tree that contains
    /// the copy.
    pub(crate) fn copy(folder: &Path) -> Self {
        Self(vec![folder.to_owned()])
    }

    pub(crate) fn project(&self) -> &Path {
        &self.0[0]
    }

    /// Returns the path and the hash of each file whose name occurs in one of the commands. Glee looks for the
    /// files in the project, and in the work tree that contains the project. Each path is relative to the folder
    /// in which the file was found. If a path exists in both folders, the path of the work tree's file gets the
    /// prefix `../`.
    pub(crate) fn files<'a>(
        &self,
        commands: impl IntoIterator<Item = &'a [String], IntoIter: Clone>,
    ) -> BTreeMap<String, String> {
        let commands = commands.into_iter();
        let mut files = BTreeMap::new();
        for root in &self.0 {
            let found: BTreeSet<String> = commands
                .clone()
                .flat_map(|command| paths(command, root))
                .collect();
            for path in found {
                let place = root.join(&path);
                if place.is_file() {
                    // An unreadable file has no hash, so the variable `hash` contains the error message instead.
                    // The trust hash thus changes when the file becomes readable.
                    let hash = hash(&place).unwrap_or_else(|error| format!("unreadable: {error}"));
                    let name = if files.contains_key(&path) {
                        format!("../{path}")
                    } else {
                        path
                    };
                    files.insert(name, hash);
                }
            }
        }
        files
    }
}

pub(crate) fn hash(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// Returns each word of a command that can be a path below `root`, even if no such file exists.
pub fn paths(command: &[String], root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (index, word) in command.iter().enumerate() {
        let is_module = index > 0 && command[index - 1] == "-m";
        // A program name without a path is looked up only in PATH, not in the tree.
        if index == 0 && !word.contains(['/', '.']) {
            continue;
        }
        for token in tokens(word) {
            let named = if is_module {
                token.replace('.', "/")
            } else {
                token.to_owned()
            };
            let Some(path) = below(&named, root) else {
                continue;
            };
            found.extend(ENDINGS.iter().map(|ending| format!("{path}{ending}")));
        }
    }
    found
}

/// Replaces paths in a command by new paths. The map `replaced` contains the new path for each old path.
pub fn replaced(
    command: &[String],
    root: &Path,
    replaced: &BTreeMap<String, PathBuf>,
) -> Vec<String> {
    let replacement = |token: &str, is_module: bool| {
        if is_module {
            return None;
        }
        let path = below(token, root)?;
        let ending = ENDINGS
            .iter()
            .find(|ending| replaced.contains_key(&format!("{path}{ending}")))?;
        Some(
            replaced[&format!("{path}{ending}")]
                .to_string_lossy()
                .into_owned(),
        )
    };
    let word = |(index, word): (usize, &String)| {
        let is_module = index > 0 && command[index - 1] == "-m";
        let mut text = String::new();
        let mut from = 0;
        for token in tokens(word) {
            // `token` is a slice of `word`, so the difference between the two start addresses is the byte offset
            // of `token` in `word`.
            let at = token.as_ptr().addr() - word.as_ptr().addr();
            if at >= from
                && let Some(new) = replacement(token, is_module)
            {
                text.push_str(&word[from..at]);
                text.push_str(&new);
                from = at + token.len();
            }
        }
        text.push_str(&word[from..]);
        text
    };
    command.iter().enumerate().map(word).collect()
}

/// Returns whether a command runs one of `files` as a module, as in `python -m name`. The word after `-m` is not
/// a path, so [`replaced`] does not change the word.
pub fn is_module_of(command: &[String], root: &Path, files: &BTreeMap<String, PathBuf>) -> bool {
    command
        .windows(2)
        .filter(|words| words[0] == "-m")
        .any(|words| {
            let path = below(&words[1].replace('.', "/"), root);
            path.is_some_and(|path| {
                ENDINGS
                    .iter()
                    .any(|ending| files.contains_key(&format!("{path}{ending}")))
            })
        })
}

/// Returns the parts of a word that are possibly paths: the whole word, and the pieces between separators such
/// as `=`.
pub(super) fn tokens(word: &str) -> Vec<&str> {
    let is_break = |c: char| c.is_whitespace() || ";|&()<>\"'`$=,:{}".contains(c);
    let mut tokens: Vec<&str> = word
        .split(is_break)
        .filter(|token| !token.is_empty())
        .collect();
    // The result also contains the whole word, because a path can contain separators such as `=`.
    if tokens.len() != 1 || tokens[0] != word {
        tokens.insert(0, word);
    }
    tokens
}

pub(super) fn below(word: &str, root: &Path) -> Option<String> {
    if word.is_empty() || word.contains('\0') {
        return None;
    }
    let path = Path::new(word);
    let relative = if path.is_absolute() {
        path.strip_prefix(root).ok()?
    } else {
        path
    };
    let mut parts: Vec<&str> = Vec::new();
    for component in relative.components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => drop(parts.pop()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn command(line: &str) -> Vec<String> {
        shlex::split(line).unwrap()
    }

    #[test]
    fn files_that_a_command_names_are_found() {
        let root = tempfile::tempdir().unwrap();
        for file in [
            "x.sh",
            "tools/gate.py",
            "tools/run.js",
            ".glee/rev.sh",
            "with blank.sh",
        ] {
            let place = root.path().join(file);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, file).unwrap();
        }
        let absolute = format!("{}/x.sh --all", root.path().display());
        let rows: &[(&str, &[&str])] = &[
            ("./x.sh", &["x.sh"]),
            ("x.sh", &["x.sh"]),
            ("tools/../x.sh", &["x.sh"]),
            (&absolute, &["x.sh"]),
            ("env A=1 B=./x.sh sh", &["x.sh"]),
            (
                "python3 tools/gate.py --config=tools/run.js",
                &["tools/gate.py", "tools/run.js"],
            ),
            ("python3 -m tools.gate", &["tools/gate.py"]),
            ("node ./tools/run", &["tools/run.js"]),
            (
                "bash -c 'cd tools && ../x.sh; ./.glee/rev.sh|cat'",
                &[".glee/rev.sh"],
            ),
            ("bash -c './x.sh \"$@\"'", &["x.sh"]),
            ("bash -c 'A=./x.sh; $A'", &["x.sh"]),
            ("'./with blank.sh'", &["with blank.sh"]),
            ("/bin/sh x.txt", &[]),
            ("../x.sh", &[]),
            ("cargo test", &[]),
        ];
        for (line, expected) in rows {
            let found: Vec<String> = Roots(vec![root.path().to_owned()])
                .files([command(line).as_slice()])
                .into_keys()
                .collect();
            assert_eq!(found, *expected, "{line}");
        }
    }

    #[test]
    fn the_project_and_the_surrounding_tree_can_contain_the_same_path() {
        let tree = tempfile::tempdir().unwrap();
        let project = tree.path().join("app");
        for folder in [tree.path().join(".git"), project.clone()] {
            std::fs::create_dir(folder).unwrap();
        }
        let write = |file: &str, text: &str| std::fs::write(tree.path().join(file), text).unwrap();
        let files = || Roots::of(&project).files([command("./x.sh").as_slice()]);
        write("x.sh", "outer");
        let outer = files();
        assert_eq!(
            outer.keys().collect::<Vec<_>>(),
            ["x.sh"],
            "this form must not change: trust depends on it"
        );
        write("app/x.sh", "inner");
        let both = files();
        assert_eq!(both.keys().collect::<Vec<_>>(), ["../x.sh", "x.sh"]);
        assert_eq!(both["../x.sh"], outer["x.sh"]);
        write("app/x.sh", "changed");
        assert_ne!(
            files()["x.sh"],
            both["x.sh"],
            "the project's copy is covered"
        );
        write("x.sh", "changed");
        assert_ne!(
            files()["../x.sh"],
            both["../x.sh"],
            "the copy of the surrounding tree is covered"
        );
        // The second command refers only to the copy of the surrounding tree.
        let absolute = command(&format!("{}/x.sh", tree.path().display()));
        let commands = [command("./x.sh"), absolute];
        assert_eq!(
            Roots::of(&project).files(commands.iter().map(Vec::as_slice)),
            files()
        );
    }

    #[test]
    fn a_replaced_file_is_named_in_its_place() {
        let root = Path::new("/p");
        let files = BTreeMap::from([
            ("x.sh".to_owned(), "/c/x.sh".into()),
            ("t/g.js".to_owned(), "/c/t/g.js".into()),
        ]);
        let rows = [
            ("./x.sh --all", "/c/x.sh --all"),
            ("env A=./x.sh y", "env A=/c/x.sh y"),
            (
                "bash -c './x.sh; node t/g && echo x.shy'",
                "bash -c '/c/x.sh; node /c/t/g.js && echo x.shy'",
            ),
            ("/p/x.sh", "/c/x.sh"),
            ("z.sh", "z.sh"),
        ];
        for (line, expected) in rows {
            assert_eq!(
                replaced(&command(line), root, &files),
                command(expected),
                "{line}"
            );
        }
    }
}
