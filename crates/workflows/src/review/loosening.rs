//! Compares two sets of settings: what does one of them loosen about a review?
//!
//! A setting loosens a review if, with the setting, less is reviewed, or a finding is closed more easily. A setting
//! that only costs more or takes longer loosens nothing, nor does one that stops a review early: that review is
//! incomplete, and never clean. The tests fail until somebody has decided about a new key.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::review::plan::{first_choice, judges, reviewers};
use glee_model::domain::{Agent, Loosened, Role, Route, Severity, Tag};
use glee_model::rules::review::mandatory::is_mandatory;
use glee_store::config::choices::{Demonstrations, Escalation, OlderFindings, PrMode, Validate};
use glee_store::config::schema::values::GuidelineChoice;
use glee_store::config::settings::{MaxAge, ReviewSettings, Settings};

/// Returns what the settings `now` loosen against the settings `than`. The list is empty if a review with `now` is at
/// least as strict.
pub fn loosened(now: &Settings, than: &Settings) -> Vec<Loosened> {
    let mut found = Found::default();
    // An advisory can lower the severity of a finding, and a missing one can no longer raise it.
    found.add(
        now.advisories != than.advisories,
        "advisories",
        "other advisories are consulted",
    );
    found.add(
        now.sandbox < than.sandbox,
        "sandbox",
        "reviewers and judges run in a weaker sandbox",
    );
    found.add(
        !now.redaction.secrets && than.redaction.secrets,
        "redaction.secrets",
        "secrets are sent to agents",
    );
    found.add(
        !now.redaction.block_private_keys && than.redaction.block_private_keys,
        "redaction.block_private_keys",
        "private keys are sent to agents",
    );
    found.add(
        now.budget.demonstrations.unwrap_or(u64::MAX)
            < than.budget.demonstrations.unwrap_or(u64::MAX),
        "budget.demonstrations",
        "fewer demonstrations of findings are run",
    );
    found.add(
        now.pr.mode == PrMode::Warn && than.pr.mode == PrMode::Enforce,
        "pr.mode",
        "the check on a pull request never fails",
    );
    found.add(
        !now.pr.drafts && than.pr.drafts,
        "pr.drafts",
        "a draft is not reviewed",
    );
    found.add(
        now.pr.author_may_rule && !than.pr.author_may_rule,
        "pr.author_may_rule",
        "the author of a change may rule on it",
    );
    of_review(
        &mut found,
        &now.review,
        &than.review,
        asked(now, Role::Reviewer).len(),
    );
    of_ages(&mut found, &now.rulings.max_age, &than.rulings.max_age);
    of_agents(&mut found, now, than);
    found.0
}

#[derive(Default)]
struct Found(Vec<Loosened>);

impl Found {
    fn add(&mut self, is_loosened: bool, what: impl Into<String>, text: impl Into<String>) {
        if is_loosened {
            self.0.push(Loosened::new(what, text));
        }
    }
}

fn of_review(found: &mut Found, now: &ReviewSettings, than: &ReviewSettings, asked: usize) {
    of_tags(found, now, than);
    found.add(
        !now.recheck && than.recheck,
        "review.recheck",
        "no reviewer checks a fix",
    );
    let [needed, needed_then] = [now.quorum, than.quorum].map(|quorum| {
        quorum.map_or(usize::MAX, |quorum| {
            usize::try_from(quorum).unwrap_or(usize::MAX)
        })
    });
    found.add(
        needed < needed_then && needed < asked,
        "review.quorum",
        format!("{needed} of {asked} reviewers suffice"),
    );
    found.add(
        now.fix.scope < than.fix.scope,
        "review.fix.scope",
        "a coder may edit files that no finding names",
    );
    for command in than
        .verify
        .iter()
        .filter(|command| !now.verify.contains(command))
    {
        let text = format!("`{}` is not run after a fix", command.join(" "));
        found.add(true, "review.verify", text);
    }
    found.add(
        now.demonstrations == Demonstrations::Off && than.demonstrations != Demonstrations::Off,
        "review.demonstrations",
        "no demonstration of a finding is run",
    );
    for (name, runner) in &than.runners {
        let text = format!("demonstrations with the runner `{name}` are not run as before");
        found.add(
            now.runners.get(name) != Some(runner),
            "review.runners",
            text,
        );
    }
    let is_dropped = match (&now.guidelines, &than.guidelines) {
        (_, GuidelineChoice::Off) => false,
        (GuidelineChoice::Files(now), GuidelineChoice::Files(than)) => {
            than.iter().any(|file| !now.contains(file))
        }
        (now, than) => now != than,
    };
    found.add(
        is_dropped,
        "review.guidelines",
        "some of the project's guidelines are not sent",
    );
    found.add(
        now.max_file_size < than.max_file_size,
        "review.max_file_size",
        format!(
            "files above {} bytes are not reviewed as a whole",
            now.max_file_size
        ),
    );
    found.add(
        now.skipped < than.skipped,
        "review.skipped",
        "files that could not be reviewed are only noted",
    );
    found.add(
        now.older < than.older,
        "review.older",
        match now.older {
            OlderFindings::Hide => "findings older than the change are hidden",
            OlderFindings::Show | OlderFindings::Block => {
                "findings older than the change do not block"
            }
        },
    );
    found.add(
        now.consensus.policy != than.consensus.policy,
        "review.consensus.policy",
        "findings of several reviewers are combined by another policy",
    );
    found.add(
        now.consensus.validate == Validate::Judge && than.consensus.validate == Validate::Off,
        "review.consensus.validate",
        "the judge may dismiss a finding before anybody objects",
    );
    found.add(
        !now.on_dispute.prompt_user && than.on_dispute.prompt_user,
        "review.on_dispute.prompt_user",
        "nobody is asked about a dispute",
    );
    found.add(
        ease(now.on_dispute.default) > ease(than.on_dispute.default),
        "review.on_dispute.default",
        format!(
            "the default for disputes is `{}`",
            now.on_dispute.default.as_str()
        ),
    );
    found.add(
        now.judge.escalate_to == Escalation::Discard && than.judge.escalate_to == Escalation::Human,
        "review.judge.escalate_to",
        "a finding is discarded if the judge is uncertain",
    );
    found.add(
        !now.judge.require_evidence && than.judge.require_evidence,
        "review.judge.require_evidence",
        "the judge may dismiss without evidence",
    );
}

/// The tags that were mandatory and are optional now. A tag that no list names counts as the rules say.
fn of_tags(found: &mut Found, now: &ReviewSettings, than: &ReviewSettings) {
    let known = Tag::ALL.iter().map(|tag| tag.as_str().to_owned());
    let named = [now, than].map(|review| [review.mandatory(), review.optional()].concat());
    let mut words: Vec<String> = known.chain(named.concat()).collect();
    let mut seen = BTreeSet::new();
    words.retain(|word| seen.insert(word.to_uppercase()));
    let lists = [now, than].map(|review| (review.mandatory(), review.optional()));
    for word in words {
        let severity = Severity {
            tag: Tag::parse(&word),
            raw: word.clone(),
        };
        let [now, than] = lists
            .each_ref()
            .map(|(mandatory, optional)| is_mandatory(&severity, mandatory, optional));
        let key = match severity.tag {
            Some(Tag::Must | Tag::Should) => "review.opinions.mandatory",
            _ => "review.issues.mandatory",
        };
        found.add(than && !now, key, format!("{word} is optional"));
    }
}

/// A ruling that closes a finding loosens if it applies for longer, and one that enforces a finding if it applies for
/// a shorter time.
fn of_ages(found: &mut Found, now: &MaxAge, than: &MaxAge) {
    let age = |age: Option<Duration>| age.unwrap_or(Duration::MAX);
    let closing = [
        ("refuted", now.refuted, than.refuted),
        ("discarded", now.discarded, than.discarded),
        ("accepted_risk", now.accepted_risk, than.accepted_risk),
        ("deferred", now.deferred, than.deferred),
        ("duplicate", now.duplicate, than.duplicate),
        ("not_mandatory", now.not_mandatory, than.not_mandatory),
    ];
    for (name, now, than) in closing {
        found.add(
            age(now) > age(than),
            format!("rulings.max_age.{name}"),
            "rulings that close a finding apply for longer",
        );
    }
    found.add(
        age(now.enforced) < age(than.enforced),
        "rulings.max_age.enforced",
        "rulings that enforce a finding apply for a shorter time",
    );
}

/// An agent that is only added loosens nothing. An agent that was asked has to be asked, and has to be the same.
fn of_agents(found: &mut Found, now: &Settings, than: &Settings) {
    for role in [Role::Reviewer, Role::Judge, Role::Aggregator] {
        let asked = asked(now, role);
        for before in self::asked(than, role) {
            let name = &before.name;
            match asked.iter().find(|agent| agent.name == *name) {
                None => {
                    let key = match role {
                        Role::Reviewer => "review.reviewers".to_owned(),
                        _ => format!("agents.{name}"),
                    };
                    found.add(true, key, format!("the {role} `{name}` is not asked"));
                }
                Some(agent) => of_agent(found, agent, before),
            }
        }
    }
}

fn of_agent(found: &mut Found, now: &Agent, than: &Agent) {
    let Agent {
        name,
        role,
        command,
        adapter,
        domain: _,
        focus,
        model,
        effort,
        env,
        timeout: _,
        backup,
        price: _,
        profile,
        vendor,
        reads: _,
    } = now;
    // No focus means that a reviewer looks for everything.
    let is_narrower = !focus.is_empty()
        && (than.focus.is_empty() || than.focus.iter().any(|word| !focus.contains(word)));
    let changes = [
        ("command", *command != than.command, "another command"),
        ("adapter", *adapter != than.adapter, "another adapter"),
        ("focus", is_narrower, "a narrower focus"),
        ("model", *model != than.model, "another model"),
        ("vendor", *vendor != than.vendor, "another vendor"),
        ("effort", *effort < than.effort, "less effort"),
        ("env", *env != than.env, "other variables"),
        ("profile", *profile != than.profile, "another profile"),
        (
            "backup",
            backup.is_some() && *backup != than.backup,
            "another backup",
        ),
    ];
    for (key, is_loosened, what) in changes {
        found.add(
            is_loosened,
            format!("agents.{name}.{key}"),
            format!("the {role} `{name}` has {what}"),
        );
    }
}

fn asked(settings: &Settings, role: Role) -> Vec<&Agent> {
    match role {
        Role::Reviewer => reviewers(settings).unwrap_or_default(),
        Role::Judge => judges(settings).unwrap_or_default(),
        Role::Coder | Role::Aggregator => first_choice(settings)
            .find(|agent| agent.role == role)
            .into_iter()
            .collect(),
    }
}

/// How easily a route closes a finding.
fn ease(route: Route) -> u8 {
    match route {
        Route::Human => 0,
        Route::Judge => 1,
        Route::Discard => 2,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use glee_store::config::{self, ConfigSources, schema};

    /// The settings of a project with this configuration, for a user with a reviewer, a judge and a coder.
    fn settings(project: &str) -> Settings {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".glee")).unwrap();
        std::fs::write(folder.path().join(".glee/config.yml"), project).unwrap();
        let user = folder.path().join("user.yml");
        std::fs::write(
            &user,
            "agents:\n  - {name: rev, role: reviewer, command: claude, model: big, effort: high}\n  \
             - {name: jud, role: judge, command: codex}\n  - {name: fix, role: coder, command: codex}\n",
        )
        .unwrap();
        let sources = ConfigSources {
            project_root: Some(folder.path()),
            user_file: Some(user),
            ..ConfigSources::default()
        };
        config::load(&sources).unwrap().settings
    }

    #[test]
    fn the_table_of_what_loosens() {
        let second =
            "agents: [{name: own, role: reviewer, command: gemini, focus: [security, bug]}]";
        let rows: &[(&str, &str, &[&str])] = &[
            // A key that loosens, against the defaults.
            (
                "",
                "review: {opinions: {mandatory: [], optional: [MUST]}}",
                &["MUST is optional"],
            ),
            (
                "",
                "review: {issues: {mandatory: [CRITICAL]}}",
                &["HIGH is optional"],
            ),
            (
                "",
                "review: {issues: {mandatory: [], optional: [CRITICAL, HIGH]}}",
                &["CRITICAL is optional", "HIGH is optional"],
            ),
            (
                "",
                "review: {issues: {optional: [MEDIUM, LOW, URGENTX]}}",
                &["URGENTX is optional"],
            ),
            (
                "review: {issues: {mandatory: [HIGH, MEDIUM]}}",
                "",
                &["MEDIUM is optional"],
            ),
            (
                "",
                "agents: [{name: rev, role: reviewer, command: 'builtin:rules'}]",
                &[
                    "the reviewer `rev` has another command",
                    "the reviewer `rev` has another adapter",
                ],
            ),
            (
                "",
                "agents: [{name: rev, model: small}]",
                &["the reviewer `rev` has another model"],
            ),
            (
                "",
                "agents: [{name: rev, effort: low}]",
                &["the reviewer `rev` has less effort"],
            ),
            (
                "",
                "agents: [{name: rev, focus: [style]}]",
                &["the reviewer `rev` has a narrower focus"],
            ),
            (
                "",
                "agents: [{name: rev, env: {A: b}}]",
                &["the reviewer `rev` has other variables"],
            ),
            (
                "",
                "agents: [{name: rev, role: coder}]",
                &["the reviewer `rev` is not asked"],
            ),
            (
                "",
                "agents: [{name: weak, role: reviewer, command: 'builtin:rules'}]\nreview: {reviewers: [weak]}",
                &["the reviewer `rev` is not asked"],
            ),
            (
                "",
                "agents: [{name: weak, role: reviewer, command: 'builtin:rules'}]\nreview: {reviewers: first}",
                &["the reviewer `rev` is not asked"],
            ),
            (
                "",
                "agents: [{name: weak, role: reviewer, command: 'builtin:rules', backup: rev}]",
                &["the reviewer `rev` is not asked"],
            ),
            (
                "",
                "agents: [{name: easy, role: judge, command: gemini}]",
                &["the judge `jud` is not asked"],
            ),
            // An embedded judge takes no other's place.
            (
                "",
                "agents: [{name: easy, role: judge, command: 'builtin:referee'}]",
                &[],
            ),
            (
                second,
                "agents: [{name: own, role: reviewer, command: gemini, focus: [bug]}]",
                &["the reviewer `own` has a narrower focus"],
            ),
            (second, "", &["the reviewer `own` is not asked"]),
            (
                second,
                "agents: [{name: own, role: reviewer, command: gemini, focus: [security, bug]}]\nreview: {quorum: 1}",
                &["1 of 2 reviewers suffice"],
            ),
            (
                "",
                "review: {recheck: false}",
                &["no reviewer checks a fix"],
            ),
            (
                "review: {verify: [cargo test]}",
                "",
                &["`cargo test` is not run after a fix"],
            ),
            (
                "review: {runners: {py: {command: 'python3 {files}', folder: tests}}}",
                "review: {demonstrations: off, runners: {py: {command: 'true {files}', folder: tests}}}",
                &[
                    "no demonstration of a finding is run",
                    "demonstrations with the runner `py` are not run as before",
                ],
            ),
            (
                "",
                "budget: {demonstrations: 1}",
                &["fewer demonstrations of findings are run"],
            ),
            (
                "budget: {demonstrations: 3}",
                "budget: {demonstrations: 9}",
                &[],
            ),
            (
                "review: {skipped: fail}",
                "",
                &["files that could not be reviewed are only noted"],
            ),
            (
                "review: {fix: {scope: findings}}",
                "",
                &["a coder may edit files that no finding names"],
            ),
            (
                "",
                "review: {older: hide}",
                &["findings older than the change are hidden"],
            ),
            (
                "review: {older: block}",
                "review: {older: show}",
                &["findings older than the change do not block"],
            ),
            (
                "",
                "review: {consensus: {policy: specification}}",
                &["findings of several reviewers are combined by another policy"],
            ),
            (
                "",
                "review: {consensus: {validate: judge}}",
                &["the judge may dismiss a finding before anybody objects"],
            ),
            (
                "",
                "review: {max_file_size: 1KiB}",
                &["files above 1024 bytes are not reviewed as a whole"],
            ),
            (
                "",
                "review: {guidelines: off}",
                &["some of the project's guidelines are not sent"],
            ),
            (
                "",
                "review: {guidelines: [docs/style.md]}",
                &["some of the project's guidelines are not sent"],
            ),
            (
                "review: {guidelines: [a.md, b.md]}",
                "review: {guidelines: [b.md]}",
                &["some of the project's guidelines are not sent"],
            ),
            ("review: {guidelines: off}", "", &[]),
            (
                "review: {guidelines: [a.md]}",
                "review: {guidelines: [b.md, a.md]}",
                &[],
            ),
            (
                "",
                "review: {on_dispute: {default: discard}}",
                &["the default for disputes is `discard`"],
            ),
            (
                "review: {on_dispute: {default: human}}",
                "",
                &["the default for disputes is `judge`"],
            ),
            (
                "",
                "review: {on_dispute: {prompt_user: false}}",
                &["nobody is asked about a dispute"],
            ),
            (
                "",
                "review: {judge: {escalate_to: discard}}",
                &["a finding is discarded if the judge is uncertain"],
            ),
            (
                "",
                "advisories: {path: [own]}",
                &["other advisories are consulted"],
            ),
            (
                "sandbox: required",
                "",
                &["reviewers and judges run in a weaker sandbox"],
            ),
            (
                "rulings: {max_age: {refuted: 30d, discarded: 1d, accepted_risk: 1d, deferred: 1d}}",
                "rulings: {max_age: {accepted_risk: 2d}}",
                &["rulings that close a finding apply for longer"; 4],
            ),
            (
                "rulings: {max_age: {duplicate: 30d, not_mandatory: 1d}}",
                "",
                &["rulings that close a finding apply for longer"; 2],
            ),
            (
                "",
                "rulings: {max_age: {enforced: 1d}}",
                &["rulings that enforce a finding apply for a shorter time"],
            ),
            (
                "pr: {mode: enforce}",
                "",
                &["the check on a pull request never fails"],
            ),
            ("", "pr: {drafts: false}", &["a draft is not reviewed"]),
            (
                "",
                "pr: {author_may_rule: true}",
                &["the author of a change may rule on it"],
            ),
            // What only adds, is stricter, or costs more.
            ("", "", &[]),
            ("", second, &[]),
            (
                "",
                "agents: [{name: fix, command: 'builtin:fixer'}, {name: x, role: aggregator, command: gemini}]",
                &[],
            ),
            (
                "",
                "agents: [{name: rev, effort: max, timeout: 5m, domain: [src]}]",
                &[],
            ),
            (
                "",
                "review: {opinions: {mandatory: [MUST, SHOULD]}, issues: {mandatory: [HIGH, MEDIUM]}}",
                &[],
            ),
            (
                "",
                "review: {skipped: fail, verify: [make], rounds: 3, jobs: 1, debate: auto, compare: off, reuse: false}",
                &[],
            ),
            (
                "",
                "review: {on_dispute: {default: human}, max_file_size: 9MiB, max_shard_size: 1KiB, quorum: 3}",
                &[],
            ),
            (
                "",
                "project: {id: shop}\nsandbox: required\npr: {mode: enforce, max_comments: 1}\nlimits: {retries: 0}\nbudget: {usd: 1}",
                &[],
            ),
            ("review: {quorum: 1}", "", &[]),
            (
                second,
                "agents: [{name: own, role: reviewer, command: gemini}]",
                &[],
            ),
        ];
        // A key, or the section that it is reported with.
        let mut loosening = BTreeSet::new();
        for (than, now, expected) in rows {
            let found = loosened(&settings(now), &settings(than));
            let texts: Vec<&str> = found
                .iter()
                .map(|loosened| loosened.text.as_str())
                .collect();
            assert_eq!(texts, *expected, "{than:?} -> {now:?}");
            loosening.extend(found.into_iter().map(|loosened| loosened.what));
        }
        // A project's file cannot set these to anything that is less strict than the default.
        for key in [
            "redaction.secrets",
            "redaction.block_private_keys",
            "review.judge.require_evidence",
        ] {
            let now = schema::typed([(key.to_owned(), false.into())]).unwrap();
            let found = loosened(&now, &Settings::default());
            assert_eq!(found.len(), 1, "{key}: {found:?}");
            loosening.extend(found.into_iter().map(|loosened| loosened.what));
        }
        let loosens = |key: &str| {
            let section = key.split_once('.').map_or(key, |(section, _)| section);
            loosening.contains(key) || loosening.contains(section)
        };
        let undecided: Vec<&str> = schema::KEYS
            .iter()
            .map(|key| key.name.as_str())
            .filter(|key| loosens(key) == LOOSEN_NOTHING.contains(key))
            .collect();
        assert!(
            undecided.is_empty(),
            "say whether these keys loosen a review, in `loosened` and a row above, or in `LOOSEN_NOTHING`: {undecided:?}"
        );
    }

    /// The keys that loosen nothing.
    const LOOSEN_NOTHING: &[&str] = &[
        "version",
        "project.id",
        // A tag that these name is reported with the list of mandatory tags.
        "review.opinions.optional",
        "review.issues.optional",
        "review.rounds",
        "review.reuse",
        "review.jobs",
        "review.confirm_above",
        "review.confirm_above_usd",
        "review.max_shard_size",
        "review.context",
        "review.language",
        "review.compare",
        "review.debate",
        // The judges that rule are compared as agents.
        "review.judge.panel",
        // A watch is no review of a change.
        "watch.agents",
        "watch.reviewers",
        "watch.debounce",
        "watch.idle_review",
        "watch.pause",
        "watch.clarify_timeout",
        "watch.focus_areas",
        "watch.max_words",
        "watch.arbitrate",
        "watch.notify",
        "budget.tokens",
        "budget.usd",
        "budget.ci_usd",
        "budget.month_usd",
        "budget.request_usd",
        "budget.calls",
        "budget.duration",
        "limits.call_timeout",
        "limits.first_output_timeout",
        "limits.idle_timeout",
        "limits.max_output_size",
        "limits.max_line_size",
        "limits.kill_grace",
        "limits.retries",
        "limits.backoff",
        "notify.after",
        "notify.terminal",
        "notify.command",
        "ui.pager",
        "ui.hyperlink",
        "pr.max_comments",
        "pr.comment_on",
        "pr.replies_object",
        "server",
    ];
}
