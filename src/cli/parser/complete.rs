//! Completes the words of a command line in the shell: runs, disputes, agents, keys and stages of this project.

use std::collections::BTreeSet;

use clap::Command;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use crate::cli::context::{Globals, history, local_time, settings};
use glee_model::domain::Role;
use glee_protocol::{secrets, text::printable};
use glee_store::config::files::stages::CHECKPOINTS;
use glee_store::config::flow;
use glee_store::config::programs;
use glee_store::config::schema::BUILTINS;
use glee_store::history::queries::rows::DisputeFilter;

/// The shell sets this environment variable to ask for completion candidates.
pub(crate) const VARIABLE: &str = "GLEE_COMPLETE";

const NEWEST: u32 = 30;

/// Adds the completion candidates to the arguments of the command and of its subcommands.
pub(crate) fn with_candidates(command: Command) -> Command {
    let name = command.get_name().to_owned();
    command
        .mut_args(
            |argument| match candidates(&name, argument.get_id().as_str()) {
                Some(candidates) => argument.add(ArgValueCandidates::new(candidates)),
                None => argument,
            },
        )
        .mut_subcommands(with_candidates)
}

fn candidates(command: &str, argument: &str) -> Option<fn() -> Vec<CompletionCandidate>> {
    Some(match (command, argument) {
        (_, "run") => runs,
        ("show" | "resolve" | "reopen" | "share", "dispute" | "number" | "numbers") => disputes,
        ("show" | "answer" | "fix" | "dismiss" | "keep", "finding" | "findings" | "of") => findings,
        ("review" | "disputes" | "list", "reviewer") | (_, "reviewers") => reviewers,
        (_, "agents") | ("emit", "agent") | ("disconnect", "name") => agents,
        ("connect", "agent") => known_agents,
        ("connect", "role") => || {
            Role::ALL
                .map(|role| CompletionCandidate::new(role.as_str()))
                .into()
        },
        ("get" | "set" | "unset", "key") => keys,
        ("gate", "checkpoint") => || CHECKPOINTS.map(CompletionCandidate::new).into(),
        _ => return None,
    })
}

/// The global options with which Glee reads the project. If Glee cannot read the project, the shell shows fewer
/// candidates and no error.
fn here() -> Globals {
    Globals {
        quiet: true,
        ..Globals::default()
    }
}

fn candidate(word: impl Into<String>, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(word.into()).help(Some(printable::line(help).into()))
}

fn runs() -> Vec<CompletionCandidate> {
    let journal = history::known_here(&here());
    let rows = journal
        .and_then(|journal| journal.runs(Some(NEWEST)).ok())
        .unwrap_or_default();
    let of_row = rows.iter().map(|row| {
        candidate(
            row.run.short(),
            &format!("{} {}", local_time(row.started), row.target),
        )
    });
    std::iter::once(candidate("last", "the newest run"))
        .chain(of_row)
        .collect()
}

fn disputes() -> Vec<CompletionCandidate> {
    let journal = history::known_here(&here());
    let newest = DisputeFilter {
        recent: Some(NEWEST),
        ..DisputeFilter::default()
    };
    let rows = journal
        .and_then(|journal| journal.disputes(&newest).ok())
        .unwrap_or_default();
    rows.iter()
        .map(|row| candidate(row.number.to_string(), &printable::line(&row.title)))
        .collect()
}

fn findings() -> Vec<CompletionCandidate> {
    let journal = history::known_here(&here());
    let known = journal.and_then(|journal| journal.known_problems().ok());
    let mut candidates = Vec::new();
    let mut seen = BTreeSet::new();
    for earlier in known.unwrap_or_default().findings {
        let id = earlier.finding.id;
        if candidates.len() < NEWEST as usize && seen.insert(id) {
            candidates.push(candidate(
                id.to_string(),
                &printable::line(&earlier.finding.raw.title),
            ));
        }
    }
    candidates
}

fn of_role(role: Option<Role>) -> Vec<CompletionCandidate> {
    let agents = settings::agents(&here());
    agents
        .iter()
        .filter(|agent| role.is_none_or(|role| agent.role == role))
        .map(|agent| candidate(agent.name.0.clone(), agent.role.as_str()))
        .collect()
}

fn agents() -> Vec<CompletionCandidate> {
    of_role(None)
}

fn reviewers() -> Vec<CompletionCandidate> {
    of_role(Some(Role::Reviewer))
}

fn known_agents() -> Vec<CompletionCandidate> {
    let known = programs::all().iter();
    let known = known.map(|profile| CompletionCandidate::new(&profile.name));
    known
        .chain(BUILTINS.map(|(name, role)| candidate(format!("builtin:{name}"), role.as_str())))
        .collect()
}

fn keys() -> Vec<CompletionCandidate> {
    let Ok(loaded) = settings::load(&here()) else {
        return Vec::new();
    };
    loaded
        .values
        .iter()
        .map(|(key, setting)| candidate(key, &secrets::redact(&flow(&setting.value))))
        .collect()
}
