//! Finds the code that a text refers to.

use crate::domain::{Finding, Untrusted, meanings};
use crate::protocol::text::references::{self, Reference};
use crate::workspace::code::anchors::{self, Excerpt};

/// For a dispute, Glee shows at most `CITED` pieces of cited code. Each piece has `AROUND` additional lines before
/// and after the cited lines.
const CITED: usize = 4;
const AROUND: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    /// The cited code exists, and the coder did not write this code in this run.
    Exists,
    /// The coder wrote the cited code in this run.
    Written,
    Missing,
}

/// Returns whether the code to which `reference` points exists. The result is never `Written`, because the function does not
/// check the coder's changes. `text_of` returns the text of a file.
pub(crate) fn exists(reference: &Reference, text_of: &dyn Fn(&str) -> Option<String>) -> Support {
    match text_of(&reference.path) {
        Some(text) if reference.is_in(&text) => Support::Exists,
        _ => Support::Missing,
    }
}

/// Returns the code that `texts` cite by file and line. Omits the code of the finding itself, and code that does
/// not exist. A cited path can be relative to any folder that encloses the file of the finding. `text_of` returns
/// the text of a file.
pub(crate) fn cited(
    finding: &Finding,
    texts: &[&Untrusted],
    text_of: &dyn Fn(&str) -> Option<String>,
) -> Vec<Excerpt> {
    let raw = &finding.raw;
    let own = raw.line.map(|line| line..=raw.end_line.unwrap_or(line));
    let is_own = |place: &Excerpt| {
        raw.file.as_ref() == Some(&place.file)
            && own
                .as_ref()
                .is_some_and(|own| own.contains(&place.lines.0) && own.contains(&place.lines.1))
    };
    let mut places: Vec<Excerpt> = Vec::new();
    for cited in texts
        .iter()
        .flat_map(|text| references::references(text.as_written()))
    {
        let Some((first, last)) = cited.lines else {
            continue;
        };
        let mut meant = meanings(&cited.path, raw.file.as_deref().unwrap_or_default());
        let place = meant
            .find_map(|path| anchors::excerpt(&path, &text_of(&path)?, first, Some(last), AROUND));
        places.extend(place.filter(|place| !is_own(place) && !places.contains(place)));
    }
    places.truncate(CITED);
    places
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn cited_places_are_shown_once_and_without_the_finding() {
        let finding = serde_json::json!({
            "id": "F1", "tag": "MUST", "tag_raw": "MUST", "title": "x", "file": "shop/orders/a.py", "line": 2,
            "end_line": null, "raised_by": ["rules"], "round": 1, "mandatory": true
        });
        let finding: Finding = serde_json::from_value(finding).unwrap();
        let texts: Vec<Untrusted> = [
            "see docs/net.md:7 and shop/orders/a.py:2",
            "shop/docs/net.md:7",
            "a.py:4",
            "gone.py:1",
            "a.py:99",
        ]
        .map(Untrusted::from)
        .into();
        let text_of = |path: &str| {
            ["shop/docs/net.md", "shop/orders/a.py"]
                .contains(&path)
                .then(|| "line\n".repeat(9))
        };
        let places = cited(&finding, &texts.iter().collect::<Vec<_>>(), &text_of);
        let shown: Vec<_> = places
            .iter()
            .map(|place| (place.file.as_str(), place.first_line, place.lines))
            .collect();
        assert_eq!(
            shown,
            [
                ("shop/docs/net.md", 6, (7, 7)),
                ("shop/orders/a.py", 3, (4, 4))
            ]
        );
    }
}
