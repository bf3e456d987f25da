//! The Unix socket through which a watch receives events and commands.
//!
//! The watch answers each line with one line. Lines that arrive together form a batch, so that their events can
//! share one transaction. The next batch of a connection is read after the watch has answered the previous batch.

pub mod key;
pub mod peer;
pub mod protocol;
pub mod seats;

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempPath;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use crate::watch::socket::key::WatchKey;
use crate::watch::socket::peer::{Peer, PeerRelation};
use crate::watch::socket::protocol::{CommandReply, Intake, LONGEST, WatchCommand, WatchMessage};
use crate::watch::socket::seats::{ConnectionLimits, ConnectionPermit};
use glee_model::domain::{Advice, EventType, ExitReason};
use glee_system::{files, private};

/// The environment variable that gives agents the path of the socket.
pub const VARIABLE: &str = "GLEE_WATCH_SOCKET";

const PIECE: usize = 64 << 10;
/// The timeout for the first valid line of a new connection.
const PATIENCE_SILENT: Duration = Duration::from_secs(20);
/// The timeout for the first valid line if a new connection has a reserved permit (see `seats`).
const PATIENCE_RESERVED: Duration = Duration::from_secs(2);
/// The maximum length of the socket's path, in bytes. Every supported system permits paths of this length.
const ADDRESS: usize = 100;
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    #[error("no watch is running for `{}`", .0.display())]
    NoWatch(PathBuf),
    #[error("another watch is running for `{}`", .0.display())]
    Taken(PathBuf),
    #[error("`{}` belongs to another user", .0.display())]
    Foreign(PathBuf),
    #[error("the watch sent an invalid answer: {0}")]
    Unreadable(String),
    #[error("cannot use the socket `{}` of the watch", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl SocketError {
    fn at(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        |source| Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

impl Advice for SocketError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoWatch(_) => "start a watch in another terminal: `glee watch`",
            Self::Taken(_) => "show the status of the running watch with `glee watch status`",
            Self::Foreign(_) => "set `GLEE_STATE_DIR` to a folder that you own, with a short path",
            Self::Unreadable(_) => {
                "restart the watch with this version of Glee: `glee watch stop`, then `glee watch`"
            }
            Self::Io { .. } => return None,
        };
        Some(hint.to_owned())
    }

    fn exit(&self) -> ExitReason {
        if matches!(self, Self::Taken(_)) {
            ExitReason::Locked
        } else {
            ExitReason::Usage
        }
    }
}

/// Returns the socket's path in the state folder, or a path in `/tmp` if the path in the state folder is too long.
pub fn address(state_dir: &Path, root: &Path) -> PathBuf {
    let key = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    let own = state_dir.join("watch").join(format!("{}.sock", &key[..16]));
    if own.as_os_str().len() <= ADDRESS {
        return own;
    }
    let both = blake3::hash(own.as_os_str().as_encoded_bytes()).to_hex();
    let user = nix::unistd::getuid();
    PathBuf::from("/tmp")
        .join(format!("glee-{user}"))
        .join(format!("{}.sock", &both[..16]))
}

/// Locks the work tree, so that no other watch of this tree can start while the returned file is open. Fails if
/// another watch of the work tree is running.
pub fn lock(path: &Path, root: &Path) -> Result<fs::File, SocketError> {
    let failed = SocketError::at(path);
    let folder = path.parent().unwrap_or(Path::new("/"));
    private::folder(folder).map_err(failed)?;
    let mut options = fs::File::options();
    let lock = options
        .create(true)
        .truncate(false)
        .write(true)
        .open(path.with_extension("lock"))
        .map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(fs::TryLockError::WouldBlock) => Err(SocketError::Taken(root.to_owned())),
        Err(fs::TryLockError::Error(source)) => Err(failed(source)),
    }
}

#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    key: WatchKey,
    owed: watch::Sender<usize>,
    _endpoint: TempPath,
    _lock: fs::File,
}

impl Listener {
    pub fn bind(path: &Path, root: &Path) -> Result<Self, SocketError> {
        let failed = SocketError::at(path);
        let folder = path.parent().unwrap_or(Path::new("/"));
        private::folder(folder).map_err(failed)?;
        let meta = fs::symlink_metadata(folder).map_err(failed)?;
        if !meta.is_dir() || meta.uid() != nix::unistd::getuid().as_raw() {
            return Err(SocketError::Foreign(folder.to_owned()));
        }
        if meta.mode() & 0o077 != 0 {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        }
        let lock = lock(path, root)?;
        files::remove(path).map_err(failed)?;
        // Clients need the key when they connect, so the key is created before the socket.
        let key = WatchKey::create(path).map_err(failed)?;
        let listener = UnixListener::bind(path).map_err(failed)?;
        let endpoint = TempPath::try_from_path(path).map_err(failed)?;
        Ok(Self {
            listener,
            key,
            owed: watch::channel(0).0,
            _endpoint: endpoint,
            _lock: lock,
        })
    }

    /// Waits until all answers have been sent, but waits at most one second.
    pub fn all_answered(&self) -> impl Future<Output = ()> + use<> {
        let mut owed = self.owed.subscribe();
        async move { drop(timeout(Duration::from_secs(1), owed.wait_for(|owed| *owed == 0)).await) }
    }

    pub async fn serve(self, intake: Intake) {
        let seats = ConnectionLimits::default();
        let key = Arc::new(self.key);
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let Some(peer) = Peer::of(&stream) else {
                        continue;
                    };
                    let Some(seat) = seats.take(&peer) else {
                        // The send buffer of a new connection is empty, so the refusal fits into the buffer.
                        drop(stream.try_write(
                            line(&[CommandReply::refused("too many connections")]).as_bytes(),
                        ));
                        continue;
                    };
                    let guest = Guest {
                        by: own_name(),
                        peer,
                        key: Arc::clone(&key),
                    };
                    let intake = intake.clone();
                    let owed = self.owed.clone();
                    tokio::spawn(async move {
                        drop(converse(stream, intake, guest, owed, seat).await);
                    });
                }
                // The usual cause of this error is that too many files are open. Therefore, `accept` is called
                // again after a delay.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }
}

struct Guest {
    by: String,
    peer: Peer,
    key: Arc<WatchKey>,
}

impl Guest {
    /// Parses a line, and refuses commands that the sender must not send. Agents are allowed to send only events
    /// and read-only commands, because an agent must not resume its own paused work. The returned boolean states
    /// whether the line contains the key of the watch.
    fn admit(&self, line: &[u8]) -> (WatchMessage, bool) {
        let (item, key) = protocol::read_keyed(line);
        let is_persons = match &item {
            WatchMessage::Command(command) => !command.only_reads(),
            WatchMessage::Event(event) => event.kind == EventType::UserManual,
            WatchMessage::Malformed(_) => return (item, false),
        };
        match (is_persons.then(|| self.refused(&key)).flatten(), item) {
            (Some(why), WatchMessage::Command(_)) => {
                (WatchMessage::Malformed(why.to_owned()), false)
            }
            (Some(_), item) => (protocol::for_agent(item), false),
            (None, item) => (item, key.is_some_and(|key| self.key.fits(&key))),
        }
    }

    fn refused(&self, key: &Option<String>) -> Option<&'static str> {
        match (self.peer.relation(), key) {
            (PeerRelation::Descendant, _) => Some("an agent cannot send commands"),
            (PeerRelation::Unknown, _) => {
                Some("a command comes from a process that cannot be identified")
            }
            (PeerRelation::Outside, None) => Some(
                "a command requires the key of the watch; the key is in a file next to the socket",
            ),
            (PeerRelation::Outside, Some(key)) if !self.key.fits(key) => {
                Some("the key is not that of this watch")
            }
            (PeerRelation::Outside, Some(_)) => None,
        }
    }
}

pub fn own_name() -> String {
    let uid = nix::unistd::getuid();
    nix::unistd::User::from_uid(uid)
        .ok()
        .flatten()
        .map_or_else(|| format!("uid {uid}"), |user| user.name)
}

/// Receives lines from a client and sends these lines to the watch, until the client's connection closes or times
/// out.
async fn converse(
    stream: UnixStream,
    intake: Intake,
    guest: Guest,
    owed: watch::Sender<usize>,
    seat: ConnectionPermit,
) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = tokio::io::BufReader::with_capacity(PIECE, read);
    let mut lines = SocketLines::default();
    let mut has_spoken = false;
    let patience = if seat.is_reserved {
        PATIENCE_RESERVED
    } else {
        PATIENCE_SILENT
    };
    let until = Instant::now() + patience;
    loop {
        let piece = if has_spoken {
            read.fill_buf().await?
        } else {
            match timeout_at(until, read.fill_buf()).await {
                Ok(piece) => piece?,
                Err(_) => return Ok(()),
            }
        };
        let length = piece.len();
        let ended = piece.is_empty();
        let complete = lines.take(if ended { b"\n".as_slice() } else { piece });
        read.consume(length);
        if !complete.is_empty() {
            let (items, with_key): (Vec<WatchMessage>, Vec<bool>) =
                complete.iter().map(|line| guest.admit(line)).unzip();
            if seat.is_reserved && !has_spoken && !with_key[0] {
                return write
                    .write_all(line(&[CommandReply::refused("too many connections")]).as_bytes())
                    .await;
            }
            has_spoken |= items
                .iter()
                .any(|item| !matches!(item, WatchMessage::Malformed(_)));
            owed.send_modify(|owed| *owed += 1);
            let answers = protocol::hand_over(&intake, items, &guest.by).await;
            let text = answers.as_deref().map(line).unwrap_or_default();
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

fn line(answers: &[CommandReply]) -> String {
    answers
        .iter()
        .map(|answer| serde_json::json!(answer).to_string() + "\n")
        .collect()
}

/// Splits a stream of bytes into lines, and cuts each line to at most `LONGEST + 1` bytes.
#[derive(Debug, Default)]
pub(crate) struct SocketLines {
    rest: Vec<u8>,
}

impl SocketLines {
    /// Takes the next bytes of the stream (`piece`). Returns the non-empty lines that `piece` completes.
    pub(crate) fn take(&mut self, piece: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let room = (LONGEST + 1).saturating_sub(self.rest.len());
            self.rest.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                lines.extend(self.line());
            }
        }
        lines
    }

    fn line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.rest);
        let trimmed = line.trim_ascii().len();
        match trimmed {
            0 => None,
            _ if trimmed == line.len() => Some(line),
            _ => Some(line.trim_ascii().to_vec()),
        }
    }
}

#[derive(Debug)]
pub struct Client {
    stream: BufReader<BlockingStream>,
    path: PathBuf,
}

impl Client {
    pub fn connect(path: &Path, root: &Path) -> Result<Self, SocketError> {
        let stream = BlockingStream::connect(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                SocketError::NoWatch(root.to_owned())
            }
            _ => SocketError::at(path)(source),
        })?;
        let client = Self {
            stream: BufReader::new(stream),
            path: path.to_owned(),
        };
        client
            .stream
            .get_ref()
            .set_read_timeout(Some(PATIENCE))
            .map_err(|source| client.failed(source))?;
        Ok(client)
    }

    /// Returns a second handle of the connection. Another thread can write through this handle while this thread
    /// reads.
    pub fn speaker(&self) -> Result<BlockingStream, SocketError> {
        let stream = self.stream.get_ref();
        // The writing thread can pause for a long time. Therefore, the reading thread waits for answers without a
        // timeout.
        let speaker = stream
            .set_read_timeout(None)
            .and_then(|()| stream.try_clone());
        speaker.map_err(|source| self.failed(source))
    }

    /// Waits for the watch's next answer. Returns `None` if the watch has ended.
    pub fn answer(&mut self) -> Result<Option<CommandReply>, SocketError> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => Ok(None),
            Ok(_) => serde_json::from_str(&line)
                .map_err(|error| SocketError::Unreadable(error.to_string())),
            Err(source) => Err(self.failed(source)),
        }
    }

    pub fn ask(&mut self, line: &str) -> Result<Option<CommandReply>, SocketError> {
        match self
            .stream
            .get_mut()
            .write_all(format!("{line}\n").as_bytes())
        {
            // If the watch has refused the connection, writing fails, but the client can still read the reason.
            Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
                return Err(self.failed(source));
            }
            _ => {}
        }
        self.answer()
    }

    pub fn command(&mut self, command: &WatchCommand) -> Result<Option<CommandReply>, SocketError> {
        self.ask(&command.line(self.key().as_deref()))
    }

    pub fn key(&self) -> Option<String> {
        key::read(&self.path)
    }

    fn failed(&self, source: io::Error) -> SocketError {
        SocketError::at(&self.path)(source)
    }
}
