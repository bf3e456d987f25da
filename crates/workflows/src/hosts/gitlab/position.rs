//! The position of a comment in a diff, in the form of GitLab's API.

use serde_json::{Value, json};

use super::answers::DiffFile;
use crate::hosts::model::{NewComment, PullRequest};

/// Returns the position of a comment on a line or on the whole file, or `None` if the line is not in the diff.
///
/// GitLab finds a line by its numbers in the old and the new file. A line that the change adds has no number in
/// the old file.
pub(super) fn of(request: &PullRequest, file: &DiffFile, comment: &NewComment) -> Option<Value> {
    let mut position = json!({
        "base_sha": request.merge_base,
        "start_sha": request.base.id,
        "head_sha": request.head.id,
        "old_path": file.old_path,
        "new_path": file.new_path,
        "position_type": if comment.line.is_some() { "text" } else { "file" },
    });
    let Some(line) = comment.line else {
        return Some(position);
    };
    if !file.lines.shown.contains(&line) {
        return None;
    }
    position["new_line"] = json!(line);
    if let Some(old) = file.lines.context.get(&line) {
        position["old_line"] = json!(old);
    }
    Some(position)
}

/// Returns the text of a comment. GitLab attaches a comment on several lines to the last of these lines.
/// Therefore, the suggestion block states how many preceding lines the suggestion replaces.
pub(super) fn body(comment: &NewComment) -> String {
    let range = comment
        .line
        .zip(comment.start_line)
        .filter(|(line, start)| start < line);
    let Some((line, start)) = range else {
        return comment.body.clone();
    };
    let mut is_found = false;
    let lines = comment.body.split('\n').map(|text| {
        if is_found || !is_fence(text) {
            return text.to_owned();
        }
        is_found = true;
        format!("{text}:-{}+0", line - start)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn is_fence(text: &str) -> bool {
    text.strip_suffix("suggestion")
        .is_some_and(|fence| fence.len() >= 3 && fence.bytes().all(|byte| byte == b'`'))
}
