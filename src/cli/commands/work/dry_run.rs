//! What `glee review --dry-run` prints: the plan, for people or as JSON.

use std::fmt::Write as _;

use crate::cli::report::Format;
use crate::cli::style;
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
    let calls: Vec<serde_json::Value> = previews
        .iter()
        .map(|preview| {
            serde_json::json!({
                "agent": preview.agent,
                "shard": preview.shard,
                "files": preview.files,
                "prompt_bytes": preview.prompt_bytes,
                "files_asked": preview.asked,
                "reused": preview.reused,
                "estimated_tokens": preview.tokens,
                "estimated_usd": preview.usd,
            })
        })
        .collect();
    let total = serde_json::json!({
        "calls": previews.iter().filter(|preview| preview.asked > 0).count(),
        "prompt_bytes": previews.iter().map(|preview| preview.prompt_bytes).sum::<usize>(),
        "estimated_tokens": previews.iter().map(|preview| preview.tokens).sum::<u64>(),
        "estimated_usd": previews.iter().map(|preview| preview.usd).sum::<Option<f64>>(),
    });
    let value = serde_json::json!({ "schema": 1, "plan": plan, "calls": calls, "total": total });
    format!("{value:#}\n")
}

fn text(plan: &Plan, settings: &Settings, previews: &[Preview]) -> String {
    let mut out = String::new();
    let files: usize = plan.shards.iter().map(Vec::len).sum();
    let lines: u64 = plan.shards.iter().flatten().map(|covered| u64::from(covered.lines)).sum();
    let _ = writeln!(out, "Target   {}", printable::line(&plan.target));
    let _ = writeln!(
        out,
        "Tree     {}{}",
        plan.tree,
        plan.commit.as_deref().map(|commit| format!(" (commit {commit})")).unwrap_or_default()
    );
    let _ =
        writeln!(out, "Files    {files} with {lines} lines in {}", plural(plan.shards.len(), "shard", "shards"));
    for (number, shard) in plan.shards.iter().enumerate() {
        for covered in shard {
            let _ =
                writeln!(out, "  {:>3}  {} ({} lines)", number + 1, printable::line(&covered.file), covered.lines);
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
        settings.review.jobs.map_or_else(|| "all side by side".to_owned(), |jobs| format!("{jobs} at a time"));
    calls(&mut out, &jobs, previews);
    out.push_str(match plan.mode {
        Mode::Review => "Then     the findings are reported; no file is changed\n",
        Mode::Fix => "Then     the coder is given the findings and edits files; disputes stay open\n",
        Mode::Arbitrate => "Then     the coder is given the findings and edits files; disputes are settled\n",
    });
    if plan.mode == Mode::Arbitrate {
        let judge = plan.agents.iter().find(|agent| agent.role == Role::Judge);
        let judge = judge.map_or("nobody", |agent| agent.name.0.as_str());
        let _ = writeln!(out, "Disputes {} by default, the judge is {judge}", settings.review.on_dispute.default);
    }
    out.push_str("Nobody was asked: this was a dry run.\n");
    out
}

/// The calls, what each is about, and what all of them may cost.
fn calls(out: &mut String, jobs: &str, previews: &[Preview]) {
    let asked: Vec<&Preview> = previews.iter().filter(|preview| preview.asked > 0).collect();
    let _ = writeln!(out, "Calls    {} of reviewers, {jobs}", asked.len());
    let size = |bytes: usize| style::size(u64::try_from(bytes).unwrap_or(u64::MAX));
    for preview in previews {
        let what = match preview.asked {
            0 => "not asked".to_owned(),
            files => format!("{} in {}", plural(files, "file", "files"), size(preview.prompt_bytes)),
        };
        let reused = preview.reused.iter().map(|from| {
            let mut files = plural(from.files.len(), "file", "files");
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
        let cost = if bytes == 0 { "nobody is asked" } else { "for embedded agents, which cost nothing" };
        let _ = writeln!(out, "Prompts  {}, {cost}", size(bytes));
        return;
    }
    let _ = writeln!(out, "Prompts  {}, about {} tokens (estimated)", size(bytes), style::thousands(tokens));
    let mut unpriced: Vec<&str> =
        asked.iter().filter(|preview| preview.usd.is_none()).map(|preview| preview.agent.0.as_str()).collect();
    unpriced.sort_unstable();
    unpriced.dedup();
    let usd: f64 = asked.iter().filter_map(|preview| preview.usd).sum();
    let unpriced: Vec<String> = unpriced.into_iter().map(printable::line).collect();
    let known = if asked.iter().any(|preview| preview.tokens > 0 && preview.usd.is_some()) {
        format!(
            "about ${usd:.2} for the prompts (estimated; answers and what agents read by themselves come on top)"
        )
    } else {
        String::new()
    };
    let unknown = match unpriced.is_empty() {
        true => String::new(),
        false => format!("unknown for {}: no price is known (`agents.<name>.price`)", unpriced.join(", ")),
    };
    let cost: Vec<String> = [known, unknown].into_iter().filter(|part| !part.is_empty()).collect();
    if !cost.is_empty() {
        let _ = writeln!(out, "Cost     {}", cost.join("; "));
    }
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
