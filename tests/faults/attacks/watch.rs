//! Agents of a watch that try to end their own pause or to lock out the user.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::runner::Cases;
use crate::scene::{Kind, Scene};

/// The common start of attacks: the socket, and a function that sends a line and stores the answer.
const BEGIN: &str = r#"
import json, os, socket, subprocess, sys, time
PATH, HOME, STATE, GLEE = os.environ['GLEE_WATCH_SOCKET'], os.environ['HOME'], sys.argv[1], sys.argv[2]
print(json.dumps({"type": "note", "summary": "at work"}), flush=True)
def fresh(path=PATH):
    s = socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect(path); return s
def say(s, line):
    if not isinstance(line, str): line = json.dumps(line)
    s.sendall((line + '\n').encode()); return s.makefile('r').readline()
RESUME = {"command": "resume", "reason": "forged"}
def note(text):
    with open(HOME + '/mole.log', 'a') as log: log.write(str(text).strip() + '\n')
def attempt(what):
    try: note(what())
    except Exception as error: note('failed: %s' % error)
while not os.path.exists(HOME + '/go'): time.sleep(.02)
"#;
const END: &str = "\nnote('done')\ntime.sleep(60)\n";

/// Ways to forge a command of the user.
const FORGERIES: [(&str, &str); 11] = [
    ("asks", "attempt(lambda: say(fresh(), RESUME))"),
    (
        "inherits the connection of a dead child",
        "s = socket.socket(socket.AF_UNIX)\nif os.fork() == 0:\n s.connect(PATH); os._exit(0)\nos.wait()\nattempt(lambda: say(s, RESUME))",
    ),
    (
        "holds all places meanwhile",
        "held = []\ntry:\n for i in range(400): held.append(fresh())\nexcept Exception: pass\ns = socket.socket(socket.AF_UNIX)\nif os.fork() == 0:\n s.connect(PATH); os._exit(0)\nos.wait()\n[h.close() for h in held]\ntime.sleep(.3)\nattempt(lambda: say(s, RESUME))",
    ),
    (
        "has read the key",
        "import glob\nkeys = [open(p).read() for p in glob.glob(os.path.dirname(PATH) + '/*.key')]\nnote(len(keys))\nfor key in keys:\n attempt(lambda: say(fresh(), dict(RESUME, key=key)))",
    ),
    (
        "has read the key and lets an orphan ask",
        "import glob\nkey = open(glob.glob(os.path.dirname(PATH) + '/*.key')[0]).read()\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n  time.sleep(.5); attempt(lambda: say(fresh(), dict(RESUME, key=key))); os._exit(0)\n os._exit(0)\nos.wait()\ntime.sleep(1.5)",
    ),
    (
        "has read the key and asks from far below",
        "import glob\nkey = open(glob.glob(os.path.dirname(PATH) + '/*.key')[0]).read()\ndef deep(n):\n if n == 0: attempt(lambda: say(fresh(), dict(RESUME, key=key))); os._exit(0)\n if os.fork() == 0: deep(n - 1)\n os.wait(); os._exit(0)\nif os.fork() == 0: deep(90)\nos.wait()",
    ),
    (
        "has read the key and used a dead child's connection",
        "import glob\nkey = open(glob.glob(os.path.dirname(PATH) + '/*.key')[0]).read()\ns = socket.socket(socket.AF_UNIX)\nif os.fork() == 0:\n s.connect(PATH); os._exit(0)\nos.wait()\nattempt(lambda: say(s, dict(RESUME, key=key)))",
    ),
    (
        "prints the command",
        "print(json.dumps(RESUME), flush=True)\ntime.sleep(.5)\nnote('printed')",
    ),
    (
        "runs glee",
        "env = dict(os.environ, GLEE_STATE_DIR=STATE)\nattempt(lambda: subprocess.run([GLEE, 'watch', 'resume', '--reason', 'forged'], env=env, capture_output=True, text=True).stderr)",
    ),
    (
        "removes the socket and runs glee",
        "env = dict(os.environ, GLEE_STATE_DIR=STATE, GLEE_WATCH_SOCKET='')\nos.rename(PATH, PATH + '.x')\nattempt(lambda: subprocess.run([GLEE, 'watch', 'resume', '--reason', 'forged'], env=env, capture_output=True, text=True).stderr)\nos.rename(PATH + '.x', PATH)",
    ),
    (
        "says that a person wants a review",
        "attempt(lambda: say(fresh(), {'type': 'user_manual'}) and 'told')\nprint(json.dumps({'type': 'user_manual'}), flush=True)\ntime.sleep(1)",
    ),
];

struct Watching<'a>(&'a Scene, Child);

impl<'a> Watching<'a> {
    /// A watch with an agent that runs an attack when it is signalled.
    fn begin(scene: &'a mut Scene, attack: &str, args: &[&str]) -> Self {
        let program = scene.home().join("mole.py");
        fs::write(&program, format!("{BEGIN}{attack}{END}")).expect("a written file");
        let (state, glee) = (
            scene.state().display().to_string(),
            env!("CARGO_BIN_EXE_glee"),
        );
        scene.set(&format!(
            "  - {{name: mole, role: coder, adapter: text, command: [python3, {program:?}, {state:?}, {glee:?}]}}"
        ));
        scene.set("watch: {agents: [mole], pause: none, debounce: 100ms}");
        let mut command: Command = scene
            .ready()
            .command(&[&["watch", "--no-input"], args].concat());
        let out = fs::File::create(scene.home().join("watch.log")).expect("a file");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(out);
        let watching = Self(scene, command.spawn().expect("the binary runs"));
        watching.until("it listens", || {
            scene.glee(&["watch", "status"]).stdout.contains("mole")
        });
        watching
    }

    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            let log = || fs::read_to_string(self.0.home().join("watch.log")).unwrap_or_default();
            assert!(
                begun.elapsed() < Duration::from_secs(40),
                "not so: {what}; {} {}",
                self.log(),
                log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.0.home().join("mole.log")).unwrap_or_default()
    }

    fn attack(&self) -> String {
        fs::write(self.0.home().join("go"), "").expect("a written file");
        self.until("it is done", || self.log().contains("done"));
        self.log()
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        drop(self.1.kill());
        drop(self.1.wait());
    }
}

pub(crate) fn add(cases: &mut Cases) {
    const ROW: &str = "attack: agents that lift their own pause";
    for (name, attack) in FORGERIES {
        cases.add(ROW, format!("who {name}"), move || {
            let mut scene = Scene::new(Kind::Git);
            let watching = Watching::begin(&mut scene, attack, &[]);
            let glee = |args: &[&str]| watching.0.glee(args);
            assert_eq!(glee(&["watch", "pause"]).code, 0);
            let log = watching.attack();
            assert!(!log.contains("\"ok\":true"), "{log}");
            let status = glee(&["watch", "status", "--json"]);
            assert_eq!(status.code, 3, "{log}{status}");
            let status: serde_json::Value = serde_json::from_str(&status.stdout).expect("JSON");
            assert_eq!(
                (&status["in_cycle"], &status["cycle"]),
                (&false.into(), &0.into()),
                "a cycle began: {status}"
            );
            let resumed = glee(&["watch", "resume", "--reason", "by hand"]);
            assert_eq!(resumed.code, 0, "{resumed}");
            assert_eq!(glee(&["watch", "status"]).code, 0);
        });
    }
    cases.add(ROW, "whose words a person hands on", || {
        let mut scene = Scene::new(Kind::Git);
        let watching = Watching::begin(&mut scene, "", &[]);
        let glee = |args: &[&str]| watching.0.glee(args);
        assert_eq!(glee(&["watch", "pause"]).code, 0);
        let events = watching.0.home().join("events");
        fs::write(
            &events,
            "{\"type\":\"note\",\"agent\":\"mole\"}\n{\"command\":\"resume\"}\n",
        )
        .expect("a file");
        let handed = glee(&["emit", "--from", &events.display().to_string()]);
        assert_eq!(handed.code, 2, "{handed}");
        assert_eq!(glee(&["watch", "status"]).code, 3);
    });
    cases.add(ROW, "whose file of events has commands", || {
        let mut scene = Scene::new(Kind::Git);
        let events = scene.home().join("events");
        let lines = ["pause", "stop"]
            .map(|word| format!("{{\"command\":\"{word}\"}}\n"))
            .concat();
        fs::write(&events, lines).expect("a file");
        let path = events.display().to_string();
        let watching = Watching::begin(&mut scene, "", &["--events", &path]);
        watching.until("they were read", || {
            watching
                .0
                .glee(&["watch", "status"])
                .stdout
                .contains("2 malformed")
        });
        assert_eq!(watching.0.glee(&["watch", "status"]).code, 0, "it goes on");
    });
    lockouts(cases);
}

/// Ways to lock out the user.
fn lockouts(cases: &mut Cases) {
    const ROW: &str = "attack: agents that hold every connection";
    let many = "held = []\ndef hold(n):\n for i in range(n):\n  try:\n   s = fresh(); FIRST; held.append(s)\n  except Exception: pass\n";
    for (name, first) in [
        ("and say nothing", "pass"),
        (
            "after an event",
            "say(s, {'type': 'note', 'agent': 'mole'})",
        ),
        ("with half a line", "s.sendall(b'{\"type\"')"),
        ("after a status", "say(s, {'command': 'status'})"),
    ] {
        for processes in [1, 12] {
            cases.add(ROW, format!("{name}, {processes} processes"), move || {
                let mut scene = Scene::new(Kind::Git);
                let hold = many.replace("FIRST", first);
                let each = 600 / processes;
                let attack = format!(
                    "{hold}for i in range({processes} - 1):\n if os.fork() == 0: hold({each}); note('held'); time.sleep(60); os._exit(0)\nhold({each})\ntime.sleep(1)"
                );
                let watching = Watching::begin(&mut scene, &attack, &[]);
                watching.attack();
                let glee = |args: &[&str]| watching.0.glee(args);
                let begun = Instant::now();
                for (args, code) in [
                    (&["watch", "status"][..], 0),
                    (&["watch", "pause"], 0),
                    (&["watch", "status"], 3),
                    (&["watch", "resume"], 0),
                    (&["emit", "note", "--agent", "somebody"], 0),
                    (&["watch", "stop"], 0),
                ] {
                    let output = glee(args);
                    assert_eq!(output.code, code, "{args:?} {output}");
                }
                assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
            });
        }
    }
}
