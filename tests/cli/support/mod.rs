//! A sandbox for the binary: an empty home, separate state and configuration folders, a minimal environment.
//!
//! The programs on `PATH` are the only visible part of the machine. Placeholders replace paths and times in the
//! output; see [`Output::stable`] for snapshots.

#[cfg(unix)]
#[allow(dead_code, reason = "not every target has terminals")]
pub(crate) mod pty;
#[allow(dead_code, reason = "not every target has hooks")]
pub(crate) mod repository;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A project folder with separate folders for home, state and programs.
pub(crate) struct Sandbox {
    base: PathBuf,
    variables: Vec<(String, String)>,
    _folder: tempfile::TempDir,
}

/// A database for one sandbox on the server that `GLEE_TEST_SERVER` names, so that the same tests record their runs there.
/// `template` is the database whose content it gets.
fn database(sandbox: &Path, template: &str) -> Option<(String, String)> {
    let server = std::env::var("GLEE_TEST_SERVER").ok()?;
    let name = sandbox.file_name().expect("a temporary folder");
    let name = format!("t{}", name.to_string_lossy().replace('.', "")).to_lowercase();
    let create = format!("CREATE DATABASE \"{name}\" TEMPLATE \"{template}\"");
    let created = Command::new("psql")
        .args(["-qX", "-d", &format!("{server}/postgres"), "-c", &create])
        .status();
    assert!(created.is_ok_and(|status| status.success()), "{create}");
    Some(("GLEE_SERVER".to_owned(), format!("{server}/{name}")))
}

/// The output of the binary. `[ROOT]`, `[HOME]`, `[STATE]` and `[BIN]` replace the sandbox's folders, `[TIME]`
/// replaces times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    /// The exit code; -1 after a signal.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "exit: {}", self.code)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}")?;
                f.write_str(text)?;
            }
        }
        Ok(())
    }
}

#[allow(dead_code, reason = "every subject uses some of it")]
impl Output {
    /// The output for a snapshot. `[RUN]` replaces ids of runs, `[HASH]` other hashes, `[DURATION]` seconds;
    /// columns that depend on the length of a path are joined.
    pub(crate) fn stable(&self) -> String {
        let replacements = [
            (
                r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
                "[RUN]",
            ),
            (r"\b[0-9a-f]{12,64}\b", "[HASH]"),
            (r"\b[0-9a-f]{8}\b", "[RUN]"),
            (r"\b\d+\.\ds\b", "[DURATION]"),
            (r"([\w\])])   +", "$1  "),
        ];
        replacements
            .iter()
            .fold(self.to_string(), |text, (pattern, placeholder)| {
                let pattern = regex::Regex::new(pattern).expect("the pattern is well-formed");
                pattern.replace_all(&text, *placeholder).into_owned()
            })
    }
}

#[allow(dead_code, reason = "every subject uses some of it")]
impl Sandbox {
    pub(crate) fn new() -> Self {
        let mut sandbox = Self::local();
        sandbox.variables.extend(database(&sandbox.base, "glee"));
        sandbox
    }

    /// A sandbox whose history is a file also where `GLEE_TEST_SERVER` names a server, for tests of the file itself and of
    /// folders that machines cannot recognise.
    pub(crate) fn local() -> Self {
        Self::local_in(&std::env::temp_dir())
    }

    /// The same in another folder.
    pub(crate) fn local_in(above: &Path) -> Self {
        let folder = tempfile::tempdir_in(above).expect("a temporary folder");
        let base = folder.path().canonicalize().expect("a temporary folder");
        for name in ["project", "home", "state", "bin"] {
            fs::create_dir(base.join(name)).expect("a fresh folder");
        }
        Self {
            variables: Vec::new(),
            base,
            _folder: folder,
        }
    }

    /// A copy of all folders, with the same variables.
    pub(crate) fn copy(&self) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let base = folder.path().canonicalize().expect("a temporary folder");
        let copied = Command::new("cp")
            .arg("-a")
            .arg(self.base.join("."))
            .arg(&base)
            .status();
        assert!(copied.expect("cp is installed").success());
        let mut variables = self.variables.clone();
        for (name, address) in &mut variables {
            let template = address.rsplit('/').next().unwrap_or_default();
            if name == "GLEE_SERVER"
                && let Some((_, copy)) = database(&base, template)
            {
                *address = copy;
            }
        }
        Self {
            base,
            variables,
            _folder: folder,
        }
    }

    /// The project folder, in which commands run.
    pub(crate) fn root(&self) -> PathBuf {
        self.base.join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.base.join("home")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.base.join("state")
    }

    pub(crate) fn user_config(&self) -> PathBuf {
        self.home().join(".config/glee/config.yml")
    }

    /// The address of the database that keeps the history, if a server does.
    pub(crate) fn server(&self) -> Option<&str> {
        let mut variables = self.variables.iter();
        let found = variables.find(|(name, _)| name == "GLEE_SERVER");
        found.map(|(_, address)| address.as_str())
    }

    /// Sets a variable for all later commands.
    pub(crate) fn env(&mut self, name: &str, value: impl Into<String>) -> &mut Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// Restricts `PATH` to the sandbox's own programs.
    pub(crate) fn only_own_programs(&mut self) -> &mut Self {
        let bin = self.base.join("bin").display().to_string();
        self.env("PATH", bin)
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> &Self {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a file has a parent")).expect("a folder");
        fs::write(path, text).expect("a written file");
        self
    }

    pub(crate) fn script(&self, path: impl AsRef<Path>, text: &str) -> &Self {
        self.write(&path, text);
        executable(&self.root().join(path));
        self
    }

    pub(crate) fn program(&self, name: &str, text: &str) -> &Self {
        let path = self.base.join("bin").join(name);
        fs::write(&path, text).expect("a written file");
        executable(&path);
        self
    }

    /// Writes a program and connects it as an agent of the same name. `more` are further options of `connect`.
    pub(crate) fn connect(&self, name: &str, role: &str, text: &str, more: &[&str]) -> &Self {
        self.program(name, text);
        let command = self.root().with_file_name("bin").join(name);
        let command = command.display().to_string();
        let args = [
            "connect",
            name,
            "--role",
            role,
            "--name",
            name,
            "--command",
            &command,
        ];
        let connected = self.glee(&[&args[..], more].concat());
        assert_eq!(connected.code, 0, "{connected}");
        self
    }

    pub(crate) fn read(&self, path: impl AsRef<Path>) -> String {
        fs::read_to_string(self.root().join(path)).expect("a readable file")
    }

    pub(crate) fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.root().join(path).symlink_metadata().is_ok()
    }

    /// Creates a git repository with an empty first commit.
    pub(crate) fn git_init(&self) -> &Self {
        self.git(&["init", "-q", "-b", "main"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "Begin"]);
        self
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = self
            .prepare(Command::new("git"))
            .args(args)
            .output()
            .expect("git is installed");
        assert!(
            output.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs Glee without a terminal and without input.
    pub(crate) fn glee(&self, args: &[&str]) -> Output {
        self.glee_with(args, "")
    }

    /// Runs Glee without a terminal, with `input` on its stdin.
    pub(crate) fn glee_with(&self, args: &[&str], input: &str) -> Output {
        let mut command = assert_cmd::Command::from_std(self.command(args));
        let output = command
            .write_stdin(input)
            .output()
            .expect("the binary runs");
        Output {
            code: output.status.code().unwrap_or(-1),
            stdout: self.placeholders(&String::from_utf8_lossy(&output.stdout)),
            stderr: self.placeholders(&String::from_utf8_lossy(&output.stderr)),
        }
    }

    /// The command that [`glee`](Self::glee) runs, for tests that wrap it in a terminal.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.prepare(Command::new(assert_cmd::cargo::cargo_bin!("glee")));
        command.args(args);
        command
    }

    /// A shell in the project folder, for tests that type several commands in one session.
    pub(crate) fn shell(&self) -> Command {
        self.prepare(Command::new("sh"))
    }

    fn prepare(&self, mut command: Command) -> Command {
        let machine = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(self.base.join("bin")).chain(std::env::split_paths(&machine));
        command
            .current_dir(self.root())
            .env_clear()
            .env(
                "PATH",
                std::env::join_paths(path).expect("PATH is well-formed"),
            )
            .env("HOME", self.home())
            .env("XDG_CONFIG_HOME", self.home().join(".config"))
            .env("XDG_STATE_HOME", self.home().join(".local/state"))
            .env("XDG_DATA_HOME", self.home().join(".local/share"))
            .env("XDG_CACHE_HOME", self.home().join(".cache"))
            .env("GLEE_STATE_DIR", self.state())
            .env("GLEE_PAGER", "cat")
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CEILING_DIRECTORIES", &self.base)
            .envs(["AUTHOR", "COMMITTER"].iter().flat_map(|who| {
                [
                    (format!("GIT_{who}_NAME"), "Test"),
                    (format!("GIT_{who}_EMAIL"), "test@example.org"),
                    (format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z"),
                ]
            }))
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn placeholders(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, placeholder) in [
            ("project", "[ROOT]"),
            ("home", "[HOME]"),
            ("state", "[STATE]"),
            ("bin", "[BIN]"),
        ] {
            text = text.replace(&self.base.join(name).display().to_string(), placeholder);
        }
        let time =
            regex::Regex::new(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?")
                .expect("the pattern is well-formed");
        let text = time.replace_all(&text, "[TIME]");
        let of_unittest = regex::Regex::new(r"(Ran \d+ tests? in) \d+\.\d{3}s");
        let of_unittest = of_unittest.expect("the pattern is well-formed");
        of_unittest.replace_all(&text, "$1 [DURATION]").into_owned()
    }
}

#[cfg(unix)]
fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("an executable file");
}

#[cfg(not(unix))]
fn executable(_path: &Path) {}
