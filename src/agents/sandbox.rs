//! The sandbox around an agent that may only read: what it may write all the same, and the layers a system has.
//!
//! On Linux it is Landlock: from before the agent's first instruction nothing below it can write, create, remove,
//! rename or link a file anywhere but in the agent's own configuration folders, a temporary folder of its own, and
//! the devices that swallow. That takes in the tree, its git folder and Glee's state. Landlock does not hold back
//! changes of permissions and times, so what is found by comparing counts there too.
//!
//! A folder that is allowed never holds, and never lies in, what is to be protected: then it is left out. A known
//! program's own folder is made before it is held, for then it could not make it itself.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::kind::AdapterKind;
use crate::config::settings::Sandbox;
use crate::domain::Role;

/// What every program may write to: devices that keep nothing, terminals, and shared memory.
const DEVICES: [&str; 7] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"];

/// How one program is held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Whether it has to be.
    pub sandbox: Sandbox,
    /// The files and folders it may write to.
    pub writable: Vec<PathBuf>,
}

/// What stands between a reading agent and the files of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layers {
    /// The kernel holds agents back from writing.
    pub landlock: bool,
    /// Every process that an agent leaves behind is found and ended.
    pub subreaper: bool,
}

/// The layers that this system has. What agents change is found by comparing on every system.
pub fn layers() -> Layers {
    Layers { landlock: is_available(), subreaper: cfg!(target_os = "linux") }
}

/// How an agent is held that is asked in a role; `None` for one that is not.
///
/// A coder has to write. Codex brings a sandbox of its own, which cannot be set up inside this one, so it is held by
/// Glee's only where that is required.
pub(super) fn confinement(
    sandbox: Sandbox,
    role: Role,
    kind: AdapterKind,
    command: &[String],
    env: &BTreeMap<OsString, OsString>,
    protected: &[PathBuf],
) -> Option<Confinement> {
    let unheld = match sandbox {
        Sandbox::Off => true,
        Sandbox::Auto => kind == AdapterKind::Codex,
        Sandbox::Required => false,
    };
    if unheld || role == Role::Coder {
        return None;
    }
    let protected: Vec<PathBuf> = protected.iter().map(|path| real(path)).collect();
    let allowed = |path: &PathBuf| {
        let path = real(path);
        protected.iter().all(|other| !path.starts_with(other) && !other.starts_with(&path))
    };
    let mut writable = Vec::new();
    for kind in programs(kind, command) {
        let own = own_folders(kind, env);
        if AdapterKind::PROGRAMS.contains(&kind) {
            // What cannot be made is left out below, and the program says better than Glee what it lacks.
            own.iter().filter(|folder| allowed(folder)).for_each(|folder| drop(std::fs::create_dir_all(folder)));
        }
        writable.extend(own);
        writable.extend(own_files(kind, env));
    }
    writable.extend(DEVICES.map(PathBuf::from));
    writable.retain(|path| path.exists() && allowed(path));
    Some(Confinement { sandbox, writable: writable.iter().map(|path| real(path)).collect() })
}

/// The programs that an agent is: behind the Agent Client Protocol those that its command names.
pub(super) fn programs(kind: AdapterKind, command: &[String]) -> Vec<AdapterKind> {
    let named = |program: &&AdapterKind| command.iter().any(|word| word.contains(program.as_str()));
    match kind {
        AdapterKind::Acp => AdapterKind::PROGRAMS.iter().filter(named).copied().chain([kind]).collect(),
        kind => vec![kind],
    }
}

/// The files beside them; they cannot be made, for an empty one is not what a program expects.
fn own_files(kind: AdapterKind, env: &BTreeMap<OsString, OsString>) -> Vec<PathBuf> {
    let home = env.get(OsStr::new("HOME")).filter(|home| !home.is_empty() && kind == AdapterKind::Claude);
    home.map(|home| Path::new(home).join(".claude.json")).into_iter().collect()
}

/// The folders in which a program keeps its own settings, sessions and caches.
fn own_folders(kind: AdapterKind, env: &BTreeMap<OsString, OsString>) -> Vec<PathBuf> {
    let variable = |name: &str| env.get(OsStr::new(name)).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = variable("HOME");
    let in_home = |path: &str| home.as_ref().map(|home| home.join(path));
    let xdg = |name: &str, otherwise: &str| variable(name).or_else(|| in_home(otherwise));
    let config = |path: &str| Some(xdg("XDG_CONFIG_HOME", ".config")?.join(path));
    let data = |path: &str| Some(xdg("XDG_DATA_HOME", ".local/share")?.join(path));
    let state = |path: &str| Some(xdg("XDG_STATE_HOME", ".local/state")?.join(path));
    let own = match kind {
        // All that is known of a program of the user's own is that it may have a cache.
        AdapterKind::Text | AdapterKind::Json | AdapterKind::Acp => Vec::new(),
        AdapterKind::Builtin | AdapterKind::Replay => return Vec::new(),
        AdapterKind::Claude => vec![variable("CLAUDE_CONFIG_DIR").or_else(|| in_home(".claude"))],
        AdapterKind::Codex => vec![variable("CODEX_HOME").or_else(|| in_home(".codex"))],
        AdapterKind::Gemini => vec![in_home(".gemini")],
        AdapterKind::Opencode => vec![config("opencode"), data("opencode"), state("opencode")],
        AdapterKind::Qwen => vec![in_home(".qwen")],
        AdapterKind::Copilot => vec![variable("COPILOT_HOME").or_else(|| in_home(".copilot"))],
    };
    own.into_iter().chain([xdg("XDG_CACHE_HOME", ".cache")]).flatten().collect()
}

/// A path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Whether the kernel can hold a program back from every kind of writing.
#[cfg(target_os = "linux")]
fn is_available() -> bool {
    linux::ruleset().is_ok()
}

#[cfg(not(target_os = "linux"))]
fn is_available() -> bool {
    false
}

/// Holds the calling thread, and whatever it starts, back from writing anywhere but there. It cannot be undone.
/// Returns whether it holds.
#[cfg(target_os = "linux")]
pub(super) fn hold(writable: &[PathBuf]) -> bool {
    linux::hold(writable).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn hold(_writable: &[PathBuf]) -> bool {
    false
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::PathBuf;

    use landlock::{
        ABI, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetCreated,
        RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
    };

    /// The first version that holds back truncation too; with less a file can still be emptied.
    const NEEDED: ABI = ABI::V3;

    pub(super) fn ruleset() -> Result<RulesetCreated, RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(NEEDED))?
            .set_compatibility(CompatLevel::BestEffort)
            // Where the kernel can: no signal leaves the sandbox, so an agent cannot end Glee or its supervisor.
            .scope(Scope::Signal)?
            .create()
    }

    pub(super) fn hold(writable: &[PathBuf]) -> Result<(), RulesetError> {
        let rules = path_beneath_rules(writable, AccessFs::from_write(NEEDED));
        ruleset()?.add_rules(rules)?.restrict_self().map(drop)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_reader_may_write_its_own_folders_and_never_what_is_protected() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for path in [".codex", ".cache", ".gemini", "project"] {
            std::fs::create_dir_all(home.join(path)).unwrap();
        }
        let env = BTreeMap::from([(OsString::from("HOME"), home.clone().into_os_string())]);
        let command = ["claude-agent-acp".to_owned()];
        let writable = |sandbox, role, kind, protected: &[&str]| {
            let protected: Vec<PathBuf> = protected.iter().map(|path| home.join(path)).collect();
            let held = confinement(sandbox, role, kind, &command, &env, &protected)?;
            let own = held.writable.iter().filter_map(|path| path.strip_prefix(&home).ok()?.to_str());
            Some(own.map(ToOwned::to_owned).collect::<Vec<_>>())
        };
        let words = |words: &[&str]| Some(words.iter().map(ToString::to_string).collect::<Vec<_>>());
        let (auto, reviewer) = (Sandbox::Auto, Role::Reviewer);
        assert_eq!(writable(auto, reviewer, AdapterKind::Codex, &["project"]), None);
        assert_eq!(
            writable(Sandbox::Required, reviewer, AdapterKind::Codex, &["project"]),
            words(&[".codex", ".cache"])
        );
        assert_eq!(writable(auto, Role::Judge, AdapterKind::Text, &["project"]), words(&[".cache"]));
        // Glee's state lies in the cache; the tree is the agent's own folder.
        assert_eq!(writable(auto, reviewer, AdapterKind::Text, &["project", ".cache/glee"]), words(&[]));
        assert_eq!(writable(auto, reviewer, AdapterKind::Gemini, &[".gemini"]), words(&[".cache"]));
        // What a known program does not have yet is made, but never in what is protected.
        assert_eq!(writable(auto, reviewer, AdapterKind::Copilot, &["project"]), words(&[".copilot", ".cache"]));
        assert_eq!(writable(auto, reviewer, AdapterKind::Qwen, &[".qwen"]), words(&[".cache"]));
        assert!(home.join(".copilot").is_dir() && !home.join(".qwen").exists());
        assert_eq!(
            writable(auto, reviewer, AdapterKind::Acp, &["project"]),
            words(&[".claude", ".cache", ".cache"])
        );
        assert_eq!(writable(auto, reviewer, AdapterKind::Builtin, &["project"]), words(&[]));
        assert_eq!(writable(auto, Role::Coder, AdapterKind::Text, &["project"]), None);
        assert_eq!(writable(Sandbox::Off, reviewer, AdapterKind::Text, &["project"]), None);
    }
}
