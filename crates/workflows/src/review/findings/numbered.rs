//! Gives the findings of a round their numbers.
//!
//! `merge` makes the groups, and `numbers` finds the problems that they continue. A group that repeats an open finding
//! joins the group of that finding, a group that continues a problem gets its number, and any other group gets a new one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::review::findings::numbers::{self, Candidate, Continued};
use crate::review::findings::recognition;
use crate::review::findings::round::{RoundContext, TextOf};
use glee_model::domain::event::{EventKind, ReviewEvent};
use glee_model::domain::{
    AgentName, Finding, FindingId, PostedProblem, ProblemKey, Relation, Restated, RestatedFinding,
    RulingRef, Untrusted,
};
use glee_model::rules::consensus::Member;
use glee_store::history::queries::rows::Binding;

impl RoundContext<'_> {
    /// Gives each finding its id. `known` has the ids of findings that have one, by the ids of their raw findings. A
    /// group that contains a known finding, or one that repeats an open finding, joins the group of that finding. If
    /// the same reviewer raised a finding and the open finding that it repeats, it is only a restatement.
    pub fn numbered(
        &self,
        mut groups: Vec<Vec<NewFinding>>,
        known: &HashMap<&str, FindingId>,
        bindings: &[Binding],
        text_of: TextOf<'_>,
    ) -> Numbered {
        self.add_disputed(&mut groups, bindings, text_of);
        self.add_compared(&mut groups);
        let id_of = |new: &NewFinding| new.said.iter().find_map(|said| known.get(said.as_str()));
        let unknown: Vec<Finding> = groups
            .iter()
            .flatten()
            .filter(|new| id_of(new).is_none())
            .map(|new| new.finding.clone())
            .collect();
        let repeated = recognition::repeated(self.state, &unknown, text_of);
        let mut unknown = 0..;
        let open: Vec<Vec<Option<FindingId>>> = groups
            .iter()
            .map(|group| {
                let open = group.iter().map(|new| match id_of(new) {
                    Some(known) => Some(*known),
                    None => unknown.next().and_then(|at| repeated.get(&at).copied()),
                });
                open.collect()
            })
            .collect();
        let posted = self.posted(bindings);
        let continued = self.continued(&groups, &open, &posted, text_of);
        let mut letters = numbers::letters(self.known);
        for (number, letter) in self.state.letters() {
            let last = letters.entry(number).or_default();
            *last = letter.max(*last);
        }
        let keys = numbers::keys(self.known);
        let mut next = self.next_id();
        let mut split = BTreeSet::new();
        let mut numbered = Numbered::default();
        for ((group, open), continued) in groups.into_iter().zip(open).zip(continued) {
            let joined = open.iter().flatten().min().map(|joined| joined.number);
            // Members that turn out to be another defect than the rest of their group get a number of their own.
            let is_known = group.iter().any(|new| id_of(new).is_some());
            let joined = joined.filter(|number| !is_known || split.insert(*number));
            let earlier = continued.numbers.first().copied();
            let number = joined.or(earlier).unwrap_or(next);
            next = next.max(number + 1);
            numbered.join(number, &continued.numbers);
            let is_alone = joined.is_none() && group.len() == 1;
            let mut positions = continued.members.into_iter();
            for (new, open) in group.into_iter().zip(open) {
                let is_known = id_of(&new).is_some();
                let position = positions.next().flatten();
                let NewFinding { mut finding, .. } = new;
                let earlier = open.and_then(|id| self.state.finding(id));
                if let Some(earlier) = earlier.filter(|_| !is_known)
                    && is_raised_by_same(&finding, earlier)
                {
                    let said = restatements(earlier, &finding).into_iter();
                    numbered.restated.extend(said.map(|said| RestatedFinding {
                        finding: earlier.id,
                        said,
                    }));
                    continue;
                }
                let id = FindingId::new(number);
                let position = position.filter(|position| {
                    let mut members = self.state.group(id).iter();
                    continued.numbers.first() == Some(&number)
                        && members.all(|known| known.id.member.max(1) != *position)
                });
                let is_first = is_alone && position.is_none_or(|position| position == 1);
                finding.id = match (open.filter(|id| is_known && id.number == number), position) {
                    (Some(known), _) => known,
                    (None, None) if is_first && !letters.contains_key(&number) => id,
                    (None, Some(_)) if is_first => id,
                    (None, Some(position)) => id.member(position),
                    (None, None) => {
                        let letter = letters.entry(number).or_default();
                        *letter = letter.saturating_add(1);
                        id.member(*letter)
                    }
                };
                finding.was = open.filter(|id| is_known && *id != finding.id);
                let key = keys.get(&number).copied().or(continued.key).cloned();
                finding.problem = Some(key.unwrap_or_else(|| ProblemKey::of(self.run, id)));
                numbered.findings.push(finding);
            }
        }
        numbered.findings.sort_by_key(|finding| finding.id);
        numbered
    }

    /// Finds the earlier problems that the groups continue. `open` has the open findings of this run that the findings
    /// repeat.
    fn continued<'p>(
        &self,
        groups: &[Vec<NewFinding>],
        open: &[Vec<Option<FindingId>>],
        posted: &'p [PostedProblem],
        text_of: TextOf<'_>,
    ) -> Vec<Continued<'p>> {
        let mut owners = BTreeMap::new();
        let mut candidates = Vec::new();
        for (index, (group, open)) in groups.iter().zip(open).enumerate() {
            let joined = open.iter().flatten().min();
            owners.extend(joined.map(|joined| (joined.number, index)));
            let members = group.iter().zip(open).map(|(new, open)| Candidate {
                finding: &new.finding,
                origins: &new.origins,
                number: open.map(|open| open.number),
            });
            candidates.push(members.collect::<Vec<_>>());
        }
        numbers::continued(&candidates, self.known, posted, owners, text_of, &|known| {
            let anchor = known.finding.anchor.as_ref()?;
            self.past.as_ref()?.text(&known.run, anchor)
        })
    }

    /// A finding that is about the dispute of an earlier finding, even in other words or changed code, continues the
    /// problem of that finding.
    fn add_disputed(
        &self,
        groups: &mut [Vec<NewFinding>],
        bindings: &[Binding],
        text_of: TextOf<'_>,
    ) {
        let findings: Vec<Finding> = (1..)
            .zip(groups.iter().flatten())
            .map(|(index, new)| Finding {
                id: FindingId::new(index),
                ..new.finding.clone()
            })
            .collect();
        let mut disputes: HashMap<FindingId, RulingRef> = HashMap::new();
        for event in recognition::earlier(&findings, bindings, &self.compared(text_of)) {
            match event {
                EventKind::Review(ReviewEvent::AlreadyRuled {
                    finding, dispute, ..
                }) => disputes.insert(finding, dispute),
                EventKind::Review(ReviewEvent::StillDisputed { finding, dispute }) => {
                    disputes.insert(finding, dispute.into())
                }
                EventKind::Review(ReviewEvent::RelatedDispute { finding, earlier })
                    if earlier.relation != Relation::MayRepeat =>
                {
                    disputes.insert(finding, earlier.dispute)
                }
                _ => None,
            };
        }
        for (index, new) in (1..).zip(groups.iter_mut().flatten()) {
            let dispute = disputes.get(&FindingId::new(index));
            let own = bindings.iter().filter(|binding| binding.number().is_some());
            let mut judged: Vec<&Binding> = own
                .filter(|binding| Some(&binding.dispute) == dispute)
                .collect();
            // Of the members of a group, the finding continues the one in the same words.
            let text = new.finding.anchor.as_ref().map(|anchor| &anchor.text);
            judged.sort_by_key(|binding| Some(&binding.anchor.text) != text);
            new.origins
                .extend(judged.first().map(|binding| binding.finding));
        }
    }

    /// A finding that is the same as an earlier one, according to who was asked, continues the problem of that finding.
    fn add_compared(&self, groups: &mut [Vec<NewFinding>]) {
        for new in groups.iter_mut().flatten() {
            for ((one, other), answer) in &self.state.same {
                if answer.same && new.said.contains(one) {
                    new.origins.extend(FindingId::parse(other));
                }
            }
        }
    }

    /// The problems that comments and shared rulings identify.
    fn posted(&self, bindings: &[Binding]) -> Vec<PostedProblem> {
        let request = &self.state.plan().pull_request;
        let commented = request.iter().flat_map(|request| &request.posted);
        let ruled = bindings.iter().filter_map(|binding| {
            Some(PostedProblem {
                key: binding.problem.clone()?,
                anchor: binding.anchor.clone(),
            })
        });
        let mut posted: Vec<PostedProblem> = commented.cloned().chain(ruled).collect();
        posted.retain(|posted| posted.key.is_valid());
        posted
    }

    pub(crate) fn next_id(&self) -> u32 {
        self.state
            .findings
            .iter()
            .map(|finding| finding.id.number)
            .max()
            .unwrap_or(0)
            .saturating_add(1)
            .max(self.known.next)
    }
}

/// A finding of a round before it has its id.
pub struct NewFinding {
    pub finding: Finding,
    /// The ids of the raw findings that say it.
    pub said: Vec<String>,
    /// The findings of earlier runs that it repeats.
    pub origins: Vec<FindingId>,
}

impl NewFinding {
    /// Adds a reviewer that says the same in the same words.
    pub(crate) fn take(&mut self, member: &Member, origin: Option<FindingId>) {
        let by = AgentName::from(member.model.as_str());
        if !self.finding.raised_by.contains(&by) {
            self.finding.raised_by.push(by);
        }
        for evidence in &member.raw.evidence {
            if !self.finding.raw.evidence.contains(evidence) {
                self.finding.raw.evidence.push(evidence.clone());
            }
        }
        let demonstration = &mut self.finding.raw.demonstration;
        *demonstration = demonstration.take().or(member.raw.demonstration.clone());
        self.said.push(member.id.clone());
        self.origins.extend(origin);
    }
}

/// Whether every reviewer of `finding` also raised `earlier`.
fn is_raised_by_same(finding: &Finding, earlier: &Finding) -> bool {
    let mut by = finding.raised_by.iter();
    by.all(|name| earlier.raised_by.contains(name))
}

/// The findings of a round with their ids.
#[derive(Default)]
pub struct Numbered {
    pub findings: Vec<Finding>,
    /// The events for numbers that turned out to be one problem.
    pub joined: Vec<EventKind>,
    pub restated: Vec<RestatedFinding>,
}

impl Numbered {
    /// The numbers in `continued` are the problem `number`. The oldest of them stays.
    fn join(&mut self, number: u32, continued: &[u32]) {
        let oldest = continued
            .iter()
            .fold(number, |oldest, other| oldest.min(*other));
        let newer: BTreeSet<u32> = continued.iter().copied().chain([number]).collect();
        for newer in newer.into_iter().filter(|newer| *newer != oldest) {
            self.joined
                .push(EventKind::Review(ReviewEvent::ProblemsJoined {
                    newer: FindingId::new(newer),
                    older: FindingId::new(oldest),
                }));
        }
    }
}

/// What `again` says beside the text of `known`: its own words, and those of reviewers who deny it.
fn restatements(known: &Finding, again: &Finding) -> Vec<Restated> {
    let body = again.raw.details();
    let is_new = known.raw.title != again.raw.title || known.raw.details() != body;
    let own = again.raised_by.first().filter(|_| is_new);
    let own = own.map(|by| Restated {
        by: by.clone(),
        title: again.raw.title.clone(),
        body,
    });
    let denials = again.denials().map(|(by, denial)| Restated {
        by: by.clone(),
        title: denial.clone(),
        body: Untrusted::default(),
    });
    own.into_iter().chain(denials).collect()
}
