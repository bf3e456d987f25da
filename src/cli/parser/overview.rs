//! The help of the program itself: the commands of a day on one screen, and all commands in groups.

use clap::Command;

use super::help;

/// A heading, and the commands below it. What a command does is said by the command.
type Group = (&'static str, &'static [&'static str]);

const FIRST: [Group; 2] = [
    (
        "Every day",
        &[
            "review", "findings", "show", "fix", "dismiss", "disputes", "runs", "pr",
        ],
    ),
    ("Set up", &["init", "connect", "agents", "config", "doctor"]),
];

const MORE: [Group; 6] = [
    ("Agreement", &["consensus", "gate"]),
    ("Watching", &["watch", "emit"]),
    ("Outside", &["answer", "hook", "integrate", "mcp", "serve"]),
    ("Records", &["stats", "keep", "trust", "rules"]),
    ("Fleet", &["server", "worker"]),
    (
        "Tools",
        &[
            "merge",
            "vote",
            "parse",
            "disconnect",
            "completions",
            "man",
            "help",
        ],
    ),
];

const BEGINNING: &str = "\
{about}

  glee review                           review uncommitted changes
  glee review --base main --arbitrate   review a branch, fix it, settle disputes

";

const OPTIONS: &str = "\
Options     -C <DIR>, -q, -v, --color, --no-input, --history, --trust, -h, -V
`glee help <COMMAND>` explains a command and its options.
";

/// Returns the help template of the program for a screen of `width` columns. Without `all`, it fits 80 columns and 24
/// lines, and names the other commands.
pub(crate) fn template(program: &Command, all: bool, width: usize) -> String {
    let mut table = BEGINNING.to_owned() + &rows(program, &FIRST);
    if all {
        table += &rows(program, &MORE);
    } else {
        let others: Vec<&str> = MORE.iter().flat_map(|(_, names)| *names).copied().collect();
        let named = others[..6].join(", ");
        table += &format!("More        glee help --all  {named}, ...\n");
    }
    let sep = if all { "" } else { "\n" };
    help::wrap_table(&(table + sep + OPTIONS), width)
}

fn rows(program: &Command, groups: &[Group]) -> String {
    let mut rows = String::new();
    for (heading, names) in groups {
        let mut heading = *heading;
        for name in *names {
            // A command can belong to a feature that this program lacks.
            let Some(about) = program.find_subcommand(name).and_then(Command::get_about) else {
                continue;
            };
            rows += &format!("{heading:<12}{name:<11}  {about}\n");
            heading = "";
        }
        rows += "\n";
    }
    rows
}
