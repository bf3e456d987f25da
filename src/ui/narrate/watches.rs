//! Watches told in lines.

use std::collections::BTreeSet;

use crate::domain::{
    Action, Agent, AgentEvent, AgentName, Ballot, EventType, PeerReview, Trigger, Untrusted, Verdict, WatchPlan,
    WatchStatus,
};
use crate::draw::{self, Glyph, Look, Tone};
use crate::protocol::printable;

/// A reviewer's word in a cycle.
pub(super) fn said(review: &PeerReview) -> (Glyph, Tone, String) {
    let (glyph, tone) = match review.verdict {
        Verdict::Approved => (Glyph::Done, Tone::Good),
        Verdict::Concerns => (Glyph::Attention, Tone::Warn),
        Verdict::Blocker => (Glyph::Failed, Tone::Bad),
    };
    (glyph, tone, format!("{}: {}", review.verdict.as_str(), printable::line(&review.summary)))
}

pub(super) fn started(look: Look, plan: &WatchPlan) -> Vec<String> {
    let names = |agents: &[Agent]| draw::names(agents.iter().map(|agent| &agent.name));
    let list = |what: &str, names: String| if names.is_empty() { names } else { format!("{what} {names}") };
    vec![look.facts(&[
        format!("Watching {}", look.paint(Tone::Strong, &printable::line(&plan.root))),
        list("agents", names(&plan.agents)),
        list("reviewers", names(&plan.reviewers)),
    ])]
}

/// What an agent told.
pub(super) fn received(look: Look, said: &AgentEvent) -> String {
    let tone = match said.kind {
        EventType::Blocker => Tone::Bad,
        EventType::Milestone | EventType::RequestReview | EventType::UserManual => Tone::Key,
        EventType::Note | EventType::Done => Tone::Faint,
    };
    let who = said.agent.as_ref().map_or_else(|| "you".to_owned(), |name| printable::line(&name.0));
    let files: Vec<String> = said.files.iter().map(printable::line).collect();
    let summary = said.summary.as_ref().map(printable::line).unwrap_or_default();
    let line = look.facts(&[
        format!("  {} {}", look.paint(tone, said.kind.as_str()), look.paint(Tone::Strong, &who)),
        summary,
        look.paint(Tone::Faint, &files.join(", ")),
    ]);
    look.cut(&line, look.width.max(60))
}

pub(super) fn cycle(look: Look, cycle: u32, triggers: &BTreeSet<Trigger>) -> String {
    let words: Vec<&str> = triggers.iter().map(|trigger| trigger.as_str()).collect();
    format!("{} {}", look.paint(Tone::Strong, &format!("Cycle {cycle}")), look.paint(Tone::Key, &words.join(" ")))
}

/// What a cycle came to.
pub(super) fn decided(
    look: Look,
    cycle: u32,
    action: Action,
    status: WatchStatus,
    ballots: &[Ballot],
) -> Vec<String> {
    let (glyph, tone) = match action {
        Action::StopAndEscalate | Action::NotReviewed => (Glyph::Failed, Tone::Bad),
        Action::PauseAndClarify | Action::LogAndContinue => (Glyph::Attention, Tone::Warn),
        Action::Continue => (Glyph::Done, Tone::Good),
    };
    let mut lines = vec![look.facts(&[
        format!(
            "{} Cycle {cycle}: {}",
            look.paint(tone, look.glyph(glyph)),
            look.paint(Tone::Strong, action.as_str())
        ),
        status.as_str().to_owned(),
    ])];
    lines.extend(ballots.iter().filter_map(|ballot| {
        let why = ballot.absent.as_ref()?;
        let name = printable::line(&ballot.reviewer.0);
        Some(format!("  {name} is absent: {}", printable::line(why)))
    }));
    let next = match action {
        Action::StopAndEscalate => "only you can let the work go on: `glee watch resume --reason WHY`",
        Action::NotReviewed => "nobody reviewed this: `glee watch review` asks again, `glee watch resume` goes on",
        Action::LogAndContinue | Action::Continue if status == WatchStatus::Paused => {
            "still PAUSED: only you can let the work go on, `glee watch resume --reason WHY`"
        }
        Action::PauseAndClarify | Action::LogAndContinue | Action::Continue => return lines,
    };
    lines.push(look.paint(Tone::Faint, &format!("  {next}")));
    lines
}

/// Agents are asked to clear up what reviewers do not agree with.
pub(super) fn clarification(look: Look, agents: &[AgentName]) -> String {
    look.paint(Tone::Faint, &format!("  asked to clarify: {}", draw::names(agents)))
}

/// What a person did.
pub(super) fn by_hand(look: Look, what: &str, by: &Untrusted, reason: &Untrusted) -> String {
    look.facts(&[format!("{} by {}", look.paint(Tone::Strong, what), printable::line(by)), printable::line(reason)])
}
