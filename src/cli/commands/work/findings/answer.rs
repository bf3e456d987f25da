//! `glee answer`: records the answer of a coder that Glee did not start.

use std::process::Stdio;

use clap::builder::NonEmptyStringValueParser;

use super::{RunFindings, RunOption, finding_word, fix, ruled};
use crate::cli::commands::history::runs::lookup::{self, Recalled};
use crate::cli::context::{
    CommandContext, CommandError, CommandResult, Globals, ReportOutputs, Words, detached, execute,
    one_of, place,
};
use crate::cli::report::paths::WorkFolder;
use glee_model::domain::event::Mode;
use glee_model::domain::{Answer, Disposition, FindingId, FindingState, Role, SettledFinding};
use glee_protocol::text::printable;
use glee_workflows::review::{self, answer::CallerAnswer};
use glee_workspace::root::Workspace;

/// Answer a finding as its coder: you implemented it, or you disagree
#[derive(clap::Args)]
#[command(after_help = "\
An agent that called `glee review` answers the findings with this command; so can a person who changes the code. The \
answer is a run of its own, with the coder `caller`. `implemented` is checked: the code of the finding must have changed \
since its review, and the reviewers that raised it are asked whether the change resolves it. `disagree` opens a dispute \
about a mandatory finding, and the judge rules; it discards an optional finding. The caller does not rule, and does \
not choose who does.

Examples:
  glee answer F12 implemented
  glee answer F12 disagree --reason 'the value is a constant' --evidence src/db.rs:7

Exit codes: 0 the finding is closed, 1 it is still open, 3 its dispute waits for a person; otherwise the codes of `glee \
review`.")]
pub(crate) struct Args {
    /// The number of the finding, such as F3, or at least four digits of its id
    #[arg(value_name = "FINDING", value_parser = finding_word)]
    finding: String,
    /// The answer
    #[arg(value_name = "ANSWER", value_parser = one_of(ANSWERS))]
    answer: Answer,
    /// Why you disagree, or what you changed
    #[arg(long, value_name = "TEXT", required_if_eq("answer", "disagree"), value_parser = NonEmptyStringValueParser::new())]
    reason: Option<String>,
    /// Code that supports the answer, as `PATH:LINE` (repeatable)
    #[arg(long, value_name = "PATH:LINE")]
    evidence: Vec<String>,
    #[command(flatten)]
    run: RunOption,
    /// Let the answer be checked in the background: print the id of its run as soon as its start is recorded (see `glee
    /// runs wait`)
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    report: ReportOutputs,
}

const ANSWERS: Words<Answer> = &[
    ("implemented", Answer::Implemented, "You changed the code"),
    (
        "disagree",
        Answer::Disagree,
        "The finding is wrong, or need not be fixed",
    ),
];

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let outputs = args.report.check(globals)?;
    if args.detach && globals.detached.is_none() {
        return detached::start_again(globals, &outputs, Stdio::null());
    }
    let globals = &globals.silent_if(outputs.is_silent());
    let (found, ids) = RunFindings::with(globals, [&args.finding], &args.run)?;
    found.require_end()?;
    let answered = answerable(&found, &ids, args.answer)?;
    let folder = place::work_folder(globals, &found.workspace);
    let evidence = args
        .evidence
        .iter()
        .map(|word| evidence(word, &found.workspace, &folder))
        .collect::<Result<Vec<String>, _>>()?;
    let round = answered[0].finding.round;
    let given = CallerAnswer {
        from: found.run.clone(),
        findings: answered
            .iter()
            .map(|settled| settled.finding.clone())
            .collect(),
        reviewed: found.recorded.reviewed.files(round).cloned().collect(),
        answer: args.answer,
        reason: args.reason.clone().unwrap_or_default().into(),
        evidence: evidence.into_iter().map(Into::into).collect(),
    };
    for settled in &answered {
        globals.say(printable::line(&settled.finding.headline()));
    }
    let RunFindings {
        workspace,
        journal,
        run: raised_by,
        ..
    } = found;
    let recalled = lookup::recall(globals, workspace, &journal, &raised_by, None)?;
    drop(journal);
    let Recalled {
        workspace,
        mut settings,
        mut plan,
        judges,
        ..
    } = recalled;
    if let Some(request) = &plan.pull_request {
        let message = format!("{} was raised in a pull request", args.finding);
        return Err(CommandError::usage(message).hint(format!(
            "reply to the comment in {}; `glee pr arbitrate {}` has the judge rule",
            printable::line(&request.link),
            request.number
        )));
    }
    review::answer::settings(&mut settings);
    let names: Vec<String> = given
        .findings
        .iter()
        .map(|finding| finding.id.to_string())
        .collect();
    plan.target = format!("answer to {}", names.join(", "));
    plan.agents.retain(|agent| agent.role != Role::Coder);
    plan.agents.extend(judges);
    if args.answer == Answer::Implemented {
        plan.agents.retain(|agent| agent.role == Role::Reviewer);
    }
    plan.comparers.clear();
    plan.own.clear();
    plan.skipped.clear();
    plan.staged = None;
    plan.on_dispute = None;
    let agents = execute::programs_of(&plan, &[], &workspace)?;
    let fix = execute::fix_command(globals, &plan);
    let run = detached::new_run(globals);
    let context = CommandContext {
        outputs: &outputs,
        // Glee does not edit the tree, so the answer does not lock it.
        mode: Mode::Review,
        chosen: None,
        globals,
        findings: &[],
        filter: None,
        subject: None,
    };
    execute::review(
        &context,
        workspace,
        settings,
        agents,
        &run,
        &fix,
        |setup, resolver| review::answer::start(setup, resolver, run.clone(), plan, given),
    )
}

/// The findings of the group that can be answered. Fails if there is none.
fn answerable<'a>(
    found: &'a RunFindings,
    ids: &[FindingId],
    answer: Answer,
) -> Result<Vec<&'a SettledFinding>, CommandError> {
    let mut answerable = Vec::new();
    let mut refused = None;
    for id in ids {
        let settled = found.finding(*id)?;
        match refuse(found, settled, answer) {
            Ok(()) => answerable.push(settled),
            Err(error) => drop(refused.get_or_insert(error)),
        }
    }
    match refused {
        Some(error) if answerable.is_empty() => Err(error),
        _ => Ok(answerable),
    }
}

fn refuse(
    found: &RunFindings,
    settled: &SettledFinding,
    answer: Answer,
) -> Result<(), CommandError> {
    let id = settled.finding.id;
    match &settled.state {
        FindingState::Enforced { dispute } if answer == Answer::Disagree => {
            Err(ruled(id, &(*dispute).into()))
        }
        FindingState::AlreadyRuled {
            dispute,
            disposition: Disposition::Enforced,
        } if answer == Answer::Disagree => Err(ruled(id, dispute)),
        _ => fix::refuse_settled(settled, found.outcome().dispute_of(settled)),
    }
}

/// Returns the place with its path relative to the root of the tree. Fails if the tree has no such line.
fn evidence(
    word: &str,
    workspace: &Workspace,
    folder: &WorkFolder,
) -> Result<String, CommandError> {
    let (path, line) = word
        .rsplit_once(':')
        .ok_or_else(|| wrong(word, "is not of the form `PATH:LINE`"))?;
    let (first, last) = line.split_once('-').unwrap_or((line, line));
    let range = first.parse::<usize>().ok().zip(last.parse::<usize>().ok());
    let (first, last) = range
        .filter(|(first, last)| (1..=*last).contains(first))
        .ok_or_else(|| wrong(word, "is not of the form `PATH:LINE`"))?;
    let path = folder.in_tree(path);
    let text = workspace
        .read(&path)
        .ok_or_else(|| wrong(word, "names no readable file of the tree"))?;
    if last > text.lines().count() {
        return Err(wrong(word, "names a line that the file does not have"));
    }
    Ok(if first == last {
        format!("{path}:{first}")
    } else {
        format!("{path}:{first}-{last}")
    })
}

fn wrong(word: &str, why: &str) -> CommandError {
    let word = printable::line(word);
    CommandError::usage(format!("the evidence `{word}` {why}"))
        .hint("name a line of a file in the tree, such as `--evidence src/db.rs:7`")
}
