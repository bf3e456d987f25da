//! Decides by the path of a file what the code of the file is for.

use crate::domain::Ground;

const VENDORED: [&str; 6] = [
    "node_modules",
    "third-party",
    "third_party",
    "thirdparty",
    "vendor",
    "vendored",
];

const TESTS: [&str; 13] = [
    "__mocks__",
    "__tests__",
    "bench",
    "benches",
    "e2e",
    "fixtures",
    "spec",
    "specs",
    "test",
    "testdata",
    "testing",
    "tests",
    "unittests",
];

const EXAMPLES: [&str; 9] = [
    "demo",
    "demos",
    "doc",
    "docs",
    "example",
    "examples",
    "sample",
    "samples",
    "tutorials",
];

/// Generated code is not known by its path.
pub fn of_path(path: &str) -> Ground {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    if is_below(folders, &VENDORED) {
        Ground::Vendored
    } else if is_below(folders, &TESTS) || is_test(name) {
        Ground::Test
    } else if is_below(folders, &EXAMPLES) {
        Ground::Example
    } else {
        Ground::Product
    }
}

fn is_below(folders: &str, names: &[&str]) -> bool {
    folders
        .split('/')
        .any(|folder| names.contains(&folder.to_ascii_lowercase().as_str()))
}

/// Whether a file is a test by the conventions for the names of tests, such as `test_x.py`, `x_test.go`, `x.spec.ts`
/// and `XTest.java`.
fn is_test(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let lower = stem.to_ascii_lowercase();
    let words = ["test", "tests", "spec"];
    lower.starts_with("test_")
        || lower.starts_with("testutil")
        || lower == "conftest"
        || words.into_iter().any(|word| {
            lower
                .strip_suffix(word)
                .is_some_and(|before| before.is_empty() || before.ends_with(['_', '.', '-']))
        })
        || ["Test", "Tests", "Spec"]
            .into_iter()
            .any(|word| stem.ends_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_paths() {
        let rows = [
            ("src/app.py", Ground::Product),
            ("app.py", Ground::Product),
            ("src/latest.py", Ground::Product),
            ("src/contest/attest.rs", Ground::Product),
            ("src/testify.go", Ground::Product),
            ("lib/specification.rb", Ground::Product),
            ("tests/helper.py", Ground::Test),
            ("src/test/java/a/Helper.java", Ground::Test),
            ("src/Test/Helper.cs", Ground::Test),
            ("web/__tests__/a.js", Ground::Test),
            ("src/test_app.py", Ground::Test),
            ("src/app_test.go", Ground::Test),
            ("src/app.spec.ts", Ground::Test),
            ("src/app.test.tsx", Ground::Test),
            ("src/AppTest.java", Ground::Test),
            ("src/AppTests.cs", Ground::Test),
            ("src/tests.rs", Ground::Test),
            ("src/conftest.py", Ground::Test),
            ("src/testutil.rs", Ground::Test),
            ("benches/start.rs", Ground::Test),
            ("examples/shop/app.py", Ground::Example),
            ("docs/snippets/a.rs", Ground::Example),
            ("examples/shop/tests/a.py", Ground::Test),
            ("vendor/x/tests/a.go", Ground::Vendored),
            ("web/node_modules/a/b.js", Ground::Vendored),
        ];
        for (path, expected) in rows {
            assert_eq!(of_path(path), expected, "{path}");
        }
    }
}
