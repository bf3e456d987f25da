//! The prompts of a dialog: a numbered selection and a line of text. Each prompt restores the terminal settings
//! after every key. `dialoguer` is not used here. The selection menu of `dialoguer` accepts no digits, and raises
//! SIGINT on Ctrl-C while the cursor is hidden.

use std::io;

use console::{Key, Term};

use crate::cli::style::{self, Color, Glyph, Style};
use crate::cli::ui::terminal::Terminal;
use glee_protocol::text::printable;
use glee_workflows::run::ports::PersonAnswer;

/// The text that explains the effect of Esc in a prompt for a decision.
pub(crate) const LEAVES_OPEN: &str = "leaves it open";

/// An open dialog. On Ctrl-C, a prompt fails with [`io::ErrorKind::Interrupted`]. If a read from the terminal or a
/// write to the terminal fails, the prompt fails with the same error.
pub(crate) struct MenuForm<'a> {
    term: &'a Term,
    terminal: &'a Terminal,
}

pub(crate) fn open<T>(
    terminal: &Terminal,
    sheet: &str,
    ask: impl FnOnce(&MenuForm<'_>) -> io::Result<T>,
) -> io::Result<T> {
    terminal.dialog(|term| {
        term.write_str(sheet)?;
        ask(&MenuForm { term, terminal })
    })
}

impl MenuForm<'_> {
    /// The style is computed each time, because the user can resize the terminal while a dialog is open.
    fn style(&self) -> Style {
        self.terminal.screen().style()
    }

    pub(crate) fn print(&self, color: Color, text: &str) -> io::Result<()> {
        let style = self.style();
        let lines = style::wrap(text, style.width.saturating_sub(1));
        lines
            .iter()
            .try_for_each(|line| self.term.write_line(&style.paint(color, line)))
    }

    /// Asks the user to choose one of `items`, and shows the choice. The items must already be escaped. Returns
    /// the index of the chosen item, or `None` on Esc. `escape` explains the effect of Esc.
    pub(crate) fn choose(
        &self,
        items: &[impl AsRef<str>],
        cursor: usize,
        escape: &'static str,
    ) -> io::Result<Option<usize>> {
        let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
        self.term.hide_cursor()?;
        let choice = self.select(&mut Menu {
            items: &items,
            cursor,
            escape,
        });
        drop(self.term.show_cursor());
        if let Ok(Some(index)) = choice {
            let style = self.style();
            let item = style.cut(items[index], style.width.saturating_sub(3));
            self.term
                .write_line(&format!("{} {item}", style.mark(Glyph::Done)))?;
        }
        choice
    }

    fn select(&self, menu: &mut Menu<'_>) -> io::Result<Option<usize>> {
        loop {
            let lines = menu.lines(self.style());
            lines
                .iter()
                .try_for_each(|line| self.term.write_line(line))?;
            let key = self.term.read_key_raw();
            // If the terminal became narrower, the lines wrap, so the rows are counted with the current width.
            let width = self.style().width;
            let rows = lines
                .iter()
                .map(|line| style::columns(line).div_ceil(width).max(1))
                .sum();
            self.term.clear_last_lines(rows)?;
            match menu.press(&key?) {
                Pressed::Nothing => {}
                Pressed::Choice(index) => return Ok(Some(index)),
                Pressed::Leave => return Ok(None),
                Pressed::Interrupt => return Err(io::ErrorKind::Interrupted.into()),
            }
        }
    }

    /// Asks for a line of text and trims the text. Returns `None` on Esc.
    pub(crate) fn line(&self, prompt: &str) -> io::Result<Option<String>> {
        let mut text = String::new();
        let answer = loop {
            let style = self.style();
            self.term.clear_line()?;
            self.term
                .write_str(&entry(&style.strong(prompt), &text, style.width))?;
            match self.term.read_key_raw()? {
                Key::Enter => break Ok(Some(text.trim().to_owned())),
                Key::Escape => break Ok(None),
                Key::CtrlC => break Err(io::ErrorKind::Interrupted.into()),
                Key::Backspace => drop(text.pop()),
                // Ctrl-U clears the line, as in shells.
                Key::Char('\u{15}') => text.clear(),
                Key::Char(c) if !printable::is_unsafe(c) => text.push(c),
                _ => {}
            }
        };
        self.term.write_line("")?;
        answer
    }

    /// Asks the user why they chose `answer`. If `answer` is `None` or the user presses Esc, the question is not
    /// answered.
    pub(crate) fn with_reason<T>(&self, answer: Option<T>) -> io::Result<PersonAnswer<T>> {
        if let Some(answer) = answer
            && let Some(reason) = self.line("Reason (optional):")?
        {
            return Ok(PersonAnswer::Given((answer, reason)));
        }
        self.print(Color::Faint, "left open")?;
        Ok(PersonAnswer::LeftOpen)
    }
}

#[derive(Debug)]
struct Menu<'a> {
    items: &'a [&'a str],
    cursor: usize,
    escape: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
enum Pressed {
    /// The pressed key has no meaning in the menu, or only moves the selection. The menu stays open.
    Nothing,
    Choice(usize),
    Leave,
    Interrupt,
}

impl Menu<'_> {
    fn press(&mut self, key: &Key) -> Pressed {
        let last = self.items.len().saturating_sub(1);
        match key {
            Key::ArrowUp | Key::BackTab | Key::Char('k') => {
                self.cursor = self.cursor.checked_sub(1).unwrap_or(last);
            }
            Key::ArrowDown | Key::Tab | Key::Char('j') => {
                self.cursor = if self.cursor >= last {
                    0
                } else {
                    self.cursor + 1
                };
            }
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = last,
            Key::Enter | Key::Char(' ') => return Pressed::Choice(self.cursor),
            Key::Escape | Key::Char('q' | '\u{4}') => return Pressed::Leave,
            Key::CtrlC => return Pressed::Interrupt,
            Key::Char(digit) => {
                let number = digit.to_digit(10).map_or(0, |number| number as usize);
                if (1..=self.items.len()).contains(&number) {
                    return Pressed::Choice(number - 1);
                }
            }
            _ => {}
        }
        Pressed::Nothing
    }

    /// Returns the lines of the menu, each of which is narrower than the screen.
    fn lines(&self, style: Style) -> Vec<String> {
        let room = style.width.saturating_sub(1);
        let line = |(index, item): (usize, &&str)| {
            let line = format!("{}. {item}", index + 1);
            if index == self.cursor {
                style.paint(
                    Color::Key,
                    &style.cut(&format!("{} {line}", style.glyph(Glyph::Pointer)), room),
                )
            } else {
                style.cut(&format!("  {line}"), room)
            }
        };
        let arrows = if style.unicode { "↑↓" } else { "arrows" };
        let keys = format!(
            "  {arrows} or 1-{}, Enter; Esc {}",
            self.items.len(),
            self.escape
        );
        self.items
            .iter()
            .enumerate()
            .map(line)
            .chain([style.faint(style.cut(&keys, room))])
            .collect()
    }
}

/// If the text is too long for one row, only the end of the text is shown.
fn entry(prompt: &str, text: &str, width: usize) -> String {
    let room = width.saturating_sub(style::columns(prompt) + 2).max(4);
    let mut starts = text.char_indices().map(|(start, _)| start);
    let start = starts
        .find(|start| style::columns(&text[*start..]) <= room)
        .unwrap_or(text.len());
    format!("{prompt} {}", &text[start..])
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ITEMS: [&str; 3] = ["Use AI judge", "I'll decide", "Discard opinion"];

    #[rstest]
    #[case(&[Key::Enter], Pressed::Choice(1))]
    #[case(&[Key::Char(' ')], Pressed::Choice(1))]
    #[case(&[Key::ArrowUp, Key::Enter], Pressed::Choice(0))]
    #[case(&[Key::ArrowUp, Key::ArrowUp, Key::Enter], Pressed::Choice(2))]
    #[case(&[Key::ArrowDown, Key::ArrowDown, Key::Enter], Pressed::Choice(0))]
    #[case(&[Key::Char('3')], Pressed::Choice(2))]
    #[case(&[Key::Char('4')], Pressed::Nothing)]
    #[case(&[Key::Char('0')], Pressed::Nothing)]
    #[case(&[Key::Char('x')], Pressed::Nothing)]
    #[case(&[Key::Escape], Pressed::Leave)]
    #[case(&[Key::CtrlC], Pressed::Interrupt)]
    fn presses(#[case] keys: &[Key], #[case] expected: Pressed) {
        let mut menu = Menu {
            items: &ITEMS,
            cursor: 1,
            escape: "stops the run here",
        };
        let pressed: Vec<Pressed> = keys.iter().map(|key| menu.press(key)).collect();
        assert_eq!(pressed.last(), Some(&expected));
    }

    #[test]
    fn shows_numbers_cursor_and_keys() {
        let style = Style {
            color: false,
            unicode: true,
            width: 80,
        };
        let menu = Menu {
            items: &ITEMS,
            cursor: 1,
            escape: "stops the run here",
        };
        assert_eq!(
            menu.lines(style),
            [
                "  1. Use AI judge",
                "❯ 2. I'll decide",
                "  3. Discard opinion",
                "  ↑↓ or 1-3, Enter; Esc stops the run here"
            ]
        );
        assert_eq!(
            menu.lines(Style {
                unicode: false,
                width: 16,
                ..style
            }),
            [
                "  1. Use AI ...",
                "> 2. I'll de...",
                "  3. Discard...",
                "  arrows or ..."
            ]
        );
    }

    #[test]
    fn a_long_line_of_text_shows_its_end() {
        assert_eq!(entry("Why?", "abc", 80), "Why? abc");
        assert_eq!(entry("Why?", "abcdefghijklmnop", 14), "Why? ijklmnop");
    }
}
