//! What the lines of a recorded change say: which were taken out and which were put in, and where.

use crate::domain::FileChange;
use crate::rules::reversal::Edit;
use crate::workspace::unified::{self, Mark};

/// Reads the unified diff of a change; `None` where none was kept.
pub(crate) fn edit_of(change: &FileChange) -> Option<Edit> {
    let mut edit = Edit { file: change.file.clone(), removed: Vec::new(), added: Vec::new() };
    let diff = unified::parse(change.diff.as_deref()?.as_bytes());
    for hunk in diff.patches.into_iter().flat_map(|patch| patch.hunks) {
        let mut number = hunk.new_start;
        for (mark, line) in hunk.lines {
            match mark {
                Mark::Removed => edit.removed.push(line),
                Mark::Added => edit.added.push((number, line)),
                Mark::Kept => {}
            }
            number += u32::from(mark != Mark::Removed);
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
        let change = FileChange { file: "x".into(), added: 2, removed: 1, diff: Some(diff.into()) };
        let expected = Edit {
            file: "x".into(),
            removed: vec!["old".into()],
            added: vec![(4, "new".into()), (6, "more".into())],
        };
        assert_eq!(edit_of(&change), Some(expected));
    }
}
