//! `glee disputes resolve`: settles open disputes. If the command line contains a ruling, the ruling is recorded
//! at once. Otherwise, the command reopens the run of the dispute, and the judge or the user decides the dispute.
//! The coder implements enforced findings only when the user resumes the run.

use jiff::civil::Date;

use crate::cli::commands::history::disputes::common::{self, outcome};
use crate::cli::commands::history::disputes::decision::{
    self, DismissalKind, RulingChoice, RulingInput,
};
use crate::cli::commands::history::runs::lookup::{self, Recalled};
use crate::cli::context::{
    ByFlag, CommandContext, CommandError, CommandResult, Format, Globals, Outputs, ReasonFlag,
    RunTree, execute, history, number, place, stream, tell,
};
use glee_model::domain::event::Mode;
use glee_model::domain::{Disposition, Dispute, DisputeNumber, ExitReason, Person, Route, RunId};
use glee_protocol::text::printable;
use glee_store::history::JournalError;
use glee_store::history::queries::rows::DisputeFilter;

/// Settle an open dispute by your ruling or by the judge's ruling
#[derive(clap::Args)]
#[command(after_help = "Examples:
  glee disputes resolve 7              show the finding, the code and the objection, and choose
  glee disputes resolve 7 judge        ask the judge
  glee disputes resolve 7 enforce
  glee disputes resolve 7 dismiss --reason 'the value is a constant'
  glee disputes resolve 7 dismiss --as deferred --ref issue-12
  glee disputes resolve 7 dismiss --as accepted-risk --until 90d
  glee disputes resolve --all          one after the other
  glee disputes resolve 7 enforce --by 'Ada Lovelace'   without a terminal; refused in the session of an agent

Exit codes: 0 every chosen dispute is settled, 3 a chosen dispute is still open.")]
pub(crate) struct Args {
    /// The number of the dispute
    #[arg(required_unless_present = "all", value_parser = number::<u64>(1, u64::MAX))]
    number: Option<u64>,
    /// The decision on the dispute [default: Glee asks you]
    word: Option<RulingChoice>,
    /// Settle every open dispute, one after the other, with this decision if it is given
    #[arg(long, value_name = "DECISION", num_args = 0..=1, conflicts_with = "number")]
    all: Option<Option<RulingChoice>>,
    #[command(flatten)]
    by: ByFlag,
    #[command(flatten)]
    reason: ReasonFlag,
    /// The kind of dismissal [default: refuted]
    #[arg(long = "as", value_name = "WHAT")]
    disposition: Option<DismissalKind>,
    /// The issue that tracks a deferred finding; for a duplicate finding, the original finding
    #[arg(long = "ref", value_name = "REFERENCE")]
    reference: Option<String>,
    /// The last day (UTC) on which a dismissal applies, as a date (2026-11-01) or a period from today (90d)
    #[arg(long, value_name = "DATE", value_parser = common::last_day)]
    until: Option<Date>,
}

impl Args {
    fn decision(&self) -> RulingInput<'_> {
        RulingInput {
            word: self.word.or(self.all.flatten()),
            kind: self.disposition,
            reference: self.reference.as_deref(),
            reason: &self.reason.reason,
            until: self.until,
        }
    }
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let decision = args.decision();
    let own = decision.disposition()?;
    let disputes = wanted(args, globals)?;
    if disputes.is_empty() {
        return tell(globals, "No dispute is open.\n");
    }
    match own {
        Some(disposition) => {
            let person = args.by.person(&place::workspace(globals)?)?;
            for (number, _) in &disputes {
                rule(globals, *number, &disposition, &decision, person.clone())?;
            }
            Ok(ExitReason::Clean)
        }
        None => settle(globals, &disputes, decision.word.map(|_| Route::Judge)),
    }
}

fn wanted(args: &Args, globals: &Globals) -> Result<Vec<(DisputeNumber, RunId)>, CommandError> {
    let Some(number) = args.number.map(DisputeNumber) else {
        let filter = DisputeFilter {
            open_only: true,
            ..DisputeFilter::default()
        };
        let Some(journal) = history::open_read_here(globals)? else {
            return Ok(Vec::new());
        };
        let rows = journal.disputes(&filter)?;
        return Ok(rows
            .into_iter()
            .rev()
            .map(|row| (row.number, row.run))
            .collect());
    };
    let record = common::find(globals, number)?;
    match record.dispute.disposition {
        Some(disposition) => Err(JournalError::AlreadySettled {
            number,
            disposition,
        }
        .into()),
        None => Ok(vec![(number, record.run)]),
    }
}

fn rule(
    globals: &Globals,
    number: DisputeNumber,
    disposition: &Disposition,
    decision: &RulingInput<'_>,
    person: Person,
) -> Result<(), CommandError> {
    let finding = common::find(globals, number)?.dispute.finding;
    let headline = printable::line(&finding.headline());
    let sentence = decision::sentence(number, disposition, decision.until, &person.name);
    let workspace = place::workspace(globals)?;
    let mut journal = history::open(globals, &workspace)?;
    let run = decision.record(&workspace, &mut journal, number, disposition, person)?;
    tell(globals, format!("{headline}\n  {sentence}\n"))?;
    common::say_next(globals, &run)
}

/// If `named` is `None`, a dialog asks the user how to settle the disputes.
fn settle(
    globals: &Globals,
    disputes: &[(DisputeNumber, RunId)],
    named: Option<Route>,
) -> CommandResult {
    if named.is_none() && !globals.interactive() {
        return Err(
            CommandError::usage("without a terminal, a decision is required").hint(format!(
                "give the decision: `glee disputes resolve {} judge|discard|enforce|dismiss`",
                disputes[0].0
            )),
        );
    }
    let outputs = Outputs::only(Format::Text);
    let mut exit = ExitReason::Clean;
    let mut runs: Vec<&RunId> = Vec::new();
    for (_, run) in disputes {
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    for run in runs {
        let numbers = disputes
            .iter()
            .filter(|(_, of)| of == run)
            .map(|(number, _)| *number)
            .collect();
        let (workspace, journal, run) = lookup::find(globals, &run.0)?;
        let recalled = lookup::recall(globals, workspace, &journal, &run, named);
        drop(journal);
        let Recalled {
            workspace,
            settings,
            plan,
            judges,
            ..
        } = recalled?;
        let workspace = RunTree::of_dispute(workspace, &run)?.workspace;
        let agents = execute::programs_of(&plan, &judges, &workspace)?;
        let context = CommandContext {
            outputs: &outputs,
            mode: Mode::Arbitrate,
            chosen: named,
            globals,
            findings: &[],
            filter: None,
            subject: None,
        };
        let (settled, stopped) =
            execute::settle(&context, workspace, settings, agents, &run, numbers, judges)?;
        for dispute in &settled {
            stream::out(line(dispute))?;
            if dispute.is_open() {
                exit = exit.strongest(ExitReason::DisputeOpen);
            }
        }
        if settled.iter().any(|dispute| !dispute.is_open()) {
            common::say_next(globals, &run)?;
        }
        if stopped {
            break;
        }
    }
    Ok(exit)
}

fn line(dispute: &Dispute) -> String {
    let number = dispute.number;
    let by = dispute
        .rulings
        .last()
        .map(|last| format!("{} by {}", last.ruling.ruling, last.by));
    let ruled = match (&dispute.disposition, by) {
        (Some(Disposition::Discarded), _) => match &dispute.discarded_by {
            Some(by) => format!("discarded by {by}"),
            None => "discarded".to_owned(),
        },
        (Some(ended), Some(by)) => format!("{by}, {}", outcome(ended)),
        (Some(ended), None) => outcome(ended),
        (None, Some(by)) => format!("{by}, still open"),
        (None, None) => "still open".to_owned(),
    };
    format!(
        "{}\n  Dispute {number}: {}.\n",
        printable::line(&dispute.finding.headline()),
        printable::line(&ruled)
    )
}
