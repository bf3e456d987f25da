//! Reuses answers of earlier runs, so that unchanged code is not reviewed again.
//!
//! Every recorded answer about a file has two keys: the key of the reviewer and the key of the file. The keys are
//! hashes of everything that influences the answer. If both keys of an earlier answer equal the current keys of
//! the reviewer and the file, the file is not reviewed again. In a changed file, only the changed lines and their
//! blocks are reviewed. Earlier findings on other lines are kept and get new line numbers. Incomplete answers,
//! answers about files that changed during the call, and damaged records are never used. An answer also rests on what
//! the agent read by itself: its instructions are part of the key, and an answer is dropped when a read that the trace of
//! its program names would return something else. Later rounds review the
//! coder's changes, and therefore reuse no answers.

mod archive;
pub mod instructions;
mod origins;
mod search;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use futures_util::future::join_all;
use serde_json::json;

use crate::review::state::ReviewState;
use crate::review::{
    code::context::can_read, code::guidelines::Guidelines, code::sources::Sources,
    findings::recognition::ClosingRulings,
};
use archive::{ShownFile, folder_of, hash, path_of, placed};
use glee_agents::adapters::{profile, registry};
use glee_agents::{AdapterKind, Agents};
use glee_builtin::{self as builtin, rules::PROJECT_RULES};
use glee_model::domain::event::{CallAnswer, CallId, EventKind, Plan, Purpose, ReviewEvent};
use glee_model::domain::{
    Agent, AskedFile, Coverage, FileReview, HashedRead, RawFinding, ReadExtent, ReadSet, Reuse,
    ReviewedFiles, Role, TracedRead,
};
use glee_protocol::prompts::{self, PromptError};
use glee_protocol::{request::SourceFile, secrets};
use glee_store::config::files::script_folders;
use glee_store::config::files::scripts::{self, Roots};
use glee_store::config::schema::values::ReuseMode;
use glee_store::config::settings::Settings;
use glee_store::history::{JournalError, queries::rows::Binding};
use glee_system::files;
use glee_workspace::diff::delta;
use glee_workspace::select::read_hashes::{self, ReadHashes};
use instructions::Instructions;
use origins::Origins;
use search::Finder;

pub use archive::{Archive, ReviewerKeys};

/// The version of the method that computes the keys of reusable answers. Answers whose keys have another version
/// are not reused.
const FORM: u32 = 2;

const ROUND: u32 = 1;

/// Computes the key of each reviewer. The key is a hash of the program (with version, arguments and
/// environment), the files in the arguments, the model, the effort, the focus, what is sent of a
/// file, the instructions of the run, the language, the runners, and the prompt template. The guidelines of a file are part of the key of the file. The key
/// of an embedded reviewer also covers the project's rules. The key of a command of the project also covers the
/// folders of the tree from which it takes its code. With `review.reuse: strict`, each key covers the whole tree. The
/// result contains no key for a reviewer whose program is not installed. Fails if the prompt template cannot be read.
pub(crate) async fn reviewer_keys(
    agents: &Agents,
    settings: &Settings,
    plan: &Plan,
    root: &Path,
    templates: &Path,
    guidelines: &Guidelines,
) -> Result<ReviewerKeys, PromptError> {
    let template = prompts::source("review", Some(templates))?;
    let mut keys = ReviewerKeys::none();
    let mut instructions = Instructions::default();
    for file in plan.shards.iter().flatten() {
        keys.guidelines
            .insert(file.file.clone(), guidelines.key(&file.file));
        let folder = folder_of(&file.file);
        let hash = instructions.of(&root.join(&folder));
        keys.instructions.insert(folder, hash);
    }
    let strict = settings.review.reuse == ReuseMode::Strict;
    let tree = strict.then(|| ReadHashes::now(root).of(&TracedRead::whole_tree(), &[]));
    let reviewers = plan
        .agents
        .iter()
        .filter(|agent| agent.role == Role::Reviewer)
        .map(|agent| crate::run::resources::with_secrets(settings, agent));
    let installed: Vec<(Agent, PathBuf)> = reviewers
        .filter_map(|agent| Some((agents.program(&agent, root).ok()?, agent)))
        .map(|(program, agent)| (agent, program))
        .collect();
    let versions = join_all(
        installed
            .iter()
            .map(|(agent, _)| agents.version(agent, root)),
    )
    .await;
    for ((agent, program), version) in installed.into_iter().zip(versions) {
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
            "base": agents.base_of(&agent.name),
            "model": agent.model,
            "effort": agent.effort,
            "profile": agent.profile,
            "focus": agent.focus,
            "context": settings.review.context,
            "reads": can_read(&agent),
            "instructions": plan.instructions,
            "language": settings.review.language,
            "env": secrets::redact_value(agent.env.clone()),
            "rules": agent.is_embedded().then(|| rules(root)),
            "own_instructions": own_instructions(&agent),
            "scripts": own_scripts(&agent, root),
            "tree": tree,
            "runners": settings.review.offered_runners().map(|(name, runner)| (name, &runner.folder)).collect::<BTreeMap<_, _>>(),
        });
        keys.reviewers
            .insert(agent.name.clone(), hash(&[asker.to_string().as_bytes()]));
    }
    Ok(keys)
}

fn rules(root: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(root.join(PROJECT_RULES))
        .into_iter()
        .flatten()
        .flatten();
    entries
        .filter_map(|entry| {
            let bytes = files::read(&entry.path()).ok()?;
            Some((
                entry.file_name().to_string_lossy().into_owned(),
                hash(&[&bytes]),
            ))
        })
        .collect()
}

/// The instructions in the folders of a program's settings, such as `~/.claude/CLAUDE.md`.
fn own_instructions(agent: &Agent) -> Vec<String> {
    let profile = registry::profile(agent).ok();
    let folders = profile.map(profile::settings_folders);
    let hashes = folders.into_iter().flatten();
    hashes
        .map(|folder| instructions::in_folder(&folder))
        .collect()
}

/// Hashes the folders of the tree from which a command of the project takes its code. A known program takes no code
/// from the tree.
fn own_scripts(agent: &Agent, root: &Path) -> BTreeMap<String, Option<String>> {
    let is_command = matches!(
        AdapterKind::of(agent),
        Ok(AdapterKind::Text | AdapterKind::Json)
    );
    let mut hashes = BTreeMap::new();
    if is_command {
        for place in script_folders::of_command(&agent.command, root) {
            let path = root.join(&place);
            let hash = if place == Path::new(".") {
                ReadHashes::now(root).of(&TracedRead::whole_tree(), &[])
            } else if path.is_dir() {
                read_hashes::folder(&path)
            } else {
                scripts::hash(&path).ok()
            };
            hashes.insert(place.to_string_lossy().into_owned(), hash);
        }
    }
    hashes
}

impl Archive<'_> {
    /// For each shard, returns one event for each reviewer whose earlier answers can be reused. A shard is left
    /// out if the reviewer has already given an answer for the shard.
    pub fn reuse(
        &self,
        state: &ReviewState,
        sources: &Sources,
        bindings: &[Binding],
    ) -> Result<Vec<EventKind>, JournalError> {
        let Some(shards) = state.rounds.first() else {
            return Ok(Vec::new());
        };
        let text_of = |path: &str| sources.text(ROUND, path, self.workspace);
        let rulings = ClosingRulings::of(bindings, &text_of);
        let shown: Vec<Vec<ShownFile>> = shards
            .iter()
            .map(|shard| {
                sources
                    .shard(ROUND, shard)
                    .into_iter()
                    .map(|file| self.shown(file, &rulings))
                    .collect()
            })
            .collect();
        // The keys of the files that are split into parts.
        let split = shards
            .iter()
            .flatten()
            .filter(|covered| !covered.ranges.is_empty());
        let whole = self.keys_of(split.map(|covered| &covered.file), sources, &rulings);
        let mut events = Vec::new();
        let mut origins = Origins::new(self.journal);
        for agent in state.agents(Role::Reviewer) {
            let Some(asker) = self.keys.reviewers.get(&agent.name) else {
                continue;
            };
            let mut finder = Finder::new(self, asker);
            for (shard, reuse) in finder.shards(agent, &shown, &whole, &mut origins)? {
                let call = CallId {
                    agent: agent.name.clone(),
                    purpose: review_of(shard),
                    attempt: 1,
                };
                if state.reuse(&call).is_none()
                    && state.last_call(&call.agent, &call.purpose).is_none()
                {
                    events.push(recorded(call, reuse));
                }
            }
        }
        Ok(events)
    }

    /// Joins adjacent shards of a planned run to reduce the number of calls, because every call repeats the
    /// instructions. In a joined shard, each reviewer has to review at most `max` bytes.
    pub fn joined(
        &self,
        plan: &Plan,
        sources: &Sources,
        bindings: &[Binding],
        max: u64,
    ) -> Result<Vec<Vec<Coverage>>, JournalError> {
        let mut state = ReviewState::begun(plan);
        let known = self.reuse(&state, sources, bindings)?;
        state.apply_all(&known);
        let reviewers: Vec<&Agent> = state
            .agents(Role::Reviewer)
            .filter(|agent| !agent.is_embedded())
            .collect();
        let mut joined: Vec<(Vec<Coverage>, Option<Vec<u64>>)> = Vec::new();
        for (at, shard) in (0..).zip(&plan.shards) {
            let left = reviewers.iter().map(|agent| {
                let reuse = state.reused.get(&(agent.name.clone(), review_of(at)))?;
                let mut bytes = 0;
                for ask in &reuse.asked {
                    let part = shard.iter().find(|covered| covered.file == ask.file);
                    if let Some(part) = part.and_then(|covered| sources.part(ROUND, covered)) {
                        bytes += asked_bytes(&part, ask);
                    }
                }
                Some(bytes)
            });
            let left: Option<Vec<u64>> = left.collect();
            let left = left.filter(|left| !left.is_empty());
            // An answer about two parts of one file in one call could not be told apart by the file.
            let shares_file = joined.last().is_some_and(|(files, _)| {
                shard
                    .iter()
                    .any(|covered| files.iter().any(|file| file.file == covered.file))
            });
            let together = joined
                .last()
                .filter(|_| !shares_file)
                .and_then(|(_, before)| {
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

    /// The keys of whole files, as far as they are under review.
    fn keys_of<'p>(
        &self,
        paths: impl Iterator<Item = &'p String>,
        sources: &Sources,
        rulings: &ClosingRulings<'_>,
    ) -> BTreeMap<String, String> {
        let mut keys = BTreeMap::new();
        for path in paths {
            if !keys.contains_key(path)
                && let Some(file) = sources.file(ROUND, path)
            {
                keys.insert(path.clone(), self.shown(file.clone(), rulings).key);
            }
        }
        keys
    }

    fn shown(&self, file: SourceFile, known: &ClosingRulings<'_>) -> ShownFile {
        let lines = file.text.lines().count();
        let rulings = rulings(known, &file);
        let file = self.redaction.value(file);
        let content = json!([file, rulings]).to_string();
        let instructions = self.keys.instructions.get(&folder_of(&file.path));
        let instructions = instructions.map_or("", String::as_str).as_bytes();
        let guidelines = self.keys.guidelines.get(&file.path);
        let guidelines = guidelines.map_or("", String::as_str).as_bytes();
        ShownFile {
            key: hash(&[content.as_bytes(), instructions, guidelines]),
            frame: hash(&[
                delta::frame(&file).as_bytes(),
                rulings.as_bytes(),
                instructions,
                guidelines,
            ]),
            is_comparable: file.text.lines().count() == lines && !file.text.is_empty(),
            file,
        }
    }

    /// Returns what an answer rests on beside the files that were sent: the inner option is `None` if that is unknown.
    /// Returns `None` if the answer cannot be reused, because the result of a read cannot be compared later.
    #[expect(
        clippy::option_option,
        reason = "an answer with unknown reads is reused, and says so"
    )]
    fn read_sets(
        &self,
        state: &ReviewState,
        call: &CallId,
        sent: &[&str],
        is_embedded: bool,
    ) -> Option<Option<Vec<ReadSet>>> {
        if is_embedded {
            return Some(Some(Vec::new()));
        }
        let mut sets = Vec::new();
        if let Some(part) = state.reuse(call) {
            let mut from = part.from.iter();
            if from.any(|from| from.reads_unknown && !from.in_part.is_empty()) {
                return Some(None);
            }
            sets.clone_from(&part.reads);
        }
        let sent: Vec<String> = sent.iter().map(|path| (*path).to_owned()).collect();
        let hashes = ReadHashes::since(self.workspace.root(), self.keys.at);
        let mut hashed: Vec<HashedRead> = Vec::new();
        // The agent still knows what it read in an earlier attempt of the same session.
        for attempt in state.attempts(&call.agent, &call.purpose) {
            let Some(reads) = &attempt.reads else {
                return Some(None);
            };
            for read in reads.iter().filter(|read| !read.denied) {
                let is_sent = read.extent == ReadExtent::Content && sent.contains(&read.path);
                if is_sent || hashed.iter().any(|known| known.read == *read) {
                    continue;
                }
                let is_known = !serde_json::to_string(read).ok()?.contains("[secret:");
                let hash = hashes.of(read, &sent).filter(|_| is_known)?;
                hashed.push(HashedRead {
                    read: read.clone(),
                    hash,
                });
            }
        }
        if !hashed.is_empty() {
            let searches =
                |read: &HashedRead| matches!(read.read.extent, ReadExtent::Matches { .. });
            let sent = if hashed.iter().any(searches) {
                sent
            } else {
                Vec::new()
            };
            sets.push(ReadSet {
                sent,
                reads: hashed,
            });
        }
        Some(Some(sets))
    }

    /// Returns the event for a reviewer's complete answer in round 1. With this event, later runs can reuse the
    /// answer for unchanged files. The files in `stale`, which changed during the call, are left out.
    pub fn record(
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
        let asker = self.keys.reviewers.get(&call.agent)?;
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
        let asked: Vec<Coverage> = covered
            .iter()
            .filter(|file| {
                part.is_none_or(|part| part.asked.iter().any(|ask| ask.file == file.file))
            })
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
        let is_embedded = state.agent(&call.agent).is_some_and(Agent::is_embedded);
        let reads = self.read_sets(state, call, &paths, is_embedded)?;
        let mut instructions = Instructions::default();
        let text_of = |path: &str| sources.text(ROUND, path, self.workspace);
        let rulings = ClosingRulings::of(bindings, &text_of);
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
            let Some(file) = sources.part(ROUND, covered) else {
                continue;
            };
            let folder = folder_of(&covered.file);
            let now = instructions.of(&self.workspace.root().join(&folder));
            // It is unknown whether the agent read the instructions before or after they changed.
            if self.keys.instructions.get(&folder) != Some(&now) {
                continue;
            }
            let ShownFile {
                file,
                key,
                frame,
                is_comparable,
            } = self.shown(file, &rulings);
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
        let recorded = files.iter().flat_map(|file| &file.findings).chain(&others);
        let others_named = recorded
            .flat_map(|finding| &finding.places)
            .map(|place| &place.file)
            .filter(|file| !stale.contains(file));
        let places = self.keys_of(others_named, sources, &rulings);
        (!files.is_empty()).then(|| {
            let review = ReviewedFiles {
                asker: asker.clone(),
                salt,
                files,
                others,
                places,
                reads,
            };
            ReviewEvent::FilesReviewed {
                call: call.clone(),
                review: Box::new(review),
            }
            .into()
        })
    }
}

/// A list of origins that are all unknown is recorded as an empty list.
fn recorded(call: CallId, mut reuse: Reuse) -> EventKind {
    if reuse.origins.iter().all(Option::is_none) {
        reuse.origins.clear();
    }
    let reuse = Box::new(reuse);
    ReviewEvent::AnswersReused { call, reuse }.into()
}

pub fn review_of(shard: u32) -> Purpose {
    let round = ROUND;
    Purpose::Review { round, shard }
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
fn rulings(known: &ClosingRulings<'_>, file: &SourceFile) -> String {
    let rulings: BTreeSet<String> = known
        .in_force(std::slice::from_ref(file))
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
