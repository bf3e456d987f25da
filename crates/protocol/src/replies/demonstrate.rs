//! Parses the answer of a side that a judge asked for a demonstration: a demonstration block and a closing line, or the same
//! as JSON.

use std::io::{self, BufRead};

use crate::replies::closing::Closing;
use crate::replies::reply::Walk;
use crate::text::json::LenientValue;
use crate::text::nonce::is_nonce;
use crate::text::{ScanState, demonstration};
use glee_model::domain::{Demonstration, Untrusted};

/// The largest text that is read, in bytes.
const TEXT_CAP: usize = 256 << 10;

/// The number of bytes of the words beside the demonstration that are kept.
const SAID_CAP: usize = 4 << 10;

/// A demonstration, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DemonstrateAnswer {
    pub demonstration: Option<Demonstration>,
    pub said: Untrusted,
}

/// Reads the answer. The outer result is an error only if `input` cannot be read.
pub fn parse(
    input: impl BufRead,
    nonce: Option<&str>,
) -> io::Result<Result<DemonstrateAnswer, String>> {
    let mut walk = Walk::new(input, nonce);
    let mut closing = Closing::new("GLEE-DEMONSTRATE-END", "answers", nonce);
    let mut text = String::new();
    let mut in_json = None;
    while let Some(step) = walk.next(0)? {
        if closing.take(&step) || closing.is_form(&step) {
            continue;
        }
        if text.len() + step.text.len() < TEXT_CAP {
            text.push_str(step.text);
            text.push('\n');
        }
        if let ScanState::Found(object) = step.json {
            in_json = of_object(&object.text, nonce).or(in_json);
        }
    }
    if let Some(object) = walk.end() {
        in_json = of_object(&object.text, nonce).or(in_json);
    }
    let Some(number) = closing.number() else {
        let problem = || closing.problem().unwrap_or_default();
        return Ok(in_json.ok_or_else(problem));
    };
    let demonstration = demonstration::take(&mut text);
    if u64::from(demonstration.is_some()) != number {
        let problem = format!(
            "the closing line says {number}, but {} demonstration was read",
            if demonstration.is_some() { "one" } else { "no" }
        );
        return Ok(Err(problem));
    }
    text.truncate(text.floor_char_boundary(SAID_CAP));
    Ok(Ok(DemonstrateAnswer {
        demonstration,
        said: text.trim().into(),
    }))
}

fn of_object(text: &str, nonce: Option<&str>) -> Option<DemonstrateAnswer> {
    let object: LenientValue = serde_json::from_str(text).ok()?;
    let given = object.get(&["nonce"]).word()?;
    let field = object.get(demonstration::FIELD);
    let demonstration = demonstration::of_field(field);
    let is_whole = demonstration.is_some() || *field == LenientValue::Nothing;
    (is_nonce(nonce, &given) && is_whole).then(|| DemonstrateAnswer {
        demonstration,
        said: object.get(&["said"]).string().unwrap_or_default().into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demonstration_or_why_there_is_none() {
        let block = "```demonstration path=tests/a.py runner=unittest\nimport a\n```\n";
        let given = |said: &str| {
            Some(DemonstrateAnswer {
                demonstration: Some(Demonstration {
                    runner: "unittest".to_owned(),
                    path: "tests/a.py".to_owned(),
                    code: "import a\n".into(),
                }),
                said: said.into(),
            })
        };
        let none = |said: &str| {
            Some(DemonstrateAnswer {
                demonstration: None,
                said: said.into(),
            })
        };
        let end = |n: u32| format!("GLEE-DEMONSTRATE-END nonce=n answers={n}\n");
        let rows = [
            (format!("{block}{}", end(1)), given("")),
            (format!("Here it is.\n\n{block}{}", end(1)), given("Here it is.")),
            (format!("It needs a server.\n{}", end(0)), none("It needs a server.")),
            (format!("{block}{}", end(0)), None),
            (end(1), None),
            (block.to_owned(), None),
            (format!("{block}GLEE-DEMONSTRATE-END nonce=other answers=1\n"), None),
            (
                r#"{"nonce":"n","demonstration":{"path":"tests/a.py","runner":"unittest","code":"import a"}}"#.to_owned(),
                given(""),
            ),
            (r#"{"nonce":"n","demonstration":null,"said":"no"}"#.to_owned(), none("no")),
            (r#"{"nonce":"n","demonstration":{"path":"tests/a.py"}}"#.to_owned(), None),
            (r#"{"nonce":"other","demonstration":null}"#.to_owned(), None),
            (String::new(), None),
        ];
        for (answer, expected) in rows {
            let read = parse(answer.as_bytes(), Some("n")).expect("a text can be read");
            assert_eq!(read.ok(), expected, "{answer}");
        }
    }
}
