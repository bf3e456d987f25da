//! Counts of findings, rulings and calls, from which the measures of reviewers and judges are computed.

/// What a [`FindingTally`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TallyKind {
    /// All findings.
    All,
    /// The findings that one reviewer raised.
    Reviewer,
    /// The findings on which one judge ruled.
    Judge,
    /// The findings that reviewers with one model raised.
    Model,
    /// The findings on which judges with one model ruled.
    JudgeModel,
    /// The findings of one category.
    Category,
}

impl TallyKind {
    pub const ALL: [Self; 6] =
        [Self::All, Self::Reviewer, Self::Judge, Self::Model, Self::JudgeModel, Self::Category];

    /// The word for the kind in the history.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Reviewer => "reviewer",
            Self::Judge => "judge",
            Self::Model => "model",
            Self::JudgeModel => "judge_model",
            Self::Category => "category",
        }
    }
}

/// The counts of one reviewer, judge, model or category.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingTally {
    pub raised: u64,
    /// The findings in code that at least two reviewers read.
    pub shared: u64,
    /// Of the shared findings, those that only one reviewer saw.
    pub alone: u64,
    pub disputed: u64,
    /// The disputes that ended with the finding enforced, accepted as a risk, or deferred.
    pub upheld: u64,
    /// The disputes that ended with the finding refuted, not mandatory, or a duplicate.
    pub dismissed: u64,
    /// The disputes that a judge or a panel decided.
    pub judged: u64,
    /// Of the judged disputes, those that a person decided afterwards.
    pub checked: u64,
    /// Of the checked disputes, those that the person decided otherwise.
    pub overturned: u64,
    pub fixed: u64,
    /// The fixed findings whose change was undone.
    pub reverted: u64,
    /// The decisions of audits.
    pub audited: u64,
    /// The decisions of audits that agree with the ruling.
    pub confirmed: u64,
    pub calls: u64,
    /// The calls whose cost is unknown.
    pub unpriced: u64,
    pub millis: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The known cost in millionths of a US dollar.
    pub micros: u64,
}

/// How often two reviewers or two judges agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementCount {
    pub between: [String; 2],
    /// The findings that at least one of two reviewers raised, or on which both judges decided.
    pub compared: u64,
    pub agreed: u64,
}
