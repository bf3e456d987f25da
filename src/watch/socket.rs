//! The local socket of a watch: where it lies, who may come in, and the lines that go both ways.
//!
//! A line in, a line out. What stands in the buffer of a connection is handed over together and answered together, so
//! that one sync of the journal serves all of it; a connection has one batch on the way at a time.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};

use super::intake::{self, Command, Intake, Item, LONGEST};

/// The variable that names the socket to agents that a watch started.
pub const VARIABLE: &str = "GLEE_WATCH_SOCKET";

/// The bytes that are taken in at a time.
const PIECE: usize = 64 << 10;
/// The connections that are served at a time; more wait.
const CONNECTIONS: usize = 256;
/// What the address of a socket may be long, less than the smallest of the systems' bounds.
const ADDRESS: usize = 100;
/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why there is no way to a watch.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Nobody listens.
    #[error("no watch runs for `{}`", .0.display())]
    NoWatch(PathBuf),
    /// Another watch listens there.
    #[error("another watch runs for `{}`", .0.display())]
    Taken(PathBuf),
    /// The folder of the socket is somebody else's.
    #[error("`{}` belongs to another user", .0.display())]
    Foreign(PathBuf),
    /// The system fails.
    #[error("the socket `{}` of the watch fails", path.display())]
    Io {
        /// The socket.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// The address of the watch of a work tree: in the state folder, or where its path is too long, in a private folder of
/// the system's temporary one.
pub fn address(state_dir: &Path, root: &Path) -> PathBuf {
    let key = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    let own = state_dir.join("watch").join(format!("{}.sock", &key[..16]));
    if own.as_os_str().len() <= ADDRESS {
        return own;
    }
    let both = blake3::hash(own.as_os_str().as_encoded_bytes()).to_hex();
    let user = nix::unistd::getuid();
    PathBuf::from("/tmp").join(format!("glee-{user}")).join(format!("{}.sock", &both[..16]))
}

/// The listening end. Only one can be had for a work tree.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    path: PathBuf,
    /// How many answers are on the way.
    owed: watch::Sender<usize>,
    _lock: fs::File,
}

/// Says when everybody has got the answer that is on the way.
#[derive(Debug)]
pub struct Owed(watch::Receiver<usize>);

impl Owed {
    /// Waits until all answers are given, but not for those who do not take theirs.
    pub async fn given(mut self) {
        drop(tokio::time::timeout(Duration::from_secs(1), self.0.wait_for(|owed| *owed == 0)).await);
    }
}

impl Listener {
    /// Listens at an address, for this user alone.
    ///
    /// # Errors
    /// When another watch listens there, or the socket cannot be made.
    pub fn bind(path: &Path, root: &Path) -> Result<Self, SocketError> {
        let failed = |source| SocketError::Io { path: path.to_owned(), source };
        let folder = path.parent().unwrap_or(Path::new("/"));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let meta = fs::symlink_metadata(folder).map_err(failed)?;
        if !meta.is_dir() || meta.uid() != nix::unistd::getuid().as_raw() {
            return Err(SocketError::Foreign(folder.to_owned()));
        }
        if meta.mode() & 0o077 != 0 {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        }
        let lock = fs::File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.with_extension("lock"))
            .map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(SocketError::Taken(root.to_owned())),
            Err(fs::TryLockError::Error(source)) => return Err(failed(source)),
        }
        // Left by a watch that was killed.
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        Ok(Self { listener, path: path.to_owned(), owed: watch::channel(0).0, _lock: lock })
    }

    /// What is to be waited for before the program ends.
    pub fn owed(&self) -> Owed {
        Owed(self.owed.subscribe())
    }

    /// Serves everybody who comes, for ever.
    pub async fn serve(self, intake: Intake) {
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let Some(guest) = Guest::admitted(&stream) else { continue };
                    let (intake, owed) = (intake.clone(), self.owed.clone());
                    tokio::spawn(async move {
                        // An end that breaks off has nobody left to tell.
                        drop(converse(stream, intake, guest, owed).await);
                        drop(place);
                    });
                }
                // Too many files are open, for a moment.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // It may be gone already.
        drop(fs::remove_file(&self.path));
    }
}

/// Who comes in.
struct Guest {
    /// The user's name.
    by: String,
    /// Whether it is an agent that this watch started, or a program of one.
    is_agent: bool,
}

impl Guest {
    /// Only this user comes in.
    fn admitted(stream: &UnixStream) -> Option<Self> {
        let peer = stream.peer_cred().ok()?;
        let is_own = peer.uid() == nix::unistd::getuid().as_raw();
        is_own.then(|| Self { by: own_name(), is_agent: peer.pid().is_some_and(is_below) })
    }

    /// What counts of what was said: an agent tells what it does, but nothing lets it lift its own pause.
    fn may_say(&self, item: Item) -> Item {
        match item {
            Item::Command(command) if self.is_agent && command != Command::Status => {
                Item::Malformed("an agent gives no commands".to_owned())
            }
            item => item,
        }
    }
}

/// Whether a process was started by this one, or by one of those; where the system does not tell, it was not.
fn is_below(pid: i32) -> bool {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let parent = |pid: &i32| -> Option<i32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may hold anything.
        stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok().filter(|parent| *parent > 1)
    };
    std::iter::successors(Some(pid), parent).take(64).skip(1).any(|ancestor| ancestor == own)
}

/// The name of this user.
pub fn own_name() -> String {
    let uid = nix::unistd::getuid();
    nix::unistd::User::from_uid(uid).ok().flatten().map_or_else(|| format!("uid {uid}"), |user| user.name)
}

/// Hands over what a connection says, until it ends.
async fn converse(stream: UnixStream, intake: Intake, guest: Guest, owed: watch::Sender<usize>) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = tokio::io::BufReader::with_capacity(PIECE, read);
    let mut lines = Lines::default();
    loop {
        let piece = read.fill_buf().await?;
        let (length, ended) = (piece.len(), piece.is_empty());
        let items = if ended { lines.end() } else { lines.take(piece) };
        read.consume(length);
        if !items.is_empty() {
            owed.send_modify(|owed| *owed += 1);
            let items = items.into_iter().map(|item| guest.may_say(item)).collect();
            let answers = intake::hand_over(&intake, items, &guest.by).await;
            let text = answers.as_ref().map(|answers| answers.join("\n") + "\n").unwrap_or_default();
            let written = write.write_all(text.as_bytes()).await;
            owed.send_modify(|owed| *owed -= 1);
            if answers.is_none() {
                return Ok(());
            }
            written?;
        }
        if ended {
            return Ok(());
        }
    }
}

/// Cuts what comes in pieces into lines; of one that is too long only its length is known.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    pub(super) fn take(&mut self, piece: &[u8]) -> Vec<Item> {
        self.cut(piece, None)
    }

    pub(super) fn cut(&mut self, piece: &[u8], own: Option<&crate::domain::AgentName>) -> Vec<Item> {
        let mut items = Vec::new();
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let room = (LONGEST + 1).saturating_sub(self.rest.len());
            self.rest.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                items.extend(self.line(own));
            }
        }
        items
    }

    /// What stood behind the last line end.
    pub(super) fn end(&mut self) -> Vec<Item> {
        self.line(None).into_iter().collect()
    }

    fn line(&mut self, own: Option<&crate::domain::AgentName>) -> Option<Item> {
        let line = std::mem::take(&mut self.rest);
        let text = line.trim_ascii();
        // What a program prints beside its events is not meant for anybody here.
        let is_prose = own.is_some() && !text.starts_with(b"{");
        (!text.is_empty() && !is_prose).then(|| intake::read(text, own))
    }
}

/// A conversation with a watch.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<BlockingStream>,
    path: PathBuf,
}

impl Client {
    /// Goes to the watch of a work tree.
    ///
    /// # Errors
    /// When none runs there.
    pub fn connect(path: &Path, root: &Path) -> Result<Self, SocketError> {
        let stream = BlockingStream::connect(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => SocketError::NoWatch(root.to_owned()),
            _ => SocketError::Io { path: path.to_owned(), source },
        })?;
        let client = Self { stream: BufReader::new(stream), path: path.to_owned() };
        client.stream.get_ref().set_read_timeout(Some(PATIENCE)).map_err(|source| client.failed(source))?;
        Ok(client)
    }

    /// Another end of the same conversation, to speak for as long as it takes while this one listens.
    ///
    /// # Errors
    /// When the system has none left.
    pub fn speaker(&self) -> Result<Speaker, SocketError> {
        let stream = self.stream.get_ref();
        // Whoever speaks may be silent for long.
        let speaker = stream.set_read_timeout(None).and_then(|()| stream.try_clone());
        Ok(Speaker(speaker.map_err(|source| self.failed(source))?))
    }

    /// The answer to the next line; `None` once the watch has gone.
    ///
    /// # Errors
    /// When none comes.
    pub fn answer(&mut self) -> Result<Option<String>, SocketError> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => Ok(None),
            Ok(_) => Ok(Some(line)),
            Err(source) => Err(self.failed(source)),
        }
    }

    /// Says one line and returns the answer to it.
    ///
    /// # Errors
    /// When it cannot be said, or no answer comes.
    pub fn ask(&mut self, line: &str) -> Result<Option<String>, SocketError> {
        let said = self.stream.get_mut().write_all(format!("{line}\n").as_bytes());
        said.map_err(|source| self.failed(source))?;
        self.answer()
    }

    fn failed(&self, source: io::Error) -> SocketError {
        SocketError::Io { path: self.path.clone(), source }
    }
}

/// The end of a conversation that speaks; dropped, nothing more will be said.
#[derive(Debug)]
pub struct Speaker(BlockingStream);

impl io::Write for Speaker {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Speaker {
    fn drop(&mut self) {
        // A watch that is gone does not listen.
        drop(self.0.shutdown(std::net::Shutdown::Write));
    }
}
