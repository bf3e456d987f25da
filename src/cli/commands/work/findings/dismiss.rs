//! `glee dismiss`: records a person's ruling that a finding need not be fixed. The person can rule even if no agent
//! objects to the finding.

use jiff::civil::Date;

use super::{RunFindings, RunOption, finding_word, implemented, known, ruled};
use crate::cli::commands::history::disputes::common;
use crate::cli::commands::history::disputes::decision::{self, DismissalKind};
use crate::cli::context::{
    ByFlag, CommandError, CommandResult, Globals, Words, history, one_of, place, tell,
};
use glee_model::domain::event::ReviewEvent;
use glee_model::domain::{
    Answer, Disposition, Dispute, DisputeNumber, ExitReason, Finding, FindingId, FindingState,
    Objector, Response, SettledFinding, Sides, Untrusted,
};
use glee_protocol::text::printable;
use glee_store::history::GivenRuling;
use glee_workspace::code::cited;

/// Close a finding: it is wrong, or an accepted risk
#[derive(clap::Args)]
#[command(after_help = "\
Glee opens a dispute on the finding, and settles the dispute with your ruling. Later reviews apply the ruling \
until the code changes, or code that the reason cites as `path:line`. `glee disputes` lists the dispute, and `glee disputes reopen` revokes the ruling. The number \
of a group, such as F3, dismisses all members of the group, and F3b dismisses one.

Examples:
  glee dismiss F3 --reason 'the value is a constant'
  glee dismiss F3 --as accepted-risk --reason 'only in tests' --until 90d
  glee dismiss F3 --as deferred --ref issue-12 --reason 'after the release'
  glee dismiss F7 --as duplicate --of F3 --reason 'one query'")]
pub(crate) struct Args {
    /// The number of the finding, such as F3, or at least four digits of its id
    #[arg(value_name = "FINDING", value_parser = finding_word)]
    finding: String,
    /// Your ruling on the finding
    #[arg(
        long = "as",
        value_parser = one_of(RULINGS),
        value_name = "WHAT",
        default_value = "refuted"
    )]
    ruling: DismissalKind,
    /// The reason for your decision, to be recorded in the history
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    reason: String,
    /// The issue that tracks a deferred finding
    #[arg(long = "ref", value_name = "REFERENCE")]
    reference: Option<String>,
    /// The finding that the duplicate repeats
    #[arg(long, value_name = "FINDING", value_parser = finding_word)]
    of: Option<String>,
    /// The last day (UTC) on which the ruling applies, as a date (2026-11-01) or a period from today (90d)
    #[arg(long, value_name = "DATE", value_parser = common::last_day)]
    until: Option<Date>,
    #[command(flatten)]
    by: ByFlag,
    #[command(flatten)]
    run: RunOption,
}

const RULINGS: Words<DismissalKind> = &[
    ("refuted", DismissalKind::Refuted, "The finding is wrong"),
    (
        "accepted-risk",
        DismissalKind::AcceptedRisk,
        "The finding is right, and the risk is accepted",
    ),
    (
        "deferred",
        DismissalKind::Deferred,
        "The finding is right, but the fix comes later (requires `--ref`)",
    ),
    (
        "duplicate",
        DismissalKind::Duplicate,
        "The finding repeats another finding (requires `--of`)",
    ),
    (
        "not-mandatory",
        DismissalKind::NotMandatory,
        "The finding is right, but not mandatory",
    ),
];

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let mut disposition = disposition(args)?;
    let person = args.by.person(&place::workspace(globals)?)?;
    let (found, ids) = RunFindings::with(globals, [&args.finding], &args.run)?;
    let mut joined = None;
    if let Disposition::Duplicate { of } = &mut disposition {
        let original = known(globals, &found.journal, of)?;
        joined = same_problem(ids[0], original)?;
        *of = original.to_string();
    }
    let mut waiting = Vec::new();
    let mut ruled = Vec::new();
    for id in &ids {
        let settled = found.finding(*id)?;
        match settled.state {
            FindingState::Disputed { dispute } if !waiting.contains(&dispute) => {
                waiting.push(dispute)
            }
            FindingState::Disputed { .. } => {}
            // Of a group, only the members that are still open are dismissed.
            _ => match refuse_decided(settled, found.outcome().dispute_of(settled)) {
                Ok(()) => ruled.push(settled),
                Err(error) if ids.len() == 1 => return Err(error),
                Err(_) => {}
            },
        }
    }
    if waiting.is_empty() && ruled.is_empty() {
        let settled = found.finding(ids[0])?;
        refuse_decided(settled, found.outcome().dispute_of(settled))?;
    }
    let mut journal = history::open(globals, &found.workspace)?;
    let reason = Untrusted::from(args.reason.as_str());
    let file = found.finding(ids[0])?.finding.raw.file.as_deref();
    let given = GivenRuling {
        disposition: disposition.clone(),
        cited: cited::in_reason(&reason, file.unwrap_or_default(), &found.workspace),
        reason,
        until: args.until,
        person,
    };
    let mut numbers: Vec<DisputeNumber> = Vec::new();
    for dispute in waiting {
        journal.resolve(dispute, given.clone())?;
        numbers.push(dispute);
    }
    if let Some((head, members)) = ruled.split_first() {
        found.require_end()?;
        let members = members.iter().map(|member| member.finding.clone());
        let sides = sides(head, members.collect(), &args.reason);
        numbers.push(journal.rule(&found.run, sides, given.clone())?);
    }
    if let Some(joined) = joined {
        journal.append(&found.run, joined)?;
    }
    for id in &ids {
        let headline = found.finding(*id)?.finding.headline();
        tell(globals, format!("{}\n", printable::line(&headline)))?;
    }
    for number in numbers {
        let sentence = decision::sentence(number, &disposition, args.until, &given.person.name);
        tell(globals, format!("  {sentence}\n"))?;
    }
    let outcome = found.outcome();
    let mut findings = ids.iter().map(|id| outcome.finding(*id));
    if !findings.all(|settled| settled.is_some_and(|settled| settled.finding.anchor.is_some())) {
        globals
            .say("note: the finding names no code, so later reviews do not recognise the finding");
    }
    common::say_next(globals, &found.run)?;
    Ok(ExitReason::Clean)
}

fn sides(head: &SettledFinding, members: Vec<Finding>, reason: &str) -> Sides {
    let objection = Response {
        finding: head.finding.id,
        answer: Answer::Disagree,
        text: reason.into(),
        evidence: Vec::new(),
        demonstration: None,
    };
    Sides {
        finding: head.finding.clone(),
        members,
        objection,
        objector: Objector::Person,
        earlier: head.earlier.clone(),
        participant: None,
    }
}

/// The event that makes the newer one of two numbers an alias of the older one.
fn same_problem(
    finding: FindingId,
    original: FindingId,
) -> Result<Option<ReviewEvent>, CommandError> {
    if finding == original || finding.number == original.number && original.member == 0 {
        return Err(
            CommandError::usage(format!("{finding} cannot be a duplicate of itself"))
                .hint("give the other finding: `--as duplicate --of <finding>`"),
        );
    }
    let newer = finding.max(original).group();
    let older = finding.min(original).group();
    Ok((newer != older).then_some(ReviewEvent::ProblemsJoined { newer, older }))
}

fn disposition(args: &Args) -> Result<Disposition, CommandError> {
    let reference = args.reference.as_deref();
    let has_reference = reference.is_some_and(|text| !text.trim().is_empty());
    if has_reference && args.ruling != DismissalKind::Deferred {
        return Err(CommandError::usage("`--ref` requires `--as deferred`")
            .hint("remove `--ref`, or defer the finding with `--as deferred`"));
    }
    if args.of.is_some() && args.ruling != DismissalKind::Duplicate {
        return Err(CommandError::usage("`--of` requires `--as duplicate`")
            .hint("remove `--of`, or dismiss the finding with `--as duplicate`"));
    }
    if args.of.is_none() && args.ruling == DismissalKind::Duplicate {
        return Err(CommandError::usage("`--as duplicate` requires `--of`")
            .hint("add the original finding: `--as duplicate --of <finding>`"));
    }
    decision::dismissed(args.ruling, args.of.as_deref().or(reference))
}

/// Fails if a ruling on the finding exists, or if the finding is implemented.
fn refuse_decided(settled: &SettledFinding, dispute: Option<&Dispute>) -> Result<(), CommandError> {
    let id = settled.finding.id;
    match (&settled.state, dispute) {
        (_, Some(dispute)) => Err(ruled(id, &dispute.number.into())),
        (FindingState::AlreadyRuled { dispute, .. }, None) => Err(ruled(id, dispute)),
        (FindingState::Resolved | FindingState::Unchecked, None) => Err(implemented(settled)),
        (_, None) => Ok(()),
    }
}
