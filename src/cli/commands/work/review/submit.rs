//! `glee review --submit`: hands a review to the workers of the server.

use super::{Args, argument, instructions};
use crate::cli::commands::history::runs::submitted;
use crate::cli::context::{CommandError, CommandResult, Globals, detached, place, server};
use glee_model::domain::CodeContext;
use glee_model::domain::event::Mode;
use glee_protocol::secrets;
use glee_protocol::text::printable;
use glee_store::history::submission::Submission;
use glee_workflows::review;
use glee_workspace::git::Repository;
use glee_workspace::root::Workspace;
use glee_workspace::{SelectOptions, TargetSpec};

pub(super) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let outputs = args.report.check(globals)?;
    outputs.check_filter(&args.filter.flags())?;
    if !args.wait {
        detached::refuse_report(&outputs, "--submit")?;
    }
    let globals = &globals.silent_if(args.wait && outputs.is_silent());
    if args.mode() != Mode::Review {
        return Err(CommandError::usage(
            "a worker calls no coder, because nobody would take its changes over",
        )
        .hint("leave out `--fix` and `--arbitrate`, and fix the findings here with `glee fix`"));
    }
    let server = server::required(globals)?;
    let workspace = place::workspace(globals)?;
    let submission = args.submission(&workspace, globals)?;
    let names = workspace.history(&place::state_dir()?)?.names;
    let run = review::new_run();
    let mut queue = server.queue()?;
    queue.submit(&names, &run, &submission, args.urgent)?;
    if args.wait {
        globals.say(format!("run {} is submitted", run.short()));
        return submitted::wait(globals, queue.as_mut(), &run, None, &outputs, &args.filter);
    }
    let id = run.short();
    let words = format!("Run {id} is submitted; `glee runs wait {id}` waits for its report\n");
    detached::print_id(globals, outputs.stdout, &run, words)
}

impl Args {
    /// Fails if a worker cannot see what is to be reviewed.
    fn submission(
        &self,
        workspace: &Workspace,
        globals: &Globals,
    ) -> Result<Submission, CommandError> {
        let (target, commit) = match &self.pr {
            Some(wanted) if wanted.is_empty() => {
                return Err(
                    CommandError::usage("a worker has no pull request of its own")
                        .hint("name the pull request: `--pr N`"),
                );
            }
            Some(wanted) => (vec!["--pr".to_owned(), wanted.clone()], None),
            None => {
                let spec = self.target(workspace, globals)?;
                let (target, commit) = self.of_commits(&spec, workspace, globals)?;
                (target, Some(commit))
            }
        };
        let remote = match &commit {
            Some(commit) => workspace.remote_of(commit)?.ok_or_else(|| {
                let short: String = commit.chars().take(12).collect();
                match workspace.remote_address() {
                    Some(_) => CommandError::usage(format!("no remote has the commit {short}"))
                        .hint("push it with `git push`, or fetch what was pushed elsewhere"),
                    None => no_remote(),
                }
            })?,
            None => {
                let address = workspace.remote_address().ok_or_else(no_remote)?;
                workspace.for_others(&address)
            }
        };
        let mut words = target;
        words.splice(0..0, self.words(globals)?);
        let folder = workspace.start.strip_prefix(workspace.root());
        let folder = folder.ok().and_then(|folder| folder.to_str());
        let submission = Submission {
            remote,
            commit,
            folder: folder.unwrap_or_default().to_owned(),
            args: words,
            labels: self.labels.clone(),
        };
        let all = submission.args.iter().chain([&submission.remote]);
        for word in all {
            if secrets::redact(word) != word.as_str() {
                let message = format!(
                    "the server would keep a secret: {}",
                    printable::line(&secrets::redact(word))
                );
                return Err(CommandError::usage(message).hint("leave it out"));
            }
        }
        Ok(submission)
    }

    /// The target in words that mean the same in every clone, and the commit that a worker checks out.
    fn of_commits(
        &self,
        spec: &TargetSpec,
        workspace: &Workspace,
        globals: &Globals,
    ) -> Result<(Vec<String>, String), CommandError> {
        let git = workspace.repository.as_ref().ok_or_else(no_remote)?;
        Ok(match spec {
            TargetSpec::Uncommitted | TargetSpec::Staged | TargetSpec::Diff { .. } => {
                return Err(CommandError::usage(
                    "a worker sees commits only, and this review is of changes without a commit",
                )
                .hint(
                    "commit and push them, then submit a review of the commits: `glee review --base main --submit`",
                ));
            }
            TargetSpec::Base(base) => {
                let base = git.commit(base)?;
                (vec!["--base".to_owned(), base], head(workspace, git)?)
            }
            TargetSpec::Commit(commit) => {
                let commit = git.commit(commit)?;
                (vec!["--commit".to_owned(), commit.clone()], commit)
            }
            TargetSpec::Range(range) => {
                let (from, to) = git.range(range)?;
                (vec![format!("{from}..{to}")], to)
            }
            TargetSpec::Paths(paths) => {
                let words = paths
                    .iter()
                    .map(|path| argument(path, &workspace.start, globals));
                let words = words.collect::<Option<_>>();
                let words = words.ok_or_else(|| CommandError::usage("a path is not UTF-8"))?;
                (words, head(workspace, git)?)
            }
        })
    }

    /// What the command line says beside the target.
    fn words(&self, globals: &Globals) -> Result<Vec<String>, CommandError> {
        let given = self.instructions.as_deref();
        // The blank keeps a text that begins with `@` from being the name of a file.
        let text = given
            .map(|given| instructions(given, globals).map(|text| format!(" {text}")))
            .transpose()?;
        let values = [
            (
                "on-dispute",
                self.on_dispute.map(|route| route.as_str().to_owned()),
            ),
            ("rounds", self.rounds.map(|rounds| rounds.to_string())),
            ("debate", self.debate.clone()),
            ("jobs", self.jobs.map(|jobs| jobs.to_string())),
            ("model", self.model.clone()),
            (
                "focus",
                (!self.focus.is_empty()).then(|| self.focus.join(",")),
            ),
            ("instructions", text),
        ];
        let lists = [("reviewer", &self.reviewer), ("with", &self.with)];
        let lists = lists
            .into_iter()
            .flat_map(|(name, list)| list.iter().map(move |value| (name, Some(value.clone()))));
        let valued = values.into_iter().chain(lists);
        let flags = [
            ("full", self.full),
            ("quick", self.quick),
            ("thorough", self.thorough),
            ("publish", self.publish),
        ];
        Ok(valued
            .filter_map(|(name, value)| Some(format!("--{name}={}", value?)))
            .chain(
                flags
                    .into_iter()
                    .filter(|(_, is_given)| *is_given)
                    .map(|(name, _)| format!("--{name}")),
            )
            .collect())
    }
}

/// The commit of a work tree without uncommitted changes.
fn head(workspace: &Workspace, git: &Repository) -> Result<String, CommandError> {
    refuse_uncommitted(workspace)?;
    Ok(git.commit("HEAD")?)
}

fn no_remote() -> CommandError {
    CommandError::usage("a worker cannot fetch this repository, because it has no remote")
        .hint("add one and push: `git remote add origin <address>` and `git push -u origin HEAD`")
}

fn refuse_uncommitted(workspace: &Workspace) -> Result<(), CommandError> {
    let options = SelectOptions {
        max_file: u64::MAX,
        shard: u64::MAX,
        context: CodeContext::default(),
    };
    let target = workspace.select(&TargetSpec::Uncommitted, &options)?;
    let Some(file) = target.files.first() else {
        return Ok(());
    };
    let file = printable::line(&file.path);
    Err(CommandError::usage(format!(
        "a worker cannot see the uncommitted changes of `{file}`"
    ))
    .hint("commit and push them, or put them aside with `git stash -u`"))
}
