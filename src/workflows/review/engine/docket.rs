//! Which step is started next.
//!
//! [`due::due`] goes through the whole state. While disputes are being settled, of which there may be thousands, only the
//! disputes that something happened to are looked at again: disputes do not depend on each other, and no other stage is
//! due before theirs is over.

use std::collections::BTreeSet;

use crate::domain::DisputeNumber;
use crate::domain::event::{DisputeEvent, EventKind, Purpose, RunEvent};
use crate::workflows::review::engine::work::{DisputeQueue, ReviewEngine};
use crate::workflows::review::schedule::{self, ReviewStep, SchedulePolicy};
use crate::workflows::run::call;

/// Judges that work at the same time, where `review.jobs` does not say fewer.
const JUDGES: usize = 16;

impl DisputeQueue {
    /// Notes what happened. Returns whether other steps than those of a dispute may be due.
    fn note(&mut self, kind: &EventKind) -> bool {
        match kind {
            EventKind::Dispute(
                DisputeEvent::RouteChosen { dispute, .. }
                | DisputeEvent::RulingGiven { dispute, .. }
                | DisputeEvent::DisputeSettled { dispute, .. },
            ) => drop(self.touched.insert(*dispute)),
            EventKind::Run(RunEvent::CallFinished { call, .. }) => match call.purpose {
                Purpose::Judge { dispute } => drop(self.touched.insert(dispute)),
                _ => return true,
            },
            EventKind::Run(
                RunEvent::CallStarted { .. } | RunEvent::Notice { .. } | RunEvent::ReadOnlyViolated { .. },
            ) => {}
            _ => return true,
        }
        false
    }
}

impl ReviewEngine {
    pub(crate) fn note(&mut self, kind: &EventKind) {
        if self.docket.as_mut().is_some_and(|docket| docket.note(kind)) {
            self.docket = None;
        }
    }

    /// The next step that is due, not at work, and can be started now.
    pub(crate) fn next(
        &mut self,
        policy: &SchedulePolicy,
        parked: &BTreeSet<DisputeNumber>,
        running: &BTreeSet<ReviewStep>,
    ) -> Option<ReviewStep> {
        if let Some(only) = &self.only {
            let open = only.iter().filter(|number| !parked.contains(number));
            let open =
                open.filter_map(|number| self.state.disputes.get(number)).filter(|dispute| dispute.is_open());
            let mut steps = open.flat_map(|dispute| schedule::of_dispute(&self.state, policy, dispute));
            return steps.find(|step| !running.contains(step) && self.can_start(step, running));
        }
        if let Some(docket) = &mut self.docket {
            let mut docket = std::mem::take(docket);
            let found = self.next_of(&mut docket, policy, parked, running);
            self.docket = Some(docket);
            if found.is_some() || running.iter().any(|step| step.dispute().is_some()) {
                return found;
            }
        }
        let steps = schedule::due(&self.state, policy, parked);
        if steps.first()?.dispute().is_none() {
            self.docket = None;
            return steps.into_iter().find(|step| !running.contains(step) && self.can_start(step, running));
        }
        // `due` names one question at a time; the others are looked at once here, so that none leads to another full look.
        let open = self.state.disputes.values().filter(|dispute| dispute.is_open());
        let touched = open.map(|dispute| dispute.number).filter(|number| !parked.contains(number)).collect();
        let mut docket = DisputeQueue { touched, ..DisputeQueue::default() };
        let found = self.next_of(&mut docket, policy, parked, running);
        self.docket = Some(docket);
        found
    }

    /// The next step of the disputes that have to be looked at.
    fn next_of(
        &self,
        docket: &mut DisputeQueue,
        policy: &SchedulePolicy,
        parked: &BTreeSet<DisputeNumber>,
        running: &BTreeSet<ReviewStep>,
    ) -> Option<ReviewStep> {
        let has_place = self.has_place(running);
        loop {
            let queued = if has_place { docket.queued.first() } else { None };
            let asking = if self.decider.is_some() { docket.asking.first() } else { None };
            let number = *docket.touched.first().or(queued).or(asking)?;
            let dispute = self.state.disputes.get(&number).filter(|dispute| dispute.is_open());
            let dispute = dispute.filter(|_| !parked.contains(&number));
            let steps =
                dispute.map(|dispute| schedule::of_dispute(&self.state, policy, dispute)).unwrap_or_default();
            let (mut is_queued, mut is_asking) = (false, false);
            for step in steps.into_iter().filter(|step| !running.contains(step)) {
                if self.can_start(&step, running) {
                    return Some(step);
                }
                is_queued |= matches!(step, ReviewStep::Ask(_));
                is_asking |= matches!(step, ReviewStep::Choose(_) | ReviewStep::AskPerson(_));
            }
            docket.touched.remove(&number);
            for (set, is_in) in [(&mut docket.queued, is_queued), (&mut docket.asking, is_asking)] {
                set.remove(&number);
                if is_in {
                    set.insert(number);
                }
            }
        }
    }

    fn can_start(&self, step: &ReviewStep, running: &BTreeSet<ReviewStep>) -> bool {
        match step {
            ReviewStep::Ask(_) if step.dispute().is_some() => self.has_place(running),
            ReviewStep::Ask(_) => {
                self.may_ask(running.iter().filter(|step| matches!(step, ReviewStep::Ask(_))).count())
            }
            ReviewStep::Choose(_) | ReviewStep::AskPerson(_) => self.decider.is_some(),
            _ => true,
        }
    }

    fn has_place(&self, running: &BTreeSet<ReviewStep>) -> bool {
        let asked = running.iter().filter(|step| matches!(step, ReviewStep::Ask(_))).count();
        asked < JUDGES && self.may_ask(asked)
    }

    fn may_ask(&self, asked: usize) -> bool {
        call::may_ask(&self.runner.settings, &self.state.spent, asked)
    }
}
