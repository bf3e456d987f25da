//! `glee serve`: shows the history in a browser.

#[cfg(feature = "server")]
use std::net::SocketAddr;

use crate::cli::context::{CommandResult, Globals, number};
use crate::cli::serve;

/// Show runs, findings and disputes in a browser, and settle disputes there
#[derive(clap::Args)]
#[command(after_help = "\
Glee prints an address with a secret token. A browser can open the page only on this computer and only with \
the token. The page shows the events of running reviews as they happen. Ctrl-C ends the server, and the \
address then becomes invalid.

With `--service`, Glee receives the webhooks of hosts instead, and submits a review of each new head of a pull request to the \
workers of the server. GLEE_WEBHOOK_SECRET holds the secret with which the hosts sign. With GLEE_PROXY_SECRET, it also shows \
the pages of all repositories on the server, to the people whom a proxy with this secret signs in; docs/server.md says more.

Examples:
  glee serve
  glee serve --open
  glee serve --port 8080
  glee serve --service --listen 127.0.0.1:8080")]
pub(crate) struct Args {
    /// The port of the page [default: a free port]
    #[arg(long, value_name = "N", value_parser = number::<u16>(1, 65_535))]
    port: Option<u16>,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Receive webhooks of GitHub, GitLab, Gitea and Forgejo, submit reviews to the workers (see `glee worker`), and show
    /// the pages of all repositories
    #[cfg(feature = "server")]
    #[arg(long, conflicts_with_all = ["port", "open"])]
    service: bool,
    /// The address at which the service listens
    #[cfg(feature = "server")]
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        requires = "service",
        default_value = "127.0.0.1:8080"
    )]
    listen: SocketAddr,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    #[cfg(feature = "server")]
    if args.service {
        return serve::service::run(globals, args.listen);
    }
    serve::run(globals, args.port, args.open)
}
