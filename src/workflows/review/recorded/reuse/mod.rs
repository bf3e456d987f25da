//! Reuses answers of earlier runs, so that unchanged code is not reviewed again.
//!
//! Every recorded answer about a file has two keys: the key of the reviewer and the key of the file. The keys are
//! hashes of everything that influences the answer. If both keys of an earlier answer equal the current keys of
//! the reviewer and the file, the file is not reviewed again. In a changed file, only the changed lines and their
//! blocks are reviewed. Earlier findings on other lines are kept and get new line numbers. Incomplete answers,
//! answers about files that changed during the call, and damaged records are never used. Later rounds review the
//! coder's changes, and therefore reuse no answers.

mod archive;
mod origins;
mod search;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::json;

use crate::agents::{Agents, builtin, builtin::rules::PROJECT_RULES};
use crate::config::files::scripts::{self, Roots};
use crate::config::settings::Settings;
use crate::domain::event::{CallAnswer, CallId, EventKind, Plan, Purpose, ReviewEvent};
use crate::domain::{Agent, AskedFile, Coverage, FileReview, RawFinding, Role};
use crate::history::{JournalError, queries::rows::Binding};
use crate::protocol::prompts::{self, PromptError};
use crate::protocol::{request::SourceFile, secrets};
use crate::system::files;
use crate::workflows::review::state::ReviewState;
use crate::workflows::review::{
    code::sources::Sources, findings::recognition, findings::round::TextOf,
};
use crate::workspace::diff::delta;
use archive::{ShownFile, path_of, placed};
use origins::Origins;
use search::Finder;

pub(crate) use archive::{Archive, ReviewerKeys};

/// The version of the method that computes the keys of reusable answers. Answers whose keys have another version
/// are not reused.
const FORM: u32 = 1;

const ROUND: u32 = 1;

/// Computes the key of each reviewer. The key is a hash of the program (with version, arguments and
/// environment), the files in the arguments, the model, the effort, the focus and the prompt template. The key
/// of an embedded reviewer also covers the project's rules. The result contains no key for a reviewer whose
/// program is not installed. Fails if the prompt template cannot be read.
pub(crate) async fn reviewer_keys(
    agents: &Agents,
    settings: &Settings,
    plan: &Plan,
    root: &Path,
    templates: &Path,
) -> Result<ReviewerKeys, PromptError> {
    let template = prompts::source("review", Some(templates))?;
    let mut keys = ReviewerKeys::new();
    for agent in plan
        .agents
        .iter()
        .filter(|agent| agent.role == Role::Reviewer)
    {
        let agent = crate::workflows::run::resources::with_secrets(settings, agent);
        let Ok(program) = agents.program(&agent, root) else {
            continue;
        };
        let version = agents.version(&agent, root).await;
        // A program that reports no version is identified by a hash of its file.
        let program = version.or_else(|| scripts::hash(&program).ok());
        let outside = agent
            .command
            .iter()
            .skip(1)
            .filter(|word| Path::new(word).is_absolute());
        let outside: Vec<Option<String>> = outside
            .map(|word| scripts::hash(Path::new(word)).ok())
            .collect();
        let recorded = secrets::redact_value(agent.command.clone());
        let asker = json!({
            "form": FORM,
            "glee": env!("CARGO_PKG_VERSION"),
            "template": template,
            "redaction": [settings.redaction.secrets],
            "name": agent.name,
            "adapter": agent.adapter,
            "command": recorded,
            "program": program,
            "files": Roots::of(root).files([agent.command.as_slice()]),
            "outside": outside,
            "model": agent.model,
            "effort": agent.effort,
            "focus": agent.focus,
            "env": secrets::redact_value(agent.env.clone()),
            "rules": agent.is_embedded().then(|| rules(root)),
        });
        keys.insert(agent.name.clone(), hash(&[asker.to_string().as_bytes()]));
    }
    Ok(keys)
}

fn rules(root: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(root.join(PROJECT_RULES))
        .into_iter()
        .flatten()
        .flatten();
    let content = |entry: std::fs::DirEntry| {
        let bytes = files::read(&entry.path()).ok()?;
        Some((
            entry.file_name().to_string_lossy().into_owned(),
            hash(&[&bytes]),
        ))
    };
    entries.filter_map(content).collect()
}

fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher
            .update(&(part.len() as u64).to_le_bytes())
            .update(part);
    }
    hasher.finalize().to_hex().to_string()
}

impl Archive<'_> {
    /// For each shard, returns one event for each reviewer whose earlier answers can be reused. A shard is left
    /// out if the reviewer has already given an answer for the shard.
    pub(crate) fn reuse(
        &self,
        state: &ReviewState,
        sources: &Sources,
        bindings: &[Binding],
    ) -> Result<Vec<EventKind>, JournalError> {
        let Some(shards) = state.rounds.first() else {
            return Ok(Vec::new());
        };
        let shown: Vec<Vec<ShownFile>> = shards
            .iter()
            .map(|shard| {
                sources
                    .shard(ROUND, shard)
                    .into_iter()
                    .map(|file| self.shown(file, sources, bindings))
                    .collect()
            })
            .collect();
        let mut events = Vec::new();
        let mut origins = Origins::new(self.journal);
        for agent in state.agents(Role::Reviewer) {
            let Some(asker) = self.reviewers.get(&agent.name) else {
                continue;
            };
            let mut finder = Finder::new(self, asker);
            for (shard, reuse) in finder.shards(agent, &shown, &mut origins)? {
                let call = CallId {
                    agent: agent.name.clone(),
                    purpose: review_of(shard),
                    attempt: 1,
                };
                if state.reuse(&call).is_none()
                    && state.last_call(&call.agent, &call.purpose).is_none()
                {
                    events.push(reuse.event(call));
                }
            }
        }
        Ok(events)
    }

    /// Joins adjacent shards of a planned run to reduce the number of calls, because every call repeats the
    /// instructions. In a joined shard, each reviewer has to review at most `max` bytes.
    pub(crate) fn joined(
        &self,
        plan: &Plan,
        sources: &Sources,
        bindings: &[Binding],
        max: u64,
    ) -> Result<Vec<Vec<Coverage>>, JournalError> {
        let mut state = ReviewState::default();
        state.apply(
            &ReviewEvent::RunStarted {
                plan: Box::new(plan.clone()),
            }
            .into(),
        );
        let known = self.reuse(&state, sources, bindings)?;
        known.iter().for_each(|event| state.apply(event));
        let reviewers: Vec<&Agent> = state
            .agents(Role::Reviewer)
            .filter(|agent| !agent.is_embedded())
            .collect();
        let left = |shard: usize, agent: &Agent| {
            let reuse = state.reused.get(&(agent.name.clone(), review_of(shard)))?;
            Some(
                reuse
                    .asked
                    .iter()
                    .filter_map(|ask| Some(asked_bytes(sources.file(ROUND, &ask.file)?, ask)))
                    .sum(),
            )
        };
        let mut joined: Vec<(Vec<Coverage>, Option<Vec<u64>>)> = Vec::new();
        for (at, shard) in plan.shards.iter().enumerate() {
            let left: Option<Vec<u64>> = reviewers.iter().map(|agent| left(at, agent)).collect();
            let left = left.filter(|left| !left.is_empty());
            let together = joined.last().and_then(|(_, before)| {
                let sums: Vec<u64> = before
                    .iter()
                    .flatten()
                    .zip(left.iter().flatten())
                    .map(|(a, b)| a + b)
                    .collect();
                (sums.len() == reviewers.len() && sums.iter().all(|sum| *sum <= max))
                    .then_some(sums)
            });
            match (together, joined.last_mut()) {
                (Some(sums), Some((files, before))) if left.is_some() => {
                    files.extend(shard.iter().cloned());
                    *before = Some(sums);
                }
                _ => joined.push((shard.clone(), left)),
            }
        }
        Ok(joined.into_iter().map(|(files, _)| files).collect())
    }

    fn shown(&self, file: SourceFile, sources: &Sources, bindings: &[Binding]) -> ShownFile {
        let lines = file.text.lines().count();
        let text_of = |path: &str| sources.text(ROUND, path, self.workspace);
        let rulings = rulings(bindings, &file, &text_of);
        let file = self
            .redaction
            .files(vec![file])
            .pop()
            .expect("one file stays one");
        let content = json!([file, rulings]).to_string();
        ShownFile {
            key: hash(&[content.as_bytes()]),
            frame: hash(&[delta::frame(&file).as_bytes(), rulings.as_bytes()]),
            is_comparable: file.text.lines().count() == lines && !file.text.is_empty(),
            file,
        }
    }

    /// Returns the event for a reviewer's complete answer in round 1. With this event, later runs can reuse the
    /// answer for unchanged files. The files in `stale`, which changed during the call, are left out.
    pub(crate) fn record(
        &self,
        state: &ReviewState,
        sources: &Sources,
        bindings: &[Binding],
        call: &CallId,
        stale: &[String],
    ) -> Option<EventKind> {
        let Purpose::Review {
            round: ROUND,
            shard,
        } = call.purpose
        else {
            return None;
        };
        let asker = self.reviewers.get(&call.agent)?;
        let CallAnswer::Review {
            status,
            findings,
            problem: None,
            ..
        } = &state.calls.get(call)?.answer
        else {
            return None;
        };
        if !status.is_complete() || state.violated.contains(call) {
            return None;
        }
        let covered = state.rounds.first()?.get(usize::try_from(shard).ok()?)?;
        let part = state.reuse(call);
        let is_asked = |file: &Coverage| {
            part.is_none_or(|part| part.asked.iter().any(|ask| ask.file == file.file))
        };
        let asked: Vec<Coverage> = covered
            .iter()
            .filter(|file| is_asked(file))
            .cloned()
            .collect();
        let paths: Vec<&str> = asked.iter().map(|file| file.file.as_str()).collect();
        let (mut of_file, mut others): (BTreeMap<usize, Vec<RawFinding>>, Vec<RawFinding>) =
            <_>::default();
        let all: Vec<&str> = state.rounds[0]
            .iter()
            .flatten()
            .map(|file| file.file.as_str())
            .collect();
        for finding in findings {
            let mut finding = finding.clone();
            for place in &mut finding.places {
                if let Some(at) = path_of(&place.file, &all) {
                    all[at].clone_into(&mut place.file);
                }
            }
            match placed(&finding, &paths) {
                Some((at, finding)) => of_file.entry(at).or_default().push(finding),
                None => others.push(finding),
            }
        }
        if !others.is_empty() && !stale.is_empty() {
            return None;
        }
        let is_embedded = state
            .agents(Role::Reviewer)
            .any(|agent| agent.name == call.agent && agent.is_embedded());
        let salt = uuid::Uuid::new_v4().simple().to_string();
        let mut files = Vec::new();
        for (at, covered) in asked
            .iter()
            .enumerate()
            .filter(|(_, file)| !stale.contains(&file.file))
        {
            // An embedded reviewer does not review files in languages for which the reviewer has no rules.
            if is_embedded && builtin::language_without_rules(&covered.file).is_some() {
                continue;
            }
            let Some(file) = sources.file(ROUND, &covered.file) else {
                continue;
            };
            let ShownFile {
                file,
                key,
                frame,
                is_comparable,
            } = self.shown(file.clone(), sources, bindings);
            let mut unique: Vec<RawFinding> = Vec::new();
            let carried = part.iter().flat_map(|part| &part.findings);
            let carried = carried
                .filter(|finding| finding.file.as_ref() == Some(&file.path))
                .cloned();
            for finding in carried.chain(of_file.remove(&at).unwrap_or_default()) {
                let is_same =
                    |known: &RawFinding| known.line == finding.line && known.title == finding.title;
                if !unique.iter().any(is_same) {
                    unique.push(finding);
                }
            }
            let lines =
                (is_comparable && !is_embedded).then(|| delta::line_hashes(&salt, &file.text));
            files.push(FileReview {
                file: file.path,
                key,
                frame,
                lines,
                ranges: file.changed,
                findings: unique,
            });
        }
        let (call, asker) = (call.clone(), asker.clone());
        let mut places: BTreeMap<String, String> = BTreeMap::new();
        let recorded = files.iter().flat_map(|file| &file.findings).chain(&others);
        for place in recorded.flat_map(|finding| &finding.places) {
            if !places.contains_key(&place.file)
                && !stale.contains(&place.file)
                && let Some(file) = sources.file(ROUND, &place.file)
            {
                let key = self.shown(file.clone(), sources, bindings).key;
                places.insert(place.file.clone(), key);
            }
        }
        (!files.is_empty()).then(|| {
            ReviewEvent::FilesReviewed {
                call,
                asker,
                salt,
                files,
                others,
                places,
            }
            .into()
        })
    }
}

pub(crate) fn review_of(shard: usize) -> Purpose {
    Purpose::Review {
        round: ROUND,
        shard: u32::try_from(shard).unwrap_or(u32::MAX),
    }
}

fn asked_bytes(file: &SourceFile, AskedFile { ranges, shown, .. }: &AskedFile) -> u64 {
    /// In a prompt, the line number and the line end add this number of bytes to each line.
    const LINE: usize = 8;
    let part = if ranges.is_empty() {
        file.clone()
    } else {
        delta::part(file, ranges, shown)
    };
    let lines = part
        .text
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| line.len() + LINE)
        .sum::<usize>();
    (lines + part.diff.map_or(0, |diff| diff.len())) as u64
}

/// The rulings in force for a file, as JSON without the numbers of the disputes.
fn rulings(bindings: &[Binding], file: &SourceFile, text_of: TextOf<'_>) -> String {
    let rulings: BTreeSet<String> =
        recognition::in_force(bindings, std::slice::from_ref(file), text_of)
            .into_iter()
            .map(|ruling| {
                json!([
                    ruling.location,
                    ruling.title,
                    ruling.disposition,
                    ruling.rationale
                ])
                .to_string()
            })
            .collect();
    json!(rulings).to_string()
}
