//! `glee review --dry-run`: formats the plan and its estimated cost as text or JSON.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cli::report::Format;
use crate::cli::style::{self, count};
use crate::config::settings::Settings;
use crate::domain::Role;
use crate::domain::event::{Mode, Plan};
use crate::protocol::text::printable;
use crate::workflows::review::Preview;

pub(crate) fn render(format: Format, plan: &Plan, settings: &Settings, previews: &[Preview]) -> String {
    match format {
        Format::Text => text(plan, settings, previews),
        Format::Json | Format::Jsonl => json(plan, previews),
    }
}

fn json(plan: &Plan, previews: &[Preview]) -> String {
    let call = |call: &Preview| {
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
    };
    let calls: Vec<Value> = previews.iter().map(call).collect();
    let total = json!({
        "calls": previews.iter().filter(|preview| preview.asked > 0).count(),
        "prompt_bytes": previews.iter().map(|preview| preview.prompt_bytes).sum::<usize>(),
        "estimated_tokens": previews.iter().map(|preview| preview.tokens).sum::<u64>(),
        "estimated_usd": previews.iter().map(|preview| preview.usd).sum::<Option<f64>>(),
    });
    let value = json!({ "schema": 1, "plan": plan, "calls": calls, "total": total });
    format!("{value:#}\n")
}

fn text(plan: &Plan, settings: &Settings, previews: &[Preview]) -> String {
    let mut out = String::new();
    let files: usize = plan.shards.iter().map(Vec::len).sum();
    let lines: u64 = plan.shards.iter().flatten().map(|covered| u64::from(covered.lines)).sum();
    let _ = writeln!(out, "Target   {}", printable::line(&plan.target));
    let commit = plan.commit.as_deref().map(|commit| format!(" (commit {commit})")).unwrap_or_default();
    let _ = writeln!(out, "Tree     {}{commit}", plan.tree);
    let _ = writeln!(out, "Files    {files} with {lines} lines in {}", count(plan.shards.len(), "shard"));
    for (number, shard) in plan.shards.iter().enumerate() {
        for covered in shard {
            let (file, lines) = (printable::line(&covered.file), covered.lines);
            let _ = writeln!(out, "  {:>3}  {file} ({lines} lines)", number + 1);
        }
    }
    if !plan.skipped.is_empty() {
        let _ = writeln!(out, "Skipped  {}", plan.skipped.len());
        for skip in &plan.skipped {
            let _ = writeln!(out, "       {} ({})", printable::line(&skip.file), skip.reason.as_str());
        }
    }
    out.push_str("Agents\n");
    for agent in &plan.agents {
        let command = printable::line(&agent.command.join(" "));
        let _ = writeln!(out, "  {:<10} {} ({command})", agent.role.as_str(), printable::line(&agent.name.0));
    }
    let jobs =
        settings.review.jobs.map_or_else(|| "all in parallel".to_owned(), |jobs| format!("{jobs} at a time"));
    calls(&mut out, &jobs, previews);
    out.push_str(match plan.mode {
        Mode::Review => "Then     the findings are reported; no file is changed\n",
        Mode::Fix => "Then     the coder receives the findings and edits files; disputes stay open\n",
        Mode::Arbitrate => "Then     the coder receives the findings and edits files; disputes are settled\n",
    });
    if plan.mode == Mode::Arbitrate {
        let judge = plan.agents.iter().find(|agent| agent.role == Role::Judge);
        let judge = judge.map_or("none", |agent| agent.name.0.as_str());
        let _ = writeln!(out, "Disputes {} by default, the judge is {judge}", settings.review.on_dispute.default);
    }
    out.push_str("This was a dry run: no agent was called.\n");
    out
}

fn calls(out: &mut String, jobs: &str, previews: &[Preview]) {
    let asked: Vec<&Preview> = previews.iter().filter(|preview| preview.asked > 0).collect();
    let _ = writeln!(out, "Calls    {} of reviewers, {jobs}", asked.len());
    let size = |bytes: usize| style::size(u64::try_from(bytes).unwrap_or(u64::MAX));
    for preview in previews {
        let what = match preview.asked {
            0 => "not called".to_owned(),
            files => format!("{} in {}", count(files, "file"), size(preview.prompt_bytes)),
        };
        let reused = preview.reused.iter().map(|from| {
            let mut files = count(from.files.len(), "file");
            if !from.in_part.is_empty() {
                files = format!("{files} and parts of {}", from.in_part.len());
            }
            format!("; {files} reused from run {}", printable::line(from.run.short()))
        });
        let (name, reused) = (printable::line(&preview.agent.0), reused.collect::<String>());
        let _ = writeln!(out, "  {name} shard {}: {what}{reused}", preview.shard);
    }
    let (bytes, tokens): (usize, u64) = asked
        .iter()
        .fold((0, 0), |(bytes, tokens), preview| (bytes + preview.prompt_bytes, tokens + preview.tokens));
    if tokens == 0 {
        let cost = if bytes == 0 { "no call" } else { "for embedded agents, which cost nothing" };
        let _ = writeln!(out, "Prompts  {}, {cost}", size(bytes));
        return;
    }
    let _ = writeln!(out, "Prompts  {}, about {} tokens (estimated)", size(bytes), style::thousands(tokens));
    let unpriced = asked.iter().filter(|preview| preview.usd.is_none());
    let unpriced: BTreeSet<String> = unpriced.map(|preview| printable::line(&preview.agent.0)).collect();
    let unpriced: Vec<String> = unpriced.into_iter().collect();
    let mut cost = Vec::new();
    if asked.iter().any(|preview| preview.tokens > 0 && preview.usd.is_some()) {
        let usd: f64 = asked.iter().filter_map(|preview| preview.usd).sum();
        cost.push(format!(
            "about ${usd:.2} for the prompts (estimated, without answers and files that agents read)"
        ));
    }
    if !unpriced.is_empty() {
        cost.push(format!("unknown for {}: no price is known (`agents.<name>.price`)", unpriced.join(", ")));
    }
    if !cost.is_empty() {
        let _ = writeln!(out, "Cost     {}", cost.join("; "));
    }
}
