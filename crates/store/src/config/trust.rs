//! A project's configuration file needs trust if the file runs programs or sets variables. Trust is the user's
//! approval. A command needs no trust if the whole command is the name of an embedded agent or of a known program.
//! Every other command needs trust. An adapter needs trust if the adapter is not the default adapter of the
//! command. A profile of an agent needs trust. A runner of demonstrations needs trust, unless its whole command is the
//! name of one that Glee knows: what it runs, it runs in the sandbox. Each of the settings `env`, `review.verify`,
//! `watch.notify`, `notify.command` and `advisories.url` needs trust, unless the value is empty or `none`. If a command names a file in the tree, the file needs trust.
//! Templates in `.glee/prompts` need trust too. Rules in `.glee/rules` contain only data, so the rules need no
//! trust. The trust hash covers only the content that needs trust. Changes to comments, to the order of keys, or
//! to settings that need no trust require no new approval. The state folder contains one record for each approved
//! hash of a project.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::programs::KNOWN_PROGRAMS;
use super::schema::values::words;
use super::settings::Runner;
use crate::config::files::scripts::{self, Roots};
use crate::config::layers::layer::{GivenAgent, Layer};
use crate::config::{error::TrustError, files::yaml::flow, layers::resolve::adapter_of};
use glee_model::domain::AgentName;
use glee_protocol::{prompts, text::printable};
use glee_system::{files, private};

/// The part of a project's configuration file that needs trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntrustedConfig {
    /// `blake3:` and 64 hexadecimal digits.
    pub hash: String,
    /// Lines for display. Each line describes a program that the file runs, or a variable or setting that the
    /// file sets.
    pub runs: Vec<String>,
    /// The lines of `runs` that are missing in the user's last approval. `changed` is empty if the user never
    /// approved the file.
    pub changed: Vec<String>,
}

/// Returns the part of a project's configuration that needs trust, or `None` if nothing needs trust.
pub fn needed(project: &Layer, roots: Option<&Roots>) -> Option<UntrustedConfig> {
    let mut content = Map::new();
    let mut runs = Vec::new();
    let mut commands: Vec<Vec<String>> = Vec::new();
    for agent in &project.agents {
        let relevant = relevant(agent, &mut runs);
        if !relevant.is_empty() {
            commands.extend(relevant.get("command").map(words));
            let variables = relevant
                .get("env")
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(Map::values);
            commands.push(
                variables
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect(),
            );
            content.insert(format!("agents.{}", agent.name), Value::Object(relevant));
        }
    }
    for key in ["notify.command", "review.verify", "watch.notify"] {
        let is_set = |value: &Value| *value != json!([]) && *value != json!("none");
        let Some(given) = project.values.get(key).filter(|given| is_set(&given.value)) else {
            continue;
        };
        let is_one = key == "notify.command";
        let commands_of_key = if is_one {
            std::slice::from_ref(&given.value)
        } else {
            list(&given.value)
        };
        for command in commands_of_key {
            runs.push(format!("{} ({key})", command_line(command)));
            commands.push(words(command));
        }
        content.insert(key.to_owned(), given.value.clone());
    }
    let runners = project.values.get("review.runners");
    let runners = runners.and_then(|given| given.value.as_object());
    let mut runners = runners.cloned().unwrap_or_default();
    runners.retain(|_, runner| !Runner::is_known(&words(&runner["command"])));
    for (name, runner) in &runners {
        let command = &runner["command"];
        runs.push(format!(
            "{} (review.runners, `{name}`)",
            command_line(command)
        ));
        commands.push(words(command));
    }
    if !runners.is_empty() {
        content.insert("review.runners".to_owned(), Value::Object(runners));
    }
    if let Some(given) = project
        .values
        .get("advisories.url")
        .filter(|given| given.value != json!("none"))
    {
        let url = flow(&given.value);
        runs.push(format!(
            "the packages that findings name are sent to {url} (advisories.url)"
        ));
        content.insert("advisories.url".to_owned(), given.value.clone());
    }
    if let Some(roots) = roots {
        let files = roots.files(commands.iter().map(Vec::as_slice));
        let templates = templates(roots.project());
        for (key, what, hashes) in [
            ("files", "a file that a command names", files),
            ("prompts", "a template of prompts", templates),
        ] {
            runs.extend(hashes.iter().map(|(path, hash)| {
                format!(
                    "{path} ({what}, {})",
                    hash.chars().take(12).collect::<String>()
                )
            }));
            if !hashes.is_empty() {
                content.insert(key.to_owned(), json!(hashes));
            }
        }
    }
    content.sort_keys();
    let hash = blake3::hash(Value::Object(content).to_string().as_bytes());
    let runs: Vec<String> = runs.iter().map(printable::line).collect();
    (!runs.is_empty()).then(|| UntrustedConfig {
        hash: format!("blake3:{hash}"),
        runs,
        changed: Vec::new(),
    })
}

/// Returns the agents for which a project's configuration names a program, an adapter or variables that need trust.
pub fn agents(project: &Layer) -> BTreeSet<AgentName> {
    let agents = project
        .agents
        .iter()
        .filter(|agent| !relevant(agent, &mut Vec::new()).is_empty());
    agents
        .map(|agent| AgentName::from(agent.name.as_str()))
        .collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the path and the hash of each template in a project. For a file that cannot be read, the result
/// contains a fixed text instead of the hash.
fn templates(project: &Path) -> BTreeMap<String, String> {
    let found = prompts::names().filter_map(|name| {
        let path = format!(".glee/prompts/{name}");
        let place = project.join(&path);
        place.symlink_metadata().ok()?;
        let hash = if place.is_file() {
            scripts::hash(&place).ok()
        } else {
            None
        };
        // The text `no file that can be read` must not change, because recorded trust hashes depend on this
        // text.
        Some((
            path,
            hash.unwrap_or_else(|| "no file that can be read".to_owned()),
        ))
    });
    found.collect()
}

fn relevant(agent: &GivenAgent, runs: &mut Vec<String>) -> Map<String, Value> {
    let mut relevant = Map::new();
    let given = |key: &str| agent.values.get(key).map(|given| &given.value);
    let command = given("command").map(words);
    let ordinary = match command.as_deref() {
        None => true,
        Some([program]) => {
            program.starts_with("builtin:") || KNOWN_PROGRAMS.contains(&program.as_str())
        }
        Some(_) => false,
    };
    if let Some(command) = command.as_ref().filter(|_| !ordinary) {
        relevant.insert("command".to_owned(), json!(command));
        let is_address = adapter_of(command) == "address";
        let gets = if is_address { "gets the code, " } else { "" };
        runs.push(format!(
            "{} ({gets}agent `{}`)",
            command_line(&json!(command)),
            agent.name
        ));
    }
    // Only the default adapter adds the arguments that confine the program to the agent's role.
    let own = command
        .as_ref()
        .filter(|_| ordinary)
        .map(|command| adapter_of(command));
    if let Some(adapter) =
        given("adapter").filter(|adapter| Some(adapter.as_str().unwrap_or_default()) != own)
    {
        relevant.insert("adapter".to_owned(), adapter.clone());
        if ordinary {
            runs.push(format!(
                "agent `{}` through the adapter {}",
                agent.name,
                flow(adapter)
            ));
        }
    }
    if let Some(profile) = given("profile") {
        relevant.insert("profile".to_owned(), profile.clone());
        runs.push(format!(
            "{} (the profile of agent `{}`)",
            flow(profile),
            agent.name
        ));
        for (key, what) in [
            ("pass", "is handed on to"),
            ("folders", "is opened to"),
            ("files", "is opened to"),
        ] {
            let listed = words(&profile[key]);
            let listed = listed.iter();
            runs.extend(listed.map(|word| format!("{word} ({what} agent `{}`)", agent.name)));
        }
    }
    if let Some(Value::Object(variables)) = given("env").filter(|env| *env != &json!({})) {
        let mut variables = variables.clone();
        variables.sort_keys();
        for (name, value) in &variables {
            runs.push(format!(
                "{name}={} (set for agent `{}`)",
                flow(value),
                agent.name
            ));
        }
        relevant.insert("env".to_owned(), Value::Object(variables));
    }
    relevant.sort_keys();
    relevant
}

pub fn command_line(command: &Value) -> String {
    match command {
        Value::String(text) => text.clone(),
        _ => {
            let words = words(command);
            shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRecord {
    pub project: PathBuf,
    pub hash: String,
    pub runs: Vec<String>,
    pub at: jiff::Timestamp,
}

#[derive(Clone, Debug)]
pub struct Store {
    state: PathBuf,
}

impl Store {
    pub fn new(state: &Path) -> Self {
        Self {
            state: state.to_owned(),
        }
    }

    pub fn trusts(&self, project: &Path, hash: &str) -> Result<bool, TrustError> {
        Ok(self.of(project)?.iter().any(|record| record.hash == hash))
    }

    /// Returns the lines of `runs` that are missing in the project's last trust record. The list is empty if the
    /// project has no trust record.
    pub fn changed(&self, project: &Path, runs: &[String]) -> Result<Vec<String>, TrustError> {
        let Some(last) = self.of(project)?.pop() else {
            return Ok(Vec::new());
        };
        Ok(runs
            .iter()
            .filter(|line| !last.runs.contains(line))
            .cloned()
            .collect())
    }

    pub fn trust(&self, project: &Path, untrusted: &UntrustedConfig) -> Result<(), TrustError> {
        self.refuse_links()?;
        let record = TrustRecord {
            project: project.to_owned(),
            hash: untrusted.hash.clone(),
            runs: untrusted.runs.clone(),
            at: jiff::Timestamp::now(),
        };
        let text = serde_json::to_vec_pretty(&record).map_err(io::Error::other);
        let written =
            text.and_then(|text| private::write(&self.file(project, &record.hash), &text));
        written.map_err(|error| TrustError::Write(self.folder(), error))
    }

    pub fn revoke(&self, project: &Path) -> Result<usize, TrustError> {
        let records = self.of(project)?;
        for record in &records {
            let file = self.file(project, &record.hash);
            fs::remove_file(&file).map_err(|error| TrustError::Write(file, error))?;
        }
        Ok(records.len())
    }

    pub fn list(&self) -> Result<Vec<TrustRecord>, TrustError> {
        self.refuse_links()?;
        let folder = self.folder();
        let unreadable = |error| TrustError::Read(folder.clone(), error);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(error)),
        };
        let mut records = Vec::new();
        for entry in entries {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let text = files::read(&path).map_err(unreadable)?;
            // A record that is invalid or has the wrong file name is ignored.
            if let Ok(record) = serde_json::from_slice::<TrustRecord>(&text)
                && self.file(&record.project, &record.hash) == path
            {
                records.push(record);
            }
        }
        records.sort_by(|a, b| (&a.project, a.at).cmp(&(&b.project, b.at)));
        Ok(records)
    }

    fn of(&self, project: &Path) -> Result<Vec<TrustRecord>, TrustError> {
        Ok(self
            .list()?
            .into_iter()
            .filter(|record| record.project == project)
            .collect())
    }

    fn folder(&self) -> PathBuf {
        self.state.join("trust")
    }

    fn file(&self, project: &Path, hash: &str) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        hasher
            .update(project.as_os_str().as_encoded_bytes())
            .update(b"\0")
            .update(hash.as_bytes());
        self.folder()
            .join(format!("{}.json", hasher.finalize().to_hex()))
    }

    fn refuse_links(&self) -> Result<(), TrustError> {
        for path in [self.state.clone(), self.folder()] {
            if path
                .symlink_metadata()
                .is_ok_and(|found| found.is_symlink())
            {
                return Err(TrustError::Link(path));
            }
        }
        Ok(())
    }
}

pub(crate) fn is_hash(text: &str) -> bool {
    text.strip_prefix("blake3:").is_some_and(|digits| {
        digits.len() == 64
            && digits
                .bytes()
                .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::config::Owner;
    use crate::config::error::TrustError;
    use crate::config::layers::layer;

    fn of(text: &str) -> Option<UntrustedConfig> {
        needed(
            &layer::from_text(Owner::Project, Some("c.yml"), text).unwrap(),
            None,
        )
    }

    fn runs(text: &str) -> Vec<String> {
        of(text).map(|untrusted| untrusted.runs).unwrap_or_default()
    }

    #[test]
    fn what_runs_nothing_needs_no_trust() {
        for text in [
            "",
            "review: {rounds: 3, verify: []}",
            "agents: [{name: a, command: claude, role: coder, model: opus, domain: [x], focus: [y], timeout: 1m}]",
            "agents: [{name: a, command: codex, adapter: codex, role: coder, env: {}}]",
            "agents: [{name: a, command: 'builtin:rules', adapter: builtin, role: reviewer}]",
            "agents: [{name: a, role: judge}]",
            "notify: {command: none, after: 1m}",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn programs_arguments_adapters_variables_and_checks_need_it() {
        for (text, expected) in [
            (
                "agents: [{name: a, command: ./a.sh}]",
                vec!["./a.sh (agent `a`)"],
            ),
            (
                "agents: [{name: a, command: semgrep}]",
                vec!["semgrep (agent `a`)"],
            ),
            (
                "agents: [{name: a, command: /usr/bin/claude}]",
                vec!["/usr/bin/claude (agent `a`)"],
            ),
            (
                "agents: [{name: a, command: 'http://127.0.0.1:1/v1', model: m}]",
                vec!["http://127.0.0.1:1/v1 (gets the code, agent `a`)"],
            ),
            (
                "agents: [{name: a, command: 'openai: KEY', model: m}]",
                vec!["openai: KEY (gets the code, agent `a`)"],
            ),
            (
                "agents: [{name: a, command: claude --yolo}]",
                vec!["claude --yolo (agent `a`)"],
            ),
            (
                "agents: [{name: a, command: [sh, -c, 'x y']}]",
                vec!["sh -c 'x y' (agent `a`)"],
            ),
            (
                "agents: [{name: a, command: [sh, \"x\\ny\"]}]",
                vec!["sh 'x y' (agent `a`)"],
            ),
            (
                "agents: [{name: a, command: claude, adapter: text}]",
                vec!["agent `a` through the adapter text"],
            ),
            (
                "agents: [{name: a, adapter: claude}]",
                vec!["agent `a` through the adapter claude"],
            ),
            (
                "agents: [{name: a, command: claude, env: {B: x, A: '1'}}]",
                vec!["A=\"1\" (set for agent `a`)", "B=x (set for agent `a`)"],
            ),
            (
                "review: {verify: [cargo test, [make, 'a b']]}",
                vec!["cargo test (review.verify)", "make 'a b' (review.verify)"],
            ),
            (
                "review: {runners: {py: {command: 'python3 -m unittest -v {files}', folder: tests}}}",
                vec!["python3 -m unittest -v '{files}' (review.runners, `py`)"],
            ),
            (
                "review: {runners: {known: {command: pytest, folder: t}, own: {command: 'make {files}', folder: t}}}",
                vec!["make '{files}' (review.runners, `own`)"],
            ),
            (
                "review: {runners: {known: {command: pytest, folder: t}}}",
                vec![],
            ),
            (
                "notify: {command: ./tell 'a b'}",
                vec!["./tell 'a b' (notify.command)"],
            ),
        ] {
            assert_eq!(runs(text), expected, "{text}");
        }
    }

    #[test]
    fn the_hash_covers_what_runs_and_nothing_else() {
        let base = of("agents: [{name: a, command: x y}]\nreview: {verify: [z]}").unwrap();
        assert!(is_hash(&base.hash));
        for same in [
            "# c\nreview:\n  rounds: 2\n  verify: [[z]]\nagents:\n  - role: coder\n    command: [x, y]\n    name: a\n",
            "agents: [{name: b, command: claude}, {name: a, command: x  y}]\nreview: {verify: [z]}",
        ] {
            assert_eq!(of(same).unwrap().hash, base.hash, "{same}");
        }
        for other in [
            "agents: [{name: b, command: x y}]\nreview: {verify: [z]}",
            "agents: [{name: a, command: [x y]}]\nreview: {verify: [z]}",
            "agents: [{name: a, command: x y}]",
            "agents: [{name: a, command: x y, adapter: json}]\nreview: {verify: [z]}",
            "agents: [{name: a, command: x y, env: {A: b}}]\nreview: {verify: [z]}",
            "agents: [{name: a, command: x y}]\nreview: {verify: [z]}\nnotify: {command: w}",
        ] {
            assert_ne!(of(other).unwrap().hash, base.hash, "{other}");
        }
    }

    #[test]
    fn trust_holds_for_one_project_and_one_hash_until_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(&folder.path().join("state"));
        let here = Path::new("/here");
        let there = Path::new("/there");
        let content = of("agents: [{name: a, command: x}]").unwrap();
        assert!(!store.trusts(here, &content.hash).unwrap());
        store.trust(here, &content).unwrap();
        assert!(store.trusts(here, &content.hash).unwrap());
        assert!(!store.trusts(there, &content.hash).unwrap());
        assert!(!store.trusts(here, "blake3:0").unwrap());
        assert_eq!(
            store
                .list()
                .unwrap()
                .iter()
                .map(|record| &record.runs)
                .collect::<Vec<_>>(),
            [&content.runs]
        );
        assert_eq!(store.revoke(here).unwrap(), 1);
        assert_eq!(store.list().unwrap(), []);
    }

    #[cfg(unix)]
    #[test]
    fn records_are_private_and_links_are_refused() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        let content = of("agents: [{name: a, command: x}]").unwrap();
        store.trust(Path::new("/p"), &content).unwrap();
        let file = store.file(Path::new("/p"), &content.hash);
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        // A record that was moved to the file name of another project is ignored.
        fs::rename(&file, store.file(Path::new("/q"), &content.hash)).unwrap();
        assert_eq!(store.list().unwrap(), []);
        let link = folder.path().join("link");
        symlink(folder.path(), &link).unwrap();
        assert!(matches!(
            Store::new(&link).trust(Path::new("/p"), &content),
            Err(TrustError::Link(_))
        ));
    }
}
