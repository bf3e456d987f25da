//! What somebody who was asked said about pairs of findings.

use std::collections::BTreeMap;

/// For pairs of member ids, whether the two findings name the same defect. The order of the two ids of a pair does
/// not matter. A later answer about a pair replaces the earlier answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers(BTreeMap<(String, String), bool>);

impl Answers {
    pub fn add(&mut self, a: &str, b: &str, same: bool) {
        self.0.insert(key(a, b), same);
    }

    /// Returns `None` if nobody was asked about the pair.
    pub fn are_same(&self, a: &str, b: &str) -> Option<bool> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&key(a, b)).copied()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        self.0
            .iter()
            .map(|((a, b), same)| (a.as_str(), b.as_str(), *same))
    }
}

fn key(a: &str, b: &str) -> (String, String) {
    (a.min(b).to_owned(), a.max(b).to_owned())
}
