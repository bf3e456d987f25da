//! A person's decision on a dispute. The person enters the decision in options of `glee disputes resolve`, or in
//! the HTML form of `glee serve`.

use std::fmt;

use clap::ValueEnum;
use jiff::civil::Date;

use crate::cli::commands::history::disputes::common::outcome;
use crate::cli::context::CommandError;
use glee_model::domain::{Disposition, DisputeNumber, Person, RunId, Untrusted};
use glee_protocol::text::printable;
use glee_store::history::{GivenRuling, Journal};
use glee_workspace::code::cited;
use glee_workspace::root::Workspace;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RulingChoice {
    /// The AI judge rules on the dispute
    Judge,
    /// The finding is discarded without a ruling
    Discard,
    /// The coder must implement the finding
    Enforce,
    /// The coder need not implement the finding
    Dismiss,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DismissalKind {
    /// The finding is wrong
    Refuted,
    /// The finding is right, and the risk is accepted
    AcceptedRisk,
    /// The finding is right, but the fix comes later (requires `--ref`)
    Deferred,
    /// The finding repeats another finding (requires `--ref`)
    Duplicate,
    /// The finding is right, but not mandatory
    NotMandatory,
    /// The finding is discarded without a ruling
    Discarded,
}

/// A person's ruling, as entered in command-line options or form fields. The values are not validated yet and
/// can contradict each other.
#[derive(Clone, Copy)]
pub(crate) struct RulingInput<'a> {
    pub(crate) word: Option<RulingChoice>,
    pub(crate) kind: Option<DismissalKind>,
    pub(crate) reference: Option<&'a str>,
    pub(crate) reason: &'a str,
    pub(crate) until: Option<Date>,
}

impl RulingInput<'_> {
    /// Returns `None` if no ruling is given. The judge or a dialog must then settle the dispute.
    pub(crate) fn disposition(&self) -> Result<Option<Disposition>, CommandError> {
        let own = self.own()?;
        if self.until.is_some() && self.word != Some(RulingChoice::Dismiss) {
            return Err(CommandError::usage("`--until` requires the decision `dismiss`").hint(
                "dismiss the finding, for example: `glee disputes resolve 7 dismiss --as accepted-risk --until \
                 90d`",
            ));
        }
        if own.is_none()
            && (self.kind.is_some() || self.reference.is_some() || !self.reason.is_empty())
        {
            return Err(CommandError::usage(
                "`--reason`, `--as` and `--ref` require the decision `enforce`, `dismiss` or `discard`",
            )
            .hint(
                "add a decision, for example: `glee disputes resolve 7 dismiss --reason 'the value is a constant'`",
            ));
        }
        Ok(own)
    }

    fn own(&self) -> Result<Option<Disposition>, CommandError> {
        match (self.word, self.kind) {
            (Some(RulingChoice::Judge) | None, _) => Ok(None),
            (Some(RulingChoice::Enforce), None) if self.reference.is_none() => {
                Ok(Some(Disposition::Enforced))
            }
            (Some(RulingChoice::Discard), None) if self.reference.is_none() => {
                Ok(Some(Disposition::Discarded))
            }
            (Some(RulingChoice::Enforce | RulingChoice::Discard), _) => Err(CommandError::usage(
                "`--as` and `--ref` require the decision `dismiss`",
            )
            .hint("remove these options, or choose the decision `dismiss`")),
            (Some(RulingChoice::Dismiss), kind) => {
                dismissed(kind.unwrap_or(DismissalKind::Refuted), self.reference).map(Some)
            }
        }
    }

    /// Settles the dispute, and returns the id of the run that contains the dispute.
    pub(crate) fn record(
        &self,
        workspace: &Workspace,
        journal: &mut Journal,
        number: DisputeNumber,
        disposition: &Disposition,
        person: Person,
    ) -> Result<RunId, CommandError> {
        let reason = Untrusted::from(self.reason);
        let record = journal.dispute(number)?;
        let file = record.and_then(|record| record.dispute.finding.raw.file);
        let given = GivenRuling {
            disposition: disposition.clone(),
            cited: cited::in_reason(&reason, file.as_deref().unwrap_or_default(), workspace),
            reason,
            until: self.until,
            person,
        };
        Ok(journal.resolve(number, given)?)
    }
}

/// The outcome of a dismissal. A deferred or duplicate finding needs a reference, and no other has one.
pub(crate) fn dismissed(
    kind: DismissalKind,
    reference: Option<&str>,
) -> Result<Disposition, CommandError> {
    let reference = reference.map(str::trim).filter(|text| !text.is_empty());
    match (kind, reference) {
        (DismissalKind::Deferred, Some(reference)) => Ok(Disposition::Deferred {
            reference: reference.to_owned(),
        }),
        (DismissalKind::Duplicate, Some(of)) => Ok(Disposition::Duplicate { of: of.to_owned() }),
        (DismissalKind::Deferred, None) => Err(CommandError::usage(
            "`--as deferred` requires `--ref`",
        )
        .hint("add the issue that tracks the finding: `--as deferred --ref <issue or link>`")),
        (DismissalKind::Duplicate, None) => {
            Err(CommandError::usage("`--as duplicate` requires `--ref`")
                .hint("add the original finding: `--as duplicate --ref <finding or dispute>`"))
        }
        (_, Some(_)) => Err(CommandError::usage(
            "`--ref` requires `--as deferred` or `--as duplicate`",
        )),
        (DismissalKind::Refuted, None) => Ok(Disposition::Refuted),
        (DismissalKind::AcceptedRisk, None) => Ok(Disposition::AcceptedRisk),
        (DismissalKind::NotMandatory, None) => Ok(Disposition::NotMandatory),
        (DismissalKind::Discarded, None) => Ok(Disposition::Discarded),
    }
}

/// Formats a recorded ruling as a sentence, for example `Dispute 7: DISMISS by Ann, accepted risk until
/// 2026-11-01.`
pub(crate) fn sentence(
    dispute: impl fmt::Display,
    disposition: &Disposition,
    until: Option<Date>,
    by: &str,
) -> String {
    let by = printable::line(by);
    let ended = printable::line(&outcome(disposition));
    let until = until.map(|day| format!(" until {day}")).unwrap_or_default();
    match disposition {
        Disposition::Enforced => format!("Dispute {dispute}: ENFORCE by {by}, {ended}{until}."),
        Disposition::Discarded => format!("Dispute {dispute}: {ended} by {by}{until}."),
        _ => format!("Dispute {dispute}: DISMISS by {by}, {ended}{until}."),
    }
}
