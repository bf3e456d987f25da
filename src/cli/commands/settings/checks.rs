//! The checks of `glee doctor`. Each check examines a part of the setup and explains any problem.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cli::context::{CommandError, Globals, Places, history};
use crate::cli::style::{self, Glyph, Style};
use glee_agents::probe::login::{Login, login};
use glee_agents::process::sandbox;
use glee_agents::{AdapterKind, Agents};
use glee_model::domain::{Advice as _, Agent, Role};
use glee_protocol::text::printable;
use glee_store::config::choices::Sandbox;
use glee_store::config::settings::Settings;
use glee_store::config::{self, Loaded};

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Good,
    /// The checked part of the setup works, but with a limitation.
    Weak,
    Bad,
}

#[derive(Serialize)]
pub(super) struct DoctorCheck {
    name: String,
    state: State,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl DoctorCheck {
    fn new(name: &str, state: State, found: impl Into<String>, hint: Option<String>) -> Self {
        Self {
            name: name.to_owned(),
            state,
            found: found.into(),
            hint,
        }
    }

    fn good(name: &str, found: impl Into<String>) -> Self {
        Self::new(name, State::Good, found, None)
    }

    fn weak(name: &str, found: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(name, State::Weak, found, Some(hint.into()))
    }

    fn bad(name: &str, found: impl Into<String>, hint: Option<String>) -> Self {
        Self::new(name, State::Bad, found, hint)
    }

    fn failed(name: &str, error: &CommandError) -> Self {
        Self::bad(name, error.message(), error.advice().map(ToOwned::to_owned))
    }

    /// What a command reads of the setup.
    fn read(name: &str, found: Result<String, CommandError>) -> Self {
        match found {
            Ok(found) => Self::good(name, found),
            Err(error) => Self::failed(name, &error),
        }
    }
}

pub(super) async fn all(
    globals: &Globals,
    places: &Places,
    programs: &Agents,
    loaded: Result<&Loaded, &CommandError>,
) -> Vec<DoctorCheck> {
    let mut checks = vec![
        git(programs, places).await,
        DoctorCheck::read("repository", history::identity(globals)),
    ];
    match loaded {
        Ok(loaded) => {
            checks.push(sandbox_check(&loaded.settings));
            checks.push(settings(loaded));
            checks.push(trust(loaded));
            checks.push(roles(loaded));
            for agent in &loaded.settings.agents {
                checks.push(of_agent(programs, agent, places, loaded.untrusted.is_none()).await);
            }
        }
        Err(error) => checks.push(DoctorCheck::failed("settings", error)),
    }
    checks.push(DoctorCheck::read("history", history::summary(globals)));
    checks.extend(hook_of_codex(places));
    checks
}

/// Codex skips a hook that its user has not trusted, and says nothing. Glee cannot see whether the hook is trusted.
fn hook_of_codex(places: &Places) -> Option<DoctorCheck> {
    let is_set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let own = is_set("CODEX_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(is_set("HOME")?).join(".codex")));
    let folders = own.into_iter().chain([places.root.join(".codex")]);
    let mut files =
        folders.flat_map(|folder| [folder.join("hooks.json"), folder.join("config.toml")]);
    let has_hook = files.any(|file| {
        std::fs::read_to_string(file).is_ok_and(|text| text.contains("glee hook agent codex"))
    });
    has_hook.then(|| {
        DoctorCheck::weak(
            "hook of codex",
            "Codex runs the hook only if it is trusted, and skips it without a word otherwise",
            "trust the hook in Codex with `/hooks`",
        )
    })
}

async fn git(programs: &Agents, places: &Places) -> DoctorCheck {
    match programs.version_of("git", &places.root).await {
        Some(version) => DoctorCheck::good("git", style::version(&version)),
        None => DoctorCheck::bad(
            "git",
            "not found",
            Some("install git, and put it on PATH".to_owned()),
        ),
    }
}

fn sandbox_check(settings: &Settings) -> DoctorCheck {
    let layers = sandbox::layers();
    match (settings.sandbox, layers.landlock) {
        (Sandbox::Off, _) => DoctorCheck::weak(
            "sandbox",
            "turned off",
            "turn the sandbox on with `glee config set sandbox auto`",
        ),
        (_, true) if sandbox::makes_namespaces(Path::new("/proc/self/exe")) => DoctorCheck::good(
            "sandbox",
            "reviewers and judges cannot write to the tree, and read only their own part of your home folder",
        ),
        (_, true) => DoctorCheck::weak(
            "sandbox",
            without_namespaces(settings),
            "let your user create namespaces, or see the page on the sandbox for what they add",
        ),
        (Sandbox::Auto, false) => DoctorCheck::weak(
            "sandbox",
            "this system has no sandbox: reviewers and judges can read your home folder, and Glee detects changes by them \
             but cannot prevent them",
            "use Linux 6.2 or newer with Landlock",
        ),
        (Sandbox::Required, false) => DoctorCheck::bad(
            "sandbox",
            "required, but this system has no sandbox",
            Some("allow runs without a sandbox with `glee config set sandbox auto`".to_owned()),
        ),
    }
}

/// What the sandbox does not prevent on a system without namespaces.
fn without_namespaces(settings: &Settings) -> String {
    let codex = settings.agents.iter().find(|agent| {
        let kind = AdapterKind::of(agent);
        agent.role != Role::Coder && kind.is_ok_and(|kind| kind == AdapterKind::Codex)
    });
    match codex.filter(|_| settings.sandbox == Sandbox::Auto) {
        Some(codex) => format!(
            "without namespaces, `{}` (codex) has only its own sandbox and can read your home folder; other \
             reviewers and judges can read only their own part of it, but can change permissions of your files",
            codex.name
        ),
        None => "reviewers and judges cannot write to the tree, and read only their own part of your home folder; without \
                 namespaces they can change permissions of your files"
            .to_owned(),
    }
}

fn settings(loaded: &Loaded) -> DoctorCheck {
    if let Err(error) = config::check_names(&loaded.settings) {
        return DoctorCheck::bad("settings", error.to_string(), error.hint());
    }
    match (&loaded.project_file, &loaded.user_file) {
        (Some(file), _) | (None, Some(file)) => {
            DoctorCheck::good("settings", printable::line(&file.display().to_string()))
        }
        (None, None) => DoctorCheck::weak(
            "settings",
            "the defaults, because no configuration file exists",
            "set the project up with `glee init`",
        ),
    }
}

fn trust(loaded: &Loaded) -> DoctorCheck {
    match &loaded.untrusted {
        None => DoctorCheck::good("trust", "nothing waits for your trust"),
        Some(untrusted) => DoctorCheck::bad(
            "trust",
            format!(
                "the configuration is not trusted to run `{}`",
                untrusted.runs.join("`, `")
            ),
            Some("read it with `glee trust --show`, then run `glee trust`".to_owned()),
        ),
    }
}

fn roles(loaded: &Loaded) -> DoctorCheck {
    let agents = &loaded.settings.agents;
    let missing: Vec<&str> = [Role::Reviewer, Role::Coder, Role::Judge]
        .into_iter()
        .filter(|role| agents.iter().all(|agent| agent.role != *role))
        .map(Role::as_str)
        .collect();
    let connect =
        |role: &str| format!("connect an agent with `glee connect <agent> --role {role}`");
    match missing.as_slice() {
        [] => DoctorCheck::good("roles", "a coder, a reviewer and a judge are connected"),
        ["reviewer", ..] => DoctorCheck::bad(
            "roles",
            "no reviewer is connected",
            Some(connect("reviewer")),
        ),
        [role, ..] => DoctorCheck::weak(
            "roles",
            format!("no {} is connected", missing.join(" and no ")),
            connect(role),
        ),
    }
}

async fn of_agent(programs: &Agents, agent: &Agent, places: &Places, trusted: bool) -> DoctorCheck {
    let name = printable::line(&agent.name.0);
    if let Err(error) = programs.program(agent, &places.root) {
        return DoctorCheck::bad(&name, error.message, error.hint);
    }
    let is_known = AdapterKind::of(agent)
        .is_ok_and(|kind| kind == AdapterKind::Address || AdapterKind::PROGRAMS.contains(&kind));
    if !is_known {
        return DoctorCheck::good(&name, format!("{}, {}", agent.role, agent.adapter));
    }
    let version = if trusted {
        programs.version(agent, &places.root).await
    } else {
        None
    };
    let version = match (version, trusted) {
        (Some(version), _) => style::version(&version),
        (None, true) => {
            let hint = format!(
                "`{}` printed no version; run the command yourself",
                agent.command.join(" ")
            );
            return DoctorCheck::bad(
                &name,
                format!("{}, of an unknown version", agent.role),
                Some(hint),
            );
        }
        (None, false) => "version not checked in an untrusted project".to_owned(),
    };
    match login(agent) {
        Login::Found(source) => DoctorCheck::good(
            &name,
            format!("{}, {version}, login in {source}", agent.role),
        ),
        Login::Unknown => DoctorCheck::good(&name, format!("{}, {version}", agent.role)),
        Login::Missing(how) => DoctorCheck::weak(
            &name,
            format!("{}, {version}, no login was found", agent.role),
            how,
        ),
    }
}

pub(super) fn text(checks: &[DoctorCheck], style: Style) -> String {
    let widths = checks.iter().map(|check| check.name.chars().count());
    let width = widths.max().unwrap_or(0);
    let indent = width + 4;
    let mut text = String::new();
    for check in checks {
        let glyph = match check.state {
            State::Good => Glyph::Done,
            State::Weak => Glyph::Attention,
            State::Bad => Glyph::Failed,
        };
        let mut about = printable::line(&check.found);
        if let Some(hint) = &check.hint {
            about += &format!("\nhint: {}", printable::line(hint));
        }
        let mut head = format!("{} {:width$}  ", style.mark(glyph), check.name);
        for line in style::wrap(&about, style.width.saturating_sub(indent).max(20)) {
            text += &format!("{head}{line}\n");
            head = " ".repeat(indent);
        }
    }
    let number = |state| checks.iter().filter(|check| check.state == state).count();
    let nothing = match (number(State::Bad), number(State::Weak)) {
        (0, 0) => "Nothing is wrong here",
        (0, _) => "Nothing needed is wrong",
        (1, _) => return text + "1 problem to solve\n",
        (several, _) => return text + &format!("{several} problems to solve\n"),
    };
    let line = format!(
        "{nothing}. No agent was asked: `glee agents --check` asks each one harmless question.\n"
    );
    text + &style::fit(&line, style.width)
}
