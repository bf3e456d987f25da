//! Shares what is known about a failing service between the calls of a program. A service fails for all calls of its
//! program at once. So while it fails, one call at a time tries again, and once one of them gives up, no call begins
//! for a while.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::SignedDuration;
use tokio::time::Instant;

use crate::AgentError;
use glee_model::domain::FailureKind;

/// How long no call begins after a failure of the service whose end is unknown.
pub(crate) const UNSPECIFIED: SignedDuration = SignedDuration::from_secs(30);

/// The services that calls met, by the key of their program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Services(Arc<Mutex<BTreeMap<String, Arc<Service>>>>);

impl Services {
    pub(crate) fn of(&self, key: String) -> Arc<Service> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(key).or_default().clone()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Service {
    state: Mutex<State>,
    /// Held by the call that tries again.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Requests that failed since the last answer, without those that failed side by side.
    failed: u32,
    given_up: Option<(Instant, AgentError)>,
}

impl Service {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn failed(&self) -> u32 {
        self.state().failed
    }

    /// Why no call of the program begins now.
    pub(crate) fn holds(&self) -> Option<AgentError> {
        let mut state = self.state();
        let is_over = |(since, _): &(Instant, _)| since.elapsed() > UNSPECIFIED.unsigned_abs();
        if state.given_up.as_ref().is_some_and(is_over) {
            *state = State::default();
        }
        let (_, error) = state.given_up.as_ref()?;
        Some(error.clone())
    }

    /// Counts the requests of a try that ended. `before` is the count when the try began.
    pub(crate) fn ended(&self, before: u32, failure: Option<FailureKind>, requests: u32) {
        match failure {
            None => self.answers(),
            Some(kind) if kind.is_of_service() => {
                let mut state = self.state();
                state.failed = state.failed.max(before.saturating_add(requests));
            }
            Some(_) => {}
        }
    }

    pub(crate) fn answers(&self) {
        *self.state() = State::default();
    }

    pub(crate) fn give_up(&self, error: &AgentError) {
        if error.kind.is_of_service() {
            self.state()
                .given_up
                .get_or_insert_with(|| (Instant::now(), error.clone()));
        }
    }
}
