//! Tests the dialog and the live display in a real pseudo-terminal. Each test starts the test binary again inside
//! the pseudo-terminal. In the pseudo-terminal, the test binary runs only the test [`inside`]. This test opens the
//! dialog of one test case, and prints the result of the dialog.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use expectrl::session::OsSession;
use expectrl::{Eof, Expect as _, Session};
use nix::sys::termios::{LocalFlags, tcgetattr};

use super::screen::{Screen, Verbosity};
use super::stream;
use super::terminal::Terminal;
use crate::cli::style::fixture::{call, dispute, event, finding, started};
use crate::cli::ui::dialogs::dispute::Dialog;
use crate::cli::ui::live::progress::LiveProgress;
use glee_model::domain::event::{EventKind, Purpose, RunEvent};
use glee_model::domain::{Role, Route, Tag};
use glee_workflows::run::ports::{DisputeResolver as _, EventSink as _, PersonQuestion};
use glee_workspace::code::anchors::Excerpt;

const CASE: &str = "GLEE_PTY_CASE";

fn question(judge: Option<&str>, default: Route, waiting: usize) -> PersonQuestion {
    let text = "def tag(x):\n    return hashlib.md5(x)\n";
    PersonQuestion {
        dispute: dispute(
            7,
            finding(1, Tag::High, "tag.py:2", "MD5 is broken"),
            "It is no secret.",
            &["tests/tag.py:3"],
        ),
        excerpt: Some(Excerpt {
            file: "tag.py".to_owned(),
            first_line: 1,
            text: text.to_owned(),
            lines: (2, 2),
        }),
        judge: judge.map(str::to_owned),
        default,
        configured: default,
        cited: Vec::new(),
        can_answer: false,
        waiting,
    }
}

#[test]
#[ignore = "runs inside the pseudo-terminal of the other tests"]
fn inside() {
    let Ok(case) = std::env::var(CASE) else {
        return;
    };
    let before = tcgetattr(io::stdin()).unwrap();
    let terminal = Terminal::new(Screen::stderr(true, Verbosity::Normal));
    let mut dialog = Dialog::new(&terminal);
    let asked = match case.as_str() {
        "alone" => question(None, Route::Judge, 0),
        "many" => question(Some("referee"), Route::Judge, 2),
        _ => question(Some("referee"), Route::Judge, 0),
    };
    let result = match case.as_str() {
        "rule" => format!("{:?}", dialog.rule(&asked)),
        "live" => {
            let mut progress = LiveProgress::new(&terminal);
            let review = call("rules", Purpose::Review { round: 1, shard: 0 });
            let start = EventKind::Run(RunEvent::CallStarted {
                call: review.clone(),
                role: Role::Reviewer,
                prompt_bytes: 1,
                nonce: String::new(),
            });
            progress.event(&event(1, started()));
            progress.event(&event(2, start));
            progress.activity(&review, "looking at \x1b[2J tag.py");
            stream::out("WORKING\n").unwrap();
            let ready = terminal.live().clone();
            let other = std::thread::spawn(move || {
                while !ready.is_hidden() {
                    std::thread::yield_now();
                }
                progress.event(&event(3, EventKind::notice("reported meanwhile")));
                stream::out("EMITTED\n").unwrap();
                progress
            });
            let choice = dialog.choose(&asked);
            drop(other.join().unwrap());
            format!("{choice:?}")
        }
        _ => format!("{:?}", dialog.choose(&asked)),
    };
    let same = tcgetattr(io::stdin()).unwrap() == before;
    stream::out(format!("RESULT {result} SETTINGS {same}\n")).unwrap();
}

struct Pty {
    session: OsSession,
    shown: String,
}

impl Pty {
    fn open(case: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args([
                "--exact",
                "cli::ui::pty_tests::inside",
                "--ignored",
                "--nocapture",
            ])
            .env(CASE, case)
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .env_remove("LC_ALL")
            .env_remove("LC_CTYPE");
        let mut session = Session::spawn(command).unwrap();
        session.set_expect_timeout(Some(Duration::from_secs(60)));
        Self {
            session,
            shown: String::new(),
        }
    }

    fn expect(&mut self, what: &str) -> &mut Self {
        match self.session.expect(what) {
            Ok(found) => self
                .shown
                .push_str(&String::from_utf8_lossy(found.as_bytes())),
            Err(error) => panic!("no `{what}` after:\n{}\n{error}", self.shown),
        }
        self
    }

    fn send(&mut self, keys: &str) -> &mut Self {
        self.session.send(keys).unwrap();
        self
    }

    /// Waits until the program has switched the terminal to raw mode. In raw mode, Ctrl-C is a key and causes no
    /// signal.
    fn until_it_reads(&mut self) -> &mut Self {
        let begun = Instant::now();
        let handle = self.session.get_process().get_raw_handle().unwrap();
        while tcgetattr(&handle)
            .unwrap()
            .local_flags
            .contains(LocalFlags::ICANON)
        {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "no key is read:\n{}",
                self.shown
            );
            std::thread::yield_now();
        }
        self
    }

    /// Moves the selection down by `rows` and takes the item there, once the menu reads keys.
    fn pick(&mut self, rows: usize) -> &mut Self {
        self.until_it_reads()
            .send(&format!("{}\r", "\x1b[B".repeat(rows)))
    }

    fn result(mut self) -> (String, bool) {
        self.expect("RESULT ");
        let rest = self.session.expect(Eof).unwrap();
        let rest = String::from_utf8_lossy(rest.as_bytes()).into_owned();
        let (result, settings) = rest
            .lines()
            .next()
            .unwrap()
            .split_once(" SETTINGS ")
            .unwrap();
        let shown = self.shown.rfind("\x1b[?25h");
        let cursor = shown >= self.shown.rfind("\x1b[?25l");
        (result.to_owned(), cursor && settings.trim() == "true")
    }
}

fn chosen(route: &str, for_all: bool) -> (String, bool) {
    (
        format!("Some(Choice {{ route: {route}, by_person: true, for_all: {for_all} }})"),
        true,
    )
}

#[test]
fn with_a_judge_three_ways_and_the_default_preselected() {
    let mut pty = Pty::open("judge");
    pty.expect("Dispute 7")
        .expect("MD5 is broken")
        .expect("hashlib.md5(x)")
        .expect("^^^");
    pty.expect("It is no secret.")
        .expect("tests/tag.py:3")
        .expect("How to resolve?");
    pty.expect("Esc stops the run here")
        .expect("❯ 1. Use AI judge")
        .expect("  2. I'll decide")
        .expect("  3. Discard opinion");
    pty.pick(0);
    assert_eq!(pty.result(), chosen("Judge", false));
}

#[test]
fn without_a_judge_two_ways_and_a_tip() {
    let mut pty = Pty::open("alone");
    pty.expect("How to resolve?");
    pty.expect("\x1b[33mTip: You can assign a judge with: glee connect <agent> --role judge");
    pty.expect("Esc")
        .expect("❯ 1. I'll decide")
        .expect("  2. Discard opinion");
    assert!(!pty.shown.contains("Use AI judge"));
    pty.pick(0);
    assert_eq!(pty.result(), chosen("Human", false));
}

#[test]
fn arrows_choose_and_wrap_around() {
    let mut down = Pty::open("judge");
    down.expect("3. Discard")
        .until_it_reads()
        .send("\x1b[B")
        .expect("❯ 2. I'll decide")
        .send("\r");
    assert_eq!(down.result(), chosen("Human", false));
    let mut up = Pty::open("judge");
    up.expect("3. Discard")
        .until_it_reads()
        .send("\x1b[A")
        .expect("❯ 3. Discard opinion")
        .send("\r");
    assert_eq!(up.result(), chosen("Discard", false));
}

#[test]
fn one_answer_for_all_that_wait() {
    let mut pty = Pty::open("many");
    pty.expect("3. Discard")
        .pick(2)
        .expect("2. the same for the 2 other pending disputes")
        .pick(1);
    assert_eq!(pty.result(), chosen("Discard", true));
}

#[test]
fn a_person_rules_and_says_why() {
    let mut pty = Pty::open("rule");
    pty.expect("Your ruling on dispute 7?")
        .expect("3. Leave it open")
        .pick(1);
    pty.expect("Reason (optional):")
        .send("checkd\x7fed übrll")
        .expect("rll")
        .until_it_reads()
        .send("\r");
    let ruling = "Given((Rule(Dismiss), \"checked übrll\"))";
    assert_eq!(pty.result(), (ruling.to_owned(), true));
    let mut open = Pty::open("rule");
    open.expect("3. Leave it open").pick(2);
    assert_eq!(open.result(), ("LeftOpen".to_owned(), true));
}

#[test]
fn going_away_decides_nothing_and_leaves_the_terminal_as_it_was() {
    let rows = [
        ("\x03", "judge", "None"),
        ("\x1b", "judge", "None"),
        ("\x03", "rule", "Stopped"),
        ("\x1b", "rule", "LeftOpen"),
    ];
    for (key, case, answer) in rows {
        let mut pty = Pty::open(case);
        pty.expect("  3. ").until_it_reads().send(key);
        assert_eq!(pty.result(), (answer.to_owned(), true), "{case} {key:?}");
    }
}

#[test]
fn twenty_columns_and_a_resize() {
    let mut pty = Pty::open("judge");
    pty.session
        .get_process_mut()
        .set_window_size(20, 24)
        .unwrap();
    pty.expect("resolve?")
        .expect("Discard")
        .until_it_reads()
        .send("\x1b[B")
        .expect("❯ 2.");
    pty.session
        .get_process_mut()
        .set_window_size(100, 24)
        .unwrap();
    pty.send("\x1b[B").expect("❯ 3. ").send("\r");
    assert_eq!(pty.result(), chosen("Discard", false));
}

#[test]
fn live_lines_make_room_for_the_dialog_and_nothing_is_lost() {
    let mut pty = Pty::open("live");
    pty.expect("WORKING")
        .expect("How to resolve?")
        .expect("Esc");
    if !pty.shown.contains("EMITTED") {
        pty.expect("EMITTED");
    }
    assert!(pty.shown.contains("reviewing 0/2"), "{}", pty.shown);
    assert!(!pty.shown.contains("reported meanwhile"), "{}", pty.shown);
    pty.pick(0).expect("reported meanwhile");
    assert!(!pty.shown.contains("\x1b[2J"), "{}", pty.shown);
    assert_eq!(pty.result(), chosen("Judge", false));
}
