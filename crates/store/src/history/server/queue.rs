//! The queue in the database.

use std::time::Duration;

use jiff::Timestamp;
use postgres::types::ToSql;
use postgres::{Client, Error, Row};

use super::{Server, apart};
use crate::history::queue::Queue;
use crate::history::shared_log::{RepositoryNames, SharedLogError};
use crate::history::submission::{
    CarriedRun, QueueTotals, RequestNotice, SANDBOX, Submission, SubmissionState, SubmittedRun,
};
use glee_model::domain::RunId;

struct ServerQueue {
    server: Server,
    /// `None` after the connection was lost.
    client: Option<Client>,
}

impl Server {
    /// Connects to the queue of the runs that wait for a worker.
    pub fn queue(&self) -> Result<Box<dyn Queue>, SharedLogError> {
        let client = apart(|| self.connect())?;
        Ok(Box::new(ServerQueue {
            server: self.clone(),
            client: Some(client),
        }))
    }

    /// Sets how many requests to a vendor all workers make at once; `None` for any number.
    pub fn limit(&self, vendor: &str, permits: Option<i32>) -> Result<(), SharedLogError> {
        let values: [&(dyn ToSql + Sync); 2] = [&vendor, &permits];
        self.query("SELECT glee.limit_vendor($1, $2)", &values)
            .map(drop)
    }

    /// Sets what the runs of a tenant may cost in a month, in USD; `None` for any amount. Returns false if there is no such
    /// tenant.
    pub fn budget(&self, tenant: &str, month: Option<f64>) -> Result<bool, SharedLogError> {
        let month = month.map(|usd| usd.to_string());
        let values: [&(dyn ToSql + Sync); 2] = [&tenant, &month];
        let sql = "SELECT glee.limit_tenant($1::text::name, $2::text::numeric)";
        Ok(!self.query(sql, &values)?.is_empty())
    }
}

impl Drop for ServerQueue {
    fn drop(&mut self) {
        // A client cannot be dropped in a thread that runs futures.
        let client = self.client.take();
        apart(|| drop(client));
    }
}

impl ServerQueue {
    fn ask<T: Send>(
        &mut self,
        request: impl FnOnce(&mut Client) -> Result<T, Error> + Send,
    ) -> Result<T, SharedLogError> {
        apart(|| {
            let mut client = match self.client.take().filter(|client| !client.is_closed()) {
                Some(client) => client,
                None => self.server.connect()?,
            };
            let answer = request(&mut client).map_err(|error| self.server.failed(error));
            if !matches!(answer, Err(SharedLogError::Away { .. })) {
                self.client = Some(client);
            }
            answer
        })
    }

    fn row(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Option<Row>, SharedLogError> {
        self.ask(|client| client.query_opt(sql, values))
    }
}

impl Queue for ServerQueue {
    fn submit(
        &mut self,
        names: &RepositoryNames,
        run: &RunId,
        submission: &Submission,
        is_urgent: bool,
    ) -> Result<(), SharedLogError> {
        let RepositoryNames {
            project,
            proven,
            title,
        } = names;
        if project.is_none() && proven.is_empty() {
            return Err(SharedLogError::Nameless);
        }
        let Submission {
            remote,
            commit,
            folder,
            args,
            labels,
        } = submission;
        self.row(
            "SELECT glee.submit(glee.open($1, $2, $3, true), $4, $5, $6, $7, $8, $9, $10)",
            &[
                project, proven, title, &run.0, &is_urgent, remote, commit, folder, args, labels,
            ],
        )
        .map(drop)
    }

    fn submits(&mut self) -> Result<bool, SharedLogError> {
        self.ask(|client| {
            let sql = "SELECT pg_has_role('glee_submitter', 'MEMBER')";
            client.query_one(sql, &[])?.try_get(0)
        })
    }

    fn follow(
        &mut self,
        names: &RepositoryNames,
        notice: &RequestNotice,
        run: &RunId,
        args: &[String],
    ) -> Result<bool, SharedLogError> {
        let RepositoryNames {
            project,
            proven,
            title,
        } = names;
        let RequestNotice {
            remote,
            number,
            head,
            updated,
            is_fork,
        } = notice;
        let updated = updated.to_string();
        let labels: &[&str] = if *is_fork { &[SANDBOX] } else { &[] };
        self.ask(|client| {
            let sql = "SELECT glee.follow(glee.open($1, $2, $3, true), $4, $5, $6::text::timestamptz, $7, $8, $9, $10)";
            let row = client.query_one(
                sql,
                &[
                    project, proven, title, number, head, &updated, &run.0, remote, &args, &labels,
                ],
            )?;
            row.try_get(0)
        })
    }

    fn totals(&mut self) -> Result<QueueTotals, SharedLogError> {
        self.ask(|client| {
            let sql = "SELECT count(*) FILTER (WHERE msg IS NULL), count(*) FILTER (WHERE msg IS NOT NULL AND NOT carried),
                    count(*) FILTER (WHERE carried),
                    coalesce(extract(epoch FROM clock_timestamp() - min(submitted) FILTER (WHERE NOT carried)), 0)::float8
                FROM (SELECT msg, submitted, coalesce(until > clock_timestamp(), false) AS carried
                    FROM glee.submission WHERE ended IS NULL) AS open";
            let row = client.query_one(sql, &[])?;
            let count = |column: usize| row.try_get(column).map(i64::unsigned_abs);
            let oldest: f64 = row.try_get(3)?;
            Ok(QueueTotals {
                waiting: count(0)?,
                queued: count(1)?,
                carried: count(2)?,
                oldest: Duration::from_secs_f64(oldest.max(0.0)),
            })
        })
    }

    fn claim(
        &mut self,
        worker: &str,
        labels: &[String],
    ) -> Result<Option<CarriedRun>, SharedLogError> {
        self.ask(|client| {
            let sql = "SELECT run, fence FROM glee.claim($1, $2)";
            let row = client.query_one(sql, &[&worker, &labels])?;
            let run: Option<String> = row.try_get(0)?;
            run.map(|run| {
                Ok(CarriedRun {
                    run: RunId(run),
                    fence: row.try_get(1)?,
                })
            })
            .transpose()
        })
    }

    fn claimed(&mut self, claim: &CarriedRun) -> Result<Submission, SharedLogError> {
        self.ask(|client| {
            let sql = "SELECT remote, commit, folder, args, labels FROM glee.claimed($1, $2)";
            let row = client.query_one(sql, &[&claim.run.0, &claim.fence])?;
            Ok(Submission {
                remote: row.try_get(0)?,
                commit: row.try_get(1)?,
                folder: row.try_get(2)?,
                args: row.try_get(3)?,
                labels: row.try_get(4)?,
            })
        })
    }

    fn renew(&mut self, claim: &CarriedRun) -> Result<Option<Duration>, SharedLogError> {
        self.ask(|client| {
            let sql = "SELECT glee.renew($1, $2)";
            let row = client.query_one(sql, &[&claim.run.0, &claim.fence])?;
            let lease: Option<i64> = row.try_get(0)?;
            Ok(lease.map(|lease| Duration::from_millis(lease.unsigned_abs())))
        })
    }

    fn require(&mut self, claim: &CarriedRun, label: &str) -> Result<(), SharedLogError> {
        let sql = "SELECT glee.require($1, $2, $3)";
        self.row(sql, &[&claim.run.0, &claim.fence, &label])
            .map(drop)
    }

    fn finish(
        &mut self,
        claim: &CarriedRun,
        exit: Option<i32>,
        failed: Option<&str>,
    ) -> Result<(), SharedLogError> {
        let sql = "SELECT glee.finish($1, $2, $3, $4)";
        self.row(sql, &[&claim.run.0, &claim.fence, &exit, &failed])
            .map(drop)
    }

    fn stop(&mut self, run: &RunId) -> Result<bool, SharedLogError> {
        self.ask(|client| {
            client
                .query_one("SELECT glee.stop($1)", &[&run.0])?
                .try_get(0)
        })
    }

    fn find(&mut self, id: &str) -> Result<Vec<SubmittedRun>, SharedLogError> {
        let sql = format!(
            "SELECT p.title, s.run, s.by::text, (extract(epoch FROM s.submitted) * 1000000)::bigint, {STATE}
            FROM glee.submission s JOIN glee.repository p ON p.id = s.repository
            WHERE starts_with(s.run, $1) OR right(s.run, length($1)) = $1 ORDER BY s.ended IS NOT NULL, s.n DESC LIMIT 2"
        );
        self.ask(|client| client.query(&sql, &[&id])?.iter().map(submitted).collect())
    }

    fn permit(
        &mut self,
        claim: &CarriedRun,
        vendor: &str,
        call: &str,
    ) -> Result<Duration, SharedLogError> {
        self.ask(|client| {
            let sql = "SELECT glee.permit($1, $2, $3, $4)";
            let row = client.query_one(sql, &[&claim.run.0, &claim.fence, &vendor, &call])?;
            let wait: i64 = row.try_get(0)?;
            Ok(Duration::from_millis(wait.unsigned_abs()))
        })
    }

    fn give_back(
        &mut self,
        claim: &CarriedRun,
        vendor: &str,
        call: &str,
    ) -> Result<(), SharedLogError> {
        let sql = "SELECT glee.give_back($1, $2, $3, $4)";
        self.row(sql, &[&claim.run.0, &claim.fence, &vendor, &call])
            .map(drop)
    }

    fn cool(
        &mut self,
        claim: &CarriedRun,
        vendor: &str,
        time: Duration,
    ) -> Result<(), SharedLogError> {
        let time = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        let sql = "SELECT glee.cool($1, $2, $3, $4)";
        self.row(sql, &[&claim.run.0, &claim.fence, &vendor, &time])
            .map(drop)
    }
}

/// The columns from which [`state`] reads how far a submission `s` is.
pub(super) const STATE: &str =
    "s.msg IS NULL, s.until > clock_timestamp(), s.worker, s.waits_for, s.stopped IS NOT NULL,
    s.exit, s.failed, s.labels";

fn submitted(row: &Row) -> Result<SubmittedRun, Error> {
    Ok(SubmittedRun {
        repository: row.try_get(0)?,
        run: RunId(row.try_get(1)?),
        by: row.try_get(2)?,
        submitted: Timestamp::from_microsecond(row.try_get(3)?).unwrap_or(Timestamp::UNIX_EPOCH),
        state: state(row, 4)?,
    })
}

/// Reads the columns [`STATE`], which begin with the column `first`.
pub(super) fn state(row: &Row, first: usize) -> Result<SubmissionState, Error> {
    let is_waiting: bool = row.try_get(first)?;
    let is_carried: Option<bool> = row.try_get(first + 1)?;
    let is_stopped: bool = row.try_get(first + 4)?;
    let exit: Option<i32> = row.try_get(first + 5)?;
    Ok(match exit {
        Some(exit) => SubmissionState::Ended {
            exit,
            failed: row.try_get(first + 6)?,
        },
        None if is_stopped => SubmissionState::Stopping,
        None if is_carried == Some(true) => SubmissionState::Carried {
            worker: row.try_get(first + 2)?,
            waits_for: row.try_get(first + 3)?,
        },
        None if is_waiting => SubmissionState::WaitsForPlace,
        None => SubmissionState::Queued {
            labels: row.try_get(first + 7)?,
        },
    })
}
