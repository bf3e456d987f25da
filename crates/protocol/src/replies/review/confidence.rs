//! Parses brackets such as `(confidence 85, security, CWE-89)` at the end of a finding's title.

use glee_model::domain::{Confidence, Cwe};

const LONGEST: usize = 40;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sure {
    pub confidence: Option<Confidence>,
    pub category: Option<String>,
    pub cwe: Option<Cwe>,
    /// The id of a guideline, behind the word `rule`.
    pub rule: Option<String>,
    /// Ids that name no weakness, and ids after the first that does.
    pub other_ids: Vec<String>,
}

/// Returns the text before the brackets, and what the brackets state. The brackets remain part of the text if they
/// contain anything else, and if they contain neither a confidence nor a weakness nor a rule.
pub(super) fn split(text: &str) -> (&str, Option<Sure>) {
    bracket(text).map_or((text, None), |(before, sure)| (before, Some(sure)))
}

fn bracket(text: &str) -> Option<(&str, Sure)> {
    let inside = text
        .trim_end_matches([' ', '\t', '*', '_', '.'])
        .strip_suffix([')', ']'])?;
    let (before, inside) = inside.rsplit_once(['(', '['])?;
    let mut sure = Sure::default();
    for part in inside
        .split([',', ';', '|'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        if let Some(percent) = percent(part) {
            if sure.confidence.replace(percent).is_some() {
                return None;
            }
        } else if is_absent(part) {
            continue;
        } else if Cwe::is_id(part) {
            match Cwe::parse(part).filter(|_| sure.cwe.is_none()) {
                Some(cwe) => sure.cwe = Some(cwe),
                None => sure.other_ids.push(part.to_owned()),
            }
        } else if let Some(rule) = rule(part) {
            sure.rule = Some(rule.to_owned());
        } else if sure.category.replace(category(part)?).is_some() {
            return None;
        }
    }
    let is_stated = sure.confidence.is_some() || sure.cwe.is_some() || sure.rule.is_some();
    let before = before.trim_end_matches([' ', '\t', '*', '_', '-', '–', '—']);
    is_stated.then_some((before, sure))
}

/// Whether a part states that no weakness applies, such as `CWE: none` or `N/A`.
fn is_absent(part: &str) -> bool {
    let part = part.to_lowercase();
    let word = part.strip_prefix("cwe").unwrap_or(&part);
    let word = word.trim_matches([':', '=', ' ', '-', '<', '>']);
    ["", "none", "n/a", "na", "no cwe", "not applicable"].contains(&word)
}

/// Parses `confidence 85`, `Confidence: 85%` or `85% confidence`.
fn percent(part: &str) -> Option<Confidence> {
    let part = part.to_lowercase();
    let rest = part
        .strip_prefix("confidence")
        .or_else(|| part.strip_suffix("confidence"))?;
    let digits = rest.trim_matches([':', '=', ' ', '~', '%']);
    let digits = digits.strip_suffix("/100").unwrap_or(digits);
    let is_number =
        (1..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok().map(Confidence::clamped))?
}

/// Parses `rule AGENTS.md#errors` or `Rule: docs/style.md`.
fn rule(part: &str) -> Option<&str> {
    let (word, rest) = part.split_at_checked(4)?;
    let id = rest.trim_start_matches([':', '=']).trim().trim_matches('`');
    let is_id = id.contains('.') && !id.contains(char::is_whitespace) && rest != id;
    (word.eq_ignore_ascii_case("rule") && is_id).then_some(id)
}

/// Parses a category such as `security` or `category: error handling`.
fn category(part: &str) -> Option<String> {
    let named = part
        .get(..8)
        .is_some_and(|start| start.eq_ignore_ascii_case("category"));
    let word = if named {
        part[8..].trim_start_matches([':', '=', ' '])
    } else {
        part
    };
    let is_word = !word.is_empty()
        && word.len() <= LONGEST
        && word.starts_with(|c: char| c.is_alphabetic())
        && word
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '+'));
    is_word.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spec_16_brackets_at_the_end_of_a_title() {
        let sure = |title, confidence, category: Option<&str>| {
            let sure = Sure {
                confidence: Some(Confidence::clamped(confidence)),
                category: category.map(str::to_owned),
                ..Sure::default()
            };
            Some((title, sure))
        };
        for (text, expected) in [
            (
                "Bind it (confidence 85, security)",
                sure("Bind it", 85, Some("security")),
            ),
            ("Bind it (Confidence: 85%)", sure("Bind it", 85, None)),
            (
                "Bind `f(x)` (test-coverage; confidence=7).",
                sure("Bind `f(x)`", 7, Some("test-coverage")),
            ),
            (
                "Bind it** (category: bug, 60% confidence)",
                sure("Bind it", 60, Some("bug")),
            ),
            ("Bind it [confidence 100/100]", sure("Bind it", 100, None)),
            ("(confidence 40, bug)", sure("", 40, Some("bug"))),
            ("Bind it (security)", None),
            ("Bind it (confidence is low)", None),
            ("Bind it (confidence 85, security, now)", None),
            ("Bind it (confidence 8500)", None),
            ("Bind it (confidence 85) now", None),
            ("Bind it (confidence <n>, <category>)", None),
            ("Bind it (confidence 85, `sql`)", None),
        ] {
            assert_eq!(bracket(text), expected, "{text}");
        }
    }

    #[test]
    fn brackets_state_a_weakness_and_keep_an_id_that_names_none() {
        for (text, confidence, category, cwe, other_ids) in [
            (
                "(confidence 85, security, CWE-89)",
                Some(85),
                Some("security"),
                Some(89),
                vec![],
            ),
            (
                "(CWE-089; confidence 85%)",
                Some(85),
                None,
                Some(89),
                vec![],
            ),
            ("[cwe 89]", None, None, Some(89), vec![]),
            (
                "(confidence 85, bug, N/A)",
                Some(85),
                Some("bug"),
                None,
                vec![],
            ),
            (
                "(confidence 85, bug, CWE-none)",
                Some(85),
                Some("bug"),
                None,
                vec![],
            ),
            ("(CWE: 89)", None, None, Some(89), vec![]),
            (
                "(SQL injection, CWE-89)",
                None,
                Some("SQL injection"),
                Some(89),
                vec![],
            ),
            (
                "(confidence 85, bug, CWE-9999)",
                Some(85),
                Some("bug"),
                None,
                vec!["CWE-9999"],
            ),
            (
                "(confidence 85, CWE-16, CWE-89, CWE-564)",
                Some(85),
                None,
                Some(89),
                vec!["CWE-16", "CWE-564"],
            ),
        ] {
            let expected = Sure {
                confidence: confidence.map(Confidence::clamped),
                category: category.map(str::to_owned),
                cwe: cwe.map(Cwe),
                rule: None,
                other_ids: other_ids.into_iter().map(str::to_owned).collect(),
            };
            let title = format!("Bind it {text}");
            assert_eq!(bracket(&title), Some(("Bind it", expected)), "{text}");
        }
        for text in [
            "(CWE-9999)",
            "(see CWE-89)",
            "(CWE)",
            "(CWE-89, security, bug)",
        ] {
            assert_eq!(bracket(&format!("Bind it {text}")), None, "{text}");
        }
    }

    #[test]
    fn brackets_name_a_guideline() {
        for (text, expected) in [
            (
                "(confidence 85, bug, rule AGENTS.md#errors)",
                Some("AGENTS.md#errors"),
            ),
            ("(Rule: `web/REVIEW.md`)", Some("web/REVIEW.md")),
            ("(confidence 85, rule of thumb)", None),
            ("(rules.md)", None),
            ("(rule broken)", None),
        ] {
            let title = format!("Bind it {text}");
            let rule = bracket(&title).and_then(|(_, sure)| sure.rule);
            assert_eq!(rule.as_deref(), expected, "{text}");
        }
    }
}
