//! Generates the pages in `docs/reference` from the program and compares them with the published ones.
//! `UPDATE_SCHEMA=1 cargo test reference` writes them, as it writes the schemas.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use glee_model::domain::ExitReason;
use serde_json::Value;

use super::ROOT;

const HELP: &str = "src/cli/snapshots/glee__cli__tests__help_of_every_command.snap";

fn source(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).expect("a file of the repository")
}

/// Escapes what separates the cells of a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

fn code(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{}`", cell(text)),
        value => format!("`{}`", cell(&value.to_string())),
    }
}

/// The help of every command, without the options that all commands share.
fn commands() -> String {
    let mut page =
        "# Commands\n\nThe output of `glee COMMAND --help`. The [global options](#global-options) apply to \
                    every command.\n"
            .to_owned();
    let help = source(HELP);
    let mut globals = "";
    for section in help.split("\n==== ").skip(1) {
        let (name, text) = section.split_once('\n').unwrap_or((section, ""));
        let name = if name.trim().is_empty() { "glee" } else { name };
        let (before, rest) = text.split_once("\nGlobal options:\n").unwrap_or((text, ""));
        let (shared, after) = rest.split_once("(`blake3:...`)\n").unwrap_or((rest, ""));
        globals = if shared.is_empty() {
            globals
        } else {
            &rest[..rest.len() - after.len()]
        };
        let text = format!("{}\n\n{}", before.trim(), after.trim());
        let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", text.trim());
    }
    let _ = write!(
        page,
        "\n## Global options\n\n```text\n{}\n```\n",
        globals.trim_end()
    );
    page
}

/// What a value of a key is, from its schema.
fn kind(schema: &Value) -> String {
    let alternatives = |list: &Value| {
        let kinds = list.as_array().into_iter().flatten().map(kind);
        kinds
            .filter(|kind| !kind.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    };
    if schema["oneOf"].is_array() || schema["anyOf"].is_array() {
        return alternatives(if schema["oneOf"].is_array() {
            &schema["oneOf"]
        } else {
            &schema["anyOf"]
        });
    }
    if let Some(values) = schema["enum"].as_array() {
        return values
            .iter()
            .filter(|value| !value.is_null())
            .map(code)
            .collect::<Vec<_>>()
            .join(", ");
    }
    if schema["const"].is_string() {
        return code(&schema["const"]);
    }
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    let types: Vec<&str> = match &schema["type"] {
        Value::String(word) => vec![word],
        words => words
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect(),
    };
    match types.first().copied().unwrap_or_default() {
        _ if schema["format"] == "command" => "a command".to_owned(),
        "array" if schema["items"]["format"] == "command" => "a list of commands".to_owned(),
        _ if types.contains(&"array") => "a list of words".to_owned(),
        "string" if pattern.contains("(h|m|s|ms)") && pattern.contains('d') => {
            "a time such as `90d`".to_owned()
        }
        "string" if pattern.contains("(h|m|s|ms)") => "a time such as `10m`".to_owned(),
        "string" if pattern.contains("KiB") => "a size such as `1MiB`".to_owned(),
        "string" if pattern.contains("USD") => "an amount such as `$2`".to_owned(),
        "string" => "text".to_owned(),
        "boolean" => "`true`, `false`".to_owned(),
        "integer" => "a whole number".to_owned(),
        "number" => "a number".to_owned(),
        "object" => "names with values".to_owned(),
        other => other.to_owned(),
    }
}

fn keys(schema: &Value, prefix: &str, rows: &mut Vec<[String; 4]>) {
    for (name, key) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{prefix}{name}");
        if key["properties"].is_object() {
            keys(key, &format!("{path}."), rows);
        } else if key["items"]["properties"].is_object() {
            keys(&key["items"], &format!("{path}.<name>."), rows);
        } else {
            let default = key.get("default").map_or_else(|| "-".to_owned(), code);
            let scope = match key["x-project"].as_str() {
                Some("stricter") => " A project's file can only make it stricter.",
                Some("user") => " A project's file cannot set it.",
                _ => "",
            };
            let about = format!(
                "{}{scope}",
                cell(key["description"].as_str().unwrap_or_default())
            );
            rows.push([path, kind(key), default, about]);
        }
    }
}

fn settings() -> String {
    let schema: Value =
        serde_json::from_str(&source("docs/schema/config.json")).expect("the schema is JSON");
    let mut page = "# Settings\n\nThe keys of `.glee/config.yml` and of your own file, generated from the \
                    [schema](../schema/config.json), which `glee config schema` prints. `glee config list --origin` \
                    prints the values in force and where they come from: a built-in default, your own file \
                    (`--user`), the project's file, a variable (`review.max_file_size` is \
                    `GLEE_REVIEW_MAX_FILE_SIZE`), or the command line.\n"
        .to_owned();
    let mut rows = Vec::new();
    keys(&schema, "", &mut rows);
    let mut section = String::new();
    for [path, kind, default, about] in rows {
        let first = path.split('.').next().unwrap_or_default();
        if first != section {
            section = first.to_owned();
            let _ = write!(
                page,
                "\n## {section}\n\n| key | value | default | meaning |\n|---|---|---|---|\n"
            );
        }
        let _ = writeln!(page, "| `{path}` | {kind} | {default} | {about} |");
    }
    page
}

/// The text of the doc comments among some attributes.
fn documentation(attributes: &[syn::Attribute]) -> String {
    let lines = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
                syn::Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Str(text),
                    ..
                }) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        });
    lines.collect::<Vec<_>>().join(" ")
}

const EVENTS: &str = "crates/model/src/domain/event/mod.rs";

fn enumerations(path: &str) -> Vec<syn::ItemEnum> {
    let file = syn::parse_file(&source(path)).expect("a source file");
    file.items
        .into_iter()
        .filter_map(|item| {
            if let syn::Item::Enum(item) = item {
                Some(item)
            } else {
                None
            }
        })
        .collect()
}

/// The fields of the structures in a file, by the structure's name.
fn structures(path: &str) -> impl Iterator<Item = (String, syn::Fields)> {
    let file = syn::parse_file(&source(path)).expect("a source file");
    file.items.into_iter().filter_map(|item| match item {
        syn::Item::Struct(item) => Some((item.ident.to_string(), item.fields)),
        _ => None,
    })
}

fn snake_case(name: &str) -> String {
    name.chars().fold(String::new(), |mut snake, c| {
        if c.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
        snake
    })
}

fn events() -> String {
    let mut page = "# Events\n\n`glee review --format jsonl` prints each event of a run as a line of JSON when it \
                    happens, and the history stores the same lines. Every event has `run` (the id of the run), `seq` \
                    (its number in the run, from 1 without gaps), `at` (the time) and `event` (its name); the tables \
                    list its other fields. Later versions add events and fields, and remove or rename none. A \
                    program that reads events ignores those that it does not know.\n"
        .to_owned();
    // The only field of a variant without names is a structure, whose fields are those of the event.
    let structures: BTreeMap<String, syn::Fields> = structures(EVENTS)
        .chain(structures("crates/model/src/domain/review/reuse.rs"))
        .chain(structures(
            "crates/model/src/domain/review/demonstration.rs",
        ))
        .collect();
    let groups = enumerations(EVENTS).into_iter().filter(|item| {
        let name = item.ident.to_string();
        name.ends_with("Event") && name != "Event"
    });
    for group in groups {
        let name = group
            .ident
            .to_string()
            .trim_end_matches("Event")
            .to_lowercase();
        let _ = write!(
            page,
            "\n## Events of a {name}\n\n| event | fields | meaning |\n|---|---|---|\n"
        );
        for variant in &group.variants {
            let mut names = Vec::new();
            for field in &variant.fields {
                let is_flat = field.attrs.iter().any(|attribute| {
                    attribute.path().is_ident("serde")
                        && attribute
                            .meta
                            .require_list()
                            .is_ok_and(|list| list.tokens.to_string() == "flatten")
                });
                let whole = match &field.ty {
                    syn::Type::Path(whole) if is_flat || field.ident.is_none() => {
                        structures.get(&whole.path.segments[0].ident.to_string())
                    }
                    _ => None,
                };
                match (&field.ident, whole) {
                    (_, Some(fields)) => {
                        let idents = fields.iter().filter_map(|field| field.ident.as_ref());
                        names.extend(idents.map(|name| format!("`{name}`")));
                    }
                    (Some(name), None) if is_flat => names.push(format!("those of `{name}`")),
                    (Some(name), None) => names.push(format!("`{name}`")),
                    (None, None) => panic!("the fields of {} are not known", variant.ident),
                }
            }
            let fields = names.join(", ");
            let about = cell(&documentation(&variant.attrs));
            let _ = writeln!(
                page,
                "| `{}` | {fields} | {about} |",
                snake_case(&variant.ident.to_string())
            );
        }
    }
    page
}

fn forms() -> String {
    let mut page =
        "# JSON forms\n\nThe schemas in `docs/schema` describe every form. `glee agents schema FORM` prints \
                    those of requests and answers, `glee config schema` that of the configuration. A form grows by \
                    optional fields only.\n"
            .to_owned();
    let mut files: Vec<_> = fs::read_dir(Path::new(ROOT).join("docs/schema"))
        .expect("the folder of schemas")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    for file in files {
        let name = file
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let form = name.trim_end_matches(".json");
        if form == "config" {
            continue;
        }
        let schema: Value = serde_json::from_str(&source(&format!("docs/schema/{name}")))
            .expect("a schema is JSON");
        let about = schema["description"].as_str().unwrap_or_default();
        let required = |field: &str| {
            schema["required"]
                .as_array()
                .is_some_and(|all| all.contains(&field.into()))
        };
        let _ = write!(
            page,
            "\n## {form}\n\n{about} [Schema](../schema/{name})\n\n| field | meaning |\n|---|---|\n"
        );
        for (field, value) in schema["properties"].as_object().into_iter().flatten() {
            let referred = value["$ref"]
                .as_str()
                .and_then(|reference| schema.pointer(reference.strip_prefix('#')?));
            let about = value
                .get("description")
                .or_else(|| referred?.get("description"));
            let about = cell(about.and_then(Value::as_str).unwrap_or_default());
            let optional = if required(field) { "" } else { " (optional)" };
            let _ = writeln!(page, "| `{field}`{optional} | {about} |");
        }
    }
    page
}

fn exit_codes() -> String {
    use ExitReason::*;
    let reasons = [
        Clean,
        FindingsOpen,
        Usage,
        DisputeOpen,
        AgentFailed,
        ReadOnlyViolation,
        Locked,
        History,
        Untrusted,
        Budget,
        Limited,
        StillRunning,
    ];
    let enumeration = enumerations("crates/model/src/domain/review/exit_reason.rs")
        .into_iter()
        .find(|item| item.ident == "ExitReason")
        .expect("the enumeration of exit reasons");
    assert_eq!(
        enumeration.variants.len(),
        reasons.len() + 1,
        "every reason but the signal has a row"
    );
    let mut page = "# Exit codes\n\n| code | meaning |\n|---:|---|\n".to_owned();
    for reason in reasons {
        let name = format!("{reason:?}");
        let variant = enumeration
            .variants
            .iter()
            .find(|variant| variant.ident == name)
            .expect("a variant");
        let _ = writeln!(
            page,
            "| {} | {} |",
            reason.code(),
            documentation(&variant.attrs)
        );
    }
    page + "| 128 + n | Signal n ended the run. |\n\nIf several apply, the strongest one counts: a signal, then 8, 7, \
            6, 2, 5, 124, 75, 4, 3, 1, 0.\n\n- After 3, `glee disputes --open` lists the disputes and `glee disputes \
            resolve` settles one.\n- After 4, 75 or a signal, `glee runs resume` continues the run; answers that were \
            given are kept.\n- After 124, the run goes on: wait again, or end it with `glee runs stop`.\n- After 8, `glee trust --show` prints what would run, and `glee trust` permits it.\n"
}

#[test]
fn the_published_reference_is_this_one() {
    let pages = [
        ("commands", commands()),
        ("settings", settings()),
        ("events", events()),
        ("json", forms()),
        ("exit-codes", exit_codes()),
    ];
    for (name, text) in pages {
        let path = Path::new(ROOT).join(format!("docs/reference/{name}.md"));
        let text = text.replace("\n\n\n", "\n\n");
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            fs::write(&path, &text).expect("a written page");
        }
        let published = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            published == text,
            "{name}.md is out of date: run with UPDATE_SCHEMA=1"
        );
    }
}
