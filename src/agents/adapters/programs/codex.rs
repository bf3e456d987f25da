//! Codex, as `codex exec --json` prints it.
//!
//! Its sandbox is always named. It has no flag for its retries; those of a provider that the configuration names are
//! turned off, the built-in ones end after half a minute because `unbounded_connection_retries` is. Settings of the
//! reviewed tree are ignored by itself, its `AGENTS.md` by `project_doc_max_bytes=0`. Seen with 0.169.0.

use serde_json::Value;

use crate::agents::adapters::interface::{Adapter, Profile};
use crate::agents::adapters::invocation::{Invocation, Query};
use crate::agents::adapters::json_events::{self, list};
use crate::agents::adapters::parsed_output::{ParsedOutput, ReportedError, number, text};
use crate::agents::error::AgentError;
use crate::agents::schema::SchemaForm;
use crate::agents::streams::output_monitor::Marks;
use crate::domain::{Effort, FailureKind, Role, Usage};

/// The longest prompt it takes on stdin, in characters.
const LONGEST: usize = 1_048_576;

const NOT_FOR_A_JUDGE: [&str; 7] =
    ["shell_tool", "unified_exec", "multi_agent", "goals", "view_image", "image_generation", "hooks"];

const MUTE: [&str; 3] =
    [r#"{"type":"thread.started""#, r#"{"type":"turn.started""#, r#""item":{"id":"item_0","type":"error""#];

pub(crate) struct Codex;

impl Adapter for Codex {
    fn profile(&self) -> Profile {
        Profile {
            name: "codex",
            login: "log in with `codex login`, or set the key that its provider names",
            helps: &[&["exec", "--help"], &["features", "list"]],
            marks: Marks { mute: Some(&MUTE), vain: None },
            effort: Some(effort),
            exit_codes: &[(&[2], FailureKind::BadFlags)],
            counts_sessions: true,
            ..Profile::default()
        }
    }

    fn command(&self, query: &Query<'_>) -> Result<Invocation, AgentError> {
        json_events::fits(query, "codex", query.prompt.chars().count(), LONGEST, "characters")?;
        query.program.need(&["--sandbox", "--json"])?;
        let role = query.request.task.role();
        let sandbox = if role == Role::Coder { "workspace-write" } else { "read-only" };
        let mut args = list(&["exec", "--json", "-s", sandbox, "--skip-git-repo-check"]);
        if role != Role::Coder {
            args.push("--ephemeral".to_owned());
        }
        let mut off = vec!["plugins", "apps", "unbounded_connection_retries"];
        if matches!(role, Role::Judge | Role::Aggregator) {
            off.extend(NOT_FOR_A_JUDGE);
        }
        // A feature that it does not know is an error to it.
        for feature in off.into_iter().filter(|name| query.program.words.is_none() || query.program.names(name)) {
            args.extend(list(&["--disable", feature]));
        }
        let mut settings = list(&["analytics.enabled=false", "project_doc_max_bytes=0"]);
        if role != Role::Coder {
            settings.push("web_search=\"disabled\"".to_owned());
        }
        // A setting, which is in no help.
        let effort = query.agent.effort.or(query.request.task.wants_effort().then_some(Effort::High));
        if let Some(effort) = effort.map(self::effort) {
            settings.push(format!("model_reasoning_effort=\"{effort}\""));
        }
        if let Some(provider) = provider(&query.agent.command) {
            settings.push(format!("model_providers.{provider}.request_max_retries=0"));
            settings.push(format!("model_providers.{provider}.stream_max_retries=0"));
        }
        for setting in settings {
            args.extend(["-c".to_owned(), setting]);
        }
        args.extend(json_events::option("-m", query.agent.model.as_deref()));
        let mut files = Vec::new();
        if let Some(form) =
            SchemaForm::held_to(&query.request.task).filter(|_| query.program.names("--output-schema"))
        {
            let path = query.folder.join(format!("{}-schema.json", form.as_str()));
            args.extend(["--output-schema".to_owned(), path.to_string_lossy().into_owned()]);
            files.push((path, form.strict()));
        }
        args.extend(json_events::own_args(query));
        args.extend(json_events::option("resume", query.session));
        args.push("-".to_owned());
        let sees = ["CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY"];
        Ok(Invocation { files, ..json_events::invocation(query, args, &sees, &[]) })
    }

    fn activity(&self, line: &str) -> Option<String> {
        let event: Value = serde_json::from_str(line).ok()?;
        match text(&event, "/item/type")? {
            "agent_message" | "reasoning" => json_events::writing(text(&event, "/item/text")?),
            "command_execution" => Some(text(&event, "/item/command")?.to_owned()),
            "file_change" => {
                let path = text(&event, "/item/changes/0/path").unwrap_or_default();
                Some(format!("edit {path}").trim().to_owned())
            }
            _ => None,
        }
    }

    fn speech(&self, line: &str) -> Option<String> {
        let event: Value = serde_json::from_str(line).ok()?;
        let is_said =
            text(&event, "/type") == Some("item.completed") && text(&event, "/item/type") == Some("agent_message");
        is_said.then(|| text(&event, "/item/text").map(|text| format!("{text}\n")))?
    }

    fn parse(&self, parsed: &mut ParsedOutput, event: &Value) {
        match text(event, "/type").unwrap_or_default() {
            "thread.started" => parsed.metadata.session = text(event, "/thread_id").map(ToOwned::to_owned),
            "item.completed" => item(parsed, event),
            // A warning, unless nothing comes after it: it says so of every try to reconnect.
            "error" => parsed.failure = text(event, "/message").map(ReportedError::text),
            "turn.failed" => {
                let said = text(event, "/error/message").unwrap_or("it did not say why");
                parsed.failure = Some(ReportedError::text(said));
            }
            "turn.completed" => {
                parsed.done = true;
                parsed.failure = None;
                let of = |name: &str| number(event, &format!("/usage/{name}"));
                parsed.usage = Usage {
                    input_tokens: of("input_tokens"),
                    output_tokens: of("output_tokens"),
                    cached_tokens: of("cached_input_tokens"),
                    reasoning_tokens: of("reasoning_output_tokens"),
                    ..Usage::default()
                };
            }
            _ => {}
        }
    }
}

fn item(parsed: &mut ParsedOutput, event: &Value) {
    match text(event, "/item/type").unwrap_or_default() {
        // The last message is the answer; those before it comment on the work.
        "agent_message" => parsed.answer = text(event, "/item/text").map(ToOwned::to_owned),
        "command_execution" | "file_change" | "mcp_tool_call"
            if text(event, "/item/status") == Some("declined") =>
        {
            parsed.denied(text(event, "/item/type").unwrap_or_default());
        }
        _ => {}
    }
    if let Some(answer) = &parsed.answer {
        parsed.text.clone_from(answer);
    }
}

fn effort(effort: Effort) -> &'static str {
    if effort == Effort::Max { "xhigh" } else { effort.as_str() }
}

/// The provider that a command names with `-c model_provider=...`.
fn provider(command: &[String]) -> Option<&str> {
    let value = command.iter().find_map(|word| word.strip_prefix("model_provider="))?;
    Some(value.trim_matches(['"', '\''])).filter(|name| !name.is_empty())
}
