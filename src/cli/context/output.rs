//! Prints the output of commands. Output that is longer than the screen is shown in a pager.

use std::io;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::globals::{Globals, is_dumb};
use super::settings;
use crate::cli::error::CommandResult;
use crate::cli::style::{self, columns, links::PlaceLinks};
use crate::cli::ui::{pager::Pager, screen, stream};
use glee_model::domain::ExitReason;
use glee_store::config::choices::PagerUse;
use glee_store::config::schema::values::Hyperlink;

pub(crate) fn print(text: impl AsRef<str>) -> CommandResult {
    stream::out(text)?;
    Ok(ExitReason::Clean)
}

/// Prints sentences. On a terminal, long lines are wrapped between words.
pub(crate) fn tell(globals: &Globals, sentences: impl AsRef<str>) -> CommandResult {
    print(style::fit(sentences.as_ref(), globals.table_style().width))
}

pub(crate) fn local_time(at: Timestamp) -> String {
    at.to_zoned(TimeZone::system())
        .strftime("%Y-%m-%d %H:%M")
        .to_string()
}

/// Shows text on stdout. On a terminal, the text can contain links, and a pager shows a long text.
pub(crate) struct Viewer {
    /// The rows and columns of the screen, or `None` if stdout is not a terminal.
    size: Option<(usize, usize)>,
    pager: Option<Pager>,
    links: Option<PlaceLinks>,
}

impl Viewer {
    /// No pager is opened if `was_asked` is true, for example because a dialog was shown. A pager would read keys
    /// that the user typed before the pager started.
    pub(crate) fn new(globals: &Globals, was_asked: bool) -> Self {
        let ui = settings::of_screen(globals);
        let size = screen::size_of_stdout();
        let may_page = size.is_some()
            && ui.pager == PagerUse::Auto
            && !globals.no_pager
            && !globals.no_input
            && !was_asked
            && !is_dumb();
        let pager = may_page.then(Pager::of_user).flatten();
        let format = match ui.hyperlink {
            Hyperlink::Auto => screen::shows_hyperlinks().then(|| PlaceLinks::FILE.to_owned()),
            Hyperlink::Off => None,
            Hyperlink::Format(format) => {
                (size.is_some() && !is_dumb() || screen::shows_hyperlinks()).then_some(format)
            }
        };
        let format = format.filter(|_| pager.as_ref().is_none_or(Pager::shows_links));
        let folder = globals.directory().canonicalize().ok();
        Self {
            size,
            links: format
                .zip(folder)
                .map(|(format, folder)| PlaceLinks::new(format, folder)),
            pager,
        }
    }

    /// Whether a long text scrolls out of the screen, because no pager shows it.
    pub(crate) fn scrolls(&self) -> bool {
        self.size.is_some() && self.pager.is_none()
    }

    pub(crate) fn links(&self) -> Option<&PlaceLinks> {
        self.links.as_ref()
    }

    /// Whether the text has more lines than the screen shows above the prompt of the shell.
    fn is_long(&self, text: &str) -> bool {
        self.size.is_some_and(|(rows, width)| {
            let lines = text
                .lines()
                .map(|line| columns(line).div_ceil(width.max(1)).max(1));
            lines.sum::<usize>() >= rows
        })
    }

    pub(crate) fn show(&self, text: &str) -> io::Result<()> {
        match self.pager.as_ref().filter(|_| self.is_long(text)) {
            Some(pager) => pager.show(text),
            None => stream::out(text),
        }
    }
}
