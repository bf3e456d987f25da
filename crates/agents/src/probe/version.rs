//! Reads the version of a program, and the flags in the program's help. The results are cached, because some
//! programs take seconds to answer.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use futures_util::future::{join, join_all};

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
        let name = path.to_string_lossy().into_owned();
        let stamp = stamp(path);
        let cell = {
            let mut known = self.known.lock().await;
            Arc::clone(known.entry((name.clone(), stamp)).or_default())
        };
        // Several programs are asked at the same time, and each of them once.
        let known = cell
            .get_or_init(|| self.probed(kind, agent, path, name, stamp))
            .await;
        (program.version, program.words) = (known.version.clone(), known.words.clone());
        program
    }

    async fn probed(
        &self,
        kind: AdapterKind,
        agent: &Agent,
        path: &Path,
        name: String,
        stamp: Option<(u64, u64)>,
    ) -> KnownProgram {
        let cached = self.cache.read::<KnownPrograms>(FILE).remove(&name);
        let is_same = |entry: &KnownProgram| stamp == Some((entry.size, entry.changed));
        if let Some(entry) = cached.filter(is_same) {
            return entry;
        }
        let profile = kind.adapter().profile();
        let helps = profile
            .helps
            .iter()
            .map(|help| self.printed(&agent.env, path, help.iter().map(String::as_str)));
        let version = self.printed(&agent.env, path, ["--version"]);
        let (version, helps) = join(version, join_all(helps)).await;
        let mut entry = KnownProgram {
            version: version.and_then(|text| version_in(&text)),
            ..KnownProgram::default()
        };
        for text in helps.into_iter().flatten() {
            entry.words.get_or_insert_default().extend(words(&text));
        }
        if let (Some((size, changed)), Some(_)) = (stamp, &entry.version) {
            (entry.size, entry.changed) = (size, changed);
            let recorded = entry.clone();
            self.cache.change(FILE, |known: &mut KnownPrograms| {
                drop(known.insert(name, recorded));
            });
        }
        entry
    }

    pub async fn version_of(&self, program: &str, root: &Path) -> Option<String> {
        let path = self.runner.find(&[program.to_owned()], root).ok()?;
        version_in(&self.printed(&BTreeMap::new(), &path, ["--version"]).await?)
    }

    async fn printed<'a>(
        &self,
        set: &BTreeMap<String, String>,
        path: &Path,
        args: impl IntoIterator<Item = &'a str>,
    ) -> Option<String> {
        // The program runs outside the tree, so that the tree's settings do not apply.
        let folder = tempfile::tempdir().ok()?;
        let mut env = allowed(&[], std::env::vars_os());
        env.extend(set.iter().map(|(name, value)| (name.into(), value.into())));
        let invocation = Invocation::plain(path, args, env, folder.path());
        let files = TranscriptFiles::new(folder.path(), "version");
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
