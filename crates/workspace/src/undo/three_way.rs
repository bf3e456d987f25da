//! Reverts an earlier change of a file by a three-way merge.

use crate::select::filter;
use crate::snapshot::COMPARED_CAP;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContent {
    Nothing,
    File { bytes: Vec<u8>, permissions: u32 },
    Link(Vec<u8>),
}

/// The effect of an undo or a redo on one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoEffect {
    /// The file returns to its earlier version.
    Restored,
    /// The file is removed, because it did not exist in the earlier version.
    Removed,
    /// A removed file is created again.
    Returned,
    /// The coder's change is reverted, and later changes remain.
    Merged,
    /// The file returns to its earlier version, and later changes are discarded.
    Forced,
}

/// The reason why a change cannot be reverted automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clash {
    Lines,
    /// The file was changed after the coder's call. A merge is impossible, because the file is binary or too large.
    NotText,
    Permissions,
    Removed,
    Created,
    MadeAgain,
    /// The path was changed after the coder's call. A merge is impossible, because one of the versions is a link.
    Kind,
    Folder,
    Above,
    Unreadable,
    /// Git has not merged the file, so the file contains the lines of several versions.
    Unmerged,
}

impl Clash {
    /// A description of the conflict, for display after the name of the file.
    pub fn words(self) -> &'static str {
        match self {
            Self::Lines => "the lines that the coder changed were changed since",
            Self::NotText => "changed since, and not mergeable as text",
            Self::Permissions => "its permissions were changed since",
            Self::Removed => "changed by the coder, and removed since",
            Self::Created => "created by the coder, and changed since",
            Self::MadeAgain => "removed by the coder, and created again since",
            Self::Kind => "was replaced since",
            Self::Folder => "replaced by a folder with other files",
            Self::Above => "its folder was replaced by a file or a link",
            Self::Unreadable => "cannot be read",
            Self::Unmerged => "has a conflict of git: first end or abort the merge or rebase",
        }
    }

    /// Like [`Clash::words`], for a change that is made again or for the first time.
    pub fn words_of_redo(self) -> &'static str {
        match self {
            Self::Created => "removed by the coder, and changed since",
            Self::MadeAgain => "created by the coder, and also by somebody else",
            other => other.words(),
        }
    }

    /// Whether the conflict can be resolved by discarding the later changes ([`Forced`](crate::Forced)).
    pub fn can_be_forced(self) -> bool {
        !matches!(
            self,
            Self::Folder | Self::Above | Self::Unreadable | Self::Unmerged
        )
    }
}

/// Returns the content `now` without the change from `before` to `after`. If `after` was not recorded, returns
/// `before`.
pub(crate) fn reverse(
    before: &FileContent,
    after: Option<&FileContent>,
    now: &FileContent,
) -> Result<FileContent, Clash> {
    let Some(after) = after else {
        return Ok(before.clone());
    };
    if let Some(content) = undisputed(before, after, now) {
        return Ok(content.clone());
    }
    match (before, after, now) {
        (
            FileContent::File {
                bytes: before,
                permissions: old,
            },
            FileContent::File {
                bytes: after,
                permissions: new,
            },
            FileContent::File {
                bytes: now,
                permissions: current,
            },
        ) => {
            let permissions = *undisputed(old, new, current).ok_or(Clash::Permissions)?;
            Ok(FileContent::File {
                bytes: merge(before, after, now)?,
                permissions,
            })
        }
        (FileContent::Nothing, _, _) => Err(Clash::Created),
        (_, FileContent::Nothing, _) => Err(Clash::MadeAgain),
        (_, _, FileContent::Nothing) => Err(Clash::Removed),
        _ => Err(Clash::Kind),
    }
}

/// Undoes the change from `before` to `after` in the content `now`, or returns `None` if a merge is necessary.
/// If `now` equals `after`, returns `before`. If the change is already undone or had no effect, returns `now`.
fn undisputed<'a, T: PartialEq>(before: &'a T, after: &T, now: &'a T) -> Option<&'a T> {
    if now == after {
        Some(before)
    } else {
        (now == before || before == after).then_some(now)
    }
}

fn merge(before: &[u8], after: &[u8], now: &[u8]) -> Result<Vec<u8>, Clash> {
    if let Some(bytes) = undisputed(&before, &after, &now) {
        return Ok(bytes.to_vec());
    }
    if ![before, after, now]
        .iter()
        .all(|bytes| bytes.len() as u64 <= COMPARED_CAP && !filter::is_binary(bytes))
    {
        return Err(Clash::NotText);
    }
    diffy::merge_bytes(after, now, before).map_err(|_| Clash::Lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str, permissions: u32) -> FileContent {
        FileContent::File {
            bytes: text.as_bytes().to_vec(),
            permissions,
        }
    }

    #[test]
    fn a_change_is_taken_back_where_nothing_else_happened_to_it() {
        let old = file("1\n2\n3\n", 0o644);
        let new = file("1\nX\n3\n", 0o644);
        let none = FileContent::Nothing;
        let lines = "1\nX\n3\n4\n5\nmine\n";
        let more = "1\n2\n3\n4\n5\nmine\n";
        let link = |target: &str| FileContent::Link(target.as_bytes().to_vec());
        let binary = |byte: u8| FileContent::File {
            bytes: vec![0, byte],
            permissions: 0o644,
        };
        let long = file("1\n2\n3\n4\n5\n", 0o644);
        let longer = file("1\nX\n3\n4\n5\n", 0o644);
        for (before, after, now, expected) in [
            (&old, &new, &new, Ok(&old)),
            (&old, &new, &old, Ok(&old)),
            (&none, &new, &new, Ok(&none)),
            (&none, &new, &none, Ok(&none)),
            (&old, &none, &none, Ok(&old)),
            (&old, &new, &file("1\nY\n3\n", 0o644), Err(Clash::Lines)),
            (&old, &new, &none, Err(Clash::Removed)),
            (&none, &new, &old, Err(Clash::Created)),
            (&old, &none, &new, Err(Clash::MadeAgain)),
            (&old, &new, &link("x"), Err(Clash::Kind)),
            (&link("a"), &link("b"), &link("b"), Ok(&link("a"))),
            (&link("a"), &link("b"), &link("c"), Err(Clash::Kind)),
            (&binary(1), &binary(2), &binary(2), Ok(&binary(1))),
            (&binary(1), &binary(2), &binary(3), Err(Clash::NotText)),
            (&long, &longer, &file(lines, 0o644), Ok(&file(more, 0o644))),
            (&long, &longer, &file(lines, 0o600), Ok(&file(more, 0o600))),
            (
                &old,
                &file("1\n2\n3\n", 0o755),
                &file("1\n2\n", 0o755),
                Ok(&file("1\n2\n", 0o644)),
            ),
            (
                &old,
                &file("1\n2\n3\n", 0o755),
                &file("1\n2\n3\n", 0o700),
                Err(Clash::Permissions),
            ),
            (
                &file("a\n", 0o600),
                &file("b\n", 0o644),
                &file("b\n", 0o755),
                Err(Clash::Permissions),
            ),
        ] {
            assert_eq!(
                reverse(before, Some(after), now),
                expected.cloned(),
                "{before:?} {after:?} {now:?}"
            );
        }
        assert_eq!(reverse(&old, None, &new), Ok(old.clone()));
    }
}
