//! Queries the problems of a repository: their numbers, keys, aliases and findings.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::params;

use crate::history::columns::from_json;
use crate::history::stored_id::StoredId;
use crate::history::{JournalError, store::Journal};
use glee_model::domain::{Finding, FindingId, ProblemKey, RunId};

/// The minimum number of digits of a key that identifies a problem.
const DIGITS: usize = 4;

/// A finding of the history, as one run recorded it.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownFinding {
    pub run: RunId,
    /// The number of the problem. For an alias, the older number.
    pub number: u32,
    /// The position in the group; `None` if the finding was recorded under an alias.
    pub member: Option<u8>,
    pub key: ProblemKey,
    pub finding: Arc<Finding>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownProblems {
    /// The id of the newest event that these problems come from.
    pub as_of: u64,
    /// The first number that no problem has.
    pub next: u32,
    /// The findings of all runs, those of the newest run first.
    pub findings: Vec<KnownFinding>,
}

/// What a person's words for a problem mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedProblem {
    pub id: FindingId,
    /// The alias that was named, if the problem has an older number.
    pub alias: Option<FindingId>,
}

impl Journal {
    pub fn known_problems(&self) -> Result<KnownProblems, JournalError> {
        // Events that are appended after this query make `append_merged` fail, so that later queries may see them.
        let as_of = self.newest()?;
        let next = "SELECT ifnull(max(number), 0) + 1 FROM problem WHERE number > 0";
        let next = self.rows(next, [], |row| row.get::<_, u32>(0))?;
        let sql = "SELECT finding.run, finding.body, older.number, older.key, problem.alias_of IS NOT NULL AS is_alias
            FROM finding
                JOIN problem ON problem.number = finding.id >> 8
                JOIN problem AS older ON older.number = ifnull(problem.alias_of, problem.number)
                LEFT JOIN run ON run.id = finding.run
            ORDER BY run.number DESC, finding.run DESC, finding.id";
        // Reviews of the same code record the same findings, and reading the text anew costs more than finding it.
        let mut read: HashMap<String, Arc<Finding>> = HashMap::new();
        let findings = self.rows(sql, [], |row| {
            let body: String = row.get("body")?;
            let finding = match read.get(&body) {
                Some(finding) => finding.clone(),
                None => {
                    let finding: Arc<Finding> = Arc::new(from_json(row, "body")?);
                    read.insert(body, finding.clone());
                    finding
                }
            };
            let is_alias: bool = row.get("is_alias")?;
            Ok(KnownFinding {
                run: RunId(row.get("run")?),
                number: row.get("number")?,
                member: (!is_alias).then_some(finding.id.member),
                key: ProblemKey(row.get("key")?),
                finding,
            })
        })?;
        Ok(KnownProblems {
            as_of,
            next: next.first().copied().unwrap_or(1),
            findings,
        })
    }

    /// Finds a problem by its number, such as `F12` or `F12b`, or by at least four leading digits of its key.
    pub fn find_problem(&self, text: &str) -> Result<NamedProblem, JournalError> {
        let wanted = text.trim().to_ascii_lowercase();
        let mut found = Vec::new();
        if let Some(id) = FindingId::parse(&wanted) {
            let sql = "SELECT ifnull(alias_of, number) FROM problem WHERE number = ?1";
            let older = self.rows(sql, [id.number], |row| row.get::<_, u32>(0))?;
            found.extend(older.into_iter().map(|older| {
                if older == id.number {
                    NamedProblem { id, alias: None }
                } else {
                    NamedProblem {
                        id: FindingId::new(older),
                        alias: Some(id.group()),
                    }
                }
            }));
        }
        let is_key = (DIGITS..=16).contains(&wanted.len())
            && wanted.chars().all(|digit| digit.is_ascii_hexdigit());
        if is_key {
            let sql = "SELECT DISTINCT ifnull(alias_of, number) FROM problem
                WHERE number > 0 AND substr(key, 1, length(?1)) = ?1 ORDER BY 1 LIMIT 6";
            let named = self.rows(sql, [&wanted], |row| row.get::<_, u32>(0))?;
            for number in named {
                let id = FindingId::new(number);
                if found.iter().all(|known| known.id.group() != id) {
                    found.push(NamedProblem { id, alias: None });
                }
            }
        }
        match found.as_slice() {
            [] => Err(JournalError::UnknownFinding(text.to_owned())),
            [only] => Ok(only.clone()),
            several => Err(JournalError::AmbiguousFinding {
                text: text.to_owned(),
                candidates: several.iter().map(|known| known.id).collect(),
            }),
        }
    }

    /// The newest run that raised a finding that `id` means.
    pub fn last_run_with(&self, id: FindingId) -> Result<Option<RunId>, JournalError> {
        let sql = "SELECT finding.run, finding.id, finding.was FROM finding JOIN run ON run.id = finding.run
            WHERE finding.id BETWEEN ?1 AND ?2 OR finding.was BETWEEN ?1 AND ?2 ORDER BY run.number DESC";
        let group = params![id.group().key(), id.group().member(u8::MAX).key()];
        let raised = self.rows(sql, group, |row| {
            let StoredId(finding) = row.get(1)?;
            let was: Option<StoredId> = row.get(2)?;
            Ok((RunId(row.get(0)?), finding, was.map(|was| was.0)))
        })?;
        let mut raised = raised.into_iter();
        let meant = raised.find(|(_, finding, was)| id.means(*finding, *was));
        Ok(meant.map(|(run, ..)| run))
    }

    /// The numbers that are aliases of a problem.
    pub fn aliases(&self, id: FindingId) -> Result<Vec<FindingId>, JournalError> {
        let sql = "SELECT number FROM problem WHERE alias_of = ?1 ORDER BY number";
        self.rows(sql, [id.number], |row| row.get(0).map(FindingId::new))
    }
}
