//! The runner of demonstrations that `glee init` proposes. A runner is a program, so Glee proposes it and sets nothing.

use std::fs;
use std::path::Path;

/// The command that configures a runner for the tests of the tree at `root`. Only runners are proposed that tell which
/// lines a test executes.
pub(super) fn proposal(root: &Path) -> Option<String> {
    let contains = |file: &str, text: &str| {
        fs::read_to_string(root.join(file)).is_ok_and(|found| found.contains(text))
    };
    let folder =
        |names: &[&'static str]| names.iter().copied().find(|name| root.join(name).is_dir());
    let tests = folder(&["tests", "test"]);
    let has_python = tests.is_some_and(|tests| {
        let files = fs::read_dir(root.join(tests))
            .into_iter()
            .flatten()
            .flatten();
        let mut names = files.filter_map(|file| file.file_name().into_string().ok());
        names.any(|name| name.starts_with("test") && name.ends_with(".py"))
    });
    let uses_pytest = root.join("pytest.ini").exists()
        || contains("pyproject.toml", "[tool.pytest")
        || contains("setup.cfg", "[tool:pytest]")
        || tests.is_some_and(|tests| root.join(tests).join("conftest.py").exists());
    let (name, command, folder) = match tests {
        Some(tests) if has_python && uses_pytest => (
            "pytest",
            "python3 -m pytest -q --junitxml={junit} {files}",
            tests,
        ),
        Some(tests) if has_python => ("unittest", "python3 -m unittest {files}", tests),
        Some(tests) if contains("package.json", "node --test") => (
            "node",
            "node --test --test-reporter=junit --test-reporter-destination={junit} {files}",
            tests,
        ),
        _ if root.join("go.mod").exists() => (
            "go",
            "go test -json -coverprofile={coverage} ./{folder}",
            folder(&["internal", "pkg", "cmd"])?,
        ),
        _ => return None,
    };
    Some(format!(
        "glee config set --user review.runners '{{{name}: {{command: \"{command}\", folder: {folder}}}}}'"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files of a tree, and the value that is proposed.
    type Row<'a> = (&'a [(&'a str, &'a str)], Option<&'a str>);

    #[test]
    fn the_tree_says_which_runner_it_has() {
        let rows: [Row<'_>; 8] = [
            (
                &[("tests/test_a.py", "")],
                Some("{unittest: {command: \"python3 -m unittest {files}\", folder: tests}}"),
            ),
            (
                &[("test/test_a.py", ""), ("test/conftest.py", "")],
                Some(
                    "{pytest: {command: \"python3 -m pytest -q --junitxml={junit} {files}\", folder: test}}",
                ),
            ),
            (
                &[
                    ("tests/test_a.py", ""),
                    ("pyproject.toml", "[tool.pytest.ini_options]\n"),
                ],
                Some(
                    "{pytest: {command: \"python3 -m pytest -q --junitxml={junit} {files}\", folder: tests}}",
                ),
            ),
            (
                &[
                    ("tests/a.test.js", ""),
                    ("package.json", "{\"scripts\": {\"test\": \"node --test\"}}"),
                ],
                Some(
                    "{node: {command: \"node --test --test-reporter=junit --test-reporter-destination={junit} {files}\", folder: tests}}",
                ),
            ),
            (
                &[("go.mod", "module a"), ("internal/a.go", "")],
                Some(
                    "{go: {command: \"go test -json -coverprofile={coverage} ./{folder}\", folder: internal}}",
                ),
            ),
            (&[("go.mod", "module a")], None),
            (&[("tests/a.rs", ""), ("Cargo.toml", "")], None),
            (&[], None),
        ];
        for (files, expected) in rows {
            let folder = tempfile::tempdir().expect("a folder");
            for (path, text) in files {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                fs::write(path, text).expect("a file");
            }
            let expected =
                expected.map(|value| format!("glee config set --user review.runners '{value}'"));
            assert_eq!(proposal(folder.path()), expected, "{files:?}");
        }
    }
}
