//! Determines whether the process at the other end of a connection is an agent of the watch.
//!
//! All agents and their children are descendants of the watch's process. Every agent has a supervisor process,
//! which adopts the orphaned processes of the agent. If a supervisor dies, the watch's process adopts the
//! children of the supervisor. A process is allowed to send commands only if the process is alive, belongs to
//! this user, and is not a descendant of the watch. Commands are refused if the sender has ended, if its
//! ancestors cannot be read, or if the sender is in another namespace.

use tokio::net::UnixStream;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerRelation {
    /// The process was not started by this watch.
    Outside,
    /// The process was started by this watch, directly or through an ancestor.
    Descendant,
    /// The process has ended, or Glee cannot determine whether the watch started the process.
    Unknown,
}

#[derive(Debug)]
pub struct Peer {
    pid: Option<i32>,
    #[cfg(target_os = "linux")]
    handle: Handle,
}

/// Distinguishes a process from a later process with the same id.
#[cfg(target_os = "linux")]
#[derive(Debug)]
enum Handle {
    Descriptor(std::os::fd::OwnedFd),
    /// The start time of the process, in clock ticks since the system booted.
    Started(u64),
    /// The process had already ended, or the system does not report its start time.
    None,
}

impl Peer {
    /// Returns `None` if the process belongs to another user.
    pub fn of(stream: &UnixStream) -> Option<Self> {
        let peer = stream.peer_cred().ok()?;
        let is_own = peer.uid() == nix::unistd::getuid().as_raw();
        // The kernel reports the id 0 for a process in another namespace.
        let pid = peer.pid().filter(|pid| *pid > 0);
        is_own.then(|| Self {
            pid,
            #[cfg(target_os = "linux")]
            handle: handle(stream, pid),
        })
    }

    /// The id of the process. After the process has ended, another process can get the same id.
    pub fn pid(&self) -> Option<i32> {
        self.pid
    }

    pub fn relation(&self) -> PeerRelation {
        let Some(pid) = self.pid else {
            return PeerRelation::Unknown;
        };
        if !self.is_alive() {
            return PeerRelation::Unknown;
        }
        let relation = relation_of(pid);
        // The result is valid only if the process was still alive after its ancestors were read.
        if self.is_alive() {
            relation
        } else {
            PeerRelation::Unknown
        }
    }
}

#[cfg(target_os = "linux")]
fn handle(stream: &UnixStream, pid: Option<i32>) -> Handle {
    use nix::errno::Errno;
    use nix::sys::socket::{getsockopt, sockopt::PeerPidfd};
    match getsockopt(stream, PeerPidfd) {
        Ok(descriptor) => Handle::Descriptor(descriptor),
        // Linux kernels before version 6.5 provide no handle for the peer process, so Glee recognises the process
        // by its start time.
        Err(Errno::ENOPROTOOPT) => pid
            .and_then(process::stat)
            .map_or(Handle::None, |stat| Handle::Started(stat.started)),
        Err(_) => Handle::None,
    }
}

#[cfg(target_os = "linux")]
impl Peer {
    fn is_alive(&self) -> bool {
        use std::os::fd::AsFd as _;

        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        match &self.handle {
            // The descriptor becomes readable when the process ends.
            Handle::Descriptor(descriptor) => {
                poll(
                    &mut [PollFd::new(descriptor.as_fd(), PollFlags::POLLIN)],
                    PollTimeout::ZERO,
                ) == Ok(0)
            }
            Handle::Started(started) => {
                let now = self.pid.and_then(process::stat);
                now.is_some_and(|stat| stat.started == *started && !stat.is_dead)
            }
            Handle::None => false,
        }
    }
}

#[cfg(target_os = "linux")]
fn relation_of(pid: i32) -> PeerRelation {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    // The ancestors of a process can change during the reading. Therefore, the reading is repeated until two
    // consecutive results are equal.
    let mut before = process::ancestors(pid);
    for _ in 0..16 {
        let now = process::ancestors(pid);
        if now.is_some() && now == before {
            let descends = now.into_iter().flatten().any(|stat| stat.pid == own);
            return if descends {
                PeerRelation::Descendant
            } else {
                PeerRelation::Outside
            };
        }
        before = now;
    }
    PeerRelation::Unknown
}

#[cfg(target_os = "linux")]
mod process {
    const DEEPEST: usize = 10_000;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Stat {
        pub pid: i32,
        pub parent: i32,
        pub started: u64,
        pub(crate) is_dead: bool,
    }

    pub(super) fn stat(pid: i32) -> Option<Stat> {
        parse(
            pid,
            &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?,
        )
    }

    fn parse(pid: i32, line: &str) -> Option<Stat> {
        // The name in parentheses can contain any character, so the line is split after the last parenthesis.
        let mut words = line.rsplit_once(") ")?.1.split(' ');
        let is_dead = matches!(words.next()?, "Z" | "X" | "x");
        let parent = words.next()?.parse().ok()?;
        // The start time is field 22 of the line. The preceding call of `next` read field 4, so 17 fields are
        // skipped.
        let started = words.nth(17)?.parse().ok()?;
        Some(Stat {
            pid,
            parent,
            started,
            is_dead,
        })
    }

    /// Lists a process and all its ancestors. Returns `None` if the state of the process or of an ancestor
    /// cannot be read.
    pub(super) fn ancestors(pid: i32) -> Option<Vec<Stat>> {
        let mut found = vec![stat(pid)?];
        while let Some(last) = found.last()
            && last.parent != 0
        {
            if found.len() == DEEPEST {
                return None;
            }
            let above = stat(last.parent)?;
            found.push(above);
        }
        Some(found)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_process_is_read_whatever_it_is_called() {
            let line = "7 (a) R 1 (b) S 5 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 9 10\n";
            assert_eq!(
                parse(7, line),
                Some(Stat {
                    pid: 7,
                    parent: 5,
                    started: 4711,
                    is_dead: false
                })
            );
            let dead = line.replace(") S 5", ") Z 5");
            assert!(parse(7, &dead).is_some_and(|stat| stat.is_dead));
            assert_eq!(parse(7, "7 (a) S 5"), None);
        }
    }
}

/// On systems other than Linux, Glee does not recognise an agent's orphaned child as a descendant of the watch.
/// On these systems, only the key of the watch protects the watch from commands of an orphaned child.
#[cfg(not(target_os = "linux"))]
impl Peer {
    fn is_alive(&self) -> bool {
        self.pid.is_some_and(|pid| {
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None).is_ok()
        })
    }
}

#[cfg(not(target_os = "linux"))]
fn relation_of(pid: i32) -> PeerRelation {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let Some(parents) = parents() else {
        return PeerRelation::Unknown;
    };
    let mut chain =
        std::iter::successors(Some(pid), |pid| parents.get(pid).copied()).take(parents.len() + 1);
    if chain.any(|ancestor| ancestor == own) {
        PeerRelation::Descendant
    } else {
        PeerRelation::Outside
    }
}

#[cfg(not(target_os = "linux"))]
fn parents() -> Option<std::collections::HashMap<i32, i32>> {
    let listed = std::process::Command::new("/bin/ps")
        .args(["-A", "-o", "pid=,ppid="])
        .output()
        .ok()?;
    listed.status.success().then(|| {
        String::from_utf8_lossy(&listed.stdout)
            .lines()
            .filter_map(|line| {
                let mut words = line.split_whitespace().map(|word| word.parse().ok());
                Some((words.next()??, words.next()??))
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::process::{Command, Stdio};

    use super::*;

    /// Returns a peer of a new connection, and the child process that runs `script` and connects.
    #[cfg(target_os = "linux")]
    async fn from_child(script: &str) -> (Peer, std::process::Child) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = tokio::net::UnixListener::bind(&path).unwrap();
        let child = Command::new("python3")
            .args([
                "-c",
                &format!("import socket,os,sys,time\ns=socket.socket(socket.AF_UNIX)\n{script}"),
            ])
            .env("S", &path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        (Peer::of(&stream).unwrap(), child)
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_child_a_dead_process_and_an_heir_are_not_outside() {
        let connect = "s.connect(os.environ['S'])";
        let (peer, mut child) = from_child(&format!("{connect}\nsys.stdin.read()")).await;
        assert_eq!(peer.relation(), PeerRelation::Descendant);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(peer.relation(), PeerRelation::Unknown, "it has ended");

        let heir =
            format!("if os.fork() == 0:\n {connect}\n os._exit(0)\nos.wait()\nsys.stdin.read()");
        let (peer, mut child) = from_child(&heir).await;
        while peer.relation() != PeerRelation::Unknown {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn what_this_process_descends_from_is_outside() {
        let parent = i32::try_from(std::os::unix::process::parent_id()).unwrap();
        assert_eq!(relation_of(parent), PeerRelation::Outside);
        assert_eq!(
            relation_of(i32::try_from(std::process::id()).unwrap()),
            PeerRelation::Descendant
        );
        let mut child = Command::new("sleep")
            .arg("5")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        assert_eq!(
            relation_of(i32::try_from(child.id()).unwrap()),
            PeerRelation::Descendant
        );
        child.kill().unwrap();
        child.wait().unwrap();
        let gone = relation_of(i32::try_from(child.id()).unwrap());
        assert!(
            gone != PeerRelation::Outside || !cfg!(target_os = "linux"),
            "{gone:?}"
        );
    }
}
