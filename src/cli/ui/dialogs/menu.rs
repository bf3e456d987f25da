//! A numbered selection, a yes-or-no and a line of text, drawn on the terminal.
//!
//! `dialoguer`'s own select knows no digits and turns Ctrl-C into a signal with the cursor still hidden; these leave
//! the terminal as it was, whatever key ends them.

use std::io;

use console::{Key, Term};

use crate::cli::style::{self, Color, Glyph, Style};

/// A numbered list with a cursor.
#[derive(Debug)]
pub(crate) struct Menu<'a> {
    /// The lines to choose from, without their numbers.
    pub(crate) items: &'a [&'a str],
    /// The chosen line, counted from 0.
    pub(crate) cursor: usize,
    pub(crate) escape: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// The cursor stands on another line, or the key means nothing.
    On,
    /// This line is taken.
    Taken(usize),
    /// The person goes away.
    Away,
    /// The person ends the program.
    Interrupted,
}

impl Menu<'_> {
    fn press(&mut self, key: &Key) -> Step {
        let last = self.items.len().saturating_sub(1);
        match key {
            Key::ArrowUp | Key::BackTab | Key::Char('k') => {
                self.cursor = self.cursor.checked_sub(1).unwrap_or(last);
            }
            Key::ArrowDown | Key::Tab | Key::Char('j') => {
                self.cursor = if self.cursor >= last { 0 } else { self.cursor + 1 };
            }
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = last,
            Key::Enter | Key::Char(' ') => return Step::Taken(self.cursor),
            Key::Escape | Key::Char('q' | '\u{4}') => return Step::Away,
            Key::CtrlC => return Step::Interrupted,
            Key::Char(digit) => {
                if let Some(number) = digit.to_digit(10).and_then(|n| usize::try_from(n).ok())
                    && (1..=self.items.len()).contains(&number)
                {
                    return Step::Taken(number - 1);
                }
            }
            _ => {}
        }
        Step::On
    }

    /// The lines as they stand on the screen, each shorter than its width.
    pub(crate) fn lines(&self, look: Style) -> Vec<String> {
        let room = look.width.saturating_sub(1);
        let mut lines: Vec<String> = self
            .items
            .iter()
            .enumerate()
            .map(|(index, item)| {
                let line = format!("{}. {item}", index + 1);
                if index == self.cursor {
                    let line = format!("{} {line}", look.glyph(Glyph::Pointer));
                    look.paint(Color::Key, &look.cut(&line, room))
                } else {
                    look.cut(&format!("  {line}"), room)
                }
            })
            .collect();
        let arrows = if look.unicode { "↑↓" } else { "arrows" };
        let keys = format!("  {arrows} or 1-{}, Enter; Esc {}", self.items.len(), self.escape);
        lines.push(look.paint(Color::Faint, &look.cut(&keys, room)));
        lines
    }

    /// Lets a person choose. `None`: they went away. The menu is gone afterwards. Fails with
    /// [`io::ErrorKind::Interrupted`] for Ctrl-C, and when the terminal cannot be used.
    pub(crate) fn ask(&mut self, term: &Term, look: impl Fn() -> Style) -> io::Result<Option<usize>> {
        term.hide_cursor()?;
        let taken = self.choose(term, look);
        drop(term.show_cursor());
        taken
    }

    fn choose(&mut self, term: &Term, look: impl Fn() -> Style) -> io::Result<Option<usize>> {
        loop {
            let lines = self.lines(look());
            for line in &lines {
                term.write_line(line)?;
            }
            let key = term.read_key_raw();
            // A narrower terminal has broken the lines by now: count the rows they take at today's width.
            let width = look().width;
            let rows = lines.iter().map(|line| style::columns(line).div_ceil(width).max(1)).sum();
            term.clear_last_lines(rows)?;
            match self.press(&key?) {
                Step::On => {}
                Step::Taken(index) => return Ok(Some(index)),
                Step::Away => return Ok(None),
                Step::Interrupted => return Err(io::ErrorKind::Interrupted.into()),
            }
        }
    }
}

/// Asks for a line of text. `None`: the person went away; Enter alone is the empty line. Fails as [`Menu::ask`].
pub(crate) fn line(term: &Term, prompt: &str, look: impl Fn() -> Style) -> io::Result<Option<String>> {
    let mut text = String::new();
    let answer = loop {
        term.clear_line()?;
        term.write_str(&entry(prompt, &text, look().width))?;
        match term.read_key_raw()? {
            Key::Enter => break Ok(Some(text.trim().to_owned())),
            Key::Escape => break Ok(None),
            Key::CtrlC => break Err(io::ErrorKind::Interrupted.into()),
            Key::Backspace => drop(text.pop()),
            // Ctrl-U, as in every shell.
            Key::Char('\u{15}') => text.clear(),
            Key::Char(c) if !crate::protocol::text::printable::is_unsafe(c) => text.push(c),
            _ => {}
        }
    };
    term.write_line("")?;
    answer
}

/// The prompt and the end of the text, on one row.
fn entry(prompt: &str, text: &str, width: usize) -> String {
    let room = width.saturating_sub(style::columns(prompt) + 2).max(4);
    let mut shown = text;
    while style::columns(shown) > room {
        let mut chars = shown.chars();
        chars.next();
        shown = chars.as_str();
    }
    format!("{prompt} {shown}")
}

/// A choice as it stays on the screen.
pub(crate) fn taken(look: Style, what: &str) -> String {
    let mark = look.paint(Color::Good, look.glyph(Glyph::Done));
    format!("{mark} {}", look.cut(what, look.width.saturating_sub(3)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ITEMS: [&str; 3] = ["Use AI judge", "I'll decide", "Discard opinion"];

    #[rstest]
    #[case(&[Key::Enter], Step::Taken(1))]
    #[case(&[Key::Char(' ')], Step::Taken(1))]
    #[case(&[Key::ArrowUp, Key::Enter], Step::Taken(0))]
    #[case(&[Key::ArrowUp, Key::ArrowUp, Key::Enter], Step::Taken(2))]
    #[case(&[Key::ArrowDown, Key::ArrowDown, Key::Enter], Step::Taken(0))]
    #[case(&[Key::Char('3')], Step::Taken(2))]
    #[case(&[Key::Char('4')], Step::On)]
    #[case(&[Key::Char('0')], Step::On)]
    #[case(&[Key::Char('x')], Step::On)]
    #[case(&[Key::Escape], Step::Away)]
    #[case(&[Key::CtrlC], Step::Interrupted)]
    fn presses(#[case] keys: &[Key], #[case] expected: Step) {
        let mut menu = Menu { items: &ITEMS, cursor: 1, escape: "stops the run here" };
        let steps: Vec<Step> = keys.iter().map(|key| menu.press(key)).collect();
        assert_eq!(steps.last(), Some(&expected));
    }

    #[test]
    fn shows_numbers_cursor_and_keys() {
        let look = Style { color: false, unicode: true, width: 80 };
        let menu = Menu { items: &ITEMS, cursor: 1, escape: "stops the run here" };
        assert_eq!(
            menu.lines(look),
            [
                "  1. Use AI judge",
                "❯ 2. I'll decide",
                "  3. Discard opinion",
                "  ↑↓ or 1-3, Enter; Esc stops the run here"
            ]
        );
        assert_eq!(
            menu.lines(Style { unicode: false, width: 16, ..look }),
            ["  1. Use AI ...", "> 2. I'll de...", "  3. Discard...", "  arrows or ..."]
        );
    }

    #[test]
    fn a_long_line_of_text_shows_its_end() {
        assert_eq!(entry("Why?", "abc", 80), "Why? abc");
        assert_eq!(entry("Why?", "abcdefghijklmnop", 14), "Why? ijklmnop");
    }
}
