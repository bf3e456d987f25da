//! `glee trust`: records that the user allows this project's configuration to run programs.

use serde_json::json;

use crate::cli::context::{CommandResult, ConfigTarget, Globals, pretty, print};
use glee_model::domain::ExitReason;
use glee_protocol::{secrets, text::printable};
use glee_store::config;
use glee_store::config::files::paths;
use glee_store::config::trust::Store;

/// Allow this project's configuration to run programs
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  glee trust --show
  glee trust

A project's .glee/config.yml can use embedded agents, supported programs and known runners of tests without trust. The \
following parts require trust, and require trust again after each change: commands of other programs, arguments, adapters, \
env, review.verify, other runners, watch.notify, notify.command, advisories.url, files of the project that one of these commands \
runs, and the templates in .glee/prompts. Rules under .glee are data and require no trust. In CI, pass the hash: `--trust \
blake3:...`")]
pub(crate) struct Args {
    /// Print the parts of the configuration that need trust, and the hash of these parts
    #[arg(long, group = "what")]
    show: bool,
    /// List the trusted configurations of all projects
    #[arg(long, group = "what")]
    list: bool,
    /// Withdraw the trust in this project's configuration
    #[arg(long, group = "what", conflicts_with = "json")]
    revoke: bool,
    /// Print JSON instead of text (with `--show` or `--list`)
    #[arg(long, requires = "what")]
    json: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let target = ConfigTarget::find(globals, false)?;
    let places = &target.places;
    let store = Store::new(&places.state);
    if args.list {
        return if args.json {
            print(secrets::redact(&pretty(&store.list()?)))
        } else {
            list(&store)
        };
    }
    if args.revoke {
        globals.say(match store.revoke(&places.root)? {
            0 => "nothing of this project was trusted",
            _ => "this project is no longer trusted",
        });
        return Ok(ExitReason::Clean);
    }
    let text = target.read()?.unwrap_or_default();
    let content = config::check_text(
        &places.sources(globals),
        target.owner,
        Some(&target.name),
        &text,
    )?;
    if args.show && args.json {
        let (runs, hash) = content.map(|content| (content.runs, content.hash)).unzip();
        let trusted = hash
            .as_ref()
            .map(|hash| store.trusts(&places.root, hash))
            .transpose()?
            .unwrap_or(true);
        let shown = json!({ "trusted": trusted, "hash": hash, "runs": runs.unwrap_or_default() });
        return print(secrets::redact(&pretty(&shown)));
    }
    let Some(content) = content else {
        globals.say(format!(
            "{} runs nothing that needs trust",
            paths::PROJECT_FILE
        ));
        return Ok(ExitReason::Clean);
    };
    let trusted = store.trusts(&places.root, &content.hash)?;
    if args.show {
        let state = if trusted { "trusted" } else { "not trusted" };
        let runs = content.runs.join("\n");
        return print(format!(
            "{}\n{} ({state})\n",
            secrets::redact(&runs),
            content.hash
        ));
    }
    store.trust(&places.root, &content)?;
    let root = places.root.display();
    let runs = content.runs.join("\n  ");
    globals.say(format!("trusted in {root}:\n  {runs}\n{}", content.hash));
    globals.say("next: glee review");
    Ok(ExitReason::Clean)
}

fn list(store: &Store) -> CommandResult {
    for record in store.list()? {
        let project = printable::line(&record.project.display().to_string());
        let runs: String = record
            .runs
            .iter()
            .map(|run| format!("  {}\n", printable::line(run)))
            .collect();
        let runs = secrets::redact(&runs);
        print(format!(
            "{project}\n{runs}  {} since {}\n",
            record.hash, record.at
        ))?;
    }
    Ok(ExitReason::Clean)
}
