//! Finds the folders of the tree from which a command takes its code: the folders of the scripts that it names, and of
//! the files that these scripts name. What a command reads cannot be found for certain by looking at its words.
//! Therefore, a command that looks up its code by itself takes it from the whole tree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::scripts::{ENDINGS, below, tokens};
use glee_system::files;

/// Programs that look up what they run in files of the tree which their words do not name.
const RUNNERS: [&str; 22] = [
    "make", "gmake", "just", "task", "npm", "npx", "pnpm", "yarn", "bun", "tox", "nox", "invoke",
    "rake", "mage", "cargo", "go", "gradle", "mvn", "bazel", "uv", "poetry", "hatch",
];

/// The maximum size of a script whose text is searched for names, in bytes.
const LARGEST: usize = 1 << 20;

/// Returns folders and files of the tree at `root`. A script directly in the root stands for itself, because its
/// folder is the tree. The path `.` is the whole tree.
pub fn of_command(command: &[String], root: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for word in command {
        for token in tokens(word) {
            let name = token.rsplit('/').next().unwrap_or(token);
            if RUNNERS.contains(&name) {
                return BTreeSet::from([PathBuf::from(".")]);
            }
            found.extend(named(token, Path::new(""), root, true));
        }
    }
    let mut waiting: Vec<PathBuf> = found.iter().cloned().collect();
    while let Some(place) = waiting.pop() {
        for script in scripts(&root.join(&place)) {
            let Ok(text) = files::read(&script) else {
                continue;
            };
            if text.len() > LARGEST || memchr::memchr(0, &text).is_some() {
                continue;
            }
            let folder = script
                .parent()
                .and_then(|folder| folder.strip_prefix(root).ok());
            let text = String::from_utf8_lossy(&text);
            for token in tokens(&text) {
                for place in named(token, folder.unwrap_or(Path::new("")), root, false) {
                    if found.insert(place.clone()) {
                        waiting.push(place);
                    }
                }
            }
        }
    }
    found
}

fn scripts(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect()
}

/// Returns the places that a token can mean, seen from `folder` and from the root. A token can be a path, the end of a
/// path after a variable (`$HERE/../lib/x.sh`), or a module (`tools.rev`).
fn named(token: &str, folder: &Path, root: &Path, is_folder_meant: bool) -> BTreeSet<PathBuf> {
    let mut places = BTreeSet::new();
    if token.len() > 512 || !(token.contains(['/', '.']) || is_folder_meant) {
        return places;
    }
    let behind = token.split_once('/').map(|(_, behind)| behind);
    let module = (!token.contains('/')).then(|| token.replace('.', "/"));
    for name in [Some(token), behind, module.as_deref()]
        .into_iter()
        .flatten()
    {
        for from in [folder, Path::new("")] {
            let Some(path) = below(&from.join(name).to_string_lossy(), root) else {
                continue;
            };
            if is_folder_meant && root.join(&path).is_dir() {
                places.insert(PathBuf::from(&path));
            }
            for ending in ENDINGS {
                let file = PathBuf::from(format!("{path}{ending}"));
                if root.join(&file).is_file() {
                    let above = file.parent().filter(|above| !above.as_os_str().is_empty());
                    places.insert(above.unwrap_or(&file).to_owned());
                }
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_folders_of_a_command_are_those_of_its_scripts_and_of_what_they_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for (file, text) in [
            (
                "tools/rev.sh",
                "#!/bin/sh\n. \"$(dirname \"$0\")/../lib/x.sh\"\nsh tools/check.sh\n",
            ),
            ("tools/check.sh", "HERE=tools\n. $HERE/../more/y.sh\n"),
            ("lib/x.sh", "echo x"),
            ("more/y.sh", "echo y"),
            ("py/rev.py", "import helpers.words\n"),
            ("py/__init__.py", ""),
            ("helpers/words.py", ""),
            ("top.sh", ". lib/x.sh\n# reads src\n"),
            ("src/app.py", ""),
            ("Makefile", "review:\n\ttools/rev.sh\n"),
        ] {
            let place = root.join(file);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
        }
        let absolute = format!("{}/tools/rev.sh", root.display());
        let rows = [
            ("./tools/rev.sh", "lib more tools"),
            (absolute.as_str(), "lib more tools"),
            ("sh -c 'cd tools && ./rev.sh'", "lib more tools"),
            ("bash tools/rev.sh --fast", "lib more tools"),
            ("python3 -m py.rev", "helpers py"),
            ("python3 -c 'import py.rev'", "helpers py"),
            ("./top.sh", "lib top.sh"),
            ("make -s review", "."),
            ("sh -c 'make review'", "."),
            ("npm run review", "."),
            ("lens --deep", ""),
            ("/opt/lens/review", ""),
        ];
        for (line, expected) in rows {
            let command = shlex::split(line).unwrap();
            let found: Vec<String> = of_command(&command, root)
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            assert_eq!(found.join(" "), expected, "{line}");
        }
    }
}
