//! Merges the answers of reviewers into the numbered findings of a round.
//!
//! The merge maps severities to tags, computes anchors, and groups equal findings of several reviewers
//! (`rules::consensus`). The merge also recognises findings that repeat an earlier dispute or would undo an earlier
//! change. Repetitions of an open finding are dropped.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::config::settings::Advisories;
use crate::domain::event::{CallAnswer, CallId, EventKind, Purpose, ReviewEvent};
use crate::domain::{
    AdvisoryStatus, AgentName, Confidence, Corroboration, Finding, FindingId, FindingOrigin,
    Position, RawFinding, Repetition, Role, Severity, Untrusted,
};
use crate::history::queries::rows::Binding;
use crate::protocol::merge_input;
use crate::protocol::text::location;
use crate::rules::consensus::{
    self, Answers, CheckedEvidence, Debate, Group, GroupState, Level, Member,
};
use crate::rules::review::{mandatory, reversal};
use crate::workflows::review::code::edits;
use crate::workflows::review::code::sources::Sources;
use crate::workflows::review::findings::earlier_records::Past;
use crate::workflows::review::findings::round::{MergeSettings, Round, TextOf};
use crate::workflows::review::findings::{recognition, replacement};
use crate::workflows::review::state::{ReviewState, raised::RaisedFinding};
use crate::workspace::advisories::check;
use crate::workspace::code::anchors::Blocks;
use crate::workspace::code::citation;
use crate::workspace::root::Workspace;

const GLEE: &str = "glee";

pub(crate) struct RoundContext<'a> {
    pub(crate) state: &'a ReviewState,
    pub(crate) round: u32,
    pub(crate) lists: &'a MergeSettings,
    pub(crate) sources: &'a Sources,
    pub(crate) workspace: &'a Workspace,
    /// `past` is `None` if findings are not compared with earlier disputes.
    pub(crate) past: Option<Past<'a>>,
}

pub(crate) type RevisedSeverities = HashMap<String, Severity>;

impl RoundContext<'_> {
    pub(crate) fn merge(&self, bindings: &[Binding]) -> Vec<EventKind> {
        let members = self.unmerged();
        let groups = consensus::merge(
            &members,
            &self.debate(),
            &self.tree(&members),
            self.lists.policy,
            &Answers::default(),
        )
        .groups;
        let mut findings = self.findings(&members, &RevisedSeverities::new(), &groups);
        let mut origins = self.origins(&members, &groups);
        let text_of = |path: &str| self.text(path);
        let repeated = recognition::repeated(self.state, &findings, &text_of);
        let mut index = 0..;
        findings.retain(|_| !index.next().is_some_and(|index| repeated.contains(&index)));
        findings.sort_by(|a, b| {
            let key = |f: &Finding| {
                (
                    f.raw.file.is_none(),
                    f.raw.file.clone(),
                    f.raw.line,
                    f.raw.severity.tag,
                )
            };
            key(a).cmp(&key(b))
        });
        let mut repeats = Vec::new();
        for (number, finding) in (self.next_id()..).zip(&mut findings) {
            let origins = origins.remove(&finding.id).unwrap_or_default();
            finding.id = FindingId::new(number);
            repeats.extend(origins.into_iter().map(|of| Repetition {
                finding: finding.id,
                of,
            }));
        }
        let ruled = recognition::earlier(&findings, bindings, &self.compared(&text_of));
        std::iter::once(EventKind::Review(ReviewEvent::FindingsMerged {
            round: self.round,
            findings,
            repeats,
        }))
        .chain(ruled)
        .collect()
    }

    pub(crate) fn next_id(&self) -> u32 {
        self.state
            .findings
            .iter()
            .map(|finding| finding.id.number)
            .max()
            .unwrap_or(0)
            + 1
    }

    pub(crate) fn compared<'b>(&'b self, text_of: TextOf<'b>) -> Round<'b> {
        Round {
            state: self.state,
            lists: self.lists,
            text_of,
            past: self.past,
        }
    }

    pub(crate) fn unmerged(&self) -> Vec<Member> {
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
    pub(crate) fn raised(&self, wanted: impl Fn(&CallId) -> bool) -> Vec<Member> {
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

    /// Maps the id of each group's finding to the findings of earlier runs that the group repeats. The method
    /// `findings` assigns the ids.
    pub(crate) fn origins(
        &self,
        members: &[Member],
        groups: &[Group],
    ) -> BTreeMap<FindingId, Vec<FindingOrigin>> {
        let raised = self
            .state
            .raised()
            .filter_map(|(_, raised)| Some((raised.id, raised.origin?)));
        let known: HashMap<String, &FindingOrigin> = raised.collect();
        let of_group = |group: &Group| {
            let all = group.members.iter().chain(&group.repeats);
            let origins: BTreeSet<&FindingOrigin> = all
                .filter_map(|at| known.get(&members[*at].id).copied())
                .collect();
            origins.into_iter().cloned().collect()
        };
        (self.next_id()..)
            .map(FindingId::new)
            .zip(groups.iter().map(of_group))
            .collect()
    }

    pub(crate) fn own(&self) -> Vec<Member> {
        let (own, glee) = (
            self.state
                .plan
                .iter()
                .flat_map(|plan| &plan.own)
                .enumerate(),
            AgentName::from(GLEE),
        );
        self.members(own.map(|(index, raw)| (format!("{GLEE}/{index}"), &glee, raw)))
    }

    pub(crate) fn debate(&self) -> Debate {
        let reviewers = self
            .state
            .agents(Role::Reviewer)
            .map(|agent| agent.name.0.clone())
            .collect();
        Debate {
            reviewers,
            ..Debate::default()
        }
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        let round = usize::try_from(self.round - 1)
            .ok()
            .and_then(|round| self.state.rounds.get(round));
        round
            .into_iter()
            .flatten()
            .flatten()
            .map(|file| file.file.clone())
            .collect()
    }

    /// Returns the paths of the files in this round. If the file of a member exists, the result contains the path
    /// of this file, too.
    pub(crate) fn tree(&self, members: &[Member]) -> Vec<String> {
        let found = members.iter().filter(|member| member.anchor.is_some());
        self.paths()
            .into_iter()
            .chain(found.filter_map(|member| member.raw.file.clone()))
            .collect()
    }

    /// Converts raw findings to members: finds their files, normalises severities, computes anchors, and checks
    /// citations. Each item of `raised` contains a raw finding, the id of the finding, and the reviewer.
    pub(crate) fn members<'r>(
        &self,
        raised: impl Iterator<Item = (String, &'r AgentName, &'r RawFinding)>,
    ) -> Vec<Member> {
        let mut known: HashMap<&str, Option<String>> = HashMap::new();
        let mut by_file: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut all = Vec::new();
        for (id, by, raw) in raised {
            let mut member = self.member(id, by, raw.clone());
            let mut named = raw.file.as_deref();
            if raw.line.is_none()
                && let Some((path, line, end_line)) = named.and_then(location::split)
                && known
                    .entry(path)
                    .or_insert_with(|| self.known_path(path))
                    .is_some()
            {
                named = Some(path);
                (member.raw.line, member.raw.end_line) = (Some(line), end_line);
            }
            if let Some(named) = named {
                match known.entry(named).or_insert_with(|| self.known_path(named)) {
                    Some(path) => {
                        member.raw.file = Some(path.clone());
                        by_file.entry(path.clone()).or_default().push(all.len());
                    }
                    None => member.checked.place = Some(false),
                }
            }
            all.push(member);
        }
        for (path, indices) in by_file {
            let text = self.text(&path);
            let blocks = Blocks::of(&path, &text);
            for index in indices {
                let member = &mut all[index];
                member.anchor = Some(blocks.anchor(&member.raw));
                citation::check(member, &text, &blocks);
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
        let agent = self
            .state
            .agents(Role::Reviewer)
            .find(|agent| agent.name == *by);
        // The vendor is derived from the model or the program, because the user can give a reviewer any name.
        let vendor = agent.map(|agent| {
            let program = agent
                .command
                .first()
                .map(String::as_str)
                .unwrap_or_default();
            consensus::vendor(agent.model.as_deref().unwrap_or(program))
        });
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

    pub(crate) fn text(&self, path: &str) -> String {
        let reviewed = self
            .sources
            .file(self.round, path)
            .map(|source| source.text.clone());
        reviewed
            .or_else(|| self.workspace.read(path))
            .unwrap_or_default()
    }

    /// Returns the path of the file to which `path` refers. If `path` is only a file name, `path` refers to the
    /// only reviewed file with this name. Returns `None` if no file or several files match.
    fn known_path(&self, path: &str) -> Option<String> {
        let path = path.trim().trim_matches(['`', '"', '\'']);
        let plain = path.strip_prefix("./").unwrap_or(path);
        if self.sources.file(self.round, plain).is_some() {
            return Some(plain.to_owned());
        }
        self.workspace.resolve(path).or_else(|| {
            let paths = self.paths();
            let mut named = paths
                .iter()
                .filter(|known| known.rsplit('/').next() == Some(plain));
            named.next().filter(|_| named.next().is_none()).cloned()
        })
    }

    pub(crate) fn findings(
        &self,
        members: &[Member],
        revised: &RevisedSeverities,
        groups: &[Group],
    ) -> Vec<Finding> {
        (self.next_id()..)
            .zip(groups)
            .map(|(id, group)| self.finding(FindingId::new(id), members, revised, group))
            .collect()
    }

    fn is_mandatory(&self, severity: &Severity) -> bool {
        mandatory::is_mandatory(severity, &self.lists.mandatory, &self.lists.optional)
    }

    /// Merges the members of a group into one finding. The finding is based on the first member that names a
    /// static analyser's rule. If no member names a rule, the finding is based on the first member. The finding
    /// has the highest mandatory severity of all members, and lists all reviewers and all evidence.
    fn finding(
        &self,
        id: FindingId,
        members: &[Member],
        revised: &RevisedSeverities,
        group: &Group,
    ) -> Finding {
        let severity = |member: &Member| {
            revised
                .get(&member.id)
                .unwrap_or(&member.raw.severity)
                .clone()
        };
        let first = || group.members.iter().map(|at| &members[*at]);
        let all = || {
            group
                .members
                .iter()
                .chain(&group.repeats)
                .map(|at| &members[*at])
        };
        let lead = first()
            .find(|member| member.raw.rule.is_some())
            .or_else(|| first().next());
        let lead = lead.expect("a group has members");
        let mut raw = lead.raw.clone();
        let affirming = all().filter(|member| !member.denies).map(severity);
        let gravest = affirming
            .filter(|given| self.is_mandatory(given))
            .min_by_key(|given| given.tag);
        let agreed = || {
            first()
                .map(severity)
                .find(|given| Level::of(given.tag) == group.severity)
        };
        raw.severity = gravest.or_else(agreed).unwrap_or_else(|| severity(lead));
        if raw.rule.is_none() {
            let detailed = || members[group.described_by].raw.body.clone();
            raw.body = group.revised.clone().map_or_else(detailed, Untrusted::from);
            raw.suggestion
                .clone_from(&members[group.suggested_by].raw.suggestion);
        }
        // The merged finding refers to a ruling only if all findings of the group refer to the same ruling.
        let mut named = all().map(|member| &member.raw.insists_on);
        let ruling = named.next().cloned().flatten();
        raw.insists_on = ruling.filter(|ruling| named.all(|other| other.as_ref() == Some(ruling)));
        let mut raised_by: Vec<AgentName> = vec![AgentName::from(lead.model.as_str())];
        for member in all() {
            if raised_by.iter().all(|name| name.0 != member.model) {
                raised_by.push(AgentName::from(member.model.as_str()));
            }
            for evidence in &member.raw.evidence {
                if !raw.evidence.contains(evidence) {
                    raw.evidence.push(evidence.clone());
                }
            }
        }
        raw.evidence
            .extend(group.advised.note().map(Untrusted::from));
        if let AdvisoryStatus::Patched { .. } = group.advised {
            raw.severity = Severity::known(Level::of(raw.severity.tag).lower().tag());
        }
        let reviewers = self.state.agents(Role::Reviewer).count();
        let mandatory = self.is_mandatory(&raw.severity);
        let consensus = (reviewers > 1).then(|| corroboration(members, severity, group, reviewers));
        let anchor = lead.anchor.clone();
        let exact_fix = replacement::agreed(&raw, all());
        let mut finding = Finding {
            id,
            raw,
            mandatory,
            raised_by,
            round: self.round,
            anchor,
            reverses: None,
            consensus,
            exact_fix,
        };
        finding.reverses = reversed(self.state, &finding);
        finding
    }
}

fn corroboration(
    members: &[Member],
    severity: impl Fn(&Member) -> Severity,
    group: &Group,
    reviewers: usize,
) -> Corroboration {
    let mut positions: Vec<Position> = group
        .members
        .iter()
        .map(|at| &members[*at])
        .map(|member| Position {
            said: member.id.clone(),
            reviewer: AgentName::from(member.model.as_str()),
            severity: severity(member),
            confidence: member.raw.confidence,
            denies: member.denies,
        })
        .collect();
    positions.sort_by(|a, b| a.reviewer.cmp(&b.reviewer));
    Corroboration {
        class: group.class,
        reviewers: u32::try_from(reviewers).unwrap_or(u32::MAX),
        positions,
        confirmed_by: group
            .supporters
            .iter()
            .map(|name| AgentName::from(name.as_str()))
            .collect(),
        confidence: group
            .confidence
            .map(|sure| Confidence::clamped(i64::from(sure))),
        formula: group.formula.clone(),
        score: group.score,
        why: group.why.clone(),
        would_decide: group.reversal.clone(),
        notes: group.notes.clone(),
        escalate: group.escalate,
        doubted: group.challenge.is_some() || matches!(group.state, GroupState::Conflicted(_)),
        withdrawn: group.withdrawn,
    }
}

/// A fix of `finding` can undo the fix of an earlier finding. Returns this earlier finding.
fn reversed(state: &ReviewState, finding: &Finding) -> Option<FindingId> {
    let file = finding.raw.file.as_deref()?;
    let lines = finding
        .raw
        .line
        .map(|line| (line, finding.raw.end_line.unwrap_or(line)));
    let said = [
        Some(&finding.raw.title),
        Some(&finding.raw.body),
        finding.raw.suggestion.as_ref(),
    ];
    let text = said
        .map(|text| text.map_or("", Untrusted::as_written))
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
        let asked = |id: &&FindingId| {
            state.finding(**id).is_some_and(|earlier| {
                earlier.round < finding.round
                    && earlier.raw.file.as_deref() == Some(file)
                    && state.is_done(earlier.id)
            })
        };
        change.touched.iter().find(asked).copied()
    })
}
