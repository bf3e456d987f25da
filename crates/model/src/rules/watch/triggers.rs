//! Schedules the review cycles of a watch (specification `seed 004`, section 1).
//!
//! Times are durations on the caller's clock, which stops during system sleep. Several triggers in quick
//! succession start one cycle. The debounce time begins at the *first* trigger, so that continuous triggers
//! cannot delay the cycle. A person's request is due immediately. A trigger that occurs during a cycle belongs
//! to the next cycle.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::domain::{Action, EventType, Trigger};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The time from the first pending trigger to the start of the cycle (`watch.debounce`).
    pub settle: Duration,
    /// The idle time after which the trigger TIMEOUT_FALLBACK starts a review (`watch.idle_review`).
    pub fallback: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triggers {
    timing: Timing,
    pending: BTreeSet<Trigger>,
    settled: Duration,
    /// The start of the current idle time. The idle time starts again at every agent event, at the action
    /// CONTINUE, at a resumption, and at a fallback.
    quiet_since: Duration,
    is_paused: bool,
    in_cycle: bool,
}

pub fn trigger(kind: EventType) -> Option<Trigger> {
    match kind {
        EventType::Milestone => Some(Trigger::Milestone),
        EventType::Blocker => Some(Trigger::Blocker),
        EventType::RequestReview => Some(Trigger::RequestReview),
        EventType::UserManual => Some(Trigger::UserManual),
        EventType::Note | EventType::Done => None,
    }
}

impl Triggers {
    pub fn new(timing: Timing, now: Duration) -> Self {
        Self {
            timing,
            pending: BTreeSet::new(),
            settled: Duration::ZERO,
            quiet_since: now,
            is_paused: false,
            in_cycle: false,
        }
    }

    pub fn event(&mut self, kind: EventType, now: Duration) {
        self.quiet_since = now;
        if let Some(trigger) = trigger(kind) {
            self.pull(trigger, now);
        }
    }

    pub fn pull(&mut self, trigger: Trigger, now: Duration) {
        let settled = match trigger {
            Trigger::UserManual | Trigger::Clarified | Trigger::TimeoutFallback => now,
            Trigger::Milestone | Trigger::Blocker | Trigger::RequestReview => {
                now + self.timing.settle
            }
        };
        self.settled = if self.pending.is_empty() {
            settled
        } else {
            self.settled.min(settled)
        };
        self.pending.insert(trigger);
    }

    pub fn due(&mut self, now: Duration) -> Option<BTreeSet<Trigger>> {
        if self.in_cycle {
            return None;
        }
        if self.fallback_at().is_some_and(|at| at <= now) {
            self.quiet_since = now;
            self.pull(Trigger::TimeoutFallback, now);
        }
        if self.cycle_at().is_none_or(|at| at > now) {
            return None;
        }
        self.in_cycle = true;
        Some(std::mem::take(&mut self.pending))
    }

    /// The time at which [`Self::due`] must be called again. `None` during a cycle, and during a pause in which
    /// neither a person's request nor a clarification is pending.
    pub fn next(&self) -> Option<Duration> {
        [self.cycle_at(), self.fallback_at()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Continues a cycle that an earlier process started.
    pub fn resume_cycle(&mut self) {
        self.in_cycle = true;
    }

    /// Ends the current cycle. `is_paused` is a separate argument, because a person or a blocker can pause the
    /// work independently of `action`.
    pub fn decided(&mut self, action: Action, is_paused: bool, now: Duration) {
        self.in_cycle = false;
        self.is_paused = is_paused;
        if action == Action::Continue {
            self.quiet_since = now;
        }
    }

    /// Ends a cycle that [`Self::due`] returned and that was not started, because nothing has changed.
    pub fn skip(&mut self, now: Duration) {
        self.in_cycle = false;
        self.quiet_since = now;
    }

    /// Pauses the work. Until the work resumes, only a person or a clarification can start a cycle.
    pub fn pause(&mut self) {
        self.is_paused = true;
    }

    pub fn resume(&mut self, now: Duration) {
        self.is_paused = false;
        self.quiet_since = now;
    }

    pub fn pending(&self) -> impl Iterator<Item = Trigger> {
        self.pending.iter().copied()
    }

    pub fn fallback_at(&self) -> Option<Duration> {
        (!self.is_paused && !self.in_cycle).then(|| self.quiet_since + self.timing.fallback)
    }

    fn cycle_at(&self) -> Option<Duration> {
        let may_begin = !self.is_paused
            || self.pending.contains(&Trigger::UserManual)
            || self.pending.contains(&Trigger::Clarified);
        (!self.in_cycle && may_begin && !self.pending.is_empty()).then_some(self.settled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    const QUARTER: u64 = 15 * 60;

    fn triggers() -> Triggers {
        Triggers::new(
            Timing {
                settle: at(2),
                fallback: at(QUARTER),
            },
            at(0),
        )
    }

    fn only(trigger: Trigger) -> Option<BTreeSet<Trigger>> {
        Some(BTreeSet::from([trigger]))
    }

    #[test]
    fn the_five_triggers_and_the_two_types_that_are_none() {
        for (kind, trigger) in [
            (EventType::Milestone, Trigger::Milestone),
            (EventType::Blocker, Trigger::Blocker),
            (EventType::RequestReview, Trigger::RequestReview),
        ] {
            let mut triggers = triggers();
            triggers.event(kind, at(10));
            assert_eq!(triggers.due(at(11)), None, "{kind}: it settles first");
            assert_eq!(triggers.next(), Some(at(12)));
            assert_eq!(triggers.due(at(12)), only(trigger));
        }
        let mut manual = triggers();
        manual.event(EventType::UserManual, at(10));
        assert_eq!(
            manual.due(at(10)),
            only(Trigger::UserManual),
            "a person does not wait"
        );
        for kind in [EventType::Note, EventType::Done] {
            let mut triggers = triggers();
            triggers.event(kind, at(10));
            assert_eq!(
                (triggers.due(at(60)), triggers.next()),
                (None, Some(at(10 + QUARTER))),
                "{kind}"
            );
        }
    }

    #[test]
    fn the_fallback_comes_before_the_first_review_and_counts_from_the_last_event() {
        let mut quiet = triggers();
        assert_eq!(quiet.due(at(QUARTER - 1)), None);
        assert_eq!(quiet.next(), Some(at(QUARTER)));
        assert_eq!(quiet.due(at(QUARTER)), only(Trigger::TimeoutFallback));

        let mut heard = triggers();
        heard.event(EventType::Note, at(600));
        assert_eq!(heard.due(at(QUARTER)), None, "not from the beginning");
        assert_eq!(heard.due(at(600 + QUARTER)), only(Trigger::TimeoutFallback));
    }

    #[test]
    fn the_fallback_counts_from_the_last_event_not_from_the_last_review() {
        let mut triggers = triggers();
        triggers.event(EventType::Milestone, at(0));
        assert!(triggers.due(at(2)).is_some());
        triggers.decided(Action::LogAndContinue, false, at(100));
        triggers.event(EventType::Note, at(700));
        assert_eq!(triggers.due(at(100 + QUARTER)), None);
        assert_eq!(triggers.next(), Some(at(700 + QUARTER)));
    }

    #[test]
    fn continue_resets_the_timer_and_log_and_continue_does_not_fire_it_again_at_once() {
        for (action, next) in [
            (Action::Continue, 1000 + QUARTER),
            (Action::LogAndContinue, QUARTER + QUARTER),
        ] {
            let mut triggers = triggers();
            assert_eq!(triggers.due(at(QUARTER)), only(Trigger::TimeoutFallback));
            assert_eq!(triggers.next(), None, "one cycle at a time");
            triggers.decided(action, false, at(1000));
            assert_eq!(
                (triggers.due(at(1000)), triggers.next()),
                (None, Some(at(next))),
                "{action:?}"
            );
        }
    }

    #[test]
    fn time_asleep_does_not_count() {
        // The system sleeps for hours while the clock stops.
        let mut triggers = triggers();
        assert_eq!(triggers.due(at(60)), None);
        assert_eq!(triggers.due(at(61)), None);
        assert_eq!(triggers.next(), Some(at(QUARTER)));
    }

    #[test]
    fn a_burst_is_one_cycle_and_an_endless_one_does_not_put_it_off() {
        let mut triggers = triggers();
        for tenth in 0..200 {
            let now = Duration::from_millis(tenth * 10);
            triggers.event(
                if tenth % 2 == 0 {
                    EventType::Milestone
                } else {
                    EventType::Blocker
                },
                now,
            );
            assert_eq!(triggers.due(now), None);
        }
        assert_eq!(
            triggers.due(at(2)),
            Some(BTreeSet::from([Trigger::Milestone, Trigger::Blocker]))
        );
        assert_eq!(triggers.next(), None);
    }

    #[test]
    fn what_comes_during_a_cycle_makes_one_more() {
        let mut triggers = triggers();
        triggers.event(EventType::Milestone, at(0));
        assert!(triggers.due(at(2)).is_some());
        for second in 3..9 {
            triggers.event(EventType::RequestReview, at(second));
            assert_eq!((triggers.due(at(second)), triggers.next()), (None, None));
        }
        triggers.decided(Action::Continue, false, at(60));
        assert_eq!(
            triggers.due(at(60)),
            only(Trigger::RequestReview),
            "it has settled long ago"
        );
        triggers.decided(Action::Continue, false, at(90));
        assert_eq!(triggers.due(at(90)), None);
    }

    #[test]
    fn while_paused_only_a_person_or_a_clarification_begins_a_cycle() {
        for action in [
            Action::StopAndEscalate,
            Action::PauseAndClarify,
            Action::NotReviewed,
        ] {
            let mut triggers = triggers();
            triggers.event(EventType::Milestone, at(0));
            assert!(triggers.due(at(2)).is_some());
            triggers.decided(action, true, at(10));
            triggers.event(EventType::Blocker, at(20));
            assert_eq!(
                (triggers.due(at(99_999)), triggers.next()),
                (None, None),
                "{action:?}"
            );
            let mut asked = triggers.clone();
            asked.event(EventType::UserManual, at(100_000));
            assert_eq!(
                asked.due(at(100_000)),
                Some(BTreeSet::from([Trigger::Blocker, Trigger::UserManual])),
                "{action:?}"
            );
            triggers.pull(Trigger::Clarified, at(100_001));
            assert!(triggers.due(at(100_001)).is_some());
        }
    }

    #[test]
    fn a_pause_can_be_lifted_and_what_waited_is_reviewed() {
        let mut triggers = triggers();
        triggers.pause();
        assert_eq!(triggers.next(), None, "no fallback while the work pauses");
        triggers.event(EventType::Milestone, at(5));
        triggers.resume(at(5000));
        assert_eq!(triggers.due(at(5000)), only(Trigger::Milestone));
        triggers.decided(Action::Continue, false, at(5001));
        triggers.pause();
        triggers.resume(at(9000));
        assert_eq!(
            triggers.next(),
            Some(at(9000 + QUARTER)),
            "the timer begins anew"
        );
    }

    #[test]
    fn a_cycle_that_was_interrupted_goes_on_first() {
        let mut triggers = triggers();
        triggers.resume_cycle();
        triggers.event(EventType::UserManual, at(1));
        assert_eq!((triggers.due(at(2)), triggers.next()), (None, None));
        triggers.decided(Action::Continue, false, at(3));
        assert_eq!(triggers.due(at(3)), only(Trigger::UserManual));
    }
}
