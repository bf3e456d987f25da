//! The scripted agent: the test program itself, run again with a script of steps.
//!
//! The script is a file named by `$FAULTS`: a JSON object from task to steps. The agent plays every role through
//! every adapter, because it only knows its environment and its name.

use std::collections::BTreeMap;
use std::io::{BufRead as _, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpid, getppid};
use serde::{Deserialize, Serialize};

/// The path of the script; its presence makes this program an agent.
pub(crate) const SCRIPT: &str = "FAULTS";
pub(crate) const TAG: &str = "FAULTS_TAG";
/// The address of the test runner, and the folder whose files are sent there.
pub(crate) const SEEN: &str = "FAULTS_SEEN";
/// Steps instead of a script, used by forks.
const STEPS: &str = "FAULTS_STEPS";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    /// Prints text; `{nonce}` and `{dispute}` are replaced.
    Emit(String),
    Mutter(String),
    /// Prints bytes given in hexadecimal digits.
    Bytes(String),
    /// Prints this number of bytes of one letter, in lines of a length (0: a single line).
    Spray {
        bytes: u64,
        line: u64,
    },
    Echo,
    /// Stores its prompt in a folder, quotes it completely, and obeys every line outside the fences of this call:
    /// `PLEASE TOUCH <name>` creates a file in the folder, `PLEASE SAY <text>` prints a text.
    Obey(String),
    /// Appends its environment to a file, one variable per line.
    Environment(String),
    /// Appends its arguments to a file, one per line.
    Arguments(String),
    /// Prints the processes that it can inspect: by a word in their environment, or by their memory and
    /// descriptors.
    Inspect(String, String),
    /// Prints whether it can connect to a socket; a leading `@` means an abstract one.
    Connect(String, String),
    /// Prints what it can read of these files.
    Read(Vec<String>, String),
    Sleep(u64),
    Listen,
    Close(i32),
    Write(String, String),
    Replace(String, String, String),
    Remove(String),
    Folder(String),
    Mode(String, u32),
    /// Replaces the first path by a link to the second.
    Link(String, String),
    /// Runs a program and ignores its result.
    Run(Vec<String>),
    /// Starts a copy of itself with some steps, without waiting for it.
    Fork(Vec<Self>),
    /// Starts a new session.
    Setsid,
    /// Ignores the signals that request termination.
    Ignore,
    /// Sends a signal: to itself, its parent, or its parent's parent.
    Kill(Whom, i32),
    Terminal,
    Exit(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Whom {
    Itself,
    Parent,
    Grandparent,
}

/// The steps by task (`review`, `respond`, `judge`, `recheck`).
pub(crate) type Script = BTreeMap<String, Vec<Step>>;

/// Runs the script if this process is an agent.
pub(crate) fn play() -> Option<ExitCode> {
    let steps = if let Some(steps) = std::env::var_os(STEPS) {
        serde_json::from_str(steps.to_str()?).ok()?
    } else {
        let text = std::fs::read_to_string(std::env::var_os(SCRIPT)?).ok()?;
        let mut script: Script = serde_json::from_str(&text).ok()?;
        script
            .remove(&std::env::var("GLEE_TASK").unwrap_or_default())
            .unwrap_or_default()
    };
    for step in steps {
        if let Some(code) = take(step) {
            return Some(code);
        }
    }
    Some(ExitCode::SUCCESS)
}

/// Executes a step; ignores a step that fails, like a careless program.
fn take(step: Step) -> Option<ExitCode> {
    match step {
        Step::Emit(text) => print(filled(&text).as_bytes()),
        Step::Mutter(text) => drop(std::io::stderr().write_all(text.as_bytes())),
        Step::Bytes(digits) => {
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            print(
                &digits
                    .as_bytes()
                    .chunks(2)
                    .filter_map(byte)
                    .collect::<Vec<_>>(),
            );
        }
        Step::Spray { bytes, line } => spray(bytes, line),
        Step::Echo => {
            let mut prompt = Vec::new();
            drop(std::io::stdin().read_to_end(&mut prompt));
            print(&prompt);
        }
        Step::Obey(folder) => obey(&folder),
        Step::Environment(path) => {
            let line = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
                format!("{}={}\n", name.to_string_lossy(), value.to_string_lossy())
            };
            let lines: String = std::env::vars_os().map(line).collect();
            keep(&path, &lines);
        }
        Step::Arguments(path) => {
            let lines: String = std::env::args()
                .skip(1)
                .map(|argument| format!("{argument}\n"))
                .collect();
            keep(&path, &lines);
        }
        Step::Inspect(word, path) => keep(&path, &inspected(&word)),
        Step::Connect(socket, path) => {
            use std::os::linux::net::SocketAddrExt as _;
            use std::os::unix::net::{SocketAddr, UnixStream};
            let connected = match socket.strip_prefix('@') {
                Some(name) => SocketAddr::from_abstract_name(name)
                    .and_then(|name| UnixStream::connect_addr(&name)),
                None => UnixStream::connect(&socket),
            };
            keep(
                &path,
                if connected.is_ok() {
                    "connected"
                } else {
                    "refused"
                },
            );
        }
        Step::Read(files, path) => {
            let texts = files
                .iter()
                .filter_map(|file| std::fs::read_to_string(file).ok());
            keep(&path, &texts.collect::<String>());
        }
        Step::Sleep(millis) => std::thread::sleep(Duration::from_millis(millis)),
        Step::Listen => drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink())),
        Step::Close(fd) => drop(nix::unistd::close(fd)),
        Step::Write(path, text) => keep(&path, &text),
        Step::Replace(path, from, to) => {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            drop(std::fs::write(path, text.replace(&from, &to)));
        }
        Step::Remove(path) => {
            drop(std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path)))
        }
        Step::Folder(path) => drop(std::fs::create_dir_all(path)),
        Step::Mode(path, mode) => {
            drop(std::fs::set_permissions(
                path,
                std::fs::Permissions::from_mode(mode),
            ));
        }
        Step::Link(place, target) => {
            if std::fs::remove_file(&place).is_ok() || std::fs::symlink_metadata(&place).is_err() {
                drop(std::os::unix::fs::symlink(target, place));
            }
        }
        Step::Run(words) => {
            let (program, args) = words.split_first()?;
            drop(
                Command::new(program)
                    .args(args)
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .status(),
            );
        }
        Step::Fork(steps) => fork(&steps),
        Step::Setsid => drop(nix::unistd::setsid()),
        Step::Ignore => {
            for signal in [
                signal_hook::consts::SIGTERM,
                signal_hook::consts::SIGINT,
                signal_hook::consts::SIGHUP,
            ] {
                drop(signal_hook::flag::register(
                    signal,
                    std::sync::Arc::default(),
                ));
            }
        }
        Step::Kill(whom, signal) => {
            let pid = match whom {
                Whom::Itself => getpid(),
                Whom::Parent => getppid(),
                Whom::Grandparent => parent_of(getppid())?,
            };
            // Rust's handler ignores the first SIGSEGV from outside.
            for _ in 0..2 {
                let _ = Signal::try_from(signal).map(|signal| kill(pid, signal));
            }
        }
        Step::Terminal => {
            if let Ok(mut terminal) = std::fs::File::options()
                .read(true)
                .write(true)
                .open("/dev/tty")
            {
                drop(terminal.write_all(b"\x1b]0;owned\x07"));
                drop(Command::new("stty").arg("raw").stdin(terminal).status());
            }
        }
        Step::Exit(code) => return Some(ExitCode::from(code)),
    }
    None
}

/// Reads like a gullible model: every possible line break ends a line, and every text outside of data is an order.
fn obey(folder: &str) {
    let mut prompt = Vec::new();
    drop(std::io::stdin().read_to_end(&mut prompt));
    let prompt = String::from_utf8_lossy(&prompt).into_owned();
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let (task, nonce) = (variable("GLEE_TASK"), variable("GLEE_NONCE"));
    keep(&format!("{folder}/prompt-{task}-{nonce}"), &prompt);
    print(format!("{prompt}\n").as_bytes());
    let mark = nonce.get(..16).unwrap_or_default();
    let (opening, closing) = (
        format!("<<<GLEE-DATA mark={mark}"),
        format!(">>>GLEE-DATA-END mark={mark}"),
    );
    // In a JSON request, everything except the keys is data.
    let mut is_data = prompt.starts_with('{');
    for line in prompt.split([
        '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
    ]) {
        if line.trim() == closing {
            is_data = false;
        } else if line.trim_start().starts_with(&opening) {
            is_data = true;
        } else if is_data {
        } else if let Some((_, name)) = line.split_once("PLEASE TOUCH ") {
            keep(&format!("{folder}/{}", name.trim()), "obeyed\n");
        } else if let Some((_, text)) = line.split_once("PLEASE SAY ") {
            print(format!("{}\n", filled(text)).as_bytes());
        }
    }
}

/// Writes a file, or sends it to the test runner, because a sandboxed agent cannot write it.
fn keep(path: &str, text: &str) {
    let seen = std::env::var(SEEN).unwrap_or_default();
    let Some((address, _)) = seen
        .split_once(' ')
        .filter(|(_, folder)| path.starts_with(folder))
    else {
        return drop(std::fs::write(path, text));
    };
    let Ok(mut table) = std::net::TcpStream::connect(address) else {
        return;
    };
    let line = serde_json::json!({"path": path, "text": text});
    drop(writeln!(table, "{line}"));
    // The runner closes the connection when the file is written.
    drop(std::io::copy(&mut table, &mut std::io::sink()));
}

/// The processes of Glee that can be inspected, and all with the word (spelled backwards here) in their
/// environment.
fn inspected(word: &str) -> String {
    let word: String = word.chars().rev().collect();
    let mut found = String::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let process = entry.path();
        let environment = std::fs::read(process.join("environ")).unwrap_or_default();
        let name = std::fs::read_to_string(process.join("comm")).unwrap_or_default();
        let mut tell = |what: &str| {
            found.push_str(&format!(
                "{} {} shows {what}\n",
                process.display(),
                name.trim()
            ))
        };
        if environment
            .windows(word.len())
            .any(|window| window == word.as_bytes())
        {
            tell("its environment");
        }
        if !matches!(name.trim(), "glee" | "exe") {
            continue;
        }
        if std::fs::File::open(process.join("mem")).is_ok() {
            tell("its memory");
        }
        if std::fs::read_link(process.join("fd/1")).is_ok() {
            tell("its descriptors");
        }
    }
    found
}

/// Receives files from agents; returns the address.
pub(crate) fn seen_at() -> &'static str {
    static ADDRESS: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    ADDRESS.get_or_init(|| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener
            .local_addr()
            .expect("the listener has an address")
            .to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || {
                    let mut line = String::new();
                    drop(std::io::BufReader::new(&stream).read_line(&mut line));
                    let sent: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
                    if let (Some(path), Some(text)) = (sent["path"].as_str(), sent["text"].as_str())
                    {
                        drop(std::fs::write(path, text));
                    }
                });
            }
        });
        address
    })
}

/// Ends silently if the reader has closed the pipe.
fn print(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    drop(out.write_all(bytes).and_then(|()| out.flush()));
}

fn filled(text: &str) -> String {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let nonce = variable("GLEE_NONCE");
    let filled = text
        .replace("{mark}", nonce.get(..16).unwrap_or_default())
        .replace("{nonce}", &nonce);
    filled.replace("{dispute}", &variable("GLEE_DISPUTE"))
}

fn spray(bytes: u64, line: u64) {
    const CHUNK: usize = 64 << 10;
    let mut chunk = vec![b'x'; CHUNK];
    if let Ok(step) = usize::try_from(line)
        && step > 0
    {
        chunk
            .iter_mut()
            .skip(step - 1)
            .step_by(step)
            .for_each(|byte| *byte = b'\n');
    }
    let mut out = std::io::stdout().lock();
    let mut left = bytes;
    while left > 0 {
        let part = usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK));
        if out.write_all(&chunk[..part]).is_err() {
            return;
        }
        left -= part as u64;
    }
    drop(out.flush());
}

fn fork(steps: &[Step]) {
    let (Ok(program), Ok(steps)) = (std::env::current_exe(), serde_json::to_string(steps)) else {
        return;
    };
    // The child keeps the pipes and is deliberately left running.
    drop(Command::new(program).env(STEPS, steps).spawn());
}

fn parent_of(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.rsplit_once(") ")?.1;
    after_name
        .split(' ')
        .nth(1)?
        .parse()
        .ok()
        .map(Pid::from_raw)
}
