//! Runs git. No other module starts git.
//!
//! Git is started by its absolute path, without the caller's `GIT_*` variables that could select another repository
//! or program. A repository can make git run programs or write files during a read. Glee therefore disables
//! file-system monitors, hooks, pagers, external diffs, lazy fetches and optional locks. Glee never uses commands
//! that convert content (`status`, `diff` on files, `add`), because these commands would run filters.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::git::kept_answers::KeptAnswers;
use crate::git::listed_index::ListedIndex;
use crate::git::objects::{CatFile, IdleCatFiles, Objects};
use crate::git::output::object_id;
use crate::git::path_bytes;
use crate::{Result, WorkspaceError};
use glee_system::private;

/// The git settings that override the repository's own settings.
const SETTINGS: [&str; 11] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.ignoreStat=false",
    "core.protectNTFS=false",
    "core.protectHFS=false",
    "core.quotePath=true",
    "commit.gpgSign=false",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
];

/// The environment variable with the path of the index. Hooks of `git commit FILE` get a temporary index.
pub(crate) const INDEX: &str = "GIT_INDEX_FILE";

/// The caller's `GIT_*` variables that Glee passes to every git command. No variable in this list selects a
/// repository or a program.
const KEPT: [&str; 4] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
];

pub(crate) const EMPTY_SHA1: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
pub(crate) const EMPTY_SHA256: &str =
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

#[derive(Clone, Debug)]
pub struct Repository {
    pub program: PathBuf,
    pub top: PathBuf,
    /// The folder with the index and `HEAD` of this work tree.
    pub(crate) git_dir: PathBuf,
    /// The folder with the objects and refs, which all linked work trees share.
    pub common: PathBuf,
    /// The path of the index. If Glee runs in a git hook, the index can be a temporary index of the commit.
    pub index: PathBuf,
    pub head: Option<String>,
    pub(crate) empty_tree: &'static str,
    pub(crate) listed: ListedIndex,
    pub(super) kept: KeptAnswers,
    pub(super) cat_files: IdleCatFiles,
    /// Whether git finds the repository without explicit paths. If `is_discovered` is false, Glee passes the
    /// paths of the repository to each git command.
    pub(crate) is_discovered: bool,
}

impl Repository {
    /// Finds the repository whose work tree contains `start`, which must be a canonical path.
    pub fn around(start: &Path) -> Result<Option<Self>> {
        let folder = if start.is_dir() {
            start
        } else {
            start.parent().unwrap_or(start)
        };
        let Some(marked) = folder
            .ancestors()
            .find(|folder| folder.join(".git").exists())
        else {
            let bare = folder
                .ancestors()
                .find(|folder| {
                    folder.join("HEAD").is_file()
                        && ["objects", "refs"].map(|name| folder.join(name).is_dir()) == [true; 2]
                })
                .map(|bare| WorkspaceError::Bare(bare.to_owned()));
            return bare.map_or(Ok(None), Err);
        };
        if folder.components().any(|part| part.as_os_str() == ".git") {
            return Err(WorkspaceError::InsideGit(start.display().to_string()));
        }
        let program = find(marked)?;
        let question = [
            "--is-bare-repository",
            "--show-toplevel",
            "--absolute-git-dir",
            "--git-common-dir",
        ];
        let mut command = command(&program, folder);
        command
            .args(["rev-parse", "--path-format=absolute"])
            .args(question)
            .args(["--show-object-format", "HEAD"]);
        let output = command.output().map_err(WorkspaceError::Start)?;
        let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let lines: Vec<&[u8]> = output.stdout.split(|byte| *byte == b'\n').collect();
        if lines.first() == Some(&b"true".as_slice()) || text.contains("cannot use bare repository")
        {
            return Err(WorkspaceError::Bare(marked.to_owned()));
        }
        // Before the first commit, git prints the word `HEAD` in place of a commit id, and exits with an error.
        let [_, top, git_dir, common, format, head, ..] = lines.as_slice() else {
            if text.contains("not a git repository") {
                return Ok(None);
            }
            return Err(WorkspaceError::Git {
                command: "rev-parse".to_owned(),
                message: text,
            });
        };
        let top = real(top)?;
        let git_dir = real(git_dir)?;
        let own = git_dir.join("index");
        let index = match std::env::var_os(INDEX).filter(|named| !named.is_empty()) {
            Some(named) => named_index(Path::new(&named), folder, &top, &git_dir)?.unwrap_or(own),
            None => own,
        };
        Ok(Some(Self {
            program,
            top,
            git_dir,
            common: real(common)?,
            index,
            listed: ListedIndex::default(),
            kept: KeptAnswers::default(),
            cat_files: IdleCatFiles::default(),
            head: object_id(head),
            empty_tree: if *format == b"sha256" {
                EMPTY_SHA256
            } else {
                EMPTY_SHA1
            },
            is_discovered: true,
        }))
    }

    /// Creates a `Repository` from known paths. Git uses these paths and does not search for the repository. If a
    /// nested repository is broken, a search could find the outer repository.
    pub fn placed(
        program: &Path,
        top: &Path,
        git_dir: PathBuf,
        common: PathBuf,
        empty_tree: &'static str,
    ) -> Self {
        Self {
            program: program.to_owned(),
            top: top.to_owned(),
            index: git_dir.join("index"),
            git_dir,
            common,
            listed: ListedIndex::default(),
            kept: KeptAnswers::default(),
            cat_files: IdleCatFiles::default(),
            head: None,
            empty_tree,
            is_discovered: false,
        }
    }

    /// Opens the backup repository in `folder`, with the work tree `top`.
    pub fn backup(folder: &Path, top: &Path, empty_tree: &'static str) -> Result<Self> {
        Ok(Self::placed(
            &find(top)?,
            top,
            folder.to_owned(),
            folder.to_owned(),
            empty_tree,
        ))
    }

    /// Where a new version of a file is written before it is moved into the tree: `git add` takes nothing from here.
    pub fn aside(&self) -> PathBuf {
        self.git_dir.join("glee-new")
    }

    pub fn call<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> GitCall {
        let mut command = command(&self.program, &self.top);
        if !self.is_discovered {
            command
                .env("GIT_DIR", &self.git_dir)
                .env("GIT_WORK_TREE", &self.top);
        } else if self.index != self.git_dir.join("index") {
            command.env(INDEX, &self.index);
        }
        command.args(args);
        GitCall {
            command,
            time_limit: None,
        }
    }

    pub(crate) fn create_empty(&self, folder: &Path) -> io::Result<()> {
        for name in ["refs", "objects/pack"] {
            private::folder(&folder.join(name))?;
        }
        if folder.join("config").exists() {
            return Ok(());
        }
        private::write(&folder.join("HEAD"), b"ref: refs/heads/none\n")?;
        let config = match self.empty_tree {
            EMPTY_SHA256 => {
                "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n"
            }
            _ => "[core]\n\trepositoryFormatVersion = 0\n",
        };
        private::write(&folder.join("config"), config.as_bytes())
    }

    /// Fails if one of the `folders` is a symbolic link, because git would change refs outside the repository
    /// through this link. For example, an extracted archive can contain a symbolic link.
    pub fn refuse_links(&self, folders: [&str; 2]) -> Result<()> {
        let linked = folders
            .map(|folder| self.common.join(folder))
            .into_iter()
            .find(|path| path.is_symlink());
        linked.map_or(Ok(()), |linked| Err(WorkspaceError::LinkedRefs(linked)))
    }

    /// Reads objects of the repository, and of the folder `extra` if there is one.
    pub fn objects(&self, extra: Option<&Path>) -> Result<Objects> {
        let mut call = self.call(["cat-file", "--batch-command"]);
        let idle = match extra {
            Some(folder) => {
                call = call.reading_from(&[folder]);
                None
            }
            None => Some(self.cat_files.clone()),
        };
        if let Some(process) = idle.as_ref().and_then(IdleCatFiles::take) {
            return Ok(Objects::of(process, idle));
        }
        let mut command = call.command;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(WorkspaceError::Start)?;
        let (stdin, stdout) = child
            .stdin
            .take()
            .zip(child.stdout.take())
            .expect("both are piped");
        Ok(Objects::of(CatFile::of(child, stdin, stdout), idle))
    }
}

fn real(bytes: &[u8]) -> Result<PathBuf> {
    let path = path_bytes::path(bytes);
    path.canonicalize()
        .map_err(WorkspaceError::unreadable(&path))
}

pub struct GitCall {
    command: Command,
    time_limit: Option<Duration>,
}

const TRANSPORT: [&str; 5] = [
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_ASKPASS",
    "GIT_SSL_CAINFO",
];

impl GitCall {
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub fn index(mut self, path: &Path) -> Self {
        self.command.env(INDEX, path);
        self.privately()
    }

    fn privately(mut self) -> Self {
        self.command.env("GIT_CONFIG_COUNT", "1");
        self.command
            .env("GIT_CONFIG_KEY_0", "core.sharedRepository")
            .env("GIT_CONFIG_VALUE_0", "0600");
        self
    }

    pub(crate) fn reading_from(mut self, folders: &[&Path]) -> Self {
        let folders: Vec<_> = folders.iter().map(|folder| alternate(folder)).collect();
        self.command.env(
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            folders.join(OsStr::new(":")),
        );
        self
    }

    pub(crate) fn writing_to(mut self, folder: &Path, repository: &Repository) -> Self {
        self.command.env("GIT_OBJECT_DIRECTORY", folder);
        self.privately()
            .reading_from(&[&repository.common.join("objects")])
    }

    /// Lets git use the user's connection settings, and limits the duration of the command to `limit`.
    pub(crate) fn over_network(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self.command.envs(
            TRANSPORT
                .iter()
                .filter_map(|name| Some((name, std::env::var_os(name)?))),
        );
        self
    }

    pub fn output(self) -> Result<Vec<u8>> {
        self.output_of(&[])
    }

    /// Returns the stdout of git, or `None` if git fails.
    pub fn answer(self) -> Result<Option<Vec<u8>>> {
        match self.output() {
            Ok(output) => Ok(Some(output)),
            Err(WorkspaceError::Git { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the object id that git prints, or `None` if git fails.
    pub fn id(self) -> Result<Option<String>> {
        Ok(self.answer()?.and_then(|id| object_id(id.trim_ascii_end())))
    }

    /// Passes `input` to the command, and returns the object id that the command prints.
    pub(crate) fn created_id(self, input: &[u8]) -> Result<String> {
        let command = subcommand(&self.command);
        let output = self.output_of(input)?;
        let message = || format!("it printed `{}`", path_bytes::shown(&output).trim());
        object_id(output.trim_ascii_end()).ok_or_else(|| WorkspaceError::Git {
            command,
            message: message(),
        })
    }

    pub fn output_of(mut self, input: &[u8]) -> Result<Vec<u8>> {
        self.command.stdin(if input.is_empty() {
            Stdio::null()
        } else {
            Stdio::piped()
        });
        let mut child = self.command.spawn().map_err(WorkspaceError::Start)?;
        let process = child.id();
        let pipe = child.stdin.take();
        let (ended, is_ended) = mpsc::channel::<()>();
        let limit = self.time_limit;
        let (output, why) = thread::scope(|scope| {
            if let Some(mut pipe) = pipe {
                // A write error is ignored, because a command that fails early does not read its input. The
                // caller checks the exit status of the command.
                scope.spawn(move || pipe.write_all(input));
            }
            let guard = scope.spawn(move || kill_if_stuck(process, limit, &is_ended));
            let output = child.wait_with_output();
            drop(ended);
            (output, guard.join().unwrap_or_default())
        });
        let output = output.map_err(WorkspaceError::Start)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let message = match (why, String::from_utf8_lossy(&output.stderr).trim()) {
            (Some(why), _) => why.to_owned(),
            (None, "") => output.status.to_string(),
            (None, message) => message.to_owned(),
        };
        Err(WorkspaceError::Git {
            command: subcommand(&self.command),
            message,
        })
    }
}

/// Kills a git process that exceeds `limit`, or that waits for a FIFO in two consecutive checks. Returns the
/// reason. Git opens an ignore or attribute file even if the file is a FIFO, and then waits forever for a writer.
/// On systems other than Linux, Glee does not detect that a git process waits for a FIFO.
fn kill_if_stuck(
    process: u32,
    limit: Option<Duration>,
    ended: &mpsc::Receiver<()>,
) -> Option<&'static str> {
    let began = Instant::now();
    let mut waiting = 0;
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(Duration::from_millis(250)) {
        let waits = std::fs::read(format!("/proc/{process}/wchan"))
            .is_ok_and(|at| at == b"wait_for_partner");
        waiting = if waits { waiting + 1 } else { 0 };
        let why = if waiting == 2 {
            "it waits for a FIFO in the place of a `.gitignore`, `.gitattributes` or other file of rules"
        } else if limit.is_some_and(|limit| began.elapsed() > limit) {
            "it took too long"
        } else {
            continue;
        };
        let is_killed =
            i32::try_from(process).is_ok_and(|id| kill(Pid::from_raw(id), Signal::SIGKILL).is_ok());
        return is_killed.then_some(why);
    }
    None
}

fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_scrubbed(name)) {
        command.env_remove(name);
    }
    command.envs([
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
    ]);
    command.envs([("GIT_PAGER", "cat"), ("LC_ALL", "C")]);
    command.args([
        "--no-optional-locks",
        "--no-pager",
        "--no-replace-objects",
        "--literal-pathspecs",
    ]);
    command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
    command
}

fn is_scrubbed(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| name.starts_with("GIT_") && !KEPT.contains(&name))
}

/// Finds the first `git` in the absolute folders of `PATH`. Fails if this `git` is inside the tree.
pub(crate) fn find(tree: &Path) -> Result<PathBuf> {
    find_in(&std::env::var_os("PATH").unwrap_or_default(), tree)
}

fn find_in(path: &OsStr, tree: &Path) -> Result<PathBuf> {
    let absolute: Vec<PathBuf> = std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .collect();
    let folders = std::env::join_paths(&absolute).map_err(|_| WorkspaceError::NoGit)?;
    if absolute.is_empty() {
        return Err(WorkspaceError::NoGit);
    }
    let program = which::which_in("git", Some(folders), tree).map_err(|_| WorkspaceError::NoGit)?;
    let real = program.canonicalize().map_err(|_| WorkspaceError::NoGit)?;
    // If the tree is `/`, every program is inside the tree, so the check is skipped.
    if tree.parent().is_some() && (real.starts_with(tree) || program.starts_with(tree)) {
        return Err(WorkspaceError::GitInside {
            program,
            root: tree.to_owned(),
        });
    }
    Ok(program)
}

/// Resolves the path in `GIT_INDEX_FILE`. Returns `None` if the index belongs to another repository or work tree.
///
/// A relative path is resolved against the top of the work tree, as in git. If no file exists at the resulting
/// path, Glee also tries `start` as the base folder.
fn named_index(named: &Path, start: &Path, top: &Path, git_dir: &Path) -> Result<Option<PathBuf>> {
    let places = [top.join(named), start.join(named)];
    let path = places
        .iter()
        .find(|path| path.exists())
        .unwrap_or(&places[0]);
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    let (Some(folder), Some(name)) = (folder, path.file_name()) else {
        return Ok(None);
    };
    if folder
        .ancestors()
        .find(is_git_dir)
        .is_some_and(|owner| owner != git_dir)
    {
        return Ok(None);
    }
    let path = folder.join(name);
    // If the index were a FIFO, git would wait forever.
    if std::fs::metadata(&path).is_ok_and(|meta| !meta.is_file()) {
        let source = io::Error::other("not a regular file");
        return Err(WorkspaceError::Unreadable {
            path: path.display().to_string(),
            source,
        });
    }
    Ok(Some(path))
}

fn is_git_dir(folder: &&Path) -> bool {
    folder.join("HEAD").is_file()
        && (folder.join("objects").is_dir() || folder.join("commondir").is_file())
}

fn subcommand(command: &Command) -> String {
    let mut words = command.get_args().map(OsStr::to_string_lossy);
    words
        .find(|word| !word.starts_with('-') && !word.contains('='))
        .unwrap_or_default()
        .into_owned()
}

/// Quotes the path of a folder for git's list of alternate object folders.
fn alternate(folder: &Path) -> OsString {
    let bytes = path_bytes::bytes(folder);
    let quoted = path_bytes::quoted(&bytes);
    let needs_quotes = bytes.contains(&b':') && quoted == bytes;
    let quoted = if needs_quotes {
        [b"\"", quoted.as_slice(), b"\""].concat()
    } else {
        quoted
    };
    path_bytes::path(&quoted).into_os_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_callers_repository_variables_are_scrubbed_and_the_users_settings_kept() {
        let scrubbed = [
            "GIT_DIR",
            "GIT_INDEX_FILE",
            "GIT_EXTERNAL_DIFF",
            "GIT_CONFIG_COUNT",
            "GIT_SSH_COMMAND",
            "GIT_TRACE",
        ];
        assert!(scrubbed.iter().all(|name| is_scrubbed(OsStr::new(name))));
        assert!(
            ["HOME", "GIT_CONFIG_GLOBAL", "PATH"]
                .iter()
                .all(|name| !is_scrubbed(OsStr::new(name)))
        );
    }

    #[test]
    fn the_index_of_a_hook_is_taken_and_that_of_another_repository_is_not() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let base = folder.path().canonicalize()?;
        for repository in ["one", "two"] {
            std::fs::create_dir_all(base.join(repository).join(".git/objects"))?;
            std::fs::create_dir_all(base.join(repository).join("sub"))?;
            std::fs::write(
                base.join(repository).join(".git/HEAD"),
                "ref: refs/heads/main\n",
            )?;
            std::fs::write(base.join(repository).join(".git/index"), "")?;
        }
        std::fs::create_dir_all(base.join("one/.git/worktrees/w"))?;
        for file in ["HEAD", "commondir", "index"] {
            std::fs::write(base.join("one/.git/worktrees/w").join(file), "")?;
        }
        let top = base.join("one");
        let git_dir = base.join("one/.git");
        let named = |path: &str, start: &str| {
            named_index(Path::new(path), &base.join(start), &top, &git_dir)
                .expect("no index is a FIFO")
        };
        let own = Some(git_dir.join("index"));
        assert_eq!(named(".git/index", "one"), own);
        assert_eq!(named(".git/index", "one/sub"), own);
        assert_eq!(named("../.git/index", "one/sub"), own);
        let lock = git_dir.join("next-index-1.lock");
        assert_eq!(named(&lock.display().to_string(), "one"), Some(lock));
        assert_eq!(
            named(&base.join("free").display().to_string(), "one"),
            Some(base.join("free"))
        );
        for other in ["two/.git/index", "one/.git/worktrees/w/index"] {
            assert_eq!(
                named(&base.join(other).display().to_string(), "one"),
                None,
                "{other}"
            );
        }
        let folder = git_dir.display().to_string();
        assert!(named_index(Path::new(&folder), &top, &top, &base.join("one/.git")).is_err());
        Ok(())
    }

    #[test]
    fn a_program_of_the_tree_is_refused_and_relative_folders_are_not_searched()
    -> std::io::Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        let tree = tempfile::tempdir()?;
        let other = tempfile::tempdir()?;
        for folder in [tree.path(), other.path()] {
            std::fs::write(folder.join("git"), "#!/bin/sh\n")?;
            std::fs::set_permissions(folder.join("git"), std::fs::Permissions::from_mode(0o755))?;
        }
        let first = |folders: &[&Path]| {
            std::env::join_paths(folders).map(|path| find_in(&path, tree.path()))
        };
        let dot = Path::new(".");
        let inside = tree.path();
        let outside = other.path();
        assert!(matches!(
            first(&[inside, outside]),
            Ok(Err(WorkspaceError::GitInside { .. }))
        ));
        assert!(
            matches!(first(&[dot, outside]), Ok(Ok(program)) if program == outside.join("git"))
        );
        assert!(matches!(first(&[dot]), Ok(Err(WorkspaceError::NoGit))));
        Ok(())
    }
}
