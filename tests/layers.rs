//! Holds what the walls between the crates do not: the layers inside a crate, no files that import each other in a circle,
//! a name of its own for each public type, and dependencies that stay in one place.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use syn::visit::Visit;

/// The layers of a crate from the top; those on one line do not import each other.
const LAYERS: &[&[&[&str]]] = &[
    &[
        &[
            "workflows/watch",
            "workflows/consensus",
            "workflows/audit",
            "workflows/pull_request",
        ],
        &["workflows/review"],
        &["workflows/run"],
        &["workflows/hosts"],
    ],
    &[&["history"], &["config"]],
    &[&["rules"], &["domain"]],
];

/// Dependencies and the only places that may name them.
const OWNERS: &[(&str, &[&str])] = &[
    ("axum", &["cli/serve"]),
    ("hyper", &["cli/serve"]),
    ("hyper_util", &["cli/serve"]),
    ("dialoguer", &["cli/ui"]),
    ("quick_junit", &["cli/report/formats/junit.rs"]),
    ("indicatif", &["cli/style", "cli/ui"]),
    ("supports_hyperlinks", &["cli/ui"]),
    ("serde_yaml", &["config"]),
    ("yaml_edit", &["config"]),
    (
        "tokio::process",
        // The second one starts only Glee itself.
        &[
            "agents/process/runner.rs",
            "cli/commands/tools/mcp/commands.rs",
        ],
    ),
    ("rmcp", &["cli/commands/tools/mcp"]),
    (
        "regex",
        &[
            "agents/adapters/profile.rs",
            "agents/calls",
            "config/programs",
            "protocol",
            "workspace/select/read_hashes.rs",
        ],
    ),
    (
        "minijinja",
        &["protocol/prompts", "cli/report/html", "cli/serve"],
    ),
    ("syntect", &["cli/report/html/highlight.rs"]),
    ("two_face", &["cli/report/html/highlight.rs"]),
    ("rusqlite", &["history"]),
    (
        "ureq",
        &["workflows/hosts", "workspace/advisories", "agents/address"],
    ),
];

/// The crates whose modules have names of their own, without the crate's.
const SEVERAL_LAYERS: [&str; 2] = ["model", "store"];

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
    let text = text
        .split("\n#[cfg(test)]\nmod ")
        .next()
        .unwrap_or_default();
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Every file of the program with its code, as `cli/…` for `src/cli`, `agents/…` for `crates/agents/src` and
/// `rules/…` for `crates/model/src/rules`.
fn files() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    let mut add = |folder: PathBuf, before: &str| {
        for file in sources(&folder) {
            let name = file.strip_prefix(&folder).expect("a file of the folder");
            let name = name.to_string_lossy().replace('\\', "/");
            files.push((format!("{before}{name}"), file));
        }
    };
    add(root.join("src"), "");
    for entry in fs::read_dir(root.join("crates")).expect("the crates can be read") {
        let folder = entry.expect("the crates can be read").path();
        let name = folder.file_name().expect("a name").to_string_lossy();
        let before = if SEVERAL_LAYERS.contains(&&*name) {
            String::new()
        } else {
            format!("{name}/")
        };
        add(folder.join("src"), &before);
    }
    files
}

fn codes() -> Vec<(String, String)> {
    let read = |(name, file): (String, PathBuf)| {
        let text = fs::read_to_string(file).expect("a source file is text");
        (name, code(&text))
    };
    files().into_iter().map(read).collect()
}

#[test]
fn no_layer_reaches_upwards_or_sideways() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (name, code) in codes() {
        for layers in LAYERS {
            let is_of = |layer: &&str| name.starts_with(&format!("{layer}/"));
            let Some(rank) = layers.iter().position(|row| row.iter().any(is_of)) else {
                continue;
            };
            checked += 1;
            let above = layers[..=rank].iter().copied().flatten();
            for other in above.filter(|layer| !is_of(layer)) {
                let module = other.rsplit('/').next().unwrap_or(other);
                for form in [
                    format!("crate::{module}::"),
                    format!("crate::{module};"),
                    format!("crate::{{{module}"),
                ] {
                    if code.contains(&form) {
                        wrong.push(format!("{name} uses `{other}`"));
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
    for (name, code) in codes() {
        for (owned, places) in OWNERS {
            let named = code.match_indices(&format!("{owned}::")).any(|(at, _)| {
                !code[..at]
                    .ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '"')
            });
            if named && !places.iter().any(|place| name.starts_with(place)) {
                wrong.push(format!("{name} uses `{owned}`"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// The places that may read what agents wrote as it is written: they compare and search it, or make it harmless.
const READERS: &[&str] = &[
    "cli/report/kept.rs",
    "workspace/code/citation.rs",
    "workspace/code/cited.rs",
    "workspace/code/reach.rs",
    "builtin",
    "domain",
    "history/projections",
    "history/redacted.rs",
    "protocol",
    "rules",
    "workflows/review",
    "workflows/consensus/outcome.rs",
    "workflows/hosts/gitea/answers.rs",
    "workflows/hosts/gitea/threads.rs",
    "workflows/pull_request/marker.rs",
    "workflows/pull_request/replies/commands.rs",
    "workflows/pull_request/threads.rs",
    "workflows/watch/compare.rs",
    "workflows/watch/cycle.rs",
    "workflows/watch/workflow/arbitration.rs",
    "workflows/watch/state.rs",
    "workspace/git/fetched_change.rs",
    "workspace/code/anchors.rs",
];

#[test]
fn what_others_wrote_is_shown_and_sent_only_by_what_makes_it_harmless() {
    let is_test = |name: &str| name.split(['/', '.']).any(|part| part == "tests");
    let mut readers: Vec<String> = codes()
        .into_iter()
        .filter(|(name, code)| !is_test(name) && code.contains("as_written"))
        .map(|(name, _)| name)
        .collect();
    assert!(!readers.is_empty());
    readers.retain(|name| !READERS.iter().any(|place| name.starts_with(place)));
    assert_eq!(readers, Vec::<String>::new());
}

/// A module of the program: the file that holds it, the names it defines, and those it re-exports with their paths.
#[derive(Default)]
struct Module {
    file: String,
    defined: BTreeSet<String>,
    imported: BTreeMap<String, Vec<String>>,
}

/// What a part of a file refers to, from inside which module.
struct Reference {
    module: Vec<String>,
    path: Vec<String>,
}

#[derive(Default)]
struct Structure {
    modules: BTreeMap<Vec<String>, Module>,
    references: Vec<Reference>,
    /// Public types by name, each with the modules that define one.
    types: BTreeMap<String, BTreeSet<String>>,
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|condition| condition == "test")
    })
}

fn leaves(tree: &syn::UseTree, before: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    match tree {
        syn::UseTree::Path(path) => {
            before.push(path.ident.to_string());
            leaves(&path.tree, before, found);
            before.pop();
        }
        syn::UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|item| leaves(item, before, found)),
        syn::UseTree::Glob(_) => found.push((before.clone(), "*".to_owned())),
        syn::UseTree::Name(name) if name.ident == "self" => {
            found.push((before.clone(), before.last().cloned().unwrap_or_default()));
        }
        syn::UseTree::Name(syn::UseName { ident })
        | syn::UseTree::Rename(syn::UseRename { ident, .. }) => {
            let alias = if let syn::UseTree::Rename(rename) = tree {
                &rename.rename
            } else {
                ident
            };
            let whole = if ident == "self" {
                before.clone()
            } else {
                [&before[..], &[ident.to_string()]].concat()
            };
            found.push((whole, alias.to_string()));
        }
    }
}

/// Collects the paths of code that are not `use` declarations.
struct Paths<'a>(&'a [String], &'a mut Vec<Reference>);

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let path_of = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        self.1.push(Reference {
            module: self.0.to_vec(),
            path: path_of,
        });
        syn::visit::visit_path(self, path);
    }

    // `pub(super)` refers to nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

impl Structure {
    fn read(&mut self, module: &[String], file: &str, items: &[syn::Item]) {
        let mut own = Module {
            file: file.to_owned(),
            ..Module::default()
        };
        for item in items {
            let (name, attributes, is_public_type) = match item {
                syn::Item::Mod(item) => {
                    if let (false, Some((_, items))) = (is_for_tests(&item.attrs), &item.content) {
                        self.read(&[module, &[item.ident.to_string()]].concat(), file, items);
                    }
                    continue;
                }
                syn::Item::Use(item) => {
                    if !is_for_tests(&item.attrs) {
                        let mut found = Vec::new();
                        leaves(&item.tree, &mut Vec::new(), &mut found);
                        for (path, alias) in found {
                            self.references.push(Reference {
                                module: module.to_vec(),
                                path: path.clone(),
                            });
                            own.imported.insert(alias, path);
                        }
                    }
                    continue;
                }
                syn::Item::Struct(item) => (Some(&item.ident), &item.attrs, is_public(&item.vis)),
                syn::Item::Enum(item) => (Some(&item.ident), &item.attrs, is_public(&item.vis)),
                syn::Item::Trait(item) => (Some(&item.ident), &item.attrs, is_public(&item.vis)),
                syn::Item::Type(item) => (Some(&item.ident), &item.attrs, is_public(&item.vis)),
                syn::Item::Fn(item) => (Some(&item.sig.ident), &item.attrs, false),
                syn::Item::Const(item) => (Some(&item.ident), &item.attrs, false),
                syn::Item::Static(item) => (Some(&item.ident), &item.attrs, false),
                syn::Item::Impl(item) => (None, &item.attrs, false),
                _ => continue,
            };
            if is_for_tests(attributes) {
                continue;
            }
            if let Some(name) = name {
                own.defined.insert(name.to_string());
                if is_public_type {
                    self.types
                        .entry(name.to_string())
                        .or_default()
                        .insert(module.join("::"));
                }
            }
            Paths(module, &mut self.references).visit_item(item);
        }
        self.modules.insert(module.to_vec(), own);
    }

    /// The file that a path leads to from a module, through re-exports; `None` if it leads out of the program.
    fn file_of(&self, module: &[String], path: &[String], depth: usize) -> Option<&str> {
        let (first, rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => root_of(module),
            "self" => module.to_vec(),
            "super" => module[..module.len().checked_sub(1)?].to_vec(),
            name => {
                let child = [module, &[name.to_owned()]].concat();
                if self.modules.contains_key(&child) {
                    child
                } else {
                    let target = self
                        .modules
                        .get(module)?
                        .imported
                        .get(name)
                        .filter(|_| depth > 0)?;
                    return self.file_of(module, &[target, rest].concat(), depth - 1);
                }
            }
        };
        for (index, name) in rest.iter().enumerate() {
            if name == "super" {
                at.pop();
                continue;
            }
            let child = [&at[..], std::slice::from_ref(name)].concat();
            if self.modules.contains_key(&child) {
                at = child;
                continue;
            }
            let here = self.modules.get(&at)?;
            if here.defined.contains(name) {
                return Some(&here.file);
            }
            let target = here.imported.get(name).filter(|_| depth > 0)?;
            return self.file_of(&at, &[&target[..], &rest[index + 1..]].concat(), depth - 1);
        }
        self.modules.get(&at).map(|found| found.file.as_str())
    }
}

fn is_public(visibility: &syn::Visibility) -> bool {
    !matches!(visibility, syn::Visibility::Inherited)
}

/// The module that `crate` means inside of a module.
fn root_of(module: &[String]) -> Vec<String> {
    static CRATES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let crates = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates"));
        let entries = crates.expect("the crates can be read").flatten();
        entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    });
    let first = module.first().filter(|name| CRATES.contains(name));
    first.cloned().into_iter().collect()
}

fn structure() -> Structure {
    let mut structure = Structure::default();
    for (name, file) in files() {
        let mut module: Vec<String> = name
            .trim_end_matches(".rs")
            .split('/')
            .map(str::to_owned)
            .collect();
        if module.iter().any(|part| part == "tests") || name == "main.rs" {
            continue;
        }
        if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
            module.pop();
        }
        let text = fs::read_to_string(file).expect("a source file is text");
        let parsed = syn::parse_file(&text).expect("a source file is Rust");
        structure.read(&module, &name, &parsed.items);
    }
    structure
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let structure = structure();
    let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Reference { module, path } in &structure.references {
        let file = structure.modules[module].file.as_str();
        if let Some(other) = structure
            .file_of(module, path, 8)
            .filter(|other| *other != file)
        {
            uses.entry(file).or_default().insert(other);
        }
    }
    assert!(
        uses.values().map(BTreeSet::len).sum::<usize>() > 1_000,
        "hardly any import was found"
    );
    // What imports nothing that is left is taken away until nothing changes: the rest lies on circles or above them.
    // The same from the other end leaves the circles and what lies between them.
    loop {
        let before = uses.len();
        let users: BTreeSet<&str> = uses.keys().copied().collect();
        uses.values_mut()
            .for_each(|others| others.retain(|other| users.contains(other)));
        let used: BTreeSet<&str> = uses.values().flatten().copied().collect();
        uses.retain(|file, others| !others.is_empty() && used.contains(file));
        if uses.len() == before {
            break;
        }
    }
    assert_eq!(uses, BTreeMap::new());
}

#[test]
fn a_public_type_has_a_name_of_its_own() {
    let types = structure().types;
    assert!(types.len() > 500, "only {} types were found", types.len());
    // The same type for another system, and the arguments of each command.
    let is_parallel = |name: &str, modules: &BTreeSet<String>| {
        name == "Args"
            && modules
                .iter()
                .all(|module| module.starts_with("cli::commands::"))
            || modules
                .iter()
                .all(|module| module.starts_with("agents::process::orphans::"))
    };
    let shared: Vec<_> = types
        .into_iter()
        .filter(|(name, modules)| modules.len() > 1 && !is_parallel(name, modules))
        .collect();
    assert_eq!(shared, Vec::new());
}

#[test]
fn the_glossary_names_types_that_exist() {
    let types = structure().types;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/glossary.md");
    let text = fs::read_to_string(path).expect("the glossary can be read");
    let rows = text.lines().filter_map(|line| {
        line.strip_prefix("| ")?
            .strip_suffix("` |")?
            .split_once(" | ")
    });
    let (mut terms, mut wrong) = (BTreeSet::new(), Vec::new());
    for (term, rest) in rows {
        let name = rest.rsplit('`').next().unwrap_or_default();
        if !types.contains_key(name) {
            wrong.push(format!(
                "`{term}` names the type `{name}`, which does not exist"
            ));
        }
        if !terms.insert(term) {
            wrong.push(format!("`{term}` is explained twice"));
        }
    }
    assert!(terms.len() > 50, "only {} terms were found", terms.len());
    assert_eq!(wrong, Vec::<String>::new());
}
