//! Derives from the tool calls of a program what the agent read. A tool or a command that is not known reads the
//! whole tree, so that a read is never missed.

use std::collections::BTreeMap;

use serde_json::Value;

use glee_model::domain::{ReadExtent, TracedRead};

#[derive(Debug, Default)]
pub struct ToolCall {
    pub name: String,
    pub input: Value,
    /// Whether the agent asked Glee for permission.
    pub asked: bool,
    pub denied: bool,
}

/// The names under which the tools of the programs take a path.
const PATHS: [&str; 7] = [
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "notebook_path",
    "dir_path",
    "paths",
];

/// Returns the reads of all calls, sorted and without duplicates.
pub(super) fn reads(calls: &BTreeMap<String, ToolCall>) -> Vec<TracedRead> {
    let mut reads = Vec::new();
    for call in calls.values() {
        for read in call.reads() {
            reads.push(TracedRead {
                denied: call.denied,
                ..read
            });
        }
    }
    reads.sort();
    reads.dedup();
    reads
}

impl ToolCall {
    fn reads(&self) -> Vec<TracedRead> {
        let pattern = || self.input["pattern"].as_str().map(ToOwned::to_owned);
        match self.name.to_lowercase().as_str() {
            "read" | "read_file" | "view" | "notebookread" => self.at(&ReadExtent::Content),
            "glob" => self.below(&ReadExtent::Names { glob: pattern() }),
            "ls" | "list" | "list_directory" => self.below(&ReadExtent::Names { glob: None }),
            "grep" | "grep_search" | "search_file_content" | "rg" => {
                self.below(&ReadExtent::Matches { pattern: pattern() })
            }
            // The Agent Client Protocol has one kind for the search of names and of text.
            "search" => {
                let pattern = pattern().or_else(|| Some(self.input["query"].as_str()?.to_owned()));
                let mut reads = self.below(&ReadExtent::Names {
                    glob: pattern.clone(),
                });
                reads.extend(self.below(&ReadExtent::Matches { pattern }));
                reads
            }
            "bash" | "shell" | "run_shell_command" | "command_execution" | "execute" => {
                command(&self.input["command"])
            }
            // These tools show the agent no file that it has not named itself.
            "edit" | "write" | "multiedit" | "replace" | "write_file" | "create"
            | "str_replace" | "file_change" | "delete" | "move" | "think" | "switch_mode"
            | "todowrite" | "todoread" | "todo_write" | "write_todos" | "update_todo"
            | "report_intent" | "structuredoutput" | "structured_output" | "invalid" => Vec::new(),
            _ => vec![TracedRead::whole_tree()],
        }
    }

    /// A reading tool without a path is one whose form is not known.
    fn at(&self, extent: &ReadExtent) -> Vec<TracedRead> {
        self.named_or(extent, TracedRead::whole_tree())
    }

    /// A searching tool without a path searches the tree.
    fn below(&self, extent: &ReadExtent) -> Vec<TracedRead> {
        self.named_or(extent, TracedRead::new(".", extent.clone()))
    }

    fn named_or(&self, extent: &ReadExtent, default: TracedRead) -> Vec<TracedRead> {
        let mut reads = Vec::new();
        for value in PATHS.iter().filter_map(|key| self.input.get(key)) {
            let list = value
                .as_array()
                .map_or(std::slice::from_ref(value), |list| list);
            for path in list
                .iter()
                .filter_map(Value::as_str)
                .filter(|path| !path.is_empty())
            {
                reads.push(TracedRead::new(path, extent.clone()));
            }
        }
        if reads.is_empty() {
            reads.push(default);
        }
        reads
    }
}

/// Returns what a shell command reads. The command is a text, or a list of words.
fn command(value: &Value) -> Vec<TracedRead> {
    let words: Option<Vec<String>> = match value {
        Value::String(text) => shlex::split(text),
        Value::Array(words) => words
            .iter()
            .map(|word| Some(word.as_str()?.to_owned()))
            .collect(),
        _ => None,
    };
    let reads = match words.as_deref() {
        // Programs pass the command to a shell, as in `/bin/bash -lc "cat a.py"`.
        Some([shell, flag, script]) if shell.ends_with("sh") && flag.ends_with('c') => {
            reads_of_script(script)
        }
        Some(_) => value.as_str().and_then(reads_of_script),
        None => None,
    };
    reads.unwrap_or_else(|| vec![TracedRead::whole_tree()])
}

/// Returns what a script reads, or `None` if the script can read more than its words name.
fn reads_of_script(script: &str) -> Option<Vec<TracedRead>> {
    let mut reads = Vec::new();
    for (is_piped, part) in simple_commands(script)? {
        let words = shlex::split(&part)?;
        if let Some((program, words)) = words.split_first() {
            reads.extend(reads_of_program(program, words, is_piped)?);
        }
    }
    Some(reads)
}

/// Splits a script at `;`, `&&`, `||` and `|`. Each command has a flag that says whether it reads from a pipe. Returns
/// `None` if the shell replaces, redirects or groups a part of the script.
fn simple_commands(script: &str) -> Option<Vec<(bool, String)>> {
    let mut commands = vec![(false, String::new())];
    let mut quote = None;
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('"') | None, '$' | '`' | '\\') => return None,
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '*' | '?' | '[' | '{' | '(' | '<' | '>' | '~' | '#' | '!') => return None,
            (None, ';' | '\n' | '&' | '|') => {
                let is_double = chars.next_if_eq(&c).is_some();
                commands.push((c == '|' && !is_double, String::new()));
                continue;
            }
            (None, _) => {}
        }
        commands.last_mut()?.1.push(c);
    }
    Some(commands)
}

fn reads_of_program(program: &str, words: &[String], is_piped: bool) -> Option<Vec<TracedRead>> {
    let is_option = |word: &&String| word.starts_with('-');
    let operands: Vec<&str> = words
        .iter()
        .filter(|word| !is_option(word))
        .map(String::as_str)
        .collect();
    let lists_files = words.iter().any(|word| word == "--files");
    let mut paths = operands.as_slice();
    let extent = match program {
        "true" | "pwd" | "echo" | "printf" => return Some(Vec::new()),
        // A word that is no path, such as `1,20p`, names a file that does not exist.
        "cat" | "head" | "tail" | "nl" | "wc" | "sed" => {
            return Some(traced(paths, &ReadExtent::Content));
        }
        "ls" => ReadExtent::Names { glob: None },
        "rg" if lists_files && words.len() == 1 + operands.len() => {
            ReadExtent::Names { glob: None }
        }
        "rg" | "grep" => {
            if !words.iter().filter(is_option).all(|word| is_flag(word)) {
                return None;
            }
            let pattern = paths.split_off_first()?;
            let pattern = Some((*pattern).to_owned());
            ReadExtent::Matches { pattern }
        }
        _ => return None,
    };
    Some(match paths {
        [] if is_piped => Vec::new(),
        [] => traced(&["."], &extent),
        paths => traced(paths, &extent),
    })
}

// Other options can take a value, change the pattern or name a file.
fn is_flag(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|flags| {
        !flags.is_empty() && flags.chars().all(|c| "nrRilHhIwocSsEP".contains(c))
    })
}

fn traced(paths: &[&str], extent: &ReadExtent) -> Vec<TracedRead> {
    paths
        .iter()
        .map(|path| TracedRead::new(*path, extent.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(read: &TracedRead) -> String {
        let path = &read.path;
        match &read.extent {
            ReadExtent::Content => path.clone(),
            ReadExtent::Names { glob: None } => format!("names below {path}"),
            ReadExtent::Names { glob: Some(glob) } => format!("names {glob} below {path}"),
            ReadExtent::Matches { pattern: None } => format!("all files below {path}"),
            ReadExtent::Matches {
                pattern: Some(pattern),
            } => format!("files with {pattern} below {path}"),
        }
    }

    #[test]
    fn a_tool_call_reads_what_its_input_names() {
        let rows = [
            (
                "Read",
                json!({"file_path": "/tree/a.py", "limit": 3}),
                "/tree/a.py",
            ),
            ("read", json!({"filePath": "a.py"}), "a.py"),
            (
                "read_file",
                json!({"absolute_path": "/tree/a.py"}),
                "/tree/a.py",
            ),
            ("view", json!({"path": "src", "view_range": [1, 2]}), "src"),
            ("view", json!({"paths": ["a", "b"]}), "a, b"),
            (
                "Glob",
                json!({"pattern": "**/*.py"}),
                "names **/*.py below .",
            ),
            (
                "glob",
                json!({"pattern": "*.py", "path": "src"}),
                "names *.py below src",
            ),
            (
                "list_directory",
                json!({"dir_path": "src"}),
                "names below src",
            ),
            (
                "Grep",
                json!({"pattern": "def f"}),
                "files with def f below .",
            ),
            (
                "grep_search",
                json!({"pattern": "f", "path": "lib"}),
                "files with f below lib",
            ),
            (
                "search",
                json!({"pattern": "f"}),
                "names f below ., files with f below .",
            ),
            ("todowrite", json!({"todos": []}), ""),
            (
                "read_many_files",
                json!({"include": ["**"]}),
                "all files below .",
            ),
            (
                "codebase_investigator",
                json!({"objective": "x"}),
                "all files below .",
            ),
            ("Read", json!({}), "all files below ."),
        ];
        for (name, input, expected) in rows {
            let call = ToolCall {
                name: name.to_owned(),
                input: input.clone(),
                ..ToolCall::default()
            };
            let reads: Vec<String> = call.reads().iter().map(shown).collect();
            assert_eq!(reads.join(", "), expected, "{name} {input}");
        }
    }

    #[test]
    fn a_command_reads_what_its_words_name_or_the_whole_tree() {
        let rows = [
            ("/bin/bash -lc \"cat '/tree/find.py'\"", "/tree/find.py"),
            ("bash -lc 'cat a.py b.py'", "a.py, b.py"),
            ("bash -lc \"sed -n '1,20p' a.py\"", "1,20p, a.py"),
            (
                "bash -lc 'cat a.py && nl -ba src/b.py | head -20'",
                "a.py, src/b.py",
            ),
            ("bash -lc 'ls -la src; pwd'", "names below src"),
            ("bash -lc ls", "names below ."),
            ("bash -lc 'rg --files'", "names below ."),
            (
                "bash -lc \"rg -n 'foo|bar' src lib\"",
                "files with foo|bar below src, files with foo|bar below lib",
            ),
            ("bash -lc 'grep -rn foo'", "files with foo below ."),
            ("bash -lc 'cat a.py | grep foo'", "a.py"),
            ("cat a.py", "a.py"),
            // These read more than their words name.
            ("bash -lc 'cat src/*.py'", "all files below ."),
            ("bash -lc 'cat $(git ls-files)'", "all files below ."),
            ("bash -lc 'cd src && cat a.py'", "all files below ."),
            ("bash -lc 'git diff HEAD~1'", "all files below ."),
            ("bash -lc 'rg -f patterns src'", "all files below ."),
            ("bash -lc 'python3 tools/x.py'", "all files below ."),
            ("bash -lc 'grep -rv foo'", "all files below ."),
            ("bash -lc 'cat <<< a'", "all files below ."),
            ("bash -lc 'find . -exec cat a'", "all files below ."),
            ("bash -lc \"cat 'open\"", "all files below ."),
        ];
        for (text, expected) in rows {
            let reads: Vec<String> = command(&json!(text)).iter().map(shown).collect();
            assert_eq!(reads.join(", "), expected, "{text}");
        }
        let list = json!(["bash", "-lc", "cat a.py"]);
        assert_eq!(shown(&command(&list)[0]), "a.py");
    }
}
