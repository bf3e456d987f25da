//! Computes the measures of reviewers, judges, models and categories from counts of findings, rulings and calls.
//!
//! A dispute counts as held if the dispute is open, was discarded without a ruling, or was escalated by the judge.
//! A held dispute counts neither as upheld nor as dismissed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{AgreementCount, FindingTally};
use crate::rules::interval::Share;

/// The statistics that `glee stats --json` prints. If `--by` selects one list, the other lists are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ReviewStatistics {
    /// The version of this schema. A new optional field does not require a new version of the schema; every other
    /// change does.
    pub schema: u32,
    /// The first day (UTC) of the statistics, as given with `--since`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The measures over all findings and over all calls.
    pub all: Measures,
    /// The measures of each reviewer. If several reviewers raised a finding, the measures of each of these
    /// reviewers include the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewers: Option<Vec<Measures>>,
    /// The measures of each judge. These measures cover the findings on which the judge ruled. Among the decisions
    /// on these findings, only the judge's own decisions count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judges: Option<Vec<Measures>>,
    /// The measures of each model that reviewers use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<Vec<Measures>>,
    /// The measures of each model that judges use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_models: Option<Vec<Measures>>,
    /// The calls, the time, the tokens and the cost of each agent that was asked whether findings are the same, among
    /// themselves (`same`) or as an earlier dispute (`compare`). The counts of findings are 0. A judge's calls of this
    /// kind are also part of the judge's own measures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparisons: Option<Vec<Measures>>,
    /// The measures of each category. Calls are not assigned to categories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<Measures>>,
    /// The measures of each weakness, named by its CWE id. Calls are not assigned to weaknesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weaknesses: Option<Vec<Measures>>,
    /// What all calls used, those of the coder too, by day, week, month, agent or role: present if `--by` says which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<CallSums>>,
    /// How often two reviewers agree. The measure covers the findings that at least one of the two reviewers
    /// raised, in code that both reviewers read. Reviewers agree on a finding if each of them raised or confirmed
    /// the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer_agreement: Option<Vec<PairAgreement>>,
    /// How often two judges agree. Only disputes that both judges decided, in a panel or in an audit, are
    /// included. Judges agree on a dispute if their decisions are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_agreement: Option<Vec<PairAgreement>>,
}

impl ReviewStatistics {
    pub const SCHEMA: u32 = 1;
}

/// The measures of one reviewer, judge, model or category.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Measures {
    /// The name of the reviewer, judge, model or category. The name is absent in the field `all`, which covers all
    /// findings.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    pub raised: u64,
    /// The share of findings that only one reviewer raised, among the findings in code that at least two
    /// reviewers read.
    pub alone: Share,
    /// The share of findings with a dispute.
    pub disputed: Share,
    /// The number of disputes without a decision. The shares `upheld` and `dismissed` do not include disputes
    /// without a decision.
    pub held: u64,
    /// The share of decided disputes whose finding was upheld (enforced, accepted as a risk, or deferred).
    pub upheld: Share,
    /// The share of decided disputes whose finding was dismissed (refuted, not mandatory, or a duplicate).
    pub dismissed: Share,
    /// The share of the judges' decisions that a person overturned.
    pub overturned: Share,
    /// The share of the judges' decisions that agree with a person's decision. Only disputes that a person also
    /// decided are included.
    pub agreed_with_person: Share,
    /// The share of audit decisions that agree with the audited ruling.
    pub confirmed_by_audit: Share,
    /// The share of findings that the coder resolved by changing the code, without an objection by a re-check.
    pub fixed: Share,
    /// The share of fixed findings whose fix was undone, or was reversed because of a later finding.
    pub reverted: Share,
    /// The share of findings of which a test failed on the reviewed code (`review.runners`).
    pub demonstrated: Share,
    /// The share of demonstrated findings whose test passes after the change.
    pub fixed_by_test: Share,
    /// The share of demonstrated findings that a ruling dismissed all the same.
    pub dismissed_despite_test: Share,
    pub calls: u64,
    /// The number of calls whose cost is unknown. Calls of unknown cost are not included in the field `usd`.
    pub unpriced_calls: u64,
    /// The sum of the durations of the calls, in milliseconds.
    pub millis: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The known cost in US dollars; absent if no call has a known cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// The known cost divided by the number of upheld findings; absent if no finding was upheld.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_upheld: Option<f64>,
}

impl Measures {
    pub fn of(name: String, tally: &FindingTally) -> Self {
        let decided = tally.upheld + tally.dismissed;
        let usd = (tally.calls > tally.unpriced).then(|| dollars(tally.micros));
        #[expect(
            clippy::cast_precision_loss,
            reason = "counts of findings are far below 2^52"
        )]
        let usd_per_upheld = usd
            .filter(|_| tally.upheld > 0)
            .map(|usd| usd / tally.upheld as f64);
        Self {
            name,
            raised: tally.raised,
            alone: Share::new(tally.alone, tally.shared),
            disputed: Share::new(tally.disputed, tally.raised),
            held: tally.disputed.saturating_sub(decided),
            upheld: Share::new(tally.upheld, decided),
            dismissed: Share::new(tally.dismissed, decided),
            overturned: Share::new(tally.overturned, tally.judged),
            agreed_with_person: Share::new(
                tally.checked.saturating_sub(tally.overturned),
                tally.checked,
            ),
            confirmed_by_audit: Share::new(tally.confirmed, tally.audited),
            fixed: Share::new(tally.fixed.saturating_sub(tally.reverted), tally.raised),
            reverted: Share::new(tally.reverted, tally.fixed),
            demonstrated: Share::new(tally.demonstrated, tally.raised),
            fixed_by_test: Share::new(tally.proven, tally.demonstrated),
            dismissed_despite_test: Share::new(tally.outruled, tally.demonstrated),
            calls: tally.calls,
            unpriced_calls: tally.unpriced,
            millis: tally.millis,
            input_tokens: tally.input_tokens,
            output_tokens: tally.output_tokens,
            usd,
            usd_per_upheld,
        }
    }
}

/// Converts millionths of a US dollar.
#[expect(
    clippy::cast_precision_loss,
    reason = "costs are far below 2^52 millionths of a dollar"
)]
pub fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// What the calls of one day, week, month, agent or role used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CallSums {
    /// The day (`2026-11-27`), the week (`2026-W48`), the month (`2026-11`), the agent or the role.
    pub name: String,
    pub calls: u64,
    /// The number of calls whose cost is unknown, such as calls that were interrupted. `usd` does not include them.
    pub unpriced_calls: u64,
    /// The sum of the durations of the calls, in milliseconds.
    pub millis: u64,
    /// The known number of tokens that models read; `null` if it is unknown for every call.
    pub input_tokens: Option<u64>,
    /// The known number of tokens that models wrote; `null` if it is unknown for every call.
    pub output_tokens: Option<u64>,
    /// The known cost in US dollars; `null` if it is unknown for every call.
    pub usd: Option<f64>,
}

/// How often two reviewers or two judges agreed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PairAgreement {
    pub between: [String; 2],
    pub agreed: Share,
}

impl From<AgreementCount> for PairAgreement {
    fn from(
        AgreementCount {
            between,
            compared,
            agreed,
        }: AgreementCount,
    ) -> Self {
        Self {
            between,
            agreed: Share::new(agreed, compared),
        }
    }
}

/// Returns the keys in a pseudo-random order, so that the first keys are a random sample. The order depends only
/// on the keys and the seed. If a key is added to `keys`, the relative order of the other keys does not change.
pub fn draw(keys: impl IntoIterator<Item = u64>, seed: u64) -> Vec<u64> {
    let mut drawn: Vec<([u8; 32], u64)> =
        keys.into_iter().map(|key| (rank(seed, key), key)).collect();
    drawn.sort_unstable();
    drawn.into_iter().map(|(_, key)| key).collect()
}

fn rank(seed: u64, key: u64) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(&seed.to_le_bytes())
        .update(&key.to_le_bytes());
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_disputes_are_in_no_share_of_decisions() {
        let tally = FindingTally {
            raised: 10,
            disputed: 6,
            upheld: 3,
            dismissed: 1,
            calls: 4,
            unpriced: 1,
            ..FindingTally::default()
        };
        let measures = Measures::of(
            "ada".to_owned(),
            &FindingTally {
                micros: 750_000,
                ..tally.clone()
            },
        );
        assert_eq!(
            (measures.held, measures.upheld.of, measures.dismissed.of),
            (2, 4, 4)
        );
        assert_eq!(
            (measures.usd, measures.usd_per_upheld),
            (Some(0.75), Some(0.25))
        );
        let unpriced = Measures::of(
            String::new(),
            &FindingTally {
                unpriced: 4,
                ..tally
            },
        );
        assert_eq!(
            (unpriced.usd, unpriced.usd_per_upheld),
            (None, None),
            "an unknown cost is not zero"
        );
    }

    #[test]
    fn a_seed_draws_the_same_sample_again() {
        let first: Vec<u64> = draw(1..=1000, 7).into_iter().take(20).collect();
        assert_eq!(
            first,
            draw((1..=1000).rev(), 7)
                .into_iter()
                .take(20)
                .collect::<Vec<_>>()
        );
        assert_ne!(
            first,
            draw(1..=1000, 8).into_iter().take(20).collect::<Vec<_>>()
        );
        // Each key is as likely as every other one: over 300 seeds, each of ten keys comes first about 30 times.
        let mut firsts = [0_u32; 10];
        for seed in 0..300 {
            let key = usize::try_from(draw(0..10, seed)[0]).expect("a small key");
            firsts[key] += 1;
        }
        assert!(
            firsts.iter().all(|times| (12..=52).contains(times)),
            "{firsts:?}"
        );
        assert_eq!(draw([], 1), Vec::<u64>::new());
    }
}
