//! Checks `CONTRIBUTING.md` and `AGENTS.md`: the names in them exist, and the instructions work.

use std::fs;
use std::path::Path;

use crate::support::Sandbox;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).expect("the page exists")
}

/// The texts in backticks and the lines of code blocks.
fn quoted(page: &str) -> impl Iterator<Item = &str> {
    let blocks = page.split("```").enumerate();
    blocks.flat_map(|(number, text)| {
        let separator = if number % 2 == 1 { '\n' } else { '`' };
        text.split(separator)
            .skip(1)
            .step_by(if number % 2 == 1 { 1 } else { 2 })
    })
}

#[test]
fn every_file_that_the_pages_name_exists() {
    let mut missing = Vec::new();
    for name in ["CONTRIBUTING.md", "AGENTS.md"] {
        let page = page(name);
        let is_path = |word: &&str| {
            let known = ["src/", "tests/", "docs/", ".ci/"]
                .iter()
                .any(|folder| word.starts_with(folder));
            known && !word.contains([' ', '<'])
        };
        let paths: Vec<&str> = quoted(&page).filter(is_path).collect();
        assert!(paths.len() >= 3, "{name}: {paths:?}");
        missing.extend(
            paths
                .into_iter()
                .filter(|path| !Path::new(ROOT).join(path).exists())
                .map(str::to_owned),
        );
    }
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_recipe_that_the_pages_name_is_in_the_justfile() {
    let justfile = page("justfile");
    let recipes: Vec<&str> = justfile
        .lines()
        .filter(|line| !line.starts_with([' ', '#']))
        .filter_map(|line| line.split_once(':'))
        .filter_map(|(head, _)| head.split(' ').next())
        .collect();
    let pages = [page("CONTRIBUTING.md"), page("AGENTS.md")];
    let named: Vec<&str> = pages
        .iter()
        .flat_map(|page| quoted(page))
        .filter_map(|line| line.strip_prefix("just "))
        .filter_map(|rest| rest.split(' ').next())
        .collect();
    assert!(named.len() >= 5, "{named:?}");
    let unknown: Vec<&&str> = named
        .iter()
        .filter(|name| !recipes.contains(name))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?} of {recipes:?}");
}

#[test]
fn a_rule_of_a_projects_own_is_one_file() {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write(
        ".glee/rules/no-print.yml",
        "id: no-print\nlanguage: python\nseverity: warning\nmessage: Print in library code\nnote: Use the logger.\n\
         rule:\n  pattern: print($$$)\n",
    );
    sandbox.write("app.py", "def run():\n    print('x')\n");
    let connected = sandbox.glee(&["connect", "builtin:rules", "--role", "reviewer"]);
    assert_eq!(connected.code, 0, "{connected}");
    let reviewed = sandbox.glee(&["review", "app.py"]);
    assert!(
        reviewed.stdout.contains("Print in library code"),
        "{reviewed}"
    );
}
