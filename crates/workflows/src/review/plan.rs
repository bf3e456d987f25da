//! Plans a run before any paid call is made.
//!
//! Planning fails if a required role has no agent. Glee does not assign this role to an agent of another role
//! (design rule 1).

use std::collections::BTreeSet;

use crate::review::recorded::reuse::instructions::is_instruction;
use crate::review::state::ReviewState;
use glee_agents::adapters::registry;
use glee_model::domain::event::{Event, FixRequest, Mode, Plan};
use glee_model::domain::{Advice, Agent, AgentName, FindingId, Role, Route, SkipReason};
use glee_model::rules::consensus::Policy;
use glee_model::rules::review::coder_selection::Coders;
use glee_protocol::request::SourceFile;
use glee_protocol::secrets;
use glee_store::config::choices::{Compare, Validate};
use glee_store::config::schema::values::ReviewerChoice;
use glee_store::config::settings::Settings;
use glee_workspace::Target;
use glee_workspace::select::filter;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReviewPlanError {
    #[error("no agent has the role `{0}`")]
    MissingRole(Role),
    #[error("no agent has the role `judge`, which disputes require")]
    NoJudge,
    #[error("the backup of `{agent}` must be another connected {role}, but is `{backup}`")]
    Backup {
        agent: AgentName,
        backup: AgentName,
        role: Role,
    },
    #[error("`{0}` in `review.reviewers` is not a connected reviewer")]
    UnknownReviewer(String),
    #[error("a panel has three judges, but `review.judge.panel` lists {0}")]
    Panel(usize),
    #[error("`{0}` in `review.judge.panel` is not a connected judge")]
    UnknownJudge(String),
    #[error("`{file}:{line}` contains a private key")]
    PrivateKey { file: String, line: u32 },
    #[error("`review.quorum` is {quorum}, but the number of reviewers is {reviewers}")]
    Quorum { quorum: u32, reviewers: usize },
}

impl Advice for ReviewPlanError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::MissingRole(role) => format!(
                "connect an agent with `glee connect <agent> --role {role}`, or connect all agents with `glee init`"
            ),
            Self::NoJudge => {
                "connect an agent with `glee connect <agent> --role judge`, or settle disputes without a judge: \
                 `--on-dispute \
                 human|discard`, or `glee config set review.on_dispute.default human|discard`"
                    .to_owned()
            }
            Self::Panel(_) => {
                "set three judges with `glee config set review.judge.panel \"[a, b, c]\"`, or disable the panel \
                 with `glee config unset \
                 review.judge.panel`"
                    .to_owned()
            }
            Self::UnknownJudge(name) => {
                format!("connect the judge with `glee connect <agent> --role judge --name {name}`; `glee agents` \
                         lists the connected agents")
            }
            Self::PrivateKey { .. } => {
                "exclude the file in .gleeignore, or show agents a placeholder instead of the key: `glee config set \
                 --user \
                 redaction.block_private_keys false`"
                    .to_owned()
            }
            Self::Backup { .. } => "`glee agents` lists the agents and their roles".to_owned(),
            Self::UnknownReviewer(_) => "`glee agents` lists the connected agents".to_owned(),
            Self::Quorum { .. } => "lower the quorum with `glee config set review.quorum <number>`".to_owned(),
        })
    }
}

/// Plans a run. `asks` is true if a person can be asked. If no person can be asked, the default route `judge`
/// requires a judge. Judges also take part if `review.consensus` requires judges. Fails if a required role is
/// missing or a configured reviewer is not connected. A target without files needs no agent.
pub fn plan(
    settings: &Settings,
    mode: Mode,
    asks: bool,
    root: &std::path::Path,
    target: &Target,
) -> Result<Plan, ReviewPlanError> {
    let agents = if target.files.is_empty() {
        Plan::default()
    } else {
        planned_agents(settings, mode, asks, target)?
    };
    Ok(Plan {
        root: root.to_string_lossy().into_owned(),
        target: target.description.clone(),
        commit: target.commit.clone(),
        tree: target.tree.clone(),
        mode,
        shards: target.coverage(),
        skipped: target.skipped.clone(),
        settings: settings.recorded(),
        ..agents
    })
}

/// Empties a target that contains only documents, if the reviewers read only code.
pub fn leave_out_documents(settings: &Settings, target: &mut Target) {
    let Ok(reviewers) = reviewers(settings) else {
        return;
    };
    let asked: Vec<Agent> = reviewers.into_iter().cloned().collect();
    let backups = backups(settings, &asked).unwrap_or_default();
    let read_only_code = asked.iter().chain(&backups).all(Agent::is_embedded);
    let is_document =
        |file: &SourceFile| filter::is_document(&file.path) && !is_instruction(&file.path);
    if read_only_code && target.files.iter().all(is_document) {
        target.leave_out(SkipReason::Document);
    }
}

/// A plan that has only its agents.
fn planned_agents(
    settings: &Settings,
    mode: Mode,
    asks: bool,
    target: &Target,
) -> Result<Plan, ReviewPlanError> {
    let mut agents: Vec<Agent> = reviewers(settings)?.into_iter().cloned().collect();
    if let Some(quorum) = settings.review.quorum
        && usize::try_from(quorum).is_ok_and(|quorum| quorum > agents.len())
    {
        return Err(ReviewPlanError::Quorum {
            quorum,
            reviewers: agents.len(),
        });
    }
    if mode >= Mode::Fix {
        let files: Vec<Option<&str>> = target
            .files
            .iter()
            .map(|file| Some(file.path.as_str()))
            .collect();
        agents.extend(coders(settings, &[], &files)?);
    }
    let several = agents
        .iter()
        .filter(|agent| agent.role == Role::Reviewer)
        .count()
        > 1;
    let validates = several && settings.review.consensus.validate == Validate::Judge;
    let weighs = several && settings.review.consensus.policy == Policy::Specification;
    if mode == Mode::Arbitrate || validates || weighs {
        let judges = judges(settings)?;
        let asked = asks && settings.review.on_dispute.prompt_user;
        let needed =
            mode == Mode::Arbitrate && settings.review.on_dispute.default == Route::Judge && !asked;
        if judges.is_empty() && validates {
            return Err(ReviewPlanError::MissingRole(Role::Judge));
        }
        if judges.is_empty() && needed {
            return Err(ReviewPlanError::NoJudge);
        }
        agents.extend(judges.into_iter().cloned());
    }
    let mut backups = backups(settings, &agents)?;
    private_keys(settings, agents.iter().chain(&backups), &target.files)?;
    let comparers = comparers(settings, &agents, &mut backups, &target.files);
    Ok(Plan {
        agents,
        backups,
        comparers,
        ..Plan::default()
    })
}

/// A shard is at most this part of the longest prompt that a program accepts. Line numbers, the diff and the instructions
/// are sent beside the code.
const OF_PROMPT: u64 = 8;

/// The maximum size of a shard in bytes: `review.max_shard_size`, or less if the program of a reviewer accepts less.
pub fn shard_limit(settings: &Settings) -> u64 {
    let mut limit = settings.review.max_shard_size;
    for agent in reviewers(settings).unwrap_or_default() {
        if let Some(longest) = registry::longest_prompt(agent) {
            limit = limit.min(longest.most() as u64 / OF_PROMPT);
        }
    }
    limit
}

/// The agents that are asked only whether findings are the same. A run does not depend on these agents, so none is
/// chosen where a choice would fail.
fn comparers(
    settings: &Settings,
    agents: &[Agent],
    known: &mut Vec<Agent>,
    files: &[SourceFile],
) -> Vec<Agent> {
    if settings.review.compare == Compare::Off {
        return Vec::new();
    }
    let mut comparers: Vec<Agent> = first_choice(settings)
        .find(|agent| agent.role == Role::Aggregator && !agent.is_embedded())
        .cloned()
        .into_iter()
        .collect();
    if agents.iter().all(|agent| agent.role != Role::Judge) {
        let judges = judges(settings).unwrap_or_default();
        comparers.extend(
            judges
                .into_iter()
                .find(|agent| !agent.is_embedded())
                .cloned(),
        );
    }
    let backups = backups(settings, &comparers).unwrap_or_default();
    if private_keys(settings, comparers.iter().chain(&backups), files).is_err() {
        return Vec::new();
    }
    for backup in backups {
        if known.iter().all(|other| other.name != backup.name) {
            known.push(backup);
        }
    }
    comparers
}

/// Plans a fix of chosen findings of a recorded run. `files` is the code of the findings.
pub fn fix_request(
    settings: &Settings,
    plan: &Plan,
    events: &[Event],
    findings: Vec<FindingId>,
    files: &[SourceFile],
) -> Result<FixRequest, ReviewPlanError> {
    let state = ReviewState::of(events);
    let paths: Vec<Option<&str>> = findings
        .iter()
        .map(|id| state.file_for_coder(*id))
        .collect();
    let coders_before: Vec<Agent> = plan
        .agents
        .iter()
        .filter(|agent| agent.role == Role::Coder && !agent.is_caller())
        .cloned()
        .collect();
    let coders = coders(settings, &coders_before, &paths)?;
    let added: Vec<Agent> = coders
        .iter()
        .filter(|coder| !coders_before.contains(coder))
        .cloned()
        .collect();
    let mut backups = backups(settings, &added)?;
    private_keys(settings, added.iter().chain(&backups), files)?;
    backups.retain(|backup| plan.backups.iter().all(|known| known.name != backup.name));
    Ok(FixRequest {
        findings,
        coders: if added.is_empty() { added } else { coders },
        backups,
    })
}

/// Returns the coders in `known` and the coders of the files, in the order of the configuration. A coder that is no
/// longer configured comes first.
fn coders(
    settings: &Settings,
    known: &[Agent],
    files: &[Option<&str>],
) -> Result<Vec<Agent>, ReviewPlanError> {
    let is_known = |agent: &Agent| known.iter().any(|coder| coder.name == agent.name);
    let configured =
        first_choice(settings).filter(|agent| agent.role == Role::Coder && !is_known(agent));
    let mut coders: Vec<&Agent> = known.iter().chain(configured).collect();
    coders.sort_by_key(|coder| {
        let mut names = settings.agents.iter().map(|agent| &agent.name);
        names.position(|name| *name == coder.name)
    });
    let choice = Coders::of(coders.iter().copied());
    let chosen: BTreeSet<&AgentName> = files
        .iter()
        .filter_map(|file| choice.of_file(*file))
        .map(|coder| &coder.name)
        .collect();
    coders.retain(|coder| is_known(coder) || chosen.contains(&coder.name));
    if coders.is_empty() {
        return Err(ReviewPlanError::MissingRole(Role::Coder));
    }
    Ok(coders.into_iter().cloned().collect())
}

/// Fails if an agent would receive a private key. The check ignores embedded agents, which send nothing to other
/// machines.
fn private_keys<'a>(
    settings: &Settings,
    mut agents: impl Iterator<Item = &'a Agent>,
    files: &[SourceFile],
) -> Result<(), ReviewPlanError> {
    let redaction = settings.redaction;
    let leaves = agents.any(|agent| !agent.is_embedded());
    if !(redaction.secrets && redaction.block_private_keys && leaves) {
        return Ok(());
    }
    let found = files
        .iter()
        .find_map(|file| Some((file.path.clone(), secrets::private_key(&file.text)?)));
    found.map_or(Ok(()), |(file, line)| {
        Err(ReviewPlanError::PrivateKey { file, line })
    })
}

/// The configured agents, except backups. An agent counts as a backup if an earlier agent with the same role has
/// this agent's name in the field `backup`.
pub(crate) fn first_choice(settings: &Settings) -> impl Iterator<Item = &Agent> {
    settings
        .agents
        .iter()
        .enumerate()
        .filter(|(at, agent)| {
            let before = &settings.agents[..*at];
            !before
                .iter()
                .any(|other| other.role == agent.role && other.backup.as_ref() == Some(&agent.name))
        })
        .map(|(_, agent)| agent)
}

/// The backup agents of `agents`, the backup agents of these backup agents, and so on.
pub fn backups(settings: &Settings, agents: &[Agent]) -> Result<Vec<Agent>, ReviewPlanError> {
    let mut found: Vec<Agent> = Vec::new();
    let mut asked: Vec<&Agent> = agents.iter().collect();
    while let Some(agent) = asked.pop() {
        let Some(name) = &agent.backup else { continue };
        let backup = settings.agents.iter().find(|other| {
            other.name == *name && other.role == agent.role && other.name != agent.name
        });
        let Some(backup) = backup else {
            return Err(ReviewPlanError::Backup {
                agent: agent.name.clone(),
                backup: name.clone(),
                role: agent.role,
            });
        };
        if found.iter().all(|known| known.name != backup.name) {
            found.push(backup.clone());
            asked.push(backup);
        }
    }
    Ok(found)
}

/// The three judges of the panel. Without a panel, the list contains only the first judge; an embedded judge stands in
/// where no other is connected. If no judge is configured, the list is empty. Fails if `review.judge.panel` is set but does not name three connected judges.
pub fn judges(settings: &Settings) -> Result<Vec<&Agent>, ReviewPlanError> {
    let all = settings
        .agents
        .iter()
        .filter(|agent| agent.role == Role::Judge);
    let panel = &settings.review.judge.panel;
    if panel.is_empty() {
        let judges = first_choice(settings).filter(|agent| agent.role == Role::Judge);
        // Of several minima, the first one is returned.
        let first = judges.min_by_key(|judge| judge.is_embedded());
        return Ok(first.into_iter().collect());
    }
    let distinct: BTreeSet<&String> = panel.iter().collect();
    if panel.len() != 3 || distinct.len() != 3 {
        return Err(ReviewPlanError::Panel(distinct.len()));
    }
    panel
        .iter()
        .map(|name| {
            all.clone()
                .find(|agent| agent.name.0 == *name)
                .ok_or_else(|| ReviewPlanError::UnknownJudge(name.clone()))
        })
        .collect()
}

pub fn reviewers(settings: &Settings) -> Result<Vec<&Agent>, ReviewPlanError> {
    let all: Vec<&Agent> = settings
        .agents
        .iter()
        .filter(|agent| agent.role == Role::Reviewer)
        .collect();
    if all.is_empty() {
        return Err(ReviewPlanError::MissingRole(Role::Reviewer));
    }
    let unasked = || first_choice(settings).filter(|agent| agent.role == Role::Reviewer);
    match &settings.review.reviewers {
        ReviewerChoice::All => Ok(unasked().collect()),
        ReviewerChoice::First => Ok(unasked().take(1).collect()),
        ReviewerChoice::Named(names) => names
            .iter()
            .map(|name| {
                let found = all
                    .iter()
                    .find(|agent| agent.name == AgentName::from(name.as_str()));
                found
                    .copied()
                    .ok_or_else(|| ReviewPlanError::UnknownReviewer(name.clone()))
            })
            .collect(),
    }
}
