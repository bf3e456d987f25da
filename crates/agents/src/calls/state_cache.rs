//! Caches data about agent programs between runs, as small JSON files in the state folder. The cache is optional,
//! so a missing, broken or read-only file is not an error.

use std::io;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;

use glee_system::{files, private};

#[derive(Clone, Debug, Default)]
pub struct StateCache(pub(crate) Option<PathBuf>);

impl StateCache {
    pub fn read<T: DeserializeOwned + Default>(&self, name: &str) -> T {
        let read = || serde_json::from_slice(&files::read(&self.0.as_ref()?.join(name)).ok()?).ok();
        read().unwrap_or_default()
    }

    /// Changes a file under a lock, so that no other run changes the file at the same time.
    pub fn change<T: DeserializeOwned + Default + Serialize>(
        &self,
        name: &str,
        change: impl FnOnce(&mut T),
    ) {
        let Some(folder) = &self.0 else { return };
        let changed = || -> io::Result<()> {
            private::folder(folder)?;
            let lock = private::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(folder.join("lock"))?;
            lock.lock()?;
            let mut value = self.read(name);
            change(&mut value);
            private::write(&folder.join(name), &serde_json::to_vec_pretty(&value)?)
        };
        drop(changed());
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_change_is_kept_and_a_broken_file_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let cache = StateCache(Some(folder.path().join("agents")));
        type Numbers = BTreeMap<String, u32>;
        cache.change("numbers.json", |numbers: &mut Numbers| {
            numbers.insert("a".to_owned(), 1);
        });
        cache.change("numbers.json", |numbers: &mut Numbers| {
            numbers.insert("b".to_owned(), 2);
        });
        let expected = BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]);
        assert_eq!(cache.read::<Numbers>("numbers.json"), expected);
        std::fs::write(folder.path().join("agents/numbers.json"), "{").unwrap();
        assert_eq!(cache.read::<Numbers>("numbers.json"), Numbers::new());
        let nowhere = StateCache::default();
        nowhere.change("numbers.json", |numbers: &mut Numbers| {
            numbers.insert("a".to_owned(), 1);
        });
        assert_eq!(nowhere.read::<Numbers>("numbers.json"), Numbers::new());
    }
}
