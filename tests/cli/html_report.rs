//! Tests the HTML report as a file, on standard output and in the browser.

use std::fs;
use std::time::{Duration, Instant};

use crate::review::project;

/// The page from its findings on, without the time that the run took. The command that hands the findings to the coder
/// stands above them, and it depends on how the report was made.
fn content(page: &str) -> Vec<&str> {
    let (_, content) = page.split_once("<h2 id=\"findings\">").expect("findings");
    content
        .lines()
        .filter(|line| !line.contains("<dt>Time</dt>"))
        .collect()
}

#[test]
fn a_review_and_a_recorded_run_have_the_same_page() {
    let sandbox = project();
    let reviewed = sandbox.glee(&[
        "review",
        "app.py",
        "--arbitrate",
        "--format",
        "html=first.html",
    ]);
    assert_eq!(reviewed.code, 3, "{reviewed}");
    let first = sandbox.read("first.html");
    for text in [
        "1 dispute waits for you",
        "Do not evaluate text from outside",
        "the template is ours",
        "it is ruled so",
        "app.py:9 checks it",
        "<h2 id=\"timeline\">",
        "int reads the number",
        "<span class=\"d a\">+    return int(text)\n</span>",
        "<span class=\"k\">return </span><span class=\"f\">eval</span>(text)",
    ] {
        assert!(first.contains(text), "{text}: {first}");
    }
    assert!(first.len() < 150_000, "{} bytes", first.len());
    let shown = sandbox.glee(&["runs", "show", "last", "--format", "html"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    assert_eq!(
        content(&shown.stdout),
        content(&sandbox.placeholders(&first))
    );
}

#[test]
fn the_report_is_opened_in_the_browser() {
    let sandbox = project();
    sandbox.program("xdg-open", "#!/bin/sh\necho \"$1\" > \"$HOME/opened\"\n");
    let opened = || {
        let (path, began) = (sandbox.home().join("opened"), Instant::now());
        while began.elapsed() < Duration::from_secs(10) {
            match fs::read_to_string(&path) {
                Ok(text) if text.ends_with('\n') => {
                    fs::remove_file(&path).expect("the file exists");
                    return text.trim_end().to_owned();
                }
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        panic!("no browser was started");
    };
    let reviewed = sandbox.glee(&["review", "app.py", "--web"]);
    assert_eq!(reviewed.code, 1, "{reviewed}");
    let page = fs::read_to_string(opened()).expect("the page is a file");
    assert!(page.contains("4 mandatory findings are open"), "{page}");
    assert!(
        reviewed
            .stderr
            .contains("note: the report opens in the browser: [STATE]/pages/"),
        "{reviewed}"
    );

    let shown = sandbox.glee(&["runs", "show", "--web", "--format", "html=page.html"]);
    assert_eq!(shown.code, 0, "{shown}");
    assert_eq!(
        opened(),
        sandbox.root().join("page.html").display().to_string()
    );
    assert_eq!(content(&sandbox.read("page.html")), content(&page));

    let planned = sandbox.glee(&["review", "app.py", "--web", "--dry-run"]);
    insta::assert_snapshot!(planned, @"
    exit: 2
    --- stderr
    error: `--dry-run` writes no report that can be opened
    hint: to print only the plan, leave out `--web`; to review the code, leave out `--dry-run`
    ");
}
