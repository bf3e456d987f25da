//! The option `--with` selects the reviewers of a single run, and the options `--model` and `--focus` set the model and the
//! focus of these reviewers.

use std::collections::BTreeMap;

use crate::cli::context::CommandError;
use glee_agents::adapters::registry::{self, AdapterKind};
use glee_model::domain::{Agent, AgentName, Profile, Role};
use glee_protocol::text::printable;
use glee_store::config;
use glee_store::config::layers::resolve::adapter_of;
use glee_store::config::programs::KNOWN_PROGRAMS;
use glee_store::config::schema::BUILTINS;
use glee_store::config::schema::address::{self, ModelAddress};
use glee_store::config::schema::values::ReviewerChoice;
use glee_store::config::settings::Settings;

/// If the list `with` is not empty, only the reviewers in this list review the code. The reviewers use the model
/// in the parameter `model`. If an entry of the list `with` names a model, this model has precedence for the
/// reviewer of the entry. Embedded reviewers use no model. If a connected reviewer runs a program in the list
/// `with`, Glee selects this reviewer. The configured name, focus and environment variables of the reviewer remain
/// in force. The subjects in `focus`, if there are any, replace the focus of each reviewer.
pub(crate) fn apply(
    settings: &mut Settings,
    with: &[String],
    model: Option<&str>,
    focus: &[String],
) -> Result<(), CommandError> {
    let named = with
        .iter()
        .map(|text| Named::parse(text))
        .collect::<Result<Vec<_>, _>>()?;
    let mut reviewers = Vec::new();
    for Named { program, model } in &named {
        let index = reviewer(settings, program, &reviewers);
        set_model(&mut settings.agents[index], *model)?;
        reviewers.push(index);
    }
    if !reviewers.is_empty() {
        let names = reviewers
            .iter()
            .map(|index| settings.agents[*index].name.0.clone());
        settings.review.reviewers = ReviewerChoice::Named(names.collect());
    }
    let asked: Vec<usize> = match reviewers.as_slice() {
        [] => asked(settings),
        named => named.to_vec(),
    };
    for index in asked.iter().filter(|_| !focus.is_empty()) {
        let agent = &mut settings.agents[*index];
        for word in focus {
            config::typed(&format!("agents.{}.focus", agent.name), word)?;
        }
        agent.focus = focus.to_vec();
    }
    let Some(model) = model else { return Ok(()) };
    let mut is_used = false;
    for (position, index) in asked.into_iter().enumerate() {
        let agent = &mut settings.agents[index];
        let own = named.get(position).and_then(|named| named.model);
        if !agent.is_embedded() && own.is_none() {
            set_model(agent, Some(model))?;
            is_used = true;
        }
    }
    if !is_used {
        return Err(
            CommandError::usage("no reviewer of this run accepts `--model`")
                .hint("remove `--model`, or choose a program: `--with claude --model <model>`"),
        );
    }
    Ok(())
}

/// Returns the indices of the reviewers that the setting `review.reviewers` selects.
fn asked(settings: &Settings) -> Vec<usize> {
    let agents = settings.agents.iter().enumerate();
    agents
        .filter(|(_, agent)| {
            agent.role == Role::Reviewer
                && match &settings.review.reviewers {
                    ReviewerChoice::Named(names) => names.contains(&agent.name.0),
                    ReviewerChoice::All | ReviewerChoice::First => true,
                }
        })
        .map(|(index, _)| index)
        .collect()
}

struct Named<'a> {
    /// A known program, `builtin:` and the name of an embedded reviewer, or the address of a model's server.
    program: &'a str,
    model: Option<&'a str>,
}

fn is_builtin(name: &str) -> bool {
    BUILTINS
        .iter()
        .any(|(kind, role)| *kind == name && *role == Role::Reviewer)
}

impl<'a> Named<'a> {
    fn parse(text: &'a str) -> Result<Self, CommandError> {
        // `gemini:` is the program, as in `claude:opus`.
        let of_program = text
            .split_once(':')
            .filter(|(program, _)| KNOWN_PROGRAMS.contains(program));
        let is_known = of_program.is_some()
            || KNOWN_PROGRAMS.contains(&text)
            || text.strip_prefix("builtin:").is_some_and(is_builtin);
        if !is_known && !address::is_address(text) {
            return Err(unknown(text));
        }
        let split = of_program.or_else(|| address::split_model(text));
        let (program, model) =
            split.map_or((text, None), |(program, model)| (program, Some(model)));
        if !is_known {
            ModelAddress::parse(&[program.to_owned()])
                .map_err(|error| CommandError::usage(error.to_string()))?;
        }
        Ok(Self { program, model })
    }
}

fn unknown(text: &str) -> CommandError {
    let known = KNOWN_PROGRAMS.join(", ");
    CommandError::usage(format!("`{}` is not a supported reviewer", printable::line(text))).hint(format!(
        "use one of {known} (with a model: `claude:opus`), a model by its address (`ollama:qwen3-coder`), or \
         `builtin:rules`; `--reviewer <name>` asks a connected agent"
    ))
}

/// Returns the index of a reviewer that runs `program`. The reviewer is a new agent, or a connected agent that the
/// list `taken` does not contain.
fn reviewer(settings: &mut Settings, program: &str, taken: &[usize]) -> usize {
    let command = [program.to_owned()];
    let connected = settings
        .agents
        .iter()
        .enumerate()
        .position(|(index, agent)| {
            agent.role == Role::Reviewer && agent.command == command && !taken.contains(&index)
        });
    connected.unwrap_or_else(|| {
        let adapter = adapter_of(&command);
        let base = match adapter {
            "builtin" => program.strip_prefix("builtin:").unwrap_or(program),
            "address" => "model",
            _ => program,
        };
        let numbered = (2..).map(|number: u32| format!("{base}-{number}"));
        let name = std::iter::once(base.to_owned())
            .chain(numbered)
            .find(|name| settings.agents.iter().all(|agent| agent.name.0 != *name))
            .unwrap_or_default();
        settings.agents.push(Agent {
            name: AgentName(name),
            role: Role::Reviewer,
            command: command.to_vec(),
            adapter: adapter.to_owned(),
            domain: Vec::new(),
            focus: Vec::new(),
            model: None,
            effort: None,
            env: BTreeMap::new(),
            timeout: None,
            backup: None,
            price: None,
            vendor: None,
            profile: None,
            reads: None,
        });
        settings.agents.len() - 1
    })
}

fn set_model(agent: &mut Agent, model: Option<&str>) -> Result<(), CommandError> {
    let Some(model) = model else { return Ok(()) };
    config::typed(&format!("agents.{}.model", agent.name), model)?;
    let kind = AdapterKind::of(agent)?;
    let takes_model = !registry::profile(agent)?.model.is_empty()
        || registry::places(agent, Profile::MODEL)
        || kind == AdapterKind::Replay;
    if !takes_model {
        let name = &agent.name;
        return Err(CommandError::usage(format!(
            "the model of `{name}` cannot be set: the adapter `{kind}` has no option for a model"
        ))
        .hint("add the model to the agent's `command`, or choose another reviewer with `--with`"));
    }
    agent.model = Some(model.to_owned());
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use glee_agents::samples;

    fn settings() -> Settings {
        let focused = Agent {
            focus: vec!["security".to_owned()],
            ..samples::agent("eye", "claude", &["claude"])
        };
        let agents = [focused, samples::agent("codex", "text", &["./codex.sh"])];
        let agents = agents.map(|agent| Agent {
            role: Role::Reviewer,
            ..agent
        });
        Settings {
            agents: agents.into(),
            ..Settings::default()
        }
    }

    fn chosen(with: &[&str], model: Option<&str>) -> Result<String, String> {
        let mut settings = settings();
        let with: Vec<String> = with.iter().map(|text| (*text).to_owned()).collect();
        apply(&mut settings, &with, model, &[]).map_err(|error| error.render(false))?;
        let ReviewerChoice::Named(names) = &settings.review.reviewers else {
            return Ok("all".to_owned());
        };
        let agent = |name: &String| {
            settings
                .agents
                .iter()
                .find(|agent| agent.name.0 == *name)
                .unwrap()
        };
        let line = |agent: &Agent| {
            let model = agent
                .model
                .as_ref()
                .map(|model| format!(":{model}"))
                .unwrap_or_default();
            format!(
                "{}={}{model} {}",
                agent.name,
                agent.command.join(" "),
                agent.focus.join(",")
            )
        };
        Ok(names
            .iter()
            .map(|name| line(agent(name)).trim_end().to_owned())
            .collect::<Vec<_>>()
            .join(" | "))
    }

    #[test]
    fn reviewers_are_named_by_program_and_model() {
        assert_eq!(chosen(&["claude"], None).unwrap(), "eye=claude security");
        assert_eq!(
            chosen(&["claude:opus", "claude"], None).unwrap(),
            "eye=claude:opus security | claude=claude"
        );
        assert_eq!(
            chosen(&["codex:gpt-5.2"], None).unwrap(),
            "codex-2=codex:gpt-5.2"
        );
        assert_eq!(
            chosen(&["gemini:a:b", "claude", "builtin:rules"], Some("m")).unwrap(),
            "gemini=gemini:a:b | eye=claude:m security | rules=builtin:rules"
        );
        assert_eq!(chosen(&[], None).unwrap(), "all");
        let model = chosen(&[], Some("m")).unwrap_err();
        assert!(
            model.contains("the model of `codex` cannot be set: the adapter `text`"),
            "{model}"
        );
        for (with, model, error) in [
            ("clade", None, "`clade` is not a supported reviewer"),
            (
                "builtin:fixer",
                None,
                "`builtin:fixer` is not a supported reviewer",
            ),
            ("claude:", None, "cannot be"),
            (
                "builtin:rules",
                Some("m"),
                "no reviewer of this run accepts `--model`",
            ),
            (
                "claude:opus",
                Some("m"),
                "no reviewer of this run accepts `--model`",
            ),
        ] {
            let said = chosen(&[with], model).unwrap_err();
            assert!(said.contains(error), "{said}");
        }
    }
}
