//! Ends the processes that a killed supervisor left behind. On Linux, Glee is the subreaper of its supervisors. If
//! a supervisor dies, Glee becomes the parent of the supervisor's child processes. Each supervisor leads a
//! separate session, and no descendant of a supervisor can join Glee's session. If a child process of Glee is not
//! in Glee's session, the child process is a running supervisor or an orphan.

#[cfg(target_os = "linux")]
pub use linux::{Registered, end_all, spawn_registered};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::io;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::time::Duration;

    use nix::sys::signal::{Signal, kill};
    use nix::sys::wait::{WaitPidFlag, waitpid};
    use nix::unistd::{Pid, getsid};
    use tokio::time::{Instant, sleep};

    use crate::process::supervisor::descendants::{children, descendants};

    /// The maximum time for killing orphans. After this time, Glee reports the orphans that are still alive.
    const SWEEP: Duration = Duration::from_secs(2);

    /// The process ids of the running supervisors. Glee holds the lock of the mutex `AT_WORK` while a supervisor
    /// starts.
    static AT_WORK: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

    fn at_work() -> MutexGuard<'static, BTreeSet<i32>> {
        AT_WORK.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[derive(Debug)]
    pub struct Registered(Option<i32>);

    impl Drop for Registered {
        fn drop(&mut self) {
            if let Some(pid) = self.0 {
                at_work().remove(&pid);
            }
        }
    }

    pub fn spawn_registered<T>(
        spawn: impl FnOnce() -> io::Result<T>,
        id: impl Fn(&T) -> Option<u32>,
    ) -> io::Result<(T, Registered)> {
        let mut at_work = at_work();
        let child = spawn()?;
        let pid = id(&child).and_then(|id| i32::try_from(id).ok());
        at_work.extend(pid);
        Ok((child, Registered(pid)))
    }

    /// Kills the orphans of a dead supervisor. Returns the ids of the orphans that still exist at the deadline, or
    /// `None` if all orphans ended.
    pub async fn end_all(supervisor: Registered) -> Option<Vec<i32>> {
        drop(supervisor);
        let deadline = Instant::now() + SWEEP;
        let mut pause = Duration::from_millis(1);
        loop {
            let left = leftovers();
            if left.is_empty() {
                return None;
            }
            // Parents are killed first, because a killed process cannot start more children.
            for pid in left
                .iter()
                .flat_map(|pid| std::iter::once(*pid).chain(descendants(&pid.to_string())))
            {
                let _ = kill(pid, Signal::SIGKILL);
            }
            for pid in &left {
                let _ = waitpid(*pid, Some(WaitPidFlag::WNOHANG));
            }
            if Instant::now() >= deadline {
                return Some(left.into_iter().map(Pid::as_raw).collect());
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    fn leftovers() -> Vec<Pid> {
        let own = getsid(None);
        let at_work = at_work();
        children("self")
            .into_iter()
            .filter(|pid| {
                !at_work.contains(&pid.as_raw())
                    && getsid(Some(*pid)).is_ok_and(|sid| own != Ok(sid))
            })
            .collect()
    }
}

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Registered, end_all, spawn_registered};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::io;

    #[derive(Debug)]
    pub struct Registered;

    pub fn spawn_registered<T>(
        spawn: impl FnOnce() -> io::Result<T>,
        _id: impl Fn(&T) -> Option<u32>,
    ) -> io::Result<(T, Registered)> {
        Ok((spawn()?, Registered))
    }

    pub async fn end_all(_supervisor: Registered) -> Option<Vec<i32>> {
        Some(Vec::new())
    }
}
