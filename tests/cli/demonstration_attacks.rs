//! What a demonstration tries against the machine, the tree and its own verdict: nothing happens, and it shows nothing.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;

use crate::demonstrations::{Shop, block};
use crate::review::json;

/// An attack: the reasons of which one is given, the path of the file (`{n}` is the number of the row), and what stands
/// in the file.
struct Attack {
    reasons: &'static [&'static str],
    path: &'static str,
    code: String,
}

/// A test that would be believed if the attack did nothing to it: it reaches the finding's block, and fails afterwards.
fn attack(reasons: &'static [&'static str], line: &str) -> Attack {
    Attack {
        reasons,
        path: "tests/test_{n}.py",
        code: format!(
            "import atexit, glob, mmap, os, shutil, signal, socket, stat, subprocess, sys, tempfile, threading, time, unittest\nfrom shop.total_{{n}} import total\n\n\nclass Total(unittest.TestCase):\n    def test_all_prices_count(self):\n        sum = total([1, 2, 3])\n        {}\n        self.assertEqual(sum, 6)\n",
            line.replace('\n', "\n        ")
        ),
    }
}

const BROKEN: &[&str] = &["broken"];
const TOO_MUCH: &[&str] = &["took_too_much"];
/// A busy machine does not provide 2 GiB of memory in time.
const SLOWLY: &[&str] = &["took_too_much", "broken", "timed_out"];
const TIMED_OUT: &[&str] = &["timed_out"];
const CHANGED: &[&str] = &["changed_tree"];

/// The folder with the shop's state, and what listens beside it.
struct Place {
    shop: Shop,
    tcp: TcpListener,
    udp: UdpSocket,
    _unix: UnixListener,
}

impl Place {
    fn new() -> Self {
        let mut shop = Shop::new();
        let base = shop.sandbox.home().with_file_name("");
        fs::create_dir(base.join("outside")).expect("a folder");
        fs::write(base.join("outside/kept"), "kept").expect("a file");
        fs::create_dir_all(shop.sandbox.home().join(".ssh")).expect("a folder");
        fs::write(shop.sandbox.home().join(".ssh/id"), "s3cret").expect("a file");
        symlink(base.join("outside"), shop.sandbox.root().join("tests/out")).expect("a link");
        shop.sandbox.env("SHOP_TOKEN", "s3cret-of-the-environment");
        shop.set("limits.call_timeout", "6s");
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        tcp.set_nonblocking(true).expect("a socket");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
        udp.set_nonblocking(true).expect("a socket");
        let _unix = UnixListener::bind(base.join("outside/socket")).expect("a socket");
        Self {
            shop,
            tcp,
            udp,
            _unix,
        }
    }

    /// Runs all attacks in one review, each against a file of its own, and checks that nothing happened.
    fn holds(&self, attacks: &[Attack]) {
        let Self { shop, tcp, udp, .. } = self;
        let base = shop.sandbox.home().with_file_name("");
        let base = base.to_str().expect("a name").trim_end_matches('/');
        let mut said = String::new();
        for (n, attack) in attacks.iter().enumerate() {
            let n = n.to_string();
            shop.sandbox.write(
                format!("shop/total_{n}.py"),
                format!("def total(prices):\n    result = {n}\n    return result - {n} + sum(prices[1:])\n"),
            );
            let fill = |text: &str| {
                text.replace("{n}", &n)
                    .replace("{base}", base)
                    .replace(
                        "{tcp}",
                        &tcp.local_addr().expect("bound").port().to_string(),
                    )
                    .replace(
                        "{udp}",
                        &udp.local_addr().expect("bound").port().to_string(),
                    )
            };
            said += &format!(
                "[MUST] shop/total_{n}.py:3 The first price of list {n} is lost (confidence 90, bug)\n```demonstration path={} runner=unittest\n{}```\n",
                fill(attack.path),
                fill(&attack.code)
            );
        }
        shop.sandbox.git(&["add", "-A"]);
        shop.sandbox
            .git(&["commit", "-q", "--allow-empty", "-m", "More"]);
        let before = shop.sandbox.git(&["ls-files", "-s"]);
        shop.says(
            "lens-review",
            &format!(
                "{said}\nGLEE-REVIEW-END nonce={{nonce}} findings={} read=all\n",
                attacks.len()
            ),
        );
        let output = shop.sandbox.glee(&["review", "shop", "--no-input"]);
        let shown = shop
            .sandbox
            .glee(&["runs", "show", "last", "--format", "json"]);
        let outcome = json(&shown.stdout);
        let findings = outcome["findings"].as_array().expect("findings");
        let mut wrong = Vec::new();
        for (n, attack) in attacks.iter().enumerate() {
            let file = format!("shop/total_{n}.py");
            let finding = findings
                .iter()
                .find(|finding| finding["file"] == file.as_str());
            let finding = finding.unwrap_or_else(|| panic!("no finding in {file}: {output}"));
            let one = &finding["demonstrations"][0];
            let reason = one["reason"].as_str().unwrap_or_default();
            if one["result"] != "inconclusive" || !attack.reasons.contains(&reason) {
                wrong.push(format!("{:?}\n{}\n{one:#}", attack.reasons, attack.code));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(tcp.accept().is_err(), "somebody connected");
        assert!(udp.recv(&mut [0; 9]).is_err(), "somebody sent something");
        let outside = fs::read_dir(format!("{base}/outside")).expect("a folder");
        assert_eq!(outside.count(), 2);
        let home = shop.sandbox.home();
        assert_eq!(
            fs::read(home.join(".ssh/id")).ok().as_deref(),
            Some(&b"s3cret"[..])
        );
        assert!(!home.join("x").exists());
        assert_eq!(shop.sandbox.git(&["status", "--porcelain"]), "");
        assert_eq!(shop.sandbox.git(&["ls-files", "-s"]), before);
        assert!(!outcome.to_string().contains("s3cret"), "{outcome:#}");
        let left = fs::read_dir(shop.sandbox.state()).expect("a folder");
        let mut left = left.filter(|entry| {
            let name = entry.as_ref().expect("an entry").file_name();
            name.to_string_lossy().starts_with("demonstration-")
        });
        assert!(left.next().is_none(), "a copy is left behind");
        assert_eq!(running(base), Vec::<String>::new());
    }
}

/// The command lines of the processes that have a path below `base` in their environment.
fn running(base: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    let own = processes.filter(|process| {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(base)
    });
    own.map(|process| fs::read_to_string(process.path().join("cmdline")).unwrap_or_default())
        .collect()
}

#[test]
fn a_demonstration_writes_nowhere_outside_its_copy() {
    let rows = [
        "open('{base}/home/x', 'w')",
        "open('{base}/outside/x', 'w')",
        "open('{base}/outside/kept', 'w')",
        "open('{base}/project/shop/total_{n}.py', 'a')",
        "open('{base}/state/x', 'w')",
        "open('{base}/project/.git/x', 'w')",
        "open('{base}/bin/glee', 'w')",
        "os.mkdir('{base}/outside/x')",
        "os.mkfifo('{base}/outside/x')",
        "os.remove('{base}/outside/kept')",
        "os.truncate('{base}/outside/kept', 0)",
        "os.chmod('{base}/outside/kept', 0o777)",
        "os.utime('{base}/outside/kept')",
        "os.setxattr('{base}/outside/kept', 'user.x', b'x')",
        "os.rename('{base}/outside/kept', 'tests/kept')",
        "os.link('{base}/outside/kept', 'tests/kept'); open('tests/kept', 'a')",
        "os.symlink('{base}/outside', 'tests/way'); open('tests/way/x', 'w')",
        "open('tests/out/x', 'w')",
        "shutil.rmtree('{base}/project')",
        "socket.socket(socket.AF_UNIX).bind('{base}/outside/x')",
        "subprocess.run(['sh', '-c', 'echo x > {base}/outside/x'], check=True)",
        "subprocess.run(['mount', '--bind', 'tests', '{base}/outside'], check=True)",
        "subprocess.run(['unshare', '-Urm', 'sh', '-c', 'mount -o remount,bind,rw / && echo x > {base}/outside/x'], check=True)",
        "os.mknod('tests/disk', 0o600 | stat.S_IFBLK, os.makedev(254, 0)); open('tests/disk', 'rb')",
        "open('/proc/1/root{base}/outside/x', 'w')",
        "open(os.environ['PYTHONPATH'] + '/sitecustomize.py', 'a')",
    ];
    Place::new().holds(&rows.map(|line| attack(BROKEN, line)));
}

#[test]
fn a_demonstration_has_no_network_and_reads_no_secrets() {
    let rows = [
        "socket.create_connection(('127.0.0.1', {tcp}), 2)",
        "socket.create_connection(('::1', {tcp}), 2)",
        "__import__('urllib.request').request.urlopen('http://127.0.0.1:{tcp}/', timeout=2)",
        "subprocess.run(['bash', '-c', 'echo x > /dev/tcp/127.0.0.1/{tcp}'], check=True)",
        "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', {udp}))",
        "socket.getaddrinfo('example.com', 80)",
        "socket.socket(socket.AF_UNIX).connect('{base}/outside/socket')",
        "open('{base}/home/.ssh/id')",
        "open(os.path.expanduser('~/.ssh/id'))",
        "print(glob.glob('{base}/home/.ssh/*')[0])",
        "print(os.environ['SHOP_TOKEN'])",
        "open('/proc/1/environ')",
        "found = []\nfor name in glob.glob('/proc/[0-9]*/environ'):\n    try: found += [text for text in [open(name).read()] if 's3' + 'cret' in text]\n    except OSError: pass\nprint(found[0])",
        "print(glob.glob('{base}/state/**/*.db', recursive=True)[0])",
    ];
    Place::new().holds(&rows.map(|line| attack(BROKEN, line)));
}

#[test]
fn a_demonstration_takes_a_bounded_part_of_the_machine() {
    let fill = "n = 0\nwhile True:\n    n += 1\n    ";
    let rows = [
        // The bombs end by themselves, should nothing end them.
        attack(
            TOO_MUCH,
            "end = time.time() + 2\nwhile time.time() < end: os.fork()\ntime.sleep(60)",
        ),
        attack(
            TOO_MUCH,
            "subprocess.run(['bash', '-c', 'f() { [ $SECONDS -gt 1 ] || { f | f & }; }; f; sleep 60'])",
        ),
        attack(
            TOO_MUCH,
            "for _ in range(300):\n    if os.fork() == 0: os.setsid(); time.sleep(60)\ntime.sleep(60)",
        ),
        attack(
            BROKEN,
            "while True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        ),
        attack(
            BROKEN,
            "if os.fork() == 0: os.setsid(); time.sleep(600)\nraise OSError",
        ),
        attack(BROKEN, "bytearray(8 << 30)"),
        attack(
            SLOWLY,
            "kept = []\nwhile True: kept.append(bytearray(50 << 20))",
        ),
        attack(
            SLOWLY,
            "m = mmap.mmap(-1, 8 << 30)\nfor at in range(0, len(m), 1 << 20): m[at:at + (1 << 20)] = b'x' * (1 << 20)",
        ),
        attack(
            TOO_MUCH,
            "for _ in range(8):\n    if os.fork() == 0: kept = b'x' * (400 << 20); time.sleep(60)\ntime.sleep(60)",
        ),
        attack(
            BROKEN,
            "os.posix_fallocate(os.open('tests/big', os.O_CREAT | os.O_RDWR), 0, 8 << 30)",
        ),
        attack(
            TOO_MUCH,
            &format!(
                "{fill}os.posix_fallocate(os.open('tests/big%d' % n, os.O_CREAT | os.O_RDWR), 0, 100 << 20); time.sleep(.05)"
            ),
        ),
        attack(
            TOO_MUCH,
            &format!(
                "{fill}os.posix_fallocate(os.open('tests/big', os.O_CREAT | os.O_RDWR), 0, 100 << 20); os.remove('tests/big'); time.sleep(.05)"
            ),
        ),
        attack(
            TOO_MUCH,
            &format!(
                "{fill}os.posix_fallocate(tempfile.mkstemp()[0], 0, 100 << 20); time.sleep(.05)"
            ),
        ),
        attack(
            TOO_MUCH,
            &format!(
                "{fill}os.posix_fallocate(os.memfd_create('x'), 0, 100 << 20); time.sleep(.05)"
            ),
        ),
        attack(
            TOO_MUCH,
            &format!(
                "{fill}os.posix_fallocate(os.open('/dev/shm/x%d' % n, os.O_CREAT | os.O_RDWR), 0, 100 << 20); time.sleep(.05)"
            ),
        ),
        attack(TIMED_OUT, "time.sleep(600)"),
        attack(TIMED_OUT, "while True: pass"),
        attack(
            TIMED_OUT,
            "for number in [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]: signal.signal(number, signal.SIG_IGN)\ntime.sleep(600)",
        ),
        attack(BROKEN, "input()"),
    ];
    Place::new().holds(&rows);
}

#[test]
fn a_demonstration_neither_changes_what_it_tests_nor_forges_its_verdict() {
    let forged = "os.write(2, b'\\n\\nRan 1 test in 0.001s\\n\\nFAILED (failures=1)\\n')";
    let at = |path, code: &str| Attack {
        reasons: &["refused"],
        path,
        code: code.to_owned(),
    };
    let rows = [
        attack(CHANGED, "open('shop/total_{n}.py', 'a').write('#')"),
        attack(
            CHANGED,
            "text = open('shop/total_{n}.py').read()\nopen('shop/total_{n}.py', 'w').write('')\nopen('shop/total_{n}.py', 'w').write(text)",
        ),
        attack(
            CHANGED,
            "shutil.copy(__file__, 'tests/x'); os.replace('tests/x', 'shop/total_{n}.py')",
        ),
        attack(CHANGED, "os.remove('shop/total_{n}.py')"),
        attack(CHANGED, "os.rename('shop', 'moved')"),
        attack(CHANGED, "os.chmod('shop/total_{n}.py', 0o777)"),
        attack(CHANGED, "open('tests/test_old.py', 'w')"),
        attack(
            CHANGED,
            "os.remove(__file__); os.symlink('/etc/passwd', __file__)",
        ),
        attack(BROKEN, &format!("{forged}; os._exit(1)")),
        attack(
            BROKEN,
            "os.execvp('sh', ['sh', '-c', 'printf \"\\nRan 1 test in 0.001s\\n\\nFAILED (failures=1)\\n\" >&2; exit 1'])",
        ),
        attack(
            BROKEN,
            &format!("atexit.register(os._exit, 1); {forged}; return"),
        ),
        attack(&["unclear"], forged),
        attack(
            &["unclear"],
            &format!("atexit.register(lambda: {forged}); return"),
        ),
        attack(&["unclear"], "os.close(2)"),
        attack(BROKEN, "unittest.TestCase.run = lambda *a: None"),
        attack(
            BROKEN,
            "unittest.TextTestResult.wasSuccessful = lambda self: False\nunittest.TextTestResult.addSuccess = unittest.TextTestResult.addFailure",
        ),
        attack(
            BROKEN,
            "def report(self, *a): pass\nunittest.runner.TextTestRunner.run = report",
        ),
        attack(
            &["unclear", "broken", "flaky"],
            "open('unittest.py', 'w').write('raise SystemExit(1)')",
        ),
        at("tests/out/test_{n}.py", "import unittest\n"),
        at("tests/test_old.py", "import unittest\n"),
        at("tests/.hidden.py", "import unittest\n"),
        at("tests/-c.py", "import unittest\n"),
        at("/tests/test_{n}.py", "import unittest\n"),
        at("shop/test_{n}.py", "import unittest\n"),
        at("tests/test_{n}.py", &("#".repeat(70) + "\n").repeat(1000)),
        attack(&["passes"], "print('x' * 10_000_000); return"),
        attack(
            &["passes"],
            "sys.stderr.write('x' * 10_000_000 + '\\n'); return",
        ),
    ];
    Place::new().holds(&rows);
}

/// Root has no limit of processes, so what an ordinary user is held to is tried as one.
#[test]
fn a_demonstration_of_an_ordinary_user_runs_and_is_held_as_well() {
    const NOBODY: &str = "65534";
    let is_root = fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0);
    let switch = ["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"];
    let can_switch = Command::new("setpriv").args(switch).arg("true").status();
    if !is_root || !can_switch.is_ok_and(|status| status.success()) {
        return;
    }
    let shop = Shop::new();
    let base = shop.sandbox.home().with_file_name("");
    let rows = [
        ("", "fails_before", ""),
        (
            "end = time.time() + 3\nwhile time.time() < end:\n    try:\n        if os.fork() == 0: time.sleep(9); os._exit(0)\n    except OSError: time.sleep(0.1)",
            "inconclusive",
            "took_too_much",
        ),
    ];
    for (line, result, reason) in rows {
        let code = attack(BROKEN, line).code.replace("total_{n}", "total");
        shop.review(&block("tests/test_total.py", &code));
        let owned = Command::new("chown")
            .args(["-R", "65534:65534"])
            .arg(&base)
            .status();
        assert!(owned.expect("chown starts").success());
        let own = shop
            .sandbox
            .command(&["review", "shop", "--no-input", "--format", "json"]);
        let mut command = Command::new("setpriv");
        command
            .args(switch)
            .arg(own.get_program())
            .args(own.get_args());
        command.current_dir(shop.sandbox.root()).env_clear();
        for (name, value) in own.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        let output = command.output().expect("setpriv starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let one = &json(&text)["findings"][0]["demonstrations"][0];
        assert_eq!(one["result"], result, "{one:#}");
        assert_eq!(
            one["reason"].as_str().unwrap_or_default(),
            reason,
            "{one:#}"
        );
    }
}
