//! Computes shares with their 95% confidence intervals.

use schemars::JsonSchema;
use serde::Serialize;

/// The 97.5% quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Returns the 95% Wilson score interval of the proportion `count / of`, or `None` if the denominator `of` is 0.
pub fn wilson(count: u64, of: u64) -> Option<(f64, f64)> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of findings are far below 2^52"
    )]
    let count = count as f64;
    let n = of as f64;
    (of > 0).then(|| {
        let rate = count / n;
        let square = Z * Z;
        let scale = 1.0 + Z * Z / n;
        let middle = (rate + square / (2.0 * n)) / scale;
        let half = Z / scale * (rate * (1.0 - rate) / n + square / (4.0 * n * n)).sqrt();
        ((middle - half).max(0.0), (middle + half).min(1.0))
    })
}

/// A share with its denominator and its 95% Wilson interval. The rate and the interval are absent if the
/// denominator `of` is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Share {
    pub count: u64,
    pub of: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The lower bound of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper bound of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl Share {
    pub fn new(count: u64, of: u64) -> Self {
        let (low, high) = wilson(count, of).unzip();
        #[expect(
            clippy::cast_precision_loss,
            reason = "counts of findings are far below 2^52"
        )]
        let rate = (of > 0).then(|| count as f64 / of as f64);
        Self {
            count,
            of,
            rate,
            low,
            high,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_the_published_ones() {
        assert_eq!(wilson(0, 0), None);
        // The first rows are from Newcombe, Two-sided confidence intervals for the single proportion (1998),
        // table I, method 3. The other rows are values of Wilson's formula for small samples.
        for (count, of, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
            (0, 10, 0.0, 0.2775),
            (10, 10, 0.7225, 1.0),
            (5, 100, 0.0215, 0.1118),
        ] {
            let (found_low, found_high) = wilson(count, of).expect("there is a denominator");
            assert!(
                (found_low - low).abs() < 6e-5 && (found_high - high).abs() < 6e-5,
                "{count}/{of}: {found_low} {found_high}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn an_interval_encloses_its_rate(of in 1_u64..2_000_000, part in 0.0..=1.0_f64) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a share of `of`")]
            let count = (part * of as f64) as u64;
            let share = Share::new(count, of);
            let low = share.low.unwrap_or(2.0);
            let rate = share.rate.unwrap_or(2.0);
            let high = share.high.unwrap_or(-2.0);
            proptest::prop_assert!(0.0 <= low && low <= rate + 1e-12 && rate <= high + 1e-12 && high <= 1.0);
        }
    }
}
