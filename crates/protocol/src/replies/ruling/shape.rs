//! Reads a ruling from one of its two forms, a JSON object or a closing line.

use crate::replies::ruling::error::{
    Claimed, DisputeMatch, ExpectedRuling, RulingError, dispute_number,
};
use crate::text::json::LenientValue;
use crate::text::nonce::is_nonce;
use glee_model::domain::{
    DemonstrationRequest, DisputeNumber, FindingId, Grounds, Role, Ruling, RulingWord, Tag,
    Untrusted,
};

/// The maximum number of rulings that are read from one list.
const RULINGS_CAP: usize = 1000;

/// Reads a ruling from a JSON object. Returns `None` if the object has neither a field `ruling` nor a field `demonstrate`
/// with a value.
pub(super) fn object(text: &str, asked: ExpectedRuling<'_>) -> Option<DisputeMatch> {
    let object: LenientValue = serde_json::from_str(text).ok()?;
    if object.get(&["demonstrate"]).is_nothing() {
        object.fields().iter().find(|(name, _)| name == "ruling")?;
    }
    let claimed = asked.check(
        word(&object, "nonce").as_deref(),
        word(&object, "dispute").as_deref(),
    );
    Some(match claimed {
        Err(error) => DisputeMatch::Foreign(error),
        Ok(()) => DisputeMatch::Own(claim(&object)),
    })
}

/// The rulings of an object with the list `rulings`, by the number of the dispute. Returns `None` if the object has another
/// nonce or no such list.
pub(super) fn rulings(
    text: &str,
    nonce: &str,
) -> Option<Vec<(DisputeNumber, Result<Claimed, RulingError>)>> {
    let object: LenientValue = serde_json::from_str(text).ok()?;
    let LenientValue::List(items) = object.get(&["rulings"]) else {
        return None;
    };
    let given = word(&object, "nonce")?;
    let items = items.iter().take(RULINGS_CAP);
    let rulings = items.filter_map(|item| {
        let number = dispute_number(&word(item, "dispute")?)?;
        Some((number, claim(item)))
    });
    is_nonce(Some(nonce), &given).then(|| rulings.collect())
}

/// Reads a request for a demonstration, or else a ruling.
fn claim(object: &LenientValue) -> Result<Claimed, RulingError> {
    let request = object.get(&["demonstrate"]);
    if request.is_nothing() {
        return ruling(object).map(|ruling| Claimed {
            ruling,
            request: None,
            is_line: false,
        });
    }
    asked_for(request).map(|request| Claimed {
        ruling: Ruling::bare(RulingWord::Escalate),
        request: Some(request),
        is_line: false,
    })
}

/// Reads the field `demonstrate`: an object with `from` and `question`.
fn asked_for(field: &LenientValue) -> Result<DemonstrationRequest, RulingError> {
    let from = match word(field, "from").unwrap_or_default().as_str() {
        "reviewer" => Role::Reviewer,
        "coder" => Role::Coder,
        _ => return Err(RulingError::Request),
    };
    let question = field.get(&["question"]).string();
    let question = question.and_then(|question| reason(&question));
    Ok(DemonstrationRequest {
        from,
        question: question.ok_or(RulingError::Request)?,
    })
}

fn word(object: &LenientValue, name: &str) -> Option<String> {
    object.get(&[name]).word()
}

/// Reads a line `GLEE-RULING nonce=<nonce> dispute=<n> ruling=<WORD>`; `None` for any other line.
pub(super) fn line(text: &str, asked: ExpectedRuling<'_>) -> Option<DisputeMatch> {
    let (nonce, rest) = text.strip_prefix("GLEE-RULING nonce=")?.split_once(' ')?;
    let (dispute, word) = rest.strip_prefix("dispute=")?.split_once(" ruling=")?;
    Some(match asked.check(Some(nonce), Some(dispute)) {
        Err(error) => DisputeMatch::Foreign(error),
        Ok(()) => DisputeMatch::Own(parse_word(word).map(|word| Claimed {
            ruling: Ruling::bare(word),
            request: None,
            is_line: true,
        })),
    })
}

fn parse_word(given: &str) -> Result<RulingWord, RulingError> {
    RulingWord::parse(given).ok_or_else(|| RulingError::Word {
        given: shown(given),
    })
}

fn shown(given: &str) -> String {
    match given.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &given[..end]),
        None => given.to_owned(),
    }
}

fn ruling(object: &LenientValue) -> Result<Ruling, RulingError> {
    let ruling = parse_word(&word(object, "ruling").unwrap_or_default())?;
    let dismissed = ruling == RulingWord::Dismiss;
    let of_dismiss = ["new_tag", "duplicate_of"].map(|field| match word(object, field) {
        Some(_) if !dismissed => Err(RulingError::DismissOnly { field, ruling }),
        value => Ok(value),
    });
    let [new_tag, duplicate_of] = of_dismiss;
    let new_tag = new_tag?;
    let duplicate_of = duplicate_of?;
    Ok(Ruling {
        // Grounds are ignored if the ruling is not `DISMISS`.
        grounds: word(object, "grounds")
            .filter(|_| dismissed)
            .map(|given| grounds(&given))
            .transpose()?,
        citations: object
            .get(&["citations"])
            .texts()
            .into_iter()
            .map(Untrusted::from)
            .collect(),
        rationale: object
            .get(&["rationale"])
            .string()
            .unwrap_or_default()
            .trim()
            .into(),
        new_tag: new_tag
            .map(|given| read("new_tag", &given, TAGS, Tag::parse))
            .transpose()?,
        duplicate_of: duplicate_of
            .map(|given| {
                read(
                    "duplicate_of",
                    &given,
                    "allowed: the id of a finding, such as `F1`",
                    FindingId::parse,
                )
            })
            .transpose()?,
        coder_evidence: object
            .get(&["coder_evidence"])
            .string()
            .and_then(|why| reason(&why)),
        members: object
            .get(&["members"])
            .texts()
            .iter()
            .filter_map(|id| FindingId::parse(id))
            .collect(),
        ..Ruling::bare(ruling)
    })
}

const TAGS: &str = "allowed: `CRITICAL`, `MUST`, `HIGH`, `SHOULD`, `MEDIUM`, `LOW`";

const GROUNDS: &str = "allowed: `factual_error`, `breaks_functionality`, `conflicts_with_requirements`, \
                       `misunderstood_context`, `already_handled`, `not_mandatory`, `duplicate`";

fn grounds(given: &str) -> Result<Grounds, RulingError> {
    let word = given.to_lowercase().replace(['-', ' '], "_");
    read("grounds", given, GROUNDS, |_| Grounds::parse(&word))
}

/// Returns the reason without surrounding white space. Returns `None` if the reason contains no letter or digit.
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
    parse(given).ok_or_else(|| RulingError::Field {
        field,
        given: shown(given),
        expected,
    })
}
