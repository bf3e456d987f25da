//! Replaces secrets in an event before the event is recorded, whoever wrote its texts: an agent, a person or a
//! command.

use glee_model::domain::event::{ConsensusEvent, EventKind, Plan, ReviewEvent, WatchEvent};
use glee_model::domain::{FileReview, StagePlan, WatchPlan};
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
        EventKind::Review(ReviewEvent::FilesReviewed {
            call,
            asker,
            salt,
            files,
            others,
            places,
            reads,
        }) => {
            let clean = |review: FileReview| FileReview {
                file: secrets::redact(&review.file).into_owned(),
                findings: secrets::redact_value(review.findings),
                ..review
            };
            let files = files.into_iter().map(clean).collect();
            let others = secrets::redact_value(others);
            ReviewEvent::FilesReviewed {
                call,
                asker,
                salt,
                files,
                others,
                places: places
                    .into_iter()
                    .map(|(file, key)| (secrets::redact(&file).into_owned(), key))
                    .collect(),
                reads,
            }
            .into()
        }
        EventKind::Review(ReviewEvent::AnswersReused {
            call,
            from,
            findings,
            origins,
            asked,
            superseded,
            reads,
        }) => ReviewEvent::AnswersReused {
            call,
            from: secrets::redact_value(from),
            findings: secrets::redact_value(findings),
            origins,
            asked: secrets::redact_value(asked),
            superseded: secrets::redact_value(superseded),
            // A hash can look like a secret. The paths are redacted since the event of the call.
            reads,
        }
        .into(),
        kind => secrets::redact_value(kind),
    }
}
