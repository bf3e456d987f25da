//! The timeline of a run: when each agent worked, how many tokens its calls used, and what its calls cost.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::calls::TimedCall;
use crate::cli::style::{count, dollars, duration, thousands};
use glee_model::domain::event::Plan;
use glee_model::domain::{Agent, AgentName, Proof, Role, Spent, Usage};
use glee_protocol::text::printable;

/// The width of a lane, in units of the SVG image.
const WIDTH: u64 = 1000;

/// The minimum width of a bar, so that the bar of a short call is visible.
const NARROWEST: u64 = 3;

/// The maximum number of calls in the table.
const LISTED: usize = 2_000;

#[derive(Debug, Serialize)]
pub(crate) struct TimelineView {
    rows: Vec<Lane>,
    breaks: Vec<Pause>,
    ticks: Vec<String>,
    note: Option<String>,
    total: String,
    calls: Vec<CallRow>,
}

#[derive(Debug, Serialize)]
struct Lane {
    name: String,
    role: String,
    label: String,
    bars: Vec<Bar>,
}

#[derive(Debug, Serialize)]
struct Bar {
    x: u64,
    width: u64,
    tone: &'static str,
    text: String,
}

#[derive(Debug, Serialize)]
struct Pause {
    x: u64,
    text: String,
}

#[derive(Debug, Serialize)]
struct CallRow {
    began: String,
    agent: String,
    work: String,
    result: String,
    time: String,
    tokens: String,
    tone: &'static str,
}

/// The time axis of the timeline, which begins with the first call. The axis shortens long pauses between calls.
/// All times are in milliseconds.
struct Axis {
    start: i64,
    /// One pair for each shortened pause. The first value is the end of the pause, and the second value is the
    /// duration that the axis omits.
    cuts: Vec<(i64, i64)>,
    length: i64,
}

impl Axis {
    fn of(spans: &[(i64, i64)]) -> Option<Self> {
        let mut sorted = spans.to_vec();
        sorted.sort_unstable();
        let start = sorted.first()?.0;
        let mut merged: Vec<(i64, i64)> = Vec::new();
        for (from, to) in sorted {
            match merged.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        let busy: i64 = merged.iter().map(|(from, to)| to - from).sum();
        let longest = (busy / 10).max(1_000);
        let gaps = merged
            .windows(2)
            .map(|pair| (pair[1].0, pair[1].0 - pair[0].1));
        let cuts: Vec<(i64, i64)> = gaps
            .filter(|(_, gap)| *gap > longest)
            .map(|(at, gap)| (at, gap - longest))
            .collect();
        let removed: i64 = cuts.iter().map(|(_, cut)| cut).sum();
        let length = (merged.last()?.1 - start - removed).max(1);
        Some(Self {
            start,
            cuts,
            length,
        })
    }

    fn x(&self, at: i64) -> u64 {
        let removed: i64 = self
            .cuts
            .iter()
            .filter(|(cut, _)| *cut <= at)
            .map(|(_, removed)| removed)
            .sum();
        let passed = (at - self.start - removed)
            .clamp(0, self.length)
            .unsigned_abs();
        passed * WIDTH / self.length.unsigned_abs()
    }
}

/// Returns `None` if no call is recorded.
pub(crate) fn view(
    calls: &[TimedCall<'_>],
    names: &[(AgentName, Option<Role>)],
    end: Option<Timestamp>,
) -> Option<TimelineView> {
    let millis = |at: Timestamp| at.as_millisecond();
    let span = |call: &TimedCall<'_>| {
        let began = millis(call.began);
        let until = call
            .ended
            .as_ref()
            .map(|ended| ended.at)
            .or(end)
            .map_or(began, millis);
        (began, until.max(began))
    };
    let spans: Vec<(i64, i64)> = calls.iter().map(span).collect();
    let axis = Axis::of(&spans)?;
    let rows = names.iter().filter_map(|(name, role)| {
        let own = || {
            calls
                .iter()
                .zip(&spans)
                .filter(|(call, _)| call.id.agent == *name)
        };
        let role = role.or_else(|| own().find_map(|(call, _)| call.role));
        let bars: Vec<Bar> = own()
            .map(|(call, (from, to))| bar(call, &axis, *from, *to))
            .collect();
        let busy: u64 = own()
            .map(|(_, (from, to))| (to - from).unsigned_abs())
            .sum();
        let shown = printable::line(&name.0);
        (!bars.is_empty()).then(|| Lane {
            label: format!(
                "{shown}: {}, {} at work",
                count(bars.len(), "call"),
                duration(busy)
            ),
            role: role.map_or_else(String::new, |role| role.to_string()),
            name: shown,
            bars,
        })
    });
    let pauses: Vec<Pause> = axis
        .cuts
        .iter()
        .map(|(at, cut)| Pause {
            x: axis.x(*at),
            text: format!("{} without a call", duration(cut.unsigned_abs())),
        })
        .collect();
    let ticks = (0..=4)
        .map(|part| duration(axis.length.unsigned_abs() * part / 4))
        .collect();
    let note = match pauses.len() {
        0 => None,
        1 => Some("The dashed line is a pause that is shortened.".to_owned()),
        _ => Some("The dashed lines are pauses that are shortened.".to_owned()),
    };
    let listed = calls.iter().zip(&spans).take(LISTED);
    Some(TimelineView {
        rows: rows.collect(),
        breaks: pauses,
        ticks,
        note,
        total: match calls.len() {
            all if all > LISTED => format!(
                "The first {} of {}",
                thousands(LISTED as u64),
                count(all, "call")
            ),
            all => count(all, "call"),
        },
        calls: listed
            .map(|(call, (from, to))| row(call, *from - axis.start, to - from))
            .collect(),
    })
}

fn bar(call: &TimedCall<'_>, axis: &Axis, from: i64, to: i64) -> Bar {
    let x = axis.x(from).min(WIDTH - NARROWEST);
    let tone = match (call.has_failed(), call.role) {
        (true, _) => "failed",
        (false, Some(Role::Coder)) => "coder",
        (false, Some(Role::Judge)) => "judge",
        (false, _) => "reviewer",
    };
    let text = format!(
        "{}: {}, {}",
        call.work(),
        call.result(),
        duration((to - from).unsigned_abs())
    );
    Bar {
        x,
        width: axis.x(to).saturating_sub(x).max(NARROWEST),
        tone,
        text: printable::line(&text),
    }
}

fn row(call: &TimedCall<'_>, began: i64, millis: i64) -> CallRow {
    let usage = call
        .ended
        .as_ref()
        .map(|end| *end.usage)
        .unwrap_or_default();
    CallRow {
        began: duration(began.unsigned_abs()),
        agent: printable::line(&call.id.agent.0),
        work: call.work(),
        result: printable::line(&call.result()),
        time: duration(millis.unsigned_abs()),
        tokens: Spent { calls: 1, usage }
            .tokens()
            .map_or_else(|| "–".to_owned(), thousands),
        tone: if call.has_failed() { "failed" } else { "" },
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct UsageView {
    rows: Vec<UsageRow>,
    total: UsageRow,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct UsageRow {
    name: String,
    role: String,
    program: String,
    calls: String,
    time: String,
    read: String,
    cached: String,
    written: String,
    cost: String,
}

/// The totals of an agent's calls, and the model that the agent's last call reported.
#[derive(Default)]
struct AgentSums<'a> {
    calls: u64,
    millis: u64,
    usage: Usage,
    model: Option<&'a str>,
}

pub(crate) fn usage(
    calls: &[TimedCall<'_>],
    names: &[(AgentName, Option<Role>)],
    plan: Option<&Plan>,
    proof: &Proof,
) -> UsageView {
    let mut by_agent: BTreeMap<(&AgentName, Option<Role>), AgentSums<'_>> = BTreeMap::new();
    for call in calls {
        let answering = call
            .ended
            .as_ref()
            .and_then(|end| end.told.by.as_ref())
            .unwrap_or(&call.id.agent);
        let sums = by_agent.entry((answering, call.role)).or_default();
        sums.calls += 1;
        if let Some(end) = &call.ended {
            sums.millis += end.millis;
            sums.usage = sums.usage.plus(*end.usage);
            sums.model = end.told.model.as_deref().or(sums.model);
        }
    }
    let agents = || {
        plan.iter()
            .flat_map(|plan| plan.agents.iter().chain(&plan.backups))
    };
    let mut sorted: Vec<_> = by_agent.iter().collect();
    sorted.sort_by_key(|((name, _), _)| names.iter().position(|(known, _)| known == *name));
    let rows = sorted.into_iter().map(
        |(
            (name, role),
            AgentSums {
                calls,
                millis,
                usage,
                model,
            },
        )| {
            let agent = agents()
                .find(|agent| agent.name == **name && role.is_none_or(|role| role == agent.role));
            UsageRow {
                role: role.map_or_else(String::new, |role| role.to_string()),
                program: agent
                    .map(|agent| program(agent, *model))
                    .unwrap_or_default(),
                ..sums(&name.0, *calls, *millis, usage)
            }
        },
    );
    let rows: Vec<UsageRow> = rows.collect();
    let millis = by_agent.values().map(|sums| sums.millis).sum();
    let total = sums(
        "All",
        proof.calls.max(calls.len() as u64),
        millis,
        &proof.usage,
    );
    let mut notes = Vec::new();
    let known = proof.usage;
    if known.input_tokens.is_none() && known.output_tokens.is_none() && known.usd.is_none() {
        notes.push("No agent reported tokens or cost.".to_owned());
    }
    if known.estimated {
        notes.push("The cost is computed, at least in part, from configured prices.".to_owned());
    }
    notes.extend(budget(proof));
    UsageView { rows, total, notes }
}

fn program(agent: &Agent, reported: Option<&str>) -> String {
    let program = agent
        .command
        .first()
        .map_or(agent.adapter.as_str(), |program| {
            program.rsplit('/').next().unwrap_or(program)
        });
    let model = reported
        .or(agent.model.as_deref())
        .map_or_else(String::new, |model| format!(", {model}"));
    printable::line(&format!("{program}{model}"))
}

fn sums(name: &str, calls: u64, millis: u64, usage: &Usage) -> UsageRow {
    let number = |number: Option<u64>| number.map_or_else(|| "–".to_owned(), thousands);
    UsageRow {
        name: printable::line(name),
        role: String::new(),
        program: String::new(),
        calls: thousands(calls),
        time: duration(millis),
        read: number(usage.input_tokens),
        cached: number(usage.cached_tokens),
        written: number(usage.output_tokens),
        cost: usage.usd.map_or_else(|| "–".to_owned(), dollars),
    }
}

/// States how much of the budget the run used, as in `Budget: 3 of 40 calls.`
fn budget(proof: &Proof) -> Option<String> {
    let Proof {
        caps, usage, calls, ..
    } = proof;
    let spent = Spent {
        calls: *calls,
        usage: *usage,
    }
    .tokens()
    .unwrap_or(0);
    let parts: Vec<String> = [
        caps.tokens
            .map(|cap| format!("{} of {} tokens", thousands(spent), thousands(cap))),
        caps.usd
            .map(|cap| format!("{} of {}", dollars(usage.usd.unwrap_or(0.0)), dollars(cap))),
        caps.calls
            .map(|cap| format!("{} of {}", thousands(*calls), count(cap, "call"))),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| format!("Budget: {}.", parts.join(", ")))
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn long_pauses_are_shortened_and_work_keeps_its_length() {
        let axis =
            Axis::of(&[(10_000, 20_000), (15_000, 30_000), (3_600_000, 3_620_000)]).expect("calls");
        assert_eq!((axis.start, axis.length), (10_000, 20_000 + 4_000 + 20_000));
        assert_eq!(
            [10_000, 30_000, 3_600_000, 3_620_000].map(|at| axis.x(at)),
            [0, 454, 545, 1000]
        );
        let axis = Axis::of(&[(5, 5)]).expect("a call");
        assert_eq!((axis.x(5), axis.x(0), axis.x(99)), (0, 0, 1000));
        assert!(Axis::of(&[]).is_none());
    }
}
