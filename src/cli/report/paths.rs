//! The paths of a text report. Each path is relative to the folder in which the user works, so that the user can
//! open the path or pass the path to a command.

use crate::domain::Outcome;

/// Makes the paths of an outcome relative to `folder`. Before the call, the paths are relative to the root.
pub(crate) fn show_from(folder: &str, outcome: &mut Outcome) {
    let findings = outcome.findings.iter_mut().map(|finding| &mut finding.finding.raw);
    let disputed = outcome.disputes.iter_mut().map(|dispute| &mut dispute.finding.raw);
    let gone = outcome.no_longer_raised.iter_mut().map(|gone| &mut gone.finding);
    let found = findings.chain(disputed).chain(gone).filter_map(|raw| raw.file.as_mut());
    let changed = outcome.changes.iter_mut().map(|change| &mut change.file);
    let skipped = outcome.proof.skipped.iter_mut().map(|skip| &mut skip.file);
    let covered = outcome.proof.covered.iter_mut().map(|covered| &mut covered.file);
    let unread = outcome.proof.unread.iter_mut().map(|unread| &mut unread.file);
    found
        .chain(changed)
        .chain(skipped)
        .chain(covered)
        .chain(unread)
        .for_each(|path| *path = seen_from(folder, path));
}

/// Makes `path` relative to `folder`. For example, `src/b.py` becomes `../b.py` for the folder `src/deep`.
fn seen_from(folder: &str, path: &str) -> String {
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

/// Makes a path relative to the root of the tree. This function is the inverse of [`seen_from`].
pub(crate) fn in_tree(folder: &str, shown: &str) -> String {
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
    use super::*;

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
