//! The command that hands the findings of a review to the coder.

use std::path::Path;

use serde_json::Value;

use glee_model::domain::event::Plan;

/// Returns the command line of the current `glee review` process, with `--fix` as an additional flag.
pub(crate) fn of_arguments() -> String {
    line(with_fix(std::env::args().skip(1).collect()))
}

/// Adds `--fix`. Removes the flags `--format`, `--json` and `--web`. With these flags, the next run would
/// overwrite the report files of this run.
fn with_fix(given: Vec<String>) -> Vec<String> {
    let mut words = Vec::with_capacity(given.len() + 1);
    let mut given = given.into_iter();
    while let Some(word) = given.next() {
        match word.as_str() {
            "--" => {
                words.push(word);
                words.extend(given.by_ref());
            }
            "--format" => drop(given.next()),
            "--web" | "--json" => {}
            other if other.starts_with("--format=") => {}
            _ => words.push(word),
        }
    }
    // `--fix` is inserted before `--`, because all words after `--` are paths.
    let end = words
        .iter()
        .position(|word| word == "--")
        .unwrap_or(words.len());
    words.insert(end, "--fix".to_owned());
    words
}

/// Returns a command that reviews the same target as a recorded run. Returns `None` if the target cannot be
/// selected again, for example a diff from standard input. Also returns `None` if an early version of Glee
/// recorded the run, because early versions did not record the arguments.
pub(crate) fn of_plan(plan: &Plan, folder: &Path, history: Option<&Path>) -> Option<String> {
    let target = plan.target_args.clone()?;
    let mut words = Vec::new();
    // The tree of a run that was made on another machine is not here.
    let root = Path::new(&plan.root);
    if folder.canonicalize().ok()? != root && root.is_dir() {
        words.extend(["-C".to_owned(), plan.root.clone()]);
    }
    if let Some(history) = history {
        words.extend([
            "--history".to_owned(),
            std::path::absolute(folder.join(history))
                .ok()?
                .display()
                .to_string(),
        ]);
    }
    words.extend(["review".to_owned(), "--fix".to_owned()]);
    let named = plan.settings.get("review.reviewers");
    for name in named.and_then(Value::as_array).into_iter().flatten() {
        words.push("--reviewer".to_owned());
        words.extend(name.as_str().map(str::to_owned));
    }
    words.extend(target);
    Some(line(words))
}

fn line(words: Vec<String>) -> String {
    let quoted = words
        .iter()
        .map(|word| shlex::try_quote(word).map_or_else(|_| word.clone(), Into::into));
    format!("glee {}", quoted.collect::<Vec<String>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_a_recorded_run_asks_the_same_reviewers() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().canonicalize().expect("a temporary folder");
        let plan = |reviewers: serde_json::Value| Plan {
            root: root.display().to_string(),
            target_args: Some(vec!["src".to_owned()]),
            settings: [("review.reviewers".to_owned(), reviewers)].into(),
            ..Plan::default()
        };
        let command = |reviewers| of_plan(&plan(reviewers), &root, None);
        assert_eq!(
            command("all".into()).as_deref(),
            Some("glee review --fix src")
        );
        assert_eq!(
            command(["lens", "rules"].into_iter().collect()).as_deref(),
            Some("glee review --fix --reviewer lens --reviewer rules src")
        );
    }

    #[test]
    fn the_next_command_writes_no_report_over_this_one() {
        let next = |given: &str| with_fix(given.split(' ').map(str::to_owned).collect()).join(" ");
        assert_eq!(
            next("review src --format html=r.html --web --fresh"),
            "review src --fresh --fix"
        );
        assert_eq!(
            next("--history h review --format=sarif=a.sarif --json"),
            "--history h review --fix"
        );
        assert_eq!(
            next("review --web -- --web --format"),
            "review --fix -- --web --format"
        );
    }
}
