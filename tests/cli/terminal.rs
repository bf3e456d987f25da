//! Tests reports on a terminal: pager, summary, links and notifications.

#![cfg(unix)]

use crate::dialog;
use crate::review::{json, project};
use crate::support::Sandbox;
use crate::support::pty::Pty;

/// A project whose last run has four mandatory findings and an optional one, on a terminal.
fn reviewed() -> Sandbox {
    let mut sandbox = project();
    sandbox
        .env("TERM", "xterm-256color")
        .env("GLEE_PAGER", "my-pager");
    sandbox.program(
        "my-pager",
        "#!/bin/sh\ncat > paged\necho \"paged with $LESS\"\n",
    );
    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 1);
    sandbox
}

fn screen(sandbox: &Sandbox, rows: u16, args: &[&str]) -> String {
    let (code, shown) = Pty::sized(&sandbox.command(args), 80, rows).end();
    assert_eq!(code, 0, "{shown}");
    shown.replace('\r', "")
}

fn set(sandbox: &Sandbox, key: &str, value: &str) {
    let set = sandbox.glee(&["config", "set", "--user", key, value]);
    assert_eq!(set.code, 0, "{set}");
}

const SUMMARY: &str = "✗ 4 mandatory findings are open · 1 file, ";

#[test]
fn a_long_report_begins_with_its_summary_and_goes_through_the_pager() {
    let sandbox = reviewed();
    assert_eq!(screen(&sandbox, 24, &["runs", "show"]), "paged with FRX\n");
    let paged = console::strip_ansi_codes(&sandbox.read("paged")).into_owned();
    assert!(paged.starts_with(SUMMARY), "{paged}");
    assert_eq!(
        paged.matches("4 mandatory").count(),
        2,
        "said once, and counted: {paged}"
    );
    assert!(paged.contains("\nNext\n"), "{paged}");

    let (code, shown) = Pty::sized(&sandbox.command(&["review", "app.py"]), 80, 24).end();
    assert_eq!(code, 1, "{shown}");
    assert!(shown.ends_with("paged with FRX\r\n"), "{shown}");

    let short = screen(&sandbox, 200, &["runs", "show"]);
    assert!(
        short.starts_with(SUMMARY) && !short.contains("paged"),
        "{short}"
    );
    assert!(sandbox.glee(&["runs", "show"]).stdout.starts_with(SUMMARY));
}

#[test]
fn who_wants_no_pager_gets_none() {
    let mut sandbox = reviewed();
    let direct = |sandbox: &Sandbox, args: &[&str]| {
        let shown = screen(sandbox, 24, args);
        // The screen stays at the end.
        let lines: Vec<&str> = shown.lines().collect();
        let screen = lines[lines.len().saturating_sub(23)..].join("\n");
        assert!(
            screen.contains(SUMMARY) && screen.contains("Next") && !shown.contains("paged"),
            "{args:?}: {shown}"
        );
    };
    direct(&sandbox, &["--no-pager", "runs", "show"]);
    direct(&sandbox, &["runs", "show", "--no-input"]);
    set(&sandbox, "ui.pager", "off");
    direct(&sandbox, &["runs", "show"]);
    set(&sandbox, "ui.pager", "auto");
    for pager in ["cat", "", " "] {
        sandbox.env("GLEE_PAGER", pager);
        direct(&sandbox, &["runs", "show"]);
    }
    sandbox.env("GLEE_PAGER", "no-such-pager --flag");
    let shown = screen(&sandbox, 24, &["runs", "show"]);
    assert!(
        shown.contains(SUMMARY) && shown.contains("no-such-pager"),
        "{shown}"
    );
}

#[test]
fn ctrl_c_belongs_to_the_pager() {
    let sandbox = reviewed();
    sandbox.program(
        "my-pager",
        "#!/bin/sh\ntrap 'echo interrupted; exit 0' INT\ncat > paged\necho reading\nsleep 60 & wait\n",
    );
    let mut pty = Pty::sized(&sandbox.command(&["runs", "show"]), 80, 24);
    pty.expect("reading").send("\x03").expect("interrupted");
    assert_eq!(pty.end().0, 0);
}

#[test]
fn after_a_dialog_there_is_no_pager() {
    let mut sandbox = dialog::project(dialog::ONE, Some(dialog::JUDGE));
    sandbox
        .env("GLEE_PAGER", "my-pager")
        .program("my-pager", "#!/bin/sh\necho paged\n");
    let mut pty = Pty::sized(
        &sandbox.command(&["review", "app.py", "--arbitrate"]),
        80,
        20,
    );
    pty.expect("How to resolve?").expect("Esc").pick(0);
    let (code, shown) = pty.end();
    assert_eq!(code, 0, "{shown}");
    assert!(
        shown.contains("1 finding: 1 dismissed") && !shown.contains("paged"),
        "{shown}"
    );
}

#[test]
fn filters_hide_findings_in_every_format_but_the_record() {
    let sandbox = reviewed();
    let low = sandbox.glee(&["runs", "show", "--severity", "low"]);
    assert_eq!(low.code, 0, "{low}");
    assert!(
        low.stdout.contains("Finish this") && !low.stdout.contains("Do not evaluate"),
        "{low}"
    );
    assert!(
        low.stdout.contains("Hidden by --severity: 4 findings\n"),
        "{low}"
    );
    assert!(
        low.stdout.contains("5 findings: 4 open, 1 optional"),
        "{low}"
    );
    let elsewhere = sandbox.glee(&["review", "app.py", "--path", "lib", "--open"]);
    assert_eq!(elsewhere.code, 1, "{elsewhere}");
    assert!(
        elsewhere
            .stdout
            .contains("Hidden by --path and --open: 5 findings\n"),
        "{elsewhere}"
    );
    let quiet = sandbox.glee(&["-q", "runs", "show", "--severity", "low"]);
    let lines = "LOW[F5] app.py:14 Finish this\nHidden by --severity: 4 findings\n✗ 4 mandatory findings are open\n";
    assert_eq!(quiet.stdout, lines);

    assert_eq!(
        sandbox
            .glee(&["dismiss", "--by", "Test", "F1", "--reason", "ours"])
            .code,
        0
    );
    let open = sandbox.glee(&["runs", "show", "--open"]);
    assert!(
        open.stdout
            .contains("Hidden by --open: 1 finding, 1 dispute\n"),
        "{open}"
    );
    let open = sandbox.glee(&["runs", "show", "--open", "--format", "json"]);
    assert_eq!(open.code, 0, "{open}");
    let shown: serde_json::Value = serde_json::from_str(&open.stdout).expect("a JSON outcome");
    let ids: Vec<&str> = shown["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter_map(|finding| finding["id"].as_str())
        .collect();
    assert!(!ids.is_empty() && !ids.contains(&"F1"), "{ids:?}");
    // The record has everything.
    let refused = sandbox.glee(&["runs", "show", "--open", "--format", "jsonl"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.stderr.contains("`jsonl`"), "{refused}");
}

#[test]
fn places_are_links_that_an_editor_opens() {
    let mut sandbox = reviewed();
    let name = "a [dir]/my b.py";
    sandbox.write(
        name,
        "import hashlib\n\n\ndef digest(text):\n    return hashlib.md5(text).hexdigest()\n",
    );
    let plain = sandbox.glee(&["review", "--with", "builtin:rules", name]);
    assert!(
        plain.stdout.contains(&format!("{name}:5\n")) && !plain.stdout.contains('\x1b'),
        "{plain}"
    );
    sandbox.env("FORCE_HYPERLINK", "1").env("GLEE_PAGER", "cat");
    let link = |address: &str, text: &str| format!("\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\");
    let file = "file://[ROOT]/a%20%5Bdir%5D/my%20b.py";
    let (_, shown) = Pty::sized(&sandbox.command(&["runs", "show"]), 80, 24).end_raw();
    assert!(
        sandbox
            .placeholders(&shown)
            .contains(&link(file, &format!("{name}:5"))),
        "{shown:?}"
    );
    let listed = sandbox.glee(&["findings", "--path", "a [[]dir]"]);
    assert!(
        listed.stdout.contains(&link(file, &format!("{name}:5"))),
        "{listed}"
    );
    let below = sandbox.glee(&["-C", "a [dir]", "show", "F6"]);
    assert!(below.stdout.contains(&link(file, "my b.py:5")), "{below}");

    // Links have no width: with and without links, the lines break at the same columns.
    let linked = sandbox.glee(&["runs", "show"]).stdout;
    set(&sandbox, "ui.hyperlink", "off");
    let off = sandbox.glee(&["runs", "show"]).stdout;
    assert_ne!(linked, off);
    assert_eq!(console::strip_ansi_codes(&linked), off);
    set(
        &sandbox,
        "ui.hyperlink",
        "vscode://file{path}:{line}:{column}",
    );
    let editor = sandbox.glee(&["show", "F6"]).stdout;
    assert!(
        editor.contains(&link(
            "vscode://file[ROOT]/a%20%5Bdir%5D/my%20b.py:5:1",
            &format!("{name}:5")
        )),
        "{editor:?}"
    );

    // A pager other than `less` may print control sequences as text.
    sandbox.env("GLEE_PAGER", "my-pager");
    screen(&sandbox, 5, &["runs", "show"]);
    assert!(
        !sandbox.read("paged").contains("\x1b]8"),
        "no links for an unknown pager"
    );

    let mut config = sandbox.read(".glee/config.yml");
    config.push_str("ui: {hyperlink: 'https://evil.example/{path}'}\n");
    sandbox.write(".glee/config.yml", config);
    let refused = sandbox.glee(&["config", "list"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused
            .stderr
            .contains("the project's file cannot set `ui.hyperlink`"),
        "{refused}"
    );
}

/// Records what the command is told.
const TELL: &str = "#!/bin/sh\ncat > told.json\nenv | grep ^GLEE_ | sort > told.env\n";

#[test]
fn a_long_run_tells_the_terminal_and_the_command() {
    let sandbox = reviewed();
    sandbox.script("tell.sh", TELL);
    set(&sandbox, "notify.command", "./tell.sh 'a b'");
    let soon = Pty::sized(&sandbox.command(&["review", "app.py", "--full"]), 80, 99)
        .end_raw()
        .1;
    assert!(
        !soon.contains("\x1b]9;") && !sandbox.exists("told.json"),
        "a short run: {soon}"
    );

    set(&sandbox, "notify.after", "0s");
    let (code, shown) =
        Pty::sized(&sandbox.command(&["review", "app.py", "--full"]), 80, 99).end_raw();
    assert_eq!(code, 1, "{shown}");
    assert!(
        shown.contains("\x1b]9;Glee: project: 4 mandatory findings are open\x07"),
        "{shown:?}"
    );
    let told = json(&sandbox.read("told.json"));
    assert_eq!(
        (&told["event"], &told["code"], &told["open_mandatory"]),
        (&"ended".into(), &1.into(), &4.into())
    );
    assert_eq!(told["target"], "app.py");
    let variables = sandbox.read("told.env");
    assert!(
        variables.contains(
            "GLEE_EXIT=1\nGLEE_FOLDER=project\nGLEE_MESSAGE=4 mandatory findings are open\n"
        ),
        "{variables}"
    );

    // Without a terminal, only the command runs; its failure changes no exit code.
    sandbox.script(
        "tell.sh",
        "#!/bin/sh\necho 'no\x1b[2J network' >&2\nexit 3\n",
    );
    set(&sandbox, "notify.terminal", "off");
    let failed = sandbox.glee(&["review", "app.py"]);
    assert_eq!(failed.code, 1, "{failed}");
    assert!(
        failed
            .stderr
            .contains("warning: `./tell.sh a b` (notify.command) failed: "),
        "{failed}"
    );
    assert!(!failed.stderr.contains('\x1b'), "{failed}");
    let off = Pty::sized(&sandbox.command(&["review", "app.py"]), 80, 99)
        .end_raw()
        .1;
    assert!(!off.contains("\x1b]9;"), "{off:?}");
}

#[test]
fn a_run_that_waits_for_a_person_says_so_once() {
    let sandbox = dialog::project(dialog::ONE, Some(dialog::JUDGE));
    sandbox.script(
        "tell.sh",
        "#!/bin/sh\necho \"$GLEE_EVENT: $GLEE_MESSAGE\" >> told\n",
    );
    set(&sandbox, "notify.after", "0s");
    set(&sandbox, "notify.command", "./tell.sh");
    let mut pty = Pty::open(&sandbox, &["review", "app.py", "--arbitrate"]);
    pty.expect("How to resolve?").expect("Esc").pick(0);
    let (code, shown) = pty.end_raw();
    assert_eq!(code, 0, "{shown}");
    assert!(
        shown.contains("\x1b]9;Glee: project: dispute 1 waits for you\x07"),
        "{shown:?}"
    );
    assert_eq!(
        sandbox.read("told"),
        "waiting: dispute 1 waits for you\nended: Nothing mandatory is open\n"
    );
}

#[test]
fn a_projects_command_needs_trust() {
    let sandbox = reviewed();
    sandbox.script("tell.sh", TELL);
    let mut config = sandbox.read(".glee/config.yml");
    config.push_str("notify: {command: ./tell.sh, after: 0s}\n");
    sandbox.write(".glee/config.yml", config);
    let refused = sandbox.glee(&["review", "app.py"]);
    assert_eq!(refused.code, 8, "{refused}");
    assert!(
        refused.stderr.contains("./tell.sh (notify.command)"),
        "{refused}"
    );
    assert!(
        refused
            .stderr
            .contains("tell.sh (a file that a command names"),
        "{refused}"
    );
    assert!(!sandbox.exists("told.json"));
    assert_eq!(sandbox.glee(&["trust"]).code, 0);
    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 1);
    assert!(sandbox.exists("told.json"));
    // The trusted content includes the script.
    sandbox.script("tell.sh", "#!/bin/sh\ntrue\n");
    assert_eq!(sandbox.glee(&["review", "app.py"]).code, 8);
}
