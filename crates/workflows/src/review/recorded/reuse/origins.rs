//! Finds the origin of each reused finding: a merged finding of an earlier run.

use std::collections::{BTreeMap, HashMap};

use super::archive::placed;
use crate::review::state::ReviewState;
use glee_model::domain::{AgentName, FindingId, RawFinding, RunId, Untrusted};
use glee_store::history::store::Journal;

pub(crate) struct Origins<'a> {
    journal: &'a Journal,
    runs: HashMap<RunId, MergedRun>,
}

/// The file and the line of a finding, as the reviewer wrote them.
type Place = (Option<String>, Option<u32>);

/// A finding, and the merged finding that it is part of.
struct MergedInto {
    /// Whether the finding is the merged finding itself. Otherwise the reviewer's answer contains it.
    is_merged: bool,
    finding: FindingId,
    raw: RawFinding,
}

impl MergedInto {
    fn rank(&self) -> (bool, FindingId) {
        (self.is_merged, self.finding)
    }
}

/// The merged findings of a run, by the reviewer and the title, then by the place.
#[derive(Default)]
struct MergedRun(HashMap<(AgentName, Untrusted), BTreeMap<Place, MergedInto>>);

impl MergedRun {
    fn of(state: &ReviewState) -> Self {
        let mut merged = Self::default();
        // A finding of an answer can be in several merged findings. The first one counts.
        let latest_first = state.findings.iter().rev();
        let by_source: HashMap<&str, FindingId> = latest_first
            .flat_map(|finding| finding.sources().map(|source| (source, finding.id)))
            .collect();
        for (reviewer, raised) in state.raised() {
            if let Some(finding) = by_source.get(raised.id.as_str()) {
                merged.add(
                    reviewer,
                    MergedInto {
                        is_merged: false,
                        finding: *finding,
                        raw: raised.raw.clone(),
                    },
                );
            }
        }
        for finding in &state.findings {
            for reviewer in &finding.raised_by {
                merged.add(
                    reviewer,
                    MergedInto {
                        is_merged: true,
                        finding: finding.id,
                        raw: finding.raw.clone(),
                    },
                );
            }
        }
        merged
    }

    /// The reviewer's answer takes precedence over the merged finding, and the lower number over the higher.
    fn add(&mut self, by: &AgentName, merged: MergedInto) {
        let title = merged.raw.title.clone();
        let of_title = self.0.entry((by.clone(), title)).or_default();
        let known = of_title.get(&place(&merged.raw));
        if known.is_none_or(|known| merged.rank() < known.rank()) {
            of_title.insert(place(&merged.raw), merged);
        }
    }

    /// The merged finding with the reviewer's title and place. Without one, the place of a merged finding can be written
    /// in another way.
    fn find(&self, by: &AgentName, raw: &RawFinding) -> Option<FindingId> {
        let of_title = self.0.get(&(by.clone(), raw.title.clone()))?;
        if let Some(merged) = of_title.get(&place(raw)) {
            return Some(merged.finding);
        }
        let path = raw.file.as_deref()?;
        let found = of_title.values().filter(|merged| {
            placed(&merged.raw, &[path]).is_some_and(|(_, merged)| place(&merged) == place(raw))
        });
        let first = found.min_by_key(|merged| merged.rank());
        first.map(|merged| merged.finding)
    }
}

fn place(raw: &RawFinding) -> Place {
    (raw.file.clone(), raw.line)
}

impl<'a> Origins<'a> {
    pub(super) fn new(journal: &'a Journal) -> Self {
        Self {
            journal,
            runs: HashMap::new(),
        }
    }

    /// `raw` is a finding from an answer that the run recorded for reuse. Returns `None` if the run did not
    /// merge the finding.
    pub(super) fn of(
        &mut self,
        run: &RunId,
        reviewer: &AgentName,
        raw: &RawFinding,
    ) -> Option<FindingId> {
        let merged = self.runs.entry(run.clone()).or_insert_with(|| {
            // An unreadable origin does not make the review fail: the finding is recognised by its anchor instead.
            MergedRun::of(&ReviewState::of(
                &self.journal.events(run).unwrap_or_default(),
            ))
        });
        merged.find(reviewer, raw)
    }
}
