//! Questions outside of a run. A caller checks first that there is a terminal.
//!
//! The cursor is visible after each question, whether it ends with an answer, Esc or Ctrl-C.

use std::io;

use console::Term;
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{Confirm, MultiSelect, Select};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Ctrl-C; without a handler of the signal, the process has ended before.
    #[error("interrupted")]
    Interrupted,
    #[error("nothing was chosen")]
    Cancelled,
    #[error("cannot ask on this terminal")]
    Terminal(#[source] io::Error),
}

/// Asks for one of `items`; `preselected` and the answer are indices into them.
pub fn select(color: bool, prompt: &str, items: &[String], preselected: usize) -> Result<usize, AskError> {
    answer(color, |theme| {
        Select::with_theme(theme).with_prompt(prompt).items(items).default(preselected).interact_opt()
    })
}

/// Asks for any number of `items`, each with whether it is preselected; the answer is their indices, in order.
pub fn multi_select(color: bool, prompt: &str, items: &[(String, bool)]) -> Result<Vec<usize>, AskError> {
    let items = items.iter().map(|(item, chosen)| (item, *chosen));
    answer(color, |theme| MultiSelect::with_theme(theme).with_prompt(prompt).items_checked(items).interact_opt())
}

/// Asks yes or no.
pub fn confirm(color: bool, prompt: &str, preselected: bool) -> Result<bool, AskError> {
    answer(color, |theme| Confirm::with_theme(theme).with_prompt(prompt).default(preselected).interact_opt())
}

/// Asks, and shows the cursor again however the question ends.
///
/// The terminal library turns Ctrl-C into SIGINT to its own thread while the cursor is hidden. The signal is blocked until
/// the cursor is visible, and then has its usual effect.
fn answer<T>(color: bool, ask: impl FnOnce(&dyn Theme) -> dialoguer::Result<Option<T>>) -> Result<T, AskError> {
    let mut interrupt = SigSet::empty();
    interrupt.add(Signal::SIGINT);
    let before = interrupt.thread_swap_mask(SigmaskHow::SIG_BLOCK).ok();
    let theme: &dyn Theme = if color { &ColorfulTheme::default() } else { &SimpleTheme };
    let answer = ask(theme);
    // A closed terminal has no cursor to show, and a mask that was in force is valid.
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
