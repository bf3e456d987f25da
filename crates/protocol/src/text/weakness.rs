//! Reads the weakness of a finding from the values that reviewers and analysers write.

use crate::text::LenientValue;
use glee_model::domain::Cwe;

/// Names of fields that contain the id of a weakness.
pub const NAMES: &[&str] = &["cwe", "CWE", "cwe_id", "cweId"];

/// Reads the first weakness in a value, such as `"CWE-89"`, `89`, `"CWE-89: SQL Injection"` or a list of these. The
/// error is the first text that contains a number, but names no weakness.
pub fn read(value: &LenientValue) -> Result<Option<Cwe>, String> {
    let mut words = Vec::new();
    gather(value, &mut words);
    let known = words
        .iter()
        .find_map(|word| Cwe::parse(word).or_else(|| Cwe::find(word)));
    if known.is_some() {
        return Ok(known);
    }
    words
        .into_iter()
        .find(|word| word.contains(|c: char| c.is_ascii_digit()))
        .map_or(Ok(None), Err)
}

/// Like [`read`], but appends an id that names no weakness to the description of the finding.
pub fn take(value: &LenientValue, description: &mut String) -> Option<Cwe> {
    read(value).unwrap_or_else(|id| {
        if !description.is_empty() {
            description.push_str("\n\n");
        }
        description.push_str(&id);
        None
    })
}

fn gather(value: &LenientValue, words: &mut Vec<String>) {
    const MOST: usize = 20;
    match value {
        LenientValue::List(items) => items.iter().take(MOST).for_each(|item| gather(item, words)),
        LenientValue::Object(_) => {
            for name in ["id", "cwe_id", "name"] {
                gather(value.get(&[name]), words);
            }
        }
        _ => words.extend(value.word()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn a_weakness_is_read_from_each_form() {
        for value in [
            json!("CWE-89"),
            json!("89"),
            json!(89),
            json!("cwe-089"),
            json!("CWE-89: SQL Injection"),
            json!(["CWE-9999", "none", 89, "CWE-79"]),
            json!({"id": "CWE-89", "name": "SQL Injection"}),
            json!([{"cwe_id": 89}]),
            json!("https://cwe.mitre.org/data/definitions/89.html, CWE-89"),
        ] {
            let read = read(&from_value(value.clone()).expect("it is JSON"));
            assert_eq!(read, Ok(Some(Cwe(89))), "{value}");
        }
    }

    #[test]
    fn an_id_that_names_no_weakness_is_kept_as_text() {
        for (value, kept) in [
            (json!("CWE-9999"), "CWE-9999"),
            (json!(16), "16"),
            (json!(89.5), "89.5"),
            (json!(-89), "-89"),
            (json!(["", "CVE-2021-89"]), "CVE-2021-89"),
            (json!(null), ""),
            (json!("N/A"), ""),
            (json!(true), ""),
            (json!([]), ""),
        ] {
            let mut body = String::new();
            assert_eq!(
                take(&from_value(value.clone()).expect("it is JSON"), &mut body),
                None,
                "{value}"
            );
            assert_eq!(body, kept, "{value}");
        }
    }
}
