//! The refs of a repository, by name.

use std::collections::BTreeMap;

use super::git::Repository;
use super::{Result, names};

/// Names of refs with what they stand for.
pub(super) type Refs = BTreeMap<String, String>;

impl Repository {
    /// Every ref but Glee's own.
    pub(super) fn refs(&self) -> Result<Refs> {
        let listed = self.call(["for-each-ref", "--format=%(refname) %(objectname) %(symref)"]).output()?;
        let lines = listed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let split = |line| {
            let line = names::shown(line);
            let (name, value) = line.split_once(' ').unwrap_or((&line, ""));
            (name.to_owned(), value.to_owned())
        };
        Ok(lines.map(split).filter(|(name, _)| !name.starts_with("refs/glee/")).collect())
    }
}
