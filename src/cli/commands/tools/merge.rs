//! `glee merge`: findings of several reviewers into one answer, offline.

use std::collections::HashMap;
use std::io::{self, BufRead, Read as _, Write};
use std::path::{Path, PathBuf};

use crate::cli::commands::history::runs::lookup;
use crate::cli::context::globals::Globals;
use crate::cli::context::input::{Input, unreadable};
use crate::cli::context::words::{POLICIES, one_of};
use crate::cli::context::{place, settings};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::json::pretty;
use crate::cli::ui::stream;
use crate::config::settings::Advisories;
use crate::domain::ExitReason;
use crate::protocol::claims::{self, MergeInput};
use crate::protocol::text::printable;
use crate::rules::consensus;
use crate::rules::consensus::claim::{Claim, Policy};
use crate::workflows::review::recorded::view;
use crate::workspace::advisories::check;
use crate::workspace::code::anchors::Blocks;
use crate::workspace::code::citation;
use crate::workspace::root::Workspace;

/// Arguments of `glee merge`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Reads reviewers' findings as JSON: {\"model\", \"file\", \"findings\": [{\"severity\", \"confidence\", \"line\",
\"title\", \"description\", \"suggestion\"}]}, several of these after another or in a list, and the
messages of a debate: {\"model\", \"round\": 2, \"responses\": [...]}, {\"model\", \"round\": 3, \"defenses\": [...]}.
Files that exist below this folder are read for the functions around the findings.

Examples:
  glee merge claude.json codex.json gemini.json
  glee merge --policy specification - < findings.json
  glee merge --batch < runs.jsonl > answers.jsonl
  glee merge --run last --policy specification    decide a recorded run again; nobody is asked")]
pub(crate) struct Args {
    /// JSON files; `-` or nothing: standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Take and give one run a line
    #[arg(long)]
    batch: bool,
    /// Decide a recorded run again: its id, the first or last digits of it, or `last`
    #[arg(long, value_name = "RUN", conflicts_with_all = ["files", "batch"])]
    run: Option<String>,
    /// How to decide
    #[arg(long, value_parser = one_of(POLICIES), value_name = "POLICY", default_value = "panel")]
    policy: Policy,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    if let Some(run) = &args.run {
        return recorded(run, args.policy, globals);
    }
    let mut bench = Bench { policy: args.policy, tree: Tree::around(globals)? };
    let stdin = vec![PathBuf::from("-")];
    let files = if args.files.is_empty() { &stdin } else { &args.files };
    if args.batch {
        for file in files {
            batch(&mut bench, file, globals)?;
        }
        return Ok(ExitReason::Clean);
    }
    let mut text = String::new();
    for file in files {
        let Input { name, mut reader } = Input::open(globals, Some(file))?;
        reader.read_to_string(&mut text).map_err(|error| unreadable(&name, error))?;
        text.push('\n');
    }
    let mut dossier = claims::read(&text).map_err(|error| not_findings(&error.to_string()))?;
    drop(text);
    bench.answer(&mut dossier, true, &mut io::stdout().lock())?;
    Ok(ExitReason::Clean)
}

/// Decides a recorded run again, one answer a round.
fn recorded(run: &str, policy: Policy, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let (journal, run) = lookup::find(globals, &workspace, run)?;
    let decided = view::decided_again(&workspace, &journal, &run, policy)?;
    for answer in decided {
        stream::out(&pretty(&answer))?;
    }
    Ok(ExitReason::Clean)
}

/// Answers line by line, as they come.
fn batch(bench: &mut Bench, file: &Path, globals: &Globals) -> Result<(), CommandError> {
    let Input { name, reader } = Input::open(globals, Some(file))?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (number, line) in (1_u64..).zip(reader.lines()) {
        let line = line.map_err(|error| unreadable(&name, error))?;
        if line.trim().is_empty() {
            continue;
        }
        let mut dossier = claims::read(&line).map_err(|error| not_findings(&format!("line {number}: {error}")))?;
        if !bench.answer(&mut dossier, false, &mut out)? {
            break;
        }
    }
    Ok(())
}

fn not_findings(why: &str) -> CommandError {
    CommandError::usage(format!("these are no findings: {why}")).hint("`glee merge --help` shows the form")
}

struct Bench {
    policy: Policy,
    tree: Tree,
}

impl Bench {
    /// Writes the answer, and returns whether somebody still reads it.
    fn answer(
        &mut self,
        dossier: &mut MergeInput,
        is_pretty: bool,
        out: &mut dyn Write,
    ) -> Result<bool, CommandError> {
        for problem in &dossier.problems {
            stream::err(&format!("warning: {}\n", printable::line(problem)));
        }
        self.tree.check(dossier)?;
        let merged = consensus::merge(&dossier.claims, &dossier.debate, &[], self.policy);
        let answer = merged.answer(&dossier.claims, &dossier.debate, self.policy, dossier.id.as_deref());
        let to_text = if is_pretty { serde_json::to_string_pretty } else { serde_json::to_string };
        let text = to_text(&answer).map_err(io::Error::from)?;
        let written = writeln!(out, "{}", printable::json(text)).and_then(|()| out.flush());
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            written => Ok(written.map(|()| true)?),
        }
    }
}

/// The code around the command, as far as it is there.
struct Tree {
    workspace: Option<Workspace>,
    advisories: Advisories,
    /// The files that findings named, by the path as written.
    texts: HashMap<String, Option<String>>,
}

impl Tree {
    fn around(globals: &Globals) -> Result<Self, CommandError> {
        let loaded = settings::settings(globals, Vec::new())?.1;
        let mut advisories = loaded.settings.advisories;
        if loaded.untrusted.is_some() && advisories.url.take().is_some() {
            stream::err(
                "warning: the project is not trusted, so `advisories.url` is not asked; see `glee trust`\n",
            );
        }
        Ok(Self { workspace: Workspace::discover(&globals.directory()).ok(), advisories, texts: HashMap::new() })
    }

    /// Checks the claims about files that exist here, and those that name packages against the advisories.
    fn check(&mut self, dossier: &mut MergeInput) -> Result<(), CommandError> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let mut by_file: HashMap<String, Vec<&mut Claim>> = HashMap::new();
        for claim in &mut dossier.claims {
            if let Some(file) = claim.file.clone() {
                by_file.entry(file).or_default().push(claim);
            }
        }
        for (file, claims) in by_file {
            let text = self.texts.entry(file.clone()).or_insert_with(|| workspace.read(&file));
            let Some(text) = text else { continue };
            let blocks = Blocks::of(&file, text);
            claims.into_iter().for_each(|claim| citation::check(claim, text, &blocks));
        }
        Ok(check::check(&mut dossier.claims, workspace, &self.advisories)?)
    }
}
