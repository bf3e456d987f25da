//! `glee findings`, `glee show`, `glee answer`, `glee fix`, `glee dismiss` and `glee keep`: commands about findings of recorded runs.

pub(crate) mod answer;
pub(crate) mod dismiss;
pub(crate) mod fix;
pub(crate) mod keep;
pub(crate) mod list;
pub(crate) mod show;

use crate::cli::commands::history::runs::lookup;
use crate::cli::context::{CommandError, Globals, place};
use glee_model::domain::{FindingId, Outcome, RulingRef, RunId, SettledFinding};
use glee_store::history::store::Journal;
use glee_store::history::{JournalError, NamedProblem};
use glee_workflows::review::recorded::view::{self, Recorded};
use glee_workspace::root::Workspace;

// This struct has no doc comment, because clap would use the comment as the help of every command that flattens
// the struct.
#[derive(clap::Args)]
struct RunOption {
    /// The run that raised the finding: the run's id, the first or last digits of the id, or `last` [default: the newest
    /// run that raised the finding]
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
}

pub(crate) struct RunFindings {
    workspace: Workspace,
    journal: Journal,
    run: RunId,
    recorded: Recorded,
}

impl RunFindings {
    pub(crate) fn find(globals: &Globals, run: &str) -> Result<Self, CommandError> {
        let (workspace, journal, run) = lookup::find(globals, run)?;
        Self::of(workspace, journal, run)
    }

    fn of(workspace: Workspace, journal: Journal, run: RunId) -> Result<Self, CommandError> {
        let recorded = view::recorded(&workspace, &place::state_dir()?, &journal, &run)?;
        Ok(Self {
            workspace,
            journal,
            run,
            recorded,
        })
    }

    /// Finds the findings that the words `named` stand for. A number of a group stands for all members of the group.
    /// Without a run, takes the newest run that raised the findings.
    fn with<'a>(
        globals: &Globals,
        named: impl IntoIterator<Item = &'a String>,
        run: &RunOption,
    ) -> Result<(Self, Vec<FindingId>), CommandError> {
        let (workspace, journal) = lookup::open(globals)?;
        let mut problems = Vec::new();
        for word in named {
            problems.push(known(globals, &journal, word)?);
        }
        let run = match &run.run {
            Some(run) => journal.find_run(run)?,
            None => newest(&journal, &problems)?,
        };
        let found = Self::of(workspace, journal, run)?;
        let mut ids = Vec::new();
        for id in problems {
            ids.extend(found.members(id)?);
        }
        ids.sort();
        ids.dedup();
        Ok((found, ids))
    }

    pub(crate) fn outcome(&self) -> &Outcome {
        &self.recorded.outcome
    }

    fn finding(&self, id: FindingId) -> Result<&SettledFinding, CommandError> {
        let run = self.run.short();
        self.outcome().finding(id).ok_or_else(|| {
            CommandError::usage(format!("run {run} has no finding {id}")).hint(format!(
                "`glee runs show {run}` lists the findings of the run; `--run <run>` selects another \
                               run"
            ))
        })
    }

    /// The findings of the run that `id` addresses.
    fn members(&self, id: FindingId) -> Result<Vec<FindingId>, CommandError> {
        let mut names = self.journal.aliases(id)?;
        names.push(id);
        let findings = self.outcome().findings.iter();
        let members: Vec<FindingId> = findings
            .map(|settled| (settled.finding.id, settled.finding.was))
            .filter(|(member, was)| names.iter().any(|name| name.means(*member, *was)))
            .map(|(member, _)| member)
            .collect();
        if members.is_empty() {
            self.finding(id)?;
        }
        Ok(members)
    }

    /// The files that a finding of the run names.
    pub(crate) fn files_of(
        &self,
        globals: &Globals,
        word: &str,
    ) -> Result<Vec<Vec<u8>>, CommandError> {
        let id = known(globals, &self.journal, word)?;
        let mut files = Vec::new();
        for member in self.members(id)? {
            let named = self.finding(member)?.finding.raw.files();
            files.extend(named.map(|file| file.as_bytes().to_vec()));
        }
        Ok(files)
    }

    /// Fails if the run is still running or was interrupted.
    fn require_end(&self) -> Result<(), CommandError> {
        if view::is_ended(&self.journal.events(&self.run)?) {
            return Ok(());
        }
        let run = self.run.short();
        Err(
            CommandError::usage(format!("run {run} has not ended")).hint(format!(
                "wait until the run ends, or resume the run with `glee runs resume {run}`"
            )),
        )
    }
}

/// The id that `word` stands for. The findings of an interrupted run have no numbers in the history yet.
fn known(globals: &Globals, journal: &Journal, word: &str) -> Result<FindingId, CommandError> {
    match (journal.find_problem(word), FindingId::parse(word)) {
        (Ok(NamedProblem { id, alias }), _) => {
            if let Some(alias) = alias {
                globals.say(format!("note: {alias} is the same problem as {id}"));
            }
            Ok(id)
        }
        (Err(JournalError::UnknownFinding(_)), Some(id)) => Ok(id),
        (Err(error), _) => Err(error.into()),
    }
}

/// The newest run that raised the problems. Fails if there are several such runs.
fn newest(journal: &Journal, problems: &[FindingId]) -> Result<RunId, CommandError> {
    let mut runs: Vec<(FindingId, RunId)> = Vec::new();
    for id in problems {
        let run = match journal.last_run_with(*id)? {
            Some(run) => run,
            None => journal.find_run("last")?,
        };
        runs.push((*id, run));
    }
    let (first, run) = &runs[0];
    if let Some((other, of)) = runs.iter().find(|(_, of)| of != run) {
        let run = run.short();
        let of = of.short();
        return Err(CommandError::usage(format!(
            "{first} was raised last by run {run}, and {other} by run {of}"
        ))
        .hint("use a command for each run, or select the run with `--run <run>`"));
    }
    Ok(run.clone())
}

fn implemented(settled: &SettledFinding) -> CommandError {
    let id = settled.finding.id;
    CommandError::usage(format!("the finding {id} is already {}", settled.state))
        .hint("`glee findings` lists what is open")
}

fn ruled(id: FindingId, dispute: &RulingRef) -> CommandError {
    CommandError::usage(format!("dispute {dispute} has settled the finding {id}")).hint(format!(
        "to rule again, reopen the dispute with `glee disputes reopen {dispute}`"
    ))
}

fn finding_word(text: &str) -> Result<String, String> {
    let digits = text.trim();
    let is_key =
        (4..=16).contains(&digits.len()) && digits.chars().all(|digit| digit.is_ascii_hexdigit());
    if is_key || FindingId::parse(text).is_some() {
        Ok(digits.to_owned())
    } else {
        Err("give a number such as F3, or at least four digits of an id".to_owned())
    }
}
