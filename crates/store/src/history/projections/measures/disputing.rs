//! What disputes and rulings do to the findings that they are about, and to the sums of reviewers and judges.

use rusqlite::{OptionalExtension as _, params};

use super::{Disputed, Measures, UNKNOWN};
use crate::history::projections::execute::execute;
use crate::history::projections::problems::Problems;
use crate::history::stored_id::StoredId;
use glee_model::domain::event::DisputeEvent;
use glee_model::domain::{
    Disposition, Dispute, DisputeNumber, Ruler, RulingRecord, RulingWord, RunId,
};

impl Measures<'_> {
    pub(super) fn of_dispute(&self, event: &DisputeEvent) -> rusqlite::Result<()> {
        match event {
            DisputeEvent::DisputeOpened { dispute } => self.open(dispute),
            DisputeEvent::DisputesReopened { judges, .. } => {
                judges.iter().try_for_each(|agent| self.participant(agent))
            }
            DisputeEvent::RulingGiven { dispute, ruling } => self.rule(*dispute, ruling),
            DisputeEvent::DisputeSettled { dispute, settlement } => {
                let side = match settlement.by {
                    Ruler::Policy => None,
                    Ruler::Judge { .. } | Ruler::Panel | Ruler::Human(_) => side(&settlement.disposition),
                };
                let person = side.filter(|_| settlement.by.is_person());
                self.change_disputed(*dispute, |finding| {
                    let sql = "UPDATE measured SET side = ?3, person = ?4 WHERE run = ?1 AND finding = ?2";
                    finding.write(sql, &[&side, &person])
                })
            }
            DisputeEvent::RulingRevoked { dispute, .. } => self.change_disputed(*dispute, |finding| {
                finding.write("UPDATE measured SET side = NULL, person = NULL WHERE run = ?1 AND finding = ?2", &[])
            }),
            DisputeEvent::RulingAudited { audit } => {
                let side = audit.ruling.as_ref().and_then(|ruling| decided(ruling.ruling));
                self.change_disputed(audit.dispute, |_| {
                    let sql = "INSERT OR REPLACE INTO audit (dispute, judge, side) VALUES (?1, ?2, ?3)";
                    execute(self.db, sql, params![audit.dispute.0.cast_signed(), audit.judge.0, side])
                })
            }
            DisputeEvent::DisputeCarriedOn { .. }
            | DisputeEvent::RouteChosen { .. }
            | DisputeEvent::ObjectionAnswered { .. }
            | DisputeEvent::CoderReplied { .. }
            | DisputeEvent::RulingEnded { .. }
            | DisputeEvent::AuditStarted { .. } => Ok(()),
        }
    }

    fn open(&self, dispute: &Dispute) -> rusqlite::Result<()> {
        let id = dispute.finding.id;
        if !self.is_known(id)? {
            let finding = std::slice::from_ref(&dispute.finding);
            self.raise(Problems::of_dispute(dispute.number), finding)?;
        }
        self.count(id, -1)?;
        let sql = "UPDATE measured SET dispute = ?3, side = NULL, judged = NULL, person = NULL
             WHERE run = ?1 AND finding = ?2";
        execute(
            self.db,
            sql,
            params![self.run.0, id.key(), dispute.number.0.cast_signed()],
        )?;
        self.count(id, 1)
    }

    /// If a ruling left the measured finding of a dispute to a dispute of its own, the dispute counts for the first
    /// finding that it is still about.
    fn follow(&self, dispute: DisputeNumber) -> rusqlite::Result<()> {
        let sql = "SELECT measured.run, measured.finding, judged.finding
            FROM measured JOIN dispute AS judged ON judged.number = measured.dispute
            WHERE measured.dispute = ?1 AND measured.finding <> judged.finding";
        let mut moved = self.db.prepare_cached(sql)?;
        let moved = moved.query_row([dispute.0.cast_signed()], |row| {
            let ids: (StoredId, StoredId) = (row.get(1)?, row.get(2)?);
            Ok((RunId(row.get(0)?), ids.0.0, ids.1.0))
        });
        let Some((run, from, to)) = moved.optional()? else {
            return Ok(());
        };
        let problems = self.problems();
        let numbers = problems.of(&run, &[from, to])?;
        problems.add(&numbers, -1)?;
        let sql = "UPDATE measured SET dispute = CASE finding WHEN ?3 THEN ?4 END, side = NULL, judged = NULL,
             person = NULL WHERE run = ?1 AND finding IN (?2, ?3)";
        let mut update = self.db.prepare_cached(sql)?;
        update.execute(params![
            run.0,
            from.key(),
            to.key(),
            dispute.0.cast_signed()
        ])?;
        problems.add(&numbers, 1)
    }

    fn rule(&self, dispute: DisputeNumber, record: &RulingRecord) -> rusqlite::Result<()> {
        self.follow(dispute)?;
        let votes: Vec<(&str, Option<&str>)> = match &record.by {
            Ruler::Judge { name } => vec![(&name.0, decided(record.ruling.ruling))],
            Ruler::Panel => {
                let votes = record.votes.iter();
                votes
                    .map(|vote| {
                        (
                            vote.judge.0.as_str(),
                            vote.ruling
                                .as_ref()
                                .and_then(|ruling| decided(ruling.ruling)),
                        )
                    })
                    .collect()
            }
            Ruler::Human(_) | Ruler::Policy => return Ok(()),
        };
        self.change_disputed(dispute, |finding| {
            let judged = decided(record.ruling.ruling);
            finding.write("UPDATE measured SET judged = ?3 WHERE run = ?1 AND finding = ?2", &[&judged])?;
            let mut insert = self.db.prepare_cached(
                "INSERT OR REPLACE INTO judgement (dispute, judge, model, side) VALUES (?1, ?2,
                    coalesce((SELECT model FROM participant WHERE run = ?4 AND agent = ?2 AND role = 'judge'),
                        (SELECT model FROM judgement WHERE dispute = ?1 AND judge = ?2), ?5), ?3)",
            )?;
            votes.iter().try_for_each(|(judge, side)| {
                insert.execute(params![dispute.0.cast_signed(), judge, side, self.run.0, UNKNOWN]).map(drop)
            })
        })
    }

    /// Updates the rows of a dispute's finding. Also updates the sums. The finding belongs to this run or to
    /// another run.
    fn change_disputed(
        &self,
        dispute: DisputeNumber,
        change: impl FnOnce(&Disputed<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let sql = "SELECT run, finding FROM measured WHERE dispute = ?1";
        let place = self
            .db
            .prepare_cached(sql)?
            .query_row([dispute.0.cast_signed()], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, StoredId>(1)?.0))
            });
        let Some((run, id)) = place.optional()? else {
            return Ok(());
        };
        let of = Measures {
            db: self.db,
            run: &RunId(run.clone()),
            at: self.at,
        };
        of.count(id, -1)?;
        change(&self.finding(run, id))?;
        of.count(id, 1)
    }
}

/// Returns `upheld` or `dismissed`. Returns `None` if the finding was discarded without a decision.
fn side(disposition: &Disposition) -> Option<&'static str> {
    match disposition {
        Disposition::Enforced | Disposition::AcceptedRisk | Disposition::Deferred { .. } => {
            Some("upheld")
        }
        Disposition::Refuted | Disposition::Duplicate { .. } | Disposition::NotMandatory => {
            Some("dismissed")
        }
        Disposition::Discarded => None,
    }
}

fn decided(word: RulingWord) -> Option<&'static str> {
    match word {
        RulingWord::Enforce => Some("upheld"),
        RulingWord::Dismiss => Some("dismissed"),
        RulingWord::Escalate => None,
    }
}
