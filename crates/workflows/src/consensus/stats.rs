//! The rate of deadlocks in the whole history: in total, by stage and by agent (specification `seed 002`, section
//! 8).

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::state::StageState;
use crate::run::error::RunError;
use glee_model::domain::{Settler, StageStatus};
use glee_model::rules::interval::wilson;
use glee_store::history::store::Journal;

/// The maximum rate of deadlocks that the specification permits.
pub const BOUND: f64 = 0.05;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Counts {
    /// The number of stages that have a `StageVerdict`.
    pub stages: u64,
    pub conflicts: u64,
    /// The number of stages with the status `ok`, which means that the synthesis has no conflict.
    pub by_aggregator: u64,
    pub by_arbiter: u64,
    pub by_person: u64,
    /// The number of stages with a conflict that required a person's decision. The number includes stages for
    /// which the person has not decided yet.
    pub deadlocks: u64,
}

impl Counts {
    pub fn rate(&self) -> Option<f64> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "counts of stages are far below 2^52"
        )]
        let rate = |part: u64, whole: u64| part as f64 / whole as f64;
        (self.stages > 0).then(|| rate(self.deadlocks, self.stages))
    }

    /// The 95% Wilson confidence interval of the rate.
    pub fn interval(&self) -> Option<(f64, f64)> {
        wilson(self.deadlocks, self.stages)
    }

    fn add(&mut self, state: &StageState) {
        let Some(verdict) = &state.verdict else {
            return;
        };
        self.stages += 1;
        if verdict.status != StageStatus::Conflict {
            self.by_aggregator += u64::from(verdict.status == StageStatus::Ok);
            return;
        }
        self.conflicts += 1;
        self.deadlocks += u64::from(state.deadlock.is_some());
        match &state.decision {
            Some((_, Settler::Human)) => self.by_person += 1,
            Some(_) => self.by_arbiter += 1,
            None => {}
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Deadlocks {
    pub all: Counts,
    pub by_stage: BTreeMap<String, Counts>,
    /// The numbers of stages by agent. A stage is counted once for every agent in the plan of the stage.
    pub by_agent: BTreeMap<String, Counts>,
}

/// Counts the deadlocks of all stages, but not the deadlocks of checkpoints.
pub fn deadlocks(journal: &Journal) -> Result<Deadlocks, RunError> {
    let mut found = Deadlocks::default();
    for row in journal.stages()? {
        let state = StageState::of(&journal.events(&row.run)?);
        found.all.add(&state);
        if state.verdict.is_none() {
            continue;
        }
        found.by_stage.entry(row.stage).or_default().add(&state);
        let agents: BTreeSet<String> = state
            .plan
            .iter()
            .flat_map(|plan| plan.all())
            .map(|agent| agent.name.0.clone())
            .collect();
        for agent in agents {
            found.by_agent.entry(agent).or_default().add(&state);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(stages: u64, deadlocks: u64) -> Counts {
        Counts {
            stages,
            deadlocks,
            ..Counts::default()
        }
    }

    #[test]
    fn rates_have_wilson_intervals() {
        assert_eq!((counts(0, 0).rate(), counts(0, 0).interval()), (None, None));
        // Published values of Wilson's formula, to four decimals.
        for (stages, deadlocks, low, high) in [
            (10, 0, 0.0, 0.2775),
            (26, 0, 0.0, 0.1287),
            (100, 5, 0.0215, 0.1118),
            (20, 1, 0.0089, 0.2361),
        ] {
            let (found_low, found_high) = counts(stages, deadlocks)
                .interval()
                .expect("stages were run");
            assert!(
                (found_low - low).abs() < 1e-4 && (found_high - high).abs() < 1e-4,
                "{found_low} {found_high}"
            );
        }
    }
}
