//! Draws what the README's first command prints.

use std::fs;

use regex::Regex;

use crate::shop::{shop, unchanged};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/demo.svg");

/// `INSTA_UPDATE=always` draws it again. Only Linux can hold the tests that it shows.
#[cfg(target_os = "linux")]
#[test]
fn the_drawing_of_the_readme_is_what_the_command_prints() {
    let mut sandbox = shop(unchanged);
    sandbox.env("COLUMNS", "100");
    let command = "review examples/shop --arbitrate";
    let args = command
        .split(' ')
        .chain(["--no-input", "--jobs=1", "--color=always"]);
    let output = sandbox.glee(&args.collect::<Vec<_>>());
    // The first screen; the open findings follow in full.
    let report = output.stdout.split_inclusive("\n\n").take(4);
    let mut shown = format!("$ glee {command}\n{}", output.stderr);
    shown.extend(report);
    for (pattern, fixed) in [(r"\d+\.\ds\b", "1.2s"), (r"\b[0-9a-f]{8}\b", "1a2b3c4d")] {
        let pattern = Regex::new(pattern).expect("the pattern is well-formed");
        shown = pattern.replace_all(&shown, fixed).into_owned();
    }
    let drawn = anstyle_svg::Term::new().render_svg(shown.trim_end());
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(DRAWING, &drawn).expect("a written drawing");
    }
    let kept = fs::read_to_string(DRAWING).unwrap_or_default();
    assert!(
        drawn == kept,
        "docs/demo.svg shows something else than:\n{shown}"
    );
}
