//! What Glee remembers of the agents' programs between runs: small JSON files in the state folder.
//!
//! Nothing here is needed: a file that is gone, broken or cannot be written costs time, never an answer.

use std::io;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::system::{files, private};

#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(pub(crate) Option<PathBuf>);

impl Memory {
    pub(crate) fn read<T: DeserializeOwned + Default>(&self, name: &str) -> T {
        let path = self.0.as_deref().map(|folder| folder.join(name));
        path.and_then(|path| files::read(&path).ok())
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Changes what is remembered under a name; several runs may do so at the same time.
    pub(crate) fn change<T: DeserializeOwned + Default + Serialize>(
        &self,
        name: &str,
        change: impl FnOnce(&mut T),
    ) {
        let Some(folder) = &self.0 else { return };
        let changed = || -> io::Result<()> {
            private::folder(folder)?;
            let lock = private::options().create(true).truncate(false).write(true).open(folder.join("lock"))?;
            lock.lock()?;
            let mut value = self.read(name);
            change(&mut value);
            private::write(&folder.join(name), &serde_json::to_vec_pretty(&value)?)
        };
        // Not to remember is no failure.
        drop(changed());
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_is_changed_is_remembered_and_what_is_broken_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory(Some(folder.path().join("agents")));
        type Numbers = BTreeMap<String, u32>;
        memory.change("numbers.json", |numbers: &mut Numbers| {
            numbers.insert("a".to_owned(), 1);
        });
        memory.change("numbers.json", |numbers: &mut Numbers| {
            numbers.insert("b".to_owned(), 2);
        });
        let expected = BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]);
        assert_eq!(memory.read::<Numbers>("numbers.json"), expected);
        std::fs::write(folder.path().join("agents/numbers.json"), "{").unwrap();
        assert_eq!(memory.read::<Numbers>("numbers.json"), Numbers::new());
        let nowhere = Memory::default();
        nowhere.change("numbers.json", |numbers: &mut Numbers| {
            numbers.insert("a".to_owned(), 1);
        });
        assert_eq!(nowhere.read::<Numbers>("numbers.json"), Numbers::new());
    }
}
