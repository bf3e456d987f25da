//! Text of others made safe to show.
//!
//! Escape sequences, control characters, bidirectional overrides and invisible characters become visible escapes, so
//! that no file and no agent can move the cursor, hide a line or build a link.

/// One line: every control character is escaped, line breaks and tabs become single blanks.
pub fn line(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        if matches!(c, '\n' | '\t') {
            shown.push(' ');
        } else {
            push(&mut shown, c);
        }
        shown
    })
}

/// Several lines: line breaks and tabs stay, everything else as in [`line()`].
pub fn block(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        if matches!(c, '\n' | '\t') {
            shown.push(c);
        } else {
            push(&mut shown, c);
        }
        shown
    })
}

/// JSON text whose strings show no such character: they become `\u` escapes, so that it still reads back the same.
pub fn json(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        if is_unsafe(c) && c != '\n' {
            shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            shown.push(c);
        }
        shown
    })
}

fn push(shown: &mut String, c: char) {
    if is_unsafe(c) {
        shown.extend(c.escape_unicode());
    } else {
        shown.push(c);
    }
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
    fn json_stays_the_same_value() {
        let value = serde_json::json!({ "a": "\u{9b}2J\u{202e}\u{e0001}é\n\u{7f}" });
        let shown = json(&serde_json::to_string_pretty(&value).expect("a value"));
        assert_eq!(shown, "{\n  \"a\": \"\\u009b2J\\u202e\\udb40\\udc01é\\n\\u007f\"\n}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"), value);
    }
}
