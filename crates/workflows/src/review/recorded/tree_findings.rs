//! Lists the findings of all recorded runs, and computes whether each finding is still open in the current tree.
//!
//! An unresolved finding counts as gone if its block of code is no longer in the tree. If several runs raised
//! the same finding, the list contains only the finding of the newest run. A ruling in force closes a finding,
//! even if the ruling was given in another run. A fixed finding is open again if the tree contains the code from
//! before the fix.
//!
//! Where the tree is on other machines only, a finding counts as gone after a later run on the same target, as one
//! without a block does.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::review::code::sources::Sources;
use crate::review::disputes::rulings::{self, SharedRulings};
use crate::review::findings::round::{MergeSettings, Round, TextOf};
use crate::review::findings::{recognition, relations};
use crate::review::recorded::view::{self, Recorded};
use crate::review::{outcome, state::ReviewState};
use crate::run::error::RunError;
use glee_model::domain::event::{EventKind, ReviewEvent};
use glee_model::domain::{
    Anchor, Caps, Disposition, ExitReason, Finding, FindingId, FindingState, Location, Lowered,
    Outcome, Proof, RulingRef, RunId, SettledFinding, Severity, Usage,
};
use glee_store::config::settings::Settings;
use glee_store::history::queries::problems::KnownFinding;
use glee_store::history::queries::rows::{Binding, RunRow};
use glee_store::history::store::Journal;
use glee_workspace::code::anchors::Blocks;
use glee_workspace::root::Workspace;
use glee_workspace::{BlockPlace, TargetSpec};

/// A block with fewer lines than this number is recognised only in its original file, because short blocks, such
/// as imports, occur in many files.
const MOVED: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    Open,
    /// The finding was fixed, but the code from before the fix is in the tree again.
    Reverted,
    /// The finding was fixed or discarded, or a ruling closed the finding.
    Closed,
    /// The code of the finding was changed. A finding whose code cannot be looked for counts as gone after a later run on
    /// the same target.
    Gone,
}

impl Standing {
    pub fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Reverted)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeFinding {
    /// The newest run that raised the finding.
    pub run: RunId,
    pub started: Timestamp,
    pub standing: Standing,
    /// The current location of the finding's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Location>,
    #[serde(flatten)]
    pub settled: SettledFinding,
}

impl TreeFinding {
    fn at_place(mut self) -> SettledFinding {
        if let Some(Location {
            file,
            line,
            end_line,
        }) = self.now
        {
            let raw = &mut self.settled.finding.raw;
            (raw.file, raw.line, raw.end_line) = (Some(file), line, end_line);
        }
        if self.standing == Standing::Reverted {
            self.settled.state = FindingState::Reverted;
        }
        self.settled
    }
}

/// The data from which the list of findings is computed.
#[derive(Clone, Copy)]
pub struct TreeQuery<'a> {
    pub workspace: &'a Workspace,
    pub journal: &'a Journal,
    pub settings: &'a Settings,
}

struct Raised<'a> {
    row: &'a RunRow,
    finding: Arc<Finding>,
    /// The block of the first place that is in the tree, and the number of this place among the anchored places.
    place: Option<(usize, BlockPlace)>,
}

impl Raised<'_> {
    /// Returns `None` if the finding has no anchor, or if no block of an anchor is in the tree.
    fn placed(&self) -> Option<(Location, &Anchor, &BlockPlace)> {
        let (number, block) = self.place.as_ref()?;
        let (raised_at, anchor) = self.finding.anchored().nth(*number)?;
        Some((raised_at, anchor, block))
    }

    /// Whether a ruling on this finding has fallen: the code moved to another ground, or code that the ruling cites
    /// does not stand.
    fn has_left(&self, binding: &Binding, text_of: TextOf<'_>) -> bool {
        let places = self.placed().zip(self.anchor_now(text_of));
        places.is_some_and(|((_, was, _), now)| {
            relations::fallen(binding, &[(was, &now)], text_of).is_some()
        })
    }

    /// The anchor at the present place of the block.
    fn anchor_now(&self, text_of: TextOf<'_>) -> Option<Anchor> {
        let (_, anchor, place) = self.placed()?;
        Some(Anchor {
            file: place.file.clone(),
            ground: Blocks::of(&place.file, &text_of(&place.file)).ground(),
            ..anchor.clone()
        })
    }

    fn location(&self) -> Option<Location> {
        let (raised_at, anchor, BlockPlace { file, lines }) = self.placed()?;
        let line = anchor
            .offset
            .map(|offset| lines.start().saturating_add(offset));
        let length = raised_at
            .end_line
            .zip(raised_at.line)
            .map(|(end, line)| end.saturating_sub(line));
        Some(Location {
            file: file.clone(),
            line,
            end_line: line
                .zip(length)
                .map(|(line, length)| line.saturating_add(length)),
        })
    }
}

impl TreeQuery<'_> {
    /// Returns the findings, sorted by four criteria: open before closed, mandatory before optional, severity, and
    /// location.
    pub fn findings(self) -> Result<Vec<TreeFinding>, RunError> {
        let rows = self.journal.runs(None)?;
        let known = self.journal.known_problems()?;
        let mut raised = newest(known.findings, &rows);
        let has_tree = !self.workspace.is_absent();
        if has_tree {
            self.place(&mut raised)?;
        }
        let texts: RefCell<BTreeMap<String, String>> = RefCell::default();
        let text_of = |path: &str| {
            let mut texts = texts.borrow_mut();
            let text = texts
                .entry(path.to_owned())
                .or_insert_with(|| self.workspace.read(path).unwrap_or_default());
            text.clone()
        };
        let bindings = self.bindings()?;
        let mut outcomes: BTreeMap<&RunId, Option<Outcome>> = BTreeMap::new();
        let mut found = Vec::new();
        for raised in raised {
            let run = &raised.row.run;
            if !outcomes.contains_key(run) {
                let state = ReviewState::of(&self.journal.events(run)?);
                outcomes.insert(
                    run,
                    outcome::outcome(&state, run, ExitReason::Clean, 0, Vec::new()),
                );
            }
            let Some(outcome) = outcomes.get(run).and_then(Option::as_ref) else {
                continue;
            };
            let Some(settled) = outcome.finding(raised.finding.id) else {
                continue;
            };
            let (settled, own) = by_own_ruling(settled, outcome, &bindings, &|binding| {
                !raised.has_left(binding, &text_of)
            });
            found.push((raised, settled, own));
        }
        let others = self.by_other_rulings(&found, &bindings, &text_of);
        let mut listed: Vec<TreeFinding> = found
            .into_iter()
            .zip(1..)
            .map(|((raised, mut settled, _), number)| {
                if let Some(event) = others.get(&FindingId::new(number)) {
                    apply(&mut settled, event);
                }
                let standing = standing(&raised, &settled, &rows, has_tree);
                let run = raised.row.run.clone();
                let started = raised.row.started;
                let now = raised.location();
                TreeFinding {
                    run,
                    started,
                    standing,
                    now,
                    settled,
                }
            })
            .collect();
        listed.sort_by_cached_key(|finding| {
            let raw = &finding.settled.finding.raw;
            let place = finding.now.clone().or_else(|| raw.location());
            let is_optional = !finding.settled.finding.mandatory;
            (
                !finding.standing.is_open(),
                is_optional,
                raw.severity.tag,
                place,
                finding.settled.finding.id,
            )
        });
        Ok(listed)
    }

    /// The outcome of the newest run with these findings in the place of its own, at their places in the tree. `None` if
    /// there is no run.
    pub fn report(
        self,
        found: Vec<TreeFinding>,
        state_dir: &Path,
    ) -> Result<Option<Recorded>, RunError> {
        let rows = self.journal.runs(None)?;
        let Some(newest) = rows.first() else {
            return Ok(None);
        };
        let Recorded { outcome, .. } =
            view::recorded(self.workspace, state_dir, self.journal, &newest.run)?;
        let findings: Vec<SettledFinding> = found.into_iter().map(TreeFinding::at_place).collect();
        let files = findings
            .iter()
            .filter_map(|settled| settled.finding.raw.file.clone());
        let reviewed = Sources::of_tree(self.workspace, files.collect());
        let exit = match findings.iter().any(SettledFinding::blocks) {
            true => ExitReason::FindingsOpen,
            false => ExitReason::Clean,
        };
        // Each field is named: of the run stay what was read, when and in which state, and its disputes.
        let proof = Proof {
            commit: outcome.proof.commit,
            tree: outcome.proof.tree,
            target: "this tree, from all runs".to_owned(),
            covered: outcome.proof.covered,
            skipped: Vec::new(),
            unread: Vec::new(),
            reviewers: Vec::new(),
            reused: Vec::new(),
            millis: outcome.proof.millis,
            usage: Usage::default(),
            calls: 0,
            caps: Caps::default(),
        };
        let outcome = Outcome {
            schema: Outcome::SCHEMA,
            run: outcome.run,
            exit,
            proof,
            findings,
            hidden_older: 0,
            loosened: Vec::new(),
            disputes: outcome.disputes,
            no_longer_raised: Vec::new(),
            changes: Vec::new(),
            undoable: false,
            worktree: None,
            failures: Vec::new(),
            rounds: 0,
            notices: Vec::new(),
        };
        Ok(Some(Recorded { outcome, reviewed }))
    }

    fn place(self, raised: &mut [Raised<'_>]) -> Result<(), RunError> {
        let anchors: Vec<&Anchor> = raised
            .iter()
            .flat_map(|raised| raised.finding.anchored())
            .map(|(_, anchor)| anchor)
            .collect();
        let is_moved = |place: &BlockPlace| place.lines.end() - place.lines.start() + 1 >= MOVED;
        let mut places = self.workspace.places(&anchors)?.into_iter();
        for raised in raised {
            let mut first = None;
            for (number, (_, anchor)) in raised.finding.anchored().enumerate() {
                let place = places.next().flatten();
                let place = place.filter(|place| place.file == anchor.file || is_moved(place));
                first = first.or(place.map(|place| (number, place)));
            }
            raised.place = first;
        }
        Ok(())
    }

    /// The rulings that a review of uncommitted changes would apply.
    fn bindings(self) -> Result<Vec<Binding>, RunError> {
        let base = self.workspace.rulings_base(&TargetSpec::Uncommitted)?;
        let shared = SharedRulings::at(self.workspace, base.as_deref())?.bindings();
        let max_age = &self.settings.rulings.max_age;
        let mut bindings = rulings::known(Some(self.journal), &shared, max_age)?;
        bindings.retain(|binding| binding.ended.is_none());
        Ok(bindings)
    }

    /// Finds the findings in `found` to which a ruling of another run applies. Each key of the returned map is the
    /// number of a finding in `found`, counted from 1. The value is the event that a review would record about the
    /// ruling.
    fn by_other_rulings(
        self,
        found: &[(Raised<'_>, SettledFinding, bool)],
        bindings: &[Binding],
        text_of: &dyn Fn(&str) -> String,
    ) -> BTreeMap<FindingId, ReviewEvent> {
        // Findings of different runs can have the same id, so the findings are numbered again.
        let numbered = found
            .iter()
            .zip(1..)
            .filter(|((raised, _, own), _)| !own && raised.place.is_some());
        let numbered: Vec<Finding> = numbered
            .map(|((raised, ..), number)| Finding {
                id: FindingId::new(number),
                anchor: raised.anchor_now(text_of),
                ..Finding::clone(&raised.finding)
            })
            .collect();
        let state = ReviewState::default();
        let lists = MergeSettings::of(&self.settings.review);
        let round = Round {
            state: &state,
            lists: &lists,
            text_of,
            past: None,
        };
        let events = recognition::earlier(&numbered, bindings, &round).into_iter();
        let ruled = events.filter_map(|event| match event {
            EventKind::Review(
                event @ (ReviewEvent::AlreadyRuled { finding, .. }
                | ReviewEvent::StillDisputed { finding, .. }),
            ) => Some((finding, event)),
            _ => None,
        });
        ruled.collect()
    }
}

/// The findings, each as the newest run that raised it recorded it. `known` begins with the newest run.
fn newest(known: Vec<KnownFinding>, rows: &[RunRow]) -> Vec<Raised<'_>> {
    let by_run: HashMap<&RunId, &RunRow> = rows.iter().map(|row| (&row.run, row)).collect();
    let mut problems = HashSet::new();
    let mut seen = HashSet::new();
    let mut raised = Vec::new();
    for earlier in known {
        // A finding that was recorded under an alias is listed only if no later run raised the problem.
        let is_new = match earlier.member {
            Some(member) => seen.insert((earlier.number, member.max(1))),
            None => !problems.contains(&earlier.number),
        };
        problems.insert(earlier.number);
        if let Some(row) = by_run.get(&earlier.run).copied().filter(|_| is_new) {
            raised.push(Raised {
                row,
                finding: earlier.finding,
                place: None,
            });
        }
    }
    raised
}

/// Updates the state of a finding according to the ruling that applied in the finding's run. The returned flag is
/// true if the ruling is still in force. If the ruling is no longer in force, the finding is open.
fn by_own_ruling(
    settled: &SettledFinding,
    outcome: &Outcome,
    bindings: &[Binding],
    is_in_force: &dyn Fn(&Binding) -> bool,
) -> (SettledFinding, bool) {
    let mut settled = settled.clone();
    let own = match &settled.state {
        FindingState::AlreadyRuled { dispute, .. } => Some(dispute.clone()),
        _ => outcome
            .dispute_of(&settled)
            .map(|dispute| RulingRef::from(dispute.number)),
    };
    let own = own.or_else(|| {
        settled
            .lowered
            .as_ref()
            .map(|lowered| lowered.dispute.clone())
    });
    let Some(own) = own.filter(|_| settled.finding.anchor.is_some()) else {
        return (settled, false);
    };
    let binding = bindings.iter().find(|binding| binding.dispute == own);
    match binding.filter(|binding| is_in_force(binding)) {
        Some(binding) => {
            if let FindingState::AlreadyRuled {
                dispute,
                disposition,
            } = &mut settled.state
            {
                match (&binding.disposition, dispute.number()) {
                    (Some(now), _) => *disposition = now.clone(),
                    (None, Some(number)) => {
                        settled.state = FindingState::Disputed { dispute: number }
                    }
                    (None, None) => {}
                }
            }
            (settled, true)
        }
        None => {
            let is_ruled = matches!(
                settled.state,
                FindingState::AlreadyRuled { .. }
                    | FindingState::Dismissed { .. }
                    | FindingState::Enforced { .. }
                    | FindingState::Disputed { .. }
                    | FindingState::Discarded
            );
            if is_ruled {
                settled.state = FindingState::Open;
            }
            if let Some(lowered) = settled.lowered.take() {
                settled.finding.raw.severity = lowered.was;
                settled.finding.mandatory = true;
            }
            (settled, false)
        }
    }
}

/// Applies a ruling that was given on the same finding in another run.
fn apply(settled: &mut SettledFinding, event: &ReviewEvent) {
    match event {
        ReviewEvent::AlreadyRuled {
            dispute,
            new_tag: Some(tag),
            ..
        } if settled.lowered.is_none() => {
            let was = std::mem::replace(&mut settled.finding.raw.severity, Severity::known(*tag));
            settled.finding.mandatory = false;
            settled.lowered = Some(Lowered {
                was,
                dispute: dispute.clone(),
            });
        }
        ReviewEvent::AlreadyRuled {
            dispute,
            disposition,
            new_tag: None,
            insisted,
            ..
        } => {
            let is_fixed = matches!(
                settled.state,
                FindingState::Resolved | FindingState::Unchecked
            );
            // A fixed finding remains fixed if the ruling enforced the finding.
            if *disposition != Disposition::Enforced || !is_fixed {
                settled.insisted = *insisted;
                settled.state = FindingState::AlreadyRuled {
                    dispute: dispute.clone(),
                    disposition: disposition.clone(),
                };
            }
        }
        ReviewEvent::StillDisputed { dispute, .. } => {
            settled.state = FindingState::Disputed { dispute: *dispute }
        }
        _ => {}
    }
}

fn standing(
    raised: &Raised<'_>,
    settled: &SettledFinding,
    rows: &[RunRow],
    has_tree: bool,
) -> Standing {
    let is_fixed = matches!(
        settled.state,
        FindingState::Resolved | FindingState::Unchecked | FindingState::Reverted
    );
    let is_undone = raised.row.undone || settled.state == FindingState::Reverted;
    let mut newer = rows.iter().take_while(|row| row.run != raised.row.run);
    let is_replaced = newer.any(|row| row.ended.is_some() && row.target == raised.row.target);
    let anchor = raised.finding.anchor.as_ref().filter(|_| has_tree);
    match (anchor, &raised.place) {
        (_, Some(_)) if is_fixed => Standing::Reverted,
        (None, _) if is_fixed && is_undone => Standing::Reverted,
        // The fix was undone, and the code was changed after that.
        (Some(_), None) if is_fixed && is_undone => Standing::Gone,
        _ if settled.state.is_closed() || settled.finding.is_rejected() => Standing::Closed,
        (Some(_), None) => Standing::Gone,
        (None, _) if is_replaced => Standing::Gone,
        _ => Standing::Open,
    }
}
