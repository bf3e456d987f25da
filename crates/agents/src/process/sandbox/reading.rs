//! Decides which files a read-only agent can open: everything of the system, the tree, and of the user's home folder only
//! what the agent itself needs. The home folder, Glee's records and the folders of other agents' programs are
//! closed. Folders inside are open again: the tree, the program's own settings, the installations of the program, of
//! its interpreter and of the programs on `PATH`, the caches, git's settings, and the paths that the agent's
//! configuration names. A future key that opens further folders for an agent adds them in [`needs`].

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use nix::unistd::{User, geteuid};

use super::confinement::Guarded;
use super::paths::{caches, own_folders, places, real, variable};
use crate::adapters::profile;
use crate::probe::executable;
use crate::process::environment::{NETWORK, names};
use crate::{Invocation, Profile};
use glee_store::config::programs;
use glee_workspace::git::{FileStat, path_bytes};
use glee_workspace::guard::inside_tree;

/// Closed on every system: the homes of all users, and what the system hands to one user or service.
const SYSTEM: [&str; 4] = ["/home", "/root", "/run/secrets", "/run/user"];

/// Files and folders of a home folder that contain credentials. These stay closed even where the tree, or an
/// installation, contains the home folder.
const CREDENTIALS: [&str; 24] = [
    ".aws",
    ".azure",
    ".cache/huggingface/stored_tokens",
    ".cache/huggingface/token",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/glee",
    ".docker",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".local/share/uv/credentials",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".terraform.d",
    ".vault-token",
];

/// The folders in which package managers put the programs and libraries of one user.
const INSTALLED: [&str; 4] = [".local/bin", ".local/lib", ".cargo/bin", ".rustup"];

/// What a read-only agent can open. Where both `open` and `closed` contain a path, the deeper place decides; a path in
/// neither is open.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    pub open: BTreeSet<PathBuf>,
    pub closed: BTreeSet<PathBuf>,
    /// The symbolic links on the ways to the open places.
    pub links: BTreeSet<PathBuf>,
}

impl Reach {
    pub(super) fn of(
        profiles: &[&Profile],
        named: Named<'_>,
        invocation: &Invocation,
        guarded: &Guarded,
        own: &[PathBuf],
    ) -> Self {
        let mut reach = Self::default();
        let clouds = clouds(profiles, &invocation.env);
        for path in guarded.tree.iter().chain(own).chain(&clouds) {
            reach.open(path);
        }
        for place in alternates(&guarded.tree) {
            reach.open(&place);
        }
        reach.closed = closed(profiles, invocation, guarded);
        let hidden = reach.open_home_around(named, invocation);
        reach.closed.retain(|path| !reach.open.contains(path));
        let needed = std::mem::take(&mut reach.open);
        reach.open_what_runs(invocation);
        for path in needs(profiles, named, invocation) {
            for place in ways(&path, &invocation.cwd) {
                reach.open(&place);
            }
        }
        let Self { open, closed, .. } = &mut reach;
        closed.extend(
            hidden
                .into_iter()
                .filter(|path| !open.contains(path) && !needed.contains(path)),
        );
        open.retain(|path| {
            !closed.contains(path) && closed.iter().any(|place| path.starts_with(place))
        });
        open.extend(needed);
        reach
    }

    fn open(&mut self, path: &Path) {
        if let Some(mut places) = inside_tree::passed(path) {
            self.open.extend(places.pop());
            self.links.extend(places);
        }
    }

    /// Opens a home folder if the program, or its script, lies directly in it. Returns the hidden entries, which stay
    /// closed unless the agent needs them.
    fn open_home_around(&mut self, named: Named<'_>, invocation: &Invocation) -> BTreeSet<PathBuf> {
        let files = std::iter::once(invocation.program.clone()).chain(named.script());
        let folders: BTreeSet<PathBuf> = files
            .filter_map(|file| Some(real(file.parent()?)))
            .collect();
        let mut hidden = BTreeSet::new();
        for home in homes(&invocation.env).intersection(&folders) {
            let entries = fs::read_dir(home).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name());
            let dotted = names.filter(|name| name.as_encoded_bytes().starts_with(b"."));
            hidden.extend(dotted.map(|name| real(&home.join(name))));
            self.closed.remove(home);
            self.open.insert(home.clone());
        }
        hidden
    }

    /// Opens the installations of the program, of its interpreter, and of the programs on `PATH`.
    fn open_what_runs(&mut self, invocation: &Invocation) {
        let Invocation {
            env, cwd, program, ..
        } = invocation;
        let path = variable(env, "PATH").unwrap_or_default();
        for folder in std::env::split_paths(&path).filter(|folder| folder.is_absolute()) {
            self.open(&folder);
            self.open_installation(&real(&folder));
        }
        let mut programs = vec![program.clone()];
        for word in executable::interpreter(program) {
            programs.extend(which::which_in(&word, Some(&path), "/").ok());
        }
        for program in programs {
            for place in ways(&program, cwd) {
                place
                    .parent()
                    .inspect(|folder| self.open_installation(folder));
                self.open(&place);
            }
        }
    }

    /// Opens a folder of programs with the libraries beside it: the outermost `node_modules`, or the folder above
    /// `bin`. Opens less if a closed place lies in there.
    fn open_installation(&mut self, folder: &Path) {
        let around = folder.parent().filter(|_| {
            let names = ["bin", "sbin", "shims"];
            names.iter().any(|name| folder.ends_with(name))
        });
        let modules = folder
            .ancestors()
            .filter(|above| above.ends_with("node_modules"));
        let wider = [modules.last(), around, Some(folder)];
        let found = wider.into_iter().flatten().find(|path| {
            path.parent().is_some() && !self.closed.iter().any(|place| place.starts_with(path))
        });
        self.open.extend(found.map(Path::to_owned));
    }
}

/// The links on the way to a path, and the path that they lead to. Empty if a link, or the path, lies in the tree: the
/// tree is open, and the author of the code under review chooses what its links lead to.
fn ways(path: &Path, tree: &Path) -> Vec<PathBuf> {
    let tree = real(tree);
    let places = inside_tree::passed(path).unwrap_or_default();
    let is_inside = places.iter().any(|place| place.starts_with(&tree));
    if is_inside { Vec::new() } else { places }
}

/// The home folders of the user: those of Glee and of the agent, and the one that the system knows.
fn homes(env: &BTreeMap<OsString, OsString>) -> BTreeSet<PathBuf> {
    let known = User::from_uid(geteuid())
        .ok()
        .flatten()
        .map(|user| user.dir);
    let homes = [variable(env, "HOME"), std::env::home_dir(), known];
    homes
        .into_iter()
        .flatten()
        .filter(|home| home.is_absolute())
        .map(|home| real(&home))
        .collect()
}

fn closed(profiles: &[&Profile], invocation: &Invocation, guarded: &Guarded) -> BTreeSet<PathBuf> {
    let env = &invocation.env;
    let mut closed: Vec<PathBuf> = SYSTEM.map(PathBuf::from).into();
    for home in homes(env) {
        closed.extend(CREDENTIALS.map(|name| home.join(name)));
        // A user without a home folder of its own has `/`, which everybody needs.
        closed.extend(home.parent().is_some().then_some(home));
    }
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
        closed.extend(variable(env, name).filter(|path| path.is_absolute()));
    }
    for other in programs::all() {
        if profiles.iter().all(|profile| profile.name != other.name) {
            closed.extend(own_folders(other, env));
            closed.extend(profile::settings_folders(other));
        }
    }
    closed.extend(guarded.records.iter().cloned());
    let user = geteuid();
    closed.push(format!("/tmp/glee-{user}").into());
    // Most of them do not exist, and each folder above a path is looked at to find out where it really is.
    let existing = closed.iter().filter(|path| path.exists());
    existing.map(|path| real(path)).collect()
}

/// What an agent needs besides the tree, its program, and what it can write to.
fn needs(profiles: &[&Profile], named: Named<'_>, invocation: &Invocation) -> Vec<PathBuf> {
    let Invocation {
        env, cwd, files, ..
    } = invocation;
    let mut needed = settings_of_git(env, cwd);
    needed.retain(|file| file.is_absolute() && file.is_file());
    needed.extend(caches(env));
    needed.extend(files.iter().map(|(path, _)| path.clone()));
    needed.extend(named.paths(profiles, env));
    for home in homes(env) {
        needed.extend(INSTALLED.map(|name| home.join(name)));
    }
    needed
}

/// The folders of other repositories from which git reads objects of the tree's repository.
fn alternates(tree: &[PathBuf]) -> Vec<PathBuf> {
    let lists = tree
        .iter()
        .map(|folder| folder.join("objects/info/alternates"));
    let lists = lists.filter_map(|list| fs::read_to_string(list).ok());
    let folders = lists.flat_map(|list| list.lines().map(PathBuf::from).collect::<Vec<_>>());
    folders.filter(|folder| folder.is_absolute()).collect()
}

/// The folders with the credentials of the clouds that the user chose for the programs. A tree in such a folder, or
/// around it, is read as any other tree.
fn clouds(profiles: &[&Profile], env: &BTreeMap<OsString, OsString>) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for profile in profiles {
        let chosen = profile.clouds.iter();
        let chosen = chosen.filter(|(choice, _)| variable(env, choice).is_some());
        folders.extend(places(chosen.map(|(_, folder)| folder), env));
    }
    folders.retain(|folder| folder.is_dir());
    folders
}

/// What the configuration of an agent or of a runner names.
#[derive(Clone, Copy)]
pub(super) struct Named<'a> {
    pub command: &'a [String],
    pub variables: &'a BTreeMap<String, String>,
}

impl Named<'_> {
    /// The existing paths in the command and the variables, and in the variables that the program is given; with the
    /// folder of the first file in the command, because a script has others beside it.
    fn paths(self, profiles: &[&Profile], env: &BTreeMap<OsString, OsString>) -> Vec<PathBuf> {
        let mut listed = vec!["SSL_CERT_FILE", "SSL_CERT_DIR"];
        listed.extend(NETWORK);
        for profile in profiles {
            listed.extend(profile.pass.iter().map(String::as_str));
        }
        let given = env.iter().filter(|(name, _)| {
            let name = name.to_string_lossy();
            listed.iter().any(|entry| names(entry, &name))
        });
        let words = self
            .command
            .iter()
            .skip(1)
            .map(|word| PathBuf::from(word.rsplit('=').next().unwrap_or_default()));
        let folder = self
            .script()
            .and_then(|path| Some(path.parent()?.to_owned()));
        let named = words.chain(folder);
        let named = named.chain(self.variables.values().map(PathBuf::from));
        let named = named.chain(given.map(|(_, value)| PathBuf::from(value)));
        named
            .filter(|path| path.is_absolute() && path.exists())
            .collect()
    }

    /// The first file in the command after the program.
    fn script(self) -> Option<PathBuf> {
        let mut words = self.command.iter().skip(1).map(PathBuf::from);
        words.find(|path| path.is_absolute() && path.is_file())
    }
}

/// The files from which git reads its settings, as they were when git named them.
type SettingsOfGit = Vec<(PathBuf, Option<FileStat>)>;

/// The variables that git heeds, and the folder in which it was asked.
type GitSurroundings = (Vec<(OsString, OsString)>, PathBuf);

/// Many agents are started at once, and git names the same files to all of them.
static SETTINGS_OF_GIT: LazyLock<Mutex<HashMap<GitSurroundings, SettingsOfGit>>> =
    LazyLock::new(Mutex::default);

fn known_settings() -> MutexGuard<'static, HashMap<GitSurroundings, SettingsOfGit>> {
    SETTINGS_OF_GIT
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// The files from which git reads its settings.
fn settings_of_git(env: &BTreeMap<OsString, OsString>, cwd: &Path) -> Vec<PathBuf> {
    let heeded = env.iter().filter(|(name, _)| {
        let name = name.to_string_lossy();
        name.starts_with("GIT_") || ["HOME", "PATH", "XDG_CONFIG_HOME"].contains(&&*name)
    });
    let heeded = heeded.map(|(name, value)| (name.clone(), value.clone()));
    let surroundings = (heeded.collect(), cwd.to_owned());
    if let Some(settings) = known_settings().get(&surroundings)
        && settings.iter().all(|(file, seen)| stat(file) == *seen)
    {
        return settings.iter().map(|(file, _)| file.clone()).collect();
    }
    let home = variable(env, "HOME").unwrap_or_default();
    let settings = variable(env, "XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    let mut files = vec![home.join(".gitconfig")];
    files.extend(["config", "ignore", "attributes"].map(|name| settings.join("git").join(name)));
    // A file that includes another one is of no use without it.
    let mut command = Command::new("git");
    command
        .args([
            "config",
            "--list",
            "--includes",
            "--show-origin",
            "--name-only",
            "-z",
        ])
        .current_dir(cwd)
        .env_clear()
        .envs(env)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let listed = command.output().map(|output| output.stdout);
    for word in listed.unwrap_or_default().split(|byte| *byte == 0) {
        let file = word.strip_prefix(b"file:").map(path_bytes::path);
        // Git names the files of the repository relative to the folder.
        let file = file.map(|file| cwd.join(file));
        files.extend(file.filter(|file| !files.contains(file)));
    }
    let seen = files.iter().map(|file| (file.clone(), stat(file)));
    known_settings().insert(surroundings, seen.collect());
    files
}

fn stat(file: &Path) -> Option<FileStat> {
    fs::metadata(file).ok().as_ref().map(FileStat::of)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::AdapterKind;
    use crate::process::sandbox::confinement;
    use crate::process::sandbox::confinement::{Confinement, Hold};
    use crate::samples;
    use glee_model::domain::Agent;
    use glee_model::domain::Role;
    use glee_store::config::choices::Sandbox;

    struct Home {
        _folder: tempfile::TempDir,
        top: PathBuf,
        agent: Agent,
        program: &'static str,
        path: Vec<&'static str>,
        variables: Vec<(&'static str, String)>,
        tree: &'static str,
        home: &'static str,
    }

    impl Home {
        fn new(files: &[&str]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path().canonicalize().unwrap();
            for file in [
                &["h/project/a.py", "h/.ssh/id", "h/.codex/auth.json"],
                files,
            ]
            .concat()
            {
                let path = top.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, "#!/bin/sh\n").unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
            Self {
                _folder: folder,
                top,
                agent: samples::agent("a", "claude", &["claude"]),
                program: "/bin/sh",
                path: vec!["/bin"],
                variables: Vec::new(),
                tree: "h/project",
                home: "h",
            }
        }

        fn of(&self, kind: AdapterKind) -> Confinement {
            let path = self.path.iter().map(|folder| self.top.join(folder));
            let mut env = BTreeMap::from([
                ("HOME".into(), self.top.join(self.home).into()),
                ("PATH".into(), std::env::join_paths(path).unwrap()),
            ]);
            for (name, value) in &self.variables {
                env.insert(name.into(), value.into());
            }
            let tree = self.top.join(self.tree);
            let guarded = Guarded {
                tree: vec![tree.clone()],
                records: vec![self.top.join("h/.local/state/glee")],
            };
            let program = self.top.join(self.program);
            let invocation = Invocation::plain(program, [""; 0], env, tree);
            confinement(
                Sandbox::Auto,
                Role::Reviewer,
                kind,
                &self.agent,
                &invocation,
                &guarded,
            )
            .unwrap()
        }

        /// Which of the paths an agent of the program `claude` can open.
        fn opens(&self, paths: &[&str]) -> Vec<bool> {
            let held = self.of(AdapterKind::Claude);
            assert_eq!(held.hold, Hold::IfPossible);
            paths
                .iter()
                .map(|path| held.opens(&real(&self.top.join(path))))
                .collect()
        }
    }

    #[test]
    fn of_a_home_folder_a_program_reads_its_own_part_and_the_tree() {
        let home = Home::new(&[
            "h/.claude/x",
            "h/other/b.py",
            "h/.local/state/glee/history.db",
        ]);
        let open = ["h/project/a.py", "h/.claude/x", "beside", "/etc/passwd"];
        assert_eq!(home.opens(&open), [true; 4]);
        let closed = [
            "h/.ssh/id",
            "h/.codex/auth.json",
            "h/other/b.py",
            "h/.local/state/glee/history.db",
            "h",
            "/root/.netrc",
        ];
        assert_eq!(home.opens(&closed), [false; 6]);
        assert!(home.of(AdapterKind::Builtin).closed.is_empty());
        let codex = home.of(AdapterKind::Codex);
        let of_codex = |path: &str| codex.opens(&home.top.join(path));
        assert!(of_codex("h/.codex/auth.json") && !of_codex("h/.claude/x"));
    }

    #[test]
    fn an_installation_is_open_and_what_lies_beside_it_is_not() {
        for (program, path, open, closed) in [
            (
                "h/.nvm/v22/lib/node_modules/@x/cli/bin/x.js",
                "h/.nvm/v22/bin",
                "h/.nvm/v22/lib/node_modules/y/z.js",
                "h/.nvm/alias",
            ),
            ("h/bin/x", "h/bin", "h/bin/y", "h/y"),
            ("h/x", "h/tools/sbin", "h/tools/lib/z", "h/.y"),
            (
                "h/.local/bin/x",
                "h/.local/bin",
                "h/.local/lib/python3/z.py",
                "h/.local/share/y",
            ),
            (
                "h/.cargo/bin/x",
                "h/.cargo/bin",
                "h/.cargo/bin/y",
                "h/.cargo/credentials.toml",
            ),
            (
                "h/.pyenv/shims/x",
                "h/.pyenv/shims",
                "h/.pyenv/versions/3/bin/x",
                "h/.python_history",
            ),
        ] {
            let more = [
                "h/.cargo/credentials.toml",
                "h/.local/state/glee/history.db",
            ];
            let mut home = Home::new(&[&[program, open, closed], more.as_slice()].concat());
            (home.program, home.path) = (program, vec![path]);
            assert_eq!(
                home.opens(&[program, open, closed, "h/.ssh/id"]),
                [true, true, false, false],
                "{program}"
            );
        }
    }

    #[test]
    fn links_lead_to_a_program_and_not_out_of_the_tree() {
        let mut home = Home::new(&[
            "h/share/agent/v1/agent",
            "h/share/other",
            "h/bin/y",
            "h/secret/s",
        ]);
        let link =
            |target: &str, link: &str| symlink(home.top.join(target), home.top.join(link)).unwrap();
        link("h/share/agent/v1/agent", "h/bin/agent");
        link("h/secret/s", "h/project/run");
        home.program = "h/bin/agent";
        assert_eq!(
            home.opens(&["h/bin/y", "h/bin/agent", "h/share/other"]),
            [true, true, false]
        );
        assert!(
            home.of(AdapterKind::Claude)
                .links
                .contains(&home.top.join("h/bin/agent").into())
        );
        home.program = "h/project/run";
        home.agent
            .command
            .push(home.top.join("h/project/run").display().to_string());
        assert_eq!(
            home.opens(&["h/secret/s", "h/share/agent/v1/agent"]),
            [false; 2]
        );
    }

    #[test]
    fn beside_a_program_in_the_home_folder_only_what_is_hidden_is_closed() {
        let mut home = Home::new(&[
            "h/agent.sh",
            "h/answers/a",
            "h/.netrc",
            "h/.claude/x",
            "h/.gitconfig",
            "h/.cache/a",
            "h/.history",
        ]);
        let paths = [
            "h/answers/a",
            "h/project/a.py",
            "h/.claude/x",
            "h/.gitconfig",
            "h/.cache/a",
            "h/.ssh/id",
            "h/.netrc",
            "h/.codex/auth.json",
            "h/.history",
        ];
        let beside = [true, true, true, true, true, false, false, false, false];
        home.program = "h/agent.sh";
        assert_eq!(home.opens(&paths), beside);
        home.program = "/bin/sh";
        let script = home.top.join("h/agent.sh").display().to_string();
        home.agent.command.push(script);
        assert_eq!(home.opens(&paths), beside);
    }

    #[test]
    fn a_file_is_open_from_the_time_at_which_the_settings_of_git_include_it() {
        let mut home = Home::new(&["h/more", "h/.gitconfig"]);
        home.path = vec!["/usr/local/bin", "/usr/bin", "/bin"];
        let settings = home.top.join("h/.gitconfig");
        let include = format!("[include]\npath = {}\n", home.top.join("h/more").display());
        fs::write(home.top.join("h/more"), "[core]\nabbrev = 12\n").unwrap();
        for (text, open) in [("", false), (include.as_str(), true), ("", false)] {
            fs::write(&settings, text).unwrap();
            // The second answer is the kept one.
            assert_eq!(home.opens(&["h/more"]), [open]);
            assert_eq!(home.opens(&["h/more"]), [open]);
        }
    }

    #[test]
    fn what_the_configuration_names_is_open() {
        let mut home = Home::new(&[
            "h/tools/review.py",
            "h/tools/more.py",
            "h/keys/k",
            "h/keys/l",
            "h/.claude/x",
        ]);
        let path = |name: &str| home.top.join(name).display().to_string();
        home.agent.command.push(path("h/tools/review.py"));
        home.agent
            .command
            .push(format!("--key={}", path("h/keys/k")));
        home.agent.env.insert("HOME".to_owned(), path("h"));
        assert_eq!(
            home.opens(&[
                "h/tools/review.py",
                "h/tools/more.py",
                "h/keys/k",
                "h/keys/l",
                "h/.ssh/id"
            ]),
            [true, true, true, false, false]
        );
    }

    #[test]
    fn the_credentials_of_a_cloud_are_open_to_the_program_that_uses_it() {
        let mut home = Home::new(&[
            "h/.aws/credentials",
            "h/.config/gcloud/application_default_credentials.json",
            "h/.config/gh/hosts.yml",
            "h/.azure/token",
            "h/keys/vertex.json",
            "h/keys/other.json",
        ]);
        let paths = [
            "h/.aws/credentials",
            "h/.config/gcloud/application_default_credentials.json",
            "h/.azure/token",
            "h/keys/vertex.json",
            "h/.config/gh/hosts.yml",
            "h/keys/other.json",
            "h/.ssh/id",
        ];
        assert_eq!(home.opens(&paths), [false; 7]);
        let key = home.top.join("h/keys/vertex.json");
        for (choice, value, open) in [
            ("CLAUDE_CODE_USE_BEDROCK", "1", 0),
            ("CLAUDE_CODE_USE_VERTEX", "1", 1),
            ("CLAUDE_CODE_USE_FOUNDRY", "1", 2),
            ("GOOGLE_APPLICATION_CREDENTIALS", key.to_str().unwrap(), 3),
        ] {
            home.variables = vec![(choice, value.to_owned())];
            let mut expected = [false; 7];
            expected[open] = true;
            assert_eq!(home.opens(&paths), expected, "{choice}");
            let codex = home.of(AdapterKind::Codex);
            assert!(
                paths.iter().all(|path| !codex.opens(&home.top.join(path))),
                "{choice} concerns codex"
            );
        }
        home.variables = vec![("NODE_EXTRA_CA_CERTS", key.display().to_string())];
        assert_eq!(
            home.opens(&paths),
            [false, false, false, true, false, false, false]
        );
    }

    #[test]
    fn credentials_stay_closed_in_a_tree_around_the_home_folder() {
        let mut home = Home::new(&["h/.vimrc", "h/.claude/x", "h/.local/state/glee/history.db"]);
        let paths = [
            "h/.vimrc",
            "h/.ssh/id",
            "h/.codex/auth.json",
            "h/.local/state/glee/history.db",
            "h/.claude/x",
        ];
        home.tree = "h";
        assert_eq!(home.opens(&paths), [true, false, false, false, true]);
        home.tree = "";
        assert_eq!(
            home.opens(&paths),
            [false, false, false, false, true],
            "the home folder is in the tree"
        );
        home.home = "";
        home.tree = "h/project";
        assert_eq!(home.opens(&["h/project/a.py", "h/.vimrc"]), [true, false]);
    }

    #[test]
    fn the_readable_places_hold_nothing_closed() {
        let home = Home::new(&["h/.claude/x", "beside/file"]);
        symlink(home.top.join("h/.ssh"), home.top.join("link")).unwrap();
        let held = home.of(AdapterKind::Claude);
        let readable = held.readable();
        let reads = |path: &str| {
            readable
                .iter()
                .any(|place| home.top.join(path).starts_with(place))
        };
        assert!(
            reads("beside/file")
                && reads("h/project/a.py")
                && reads("h/.claude/x")
                && reads("/etc")
        );
        assert!(
            !reads("h/.ssh/id")
                && !reads("link")
                && !reads("h/.codex/auth.json")
                && !reads("/root/x")
        );
        let text = format!(
            "cat: '{}': Permission denied",
            home.top.join("h/.ssh/id").display()
        );
        assert_eq!(
            held.refused(&text),
            Some(home.top.join("h/.ssh/id").as_path())
        );
        assert_eq!(held.refused("sh: /etc/passwd: no; /nowhere/x"), None);
    }
}
