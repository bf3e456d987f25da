//! The prompts of commands, and the forms of the dialogs of a run. The caller must check that stdin and stderr are
//! terminals. The cursor is visible after every prompt, even after Esc and Ctrl-C.

use std::{fmt, io};

use console::Term;
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{Confirm, Input, MultiSelect, Select};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};

use crate::cli::style::{self, Color, Glyph, Style};
use crate::cli::ui::terminal::Terminal;
use glee_protocol::text::printable;
use glee_workflows::run::ports::PersonAnswer;

/// The text that explains the effect of Esc in a prompt for a decision.
pub(crate) const LEAVES_OPEN: &str = "leaves it open";

#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The user pressed Ctrl-C during the prompt.
    #[error("interrupted")]
    Interrupted,
    #[error("no option was chosen")]
    Cancelled,
    #[error("failed to prompt on this terminal")]
    Terminal(#[source] io::Error),
}

/// `preselected` and the result are indices into `items`.
pub fn select(
    color: bool,
    prompt: &str,
    items: &[String],
    preselected: usize,
) -> Result<usize, AskError> {
    answer(color, |theme| {
        Select::with_theme(theme)
            .with_prompt(prompt)
            .items(items)
            .default(preselected)
            .interact_opt()
    })
}

/// An item is preselected if its flag is true. Returns the indices of the chosen items in ascending order.
pub fn multi_select(
    color: bool,
    prompt: &str,
    items: &[(String, bool)],
) -> Result<Vec<usize>, AskError> {
    let items = items.iter().map(|(item, chosen)| (item, *chosen));
    answer(color, |theme| {
        MultiSelect::with_theme(theme)
            .with_prompt(prompt)
            .items_checked(items)
            .interact_opt()
    })
}

pub fn confirm(color: bool, prompt: &str, preselected: bool) -> Result<bool, AskError> {
    answer(color, |theme| {
        Confirm::with_theme(theme)
            .with_prompt(prompt)
            .default(preselected)
            .interact_opt()
    })
}

fn answer<T>(
    color: bool,
    ask: impl FnOnce(&dyn Theme) -> dialoguer::Result<Option<T>>,
) -> Result<T, AskError> {
    let theme: &dyn Theme = if color {
        &ColorfulTheme::default()
    } else {
        &SimpleTheme
    };
    asked(|| ask(theme))?.ok_or(AskError::Cancelled)
}

/// Runs a prompt and then shows the cursor again. The terminal library raises SIGINT on Ctrl-C while the cursor is
/// hidden. Here, Ctrl-C is an answer, so SIGINT is blocked during the prompt, and the raised signal is taken away.
fn asked<T>(ask: impl FnOnce() -> dialoguer::Result<T>) -> Result<T, AskError> {
    let mut interrupt = SigSet::empty();
    interrupt.add(Signal::SIGINT);
    let before = interrupt.thread_swap_mask(SigmaskHow::SIG_BLOCK).ok();
    let answer = ask().map_err(|dialoguer::Error::IO(error)| match error.kind() {
        io::ErrorKind::Interrupted => AskError::Interrupted,
        _ => AskError::Terminal(error),
    });
    // Errors are ignored: a closed terminal has no cursor, and the calls on a valid signal mask cannot fail.
    drop(Term::stderr().show_cursor());
    if let Some(before) = before {
        if matches!(answer, Err(AskError::Interrupted)) {
            let _ = interrupt.wait();
        }
        let _ = before.thread_set_mask();
    }
    answer
}

/// An open dialog of a run.
pub(crate) struct DialogForm<'a> {
    term: &'a Term,
    terminal: &'a Terminal,
}

/// Prints `sheet` in place of the live display, and asks below it.
pub(crate) fn open<T>(
    terminal: &Terminal,
    sheet: &str,
    ask: impl FnOnce(&DialogForm<'_>) -> Result<T, AskError>,
) -> Result<T, AskError> {
    terminal.dialog(|term| {
        term.write_str(sheet).map_err(AskError::Terminal)?;
        ask(&DialogForm { term, terminal })
    })
}

impl DialogForm<'_> {
    /// The style is computed each time, because the user can resize the terminal while a dialog is open.
    fn style(&self) -> Style {
        self.terminal.screen().style()
    }

    pub(crate) fn print(&self, color: Color, text: &str) -> Result<(), AskError> {
        let style = self.style();
        style::wrap(text, style.width.saturating_sub(1))
            .iter()
            .try_for_each(|line| self.term.write_line(&style.paint(color, line)))
            .map_err(AskError::Terminal)
    }

    /// Asks the user to choose one of `items`, and shows the choice. The items must already be escaped. Returns
    /// the index of the chosen item, or `None` on Esc. `escape` explains the effect of Esc.
    pub(crate) fn choose(
        &self,
        items: &[impl AsRef<str>],
        cursor: usize,
        escape: &'static str,
    ) -> Result<Option<usize>, AskError> {
        let style = self.style();
        let arrows = if style.unicode { "↑↓" } else { "arrows" };
        self.print(Color::Faint, &format!("{arrows}, Enter; Esc {escape}"))?;
        // The library counts the rows of an item by its length, so a longer item would be cleared wrongly.
        let room = style.width.saturating_sub(3);
        let numbered = items.iter().zip(1..);
        let items: Vec<String> = numbered
            .map(|(item, number)| style.cut(&format!("{number}. {}", item.as_ref()), room))
            .collect();
        let theme = FormTheme(style);
        let choice = asked(|| {
            Select::with_theme(&theme)
                .items(&items)
                .default(cursor)
                .interact_on_opt(self.term)
        })?;
        if let Some(index) = choice {
            self.print(
                Color::Plain,
                &format!("{} {}", style.mark(Glyph::Done), items[index]),
            )?;
        }
        Ok(choice)
    }

    /// Asks for a line of text and trims the text.
    pub(crate) fn line(&self, prompt: &str) -> Result<String, AskError> {
        let theme = FormTheme(self.style());
        let text: String = asked(|| {
            Input::with_theme(&theme)
                .with_prompt(prompt)
                .allow_empty(true)
                .interact_text_on(self.term)
        })?;
        let safe: String = text.chars().filter(|c| !printable::is_unsafe(*c)).collect();
        Ok(safe.trim().to_owned())
    }

    /// Asks the user why they chose `answer`. If `answer` is `None`, the question is not answered.
    pub(crate) fn with_reason<T>(&self, answer: Option<T>) -> Result<PersonAnswer<T>, AskError> {
        let Some(answer) = answer else {
            self.print(Color::Faint, "left open")?;
            return Ok(PersonAnswer::LeftOpen);
        };
        let reason = self.line("Reason (optional):")?;
        Ok(PersonAnswer::Given((answer, reason)))
    }
}

struct FormTheme(Style);

impl Theme for FormTheme {
    fn format_select_prompt_item(
        &self,
        f: &mut dyn fmt::Write,
        text: &str,
        active: bool,
    ) -> fmt::Result {
        let Self(style) = self;
        if active {
            let line = format!("{} {text}", style.glyph(Glyph::Pointer));
            f.write_str(&style.paint(Color::Key, &line))
        } else {
            write!(f, "  {text}")
        }
    }

    fn format_input_prompt(
        &self,
        f: &mut dyn fmt::Write,
        prompt: &str,
        _default: Option<&str>,
    ) -> fmt::Result {
        write!(f, "{} ", self.0.strong(prompt))
    }

    fn format_input_prompt_selection(
        &self,
        f: &mut dyn fmt::Write,
        prompt: &str,
        text: &str,
    ) -> fmt::Result {
        write!(f, "{} {}", self.0.strong(prompt), printable::line(text))
    }
}
