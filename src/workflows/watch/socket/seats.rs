//! Limits on the number of connections that are served at a time, by kind.
//!
//! Agents have separate seats, so that they cannot take those of persons; so have connections that may be a
//! person's. When all of those are taken, a connection that begins with the key of the watch gets a reserved seat.
//! The number of connections of one process is limited.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::peer::{Peer, PeerRelation};

/// The seats of agents and of processes that cannot be identified.
const AGENTS: usize = 192;
/// The seats of other processes.
const OTHERS: usize = 64;
/// The seats of connections that begin with the key.
const RESERVED: usize = 16;
/// The connections of one process.
const A_PROCESS: usize = 32;

#[derive(Debug)]
pub(crate) struct ConnectionLimits {
    agents: Arc<Semaphore>,
    others: Arc<Semaphore>,
    reserved: Arc<Semaphore>,
    held: Arc<Mutex<HashMap<i32, usize>>>,
}

/// A seat that is taken until this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    /// Whether the first line has to carry the key.
    pub(crate) is_reserved: bool,
    _permit: OwnedSemaphorePermit,
    pid: Option<i32>,
    held: Arc<Mutex<HashMap<i32, usize>>>,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        let seats = |count| Arc::new(Semaphore::new(count));
        Self { agents: seats(AGENTS), others: seats(OTHERS), reserved: seats(RESERVED), held: Arc::default() }
    }
}

impl ConnectionLimits {
    pub(crate) fn take(&self, peer: &Peer) -> Option<ConnectionPermit> {
        let pid = peer.pid();
        let free = |seats: &Arc<Semaphore>| Arc::clone(seats).try_acquire_owned().ok();
        let has_many = pid.is_some_and(|pid| counts(&self.held).get(&pid).is_some_and(|count| *count >= A_PROCESS));
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
        Some(ConnectionPermit { is_reserved, _permit: permit, pid, held: Arc::clone(&self.held) })
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
    // The counts are consistent after a panic.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
