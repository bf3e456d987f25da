//! Updates the views, which are tables derived from the events. Only [`apply`] writes the views. Therefore, a
//! rebuild of the views from the events gives the same rows.

use jiff::Timestamp;
use rusqlite::{Connection, ToSql, params};

use glee_model::domain::event::{
    ConsensusEvent, DisputeEvent, Event, EventKind, ReviewEvent, RunEvent, WatchEvent,
};
use glee_model::domain::{Dispute, DisputeNumber, Finding, FindingId, KeyedAnswer, RunId};

use crate::history::columns::{json, time};
use crate::history::projections::execute::execute;
use crate::history::stored_id::StoredId;

pub mod calls;
mod execute;
pub mod measures;
pub mod problems;

pub(crate) const VIEWS: [(&str, &str); 18] = [
    ("run", "number"),
    ("call", "run, call"),
    ("finding", "run, id"),
    ("problem", "number"),
    ("dispute", "number"),
    ("judged", "dispute, finding"),
    ("raiser", "reviewer, dispute"),
    ("stage", "number"),
    ("watch", "number"),
    ("reviewed", "number"),
    ("compared", "number"),
    ("participant", "run, agent, role"),
    ("measured", "run, finding"),
    ("opinion", "problem, reviewer"),
    ("judgement", "dispute, judge"),
    ("audit", "dispute, judge"),
    ("tally", "kind, name, day"),
    ("pair", "kind, one, other, day"),
];

pub fn apply(db: &Connection, event: &Event) -> rusqlite::Result<()> {
    lists(db, event)?;
    calls::apply(db, event)?;
    measures::apply(db, event)
}

fn lists(db: &Connection, event: &Event) -> rusqlite::Result<()> {
    let Event { run, seq, at, kind } = event;
    let write = |sql, values: &[&dyn ToSql]| execute(db, sql, values);
    match kind {
        EventKind::Run(RunEvent::RunResumed) | EventKind::Review(ReviewEvent::FixRequested { .. }) => {
            write("UPDATE run SET ended = NULL, exit = NULL WHERE id = ?1", &[&run.0])
        }
        EventKind::Run(RunEvent::RunEnded { exit, .. }) => {
            write("UPDATE run SET ended = ?2, exit = ?3 WHERE id = ?1", params![run.0, time(*at), json(exit)])
        }
        EventKind::Run(RunEvent::RunUndone { left, .. }) => {
            write("UPDATE run SET undone = ?2 WHERE id = ?1", params![run.0, *left == 0])
        }
        EventKind::Run(RunEvent::RunRedone { .. }) => write("UPDATE run SET undone = 0 WHERE id = ?1", &[&run.0]),
        EventKind::Run(RunEvent::RunApplied { left, .. }) => {
            write("UPDATE run SET undone = ?2 WHERE id = ?1", params![run.0, *left > 0])
        }
        EventKind::Run(RunEvent::RunDropped) => write("UPDATE run SET undone = 1 WHERE id = ?1", &[&run.0]),
        // What the coder changes in a worktree is not in the user's tree.
        EventKind::Review(ReviewEvent::TreeChanged(change)) if !change.changes.is_empty() => write(
            "UPDATE run SET undone = 1 WHERE id = ?1 AND EXISTS (
                 SELECT 1 FROM event WHERE event.run = ?1 AND kind = 'run_started'
                     AND body ->> '$.plan.worktree' IS NOT NULL)",
            &[&run.0],
        ),
        EventKind::Review(ReviewEvent::RunStarted { plan }) => write(
            "INSERT INTO run (id, started, target, mode, request) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                run.0,
                time(*at),
                plan.target,
                json(&plan.mode),
                plan.pull_request.as_ref().map(|request| &request.link),
            ],
        ),
        EventKind::Review(
            ReviewEvent::FindingsMerged { findings, .. } | ReviewEvent::DebateConcluded { findings, .. },
        ) => keep_findings(db, run, findings),
        EventKind::Review(ReviewEvent::MembersSeparated { findings, answers, .. }) => {
            keep_findings(db, run, findings)?;
            keep_answers(db, run, answers)
        }
        EventKind::Review(ReviewEvent::FilesReviewed { review: all, .. }) => all.files.iter().try_for_each(|review| {
            write(
                "INSERT INTO reviewed (asker, file, key, run, seq) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![all.asker, review.file, review.key, run.0, seq.cast_signed()],
            )
        }),
        EventKind::Review(ReviewEvent::FindingsCompared { answers, .. }) => {
            keep_answers(db, run, answers)
        }
        EventKind::Dispute(DisputeEvent::DisputeOpened { dispute }) => open(db, run, *at, dispute),
        EventKind::Dispute(DisputeEvent::RulingGiven { dispute, ruling }) => {
            keep(db, *dispute, &ruling.ruling.members)?;
            write(
                "UPDATE dispute SET ruling = ?2, ruled_by = ?3, rationale = ?4, cited = ?5 WHERE number = ?1",
                params![
                    dispute.0.cast_signed(),
                    ruling.ruling.ruling.as_str(),
                    json(&ruling.by),
                    ruling.ruling.rationale.as_written(),
                    json(&ruling.cited)
                ],
            )
        }
        EventKind::Dispute(DisputeEvent::DisputeSettled { dispute, settlement }) => write(
            "UPDATE dispute SET settled = ?2, disposition = ?3, ruled_by = ?4,
                 rationale = iif(?5 = '', rationale, ?5), until = ?6, ended = NULL WHERE number = ?1",
            params![
                dispute.0.cast_signed(),
                time(*at),
                json(&settlement.disposition),
                json(&settlement.by),
                settlement.reason.as_written(),
                settlement.until.as_ref().map(json)
            ],
        ),
        EventKind::Dispute(DisputeEvent::RulingRevoked { dispute, .. }) => write(
            "UPDATE dispute SET settled = NULL, disposition = NULL, ruling = NULL, ruled_by = NULL, rationale = '',
                 until = NULL, ended = NULL, cited = NULL WHERE number = ?1",
            params![dispute.0.cast_signed()],
        ),
        EventKind::Dispute(DisputeEvent::RulingEnded { dispute }) => {
            write("UPDATE dispute SET ended = ?2 WHERE number = ?1", params![dispute.0.cast_signed(), time(*at)])
        }
        EventKind::Consensus(ConsensusEvent::StageStarted { plan }) => write(
            "INSERT INTO stage (run, id, stage, started) VALUES (?1, ?2, ?3, ?4)",
            params![run.0, plan.id, plan.stage, time(*at)],
        ),
        EventKind::Watch(WatchEvent::WatchStarted { plan }) => write(
            "INSERT OR IGNORE INTO watch (run, root, started) VALUES (?1, ?2, ?3)",
            params![run.0, plan.root, time(*at)],
        ),
        EventKind::Run(_)
        | EventKind::Review(_)
        | EventKind::Dispute(_)
        | EventKind::Consensus(_)
        | EventKind::Watch(_) => Ok(()),
    }
}

fn keep_findings(db: &Connection, run: &RunId, findings: &[Finding]) -> rusqlite::Result<()> {
    let mut forget = db.prepare_cached("DELETE FROM finding WHERE run = ?1 AND id = ?2")?;
    let mut insert = db.prepare_cached(
        "INSERT OR REPLACE INTO finding (run, id, was, mandatory, body) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for finding in findings {
        if let Some(was) = finding.was {
            forget.execute(params![run.0, was.key()])?;
        }
        let body = json(finding);
        insert.execute(params![
            run.0,
            finding.id.key(),
            finding.was.map(FindingId::key),
            finding.mandatory,
            body
        ])?;
    }
    Ok(())
}

fn keep_answers(db: &Connection, run: &RunId, answers: &[KeyedAnswer]) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached(
        "INSERT INTO compared (key, run, same, by, reason) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for KeyedAnswer { key, answer } in answers {
        let by = &answer.by.0;
        let reason = answer.reason.as_written();
        insert.execute(params![key, run.0, answer.same, by, reason])?;
    }
    Ok(())
}

/// The condition for the rows of open disputes. A dispute that only the configured route settled is open (see
/// [`Settlement::binds`](glee_model::domain::event::Settlement::binds)).
pub const OPEN: &str = "(disposition IS NULL OR ruled_by ->> '$.kind' = 'policy')";

fn open(db: &Connection, run: &RunId, at: Timestamp, dispute: &Dispute) -> rusqlite::Result<()> {
    let number = dispute.number.0.cast_signed();
    let finding = &dispute.finding;
    db.prepare_cached(
        "INSERT INTO dispute (number, run, opened, finding, tag, title, location, raised_by, reopens)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        number,
        run.0,
        time(at),
        finding.id.key(),
        finding.raw.severity.to_string(),
        finding.raw.title.as_written(),
        finding.raw.location().as_ref().map(json),
        json(&finding.raised_by),
        dispute.reopens().map(|number| number.0.cast_signed()),
    ])?;
    let mut judged = db.prepare_cached(
        "INSERT INTO judged (dispute, finding, tag, title, location, raised_by, places)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for member in dispute.findings() {
        judged.execute(params![
            number,
            member.id.key(),
            member.raw.severity.to_string(),
            member.raw.title.as_written(),
            member.raw.location().as_ref().map(json),
            json(&member.raised_by),
            json(&member.anchored().collect::<Vec<_>>()),
        ])?;
    }
    let mut raiser =
        db.prepare_cached("INSERT OR IGNORE INTO raiser (reviewer, dispute) VALUES (?1, ?2)")?;
    finding
        .raised_by
        .iter()
        .try_for_each(|name| raiser.execute(params![name.0, number]).map(drop))
}

/// Removes the findings that a ruling left to a dispute of their own, as [`Dispute::keep`] does.
fn keep(db: &Connection, dispute: DisputeNumber, named: &[FindingId]) -> rusqlite::Result<()> {
    let number = dispute.0.cast_signed();
    let mut known = db.prepare_cached("SELECT finding FROM judged WHERE dispute = ?1")?;
    let known = known.query_map([number], |row| Ok(row.get::<_, StoredId>(0)?.0))?;
    let known = known.collect::<rusqlite::Result<Vec<FindingId>>>()?;
    let (kept, left): (Vec<FindingId>, Vec<FindingId>) = known
        .into_iter()
        .partition(|id| named.iter().any(|named| named.addresses(*id)));
    if kept.is_empty() || left.is_empty() {
        return Ok(());
    }
    let mut remove = db.prepare_cached("DELETE FROM judged WHERE dispute = ?1 AND finding = ?2")?;
    for finding in left {
        remove.execute(params![number, finding.key()])?;
    }
    let sql = "UPDATE dispute SET (finding, tag, title, location, raised_by) =
            (SELECT finding, tag, title, location, raised_by FROM judged WHERE dispute = ?1 ORDER BY finding LIMIT 1)
        WHERE number = ?1 AND finding NOT IN (SELECT finding FROM judged WHERE dispute = ?1)";
    execute(db, sql, [number])
}
