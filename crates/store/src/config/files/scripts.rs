//! Searches the tree for files whose names occur in a command. These files determine what the command does. A file
//! name can be a whole word, a part of a word (`--config=FILE`), or a module (`-m MODULE`). The trust hash covers
//! the files that this module finds. Glee does not search scripts for the names of other files, so the words of a
//! command do not tell what the command runs.

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
pub struct Roots {
    folders: Vec<PathBuf>,
    /// The folder that commands name, if the only folder is a copy of it.
    copied: Option<PathBuf>,
}

impl Roots {
    pub fn of(project: &Path) -> Self {
        let tree = project
            .ancestors()
            .find(|folder| folder.join(".git").symlink_metadata().is_ok());
        let mut roots = vec![project.to_owned()];
        roots.extend(tree.filter(|tree| *tree != project).map(Path::to_owned));
        Self {
            folders: roots,
            copied: None,
        }
    }

    /// Returns a list with one folder: the copy of the project `project`. Glee does not search the work tree that
    /// contains the copy.
    pub fn copy(folder: &Path, project: Option<&Path>) -> Self {
        Self {
            folders: vec![folder.to_owned()],
            copied: project.map(Path::to_owned),
        }
    }

    pub fn project(&self) -> &Path {
        &self.folders[0]
    }

    /// Returns the path and the hash of each file whose name occurs in one of the commands. Glee looks for the
    /// files in the project, and in the work tree that contains the project. Each path is relative to the folder
    /// in which the file was found. If a path exists in both folders, the path of the work tree's file gets the
    /// prefix `../`.
    pub fn files<'a>(
        &self,
        commands: impl IntoIterator<Item = &'a [String], IntoIter: Clone>,
    ) -> BTreeMap<String, String> {
        let commands = commands.into_iter();
        let mut files = BTreeMap::new();
        for root in &self.folders {
            let found: BTreeSet<String> = commands
                .clone()
                .flat_map(|command| paths(command, self.copied.as_ref().unwrap_or(root)))
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

pub fn hash(path: &Path) -> io::Result<String> {
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

/// Returns the parts of a word that are possibly paths: the whole word, and the pieces between separators such
/// as `=`.
pub(super) fn tokens(word: &str) -> Vec<&str> {
    let mut tokens: Vec<&str> = word
        .split(|c: char| c.is_whitespace() || ";|&()<>\"'`$=,:{}".contains(c))
        .filter(|token| !token.is_empty())
        .collect();
    // The result also contains the whole word, because a path can contain separators such as `=`.
    if tokens.len() != 1 || tokens[0] != word {
        tokens.insert(0, word);
    }
    tokens
}

/// Makes a path relative to `root`. `None` if the path leads out of `root`.
pub fn below(word: &str, root: &Path) -> Option<String> {
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
            let found: Vec<String> = Roots::copy(root.path(), None)
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
}
