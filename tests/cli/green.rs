//! The property "clean": whatever the reviewer says beside its count, whatever an earlier run recorded, whatever a
//! branch configures, and whatever the base is, a run that leaves a defect unreported does not end with 0.

use proptest::prelude::*;

use crate::support::Sandbox;

/// What the reviewer says. It always announces 0 findings if it raises none.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Words {
    Plain,
    CannotRead,
    FailsInProse,
    ReadsPart,
    Silent,
}

/// What the change does to the code.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Code {
    Harmless,
    Defect,
    /// The line ends become CRLF, which this reviewer reports.
    LineEnds,
    /// The instructions in `AGENTS.md` become strict.
    Instructions,
}

/// What the change does to the configuration of its own review.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Configuration {
    Untouched,
    OptionalMust,
    OtherReviewer,
    ChosenReviewer,
    HiddenCode,
    Quorum,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    Base,
    Range,
    Ci,
    Commit,
}

/// Reports each line of the prompt with `BUG`, each carriage return of the file, and strict instructions.
const REVIEWER: &str = r#"#!/bin/sh
prompt=$(cat)
words=$(cat "$0.words")
[ "$words" = Silent ] && exit 0
n=0
raise() { n=$((n + 1)); echo "[MUST] app.py:5 $1 (confidence 90, bug)"; }
printf '%s' "$prompt" | grep -qE '^([0-9]+ [|]|:)[+ ].*BUG' && raise "Remove the defect"
grep -q "$(printf '\r')" app.py && raise "The script does not start"
grep -q strict AGENTS.md && raise "The function has no docstring"
if [ $n = 0 ]; then
  case $words in
    CannotRead) echo "I am unable to read app.py: the path is excluded, so I could not inspect the change." ;;
    FailsInProse) echo "Decision: fail - two high-severity regressions: 1. The handle leaks. 2. The hash is broken." ;;
  esac
fi
read=all; [ "$words" = ReadsPart ] && read=part
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n read=$read"
"#;

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .git_init()
        .write("app.py", "def load(path):\n    return open(path).read()\n")
        .write("other.txt", "text\n")
        .write("AGENTS.md", "Be lenient.\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Add the app"]);
    sandbox.connect("rev", "reviewer", REVIEWER, &["--user"]);
    sandbox
}

fn says(sandbox: &Sandbox, words: Words) {
    sandbox.write("../bin/rev.words", format!("{words:?}"));
}

fn change(sandbox: &Sandbox, code: Code, configuration: Configuration) {
    let harmless = "def load(path):\n    return open(path).read()\n\n\ndef two():\n    return 2\n";
    match code {
        Code::Harmless => sandbox.write("app.py", harmless),
        Code::Defect => sandbox.write("app.py", harmless.replace("return 2", "return 2  # BUG")),
        Code::LineEnds => sandbox.write("app.py", harmless.replace('\n', "\r\n")),
        Code::Instructions => sandbox
            .write("app.py", harmless)
            .write("AGENTS.md", "Be strict.\n"),
    };
    let config = match configuration {
        Configuration::Untouched => return,
        Configuration::HiddenCode => {
            sandbox
                .write(".gleeignore", "*.py\n")
                .write("other.txt", "more\n");
            return;
        }
        Configuration::OptionalMust => {
            "review:\n  opinions:\n    mandatory: []\n    optional: [MUST]\n"
        }
        Configuration::OtherReviewer => {
            "agents:\n  - {name: rev, role: reviewer, command: [\"builtin:rules\"]}\n"
        }
        Configuration::ChosenReviewer => {
            "agents:\n  - {name: weak, role: reviewer, command: [\"builtin:rules\"]}\nreview:\n  reviewers: [weak]\n"
        }
        Configuration::Quorum => {
            "agents:\n  - {name: weak, role: reviewer, command: [\"builtin:rules\"]}\nreview:\n  quorum: 1\n"
        }
    };
    sandbox.write(".glee/config.yml", format!("version: 1\n{config}"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn nothing_ends_0_that_nobody_reviewed(
        words in prop_oneof![3 => Just(Words::Plain), 1 => Just(Words::CannotRead), 1 => Just(Words::FailsInProse),
            1 => Just(Words::ReadsPart), 1 => Just(Words::Silent)],
        code in prop::sample::select(vec![Code::Harmless, Code::Defect, Code::LineEnds, Code::Instructions]),
        configuration in prop::sample::select(vec![Configuration::Untouched, Configuration::OptionalMust,
            Configuration::OtherReviewer, Configuration::ChosenReviewer, Configuration::HiddenCode, Configuration::Quorum]),
        target in prop::sample::select(vec![Target::Base, Target::Range, Target::Ci, Target::Commit]),
        earlier in any::<bool>(),
    ) {
        let mut sandbox = project();
        sandbox.git(&["switch", "-q", "-c", "topic"]);
        says(&sandbox, Words::Plain);
        if earlier {
            // A recorded clean answer about the harmless form of the change, which a later run may reuse.
            change(&sandbox, Code::Harmless, Configuration::Untouched);
            let first = sandbox.glee(&["review", "--base", "main"]);
            prop_assert_eq!(first.code, 0, "{}", first);
        }
        change(&sandbox, code, configuration);
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-q", "-m", "Change it"]);
        says(&sandbox, words);
        let args: &[&str] = match target {
            Target::Base | Target::Ci => &["review", "--base", "main"],
            Target::Range => &["review", "main..topic"],
            Target::Commit => &["review", "--commit", "HEAD"],
        };
        if target == Target::Ci {
            sandbox.env("CI", "true");
        }
        let output = sandbox.glee(args);
        // An earlier run's answer about the same bytes and instructions is as good as an answer of this run.
        let may_be_clean = code == Code::Harmless && (words == Words::Plain || earlier);
        prop_assert!(output.code != 0 || may_be_clean, "{}", output);
        let is_clean = code == Code::Harmless && words == Words::Plain;
        prop_assert!(output.code == 0 || !is_clean, "red without a reason: {}", output);
    }
}
