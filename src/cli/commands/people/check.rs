//! `glee agents --check`: asks each connected agent one harmless question, and prints whether the agent works
//! and what the call costs.

use std::fmt::Write as _;

use futures_util::StreamExt as _;
use serde::Serialize;

use crate::cli::context::{
    CommandError, CommandResult, Globals, JsonFlag, execute, pretty, settings, stream,
};
use crate::cli::style;
use crate::cli::ui::live::spinner::spinner;
use glee_agents::AdapterKind;
use glee_agents::error::AgentError;
use glee_agents::probe::check::{self, Files, Probed};
use glee_model::domain::{Agent, AgentName, ExitReason, Role, Usage};
use glee_protocol::{secrets, text::printable};
use glee_store::config::settings::Settings;

pub(super) const NO_AGENT: &str =
    "no agent is connected; connect an agent with `glee connect <agent> --role <role>`";

/// The maximum number of agents that are asked at the same time.
const AT_ONCE: usize = 8;

/// One agent in the output of `--json`.
#[derive(Serialize)]
struct CheckedAgent<'a> {
    name: &'a AgentName,
    role: Role,
    version: Option<String>,
    passed: bool,
    /// Whether the answer of the agent contains the nonce of the question.
    answered: bool,
    files: Files,
    error: Option<&'a str>,
    hint: Option<&'a str>,
    millis: u64,
    usage: Usage,
}

pub(crate) fn run(output: &JsonFlag, globals: &Globals) -> CommandResult {
    let (
        places,
        Settings {
            agents,
            limits,
            sandbox,
            ..
        },
    ) = settings::runnable(globals, Vec::new())?;
    let programs = execute::unchecked(agents.len().min(AT_ONCE))?;
    let agents: Vec<&Agent> = agents
        .iter()
        .filter(|agent| AdapterKind::of(agent) != Ok(AdapterKind::Replay))
        .collect();
    let probes = agents.iter().map(|&agent| {
        let programs = &programs;
        let places = &places;
        let limits = &limits;
        async move {
            let version = programs.version(agent, &places.root).await;
            Ok::<_, std::io::Error>((
                version,
                programs.probe(agent, &places.root, limits, sandbox).await?,
            ))
        }
    });
    let mut reason = ExitReason::Clean;
    let mut json = Vec::new();
    let waiting = spinner(globals.screen());
    execute::runtime()?.block_on(async {
        let mut probes = std::pin::pin!(futures_util::stream::iter(probes).buffered(AT_ONCE));
        for (index, &agent) in agents.iter().enumerate() {
            waiting.set_message(format!(
                "waiting for {}",
                style::names(agents[index..].iter().map(|agent| &agent.name))
            ));
            let Some(probe) = probes.next().await else {
                break;
            };
            let (version, probed) = probe?;
            reason = reason.strongest(verdict(agent, &probed));
            if output.json {
                json.push(serde_json::to_value(checked(agent, version, &probed))?);
            } else {
                let text =
                    secrets::redact(&report(agent, version.as_deref(), &probed)).into_owned();
                waiting.suspend(|| stream::out(&text))?;
            }
        }
        Ok::<_, CommandError>(())
    })?;
    waiting.finish_and_clear();
    if output.json {
        stream::out(secrets::redact(&pretty(&json)))?;
    } else if agents.is_empty() {
        globals.say(NO_AGENT);
    }
    Ok(reason)
}

fn checked<'a>(agent: &'a Agent, version: Option<String>, probed: &'a Probed) -> CheckedAgent<'a> {
    let error = probed.answered.as_ref().err();
    CheckedAgent {
        name: &agent.name,
        role: agent.role,
        version,
        passed: verdict(agent, probed) == ExitReason::Clean,
        answered: probed.answered == Ok(true),
        files: probed.files,
        error: error.map(|error| error.message.as_str()),
        hint: error.and_then(|error| error.hint.as_deref()),
        millis: probed.millis,
        usage: probed.usage,
    }
}

fn verdict(agent: &Agent, probed: &Probed) -> ExitReason {
    let kind = AdapterKind::of(agent).unwrap_or(AdapterKind::Text);
    match probed.files {
        Files::Edited | Files::Meddled if agent.role != Role::Coder => {
            ExitReason::ReadOnlyViolation
        }
        _ if probed.keeps_to(agent.role, kind) => ExitReason::Clean,
        _ if probed
            .answered
            .as_ref()
            .is_err_and(|error| error.kind.is_exhausted()) =>
        {
            ExitReason::Limited
        }
        _ => ExitReason::AgentFailed,
    }
}

fn report(agent: &Agent, version: Option<&str>, probed: &Probed) -> String {
    let adapter =
        AdapterKind::of(agent).map_or_else(|_| agent.adapter.clone(), |kind| kind.to_string());
    let version = version.map_or_else(String::new, |version| {
        format!(" {}", style::version(version))
    });
    let good = verdict(agent, probed) == ExitReason::Clean;
    let mark = if good { "ok    " } else { "FAILED" };
    let mut text = format!(
        "{mark}  {} ({}, {adapter}{version})\n",
        printable::line(&agent.name.0),
        agent.role
    );
    let mut lines = Vec::new();
    match &probed.answered {
        Ok(true) => lines.push("answered with the nonce".to_owned()),
        Ok(false) => lines.push("answered, but without the nonce".to_owned()),
        Err(AgentError { message, hint, .. }) => {
            lines.push(printable::line(message));
            lines.extend(
                hint.iter()
                    .map(|hint| format!("hint: {}", printable::line(hint))),
            );
        }
    }
    let is_asked_to_edit = check::is_asked_to_edit(
        agent.role,
        AdapterKind::of(agent).unwrap_or(AdapterKind::Text),
    );
    let files = match (probed.files, agent.role) {
        (Files::Untouched, Role::Coder) if is_asked_to_edit => {
            "changed no file, although it was asked to edit one"
        }
        (Files::Untouched, _) => "created and changed no file",
        (Files::Edited, _) => "changed the requested file only",
        (Files::Meddled, Role::Coder) => "changed other files than the requested one",
        (Files::Meddled, _) => "WROTE to the folder, which its role forbids",
    };
    lines.push(files.to_owned());
    if !probed.metadata.denied.is_empty() {
        let denied = printable::line(&probed.metadata.denied.join(", "));
        lines.push(format!("was refused {denied}"));
    }
    lines.push(cost(probed));
    for line in lines {
        let _ = writeln!(text, "        {line}");
    }
    text
}

fn cost(probed: &Probed) -> String {
    let usage = &probed.usage;
    let mut parts = vec![style::duration(probed.millis)];
    parts.extend(
        usage
            .input_tokens
            .map(|tokens| format!("{} read", style::count(tokens, "token"))),
    );
    parts.extend(
        usage
            .output_tokens
            .map(|tokens| format!("{} written", style::count(tokens, "token"))),
    );
    parts.extend(
        usage
            .usd
            .map(|usd| format!("{}${usd:.4}", if usage.estimated { "about " } else { "" })),
    );
    parts.extend(probed.metadata.model.as_deref().map(printable::line));
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use glee_model::domain::{CallMetadata, Usage};

    #[test]
    fn what_it_did_decides() {
        let agent = |role: Role| Agent {
            adapter: "text".to_owned(),
            ..style::fixture::agent("it", role)
        };
        let probed = |answered, files| Probed {
            answered,
            files,
            millis: 1200,
            usage: Usage {
                input_tokens: Some(1_100),
                usd: Some(0.25),
                estimated: true,
                ..Usage::default()
            },
            metadata: CallMetadata {
                denied: vec!["Write".to_owned()],
                ..CallMetadata::default()
            },
        };
        let reviewer = probed(Ok(true), Files::Untouched);
        assert_eq!(
            report(&agent(Role::Reviewer), Some("1.2"), &reviewer),
            "ok      it (reviewer, text 1.2)\n        answered with the nonce\n        created and changed no file\n        \
             was refused Write\n        1.2s · 1,100 tokens read · about $0.2500\n"
        );
        let cases = [
            (
                Role::Reviewer,
                probed(Ok(true), Files::Meddled),
                ExitReason::ReadOnlyViolation,
            ),
            (
                Role::Coder,
                probed(Ok(true), Files::Edited),
                ExitReason::Clean,
            ),
            (
                Role::Coder,
                probed(Ok(true), Files::Untouched),
                ExitReason::AgentFailed,
            ),
            (
                Role::Judge,
                probed(Ok(false), Files::Untouched),
                ExitReason::AgentFailed,
            ),
        ];
        for (role, probed, expected) in cases {
            assert_eq!(
                verdict(&agent(role), &probed),
                expected,
                "{role} {probed:?}"
            );
        }
    }
}
