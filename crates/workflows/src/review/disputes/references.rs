//! Finds the code that a text refers to.

use std::collections::BTreeSet;

use glee_model::domain::{Dispute, Finding, Ruling, Untrusted, meanings};
use glee_model::rules::consensus::similarity::identity::identifiers;
use glee_model::rules::consensus::similarity::vectors::is_stop_word;
use glee_model::rules::consensus::similarity::wording::is_plain;
use glee_protocol::text::references::{self, Reference};
use glee_workspace::code::anchors::{self, Blocks, Excerpt};

/// For a dispute, Glee shows at most `CITED` pieces of cited code. Each piece has `AROUND` additional lines before
/// and after the cited lines.
const CITED: usize = 4;
const AROUND: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// The cited code exists, and the coder did not write this code in this run.
    Exists,
    /// The coder wrote the cited code in this run.
    Written,
    /// The cited code exists, but is not about the dispute (see [`touches`]).
    Elsewhere,
    Missing,
}

/// Returns what a citation is worth if no coder changed the code. `text_of` returns the text of a file.
pub fn support(
    dispute: &Dispute,
    ruling: &Ruling,
    cited: &Reference,
    text_of: &dyn Fn(&str) -> Option<String>,
) -> Support {
    if !exists(cited, text_of) {
        Support::Missing
    } else if touches(dispute, ruling, cited, text_of) {
        Support::Exists
    } else {
        Support::Elsewhere
    }
}

/// Whether the code to which `reference` points exists. `text_of` returns the text of a file.
pub fn exists(reference: &Reference, text_of: &dyn Fn(&str) -> Option<String>) -> bool {
    text_of(&reference.path).is_some_and(|text| reference.is_in(&text))
}

/// Returns the code that `texts` cite by file and line. Omits the code of the finding itself, and code that does
/// not exist. A cited path can be relative to any folder that encloses the file of the finding. `text_of` returns
/// the text of a file.
pub fn cited(
    finding: &Finding,
    texts: &[&Untrusted],
    text_of: &dyn Fn(&str) -> Option<String>,
) -> Vec<Excerpt> {
    let raw = &finding.raw;
    let own = raw.line.map(|line| line..=raw.end_line.unwrap_or(line));
    let mut places: Vec<Excerpt> = Vec::new();
    for cited in texts
        .iter()
        .flat_map(|text| references::references(text.as_written()))
    {
        let Some((first, last)) = cited.lines else {
            continue;
        };
        let mut meant = meanings(&cited.path, raw.file.as_deref().unwrap_or_default());
        let Some(place) = meant
            .find_map(|path| anchors::excerpt(&path, &text_of(&path)?, first, Some(last), AROUND))
        else {
            continue;
        };
        let is_own = raw.file.as_ref() == Some(&place.file)
            && own
                .as_ref()
                .is_some_and(|own| own.contains(&place.lines.0) && own.contains(&place.lines.1));
        if !is_own && !places.contains(&place) {
            places.push(place);
        }
    }
    places.truncate(CITED);
    places
}

/// Whether a citation of a ruling is about the dispute: it touches the block of a disputed finding or code that one of
/// the sides names, or the ruling's rationale explains it, that is, names an identifier of the cited lines. A finding
/// without a file can be about any code.
pub fn touches(
    dispute: &Dispute,
    ruling: &Ruling,
    cited: &Reference,
    text_of: &dyn Fn(&str) -> Option<String>,
) -> bool {
    let from = dispute.finding.raw.file.as_deref().unwrap_or_default();
    let mut meant = meanings(&cited.path, from);
    let Some((text, path)) = meant.find_map(|path| Some((text_of(&path)?, path))) else {
        return false;
    };
    let blocks = Blocks::of(&path, &text);
    let is_disputed = dispute.findings().any(|finding| {
        let mut places = finding.raw.locations().into_iter();
        let is_here = places.any(|at| {
            let lines = at.line.map(|line| (line, at.end_line.unwrap_or(line)));
            at.file == path && meets(cited, &blocks, lines)
        });
        finding.raw.file.is_none() || is_here
    });
    let said = [&dispute.objection.text, &dispute.finding.raw.body];
    let mut said = said
        .into_iter()
        .chain(&dispute.objection.evidence)
        .chain(&dispute.finding.raw.evidence)
        .flat_map(|text| references::references(text.as_written()));
    is_disputed
        || said.any(|named| {
            meanings(&named.path, from).any(|other| other == path)
                && meets(cited, &blocks, named.lines)
        })
        || explains(ruling, cited, &text)
}

/// Whether the cited lines touch the blocks around `lines`.
fn meets(cited: &Reference, blocks: &Blocks<'_>, lines: Option<(u32, u32)>) -> bool {
    let block = match lines {
        Some((first, last)) => *blocks.enclosing(first).start()..=*blocks.enclosing(last).end(),
        None => 1..=u32::MAX,
    };
    let meets = |(first, last)| *block.start() <= last && first <= *block.end();
    cited.lines.is_none_or(meets)
}

fn explains(ruling: &Ruling, cited: &Reference, text: &str) -> bool {
    let words = references::words(ruling.rationale.as_written());
    let words = words
        .iter()
        .filter(|word| references::reference(word).is_none());
    let said: BTreeSet<&str> = words.flat_map(|word| identifiers(word)).collect();
    let (skipped, taken) = match cited.lines {
        Some((first, last)) => (first as usize - 1, (last - first) as usize + 1),
        None => (0, usize::MAX),
    };
    let mut lines = text.lines().skip(skipped).take(taken);
    let is_telling = |word: &str| !is_stop_word(&word.to_lowercase()) && !is_plain(word);
    lines.any(|line| identifiers(line).any(|word| is_telling(word) && said.contains(word)))
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
