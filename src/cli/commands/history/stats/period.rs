//! Parses the option `--since` of `glee stats` and `glee stats audit`.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

/// Parses the first day of a period: a date, or an age in days.
pub(crate) fn first_day(text: &str) -> Result<Date, String> {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let age = || text.parse::<Span>().ok().filter(|age| age.is_positive());
    let day = text
        .parse::<Date>()
        .ok()
        .or_else(|| today.checked_sub(age()?).ok());
    day.ok_or_else(|| "give a date (2026-11-01) or an age in days (90d)".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_begins_on_a_day() {
        let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
        assert_eq!(first_day("2026-11-01"), Ok(jiff::civil::date(2026, 11, 1)));
        assert_eq!(first_day("1d"), Ok(today.yesterday().expect("a day")));
        assert!(first_day("soon").is_err() && first_day("-3d").is_err());
    }
}
