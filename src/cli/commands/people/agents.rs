//! `glee agents`: lists connected agents with their programs and versions, and prints JSON schemas for authors of
//! agents.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::check::NO_AGENT;
use crate::cli::context::{
    CommandResult, Globals, JsonFlag, Places, execute, pretty, print, settings, stream,
};
use crate::cli::style::{self, Color, Style};
use glee_agents::error::AgentError;
use glee_agents::probe::locate;
use glee_agents::{AdapterKind, Agents};
use glee_model::domain::{Agent, AgentName, ExitReason, Known, Role};
use glee_protocol::calls::kind::JsonForm;
use glee_protocol::{request, secrets, text::printable};
use glee_store::config::programs;
use glee_workflows::review;

/// List connected agents, or check each with a call
#[derive(clap::Args)]
#[command(after_help = "\
Glee prints the version of each supported program, and marks missing programs.

Examples:
  glee agents                               list the connected agents
  glee agents --check                       ask each agent a harmless question, at a small cost
  glee agents --known                       list the programs that Glee can call
  glee agents --json | jq '.[].program'
  glee agents schema request                the input of agents with the adapter `json`")]
pub(crate) struct Args {
    #[command(flatten)]
    output: JsonFlag,
    /// Run every agent in a temporary folder, ask one harmless question, and print whether the agent works and
    /// what the call costs
    #[arg(long)]
    check: bool,
    /// List the programs that Glee knows, and whether each is installed
    #[arg(long, conflicts_with = "check")]
    known: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// List the connected agents (the default command)
    List(JsonFlag),
    /// Print the JSON Schema of a request or of an answer, for agents with the adapter `json`
    Schema {
        /// The kind of message to describe
        #[arg(default_value = "request", value_parser = forms())]
        form: JsonForm,
    },
}

fn forms() -> impl TypedValueParser<Value = JsonForm> {
    let names = request::forms().map(|form| PossibleValue::new(form.name).help(form.about));
    PossibleValuesParser::new(names).try_map(|name| {
        let mut forms = request::forms();
        forms
            .find(|form| form.name == name)
            .ok_or("there is no such form")
    })
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        Some(Command::Schema { form, .. }) => print_json(&(form.schema)()),
        None if args.known => known(&args.output, globals),
        None if args.check => super::check::run(&args.output, globals),
        Some(Command::List(output)) => list(output, globals),
        None => list(&args.output, globals),
    }
}

fn list(output: &JsonFlag, globals: &Globals) -> CommandResult {
    let loaded = settings::load(globals)?;
    let root = Places::find(globals)?.root;
    let agents = execute::unchecked(loaded.settings.agents.len())?;
    // In an untrusted project, Glee locates the agents' programs on the disk but does not execute them.
    let trusted = loaded.untrusted.is_none();
    // A panel without three judges is an error of the review; here all of its judges count as used.
    let ruling = review::judges(&loaded.settings).ok();
    let rows = loaded.settings.agents.iter().map(|agent| {
        let rules = |judges: &Vec<&Agent>| judges.iter().any(|judge| judge.name == agent.name);
        let is_used = agent.role != Role::Judge || ruling.as_ref().is_none_or(rules);
        row(&agents, agent, &root, trusted, is_used)
    });
    let rows = execute::runtime()?.block_on(futures_util::future::join_all(rows));
    if output.json {
        return print_json(&rows);
    }
    if rows.is_empty() {
        globals.say(NO_AGENT);
    }
    stream::out(secrets::redact(&table(&rows, globals.table_style())))?;
    if !trusted {
        globals.say("this project is not trusted, so Glee did not run the agents' programs to find their versions; see `glee trust`");
    }
    Ok(ExitReason::Clean)
}

/// A program that Glee can call.
#[derive(Serialize)]
struct KnownProgram<'a> {
    name: &'a str,
    /// Whether the program itself was tested, or follows its documentation.
    known: Known,
    adapter: &'a str,
    login: &'a str,
    /// The variables that the program is handed, beside those that every agent gets.
    pass: &'a [String],
    /// The folders that the program reads and writes in every role.
    folders: &'a [String],
    program: Option<PathBuf>,
}

fn known(output: &JsonFlag, globals: &Globals) -> CommandResult {
    let path = std::env::var_os("PATH");
    let root = std::env::current_dir().unwrap_or_default();
    let rows: Vec<KnownProgram<'_>> = programs::all()
        .iter()
        .map(|profile| KnownProgram {
            name: &profile.name,
            known: profile.known.unwrap_or(Known::Described),
            adapter: AdapterKind::parse(&profile.name).map_or("text", AdapterKind::as_str),
            login: &profile.login,
            pass: &profile.pass,
            folders: &profile.folders,
            program: locate::find(std::slice::from_ref(&profile.name), &root, path.as_deref()).ok(),
        })
        .collect();
    if output.json {
        return print_json(&rows);
    }
    let heads = ["NAME", "KNOWN", "PROGRAM", "LOGIN"];
    let cells = rows.iter().map(|row| {
        let program = row.program.as_ref();
        [
            row.name.to_owned(),
            match row.known {
                Known::Tested => "tested".to_owned(),
                Known::Described => "described".to_owned(),
            },
            program.map_or_else(
                || "-".to_owned(),
                |path| printable::line(&path.display().to_string()),
            ),
            row.login.to_owned(),
        ]
    });
    print(globals.table_style().listing(heads, cells, &[]))
}

fn print_json(value: &impl Serialize) -> CommandResult {
    print(secrets::redact(&pretty(value)))
}

/// Omits the agent's environment variables, because their values may be secret.
#[derive(Serialize)]
struct Row<'a> {
    name: &'a AgentName,
    role: Role,
    /// Whether it is called: one judge rules, or the three of the panel.
    used: bool,
    command: &'a [String],
    adapter: &'a str,
    domain: &'a [String],
    focus: &'a [String],
    model: Option<&'a str>,
    program: Option<PathBuf>,
    version: Option<String>,
    missing: Option<Missing>,
}

#[derive(Serialize)]
struct Missing {
    error: String,
    hint: Option<String>,
}

async fn row<'a>(
    agents: &Agents,
    agent: &'a Agent,
    root: &Path,
    trusted: bool,
    used: bool,
) -> Row<'a> {
    let (program, missing) = match agents.program(agent, root) {
        // Glee itself runs the agent, so no program is printed.
        Ok(_)
            if [AdapterKind::Builtin, AdapterKind::Address]
                .iter()
                .any(|kind| agent.adapter == kind.as_str()) =>
        {
            (None, None)
        }
        Ok(program) => (Some(program), None),
        Err(AgentError { message, hint, .. }) => (
            None,
            Some(Missing {
                error: message,
                hint,
            }),
        ),
    };
    let version = if trusted {
        agents.version(agent, root).await
    } else {
        None
    };
    Row {
        name: &agent.name,
        role: agent.role,
        used,
        command: &agent.command,
        adapter: &agent.adapter,
        domain: &agent.domain,
        focus: &agent.focus,
        model: agent.model.as_deref(),
        program,
        version,
        missing,
    }
}

const HEADER: [&str; 6] = ["NAME", "ROLE", "COMMAND", "FOR", "VERSION", "PROGRAM"];

fn table(rows: &[Row<'_>], style: Style) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let head = std::iter::once(HEADER.map(ToOwned::to_owned));
    let lines = style.rows(&head.chain(rows.iter().map(cells)).collect::<Vec<_>>(), &[]);
    let mut text = lines[0].clone();
    for (row, line) in rows.iter().zip(&lines[1..]) {
        text.push_str(line);
        if let Some(Missing { error, hint }) = &row.missing {
            let missing = style.paint(Color::Bad, "missing");
            let _ = writeln!(text, "  {missing}: {}", printable::line(error));
            if let Some(hint) = hint {
                let _ = writeln!(text, "  hint: {}", printable::line(hint));
            }
        }
    }
    style::fit(&text, style.width)
}

fn shown(text: &str) -> String {
    if text.is_empty() {
        "-".to_owned()
    } else {
        printable::line(text)
    }
}

fn cells(row: &Row<'_>) -> [String; 6] {
    let program = match (&row.program, &row.missing) {
        (Some(path), _) => path.display().to_string(),
        (None, Some(_)) => "missing".to_owned(),
        (None, None) => "built in".to_owned(),
    };
    [
        shown(&row.name.0),
        if row.used {
            row.role.to_string()
        } else {
            format!("{} (not used)", row.role)
        },
        shown(&row.command.join(" ")),
        shown(&[row.domain, row.focus].concat().join(", ")),
        row.version
            .as_deref()
            .map_or_else(|| "-".to_owned(), style::version),
        shown(&program),
    ]
}
