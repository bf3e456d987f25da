//! `glee server`: sets up the database that keeps the histories of many machines.

use std::str::FromStr;

use clap::Subcommand;

use crate::cli::context::{CommandError, CommandResult, Globals, server};
use glee_model::domain::ExitReason;

/// Set up a PostgreSQL database for the histories of many machines
#[derive(clap::Args)]
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

#[derive(Subcommand)]
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
        permits: Bound<i32>,
    },
    /// Set what the runs of a tenant may cost in a month
    #[command(after_help = "\
Examples:
  glee server budget acme 500     no run begins after 500 USD in a month
  glee server budget acme off     any amount

What the runs of all machines in the repositories of the tenant cost counts, from the first day of the month (UTC). Submitted \
runs that no worker has taken then end with exit code 75; runs that have begun go on. Without tenants, all repositories are those \
of `glee_reader`. The address is that of the setting `server`, with a role that owns the tables of Glee.")]
    Budget {
        /// The role of the tenant
        #[arg(value_parser = tenant)]
        tenant: String,
        /// The amount, or `off`
        #[arg(value_name = "USD|off", value_parser = amount)]
        usd: Bound<f64>,
    },
}

/// A number, or `None` for any number.
#[derive(Clone, Copy)]
struct Bound<T>(Option<T>);

fn bound<T: FromStr>(text: &str, is_valid: fn(&T) -> bool) -> Option<Bound<T>> {
    match text {
        "off" => Some(Bound(None)),
        text => Some(Bound(Some(text.parse().ok().filter(is_valid)?))),
    }
}

fn permits(text: &str) -> Result<Bound<i32>, String> {
    bound(text, |permits| *permits > 0).ok_or_else(|| "give a number above 0, or `off`".to_owned())
}

fn amount(text: &str) -> Result<Bound<f64>, String> {
    bound(text, |usd: &f64| usd.is_finite() && *usd >= 0.0)
        .ok_or_else(|| "give an amount in USD such as 500, or `off`".to_owned())
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let (address, tenants) = match &args.command {
        Command::Init { address, tenants } => (address, tenants),
        Command::Limit { vendor, permits } => {
            server::required(globals)?.limit(vendor, permits.0)?;
            return Ok(ExitReason::Clean);
        }
        Command::Budget { tenant, usd } => {
            return if server::required(globals)?.budget(tenant, usd.0)? {
                Ok(ExitReason::Clean)
            } else {
                Err(CommandError::usage(format!("there is no tenant `{tenant}`"))
                    .hint("name one of `glee server init --tenants`; without tenants, name `glee_reader`"))
            };
        }
    };
    let server = match address {
        Some(address) => server::at(address)?,
        None => server::required(globals)?,
    };
    if server.set_up(tenants)? {
        globals.say(format!(
            "{server} is set up; let a role review with `GRANT glee_writer TO <role>`"
        ))
    } else {
        globals.say(format!("{server} was set up before"))
    }
    Ok(ExitReason::Clean)
}

fn tenant(text: &str) -> Result<String, String> {
    let is_valid = text.len() <= 63
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if is_valid {
        Ok(text.to_owned())
    } else {
        Err("a tenant is named by small letters, digits and `_`".to_owned())
    }
}
