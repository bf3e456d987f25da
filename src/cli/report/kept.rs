//! A property of all outputs: no text of a reviewer is lost. Random panels raise findings in random rounds. Every
//! title has to be in every output, and every other text in every output that carries texts.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::options::{Detail, FixCommand, RenderOptions, TextOptions};
use super::{Format, render};
use crate::cli::style::Style;
use glee_agents::process::scripted::{Script, ScriptedRunner};
use glee_model::domain::event::Mode;
use glee_model::domain::{Outcome, SettledFinding};
use glee_model::rules::consensus::Policy;
use glee_protocol::calls::respond::RespondCall;
use glee_protocol::prompts;
use glee_protocol::request::Task;
use glee_store::config::settings::PrSettings;
use glee_workflows::hosts::{
    Account, ChangedFile, Commit, Conversation, HostKind, PullRequest, RequestState,
};
use glee_workflows::pull_request::{RequestReview, plan};
use glee_workflows::review::bench::{Bench, Left, judge, panel};

const CODE: &str = "def key(data):\n    return md5(data)\n\n\ndef load(path):\n    text = open(path).read()\n    \
                    return eval(text)\n\n\ndef run(name):\n    os.system('ls ' + name)\n    print(name)\n";
const REVIEWERS: [&str; 3] = ["one", "two", "thr"];
/// Titles that name the same, a related or another problem.
const TITLES: [&str; 9] = [
    "Replace the weak md5 hash in key",
    "key uses md5, a weak hash",
    "The hash md5 of key collides",
    "Never eval file content in load",
    "load evaluates the text of a file",
    "Shell injection by name in run",
    "The name reaches os.system unquoted",
    "Not an issue: the weak md5 hash in key",
    "No issue: load evaluates only trusted text of a file",
];
const WEAKNESSES: [&str; 4] = ["CWE-327", "CWE-328", "CWE-95", "CWE-78"];

/// What a reviewer says about one problem. The texts contain marks with the number of the finding.
#[derive(Clone, Debug)]
struct Said {
    round: usize,
    by: usize,
    title: usize,
    line: usize,
    severity: usize,
    /// Whether the finding has a body, a suggestion and evidence.
    has: [bool; 3],
    weakness: Option<usize>,
    /// Whether the next reviewer says the same in the same words.
    is_repeated: bool,
}

fn said() -> impl Strategy<Value = Said> {
    let place = (0..2_usize, 0..REVIEWERS.len(), 0..TITLES.len(), 1..12_usize);
    let more = (
        0..4_usize,
        any::<[bool; 3]>(),
        proptest::option::of(0..WEAKNESSES.len()),
        proptest::bool::weighted(0.1),
    );
    (place, more).prop_map(|((round, by, title, line), more)| {
        let (severity, has, weakness, is_repeated) = more;
        Said {
            round,
            by,
            title,
            line,
            severity,
            has,
            weakness,
            is_repeated,
        }
    })
}

impl Said {
    fn json(&self, number: usize) -> serde_json::Value {
        let severity = ["critical", "high", "medium", "low"][self.severity];
        let mut json = serde_json::json!({
            "severity": severity,
            "file": "app.py",
            "line": self.line,
            "confidence": 80,
            "title": format!("{} zq{number}t", TITLES[self.title]),
        });
        let [body, suggestion, evidence] = self.has;
        if body {
            json["description"] = format!("This is because of zq{number}b.").into();
        }
        if suggestion {
            json["suggestion"] = format!("Use zq{number}s instead.").into();
        }
        if evidence {
            json["evidence"] = serde_json::json!([format!("app.py:{} zq{number}e", self.line)]);
        }
        if let Some(weakness) = self.weakness {
            json["cwe"] = WEAKNESSES[weakness].into();
        }
        json
    }

    fn is_by(&self, reviewer: usize) -> bool {
        self.by == reviewer || self.is_repeated && (self.by + 1) % REVIEWERS.len() == reviewer
    }
}

fn reviewed(all: &[Said], policy: Policy, mode: Mode) -> (Bench, Left) {
    let mut bench = Bench::new();
    bench.write(CODE);
    panel(&mut bench, &REVIEWERS);
    bench.settings.review.consensus.policy = policy;
    bench.settings.review.rounds = 2;
    bench.settings.review.recheck = false;
    let mut runner = ScriptedRunner::new();
    for (reviewer, name) in REVIEWERS.into_iter().enumerate() {
        let mut rounds = [Vec::new(), Vec::new()];
        for (number, said) in all.iter().enumerate() {
            if said.is_by(reviewer) {
                rounds[said.round].push(said.json(number));
            }
        }
        let asked = AtomicUsize::new(0);
        runner = runner.on(name, "review", move |request| {
            let round = asked.fetch_add(1, Ordering::Relaxed).min(1);
            let answer = serde_json::json!({"nonce": request.nonce, "findings": rounds[round]});
            Script::prints(answer.to_string())
        });
    }
    let file = bench.file();
    let runner = runner.on("c", "respond", move |request| {
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace("md5", "sha256")).unwrap();
        let Task::Respond(RespondCall { items, .. }) = &request.task else {
            panic!("a coder responds")
        };
        let answers = items
            .iter()
            .map(|item| format!("[{}] IMPLEMENTED: done\n", item.finding.id));
        let text = answers.collect::<String>();
        let count = items.len();
        Script::prints(format!(
            "{text}GLEE-RESPONSE-END nonce={} answers={count}\n",
            request.nonce
        ))
    });
    let runner = runner.on(
        "j",
        "judge",
        judge("\"ruling\":\"ENFORCE\",\"citations\":[\"app.py:1\"]"),
    );
    let left = bench.begin(mode, runner);
    (bench, left)
}

/// All outputs of a run, by name.
fn outputs(left: &Left) -> BTreeMap<&'static str, String> {
    let outcome = &left.ended.outcome;
    let options = RenderOptions {
        style: Style {
            color: false,
            unicode: true,
            width: 100,
        },
        detail: Detail::Full,
        source: &|path, round| left.ended.reviewed.shown(round, path),
        events: &[],
        fix: &FixCommand {
            command: None,
            has_coder: true,
        },
        only: &[],
        whole: outcome,
        text: TextOptions::default(),
    };
    let mut outputs = BTreeMap::new();
    for (name, format) in [
        ("text", Format::Text),
        ("json", Format::Json),
        ("html", Format::Html),
        ("sarif", Format::Sarif),
        ("junit", Format::Junit),
        ("markdown", Format::Markdown),
        ("github", Format::Github),
        ("gitlab", Format::Gitlab),
        ("rdjsonl", Format::Rdjsonl),
    ] {
        outputs.insert(name, render(format, outcome, &options));
    }
    outputs.insert("request", published(outcome));
    let mut prompts = String::new();
    for seen in left.runner.seen() {
        if matches!(seen.request.task, Task::Respond(_)) {
            prompts.push_str(&prompts::render(&seen.request, None).unwrap());
        }
    }
    outputs.insert("coder", prompts);
    outputs
}

/// The comments and the summary of a pull request.
fn published(outcome: &Outcome) -> String {
    let commit = |id: &str| Commit {
        id: id.repeat(40),
        branch: "branch".into(),
    };
    let request = PullRequest {
        number: 7,
        link: "https://host.example/o/r/pull/7".to_owned(),
        title: "A change".into(),
        body: "".into(),
        author: Account {
            login: "author".to_owned(),
            is_bot: false,
        },
        state: RequestState::Open,
        is_draft: false,
        is_fork: false,
        base: commit("b"),
        head: commit("1"),
        merge_base: None,
        repository: "https://host.example/o/r.git".to_owned(),
        head_ref: "refs/pull/7/head".to_owned(),
    };
    let files = [ChangedFile {
        path: "app.py".to_owned(),
        previous: None,
        added: (1..=12).collect(),
        lines: (1..=12).collect(),
    }];
    let publication = plan(&RequestReview {
        host: HostKind::GitHub,
        request: &request,
        files: &files,
        conversation: &Conversation::default(),
        outcome,
        disputes: &[],
        settings: &PrSettings::default(),
        text_of: &|_| Some(CODE.to_owned()),
    });
    let mut text = String::new();
    for comment in &publication.comments {
        text.push_str(&comment.body);
    }
    text + &publication.summary.unwrap().body
}

/// Where the outcome keeps what a reviewer said.
enum Kept<'a> {
    Finding(&'a SettledFinding),
    /// In other words, or as a denial.
    Beside(&'a SettledFinding),
}

fn kept<'a>(outcome: &'a Outcome, mark: &str) -> Option<Kept<'a>> {
    let mut beside = None;
    for settled in &outcome.findings {
        let finding = &settled.finding;
        if finding.raw.title.as_written().contains(mark) {
            return Some(Kept::Finding(settled));
        }
        let restated = finding.restated.iter().map(|said| &said.title);
        let positions = finding.consensus.iter().flat_map(|known| &known.positions);
        let mut texts = restated.chain(positions.map(|position| &position.denial));
        let is_shown = texts.any(|text| text.as_written().contains(mark)) && settled.is_open();
        if is_shown || beside.is_none() && finding_says(settled, mark) {
            beside = Some(Kept::Beside(settled));
        }
    }
    beside
}

fn finding_says(settled: &SettledFinding, mark: &str) -> bool {
    serde_json::to_string(settled).unwrap().contains(mark)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_of_a_reviewer_is_lost(
        all in proptest::collection::vec(said(), 1..14),
        is_panel in any::<bool>(),
        is_fixed in any::<bool>(),
    ) {
        let policy = if is_panel { Policy::Panel } else { Policy::Specification };
        let mode = if is_fixed { Mode::Fix } else { Mode::Review };
        let (_bench, left) = reviewed(&all, policy, mode);
        let outcome = &left.ended.outcome;
        let outputs = outputs(&left);
        let rounds = usize::try_from(outcome.rounds).unwrap();
        for (number, said) in all.iter().enumerate().filter(|(_, said)| said.round < rounds) {
            let mark = format!("zq{number}t");
            let texts: Vec<String> = ["b", "s", "e"]
                .iter()
                .zip(said.has)
                .filter(|(_, has)| *has)
                .map(|(part, _)| format!("zq{number}{part}"))
                .collect();
            let Some(kept) = kept(outcome, &mark) else {
                return Err(TestCaseError::fail(format!("{said:?} is lost: {:#?}", outcome.findings)));
            };
            let (settled, is_finding) = match &kept {
                Kept::Finding(settled) => (*settled, true),
                Kept::Beside(settled) => (*settled, false),
            };
            for (name, output) in &outputs {
                // These outputs contain the open findings only.
                let is_of_open = matches!(*name, "request" | "github" | "gitlab" | "rdjsonl");
                let is_left_out = is_of_open && !settled.is_open()
                    || *name == "gitlab" && !is_finding
                    || *name == "markdown" && !is_finding && !settled.is_open()
                    || *name == "github" && output.contains("above GitHub's limit")
                    // The coder receives no restatements, and no finding that the reviewers rejected.
                    || *name == "coder" && !(is_finding && settled.response.is_some());
                if is_left_out {
                    continue;
                }
                prop_assert!(output.contains(&mark), "{name} has no title {mark} of {said:?}:\n{output}");
                let has_texts = match *name {
                    "gitlab" => false,
                    "markdown" => settled.is_open(),
                    _ => true,
                };
                for text in texts.iter().filter(|_| has_texts) {
                    prop_assert!(output.contains(text), "{name} has no text {text} of {said:?}:\n{output}");
                }
            }
        }
    }
}
