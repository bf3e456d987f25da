//! Describes an agent program as data: how it takes a prompt, its arguments in each role, what it may read and which
//! variables it is given. Glee ships profiles of known programs; a user writes one for a program of his own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::failure::FailureKind;
use super::role::{Effort, Role};
use crate::domain::is_default;

/// In `args` and in the arguments of a role, `{prompt}` stands for the prompt, `{prompt_file}` for the path of a file
/// with the prompt, `{model}` for the agent's model and `{session}` for the session that the call continues. Without
/// a model or a session, the argument is left out, together with an option before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// The name of the program.
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    /// What the profile rests on; absent for a profile of the user.
    #[serde(skip_serializing_if = "is_default")]
    pub known: Option<Known>,
    /// Who trains the models of the program, if they are of one vendor.
    #[serde(skip_serializing_if = "is_default")]
    pub vendor: String,
    /// How to log in: a sentence that follows "hint: ".
    #[serde(skip_serializing_if = "is_default")]
    pub login: String,
    /// How the program takes the prompt. Where no argument stands for it, an argument is added at the end.
    #[serde(skip_serializing_if = "is_default")]
    pub prompt: Option<PromptForm>,
    /// The arguments in every role. The arguments in the agent's `command` follow.
    #[serde(skip_serializing_if = "is_default")]
    pub args: Vec<String>,
    /// Further arguments in a role. A judge and an aggregator without an entry get those of a reviewer.
    #[serde(skip_serializing_if = "is_default")]
    pub roles: BTreeMap<Role, Vec<String>>,
    /// Where the answer stands in the program's output. Without `output` the whole output is the answer.
    #[serde(skip_serializing_if = "is_default")]
    pub output: Option<OutputForm>,
    /// Regular expressions. Lines at the end of the output that match one are the program's own words, such as a count of
    /// tokens, and no part of the answer.
    #[serde(skip_serializing_if = "is_default")]
    pub trailer: Vec<String>,
    /// Variables that Glee hands on to the program, beside those that every program gets. A name that ends with `*`
    /// stands for all variables with this prefix.
    #[serde(skip_serializing_if = "is_default")]
    pub pass: Vec<String>,
    /// Variables that Glee sets. The agent's `env` takes precedence.
    #[serde(skip_serializing_if = "is_default")]
    pub set: BTreeMap<String, String>,
    /// The folders of the program's settings and data, such as `~/.mine` or `${MINE_HOME:-~/.mine}/data`. The program
    /// reads them and writes to them in every role, and Glee creates them.
    #[serde(skip_serializing_if = "is_default")]
    pub folders: Vec<String>,
    /// Files like `folders`. Glee does not create them.
    #[serde(skip_serializing_if = "is_default")]
    pub files: Vec<String>,
    /// A variable with which the user chooses a cloud, and the folder with the cloud's credentials. If the variable is
    /// set, the program can read the folder.
    #[serde(skip_serializing_if = "is_default")]
    pub clouds: BTreeMap<String, String>,
    /// Regular expressions. A failure whose text matches one is a limit of the service that ends by itself.
    #[serde(skip_serializing_if = "is_default")]
    pub limits: Vec<String>,
    /// Regular expressions. A failure whose text matches one means that the program is not logged in.
    #[serde(skip_serializing_if = "is_default")]
    pub refusals: Vec<String>,
    /// Exit codes by the kind of the failure, such as `not_logged_in: [41]`.
    #[serde(skip_serializing_if = "is_default")]
    pub exit_codes: BTreeMap<String, Vec<i32>>,
    /// In every role, the program loads modules from these folders of the tree. If one of these folders exists, Glee
    /// does not start the program.
    #[serde(skip_serializing_if = "is_default")]
    pub loads: Vec<String>,
    /// The maximum length of a prompt. Some programs silently truncate longer prompts.
    #[serde(skip_serializing_if = "is_default")]
    pub longest_prompt: Option<PromptLength>,
    /// The option for a JSON Schema of the answer. If the name of an option ends with `=`, the option and its value
    /// form one argument.
    #[serde(skip_serializing_if = "is_default")]
    pub schema: String,
    /// The option for the session that a call continues.
    #[serde(skip_serializing_if = "is_default")]
    pub resume: String,
    /// The option for the model.
    #[serde(skip_serializing_if = "is_default")]
    pub model: String,
    /// The option for the effort.
    #[serde(skip_serializing_if = "is_default")]
    pub effort: String,
    /// The program's names for the efforts low, medium, high and max. Empty if the program has no effort setting.
    #[serde(skip_serializing_if = "is_default")]
    pub efforts: Vec<String>,
    /// Whether Glee requests high effort for an arbiter without a configured effort.
    #[serde(skip_serializing_if = "is_default")]
    pub raises_effort: bool,
    /// Argument lists, each of which makes the program print a help with its flags.
    #[serde(skip_serializing_if = "is_default")]
    pub helps: Vec<Vec<String>>,
    /// Flags without which a version of the program is refused.
    #[serde(skip_serializing_if = "is_default")]
    pub required: Vec<String>,
    /// Variables that name a file with this content: default settings for the program.
    #[serde(skip_serializing_if = "is_default")]
    pub settings: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Known {
    /// The program itself ran with this profile.
    Tested,
    /// The profile follows the program's documentation.
    Described,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PromptForm {
    Stdin,
    /// One argument; at most [`Profile::LONGEST_ARGUMENT`] bytes.
    Argument,
    /// The path of a file with the prompt.
    File,
}

/// JSON pointers, such as `/result`, into the program's output: one JSON object, or one object a line. Of several
/// places the last counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputForm {
    pub answer: String,
    /// The text of an error. An output with an error is no answer.
    #[serde(default, skip_serializing_if = "is_default")]
    pub error: String,
    /// The id of the session, for `{session}` in a later call.
    #[serde(default, skip_serializing_if = "is_default")]
    pub session: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PromptLength {
    Bytes(usize),
    Characters(usize),
}

impl PromptLength {
    pub fn most(self) -> usize {
        match self {
            Self::Bytes(most) | Self::Characters(most) => most,
        }
    }
}

impl Profile {
    /// Linux accepts no argument of more than 128 KiB with its final zero byte.
    pub const LONGEST_ARGUMENT: usize = (128 << 10) - 1;

    pub const PROMPT: &str = "{prompt}";
    pub const PROMPT_FILE: &str = "{prompt_file}";
    pub const MODEL: &str = "{model}";
    pub const SESSION: &str = "{session}";

    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// The arguments of a role, those of every role first.
    pub fn arguments(&self, role: Role) -> impl Iterator<Item = &String> {
        let of_reader = match role {
            Role::Judge | Role::Aggregator => self.roles.get(&Role::Reviewer),
            Role::Coder | Role::Reviewer => None,
        };
        let own = self.roles.get(&role).or(of_reader);
        self.args.iter().chain(own.into_iter().flatten())
    }

    pub fn effort_name(&self, effort: Effort) -> Option<&str> {
        self.efforts.get(effort as usize).map(String::as_str)
    }

    pub fn failure_of(&self, exit_code: i32) -> Option<FailureKind> {
        let found = self
            .exit_codes
            .iter()
            .find(|(_, codes)| codes.contains(&exit_code));
        found.and_then(|(kind, _)| failure_named(kind))
    }

    /// Returns what is wrong with the profile, as a sentence without a full stop. Regular expressions are not checked.
    pub fn problem(&self) -> Option<String> {
        if let Some(kind) = self
            .exit_codes
            .keys()
            .find(|kind| failure_named(kind).is_none())
        {
            return Some(format!(
                "`{kind}` in `exit_codes` is no kind of failure: use not_logged_in, rate_limited, over_quota, \
                 unavailable, bad_flags or max_turns"
            ));
        }
        if let Some(output) = &self.output
            && let Some(pointer) = [&output.answer, &output.error, &output.session]
                .into_iter()
                .find(|pointer| !pointer.is_empty() && !pointer.starts_with('/'))
        {
            return Some(format!(
                "`{pointer}` in `output` is no JSON pointer: write `/{pointer}`"
            ));
        }
        if self
            .output
            .as_ref()
            .is_some_and(|output| output.answer.is_empty())
        {
            return Some("`output` has no `answer`".to_owned());
        }
        if let Some(place) = self
            .folders
            .iter()
            .chain(&self.files)
            .chain(self.clouds.values())
            .find(|place| !place.starts_with(['/', '~', '$']))
        {
            return Some(format!(
                "`{place}` is neither an absolute path nor one in the home folder: write `~/{place}`"
            ));
        }
        let mut own = self.folders.iter().chain(&self.files);
        if let Some(place) = own.find(|place| matches!(place.as_str(), "~" | "~/" | "/")) {
            return Some(format!(
                "`{place}` would open the whole home folder: name the program's own folder in it"
            ));
        }
        if let Some(name) = self.pass.iter().find(|name| {
            let name = name.strip_suffix('*').unwrap_or(name);
            name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        }) {
            return Some(format!(
                "`{name}` in `pass` is no name of a variable: values stay in the environment, write only the name"
            ));
        }
        let [has_prompt, has_file] = [Self::PROMPT, Self::PROMPT_FILE].map(|what| {
            let mut all = self.args.iter().chain(self.roles.values().flatten());
            all.any(|word| word.contains(what))
        });
        match self.prompt {
            Some(PromptForm::Stdin) if has_prompt || has_file => Some(
                "`prompt` is `stdin`, but an argument stands for the prompt: remove one of the two"
                    .to_owned(),
            ),
            Some(PromptForm::File) if has_prompt => Some(
                "`prompt` is `file`, but an argument has `{prompt}`: write `{prompt_file}`"
                    .to_owned(),
            ),
            Some(PromptForm::Argument) if has_file => Some(
                "`prompt` is `argument`, but an argument has `{prompt_file}`: write `{prompt}`"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

fn failure_named(kind: &str) -> Option<FailureKind> {
    serde_json::from_value(json!({ "kind": kind })).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn profile(value: serde_json::Value) -> Profile {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn the_arguments_of_a_reviewer_are_those_of_every_role_that_only_reads() {
        let profile =
            profile(json!({"args": ["-p"], "roles": {"reviewer": ["--ask"], "coder": ["--auto"]}}));
        let of = |role| {
            profile
                .arguments(role)
                .cloned()
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(
            Role::ALL.map(of),
            ["-p --auto", "-p --ask", "-p --ask", "-p --ask"]
        );
    }

    #[test]
    fn a_profile_is_refused_with_what_to_write() {
        for (value, expected) in [
            (json!({}), None),
            (
                json!({"pass": ["A_KEY", "AWS_*"], "folders": ["~/.x", "${X_HOME:-~/.x}/y", "/opt/x"]}),
                None,
            ),
            (
                json!({"exit_codes": {"not_logged_in": [1]}, "args": ["-p", "{prompt}"]}),
                None,
            ),
            (
                json!({"exit_codes": {"sad": [1]}}),
                Some("`sad` in `exit_codes`"),
            ),
            (
                json!({"output": {"answer": "result"}}),
                Some("write `/result`"),
            ),
            (json!({"folders": [".x"]}), Some("write `~/.x`")),
            (json!({"pass": ["KEY=secret"]}), Some("write only the name")),
            (json!({"pass": ["*"]}), Some("no name of a variable")),
            (
                json!({"prompt": "stdin", "args": ["{prompt}"]}),
                Some("remove one of the two"),
            ),
            (
                json!({"prompt": "file", "args": ["{prompt}"]}),
                Some("write `{prompt_file}`"),
            ),
        ] {
            let problem = profile(value.clone()).problem();
            match expected {
                None => assert_eq!(problem, None, "{value}"),
                Some(part) => assert!(problem.unwrap().contains(part), "{value}"),
            }
        }
        assert_eq!(
            profile(json!({"exit_codes": {"not_logged_in": [41]}})).failure_of(41),
            Some(FailureKind::NotLoggedIn)
        );
    }
}
