//! Prompts of commands that execute no run. The caller must check that stdin and stderr are terminals. The
//! cursor is visible after every prompt, even after Esc and Ctrl-C.

use std::io;

use console::Term;
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{Confirm, MultiSelect, Select};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};

#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The user pressed Ctrl-C during the prompt. This error occurs only if a signal handler is installed.
    /// Without a signal handler, Ctrl-C ends the process.
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

/// Runs a prompt and then shows the cursor again. SIGINT is blocked until the cursor is visible, because the
/// terminal library raises SIGINT on Ctrl-C while the cursor is hidden.
fn answer<T>(
    color: bool,
    ask: impl FnOnce(&dyn Theme) -> dialoguer::Result<Option<T>>,
) -> Result<T, AskError> {
    let mut interrupt = SigSet::empty();
    interrupt.add(Signal::SIGINT);
    let before = interrupt.thread_swap_mask(SigmaskHow::SIG_BLOCK).ok();
    let theme: &dyn Theme = if color {
        &ColorfulTheme::default()
    } else {
        &SimpleTheme
    };
    let answer = ask(theme);
    // Errors are ignored: a closed terminal has no cursor, and setting a valid signal mask cannot fail.
    drop(Term::stderr().show_cursor());
    let _ = before.map(|before| before.thread_set_mask());
    match answer {
        Ok(answer) => answer.ok_or(AskError::Cancelled),
        Err(dialoguer::Error::IO(error)) if error.kind() == io::ErrorKind::Interrupted => {
            Err(AskError::Interrupted)
        }
        Err(dialoguer::Error::IO(error)) => Err(AskError::Terminal(error)),
    }
}
