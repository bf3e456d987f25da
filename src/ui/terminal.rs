//! The terminal behind stderr, shared by the live display and the dialogs.
//!
//! Only one of them draws at a time: while a dialog is open the live lines are gone and other lines are held back;
//! nobody who reports something has to wait for the person at the dialog.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use console::Term;
use indicatif::{MultiProgress, ProgressDrawTarget};

use super::screen::{Screen, Verbosity};
use super::stream;

/// The shared terminal. Clones are the same terminal.
#[derive(Clone)]
pub struct Terminal {
    shared: Arc<Shared>,
}

struct Shared {
    screen: Screen,
    live: MultiProgress,
    /// The lines held back while a dialog is open.
    held: Mutex<Option<Vec<String>>>,
}

impl Terminal {
    /// The terminal of a screen.
    pub fn new(screen: Screen) -> Self {
        let live = MultiProgress::with_draw_target(target(&screen));
        Self { shared: Arc::new(Shared { screen, live, held: Mutex::new(None) }) }
    }

    /// What it can show.
    pub fn screen(&self) -> Screen {
        self.shared.screen
    }

    /// The place of the live lines.
    pub(super) fn live(&self) -> &MultiProgress {
        &self.shared.live
    }

    /// Prints a permanent line above the live ones; nothing with `--quiet`. `line` must be printable already.
    pub fn line(&self, line: &str) {
        if self.shared.screen.verbosity == Verbosity::Quiet {
            return;
        }
        match &mut *self.held() {
            Some(held) => held.push(line.to_owned()),
            None => self.shared.live.suspend(|| stream::err(&format!("{line}\n"))),
        }
    }

    /// Gives the whole terminal to a dialog for as long as it is open.
    pub(super) fn dialog<T>(&self, open: impl FnOnce(&Term) -> T) -> T {
        *self.held() = Some(Vec::new());
        // The target is taken away instead of suspended: a suspended one would block every other thread that draws.
        drop(self.shared.live.clear());
        self.shared.live.set_draw_target(ProgressDrawTarget::hidden());
        let _open = Open(self);
        open(&Term::stderr())
    }

    fn held(&self) -> MutexGuard<'_, Option<Vec<String>>> {
        self.shared.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open dialog; dropping it brings cursor, live lines and held-back lines back.
struct Open<'a>(&'a Terminal);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        drop(Term::stderr().show_cursor());
        let held = self.0.held().take();
        for line in held.into_iter().flatten() {
            stream::err(&format!("{line}\n"));
        }
        self.0.shared.live.set_draw_target(target(&self.0.shared.screen));
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("screen", &self.shared.screen).finish_non_exhaustive()
    }
}

fn target(screen: &Screen) -> ProgressDrawTarget {
    if screen.terminal && screen.verbosity != Verbosity::Quiet {
        ProgressDrawTarget::stderr_with_hz(12)
    } else {
        ProgressDrawTarget::hidden()
    }
}
