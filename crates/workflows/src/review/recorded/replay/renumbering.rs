//! Translates the record of a run to the numbers that its findings and disputes have in the replay.

use std::collections::{BTreeMap, BTreeSet};

use super::Replay;
use super::match_findings::Same;
use crate::review::code::coder_changes;
use crate::review::schedule;
use glee_model::domain::event::{
    CallAnswer, CallId, DisputeEvent, EventKind, ReviewEvent, TreeChange,
};
use glee_model::domain::{Dispute, DisputeNumber, FindingId, Response};

impl Replay<'_> {
    /// For each recorded finding, the ids of all findings in the replay that match the recorded finding.
    pub(super) fn now(&self, ids: impl IntoIterator<Item = FindingId>) -> Vec<Vec<FindingId>> {
        let same = Same::of(&self.state.findings);
        // An answer can name a member by the id that it had before a ruling separated it from its group.
        let separated = &self.record.separated;
        ids.into_iter()
            .map(|id| {
                let known = self
                    .record
                    .finding(separated.get(&id).copied().unwrap_or(id));
                let places = known.into_iter().flat_map(|known| same.places(known));
                places.map(|place| self.state.findings[place].id).collect()
            })
            .collect()
    }

    pub(super) fn renumbered(&self, answer: &CallAnswer) -> CallAnswer {
        let mut answer = answer.clone();
        match &mut answer {
            CallAnswer::Examine { examinations, .. } => {
                *examinations = self.each(examinations, |said| &mut said.finding);
            }
            CallAnswer::Defend { defences } => {
                *defences = self.each(defences, |said| &mut said.finding)
            }
            CallAnswer::Respond { responses, .. } => {
                *responses = self.each(responses, |response| &mut response.finding);
            }
            CallAnswer::Recheck { checks } => {
                *checks = self.each(checks, |check| &mut check.finding)
            }
            CallAnswer::Compare { comparisons } => {
                *comparisons = self.each(comparisons, |comparison| &mut comparison.finding);
            }
            CallAnswer::Judge { ruling } => {
                ruling.duplicate_of = self
                    .now(ruling.duplicate_of)
                    .first()
                    .and_then(|now| now.first())
                    .copied();
            }
            _ => {}
        }
        answer
    }

    pub(super) fn each<T: Clone>(
        &self,
        said: &[T],
        id: impl Fn(&mut T) -> &mut FindingId,
    ) -> Vec<T> {
        let now = self.now(said.iter().map(|said| *id(&mut said.clone())));
        let mut renumbered = Vec::new();
        for (said, now) in said.iter().zip(now) {
            for finding in now {
                let mut said = said.clone();
                *id(&mut said) = finding;
                renumbered.push(said);
            }
        }
        renumbered
    }

    pub(super) fn tree(&self, call: &CallId) -> EventKind {
        let mut tree_change = TreeChange {
            call: call.clone(),
            tree: coder_changes::last_tree(&self.state)
                .cloned()
                .unwrap_or_default(),
            changes: Vec::new(),
            put_back: Vec::new(),
            touched: BTreeSet::new(),
            partly: Vec::new(),
        };
        // A call that failed was made again with the same id when the run was resumed.
        for known in &self.record.tree_changes {
            if known.call == *call {
                tree_change.tree.clone_from(&known.tree);
                tree_change.changes.extend(known.changes.iter().cloned());
                tree_change.put_back.extend(known.put_back.iter().cloned());
                let touched = self.now(known.touched.iter().copied());
                tree_change.touched.extend(touched.concat());
                tree_change.partly = self.each(&known.partly, |partly| &mut partly.finding);
            }
        }
        ReviewEvent::TreeChanged(tree_change).into()
    }

    /// Returns the events that open the disputes of the replay. A dispute that matches a recorded dispute gets
    /// the recorded number.
    pub(super) fn open_disputes(&self) -> Vec<EventKind> {
        let recorded: Vec<&Dispute> = self.record.disputes.values().collect();
        let of_dispute = |dispute: &&Dispute| dispute.findings().chain(&dispute.left).count();
        let numbers: Vec<DisputeNumber> = recorded
            .iter()
            .flat_map(|dispute| std::iter::repeat_n(dispute.number, of_dispute(dispute)))
            .collect();
        let findings = recorded
            .iter()
            .flat_map(|dispute| dispute.findings().chain(&dispute.left));
        let same = Same::of(findings);
        let mut taken: BTreeSet<DisputeNumber> = self.state.disputes.keys().copied().collect();
        let mut last = self
            .record
            .disputes
            .keys()
            .chain(&taken)
            .max()
            .map_or(0, |number| number.0);
        let mut opened = Vec::new();
        for members in schedule::disputes::unopened(&self.state) {
            let id = members[0];
            let findings = members.iter().filter_map(|id| self.state.finding(*id));
            let mut matches: BTreeMap<DisputeNumber, usize> = BTreeMap::new();
            for place in findings.flat_map(|finding| same.places(finding)) {
                *matches.entry(numbers[place]).or_default() += 1;
            }
            matches.retain(|number, _| !taken.contains(number));
            // The recorded dispute about most of the members; of several, the newest.
            let number = matches
                .into_iter()
                .max_by_key(|(number, matched)| (*matched, *number))
                .map(|(number, _)| number)
                .unwrap_or_else(|| {
                    last += 1;
                    DisputeNumber(last)
                });
            taken.insert(number);
            let mut dispute = Box::new(self.state.sides(&members).numbered(number));
            // If the dispute has the same parties as in the record, the recorded objection is used.
            let recorded = self.record.disputes.get(&number).filter(|recorded| {
                self.record.is_judged_first(&recorded.finding)
                    == self.state.is_judged_first(&dispute.finding)
            });
            if let Some(recorded) = recorded {
                dispute.objector = recorded.objector;
                dispute.objection = Response {
                    finding: id,
                    ..recorded.objection.clone()
                };
            }
            opened.push(DisputeEvent::DisputeOpened { dispute }.into());
        }
        opened
    }
}
