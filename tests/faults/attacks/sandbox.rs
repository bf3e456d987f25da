//! Readers that access files outside the tree: caches, shared memory, sockets of other programs.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use crate::agent::Step;
use crate::rows::clean::shaped;
use crate::runner::Cases;
use crate::scene::{Adapter, CODE, Kind, REVIEW, RULING, Scene, emit, has_namespaces, run};

const READERS: [(&str, &str, &str); 2] = [("rev", "review", REVIEW), ("jud", "judge", RULING)];

pub(crate) fn add(cases: &mut Cases) {
    caches(cases);
    sockets(cases);
    permissions(cases);
    secrets(cases);
}

/// What a reader that is played as either adapter must not read, below the home folder.
const SECRETS: [&str; 8] = [
    ".ssh/id_rsa",
    ".aws/credentials",
    ".netrc",
    ".config/gh/hosts.yml",
    ".claude/.credentials.json",
    ".gemini/oauth_creds.json",
    "work/other/code.py",
    "../state/secret",
];

fn secrets(cases: &mut Cases) {
    const ROW: &str = "attack: secrets of the home folder";
    for (agent, task, answer) in READERS {
        for adapter in [Adapter::Text, Adapter::Codex] {
            for deed in [
                "by their paths",
                "by a link in the tree",
                "by a child of its own session",
            ] {
                cases.add(
                    ROW,
                    format!("{agent} {deed}, {}", adapter.word()),
                    move || {
                        if adapter == Adapter::Codex && (!has_namespaces() || agent == "jud") {
                            return;
                        }
                        let mut scene = Scene::new(Kind::Git);
                        let mut files = vec!["app.py".to_owned()];
                        for (number, name) in SECRETS.iter().enumerate() {
                            let path = scene.home().join(name);
                            std::fs::create_dir_all(path.parent().expect("a folder"))
                                .expect("a folder");
                            std::fs::write(&path, format!("secret {name}\n")).expect("a file");
                            let link = scene.root().join(format!("link{number}"));
                            if deed == "by a link in the tree" {
                                std::os::unix::fs::symlink(&path, &link).expect("a link");
                                files.push(link.display().to_string());
                            } else {
                                files.push(path.display().to_string());
                            }
                        }
                        let seen = scene.cache().join("secrets");
                        let read = Step::Read(files, seen.display().to_string());
                        let steps = match deed {
                            "by a child of its own session" => {
                                vec![Step::Fork(vec![Step::Setsid, read]), Step::Sleep(700)]
                            }
                            _ => vec![read],
                        };
                        let answer = match adapter {
                            Adapter::Text => emit(answer),
                            _ => shaped(adapter, answer),
                        };
                        scene.speak(agent, adapter).play(
                            agent,
                            task,
                            steps.into_iter().chain([answer]),
                        );
                        let output = scene.arbitrate();
                        assert_eq!(output.code, 0, "{output}");
                        let read = std::fs::read_to_string(&seen).expect("the agent wrote a file");
                        assert_eq!(read, CODE, "{output}");
                    },
                );
            }
        }
    }
}

fn caches(cases: &mut Cases) {
    const ROW: &str = "attack: caches and shared memory of other programs";
    for (agent, task, answer) in READERS {
        for deed in [
            "writes over",
            "creates",
            "removes",
            "renames",
            "links",
            "fills shared memory",
        ] {
            cases.add(ROW, format!("{agent} {deed}"), move || {
                let mut scene = Scene::new(Kind::Git);
                let tool = scene.home().join(".cache/tool");
                std::fs::create_dir_all(&tool).expect("a folder");
                std::fs::write(tool.join("code.js"), "good\n").expect("a file");
                let shared = format!("/dev/shm/glee-fault-{agent}-{}", std::process::id());
                let path = |name: &str| tool.join(name).display().to_string();
                let shell = |script: String| run(&["sh", "-c", &script]);
                let step = match deed {
                    "writes over" => shell(format!("echo bad > {}", path("code.js"))),
                    "creates" => shell(format!(
                        "echo bad > {}; mkdir {}",
                        path("new.js"),
                        path("folder")
                    )),
                    "removes" => Step::Remove(tool.display().to_string()),
                    "renames" => shell(format!("mv {} {}", path("code.js"), path("moved.js"))),
                    "links" => shell(format!("ln -sf /etc/passwd {}", path("code.js"))),
                    _ => shell(format!("echo bad > {shared}")),
                };
                scene.play(agent, task, [step, emit(answer)]);
                let output = scene.arbitrate();
                assert_eq!(output.code, 0, "{output}");
                assert!(!std::path::Path::new(&shared).exists(), "{output}");
                assert_eq!(
                    super::below(tool.clone()),
                    [tool.join("code.js")],
                    "{output}"
                );
                assert_eq!(
                    std::fs::read_to_string(tool.join("code.js")).expect("it is there"),
                    "good\n"
                );
                assert!(!tool.join("folder").exists() && !tool.join("code.js").is_symlink());
            });
        }
        cases.add(ROW, format!("{agent} keeps what it caches for its own call"), move || {
            let mut scene = Scene::new(Kind::Git);
            if !has_namespaces() {
                return;
            }
            let cache = scene.home().join(".cache").display().to_string();
            std::fs::write(format!("{cache}/known"), "cached before\n").expect("a file");
            let script =
                format!("cat {cache}/known > {cache}/own && cmp {cache}/known {cache}/own && touch {cache}/ok");
            let seen = format!("{cache}/ok");
            // The report arrives although the cache itself is unchanged.
            let tell = format!("test -e {seen} && exit 0; kill -9 $PPID");
            scene.play(agent, task, [run(&["sh", "-c", &script]), run(&["sh", "-c", &tell]), emit(answer)]);
            let output = scene.arbitrate();
            assert_eq!(output.code, 0, "{output}");
            assert!(!std::path::Path::new(&seen).exists());
        });
    }
}

fn sockets(cases: &mut Cases) {
    const ROW: &str = "attack: sockets of other programs";
    for (agent, task, answer) in READERS {
        for place in [
            "in the home folder",
            "in the tree",
            "in a temporary folder",
            "behind a link",
            "abstract",
        ] {
            cases.add(ROW, format!("{agent} {place}"), move || {
                if place != "abstract" && !has_namespaces() {
                    return;
                }
                let mut scene = Scene::new(Kind::Git);
                let other = tempfile::tempdir().expect("a folder");
                let name = format!("glee-fault-{agent}-{}", std::process::id());
                let (listener, address) = if place == "abstract" {
                    let address = SocketAddr::from_abstract_name(&name).expect("a name");
                    (UnixListener::bind_addr(&address), format!("@{name}"))
                } else {
                    let path = match place {
                        "in the home folder" => scene.home().join("agent.sock"),
                        "in the tree" => scene.root().join("s"),
                        _ => other.path().join("s"),
                    };
                    (UnixListener::bind(&path), path.display().to_string())
                };
                let listener = listener.expect("a socket");
                listener.set_nonblocking(true).expect("an own socket");
                let address = if place == "behind a link" {
                    let link = scene.home().join("link.sock");
                    std::os::unix::fs::symlink(&address, &link).expect("a link");
                    link.display().to_string()
                } else {
                    address
                };
                let seen = scene.cache().join("connected");
                let step = Step::Connect(address, seen.display().to_string());
                scene.play(agent, task, [step, emit(answer)]);
                let output = scene.arbitrate();
                assert_eq!(output.code, 0, "{output}");
                assert_eq!(
                    std::fs::read_to_string(&seen).expect("the agent wrote a file"),
                    "refused",
                    "{output}"
                );
                assert!(listener.accept().is_err(), "somebody came in");
            });
        }
    }
}

fn permissions(cases: &mut Cases) {
    const ROW: &str = "attack: permissions of the tree";
    for (agent, task, answer) in READERS {
        for mode in [0o000, 0o666, 0o755, 0o4755] {
            cases.add(ROW, format!("{agent} chmod {mode:o}"), move || {
                let mut scene = Scene::new(Kind::Git);
                scene.play(
                    agent,
                    task,
                    [Step::Mode("app.py".into(), mode), emit(answer)],
                );
                let output = scene.arbitrate();
                let expected = if has_namespaces() { 0 } else { 5 };
                assert_eq!(output.code, expected, "{output}");
                assert!((expected == 5 && mode == 0) || scene.read("app.py") == CODE);
            });
        }
    }
}
