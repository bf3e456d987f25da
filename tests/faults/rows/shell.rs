//! A project with shell scripts as agents, for answers that depend on the request.

use std::process::{Command, Stdio};

use crate::scene::{Kind, Scene};
use crate::support::Output;

/// A reviewer that reports `evil()` if it is shown.
pub(super) const FINDS_EVIL: &str = "if grep -q 'evil()' $P; then echo '[MUST] Remove the call'; n=1; else n=0; fi; \
    echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n\"";

pub(super) const RESOLVES: &str = "for i in $GLEE_FINDINGS; do echo \"[$i] RESOLVED: gone\"; done; \
    echo \"GLEE-RECHECK-END nonce=$GLEE_NONCE answers=$(echo $GLEE_FINDINGS | wc -w)\"";

/// A coder that reports everything as implemented.
pub(super) const IMPLEMENTED: &str = "for i in $GLEE_FINDINGS; do echo \"[$i] IMPLEMENTED: done\"; done; \
    echo \"GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$(echo $GLEE_FINDINGS | wc -w)\"";

/// A repository with `app.py`, a reviewer that answers by a script, and a coder that runs a script first. The
/// prompt is in the file `$P`.
pub(super) fn scene(review: &str, fix: &str) -> Scene {
    let scene = Scene::new(Kind::Git);
    let home = scene.home().join("agent");
    std::fs::create_dir(&home).expect("a fresh folder");
    let write =
        |name: &str, text: &str| std::fs::write(home.join(name), text).expect("a written file");
    write("rev.review", review);
    write("rev.recheck", RESOLVES);
    write("fix.respond", &format!("{fix}\n{IMPLEMENTED}"));
    write(
        "agent.sh",
        "P=$(mktemp $HOME/.cache/p.XXXXXX 2>/dev/null || mktemp); cat > $P; . ${0%/*}/$GLEE_AGENT.$GLEE_TASK; exit 0\n",
    );
    let script = home.join("agent.sh");
    let agent = |name: &str, role: &str| {
        format!("  - {{name: {name}, role: {role}, command: [/bin/sh, {script:?}]}}\n")
    };
    let config = scene.user_config();
    std::fs::create_dir_all(config.parent().expect("a parent folder")).expect("a folder");
    let text = format!(
        "agents:\n{}{}",
        agent("rev", "reviewer"),
        agent("fix", "coder")
    );
    std::fs::write(config, text).expect("a written file");
    scene
}

pub(super) fn set(scene: &Scene, line: &str) {
    let config = scene.user_config();
    let text = std::fs::read_to_string(&config).expect("a readable file");
    std::fs::write(config, format!("{text}{line}\n")).expect("a written file");
}

/// Runs a shell script in the tree as the scene's user; `$GLEE` is the program.
pub(super) fn sh(scene: &Scene, script: &str) -> Output {
    let template = scene.command(&[]);
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", script])
        .current_dir(scene.root())
        .env_clear()
        .stdin(Stdio::null());
    for (name, value) in template.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command
        .env("GLEE", template.get_program())
        .output()
        .expect("a shell");
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a script that has to succeed.
pub(super) fn ok(scene: &Scene, script: &str) -> String {
    let output = sh(scene, script);
    assert_eq!(output.code, 0, "{script}\n{output}");
    output.stdout
}
