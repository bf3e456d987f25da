//! The discussion of each finding: the statements of agents and people, in the order of the events.

use std::collections::HashMap;

use serde::Serialize;

use super::cast::{Cast, role_class};
use crate::cli::report::html::environment::tone;
use crate::cli::report::view::ruler;
use crate::cli::style::Color;
use glee_model::domain::event::{CallAnswer, DisputeEvent, Event, EventKind, RunEvent};
use glee_model::domain::{
    AgentName, Answer, DefenceWord, DisputeNumber, ExaminationWord, FindingId, Outcome, PanelVote,
    Response, Role, Ruler, RulingRecord, SettledFinding, Untrusted,
};
use glee_protocol::secrets;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ThreadEntry {
    who: String,
    /// The CSS class of the speaker's role.
    role: &'static str,
    title: &'static str,
    action: String,
    tone: &'static str,
    text: Untrusted,
    evidence: Vec<Untrusted>,
    dispute: Option<DisputeNumber>,
}

#[derive(Debug, Default)]
pub(crate) struct Threads {
    entries: HashMap<FindingId, Vec<ThreadEntry>>,
    /// The ids of findings that had another id in the debate.
    renamed: HashMap<FindingId, FindingId>,
}

impl Threads {
    pub(crate) fn of(outcome: &Outcome, events: &[Event], cast: &Cast) -> Self {
        let speaker = Speaker { cast };
        let mut threads = Self::default();
        let mut disputed: HashMap<DisputeNumber, Vec<FindingId>> = HashMap::new();
        for dispute in outcome
            .disputes
            .iter()
            .filter(|dispute| dispute.opened_by.is_none())
        {
            let about = dispute.findings().map(|finding| finding.id).collect();
            disputed.insert(dispute.number, about);
        }
        let was = outcome.findings.iter();
        threads.renamed = was
            .filter_map(|settled| Some((settled.finding.was?, settled.finding.id)))
            .collect();
        for event in events {
            match &event.kind {
                EventKind::Run(RunEvent::CallFinished {
                    call, answer, told, ..
                }) => {
                    let name = told.by.as_ref().unwrap_or(&call.agent);
                    threads.answer(&speaker, name, answer);
                }
                EventKind::Dispute(DisputeEvent::RulingGiven { dispute, ruling }) => {
                    for finding in disputed.get(dispute).into_iter().flatten() {
                        threads.add(
                            *finding,
                            speaker.ruling(*dispute, &secrets::redact_value(ruling.clone())),
                        );
                    }
                }
                EventKind::Dispute(DisputeEvent::ObjectionAnswered { dispute, answered }) => {
                    for finding in disputed.get(dispute).into_iter().flatten() {
                        let text = secrets::redact_value(answered.answer.clone());
                        let entry = speaker.person("answered the coder", *dispute, &text);
                        threads.add(*finding, entry);
                    }
                }
                EventKind::Dispute(DisputeEvent::RulingRevoked { dispute, reason }) => {
                    for finding in disputed.get(dispute).into_iter().flatten() {
                        let text = secrets::redact_value(reason.clone());
                        threads.add(
                            *finding,
                            speaker.person("revoked the ruling", *dispute, &text),
                        );
                    }
                }
                _ => {}
            }
        }
        if events.is_empty() {
            threads.add_outcome(&speaker, outcome);
        }
        for finding in &outcome.findings {
            threads.begin(&speaker, finding);
        }
        threads
    }

    pub(crate) fn take(&mut self, finding: FindingId) -> Vec<ThreadEntry> {
        self.entries.remove(&finding).unwrap_or_default()
    }

    /// Adds an entry to the discussion of a finding if the discussion does not contain the same entry yet. An
    /// agent can repeat an answer when a call is retried.
    fn add(&mut self, finding: FindingId, entry: ThreadEntry) {
        let finding = self.renamed.get(&finding).copied().unwrap_or(finding);
        let entries = self.entries.entry(finding).or_default();
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }

    fn answer(&mut self, speaker: &Speaker<'_>, by: &AgentName, answer: &CallAnswer) {
        match answer {
            CallAnswer::Examine { examinations, .. } => {
                for said in secrets::redact_value(examinations.clone()) {
                    let (word, tone) = match said.action {
                        ExaminationWord::Agree => ("agrees", "good"),
                        ExaminationWord::Disagree => ("disagrees", "bad"),
                        ExaminationWord::Partial => ("agrees in part", "warn"),
                    };
                    let word = adjusted(word, said.confidence_adjustment);
                    self.add(
                        said.finding,
                        speaker.entry(by, Role::Reviewer, word, tone, &said.reasoning),
                    );
                }
            }
            CallAnswer::Defend { defences } => {
                for said in secrets::redact_value(defences.clone()) {
                    let (word, tone) = match said.action {
                        DefenceWord::Defend => ("maintains it", "minor"),
                        DefenceWord::Concede => ("withdraws it", "good"),
                        DefenceWord::Modify => ("revises it", "warn"),
                    };
                    let mut word = adjusted(word, said.confidence_adjustment);
                    if let Some(severity) = &said.revised_severity {
                        word.push_str(&format!(", now {severity}"));
                    }
                    let mut entry = speaker.entry(by, Role::Reviewer, word, tone, &said.reasoning);
                    entry.evidence.extend(said.revised_description.clone());
                    self.add(said.finding, entry);
                }
            }
            CallAnswer::Respond { responses, .. } => {
                for response in secrets::redact_value(responses.clone()) {
                    self.add(response.finding, speaker.response(Some(by), &response));
                }
            }
            CallAnswer::Recheck { checks } => {
                for check in secrets::redact_value(checks.clone()) {
                    let (word, tone) = if check.resolved {
                        ("resolved", "good")
                    } else {
                        ("not resolved", "bad")
                    };
                    self.add(
                        check.finding,
                        speaker.entry(by, Role::Reviewer, word.to_owned(), tone, &check.reason),
                    );
                }
            }
            _ => {}
        }
    }

    /// Adds the coders' responses and the rulings from `outcome` to the discussions. This is necessary only for
    /// reports without events.
    fn add_outcome(&mut self, speaker: &Speaker<'_>, outcome: &Outcome) {
        for finding in &outcome.findings {
            if let Some(response) = &finding.response {
                let coder = speaker.cast.coder_of(finding);
                self.add(finding.finding.id, speaker.response(coder, response));
            }
        }
        for dispute in outcome
            .disputes
            .iter()
            .filter(|dispute| dispute.opened_by.is_none())
        {
            for finding in dispute.findings() {
                for ruling in &dispute.rulings {
                    self.add(finding.id, speaker.ruling(dispute.number, ruling));
                }
            }
        }
    }

    /// Inserts the reviewers' opinions at the beginning of a finding's discussion. If only one reviewer expressed
    /// an opinion and the discussion is otherwise empty, inserts nothing.
    fn begin(&mut self, speaker: &Speaker<'_>, settled: &SettledFinding) {
        let finding = &settled.finding;
        let positions = finding
            .consensus
            .as_ref()
            .map(|consensus| consensus.positions.as_slice())
            .unwrap_or_default();
        let mut raised: Vec<ThreadEntry> = Vec::new();
        for by in &finding.raised_by {
            let position = positions
                .iter()
                .find(|position| position.reviewer == *by && !position.denies);
            let severity = position.map_or(&finding.raw.severity, |position| &position.severity);
            let sure = position.map_or(finding.raw.confidence, |position| position.confidence);
            let sure = sure.map_or_else(String::new, |sure| format!(", {}% sure", sure.get()));
            let word = format!("raised it as {severity}{sure}");
            raised.push(speaker.entry(by, Role::Reviewer, word, "minor", &Untrusted::default()));
        }
        for position in positions.iter().filter(|position| position.denies) {
            let word = "sees no issue".to_owned();
            raised.push(speaker.entry(
                &position.reviewer,
                Role::Reviewer,
                word,
                "bad",
                &position.denial,
            ));
        }
        if let Some(entries) = self.entries.get_mut(&finding.id) {
            entries.splice(0..0, raised);
        } else if raised.len() > 1 {
            self.entries.insert(finding.id, raised);
        }
    }
}

fn adjusted(word: &str, by: i32) -> String {
    if by == 0 {
        word.to_owned()
    } else {
        format!("{word}, confidence {by:+}")
    }
}

/// Creates the entries of a finding's discussion. `cast` contains the role of each participant.
struct Speaker<'a> {
    cast: &'a Cast,
}

impl Speaker<'_> {
    fn entry(
        &self,
        by: &AgentName,
        role: Role,
        action: String,
        tone: &'static str,
        text: &Untrusted,
    ) -> ThreadEntry {
        let role = self.cast.role(by).unwrap_or(role);
        said(
            &by.0,
            role_class(Some(role)),
            role.as_str(),
            action,
            tone,
            text,
        )
    }

    fn response(&self, by: Option<&AgentName>, response: &Response) -> ThreadEntry {
        let (word, tone) = match response.answer {
            Answer::Implemented => ("implemented it", "good"),
            Answer::Discarded => ("discards it", "minor"),
            Answer::Disagree => ("objects", "bad"),
        };
        let name = by.map_or("the coder", |name| name.0.as_str());
        let mut entry = said(
            name,
            "coder",
            "coder",
            word.to_owned(),
            tone,
            &response.text,
        );
        entry.evidence.clone_from(&response.evidence);
        entry
    }

    fn ruling(&self, dispute: DisputeNumber, record: &RulingRecord) -> ThreadEntry {
        let ruling = &record.ruling;
        let (role, title) = match &record.by {
            Ruler::Judge { .. } | Ruler::Panel => ("judge", "judge"),
            Ruler::Human(_) => ("person", "person"),
            Ruler::Policy => ("person", "configured route"),
        };
        let name = ruler(&record.by);
        let mut entry = said(
            &name,
            role,
            title,
            ruling.ruling.to_string(),
            tone(Color::of_ruling(ruling.ruling)),
            &ruling.rationale,
        );
        entry.evidence = record.votes.iter().map(PanelVote::said).collect();
        entry.dispute = Some(dispute);
        entry
    }

    fn person(&self, action: &str, dispute: DisputeNumber, text: &Untrusted) -> ThreadEntry {
        let mut entry = said(
            "a person",
            "person",
            "person",
            action.to_owned(),
            "warn",
            text,
        );
        entry.dispute = Some(dispute);
        entry
    }
}

fn said(
    who: &str,
    role: &'static str,
    title: &'static str,
    action: String,
    tone: &'static str,
    text: &Untrusted,
) -> ThreadEntry {
    ThreadEntry {
        who: who.to_owned(),
        role,
        title,
        action,
        tone,
        text: text.clone(),
        evidence: Vec::new(),
        dispute: None,
    }
}
