//! `.pre-commit-hooks.yaml` with the real program pre-commit, and the files for CI with their published schemas.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::python::programs;
use crate::support::repository::{EVIL, GOOD, ok, sh, with_remote};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A wheel of this version with the program under test, as a package index has it.
fn wheel(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    let (version, glee) = (
        env!("CARGO_PKG_VERSION"),
        assert_cmd::cargo::cargo_bin!("glee").display(),
    );
    let name = format!("glee_review-{version}");
    let files = [
        (
            format!("{name}.data/scripts/glee"),
            format!("#!/bin/sh\nexec '{glee}' \"$@\"\n"),
        ),
        (
            format!("{name}.dist-info/METADATA"),
            format!("Metadata-Version: 2.1\nName: glee-review\nVersion: {version}\n"),
        ),
        (
            format!("{name}.dist-info/WHEEL"),
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n".to_owned(),
        ),
        (
            format!("{name}.dist-info/RECORD"),
            format!("{name}.data/scripts/glee,,\n"),
        ),
    ];
    for (path, text) in files {
        let path = folder.join("files").join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).expect("a file");
        fs::set_permissions(path, Permissions::from_mode(0o755)).expect("a file");
    }
    let packed = Command::new("python3")
        .args(["-m", "zipfile", "-c"])
        .arg(folder.join(format!("{name}-py3-none-any.whl")))
        .args(
            fs::read_dir(folder.join("files"))
                .expect("a folder")
                .map(|entry| entry.expect("a folder").path()),
        )
        .status()
        .expect("python3 starts");
    assert!(packed.success(), "no wheel was made");
}

#[test]
fn pre_commit_installs_the_wheel_and_runs_both_hooks() {
    let Some(programs) = programs() else {
        return;
    };
    let mut sandbox = with_remote();
    let machine = std::env::var("PATH").expect("a PATH");
    sandbox.env("PATH", format!("{}:{machine}", programs.display()));
    let index = sandbox.home().join("index");
    wheel(&index);
    sandbox.env("PIP_FIND_LINKS", index.display().to_string());
    sandbox.env(
        "PRE_COMMIT_HOME",
        sandbox.home().join("pre-commit").display().to_string(),
    );
    for file in [".pre-commit-hooks.yaml", "setup.py", "Cargo.toml"] {
        let text = fs::read_to_string(Path::new(ROOT).join(file)).expect("a file");
        sandbox.write(format!("../hooks/{file}"), text);
    }
    ok(
        &sandbox,
        "cd ../hooks && git init -q && git add -A && git commit -qm Hooks && git tag v1",
    );
    let source = sandbox
        .root()
        .join("../hooks")
        .canonicalize()
        .expect("a folder");
    sandbox.write(
        ".pre-commit-config.yaml",
        format!(
            "repos:\n  - repo: {}\n    rev: v1\n    hooks:\n      - {{id: glee-pre-commit, args: [--mode=block]}}\n      \
             - {{id: glee-pre-push, args: [--mode=block]}}\n",
            source.display()
        ),
    );
    ok(
        &sandbox,
        "git add .pre-commit-config.yaml; pre-commit install -t pre-commit -t pre-push",
    );
    ok(
        &sandbox,
        "git commit -q --no-verify -m 'Configure pre-commit'",
    );
    sandbox.write("app.py", EVIL);
    let refused = sh(&sandbox, "git commit -qam evil");
    assert!(
        refused.code != 0 && refused.to_string().contains("eval"),
        "{refused}"
    );
    // What is staged is reviewed; pre-commit puts the rest away and back.
    sandbox.write("app.py", format!("{GOOD}# staged\n"));
    ok(&sandbox, "git add app.py");
    sandbox.write("app.py", EVIL);
    let passed = ok(&sandbox, "git commit -m good");
    assert!(passed.to_string().contains("Passed"), "{passed}");
    assert_eq!(sandbox.read("app.py"), EVIL);
    ok(&sandbox, "git push -q origin main");
    ok(
        &sandbox,
        "git switch -qc topic; git commit -q --no-verify -am evil",
    );
    let refused = sh(&sandbox, "git push origin topic");
    assert!(
        refused.code != 0 && refused.to_string().contains("eval"),
        "{refused}"
    );
    ok(&sandbox, "git push -q --no-verify origin topic");
}

#[test]
fn the_files_for_ci_satisfy_their_schemas_and_the_scripts_are_portable() {
    let Some(programs) = programs() else {
        return;
    };
    let check = |program: &str, args: &[&str]| {
        let output = Command::new(programs.join(program))
            .args(args)
            .current_dir(ROOT)
            .output()
            .expect("it starts");
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(output.status.success(), "{program} {args:?}: {out}{err}");
    };
    check(
        "check-jsonschema",
        &["--builtin-schema", "vendor.github-actions", "action.yml"],
    );
    let gitlab = [
        "--builtin-schema",
        "vendor.gitlab-ci",
        "--data-transform",
        "gitlab-ci",
    ];
    check(
        "check-jsonschema",
        &[&gitlab[..], &["templates/glee.gitlab-ci.yml"]].concat(),
    );
    check(
        "pre-commit",
        &["validate-manifest", ".pre-commit-hooks.yaml"],
    );
    let workflows = ".github/workflows";
    for file in ["ci", "nightly", "release"] {
        let file = format!("{workflows}/{file}.yml");
        check(
            "check-jsonschema",
            &["--builtin-schema", "vendor.github-workflows", &file],
        );
    }
    check(
        "zizmor",
        &["--offline", "--pedantic", "action.yml", workflows],
    );
    let scripts =
        ["setup", "install", "review", "finish"].map(|name| format!(".github/action/{name}.sh"));
    let mut scripts = scripts.each_ref().map(String::as_str).to_vec();
    scripts.extend([".ci/packages", "packaging/publish", "packaging/npm/glee"]);
    check("shellcheck", &scripts);
}
