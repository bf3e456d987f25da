//! A pull request on a double, a clone in which Glee runs, and the clone of the author.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::Ordering;

use glee_workflows::hosts::{self, Host, address};

use super::double::{Double, HostDouble, KillAt, State, git};
use crate::support::{Output, Sandbox};

/// Dismisses what is a constant, escalates what is hard to say, and enforces the rest.
const JUDGE: &str = r#"#!/bin/sh
prompt=$(cat)
case "$prompt" in
  *"constant in a.py"*) echo "a.py:1 is the place of the constant"; word=DISMISS ;;
  *"hard to say"*) echo "cannot tell"; word=ESCALATE ;;
  *) echo "the text comes from outside"; word=ENFORCE ;;
esac
echo "GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=$word"
"#;

const CONFIG: &str = "\
version: 1
agents:
  - {name: rules, command: 'builtin:rules', role: reviewer}
  - {name: scales, command: scales, role: judge}
";

pub(crate) const PUBLISH: [&str; 4] = ["review", "--pr", "7", "--publish"];

pub(crate) struct Scene {
    pub(crate) sandbox: Sandbox,
    pub(crate) double: Double,
}

impl Scene {
    pub(crate) fn new(host: &'static dyn HostDouble) -> Self {
        let sandbox = Sandbox::new();
        let (home, root) = (sandbox.home(), sandbox.root());
        let text = |path: PathBuf| path.display().to_string();
        let (bare, author) = (text(home.join("host.git")), text(home.join("author")));
        git(&home, &["init", "-q", "--bare", "-b", "main", &bare]);
        git(&home, &["init", "-q", "-b", "main", &author]);
        let scene = Self {
            double: Double::start(host, State::new(host, &home.join("host.git"))),
            sandbox,
        };
        scene.write("README.md", "A shop\n");
        scene.commit("Begin");
        scene.author(&["push", "-q", &bare, "main"]);
        scene.author(&["checkout", "-q", "-b", "change"]);
        git(&home, &["clone", "-q", &bare, &text(root.clone())]);
        std::fs::create_dir_all(scene.sandbox.user_config().parent().expect("a folder"))
            .expect("a folder");
        std::fs::write(scene.sandbox.user_config(), CONFIG).expect("a file");
        scene.sandbox.program("scales", JUDGE);
        scene.placed()
    }

    /// Sets the variables that contain paths and addresses.
    fn placed(mut self) -> Self {
        let home = self.sandbox.home();
        let (config, address) = (home.join("gitconfig"), self.double.address.clone());
        let remote = format!("{address}/team/shop.git");
        let text = format!(
            "[url \"{}\"]\n\tinsteadOf = {remote}\n",
            home.join("host.git").display()
        );
        std::fs::write(&config, text).expect("a file");
        git(
            &self.sandbox.root(),
            &["remote", "set-url", "origin", &remote],
        );
        self.double.state().repository = home.join("host.git");
        self.sandbox
            .env("GIT_CONFIG_GLOBAL", config.display().to_string());
        for (name, value) in self.double.host.variables(&address) {
            self.sandbox.env(name, value);
        }
        self
    }

    /// A copy of all repositories, of the history and of the state of the host.
    pub(crate) fn copy(&self) -> Self {
        let mut state = self.double.state().clone();
        state.kill = None;
        Self {
            sandbox: self.sandbox.copy(),
            double: Double::start(self.double.host, state),
        }
        .placed()
    }

    fn author_folder(&self) -> PathBuf {
        self.sandbox.home().join("author")
    }

    pub(crate) fn author(&self, args: &[&str]) -> String {
        let identity = [
            "-c",
            "user.name=Author",
            "-c",
            "user.email=author@example.org",
        ];
        git(&self.author_folder(), &[&identity, args].concat())
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.author_folder().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    pub(crate) fn commit(&self, message: &str) {
        self.author(&["add", "-A"]);
        self.author(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// Pushes the branch of the change, by force if needed.
    pub(crate) fn push(&self) {
        let bare = self.sandbox.home().join("host.git").display().to_string();
        self.author(&[
            "push",
            "-q",
            "--force",
            &bare,
            &format!("change:{}", self.double.host.head_ref()),
        ]);
    }

    /// Connects this process to the double, as the command does.
    pub(crate) fn host(&self) -> Box<dyn Host> {
        let variables = self.double.host.variables(&self.double.address);
        let env = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value.clone())
        };
        let remote = format!("{}/team/shop.git", self.double.address);
        let address = address::find("7", Some(&remote), &env).expect("an address");
        hosts::connect(address, &self.sandbox.root(), &env).expect("a host")
    }

    pub(crate) fn publish(&self) -> Output {
        self.sandbox.glee(&PUBLISH)
    }

    /// Publishes, and is killed at a request. Returns false if the command ended without that request.
    pub(crate) fn publish_killed(&self, at: KillAt) -> bool {
        let first = self.double.state().requests.len();
        self.double.state().kill = Some(KillAt {
            request: first + at.request,
            ..at
        });
        let mut command = self.sandbox.command(&PUBLISH);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        self.double
            .process
            .store(i32::try_from(child.id()).expect("an id"), Ordering::SeqCst);
        let status = child.wait().expect("the process ends");
        self.double.process.store(0, Ordering::SeqCst);
        self.double.state().kill = None;
        !status.success()
    }

    /// The threads: path, state, and what Glee and others said, without markers, ids of commits and disputes.
    pub(crate) fn conversation(&self) -> Vec<String> {
        let state = self.double.state();
        let commit = regex::Regex::new(r"\b[0-9a-f]{7,40}\b").expect("a pattern");
        let mut lines: Vec<String> = Vec::new();
        for thread in &state.threads {
            let word = if thread.is_resolved {
                "resolved"
            } else {
                "open"
            };
            lines.push(format!("{} {word}", thread.path));
            for said in &thread.comments {
                let text: Vec<&str> = said
                    .body
                    .lines()
                    .filter(|line| !line.starts_with("<!-- glee"))
                    .collect();
                let text = text.join(" ").chars().take(90).collect::<String>();
                lines.push(format!(
                    "  {}: {}",
                    said.by,
                    commit.replace_all(text.trim(), "[ID]")
                ));
            }
        }
        lines.push(format!(
            "{} summaries, {} checks",
            state.comments.len(),
            state.checks.len()
        ));
        lines
    }
}

impl Drop for Scene {
    /// Every request has to fit the description of the host's API.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let misfits = std::mem::take(&mut self.double.state().misfits);
            assert!(misfits.is_empty(), "{misfits:#?}");
        }
    }
}
