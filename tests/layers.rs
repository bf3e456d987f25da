//! Holds the table of layers in `src/lib.rs`: a layer may use what stands below it, never what stands above or beside,
//! and some crates stay in one layer.

use std::fs;
use std::path::{Path, PathBuf};

/// Layers from the top; those on one line do not import each other.
const LAYERS: &[&[&str]] = &[
    &["cli"],
    &["watch"],
    &["pipeline"],
    &["agents"],
    &["workspace"],
    &["history"],
    &["config"],
    &["protocol"],
    &["rules"],
    &["domain"],
    &["system"],
];

/// Crates and the only places that may name them.
const OWNERS: &[(&str, &[&str])] = &[
    ("clap", &["cli"]),
    ("anyhow", &["cli"]),
    ("dialoguer", &["cli/ui"]),
    ("indicatif", &["cli/style", "cli/ui"]),
    ("serde_yaml", &["config"]),
    ("yaml_edit", &["config"]),
    ("tokio::process", &["agents/process/runner.rs"]),
    ("regex", &["protocol"]),
    ("rusqlite", &["history"]),
    ("tracing_subscriber", &["system/log.rs"]),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("src can be read") {
        let path = entry.expect("src can be read").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The code of a file: comments and the test module left out.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn layer_of(path: &str) -> Option<(usize, &'static str)> {
    let first = path.split('/').next()?.trim_end_matches(".rs");
    LAYERS
        .iter()
        .enumerate()
        .find_map(|(rank, names)| names.iter().find(|name| **name == first).map(|name| (rank, *name)))
}

/// Every file of the program by its path below `src`, with its code.
fn files() -> Vec<(String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let named = |file: PathBuf| {
        let name = file.strip_prefix(&src).expect("a file of src").to_string_lossy().replace('\\', "/");
        (name, code(&fs::read_to_string(&file).expect("a source file is text")))
    };
    sources(&src).into_iter().map(named).collect()
}

#[test]
fn no_layer_reaches_upwards_or_sideways() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (name, code) in files() {
        let Some((rank, layer)) = layer_of(&name) else { continue };
        checked += 1;
        for (other_rank, names) in LAYERS.iter().enumerate() {
            for other in names.iter().filter(|other| **other != layer && other_rank <= rank) {
                for form in [format!("crate::{other}::"), format!("crate::{other};"), format!("crate::{{{other}")] {
                    if code.contains(&form) {
                        wrong.push(format!("src/{name} uses `{other}`"));
                    }
                }
            }
        }
    }
    assert!(checked > 50, "only {checked} files were found");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_crate_stays_where_it_belongs() {
    let mut wrong = Vec::new();
    for (name, code) in files() {
        for (owned, places) in OWNERS {
            let named = code.match_indices(&format!("{owned}::")).any(|(at, _)| {
                !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '"')
            });
            if named && !places.iter().any(|place| name.starts_with(place)) {
                wrong.push(format!("src/{name} uses `{owned}`"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// The places that may read what agents wrote as it is written: they compare and search it, or make it harmless.
const READERS: &[&str] = &[
    "agents/builtin",
    "domain",
    "history/projections.rs",
    "pipeline",
    "protocol",
    "rules",
    "watch/arbitration.rs",
    "watch/cycle.rs",
    "watch/state.rs",
    "workspace/code/anchors.rs",
];

#[test]
fn what_others_wrote_is_shown_and_sent_only_by_what_makes_it_harmless() {
    let is_test = |name: &str| name.split(['/', '.']).any(|part| part == "tests");
    let mut readers: Vec<String> = files()
        .into_iter()
        .filter(|(name, code)| !is_test(name) && code.contains("as_written"))
        .map(|(name, _)| name)
        .collect();
    assert!(!readers.is_empty());
    readers.retain(|name| !READERS.iter().any(|place| name.starts_with(place)));
    assert_eq!(readers, Vec::<String>::new());
}
