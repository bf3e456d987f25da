//! Reviews code, hands the findings to the coder, and settles disputes.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use super::{Args, instructions, submit};
use crate::cli::commands::work::{dry_run, one_off, pr, pr::change::PullRequestChange, steering};
use crate::cli::context::{
    BasicFormat, CommandContext, CommandError, CommandResult, Format, Globals, Outputs, RunTree,
    detached, execute, history, permits, place, print, server, stream,
};
use crate::cli::report::fix_command;
use crate::cli::report::options::FixCommand;
use crate::cli::style::{self, Style};
use crate::cli::ui::dialogs::questions::{self, AskError};
use glee_agents::{Agents, calls::price, process::sandbox};
use glee_model::domain::event::{AtBase, Mode, Plan};
use glee_model::domain::{Agent, AgentName, ExitReason, Loosened, Role, SkipReason};
use glee_protocol::text::printable;
use glee_store::config::choices::Sandbox;
use glee_store::config::settings::Settings;
use glee_store::history::Journal;
use glee_store::history::submission::SANDBOX;
use glee_workflows::review::recorded::view;
use glee_workflows::review::{
    self, Preview, ReviewPlanError, code::intent, disputes::rulings,
    disputes::rulings::SharedRulings,
};
use glee_workspace::root::Workspace;
use glee_workspace::{QueueSubject, SelectOptions, Target, TargetSpec};

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    if args.submit {
        return submit::run(args, globals);
    }
    if !args.detach || globals.detached.is_some() {
        return run_within(args, globals, None);
    }
    let is_read =
        args.diff.as_deref() == Some(Path::new("-")) || args.instructions.as_deref() == Some("@-");
    let stdin = if is_read {
        Stdio::inherit()
    } else {
        Stdio::null()
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
        let request = change.as_ref().map(|change| &change.on_host.request);
        if let Some(claim) = globals.claim()
            && request.is_some_and(|request| request.is_fork)
        {
            if !sandbox::layers().landlock {
                server::required(globals)?
                    .queue()?
                    .require(&claim, SANDBOX)?;
                let message = "a review of a fork waits for a worker with the label `sandbox`";
                return Err(CommandError::ending(ExitReason::Locked, message));
            }
            // Nobody of the project has read what a worker reviews.
            settings.sandbox = Sandbox::Required;
            settings.review.runners.clear();
        }
        let mut at_base = BTreeSet::new();
        let mut loosened = Vec::new();
        match &base {
            Some(base) => at_base = steering::at_base(globals, &workspace, base, &settings, own)?,
            None => {
                loosened =
                    steering::loosened(globals, &overrides, &mut workspace, &settings, &spec)?;
            }
        }
        execute::leave_out_runners(globals, &mut settings, workspace.root())?;
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
            globals.say(format!(
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
        let given = args.instructions.as_deref();
        plan.instructions = given
            .map(|given| instructions(given, globals))
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
    let of_coder = [
        ("--restage", args.restage),
        ("--worktree", args.worktree == Some(true)),
    ];
    for (flag, is_given) in of_coder {
        if is_given && args.mode() == Mode::Review {
            return Err(CommandError::usage(format!(
                "`{flag}` requires a coder, and this review calls no coder"
            ))
            .hint("add `--fix` or `--arbitrate`"));
        }
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
    // What an earlier worker recorded of the run that this process carries.
    let earlier = match globals.claim() {
        Some(claim) => history::open(globals, &workspace)?.events(&claim.run)?,
        None => Vec::new(),
    };
    let earlier_plan = view::plan(&earlier);
    let is_taken_over = earlier_plan.is_some();
    if let Some(recorded) = earlier_plan {
        refuse_other_head(&recorded, &plan)?;
        plan = recorded;
    }
    let subject = queue_subject(&workspace, &spec, &plan)?;
    let shared = SharedRulings::of_plan(&workspace, &plan)?;
    let edits = rulings::edits(&workspace, &spec, &target, &shared)?;
    plan.own.extend(edits);
    let agents = permits::limited(globals, execute::programs_of(&plan, &[], &workspace)?)?;
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
    if !is_taken_over {
        planned.confirm(&plan)?;
    }
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
    let tree = if args.works_apart(workspace.is_git()) {
        RunTree::new(globals, workspace, &run)?
    } else {
        RunTree::of_user(workspace)
    };
    let exit = match view::exit_now(&earlier) {
        Some(exit) => Ok(exit),
        None => tree.agents(&mut plan, agents).and_then(|agents| {
            let tree = Arc::clone(&tree.workspace);
            let id = run.clone();
            execute::review(
                &context,
                tree,
                settings,
                agents,
                &run,
                &fix,
                async move |setup, resolver| {
                    if is_taken_over {
                        review::take_over(setup, resolver, id, plan, target).await
                    } else {
                        review::start(setup, resolver, id, plan, target).await
                    }
                },
            )
        }),
    };
    tree.leave(globals, &run);
    let exit = exit?;
    match change {
        Some(change) if args.publish => {
            pr::publish_review(change, &run, exit, outputs.stdout, globals)
        }
        Some(_) => Ok(pr::reported_exit(exit, pr.mode, globals)),
        None => Ok(exit),
    }
}

/// Fails if a pull request has another head commit than the one whose review was begun.
fn refuse_other_head(recorded: &Plan, now: &Plan) -> Result<(), CommandError> {
    let [recorded, now] = [recorded, now].map(|plan| {
        let request = plan.pull_request.as_ref();
        request.map(|request| &request.head)
    });
    if recorded == now {
        return Ok(());
    }
    Err(CommandError::ending(
        ExitReason::AgentFailed,
        "the pull request has a new head commit since its review was begun",
    )
    .hint("submit a review of the new commit"))
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
        print(self.render(format, self.globals.style(), plan)?.0)
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
        let text = dry_run::render(format, style, detail, plan, settings, &previews, &later);
        Ok((text, previews))
    }

    fn previews(
        &self,
        plan: &mut Plan,
        journal: Option<&Journal>,
    ) -> Result<Vec<Preview>, CommandError> {
        let bindings = self.shared.bindings();
        let max_age = &self.settings.rulings.max_age;
        let bindings = rulings::known(journal, &bindings, max_age)?;
        let query = review::PreviewQuery {
            workspace: self.workspace,
            settings: self.settings,
            agents: self.agents,
            journal,
            bindings: &bindings,
        };
        let preview = review::preview(query, plan, self.target);
        Ok(execute::runtime()?.block_on(preview)?)
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
        Err(CommandError::ending(ExitReason::Budget, message).hint(
            "allow the cost with `GLEE_BUDGET_USD=<dollars>` or `glee config set --user budget.usd <dollars>`, or review fewer \
             files",
        ))
    }

    fn ask(&self, plan: &Plan) -> Result<(), CommandError> {
        let review = &self.settings.review;
        let most = review
            .confirm_above
            .map(|most| usize::try_from(most).unwrap_or(usize::MAX));
        let reviewers = plan
            .agents
            .iter()
            .filter(|agent| agent.role == Role::Reviewer && !agent.is_embedded());
        let calls = reviewers.count() * plan.shards.len();
        let is_small = match review.confirm_above_usd {
            Some(_) => calls == 0,
            None => most.is_none_or(|most| calls <= most),
        };
        if is_small {
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
            dry_run::calls_and_cost(&previews)
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
