//! Parses brackets such as `(confidence 85, security)` at the end of a finding's title.

use crate::domain::Confidence;

const LONGEST: usize = 40;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sure {
    pub(crate) confidence: Confidence,
    pub(crate) category: Option<String>,
}

/// Returns the text before the brackets, and the confidence and category in the brackets. If the brackets
/// contain anything else, the brackets remain part of the text.
pub(crate) fn split(text: &str) -> (&str, Option<Sure>) {
    bracket(text).map_or((text, None), |(before, sure)| (before, Some(sure)))
}

fn bracket(text: &str) -> Option<(&str, Sure)> {
    let inside = text
        .trim_end_matches([' ', '\t', '*', '_', '.'])
        .strip_suffix([')', ']'])?;
    let (before, inside) = inside.rsplit_once(['(', '['])?;
    let (mut confidence, mut category) = (None, None);
    for part in inside
        .split([',', ';', '|'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        match percent(part) {
            Some(percent) if confidence.is_none() => confidence = Some(percent),
            Some(_) => return None,
            None if category.is_none() => category = Some(self::category(part)?),
            None => return None,
        }
    }
    Some((
        before.trim_end_matches([' ', '\t', '*', '_', '-', '–', '—']),
        Sure {
            confidence: confidence?,
            category,
        },
    ))
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
            let category = category.map(str::to_owned);
            Some((
                title,
                Sure {
                    confidence: Confidence::clamped(confidence),
                    category,
                },
            ))
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
}
