//! What the change under review is for. It is no part of the key of an answer, because each push would make all answers
//! stale; the outcome says where reused answers were given for something else.

use std::collections::BTreeSet;

use crate::review::state::ReviewState;
use glee_model::domain::{Intent, RunId, Untrusted, number_of};
use glee_store::history::JournalError;
use glee_store::history::store::Journal;

/// The bound of the intent in one call, in bytes of the prompt.
const CALL: usize = 4_000;

/// What a prompt adds to each line: a colon, spaces and a line end.
const LINE: usize = 5;

const CUT: &str = "[cut]";

/// The words before the number of an issue that a request closes, on GitHub, GitLab and Gitea.
const CLOSING: [&str; 9] = [
    "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
];

/// The numbers of the issues that a pull request closes, as in `Fixes #12`.
pub fn closed_issues(text: &Untrusted) -> BTreeSet<u64> {
    let words: Vec<&str> = text.as_written().split_whitespace().collect();
    let mut found = BTreeSet::new();
    for pair in words.windows(2) {
        let word = pair[0].trim_end_matches(':').to_lowercase();
        let digits = pair[1].strip_prefix('#').unwrap_or_default();
        let digits = digits.trim_end_matches(|c: char| !c.is_ascii_digit());
        if CLOSING.contains(&word.as_str())
            && let Ok(number) = digits.parse()
        {
            found.insert(number);
        }
    }
    found
}

/// Cuts texts to the bound of a call. The first ones are kept, a text that is cut ends with `[cut]`, and those for which there
/// is no room are left out.
pub fn bounded(said: Vec<Intent>) -> Vec<Intent> {
    let mut left = CALL;
    let mut kept = Vec::new();
    for intent in said {
        let Some(mut room) = left.checked_sub(intent.from.len() + CUT.len() + 2 * LINE) else {
            break;
        };
        let mut text = String::new();
        for line in intent.text.as_written().trim().lines() {
            let line = line.trim_end();
            if line.len() + LINE > room {
                let end = line.floor_char_boundary(room.saturating_sub(LINE));
                text.push_str(&line[..end]);
                text.push_str(CUT);
                room = 0;
                break;
            }
            room -= line.len() + LINE;
            text.push_str(line);
            text.push('\n');
        }
        left = room;
        let text = text.trim_end().to_owned();
        if !text.is_empty() {
            kept.push(Intent {
                text: text.into(),
                ..intent
            });
        }
    }
    kept
}

/// Says that reused answers were given for something else.
pub(crate) fn changed(
    state: &ReviewState,
    journal: &Journal,
) -> Result<Option<String>, JournalError> {
    let Some(plan) = &state.plan else {
        return Ok(None);
    };
    let mut runs: BTreeSet<&RunId> = BTreeSet::new();
    for ((reviewer, _), reuse) in &state.reused {
        // An embedded reviewer is not told.
        if state
            .agent(reviewer)
            .is_some_and(|agent| !agent.is_embedded())
        {
            runs.extend(reuse.from.iter().map(|from| &from.run));
        }
    }
    let mut others = Vec::new();
    for run in runs {
        let before = journal.plan(run)?;
        if before.is_some_and(|before| before.intent != plan.intent) {
            others.push(run.short());
        }
    }
    let runs = number_of(others.len(), "run");
    Ok((!others.is_empty()).then(|| {
        format!(
            "what the change is for has changed since {runs} whose answers are reused ({}); `--full` asks again",
            others.join(", ")
        )
    }))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use glee_protocol::calls::parts::below;

    #[test]
    fn the_issues_that_a_request_closes() {
        for (text, expected) in [
            ("Fixes #12, and closes: #7.", vec![7, 12]),
            ("See #12. It fixes the bug #7", vec![]),
            ("RESOLVED #3\n\nfix # 4", vec![3]),
            ("closes team/shop#5", vec![]),
        ] {
            let found: Vec<u64> = closed_issues(&text.into()).into_iter().collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn the_bound_holds_and_the_first_texts_are_kept() {
        let said = |from: &str, text: String| Intent {
            from: from.to_owned(),
            text: text.into(),
        };
        let long = "ä".repeat(3_000);
        let lines = "a line\n".repeat(2_000);
        for (texts, kept, is_cut) in [
            (vec!["short".to_owned(), long, "last".to_owned()], 2, true),
            (vec![lines, "last".to_owned()], 1, true),
            (vec!["a".repeat(1_300); 9], 3, false),
            (vec![String::new(), "one".to_owned()], 1, false),
        ] {
            let said = texts.into_iter().map(|text| said("commit 1", text));
            let found = bounded(said.collect());
            let sent = found
                .iter()
                .flat_map(|intent| below(&intent.from, &intent.text));
            // A prompt adds a colon, a space and a line end to these lines.
            let size: usize = sent.map(|line| line.len() + 3).sum();
            let last = found.last().unwrap();
            let ends_cut = last.text.as_written().ends_with(CUT);
            assert_eq!(
                (found.len(), ends_cut, size <= CALL),
                (kept, is_cut, true),
                "{size}"
            );
        }
    }
}
