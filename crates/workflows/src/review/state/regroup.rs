//! Changes recorded findings: their tags after a ruling, and their ids after their group changed.

use std::collections::BTreeSet;

use super::ReviewState;
use glee_model::domain::{
    DisputeNumber, Finding, FindingId, Lowered, RestatedFinding, RulingRef, Severity, Tag,
};

impl ReviewState {
    pub(super) fn raise(&mut self, id: FindingId, by: &RulingRef) {
        let lowered = self.progress_mut(id).lowered.take();
        let Some(lowered) = lowered.filter(|lowered| lowered.dispute == *by) else {
            return;
        };
        if let Some(finding) = self.finding_mut(id) {
            finding.mandatory = true;
            finding.raw.severity = lowered.was;
        }
    }

    /// A dispute about a finding, or a ruling that enforces it, counts whether or not the finding is older than the
    /// change.
    pub(super) fn require(&mut self, id: FindingId) {
        if let Some(finding) = self.finding_mut(id) {
            finding.mandatory |= finding.older;
        }
    }

    pub(super) fn lower(&mut self, number: DisputeNumber) {
        let Some(dispute) = self.disputes.get(&number) else {
            return;
        };
        let Some(tag) = dispute.new_tag() else { return };
        let lowered: Vec<FindingId> = dispute.findings().map(|finding| finding.id).collect();
        for id in lowered {
            self.retag(id, tag, number.into());
        }
    }

    pub(super) fn retag(&mut self, id: FindingId, tag: Tag, dispute: RulingRef) {
        let Some(finding) = self.finding_mut(id) else {
            return;
        };
        finding.mandatory = false;
        let was = std::mem::replace(&mut finding.raw.severity, Severity::known(tag));
        self.progress_mut(id).lowered = Some(Lowered { was, dispute });
    }

    /// Adds a finding. The findings stay in the order of their ids.
    pub(super) fn insert(&mut self, finding: Finding) {
        let place = self.findings.partition_point(|known| known.id < finding.id);
        self.findings.insert(place, finding);
    }

    pub(super) fn restate(&mut self, restated: &[RestatedFinding]) {
        for RestatedFinding { finding, said } in restated {
            if let Some(finding) = self.finding_mut(*finding) {
                finding.restated.push(said.clone());
            }
        }
    }

    /// Takes over findings whose group changed.
    pub(super) fn regroup(&mut self, findings: &[Finding]) {
        for finding in findings {
            if let Some(was) = finding.was {
                self.rename(was, finding.id);
            }
            match self.place(finding.id) {
                Some(known) => {
                    let tag = self.findings[known].raw.severity.tag;
                    self.findings[known] = finding.clone();
                    // A ruling that lowered the tag of a finding still applies.
                    let lowered = self.progress(finding.id).lowered.as_ref();
                    if let Some(tag) = tag
                        && let Some(lowered) = lowered
                    {
                        self.retag(finding.id, tag, lowered.dispute.clone());
                    }
                }
                None => self.insert(finding.clone()),
            }
        }
    }

    /// Moves a finding to another id. The calls that asked about it, and the disputes that it left, keep the former id.
    fn rename(&mut self, from: FindingId, to: FindingId) {
        if let Some(place) = self.place(from) {
            let mut finding = self.findings.remove(place);
            finding.id = to;
            self.insert(finding);
        }
        if let Some(mut progress) = self.progress.remove(&from) {
            if let Some(response) = &mut progress.response {
                response.finding = to;
            }
            self.progress.insert(to, progress);
        }
        for ids in [&mut self.fixing, &mut self.handed_over] {
            ids.iter_mut().for_each(|ids| replace(ids, from, to));
        }
        for change in &mut self.tree_changes {
            replace(&mut change.touched, from, to);
            for partly in &mut change.partly {
                if partly.finding == from {
                    partly.finding = to;
                }
            }
        }
        for finding in &mut self.findings {
            let others = finding.may_be.iter_mut().chain(&mut finding.reverses);
            for other in others.filter(|other| **other == from) {
                *other = to;
            }
        }
    }

    /// Keeps in mind that members which left a group are not the same as those that stayed.
    pub(super) fn separate(&mut self, findings: &[Finding]) {
        for one in findings {
            let others = findings
                .iter()
                .filter(|other| other.id.number != one.id.number);
            for other in others {
                let was = one.was.filter(|was| was.number == other.id.number);
                self.separated.extend(was.map(|was| (was, one.id)));
                for said in one.sources() {
                    let pairs = other
                        .sources()
                        .map(|other| (said.to_owned(), other.to_owned()));
                    self.apart.extend(pairs);
                }
            }
        }
    }
}

fn replace(ids: &mut BTreeSet<FindingId>, from: FindingId, to: FindingId) {
    if ids.remove(&from) {
        ids.insert(to);
    }
}
