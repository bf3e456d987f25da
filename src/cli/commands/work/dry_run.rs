//! `glee review --dry-run`: formats the plan and its estimated cost as text or JSON.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cli::report::BasicFormat;
use crate::cli::style::{self, Style, count};
use glee_model::domain::Role;
use glee_model::domain::event::{Mode, Plan};
use glee_protocol::text::printable;
use glee_store::config::choices::DebateRounds;
use glee_store::config::settings::Settings;
use glee_workflows::review::{LaterCaller, Preview};

pub(crate) fn render(
    format: BasicFormat,
    style: Style,
    is_detailed: bool,
    plan: &Plan,
    settings: &Settings,
    previews: &[Preview],
    later: &[LaterCaller],
) -> String {
    match format {
        BasicFormat::Text => {
            let details = if is_detailed {
                details(plan, previews)
            } else {
                String::new()
            };
            style::fit(
                &(text(style, plan, settings, previews, later, is_detailed) + &details),
                style.width,
            )
        }
        BasicFormat::Json | BasicFormat::Jsonl => json(plan, settings, previews, later),
    }
}

fn json(plan: &Plan, settings: &Settings, previews: &[Preview], later: &[LaterCaller]) -> String {
    let calls: Vec<Value> = previews
        .iter()
        .map(|call| {
            json!({
                "agent": call.agent,
                "shard": call.shard,
                "files": call.files,
                "prompt_bytes": call.prompt_bytes,
                "files_asked": call.asked,
                "reused": call.reused,
                "estimated_tokens": call.tokens,
                "estimated_usd": call.usd,
            })
        })
        .collect();
    let total = json!({
        "calls": previews.iter().filter(|preview| preview.asked > 0).count(),
        "prompt_bytes": previews.iter().map(|preview| preview.prompt_bytes).sum::<usize>(),
        "estimated_tokens": previews.iter().map(|preview| preview.tokens).sum::<u64>(),
        "estimated_usd": previews.iter().map(|preview| preview.usd).sum::<Option<f64>>(),
    });
    let value = json!({
        "schema": 1,
        "plan": plan,
        "calls": calls,
        "compare": compare(plan, settings),
        "later": later,
        "total": total,
    });
    format!("{value:#}\n")
}

fn text(
    style: Style,
    plan: &Plan,
    settings: &Settings,
    previews: &[Preview],
    later: &[LaterCaller],
    is_detailed: bool,
) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    let files: usize = plan.shards.iter().map(Vec::len).sum();
    let lines: u64 = plan
        .shards
        .iter()
        .flatten()
        .map(|covered| u64::from(covered.lines))
        .sum();
    let at = plan
        .commit
        .as_deref()
        .map(|commit| format!(" at commit {}", short(commit)))
        .unwrap_or_default();
    rows.push((
        "Target",
        format!(
            "{}{at}, tree {}",
            printable::line(&plan.target),
            short(&plan.tree)
        ),
    ));
    let shards = count(plan.shards.len(), "shard");
    rows.push((
        "Code",
        format!(
            "{}, {} in {shards}",
            count(files, "file"),
            count(lines, "line")
        ),
    ));
    if !plan.skipped.is_empty() {
        rows.push((
            "Skipped",
            style::skipped(&plan.skipped, if is_detailed { usize::MAX } else { 3 }),
        ));
    }
    for role in Role::ALL {
        let agents = plan.agents.iter().filter(|agent| agent.role == role);
        let agents: Vec<String> = agents
            .map(|agent| {
                let name = &agent.name.0;
                let command = agent.command.join(" ");
                if command == *name {
                    printable::line(name)
                } else {
                    printable::line(&format!("{name} ({command})"))
                }
            })
            .collect();
        if !agents.is_empty() {
            let name = match role {
                Role::Coder if agents.len() > 1 => "Coders",
                Role::Coder => "Coder",
                Role::Reviewer => "Reviewers",
                Role::Judge => "Judges",
                Role::Aggregator => "Aggregator",
            };
            rows.push((name, agents.join(", ")));
        }
    }
    let asked: Vec<&Preview> = previews
        .iter()
        .filter(|preview| preview.asked > 0)
        .collect();
    let jobs = match settings.review.jobs {
        _ if asked.len() < 2 => String::new(),
        None => ", all at the same time".to_owned(),
        Some(jobs) => format!(", at most {jobs} at the same time"),
    };
    let reused = previews
        .iter()
        .map(|preview| preview.files.len().saturating_sub(preview.asked))
        .sum::<usize>();
    let reused = match reused {
        0 => String::new(),
        files => format!(
            "; recorded answers about {} are reused",
            count(files, "file")
        ),
    };
    rows.push((
        "Calls",
        format!("{} of reviewers{jobs}{reused}", count(asked.len(), "call")),
    ));
    let bytes: usize = asked.iter().map(|preview| preview.prompt_bytes).sum();
    let tokens: u64 = asked.iter().map(|preview| preview.tokens).sum();
    if tokens > 0 {
        let tokens = format!(
            "{}, about {} tokens (estimated)",
            style::size(bytes as u64),
            style::thousands(tokens)
        );
        rows.push(("Prompts", tokens));
        rows.push(("Cost", cost(&asked).unwrap_or_default()));
    } else if bytes > 0 {
        rows.push((
            "Prompts",
            format!(
                "{}, for embedded agents, which cost nothing",
                style::size(bytes as u64)
            ),
        ));
    }
    if let Some(compare) = compare(plan, settings) {
        rows.push(("Compare", compare));
    }
    if !later.is_empty() {
        let later: Vec<String> = later.iter().map(usual_cost).collect();
        rows.push(("Later", later.join("; ")));
    }
    let coders = plan.agents.iter().filter(|agent| agent.role == Role::Coder);
    let edits = match coders.count() {
        0 | 1 => "the coder receives the findings and edits files",
        _ => "each finding goes to the coder of its file, which edits files",
    };
    rows.push((
        "Then",
        match plan.mode {
            Mode::Review => "the findings are reported; no file is changed".to_owned(),
            Mode::Fix => format!("{edits}; disputes stay open"),
            Mode::Arbitrate => format!("{edits}; disputes are settled"),
        },
    ));
    if plan.mode == Mode::Arbitrate {
        let judge = plan.agents.iter().find(|agent| agent.role == Role::Judge);
        let judge = judge.map_or("none".to_owned(), |agent| printable::line(&agent.name.0));
        rows.push((
            "Disputes",
            format!(
                "{} by default, the judge is {judge}",
                settings.review.on_dispute.default
            ),
        ));
    }
    let more = if is_detailed {
        ""
    } else {
        "; `-v` lists files and calls"
    };
    let mut out = String::new();
    for (name, text) in rows {
        for line in style::behind(style, &format!("{name:<11}"), 2, &text, usize::MAX) {
            let _ = writeln!(out, "{line}");
        }
    }
    let _ = writeln!(out, "This was a dry run: no agent was called{more}.");
    out
}

fn comparer(plan: &Plan, role: Role) -> Option<String> {
    let agents = plan.comparers.iter().chain(&plan.agents);
    let mut agents = agents.filter(|agent| agent.role == role && !agent.is_embedded());
    agents.next().map(|agent| printable::line(&agent.name.0))
}

/// Describes the calls that the run makes only if the rules do not decide whether findings are the same.
fn compare(plan: &Plan, settings: &Settings) -> Option<String> {
    let aggregator = comparer(plan, Role::Aggregator);
    // Findings that are raised in the debate can make a second call necessary.
    let calls = match settings.review.debate {
        DebateRounds::Off => 1,
        DebateRounds::Auto | DebateRounds::Two | DebateRounds::Three => 2,
    };
    let calls = count(calls, "call");
    let same = aggregator
        .as_ref()
        .map(|name| format!("at most {calls} to {name} about findings that may be the same"));
    let repeated = comparer(plan, Role::Judge).or(aggregator);
    let repeated = repeated
        .map(|name| format!("at most 1 call to {name} about findings that may repeat a dispute"));
    let calls: Vec<String> = same.into_iter().chain(repeated).collect();
    (!calls.is_empty()).then(|| calls.join("; "))
}

/// Returns the first 12 characters of a hash. A prefix that ends with a colon is removed first.
fn short(id: &str) -> String {
    let hash = id.find(':').map_or(0, |colon| colon + 1);
    printable::line(&id[hash..]).chars().take(12).collect()
}

/// Formats the planned calls and their estimated cost, as in `120 calls, about $12.30 for the prompts`.
pub(crate) fn calls_and_cost(asked: &[Preview]) -> String {
    let calls = count(asked.len(), "call");
    match asked.iter().map(|preview| preview.usd).sum::<Option<f64>>() {
        Some(usd) => format!("{calls}, about {} for the prompts", style::dollars(usd)),
        None => format!("{calls}, and its cost is unknown"),
    }
}

/// Formats what a call of an agent usually costs, as in `a call of fixer (coder) costs about $0.30, the average of 12
/// recorded calls`.
fn usual_cost(caller: &LaterCaller) -> String {
    let name = printable::line(&caller.agent.0);
    let role = caller.role;
    match caller.usual_usd {
        Some(usd) => format!(
            "a call of {name} ({role}) costs about {}, the average of {}",
            style::dollars(usd),
            count(caller.recorded_calls, "recorded call")
        ),
        None => format!("what a call of {name} ({role}) costs is not recorded yet"),
    }
}

fn cost(asked: &[&Preview]) -> Option<String> {
    let unpriced = asked.iter().filter(|preview| preview.usd.is_none());
    let unpriced: BTreeSet<String> = unpriced
        .map(|preview| printable::line(&preview.agent.0))
        .collect();
    let mut cost = Vec::new();
    if asked
        .iter()
        .any(|preview| preview.tokens > 0 && preview.usd.is_some())
    {
        let usd: f64 = asked.iter().filter_map(|preview| preview.usd).sum();
        cost.push(format!(
            "about {} for the prompts (estimated, without answers and files that agents read)",
            style::dollars(usd)
        ));
    }
    if !unpriced.is_empty() {
        let names = unpriced.into_iter().collect::<Vec<_>>().join(", ");
        cost.push(format!(
            "unknown for {names}: no price is known (`agents.<name>.price`)"
        ));
    }
    (!cost.is_empty()).then(|| cost.join("; "))
}

/// Lists each file and each call.
fn details(plan: &Plan, previews: &[Preview]) -> String {
    let mut out = String::from("\nShards\n");
    for (number, shard) in plan.shards.iter().enumerate() {
        for covered in shard {
            let file = printable::line(&covered.file);
            let lines = count(covered.lines, "line");
            let _ = writeln!(out, "  {:>3}  {file} ({lines})", number + 1);
        }
    }
    out.push_str("\nCalls\n");
    for preview in previews {
        let what = match preview.asked {
            0 => "not called".to_owned(),
            files => format!(
                "{} in {}",
                count(files, "file"),
                style::size(preview.prompt_bytes as u64)
            ),
        };
        let reused = preview.reused.iter().map(|from| {
            let mut files = count(from.files.len(), "file");
            if !from.in_part.is_empty() {
                files = format!("{files} and parts of {}", from.in_part.len());
            }
            format!(
                "; {files} reused from run {}",
                printable::line(from.run.short())
            )
        });
        let name = printable::line(&preview.agent.0);
        let reused = reused.collect::<String>();
        let _ = writeln!(out, "  {name} shard {}: {what}{reused}", preview.shard);
    }
    out
}
