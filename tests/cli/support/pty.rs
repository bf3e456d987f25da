//! Glee in a pseudo-terminal.

use std::fmt::Debug;
use std::mem;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use expectrl::process::unix::Signal;
use expectrl::process::unix::WaitStatus;
use expectrl::session::OsSession;
use expectrl::{Eof, Expect as _, Needle, Session};
use nix::sys::termios::{LocalFlags, tcgetattr};

use crate::support::Sandbox;

/// The longest time until what is expected is shown.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// A pseudo-terminal that runs Glee, and all of its output.
pub(crate) struct Pty {
    session: OsSession,
    shown: String,
}

impl Pty {
    pub(crate) fn open(sandbox: &Sandbox, args: &[&str]) -> Self {
        Self::spawn(sandbox.command(args))
    }

    pub(crate) fn spawn(command: Command) -> Self {
        Self {
            session: Session::spawn(command).expect("a pseudo-terminal"),
            shown: String::new(),
        }
    }

    /// Starts Glee in a terminal of this size.
    pub(crate) fn sized(command: &Command, columns: u16, rows: u16) -> Self {
        // The size is set after the start of the shell, which waits for it.
        let wait = format!(
            "until [ \"$(stty size)\" = '{rows} {columns}' ]; do sleep 0.01; done; exec \"$0\" \"$@\""
        );
        let mut shell = Command::new("sh");
        let variables = command.get_envs();
        shell
            .args(["-c", &wait])
            .arg(command.get_program())
            .args(command.get_args())
            .env_clear()
            .envs(variables.filter_map(|(name, value)| Some((name, value?))))
            .current_dir(command.get_current_dir().expect("the sandbox's folder"));
        let mut pty = Self::spawn(shell);
        pty.resize(columns, rows);
        pty
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        let process = self.session.get_process_mut();
        process
            .set_window_size(columns, rows)
            .expect("a size of the terminal");
    }

    pub(crate) fn expect(&mut self, what: &str) -> &mut Self {
        self.until(what);
        self
    }

    /// Waits until this is shown. expectrl's own loop would take a whole processor from Glee.
    fn until(&mut self, needle: impl Needle + Debug) {
        let begun = Instant::now();
        loop {
            match self.session.check(&needle) {
                Ok(found) if found.is_empty() && begun.elapsed() < PATIENCE => thread::sleep(PAUSE),
                Ok(found) if !found.is_empty() => {
                    let shown = String::from_utf8_lossy(found.as_bytes());
                    self.shown.push_str(&shown);
                    return;
                }
                found => panic!("no {needle:?} ({found:?}) after:\n{}", self.shown),
            }
        }
    }

    pub(crate) fn send(&mut self, keys: &str) -> &mut Self {
        self.session.send(keys).expect("the terminal accepts keys");
        self
    }

    pub(crate) fn terminate(&mut self) {
        let process = self.session.get_process_mut();
        process.signal(Signal::SIGTERM).expect("Glee is there");
    }

    fn is_raw(&self) -> bool {
        let handle = self
            .session
            .get_process()
            .get_raw_handle()
            .expect("a handle of the terminal");
        !tcgetattr(&handle)
            .expect("the terminal has settings")
            .local_flags
            .contains(LocalFlags::ICANON)
    }

    /// Waits until Glee reads single keys, so that Ctrl-C is delivered as a key.
    pub(crate) fn until_it_reads(&mut self) -> &mut Self {
        let begun = Instant::now();
        while !self.is_raw() {
            assert!(
                begun.elapsed() < PATIENCE,
                "nobody reads keys:\n{}",
                self.shown
            );
            thread::sleep(PAUSE);
        }
        self
    }

    /// Moves the selection down by `rows` and takes the item there, once the menu reads keys.
    pub(crate) fn pick(&mut self, rows: usize) -> &mut Self {
        self.until_it_reads()
            .send(&format!("{}\r", "\x1b[B".repeat(rows)))
    }

    /// The exit code, or the negative number of the signal that ended Glee, and all output; checks that the terminal is restored.
    pub(crate) fn end(&mut self) -> (i32, String) {
        let (code, shown) = self.end_raw();
        (code, console::strip_ansi_codes(&shown).into_owned())
    }

    /// The exit code and all output with its control sequences.
    pub(crate) fn end_raw(&mut self) -> (i32, String) {
        self.until(Eof);
        assert!(!self.is_raw(), "the terminal is left in another mode");
        assert!(
            self.shown.rfind("\x1b[?25h") >= self.shown.rfind("\x1b[?25l"),
            "the cursor is left hidden"
        );
        let code = match self.session.get_process().wait().expect("Glee has ended") {
            WaitStatus::Exited(_, code) => code,
            WaitStatus::Signaled(_, signal, _) => -(signal as i32),
            other => panic!("{other:?}"),
        };
        (code, mem::take(&mut self.shown))
    }
}
