//! `glee serve`: shows the history in a browser.

use crate::cli::context::{CommandResult, Globals, number};
use crate::cli::serve;

/// Show runs, findings and disputes in a browser, and settle disputes there
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Glee prints an address with a secret token. A browser can open the page only on this computer and only with \
the token. The page shows the events of running reviews as they happen. Ctrl-C ends the server, and the \
address then becomes invalid.

Examples:
  glee serve
  glee serve --open
  glee serve --port 8080")]
pub(crate) struct Args {
    /// The port of the page [default: a free port]
    #[arg(long, value_name = "N", value_parser = number::<u16>(1, 65_535))]
    port: Option<u16>,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    serve::run(globals, args.port, args.open)
}
