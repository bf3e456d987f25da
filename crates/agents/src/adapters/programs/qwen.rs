//! The adapter for Qwen Code reads the output of `-o stream-json`, which has the same format as the output of
//! Claude Code. The flag `--safe-mode` disables Qwen's memory, and the hooks, MCP servers and settings of the
//! tree. With `--approval-mode plan`, Qwen offers no tool that writes. The adapter was tested with Qwen Code
//! 0.24.4.

use serde_json::Value;

use super::claude::Claude;
use crate::adapters::{ReportedError, list};
use crate::{Adapter, Call, ParsedOutput, Profile, ProgressEvent};
use glee_model::domain::{FailureKind, Role};

pub struct Qwen;

impl Adapter for Qwen {
    fn profile(&self) -> Profile {
        Profile {
            name: "qwen",
            login: "log in: run `qwen` once, or set OPENAI_API_KEY with `--auth-type openai` in its `command`",
            prints_events: true,
            helps: &[&["--help"]],
            required: &["--safe-mode", "--approval-mode"],
            schema: "--json-schema",
            resume: "--resume",
            model: "-m",
            sees: &[
                "OPENAI_API_KEY",
                "DASHSCOPE_API_KEY",
                "ANTHROPIC_API_KEY",
                "GEMINI_API_KEY",
                "GOOGLE_API_KEY",
                "OPENAI_*",
                "DASHSCOPE_*",
                "ANTHROPIC_*",
                "GEMINI_MODEL",
                "GOOGLE_CLOUD_*",
                "GOOGLE_GENAI_*",
                "GOOGLE_APPLICATION_CREDENTIALS",
                "CLOUDSDK_CONFIG",
            ],
            clouds: &[("GOOGLE_GENAI_USE_VERTEXAI", ".config/gcloud")],
            sets: &[("NO_COLOR", "1"), ("QWEN_CODE_NO_RELAUNCH", "true")],
            defaults: Some((
                "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
                r#"{"general":{"enableAutoUpdate":false},"model":{"generationConfig":{"maxRetries":0}}}"#,
            )),
            folders: &[("", ".qwen", "")],
            marks: Claude.profile().marks,
            exit_codes: &[(&[53, 55], FailureKind::MaxTurns)],
            ..Profile::default()
        }
    }

    fn args(&self, call: &Call) -> Vec<String> {
        let mode = if call.request.task.role() == Role::Coder {
            "auto-edit"
        } else {
            "plan"
        };
        let mut args = list(&["--safe-mode", "--approval-mode", mode, "-o", "stream-json"]);
        if call.program.may_have("--include-partial-messages") {
            args.push("--include-partial-messages".to_owned());
        }
        args
    }

    fn progress<'a>(&self, event: &'a Value) -> Vec<ProgressEvent<'a>> {
        Claude.progress(event)
    }

    fn parse(&self, parsed: &mut ParsedOutput, event: &Value) {
        Claude.parse(parsed, event);
        // Only the first line of the message is kept. The other lines always mention quotas. If Glee kept the
        // other lines, Glee would report every error as an exceeded quota.
        if let Some(error) = &mut parsed.failure
            && let Some((first, _)) = error.text.split_once('\n')
        {
            *error = ReportedError {
                status: error.status,
                kind: error.kind,
                ..ReportedError::text(first)
            };
        }
    }
}
