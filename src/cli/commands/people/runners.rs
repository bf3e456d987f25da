//! The runner of demonstrations that `glee init` proposes. A runner is a program, so Glee proposes it and sets nothing.

use std::fs;
use std::path::Path;

/// The command that configures a runner for the tests of the tree at `root`.
pub(super) fn proposal(root: &Path) -> Option<String> {
    let exists = |path: &str| root.join(path).exists();
    let tests = folder(root, &["tests", "test"]);
    let has_python = tests.is_some_and(|tests| {
        let files = fs::read_dir(root.join(tests))
            .into_iter()
            .flatten()
            .flatten();
        let mut names = files.filter_map(|file| file.file_name().into_string().ok());
        names.any(|name| name.starts_with("test") && name.ends_with(".py"))
    });
    let uses_pytest = exists("pytest.ini")
        || contains(root, "pyproject.toml", "[tool.pytest")
        || contains(root, "setup.cfg", "[tool:pytest]")
        || tests.is_some_and(|tests| root.join(tests).join("conftest.py").exists());
    let uses_phpunit = exists("phpunit.xml")
        || exists("phpunit.xml.dist")
        || contains(root, "composer.json", "phpunit/phpunit");
    let uses_rspec = exists(".rspec") || contains(root, "Gemfile", "rspec");
    let (name, folder) = match tests {
        Some(tests) if has_python && uses_pytest => ("pytest", tests),
        Some(tests) if has_python => ("unittest", tests),
        Some(tests) if contains(root, "package.json", "node --test") => ("node", tests),
        Some(tests) if uses_phpunit => ("phpunit", tests),
        _ if uses_rspec => ("rspec", folder(root, &["spec"])?),
        _ if exists("go.mod") => ("go", folder(root, &["internal", "pkg", "cmd"])?),
        _ if contains(root, "Cargo.toml", "[package]") => ("cargo", "tests"),
        _ => return None,
    };
    Some(format!(
        "glee config set --user review.runners '{{{name}: {{command: {name}, folder: {folder}}}}}'"
    ))
}

fn contains(root: &Path, file: &str, text: &str) -> bool {
    fs::read_to_string(root.join(file)).is_ok_and(|found| found.contains(text))
}

fn folder(root: &Path, names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| root.join(name).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glee_store::config::settings::Runner;

    /// The files of a tree, and the name and the folder of the runner that is proposed.
    type Row<'a> = (&'a [(&'a str, &'a str)], Option<(&'a str, &'a str)>);

    #[test]
    fn the_tree_says_which_runner_it_has() {
        let rows: [Row<'_>; 13] = [
            (&[("tests/test_a.py", "")], Some(("unittest", "tests"))),
            (
                &[("test/test_a.py", ""), ("test/conftest.py", "")],
                Some(("pytest", "test")),
            ),
            (
                &[
                    ("tests/test_a.py", ""),
                    ("pyproject.toml", "[tool.pytest.ini_options]\n"),
                ],
                Some(("pytest", "tests")),
            ),
            (
                &[
                    ("tests/a.test.js", ""),
                    ("package.json", "{\"scripts\": {\"test\": \"node --test\"}}"),
                ],
                Some(("node", "tests")),
            ),
            (
                &[("go.mod", "module a"), ("internal/a.go", "")],
                Some(("go", "internal")),
            ),
            (&[("go.mod", "module a")], None),
            (
                &[("phpunit.xml.dist", ""), ("tests/ATest.php", "")],
                Some(("phpunit", "tests")),
            ),
            (
                &[
                    (
                        "composer.json",
                        "{\"require-dev\": {\"phpunit/phpunit\": \"^9\"}}",
                    ),
                    ("tests/ATest.php", ""),
                ],
                Some(("phpunit", "tests")),
            ),
            (
                &[(".rspec", ""), ("spec/a_spec.rb", "")],
                Some(("rspec", "spec")),
            ),
            (&[("Gemfile", "gem 'rspec'"), ("lib/a.rb", "")], None),
            (
                &[
                    ("Cargo.toml", "[package]\nname = \"a\""),
                    ("src/lib.rs", ""),
                ],
                Some(("cargo", "tests")),
            ),
            (&[("Cargo.toml", "[workspace]")], None),
            (&[], None),
        ];
        for (files, expected) in rows {
            let folder = tempfile::tempdir().expect("a folder");
            for (path, text) in files {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                fs::write(path, text).expect("a file");
            }
            let expected = expected.map(|(name, folder)| {
                assert!(Runner::KNOWN.iter().any(|(known, _)| *known == name), "{name}");
                format!("glee config set --user review.runners '{{{name}: {{command: {name}, folder: {folder}}}}}'")
            });
            assert_eq!(proposal(folder.path()), expected, "{files:?}");
        }
    }
}
