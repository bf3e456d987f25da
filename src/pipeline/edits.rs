//! What the lines of a recorded change say: which were taken out and which were put in, and where.

use crate::domain::FileChange;
use crate::rules::reversal::Edit;

/// Reads the unified diff of a change; `None` where none was kept.
pub(crate) fn edit_of(change: &FileChange) -> Option<Edit> {
    let mut edit = Edit { file: change.file.clone(), removed: Vec::new(), added: Vec::new() };
    let mut number = 0;
    let mut inside = false;
    for line in change.diff.as_deref()?.lines() {
        if let Some(header) = line.strip_prefix("@@ ") {
            number = new_start(header)?;
            inside = true;
        } else if inside {
            match line.as_bytes().first() {
                Some(b'-') => edit.removed.push(line[1..].to_owned()),
                Some(b'+') => {
                    edit.added.push((number, line[1..].to_owned()));
                    number += 1;
                }
                Some(b'\\') => {}
                _ => number += 1,
            }
        }
    }
    Some(edit)
}

/// The first new line of a hunk header `-a,b +c,d @@`.
fn new_start(header: &str) -> Option<u32> {
    let new = header.split(' ').find_map(|word| word.strip_prefix('+'))?;
    new.split(',').next()?.parse().ok()
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
