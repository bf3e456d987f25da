//! `glee disputes`: prints the newest disputes as a table.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::json;

use crate::cli::commands::history::disputes::common::{self, outcome, since};
use crate::cli::context::{
    CommandError, CommandResult, Globals, JsonFlag, Words, history, local_time, number, one_of,
    place, pretty, print, server, stream,
};
use crate::cli::report::view;
use crate::cli::style::{Color, Style};
use glee_model::domain::event::Mode;
use glee_model::domain::{Disposition, ExitReason, RulingWord, Severity, Tag};
use glee_protocol::text::printable;
use glee_store::history::SharedDispute;
use glee_store::history::queries::rows::{DisputeFilter, DisputeRecord, DisputeRow, RulingFilter};
use glee_store::history::shared_log::LoggedDispute;

#[derive(clap::Args)]
pub(crate) struct Filters {
    /// List only the N newest disputes
    #[arg(long, value_name = "N", default_value_t = 20, allow_negative_numbers = true, value_parser = number::<u32>(1, u64::MAX))]
    recent: u32,
    /// List only open disputes
    #[arg(long)]
    open: bool,
    /// List only disputes with a ruling in force on code that was removed from the tree
    #[arg(long)]
    gone: bool,
    /// List only disputes with this ruling or outcome
    #[arg(long, value_parser = one_of(ENDED), value_name = "RULING")]
    ruling: Option<RulingFilter>,
    /// List only disputes on findings of this reviewer
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,
    /// List only disputes opened since this date (2026-11-01) or time, or within this period (3d, 2h)
    #[arg(long, value_name = "WHEN", value_parser = since)]
    since: Option<Timestamp>,
    /// List the disputes of all repositories on the server that its role sees
    #[arg(long, conflicts_with = "gone")]
    all: bool,
    #[command(flatten)]
    output: JsonFlag,
}

const ENDED: Words<RulingFilter> = &[
    ("enforce", RulingFilter::Word(RulingWord::Enforce), ""),
    ("dismiss", RulingFilter::Word(RulingWord::Dismiss), ""),
    ("escalate", RulingFilter::Word(RulingWord::Escalate), ""),
    ("discarded", RulingFilter::Disposition("discarded"), ""),
    ("refuted", RulingFilter::Disposition("refuted"), ""),
    (
        "accepted-risk",
        RulingFilter::Disposition("accepted_risk"),
        "",
    ),
    ("deferred", RulingFilter::Disposition("deferred"), ""),
    ("duplicate", RulingFilter::Disposition("duplicate"), ""),
    (
        "not-mandatory",
        RulingFilter::Disposition("not_mandatory"),
        "",
    ),
];

#[derive(Serialize)]
struct Listing<'a> {
    schema: u32,
    disputes: &'a [DisputeRow],
    /// The disputes that Glee copied from other histories of this repository. Rulings on these disputes have no
    /// effect on runs.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    elsewhere: &'a [SharedDispute],
}

pub(crate) fn run(args: &Filters, globals: &Globals) -> CommandResult {
    // The query reads one dispute more than the list shows, to detect whether older disputes exist.
    let filter = DisputeFilter {
        recent: if args.gone {
            None
        } else {
            Some(args.recent.saturating_add(1))
        },
        open_only: args.open,
        ruling: args.ruling,
        reviewer: args.reviewer.clone(),
        since: args.since,
        ..DisputeFilter::default()
    };
    if args.all {
        return everywhere(args, &filter, globals);
    }
    let listed = history::read_here(globals, |journal| {
        Ok((
            journal.disputes(&filter)?,
            journal.shared_disputes(&filter)?,
        ))
    })?;
    let ((mut rows, mut shared), damage) = listed.unwrap_or_default();
    if args.gone {
        shared.clear();
    }
    if args.gone && !rows.is_empty() {
        let workspace = place::workspace(globals)?;
        let journal = history::open_read(globals, &workspace)?;
        let gone = journal
            .map(|journal| common::gone(globals, &journal))
            .transpose()?
            .unwrap_or_default();
        rows.retain(|row| gone.contains(&row.number));
    }
    shared.truncate(args.recent as usize);
    let older = rows.len() > args.recent as usize;
    rows.truncate(args.recent as usize);
    if args.output.json {
        stream::out(pretty(&Listing {
            schema: 1,
            disputes: &rows,
            elsewhere: &shared,
        }))?;
    } else if rows.is_empty() && shared.is_empty() {
        let filtered = args.gone
            || DisputeFilter {
                recent: None,
                ..filter
            } != DisputeFilter::default();
        stream::out(if filtered {
            "No dispute matches.\n"
        } else {
            nothing(globals)?
        })?;
    } else {
        let folder = place::work_folder_here(globals);
        let places = rows.iter_mut().filter_map(|row| row.location.as_mut());
        places.for_each(|place| folder.path(&mut place.file));
        shared
            .iter_mut()
            .for_each(|shared| folder.dispute(&mut shared.record.dispute));
        stream::out(table(&rows, &shared, globals.table_style()))?;
        if !globals.quiet {
            stream::err(next_steps(&rows, older, args));
        }
    }
    damage.map_or(Ok(ExitReason::Clean), Err)
}

/// Lists the disputes of all repositories.
fn everywhere(args: &Filters, filter: &DisputeFilter, globals: &Globals) -> CommandResult {
    let mut disputes = server::required(globals)?.disputes(filter)?;
    let older = disputes.len() > args.recent as usize;
    disputes.truncate(args.recent as usize);
    if args.output.json {
        return print(pretty(&json!({ "schema": 1, "disputes": disputes })));
    }
    if disputes.is_empty() {
        return print("No dispute matches.\n");
    }
    let look = globals.table_style();
    let [number, opened, tag, ruling, by, finding] = HEADS;
    let heads = ["REPOSITORY", number, opened, tag, ruling, by, finding];
    let rows = disputes.iter().map(|LoggedDispute { repository, row }| {
        let [number, opened, tag, ruling, by, finding] =
            cells(row, &row.number.to_string(), None, look);
        let repository = printable::line(repository);
        [repository, number, opened, tag, ruling, by, finding]
    });
    stream::out(look.listing(heads.map(|head| look.faint(head)), rows, &[1]))?;
    if older && !globals.quiet {
        let recent = args.recent.saturating_mul(5);
        stream::err(format!(
            "Older disputes: `glee disputes --all --recent {recent}`\n"
        ));
    }
    Ok(ExitReason::Clean)
}

/// Returns a message that explains why the history has no disputes. One possible reason is that no coder answered
/// a mandatory finding, so no disagreement could arise.
fn nothing(globals: &Globals) -> Result<&'static str, CommandError> {
    let runs = history::read_here(globals, |journal| journal.runs(None))?
        .map(|(runs, _)| runs)
        .unwrap_or_default();
    let answered = runs
        .iter()
        .any(|run| run.mode != Mode::Review && run.mandatory > 0);
    Ok(match (runs.is_empty(), answered) {
        (true, _) => "No disputes yet: nothing was reviewed.\n",
        (false, false) => "No disputes yet: no coder answered a mandatory finding.\n",
        (false, true) => "No disputes yet: no coder objected to a mandatory finding.\n",
    })
}

pub(crate) fn table(rows: &[DisputeRow], shared: &[SharedDispute], look: Style) -> String {
    let own = rows
        .iter()
        .map(|row| cells(row, &row.number.to_string(), None, look));
    let shared = shared
        .iter()
        .map(|dispute| cells(&row_of(dispute), &dispute.id.0, Some(&dispute.source), look));
    look.listing(HEADS.map(|head| look.faint(head)), own.chain(shared), &[0])
}

const HEADS: [&str; 6] = ["#", "OPENED", "TAG", "RULING", "BY", "FINDING"];

fn row_of(shared: &SharedDispute) -> DisputeRow {
    let SharedDispute { id, record, .. } = shared;
    let DisputeRecord {
        run,
        opened_at,
        settled_at,
        dispute,
        settlement,
        ended_at,
        ..
    } = record;
    let raw = &dispute.finding.raw;
    let ruled_by = dispute.rulings.last().map(|last| last.by.clone());
    DisputeRow {
        number: dispute.number,
        id: id.clone(),
        run: run.clone(),
        opened_at: *opened_at,
        settled_at: *settled_at,
        finding: dispute.finding.id,
        tag: raw.severity.to_string(),
        title: raw.title.clone(),
        location: raw.location(),
        raised_by: dispute
            .finding
            .raised_by
            .iter()
            .map(|name| name.0.clone())
            .collect(),
        ruling: dispute.rulings.last().map(|last| last.ruling.ruling),
        ruled_by: settlement
            .as_ref()
            .map(|settlement| settlement.by.clone())
            .or(ruled_by),
        disposition: dispute.disposition.clone(),
        until: settlement.as_ref().and_then(|settlement| settlement.until),
        ended_at: *ended_at,
    }
}

/// The parameter `from` contains the source of a dispute from another history, and is `None` for other disputes.
fn cells(row: &DisputeRow, name: &str, from: Option<&str>, look: Style) -> [String; 6] {
    let severity = Severity {
        tag: Tag::parse(&row.tag),
        raw: row.tag.clone(),
    };
    let (ruled, words) = ruling(row);
    let place = row
        .location
        .as_ref()
        .map_or(Cow::Borrowed(""), |place| Cow::Owned(format!("{place} ")));
    let finding = row.title.labelled(&place);
    let short = |text: &str, width| look.cut(&printable::line(text), width);
    let by = row.ruled_by.as_ref().map(view::ruler);
    let finding = match from {
        None => printable::line(&finding),
        Some(from) => format!(
            "{} (from {})",
            printable::line(&finding),
            printable::line(from)
        ),
    };
    [
        (Color::Strong, name.to_owned()),
        (Color::Faint, local_time(row.opened_at)),
        (Color::of(&severity), short(&row.tag, 12)),
        (ruled, short(&words, 32)),
        (
            Color::Plain,
            by.map(|by| short(&by, 20)).unwrap_or_default(),
        ),
        (Color::Plain, finding),
    ]
    .map(|(tone, cell)| look.paint(tone, &cell))
}

/// Returns the ruling, the outcome or the open state of the dispute as a short text, such as `ENFORCE` or `open`.
pub(crate) fn ruling(row: &DisputeRow) -> (Color, String) {
    let last = row
        .until
        .filter(|last| *last < Timestamp::now().to_zoned(TimeZone::UTC).date());
    let ended = last.is_some() || row.ended_at.is_some();
    let (tone, words) = word(row);
    if ended {
        (Color::Faint, format!("{words} (ended)"))
    } else {
        (tone, words)
    }
}

fn word(row: &DisputeRow) -> (Color, String) {
    match (row.ruling, &row.disposition) {
        (Some(RulingWord::Escalate), None) => (Color::Warn, "ESCALATE, open".to_owned()),
        (_, None) => (Color::Warn, "open".to_owned()),
        (Some(RulingWord::Enforce), Some(Disposition::Enforced)) => {
            (Color::Bad, "ENFORCE".to_owned())
        }
        (Some(word @ RulingWord::Dismiss), Some(ended)) => {
            (Color::Good, format!("{word}, {}", outcome(ended)))
        }
        (_, Some(ended)) => (Color::Plain, outcome(ended)),
    }
}

fn next_steps(rows: &[DisputeRow], older: bool, args: &Filters) -> String {
    let mut text = String::new();
    let gone = if args.gone { " --gone" } else { "" };
    if older {
        text += &format!(
            "Older disputes: `glee disputes{gone} --recent {}`\n",
            args.recent.saturating_mul(5)
        );
    }
    if args.gone {
        text.push_str("To end these rulings: `glee disputes prune`\n");
    }
    if let Some(open) = rows.iter().find(|row| row.disposition.is_none()) {
        let number = open.number;
        text += &format!(
            "To settle an open dispute: `glee disputes show {number}`, then `glee disputes resolve {number}`\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use jiff::SignedDuration;

    use super::*;
    use crate::cli::style::columns;
    use glee_model::domain::{
        AgentName, DisputeId, DisputeNumber, FindingId, Location, Person, Ruler, RunId,
    };
    use jiff::civil::DateTime;

    fn row(number: u64, tag: &str, title: &str) -> DisputeRow {
        DisputeRow {
            number: DisputeNumber(number),
            id: DisputeId::of(&RunId("r".to_owned()), FindingId::new(1)),
            run: RunId("r".to_owned()),
            opened_at: Timestamp::UNIX_EPOCH,
            settled_at: None,
            finding: FindingId::new(1),
            tag: tag.to_owned(),
            title: title.into(),
            location: Some(Location::line("src/db.rs", 42)),
            raised_by: vec!["codex".to_owned()],
            ruling: None,
            ruled_by: None,
            disposition: None,
            until: None,
            ended_at: None,
        }
    }

    fn ruled(
        row: DisputeRow,
        ruling: Option<RulingWord>,
        by: Ruler,
        ended: Option<Disposition>,
    ) -> DisputeRow {
        DisputeRow {
            ruling,
            ruled_by: Some(by),
            disposition: ended,
            ..row
        }
    }

    fn rows() -> Vec<DisputeRow> {
        let judge = || Ruler::Judge {
            name: AgentName::from("claude-judge"),
        };
        let deferred = Disposition::Deferred {
            reference: "issue 12".to_owned(),
        };
        vec![
            row(120, "MUST", "日本語 title\x1b[2J that goes on"),
            ruled(
                row(9, "HIGH", "Leak"),
                Some(RulingWord::Escalate),
                judge(),
                None,
            ),
            ruled(
                row(8, "HIGH", "Leak"),
                Some(RulingWord::Enforce),
                judge(),
                Some(Disposition::Enforced),
            ),
            ruled(
                row(7, "MUST", "Leak"),
                Some(RulingWord::Dismiss),
                Ruler::Human(Person {
                    name: "Ada".into(),
                    email: "ada@example.org".into(),
                }),
                Some(deferred),
            ),
            ruled(
                row(6, "blocker", "Leak"),
                None,
                Ruler::Policy,
                Some(Disposition::Discarded),
            ),
        ]
    }

    #[test]
    fn columns_line_up_and_nothing_escapes() {
        let look = Style {
            color: false,
            unicode: true,
            width: usize::MAX,
        };
        let text = table(&rows(), &[], look)
            .replace(&local_time(Timestamp::UNIX_EPOCH), "1970-01-01 00:00");
        insta::assert_snapshot!(text, @r"
          #  OPENED            TAG      RULING                         BY            FINDING
        120  1970-01-01 00:00  MUST     open                                         src/db.rs:42 日本語 title\u{1b}[2J that goes on
          9  1970-01-01 00:00  HIGH     ESCALATE, open                 claude-judge  src/db.rs:42 Leak
          8  1970-01-01 00:00  HIGH     ENFORCE                        claude-judge  src/db.rs:42 Leak
          7  1970-01-01 00:00  MUST     DISMISS, deferred to issue 12  Ada           src/db.rs:42 Leak
          6  1970-01-01 00:00  blocker  discarded                      policy        src/db.rs:42 Leak
        ");
    }

    #[test]
    fn in_a_narrow_terminal_findings_stand_below_their_rows() {
        let look = Style {
            color: true,
            unicode: true,
            width: 40,
        };
        let text = table(&rows(), &[], look);
        assert!(text.lines().all(|line| columns(line) <= 40), "{text}");
        let findings = text.lines().filter(|line| line.starts_with("    "));
        assert!(findings.count() > rows().len(), "{text}");
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(
            since("1970-01-02T00:00:00Z"),
            Ok(Timestamp::from_second(86_400).unwrap())
        );
        let three_days_ago = Timestamp::now() - SignedDuration::from_hours(72);
        for age in ["3d", "72h", "3 days"] {
            // If daylight saving time began or ended in the last three days, the result differs by an hour.
            assert!(
                (since(age).unwrap() - three_days_ago)
                    .total(jiff::Unit::Hour)
                    .unwrap()
                    .abs()
                    < 2.0,
                "{age}"
            );
        }
        let midnight = "2026-11-01T00:00"
            .parse::<DateTime>()
            .unwrap()
            .to_zoned(TimeZone::system())
            .unwrap();
        assert_eq!(since("2026-11-01"), Ok(midnight.timestamp()));
        assert_eq!(since("2026-11-01T00:00"), Ok(midnight.timestamp()));
        for bad in ["", "yesterday", "-3d", "2026-13-01"] {
            assert!(since(bad).is_err(), "{bad}");
        }
    }
}
