//! Determines when rulings end, and which rulings require a responsible person.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::domain::{Cwe, Disposition, RawFinding, SharedRuling};
use crate::rules::consensus::{self, Category};

/// Returns the UTC day on which a ruling ended, or `None` if the ruling is still in force. A ruling ends after the
/// day in the parameter `until`, and at the latest when the age of the ruling reaches `max_age`.
pub fn ended(
    settled_at: Option<Timestamp>,
    until: Option<Date>,
    max_age: Option<Duration>,
    now: Timestamp,
) -> Option<Date> {
    let day = |at: Timestamp| at.to_zoned(TimeZone::UTC).date();
    let after_last = until.filter(|last| *last < day(now));
    let too_old = settled_at
        .zip(max_age)
        .and_then(|(at, age)| at.checked_add(age).ok())
        .filter(|end| *end <= now);
    [after_last, too_old.map(day)].into_iter().flatten().min()
}

/// Prefixes of security-related words in the name of a category or rule.
const NAMES: &str = "auth certificate cipher cookie credential crypt debug deseriali hash password permission \
                     permissive privilege random secret ssl tls unsafe xxe";

/// Prefixes of security-related words in a title. Words that are also common in unrelated titles, such as `hash`,
/// are omitted.
const TITLES: &str = "attack authenti authori certificate cipher credential crypt deseriali eval exploit md5 \
                      password privilege secret sha1 ssl tls xxe";

/// Whether a ruling needs a responsible person. A ruling requires a responsible person if it closes a finding
/// whose weakness, category, rule or title indicates a security problem.
pub fn needs_person(
    disposition: &Disposition,
    category: Option<&str>,
    rule: Option<&str>,
    title: &str,
    cwe: Option<Cwe>,
) -> bool {
    disposition.closes() && is_security(category, rule, title, cwe)
}

/// Whether [`needs_person`] requires a responsible person for closing a finding.
pub fn needs_person_for(disposition: &Disposition, raw: &RawFinding) -> bool {
    let category = raw.category.as_deref();
    let rule = raw.rule.as_deref();
    needs_person(disposition, category, rule, raw.title.as_written(), raw.cwe)
}

/// Whether the weakness, the category, the rule or the title of a finding indicates a security problem.
pub fn is_security(
    category: Option<&str>,
    rule: Option<&str>,
    title: &str,
    cwe: Option<Cwe>,
) -> bool {
    if cwe.is_some_and(Cwe::is_security) {
        return true;
    }
    let signs = [(category, None, ""), (None, rule, ""), (None, None, title)];
    let mut names = category.into_iter().chain(rule);
    signs.into_iter().any(|(category, rule, title)| {
        consensus::category(category, rule, title) == Category::Security
    }) || names.any(|name| begins(name, NAMES))
        || begins(title, TITLES)
}

fn begins(text: &str, prefixes: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|word| prefixes.split(' ').any(|prefix| word.starts_with(prefix)))
}

/// Whether [`needs_person`] requires a responsible person for a shared ruling.
pub fn needs_person_of(ruling: &SharedRuling) -> bool {
    ruling.findings().any(|finding| {
        needs_person(
            &ruling.disposition,
            finding.category.as_deref(),
            finding.rule.as_deref(),
            finding.title.as_written(),
            finding.cwe,
        )
    })
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn the_table_of_ends() {
        let day = Duration::from_secs(86_400);
        let settled = Some(at("2026-05-01T12:00:00Z"));
        for (until, age, now, expected) in [
            (None, None, "2099-01-01T00:00:00Z", None),
            (Some(date(2026, 6, 1)), None, "2026-06-01T23:59:59Z", None),
            (
                Some(date(2026, 6, 1)),
                None,
                "2026-06-02T00:00:00Z",
                Some(date(2026, 6, 1)),
            ),
            (None, Some(90 * day), "2026-07-30T11:59:59Z", None),
            (
                None,
                Some(90 * day),
                "2026-07-30T12:00:00Z",
                Some(date(2026, 7, 30)),
            ),
            (
                Some(date(2026, 6, 1)),
                Some(90 * day),
                "2026-12-01T00:00:00Z",
                Some(date(2026, 6, 1)),
            ),
            (
                Some(date(2027, 6, 1)),
                Some(90 * day),
                "2027-12-01T00:00:00Z",
                Some(date(2026, 7, 30)),
            ),
            (
                Some(Date::MAX),
                Some(Duration::MAX),
                "2027-12-01T00:00:00Z",
                None,
            ),
        ] {
            assert_eq!(
                ended(settled, until, age, at(now)),
                expected,
                "{until:?} {age:?} {now}"
            );
        }
        assert_eq!(
            ended(None, None, Some(day), at("2099-01-01T00:00:00Z")),
            None,
            "an open dispute has no age"
        );
    }

    #[test]
    fn a_person_answers_for_what_closes_a_security_finding() {
        for (disposition, category, rule, title, expected) in [
            (Disposition::Refuted, Some("security"), None, "x", true),
            (
                Disposition::AcceptedRisk,
                Some("sql-injection"),
                None,
                "x",
                true,
            ),
            (Disposition::Discarded, None, Some("cwe-89"), "x", true),
            (Disposition::Refuted, Some("bug"), Some("cwe-89"), "x", true),
            (
                Disposition::NotMandatory,
                Some("bug"),
                None,
                "SQL injection in the query",
                true,
            ),
            (Disposition::Enforced, Some("security"), None, "x", false),
            (Disposition::Refuted, Some("weak-hash"), None, "x", true),
            (
                Disposition::Refuted,
                Some("tls-verification"),
                None,
                "x",
                true,
            ),
            (
                Disposition::Refuted,
                Some("unsafe-deserialisation"),
                None,
                "x",
                true,
            ),
            (
                Disposition::Refuted,
                Some("bug"),
                Some("py-hard-coded-password"),
                "x",
                true,
            ),
            (
                Disposition::Refuted,
                Some("bug"),
                None,
                "`md5` is broken as a hash",
                true,
            ),
            (
                Disposition::Refuted,
                Some("bug"),
                None,
                "the hash map is copied",
                false,
            ),
            (
                Disposition::Refuted,
                Some("resource-leak"),
                Some("py-open-unclosed"),
                "the file is not closed",
                false,
            ),
            (Disposition::Refuted, Some("bug"), None, "a leak", false),
        ] {
            assert_eq!(
                needs_person(&disposition, category, rule, title, None),
                expected,
                "{category:?} {rule:?} {title}"
            );
        }
        for (cwe, expected) in [(89, true), (772, false)] {
            let needs = needs_person(
                &Disposition::Refuted,
                Some("bug"),
                None,
                "x",
                Some(Cwe(cwe)),
            );
            assert_eq!(needs, expected, "{cwe}");
        }
    }
}
