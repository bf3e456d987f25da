//! Calls that wait for a permit of their vendor.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;

use crate::adapters::registry::AdapterKind;
use crate::calls::permits::Permits;
use crate::{AgentError, Agents, Call};
use glee_model::domain::Agent;

/// A permit, which is given back when this value is dropped.
pub(crate) struct Permit {
    permits: Arc<dyn Permits>,
    vendor: String,
    call: String,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.permits.give_back(&self.vendor, &self.call);
    }
}

impl Agents {
    /// Lets calls wait for permits.
    #[must_use]
    pub fn with_permits(self, permits: Arc<dyn Permits>) -> Self {
        Self {
            permits: Some(permits),
            ..self
        }
    }

    /// Waits for a permit. `None` if calls need none.
    pub(crate) async fn permit(&self, call: &Call) -> Result<Option<Permit>, AgentError> {
        let Some(permits) = self.permits.as_ref().filter(|_| !call.agent.is_embedded()) else {
            return Ok(None);
        };
        let permit = Permit {
            permits: Arc::clone(permits),
            vendor: vendor(&call.agent),
            call: call.request.nonce.clone(),
        };
        loop {
            let permits = Arc::clone(permits);
            let vendor = permit.vendor.clone();
            let name = permit.call.clone();
            let asked = spawn_blocking(move || permits.ask(&vendor, &name)).await;
            match asked.unwrap_or_default() {
                Duration::ZERO => return Ok(Some(permit)),
                wait => call.pause(wait).await?,
            }
        }
    }

    pub(crate) fn cool(&self, agent: &Agent, time: Duration) {
        if let Some(permits) = &self.permits {
            permits.cool(&vendor(agent), time);
        }
    }
}

/// The name of an agent's vendor: of a program that Glee knows, the program; of a server of a model, its address; of
/// another command, the name of its file.
fn vendor(agent: &Agent) -> String {
    match AdapterKind::of(agent) {
        Ok(AdapterKind::Address) => agent.command.join(" "),
        Ok(kind) if AdapterKind::PROGRAMS.contains(&kind) => kind.to_string(),
        _ => {
            let program = agent.command.first().map_or("", String::as_str);
            let name = program.rsplit('/').next().unwrap_or_default();
            name.to_owned()
        }
    }
}
