//! What stands against a finding when its dispute is opened.
//!
//! The coder's objection, or what takes its place where no coder was asked to take a side: what reviewers said of it, in
//! the rounds of the debate as well.

use crate::domain::event::CallAnswer;
use crate::domain::{
    AgentName, Answer, Class, ExaminationWord, Finding, FindingId, Objector, RawFinding, Response, Sides, Untrusted,
};
use crate::workflows::review::disputes::references;
use crate::workflows::review::state::ReviewState;

impl ReviewState {
    pub(crate) fn sides(&self, id: FindingId) -> Sides {
        let finding = self.finding(id).expect("a dispute is opened about a finding of the run");
        let (objection, objector) = match finding.reverses {
            None if self.is_judged_first(finding) => {
                let contradicted = finding.consensus.as_ref().is_some_and(|said| said.class == Class::Disputed);
                let objector = if contradicted { Objector::Reviewers } else { Objector::Unconfirmed };
                (self.between_reviewers(finding), objector)
            }
            None => {
                let objection = self.responses.get(&id).expect("a dispute is opened on an objection").clone();
                (objection, Objector::Coder)
            }
            Some(earlier) => (self.reversal(id, earlier), Objector::Earlier),
        };
        let earlier = self.related.get(&id).cloned().unwrap_or_default();
        Sides { finding: finding.clone(), objection, objector, earlier }
    }

    /// The objection against a reversal is the finding that it asks to undo.
    fn reversal(&self, id: FindingId, earlier: FindingId) -> Response {
        let undone = self.finding(earlier);
        let title = undone.map(|finding| finding.raw.title.clone()).unwrap_or_default();
        let place = undone.and_then(|finding| finding.raw.location());
        Response {
            finding: id,
            answer: Answer::Disagree,
            text: title
                .labelled(&format!("this undoes {earlier}, which asked for the opposite and was implemented: ")),
            evidence: place.iter().map(|place| place.to_string().into()).collect(),
        }
    }

    /// The objection against a finding that no coder has seen yet: what the others say, each with its verdict and
    /// reasons, what its raisers answered, or that nobody else says so. What those against it cite is the evidence.
    fn between_reviewers(&self, finding: &Finding) -> Response {
        let consensus = finding.consensus.as_ref();
        let notes = consensus.into_iter().flat_map(|consensus| {
            let alone = consensus.class != Class::Disputed;
            let decides = alone.then(|| format!("What would decide it: {}", consensus.would_decide));
            std::iter::once(consensus.why.clone()).chain(consensus.notes.clone()).chain(decides)
        });
        let mut lines: Vec<String> = notes.collect();
        let mut evidence: Vec<Untrusted> = Vec::new();
        for said in self.said_of(finding) {
            lines.push(said.line());
            if said.is_against {
                let cited =
                    references::references(said.reasoning).into_iter().filter(|found| found.lines.is_some());
                for found in cited.map(|found| Untrusted::from(found.to_string())) {
                    if !evidence.contains(&found) {
                        evidence.push(found);
                    }
                }
            }
        }
        let text = lines.join("\n").into();
        Response { finding: finding.id, answer: Answer::Disagree, text, evidence }
    }

    /// What reviewers said of a finding: who denied it in the review, the examinations, the defences.
    fn said_of<'a>(&'a self, finding: &'a Finding) -> Vec<Said<'a>> {
        let round = finding.round;
        let positions = finding.consensus.iter().flat_map(|consensus| &consensus.positions);
        let denials = positions.filter(|position| position.denies).filter_map(|position| {
            let raw = self.read_at(&position.said)?;
            let said = if raw.body.as_written().trim().is_empty() { &raw.title } else { &raw.body };
            Some(Said {
                round: 1,
                by: &position.reviewer,
                verdict: "no issue",
                adjustment: 0,
                reasoning: said.as_written(),
                is_against: true,
            })
        });
        let examined = self.examinations(round).filter(|(_, said)| said.finding == finding.id);
        let examined = examined.map(|(by, said)| Said {
            round: 2,
            by,
            verdict: said.action.as_str(),
            adjustment: said.confidence_adjustment,
            reasoning: said.reasoning.as_written(),
            is_against: said.action != ExaminationWord::Agree,
        });
        let defended = self.defences(round).filter(|(_, said)| said.finding == finding.id);
        let defended = defended.map(|(by, said)| Said {
            round: 3,
            by,
            verdict: said.action.as_str(),
            adjustment: said.confidence_adjustment,
            reasoning: said.reasoning.as_written(),
            is_against: false,
        });
        denials.chain(examined).chain(defended).collect()
    }

    /// The finding that was read at a place in an answer: the call and the number in it.
    fn read_at(&self, said: &str) -> Option<&RawFinding> {
        let (stem, index) = said.rsplit_once('/')?;
        let (_, call) = self.calls.iter().find(|(id, _)| id.file_stem() == stem)?;
        match &call.answer {
            CallAnswer::Review { findings, .. } => findings.get(index.parse::<usize>().ok()?),
            _ => None,
        }
    }
}

struct Said<'a> {
    /// The round of the debate, the review being the first.
    round: u32,
    by: &'a AgentName,
    verdict: &'a str,
    /// How much it changes the confidence.
    adjustment: i32,
    reasoning: &'a str,
    is_against: bool,
}

impl Said<'_> {
    /// `Round 2, bob: DISAGREE (confidence -10): why`
    fn line(&self) -> String {
        let Self { round, by, verdict, adjustment, reasoning, .. } = self;
        let confidence = if *adjustment == 0 { String::new() } else { format!(" (confidence {adjustment:+})") };
        format!("Round {round}, {by}: {}{confidence}: {}", verdict.to_uppercase(), reasoning.trim())
    }
}
