//! Recognises the closing line of an answer.
//!
//! A closing line must be a complete line outside quotes and JSON. In a code fence it counts if it ends the fence (see
//! `answer_lines`). A line with a different nonce or without a number is ordinary text, not a closing line. The closing
//! line of a review can also say how much of the code was read, as in `read=all`.

use crate::replies::reply::ReplyLine;
use crate::text::LineKind;
use crate::text::nonce::is_nonce;
use glee_model::domain::CodeRead;

#[derive(Debug)]
pub struct Closing<'a> {
    name: &'static str,
    count: &'static str,
    nonce: Option<&'a str>,
    /// The number in the closing line, or `Err` if several closing lines contain different numbers.
    announced: Option<Result<u64, Disagreement>>,
    /// How much of the code was read. If several closing lines differ, only part of the code was read.
    extent: Option<CodeRead>,
    rejected: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Disagreement;

/// The line without white space and without the marks of inline code and of emphasis around it.
fn undressed(line: &str) -> &str {
    line.trim().trim_matches(['`', '*', '_']).trim()
}

impl<'a> Closing<'a> {
    pub fn new(name: &'static str, count: &'static str, nonce: Option<&'a str>) -> Self {
        Self {
            name,
            count,
            nonce,
            announced: None,
            extent: None,
            rejected: None,
        }
    }

    /// Returns whether a line of the answer is a closing line with the right nonce, and takes its number.
    pub fn take(&mut self, line: &ReplyLine<'_>) -> bool {
        let text = undressed(line.text);
        if line.kind == LineKind::Code && self.read(text).is_some() {
            self.rejected = Some("stands in a code fence, and is not the end of the fence");
        }
        line.is_prose() && self.take_prose(text)
    }

    fn take_prose(&mut self, line: &str) -> bool {
        let Some((count, extent)) = self.read(line) else {
            self.rejected = self.wrong(line).or(self.rejected);
            return false;
        };
        self.extent = CodeRead::joined(self.extent, extent);
        self.announced = Some(match self.announced {
            None => Ok(count),
            Some(Ok(before)) if before == count => Ok(count),
            Some(_) => Err(Disagreement),
        });
        true
    }

    /// Whether a line is the prompt's example of a closing line, which contains `<n>` instead of a number.
    pub(crate) fn is_form(&self, line: &ReplyLine<'_>) -> bool {
        let form = self.count_of(undressed(line.text));
        line.is_prose()
            && form.is_some_and(|(nonce, count, _)| count == "<n>" && is_nonce(self.nonce, nonce))
    }

    /// The nonce, the number and the word after `read=` of a line.
    fn count_of<'l>(&self, line: &'l str) -> Option<(&'l str, &'l str, Option<&'l str>)> {
        let (nonce, rest) = line
            .strip_prefix(self.name)?
            .strip_prefix(" nonce=")?
            .split_once(' ')?;
        let rest = rest.strip_prefix(self.count)?.strip_prefix('=')?;
        match rest.split_once(" read=") {
            Some((count, word)) if self.count == FINDINGS => {
                let word = word.trim();
                (!word.contains(char::is_whitespace)).then_some((
                    nonce,
                    count.trim_end(),
                    Some(word),
                ))
            }
            _ => Some((nonce, rest, None)),
        }
    }

    fn read(&self, line: &str) -> Option<(u64, Option<CodeRead>)> {
        let (nonce, digits, word) = self.count_of(line)?;
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        // A number that needs more than 64 bits becomes `u64::MAX`. No answer contains this many entries.
        (is_number && is_nonce(self.nonce, nonce)).then(|| {
            let count = digits.parse().unwrap_or(u64::MAX);
            (count, word.and_then(extent))
        })
    }

    fn wrong(&self, line: &str) -> Option<&'static str> {
        let rest = line.strip_prefix(self.name)?;
        let nonce = rest
            .strip_prefix(" nonce=")
            .and_then(|rest| rest.split_whitespace().next());
        Some(match nonce {
            None => "has no nonce",
            Some(nonce) if !is_nonce(self.nonce, nonce) => "has a different nonce than the request",
            Some(_) => "does not end with its number",
        })
    }

    pub fn problem(&self) -> Option<String> {
        match self.announced {
            None => Some(format!(
                "the closing line `{}` {}",
                self.name,
                self.rejected.unwrap_or("is missing")
            )),
            Some(Err(Disagreement)) => Some(format!(
                "there are closing lines `{}` with different numbers",
                self.name
            )),
            Some(Ok(_)) => None,
        }
    }

    /// The number in the closing line. `None` without a closing line, or if closing lines contain different
    /// numbers.
    pub fn number(&self) -> Option<u64> {
        self.announced.and_then(Result::ok)
    }

    pub fn is_given(&self) -> bool {
        self.announced.is_some()
    }

    pub fn extent(&self) -> Option<CodeRead> {
        self.extent
    }
}

/// The name of the number in the closing line of a review. Only this line has the word `read`.
pub const FINDINGS: &str = "findings";

/// Reads the word after `read=`. A word other than `all` says that something was not read. The words of the prompt's
/// own example say nothing.
pub fn extent(word: &str) -> Option<CodeRead> {
    match word.to_lowercase().as_str() {
        "all" => Some(CodeRead::All),
        "" | "all|part" | "<all|part>" | "<r>" => None,
        _ => Some(CodeRead::Part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closing() -> Closing<'static> {
        Closing::new("GLEE-REVIEW-END", "findings", Some("abc"))
    }

    #[test]
    fn takes_a_closing_line_alone_on_its_line() {
        for (line, expected) in [
            ("GLEE-REVIEW-END nonce=abc findings=3", true),
            ("  GLEE-REVIEW-END nonce=abc findings=003\t", true),
            ("GLEE-REVIEW-END nonce=abd findings=3", false),
            ("GLEE-REVIEW-END nonce=ABC findings=3", false),
            ("GLEE-REVIEW-END nonce=abc findings=<n>", false),
            ("GLEE-REVIEW-END nonce=abc findings=", false),
            ("GLEE-REVIEW-END nonce=abc findings=-3", false),
            ("GLEE-REVIEW-END nonce=abc findings=3 thanks", false),
            ("GLEE-REVIEW-END nonce=abc answers=3", false),
            ("GLEE-REVIEW-END nonce=abc findi", false),
            ("GLEE-REVIEW-END nonce=abc", false),
            ("so GLEE-REVIEW-END nonce=abc findings=3", false),
            ("`GLEE-REVIEW-END nonce=abc findings=3`", true),
            ("**GLEE-REVIEW-END nonce=abc findings=3**", true),
            ("`GLEE-REVIEW-END` nonce=abc findings=3", false),
            ("glee-review-end nonce=abc findings=3", false),
            ("GLEE-REVIEW-END nonce=abc findings=3 read=all", true),
            ("GLEE-REVIEW-END nonce=abc findings=3 read=part", true),
            ("GLEE-REVIEW-END nonce=abc findings=3 read=", true),
            (
                "GLEE-REVIEW-END nonce=abc findings=3 read=all thanks",
                false,
            ),
            ("GLEE-REVIEW-END nonce=abc findings=3 wrote=all", false),
            ("GLEE-REVIEW-END nonce=abc findings=<n> read=all", false),
        ] {
            let mut closing = closing();
            assert_eq!(closing.take_prose(undressed(line)), expected, "{line}");
            assert_eq!(closing.number() == Some(3), expected, "{line}");
        }
    }

    #[test]
    fn only_the_word_all_says_that_everything_was_read() {
        for (words, expected) in [
            (&[""][..], None),
            (&[" read=all"], Some(CodeRead::All)),
            (&[" read=ALL"], Some(CodeRead::All)),
            (&[" read=part"], Some(CodeRead::Part)),
            (&[" read=partial"], Some(CodeRead::Part)),
            (&[" read=none"], Some(CodeRead::Part)),
            (&[" read=all|part"], None),
            (&[" read=all", " read=part"], Some(CodeRead::Part)),
            (&[" read=part", " read=all"], Some(CodeRead::Part)),
            (&[" read=all", ""], Some(CodeRead::All)),
        ] {
            let mut closing = closing();
            for word in words {
                assert!(closing.take_prose(&format!("GLEE-REVIEW-END nonce=abc findings=0{word}")));
            }
            assert_eq!(closing.extent(), expected, "{words:?}");
        }
        let mut other = Closing::new("GLEE-RESPONSE-END", "answers", Some("abc"));
        assert!(!other.take_prose("GLEE-RESPONSE-END nonce=abc answers=1 read=all"));
    }

    #[test]
    fn without_a_nonce_any_will_do() {
        let mut closing = Closing::new("GLEE-REVIEW-END", "findings", None);
        assert!(!closing.take_prose("GLEE-REVIEW-END nonce= findings=3"));
        assert!(closing.take_prose("GLEE-REVIEW-END nonce=x findings=3"));
    }

    #[test]
    fn several_closing_lines_have_to_agree() {
        let mut closing = closing();
        assert!(closing.take_prose("GLEE-REVIEW-END nonce=abc findings=2"));
        assert!(closing.take_prose("GLEE-REVIEW-END nonce=abc findings=2"));
        assert_eq!(closing.number(), Some(2));
        assert!(closing.take_prose("GLEE-REVIEW-END nonce=abc findings=99999999999999999999999"));
        assert!(closing.is_given());
        assert_eq!(closing.number(), None);
    }
}
