//! `--format markdown`: a report for a comment or a job summary. Text from agents and files cannot add markup,
//! links or mentions, because the report escapes punctuation. A word that a host such as GitHub would turn into
//! a link is written as a code span.

use crate::cli::report::formats::entry::{self, Entry};
use crate::cli::report::formats::gaps;
use crate::cli::report::options::RenderOptions;
use crate::cli::report::text::{self, summary};
use crate::cli::report::view::{self, FindingCounts, ReportedState};
use crate::cli::style::count;
use glee_model::domain::Outcome;
use glee_protocol::text::markdown::dedent;
use glee_protocol::text::markup::{MarkupPage, code, cut, fenced, indented, prose};

/// The maximum number of characters of the report. GitHub allows 65,536 characters in a comment.
const MOST: usize = 65_000;
/// The number of characters that are reserved for the sentence about omitted findings.
const RESERVED: usize = 200;
/// The maximum number of characters of a title, a path or a list of names.
const TITLE: usize = 300;
/// The maximum number of characters of any other text, such as the explanation of a finding.
const TEXT: usize = 1_500;

pub(crate) fn render(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let mut page = MarkupPage::new(
        format!("## Glee: {}\n\n", prose(&text::conclusion(options.whole))),
        MOST - RESERVED,
    );
    for line in outcome.caveats() {
        page.add(&format!("{}\n\n", prose(&cut(&line, TEXT))));
    }
    let entries = entry::all(outcome);
    page.add(&format!(
        "{}. Run {}, {} reviewed.\n",
        FindingCounts::of(options.whole).row(),
        code(outcome.run.short()),
        summary::files(outcome),
    ));
    let gaps = gaps::unreviewed(outcome);
    page.section(
        "Not reviewed",
        gaps.iter()
            .map(|gap| format!("- {}\n", prose(&cut(&gap.text, TEXT)))),
    );
    let notices = outcome.notices.iter();
    page.section(
        "Notes",
        notices.map(|notice| format!("- {}\n", prose(&cut(&entry::line(notice), TEXT)))),
    );
    page.section(
        "Said beside the findings",
        gaps::said(outcome)
            .map(|(name, said)| format!("- {}: {}\n", prose(&name), prose(&cut(&said, TEXT)))),
    );
    let mut written = 0;
    for (heading, state) in [
        ("Mandatory and open", ReportedState::Mandatory),
        ("Optional", ReportedState::Optional),
        ("Fixed", ReportedState::Fixed),
        ("Dismissed", ReportedState::Dismissed),
    ] {
        let of = entries
            .iter()
            .filter(|entry| entry.reported_state() == state);
        written += page.section(heading, of.map(|entry| item(entry, outcome)));
    }
    let left_out = entries.len() - written;
    if left_out > 0 {
        page.text.push_str(&format!(
            "\n{} left out, because the report would be longer than {MOST} characters.\n",
            if left_out == 1 {
                "1 finding is".to_owned()
            } else {
                format!("{} are", count(left_out, "finding"))
            }
        ));
    }
    page.text
}

fn item(entry: &Entry<'_>, outcome: &Outcome) -> String {
    let place = entry.path().map(|path| match entry.lines() {
        Some((first, last)) if last > first => format!("{path}:{first}-{last}"),
        Some((first, _)) => format!("{path}:{first}"),
        None => path,
    });
    let place = place
        .map(|place| format!(" {}", code(&cut(&place, TITLE))))
        .unwrap_or_default();
    let severity = prose(&cut(&entry.severity(), 40));
    let id = entry.id();
    let mut text = format!(
        "- **{severity}** {id}{place} {}\n",
        prose(&cut(&entry.title(), TITLE))
    );
    let by = prose(&cut(&entry.raised_by().join(", "), TITLE));
    let reason = prose(&cut(&entry.reason(outcome), TEXT));
    if !entry.is_open() {
        text.push_str(&format!("\n  {}\n", indented(&reason)));
        for (shown, _) in view::demonstrations(entry.settled) {
            let shown = prose(&cut(&entry::line(&shown), TEXT));
            text.push_str(&format!("\n  Test {}\n", indented(&shown)));
        }
        return text;
    }
    let body = prose(&cut(&entry::block(&entry.raw().body), TEXT));
    if !body.is_empty() {
        text.push_str(&format!("\n  {}\n", indented(&body)));
    }
    for evidence in &entry.raw().evidence {
        let evidence = prose(&cut(&entry::block(evidence), TEXT));
        text.push_str(&format!("\n  Evidence: {}\n", indented(&evidence)));
    }
    let fix = entry.fix().map(|fix| dedent(&entry::block(&fix.shown())));
    for code in entry
        .settled
        .finding
        .other_suggestion()
        .map(entry::block)
        .into_iter()
        .chain(fix)
    {
        text.push_str(&format!("\n  {}\n", indented(&fenced(&cut(&code, TEXT)))));
    }
    for remark in entry.remarks() {
        let remark = prose(&cut(&remark, TEXT));
        text.push_str(&format!("\n  {}\n", indented(&remark)));
    }
    let weakness = match entry.raw().cwe {
        Some(cwe) => format!("; {cwe}"),
        None => String::new(),
    };
    let rule = match &entry.raw().guideline {
        Some(id) => format!("; rule {}", code(&cut(id, TITLE))),
        None => String::new(),
    };
    text.push_str(&format!(
        "\n  raised by {by}{weakness}{rule}; {}\n",
        indented(&reason)
    ));
    text
}
