//! Merges the layers of the configuration. Higher layers override lower layers, agents are merged by name, and
//! every value keeps its origin.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Deserialize as _;
use serde_json::{Value, json};

use super::layer::{GivenAgent, Layer, Setting};
use crate::config::programs::{self, KNOWN_PROGRAMS};
use crate::config::schema::address::{self, ModelAddress};
use crate::config::schema::{self, BUILTINS, SettingKey, units};
use crate::config::settings::{AgentForm, Settings};
use crate::config::{
    error::ConfigError, files::yaml::flow, schema::suggest::closest, schema::values::words,
};
use glee_model::domain::Role;

/// All layers except the defaults, from the lowest to the highest.
#[derive(Clone, Debug, Default)]
pub struct ConfigLayers {
    pub user: Layer,
    pub project: Layer,
    pub variables: Layer,
    pub flags: Layer,
}

#[derive(Clone, Debug)]
pub struct Resolved {
    /// The list of agents begins with the project's agents, and the user's agents follow.
    pub settings: Settings,
    pub values: BTreeMap<String, Setting>,
}

pub fn resolve(layers: &ConfigLayers) -> Result<Resolved, ConfigError> {
    let mut values = BTreeMap::new();
    for key in schema::KEYS.iter() {
        values.insert(key.name.clone(), value(layers, key)?);
    }
    disjoint(&mut values)?;
    let plain = values
        .iter()
        .map(|(key, setting)| (key.clone(), setting.value.clone()));
    let mut settings = schema::typed(plain).expect("every layer was checked");
    for given in layers.project.agents.iter().chain(&layers.user.agents) {
        if settings
            .agents
            .iter()
            .any(|known| known.name.0 == given.name)
        {
            continue;
        }
        let keys = agent(layers, given)?;
        let plain = keys
            .iter()
            .map(|(key, setting)| ((*key).to_owned(), setting.value.clone()));
        let plain = plain.chain([("name".to_owned(), json!(given.name))]);
        settings
            .agents
            .push(AgentForm::deserialize(plain.collect::<Value>()).expect("the agent is complete"));
        values.extend(
            keys.into_iter()
                .map(|(key, setting)| (format!("agents.{}.{key}", given.name), setting)),
        );
    }
    Ok(Resolved { settings, values })
}

/// The value that only the user can set: with it, findings do not block that would block otherwise.
const OF_USER: (&str, &str) = ("review.demonstrations", "required");

fn value(layers: &ConfigLayers, key: &'static SettingKey) -> Result<Setting, ConfigError> {
    let name = key.name.as_str();
    let [user, project, variable, flag] = [
        &layers.user,
        &layers.project,
        &layers.variables,
        &layers.flags,
    ]
    .map(|layer| layer.values.get(name));
    // A flag, like the project's file, is allowed to set a key that is marked `@own`, because Glee passes the
    // recorded settings of a run as flags.
    if let Some(Setting { origin, .. }) = user.or(variable).filter(|_| key.is_of_project()) {
        return Err(ConfigError::OfProject {
            place: origin.clone(),
            key: name.to_owned(),
        });
    }
    if let Some(Setting { origin, value }) = project.filter(|given| {
        let (guarded, value) = OF_USER;
        key.is_of_user() || name == guarded && given.value == value
    }) {
        let is_value = !key.is_of_user();
        return Err(ConfigError::OfUser {
            place: origin.clone(),
            key: name.to_owned(),
            value: is_value.then(|| flow(value)),
        });
    }
    // Who runs no tests runs none of a project either.
    let is_refused = name == OF_USER.0 && user.is_some_and(|given| given.value == "off");
    let project = project.filter(|_| !is_refused);
    let default = Setting::by_default(key.default.clone());
    let below = user.unwrap_or(&default);
    let files = match project {
        Some(given) if key.is_guarded() => guard(key, name, given, below, &default.value)?,
        given => given.unwrap_or(below),
    };
    Ok(flag.or(variable).unwrap_or(files).clone())
}

/// Returns the stricter value of `project` (the project's value) and `below` (the user's value or the default).
/// Fails if the project's value is looser than both the default and the user's value.
fn guard<'a>(
    key: &SettingKey,
    name: &str,
    project: &'a Setting,
    below: &'a Setting,
    default: &Value,
) -> Result<&'a Setting, ConfigError> {
    let looser = |value: &Value, than: &Value| amount(key, value) > amount(key, than);
    if !looser(&project.value, &below.value) {
        return Ok(project);
    }
    if !looser(&project.value, default) {
        return Ok(below);
    }
    let bound = if looser(&below.value, default) {
        &below.value
    } else {
        default
    };
    let value = flow(&project.value);
    let bound = flow(bound);
    Err(ConfigError::Looser {
        place: project.origin.clone(),
        key: name.to_owned(),
        value,
        bound,
    })
}

/// Converts a value to a number: a looser value becomes a larger number. A duration is converted to
/// milliseconds, a size to bytes, and a number to millionths. The value `false` is looser than `true`, and an
/// earlier word of an enum is looser than a later word. The value `none` is the loosest value.
fn amount(key: &SettingKey, value: &Value) -> u128 {
    match value {
        Value::Bool(strict) => u128::from(!strict),
        Value::String(none) if none == "none" => u128::MAX,
        Value::String(text) => {
            let words = key.words();
            let word = words
                .iter()
                .position(|word| word == text)
                .map(|at| (words.len() - at) as u128);
            word.or_else(|| units::duration(text).map(|time| time.as_millis()))
                .or_else(|| units::size(text).map(u128::from))
                .unwrap_or_default()
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "caps and counts are positive"
        )]
        value => value.as_f64().map_or(0, |number| (number * 1e6) as u128),
    }
}

const MANDATORY: [&str; 2] = ["review.opinions.mandatory", "review.issues.mandatory"];
const OPTIONAL: [&str; 2] = ["review.opinions.optional", "review.issues.optional"];

/// The lists that may not have a tag of this list: a tag is mandatory or optional.
pub fn opposite_lists(key: &str) -> &'static [&'static str] {
    match key {
        _ if MANDATORY.contains(&key) => &OPTIONAL,
        _ if OPTIONAL.contains(&key) => &MANDATORY,
        _ => &[],
    }
}

/// The tags of a list that are not in `taken`.
pub fn tags_without(list: &Value, taken: &Value) -> Vec<String> {
    let taken = words(taken);
    let mut left = words(list);
    left.retain(|tag| !taken.iter().any(|other| other.eq_ignore_ascii_case(tag)));
    left
}

/// Ensures that no tag is both mandatory and optional. A tag in both lists remains only in the list from the
/// higher layer. Fails if two lists from the same layer contain the same tag.
fn disjoint(values: &mut BTreeMap<String, Setting>) -> Result<(), ConfigError> {
    for mandatory in MANDATORY {
        for optional in OPTIONAL {
            let [one, other] = [mandatory, optional].map(|list| &values[list]);
            let (above, below) = match one.origin.rank().cmp(&other.origin.rank()) {
                Ordering::Less => (optional, mandatory),
                Ordering::Greater => (mandatory, optional),
                Ordering::Equal => {
                    let left = tags_without(&one.value, &other.value);
                    let mut tags = words(&one.value).into_iter();
                    if let Some(tag) = tags.find(|tag| !left.contains(tag)) {
                        return Err(ConfigError::BothWays {
                            tag,
                            mandatory,
                            optional,
                        });
                    }
                    continue;
                }
            };
            let left = tags_without(&values[below].value, &values[above].value);
            if let Some(setting) = values.get_mut(below) {
                setting.value = json!(left);
            }
        }
    }
    Ok(())
}

fn agent(
    layers: &ConfigLayers,
    given: &GivenAgent,
) -> Result<BTreeMap<&'static str, Setting>, ConfigError> {
    let [mut values, of_project] = [&layers.user, &layers.project].map(|layer| {
        let agent = layer.agents.iter().find(|agent| agent.name == given.name);
        agent.map(|agent| agent.values.clone()).unwrap_or_default()
    });
    for (key, mut setting) in of_project {
        if key == "timeout" {
            let total =
                schema::find("limits.call_timeout").expect("`limits.call_timeout` is a key");
            let default = Setting::by_default(total.default.clone());
            let below = values
                .get(key)
                .or_else(|| layers.user.values.get("limits.call_timeout"))
                .unwrap_or(&default);
            setting = guard(
                total,
                &format!("agents.{}.timeout", given.name),
                &setting,
                below,
                &default.value,
            )?
            .clone();
        }
        values.insert(key, setting);
    }
    complete(given, &mut values)?;
    Ok(values)
}

fn complete(
    given: &GivenAgent,
    values: &mut BTreeMap<&'static str, Setting>,
) -> Result<(), ConfigError> {
    let name = given.name.clone();
    let place = given.place.clone();
    let Some(command) = values.get("command").map(|setting| words(&setting.value)) else {
        return Err(ConfigError::Incomplete {
            place,
            name,
            missing: "command",
        });
    };
    let Some(role) = values
        .get("role")
        .and_then(|setting| Role::deserialize(&setting.value).ok())
    else {
        return Err(ConfigError::Incomplete {
            place,
            name,
            missing: "role",
        });
    };
    let guessed = adapter_of(&command);
    let has_profile = values.contains_key("profile");
    let default = if has_profile && guessed != "builtin" {
        "text"
    } else {
        guessed
    };
    let adapter = values
        .entry("adapter")
        .or_insert_with(|| Setting::by_default(json!(default)))
        .value
        .clone();
    if has_profile && adapter != "text" {
        return Err(ConfigError::ProfileOfAdapter {
            place,
            name,
            adapter: adapter.as_str().unwrap_or_default().to_owned(),
        });
    }
    let shipped = programs::of_command(&command).filter(|_| !has_profile && adapter == "text");
    if let Some(profile) = shipped {
        let setting = Setting::by_default(json!(profile.name));
        values.insert("profile", setting);
    }
    let is_own = |adapter: &str| matches!(adapter, "builtin" | "address");
    if (is_own(guessed) || adapter.as_str().is_some_and(is_own)) && adapter != guessed {
        return Err(ConfigError::Adapter {
            place,
            name,
            command: command.join(" "),
        });
    }
    if guessed == "address" {
        let model = values
            .get("model")
            .and_then(|setting| setting.value.as_str());
        if let Err(error) = ModelAddress::check(&command, role, model) {
            return Err(ConfigError::Address { place, name, error });
        }
    }
    if guessed == "builtin" {
        let kind = command[0].trim_start_matches("builtin:");
        match BUILTINS.iter().find(|(builtin, _)| *builtin == kind) {
            Some((_, its)) if *its == role && command.len() == 1 => {}
            Some((_, its)) if command.len() == 1 => {
                return Err(ConfigError::BuiltinRole {
                    place,
                    name,
                    kind: kind.to_owned(),
                    its: *its,
                    role,
                });
            }
            _ => {
                let suggestion = closest(kind, BUILTINS.map(|(builtin, _)| builtin));
                return Err(ConfigError::Builtin {
                    place,
                    name,
                    command: command.join(" "),
                    suggestion: suggestion.map(|kind| format!("builtin:{kind}")),
                });
            }
        }
    }
    Ok(())
}

pub fn adapter_of(command: &[String]) -> &'static str {
    let program = command.first().map_or("", String::as_str);
    if program.starts_with("builtin:") {
        return "builtin";
    }
    if address::is_address(program) {
        return "address";
    }
    let stem = programs::stem(program);
    KNOWN_PROGRAMS
        .into_iter()
        .find(|known| *known == stem)
        .unwrap_or("text")
}

/// Returns `value` for display, and masks the values of environment variables.
pub fn shown(key: &str, value: &Value) -> Value {
    match value {
        Value::Object(variables) if key.starts_with("agents.") && key.ends_with(".env") => {
            variables
                .keys()
                .map(|name| (name.clone(), json!("***")))
                .collect()
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use super::super::layer;
    use super::*;
    use crate::config::choices::DebateRounds;
    use crate::config::origin::Owner;
    use crate::config::settings::ReviewSettings;
    use glee_model::domain::{Advice as _, Agent, AgentName};

    fn layers(user: &str, project: &str) -> ConfigLayers {
        ConfigLayers {
            user: layer::from_text(Owner::User, Some("user.yml"), user).unwrap(),
            project: layer::from_text(Owner::Project, Some("project.yml"), project).unwrap(),
            ..ConfigLayers::default()
        }
    }

    fn value(layers: &ConfigLayers, key: &str) -> String {
        let resolved = resolve(layers).unwrap();
        let setting = &resolved.values[key];
        format!(
            "{} ({})",
            crate::config::flow(&setting.value),
            setting.origin.label()
        )
    }

    fn refusal(user: &str, project: &str) -> String {
        let error = resolve(&layers(user, project)).unwrap_err();
        format!("{error} | {}", error.hint().unwrap_or_default())
    }

    #[test]
    fn the_defaults_are_settings() {
        let settings = resolve(&ConfigLayers::default()).unwrap().settings;
        assert_eq!(settings, Settings::default());
        let lines: Vec<String> = settings
            .recorded()
            .iter()
            .map(|(key, value)| format!("{key} = {}", crate::config::flow(value)))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        advisories.path = []
        advisories.url = none
        budget.calls = none
        budget.ci_usd = 5.0
        budget.demonstrations = 40
        budget.duration = 1h
        budget.month_usd = none
        budget.request_usd = none
        budget.tokens = none
        budget.usd = none
        limits.backoff = 1s
        limits.call_timeout = 30m
        limits.first_output_timeout = 2m
        limits.idle_timeout = 10m
        limits.kill_grace = 3s
        limits.max_line_size = 8MiB
        limits.max_output_size = 64MiB
        limits.retries = 3
        notify.after = 30s
        notify.command = none
        notify.terminal = auto
        pr.author_may_rule = false
        pr.comment_on = all
        pr.drafts = true
        pr.max_comments = 30
        pr.mode = warn
        pr.replies_object = true
        project.id = none
        redaction.block_private_keys = true
        redaction.secrets = true
        review.compare = auto
        review.confirm_above = 100
        review.confirm_above_usd = none
        review.consensus.policy = panel
        review.consensus.validate = off
        review.context = blocks
        review.debate = off
        review.demonstrations = offered
        review.fix.scope = any
        review.guidelines = auto
        review.issues.mandatory = [HIGH]
        review.issues.optional = [MEDIUM, LOW]
        review.jobs = 8
        review.judge.escalate_to = human
        review.judge.panel = []
        review.judge.require_evidence = true
        review.language = none
        review.max_file_size = 1MiB
        review.max_shard_size = 128KiB
        review.older = show
        review.on_dispute.default = judge
        review.on_dispute.prompt_user = true
        review.opinions.mandatory = [MUST]
        review.opinions.optional = [SHOULD]
        review.quorum = all
        review.recheck = true
        review.reuse = true
        review.reviewers = all
        review.rounds = 1
        review.runners = {}
        review.skipped = auto
        review.verify = []
        rulings.max_age.accepted_risk = none
        rulings.max_age.deferred = none
        rulings.max_age.discarded = none
        rulings.max_age.duplicate = none
        rulings.max_age.enforced = none
        rulings.max_age.not_mandatory = none
        rulings.max_age.refuted = none
        sandbox = auto
        server = none
        ui.hyperlink = auto
        ui.pager = auto
        version = 1
        watch.agents = []
        watch.arbitrate = false
        watch.clarify_timeout = 5m
        watch.debounce = 2s
        watch.focus_areas = [Security vulnerabilities, Spec compliance, Integration correctness]
        watch.idle_review = 15m
        watch.max_words = 200
        watch.notify = []
        watch.pause = signal
        watch.reviewers = []
        ");
        assert_eq!(Settings::of_record(&settings.recorded()), settings);
    }

    #[test]
    fn what_a_run_records_is_what_it_was_planned_with() {
        let project = "\
review: {rounds: 3, debate: 2, quorum: 1, reviewers: first, verify: [make], judge: {escalate_to: discard}}
budget: {usd: 1.5, duration: 90s}
limits: {max_output_size: 3MB}
";
        let settings = resolve(&layers("", project)).unwrap().settings;
        let mut record = settings.recorded();
        assert_eq!(Settings::of_record(&record), settings);
        assert_eq!(settings.review.debate, DebateRounds::Two);
        assert_eq!(
            (
                &record["budget.duration"],
                &record["limits.max_output_size"]
            ),
            (&json!("1m30s"), &json!("3000000B"))
        );
        // Unknown keys are ignored; missing keys have their defaults.
        record.insert("review.moods".to_owned(), json!("bright"));
        record.remove("review.debate");
        let review = ReviewSettings {
            debate: DebateRounds::Off,
            ..settings.review.clone()
        };
        assert_eq!(
            Settings::of_record(&record),
            Settings { review, ..settings }
        );
    }

    #[test]
    fn the_last_layer_wins_and_every_value_knows_its_origin() {
        let text = |rounds: u32| format!("review:\n  rounds: {rounds}\n");
        let mut layers = ConfigLayers::default();
        let key = "review.rounds";
        assert_eq!(value(&layers, key), "1 (default)");
        layers.user = layer::from_text(Owner::User, Some("user.yml"), &text(2)).unwrap();
        assert_eq!(value(&layers, key), "2 (user.yml:2)");
        layers.project = layer::from_text(Owner::Project, Some("project.yml"), &text(3)).unwrap();
        assert_eq!(value(&layers, key), "3 (project.yml:2)");
        layers.variables =
            layer::from_variables(&[("GLEE_REVIEW_ROUNDS".to_owned(), "4".to_owned())]).unwrap();
        assert_eq!(value(&layers, key), "4 (GLEE_REVIEW_ROUNDS)");
        layers.flags = layer::from_flags(&[(key.to_owned(), json!(5))]).unwrap();
        assert_eq!(value(&layers, key), "5 (command line)");
    }

    #[test]
    fn lists_replace_and_agents_merge_by_name() {
        let user = "\
agents:
  - {name: mine, command: claude, role: reviewer, focus: [security]}
  - {name: both, command: codex, role: reviewer, focus: [a, b], model: m}
review: {issues: {mandatory: [HIGH, MEDIUM], optional: [LOW]}}
";
        let project = "\
agents:
  - {name: theirs, command: gemini, role: coder, timeout: 1m, env: {A: b}}
  - {name: both, focus: [c]}
review: {issues: {mandatory: [HIGH]}}
";
        let layers = layers(user, project);
        let settings = resolve(&layers).unwrap().settings;
        let agent = |name: &str, role, command: &str| Agent {
            name: AgentName::from(name),
            role,
            command: vec![command.to_owned()],
            adapter: command.to_owned(),
            domain: Vec::new(),
            focus: Vec::new(),
            model: None,
            effort: None,
            env: BTreeMap::new(),
            timeout: None,
            backup: None,
            price: None,
            vendor: None,
            profile: None,
            reads: None,
        };
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|&word| word.to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            settings.agents,
            [
                Agent {
                    timeout: Some(Duration::from_secs(60)),
                    env: BTreeMap::from([("A".to_owned(), "b".to_owned())]),
                    ..agent("theirs", Role::Coder, "gemini")
                },
                Agent {
                    focus: words(&["c"]),
                    model: Some("m".to_owned()),
                    ..agent("both", Role::Reviewer, "codex")
                },
                Agent {
                    focus: words(&["security"]),
                    ..agent("mine", Role::Reviewer, "claude")
                },
            ]
        );
        assert_eq!(settings.review.mandatory(), ["MUST", "HIGH"]);
        assert_eq!(settings.review.optional(), ["SHOULD", "LOW"]);
        assert_eq!(value(&layers, "agents.both.focus"), "[c] (project.yml:3)");
        assert_eq!(value(&layers, "agents.both.model"), "m (user.yml:3)");
        assert_eq!(value(&layers, "agents.both.adapter"), "codex (default)");
        let env = &resolve(&layers).unwrap().values["agents.theirs.env"].value;
        assert_eq!(shown("agents.theirs.env", env), json!({"A": "***"}));
    }

    #[test]
    fn a_project_makes_guarded_values_stricter_and_never_looser() {
        let total = |time: &str| format!("limits: {{call_timeout: {time}}}");
        for (user, project, expected) in [
            ("", "10m", Ok("10m (project.yml:1)")),
            ("", "30m", Ok("30m (project.yml:1)")),
            (
                "",
                "31m",
                Err(
                    "project.yml:1:24: a project cannot change `limits.call_timeout` from 30m to the less \
                     strict value 31m | set the value in the user's configuration file: `glee config set --user \
                     limits.call_timeout 31m`",
                ),
            ),
            ("1h", "45m", Ok("45m (project.yml:1)")),
            ("1h", "60m", Ok("60m (project.yml:1)")),
            (
                "1h",
                "61m",
                Err(
                    "project.yml:1:24: a project cannot change `limits.call_timeout` from 1h to the less strict \
                     value 61m | set the value in the user's configuration file: `glee config set --user \
                     limits.call_timeout 61m`",
                ),
            ),
            // A project cannot set a limit that is looser than both the default and the user's limit.
            ("5m", "20m", Ok("5m (user.yml:1)")),
            (
                "5m",
                "40m",
                Err(
                    "project.yml:1:24: a project cannot change `limits.call_timeout` from 30m to the less \
                     strict value 40m | set the value in the user's configuration file: `glee config set --user \
                     limits.call_timeout 40m`",
                ),
            ),
        ] {
            let user = if user.is_empty() {
                String::new()
            } else {
                total(user)
            };
            let result = resolve(&layers(&user, &total(project)));
            let shown = match &result {
                Ok(_) => Ok(value(
                    &layers(&user, &total(project)),
                    "limits.call_timeout",
                )),
                Err(_) => Err(refusal(&user, &total(project))),
            };
            assert_eq!(
                shown,
                expected.map(str::to_owned).map_err(str::to_owned),
                "{user} {project}"
            );
        }
        let evidence = |on: bool| format!("review: {{judge: {{require_evidence: {on}}}}}");
        assert_eq!(
            refusal("", &evidence(false)),
            "project.yml:1:36: a project cannot change `review.judge.require_evidence` from true to the less \
             strict value false | set the value in the user's configuration file: `glee config set --user \
             review.judge.require_evidence false`"
        );
        assert!(resolve(&layers(&evidence(false), &evidence(false))).is_ok());
        let sandbox = |word: &str| format!("sandbox: {word}");
        assert_eq!(
            refusal("", &sandbox("off")),
            "project.yml:1:10: a project cannot change `sandbox` from auto to the less strict value off | set \
             the value in the user's configuration file: `glee config set --user sandbox off`"
        );
        assert_eq!(
            value(&layers(&sandbox("required"), &sandbox("auto")), "sandbox"),
            "required (user.yml:1)"
        );
        assert_eq!(
            value(&layers(&sandbox("off"), &sandbox("required")), "sandbox"),
            "required (project.yml:1)"
        );
        assert!(
            resolve(&layers(&evidence(false), &evidence(true)))
                .unwrap()
                .settings
                .review
                .judge
                .require_evidence
        );
        assert!(
            refusal("", "limits: {max_output_size: 1GiB}")
                .contains("from 64MiB to the less strict value 1GiB")
        );
        assert!(
            refusal("", "budget: {duration: 2h}").contains("from 1h to the less strict value 2h")
        );
        let tokens = |cap: &str| format!("budget: {{tokens: {cap}}}");
        assert_eq!(
            value(&layers("", &tokens("5000")), "budget.tokens"),
            "5000 (project.yml:1)"
        );
        assert_eq!(
            value(&layers(&tokens("1000"), &tokens("5000")), "budget.tokens"),
            "1000 (user.yml:1)"
        );
        assert_eq!(
            value(&layers(&tokens("1000"), &tokens("null")), "budget.tokens"),
            "1000 (user.yml:1)"
        );
        assert_eq!(
            value(
                &layers("budget: {usd: 2}", "budget: {usd: 1.5}"),
                "budget.usd"
            ),
            "1.5 (project.yml:1)"
        );
    }

    #[test]
    fn an_agents_own_time_is_guarded_too() {
        let agent = |time: &str| {
            format!("agents: [{{name: a, command: claude, role: coder, timeout: {time}}}]")
        };
        assert_eq!(
            value(&layers("", &agent("10m")), "agents.a.timeout"),
            "10m (project.yml:1)"
        );
        assert_eq!(
            value(&layers(&agent("2h"), &agent("90m")), "agents.a.timeout"),
            "90m (project.yml:1)"
        );
        assert_eq!(
            value(
                &layers("limits: {call_timeout: 5m}", &agent("10m")),
                "agents.a.timeout"
            ),
            "5m (user.yml:1)"
        );
        assert!(
            refusal("", &agent("31m"))
                .contains("`agents.a.timeout` from 30m to the less strict value 31m")
        );
    }

    #[test]
    fn an_agent_that_cannot_be_asked_is_an_error() {
        for (rest, expected) in [
            (
                "command: claude",
                "the agent `a` has no role | add `role: coder`, `reviewer`, `judge` or `aggregator`",
            ),
            (
                "role: coder",
                "the agent `a` has no command | add `command: ...`, or remove the agent with `glee disconnect a`",
            ),
            (
                "role: coder, command: 'builtin:rules'",
                "the agent `a` cannot be a coder: `builtin:rules` is a reviewer | write `role: reviewer`",
            ),
            (
                "role: coder, command: 'builtin:fixr'",
                "unknown embedded agent `builtin:fixr` for the agent `a` | did you mean `builtin:fixer`?",
            ),
            (
                "role: coder, command: 'builtin:fixer --all'",
                "unknown embedded agent `builtin:fixer --all` for the agent `a` | did you mean `builtin:fixer`?",
            ),
            (
                "role: coder, command: claude, adapter: builtin",
                "the adapter of the agent `a` does not match its command `claude` | remove `adapter`, which Glee \
                 derives from the command",
            ),
        ] {
            assert_eq!(
                refusal("", &format!("agents: [{{name: a, {rest}}}]")),
                format!("project.yml:1:10: {expected}"),
                "{rest}"
            );
        }
    }

    #[test]
    fn the_higher_layer_says_whether_a_tag_is_mandatory() {
        let shown =
            |layers: &ConfigLayers, list: &str| value(layers, &format!("review.issues.{list}"));
        let medium = layers("", "review: {issues: {mandatory: [HIGH, MEDIUM]}}");
        assert_eq!(
            shown(&medium, "mandatory"),
            "[HIGH, MEDIUM] (project.yml:1)"
        );
        assert_eq!(shown(&medium, "optional"), "[LOW] (default)");
        // One tag need not be a list.
        let one = layers("", "review: {issues: {mandatory: medium}}");
        assert_eq!(shown(&one, "mandatory"), "[medium] (project.yml:1)");
        assert_eq!(shown(&one, "optional"), "[LOW] (default)");
        let must = layers(
            "review: {issues: {mandatory: [HIGH, LOW]}}",
            "review: {issues: {optional: [low, must]}}",
        );
        assert_eq!(shown(&must, "mandatory"), "[HIGH] (user.yml:1)");
        assert_eq!(value(&must, "review.opinions.mandatory"), "[] (default)");
        assert_eq!(
            refusal(
                "",
                "review: {opinions: {mandatory: [MUST]}, issues: {optional: [must]}}"
            ),
            "the tag `MUST` is in both `review.opinions.mandatory` and `review.issues.optional` | remove `MUST` \
             from `review.opinions.mandatory` or from `review.issues.optional`"
        );
    }

    #[test]
    fn the_adapter_follows_the_program() {
        for (command, adapter) in [
            ("claude", "claude"),
            ("/usr/local/bin/codex", "codex"),
            ("qwen.exe", "qwen"),
            ("./claude.sh", "text"),
            ("semgrep", "text"),
            ("builtin:rules", "builtin"),
            ("https://gw.example/claude", "address"),
            ("anthropic:", "address"),
        ] {
            assert_eq!(
                adapter_of(&[command.to_owned(), "x".to_owned()]),
                adapter,
                "{command}"
            );
        }
    }
}
