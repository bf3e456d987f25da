//! `glee review`: reviews code, hands the findings to the coder, and settles disputes.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use clap::FromArgMatches as _;
use clap::builder::NonEmptyStringValueParser;
use jiff::Timestamp;

use crate::cli::commands::work::{one_off, pr, pr::change::PullRequestChange, steering};
use crate::cli::context::{
    BasicFormat, CommandContext, CommandError, CommandResult, Format, Globals, Input, Outputs,
    ROUTES, ReportOutputs, detached, execute, history, number, one_of, place, print, stream,
};
use crate::cli::report::filter::ReportFilter;
use crate::cli::report::fix_command;
use crate::cli::report::options::FixCommand;
use crate::cli::style::{self, Style};
use crate::cli::ui::dialogs::questions::{self, AskError};
use glee_agents::{Agents, calls::price};
use glee_model::domain::event::{AtBase, Mode, Plan, Staged};
use glee_model::domain::{Agent, AgentName, ExitReason, Loosened, Role, Route, SkipReason};
use glee_protocol::text::printable;
use glee_store::config::presets;
use glee_store::config::settings::Settings;
use glee_store::history::Journal;
use glee_workflows::review::{
    self, Preview, ReviewPlanError, code::intent, disputes::rulings,
    disputes::rulings::SharedRulings,
};
use glee_workspace::root::Workspace;
use glee_workspace::{QueueSubject, SelectOptions, Target, TargetSpec};

/// Review code, and optionally fix findings and settle disputes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  glee review                       review uncommitted changes
  glee review src/ --arbitrate      review a folder, fix it, settle disputes
  glee review --base main --fix     review this branch and let the coder implement the findings
  git diff | glee review --diff -   review a patch
  glee review --with claude src/    review without configuration
  glee review --pr 7 --publish      review a pull request and comment on it

Exit codes: 0 no open mandatory findings, 1 open mandatory findings, 2 wrong usage, 3 a dispute \
waits for a person, 4 an agent failed, 5 files changed while a read-only agent worked, 6 another \
run has locked this tree, 7 the history cannot be used, 8 the configuration is not trusted, 75 the \
budget or a rate limit is reached.")]
pub(crate) struct Args {
    /// Files and folders to review, or a range of commits `A..B` [default: uncommitted changes]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Review staged changes
    #[arg(long, group = "target", conflicts_with = "paths")]
    staged: bool,
    /// Review all committed and uncommitted changes since this branch diverged from REV
    #[arg(long, value_name = "REV", group = "target", conflicts_with = "paths")]
    base: Option<String>,
    /// Review the changes of this commit
    #[arg(long, value_name = "REV", group = "target", conflicts_with = "paths")]
    commit: Option<String>,
    /// Review the unified diff in this file (`-`: standard input)
    #[arg(long, value_name = "FILE", group = "target", conflicts_with = "paths")]
    diff: Option<PathBuf>,
    /// Review a pull request, given by its number or address (empty: the pull request of the CI job). The work
    /// tree does not change, and the configuration is read from the base branch
    #[arg(long, value_name = "N|URL", group = "target", conflicts_with = "paths")]
    pr: Option<String>,
    /// Publish the review on the pull request, and have the judge rule on replies (see `glee pr`)
    #[arg(long, requires = "pr", conflicts_with = "dry_run")]
    publish: bool,
    /// Have the coder edit files to fix the findings
    #[arg(long)]
    fix: bool,
    /// Have the coder fix the findings, and settle disputes over findings
    #[arg(long)]
    arbitrate: bool,
    /// Stage the files that the coder changed, but skip partly staged files
    #[arg(long, requires = "staged")]
    restage: bool,
    /// Review all files instead of reusing recorded answers (see the key `review.reuse`)
    #[arg(long)]
    full: bool,
    /// Print the planned calls, reusable answers and estimated cost without calling an agent
    #[arg(long)]
    dry_run: bool,
    /// Let the review work in the background: print the id of its run as soon as its start is recorded (see `glee
    /// runs wait`)
    #[arg(long, conflicts_with = "dry_run")]
    detach: bool,
    /// How to settle every dispute without asking the user [default: review.on_dispute.default]
    #[arg(long, value_parser = one_of(ROUTES), value_name = "ROUTE")]
    on_dispute: Option<Route>,
    /// The maximum number of rounds of review and fix [default: review.rounds]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::<u32>(1, 20))]
    rounds: Option<u32>,
    /// The rounds of a debate: 2 (reviewers examine the findings of other reviewers), 3 (reviewers also defend
    /// their own findings), off, or auto (3 rounds on mandatory findings and on findings of a single reviewer)
    /// [default: review.debate]
    #[arg(long, value_name = "ROUNDS", num_args = 0..=1, default_missing_value = "3", value_parser = ["auto", "2", "3", "off"])]
    debate: Option<String>,
    /// The maximum number of agents that work in parallel [default: review.jobs]
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, value_parser = number::<u32>(1, 256))]
    jobs: Option<u32>,
    /// Ask only this connected reviewer (repeatable) [default: review.reviewers]
    #[arg(long, value_name = "NAME")]
    reviewer: Vec<String>,
    /// Ask only this program to review, even if it is not connected: `claude`, `codex:gpt-5.2` (with a model) or
    /// `builtin:rules` (repeatable)
    #[arg(long, value_name = "PROGRAM[:MODEL]", conflicts_with = "reviewer")]
    with: Vec<String>,
    /// The model that the reviewers of this run use [default: agents.NAME.model]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// The subjects that the reviewers of this run look for first, such as `security,performance` [default:
    /// agents.NAME.focus]
    #[arg(long, value_name = "SUBJECT", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    focus: Vec<String>,
    /// What the reviewers are to look at in this run, as a text, or in a file (`@-`: standard input)
    #[arg(long, value_name = "TEXT|@FILE")]
    instructions: Option<String>,
    /// Ask one reviewer for one round without a debate (`glee config list` shows the keys that this flag sets)
    #[arg(long, conflicts_with = "thorough")]
    quick: bool,
    /// Ask all reviewers for up to three rounds with debates (`glee config list` shows the keys that this flag
    /// sets)
    #[arg(long)]
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

    /// Returns whether Glee stages the coder's edits of staged files. Returns `None` if the review has no coder,
    /// or if the target is not the staged changes.
    fn staged_use(&self) -> Option<Staged> {
        match (self.mode(), self.staged, self.restage) {
            (Mode::Review, ..) | (_, false, _) => None,
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
    let name = match path.as_os_str() == "-" {
        true => "a diff from standard input".to_owned(),
        false => format!("the diff {}", path.display()),
    };
    let text = Input::open(globals, Some(path)).and_then(|input| input.bytes(DIFF_CAP)).map_err(|error| {
        error.hint("pass a file with a unified diff, or pipe a diff in: `git diff | glee review --diff -`")
    })?;
    Ok(TargetSpec::Diff { name, text })
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    if !args.detach || globals.detached.is_some() {
        return run_within(args, globals, None);
    }
    let is_read =
        args.diff.as_deref() == Some(Path::new("-")) || args.instructions.as_deref() == Some("@-");
    let stdin = match is_read {
        true => Stdio::inherit(),
        false => Stdio::null(),
    };
    let outputs = args.report.check(globals)?;
    detached::start_again(globals, &outputs, stdin)
}

/// What the review contains, for the queue of detached runs. Reviews of another kind contain nothing of each other.
fn queue_subject(
    workspace: &Workspace,
    spec: &TargetSpec,
    plan: &Plan,
) -> Result<Option<QueueSubject>, CommandError> {
    let subject = workspace.queue_subject(spec)?;
    Ok(subject.map(|subject| {
        let agents: Vec<&str> = plan
            .agents
            .iter()
            .map(|agent| agent.name.0.as_str())
            .collect();
        let kind = (plan.mode, agents, &plan.instructions);
        QueueSubject {
            what: format!("{} {kind:?}", subject.what),
            ..subject
        }
    }))
}

/// What is reviewed, and by which settings.
struct Subject {
    workspace: Arc<Workspace>,
    change: Option<PullRequestChange>,
    spec: TargetSpec,
    base: Option<steering::Base>,
    settings: Settings,
    /// The agents whose commands run at the base.
    at_base: BTreeSet<AgentName>,
    loosened: Vec<Loosened>,
}

impl Args {
    fn subject(&self, globals: &Globals, limit: Option<Duration>) -> Result<Subject, CommandError> {
        let mut workspace = place::workspace(globals)?;
        let wanted = self.pr.as_deref();
        let change = wanted
            .map(|wanted| PullRequestChange::fetch(wanted, globals, &workspace))
            .transpose()?;
        let overrides = self.overrides()?;
        let spec;
        let base;
        match &change {
            Some(change) => {
                change.check_mode(self.mode(), &workspace)?;
                let files = change.steering(&workspace)?;
                let steers = true;
                spec = change.target();
                base = Some(steering::Base { files, steers });
            }
            None => {
                spec = self.target(&workspace, globals)?;
                base = steering::base(globals, &overrides, &mut workspace, &spec, limit.is_some())?;
            }
        }
        let files = base.as_ref().and_then(steering::Base::steering);
        let (mut settings, own) =
            execute::settings(globals, overrides.clone(), &mut workspace, files)?;
        let mut at_base = BTreeSet::new();
        let mut loosened = Vec::new();
        match &base {
            Some(base) => at_base = steering::at_base(globals, &workspace, base, &settings, own)?,
            None => {
                loosened =
                    steering::loosened(globals, &overrides, &mut workspace, &settings, &spec)?;
            }
        }
        if let Some(limit) = limit {
            settings.budget.duration = limit.min(settings.budget.duration);
        }
        one_off::apply(
            &mut settings,
            &self.with,
            self.model.as_deref(),
            &self.focus,
        )?;
        if let Some(change) = change.as_ref().filter(|_| self.mode() == Mode::Review) {
            workspace.use_commit(&change.commits.head);
        }
        Ok(Subject {
            workspace: Arc::new(workspace),
            change,
            spec,
            base,
            settings,
            at_base,
            loosened,
        })
    }
}

impl Subject {
    fn select(&self, globals: &Globals) -> Result<Target, CommandError> {
        let options = SelectOptions {
            max_file: self.settings.review.max_file_size,
            shard: review::shard_limit(&self.settings),
            context: self.settings.review.context,
        };
        let mut target = self.workspace.select(&self.spec, &options)?;
        if let TargetSpec::Base(base) = &self.spec
            && let Ok(Some(nearer)) = self.workspace.branch_between(base)
        {
            let nearer = printable::line(&nearer);
            globals.say(&format!(
                "note: `{nearer}` lies between `{}` and this branch, so its commits are reviewed too; \
                 `--base {nearer}` leaves them out",
                printable::line(base)
            ));
        }
        review::leave_out_documents(&self.settings, &mut target);
        let mut change = self.change.iter();
        if change.any(|change| change.on_host.request.is_draft) && !self.settings.pr.drafts {
            target.leave_out(SkipReason::Draft);
        }
        Ok(target)
    }

    fn plan(
        &self,
        args: &Args,
        globals: &Globals,
        target: &mut Target,
    ) -> Result<Plan, CommandError> {
        let workspace = &self.workspace;
        let files = self.base.as_ref().and_then(steering::Base::steering);
        let asks = globals.interactive() && args.on_dispute.is_none();
        let planned = review::plan(&self.settings, args.mode(), asks, workspace.root(), target);
        let mut plan = planned.map_err(|error| match (&error, files) {
            (ReviewPlanError::MissingRole(role), Some(files)) if files.adds_config() => {
                steering::added_config(files, *role)
            }
            _ => error.into(),
        })?;
        plan.rulings_at = workspace.rulings_base(&self.spec)?;
        if let Some(base) = &self.base {
            plan.at_base = runs_at_base(&plan, &base.files.base, &self.at_base);
            let is_steered =
                base.steers && (!base.files.edited.is_empty() || plan.at_base.is_some());
            plan.steered_by = is_steered.then(|| base.files.base.clone());
        }
        plan.loosened.clone_from(&self.loosened);
        let mut intent = match &self.change {
            Some(change) => change.intent(),
            None => Vec::new(),
        };
        intent.extend(workspace.messages(&self.spec)?);
        plan.intent = intent::bounded(intent);
        let instructions = args.instructions.as_deref();
        plan.instructions = instructions
            .map(|given| self::instructions(given, globals))
            .transpose()?;
        plan.target_args = args.target_args(&self.spec, workspace, globals);
        if let Some(change) = &self.change {
            change.record(&mut plan, target);
        }
        plan.own
            .extend(files.into_iter().flat_map(steering::edited));
        plan.staged = args.staged_use();
        plan.on_dispute = args.on_dispute;
        Ok(plan)
    }
}

/// A git hook can set `limit`, the maximum duration of the review. The setting `budget.duration` applies if it
/// is shorter than `limit`.
pub(crate) fn run_within(args: &Args, globals: &Globals, limit: Option<Duration>) -> CommandResult {
    if args.restage && args.mode() == Mode::Review {
        return Err(CommandError::usage(
            "`--restage` requires a coder, and this review calls no coder",
        )
        .hint("add `--fix` or `--arbitrate`"));
    }
    let outputs = args.report.check(globals)?;
    outputs.check_filter(&args.filter.flags())?;
    let globals = &globals.silent_if(outputs.is_silent());
    let plan_format = args.dry_run.then(|| plan_format(&outputs)).transpose()?;
    let subject = args.subject(globals, limit)?;
    let mut target = subject.select(globals)?;
    let mut plan = subject.plan(args, globals, &mut target)?;
    let Subject {
        workspace,
        change,
        spec,
        settings,
        ..
    } = subject;
    let subject = queue_subject(&workspace, &spec, &plan)?;
    let shared = SharedRulings::of_plan(&workspace, &plan)?;
    let edits = rulings::edits(&workspace, &spec, &target, &shared)?;
    plan.own.extend(edits);
    let agents = execute::programs_of(&plan, &[], &workspace)?;
    let planned = PlannedReview {
        globals,
        workspace: &workspace,
        settings: &settings,
        agents: &agents,
        target: &target,
        shared: &shared,
    };
    if let Some(format) = plan_format {
        return planned.dry_run(format, &mut plan);
    }
    planned.confirm(&plan)?;
    let context = CommandContext {
        outputs: &outputs,
        mode: args.mode(),
        chosen: args.on_dispute,
        globals,
        findings: &[],
        filter: Some(&args.filter),
        subject,
    };
    let fix = FixCommand {
        command: match limit {
            None if globals.detached.is_none() => plan
                .target_args
                .as_ref()
                .map(|_| fix_command::of_arguments()),
            // The command line of a detached process is not one that a person types. A hook of git started this review
            // through `glee hook run`, which is not `glee review`.
            _ => fix_command::of_plan(&plan, &globals.directory(), globals.history.as_deref()),
        },
        has_coder: execute::has_coder(&settings),
    };
    let run = detached::new_run(globals);
    let pr = settings.pr;
    let exit = execute::review(
        &context,
        workspace,
        settings,
        agents,
        &run,
        &fix,
        |setup, resolver| review::start(setup, resolver, run.clone(), plan, target),
    )?;
    match change {
        Some(change) if args.publish => {
            pr::publish_review(change, &run, exit, outputs.stdout, globals)
        }
        Some(_) => Ok(pr::reported_exit(exit, pr.mode, globals)),
        None => Ok(exit),
    }
}

/// The agents of the plan whose commands run at the commit `base`. The list `own` contains agents that the plan may lack.
fn runs_at_base(plan: &Plan, base: &str, own: &BTreeSet<AgentName>) -> Option<AtBase> {
    let planned = plan
        .agents
        .iter()
        .chain(&plan.backups)
        .chain(&plan.comparers);
    let agents: BTreeSet<&AgentName> = planned
        .map(|agent| &agent.name)
        .filter(|name| own.contains(*name))
        .collect();
    (!agents.is_empty()).then(|| AtBase {
        commit: base.to_owned(),
        agents: agents.into_iter().cloned().collect(),
    })
}

/// The format of the plan that `--dry-run` prints.
fn plan_format(outputs: &Outputs) -> Result<BasicFormat, CommandError> {
    match (outputs.stdout, outputs.files.as_slice()) {
        _ if outputs.is_opened => Err(CommandError::usage(
            "`--dry-run` writes no report that can be opened",
        )
        .hint(
            "to print only the plan, leave out `--web`; to review the code, leave out `--dry-run`",
        )),
        (Format::Text, []) => Ok(BasicFormat::Text),
        (Format::Json, []) => Ok(BasicFormat::Json),
        (Format::Jsonl, []) => Ok(BasicFormat::Jsonl),
        _ => Err(
            CommandError::usage("`--dry-run` writes no report, because it reviews nothing")
                .hint("leave out `--format`, or use `--format json` to print the plan as JSON"),
        ),
    }
}

struct PlannedReview<'a> {
    globals: &'a Globals,
    workspace: &'a Workspace,
    settings: &'a Settings,
    agents: &'a Agents,
    target: &'a Target,
    shared: &'a SharedRulings,
}

impl PlannedReview<'_> {
    fn dry_run(&self, format: BasicFormat, plan: &mut Plan) -> CommandResult {
        print(&self.render(format, self.globals.style(), plan)?.0)
    }

    /// Returns the plan as text or JSON, and its calls.
    fn render(
        &self,
        format: BasicFormat,
        style: Style,
        plan: &mut Plan,
    ) -> Result<(String, Vec<Preview>), CommandError> {
        let journal = history::open_read(self.globals, self.workspace)?;
        let previews = self.previews(plan, journal.as_ref())?;
        let later = review::later_callers(plan, journal.as_ref())?;
        let detail = self.globals.verbose > 0;
        let settings = self.settings;
        let text = super::dry_run::render(format, style, detail, plan, settings, &previews, &later);
        Ok((text, previews))
    }

    fn previews(
        &self,
        plan: &mut Plan,
        journal: Option<&Journal>,
    ) -> Result<Vec<Preview>, CommandError> {
        let bindings = self.shared.bindings();
        let max_age = &self.settings.rulings.max_age;
        let bindings = rulings::known(journal, &bindings, max_age, Timestamp::now())?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let query = review::PreviewQuery {
            workspace: self.workspace,
            settings: self.settings,
            agents: self.agents,
            journal,
            bindings: &bindings,
        };
        let preview = review::preview(query, plan, self.target);
        Ok(runtime.block_on(preview)?)
    }

    /// Asks the user whether to start a large review. Fails if the user declines. Where nobody can be asked, fails if the
    /// prompts cost more than `budget.ci_usd`.
    fn confirm(&self, plan: &Plan) -> Result<(), CommandError> {
        match self.settings.budget.ci_usd {
            Some(most) => self.refuse_above(most, plan),
            None if self.globals.interactive() => self.ask(plan),
            None => Ok(()),
        }
    }

    fn refuse_above(&self, most: f64, plan: &Plan) -> Result<(), CommandError> {
        let is_priced =
            |agent: &Agent| agent.role == Role::Reviewer && price::of_agent(agent, None).is_some();
        if !plan.agents.iter().any(is_priced) {
            return Ok(());
        }
        let style = self.globals.table_style();
        let (text, previews) = self.render(BasicFormat::Text, style, &mut plan.clone())?;
        let usd: f64 = previews.iter().filter_map(|preview| preview.usd).sum();
        if usd <= most {
            return Ok(());
        }
        stream::err(&text);
        let message = format!(
            "the prompts of this review cost about {}, which is above `budget.ci_usd` ({}), and nobody can confirm it",
            style::dollars(usd),
            style::dollars(most)
        );
        Err(CommandError::new(ExitReason::Budget, anyhow::Error::msg(message)).hint(
            "allow the cost with `GLEE_BUDGET_USD=<dollars>` or `glee config set --user budget.usd <dollars>`, or review fewer \
             files",
        ))
    }

    fn ask(&self, plan: &Plan) -> Result<(), CommandError> {
        let review = &self.settings.review;
        let most = review
            .confirm_above
            .map(|most| usize::try_from(most).unwrap_or(usize::MAX));
        let is_small = |calls: usize| match review.confirm_above_usd {
            Some(_) => calls == 0,
            None => most.is_none_or(|most| calls <= most),
        };
        let reviewers = plan
            .agents
            .iter()
            .filter(|agent| agent.role == Role::Reviewer && !agent.is_embedded());
        if is_small(reviewers.count() * plan.shards.len()) {
            return Ok(());
        }
        // Only new calls are counted. A call counts as new if Glee has no recorded answer to reuse.
        let journal = history::open_read(self.globals, self.workspace)?;
        let mut previews = self.previews(&mut plan.clone(), journal.as_ref())?;
        previews.retain(|preview| preview.tokens > 0);
        let usd = previews
            .iter()
            .map(|preview| preview.usd)
            .sum::<Option<f64>>();
        let is_dear = review
            .confirm_above_usd
            .is_some_and(|most| usd.is_none_or(|usd| usd > most));
        let is_long = most.is_some_and(|most| previews.len() > most);
        if previews.is_empty() || !is_dear && !is_long {
            return Ok(());
        }
        let question = format!(
            "This review makes {}. Go on?",
            super::dry_run::calls_and_cost(&previews)
        );
        match questions::confirm(self.globals.color_stderr(), &question, true) {
            Ok(true) => Ok(()),
            Ok(false) | Err(AskError::Cancelled) => Err(CommandError::usage(
                "the review was not started",
            )
            .hint("review fewer files, or print the planned calls with `glee review --dry-run`")),
            Err(error) => Err(CommandError::new(ExitReason::Signal(2), error)),
        }
    }
}
