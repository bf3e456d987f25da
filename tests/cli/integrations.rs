//! Tests `glee integrate` with programs that record how they are called.

use crate::support::Sandbox;

const RECORDER: &str = "#!/bin/sh\necho \"$@\" >> \"$HOME/calls\"\n";

fn calls(sandbox: &Sandbox) -> String {
    std::fs::read_to_string(sandbox.home().join("calls")).unwrap_or_default()
}

#[test]
fn each_agent_installs_the_plugin_by_its_own_command_and_removes_it() {
    for (agent, first, last) in [
        (
            "claude",
            "plugin install glee@glee",
            "plugin marketplace remove glee",
        ),
        (
            "copilot",
            "plugin install glee@glee",
            "plugin marketplace remove glee",
        ),
        (
            "codex",
            "plugin add glee@glee",
            "plugin marketplace remove glee",
        ),
        ("gemini", "--consent", "extensions uninstall glee"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.program(agent, RECORDER);
        let printed = sandbox.glee(&["integrate", agent, "--print"]);
        assert_eq!(printed.code, 0, "{printed}");
        assert!(
            printed.stdout.contains("skills/glee-review/SKILL.md"),
            "{printed}"
        );
        assert_eq!(calls(&sandbox), "");
        let folder = sandbox.state().join("integrations").join(agent);
        assert!(!folder.exists(), "{agent}");

        let installed = sandbox.glee(&["integrate", agent]);
        assert_eq!(installed.code, 0, "{installed}");
        assert!(
            calls(&sandbox).trim_end().ends_with(first),
            "{}",
            calls(&sandbox)
        );
        for file in ["gemini-extension.json", ".mcp.json"] {
            let text = std::fs::read_to_string(folder.join(file)).expect("a file");
            assert!(
                text.contains("\"command\": \"glee\", \"args\": [\"mcp\"]"),
                "{text}"
            );
        }
        assert_eq!(sandbox.glee(&["integrate", agent]).code, 0, "again");

        let removed = sandbox.glee(&["integrate", agent, "--remove"]);
        assert_eq!(removed.code, 0, "{removed}");
        assert!(
            calls(&sandbox).trim_end().ends_with(last),
            "{}",
            calls(&sandbox)
        );
        assert!(!folder.exists(), "{agent}");
    }
}

#[test]
fn a_file_of_somebody_else_is_never_changed() {
    let skill = ".agents/skills/glee-review/SKILL.md";
    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write(skill, "mine\n");
    let refused = sandbox.glee(&["integrate", "opencode"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused.stderr.contains("Glee did not write it"),
        "{refused}"
    );
    assert_eq!(sandbox.read(skill), "mine\n");
    assert_eq!(sandbox.glee(&["integrate", "opencode", "--remove"]).code, 0);
    assert_eq!(sandbox.read(skill), "mine\n");

    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write(".agents/other", "mine\n");
    assert_eq!(sandbox.glee(&["integrate", "opencode"]).code, 0);
    assert!(sandbox.read(skill).contains("name: glee-review"));
    sandbox.write(skill, "changed\n");
    assert_eq!(sandbox.glee(&["integrate", "opencode"]).code, 2);
    assert_eq!(sandbox.glee(&["integrate", "opencode", "--remove"]).code, 0);
    assert_eq!(sandbox.read(skill), "changed\n");

    let sandbox = Sandbox::new();
    sandbox.git_init();
    sandbox.write(".agents/other", "mine\n");
    assert_eq!(sandbox.glee(&["integrate", "opencode"]).code, 0);
    assert_eq!(sandbox.glee(&["integrate", "opencode", "--remove"]).code, 0);
    assert!(!sandbox.exists(".agents/skills"));
    assert_eq!(sandbox.read(".agents/other"), "mine\n");
}

#[test]
fn a_program_that_is_missing_or_fails_is_named() {
    let mut sandbox = Sandbox::new();
    sandbox.program("claude", "#!/bin/sh\necho 'no network' >&2\nexit 1\n");
    let failed = sandbox.glee(&["integrate", "claude"]);
    assert_eq!(failed.code, 4, "{failed}");
    assert!(failed.stderr.contains("no network"), "{failed}");
    sandbox.only_own_programs();
    let missing = sandbox.glee(&["integrate", "gemini"]);
    assert_eq!(missing.code, 2, "{missing}");
    assert!(missing.stderr.contains("not on the PATH"), "{missing}");
    assert_eq!(sandbox.glee(&["integrate", "nobody"]).code, 2);
}

#[test]
fn the_skill_is_as_hosts_want_it() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/integrations/");
    let read = |path: &str| std::fs::read_to_string(format!("{folder}{path}")).expect("a file");
    let skill = read("skills/glee-review/SKILL.md");
    let field = |name: &str| {
        let line = skill.lines().find_map(|line| line.strip_prefix(name));
        line.expect("a field").trim().to_owned()
    };
    assert_eq!(field("name:"), "glee-review");
    assert!(field("description:").len() <= 1_024);
    for path in [
        ".claude-plugin/plugin.json",
        ".codex-plugin/plugin.json",
        "gemini-extension.json",
    ] {
        let manifest: serde_json::Value = serde_json::from_str(&read(path)).expect("JSON");
        assert_eq!(manifest["name"], "glee", "{path}");
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"), "{path}");
    }
}
