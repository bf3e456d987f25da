//! Watches told in lines.

use std::collections::BTreeSet;

use crate::cli::style::{self, Color, Glyph, Style};
use crate::domain::event::WatchEvent;
use crate::domain::{
    Action, Agent, AgentEvent, AgentName, Ballot, EventType, PeerReview, Trigger, Untrusted, Verdict, WatchPlan,
    WatchStatus,
};
use crate::protocol::text::printable;

/// The lines of an event; often none.
pub(crate) fn lines(look: Style, event: &WatchEvent) -> Vec<String> {
    match event {
        WatchEvent::ReviewRequested { .. } => Vec::new(),
        WatchEvent::WatchStarted { plan } => started(look, plan),
        WatchEvent::EventReceived { said } => vec![received(look, said)],
        WatchEvent::CycleStarted { cycle, triggers, .. } => {
            vec![begun(look, *cycle, triggers)]
        }
        WatchEvent::CycleDecided { cycle, action, status, ballots } => {
            decided(look, *cycle, *action, *status, ballots)
        }
        WatchEvent::ClarificationAsked { agents, .. } => {
            vec![clarification(look, agents)]
        }
        WatchEvent::WatchPaused { by, reason } => {
            vec![by_hand(look, "Paused", by, reason)]
        }
        WatchEvent::WatchResumed { by, reason } => {
            vec![by_hand(look, "Resumed", by, reason)]
        }
        WatchEvent::IssueClosed { issue, by, reason } => {
            vec![by_hand(look, &format!("Issue {issue} closed"), by, reason)]
        }
    }
}

/// A reviewer's word in a cycle.
pub(crate) fn said(review: &PeerReview) -> (Glyph, Color, String) {
    let (glyph, tone) = match review.verdict {
        Verdict::Approved => (Glyph::Done, Color::Good),
        Verdict::Concerns => (Glyph::Attention, Color::Warn),
        Verdict::Blocker => (Glyph::Failed, Color::Bad),
    };
    (glyph, tone, format!("{}: {}", review.verdict.as_str(), printable::line(&review.summary)))
}

pub(crate) fn started(look: Style, plan: &WatchPlan) -> Vec<String> {
    let names = |agents: &[Agent]| style::names(agents.iter().map(|agent| &agent.name));
    let list = |what: &str, names: String| if names.is_empty() { names } else { format!("{what} {names}") };
    vec![look.facts(&[
        format!("Watching {}", look.paint(Color::Strong, &printable::line(&plan.root))),
        list("agents", names(&plan.agents)),
        list("reviewers", names(&plan.reviewers)),
    ])]
}

/// What an agent told.
pub(crate) fn received(look: Style, said: &AgentEvent) -> String {
    let tone = match said.kind {
        EventType::Blocker => Color::Bad,
        EventType::Milestone | EventType::RequestReview | EventType::UserManual => Color::Key,
        EventType::Note | EventType::Done => Color::Faint,
    };
    let who = said.agent.as_ref().map_or_else(|| "you".to_owned(), |name| printable::line(&name.0));
    let files: Vec<String> = said.files.iter().map(printable::line).collect();
    let summary = said.summary.as_ref().map(printable::line).unwrap_or_default();
    let line = look.facts(&[
        format!("  {} {}", look.paint(tone, said.kind.as_str()), look.paint(Color::Strong, &who)),
        summary,
        look.paint(Color::Faint, &files.join(", ")),
    ]);
    look.cut(&line, look.width.max(60))
}

pub(crate) fn begun(look: Style, cycle: u32, triggers: &BTreeSet<Trigger>) -> String {
    let words: Vec<&str> = triggers.iter().map(|trigger| trigger.as_str()).collect();
    format!("{} {}", look.paint(Color::Strong, &format!("Cycle {cycle}")), look.paint(Color::Key, &words.join(" ")))
}

/// What a cycle came to.
pub(crate) fn decided(
    look: Style,
    cycle: u32,
    action: Action,
    status: WatchStatus,
    ballots: &[Ballot],
) -> Vec<String> {
    let (glyph, tone) = match action {
        Action::StopAndEscalate | Action::NotReviewed => (Glyph::Failed, Color::Bad),
        Action::PauseAndClarify | Action::LogAndContinue => (Glyph::Attention, Color::Warn),
        Action::Continue => (Glyph::Done, Color::Good),
    };
    let mut lines = vec![look.facts(&[
        format!(
            "{} Cycle {cycle}: {}",
            look.paint(tone, look.glyph(glyph)),
            look.paint(Color::Strong, action.as_str())
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
    lines.push(look.paint(Color::Faint, &format!("  {next}")));
    lines
}

/// Agents are asked to clear up what reviewers do not agree with.
pub(crate) fn clarification(look: Style, agents: &[AgentName]) -> String {
    look.paint(Color::Faint, &format!("  asked to clarify: {}", style::names(agents)))
}

/// What a person did.
pub(crate) fn by_hand(look: Style, what: &str, by: &Untrusted, reason: &Untrusted) -> String {
    look.facts(&[
        format!("{} by {}", look.paint(Color::Strong, what), printable::line(by)),
        printable::line(reason),
    ])
}
