use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::ValueEnum;

use crate::cli::ui::stream;
use crate::protocol::secrets;

/// Options that every command takes.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// Run as if started in this folder
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true)]
    pub(crate) directory: Option<PathBuf>,
    /// When to use colours; `auto` does on a terminal, unless `NO_COLOR` is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto, global = true)]
    pub(crate) color: ColorChoice,
    /// Print only results and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print progress; twice, debug output (`GLEE_LOG` filters it)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Ask no questions; use the configured defaults
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
    /// Use this history database instead of the project's own
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) history: Option<PathBuf>,
    /// Trust the project's configuration if it has this hash (`blake3:...`)
    #[arg(long, value_name = "HASH", global = true)]
    pub(crate) trust: Option<String>,
}

/// `--color`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}

impl Globals {
    pub(crate) fn directory(&self) -> PathBuf {
        self.directory.clone().unwrap_or_else(|| PathBuf::from("."))
    }

    pub(crate) fn color_stdout(&self) -> bool {
        self.color_on(std::io::stdout().is_terminal())
    }

    pub(crate) fn color_stderr(&self) -> bool {
        self.color_on(std::io::stderr().is_terminal())
    }

    fn color_on(&self, terminal: bool) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb()
            }
        }
    }

    /// Whether a person can be asked: both ends of the conversation are a terminal that can move
    /// its cursor, and nobody forbade it.
    pub(crate) fn interactive(&self) -> bool {
        !self.no_input && std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && !is_dumb()
    }
}

/// Whether the terminal says that it cannot move its cursor.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Tells the user something on stderr, unless they asked for quiet.
pub(crate) fn say(globals: &Globals, line: &str) {
    if !globals.quiet {
        stream::err(&format!("{}\n", secrets::redact(&crate::protocol::text::printable::block(line))));
    }
}
