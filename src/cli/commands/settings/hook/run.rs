//! `glee hook run`: the review that an installed hook starts.

use std::io::{IsTerminal as _, Read as _};
use std::process::Stdio;
use std::time::Duration;

use super::options::{HOOKS, Hook, HookMode, HookOptions};
use crate::cli::commands::work::review;
use crate::cli::context::{
    CommandError, CommandResult, Format, Globals, Outputs, detached, one_of, place, settings,
    stream,
};
use glee_model::domain::ExitReason;
use glee_protocol::text::printable;
use glee_store::config::schema::units;
use glee_workspace::{PushedCommits, PushedRef, Workspace};

/// Run the review of a hook (git runs this command)
#[derive(clap::Args)]
#[command(after_help = "\
The hook `pre-push` reads the pushed refs from standard input (git's lines `<local ref> <local id> <remote ref> \
<remote id>`) or from the variables of the program pre-commit. Deleted branches and tags are not reviewed. During a merge, \
rebase, cherry-pick or revert, the hooks `pre-commit` and `post-commit` review nothing. The hook `post-commit` reviews the last \
commit, and starts earlier if a review in the background has not begun: it then supersedes that review.

Examples:
  glee hook run pre-commit
  glee hook run post-commit
  glee hook run pre-push --mode block -- origin https://example.org/project.git")]
pub(crate) struct Args {
    /// The hook to run
    #[arg(value_name = "HOOK", value_parser = one_of(HOOKS))]
    hook: Hook,
    #[command(flatten)]
    options: HookOptions,
    /// The arguments of the hook: for `pre-push`, the name and the address of the remote
    #[arg(value_name = "ARGUMENT")]
    arguments: Vec<String>,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    // A hook asks no questions, even if standard output and standard error are terminals.
    let globals = &Globals {
        no_input: true,
        no_pager: true,
        ..globals.clone()
    };
    args.hook.check(&args.options)?;
    let targets = match args.hook {
        Hook::PreCommit => staged(globals),
        Hook::PostCommit => return in_background(args, globals),
        Hook::PrePush => pushed(args, globals),
    };
    let mut worst = ExitReason::Clean;
    let began = std::time::Instant::now();
    match targets {
        Ok(targets) => {
            for target in targets {
                let left = args
                    .options
                    .timeout(args.hook)
                    .saturating_sub(began.elapsed())
                    .max(Duration::from_secs(1));
                worst = worst.strongest(reason(review(&target, globals, left), globals));
                if matches!(worst, ExitReason::Signal(_)) {
                    return Ok(worst);
                }
            }
        }
        Err(error) => worst = reason(Err(error), globals),
    }
    Ok(decide(args, globals, worst))
}

/// Returns the exit reason of the hook. If the review is not clean, prints whether git continues with the commit
/// or push.
fn decide(args: &Args, globals: &Globals, worst: ExitReason) -> ExitReason {
    let operation = args.hook.operation();
    match args.options.mode {
        _ if worst == ExitReason::Clean => {}
        HookMode::Warn => {
            globals.say(format!(
                "glee: the {operation} goes on, because the hook has the mode `warn`"
            ));
            return ExitReason::Clean;
        }
        HookMode::Block => {
            globals.say(format!(
                "glee: the {operation} is refused; skip the hook once: {}",
                args.hook.skip()
            ));
        }
    }
    worst
}

/// Whether git is in the middle of a merge or the like, in which hooks review nothing.
fn is_in_operation(globals: &Globals, workspace: &Workspace) -> bool {
    let operation = workspace.git_operation();
    if let Some(operation) = operation {
        globals.say(format!(
            "glee: the hook reviews nothing during a {operation}"
        ));
    }
    operation.is_some()
}

/// Starts the review of the last commit, and of the commits of a review that still waits, as a detached run.
fn in_background(args: &Args, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    if is_in_operation(globals, &workspace) {
        return Ok(ExitReason::Clean);
    }
    let Some(target) = workspace.new_commits(&place::state_dir()?)? else {
        return Ok(ExitReason::Clean);
    };
    let budget = settings::load(globals)?.settings.budget;
    let limit = budget.duration.min(args.options.timeout(args.hook));
    detached::start(globals, &Outputs::only(Format::Text), |command| {
        command.arg("-C").arg(globals.directory());
        if let Some(history) = &globals.history {
            command.arg("--history").arg(history);
        }
        if let Some(hash) = &globals.trust {
            command.arg("--trust").arg(hash);
        }
        command
            .args(["--no-input", "review", "--detach"])
            .args(target)
            .env("GLEE_BUDGET_DURATION", units::duration_text(limit))
            .stdin(Stdio::null());
    })
}

/// The arguments of `glee review` for the hook `pre-commit`.
fn staged(globals: &Globals) -> Result<Vec<Vec<String>>, CommandError> {
    let workspace = place::workspace(globals)?;
    if is_in_operation(globals, &workspace) {
        return Ok(Vec::new());
    }
    Ok(vec![["--staged", "--quick"].map(str::to_owned).to_vec()])
}

/// Returns one list of arguments of `glee review` for each range of commits that the push adds.
fn pushed(args: &Args, globals: &Globals) -> Result<Vec<Vec<String>>, CommandError> {
    let workspace = place::workspace(globals)?;
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let remote = args
        .arguments
        .first()
        .cloned()
        .or_else(|| variable("PRE_COMMIT_REMOTE_NAME"));
    let remote = remote.unwrap_or_else(|| "origin".to_owned());
    let mut targets: Vec<Vec<String>> = Vec::new();
    for pushed in refs(variable)? {
        match workspace.pushed_commits(&remote, &pushed)? {
            PushedCommits::Nothing => {}
            PushedCommits::Other => globals.say(format!(
                "glee: `{}` is not a branch, so the hook does not review it",
                printable::line(&pushed.remote_ref)
            )),
            PushedCommits::Range(range) if targets.iter().any(|target| target[0] == range) => {}
            PushedCommits::Range(range) => targets.push(vec![range]),
            PushedCommits::NoBase => globals.say(
                "glee: no branch of the remote is known here, so there is no base to compare with; `glee review .` \
                 reviews the whole project",
            ),
        }
    }
    Ok(targets)
}

/// Returns the refs that git is about to push. The program pre-commit passes the refs in environment variables.
/// Git itself writes the refs to standard input.
fn refs(variable: impl Fn(&str) -> Option<String>) -> Result<Vec<PushedRef>, CommandError> {
    let named = |name: &str| variable(&format!("PRE_COMMIT_{name}"));
    let mut input = String::new();
    if let Some(to) = named("TO_REF") {
        let from = named("FROM_REF").unwrap_or_else(|| "0".repeat(to.len()));
        let branch = named("REMOTE_BRANCH").unwrap_or_else(|| "refs/heads/unnamed".to_owned());
        input = format!("- {to} {branch} {from}\n");
    } else if !std::io::stdin().is_terminal() {
        std::io::stdin().lock().read_to_string(&mut input)?;
    }
    let lines = input.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            PushedRef::parse(line).ok_or_else(|| {
                CommandError::usage("standard input has a line that does not describe a pushed ref")
                    .hint("install the hook with `glee hook install pre-push`; the installed hook passes git's input to Glee")
            })
        })
        .collect()
}

fn review(target: &[String], globals: &Globals, limit: Duration) -> CommandResult {
    review::run::run_within(&review::Args::of_words(target)?, globals, Some(limit))
}

/// Returns the exit reason of the review. If the review failed, prints the error.
fn reason(result: CommandResult, globals: &Globals) -> ExitReason {
    let error = match result {
        Ok(reason) => return reason,
        Err(error) => error,
    };
    stream::err(error.render(globals.color_stderr()));
    error.exit()
}
