//! The commits of a pull request as the target of a review.

use super::connection::{RequestOnHost, failed, short};
use crate::cli::context::{CommandError, Globals};
use glee_model::domain::event::{Mode, Plan, PullRequestPlan};
use glee_model::domain::{Intent, PostedProblem, SharedRuling, Untrusted};
use glee_protocol::text::printable;
use glee_workflows::hosts::PullRequest;
use glee_workflows::pull_request::{posted, rulings};
use glee_workflows::review::code::intent;
use glee_workspace::root::Workspace;
use glee_workspace::{ChangeSource, ControlFiles, FetchedChange, Target, TargetSpec};

/// A request can close more issues than this number; only the first ones are read.
const ISSUES: usize = 3;

/// The commits of a pull request, which Glee fetched from the host. The commits stay in the repository until
/// this struct is dropped.
pub(crate) struct PullRequestChange {
    pub(crate) on_host: RequestOnHost,
    pub(crate) commits: FetchedChange,
    /// The rulings that Glee published in the conversation.
    rulings: Vec<SharedRuling>,
    posted: Vec<PostedProblem>,
    wanted: String,
}

impl PullRequestChange {
    pub(crate) fn fetch(
        wanted: &str,
        globals: &Globals,
        workspace: &Workspace,
    ) -> Result<Self, CommandError> {
        let on_host = RequestOnHost::open(wanted, globals)?;
        on_host.require_open()?;
        let commits = fetch(&on_host.request, workspace)?;
        let conversation = on_host
            .host
            .conversation(&on_host.request)
            .map_err(failed)?;
        let found = rulings(&conversation);
        found
            .notices
            .iter()
            .for_each(|notice| globals.say(format!("note: {}", printable::line(notice))));
        Ok(Self {
            on_host,
            commits,
            rulings: found.rulings,
            posted: posted(&conversation),
            wanted: wanted.to_owned(),
        })
    }

    /// The range of commits from the merge base to the head commit of the pull request.
    pub(crate) fn target(&self) -> TargetSpec {
        TargetSpec::Range(format!("{}..{}", self.commits.from, self.commits.head))
    }

    /// Reads the base commit's version of the files that configure Glee. The field `edited` lists the
    /// configuration files that the pull request edits. The work tree does not affect this list.
    pub(crate) fn steering(&self, workspace: &Workspace) -> Result<ControlFiles, CommandError> {
        let FetchedChange {
            base, from, head, ..
        } = &self.commits;
        let edited = workspace.edited_control_files(from, head)?;
        let mut steering = workspace.control_files_at(base)?;
        steering.edited = edited;
        Ok(steering)
    }

    /// Fails if a coder would edit a work tree that does not contain the head commit.
    pub(crate) fn check_mode(&self, mode: Mode, workspace: &Workspace) -> Result<(), CommandError> {
        let head = &self.commits.head;
        if mode == Mode::Review || workspace.head() == Some(head) {
            return Ok(());
        }
        let name = self.on_host.name();
        Err(CommandError::usage(format!(
            "the coder edits the work tree, which does not contain the head commit {} of {name}",
            short(head)
        ))
        .hint(format!(
            "review without a coder, or first check out the commit: `git checkout {}`",
            short(head)
        )))
    }

    /// The title and the text of the pull request, and the issues that it closes. An issue that the host does not give is
    /// left out.
    pub(crate) fn intent(&self) -> Vec<Intent> {
        let RequestOnHost { host, request } = &self.on_host;
        let own = [request.title.clone(), request.body.clone()];
        let mut said = vec![(self.on_host.name(), own)];
        let closed = intent::closed_issues(&request.body);
        for number in closed.into_iter().take(ISSUES) {
            if let Ok(issue) = host.issue(number) {
                said.push((format!("issue {number}"), [issue.title, issue.body]));
            }
        }
        said.into_iter()
            .map(|(from, texts)| Intent {
                from,
                text: Untrusted::joined(&texts, "\n\n"),
            })
            .collect()
    }

    /// Records the pull request in the plan of a review.
    pub(crate) fn record(&self, plan: &mut Plan, target: &mut Target) {
        let FetchedChange {
            base, from, head, ..
        } = &self.commits;
        let request = &self.on_host.request;
        target.description = self.on_host.name();
        plan.target = self.on_host.name();
        plan.steered_by = Some(base.clone());
        plan.rulings_at = Some(base.clone());
        let is_link = self.wanted.contains("://");
        let named = if is_link {
            request.link.clone()
        } else {
            request.number.to_string()
        };
        plan.target_args = Some(vec!["--pr".to_owned(), named]);
        plan.pull_request = Some(PullRequestPlan {
            number: request.number,
            link: request.link.clone(),
            base: base.clone(),
            from: from.clone(),
            head: head.clone(),
            rulings: self.rulings.clone(),
            posted: self.posted.clone(),
        });
    }
}

/// Fetches the commits of a pull request into the repository of the work tree.
pub(crate) fn fetch(
    request: &PullRequest,
    workspace: &Workspace,
) -> Result<FetchedChange, CommandError> {
    Ok(workspace.fetch_change(&ChangeSource {
        repository: &request.repository,
        head_ref: &request.head_ref,
        head: &request.head.id,
        base_branch: &request.base.branch,
        base: &request.base.id,
    })?)
}
