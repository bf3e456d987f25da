//! The options of a report: which findings are shown, and in how much detail.

use crate::cli::report::filter::ReportFilter;
use crate::cli::style::{Style, links::PlaceLinks};
use glee_model::domain::event::Event;
use glee_model::domain::{FindingId, Outcome};

#[derive(Clone, Copy)]
pub struct RenderOptions<'a> {
    pub style: Style,
    pub detail: Detail,
    /// Returns the content of a reviewed file. The arguments are the path in the tree, and the number of the
    /// round, counted from 1. If the result is `None`, the report shows no source code of the file.
    pub source: &'a dyn Fn(&str, u32) -> Option<String>,
    /// The recorded events of the run, for formats that [show events](super::Format::shows_events).
    pub events: &'a [Event],
    /// The command that hands the findings to the coder.
    pub fix: &'a FixCommand,
    /// The report shows the texts of these findings only. If the list is empty, the report shows the texts of all
    /// findings. The counts in the summary always include all findings.
    pub only: &'a [FindingId],
    /// The outcome before a [`ReportFilter`] narrowed it. The conclusion and the counts of a report are about all findings.
    pub whole: &'a Outcome,
    /// The options of the text report.
    pub text: TextOptions<'a>,
}

impl RenderOptions<'_> {
    /// Whether the report shows the texts of a finding.
    pub(crate) fn shows(&self, finding: FindingId) -> bool {
        self.only.is_empty() || self.only.iter().any(|id| id.addresses(finding))
    }
}

#[derive(Clone, Copy, Default)]
pub struct TextOptions<'a> {
    pub(crate) links: Option<&'a PlaceLinks>,
    /// If a filter is given, the report shows only matching findings and disputes. The counts of the summary
    /// include all findings.
    pub(crate) filter: Option<&'a ReportFilter>,
    /// Whether the end of the report is what stays on the screen: a terminal without a pager.
    pub(crate) is_read_from_end: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixCommand {
    /// `None` if no arguments can select the target again, for example after a diff from standard input.
    pub command: Option<String>,
    pub has_coder: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Shows the conclusion of the run, and one line for each open finding.
    Verdict,
    /// Omits the source code of optional findings, and of findings that an earlier ruling settled.
    Short,
    Full,
}
