//! A strict scanner of one JSON object or list, byte by byte.
//!
//! It says at the earliest byte that what it reads is no JSON, so that prose between braces costs nothing. What it
//! keeps is valid JSON that any parser accepts: a number beyond the range of a double becomes `null`, a surrogate
//! without its other half U+FFFD.

/// The largest object that is kept, in bytes.
pub(super) const OBJECT_CAP: usize = 6 << 20;

/// The deepest nesting that is followed.
const DEPTH_CAP: usize = 100;

/// What a byte led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The object goes on.
    More,
    /// The byte closes the object.
    Done,
    /// This is no JSON.
    Invalid,
    /// Valid so far, but larger than what is kept.
    TooLarge,
}

/// Scans one object.
#[derive(Debug)]
pub(super) struct Scanner {
    bytes: Vec<u8>,
    /// The open brackets.
    open: Vec<u8>,
    expect: Expect,
    /// Where the number, literal or escape begins that is being read.
    start: usize,
    /// Where the hexadecimal digits of a high surrogate stand that waits for a low one.
    high: Option<usize>,
    /// What it may scan.
    scope: Scope,
}

/// What counts as a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::protocol) enum Scope {
    /// Objects.
    #[default]
    Objects,
    /// Objects and lists, and objects one below the other in a fence as a list.
    Lists,
}

impl Scope {
    /// Whether a document may begin with `text`.
    pub(super) fn begins(self, text: &str) -> bool {
        text.starts_with('{') || self == Self::Lists && text.starts_with('[')
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Object,
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    Text(Of),
    Escape(Of),
    Hex(Of, u8),
    Literal(&'static [u8]),
    Number(Number),
}

/// What a string is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Key,
    Value,
}

/// How far a number has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
}

impl Scanner {
    pub(super) fn new(scope: Scope) -> Self {
        Self { bytes: Vec::new(), open: Vec::new(), expect: Expect::Object, start: 0, high: None, scope }
    }

    /// The object, once it is done.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes the next byte.
    pub(super) fn push(&mut self, byte: u8) -> Progress {
        if self.bytes.len() >= OBJECT_CAP {
            return Progress::TooLarge;
        }
        if let Expect::Number(state) = self.expect {
            match state.after(byte) {
                Some(next) => {
                    self.expect = Expect::Number(next);
                    self.bytes.push(byte);
                    return Progress::More;
                }
                None if !state.may_end() => return Progress::Invalid,
                None => self.end_number(),
            }
        }
        self.bytes.push(byte);
        let Some(next) = self.step(byte) else { return Progress::Invalid };
        self.expect = next;
        if self.open.is_empty() { Progress::Done } else { Progress::More }
    }

    /// What is expected after `byte`; `None` if it may not stand here.
    fn step(&mut self, byte: u8) -> Option<Expect> {
        let blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        match (self.expect, byte) {
            (Expect::Text(of), _) => self.in_text(of, byte),
            (Expect::Escape(of), _) => self.in_escape(of, byte),
            (Expect::Hex(of, left), _) => self.in_hex(of, left, byte),
            (Expect::Literal([first, rest @ ..]), _) if *first == byte => {
                Some(if rest.is_empty() { Expect::CommaOrEnd } else { Expect::Literal(rest) })
            }
            (Expect::Literal(_) | Expect::Number(_), _) => None,
            (expect, _) if blank && expect != Expect::Object => Some(expect),
            (Expect::Object | Expect::Value | Expect::ValueOrEnd, b'{') => self.opened(byte, Expect::KeyOrEnd),
            (Expect::Object, b'[') if self.scope == Scope::Lists => self.opened(byte, Expect::ValueOrEnd),
            (Expect::Value | Expect::ValueOrEnd, b'[') => self.opened(byte, Expect::ValueOrEnd),
            (Expect::Value | Expect::ValueOrEnd, b'"') => Some(Expect::Text(Of::Value)),
            (Expect::Value | Expect::ValueOrEnd, b't') => Some(Expect::Literal(b"rue")),
            (Expect::Value | Expect::ValueOrEnd, b'f') => Some(Expect::Literal(b"alse")),
            (Expect::Value | Expect::ValueOrEnd, b'n') => Some(Expect::Literal(b"ull")),
            (Expect::Value | Expect::ValueOrEnd, b'-' | b'0'..=b'9') => {
                self.start = self.bytes.len() - 1;
                Some(Expect::Number(match byte {
                    b'-' => Number::Minus,
                    b'0' => Number::Zero,
                    _ => Number::Integer,
                }))
            }
            (Expect::Key | Expect::KeyOrEnd, b'"') => Some(Expect::Text(Of::Key)),
            (Expect::Colon, b':') => Some(Expect::Value),
            (Expect::CommaOrEnd, b',') => match self.open.last() {
                Some(b'{') => Some(Expect::Key),
                _ => Some(Expect::Value),
            },
            (Expect::CommaOrEnd | Expect::KeyOrEnd, b'}') => self.closed(b'{'),
            (Expect::CommaOrEnd | Expect::ValueOrEnd, b']') => self.closed(b'['),
            _ => None,
        }
    }

    fn opened(&mut self, bracket: u8, expect: Expect) -> Option<Expect> {
        self.open.push(bracket);
        (self.open.len() <= DEPTH_CAP).then_some(expect)
    }

    fn closed(&mut self, bracket: u8) -> Option<Expect> {
        (self.open.pop() == Some(bracket)).then_some(Expect::CommaOrEnd)
    }

    fn in_text(&mut self, of: Of, byte: u8) -> Option<Expect> {
        if byte != b'\\' {
            self.replace_high();
        }
        match byte {
            b'"' => Some(match of {
                Of::Key => Expect::Colon,
                Of::Value => Expect::CommaOrEnd,
            }),
            b'\\' => Some(Expect::Escape(of)),
            0..0x20 => None,
            _ => Some(Expect::Text(of)),
        }
    }

    fn in_escape(&mut self, of: Of, byte: u8) -> Option<Expect> {
        match byte {
            b'u' => {
                self.start = self.bytes.len();
                Some(Expect::Hex(of, 4))
            }
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.replace_high();
                Some(Expect::Text(of))
            }
            _ => None,
        }
    }

    fn in_hex(&mut self, of: Of, left: u8, byte: u8) -> Option<Expect> {
        if !byte.is_ascii_hexdigit() {
            return None;
        }
        if left > 1 {
            return Some(Expect::Hex(of, left - 1));
        }
        let digits = self.bytes[self.start..].iter();
        let unit = digits.fold(0, |unit, digit| unit * 16 + char::from(*digit).to_digit(16).unwrap_or(0));
        match (unit, self.high.take()) {
            (0xdc00..=0xdfff, Some(_)) => {}
            (0xdc00..=0xdfff, None) => self.replace(Some(self.start)),
            (0xd800..=0xdbff, before) => {
                self.replace(before);
                self.high = Some(self.start);
            }
            (_, before) => self.replace(before),
        }
        Some(Expect::Text(of))
    }

    fn replace_high(&mut self) {
        let high = self.high.take();
        self.replace(high);
    }

    fn replace(&mut self, at: Option<usize>) {
        if let Some(at) = at {
            self.bytes[at..at + 4].copy_from_slice(b"fffd");
        }
    }

    fn end_number(&mut self) {
        let number = std::str::from_utf8(&self.bytes[self.start..]).ok().and_then(|text| text.parse::<f64>().ok());
        if !number.is_some_and(f64::is_finite) {
            self.bytes.truncate(self.start);
            self.bytes.extend_from_slice(b"null");
        }
        self.expect = Expect::CommaOrEnd;
    }
}

impl Number {
    /// How far the number has come with one more byte; `None` if the byte is not a part of it.
    fn after(self, byte: u8) -> Option<Self> {
        match (self, byte) {
            (Self::Minus, b'0') => Some(Self::Zero),
            (Self::Minus, b'1'..=b'9') | (Self::Integer, b'0'..=b'9') => Some(Self::Integer),
            (Self::Zero | Self::Integer, b'.') => Some(Self::Point),
            (Self::Point | Self::Fraction, b'0'..=b'9') => Some(Self::Fraction),
            (Self::Zero | Self::Integer | Self::Fraction, b'e' | b'E') => Some(Self::Exponent),
            (Self::Exponent, b'+' | b'-') => Some(Self::Sign),
            (Self::Exponent | Self::Sign | Self::Power, b'0'..=b'9') => Some(Self::Power),
            _ => None,
        }
    }

    fn may_end(self) -> bool {
        matches!(self, Self::Zero | Self::Integer | Self::Fraction | Self::Power)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    /// The object as it is kept, if `text` is one and nothing else.
    fn scan(text: &str) -> Option<String> {
        let mut scanner = Scanner::new(Scope::Objects);
        let mut progress = Progress::More;
        for byte in text.bytes() {
            if progress != Progress::More {
                return None;
            }
            progress = scanner.push(byte);
        }
        (progress == Progress::Done).then(|| String::from_utf8(scanner.bytes().to_vec()).unwrap())
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
            assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
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
        assert_eq!(scan(&format!("{}1{}", r#"{"a":"#.repeat(101), "}".repeat(101))), None);
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
            (r#"{"a":"\ud800\ud83d\ude00"}"#, r#"{"a":"\ufffd\ud83d\ude00"}"#),
            (r#"{"a":"\ud83d\u0041"}"#, r#"{"a":"\ufffd\u0041"}"#),
        ] {
            assert_eq!(scan(text).as_deref(), Some(expected), "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(expected).is_ok(), "{text}");
        }
    }

    #[test]
    fn gives_up_beyond_the_cap() {
        let mut scanner = Scanner::new(Scope::Objects);
        let text = format!(r#"{{"a":"{}"#, "x".repeat(OBJECT_CAP));
        let last = text.bytes().map(|byte| scanner.push(byte)).last();
        assert_eq!(last, Some(Progress::TooLarge));
        assert_eq!(scanner.bytes().len(), OBJECT_CAP);
    }
}
