//! Programs of the user: a prompt as an argument, profiles, and the folders and variables that they open.

use crate::review::json;
use crate::support::{Output, Sandbox};

/// A program that takes its prompt as the value of `-p`, and fails without one.
const ARGUMENT: &str = "#!/bin/sh
[ \"$1\" = -p ] && [ -n \"$2\" ] || { echo 'flag needs an argument: -p' >&2; exit 2; }
echo \"GLEE-REVIEW-END $(printf '%s' \"$2\" | grep -oE 'nonce=[0-9a-f]{32}' | tail -1) findings=0\"
";

const CLEAN: &str = "echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "print(1)\n");
    sandbox
}

fn review(sandbox: &Sandbox) -> Output {
    sandbox.glee(&["review", "a.py", "--no-input"])
}

fn user(sandbox: &Sandbox, agents: &str) {
    let file = sandbox.user_config();
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    std::fs::write(file, format!("version: 1\nagents:\n{agents}")).expect("a written file");
}

#[test]
fn a_command_has_the_prompt_as_an_argument_or_in_a_file() {
    let file = "#!/bin/sh\ngrep -q GLEE-REVIEW-END \"${1#--file=}\" || exit 5\n";
    for (script, command) in [
        (ARGUMENT, "mine -p {prompt}"),
        (ARGUMENT, "mine -p 'Read this: {prompt}'"),
        (&*format!("{file}{CLEAN}"), "mine --file={prompt_file}"),
        (&*format!("{file}{CLEAN}"), "mine {prompt_file}"),
        (
            &*format!("#!/bin/sh\ngrep -q GLEE-REVIEW-END || exit 5\n{CLEAN}"),
            "mine",
        ),
    ] {
        let sandbox = project();
        sandbox.program("mine", script);
        let args = [
            "connect",
            "mine",
            "--role",
            "reviewer",
            "--command",
            command,
        ];
        assert_eq!(sandbox.glee(&args).code, 0);
        let output = review(&sandbox);
        assert_eq!(output.code, 0, "{command}: {output}");
    }
}

#[test]
fn code_that_is_too_long_for_an_argument_is_sent_in_parts() {
    let sandbox = project();
    sandbox.program("mine", ARGUMENT);
    let line = "value = 'a line of forty characters, or so'\n";
    sandbox.write("a.py", line.repeat(2000));
    let args = [
        "connect",
        "mine",
        "--role",
        "reviewer",
        "--command",
        "mine -p {prompt}",
    ];
    assert_eq!(sandbox.glee(&args).code, 0);
    let output = review(&sandbox);
    assert_eq!(output.code, 0, "{output}");
}

#[test]
fn a_profile_says_how_a_program_is_called() {
    let script = format!(
        "#!/bin/sh
echo \"$@\" > \"$HOME/.mine/args\"; echo \"$MINE_KEY,$OTHER_KEY\" > \"$HOME/.mine/keys\"; cat >/dev/null
{CLEAN}"
    );
    let profile = "{args: [run, --model, '{model}', --session, '{session}'], roles: {reviewer: [--ask], coder: [--auto]}, \
                   pass: [MINE_*], folders: [~/.mine]}";
    for (model, args) in [("", "run --ask"), (", model: m1", "run --model m1 --ask")] {
        let mut sandbox = project();
        sandbox.env("MINE_KEY", "k1").env("OTHER_KEY", "k2");
        sandbox.program("mine", &script);
        user(
            &sandbox,
            &format!(
                "  - {{name: mine, role: reviewer, command: mine, profile: {profile}{model}}}\n"
            ),
        );
        let output = review(&sandbox);
        assert_eq!(output.code, 0, "{output}");
        let read = |name: &str| {
            std::fs::read_to_string(sandbox.home().join(".mine").join(name)).expect("a file")
        };
        assert_eq!(read("args").trim(), args);
        assert_eq!(read("keys"), "k1,\n");
    }
}

#[test]
fn a_profile_finds_the_answer_in_json_and_the_cause_of_a_failure() {
    let profile = "output: {answer: /result/text, error: /error}, limits: ['come back in \\d+ hours'], \
                   exit_codes: {not_logged_in: [41]}, login: 'run `mine login`'";
    for (script, code, expected) in [
        (
            "echo '{\"type\":\"init\"}'; printf '{\"result\":{\"text\":\"GLEE-REVIEW-END nonce=%s findings=0\"}}\\n' $GLEE_NONCE",
            0,
            "",
        ),
        (
            "echo '{\"error\":\"the server exploded\"}'; exit 1",
            4,
            "the server exploded",
        ),
        (
            "echo 'You are done, come back in 3 hours' >&2; exit 1",
            75,
            "come back in 3 hours",
        ),
        (
            "echo 'You are done, come back in 3 hours'",
            75,
            "come back in 3 hours",
        ),
        ("exit 41", 4, "run `mine login`"),
        ("echo '{}'", 4, "ended without reporting completion"),
    ] {
        let sandbox = project();
        sandbox.program("mine", &format!("#!/bin/sh\ncat >/dev/null\n{script}\n"));
        user(
            &sandbox,
            &format!("  - {{name: mine, role: reviewer, command: mine, profile: {{{profile}}}}}\n"),
        );
        let output = review(&sandbox);
        assert_eq!(output.code, code, "{script}: {output}");
        assert!(output.to_string().contains(expected), "{script}: {output}");
    }
}

#[test]
fn a_profile_can_be_a_file_beside_the_configuration() {
    let sandbox = project();
    sandbox.program("mine", ARGUMENT);
    user(
        &sandbox,
        "  - {name: mine, role: reviewer, command: mine, profile: own}\n",
    );
    let missing = review(&sandbox);
    assert_eq!(missing.code, 2, "{missing}");
    assert!(
        missing.stderr.contains("there is no profile `own`"),
        "{missing}"
    );
    assert!(missing.stderr.contains("profiles/own.yml"), "{missing}");
    let folder = sandbox.home().join(".config/glee/profiles");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("own.yml"), "prompt: argument\nargs: [-p]\n").expect("a file");
    let output = review(&sandbox);
    assert_eq!(output.code, 0, "{output}");
    std::fs::write(folder.join("own.yml"), "prompt: argument\nagrs: [-p]\n").expect("a file");
    let wrong = review(&sandbox);
    assert_eq!(wrong.code, 2, "{wrong}");
    assert!(wrong.stderr.contains("own.yml:2:1"), "{wrong}");
    assert!(wrong.stderr.contains("did you mean `args`?"), "{wrong}");
}

#[test]
fn a_wrong_profile_is_an_error_of_the_configuration() {
    for (profile, expected) in [
        ("{foldres: [~/.x]}", "did you mean `folders`?"),
        ("{args: -p}", "expected a sequence"),
        ("{folders: [.x]}", "write `~/.x`"),
        ("{folders: ['~']}", "the whole home folder"),
        ("{limits: ['(']}", "no regular expression"),
        ("{pass: ['A=b']}", "write only the name"),
        ("claude", "which Glee calls through its adapter"),
        ("droidd", "did you mean `droid`?"),
        ("../../x", "cannot be `../../x`"),
    ] {
        let sandbox = project();
        user(
            &sandbox,
            &format!("  - {{name: mine, role: reviewer, command: mine, profile: {profile}}}\n"),
        );
        let output = review(&sandbox);
        assert_eq!(output.code, 2, "{profile}: {output}");
        let words = output
            .stderr
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(words.contains(expected), "{profile}: {words}");
    }
}

#[test]
fn a_profile_of_the_project_needs_trust_and_its_change_new_trust() {
    let sandbox = project();
    sandbox.program("mine", &format!("#!/bin/sh\ncat >/dev/null\n{CLEAN}"));
    let write = |profile: &str| {
        let text = format!(
            "version: 1\nagents:\n  - {{name: mine, role: reviewer, command: claude, profile: {profile}}}\n"
        );
        sandbox.write(".glee/config.yml", text);
    };
    for (profile, shown) in [
        ("{pass: [AWS_*]}", "AWS_* (is handed on to agent `mine`)"),
        ("{folders: [~/.ssh]}", "~/.ssh (is opened to agent `mine`)"),
        ("{args: [--yolo]}", "--yolo"),
        ("droid", "droid (the profile of agent `mine`)"),
        ("own", "--own"),
    ] {
        sandbox.write(".glee/profiles/own.yml", "args: [--own]\n");
        write(profile);
        let output = review(&sandbox);
        assert_eq!(output.code, 8, "{profile}: {output}");
        assert!(output.stderr.contains(shown), "{profile}: {output}");
    }
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    assert_ne!(review(&sandbox).code, 8);
    sandbox.write(".glee/profiles/own.yml", "args: [--other]\n");
    assert_eq!(review(&sandbox).code, 8, "the file of the profile changed");
}

#[test]
fn an_answer_is_reused_only_with_the_same_profile() {
    let sandbox = project();
    sandbox.program(
        "mine",
        &format!("#!/bin/sh\necho x >> \"$HOME/.mine/calls\"; cat >/dev/null\n{CLEAN}"),
    );
    let calls = |profile: &str| {
        let line =
            format!("  - {{name: mine, role: reviewer, command: mine, profile: {profile}}}\n");
        user(&sandbox, &line);
        assert_eq!(review(&sandbox).code, 0);
        let calls = std::fs::read_to_string(sandbox.home().join(".mine/calls"));
        calls.expect("a file").lines().count()
    };
    assert_eq!(calls("{folders: [~/.mine]}"), 1);
    assert_eq!(calls("{folders: [~/.mine]}"), 1);
    assert_eq!(calls("{folders: [~/.mine], args: [--deep]}"), 2);
}

#[test]
fn a_program_without_its_folder_is_told_the_folder_and_the_key_that_opens_it() {
    for (script, place) in [
        (
            "mkdir -p \"$HOME/.mine/sessions/$$\" || { echo \"Error: EACCES: permission denied, mkdir '$HOME/.mine/sessions/$$'\" >&2; echo 'Node.js v22.23.3' >&2; exit 1; }",
            "~/.mine",
        ),
        (
            "echo x > \"$HOME/.local/share/mine/log\" || exit 1",
            "~/.local/share/mine",
        ),
        (
            "touch \"$HOME/.config/mine/state\" || exit 1",
            "~/.config/mine",
        ),
        (
            "cat \"$HOME/.mine/token\" >/dev/null 2>&1 || { echo 'not logged in' >&2; exit 1; }",
            "~/.mine",
        ),
    ] {
        let sandbox = project();
        let folder = sandbox.home().join(place.trim_start_matches("~/"));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("token"), "t").expect("a file");
        sandbox.program(
            "mine",
            &format!("#!/bin/sh\ncat >/dev/null\n{script}\n{CLEAN}"),
        );
        let args = [
            "connect",
            "mine",
            "--user",
            "--role",
            "reviewer",
            "--name",
            "mine",
            "--command",
            "mine",
        ];
        assert_eq!(sandbox.glee(&args).code, 0);
        let output = review(&sandbox);
        if output.code == 0 {
            continue; // This system has no sandbox.
        }
        let words = output
            .stderr
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(
            words.contains(&format!("the sandbox keeps `{place}` from `mine`")),
            "{words}"
        );
        let profile = format!("{{folders: [{place}]}}");
        assert!(
            words.contains(&format!("glee config set agents.mine.profile '{profile}'")),
            "{words}"
        );
        let set = sandbox.glee(&["config", "set", "--user", "agents.mine.profile", &profile]);
        assert_eq!(set.code, 0, "{set}");
        let opened = review(&sandbox);
        assert_eq!(opened.code, 0, "{place}: {opened}");
    }
}

#[test]
fn known_programs_are_listed_and_connected_by_their_names() {
    let sandbox = project();
    let known = json(&sandbox.glee(&["agents", "--known", "--json"]).stdout);
    let names: Vec<&str> = known
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|row| row["name"].as_str())
        .collect();
    for name in [
        "claude",
        "codex",
        "gemini",
        "opencode",
        "qwen",
        "copilot",
        "agy",
        "cursor-agent",
        "droid",
        "amp",
        "auggie",
        "pi",
        "goose",
        "crush",
        "kiro-cli",
        "cline",
        "kilo",
        "aider",
    ] {
        assert!(names.contains(&name), "{name}");
        let connected = sandbox.glee(&["connect", name, "--role", "reviewer"]);
        assert_eq!(connected.code, 0, "{connected}");
    }
    let text = sandbox.glee(&["agents", "--known"]);
    assert!(
        text.stdout.contains("described") && text.stdout.contains("tested"),
        "{text}"
    );
    let listed = sandbox.glee(&["config", "list"]);
    assert!(
        listed.stdout.contains("agents.agy-reviewer.profile"),
        "{listed}"
    );
}

#[test]
fn variables_of_clouds_and_proxies_reach_the_programs_that_read_them() {
    let mut sandbox = project();
    let script = "#!/bin/sh\ncase \"$*\" in *--version*) echo 2.1.332; exit;; *--help*) exit;; esac\nenv > \"$HOME/.claude/env\"; cat >/dev/null; exit 1\n";
    sandbox.program("claude", script);
    for name in [
        "HTTPS_PROXY",
        "no_proxy",
        "REQUESTS_CA_BUNDLE",
        "CLAUDE_CODE_USE_BEDROCK",
        "AWS_REGION",
        "ANTHROPIC_MODEL",
    ] {
        sandbox.env(name, "1");
    }
    sandbox
        .env("OTHER_SECRET", "x")
        .env("CLAUDE_CODE_SSE_PORT", "7");
    assert_eq!(
        sandbox
            .glee(&["connect", "claude", "--role", "reviewer"])
            .code,
        0
    );
    review(&sandbox);
    let seen = std::fs::read_to_string(sandbox.home().join(".claude/env")).expect("a file");
    for name in [
        "HTTPS_PROXY",
        "no_proxy",
        "REQUESTS_CA_BUNDLE",
        "CLAUDE_CODE_USE_BEDROCK",
        "AWS_REGION",
        "ANTHROPIC_MODEL",
    ] {
        assert!(seen.contains(&format!("{name}=1\n")), "{name}: {seen}");
    }
    assert!(
        !seen.contains("OTHER_SECRET") && !seen.contains("SSE_PORT"),
        "{seen}"
    );
}

#[test]
fn reviewers_of_one_vendor_are_one_voice_whatever_they_are_called() {
    let raises = "#!/bin/sh\ncat >/dev/null\necho '[MUST] a.py:1 Print writes to standard output'\n\
         echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1\"\n";
    for (one, other, vendors) in [
        ("", "", None),
        (", vendor: acme", ", vendor: Acme", Some(1)),
        (", vendor: acme", ", vendor: other", None),
        (
            ", model: opus",
            ", vendor: anthropic, model: gpt-5",
            Some(1),
        ),
        (", profile: {vendor: acme}", ", vendor: acme", Some(1)),
        (
            ", profile: {vendor: acme}, model: gpt-5",
            ", vendor: acme",
            None,
        ),
    ] {
        let sandbox = project();
        sandbox.program("mine", raises);
        let agents = [("one", one), ("other", other)].map(|(name, keys)| {
            format!("  - {{name: {name}, role: reviewer, command: mine{keys}}}\n")
        });
        user(&sandbox, &agents.concat());
        let args = ["review", "a.py", "--no-input", "--format", "json"];
        let output = sandbox.glee(&args);
        let finding = &json(&output.stdout)["findings"][0];
        let seen = finding["consensus"]["vendors"].as_u64();
        assert_eq!(seen, vendors, "{one} {other}: {output}");
    }
}
