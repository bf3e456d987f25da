//! Appends events to the history. One transaction updates the events, the hash chain and the views. When a
//! function that appends events returns without an error, the events are on the disk, except between [`Journal::begin`]
//! and [`Journal::commit`]. After an error, the history is unchanged.

use std::io;

use jiff::civil::Date;
use jiff::{Timestamp, Unit};
use rusqlite::backup::Progress;
use rusqlite::{Connection, TransactionBehavior, params};
use serde_json::json;
use tracing::{debug, warn};

use super::open::fault;
use super::{JournalError, chain};
use crate::history::columns::{from_json, json, time};
use crate::history::projections::{self, OPEN};
use crate::history::redacted;
use crate::history::store::{Journal, backup_of};
use glee_model::domain::event::{CallId, DisputeEvent, Event, EventKind, RunEvent, Settlement};
use glee_model::domain::{
    CitedCode, Disposition, DisputeNumber, Finding, Grounds, Objector, Person, Response, Ruler,
    Ruling, RulingRecord, RulingWord, RunId, Sides, Untrusted,
};

pub(super) struct Tail<'a> {
    db: &'a Connection,
    run: RunId,
    at: Timestamp,
    seq: i64,
    events: i64,
    hash: String,
    /// Whether the history is copied after the transaction: a run that ruled has ended, or a person ruled.
    is_kept: bool,
    redacts: bool,
}

/// The ruling of a person, outside of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenRuling {
    pub disposition: Disposition,
    pub reason: Untrusted,
    /// The ruling is in force until the end of this day, in UTC.
    pub until: Option<Date>,
    pub person: Person,
    /// The code that the reason cites.
    pub cited: Vec<CitedCode>,
}

impl GivenRuling {
    /// A ruling without an end, by nobody who is known.
    pub fn new(disposition: Disposition, reason: impl Into<Untrusted>) -> Self {
        Self {
            disposition,
            reason: reason.into(),
            until: None,
            person: Person::default(),
            cited: Vec::new(),
        }
    }
}

impl Journal {
    pub fn append(
        &mut self,
        run: &RunId,
        kind: impl Into<EventKind>,
    ) -> Result<Event, JournalError> {
        let mut events = self.append_all(run, [kind.into()])?;
        Ok(events.pop().expect("one event was appended"))
    }

    /// Appends all events in one transaction.
    pub fn append_all(
        &mut self,
        run: &RunId,
        kinds: impl IntoIterator<Item = EventKind>,
    ) -> Result<Vec<Event>, JournalError> {
        self.append_with(run, kinds, Vec::new())
    }

    /// Appends the events `kinds` to `run`, and the events in `elsewhere` to other runs, all in one transaction.
    /// Returns the events of `run`.
    pub fn append_with(
        &mut self,
        run: &RunId,
        kinds: impl IntoIterator<Item = EventKind>,
        elsewhere: Vec<(RunId, EventKind)>,
    ) -> Result<Vec<Event>, JournalError> {
        let kinds: Vec<EventKind> = kinds.into_iter().collect();
        let written = self.write(run, |tail| {
            let events = kinds
                .iter()
                .map(|kind| tail.push(kind.clone()))
                .collect::<rusqlite::Result<Vec<_>>>()?;
            for (run, kind) in &elsewhere {
                tail.switch_to(run.clone())?;
                tail.push(kind.clone())?;
            }
            Ok(events)
        });
        if matches!(written, Err(JournalError::Log(_))) {
            self.keep_unsent(run, &kinds)?;
        }
        written
    }

    /// Appends the findings that a run merged, in the transaction that allocates their numbers. The numbers were
    /// chosen from the problems that were known when the event `as_of` was the newest. Appends nothing and returns
    /// `None` if another run has recorded findings since, so that the numbers must be chosen again.
    pub fn append_merged(
        &mut self,
        run: &RunId,
        kinds: impl IntoIterator<Item = EventKind>,
        as_of: u64,
    ) -> Result<Option<Vec<Event>>, JournalError> {
        let kinds: Vec<EventKind> = kinds.into_iter().collect();
        self.write(run, |tail| {
            let newer = "SELECT 1 FROM event WHERE id > ?1
                AND kind IN ('findings_merged', 'debate_concluded', 'members_separated', 'problems_joined')";
            if tail
                .db
                .prepare_cached(newer)?
                .exists([as_of.cast_signed()])?
            {
                return Ok(None);
            }
            let events = kinds.iter().map(|kind| tail.push(kind.clone()));
            events.collect::<rusqlite::Result<_>>().map(Some)
        })
    }

    pub fn open_dispute(
        &mut self,
        run: &RunId,
        finding: Finding,
        objection: Response,
    ) -> Result<Event, JournalError> {
        let sides = Sides {
            finding,
            members: Vec::new(),
            objection,
            objector: Objector::Coder,
            earlier: Vec::new(),
            participant: None,
        };
        let mut events = self.open_disputes(run, [sides])?;
        Ok(events.pop().expect("one dispute makes one event"))
    }

    /// Opens all disputes in one transaction. The disputes get the next free numbers.
    pub fn open_disputes(
        &mut self,
        run: &RunId,
        sides: impl IntoIterator<Item = Sides>,
    ) -> Result<Vec<Event>, JournalError> {
        let sides: Vec<Sides> = sides.into_iter().collect();
        self.write(run, |tail| {
            let first = tail.next_number()?;
            let opened = (first.0..).zip(&sides).map(|(number, sides)| {
                let dispute = Box::new(sides.clone().numbered(DisputeNumber(number)));
                tail.push(DisputeEvent::DisputeOpened { dispute })
            });
            opened.collect()
        })
    }

    /// Opens a dispute outside of a run, and settles it by a person's ruling. Returns the dispute's number.
    pub fn rule(
        &mut self,
        run: &RunId,
        sides: Sides,
        given: GivenRuling,
    ) -> Result<DisputeNumber, JournalError> {
        self.write(run, |tail| {
            let number = tail.next_number()?;
            tail.push(DisputeEvent::DisputeOpened {
                dispute: Box::new(sides.clone().numbered(number)),
            })?;
            tail.settle(number, given.clone())?;
            Ok(number)
        })
    }

    /// Settles an open dispute by a person's ruling, outside of a run.
    pub fn resolve(
        &mut self,
        number: DisputeNumber,
        given: GivenRuling,
    ) -> Result<RunId, JournalError> {
        let run = self.run_of(number)?;
        let settled = self.write(&run, |tail| {
            let disposition_now = tail.disposition(number)?;
            if disposition_now.is_some() {
                return Ok(disposition_now);
            }
            tail.settle(number, given.clone())?;
            Ok(None)
        })?;
        settled.map_or(Ok(run), |disposition| {
            Err(JournalError::AlreadySettled {
                number,
                disposition,
            })
        })
    }

    // Reading the run before the write lock is taken is safe, because a dispute never moves to another run.
    fn run_of(&self, number: DisputeNumber) -> Result<RunId, JournalError> {
        let record = self.dispute(number)?;
        Ok(record.ok_or(JournalError::UnknownDispute(number))?.run)
    }

    /// Reopens a settled dispute, and revokes the ruling on the dispute. Returns the run of the dispute.
    pub fn reopen(&mut self, number: DisputeNumber, reason: String) -> Result<RunId, JournalError> {
        let run = self.run_of(number)?;
        let was_settled = self.write(&run, |tail| {
            let is_settled = tail.disposition(number)?.is_some();
            if is_settled {
                tail.is_kept = true;
                tail.push(DisputeEvent::RulingRevoked {
                    dispute: number,
                    reason: reason.clone().into(),
                })?;
            }
            Ok(is_settled)
        })?;
        if was_settled {
            Ok(run)
        } else {
            Err(JournalError::NotSettled(number))
        }
    }

    /// Ends the ruling of each settled dispute in `disputes`, and returns the number of ended rulings.
    pub fn end_rulings(
        &mut self,
        disputes: &[(DisputeNumber, RunId)],
    ) -> Result<usize, JournalError> {
        let Some((_, first)) = disputes.first() else {
            return Ok(0);
        };
        self.write(first, |tail| {
            let mut ended = 0;
            for (number, run) in disputes {
                if tail.disposition(*number)?.is_some() {
                    tail.is_kept = true;
                    tail.switch_to(run.clone())?;
                    tail.push(DisputeEvent::RulingEnded { dispute: *number })?;
                    ended += 1;
                }
            }
            Ok(ended)
        })
    }

    /// Begins a transaction for all events up to the next [`Self::commit`], if none has begun. These events are on the
    /// disk when `commit` returns. In between, no run ends and no person rules. A server takes each event at once, so that
    /// no process holds its log while it works.
    pub fn begin(&mut self) -> Result<(), JournalError> {
        if self.db.is_autocommit() && self.log.is_none() {
            let begun = self.db.execute_batch("BEGIN IMMEDIATE");
            begun.map_err(|error| fault(&self.path, error))?;
        }
        Ok(())
    }

    /// Commits what has begun, if anything has. After an error, the history is as it was at its beginning.
    pub fn commit(&mut self) -> Result<(), JournalError> {
        if self.db.is_autocommit() {
            return Ok(());
        }
        self.db.execute_batch("COMMIT").map_err(|error| {
            // The error of the commit says more than one of the rollback.
            drop(self.db.execute_batch("ROLLBACK"));
            fault(&self.path, error)
        })
    }

    /// Whether events wait for [`Self::commit`].
    pub fn has_begun(&self) -> bool {
        !self.db.is_autocommit()
    }

    /// `work` is done again if the server lost what it did.
    pub(super) fn write<T>(
        &mut self,
        run: &RunId,
        mut work: impl FnMut(&mut Tail<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, JournalError> {
        if self.log.is_some() {
            return self.write_to_log(run, work);
        }
        let redacts = self.redacts;
        let written = if self.has_begun() {
            self.db.savepoint().and_then(|savepoint| {
                let result = write_in(&savepoint, run, redacts, &mut work)?;
                savepoint.commit()?;
                Ok(result)
            })
        } else {
            let begun = self
                .db
                .transaction_with_behavior(TransactionBehavior::Immediate);
            begun.and_then(|transaction| {
                let result = write_in(&transaction, run, redacts, &mut work)?;
                transaction.commit()?;
                Ok(result)
            })
        };
        let (result, is_kept) = written.map_err(|error| fault(&self.path, error))?;
        if is_kept && let Err(error) = self.back_up() {
            warn!("the history could not be copied: {error}");
        }
        Ok(result)
    }

    /// Copies the history to [`backup_of`] its path, atomically.
    fn back_up(&self) -> io::Result<()> {
        let folder = self.path.parent().ok_or(io::ErrorKind::NotFound)?;
        let copy = tempfile::NamedTempFile::new_in(folder)?;
        self.db
            .backup("main", copy.path(), None::<fn(Progress)>)
            .map_err(io::Error::other)?;
        copy.as_file().sync_all()?;
        copy.persist(backup_of(&self.path))?;
        Ok(())
    }
}

/// Also returns whether the history is to be copied.
pub(super) fn write_in<T>(
    db: &Connection,
    run: &RunId,
    redacts: bool,
    work: &mut impl FnMut(&mut Tail<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<(T, bool)> {
    let mut tail = Tail::of(db, run, redacts)?;
    let result = work(&mut tail)?;
    let is_kept = tail.is_kept;
    tail.finish()?;
    Ok((result, is_kept))
}

impl<'a> Tail<'a> {
    fn of(db: &'a Connection, run: &RunId, redacts: bool) -> rusqlite::Result<Self> {
        let (events, hash) = db
            .prepare_cached("SELECT events, hash FROM chain")?
            .query_row([], |row| row.try_into())?;
        let now = Timestamp::now();
        let at = now.round(Unit::Microsecond).unwrap_or(now);
        let mut tail = Self {
            db,
            run: run.clone(),
            at,
            seq: 0,
            events,
            hash,
            is_kept: false,
            redacts,
        };
        tail.switch_to(run.clone())?;
        Ok(tail)
    }

    fn switch_to(&mut self, run: RunId) -> rusqlite::Result<()> {
        let last = "SELECT coalesce(max(seq), 0) FROM event WHERE run = ?1";
        self.seq = self
            .db
            .prepare_cached(last)?
            .query_row([&run.0], |row| row.get(0))?;
        self.run = run;
        Ok(())
    }

    fn disposition(&self, number: DisputeNumber) -> rusqlite::Result<Option<Disposition>> {
        let sql = format!(
            "SELECT iif({OPEN}, NULL, disposition) AS disposition FROM dispute WHERE number = ?1"
        );
        self.db.query_row(&sql, [number.0.cast_signed()], |row| {
            from_json(row, "disposition")
        })
    }

    fn next_number(&self) -> rusqlite::Result<DisputeNumber> {
        let sql = "SELECT coalesce(max(number), 0) + 1 FROM dispute";
        self.db
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .map(|number| DisputeNumber(number.unsigned_abs()))
    }

    fn settle(&mut self, dispute: DisputeNumber, given: GivenRuling) -> rusqlite::Result<()> {
        let GivenRuling {
            disposition,
            reason,
            until,
            person,
            cited,
        } = given;
        let ruling = RulingRecord {
            cited,
            ..RulingRecord::new(
                ruling_for(&disposition, &reason),
                Ruler::Human(person.clone()),
            )
        };
        self.is_kept = true;
        self.push(DisputeEvent::RulingGiven { dispute, ruling })?;
        let settlement = Settlement {
            disposition,
            by: Ruler::Human(person),
            reason,
            until,
        };
        self.push(DisputeEvent::DisputeSettled {
            dispute,
            settlement,
        })
        .map(drop)
    }

    pub(super) fn has_finished(&self, call: &CallId) -> rusqlite::Result<bool> {
        let sql = "SELECT 1 FROM event WHERE run = ?1 AND kind = 'call_finished' AND body ->> '$.call' = json(?2)";
        self.db
            .prepare_cached(sql)?
            .exists([&self.run.0, &json(call)])
    }

    pub(super) fn push(&mut self, kind: impl Into<EventKind>) -> rusqlite::Result<Event> {
        let kind = match self.redacts {
            true => redacted::event(kind.into()),
            false => kind.into(),
        };
        self.seq += 1;
        self.events += 1;
        let body = json(&kind);
        let at = time(self.at);
        debug!(
            seq = self.seq,
            bytes = body.len(),
            "recorded {}",
            json!(kind)["event"].as_str().unwrap_or_default().to_owned()
        );
        let hash = chain::link(&self.hash, &self.run.0, self.seq, &at, &body);
        self.db
            .prepare_cached(
                "INSERT INTO event (id, run, seq, at, body, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![self.events, self.run.0, self.seq, at, body, self.hash, hash])?;
        self.hash = hash;
        if matches!(kind, EventKind::Run(RunEvent::RunEnded { .. })) {
            let ruled = "SELECT 1 FROM event WHERE run = ?1
                AND kind IN ('ruling_given', 'dispute_settled', 'ruling_revoked', 'ruling_ended')";
            self.is_kept |= self.db.prepare_cached(ruled)?.exists([&self.run.0])?;
        }
        let event = Event {
            run: self.run.clone(),
            seq: self.seq.unsigned_abs(),
            at: self.at,
            kind,
        };
        projections::apply(self.db, &event)?;
        Ok(event)
    }

    fn finish(self) -> rusqlite::Result<()> {
        self.db
            .prepare_cached("UPDATE chain SET events = ?1, hash = ?2")?
            .execute(params![self.events, self.hash])
            .map(drop)
    }
}

fn ruling_for(disposition: &Disposition, reason: &Untrusted) -> Ruling {
    let grounds = match disposition {
        Disposition::NotMandatory => Some(Grounds::NotMandatory),
        Disposition::Duplicate { .. } => Some(Grounds::Duplicate),
        Disposition::Enforced
        | Disposition::Refuted
        | Disposition::Discarded
        | Disposition::AcceptedRisk
        | Disposition::Deferred { .. } => None,
    };
    Ruling {
        rationale: reason.clone(),
        grounds,
        ..Ruling::bare(if disposition.closes() {
            RulingWord::Dismiss
        } else {
            RulingWord::Enforce
        })
    }
}
