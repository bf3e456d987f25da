//! Questions to the person at the terminal.
//!
//! Whatever ends a question (an answer, Esc, Ctrl-C), the cursor is visible again afterwards. Callers decide whether
//! there is anybody to ask; nothing here looks at the terminal first.

use std::io;

use console::Term;
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{Confirm, MultiSelect, Select};

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Ctrl-C. Outside a runtime that handles the signal, the process has ended before this is seen.
    #[error("interrupted")]
    Interrupted,
    #[error("nothing was chosen")]
    Cancelled,
    /// There is no terminal, or it went away.
    #[error("cannot ask on this terminal")]
    Terminal(#[source] io::Error),
}

/// Asks for one of `items`; `preselected` is an index into them, and so is the answer.
pub fn select(color: bool, prompt: &str, items: &[String], preselected: usize) -> Result<usize, AskError> {
    answer(|| {
        Select::with_theme(theme(color).as_ref())
            .with_prompt(prompt)
            .items(items)
            .default(preselected)
            .interact_opt()
    })?
    .ok_or(AskError::Cancelled)
}

/// Asks for any number of `items`, each with whether it is chosen at first; the answer is their indices, in order.
pub fn multi_select(color: bool, prompt: &str, items: &[(String, bool)]) -> Result<Vec<usize>, AskError> {
    answer(|| {
        MultiSelect::with_theme(theme(color).as_ref())
            .with_prompt(prompt)
            .items_checked(items.iter().map(|(item, chosen)| (item, *chosen)))
            .interact_opt()
    })?
    .ok_or(AskError::Cancelled)
}

/// Asks yes or no.
pub fn confirm(color: bool, prompt: &str, preselected: bool) -> Result<bool, AskError> {
    answer(|| Confirm::with_theme(theme(color).as_ref()).with_prompt(prompt).default(preselected).interact_opt())?
        .ok_or(AskError::Cancelled)
}

fn theme(color: bool) -> Box<dyn Theme> {
    if color { Box::new(ColorfulTheme::default()) } else { Box::new(SimpleTheme) }
}

/// Asks, and shows the cursor again however it ended.
fn answer<T>(ask: impl FnOnce() -> dialoguer::Result<T>) -> Result<T, AskError> {
    let _held = interrupt::hold();
    let answer = ask();
    // A terminal that is gone has no cursor to show.
    drop(Term::stderr().show_cursor());
    answer.map_err(|dialoguer::Error::IO(error)| match error.kind() {
        io::ErrorKind::Interrupted => AskError::Interrupted,
        _ => AskError::Terminal(error),
    })
}

/// The terminal library turns Ctrl-C into SIGINT to its own thread while the cursor is still hidden. Held back until
/// the cursor is shown, the signal then does what it always does: end the process, or reach whoever handles it.
mod interrupt {
    use nix::sys::signal::{SigSet, SigmaskHow, Signal};

    /// Holds SIGINT back on this thread while it lives.
    pub(crate) struct Held(Option<SigSet>);

    pub(crate) fn hold() -> Held {
        let mut interrupt = SigSet::empty();
        interrupt.add(Signal::SIGINT);
        Held(interrupt.thread_swap_mask(SigmaskHow::SIG_BLOCK).ok())
    }

    impl Drop for Held {
        fn drop(&mut self) {
            if let Some(before) = &self.0 {
                // A mask that was in force before is valid.
                let _ = before.thread_set_mask();
            }
        }
    }
}
