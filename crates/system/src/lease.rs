//! The lease of a process that carries a run as a worker. Nothing that costs money or that others see begins without it.
//!
//! A process has no more than one lease, because it works on one run. The clock counts while the machine sleeps, and
//! nobody can set it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// The end of the lease in milliseconds of the clock; 0 if this process needs no lease.
static END: AtomicU64 = AtomicU64::new(0);

/// A moment of the clock, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Moment(u64);

impl Moment {
    pub fn now() -> Self {
        #[cfg(target_os = "linux")]
        let clock = ClockId::CLOCK_BOOTTIME;
        // It counts during sleep on macOS.
        #[cfg(not(target_os = "linux"))]
        let clock = ClockId::CLOCK_MONOTONIC;
        let now = clock_gettime(clock).map_or(Duration::MAX, Duration::from);
        Self(u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
    }
}

/// The lease holds for `length` from the moment at which it was asked for, less a margin for what begins at its end.
pub fn extend(asked: Moment, length: Duration) {
    let margin = length / 6;
    let length = u64::try_from((length - margin).as_millis()).unwrap_or(u64::MAX);
    END.store(asked.0.saturating_add(length), Ordering::Relaxed);
}

/// Whether the lease holds. True in a process that needs none.
pub fn holds() -> bool {
    let end = END.load(Ordering::Relaxed);
    end == 0 || Moment::now().0 < end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_ends_before_its_length_is_over() {
        assert!(holds(), "no lease is needed");
        extend(Moment::now(), Duration::from_secs(60));
        assert!(holds());
        let asked = Moment(Moment::now().0 - 55_000);
        extend(asked, Duration::from_secs(60));
        assert!(!holds(), "the last sixth is the margin");
    }
}
