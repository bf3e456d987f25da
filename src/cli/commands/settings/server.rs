//! `glee server`: sets up the database that keeps the histories of many machines.

use clap::Subcommand;

use crate::cli::context::{CommandResult, Globals, server};
use glee_model::domain::ExitReason;

/// Set up a PostgreSQL database for the histories of many machines
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  glee server init postgres://postgres@db/glee     create the tables and roles of Glee
  glee config set --user server postgres://alice@db/glee
  GLEE_SERVER=postgres://ci@db/glee glee review --base main

With the setting `server`, the runs, findings, disputes and rulings of a repository are recorded in the database, and all \
machines with the setting see them. docs/server.md says how to run it.")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create the tables and the roles `glee_writer` and `glee_reader` in a database
    #[command(after_help = "\
Examples:
  glee server init postgres://postgres@db/glee
  glee server init postgres://postgres@db/glee --tenants acme,beta

A person or a machine that reviews connects with a role that is a member of `glee_writer`; `glee_reader` only reads. With \
tenants, a repository belongs to the tenant whose member recorded it first, and only its members see it. An existing \
database keeps what it has.")]
    Init {
        /// The address of the database, with a role that may create roles and tables [default: the setting `server`]
        address: Option<String>,
        /// Roles whose members share repositories. Missing ones are created
        #[arg(long, value_name = "ROLES", value_delimiter = ',', value_parser = tenant)]
        tenants: Vec<String>,
    },
    /// Set how many requests to a vendor all workers make at once
    #[command(after_help = "\
Examples:
  glee server limit claude 16     no more than 16 requests at once
  glee server limit claude off    any number

The address is that of the setting `server`, with a role that owns the tables of Glee.")]
    Limit {
        /// A program that Glee knows, such as `claude`, the address of a model's server, or the file name of a command
        vendor: String,
        /// The maximum number, or `off`
        #[arg(value_name = "N|off", value_parser = permits)]
        permits: Permits,
    },
}

/// The maximum number of requests at once; `None` for any number.
#[derive(Clone, Copy, Debug)]
struct Permits(Option<i32>);

fn permits(text: &str) -> Result<Permits, String> {
    match text {
        "off" => Ok(Permits(None)),
        text => match text.parse() {
            Ok(permits @ 1..) => Ok(Permits(Some(permits))),
            _ => Err("give a number above 0, or `off`".to_owned()),
        },
    }
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let (address, tenants) = match &args.command {
        Command::Init { address, tenants } => (address, tenants),
        Command::Limit { vendor, permits } => {
            server::required(globals)?.limit(vendor, permits.0)?;
            return Ok(ExitReason::Clean);
        }
    };
    let server = match address {
        Some(address) => server::at(address)?,
        None => server::required(globals)?,
    };
    match server.set_up(tenants)? {
        true => globals.say(&format!(
            "{server} is set up; let a role review with `GRANT glee_writer TO <role>`"
        )),
        false => globals.say(&format!("{server} was set up before")),
    }
    Ok(ExitReason::Clean)
}

fn tenant(text: &str) -> Result<String, String> {
    let is_valid = text.len() <= 63
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    match is_valid {
        true => Ok(text.to_owned()),
        false => Err("a tenant is named by small letters, digits and `_`".to_owned()),
    }
}
