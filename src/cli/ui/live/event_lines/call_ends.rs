//! Converts the answers of calls to printable lines.

use crate::cli::style::{self, Color, Glyph, calls, count};
use crate::cli::ui::live::event_lines::EventLines;
use glee_model::domain::event::{CallAnswer, CallId, Purpose};
use glee_model::domain::{RawFinding, ReusedFrom};
use glee_protocol::text::printable;

impl EventLines {
    pub(super) fn reused(&self, call: &CallId, from: &[ReusedFrom], to_review: usize) -> String {
        let files: usize = from
            .iter()
            .map(|from| from.files.len() + from.in_part.len())
            .sum();
        let runs = match from {
            [one] => format!("run {}", printable::line(one.run.short())),
            several => format!("{} runs", several.len()),
        };
        let shard = self
            .shard(call)
            .map_or_else(String::new, |shard| format!("{shard}: "));
        let rest = if to_review == 0 {
            String::new()
        } else {
            format!(", {} to review", count(to_review, "file"))
        };
        let name = self.style.strong(self.name(&call.agent));
        format!(
            "  {name}  {shard}{} reused from {runs}{rest}",
            count(files, "file")
        )
    }

    pub(super) fn finished(&self, call: &CallId, answer: &CallAnswer, millis: u64) -> Vec<String> {
        let style = self.style;
        let (glyph, mut text) = calls::summary(answer);
        if let Some(shard) = self.shard(call) {
            text = format!("{shard}: {text}");
        }
        match (&call.purpose, answer) {
            (
                Purpose::Judge { dispute } | Purpose::JudgeAgain { dispute },
                CallAnswer::Judge { .. },
            ) => text = format!("ruled on dispute {dispute}"),
            (Purpose::JudgeFile { disputes }, _) => {
                let numbers: Vec<String> = disputes.iter().map(ToString::to_string).collect();
                let numbers = numbers.join(", ");
                text = match glyph {
                    Glyph::Done => format!("ruled on disputes {numbers}"),
                    _ => format!("disputes {numbers}: {text}"),
                };
            }
            (
                Purpose::Judge { dispute }
                | Purpose::JudgeAgain { dispute }
                | Purpose::Demonstrate { dispute },
                _,
            ) => text = format!("dispute {dispute}: {text}"),
            _ => {}
        }
        let name = style.strong(self.name(&call.agent));
        let time = style.faint(style::duration(millis));
        let mut lines = vec![format!("{} {name}  {text}  {time}", style.mark(glyph))];
        lines.extend(self.limited(call, answer));
        if let CallAnswer::Review { findings, .. } = answer {
            lines.extend(self.raised(findings));
        }
        if let CallAnswer::Failed {
            hint: Some(hint), ..
        } = answer
        {
            lines.push(format!(
                "  {} {}",
                style.paint(Color::Key, "hint:"),
                printable::line(hint)
            ));
        }
        lines
    }

    /// The findings of an answer while other reviewers work. They get their numbers when all answers are merged, and a
    /// report follows at once where nobody else was asked.
    fn raised(&self, findings: &[RawFinding]) -> Vec<String> {
        if self.reviewers < 2 && self.shards < 2 {
            return Vec::new();
        }
        let lines = findings.iter().map(|finding| {
            let tag = finding.severity.to_string();
            let place = finding.location().map(|place| format!(" {place}"));
            format!(
                "    {}{} {}",
                self.style
                    .paint(Color::of(&finding.severity), &printable::line(&tag)),
                printable::line(&place.unwrap_or_default()),
                printable::line(&finding.title)
            )
        });
        lines.collect()
    }

    /// Says until when the agent of a call is limited, and who goes on.
    fn limited(&self, call: &CallId, answer: &CallAnswer) -> Option<String> {
        let CallAnswer::Failed {
            cause: Some(cause), ..
        } = answer
        else {
            return None;
        };
        let until = cause.reset().map_or_else(String::new, |reset| {
            format!(" until {}", style::moment(reset))
        });
        let left = self.reviewers.saturating_sub(self.limited.len());
        let others = match left {
            _ if !self.limited.contains(&call.agent) || self.reviewers < 2 => String::new(),
            1 => format!("; 1 of {} continues", self.reviewers),
            _ => format!("; {left} of {} continue", self.reviewers),
        };
        let agent = printable::line(&call.agent.0);
        cause
            .is_exhausted()
            .then(|| format!("  {agent} is limited{until}{others}"))
    }
}
