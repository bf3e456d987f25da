//! The participants of a run with their roles, and the CSS classes of roles and colours.

use std::collections::BTreeMap;

use crate::cli::report::calls::TimedCall;
use glee_model::domain::event::{Event, EventKind, Plan, ReviewEvent};
use glee_model::domain::{AgentName, Outcome, Role, SettledFinding};

/// The participants, sorted by role: reviewers, agents of other or unknown roles, coders, judges.
#[derive(Clone, Debug)]
pub(crate) struct Cast {
    pub(crate) members: Vec<(AgentName, Option<Role>)>,
}

impl Cast {
    pub(crate) fn of(outcome: &Outcome, plan: Option<&Plan>, calls: &[TimedCall<'_>]) -> Self {
        let planned = plan
            .iter()
            .flat_map(|plan| [&plan.agents, &plan.backups, &plan.comparers])
            .flatten();
        let mut roles: BTreeMap<AgentName, Option<Role>> = planned
            .map(|agent| (agent.name.clone(), Some(agent.role)))
            .collect();
        let reviewers = outcome
            .proof
            .reviewers
            .iter()
            .map(|reviewer| &reviewer.name);
        for name in reviewers {
            roles.insert(name.clone(), Some(Role::Reviewer));
        }
        // A coder can join a run after the plan of the run was recorded.
        for call in calls {
            roles.entry(call.id.agent.clone()).or_insert(call.role);
        }
        for name in outcome
            .findings
            .iter()
            .flat_map(|finding| &finding.finding.raised_by)
        {
            roles.entry(name.clone()).or_insert(None);
        }
        let mut members: Vec<_> = roles.into_iter().collect();
        members.sort_by_key(|(_, role)| match role {
            Some(Role::Reviewer) => 0,
            Some(Role::Coder) => 2,
            Some(Role::Judge) => 3,
            None | Some(Role::Aggregator) => 1,
        });
        Self { members }
    }

    /// The coder that received a finding.
    pub(crate) fn coder_of<'a>(&'a self, settled: &'a SettledFinding) -> Option<&'a AgentName> {
        settled.coder.as_ref().or_else(|| self.only_coder())
    }

    /// The coder of a run with one coder.
    pub(crate) fn only_coder(&self) -> Option<&AgentName> {
        let mut coders = self
            .members
            .iter()
            .filter(|(_, role)| *role == Some(Role::Coder));
        match (coders.next(), coders.next()) {
            (Some((name, _)), None) => Some(name),
            _ => None,
        }
    }

    pub(crate) fn role(&self, name: &AgentName) -> Option<Role> {
        self.members
            .iter()
            .find(|(known, _)| known == name)
            .and_then(|(_, role)| *role)
    }
}

/// Returns the plan of a review, or `None` if no event contains a plan.
pub(crate) fn plan(events: &[Event]) -> Option<&Plan> {
    events.iter().find_map(|event| match &event.kind {
        EventKind::Review(ReviewEvent::RunStarted { plan }) => Some(&**plan),
        _ => None,
    })
}

/// Returns the CSS class of a role.
pub(crate) fn role_class(role: Option<Role>) -> &'static str {
    match role {
        Some(Role::Coder) => "coder",
        Some(Role::Judge) => "judge",
        Some(Role::Reviewer | Role::Aggregator) | None => "reviewer",
    }
}
