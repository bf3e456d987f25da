//! What a finding is shown as: the word of its state, its colour, the note about the state, the facts, the opinions of
//! the reviewers, and the next step. Every report and every page reads these texts from here. No text is escaped.

use serde::Serialize;

use crate::cli::report::text::layout::list;
use crate::cli::style::{Color, Glyph, count, thousands};
use glee_model::domain::{
    AnswerStatus, Class, Corroboration, DemonstrationResult, Disposition, Failure, FailureKind,
    Finding, FindingId, FindingState, Outcome, Position, ReviewerReport, Ruler, RulingRef, RunId,
    RunWorktree, SettledFinding, Untrusted, WorktreeState, dissent,
};

/// The state of a finding, as every report shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateNote {
    pub(crate) word: &'static str,
    pub(crate) color: Color,
    /// What happened to the finding, as in `checked by claude`. Empty if the word says everything.
    pub(crate) note: String,
}

/// The findings of one run, as reports show them.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    outcome: &'a Outcome,
    is_coder_asked: bool,
}

impl<'a> View<'a> {
    pub(crate) fn of(outcome: &'a Outcome) -> Self {
        let mut findings = outcome.findings.iter();
        let is_coder_asked = outcome.undoable || findings.any(|finding| finding.response.is_some());
        Self {
            outcome,
            is_coder_asked,
        }
    }

    pub(crate) fn state(&self, settled: &SettledFinding) -> StateNote {
        let raisers = list(&settled.finding.raised_by);
        let (word, color, note) = match &settled.state {
            FindingState::Open if settled.finding.is_rejected() => {
                ("rejected", Color::Minor, String::new())
            }
            FindingState::Open => {
                let is_urgent = settled.finding.mandatory && settled.lowered.is_none();
                let color = if is_urgent { Color::Bad } else { Color::Warn };
                ("open", color, self.open(settled))
            }
            FindingState::Unanswered => {
                let note = format!("{} gave no answer", settled.coder_name());
                ("unanswered", Color::Bad, note)
            }
            FindingState::Claimed => {
                let note = format!("reported as done, but {}", settled.what_is_unchanged());
                ("claimed", Color::Bad, note)
            }
            FindingState::Unchecked => ("changed", Color::Good, "unchecked".to_owned()),
            FindingState::Unconfirmed => {
                let note = format!("changed, but {raisers} did not check the change");
                ("not confirmed", Color::Bad, note)
            }
            FindingState::NotResolved => {
                let mut shown = settled.demonstrations.iter();
                let failing = shown.find(|one| one.result == DemonstrationResult::FailsAfter);
                let note = match failing {
                    Some(one) => format!("`{}` still fails", one.demonstration.path),
                    None => format!("{raisers} checked the change"),
                };
                ("not resolved", Color::Bad, note)
            }
            FindingState::Resolved => ("fixed", Color::Good, format!("checked by {raisers}")),
            FindingState::Reverted => ("fix undone", Color::Bad, String::new()),
            FindingState::Discarded => ("discarded", Color::Minor, self.discarded(settled)),
            FindingState::Disputed { dispute } => {
                let note = format!("dispute {dispute} is open");
                ("disputed", Color::Warn, note)
            }
            FindingState::Enforced { dispute } => {
                let note = format!("by dispute {dispute}, not implemented yet");
                ("enforced", Color::Bad, note)
            }
            FindingState::Dismissed { dispute } => {
                ("dismissed", Color::Good, format!("by dispute {dispute}"))
            }
            FindingState::AlreadyRuled {
                dispute,
                disposition: Disposition::Enforced,
            } if !settled.insisted => {
                let note = format!("by {}, not implemented yet", self.dispute(dispute));
                ("enforced", Color::Bad, note)
            }
            FindingState::AlreadyRuled {
                dispute,
                disposition,
            } => {
                let dispute = self.dispute(dispute);
                let how = disposition.as_str();
                let color = if disposition.closes() {
                    Color::Minor
                } else {
                    Color::Bad
                };
                if settled.insisted {
                    let note = format!("on {dispute} without new evidence: {how}");
                    ("insisted", color, note)
                } else {
                    ("already ruled", color, format!("{how} in {dispute}"))
                }
            }
        };
        StateNote { word, color, note }
    }

    fn open(&self, settled: &SettledFinding) -> String {
        match &settled.lowered {
            Some(lowered) => {
                let now = &settled.finding.raw.severity;
                let dispute = self.dispute(&lowered.dispute);
                format!("now {now}, was {}, by {dispute}", lowered.was)
            }
            None if settled.undemonstrated => "does not block: no test shows it".to_owned(),
            None if self.is_coder_asked => "not answered yet".to_owned(),
            None => String::new(),
        }
    }

    /// Formats the number of a dispute, as in `dispute 2`, or `dispute 2 of an earlier run`.
    fn dispute(&self, dispute: &RulingRef) -> String {
        let mut disputes = self.outcome.disputes.iter();
        let is_own = disputes.any(|own| Some(own.number) == dispute.number());
        let from = if is_own { "" } else { " of an earlier run" };
        format!("dispute {dispute}{from}")
    }

    /// Returns who discarded the finding, as in `by Ada in dispute 2`. Empty if the coder did.
    fn discarded(&self, settled: &SettledFinding) -> String {
        let mut disputes = self.outcome.disputes.iter();
        let dispute = disputes.find(|dispute| dispute.is_about(settled.finding.id));
        match dispute.and_then(|dispute| Some((dispute.number, dispute.discarded_by.as_ref()?))) {
            Some((number, by)) => format!("by {} in dispute {number}", ruler(by)),
            None => String::new(),
        }
    }
}

/// The coder's answer, after the coder's name if the run has several coders.
pub(crate) fn answer(settled: &SettledFinding) -> Untrusted {
    let Some(response) = &settled.response else {
        return Untrusted::default();
    };
    let text = response.text.trimmed();
    match &settled.coder {
        Some(name) => text.labelled(&format!("{name}: ")),
        None => text,
    }
}

/// The demonstrations of a finding with what they show, and whether they speak for the finding, against it, or say
/// nothing.
pub(crate) fn demonstrations(settled: &SettledFinding) -> Vec<(Untrusted, Color)> {
    let shown = settled.demonstrations.iter().map(|one| {
        let color = match one.result {
            DemonstrationResult::FailsBefore | DemonstrationResult::FailsAfter => Color::Bad,
            DemonstrationResult::PassesAfter => Color::Good,
            DemonstrationResult::Passes => Color::Warn,
            DemonstrationResult::Inconclusive { .. } => Color::Minor,
        };
        (one.summary(), color)
    });
    shown.collect()
}

/// The judge, the panel or the person that ruled. The mail address of a person is left out, because other people read
/// the reports, too.
pub(crate) fn ruler(by: &Ruler) -> String {
    match by {
        Ruler::Human(person) => person.name.clone(),
        by => by.to_string(),
    }
}

/// What is known about a finding beside its texts: the rule or the class of the problem, the weakness, the guideline, the confidence,
/// the reviewer's own word for the severity, and the round.
pub(crate) fn facts(finding: &Finding) -> Vec<String> {
    let raw = &finding.raw;
    let severity = &raw.severity;
    let mut facts = Vec::new();
    facts.extend(raw.rule.clone().or_else(|| raw.category.clone()));
    facts.extend(raw.cwe.map(|cwe| cwe.to_string()));
    facts.extend(raw.guideline.iter().map(|id| format!("rule {id}")));
    facts.extend(raw.confidence.map(|sure| format!("{}% sure", sure.get())));
    let is_own_word = severity
        .tag
        .is_none_or(|tag| !tag.as_str().eq_ignore_ascii_case(&severity.raw));
    if is_own_word {
        facts.push(format!("written as [{}]", severity.raw));
    }
    if finding.round > 1 {
        facts.push(format!("round {}", finding.round));
    }
    facts.extend(marks(finding));
    facts
}

/// What sets a finding apart from others of its severity.
pub(crate) fn marks(finding: &Finding) -> Vec<String> {
    let mut marks = Vec::new();
    if finding.no_such_place {
        marks.push("no such place".to_owned());
    }
    if let Some(named) = &finding.corrected_from {
        marks.push(format!("found by its quoted code, named at {named}"));
    }
    if finding.older {
        marks.push("older than the change".to_owned());
    }
    marks
}

/// Lists how many reviewers support the finding, and how each reviewer rates it. Empty if only one reviewer took part
/// in the run.
pub(crate) fn opinions(finding: &Finding) -> Vec<String> {
    let Some(consensus) = &finding.consensus else {
        return Vec::new();
    };
    let mut facts = vec![agreement(finding)];
    match consensus.class {
        Class::Accepted => {}
        Class::Uncorroborated => {
            facts.push(format!("what would decide it: {}", consensus.would_decide));
        }
        Class::Rejected => facts.push(consensus.why.clone()),
        // Unlike `agreement`, `why` also names the reviewers that deny the problem.
        Class::Disputed => {
            facts[0].clone_from(&consensus.why);
            facts.extend(dissent(&consensus.assessments));
        }
    }
    facts.extend(positions(consensus));
    facts.extend(consensus.notes.iter().cloned());
    facts
}

/// States how many reviewers support a finding. Empty if only one reviewer took part in the run.
pub(crate) fn agreement(finding: &Finding) -> String {
    let Some(consensus) = &finding.consensus else {
        return String::new();
    };
    let mut raised = 0;
    let mut is_observed = true;
    for position in &consensus.positions {
        raised += u32::from(!position.denies);
        is_observed &= position.observed;
    }
    let all = consensus.reviewers;
    let raisers = list(&finding.raised_by);
    let dissent = dissent(&consensus.assessments);
    let counted = match consensus.class {
        Class::Accepted if !consensus.confirmed_by.is_empty() => {
            let confirmed = list(&consensus.confirmed_by);
            format!("raised by {raisers}, confirmed by {confirmed}")
        }
        Class::Accepted if raised == 1 => format!("only {raisers} of {all} reviewers raised it"),
        Class::Accepted => match consensus.vendors {
            Some(1) => format!("{raised} of {all} reviewers raised it, 1 vendor"),
            Some(vendors) => format!("{raised} of {all} reviewers raised it, {vendors} vendors"),
            None => format!("{raised} of {all} reviewers raised it"),
        },
        Class::Uncorroborated if dissent.is_some() => format!("raised by {raisers}"),
        Class::Uncorroborated if is_observed => {
            format!("raised by {raisers} in the debate, where nobody else was asked about it")
        }
        Class::Uncorroborated => {
            format!("only {raisers} raised it, and no other reviewer confirmed it")
        }
        Class::Disputed => "reviewers contradict each other".to_owned(),
        Class::Rejected if consensus.withdrawn => format!("withdrawn by {raisers}"),
        Class::Rejected => "rejected by the other reviewers".to_owned(),
    };
    match dissent {
        Some(dissent) => format!("{counted}; {dissent}"),
        None => counted,
    }
}

/// Lists how each reviewer rates the finding, as in `claude: HIGH, 80% sure; codex: no issue`. Returns `None` if
/// all reviewers agree.
fn positions(consensus: &Corroboration) -> Option<String> {
    let mut rated: Vec<(String, &Position)> = Vec::new();
    for position in &consensus.positions {
        let word = if position.denies {
            "no issue".to_owned()
        } else {
            position.severity.to_string()
        };
        let sure = position.confidence;
        let sure = sure.map_or_else(String::new, |sure| format!(", {}% sure", sure.get()));
        rated.push((word + &sure, position));
    }
    let (first, rest) = rated.split_first()?;
    if rest.iter().all(|(words, _)| *words == first.0) {
        return None;
    }
    Some(
        rated
            .iter()
            .map(|(words, position)| format!("{}: {words}", position.reviewer))
            .collect::<Vec<_>>()
            .join("; "),
    )
}

/// What a person can do next about a finding of the run. `of_run` selects this run in a command.
pub(crate) fn next(settled: &SettledFinding, run: &RunId, of_run: &str) -> Option<String> {
    let id = settled.finding.id;
    Some(match &settled.state {
        FindingState::Open
        | FindingState::Unanswered
        | FindingState::Claimed
        | FindingState::Unconfirmed
        | FindingState::NotResolved
        | FindingState::Reverted => {
            format!("`glee fix {id}{of_run}`, or `glee dismiss {id}{of_run} --reason '...'`")
        }
        FindingState::Disputed { dispute } => format!("`glee disputes resolve {dispute}`"),
        FindingState::Enforced { .. } => format!("`glee fix {id}{of_run}`"),
        FindingState::Dismissed { dispute } => format!("`glee disputes show {dispute}`"),
        FindingState::AlreadyRuled { dispute, .. } => format!("`glee disputes show {dispute}`"),
        FindingState::Resolved | FindingState::Unchecked => {
            format!("`glee runs diff {}`", run.short())
        }
        FindingState::Discarded => return None,
    })
}

/// How an agent that called Glee answers an open finding. `id` is the finding or its group.
pub(crate) fn next_of_agent(settled: &SettledFinding, id: FindingId) -> String {
    match &settled.state {
        FindingState::Disputed { dispute } => {
            format!("dispute {dispute} waits for a ruling: glee disputes show {dispute}")
        }
        FindingState::Enforced { dispute } => {
            format!("dispute {dispute} enforced it: glee answer {id} implemented")
        }
        FindingState::AlreadyRuled { dispute, .. } => {
            format!("dispute {dispute} enforced it: glee answer {id} implemented")
        }
        _ => format!("glee answer {id} implemented|disagree --reason '...'"),
    }
}

/// What matters about the state of a finding, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ReportedState {
    /// The finding is open and prevents a clean outcome.
    Mandatory,
    /// The finding is open and optional.
    Optional,
    /// The coder changed the code. Either no reviewer checked the changed code again, or a reviewer confirmed that
    /// the finding is fixed.
    Fixed,
    /// The finding was dismissed, discarded or rejected, in this run or in an earlier run.
    Dismissed,
}

impl ReportedState {
    pub(crate) fn of(settled: &SettledFinding) -> Self {
        match settled.state {
            FindingState::Resolved | FindingState::Unchecked => Self::Fixed,
            _ if settled.state.is_closed() => Self::Dismissed,
            _ if settled.blocks() => Self::Mandatory,
            _ if settled.finding.is_rejected() => Self::Dismissed,
            _ => Self::Optional,
        }
    }
}

/// The findings of a run, counted. A group counts once, with the state of its leading member.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct FindingCounts {
    pub(crate) groups: usize,
    pub(crate) members: usize,
    pub(crate) blocking: usize,
    /// Open findings that are not mandatory.
    pub(crate) optional: usize,
    /// How many groups have a state, by the word of the state. Open states come first.
    states: Vec<(&'static str, usize)>,
}

impl FindingCounts {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        let view = View::of(outcome);
        let mut leading: Vec<&SettledFinding> =
            outcome.groups().map(SettledFinding::leading).collect();
        leading.sort_by_key(|settled| ReportedState::of(settled));
        let mut counts = Self {
            groups: leading.len(),
            members: outcome.findings.len(),
            ..Self::default()
        };
        for settled in leading {
            match ReportedState::of(settled) {
                ReportedState::Mandatory => counts.blocking += 1,
                ReportedState::Optional => counts.optional += 1,
                ReportedState::Fixed | ReportedState::Dismissed => {}
            }
            let word = match ReportedState::of(settled) {
                ReportedState::Optional if settled.state == FindingState::Open => "optional",
                _ => view.state(settled).word,
            };
            match counts.states.iter_mut().find(|(known, _)| *known == word) {
                Some((_, number)) => *number += 1,
                None => counts.states.push((word, 1)),
            }
        }
        counts
    }

    /// The numbers by state, as in `1 disputed, 7 fixed, 1 dismissed`. They add up to the number of groups.
    pub(crate) fn by_state(&self) -> String {
        let states = self.states.iter();
        let states = states.map(|(word, number)| format!("{} {word}", thousands(*number as u64)));
        states.collect::<Vec<_>>().join(", ")
    }

    /// As in `9 findings: 1 disputed, 7 fixed, 1 dismissed`, or `9 findings with 12 members: ...`.
    pub(crate) fn row(&self) -> String {
        let findings = count(self.groups, "finding");
        let findings = match self.members - self.groups {
            0 => findings,
            _ => format!("{findings} with {} members", thousands(self.members as u64)),
        };
        match self.groups {
            0 => findings,
            _ => format!("{findings}: {}", self.by_state()),
        }
    }
}

/// Whether the reviewer's row in the report already shows this failure.
pub(crate) fn is_of(failure: &Failure, reviewer: &ReviewerReport) -> bool {
    reviewer.name == failure.agent && reviewer.failure.as_ref() == Some(&failure.error)
}

/// The status of a reviewer's answers in words.
pub(crate) fn status(outcome: &Outcome, reviewer: &ReviewerReport) -> (Glyph, &'static str) {
    let failure = outcome
        .failures
        .iter()
        .find(|failure| is_of(failure, reviewer));
    let failed = match failure.and_then(|failure| failure.cause) {
        Some(FailureKind::Stopped) => "skipped",
        Some(FailureKind::NotInstalled) => "not installed",
        Some(cause) if cause.is_exhausted() => "limited",
        _ => "failed",
    };
    match reviewer.status {
        _ if reviewer.failure.is_some() => (Glyph::Failed, failed),
        AnswerStatus::Complete => (Glyph::Done, "complete"),
        AnswerStatus::Clean => (Glyph::Done, "clean"),
        AnswerStatus::Incomplete => (Glyph::Attention, "incomplete"),
        AnswerStatus::NotReviewed
            if !reviewer.unread.is_empty() && reviewer.problems.is_empty() =>
        {
            (Glyph::Attention, "not reviewed")
        }
        AnswerStatus::NotReviewed => (Glyph::Failed, "not reviewed"),
    }
}

/// The commands that apply and drop the changes in a worktree; `None` if there is nothing to apply.
pub(crate) fn next_of_worktree(outcome: &Outcome) -> Option<(String, String)> {
    let worktree = outcome.worktree.as_ref()?;
    let run = outcome.run.short();
    (worktree.changes == WorktreeState::NotApplied).then(|| {
        (
            format!("glee runs apply {run}"),
            format!("glee runs drop {run}"),
        )
    })
}

/// Where the coder's changes are, if not in the user's tree.
pub(crate) fn place_of_changes(outcome: &Outcome) -> Option<String> {
    let RunWorktree { path, changes } = outcome.worktree.as_ref()?;
    match changes {
        WorktreeState::NotApplied => Some(format!("not in your tree, but in the worktree {path}")),
        WorktreeState::Dropped => Some("dropped, and not in your tree".to_owned()),
        WorktreeState::None | WorktreeState::Applied => None,
    }
}
