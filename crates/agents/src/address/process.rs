//! The processes that ask a server. The first process has the network and sends nothing. It starts the process that asks,
//! and starts another if the server did not understand the request, since the one that asked has given up the network.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::process::{Command, ExitCode, Stdio};

use super::message::{ARGUMENT, ServerQuestion};
use super::server::{self, ServerEnd};
use super::wire::RequestExtent;

const EXTENTS: [(&str, RequestExtent); 2] = [
    ("full", RequestExtent::Full),
    ("plain", RequestExtent::Plain),
];

/// The exit code of a process whose request was not understood.
const NOT_UNDERSTOOD: u8 = 64;

/// `args` are a [`ServerQuestion`] in JSON, and in the process that asks the extent of the request. Reads the prompt from
/// stdin and prints [`ServerEvent`](super::message::ServerEvent)s. Fails if the arguments are not as described, or a pipe is closed.
pub fn main(args: &[OsString]) -> io::Result<ExitCode> {
    let mut prompt = String::new();
    io::stdin().lock().read_to_string(&mut prompt)?;
    let words: Option<Vec<&str>> = args.iter().map(|arg| arg.to_str()).collect();
    match words.as_deref() {
        Some([question]) => start(question, &prompt),
        Some([question, extent]) => ask(question, extent, &prompt),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn start(question: &str, prompt: &str) -> io::Result<ExitCode> {
    let mut code = None;
    for (extent, _) in EXTENTS {
        let mut child = Command::new(std::env::current_exe()?)
            .args([ARGUMENT, question, extent])
            .stdin(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(prompt.as_bytes())?;
        }
        code = child.wait()?.code();
        if code != Some(NOT_UNDERSTOOD.into()) {
            break;
        }
    }
    let code = code.and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

fn ask(question: &str, extent: &str, prompt: &str) -> io::Result<ExitCode> {
    let question: ServerQuestion = serde_json::from_str(question)?;
    let extent = EXTENTS.iter().find(|(name, _)| *name == extent);
    let (_, extent) = extent.ok_or(io::ErrorKind::InvalidInput)?;
    let mut out = io::stdout().lock();
    let end = server::ask(&question, prompt, *extent, &mut |event| {
        serde_json::to_writer(&mut out, event)?;
        out.write_all(b"\n")?;
        out.flush()
    })?;
    Ok(match end {
        ServerEnd::Said => ExitCode::SUCCESS,
        ServerEnd::NotUnderstood => ExitCode::from(NOT_UNDERSTOOD),
    })
}
