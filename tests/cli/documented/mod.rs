//! Types every command of the README and of the pages in `docs`, in a fresh copy of the repository with an empty home.
//!
//! A block marked `sh` contains commands, a block marked `console` commands after `$` with lines of their output. A
//! block whose first lines name a file (`# questions.yml`, or `#!/bin/sh` and `# reviewer.sh: ...`) is written to that
//! file. After the comment `<!-- not typed: REASON -->` a block is left out. A command ends with exit code 0 unless
//! its comment states another one; a review, replayed or resumed or not, may also end with the codes 1 and 3.

mod links;
mod reference;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::Sandbox;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Speaks the stream formats of the known programs.
const AGENT: &str = include_str!("agent");

/// Building and testing happens anyway.
const CARGO: &str = "#!/bin/sh\n[ \"$*\" = test ]\n";

/// The program under test is installed already.
const PIP: &str = "#!/bin/sh\n[ \"$*\" = 'install glee-review' ]\n";

/// The Markdown files below a folder.
fn markdown(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            found.extend(markdown(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found
}

/// The README and the pages of the book.
fn pages() -> Vec<PathBuf> {
    let mut pages = markdown(&Path::new(ROOT).join("docs"));
    pages.push(Path::new(ROOT).join("README.md"));
    pages.sort();
    pages
}

fn read(page: &Path) -> String {
    fs::read_to_string(page).expect("a page is text")
}

/// The name of a page in messages.
fn name(page: &Path) -> String {
    page.strip_prefix(ROOT)
        .expect("a page of the repository")
        .display()
        .to_string()
}

struct Block<'a> {
    language: &'a str,
    lines: Vec<&'a str>,
    is_typed: bool,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let (mut is_inside, mut is_typed, mut indent) = (false, true, 0);
    for line in page.lines() {
        match line.trim_start().strip_prefix("```") {
            Some(_) if is_inside => is_inside = false,
            Some(language) => {
                blocks.push(Block {
                    language,
                    lines: Vec::new(),
                    is_typed: std::mem::replace(&mut is_typed, true),
                });
                (is_inside, indent) = (true, line.len() - line.trim_start().len());
            }
            None if is_inside => {
                blocks
                    .last_mut()
                    .expect("an open block")
                    .lines
                    .push(line.get(indent..).unwrap_or_default());
            }
            None => is_typed &= !line.starts_with("<!-- not typed: "),
        }
    }
    assert!(!is_inside, "the last block has no end");
    blocks
}

/// A step of a page, in the shell that runs the whole page.
enum Step {
    File { path: String, text: String },
    Command { text: String, output: Vec<String> },
}

fn steps(page: &str) -> Vec<Step> {
    blocks(page)
        .iter()
        .filter(|block| block.is_typed)
        .flat_map(steps_of)
        .collect()
}

fn steps_of(block: &Block<'_>) -> Vec<Step> {
    let is_script = block
        .lines
        .first()
        .is_some_and(|line| line.starts_with("#!"));
    let named = block
        .lines
        .get(usize::from(is_script))
        .and_then(|line| line.strip_prefix("# "))
        .and_then(file_name);
    match (block.language, named) {
        ("sh" | "yaml" | "text", Some(path)) => {
            vec![Step::File {
                path: path.to_owned(),
                text: block.lines.join("\n") + "\n",
            }]
        }
        ("sh", None) if !is_script => commands(&block.lines),
        ("console", _) => session(&block.lines),
        _ => Vec::new(),
    }
}

/// Commands after `$`, each with the lines of its output.
fn session(lines: &[&str]) -> Vec<Step> {
    let mut steps = Vec::new();
    for line in lines {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step::Command {
                text: command.to_owned(),
                output: Vec::new(),
            }),
            (None, Some(Step::Command { output, .. })) if !["", "..."].contains(line) => {
                output.push((*line).to_owned());
            }
            _ => {}
        }
    }
    steps
}

/// The first word of a comment, if it names a file.
fn file_name(comment: &str) -> Option<&str> {
    let word = comment.split_whitespace().next()?.trim_end_matches(':');
    [".sh", ".py", ".yml", ".md"]
        .iter()
        .any(|ending| word.ends_with(ending))
        .then_some(word)
}

/// The commands of a block. A line that ends with a backslash or an operator continues in the next one.
fn commands(lines: &[&str]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut command = String::new();
    for line in lines {
        command.push_str(line);
        if line.ends_with(['\\', '|']) {
            command.push('\n');
        } else if !command.trim().is_empty() {
            steps.push(Step::Command {
                text: std::mem::take(&mut command),
                output: Vec::new(),
            });
        }
    }
    steps
}

/// A copy of a folder with the permissions of its files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        let copied = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, copied).expect("a copied file");
        }
    }
}

/// A clone of the repository with `your-project` beside it, a small project with a remote and an uncommitted change.
fn clone() -> Sandbox {
    let mut sandbox = Sandbox::new();
    for folder in [".glee", "docs", "examples"] {
        copy(&Path::new(ROOT).join(folder), &sandbox.root().join(folder));
    }
    sandbox.git_init();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "Glee"]);
    sandbox.write(
        "../your-project/src/app.py",
        "def total(prices):\n    return sum(prices)\n",
    );
    sandbox.write(
        "../your-project/docs/spec.md",
        "Orders that fail have to be retried.\n",
    );
    let inside = |args: &[&str]| sandbox.git(&[&["-C", "../your-project"], args].concat());
    inside(&["init", "-q", "-b", "main"]);
    inside(&["add", "-A"]);
    inside(&["commit", "-q", "-m", "Begin"]);
    sandbox.git(&["init", "-q", "--bare", "-b", "main", "../origin.git"]);
    inside(&["remote", "add", "origin", "../origin.git"]);
    inside(&["push", "-q", "origin", "main"]);
    sandbox.write(
        "../your-project/src/app.py",
        "def total(prices):\n    return sum(prices, start=0)\n",
    );
    for program in ["claude", "codex", "gemini"] {
        sandbox.program(program, AGENT);
    }
    let glee = assert_cmd::cargo::cargo_bin!("glee").display();
    // The pages show rulings as a person types them on a terminal, and here is no terminal.
    let rules = "'disputes resolve '*' dismiss'*|'disputes resolve '*' enforce'*|'dismiss '*";
    sandbox.program(
        "glee",
        &format!(
            "#!/bin/sh\ncase $* in {rules}) set -- \"$@\" --by Test ;; esac\nexec '{glee}' \"$@\"\n"
        ),
    );
    sandbox.program("cargo", CARGO);
    sandbox.program("pip", PIP);
    sandbox.env("CDPATH", ".:..").env("CI", "");
    sandbox
}

/// Replaces what differs from run to run: times, ids and hashes.
fn stable(line: &str) -> String {
    let pattern = regex::Regex::new(r"\b(\d+\.\ds|[0-9a-f]{8}|[0-9a-f]{12,64})\b")
        .expect("a well-formed pattern");
    pattern.replace_all(line.trim_end(), "*").into_owned()
}

/// The exit codes with which a command may end.
fn allowed(command: &str) -> Vec<i32> {
    let stated = command
        .split("exit code ")
        .nth(1)
        .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    match stated.and_then(|code| code.parse().ok()) {
        Some(code) => vec![code],
        None if [" review", " runs replay", " runs resume", " runs wait"]
            .iter()
            .any(|word| command.contains(word)) =>
        {
            vec![0, 1, 3]
        }
        None => vec![0],
    }
}

/// Types a page; returns what is not as the page says.
fn wrong(page: &Path) -> Vec<String> {
    const MARK: &str = "\u{1e}";
    let steps = steps(&read(page));
    let mut script = String::new();
    for step in &steps {
        script += &match step {
            Step::File { path, text } => format!(
                "mkdir -p \"$(dirname {path})\"\ncat >{path} <<'{MARK}'\n{text}{MARK}\n\
                 case {path} in *.sh) chmod +x {path} ;; esac\n"
            ),
            Step::Command { text, .. } => format!("{text}\nprintf '\\n{MARK}%s\\n' $?\n"),
        };
    }
    if script.is_empty() {
        return Vec::new();
    }
    let sandbox = clone();
    fs::write(
        sandbox.home().join("page.sh"),
        format!("exec 2>&1\n{script}"),
    )
    .expect("a written script");
    let mut shell = assert_cmd::Command::from_std(sandbox.shell());
    let output = shell
        .arg(sandbox.home().join("page.sh"))
        .timeout(Duration::from_secs(120))
        .output();
    let output = output.expect("a shell starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let mark = format!("\n{MARK}");
    let mut results = printed.split(&mark);
    let mut before = results.next().unwrap_or_default().to_owned();
    let mut wrong = Vec::new();
    for step in &steps {
        let Step::Command { text, output } = step else {
            continue;
        };
        let Some(result) = results.next() else {
            wrong.push(format!("{}: `{text}` did not end:\n{before}", name(page)));
            break;
        };
        let (code, rest) = result.split_once('\n').unwrap_or((result, ""));
        if !code.parse().is_ok_and(|code| allowed(text).contains(&code)) {
            wrong.push(format!(
                "{}: `{text}` ended with exit code {code}:\n{before}",
                name(page)
            ));
        }
        let told: Vec<String> = before.lines().map(stable).collect();
        let missing = output.iter().filter(|line| !told.contains(&stable(line)));
        wrong.extend(missing.map(|line| {
            format!(
                "{}: `{text}` does not print\n{line}\nbut\n{before}",
                name(page)
            )
        }));
        before = rest.to_owned();
    }
    wrong
}

#[test]
fn every_command_works_as_the_pages_say() {
    let pages = pages();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let typed: Vec<_> = pages
            .iter()
            .map(|page| scope.spawn(|| wrong(page)))
            .collect();
        typed
            .into_iter()
            .flat_map(|page| page.join().expect("a page is typed"))
            .collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn commands_are_found_in_pages() {
    let page = "Text.\n```sh\nglee review\nglee runs \\\n  undo\n```\n<!-- not typed: it installs -->\n```sh\ncargo install\n\
                ```\n```console\n$ glee agents\nNAME\n...\n$ glee doctor\n```\n```yaml\n# q.yml\na: 1\n```\n";
    let steps: Vec<String> = steps(page)
        .iter()
        .map(|step| match step {
            Step::File { path, text } => format!("{path} = {text:?}"),
            Step::Command { text, output } => format!("{text:?} prints {output:?}"),
        })
        .collect();
    assert_eq!(
        steps,
        [
            r#""glee review" prints []"#,
            r#""glee runs \\\n  undo" prints []"#,
            r#""glee agents" prints ["NAME"]"#,
            r#""glee doctor" prints []"#,
            r##"q.yml = "# q.yml\na: 1\n""##,
        ]
    );
}
