//! The rulings that a run applies: the rulings in the history, and the shared rulings in files of the repository.
//!
//! The files of shared rulings are read at the base commit of a change, so that a change cannot influence its own
//! review. An edit of a shared ruling is reported as a finding. If the history and a file contain the same ruling,
//! the ruling in the history takes precedence, because the history is newer.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::review::{findings::recognition, state::ReviewState};
use crate::run::error::RunError;
use glee_model::domain::{
    DisputeId, Finding, RawFinding, RuledBy, RuledFinding, RuledPlace, Ruler, RulingRef, Severity,
    SharedRuling, Tag,
    event::{Event, Plan},
};
use glee_model::rules::review::rulings;
use glee_protocol::text::printable;
use glee_store::config::files::rulings::{FOLDER, MAX_FILES, is_note, is_shared, read};
use glee_store::config::settings::MaxAge;
use glee_store::history::queries::rows::{Binding, DisputeRecord};
use glee_store::history::{JournalError, store::Journal};
use glee_workspace::{RulingFile, Target, TargetSpec, code::anchors, root::Workspace};

const NAMED: usize = 5;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SharedRulings {
    pub rulings: Vec<SharedRuling>,
    /// For each invalid file: the name of the file, the line of the error, and the reason why the file is invalid.
    pub problems: Vec<(String, u32, String)>,
}

impl SharedRulings {
    /// Reads the shared rulings of a commit. If `commit` is `None`, the result contains no rulings.
    pub fn at(workspace: &Workspace, commit: Option<&str>) -> Result<Self, RunError> {
        let files = commit
            .map(|commit| workspace.rulings_at(commit))
            .transpose()?;
        Ok(Self::of(files.unwrap_or_default()))
    }

    /// Reads the shared rulings that apply to a run: the rulings of a commit, and the rulings in the
    /// conversation of a pull request. If the commit and the conversation contain the same ruling, the ruling in
    /// the commit takes precedence.
    pub fn of_plan(workspace: &Workspace, plan: &Plan) -> Result<Self, RunError> {
        let mut shared = Self::at(workspace, plan.rulings_at.as_deref())?;
        let of_request = plan
            .pull_request
            .iter()
            .flat_map(|request| &request.rulings);
        let known: BTreeSet<DisputeId> = shared
            .rulings
            .iter()
            .map(|ruling| ruling.id.clone())
            .collect();
        shared.rulings.extend(
            of_request
                .filter(|ruling| !known.contains(&ruling.id))
                .cloned(),
        );
        Ok(shared)
    }

    pub fn of(files: Vec<RulingFile>) -> Self {
        let mut shared = Self::default();
        let all = files.len();
        for (name, bytes) in files.into_iter().take(MAX_FILES) {
            match bytes.map(|bytes| read(&name, &bytes)) {
                Ok(Ok(ruling)) => shared.rulings.push(ruling),
                Ok(Err(problem)) => shared.problems.push((name, problem.line, problem.message)),
                Err(why) => shared.problems.push((name, 1, why.to_owned())),
            }
        }
        if all > MAX_FILES {
            let message = format!("only the first {MAX_FILES} of {all} files are read");
            shared.problems.push((String::new(), 1, message));
        }
        shared
    }

    pub fn bindings(&self) -> Vec<Binding> {
        self.rulings.iter().flat_map(bindings).collect()
    }

    pub fn notice(&self) -> Option<String> {
        let named = self.problems.iter().take(NAMED).map(|(name, line, why)| {
            format!(
                "`{}/{}`:{line}: {}",
                FOLDER,
                printable::line(name),
                printable::line(why)
            )
        });
        let mut named: Vec<String> = named.collect();
        if self.problems.len() > NAMED {
            named.push(format!("and {} more", self.problems.len() - NAMED));
        }
        let check = "`glee disputes check` lists all";
        (!named.is_empty()).then(|| {
            format!(
                "shared rulings that do not bind: {}; {check}",
                named.join("; ")
            )
        })
    }
}

/// The bindings of a shared ruling, one for each finding that the ruling is about.
pub fn bindings(ruling: &SharedRuling) -> impl Iterator<Item = Binding> {
    ruling.findings().map(|finding| binding(ruling, finding))
}

fn binding(ruling: &SharedRuling, finding: &RuledFinding) -> Binding {
    let category = anchors::category(finding.rule.as_deref(), finding.category.as_deref());
    let text = anchors::words(finding.title.as_written());
    let anchor = |place: &RuledPlace| finding.anchor(place, &text, &category);
    let also = finding.places.iter();
    Binding {
        dispute: RulingRef::Shared(ruling.id.clone()),
        run: ruling.run.clone(),
        finding: finding.finding,
        anchor: anchor(&finding.place),
        title: finding.title.clone(),
        location: Some(finding.place.location()),
        also: also
            .map(|place| (place.location(), anchor(place)))
            .collect(),
        disposition: Some(ruling.disposition.clone()),
        new_tag: ruling.new_tag,
        rationale: ruling.rationale.clone(),
        settled_at: Some(ruling.date),
        until: ruling.until,
        ended: None,
        is_vouched: ruling.by.person.is_some(),
        problem: ruling.problem.clone(),
        cited: ruling.cited.clone(),
        reopens: None,
    }
}

/// Converts the ruling of a settled dispute to a shared ruling. `responsible` is the person who answers for the ruling
/// of a judge or a policy; a person answers for their own ruling. `events` are the events of the dispute's run.
/// Returns `None` if the dispute is open, or if its finding has no anchor.
pub fn shared_form(
    record: &DisputeRecord,
    events: &[Event],
    responsible: Option<String>,
) -> Option<SharedRuling> {
    let dispute = &record.dispute;
    let settlement = record.settlement.as_ref()?;
    let finding = &dispute.finding;
    let last = dispute.rulings.last();
    let state = ReviewState::of(events);
    let by = match &settlement.by {
        Ruler::Judge { name } => {
            let mut agents = state.planned().chain(&state.called_judges);
            let judge = agents.find(|agent| agent.name == *name);
            RuledBy {
                judge: Some(name.clone()),
                model: judge.and_then(|judge| judge.model.clone()),
                person: responsible,
                ..RuledBy::default()
            }
        }
        Ruler::Panel => {
            let votes = last.iter().flat_map(|last| &last.votes);
            RuledBy {
                panel: votes.map(|vote| vote.judge.clone()).collect(),
                person: responsible,
                ..RuledBy::default()
            }
        }
        Ruler::Human(person) => RuledBy {
            person: Some(person.to_string()),
            ..RuledBy::default()
        },
        Ruler::Policy => RuledBy {
            person: responsible,
            ..RuledBy::default()
        },
    };
    let rationale = if settlement.reason.is_blank() {
        last.map(|last| &last.ruling.rationale)
    } else {
        None
    };
    Some(SharedRuling {
        version: SharedRuling::VERSION,
        id: DisputeId::of(&record.run, finding.id),
        run: record.run.clone(),
        problem: finding.problem.clone(),
        head: ruled_finding(finding)?,
        members: dispute.members.iter().filter_map(ruled_finding).collect(),
        ruling: last.map(|last| last.ruling.ruling),
        disposition: settlement.disposition.clone(),
        new_tag: dispute.new_tag(),
        rationale: rationale.unwrap_or(&settlement.reason).clone(),
        citations: last
            .map(|last| last.ruling.citations.clone())
            .unwrap_or_default(),
        evidence: dispute.objection.evidence.clone(),
        cited: last.map(|last| last.cited.clone()).unwrap_or_default(),
        by,
        date: record.settled_at?,
        until: settlement.until,
    })
}

/// Returns `None` if no place of the finding has an anchor.
fn ruled_finding(finding: &Finding) -> Option<RuledFinding> {
    let mut places = finding.anchored().map(RuledPlace::from);
    Some(RuledFinding {
        finding: finding.id,
        place: places.next()?,
        places: places.collect(),
        tag: finding.raw.severity.to_string(),
        title: finding.raw.title.clone(),
        category: finding.raw.category.clone(),
        cwe: finding.raw.cwe,
        rule: finding.raw.rule.clone(),
    })
}

/// The bindings of the history and of shared rulings, without superseded bindings. In an expired binding, `ended`
/// is the day on which the ruling expired.
pub fn known(
    journal: Option<&Journal>,
    shared: &[Binding],
    max_age: &MaxAge,
) -> Result<Vec<Binding>, JournalError> {
    let now = Timestamp::now();
    let mut bindings = all(journal, shared)?;
    for binding in &mut bindings {
        let age = binding
            .disposition
            .as_ref()
            .and_then(|disposition| max_age.of(disposition));
        let ended = rulings::ended(binding.settled_at, binding.until, age, now);
        binding.ended = binding.ended.into_iter().chain(ended).min();
    }
    let superseded = recognition::superseded(&bindings);
    let in_force = bindings.into_iter().enumerate();
    Ok(in_force
        .filter(|(index, _)| !superseded.contains_key(index))
        .map(|(_, binding)| binding)
        .collect())
}

/// Returns all bindings of the history, and the shared rulings that are missing in the history. The result
/// includes expired and superseded rulings.
pub fn all(journal: Option<&Journal>, shared: &[Binding]) -> Result<Vec<Binding>, JournalError> {
    let mut bindings = journal
        .map(Journal::bindings)
        .transpose()?
        .unwrap_or_default();
    if !shared.is_empty() {
        let own: BTreeSet<DisputeId> = bindings.iter().map(Binding::id).collect();
        bindings.extend(
            shared
                .iter()
                .filter(|binding| !own.contains(&binding.id()))
                .cloned(),
        );
    }
    Ok(bindings)
}

/// Returns the earlier rulings that the given ruling superseded. Also returns the later ruling that superseded the
/// given ruling.
pub fn succession(bindings: &[Binding], of: &RulingRef) -> (Vec<RulingRef>, Option<RulingRef>) {
    let superseded: BTreeMap<usize, usize> = recognition::superseded(bindings);
    let named = |index: &usize| bindings[*index].dispute.clone();
    let is_it = |index: &usize| bindings[*index].dispute == *of;
    let earlier = superseded
        .iter()
        .filter(|(_, later)| is_it(later))
        .map(|(earlier, _)| named(earlier));
    let later = superseded
        .iter()
        .find(|(earlier, _)| is_it(earlier))
        .map(|(_, later)| named(later));
    (earlier.collect(), later)
}

type New = Result<Vec<u8>, String>;

/// The findings that Glee raises about edits of shared rulings. `base` contains the rulings before the edits.
pub fn edits(
    workspace: &Workspace,
    spec: &TargetSpec,
    target: &Target,
    base: &SharedRulings,
) -> Result<Vec<RawFinding>, RunError> {
    if matches!(spec, TargetSpec::Paths(_)) {
        return Ok(Vec::new());
    }
    let is_ruling = |path: &str| is_shared(path) && !is_note(name_of(path));
    let left_out: BTreeSet<&str> = target
        .skipped
        .iter()
        .map(|skip| skip.file.as_str())
        .filter(|path| is_ruling(path))
        .collect();
    // A person has to approve every edit of a shared ruling. Therefore, Glee raises a finding about an edit even
    // if reviewers do not receive the file.
    let mut now: BTreeMap<String, New> = BTreeMap::new();
    if !left_out.is_empty() {
        let files = match (spec, &target.commit) {
            (TargetSpec::Commit(_) | TargetSpec::Range(_), Some(commit)) => {
                workspace.rulings_at(commit)?
            }
            (TargetSpec::Diff { .. }, _) => Vec::new(),
            _ => workspace.rulings_in_tree(),
        };
        now.extend(
            files
                .into_iter()
                .map(|(name, bytes)| (name, bytes.map_err(str::to_owned))),
        );
    }
    let hidden = left_out
        .iter()
        .map(|path| (*path, now.get(name_of(path)).cloned()));
    let shown = target
        .files
        .iter()
        .filter(|file| is_ruling(&file.path))
        .map(|file| {
            let new = (!file.is_deleted()).then(|| Ok(file.text.clone().into_bytes()));
            (file.path.as_str(), new)
        });
    let edited: BTreeMap<&str, Option<New>> = hidden.chain(shown).collect();
    Ok(edited
        .into_iter()
        .map(|(path, new)| edit(path, new, base))
        .collect())
}

fn edit(path: &str, new: Option<New>, base: &SharedRulings) -> RawFinding {
    let name = name_of(path);
    let before = base
        .rulings
        .iter()
        .find(|ruling| format!("{}.yml", ruling.id) == name);
    let is_known = before.is_some() || base.problems.iter().any(|(broken, ..)| broken == name);
    let did = match (&new, is_known) {
        (Some(_), false) => "adds",
        (Some(_), true) => "alters",
        (None, true) => "removes or replaces",
        (None, false) => "adds or removes",
    };
    let mut body = String::from("This review applies the rulings at the base of the change.");
    let is_there = new.is_some();
    if let Some(new) = new {
        let read = new.and_then(|bytes| {
            read(name, &bytes)
                .map_err(|problem| format!("line {}: {}", problem.line, problem.message))
        });
        body.push_str(&match read {
            Ok(ruling) => format!("\nOnce merged, this ruling binds: {}", summary(&ruling)),
            Err(why) => format!("\nThe file would not bind: {why}"),
        });
    }
    if let Some(before) = before {
        let then = if is_there {
            "It replaces this ruling"
        } else {
            "Once merged, this ruling no longer binds"
        };
        body.push_str(&format!("\n{then}: {}", summary(before)));
    }
    RawFinding {
        severity: Severity::known(Tag::Must),
        title: format!("A person has to approve that the change {did} the shared ruling `{path}`")
            .into(),
        body: body.into(),
        file: Some(path.to_owned()),
        category: Some("security".to_owned()),
        rule: Some("edits-shared-rulings".to_owned()),
        ..RawFinding::default()
    }
}

fn summary(ruling: &SharedRuling) -> String {
    let by = &ruling.by;
    let judges = by.judge.iter().chain(&by.panel).map(|name| name.0.clone());
    let names: Vec<String> = by.person.iter().cloned().chain(judges).collect();
    let names = if names.is_empty() {
        "policy".to_owned()
    } else {
        names.join(", ")
    };
    let until = ruling
        .until
        .map(|day| format!(" until {day}"))
        .unwrap_or_default();
    let findings = ruling.findings().map(|finding| {
        let places: Vec<String> = finding
            .places()
            .map(|place| place.location().to_string())
            .collect();
        let tag = &finding.tag;
        let title = finding.title.as_written();
        format!("[{tag}] {} {title}", places.join(", "))
    });
    let findings: Vec<String> = findings.collect();
    let word = ruling.disposition.as_str();
    let why = ruling.rationale.as_written();
    format!("{}: {word}{until}, by {names}: {why}", findings.join("; "))
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
