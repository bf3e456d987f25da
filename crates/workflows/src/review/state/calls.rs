//! Updates the state of a review with the answers that agents gave to calls.

use super::{RecordedCall, ReviewState};
use glee_agents::Session;
use glee_model::domain::event::{CallAnswer, CallId, Purpose};
use glee_model::domain::{
    AgentName, AnswerStatus, CallMetadata, CodeRead, FailureKind, GivenPlace, Usage,
};
use glee_model::rules::review::progress::RECHECKS;

impl ReviewState {
    /// The ended attempts of a call.
    pub fn attempts<'a>(
        &'a self,
        agent: &'a AgentName,
        purpose: &'a Purpose,
    ) -> impl Iterator<Item = &'a RecordedCall> {
        self.calls
            .iter()
            .filter(move |(id, _)| id.agent == *agent && id.purpose == *purpose)
            .map(|(_, call)| call)
    }

    /// `by` is the agent that answered: the agent of the call, or its backup.
    pub(crate) fn finish_call(&mut self, call: &CallId, by: &AgentName, answer: &CallAnswer) {
        let is_given = match call.purpose {
            Purpose::Enforce { .. } => true,
            // These calls do not withdraw the coder's earlier responses.
            Purpose::Repair { .. } | Purpose::Reply { .. } => false,
            _ => call.purpose.is_coder() && self.is_first_attempt(call),
        };
        if is_given {
            let before = self.changes_before(call);
            let is_enforced = matches!(call.purpose, Purpose::Enforce { .. });
            let undone = self.undone;
            for id in self.items(&call.agent, &call.purpose) {
                let progress = self.progress_mut(id);
                if undone {
                    progress.asked_after.clear();
                }
                progress.send(by, before);
                progress.enforced += u32::from(is_enforced);
            }
        }
        match answer {
            CallAnswer::Respond { responses, .. } => {
                let is_reply = matches!(call.purpose, Purpose::Reply { .. });
                for response in responses {
                    let progress = self.progress_mut(response.finding);
                    progress.answer(by, response);
                    // What is implemented upon an answer need not be enforced.
                    let is_conceded = is_reply && progress.says_implemented();
                    progress.enforced += u32::from(is_conceded);
                }
            }
            CallAnswer::Recheck { checks } => {
                let asked = self.recheck_items(&call.agent);
                for check in checks {
                    let progress = self.progress_mut(check.finding);
                    progress.checks.insert(call.agent.clone(), check.clone());
                }
                let left_out = asked
                    .into_iter()
                    .filter(|id| checks.iter().all(|check| check.finding != *id));
                self.count_unanswered(left_out.collect(), &call.agent, 1);
            }
            CallAnswer::Invalid { .. } | CallAnswer::Failed { .. }
                if matches!(call.purpose, Purpose::Recheck { .. }) =>
            {
                let tries = match answer {
                    CallAnswer::Failed { cause, .. }
                        if !cause.is_some_and(FailureKind::may_pass) =>
                    {
                        RECHECKS
                    }
                    _ => 1,
                };
                self.count_unanswered(self.recheck_items(&call.agent), &call.agent, tries);
            }
            CallAnswer::Close {
                findings,
                read,
                places,
            } => {
                self.place_findings(call, places);
                self.close(call, *findings, *read);
            }
            _ => {}
        }
    }

    /// The number of tree changes before the coders were asked. The coders of a round are asked about the same code, so a
    /// change by one of them counts for the findings of all.
    fn changes_before(&self, call: &CallId) -> usize {
        let of_round = self.tree_changes.iter().rev().take_while(|change| {
            matches!(call.purpose, Purpose::Respond { .. })
                && change.call.purpose == call.purpose
                && change.call.attempt > self.asked_before(&change.call.agent)
        });
        self.tree_changes.len() - of_round.count()
    }

    /// A reviewer said where findings are, or withdrew them, because their places do not exist.
    fn place_findings(&mut self, call: &CallId, places: &[GivenPlace]) {
        let review = call
            .asked_about()
            .and_then(|asked| self.calls.get_mut(&asked));
        let Some(CallAnswer::Review { findings, .. }) = review.map(|review| &mut review.answer)
        else {
            return;
        };
        for GivenPlace { finding, place } in places {
            let at = (*finding as usize).checked_sub(1);
            if let Some(raw) = at.and_then(|at| findings.get_mut(at))
                && let Some(place) = place
            {
                raw.file = Some(place.file.clone());
                raw.line = place.line;
                raw.end_line = place.end_line;
            }
        }
        let mut number = 0;
        findings.retain(|_| {
            number += 1;
            let mut places = places.iter();
            !places.any(|given| given.finding == number && given.place.is_none())
        });
    }

    /// A reviewer said how its answer is to be closed. An answer without findings becomes clean if the reviewer read all
    /// of the code and reports nothing. An answer with findings becomes complete unless the reviewer read a part of the
    /// code; if the reviewer's number differs from the findings, the problem stays with the answer as a note.
    fn close(&mut self, call: &CallId, number: u64, read: Option<CodeRead>) {
        let Some(asked) = call.asked_about() else {
            return;
        };
        let Some(review) = self.calls.get_mut(&asked) else {
            return;
        };
        let CallAnswer::Review {
            status,
            findings,
            problem,
            read: extent,
            is_doubtful,
            ..
        } = &mut review.answer
        else {
            return;
        };
        if !*is_doubtful || read == Some(CodeRead::Part) {
            return;
        }
        let is_right = number == findings.len() as u64;
        *status = match (findings.is_empty(), is_right) {
            (true, true) if read == Some(CodeRead::All) => AnswerStatus::Clean,
            (true, _) => return,
            (false, _) => AnswerStatus::Complete,
        };
        *extent = read;
        *is_doubtful = false;
        if is_right {
            *problem = None;
        }
    }

    /// If a call of a coder got an answer, stores the session of the call. If the call failed, clears the coder's stored
    /// session.
    pub(crate) fn take_session(
        &mut self,
        call: &CallId,
        by: &AgentName,
        answer: &CallAnswer,
        usage: &Usage,
        told: &CallMetadata,
    ) {
        if !call.purpose.is_coder() {
            return;
        }
        let answered = matches!(
            answer,
            CallAnswer::Respond { .. } | CallAnswer::Invalid { .. }
        );
        let earlier = self.coder_sessions.remove(&call.agent);
        let Some(id) = told.session.as_ref().filter(|_| answered) else {
            return;
        };
        let resumed = earlier.filter(|earlier| earlier.agent == *by && earlier.id == *id);
        let session = Session {
            agent: by.clone(),
            id: id.clone(),
            used: resumed.map_or(*usage, |resumed| resumed.used.plus(*usage)),
        };
        self.coder_sessions.insert(call.agent.clone(), session);
    }
}
