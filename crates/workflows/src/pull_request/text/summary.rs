//! The summary comment, which is also the summary of the check.

use crate::pull_request::check::Blocking;
use crate::pull_request::input::RequestReview;
use crate::pull_request::standing::RequestStanding;
use crate::pull_request::text::escape::{LONGEST, TEXT, code, commit, line, names};
use crate::pull_request::text::finding::{denials, details, location, severity, title};
use crate::pull_request::text::{links, statement};
use glee_model::domain::{Outcome, SettledFinding, Tag, UnreadFile, number_of};
use glee_protocol::secrets::redact;
use glee_protocol::text::{markup, printable};

/// The begin of each summary.
pub(crate) const SUMMARY: &str = "## Glee: ";
/// The number of characters that are reserved for the marker, and for the sentence about omitted parts.
const RESERVED: usize = 400;
/// A list of files of one kind contains at most this number of files.
const FILES: usize = 100;

/// A sort key that orders findings from the most to the least important. An unknown severity counts as the
/// highest.
pub(crate) fn importance(
    settled: &SettledFinding,
) -> (bool, Option<Tag>, glee_model::domain::FindingId) {
    (
        !settled.finding.mandatory,
        settled.finding.raw.severity.tag,
        settled.finding.id,
    )
}

/// The result of the review in one line, for example `2 mandatory findings are open`.
pub(crate) fn verdict(review: &RequestReview<'_>) -> String {
    if let Some(nothing) = review.outcome.nothing_to_review() {
        return markup::cut(&redact(&printable::line(&nothing)), 200);
    }
    let Blocking { open, disputes } = Blocking::of(review);
    let mut parts = Vec::new();
    if open > 0 {
        let verb = if open == 1 { "is" } else { "are" };
        parts.push(format!(
            "{} {verb} open",
            number_of(open, "mandatory finding")
        ));
    }
    if disputes > 0 {
        let verb = if disputes == 1 { "waits" } else { "wait" };
        parts.push(format!(
            "{} {verb} for a decision",
            number_of(disputes, "dispute")
        ));
    }
    parts.extend(
        review
            .outcome
            .notices
            .iter()
            .find(|notice| notice.contains(Outcome::VERIFY_FAILS))
            .map(|notice| redact(&printable::line(notice)).into_owned()),
    );
    let found = parts.join(", ");
    let unread = printable::line(&UnreadFile::languages(&review.outcome.proof.unread));
    let unread = if unread.is_empty() {
        String::new()
    } else {
        format!("; not reviewed: no rules for {unread}")
    };
    let text = match (found.as_str(), review.is_conclusive(), review.is_complete()) {
        ("", false, _) => "Inconclusive: the review is not complete".to_owned(),
        (found, false, _) => format!("Inconclusive: the review is not complete; {found}"),
        ("", true, false) => {
            "Not every reviewer answered completely; nothing mandatory is open so far".to_owned()
        }
        (found, true, false) => format!("{found}; not every reviewer answered completely"),
        ("", true, true) if review.outcome.findings.is_empty() => "No findings".to_owned(),
        ("", true, true) => "Nothing mandatory is open".to_owned(),
        (found, true, true) => found.to_owned(),
    };
    let apart = review.outcome.set_apart();
    markup::cut(&format!("{text}{unread}{apart}"), 200)
}

/// The text of the summary without its marker. `unplaced` are the open findings without a thread. `ignored` is the
/// number of replies by bots and by people who do not belong to the repository.
pub(crate) fn summary(
    review: &RequestReview<'_>,
    unplaced: &[&SettledFinding],
    ignored: usize,
) -> String {
    let outcome = review.outcome;
    let title_line = format!("{SUMMARY}{}\n\n", markup::prose(&verdict(review)));
    let mut page = markup::MarkupPage::new(title_line, LONGEST - RESERVED);
    let mut groups: Vec<Vec<(&SettledFinding, RequestStanding<'_>)>> = Vec::new();
    let mut count = 0;
    for group in outcome.groups() {
        count += 1;
        let mut open: Vec<_> = group
            .iter()
            .map(|settled| (settled, RequestStanding::of(review, settled)))
            .collect();
        open.retain(|(_, standing)| standing.is_open());
        open.sort_by_key(|(settled, _)| importance(settled));
        if !open.is_empty() {
            groups.push(open);
        }
    }
    groups.sort_by_key(|group| importance(group[0].0));
    let members = if outcome.findings.len() > count {
        format!(" with {} members", outcome.findings.len())
    } else {
        String::new()
    };
    page.add(&format!(
        "{}{members}: {} open, {} closed. Reviewed {}.\n",
        number_of(count, "finding"),
        groups.len(),
        count - groups.len(),
        reviewed(review),
    ));
    let open = groups.concat();
    let mut left_out = usize::from(!table(review, &open, &mut page));
    let missing = missing(review);
    left_out += missing.len()
        - page.section(
            "Not reviewed",
            missing.iter().map(|text| format!("- {text}\n")),
        );
    let waiting: Vec<String> = open
        .iter()
        .filter_map(|(settled, standing)| waits(settled, standing))
        .collect();
    left_out += waiting.len() - page.section("Waiting for a maintainer", waiting.iter().cloned());
    let items = unplaced.iter().enumerate().map(|(at, settled)| {
        let number = settled.finding.id.number;
        let is_further = at > 0 && unplaced[at - 1].finding.id.number == number;
        let of_group = unplaced[at..].iter();
        let group: Vec<&SettledFinding> = of_group
            .take_while(|other| other.finding.id.number == number)
            .copied()
            .collect();
        let denials = if is_further {
            Vec::new()
        } else {
            denials(&group, TEXT)
        };
        item(review, settled, is_further, &denials)
    });
    left_out += unplaced.len() - page.section("Findings without a comment", items);
    page.add(&format!("\n### Review\n\n{}", proof(review, ignored)));
    let files = files(review);
    left_out += usize::from(!files.is_empty() && !page.add(&files));
    if left_out > 0 {
        page.text.push_str(
            "\nParts of this summary are left out, because it would be too long. `glee show` prints them.\n",
        );
    }
    page.text
}

fn reviewed(review: &RequestReview<'_>) -> String {
    let commit = review.outcome.proof.commit.as_deref().map(commit);
    let at = commit
        .map(|commit| format!(" at {commit}"))
        .unwrap_or_default();
    format!(
        "{}{at}",
        number_of(review.outcome.proof.covered.len(), "file")
    )
}

/// Adds the table of open findings. The further members of a group follow its first. Rows that do not fit are left out. Returns `true` if no row was left out.
fn table(
    review: &RequestReview<'_>,
    open: &[(&SettledFinding, RequestStanding<'_>)],
    page: &mut markup::MarkupPage,
) -> bool {
    let head = "\n| severity | finding | place | state |\n|---|---|---|---|\n";
    let rows = open.iter().enumerate().map(|(at, (settled, standing))| {
        let number = settled.finding.id.number;
        let is_further = at > 0 && open[at - 1].0.finding.id.number == number;
        let also = if is_further { "also " } else { "" };
        let state = match standing {
            RequestStanding::Enforced(_) => "enforced",
            RequestStanding::Escalated(_) => "waits for a maintainer",
            RequestStanding::Undecided => "disputed",
            _ if settled.finding.mandatory => "mandatory",
            _ => "optional",
        };
        let cells = [
            format!("{also}**{}**", severity(settled)),
            title(settled),
            place(review, settled),
            state.to_owned(),
        ];
        format!(
            "| {} |\n",
            cells.map(|cell| markup::cell(&cell)).join(" | ")
        )
    });
    let rows: Vec<String> = rows.collect();
    // The rows use at most half of the maximum size of the text. The other half is for the findings without a
    // comment.
    let mut size = 0;
    let shown: Vec<&String> = rows
        .iter()
        .take_while(|row| {
            size += row.chars().count();
            size <= LONGEST / 2
        })
        .collect();
    let all = shown.len() == rows.len();
    if shown.is_empty() {
        return all;
    }
    page.add(&format!(
        "{head}{}",
        shown.into_iter().cloned().collect::<String>()
    )) && all
}

/// The location as inline code, with a link to the lines at the head commit.
fn place(review: &RequestReview<'_>, settled: &SettledFinding) -> String {
    let raw = &settled.finding.raw;
    let text = code(&location(settled));
    let lines = raw.line.map(|first| (first, raw.end_line.unwrap_or(first)));
    let address = raw
        .file
        .as_deref()
        .and_then(|file| links::address(review, file, lines));
    match address {
        Some(address) if !text.is_empty() => format!("[{text}]({address})"),
        _ => text,
    }
}

fn waits(settled: &SettledFinding, standing: &RequestStanding<'_>) -> Option<String> {
    let RequestStanding::Escalated(decision) = standing else {
        return None;
    };
    let said = markup::indented(&statement::ruling(decision));
    Some(format!(
        "- **{}** {} {}\n\n  {said}\n",
        severity(settled),
        code(&location(settled)),
        title(settled)
    ))
}

/// A finding without a comment. `is_further` is true for a member of the group of the finding before.
fn item(
    review: &RequestReview<'_>,
    settled: &SettledFinding,
    is_further: bool,
    denials: &[String],
) -> String {
    let also = if is_further { "also " } else { "" };
    let mut text = format!(
        "- {also}**{}** {} {}\n",
        severity(settled),
        place(review, settled),
        title(settled)
    );
    let parts = details(settled, None, TEXT);
    for part in parts.iter().chain(denials) {
        text.push_str(&format!("\n  {}\n", markup::indented(part)));
    }
    let raised_by = names(settled.finding.raised_by.iter().map(|name| name.0.as_str()));
    text.push_str(&format!("\n  raised by {raised_by}\n"));
    text
}

/// What failed, and which files no reviewer could read.
fn missing(review: &RequestReview<'_>) -> Vec<String> {
    let outcome = review.outcome;
    let proof = &outcome.proof;
    let failures = outcome.failures.iter().map(|failure| {
        format!(
            "the {} {} failed: {}",
            failure.role,
            code(&failure.agent.0),
            line(&failure.error)
        )
    });
    let incomplete = proof
        .reviewers
        .iter()
        .filter(|reviewer| !reviewer.status.is_complete());
    let incomplete = incomplete.map(|reviewer| {
        format!(
            "the reviewer {} did not answer completely",
            code(&reviewer.name.0)
        )
    });
    let unread = proof.unread.iter().take(FILES);
    let unread = unread.map(|unread| {
        format!(
            "{}: no rules for {}",
            code(&unread.file),
            line(&unread.language)
        )
    });
    let skipped = proof
        .skipped
        .iter()
        .filter(|skip| skip.reason.is_unread())
        .take(FILES);
    let skipped = skipped.map(|skip| format!("{}: {}", code(&skip.file), skip.reason.as_str()));
    failures
        .chain(incomplete)
        .chain(unread)
        .chain(skipped)
        .collect()
}

/// The section of the summary about the run, the reviewers and the usage.
fn proof(review: &RequestReview<'_>, ignored: usize) -> String {
    let outcome = review.outcome;
    let proof = &outcome.proof;
    let reviewers = names(
        proof
            .reviewers
            .iter()
            .map(|reviewer| reviewer.name.0.as_str()),
    );
    let mut lines = vec![format!(
        "- run {} of {}",
        code(outcome.run.short()),
        code(&proof.target)
    )];
    lines.push(format!(
        "- reviewers: {}",
        if reviewers.is_empty() {
            "none"
        } else {
            &reviewers
        }
    ));
    let said = proof
        .reviewers
        .iter()
        .filter(|reviewer| !reviewer.said.is_blank());
    lines.extend(said.map(|reviewer| {
        let said = line(&reviewer.said.trimmed());
        format!("- {} says: {said}", code(&reviewer.name.0))
    }));
    let tokens = [
        (proof.usage.input_tokens, "read"),
        (proof.usage.output_tokens, "written"),
    ];
    let tokens = tokens.into_iter().filter_map(|(number, did)| {
        Some(format!("{} {did}", number_of(number? as usize, "token")))
    });
    let cost = proof.usage.paid_usd().map(|usd| {
        let estimated = if proof.usage.estimated {
            " (estimated)"
        } else {
            ""
        };
        format!("{usd:.2} US dollars{estimated}")
    });
    let calls = number_of(proof.calls as usize, "call");
    let usage: Vec<String> = std::iter::once(calls).chain(tokens).chain(cost).collect();
    lines.push(format!("- usage: {}", usage.join(", ")));
    if !proof.reused.is_empty() {
        lines.push("- answers about unchanged files are reused from earlier runs".to_owned());
    }
    if ignored > 0 {
        let verb = if ignored == 1 { "is" } else { "are" };
        let people = "by bots and by people outside of the repository";
        lines.push(format!("- {} {people} {verb} ignored", replies(ignored)));
    }
    format!("{}\n", lines.join("\n"))
}

fn replies(number: usize) -> String {
    if number == 1 {
        "1 reply".to_owned()
    } else {
        format!("{number} replies")
    }
}

fn files(review: &RequestReview<'_>) -> String {
    let proof = &review.outcome.proof;
    let covered: Vec<String> = proof
        .covered
        .iter()
        .map(|covered| code(&covered.file))
        .collect();
    let excluded = proof.skipped.iter().filter(|skip| !skip.reason.is_unread());
    let excluded: Vec<String> = excluded
        .map(|skip| format!("{} ({})", code(&skip.file), skip.reason.as_str()))
        .collect();
    let mut text = String::new();
    for (what, files) in [("covered", covered), ("left out", excluded)] {
        if files.is_empty() {
            continue;
        }
        let more = files.len().saturating_sub(FILES);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let shown: Vec<String> = files.into_iter().take(FILES).collect();
        text.push_str(&format!("- {what}: {}{more}\n", shown.join(", ")));
    }
    text
}
