//! Scans one JSON object or list, line by line.
//!
//! The crate `serde_json` reads the tokens, and this module checks the order of the tokens. A scan ends at the
//! first invalid line, so prose between braces costs little time. The scan replaces numbers outside the range of
//! a double by `null`, and unpaired surrogates by U+FFFD. Any JSON parser therefore accepts the result.

use std::borrow::Cow;

use serde::de::IgnoredAny;

pub(crate) const OBJECT_CAP: usize = 6 << 20;

/// The maximum number of values in a JSON object, which bounds the memory of the parsed object.
const VALUES_CAP: usize = 250_000;

const DEPTH_CAP: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanProgress {
    More,
    Done,
    Invalid,
    TooLarge,
}

#[derive(Debug)]
pub(crate) struct Scanner {
    text: String,
    open: Vec<u8>,
    expect: Expect,
    values: usize,
    pub scope: Scope,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    Objects,
    /// Objects and lists. Several objects in one code fence are read as a list.
    Lists,
}

impl Scope {
    pub fn begins(self, text: &str) -> bool {
        text.starts_with('{') || self == Self::Lists && text.starts_with('[')
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Document,
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

impl Scanner {
    pub(super) fn new(scope: Scope) -> Self {
        Self {
            text: String::new(),
            open: Vec::new(),
            expect: Expect::Document,
            values: 0,
            scope,
        }
    }

    /// Returns the text of the object, up to the first error in the JSON.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Scans the next line. The flag `cut` is true if the line was truncated.
    pub(super) fn line(&mut self, line: &str, cut: bool) -> ScanProgress {
        let mut rest = line;
        loop {
            let token = rest.trim_start_matches([' ', '\t', '\r']);
            self.text.push_str(&rest[..rest.len() - token.len()]);
            if token.is_empty() {
                self.text.push('\n');
                return ScanProgress::More;
            }
            let length = match self.token(token, cut) {
                Ok(length) => length,
                Err(progress) => return progress,
            };
            if self.text.len() > OBJECT_CAP || self.values > VALUES_CAP {
                return ScanProgress::TooLarge;
            }
            rest = &token[length..];
            if self.open.is_empty() {
                return if rest.trim().is_empty() {
                    ScanProgress::Done
                } else {
                    ScanProgress::Invalid
                };
            }
        }
    }

    fn token(&mut self, text: &str, cut: bool) -> Result<usize, ScanProgress> {
        let first = text.as_bytes()[0];
        let is_value = matches!(self.expect, Expect::Value | Expect::ValueOrEnd);
        let is_key = matches!(self.expect, Expect::Key | Expect::KeyOrEnd);
        let expect = match (self.expect, first) {
            (Expect::Document | Expect::Value | Expect::ValueOrEnd, b'{') => {
                self.opened(first, Expect::KeyOrEnd)
            }
            (Expect::Document, b'[') if self.scope == Scope::Lists => {
                self.opened(first, Expect::ValueOrEnd)
            }
            (Expect::Value | Expect::ValueOrEnd, b'[') => self.opened(first, Expect::ValueOrEnd),
            (Expect::KeyOrEnd | Expect::CommaOrEnd, b'}') => self.closed(b'{'),
            (Expect::ValueOrEnd | Expect::CommaOrEnd, b']') => self.closed(b'['),
            (Expect::CommaOrEnd, b',') if self.open.last() == Some(&b'{') => Some(Expect::Key),
            (Expect::CommaOrEnd, b',') | (Expect::Colon, b':') => Some(Expect::Value),
            _ if is_value || is_key && first == b'"' => return self.literal(text, cut, is_key),
            _ => None,
        };
        self.text.extend(text.chars().next());
        self.expect = expect.ok_or(ScanProgress::Invalid)?;
        Ok(1)
    }

    fn literal(&mut self, text: &str, cut: bool, is_key: bool) -> Result<usize, ScanProgress> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
        if let Some(Err(error)) = values.next() {
            if error.is_eof() {
                self.text.extend([text, "\n"]);
                return Err(if cut {
                    ScanProgress::TooLarge
                } else {
                    ScanProgress::Invalid
                });
            }
            self.text
                .push_str(&text[..text.floor_char_boundary(error.column() + 1)]);
            return Err(ScanProgress::Invalid);
        }
        let length = values.byte_offset();
        self.text.push_str(&tame(&text[..length]));
        self.values += usize::from(!is_key);
        self.expect = if is_key {
            Expect::Colon
        } else {
            Expect::CommaOrEnd
        };
        Ok(length)
    }

    fn opened(&mut self, bracket: u8, expect: Expect) -> Option<Expect> {
        self.open.push(bracket);
        self.values += 1;
        (self.open.len() <= DEPTH_CAP).then_some(expect)
    }

    fn closed(&mut self, bracket: u8) -> Option<Expect> {
        (self.open.pop() == Some(bracket)).then_some(Expect::CommaOrEnd)
    }
}

fn tame(literal: &str) -> Cow<'_, str> {
    if literal.starts_with('"') {
        let is_whole = !literal.contains("\\u") || serde_json::from_str::<String>(literal).is_ok();
        return if is_whole {
            literal.into()
        } else {
            replace_unpaired(literal).into()
        };
    }
    let is_infinite = literal.parse::<f64>().is_ok_and(f64::is_infinite);
    if is_infinite {
        "null".into()
    } else {
        literal.into()
    }
}

fn replace_unpaired(mut rest: &str) -> String {
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let mut whole = String::with_capacity(rest.len());
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(_), _) => 6,
            (None, _) => 2,
        };
        let is_unpaired = length == 6 && matches!(unit(escape), Some(0xd800..=0xdfff));
        whole.push_str(if is_unpaired {
            "\\ufffd"
        } else {
            &escape[..length]
        });
        rest = &escape[length..];
    }
    whole + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Option<String> {
        let mut scanner = Scanner::new(Scope::Objects);
        let progress = text
            .split('\n')
            .map(|line| scanner.line(line, false))
            .last()?;
        (progress == ScanProgress::Done).then(|| scanner.text().to_owned())
    }

    #[test]
    fn keeps_what_every_parser_accepts() {
        for text in [
            "{}",
            "{ }",
            r#"{"a":[],"b":[1,-0.5e+3,0,true,false,null],"c":{"d":"\\\"\n\u00e9 é {"}}"#,
            "{\"a\":\n\t[ 1 , 2 ]\r\n}",
            r#"{"pair":"\ud83d\ude00"}"#,
        ] {
            assert_eq!(scan(text).as_deref(), Some(text));
            assert!(
                serde_json::from_str::<serde_json::Value>(text).is_ok(),
                "{text}"
            );
        }
    }

    #[test]
    fn refuses_what_is_no_json() {
        for text in [
            "",
            "[]",
            "1",
            "{",
            "{]",
            "{,}",
            "{a:1}",
            "{'a':1}",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            r#"{"a":[1,]}"#,
            r#"{"a":01}"#,
            r#"{"a":+1}"#,
            r#"{"a":1.}"#,
            r#"{"a":.5}"#,
            r#"{"a":1e}"#,
            r#"{"a":-}"#,
            r#"{"a":tru}"#,
            r#"{"a":TRUE}"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\u12g4"}"#,
            "{\"a\":\"\n\"}",
            r#"{"a":1}}"#,
            r#"{"a":1 2}"#,
            r#"{"a":1 /* b */}"#,
            r#"{"a":NaN}"#,
            r#"{"a" 1}"#,
            r#"{"a":[1}"#,
            r#"{1:2}"#,
        ] {
            assert_eq!(scan(text), None, "{text}");
        }
        assert_eq!(
            scan(&format!("{}1{}", r#"{"a":"#.repeat(101), "}".repeat(101))),
            None
        );
    }

    #[test]
    fn tames_numbers_and_surrogates() {
        for (text, expected) in [
            (r#"{"a":1e999}"#, r#"{"a":null}"#),
            (r#"{"a":[-1e400 ,2]}"#, r#"{"a":[null ,2]}"#),
            (r#"{"a":1e300}"#, r#"{"a":1e300}"#),
            (r#"{"a":"\ud800"}"#, r#"{"a":"\ufffd"}"#),
            (r#"{"a":"\ud800x"}"#, r#"{"a":"\ufffdx"}"#),
            (r#"{"a":"\ud800\n"}"#, r#"{"a":"\ufffd\n"}"#),
            (r#"{"a":"\udc00"}"#, r#"{"a":"\ufffd"}"#),
            (
                r#"{"a":"\ud800\ud83d\ude00"}"#,
                r#"{"a":"\ufffd\ud83d\ude00"}"#,
            ),
            (r#"{"a":"\ud83d\u0041"}"#, r#"{"a":"\ufffd\u0041"}"#),
        ] {
            assert_eq!(scan(text).as_deref(), Some(expected), "{text}");
            assert!(
                serde_json::from_str::<serde_json::Value>(expected).is_ok(),
                "{text}"
            );
        }
    }

    #[test]
    fn gives_up_beyond_the_cap() {
        let mut scanner = Scanner::new(Scope::Objects);
        let text = ["{\"a\":\"", &"x".repeat(OBJECT_CAP)].concat();
        assert_eq!(scanner.line(&text, true), ScanProgress::TooLarge);
        let mut scanner = Scanner::new(Scope::Lists);
        assert_eq!(
            scanner.line(&format!("[{}1]", "1,".repeat(VALUES_CAP)), false),
            ScanProgress::TooLarge
        );
    }
}
