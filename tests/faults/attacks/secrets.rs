//! Secrets in the tree, in agents' output and in Glee's environment: none reaches a prompt, the history or a
//! report, and no agent receives variables beyond the permitted ones.

use super::inert;
use crate::agent::Step;
use crate::runner::Cases;
use crate::scene::{Adapter, CODE, Kind, OBJECTION, REVIEW, RULING, Scene, emit};

pub(super) const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";

/// Characters that look random; this file contains no secret.
pub(super) fn random(alphabet: &str, length: usize, seed: &str) -> String {
    let mut reader = blake3::Hasher::new().update(seed.as_bytes()).finalize_xof();
    let letters: Vec<char> = alphabet.chars().collect();
    let mut bytes = vec![0; length];
    reader.fill(&mut bytes);
    bytes
        .iter()
        .map(|byte| letters[usize::from(*byte) % letters.len()])
        .collect()
}

/// The forms of secrets: context, prefix, number of letters.
const SHAPES: [(&str, &str, &str, usize); 14] = [
    (
        "AWS_ACCESS_KEY_ID=",
        "AKIA",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        16,
    ),
    ("token: ", "ghp_", ALNUM, 36),
    ("GITHUB=", "github_pat_", ALNUM, 82),
    ("x ", "glpat-", ALNUM, 20),
    ("stripe.api_key = ", "sk_live_", ALNUM, 24),
    ("key: ", "AIza", ALNUM, 35),
    ("//registry.npmjs.org/:_authToken=", "npm_", ALNUM, 36),
    ("x ", "dop_v1_", HEX, 64),
    ("x ", "shpat_", HEX, 32),
    ("HF_TOKEN=", "hf_", "abcdefghijklmnopqrstuvwxyz", 34),
    ("VAULT_TOKEN=", "hvs.", ALNUM, 95),
    ("x ", "glc_", ALNUM, 60),
    ("SESSION_SECRET=", "", ALNUM, 40),
    ("DB_PASSWORD=", "", ALNUM, 24),
];

/// Asserts that the value is in no prompt, no stored file and no output.
pub(super) fn nowhere(scene: &Scene, secret: &str) {
    for folder in [scene.cache(), scene.state()] {
        // Snapshots for undo are copies of the tree, readable by their owner only.
        let copies = scene.state().join("copies");
        for file in super::below(folder)
            .into_iter()
            .filter(|file| !file.starts_with(&copies))
        {
            let bytes = std::fs::read(&file).unwrap_or_default();
            let found = bytes
                .windows(secret.len())
                .any(|window| window == secret.as_bytes());
            assert!(!found, "{} holds a secret", file.display());
        }
    }
    for view in [
        &["runs", "show", "last", "--format", "jsonl"][..],
        &["runs", "show", "last", "--format", "json"],
        &["runs", "show", "last"],
        &["disputes", "show", "1"],
        &["runs", "diff"],
    ] {
        let shown = scene.glee(view);
        inert(&shown);
        assert!(
            !shown.stdout.contains(secret) && !shown.stderr.contains(secret),
            "{shown}"
        );
    }
}

pub(crate) fn add(cases: &mut Cases) {
    const ROW: &str = "attack: secrets carried out";
    for (number, (before, begin, alphabet, length)) in SHAPES.into_iter().enumerate() {
        let carriers = [
            "the code",
            "a review",
            "stderr",
            "a diff",
            "an objection",
            "a rationale",
        ];
        for carrier in carriers.into_iter().skip(number % 2).step_by(2) {
            cases.add(ROW, format!("{before}{begin}... in {carrier}"), move || {
                let secret = format!("{begin}{}", random(alphabet, length, &format!("{number}")));
                let line = format!("{before}{secret}");
                let adapter = Adapter::ALL[number % 2];
                let mut scene = Scene::new(Kind::Git).through(adapter);
                let obey = Step::Obey(scene.cache().display().to_string());
                let mut review = REVIEW.to_owned();
                let mut objection = OBJECTION.to_owned();
                let mut ruling = RULING.to_owned();
                let mut muttered = String::new();
                match carrier {
                    "the code" => drop(scene.write("app.py", format!("{CODE}# {line}\n"))),
                    "a diff" => {
                        scene.write("app.py", format!("{CODE}# {line}\n"));
                        scene.git(&["commit", "-qam", "x"]);
                        scene.write("app.py", CODE);
                    }
                    "a review" => {
                        review = review.replacen('\n', &format!("\n  It holds {line}\n"), 1)
                    }
                    "an objection" => {
                        objection = objection.replacen('\n', &format!("\n  It holds {line}\n"), 1)
                    }
                    "a rationale" => ruling = format!("It holds {line}\n{ruling}"),
                    _ => muttered = format!("{line}\n"),
                }
                for (agent, task, answer) in [
                    ("rev", "review", review),
                    ("fix", "respond", objection),
                    ("jud", "judge", ruling),
                ] {
                    scene.play(
                        agent,
                        task,
                        [obey.clone(), Step::Mutter(muttered.clone()), emit(&answer)],
                    );
                }
                let args = ["review", "--arbitrate", "--no-input", "--format", "json"];
                let output = scene.ready().glee(
                    &[
                        &args[..],
                        if carrier == "a diff" {
                            &[]
                        } else {
                            &["app.py"]
                        },
                    ]
                    .concat(),
                );
                inert(&output);
                assert!(
                    !output.stdout.contains(&secret) && !output.stderr.contains(&secret),
                    "{output}"
                );
                assert_eq!(output.code, 0, "{output}");
                nowhere(&scene, &secret);
            });
        }
    }
    const KEYS: &str = "attack: private keys";
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "DSA ", "ENCRYPTED "] {
        for file in ["app.py", "key.pem", ".env"] {
            cases.add(KEYS, format!("{kind}in {file}"), move || {
                let mut scene = Scene::new(Kind::Git);
                let body: Vec<String> = (0..8)
                    .map(|line| random(ALNUM, 64, &line.to_string()))
                    .collect();
                let dashes = "-----";
                let ends = ["BEGIN", "END"]
                    .map(|word| format!("{dashes}{word} {kind}PRIVATE KEY{dashes}"));
                let key = ends.join(&format!("\n{}\n", body.join("\n")));
                scene.write(file, format!("x = '''{key}'''\n"));
                let obey = Step::Obey(scene.cache().display().to_string());
                scene.play("rev", "review", [obey, emit(REVIEW)]);
                let output =
                    scene
                        .ready()
                        .glee(&["review", file, "--no-input", "--format", "json"]);
                assert_eq!(output.code, 2, "{output}");
                assert!(
                    super::below(scene.cache()).is_empty(),
                    "an agent was asked: {output}"
                );
                assert!(!output.stderr.contains(&body[3]), "{output}");
            });
        }
    }
    const ENVIRONMENT: &str = "attack: Glee's environment";
    for adapter in Adapter::ALL {
        for (agent, task, answer) in [
            ("rev", "review", REVIEW),
            ("fix", "respond", OBJECTION),
            ("jud", "judge", RULING),
        ] {
            cases.add(
                ENVIRONMENT,
                format!("{} {agent}", adapter.word()),
                move || {
                    let mut scene = Scene::new(Kind::Git).through(adapter);
                    let seen = scene.cache().join("seen");
                    scene.play(
                        agent,
                        task,
                        [Step::Environment(seen.display().to_string()), emit(answer)],
                    );
                    for name in [
                        "GITHUB_TOKEN",
                        "AWS_SECRET_ACCESS_KEY",
                        "SSH_AUTH_SOCK",
                        "XDG_RUNTIME_DIR",
                        "OPENAI_API_KEY",
                        "ANTHROPIC_API_KEY",
                        "GPG_AGENT_INFO",
                        "DBUS_SESSION_BUS_ADDRESS",
                        "KUBECONFIG",
                        "NPM_TOKEN",
                        "LD_PRELOAD_X",
                        "GIT_ASKPASS",
                        "DOCKER_HOST",
                        "GLEE_FORGED",
                        "PYTHONPATH",
                    ] {
                        scene.env(name, "do-not-show-this");
                    }
                    let output = scene.arbitrate();
                    assert_eq!(output.code, 0, "{output}");
                    let script = scene.home().join("rev.json").display().to_string();
                    for file in super::below(scene.state()) {
                        let bytes = std::fs::read(&file).unwrap_or_default();
                        let found = bytes
                            .windows(script.len())
                            .any(|window| window == script.as_bytes());
                        assert!(!found, "{} holds the value of a variable", file.display());
                    }
                    let seen = std::fs::read_to_string(seen).expect("the call exists");
                    assert!(!seen.contains("do-not-show-this"), "{seen}");
                    let allowed = glee_agents::process::environment::ALLOWED;
                    for name in seen
                        .lines()
                        .filter_map(|line| line.split_once('='))
                        .map(|(name, _)| name)
                    {
                        let own = name.starts_with("GLEE_")
                            || name.starts_with("FAULTS")
                            || name.starts_with("LC_");
                        assert!(own || allowed.contains(&name), "it sees {name}");
                    }
                },
            );
        }
    }
}
