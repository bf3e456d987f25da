//! Reads the JSON input of `glee merge`, which contains reviewers' findings and the messages of a debate.
//!
//! The input consists of JSON documents. A document can be a single finding, a reviewer's answer, a message of
//! debate round 2 or 3, or a list of documents. The fields `findings`, `responses`, `defenses` and `debate` of a
//! document can contain further documents. If a document lacks a reviewer or a file, the missing value is
//! inherited from the enclosing document. The field `code` of a document with findings contains the reviewed files.
//! Input that cannot be interpreted is reported in `problems`.

mod node;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::replies::review::{fields::places_in, result::is_approval};
use crate::text::json::LenientValue;
use crate::text::weakness;
use glee_model::domain::{RawFinding, Severity, Untrusted, fold};
use glee_model::rules::consensus::{
    Debate, Defence, DefenceWord, Examination, ExaminationWord, Level, Member, UNTITLED,
};
use glee_model::rules::review::mandatory;
use node::{Node, documents};

/// The maximum length, in characters, of a title that is taken from the description of a finding.
const TITLE: usize = 120;

const UNNAMED: &str = "unnamed";

#[derive(Debug, Default)]
pub struct MergeInput {
    pub id: Option<String>,
    pub members: Vec<Member>,
    pub debate: Debate,
    /// Maps the paths of reviewed files to their texts.
    pub code: BTreeMap<String, String>,
    pub problems: Vec<String>,
    /// The reviewers of documents that state no result: a document without a list of findings and without a
    /// verdict, or a verdict other than an approval without a finding.
    without_result: Vec<String>,
}

/// Fails if `text` is invalid JSON, or if one of the documents in `text` is a number or a boolean.
pub fn read(text: &str) -> Result<MergeInput, serde_json::Error> {
    let mut input = MergeInput::default();
    let mut debate = Vec::new();
    for document in serde_json::Deserializer::from_str(text).into_iter::<LenientValue>() {
        for node in documents(&document?)? {
            input.take(node, Place::Top, &Context::default(), &mut debate)?;
        }
    }
    input.name_members();
    input.debate(debate);
    input.name_silent();
    Ok(input)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Top,
    Item,
    Answer,
}

#[derive(Clone, Default)]
struct Context {
    model: Option<String>,
    vendor: Option<String>,
    file: Option<String>,
    observed: bool,
}

/// A message about a finding in the debate. A message can precede the finding in the input, so Glee looks up the
/// finding after reading all findings.
struct Message {
    document: LenientValue,
    by: Option<String>,
}

impl MergeInput {
    fn take(
        &mut self,
        node: Node<'_>,
        place: Place,
        outer: &Context,
        debate: &mut Vec<Message>,
    ) -> Result<(), serde_json::Error> {
        let context = Context {
            model: node.text(node::MODEL).or_else(|| outer.model.clone()),
            vendor: node.text(&["vendor"]).or_else(|| outer.vendor.clone()),
            file: node.file().or_else(|| outer.file.clone()),
            observed: outer.observed,
        };
        self.debate
            .reviewers
            .extend(node.get(&["reviewers"]).texts());
        self.debate.silent.extend(node.get(&["silent"]).texts());
        let inside = [
            (Place::Item, node.inside(node::FINDINGS)?),
            (Place::Top, node.inside(node::DOCUMENTS)?),
            (Place::Answer, node.inside(node::ANSWERS)?),
        ];
        let is_container = inside.iter().any(|(_, list)| list.is_some());
        // An envelope states no result; the documents inside it do.
        let states_result = inside[0].1.is_some() || inside[2].1.is_some() || node.has_verdict();
        let lists_no_finding = inside[0].1.as_ref().is_none_or(Vec::is_empty);
        let is_contradicted =
            lists_no_finding && node.verdict().is_some_and(|word| !is_approval(&word));
        for (place, list) in inside {
            for inner in list.into_iter().flatten() {
                self.take(inner, place, &context, debate)?;
            }
        }
        if is_container {
            if self.id.is_none() {
                self.id = node.text(&["id"]);
            }
            if is_contradicted {
                self.without_result.extend(context.model);
            } else if states_result {
                self.debate.reviewers.extend(context.model);
            }
            let code = node.get(&["code"]).fields().iter();
            self.code
                .extend(code.filter_map(|(path, text)| Some((path.clone(), text.string()?))));
        } else if node.text(&["finding_id"]).is_some() {
            for observation in node.inside(&["new_observations"])?.into_iter().flatten() {
                self.take(
                    observation,
                    Place::Item,
                    &Context {
                        observed: true,
                        ..context.clone()
                    },
                    debate,
                )?;
            }
            debate.push(Message {
                document: node.0.clone(),
                by: context.model,
            });
        } else if node.is_message() && place == Place::Top {
            let text = node.text(&["content"]).unwrap_or_default();
            let inside: Vec<LenientValue> = serde_json::Deserializer::from_str(&text)
                .into_iter()
                .map_while(Result::ok)
                .collect();
            for inner in inside
                .iter()
                .map_while(|document| documents(document).ok())
                .flatten()
            {
                self.take(inner, Place::Top, &context, debate)?;
            }
        } else if node.is_text() && place != Place::Item {
            self.signal(node, place);
        } else if node.is_finding() {
            self.add(node, context);
        } else if place == Place::Answer {
            self.problems
                .push("an answer of the debate names no finding".to_owned());
        } else if !self.take_nested(node, place, &context, debate) {
            if place == Place::Item || !node.has_verdict() && node.says_something() {
                self.add(node, context);
            } else if is_contradicted {
                self.without_result.extend(context.model);
            } else if node.has_verdict() {
                self.debate.reviewers.extend(context.model);
            } else {
                self.without_result.extend(context.model);
                self.problems
                    .push("an object holds neither a finding nor an answer of a debate".to_owned());
            }
        }
        Ok(())
    }

    /// A reviewer without a result counts as a reviewer that did not respond.
    fn name_silent(&mut self) {
        let raised = self.members.iter().map(|member| &member.model);
        let known: HashSet<String> = raised.chain(&self.debate.reviewers).cloned().collect();
        for name in std::mem::take(&mut self.without_result) {
            if !known.contains(&name) && !self.debate.silent.contains(&name) {
                self.debate.reviewers.push(name.clone());
                self.debate.silent.push(name);
            }
        }
    }

    /// Whether a reviewer has given a result, with findings or without.
    pub fn is_reviewed(&self) -> bool {
        let silent = &self.debate.silent;
        !self.members.is_empty()
            || self
                .debate
                .reviewers
                .iter()
                .any(|name| !silent.contains(name))
    }

    /// Ignores the string `Round <n> complete`, and reports any other string as a problem.
    fn signal(&mut self, node: Node<'_>, place: Place) {
        let text = node.texts().1;
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_known = matches!(*words, [round, number, complete] if place == Place::Top
            && round.eq_ignore_ascii_case("round")
            && number.parse::<u32>().is_ok()
            && complete.eq_ignore_ascii_case("complete"));
        if !is_known {
            self.problems.push(format!(
                "`{}` is neither a finding nor an answer of a debate",
                first_line(&text)
            ));
        }
    }

    /// Reads findings and reviews from the unknown fields of an object. If the object is an item of `findings`,
    /// the name of an unknown field is the path of a file, and the value contains the findings in this file.
    /// Returns whether the function read a finding, a review or a message.
    fn take_nested(
        &mut self,
        node: Node<'_>,
        place: Place,
        context: &Context,
        debate: &mut Vec<Message>,
    ) -> bool {
        let known = self.size(debate);
        let problems = self.problems.len();
        for (name, value) in node.nested() {
            let Ok(documents) = documents(value) else {
                continue;
            };
            let by_file = place == Place::Item;
            if by_file && !name.contains(['.', '/']) {
                continue;
            }
            let context = Context {
                file: by_file
                    .then(|| name.to_owned())
                    .or_else(|| context.file.clone()),
                ..context.clone()
            };
            for inner in documents {
                if !inner.is_text() && (!by_file || inner.is_finding()) {
                    let _ = self.take(inner, Place::Top, &context, debate);
                }
            }
        }
        let is_taken = known != self.size(debate);
        if !is_taken {
            self.problems.truncate(problems);
        }
        is_taken
    }

    fn size(&self, debate: &[Message]) -> (usize, usize, usize) {
        (
            self.members.len(),
            self.debate.reviewers.len(),
            debate.len(),
        )
    }

    fn add(&mut self, node: Node<'_>, context: Context) {
        let (line, end_line) = node.lines();
        let (located, first, last) = node.located();
        let file = context.file.or(located);
        let line = line.or(first);
        let end_line = end_line.or(last);
        let places = places_in(node.get(&["places"]), file.as_deref());
        let (title, mut description) = node.texts();
        let title = title.unwrap_or_else(|| first_line(&description));
        let level = node.severity().map_or(Level::Medium, |word| {
            let tag = mandatory::normalise(&word);
            if tag.is_none() {
                self.problems.push(format!(
                    "the severity `{word}` is unknown and counts as high"
                ));
            }
            Level::of(tag)
        });
        let cwe = weakness::take(node.get(weakness::NAMES), &mut description);
        let model = context.model.unwrap_or_else(|| UNNAMED.to_owned());
        let title = if title.is_empty() {
            self.problems.push(format!(
                "a finding of {model} has no text; the finding is recorded without text"
            ));
            UNTITLED.to_owned()
        } else {
            title
        };
        self.members.push(Member {
            id: node.text(&["id"]).unwrap_or_default(),
            model,
            vendor: context.vendor,
            denies: *node.get(&["valid"]) == LenientValue::Bool(false) || denies(&title),
            observed: context.observed,
            raw: RawFinding {
                severity: Severity::known(level.tag()),
                title: title.into(),
                body: description.into(),
                file: file.filter(|file| !file.is_empty()),
                line,
                end_line,
                places,
                category: node.filled(&["category"]),
                cwe,
                suggestion: node.filled(node::SUGGESTION).map(Untrusted::from),
                confidence: node::percent(node.get(&["confidence"])),
                rule: node.filled(&["rule"]),
                ..RawFinding::default()
            },
            ..Member::default()
        });
    }

    /// Assigns a unique id to a finding that has no id, or that has the id of an earlier finding.
    fn name_members(&mut self) {
        let mut known: HashSet<&str> = HashSet::with_capacity(self.members.len());
        let all = self.members.iter().enumerate();
        let nameless = all.filter(|(_, member)| member.id.is_empty() || !known.insert(&member.id));
        let nameless: Vec<usize> = nameless.map(|(index, _)| index).collect();
        if nameless.is_empty() {
            return;
        }
        let mut known: HashSet<String> = known.into_iter().map(str::to_owned).collect();
        let mut counts: HashMap<String, usize> = HashMap::new();
        for index in nameless {
            let member = &mut self.members[index];
            let count = counts.entry(member.model.clone()).or_default();
            member.id = loop {
                *count += 1;
                let id = format!("{}/{count}", member.model);
                if known.insert(id.clone()) {
                    break id;
                }
            };
        }
    }

    fn debate(&mut self, messages: Vec<Message>) {
        if messages.is_empty() {
            return;
        }
        let places = self
            .members
            .iter()
            .map(|Member { id, raw, .. }| (raw.name(), id.clone()));
        let ids = self
            .members
            .iter()
            .map(|Member { id, .. }| (id.clone(), id.clone()));
        let finder: HashMap<String, String> = places.chain(ids).collect();
        // Models change the case, the spaces and the quotes of an id. `None` marks a name that two findings share.
        let mut alike: HashMap<String, Option<String>> = HashMap::new();
        for (name, id) in &finder {
            let known = alike.entry(plain(name)).or_insert_with(|| Some(id.clone()));
            if known.as_ref() != Some(id) {
                *known = None;
            }
        }
        for Message { document, by } in messages {
            let node = Node(&document);
            let named = node.text(&["finding_id"]).unwrap_or_default();
            let sender = by.as_deref().unwrap_or("an unnamed reviewer").to_owned();
            let found = finder.get(&named).cloned();
            let Some(finding) = found.or_else(|| alike.get(&plain(&named)).cloned().flatten())
            else {
                self.problems.push(format!(
                    "{sender} answers to the finding `{named}`, which does not exist"
                ));
                continue;
            };
            let action = node
                .text(&["action"])
                .unwrap_or_default()
                .trim()
                .to_lowercase();
            let adjustment = node::number(node.get(&["confidence_adjustment"])).unwrap_or(0);
            let reasoning = node.text(&["reasoning"]).unwrap_or_default();
            match (ExaminationWord::parse(&action), DefenceWord::parse(&action)) {
                (Some(word), _) => {
                    let by = by.unwrap_or_else(|| UNNAMED.to_owned());
                    self.debate.examinations.push(Examination {
                        by,
                        finding,
                        word,
                        adjustment,
                        reasoning,
                    });
                }
                (None, Some(word)) => {
                    // A defence without a sender is attributed to the reviewer that raised the finding.
                    let by = by
                        .or_else(|| {
                            Some(
                                self.members
                                    .iter()
                                    .find(|member| member.id == finding)?
                                    .model
                                    .clone(),
                            )
                        })
                        .unwrap_or_else(|| UNNAMED.to_owned());
                    let severity = node.text(&["revised_severity"]);
                    let revised_severity =
                        severity.map(|word| Level::of(mandatory::normalise(&word)));
                    let revised_description = node.filled(&["revised_description"]);
                    let defence = Defence {
                        by,
                        finding,
                        word,
                        adjustment,
                        reasoning,
                        revised_severity,
                        revised_description,
                    };
                    self.debate.defences.push(defence);
                }
                (None, None) => {
                    self.problems.push(format!(
                        "{sender} answers `{action}` to `{named}`, which is not an action of a debate"
                    ));
                }
            }
        }
    }
}

/// A name without what models change when they copy it.
fn plain(name: &str) -> String {
    fold(name)
        .trim_matches(['`', '"', '\'', '[', ']'])
        .trim()
        .to_lowercase()
}

pub fn denies(title: &str) -> bool {
    let title = title.trim().to_lowercase();
    [
        "not an issue",
        "not a bug",
        "not a vulnerability",
        "no issue",
        "false positive:",
        "works as intended",
    ]
    .iter()
    .any(|start| title.starts_with(start))
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use glee_model::domain::{Confidence, Cwe};

    #[test]
    fn reviewers_answers_of_the_specification() {
        let text = r#"
            {"model": "codex", "role": "reviewer", "file": "src/db.py", "findings": [
              {"severity": "critical", "confidence": 90, "line": 12, "title": "SQL injection", "description": "d", "suggestion": "s"},
              {"severity": "P2", "confidence": 0.5, "line": "3-4", "title": "Slow", "description": ""}]}
            [{"reviewer": "gemini", "findings": []}, {"model": "claude", "title": "Not an issue: `q` is bound", "valid": false}]
        "#;
        let input = read(text).unwrap();
        let rows: Vec<_> = input
            .members
            .iter()
            .map(|member| {
                let RawFinding {
                    file,
                    line,
                    end_line,
                    confidence,
                    ..
                } = member.raw.clone();
                (
                    member.id.clone(),
                    file,
                    line,
                    end_line,
                    member.level(),
                    confidence.map(Confidence::get),
                    member.denies,
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                (
                    "codex/1".into(),
                    Some("src/db.py".into()),
                    Some(12),
                    None,
                    Level::Critical,
                    Some(90),
                    false
                ),
                (
                    "codex/2".into(),
                    Some("src/db.py".into()),
                    Some(3),
                    Some(4),
                    Level::Medium,
                    Some(50),
                    false
                ),
                (
                    "claude/1".into(),
                    None,
                    None,
                    None,
                    Level::Medium,
                    None,
                    true
                ),
            ]
        );
        assert_eq!(input.debate.reviewers, ["codex", "gemini"]);
        assert!(input.problems.is_empty());
    }

    #[test]
    fn rounds_find_their_findings() {
        let text = r#"
            {"id": "run", "findings": [{"id": "a", "model": "codex", "file": "x.py", "line": 3, "title": "Leaks"}],
             "debate": [
               {"model": "gemini", "round": 2, "phase": "cross-examine", "responses": [
                 {"finding_id": "x.py:3:Leaks", "original_model": "codex", "action": "Agree", "confidence_adjustment": "+5",
                  "reasoning": "r", "new_observations": [{"title": "Also at 9", "file": "x.py", "line": 9, "confidence": 60}]},
                 {"finding_id": "nothing", "action": "agree"}, {"finding_id": "a", "action": "shrug"}]},
               {"model": "codex", "round": 3, "phase": "defend", "defenses": [
                 {"finding_id": "a", "action": "modify", "confidence_adjustment": -10, "revised_severity": "low"}]}]}
        "#;
        let input = read(text).unwrap();
        assert_eq!(input.id.as_deref(), Some("run"));
        let members: Vec<_> = input
            .members
            .iter()
            .map(|m| (m.id.as_str(), m.model.as_str(), m.observed))
            .collect();
        assert_eq!(
            members,
            [("a", "codex", false), ("gemini/1", "gemini", true)]
        );
        let said = &input.debate.examinations[0];
        assert_eq!(
            (said.by.as_str(), said.finding.as_str(), said.adjustment),
            ("gemini", "a", 5)
        );
        assert_eq!(input.debate.defences[0].revised_severity, Some(Level::Low));
        assert_eq!(
            input.problems,
            [
                "gemini answers to the finding `nothing`, which does not exist",
                "gemini answers `shrug` to `a`, which is not an action of a debate",
            ]
        );
    }

    #[test]
    fn a_finding_is_named_as_models_copy_names() {
        for (named, found) in [
            (" a ", true),
            ("A", true),
            ("`a`", true),
            ("[a]", true),
            ("x.py:3:leaks", true),
            (" X.py:3:LEAKS ", true),
            ("b", false),
            ("B", false),
            ("x.py:4:Leaks", false),
            ("", false),
        ] {
            let text = format!(
                r#"{{"findings": [{{"id": "a", "model": "codex", "file": "x.py", "line": 3, "title": "Leaks"}},
                   {{"id": "bB", "model": "codex", "title": "x"}}, {{"id": "Bb", "model": "codex", "title": "y"}}],
                   "debate": [{{"model": "gemini", "round": 2, "responses": [
                   {{"finding_id": "{named}", "action": "agree", "reasoning": "r"}},
                   {{"finding_id": "bb", "action": "agree", "reasoning": "two findings have this name"}},
                   {{"finding_id": "Bb", "action": "agree", "reasoning": "exactly one"}}]}}]}}"#
            );
            let input = read(&text).unwrap();
            let said: Vec<&str> = input
                .debate
                .examinations
                .iter()
                .map(|said| said.finding.as_str())
                .collect();
            let expected = if found { vec!["a", "Bb"] } else { vec!["Bb"] };
            assert_eq!(said, expected, "{named}: {:?}", input.problems);
        }
    }

    #[test]
    fn a_finding_states_its_weakness_as_a_number_or_a_string() {
        let text = r#"{"model": "m", "file": "a.py", "findings": [
            {"title": "a", "cwe": 89}, {"title": "b", "cwe": "CWE-079"}, {"title": "c", "cwe": null},
            {"title": "d", "description": "e", "cwe": "CWE-9999"}]}"#;
        let input = read(text).unwrap();
        let found: Vec<_> = input.members.iter().map(|member| member.raw.cwe).collect();
        assert_eq!(found, [Some(Cwe(89)), Some(Cwe(79)), None, None]);
        assert_eq!(input.members[3].raw.body, "e\n\nCWE-9999");
        assert!(input.problems.is_empty());
    }
}
