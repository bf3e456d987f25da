//! The pairs of findings that may name the same defect, and the agents that are asked about them.

use super::ReviewState;
use glee_model::domain::event::{CallAnswer, CallId, Purpose};
use glee_model::domain::{Agent, AgentName, PairAnswer, RaisedIn, Role, UnsurePair};
use glee_model::rules::consensus::Answers;

impl ReviewState {
    pub(super) fn pair(&mut self, place: (u32, RaisedIn), pairs: &[UnsurePair]) {
        self.pairs.insert(place, pairs.to_vec());
        for pair in pairs {
            if let Some(known) = &pair.known {
                self.same
                    .insert((pair.one.clone(), pair.other.clone()), known.clone());
            }
        }
    }

    pub(super) fn answer_pairs(&mut self, by: &AgentName, call: &CallId, answer: &CallAnswer) {
        let CallAnswer::Same { pairs: said } = answer else {
            return;
        };
        let Purpose::Same { round, raised_in } = call.purpose else {
            return;
        };
        for pair in self.pairs.get(&(round, raised_in)).into_iter().flatten() {
            let Some(said) = said.iter().find(|said| Some(said.pair) == pair.asked) else {
                continue;
            };
            let answer = PairAnswer {
                by: by.clone(),
                same: said.same,
                reason: said.reason.clone(),
            };
            self.same
                .insert((pair.one.clone(), pair.other.clone()), answer);
        }
    }

    /// The pairs of a round that the aggregator is asked about before the findings are merged, or before the debate is
    /// concluded.
    pub(crate) fn asked_pairs(
        &self,
        round: u32,
        raised_in: RaisedIn,
    ) -> impl Iterator<Item = &UnsurePair> {
        let is_due = match raised_in {
            RaisedIn::Review => self.unmerged().next().is_some(),
            RaisedIn::Debate => !self.concluded.contains(&round),
        };
        self.pairs
            .get(&(round, raised_in))
            .filter(|_| is_due)
            .into_iter()
            .flatten()
            .filter(|pair| pair.asked.is_some())
    }

    pub(crate) fn pair_answers(&self) -> Answers {
        let mut answers = Answers::default();
        for ((one, other), answer) in &self.same {
            answers.add(one, other, answer.same);
        }
        for (one, other) in &self.apart {
            answers.add(one, other, false);
        }
        answers
    }

    pub fn aggregator(&self) -> Option<&Agent> {
        self.comparers()
            .find(|agent| agent.role == Role::Aggregator)
    }

    /// The agent that compares findings with earlier disputes: a judge, or the aggregator if there is no judge.
    /// Embedded agents compare nothing.
    pub(crate) fn comparing_agent(&self) -> Option<&Agent> {
        self.judges()
            .chain(self.comparers().filter(|agent| agent.role == Role::Judge))
            .find(|agent| !agent.is_embedded())
            .or_else(|| self.aggregator())
    }

    fn comparers(&self) -> impl Iterator<Item = &Agent> {
        self.plan().comparers.iter()
    }
}
