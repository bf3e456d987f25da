//! What `glee review --dry-run` prints: the plan, for people or as JSON.

use std::fmt::Write as _;

use crate::config::settings::Settings;
use crate::domain::Role;
use crate::draw;
use crate::event::{Mode, Plan};
use crate::pipeline::Preview;
use crate::protocol::printable;
use crate::report::Format;

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
            })
        })
        .collect();
    let value = serde_json::json!({ "schema": 1, "plan": plan, "calls": calls });
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
    let _ = writeln!(out, "Calls    {} of reviewers, {jobs}", previews.len());
    for preview in previews {
        let _ = writeln!(
            out,
            "  {} shard {}: {} in {}",
            printable::line(&preview.agent.0),
            preview.shard,
            plural(preview.files.len(), "file", "files"),
            draw::size(u64::try_from(preview.prompt_bytes).unwrap_or(u64::MAX))
        );
    }
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

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
