//! The terminal of stderr, which the live display and the dialogs share. While a dialog is open, live lines are
//! removed and other lines are queued, so that code that prints lines never waits for the user.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use console::Term;
use indicatif::{MultiProgress, ProgressDrawTarget};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{getpgrp, tcgetpgrp};

use super::screen::{Screen, Verbosity};
use super::stream;

#[derive(Clone)]
pub struct Terminal {
    shared: Arc<Shared>,
}

struct Shared {
    screen: Screen,
    live: MultiProgress,
    saved: Mutex<Saved>,
}

#[derive(Default)]
struct Saved {
    lines: Option<Vec<String>>,
    settings: Option<Termios>,
}

impl Terminal {
    pub fn new(screen: Screen) -> Self {
        let live = MultiProgress::with_draw_target(target(&screen));
        Self { shared: Arc::new(Shared { screen, live, saved: Mutex::default() }) }
    }

    pub fn screen(&self) -> Screen {
        self.shared.screen
    }

    pub(crate) fn live(&self) -> &MultiProgress {
        &self.shared.live
    }

    /// Prints a line above the live lines. The line must already be escaped. With `--quiet`, nothing is printed.
    pub fn line(&self, line: &str) {
        if self.shared.screen.verbosity == Verbosity::Quiet {
            return;
        }
        match &mut self.saved().lines {
            Some(lines) => lines.push(line.to_owned()),
            None => self.shared.live.suspend(|| stream::err(&format!("{line}\n"))),
        }
    }

    /// Runs a dialog with exclusive use of the terminal.
    pub(crate) fn dialog<T>(&self, open: impl FnOnce(&Term) -> T) -> T {
        {
            let mut saved = self.saved();
            saved.lines = Some(Vec::new());
            saved.settings = saved.settings.take().or_else(|| tcgetattr(io::stdin()).ok());
        }
        // The draw target is hidden instead of suspended, because `suspend` would block all other threads that
        // draw.
        drop(self.shared.live.clear());
        self.shared.live.set_draw_target(ProgressDrawTarget::hidden());
        let _open = Open(self);
        open(&Term::stderr())
    }

    /// Keeps the terminal from showing Ctrl-C as `^C` until [`Self::restore`] is called. The cursor is at the end
    /// of the live lines, so `^C` could wrap, and the lines could not be erased completely.
    pub(crate) fn hide_interrupt(&self) {
        if !self.shared.screen.is_live() || !is_foreground() {
            return;
        }
        let settings = tcgetattr(io::stdin()).ok();
        if let Some(mut silent) = settings.clone() {
            silent.local_flags.remove(LocalFlags::ECHOCTL);
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &silent);
        }
        self.saved().settings = settings;
    }

    /// Lets the program read single keys without echo until [`Self::restore`] is called. Ctrl-C still raises a
    /// signal.
    pub(crate) fn take_keys(&self) {
        let settings = tcgetattr(io::stdin()).ok();
        if let Some(mut unbuffered) = settings.clone() {
            unbuffered.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO);
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &unbuffered);
        }
        let mut saved = self.saved();
        saved.settings = saved.settings.take().or(settings);
    }

    /// Restores the terminal settings as they were before the dialog or before `take_keys`, and prints the queued
    /// lines. Any thread can call this method, for example when a signal ends the process.
    pub fn restore(&self) {
        let Saved { lines, settings } = std::mem::take(&mut *self.saved());
        // A process in the background does not change the settings, because the change would suspend the process.
        if let Some(settings) = settings.filter(|_| is_foreground()) {
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &settings);
            drop(Term::stderr().show_cursor());
        }
        for line in lines.into_iter().flatten() {
            stream::err(&format!("{line}\n"));
        }
    }

    /// Erases the live lines permanently, shortly before the process ends.
    pub fn erase(&self) {
        drop(self.shared.live.clear());
        self.shared.live.set_draw_target(ProgressDrawTarget::hidden());
    }

    fn saved(&self) -> MutexGuard<'_, Saved> {
        self.shared.saved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open dialog. When the dialog is dropped, the terminal settings and the live lines are restored, and the
/// queued lines are printed.
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

fn is_foreground() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp())
}

fn target(screen: &Screen) -> ProgressDrawTarget {
    if screen.is_live() { ProgressDrawTarget::stderr_with_hz(12) } else { ProgressDrawTarget::hidden() }
}
