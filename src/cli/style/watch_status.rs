//! Formats the status of a watch as text.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::{Glyph, Style, count, duration, fit, names, names_width, pad, paragraph};
use glee_model::domain::WatchStatus;
use glee_protocol::text::printable;
use glee_workflows::watch::issues::Issue;
use glee_workflows::watch::status::{AgentReport, AgentState, WatchReport};

pub fn line(style: Style, report: &WatchReport) -> String {
    let glyph = match (report.status, report.flagged) {
        (WatchStatus::Paused, _) => Glyph::Failed,
        (WatchStatus::Running, true) => Glyph::Attention,
        (WatchStatus::Running, false) => Glyph::Done,
    };
    let status = format!("{} {}", style.glyph(glyph), report.status.as_str());
    let cycle = match (report.cycle, report.in_cycle, report.last_action) {
        (0, ..) => "no review yet".to_owned(),
        (cycle, true, _) => format!("reviewing, cycle {cycle}"),
        (cycle, false, Some(action)) => format!("cycle {cycle}: {}", action.as_str()),
        (cycle, false, None) => format!("cycle {cycle}"),
    };
    let pending: Vec<&str> = report
        .pending
        .iter()
        .map(|trigger| trigger.as_str())
        .collect();
    let fallback = report
        .fallback_in
        .map(|seconds| format!("fallback in {}", duration(seconds * 1000)));
    style.facts(&[
        style.paint(glyph.color(), &status),
        if report.flagged {
            "flagged".to_owned()
        } else {
            String::new()
        },
        cycle,
        if pending.is_empty() {
            String::new()
        } else {
            format!("next {}", pending.join(" "))
        },
        fallback.unwrap_or_default(),
        if report.issues.is_empty() {
            String::new()
        } else {
            count(report.issues.len(), "issue")
        },
        if report.malformed == 0 {
            String::new()
        } else {
            format!("{} malformed", report.malformed)
        },
    ])
}

pub fn agent(style: Style, report: &AgentReport, width: usize, now: Timestamp) -> String {
    let (glyph, state) = match report.state {
        AgentState::Works => (Glyph::Done, "works"),
        AgentState::Stands => (Glyph::Attention, "paused"),
        AgentState::Ended => (Glyph::Dot, "ended"),
        AgentState::Done => (Glyph::Dot, "done"),
        AgentState::Joined => (Glyph::Done, "joined"),
    };
    let last = report.last.as_ref().map_or_else(
        || "no event yet".to_owned(),
        |last| {
            let seconds = u64::try_from(now.duration_since(last.at).as_secs()).unwrap_or(0);
            format!(
                "{} {} ago  {}",
                last.kind,
                duration(seconds * 1000),
                printable::line(&last.summary)
            )
        },
    );
    let name = style.strong(pad(&printable::line(&report.name.0), width));
    let state = pad(state, 6);
    let last = style.faint(last.trim_end());
    style.cut(
        &format!("{} {name}  {state}  {last}", style.mark(glyph)),
        style.width.saturating_sub(1),
    )
}

/// If `is_running` is false, `report` contains the last status before the watch ended.
pub fn text(style: Style, report: &WatchReport, is_running: bool) -> String {
    let ended = if is_running {
        ""
    } else {
        "  (not running: resume it with `glee watch`)"
    };
    let mut out = fit(&format!("{}{ended}\n", line(style, report)), style.width);
    let now = Timestamp::now();
    let width = names_width(report.agents.iter().map(|agent| &agent.name));
    let indented = Style {
        width: style.width.saturating_sub(2),
        ..style
    };
    for report in &report.agents {
        let _ = writeln!(out, "  {}", agent(indented, report, width, now));
    }
    if let Some(asked) = &report.clarification {
        let _ = writeln!(
            out,
            "\nwaiting for {} to clarify cycle {}:",
            names(&asked.waiting),
            asked.cycle
        );
        for line in printable::block(&asked.prompt).lines() {
            let _ = writeln!(out, "  {}", style.faint(line));
        }
    }
    if !report.issues.is_empty() {
        out = out + "\n" + &issues(style, &report.issues);
    }
    out
}

pub fn issues(style: Style, issues: &[Issue]) -> String {
    if issues.is_empty() {
        return "no issues\n".to_owned();
    }
    let mut out = String::new();
    for Issue {
        number,
        reviewer,
        cycle,
        issue,
        same_as,
        may_be,
        closed,
    } in issues
    {
        let number = style.strong(format!("{number:>3}"));
        let head = style.facts(&[
            format!("{number} {}", printable::line(&issue.severity)),
            format!("{}, cycle {cycle}", printable::line(&reviewer.0)),
            issue.file.as_ref().map(printable::line).unwrap_or_default(),
        ]);
        let _ = writeln!(out, "{head}");
        paragraph(
            &mut out,
            style,
            "      ",
            &printable::line(&issue.description),
        );
        for (words, others) in [("the same as", same_as), ("may be the same as", may_be)] {
            if !others.is_empty() {
                let others: Vec<String> = others.iter().map(u32::to_string).collect();
                let text = format!("{words} {}", others.join(", "));
                let _ = writeln!(out, "      {}", style.faint(text));
            }
        }
        if let Some((by, why)) = closed {
            let why = printable::line(why);
            let why = if why.is_empty() {
                why
            } else {
                format!(": {why}")
            };
            let _ = writeln!(
                out,
                "      {}",
                style.faint(format!("closed by {}{why}", printable::line(by)))
            );
        }
    }
    out
}
