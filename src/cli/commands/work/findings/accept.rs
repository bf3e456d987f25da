//! `glee accept`: records a person's ruling on a finding. The person can rule even if no agent objects to the
//! finding.

use clap::ValueEnum;
use jiff::civil::Date;

use super::{RecordedRun, RunOption, finding_id};
use crate::cli::commands::history::disputes::common;
use crate::cli::context::{CommandError, CommandResult, Globals, history, stream};
use crate::domain::{
    Answer, Disposition, Dispute, ExitReason, FindingId, FindingState, Objector, Response,
    SettledFinding, Sides,
};
use crate::protocol::text::printable;

/// Rule on a finding: accept the risk, refute the finding or defer the fix
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Glee opens a dispute on the finding, and settles the dispute with your ruling. Later reviews apply the ruling \
until the code changes. `glee disputes` lists the dispute, and `glee disputes reopen` revokes the ruling.

Examples:
  glee accept F3 --reason 'only in tests'
  glee accept F3 --as refuted --reason 'the value is a constant'
  glee accept F3 --as deferred --ref issue-12 --reason 'after the release'
  glee accept F3 --until 90d --reason 'until the rewrite'")]
pub(crate) struct Args {
    /// The number of the finding, such as F3
    #[arg(value_name = "FINDING", value_parser = finding_id)]
    finding: FindingId,
    /// Your ruling on the finding
    #[arg(
        long = "as",
        value_enum,
        value_name = "WHAT",
        default_value = "accepted-risk"
    )]
    ruling: PersonRuling,
    /// The reason for your decision, to be recorded in the history
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    reason: String,
    /// The issue that tracks a deferred finding
    #[arg(long = "ref", value_name = "REFERENCE")]
    reference: Option<String>,
    /// The last day (UTC) on which the ruling applies, as a date (2026-11-01) or a period from today (90d)
    #[arg(long, value_name = "DATE", value_parser = common::last_day)]
    until: Option<Date>,
    #[command(flatten)]
    run: RunOption,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PersonRuling {
    /// The finding is right, and the risk is accepted
    AcceptedRisk,
    /// The finding is wrong
    Refuted,
    /// The finding is right, but the fix comes later (requires `--ref`)
    Deferred,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let disposition = disposition(args)?;
    let found = RecordedRun::find(globals, &args.run.run)?;
    let settled = found.finding(args.finding)?;
    let (finding, reason) = (&settled.finding, args.reason.clone());
    let mut journal = history::open(globals, &found.workspace)?;
    let number = match settled.state {
        FindingState::Disputed { dispute } => {
            journal.resolve(dispute, disposition.clone(), reason, args.until)?;
            dispute
        }
        _ => {
            refuse_decided(settled, found.outcome().dispute_of(settled))?;
            found.require_end()?;
            let objection = Response {
                finding: finding.id,
                answer: Answer::Disagree,
                text: reason.as_str().into(),
                evidence: Vec::new(),
            };
            let earlier = settled.earlier.clone();
            let sides = Sides {
                finding: finding.clone(),
                members: found
                    .outcome()
                    .addressed(args.finding)
                    .filter(|member| member.finding.id != finding.id && member.is_open())
                    .map(|member| member.finding.clone())
                    .collect(),
                objection,
                objector: Objector::Person,
                earlier,
                participant: None,
            };
            journal.rule(&found.run, sides, disposition.clone(), reason, args.until)?
        }
    };
    let ended = printable::line(&common::outcome(&disposition));
    let until = args
        .until
        .map(|day| format!(" until {day}"))
        .unwrap_or_default();
    stream::out(&format!(
        "{}: DISMISS by you, {ended}{until} (dispute {number}).\n",
        finding.id
    ))?;
    if finding.anchor.is_none() {
        globals
            .say("note: the finding names no code, so later reviews do not recognise the finding");
    }
    globals.say(&format!(
        "Next: `glee runs resume {}` to finish the run",
        found.run.short()
    ));
    Ok(ExitReason::Clean)
}

fn disposition(args: &Args) -> Result<Disposition, CommandError> {
    let reference = args
        .reference
        .as_deref()
        .map(str::trim)
        .filter(|text| !text.is_empty());
    match (args.ruling, reference) {
        (PersonRuling::AcceptedRisk, None) => Ok(Disposition::AcceptedRisk),
        (PersonRuling::Refuted, None) => Ok(Disposition::Refuted),
        (PersonRuling::Deferred, Some(reference)) => Ok(Disposition::Deferred {
            reference: reference.to_owned(),
        }),
        (PersonRuling::Deferred, None) => Err(CommandError::usage(
            "`--as deferred` requires `--ref`",
        )
        .hint("add the issue that tracks the finding: `--as deferred --ref <issue or link>`")),
        (PersonRuling::AcceptedRisk | PersonRuling::Refuted, Some(_)) => {
            Err(CommandError::usage("`--ref` requires `--as deferred`")
                .hint("remove `--ref`, or defer the finding with `--as deferred`"))
        }
    }
}

/// Fails if a ruling on the finding exists, or if the finding is implemented.
fn refuse_decided(settled: &SettledFinding, dispute: Option<&Dispute>) -> Result<(), CommandError> {
    let id = settled.finding.id;
    let ruling = match (&settled.state, dispute) {
        (_, Some(dispute)) => dispute.number.to_string(),
        (FindingState::AlreadyRuled { dispute, .. }, None) => dispute.to_string(),
        (FindingState::Resolved | FindingState::Unchecked, None) => {
            return Err(
                CommandError::usage(format!("the finding {id} is already implemented"))
                    .hint(format!("`glee show {id}` shows the finding")),
            );
        }
        (_, None) => return Ok(()),
    };
    Err(CommandError::usage(format!(
        "dispute {ruling} has already settled the finding {id}"
    ))
    .hint(format!(
        "to rule again, reopen the dispute with `glee disputes reopen {ruling}`"
    )))
}
