//! The global options, and the colour, verbosity and interactivity that the options determine.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::ColorChoice;

use crate::cli::style::Style;
use crate::cli::ui::screen::{Screen, Verbosity, speaks_utf8};
use crate::cli::ui::stream;
use glee_model::domain::RunId;
use glee_protocol::{secrets, text::printable};
use glee_store::history::submission::CarriedRun;

#[derive(Clone, Default, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// Use this folder as the current folder
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true)]
    pub(crate) directory: Option<PathBuf>,
    /// When to use colours (`auto`: on a terminal, unless `NO_COLOR` is set)
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto, global = true)]
    pub(crate) color: ColorChoice,
    /// Print only results and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more details (`-vv`: also the debug messages that `GLEE_LOG` selects)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Print long reports without a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Use the configured defaults instead of asking questions
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
    /// Use this history database instead of the project's database
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) history: Option<PathBuf>,
    /// Trust the project's configuration if it has this hash (`blake3:...`)
    #[arg(long, value_name = "HASH", global = true)]
    pub(crate) trust: Option<String>,
    /// Glee sets this option when it starts itself again: this process is the detached run with this id
    #[arg(long, value_name = "RUN", hide = true, value_parser = run_id)]
    pub(crate) detached: Option<RunId>,
    /// Glee sets this option when a worker starts it: this process carries the detached run under this fence
    #[arg(long, value_name = "FENCE", hide = true, requires = "detached")]
    pub(crate) fence: Option<i32>,
}

fn run_id(text: &str) -> Result<RunId, String> {
    match uuid::Uuid::parse_str(text) {
        Ok(id) => Ok(RunId(id.to_string())),
        Err(error) => Err(error.to_string()),
    }
}

impl Globals {
    /// The run that this process carries as a worker.
    pub(crate) fn claim(&self) -> Option<CarriedRun> {
        Some(CarriedRun {
            run: self.detached.clone()?,
            fence: self.fence?,
        })
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.directory.clone().unwrap_or_else(|| PathBuf::from("."))
    }

    pub(crate) fn color_stderr(&self) -> bool {
        self.color_on(std::io::stderr().is_terminal())
    }

    fn color_on(&self, terminal: bool) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                terminal
                    && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                    && !is_dumb()
            }
        }
    }

    /// Whether Glee is allowed to prompt the user. Prompts require that `--no-input` is absent, and that stdin
    /// and stderr are terminals with a movable cursor.
    pub(crate) fn interactive(&self) -> bool {
        !self.no_input && has_terminal() && !is_dumb()
    }

    /// The same options, but with `--quiet` and without questions if the report on standard output is all that is printed.
    pub(crate) fn silent_if(&self, is_silent: bool) -> Self {
        Self {
            quiet: self.quiet || is_silent,
            verbose: if is_silent { 0 } else { self.verbose },
            no_input: self.no_input || is_silent,
            ..self.clone()
        }
    }

    pub(crate) fn screen(&self) -> Screen {
        let verbosity = match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 1..) => Verbosity::Verbose,
            (false, 0) => Verbosity::Normal,
        };
        Screen::stderr(self.color_stderr(), verbosity)
    }

    pub(crate) fn style(&self) -> Style {
        self.style_of(columns().unwrap_or(100).max(20))
    }

    /// The style of a table on stdout. Without a terminal, the width is unlimited.
    pub(crate) fn table_style(&self) -> Style {
        self.style_of(columns().unwrap_or(usize::MAX))
    }

    pub(crate) fn style_of(&self, width: usize) -> Style {
        Style {
            color: self.color_on(std::io::stdout().is_terminal()),
            unicode: speaks_utf8(),
            width,
        }
    }

    pub(crate) fn say(&self, text: impl AsRef<str>) {
        if !self.quiet {
            stream::err(format!(
                "{}\n",
                secrets::redact(&printable::block(text.as_ref()))
            ));
        }
    }
}

/// Whether a person can be asked here.
pub(crate) fn has_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// The width of the terminal of stdout.
fn columns() -> Option<usize> {
    let size = console::Term::stdout().size_checked();
    size.map(|(_, columns)| usize::from(columns))
}

pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}
