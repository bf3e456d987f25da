//! What git is asked once a run.

use crate::Result;
use crate::git::path_bytes;
use crate::git::plumbing::Repository;

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
