//! `glee pr arbitrate`: rules on replies in the conversation of a pull request.

use super::connection::RequestOnHost;
use super::publish;
use super::session::{self, RequestSession};
use crate::cli::context::{CommandResult, Globals};

/// Have the judge rule on replies in the conversation of a pull request
#[derive(clap::Args)]
#[command(after_help = "\
If a member of the repository replies to a comment of Glee, the reply is an objection. The judge answers \
the objection with a ruling in the thread. A maintainer rules with `@glee enforce REASON` or \
`@glee dismiss REASON`; the author of the change cannot rule (see the key `pr.author_may_rule`). The \
rulings bind later reviews.

Exit codes: the same as for `glee pr publish`.

Examples:
  glee pr arbitrate 7
  glee pr arbitrate https://github.com/owner/repository/pull/7")]
pub(crate) struct Args {
    /// The pull request, by its number or address [default: the pull request of the CI job]
    #[arg(value_name = "N|URL", default_value = "", hide_default_value = true)]
    pr: String,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let on_host = RequestOnHost::open(&args.pr, globals)?;
    let run = session::newest_run(&on_host, globals)?;
    publish::publish(
        &mut RequestSession::open(on_host, &run, globals)?,
        None,
        globals,
    )
}
