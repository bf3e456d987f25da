//! Tests the exact command line of each known program in each role, because a missing flag could grant permissions.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::OsStr;

use crate::adapters::registry;
use crate::probe::program::words;
use crate::process::environment;
use crate::samples;
use crate::schema::strict;
use crate::schema::tests::form;
use crate::{AdapterKind, Call, Invocation, Program, Session};
use glee_model::domain::{Agent, Effort, FailureKind, Role, Usage};
use glee_protocol::calls::recheck::RecheckCall;
use glee_protocol::calls::respond::RespondCall;
use glee_protocol::request::Task;

const ROLES: [Role; 3] = [Role::Coder, Role::Reviewer, Role::Judge];

fn task(role: Role) -> Task {
    match role {
        Role::Coder => Task::Respond(RespondCall {
            items: Vec::new(),
            failing: Vec::new(),
            runners: Vec::new(),
        }),
        Role::Reviewer => Task::Recheck(RecheckCall {
            changes: Vec::new(),
            files: Vec::new(),
        }),
        Role::Judge | Role::Aggregator => samples::dispute(),
    }
}

fn ask(agent: &Agent, role: Role, program: &Program, session: Option<&str>) -> Invocation {
    let request = samples::request(agent, task(role));
    let adapter = AdapterKind::of(agent).unwrap().adapter();
    adapter
        .command(&Call {
            session: session.map(|id| Session {
                agent: agent.name.clone(),
                id: id.to_owned(),
                used: Usage::default(),
            }),
            ..samples::call(agent, program, &request)
        })
        .unwrap()
}

pub(super) fn line(invocation: &Invocation) -> String {
    shlex::try_join(invocation.args.iter().map(|arg| arg.to_str().unwrap())).unwrap()
}

fn lines(program: &str) -> [String; 3] {
    let agent = samples::agent("it", "", &[program]);
    ROLES.map(|role| line(&ask(&agent, role, &Program::new("/bin/it"), None)))
}

fn resumed(program: &str) -> String {
    let mut agent = samples::agent("it", "", &[program, "--own"]);
    agent.model = Some("m".to_owned());
    line(&ask(
        &agent,
        Role::Coder,
        &Program::new("/bin/it"),
        Some("s-1"),
    ))
}

fn variable<'a>(invocation: &'a Invocation, name: &str) -> Option<&'a str> {
    invocation.env.get(OsStr::new(name))?.to_str()
}

#[test]
fn claude() {
    let common = "-p --output-format stream-json --verbose --include-partial-messages --setting-sources '' \
                  --strict-mcp-config --disable-slash-commands";
    assert_eq!(
        lines("claude"),
        [
            format!("{common} --tools 'Read,Grep,Glob,Edit,Write' --permission-mode acceptEdits"),
            format!(
                "{common} --tools 'Read,Grep,Glob' --permission-mode dontAsk --no-session-persistence"
            ),
            format!("{common} --tools '' --permission-mode dontAsk --no-session-persistence"),
        ]
    );
    assert_eq!(
        resumed("claude"),
        format!(
            "{common} --tools 'Read,Grep,Glob,Edit,Write' --permission-mode acceptEdits --resume s-1 --model m --own"
        )
    );
    let agent = samples::agent("it", "", &["claude"]);
    let asked = ask(&agent, Role::Judge, &Program::new("/bin/it"), None);
    assert_eq!(variable(&asked, "CLAUDE_CODE_MAX_RETRIES"), Some("0"));
}

#[test]
fn claude_uses_what_its_help_names() {
    let agent = samples::agent("it", "", &["claude"]);
    let mut program = Program::new("/bin/it");
    program.words = Some(words(
        "--setting-sources --strict-mcp-config --tools --permission-mode --restricted",
    ));
    let reviewer = line(&ask(&agent, Role::Reviewer, &program, None));
    assert_eq!(
        reviewer,
        "-p --output-format stream-json --verbose --setting-sources '' --strict-mcp-config --disable-slash-commands \
         --restricted --tools 'Read,Grep,Glob' --permission-mode dontAsk --no-session-persistence"
    );
    program
        .words
        .as_mut()
        .unwrap()
        .insert("--json-schema".to_owned());
    let judge = ask(&agent, Role::Judge, &program, None);
    let at = judge
        .args
        .iter()
        .position(|arg| arg == "--json-schema")
        .unwrap();
    let schema: serde_json::Value =
        serde_json::from_str(judge.args[at + 1].to_str().unwrap()).unwrap();
    let mut ruling = (form("ruling").schema)();
    // Claude Code would download the JSON Schema draft from the URL in `$schema`, and supports only older drafts.
    // Glee therefore removes `$schema`.
    ruling.remove("$schema");
    assert_eq!(&schema, ruling.as_value());
    program.words = Some(words("--tools --permission-mode --strict-mcp-config"));
    let request = samples::request(&agent, task(Role::Reviewer));
    let error = AdapterKind::Claude
        .adapter()
        .command(&samples::call(&agent, &program, &request))
        .unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (
            FailureKind::BadFlags,
            "`/bin/it` has no `--setting-sources`, which confines the program to its role"
        )
    );
}

#[test]
fn codex() {
    let off = "--disable plugins --disable apps --disable unbounded_connection_retries";
    let settings = "-c 'analytics.enabled=false' -c 'project_doc_max_bytes=0'";
    let search = "-c 'web_search=\"disabled\"'";
    let judge = "--disable shell_tool --disable unified_exec --disable multi_agent --disable goals \
                 --disable view_image --disable image_generation --disable hooks";
    assert_eq!(
        lines("codex"),
        [
            format!("exec --json -s workspace-write --skip-git-repo-check {off} {settings} -"),
            format!(
                "exec --json -s read-only --skip-git-repo-check --ephemeral {off} {settings} {search} -"
            ),
            format!(
                "exec --json -s read-only --skip-git-repo-check --ephemeral {off} {judge} {settings} {search} -"
            ),
        ]
    );
    assert_eq!(
        resumed("codex"),
        format!(
            "exec --json -s workspace-write --skip-git-repo-check {off} {settings} -m m --own resume s-1 -"
        )
    );
    let agent = samples::agent("it", "", &["codex", "-c", "model_provider=\"mock\""]);
    assert_eq!(
        line(&ask(&agent, Role::Coder, &Program::new("/bin/it"), None)),
        format!(
            "exec --json -s workspace-write --skip-git-repo-check {off} {settings} \
             -c 'model_providers.mock.request_max_retries=0' -c 'model_providers.mock.stream_max_retries=0' \
             -c 'model_provider=\"mock\"' -"
        )
    );
}

#[test]
fn codex_holds_a_judge_to_the_form_of_a_ruling() {
    let agent = samples::agent("it", "", &["codex"]);
    let mut program = Program::new("/bin/it");
    program.words = Some(words("--sandbox --json --output-schema"));
    let path = "/kept/ruling-schema.json";
    let judge = ask(&agent, Role::Judge, &program, None);
    assert!(
        line(&judge).contains(&format!("--output-schema {path} -")),
        "{}",
        line(&judge)
    );
    assert_eq!(
        judge.files,
        [(path.into(), strict::schema(&form("ruling")))]
    );
    assert_eq!(ask(&agent, Role::Reviewer, &program, None).files, []);
}

#[test]
fn an_arbiter_thinks_hard_and_is_held_to_the_form_of_a_decision() {
    let arbitrate = |adapter: AdapterKind, name: &str, flags: &str| {
        let agent = samples::agent("it", "", &[name]);
        let mut program = Program::new("/bin/it");
        program.words = Some(words(flags));
        let request = samples::request(&agent, samples::arbitrate());
        adapter
            .adapter()
            .command(&samples::call(&agent, &program, &request))
            .unwrap()
    };
    let needed = "--setting-sources --strict-mcp-config --tools --permission-mode";
    let claude = line(&arbitrate(
        AdapterKind::Claude,
        "claude",
        &format!("{needed} --effort --json-schema"),
    ));
    assert!(
        claude.contains("--tools ''") && claude.ends_with("--effort high"),
        "{claude}"
    );
    assert!(
        claude.contains("modifications") && !claude.contains("duplicate_of"),
        "{claude}"
    );
    let older = line(&arbitrate(AdapterKind::Claude, "claude", needed));
    assert!(!older.contains("--effort"), "{older}");
    let codex = arbitrate(
        AdapterKind::Codex,
        "codex",
        "--sandbox --json --output-schema",
    );
    let asked = line(&codex);
    assert!(
        asked.contains("-c 'model_reasoning_effort=\"high\"'"),
        "{asked}"
    );
    let schema = strict::schema(&form("decision"));
    assert_eq!(codex.files, [("/kept/decision-schema.json".into(), schema)]);
}

#[test]
fn spec_14_an_effort_is_told_in_the_words_of_each_program() {
    let said = |name: &str, effort: Effort, flags: Option<&str>| {
        let mut agent = samples::agent("it", "", &[name]);
        (agent.effort, agent.model) = (Some(effort), Some("m".to_owned()));
        let mut program = Program::new("/bin/it");
        program.words = flags.map(words);
        let request = samples::request(&agent, task(Role::Reviewer));
        AdapterKind::of(&agent)
            .unwrap()
            .adapter()
            .command(&samples::call(&agent, &program, &request))
    };
    for (name, effort, told) in [
        ("claude", Effort::High, "--effort high"),
        ("claude", Effort::Max, "--effort max"),
        ("codex", Effort::Low, "-c 'model_reasoning_effort=\"low\"'"),
        (
            "codex",
            Effort::Max,
            "-c 'model_reasoning_effort=\"xhigh\"'",
        ),
        ("opencode", Effort::High, "--variant high"),
        ("copilot", Effort::Medium, "--reasoning-effort medium"),
    ] {
        let line = line(&said(name, effort, None).unwrap());
        assert!(
            line.contains(&format!("{told} ")) && line.matches(told).count() == 1,
            "{name}: {line}"
        );
    }
    let mut agent = samples::agent("it", "", &["claude"]);
    agent.effort = Some(Effort::Low);
    let request = samples::request(&agent, samples::arbitrate());
    let arbiter = AdapterKind::Claude
        .adapter()
        .command(&samples::call(&agent, &Program::new("/bin/it"), &request))
        .unwrap();
    assert!(
        line(&arbiter).ends_with("--effort low"),
        "{}",
        line(&arbiter)
    );
    let older = "--setting-sources --strict-mcp-config --tools --permission-mode";
    let error = said("claude", Effort::High, Some(older)).unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (
            FailureKind::BadFlags,
            "`/bin/it` has no `--effort`, which `agents.it.effort` needs"
        )
    );
    assert!(said("claude", Effort::High, Some(&format!("{older} --effort"))).is_ok());
}

#[test]
fn spec_14_who_cannot_be_told_is_refused_with_a_hint() {
    for (adapter, fits) in [
        ("claude", true),
        ("codex", true),
        ("opencode", true),
        ("copilot", true),
        ("replay", true),
        ("gemini", false),
        ("qwen", false),
        ("acp", false),
        ("text", false),
        ("json", false),
        ("builtin", false),
        ("address", false),
    ] {
        let mut agent = samples::agent("it", adapter, &["it"]);
        assert_eq!(registry::check_effort(&agent), Ok(()));
        agent.effort = Some(Effort::High);
        let refused = registry::check_effort(&agent);
        assert_eq!(refused.is_ok(), fits, "{adapter}: {refused:?}");
        if let Err(error) = refused {
            let hint = error.hint.unwrap();
            assert!(
                hint.contains("agents.it.effort") && hint.contains("`claude`, `codex`"),
                "{hint}"
            );
        }
    }
}

#[test]
fn gemini() {
    let rest = "-e none --allowed-mcp-server-names none -o stream-json";
    let reads = format!("--skip-trust --approval-mode default {rest}");
    assert_eq!(
        lines("gemini"),
        [
            format!("--skip-trust --approval-mode auto_edit {rest}"),
            reads.clone(),
            reads
        ]
    );
    assert_eq!(
        resumed("gemini"),
        format!("--skip-trust --approval-mode auto_edit {rest} --resume s-1 -m m --own")
    );
    let agent = samples::agent("it", "", &["gemini"]);
    let asked = ask(&agent, Role::Reviewer, &Program::new("/bin/it"), None);
    let path = "/kept/gemini-defaults.json";
    assert_eq!(
        variable(&asked, "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"),
        Some(path)
    );
    assert_eq!(asked.files.len(), 1);
    assert!(
        asked.files[0].1.contains("\"maxAttempts\":1"),
        "{}",
        asked.files[0].1
    );
}

#[test]
fn opencode() {
    assert_eq!(
        lines("opencode"),
        ["run --pure --format json --title glee --print-logs --log-level ERROR"; 3]
    );
    assert_eq!(
        resumed("opencode"),
        "run --pure --format json --title glee --print-logs --log-level ERROR -s s-1 -m m --own"
    );
    let agent = samples::agent("it", "", &["opencode"]);
    let permissions = ROLES.map(|role| {
        let asked = ask(&agent, role, &Program::new("/bin/it"), None);
        assert_eq!(
            variable(&asked, "OPENCODE_DISABLE_PROJECT_CONFIG"),
            Some("1")
        );
        variable(&asked, "OPENCODE_CONFIG_CONTENT")
            .unwrap()
            .to_owned()
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
    let plan = "--safe-mode --approval-mode plan -o stream-json --include-partial-messages";
    let edit = "--safe-mode --approval-mode auto-edit -o stream-json --include-partial-messages";
    assert_eq!(lines("qwen"), [edit, plan, plan]);
    assert_eq!(resumed("qwen"), format!("{edit} --resume s-1 -m m --own"));
    let agent = samples::agent("it", "", &["qwen"]);
    let asked = ask(&agent, Role::Reviewer, &Program::new("/bin/it"), None);
    assert_eq!(
        variable(&asked, "QWEN_CODE_SYSTEM_DEFAULTS_PATH"),
        Some("/kept/qwen-defaults.json")
    );
    assert!(
        asked.files[0].1.contains("\"maxRetries\":0"),
        "{}",
        asked.files[0].1
    );
}

#[test]
fn copilot() {
    let common = "--no-auto-update --disable-client-telemetry --no-color --output-format json --no-ask-user \
                  --disable-builtin-mcps --no-custom-instructions";
    assert_eq!(
        lines("copilot"),
        [
            format!("{common} '--allow-tool=write'"),
            format!("{common} '--available-tools=view,grep,glob'"),
            format!("{common} '--available-tools=none'"),
        ]
    );
    assert_eq!(
        resumed("copilot"),
        format!("{common} '--allow-tool=write' '--resume=s-1' --model m --own")
    );
}

#[test]
fn the_configuration_has_the_last_word_on_a_variable() {
    let mut agent = samples::agent("it", "", &["gemini"]);
    agent.env.insert("NO_COLOR".to_owned(), "0".to_owned());
    let asked = ask(&agent, Role::Reviewer, &Program::new("/bin/it"), None);
    assert_eq!(variable(&asked, "NO_COLOR"), Some("0"));
    assert_eq!(variable(&asked, "GEMINI_CLI_NO_RELAUNCH"), Some("true"));
    assert_eq!(
        (asked.stdin.as_slice(), asked.cwd.to_str(), asked.streams),
        (&b"the prompt"[..], Some("/tree"), true)
    );
}

#[test]
fn a_prompt_that_would_be_cut_is_refused() {
    let cases = [
        (
            "gemini",
            "x".repeat((8 << 20) + 1),
            "8388609 bytes, `gemini` takes 8388608",
        ),
        (
            "claude",
            "x".repeat(10_000_001),
            "10000001 bytes, `claude` takes 10000000",
        ),
        (
            "codex",
            "ü".repeat(1_048_577),
            "1048577 characters, `codex` takes 1048576",
        ),
    ];
    for (name, prompt, expected) in cases {
        let agent = samples::agent("it", "", &[name]);
        let program = Program::new("/bin/it");
        let request = samples::review(&agent);
        let call = Call {
            prompt: prompt.into(),
            ..samples::call(&agent, &program, &request)
        };
        let error = AdapterKind::of(&agent)
            .unwrap()
            .adapter()
            .command(&call)
            .unwrap_err();
        assert_eq!(error.kind, FailureKind::TooLong);
        assert_eq!(error.message, format!("the prompt for `it` has {expected}"));
    }
}

#[test]
fn a_program_gets_the_variables_of_its_clouds_and_gateways_and_of_no_other() {
    for (kind, variables, others) in [
        (
            AdapterKind::Claude,
            "CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_USE_FOUNDRY AWS_PROFILE AWS_REGION \
             AWS_BEARER_TOKEN_BEDROCK ANTHROPIC_MODEL ANTHROPIC_CUSTOM_HEADERS ANTHROPIC_VERTEX_PROJECT_ID \
             CLOUD_ML_REGION GOOGLE_APPLICATION_CREDENTIALS ANTHROPIC_FOUNDRY_API_KEY",
            "CLAUDE_CODE_SSE_PORT CLAUDE_CODE_ENTRYPOINT CLAUDECODE OPENAI_API_KEY GITHUB_TOKEN",
        ),
        (
            AdapterKind::Codex,
            "OPENAI_API_KEY OPENAI_BASE_URL AZURE_OPENAI_API_KEY CODEX_CA_CERTIFICATE CODEX_HOME",
            "ANTHROPIC_API_KEY AWS_SECRET_ACCESS_KEY AZURE_CLIENT_SECRET CODEX_SANDBOX",
        ),
        (
            AdapterKind::Gemini,
            "GEMINI_API_KEY GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_LOCATION GOOGLE_GENAI_USE_VERTEXAI",
            "GOOGLE_OAUTH_SECRET OPENAI_API_KEY AWS_PROFILE",
        ),
        (
            AdapterKind::Opencode,
            "AWS_PROFILE AZURE_API_KEY OPENAI_BASE_URL ANTHROPIC_BASE_URL GOOGLE_VERTEX_LOCATION",
            "OPENCODE_SERVER GITHUB_TOKEN",
        ),
        (
            AdapterKind::Qwen,
            "OPENAI_BASE_URL DASHSCOPE_API_KEY ANTHROPIC_BASE_URL",
            "AWS_PROFILE GITHUB_TOKEN",
        ),
        (
            AdapterKind::Copilot,
            "GH_TOKEN GH_HOST COPILOT_PROVIDER_BEARER_TOKEN COPILOT_MODEL",
            "AWS_PROFILE OPENAI_API_KEY",
        ),
    ] {
        let sees = &kind.adapter().profile().pass;
        let passes = |name: &str| sees.iter().any(|entry| environment::names(entry, name));
        for name in variables.split_whitespace() {
            assert!(passes(name), "{kind} lacks {name}");
        }
        for name in others.split_whitespace() {
            assert!(!passes(name), "{kind} gets {name}");
        }
    }
}
