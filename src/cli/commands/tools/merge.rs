//! `glee merge`: merges the findings of several reviewers into one answer, without calling agents.

use std::collections::HashMap;
use std::io::{self, BufRead, Read as _, Write};
use std::path::{Path, PathBuf};

use crate::cli::commands::history::runs::lookup;
use crate::cli::context::{
    CommandError, CommandResult, Globals, Input, POLICIES, one_of, pretty, print, settings, stream,
    unreadable,
};
use glee_model::domain::ExitReason;
use glee_model::rules::consensus::{self, Answers, Member, Policy};
use glee_protocol::merge_input::{self, MergeInput};
use glee_protocol::text::printable;
use glee_store::config::settings::Advisories;
use glee_workflows::review::recorded::view;
use glee_workspace::advisories::check;
use glee_workspace::code::{anchors::Blocks, citation};
use glee_workspace::root::Workspace;

/// Merge findings of several reviewers into one answer, offline
#[derive(clap::Args)]
#[command(after_help = "\
Glee reads the findings of reviewers as JSON: {\"model\", \"file\", \"findings\": [{\"severity\", \"confidence\",
 \"line\", \"title\", \"description\", \"suggestion\", \"cwe\"}], \"code\": {PATH: TEXT}}, several objects in \
sequence or in a list, and the messages of a debate: {\"model\", \"round\": 2, \"responses\": [...]}, {\"model\", \"round\": 3, \"defenses\": [...]}. \
Glee reads the reviewed files from \"code\", or else below the current folder, to find the function around each \
finding. The answer lists the pairs of findings that may name the same defect as \"unsure\".

Examples:
  glee merge claude.json codex.json gemini.json
  glee merge --policy specification - < findings.json
  glee merge --batch < runs.jsonl > answers.jsonl
  glee merge --run last --policy specification   decide a recorded run again, without calls")]
pub(crate) struct Args {
    /// The JSON files with findings, or `-` for standard input [default: -]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Read one set of findings per line, and print one result per line
    #[arg(long)]
    batch: bool,
    /// Merge the findings of this recorded run again (the run's id, the first or last digits of the id, or
    /// `last`)
    #[arg(long, value_name = "RUN", conflicts_with_all = ["files", "batch"])]
    run: Option<String>,
    /// The rules by which findings are merged
    #[arg(long, value_parser = one_of(POLICIES), value_name = "POLICY", default_value = "panel")]
    policy: Policy,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    if let Some(run) = &args.run {
        return recorded(run, args.policy, globals);
    }
    let mut merger = Merger::new(args.policy, globals)?;
    let stdin = vec![PathBuf::from("-")];
    let files = if args.files.is_empty() {
        &stdin
    } else {
        &args.files
    };
    if args.batch {
        for file in files {
            batch(&mut merger, file, globals)?;
        }
        return Ok(ExitReason::Clean);
    }
    let mut text = String::new();
    for file in files {
        let Input { name, mut reader } = Input::open(globals, Some(file))?;
        reader
            .read_to_string(&mut text)
            .map_err(|error| unreadable(&name, error))?;
        text.push('\n');
    }
    let mut input = read(&text, "")?;
    drop(text);
    merger.answer(&mut input, true, &mut io::stdout().lock())?;
    Ok(ExitReason::Clean)
}

fn recorded(run: &str, policy: Policy, globals: &Globals) -> CommandResult {
    let (workspace, journal, run) = lookup::find(globals, run)?;
    print(
        view::decided_again(&workspace, &journal, &run, policy)?
            .iter()
            .map(pretty)
            .collect::<String>(),
    )
}

fn batch(merger: &mut Merger, file: &Path, globals: &Globals) -> Result<(), CommandError> {
    let Input { name, reader } = Input::open(globals, Some(file))?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (number, line) in (1_u64..).zip(reader.lines()) {
        let line = line.map_err(|error| unreadable(&name, error))?;
        if line.trim().is_empty() {
            continue;
        }
        let mut input = read(&line, &format!("line {number}: "))?;
        if !merger.answer(&mut input, false, &mut out)? {
            break;
        }
    }
    Ok(())
}

fn not_findings(place: &str, why: &str) -> CommandError {
    CommandError::usage(format!("cannot read findings from the input: {place}{why}"))
        .hint("`glee merge --help` describes the input")
}

fn read(text: &str, place: &str) -> Result<MergeInput, CommandError> {
    let input = merge_input::read(text).map_err(|error| not_findings(place, &error.to_string()))?;
    for problem in &input.problems {
        stream::err(format!("warning: {}\n", printable::line(problem)));
    }
    if !input.is_reviewed() {
        return Err(not_findings(place, "no reviewer states a result"));
    }
    Ok(input)
}

struct Merger {
    policy: Policy,
    /// The work tree, or `None` if the command runs outside of a work tree.
    workspace: Option<Workspace>,
    advisories: Advisories,
    /// Maps a path to the content of the file, or to `None` if the file cannot be read.
    texts: HashMap<String, Option<String>>,
}

impl Merger {
    fn new(policy: Policy, globals: &Globals) -> Result<Self, CommandError> {
        let loaded = settings::load(globals)?;
        let mut advisories = loaded.settings.advisories;
        if loaded.untrusted.is_some() && advisories.url.take().is_some() {
            stream::err(
                "warning: the project is not trusted, so `advisories.url` is not queried; see `glee trust`\n",
            );
        }
        let workspace = Workspace::discover(&globals.directory()).ok();
        Ok(Self {
            policy,
            workspace,
            advisories,
            texts: HashMap::new(),
        })
    }

    /// Merges `input` and writes the answer. Returns false if the reader has closed the output.
    fn answer(
        &mut self,
        input: &mut MergeInput,
        is_pretty: bool,
        out: &mut dyn Write,
    ) -> Result<bool, CommandError> {
        self.check(input)?;
        let merged = consensus::merge(
            &input.members,
            &input.debate,
            &[],
            self.policy,
            &Answers::default(),
        );
        let answer = merged.answer(
            &input.members,
            &input.debate,
            self.policy,
            input.id.as_deref(),
        );
        let to_text = if is_pretty {
            serde_json::to_string_pretty
        } else {
            serde_json::to_string
        };
        let text = to_text(&answer).map_err(io::Error::from)?;
        let written = writeln!(out, "{}", printable::json(text)).and_then(|()| out.flush());
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            written => Ok(written.map(|()| true)?),
        }
    }

    fn check(&mut self, input: &mut MergeInput) -> Result<(), CommandError> {
        let mut by_file: HashMap<String, Vec<&mut Member>> = HashMap::new();
        for member in &mut input.members {
            if let Some(file) = member.raw.file.clone() {
                by_file.entry(file).or_default().push(member);
            }
        }
        for (file, members) in by_file {
            let read = || self.workspace.as_ref()?.read(&file);
            let text = match input.code.get(&file) {
                Some(text) => Some(text),
                None => self.texts.entry(file.clone()).or_insert_with(read).as_ref(),
            };
            let Some(text) = text else { continue };
            let blocks = Blocks::of(&file, text);
            members
                .into_iter()
                .for_each(|member| citation::check(member, text, &blocks));
        }
        match &self.workspace {
            Some(workspace) => Ok(check::check(
                &mut input.members,
                workspace,
                &self.advisories,
            )?),
            None => Ok(()),
        }
    }
}
