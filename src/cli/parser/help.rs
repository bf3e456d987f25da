//! On a help page, wraps the texts below the options so that the lines fit the screen.

use clap::Command;
use console::Term;
use textwrap::{Options, WordSplitter};

/// The maximum width of a line, in columns. Longer lines would be hard to read.
pub(crate) const WIDEST: usize = 100;
/// The three spaces that separate an example from its explanation.
const GAP: &str = "   ";

/// Returns the width of a help page in columns.
pub(crate) fn screen() -> usize {
    let terminal = [Term::stdout(), Term::stderr()]
        .iter()
        .find_map(Term::size_checked);
    let columns = terminal.map(|(_, columns)| usize::from(columns));
    columns
        .or_else(|| std::env::var("COLUMNS").ok()?.parse().ok())
        .unwrap_or(WIDEST)
        .clamp(20, WIDEST)
}

/// Wraps the help text below the options and indents the examples. The help texts of the subcommands are changed
/// in the same way.
pub(crate) fn fit(mut command: Command, width: usize) -> Command {
    if let Some(text) = command.get_after_help() {
        let text = wrap(&text.to_string(), width);
        command = command.after_help(text);
    }
    command
        .mut_subcommands(|inner| fit(inner, width))
        .term_width(width)
}

/// Wraps each row of a table. Two adjacent spaces separate columns. Continuation lines are indented to the last
/// column of the table.
pub(crate) fn wrap_table(table: &str, width: usize) -> String {
    table
        .lines()
        .map(|row| {
            let column = row.rfind("  ").map_or(0, |gap| gap + 2);
            let indent = " ".repeat(if column <= width / 2 { column } else { 4 });
            textwrap::fill(
                row,
                Options::new(width)
                    .subsequent_indent(&indent)
                    .break_words(false),
            )
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn wrap(text: &str, width: usize) -> String {
    text.lines()
        .map(|line| wrap_line(line, width))
        .collect::<Vec<_>>()
        .join("\n")
}

fn options(width: usize, indent: &str) -> Options<'_> {
    let options = Options::new(width)
        .subsequent_indent(indent)
        .break_words(false);
    options.word_splitter(WordSplitter::NoHyphenation)
}

/// Wraps one line, which is a paragraph or an example. An example is indented by two columns and can have an
/// explanation.
fn wrap_line(line: &str, width: usize) -> String {
    let example = line.strip_prefix("  ").map(|line| line.split_once(GAP));
    match example {
        _ if textwrap::core::display_width(line) <= width => line.to_owned(),
        None => textwrap::fill(line, options(width, "")),
        Some(None) => textwrap::fill(line, options(width, "      ")),
        Some(Some((command, explanation))) => {
            let command = textwrap::fill(&format!("  {command}"), options(width, "      "));
            let explanation = textwrap::fill(
                explanation.trim(),
                options(width, "      ").initial_indent("      "),
            );
            format!("{command}\n{explanation}")
        }
    }
}
