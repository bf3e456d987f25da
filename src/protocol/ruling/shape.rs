//! The two forms of a ruling: a JSON object and a closing line.

use serde::de::MapAccess;

use super::super::json::{self, Fields, Loose};
use super::{Asked, Claim, Claimed, RulingError};
use crate::domain::{FindingId, Grounds, Ruling, RulingWord, Tag, Untrusted};

/// Reads a JSON object; `None` if it has no `ruling`.
pub(super) fn object(bytes: &[u8], asked: Asked<'_>) -> Option<Claim> {
    let fields: RulingFields = json::object(bytes)?;
    if !fields.has_ruling {
        return None;
    }
    let claimed = asked.check(fields.nonce.word().as_deref(), fields.dispute.word().as_deref());
    Some(match claimed {
        Err(error) => Claim::Foreign(error),
        Ok(()) => Claim::Own(fields.ruling().map(|ruling| Claimed { ruling, is_line: false })),
    })
}

/// Reads a line `GLEE-RULING nonce=<nonce> dispute=<n> ruling=<WORD>`; `None` if it is none.
pub(super) fn line(text: &str, asked: Asked<'_>) -> Option<Claim> {
    let (nonce, rest) = text.strip_prefix("GLEE-RULING nonce=")?.split_once(' ')?;
    let (dispute, word) = rest.strip_prefix("dispute=")?.split_once(" ruling=")?;
    Some(match asked.check(Some(nonce), Some(dispute)) {
        Err(error) => Claim::Foreign(error),
        Ok(()) => Claim::Own(parse_word(word).map(|word| Claimed { ruling: Ruling::bare(word), is_line: true })),
    })
}

fn parse_word(given: &str) -> Result<RulingWord, RulingError> {
    RulingWord::parse(given).ok_or_else(|| RulingError::Word { given: shown(given) })
}

/// The beginning of what an answer says, for an error message.
fn shown(given: &str) -> String {
    match given.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &given[..end]),
        None => given.to_owned(),
    }
}

#[derive(Default)]
struct RulingFields {
    has_ruling: bool,
    ruling: Loose,
    nonce: Loose,
    dispute: Loose,
    rationale: Loose,
    grounds: Loose,
    citations: Loose,
    new_tag: Loose,
    duplicate_of: Loose,
    coder_evidence: Loose,
}

impl Fields for RulingFields {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        let field = match name {
            "ruling" => {
                self.has_ruling = true;
                &mut self.ruling
            }
            "nonce" => &mut self.nonce,
            "dispute" => &mut self.dispute,
            "rationale" => &mut self.rationale,
            "grounds" => &mut self.grounds,
            "citations" => &mut self.citations,
            "new_tag" => &mut self.new_tag,
            "duplicate_of" => &mut self.duplicate_of,
            "coder_evidence" => &mut self.coder_evidence,
            _ => return json::skip(map),
        };
        *field = map.next_value()?;
        Ok(())
    }
}

impl RulingFields {
    fn ruling(self) -> Result<Ruling, RulingError> {
        let word = parse_word(&self.ruling.word().unwrap_or_default())?;
        let dismissed = word == RulingWord::Dismiss;
        let only = |field: &'static str, value: Option<String>| match value {
            Some(_) if !dismissed => Err(RulingError::DismissOnly { field, ruling: word }),
            value => Ok(value),
        };
        let new_tag = only("new_tag", self.new_tag.word())?;
        let duplicate_of = only("duplicate_of", self.duplicate_of.word())?;
        Ok(Ruling {
            // A judge that enforces has no grounds to dismiss, whatever it fills in.
            grounds: if dismissed { self.grounds.word().map(|given| grounds(&given)).transpose()? } else { None },
            citations: self.citations.texts().into_iter().map(Untrusted::from).collect(),
            rationale: self.rationale.string().unwrap_or_default().trim().into(),
            new_tag: new_tag.map(|given| read("new_tag", &given, TAGS, Tag::parse)).transpose()?,
            duplicate_of: duplicate_of
                .map(|given| {
                    read("duplicate_of", &given, "it is the id of a finding such as `F1`", FindingId::parse)
                })
                .transpose()?,
            coder_evidence: self.coder_evidence.string().and_then(|why| reason(&why)),
            ..Ruling::bare(word)
        })
    }
}

const TAGS: &str = "it is one of `CRITICAL`, `MUST`, `HIGH`, `SHOULD`, `MEDIUM`, `LOW`";

const GROUNDS: &str = "it is one of `factual_error`, `breaks_functionality`, `conflicts_with_requirements`, \
                       `misunderstood_context`, `already_handled`, `not_mandatory`, `duplicate`";

fn grounds(given: &str) -> Result<Grounds, RulingError> {
    let word = given.to_lowercase().replace(['-', ' '], "_");
    read("grounds", given, GROUNDS, |_| serde_json::from_value(serde_json::Value::String(word)).ok())
}

/// A reason, if it is more than nothing.
pub(super) fn reason(given: &str) -> Option<Untrusted> {
    let given = given.trim();
    given.contains(char::is_alphanumeric).then(|| given.into())
}

fn read<T>(
    field: &'static str,
    given: &str,
    expected: &'static str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, RulingError> {
    parse(given).ok_or_else(|| RulingError::Field { field, given: shown(given), expected })
}
