//! Records a person's ruling on a dispute, under the rules of `glee disputes resolve`.

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use clap::ValueEnum as _;

use super::error_page::{ErrorPage, refused};
use super::pages;
use super::site::Site;
use super::source::Source;
use super::views::RulingForm;
use crate::cli::commands::history::disputes::common;
use crate::cli::commands::history::disputes::decision::{DismissalKind, RulingChoice, RulingInput};
use crate::cli::context::CommandError;
use glee_model::domain::{DisputeNumber, ExitReason, Person};
use glee_store::history::JournalError;

/// Settles the dispute and shows the page of the dispute. If a form field is invalid, the page shows the form
/// again with an error message.
pub(crate) fn settle(
    site: &Site,
    number: u64,
    headers: &HeaderMap,
    form: &RulingForm,
) -> Result<Response, ErrorPage> {
    if !site.forms.is_own_write(headers, &form.token) {
        return Err(refused(
            StatusCode::FORBIDDEN,
            "the ruling was not sent from a page of this server",
        )
        .hint("open the page of the dispute again, and send the form on that page"));
    }
    let Some(person) = &site.person else {
        return Err(refused(
            StatusCode::FORBIDDEN,
            "this server may not record rulings",
        ));
    };
    let dispute = DisputeNumber(number);
    let unknown = || JournalError::UnknownDispute(dispute);
    let journal = site.source.journal()?.ok_or_else(unknown)?;
    let record = journal.dispute(dispute)?.ok_or_else(unknown)?;
    if let Some(disposition) = record.dispute.disposition {
        return Err(JournalError::AlreadySettled {
            number: dispute,
            disposition,
        }
        .into());
    }
    drop(journal);
    match form.record(&site.source, dispute, person) {
        Ok(()) => Ok(Redirect::to(&site.path(&format!("disputes/{number}"))).into_response()),
        Err(error) if error.exit() == ExitReason::Usage => {
            pages::dispute_with(site, number, form, Some(&error))
        }
        Err(error) => Err(error.into()),
    }
}

impl RulingForm {
    fn record(
        &self,
        source: &Source,
        dispute: DisputeNumber,
        person: &Person,
    ) -> Result<(), CommandError> {
        if self.word.is_empty() {
            return Err(undecided());
        }
        let word = RulingChoice::from_str(&self.word, false).map_err(CommandError::usage)?;
        if word == RulingChoice::Judge {
            return Err(
                CommandError::usage("this page cannot send the dispute to the judge")
                    .hint(format!("run `glee disputes resolve {dispute} judge`")),
            );
        }
        let kind = match self.kind.as_str() {
            "" => None,
            kind => Some(DismissalKind::from_str(kind, false).map_err(CommandError::usage)?),
        };
        let until = match self.until.trim() {
            "" => None,
            day => Some(common::last_day(day).map_err(|advice| {
                CommandError::usage(format!("`{day}` cannot be the last day of a dismissal"))
                    .hint(advice)
            })?),
        };
        // Browsers encode each line break in a form field as `\r\n`.
        let reason = self.reason.replace("\r\n", "\n");
        let reference = Some(self.reference.trim()).filter(|reference| !reference.is_empty());
        let input = RulingInput {
            word: Some(word),
            kind,
            reference,
            reason: reason.trim(),
            until,
        };
        let disposition = input.disposition()?.ok_or_else(undecided)?;
        let workspace = source.workspace()?;
        let mut journal = source.open(&workspace)?;
        let person = person.clone();
        input
            .record(&workspace, &mut journal, dispute, &disposition, person)
            .map(drop)
    }
}

fn undecided() -> CommandError {
    CommandError::usage("a decision is required").hint("choose `enforce`, `dismiss` or `discard`")
}
