//! FIFOs, devices, sockets and folders instead of files.

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use nix::sys::stat::Mode;

use crate::runner::Cases;
use crate::scene::{Kind, Scene, emit};

/// A timeout longer than a refusal on a busy machine; reading a FIFO would block forever.
const LONG: Duration = Duration::from_secs(15);

/// The replacements of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    Fifo,
    LinkToFifo,
    Zero,
    Socket,
    Folder,
}

impl Special {
    const ALL: [Self; 5] = [
        Self::Fifo,
        Self::LinkToFifo,
        Self::Zero,
        Self::Socket,
        Self::Folder,
    ];

    fn put(self, place: &Path) {
        drop(std::fs::create_dir_all(
            place.parent().expect("a parent folder"),
        ));
        drop(std::fs::remove_file(place));
        let fifo = |at: &Path| nix::unistd::mkfifo(at, Mode::S_IRWXU).expect("a FIFO");
        let link = |to: &Path| std::os::unix::fs::symlink(to, place).expect("a link");
        match self {
            Self::Fifo => fifo(place),
            Self::LinkToFifo => {
                let at = place.with_extension("pipe");
                fifo(&at);
                link(&at);
            }
            Self::Zero => link(Path::new("/dev/zero")),
            Self::Socket => drop(UnixListener::bind(place).expect("a socket")),
            Self::Folder => std::fs::create_dir_all(place.join("inside")).expect("a folder"),
        }
    }

    fn is_fifo(self) -> bool {
        matches!(self, Self::Fifo | Self::LinkToFifo)
    }
}

pub(crate) fn add(cases: &mut Cases) {
    input(cases);
    named(cases);
    advisories(cases);
    substitution(cases);
}

/// Runs Glee, which must not block; returns its exit code and output.
fn at_once(scene: &Scene, args: &[&str]) -> (Option<i32>, String) {
    let mut glee: Child = scene.ready().start(args);
    let (mut out, mut err) = (
        glee.stdout.take().expect("piped"),
        glee.stderr.take().expect("piped"),
    );
    let reading = std::thread::spawn(move || std::io::read_to_string(&mut out).unwrap_or_default());
    let said = std::thread::spawn(move || std::io::read_to_string(&mut err).unwrap_or_default());
    let started = Instant::now();
    let code = loop {
        if let Some(status) = glee.try_wait().expect("it is ours") {
            break status.code();
        }
        if started.elapsed() > LONG {
            drop(glee.kill());
            panic!("{args:?} waits");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let text = reading.join().unwrap_or_default() + &said.join().unwrap_or_default();
    (code, text)
}

fn input(cases: &mut Cases) {
    const ROW: &str = "input that is no file";
    let commands: [&[&str]; 8] = [
        &["parse", "IT"],
        &["merge", "IT"],
        &["merge", "--batch", "IT"],
        &["vote", "IT"],
        &["vote", "--batch", "IT"],
        &["review", "--no-input", "--diff", "IT"],
        &["consensus", "ask", "--no-input", "--file", "IT"],
        &["watch", "--events", "IT"],
    ];
    for args in commands {
        // Glee waits for a FIFO named by the user; see the rows of signals.
        for special in [Special::Zero, Special::Socket, Special::Folder] {
            cases.add(ROW, format!("{special:?}, {}", args.join(" ")), move || {
                let scene = Scene::new(Kind::Git);
                let place = scene.home().join("it");
                special.put(&place);
                let place = place.display().to_string();
                let args: Vec<&str> = args
                    .iter()
                    .map(|arg| if *arg == "IT" { place.as_str() } else { arg })
                    .collect();
                let (code, text) = at_once(&scene, &args);
                assert_eq!(code, Some(2), "{text}");
                assert!(
                    text.contains(&place) && text.contains("not a regular file"),
                    "{text}"
                );
            });
        }
    }
}

/// Files read from the tree or the user's settings, with the exit code if anything else replaces them: an error
/// that names it, else it counts as missing. An untrusted template is refused before it is read.
const NAMED: [(&str, Option<i32>); 10] = [
    (".glee/config.yml", Some(2)),
    (".glee/prompts/review.md", Some(8)),
    (".glee/rules/x.yml", None),
    (".gleeignore", None),
    (".gitignore", None),
    ("sub/.gitignore", None),
    (".gitattributes", None),
    (".git/info/exclude", None),
    ("Cargo.lock", None),
    ("HOME/.config/git/ignore", None),
];

fn named(cases: &mut Cases) {
    const ROW: &str = "files of the tree and the settings that are no files";
    for (path, named) in NAMED {
        for special in Special::ALL {
            cases.add(ROW, format!("{path}: {special:?}"), move || {
                let scene = Scene::new(Kind::Git);
                let place = match path.strip_prefix("HOME/") {
                    Some(path) => scene.home().join(path),
                    None => scene.root().join(path),
                };
                scene.write("sub/b.py", "x = 1\n");
                special.put(&place);
                for args in [
                    &["review", "app.py", "--no-input"][..],
                    &["review", "--no-input"],
                ] {
                    let (code, text) = at_once(&scene, args);
                    assert!(matches!(code, Some(0..=2 | 8)), "{code:?}: {text}");
                    let name = Path::new(path)
                        .file_name()
                        .expect("a name")
                        .to_string_lossy()
                        .into_owned();
                    if let Some(expected) = named
                        && args.len() == 3
                    {
                        assert_eq!(code, Some(expected), "{text}");
                        assert!(text.contains(&name), "{text}");
                    }
                }
            });
        }
    }
    for (name, args) in [
        ("config", &["review", "app.py", "--no-input"]),
        ("history", &["runs", "--history", "IT"]),
    ] {
        for special in Special::ALL {
            cases.add(ROW, format!("the user's {name}: {special:?}"), move || {
                let scene = Scene::new(Kind::Git);
                let place: PathBuf = if name == "config" {
                    scene.user_config()
                } else {
                    scene.home().join("h.db")
                };
                // `ready` writes the configuration, so it is replaced afterwards.
                scene.ready();
                special.put(&place);
                let place = place.display().to_string();
                let args: Vec<&str> = args
                    .iter()
                    .map(|arg| if *arg == "IT" { place.as_str() } else { *arg })
                    .collect();
                let output = scene
                    .command(&args)
                    .stdin(std::process::Stdio::null())
                    .output()
                    .expect("it ends");
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(matches!(output.status.code(), Some(2 | 7)), "{text}");
                assert!(text.contains(&place), "{text}");
            });
        }
    }
}

fn advisories(cases: &mut Cases) {
    const ROW: &str = "a database of advisories that is no file";
    const LOCK: &str = "version = 3\n\n[[package]]\nname = \"time\"\nversion = \"0.1.43\"\n";
    const VULNERABLE: &str = "[MUST] app.py:2 CVE-2020-26235: `time` 0.1.43 reads the environment unsoundly\n\
                              GLEE-REVIEW-END nonce={nonce} findings=1\n";
    for special in Special::ALL {
        for below in [false, true] {
            cases.add(
                ROW,
                format!("{special:?}{}", if below { " in a folder" } else { "" }),
                move || {
                    let mut scene = Scene::new(Kind::Git);
                    scene.write("Cargo.lock", LOCK);
                    scene.play("rev", "review", [emit(VULNERABLE)]);
                    let place = scene.home().join("osv");
                    special.put(&if below {
                        place.join("it.json")
                    } else {
                        place.clone()
                    });
                    scene.set(&format!(
                        "advisories: {{path: {:?}}}",
                        place.display().to_string()
                    ));
                    let (code, text) = at_once(&scene, &["review", "app.py", "--no-input"]);
                    assert_eq!(code, Some(1), "{text}");
                    if special != Special::Folder && !below {
                        assert!(
                            text.contains("osv") && text.contains("not a regular file"),
                            "{text}"
                        );
                    }
                    assert!(special.is_fifo() || !text.contains("FIFO"), "{text}");
                },
            );
        }
    }
}

/// `<(command)` of a shell is a FIFO and is accepted.
fn substitution(cases: &mut Cases) {
    const ROW: &str = "process substitution";
    let lines = [
        (
            "parse",
            "\"$0\" parse <(printf '[MUST] app.py:2 Replace it\\n')",
            "Replace it",
        ),
        (
            "parse, standard input by its path",
            "printf '[MUST] app.py:2 Replace it\\n' | \"$0\" parse /dev/stdin",
            "Replace it",
        ),
        (
            "merge",
            "\"$0\" merge <(printf '{\"model\": \"a\", \"findings\": []}')",
            "{",
        ),
        (
            "review --diff",
            "\"$0\" review --no-input --diff <(printf -- '--- a/app.py\\n+++ b/app.py\\n@@ -1,2 +1,2 @@\\n-def k(data):\\n+def key(data):\\n     return md5(data)\\n')",
            "app.py:2",
        ),
    ];
    for (name, line, expected) in lines {
        cases.add(ROW, name, move || {
            let scene = Scene::new(Kind::Git);
            let glee = scene.ready().command(&[]);
            let mut shell = std::process::Command::new("bash");
            shell
                .args(["-c", line])
                .arg(glee.get_program())
                .current_dir(scene.root())
                .env_clear();
            shell.envs(
                glee.get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            );
            let output = shell
                .stdin(std::process::Stdio::null())
                .output()
                .expect("a shell");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                text.contains(expected),
                "{text}{}",
                String::from_utf8_lossy(&output.stderr)
            );
        });
    }
}
