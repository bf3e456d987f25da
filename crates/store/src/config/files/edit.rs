//! Edits the text of a configuration file, and keeps comments, order, quoting and line ends. Glee refuses an edit
//! that would delete an unrelated comment. Glee also refuses an edit if the edited text does not parse to the
//! expected document.

use std::fmt::Write as _;
use std::str::FromStr as _;

use serde_json::{Map, Value, json};
use yaml_edit::path::YamlPath as _;
use yaml_edit::{Document, MappingBuilder, YamlFile, YamlValue};

use super::yaml;
use crate::config::schema::split_agent;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("not valid YAML: {0}")]
    Unreadable(String),
    #[error("there is no agent `{0}` in this file")]
    NoAgent(String),
    #[error("`{0}` is not set in this file")]
    NotSet(String),
    #[error("cannot edit `{0}` in this file, because the edit would also change other text")]
    Refused(String),
}

/// Sets a dotted key such as `review.rounds` or `agents.<name>.<key>`. Fails if the agent in the key does not
/// exist.
pub fn set(text: &str, key: &str, value: &Value) -> Result<String, EditError> {
    let before = read(text)?;
    let path = path(&before, key)?;
    let mut wanted = before.clone();
    put(&mut wanted, &path, value.clone());
    let changed = [
        append_section(text, &before, &path, value),
        replace(text, &before, &path, value),
    ];
    verified(text, key, &wanted, 0, changed)
}

pub fn unset(text: &str, key: &str) -> Result<String, EditError> {
    let before = read(text)?;
    let path = path(&before, key)?;
    if at(&before, &path).is_none() {
        return Err(EditError::NotSet(key.to_owned()));
    }
    // The first candidate for the edited text lacks the whole section if the section contains only this key. The
    // second candidate is the text without the key.
    let whole = (1..path.len())
        .find(|length| {
            at(&before, &path[..*length])
                .is_some_and(|section| holds_only(section, &path[*length..]))
        })
        .unwrap_or(path.len());
    let changed = [whole, path.len()].map(|length| remove(text, &path[..length]));
    let mut wanted = before;
    take(&mut wanted, &path);
    verified(text, key, &wanted, 1, changed)
}

pub fn add_agent(text: &str, agent: &Map<String, Value>) -> Result<String, EditError> {
    let before = read(text)?;
    let mut wanted = before.clone();
    let mut agents = before
        .get("agents")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    agents.push(Value::Object(agent.clone()));
    put(&mut wanted, &["agents".to_owned()], Value::Array(agents));
    let changed = [push_agent(text, agent), begin_agents(text, &before, agent)];
    verified(text, "agents", &wanted, 0, changed)
}

pub fn remove_agent(text: &str, name: &str) -> Result<String, EditError> {
    let before = read(text)?;
    let index = agent_index(&before, name).ok_or_else(|| EditError::NoAgent(name.to_owned()))?;
    let mut wanted = before;
    take(&mut wanted, &["agents".to_owned(), index.to_string()]);
    let changed = YamlFile::from_str(text).ok().and_then(|file| {
        file.document()?.get_sequence("agents")?.remove(index)?;
        Some(file.to_string())
    });
    verified(text, "agents", &wanted, usize::MAX, [changed])
}

fn read(text: &str) -> Result<Value, EditError> {
    match yaml::parse(text) {
        Ok(node) => Ok(node.json()),
        Err(error) => Err(EditError::Unreadable(match error.at {
            Some(at) => format!("line {}: {}", at.line, error.message),
            None => error.message,
        })),
    }
}

fn path(document: &Value, key: &str) -> Result<Vec<String>, EditError> {
    let Some((name, last)) = split_agent(key) else {
        return Ok(key.split('.').map(str::to_owned).collect());
    };
    let index = agent_index(document, name).ok_or_else(|| EditError::NoAgent(name.to_owned()))?;
    Ok(vec![
        "agents".to_owned(),
        index.to_string(),
        last.to_owned(),
    ])
}

fn agent_index(document: &Value, name: &str) -> Option<usize> {
    document
        .get("agents")?
        .as_array()?
        .iter()
        .position(|agent| agent.get("name") == Some(&json!(name)))
}

fn pointer(path: &[String]) -> String {
    path.iter().map(|part| format!("/{part}")).collect()
}

fn at<'a>(document: &'a Value, path: &[String]) -> Option<&'a Value> {
    document.pointer(&pointer(path))
}

fn put(document: &mut Value, path: &[String], value: Value) {
    let place = path.iter().fold(document, |place, part| {
        match (place, part.parse::<usize>()) {
            (Value::Array(items), Ok(index)) => &mut items[index],
            (place, _) => {
                if !place.is_object() {
                    *place = json!({});
                }
                &mut place[part]
            }
        }
    });
    *place = value;
}

fn take(document: &mut Value, path: &[String]) {
    let Some((last, parents)) = path.split_last() else {
        return;
    };
    match document.pointer_mut(&pointer(parents)) {
        Some(Value::Object(map)) => drop(map.shift_remove(last)),
        Some(Value::Array(list)) => drop(last.parse().map(|index| list.remove(index))),
        _ => {}
    }
}

fn holds_only(section: &Value, path: &[String]) -> bool {
    let Some((key, rest)) = path.split_first() else {
        return true;
    };
    section.as_object().is_some_and(|map| map.len() == 1)
        && section
            .get(key)
            .is_some_and(|value| rest.is_empty() || holds_only(value, rest))
}

/// Removes empty sections from a document, because an empty section means the same as a missing section.
fn pruned(value: Value) -> Value {
    let Value::Object(map) = value else {
        return value;
    };
    let map: Map<String, Value> = map
        .into_iter()
        .map(|(key, value)| (key, pruned(value)))
        .filter(|(_, value)| !value.is_null())
        .collect();
    if map.is_empty() {
        Value::Null
    } else {
        Value::Object(map)
    }
}

/// Returns the first valid candidate. A candidate is valid if the candidate parses to the document `wanted`. The
/// comparison ignores empty sections. In addition, at most `lost` comments of `text` are allowed to be missing in
/// the candidate. The result has the line ends of `text`.
fn verified(
    text: &str,
    key: &str,
    wanted: &Value,
    lost: usize,
    candidates: impl IntoIterator<Item = Option<String>>,
) -> Result<String, EditError> {
    let crlf = text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count();
    let wanted = pruned(wanted.clone());
    let found = candidates
        .into_iter()
        .flatten()
        .map(|changed| {
            if crlf {
                changed.replace("\r\n", "\n").replace('\n', "\r\n")
            } else {
                changed
            }
        })
        .find(|changed| {
            read(changed).is_ok_and(|after| pruned(after) == wanted)
                && lost_comments(text, changed) <= lost
        });
    found.ok_or_else(|| EditError::Refused(key.to_owned()))
}

fn comments(text: &str) -> Vec<String> {
    YamlFile::parse(text)
        .tree()
        .comments()
        .map(|comment| comment.text().trim_end().to_owned())
        .collect()
}

fn lost_comments(before: &str, after: &str) -> usize {
    let mut left = comments(after).into_iter();
    let mut lost = 0;
    for comment in comments(before) {
        let mut ahead = left.clone();
        if ahead.any(|other| other == comment) {
            left = ahead;
        } else {
            lost += 1;
        }
    }
    lost
}

fn append_section(text: &str, before: &Value, path: &[String], value: &Value) -> Option<String> {
    let section = path.first()?;
    if before.get(section).is_some() || !(before.is_object() || before.is_null()) {
        return None;
    }
    let mut tree = Value::Null;
    put(&mut tree, path, value.clone());
    let mut block = String::new();
    write_block(&mut block, &tree, 0);
    let body = text.trim_end_matches(['\r', '\n']);
    let gap = if body.trim_start_matches('\u{feff}').is_empty() {
        ""
    } else {
        "\n\n"
    };
    Some(format!("{body}{gap}{block}"))
}

fn write_block(text: &mut String, value: &Value, indent: usize) {
    let Value::Object(map) = value else { return };
    for (key, value) in map {
        let _ = write!(text, "{:indent$}{key}:", "");
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                text.push('\n');
                write_block(text, value, indent + 2);
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                text.push('\n');
                for item in items {
                    let mut block = String::new();
                    write_block(&mut block, item, indent + 4);
                    let _ = write!(text, "{:indent$}  - {}", "", block.trim_start());
                }
            }
            _ => {
                let _ = writeln!(text, " {}", yaml::flow(value));
            }
        }
    }
}

fn replace(text: &str, before: &Value, path: &[String], value: &Value) -> Option<String> {
    let file = YamlFile::from_str(text).ok()?;
    let document = file.ensure_document();
    let name = name(path);
    match value {
        Value::String(word) => match in_quotes(&document, &name, word) {
            Some(scalar) => document.try_set_path(&name, scalar),
            None => document.try_set_path(&name, word.as_str()),
        },
        // A list that the file already contains in block style keeps the block style. All other lists are
        // written on one line.
        Value::Array(_) if !is_block(&document, before, path) => {
            document.try_set_path(&name, flow_list(value)?)
        }
        _ => document.try_set_path(&name, edited(value)?),
    }
    .ok()?;
    Some(file.to_string())
}

fn in_quotes(document: &Document, name: &str, word: &str) -> Option<yaml_edit::Scalar> {
    let old = document.try_get_path(name).ok()?.as_scalar()?.to_string();
    let text = match old.chars().next()? {
        '"' => yaml::quoted(word),
        '\'' if !word.contains(char::is_control) => format!("'{}'", word.replace('\'', "''")),
        _ => return None,
    };
    Document::from_str(&text).ok()?.as_scalar()
}

fn is_block(document: &Document, before: &Value, path: &[String]) -> bool {
    at(before, path)
        .and_then(Value::as_array)
        .is_some_and(|list| !list.is_empty())
        && document
            .try_get_path(&name(path))
            .is_ok_and(|node| node.as_sequence().is_some_and(|list| !list.is_flow_style()))
}

fn flow_list(value: &Value) -> Option<yaml_edit::Sequence> {
    Document::from_str(&yaml::flow(value)).ok()?.as_sequence()
}

fn edited(value: &Value) -> Option<YamlValue> {
    Some(match value {
        Value::String(word) => YamlValue::from(word.as_str()),
        Value::Bool(switch) => YamlValue::from(*switch),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => YamlValue::from(whole),
            None => YamlValue::from(number.as_f64()?),
        },
        Value::Array(items) => {
            YamlValue::Sequence(items.iter().map(edited).collect::<Option<_>>()?)
        }
        Value::Object(map) => {
            let entries = map
                .iter()
                .map(|(key, value)| Some((key.clone(), edited(value)?)));
            YamlValue::Mapping(entries.collect::<Option<_>>()?)
        }
        Value::Null => return None,
    })
}

fn remove(text: &str, path: &[String]) -> Option<String> {
    let file = YamlFile::from_str(text).ok()?;
    file.document()?.try_remove_path(&name(path)).ok()?;
    let changed = file.to_string();
    // A blank line before the last section of the file is removed together with the section.
    let blank_end = |text: &str| text.ends_with("\n\n") || text.ends_with("\n\r\n");
    if blank_end(&changed) && !blank_end(text) {
        return Some(format!("{}\n", changed.trim_end_matches(['\r', '\n'])));
    }
    Some(changed)
}

fn push_agent(text: &str, agent: &Map<String, Value>) -> Option<String> {
    let file = YamlFile::from_str(text).ok()?;
    let mut entry = MappingBuilder::new();
    for (key, value) in agent {
        entry = match value {
            Value::Array(_) => entry.pair(key, flow_list(value)?),
            _ => entry.pair(key, edited(value)?),
        };
    }
    file.document()?
        .get_sequence("agents")?
        .push(entry.build_document().as_mapping()?);
    Some(file.to_string())
}

fn begin_agents(text: &str, before: &Value, agent: &Map<String, Value>) -> Option<String> {
    let list = json!([agent]);
    if before.get("agents").is_none() {
        return append_section(text, before, &["agents".to_owned()], &list);
    }
    let file = YamlFile::from_str(text).ok()?;
    file.document()?
        .try_set_path("agents", edited(&list)?)
        .ok()?;
    Some(file.to_string())
}

fn name(path: &[String]) -> String {
    path.iter()
        .fold(String::new(), |name, part| match part.parse::<usize>() {
            Ok(index) => format!("{name}[{index}]"),
            Err(_) if name.is_empty() => part.clone(),
            Err(_) => format!("{name}.{part}"),
        })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const FILE: &str = "\
# What we agreed on
version: 1
agents:
  # writes
  - name: writer   # the first
    command: claude
    role: coder

  - name: reader
    command: 'codex'
    role: reviewer
    domain:
      - backend
      - rust

review:
  # which tags
  opinions:
    mandatory: [MUST]   # one
    optional: [SHOULD]

  on_dispute:
    prompt_user: true    # ask
    default: judge       # judge | human | discard
  judge:
    escalate_to: human   # a person
# the end
limits: {call_timeout: 30m, idle_timeout: 5m} # caps
";

    #[test]
    fn a_change_is_one_line_and_everything_else_stays() {
        for (key, value, old, new) in [
            (
                "review.on_dispute.default",
                json!("human"),
                "default: judge       #",
                "default: human       #",
            ),
            (
                "review.on_dispute.prompt_user",
                json!(false),
                "prompt_user: true ",
                "prompt_user: false ",
            ),
            ("version", json!(2), "version: 1\n", "version: 2\n"),
            ("version", json!(2.5), "version: 1\n", "version: 2.5\n"),
            (
                "review.opinions.mandatory",
                json!(["MUST", "P0"]),
                "[MUST]   # one",
                "[MUST, P0]   # one",
            ),
            (
                "review.opinions.mandatory",
                json!([]),
                "[MUST]   # one",
                "[]   # one",
            ),
            (
                "agents.reader.command",
                json!("claude"),
                "'codex'",
                "'claude'",
            ),
            ("agents.reader.command", json!("it's"), "'codex'", "'it''s'"),
            (
                "agents.reader.domain",
                json!(["go"]),
                "      - backend\n      - rust\n",
                "      - go\n",
            ),
            (
                "agents.writer.model",
                json!("opus"),
                "role: coder\n",
                "role: coder\n    model: opus\n",
            ),
            (
                "agents.writer.focus",
                json!(["a", "b, c"]),
                "role: coder\n",
                "role: coder\n    focus: [a, \"b, c\"]\n",
            ),
            (
                "agents.writer.env",
                json!({"A": "1"}),
                "role: coder\n",
                "role: coder\n    env:\n      A: '1'\n",
            ),
            (
                "review.judge.require_evidence",
                json!(true),
                "human   # a person\n",
                "human   # a person\n    require_evidence: true\n",
            ),
            (
                "review.rounds",
                json!(3),
                "human   # a person\n",
                "human   # a person\n  rounds: 3\n",
            ),
            (
                "review.issues.mandatory",
                json!(["HIGH"]),
                "human   # a person\n",
                "human   # a person\n  issues:\n    mandatory: [HIGH]\n",
            ),
            (
                "limits.call_timeout",
                json!("10m"),
                "{call_timeout: 30m, idle_timeout",
                "{call_timeout: 10m, idle_timeout",
            ),
            (
                "limits.kill_grace",
                json!("1s"),
                "idle_timeout: 5m}",
                "idle_timeout: 5m, kill_grace: 1s}",
            ),
            (
                "budget.duration",
                json!("1h"),
                "# caps\n",
                "# caps\n\nbudget:\n  duration: 1h\n",
            ),
        ] {
            assert_eq!(FILE.matches(old).count(), 1, "{old}");
            let changed = set(FILE, key, &value).unwrap();
            assert_eq!(changed, FILE.replace(old, new), "{key}");
            let crlf = FILE.replace('\n', "\r\n");
            assert_eq!(
                set(&crlf, key, &value).unwrap(),
                changed.replace('\n', "\r\n"),
                "{key} with CRLF"
            );
            let bom = format!("\u{feff}{FILE}");
            assert_eq!(
                set(&bom, key, &value).unwrap(),
                format!("\u{feff}{changed}"),
                "{key} with a BOM"
            );
        }
    }

    /// Description, text before the edit, key, value, and text after the edit.
    type Case = (
        &'static str,
        &'static str,
        &'static str,
        Value,
        &'static str,
    );

    #[test]
    fn every_shape_of_file_takes_a_change() {
        let cases: &[Case] = &[
            ("nothing", "", "a.b", json!(1), "a:\n  b: 1\n"),
            ("a BOM alone", "\u{feff}", "a", json!(1), "\u{feff}a: 1\n"),
            (
                "comments alone",
                "# one\n\n# two\n",
                "a.b",
                json!("x"),
                "# one\n\n# two\n\na:\n  b: x\n",
            ),
            (
                "comments alone, CRLF",
                "# one\r\n",
                "a.b",
                json!("x"),
                "# one\r\n\r\na:\r\n  b: x\r\n",
            ),
            ("no line end", "a:\n  b: 1", "a.b", json!(2), "a:\n  b: 2"),
            (
                "no line end, new key",
                "a:\n  b: 1",
                "a.c",
                json!(2),
                "a:\n  b: 1\n  c: 2",
            ),
            (
                "no line end, new section",
                "a: 1",
                "b.c",
                json!(2),
                "a: 1\n\nb:\n  c: 2\n",
            ),
            (
                "an empty section",
                "a: # none\nb: 1\n",
                "a.c",
                json!(2),
                "a: # none\n  c: 2\nb: 1\n",
            ),
            (
                "an empty value",
                "a:\n  b: # none\n  c: 1\n",
                "a.b",
                json!(2),
                "a:\n  b: 2 # none\n  c: 1\n",
            ),
            (
                "four blanks",
                "a:\n    b:\n        c: 1 # x\n",
                "a.b.d",
                json!(2),
                "a:\n    b:\n        c: 1 # x\n        d: 2\n",
            ),
            (
                "flow",
                "a: {b: 1, c: {d: x}} # y\n",
                "a.c.d",
                json!("z"),
                "a: {b: 1, c: {d: z}} # y\n",
            ),
            (
                "flow over lines",
                "a: {\n  b: 1, # x\n  c: 2,\n}\n",
                "a.c",
                json!(3),
                "a: {\n  b: 1, # x\n  c: 3,\n}\n",
            ),
            (
                "the whole file in flow",
                "{a: 1}\n",
                "b",
                json!(2),
                "{a: 1, b: 2}\n",
            ),
            (
                "quoted keys",
                "\"a\":\n  'b': x # y\n",
                "a.b",
                json!("z"),
                "\"a\":\n  'b': z # y\n",
            ),
            (
                "a document's marks",
                "# x\n---\n# y\na: 1 # z\n...\n",
                "a",
                json!(2),
                "# x\n---\n# y\na: 2 # z\n...\n",
            ),
            (
                "other scripts",
                "a: 値 # 注\n",
                "a",
                json!("人"),
                "a: 人 # 注\n",
            ),
            (
                "a block of text",
                "a: |\n  one\n  two\nb: 1 # c\n",
                "a",
                json!("x"),
                "a: x\nb: 1 # c\n",
            ),
            (
                "a list in its section's column",
                "a:\n- x\n- y\nb: 1\n",
                "a",
                json!(["z"]),
                "a:\n  - z\nb: 1\n",
            ),
            (
                "text like a boolean",
                "a: x\n",
                "a",
                json!("true"),
                "a: 'true'\n",
            ),
            (
                "text like a number",
                "a: x\n",
                "a",
                json!("1.0"),
                "a: '1.0'\n",
            ),
            (
                "text like a comment",
                "a: x\n",
                "a",
                json!("b #c"),
                "a: 'b #c'\n",
            ),
            (
                "text like a map",
                "a: x\n",
                "a",
                json!("b: c"),
                "a: 'b: c'\n",
            ),
            (
                "text like an alias",
                "a: x\n",
                "a",
                json!("*b"),
                "a: '*b'\n",
            ),
            ("no text", "a: x\n", "a", json!(""), "a: ''\n"),
            (
                "double quotes stay",
                "a: \"x\" # y\n",
                "a",
                json!("z \"w\""),
                "a: \"z \\\"w\\\"\" # y\n",
            ),
            (
                "a switch that was quoted",
                "a: \"x\"\n",
                "a",
                json!(true),
                "a: true\n",
            ),
        ];
        for (about, text, key, value, expected) in cases {
            assert_eq!(set(text, key, value).as_deref(), Ok(*expected), "{about}");
        }
    }

    #[test]
    fn what_glee_does_not_read_it_does_not_edit() {
        for (text, key, error) in [
            (
                "a: [1\n",
                "b",
                EditError::Unreadable("line 1: unclosed bracket '['".to_owned()),
            ),
            (
                "a: &x 1\nb: *x\n",
                "b",
                EditError::Unreadable("line 2: aliases are not accepted".to_owned()),
            ),
            (
                "a: 1\n---\nb: 1\n",
                "a",
                EditError::Unreadable("line 3: more than one document".to_owned()),
            ),
            (
                "agents: [{name: a}]\n",
                "agents.b.role",
                EditError::NoAgent("b".to_owned()),
            ),
            (
                "a: 1\n",
                "agents.b.role",
                EditError::NoAgent("b".to_owned()),
            ),
            ("- 1\n", "a", EditError::Refused("a".to_owned())),
        ] {
            assert_eq!(set(text, key, &json!("x")), Err(error), "{text}");
        }
    }

    #[test]
    fn unset_takes_a_value_and_the_sections_it_leaves_empty() {
        for (about, text, key, expected) in [
            (
                "a value",
                "a:\n  # above\n  b: 1 # x\n  c: 2\n",
                "a.b",
                "a:\n  # above\n  c: 2\n",
            ),
            (
                "the last of a section",
                "a: 1\nb:\n  c:\n    d: 1 # x\n",
                "b.c.d",
                "a: 1\n",
            ),
            (
                "the last, with a comment to keep",
                "a: 1\nb:\n  # why\n  # not\n  c: 1\n",
                "b.c",
                "a: 1\nb:\n  # why\n  # not\n  {}\n",
            ),
            ("in flow", "a: {b: 1, c: 2} # x\n", "a.b", "a: {c: 2} # x\n"),
            ("a list", "a:\n  - x\n  - y\nb: 1\n", "a", "b: 1\n"),
            (
                "an agent's",
                "agents:\n  - name: x\n    role: coder # r\n    model: m\n",
                "agents.x.model",
                "agents:\n  - name: x\n    role: coder # r\n",
            ),
        ] {
            assert_eq!(unset(text, key).as_deref(), Ok(expected), "{about}");
        }
        assert_eq!(
            unset("a: {b: 1}\n", "a.c"),
            Err(EditError::NotSet("a.c".to_owned()))
        );
        assert_eq!(unset("", "a"), Err(EditError::NotSet("a".to_owned())));
    }

    #[test]
    fn a_new_section_leaves_no_trace_when_it_goes() {
        for text in ["version: 1\n", "version: 1", FILE] {
            let changed = set(text, "budget.duration", &json!("1h")).unwrap();
            assert_eq!(
                unset(&changed, "budget.duration").unwrap(),
                format!("{}\n", text.trim_end())
            );
        }
    }

    #[test]
    fn agents_come_and_go() {
        let agent =
            json!({"name": "n", "command": "./a.sh -x", "role": "judge", "focus": ["p", "q, r"]});
        let agent = agent.as_object().unwrap();
        let entry =
            "  - name: n\n    command: ./a.sh -x\n    role: judge\n    focus: [p, \"q, r\"]\n";
        for (about, text, expected) in [
            ("nothing", "".to_owned(), format!("agents:\n{entry}")),
            (
                "no agents",
                "version: 1 # x\n".to_owned(),
                format!("version: 1 # x\n\nagents:\n{entry}"),
            ),
            (
                "an empty list",
                "agents: []\n".to_owned(),
                "agents: [{name: n, command: ./a.sh -x, role: judge, focus: [p, \"q, r\"]}]\n"
                    .to_owned(),
            ),
            (
                "after others",
                "agents:\n  # one\n  - name: m   # m\n    role: coder\n\n# end\nreview: {}\n"
                    .to_owned(),
                format!(
                    "agents:\n  # one\n  - name: m   # m\n    role: coder\n{entry}\n# end\nreview: {{}}\n"
                ),
            ),
        ] {
            let changed = add_agent(&text, agent).unwrap();
            assert_eq!(changed, expected, "{about}");
            let crlf = text.replace('\n', "\r\n");
            if !text.is_empty() {
                assert_eq!(
                    add_agent(&crlf, agent).unwrap(),
                    expected.replace('\n', "\r\n"),
                    "{about} with CRLF"
                );
            }
            assert_eq!(
                read(&remove_agent(&changed, "n").unwrap()).unwrap()["agents"]
                    .as_array()
                    .map_or(0, Vec::len),
                usize::from(text.contains("name: m"))
            );
        }
        let begun = add_agent("agents: # none yet\nversion: 1\n", agent).unwrap();
        assert_eq!(comments(&begun), ["# none yet"]);
        assert_eq!(
            remove_agent(FILE, "writer").unwrap(),
            FILE.replace(
                "  - name: writer   # the first\n    command: claude\n    role: coder\n",
                ""
            )
        );
        assert_eq!(
            remove_agent(FILE, "nobody"),
            Err(EditError::NoAgent("nobody".to_owned()))
        );
    }

    mod any_document {
        use proptest::prelude::*;

        use super::*;

        /// A map as text with unique comments: two to four keys, at most three levels deep.
        fn document() -> impl Strategy<Value = String> {
            map(3).prop_map(|lines| {
                let text = lines
                    .iter()
                    .map(|line| format!("{line}\n"))
                    .collect::<String>();
                let mut number = 0;
                text.chars().fold(String::new(), |mut numbered, c| {
                    numbered.push(c);
                    if c == '§' {
                        number += 1;
                        let _ = write!(numbered, "{number}§");
                    }
                    numbered
                })
            })
        }

        fn map(depth: u32) -> BoxedStrategy<Vec<String>> {
            let keys = prop::sample::subsequence(
                vec!["alpha", "\"beta\"", "gamma", "'delta'", "eta"],
                1..4,
            );
            let entry = (value(depth), any::<bool>(), any::<bool>(), comment());
            (keys, prop::collection::vec(entry, 4))
                .prop_map(|(keys, entries)| {
                    let mut lines = Vec::new();
                    for (key, (value, above, blank, comment)) in keys.iter().zip(entries) {
                        if blank {
                            lines.push(String::new());
                        }
                        if above {
                            lines.push("# above §".to_owned());
                        }
                        match value {
                            tests::any_document::Shape::Inline(text) => {
                                lines.push(format!("{key}: {text}{comment}"))
                            }
                            tests::any_document::Shape::Below(inner, indent) => {
                                lines.push(format!("{key}:{comment}"));
                                let indent = " ".repeat(indent);
                                lines.extend(inner.iter().map(|line| {
                                    if line.is_empty() {
                                        String::new()
                                    } else {
                                        format!("{indent}{line}")
                                    }
                                }));
                            }
                        }
                    }
                    lines
                })
                .boxed()
        }

        #[derive(Clone, Debug)]
        enum Shape {
            Inline(String),
            Below(Vec<String>, usize),
        }

        fn value(depth: u32) -> BoxedStrategy<Shape> {
            let inline = prop::sample::select(vec![
                "judge",
                "true",
                "12",
                "\"a # b\"",
                "'it''s'",
                "two words",
                "[MUST, SHOULD]",
                "{a: 1, b: two}",
                "1.5",
                "''",
                "a-b:c",
                "{}",
                "[]",
            ])
            .prop_map(|text| tests::any_document::Shape::Inline(text.to_owned()));
            if depth == 0 {
                return inline.boxed();
            }
            let list = (
                prop::collection::vec(("[a-z]{1,5}", comment()), 1..4),
                prop::sample::select(vec![0, 2]),
            )
                .prop_map(|(items, indent)| {
                    tests::any_document::Shape::Below(
                        items
                            .into_iter()
                            .map(|(item, comment)| format!("- {item}{comment}"))
                            .collect(),
                        indent,
                    )
                });
            let agents = prop::collection::vec(comment(), 1..3).prop_map(|comments| {
                let agents = comments.iter().enumerate();
                tests::any_document::Shape::Below(
                    agents
                        .flat_map(|(index, comment)| {
                            [
                                format!("- name: n{index}{comment}"),
                                format!("  role: coder{comment}"),
                            ]
                        })
                        .collect(),
                    2,
                )
            });
            let inner = (map(depth - 1), prop::sample::select(vec![2, 4]))
                .prop_map(|(lines, indent)| tests::any_document::Shape::Below(lines, indent));
            prop_oneof![3 => inline, 3 => inner, 1 => list, 1 => agents].boxed()
        }

        fn comment() -> impl Strategy<Value = &'static str> {
            prop::sample::select(vec!["", "", "  # note §", " # {x: §}"])
        }

        /// Every path to a value, and one new path per section.
        fn paths(value: &Value, above: &str, all: &mut Vec<String>) {
            let Some(map) = value.as_object() else { return };
            for (key, value) in map {
                let path = if above.is_empty() {
                    key.clone()
                } else {
                    format!("{above}.{key}")
                };
                paths(value, &path, all);
                all.push(path);
            }
            let new = |key: &str| {
                if above.is_empty() {
                    key.to_owned()
                } else {
                    format!("{above}.{key}")
                }
            };
            all.extend([new("fresh"), new("fresh.deep")]);
        }

        fn new_value() -> impl Strategy<Value = Value> {
            prop::sample::select(vec![
                json!("human"),
                json!(true),
                json!(42),
                json!("a: b # c"),
                json!(["A", "b c", "d,e"]),
                json!([]),
                json!(""),
            ])
        }

        fn numbered_comments(text: &str) -> Vec<&str> {
            text.split('§').skip(1).step_by(2).collect()
        }

        proptest! {
            #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

            #[test]
            fn is_changed_in_one_place_and_keeps_its_comments(
                text in document(), choice in any::<prop::sample::Index>(), value in new_value(), crlf in any::<bool>()
            ) {
                let text = if crlf { text.replace('\n', "\r\n") } else { text };
                let before = read(&text).unwrap();
                let mut all = Vec::new();
                paths(&before, "", &mut all);
                let key = choice.get(&all);
                let path: Vec<String> = key.split('.').map(str::to_owned).collect();
                let scalar = !at(&before, &path).is_some_and(|old| old.is_object() || old.is_array());

                match set(&text, key, &value) {
                    Ok(changed) => {
                        let mut wanted = before.clone();
                        put(&mut wanted, &path, value);
                        prop_assert_eq!(read(&changed).unwrap(), wanted);
                        prop_assert_eq!(numbered_comments(&changed), numbered_comments(&text));
                        prop_assert_eq!(changed.matches('\n').count() == changed.matches("\r\n").count(), crlf);
                    }
                    // An edit may be refused only if a value would replace a section or a list, and so delete
                    // comments.
                    Err(error) => prop_assert!(!scalar, "{}: {}", key, error),
                }
            }

            #[test]
            fn loses_only_what_is_unset(text in document(), choice in any::<prop::sample::Index>()) {
                let before = read(&text).unwrap();
                let mut all = Vec::new();
                paths(&before, "", &mut all);
                all.retain(|key| !key.contains("fresh"));
                let key = choice.get(&all);
                let path: Vec<String> = key.split('.').map(str::to_owned).collect();
                let scalar = !at(&before, &path).is_some_and(|old| old.is_object() || old.is_array());

                match unset(&text, key) {
                    Ok(changed) => {
                        let mut wanted = before.clone();
                        take(&mut wanted, &path);
                        prop_assert_eq!(pruned(read(&changed).unwrap()), pruned(wanted));
                        let lost = numbered_comments(&text).len() - numbered_comments(&changed).len();
                        prop_assert!(lost <= 1, "{} comments lost", lost);
                    }
                    Err(error) => prop_assert!(!scalar, "{}: {}", key, error),
                }
            }
        }
    }
}
