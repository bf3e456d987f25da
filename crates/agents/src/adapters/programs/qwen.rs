//! The adapter for Qwen Code reads the output of `-o stream-json`, which has the same format as the output of
//! Claude Code. The flag `--safe-mode` disables Qwen's memory, and the hooks, MCP servers and settings of the
//! tree. With `--approval-mode plan`, Qwen offers no tool that writes. The adapter was tested with Qwen Code
//! 0.24.4.

use serde_json::Value;

use super::claude::Claude;
use crate::adapters::programs;
use crate::adapters::{ReportedError, list};
use crate::{Adapter, Call, LineMarks, ParsedOutput, Profile, ProgressEvent};
use glee_model::domain::Role;

pub struct Qwen;

impl Adapter for Qwen {
    fn profile(&self) -> &Profile {
        programs::known("qwen")
    }

    fn prints_events(&self) -> bool {
        true
    }

    fn marks(&self) -> LineMarks {
        LineMarks {
            preamble: Some(&[r#"{"type":"system""#, r#""goal_state""#]),
            // Unlike the line about the retry, this one says when a limit ends.
            failed: &[(r#""error.message": ""#, 1)],
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
