//! Reads the version of a program, and the flags in the program's help. The results are cached, because some
//! programs take seconds to answer.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::program::{Program, words};
use crate::calls::agents::{KnownProgram, KnownPrograms};
use crate::process::environment::allowed;
use crate::{AdapterKind, Agents, Invocation, ProcessJob, Stop, TranscriptFiles};
use glee_model::domain::Agent;
use glee_store::config::settings::Limits;

const LIMITS: Limits = Limits {
    call_timeout: Duration::from_secs(30),
    first_output_timeout: Duration::from_secs(30),
    idle_timeout: Duration::from_secs(30),
    max_output_size: 256 << 10,
    max_line_size: 4096,
    kill_grace: Duration::from_millis(500),
    retries: 0,
    backoff: Duration::from_millis(1),
};

const FILE: &str = "programs.json";

impl Agents {
    /// Reads the version and the flags of the program at `path`. Runs only programs in `AdapterKind::PROGRAMS`,
    /// because other programs, such as a user's script, can have side effects.
    pub async fn detect(&self, kind: AdapterKind, agent: &Agent, path: &Path) -> Program {
        let mut program = Program::new(path);
        if !AdapterKind::PROGRAMS.contains(&kind) {
            return program;
        }
        let mut known = self.known.lock().await;
        let name = path.to_string_lossy().into_owned();
        let stamp = stamp(path);
        let cached = known
            .get(&name)
            .cloned()
            .or_else(|| self.cache.read::<KnownPrograms>(FILE).remove(&name));
        if let Some(entry) =
            cached.filter(|entry| stamp.is_some_and(|stamp| stamp == (entry.size, entry.changed)))
        {
            (program.version, program.words) = (entry.version.clone(), entry.words.clone());
            known.insert(name, entry);
            return program;
        }
        program.version = self
            .printed(&agent.env, path, &["--version"])
            .await
            .and_then(|text| version_in(&text));
        for help in kind.adapter().profile().helps {
            if let Some(text) = self.printed(&agent.env, path, help).await {
                program.words.get_or_insert_default().extend(words(&text));
            }
        }
        if let (Some((size, changed)), Some(_)) = (stamp, &program.version) {
            let version = program.version.clone();
            let words = program.words.clone();
            let entry = KnownProgram {
                size,
                changed,
                version,
                words,
            };
            known.insert(name.clone(), entry.clone());
            self.cache.change(FILE, |known: &mut KnownPrograms| {
                drop(known.insert(name, entry))
            });
        }
        program
    }

    pub async fn version_of(&self, program: &str, root: &Path) -> Option<String> {
        let path = self.runner.find(&[program.to_owned()], root).ok()?;
        version_in(
            &self
                .printed(&BTreeMap::new(), &path, &["--version"])
                .await?,
        )
    }

    async fn printed(
        &self,
        set: &BTreeMap<String, String>,
        path: &Path,
        args: &[&str],
    ) -> Option<String> {
        // The program runs outside the tree, so that the tree's settings do not apply.
        let folder = tempfile::tempdir().ok()?;
        let mut env = allowed(&[], std::env::vars_os());
        env.extend(set.iter().map(|(name, value)| (name.into(), value.into())));
        let invocation = Invocation::plain(path, args, env, folder.path());
        let files = TranscriptFiles {
            stdout: folder.path().join("stdout"),
            stderr: folder.path().join("stderr"),
        };
        self.runner
            .run(ProcessJob::plain(
                &invocation,
                LIMITS,
                &files,
                Stop::never(),
            ))
            .await
            .ok()?;
        Some(read(&files.stdout) + &read(&files.stderr)).filter(|text| !text.trim().is_empty())
    }
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}

fn version_in(text: &str) -> Option<String> {
    text.lines()
        .map(str::trim)
        .find(|line| line.contains(|c: char| c.is_ascii_digit()))
        .map(ToOwned::to_owned)
}

fn stamp(path: &Path) -> Option<(u64, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((metadata.len(), u64::try_from(changed.as_nanos()).ok()?))
}
