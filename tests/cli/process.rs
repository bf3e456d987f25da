//! Tests real child processes under the runner and its supervisor: how they end, and that no process remains.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use glee_agents::adapters::invocation::Invocation;
use glee_agents::failure::{Cap, ProcessError};
use glee_agents::process::runner::{ProcessJob, Ran};
use glee_agents::process::sandbox::confinement::{Confinement, Hold};
use glee_agents::streams::dialogue::{Dialogue, StdinWriter, StdoutReader};
use glee_agents::{Execute as _, ProcessRunner, Stop};
use glee_store::config::settings::Limits;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

/// A timeout that only a hang reaches.
const NEVER: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_millis(300);

const LIMITS: Limits = Limits {
    call_timeout: NEVER,
    first_output_timeout: NEVER,
    idle_timeout: NEVER,
    max_output_size: 1 << 20,
    max_line_size: 1 << 16,
    kill_grace: Duration::from_millis(300),
    retries: 0,
    backoff: Duration::from_millis(1),
};

/// A folder with a shell script as program. Its processes are identified by an environment variable.
struct Scene {
    folder: tempfile::TempDir,
    tag: String,
    invocation: Invocation,
    confinement: Option<Confinement>,
    dialogue: Option<Box<dyn Dialogue>>,
    limits: Limits,
    said: Mutex<Vec<String>>,
}

impl Scene {
    fn new(script: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let tag = format!(
            "{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = folder.path().join("agent.sh");
        std::fs::write(&path, script).expect("a written file");
        let env = [
            ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
            ("SCENE".into(), tag.clone().into()),
        ];
        let invocation = Invocation {
            program: "/bin/sh".into(),
            args: vec![path.into()],
            env: BTreeMap::from(env),
            cwd: folder.path().to_owned(),
            stdin: Vec::new(),
            streams: true,
            files: Vec::new(),
        };
        Self {
            folder,
            tag,
            invocation,
            confinement: None,
            dialogue: None,
            limits: LIMITS,
            said: Mutex::default(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn run(&self) -> Ran {
        self.run_until(Stop::never()).await
    }

    async fn run_until(&self, stop: Stop) -> Ran {
        let (stdout, stderr) = (self.path("stdout"), self.path("stderr"));
        let activity = |line: &str| {
            self.said
                .lock()
                .expect("the lock is not poisoned")
                .push(line.to_owned());
            true
        };
        runner()
            .run(ProcessJob {
                invocation: &self.invocation,
                request: None,
                suspended: None,
                dialogue: self.dialogue.as_deref(),
                marks: Default::default(),
                confinement: self.confinement.clone(),
                limits: self.limits,
                stdout: &stdout,
                stderr: &stderr,
                activity: &activity,
                stop,
            })
            .await
    }

    fn stdout(&self) -> Vec<u8> {
        std::fs::read(self.path("stdout")).expect("stdout is kept")
    }

    fn command(&self) -> String {
        format!("/bin/sh {}", self.path("agent.sh").display())
    }

    async fn ready(&self) {
        while !self.path("ready").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The running processes that started as this scene's program.
    fn alive(&self) -> Vec<String> {
        let mark = format!("SCENE={}", self.tag).into_bytes();
        let marked = |process: &Path| {
            let environ = std::fs::read(process.join("environ")).unwrap_or_default();
            let status = std::fs::read_to_string(process.join("status")).unwrap_or_default();
            (environ.split(|byte| *byte == 0).any(|entry| entry == mark)
                && !status.contains("\nState:\tZ"))
            .then(|| {
                std::fs::read_to_string(process.join("cmdline"))
                    .unwrap_or_default()
                    .replace('\0', " ")
            })
        };
        let processes = std::fs::read_dir("/proc").expect("/proc is readable");
        processes
            .flatten()
            .filter_map(|entry| marked(&entry.path()))
            .collect()
    }
}

fn runner() -> ProcessRunner {
    ProcessRunner::with_program(env!("CARGO_BIN_EXE_glee"))
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The exit code or the signal that ended a process.
type End = (Option<i32>, Option<i32>);

/// The error's text and the end recorded in the transcript.
fn failure(ran: Ran) -> (String, Option<End>) {
    let failed = ran.expect_err("the program fails");
    let exit = failed
        .output
        .map(|output| (output.transcript.exit_code, output.transcript.signal));
    (failed.error.to_string(), exit)
}

#[tokio::test]
async fn a_program_that_ends_well() {
    let mut scene = Scene::new("cat; echo aside >&2");
    scene.invocation.stdin = b"question \xff\n".to_vec();
    let output = scene.run().await.expect("it succeeds");
    assert_eq!(output.stdout, scene.path("stdout"));
    insta::assert_snapshot!(output.stderr_tail, @"aside");
    let peak_memory = output.transcript.peak_memory;
    assert!(peak_memory.is_some_and(|bytes| (64 << 10..1 << 30).contains(&bytes)));
    assert_eq!(
        output.transcript,
        glee_model::domain::event::Transcript {
            stdout_bytes: 11,
            stdout_hash: hash(b"question \xff\n"),
            stderr_bytes: 6,
            exit_code: Some(0),
            signal: None,
            held: false,
            peak_memory,
        }
    );
    assert_eq!(scene.stdout(), b"question \xff\n");
    assert_eq!(
        std::fs::read(scene.path("stderr")).expect("stderr is kept"),
        b"aside\n"
    );
}

#[tokio::test]
async fn a_program_that_prints_nothing() {
    let output = Scene::new(":").run().await.expect("it succeeds");
    assert_eq!(
        (output.transcript.stdout_bytes, output.transcript.exit_code),
        (0, Some(0))
    );
}

#[rstest::rstest]
#[case(1)]
#[case(2)]
#[case(126)]
#[case(127)]
#[case(137)]
#[case(255)]
#[tokio::test]
async fn an_exit_code_is_a_failure_with_the_last_words(#[case] code: i32) {
    let scene = Scene::new(&format!(
        "echo partial; echo first >&2; echo 'no luck' >&2; exit {code}"
    ));
    let failed = scene.run().await.expect_err("it fails");
    assert_eq!(
        failed.error.to_string(),
        format!("`{}` ended with exit code {code}: no luck", scene.command())
    );
    let output = failed.output.expect("it printed");
    assert_eq!(
        (output.stderr_tail.as_str(), output.transcript.exit_code),
        ("first\nno luck\n", Some(code))
    );
    assert_eq!(scene.stdout(), b"partial\n");
}

#[tokio::test]
async fn a_signal_is_told_from_an_exit_code() {
    let scene = Scene::new("ulimit -c 0; kill -SEGV $$");
    let message = format!("`{}` was killed by signal 11", scene.command());
    assert_eq!(
        failure(scene.run().await),
        (message, Some((None, Some(11))))
    );
}

#[tokio::test]
async fn programs_that_cannot_be_started() {
    let mut scene = Scene::new("");
    scene.invocation.args.clear();
    scene.invocation.program = scene.path("missing");
    let missing = scene.run().await.expect_err("it cannot be run");
    assert!(
        matches!(missing.error, ProcessError::NotFound(..)),
        "{:?}",
        missing.error
    );
    assert!(missing.output.is_none());

    scene.invocation.program = scene.path("agent.sh");
    let forbidden = scene.run().await.expect_err("it cannot be run");
    let ProcessError::Spawn(_, source) = forbidden.error else {
        panic!("{:?}", forbidden.error)
    };
    assert_eq!(source.kind(), std::io::ErrorKind::PermissionDenied);

    scene.invocation.program = "/bin/sh".into();
    scene.invocation.cwd = scene.path("nowhere");
    let homeless = scene.run().await.expect_err("it cannot be run");
    assert!(
        matches!(homeless.error, ProcessError::Spawn(..)),
        "{:?}",
        homeless.error
    );
}

#[tokio::test]
async fn silence_from_the_start() {
    let mut scene = Scene::new("sleep 100");
    scene.limits.first_output_timeout = SOON;
    let failed = scene.run().await.expect_err("it times out");
    assert!(
        matches!(
            failed.error,
            ProcessError::TimedOut {
                cap: Cap::FirstOutput,
                after: SOON,
                ..
            }
        ),
        "{:?}",
        failed.error
    );
    assert_eq!(scene.alive(), [""; 0]);

    let mut scene = Scene::new("sleep 100");
    scene.invocation.streams = false;
    (
        scene.limits.first_output_timeout,
        scene.limits.idle_timeout,
        scene.limits.call_timeout,
    ) = (Duration::ZERO, Duration::ZERO, SOON);
    let message = format!(
        "Glee ended `{}`, because the program did not end within 300ms",
        scene.command()
    );
    assert_eq!(
        failure(scene.run().await),
        (message, Some((None, Some(15))))
    );
}

#[tokio::test]
async fn silence_after_a_byte() {
    let mut scene = Scene::new("printf x; sleep 100");
    scene.limits.idle_timeout = SOON;
    let failed = scene.run().await.expect_err("it times out");
    assert!(
        matches!(
            failed.error,
            ProcessError::TimedOut {
                cap: Cap::Idle,
                after: SOON,
                ..
            }
        ),
        "{:?}",
        failed.error
    );
    assert_eq!(scene.stdout(), b"x");
}

#[tokio::test]
async fn a_drip_that_never_ends() {
    let mut scene = Scene::new("while :; do echo drip; sleep 0.02; done");
    scene.limits.call_timeout = SOON;
    let failed = scene.run().await.expect_err("it times out");
    assert!(
        matches!(
            failed.error,
            ProcessError::TimedOut {
                cap: Cap::Total,
                after: SOON,
                ..
            }
        ),
        "{:?}",
        failed.error
    );
    assert_eq!(scene.alive(), [""; 0]);
}

#[tokio::test]
async fn a_stall_within_the_cap_is_survived() {
    let scene = Scene::new("echo one; sleep 0.4; echo two");
    scene.run().await.expect("it recovers");
    assert_eq!(scene.stdout(), b"one\ntwo\n");
}

#[tokio::test]
async fn a_farewell_within_the_grace_period_is_heard() {
    let mut scene =
        Scene::new("trap 'echo bye; exit 3' TERM; : > ready; while :; do sleep 0.02; done");
    scene.limits.kill_grace = NEVER;
    let (handle, stop) = Stop::new();
    let (ran, ()) = tokio::join!(scene.run_until(stop), async {
        scene.ready().await;
        handle.stop();
    });
    assert_eq!(
        failure(ran),
        (
            format!("`{}` was stopped", scene.command()),
            Some((Some(3), None))
        )
    );
    assert_eq!(scene.stdout(), b"bye\n");
}

#[tokio::test]
async fn who_ignores_term_is_killed() {
    let mut scene = Scene::new("trap '' TERM; setsid sleep 100 & while :; do sleep 0.02; done");
    scene.limits.call_timeout = SOON;
    assert_eq!(failure(scene.run().await).1, Some((None, Some(9))));
    assert_eq!(scene.alive(), [""; 0]);
}

/// Forks, orphans, separate sessions, a daemon that holds the pipe and ignores SIGTERM.
const FAMILY: &str = "
sleep 100 & (sleep 101 &)
setsid sleep 102 &
(setsid sh -c 'trap \"\" TERM; (sleep 103 &) ; setsid sleep 104 & : > daemon; wait' &)
while [ ! -e daemon ]; do sleep 0.01; done
";

#[tokio::test]
async fn nothing_outlives_an_agent_that_ends() {
    let scene = Scene::new(&format!("{FAMILY} echo done"));
    scene
        .run()
        .await
        .expect("it succeeds without waiting for the end of its output");
    assert_eq!(scene.stdout(), b"done\n");
    assert_eq!(scene.alive(), [""; 0]);
}

#[tokio::test]
async fn nothing_outlives_an_agent_that_is_stopped() {
    let scene = Scene::new(&format!("{FAMILY} : > ready; wait"));
    let (handle, stop) = Stop::new();
    let (ran, ()) = tokio::join!(scene.run_until(stop), async {
        scene.ready().await;
        assert!(scene.alive().len() >= 6, "{:?}", scene.alive());
        handle.stop();
    });
    assert!(matches!(
        ran.expect_err("it is stopped").error,
        ProcessError::Stopped(..)
    ));
    assert_eq!(scene.alive(), [""; 0]);
}

#[tokio::test]
async fn two_hundred_forks() {
    let script = "i=0; while [ $i -lt 200 ]; do (setsid sleep 100 &) ; i=$((i+1)); done; exit 4";
    let scene = Scene::new(script);
    assert_eq!(failure(scene.run().await).1, Some((Some(4), None)));
    assert_eq!(scene.alive(), [""; 0]);
}

#[tokio::test]
async fn dropping_the_future_ends_the_agent() {
    let scene = Scene::new(&format!("{FAMILY} : > ready; wait"));
    tokio::select! {
        ran = scene.run() => panic!("it ended without a signal: {ran:?}"),
        () = async {
            scene.ready().await;
            assert!(scene.alive().len() >= 6, "{:?}", scene.alive());
        } => {}
    }
    gone(&scene);
}

/// Waits until no process remains, limited by the timeout of the test.
fn gone(scene: &Scene) {
    let deadline = Instant::now() + NEVER;
    while !scene.alive().is_empty() {
        assert!(Instant::now() < deadline, "{:?}", scene.alive());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[tokio::test]
async fn killing_glee_ends_its_agents() {
    let scene = Scene::new(&format!("{FAMILY} : > ready; wait"));
    let mut host = host(&scene);
    scene.ready().await;
    assert!(scene.alive().len() >= 6, "{:?}", scene.alive());
    host.kill().expect("the host is ours");
    host.wait().expect("the host is ours");
    gone(&scene);
}

#[tokio::test]
async fn a_hundred_megabytes_take_no_memory() {
    let scene = Scene::new("head -c 104857600 /dev/zero; echo; : > ready; kill -9 $$");
    let mut host = host(&scene);
    assert!(host.wait().expect("the host is ours").success());
    let peak = std::fs::read_to_string(scene.path("peak")).expect("the host wrote its peak");
    let peak: u64 = peak.trim().parse().expect("a number of KiB");
    assert!(peak < 64 << 10, "{peak} KiB");
}

/// Runs a scene in a separate process, which can be killed and measured.
fn host(scene: &Scene) -> std::process::Child {
    std::process::Command::new(std::env::current_exe().expect("the test binary"))
        .args([
            "--exact",
            "process::hosted",
            "--ignored",
            "--test-threads=1",
        ])
        .env("HOSTED", scene.folder.path())
        .env("HOSTED_TAG", &scene.tag)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the test binary runs")
}

#[tokio::test]
#[ignore = "the other side of `host`"]
async fn hosted() {
    let (Some(folder), Some(tag)) = (std::env::var_os("HOSTED"), std::env::var_os("HOSTED_TAG"))
    else {
        return;
    };
    let mut scene = Scene::new("");
    let folder = PathBuf::from(folder);
    scene.invocation.args = vec![folder.join("agent.sh").into()];
    scene.invocation.env.insert("SCENE".into(), tag);
    scene.invocation.cwd = folder.clone();
    let ran = scene.run().await;
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc is readable");
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
    std::fs::write(folder.join("peak"), peak.expect("Linux reports the peak"))
        .expect("a written file");
    assert_eq!(failure(ran).1, Some((None, Some(9))));
}

#[tokio::test]
async fn output_is_kept_to_its_cap_and_hashed_in_full() {
    let mut scene = Scene::new(
        "head -c 5000000 /dev/zero; head -c 3000000 /dev/zero >&2; printf 'end\\377' >&2",
    );
    scene.limits.max_output_size = 100_000;
    let output = scene.run().await.expect("it succeeds");
    assert_eq!(output.transcript.stdout_bytes, 5_000_000);
    assert_eq!(output.transcript.stdout_hash, hash(&vec![0; 5_000_000]));
    assert_eq!(output.transcript.stderr_bytes, 3_000_004);
    assert_eq!(scene.stdout(), vec![0; 100_000]);
    assert_eq!(
        std::fs::metadata(scene.path("stderr"))
            .expect("stderr is kept")
            .len(),
        100_000
    );
    assert_eq!(
        output.stderr_tail,
        format!("{}end\u{fffd}", "\0".repeat(4092))
    );
}

#[rstest::rstest]
#[case::never_read("echo ok")]
#[case::closed_at_once("exec 0<&-; echo ok")]
#[case::read_late("sleep 0.2; wc -c > /dev/null; echo ok")]
#[case::read_in_part("head -c 100000 > /dev/null; echo ok")]
#[tokio::test]
async fn five_megabytes_of_stdin(#[case] script: &str) {
    let mut scene = Scene::new(script);
    scene.invocation.stdin = vec![b'x'; 5 << 20];
    scene.run().await.expect("it succeeds");
    assert_eq!(scene.stdout(), b"ok\n");
}

#[tokio::test]
async fn an_agent_gets_its_own_environment() {
    let mut scene = Scene::new("");
    scene.invocation.args.clear();
    scene.invocation.program = "/usr/bin/env".into();
    scene.run().await.expect("it succeeds");
    let stdout = String::from_utf8(scene.stdout()).expect("text");
    let path = std::env::var("PATH").expect("the tests run with a PATH");
    let (temporary, rest): (Vec<&str>, Vec<&str>) =
        stdout.lines().partition(|line| line.starts_with("TMPDIR="));
    assert_eq!(
        rest,
        [format!("PATH={path}"), format!("SCENE={}", scene.tag)]
    );
    let folder = temporary[0].trim_start_matches("TMPDIR=");
    assert!(
        temporary.len() == 1 && !Path::new(folder).exists(),
        "{temporary:?}"
    );
}

#[tokio::test]
async fn an_agent_inherits_three_descriptors_and_no_other_agents_pipes() {
    let mut scene = Scene::new("");
    scene.invocation.program = "/bin/ls".into();
    scene.invocation.args = vec!["/proc/self/fd".into()];
    let other = Scene::new("sleep 0.3");
    let (ran, other) = tokio::join!(
        async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            scene.run().await
        },
        other.run()
    );
    ran.expect("it succeeds");
    other.expect("it succeeds");
    // The fourth is the descriptor of the listed folder.
    insta::assert_snapshot!(String::from_utf8(scene.stdout()).expect("text"), @r"
    0
    1
    2
    3
    ");
}

#[tokio::test]
async fn an_agent_that_kills_its_supervisor_is_found_out() {
    let scene = Scene::new("kill -9 $PPID");
    let failed = scene.run().await.expect_err("nobody watches it");
    assert!(
        matches!(failed.error, ProcessError::SupervisorDied { .. }),
        "{:?}",
        failed.error
    );
}

#[tokio::test]
async fn a_terminated_supervisor_takes_its_agent_along() {
    let scene = Scene::new("setsid sleep 100 & kill -TERM $PPID; wait");
    assert_eq!(failure(scene.run().await).1, Some((None, Some(15))));
    assert_eq!(scene.alive(), [""; 0]);
}

#[tokio::test]
async fn signs_of_life_are_the_last_lines() {
    let scene = Scene::new("printf 'one\\n\\377two\\n\\n'; sleep 0.5; echo three >&2; sleep 0.5");
    scene.run().await.expect("it succeeds");
    assert_eq!(
        *scene.said.lock().expect("the lock is not poisoned"),
        ["\u{fffd}two", "three"]
    );
}

#[tokio::test]
async fn arguments_arrive_as_they_are() {
    let mut scene = Scene::new("for word in \"$@\"; do printf '<%s>' \"$word\"; done");
    let words = ["--", "a b", "", "-n", "é", "*", "$HOME"].map(OsString::from);
    scene.invocation.args.extend(words);
    scene.run().await.expect("it succeeds");
    assert_eq!(
        String::from_utf8(scene.stdout()).expect("text"),
        "<--><a b><><-n><é><*><$HOME>"
    );
}

/// A read-only scene with a separate writable folder.
fn held(script: &str) -> (Scene, tempfile::TempDir) {
    let own = tempfile::tempdir().expect("a temporary folder");
    let mut scene = Scene::new(script);
    scene.confinement = Some(Confinement {
        hold: Hold::Always,
        writable: vec![own.path().into(), "/dev/null".into()],
        ..Confinement::default()
    });
    scene.invocation.env.insert("OWN".into(), own.path().into());
    (scene, own)
}

#[tokio::test]
async fn who_is_held_writes_nothing_but_its_own() {
    if !glee_agents::process::sandbox::layers().landlock {
        return;
    }
    let (scene, own) = held(
        "echo a > made; mkdir folder; true > agent.sh; rm agent.sh; mv agent.sh other; ln agent.sh linked; ln -s x soft
         (setsid sh -c 'echo b > later')
         echo kept > \"$OWN/file\"; echo gone > \"$TMPDIR/file\"; cat \"$TMPDIR/file\" 2> /dev/null",
    );
    let output = scene.run().await.expect("it succeeds");
    assert!(output.transcript.held);
    assert_eq!(scene.stdout(), b"gone\n");
    assert_eq!(
        std::fs::read(own.path().join("file")).expect("it may write there"),
        b"kept\n"
    );
    let left = std::fs::read_dir(scene.folder.path())
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name());
    let mut left: Vec<OsString> = left.collect();
    left.sort();
    assert_eq!(left, ["agent.sh", "stderr", "stdout"]);
    assert!(
        std::fs::metadata(scene.path("agent.sh"))
            .expect("the script")
            .len()
            > 0
    );
}

#[tokio::test]
async fn who_is_held_cannot_end_who_watches_it() {
    if !glee_agents::process::sandbox::layers().landlock {
        return;
    }
    let (scene, _own) =
        held("kill -9 $PPID; kill -9 $(cut -d ' ' -f 4 /proc/$PPID/stat); echo alive");
    match scene.run().await {
        Ok(output) => assert!(output.transcript.held),
        // Linux before 6.12 does not restrict signals, which the runner detects.
        Err(failed) => assert!(
            matches!(failed.error, ProcessError::SupervisorDied { .. }),
            "{failed}"
        ),
    }
}

/// Sends a greeting and the reply it received, or reports the missing reply, and then waits for a last line.
struct Greeting;

impl Dialogue for Greeting {
    fn drive<'a>(
        &'a self,
        stdout: StdoutReader,
        mut stdin: StdinWriter,
        stop: Stop,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            stdin
                .write_all(b"hello\n")
                .await
                .expect("the program reads stdin");
            let mut answer = String::new();
            let mut stdout = BufReader::new(stdout);
            let stopped = tokio::select! {
                _ = stdout.read_line(&mut answer) => false,
                () = stop.stopped() => true,
            };
            let heard = if stopped { "nothing\n" } else { &answer };
            stdin
                .write_all(format!("you said {heard}").as_bytes())
                .await
                .expect("the program reads stdin");
            if stopped {
                stdout
                    .read_line(&mut String::new())
                    .await
                    .expect("the program prints a last line");
            }
        })
    }
}

#[tokio::test]
async fn a_conversation_ends_the_program_that_stays() {
    let mut scene = Scene::new("read a; echo \"$a back\"; read b; echo \"$b\" > heard; sleep 60");
    scene.dialogue = Some(Box::new(Greeting));
    let output = scene.run().await.expect("the dialogue succeeds");
    assert_eq!(scene.stdout(), b"hello back\n");
    assert_eq!(output.transcript.signal, Some(15));
    insta::assert_snapshot!(std::fs::read_to_string(scene.path("heard")).expect("it received a line"), @"you said hello back");
    assert_eq!(scene.alive(), Vec::<String>::new());
}

#[tokio::test]
async fn a_conversation_that_is_stopped_takes_its_leave() {
    let mut scene = Scene::new("read a; : > ready; read b; echo \"$b\"; sleep 60");
    scene.dialogue = Some(Box::new(Greeting));
    let (handle, stop) = Stop::new();
    let (ran, ()) = tokio::join!(scene.run_until(stop), async {
        scene.ready().await;
        handle.stop();
    });
    assert!(matches!(
        ran.expect_err("it is stopped").error,
        ProcessError::Stopped(..)
    ));
    assert_eq!(scene.stdout(), b"you said nothing\n");
    assert_eq!(scene.alive(), Vec::<String>::new());
}
