//! Programs whose service has had enough of us for now, remembered between runs.
//!
//! A run that begins before the end of such a time does not knock at the door to hear the same again.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::agents::adapters::registry::AdapterKind;
use crate::agents::calls::agents::{Agents, Cooldown, Cooldowns};
use crate::agents::error::AgentError;
use crate::domain::{Agent, FailureKind};

const FILE: &str = "cooldowns.json";

/// The cooldown after a rate limit whose end the service does not give.
const REST: SignedDuration = SignedDuration::from_secs(30);

impl Agents {
    pub(crate) fn resting(&self, kind: AdapterKind, agent: &Agent, now: Timestamp) -> Option<Cooldown> {
        self.cooldowns(now).remove(&key(kind, agent)?)
    }

    pub fn cooldowns(&self, now: Timestamp) -> BTreeMap<String, Cooldown> {
        let mut all: Cooldowns = self.memory.read(FILE);
        all.retain(|_, cooldown| cooldown.until > now);
        all
    }

    /// Records a cooldown where a failed try gives its end, and removes it after an answer.
    pub(crate) fn heard(
        &self,
        kind: AdapterKind,
        agent: &Agent,
        failure: Option<(FailureKind, &str)>,
        now: Timestamp,
    ) {
        let rest = |(failure, why): (FailureKind, &str)| {
            failure.reset().map(|until| Cooldown { until, why: why.to_owned() })
        };
        match failure.map(rest) {
            // It failed, and said nothing of when it works again.
            Some(None) => {}
            cooldown => self.rests(kind, agent, cooldown.flatten(), now),
        }
    }

    /// Takes note that an agent is not asked again in this call. One that was asked too often rests a while, also where
    /// its service does not say for how long; credit may be bought at any moment.
    pub(crate) fn gives_up(&self, agent: &Agent, error: &AgentError, now: Timestamp) {
        if let (Ok(kind), FailureKind::RateLimited { reset: None }) = (AdapterKind::of(agent), error.kind) {
            self.rests(kind, agent, Some(Cooldown { until: now + REST, why: error.message.clone() }), now);
        }
    }

    fn rests(&self, kind: AdapterKind, agent: &Agent, cooldown: Option<Cooldown>, now: Timestamp) {
        let Some(key) = key(kind, agent) else { return };
        if cooldown.is_none() && self.resting(kind, agent, now).is_none() {
            return;
        }
        self.memory.change(FILE, |all: &mut Cooldowns| {
            match cooldown {
                Some(cooldown) => all.insert(key, cooldown),
                None => all.remove(&key),
            };
        });
    }
}

/// What shares a limit: a program with the user's own login, or one with variables of its own by the agent's name.
fn key(kind: AdapterKind, agent: &Agent) -> Option<String> {
    let known = AdapterKind::PROGRAMS.contains(&kind);
    known.then(|| if agent.env.is_empty() { kind.to_string() } else { format!("{kind} of {}", agent.name) })
}
