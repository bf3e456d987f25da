//! The section of the text report about the reviewers. The section lists failures, skipped files, notices, and the
//! status of each reviewer's answers. The section shows every incomplete review, so that no reader takes the
//! report for an approval.

use std::fmt::Write as _;

use crate::cli::report::options::{Detail, RenderOptions};
use crate::cli::report::text::layout::{facts, heading, list, named, wrapped};
use crate::cli::report::view;
use crate::cli::style::calls::SAID;
use crate::cli::style::{self, Color, Glyph, Style, columns, count};
use glee_agents::failure::shorten;
use glee_model::domain::{
    AnswerProblem, AnswerStatus, Failure, NoLongerRaised, Outcome, Reused, ReviewerReport, Skip,
    UnreadFile,
};
use glee_protocol::text::printable;

pub(crate) fn section(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let style = options.style;
    let mut text = reviewers(options, outcome);
    text.push_str(&reused(style, &outcome.proof.reused));
    text.push_str(&no_longer_raised(outcome, options));
    for failure in &outcome.failures {
        let agent = style.strong(printable::line(&failure.agent.0));
        if !outcome
            .proof
            .reviewers
            .iter()
            .any(|reviewer| view::is_of(failure, reviewer))
        {
            let error = format!(
                "{agent} ({}) failed: {}",
                failure.role,
                printable::line(&failure.error)
            );
            wrapped(
                &mut text,
                style,
                &format!("{} ", style.mark(Glyph::Failed)),
                &error,
            );
            output_of(&mut text, style, outcome, failure);
        }
        if let Some(hint) = &failure.hint {
            let head = format!("{} ", style.paint(Color::Key, "hint:"));
            wrapped(
                &mut text,
                style,
                &head,
                &format!("{agent}: {}", printable::line(hint)),
            );
        }
    }
    text.push_str(&skipped(outcome, options));
    text.push_str(&unread(outcome, options));
    for notice in &outcome.notices {
        wrapped(
            &mut text,
            style,
            &format!("{} ", style.paint(Color::Warn, "note:")),
            &printable::line(notice),
        );
    }
    text
}

fn reviewers(options: &RenderOptions<'_>, outcome: &Outcome) -> String {
    let style = options.style;
    let reviewers = outcome.proof.reviewers.as_slice();
    if reviewers.is_empty() {
        return String::new();
    }
    let are_plain = reviewers.iter().all(|of| {
        view::status(outcome, of).0 == Glyph::Done
            && of.said.is_blank()
            && of.unread.len() <= outcome.proof.unread.len()
    });
    if options.detail != Detail::Full && are_plain {
        let names: Vec<_> = reviewers.iter().map(|of| of.name.clone()).collect();
        let mut text = String::new();
        wrapped(
            &mut text,
            style,
            "",
            &format!("Reviewed by {}", list(&names)),
        );
        return text;
    }
    let rows = reviewers.iter().map(|reviewer| {
        let (glyph, status) = view::status(outcome, reviewer);
        let status = if glyph == Glyph::Done {
            status.to_owned()
        } else {
            style.paint(glyph.color(), &status.to_uppercase())
        };
        [
            format!(
                "  {} {}",
                style.mark(glyph),
                printable::line(&reviewer.name.0)
            ),
            status,
            count(reviewer.findings, "finding"),
            // For a reviewer whose call was interrupted, no duration is recorded.
            if reviewer.millis == 0 {
                String::new()
            } else {
                style::duration(reviewer.millis)
            },
        ]
    });
    let rows: Vec<[String; 4]> = rows.collect();
    let mut text = heading(style, "Reviewers", "");
    for ((line, row), reviewer) in style::table::table(&rows, &[3])
        .into_iter()
        .zip(&rows)
        .zip(reviewers)
    {
        let failure = reviewer
            .failure
            .as_deref()
            .map(printable::line)
            .unwrap_or_default();
        if columns(&line) + 2 + columns(&failure) <= style.width {
            let _ = writeln!(text, "{}", format!("{line}  {failure}").trim_end());
        } else {
            if columns(&line) <= style.width {
                let _ = writeln!(text, "{line}");
            } else {
                let row = row.each_ref().map(|cell| cell.trim_start().to_owned());
                facts(&mut text, style, "  ", &row);
            }
            wrapped(&mut text, style, "    ", &failure);
        }
        let of_reviewer = outcome
            .failures
            .iter()
            .find(|failure| view::is_of(failure, reviewer));
        of_reviewer
            .iter()
            .for_each(|failure| output_of(&mut text, style, outcome, failure));
        if reviewer.status == AnswerStatus::NotReviewed {
            // What a program says instead of a review is why there is none.
            let instead = shorten(&printable::line(&reviewer.said.trimmed()), SAID);
            let head = format!("    {} ", style.paint(Color::Faint, "says:"));
            if !instead.is_empty() {
                wrapped(&mut text, style, &head, &instead);
            }
            problems(&mut text, style, outcome, reviewer);
        } else {
            problems(&mut text, style, outcome, reviewer);
            said(&mut text, options, reviewer);
        }
        // Files that no reviewer could read are listed elsewhere. Here, a line about unread files is printed only
        // if another reviewer read at least one of these files.
        if reviewer.unread.len() > outcome.proof.unread.len() {
            let files = count(reviewer.unread.len(), "file");
            let languages = printable::line(&UnreadFile::languages(&reviewer.unread));
            wrapped(
                &mut text,
                style,
                "    ",
                &format!("{files} not read: no rules for {languages}"),
            );
        }
    }
    text
}

/// Says how to see the output of a failed call.
fn output_of(text: &mut String, style: Style, outcome: &Outcome, failure: &Failure) {
    let Some(call) = &failure.call else { return };
    let run = printable::line(outcome.run.short());
    let call = printable::line(call);
    wrapped(
        text,
        style,
        "    ",
        &format!("see its output: glee runs show {run} --calls {call}"),
    );
}

/// Lists the first incomplete answers of a reviewer. Each line states the problem, and the command that prints
/// the raw answer.
fn problems(text: &mut String, style: Style, outcome: &Outcome, reviewer: &ReviewerReport) {
    const SHOWN: usize = 2;
    let run = printable::line(outcome.run.short());
    for AnswerProblem { call, problem } in reviewer.problems.iter().take(SHOWN) {
        wrapped(text, style, "    ", &printable::line(problem));
        let command = format!(
            "see the answer: glee runs show {run} --calls {}",
            printable::line(call)
        );
        wrapped(text, style, "    ", &command);
    }
    if reviewer.problems.len() > SHOWN {
        let more = count(reviewer.problems.len() - SHOWN, "more answer");
        wrapped(
            text,
            style,
            "    ",
            &format!("{more}: glee runs show {run} --calls"),
        );
    }
}

/// Shows what a reviewer says beside its findings: one line, or in the full report all of it.
fn said(text: &mut String, options: &RenderOptions<'_>, reviewer: &ReviewerReport) {
    if reviewer.said.is_blank() {
        return;
    }
    let style = options.style;
    let head = format!("    {} ", style.paint(Color::Faint, "says:"));
    if options.detail == Detail::Full {
        wrapped(text, style, &head, &printable::block(&reviewer.said));
    } else {
        let room = style.width.saturating_sub(columns(&head));
        let line = style.cut(&printable::line(&reviewer.said.trimmed()), room);
        let _ = writeln!(text, "{head}{line}");
    }
}

/// Lists the reused answers. Each line names one reviewer and one earlier run.
pub(crate) fn reused(style: Style, reused: &[Reused]) -> String {
    reused
        .iter()
        .map(|Reused { reviewer, from }| {
            let parts = match from.in_part.len() {
                0 => String::new(),
                some => format!(", {some} of them in part"),
            };
            let files = count(from.files.len() + from.in_part.len(), "file");
            let name = printable::line(&reviewer.0);
            let run = printable::line(from.run.short());
            let reads = if from.reads_unknown {
                format!("; what {name} read beside is unknown")
            } else {
                String::new()
            };
            let mut line = String::new();
            wrapped(
                &mut line,
                style,
                "    ",
                &style.faint(format!(
                    "{name}: {files} reused from run {run}{parts}{reads}"
                )),
            );
            line
        })
        .collect()
}

/// Lists each finding of an earlier run if the reviewed change fixed the finding. Each reviewer of such a finding
/// read the changed code and did not raise the finding again.
fn no_longer_raised(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let style = options.style;
    let gone = &outcome.no_longer_raised;
    if gone.is_empty() {
        return String::new();
    }
    let head = format!(
        "{} fixed by the change, rechecked by the reviewer",
        count(gone.len(), "finding")
    );
    let mut text = String::new();
    wrapped(&mut text, style, "", &style.paint(Color::Good, &head));
    let (named, more) = named(gone, options.detail);
    for NoLongerRaised { reviewer, finding } in named {
        let place = finding
            .location()
            .map(|place| format!("{place} "))
            .unwrap_or_default();
        let place = printable::line(&place);
        let title = printable::line(&finding.title);
        wrapped(
            &mut text,
            style,
            "  ",
            &format!("{place}{title} ({})", printable::line(&reviewer.0)),
        );
    }
    more.iter()
        .for_each(|more| wrapped(&mut text, style, "  ", more));
    text
}

/// Lists the files that no reviewer could read, and says how these files can be reviewed.
fn unread(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let unread = &outcome.proof.unread;
    let all = unread.len() == outcome.proof.covered.len();
    // Several files are counted, so that the first screen has room.
    if options.detail != Detail::Full && unread.len() > 1 && !all {
        let files = count(unread.len(), "file");
        let languages = printable::line(&UnreadFile::languages(unread));
        let text = format!("Not reviewed: {files} (no rules for {languages})");
        let mut line = String::new();
        wrapped(
            &mut line,
            options.style,
            "",
            &options.style.paint(Color::Warn, &text),
        );
        return line;
    }
    let file =
        |UnreadFile { file, language }: &UnreadFile| format!("{file} (no rules for {language})");
    let hint = all.then_some(
        "connect a reviewer that reads these files: `glee connect <agent> --role reviewer`",
    );
    not_reviewed("Not reviewed", unread, file, hint, options)
}

fn skipped(outcome: &Outcome, options: &RenderOptions<'_>) -> String {
    let file = |skip: &Skip| format!("{} ({})", skip.file, skip.reason.as_str());
    let hint = outcome.not_sent().map(|_| {
        "review more with `glee config set --user review.max_file_size <size>`, exclude files in .gleeignore, or \
         accept it with `glee config set --user review.skipped note`"
    });
    let skipped = outcome.proof.skipped.iter();
    let (by_rule, others): (Vec<&Skip>, Vec<&Skip>) =
        skipped.partition(|skip| skip.reason.is_by_rule());
    not_reviewed("Not reviewed", &others, |skip| file(skip), hint, options)
        + &not_reviewed(
            "Not reviewed by rule",
            &by_rule,
            |skip| file(skip),
            None,
            options,
        )
}

/// Lists files with the reasons why they were not reviewed. The list begins with the words `what`.
fn not_reviewed<T>(
    what: &str,
    files: &[T],
    shown: impl Fn(&T) -> String,
    hint: Option<&str>,
    options: &RenderOptions<'_>,
) -> String {
    if files.is_empty() {
        return String::new();
    }
    let style = options.style;
    let (some, more) = named(files, options.detail);
    let mut names: Vec<String> = some
        .iter()
        .map(|file| printable::line(&shown(file)))
        .collect();
    names.extend(more);
    let head = format!("{what}: {}", count(files.len(), "file"));
    let mut text = format!("{}\n", style.paint(Color::Warn, &head));
    wrapped(&mut text, style, "  ", &names.join(", "));
    if let Some(hint) = hint {
        let head = format!("  {} ", style.paint(Color::Key, "hint:"));
        wrapped(&mut text, style, &head, hint);
    }
    text
}
