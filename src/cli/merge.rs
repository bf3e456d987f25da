//! `glee merge`: findings of several reviewers into one answer, offline.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};

use super::error::{CommandError, CommandResult};
use super::words::{POLICIES, one_of};
use super::{Globals, load, runs, sitting};
use crate::config::settings::Advisories;
use crate::domain::ExitReason;
use crate::files;
use crate::pipeline;
use crate::protocol::claims::{self, Dossier};
use crate::protocol::printable;
use crate::report::json::pretty;
use crate::rules::consensus::{self, Policy};
use crate::ui::stream;
use crate::workspace::blocks::Blocks;
use crate::workspace::{Workspace, advisories, citation};

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
        open(file, globals)
            .and_then(|mut input| input.read_to_string(&mut text))
            .map_err(|error| unreadable(file, error))?;
        text.push('\n');
    }
    let mut dossier = claims::read(&text).map_err(|error| not_findings(&error.to_string()))?;
    drop(text);
    bench.answer(&mut dossier, Form::Pretty, &mut io::stdout().lock())?;
    Ok(ExitReason::Clean)
}

/// Decides a recorded run again, one answer a round.
fn recorded(run: &str, policy: Policy, globals: &Globals) -> CommandResult {
    let workspace = sitting::workspace(globals)?;
    let (journal, run) = runs::find(globals, &workspace, run)?;
    let decided = pipeline::decided_again(&workspace, &journal, &run, policy)?;
    for answer in decided {
        stream::out(&pretty(&answer))?;
    }
    Ok(ExitReason::Clean)
}

/// Answers line by line, as they come.
fn batch(bench: &mut Bench, file: &Path, globals: &Globals) -> Result<(), CommandError> {
    let input = open(file, globals).map_err(|error| unreadable(file, error))?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (number, line) in (1_u64..).zip(input.lines()) {
        let line = line.map_err(|error| unreadable(file, error))?;
        if line.trim().is_empty() {
            continue;
        }
        let mut dossier = claims::read(&line).map_err(|error| not_findings(&format!("line {number}: {error}")))?;
        if !bench.answer(&mut dossier, Form::Line, &mut out)? {
            break;
        }
    }
    Ok(())
}

fn open(file: &Path, globals: &Globals) -> io::Result<Box<dyn BufRead>> {
    if file == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    Ok(Box::new(BufReader::new(files::input(&globals.directory().join(file))?)))
}

fn unreadable(file: &Path, error: io::Error) -> CommandError {
    let name = if file == Path::new("-") { "standard input".to_owned() } else { format!("`{}`", file.display()) };
    CommandError::caused(format!("failed to read {name}"), error)
}

fn not_findings(why: &str) -> CommandError {
    CommandError::usage(format!("these are no findings: {why}")).hint("`glee merge --help` shows the form")
}

/// How an answer is written.
#[derive(Clone, Copy)]
enum Form {
    Pretty,
    Line,
}

/// What answers are made with.
struct Bench {
    policy: Policy,
    tree: Tree,
}

impl Bench {
    /// Writes the answer, and returns whether somebody still reads it.
    fn answer(&mut self, dossier: &mut Dossier, form: Form, out: &mut dyn Write) -> Result<bool, CommandError> {
        for problem in &dossier.problems {
            stream::err(&format!("warning: {}\n", printable::line(problem)));
        }
        self.tree.check(dossier)?;
        let merged = consensus::merge(&dossier.claims, &dossier.debate, &[], self.policy);
        let answer = merged.answer(&dossier.claims, &dossier.debate, self.policy, dossier.id.as_deref());
        let mut lines = Lines { rest: Vec::new(), out };
        let written = match form {
            Form::Pretty => serde_json::to_writer_pretty(&mut lines, &answer),
            Form::Line => serde_json::to_writer(&mut lines, &answer),
        };
        let written = written.map_err(io::Error::from).and_then(|()| lines.end());
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            written => Ok(written.map(|()| true)?),
        }
    }
}

/// The bytes of an answer that are held back at least.
const PIECE: usize = 1 << 18;

/// JSON on its way out, some whole lines at a time, made harmless for a terminal.
struct Lines<'a> {
    rest: Vec<u8>,
    out: &'a mut dyn Write,
}

impl Lines<'_> {
    fn put(&mut self, end: usize) -> io::Result<()> {
        let rest = self.rest.split_off(end);
        let text = String::from_utf8(std::mem::replace(&mut self.rest, rest)).map_err(io::Error::other)?;
        self.out.write_all(printable::json(text).as_bytes())
    }

    fn end(mut self) -> io::Result<()> {
        self.rest.push(b'\n');
        self.put(self.rest.len())?;
        self.out.flush()
    }
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        if self.rest.len() >= PIECE
            && let Some(line) = bytes.iter().rposition(|byte| *byte == b'\n')
        {
            self.put(self.rest.len() - bytes.len() + line + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
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
        let loaded = load::settings(globals, Vec::new())?.1;
        let mut advisories = loaded.settings.advisories;
        if loaded.untrusted.is_some() && advisories.url.take().is_some() {
            stream::err(
                "warning: the project is not trusted, so `advisories.url` is not asked; see `glee trust`\n",
            );
        }
        Ok(Self { workspace: Workspace::discover(&globals.directory()).ok(), advisories, texts: HashMap::new() })
    }

    /// Checks the claims about files that exist here, and those that name packages against the advisories.
    fn check(&mut self, dossier: &mut Dossier) -> Result<(), CommandError> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let mut by_file: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, claim) in dossier.claims.iter().enumerate() {
            if let Some(file) = &claim.file {
                by_file.entry(file).or_default().push(index);
            }
        }
        let by_file: Vec<(String, Vec<usize>)> =
            by_file.into_iter().map(|(file, claims)| (file.to_owned(), claims)).collect();
        for (file, claims) in by_file {
            let text = self.texts.entry(file.clone()).or_insert_with(|| workspace.read(&file));
            let Some(text) = text else { continue };
            let blocks = Blocks::of(&file, text);
            for index in claims {
                citation::check(&mut dossier.claims[index], text, &blocks);
            }
        }
        Ok(advisories::check(&mut dossier.claims, workspace, &self.advisories)?)
    }
}
