//! The command that hands the findings of a review to the coder.

use std::path::Path;

use crate::domain::event::Plan;

/// Returns the command line of the running `glee review`, with `--fix` added.
pub(crate) fn of_arguments() -> String {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    // `--fix` is inserted before `--`, because all words after `--` are paths.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.insert(end, "--fix".to_owned());
    line(words)
}

/// Returns a command that reviews the target of a recorded run again. Returns `None` if no arguments can select
/// the target. Examples are a diff from standard input, and a run that an earlier version of Glee recorded.
pub(crate) fn of_plan(plan: &Plan, folder: &Path, history: Option<&Path>) -> Option<String> {
    let target = plan.target_args.clone()?;
    let mut words = Vec::new();
    if folder.canonicalize().ok()? != Path::new(&plan.root) {
        words.extend(["-C".to_owned(), plan.root.clone()]);
    }
    if let Some(history) = history {
        words.extend([
            "--history".to_owned(),
            std::path::absolute(folder.join(history)).ok()?.display().to_string(),
        ]);
    }
    words.extend(["review".to_owned(), "--fix".to_owned()]);
    words.extend(target);
    Some(line(words))
}

fn line(words: Vec<String>) -> String {
    let quoted = words.iter().map(|word| shlex::try_quote(word).map_or_else(|_| word.clone(), Into::into));
    format!("glee {}", quoted.collect::<Vec<String>>().join(" "))
}
