//! Defines the terms of the specification as types. The types perform no I/O. The history contains these types in
//! serialised form. A later version of Glee must therefore not rename or remove fields, but can add optional
//! fields.

mod absent;
mod advice;
pub mod agents;
pub mod agreement;
pub mod disputes;
pub mod event;
mod fold;
pub mod ids;
mod plural;
pub mod review;
mod untrusted;
pub mod watch;
mod words;

pub(crate) use absent::is_default;
pub use advice::Advice;
pub use agents::agent::Agent;
pub use agents::failure::FailureKind;
pub use agents::profile::{Known, OutputForm, Profile, PromptForm, PromptLength};
pub use agents::reads::{HashedRead, ReadExtent, ReadSet, TracedRead};
pub use agents::role::{Effort, Role};
pub use agents::usage::{CallMetadata, Caps, Price, Spent, SpentByRuns, Usage};
pub use agreement::consensus::{Assessment, Class, Corroboration, Position, dissent};
pub use agreement::debate::{
    Challenge, DebateMessage, DefenceWord, Defended, ExaminationWord, Examined,
};
pub use agreement::pair::{KeyedAnswer, PairAnswer, PairComparison, PairId, RaisedIn, UnsurePair};
pub use agreement::stage::{
    Approach, Certainty, Decision, Opinion, Question, QuestionAnswer, Resolution, Said, Settler,
    StageAnswer, StagePlan, StageStatus, StageVerdict, Subject, Synthesis, Validation,
};
pub use disputes::audit::{AuditPlan, RulingAudit};
pub use disputes::cited_code::{CitedChange, CitedCode};
pub use disputes::dispute::{
    AnsweredObjection, Dispute, EarlierDispute, Objector, Participant, Relation, Route, Sides,
};
pub use disputes::ruling::{
    Disposition, Grounds, PanelVote, Person, Ruler, Ruling, RulingRecord, RulingWord,
};
pub use disputes::shared_ruling::{RuledBy, RuledFinding, RuledPlace, SharedAnchor, SharedRuling};
pub use fold::fold;
pub use ids::{AgentName, DisputeId, DisputeNumber, FindingId, ProblemKey, RulingRef, RunId};
pub use plural::number_of;
pub use review::advisory::AdvisoryStatus;
pub use review::code_context::CodeContext;
pub use review::coverage::{Coverage, Skip, SkipReason, UnreadFile};
pub use review::cwe::{Cwe, Kinship};
pub use review::demonstration::{
    Claim, Demonstrated, Demonstration, DemonstrationRequest, DemonstrationResult,
    DemonstrationRun, Inconclusive, TestEnd, TestRun, TestedTree,
};
pub use review::exact_fix::ExactFix;
pub use review::exit_reason::ExitReason;
pub use review::finding::{
    Anchor, Finding, FindingState, PostedProblem, RawFinding, Restated, RestatedFinding,
};
pub use review::ground::Ground;
pub use review::intent::Intent;
pub use review::location::{GivenPlace, Location, is_inside, meanings};
pub use review::loosened::{LastChange, Loosened};
pub use review::measures::{AgreementCount, CallGroup, FindingTally, TallyKind};
pub use review::outcome::{
    AnswerProblem, AnswerStatus, CodeRead, Failure, FileChange, Lowered, Outcome, Proof,
    ReviewerReport, SettledFinding,
};
pub use review::response::{Answer, Comparison, Recheck, Response};
pub use review::reuse::{
    AskedFile, FileReview, NoLongerRaised, Reuse, Reused, ReusedFrom, ReviewedFiles,
};
pub use review::run_worktree::{RunWorktree, WorktreeFacts, WorktreeState};
pub use review::severity::{Confidence, Severity, Tag};
pub use untrusted::Untrusted;
pub use watch::{
    Action, AgentEvent, Ballot, EventType, Job, OpenConcern, PeerIssue, PeerReview, ReviewRequest,
    Trigger, Verdict, WatchPlan, WatchStatus,
};
pub(crate) use words::words;
