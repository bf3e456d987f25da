//! Writes the reports of a run: to files, to standard output, to the browser and to the job summary.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use crate::cli::context::globals::Globals;
use crate::cli::context::history;
use crate::cli::context::output::Viewer;
use crate::cli::context::place::state_dir;
use crate::cli::error::CommandError;
use crate::cli::report::filter::ReportFilter;
use crate::cli::report::options::{Detail, FixCommand, RenderOptions, TextOptions};
use crate::cli::report::outputs::{self, Outputs};
use crate::cli::report::paths::WorkFolder;
use crate::cli::report::written::{self, WrittenReport};
use crate::cli::report::{self, Format};
use crate::cli::style::{Style, count};
use crate::cli::ui::{browser, screen::Verbosity};
use glee_model::domain::event::Event;
use glee_model::domain::{FindingId, Outcome};
use glee_protocol::secrets;
use glee_protocol::text::printable;
use glee_workflows::review::code::sources::Sources;

/// The data from which Glee creates the reports on a run.
pub(crate) struct RunReport<'a> {
    pub(crate) outcome: &'a Outcome,
    pub(crate) reviewed: &'a Sources,
    /// The recorded events. The list can be empty if none of the reports that are still to be written [shows
    /// events](Format::shows_events).
    pub(crate) events: &'a [Event],
    pub(crate) fix: &'a FixCommand,
    pub(crate) only: &'a [FindingId],
    pub(crate) filter: Option<&'a ReportFilter>,
    /// If true, Glee opens no pager. The field `was_asked` is true, for example, if the user answered a dialog or
    /// if a signal ended the run.
    pub(crate) was_asked: bool,
}

impl RunReport<'_> {
    /// Writes all reports. If Glee cannot write one report, Glee still writes the other reports.
    pub(crate) fn write(
        &self,
        globals: &Globals,
        outputs: &Outputs,
        root: &Path,
    ) -> Result<(), CommandError> {
        // The whole outcome is redacted, because even file names may contain secret tokens.
        let outcome = secrets::redact_value(self.outcome.clone());
        let work_folder = WorkFolder::new(&globals.directory(), root);
        let render = |format: Format, style: Style, detail: Detail, text: TextOptions<'_>| {
            let folder = work_folder
                .clone()
                .for_people(matches!(format, Format::Text | Format::Agent));
            let options = RenderOptions {
                style,
                detail,
                source: &|path, round| self.reviewed.shown(round, &folder.in_tree(path)),
                events: self.events,
                fix: self.fix,
                only: self.only,
                whole: &outcome,
                text,
            };
            let mut shown = outcome.clone();
            // The text report says itself what a filter hides.
            if let Some(filter) = self.filter.filter(|_| format != Format::Text) {
                filter.narrow(&mut shown, &work_folder);
            }
            folder.outcome(&mut shown);
            report::render(format, &shown, &options)
        };
        for format in outputs.formats() {
            let left_out = report::left_out(format, &outcome);
            if left_out > 0 {
                let findings = count(left_out, "finding");
                let name = format.as_str();
                globals.say(format!(
                    "note: the report `{name}` omits {findings} that are closed or have no location"
                ));
            }
        }
        let mut failure = None;
        let mut inside = Vec::new();
        for (format, path) in &outputs.files {
            let detail = if globals.verbose > 0 {
                Detail::Full
            } else {
                Detail::Short
            };
            let style = Style {
                color: false,
                unicode: true,
                width: 100,
            };
            let text = render(*format, style, detail, TextOptions::default());
            match outputs::write(*format, path, &text) {
                Ok(()) => {
                    // A stream can be the one on which this line would follow.
                    if path.is_file() {
                        let below = path.strip_prefix(globals.directory());
                        let name = printable::line(&below.unwrap_or(path).to_string_lossy());
                        globals.say(format!("Wrote {name} ({})", format.as_str()));
                    }
                    inside.extend(WrittenReport::of(*format, path, root, &text));
                }
                Err(error) => {
                    let again = format!(
                        "glee runs show {} --format {}=FILE",
                        outcome.run.short(),
                        format.as_str()
                    );
                    failure.get_or_insert(error.hint(format!(
                        "the run is recorded; write the report again with `{again}`"
                    )));
                }
            }
        }
        if !inside.is_empty()
            && let Some(journal) = history::open_read_here(globals)?
            && let Err(error) = written::record(&journal.folder_of(&outcome.run), inside)
        {
            globals.say(format!(
                "note: reports in the tree cannot be recorded, so they can prevent a resume: {error}"
            ));
        }
        let detail = match globals.screen().verbosity {
            Verbosity::Quiet => Detail::Verdict,
            Verbosity::Normal => Detail::Short,
            Verbosity::Verbose => Detail::Full,
        };
        // In the format `jsonl`, Glee already printed each event when the event was recorded.
        if outputs.stdout != Format::Jsonl {
            let viewer = Viewer::new(globals, self.was_asked);
            let options = TextOptions {
                links: viewer.links(),
                filter: self.filter,
                is_read_from_end: viewer.scrolls(),
            };
            let text = render(outputs.stdout, globals.style(), detail, options);
            if let Err(error) = viewer.show(&text) {
                let again = format!("glee runs show {}", outcome.run.short());
                failure.get_or_insert(
                    CommandError::caused(
                        "the report cannot be written to standard output".to_owned(),
                        error,
                    )
                    .hint(format!(
                        "the run is recorded; print the report again with `{again}`"
                    )),
                );
            }
        }
        if outputs.formats().any(|format| format == Format::Github) {
            summarise_job(
                globals,
                &render(
                    Format::Markdown,
                    globals.style(),
                    Detail::Short,
                    TextOptions::default(),
                ),
            );
        }
        if outputs.is_opened {
            let path = match outputs.page() {
                Some(path) => path.to_owned(),
                None => {
                    let page = render(
                        Format::Html,
                        globals.style(),
                        Detail::Full,
                        TextOptions::default(),
                    );
                    outputs::keep(&state_dir()?, &outcome.run, &page)?
                }
            };
            let shown = path.display();
            globals.say(match browser::open(&path) {
                Ok(()) => format!("note: the report opens in the browser: {shown}"),
                Err(error) => {
                    format!("note: no browser can be started ({error}); open {shown} yourself")
                }
            });
        }
        failure.map_or(Ok(()), Err)
    }
}

/// On GitHub's runner, this environment variable contains the path of the file for the job summary.
const JOB_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Appends `text` to the file of the job summary. The file can already contain text from earlier commands of the
/// same CI step.
fn summarise_job(globals: &Globals, text: &str) {
    let Some(path) = std::env::var_os(JOB_SUMMARY).filter(|path| !path.is_empty()) else {
        return;
    };
    let opened = OpenOptions::new().create(true).append(true).open(path);
    if let Err(error) = opened.and_then(|mut file| writeln!(file, "{text}")) {
        globals.say(format!("note: the job summary cannot be written: {error}"));
    }
}
