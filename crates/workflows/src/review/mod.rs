//! The workflow of a review. [`start`] records the plan and runs the workflow. [`resume`] restores the state from
//! the recorded events and continues the workflow.
//!
//! The modules `plan`, `state`, `schedule`, `requests` and `outcome` have no side effects. `workflow` performs
//! effects and asks people. `code` contains the code under review. The modules `findings` and `disputes` process
//! the findings and the disputes of a round. `demonstrations` runs the tests that agents give. `recorded` reads ended runs. The caller implements the traits in
//! [`crate::run::ports`].

pub mod answer;
#[cfg(any(test, feature = "testing"))]
pub mod bench;
pub mod code;
pub mod demonstrations;
pub mod disputes;
pub mod findings;
pub mod loosening;
pub mod outcome;
pub mod plan;
pub mod recorded;
pub mod requests;
pub mod schedule;
pub mod state;
#[cfg(test)]
mod tests;
pub mod workflow;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::review::code::guidelines::Guidelines;
use crate::review::code::intent;
use crate::review::code::scripts::Scripts;
use crate::review::code::sources::Sources;
use crate::review::code::templates::templates;
use crate::review::disputes::rulings::{self, SharedRulings};
use crate::review::recorded::reuse::ReviewerKeys;
use crate::review::recorded::view::add_earlier;
use crate::review::state::ReviewState;
use crate::review::workflow::ReviewWorkflow;
use crate::run::budget;
use crate::run::error::RunError;
use crate::run::ports::DisputeResolver;
use crate::run::resources::RunResources;
use crate::run::workflow::Workflow as _;
use crate::run::write_guard::WriteGuard;
use glee_model::domain::event::{AtBase, EventKind, FixRequest, Mode, Plan, ReviewEvent, RunEvent};
use glee_model::domain::{Agent, Dispute, DisputeNumber, ExitReason, Outcome, Route, RunId, Usage};
use glee_workspace::{Target, Unfollowed, WorkspaceError};

pub use crate::review::recorded::preview::{
    LaterCaller, Preview, PreviewQuery, later_callers, preview,
};
pub use crate::review::recorded::prune::{Pruned, prune, prune_transcripts};
pub use crate::review::recorded::replay::{Replayed, replay};
pub use crate::review::recorded::tree_findings::{Standing, TreeFinding, TreeQuery};
pub use plan::{ReviewPlanError, fix_request, judges, leave_out_documents, plan, shard_limit};

pub use crate::run::resources::{RunSetup, new_run};
pub use crate::run::workflow::Rest;

#[derive(Debug)]
pub struct EndedReview {
    pub outcome: Outcome,
    pub reviewed: Sources,
    /// Whether the run has ended, was stopped, or has used up its budget.
    pub rest: Rest,
}

/// Starts a run. If the history or the tree becomes inaccessible, the run fails, but the user can resume the run.
pub async fn start(
    setup: RunSetup,
    resolver: Box<dyn DisputeResolver>,
    run: RunId,
    mut plan: Plan,
    target: Target,
) -> Result<EndedReview, RunError> {
    let guard = WriteGuard::begun(&setup.workspace);
    if plan.mode >= Mode::Fix {
        refuse_unfollowed(&guard)?;
    }
    let guidelines = Guidelines::read(&setup.workspace, &setup.settings, &plan)?;
    let mut review = prepared(setup, resolver, run, &plan)?;
    review.sources.keep_guidelines(guidelines)?;
    let leaves = plan.agents.iter().any(|agent| !agent.is_embedded());
    let withheld = leaves
        .then(|| review.resources.redaction().withheld(&target.files))
        .flatten();
    review.keep(1, target.files)?;
    if plan.mode >= Mode::Fix {
        let rules = review.resources.workspace.selection_rules()?;
        review.sources.keep_rules(&rules)?;
    }
    plan.shards = review.joined(&plan).await?;
    let changed = review
        .sources
        .files(1)
        .filter(|file| file.diff.is_some())
        .map(|file| file.path.as_str());
    let guidelines = &review.sources.guidelines;
    let guided = guidelines.notices(&review.resources, &plan, changed);
    leave_out_variables(&mut plan);
    let unread = review.unread.take().map(EventKind::notice);
    let at_base = plan.at_base.as_ref().map(|AtBase { commit, agents }| {
        let names: Vec<String> = agents.iter().map(|name| format!("`{name}`")).collect();
        let (names, runs) = match names.as_slice() {
            [name] => (name.clone(), "runs"),
            names => (names.join(", "), "run"),
        };
        let short: String = commit.chars().take(12).collect();
        EventKind::notice(format!(
            "{names} {runs} in a checkout of the base commit {short}, with the change as data in `$GLEE_CHANGE`"
        ))
    });
    let notices = guard
        .unfollowed()
        .iter()
        .map(|Unfollowed { folder, bound }| {
            let text = format!("`{folder}` is a nested repository and is not watched: {bound}");
            EventKind::notice(text)
        });
    review.append_all(
        std::iter::once(EventKind::Review(ReviewEvent::RunStarted {
            plan: Box::new(plan),
        }))
        .chain(notices)
        .chain(at_base)
        .chain(guided.into_iter().map(EventKind::notice))
        .chain(unread)
        .chain(withheld.map(EventKind::notice)),
    )?;
    review.resources.guard = guard;
    review.reuse().await?;
    let changed = intent::changed(&review.state, &review.resources.journal)?;
    review.append_all(changed.map(EventKind::notice))?;
    rest(review).await
}

/// Resumes an interrupted run. Also resumes an ended run if disputes are open, or if disputes were settled after
/// the end of the run. Only the open disputes that the function `stayed_open` returns are reopened. The agents in
/// `judges` join the run if the run has no judge. `named` is the route that the command line sets for all open
/// disputes. Fails for the same reasons as [`start`]. Also fails if the run was never started.
pub async fn resume(
    setup: RunSetup,
    resolver: Box<dyn DisputeResolver>,
    run: RunId,
    named: Option<Route>,
    judges: Vec<Agent>,
) -> Result<EndedReview, RunError> {
    let mut review = reloaded(setup, resolver, run)?;
    review.append(RunEvent::RunResumed)?;
    let disputes = review.state.stayed_open(named);
    if !disputes.is_empty() {
        review.reopen(disputes, judges)?;
    }
    review.reuse().await?;
    rest(review).await
}

/// Goes on with a run that a worker on another machine began. `plan` is the recorded one, and `target` is selected again
/// from the same commits. Fails for the same reasons as [`start`].
pub async fn take_over(
    setup: RunSetup,
    resolver: Box<dyn DisputeResolver>,
    run: RunId,
    plan: Plan,
    target: Target,
) -> Result<EndedReview, RunError> {
    let folder = setup.journal.transcripts(&run)?;
    let mut sources = Sources::new(&folder, setup.settings.redaction.into());
    let guidelines = Guidelines::read(&setup.workspace, &setup.settings, &plan)?;
    sources.keep_guidelines(guidelines)?;
    sources.keep(1, target.files)?;
    resume(setup, resolver, run, None, Vec::new()).await
}

/// Continues an ended run for a fix request. The coder receives only the findings of the fix request. The changes
/// are checked by the reviewers that raised the findings. Disputes remain open. Fails for the same reasons as
/// [`start`].
pub async fn fix(
    setup: RunSetup,
    resolver: Box<dyn DisputeResolver>,
    run: RunId,
    request: FixRequest,
) -> Result<EndedReview, RunError> {
    let guard = WriteGuard::begun(&setup.workspace);
    refuse_unfollowed(&guard)?;
    let mut review = reloaded(setup, resolver, run)?;
    let workspace = Arc::clone(&review.resources.workspace);
    if review.sources.rules().is_none() {
        review.sources.keep_rules(&workspace.selection_rules()?)?;
    }
    let recorded = |agents: Vec<Agent>| agents.into_iter().map(Agent::recorded).collect();
    let request = FixRequest {
        coders: recorded(request.coders),
        backups: recorded(request.backups),
        ..request
    };
    let stale = review.changed_since(&request.findings);
    review.append(ReviewEvent::FixRequested { request })?;
    review.append_all(stale.iter().map(|file| {
        EventKind::notice(format!(
            "`{file}` has changed since its review; the findings on it may be stale"
        ))
    }))?;
    let settings = &review.resources.settings;
    review.scripts = Scripts::of(review.state.plan(), settings, workspace.root());
    review.resources.guard = guard;
    rest(review).await
}

/// Fails if the write guard cannot observe a nested repository. Changes by the coder in such a repository would go
/// unnoticed.
fn refuse_unfollowed(guard: &WriteGuard) -> Result<(), RunError> {
    match guard.unfollowed().first().cloned() {
        Some(Unfollowed { folder, bound }) => {
            Err(WorkspaceError::Unfollowed { folder, bound }.into())
        }
        None => Ok(()),
    }
}

/// Settles open disputes of a run without resuming the run. The coder implements enforced findings only when the
/// run is resumed. Returns the disputes as they are after the rulings. Fails for the same reasons as [`resume`].
pub async fn settle(
    setup: RunSetup,
    resolver: Box<dyn DisputeResolver>,
    run: RunId,
    disputes: Vec<DisputeNumber>,
    judges: Vec<Agent>,
) -> Result<(Vec<Dispute>, Rest), RunError> {
    let mut review = reloaded(setup, resolver, run)?;
    review.only = Some(disputes.iter().copied().collect());
    review.reopen(disputes.clone(), judges)?;
    let rest = review.run().await?;
    let settled = disputes
        .iter()
        .filter_map(|number| review.state.disputes.get(number))
        .cloned();
    Ok((settled.collect(), rest))
}

fn reloaded(
    mut setup: RunSetup,
    resolver: Box<dyn DisputeResolver>,
    run: RunId,
) -> Result<ReviewWorkflow, RunError> {
    setup.journal.send_unsent(&run)?;
    let state = ReviewState::of(&setup.journal.events(&run)?);
    let Some(plan) = &state.plan else {
        return Err(RunError::NotStarted(run));
    };
    let mut review = prepared(setup, resolver, run, plan)?;
    review.state = state;
    let root = review.resources.workspace.root().to_owned();
    review.sources.load(review.state.round(), Some(&root))?;
    let files = review.sources.files(review.state.round());
    let kept = review.resources.agents.keep_change(files);
    kept.map_err(RunError::Sources)?;
    Ok(review)
}

/// The recorded plan has no values of the agents' variables.
fn leave_out_variables(plan: &mut Plan) {
    for agents in [&mut plan.agents, &mut plan.backups, &mut plan.comparers] {
        let recorded = std::mem::take(agents).into_iter().map(Agent::recorded);
        *agents = recorded.collect();
    }
}

fn prepared(
    setup: RunSetup,
    resolver: Box<dyn DisputeResolver>,
    run: RunId,
    plan: &Plan,
) -> Result<ReviewWorkflow, RunError> {
    let folder = setup.journal.transcripts(&run)?;
    let templates = templates(&setup.workspace, plan, &folder)?;
    let shared = SharedRulings::of_plan(&setup.workspace, plan)?;
    let bindings = shared.bindings();
    let max_age = &setup.settings.rulings.max_age;
    Ok(ReviewWorkflow {
        bindings: rulings::known(Some(&setup.journal), &bindings, max_age)?,
        unread: shared.notice(),
        shared: bindings,
        reviewer_keys: ReviewerKeys::none(),
        sources: Sources::new(&folder, setup.settings.redaction.into()),
        scripts: Scripts::of(plan, &setup.settings, setup.workspace.root()),
        resources: RunResources::new(setup, run, templates)?,
        state: ReviewState::default(),
        resolver: Some(resolver),
        only: None,
        parked: BTreeSet::new(),
        round: None,
        tested: None,
    })
}

async fn rest(mut review: ReviewWorkflow) -> Result<EndedReview, RunError> {
    let rest = match review.resources.turn().await? {
        Some(by) => {
            let superseded = format!("superseded by run {} before its turn", by.short());
            review.append(EventKind::notice(superseded))?;
            Rest::Stopped
        }
        None if review.resources.stop.is_stopped() => Rest::Stopped,
        None => review.run().await?,
    };
    let changes = review.trees().all_changes(&review.state)?;
    let changes = review.resources.redaction().value(changes);
    // The outcome of a stopped run includes merged findings of the incomplete round.
    let shown = if rest == Rest::Stopped {
        review.merged_so_far()
    } else {
        None
    };
    let state = shown.as_ref().unwrap_or(&review.state);
    let outcome = outcome::outcome(
        state,
        &review.resources.run,
        review.exit(),
        review.resources.millis(),
        changes,
    );
    let mut outcome = outcome.ok_or_else(|| RunError::NotStarted(review.resources.run.clone()))?;
    add_earlier(&mut outcome, state, &review.resources.journal)?;
    outcome.proof.caps = review.resources.settings.budget.caps();
    outcome.notices.extend(budget_notices(&review, rest));
    if rest == Rest::OverBudget {
        outcome.exit = ExitReason::Budget;
    }
    Ok(EndedReview {
        outcome,
        reviewed: review.sources,
        rest,
    })
}

fn budget_notices(review: &ReviewWorkflow, rest: Rest) -> Vec<String> {
    let caps = review.resources.settings.budget.caps();
    let state = &review.state;
    let mut notices = Vec::new();
    if rest == Rest::OverBudget {
        let then = format!(
            "resume the run with `glee runs resume {}`",
            review.resources.run.short()
        );
        notices.extend(budget::notices(
            &review.resources.settings,
            &state.spent,
            &review.resources.by_runs,
            &then,
        ));
    }
    if caps.tokens.is_some() {
        notices.extend(untold(state, "budget.tokens", |usage| {
            usage.input_tokens.is_none() && usage.output_tokens.is_none()
        }));
    }
    let dollars = [
        ("budget.usd", caps.usd),
        ("budget.month_usd", caps.month_usd),
        ("budget.request_usd", caps.request_usd),
    ];
    for (key, cap) in dollars {
        if cap.is_some() {
            notices.extend(untold(state, key, |usage| usage.usd.is_none()));
        }
    }
    if dollars.iter().any(|(_, cap)| cap.is_some()) {
        let names = callers(state, Usage::is_by_bytes);
        if !names.is_empty() {
            notices.push(format!(
                "the cost of {names} is estimated by the bytes of prompts and answers, because the program reports no tokens"
            ));
        }
    }
    notices
}

fn untold(state: &ReviewState, key: &str, is_unknown: impl Fn(&Usage) -> bool) -> Option<String> {
    let names = callers(state, is_unknown);
    (!names.is_empty()).then(|| format!("`{key}` does not limit {names}: its usage is unknown"))
}

/// The names of the agents with such a usage of a call, without the embedded agents.
fn callers(state: &ReviewState, has_usage: impl Fn(&Usage) -> bool) -> String {
    let mut names = BTreeSet::new();
    for (id, call) in &state.calls {
        let is_embedded = state.agent(&id.agent).is_some_and(Agent::is_embedded);
        if has_usage(&call.usage) && !is_embedded {
            names.insert(id.agent.0.as_str());
        }
    }
    names.into_iter().collect::<Vec<_>>().join(", ")
}
