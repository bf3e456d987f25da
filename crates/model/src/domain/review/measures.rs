//! Counts of findings, rulings and calls, from which the measures of reviewers and judges are computed.

/// How the findings of a [`FindingTally`] are selected, for example by reviewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TallyKind {
    All,
    /// The findings that one reviewer raised.
    Reviewer,
    /// The findings on which one judge ruled.
    Judge,
    /// For one model: the findings that reviewers with this model raised.
    Model,
    /// For one model: the findings on which judges with this model ruled.
    JudgeModel,
    /// The calls with which one agent compared findings. No finding belongs to this kind.
    Comparison,
    /// The findings of one category.
    Category,
    /// The findings that are instances of one weakness.
    Cwe,
}

impl TallyKind {
    pub const ALL: [Self; 8] = [
        Self::All,
        Self::Reviewer,
        Self::Judge,
        Self::Model,
        Self::JudgeModel,
        Self::Comparison,
        Self::Category,
        Self::Cwe,
    ];

    /// Returns the name that the history database uses for the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Reviewer => "reviewer",
            Self::Judge => "judge",
            Self::Model => "model",
            Self::JudgeModel => "judge_model",
            Self::Comparison => "comparison",
            Self::Category => "category",
            Self::Cwe => "cwe",
        }
    }
}

/// Counts for all findings, or for the findings of one reviewer, judge, model or category.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingTally {
    pub raised: u64,
    /// The findings in code that at least two reviewers have read.
    pub shared: u64,
    /// The findings that only one reviewer raised, although at least one other reviewer read the same code.
    pub alone: u64,
    pub disputed: u64,
    /// The disputes whose disposition is `Enforced`, `AcceptedRisk` or `Deferred`.
    pub upheld: u64,
    /// The disputes whose disposition is `Refuted`, `NotMandatory` or `Duplicate`.
    pub dismissed: u64,
    /// The disputes that a judge or a panel decided.
    pub judged: u64,
    /// The disputes on which a person decided in addition to a judge or a panel.
    pub checked: u64,
    /// The disputes in which the person decided against the judge or the panel.
    pub overturned: u64,
    pub fixed: u64,
    /// The fixed findings whose fix was reverted, by `glee runs undo` or by a later fix.
    pub reverted: u64,
    /// The audit rulings that enforce or dismiss a finding.
    pub audited: u64,
    /// The audit rulings that agree with the audited ruling.
    pub confirmed: u64,
    /// The findings of which a test failed on the reviewed code.
    pub demonstrated: u64,
    /// The demonstrated findings whose test passes after the change.
    pub proven: u64,
    /// The demonstrated findings that a ruling dismissed.
    pub outruled: u64,
    pub calls: u64,
    /// The calls whose cost is unknown.
    pub unpriced: u64,
    pub millis: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The known cost in millionths of a US dollar.
    pub micros: u64,
}

/// By what the calls of agents are added up. A day, a week and a month are of UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallGroup {
    Day,
    /// A week of ISO 8601, such as `2026-W48`.
    Week,
    Month,
    /// The agent that was called last: a backup, if it answered.
    Agent,
    Role,
}

/// How often two reviewers or two judges agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementCount {
    pub between: [String; 2],
    /// For two reviewers: the number of findings in code that both reviewers read. At least one of the two
    /// reviewers raised or confirmed each of these findings. For two judges: the number of findings on which
    /// both judges decided.
    pub compared: u64,
    pub agreed: u64,
}
