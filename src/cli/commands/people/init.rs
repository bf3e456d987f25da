//! `glee init`: finds installed agents and connects them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::connect::{default_name, next_step};
use super::runners;
use crate::cli::context::{CommandError, CommandResult, ConfigTarget, Globals, HEAD, settings};
use crate::cli::ui::dialogs::questions::{self, AskError};
use glee_agents::probe::locate;
use glee_model::domain::{ExitReason, Role};
use glee_model::rules::consensus;
use glee_store::config::files::file::{self, Links};
use glee_store::config::programs;
use glee_store::config::schema::BUILTINS;

/// Find installed agents and connect them
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  glee init
  glee init --yes

If no supported program is installed, Glee connects three embedded agents, which work offline and are free.")]
pub(crate) struct Args {
    /// Connect the suggested agents without asking
    #[arg(short, long)]
    yes: bool,
    /// Replace an existing configuration and keep the old file as `config.yml.old`
    #[arg(long)]
    force: bool,
}

/// Further reviewers cost more than they find.
const MOST_REVIEWERS: usize = 3;

/// The agents that Glee suggests for each role. Each name is the name of a program or of an embedded agent, and
/// is valid as an argument of `glee connect`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Assignment {
    coder: Option<String>,
    reviewers: Vec<String>,
    judge: Option<String>,
    aggregator: Option<String>,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let target = ConfigTarget::find(globals, false)?;
    let old = target.read()?;
    if old.is_some() && !args.force {
        return Err(CommandError::usage(format!("{} exists already", target.path.display())).hint(
            "add agents with `glee connect <agent> --role <role>`, edit the file with `glee config edit`, or replace \
             the file with `glee init --force`",
        ));
    }
    let path = std::env::var_os("PATH");
    let known = programs::all().iter().map(|profile| profile.name.as_str());
    let installed: Vec<&str> = known
        .filter(|program| {
            locate::find(
                &[(*program).to_owned()],
                &target.places.root,
                path.as_deref(),
            )
            .is_ok()
        })
        .collect();
    globals.say(match installed.as_slice() {
        [] => "no known agent program is installed (`glee agents --known` lists them); the embedded agents are available"
            .to_owned(),
        installed => format!("installed: {}", installed.join(", ")),
    });
    let suggested = suggest(&installed);
    if !installed.is_empty() {
        globals.say(format!("suggested: {}", why(&suggested)));
    }
    let assignment = if args.yes {
        suggested
    } else if globals.interactive() {
        match choose(globals, &installed, &suggested) {
            Ok(chosen) => chosen,
            Err(AskError::Interrupted) => return Ok(ExitReason::Signal(2)),
            Err(error) => {
                return Err(CommandError::new(ExitReason::Usage, error).hint("no file was written"));
            }
        }
    } else {
        globals.say("without a terminal, Glee uses the suggestion");
        suggested
    };
    if let Some(old) = old {
        let kept = target.path.with_extension("yml.old");
        file::write(&kept, &old, Links::Refused)?;
        globals.say(format!(
            "the old configuration is kept in {}",
            kept.display()
        ));
    }
    target.write(&text(&assignment))?;
    globals.say(format!("{} is written:", target.path.display()));
    for (role, agent) in assignment.members() {
        globals.say(format!("  {role:<10} {}", default_name(agent, role)));
    }
    let loaded = settings::load(globals)?;
    globals.say("check: `glee agents --check` asks each agent one harmless question");
    if loaded.settings.review.runners.is_empty()
        && let Some(command) = runners::proposal(&target.places.root)
    {
        globals.say(format!(
            "let agents show findings by tests that Glee runs: `{command}`"
        ));
    }
    globals.say(next_step(&loaded.settings));
    Ok(ExitReason::Clean)
}

/// Who trains the models of a program, as far as its profile or its name says it.
fn vendor(program: &str) -> String {
    let profile = programs::known(program).filter(|profile| !profile.vendor.is_empty());
    profile.map_or_else(
        || consensus::vendor(program),
        |profile| profile.vendor.clone(),
    )
}

/// The first installed program codes, and compares what others said. Of the others, at most three of different vendors
/// review, because two programs of one vendor see the same. The judge is a program that does not review; with fewer than
/// four programs it is the first program, which then codes and judges in calls of their own. If only one program is
/// installed, it takes all roles. If no program is installed, embedded agents take all roles except the aggregator,
/// because no embedded agent compares findings.
fn suggest(installed: &[&str]) -> Assignment {
    let Some((first, others)) = installed.split_first() else {
        let [rules, fixer, referee] = BUILTINS.map(|(name, _)| format!("builtin:{name}"));
        let coder = Some(fixer);
        let judge = Some(referee);
        return Assignment {
            coder,
            reviewers: vec![rules],
            judge,
            aggregator: None,
        };
    };
    let (judge, reviewing) = match others {
        [] => (first, installed),
        [reviewing @ .., last] if reviewing.len() >= 2 => (last, reviewing),
        both => (first, both),
    };
    let mut vendors = BTreeSet::new();
    let reviewers = reviewing
        .iter()
        .filter(|name| vendors.insert(vendor(name)))
        .take(MOST_REVIEWERS);
    Assignment {
        coder: Some((*first).to_owned()),
        reviewers: reviewers.map(|&name| name.to_owned()).collect(),
        judge: Some((*judge).to_owned()),
        aggregator: Some((*first).to_owned()),
    }
}

/// Says why the suggestion is as it is.
fn why(suggested: &Assignment) -> String {
    let coder = suggested.coder.as_deref().unwrap_or_default();
    if suggested.judge.as_deref() != Some(coder) {
        return "reviewers are of different vendors, and the judge neither reviews nor codes"
            .to_owned();
    }
    if suggested.reviewers.iter().any(|name| name == coder) {
        return format!(
            "{coder} takes every role, each in calls of its own; a second program would find more"
        );
    }
    format!("{coder} codes and judges in calls of their own, and reviews nothing that it judges")
}

fn candidates(installed: &[&str], role: Role) -> Vec<String> {
    let builtins = BUILTINS
        .iter()
        .filter(|(_, its)| *its == role)
        .map(|(name, _)| format!("builtin:{name}"));
    let installed = installed.iter().map(|&name| name.to_owned());
    installed.chain(builtins).collect()
}

fn one(
    color: bool,
    prompt: &str,
    mut items: Vec<String>,
    suggested: &Option<String>,
) -> Result<Option<String>, AskError> {
    let preselected = items
        .iter()
        .position(|item| Some(item) == suggested.as_ref())
        .unwrap_or(items.len());
    items.push("no agent".to_owned());
    let chosen = questions::select(color, prompt, &items, preselected)?;
    Ok((chosen + 1 < items.len()).then(|| items.swap_remove(chosen)))
}

fn choose(
    globals: &Globals,
    installed: &[&str],
    suggested: &Assignment,
) -> Result<Assignment, AskError> {
    let color = globals.color_stderr();
    let coders = candidates(installed, Role::Coder);
    let coder = one(color, "Who writes code?", coders, &suggested.coder)?;
    let items = candidates(installed, Role::Reviewer)
        .into_iter()
        .map(|item| {
            let is_suggested = suggested.reviewers.contains(&item);
            (item, is_suggested)
        });
    let items: Vec<(String, bool)> = items.collect();
    let chosen = questions::multi_select(
        color,
        "Who reviews? (space selects, enter confirms)",
        &items,
    )?;
    let reviewers = chosen
        .into_iter()
        .map(|index| items[index].0.clone())
        .collect();
    let judge = one(
        color,
        "Who judges disputes?",
        candidates(installed, Role::Judge),
        &suggested.judge,
    )?;
    Ok(Assignment {
        coder,
        reviewers,
        judge,
        aggregator: suggested.aggregator.clone(),
    })
}

impl Assignment {
    fn members(&self) -> impl Iterator<Item = (Role, &str)> {
        let members = [
            (Role::Coder, self.coder.as_slice()),
            (Role::Reviewer, &self.reviewers),
            (Role::Judge, self.judge.as_slice()),
            (Role::Aggregator, self.aggregator.as_slice()),
        ];
        members
            .into_iter()
            .flat_map(|(role, agents)| agents.iter().map(move |agent| (role, agent.as_str())))
    }
}

fn text(assignment: &Assignment) -> String {
    // The id has 64 random bits, so two projects practically never have the same id.
    let id = format!("{:016x}", uuid::Uuid::new_v4().as_u64_pair().0);
    let mut text = format!(
        "{HEAD}\n# Identifies the history of this project in every clone and checkout.\nproject:\n  id: \"{id}\"\n\n# The agents and their roles. Add more with: glee connect <agent> --role coder|reviewer|judge|aggregator\nagents:"
    );
    if assignment.members().next().is_none() {
        text.push_str(" []");
    }
    text.push('\n');
    for (role, agent) in assignment.members() {
        let name = default_name(agent, role);
        let example = example(agent, role);
        let _ = write!(
            text,
            "  - name: {name}\n    command: {agent}\n    role: {role}\n{example}"
        );
    }
    let (default, escalate) = if assignment.judge.is_some() {
        ("judge", "# judge | human | discard")
    } else {
        ("human", "# judge | human | discard; connect a judge first")
    };
    let _ = write!(
        text,
        "
review:
  # The findings that a coder must implement or object to, and those that it may discard.
  opinions: {{mandatory: [MUST], optional: [SHOULD]}}
  issues: {{mandatory: [HIGH], optional: [MEDIUM, LOW]}}
  # Who decides if the coder objects to a mandatory finding.
  on_dispute:
    prompt_user: true   # ask on a terminal
    default: {default:<10} {escalate}
  judge:
    escalate_to: human  # if the judge is uncertain
"
    );
    text
}

fn example(agent: &str, role: Role) -> &'static str {
    match role {
        _ if agent.starts_with("builtin:") => "",
        Role::Coder => {
            "    # domain: [backend, rust, \"src/api/**\"]   # the code that the coder handles\n"
        }
        Role::Reviewer => {
            "    # focus: [security, performance]   # the kinds of problems that the reviewer \
        looks for\n"
        }
        Role::Judge | Role::Aggregator => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast(coder: &str, reviewers: &[&str], judge: &str) -> Assignment {
        Assignment {
            coder: Some(coder.to_owned()),
            reviewers: reviewers.iter().map(|&name| name.to_owned()).collect(),
            judge: Some(judge.to_owned()),
            aggregator: (!coder.starts_with("builtin:")).then(|| coder.to_owned()),
        }
    }

    #[test]
    fn the_suggestion_follows_what_is_installed() {
        assert_eq!(
            suggest(&[]),
            cast("builtin:fixer", &["builtin:rules"], "builtin:referee")
        );
        assert_eq!(suggest(&["codex"]), cast("codex", &["codex"], "codex"));
        assert_eq!(
            suggest(&["claude", "codex"]),
            cast("claude", &["codex"], "claude")
        );
        assert_eq!(
            suggest(&["claude", "codex", "qwen"]),
            cast("claude", &["codex", "qwen"], "claude")
        );
        assert_eq!(
            suggest(&["claude", "codex", "gemini", "opencode", "qwen", "copilot"]),
            cast("claude", &["codex", "gemini", "opencode"], "copilot")
        );
        assert_eq!(
            suggest(&["claude", "gemini", "agy", "droid"]),
            cast("claude", &["gemini"], "droid")
        );
    }
}
