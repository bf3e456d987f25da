//! The specification's words as types: plain data, no I/O, no async, no command line.
//!
//! Everything else in Glee speaks in these types. They serialise as they are recorded in the journal, so a
//! change to one of them is a change of the record: add optional fields, never rename or remove one.

mod advice;
pub(crate) mod agents;
pub(crate) mod agreement;
pub(crate) mod disputes;
pub mod event;
pub(crate) mod ids;
pub(crate) mod review;
mod untrusted;
pub(crate) mod watch;
mod words;

pub use crate::domain::agents::agent::{Agent, Effort, Role};
pub use crate::domain::agents::failure::FailureKind;
pub use crate::domain::agents::usage::{CallMetadata, Caps, Price, Spent, Usage};
pub use crate::domain::agreement::consensus::{Class, Corroboration, Position};
pub use crate::domain::agreement::debate::{
    Challenge, DebateMessage, DefenceWord, Defended, ExaminationWord, Examined,
};
pub use crate::domain::agreement::stage::{
    Approach, Certainty, Decision, Opinion, Question, QuestionAnswer, Resolution, Said, Settler, StageAnswer,
    StagePlan, StageStatus, StageVerdict, Subject, Synthesis, Validation,
};
pub use crate::domain::disputes::dispute::{Dispute, EarlierDispute, Objector, Relation, Route, Sides};
pub use crate::domain::disputes::ruling::Disposition;
pub use crate::domain::disputes::ruling::{Grounds, PanelVote, Ruler, Ruling, RulingRecord, RulingWord};
pub use crate::domain::disputes::shared_ruling::{RuledBy, SharedAnchor, SharedRuling};
pub use crate::domain::ids::AgentName;
pub use crate::domain::ids::FindingId;
pub use crate::domain::ids::RunId;
pub use crate::domain::ids::{DisputeId, DisputeNumber, RulingRef};
pub use crate::domain::review::advisory::AdvisoryStatus;
pub use crate::domain::review::finding::{Anchor, Finding, FindingState, RawFinding};
pub use crate::domain::review::location::{Location, meanings};
pub use crate::domain::review::outcome::{
    AnswerStatus, Coverage, ExitReason, Failure, FileChange, Lowered, Outcome, Proof, ReviewerReport,
    SettledFinding, Skip, SkipReason,
};
pub use crate::domain::review::response::{Answer, Comparison, Recheck, Response};
pub use crate::domain::review::reuse::{AskedFile, FileReview, NoLongerRaised, Reused, ReusedFrom};
pub use crate::domain::review::severity::Confidence;
pub use crate::domain::review::severity::{Severity, Tag};
pub use crate::domain::watch::{
    Action, AgentEvent, Ballot, EventType, Job, OpenConcern, PeerIssue, PeerReview, ReviewRequest, Trigger,
    Verdict, WatchPlan, WatchStatus,
};
pub use advice::Advice;
pub use untrusted::Untrusted;
pub(crate) use words::words;
