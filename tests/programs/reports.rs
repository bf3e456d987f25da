//! Reports of a review in which every text is hostile, read by `xmllint` and by GitHub's renderer of Markdown.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::has;
use crate::support::Sandbox;

const TEXTS: [&str; 10] = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)> &amp; &lt; \"quoted\" 'single'",
    "--> <!-- ]]> <![CDATA[ <?xml?>",
    "\u{1b}[31mred\u{1b}[0m \u{9b}2J \u{7}\u{8}\u{c} \u{ffff}\u{fffe}",
    "\u{202e}gnihtyreve si enif\u{202c} \u{200b}\u{200f}\u{2028}\u{feff}\u{e0041}",
    "[click](https://evil.example/) ![p](http://evil.example/p.png) [ref] [ref]: javascript:alert(1)",
    "@octocat https://evil.example/x www.evil.example a@evil.example #1 GH-7 octo/cat#9 <https://evil.example>",
    "# heading\n\n---\n\n* item\n1. item\n> quote\n\n```\nfence\n~~~~\n    code\n===\n",
    "`code` ``more `code` `` ``` **bold** _it_ ~~gone~~ $x$ | cell | \\ \\` :smile:",
    "שלום العربية 日本語 é🔥👩‍👩‍👧",
];

const PATHS: [&str; 5] = [
    "src/a b [c] (d).rs",
    "web/<b>&\"'.js",
    "-dash.py",
    "日本/ファイル 1.py",
    "deep/`tick`/*star*_x_.rs",
];

/// Objects to each second mandatory finding and discards the rest, in hostile words.
const CODER: &str = r#"#!/bin/sh
n=0
for id in $GLEE_FINDINGS; do
  n=$((n + 1))
  [ $((n % 2)) = 1 ] && word=DISAGREE || word=DISCARDED
  echo "[$id] $word: @octocat <b>no</b> https://evil.example/x #$n \`tick\`"
  echo "  Evidence: -dash.py:1"
done
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n"
"#;

const JUDGE: &str = r#"#!/bin/sh
case $((GLEE_DISPUTE % 3)) in
  0) word=ENFORCE ;;
  1) word=DISMISS ;;
  2) word=ESCALATE ;;
esac
echo "-dash.py:1 <img src=x onerror=alert(1)> ]]> @octocat [click](https://evil.example/) #$GLEE_DISPUTE"
echo "GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=$word"
"#;

/// A review with a finding for each text at each path, with objections and rulings.
fn reviewed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    let tags = ["MUST", "HIGH", "LOW"];
    let mut findings = Vec::new();
    for (at, path) in PATHS.iter().enumerate() {
        sandbox.write(path, "line\n".repeat(3 * TEXTS.len()));
        for (line, text) in TEXTS.iter().enumerate() {
            findings.push(json!({
                "severity": tags[(at + line) % 3],
                "file": path,
                "line": 3 * line + 1,
                "title": text,
                "description": TEXTS[(at + line) % TEXTS.len()],
                "category": TEXTS[(at + line + 1) % TEXTS.len()],
                "suggestion": TEXTS[(at + line + 2) % TEXTS.len()],
                "confidence": 50 + at,
            }));
        }
    }
    let answer = json!({ "findings": findings, "nonce": "NONCE" });
    sandbox.write("../review.json", answer.to_string());
    let reviewer = "#!/bin/sh\nsed \"s/NONCE/$GLEE_NONCE/\" ../review.json\n";
    for (role, text) in [("reviewer", reviewer), ("coder", CODER), ("judge", JUDGE)] {
        sandbox.script(format!("../{role}.sh"), text);
        let command = format!("../{role}.sh");
        let connected = sandbox.glee(&[
            "connect",
            role,
            "--role",
            role,
            "--name",
            role,
            "--command",
            &command,
        ]);
        assert_eq!(connected.code, 0, "{connected}");
    }
    let reviewed = sandbox.glee(&["review", "--arbitrate"]);
    assert_eq!(reviewed.code, 3, "{reviewed}");
    sandbox
}

fn report(sandbox: &Sandbox, format: &str) -> String {
    let shown = sandbox.glee(&["runs", "show", "--format", format]);
    assert_eq!(shown.code, 0, "{shown}");
    shown.stdout
}

/// What `program` makes of `input`.
fn consumed(program: &str, args: &[&str], input: &str) -> String {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("its input is piped");
    let input = input.to_owned();
    let writing = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().expect("the program ends");
    writing.join().expect("its input is written");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {message}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn junit_follows_the_schema_of_jenkins() {
    if !has("xmllint", &["--version"], "libxml2-utils") {
        return;
    }
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/junit-10.xsd");
    let sandbox = reviewed();
    let outcome: Value = serde_json::from_str(&report(&sandbox, "json")).expect("JSON");
    let findings = outcome["findings"].as_array().expect("findings").len();
    assert!(findings > PATHS.len(), "{findings}");
    let text = report(&sandbox, "junit");
    consumed("xmllint", &["--noout", "--schema", schema, "-"], &text);
    let path = "count(//testsuite[@name != 'Review']/testcase)";
    let cases = consumed("xmllint", &["--xpath", path, "-"], &text);
    assert_eq!(cases.trim(), findings.to_string());
}

#[test]
fn markdown_of_hostile_text_has_no_markup_links_or_mentions() {
    const ALLOWED: [&str; 9] = ["h2", "h3", "p", "ul", "li", "code", "pre", "strong", "br"];
    if !has("cmark-gfm", &["--version"], "cmark-gfm") {
        return;
    }
    let text = report(&reviewed(), "markdown");
    let extensions = ["autolink", "table", "strikethrough", "tasklist"];
    let mut args = vec!["--unsafe"];
    for extension in extensions {
        args.extend(["-e", extension]);
    }
    let html = consumed("cmark-gfm", &args, &text);
    let mut outside = String::new();
    let mut in_code = 0_u32;
    let mut rest = html.as_str();
    while let Some((before, after)) = rest.split_once('<') {
        if in_code == 0 {
            outside.push_str(before);
        }
        let (tag, after) = after.split_once('>').expect("the tag ends");
        let name = tag.trim_start_matches('/').trim_end_matches(" /");
        assert!(
            ALLOWED.contains(&name),
            "<{tag}> is markup, or has attributes"
        );
        match tag {
            "code" => in_code += 1,
            "/code" => in_code -= 1,
            _ => {}
        }
        rest = after;
    }
    assert!(!outside.contains('@'), "a mention");
    let outside = outside.to_lowercase();
    assert!(
        !outside.contains("://") && !outside.contains("www."),
        "an address"
    );
    for (at, _) in outside.match_indices('#') {
        let is_number = outside[at + 1..].starts_with(|c: char| c.is_ascii_digit());
        assert!(!is_number, "a number of an issue");
    }
    assert!(
        outside.contains("onerror=alert"),
        "hostile text is shown, not dropped"
    );
}
