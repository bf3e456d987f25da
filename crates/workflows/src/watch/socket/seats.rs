//! Limits the number of concurrent connections, for each kind of sender and for each process.
//!
//! Every connection needs a permit. The permits for agents and the permits for persons are counted separately. A
//! person's connection gets a reserved permit in two cases: all other permits for persons are in use, or the
//! connecting process already has many connections. The first line of a connection with a reserved permit must
//! contain the key of the watch.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::peer::{Peer, PeerRelation};

/// The total number of permits for agents and unidentified processes.
const AGENTS: usize = 192;
const OTHERS: usize = 64;
/// The number of permits that are reserved for connections whose first line contains the key of the watch.
const RESERVED: usize = 16;
const A_PROCESS: usize = 32;

#[derive(Debug)]
pub(crate) struct ConnectionLimits {
    agents: Arc<Semaphore>,
    others: Arc<Semaphore>,
    reserved: Arc<Semaphore>,
    held: Arc<Mutex<HashMap<i32, usize>>>,
}

/// The permit for one connection. After the permit is dropped, another connection can use it.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    /// Whether the connection's first line must contain the key.
    pub(crate) is_reserved: bool,
    _permit: OwnedSemaphorePermit,
    pid: Option<i32>,
    held: Arc<Mutex<HashMap<i32, usize>>>,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        let seats = |count| Arc::new(Semaphore::new(count));
        Self {
            agents: seats(AGENTS),
            others: seats(OTHERS),
            reserved: seats(RESERVED),
            held: Arc::default(),
        }
    }
}

impl ConnectionLimits {
    pub(crate) fn take(&self, peer: &Peer) -> Option<ConnectionPermit> {
        let pid = peer.pid();
        let free = |seats: &Arc<Semaphore>| Arc::clone(seats).try_acquire_owned().ok();
        let has_many = pid.is_some_and(|pid| {
            counts(&self.held)
                .get(&pid)
                .is_some_and(|count| *count >= A_PROCESS)
        });
        let is_outside = peer.relation() == PeerRelation::Outside;
        let (permit, is_reserved) = match (is_outside, has_many) {
            (false, true) => return None,
            (false, false) => (free(&self.agents)?, false),
            (true, false) if let Some(permit) = free(&self.others) => (permit, false),
            (true, _) => (free(&self.reserved)?, true),
        };
        if let Some(pid) = pid {
            *counts(&self.held).entry(pid).or_default() += 1;
        }
        Some(ConnectionPermit {
            is_reserved,
            _permit: permit,
            pid,
            held: Arc::clone(&self.held),
        })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let Some(pid) = self.pid else { return };
        let mut held = counts(&self.held);
        if let Some(count) = held.get_mut(&pid) {
            *count -= 1;
            if *count == 0 {
                held.remove(&pid);
            }
        }
    }
}

fn counts(held: &Mutex<HashMap<i32, usize>>) -> std::sync::MutexGuard<'_, HashMap<i32, usize>> {
    // A panic cannot make the counts inconsistent, so a poisoned lock can be used.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
