//! `glee stats audit`: asks another judge about a sample of dismissed findings, without changing a ruling.

use std::fmt::Write as _;
use std::sync::Arc;

use jiff::civil::Date;
use serde_json::json;

use crate::cli::commands::history::disputes::common;
use crate::cli::commands::history::stats::text::interval;
use crate::cli::context::{
    CommandError, CommandResult, Globals, JsonFlag, execute, history, names, number, place, print,
    settings, tell,
};
use crate::cli::report::formats::json::pretty;
use crate::cli::style::{self, Color, Style, count, thousands};
use crate::cli::ui::terminal::Terminal;
use glee_model::domain::{
    Agent, AuditPlan, Dispute, DisputeNumber, ExitReason, Role, RulingAudit, RulingWord,
};
use glee_model::rules::interval::Share;
use glee_protocol::text::printable;
use glee_store::config::settings::Settings;
use glee_workflows::audit::{self, AuditOutcome};
use glee_workflows::review::{Rest, RunSetup};
use glee_workflows::run::budget;

/// Ask another judge about a random sample of dismissed findings
#[derive(clap::Args)]
#[command(after_help = "\
The judge gets the recorded code and both sides of each dispute, but no earlier ruling. The sample excludes \
findings that this judge has dismissed, and dismissals that have expired. The audit changes no ruling. \
`glee stats` shows how often the judges agree. The same seed draws the same sample from the same history.

Examples:
  glee stats audit --dry-run
  glee stats audit --judge opus --sample 50 --seed 7

Exit codes: 0 audited, 4 the judge gave no ruling, 75 the budget or a rate limit is reached.")]
pub(crate) struct Args {
    /// The judge to ask [default: the first connected judge]
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
    /// The number of findings in the sample
    #[arg(long, value_name = "N", default_value = "20", value_parser = number::<usize>(1, 10_000))]
    sample: usize,
    /// The seed of the sample [default: random]
    #[arg(long, value_name = "N", value_parser = number::<u64>(0, u64::MAX))]
    seed: Option<u64>,
    /// Use only findings that were raised since this day (UTC): a date (2026-11-01), or an age (90d)
    #[arg(long, value_name = "DATE", value_parser = common::first_day)]
    since: Option<Date>,
    /// Print the sample without asking the judge
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    output: JsonFlag,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let (settings::Places { root: project, .. }, settings) =
        settings::runnable(globals, Vec::new())?;
    let judge = judge(&settings, args.judge.as_deref())?;
    let seed = args.seed.unwrap_or_else(audit::new_seed);
    let Some(journal) = history::open_read(globals, &workspace)? else {
        return tell(
            globals,
            "The history has no dismissal. Start a review with `glee review`.\n",
        );
    };
    let sample = audit::sample(
        &journal,
        &judge,
        args.sample,
        seed,
        args.since,
        &settings.rulings.max_age,
    )?;
    drop(journal);
    let report = Report {
        plan: sample.plan.clone(),
        unavailable: sample.unavailable,
        drawn: sample.disputes.clone(),
    };
    if sample.disputes.is_empty() || args.dry_run {
        return print(if args.output.json {
            report.json(None)
        } else {
            report.text(globals.style(), None)
        });
    }
    execute::require_sandbox(&settings)?;
    let state_dir = place::state_dir()?;
    place::refuse_inside(&workspace, &state_dir)?;
    let agents = execute::programs(std::slice::from_ref(&judge), &[], workspace.root())?;
    let journal = history::open(globals, &workspace)?;
    let terminal = Terminal::new(globals.screen());
    let sink = execute::sink(false, &terminal, false);
    let time_limit = settings.budget.duration;
    let workspace = Arc::new(workspace);
    let limits = settings.clone();
    let (outcome, cause) = execute::drive(time_limit, &terminal, None, |stop| {
        let templates = project.join(".glee").join("prompts");
        let setup = RunSetup {
            workspace,
            state_dir,
            journal,
            agents,
            settings,
            sink,
            stop,
            queue: None,
        };
        async move { audit::start(setup, &templates, sample).await }
    })?;
    let outcome = outcome?;
    print(if args.output.json {
        report.json(Some(&outcome))
    } else {
        report.text(globals.style(), Some(&outcome))
    })?;
    let has_ruling = outcome.audits.iter().any(|audit| audit.ruling.is_some());
    Ok(match outcome.rest {
        Rest::Stopped => cause.unwrap_or(ExitReason::Signal(2)),
        Rest::OverBudget => {
            let then = format!("repeat the command with `--seed {seed}`");
            budget::notices(&limits, &outcome.spent, &outcome.by_runs, &then)
                .iter()
                .for_each(|notice| globals.say(notice));
            ExitReason::Budget
        }
        Rest::Ended if outcome.violated => ExitReason::ReadOnlyViolation,
        Rest::Ended if !has_ruling => ExitReason::AgentFailed,
        Rest::Ended => ExitReason::Clean,
    })
}

fn judge(settings: &Settings, named: Option<&str>) -> Result<Agent, CommandError> {
    let mut judges = settings
        .agents
        .iter()
        .filter(|agent| agent.role == Role::Judge);
    let Some(named) = named else {
        return judges.next().cloned().ok_or_else(|| {
            CommandError::usage("no agent has the role `judge`")
                .hint("connect a judge that did not dismiss the findings: `glee connect <agent> --role judge`")
        });
    };
    let name = names::full(&settings.agents, named, Some(Role::Judge))?;
    let found = judges.find(|agent| agent.name.0 == name).cloned();
    found.ok_or_else(|| {
        CommandError::usage(format!(
            "no judge has the name `{}`",
            printable::line(named)
        ))
        .hint("give the name of an agent with the role judge; `glee agents` lists the agents")
    })
}

/// The values that the command prints about the audited sample.
struct Report {
    plan: AuditPlan,
    unavailable: u64,
    drawn: Vec<Dispute>,
}

impl Report {
    fn audit(outcome: Option<&AuditOutcome>, number: DisputeNumber) -> Option<&RulingAudit> {
        outcome?.audits.iter().find(|audit| audit.dispute == number)
    }

    fn agreed(outcome: &AuditOutcome) -> Share {
        let mut agreed = 0;
        let mut decided = 0;
        for ruling in outcome.audits.iter().flat_map(|audit| &audit.ruling) {
            agreed += u64::from(ruling.ruling == RulingWord::Dismiss);
            decided += u64::from(ruling.ruling != RulingWord::Escalate);
        }
        Share::new(agreed, decided)
    }

    fn json(&self, outcome: Option<&AuditOutcome>) -> String {
        let drawn = self.drawn.iter().map(|dispute| {
            let number = dispute.number;
            let title = printable::line(&dispute.finding.raw.title);
            let audit = Self::audit(outcome, number);
            let ruling = audit.and_then(|audit| audit.ruling.as_ref());
            let error = audit.and_then(|audit| audit.error.as_ref());
            json!({ "dispute": number, "title": title, "ruling": ruling, "agrees": agrees(ruling.map(|it| it.ruling)),
                "error": error })
        });
        pretty(&json!({
            "schema": 1,
            "run": outcome.map(|outcome| &outcome.run),
            "judge": self.plan.judge.name,
            "seed": self.plan.seed,
            "population": self.plan.population,
            "unavailable": self.unavailable,
            "sample": drawn.collect::<Vec<_>>(),
            "agreed": outcome.map(Self::agreed),
            "calls": outcome.map(|outcome| outcome.spent.calls),
            "usage": outcome.map(|outcome| outcome.spent.usage),
        }))
    }

    fn text(&self, style: Style, outcome: Option<&AuditOutcome>) -> String {
        let judge = printable::line(&self.plan.judge.name.0);
        if self.drawn.is_empty() {
            let pruned = match self.unavailable {
                0 => String::new(),
                number => format!(" The code of {} was pruned.", count(number, "dismissal")),
            };
            let none = format!(
                "The history has no dismissal by a judge other than {judge} that can be audited.{pruned}\n"
            );
            return style::fit(&none, style.width);
        }
        let mut out = String::new();
        let number = self.drawn.len() as u64;
        let title = format!(
            "Audit of {} of {} by {judge}, seed {}",
            thousands(number),
            count(self.plan.population, "dismissal"),
            self.plan.seed
        );
        let _ = writeln!(out, "{}", style.strong(title));
        if self.unavailable > 0 {
            let _ = writeln!(
                out,
                "The code of {} was pruned, so other dismissals were drawn.",
                count(self.unavailable, "dismissal")
            );
        }
        let width = style::widest(self.drawn.iter().map(|dispute| dispute.number.to_string()));
        for dispute in &self.drawn {
            let number = dispute.number;
            let title = printable::line(&dispute.finding.raw.title);
            let audit = Self::audit(outcome, number);
            let said = audit.map(|audit| audit.ruling.as_ref().map(|ruling| ruling.ruling));
            let word = match said {
                None => String::new(),
                Some(None) => format!("{:<9}  ", "no ruling"),
                Some(Some(word)) => {
                    format!(
                        "{}  ",
                        style.paint(Color::of_ruling(word), &format!("{:<9}", word.as_str()))
                    )
                }
            };
            let line = format!("  dispute {number:>width$}  {word}{title}");
            let _ = writeln!(out, "{}", style.cut(&line, style.width));
        }
        let Some(outcome) = outcome else {
            let calls = count(number, "call");
            let _ = writeln!(
                out,
                "\nNo agent was called. Without `--dry-run`, {calls} will be made."
            );
            return out;
        };
        let share = Self::agreed(outcome);
        if let Some(interval) = interval(share) {
            let agreed = thousands(share.count);
            let all = count(share.of, "dismissal");
            let line = format!(
                "{judge} agrees with {agreed} of {all}: {interval}. No ruling was changed."
            );
            out.push('\n');
            style::paragraph(&mut out, style, "", &line);
        }
        let enforced = self.drawn.iter().find(|dispute| {
            Self::audit(Some(outcome), dispute.number)
                .and_then(|audit| audit.ruling.as_ref())
                .map(|it| it.ruling)
                == Some(RulingWord::Enforce)
        });
        if let Some(Dispute { number, .. }) = enforced {
            let line = format!(
                "Next: `glee disputes show {number}`; `glee disputes reopen {number}` revokes a ruling."
            );
            style::paragraph(&mut out, style, "", &line);
        }
        out
    }
}

fn agrees(word: Option<RulingWord>) -> Option<bool> {
    match word? {
        RulingWord::Dismiss => Some(true),
        RulingWord::Enforce => Some(false),
        RulingWord::Escalate => None,
    }
}
