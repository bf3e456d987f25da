//! Keys in unusual places: in a file name, an agent's arguments, an address.

use super::inert;
use super::secrets::{ALNUM, nowhere, random};
use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{CODE, Kind, OBJECTION, REVIEW, RULING, Scene, emit};
use crate::support::Output;

/// The forms of keys: kind, prefix, number of letters, suffix.
const SHAPES: [(&str, &str, usize, &str); 5] = [
    ("GitHub", "ghp_", 36, ""),
    ("Anthropic", "sk-ant-api03-", 93, "AA"),
    ("Bedrock", "ABSK", 120, ""),
    ("Google", "AIza", 35, ""),
    ("npm", "npm_", 36, ""),
];

fn key((kind, begin, length, end): (&str, &str, usize, &str)) -> String {
    let alphabet = if kind == "npm" {
        "abcdefghijklmnopqrstuvwxyz0123456789"
    } else {
        ALNUM
    };
    format!("{begin}{}{end}", random(alphabet, length, kind))
}

fn silent(output: &Output, secret: &str) {
    inert(output);
    assert!(
        !output.stdout.contains(secret) && !output.stderr.contains(secret),
        "{output}"
    );
}

pub(crate) fn add(cases: &mut Cases) {
    names(cases);
    arguments(cases);
    addresses(cases);
}

/// A file named like a key is reviewed, fixed and ruled on under the placeholder of its name.
fn names(cases: &mut Cases) {
    const ROW: &str = "attack: keys in the names of files";
    for shape in SHAPES {
        for is_git in [true, false] {
            for format in ["json", "jsonl", "text"] {
                let kind = if is_git { Kind::Git } else { Kind::Plain };
                cases.add(
                    ROW,
                    format!("{}, git {is_git}, {format}", shape.0),
                    move || {
                        let secret = key(shape);
                        let mut scene = Scene::new(kind);
                        let name = format!("{secret}.py");
                        scene.write(&name, CODE);
                        let seen = scene.cache().display().to_string();
                        let review = REVIEW.replace("app.py", &name);
                        assert_ne!(review, REVIEW, "the finding names the file");
                        for (agent, task, answer) in [
                            ("rev", "review", review.as_str()),
                            ("fix", "respond", OBJECTION),
                            ("jud", "judge", RULING),
                        ] {
                            scene.play(agent, task, [Step::Obey(seen.clone()), emit(answer)]);
                        }
                        let args = [
                            "review",
                            &name,
                            "--arbitrate",
                            "--no-input",
                            "--format",
                            format,
                        ];
                        let output = scene.ready().glee(&args);
                        silent(&output, &secret);
                        assert_eq!(output.code, 0, "{output}");
                        nowhere(&scene, &secret);
                        let shown = scene.glee(&["runs", "show", "last", "--format", "json"]);
                        let outcome: serde_json::Value =
                            serde_json::from_str(&shown.stdout).expect("an outcome");
                        let covered = outcome["proof"]["covered"]
                            .as_array()
                            .cloned()
                            .unwrap_or_default();
                        let names: Vec<_> = covered
                            .iter()
                            .filter_map(|file| file["file"].as_str())
                            .collect();
                        assert!(
                            names.len() == 1 && names[0].starts_with("[secret:"),
                            "{shown}"
                        );
                        assert_eq!(
                            outcome["findings"].as_array().map(Vec::len),
                            Some(1),
                            "{shown}"
                        );
                    },
                );
            }
        }
    }
}

/// A key in an agent's arguments is not recorded, and the agent receives it again after resuming.
fn arguments(cases: &mut Cases) {
    const ROW: &str = "attack: keys among the arguments of agents";
    for shape in SHAPES {
        for agent in ["rev", "fix"] {
            for form in ["--key KEY", "--key=KEY", "KEY"] {
                cases.add(
                    ROW,
                    format!("{} as {form} of {agent}, carried on", shape.0),
                    move || {
                        let secret = key(shape);
                        let given = form.replace("KEY", &secret);
                        let words: Vec<String> = given.split(' ').map(str::to_owned).collect();
                        let mut scene = Scene::new(Kind::Git);
                        scene.argue(agent, words.clone());
                        let (task, answer) = if agent == "rev" {
                            ("review", REVIEW)
                        } else {
                            ("respond", OBJECTION)
                        };
                        scene.play(agent, task, [Step::Exit(3)]);
                        scene.set("review: {on_dispute: {default: judge}}\nlimits: {retries: 0}");
                        let first = scene.arbitrate();
                        silent(&first, &secret);
                        assert_ne!(first.code, 0, "{first}");
                        nowhere(&scene, &secret);
                        let kept = scene.cache().join("arguments");
                        scene.play(
                            agent,
                            task,
                            [Step::Arguments(kept.display().to_string()), emit(answer)],
                        );
                        let resumed = scene.ready().glee(&[
                            "runs",
                            "resume",
                            "--no-input",
                            "--format",
                            "json",
                        ]);
                        silent(&resumed, &secret);
                        let seen = std::fs::read_to_string(&kept).unwrap_or_default();
                        assert_eq!(seen.lines().collect::<Vec<_>>(), words, "{resumed}");
                        std::fs::remove_file(kept).expect("it was written");
                        nowhere(&scene, &secret);
                        for view in [
                            &["doctor"][..],
                            &["agents"],
                            &["config", "list"],
                            &["agents", "--json"],
                        ] {
                            silent(&scene.glee(view), &secret);
                        }
                    },
                );
            }
        }
    }
}

/// Passwords and tokens in addresses, in all fields of an answer.
fn addresses(cases: &mut Cases) {
    const ROW: &str = "attack: passwords and tokens in addresses";
    let addresses = [
        ("postgres://shop:", "@db.example/shop"),
        ("https://me:", "@git.example/a.git"),
        ("amqp://u:", "@mq:5672/"),
        ("https://api.example/v1?page=2&access_token=", "&x=1"),
        ("https://hooks.example/run?sig=", ""),
    ];
    for (before, after) in addresses {
        for carrier in ["the code", "a review", "an objection", "a rationale"] {
            cases.add(ROW, format!("{before}... in {carrier}"), move || {
                let secret = random(ALNUM, 22, before);
                let line = format!("{before}{secret}{after}");
                let mut scene = Scene::new(Kind::Git);
                let seen = scene.cache().display().to_string();
                let said = |text: &str, carries: &str| match carrier == carries {
                    true => text.replacen('\n', &format!("\n  It calls {line}\n"), 1),
                    false => text.to_owned(),
                };
                if carrier == "the code" {
                    scene.write("app.py", format!("{CODE}URL = '{line}'\n"));
                }
                let ruling = if carrier == "a rationale" {
                    format!("It calls {line}\n{RULING}")
                } else {
                    RULING.to_owned()
                };
                for (agent, task, answer) in [
                    ("rev", "review", said(REVIEW, "a review")),
                    ("fix", "respond", said(OBJECTION, "an objection")),
                    ("jud", "judge", ruling),
                ] {
                    scene.play(agent, task, [Step::Obey(seen.clone()), emit(&answer)]);
                }
                let output = scene.arbitrate();
                silent(&output, &secret);
                assert_eq!(output.code, 0, "{output}");
                nowhere(&scene, &secret);
            });
        }
    }
}
