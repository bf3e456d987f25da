//! Wrong inputs to every command: each is answered by one sentence, perhaps with its cause, and one hint.

use crate::support::Sandbox;

const CONFIG: &str = "\
version: 1
agents:
  - {name: claude-coder, command: claude, role: coder}
  - {name: claude-judge, command: claude, role: judge}
  - {name: security, command: codex, role: reviewer}
  - {name: rules, command: builtin:rules, role: reviewer}
";

#[rustfmt::skip]
const WRONG: &[&[&str]] = &[
    &["reviw"],
    &["status"],
    &["--colour", "never", "review"],
    &["--color", "blue", "review"],
    &["-q", "-v", "review"],
    &["-C", "nowhere", "runs"],
    &["-C"],
    &["review", "--fmt", "json"],
    &["review", "--format", "xml"],
    &["review", "--format"],
    &["review", "--format", "json", "--json"],
    &["review", "--format", "json", "--format", "jsonl=-"],
    &["review", "--format", "json="],
    &["review", "--format", "json=nowhere/out.json"],
    &["review", "--format", "json=.glee"],
    &["review", "--format", "json=out", "--format", "jsonl=.glee/../out"],
    &["review", "--dry-run", "--format", "json=out"],
    &["review", "--rounds", "999"],
    &["review", "--jobs", "0"],
    &["review", "--jobs", "many"],
    &["review", "--on-dispute", "ask"],
    &["review", "--debate=5"],
    &["review", "--reviewer", "nobody"],
    &["review", "--reviewer", "claude"],
    &["review", "--staged", "--base", "main"],
    &["review", "--base", "main", "src"],
    &["review", "--restage"],
    &["review", "--fix=yes"],
    &["review", "nowhere.py"],
    &["review", ".glee/confg.yml"],
    &["review", "--base", "nowhere"],
    &["review", "--diff", "nowhere.diff"],
    &["review", "--pr", "seven"],
    &["review", "--pr", "7"],
    &["review", "--pr", "https://example.org/x"],
    &["review", "--pr", "7", "--base", "main"],
    &["review", "--publish"],
    &["pr"],
    &["pr", "publsh"],
    &["pr", "publish"],
    &["pr", "publish", "nowhere"],
    &["pr", "publish", "--pr", "0"],
    &["pr", "arbitrate"],
    &["pr", "arbitrate", "7", "8"],
    &["init", "now"],
    &["connect"],
    &["connect", "claude"],
    &["connect", "claude", "--role", "coda"],
    &["connect", "cloude", "--role", "coder"],
    &["connect", "builtin:rules", "--role", "judge"],
    &["connect", "claude", "--role", "coder", "--timeout", "soon"],
    &["disconnect"],
    &["disconnect", "nobody"],
    &["disconnect", "claude"],
    &["agents", "lst"],
    &["agents", "schema", "requests"],
    &["config"],
    &["config", "get"],
    &["config", "get", "review.round"],
    &["config", "set", "review.rounds"],
    &["config", "set", "review.rounds", "0"],
    &["config", "set", "agents.claude.focus", "tests"],
    &["config", "set", "review.on_dispute.default", "coin"],
    &["config", "unset", "agents.nobody.model"],
    &["trust", "--show", "--revoke"],
    &["rules"],
    &["rules", "test", "nowhere"],
    &["rules", "test", "--min-recall", "2"],
    &["runs", "shwo"],
    &["runs", "--recent", "-5"],
    &["runs", "show", "12345678"],
    &["runs", "show", "--log", "--format", "json"],
    &["runs", "resume", "--on-dispute"],
    &["runs", "replay", "--set", "review.rounds"],
    &["runs", "undo", "--to", "x", "--redo"],
    &["runs", "prune", "--before", "yesterday"],
    &["disputes", "--recent", "0"],
    &["disputes", "--ruling", "maybe"],
    &["disputes", "--since", "never"],
    &["disputes", "show"],
    &["disputes", "show", "seven"],
    &["disputes", "resolve", "7", "perhaps"],
    &["disputes", "resolve", "seven"],
    &["disputes", "resolve", "7", "dismiss", "--by", "Test", "--until", "soon"],
    &["disputes", "reopen"],
    &["stats", "--by", "weather"],
    &["stats", "deadlocks", "--fail-above", "500%"],
    &["consensus", "aks", "how?"],
    &["consensus", "ask", ""],
    &["consensus", "ask", "how?", "--agents", "nobody,security"],
    &["consensus", "ask", "how?", "--agents", "claude,security"],
    &["consensus", "ask", "how?", "--id", "a/b"],
    &["consensus", "run"],
    &["consensus", "run", "nowhere.yml", "--id", "a"],
    &["consensus", "resolve", "nothing", "hybrid"],
    &["gate"],
    &["gate", "pre-planing", "--questions", "questions.yml"],
    &["gate", "answer", "a"],
    &["watch", "--agents", "nobody"],
    &["watch", "--reviewers", "claude"],
    &["watch", "--task", "claude"],
    &["watch", "pause", "now"],
    &["watch", "issues", "close", "first"],
    &["emit"],
    &["emit", "milstone"],
    &["emit", "note", "--clarifies", "none"],
    &["merge", "nowhere.json"],
    &["merge", "--policy", "loud"],
    &["vote", "one.json", "two.json"],
    &["vote", "--facet-priority", "C"],
    &["parse", "--kind", "poem"],
    &["parse", "--dispute", "7"],
    &["doctor", "--fix"],
    &["completions"],
    &["completions", "tcsh"],
    &["man", "reviw"],
    &["help", "reviw"],
];

#[test]
fn each_is_answered_by_one_sentence_and_one_hint() {
    let sandbox = Sandbox::new();
    sandbox.git_init().write(".glee/config.yml", CONFIG);
    let mut listed = String::new();
    let mut other = Vec::new();
    for args in WRONG {
        let output = sandbox.glee(args);
        let lines: Vec<&str> = output.stderr.lines().collect();
        let is_plain = matches!(lines.as_slice(), [error, hint] | [error, _, hint]
            if (lines.len() == 2 || lines[1].starts_with("caused by: ")) && error.starts_with("error: ") && !error.ends_with('.') && hint.starts_with("hint: "));
        if !is_plain || output.code != 2 || !output.stdout.is_empty() {
            other.push(format!("glee {}\n{output}", args.join(" ")));
        }
        listed.push_str(&format!("$ glee {}\n{}\n", args.join(" "), output.stderr));
    }
    assert!(
        other.is_empty(),
        "{} inputs are answered in another way:\n{}",
        other.len(),
        other.join("\n")
    );
    insta::assert_snapshot!(listed);
}
