//! What a reviewer can open of the user's home folder, with and without namespaces.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use glee_agents::process::sandbox::{layers, makes_namespaces};

use crate::review::json;
use crate::support::Sandbox;

/// Runs the words after it where nobody can create a namespace.
const WITHOUT: [&str; 5] = [
    "unshare",
    "-Ur",
    "sh",
    "-c",
    "for kind in user mnt ipc; do echo 0 >/proc/sys/user/max_${kind}_namespaces || exit 1; done; exec \"$@\"",
];

/// The ways to run Glee that this system has: with namespaces and without, both with Landlock.
fn ways() -> Vec<&'static [&'static str]> {
    if !layers().landlock {
        return Vec::new();
    }
    let mut ways: Vec<&[&str]> = Vec::new();
    if makes_namespaces(Path::new(env!("CARGO_BIN_EXE_glee"))) {
        ways.push(&["env"]);
    }
    let tried = Command::new(WITHOUT[0])
        .args(&WITHOUT[1..])
        .args(["x", "true"])
        .output();
    if tried.is_ok_and(|output| output.status.success()) {
        ways.push(&WITHOUT);
    }
    ways
}

/// The exit code, stdout and stderr of Glee.
fn glee(sandbox: &Sandbox, way: &[&str], args: &[&str]) -> (Option<i32>, String, String) {
    let inner = sandbox.command(args);
    let mut command = Command::new(way[0]);
    command.args(&way[1..]);
    if way.len() > 1 {
        command.arg("x");
    }
    command
        .arg(inner.get_program())
        .args(inner.get_args())
        .env_clear();
    command.current_dir(sandbox.root());
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let output = command.output().expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Raises a finding for each line of `$SECRETS` whose file it can read.
const READER: &str = r#"#!/bin/sh
cat >/dev/null
found=0
for file in $(cat "${0%/*}/list"); do
  if grep -q . "$file" 2>/dev/null; then echo "[SHOULD] a.py:1 read $file"; found=$((found + 1)); fi
done
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$found"
"#;

fn project(reader: &str) -> Sandbox {
    with_reader(Sandbox::new(), reader)
}

fn with_reader(sandbox: Sandbox, reader: &str) -> Sandbox {
    sandbox.git_init();
    sandbox.write("a.py", "one = 1\n").program("reader", reader);
    let config = sandbox.user_config();
    fs::create_dir_all(config.parent().expect("a folder")).expect("a folder");
    fs::write(
        config,
        "agents:\n  - {name: reader, role: reviewer, adapter: text, command: [reader]}\n",
    )
    .expect("a written file");
    sandbox
}

fn write(path: &Path) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, "something\n").expect("a written file");
}

/// The files of a list that the reviewer `READER` read.
fn read(sandbox: &Sandbox, way: &[&str], list: &[String]) -> Vec<String> {
    let file = sandbox.root().with_file_name("bin").join("list");
    fs::write(file, list.join("\n")).expect("a written file");
    let (code, stdout, stderr) = glee(
        sandbox,
        way,
        &["review", "a.py", "--format", "json", "--no-input"],
    );
    assert_eq!(code, Some(0), "{way:?}: {stdout}{stderr}");
    let outcome = json(&stdout);
    let findings = outcome["findings"].as_array().expect("findings");
    let titles = findings
        .iter()
        .map(|finding| finding["title"].as_str().unwrap_or_default().to_owned());
    titles
        .map(|title| title.trim_start_matches("read ").to_owned())
        .collect()
}

#[test]
fn a_reviewer_reads_no_secret_of_the_home_folder_nor_the_state_folder() {
    for way in ways() {
        let sandbox = project(READER);
        let home = sandbox.home();
        let names = [
            ".ssh/id_rsa",
            ".aws/credentials",
            ".netrc",
            ".config/gh/hosts.yml",
            ".codex/auth.json",
            ".claude/.credentials.json",
            ".gemini/oauth_creds.json",
            ".local/share/opencode/auth.json",
            ".gnupg/key",
            ".bash_history",
            "notes.txt",
            "work/other/b.py",
            ".config/glee/config.yml",
            ".cache/opencode/token",
            ".cache/huggingface/token",
        ];
        for name in names.iter().filter(|name| !name.ends_with("config.yml")) {
            write(&home.join(name));
        }
        write(&sandbox.state().join("kept"));
        symlink(home.join(".ssh/id_rsa"), sandbox.root().join("link")).expect("a link");
        symlink(home.join(".ssh"), sandbox.root().with_file_name("folder")).expect("a link");
        let mut list: Vec<String> = names
            .iter()
            .map(|name| home.join(name).display().to_string())
            .collect();
        list.extend([
            sandbox.state().join("kept").display().to_string(),
            "link".to_owned(),
            "../home/.netrc".to_owned(),
            "../folder/id_rsa".to_owned(),
            format!("/proc/self/root{}", home.join(".netrc").display()),
            format!("/proc/self/cwd/../home/{}", ".netrc"),
        ]);
        assert_eq!(read(&sandbox, way, &list), [""; 0], "{way:?}");
    }
}

#[test]
fn a_reviewer_reads_the_tree_and_what_its_program_needs() {
    for way in ways() {
        let sandbox = project(READER);
        let home = sandbox.home();
        let name = |name: &str| home.join(name).display().to_string();
        for name in [
            ".cache/tool/x",
            ".local/bin/tool",
            ".gitconfig-work",
            "tools/settings",
            "tools/beside",
        ] {
            write(&home.join(name));
        }
        fs::write(
            home.join(".gitconfig"),
            "[include]\npath = .gitconfig-work\n[user]\nname = x\n",
        )
        .expect("a file");
        fs::write(home.join(".gitconfig-work"), "[user]\nname = y\n").expect("a file");
        let config = fs::read_to_string(sandbox.user_config()).expect("a file");
        let command = format!("command: [reader, '--settings={}']", name("tools/settings"));
        fs::write(
            sandbox.user_config(),
            config.replace("command: [reader]", &command),
        )
        .expect("a file");
        let list = [
            "a.py".to_owned(),
            ".git/HEAD".to_owned(),
            "/etc/passwd".to_owned(),
            name(".cache/tool/x"),
            name(".local/bin/tool"),
            name(".gitconfig"),
            name(".gitconfig-work"),
            name("tools/settings"),
        ];
        let mut found = read(&sandbox, way, &list);
        found.sort();
        let mut expected = list.to_vec();
        expected.sort();
        assert_eq!(found, expected, "{way:?}");
    }
}

#[test]
fn a_tree_in_the_home_folder_is_read_and_its_neighbours_are_not() {
    for way in ways() {
        let sandbox = project(READER);
        let (tree, home) = (sandbox.root(), sandbox.home());
        write(&home.join("neighbour/b.py"));
        write(&home.join(".ssh/id_rsa"));
        let inside = home.join("project");
        fs::rename(&tree, &inside).expect("the tree moves");
        symlink(&inside, &tree).expect("a link");
        let name = |name: &str| home.join(name).display().to_string();
        let list = [
            name("project/a.py"),
            "../neighbour/b.py".to_owned(),
            name("neighbour/b.py"),
            name(".ssh/id_rsa"),
        ];
        assert_eq!(
            read(&sandbox, way, &list),
            [name("project/a.py")],
            "{way:?}"
        );
    }
}

#[test]
fn a_tree_that_is_the_home_folder_is_read_without_its_credentials() {
    for way in ways() {
        let mut sandbox = project(READER);
        let tree = sandbox.root();
        for name in [".ssh/id_rsa", ".netrc", ".vimrc", ".codex/auth.json"] {
            write(&tree.join(name));
        }
        sandbox.env("HOME", tree.display().to_string());
        let list = [
            "a.py",
            ".vimrc",
            ".ssh/id_rsa",
            ".netrc",
            ".codex/auth.json",
        ]
        .map(str::to_owned);
        assert_eq!(read(&sandbox, way, &list), [".vimrc", "a.py"], "{way:?}");
    }
}

#[test]
fn a_program_that_misses_a_closed_file_is_told_which_and_what_to_do() {
    for way in ways() {
        for (script, missed) in [
            ("cat \"$HOME/lib/common.sh\" || exit 3", "lib/common.sh"),
            (". \"$HOME/.profile\"", ".profile"),
            (
                "python3 \"$HOME/.config/reader/main.py\"",
                ".config/reader/main.py",
            ),
        ] {
            let sandbox = project(&format!("#!/bin/sh\n{script}\n"));
            write(&sandbox.home().join(missed));
            let (code, _, stderr) = glee(&sandbox, way, &["review", "a.py", "--no-input"]);
            let words = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
            let named = format!(
                "the sandbox keeps `{}`",
                sandbox.home().join(missed).display()
            );
            assert!(
                code == Some(4) && words.replace("` ", "`").contains(&named),
                "{way:?}: {words}"
            );
            assert!(words.contains("set `sandbox` to `off`"), "{words}");
        }
    }
}

#[test]
fn a_reviewer_changes_no_permissions_outside_the_tree_where_there_are_namespaces() {
    for way in ways() {
        let sandbox = project(
            "#!/bin/sh\ncat >/dev/null\nfor f in $(cat \"${0%/*}/list\"); do chmod 4777 \"$f\"; touch -d @1 \"$f\"; done\n\
             echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n",
        );
        let folder = sandbox.root().with_file_name("beside");
        let files = ["bin/list", "beside/a", "home/.cache/b", "home/.local/bin/c"];
        let files = files.map(|file| folder.with_file_name(file));
        files.iter().for_each(|file| write(file));
        let list: Vec<String> = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        let modes = || {
            files
                .each_ref()
                .map(|file| fs::metadata(file).expect("a file").permissions().mode())
        };
        fs::write(&files[0], list.join("\n")).expect("a file");
        let before = modes();
        let (code, _, stderr) = glee(&sandbox, way, &["review", "a.py", "--no-input"]);
        assert_eq!(code, Some(0), "{way:?}: {stderr}");
        assert_eq!(
            modes() == before,
            way.len() == 1,
            "the page says what is held where: {way:?}"
        );
        let (_, doctor, _) = glee(&sandbox, way, &["doctor"]);
        assert_eq!(
            doctor.contains("change permissions"),
            way.len() > 1,
            "{way:?}: {doctor}"
        );
    }
}

#[test]
fn a_reviewer_works_in_shared_memory_where_the_tree_is_there() {
    let memory = Path::new("/dev/shm");
    for way in ways() {
        let sandbox = with_reader(Sandbox::local_in(memory), READER);
        write(&sandbox.home().join("notes.txt"));
        let outside = tempfile::NamedTempFile::new_in(memory).expect("a file");
        let names = ["a.py", "../home/notes.txt", "../state/kept"];
        write(&sandbox.state().join("kept"));
        let mut list = Vec::from(names.map(|name| sandbox.root().join(name).display().to_string()));
        assert_eq!(read(&sandbox, way, &list), list[..1], "{way:?}");
        // Nothing is written there either, and the other code is no answer that is known.
        sandbox.write("a.py", "two = 2\n");
        list.push(outside.path().display().to_string());
        sandbox.program(
            "reader",
            "#!/bin/sh\ncat >/dev/null\nfor f in $(cat \"${0%/*}/list\"); do echo bad >\"$f\"; done\n\
             echo \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n",
        );
        assert_eq!(read(&sandbox, way, &list), [""; 0]);
        for file in &list {
            let text = fs::read_to_string(file).expect("text");
            assert!(!text.contains("bad"), "{way:?} {file}");
        }
    }
}
