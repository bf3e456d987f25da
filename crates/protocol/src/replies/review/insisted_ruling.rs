//! A reviewer can repeat a finding that a ruling dismissed. This module finds the reviewer's reference to the
//! ruling that dismissed the finding. The reference is in brackets before or after the title, as in `(D12)` or
//! `(confidence 80, D12)`.

use crate::text::location::{self, Paths};
use crate::text::tag;
use glee_model::domain::RulingRef;

const HEAD: usize = 1 << 10;

/// Finds the first reference in `text` to one of the rulings in `shown`. `text` is the part of a finding after the
/// tag. Returns two values: `text` without the reference, and the ruling. Brackets in the middle of the title
/// remain part of the title. References to rulings that are not in `shown` remain in the text.
pub(super) fn split(text: &str, paths: &Paths, shown: &[RulingRef]) -> Option<(String, RulingRef)> {
    if shown.is_empty() {
        return None;
    }
    for (start, open) in text.match_indices(['(', '[']) {
        let close = if open == "(" { ')' } else { ']' };
        let length = text[start + 1..].find(['(', ')', '[', ']'])?;
        let end = start + 1 + length;
        if !text[end..].starts_with(close) {
            continue;
        }
        let parts: Vec<&str> = text[start + 1..end]
            .split([',', ';', '|'])
            .map(str::trim)
            .collect();
        let named = parts.iter().enumerate().find_map(|(at, part)| {
            let is_id = part.starts_with(['D', 'd']);
            Some((at, RulingRef::among(part, shown).filter(|_| is_id)?))
        });
        let Some((at, ruling)) = named else {
            continue;
        };
        let before = text[..start].trim_end();
        let behind = &text[end + 1..];
        let is_first = start <= HEAD
            && tag::title(before, location::find_of(before, paths).as_ref()).is_empty();
        let is_last = behind
            .trim_matches([' ', '\t', '*', '_', '.', '|'])
            .is_empty();
        if !(is_first || is_last) {
            continue;
        }
        let rest: Vec<&str> = parts
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != at)
            .map(|(_, part)| *part)
            .collect();
        let rest = rest.join(", ");
        let bracket = if rest.is_empty() {
            String::new()
        } else {
            format!(" {open}{rest}{close}")
        };
        return Some((format!("{before}{bracket}{behind}"), ruling.clone()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replies::review::reader;
    use glee_model::domain::{DisputeId, DisputeNumber};

    #[test]
    fn a_json_answer_refers_to_an_id_by_its_first_digits() {
        let shown = [
            RulingRef::Number(DisputeNumber(1234567)),
            RulingRef::Shared(DisputeId("0123456755667788".to_owned())),
            RulingRef::Shared(DisputeId("1234567801111111".to_owned())),
            RulingRef::Shared(DisputeId("abcdef0111111111".to_owned())),
            RulingRef::Shared(DisputeId("abcdef0122222222".to_owned())),
        ];
        for (word, expected) in [
            (r#""D01234567""#, Some("D01234567")),
            (r#""01234567""#, Some("D01234567")),
            (r#""D1234567""#, Some("D1234567")),
            ("1234567", Some("D1234567")),
            (r#""D12345678""#, Some("D12345678")),
            ("12345678", Some("D12345678")),
            (r#""Dabcdef01""#, None),
            (r#""Dabcdef0111""#, Some("Dabcdef01")),
            (r#""D00000012""#, None),
        ] {
            let answer = format!(r#"{{"findings": [{{"title": "a", "insists_on": {word}}}]}}"#);
            let read = reader::parse_of(answer.as_bytes(), None, &Paths::default(), &shown)
                .expect("an answer");
            let ruling = read.findings[0].insists_on.as_ref().map(RulingRef::mark);
            assert_eq!(ruling.as_deref(), expected, "{word}");
        }
    }

    #[test]
    fn the_table_of_references() {
        let shown = [
            RulingRef::Number(DisputeNumber(12)),
            RulingRef::Shared(DisputeId("3f9a0c1255667788".to_owned())),
            RulingRef::Shared(DisputeId("abcdef0111111111".to_owned())),
            RulingRef::Shared(DisputeId("abcdef0122222222".to_owned())),
        ];
        for (text, expected) in [
            (
                " src/db.py:5 (D12) Bind it",
                Some((" src/db.py:5 Bind it", "D12")),
            ),
            (
                " (D12) src/db.py:5 Bind it",
                Some((" src/db.py:5 Bind it", "D12")),
            ),
            (" a.py:5 Bind it (d12)", Some((" a.py:5 Bind it", "D12"))),
            (
                " a.py:5 Bind it (confidence 80, D12, security)",
                Some((" a.py:5 Bind it (confidence 80, security)", "D12")),
            ),
            (
                " a.py:5 [D12] Bind `f(x)`",
                Some((" a.py:5 Bind `f(x)`", "D12")),
            ),
            (
                "| a.py:5 | (D12) Bind it |",
                Some(("| a.py:5 | Bind it |", "D12")),
            ),
            (" (D3f9a0c12) Bind it", Some((" Bind it", "D3f9a0c12"))),
            (" (D3f9a0c125566) Bind it", Some((" Bind it", "D3f9a0c12"))),
            (" (D3f9a0c1) Bind it", None),
            (" (Dabcdef01) Bind it", None),
            (" (Dabcdef011) Bind it", Some((" Bind it", "Dabcdef01"))),
            (" a.py:5 (D13) Bind it", None),
            (" a.py:5 (12) Bind it", None),
            (" a.py:5 (D1) Bind it", None),
            (" a.py:5 Bind the value (D12) before the call", None),
            (" a.py:5 Bind it, see D12", None),
            (" a.py:5 Bind it (D12", None),
        ] {
            let read = split(text, &Paths::default(), &shown);
            let read = read
                .as_ref()
                .map(|(text, ruling)| (text.as_str(), ruling.mark()));
            assert_eq!(
                read,
                expected.map(|(text, ruling)| (text, ruling.to_owned())),
                "{text}"
            );
        }
        assert_eq!(split(" a.py:5 (D12) Bind it", &Paths::default(), &[]), None);
    }
}
