//! Decides whose configuration controls a review.
//!
//! In continuous integration, a change is reviewed with the configuration of its base. On a person's machine, the
//! configuration in the tree applies, unless the review has a base and the tree's configuration loosens the review
//! against the base's. Without a base, the report says what the project loosens against the defaults and the user's
//! own configuration.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::cli::context::settings::{self, Places};
use crate::cli::context::{CommandError, Globals, execute};
use glee_builtin::rules::PROJECT_RULES;
use glee_model::domain::CodeContext;
use glee_model::domain::{AgentName, Loosened, RawFinding, Role, Severity, Tag};
use glee_protocol::prompts;
use glee_store::config::ConfigSources;
use glee_store::config::files::paths::{PROJECT_FILE, PROJECT_FOLDER};
use glee_store::config::files::rulings::is_shared;
use glee_store::config::settings::Settings;
use glee_workflows::review::loosening;
use glee_workspace::root::Workspace;
use glee_workspace::{ControlFiles, SelectOptions, TargetSpec};

const IGNORE: &str = ".gleeignore";

/// The settings of the command line, as pairs of a dotted key and a value.
type Flags = [(String, Value)];

/// Whether Glee runs in continuous integration. In continuous integration, a review can start before a person
/// has read the change.
fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|word| !matches!(word.as_str(), "" | "0" | "false"))
}

/// Whether a review compares a change with a base that the change cannot edit. A hook reviews what is about to leave
/// the machine, so the last commit is the base of staged changes.
fn has_base(spec: &TargetSpec, is_hook: bool) -> bool {
    match spec {
        TargetSpec::Base(_) | TargetSpec::Commit(_) | TargetSpec::Range(_) => true,
        TargetSpec::Staged => is_hook || is_ci(),
        TargetSpec::Uncommitted | TargetSpec::Diff { .. } => is_ci(),
        TargetSpec::Paths(_) => false,
    }
}

/// The base of a change, for its review.
pub(crate) struct Base {
    pub(crate) files: ControlFiles,
    /// Whether the configuration of the base controls the review, and not the configuration in the tree.
    pub(crate) steers: bool,
}

impl Base {
    /// The files that control the review in place of those in the tree.
    pub(crate) fn steering(&self) -> Option<&ControlFiles> {
        self.steers.then_some(&self.files)
    }
}

/// Finds the base of a change. `None` if the target is no change.
pub(crate) fn base(
    globals: &Globals,
    flags: &Flags,
    workspace: &mut Workspace,
    spec: &TargetSpec,
    is_hook: bool,
) -> Result<Option<Base>, CommandError> {
    if !has_base(spec, is_hook) {
        return Ok(None);
    }
    let Some(files) = workspace.control_files_of(spec)? else {
        return Ok(None);
    };
    // If both configurations are the same, trust needs the scripts of the base only.
    let steers =
        is_ci() || files.edited.is_empty() || loosens(globals, flags, workspace, spec, &files)?;
    Ok(Some(Base { files, steers }))
}

/// Returns the agents of `own`, which the project gives, whose commands run at the base. A command that the change adds
/// is not in the base, and runs in the tree.
pub(crate) fn at_base(
    globals: &Globals,
    workspace: &Workspace,
    base: &Base,
    settings: &Settings,
    mut own: BTreeSet<AgentName>,
) -> Result<BTreeSet<AgentName>, CommandError> {
    if base.steers {
        return Ok(own);
    }
    let places = Places::find(globals)?;
    let copy = execute::write_copy(&places, workspace, &base.files)?;
    let sources = ConfigSources {
        project_copy: Some(copy),
        ..places.sources(globals)
    };
    let before = settings::named(&sources).or_else(|_| without_project(&sources))?;
    own.retain(|name| {
        let now = settings.agents.iter().find(|agent| agent.name == *name);
        now.is_some_and(|now| {
            before.agents.iter().any(|agent| {
                (&agent.name, &agent.command, &agent.env) == (&now.name, &now.command, &now.env)
            })
        })
    });
    Ok(own)
}

/// Whether the configuration in the tree loosens the review against the configuration of the base.
fn loosens(
    globals: &Globals,
    flags: &Flags,
    workspace: &mut Workspace,
    spec: &TargetSpec,
    base: &ControlFiles,
) -> Result<bool, CommandError> {
    let mut edits_config = false;
    let mut edits_ignores = false;
    for path in &base.edited {
        let own = workspace.in_project(path);
        edits_config |= own == PROJECT_FILE;
        edits_ignores |= path.rsplit('/').next() == Some(IGNORE);
        // What another template or rule asks for cannot be compared. A rule that is only added loosens nothing.
        let is_rule = own.starts_with(PROJECT_RULES);
        if own.starts_with(&format!("{PROJECT_FOLDER}/prompts/")) || (is_rule && base.has(path)) {
            return Ok(true);
        }
    }
    if edits_config {
        let places = Places::find(globals)?;
        let sources = ConfigSources {
            flags: flags.to_vec(),
            ..places.sources(globals)
        };
        let now = settings::named(&sources)?;
        let copy = execute::write_copy(&places, workspace, base)?;
        let than = settings::named(&ConfigSources {
            project_copy: Some(copy),
            ..sources.clone()
        });
        // A configuration that cannot be read sets nothing.
        let than = than.or_else(|_| without_project(&sources))?;
        if !loosening::loosened(&now, &than).is_empty() {
            return Ok(true);
        }
    }
    Ok(edits_ignores
        && !workspace
            .hidden_files(spec, &any_size(), Some(base))?
            .is_empty())
}

/// Returns what the configuration in the tree loosens against the defaults and the user's own configuration.
/// `settings` are the settings of the tree.
pub(crate) fn loosened(
    globals: &Globals,
    flags: &Flags,
    workspace: &mut Workspace,
    settings: &Settings,
    spec: &TargetSpec,
) -> Result<Vec<Loosened>, CommandError> {
    let places = Places::find(globals)?;
    let sources = ConfigSources {
        flags: flags.to_vec(),
        ..places.sources(globals)
    };
    let mut found = Vec::new();
    if places.root.join(PROJECT_FILE).exists() {
        let since = workspace.last_change(&workspace.of_project(PROJECT_FILE))?;
        let than = without_project(&sources)?;
        let of_settings = loosening::loosened(settings, &than).into_iter();
        found.extend(of_settings.map(|loosened| Loosened {
            since: since.clone(),
            ..loosened
        }));
    }
    for name in prompts::names() {
        let path = workspace.of_project(&format!("{PROJECT_FOLDER}/prompts/{name}"));
        if workspace.root().join(&path).is_file() {
            let since = workspace.last_change(&path)?;
            let text = format!("the prompt `{}` is replaced", name.trim_end_matches(".md"));
            found.push(Loosened {
                since,
                ..Loosened::new(path, text)
            });
        }
    }
    found.extend(hidden(workspace, spec)?);
    Ok(found)
}

fn hidden(workspace: &mut Workspace, spec: &TargetSpec) -> Result<Option<Loosened>, CommandError> {
    let ignores = workspace.ignore_files()?;
    if ignores.is_empty() {
        return Ok(None);
    }
    let hidden = workspace.hidden_files(spec, &any_size(), None)?;
    let Some(first) = hidden.first() else {
        return Ok(None);
    };
    let text = match hidden.len() - 1 {
        0 => format!("`{first}` is hidden"),
        more => format!("`{first}` and {more} more are hidden"),
    };
    // The deepest ignore file above the first hidden file.
    let folder = |path: &str| path.strip_suffix(IGNORE).unwrap_or_default().to_owned();
    let above = ignores
        .iter()
        .filter(|path| first.starts_with(&folder(path)));
    let what = above.max_by_key(|path| path.len()).unwrap_or(&ignores[0]);
    let since = workspace.last_change(what)?;
    Ok(Some(Loosened {
        since,
        ..Loosened::new(what.clone(), text)
    }))
}

/// The settings of the user, the variables and the flags. The user's file can contain a part of an agent that only a
/// project completes. Then the measure is the defaults.
fn without_project(sources: &ConfigSources<'_>) -> Result<Settings, CommandError> {
    let own = ConfigSources {
        project_root: None,
        project_copy: None,
        ..sources.clone()
    };
    settings::named(&own).or_else(|_| {
        settings::named(&ConfigSources {
            user_file: None,
            ..own
        })
    })
}

/// A file that is larger is skipped, but not hidden.
fn any_size() -> SelectOptions {
    SelectOptions {
        max_file: 1 << 20,
        shard: u64::MAX,
        context: CodeContext::Files,
    }
}

/// The error if the reviewed change itself adds the project's configuration. Glee ignores such a configuration,
/// because a change must not choose its own reviewers.
pub(crate) fn added_config(steering: &ControlFiles, role: Role) -> CommandError {
    let base = short(&steering.base);
    CommandError::usage(format!(
        "no agent has the role `{role}`, because the base commit {base} has no `.glee/config.yml`"
    ))
    .hint(
        "merge `.glee/config.yml` in a separate change first, or review files instead of a change, for example with \
        `glee review .`; a change is reviewed with the configuration of its base commit",
    )
}

fn short(commit: &str) -> String {
    commit.chars().take(12).collect()
}

/// Creates one finding for each file that controls the review, if the reviewed change edits the file.
pub(crate) fn edited(steering: &ControlFiles) -> Vec<RawFinding> {
    // Files with shared rulings are skipped here. The function `rulings::edits` creates findings about edits of
    // these files.
    let edited = steering.edited.iter().filter(|path| !is_shared(path));
    edited.map(|path| finding(steering, path)).collect()
}

fn finding(steering: &ControlFiles, path: &str) -> RawFinding {
    let base = short(&steering.base);
    // The review applies an edited rule, so a person has to approve the edit of a rule.
    let is_rule = path.starts_with(&format!("{PROJECT_RULES}/"));
    let body = match path {
        _ if is_rule => format!(
            "This review applies the edit: the embedded reviewer reads its rules from the work tree, and not from \
                commit {base}."
        ),
        path if path.ends_with(".gleeignore") => {
            format!(
                "This review ignores the edit: Glee selects files by the version of this file in commit {base}."
            )
        }
        _ if steering.adds_config() => {
            format!(
                "This review ignores the file, because commit {base} has no configuration of Glee. The \
                    file applies after a merge."
            )
        }
        _ => format!(
            "This review ignores the edit: Glee uses the version of `.glee` in commit {base}."
        ),
    };
    RawFinding {
        severity: Severity::known(if is_rule { Tag::Must } else { Tag::Medium }),
        title: format!("The change edits `{path}`, a file that controls this review").into(),
        body: body.into(),
        file: Some(path.to_owned()),
        category: Some("security".to_owned()),
        rule: Some("edits-its-own-review".to_owned()),
        ..RawFinding::default()
    }
}
