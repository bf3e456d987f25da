//! In human-readable output, makes paths relative to the folder in which the user works. The user can then open
//! the paths or pass the paths to commands.

use std::path::{Path, PathBuf};

use glee_model::domain::event::{DisputeEvent, Event, EventKind, ReviewEvent};
use glee_model::domain::{Dispute, Finding, Outcome, Untrusted};
use glee_protocol::text::references;

/// The folder in which the user works.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkFolder {
    root: PathBuf,
    /// The path of the folder, relative to the root of the tree. The path is empty for the root itself and for a
    /// folder outside of the tree.
    within: String,
}

fn within(folder: &Path, root: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let within = folder.strip_prefix(root.canonicalize().ok()?).ok()?;
    Some(within.to_str()?.to_owned())
}

impl WorkFolder {
    pub(crate) fn new(folder: &Path, root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            within: within(folder, root).unwrap_or_default(),
        }
    }

    /// Returns the folder to which paths are relative. Paths in human-readable output are relative to the folder
    /// `self`. Paths in output for programs are relative to the root of the tree.
    pub(crate) fn for_people(self, is_for_people: bool) -> Self {
        if is_for_people { self } else { Self::default() }
    }

    pub(crate) fn is_root(&self) -> bool {
        self.within.is_empty()
    }

    /// `path` is relative to the root of the tree. The function makes the path relative to the folder in which the
    /// user works.
    pub(crate) fn path(&self, path: &mut String) {
        if !self.is_root() {
            *path = seen_from(&self.within, path);
        }
    }

    /// Converts a displayed path to the path relative to the root of the tree. This is the inverse of
    /// [`path`](Self::path).
    pub(crate) fn in_tree(&self, shown: &str) -> String {
        in_tree(&self.within, shown)
    }

    pub(crate) fn finding(&self, finding: &mut Finding) {
        finding.raw.file.iter_mut().for_each(|file| self.path(file));
    }

    pub(crate) fn dispute(&self, dispute: &mut Dispute) {
        self.finding(&mut dispute.finding);
        for member in &mut dispute.members {
            self.finding(member);
        }
        let citations = dispute
            .rulings
            .iter_mut()
            .flat_map(|record| &mut record.ruling.citations);
        citations.for_each(|citation| self.citation(citation));
    }

    /// If the whole citation is a reference to a file, such as `src/a.py:3`, changes the path in the citation.
    /// Other citations stay unchanged.
    fn citation(&self, citation: &mut Untrusted) {
        references::change_path(citation, |path| {
            if self.root.join(&*path).exists() {
                self.path(path);
            }
        });
    }

    pub(crate) fn outcome(&self, outcome: &mut Outcome) {
        outcome
            .findings
            .iter_mut()
            .for_each(|finding| self.finding(&mut finding.finding));
        outcome
            .disputes
            .iter_mut()
            .for_each(|dispute| self.dispute(dispute));
        let gone = outcome
            .no_longer_raised
            .iter_mut()
            .filter_map(|gone| gone.finding.file.as_mut());
        let changed = outcome.changes.iter_mut().map(|change| &mut change.file);
        let skipped = outcome.proof.skipped.iter_mut().map(|skip| &mut skip.file);
        let covered = outcome
            .proof
            .covered
            .iter_mut()
            .map(|covered| &mut covered.file);
        let unread = outcome
            .proof
            .unread
            .iter_mut()
            .map(|unread| &mut unread.file);
        gone.chain(changed)
            .chain(skipped)
            .chain(covered)
            .chain(unread)
            .for_each(|path| self.path(path));
    }

    /// Makes the paths in an event relative to the folder in which the user works. If the live display never shows
    /// a path, the path stays unchanged.
    pub(crate) fn event(&self, event: &mut Event) {
        match &mut event.kind {
            EventKind::Review(ReviewEvent::RunStarted { plan }) => {
                plan.skipped
                    .iter_mut()
                    .for_each(|skip| self.path(&mut skip.file));
            }
            EventKind::Review(ReviewEvent::TreeChanged(change)) => {
                change
                    .changes
                    .iter_mut()
                    .for_each(|change| self.path(&mut change.file));
                change.put_back.iter_mut().for_each(|file| self.path(file));
            }
            EventKind::Dispute(
                DisputeEvent::DisputeOpened { dispute }
                | DisputeEvent::DisputeCarriedOn { dispute, .. },
            ) => self.dispute(dispute),
            _ => {}
        }
    }
}

/// Makes `path` relative to `folder`. For example, `src/b.py` becomes `../b.py` for the folder `src/deep`.
pub(crate) fn seen_from(folder: &str, path: &str) -> String {
    let mut folders = folder.split('/').filter(|part| !part.is_empty()).peekable();
    let mut rest = path;
    while let (Some(folder), Some((first, after))) = (folders.peek(), rest.split_once('/')) {
        if *folder != first {
            break;
        }
        (rest, _) = (after, folders.next());
    }
    "../".repeat(folders.count()) + rest
}

fn in_tree(folder: &str, shown: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let mut rest = shown;
    while let Some(after) = rest.strip_prefix("../") {
        (rest, _) = (after, parts.pop());
    }
    parts.push(rest);
    parts.join("/")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_citation_changes_only_if_it_is_a_file_of_the_tree() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("src/deep")).unwrap();
        std::fs::write(folder.path().join("src/a.rs"), "").unwrap();
        let work_folder = WorkFolder::new(&folder.path().join("src/deep"), folder.path());
        for (written, shown) in [
            ("src/a.rs:7", "../a.rs:7"),
            ("src/a.rs::tests::name", "../a.rs::tests::name"),
            ("src/b.rs:7", "src/b.rs:7"),
            ("see src/a.rs:7", "see src/a.rs:7"),
            ("cargo test", "cargo test"),
        ] {
            let mut citation = Untrusted::from(written);
            work_folder.citation(&mut citation);
            assert_eq!(citation, Untrusted::from(shown));
        }
    }

    #[test]
    fn a_backslash_is_part_of_the_name_of_a_folder() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("odd\\name");
        std::fs::create_dir(&folder).unwrap();
        let mut path = "odd\\name/a.rs".to_owned();
        WorkFolder::new(&folder, root.path()).path(&mut path);
        assert_eq!(path, "a.rs");
    }

    #[test]
    fn a_path_is_seen_from_a_folder_and_found_again() {
        for (folder, path, seen) in [
            ("", "src/a.rs", "src/a.rs"),
            ("src", "src/a.rs", "a.rs"),
            ("src/deep", "src/a.rs", "../a.rs"),
            ("src/deep", "README.md", "../../README.md"),
            ("src", "srcs/a.rs", "../srcs/a.rs"),
            ("src/a", "src/a", "../a"),
        ] {
            assert_eq!(seen_from(folder, path), seen, "{folder} {path}");
            assert_eq!(in_tree(folder, seen), path, "{folder} {seen}");
        }
    }
}
