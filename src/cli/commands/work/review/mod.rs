//! `glee review`: its arguments, and the target and the settings that they mean.

pub(crate) mod run;
mod submit;

use std::path::{Component, Path, PathBuf};

use clap::FromArgMatches as _;
use clap::builder::NonEmptyStringValueParser;

use crate::cli::context::{
    CommandError, Globals, Input, ROUTES, ReportOutputs, label, number, one_of,
};
use crate::cli::report::filter::ReportFilter;
use glee_model::domain::event::{Mode, Staged};
use glee_model::domain::{ExitReason, Route};
use glee_store::config::presets;
use glee_workspace::TargetSpec;
use glee_workspace::root::Workspace;

/// Review code; fix findings and settle disputes if asked
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  glee review                       review uncommitted changes
  glee review src/ --arbitrate      review a folder, fix it, settle disputes
  glee review --base main --fix     review this branch and let the coder implement the findings
  git diff | glee review --diff -   review a patch
  glee review --with claude src/    review without configuration
  glee review --pr 7 --publish      review a pull request and comment on it
  glee review --fix --worktree      let the coder work in a worktree while you go on here

Exit codes: 0 no open mandatory findings, 1 open mandatory findings, 2 wrong usage, 3 a dispute \
waits for a person, 4 an agent failed, 5 files changed while a read-only agent worked, 6 another \
run has locked this tree, 7 the history cannot be used, 8 the configuration is not trusted, 75 the \
budget or a rate limit is reached.")]
pub(crate) struct Args {
    /// Files and folders to review, or a range of commits `A..B` [default: uncommitted changes]
    #[arg(help_heading = "Target", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Review staged changes
    #[arg(
        help_heading = "Target",
        long,
        group = "target",
        conflicts_with = "paths"
    )]
    staged: bool,
    /// Review all committed and uncommitted changes since this branch diverged from REV
    #[arg(
        help_heading = "Target",
        long,
        value_name = "REV",
        group = "target",
        conflicts_with = "paths"
    )]
    base: Option<String>,
    /// Review the changes of this commit
    #[arg(
        help_heading = "Target",
        long,
        value_name = "REV",
        group = "target",
        conflicts_with = "paths"
    )]
    commit: Option<String>,
    /// Review the unified diff in this file (`-`: standard input)
    #[arg(
        help_heading = "Target",
        long,
        value_name = "FILE",
        group = "target",
        conflicts_with = "paths"
    )]
    diff: Option<PathBuf>,
    /// Review a pull request, given by its number or address (empty: the pull request of the CI job). The work
    /// tree does not change, and the configuration is read from the base branch
    #[arg(
        help_heading = "Target",
        long,
        value_name = "N|URL",
        group = "target",
        conflicts_with = "paths"
    )]
    pr: Option<String>,
    /// Publish the review on the pull request, and have the judge rule on replies (see `glee pr`)
    #[arg(
        help_heading = "Action",
        long,
        requires = "pr",
        conflicts_with = "dry_run"
    )]
    publish: bool,
    /// Have the coder edit files to fix the findings
    #[arg(help_heading = "Action", long)]
    fix: bool,
    /// Have the coder fix the findings, and settle disputes over findings
    #[arg(help_heading = "Action", long)]
    arbitrate: bool,
    /// Stage the files that the coder changed, but skip partly staged files
    #[arg(help_heading = "Action", long, requires = "staged")]
    restage: bool,
    /// Review all files instead of reusing recorded answers (see the key `review.reuse`)
    #[arg(help_heading = "Action", long)]
    full: bool,
    /// Print the planned calls, reusable answers and estimated cost without calling an agent
    #[arg(help_heading = "Action", long)]
    dry_run: bool,
    /// Let the review work in the background: print the id of its run as soon as its start is recorded (see `glee
    /// runs wait`)
    #[arg(help_heading = "Action", long, conflicts_with = "dry_run")]
    detach: bool,
    /// Let a worker of the server review, and print the id of the run. The worker sees commits that a remote has (see
    /// `glee worker`)
    #[arg(
        help_heading = "Action",
        long,
        conflicts_with_all = ["dry_run", "detach", "worktree"]
    )]
    submit: bool,
    /// Wait until the worker has ended the run, print its report, and exit as the run did
    #[arg(help_heading = "Action", long, requires = "submit")]
    wait: bool,
    /// Let workers take the run before all that are not urgent
    #[arg(help_heading = "Action", long, requires = "submit")]
    urgent: bool,
    /// Let only a worker take the run that has all of these labels (see `glee worker`)
    #[arg(
        help_heading = "Action",
        long,
        value_name = "LABELS",
        value_delimiter = ',',
        requires = "submit",
        value_parser = label
    )]
    labels: Vec<String>,
    /// Let the coder work in a git worktree of its own, which begins as this tree is, instead of this tree (see `glee
    /// runs apply`) [default: only with `--detach`]
    #[arg(
        help_heading = "Action",
        long,
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        conflicts_with = "restage"
    )]
    worktree: Option<bool>,
    /// How to settle every dispute without asking the user [default: review.on_dispute.default]
    #[arg(help_heading = "Action", long, value_parser = one_of(ROUTES), value_name = "ROUTE")]
    on_dispute: Option<Route>,
    /// The maximum number of rounds of review and fix [default: review.rounds]
    #[arg(help_heading = "Action", long, value_name = "N", allow_negative_numbers = true, value_parser = number::<u32>(1, 20))]
    rounds: Option<u32>,
    /// The rounds of a debate: 2 (reviewers examine the findings of other reviewers), 3 (reviewers also defend
    /// their own findings), off, or auto (3 rounds on mandatory findings and on findings of a single reviewer)
    /// [default: review.debate]
    #[arg(help_heading = "Action", long, value_name = "ROUNDS", num_args = 0..=1, default_missing_value = "3", value_parser = ["auto", "2", "3", "off"])]
    debate: Option<String>,
    /// The maximum number of agents that work in parallel [default: review.jobs]
    #[arg(help_heading = "Agents", short, long, value_name = "N", allow_negative_numbers = true, value_parser = number::<u32>(1, 256))]
    jobs: Option<u32>,
    /// Ask only this connected reviewer (repeatable) [default: review.reviewers]
    #[arg(help_heading = "Agents", long, value_name = "NAME")]
    reviewer: Vec<String>,
    /// Ask only this program to review, even if it is not connected: `claude`, `codex:gpt-5.2` (with a model) or
    /// `builtin:rules` (repeatable)
    #[arg(
        help_heading = "Agents",
        long,
        value_name = "PROGRAM[:MODEL]",
        conflicts_with = "reviewer"
    )]
    with: Vec<String>,
    /// The model that the reviewers of this run use [default: agents.NAME.model]
    #[arg(help_heading = "Agents", long, value_name = "MODEL")]
    model: Option<String>,
    /// The subjects that the reviewers of this run look for first, such as `security,performance` [default:
    /// agents.NAME.focus]
    #[arg(help_heading = "Agents", long, value_name = "SUBJECT", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    focus: Vec<String>,
    /// What the reviewers are to look at in this run, as a text, or in a file (`@-`: standard input)
    #[arg(help_heading = "Agents", long, value_name = "TEXT|@FILE")]
    instructions: Option<String>,
    /// Ask one reviewer for one round without a debate (`glee config list` shows the keys that this flag sets)
    #[arg(help_heading = "Agents", long, conflicts_with = "thorough")]
    quick: bool,
    /// Ask all reviewers for up to three rounds with debates (`glee config list` shows the keys that this flag
    /// sets)
    #[arg(help_heading = "Agents", long)]
    thorough: bool,
    #[command(flatten)]
    report: ReportOutputs,
    #[command(flatten)]
    filter: ReportFilter,
}

impl Args {
    /// Parses arguments of `glee review`, without the name of the program and of the command.
    pub(crate) fn of_words(words: &[String]) -> Result<Self, CommandError> {
        let parser =
            <Self as clap::Args>::augment_args(clap::Command::new("review")).no_binary_name(true);
        let parsed = parser
            .try_get_matches_from(words)
            .and_then(|found| Self::from_arg_matches(&found));
        parsed.map_err(|error| CommandError::new(ExitReason::Usage, error))
    }

    fn mode(&self) -> Mode {
        match (self.arbitrate, self.fix) {
            (true, _) => Mode::Arbitrate,
            (false, true) => Mode::Fix,
            (false, false) => Mode::Review,
        }
    }

    /// Whether the coder works in a worktree. `is_git` states whether the tree can have worktrees.
    fn works_apart(&self, is_git: bool) -> bool {
        let by_default = self.detach && is_git && !self.restage;
        self.mode() != Mode::Review && self.worktree.unwrap_or(by_default)
    }

    /// Returns whether Glee stages the coder's edits of staged files. Returns `None` if the review has no coder,
    /// or if the target is not the staged changes.
    fn staged_use(&self) -> Option<Staged> {
        match (self.mode(), self.staged, self.restage) {
            (Mode::Review, ..) | (_, false, _) => None,
            _ if self.works_apart(true) => None,
            (Mode::Fix | Mode::Arbitrate, true, true) => Some(Staged::Restaged),
            (Mode::Fix | Mode::Arbitrate, true, false) => Some(Staged::Left),
        }
    }

    /// Returns the settings of the presets, followed by the settings of the other flags. Later settings override
    /// earlier settings.
    fn overrides(&self) -> Result<Vec<(String, serde_json::Value)>, CommandError> {
        let presets = [
            (self.quick, presets::QUICK),
            (self.thorough, presets::THOROUGH),
        ];
        let mut values = Vec::new();
        for (_, preset) in presets.iter().filter(|(is_given, _)| *is_given) {
            values.extend(preset.values()?);
        }
        let flags = [
            (
                "review.on_dispute.default",
                self.on_dispute.map(|route| route.as_str().into()),
            ),
            ("review.rounds", self.rounds.map(Into::into)),
            ("review.debate", self.debate.as_deref().map(Into::into)),
            ("review.jobs", self.jobs.map(Into::into)),
            ("review.reuse", self.full.then_some(false.into())),
            (
                "review.reviewers",
                (!self.reviewer.is_empty()).then(|| self.reviewer.clone().into()),
            ),
            // The option `--with` sets the key `review.reviewers` to the value `all`. The configured value could
            // name a reviewer that is not connected, and this would cause an error.
            (
                "review.reviewers",
                (!self.with.is_empty()).then(|| "all".into()),
            ),
        ];
        values.extend(
            flags
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), value?))),
        );
        Ok(values)
    }

    /// The command-line arguments for another review of the target `spec`. `None` for a diff from standard input
    /// or a pipe.
    fn target_args(
        &self,
        spec: &TargetSpec,
        workspace: &Workspace,
        globals: &Globals,
    ) -> Option<Vec<String>> {
        let path = |path: &PathBuf| argument(path, workspace.root(), globals);
        match spec {
            TargetSpec::Uncommitted => Some(Vec::new()),
            TargetSpec::Staged => Some(vec!["--staged".to_owned()]),
            TargetSpec::Base(revision) => Some(vec!["--base".to_owned(), revision.clone()]),
            TargetSpec::Commit(revision) => Some(vec!["--commit".to_owned(), revision.clone()]),
            TargetSpec::Range(range) => Some(vec![range.clone()]),
            TargetSpec::Diff { .. } => {
                let file = self
                    .diff
                    .as_ref()
                    .filter(|file| globals.directory().join(file).is_file())?;
                Some(vec!["--diff".to_owned(), path(file)?])
            }
            TargetSpec::Paths(paths) => paths.iter().map(path).collect(),
        }
    }

    fn target(&self, workspace: &Workspace, globals: &Globals) -> Result<TargetSpec, CommandError> {
        Ok(
            match (&self.base, &self.commit, &self.diff, self.paths.as_slice()) {
                _ if self.staged => TargetSpec::Staged,
                (Some(base), ..) => TargetSpec::Base(base.clone()),
                (_, Some(commit), ..) => TargetSpec::Commit(commit.clone()),
                (_, _, Some(diff), _) => read_diff(diff, globals)?,
                (.., []) => TargetSpec::Uncommitted,
                (.., [range]) if is_range(range, workspace) => {
                    TargetSpec::Range(range.to_string_lossy().into_owned())
                }
                (.., paths) => TargetSpec::Paths(paths.to_vec()),
            },
        )
    }
}

/// The maximum size of the instructions of a run, in bytes.
const INSTRUCTIONS: usize = 16 << 10;

/// Reads `--instructions`: a text, or a file behind `@`.
fn instructions(given: &str, globals: &Globals) -> Result<String, CommandError> {
    let text = match given.strip_prefix('@') {
        None => given.to_owned(),
        Some(file) => {
            let input = Input::open(globals, Some(Path::new(file)));
            let bytes = input.and_then(|input| input.bytes(1)).map_err(|error| {
                error.hint(
                    "name a file with the instructions, as in `--instructions @threat-model.md`",
                )
            })?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
    };
    let text = text.trim();
    if text.is_empty() {
        return Err(CommandError::usage("the instructions are empty")
            .hint("leave out `--instructions`, or say what to look at"));
    }
    if text.len() > INSTRUCTIONS {
        let problem = format!(
            "the instructions are larger than {} KiB",
            INSTRUCTIONS >> 10
        );
        return Err(CommandError::usage(problem)
            .hint("shorten them; what always applies belongs into the project's guidelines"));
    }
    Ok(text.to_owned())
}

/// Formats `path` as an argument, relative to the root if possible. `None` if the path is not UTF-8.
fn argument(path: &Path, root: &Path, globals: &Globals) -> Option<String> {
    let full = globals.directory().join(path).canonicalize().ok()?;
    let relative = full.strip_prefix(root).unwrap_or(&full);
    match relative.to_str()? {
        "" => Some(".".to_owned()),
        text if text.starts_with('-') => Some(format!("./{text}")),
        text => Some(text.to_owned()),
    }
}

/// Whether the argument `path` means a range of commits. An argument of the form `A..B` is a range if the path
/// `A..B` does not exist.
fn is_range(path: &Path, workspace: &Workspace) -> bool {
    let text = path.to_string_lossy();
    workspace.is_git()
        && text.contains("..")
        && !path
            .components()
            .any(|part| matches!(part, Component::ParentDir))
        && !workspace.root().join(path).exists()
        && !path.exists()
}

/// The maximum size of a diff, in MiB.
const DIFF_CAP: u64 = 64;

fn read_diff(path: &Path, globals: &Globals) -> Result<TargetSpec, CommandError> {
    let name = if path.as_os_str() == "-" {
        "a diff from standard input".to_owned()
    } else {
        format!("the diff {}", path.display())
    };
    let text = Input::open(globals, Some(path)).and_then(|input| input.bytes(DIFF_CAP)).map_err(|error| {
        error.hint("pass a file with a unified diff, or pipe a diff in: `git diff | glee review --diff -`")
    })?;
    Ok(TargetSpec::Diff { name, text })
}
