//! The one place that runs git, as plumbing.
//!
//! Every command runs with the absolute path of the program, at the top of the work tree, without the caller's
//! `GIT_*` variables but the index that a hook is given, and with everything switched off that a repository could make git run or write on a read:
//! file-system monitors, hooks, pagers, external diffs, lazy fetches, optional locks. Commands that convert content
//! (`status`, `diff` on files, `add`) are never used, because they run filters.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::domain::SkipReason;
use crate::workspace::git::path_bytes;
use crate::workspace::{Result, WorkspaceError};

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

/// Names the index of the commit that git is about to make, for its hooks: `git commit FILE` and `git commit -a` do not
/// use the one of the work tree.
pub(crate) const INDEX: &str = "GIT_INDEX_FILE";

/// Variables that say where the user's own settings lie, not which repository to use.
const KEPT: [&str; 4] =
    ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES"];

/// The empty tree, by the hash of the object format.
pub(crate) const EMPTY_SHA1: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
pub(crate) const EMPTY_SHA256: &str = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

#[derive(Debug)]
pub(crate) struct Repository {
    pub(crate) program: PathBuf,
    /// The canonical top of the work tree.
    pub(crate) top: PathBuf,
    /// The folder of this work tree: index, HEAD.
    pub(crate) git_dir: PathBuf,
    /// The folder that all linked work trees share: objects, refs.
    pub(crate) common: PathBuf,
    /// The index: that of the work tree, or the one a hook is given for the commit that is being made.
    pub(crate) index: PathBuf,
    /// The commit `HEAD` stands on; `None` before the first one.
    pub(crate) head: Option<String>,
    pub(crate) empty_tree: &'static str,
    /// Whether it is found by its place, and not named to git.
    pub(crate) is_found: bool,
}

impl Repository {
    /// The repository whose work tree holds a canonical folder; `None` if there is none.
    pub(crate) fn around(start: &Path) -> Result<Option<Self>> {
        let folder = if start.is_dir() { start } else { start.parent().unwrap_or(start) };
        let Some(marked) = folder.ancestors().find(|folder| folder.join(".git").exists()) else {
            return match folder.ancestors().find(|folder| is_bare(folder)) {
                Some(bare) => Err(WorkspaceError::Bare(bare.to_owned())),
                None => Ok(None),
            };
        };
        if folder.components().any(|part| part.as_os_str() == ".git") {
            return Err(WorkspaceError::InsideGit(start.display().to_string()));
        }
        let program = find(marked)?;
        let question = ["--is-bare-repository", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"];
        let mut command = command(&program, folder);
        command.args(["rev-parse", "--path-format=absolute"]).args(question).args(["--show-object-format", "HEAD"]);
        let output = command.output().map_err(WorkspaceError::Start)?;
        let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let lines: Vec<&[u8]> = output.stdout.split(|byte| *byte == b'\n').collect();
        if lines.first() == Some(&b"true".as_slice()) || text.contains("cannot use bare repository") {
            return Err(WorkspaceError::Bare(marked.to_owned()));
        }
        // Without a commit, `HEAD` is echoed and the command fails after it has printed the rest.
        let [_, top, git_dir, common, format, head, ..] = lines.as_slice() else {
            if text.contains("not a git repository") {
                return Ok(None);
            }
            return Err(WorkspaceError::Git { command: "rev-parse".to_owned(), message: text });
        };
        let real = |bytes: &[u8]| {
            let path = path_bytes::path(bytes);
            path.canonicalize()
                .map_err(|source| WorkspaceError::Unreadable { path: path.display().to_string(), source })
        };
        let (top, git_dir) = (real(top)?, real(git_dir)?);
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
            head: object_id(head),
            empty_tree: match *format {
                b"sha256" => EMPTY_SHA256,
                _ => EMPTY_SHA1,
            },
            is_found: true,
        }))
    }

    /// A repository named to git by its folders: one inside a tree, where a broken one would otherwise be taken for the one
    /// around it, or one of Glee's own, which is used for the files of `top`.
    pub(crate) fn placed(
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
            head: None,
            empty_tree,
            is_found: false,
        }
    }

    /// A repository of Glee's own, without a work tree, that is used for the files of `top`.
    pub(crate) fn twin(folder: &Path, top: &Path, empty_tree: &'static str) -> Result<Self> {
        Ok(Self::placed(&find(top)?, top, folder.to_owned(), folder.to_owned(), empty_tree))
    }

    pub(crate) fn call<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> GitCall {
        let mut command = command(&self.program, &self.top);
        if !self.is_found {
            command.env("GIT_DIR", &self.git_dir).env("GIT_WORK_TREE", &self.top);
        } else if self.index != self.git_dir.join("index") {
            command.env(INDEX, &self.index);
        }
        command.args(args);
        GitCall { command, limit: None }
    }

    /// The configuration of an empty repository in the same object format.
    pub(crate) fn format(&self) -> &'static str {
        match self.empty_tree {
            EMPTY_SHA256 => "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n",
            _ => "[core]\n\trepositoryFormatVersion = 0\n",
        }
    }

    pub(crate) fn commit(&self, revision: &str) -> Result<String> {
        let bad = || WorkspaceError::BadRevision(revision.to_owned());
        if revision.is_empty() || revision.starts_with('-') || revision.contains(['\0', '\n']) {
            return Err(bad());
        }
        if revision == "HEAD" {
            return self.head.clone().ok_or(WorkspaceError::NoCommit);
        }
        self.find(&format!("{revision}^{{commit}}"))?.ok_or_else(bad)
    }

    /// The id of what a revision names.
    pub(crate) fn find(&self, revision: &str) -> Result<Option<String>> {
        self.call(["rev-parse", "--verify", "--quiet", "--end-of-options", revision]).id()
    }

    pub(crate) fn merge_base(&self, one: &str, other: &str) -> Result<String> {
        self.call(["merge-base", one, other])
            .id()?
            .ok_or_else(|| WorkspaceError::NoMergeBase { one: one.to_owned(), other: other.to_owned() })
    }

    /// The regular files of a commit by path, each with its id and whether it is executable. A link could lead anywhere.
    pub(crate) fn files_of(&self, commit: &str) -> Result<BTreeMap<String, (String, bool)>> {
        let listed = self.call(["ls-tree", "-r", "-z", "--full-tree", commit]).output()?;
        let files = records(&listed).filter(|(mode, ..)| mode & 0o170_000 == 0o100_000);
        Ok(files.map(|(mode, _, id, path)| (path_bytes::shown(path), (id.to_owned(), mode == 0o100_755))).collect())
    }

    /// The common ancestor of `HEAD` and a revision.
    pub(crate) fn fork_point(&self, revision: &str) -> Result<String> {
        let head = self.commit("HEAD")?;
        self.merge_base(&self.commit(revision)?, &head)
    }

    /// The two commits of `A..B`, or of `A...B` with the common ancestor of both for A; a missing side is `HEAD`.
    pub(crate) fn range(&self, range: &str) -> Result<(String, String)> {
        let side = |revision: &str| self.commit(if revision.is_empty() { "HEAD" } else { revision });
        let bad = || WorkspaceError::BadRevision(range.to_owned());
        let (from, to) = range.split_once("..").ok_or_else(bad)?;
        match to.strip_prefix('.') {
            Some(to) => {
                let (from, to) = (side(from)?, side(to)?);
                Ok((self.merge_base(&from, &to)?, to))
            }
            None => Ok((side(from)?, side(to)?)),
        }
    }

    pub(crate) fn objects(&self, extra: Option<&Path>) -> Result<Objects> {
        let mut call = self.call(["cat-file", "--batch-command"]);
        if let Some(folder) = extra {
            call = call.reading_from(&[folder]);
        }
        let mut command = call.command;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(WorkspaceError::Start)?;
        let (stdin, stdout) = child.stdin.take().zip(child.stdout.take()).expect("both are piped");
        Ok(Objects { child, stdin, stdout: BufReader::new(stdout) })
    }
}

pub(crate) struct GitCall {
    command: Command,
    /// How long it may take at most.
    limit: Option<Duration>,
}

/// How a command ended: with its stdout, or as a failure with its stdout and its message.
pub(crate) type GitOutput = Result<Vec<u8>, (Vec<u8>, String)>;

/// Variables that say how the user's git reaches remotes.
const TRANSPORT: [&str; 5] = ["GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_SSL_CAINFO"];

/// Variables that say who the user is.
const AUTHOR: [&str; 2] = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"];

impl GitCall {
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn index(mut self, path: &Path) -> Self {
        self.command.env(INDEX, path);
        self.privately()
    }

    /// What it writes only the owner may read.
    pub(crate) fn privately(mut self) -> Self {
        self.command.env("GIT_CONFIG_COUNT", "1");
        self.command.env("GIT_CONFIG_KEY_0", "core.sharedRepository").env("GIT_CONFIG_VALUE_0", "0600");
        self
    }

    pub(crate) fn reading_from(mut self, folders: &[&Path]) -> Self {
        let folders: Vec<_> = folders.iter().map(|folder| alternate(folder)).collect();
        self.command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", folders.join(OsStr::new(":")));
        self
    }

    /// Writes new objects to a folder of Glee's instead of the repository.
    pub(crate) fn writing_to(mut self, folder: &Path, repository: &Repository) -> Self {
        self.command.env("GIT_OBJECT_DIRECTORY", folder);
        self.privately().reading_from(&[&repository.common.join("objects")])
    }

    /// For a command that the user asked for and that speaks with a remote: as the user's own git would, but no longer than
    /// `limit`.
    pub(crate) fn over_network(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self.keeping(&TRANSPORT)
    }

    pub(crate) fn naming_the_author(self) -> Self {
        self.keeping(&AUTHOR)
    }

    fn keeping(mut self, names: &[&str]) -> Self {
        let set = names.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        self.command.envs(set);
        self
    }

    pub(crate) fn output(self) -> Result<Vec<u8>> {
        self.output_of(&[])
    }

    /// Runs it and returns its stdout; `None` where git fails.
    pub(crate) fn answer(self) -> Result<Option<Vec<u8>>> {
        match self.output() {
            Ok(output) => Ok(Some(output)),
            Err(WorkspaceError::Git { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The id that it prints; `None` where git fails.
    pub(crate) fn id(self) -> Result<Option<String>> {
        Ok(self.answer()?.and_then(|id| object_id(id.trim_ascii_end())))
    }

    pub(crate) fn output_of(self, input: &[u8]) -> Result<Vec<u8>> {
        let name = subcommand(&self.command);
        let failed = |(_, message)| WorkspaceError::Git { command: name, message };
        self.run(input)?.map_err(failed)
    }

    /// Runs it and returns its stdout; where git fails also its message.
    pub(crate) fn outcome(self) -> Result<GitOutput> {
        self.run(&[])
    }

    fn run(mut self, input: &[u8]) -> Result<GitOutput> {
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        self.command.stdin(stdin);
        let mut child = self.command.spawn().map_err(WorkspaceError::Start)?;
        let (process, pipe) = (child.id(), child.stdin.take());
        let (ended, is_ended) = std::sync::mpsc::channel::<()>();
        let limit = self.limit;
        let (output, why) = std::thread::scope(|scope| {
            if let Some(mut pipe) = pipe {
                // A command that fails early does not read its input; its exit status tells.
                scope.spawn(move || pipe.write_all(input));
            }
            let guard = scope.spawn(move || stuck::end(process, limit, &is_ended));
            let output = child.wait_with_output();
            drop(ended);
            (output, guard.join().unwrap_or_default())
        });
        let output = output.map_err(WorkspaceError::Start)?;
        if output.status.success() {
            return Ok(Ok(output.stdout));
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let message = match why {
            Some(why) => why.to_owned(),
            None if message.is_empty() => output.status.to_string(),
            None => message,
        };
        Ok(Err((output.stdout, message)))
    }
}

/// A git command that waits for the writer of a FIFO waits for ever: git opens whatever has the name of a file that says
/// what is ignored or how files are treated.
mod stuck {
    use std::sync::mpsc::{Receiver, RecvTimeoutError};
    use std::time::{Duration, Instant};

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    const STEP: Duration = Duration::from_millis(250);

    /// Ends a process that is seen twice waiting for the other end of a FIFO, or that takes longer than `limit`, unless it
    /// ends itself; returns why it was ended. Only Linux tells what a process waits for.
    pub(crate) fn end(process: u32, limit: Option<Duration>, ended: &Receiver<()>) -> Option<&'static str> {
        let began = Instant::now();
        let mut seen = 0;
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(STEP) {
            let waits = std::fs::read(format!("/proc/{process}/wchan")).is_ok_and(|at| at == b"wait_for_partner");
            seen = if waits { seen + 1 } else { 0 };
            let why = if seen == 2 {
                "it waits for a FIFO in the place of a `.gitignore`, `.gitattributes` or other file of rules"
            } else if limit.is_some_and(|limit| began.elapsed() > limit) {
                "it took too long"
            } else {
                continue;
            };
            let is_ended = i32::try_from(process).is_ok_and(|id| kill(Pid::from_raw(id), Signal::SIGKILL).is_ok());
            return is_ended.then_some(why);
        }
        None
    }
}

/// A reader of objects: one process for any number of them.
pub(crate) struct Objects {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GitObject {
    Bytes(Vec<u8>),
    /// It is larger than asked for, in bytes.
    Larger(u64),
    Missing,
}

impl GitObject {
    /// Its bytes, or why a review goes without them.
    pub(crate) fn bytes(self) -> Result<Vec<u8>, SkipReason> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Larger(_) => Err(SkipReason::Oversized),
            Self::Missing => Err(SkipReason::Unreadable),
        }
    }
}

impl Objects {
    /// Reads a file by `<id>:<path>`, where the path has no line break; a folder is not there.
    pub(crate) fn read_file(&mut self, name: &str) -> Result<GitObject> {
        match self.header("info", name)? {
            Some((_, kind)) if kind == "blob" => self.read(name, u64::MAX),
            _ => Ok(GitObject::Missing),
        }
    }

    /// Reads an object of at most `cap` bytes by its id, or by `<id>:<path>` where the path has no line break.
    pub(crate) fn read(&mut self, id: &str, cap: u64) -> Result<GitObject> {
        let Some((size, _)) = self.header("info", id)? else {
            return Ok(GitObject::Missing);
        };
        if size > cap {
            return Ok(GitObject::Larger(size));
        }
        if self.header("contents", id)?.is_none() {
            return Ok(GitObject::Missing);
        }
        let mut bytes = vec![0; usize::try_from(size).map_err(|error| broken(io::Error::other(error)))?];
        self.stdout.read_exact(&mut bytes).map_err(broken)?;
        self.stdout.read_exact(&mut [0]).map_err(broken)?;
        Ok(GitObject::Bytes(bytes))
    }

    /// Asks one question and reads the size and the type of `<id> <type> <size>`; `None` for `<id> missing` and its like.
    fn header(&mut self, question: &str, id: &str) -> Result<Option<(u64, String)>> {
        writeln!(self.stdin, "{question} {id}").and_then(|()| self.stdin.flush()).map_err(broken)?;
        let mut line = Vec::new();
        if self.stdout.read_until(b'\n', &mut line).map_err(broken)? == 0 {
            return Err(broken(io::ErrorKind::UnexpectedEof.into()));
        }
        let line = String::from_utf8_lossy(&line);
        let mut words = line.trim_end().rsplit(' ');
        let size = words.next().and_then(|word| word.parse().ok());
        let kind = words.next().filter(|kind| matches!(*kind, "blob" | "tree" | "commit" | "tag"));
        Ok(size.zip(kind.map(str::to_owned)))
    }
}

fn broken(source: io::Error) -> WorkspaceError {
    WorkspaceError::Git { command: "cat-file".to_owned(), message: source.to_string() }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // It only reads; nothing is lost.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The records of `ls-tree -z` and `ls-files -z --stage`: a mode, two words and a path.
pub(crate) fn records(listed: &[u8]) -> impl Iterator<Item = (u32, &str, &str, &[u8])> {
    listed.split(|byte| *byte == 0).filter_map(|record| {
        let (head, path) = record.split_at(memchr::memchr(b'\t', record)?);
        let mut words = std::str::from_utf8(head).ok()?.split(' ');
        let mode = u32::from_str_radix(words.next()?, 8).ok()?;
        Some((mode, words.next()?, words.next()?, &path[1..]))
    })
}

pub(crate) fn object_id(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?;
    (matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_owned())
}

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
pub(crate) fn find(tree: &Path) -> Result<PathBuf> {
    find_in(&std::env::var_os("PATH").unwrap_or_default(), tree)
}

fn find_in(path: &OsStr, tree: &Path) -> Result<PathBuf> {
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

/// The index that the caller names, if it can be one of this work tree: a file in the folder of another repository or
/// work tree is that one's.
///
/// As in git a relative path counts from the top of the work tree; where nothing is there, from where the caller
/// stands.
fn named_index(named: &Path, start: &Path, top: &Path, git_dir: &Path) -> Result<Option<PathBuf>> {
    let places = [top.join(named), start.join(named)];
    let path = places.iter().find(|path| path.exists()).unwrap_or(&places[0]);
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    let (Some(folder), Some(name)) = (folder, path.file_name()) else { return Ok(None) };
    let is_git_dir = |folder: &&Path| {
        folder.join("HEAD").is_file() && (folder.join("objects").is_dir() || folder.join("commondir").is_file())
    };
    if folder.ancestors().find(is_git_dir).is_some_and(|owner| owner != git_dir) {
        return Ok(None);
    }
    let path = folder.join(name);
    // Git would wait for a FIFO.
    if std::fs::metadata(&path).is_ok_and(|meta| !meta.is_file()) {
        let source = io::Error::other("not a regular file");
        return Err(WorkspaceError::Unreadable { path: path.display().to_string(), source });
    }
    Ok(Some(path))
}

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
    let bytes = path_bytes::bytes(folder);
    if bytes.contains(&b':') || bytes.contains(&b'"') {
        let inner = path_bytes::quoted(&bytes);
        let quoted = if inner.first() == Some(&b'"') { inner } else { [b"\"", inner.as_slice(), b"\""].concat() };
        return path_bytes::path(&quoted).into_os_string();
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

    #[test]
    fn the_index_of_a_hook_is_taken_and_that_of_another_repository_is_not() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let base = folder.path().canonicalize()?;
        for repository in ["one", "two"] {
            std::fs::create_dir_all(base.join(repository).join(".git/objects"))?;
            std::fs::create_dir_all(base.join(repository).join("sub"))?;
            std::fs::write(base.join(repository).join(".git/HEAD"), "ref: refs/heads/main\n")?;
            std::fs::write(base.join(repository).join(".git/index"), "")?;
        }
        std::fs::create_dir_all(base.join("one/.git/worktrees/w"))?;
        for file in ["HEAD", "commondir", "index"] {
            std::fs::write(base.join("one/.git/worktrees/w").join(file), "")?;
        }
        let (top, git_dir) = (base.join("one"), base.join("one/.git"));
        let named = |path: &str, start: &str| {
            named_index(Path::new(path), &base.join(start), &top, &git_dir).expect("no index is a FIFO")
        };
        let own = Some(git_dir.join("index"));
        assert_eq!(named(".git/index", "one"), own);
        assert_eq!(named(".git/index", "one/sub"), own);
        assert_eq!(named("../.git/index", "one/sub"), own);
        let lock = git_dir.join("next-index-1.lock");
        assert_eq!(named(&lock.display().to_string(), "one"), Some(lock));
        assert_eq!(named(&base.join("free").display().to_string(), "one"), Some(base.join("free")));
        for other in ["two/.git/index", "one/.git/worktrees/w/index"] {
            assert_eq!(named(&base.join(other).display().to_string(), "one"), None, "{other}");
        }
        let folder = git_dir.display().to_string();
        assert!(named_index(Path::new(&folder), &top, &top, &base.join("one/.git")).is_err());
        Ok(())
    }

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
