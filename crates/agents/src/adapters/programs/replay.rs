//! The adapter `replay` plays back a recorded call instead of running a program. The agent's `command` is the path
//! of a folder with the recorded calls of a run. The adapter finds the recorded call by the agent's name. The nonce
//! of the new request replaces the recorded nonce. The file edits of a recorded coder are not replayed.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::LazyLock;

use crate::calls::record::{self, CallRecord};
use crate::{Adapter, AgentError, Call, CallOutcome, Invocation, Output, Profile};
use glee_model::domain::FailureKind;
use glee_system::files;

/// The hidden first argument that makes Glee play back a recorded call.
pub const ARGUMENT: &str = "__replay";

/// When Glee plays back a call, the last line of stderr consists of this text and the name of the recorded
/// adapter.
const MARK: &str = "glee-replay adapter=";

pub struct Replay(pub fn() -> Vec<&'static dyn Adapter>);

impl Replay {
    fn printing_events(&self) -> impl Iterator<Item = &'static dyn Adapter> {
        self.0()
            .into_iter()
            .filter(|adapter| adapter.prints_events())
    }
}

impl Adapter for Replay {
    fn profile(&self) -> &Profile {
        static PROFILE: LazyLock<Profile> = LazyLock::new(|| Profile::named("replay"));
        &PROFILE
    }

    fn command(&self, call: &Call) -> Result<Invocation, AgentError> {
        let folder = call
            .agent
            .command
            .first()
            .map(String::as_str)
            .unwrap_or_default();
        let record = record::path(&call.files.stdout);
        let record = call
            .root()
            .join(folder)
            .join(record.file_name().unwrap_or_default());
        if !record.is_file() {
            let message = format!("record `{}` does not exist", record.display());
            return Err(AgentError::new(FailureKind::NotInstalled, message).hint(
                "set `command` of the agent to the folder of the recorded calls, and set `name` to the name of \
                 the recorded agent",
            ));
        }
        let args = [Path::new(ARGUMENT), &record];
        let plain = Invocation::plain(
            &call.program.path,
            args,
            BTreeMap::new(),
            &call.request.root,
        );
        Ok(Invocation {
            stdin: call.request.nonce.clone().into(),
            ..plain
        })
    }

    fn reading(&self, output: &Output) -> CallOutcome {
        let name = output
            .stderr_tail
            .lines()
            .next_back()
            .and_then(|line| line.strip_prefix(MARK));
        match self.0()
            .into_iter()
            .find(|adapter| Some(adapter.profile().name.as_str()) == name)
        {
            Some(adapter) => adapter.reading(output),
            None => {
                let message = format!(
                    "failed to play back the record: {}",
                    output.stderr_tail.trim()
                );
                CallOutcome::from(Err(AgentError::new(FailureKind::Protocol, message)))
            }
        }
    }

    fn activity(&self, line: &str) -> Option<String> {
        self.printing_events()
            .find_map(|adapter| adapter.activity(line))
    }

    fn speech(&self, line: &str) -> Option<String> {
        self.printing_events()
            .find_map(|adapter| adapter.speech(line))
    }
}

/// Prints the recorded output with the new nonce. Returns the recorded exit code, or 1 if no exit code was
/// recorded.
pub fn play(
    record: &Path,
    nonce: &str,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<u8> {
    let stem = record.to_string_lossy();
    let stem = stem.strip_suffix(".call.json").unwrap_or(&stem);
    let CallRecord {
        nonce: old,
        adapter,
        end,
        ..
    } = CallRecord::read(record)?;
    let streams: [(&str, &mut dyn Write); 2] = [("stdout", out), ("stderr", &mut *err)];
    for (name, stream) in streams {
        let bytes = files::read(format!("{stem}.{name}").as_ref())?;
        stream.write_all(&replaced(&bytes, old.as_bytes(), nonce.as_bytes()))?;
    }
    writeln!(err, "\n{MARK}{adapter}")?;
    let code = end.and_then(|end| end.transcript?.exit_code);
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for at in memchr::memmem::find_iter(bytes, old).filter(|_| !old.is_empty()) {
        result.extend([&bytes[from..at], new].concat());
        from = at + old.len();
    }
    result.extend(&bytes[from..]);
    result
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::adapters::programs::claude;
    use crate::probe::program::Program;
    use crate::{TranscriptFiles, samples};

    const REPLAY: Replay = Replay(Vec::new);

    #[test]
    fn a_record_is_played_with_the_new_nonce() {
        let folder = tempfile::tempdir().unwrap();
        let recorded = samples::agent("rev", "claude", &["claude"]);
        let request = samples::review(&recorded);
        let program = Program::new("/bin/claude");
        let call = samples::call(&recorded, &program, &request);
        let invocation = claude::Claude.command(&call).unwrap();
        let record = folder.path().join("review-1-0.rev.1.call.json");
        CallRecord::new("claude", &call, &invocation)
            .write(&record)
            .unwrap();
        let said = format!(
            "{{\"type\":\"result\",\"result\":\"END nonce={}\"}}\n",
            samples::NONCE
        );
        std::fs::write(folder.path().join("review-1-0.rev.1.stdout"), said).unwrap();
        std::fs::write(folder.path().join("review-1-0.rev.1.stderr"), "noise").unwrap();

        let agent = samples::agent("rev", "replay", &[folder.path().to_str().unwrap()]);
        let glee = Program::new("/bin/glee");
        let call = Call {
            files: TranscriptFiles::new(Path::new("/kept"), "review-1-0.rev.1"),
            ..samples::call(&agent, &glee, &request)
        };
        let invocation = REPLAY.command(&call).unwrap();
        assert_eq!(
            invocation.args,
            [ARGUMENT.into(), record.clone().into_os_string()]
        );

        let mut out = Vec::new();
        let mut err = Vec::new();
        assert_eq!(
            play(&record, "fresh", &mut out, &mut err).unwrap(),
            1,
            "no end was recorded"
        );
        assert_eq!(
            out,
            b"{\"type\":\"result\",\"result\":\"END nonce=fresh\"}\n"
        );
        assert_eq!(err, b"noise\nglee-replay adapter=claude\n");

        let error = REPLAY
            .command(&Call {
                files: TranscriptFiles::new(Path::new("/kept"), "judge-1.j.1"),
                ..call
            })
            .unwrap_err();
        assert_eq!(error.kind, FailureKind::NotInstalled);
    }
}
