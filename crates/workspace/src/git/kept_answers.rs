//! Answers of git that a repository keeps, so that a run starts git once for each of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::Result;
use crate::git::path_bytes;
use crate::git::plumbing::Repository;

#[derive(Clone, Debug, Default)]
pub(super) struct KeptAnswers {
    /// By the arguments of git.
    of_ids: Arc<Mutex<HashMap<Vec<String>, Vec<u8>>>>,
    /// The settings of git, the one that counts last.
    config: Arc<OnceLock<Vec<(String, String)>>>,
}

impl KeptAnswers {
    fn of_ids(&self) -> MutexGuard<'_, HashMap<Vec<String>, Vec<u8>>> {
        self.of_ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Repository {
    /// Asks git a question that names commits and trees only by their ids, so that the answer stays the same.
    pub(super) fn ask_once(&self, args: &[&str]) -> Result<Vec<u8>> {
        let question: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        if let Some(answer) = self.kept.of_ids().get(&question) {
            return Ok(answer.clone());
        }
        let answer = self.call(args.iter().copied()).output()?;
        self.kept.of_ids().insert(question, answer.clone());
        Ok(answer)
    }

    /// The keys of git's settings, in lower case except for names inside them, and the values. Empty if git cannot read
    /// them.
    pub(super) fn config(&self) -> Result<&[(String, String)]> {
        if let Some(config) = self.kept.config.get() {
            return Ok(config);
        }
        let listed = self.call(["config", "--null", "--list"]).answer()?;
        let mut config = Vec::new();
        for entry in path_bytes::items(&listed.unwrap_or_default(), 0) {
            let entry = path_bytes::shown(entry);
            // A key without a value is set to true.
            let (key, value) = entry.split_once('\n').unwrap_or((&entry, "true"));
            config.push((key.to_owned(), value.to_owned()));
        }
        Ok(self.kept.config.get_or_init(|| config))
    }

    pub(crate) fn setting(&self, key: &str) -> Result<Option<&str>> {
        let mut config = self.config()?.iter().rev();
        Ok(config
            .find(|(known, _)| known == key)
            .map(|(_, value)| value.as_str()))
    }
}
