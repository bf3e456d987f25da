//! Says which demonstrations are due, from the state alone, and runs them (`running`).

pub(crate) mod running;

use crate::review::code::coder_changes::{last_tree, tree_before_round};
use crate::review::state::ReviewState;
use glee_model::domain::{
    Claim, Demonstration, DemonstrationRun, Finding, FindingId, Objector, Role, TestRun, TestedTree,
};
use glee_model::rules::review::demonstrations;

/// A demonstration that has to run on a tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DueDemonstration {
    pub finding: FindingId,
    pub claim: Claim,
    pub by: Role,
    pub demonstration: Demonstration,
    /// The id of the recorded content; `None` before the coder's first call, when the work tree is what was reviewed.
    pub tree: Option<String>,
    pub tested: TestedTree,
    /// Whether so many have run that this one is refused.
    pub is_over: bool,
}

impl DueDemonstration {
    /// The record of a demonstration that was not run.
    pub(crate) fn refused(&self, why: impl Into<String>) -> DemonstrationRun {
        DemonstrationRun {
            refused: Some(why.into()),
            ..self.ran(String::new(), Vec::new())
        }
    }

    pub(crate) fn ran(&self, command: String, runs: Vec<TestRun>) -> DemonstrationRun {
        DemonstrationRun {
            finding: self.finding,
            claim: self.claim,
            by: self.by,
            demonstration: self.demonstration.clone(),
            tree: self.tree.clone().unwrap_or_default(),
            tested: self.tested,
            command,
            runs,
            refused: None,
        }
    }

    /// Whether a record is about this demonstration on this tree. A finding was raised in one tree only.
    pub(crate) fn is_in(&self, run: &DemonstrationRun) -> bool {
        run.demonstration == self.demonstration
            && run.claim == self.claim
            && run.tested == self.tested
            && (run.tested == TestedTree::Before || Some(&run.tree) == self.tree.as_ref())
    }
}

/// The first demonstration that has to run on the reviewed tree, or on the tree after the coder's edits. Each runs once
/// on a tree.
pub(crate) fn next(state: &ReviewState, tested: TestedTree) -> Option<DueDemonstration> {
    state.settings.review.offered_runners().next()?;
    let recorded = state.progress.values();
    let recorded = recorded.flat_map(|progress| &progress.demonstrations);
    let ran = recorded.filter(|run| run.tested == TestedTree::Before);
    let ran = ran.count() as u64;
    let findings = state.findings.iter().filter(|finding| finding.mandatory);
    let mut all = findings.flat_map(|finding| match tested {
        TestedTree::Before => given(state, finding),
        TestedTree::After => failing(state, finding),
    });
    let due = all.find(|due| {
        let progress = state.progress(due.finding);
        !progress.demonstrations.iter().any(|run| due.is_in(run))
    })?;
    let most = state.settings.budget.demonstrations;
    Some(DueDemonstration {
        is_over: tested == TestedTree::Before && most.is_some_and(|most| ran >= most),
        ..due
    })
}

/// The demonstrations that the reviewer and the coder gave.
fn given(state: &ReviewState, finding: &Finding) -> Vec<DueDemonstration> {
    let tree = tree_before_round(state, finding.round);
    let progress = state.progress(finding.id);
    // In a run that continues a dispute of an earlier one, the coder does not object again.
    let carried = progress
        .dispute
        .and_then(|number| state.disputes.get(&number))
        .filter(|dispute| dispute.objector == Objector::Coder)
        .map(|dispute| &dispute.objection);
    let of_coder = progress.response.as_ref().or(carried).and_then(|response| {
        let claim = if progress.says_implemented() {
            Claim::Defect
        } else {
            Claim::NoDefect
        };
        Some((Role::Coder, claim, response.demonstration.as_ref()?))
    });
    let of_reviewer = finding.raw.demonstration.as_deref();
    let of_reviewer = of_reviewer.map(|given| (Role::Reviewer, Claim::Defect, given));
    let given = of_reviewer.into_iter().chain(of_coder);
    given
        .map(|(by, claim, demonstration)| DueDemonstration {
            finding: finding.id,
            claim,
            by,
            demonstration: demonstration.clone(),
            tree: tree.cloned(),
            tested: TestedTree::Before,
            is_over: false,
        })
        .collect()
}

/// The demonstrations that failed on the reviewed tree, after the coder says that the finding is implemented.
fn failing(state: &ReviewState, finding: &Finding) -> Vec<DueDemonstration> {
    let progress = state.progress(finding.id);
    let Some(tree) = last_tree(state).filter(|_| state.is_done(finding.id)) else {
        return Vec::new();
    };
    let shown = demonstrations::demonstrated(&progress.demonstrations);
    let failed = shown.into_iter().filter(|one| one.result.failed_before());
    failed
        .map(|one| DueDemonstration {
            finding: finding.id,
            claim: one.claim,
            by: one.by,
            demonstration: one.demonstration,
            tree: Some(tree.clone()),
            tested: TestedTree::After,
            is_over: false,
        })
        .collect()
}
