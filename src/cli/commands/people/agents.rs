//! `glee agents`: list connected agents: is the program there, which version; print the schemas for agents of one's
//! own.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Subcommand;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use crate::agents::error::AgentError;
use crate::agents::process::own_process;
use crate::agents::schema::SchemaForm;
use crate::agents::{AdapterKind, Agents, ProcessRunner};
use crate::cli::context::globals::Globals;
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::ui::stream;
use crate::cli::{report, style};
use crate::domain::{Agent, AgentName, ExitReason, Role};
use crate::protocol::secrets;
use crate::protocol::text::printable;

/// Arguments of `glee agents`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Known programs are asked for their version. A program that is missing is said so in its row.

Examples:
  glee agents                               who is connected
  glee agents --check                       ask each one harmless question; costs a little
  glee agents --json | jq '.[].program'
  glee agents schema request                what an agent with the adapter `json` reads")]
pub(crate) struct Args {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    /// Ask every agent one harmless question in a folder of its own, and print what it really did and cost
    #[arg(long, conflicts_with = "json")]
    check: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the JSON Schema of what an agent with the adapter `json` reads or answers
    Schema {
        /// Which form
        #[arg(default_value = "request", value_parser = forms())]
        form: SchemaForm,
    },
}

fn forms() -> impl TypedValueParser<Value = SchemaForm> {
    let names = SchemaForm::ALL.map(|(_, name, about, _)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(names).try_map(|name| SchemaForm::parse(&name).ok_or("there is no such form"))
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        Some(Command::Schema { form }) => print_json(&form.schema())?,
        None if args.check => return super::check::run(globals),
        None => list(args, globals)?,
    }
    Ok(ExitReason::Clean)
}

fn list(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let (places, loaded) = crate::cli::context::settings::settings(globals, Vec::new())?;
    own_process::provide_open_files(loaded.settings.agents.len())?;
    let agents = Agents::new(Arc::new(ProcessRunner::new()?)).remembering(&places.state);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // What an untrusted project names is found, but not run.
    let trusted = loaded.untrusted.is_none();
    let rows = loaded.settings.agents.iter().map(|agent| row(&agents, agent, &places.root, trusted));
    let rows = runtime.block_on(futures_util::future::join_all(rows));
    if args.json {
        return print_json(&rows);
    }
    if rows.is_empty() && !globals.quiet {
        stream::err("no agent is connected; connect one with `glee connect <agent> --role <role>`\n");
    }
    stream::out(&secrets::redact(&table(&rows, globals.color_stdout())))?;
    if !trusted && !globals.quiet {
        stream::err("this project is not trusted, so no program was asked for its version; see `glee trust`\n");
    }
    Ok(())
}

fn print_json(value: &impl Serialize) -> Result<(), CommandError> {
    Ok(stream::out(&secrets::redact(&report::json::pretty(value)))?)
}

/// A connected agent and what is known of its program. The values of its variables are nobody's business here.
#[derive(Debug, Serialize)]
struct Row<'a> {
    name: &'a AgentName,
    role: Role,
    command: &'a [String],
    adapter: &'a str,
    domain: &'a [String],
    focus: &'a [String],
    model: Option<&'a str>,
    program: Option<PathBuf>,
    version: Option<String>,
    missing: Option<Missing>,
}

/// Why a program cannot be run, and what to do about it.
#[derive(Debug, Serialize)]
struct Missing {
    error: String,
    hint: Option<String>,
}

async fn row<'a>(agents: &Agents, agent: &'a Agent, root: &Path, trusted: bool) -> Row<'a> {
    let (program, missing) = match agents.program(agent, root) {
        // An embedded agent's program is Glee itself, wherever it lies.
        Ok(_) if agent.adapter == AdapterKind::Builtin.as_str() => (None, None),
        Ok(program) => (Some(program), None),
        Err(AgentError { message, hint, .. }) => (None, Some(Missing { error: message, hint })),
    };
    let version = if trusted { agents.version(agent, root).await } else { None };
    Row {
        name: &agent.name,
        role: agent.role,
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

const HEADER: [&str; 6] = ["NAME", "ROLE", "COMMAND", "FOR", "PROGRAM", "VERSION"];

fn table(rows: &[Row<'_>], color: bool) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let head = std::iter::once(HEADER.map(ToOwned::to_owned));
    let lines = style::table(&head.chain(rows.iter().map(cells)).collect::<Vec<_>>(), &[]);
    let mut text = format!("{}\n", lines[0]);
    let (red, reset) = if color { ("\x1b[31m", "\x1b[0m") } else { ("", "") };
    for (row, line) in rows.iter().zip(&lines[1..]) {
        let _ = writeln!(text, "{line}");
        if let Some(Missing { error, hint }) = &row.missing {
            let _ = writeln!(text, "  {red}missing{reset}: {}", printable::line(error));
            if let Some(hint) = hint {
                let _ = writeln!(text, "  hint: {}", printable::line(hint));
            }
        }
    }
    text
}

fn cells(row: &Row<'_>) -> [String; 6] {
    let shown = |text: &str| if text.is_empty() { "-".to_owned() } else { printable::line(text) };
    [
        shown(&row.name.0),
        row.role.to_string(),
        shown(&row.command.join(" ")),
        shown(&[row.domain, row.focus].concat().join(", ")),
        shown(&program(row)),
        shown(row.version.as_deref().unwrap_or_default()),
    ]
}

fn program(row: &Row<'_>) -> String {
    match (&row.program, &row.missing) {
        (Some(path), _) => path.display().to_string(),
        (None, Some(_)) => "missing".to_owned(),
        (None, None) => "built in".to_owned(),
    }
}
