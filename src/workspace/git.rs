//! The one place that runs git, as plumbing.
//!
//! Every command runs with the absolute path of the program, at the top of the work tree, without the caller's
//! `GIT_*` variables, and with everything switched off that a repository could make git run or write on a read:
//! file-system monitors, hooks, pagers, external diffs, lazy fetches, optional locks. Commands that convert content
//! (`status`, `diff` on files, `add`) are never used, because they run filters.

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use super::scan::Ahead;
use super::{WorkspaceError, names};

/// Settings that no repository may choose.
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

/// Variables that say where the user's own settings lie, not which repository to use.
const KEPT: [&str; 4] =
    ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES"];

/// A repository with its work tree.
#[derive(Debug)]
pub(super) struct Repository {
    program: PathBuf,
    /// The canonical top of the work tree.
    pub(super) top: PathBuf,
    /// The folder of this work tree: index, HEAD.
    pub(super) git_dir: PathBuf,
    /// The folder that all linked work trees share: objects, refs.
    pub(super) common: PathBuf,
    /// The commit `HEAD` stands on; `None` before the first one.
    pub(super) head: Option<String>,
    /// The id of the empty tree in the repository's object format.
    pub(super) empty_tree: &'static str,
    /// Whether it is found by its place, and not named to git.
    is_found: bool,
    /// The first listing, where it was begun ahead.
    pub(super) listed: Mutex<Option<Ahead>>,
}

impl Repository {
    /// The repository whose work tree holds a canonical folder; `None` if there is none. What it holds is listed meanwhile
    /// if it `will_be_looked_at`.
    pub(super) fn around(start: &Path, will_be_looked_at: bool) -> Result<Option<Self>, WorkspaceError> {
        let folder = if start.is_dir() { start } else { start.parent().unwrap_or(start) };
        let Some(marked) = folder.ancestors().find(|folder| folder.join(".git").exists()) else {
            return match folder.ancestors().find(|folder| is_bare(folder)) {
                Some(bare) => Err(WorkspaceError::Bare { path: bare.to_owned() }),
                None => Ok(None),
            };
        };
        if folder.components().any(|part| part.as_os_str() == ".git") {
            return Err(WorkspaceError::InsideGit { path: start.display().to_string() });
        }
        let program = find(marked)?;
        let question = ["--is-bare-repository", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"];
        let mut command = command(&program, folder);
        command.args(["rev-parse", "--path-format=absolute"]).args(question).args(["--show-object-format", "HEAD"]);
        let start = |source| WorkspaceError::Start { source };
        let answering = command.spawn().map_err(start)?;
        let listed = if will_be_looked_at { Ahead::begin(&program, marked) } else { None };
        let output = answering.wait_with_output().map_err(start)?;
        let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let lines: Vec<&[u8]> = output.stdout.split(|byte| *byte == b'\n').collect();
        if lines.first() == Some(&b"true".as_slice()) || text.contains("cannot use bare repository") {
            return Err(WorkspaceError::Bare { path: marked.to_owned() });
        }
        // Without a commit, `HEAD` is echoed and the command fails after it has printed the rest.
        let [_, top, git_dir, common, format, head, ..] = lines.as_slice() else {
            if text.contains("not a git repository") {
                return Ok(None);
            }
            return Err(WorkspaceError::Git { command: "rev-parse".to_owned(), message: text });
        };
        let real = |bytes: &[u8]| {
            let path = names::path(bytes);
            path.canonicalize()
                .map_err(|source| WorkspaceError::Unreadable { path: path.display().to_string(), source })
        };
        Ok(Some(Self {
            program,
            top: real(top)?,
            git_dir: real(git_dir)?,
            common: real(common)?,
            head: object_id(head),
            empty_tree: match *format {
                b"sha256" => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
                _ => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            },
            is_found: true,
            listed: Mutex::new(listed),
        }))
    }

    /// A repository of Glee's own, without a work tree, that is used for the files of `top`.
    pub(super) fn twin(folder: &Path, top: &Path) -> Result<Self, WorkspaceError> {
        Ok(Self {
            program: find(top)?,
            top: top.to_owned(),
            git_dir: folder.to_owned(),
            common: folder.to_owned(),
            head: None,
            empty_tree: "",
            is_found: false,
            listed: Mutex::new(None),
        })
    }

    /// A call of one git command.
    pub(super) fn call<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Call {
        let mut command = command(&self.program, &self.top);
        if !self.is_found {
            command.env("GIT_DIR", &self.git_dir);
        }
        command.args(args);
        Call { command }
    }

    /// The commit that a revision names, by its id.
    pub(super) fn commit(&self, revision: &str) -> Result<String, WorkspaceError> {
        let bad = || WorkspaceError::BadRevision { revision: revision.to_owned() };
        if revision.is_empty() || revision.starts_with('-') || revision.contains(['\0', '\n']) {
            return Err(bad());
        }
        if revision == "HEAD" {
            return self.head.clone().ok_or(WorkspaceError::NoCommit);
        }
        let wanted = format!("{revision}^{{commit}}");
        match self.call(["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]).output() {
            Ok(id) => object_id(id.trim_ascii_end()).ok_or_else(bad),
            Err(WorkspaceError::Git { .. }) => Err(bad()),
            Err(other) => Err(other),
        }
    }

    /// The best common ancestor of two commits.
    pub(super) fn merge_base(&self, one: &str, other: &str) -> Result<String, WorkspaceError> {
        let found = match self.call(["merge-base", one, other]).output() {
            Ok(id) => object_id(id.trim_ascii_end()),
            Err(WorkspaceError::Git { .. }) => None,
            Err(error) => return Err(error),
        };
        found.ok_or_else(|| WorkspaceError::NoMergeBase { one: one.to_owned(), other: other.to_owned() })
    }

    /// Opens a reader of objects.
    pub(super) fn objects(&self, extra: Option<&Path>) -> Result<Objects, WorkspaceError> {
        let mut call = self.call(["cat-file", "--batch-command"]);
        if let Some(folder) = extra {
            call = call.reading_also(folder);
        }
        Objects::open(call.command)
    }
}

/// One git command with what it reads.
pub(super) struct Call {
    command: Command,
}

/// A git command at work. Dropped, it is ended.
#[derive(Debug)]
pub(super) struct Started {
    name: String,
    child: Option<Child>,
}

impl Call {
    /// A call where nothing is known of the repository yet but its place.
    pub(super) fn at<'a>(program: &Path, folder: &Path, args: impl IntoIterator<Item = &'a str>) -> Self {
        let mut command = command(program, folder);
        command.args(args);
        Self { command }
    }

    /// Adds an argument that need not be text.
    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Uses another index than the user's.
    pub(super) fn index(mut self, path: &Path) -> Self {
        self.command.env("GIT_INDEX_FILE", path);
        self
    }

    /// Reads objects from a folder of Glee's too.
    pub(super) fn reading_also(mut self, folder: &Path) -> Self {
        self.command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", alternate(folder));
        self
    }

    /// Writes new objects to a folder of Glee's instead of the repository.
    pub(super) fn writing_to(mut self, folder: &Path, repository: &Repository) -> Self {
        self.command.env("GIT_OBJECT_DIRECTORY", folder);
        self.reading_also(&repository.common.join("objects"))
    }

    /// Names Glee as the author and committer.
    pub(super) fn signed(mut self) -> Self {
        for role in ["AUTHOR", "COMMITTER"] {
            self.command.env(format!("GIT_{role}_NAME"), "Glee");
            self.command.env(format!("GIT_{role}_EMAIL"), "glee@localhost");
        }
        self
    }

    /// Runs it and returns its stdout.
    pub(super) fn output(self) -> Result<Vec<u8>, WorkspaceError> {
        self.output_of(&[])
    }

    /// Runs it on an input and returns its stdout.
    pub(super) fn output_of(mut self, input: &[u8]) -> Result<Vec<u8>, WorkspaceError> {
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        self.command.stdin(stdin);
        let mut started = self.start()?;
        let pipe = started.child.as_mut().and_then(|child| child.stdin.take());
        std::thread::scope(|scope| {
            if let Some(mut pipe) = pipe {
                // A command that fails early does not read its input; its exit status tells.
                scope.spawn(move || pipe.write_all(input));
            }
            started.output()
        })
    }

    /// Starts it.
    pub(super) fn start(mut self) -> Result<Started, WorkspaceError> {
        let child = self.command.spawn().map_err(|source| WorkspaceError::Start { source })?;
        Ok(Started { name: subcommand(&self.command), child: Some(child) })
    }
}

impl Started {
    /// Waits for its end and returns its stdout.
    pub(super) fn output(mut self) -> Result<Vec<u8>, WorkspaceError> {
        let child = self.child.take().expect("it is taken here alone");
        let output = child.wait_with_output().map_err(|source| WorkspaceError::Start { source })?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let message = if message.is_empty() { output.status.to_string() } else { message };
        Err(WorkspaceError::Git { command: std::mem::take(&mut self.name), message })
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            end(child);
        }
    }
}

/// Ends a command that only reads; nothing is lost.
fn end(child: &mut Child) {
    drop(child.kill());
    drop(child.wait());
}

/// A reader of objects: one process for any number of them.
pub(super) struct Objects {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

/// What [`Objects::read`] found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Object {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// It is larger than asked for, in bytes.
    Larger(u64),
    /// It is not there.
    Missing,
}

impl Objects {
    fn open(mut command: Command) -> Result<Self, WorkspaceError> {
        let start = |source| WorkspaceError::Start { source };
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(start)?;
        let broken = || start(io::ErrorKind::BrokenPipe.into());
        let stdin = child.stdin.take().ok_or_else(broken)?;
        let stdout = child.stdout.take().ok_or_else(broken)?;
        Ok(Self { child, stdin, stdout: BufReader::new(stdout) })
    }

    /// Reads an object of at most `cap` bytes by its id, or by `<id>:<path>` where the path has no line break.
    pub(super) fn read(&mut self, id: &str, cap: u64) -> Result<Object, WorkspaceError> {
        self.ask(id, cap)
            .map_err(|source| WorkspaceError::Git { command: "cat-file".to_owned(), message: source.to_string() })
    }

    fn ask(&mut self, id: &str, cap: u64) -> io::Result<Object> {
        let Some(size) = self.header("info", id)? else { return Ok(Object::Missing) };
        if size > cap {
            return Ok(Object::Larger(size));
        }
        if self.header("contents", id)?.is_none() {
            return Ok(Object::Missing);
        }
        let mut bytes = vec![0; usize::try_from(size).map_err(io::Error::other)?];
        self.stdout.read_exact(&mut bytes)?;
        self.stdout.read_exact(&mut [0])?;
        Ok(Object::Bytes(bytes))
    }

    /// Asks one question and reads `<id> <type> <size>`; `None` for `<id> missing` and its like.
    fn header(&mut self, question: &str, id: &str) -> io::Result<Option<u64>> {
        writeln!(self.stdin, "{question} {id}")?;
        self.stdin.flush()?;
        let mut line = Vec::new();
        if self.stdout.read_until(b'\n', &mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = String::from_utf8_lossy(&line);
        let mut words = line.trim_end().rsplit(' ');
        let size = words.next().and_then(|word| word.parse().ok());
        Ok(size.filter(|_| words.next().is_some_and(|kind| matches!(kind, "blob" | "tree" | "commit" | "tag"))))
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// The id in a line, if it is one.
pub(super) fn object_id(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?;
    (matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_owned())
}

/// The command that every call starts from.
fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, _) in std::env::vars_os() {
        if is_scrubbed(&name) {
            command.env_remove(name);
        }
    }
    command
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_PAGER", "cat")
        .env("LC_ALL", "C");
    command.args(["--no-optional-locks", "--no-pager", "--no-replace-objects", "--literal-pathspecs"]);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command
}

/// Whether a variable of the caller could lead git to another repository or program.
fn is_scrubbed(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("GIT_") && !KEPT.contains(&name))
}

/// The first git on the path by an absolute folder; an error if it belongs to the tree.
fn find(tree: &Path) -> Result<PathBuf, WorkspaceError> {
    find_in(&std::env::var_os("PATH").unwrap_or_default(), tree)
}

fn find_in(path: &OsStr, tree: &Path) -> Result<PathBuf, WorkspaceError> {
    let absolute: Vec<PathBuf> = std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect();
    let folders = std::env::join_paths(&absolute).map_err(|_| WorkspaceError::NoGit)?;
    if absolute.is_empty() {
        return Err(WorkspaceError::NoGit);
    }
    let program = which::which_in("git", Some(folders), tree).map_err(|_| WorkspaceError::NoGit)?;
    let real = program.canonicalize().map_err(|_| WorkspaceError::NoGit)?;
    // A tree at the very top holds every program there is.
    if tree.parent().is_some() && (real.starts_with(tree) || program.starts_with(tree)) {
        return Err(WorkspaceError::GitInside { program, root: tree.to_owned() });
    }
    Ok(program)
}

/// Whether a folder looks like a bare repository.
fn is_bare(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

/// The name of a command for an error: the first word after the options.
fn subcommand(command: &Command) -> String {
    let skipped = 4 + 2 * SETTINGS.len();
    command.get_args().nth(skipped).map(|arg| arg.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A folder as git reads it in a list of alternates.
fn alternate(folder: &Path) -> std::ffi::OsString {
    let bytes = names::bytes(folder);
    if bytes.contains(&b':') || bytes.contains(&b'"') {
        let inner = names::quoted(&bytes);
        let quoted = if inner.first() == Some(&b'"') { inner } else { [b"\"", inner.as_slice(), b"\""].concat() };
        return names::path(&quoted).into_os_string();
    }
    folder.as_os_str().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_callers_repository_variables_are_scrubbed_and_the_users_settings_kept() {
        let scrubbed =
            ["GIT_DIR", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT", "GIT_SSH_COMMAND", "GIT_TRACE"];
        assert!(scrubbed.iter().all(|name| is_scrubbed(OsStr::new(name))));
        assert!(["HOME", "GIT_CONFIG_GLOBAL", "PATH"].iter().all(|name| !is_scrubbed(OsStr::new(name))));
    }

    #[cfg(unix)]
    #[test]
    fn a_program_of_the_tree_is_refused_and_relative_folders_are_not_searched() -> std::io::Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        let (tree, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
        for folder in [tree.path(), other.path()] {
            std::fs::write(folder.join("git"), "#!/bin/sh\n")?;
            std::fs::set_permissions(folder.join("git"), std::fs::Permissions::from_mode(0o755))?;
        }
        let first = |folders: &[&Path]| std::env::join_paths(folders).map(|path| find_in(&path, tree.path()));
        let (dot, inside, outside) = (Path::new("."), tree.path(), other.path());
        assert!(matches!(first(&[inside, outside]), Ok(Err(WorkspaceError::GitInside { .. }))));
        assert!(matches!(first(&[dot, outside]), Ok(Ok(program)) if program == outside.join("git")));
        assert!(matches!(first(&[dot]), Ok(Err(WorkspaceError::NoGit))));
        Ok(())
    }

    #[test]
    fn only_whole_ids_are_ids() {
        let id = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        assert_eq!(object_id(id.as_bytes()).as_deref(), Some(id));
        assert_eq!(object_id(b"HEAD"), None);
        assert_eq!(object_id(&id.as_bytes()[1..]), None);
    }
}
