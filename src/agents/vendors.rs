//! The flags of known programs, by role: pure data, so that `glee connect claude` is all there is to say.
//!
//! Every program is asked for plain text. A reviewer gets tools that read, a coder those that edit, a judge none;
//! nobody gets a shell, because an allow-list of commands does not hold (`git diff --output=FILE` writes). What a
//! reviewed tree could start through its own settings (hooks, plug-ins, MCP servers) is switched off by the flags
//! that were seen to do it with claude 2.1.330, codex 0.169.0, gemini 0.61.0, opencode 1.18.33, qwen 0.24.4 and
//! copilot 1.0.102.

use std::path::Path;

use super::adapter::{Adapter, AgentError, Invocation, Output, Reply};
use super::environment::environment;
use super::text;
use crate::domain::{Agent, Role};
use crate::protocol::request::Request;

/// Flags and variables of one role.
struct Mode {
    args: &'static [&'static str],
    set: &'static [(&'static str, &'static str)],
}

/// How a program is told which model to use.
enum Model {
    Flag(&'static str),
    Variable(&'static str),
}

/// A known program.
pub(super) struct Vendor {
    name: &'static str,
    coder: Mode,
    reviewer: Mode,
    judge: Mode,
    model: Model,
    /// What has to come last.
    last: &'static [&'static str],
    /// Variables it may see beyond every agent's.
    sees: &'static [&'static str],
    /// Variables that are set for every role.
    set: &'static [(&'static str, &'static str)],
    /// The longest prompt it takes on stdin, in bytes.
    longest: usize,
}

impl Vendor {
    fn mode(&self, role: Role) -> &Mode {
        match role {
            Role::Coder => &self.coder,
            Role::Reviewer => &self.reviewer,
            Role::Judge | Role::Aggregator => &self.judge,
        }
    }
}

impl Adapter for Vendor {
    fn command(
        &self,
        agent: &Agent,
        program: &Path,
        request: &Request,
        prompt: &str,
    ) -> Result<Invocation, AgentError> {
        if prompt.len() > self.longest {
            return Err(AgentError {
                message: format!("the prompt has {} bytes, `{}` takes {}", prompt.len(), self.name, self.longest),
                hint: Some("review less at a time: `glee config set review.shard 64KiB`".to_owned()),
            });
        }
        let mode = self.mode(request.task.role());
        let mut args = mode.args.to_vec();
        let mut env = environment(agent, request, self.sees, std::env::vars_os());
        let mut set: Vec<(&str, &str)> = self.set.iter().chain(mode.set).copied().collect();
        match (&self.model, &agent.model) {
            (Model::Flag(flag), Some(model)) => args.extend([flag, model.as_str()]),
            (Model::Variable(name), Some(model)) => set.push((name, model)),
            (_, None) => {}
        }
        args.extend(agent.command.iter().skip(1).map(String::as_str));
        args.extend(self.last);
        for (name, value) in set {
            if !agent.env.contains_key(name) {
                env.insert(name.into(), value.into());
            }
        }
        Ok(Invocation {
            program: program.to_owned(),
            args: args.into_iter().map(Into::into).collect(),
            env,
            cwd: request.root.clone().into(),
            stdin: prompt.into(),
            streams: false,
        })
    }

    fn reply(&self, _output: &Output) -> Result<Reply, AgentError> {
        Ok(text::stdout())
    }
}

const NOTHING: &[(&str, &str)] = &[];

/// Claude Code. `--tools` takes all words that follow it, so it never stands last.
pub(super) static CLAUDE: Vendor = Vendor {
    name: "claude",
    coder: Mode {
        args: &[
            "-p",
            "--output-format",
            "text",
            "--setting-sources",
            "",
            "--strict-mcp-config",
            "--tools",
            "Read,Grep,Glob,Edit,Write",
            "--permission-mode",
            "acceptEdits",
        ],
        set: NOTHING,
    },
    reviewer: Mode {
        args: &[
            "-p",
            "--output-format",
            "text",
            "--setting-sources",
            "",
            "--strict-mcp-config",
            "--tools",
            "Read,Grep,Glob",
            "--permission-mode",
            "dontAsk",
            "--no-session-persistence",
            "--disable-slash-commands",
        ],
        set: NOTHING,
    },
    judge: Mode {
        args: &[
            "-p",
            "--output-format",
            "text",
            "--setting-sources",
            "",
            "--strict-mcp-config",
            "--tools",
            "",
            "--no-session-persistence",
        ],
        set: NOTHING,
    },
    model: Model::Flag("--model"),
    last: &[],
    sees: &["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"],
    set: &[("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("DISABLE_AUTOUPDATER", "1")],
    longest: 10_000_000,
};

/// Codex. Its sandbox is always named; without a limit it waits for the network for ever.
pub(super) static CODEX: Vendor = Vendor {
    name: "codex",
    coder: Mode {
        args: &[
            "exec",
            "-s",
            "workspace-write",
            "--skip-git-repo-check",
            "--disable",
            "plugins",
            "--disable",
            "apps",
            "--disable",
            "unbounded_connection_retries",
            "-c",
            "analytics.enabled=false",
        ],
        set: NOTHING,
    },
    reviewer: Mode {
        args: &[
            "exec",
            "--ephemeral",
            "-s",
            "read-only",
            "--skip-git-repo-check",
            "--disable",
            "plugins",
            "--disable",
            "apps",
            "--disable",
            "unbounded_connection_retries",
            "-c",
            "analytics.enabled=false",
            "-c",
            "project_doc_max_bytes=0",
            "-c",
            "web_search=disabled",
        ],
        set: NOTHING,
    },
    judge: Mode {
        args: &[
            "exec",
            "--ephemeral",
            "-s",
            "read-only",
            "--skip-git-repo-check",
            "--ignore-user-config",
            "--disable",
            "shell_tool",
            "--disable",
            "unified_exec",
            "--disable",
            "plugins",
            "--disable",
            "apps",
            "--disable",
            "multi_agent",
            "--disable",
            "goals",
            "--disable",
            "view_image",
            "--disable",
            "image_generation",
            "--disable",
            "hooks",
            "--disable",
            "unbounded_connection_retries",
            "-c",
            "analytics.enabled=false",
            "-c",
            "web_search=\"disabled\"",
            "-c",
            "project_doc_max_bytes=0",
        ],
        set: NOTHING,
    },
    model: Model::Flag("-m"),
    last: &["-"],
    sees: &["CODEX_HOME", "CODEX_API_KEY"],
    set: NOTHING,
    longest: 1_048_576,
};

/// Gemini CLI. In its default approval mode it offers tools that read only. A longer prompt it would cut silently.
pub(super) static GEMINI: Vendor = Vendor {
    name: "gemini",
    coder: Mode { args: &["--skip-trust", "--approval-mode", "auto_edit"], set: NOTHING },
    reviewer: Mode { args: GEMINI_READS, set: NOTHING },
    judge: Mode { args: GEMINI_READS, set: NOTHING },
    model: Model::Flag("-m"),
    last: &[],
    sees: &["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
    set: &[("GEMINI_CLI_NO_RELAUNCH", "true"), ("NO_COLOR", "1")],
    longest: 8 << 20,
};

const GEMINI_READS: &[&str] =
    &["--skip-trust", "--approval-mode", "default", "-e", "none", "--allowed-mcp-server-names", "none"];

/// opencode. What it may do is a matter of its configuration; its agent `plan` is not read-only.
pub(super) static OPENCODE: Vendor = Vendor {
    name: "opencode",
    coder: Mode {
        args: OPENCODE_RUN,
        set: &[(
            "OPENCODE_CONFIG_CONTENT",
            r#"{"permission":{"bash":"deny","webfetch":"deny","task":"deny","external_directory":"deny"}}"#,
        )],
    },
    reviewer: Mode {
        args: OPENCODE_RUN,
        set: &[(
            "OPENCODE_CONFIG_CONTENT",
            r#"{"permission":{"edit":"deny","bash":"deny","webfetch":"deny","task":"deny","external_directory":"deny"}}"#,
        )],
    },
    judge: Mode { args: OPENCODE_RUN, set: &[("OPENCODE_CONFIG_CONTENT", r#"{"permission":{"*":"deny"}}"#)] },
    model: Model::Flag("-m"),
    last: &[],
    sees: &["OPENCODE_CONFIG"],
    set: &[("OPENCODE_DISABLE_PROJECT_CONFIG", "1"), ("OPENCODE_DISABLE_AUTOUPDATE", "1")],
    longest: usize::MAX,
};

const OPENCODE_RUN: &[&str] = &["run", "--pure", "--title", "glee"];

/// Qwen Code.
pub(super) static QWEN: Vendor = Vendor {
    name: "qwen",
    coder: Mode { args: &["--safe-mode", "--approval-mode", "auto-edit"], set: NOTHING },
    reviewer: Mode { args: &["--safe-mode", "--approval-mode", "plan"], set: NOTHING },
    judge: Mode { args: &["--safe-mode", "--approval-mode", "plan"], set: NOTHING },
    model: Model::Variable("OPENAI_MODEL"),
    last: &[],
    sees: &["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"],
    set: NOTHING,
    longest: usize::MAX,
};

/// Copilot CLI. An empty list of tools would mean all of them.
pub(super) static COPILOT: Vendor = Vendor {
    name: "copilot",
    coder: Mode {
        args: &[
            "--no-auto-update",
            "--disable-client-telemetry",
            "--no-color",
            "-s",
            "--no-ask-user",
            "--disable-builtin-mcps",
            "--no-custom-instructions",
            "--allow-tool=write",
        ],
        set: NOTHING,
    },
    reviewer: Mode {
        args: &[
            "--no-auto-update",
            "--disable-client-telemetry",
            "--no-color",
            "-s",
            "--no-ask-user",
            "--disable-builtin-mcps",
            "--no-custom-instructions",
            "--available-tools=view,grep,glob",
        ],
        set: NOTHING,
    },
    judge: Mode {
        args: &[
            "--no-auto-update",
            "--disable-client-telemetry",
            "--no-color",
            "-s",
            "--no-ask-user",
            "--disable-builtin-mcps",
            "--no-custom-instructions",
            "--available-tools=none",
        ],
        set: NOTHING,
    },
    model: Model::Variable("COPILOT_MODEL"),
    last: &[],
    sees: &[
        "COPILOT_PROVIDER_BASE_URL",
        "COPILOT_PROVIDER_TYPE",
        "COPILOT_PROVIDER_API_KEY",
        "COPILOT_MODEL",
        "COPILOT_OFFLINE",
    ],
    set: NOTHING,
    longest: usize::MAX,
};

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::agents::{AdapterKind, samples};
    use crate::protocol::request::Task;

    const ROLES: [Role; 3] = [Role::Coder, Role::Reviewer, Role::Judge];

    fn ask(command: &[&str], role: Role, model: Option<&str>) -> Invocation {
        let mut agent = samples::agent("it", "", command);
        agent.model = model.map(ToOwned::to_owned);
        let task = match role {
            Role::Coder => Task::Respond { items: Vec::new() },
            Role::Reviewer => Task::Recheck { changes: Vec::new(), files: Vec::new() },
            Role::Judge | Role::Aggregator => samples::dispute(),
        };
        let request = samples::request(&agent, task);
        let adapter = AdapterKind::of(&agent).unwrap().adapter();
        adapter.command(&agent, Path::new("/bin/it"), &request, "the prompt").unwrap()
    }

    fn words(invocation: &Invocation) -> String {
        shlex::try_join(invocation.args.iter().map(|arg| arg.to_str().unwrap())).unwrap()
    }

    fn lines(program: &str) -> [String; 3] {
        ROLES.map(|role| words(&ask(&[program], role, None)))
    }

    #[test]
    fn claude() {
        assert_eq!(
            lines("claude"),
            [
                "-p --output-format text --setting-sources '' --strict-mcp-config --tools 'Read,Grep,Glob,Edit,Write' \
                 --permission-mode acceptEdits",
                "-p --output-format text --setting-sources '' --strict-mcp-config --tools 'Read,Grep,Glob' \
                 --permission-mode dontAsk --no-session-persistence --disable-slash-commands",
                "-p --output-format text --setting-sources '' --strict-mcp-config --tools '' --no-session-persistence",
            ]
        );
    }

    #[test]
    fn codex() {
        assert_eq!(
            lines("codex"),
            [
                "exec -s workspace-write --skip-git-repo-check --disable plugins --disable apps \
                 --disable unbounded_connection_retries -c 'analytics.enabled=false' -",
                "exec --ephemeral -s read-only --skip-git-repo-check --disable plugins --disable apps \
                 --disable unbounded_connection_retries -c 'analytics.enabled=false' -c 'project_doc_max_bytes=0' \
                 -c 'web_search=disabled' -",
                "exec --ephemeral -s read-only --skip-git-repo-check --ignore-user-config --disable shell_tool \
                 --disable unified_exec --disable plugins --disable apps --disable multi_agent --disable goals \
                 --disable view_image --disable image_generation --disable hooks \
                 --disable unbounded_connection_retries -c 'analytics.enabled=false' \
                 -c 'web_search=\"disabled\"' -c 'project_doc_max_bytes=0' -",
            ]
        );
    }

    #[test]
    fn gemini() {
        let reads = "--skip-trust --approval-mode default -e none --allowed-mcp-server-names none";
        assert_eq!(lines("gemini"), ["--skip-trust --approval-mode auto_edit", reads, reads]);
    }

    #[test]
    fn opencode() {
        assert_eq!(lines("opencode"), ["run --pure --title glee"; 3]);
        let permissions = ROLES.map(|role| {
            let invocation = ask(&["opencode"], role, None);
            invocation.env[std::ffi::OsStr::new("OPENCODE_CONFIG_CONTENT")].to_str().unwrap().to_owned()
        });
        assert_eq!(
            permissions,
            [
                r#"{"permission":{"bash":"deny","webfetch":"deny","task":"deny","external_directory":"deny"}}"#,
                r#"{"permission":{"edit":"deny","bash":"deny","webfetch":"deny","task":"deny","external_directory":"deny"}}"#,
                r#"{"permission":{"*":"deny"}}"#,
            ]
        );
    }

    #[test]
    fn qwen() {
        let plan = "--safe-mode --approval-mode plan";
        assert_eq!(lines("qwen"), ["--safe-mode --approval-mode auto-edit", plan, plan]);
    }

    #[test]
    fn copilot() {
        let common = "--no-auto-update --disable-client-telemetry --no-color -s --no-ask-user --disable-builtin-mcps \
                      --no-custom-instructions";
        assert_eq!(
            lines("copilot"),
            [
                format!("{common} '--allow-tool=write'"),
                format!("{common} '--available-tools=view,grep,glob'"),
                format!("{common} '--available-tools=none'"),
            ]
        );
    }

    #[test]
    fn model_and_own_arguments_come_before_what_must_be_last() {
        let codex = ask(&["/opt/codex", "-c", "x=1"], Role::Coder, Some("gpt-9"));
        assert!(words(&codex).ends_with("-m gpt-9 -c 'x=1' -"), "{}", words(&codex));
        let qwen = ask(&["qwen", "--x"], Role::Coder, Some("q"));
        assert_eq!(words(&qwen), "--safe-mode --approval-mode auto-edit --x");
        assert_eq!(qwen.env[std::ffi::OsStr::new("OPENAI_MODEL")], "q");
    }

    #[test]
    fn the_configuration_has_the_last_word_on_a_variable() {
        let mut agent = samples::agent("it", "gemini", &["gemini"]);
        agent.env.insert("NO_COLOR".to_owned(), "0".to_owned());
        let invocation =
            GEMINI.command(&agent, Path::new("/bin/it"), &samples::review(&agent), "the prompt").unwrap();
        assert_eq!(invocation.env[std::ffi::OsStr::new("NO_COLOR")], "0");
        assert_eq!(invocation.env[std::ffi::OsStr::new("GEMINI_CLI_NO_RELAUNCH")], "true");
        assert_eq!(
            (invocation.stdin.as_slice(), invocation.cwd.as_path()),
            (&b"the prompt"[..], Path::new("/tree"))
        );
    }

    #[test]
    fn a_prompt_that_would_be_cut_is_refused() {
        let agent = samples::agent("it", "gemini", &["gemini"]);
        let prompt = "x".repeat((8 << 20) + 1);
        let error = GEMINI.command(&agent, Path::new("/bin/it"), &samples::review(&agent), &prompt).unwrap_err();
        assert_eq!(error.message, "the prompt has 8388609 bytes, `gemini` takes 8388608");
    }
}
