//! Durations such as `1h30m` and sizes such as `64MiB`, read from text.

use std::time::Duration;

/// The longest duration that may be set: far beyond any run, and safe to add to any clock.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The largest size that may be set.
const LARGEST: u64 = 1 << 40;

/// Reads whole numbers with the units `h`, `m`, `s` and `ms`, from the longest unit to the shortest.
pub(super) fn duration(text: &str) -> Option<Duration> {
    const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
    let mut rest = text;
    let mut units = UNITS.iter();
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (number, after) = leading_number(rest)?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        // The iterator goes on behind the unit just read, so that `1m1h` and `1m1m` are refused.
        let (_, milliseconds) = units.find(|(name, _)| *name == unit)?;
        total = total.checked_add(number.checked_mul(*milliseconds)?)?;
        rest = after;
    }
    let total = Duration::from_millis(total);
    (!text.is_empty() && total <= LONGEST).then_some(total)
}

/// Reads a whole number of bytes with a unit, in powers of 1024 (`KiB MiB GiB`) or of 1000 (`kB KB MB GB`).
pub(super) fn size(text: &str) -> Option<u64> {
    let (number, unit) = leading_number(text)?;
    let unit = match unit.trim_start() {
        "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(unit).filter(|bytes| *bytes <= LARGEST)
}

fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_durations() {
        for (text, milliseconds) in [
            ("10m", Some(600_000)),
            ("120s", Some(120_000)),
            ("1h30m", Some(5_400_000)),
            ("1h1m1s1ms", Some(3_661_001)),
            ("250ms", Some(250)),
            ("0s", Some(0)),
            ("8760h", Some(31_536_000_000)),
            ("8761h", None),
            ("", None),
            ("10", None),
            ("m", None),
            ("1m1h", None),
            ("1m1m", None),
            ("1.5h", None),
            ("-1s", None),
            ("1 m", None),
            ("1d", None),
            ("99999999999999999999h", None),
            ("9999999999999999999h", None),
        ] {
            assert_eq!(duration(text), milliseconds.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn reads_sizes() {
        for (text, bytes) in [
            ("64MiB", Some(67_108_864)),
            ("1 GiB", Some(1_073_741_824)),
            ("512KiB", Some(524_288)),
            ("3B", Some(3)),
            ("2kB", Some(2_000)),
            ("1024GiB", Some(1 << 40)),
            ("1025GiB", None),
            ("64", None),
            ("MiB", None),
            ("64mib", None),
            ("-1B", None),
            ("18446744073709551615GiB", None),
        ] {
            assert_eq!(size(text), bytes, "{text}");
        }
    }
}
