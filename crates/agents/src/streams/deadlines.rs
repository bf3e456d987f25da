//! Tracks the deadlines of a running program, and limits the rate of activity reports. A [`Clock`] only computes
//! times: the runner itself sleeps until [`Clock::next`] and then calls [`Clock::wake`].

use std::time::Duration;

use tokio::time::Instant;

use crate::Cap;
use glee_store::config::settings::Limits;

/// The time between the end of the grace period and the moment at which Glee kills the supervisor.
const SUPERVISOR_LATE: Duration = Duration::from_secs(4);
/// The maximum time that the runner sleeps. A sleep that is much longer than this maximum means that the system
/// suspended Glee.
const TICK: Duration = Duration::from_secs(1);
const ACTIVITY_EVERY: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamName {
    Out,
    Err,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    Activity(StreamName),
    Over(Cap),
    Late,
}

#[derive(Debug)]
pub(crate) struct Clock {
    limits: Limits,
    streams: bool,
    started: Instant,
    last_output: Option<Instant>,
    unreported: Option<StreamName>,
    reported: Option<Instant>,
    late: Option<Instant>,
    ticked: Instant,
}

impl Clock {
    /// The limits `first_output_timeout` and `idle_timeout` apply only if the field `streams` is true.
    pub(crate) fn start(now: Instant, limits: Limits, streams: bool) -> Self {
        Self {
            limits,
            streams,
            started: now,
            last_output: None,
            unreported: None,
            reported: None,
            late: None,
            ticked: now,
        }
    }

    pub(crate) fn answered(&mut self, now: Instant, source: StreamName) {
        self.last_output = Some(now);
        self.printed(source);
    }

    /// Called for output that is not part of an answer. Such output extends no deadline.
    pub(crate) fn printed(&mut self, source: StreamName) {
        self.unreported = Some(source);
    }

    pub(crate) fn end(&mut self, now: Instant) {
        self.late = Some(now + self.limits.kill_grace + SUPERVISOR_LATE);
    }

    pub(crate) fn next(&self) -> Instant {
        let deadline = self.late.unwrap_or_else(|| self.cap().0);
        self.report()
            .map_or(deadline, |(when, _)| when.min(deadline))
    }

    pub(crate) fn tick(&self) -> Instant {
        self.ticked + TICK
    }

    /// A wake-up that is much later than planned means that the system suspended Glee. In this case, all deadlines
    /// move by the length of the suspension.
    fn woke(&mut self, now: Instant) {
        let stopped = now.saturating_duration_since(self.tick());
        self.ticked = now;
        if stopped > TICK {
            self.started += stopped;
            for at in [&mut self.last_output, &mut self.reported, &mut self.late]
                .into_iter()
                .flatten()
            {
                *at += stopped;
            }
        }
    }

    pub(crate) fn wake(&mut self, now: Instant) -> Due {
        self.woke(now);
        self.due(now)
    }

    fn due(&mut self, now: Instant) -> Due {
        if let Some((when, source)) = self.report()
            && when <= now
        {
            self.unreported = None;
            self.reported = Some(now);
            return Due::Activity(source);
        }
        match self.late {
            Some(late) if late <= now => {
                self.late = Some(now + SUPERVISOR_LATE);
                Due::Late
            }
            Some(_) => Due::Nothing,
            None => match self.cap() {
                (when, cap) if when <= now => Due::Over(cap),
                _ => Due::Nothing,
            },
        }
    }

    fn cap(&self) -> (Instant, Cap) {
        let total = (self.started + self.limits.call_timeout, Cap::Total);
        let silence = match self.last_output {
            _ if !self.streams => return total,
            None => (
                self.started + self.limits.first_output_timeout,
                Cap::FirstOutput,
            ),
            Some(last) => (last + self.limits.idle_timeout, Cap::Idle),
        };
        if silence.0 < total.0 { silence } else { total }
    }

    fn report(&self) -> Option<(Instant, StreamName)> {
        let source = self.unreported?;
        Some((
            self.reported
                .map_or(self.started, |reported| reported + ACTIVITY_EVERY),
            source,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        call_timeout: Duration::from_secs(30),
        first_output_timeout: Duration::from_secs(5),
        idle_timeout: Duration::from_secs(10),
        max_output_size: 0,
        max_line_size: 0,
        kill_grace: Duration::from_secs(3),
        retries: 0,
        backoff: Duration::from_millis(1),
    };

    fn clock(streams: bool) -> (Clock, impl Fn(f64) -> Instant) {
        let start = Instant::now();
        (Clock::start(start, LIMITS, streams), move |seconds| {
            start + Duration::from_secs_f64(seconds)
        })
    }

    #[test]
    fn caps_follow_what_is_heard() {
        let (mut clock, at) = clock(true);
        assert_eq!(
            (clock.next(), clock.due(at(4.9)), clock.due(at(5.0))),
            (at(5.0), Due::Nothing, Due::Over(Cap::FirstOutput))
        );
        clock.answered(at(4.0), StreamName::Out);
        assert_eq!(clock.due(at(4.0)), Due::Activity(StreamName::Out));
        assert_eq!(
            (clock.next(), clock.due(at(13.9)), clock.due(at(14.0))),
            (at(14.0), Due::Nothing, Due::Over(Cap::Idle))
        );
        clock.answered(at(25.0), StreamName::Err);
        assert_eq!(clock.due(at(25.0)), Due::Activity(StreamName::Err));
        assert_eq!(
            (clock.next(), clock.due(at(30.0))),
            (at(30.0), Due::Over(Cap::Total))
        );
    }

    #[test]
    fn an_introduction_is_no_first_output() {
        let (mut clock, at) = clock(true);
        clock.printed(StreamName::Out);
        assert_eq!(clock.due(at(0.0)), Due::Activity(StreamName::Out));
        assert_eq!(
            (clock.next(), clock.due(at(5.0))),
            (at(5.0), Due::Over(Cap::FirstOutput))
        );
    }

    #[test]
    fn silence_means_nothing_where_output_comes_at_the_end() {
        let (mut clock, at) = clock(false);
        assert_eq!(
            (clock.next(), clock.due(at(29.9)), clock.due(at(30.0))),
            (at(30.0), Due::Nothing, Due::Over(Cap::Total))
        );
    }

    #[test]
    fn time_in_which_glee_was_stopped_is_not_counted() {
        let (mut clock, at) = clock(true);
        clock.answered(at(0.5), StreamName::Out);
        assert_eq!(
            (clock.due(at(0.5)), clock.tick()),
            (Due::Activity(StreamName::Out), at(1.0))
        );
        clock.woke(at(1.9));
        assert_eq!(clock.next(), at(10.5));
        // The clock had requested a wake-up at 2.9.
        clock.woke(at(102.9));
        assert_eq!(
            (clock.next(), clock.due(at(102.9)), clock.tick()),
            (at(110.5), Due::Nothing, at(103.9))
        );
    }

    #[test]
    fn signs_of_life_come_at_most_ten_times_a_second() {
        let (mut clock, at) = clock(true);
        clock.answered(at(1.0), StreamName::Out);
        assert_eq!(
            (clock.due(at(1.0)), clock.due(at(1.0))),
            (Due::Activity(StreamName::Out), Due::Nothing)
        );
        clock.answered(at(1.01), StreamName::Out);
        clock.answered(at(1.02), StreamName::Err);
        assert_eq!(
            (clock.next(), clock.due(at(1.05))),
            (at(1.0) + ACTIVITY_EVERY, Due::Nothing)
        );
        assert_eq!(clock.due(at(1.1)), Due::Activity(StreamName::Err));
    }

    #[test]
    fn once_it_is_ended_only_the_supervisor_can_be_late() {
        let (mut clock, at) = clock(true);
        clock.end(at(1.0));
        assert_eq!(
            (clock.next(), clock.due(at(7.9)), clock.due(at(8.0))),
            (at(8.0), Due::Nothing, Due::Late)
        );
        assert_eq!((clock.next(), clock.due(at(8.1))), (at(12.0), Due::Nothing));
    }
}
