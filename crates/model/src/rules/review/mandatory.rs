//! Decides which findings are mandatory for the coder.
//!
//! The configured lists of tags determine which findings are mandatory (design 3.1). Severities of other scales,
//! such as `P1`, are first mapped to the six tags. An unknown severity counts as mandatory, so that an unreadable
//! severity cannot make a run pass.

use crate::domain::{Severity, Tag};

const VOCABULARY: [(Tag, &str); 6] = [
    (
        Tag::Critical,
        "p0 s0 sev0 blocker blocking fatal crit showstopper emergency",
    ),
    (Tag::Must, "mustfix required mandatory must-fix must_fix"),
    (
        Tag::High,
        "p1 s1 sev1 urgent serious severe major error important bug 🔴",
    ),
    (Tag::Should, "recommended suggestion improvement consider"),
    (
        Tag::Medium,
        "p2 s2 sev2 moderate med warning warn normal 🟠 🟡",
    ),
    (
        Tag::Low,
        "p3 p4 s3 s4 sev4 sev3 minor trivial nit nitpick style note info informational optional could may 🟢 \
         🔵 ⚪",
    ),
];

/// Words that are ignored in a severity, such as `priority` in `high priority`.
const BESIDE: [&str; 5] = ["severity", "priority", "level", "issue", "risk"];

/// Maps the reviewer's word for a severity to one of the six tags. A phrase such as `P1 (major)` gets the most
/// severe tag of its words. Returns `None` if a word of the phrase is unknown.
pub fn normalise(word: &str) -> Option<Tag> {
    let word = word.trim().to_lowercase();
    let known = known(&word).or_else(|| known(&plain(&word)));
    known.or_else(|| {
        let words = word
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        let tags: Option<Vec<Tag>> = words
            .filter(|word| !BESIDE.contains(word))
            .map(self::known)
            .collect();
        // The variants of `Tag` are declared from most severe to least severe, so `min` returns the most severe
        // tag of the phrase.
        tags?.into_iter().min()
    })
}

fn plain(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn known(word: &str) -> Option<Tag> {
    Tag::parse(word).or_else(|| {
        let listed = VOCABULARY
            .iter()
            .find(|(_, words)| words.split(' ').any(|other| other == word));
        listed.map(|(tag, _)| *tag)
    })
}

/// Whether a severity means CRITICAL, MUST or HIGH. An unknown severity is treated like CRITICAL.
pub fn is_grave(tag: Option<Tag>) -> bool {
    matches!(tag, None | Some(Tag::Critical | Tag::Must | Tag::High))
}

/// Adds the tag that corresponds to the reviewer's word, if the severity has no tag.
#[must_use]
pub fn normalised(severity: Severity) -> Severity {
    let tag = severity.tag.or_else(|| normalise(&severity.raw));
    Severity { tag, ..severity }
}

/// Whether a finding of this severity is mandatory. `mandatory` contains the words of
/// `review.opinions.mandatory` and `review.issues.mandatory`. `optional` contains the words of
/// `review.opinions.optional` and `review.issues.optional`.
pub fn is_mandatory(severity: &Severity, mandatory: &[String], optional: &[String]) -> bool {
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

fn named(list: &[String], word: &str) -> bool {
    list.iter().any(|entry| entry.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    fn severity(word: &str) -> Severity {
        Severity {
            tag: Tag::parse(word),
            raw: word.to_owned(),
        }
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
            ("S1", true),
            ("SEV-1", true),
            ("sev 0", true),
            ("Urgent", true),
            ("high severity", true),
            ("P1 (major)", true),
            ("minor / P0", true),
            ("not critical", true),
            ("low priority", false),
            ("P3 - minor", false),
            ("severity", true),
            ("", true),
        ];
        for (word, expected) in rows {
            assert_eq!(
                is_mandatory(&severity(word), &mandatory, &optional),
                expected,
                "{word}"
            );
        }
    }

    #[test]
    fn critical_is_where_high_is_unless_a_list_names_it() {
        let critical = severity("CRITICAL");
        assert!(!is_mandatory(
            &critical,
            &words(&["MUST"]),
            &words(&["HIGH"])
        ));
        assert!(!is_mandatory(
            &critical,
            &words(&["MUST", "HIGH"]),
            &words(&["CRITICAL"])
        ));
        assert!(is_mandatory(
            &critical,
            &words(&["CRITICAL"]),
            &words(&["HIGH"])
        ));
    }

    #[test]
    fn a_list_may_name_a_word_of_another_scale() {
        assert!(is_mandatory(&severity("nit"), &words(&["nit"]), &[]));
        assert!(!is_mandatory(&severity("PONDER"), &[], &words(&["ponder"])));
    }

    #[test]
    fn the_raw_word_is_kept() {
        assert_eq!(
            normalised(severity("P1")),
            Severity {
                tag: Some(Tag::High),
                raw: "P1".into()
            }
        );
        assert_eq!(
            normalised(severity("huh")),
            Severity {
                tag: None,
                raw: "huh".into()
            }
        );
    }
}
