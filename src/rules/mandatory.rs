//! Which findings a coder may not discard.
//!
//! The lists of the configuration decide (design 3.1). Words of other vendors are read as one of the six tags first;
//! a word that nobody knows counts as mandatory, so that nothing goes green because it could not be read.

use crate::domain::{Severity, Tag};

/// Words of other scales and the tag each stands for, lower case.
const VOCABULARY: &[(&str, Tag)] = &[
    ("p0", Tag::Critical),
    ("p1", Tag::High),
    ("p2", Tag::Medium),
    ("p3", Tag::Low),
    ("p4", Tag::Low),
    ("sev0", Tag::Critical),
    ("sev1", Tag::High),
    ("sev2", Tag::Medium),
    ("sev3", Tag::Low),
    ("blocker", Tag::Critical),
    ("blocking", Tag::Critical),
    ("fatal", Tag::Critical),
    ("crit", Tag::Critical),
    ("severe", Tag::High),
    ("major", Tag::High),
    ("error", Tag::High),
    ("important", Tag::High),
    ("bug", Tag::High),
    ("required", Tag::Must),
    ("mandatory", Tag::Must),
    ("must-fix", Tag::Must),
    ("must_fix", Tag::Must),
    ("moderate", Tag::Medium),
    ("med", Tag::Medium),
    ("warning", Tag::Medium),
    ("warn", Tag::Medium),
    ("normal", Tag::Medium),
    ("recommended", Tag::Should),
    ("suggestion", Tag::Should),
    ("improvement", Tag::Should),
    ("consider", Tag::Should),
    ("minor", Tag::Low),
    ("trivial", Tag::Low),
    ("nit", Tag::Low),
    ("nitpick", Tag::Low),
    ("style", Tag::Low),
    ("note", Tag::Low),
    ("info", Tag::Low),
    ("informational", Tag::Low),
    ("optional", Tag::Low),
    ("could", Tag::Low),
    ("may", Tag::Low),
    ("🔴", Tag::High),
    ("🟠", Tag::Medium),
    ("🟡", Tag::Medium),
    ("🟢", Tag::Low),
    ("🔵", Tag::Low),
    ("⚪", Tag::Low),
];

/// Reads a reviewer's word as a tag: one of the six, or a word of another scale.
pub fn normalise(word: &str) -> Option<Tag> {
    let word = word.trim().to_lowercase();
    Tag::parse(&word).or_else(|| VOCABULARY.iter().find(|(other, _)| *other == word).map(|(_, tag)| *tag))
}

/// Fills in the tag of a severity whose word was not one of the six.
#[must_use]
pub fn normalised(severity: Severity) -> Severity {
    let tag = severity.tag.or_else(|| normalise(&severity.raw));
    Severity { tag, ..severity }
}

/// Whether a finding of this severity is mandatory under the configured lists.
///
/// `mandatory` and `optional` are the words of `review.opinions.*` and `review.issues.*` together.
pub fn is_mandatory(severity: &Severity, mandatory: &[String], optional: &[String]) -> bool {
    let named = |list: &[String], word: &str| list.iter().any(|entry| entry.eq_ignore_ascii_case(word));
    if named(mandatory, &severity.raw) {
        return true;
    }
    if named(optional, &severity.raw) {
        return false;
    }
    match severity.tag.or_else(|| normalise(&severity.raw)) {
        None => true,
        Some(Tag::Critical) if !named(mandatory, "CRITICAL") && !named(optional, "CRITICAL") => {
            named(mandatory, "HIGH")
        }
        Some(tag) => named(mandatory, tag.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    fn severity(word: &str) -> Severity {
        Severity { tag: Tag::parse(word), raw: word.to_owned() }
    }

    #[test]
    fn the_tables_of_the_specification() {
        let mandatory = words(&["MUST", "HIGH"]);
        let optional = words(&["SHOULD", "MEDIUM", "LOW"]);
        let rows = [
            ("MUST", true),
            ("SHOULD", false),
            ("HIGH", true),
            ("MEDIUM", false),
            ("LOW", false),
            ("CRITICAL", true),
            ("must", true),
            ("P0", true),
            ("P1", true),
            ("p2", false),
            ("nit", false),
            ("blocker", true),
            ("warning", false),
            ("🔴", true),
            ("PONDER", true),
        ];
        for (word, expected) in rows {
            assert_eq!(is_mandatory(&severity(word), &mandatory, &optional), expected, "{word}");
        }
    }

    #[test]
    fn critical_is_where_high_is_unless_a_list_names_it() {
        let critical = severity("CRITICAL");
        assert!(!is_mandatory(&critical, &words(&["MUST"]), &words(&["HIGH"])));
        assert!(!is_mandatory(&critical, &words(&["MUST", "HIGH"]), &words(&["CRITICAL"])));
        assert!(is_mandatory(&critical, &words(&["CRITICAL"]), &words(&["HIGH"])));
    }

    #[test]
    fn a_list_may_name_a_word_of_another_scale() {
        assert!(is_mandatory(&severity("nit"), &words(&["nit"]), &[]));
        assert!(!is_mandatory(&severity("PONDER"), &[], &words(&["ponder"])));
    }

    #[test]
    fn the_raw_word_is_kept() {
        assert_eq!(normalised(severity("P1")), Severity { tag: Some(Tag::High), raw: "P1".into() });
        assert_eq!(normalised(severity("huh")), Severity { tag: None, raw: "huh".into() });
    }
}
