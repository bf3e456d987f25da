//! Tests what agents are sent of the code: the blocks of a change, the places of its names, what a dispute cites.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::support::Sandbox;

const READER: &str = "#!/bin/sh\ncat > \"$HOME/prompt.$GLEE_TASK\"\necho \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0\"\n";

fn set(sandbox: &Sandbox, key: &str, value: &str) {
    let set = sandbox.glee(&["config", "set", "--user", key, value]);
    assert_eq!(set.code, 0, "{set}");
}

fn prompt(sandbox: &Sandbox, task: &str) -> String {
    let path = sandbox.home().join(format!("prompt.{task}"));
    std::fs::read_to_string(path).expect("a prompt")
}

/// A shop in which `store.py` changes, between code that has nothing to do with the change.
fn shop() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git_init();
    let far: String = (0..300).map(|n| format!("FAR_{n} = {n}\n")).collect();
    // Lines that stand close together are shown together.
    let between: String = (0..12).map(|n| format!("NEAR_{n} = {n}\n")).collect();
    let store = format!(
        "import prices\n{between}import unused_module\n{between}\n\ndef total(cart):\n    start = 0\n    return start + \
         prices.net(cart)\n\n\ndef other():\n    return 2\n\n\n{far}"
    );
    sandbox.write("store.py", &store);
    sandbox.write(
        "prices.py",
        "RATE = 3\n\n\ndef net(cart):\n    # The cart may be empty.\n    return cart[0] / RATE\n",
    );
    sandbox.write("page.py", "import store\n\nprint(store.total([]))\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Shop"]);
    sandbox.write(
        "store.py",
        store.replace("return start + p", "return start + 1 + p"),
    );
    sandbox.write("fresh.py", "MARK_OF_THE_NEW_FILE = 1\n");
    set(&sandbox, "sandbox", "off");
    sandbox
}

#[test]
fn a_reviewer_is_sent_what_the_context_says() {
    // What stands in the prompt: the function, its import, the rest of the file, the places, the code there.
    for (context, reads, expected) in [
        ("blocks", "false", [true, true, false, true, true]),
        ("blocks", "true", [true, true, false, true, false]),
        ("diff", "false", [true, false, false, false, false]),
        ("files", "false", [true, true, true, false, false]),
    ] {
        let sandbox = shop();
        sandbox.connect("lens", "reviewer", READER, &[]);
        set(&sandbox, "review.context", context);
        let told = sandbox.glee(&["config", "set", "agents.lens.reads", reads]);
        assert_eq!(told.code, 0, "{told}");
        let output = sandbox.glee(&["review"]);
        assert_eq!(output.code, 0, "{output}");
        let prompt = prompt(&sandbox, "review");
        let has = [
            "return start +",
            "import prices",
            "FAR_200",
            "page.py:3",
            "The cart may be empty",
        ]
        .map(|text| prompt.contains(text));
        assert_eq!(has, expected, "{context} {reads}: {prompt}");
        assert_eq!(
            prompt.matches("MARK_OF_THE_NEW_FILE").count(),
            1,
            "{prompt}"
        );
        assert_eq!(
            prompt.contains("Read in the tree"),
            reads == "true",
            "{prompt}"
        );
        assert!(
            context == "files" || !prompt.contains("unused_module"),
            "{prompt}"
        );
    }
}

#[test]
fn a_new_context_asks_again() {
    let sandbox = shop();
    sandbox.connect("lens", "reviewer", READER, &[]);
    let calls = || {
        let path = sandbox.home().join("prompt.review");
        let asked = path.exists();
        drop(std::fs::remove_file(path));
        asked
    };
    for (context, is_asked) in [
        ("blocks", true),
        ("blocks", false),
        ("files", true),
        ("blocks", false),
    ] {
        set(&sandbox, "review.context", context);
        let output = sandbox.glee(&["review"]);
        assert_eq!((output.code, calls()), (0, is_asked), "{context}: {output}");
    }
}

#[test]
fn a_judge_is_sent_the_block_and_what_both_sides_cite() {
    for (context, is_whole) in [("blocks", false), ("files", true)] {
        let sandbox = shop();
        let raise = "#!/bin/sh\ncat > /dev/null\necho '[MUST] store.py:30 Begin at 0'\necho \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1\"\n";
        let object = "#!/bin/sh\ncat > /dev/null\nprintf '[F1] DISAGREE: the rate needs it\\nEvidence: prices.py:6 divides\\n'\necho \"GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=1\"\n";
        let rule = "#!/bin/sh\ncat > \"$HOME/prompt.$GLEE_TASK\"\necho 'The evidence holds: prices.py:6.'\necho \"GLEE-RULING nonce=$GLEE_NONCE dispute=1 ruling=ENFORCE\"\n";
        sandbox.connect("lens", "reviewer", raise, &[]);
        sandbox.connect("pen", "coder", object, &[]);
        sandbox.connect("gavel", "judge", rule, &[]);
        set(&sandbox, "review.context", context);
        let output = sandbox.glee(&["review", "--arbitrate"]);
        let prompt = prompt(&sandbox, "judge");
        let has = ["def total(cart):", "return cart[0] / RATE", "FAR_200"]
            .map(|text| prompt.contains(text));
        assert_eq!(has, [true, true, is_whole], "{context}: {output} {prompt}");
    }
}

#[test]
fn a_judge_that_misses_code_is_sent_the_whole_files_once() {
    let sandbox = shop();
    let raise = "#!/bin/sh\ncat > /dev/null\necho '[MUST] store.py:30 Begin at 0'\necho \"GLEE-REVIEW-END nonce=$GLEE_NONCE findings=1\"\n";
    let object = "#!/bin/sh\ncat > /dev/null\nprintf '[F1] DISAGREE: the rate needs it\\nEvidence: prices.py:6 divides\\n'\necho \"GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=1\"\n";
    let rule = "#!/bin/sh\nif cat | grep -q FAR_200; then echo 'It is needed.'; echo \"GLEE-RULING nonce=$GLEE_NONCE dispute=1 ruling=ENFORCE\"\nelse echo 'The rest of store.py is missing.'; fi\n";
    sandbox.connect("lens", "reviewer", raise, &[]);
    sandbox.connect("pen", "coder", object, &[]);
    sandbox.connect("gavel", "judge", rule, &[]);
    let output = sandbox.glee(&["review", "--arbitrate"]);
    let shown = sandbox.glee(&["disputes", "show", "1"]);
    assert!(shown.stdout.contains("ENFORCE"), "{output} {shown}");
}

/// A change whose defect has its cause elsewhere: see `causes.yml`.
#[derive(Deserialize)]
struct Cause {
    name: String,
    /// The place of the cause, as `path:line`.
    cause: String,
    before: BTreeMap<String, String>,
    after: BTreeMap<String, String>,
}

/// Whether a line of the list of places, `name: path:line, line; path:first-last`, names the line.
fn names(places: &str, path: &str, line: u32) -> bool {
    // The fence puts a colon before each line.
    let places = places.trim_start_matches(": ");
    let (_, at) = places.split_once(": ").unwrap_or_default();
    at.split("; ").any(|file| {
        let Some((named, lines)) = file.trim().rsplit_once(':') else {
            return false;
        };
        named == path
            && lines.split(", ").any(|lines| {
                let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
                let number = |text: &str| text.trim().parse().unwrap_or(0);
                (number(first)..=number(last)).contains(&line)
            })
    })
}

#[test]
fn what_is_sent_names_the_place_of_a_cause_elsewhere() {
    let causes: Vec<Cause> =
        serde_yaml::from_str(include_str!("causes.yml")).expect("the table is YAML");
    assert!(causes.len() >= 20);
    let mut missed = Vec::new();
    for cause in &causes {
        let (path, line) = cause.cause.rsplit_once(':').expect("a place");
        let line: u32 = line.parse().expect("a line");
        let sandbox = Sandbox::new();
        sandbox.git_init();
        for (path, text) in &cause.before {
            sandbox.write(path, text);
        }
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-q", "-m", "Before"]);
        for (path, text) in &cause.after {
            sandbox.write(path, text);
        }
        set(&sandbox, "sandbox", "off");
        sandbox.connect("lens", "reviewer", READER, &[]);
        for reads in ["true", "false"] {
            let told = sandbox.glee(&["config", "set", "agents.lens.reads", reads]);
            assert_eq!(told.code, 0, "{told}");
            let output = sandbox.glee(&["review", "--full"]);
            assert_eq!(output.code, 0, "{}: {output}", cause.name);
            let sent = prompt(&sandbox, "review");
            let text = cause.after.get(path).unwrap_or(&cause.before[path]);
            let line_text = text.lines().nth(line as usize - 1).unwrap_or_default();
            assert!(!line_text.trim().is_empty(), "{}", cause.name);
            let is_shown = sent
                .lines()
                .any(|sent| sent.trim_end().ends_with(line_text));
            if !is_shown && !sent.lines().any(|sent| names(sent, path, line)) {
                missed.push(format!("{} (reads: {reads})\n{sent}", cause.name));
            }
        }
    }
    assert!(
        missed.is_empty(),
        "{} missed:\n{}",
        missed.len(),
        missed.join("\n")
    );
}
