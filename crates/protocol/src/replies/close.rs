//! Parses a reviewer's answer to the question what its own earlier answer says: the closing line of a review, or the
//! same as JSON.

use std::io::{self, BufRead};

use serde_json::Value;

use crate::replies::closing::{Closing, FINDINGS, extent};
use crate::replies::reply::Walk;
use crate::replies::review::beside::{Bearing, bearing};
use crate::text::ScanState;
use crate::text::location;
use crate::text::nonce::is_nonce;
use glee_model::domain::{CodeRead, GivenPlace, Location, Untrusted};

/// The largest prose beside the closing line that is read, in bytes.
const PROSE_CAP: usize = 16 << 10;

/// The number of findings and the extent of the reading, as the reviewer states them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseAnswer {
    pub findings: u64,
    pub read: Option<CodeRead>,
    /// Where findings are that name no such place. A finding without a place is withdrawn.
    pub places: Vec<GivenPlace>,
}

/// The reason why an answer says nothing about the earlier answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloseError {
    #[error("{0}")]
    NotClosed(String),
    #[error("the words beside the closing line speak against it: {0}")]
    Words(String),
}

/// Reads the answer. The outer result is an error only if `input` cannot be read. Words beside a count of 0 are held
/// against the count, as in a review; here a doubt is not asked about again, but makes the answer invalid.
pub fn parse(
    input: impl BufRead,
    nonce: Option<&str>,
) -> io::Result<Result<CloseAnswer, CloseError>> {
    let mut walk = Walk::new(input, nonce);
    let mut closing = Closing::new("GLEE-REVIEW-END", FINDINGS, nonce);
    let mut prose = String::new();
    let mut json = Vec::new();
    let mut places = Vec::new();
    while let Some(step) = walk.next(0)? {
        if closing.take(&step) || closing.is_form(&step) {
            continue;
        }
        if let Some(given) = given_place(step.text).filter(|_| step.is_prose()) {
            places.push(given);
            continue;
        }
        if step.is_prose() && prose.len() < PROSE_CAP {
            prose.push_str(step.text);
            prose.push('\n');
        }
        if let ScanState::Found(object) = step.json {
            json.extend(in_json(&object.text, nonce));
        }
    }
    if let Some(object) = walk.end() {
        json.extend(in_json(&object.text, nonce));
    }
    let in_line = closing.number().map(|findings| CloseAnswer {
        findings,
        read: closing.extent(),
        places,
    });
    let mut answers = in_line.into_iter().chain(json);
    let Some(first) = answers.next() else {
        let problem = closing.problem().unwrap_or_default();
        return Ok(Err(CloseError::NotClosed(problem)));
    };
    if answers.any(|other| other != first) {
        let problem = "the answer states different numbers".to_owned();
        return Ok(Err(CloseError::NotClosed(problem)));
    }
    if first.findings == 0
        && let Bearing::Doubtful(words) | Bearing::Contradicts(words) = bearing(&prose)
    {
        return Ok(Err(CloseError::Words(words)));
    }
    Ok(Ok(first))
}

/// Reads `[<number>] path:line` or `[<number>] WITHDRAWN`.
fn given_place(line: &str) -> Option<GivenPlace> {
    let line = line.trim().trim_start_matches(['-', '*', ' ']);
    let (number, said) = line.strip_prefix('[')?.split_once(']')?;
    let said = said.trim_matches([' ', ':', '`', '.']);
    let place = if said.eq_ignore_ascii_case("withdrawn") {
        None
    } else {
        let (file, line, end_line) = location::split(said)?;
        Some(Location {
            file: file.to_owned(),
            line: Some(line),
            end_line,
        })
    };
    Some(GivenPlace {
        finding: number.parse().ok()?,
        place,
    })
}

/// The part of an answer that the question repeats: its beginning and its end, where they do not fit together.
pub fn shortened(answer: &str) -> Untrusted {
    const PART: usize = 500;
    let answer = answer.trim();
    if answer.len() <= 2 * PART {
        return answer.into();
    }
    let head = &answer[..answer.floor_char_boundary(PART)];
    let tail = &answer[answer.ceil_char_boundary(answer.len() - PART)..];
    format!("{head}\n[...]\n{tail}").into()
}

fn in_json(text: &str, nonce: Option<&str>) -> Option<CloseAnswer> {
    let value: Value = serde_json::from_str(text).ok()?;
    let given = value.get("nonce")?.as_str()?;
    let findings = match value.get(FINDINGS)? {
        Value::Array(items) => items.len() as u64,
        number => number.as_u64()?,
    };
    let read = value.get("read").and_then(Value::as_str);
    let places = value.get("places").and_then(Value::as_array);
    let places = places.into_iter().flatten().filter_map(|given| {
        let number = given.get("finding")?.as_u64()?;
        let said = given.get("place").and_then(Value::as_str);
        given_place(&format!("[{number}] {}", said.unwrap_or("withdrawn")))
    });
    is_nonce(nonce, given).then(|| CloseAnswer {
        findings,
        read: read.and_then(extent),
        places: places.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_answers() {
        let all = |findings| {
            Some(CloseAnswer {
                findings,
                read: Some(CodeRead::All),
                places: Vec::new(),
            })
        };
        for (answer, expected) in [
            ("GLEE-REVIEW-END nonce=n findings=0 read=all", all(0)),
            (
                "```\nGLEE-REVIEW-END nonce=n findings=0 read=all\n```",
                all(0),
            ),
            (
                "Yes, I read all of it and found nothing.\n\nGLEE-REVIEW-END nonce=n findings=0 read=all\n",
                all(0),
            ),
            (
                "I could not read it.\nGLEE-REVIEW-END nonce=n findings=0 read=all\n",
                None,
            ),
            (
                "Decision: fail\nGLEE-REVIEW-END nonce=n findings=0 read=all\n",
                None,
            ),
            (
                "Both are real.\nGLEE-REVIEW-END nonce=n findings=2 read=all\n",
                all(2),
            ),
            (r#"{"nonce":"n","findings":0,"read":"all"}"#, all(0)),
            (r#"{"nonce":"n","findings":[],"read":"all"}"#, all(0)),
            (r#"{"nonce":"other","findings":0,"read":"all"}"#, None),
            ("GLEE-REVIEW-END nonce=other findings=0 read=all", None),
            (
                "GLEE-REVIEW-END nonce=n findings=0 read=all\nGLEE-REVIEW-END nonce=n findings=1 read=all",
                None,
            ),
            ("Yes.", None),
            ("", None),
        ] {
            let read = parse(answer.as_bytes(), Some("n")).expect("a text can be read");
            assert_eq!(read.ok(), expected, "{answer}");
        }
        let placed = "[1] `src/a.py:7-9`\n- [2]: WITHDRAWN\n[x] a.py:1\n[3] no idea\nGLEE-REVIEW-END nonce=n findings=3";
        let json = r#"{"nonce":"n","findings":3,"places":[{"finding":1,"place":"src/a.py:7-9"},{"finding":2,"place":null}]}"#;
        for answer in [placed, json] {
            let read = parse(answer.as_bytes(), Some("n")).expect("a text can be read");
            let places = read.expect("an answer").places.into_iter();
            let places: Vec<(u32, Option<String>)> = places
                .map(|given| (given.finding, given.place.map(|place| place.to_string())))
                .collect();
            assert_eq!(
                places,
                [(1, Some("src/a.py:7-9".to_owned())), (2, None)],
                "{answer}"
            );
        }
        let read = parse(&b"GLEE-REVIEW-END nonce=n findings=0"[..], Some("n"));
        assert_eq!(read.expect("a text").map(|answer| answer.read), Ok(None));
    }
}
