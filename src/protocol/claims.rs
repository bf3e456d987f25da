//! Findings of any reviewers, and the messages of a debate, as JSON on its way into a merge.
//!
//! A document is a finding, a reviewer's answer, a message of round 2 or 3, a run of any of these under `findings`,
//! `responses`, `defenses` and `debate`, or a list of documents. A reviewer's name and a file hold for everything inside
//! that names none. Nothing is dropped in silence: what is not understood is named in `problems`.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::rules::consensus::{Claim, Debate, Defence, DefenceWord, Examination, ExaminationWord, Level};
use crate::rules::mandatory;

/// The longest title made from a text that has none, in characters.
const TITLE: usize = 120;

/// What there is to merge.
#[derive(Debug, Default)]
pub struct Dossier {
    /// The id of the run, if the document gave one.
    pub id: Option<String>,
    /// The findings.
    pub claims: Vec<Claim>,
    /// Rounds 2 and 3.
    pub debate: Debate,
    /// What was not understood, one line each.
    pub problems: Vec<String>,
}

/// Reads all documents of a text, one after another.
///
/// # Errors
/// When the text is not JSON, or JSON of another form.
pub fn read(text: &str) -> Result<Dossier, serde_json::Error> {
    let mut dossier = Dossier::default();
    let mut debate = Vec::new();
    for document in serde_json::Deserializer::from_str(text).into_iter::<Documents>() {
        for node in document?.0 {
            dossier.take(node, &Context::default(), &mut debate);
        }
    }
    dossier.name_claims();
    dossier.debate(debate);
    Ok(dossier)
}

/// One document or a list of them.
struct Documents(Vec<Node>);

impl<'de> Deserialize<'de> for Documents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut all = Vec::new();
        deserializer.deserialize_any(Into(&mut all))?;
        Ok(Self(all))
    }
}

/// Puts one document or a list of them at the end of a list.
struct Into<'a>(&'a mut Vec<Node>);

impl<'de> DeserializeSeed<'de> for Into<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Into<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with findings, or a list of them")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.push(Node::deserialize(de::value::MapAccessDeserializer::new(map))?);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Into(self.0))?.is_some() {}
        Ok(())
    }
}

/// A document: a finding, an answer, or what holds some.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Node {
    id: Scalar,
    #[serde(alias = "reviewer", alias = "agent")]
    model: Scalar,
    vendor: Rare,
    file: Scalar,
    line: Scalar,
    end_line: Scalar,
    severity: Scalar,
    confidence: Scalar,
    category: Scalar,
    rule: Rare,
    title: Scalar,
    #[serde(alias = "text", alias = "body", alias = "message")]
    description: Scalar,
    #[serde(alias = "recommendation", alias = "fix")]
    suggestion: Scalar,
    valid: Rare,
    findings: Option<Box<Documents>>,
    issues: Option<Box<Documents>>,
    payload: Option<Box<Self>>,
    debate: Option<Box<Documents>>,
    responses: Option<Box<Documents>>,
    #[serde(alias = "defences")]
    defenses: Option<Box<Documents>>,
    reviewers: Vec<String>,
    silent: Vec<String>,
    finding_id: Rare,
    action: Rare,
    confidence_adjustment: Rare,
    reasoning: Rare,
    new_observations: Option<Box<Documents>>,
    revised_severity: Rare,
    revised_description: Rare,
}

/// What holds for everything inside a document.
#[derive(Clone, Default)]
struct Context {
    model: Option<String>,
    vendor: Option<String>,
    file: Option<String>,
    observed: bool,
}

/// A message whose finding is looked for when all findings are known.
struct Message {
    node: Node,
    by: String,
}

impl Dossier {
    fn take(&mut self, mut node: Node, outer: &Context, debate: &mut Vec<Message>) {
        let context = Context {
            model: node.model.text().or_else(|| outer.model.clone()),
            vendor: node.vendor.text().or_else(|| outer.vendor.clone()),
            file: node.file.text().or_else(|| outer.file.clone()),
            observed: outer.observed,
        };
        self.debate.reviewers.append(&mut node.reviewers);
        self.debate.silent.append(&mut node.silent);
        let inside = [node.findings.take(), node.issues.take(), node.debate.take(), node.responses.take()];
        let is_container = inside.iter().any(Option::is_some) || node.defenses.is_some() || node.payload.is_some();
        for inner in inside.into_iter().chain([node.defenses.take()]).flatten().flat_map(|list| list.0) {
            self.take(inner, &context, debate);
        }
        if let Some(payload) = node.payload.take() {
            self.take(*payload, &context, debate);
        }
        if is_container {
            if self.id.is_none() {
                self.id = node.id.text();
            }
            let name = context.model.filter(|_| !node.model.is_none());
            self.debate.reviewers.extend(name);
        } else if node.finding_id.text().is_some() {
            for observation in node.new_observations.take().into_iter().flat_map(|list| list.0) {
                self.take(observation, &Context { observed: true, ..context.clone() }, debate);
            }
            match context.model {
                Some(by) => debate.push(Message { node, by }),
                None => self.problems.push("an answer of the debate names no reviewer".to_owned()),
            }
        } else if node.title.text().is_some() || node.description.text().is_some() {
            let claim = self.claim(node, context);
            self.claims.push(claim);
        }
    }

    fn claim(&mut self, mut node: Node, context: Context) -> Claim {
        let description = node.description.take_text().unwrap_or_default();
        let title = node.title.take_text().unwrap_or_else(|| first_line(&description));
        let (line, end) = node.line.range();
        let denies = matches!(*node.valid, Scalar::Flag(false)) || denies(&title);
        let severity = node.severity.text().map(|word| {
            let level = Level::of(mandatory::normalise(&word));
            if mandatory::normalise(&word).is_none() {
                self.problems.push(format!("the severity `{word}` is unknown and counts as high"));
            }
            level
        });
        Claim {
            id: node.id.take_text().unwrap_or_default(),
            model: context.model.unwrap_or_else(|| "unnamed".to_owned()),
            vendor: context.vendor,
            file: context.file.filter(|file| !file.is_empty()),
            line,
            end_line: node.end_line.range().0.or(end),
            block: None,
            severity,
            confidence: node.confidence.percent(),
            category: node.category.take_text(),
            rule: node.rule.text().filter(|rule| !rule.is_empty()),
            title,
            description,
            suggestion: node.suggestion.take_text().unwrap_or_default(),
            denies,
            observed: context.observed,
            checked: crate::rules::consensus::Checked::default(),
        }
    }

    /// Gives ids to findings without one, or with one that another finding has.
    fn name_claims(&mut self) {
        let mut known: HashSet<&str> = HashSet::with_capacity(self.claims.len());
        let all = self.claims.iter().enumerate();
        let nameless = all.filter(|(_, claim)| claim.id.is_empty() || !known.insert(&claim.id));
        let nameless: Vec<usize> = nameless.map(|(index, _)| index).collect();
        if nameless.is_empty() {
            return;
        }
        let mut known: HashSet<String> = known.into_iter().map(str::to_owned).collect();
        let mut counts: HashMap<String, usize> = HashMap::new();
        for index in nameless {
            let claim = &mut self.claims[index];
            let count = counts.entry(claim.model.clone()).or_default();
            claim.id = loop {
                *count += 1;
                let id = format!("{}/{count}", claim.model);
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
        let finder = Finder::of(&self.claims);
        for Message { node, by } in messages {
            let named = node.finding_id.text().unwrap_or_default();
            let Some(finding) = finder.find(&named) else {
                self.problems.push(format!("{by} answers to the finding `{named}`, which does not exist"));
                continue;
            };
            let action = node.action.text().unwrap_or_default().trim().to_lowercase();
            let adjustment = node.confidence_adjustment.number().unwrap_or(0);
            let reasoning = node.reasoning.text().unwrap_or_default();
            let examined = ExaminationWord::ALL.into_iter().find(|word| word.as_str() == action);
            let defended = DefenceWord::ALL.into_iter().find(|word| word.as_str() == action);
            match (examined, defended) {
                (Some(word), _) => {
                    self.debate.examinations.push(Examination { by, finding, word, adjustment, reasoning });
                }
                (None, Some(word)) => {
                    let severity = node.revised_severity.text();
                    let revised_severity = severity.map(|word| Level::of(mandatory::normalise(&word)));
                    let revised_description = node.revised_description.text().filter(|text| !text.is_empty());
                    let defence =
                        Defence { by, finding, word, adjustment, reasoning, revised_severity, revised_description };
                    self.debate.defences.push(defence);
                }
                (None, None) => {
                    self.problems
                        .push(format!("{by} answers `{action}` to `{named}`, which is no word of a debate"));
                }
            }
        }
    }
}

/// Finds claims by their id, or by `file:line:title`.
struct Finder<'a> {
    ids: HashSet<&'a str>,
    places: HashMap<String, &'a str>,
}

impl<'a> Finder<'a> {
    fn of(claims: &'a [Claim]) -> Self {
        let place = |claim: &Claim| {
            let line = claim.line.map(|line| line.to_string()).unwrap_or_default();
            format!("{}:{line}:{}", claim.file.as_deref().unwrap_or_default(), claim.title)
        };
        Self {
            ids: claims.iter().map(|claim| claim.id.as_str()).collect(),
            places: claims.iter().map(|claim| (place(claim), claim.id.as_str())).collect(),
        }
    }

    fn find(&self, named: &str) -> Option<String> {
        let id = self.ids.get(named).or_else(|| self.places.get(named))?;
        Some((*id).to_owned())
    }
}

/// Whether a title says that there is no issue.
pub fn denies(title: &str) -> bool {
    let title = title.trim().to_lowercase();
    ["not an issue", "not a bug", "not a vulnerability", "no issue", "false positive:", "works as intended"]
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

/// A value that several writers write differently.
#[derive(Default)]
enum Scalar {
    #[default]
    None,
    Text(String),
    Number(f64),
    Flag(bool),
}

/// A value that few documents have; the others do not pay for its room.
#[derive(Default)]
struct Rare(Option<Box<Scalar>>);

impl Deref for Rare {
    type Target = Scalar;

    fn deref(&self) -> &Scalar {
        self.0.as_deref().unwrap_or(&Scalar::None)
    }
}

impl<'de> Deserialize<'de> for Rare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Some(Box::new(Scalar::deserialize(deserializer)?))))
    }
}

impl Scalar {
    fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            Self::Flag(_) | Self::None => None,
        }
    }

    fn take_text(&mut self) -> Option<String> {
        match std::mem::take(self) {
            Self::Text(text) => Some(text).filter(|text| !text.is_empty()),
            other => other.text(),
        }
    }

    fn number(&self) -> Option<i32> {
        #[expect(clippy::cast_possible_truncation, reason = "a float turns into the nearest integer that exists")]
        match self {
            Self::Number(number) => Some(number.round() as i32),
            Self::Text(text) => text.trim().trim_start_matches('+').trim_end_matches('%').parse().ok(),
            Self::Flag(_) | Self::None => None,
        }
    }

    /// A confidence; numbers between 0 and 1 are shares of 100.
    fn percent(&self) -> Option<u8> {
        if let Self::Number(share) = self
            && *share > 0.0
            && *share < 1.0
        {
            return Self::Number(share * 100.0).percent();
        }
        self.number().map(|number| u8::try_from(number.clamp(0, 100)).unwrap_or(100))
    }

    /// `12`, `"12"` or `"12-14"`.
    fn range(&self) -> (Option<u32>, Option<u32>) {
        match self {
            Self::Text(text) => {
                let (first, last) = text.split_once('-').unwrap_or((text, ""));
                (first.trim().parse().ok(), last.trim().parse().ok())
            }
            other => (other.number().and_then(|number| u32::try_from(number).ok()), None),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }

            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<Scalar, E> {
                Ok(Scalar::Text(text))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Scalar, E> {
                Ok(i32::try_from(number).map_or(Scalar::None, |number| Scalar::Number(f64::from(number))))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Scalar, E> {
                Ok(u32::try_from(number).map_or(Scalar::None, |number| Scalar::Number(f64::from(number))))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Scalar, E> {
                Ok(Scalar::Number(number))
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Scalar, E> {
                Ok(Scalar::Flag(flag))
            }

            fn visit_unit<E>(self) -> Result<Scalar, E> {
                Ok(Scalar::None)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar, A::Error> {
                while seq.next_element::<de::IgnoredAny>()?.is_some() {}
                Ok(Scalar::None)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
                while map.next_entry::<de::IgnoredAny, de::IgnoredAny>()?.is_some() {}
                Ok(Scalar::None)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn reviewers_answers_of_the_specification() {
        let text = r#"
            {"model": "codex", "role": "reviewer", "file": "src/db.py", "findings": [
              {"severity": "critical", "confidence": 90, "line": 12, "title": "SQL injection", "description": "d", "suggestion": "s"},
              {"severity": "P2", "confidence": 0.5, "line": "3-4", "title": "Slow", "description": ""}]}
            [{"reviewer": "gemini", "findings": []}, {"model": "claude", "title": "Not an issue: `q` is bound", "valid": false}]
        "#;
        let dossier = read(text).unwrap();
        let rows: Vec<_> = dossier
            .claims
            .iter()
            .map(|c| (c.id.as_str(), c.file.as_deref(), c.line, c.end_line, c.severity, c.confidence, c.denies))
            .collect();
        assert_eq!(
            rows,
            [
                ("codex/1", Some("src/db.py"), Some(12), None, Some(Level::Critical), Some(90), false),
                ("codex/2", Some("src/db.py"), Some(3), Some(4), Some(Level::Medium), Some(50), false),
                ("claude/1", None, None, None, None, None, true),
            ]
        );
        assert_eq!(dossier.debate.reviewers, ["codex", "gemini"]);
        assert!(dossier.problems.is_empty());
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
        let dossier = read(text).unwrap();
        assert_eq!(dossier.id.as_deref(), Some("run"));
        let claims: Vec<_> = dossier.claims.iter().map(|c| (c.id.as_str(), c.model.as_str(), c.observed)).collect();
        assert_eq!(claims, [("a", "codex", false), ("gemini/1", "gemini", true)]);
        let said = &dossier.debate.examinations[0];
        assert_eq!((said.by.as_str(), said.finding.as_str(), said.adjustment), ("gemini", "a", 5));
        assert_eq!(dossier.debate.defences[0].revised_severity, Some(Level::Low));
        assert_eq!(
            dossier.problems,
            [
                "gemini answers to the finding `nothing`, which does not exist",
                "gemini answers `shrug` to `a`, which is no word of a debate",
            ]
        );
    }
}
