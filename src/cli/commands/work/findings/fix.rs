//! `glee fix`: hands the chosen findings of an ended run to the coder.

use std::sync::Arc;

use super::{RunFindings, RunOption, finding_word, implemented, ruled};
use crate::cli::commands::history::runs::lookup::{self, ContinuedRun, Recalled};
use crate::cli::context::{
    CommandContext, CommandError, CommandResult, Globals, Outputs, ReportOutputs, execute,
};
use glee_model::domain::event::Mode;
use glee_model::domain::{Dispute, FindingId, FindingState, SettledFinding};
use glee_protocol::text::printable;
use glee_workflows::review;

/// Have the coder edit files to fix the chosen findings
#[derive(clap::Args)]
#[command(after_help = "\
Glee continues the newest run that raised the findings. As with `glee review --fix`, the coder edits files. The \
reviewers that raised the findings check the changes. An objection of the coder opens a dispute. `glee runs \
undo` undoes the changes. All findings that you did not choose keep their state.

Examples:
  glee fix F3 F7
  glee fix F3 --run 5f3a91c2

The exit code describes the whole run, with the codes of `glee review`.")]
pub(crate) struct Args {
    /// The numbers of the findings, such as F3, or at least four digits of their ids
    #[arg(value_name = "FINDING", required = true, value_parser = finding_word)]
    findings: Vec<String>,
    #[command(flatten)]
    run: RunOption,
    #[command(flatten)]
    report: ReportOutputs,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let outputs = args.report.check(globals)?;
    let globals = &globals.silent_if(outputs.is_silent());
    let (found, findings) = RunFindings::with(globals, &args.findings, &args.run)?;
    hand_over(globals, found, findings, &outputs)
}

/// Hands all open mandatory findings of a run to the coder.
pub(crate) fn run_all(globals: &Globals, run: &str, outputs: &Outputs) -> CommandResult {
    let found = RunFindings::find(globals, run)?;
    found.require_end()?;
    let outcome = found.outcome();
    let findings: Vec<FindingId> = outcome
        .findings
        .iter()
        .filter(|settled| {
            settled.finding.mandatory
                && refuse_settled(settled, outcome.dispute_of(settled)).is_ok()
        })
        .map(|settled| settled.finding.id)
        .collect();
    let run = found.run.short();
    if findings.is_empty() {
        return Err(
            CommandError::usage(format!("no mandatory finding of run {run} is open")).hint(
                format!("fix another finding with `glee fix F1 --run {run}`"),
            ),
        );
    }
    let names = findings
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" ");
    globals.say(format!(
        "The run continues as with `glee fix {names} --run {run}`"
    ));
    hand_over(globals, found, findings, outputs)
}

fn hand_over(
    globals: &Globals,
    found: RunFindings,
    findings: Vec<FindingId>,
    outputs: &Outputs,
) -> CommandResult {
    for id in &findings {
        found.finding(*id)?;
    }
    let settled: Vec<&SettledFinding> = found
        .outcome()
        .findings
        .iter()
        .filter(|finding| {
            let id = finding.finding.id;
            findings.iter().any(|given| given.addresses(id))
        })
        .collect();
    let findings: Vec<FindingId> = settled.iter().map(|finding| finding.finding.id).collect();
    settled
        .iter()
        .try_for_each(|finding| refuse_settled(finding, found.outcome().dispute_of(finding)))?;
    found.require_end()?;
    for settled in &settled {
        globals.say(printable::line(&settled.finding.headline()));
    }
    let reviewed = &found.recorded.reviewed;
    let mut files: Vec<_> = settled
        .iter()
        .filter_map(|settled| {
            reviewed
                .file(settled.finding.round, settled.finding.raw.file.as_deref()?)
                .cloned()
        })
        .collect();
    files.dedup_by(|a, b| a.path == b.path);
    let RunFindings {
        workspace,
        journal,
        run,
        ..
    } = found;
    let ContinuedRun {
        recalled,
        tree,
        reports,
    } = lookup::continue_run(globals, workspace, &journal, &run, None)?;
    drop(journal);
    let Recalled {
        settings,
        mut plan,
        events,
        ..
    } = recalled;
    let workspace = Arc::clone(&tree.workspace);
    let request = review::fix_request(&settings, &plan, &events, findings.clone(), &files)?;
    request.add_agents(&mut plan);
    let agents = execute::programs_of(&plan, &[], &workspace)?;
    let outputs = &reports.put_aside(workspace.root(), outputs)?;
    let context = CommandContext {
        outputs,
        mode: Mode::Fix,
        chosen: None,
        globals,
        findings: &findings,
        filter: None,
        subject: None,
    };
    let fix = execute::fix_command(globals, &plan);
    let exit = execute::review(
        &context,
        workspace,
        settings,
        agents,
        &run,
        &fix,
        |setup, resolver| review::fix(setup, resolver, run.clone(), request),
    );
    tree.leave(globals, &run);
    exit
}

/// Fails if the finding is implemented, if a ruling has closed the finding, or if a dispute about the finding is
/// open.
pub(super) fn refuse_settled(
    settled: &SettledFinding,
    dispute: Option<&Dispute>,
) -> Result<(), CommandError> {
    let id = settled.finding.id;
    match (&settled.state, dispute) {
        (FindingState::Discarded, Some(dispute)) => Err(ruled(id, &dispute.number.into())),
        (
            FindingState::AlreadyRuled {
                dispute,
                disposition,
            },
            _,
        ) if disposition.closes() => Err(ruled(id, dispute)),
        (FindingState::Dismissed { dispute }, _) => Err(ruled(id, &(*dispute).into())),
        (FindingState::Disputed { dispute }, _) => Err(CommandError::usage(format!(
            "the finding {id} waits for a decision on dispute {dispute}"
        ))
        .hint(format!(
            "settle the dispute first: `glee disputes resolve {dispute}`"
        ))),
        (FindingState::Resolved | FindingState::Unchecked, _) => Err(implemented(settled)),
        (
            FindingState::Open
            | FindingState::Unanswered
            | FindingState::Claimed
            | FindingState::Unconfirmed
            | FindingState::NotResolved
            | FindingState::Reverted
            | FindingState::Discarded
            | FindingState::Enforced { .. }
            | FindingState::AlreadyRuled { .. },
            _,
        ) => Ok(()),
    }
}
