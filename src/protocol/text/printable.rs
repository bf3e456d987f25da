//! Text of others made safe to show.
//!
//! Escape sequences, control characters, bidirectional overrides and invisible characters become visible escapes, so
//! that no file and no agent can move the cursor, hide a line or build a link. The marks by which continuous
//! integration takes orders out of a log are broken by such an escape too.

use crate::domain::Untrusted;

/// What Azure Pipelines, GitHub's runner and TeamCity take for an order wherever it stands in a line.
const MARKS: [&str; 3] = ["##vso[", "##[", "##teamcity["];

/// What GitHub's runner takes for an order behind `::` at the beginning of a line, which a wrapped text may make of any
/// word.
const ORDERS: &str = "add-mask add-matcher add-path debug echo endgroup error group internal- notice remove-matcher \
                      save-state set-env set-output set-secret stop-commands warning";

/// What can be made safe to show. Nobody else can take the text out of it.
pub trait Shown: written::Text {}

impl<T: written::Text + ?Sized> Shown for T {}

/// Where only this module reaches.
mod written {
    use super::Untrusted;

    pub trait Text {
        fn text(&self) -> &str;
    }

    impl<T: AsRef<str> + ?Sized> Text for T {
        fn text(&self) -> &str {
            self.as_ref()
        }
    }

    impl Text for Untrusted {
        fn text(&self) -> &str {
            self.as_written()
        }
    }
}

/// One line: every control character is escaped, line breaks and tabs become single blanks.
pub fn line(text: &(impl Shown + ?Sized)) -> String {
    shown(text.text(), |_| ' ')
}

/// Several lines: line breaks and tabs stay, everything else as in [`line()`].
pub fn block(text: &(impl Shown + ?Sized)) -> String {
    shown(text.text(), |blank| blank)
}

fn shown(text: &str, blank: impl Fn(char) -> char) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(blank(c)),
            c if is_unsafe(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    without_orders(shown, "\\u{23}", "\\u{3a}")
}

/// JSON text whose strings show no such character: they become `\u` escapes, so that it still reads back the same.
pub fn json(text: String) -> String {
    // A writer of JSON escapes the characters below the space.
    if text.is_ascii() && !text.contains('\x7f') {
        return without_orders(text, "\\u0023", "\\u003a");
    }
    let shown = text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        if is_unsafe(c) && c != '\n' {
            shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            shown.push(c);
        }
        shown
    });
    // Outside of strings JSON has none of these.
    without_orders(shown, "\\u0023", "\\u003a")
}

/// Replaces the first character of every order to a continuous integration.
fn without_orders(text: String, hash: &str, colon: &str) -> String {
    if !text.contains("##") && !text.contains("::") {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut begins_a_word = true;
    for (at, c) in text.char_indices() {
        let rest = &text[at..];
        if MARKS.iter().any(|mark| rest.starts_with(mark)) {
            shown.push_str(hash);
        } else if begins_a_word
            && rest.strip_prefix("::").is_some_and(|rest| ORDERS.split(' ').any(|order| rest.starts_with(order)))
        {
            shown.push_str(colon);
        } else {
            shown.push(c);
        }
        begins_a_word = c.is_whitespace();
    }
    shown
}

/// Whether a character could do something on a terminal other than show itself.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_a_terminal_would_obey() {
        assert_eq!(line("a\x1b[2Jb\nc\td"), "a\\u{1b}[2Jb c d");
        assert_eq!(block("a\u{202e}b\nc\td\r"), "a\\u{202e}b\nc\td\\u{d}");
        assert_eq!(line("日本 é 🔥"), "日本 é 🔥");
    }

    #[test]
    fn breaks_what_continuous_integration_would_obey() {
        assert_eq!(line("::error file=x::y"), "\\u{3a}:error file=x::y");
        assert_eq!(
            block("so ::set-output name=x\n  ::group::y"),
            "so \\u{3a}:set-output name=x\n  \\u{3a}:group::y"
        );
        assert_eq!(
            line("x ##vso[task.y] ##[error] ##teamcity[z]"),
            "x \\u{23}#vso[task.y] \\u{23}#[error] \\u{23}#teamcity[z]"
        );
        assert_eq!(
            line("std::error::Error, ::std, Log::error(\"\") ## [x]"),
            "std::error::Error, ::std, Log::error(\"\") ## [x]"
        );
        let value = serde_json::json!({ "a": "##vso[x ::error" });
        let shown = json(value.to_string());
        assert_eq!(shown, r#"{"a":"\u0023#vso[x \u003a:error"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"), value);
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({ "a": "\u{9b}2J\u{202e}\u{e0001}é\n\u{7f}" });
        let shown = json(serde_json::to_string_pretty(&value).expect("a value"));
        assert_eq!(shown, "{\n  \"a\": \"\\u009b2J\\u202e\\udb40\\udc01é\\n\\u007f\"\n}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"), value);
    }
}
