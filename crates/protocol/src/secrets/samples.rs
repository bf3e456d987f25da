//! Tests each packaged rule with texts that are generated from the rule's expression.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::rules::{FoundSecret, find_by};
use super::*;

/// The maximum number of texts that the test generates for a rule. The rule does not find every generated text:
/// some have too little entropy, contain a stopword, or match an exception.
const TRIES: u64 = 200;

struct Numbers(blake3::OutputReader);

impl Numbers {
    fn new(seed: &str) -> Self {
        Self(blake3::Hasher::new().update(seed.as_bytes()).finalize_xof())
    }

    fn below(&mut self, end: usize) -> usize {
        let mut bytes = [0; 4];
        self.0.fill(&mut bytes);
        usize::try_from(u32::from_le_bytes(bytes)).expect("32 bits fit") % end.max(1)
    }

    /// Appends a random text that the expression `hir` matches. Look-around assertions are ignored.
    fn write(&mut self, hir: &Hir, text: &mut String) {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
            HirKind::Class(Class::Unicode(class)) => {
                let is_in = |c: &char| {
                    class
                        .ranges()
                        .iter()
                        .any(|range| (range.start()..=range.end()).contains(c))
                };
                let plain: Vec<char> = ('0'..='9')
                    .chain('A'..='Z')
                    .chain('a'..='z')
                    .filter(is_in)
                    .collect();
                let ascii: Vec<char> = (' '..='~').chain(['\n']).filter(is_in).collect();
                let from = if plain.is_empty() { ascii } else { plain };
                text.extend(from.get(self.below(from.len())));
            }
            HirKind::Class(Class::Bytes(_)) => unreachable!("the expressions are of text"),
            HirKind::Repetition(repetition) => {
                let most = repetition
                    .max
                    .unwrap_or(repetition.min + 70)
                    .min(repetition.min + 70);
                // A part with a minimum of 0 repetitions is usually a separator. Because real separators are
                // short, a sample contains such a part at most twice.
                let times = match repetition.min {
                    0 => self.below(most.min(2) as usize + 1),
                    least => least as usize + self.below((most - least) as usize + 1),
                };
                (0..times).for_each(|_| self.write(&repetition.sub, text));
            }
            HirKind::Capture(capture) => self.write(&capture.sub, text),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.write(part, text)),
            HirKind::Alternation(parts) => {
                let at = self.below(parts.len());
                self.write(&parts[at], text);
            }
        }
    }
}

#[test]
fn every_rule_finds_what_is_written_by_its_expression() {
    let packaged: Value = toml::from_str(include_str!("gitleaks.toml")).expect("packaged rules");
    let mut found = 0;
    let mut missed = Vec::new();
    for rule in packaged["rules"].as_array().expect("rules") {
        let id = rule["id"].as_str().expect("an id");
        let Some(expression) = rule["regex"].as_str() else {
            continue;
        };
        let hir = regex_syntax::parse(expression).expect("a packaged expression");
        let keywords = rule["keywords"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let comment: String = keywords.take(1).map(|word| format!("# {word}\n")).collect();
        let is_found = (0..TRIES).any(|attempt| {
            let mut sample = String::new();
            Numbers::new(&format!("{id} {attempt}")).write(&hir, &mut sample);
            let text = format!("{comment}{sample}\n");
            let Some(FoundSecret { at, .. }) = find_by(text.as_bytes(), |rule| rule == id)
                .into_iter()
                .next()
            else {
                return false;
            };
            let secret = &text[at.clone()];
            let clean = redact(&text);
            assert!(
                secret.len() < 8 || !clean[comment.len()..].contains(secret),
                "{id}: {clean}"
            );
            assert_eq!(redact(&clean), clean, "{id}: a placeholder is no secret");
            true
        });
        match is_found {
            true => found += 1,
            false => missed.push(id),
        }
    }
    assert_eq!(missed, Vec::<&str>::new(), "rules that find nothing");
    assert!(found >= 221, "{found}");
}
