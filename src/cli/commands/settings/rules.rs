//! `glee rules`: lists and tests the embedded reviewer's rules.

use std::path::PathBuf;

use clap::Subcommand;

use crate::cli::context::JsonFlag;

/// List and test the embedded reviewer's rules
#[derive(clap::Args)]
#[command(after_help = "Examples:
  glee rules list
  glee rules test tests/labelled --min-precision 0.9 --min-recall 0.7")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the packaged rules and the project's rules (`.glee/rules/*.yml`)
    #[command(after_help = "Examples:
  glee rules list
  glee rules list --json | jq -r '.[] | select(.origin == \"project\") | .id'")]
    List(JsonFlag),
    /// Measure the precision and recall of the packaged rules on labelled code
    ///
    /// FOLDER contains the labelled files and `labels.jsonl`. Each line of `labels.jsonl` is an object: {"file":
    /// "a.py", "labels": [{"line": 12, "category": "weak-hash"}]}. A finding counts as right if a label of the
    /// same category is at most two lines away from the finding.
    #[command(after_help = "Examples:
  glee rules test tests/labelled
  glee rules test tests/labelled --min-precision 0.9 --min-recall 0.7
  glee rules test tests/labelled --misses")]
    Test {
        /// The folder with the labelled files
        #[arg(value_name = "FOLDER", default_value = "tests/labelled")]
        folder: PathBuf,
        #[command(flatten)]
        output: JsonFlag,
        /// List findings without a label and labels without a finding
        #[arg(long)]
        misses: bool,
        /// Exit with code 1 if the share of right findings is below SHARE
        #[arg(long, value_name = "SHARE", value_parser = share)]
        min_precision: Option<f64>,
        /// Exit with code 1 if the share of labels with a finding is below SHARE
        #[arg(long, value_name = "SHARE", value_parser = share)]
        min_recall: Option<f64>,
    },
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("give a number between 0 and 1".to_owned()),
    }
}

#[cfg(not(feature = "astgrep"))]
pub(crate) fn run(
    _args: &Args,
    _globals: &crate::cli::context::Globals,
) -> crate::cli::context::CommandResult {
    Err(glee_builtin::BuiltinError::NotBuilt.into())
}

#[cfg(feature = "astgrep")]
pub(crate) use imp::run;

#[cfg(feature = "astgrep")]
mod imp {
    use std::fmt::Write as _;

    use super::{Action, Args};
    use crate::cli::context::{CommandError, CommandResult, Globals};
    use crate::cli::style::{Style, count};
    use glee_builtin::{Catalog, Measure, RuleOrigin, Score, measure};
    use glee_model::domain::ExitReason;
    use glee_protocol::text::printable;

    pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
        match &args.action {
            Action::List(output) => {
                let catalog = Catalog::all(&globals.directory())?;
                output.print(&catalog.infos().collect::<Vec<_>>(), || {
                    list(&catalog, globals.table_style())
                })
            }
            Action::Test {
                folder,
                output,
                misses,
                min_precision,
                min_recall,
            } => {
                let path = globals.directory().join(folder);
                if !path.is_dir() {
                    return Err(CommandError::usage(format!(
                        "there is no folder `{}`",
                        folder.display()
                    ))
                    .hint("`glee rules test --help` describes the folder of labelled files"));
                }
                let measured = measure(&path)?;
                output.print(&measured, || {
                    table(&measured, *misses, globals.table_style())
                })?;
                let total = measured.total;
                let enough = total.precision().unwrap_or(1.0) >= min_precision.unwrap_or(0.0)
                    && total.recall().unwrap_or(1.0) >= min_recall.unwrap_or(0.0);
                Ok(if enough {
                    ExitReason::Clean
                } else {
                    ExitReason::FindingsOpen
                })
            }
        }
    }

    fn list(catalog: &Catalog, style: Style) -> String {
        let rows = catalog.infos().map(|rule| {
            let origin = match rule.origin {
                RuleOrigin::Packaged => "",
                RuleOrigin::Project => " (project)",
            };
            [
                printable::line(&rule.id),
                rule.language.to_string(),
                rule.tag.to_string(),
                printable::line(rule.category.as_deref().unwrap_or("-")),
                rule.cwe.map_or("-".to_owned(), |cwe| cwe.to_string()),
                printable::line(&rule.message) + origin,
            ]
        });
        style.rows(&Vec::from_iter(rows), &[]).concat()
    }

    fn table(measured: &Measure, misses: bool, style: Style) -> String {
        let heads = ["class", "right", "wrong", "missed", "precision", "recall"];
        let categories = measured.categories.iter();
        let rows = categories
            .map(|(category, score)| row(category, *score))
            .chain([row("all", measured.total)]);
        let mut text = format!(
            "{}, {}\n\n{}",
            count(measured.files, "file"),
            count(measured.labels, "label"),
            style.listing(heads, rows, &[1, 2, 3, 4, 5])
        );
        if misses {
            text.push('\n');
            for miss in &measured.misses {
                let what = miss
                    .rule
                    .as_ref()
                    .map_or("missed".to_owned(), |rule| format!("wrong ({rule})"));
                let _ = writeln!(
                    text,
                    "{}:{}: {} {what}",
                    printable::line(&miss.file),
                    miss.line,
                    miss.category
                );
            }
        }
        text
    }

    fn row(name: &str, score: Score) -> [String; 6] {
        let share =
            |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.2}"));
        [
            printable::line(name),
            score.true_positives.to_string(),
            score.false_positives.to_string(),
            score.false_negatives.to_string(),
            share(score.precision()),
            share(score.recall()),
        ]
    }
}
