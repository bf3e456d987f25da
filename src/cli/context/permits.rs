//! The permits of a worker's run, which the server gives.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::globals::Globals;
use super::server;
use crate::cli::error::CommandError;
use crate::cli::ui::terminal::held;
use glee_agents::{Agents, Permits};
use glee_store::history::queue::Queue;
use glee_store::history::submission::CarriedRun;

/// How long a call waits before it asks again a server that it could not reach.
const AWAY: Duration = Duration::from_millis(500);

struct ServerPermits {
    queue: Mutex<Box<dyn Queue>>,
    claim: CarriedRun,
}

/// Lets the calls of a worker's run wait for permits. The calls of other runs need none.
pub(crate) fn limited(globals: &Globals, agents: Agents) -> Result<Agents, CommandError> {
    let Some(claim) = globals.claim() else {
        return Ok(agents);
    };
    let queue = Mutex::new(server::required(globals)?.queue()?);
    Ok(agents.with_permits(Arc::new(ServerPermits { queue, claim })))
}

impl Permits for ServerPermits {
    fn ask(&self, vendor: &str, call: &str) -> Duration {
        // If another worker carries the run, this process ends when it next renews its lease.
        held(&self.queue)
            .permit(&self.claim, vendor, call)
            .unwrap_or(AWAY)
    }

    fn give_back(&self, vendor: &str, call: &str) {
        // What is not given back ends with the lease.
        drop(held(&self.queue).give_back(&self.claim, vendor, call));
    }

    fn cool(&self, vendor: &str, time: Duration) {
        drop(held(&self.queue).cool(&self.claim, vendor, time));
    }
}
