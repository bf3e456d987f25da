//! Qwen Code, which prints its work in the form of Claude Code with `-o stream-json`.
//!
//! `--safe-mode` keeps hooks, MCP servers and settings of the reviewed tree out, and with them its own memory keeper;
//! `--approval-mode plan` offers no tool that writes. Seen with 0.24.4.

use serde_json::Value;

use super::claude;
use crate::agents::adapters::interface::{Adapter, Profile};
use crate::agents::adapters::invocation::{Invocation, Query};
use crate::agents::adapters::json_events::{self, list};
use crate::agents::adapters::parsed_output::{ParsedOutput, ReportedError};
use crate::agents::error::AgentError;
use crate::agents::schema::SchemaForm;
use crate::domain::{FailureKind, Role};

/// Settings of the lowest rank.
const DEFAULTS: &str = r#"{"general":{"enableAutoUpdate":false},"model":{"generationConfig":{"maxRetries":0}}}"#;

pub(crate) struct Qwen;

impl Adapter for Qwen {
    fn profile(&self) -> Profile {
        Profile {
            name: "qwen",
            login: "log in: run `qwen` once, or set OPENAI_API_KEY with `--auth-type openai` in its `command`",
            helps: &[&["--help"]],
            marks: claude::Claude.profile().marks,
            exit_codes: &[(&[53, 55], FailureKind::MaxTurns)],
            ..Profile::default()
        }
    }

    fn command(&self, query: &Query<'_>) -> Result<Invocation, AgentError> {
        query.program.need(&["--safe-mode", "--approval-mode"])?;
        let role = query.request.task.role();
        let mode = if role == Role::Coder { "auto-edit" } else { "plan" };
        let mut args = list(&["--safe-mode", "--approval-mode", mode, "-o", "stream-json"]);
        if query.program.words.is_none() || query.program.names("--include-partial-messages") {
            args.push("--include-partial-messages".to_owned());
        }
        let form = SchemaForm::held_to(&query.request.task).filter(|_| query.program.names("--json-schema"));
        args.extend(json_events::option("--json-schema", form.map(SchemaForm::argument)));
        args.extend(json_events::option("--resume", query.session));
        args.extend(json_events::option("-m", query.agent.model.as_deref()));
        args.extend(json_events::own_args(query));
        let sees = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"];
        let defaults = query.folder.join("qwen-defaults.json");
        let set = [
            ("NO_COLOR", "1".to_owned()),
            ("QWEN_CODE_NO_RELAUNCH", "true".to_owned()),
            ("QWEN_CODE_SYSTEM_DEFAULTS_PATH", defaults.to_string_lossy().into_owned()),
        ];
        let invocation = json_events::invocation(query, args, &sees, &set);
        Ok(Invocation { files: vec![(defaults, DEFAULTS.to_owned())], ..invocation })
    }

    fn activity(&self, line: &str) -> Option<String> {
        claude::Claude.activity(line)
    }

    fn speech(&self, line: &str) -> Option<String> {
        claude::Claude.speech(line)
    }

    fn parse(&self, parsed: &mut ParsedOutput, event: &Value) {
        claude::parse(parsed, event);
        // What follows the first line is advice, and speaks of quotas whatever happened.
        if let Some(said) = &mut parsed.failure
            && let Some((first, _)) = said.text.split_once('\n')
        {
            *said = ReportedError { status: said.status, kind: said.kind, ..ReportedError::text(first) };
        }
    }
}
