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
    /// How the terminal was set when the open dialog began.
    settings: Mutex<Option<settings::Settings>>,
}

impl Terminal {
    pub fn new(screen: Screen) -> Self {
        let live = MultiProgress::with_draw_target(target(&screen));
        Self { shared: Arc::new(Shared { screen, live, held: Mutex::new(None), settings: Mutex::new(None) }) }
    }

    pub fn screen(&self) -> Screen {
        self.shared.screen
    }

    pub(crate) fn live(&self) -> &MultiProgress {
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
    pub(crate) fn dialog<T>(&self, open: impl FnOnce(&Term) -> T) -> T {
        *self.held() = Some(Vec::new());
        *self.settings() = settings::now();
        // The target is taken away instead of suspended: a suspended one would block every other thread that draws.
        drop(self.shared.live.clear());
        self.shared.live.set_draw_target(ProgressDrawTarget::hidden());
        let _open = Open(self);
        open(&Term::stderr())
    }

    /// Sets the terminal so that keys come one by one and are not shown, until [`Self::restore`]; Ctrl-C stays the
    /// signal that it is.
    pub(crate) fn take_keys(&self) {
        let before = settings::now();
        if let Some(before) = &before {
            settings::one_by_one(before);
        }
        *self.settings() = before;
    }

    /// Leaves the terminal as an open dialog found it, from any thread: for a signal that ends the process while a
    /// person is asked. Nothing happens where no dialog is open.
    pub fn restore(&self) {
        if let Some(settings) = self.settings().take() {
            settings::restore(&settings);
            drop(Term::stderr().show_cursor());
        }
        let held = self.held().take();
        for line in held.into_iter().flatten() {
            stream::err(&format!("{line}\n"));
        }
    }

    fn settings(&self) -> MutexGuard<'_, Option<settings::Settings>> {
        self.shared.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self) -> MutexGuard<'_, Option<Vec<String>>> {
        self.shared.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open dialog; dropping it brings cursor, live lines and held-back lines back.
struct Open<'a>(&'a Terminal);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.restore();
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

/// The settings of the terminal that a dialog reads from.
mod settings {
    use std::io;

    use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};

    pub(crate) type Settings = Termios;

    /// `None` if stdin is no terminal.
    pub(crate) fn now() -> Option<Settings> {
        tcgetattr(io::stdin()).ok()
    }

    pub(crate) fn one_by_one(settings: &Settings) {
        let mut settings = settings.clone();
        settings.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO);
        restore(&settings);
    }

    pub(crate) fn restore(settings: &Settings) {
        // A terminal that is gone has no settings.
        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, settings);
    }
}
