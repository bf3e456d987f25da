//! Holds calls back while the memory of the machine does not suffice for another session of their program.

use std::collections::{BTreeMap, BTreeSet};

use tracing::info;

/// The largest memory of a session, in bytes, by program.
#[derive(Debug, Default)]
pub(crate) struct SessionMemory {
    peaks: BTreeMap<String, u64>,
    /// The programs whose next session waits.
    waiting: BTreeSet<String>,
}

impl SessionMemory {
    pub(crate) fn is_empty(&self) -> bool {
        self.peaks.is_empty()
    }

    /// Counts a session that ended.
    pub(crate) fn ended(&mut self, program: String, peak: Option<u64>) {
        let largest = self.peaks.entry(program).or_default();
        *largest = peak.unwrap_or(0).max(*largest);
    }

    /// Whether the next session of a program may begin beside `running` others: it may if nothing else runs, or if
    /// the program's largest session so far fits into `available`. What a session may need is taken from `available`,
    /// because a session that has just begun does not use it yet.
    pub(crate) fn admits(
        &mut self,
        program: &str,
        running: usize,
        available: &mut Option<u64>,
    ) -> bool {
        let (Some(&peak), Some(left)) = (self.peaks.get(program), available.as_mut()) else {
            return true;
        };
        if running > 0 && *left < peak {
            if self.waiting.insert(program.to_owned()) {
                info!(
                    program,
                    peak,
                    available = *left,
                    running,
                    "waits for memory"
                );
            }
            return false;
        }
        *left = left.saturating_sub(peak);
        self.waiting.remove(program);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A machine with sessions of two programs, whose memory grows to a peak that the program's first session
        /// reached. Whatever else takes and frees memory, all sessions end, and after the first of a program no session
        /// begins beside others that does not fit.
        #[test]
        fn sessions_fit_into_the_memory(
            peaks in [1_u64..100, 1..100],
            sessions in prop::collection::vec(0_usize..2, 1..40),
            readings in prop::collection::vec(0_u64..400, 1..20),
        ) {
            let names = ["one", "two"];
            let mut memory = SessionMemory::default();
            let mut seen = [false; 2];
            let mut queue = sessions.clone();
            let mut running: Vec<usize> = Vec::new();
            let mut ended = 0;
            let mut passes = readings.iter().cycle();
            while ended < sessions.len() {
                let reading = *passes.next().expect("it is repeated");
                let mut available = Some(reading);
                let mut begun = 0;
                queue.retain(|&program| {
                    let beside = running.len();
                    if !memory.admits(names[program], beside, &mut available) {
                        return true;
                    }
                    if seen[program] && beside > 0 {
                        begun += peaks[program];
                        assert!(begun <= reading, "{begun} of {reading}");
                    } else if seen[program] {
                        begun += peaks[program].min(reading);
                    }
                    running.push(program);
                    false
                });
                prop_assert!(!running.is_empty(), "one session is always admitted");
                let program = running.remove(0);
                memory.ended(names[program].to_owned(), Some(peaks[program]));
                seen[program] = true;
                ended += 1;
            }
        }
    }

    #[test]
    fn nothing_waits_where_nothing_is_known() {
        let mut memory = SessionMemory::default();
        assert!(memory.admits("one", 9, &mut Some(0)), "never measured");
        memory.ended("one".to_owned(), Some(5));
        assert!(memory.admits("one", 9, &mut None), "no reading");
        assert!(!memory.admits("one", 9, &mut Some(4)));
        assert!(memory.admits("other", 9, &mut Some(4)), "another program");
        memory.ended("other".to_owned(), None);
        assert!(memory.admits("other", 9, &mut Some(0)), "unmeasured");
    }
}
