//! Brings the packaged rules for secrets into the form that is read at every start.
//!
//! Written in TOML, as gitleaks has them, they take milliseconds to read; the same as JSON takes a tenth of it.

use std::path::Path;
use std::{env, error, fs};

use serde_json::Value;

const WRITTEN: &str = "src/protocol/secrets/gitleaks.toml";

/// What of a rule, or of the whole set, decides what is a secret in a text.
const READ: [&str; 12] = [
    "allowlist",
    "allowlists",
    "condition",
    "entropy",
    "id",
    "keywords",
    "regex",
    "regexTarget",
    "regexes",
    "rules",
    "secretGroup",
    "stopwords",
];

fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo::rerun-if-changed={WRITTEN}");
    let mut rules: Value = toml::from_str(&fs::read_to_string(WRITTEN)?)?;
    keep_what_is_read(&mut rules);
    put_in_order(&mut rules);
    let folder = env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?;
    fs::write(Path::new(&folder).join("secrets.json"), serde_json::to_vec(&rules)?)?;
    Ok(())
}

fn keep_what_is_read(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| READ.contains(&name.as_str()));
            fields.values_mut().for_each(keep_what_is_read);
        }
        Value::Array(items) => items.iter_mut().for_each(keep_what_is_read),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Sorts all lists of stopwords, in small letters, and leaves out what begins with another one.
fn put_in_order(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match (name.as_str(), field) {
                    ("stopwords", Value::Array(words)) => {
                        let mut sorted: Vec<String> =
                            words.iter().filter_map(|word| word.as_str().map(str::to_ascii_lowercase)).collect();
                        sorted.sort();
                        sorted.dedup_by(|next, word| next.starts_with(word.as_str()));
                        *words = sorted.into_iter().map(Value::String).collect();
                    }
                    (_, field) => put_in_order(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(put_in_order),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
