//! `glee doctor`: checks the setup, and prints the information for a bug report. The information contains no
//! secrets. If some information cannot be read, the command prints the error instead.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use super::checks;
use crate::cli::context::{
    CommandError, CommandResult, Globals, JsonFlag, Places, execute, history, pretty, print,
    settings,
};
use crate::cli::style;
use glee_agents::process::{own_process, sandbox};
use glee_agents::{AdapterKind, Agents, ProcessRunner};
use glee_model::domain::Agent;
use glee_protocol::{secrets, text::printable};
use glee_store::config::{self, Loaded, Origin};

/// Check the setup, and print data for a bug report
#[derive(clap::Args)]
#[command(after_help = "\
Environment variables, including variables from the configuration, are listed without values.

Examples:
  glee doctor
  glee doctor -v > report.txt          write the data for a bug report to a file")]
pub(crate) struct Args {
    #[command(flatten)]
    output: JsonFlag,
}

/// The names of the environment variables that affect Glee or an agent start with these prefixes.
const VARIABLES: &str = "GLEE_ ANTHROPIC_ CLAUDE_ OPENAI_ CODEX_ GEMINI_ GOOGLE_ OPENCODE_ QWEN_ COPILOT_ GH_TOKEN \
    GITHUB_TOKEN HTTP http NO_COLOR CI TERM LANG XDG_";

/// The value of an option is secret if the name of the option contains one of these words.
const SECRETS: [&str; 4] = ["key", "token", "secret", "password"];

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let places = Places::find(globals)?;
    let programs = Agents::new(Arc::new(ProcessRunner::new()?)).remembering(&places.state);
    let runtime = execute::runtime()?;
    // Each started program needs open files, so Glee raises the limit of open files before the checks start.
    let files = own_process::provide_open_files(0);
    let loaded = settings::load(globals);
    let checks = runtime.block_on(checks::all(globals, &places, &programs, loaded.as_ref()));
    if args.output.json {
        return print(secrets::redact(&pretty(&checks)));
    }
    let mut text = checks::text(&checks, globals.table_style());
    if std::io::stdout().is_terminal() && globals.verbose == 0 {
        let more = "`glee doctor -v` also prints the data for a bug report.\n";
        text.push_str(&style::fit(more, globals.style().width));
        return print(secrets::redact(&text));
    }
    let _ = writeln!(text, "\nglee       {}", env!("CARGO_PKG_VERSION"));
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    say(&mut text, "system", &system);
    let git = runtime.block_on(programs.version_of("git", &places.root));
    if let Err(error) = &files {
        say(&mut text, "files", &error.to_string());
    }
    let no_git = if files.is_ok() {
        "not found"
    } else {
        "could not be run"
    };
    let layers = sandbox::layers();
    let on = |on: bool| if on { "yes" } else { "no" };
    let namespaces = on(sandbox::makes_namespaces(Path::new("/proc/self/exe")));
    let landlock = on(layers.landlock);
    let subreaper = on(layers.subreaper);
    let mut variables: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| VARIABLES.split(' ').any(|prefix| name.starts_with(prefix)))
        .collect();
    if variables.is_empty() {
        variables.push("none".to_owned());
    }
    for (name, what) in [
        ("git", git.unwrap_or_else(|| no_git.to_owned())),
        (
            "sandbox",
            format!("landlock {landlock}, namespaces {namespaces}, subreaper {subreaper}"),
        ),
        ("project", places.root.display().to_string()),
        ("state", places.state.display().to_string()),
        ("identity", readable(history::identity(globals))),
        ("history", readable(history::summary(globals))),
        ("logs", logs(globals)),
        ("variables", variables.join(" ")),
    ] {
        say(&mut text, name, &what);
    }
    match loaded {
        Ok(loaded) => {
            configuration(&mut text, &loaded);
            let trusted = loaded.untrusted.is_none();
            for agent in &loaded.settings.agents {
                text.push_str(&runtime.block_on(about(&programs, agent, &places, trusted)));
            }
            for (name, rest) in programs.cooldowns(Timestamp::now()) {
                let _ = writeln!(
                    text,
                    "cooldown   {name} until {:.0}: {}",
                    rest.until,
                    printable::line(&rest.why)
                );
            }
        }
        Err(error) => text.push_str(&format!(
            "settings   cannot be read:\n{}",
            error.render(false)
        )),
    }
    print(secrets::redact(&text))
}

fn readable(found: Result<String, CommandError>) -> String {
    found.unwrap_or_else(|error| {
        format!(
            "cannot be read: {}",
            error.render(false).lines().next().unwrap_or_default()
        )
    })
}

fn logs(globals: &Globals) -> String {
    match history::last_log(globals) {
        Ok(Some(path)) => format!(
            "{} (the log of the last run; `glee runs show --log RUN` prints the log of a run)",
            path.display()
        ),
        Ok(None) => "no run yet".to_owned(),
        Err(_) => "unknown, because the history cannot be read".to_owned(),
    }
}

fn shown(path: &Option<PathBuf>) -> String {
    match path {
        Some(path) => printable::line(&path.display().to_string()),
        None => "none".to_owned(),
    }
}

fn configuration(text: &mut String, loaded: &Loaded) {
    let trust = if loaded.untrusted.is_some() {
        " (not trusted)"
    } else {
        ""
    };
    let _ = writeln!(text, "project's  {}{trust}", shown(&loaded.project_file));
    let _ = writeln!(text, "user's     {}", shown(&loaded.user_file));
    for (key, setting) in &loaded.values {
        if setting.origin == Origin::Default || key.starts_with("agents.") {
            continue;
        }
        let value = config::flow(&setting.value);
        let _ = writeln!(
            text,
            "setting    {key} = {} ({})",
            printable::line(&value),
            setting.origin.label()
        );
    }
}

fn say(text: &mut String, name: &str, what: &str) {
    let _ = writeln!(text, "{name:10} {}", printable::line(what));
}

async fn about(programs: &Agents, agent: &Agent, places: &Places, trusted: bool) -> String {
    let adapter =
        AdapterKind::of(agent).map_or_else(|error| error.message, |kind| kind.to_string());
    let mut text = format!(
        "agent      {} ({}, {})\n",
        printable::line(&agent.name.0),
        agent.role,
        printable::line(&adapter)
    );
    say(&mut text, "  command", &masked(&agent.command).join(" "));
    match programs.program(agent, &places.root) {
        Ok(path) => say(&mut text, "  program", &path.display().to_string()),
        Err(error) => say(&mut text, "  program", &error.message),
    }
    let version = if trusted {
        programs.version(agent, &places.root).await
    } else {
        None
    };
    say(
        &mut text,
        "  version",
        version.as_deref().unwrap_or("unknown"),
    );
    for (name, value) in [
        ("  model", agent.model.clone()),
        (
            "  effort",
            agent.effort.map(|effort| effort.as_str().to_owned()),
        ),
        ("  backup", agent.backup.as_ref().map(ToString::to_string)),
        (
            "  sets",
            Some(agent.env.keys().cloned().collect::<Vec<_>>().join(" "))
                .filter(|names| !names.is_empty()),
        ),
    ] {
        if let Some(value) = value {
            say(&mut text, name, &value);
        }
    }
    text
}

fn is_secret(word: &str) -> bool {
    let word = word.to_lowercase();
    word.starts_with('-') && SECRETS.iter().any(|part| word.contains(part))
}

fn masked(command: &[String]) -> Vec<String> {
    let mut hide = false;
    command
        .iter()
        .map(|word| {
            if std::mem::take(&mut hide) {
                return "***".to_owned();
            }
            match word.split_once('=') {
                Some((name, _)) if is_secret(name) => format!("{name}=***"),
                Some(_) => word.clone(),
                None => {
                    hide = is_secret(word);
                    word.clone()
                }
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_a_command_is_not_told() {
        let command =
            ["x", "--api-key", "sk-1", "--token=t", "--model=m", "-v"].map(ToOwned::to_owned);
        assert_eq!(
            masked(&command),
            ["x", "--api-key", "***", "--token=***", "--model=m", "-v"]
        );
    }
}
