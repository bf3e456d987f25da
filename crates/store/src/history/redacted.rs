//! Replaces secrets in an event before the event is recorded, whoever wrote its texts: an agent, a person or a
//! command.

use glee_model::domain::event::{ConsensusEvent, EventKind, Plan, ReviewEvent, WatchEvent};
use glee_model::domain::{Reuse, StagePlan, WatchPlan};
use glee_protocol::secrets;

/// Redacts the texts of an event. Ids, hashes and the path of the work tree remain unchanged.
pub fn event(kind: EventKind) -> EventKind {
    match kind {
        EventKind::Review(ReviewEvent::RunStarted { plan }) => {
            let Plan {
                root, commit, tree, ..
            } = (*plan).clone();
            let plan = Box::new(Plan {
                root,
                commit,
                tree,
                ..secrets::redact_value(*plan)
            });
            ReviewEvent::RunStarted { plan }.into()
        }
        EventKind::Watch(WatchEvent::WatchStarted { plan }) => {
            let WatchPlan { root, tree, .. } = (*plan).clone();
            let plan = Box::new(WatchPlan {
                root,
                tree,
                ..secrets::redact_value(*plan)
            });
            WatchEvent::WatchStarted { plan }.into()
        }
        // Only the text fields of `EventReceived` are redacted, because a watch can record ten thousand of
        // these events per second.
        EventKind::Watch(WatchEvent::EventReceived { mut said }) => {
            let texts = said.summary.iter_mut().chain(&mut said.files);
            texts.for_each(|text| *text = secrets::redact(text.as_written()).into_owned().into());
            WatchEvent::EventReceived { said }.into()
        }
        EventKind::Consensus(ConsensusEvent::StageStarted { plan }) => {
            let StagePlan { root, id, .. } = (*plan).clone();
            let plan = Box::new(StagePlan {
                root,
                id,
                ..secrets::redact_value(*plan)
            });
            ConsensusEvent::StageStarted { plan }.into()
        }
        EventKind::Review(ReviewEvent::FilesReviewed { call, mut review }) => {
            for file in &mut review.files {
                file.file = secrets::redact(&file.file).into_owned();
                file.findings = secrets::redact_value(std::mem::take(&mut file.findings));
            }
            review.others = secrets::redact_value(review.others);
            review.places = review
                .places
                .into_iter()
                .map(|(file, key)| (secrets::redact(&file).into_owned(), key))
                .collect();
            ReviewEvent::FilesReviewed { call, review }.into()
        }
        EventKind::Review(ReviewEvent::AnswersReused { call, reuse }) => {
            let mut reuse = *reuse;
            // A hash can look like a secret. The paths are redacted since the event of the call.
            let reads = std::mem::take(&mut reuse.reads);
            let reuse = Box::new(Reuse {
                reads,
                ..secrets::redact_value(reuse)
            });
            ReviewEvent::AnswersReused { call, reuse }.into()
        }
        kind => secrets::redact_value(kind),
    }
}
