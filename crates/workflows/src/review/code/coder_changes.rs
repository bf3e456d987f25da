//! After each call, records how the coder changed the tree. Selects the changes that are reviewed in the next
//! round.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::review::plan::shard_limit;
use crate::review::state::ReviewState;
use crate::run::error::RunError;
use glee_model::domain::event::{
    CallId, EventKind, PartlyChanged, ReviewEvent, Staged, TreeChange,
};
use glee_model::domain::{AgentName, Anchor, FileChange, Finding, Location, RunId, meanings};
use glee_protocol::text::references::references;
use glee_store::config::choices::FixScope;
use glee_store::config::settings::Settings;
use glee_workspace::{
    Restaged, SelectOptions, SelectionRules, Since, TreeId, code::anchors::Blocks, root::Workspace,
};

#[derive(Clone, Copy)]
pub struct Trees<'a> {
    pub workspace: &'a Workspace,
    pub state_dir: &'a Path,
}

impl Trees<'_> {
    pub fn read_at(&self, tree: &str, path: &str) -> Option<Vec<u8>> {
        self.workspace
            .read_at(&TreeId(tree.to_owned()), path, self.state_dir)
    }

    fn changes(&self, before: &str, after: &str) -> Result<Vec<FileChange>, RunError> {
        let before = TreeId(before.to_owned());
        let after = TreeId(after.to_owned());
        Ok(self.workspace.changes(&before, &after, self.state_dir)?)
    }

    pub fn record(
        &self,
        state: &ReviewState,
        call: &CallId,
        run: &RunId,
    ) -> Result<EventKind, RunError> {
        let put_back = match state.settings.review.fix.scope {
            FixScope::Any => Vec::new(),
            FixScope::Findings => {
                let sent: Vec<&Finding> = sent_to(state, &call.agent).collect();
                let is_named = |path: &str| sent.iter().any(|finding| names(finding, path));
                self.workspace.put_back(run, &is_named, self.state_dir)?
            }
        };
        let before = last_tree(state);
        let tree = self.workspace.left(run, self.state_dir)?.0;
        let changes = match before {
            Some(before) => self.changes(before, &tree)?,
            None => Vec::new(),
        };
        let texts: Vec<(&str, Option<String>, String)> = changes
            .iter()
            .map(|change| {
                let earlier = before.and_then(|tree| self.read_at(tree, &change.file));
                let earlier = earlier.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                (
                    change.file.as_str(),
                    earlier,
                    self.workspace.read(&change.file).unwrap_or_default(),
                )
            })
            .collect();
        let is_anchored: BTreeSet<&str> = state
            .findings
            .iter()
            .flat_map(Finding::anchored)
            .map(|(_, anchor)| anchor.file.as_str())
            .collect();
        // The map has an entry for every changed file. Only a file that contains the anchor of a finding is
        // parsed.
        let changed: BTreeMap<&str, Option<Versions<'_>>> = texts
            .iter()
            .map(|(file, before, now)| {
                let versions = is_anchored.contains(file).then(|| Versions {
                    before: before.as_deref().map(|text| Blocks::of(file, text)),
                    now: Blocks::of(file, now),
                });
                (*file, versions)
            })
            .collect();
        let mut touched = BTreeSet::new();
        let mut partly = Vec::new();
        let placeless = state.findings.iter().filter(|finding| !has_place(finding));
        // What was put back may have been the fix of a finding without a place.
        let placeless = placeless.filter(|_| put_back.is_empty());
        let own = state.of_coder(&call.agent, placeless.map(|finding| finding.id));
        for finding in &state.findings {
            if !has_place(finding) && !own.contains(&finding.id) {
                continue;
            }
            match changed_places(finding, &changed, state) {
                Changed::No => {}
                Changed::Partly(unchanged) => partly.push(PartlyChanged {
                    finding: finding.id,
                    unchanged,
                }),
                Changed::Yes => drop(touched.insert(finding.id)),
            }
        }
        Ok(ReviewEvent::TreeChanged(TreeChange {
            call: call.clone(),
            tree,
            changes,
            put_back,
            touched,
            partly,
        })
        .into())
    }

    pub(crate) fn changed_target(
        &self,
        state: &ReviewState,
        round: u32,
        settings: &Settings,
        rules: Option<&SelectionRules>,
    ) -> Result<Since, RunError> {
        let tree = TreeId(tree_before_round(state, round).cloned().unwrap_or_default());
        let options = SelectOptions {
            max_file: settings.review.max_file_size,
            shard: shard_limit(settings),
            context: settings.review.context,
        };
        Ok(self
            .workspace
            .select_since(&tree, rules, self.state_dir, &options)?)
    }

    /// After a review of staged changes with `--restage`, adds the coder's changes to the index. Returns the files
    /// that were added to the index, and the changed files that are not in the index.
    pub fn restage(&self, state: &ReviewState) -> Result<Option<Restaged>, RunError> {
        if let Some(staged) = state.plan().staged
            && let Some((_, before)) = &state.before
            && let Some(after) = last_tree(state)
        {
            return Ok(Some(self.workspace.restage(
                &TreeId(before.clone()),
                &TreeId(after.clone()),
                self.state_dir,
                staged == Staged::Restaged,
            )?));
        }
        Ok(None)
    }

    pub(crate) fn all_changes(&self, state: &ReviewState) -> Result<Vec<FileChange>, RunError> {
        match (&state.before, last_tree(state)) {
            (Some((_, before)), Some(last)) if before != last => self.changes(before, last),
            _ => Ok(Vec::new()),
        }
    }
}

pub(crate) fn restage_notices(state: &ReviewState, restaged: &Restaged) -> Vec<EventKind> {
    let mut texts = Vec::new();
    if !restaged.staged.is_empty() {
        texts.push(format!(
            "staged the coder's changes: {}",
            quoted(&restaged.staged)
        ));
    }
    if !restaged.left.is_empty() {
        let files = quoted(&restaged.left);
        texts.push(match state.plan().staged {
            Some(Staged::Restaged) => format!(
                "not staged, because the work tree differed from the index before the run, or git converts the file: \
                 {files}; the index still has the old code: stage it with `git add {files}`"
            ),
            Some(Staged::Left) | None => {
                format!("the index still has the old code: stage it with `git add {files}`, or use --restage")
            }
        });
    }
    texts.into_iter().map(EventKind::notice).collect()
}

fn quoted(files: &[String]) -> String {
    let quoted = files
        .iter()
        .map(|file| shlex::try_quote(file).map_or(file.clone(), Cow::into_owned));
    quoted.collect::<Vec<_>>().join(" ")
}

/// The findings that a coder was asked about in this run so far.
fn sent_to<'a>(state: &'a ReviewState, coder: &AgentName) -> impl Iterator<Item = &'a Finding> {
    let asked = state.findings.iter().filter(|finding| {
        let is_sent = !state.progress(finding.id).asked_after.is_empty();
        is_sent || state.dispute_of(finding.id).is_some()
    });
    let asked = state.of_coder(coder, asked.map(|finding| finding.id));
    let findings = state.findings.iter();
    findings.filter(move |finding| asked.contains(&finding.id))
}

/// Whether a finding names a file: in its places, its evidence, its proposed fix or its demonstration.
pub(crate) fn names(finding: &Finding, path: &str) -> bool {
    let raw = &finding.raw;
    let from = raw.file.as_deref().unwrap_or_default();
    let texts = raw.evidence.iter().chain(&raw.suggestion);
    let mut cited = texts.flat_map(|text| references(text.as_written()));
    let demonstration = raw.demonstration.as_ref();
    raw.files().any(|file| file == path)
        || demonstration.is_some_and(|demonstration| demonstration.path == path)
        || cited.any(|cited| meanings(&cited.path, from).any(|meaning| meaning == path))
}

struct Versions<'a> {
    before: Option<Blocks<'a>>,
    now: Blocks<'a>,
}

/// The changed files of a call.
type ChangedFiles<'a> = BTreeMap<&'a str, Option<Versions<'a>>>;

enum Changed {
    No,
    /// The places that the coder has not changed since the coder first received the finding.
    Partly(Vec<Location>),
    Yes,
}

fn has_place(finding: &Finding) -> bool {
    finding.anchored().next().is_some()
}

/// Determines whether the changes in `changed` possibly affect a finding. A finding without an anchor is affected by
/// every change of its coder.
fn changed_places(finding: &Finding, changed: &ChangedFiles<'_>, state: &ReviewState) -> Changed {
    if !has_place(finding) {
        return if changed.is_empty() {
            Changed::No
        } else {
            Changed::Yes
        };
    }
    let touched: Vec<Location> = finding
        .anchored()
        .filter(|(_, anchor)| is_touched(anchor, changed))
        .map(|(place, _)| place)
        .collect();
    if touched.is_empty() {
        return Changed::No;
    }
    let mut unchanged = state.unchanged_places(finding);
    unchanged.retain(|place| !touched.contains(place));
    if unchanged.is_empty() {
        Changed::Yes
    } else {
        Changed::Partly(unchanged)
    }
}

/// Whether the changes in `changed` possibly affect an anchor: the anchor's block is missing in the old or in the new
/// version of the file. If the file has no old version, only the new version is checked.
fn is_touched(anchor: &Anchor, changed: &ChangedFiles<'_>) -> bool {
    let Some(Some(file)) = changed.get(anchor.file.as_str()) else {
        return false;
    };
    file.before
        .as_ref()
        .is_some_and(|before| before.place(anchor).is_none())
        || file.now.place(anchor).is_none()
}

pub(crate) fn tree_before_round(state: &ReviewState, round: u32) -> Option<&String> {
    let earlier = state
        .tree_changes
        .iter()
        .rev()
        .find(|change| change.call.purpose.round() < Some(round));
    earlier
        .map(|change| &change.tree)
        .or(state.before.as_ref().map(|(_, tree)| tree))
}

pub(crate) fn last_tree(state: &ReviewState) -> Option<&String> {
    tree_before_round(state, u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use glee_model::domain::event::Purpose;
    use glee_model::domain::{Answer, FindingId, FindingState, RawFinding, Response};
    use glee_model::rules::review::progress::Progress;

    const FILES: [&str; 3] = ["a.py", "b.py", "c.py"];

    fn text(file: usize, version: usize) -> String {
        format!("def f{file}():\n    return {version}\n")
    }

    /// A finding in the first line of each file.
    fn finding() -> Finding {
        let value = serde_json::json!({
            "id": "F1", "tag": "MUST", "tag_raw": "MUST", "title": "x", "file": "a.py", "line": 1, "end_line": null,
            "places": [
                {"file": "b.py", "line": 1, "end_line": null}, {"file": "ghost.py", "line": 1, "end_line": null},
                {"file": "c.py", "line": 1, "end_line": null},
            ],
            "raised_by": ["r"], "round": 1, "mandatory": true
        });
        let mut finding: Finding = serde_json::from_value(value).expect("a finding");
        let anchor = |file: usize| Blocks::of(FILES[file], &text(file, 0)).anchor(&finding.raw);
        let [a, b, c] = [0, 1, 2].map(anchor);
        finding.anchor = Some(a);
        finding.also = vec![Some(b), None, Some(c)];
        finding
    }

    fn places(files: impl Iterator<Item = usize>) -> Vec<Location> {
        files.map(|file| Location::line(FILES[file], 1)).collect()
    }

    proptest! {
        /// A finding is done if the coder changed each of its places since the coder first received the finding, and
        /// a place since the coder last received the finding. A place that does not exist is ignored.
        #[test]
        fn a_finding_is_done_when_each_of_its_places_changed(
            steps in prop::collection::vec((prop::bool::weighted(0.3), prop::collection::btree_set(0..3_usize, 0..3)), 1..7),
        ) {
            let id = FindingId::new(1);
            let finding = finding();
            let mut state = ReviewState { findings: vec![finding.clone()], ..ReviewState::default() };
            let response = Response {
                finding: id,
                answer: Answer::Implemented,
                text: "done".into(),
                evidence: Vec::new(),
                demonstration: None,
            };
            let progress = Progress { response: Some(response), asked_after: vec![0], ..Progress::default() };
            state.progress.insert(id, progress);
            let mut versions = [0; 3];
            let mut changed = BTreeSet::new();
            let mut is_answered = false;
            for (is_asked_again, files) in steps {
                if is_asked_again {
                    let changes = state.tree_changes.len();
                    state.progress_mut(id).asked_after.push(changes);
                    is_answered = false;
                }
                let before = [0, 1, 2].map(|file| text(file, versions[file]));
                files.iter().for_each(|file| versions[*file] += 1);
                let now = [0, 1, 2].map(|file| text(file, versions[file]));
                let in_call: ChangedFiles<'_> = files
                    .iter()
                    .map(|file| (FILES[*file], Some(Versions {
                        before: Some(Blocks::of(FILES[*file], &before[*file])),
                        now: Blocks::of(FILES[*file], &now[*file]),
                    })))
                    .collect();
                let mut change = TreeChange {
                    call: CallId { agent: AgentName::from("c"), purpose: Purpose::Respond { round: 1 }, attempt: 1 },
                    tree: "t".into(),
                    changes: Vec::new(),
                    put_back: Vec::new(),
                    touched: BTreeSet::new(),
                    partly: Vec::new(),
                };
                match changed_places(&finding, &in_call, &state) {
                    Changed::No => {}
                    Changed::Partly(unchanged) => change.partly.push(PartlyChanged { finding: id, unchanged }),
                    Changed::Yes => drop(change.touched.insert(id)),
                }
                state.tree_changes.push(change);
                is_answered |= !files.is_empty();
                changed.extend(files);
                let left = places((0..3).filter(|file| !changed.contains(file)));
                prop_assert_eq!(state.is_done(id), left.is_empty() && is_answered);
                let is_claimed = state.finding_state(&finding) == FindingState::Claimed;
                prop_assert_eq!(is_claimed, !state.is_done(id));
                let shown = if left.len() == 3 { Vec::new() } else { left };
                prop_assert_eq!(state.unchanged_part(&finding), shown);
            }
        }
    }

    #[test]
    fn a_finding_without_a_place_is_affected_by_every_change() {
        let lost = Finding {
            anchor: None,
            also: Vec::new(),
            raw: RawFinding::default(),
            ..finding()
        };
        let state = ReviewState::default();
        let changed: ChangedFiles<'_> = BTreeMap::from([("x.py", None)]);
        assert!(matches!(
            changed_places(&lost, &changed, &state),
            Changed::Yes
        ));
        assert!(matches!(
            changed_places(&lost, &BTreeMap::new(), &state),
            Changed::No
        ));
    }
}
