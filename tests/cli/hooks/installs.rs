//! Where a hook is written, what happens to an earlier hook, and what an uninstallation restores.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::{EVIL, ok, repository, sh, with_remote};
use crate::support::Sandbox;

/// Writes its arguments and its standard input to a file, and ends with exit code `code`.
fn recorder(code: u8) -> String {
    format!("#!/bin/sh\n{{ echo \"$0\" \"$#\" \"$@\"; cat; }} >> \"$HOME/recorded\"\nexit {code}")
}

fn recorded(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.home().join("recorded")).unwrap_or_default()
}

#[test]
fn an_earlier_hook_runs_first_with_the_same_input_and_is_restored_byte_for_byte() {
    let sandbox = with_remote();
    let hook = ".git/hooks/pre-push";
    sandbox.script(hook, &recorder(0));
    fs::set_permissions(sandbox.root().join(hook), fs::Permissions::from_mode(0o751))
        .expect("a mode");
    let (before, mode) = (sandbox.read(hook), 0o100_751);
    ok(
        &sandbox,
        "glee hook install pre-push && glee hook install pre-push --mode block",
    );
    let listed = ok(&sandbox, "glee hook list");
    assert!(
        listed.stdout.contains("installed, after an earlier hook"),
        "{listed}"
    );
    assert!(
        listed.stdout.contains("--mode block --timeout 10m"),
        "{listed}"
    );

    // Who is only warned does not wait long.
    ok(&sandbox, "glee hook install pre-commit");
    let listed = ok(&sandbox, "glee hook list");
    assert!(
        listed.stdout.contains("--mode warn --timeout 1m"),
        "{listed}"
    );
    ok(&sandbox, "glee hook uninstall pre-commit");

    sandbox.write("app.py", EVIL);
    ok(&sandbox, "git commit -qam evil");
    let refused = sh(&sandbox, "git push origin main");
    assert_ne!(refused.code, 0, "{refused}");
    assert!(refused.stderr.contains("git push --no-verify"), "{refused}");
    let lines = recorded(&sandbox);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    assert!(lines.contains(" 2 origin ../origin.git\n"), "{lines}");
    assert!(
        lines.contains(&format!("refs/heads/main {} refs/heads/main ", head.trim())),
        "{lines}"
    );

    // Without pushed refs, the earlier hook reads an empty input, and not an empty line.
    fs::remove_file(sandbox.home().join("recorded")).expect("a file");
    ok(&sandbox, ".git/hooks/pre-push origin url < /dev/null");
    assert_eq!(
        recorded(&sandbox).lines().count(),
        1,
        "{}",
        recorded(&sandbox)
    );

    ok(&sandbox, "glee hook uninstall pre-push");
    assert_eq!(sandbox.read(hook), before);
    let meta = fs::metadata(sandbox.root().join(hook)).expect("the earlier hook");
    assert_eq!(meta.permissions().mode(), mode);
    let left: Vec<_> = fs::read_dir(sandbox.root().join(".git/hooks"))
        .expect("hooks")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.ends_with(".sample"))
        .collect();
    assert_eq!(left, ["pre-push"]);
    ok(&sandbox, "git push -q origin main");
}

#[test]
fn an_earlier_hook_that_fails_ends_the_hook_with_its_code() {
    let sandbox = repository();
    sandbox.script(".git/hooks/pre-commit", &recorder(7));
    ok(&sandbox, "glee hook install pre-commit");
    let output = sh(&sandbox, ".git/hooks/pre-commit </dev/null");
    assert_eq!(output.code, 7, "{output}");
    assert!(
        !output.to_string().contains("glee"),
        "Glee does not review: {output}"
    );
    assert_ne!(sh(&sandbox, "echo x >> app.py; git commit -qam x").code, 0);
    // A hook that is not executable does not run, with or without Glee.
    ok(
        &sandbox,
        "chmod -x .git/hooks/pre-commit.before-glee && git commit -qam x",
    );
}

#[test]
fn a_linked_hook_is_kept_as_a_link() {
    let sandbox = repository();
    sandbox.script("scripts/check", &recorder(0));
    ok(
        &sandbox,
        "ln -s ../../scripts/check .git/hooks/pre-commit; glee hook install pre-commit",
    );
    ok(&sandbox, "echo '# x' >> app.py; git commit -qam x");
    assert_eq!(recorded(&sandbox).lines().count(), 1);
    assert!(!sandbox.read("scripts/check").contains("glee"));
    ok(&sandbox, "glee hook uninstall pre-commit");
    assert_eq!(
        ok(&sandbox, "readlink .git/hooks/pre-commit").stdout,
        "../../scripts/check\n"
    );
}

#[test]
fn a_hook_without_an_earlier_one_is_removed_and_both_commands_can_be_repeated() {
    let sandbox = repository();
    for _ in 0..2 {
        let installed = ok(&sandbox, "glee hook install pre-commit");
        assert!(
            installed.stderr.contains("git commit --no-verify"),
            "{installed}"
        );
        assert!(!installed.stderr.contains("earlier"), "{installed}");
    }
    ok(&sandbox, "glee hook uninstall pre-commit");
    assert!(!sandbox.exists(".git/hooks/pre-commit"));
    let again = ok(&sandbox, "glee hook uninstall pre-commit");
    assert!(again.stderr.contains("not installed"), "{again}");
    let listed = ok(&sandbox, "glee hook list --json");
    let hooks: serde_json::Value = serde_json::from_str(&listed.stdout).expect("JSON");
    assert_eq!(hooks[0]["state"], "missing");
    assert_eq!(hooks[1]["hook"], "post-commit");
    assert_eq!(hooks[2]["hook"], "pre-push");
}

#[test]
fn a_hook_of_another_program_is_never_removed() {
    let sandbox = repository();
    sandbox.script(".git/hooks/pre-commit", "#!/bin/sh\n# mine\n");
    assert_eq!(sh(&sandbox, "glee hook uninstall pre-commit").code, 2);
    ok(&sandbox, "glee hook install pre-commit");
    // Another program writes its hook over Glee's.
    sandbox.script(".git/hooks/pre-commit", "#!/bin/sh\n# theirs\n");
    for command in ["install", "uninstall"] {
        let output = sh(&sandbox, &format!("glee hook {command} pre-commit"));
        assert_eq!(output.code, 2, "{output}");
        assert!(
            output.stderr.contains("has replaced Glee's hook"),
            "{output}"
        );
    }
    assert_eq!(
        sandbox.read(".git/hooks/pre-commit"),
        "#!/bin/sh\n# theirs\n"
    );
    assert_eq!(
        sandbox.read(".git/hooks/pre-commit.before-glee"),
        "#!/bin/sh\n# mine\n"
    );
}

#[test]
fn an_interrupted_installation_is_completed() {
    let sandbox = repository();
    sandbox.script(".git/hooks/pre-commit", &recorder(0));
    ok(
        &sandbox,
        "ln .git/hooks/pre-commit .git/hooks/pre-commit.before-glee; glee hook install pre-commit",
    );
    ok(
        &sandbox,
        "echo '# x' >> app.py; git commit -qam x; glee hook uninstall pre-commit",
    );
    assert_eq!(sandbox.read(".git/hooks/pre-commit"), recorder(0));
    assert_eq!(recorded(&sandbox).lines().count(), 1);
}

#[test]
fn the_hook_is_written_where_git_looks_for_it() {
    let mut sandbox = repository();
    let commits = |sandbox: &Sandbox, folder: &str| {
        let output = ok(
            sandbox,
            &format!("cd '{folder}' && echo '# x' >> app.py && git commit -am x"),
        );
        assert!(
            output.to_string().contains("0 findings") || output.to_string().contains("CLEAN"),
            "{output}"
        );
    };
    // A relative folder of the work tree, also from a subfolder.
    let installed = ok(
        &sandbox,
        "git config core.hooksPath 'own hooks'; mkdir -p sub; cd sub; glee hook install pre-commit",
    );
    assert!(installed.stderr.contains("commit it"), "{installed}");
    assert!(sandbox.exists("own hooks/pre-commit"));
    commits(&sandbox, ".");
    // A relative folder in the settings of the user is a folder of each repository.
    ok(
        &sandbox,
        "glee hook uninstall pre-commit; git config --unset core.hooksPath",
    );
    std::fs::write(
        sandbox.home().join("gitconfig"),
        "[core]\n\thooksPath = .hooks\n",
    )
    .expect("a file");
    let global = sandbox.home().join("gitconfig").display().to_string();
    sandbox.env("GIT_CONFIG_GLOBAL", global);
    ok(&sandbox, "glee hook install pre-commit");
    commits(&sandbox, ".");
    ok(
        &sandbox,
        "test -x .hooks/pre-commit && glee hook uninstall pre-commit",
    );
    // All linked work trees share the folder of the repository.
    sandbox.env("GIT_CONFIG_GLOBAL", "/dev/null");
    ok(
        &sandbox,
        "git worktree add -q -b linked '../linked tree' && cd '../linked tree' && glee hook install pre-commit",
    );
    assert!(sandbox.exists(".git/hooks/pre-commit"));
    commits(&sandbox, "../linked tree");
    commits(&sandbox, ".");
    // A bare repository with linked work trees.
    ok(
        &sandbox,
        "git clone -q --bare . ../bare.git && git -C ../bare.git worktree add -q -b b ../of-bare",
    );
    ok(&sandbox, "cd ../of-bare && glee hook install pre-commit");
    assert!(sandbox.exists("../bare.git/hooks/pre-commit"));
    commits(&sandbox, "../of-bare");
    let bare = sh(&sandbox, "cd ../bare.git && glee hook install pre-commit");
    assert!(
        bare.code == 2 && bare.stderr.contains("git worktree add"),
        "{bare}"
    );
}

#[test]
fn a_folder_that_other_repositories_use_is_refused_without_force() {
    let mut sandbox = repository();
    let shared = sandbox.home().join("all hooks");
    std::fs::write(
        sandbox.home().join("gitconfig"),
        "[core]\n\thooksPath = ~/all hooks\n",
    )
    .expect("a file");
    let global = sandbox.home().join("gitconfig").display().to_string();
    sandbox.env("GIT_CONFIG_GLOBAL", global);
    let refused = sh(&sandbox, "glee hook install pre-commit");
    assert_eq!(refused.code, 2, "{refused}");
    insta::assert_snapshot!(refused.stable());
    assert!(!shared.exists());
    ok(&sandbox, "glee hook install pre-commit --force");
    assert!(shared.join("pre-commit").is_file());
    // The hint's second way.
    ok(
        &sandbox,
        "git config core.hooksPath \"$(git rev-parse --absolute-git-dir)/hooks\"",
    );
    ok(
        &sandbox,
        "glee hook install pre-commit && test -x .git/hooks/pre-commit",
    );
    // Without a folder, git runs no hooks.
    let off = sh(
        &sandbox,
        "git config core.hooksPath /dev/null; glee hook install pre-commit",
    );
    assert!(
        off.code == 2 && off.stderr.contains("git runs no hooks here"),
        "{off}"
    );
    let outside = sh(
        &sandbox,
        "mkdir ../plain; cd ../plain; glee hook install pre-commit",
    );
    assert!(
        outside.code == 2
            && outside
                .stderr
                .contains("git hooks require a git repository"),
        "{outside}"
    );
}

#[test]
fn managers_of_hooks_are_named_with_the_file_to_edit() {
    for (prepare, manager, file) in [
        (
            "mkdir -p .husky/_; git config core.hooksPath .husky/_",
            "husky",
            "`.husky/pre-push`",
        ),
        (
            "echo 'pre-push: {}' > lefthook.yml",
            "lefthook",
            "`lefthook.yml`",
        ),
        (
            "echo 'repos: []' > .pre-commit-config.yaml",
            "pre-commit",
            "`.pre-commit-config.yaml`",
        ),
    ] {
        let sandbox = repository();
        ok(&sandbox, prepare);
        let refused = sh(&sandbox, "glee hook install pre-push");
        assert_eq!(refused.code, 2, "{refused}");
        assert!(
            refused
                .stderr
                .contains(&format!("error: {manager} manages the hooks")),
            "{refused}"
        );
        assert!(refused.stderr.contains(file), "{refused}");
        ok(&sandbox, "glee hook install pre-push --force");
        ok(
            &sandbox,
            "test -x \"$(git rev-parse --git-path hooks)/pre-push\"",
        );
    }
}

#[test]
fn a_repository_of_jujutsu_gets_a_recipe() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.root().join(".jj/repo")).expect("a folder");
    let refused = sandbox.glee(&["hook", "install", "pre-commit"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.stderr.contains("jj diff --git"), "{refused}");
    let both = repository();
    ok(&both, "mkdir .jj");
    let noted = ok(&both, "glee hook install pre-commit");
    assert!(noted.stderr.contains("Jujutsu runs no hooks"), "{noted}");
}
