//! Every deadline of one program at work, and the pace of its signs of life.
//!
//! It is told the time and starts no timer: the runner sleeps until [`Clock::next`] and then asks [`Clock::due`].

use std::time::Duration;

use tokio::time::Instant;

use crate::agents::failure::Cap;
use crate::config::settings::Limits;

/// What a supervisor may take beyond the grace period before it is killed itself.
const SUPERVISOR_LATE: Duration = Duration::from_secs(4);
/// How often it wants to be woken though nothing is due, to see that time goes on.
const TICK: Duration = Duration::from_secs(1);
/// The shortest time between two signs of life.
const ACTIVITY_EVERY: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignSource {
    Out,
    Err,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    /// Show the last line of this stream.
    Activity(SignSource),
    Over(Cap),
    /// The supervisor does not end.
    Late,
}

#[derive(Debug)]
pub(crate) struct Clock {
    limits: Limits,
    streams: bool,
    started: Instant,
    heard: Option<Instant>,
    news: Option<SignSource>,
    told: Option<Instant>,
    late: Option<Instant>,
    ticked: Instant,
}

impl Clock {
    /// Starts it. The caps on silence hold only for a program that `streams`.
    pub(crate) fn start(now: Instant, limits: Limits, streams: bool) -> Self {
        Self { limits, streams, started: now, heard: None, news: None, told: None, late: None, ticked: now }
    }

    pub(crate) fn heard(&mut self, now: Instant, source: SignSource) {
        self.heard = Some(now);
        self.noticed(source);
    }

    /// Takes note of output that is no first output: the caps on silence run on.
    pub(crate) fn noticed(&mut self, source: SignSource) {
        self.news = Some(source);
    }

    /// The program is being ended: from now on only the supervisor can be late.
    pub(crate) fn end(&mut self, now: Instant) {
        self.late = Some(now + self.limits.kill_grace + SUPERVISOR_LATE);
    }

    pub(crate) fn next(&self) -> Instant {
        let deadline = self.late.unwrap_or_else(|| self.cap().0);
        self.telling().map_or(deadline, |(when, _)| when.min(deadline))
    }

    /// When it wants to be woken at the latest.
    pub(crate) fn tick(&self) -> Instant {
        self.ticked + TICK
    }

    /// It was woken. Much later than it wanted means that Glee itself was stopped meanwhile, and that time is not
    /// counted: the program could not be heard.
    fn woke(&mut self, now: Instant) {
        let stopped = now.saturating_duration_since(self.tick());
        self.ticked = now;
        if stopped > TICK {
            self.started += stopped;
            for at in [&mut self.heard, &mut self.told, &mut self.late].into_iter().flatten() {
                *at += stopped;
            }
        }
    }

    pub(crate) fn wake(&mut self, now: Instant) -> Due {
        self.woke(now);
        self.due(now)
    }

    /// What is due now; each thing is returned once.
    fn due(&mut self, now: Instant) -> Due {
        if let Some((when, source)) = self.telling()
            && when <= now
        {
            self.news = None;
            self.told = Some(now);
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
        let silence = match self.heard {
            _ if !self.streams => return total,
            None => (self.started + self.limits.first_output_timeout, Cap::FirstOutput),
            Some(heard) => (heard + self.limits.idle_timeout, Cap::Idle),
        };
        if silence.0 < total.0 { silence } else { total }
    }

    fn telling(&self) -> Option<(Instant, SignSource)> {
        let source = self.news?;
        Some((self.told.map_or(self.started, |told| told + ACTIVITY_EVERY), source))
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
        (Clock::start(start, LIMITS, streams), move |seconds| start + Duration::from_secs_f64(seconds))
    }

    #[test]
    fn caps_follow_what_is_heard() {
        let (mut clock, at) = clock(true);
        assert_eq!(
            (clock.next(), clock.due(at(4.9)), clock.due(at(5.0))),
            (at(5.0), Due::Nothing, Due::Over(Cap::FirstOutput))
        );
        clock.heard(at(4.0), SignSource::Out);
        assert_eq!(clock.due(at(4.0)), Due::Activity(SignSource::Out));
        assert_eq!(
            (clock.next(), clock.due(at(13.9)), clock.due(at(14.0))),
            (at(14.0), Due::Nothing, Due::Over(Cap::Idle))
        );
        clock.heard(at(25.0), SignSource::Err);
        assert_eq!(clock.due(at(25.0)), Due::Activity(SignSource::Err));
        assert_eq!((clock.next(), clock.due(at(30.0))), (at(30.0), Due::Over(Cap::Total)));
    }

    #[test]
    fn an_introduction_is_no_first_output() {
        let (mut clock, at) = clock(true);
        clock.noticed(SignSource::Out);
        assert_eq!(clock.due(at(0.0)), Due::Activity(SignSource::Out));
        assert_eq!((clock.next(), clock.due(at(5.0))), (at(5.0), Due::Over(Cap::FirstOutput)));
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
        clock.heard(at(0.5), SignSource::Out);
        assert_eq!((clock.due(at(0.5)), clock.tick()), (Due::Activity(SignSource::Out), at(1.0)));
        clock.woke(at(1.9));
        assert_eq!(clock.next(), at(10.5));
        // It wanted to be woken at 2.9.
        clock.woke(at(102.9));
        assert_eq!((clock.next(), clock.due(at(102.9)), clock.tick()), (at(110.5), Due::Nothing, at(103.9)));
    }

    #[test]
    fn signs_of_life_come_at_most_ten_times_a_second() {
        let (mut clock, at) = clock(true);
        clock.heard(at(1.0), SignSource::Out);
        assert_eq!((clock.due(at(1.0)), clock.due(at(1.0))), (Due::Activity(SignSource::Out), Due::Nothing));
        clock.heard(at(1.01), SignSource::Out);
        clock.heard(at(1.02), SignSource::Err);
        assert_eq!((clock.next(), clock.due(at(1.05))), (at(1.0) + ACTIVITY_EVERY, Due::Nothing));
        assert_eq!(clock.due(at(1.1)), Due::Activity(SignSource::Err));
    }

    #[test]
    fn once_it_is_ended_only_the_supervisor_can_be_late() {
        let (mut clock, at) = clock(true);
        clock.end(at(1.0));
        assert_eq!((clock.next(), clock.due(at(7.9)), clock.due(at(8.0))), (at(8.0), Due::Nothing, Due::Late));
        assert_eq!((clock.next(), clock.due(at(8.1))), (at(12.0), Due::Nothing));
    }
}
