//! The state of a watch, computed from its recorded events.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::watch::issues::{Issue, LastEvent};
use glee_model::domain::event::{
    CallAnswer, CallId, DisputeEvent, Event, EventKind, Purpose, RunEvent, WatchEvent,
};
use glee_model::domain::{
    Action, AgentEvent, AgentName, Ballot, Dispute, DisputeNumber, EventType, PeerIssue,
    PeerReview, ReviewRequest, Spent, Trigger, UnsurePair, Untrusted, Verdict, WatchPlan,
    WatchStatus,
};
use glee_model::rules::watch::triggers::trigger;

/// The maximum number of summaries, and the maximum number of files, that are stored for an agent. When the
/// number of summaries reaches the maximum, each new summary replaces the oldest summary. When the number of
/// files reaches the maximum, new files are ignored.
const KEPT: usize = 50;
/// The maximum number of agents in a watch.
const AGENTS: usize = 256;

pub(crate) type CycleAnswers = BTreeMap<CallId, CallAnswer>;

#[derive(Clone, Debug, Default)]
pub struct WatchState {
    pub plan: Option<WatchPlan>,
    pub status: WatchStatus,
    /// True if only a person can resume the work. The work is in this state after a verdict `blocker` or a
    /// person's `pause` command.
    pub held: bool,
    pub flagged: bool,
    pub last_action: Option<Action>,
    /// The number of the last cycle, or 0 before the first cycle.
    pub cycle: u32,
    pub open: Option<Cycle>,
    pub agents: BTreeMap<AgentName, Seen>,
    pub issues: Vec<Issue>,
    /// The tree that the last cycle recorded or, before the first cycle, the tree at the start of the watch.
    pub tree: Option<String>,
    pub clarification: Option<Clarification>,
    /// The open and settled disputes about issues of the last cycle.
    pub disputes: BTreeMap<DisputeNumber, Disputed>,
    pub works: CycleAnswers,
    /// What the aggregator said about pairs of issues, by the key of the pair.
    pub compared: BTreeMap<String, bool>,
    pub unreviewed: BTreeSet<Trigger>,
    pub events: u64,
    pub spent: Spent,
}

#[derive(Clone, Debug, Default)]
pub struct Cycle {
    pub number: u32,
    pub triggers: BTreeSet<Trigger>,
    /// The review requests of the cycle. The list is empty until the tree is recorded.
    pub requests: Vec<ReviewRequest>,
    pub before: Option<String>,
    pub tree: Option<String>,
    pub answers: CycleAnswers,
    pub files: BTreeMap<AgentName, BTreeSet<String>>,
    /// The issues that may be the same.
    pub pairs: Vec<UnsurePair>,
}

#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub events: u64,
    pub last: Option<LastEvent>,
    /// The summaries that the agent reported since the last cycle.
    pub told: Vec<Untrusted>,
    pub(crate) told_more: u64,
    pub files: BTreeSet<String>,
    pub done: bool,
}

/// The dispute that a judge receives about an issue. The id of the dispute's finding is the number of the issue.
#[derive(Clone, Debug)]
pub struct Disputed {
    pub dispute: Dispute,
    pub answers: CycleAnswers,
}

#[derive(Clone, Debug)]
pub struct Clarification {
    pub cycle: u32,
    pub agents: Vec<AgentName>,
    pub prompt: Untrusted,
    pub answers: BTreeMap<AgentName, Untrusted>,
    pub reviewed: bool,
}

impl Cycle {
    /// The id of an issue of this cycle in an [`UnsurePair`]: the reviewer, and the index in the review.
    pub(crate) fn issue_id(reviewer: &AgentName, index: usize) -> String {
        format!("{}/{index}", reviewer.0)
    }

    pub fn review(&self, reviewer: &AgentName) -> Option<&PeerReview> {
        self.answers
            .iter()
            .rev()
            .find_map(|(call, answer)| match answer {
                CallAnswer::Peer { review } if call.agent == *reviewer => Some(&**review),
                _ => None,
            })
    }
}

impl Clarification {
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &AgentName> {
        self.agents
            .iter()
            .filter(|name| !self.answers.contains_key(name))
    }

    pub(crate) fn is_answered(&self) -> bool {
        self.waiting().next().is_none()
    }
}

impl WatchState {
    /// Returns true if the agent already belongs to the watch, or if the watch can accept another agent.
    pub fn knows(&self, name: &AgentName) -> bool {
        self.agents.len() < AGENTS || self.agents.contains_key(name)
    }

    pub fn apply(&mut self, event: &Event) {
        let at = event.at;
        match &event.kind {
            EventKind::Run(event) => {
                if let RunEvent::CallFinished {
                    call,
                    answer,
                    usage,
                    told,
                    ..
                } = event
                {
                    self.spent.add(**usage, told.retries);
                    match &call.purpose {
                        Purpose::Peer { cycle } => {
                            let open = self.open.as_mut().filter(|open| open.number == *cycle);
                            open.map(|open| open.answers.insert(call.clone(), answer.clone()));
                        }
                        Purpose::Same { .. } => self.compare(call, answer),
                        Purpose::Work => drop(self.works.insert(call.clone(), answer.clone())),
                        Purpose::Judge { dispute } => {
                            let disputed = self.disputes.get_mut(dispute);
                            disputed.map(|disputed| {
                                disputed.answers.insert(call.clone(), answer.clone())
                            });
                        }
                        _ => {}
                    }
                }
            }
            EventKind::Dispute(event) => match event {
                DisputeEvent::DisputeOpened { dispute } => {
                    let disputed = Disputed {
                        dispute: (**dispute).clone(),
                        answers: BTreeMap::new(),
                    };
                    self.disputes.insert(dispute.number, disputed);
                }
                DisputeEvent::RulingGiven { dispute, ruling } => {
                    if let Some(disputed) = self.disputes.get_mut(dispute) {
                        disputed.dispute.rulings.push(ruling.clone());
                    }
                }
                DisputeEvent::DisputeSettled {
                    dispute,
                    settlement,
                } => {
                    let Some(disputed) = self.disputes.get_mut(dispute) else {
                        return;
                    };
                    disputed.dispute.disposition = Some(settlement.disposition.clone());
                    let issue = disputed.dispute.finding.id.number;
                    if settlement.disposition.closes() {
                        self.close(issue, &settlement.by.to_string().into(), &settlement.reason);
                    }
                }
                _ => {}
            },
            EventKind::Watch(event) => match event {
                WatchEvent::WatchStarted { plan } => {
                    if self.tree.is_none() {
                        self.tree.clone_from(&plan.tree);
                    }
                    for agent in &plan.agents {
                        self.agents.entry(agent.name.clone()).or_default();
                    }
                    // If the task of an agent has changed, the agent's earlier answer is dropped. Otherwise, the
                    // earlier answer would count as the answer to the new task.
                    let known = self
                        .plan
                        .iter()
                        .flat_map(|plan| plan.jobs.clone())
                        .collect::<Vec<_>>();
                    self.works.retain(|call, _| {
                        let mut jobs = plan.jobs.iter();
                        jobs.all(|job| job.agent != call.agent || known.contains(job))
                    });
                    self.plan = Some((**plan).clone());
                }
                WatchEvent::EventReceived { said } => self.hear(at, said),
                WatchEvent::CycleStarted { cycle, triggers } => {
                    self.cycle = *cycle;
                    self.unreviewed.clear();
                    self.disputes.clear();
                    if let Some(clarification) = &mut self.clarification {
                        clarification.reviewed = true;
                    }
                    self.open = Some(Cycle {
                        number: *cycle,
                        triggers: triggers.clone(),
                        ..Cycle::default()
                    });
                }
                WatchEvent::ReviewRequested { requests, tree, .. } => {
                    let before = self.tree.clone();
                    if tree.is_some() {
                        self.tree.clone_from(tree);
                    }
                    let mut files = BTreeMap::new();
                    for (name, seen) in &mut self.agents {
                        files.insert(name.clone(), std::mem::take(&mut seen.files));
                        (seen.told, seen.told_more) = Default::default();
                    }
                    if let Some(open) = &mut self.open {
                        (open.requests, open.before, open.tree) =
                            (requests.clone(), before, tree.clone());
                        open.files = files;
                    }
                }
                WatchEvent::IssuesUnsure { pairs, .. } => {
                    if let Some(open) = &mut self.open {
                        open.pairs.clone_from(pairs);
                    }
                }
                WatchEvent::CycleDecided {
                    action,
                    status,
                    ballots,
                    ..
                } => self.decide(*action, *status, ballots),
                WatchEvent::ClarificationAsked {
                    cycle,
                    agents,
                    prompt,
                } => {
                    self.clarification = Some(Clarification {
                        cycle: *cycle,
                        agents: agents.clone(),
                        prompt: prompt.clone(),
                        answers: BTreeMap::new(),
                        reviewed: false,
                    });
                }
                WatchEvent::WatchPaused { .. } => {
                    (self.status, self.held) = (WatchStatus::Paused, true)
                }
                WatchEvent::WatchResumed { .. } => {
                    (self.status, self.held, self.clarification) =
                        (WatchStatus::Running, false, None);
                    self.disputes.clear();
                }
                WatchEvent::IssueClosed { issue, by, reason } => self.close(*issue, by, reason),
            },
            EventKind::Review(_) | EventKind::Consensus(_) => {}
        }
    }

    fn hear(&mut self, at: Timestamp, said: &AgentEvent) {
        self.events += 1;
        self.unreviewed.extend(trigger(said.kind));
        let Some(name) = said.agent.clone() else {
            return;
        };
        if !self.knows(&name) {
            return;
        }
        let answers = self.clarification.as_ref().is_some_and(|asked| {
            said.clarifies == Some(asked.cycle) && asked.agents.contains(&name)
        });
        let seen = self.agents.entry(name.clone()).or_default();
        let summary = said.summary.clone().unwrap_or_default();
        seen.events += 1;
        seen.done = said.kind == EventType::Done;
        // The answer to a clarification is stored only in `clarification`, and not in the agent's list of
        // summaries (`told`).
        if !summary.is_empty() && !answers {
            seen.told
                .push(summary.labelled(&format!("{}: ", said.kind)));
            if seen.told.len() > KEPT {
                seen.told.remove(0);
                seen.told_more += 1;
            }
        }
        let files = said.files.iter().map(|path| path.as_written().to_owned());
        seen.files
            .extend(files.take(KEPT.saturating_sub(seen.files.len())));
        seen.last = Some(LastEvent {
            at,
            kind: said.kind,
            summary: summary.clone(),
        });
        if let Some(asked) = self.clarification.as_mut().filter(|_| answers) {
            asked.answers.insert(name, summary);
        }
    }

    fn decide(&mut self, action: Action, status: WatchStatus, ballots: &[Ballot]) {
        let Some(cycle) = self.open.take() else {
            return;
        };
        let mut numbers = BTreeMap::new();
        for ballot in ballots {
            if let Some(why) = &ballot.absent {
                let description = format!("gave no usable verdict: {}", why.as_written()).into();
                let issue = PeerIssue {
                    severity: Issue::ABSENT.into(),
                    description,
                    file: None,
                };
                self.raise(cycle.number, &ballot.reviewer, issue);
                continue;
            }
            let raised = cycle
                .review(&ballot.reviewer)
                .filter(|review| review.verdict != Verdict::Approved);
            let issues = raised
                .map(|review| review.issues.clone())
                .unwrap_or_default();
            for (index, issue) in issues.into_iter().enumerate() {
                let id = Cycle::issue_id(&ballot.reviewer, index);
                let number = match self.repeated(&cycle, &ballot.reviewer, &id) {
                    Some(known) => known,
                    None => self.raise(cycle.number, &ballot.reviewer, issue),
                };
                numbers.insert(id, number);
            }
        }
        self.relate(&cycle, &numbers);
        self.last_action = Some(action);
        self.flagged = action == Action::LogAndContinue;
        self.held |= action == Action::StopAndEscalate;
        self.status = status;
        // The answers to the clarification are kept during a pause, because a judge needs the answers.
        if !action.pauses() {
            self.clarification = None;
        }
    }

    fn close(&mut self, issue: u32, by: &Untrusted, reason: &Untrusted) {
        if let Some(found) = self.issues.iter_mut().find(|known| known.number == issue) {
            found.closed = Some((by.clone(), reason.clone()));
        }
        let some_open = self.open_issues().next().is_some();
        self.flagged &= some_open;
    }

    /// Adds an issue, and returns its number. An issue is not added if an earlier issue of the same reviewer with the same
    /// description and file is open or rejected.
    fn raise(&mut self, cycle: u32, reviewer: &AgentName, issue: PeerIssue) -> u32 {
        let mut known = self.issues.iter();
        if let Some(known) = known.find(|known| known.is_repeated_by(reviewer, &issue)) {
            return known.number;
        }
        let number = u32::try_from(self.issues.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        self.issues.push(Issue {
            number,
            cycle,
            reviewer: reviewer.clone(),
            issue,
            same_as: Vec::new(),
            may_be: Vec::new(),
            closed: None,
        });
        number
    }

    /// The earlier issue that a reviewer raises again in other words, according to the aggregator.
    fn repeated(&self, cycle: &Cycle, reviewer: &AgentName, id: &str) -> Option<u32> {
        let same = cycle
            .pairs
            .iter()
            .filter(|pair| pair.one == id && self.compared.get(&pair.key) == Some(&true));
        let mut earlier = same.filter_map(|pair| pair.other.parse().ok());
        earlier.find(|number| {
            let mut issues = self.issues.iter();
            issues.any(|issue| issue.number == *number && issue.reviewer == *reviewer)
        })
    }

    /// Whether the issue's reviewer raised the issue in this cycle, for the first time or again.
    pub(crate) fn is_raised_again(&self, cycle: &Cycle, issue: &Issue) -> bool {
        let raised = cycle
            .review(&issue.reviewer)
            .filter(|review| review.verdict != Verdict::Approved);
        let mut raised = raised.iter().flat_map(|review| &review.issues).enumerate();
        raised.any(|(index, raised)| {
            let id = Cycle::issue_id(&issue.reviewer, index);
            issue.is_repeated_by(&issue.reviewer, raised)
                || self.repeated(cycle, &issue.reviewer, &id) == Some(issue.number)
        })
    }

    /// Keeps the answers of the aggregator. A later cycle uses them again for the same texts.
    fn compare(&mut self, call: &CallId, answer: &CallAnswer) {
        let Some(open) = &mut self.open else { return };
        open.answers.insert(call.clone(), answer.clone());
        let CallAnswer::Same { pairs: said } = answer else {
            return;
        };
        for pair in &open.pairs {
            let said = said.iter().find(|said| Some(said.pair) == pair.asked);
            self.compared
                .extend(said.map(|said| (pair.key.clone(), said.same)));
        }
    }

    /// Records which issues are the same as the issues of a cycle, and which may be. `numbers` has the issues of the cycle.
    fn relate(&mut self, cycle: &Cycle, numbers: &BTreeMap<String, u32>) {
        let number_of = |id: &String| numbers.get(id).copied().or_else(|| id.parse().ok());
        for pair in &cycle.pairs {
            let Some(one) = number_of(&pair.one) else {
                continue;
            };
            let Some(other) = number_of(&pair.other) else {
                continue;
            };
            let answer = self.compared.get(&pair.key);
            for (one, other) in [(one, other), (other, one)] {
                let mut issues = self.issues.iter_mut();
                let Some(issue) = issues.find(|issue| issue.number == one && one != other) else {
                    continue;
                };
                issue.may_be.retain(|known| *known != other);
                let others = match answer {
                    Some(true) => &mut issue.same_as,
                    Some(false) => continue,
                    None => &mut issue.may_be,
                };
                if !others.contains(&other) {
                    others.push(other);
                }
            }
        }
    }

    /// The clarification that no cycle has reviewed yet.
    pub(crate) fn unreviewed_clarification(&self) -> Option<&Clarification> {
        self.clarification.as_ref().filter(|asked| !asked.reviewed)
    }

    pub(crate) fn open_issues(&self) -> impl Iterator<Item = &Issue> {
        self.issues.iter().filter(|issue| issue.closed.is_none())
    }
}
