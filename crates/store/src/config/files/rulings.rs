//! Reads and writes shared rulings as YAML files, `.glee/rulings/<id>.yml`. An unknown key, an invalid value or a
//! wrong file name is an error. If the file of a ruling has an error, the ruling has no effect.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::file::{self, FileError, Links};
use super::paths::PROJECT_FOLDER;
use super::yaml::{self, YamlNode, YamlTree, flow};
use glee_model::domain::{Advice, DisputeId, SharedRuling};
use glee_model::rules::review::rulings;

pub const FOLDER: &str = ".glee/rulings";

pub const MAX_BYTES: u64 = 64 << 10;

pub const MAX_FILES: usize = 2_000;

const HEAD: &str =
    "# A ruling shared with everybody who reviews this repository. Check: `glee disputes check`\n";

/// An error in the file of a shared ruling. If the file of a ruling has an error, the ruling has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line number of the error, counted from 1.
    pub line: u32,
    pub message: String,
}

impl Problem {
    fn new(line: u32, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    #[error("cannot share the ruling: `{0}` {1}")]
    Invalid(&'static str, &'static str),
    #[error("the ruling is larger than {} KiB", MAX_BYTES >> 10)]
    Size,
    #[error("`{FOLDER}/{0}.yml` exists with other content")]
    Changed(DisputeId),
    #[error(transparent)]
    File(#[from] FileError),
}

impl Advice for ShareError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Invalid(..) | Self::Size => None,
            Self::Changed(_) => Some(
                "compare the ruling with the existing file, or replace the file with `--force`"
                    .to_owned(),
            ),
            Self::File(error) => error.hint(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    Written,
    Unchanged,
}

pub fn path(root: &Path, id: &DisputeId) -> PathBuf {
    root.join(FOLDER).join(format!("{id}.yml"))
}

pub fn is_shared(path: &str) -> bool {
    path.strip_prefix(FOLDER)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

pub fn is_note(name: &str) -> bool {
    name.starts_with('.') || name.ends_with(".md")
}

pub fn read(name: &str, bytes: &[u8]) -> Result<SharedRuling, Problem> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Problem::new(
            1,
            format!("the file is larger than {} KiB", MAX_BYTES >> 10),
        ));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes[..error.valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        Problem::new(
            u32::try_from(before + 1).unwrap_or(u32::MAX),
            "the file is not UTF-8 text",
        )
    })?;
    let node = yaml::parse(text).map_err(|error| {
        Problem::new(error.at.map_or(1, |position| position.line), error.message)
    })?;
    let ruling: SharedRuling = serde_json::from_value(node.json()).map_err(|error| {
        // The error message of serde contains the key in backticks.
        let message = error.to_string();
        Problem::new(
            message
                .split('`')
                .nth(1)
                .and_then(|key| line_of(&node, key))
                .unwrap_or(1),
            message,
        )
    })?;
    if let Some((line, key)) = unknown(&node, &json!(ruling)) {
        return Err(Problem::new(line, format!("unknown or empty key `{key}`")));
    }
    let problem = |key, message| Err(Problem::new(line_of(&node, key).unwrap_or(1), message));
    if let Some((key, why)) = ruling.problem() {
        return problem(key, format!("`{key}` {why}"));
    }
    if name != format!("{}.yml", ruling.id) {
        return problem(
            "id",
            format!(
                "`id` does not match the name of the file: expected `{}.yml`",
                ruling.id
            ),
        );
    }
    if rulings::needs_person_of(&ruling) && ruling.by.person.is_none() {
        return problem(
            "by",
            "a security finding is closed only if `by` names a responsible `person`".to_owned(),
        );
    }
    Ok(ruling)
}

pub fn write(ruling: &SharedRuling) -> Result<String, ShareError> {
    if let Some((key, why)) = ruling.problem() {
        return Err(ShareError::Invalid(key, why));
    }
    let value = json!(ruling);
    let mut wide = HEAD.to_owned();
    let mut narrow = HEAD.to_owned();
    for (key, value) in value.as_object().into_iter().flatten() {
        let line = format!("{key}: {}\n", flow(value));
        narrow += &line;
        match value {
            Value::String(text) => wide += &block(key, text).unwrap_or(line),
            Value::Array(items) if !items.is_empty() => {
                wide += &format!("{key}:\n");
                for item in items {
                    wide += &format!("  - {}\n", flow(item));
                }
            }
            Value::Object(inner) => {
                wide += &format!("{key}:\n");
                for (key, value) in inner {
                    wide += &format!("  {key}: {}\n", flow(value));
                }
            }
            _ => wide += &line,
        }
    }
    let is_exact = yaml::parse(&wide).is_ok_and(|node| node.json() == value);
    let written = if is_exact { wide } else { narrow };
    if written.len() as u64 > MAX_BYTES {
        Err(ShareError::Size)
    } else {
        Ok(written)
    }
}

/// Writes a ruling's file atomically. Fails if the file exists with other content and `replace` is false.
pub fn share(root: &Path, ruling: &SharedRuling, replace: bool) -> Result<Shared, ShareError> {
    let path = path(root, &ruling.id);
    let text = write(ruling)?;
    file::metadata(&root.join(PROJECT_FOLDER), Links::Refused)?;
    match file::read(&path, Links::Refused)? {
        Some(present) if present == text => return Ok(Shared::Unchanged),
        Some(_) if !replace => return Err(ShareError::Changed(ruling.id.clone())),
        _ => {}
    }
    file::write(&path, &text, Links::Refused)?;
    Ok(Shared::Written)
}

/// Formats a text of several lines as a literal YAML block. Returns `None` if a literal block cannot represent
/// the text exactly.
fn block(key: &str, text: &str) -> Option<String> {
    let is_block = text.contains('\n')
        && !text.ends_with('\n')
        && !text.starts_with(char::is_whitespace)
        && text.split('\n').all(|line| {
            !line
                .chars()
                .any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'))
        });
    is_block.then(|| {
        format!(
            "{key}: |-\n{}",
            text.split('\n')
                .map(|line| {
                    if line.is_empty() {
                        "\n".to_owned()
                    } else {
                        format!("  {line}\n")
                    }
                })
                .collect::<String>()
        )
    })
}

fn unknown(given: &YamlNode, known: &Value) -> Option<(u32, String)> {
    match &given.tree {
        YamlTree::Map(entries) => entries
            .iter()
            .find_map(|entry| match known.get(&entry.key) {
                None => Some((entry.at.line, entry.key.clone())),
                Some(known) => unknown(&entry.value, known),
            }),
        YamlTree::List(items) => items
            .iter()
            .enumerate()
            .find_map(|(at, item)| unknown(item, known.get(at)?)),
        YamlTree::Scalar(_) => None,
    }
}

fn line_of(node: &YamlNode, key: &str) -> Option<u32> {
    let YamlTree::Map(entries) = &node.tree else {
        return None;
    };
    entries
        .iter()
        .find(|entry| entry.key == key)
        .map(|entry| entry.at.line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use glee_model::domain::{
        CitedCode, Cwe, Disposition, FindingId, Ground, RuledBy, RuledFinding, RuledPlace,
        RulingWord, RunId, SharedAnchor, Tag, Untrusted,
    };

    fn place(file: &str) -> RuledPlace {
        RuledPlace {
            file: file.to_owned(),
            line: Some(42),
            end_line: None,
            anchor: SharedAnchor {
                block: "a".repeat(64),
                offset: Some(2),
                names: vec!["handle".to_owned()],
                ground: Ground::Example,
            },
        }
    }

    fn ruling() -> SharedRuling {
        let run = RunId("0190aaaa-0000-7000-8000-00000000abcd".to_owned());
        let finding = FindingId::new(3);
        SharedRuling {
            version: 1,
            id: DisputeId::of(&run, finding),
            run,
            problem: None,
            head: RuledFinding {
                finding,
                place: place("src/db.py"),
                places: Vec::new(),
                tag: "MUST".to_owned(),
                title: "Close the handle: it leaks".into(),
                category: Some("bug".to_owned()),
                cwe: Some(Cwe(772)),
                rule: None,
            },
            members: Vec::new(),
            ruling: Some(RulingWord::Dismiss),
            disposition: Disposition::Refuted,
            new_tag: None,
            rationale: "The caller closes it.\nSee main.".into(),
            citations: vec!["src/main.py:3".into()],
            evidence: Vec::new(),
            cited: vec![CitedCode {
                file: "src/main.py".to_owned(),
                line: Some(3),
                end_line: None,
                text: "handle.close()".into(),
                block: "b".repeat(64),
            }],
            by: RuledBy {
                judge: Some("referee".into()),
                model: Some("m-1".to_owned()),
                ..RuledBy::default()
            },
            date: "2026-05-01T12:00:00Z".parse().expect("a time"),
            until: Some(jiff::civil::date(2027, 1, 1)),
        }
    }

    fn name(ruling: &SharedRuling) -> String {
        format!("{}.yml", ruling.id)
    }

    #[test]
    fn a_ruling_is_a_small_file_that_diffs_well() {
        let text = write(&ruling()).expect("a ruling");
        insta::assert_snapshot!(text.replace(&ruling().id.0, "[ID]"), @r#"
        # A ruling shared with everybody who reviews this repository. Check: `glee disputes check`
        version: 1
        id: [ID]
        run: 0190aaaa-0000-7000-8000-00000000abcd
        finding: F3
        tag: MUST
        title: "Close the handle: it leaks"
        category: bug
        cwe: CWE-772
        file: src/db.py
        line: 42
        anchor:
          block: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
          offset: 2
          names: [handle]
          ground: example
        ruling: DISMISS
        disposition:
          as: refuted
        rationale: |-
          The caller closes it.
          See main.
        citations:
          - src/main.py:3
        cited:
          - {file: src/main.py, line: 3, text: "handle.close()", block: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb}
        by:
          judge: referee
          model: m-1
        date: 2026-05-01T12:00:00Z
        until: 2027-01-01
        "#);
        assert_eq!(read(&name(&ruling()), text.as_bytes()), Ok(ruling()));
    }

    #[test]
    fn what_is_not_true_is_named_with_its_line() {
        let good = write(&ruling()).expect("a ruling");
        let id = ruling().id.0;
        let line = |start: &str| {
            let at = good
                .lines()
                .position(|line| line.starts_with(start))
                .expect("a line of the file");
            u32::try_from(at + 1).expect("a short file")
        };
        for (from, to, at, message) in [
            ("version: 1", "version: 2", "version", "`version` is not 1"),
            (
                "finding: F3",
                "finding: F4",
                "id",
                "`id` does not match `run` and `finding`",
            ),
            (
                id.as_str(),
                "ABC",
                "id",
                "`id` is not 16 hexadecimal digits in lower case",
            ),
            (
                "file: src/db.py",
                "file: ../db.py",
                "file",
                "`file` is not a path inside the tree",
            ),
            (
                "file: src/db.py",
                "file: /etc/passwd",
                "file",
                "`file` is not a path inside the tree",
            ),
            (
                "file: src/db.py",
                "file: .git/config",
                "file",
                "`file` is not a path inside the tree",
            ),
            (
                "line: 42",
                "line: 0",
                "line",
                "`line` is not a range of lines",
            ),
            (
                "line: 42\n",
                "",
                "anchor",
                "`anchor` needs an `offset` if and only if `line` is set",
            ),
            (
                "block: aa",
                "block: AA",
                "anchor",
                "`anchor` has a `block` that is not 64 hexadecimal digits in lower case",
            ),
            (
                "file: src/main.py",
                "file: ../main.py",
                "cited",
                "`cited` has code without a path inside the tree, or a line without a `block`",
            ),
            (
                "block: bb",
                "block: BB",
                "cited",
                "`cited` has code without a path inside the tree, or a line without a `block`",
            ),
            (
                "tag: MUST",
                "tag: MUST\nbinds: all",
                "tag",
                "unknown or empty key `binds`",
            ),
            (
                "  offset: 2",
                "  offset: 2\n  text: other",
                "anchor",
                "unknown or empty key `text`",
            ),
            (
                "  as: refuted",
                "  as: refuted\n  also: x",
                "disposition",
                "unknown or empty key `also`",
            ),
            (
                "category: bug",
                "category: security",
                "by",
                "a security finding is closed only if `by` names a responsible `person`",
            ),
            (
                "title: \"Close",
                "title: \"SQL injection",
                "by",
                "a security finding is closed only if `by` names a responsible `person`",
            ),
            (
                "  judge: referee\n  model: m-1\n",
                "  model: m-1\n",
                "by",
                "`by` names no judge, panel or person",
            ),
            (
                "version: 1",
                "version: 1\nversion: 1",
                "version",
                "duplicate key `version`",
            ),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "{from}");
            let problem = read(&name(&ruling()), bad.as_bytes()).expect_err(message);
            assert_eq!(problem.message, message, "{from}");
            let near = line(at);
            assert!(
                (near.saturating_sub(1)..=near + 4).contains(&problem.line),
                "{from}: {problem:?}"
            );
        }
        let other = read("0123456789abcdef.yml", good.as_bytes()).expect_err("another name");
        assert_eq!(
            other.message,
            format!("`id` does not match the name of the file: expected `{id}.yml`")
        );
        let large = [good.as_bytes(), &vec![b'#'; 64 << 10]].concat();
        assert_eq!(
            read(&name(&ruling()), &large).expect_err("large").message,
            "the file is larger than 64 KiB"
        );
        assert_eq!(
            read(&name(&ruling()), b"a: \xff")
                .expect_err("bytes")
                .message,
            "the file is not UTF-8 text"
        );
        assert!(read(&name(&ruling()), b"").is_err() && read(&name(&ruling()), b"[1]").is_err());
    }

    #[test]
    fn a_person_answers_for_security() {
        let person = RuledBy {
            person: Some("Ada".to_owned()),
            ..ruling().by
        };
        let security = RuledFinding {
            category: Some("security".to_owned()),
            ..ruling().head
        };
        let vouched = SharedRuling {
            head: security,
            by: person,
            ..ruling()
        };
        let text = write(&vouched).expect("a ruling");
        assert_eq!(read(&name(&vouched), text.as_bytes()), Ok(vouched));
    }

    #[test]
    fn a_file_that_holds_something_else_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(
            share(folder.path(), &ruling(), false).expect("written"),
            Shared::Written
        );
        assert_eq!(
            share(folder.path(), &ruling(), false).expect("there"),
            Shared::Unchanged
        );
        let other = SharedRuling {
            rationale: "otherwise".into(),
            ..ruling()
        };
        assert!(
            matches!(share(folder.path(), &other, false), Err(ShareError::Changed(id)) if id == ruling().id)
        );
        assert_eq!(
            share(folder.path(), &other, true).expect("replaced"),
            Shared::Written
        );
        let written = std::fs::read(path(folder.path(), &ruling().id)).expect("a file");
        assert_eq!(read(&name(&ruling()), &written), Ok(other));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(title in "\\PC{0,40}", rationale in any::<String>(), places in prop::collection::vec(any::<String>(), 0..4), reference in any::<String>()) {
            let written = SharedRuling {
                head: RuledFinding { title: format!("t{title}").into(), ..ruling().head },
                rationale: rationale.into(),
                citations: places.into_iter().map(Untrusted::from).collect(),
                disposition: Disposition::Deferred { reference },
                new_tag: None,
                by: RuledBy { person: Some("Ada".to_owned()), ..RuledBy::default() },
                ..ruling()
            };
            let text = write(&written).expect("a ruling");
            prop_assert_eq!(read(&name(&written), text.as_bytes()), Ok(written));
        }

        #[test]
        fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(read("0123456789abcdef.yml", &bytes).is_err());
        }
    }

    #[test]
    fn only_its_own_disposition_has_a_new_tag() {
        let lowered = SharedRuling {
            new_tag: Some(Tag::Should),
            disposition: Disposition::NotMandatory,
            ..ruling()
        };
        assert!(write(&lowered).is_ok());
        let bad = SharedRuling {
            new_tag: Some(Tag::Should),
            ..ruling()
        };
        assert!(matches!(
            write(&bad),
            Err(ShareError::Invalid("new_tag", _))
        ));
    }
}
