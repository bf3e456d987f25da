//! `glee review`: review code, hand the findings to the coder, settle disputes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::agents::Agents;
use crate::cli::context::globals::Globals;
use crate::cli::context::input::Input;
use crate::cli::context::words::{FORMATS, ROUTES, one_of};
use crate::cli::context::{execute, place};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::Format;
use crate::cli::ui::stream;
use crate::config::files::rulings::is_shared;
use crate::config::settings::Settings;
use crate::domain::event::{Mode, Staged};
use crate::domain::{ExitReason, RawFinding, Route, Severity, Tag};
use crate::workflows::review;
use crate::workflows::review::disputes::rulings::SharedRulings;
use crate::workspace::root::Workspace;
use crate::workspace::{SelectOptions, Steering, Target, TargetSpec};

/// Arguments of `glee review`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  glee review                       review what is not committed yet
  glee review src/ --arbitrate      review a folder, fix it, settle what is disputed
  glee review --base main --fix     review this branch and let the coder implement the findings
  git diff | glee review --diff -   review a patch

Exit codes: 0 clean, 1 mandatory findings open, 2 usage, 3 a dispute waits for a person,
4 an agent failed, 5 a reader may have written, 6 another run holds this tree, 7 history,
8 not trusted, 75 over budget.")]
pub(crate) struct Args {
    /// Files and folders to review, or a range of commits `A..B`; without any: what is not committed
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Review what is staged
    #[arg(long, group = "target", conflicts_with = "paths")]
    staged: bool,
    /// Review everything since this branch left REV, committed or not
    #[arg(long, value_name = "REV", group = "target", conflicts_with = "paths")]
    base: Option<String>,
    /// Review one commit
    #[arg(long, value_name = "REV", group = "target", conflicts_with = "paths")]
    commit: Option<String>,
    /// Review a unified diff; `-` reads it from standard input
    #[arg(long, value_name = "FILE", group = "target", conflicts_with = "paths")]
    diff: Option<PathBuf>,
    /// Hand the findings to the coder, who edits files
    #[arg(long)]
    fix: bool,
    /// Hand the findings to the coder and settle disputes
    #[arg(long)]
    arbitrate: bool,
    /// Stage the files that the coder changed, unless they were staged only in part
    #[arg(long, requires = "staged")]
    restage: bool,
    /// Ask about everything, also what the reviewers have answered already [default: not review.reuse]
    #[arg(long)]
    full: bool,
    /// Show what would be asked of whom, what is known already and what it may cost, and ask nobody
    #[arg(long)]
    dry_run: bool,
    /// Settle every dispute this way, without asking for it [default: review.on_dispute.default]
    #[arg(long, value_parser = one_of(ROUTES), value_name = "ROUTE")]
    on_dispute: Option<Route>,
    /// Review again what was changed, this many rounds at most [default: review.rounds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20))]
    rounds: Option<u32>,
    /// Have the reviewers examine (2 rounds) and defend (3) their findings; `auto`: only what is mandatory or of one
    /// reviewer [default: review.debate]
    #[arg(long, value_name = "ROUNDS", num_args = 0..=1, default_missing_value = "3", value_parser = ["auto", "2", "3", "off"])]
    debate: Option<String>,
    /// How many agents work at the same time [default: review.jobs]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    jobs: Option<u32>,
    /// Ask only this reviewer; may be repeated [default: review.reviewers]
    #[arg(long, value_name = "NAME")]
    reviewer: Vec<String>,
    /// The form of the report
    #[arg(long, value_parser = one_of(FORMATS), value_name = "FORMAT", default_value = "text")]
    format: Format,
}

impl Args {
    fn mode(&self) -> Mode {
        match (self.arbitrate, self.fix) {
            (true, _) => Mode::Arbitrate,
            (false, true) => Mode::Fix,
            (false, false) => Mode::Review,
        }
    }

    /// What is done about the index, where the coder edits what is staged.
    fn staged_use(&self) -> Option<Staged> {
        match (self.mode(), self.staged, self.restage) {
            (Mode::Review, ..) | (_, false, _) => None,
            (Mode::Fix | Mode::Arbitrate, true, true) => Some(Staged::Restaged),
            (Mode::Fix | Mode::Arbitrate, true, false) => Some(Staged::Left),
        }
    }

    /// The settings that flags override, as dotted keys.
    fn overrides(&self) -> Vec<(String, serde_json::Value)> {
        let mut flags = Vec::new();
        let mut set = |key: &str, value: serde_json::Value| flags.push((key.to_owned(), value));
        if let Some(route) = self.on_dispute {
            set("review.on_dispute.default", route.as_str().into());
        }
        if let Some(rounds) = self.rounds {
            set("review.rounds", rounds.into());
        }
        if let Some(debate) = &self.debate {
            set("review.debate", debate.as_str().into());
        }
        if let Some(jobs) = self.jobs {
            set("review.jobs", jobs.into());
        }
        if self.full {
            set("review.reuse", false.into());
        }
        if !self.reviewer.is_empty() {
            set("review.reviewers", self.reviewer.clone().into());
        }
        flags
    }

    fn target(&self, workspace: &Workspace, globals: &Globals) -> Result<TargetSpec, CommandError> {
        if self.staged {
            return Ok(TargetSpec::Staged);
        }
        if let Some(base) = &self.base {
            return Ok(TargetSpec::Base(base.clone()));
        }
        if let Some(commit) = &self.commit {
            return Ok(TargetSpec::Commit(commit.clone()));
        }
        if let Some(diff) = &self.diff {
            return read_diff(diff, globals);
        }
        match self.paths.as_slice() {
            [] => Ok(TargetSpec::Uncommitted),
            [range] if is_range(range, workspace) => Ok(TargetSpec::Range(range.to_string_lossy().into_owned())),
            paths => Ok(TargetSpec::Paths(paths.to_vec())),
        }
    }
}

/// Whether a lone argument is a range of commits rather than a path that exists.
fn is_range(path: &Path, workspace: &Workspace) -> bool {
    let text = path.to_string_lossy();
    workspace.is_git()
        && text.contains("..")
        && !path.components().any(|part| matches!(part, std::path::Component::ParentDir))
        && !workspace.root().join(path).exists()
        && !path.exists()
}

/// The size of a diff that is read at most, in MiB.
const DIFF_CAP: u64 = 64;

fn read_diff(path: &Path, globals: &Globals) -> Result<TargetSpec, CommandError> {
    let name = match path.as_os_str() == "-" {
        true => "a diff from standard input".to_owned(),
        false => format!("the diff {}", path.display()),
    };
    let text = Input::open(globals, Some(path)).and_then(|input| input.bytes(DIFF_CAP)).map_err(|error| {
        error.hint("name a file with a unified diff, or pipe one in: `git diff | glee review --diff -`")
    })?;
    Ok(TargetSpec::Diff { name, text })
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    if args.restage && args.mode() == Mode::Review {
        return Err(CommandError::usage("`--restage` stages what the coder changes, and no coder is asked")
            .hint("add `--fix` or `--arbitrate`"));
    }
    let mut workspace = place::workspace(globals)?;
    let spec = args.target(&workspace, globals)?;
    let steering = if is_ci() { workspace.steering_of(&spec)? } else { None };
    let (settings, scripts) = execute::settings(globals, args.overrides(), &mut workspace, steering.as_ref())?;
    let steering = steering.filter(|steering| !steering.edited.is_empty() || !scripts.is_empty());
    let base = steering.as_ref().map(|steering| steering.base.clone());
    let workspace = Arc::new(workspace);
    let options = SelectOptions { max_file: settings.review.max_file_size, shard: settings.review.max_shard_size };
    let target = workspace.select(&spec, &options)?;
    // A route named on the command line is chosen: nobody is asked for it.
    let chosen = args.on_dispute;
    let asks = globals.interactive() && chosen.is_none();
    let mut plan = review::plan(&settings, args.mode(), asks, workspace.root(), &target)?;
    plan.rulings_at = workspace.rulings_base(&spec)?;
    let shared = SharedRulings::at(&workspace, plan.rulings_at.as_deref())?;
    plan.own.extend(steering.iter().flat_map(|steering| edited(steering, &scripts)));
    plan.own.extend(review::disputes::rulings::edits(&workspace, &spec, &target, &shared)?);
    plan.steered_by = base;
    plan.staged = args.staged_use();
    plan.on_dispute = chosen;
    let agents = execute::programs(&plan.agents, &plan.backups, workspace.root())?;
    if args.dry_run {
        return dry_run(args, globals, (&workspace, &settings, &agents), (&mut plan, &target, &shared));
    }
    let sitting = execute::CommandContext { format: args.format, mode: args.mode(), chosen, globals };
    let run = review::new_run();
    execute::sit(&sitting, workspace, settings, agents, &run.clone(), |setup, decider| {
        review::start(setup, decider, run, plan, target)
    })
}

/// Whether this is a run of continuous integration, where nobody has seen what a change brings.
fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|word| !matches!(word.as_str(), "" | "0" | "false"))
}

/// What is to be said of a change that edits what steers its review.
fn edited(steering: &Steering, scripts: &[String]) -> Vec<RawFinding> {
    let base = steering.base.chars().take(12).collect::<String>();
    let finding = |path: &String| {
        let body = match path.as_str() {
            path if path.ends_with(".gleeignore") => {
                format!("It was not obeyed: what is reviewed is decided by that file as it stands at {base}.")
            }
            path if scripts.iter().any(|script| script == path) => {
                format!("It was not run: commands that name it run it as it stands at {base}.")
            }
            _ => format!("It was not obeyed: this review goes by `.glee` as it stands at {base}."),
        };
        RawFinding {
            severity: Severity::known(Tag::Medium),
            title: format!("The change edits `{path}`, which steers its review").into(),
            body: body.into(),
            file: Some(path.clone()),
            category: Some("security".to_owned()),
            rule: Some("edits-its-own-review".to_owned()),
            ..RawFinding::default()
        }
    };
    let others = scripts.iter().filter(|script| !steering.edited.contains(script));
    // A shared ruling is a finding of its own.
    let edited = steering.edited.iter().filter(|path| !is_shared(path));
    edited.chain(others).map(finding).collect()
}

/// Prints what would be asked of whom.
fn dry_run(
    args: &Args,
    globals: &Globals,
    (workspace, settings, agents): (&Workspace, &Settings, &Agents),
    (plan, target, shared): (&mut crate::domain::event::Plan, &Target, &SharedRulings),
) -> CommandResult {
    let journal = crate::cli::context::history::open_read(globals, workspace)?;
    let (bindings, max_age) = (shared.bindings(), &settings.rulings.max_age);
    let bindings = review::disputes::rulings::known(journal.as_ref(), &bindings, max_age, Timestamp::now())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let preview = review::preview((workspace, settings, agents), plan, target, (journal.as_ref(), &bindings));
    let previews = runtime.block_on(preview)?;
    stream::out(&super::dry_run::render(args.format, plan, settings, &previews))?;
    Ok(ExitReason::Clean)
}
