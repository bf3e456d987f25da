//! `--format jsonl`: prints each recorded event to stdout as one line of JSON.

use std::io;

use crate::cli::report::formats::json;
use crate::cli::ui::stream;
use glee_model::domain::event::Event;
use glee_workflows::run::ports::EventSink;

#[derive(Debug, Default)]
pub struct JsonLines {
    failure: Option<io::Error>,
}

impl JsonLines {
    /// The error of the first failed write. A closed pipe is not a failure.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }
}

impl EventSink for JsonLines {
    fn event(&mut self, event: &Event) {
        if self.failure.is_none() {
            self.failure = stream::out(json::line(event)).err();
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::cli::style::fixture;
    use glee_model::domain::event::EventKind;

    #[test]
    fn an_event_is_one_line_that_reads_back_and_moves_no_cursor() {
        let event = fixture::event(7, EventKind::notice("a\nb \u{9b}2J \u{202e}"));
        let line = json::line(&event);
        assert_eq!(
            line,
            "{\"run\":\"0197-1a2b3c4d\",\"seq\":7,\"at\":\"2026-11-21T10:00:00Z\",\"event\":\"notice\",\
             \"text\":\"a\\nb \\u009b2J \\u202e\"}\n"
        );
        assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event);
    }
}
