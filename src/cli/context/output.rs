//! Prints the output of commands.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::cli::error::CommandResult;
use crate::cli::ui::stream;
use crate::domain::ExitReason;

pub(crate) fn print(text: &str) -> CommandResult {
    stream::out(text)?;
    Ok(ExitReason::Clean)
}

pub(crate) fn local_time(at: Timestamp) -> String {
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}
