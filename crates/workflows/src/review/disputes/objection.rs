//! Builds the objection to a finding when a dispute is opened. The objection comes from the coder's answer, from
//! the statements of other reviewers, or from an earlier finding.

use crate::review::state::ReviewState;
use glee_model::domain::{
    AgentName, Answer, Class, ExaminationWord, Finding, FindingId, Objector, RawFinding, Response,
    Sides, Untrusted, event::CallAnswer,
};
use glee_protocol::text::references;

impl ReviewState {
    /// The two sides of a dispute about `findings`, which are members of one group.
    pub fn sides(&self, findings: &[FindingId]) -> Sides {
        let mut members = findings.iter().filter_map(|id| self.finding(*id));
        let finding = members
            .next()
            .expect("a dispute is opened about a finding of the run");
        let id = finding.id;
        let (objection, objector) = match finding.reverses {
            None if self.is_judged_first(finding) => {
                let objector = if finding.is_contradicted() {
                    Objector::Reviewers
                } else {
                    Objector::Unconfirmed
                };
                (self.between_reviewers(finding), objector)
            }
            None => {
                let objection = self
                    .progress(id)
                    .response
                    .clone()
                    .expect("a dispute is opened on an objection");
                (objection, Objector::Coder)
            }
            Some(earlier) => (self.reversal(id, earlier), Objector::Earlier),
        };
        let earlier = findings
            .iter()
            .flat_map(|id| &self.progress(*id).related)
            .cloned()
            .collect();
        Sides {
            finding: finding.clone(),
            members: members.cloned().collect(),
            objection,
            objector,
            earlier,
            participant: None,
        }
    }

    fn reversal(&self, id: FindingId, earlier: FindingId) -> Response {
        let undone = self.finding(earlier);
        let title = undone
            .map(|finding| finding.raw.title.clone())
            .unwrap_or_default();
        let place = undone.and_then(|finding| finding.raw.location());
        Response {
            finding: id,
            answer: Answer::Disagree,
            text: title.labelled(&format!(
                "this undoes {earlier}, which asked for the opposite and was implemented: "
            )),
            evidence: place.iter().map(|place| place.to_string().into()).collect(),
            demonstration: None,
        }
    }

    /// The objection for a dispute that the judge decides before Glee sends the finding to the coder. The text
    /// quotes the statements of the reviewers about the finding. The evidence is the code that reviewers cite
    /// against the finding.
    fn between_reviewers(&self, finding: &Finding) -> Response {
        let consensus = finding.consensus.as_ref();
        let notes = consensus.into_iter().flat_map(|consensus| {
            let alone = consensus.class != Class::Disputed;
            let decides =
                alone.then(|| format!("What would decide it: {}", consensus.would_decide));
            std::iter::once(consensus.why.clone())
                .chain(consensus.notes.clone())
                .chain(decides)
        });
        let mut lines: Vec<String> = notes.collect();
        let mut evidence: Vec<Untrusted> = Vec::new();
        for statement in self.statements(finding) {
            lines.push(statement.line());
            if statement.is_against {
                let cited = references::references(statement.reasoning)
                    .filter(|found| found.lines.is_some());
                for found in cited.map(|found| Untrusted::from(found.to_string())) {
                    if !evidence.contains(&found) {
                        evidence.push(found);
                    }
                }
            }
        }
        let text = lines.join("\n").into();
        Response {
            finding: finding.id,
            answer: Answer::Disagree,
            text,
            evidence,
            demonstration: None,
        }
    }

    fn statements<'a>(&'a self, finding: &'a Finding) -> Vec<Statement<'a>> {
        let round = finding.round;
        let positions = finding
            .consensus
            .iter()
            .flat_map(|consensus| &consensus.positions);
        let denials = positions
            .filter(|position| position.denies)
            .filter_map(|position| {
                let raw = self.raw_finding(&position.said)?;
                let text = if raw.body.as_written().trim().is_empty() {
                    &raw.title
                } else {
                    &raw.body
                };
                Some(Statement {
                    round: 1,
                    by: &position.reviewer,
                    verdict: "no issue",
                    adjustment: 0,
                    reasoning: text.as_written(),
                    is_against: true,
                })
            });
        let examined = self
            .examinations(round)
            .filter(|(_, examination)| examination.finding == finding.id);
        let examined = examined.map(|(by, examination)| Statement {
            round: 2,
            by,
            verdict: examination.action.as_str(),
            adjustment: examination.confidence_adjustment,
            reasoning: examination.reasoning.as_written(),
            is_against: examination.action != ExaminationWord::Agree,
        });
        let defended = self
            .defences(round)
            .filter(|(_, defence)| defence.finding == finding.id);
        let defended = defended.map(|(by, defence)| Statement {
            round: 3,
            by,
            verdict: defence.action.as_str(),
            adjustment: defence.confidence_adjustment,
            reasoning: defence.reasoning.as_written(),
            is_against: false,
        });
        denials.chain(examined).chain(defended).collect()
    }

    /// `place` has the form `call/index`, where `call` is the file stem of a call.
    fn raw_finding(&self, place: &str) -> Option<&RawFinding> {
        let (stem, index) = place.rsplit_once('/')?;
        let (_, call) = self.calls.iter().find(|(id, _)| id.file_stem() == stem)?;
        match &call.answer {
            CallAnswer::Review { findings, .. } => findings.get(index.parse::<usize>().ok()?),
            _ => None,
        }
    }
}

struct Statement<'a> {
    /// The round of the debate. Round 1 is the review before the debate.
    round: u32,
    by: &'a AgentName,
    verdict: &'a str,
    adjustment: i32,
    reasoning: &'a str,
    is_against: bool,
}

impl Statement<'_> {
    /// Formats a line such as `Round 2, bob: DISAGREE (confidence -10): why`.
    fn line(&self) -> String {
        let Self {
            round,
            by,
            verdict,
            adjustment,
            reasoning,
            ..
        } = self;
        let confidence = if *adjustment == 0 {
            String::new()
        } else {
            format!(" (confidence {adjustment:+})")
        };
        format!(
            "Round {round}, {by}: {}{confidence}: {}",
            verdict.to_uppercase(),
            reasoning.trim()
        )
    }
}
