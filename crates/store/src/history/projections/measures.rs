//! Updates the tables of findings, opinions and sums. `glee stats` computes its statistics about reviewers,
//! judges, models, categories and weaknesses from these tables.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::{Connection, OptionalExtension as _, ToSql, params};

use crate::history::columns::json;
use crate::history::projections::calls::{bounded, micros};
use crate::history::projections::execute::execute;
use crate::history::projections::problems::{Problems, STRONGER};
use crate::history::stored_id::StoredId;
use glee_model::domain::event::{
    CallAnswer, CallId, Event, EventKind, Purpose, ReviewEvent, RunEvent,
};
use glee_model::domain::{
    Agent, Answer, CallMetadata, DemonstrationRun, Finding, FindingId, ProblemKey, Response, Role,
    RunId, TestEnd, TestedTree, Usage,
};
use glee_model::rules::review::demonstrations;

mod disputing;

/// The name that the history stores if the model of an agent is unknown.
const UNKNOWN: &str = "unknown";

/// The maximum number of characters of a category. Reviewers choose the names of categories.
const CATEGORY: usize = 60;

pub fn apply(db: &Connection, event: &Event) -> rusqlite::Result<()> {
    let measures = Measures {
        db,
        run: &event.run,
        at: event.at,
    };
    match &event.kind {
        EventKind::Run(event) => measures.of_run(event),
        EventKind::Review(event) => measures.of_review(event),
        EventKind::Dispute(event) => measures.of_dispute(event),
        EventKind::Consensus(_) | EventKind::Watch(_) => Ok(()),
    }
}

struct Measures<'a> {
    db: &'a Connection,
    run: &'a RunId,
    at: Timestamp,
}

impl Measures<'_> {
    fn of_run(&self, event: &RunEvent) -> rusqlite::Result<()> {
        match event {
            RunEvent::CallFinished {
                call,
                answer,
                millis,
                usage,
                told,
                ..
            } => {
                self.call(call, *millis, usage, told)?;
                self.answer(call, answer)
            }
            RunEvent::RunUndone { left: 0, .. } | RunEvent::RunDropped => self.undo(true, None),
            RunEvent::RunUndone { files, .. } => self.undo(true, Some(files)),
            RunEvent::RunRedone { files } => self.undo(false, Some(files)),
            RunEvent::RunResumed
            | RunEvent::CallStarted { .. }
            | RunEvent::ReadOnlyViolated { .. }
            | RunEvent::Notice { .. }
            | RunEvent::RunEnded { .. }
            | RunEvent::RunApplied { .. }
            | RunEvent::RunPruned { .. } => Ok(()),
        }
    }

    fn of_review(&self, event: &ReviewEvent) -> rusqlite::Result<()> {
        match event {
            ReviewEvent::RunStarted { plan } => plan
                .agents
                .iter()
                .chain(&plan.comparers)
                .try_for_each(|agent| self.participant(agent)),
            ReviewEvent::AnswersReused { call, reuse } if reuse.asked.is_empty() => {
                self.answered(call)
            }
            ReviewEvent::FindingsMerged { findings, .. }
            | ReviewEvent::DebateConcluded { findings, .. }
            | ReviewEvent::MembersSeparated { findings, .. } => {
                let groups = findings.chunk_by(|a, b| a.id.number == b.id.number);
                groups
                    .into_iter()
                    .try_for_each(|group| self.raise(i64::from(group[0].id.number), group))
            }
            ReviewEvent::ProblemsJoined { newer, older } => self
                .problems()
                .join(i64::from(newer.number), i64::from(older.number)),
            ReviewEvent::TreeChanged(change) => change.touched.iter().try_for_each(|finding| {
                self.change(
                    *finding,
                    "UPDATE measured SET changed = 1 WHERE run = ?1 AND finding = ?2",
                    &[],
                )
            }),
            ReviewEvent::FixRequested { request } => {
                request.findings.iter().try_for_each(|finding| {
                    let sql = "UPDATE measured SET implemented = 0, changed = 0, objected = 0
                           WHERE run = ?1 AND finding = ?2";
                    self.change(*finding, sql, &[])
                })
            }
            ReviewEvent::RoundStarted { .. }
            | ReviewEvent::AnswersReused { .. }
            | ReviewEvent::FilesReviewed { .. }
            | ReviewEvent::AdvisoriesAsked { .. }
            | ReviewEvent::PairsUnsure { .. }
            | ReviewEvent::FindingsCompared { .. }
            | ReviewEvent::ComparisonsReused { .. }
            | ReviewEvent::DebateRound { .. }
            | ReviewEvent::DebateShutdown { .. }
            | ReviewEvent::AlreadyRuled { .. }
            | ReviewEvent::RelatedDispute { .. }
            | ReviewEvent::StillDisputed { .. }
            | ReviewEvent::BeforeImage { .. }
            | ReviewEvent::Verified { .. }
            | ReviewEvent::Undemonstrated { .. } => Ok(()),
            ReviewEvent::DemonstrationRan(run) => self.demonstrate(run),
        }
    }

    /// A test that fails on the reviewed code runs again after a change.
    fn demonstrate(&self, run: &DemonstrationRun) -> rusqlite::Result<()> {
        let (sql, is_true) = match run.tested {
            TestedTree::Before => (
                "UPDATE measured SET demonstrated = demonstrated OR ?3 WHERE run = ?1 AND finding = ?2",
                demonstrations::result(run, None).failed_before(),
            ),
            TestedTree::After => (
                "UPDATE measured SET proven = ?3 WHERE run = ?1 AND finding = ?2",
                run.runs
                    .last()
                    .is_some_and(|last| last.end == TestEnd::Passed),
            ),
        };
        self.change(run.finding, sql, &[&is_true])
    }

    fn day(&self) -> String {
        self.at.to_zoned(TimeZone::UTC).date().to_string()
    }

    fn participant(&self, agent: &Agent) -> rusqlite::Result<()> {
        let Some(role) = role_name(agent.role) else {
            return Ok(());
        };
        let model = match (&agent.model, agent.is_embedded(), agent.adapter.as_str()) {
            (Some(model), ..) => model.clone(),
            (None, true, _) => agent
                .command
                .first()
                .cloned()
                .unwrap_or_else(|| UNKNOWN.to_owned()),
            (None, false, _) => UNKNOWN.to_owned(),
        };
        execute(
            self.db,
            "INSERT OR IGNORE INTO participant (run, agent, role, model) VALUES (?1, ?2, ?3, ?4)",
            [&self.run.0, &agent.name.0, role, &model],
        )
    }

    fn answered(&self, call: &CallId) -> rusqlite::Result<()> {
        let sql = "UPDATE participant SET answered = 1 WHERE run = ?1 AND agent = ?2 AND role = 'reviewer'";
        execute(self.db, sql, [&self.run.0, &call.agent.0])
    }

    /// Adds the usage of a call to the sum of all calls, and to the sums of its reviewer or judge, or of comparisons.
    fn call(
        &self,
        call: &CallId,
        millis: u64,
        usage: &Usage,
        told: &CallMetadata,
    ) -> rusqlite::Result<()> {
        let role = role_name(call.purpose.role());
        if let (Some(role), Some(model)) = (role, told.model.as_deref()) {
            let sql =
                "UPDATE participant SET model = ?4 WHERE run = ?1 AND agent = ?2 AND role = ?3";
            execute(self.db, sql, [&self.run.0, &call.agent.0, role, model])?;
        }
        // Without a judge, the aggregator compares findings with earlier disputes.
        let sql = "WITH own AS (SELECT role, model FROM participant
                WHERE run = ?1 AND agent = ?2 AND role IN (?3, iif(?10, 'aggregator', ?3))),
             counted (kind, name) AS (
                SELECT 'all', ''
                UNION ALL SELECT 'comparison', ?2 FROM own WHERE ?10
                UNION ALL SELECT role, ?2 FROM own WHERE role <> 'aggregator'
                UNION ALL SELECT iif(role = 'judge', 'judge_model', 'model'), model FROM own WHERE role <> 'aggregator')
             INSERT INTO tally (kind, name, day, calls, unpriced, millis, input, output, micros)
             SELECT kind, name, ?4, 1, ?5, ?6, ?7, ?8, ?9 FROM counted WHERE true
             ON CONFLICT DO UPDATE SET calls = calls + 1, unpriced = unpriced + excluded.unpriced,
                millis = millis + excluded.millis, input = input + excluded.input,
                output = output + excluded.output, micros = micros + excluded.micros";
        execute(
            self.db,
            sql,
            params![
                self.run.0,
                call.agent.0,
                role,
                self.day(),
                usage.usd.is_none(),
                bounded(millis),
                bounded(usage.input_tokens.unwrap_or(0)),
                bounded(usage.output_tokens.unwrap_or(0)),
                micros(usage).unwrap_or(0),
                call.purpose.is_comparison(),
            ],
        )
    }

    fn answer(&self, call: &CallId, answer: &CallAnswer) -> rusqlite::Result<()> {
        match answer {
            CallAnswer::Review { status, .. } if status.is_complete() => self.answered(call),
            CallAnswer::Respond { responses, .. } => responses
                .iter()
                .try_for_each(|response| self.respond(&call.purpose, response)),
            CallAnswer::Recheck { checks } => {
                let denied = checks.iter().filter(|check| !check.resolved);
                denied.into_iter().try_for_each(|check| {
                    let sql = "UPDATE measured SET objected = 1 WHERE run = ?1 AND finding = ?2";
                    self.change(check.finding, sql, &[])
                })
            }
            _ => Ok(()),
        }
    }

    /// Stores a response of the coder. Clears the column `objected`, because earlier re-checks do not cover this
    /// response. Also clears the column `changed` if the response is not a repair, because earlier edits do not
    /// implement this response.
    fn respond(&self, purpose: &Purpose, response: &Response) -> rusqlite::Result<()> {
        let is_repair = matches!(purpose, Purpose::Repair { .. });
        let implemented = response.answer == Answer::Implemented;
        let sql = "UPDATE measured SET implemented = ?3, changed = changed AND ?4, objected = 0
             WHERE run = ?1 AND finding = ?2";
        self.change(response.finding, sql, &[&implemented, &is_repair])
    }

    /// `None` stands for all files.
    fn undo(&self, undone: bool, files: Option<&[String]>) -> rusqlite::Result<()> {
        let problems = self.problems().of_run(self.run)?;
        self.problems().add(&problems, -1)?;
        let sql = "UPDATE measured SET undone = ?2 WHERE run = ?1
             AND (?3 IS NULL OR file IN (SELECT value FROM json_each(?3)) OR file IS NULL AND NOT ?2)";
        let files = files.map(|files| json(&files));
        execute(self.db, sql, params![self.run.0, undone, files])?;
        self.problems().add(&problems, 1)
    }

    fn problems(&self) -> Problems<'_> {
        Problems { db: self.db }
    }

    /// Stores findings of the problem `number`, and the opinions of the reviewers about the problem.
    fn raise(&self, number: i64, group: &[Finding]) -> rusqlite::Result<()> {
        let problems = self.problems();
        let head = &group[0];
        let key = head.problem.clone();
        let key = key.unwrap_or_else(|| ProblemKey::of(self.run, head.id));
        let problem = problems.keep(number, &key, self.run, head.id)?;
        let mut changed = Vec::new();
        for finding in group {
            changed.extend(self.changed(finding.id)?);
            changed.extend(finding.reverses);
            changed.extend(finding.was);
        }
        let mut numbers = problems.of(self.run, &changed)?;
        numbers.insert(problem);
        problems.add(&numbers, -1)?;
        for finding in group {
            if let Some(was) = finding.was {
                problems.rename(self.run, was, finding.id, problem)?;
            }
            self.keep(finding, problem)?;
        }
        // A debate can change the opinions about findings that no other record is about.
        if problems.count_of_findings(problem)? == group.len() {
            problems.forget_opinions(problem)?;
        }
        for finding in group {
            self.express(finding, problem)?;
        }
        problems.add(&numbers, 1)
    }

    fn is_known(&self, finding: FindingId) -> rusqlite::Result<bool> {
        let sql = "SELECT 1 FROM measured WHERE run = ?1 AND finding = ?2";
        self.db
            .prepare_cached(sql)?
            .exists(params![self.run.0, finding.key()])
    }

    /// Stores a finding. An update of a stored finding changes only its category.
    fn keep(&self, finding: &Finding, problem: i64) -> rusqlite::Result<()> {
        let raw = &finding.raw;
        let category = finding.anchor.as_ref().map(|anchor| &anchor.category);
        let category = category
            .or(raw.category.as_ref())
            .or(raw.rule.as_ref())
            .map_or("bug", String::as_str);
        let category: String = category.chars().take(CATEGORY).collect();
        execute(
            self.db,
            "INSERT INTO measured (run, finding, problem, day, category, cwe, reverses, file)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT DO UPDATE SET category = excluded.category, cwe = excluded.cwe",
            params![
                self.run.0,
                finding.id.key(),
                problem,
                self.day(),
                category,
                raw.cwe.map(|cwe| cwe.to_string()),
                finding.reverses.map(FindingId::key),
                raw.file
            ],
        )
    }

    /// Stores the opinions of the reviewers about a problem. A reviewer raised the problem, confirmed it, or answered
    /// without doing either (`silent`).
    fn express(&self, finding: &Finding, problem: i64) -> rusqlite::Result<()> {
        let confirmed = finding
            .consensus
            .iter()
            .flat_map(|consensus| &consensus.confirmed_by);
        let said = finding.raised_by.iter().map(|name| (name, "raised"));
        let mut insert = self.db.prepare_cached(&format!(
            "INSERT INTO opinion (problem, reviewer, model, said) VALUES (?1, ?2,
                coalesce((SELECT model FROM participant WHERE run = ?5 AND agent = ?2 AND role = 'reviewer'), ?4), ?3)
             {STRONGER}"
        ))?;
        for (name, word) in said.chain(confirmed.map(|name| (name, "confirmed"))) {
            insert.execute(params![problem, name.0, word, UNKNOWN, self.run.0])?;
        }
        execute(
            self.db,
            "INSERT OR IGNORE INTO opinion (problem, reviewer, model, said)
                 SELECT ?1, agent, model, 'silent' FROM participant
                 WHERE run = ?2 AND role = 'reviewer' AND answered",
            params![problem, self.run.0],
        )
    }

    /// Changes a finding of this run. The first two parameters of the statement `sql` are the run and the finding.
    fn change(&self, finding: FindingId, sql: &str, values: &[&dyn ToSql]) -> rusqlite::Result<()> {
        self.count(finding, -1)?;
        self.finding(self.run.0.clone(), finding)
            .write(sql, values)?;
        self.count(finding, 1)
    }

    fn finding(&self, run: String, finding: FindingId) -> Disputed<'_> {
        Disputed {
            db: self.db,
            run,
            finding,
        }
    }

    /// Finds all problems that depend on `finding`. Adds the numbers of these problems to the sums if `sign` is 1,
    /// and subtracts the numbers if `sign` is -1.
    fn count(&self, finding: FindingId, sign: i64) -> rusqlite::Result<()> {
        let problems = self.problems();
        problems.add(&problems.of(self.run, &self.changed(finding)?)?, sign)
    }

    /// Returns `finding`. If `finding` reverses another finding, also returns the other finding. A change of
    /// `finding` affects the sums for both findings.
    fn changed(&self, finding: FindingId) -> rusqlite::Result<Vec<FindingId>> {
        let sql = "SELECT reverses FROM measured WHERE run = ?1 AND finding = ?2 AND reverses IS NOT NULL";
        let reversed = self
            .db
            .prepare_cached(sql)?
            .query_row(params![self.run.0, finding.key()], |row| {
                Ok(row.get::<_, StoredId>(0)?.0)
            });
        Ok(std::iter::once(finding)
            .chain(reversed.optional()?)
            .collect())
    }
}

struct Disputed<'a> {
    db: &'a Connection,
    run: String,
    finding: FindingId,
}

impl Disputed<'_> {
    fn write(&self, sql: &str, values: &[&dyn ToSql]) -> rusqlite::Result<()> {
        let finding = self.finding.key();
        let mut all: Vec<&dyn ToSql> = vec![&self.run, &finding];
        all.extend(values);
        execute(self.db, sql, all.as_slice())
    }
}

fn role_name(role: Role) -> Option<&'static str> {
    match role {
        Role::Reviewer => Some("reviewer"),
        Role::Judge => Some("judge"),
        Role::Aggregator => Some("aggregator"),
        Role::Coder => None,
    }
}
