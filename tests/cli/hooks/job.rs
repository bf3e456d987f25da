//! Runs the steps of `action.yml` as GitHub's runner runs them: expressions become variables, outputs are files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::Sandbox;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A job that uses the action: its inputs and the outputs of the steps so far.
pub(crate) struct Job<'a> {
    sandbox: &'a Sandbox,
    pub(crate) values: BTreeMap<String, String>,
    /// Whether the token is allowed to upload to code scanning.
    pub(crate) may_upload: bool,
    /// The inputs of `upload-sarif`.
    pub(crate) uploads: Vec<BTreeMap<String, String>>,
}

pub(crate) fn action() -> Value {
    let text = fs::read_to_string(Path::new(ROOT).join("action.yml")).expect("the action");
    serde_yaml::from_str(&text).expect("YAML")
}

impl<'a> Job<'a> {
    pub(crate) fn new(sandbox: &'a Sandbox, inputs: &[(&str, &str)]) -> Self {
        Self::of_event(sandbox, &[], inputs)
    }

    /// A job on a new runner. `contexts` are values such as `github.token`, to which the defaults of the inputs refer.
    pub(crate) fn of_event(
        sandbox: &'a Sandbox,
        contexts: &[(&str, &str)],
        inputs: &[(&str, &str)],
    ) -> Self {
        let values = contexts
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mut job = Self {
            sandbox,
            values: values.collect(),
            may_upload: true,
            uploads: Vec::new(),
        };
        for (name, input) in action()["inputs"].as_object().expect("inputs") {
            let default = job.text(input["default"].as_str().expect("a default"));
            job.values.insert(format!("inputs.{name}"), default);
        }
        for (name, value) in inputs {
            let known = job
                .values
                .insert(format!("inputs.{name}"), (*value).to_owned());
            assert!(known.is_some(), "the action has the input `{name}`");
        }
        if job.temp().exists() {
            fs::remove_dir_all(job.temp()).expect("a folder");
        }
        fs::create_dir(job.temp()).expect("a folder");
        job
    }

    fn temp(&self) -> PathBuf {
        self.sandbox.home().join("temp")
    }

    /// Replaces `${{ name }}`.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut parts = text.split("${{");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |done, part| {
            let (name, rest) = part.split_once("}}").expect("an expression ends");
            done + self.values.get(name.trim()).map_or("", String::as_str) + rest
        })
    }

    /// Evaluates a condition: comparisons with texts, joined by `&&`.
    fn is_true(&self, condition: &Value) -> bool {
        let text = match condition {
            Value::Null => return true,
            Value::Bool(value) => return *value,
            other => other.as_str().expect("a condition"),
        };
        let text = text.trim().trim_start_matches("${{").trim_end_matches("}}");
        let value = |name: &str| self.values.get(name.trim()).cloned().unwrap_or_default();
        let literal = |text: &str| text.trim().trim_matches('\'').to_owned();
        text.split("&&").all(
            |term| match (term.split_once("=="), term.split_once("!=")) {
                (Some((name, text)), _) => value(name) == literal(text),
                (_, Some((name, text))) => value(name) != literal(text),
                _ => {
                    assert_eq!(term.trim(), "!cancelled()", "an unknown condition");
                    true
                }
            },
        )
    }

    /// Runs all steps. Returns the exit code of the first step that failed, or 0, and what the steps printed.
    pub(crate) fn run(&mut self) -> (i32, String) {
        let (mut failed, mut log) = (0, String::new());
        for step in action()["runs"]["steps"].as_array().expect("steps") {
            let condition = &step["if"];
            let is_always = condition
                .as_str()
                .is_some_and(|text| text.contains("!cancelled()"));
            if (failed != 0 && !is_always) || !self.is_true(condition) {
                continue;
            }
            let name = step["name"].as_str().expect("a name");
            let (code, printed) = match step["uses"].as_str() {
                Some(uses) => (
                    i32::from(!self.use_action(uses, &step["with"])),
                    String::new(),
                ),
                None => self.step(name),
            };
            log.push_str(&printed);
            if let Some(id) = step["id"].as_str() {
                let outcome = if code == 0 { "success" } else { "failure" };
                self.values
                    .insert(format!("steps.{id}.outcome"), outcome.to_owned());
            }
            let goes_on = step
                .get("continue-on-error")
                .is_some_and(|allowed| self.is_true(allowed));
            if code != 0 && !goes_on && failed == 0 {
                failed = code;
            }
        }
        (failed, log)
    }

    /// Stands for the actions of others: a cache in a folder, and the upload of SARIF, which only records its inputs.
    fn use_action(&mut self, uses: &str, with: &Value) -> bool {
        let with = with.as_object().expect("inputs").iter();
        let with: BTreeMap<String, String> = with
            .map(|(name, value)| (name.clone(), self.text(value.as_str().expect("a text"))))
            .collect();
        let cache = self.sandbox.home().join("cache");
        fs::create_dir_all(&cache).expect("a folder");
        match uses.split('@').next().unwrap_or_default() {
            "actions/cache/restore" => {
                let mut wanted = vec![(with["key"].clone(), true)];
                let others = with
                    .get("restore-keys")
                    .map(String::as_str)
                    .unwrap_or_default();
                let others = others.lines().map(str::trim).filter(|key| !key.is_empty());
                wanted.extend(others.map(|key| (key.to_owned(), false)));
                let names = || {
                    fs::read_dir(&cache)
                        .expect("a folder")
                        .flatten()
                        .map(|entry| entry.file_name())
                };
                let mut names: Vec<String> =
                    names().filter_map(|name| name.into_string().ok()).collect();
                // The newest entry is the one with the highest number of a run.
                names.sort();
                let found = wanted.iter().find_map(|(key, is_whole)| {
                    names.iter().rev().find(|name| {
                        if *is_whole {
                            *name == key
                        } else {
                            name.starts_with(key)
                        }
                    })
                });
                found.is_none_or(|name| copy(&cache.join(name), Path::new(&with["path"])))
            }
            // A missing folder is a warning only.
            "actions/cache/save" => {
                let folder = Path::new(&with["path"]);
                !folder.exists() || copy(folder, &cache.join(&with["key"]))
            }
            "github/codeql-action/upload-sarif" => {
                self.uploads.push(with);
                self.may_upload
            }
            other => panic!("the action {other} is unknown"),
        }
    }

    /// Runs the step `name` of the action; returns its exit code and what it printed.
    pub(crate) fn step(&mut self, name: &str) -> (i32, String) {
        let action = action();
        let steps = action["runs"]["steps"].as_array().expect("steps");
        let step = steps
            .iter()
            .find(|step| step["name"] == name)
            .expect("a step of this name");
        let folder = self.sandbox.home();
        fs::write(folder.join("output"), "").expect("a file");
        let mut shell = self.sandbox.shell();
        shell
            .args(["-c", "exec bash --noprofile --norc -eo pipefail -c \"$0\""])
            .arg(step["run"].as_str().expect("a script"));
        // A runner gives the token only to steps that ask for it.
        shell.env_remove("GITHUB_TOKEN");
        for (name, value) in step["env"].as_object().expect("variables") {
            shell.env(name, self.text(value.as_str().expect("a text")));
        }
        let variables = [
            ("OUTPUT", "output"),
            ("STEP_SUMMARY", "summary"),
            ("EVENT_PATH", "event.json"),
        ];
        shell.envs(variables.map(|(name, file)| (format!("GITHUB_{name}"), folder.join(file))));
        let context = |name: &str, default| self.values.get(name).map_or(default, String::as_str);
        shell.envs([
            ("GITHUB_RUN_ID", context("github.run_id", "11")),
            ("GITHUB_EVENT_NAME", context("github.event_name", "push")),
            ("GITHUB_REF_TYPE", context("github.ref_type", "branch")),
            ("GITHUB_REF_NAME", context("github.ref_name", "main")),
            ("GITHUB_RUN_ATTEMPT", "2"),
            ("GITHUB_ACTION_PATH", ROOT),
        ]);
        shell
            .envs([("RUNNER_OS", "Linux"), ("RUNNER_ARCH", "X64")])
            .env("RUNNER_TEMP", self.temp());
        let output = shell.output().expect("bash starts");
        let id = step["id"].as_str().unwrap_or("last");
        for line in fs::read_to_string(folder.join("output"))
            .expect("outputs")
            .lines()
        {
            let (name, value) = line.split_once('=').expect("an output");
            self.values
                .insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
        }
        let printed = [output.stdout, output.stderr].concat();
        (
            output.status.code().unwrap_or(-1),
            String::from_utf8_lossy(&printed).into_owned(),
        )
    }

    pub(crate) fn output(&self, name: &str) -> &str {
        self.values
            .get(&format!("steps.{name}"))
            .map_or("", String::as_str)
    }
}

fn copy(from: &Path, to: &Path) -> bool {
    fs::create_dir_all(to).expect("a folder");
    Command::new("cp")
        .arg("-a")
        .arg(from.join("."))
        .arg(to)
        .status()
        .is_ok_and(|status| status.success())
}
