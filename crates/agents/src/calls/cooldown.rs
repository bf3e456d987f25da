//! Stores the rate limits of programs between runs. A run calls no program before the program's rate limit ends.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::calls::outage::{Service, UNSPECIFIED};
use crate::{AdapterKind, AgentError, Agents, Cooldown};
use glee_model::domain::{Agent, FailureKind};

const FILE: &str = "cooldowns.json";

impl Agents {
    pub fn cooldown(&self, kind: AdapterKind, agent: &Agent, now: Timestamp) -> Option<Cooldown> {
        self.cooldowns(now).remove(&key(kind, agent)?)
    }

    pub fn cooldowns(&self, now: Timestamp) -> BTreeMap<String, Cooldown> {
        let mut all: BTreeMap<String, Cooldown> = self.cache.read(FILE);
        all.retain(|_, cooldown| cooldown.until > now);
        all
    }

    /// The service of an agent. Agents share it as they share a cooldown, if they have the same model.
    pub(crate) fn service(&self, agent: &Agent) -> Arc<Service> {
        let kind = AdapterKind::of(agent).ok();
        let key = kind.and_then(|kind| key(kind, agent));
        let key = key.unwrap_or_else(|| agent.name.to_string());
        let model = agent.model.as_deref().unwrap_or_default();
        self.services.of(format!("{key} {model}"))
    }

    pub(crate) fn update_cooldown(
        &self,
        kind: AdapterKind,
        agent: &Agent,
        failure: Option<(FailureKind, &str)>,
        now: Timestamp,
    ) {
        match failure.map(|(failure, why)| (failure.reset(), why)) {
            None => self.set_cooldown(kind, agent, None, now),
            Some((Some(until), why)) => {
                self.set_cooldown(
                    kind,
                    agent,
                    Some(Cooldown {
                        until,
                        why: why.to_owned(),
                    }),
                    now,
                );
            }
            Some((None, _)) => {}
        }
    }

    /// If the service did not report when its rate limit ends, records a cooldown of a fixed length. No cooldown
    /// is recorded for an exhausted quota, because the user can buy credit at any time.
    pub(crate) fn give_up(&self, agent: &Agent, error: &AgentError, now: Timestamp) {
        if let (Ok(kind), FailureKind::RateLimited { reset: None }) =
            (AdapterKind::of(agent), error.kind)
        {
            let cooldown = Cooldown {
                until: now + UNSPECIFIED,
                why: error.message.clone(),
            };
            self.set_cooldown(kind, agent, Some(cooldown), now);
        }
    }

    fn set_cooldown(
        &self,
        kind: AdapterKind,
        agent: &Agent,
        cooldown: Option<Cooldown>,
        now: Timestamp,
    ) {
        if let Some(cooldown) = &cooldown
            && let Ok(time) = Duration::try_from(cooldown.until.duration_since(now))
        {
            self.cool(agent, time);
        }
        let Some(key) = key(kind, agent) else { return };
        if cooldown.is_none() && self.cooldown(kind, agent, now).is_none() {
            return;
        }
        self.cache
            .change(FILE, |all: &mut BTreeMap<String, Cooldown>| {
                match cooldown {
                    Some(cooldown) => all.insert(key, cooldown),
                    None => all.remove(&key),
                };
            });
    }
}

/// Returns the key of an agent's cooldown, or `None` if the program is unknown. The agents of a program share one
/// cooldown, as do the agents of a server, but an agent with configured environment variables has a separate cooldown.
fn key(kind: AdapterKind, agent: &Agent) -> Option<String> {
    if kind == AdapterKind::Address {
        return Some(agent.command.join(" "));
    }
    let known = AdapterKind::PROGRAMS.contains(&kind);
    known.then(|| {
        if agent.env.is_empty() {
            kind.to_string()
        } else {
            format!("{kind} of {}", agent.name)
        }
    })
}
