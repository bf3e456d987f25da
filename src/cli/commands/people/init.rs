//! `glee init`: set Glee up in this project: find installed agents and connect them.

use std::fmt::Write as _;

use super::connect::{default_name, next_step};
use crate::agents::probe::locate;
use crate::cli::context::config_edit::{ConfigTarget, HEAD};
use crate::cli::context::globals::{Globals, say};
use crate::cli::context::settings::{self, Places};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::ui::dialogs::questions::{self, AskError};
use crate::config::schema::{BUILTINS, KNOWN_PROGRAMS};
use crate::domain::{ExitReason, Role};

/// Arguments of `glee init`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  glee init
  glee init --yes

Without an installed agent, the three embedded ones are connected: they work offline and cost nothing.")]
pub(crate) struct Args {
    /// Ask nothing and take what is suggested
    #[arg(short, long)]
    yes: bool,
    /// Begin anew where there is a configuration already; the old one is kept beside it
    #[arg(long)]
    force: bool,
}

/// Who takes which role: programs or embedded agents, as one would connect them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cast {
    coder: Option<String>,
    reviewers: Vec<String>,
    judge: Option<String>,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let places = Places::find(globals)?;
    let target = ConfigTarget::of(&places, false)?;
    let old = target.read()?;
    if old.is_some() && !args.force {
        return Err(CommandError::usage(format!("{} is there already", target.path.display())).hint(
            "add to it with `glee connect <agent> --role <role>` or `glee config edit`, or begin anew with `glee init --force`",
        ));
    }
    let installed = installed(&places);
    tell(globals, &installed);
    let suggested = suggest(&installed);
    let cast = if args.yes {
        suggested
    } else if globals.interactive() {
        match choose(globals, &installed, &suggested) {
            Ok(cast) => cast,
            Err(AskError::Interrupted) => return Ok(ExitReason::Signal(2)),
            Err(error @ (AskError::Cancelled | AskError::Terminal(_))) => {
                return Err(CommandError::new(ExitReason::Usage, error).hint("nothing is written"));
            }
        }
    } else {
        say(globals, "no terminal to ask on: taking what is suggested");
        suggested
    };
    if let Some(old) = old {
        let kept = target.path.with_extension("yml.old");
        crate::config::files::file::write(&kept, &old, crate::config::files::file::Links::Refused)?;
        say(globals, &format!("the old configuration is kept in {}", kept.display()));
    }
    target.write(&places, globals, &text(&cast))?;
    say(globals, &format!("{} is written:", target.path.display()));
    for (role, agent) in cast.members() {
        say(globals, &format!("  {role:<9} {}", default_name(agent, role)));
    }
    let (_, loaded) = settings::settings(globals, Vec::new())?;
    say(globals, &next_step(&loaded.settings));
    Ok(ExitReason::Clean)
}

/// The known programs that are there, in the order of [`KNOWN_PROGRAMS`].
fn installed(places: &Places) -> Vec<&'static str> {
    let path = std::env::var_os("PATH");
    let there = |program: &&str| locate::find(&[(*program).to_owned()], &places.root, path.as_deref()).is_ok();
    KNOWN_PROGRAMS.into_iter().filter(there).collect()
}

fn tell(globals: &Globals, installed: &[&str]) {
    if installed.is_empty() {
        say(
            globals,
            &format!("none of {} is installed; Glee's embedded agents are there", KNOWN_PROGRAMS.join(", ")),
        );
    } else {
        say(globals, &format!("installed: {}", installed.join(", ")));
    }
}

/// The first program codes, the others review, and a fresh instance of the first judges. A program that is alone
/// reviews as well: as another instance, with another prompt.
fn suggest(installed: &[&str]) -> Cast {
    let Some((first, others)) = installed.split_first() else {
        let [rules, fixer, referee] = BUILTINS.map(|(name, _)| format!("builtin:{name}"));
        return Cast { coder: Some(fixer), reviewers: vec![rules], judge: Some(referee) };
    };
    let reviewers = if others.is_empty() {
        vec![(*first).to_owned()]
    } else {
        others.iter().map(|&name| name.to_owned()).collect()
    };
    Cast { coder: Some((*first).to_owned()), reviewers, judge: Some((*first).to_owned()) }
}

/// Asks for each role, the suggestion preselected.
fn choose(globals: &Globals, installed: &[&str], suggested: &Cast) -> Result<Cast, AskError> {
    let color = globals.color_stderr();
    let candidates = |role: Role| -> Vec<String> {
        let builtins = BUILTINS.iter().filter(|(_, its)| *its == role).map(|(name, _)| format!("builtin:{name}"));
        installed.iter().map(|&name| name.to_owned()).chain(builtins).collect()
    };
    let one = |role: Role, prompt: &str, suggested: &Option<String>| -> Result<Option<String>, AskError> {
        let mut items = candidates(role);
        let preselected = items.iter().position(|item| Some(item) == suggested.as_ref()).unwrap_or(items.len());
        items.push("nobody".to_owned());
        let chosen = questions::select(color, prompt, &items, preselected)?;
        Ok((chosen + 1 < items.len()).then(|| items.swap_remove(chosen)))
    };
    let coder = one(Role::Coder, "Who writes code?", &suggested.coder)?;
    let items: Vec<(String, bool)> = candidates(Role::Reviewer)
        .into_iter()
        .map(|item| (item.clone(), suggested.reviewers.contains(&item)))
        .collect();
    let reviewers = questions::multi_select(color, "Who reviews? (space selects, enter goes on)", &items)?
        .into_iter()
        .map(|index| items[index].0.clone())
        .collect();
    let judge = one(Role::Judge, "Who judges disputes?", &suggested.judge)?;
    Ok(Cast { coder, reviewers, judge })
}

impl Cast {
    fn members(&self) -> impl Iterator<Item = (Role, &str)> {
        let coder = self.coder.iter().map(|agent| (Role::Coder, agent.as_str()));
        let reviewers = self.reviewers.iter().map(|agent| (Role::Reviewer, agent.as_str()));
        let judge = self.judge.iter().map(|agent| (Role::Judge, agent.as_str()));
        coder.chain(reviewers).chain(judge)
    }
}

fn text(cast: &Cast) -> String {
    // 64 random bits: two projects never get the same one.
    let id = format!("{:x}", uuid::Uuid::new_v4().as_u64_pair().0);
    let mut text = format!(
        "{HEAD}\n# Names this project's history in every clone and checkout.\nproject:\n  id: \"{id}\"\n\n# Who does what. More with: glee connect <agent> --role coder|reviewer|judge|aggregator\nagents:"
    );
    if cast.members().next().is_none() {
        text.push_str(" []");
    }
    text.push('\n');
    for (role, agent) in cast.members() {
        let (name, example) = (default_name(agent, role), example(agent, role));
        let _ = write!(text, "  - name: {name}\n    command: {agent}\n    role: {role}\n{example}");
    }
    let (default, escalate) = if cast.judge.is_some() {
        ("judge", "# judge | human | discard")
    } else {
        ("human", "# judge | human | discard; connect a judge first")
    };
    let _ = write!(
        text,
        "
review:
  # What a coder has to do, and what it may discard.
  opinions: {{mandatory: [MUST], optional: [SHOULD]}}
  issues: {{mandatory: [HIGH], optional: [MEDIUM, LOW]}}
  # Where the coder objects to something mandatory.
  on_dispute:
    prompt_user: true   # ask on a terminal
    default: {default:<10} {escalate}
  judge:
    escalate_to: human  # where the judge is uncertain
"
    );
    text
}

/// A commented-out line that makes a specialist of an agent.
fn example(agent: &str, role: Role) -> &'static str {
    match role {
        _ if agent.starts_with("builtin:") => "",
        Role::Coder => "    # domain: [backend, rust, \"src/api/**\"]   # the code it is for\n",
        Role::Reviewer => "    # focus: [security, performance]   # what it looks for\n",
        Role::Judge | Role::Aggregator => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast(coder: &str, reviewers: &[&str], judge: &str) -> Cast {
        Cast {
            coder: Some(coder.to_owned()),
            reviewers: reviewers.iter().map(|&name| name.to_owned()).collect(),
            judge: Some(judge.to_owned()),
        }
    }

    #[test]
    fn the_suggestion_follows_what_is_installed() {
        assert_eq!(suggest(&[]), cast("builtin:fixer", &["builtin:rules"], "builtin:referee"));
        assert_eq!(suggest(&["codex"]), cast("codex", &["codex"], "codex"));
        assert_eq!(suggest(&["claude", "codex", "qwen"]), cast("claude", &["codex", "qwen"], "claude"));
    }
}
