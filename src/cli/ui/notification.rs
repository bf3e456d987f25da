//! The control sequences with which a terminal shows a desktop notification.

use glee_protocol::text::printable;
use glee_store::config::choices::TerminalNotice;

/// The maximum number of characters of a notification.
const LONGEST: usize = 200;

/// Returns the control sequence for a notification. `None` if the terminal shows no notifications. The function
/// `variable` returns the value of an environment variable.
pub(crate) fn sequence(
    how: TerminalNotice,
    variable: impl Fn(&str) -> Option<String>,
    text: &str,
) -> Option<String> {
    let term = variable("TERM").unwrap_or_default();
    let how = match how {
        TerminalNotice::Auto if matches!(term.as_str(), "" | "dumb" | "linux") => {
            TerminalNotice::Off
        }
        TerminalNotice::Auto => {
            let is_vte = ["VTE_VERSION", "KONSOLE_VERSION"]
                .iter()
                .any(|name| variable(name).is_some());
            let knows_777 = is_vte || term.starts_with("foot") || term.starts_with("rxvt");
            if knows_777 {
                TerminalNotice::Osc777
            } else {
                TerminalNotice::Osc9
            }
        }
        given => given,
    };
    let text: String = printable::line(text).chars().take(LONGEST).collect();
    let sequence = match how {
        TerminalNotice::Auto | TerminalNotice::Off => return None,
        TerminalNotice::Bell => return Some("\x07".to_owned()),
        // The text does not begin with a number, because a leading number with a semicolon selects another
        // function of OSC 9.
        TerminalNotice::Osc9 => format!("\x1b]9;Glee: {text}\x07"),
        TerminalNotice::Osc777 => format!("\x1b]777;notify;Glee;{text}\x07"),
    };
    // The programs `tmux` and `screen` pass a sequence to the outer terminal only if the sequence is enclosed in
    // another control sequence.
    Some(match (variable("TMUX"), variable("STY")) {
        (Some(_), _) => format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b")),
        (None, Some(_)) => format!("\x1bP{sequence}\x1b\\"),
        (None, None) => sequence,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_terminal(how: TerminalNotice, variables: &[(&str, &str)], text: &str) -> Option<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        sequence(how, variable, text)
    }

    #[test]
    fn the_terminal_decides_the_sequence() {
        let auto =
            |variables: &[(&str, &str)]| in_terminal(TerminalNotice::Auto, variables, "done");
        let osc9 = "\x1b]9;Glee: done\x07";
        let osc777 = "\x1b]777;notify;Glee;done\x07";
        assert_eq!(auto(&[("TERM", "xterm-256color")]).as_deref(), Some(osc9));
        assert_eq!(
            auto(&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")]).as_deref(),
            Some(osc777)
        );
        assert_eq!(auto(&[("TERM", "foot")]).as_deref(), Some(osc777));
        for silent in [&[][..], &[("TERM", "dumb")], &[("TERM", "linux")]] {
            assert_eq!(auto(silent), None, "{silent:?}");
        }
        assert_eq!(
            auto(&[("TERM", "tmux-256color"), ("TMUX", "/tmp/x")]).as_deref(),
            Some("\x1bPtmux;\x1b\x1b]9;Glee: done\x07\x1b\\")
        );
        assert_eq!(
            in_terminal(TerminalNotice::Bell, &[], "done").as_deref(),
            Some("\x07")
        );
        assert_eq!(
            in_terminal(TerminalNotice::Osc777, &[("TERM", "linux")], "done").as_deref(),
            Some(osc777)
        );
        assert_eq!(
            in_terminal(TerminalNotice::Off, &[("TERM", "xterm")], "done"),
            None
        );
    }

    #[test]
    fn no_text_of_others_ends_the_sequence() {
        let hostile = format!("a\x07b\x1b\\c\u{9c}\u{202e}d\n{}", "x".repeat(999));
        let shown = in_terminal(TerminalNotice::Osc9, &[], &hostile).unwrap_or_default();
        let inner = shown
            .strip_prefix("\x1b]9;")
            .and_then(|rest| rest.strip_suffix('\x07'))
            .unwrap_or_default();
        assert!(
            !inner.is_empty() && !inner.chars().any(printable::is_unsafe),
            "{shown:?}"
        );
        assert!(inner.chars().count() <= LONGEST + "Glee: ".len());
    }
}
