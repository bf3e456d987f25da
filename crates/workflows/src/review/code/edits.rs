//! Extracts the removed and added lines from the diff of a recorded change.

use glee_model::domain::FileChange;
use glee_model::rules::review::reversal::LineEdit;
use glee_workspace::diff::parse::{self, DiffMark};

pub(crate) fn edit_of(change: &FileChange) -> Option<LineEdit> {
    let mut edit = LineEdit {
        file: change.file.clone(),
        removed: Vec::new(),
        added: Vec::new(),
    };
    let diff = parse::parse(change.diff.as_deref()?.as_bytes());
    for hunk in diff.patches.into_iter().flat_map(|patch| patch.hunks) {
        let mut number = hunk.new_start;
        for (mark, line) in hunk.lines {
            match mark {
                DiffMark::Removed => edit.removed.push(line),
                DiffMark::Added => edit.added.push((number, line)),
                DiffMark::Kept => {}
            }
            number += u32::from(mark != DiffMark::Removed);
        }
    }
    Some(edit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_lines_have_their_new_numbers() {
        let diff = "--- a/x\n+++ b/x\n@@ -3,4 +3,4 @@ fn\n same\n-old\n+new\n same\n+more\n\\ No newline\n";
        let change = FileChange {
            file: "x".into(),
            added: 2,
            removed: 1,
            diff: Some(diff.into()),
        };
        let expected = LineEdit {
            file: "x".into(),
            removed: vec!["old".into()],
            added: vec![(4, "new".into()), (6, "more".into())],
        };
        assert_eq!(edit_of(&change), Some(expected));
    }
}
