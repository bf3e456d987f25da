//! Converts the events of watches to printable lines.

use crate::cli::style::{self, Color, Glyph, Style};
use crate::cli::ui::live::event_lines::stages::named;
use glee_model::domain::event::WatchEvent;
use glee_model::domain::{Action, AgentEvent, Ballot, EventType, Untrusted, WatchStatus};
use glee_protocol::text::printable;

pub(crate) fn lines(style: Style, event: &WatchEvent) -> Vec<String> {
    match event {
        WatchEvent::ReviewRequested { .. } => Vec::new(),
        WatchEvent::WatchStarted { plan } => vec![style.facts(&[
            format!("Watching {}", style.strong(printable::line(&plan.root))),
            named("agents", &plan.agents),
            named("reviewers", &plan.reviewers),
        ])],
        WatchEvent::EventReceived { said } => vec![received(style, said)],
        WatchEvent::CycleStarted {
            cycle, triggers, ..
        } => {
            let words: Vec<&str> = triggers.iter().map(|trigger| trigger.as_str()).collect();
            let cycle = style.strong(format!("Cycle {cycle}"));
            vec![format!(
                "{cycle} {}",
                style.paint(Color::Key, &words.join(" "))
            )]
        }
        WatchEvent::IssuesUnsure { .. } => Vec::new(),
        WatchEvent::CycleDecided {
            cycle,
            action,
            status,
            ballots,
        } => decided(style, *cycle, *action, *status, ballots),
        WatchEvent::ClarificationAsked { agents, .. } => {
            vec![style.faint(format!(
                "  clarification requested from {}",
                style::names(agents)
            ))]
        }
        WatchEvent::WatchPaused { by, reason } => vec![by_hand(style, "Paused", by, reason)],
        WatchEvent::WatchResumed { by, reason } => vec![by_hand(style, "Resumed", by, reason)],
        WatchEvent::IssueClosed { issue, by, reason } => {
            vec![by_hand(style, &format!("Issue {issue} closed"), by, reason)]
        }
    }
}

fn received(style: Style, event: &AgentEvent) -> String {
    let color = match event.kind {
        EventType::Blocker => Color::Bad,
        EventType::Milestone | EventType::RequestReview | EventType::UserManual => Color::Key,
        EventType::Note | EventType::Done => Color::Faint,
    };
    let who = event
        .agent
        .as_ref()
        .map_or_else(|| "you".to_owned(), |name| printable::line(&name.0));
    let files: Vec<String> = event.files.iter().map(printable::line).collect();
    let line = style.facts(&[
        format!(
            "  {} {}",
            style.paint(color, event.kind.as_str()),
            style.strong(who)
        ),
        event
            .summary
            .as_ref()
            .map(printable::line)
            .unwrap_or_default(),
        style.faint(files.join(", ")),
    ]);
    style.cut(&line, style.width.max(60))
}

fn decided(
    style: Style,
    cycle: u32,
    action: Action,
    status: WatchStatus,
    ballots: &[Ballot],
) -> Vec<String> {
    let glyph = match action {
        Action::StopAndEscalate | Action::NotReviewed => Glyph::Failed,
        Action::PauseAndClarify | Action::LogAndContinue => Glyph::Attention,
        Action::Continue => Glyph::Done,
    };
    let mut lines = vec![style.facts(&[
        format!(
            "{} Cycle {cycle}: {}",
            style.mark(glyph),
            style.strong(action.as_str())
        ),
        status.as_str().to_owned(),
    ])];
    lines.extend(ballots.iter().filter_map(|ballot| {
        let why = ballot.absent.as_ref()?;
        Some(format!(
            "  {} is absent: {}",
            printable::line(&ballot.reviewer.0),
            printable::line(why)
        ))
    }));
    let next = match action {
        Action::StopAndEscalate => {
            "work stays paused until you run `glee watch resume --reason WHY`"
        }
        Action::NotReviewed => {
            "not reviewed: retry with `glee watch review`, or continue with `glee watch resume`"
        }
        Action::LogAndContinue | Action::Continue if status == WatchStatus::Paused => {
            "still PAUSED until you run `glee watch resume --reason WHY`"
        }
        Action::PauseAndClarify | Action::LogAndContinue | Action::Continue => return lines,
    };
    lines.push(style.faint(format!("  {next}")));
    lines
}

fn by_hand(style: Style, what: &str, by: &Untrusted, reason: &Untrusted) -> String {
    style.facts(&[
        format!("{} by {}", style.strong(what), printable::line(by)),
        printable::line(reason),
    ])
}
