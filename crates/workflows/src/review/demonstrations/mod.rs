//! Says which demonstrations are due, from the state alone, and runs them (`running`).

pub mod running;

use crate::review::code::coder_changes::{last_tree, tree_before_round};
use crate::review::state::{RecordedCall, ReviewState};
use glee_model::domain::event::{CallAnswer, CallId, Purpose};
use glee_model::domain::{
    Agent, AgentName, Claim, Demonstration, DemonstrationRequest, DemonstrationRun, Dispute,
    DisputeNumber, Finding, FindingId, Objector, RawFinding, Role, TestRun, TestedTree, Untrusted,
};
use glee_model::rules::consensus::category;
use glee_model::rules::review::demonstrations;
use glee_protocol::calls::judge::RequestedDemonstration;
use glee_store::config::choices::Demonstrations;

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
    /// What the objection cites: the guard that it names is among it.
    pub evidence: Vec<Untrusted>,
    /// The id of the reviewed content, for a demonstration that runs after the coder's edits.
    pub reviewed: Option<String>,
    /// How many executions the budget still allows.
    pub left: u64,
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
            without: None,
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
    let ran = recorded
        .map(|run| u64::from(run.tested == TestedTree::Before) + u64::from(run.without.is_some()));
    let ran: u64 = ran.sum();
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
        left: most.map_or(u64::MAX, |most| most.saturating_sub(ran)),
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
        let demonstration = response.demonstration.as_ref()?;
        Some((Role::Coder, claim, demonstration, &*response.evidence))
    });
    let of_reviewer = finding.raw.demonstration.as_deref();
    let of_reviewer = of_reviewer.map(|given| (Role::Reviewer, Claim::Defect, given, &[][..]));
    let own = state.dispute_of(finding.id);
    let own = own.filter(|dispute| dispute.finding.id == finding.id);
    let upon_request = own.and_then(|dispute| shown_upon_request(state, dispute));
    let given = of_reviewer.into_iter().chain(of_coder).chain(upon_request);
    given
        .map(|(by, claim, demonstration, evidence)| DueDemonstration {
            finding: finding.id,
            claim,
            by,
            demonstration: demonstration.clone(),
            tree: tree.cloned(),
            tested: TestedTree::Before,
            evidence: evidence.to_vec(),
            reviewed: None,
            left: 0,
        })
        .collect()
}

/// The mandatory findings that do not block, because a demonstration is required and none shows them. A finding that a ruling
/// enforces, or about which a dispute is open, stays as it is. Without a runner, nobody could give one.
pub(crate) fn undemonstrated(state: &ReviewState) -> Vec<FindingId> {
    let review = &state.settings.review;
    let is_required = review.demonstrations == Demonstrations::Required;
    if !is_required || review.runners.is_empty() {
        return Vec::new();
    }
    let lowered = state.findings.iter().filter(|finding| {
        let RawFinding {
            category: given,
            rule,
            title,
            ..
        } = &finding.raw;
        let progress = state.progress(finding.id);
        let is_decided = progress.has_dispute()
            || progress.enforced_by().is_some()
            || progress.still_disputed().is_some();
        let category = category(given.as_deref(), rule.as_deref(), title.as_written());
        finding.mandatory
            && !is_decided
            && demonstrations::is_undemonstrated(category, &progress.demonstrations)
    });
    lowered.map(|finding| finding.id).collect()
}

/// What a judge asks for before it rules. The first judge of a panel that asks, asks for all.
pub(crate) fn requested(
    state: &ReviewState,
    dispute: DisputeNumber,
) -> Option<&DemonstrationRequest> {
    state.judges().find_map(|judge| {
        let (_, call) = state.last_call(&judge.name, &Purpose::Judge { dispute })?;
        match &call.answer {
            CallAnswer::Request { request } => Some(request),
            _ => None,
        }
    })
}

/// What a judge asked for, and what the side answered.
pub(crate) fn request(
    state: &ReviewState,
    dispute: DisputeNumber,
) -> Option<RequestedDemonstration> {
    let request = requested(state, dispute)?.clone();
    let answer = match asked(state, dispute).map(|(_, call)| &call.answer) {
        Some(CallAnswer::Demonstrate {
            demonstration: Some(given),
            said,
        }) => format!("It gave the test `{}`. {}", given.path, said.as_written()),
        Some(CallAnswer::Demonstrate { said, .. }) => {
            format!("It gave no test. {}", said.as_written())
        }
        Some(_) | None => "It gave no test, and no valid answer.".to_owned(),
    };
    Some(RequestedDemonstration {
        request,
        answer: answer.into(),
    })
}

/// The sides that a judge may ask for a demonstration: each that can answer, once a dispute.
pub(crate) fn may_ask(state: &ReviewState, dispute: &Dispute) -> Vec<Role> {
    let has_runner = state.settings.review.offered_runners().next().is_some();
    let has_code = dispute.finding.anchored().next().is_some();
    if !has_runner || !has_code || asked(state, dispute.number).is_some() {
        return Vec::new();
    }
    let sides = [Role::Reviewer, Role::Coder].into_iter();
    sides
        .filter(|side| speaker(state, dispute, *side).is_some())
        .collect()
}

/// The agent that answers for a side: one that raised the finding, or the coder that objected. An embedded agent writes no
/// tests.
pub(crate) fn speaker<'a>(
    state: &'a ReviewState,
    dispute: &Dispute,
    side: Role,
) -> Option<&'a AgentName> {
    let finding = &dispute.finding;
    let mut agents = state.agents(side);
    let speaker = agents.find(|agent: &&Agent| {
        let speaks = match side {
            Role::Coder => {
                let mut items = state.of_coder(&agent.name, std::iter::once(finding.id));
                dispute.objector.is_coder() && items.pop().is_some()
            }
            Role::Reviewer => finding.raised_by.contains(&agent.name),
            Role::Judge | Role::Aggregator => false,
        };
        speaks && !agent.is_embedded() && !agent.is_caller()
    });
    speaker.map(|agent| &agent.name)
}

/// The last call in which a side was asked for a demonstration. A person who reopens the dispute does not start anew.
pub(crate) fn asked(
    state: &ReviewState,
    dispute: DisputeNumber,
) -> Option<(&CallId, &RecordedCall)> {
    let purpose = Purpose::Demonstrate { dispute };
    let mut calls = state.calls.iter().rev();
    calls.find(|(id, _)| id.purpose == purpose)
}

/// Who gives a demonstration, what it is to show, and the evidence beside it.
type GivenTest<'a> = (Role, Claim, &'a Demonstration, &'a [Untrusted]);

/// The demonstration that a side gave because a judge asked for it.
fn shown_upon_request<'a>(state: &'a ReviewState, dispute: &'a Dispute) -> Option<GivenTest<'a>> {
    let (id, call) = asked(state, dispute.number)?;
    let CallAnswer::Demonstrate { demonstration, .. } = &call.answer else {
        return None;
    };
    let is_coder = state.coders().any(|coder| *coder == id.agent);
    let by = if is_coder {
        Role::Coder
    } else {
        Role::Reviewer
    };
    let evidence = match by {
        Role::Coder => &*dispute.objection.evidence,
        _ => &[],
    };
    Some((by, Claim::of_side(by), demonstration.as_deref()?, evidence))
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
            evidence: Vec::new(),
            reviewed: tree_before_round(state, finding.round).cloned(),
            left: 0,
        })
        .collect()
}
