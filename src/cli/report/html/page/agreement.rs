//! A table of agreement between participants. For each pair, the table shows how often both participants had the
//! same opinion on a finding.

use std::collections::{BTreeMap, HashMap};

use minijinja::value::Value;

use super::cast::Cast;
use crate::cli::report::calls::TimedCall;
use crate::cli::report::html::environment::values;
use glee_model::domain::event::{CallAnswer, Purpose};
use glee_model::domain::{
    AgentName, Answer, DefenceWord, ExaminationWord, FindingId, Grounds, Outcome, Ruler, Ruling,
    RulingWord,
};

/// The maximum number of participants in the table.
const MOST: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stance {
    For,
    InPart,
    Against,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Voter {
    Agent(AgentName),
    Person,
}

type Stances = BTreeMap<FindingId, BTreeMap<Voter, Stance>>;

/// Returns `None` if no two participants expressed an opinion on the same finding.
pub(crate) fn view(outcome: &Outcome, calls: &[TimedCall<'_>], cast: &Cast) -> Option<Value> {
    let stances = stances(outcome, calls, cast);
    let mut pairs: HashMap<(&Voter, &Voter), (u64, u64)> = HashMap::new();
    for positions in stances.values() {
        for (one, stance) in positions {
            for (other, their) in positions.iter().filter(|(other, _)| *other != one) {
                let pair = pairs.entry((one, other)).or_default();
                pair.0 += u64::from(stance == their);
                pair.1 += 1;
            }
        }
    }
    let members = cast
        .members
        .iter()
        .map(|(name, role)| (Voter::Agent(name.clone()), *role));
    let mut voters: Vec<_> = members.chain([(Voter::Person, None)]).collect();
    voters.retain(|(voter, _)| pairs.keys().any(|(one, _)| *one == voter));
    if voters.is_empty() {
        return None;
    }
    let hidden = voters.len().saturating_sub(MOST);
    voters.truncate(MOST);
    let mut rows = Vec::new();
    for (voter, role) in &voters {
        let cells = voters.iter().map(|(other, _)| {
            let counts = pairs.get(&(voter, other));
            values! {
                is_own => voter == other,
                same => counts.map(|(same, _)| same),
                all => counts.map(|(_, all)| all),
            }
        });
        let name = match voter {
            Voter::Agent(name) => name.0.as_str(),
            Voter::Person => "a person",
        };
        rows.push(values! { name, role, cells => cells.collect::<Vec<_>>() });
    }
    Some(values! { rows, hidden })
}

fn stances(outcome: &Outcome, calls: &[TimedCall<'_>], cast: &Cast) -> Stances {
    let mut stances = Stances::new();
    let agent = |name: &AgentName| Voter::Agent(name.clone());
    for settled in &outcome.findings {
        let finding = &settled.finding;
        let own = stances.entry(finding.id).or_default();
        own.extend(finding.raised_by.iter().map(|by| (agent(by), Stance::For)));
        if let Some(consensus) = &finding.consensus {
            own.extend(
                consensus
                    .confirmed_by
                    .iter()
                    .map(|by| (agent(by), Stance::For)),
            );
            let denials = consensus
                .positions
                .iter()
                .filter(|position| position.denies);
            own.extend(denials.map(|position| (agent(&position.reviewer), Stance::Against)));
        }
    }
    let mut is_answered = false;
    for call in calls {
        let Some(end) = &call.ended else { continue };
        let by = end.told.by.as_ref().unwrap_or(&call.id.agent);
        let said: Vec<(FindingId, Stance)> = match end.answer {
            CallAnswer::Examine { examinations, .. } => {
                let said = examinations.iter().map(|one| match one.action {
                    ExaminationWord::Agree => (one.finding, Stance::For),
                    ExaminationWord::Disagree => (one.finding, Stance::Against),
                    ExaminationWord::Partial => (one.finding, Stance::InPart),
                });
                said.collect()
            }
            CallAnswer::Defend { defences } => {
                let conceded = defences
                    .iter()
                    .filter(|one| one.action == DefenceWord::Concede);
                conceded.map(|one| (one.finding, Stance::Against)).collect()
            }
            // If a ruling forces the coder to implement a finding, the coder's answer is ignored. Such an answer
            // does not show the coder's own opinion.
            CallAnswer::Respond { responses, .. }
                if call.id.purpose.is_coder() && !is_enforced(call) =>
            {
                is_answered = true;
                let answers = responses.iter();
                answers
                    .map(|one| (one.finding, of_answer(one.answer)))
                    .collect()
            }
            _ => continue,
        };
        for (finding, stance) in said {
            if let Some(own) = stances.get_mut(&finding) {
                own.insert(agent(by), stance);
            }
        }
    }
    if !is_answered {
        for settled in &outcome.findings {
            if let (Some(response), Some(coder), Some(own)) = (
                &settled.response,
                cast.coder_of(settled),
                stances.get_mut(&settled.finding.id),
            ) {
                own.insert(agent(coder), of_answer(response.answer));
            }
        }
    }
    for dispute in outcome
        .disputes
        .iter()
        .filter(|dispute| dispute.opened_by.is_none())
    {
        let Some(own) = stances.get_mut(&dispute.finding.id) else {
            continue;
        };
        for record in &dispute.rulings {
            let ruler = match &record.by {
                Ruler::Judge { name } => Some(agent(name)),
                Ruler::Human(_) => Some(Voter::Person),
                Ruler::Panel | Ruler::Policy => None,
            };
            own.extend(ruler.zip(of_ruling(&record.ruling)));
            for vote in &record.votes {
                let stance = vote.ruling.as_ref().and_then(of_ruling);
                own.extend(stance.map(|stance| (agent(&vote.judge), stance)));
            }
        }
    }
    stances
}

fn is_enforced(call: &TimedCall<'_>) -> bool {
    matches!(call.id.purpose, Purpose::Enforce { .. })
}

fn of_answer(answer: Answer) -> Stance {
    match answer {
        Answer::Implemented => Stance::For,
        Answer::Discarded | Answer::Disagree => Stance::Against,
    }
}

/// Returns whether a ruling supports the finding fully, in part, or not at all. Returns `None` for the ruling
/// ESCALATE.
fn of_ruling(ruling: &Ruling) -> Option<Stance> {
    match ruling.ruling {
        RulingWord::Enforce => Some(Stance::For),
        RulingWord::Dismiss
            if ruling.new_tag.is_some() || ruling.grounds == Some(Grounds::NotMandatory) =>
        {
            Some(Stance::InPart)
        }
        RulingWord::Dismiss => Some(Stance::Against),
        RulingWord::Escalate => None,
    }
}

#[cfg(test)]
mod unit_tests {
    use super::*;
    use crate::cli::style::fixture::{clean, dispute, finding, ruling, settled};
    use glee_model::domain::{FindingState, Role, Tag};

    #[test]
    fn the_same_position_counts_as_agreement() {
        let mut outcome = clean();
        for id in 1..=3 {
            let raised = finding(id, Tag::High, "a.py:3", "A");
            let answer = if id == 1 {
                Answer::Implemented
            } else {
                Answer::Disagree
            };
            outcome.findings.push(settled(
                raised.clone(),
                FindingState::Open,
                Some((answer, "so")),
            ));
            if id > 1 {
                let mut disputed = dispute(u64::from(id), raised, "no", &[]);
                let word = if id == 2 {
                    RulingWord::Dismiss
                } else {
                    RulingWord::Escalate
                };
                disputed.rulings = vec![ruling(word, "because")];
                outcome.disputes.push(disputed);
            }
        }
        let members = [
            ("rules", Role::Reviewer),
            ("fixer", Role::Coder),
            ("referee", Role::Judge),
        ]
        .map(|(name, role)| (AgentName::from(name), Some(role)));
        let view = view(
            &outcome,
            &[],
            &Cast {
                members: members.to_vec(),
            },
        )
        .expect("positions");
        let view = serde_json::to_value(&view).expect("JSON");
        let text = |cell: &serde_json::Value| match &cell["all"] {
            serde_json::Value::Null => "·".to_owned(),
            all => format!("{} of {all}", cell["same"]),
        };
        let rows = view["rows"].as_array().expect("rows").iter();
        let texts: Vec<(String, Vec<String>)> = rows
            .map(|row| {
                let cells = row["cells"].as_array().expect("cells").iter();
                let name = row["name"].as_str().expect("a name").to_owned();
                (name, cells.map(text).collect())
            })
            .collect();
        let expected = [
            ("rules", ["·", "1 of 3", "0 of 1"]),
            ("fixer", ["1 of 3", "·", "1 of 1"]),
            ("referee", ["0 of 1", "1 of 1", "·"]),
        ];
        let expected =
            expected.map(|(name, cells)| (name.to_owned(), cells.map(str::to_owned).to_vec()));
        assert_eq!(texts, expected);
    }
}
