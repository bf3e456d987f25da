//! Derives the end time of a rate limit from a program's message. Glee ignores an ambiguous time, because a wrong
//! guess could make Glee wait too long.

use std::sync::LazyLock;

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use regex::Regex;

/// Seconds since 1970: `limit reached|1893456000`, `"resets_at": 1893456000`.
static EPOCH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:\||resets?_?at"?\s*[:=]\s*"?)\s*(?<seconds>\d{10})\b"#)
        .expect("a valid pattern")
});

/// `reset at 2030-11-27 18:00:00`, `access on 2030-12-01 at 00:00 UTC`.
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:reset|again|access|until)\D{0,20}(?<day>\d{4}-\d\d-\d\d)(?:t| at | )(?<time>\d\d:\d\d(?::\d\d)?)(?<zone>\s?(?:z|utc|gmt)?)\b",
    )
    .expect("a valid pattern")
});

/// Finds the end time of a rate limit in a text such as `try again in 20s`, `resets 3pm (Europe/Berlin)` or `try
/// again at Nov 24th, 2026 3:45 PM`. A number after `|` means seconds since 1970. A time without a time zone is a
/// local time, because the program runs on the same machine as Glee. A time of day without a date means the next
/// moment at this time of day.
pub(crate) fn reset(text: &str, now: Timestamp) -> Option<Timestamp> {
    let lower = text.to_lowercase();
    if let Some(seconds) = EPOCH.captures(&lower) {
        return Timestamp::from_second(seconds["seconds"].parse().ok()?).ok();
    }
    if let Some(moment) = DATE.captures(&lower) {
        let day: Date = moment["day"].parse().ok()?;
        let time: Time = moment["time"].parse().ok()?;
        let zone = match moment["zone"].trim() {
            "" => TimeZone::system(),
            _ => TimeZone::UTC,
        };
        return Some(day.to_datetime(time).to_zoned(zone).ok()?.timestamp());
    }
    let waits = [
        "again in ",
        "again after ",
        "retry in ",
        "retrying in ",
        "retry_delay: some(",
        "retry after ",
        "reset after ",
        "resets in ",
        "reset in ",
        "retry-after: ",
        "retry_after\":",
        "retry-after\":",
        "retrydelay\":",
        "resets_in_seconds\":",
    ];
    if let Some(wait) = after(&lower, &waits).and_then(|at| wait(&lower[at..])) {
        return now.checked_add(wait).ok();
    }
    let clocks = [
        "again at ",
        "resets at ",
        "reset at ",
        "reset on ",
        "resets ",
        "resets on ",
    ];
    clock(&lower[after(&lower, &clocks)?..], now)
}

fn after(lower: &str, marks: &[&str]) -> Option<usize> {
    marks
        .iter()
        .find_map(|mark| lower.find(mark).map(|at| at + mark.len()))
}

/// Parses a duration such as `20s`, `3 days 4 hours` or `3h21m50.2s`. A number without a unit means seconds.
fn wait(text: &str) -> Option<SignedDuration> {
    let mut total = 0.0;
    let mut rest = text.trim_start_matches([' ', '"']);
    let mut found = false;
    loop {
        let end = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(rest.len());
        let Ok(number) = rest[..end].trim_end_matches('.').parse::<f64>() else {
            break;
        };
        let after = rest[end..].trim_start();
        let unit: String = after
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .collect();
        let seconds = match unit.as_str() {
            "ms" => 0.001,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86400.0,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            _ if found => break,
            _ => 1.0,
        };
        total += number * seconds;
        found = true;
        rest = after[unit.len()..].trim_start_matches([' ', ',']);
    }
    let sane = found && total <= 366.0 * 86400.0;
    sane.then(|| SignedDuration::from_secs_f64(total))
}

/// Parses a time of day such as `3pm` or `15:45`. A date can precede the time, and a time zone in parentheses can
/// follow.
fn clock(lower: &str, now: Timestamp) -> Option<Timestamp> {
    let zone = match lower.split_once('(') {
        Some((before, name)) if before.len() <= LONGEST => {
            TimeZone::get(name.split_once(')')?.0).ok()?
        }
        _ => TimeZone::system(),
    };
    let words = lower
        .get(..lower.len().min(LONGEST))
        .unwrap_or(lower)
        .split([' ', ',', '(']);
    let mut words = words
        .filter(|word| !word.is_empty() && *word != "at")
        .peekable();
    let today = now.to_zoned(zone.clone()).date();
    let day = words.peek().and_then(|word| month(word)).map(|month| {
        words.next();
        let day = words
            .next()?
            .split(|c: char| !c.is_ascii_digit())
            .next()?
            .parse()
            .ok()?;
        let year = words.next_if(|word| word.len() == 4 && word.parse::<i16>().is_ok());
        let year = year.and_then(|word| word.parse().ok());
        Date::new(year.unwrap_or(today.year()), month, day).ok()
    });
    let time = time(words.next()?, words.next().unwrap_or_default())?;
    let moment = |day: Date| {
        Some(
            day.to_datetime(time)
                .to_zoned(zone.clone())
                .ok()?
                .timestamp(),
        )
    };
    match day {
        Some(day) => moment(day?),
        None => moment(today)
            .filter(|moment| *moment > now)
            .or_else(|| moment(today.checked_add(1.day()).ok()?)),
    }
}

const LONGEST: usize = 40;

fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let at = MONTHS.iter().position(|month| word.starts_with(month))?;
    i8::try_from(at + 1).ok()
}

fn time(word: &str, next: &str) -> Option<Time> {
    let word = word.trim_end_matches(['.', ')', ';']);
    let digits = word
        .find(|c: char| !(c.is_ascii_digit() || c == ':'))
        .unwrap_or(word.len());
    let half = half(&word[digits..]).or_else(|| half(next).filter(|_| digits == word.len()));
    let (hour, minute) = match word[..digits].split_once(':') {
        Some((hour, minute)) => (hour.parse::<i8>().ok()?, minute.parse().ok()?),
        None => (word[..digits].parse().ok().filter(|_| half.is_some())?, 0),
    };
    match half {
        Some(half) if (1..=12).contains(&hour) => Time::new(hour % 12 + half, minute, 0, 0).ok(),
        Some(_) => None,
        None => Time::new(hour, minute, 0, 0)
            .ok()
            .filter(|_| digits == word.len()),
    }
}

fn half(word: &str) -> Option<i8> {
    match word.trim_end_matches(['.', ')', ';']) {
        "am" => Some(0),
        "pm" => Some(12),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn a_wait_is_read_where_it_is_plain() {
        let now = Timestamp::from_second(1_000).unwrap();
        let cases = [
            ("Please try again in 20s.", Some(1_020)),
            ("Please retry in 1.5s", Some(1_001)),
            ("try again in 5 minutes", Some(1_300)),
            (
                "Try again in 3 days 4 hours 5 minutes.",
                Some(1_000 + 3 * 86400 + 4 * 3600 + 300),
            ),
            (
                "Your quota will reset after 3h21m50s.",
                Some(1_000 + 3 * 3600 + 21 * 60 + 50),
            ),
            ("retry-after: 7", Some(1_007)),
            (
                "Claude AI usage limit reached|1763802000",
                Some(1_763_802_000),
            ),
            ("try again in a moment", None),
            ("the limit resets soon", None),
            ("resets 25:00", None),
            ("resets 13pm", None),
        ];
        for (text, expected) in cases {
            assert_eq!(
                reset(text, now).map(Timestamp::as_second),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_clock_time_is_the_next_in_its_zone() {
        let now: Timestamp = "2026-11-22T13:30:00Z".parse().unwrap();
        let cases = [
            (
                "You've hit your limit \u{b7} resets 3pm (UTC)",
                "2026-11-22T15:00:00Z",
            ),
            (
                "You've hit your session limit · resets 1pm (UTC)",
                "2026-11-23T13:00:00Z",
            ),
            ("resets 3:45pm (Europe/Berlin)", "2026-11-22T14:45:00Z"),
            (
                "resets Nov 24, 12am (America/New_York)",
                "2026-11-24T05:00:00Z",
            ),
            ("resets at 15:45 (UTC)", "2026-11-22T15:45:00Z"),
            (
                "Try again at Nov 24th, 2026 3:45 PM (UTC).",
                "2026-11-24T15:45:00Z",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(reset(text, now), Some(expected.parse().unwrap()), "{text}");
        }
        let local = reset("or try again at 3:45 PM.", now).unwrap();
        assert_eq!(
            local
                .to_zoned(TimeZone::system())
                .strftime("%H:%M:%S")
                .to_string(),
            "15:45:00"
        );
        assert!(local > now && local <= now + SignedDuration::from_hours(25));
    }
}
