//! Runs the commands of the settings `review.verify` and `watch.notify`. A command runs with the limits of an
//! agent, and with the environment variables that every agent receives.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crate::process::environment;
use crate::process::sandbox::confinement::Hold;
use crate::{Agents, Confinement, Invocation, ProcessJob, Stop, TranscriptFiles};
use glee_store::config::choices::Sandbox;
use glee_store::config::settings::Limits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    pub passed: bool,
    /// The end of stderr. If the command failed, the text begins with the error and the last part of stdout.
    pub tail: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandInput {
    pub env: BTreeMap<&'static str, String>,
    pub stdin: Vec<u8>,
    /// The sandbox of the command; `None` for a command that runs with the user's rights.
    pub confinement: Option<Confinement>,
}

impl CommandInput {
    /// A command that executes the code under review: without network, and unable to inspect other processes.
    pub fn of_reviewed_code(sandbox: Sandbox) -> Self {
        let confinement = Confinement {
            hold: Hold::Isolated,
            is_offline: true,
            ..Confinement::default()
        };
        Self {
            confinement: (sandbox != Sandbox::Off).then_some(confinement),
            ..Self::default()
        }
    }
}

impl Agents {
    pub async fn run_command(
        &self,
        command: &[String],
        root: &Path,
        limits: &Limits,
        files: &TranscriptFiles,
        stop: Stop,
        input: CommandInput,
    ) -> CheckResult {
        let program = match self.runner.find(command, root) {
            Ok(program) => program,
            Err(error) => return failed(error.to_string()),
        };
        let mut env = environment::allowed(&[], std::env::vars_os());
        env.extend(
            input
                .env
                .into_iter()
                .map(|(name, value)| (name.into(), value.into())),
        );
        let plain = Invocation::plain(program, command.iter().skip(1), env, root);
        let invocation = Invocation {
            stdin: input.stdin,
            ..plain
        };
        match self
            .runner
            .run(ProcessJob {
                confinement: input.confinement,
                ..ProcessJob::plain(&invocation, *limits, files, stop)
            })
            .await
        {
            Ok(output) => CheckResult {
                passed: true,
                tail: output.stderr_tail,
            },
            Err(ended) => {
                let printed = ended
                    .output
                    .iter()
                    .flat_map(|output| [end_of(&output.stdout), output.stderr_tail.clone()]);
                let printed = printed.filter(|text| !text.trim().is_empty());
                let printed: String = printed
                    .map(|text| format!("\n{}", text.trim_end()))
                    .collect();
                failed(format!("{}{printed}", ended.error))
            }
        }
    }
}

fn failed(tail: String) -> CheckResult {
    CheckResult {
        passed: false,
        tail,
    }
}

const TAIL: u64 = 8 << 10;

pub(super) fn end_of(path: &Path) -> String {
    let (is_cut, bytes) = read_tail(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let whole = text
        .split_once('\n')
        .filter(|_| is_cut)
        .map_or(&*text, |(_, rest)| rest);
    whole.to_owned()
}

fn read_tail(path: &Path) -> io::Result<(bool, Vec<u8>)> {
    let mut file = File::open(path)?;
    let from = file.metadata()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok((from > 0, bytes))
}
