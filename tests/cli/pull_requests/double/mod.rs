//! A loopback server that stands for the host of a pull request. It keeps its state, takes commits and diffs from a
//! real repository, and refuses what the host refuses. This module has what all hosts share; a host is a value
//! with the trait [`HostDouble`].

mod message;
mod state;

use std::fmt::Debug;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

pub(crate) use message::{Answer, Request, decoded};
pub(crate) use state::{Discussion, Said, State};

/// The user of the token.
pub(crate) const BOT: &str = "glee-bot";

/// The author of the change.
pub(crate) const AUTHOR: &str = "author";

/// A reason why a host refuses a request before it looks at its path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Refusal {
    /// The token is missing, wrong or has expired.
    Token,
    /// The token can only read.
    ReadOnly,
    /// A secondary limit. The answer names one second.
    Limit,
}

/// What differs between the hosts.
pub(crate) trait HostDouble: Debug + Sync {
    /// The name in snapshots, such as `github`.
    fn name(&self) -> &'static str;

    /// The ref of the head commit of the request 7, such as `refs/pull/7/head`.
    fn head_ref(&self) -> &'static str;

    fn token(&self) -> &'static str;

    /// The variables of a job on the host, with the token.
    fn variables(&self, address: &str) -> Vec<(&'static str, String)>;

    fn is_authorised(&self, request: &Request) -> bool;

    /// Whether the API can resolve threads.
    fn can_resolve(&self) -> bool {
        true
    }

    /// Whether the request changes something.
    fn is_write(&self, request: &Request) -> bool {
        request.method != "GET"
    }

    /// Checks the request against the published description of the host's API. Requests that do not fit fail the
    /// test.
    fn check(&self, request: &Request) -> Result<(), String>;

    fn refuse(&self, refusal: Refusal, request: &Request) -> Answer;

    fn answer(&self, state: &mut State, request: &Request) -> Answer;
}

/// The request at which the process of Glee is killed, and whether the server applies the request first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct KillAt {
    pub(crate) request: usize,
    pub(crate) is_applied: bool,
}

#[derive(Clone)]
pub(crate) struct Double {
    pub(crate) host: &'static dyn HostDouble,
    pub(crate) address: String,
    state: Arc<Mutex<State>>,
    /// The process that is killed.
    pub(crate) process: Arc<AtomicI32>,
}

pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output();
    let output = output.expect("git is installed");
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Double {
    pub(crate) fn start(host: &'static dyn HostDouble, state: State) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let double = Self {
            host,
            address,
            state: Arc::new(Mutex::new(state)),
            process: Arc::default(),
        };
        double.state().address.clone_from(&double.address);
        let server = double.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = server.clone();
                std::thread::spawn(move || server.serve(stream));
            }
        });
        double
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no handler panics")
    }

    fn serve(&self, mut stream: TcpStream) -> Option<()> {
        let request = read(&stream)?;
        let answer = self.handle(&request)?;
        stream.write_all(answer.to_http().as_bytes()).ok()
    }

    /// Returns `None` if the process that sent the request is killed.
    fn handle(&self, request: &Request) -> Option<Answer> {
        let mut state = self.state();
        let number = state.record(request, self.host.is_write(request));
        let kill_now = state.kill.filter(|kill| kill.request == number);
        let strike = || {
            let process = self.process.load(Ordering::SeqCst);
            if process > 0 {
                kill(Pid::from_raw(process), Signal::SIGKILL).expect("the process runs");
            }
        };
        if kill_now.is_some_and(|kill| !kill.is_applied) {
            strike();
            return None;
        }
        if let Err(why) = self.host.check(request) {
            state
                .misfits
                .push(format!("{} {}: {why}", request.method, request.target));
        }
        let refusal = if !self.host.is_authorised(request)
            || state.expires_at.is_some_and(|at| number >= at)
        {
            Some(Refusal::Token)
        } else if state.limited.contains(&number) {
            Some(Refusal::Limit)
        } else if state.is_read_only && self.host.is_write(request) {
            Some(Refusal::ReadOnly)
        } else {
            None
        };
        let answer = match refusal {
            Some(refusal) => self.host.refuse(refusal, request),
            None => self.host.answer(&mut state, request),
        };
        if kill_now.is_some() {
            strike();
            return None;
        }
        Some(answer)
    }
}

/// Reads a request of HTTP/1.1.
fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut head, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line).ok()? > 2 {
        head.push_str(&line);
        line.clear();
    }
    let length = Request::header_of(&head, "content-length")
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Request::parse(&head, String::from_utf8_lossy(&body).into_owned())
}
