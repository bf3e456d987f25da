//! The terminal of stderr, which the live display and the dialogs share. While a dialog is open, live lines are
//! removed. Lines that code prints during a dialog are queued, so this code never waits for the user.

use std::fmt;
use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use console::Term;
use indicatif::{MultiProgress, ProgressDrawTarget};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{getpgrp, read, tcgetpgrp};

use super::screen::{Screen, Verbosity};
use super::stream;

/// The interval at which keys are read during a run.
const KEYS_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Clone)]
pub struct Terminal {
    shared: Arc<Shared>,
}

struct Shared {
    screen: Screen,
    live: MultiProgress,
    saved: Mutex<Saved>,
    /// Whether a background thread reads single keys during the run.
    listens: AtomicBool,
    /// Protects the terminal input. An open dialog holds this lock.
    reading: Mutex<()>,
}

#[derive(Default)]
struct Saved {
    lines: Option<Vec<String>>,
    settings: Option<Termios>,
}

impl Terminal {
    pub fn new(screen: Screen) -> Self {
        let live = MultiProgress::with_draw_target(target(&screen));
        let (saved, listens, reading) = Default::default();
        Self {
            shared: Arc::new(Shared {
                screen,
                live,
                saved,
                listens,
                reading,
            }),
        }
    }

    pub fn screen(&self) -> Screen {
        self.shared.screen
    }

    pub(crate) fn live(&self) -> &MultiProgress {
        &self.shared.live
    }

    /// Prints a line above the live lines. The caller must escape the line first. With `--quiet`, nothing is
    /// printed.
    pub fn line(&self, line: &str) {
        if self.shared.screen.verbosity == Verbosity::Quiet {
            return;
        }
        match &mut self.saved().lines {
            Some(lines) => lines.push(line.to_owned()),
            None => self
                .shared
                .live
                .suspend(|| stream::err(format!("{line}\n"))),
        }
    }

    /// Sends a control sequence that prints nothing.
    pub(crate) fn control(&self, sequence: &str) {
        if self.shared.screen.terminal {
            self.shared.live.suspend(|| stream::err(sequence));
        }
    }

    /// Runs a dialog with exclusive use of the terminal.
    pub(crate) fn dialog<T>(&self, open: impl FnOnce(&Term) -> T) -> T {
        let _reading = held(&self.shared.reading);
        {
            let mut saved = self.saved();
            saved.lines = Some(Vec::new());
            if let Some(settings) = saved
                .settings
                .as_ref()
                .filter(|_| self.shared.listens.load(Ordering::Relaxed))
            {
                let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, settings);
            }
            saved.settings = saved
                .settings
                .take()
                .or_else(|| tcgetattr(io::stdin()).ok());
        }
        // The draw target is hidden instead of suspended, because `suspend` would block all other threads that
        // draw.
        drop(self.shared.live.clear());
        self.shared
            .live
            .set_draw_target(ProgressDrawTarget::hidden());
        let _open = Open(self);
        open(&Term::stderr())
    }

    /// Keeps the terminal from showing Ctrl-C as `^C` until [`Self::restore`] is called. If the terminal printed
    /// `^C` after the live lines, a line could wrap, and Glee could not erase all live lines.
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

    /// Lets the program read single keys without echo until [`Self::restore`] is called. Ctrl-C is not read as a
    /// key, and still causes SIGINT.
    pub(crate) fn take_keys(&self) {
        // A process in the background does not change the settings of the terminal, because the change would
        // suspend the process.
        let settings = tcgetattr(io::stdin()).ok().filter(|_| is_foreground());
        if let Some(mut unbuffered) = settings.clone() {
            unbuffered
                .local_flags
                .remove(LocalFlags::ICANON | LocalFlags::ECHO);
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &unbuffered);
        }
        let mut saved = self.saved();
        saved.settings = saved.settings.take().or(settings);
    }

    /// Calls `press` for each key that the user presses, until [`Self::restore`] is called. Keys that the user
    /// presses in a dialog are not passed to `press`. Returns false if Glee cannot read single keys here.
    pub(crate) fn listen(&self, mut press: impl FnMut(char) + Send + 'static) -> bool {
        if !self.shared.screen.is_live() || !io::stdin().is_terminal() || !is_foreground() {
            return false;
        }
        self.take_keys();
        self.shared.listens.store(true, Ordering::Relaxed);
        let terminal = self.clone();
        let thread = thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || {
                while let Some(keys) = terminal.keys() {
                    // A single character is a pressed key. Input of several characters comes from a special key or
                    // from pasted text, and is ignored.
                    let mut keys = keys.trim_end_matches(['\r', '\n']).chars();
                    if let (Some(key), None) = (keys.next(), keys.next()) {
                        press(key);
                    }
                }
            });
        thread.is_ok()
    }

    /// Waits for [`KEYS_INTERVAL`], and returns the keys that the user has pressed. Returns `None` if Glee no
    /// longer reads keys.
    fn keys(&self) -> Option<String> {
        thread::sleep(KEYS_INTERVAL);
        let _reading = held(&self.shared.reading);
        if !self.shared.listens.load(Ordering::Relaxed) {
            return None;
        }
        let stdin = io::stdin();
        let mut files = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
        // Only a foreground process reads from the terminal, because the terminal would suspend a background
        // process that reads.
        if !is_foreground() || !poll(&mut files, PollTimeout::ZERO).is_ok_and(|ready| ready > 0) {
            return Some(String::new());
        }
        let mut bytes = [0; 64];
        match read(&stdin, &mut bytes) {
            Ok(0) | Err(_) => None,
            Ok(count) => Some(String::from_utf8_lossy(&bytes[..count]).into_owned()),
        }
    }

    /// Restores the original terminal settings, and prints the queued lines. Afterwards, Glee reads no more
    /// keys. Any thread can call this method, for example when a signal ends the process.
    pub fn restore(&self) {
        self.shared.listens.store(false, Ordering::Relaxed);
        let Saved { lines, settings } = std::mem::take(&mut *self.saved());
        // A process in the background does not change the settings of the terminal, because the change would
        // suspend the process.
        if let Some(settings) = settings.filter(|_| is_foreground()) {
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &settings);
            drop(Term::stderr().show_cursor());
        }
        for line in lines.into_iter().flatten() {
            stream::err(format!("{line}\n"));
        }
    }

    /// Erases the live lines permanently, shortly before the process ends.
    pub fn erase(&self) {
        drop(self.shared.live.clear());
        self.shared
            .live
            .set_draw_target(ProgressDrawTarget::hidden());
    }

    fn saved(&self) -> MutexGuard<'_, Saved> {
        held(&self.shared.saved)
    }
}

/// An open dialog. When the dialog is dropped, the terminal settings and the live lines are restored, and the
/// queued lines are printed.
struct Open<'a>(&'a Terminal);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let listens = self.0.shared.listens.load(Ordering::Relaxed);
        self.0.restore();
        if listens {
            self.0.take_keys();
            self.0.shared.listens.store(true, Ordering::Relaxed);
        }
        self.0
            .shared
            .live
            .set_draw_target(target(&self.0.shared.screen));
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal")
            .field("screen", &self.shared.screen)
            .finish_non_exhaustive()
    }
}

fn is_foreground() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp())
}

fn target(screen: &Screen) -> ProgressDrawTarget {
    if screen.is_live() {
        ProgressDrawTarget::stderr_with_hz(12)
    } else {
        ProgressDrawTarget::hidden()
    }
}

/// Locks a mutex, even if a thread panicked while it held the mutex.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
