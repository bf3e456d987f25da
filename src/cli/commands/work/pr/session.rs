//! A recorded review of a pull request, together with the conversation of the pull request.

use super::connection::{RequestOnHost, failed, short};
use crate::cli::commands::history::runs::lookup;
use crate::cli::context::{CommandError, Globals, history, place};
use glee_model::domain::event::{Plan, PullRequestPlan};
use glee_model::domain::{Outcome, RunId};
use glee_store::config::settings::{PrSettings, Settings};
use glee_store::history::store::Journal;
use glee_workflows::hosts::{ChangedFile, Conversation};
use glee_workflows::pull_request::{RequestDispute, RequestReview};
use glee_workflows::review::code::sources::Sources;
use glee_workflows::review::recorded::view;
use glee_workspace::FetchedChange;
use glee_workspace::root::Workspace;

pub(crate) struct RequestSession {
    pub(crate) on_host: RequestOnHost,
    pub(crate) run: RunId,
    pub(crate) plan: Plan,
    pub(crate) settings: PrSettings,
    pub(crate) files: Vec<ChangedFile>,
    conversation: Conversation,
    pub(crate) outcome: Outcome,
    pub(crate) sources: Sources,
    pub(crate) workspace: Workspace,
    /// The fetched commits of the pull request. The judge and the publication use file contents from these
    /// commits.
    pub(crate) commits: FetchedChange,
}

impl RequestSession {
    /// Reads a recorded run and the conversation on the pull request. Fails if the run did not review the head
    /// commit of the pull request.
    pub(crate) fn open(
        on_host: RequestOnHost,
        run: &RunId,
        globals: &Globals,
    ) -> Result<Self, CommandError> {
        let workspace = place::workspace(globals)?;
        let journal = lookup::journal(globals, &workspace)?;
        let plan = journal
            .plan(run)?
            .filter(|plan| plan.pull_request.is_some())
            .ok_or_else(|| no_request(run))?;
        let reviewed = plan.pull_request.as_ref().expect("the plan was filtered");
        require_same(&on_host, reviewed, run)?;
        on_host.require_open()?;
        if !view::is_ended(&journal.events(run)?) {
            let id = run.short();
            return Err(CommandError::usage(format!("run {id} has not ended"))
                .hint(format!("resume the run with `glee runs resume {id}`")));
        }
        let commits = super::change::fetch(&on_host.request, &workspace)?;
        let files = on_host.host.files(&on_host.request).map_err(failed)?;
        let conversation = on_host
            .host
            .conversation(&on_host.request)
            .map_err(failed)?;
        let (outcome, sources) = recorded(&workspace, &journal, run)?;
        let run = run.clone();
        let settings = Settings::of_record(&plan.settings).pr;
        Ok(Self {
            on_host,
            run,
            plan,
            settings,
            files,
            conversation,
            outcome,
            sources,
            workspace,
            commits,
        })
    }

    /// Reads the outcome again, after disputes were opened or settled.
    pub(crate) fn refresh(&mut self, globals: &Globals) -> Result<(), CommandError> {
        let journal = self.journal(globals)?;
        (self.outcome, self.sources) = recorded(&self.workspace, &journal, &self.run)?;
        Ok(())
    }

    pub(crate) fn journal(&self, globals: &Globals) -> Result<Journal, CommandError> {
        lookup::journal(globals, &self.workspace)
    }

    pub(crate) fn with_review<T>(
        &self,
        disputes: &[RequestDispute],
        use_it: impl FnOnce(&RequestReview<'_>) -> T,
    ) -> T {
        let head = &self.commits.head;
        let text_of = |path: &str| self.workspace.text_at_commit(head, path);
        use_it(&RequestReview {
            host: self.on_host.host.kind(),
            request: &self.on_host.request,
            files: &self.files,
            conversation: &self.conversation,
            outcome: &self.outcome,
            disputes,
            settings: &self.settings,
            text_of: &text_of,
        })
    }
}

fn recorded(
    workspace: &Workspace,
    journal: &Journal,
    run: &RunId,
) -> Result<(Outcome, Sources), CommandError> {
    let mut recorded = view::recorded(workspace, &place::state_dir()?, journal, run)?;
    if let Some(exit) = view::exit_now(&journal.events(run)?) {
        recorded.outcome.exit = exit;
    }
    Ok((recorded.outcome, recorded.reviewed))
}

/// Fails if the run did not review the head commit of the pull request, because the line numbers of the findings
/// apply only to the reviewed commit.
fn require_same(
    on_host: &RequestOnHost,
    reviewed: &PullRequestPlan,
    run: &RunId,
) -> Result<(), CommandError> {
    let request = &on_host.request;
    let name = on_host.name();
    if request.link != reviewed.link || request.number != reviewed.number {
        return Err(CommandError::usage(format!(
            "run {} is a review of {}, not of {}",
            run.short(),
            reviewed.link,
            request.link
        ))
        .hint("pass the pull request of this run with `--pr`, or choose another run"));
    }
    if request.head.id == reviewed.head {
        return Ok(());
    }
    let now = short(&request.head.id);
    let then = short(&reviewed.head);
    Err(CommandError::usage(format!(
        "the head commit of {name} is now {now}, but run {} reviewed {then}",
        run.short()
    ))
    .hint(format!(
        "review again: `glee review --pr {} --publish`",
        request.number
    )))
}

/// The error if the run reviewed no pull request.
pub(crate) fn no_request(run: &RunId) -> CommandError {
    CommandError::usage(format!(
        "run {} is not a review of a pull request",
        run.short()
    ))
    .hint("review a pull request with `glee review --pr N`")
}

fn missing(on_host: &RequestOnHost) -> CommandError {
    CommandError::usage(format!("no review of {} is recorded", on_host.name())).hint(format!(
        "first review the pull request: `glee review --pr {}`",
        on_host.request.number
    ))
}

/// Returns the newest recorded review of a pull request.
pub(crate) fn newest_run(
    on_host: &RequestOnHost,
    globals: &Globals,
) -> Result<RunId, CommandError> {
    let workspace = place::workspace(globals)?;
    let journal = history::open_read(globals, &workspace)?.ok_or_else(|| missing(on_host))?;
    for run in journal.runs_of_target(&on_host.name())? {
        let plan = journal.plan(&run)?.and_then(|plan| plan.pull_request);
        if plan.is_some_and(|reviewed| reviewed.link == on_host.request.link) {
            return Ok(run);
        }
    }
    Err(missing(on_host))
}
