//! Queries runs, events, disputes and bindings in the history.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::types::Value;
use rusqlite::{Params, Row, params_from_iter};

use crate::history::columns::{from_json, from_time, json, time};
use crate::history::projections::OPEN;
use crate::history::queries::rows::{
    Binding, DisputeFilter, DisputeRecord, DisputeRow, OtherRunRow, Reopened, RulingFilter, RunRow,
    StageRow,
};
use crate::history::stored_id::StoredId;
use crate::history::{JournalError, store::Journal};
use glee_model::domain::event::{DisputeEvent, Event, EventKind, Plan, ReviewEvent, Settlement};
use glee_model::domain::{
    Anchor, Disposition, DisputeId, DisputeNumber, ExitReason, Finding, Location, Ruler,
    RulingWord, RunId, WorktreeFacts,
};
use glee_model::rules::measures::dollars;

const ALL: &str = "run = ?1";
const OF_DISPUTES: &str = "run = ?1 AND kind IN ('dispute_opened', 'disputes_reopened', 'route_chosen', 'objection_answered', 'coder_replied', 'ruling_given', 'dispute_settled', 'ruling_revoked', 'ruling_ended')";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The ids of at most 100 commits. The plans of reviews contain these ids. The commit of the newest review is
    /// first.
    pub commits: Vec<String>,
    pub began: Option<Timestamp>,
}

impl Journal {
    pub fn extent(&self) -> Result<Extent, JournalError> {
        let commits = self.rows(
            "SELECT body ->> '$.plan.commit' AS named FROM event WHERE kind = 'run_started' AND named IS NOT NULL
             GROUP BY named ORDER BY max(id) DESC LIMIT 100",
            [],
            |row| row.get(0),
        )?;
        let began = self.rows("SELECT at FROM event ORDER BY id LIMIT 1", [], |row| {
            from_time(row, "at")
        })?;
        Ok(Extent {
            commits,
            began: began.first().copied().flatten(),
        })
    }

    /// Returns the events of a run, or an empty list for an unknown run. Fails if this version of Glee does not
    /// know the kind of an event.
    pub fn events(&self, run: &RunId) -> Result<Vec<Event>, JournalError> {
        self.events_where(run, ALL)
    }

    pub fn each(&self, run: &RunId, take: impl FnMut(&Event)) -> Result<(), JournalError> {
        let sql = format!("SELECT id, run, seq, at, body FROM event WHERE {ALL} ORDER BY seq");
        self.stream(&sql, [&run.0], take)
    }

    pub fn last_watch(&self, root: &str) -> Result<Option<RunId>, JournalError> {
        let sql = "SELECT run FROM watch WHERE root = ?1 ORDER BY number DESC";
        self.newest_here(self.rows(sql, [root], |row| row.get(0).map(RunId))?)
    }

    /// Returns the runs of stages and checkpoints, oldest first.
    pub fn stages(&self) -> Result<Vec<StageRow>, JournalError> {
        self.rows("SELECT * FROM stage ORDER BY number", [], |row| {
            Ok(StageRow {
                run: RunId(row.get("run")?),
                id: row.get("id")?,
                stage: row.get("stage")?,
                started: from_time(row, "started")?,
            })
        })
    }

    /// Returns the stages, checkpoints and audits of this machine whose stored data was not pruned, oldest first.
    pub fn unpruned_stages_and_audits(&self) -> Result<Vec<OtherRunRow>, JournalError> {
        let sql = "SELECT run, at,
                (SELECT body -> '$.exit' FROM event AS it
                 WHERE it.run = event.run AND it.kind = 'run_ended' ORDER BY seq DESC LIMIT 1) AS exit
            FROM event
            WHERE seq = 1 AND kind IN ('stage_started', 'audit_started')
                AND NOT EXISTS (SELECT 1 FROM event AS it WHERE it.run = event.run AND it.kind = 'run_pruned')
            ORDER BY id";
        let rows = self.rows(sql, [], |row| {
            Ok(OtherRunRow {
                run: RunId(row.get("run")?),
                started: from_time(row, "at")?,
                exit: from_json(row, "exit")?,
            })
        })?;
        let here = rows
            .into_iter()
            .filter_map(|row| match self.is_elsewhere(&row.run) {
                Ok(true) => None,
                elsewhere => Some(elsewhere.map(|_| row)),
            });
        here.collect()
    }

    pub fn last_stage(&self, id: &str, stage: &str) -> Result<Option<RunId>, JournalError> {
        let sql = "SELECT run FROM stage WHERE id = ?1 AND stage = ?2 ORDER BY number DESC";
        self.newest_here(self.rows(sql, [id, stage], |row| row.get(0).map(RunId))?)
    }

    /// Returns the plan of a review, or `None` if the history contains no review with this id.
    pub fn plan(&self, run: &RunId) -> Result<Option<Plan>, JournalError> {
        let begun = self.events_where(run, "run = ?1 AND kind = 'run_started'")?;
        Ok(begun.into_iter().find_map(|event| match event.kind {
            EventKind::Review(ReviewEvent::RunStarted { plan }) => Some(*plan),
            _ => None,
        }))
    }

    /// Returns the latest version of each finding of a run, in the order of their ids.
    pub fn findings(&self, run: &RunId) -> Result<Vec<Finding>, JournalError> {
        self.rows(
            "SELECT body FROM finding WHERE run = ?1 ORDER BY id",
            [&run.0],
            |row| from_json(row, "body"),
        )
    }

    /// Returns the bindings of all disputes, oldest first: one for each finding of a dispute that has an anchor. If two
    /// bindings have the same anchor, the later binding applies.
    pub fn bindings(&self) -> Result<Vec<Binding>, JournalError> {
        let mut bindings = self.rows(
            "SELECT number, run, disposition, rationale, settled, until, ended, cited, reopens, ruled_by,
                    judged.finding AS judged, judged.title AS judged_title, places
                FROM dispute JOIN judged ON judged.dispute = number
                WHERE places <> '[]' ORDER BY number, judged.finding",
            [],
            |row| {
                let mut places: Vec<(Location, Anchor)> = from_json(row, "places")?;
                let (location, anchor) = places.remove(0);
                let ended: Option<Timestamp> = from_time(row, "ended")?;
                Ok(Binding {
                    dispute: number(row)?.into(),
                    run: RunId(row.get("run")?),
                    finding: row.get::<_, StoredId>("judged")?.0,
                    anchor,
                    title: row.get::<_, String>("judged_title")?.into(),
                    location: Some(location),
                    also: places,
                    disposition: binding(row, from_json(row, "disposition")?)?,
                    new_tag: None,
                    rationale: row.get::<_, String>("rationale")?.into(),
                    settled_at: binding(row, from_time(row, "settled")?)?,
                    until: from_json(row, "until")?,
                    ended: ended.map(|at| at.to_zoned(TimeZone::UTC).date()),
                    is_vouched: true,
                    problem: None,
                    cited: from_json::<Option<_>>(row, "cited")?.unwrap_or_default(),
                    reopens: row
                        .get::<_, Option<i64>>("reopens")?
                        .map(|number| DisputeNumber(number.unsigned_abs())),
                })
            },
        )?;
        let is_lowered = |binding: &Binding| binding.disposition == Some(Disposition::NotMandatory);
        let lowered: Vec<DisputeNumber> = bindings
            .iter()
            .filter(|binding| is_lowered(binding))
            .filter_map(Binding::number)
            .collect();
        let lowered = self.disputes_numbered(&lowered)?;
        for binding in bindings.iter_mut().filter(|binding| is_lowered(binding)) {
            let record = binding.number().and_then(|number| lowered.get(&number));
            binding.new_tag =
                record.and_then(|record| record.dispute.rulings.last()?.ruling.new_tag);
        }
        Ok(bindings)
    }

    /// Returns the disputes that match the filter, newest first.
    pub fn disputes(&self, filter: &DisputeFilter) -> Result<Vec<DisputeRow>, JournalError> {
        let (sql, values) = listing(filter);
        self.rows(&sql, params_from_iter(values), dispute_row)
    }

    pub fn dispute(&self, number: DisputeNumber) -> Result<Option<DisputeRecord>, JournalError> {
        Ok(self
            .disputes_numbered(&[number])?
            .pop_first()
            .map(|(_, record)| record))
    }

    /// Returns the disputes with these numbers. Unknown numbers are left out.
    pub fn disputes_numbered(
        &self,
        numbers: &[DisputeNumber],
    ) -> Result<BTreeMap<DisputeNumber, DisputeRecord>, JournalError> {
        let wanted = json(&numbers);
        let sql =
            "SELECT DISTINCT run FROM dispute WHERE number IN (SELECT value FROM json_each(?1))";
        let runs = self.rows(sql, [&wanted], |row| row.get::<_, String>(0))?;
        // The events of a run are read once, because a run can have a thousand disputes.
        let sql = format!(
            "SELECT id, run, seq, at, body FROM event WHERE {OF_DISPUTES} AND
                (kind = 'disputes_reopened' OR ifnull(body ->> '$.dispute.number', body ->> '$.dispute')
                    IN (SELECT value FROM json_each(?2)))
             ORDER BY seq"
        );
        let mut found = BTreeMap::new();
        for run in runs {
            for event in self.rows(&sql, [&run, &wanted], event)? {
                replay(event, &mut found);
            }
        }
        Ok(found)
    }

    /// Returns the reviews whose target has the name `target`. The newest review comes first.
    pub fn runs_of_target(&self, target: &str) -> Result<Vec<RunId>, JournalError> {
        let sql = "SELECT id FROM run WHERE target = ?1 ORDER BY number DESC";
        self.rows(sql, [target], |row| row.get(0).map(RunId))
    }

    /// Returns the newest review of the target of `run` before it that came to a result and reviewed another tree than `tree`.
    pub fn result_before(&self, run: &RunId, tree: &str) -> Result<Option<RunId>, JournalError> {
        // SQLite keeps the order of a CROSS JOIN: from the newest run back, until one is found.
        let sql = r#"SELECT earlier.id FROM run AS this
            CROSS JOIN run AS earlier ON earlier.target = this.target AND earlier.number < this.number
            CROSS JOIN event AS begun ON begun.run = earlier.id AND begun.kind = 'run_started'
            WHERE this.id = ?1 AND begun.body ->> '$.plan.tree' <> ?2
              AND earlier.exit IN ('"clean"', '"findings_open"', '"dispute_open"')
            ORDER BY earlier.number DESC LIMIT 1"#;
        let found = self.rows(sql, [&run.0, tree], |row| row.get(0).map(RunId))?;
        Ok(found.into_iter().next())
    }

    /// Returns the newest `recent` reviews, or all reviews if `recent` is `None`. The newest review comes first.
    pub fn runs(&self, recent: Option<u32>) -> Result<Vec<RunRow>, JournalError> {
        let sql = format!(
            "SELECT *,
                (SELECT count(*) FROM finding WHERE finding.run = run.id) AS findings,
                (SELECT count(*) FROM finding WHERE finding.run = run.id AND mandatory) AS mandatory,
                (SELECT count(*) FROM dispute WHERE dispute.run = id) AS disputes,
                (SELECT sum(micros) FROM call WHERE call.run = run.id) AS micros,
                (SELECT count(*) FROM call WHERE call.run = run.id AND micros IS NULL) AS unpriced,
                (SELECT count(*) FROM dispute WHERE dispute.run = id AND {OPEN}) AS open_disputes,
                EXISTS (SELECT 1 FROM event WHERE event.run = run.id AND kind = 'fix_requested') AS fixed,
                exit = '\"agent_failed\"' AND NOT EXISTS (
                    SELECT 1 FROM event WHERE event.run = run.id AND kind = 'call_finished'
                        AND (body ->> '$.answer' IN ('failed', 'invalid')
                            OR body ->> '$.status' IN ('incomplete', 'not_reviewed'))
                ) AS unread,
                (SELECT body ->> '$.plan.shards' = '[]' FROM event
                    WHERE event.run = run.id AND kind = 'run_started') AS is_empty,
                (SELECT body ->> '$.plan.worktree' IS NOT NULL FROM event
                    WHERE event.run = run.id AND kind = 'run_started') AS has_worktree,
                EXISTS (SELECT 1 FROM event WHERE event.run = run.id AND kind = 'run_dropped') AS dropped,
                EXISTS (SELECT 1 FROM event WHERE event.run = run.id AND kind = 'tree_changed'
                    AND body ->> '$.changes' <> '[]') AS changed
            FROM run ORDER BY number DESC LIMIT ?1"
        );
        self.rows(&sql, [recent.map_or(-1, i64::from)], |row| {
            let count = |column| row.get(column).map(i64::unsigned_abs);
            let run = RunId(row.get("id")?);
            let exit: Option<ExitReason> = from_json(row, "exit")?;
            let facts = WorktreeFacts {
                is_dropped: row.get("dropped")?,
                has_changes: row.get("changed")?,
                is_undone: row.get("undone")?,
            };
            Ok(RunRow {
                works: exit.is_none() && self.is_held(&run).unwrap_or_default(),
                run,
                started: from_time(row, "started")?,
                ended: from_time(row, "ended")?,
                target: row.get("target")?,
                mode: from_json(row, "mode")?,
                fixed: row.get("fixed")?,
                exit,
                unread: row.get::<_, Option<bool>>("unread")?.unwrap_or_default(),
                is_empty: row.get::<_, Option<bool>>("is_empty")?.unwrap_or_default(),
                findings: count("findings")?,
                mandatory: count("mandatory")?,
                disputes: count("disputes")?,
                open_disputes: count("open_disputes")?,
                undone: facts.is_undone,
                worktree: row
                    .get::<_, Option<bool>>("has_worktree")?
                    .unwrap_or_default()
                    .then_some(facts.into()),
                usd: row
                    .get::<_, Option<i64>>("micros")?
                    .map(|micros| dollars(micros.unsigned_abs())),
                unpriced_calls: count("unpriced")?,
            })
        })
    }

    /// Finds a review by its id, by a prefix or suffix of its id, or by the word `last`. `text` must identify
    /// exactly one review.
    pub fn find_run(&self, text: &str) -> Result<RunId, JournalError> {
        self.find_in("run", text)
    }

    /// The newest run whose coder changed files of the user's tree, or was interrupted while it could.
    pub fn newest_changed(&self) -> Result<Option<RunId>, JournalError> {
        // Changes that are not in the tree, although nobody undid them, are only in a worktree.
        let sql = "SELECT id FROM run WHERE (EXISTS (
                SELECT 1 FROM event WHERE event.run = run.id AND kind = 'tree_changed')
            OR run.exit IS NULL AND EXISTS (
                SELECT 1 FROM event WHERE event.run = run.id AND kind = 'before_image'))
            AND NOT (run.undone AND NOT EXISTS (
                SELECT 1 FROM event WHERE event.run = run.id AND kind = 'run_undone'))
            ORDER BY number DESC";
        self.newest_here(self.rows(sql, [], |row| row.get(0).map(RunId))?)
    }

    /// The first of the runs that was made on this machine.
    fn newest_here(&self, runs: Vec<RunId>) -> Result<Option<RunId>, JournalError> {
        for run in runs {
            if !self.is_elsewhere(&run)? {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// Finds a run of any kind, in the same way as [`Self::find_run`] finds a review.
    pub fn find_any_run(&self, text: &str) -> Result<RunId, JournalError> {
        self.find_in(
            "(SELECT run AS id, max(id) AS number FROM event GROUP BY run)",
            text,
        )
    }

    fn find_in(&self, runs: &str, text: &str) -> Result<RunId, JournalError> {
        let wanted = text.trim().to_ascii_lowercase();
        let id = |row: &Row<'_>| row.get(0).map(RunId);
        let found = match wanted.as_str() {
            "" => Vec::new(),
            "last" => self.rows(&format!("SELECT id FROM {runs} ORDER BY number DESC LIMIT 1"), [], id)?,
            part => self.rows(
                &format!(
                    "SELECT id FROM {runs} WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1
                     ORDER BY id <> ?1, number DESC LIMIT 6"
                ),
                [part],
                id,
            )?,
        };
        match found.as_slice() {
            [] => Err(JournalError::UnknownRun(text.to_owned())),
            [only] => Ok(only.clone()),
            [first, ..] if first.0 == wanted => Ok(first.clone()),
            several => Err(JournalError::AmbiguousRun {
                text: text.to_owned(),
                candidates: several.iter().map(|run| run.0.clone()).collect(),
            }),
        }
    }

    fn events_where(&self, run: &RunId, condition: &str) -> Result<Vec<Event>, JournalError> {
        let sql =
            format!("SELECT id, run, seq, at, body FROM event WHERE {condition} ORDER BY seq");
        self.rows(&sql, [&run.0], event)
    }

    pub fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, JournalError> {
        self.db
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_map(params, read)?.collect())
            .map_err(|error| self.fault(error))
    }
}

pub fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        run: RunId(row.get("run")?),
        seq: row.get::<_, i64>("seq")?.unsigned_abs(),
        at: from_time(row, "at")?,
        kind: from_json(row, "body")?,
    })
}

/// Applies an event to the disputes.
fn replay(event: Event, found: &mut BTreeMap<DisputeNumber, DisputeRecord>) {
    let Event { run, at, kind, .. } = event;
    let EventKind::Dispute(event) = kind else {
        return;
    };
    let number = match &event {
        DisputeEvent::DisputeOpened { dispute } => dispute.number,
        DisputeEvent::DisputesReopened { disputes, .. } => {
            for number in disputes {
                if let Some(record) = found.get_mut(number) {
                    record.dispute.route = None;
                }
            }
            return;
        }
        DisputeEvent::RouteChosen { dispute, .. }
        | DisputeEvent::ObjectionAnswered { dispute, .. }
        | DisputeEvent::CoderReplied { dispute, .. }
        | DisputeEvent::RulingGiven { dispute, .. }
        | DisputeEvent::DisputeSettled { dispute, .. }
        | DisputeEvent::RulingRevoked { dispute, .. }
        | DisputeEvent::RulingEnded { dispute } => *dispute,
        DisputeEvent::DisputeCarriedOn { .. }
        | DisputeEvent::AuditStarted { .. }
        | DisputeEvent::RulingAudited { .. } => return,
    };
    if let DisputeEvent::DisputeOpened { dispute } = event {
        let record = DisputeRecord {
            run,
            opened_at: at,
            settled_at: None,
            dispute: *dispute,
            settlement: None,
            reopened: None,
            ended_at: None,
        };
        found.entry(number).or_insert(record);
        return;
    }
    let Some(record) = found.get_mut(&number) else {
        return;
    };
    match event {
        DisputeEvent::RouteChosen { route, .. } => record.dispute.route = Some(route),
        DisputeEvent::ObjectionAnswered { answered, .. } => {
            record.dispute.answered.push(*answered);
        }
        DisputeEvent::CoderReplied { response, .. } => record.dispute.reply(&response),
        DisputeEvent::RulingGiven { ruling, .. } => {
            record.dispute.keep(&ruling.ruling.members);
            record.dispute.rulings.push(ruling);
        }
        DisputeEvent::DisputeSettled { settlement, .. } => {
            let is_discarded = settlement.disposition == Disposition::Discarded;
            record.dispute.discarded_by = is_discarded.then(|| settlement.by.clone());
            let settlement = Some(settlement).filter(Settlement::binds);
            record.settled_at = settlement.as_ref().map(|_| at);
            record.dispute.disposition = settlement
                .as_ref()
                .map(|settled| settled.disposition.clone());
            record.settlement = settlement;
            record.ended_at = None;
        }
        DisputeEvent::RulingRevoked { reason, .. } => {
            (record.settled_at, record.settlement, record.ended_at) = (None, None, None);
            record.dispute.reopen();
            record.reopened = Some(Reopened { at, reason });
        }
        DisputeEvent::RulingEnded { .. } => record.ended_at = Some(at),
        DisputeEvent::DisputeOpened { .. }
        | DisputeEvent::DisputesReopened { .. }
        | DisputeEvent::DisputeCarriedOn { .. }
        | DisputeEvent::AuditStarted { .. }
        | DisputeEvent::RulingAudited { .. } => {}
    }
}

/// A part of a settlement, if the settlement binds.
fn binding<T>(row: &Row<'_>, settled: Option<T>) -> rusqlite::Result<Option<T>> {
    let by: Option<Ruler> = from_json(row, "ruled_by")?;
    Ok(settled.filter(|_| by != Some(Ruler::Policy)))
}

fn number(row: &Row<'_>) -> rusqlite::Result<DisputeNumber> {
    row.get("number").map(i64::unsigned_abs).map(DisputeNumber)
}

pub(crate) fn dispute_row(row: &Row<'_>) -> rusqlite::Result<DisputeRow> {
    let ruling: Option<String> = row.get("ruling")?;
    let run = RunId(row.get("run")?);
    let StoredId(finding) = row.get("finding")?;
    Ok(DisputeRow {
        number: number(row)?,
        id: DisputeId::of(&run, finding),
        run,
        opened_at: from_time(row, "opened")?,
        settled_at: from_time(row, "settled")?,
        finding,
        tag: row.get("tag")?,
        title: row.get::<_, String>("title")?.into(),
        location: from_json(row, "location")?,
        raised_by: from_json(row, "raised_by")?,
        ruling: ruling.as_deref().and_then(RulingWord::parse),
        ruled_by: from_json(row, "ruled_by")?,
        disposition: from_json(row, "disposition")?,
        until: from_json(row, "until")?,
        ended_at: from_time(row, "ended")?,
    })
}

/// Builds the SQL statement for a filter. The statement reads the newest row first, and an index provides this
/// order.
fn listing(filter: &DisputeFilter) -> (String, Vec<Value>) {
    let mut sql = String::from("SELECT dispute.* FROM ");
    let mut conditions = Vec::new();
    let mut values = Vec::new();
    let mut order = "number";
    if let Some(reviewer) = &filter.reviewer {
        sql.push_str("raiser CROSS JOIN ");
        conditions.push("raiser.dispute = number AND raiser.reviewer = ?".to_owned());
        values.push(Value::from(reviewer.clone()));
        order = "raiser.dispute";
    }
    sql.push_str("dispute");
    if filter.open_only {
        conditions.push(OPEN.to_owned());
    }
    if filter.settled_only {
        conditions.push(format!("NOT {OPEN}"));
    }
    if let Some(before) = filter.before {
        conditions.push("number < ?".to_owned());
        values.push(Value::from(before.0.cast_signed()));
    }
    match filter.ruling {
        Some(RulingFilter::Word(word)) => {
            conditions.push("ruling = ?".to_owned());
            values.push(Value::from(word.as_str().to_owned()));
        }
        Some(RulingFilter::Disposition(kind)) => {
            conditions.push("disposition ->> '$.as' = ?".to_owned());
            values.push(Value::from(kind.to_owned()));
        }
        None => {}
    }
    if let Some(since) = filter.since {
        conditions.push("opened >= ?".to_owned());
        values.push(Value::from(time(since)));
    }
    if !conditions.is_empty() {
        sql.push_str(" WHERE ");
        sql.push_str(&conditions.join(" AND "));
    }
    sql.push_str(&format!(" ORDER BY {order} DESC LIMIT ?"));
    values.push(Value::from(filter.recent.map_or(-1, i64::from)));
    (sql, values)
}
