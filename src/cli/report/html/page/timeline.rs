//! The timeline of a run: when each agent worked, how many tokens its calls used, and what its calls cost.

use std::collections::BTreeMap;

use jiff::Timestamp;
use minijinja::value::Value;

use super::cast::role_class;
use crate::cli::report::calls::TimedCall;
use crate::cli::report::html::environment::values;
use glee_model::domain::event::Plan;
use glee_model::domain::{Agent, AgentName, Proof, Role, Spent, Usage};

/// The width of a lane, in units of the SVG image.
const WIDTH: u64 = 1000;

/// The minimum width of a bar, so that the bar of a short call is visible.
const NARROWEST: u64 = 3;

/// The maximum number of calls in the table.
const LISTED: usize = 2_000;

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
) -> Option<Value> {
    let mut spans = Vec::new();
    for call in calls {
        let began = call.began.as_millisecond();
        let ended = call.ended.as_ref().map(|ended| ended.at).or(end);
        let ended = ended.map_or(began, Timestamp::as_millisecond);
        spans.push((began, ended.max(began)));
    }
    let axis = Axis::of(&spans)?;
    let mut rows = Vec::new();
    for (name, role) in names {
        let own = calls.iter().zip(&spans);
        let own = own.filter(|(call, _)| call.id.agent == *name);
        let role = role.or_else(|| own.clone().find_map(|(call, _)| call.role));
        let busy: u64 = own.clone().map(|(_, (from, to))| from.abs_diff(*to)).sum();
        let bars: Vec<Value> = own
            .map(|(call, (from, to))| bar(call, &axis, *from, *to))
            .collect();
        if !bars.is_empty() {
            rows.push(values! { name, role, busy, bars });
        }
    }
    let pauses = axis.cuts.iter().map(|(at, cut)| {
        values! { x => axis.x(*at), millis => cut.unsigned_abs() }
    });
    let listed = calls.iter().zip(&spans).take(LISTED);
    let listed = listed.map(|(call, (from, to))| row(call, from - axis.start, to - from));
    Some(values! {
        rows,
        breaks => pauses.collect::<Vec<_>>(),
        length => axis.length,
        total => calls.len(),
        calls => listed.collect::<Vec<_>>(),
    })
}

fn bar(call: &TimedCall<'_>, axis: &Axis, from: i64, to: i64) -> Value {
    let x = axis.x(from).min(WIDTH - NARROWEST);
    values! {
        x,
        width => axis.x(to).saturating_sub(x).max(NARROWEST),
        tone => if call.has_failed() { "failed" } else { role_class(call.role) },
        work => call.work(),
        result => call.result(),
        millis => from.abs_diff(to),
    }
}

fn row(call: &TimedCall<'_>, began: i64, millis: i64) -> Value {
    let usage = call
        .ended
        .as_ref()
        .map(|end| *end.usage)
        .unwrap_or_default();
    values! {
        began,
        agent => call.id.agent,
        work => call.work(),
        result => call.result(),
        millis,
        tokens => Spent { calls: 1, usage }.tokens(),
        has_failed => call.has_failed(),
    }
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
) -> Value {
    let mut by_agent: BTreeMap<(&AgentName, Option<Role>), AgentSums<'_>> = BTreeMap::new();
    for call in calls {
        let told = call.ended.as_ref().and_then(|end| end.told.by.as_ref());
        let answering = told.unwrap_or(&call.id.agent);
        let sums = by_agent.entry((answering, call.role)).or_default();
        sums.calls += 1;
        if let Some(end) = &call.ended {
            sums.millis += end.millis;
            sums.usage = sums.usage.plus(*end.usage);
            sums.model = end.told.model.as_deref().or(sums.model);
        }
    }
    let millis: u64 = by_agent.values().map(|sums| sums.millis).sum();
    let mut sorted: Vec<_> = by_agent.into_iter().collect();
    sorted.sort_by_key(|((name, _), _)| names.iter().position(|(known, _)| known == *name));
    let mut rows = Vec::new();
    for ((name, role), sums) in sorted {
        let mut agents = plan
            .iter()
            .flat_map(|plan| plan.agents.iter().chain(&plan.backups));
        let agent =
            agents.find(|agent| agent.name == *name && role.is_none_or(|role| role == agent.role));
        rows.push(values! {
            name,
            role,
            program => agent.map(|agent| program(agent, sums.model)).unwrap_or_default(),
            calls => sums.calls,
            millis => sums.millis,
            usage => sums.usage,
        });
    }
    let spent = Spent {
        calls: proof.calls,
        usage: proof.usage,
    };
    let total = values! {
        calls => proof.calls.max(calls.len() as u64),
        millis,
        usage => proof.usage,
    };
    values! { rows, total, tokens => spent.tokens().unwrap_or(0) }
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
    format!("{program}{model}")
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
