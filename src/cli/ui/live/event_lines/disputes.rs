//! Converts the events of disputes to printable lines.

use crate::cli::style::{Color, Glyph};
use crate::cli::ui::live::event_lines::EventLines;
use glee_model::domain::event::DisputeEvent;
use glee_model::domain::{Dispute, Objector, Ruler};
use glee_protocol::text::printable;

impl EventLines {
    pub(super) fn dispute_lines(&self, event: &DisputeEvent) -> Vec<String> {
        let style = self.style;
        match event {
            DisputeEvent::DisputesReopened { .. }
            | DisputeEvent::RulingRevoked { .. }
            | DisputeEvent::RulingEnded { .. }
            | DisputeEvent::AuditStarted { .. } => Vec::new(),
            DisputeEvent::RulingAudited { audit } => {
                let word = match &audit.ruling {
                    Some(ruling) => {
                        style.paint(Color::of_ruling(ruling.ruling), ruling.ruling.as_str())
                    }
                    None => "no ruling".to_owned(),
                };
                let by = printable::line(&audit.judge.0);
                vec![style.cut(
                    &format!("  dispute {}  audit: {word} by {by}", audit.dispute),
                    style.width,
                )]
            }
            DisputeEvent::DisputeOpened { dispute }
            | DisputeEvent::DisputeCarriedOn { dispute, .. } => {
                vec![self.dispute(dispute)]
            }
            // Without `--verbose`, no line is printed, because the dialog or a notice has already shown the
            // route.
            DisputeEvent::RouteChosen {
                dispute,
                route,
                person,
            } => {
                let who = person.as_ref().map_or_else(
                    || "the configured default".to_owned(),
                    |person| format!("chosen by {}", printable::line(&person.to_string())),
                );
                self.detail(format!(
                    "  dispute {dispute} {} {route} ({who})",
                    style.glyph(Glyph::Arrow)
                ))
            }
            DisputeEvent::ObjectionAnswered { dispute, answered } => {
                let by = printable::line(&answered.by.to_string());
                let answer = printable::line(&answered.answer.trimmed());
                vec![style.cut(
                    &format!("  dispute {dispute}  {by} answers: {answer}"),
                    style.width,
                )]
            }
            DisputeEvent::CoderReplied { dispute, response } => {
                let reply = printable::line(&response.text.trimmed());
                let word = response.answer.as_str();
                vec![style.cut(
                    &format!("  dispute {dispute}  {word} by the coder: {reply}"),
                    style.width,
                )]
            }
            DisputeEvent::RulingGiven {
                dispute,
                ruling: record,
            } => {
                let by = printable::line(&record.by.to_string());
                let rationale = printable::line(&record.ruling.rationale.trimmed());
                let rationale = if rationale.is_empty() {
                    rationale
                } else {
                    format!(": {rationale}")
                };
                let word = style.paint(
                    Color::of_ruling(record.ruling.ruling),
                    record.ruling.ruling.as_str(),
                );
                vec![style.cut(
                    &format!("  dispute {dispute}  {word} by {by}{rationale}"),
                    style.width,
                )]
            }
            // Without `--verbose`, no line is printed, because the line about the ruling already shows the
            // result.
            DisputeEvent::DisputeSettled { settlement, .. }
                if settlement.by != Ruler::Policy && !self.is_verbose() =>
            {
                Vec::new()
            }
            DisputeEvent::DisputeSettled {
                dispute,
                settlement,
            } => {
                vec![style.faint(format!(
                    "  dispute {dispute} settled: {}",
                    settlement.disposition.as_str()
                ))]
            }
        }
    }

    fn dispute(&self, dispute: &Dispute) -> String {
        let style = self.style;
        let finding = &dispute.finding;
        let coder = self
            .answered_by
            .get(&finding.id)
            .or(self.only_coder.as_ref())
            .map_or_else(|| "the coder".to_owned(), |name| printable::line(&name.0));
        let place = finding
            .raw
            .location()
            .map(|place| format!("{} ", printable::line(&place.to_string())));
        let sides = match dispute.objector {
            Objector::Coder => format!("{coder} objects to"),
            Objector::Reviewers => "reviewers contradict each other about".to_owned(),
            Objector::Unconfirmed => "no other reviewer confirmed".to_owned(),
            Objector::Earlier => "an earlier finding requests the opposite of".to_owned(),
            Objector::Person => "a person rules on".to_owned(),
            Objector::Participant => "a person objects in the pull request to".to_owned(),
        };
        let line = format!(
            "{} {}: {sides} {} {}{}",
            style.mark(Glyph::Attention),
            style.strong(format!("Dispute {}", dispute.number)),
            style.tag(finding),
            place.unwrap_or_default(),
            printable::line(&finding.raw.title)
        );
        style.cut(&line, style.width)
    }
}
