//! Parses and prints durations such as `1h30m` and sizes such as `64MiB`.

use std::time::Duration;

use jiff::fmt::friendly::{Spacing, SpanParser, SpanPrinter};

/// The longest accepted duration. A sum of the current time and a duration up to this length cannot overflow.
const LONGEST: Duration = Duration::from_secs(365 * DAY);

const LARGEST: u64 = 1 << 40;

const DAY: u64 = 24 * 60 * 60;

/// The units of sizes. A size is printed in the first listed unit that divides the size without remainder.
const UNITS: [(&str, u64); 8] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
];

/// Parses a duration with the units `h`, `m`, `s` and `ms`, in this order.
pub fn duration(text: &str) -> Option<Duration> {
    // `SpanParser` also accepts spaces, fractions and words, which Glee refuses.
    let is_plain = text
        .chars()
        .all(|c| c.is_ascii_digit() || "hms".contains(c));
    SpanParser::new()
        .parse_unsigned_duration(text)
        .ok()
        .filter(|time| is_plain && *time <= LONGEST)
}

pub fn duration_text(time: Duration) -> String {
    SpanPrinter::new()
        .spacing(Spacing::None)
        .unsigned_duration_to_string(&time)
}

const MOST_DAYS: u64 = 36_500;

/// Parses an age: either a number of days such as `90d`, or a duration. An age of zero is invalid.
pub fn age(text: &str) -> Option<Duration> {
    let days = text
        .strip_suffix('d')
        .filter(|days| days.bytes().all(|byte| byte.is_ascii_digit()));
    let age = match days {
        Some(days) => {
            Duration::from_secs(days.parse::<u64>().ok().filter(|days| *days <= MOST_DAYS)? * DAY)
        }
        None => duration(text)?,
    };
    (!age.is_zero()).then_some(age)
}

pub(crate) fn age_text(age: Duration) -> String {
    match age.as_secs() {
        seconds if age.subsec_nanos() == 0 && seconds.is_multiple_of(DAY) => {
            format!("{}d", seconds / DAY)
        }
        _ => duration_text(age),
    }
}

pub fn size(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let (_, bytes) = UNITS
        .into_iter()
        .find(|(name, _)| *name == unit.trim_start())?;
    number
        .parse::<u64>()
        .ok()?
        .checked_mul(bytes)
        .filter(|bytes| *bytes <= LARGEST)
}

pub(crate) fn size_text(bytes: u64) -> String {
    let (unit, each) = UNITS
        .into_iter()
        .find(|(_, each)| bytes.is_multiple_of(*each))
        .expect("any number is one of bytes");
    format!("{}{unit}", bytes / each)
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
            assert_eq!(
                duration(text),
                milliseconds.map(Duration::from_millis),
                "{text}"
            );
        }
    }

    #[test]
    fn writes_what_it_reads() {
        for text in ["0s", "2s", "250ms", "1m30s", "1h", "1h1m1s1ms", "8760h"] {
            assert_eq!(duration(text).map(duration_text).as_deref(), Some(text));
        }
        assert_eq!(duration("90s").map(duration_text).as_deref(), Some("1m30s"));
        for text in [
            "1B", "1000B", "1KiB", "1025B", "128KiB", "1536KiB", "64MiB", "1024GiB",
        ] {
            assert_eq!(size(text).map(size_text).as_deref(), Some(text));
        }
        assert_eq!(size("2kB").map(size_text).as_deref(), Some("2000B"));
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

    #[test]
    fn reads_ages() {
        for (text, seconds, written) in [
            ("90d", Some(90 * 86_400), "90d"),
            ("36500d", Some(36_500 * 86_400), "36500d"),
            ("36h", Some(129_600), "36h"),
            ("24h", Some(86_400), "1d"),
            ("0d", None, ""),
            ("36501d", None, ""),
            ("-1d", None, ""),
            ("d", None, ""),
            ("1d12h", None, ""),
            ("99999999999999999999d", None, ""),
        ] {
            assert_eq!(age(text), seconds.map(Duration::from_secs), "{text}");
            assert_eq!(age(text).map(age_text).unwrap_or_default(), written);
        }
    }
}
