//! The sandbox limits the files that a read-only agent can open, and the files to which it can write. The sandbox also
//! isolates every agent from other programs.
//!
//! On Linux, Landlock confines a read-only agent and its descendants. A confined process can write or create files
//! only in the agent's configuration folders and temporary folder. The process can also write to devices such as
//! `/dev/null`. A confined process can remove, rename or link files only in these folders. A confined process
//! cannot send signals to processes outside the sandbox, inspect such processes, or connect to their abstract
//! sockets. If namespaces are available, the agent has a temporary copy of the user's caches and a separate
//! `/dev/shm`. The agent also cannot see sockets in the file system (see `namespace`).
//!
//! A read-only agent can open only some files of the user's home folder (see `reading`). If namespaces are available,
//! empty folders are mounted over the rest, and all folders are read-only, except those to which the agent can
//! write. Without namespaces, Landlock refuses to open the other files. Landlock cannot prevent a `chmod`, so Glee
//! then compares the file permissions in the tree before and after a call.
//!
//! Codex has its own sandbox, which fails inside Landlock. If namespaces are available, Glee confines Codex with the
//! mounts alone. Without namespaces, Codex runs only in its own sandbox.
//!
//! An agent that is allowed to write, such as a coder, runs without write restrictions. Glee still isolates such
//! an agent from processes that the agent did not start, so the agent cannot read Glee's memory. An agent that
//! runs as root loses the capabilities to inspect other processes.
//!
//! A folder never becomes writable if it contains a protected folder or is inside a protected folder. Glee creates
//! the configuration folder of a known program in advance, because the program cannot create the folder inside the
//! sandbox.

pub mod confinement;
mod denied;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod network;
mod paths;
mod reading;
#[cfg(target_os = "linux")]
mod sockets;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::process::sandbox::confinement::{Allowance, Guarded, Hold, SHARED_MEMORY, Surroundings};
use crate::{AdapterKind, Confinement, Invocation, Profile};
use glee_model::domain::{Agent, Role};
use glee_store::config::choices::Sandbox;
use glee_system::private;

use paths::{caches, own_folders, places};
use reading::{Named, Reach};

pub use denied::denied;
pub use paths::real;

#[cfg(not(target_os = "linux"))]
pub(crate) use kernel::give_up_network;
#[cfg(not(target_os = "linux"))]
pub use kernel::make_read_only;
#[cfg(not(target_os = "linux"))]
pub use kernel::makes_namespaces;
pub use kernel::{confine, drop_capabilities, isolate};
#[cfg(not(target_os = "linux"))]
pub(crate) use kernel::{hurry, separate_processes};
#[cfg(target_os = "linux")]
pub use namespace::make_read_only;
#[cfg(target_os = "linux")]
pub use namespace::{NAME as PROBE, makes_namespaces, probe};
#[cfg(target_os = "linux")]
pub(crate) use namespace::{hurry, separate_processes};
#[cfg(target_os = "linux")]
pub(crate) use network::give_up as give_up_network;

/// The devices to which every agent is allowed to write: terminals, `/dev/null` and similar devices.
const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

const OF_A_TEST: Allowance = Allowance {
    memory: 2 << 30,
    disk: 1 << 30,
    processes: 256,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SandboxLayers {
    pub landlock: bool,
    pub subreaper: bool,
}

pub fn layers() -> SandboxLayers {
    SandboxLayers {
        landlock: kernel::is_available(),
        subreaper: cfg!(target_os = "linux"),
    }
}

/// Returns the restrictions of an agent. A coder can write, but cannot inspect other processes. Codex has its
/// own sandbox, which cannot start in an isolated process.
pub fn confinement(
    sandbox: Sandbox,
    role: Role,
    kind: AdapterKind,
    agent: &Agent,
    invocation: &Invocation,
    guarded: &Guarded,
) -> Option<Confinement> {
    let env = &invocation.env;
    let nests = kind == AdapterKind::Codex;
    let hold = match (sandbox, role == Role::Coder) {
        (Sandbox::Off, _) => return None,
        (_, true) if nests => return None,
        (_, true) => {
            return Some(Confinement {
                hold: Hold::Isolated,
                ..Confinement::default()
            });
        }
        (Sandbox::Auto, false) => Hold::IfPossible,
        (Sandbox::Required, false) => Hold::Always,
    };
    if nests {
        // Glee creates the folder `/tmp/codex-daemon-<user id>`. Codex runs no command without this folder, and
        // cannot create the folder inside the sandbox.
        drop(private::folder(Path::new(&format!(
            "/tmp/codex-daemon-{}",
            nix::unistd::geteuid()
        ))));
    }
    let protected = guarded.tree.iter().chain(&guarded.records);
    let protected: Vec<PathBuf> = protected.map(|path| real(path)).collect();
    let mut writable = Vec::new();
    let profiles = profiles(kind, agent);
    for profile in &profiles {
        let own = own_folders(profile, env);
        // If creating the folder fails, the error is ignored, because the program that needs the folder reports a
        // more precise error.
        own.iter()
            .filter(|folder| is_apart(folder, &protected))
            .for_each(|folder| drop(std::fs::create_dir_all(folder)));
        writable.extend(own);
        // Configuration files are not created in advance, because some programs reject an empty file.
        writable.extend(places(&profile.files, env));
    }
    writable.extend(DEVICES.map(PathBuf::from));
    writable.retain(|path| path.exists());
    let own = writable.clone();
    writable.retain(|path| is_apart(path, &protected));
    let is_own = matches!(
        kind,
        AdapterKind::Builtin | AdapterKind::Address | AdapterKind::Replay
    );
    let cache =
        caches(env).filter(|cache| !is_own && cache.is_dir() && is_apart(cache, &protected));
    let cache = cache.map(|cache| real(&cache).into());
    // Glee's own code reads nothing but what it is asked about.
    let reach = if is_own {
        Reach::default()
    } else {
        let named = Named {
            command: &agent.command,
            variables: &agent.env,
        };
        Reach::of(&profiles, named, invocation, guarded, &own)
    };
    let paths = |places: BTreeSet<PathBuf>| places.into_iter().map(OsString::from).collect();
    Some(Confinement {
        hold,
        nests,
        namespaces: false,
        cache,
        writable: writable.iter().map(|path| real(path).into()).collect(),
        closed: paths(reach.closed),
        open: paths(reach.open),
        links: paths(reach.links),
        timed: Vec::new(),
        over: None,
        is_offline: false,
        allowance: None,
    })
}

/// Whether no other path contains the path or is inside of it.
fn is_apart(path: &Path, others: &[PathBuf]) -> bool {
    let path = real(path);
    others
        .iter()
        .all(|other| !path.starts_with(other) && !other.starts_with(&path))
}

/// Returns the restrictions of a test that an agent wrote: it writes only in the folders `writable`, has no network, and
/// is not started on a system that cannot prevent more.
pub(crate) fn of_test(
    command: &[String],
    invocation: &Invocation,
    guarded: &Guarded,
    writable: &[PathBuf],
) -> Confinement {
    let named = Named {
        command,
        variables: &BTreeMap::new(),
    };
    let reach = Reach::of(&[], named, invocation, guarded, writable);
    let devices = DEVICES.map(PathBuf::from);
    let devices = devices.iter().filter(|path| path.exists());
    let writable = writable.iter().chain(devices);
    let paths = |places: BTreeSet<PathBuf>| places.into_iter().map(OsString::from).collect();
    Confinement {
        hold: Hold::Always,
        writable: writable.map(|path| real(path).into()).collect(),
        closed: paths(reach.closed),
        open: paths(reach.open),
        links: paths(reach.links),
        is_offline: true,
        allowance: Some(OF_A_TEST),
        ..Confinement::default()
    }
}

/// Returns the profiles of all programs that an agent's command possibly runs. The command of an agent with the
/// adapter `acp` can contain the names of several programs.
pub fn profiles(kind: AdapterKind, agent: &Agent) -> Vec<&Profile> {
    if let Some(profile) = &agent.profile {
        return vec![profile];
    }
    let mut kinds = vec![kind];
    if kind == AdapterKind::Acp {
        let named = AdapterKind::PROGRAMS.into_iter().filter(|program| {
            let mut words = agent.command.iter();
            words.any(|word| word.contains(program.as_str()))
        });
        kinds.splice(0..0, named);
    }
    kinds
        .into_iter()
        .map(|kind| kind.adapter().profile())
        .collect()
}

impl Surroundings {
    pub(crate) fn make(confinement: &Confinement, temporary: &Path) -> Self {
        #[cfg(target_os = "linux")]
        let mut made = if confinement.namespaces {
            namespace::enter(confinement, temporary)
        } else {
            Self::without_mounts(confinement)
        };
        #[cfg(not(target_os = "linux"))]
        let mut made = Self::without_mounts(confinement);
        if let (Some(cache), None) = (&confinement.cache, &made.cache)
            // If the agent is allowed to write to a folder inside the user's cache, the cache is not replaced.
            && !confinement.writable.iter().any(|path| Path::new(path).starts_with(cache))
        {
            let instead = temporary.join("cache");
            made.instead = std::fs::create_dir(&instead).is_ok().then_some(instead);
        }
        made
    }

    pub(crate) fn without_mounts(confinement: &Confinement) -> Self {
        Self {
            has_failed: confinement.over.is_some(),
            ..Self::default()
        }
    }

    pub(crate) fn writable(&self) -> impl Iterator<Item = &Path> {
        self.cache
            .as_deref()
            .into_iter()
            .chain(self.has_memory.then_some(Path::new(SHARED_MEMORY)))
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.instead
            .as_deref()
            .map(|path| ("XDG_CACHE_HOME", path))
            .into_iter()
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::path::Path;

    use landlock::{
        ABI, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, Ruleset,
        RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
        path_beneath_rules,
    };
    use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};

    use crate::Confinement;

    /// The first version of Landlock that also prevents the truncation of files.
    const NEEDED: ABI = ABI::V3;

    const DROPPED: [CapabilitySet; 11] = [
        CapabilitySet::SYS_PTRACE,
        // This capability opens files below a mount by their numbers.
        CapabilitySet::DAC_READ_SEARCH,
        CapabilitySet::PERFMON,
        CapabilitySet::SYS_ADMIN,
        CapabilitySet::CHECKPOINT_RESTORE,
        CapabilitySet::BPF,
        CapabilitySet::SYS_MODULE,
        CapabilitySet::SYS_RAWIO,
        CapabilitySet::SYS_BOOT,
        CapabilitySet::MKNOD,
        CapabilitySet::SYSLOG,
    ];

    pub(crate) fn is_available() -> bool {
        ruleset(AccessFs::from_write(NEEDED)).is_ok()
    }

    fn ruleset(handled: BitFlags<AccessFs>) -> Result<RulesetCreated, RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(handled)?
            .set_compatibility(CompatLevel::BestEffort)
            // On a kernel with Landlock scopes, a process in the sandbox cannot send signals to outside processes,
            // such as Glee. The sandbox also blocks connections to abstract sockets, because the program behind a
            // socket could write for the agent.
            .scope(Scope::Signal | Scope::AbstractUnixSocket)?
            .create()
    }

    /// Permanently limits writing by this thread and its descendants to the paths in `writable`, and reading to what
    /// `reading` opens. `None` limits writing only. Returns true on success.
    pub fn confine<'a>(
        writable: impl Iterator<Item = &'a Path>,
        reading: Option<&Confinement>,
    ) -> bool {
        let write = AccessFs::from_write(NEEDED);
        let restrict = || -> Result<_, RulesetError> {
            let rules = path_beneath_rules(writable, write);
            let Some(reading) = reading.filter(|reading| !reading.closed.is_empty()) else {
                return ruleset(write)?.add_rules(rules)?.restrict_self();
            };
            let read = AccessFs::ReadFile | AccessFs::ReadDir;
            // A rule holds for everything below its folder. An open folder with a closed place inside, such as a tree
            // that contains the home folder, can thus be listed only together with the closed place.
            let folders = reading.open.iter().filter(|path| Path::new(path).is_dir());
            ruleset(write | read)?
                .add_rules(rules)?
                .add_rules(path_beneath_rules(reading.readable(), read))?
                .add_rules(path_beneath_rules(folders, AccessFs::ReadDir))?
                .restrict_self()
        };
        restrict().is_ok()
    }

    /// Prevents this thread from opening TCP connections, if possible.
    pub(crate) fn deny_connections() {
        let restricted = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessNet::ConnectTcp)
            .and_then(Ruleset::create)
            .and_then(RulesetCreated::restrict_self);
        drop(restricted);
    }

    /// Prevents the calling thread and its descendants from inspecting other processes, if possible.
    pub fn isolate() {
        // A Landlock domain prevents the inspection of processes outside the domain. Landlock requires that a
        // domain restricts at least one access right. The domain therefore restricts the rights `Refer` and
        // `MakeBlock`, but permits both rights below `/`. The agent can thus access all files as before.
        let access: BitFlags<AccessFs> = AccessFs::Refer | AccessFs::MakeBlock;
        let restricted = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(access)
            .and_then(Ruleset::create)
            .and_then(|ruleset| ruleset.add_rules(path_beneath_rules(["/"], access)))
            .and_then(RulesetCreated::restrict_self);
        drop(restricted);
    }

    /// Drops the capabilities that root could use to undo the sandbox. This thread and its descendants lose these
    /// capabilities.
    pub fn drop_capabilities() {
        // If the thread does not run as root, dropping a capability fails. This error is ignored, because a
        // thread without the rights of root has none of these capabilities.
        for capability in DROPPED {
            let _ = remove_capability_from_bounding_set(capability);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::path::Path;

    use crate::Confinement;

    pub(crate) fn is_available() -> bool {
        false
    }

    pub fn confine<'a>(
        _writable: impl Iterator<Item = &'a Path>,
        _reading: Option<&Confinement>,
    ) -> bool {
        false
    }

    pub fn isolate() {}

    pub(crate) fn give_up_network() {}

    pub(crate) fn separate_processes() -> bool {
        false
    }

    pub(crate) fn hurry() {}

    pub fn drop_capabilities() {}

    pub fn makes_namespaces(_glee: &Path) -> bool {
        false
    }

    pub fn make_read_only<'a>(_writable: impl Iterator<Item = &'a Path>) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::collections::BTreeMap;

    use super::*;
    use crate::process::sandbox::confinement::Hold;
    use crate::samples;

    fn guarded(home: &Path, tree: &[&str]) -> Guarded {
        Guarded {
            tree: tree.iter().map(|path| home.join(path)).collect(),
            records: Vec::new(),
        }
    }

    #[test]
    fn a_reader_may_write_its_own_folders_and_never_what_is_protected() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for path in [".codex", ".cache", ".gemini", "project"] {
            std::fs::create_dir_all(home.join(path)).unwrap();
        }
        let env = BTreeMap::from([(OsString::from("HOME"), home.clone().into_os_string())]);
        let command = ["claude-agent-acp"];
        let writable = |sandbox, role, kind, protected: &[&str]| {
            let agent = samples::agent("a", "", &command);
            let invocation = Invocation::plain("/bin/sh", command, env.clone(), &home);
            let held = confinement(
                sandbox,
                role,
                kind,
                &agent,
                &invocation,
                &guarded(&home, protected),
            )?;
            let own = held
                .writable
                .iter()
                .filter_map(|path| Path::new(path).strip_prefix(&home).ok()?.to_str());
            Some(own.map(ToOwned::to_owned).collect::<Vec<_>>())
        };
        let words =
            |words: &[&str]| Some(words.iter().map(ToString::to_string).collect::<Vec<_>>());
        let auto = Sandbox::Auto;
        let reviewer = Role::Reviewer;
        assert_eq!(
            writable(auto, reviewer, AdapterKind::Codex, &["project"]),
            words(&[".codex"])
        );
        assert_eq!(
            writable(
                Sandbox::Required,
                reviewer,
                AdapterKind::Codex,
                &["project"]
            ),
            words(&[".codex"])
        );
        assert_eq!(
            writable(auto, Role::Judge, AdapterKind::Text, &["project"]),
            words(&[])
        );
        assert_eq!(
            writable(auto, reviewer, AdapterKind::Gemini, &[".gemini"]),
            words(&[])
        );
        // A missing folder of a known program is created, except inside a protected folder.
        assert_eq!(
            writable(auto, reviewer, AdapterKind::Copilot, &["project"]),
            words(&[".copilot", ".cache/copilot"])
        );
        assert_eq!(
            writable(auto, reviewer, AdapterKind::Qwen, &[".qwen"]),
            words(&[])
        );
        assert!(home.join(".copilot").is_dir() && !home.join(".qwen").exists());
        assert_eq!(
            writable(auto, reviewer, AdapterKind::Acp, &["project"]),
            words(&[".claude", ".cache/claude-cli-nodejs"])
        );
        assert_eq!(
            writable(auto, reviewer, AdapterKind::Builtin, &["project"]),
            words(&[])
        );
        assert_eq!(
            writable(Sandbox::Off, reviewer, AdapterKind::Text, &["project"]),
            None
        );
        assert_eq!(
            writable(Sandbox::Off, Role::Coder, AdapterKind::Text, &["project"]),
            None
        );
    }

    #[test]
    fn caches_are_covered_unless_they_hold_what_is_protected_and_coders_are_only_kept_apart() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for path in [".cache", "other", "project"] {
            std::fs::create_dir_all(home.join(path)).unwrap();
        }
        let held = |role, kind, cache: &str, protected: &[&str]| {
            let mut env = BTreeMap::from([(OsString::from("HOME"), home.clone().into_os_string())]);
            if !cache.is_empty() {
                env.insert("XDG_CACHE_HOME".into(), home.join(cache).into());
            }
            confinement(
                Sandbox::Auto,
                role,
                kind,
                &samples::agent("a", "", &["x"]),
                &Invocation::plain("/bin/sh", [""; 0], env, &home),
                &guarded(&home, protected),
            )
        };
        let cache = |kind, cache: &str, protected: &[&str]| {
            held(Role::Reviewer, kind, cache, protected).unwrap().cache
        };
        assert_eq!(
            cache(AdapterKind::Text, "", &["project"]),
            Some(home.join(".cache").into())
        );
        assert_eq!(
            cache(AdapterKind::Claude, "other", &["project"]),
            Some(home.join("other").into())
        );
        assert_eq!(
            cache(AdapterKind::Text, "", &[".cache/checkout"]),
            None,
            "the tree is in it"
        );
        assert_eq!(
            cache(AdapterKind::Text, "project/cache", &["project"]),
            None,
            "it is in the tree"
        );
        assert_eq!(cache(AdapterKind::Text, "missing", &["project"]), None);
        assert_eq!(cache(AdapterKind::Builtin, "", &["project"]), None);
        let apart = Confinement {
            hold: Hold::Isolated,
            ..Confinement::default()
        };
        assert_eq!(
            held(Role::Coder, AdapterKind::Text, "", &["project"]),
            Some(apart)
        );
        assert_eq!(
            held(Role::Coder, AdapterKind::Codex, "", &["project"]),
            None
        );
        let codex = held(Role::Reviewer, AdapterKind::Codex, "", &["project"]).unwrap();
        assert!(
            codex.is_omitted(),
            "its own sandbox does not work inside Landlock"
        );
        assert!(
            !Confinement {
                namespaces: true,
                ..codex.clone()
            }
            .is_omitted()
        );
        assert!(
            !Confinement {
                hold: Hold::Always,
                ..codex
            }
            .is_omitted()
        );
    }
}
