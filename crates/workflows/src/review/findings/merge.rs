//! Merges the answers of reviewers into the numbered findings of a round.
//!
//! The merge maps severities to tags, computes anchors, and groups equal findings of several reviewers
//! (`rules::consensus`). The merge also recognises findings that repeat an earlier dispute or would undo an earlier
//! change. Repetitions of an open finding are dropped.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::review::code::edits;
use crate::review::findings::numbered::{NewFinding, Numbered};
use crate::review::findings::places::{KnownPaths, at_line_zero};
use crate::review::findings::round::{Round, RoundContext, TextOf};
use crate::review::findings::{pairs, recognition, replacement};
use crate::review::state::{ReviewState, raised::RaisedFinding};
use glee_model::domain::event::{CallAnswer, CallId, EventKind, Purpose, ReviewEvent};
use glee_model::domain::{
    AdvisoryStatus, AgentName, Confidence, Corroboration, Finding, FindingId, Position, RawFinding,
    Restated, Role, Severity, Untrusted,
};
use glee_model::rules::consensus::{
    self, CheckedEvidence, Debate, Group, GroupState, Level, Member,
};
use glee_model::rules::review::{mandatory, reversal};
use glee_protocol::merge_input;
use glee_store::config::choices::OlderFindings;
use glee_store::config::settings::Advisories;
use glee_store::history::queries::rows::Binding;
use glee_workspace::advisories::check;
use glee_workspace::code::anchors::Blocks;
use glee_workspace::code::citation;
use glee_workspace::code::reach::ChangeReach;

const GLEE: &str = "glee";

/// What is known of the findings of a round, by the ids of the raw findings.
struct Known {
    /// The findings of earlier runs that they repeat.
    origins: HashMap<String, FindingId>,
    older: BTreeSet<String>,
}

impl RoundContext<'_> {
    pub fn merge(&self, bindings: &[Binding]) -> Vec<EventKind> {
        let members = self.unmerged();
        let merged = consensus::merge(
            &members,
            &self.debate(),
            &self.tree(&members),
            self.lists.policy,
            &self.state.pair_answers(),
        );
        let mut groups = self.groups(&members, &Revisions::default(), &merged.groups);
        groups.sort_by(|a, b| place_of(a).cmp(&place_of(b)));
        let text_of = |path: &str| self.text(path);
        let Numbered {
            mut findings,
            joined,
            restated,
        } = self.numbered(groups, &HashMap::new(), bindings, &text_of);
        pairs::mark(&mut findings, &members, &merged.unsure);
        let ruled = recognition::earlier(&findings, bindings, &self.compared(&text_of));
        std::iter::once(EventKind::Review(ReviewEvent::FindingsMerged {
            round: self.round,
            findings,
            restated,
        }))
        .chain(joined)
        .chain(ruled)
        .collect()
    }

    pub fn compared<'b>(&'b self, text_of: TextOf<'b>) -> Round<'b> {
        Round {
            state: self.state,
            lists: &self.lists,
            text_of,
            past: self.past.as_ref(),
        }
    }

    pub fn unmerged(&self) -> Vec<Member> {
        let unmerged: BTreeSet<&CallId> = self.state.unmerged().collect();
        let mut members = self.raised(|id| unmerged.contains(id));
        if self.state.merged.is_empty() {
            members.extend(self.own());
        }
        members
    }

    /// Looks up new security findings in the advisory databases. Returns the results of the lookup, or a notice
    /// if the lookup fails.
    pub(crate) fn advise(
        &self,
        mut members: Vec<Member>,
        databases: &Advisories,
    ) -> Option<EventKind> {
        members.retain(|member| !self.state.advised.contains_key(&member.id));
        if let Err(error) = check::check(&mut members, self.workspace, databases) {
            let cause = std::error::Error::source(&error)
                .map(|cause| format!(" ({cause})"))
                .unwrap_or_default();
            let text = format!("{error}{cause}: no finding was checked against them");
            return (!self.state.notices.contains(&text)).then_some(EventKind::notice(text));
        }
        let answers = members
            .into_iter()
            .map(|member| (member.id, member.checked.advisory));
        let answers: BTreeMap<_, _> = answers
            .filter(|(_, said)| *said != AdvisoryStatus::Unasked)
            .collect();
        (!answers.is_empty()).then_some(EventKind::Review(ReviewEvent::AdvisoriesAsked { answers }))
    }

    /// Returns the findings in the answers to the calls that `wanted` selects. If a call was repeated, only the
    /// most complete answer counts.
    pub fn raised(&self, wanted: impl Fn(&CallId) -> bool) -> Vec<Member> {
        let mut best: BTreeMap<(&AgentName, &Purpose), (bool, &CallId, &[RawFinding])> =
            BTreeMap::new();
        for (id, call) in self.state.calls.iter().filter(|(id, _)| wanted(id)) {
            let CallAnswer::Review {
                status, findings, ..
            } = &call.answer
            else {
                continue;
            };
            let answer = (status.is_complete(), id, findings.as_slice());
            let known = best.entry((&id.agent, &id.purpose)).or_insert(answer);
            if (known.0, known.2.len()) <= (answer.0, answer.2.len()) {
                *known = answer;
            }
        }
        self.members(best.into_values().flat_map(|(_, id, findings)| {
            let raised = self.state.raised_in(id, findings).into_iter();
            raised.map(move |RaisedFinding { id: said, raw, .. }| (said, &id.agent, raw))
        }))
    }

    /// Maps the ids of raw findings to the findings of earlier runs that they repeat.
    pub fn origins(&self) -> HashMap<String, FindingId> {
        self.state
            .raised()
            .filter_map(|(_, raised)| Some((raised.id, raised.origin?)))
            .collect()
    }

    pub fn own(&self) -> Vec<Member> {
        let glee = AgentName::from(GLEE);
        let own = self.state.plan().own.iter().enumerate();
        self.members(own.map(|(index, raw)| (format!("{GLEE}/{index}"), &glee, raw)))
    }

    pub fn debate(&self) -> Debate {
        let reviewers = self
            .state
            .agents(Role::Reviewer)
            .map(|agent| agent.name.0.clone())
            .collect();
        Debate {
            reviewers,
            silent: self.state.without_review(self.round),
            ..Debate::default()
        }
    }

    pub fn paths(&self) -> Vec<String> {
        let covered = self.state.shards(self.round).iter().flatten();
        covered.map(|file| file.file.clone()).collect()
    }

    /// Returns the paths of the files in this round. If the file of a member exists, the result contains the path
    /// of this file, too.
    pub fn tree(&self, members: &[Member]) -> Vec<String> {
        let found = members.iter().filter(|member| member.anchor.is_some());
        self.paths()
            .into_iter()
            .chain(found.filter_map(|member| member.raw.file.clone()))
            .collect()
    }

    /// Converts raw findings to members: finds their files, normalises severities, computes anchors, and checks
    /// citations. Each item of `raised` contains a raw finding, the id of the finding, and the reviewer.
    pub fn members<'r>(
        &self,
        raised: impl Iterator<Item = (String, &'r AgentName, &'r RawFinding)>,
    ) -> Vec<Member> {
        let mut known = KnownPaths::new();
        // For each file, the numbers of members, and the numbers of their places. The main place has no number.
        let mut by_file: BTreeMap<String, Vec<(usize, Option<usize>)>> = BTreeMap::new();
        let mut all = Vec::new();
        for (id, by, raw) in raised {
            let at_zero = at_line_zero(raw);
            let raw = at_zero.as_ref().unwrap_or(raw);
            let mut member = self.member(id, by, raw.clone());
            if let Some(mut place) = raw.location() {
                let exists = self.resolve(&mut place, &mut known)
                    && self.has_line(&place)
                    && at_zero.is_none();
                if !exists && let Some(quoted) = self.quoted(raw, &place) {
                    member.corrected_from = Some(std::mem::replace(&mut place, quoted));
                }
                if exists || member.corrected_from.is_some() {
                    let indices = by_file.entry(place.file.clone()).or_default();
                    indices.push((all.len(), None));
                    member.raw.line = place.line;
                    member.raw.end_line = place.end_line;
                    member.raw.file = Some(place.file);
                } else {
                    member.checked.place = Some(false);
                }
            }
            let main = member.raw.location();
            for mut place in std::mem::take(&mut member.raw.places) {
                let exists = self.resolve(&mut place, &mut known);
                if main.as_ref() == Some(&place) || member.raw.places.contains(&place) {
                    continue;
                }
                if exists {
                    let indices = by_file.entry(place.file.clone()).or_default();
                    indices.push((all.len(), Some(member.raw.places.len())));
                }
                member.raw.places.push(place);
                member.also.push(None);
            }
            all.push(member);
        }
        for (path, indices) in by_file {
            let text = self.text(&path);
            let blocks = Blocks::of(&path, &text);
            for (index, place) in indices {
                let member = &mut all[index];
                match place {
                    Some(place) => {
                        member.also[place] =
                            blocks.anchor_at(&member.raw, &member.raw.places[place])
                    }
                    None => {
                        member.anchor = Some(blocks.anchor(&member.raw));
                        citation::check(member, &text, &blocks);
                    }
                }
            }
        }
        for member in &mut all {
            let reviewed = member
                .raw
                .file
                .as_deref()
                .and_then(|path| self.sources.file(self.round, path));
            replacement::check(member, reviewed.map(|file| file.text.as_str()));
        }
        all
    }

    fn member(&self, id: String, by: &AgentName, mut raw: RawFinding) -> Member {
        raw.severity = mandatory::normalised(raw.severity);
        // The name of a reviewer says nothing about its vendor: the user chose it.
        let vendor = self.state.agent(by).map(consensus::vendor_of);
        let checked = CheckedEvidence {
            confirmed: raw.rule.is_some(),
            advisory: self.state.advised.get(&id).cloned().unwrap_or_default(),
            ..CheckedEvidence::default()
        };
        let denies = merge_input::denies(raw.title.as_written());
        Member {
            id,
            model: by.0.clone(),
            vendor,
            denies,
            checked,
            raw,
            ..Member::default()
        }
    }

    pub fn text(&self, path: &str) -> String {
        self.sources.text(self.round, path, self.workspace)
    }

    /// Makes the findings of each group. Every member of a group is a finding of its own. Members that say the same in
    /// the same words are one finding. The first finding of a group is its head.
    pub fn groups(
        &self,
        members: &[Member],
        revisions: &Revisions,
        groups: &[Group],
    ) -> Vec<Vec<NewFinding>> {
        let known = Known {
            origins: self.origins(),
            older: self.older(members, revisions),
        };
        groups
            .iter()
            .map(|group| self.group(members, revisions, &known, group))
            .collect()
    }

    /// The ids of the mandatory findings about code that the change under review does not reach. The change is that of
    /// all rounds: what the coder changed in an earlier one counts, too. A finding at a place that does not exist can be
    /// about any code.
    fn older(&self, members: &[Member], revisions: &Revisions) -> BTreeSet<String> {
        let read = |path: &str| match self.sources.file(self.round, path) {
            Some(file) => Some(file.text.clone()),
            None => self.workspace.read(path),
        };
        let asked = members.iter().filter(|member| {
            member.model != GLEE
                && self.lists.is_mandatory(revisions.severity(member))
                && member.anchor.is_some()
                && member.checked.place != Some(false)
        });
        let asked: Vec<&Member> = asked.collect();
        if asked.is_empty() {
            return BTreeSet::new();
        }
        let files = (1..=self.round).flat_map(|round| self.sources.files(round));
        let skipped = self.state.skipped.iter().map(|skip| skip.file.as_str());
        let Some(reach) = ChangeReach::of(files, skipped, &read) else {
            return BTreeSet::new();
        };
        let names = reach.searched(asked.iter().map(|member| &member.raw), &read);
        // In a tree that cannot be searched, nothing is called older.
        let Ok(places) = self.workspace.named_places(&names) else {
            return BTreeSet::new();
        };
        asked
            .into_iter()
            .filter(|member| !reach.causes(&member.raw, &read, &places))
            .map(|member| member.id.clone())
            .collect()
    }

    pub fn agreement(
        &self,
        members: &[Member],
        revisions: &Revisions,
        group: &Group,
    ) -> Corroboration {
        let reviewers = self.state.agents(Role::Reviewer).count();
        let reasons = pairs::reasons(self.state, members, group);
        // What a reviewer says again is a finding of its own, unless it denies the problem.
        let repeats = group.repeats.iter().filter(|at| members[**at].denies);
        let mut positions: Vec<Position> = group
            .members
            .iter()
            .chain(repeats)
            .map(|at| &members[*at])
            .map(|member| Position {
                said: member.id.clone(),
                reviewer: AgentName::from(member.model.as_str()),
                severity: revisions.severity(member).clone(),
                confidence: member.raw.confidence,
                denies: member.denies,
                denial: if member.denies {
                    let said = [member.raw.title.clone(), member.raw.details()];
                    Untrusted::joined(&said, "\n").trimmed()
                } else {
                    Untrusted::default()
                },
                observed: member.observed,
            })
            .collect();
        positions.sort_by(|a, b| a.reviewer.cmp(&b.reviewer));
        Corroboration {
            class: group.class,
            reviewers: u32::try_from(reviewers).unwrap_or(u32::MAX),
            vendors: group.vendors,
            positions,
            confirmed_by: group
                .supporters
                .iter()
                .map(|name| AgentName::from(name.as_str()))
                .collect(),
            assessments: group.assessments.clone(),
            confidence: group
                .confidence
                .map(|sure| Confidence::clamped(i64::from(sure))),
            formula: group.formula.clone(),
            score: group.score,
            why: group.why.clone(),
            would_decide: group.reversal.clone(),
            notes: group.notes.iter().cloned().chain(reasons).collect(),
            escalate: group.escalate,
            doubted: group.challenge.is_some() || matches!(group.state, GroupState::Conflicted(_)),
            withdrawn: group.withdrawn,
        }
    }

    fn group(
        &self,
        members: &[Member],
        revisions: &Revisions,
        known: &Known,
        group: &Group,
    ) -> Vec<NewFinding> {
        let has_several = self.state.agents(Role::Reviewer).nth(1).is_some();
        let consensus = has_several.then(|| self.agreement(members, revisions, group));
        let said: Vec<&Member> = group
            .members
            .iter()
            .chain(&group.repeats)
            .map(|at| &members[*at])
            .collect();
        // A denial is an opinion about the other findings of the group, and no finding.
        let is_denied = said.iter().any(|member| !member.denies);
        let mut made: Vec<NewFinding> = Vec::new();
        for member in said {
            if is_denied && member.denies {
                continue;
            }
            let is_older = known.older.contains(&member.id);
            let new = self.finding(member, revisions, &consensus, group, is_older);
            let origin = known.origins.get(&member.id).copied();
            match made.iter_mut().find(|known| is_equal(&known.finding, &new)) {
                Some(known) => known.take(member, origin),
                None => made.push(NewFinding {
                    finding: new,
                    said: vec![member.id.clone()],
                    origins: origin.into_iter().collect(),
                }),
            }
        }
        made.sort_by_key(|new| {
            let Finding { raw, mandatory, .. } = &new.finding;
            (raw.rule.is_none(), !mandatory, raw.severity.tag)
        });
        keep_one_fix(&mut made);
        made
    }

    fn finding(
        &self,
        member: &Member,
        revisions: &Revisions,
        consensus: &Option<Corroboration>,
        group: &Group,
        is_older: bool,
    ) -> Finding {
        let by = AgentName::from(member.model.as_str());
        let mut raw = member.raw.clone();
        raw.severity = revisions.severity(member).clone();
        raw.evidence
            .extend(group.advised.note().map(Untrusted::from));
        if let AdvisoryStatus::Patched { .. } = group.advised {
            raw.severity = Severity::known(Level::of(raw.severity.tag).lower().tag());
        }
        let mut restated = Vec::new();
        if let Some(text) = revisions.texts.get(&member.id) {
            restated.push(Restated {
                by: by.clone(),
                title: raw.title.clone(),
                body: std::mem::replace(&mut raw.body, text.clone()),
            });
        }
        if let Some(consensus) = consensus {
            // What each reviewer stated is in the positions.
            raw.confidence = consensus.confidence;
        }
        let is_mandatory = self.lists.is_mandatory(&raw.severity);
        let older = is_mandatory && is_older;
        let mut finding = Finding {
            id: FindingId::new(self.next_id()),
            mandatory: is_mandatory && (!older || self.lists.older == OlderFindings::Block),
            older,
            no_such_place: member.anchor.is_none() && raw.file.is_some(),
            corrected_from: member.corrected_from.clone(),
            raw,
            raised_by: vec![by],
            may_be: Vec::new(),
            round: self.round,
            also: member.also.clone(),
            anchor: member.anchor.clone(),
            reverses: None,
            restated,
            was: None,
            problem: None,
            consensus: consensus.clone(),
            exact_fix: member.fix.clone(),
        };
        finding.reverses = reversed(self.state, &finding);
        finding
    }
}

/// A group has at most one exact fix, because its members propose to replace the same lines. Members that propose
/// different fixes have none, and their code remains a suggestion.
fn keep_one_fix(group: &mut [NewFinding]) {
    let mut fixes = group.iter().filter_map(|new| new.finding.exact_fix.clone());
    let first = fixes.next();
    let mut agreed = first.filter(|first| fixes.all(|other| other == *first));
    for NewFinding { finding, .. } in group {
        let Some(fix) = finding.exact_fix.take() else {
            continue;
        };
        if let Some(agreed) = agreed.take() {
            finding.exact_fix = Some(agreed);
            continue;
        }
        let code = fix.shown().trimmed();
        let suggestion = finding.raw.suggestion.take();
        finding.raw.suggestion = Some(match suggestion {
            Some(text) if text.trimmed() != code => Untrusted::joined(&[text, code], "\n\n"),
            Some(_) | None => code,
        });
    }
}

/// What reviewers changed of their findings in the defences of a debate, by the id of the raw finding.
#[derive(Default)]
pub struct Revisions {
    pub severities: HashMap<String, Severity>,
    pub texts: HashMap<String, Untrusted>,
}

impl Revisions {
    fn severity<'a>(&'a self, member: &'a Member) -> &'a Severity {
        self.severities
            .get(&member.id)
            .unwrap_or(&member.raw.severity)
    }
}

/// The place of a group in the order of numbers: by the location and the severity of its head.
fn place_of(group: &[NewFinding]) -> impl Ord + use<'_> {
    group.first().map(|head| {
        let raw = &head.finding.raw;
        (raw.file.is_none(), &raw.file, raw.line, raw.severity.tag)
    })
}

/// Whether two findings differ at most in their reviewers, confidences and evidence.
fn is_equal(known: &Finding, new: &Finding) -> bool {
    let [was, is] = [known, new].map(|finding| RawFinding {
        confidence: None,
        evidence: Vec::new(),
        ..finding.raw.clone()
    });
    was == is && known.exact_fix == new.exact_fix && known.restated == new.restated
}

/// A fix of `finding` can undo the fix of an earlier finding. Returns this earlier finding.
fn reversed(state: &ReviewState, finding: &Finding) -> Option<FindingId> {
    let file = finding.raw.file.as_deref()?;
    let lines = finding.raw.lines();
    let suggestion = finding.raw.suggestion.as_ref();
    let text = [
        finding.raw.title.as_written(),
        finding.raw.body.as_written(),
        suggestion.map_or("", Untrusted::as_written),
    ]
    .join("\n");
    state.tree_changes.iter().rev().find_map(|change| {
        let edit = change
            .changes
            .iter()
            .filter_map(edits::edit_of)
            .find(|edit| edit.file == file)?;
        if !reversal::reverses(file, lines, &text, &edit) {
            return None;
        }
        change
            .touched
            .iter()
            .find(|id| {
                state.finding(**id).is_some_and(|earlier| {
                    earlier.round < finding.round
                        && earlier.raw.file.as_deref() == Some(file)
                        && state.is_done(earlier.id)
                })
            })
            .copied()
    })
}
