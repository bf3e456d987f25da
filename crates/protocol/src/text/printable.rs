//! Escapes text from files and agents for display.
//!
//! Escape sequences, control characters, bidirectional overrides and invisible characters become visible, so that
//! text cannot move the cursor, hide a line or create a link. A command that a continuous integration service
//! would read from a log is escaped, too.

use glee_model::domain::Untrusted;

/// Each of these texts begins a command for Azure Pipelines, GitHub's runner or TeamCity. The text can be at any
/// position in a line.
const MARKS: [&str; 3] = ["##vso[", "##[", "##teamcity["];

/// Commands that GitHub's runner executes after `::` at the beginning of a line. Line wrapping can move any word to
/// the beginning of a line, so a command is escaped at the beginning of any word.
const COMMANDS: &str = "add-mask add-matcher add-path debug echo endgroup error group internal- notice remove-matcher \
                      save-state set-env set-output set-secret stop-commands warning";

/// A type of text that can be escaped. The methods of `Shown` are private to this module, so that no other
/// module can read the unescaped text through `Shown`.
pub trait Shown: written::Text {}

impl<T: written::Text + ?Sized> Shown for T {}

mod written {
    use std::borrow::Cow;

    use super::Untrusted;

    pub trait Text {
        fn text(&self) -> &str;
    }

    impl Text for str {
        fn text(&self) -> &str {
            self
        }
    }

    impl Text for String {
        fn text(&self) -> &str {
            self
        }
    }

    impl Text for Cow<'_, str> {
        fn text(&self) -> &str {
            self
        }
    }

    impl<T: Text + ?Sized> Text for &T {
        fn text(&self) -> &str {
            (**self).text()
        }
    }

    impl Text for Untrusted {
        fn text(&self) -> &str {
            self.as_written()
        }
    }
}

/// Escapes a text as one line. Line breaks and tabs are replaced by spaces.
pub fn line(text: &(impl Shown + ?Sized)) -> String {
    shown(text.text(), |_| ' ')
}

/// Like [`line()`], but keeps line breaks and tabs.
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
    without_commands(shown, "\\u{23}", "\\u{3a}")
}

/// Replaces unsafe characters and beginnings of commands in JSON by `\u` escapes, which do not change the value.
pub fn json(text: String) -> String {
    let shown = text
        .chars()
        .fold(String::with_capacity(text.len()), |mut shown, c| {
            if is_unsafe(c) && c != '\n' {
                shown.extend(
                    c.encode_utf16(&mut [0; 2])
                        .iter()
                        .map(|unit| format!("\\u{unit:04x}")),
                );
            } else {
                shown.push(c);
            }
            shown
        });
    // In JSON, a command for a CI service can begin only inside a string, where a `\u` escape is valid.
    without_commands(shown, "\\u0023", "\\u003a")
}

fn without_commands(text: String, hash: &str, colon: &str) -> String {
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
            && rest
                .strip_prefix("::")
                .is_some_and(|rest| COMMANDS.split(' ').any(|command| rest.starts_with(command)))
        {
            shown.push_str(colon);
        } else {
            shown.push(c);
        }
        begins_a_word = c.is_whitespace();
    }
    shown
}

/// Whether a character can change how a terminal displays other text.
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
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"),
            value
        );
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({ "a": "\u{9b}2J\u{202e}\u{e0001}é\n\u{7f}" });
        let shown = json(serde_json::to_string_pretty(&value).expect("a value"));
        assert_eq!(
            shown,
            "{\n  \"a\": \"\\u009b2J\\u202e\\udb40\\udc01é\\n\\u007f\"\n}"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"),
            value
        );
    }
}
