//! Prompts outside of runs. The caller checks first that there is a terminal. The cursor is visible after every
//! prompt, also after Esc and Ctrl-C.

use std::io;

use console::Term;
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{Confirm, MultiSelect, Select};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};

#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Ctrl-C; without a signal handler the process ends instead.
    #[error("interrupted")]
    Interrupted,
    #[error("nothing was chosen")]
    Cancelled,
    #[error("failed to prompt on this terminal")]
    Terminal(#[source] io::Error),
}

/// Asks for one of `items`; `preselected` and the result are indices.
pub fn select(color: bool, prompt: &str, items: &[String], preselected: usize) -> Result<usize, AskError> {
    answer(color, |theme| {
        Select::with_theme(theme).with_prompt(prompt).items(items).default(preselected).interact_opt()
    })
}

/// Asks for any number of `items`, each with its preselection; returns their indices in order.
pub fn multi_select(color: bool, prompt: &str, items: &[(String, bool)]) -> Result<Vec<usize>, AskError> {
    let items = items.iter().map(|(item, chosen)| (item, *chosen));
    answer(color, |theme| MultiSelect::with_theme(theme).with_prompt(prompt).items_checked(items).interact_opt())
}

pub fn confirm(color: bool, prompt: &str, preselected: bool) -> Result<bool, AskError> {
    answer(color, |theme| Confirm::with_theme(theme).with_prompt(prompt).default(preselected).interact_opt())
}

/// Runs a prompt and then shows the cursor. The terminal library turns Ctrl-C into a SIGINT to its own thread while
/// the cursor is hidden; the signal is blocked until the cursor is visible, and then has its usual effect.
fn answer<T>(color: bool, ask: impl FnOnce(&dyn Theme) -> dialoguer::Result<Option<T>>) -> Result<T, AskError> {
    let mut interrupt = SigSet::empty();
    interrupt.add(Signal::SIGINT);
    let before = interrupt.thread_swap_mask(SigmaskHow::SIG_BLOCK).ok();
    let theme: &dyn Theme = if color { &ColorfulTheme::default() } else { &SimpleTheme };
    let answer = ask(theme);
    // Ignores errors: a closed terminal has no cursor to show, and restoring a valid mask cannot fail.
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
