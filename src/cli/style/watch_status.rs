//! How a watch stands, for people.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::{Color, Glyph, Style, count, duration, names, names_width, pad, wrap};
use crate::domain::WatchStatus;
use crate::protocol::text::printable;
use crate::workflows::watch::issues::Issue;
use crate::workflows::watch::status::{AgentReport, AgentState, WatchReport};

pub fn line(look: Style, standing: &WatchReport) -> String {
    let (glyph, tone) = match (standing.status, standing.flagged) {
        (WatchStatus::Paused, _) => (Glyph::Failed, Color::Bad),
        (WatchStatus::Running, true) => (Glyph::Attention, Color::Warn),
        (WatchStatus::Running, false) => (Glyph::Done, Color::Good),
    };
    let status = format!("{} {}", look.glyph(glyph), standing.status.as_str());
    let cycle = match (standing.cycle, standing.in_cycle, standing.last_action) {
        (0, ..) => "no review yet".to_owned(),
        (cycle, true, _) => format!("reviewing, cycle {cycle}"),
        (cycle, false, Some(action)) => format!("cycle {cycle}: {}", action.as_str()),
        (cycle, false, None) => format!("cycle {cycle}"),
    };
    let pending: Vec<&str> = standing.pending.iter().map(|trigger| trigger.as_str()).collect();
    let fallback = standing.fallback_in.map(|seconds| format!("fallback in {}", duration(seconds * 1000)));
    look.facts(&[
        look.paint(tone, &status),
        if standing.flagged { "flagged".to_owned() } else { String::new() },
        cycle,
        if pending.is_empty() { String::new() } else { format!("next {}", pending.join(" ")) },
        fallback.unwrap_or_default(),
        if standing.issues.is_empty() { String::new() } else { count(standing.issues.len(), "issue") },
        if standing.malformed == 0 { String::new() } else { format!("{} malformed", standing.malformed) },
    ])
}

/// An agent in one line, `ago` being counted until `now`.
pub fn agent(look: Style, standing: &AgentReport, width: usize, now: Timestamp) -> String {
    let (glyph, tone) = match standing.state {
        AgentState::Works | AgentState::Joined => (Glyph::Done, Color::Good),
        AgentState::Stands => (Glyph::Attention, Color::Warn),
        AgentState::Ended | AgentState::Done => (Glyph::Dot, Color::Faint),
    };
    let state = match standing.state {
        AgentState::Works => "works",
        AgentState::Stands => "paused",
        AgentState::Ended => "ended",
        AgentState::Done => "done",
        AgentState::Joined => "joined",
    };
    let last = standing.last.as_ref().map_or_else(
        || "nothing heard yet".to_owned(),
        |last| {
            let ago = now.duration_since(last.at).as_millis().max(0);
            let ago = duration(u64::try_from(ago).unwrap_or(0) / 1000 * 1000);
            let summary = printable::line(&last.summary);
            format!("{} {ago} ago  {summary}", last.kind)
        },
    );
    let name = pad(&printable::line(&standing.name.0), width);
    let line = format!(
        "{} {}  {}  {}",
        look.paint(tone, look.glyph(glyph)),
        look.paint(Color::Strong, &name),
        pad(state, 6),
        look.paint(Color::Faint, last.trim_end())
    );
    look.cut(&line, look.width.saturating_sub(1))
}

/// How it stands, for people; `runs` is false where it does not run and this is how it stood.
pub fn text(look: Style, standing: &WatchReport, runs: bool) -> String {
    let mut out = line(look, standing);
    if !runs {
        out.push_str("  (not running: `glee watch` carries it on)");
    }
    out.push('\n');
    let (now, width) = (Timestamp::now(), names_width(standing.agents.iter().map(|agent| &agent.name)));
    for standing_agent in &standing.agents {
        let _ = writeln!(out, "  {}", agent(look, standing_agent, width, now));
    }
    if let Some(asked) = &standing.clarification {
        let _ = writeln!(out, "\nwaiting for {} to clarify cycle {}:", names(&asked.waiting), asked.cycle);
        for line in printable::block(&asked.prompt).lines() {
            let _ = writeln!(out, "  {}", look.paint(Color::Faint, line));
        }
    }
    if !standing.issues.is_empty() {
        out.push('\n');
        out.push_str(&issues(look, &standing.issues));
    }
    out
}

pub fn issues(look: Style, issues: &[Issue]) -> String {
    if issues.is_empty() {
        return "no issues\n".to_owned();
    }
    let mut out = String::new();
    for issue in issues {
        let place = issue.issue.file.as_ref().map(printable::line).unwrap_or_default();
        let head = look.facts(&[
            format!(
                "{} {}",
                look.paint(Color::Strong, &format!("{:>3}", issue.number)),
                printable::line(&issue.issue.severity)
            ),
            format!("{}, cycle {}", printable::line(&issue.reviewer.0), issue.cycle),
            place,
        ]);
        let _ = writeln!(out, "{head}");
        for line in wrap(&printable::line(&issue.issue.description), look.width.saturating_sub(6).max(20)) {
            let _ = writeln!(out, "      {line}");
        }
        if let Some((by, why)) = &issue.closed {
            let why = printable::line(why);
            let why = if why.is_empty() { why } else { format!(": {why}") };
            let _ = writeln!(
                out,
                "      {}",
                look.paint(Color::Faint, &format!("closed by {}{why}", printable::line(by)))
            );
        }
    }
    out
}
