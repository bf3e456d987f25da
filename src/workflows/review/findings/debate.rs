//! The debate about a round's findings: who examines and defends what, and what it all comes to.
//!
//! It stands between the merge and the coder, is read from the events alone, and counts no missing answer as agreement.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::config::settings::DebateRounds;
use crate::domain::event::{CallAnswer, CallId, EventKind, Purpose, ReviewEvent};
use crate::domain::{
    AgentName, Challenge, Class, DebateMessage, Defended, ExaminationWord, Examined, Finding, FindingId, Role,
};
use crate::history::queries::rows::Binding;
use crate::rules::consensus::claim::{Claim, Consensus, Level, Policy};
use crate::rules::consensus::{self, Debate, Defence, Examination};
use crate::rules::review::mandatory;
use crate::workflows::review::findings::merge::{RaisedFinding, RoundContext};
use crate::workflows::review::findings::recognition;
use crate::workflows::review::state::ReviewState;

/// Who reads the debate's messages.
const LEAD: &str = "team-lead";

impl ReviewState {
    /// Whether and how the run debates, as it was planned.
    pub(crate) fn debating(&self) -> DebateRounds {
        self.settings.review.debate
    }

    /// The reviewers that can argue: an embedded analyser has nothing to add to what it raised.
    pub(crate) fn debaters(&self) -> impl Iterator<Item = &AgentName> {
        self.agents(Role::Reviewer).filter(|agent| agent.adapter != "builtin").map(|agent| &agent.name)
    }

    /// The findings of others that a reviewer examines.
    pub(crate) fn examined_by(&self, agent: &AgentName, round: u32) -> Vec<FindingId> {
        let counts = |finding: &Finding| match self.debating() {
            DebateRounds::Auto => {
                let class = finding.consensus.as_ref().map(|consensus| consensus.class);
                finding.mandatory || class == Some(Class::Uncorroborated)
            }
            DebateRounds::Off | DebateRounds::Two | DebateRounds::Three => true,
        };
        self.debated(round)
            .filter(|finding| !finding.raised_by.contains(agent) && counts(finding))
            .map(|finding| finding.id)
            .collect()
    }

    /// The findings of a reviewer that others challenge, with what they say.
    pub(crate) fn challenged(&self, agent: &AgentName, round: u32) -> Vec<(FindingId, Vec<Challenge>)> {
        let said: Vec<(&AgentName, &Examined)> = self.examinations(round).collect();
        self.debated(round)
            .filter(|finding| finding.raised_by.contains(agent))
            .filter_map(|finding| {
                let against = said.iter().filter(|(by, said)| {
                    said.finding == finding.id && said.action != ExaminationWord::Agree && *by != agent
                });
                let challenges: Vec<Challenge> =
                    against.map(|(by, said)| Challenge { by: (*by).clone(), said: (*said).clone() }).collect();
                (!challenges.is_empty()).then_some((finding.id, challenges))
            })
            .collect()
    }

    /// The findings of others that a reviewer has to examine and of which it has not said anything.
    pub(crate) fn unexamined(&self, agent: &AgentName, round: u32) -> Vec<FindingId> {
        let said: Vec<FindingId> =
            self.examinations(round).filter(|(by, _)| *by == agent).map(|(_, said)| said.finding).collect();
        let asked = self.examined_by(agent, round).into_iter();
        asked.filter(|id| !said.contains(id)).collect()
    }

    /// The challenged findings of a reviewer of which it has not said anything.
    pub(crate) fn undefended(&self, agent: &AgentName, round: u32) -> Vec<(FindingId, Vec<Challenge>)> {
        let said: Vec<FindingId> =
            self.defences(round).filter(|(by, _)| *by == agent).map(|(_, said)| said.finding).collect();
        let asked = self.challenged(agent, round).into_iter();
        asked.filter(|(id, _)| !said.contains(id)).collect()
    }

    /// Whether the agent of a call in a debate, which has ended, left anything without an answer.
    pub(crate) fn left_unanswered(&self, call: &CallId) -> bool {
        match call.purpose {
            Purpose::Examine { round } => !self.unexamined(&call.agent, round).is_empty(),
            Purpose::Defend { round } => !self.undefended(&call.agent, round).is_empty(),
            _ => false,
        }
    }

    /// The findings of a round that nobody has ruled on earlier.
    fn debated(&self, round: u32) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| {
            let settled = self.ruled.contains_key(&finding.id) || self.still_disputed.contains_key(&finding.id);
            finding.round == round && finding.consensus.is_some() && !settled
        })
    }

    pub(crate) fn examinations(&self, round: u32) -> impl Iterator<Item = (&AgentName, &Examined)> {
        self.calls.iter().filter(move |(id, _)| id.purpose == Purpose::Examine { round }).flat_map(|(id, call)| {
            let answers = match &call.answer {
                CallAnswer::Examine { examinations, .. } => examinations.as_slice(),
                _ => &[],
            };
            answers.iter().map(move |said| (&id.agent, said))
        })
    }

    pub(crate) fn defences(&self, round: u32) -> impl Iterator<Item = (&AgentName, &Defended)> {
        self.calls.iter().filter(move |(id, _)| id.purpose == Purpose::Defend { round }).flat_map(|(id, call)| {
            let answers = match &call.answer {
                CallAnswer::Defend { defences } => defences.as_slice(),
                _ => &[],
            };
            answers.iter().map(move |said| (&id.agent, said))
        })
    }

    /// Who was asked for these and gave no answer that could be read.
    fn silent(&self, asked: &[Purpose]) -> Vec<AgentName> {
        let mut last: BTreeMap<(&AgentName, &Purpose), &CallAnswer> = BTreeMap::new();
        for (id, call) in self.calls.iter().filter(|(id, _)| asked.contains(&id.purpose)) {
            last.insert((&id.agent, &id.purpose), &call.answer);
        }
        let failed = |answer: &CallAnswer| matches!(answer, CallAnswer::Failed { .. } | CallAnswer::Invalid { .. });
        let mut silent: Vec<AgentName> =
            last.into_iter().filter(|(_, answer)| failed(answer)).map(|((agent, _), _)| agent.clone()).collect();
        silent.dedup();
        silent
    }

    /// What a round of the debate brought, as its message.
    pub(crate) fn round_message(&self, round: u32, debate_round: u32) -> DebateMessage {
        let mut content = format!("Round {debate_round} complete: ");
        if debate_round == 2 {
            let count = |word| self.examinations(round).filter(|(_, said)| said.action == word).count();
            let (agree, disagree, partial) =
                (count(ExaminationWord::Agree), count(ExaminationWord::Disagree), count(ExaminationWord::Partial));
            content.push_str(&format!("{agree} agreements, {disagree} disagreements, {partial} partial"));
            self.say_examined(round, &mut content);
        } else {
            use crate::domain::DefenceWord::{Concede, Defend, Modify};
            let count = |word| self.defences(round).filter(|(_, said)| said.action == word).count();
            let (defended, conceded, modified) = (count(Defend), count(Concede), count(Modify));
            content.push_str(&format!("{defended} defended, {conceded} conceded, {modified} modified"));
            self.say_defended(round, &mut content);
        }
        let asked = if debate_round == 2 { Purpose::Examine { round } } else { Purpose::Defend { round } };
        for name in self.silent(&[asked]) {
            content.push_str(&format!("; {}", incomplete(&name)));
        }
        let summary = format!("Debate round {debate_round} complete");
        DebateMessage::Message { recipient: LEAD.to_owned(), content, summary }
    }

    /// Confidence changes, new agreements and conflicts of round 2.
    fn say_examined(&self, round: u32, content: &mut String) {
        let mut by_finding: BTreeMap<FindingId, Vec<(&AgentName, &Examined)>> = BTreeMap::new();
        for (by, said) in self.examinations(round) {
            by_finding.entry(said.finding).or_default().push((by, said));
        }
        let against = |said: &&(&AgentName, &Examined)| said.1.action == ExaminationWord::Disagree;
        let changes = by_finding.iter().filter_map(|(id, said)| {
            let sum: i32 = said.iter().map(|(_, said)| said.confidence_adjustment).sum();
            (sum != 0).then(|| format!("{id} {sum:+}"))
        });
        let agreed = by_finding.iter().filter_map(|(id, said)| {
            let by: Vec<&str> = said.iter().filter(|said| !against(said)).map(|(by, _)| by.0.as_str()).collect();
            (!by.is_empty()).then(|| format!("{id} ({})", by.join(", ")))
        });
        let conflicts = by_finding.iter().filter_map(|(id, said)| {
            let by: Vec<&str> = said.iter().filter(against).map(|(by, _)| by.0.as_str()).collect();
            (!by.is_empty()).then(|| format!("{id} ({})", by.join(", ")))
        });
        listed(content, "confidence changes", changes.collect());
        listed(content, "new agreements", agreed.collect());
        listed(content, "conflicts", conflicts.collect());
    }

    fn say_defended(&self, round: u32, content: &mut String) {
        let changes = self.defences(round).filter(|(_, said)| said.confidence_adjustment != 0);
        let changes = changes.map(|(_, said)| format!("{} {:+}", said.finding, said.confidence_adjustment));
        let gave_way = self.defences(round).filter(|(_, said)| said.action != crate::domain::DefenceWord::Defend);
        let resolved = gave_way.map(|(by, said)| {
            let word = if said.action == crate::domain::DefenceWord::Concede { "conceded" } else { "modified" };
            format!("{} ({word} by {})", said.finding, by.0)
        });
        listed(content, "confidence changes", changes.collect());
        listed(content, "resolved conflicts", resolved.collect());
    }

    pub(crate) fn debate_at_work(&self) -> Option<u32> {
        let round = self.round();
        let begun = self.debating() != DebateRounds::Off && self.debated(round).next().is_some();
        let reported = self.debate_rounds.contains(&(round, 2));
        (begun && !self.concluded.contains(&round)).then_some(if reported { 3 } else { 2 })
    }
}

/// Adds a list to a message, or nothing where it is empty.
fn listed(content: &mut String, what: &str, items: Vec<String>) {
    if !items.is_empty() {
        content.push_str(&format!("; {what}: {}", items.join(", ")));
    }
}

fn incomplete(name: &AgentName) -> String {
    format!("Debate incomplete - {name} did not respond")
}

/// A shutdown before the end: the request, and the answer with what is missing.
pub(crate) fn shutdown(debate_round: u32) -> Vec<DebateMessage> {
    let request_id = format!("debate-round-{debate_round}");
    let content =
        Some(format!("Still processing debate round {debate_round}, need more time to complete consensus"));
    vec![
        DebateMessage::ShutdownRequest { request_id: request_id.clone() },
        DebateMessage::ShutdownResponse { request_id, approve: false, content },
    ]
}

/// A round's findings merged with all that was said of them.
pub(crate) struct Merged {
    raised: Vec<RaisedFinding>,
    claims: Vec<Claim>,
    debate: Debate,
    consensus: Consensus,
}

impl Merged {
    /// Merges what the reviewers of a round raised, observed and said, by the bench's policy.
    pub(crate) fn of(bench: &RoundContext<'_>) -> Self {
        let mut raised = raised(bench);
        let reviewed = raised.len();
        raised.extend(observations(bench));
        let mut claims = bench.claims(&raised);
        for claim in &mut claims[reviewed..] {
            claim.observed = true;
        }
        revise(bench, &mut raised);
        let debate = debate(bench, &claims);
        let consensus = consensus::merge(&claims, &debate, &bench.paths(), bench.lists.policy);
        Self { raised, claims, debate, consensus }
    }

    /// The answer as JSON in the form of the specification.
    pub(crate) fn json(&self, policy: Policy, run: Option<&str>) -> serde_json::Value {
        let answer = self.consensus.answer(&self.claims, &self.debate, policy, run);
        serde_json::to_value(answer).expect("an answer is plain data")
    }
}

fn raised(bench: &RoundContext<'_>) -> Vec<RaisedFinding> {
    let round = bench.round;
    let mut raised = bench.raised(|id| matches!(id.purpose, Purpose::Review { round: of, .. } if of == round));
    if round == 1 {
        raised.extend(bench.own());
    }
    raised
}

/// The events that end the debate of a round.
pub(crate) fn conclude(bench: &RoundContext<'_>, bindings: &[Binding]) -> Vec<EventKind> {
    let (state, round) = (bench.state, bench.round);
    let merged = Merged::of(bench);
    let Merged { raised, claims, consensus, .. } = &merged;
    let mut findings = bench.findings(raised, claims, consensus);
    let mut next = state.findings.iter().map(|finding| finding.id.0).max().unwrap_or(0);
    let mut taken = BTreeSet::new();
    let text_of = |path: &str| bench.text(path);
    let repeated = recognition::repeated(state, &findings, &text_of);
    let mut index = 0..;
    let mut by_source: HashMap<&str, Vec<FindingId>> = HashMap::new();
    for known in of_round(state, round) {
        for source in sources(known) {
            by_source.entry(source).or_default().push(known.id);
        }
    }
    findings.retain_mut(|finding| {
        let is_repeated = index.next().is_some_and(|index| repeated.contains(&index));
        let known = sources(finding).filter_map(|source| by_source.get(source)).flatten().copied();
        if let Some(known) = known.filter(|id| !taken.contains(id)).min() {
            finding.id = known;
        } else if is_new(finding) && !is_repeated {
            next += 1;
            finding.id = FindingId(next);
        } else {
            return false;
        }
        taken.insert(finding.id);
        true
    });
    findings.sort_by_key(|finding| finding.id);
    let silent = state.silent(&[Purpose::Examine { round }, Purpose::Defend { round }]);
    let content = merged.json(bench.lists.policy, None).to_string();
    let count = |class| consensus.decisions.iter().filter(|decision| decision.class == class).count();
    let summary = format!(
        "Debate consensus: {} confirmed, {} dismissed, {} disputed",
        consensus.decisions.iter().filter(|decision| decision.is_confirmed()).count(),
        count(Class::Rejected),
        count(Class::Disputed)
    );
    let alone = consensus.decisions.iter().filter(|decision| decision.is_alone()).count();
    let alone = if alone > 0 { format!(", {alone} of one reviewer alone") } else { String::new() };
    let summary = summary + &alone;
    let report = DebateMessage::Message { recipient: LEAD.to_owned(), content, summary };
    let known: BTreeSet<FindingId> = state.findings.iter().map(|finding| finding.id).collect();
    let new = findings.iter().filter(|finding| !known.contains(&finding.id));
    let ruled = recognition::earlier(new, bindings, &bench.compared(&text_of));
    let notices = silent.iter().map(|name| EventKind::notice(incomplete(name))).collect::<Vec<_>>();
    let concluded = EventKind::Review(ReviewEvent::DebateConcluded { round, findings, silent, report });
    let request_id = "debate-complete".to_owned();
    let shutdown = EventKind::Review(ReviewEvent::DebateShutdown {
        messages: vec![
            DebateMessage::ShutdownRequest { request_id: request_id.clone() },
            DebateMessage::ShutdownResponse { request_id, approve: true, content: None },
        ],
    });
    std::iter::once(concluded).chain(ruled).chain(notices).chain([shutdown]).collect()
}

fn of_round(state: &ReviewState, round: u32) -> impl Iterator<Item = &Finding> {
    state.findings.iter().filter(move |finding| finding.round == round)
}

/// Where the findings that a position stands for were read.
fn sources(finding: &Finding) -> impl Iterator<Item = &str> {
    let positions = finding.consensus.iter().flat_map(|consensus| &consensus.positions);
    positions.map(|position| position.said.as_str())
}

/// Whether everything in it was observed in the debate.
fn is_new(finding: &Finding) -> bool {
    sources(finding).all(|source| source.starts_with(EXAMINE))
}

/// How the sources of observations begin; see [`CallId::file_stem`].
const EXAMINE: &str = "examine-";

/// What reviewers newly saw in round 2.
pub(crate) fn observations(bench: &RoundContext<'_>) -> Vec<RaisedFinding> {
    let round = bench.round;
    let calls = bench.state.calls.iter().filter(|(id, _)| id.purpose == Purpose::Examine { round });
    let seen = calls.filter_map(|(id, call)| match &call.answer {
        CallAnswer::Examine { observations, .. } => Some((id, observations)),
        _ => None,
    });
    bench.complete(seen.flat_map(|(id, observations)| {
        let stem = id.file_stem();
        observations.iter().enumerate().map(move |(index, raw)| (format!("{stem}/{index}"), &id.agent, raw))
    }))
}

/// Takes a raiser's revised severity into what it raised; its claim keeps the original.
fn revise(bench: &RoundContext<'_>, raised: &mut [RaisedFinding]) {
    for (by, said) in bench.state.defences(bench.round) {
        let Some(severity) = said.revised_severity.clone().map(mandatory::normalised) else { continue };
        let Some(source) = source_of(bench.state, said.finding, Some(by)) else { continue };
        if let Some(own) = raised.iter_mut().find(|own| own.said == source) {
            let (must, may) = (&bench.lists.mandatory, &bench.lists.optional);
            own.finding.mandatory = mandatory::is_mandatory(&severity, must, may);
            own.finding.raw.severity = severity;
        }
    }
}

/// Where a finding was read: in the answer of `by`, or in the first that raised it.
fn source_of(state: &ReviewState, id: FindingId, by: Option<&AgentName>) -> Option<String> {
    let consensus = state.finding(id)?.consensus.as_ref()?;
    let affirming = consensus.positions.iter().filter(|position| !position.denies);
    let mut wanted = affirming.filter(|position| by.is_none_or(|by| position.reviewer == *by));
    Some(wanted.next()?.said.clone())
}

/// The debate in terms of the claims.
fn debate(bench: &RoundContext<'_>, claims: &[Claim]) -> Debate {
    let (state, round) = (bench.state, bench.round);
    let known = |id: &String| claims.iter().any(|claim| claim.id == *id);
    let examinations = state.examinations(round).filter_map(|(by, said)| {
        let finding = source_of(state, said.finding, None).filter(known)?;
        Some(Examination {
            by: by.0.clone(),
            finding,
            word: said.action,
            adjustment: said.confidence_adjustment,
            reasoning: said.reasoning.as_written().to_owned(),
        })
    });
    let defences = state.defences(round).filter_map(|(by, said)| {
        let finding = source_of(state, said.finding, Some(by)).filter(known)?;
        Some(Defence {
            by: by.0.clone(),
            finding,
            word: said.action,
            adjustment: said.confidence_adjustment,
            reasoning: said.reasoning.as_written().to_owned(),
            revised_severity: said
                .revised_severity
                .as_ref()
                .map(|severity| Level::of(mandatory::normalised(severity.clone()).tag)),
            revised_description: said.revised_description.as_ref().map(|text| text.as_written().to_owned()),
        })
    });
    Debate {
        examinations: examinations.collect(),
        defences: defences.collect(),
        silent: state
            .silent(&[Purpose::Examine { round }, Purpose::Defend { round }])
            .into_iter()
            .map(|name| name.0)
            .collect(),
        ..bench.debate()
    }
}
