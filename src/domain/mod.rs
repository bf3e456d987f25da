//! The specification's words as types: plain data, no I/O, no async, no command line.
//!
//! Everything else in Glee speaks in these types. They serialise as they are recorded in the journal, so a
//! change to one of them is a change of the record: add optional fields, never rename or remove one.

mod advice;
mod advised;
mod agent;
mod consensus;
mod debate;
mod dispute;
mod failing;
mod finding;
mod location;
mod outcome;
mod peer;
mod response;
mod reuse;
mod ruling;
mod severity;
mod shared;
mod stage;
mod untrusted;
mod usage;
mod words;

pub use advice::Advice;
pub use advised::Advised;
pub use agent::{Agent, AgentName, Effort, Role};
pub use consensus::{Class, Corroboration, Position};
pub use debate::{Challenge, DebateMessage, DefenceWord, Defended, ExaminationWord, Examined};
pub use dispute::{
    Disposition, Dispute, DisputeId, DisputeNumber, EarlierDispute, Objector, Relation, Route, RulingRef, Sides,
};
pub use failing::FailureKind;
pub use finding::{Anchor, Confidence, Finding, FindingId, FindingState, RawFinding};
pub use location::{Location, meanings};
pub use outcome::{
    AnswerStatus, Coverage, ExitReason, Failure, FileChange, Lowered, Outcome, Proof, ReviewerReport, RunId,
    SettledFinding, Skip, SkipReason,
};
pub use peer::{
    Action, AgentEvent, Ballot, EventType, Job, OpenConcern, PeerIssue, PeerReview, ReviewRequest, Trigger,
    Verdict, WatchPlan, WatchStatus,
};
pub use response::{Answer, Comparison, Recheck, Response};
pub use reuse::{AskedFile, FileReview, NoLongerRaised, Reused, ReusedFrom};
pub use ruling::{Grounds, PanelVote, Ruler, Ruling, RulingRecord, RulingWord};
pub use severity::{Severity, Tag};
pub use shared::{RuledBy, SharedAnchor, SharedRuling};
pub use stage::{
    Approach, Certainty, Decision, Opinion, Question, QuestionAnswer, Resolution, Said, Settler, StageAnswer,
    StagePlan, StageStatus, StageVerdict, Subject, Synthesis, Validation,
};
pub use untrusted::Untrusted;
pub use usage::{Caps, Price, Spent, Told, Usage};
pub(crate) use words::words;
