//! Answers of git that a repository keeps, so that a run starts git once for each of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

#[derive(Clone, Debug, Default)]
pub(super) struct KeptAnswers {
    /// By the arguments of git.
    of_ids: Arc<Mutex<HashMap<Vec<String>, Vec<u8>>>>,
    /// The settings of git, the one that counts last.
    pub(super) config: Arc<OnceLock<Vec<(String, String)>>>,
}

impl KeptAnswers {
    pub(super) fn of_ids(&self) -> MutexGuard<'_, HashMap<Vec<String>, Vec<u8>>> {
        self.of_ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
