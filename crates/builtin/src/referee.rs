//! `builtin:referee` rules on a dispute without a model: the embedded referee looks up the objection's references
//! in the tree.
//!
//! The embedded referee rules DISMISS on two conditions: all references of the objection exist, and the cited code
//! contains a name from the flagged code. The embedded referee rules ENFORCE if the objection contains no
//! references, or if every reference is to missing code or a missing folder. In all other cases, the ruling is
//! ESCALATE. A reference to the flagged code itself does not count as evidence.

use std::fmt;
use std::path::Path;

use super::answer::Body;
use crate::code::{source, symbols};
use crate::rules::scan;
use glee_model::domain::{Dispute, Grounds, Location, Ruling, RulingWord, meanings};
use glee_protocol::calls::judge::CoderWritten;
use glee_protocol::request::SourceFile;
use glee_protocol::text::references::{self, Reference};
use glee_system::files;

const LARGEST_FILE: u64 = 4 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cited {
    /// A reference to a file, to lines or names in a file, or to a folder such as `docs/`.
    Code(Reference),
    /// A web link or an issue number, which the referee cannot look up in the tree.
    Elsewhere(String),
}

impl fmt::Display for Cited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(reference) => reference.fmt(f),
            Self::Elsewhere(text) => f.write_str(text),
        }
    }
}

pub(crate) fn cited(text: &str) -> Vec<Cited> {
    let mut found = Vec::new();
    for word in references::words(text) {
        let plain = word.trim_end_matches(['.', ':', '!', '?']);
        let is_link = ["https://", "http://"]
            .iter()
            .any(|scheme| word.starts_with(scheme));
        let number = plain.strip_prefix('#').unwrap_or_default();
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let is_folder = plain.ends_with('/')
            && plain.contains(char::is_alphabetic)
            && plain
                .chars()
                .all(|c| c.is_alphanumeric() || "_./@+-".contains(c));
        let one = if is_link || is_number {
            Some(Cited::Elsewhere(plain.to_owned()))
        } else if is_folder {
            Some(Cited::Code(Reference {
                path: plain.to_owned(),
                lines: None,
                names: Vec::new(),
            }))
        } else {
            references::reference(&word).map(Cited::Code)
        };
        found.extend(one.filter(|one| !found.contains(one)));
    }
    found
}

/// The result of checking a citation. The number in a variant is the number of the cited code's first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CitationCheck {
    Missing,
    /// The cited code exists, and mentions the name of a definition that contains the flagged line.
    Names(u32),
    /// The cited code exists, but mentions no name of a definition that contains the flagged line.
    Silent(u32),
    Itself(u32),
    /// The coder wrote the cited code in this run.
    Written(u32),
    /// The reference is only the path of an existing file or folder, without lines or names.
    Whole,
    Elsewhere,
}

struct Tree<'a> {
    files: &'a [SourceFile],
    written: &'a [CoderWritten],
    root: &'a Path,
}

impl Tree<'_> {
    fn text(&self, path: &str) -> Option<String> {
        if let Some(file) = self.files.iter().find(|file| file.path == path) {
            return Some(file.text.clone());
        }
        let path = source::resolve(self.root, path).ok()?;
        (path.metadata().ok()?.len() <= LARGEST_FILE).then(|| files::read_to_string(&path).ok())?
    }

    /// Resolves the path of a reference against the folders that enclose the flagged file `from`. If the path
    /// exists in several folders, the innermost folder applies.
    fn resolve(&self, reference: &mut Reference, from: &str) {
        let path = meanings(&reference.path, from)
            .find(|path| self.text(path).is_some() || self.has_folder(path));
        reference.path = path.unwrap_or_else(|| std::mem::take(&mut reference.path));
    }

    /// Returns whether the coder wrote any of the `lines` in this run. If `lines` is `None`, checks the whole file
    /// or folder.
    fn is_written(&self, path: &str, lines: Option<(u32, u32)>) -> bool {
        self.written.iter().any(|file| match lines {
            Some((first, last)) if file.path == path => {
                file.lines.is_empty()
                    || file
                        .lines
                        .iter()
                        .any(|(from, to)| *from <= last && first <= *to)
            }
            Some(_) => false,
            None => {
                let rest = file.path.strip_prefix(path.trim_end_matches('/'));
                file.path == path || rest.is_some_and(|rest| rest.starts_with('/'))
            }
        })
    }

    fn has_folder(&self, path: &str) -> bool {
        let inside = !Path::new(path).is_absolute() && !path.split('/').any(|part| part == "..");
        inside && self.root.join(path).is_dir()
    }
}

struct Flagged {
    file: String,
    names: Vec<String>,
    block: (u32, u32),
}

pub(crate) fn judge(
    dispute: &Dispute,
    files: &[SourceFile],
    written: &[CoderWritten],
    root: &Path,
) -> Body {
    let tree = Tree {
        files,
        written,
        root,
    };
    let objection = &dispute.objection;
    let mut all: Vec<Cited> = objection
        .evidence
        .iter()
        .flat_map(|line| cited(line.as_written()))
        .collect();
    if objection.evidence.is_empty() {
        all = cited(objection.text.as_written());
    }
    let place = dispute.finding.raw.location();
    let flagged = place.as_ref().and_then(|place| flagged(&tree, place));
    if let Some(place) = &place {
        for cited in &mut all {
            if let Cited::Code(reference) = cited {
                tree.resolve(reference, &place.file);
            }
        }
    }
    let checked: Vec<(&Cited, CitationCheck)> = all
        .iter()
        .map(|cited| (cited, check(&tree, cited, flagged.as_ref())))
        .collect();
    let (ruling, grounds) = rule(&checked);
    let mut citations: Vec<String> = checked
        .iter()
        .filter_map(|(cited, found)| citation(cited, *found))
        .collect();
    if let Some(place) = place.filter(|place| place.line.is_some() && flagged.is_some()) {
        citations.push(
            Location {
                end_line: None,
                ..place
            }
            .to_string(),
        );
    }
    let rationale = rationale(ruling, &checked, flagged.as_ref()).into();
    let citations = citations.into_iter().map(Into::into).collect();
    Body::Ruling {
        dispute: dispute.number,
        ruling: Ruling {
            rationale,
            grounds,
            citations,
            ..Ruling::bare(ruling)
        },
    }
}

fn rule(checked: &[(&Cited, CitationCheck)]) -> (RulingWord, Option<Grounds>) {
    let all = || checked.iter().map(|(_, found)| *found);
    let names = |found: CitationCheck| matches!(found, CitationCheck::Names(_));
    if all().all(|found| found == CitationCheck::Missing) {
        return (RulingWord::Enforce, None);
    }
    if all().any(names) && all().all(|found| names(found) || found == CitationCheck::Whole) {
        let by_name = checked.iter().any(|(cited, found)| {
            names(*found) && matches!(cited, Cited::Code(reference) if !reference.names.is_empty())
        });
        let grounds = if by_name {
            Grounds::AlreadyHandled
        } else {
            Grounds::MisunderstoodContext
        };
        return (RulingWord::Dismiss, Some(grounds));
    }
    (RulingWord::Escalate, None)
}

fn flagged(tree: &Tree<'_>, place: &Location) -> Option<Flagged> {
    let line = place.line?;
    let text = tree.text(&place.file)?;
    let syntax = scan::tree(&place.file, &text)?;
    let block = symbols::block(&syntax, line).unwrap_or((line, place.end_line.unwrap_or(line)));
    Some(Flagged {
        file: place.file.clone(),
        names: symbols::owners(&syntax, line),
        block,
    })
}

fn check(tree: &Tree<'_>, cited: &Cited, flagged: Option<&Flagged>) -> CitationCheck {
    let Cited::Code(Reference { path, lines, names }) = cited else {
        return CitationCheck::Elsewhere;
    };
    let text = tree.text(path);
    let syntax = text.as_deref().and_then(|text| scan::tree(path, text));
    let (lines, range) = if let (Some(lines), true) = (*lines, names.is_empty()) {
        let Some(range) = text.as_deref().and_then(|text| bytes_of(text, lines)) else {
            return CitationCheck::Missing;
        };
        (lines, range)
    } else if !names.is_empty() {
        let node = syntax
            .as_ref()
            .and_then(|syntax| symbols::definition(syntax, names));
        let Some(node) = node else {
            return CitationCheck::Missing;
        };
        (symbols::lines(&node), node.range())
    } else if tree.is_written(path, None) {
        return CitationCheck::Written(1);
    } else {
        return if text.is_some() || tree.has_folder(path) {
            CitationCheck::Whole
        } else {
            CitationCheck::Missing
        };
    };
    if tree.is_written(path, Some(lines)) {
        return CitationCheck::Written(lines.0);
    }
    if flagged.is_some_and(|flagged| {
        flagged.file == *path && (flagged.block.0 <= lines.1 && lines.0 <= flagged.block.1)
    }) {
        return CitationCheck::Itself(lines.0);
    }
    let wanted = flagged.map_or(&[][..], |flagged| &flagged.names);
    let is_named = match &syntax {
        Some(syntax) => symbols::mentions(syntax, &range, wanted),
        None => has_word(&text.unwrap_or_default()[range], wanted),
    };
    if is_named {
        CitationCheck::Names(lines.0)
    } else {
        CitationCheck::Silent(lines.0)
    }
}

fn bytes_of(text: &str, (first, last): (u32, u32)) -> Option<std::ops::Range<usize>> {
    let first = usize::try_from(first).ok()?;
    let last = usize::try_from(last).ok()?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let cited = lines.get(first.checked_sub(1)?..last)?;
    let start: usize = lines[..first - 1].iter().map(|line| line.len()).sum();
    let length: usize = cited.iter().map(|line| line.len()).sum();
    cited
        .iter()
        .any(|line| !line.trim().is_empty())
        .then_some(start..start + length)
}

fn has_word(text: &str, names: &[String]) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|word| names.iter().any(|name| name == word))
}

fn citation(cited: &Cited, found: CitationCheck) -> Option<String> {
    let Cited::Code(reference) = cited else {
        return None;
    };
    match found {
        CitationCheck::Names(line)
        | CitationCheck::Silent(line)
        | CitationCheck::Itself(line)
        | CitationCheck::Written(line) => {
            let is_place = reference.lines.is_some() || !reference.names.is_empty();
            is_place.then(|| format!("{}:{line}", reference.path))
        }
        CitationCheck::Missing | CitationCheck::Whole | CitationCheck::Elsewhere => None,
    }
}

fn rationale(
    ruling: RulingWord,
    checked: &[(&Cited, CitationCheck)],
    flagged: Option<&Flagged>,
) -> String {
    let symbol = flagged.and_then(|flagged| flagged.names.first());
    let symbol = symbol.map_or_else(|| "the flagged code".to_owned(), |name| format!("`{name}`"));
    let what: Vec<String> = checked
        .iter()
        .map(|(cited, found)| match found {
            CitationCheck::Missing => format!("`{cited}` does not exist"),
            CitationCheck::Names(_) => format!("`{cited}` exists and names {symbol}"),
            CitationCheck::Silent(_) => format!("`{cited}` exists but does not name {symbol}"),
            CitationCheck::Itself(_) => format!("`{cited}` is the flagged code itself"),
            CitationCheck::Written(_) => format!("`{cited}` was written by the coder in this run"),
            CitationCheck::Whole => format!("`{cited}` exists"),
            CitationCheck::Elsewhere => format!("`{cited}` cannot be looked up in the tree"),
        })
        .collect();
    let so = match ruling {
        RulingWord::Enforce if checked.is_empty() => {
            return "The objection cites no line, test or file that supports it, so the finding is enforced."
                .to_owned();
        }
        RulingWord::Enforce => "nothing supports the objection, so the finding is enforced",
        RulingWord::Dismiss => "the objection is confirmed",
        RulingWord::Escalate => {
            "this neither confirms nor refutes the objection, so a person has to decide"
        }
    };
    format!("{}: {so}.", what.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_out_of_prose() {
        let cases = [
            (
                "an ETag, see tests/test_etag.py::test_is_stable.",
                vec!["tests/test_etag.py::test_is_stable"],
            ),
            (
                "(src/db.rs:12, src/db.rs:14-16)",
                vec!["src/db.rs:12", "src/db.rs:14-16"],
            ),
            (
                "`src/db.rs#L3-L5` and src/db.rs:7:2",
                vec!["src/db.rs:3-5", "src/db.rs:7"],
            ),
            (
                "web/cart.test.ts::\"refuses a negative price\" holds",
                vec!["web/cart.test.ts::\"refuses a negative price\""],
            ),
            (
                "src/store.rs::tests::keeps_order()",
                vec!["src/store.rs::tests::keeps_order"],
            ),
            (
                "docs/decisions/, README.md",
                vec!["docs/decisions/", "README.md"],
            ),
            (
                "https://example.org/a.py and #12.",
                vec!["https://example.org/a.py", "#12"],
            ),
            ("twice the same a/b.go:1 a/b.go:1", vec!["a/b.go:1"]),
        ];
        for (text, expected) in cases {
            let read: Vec<String> = cited(text).iter().map(ToString::to_string).collect();
            assert_eq!(read, expected, "{text}");
        }
    }

    #[test]
    fn prose_is_no_reference() {
        for text in [
            "reviewed, e.g. by hand, i.e. twice",
            "and/or TCP/IP",
            "version 1.2 of std::fs",
            "glee_model::domain is fine",
            "10:30 o'clock: done",
            "only used as a cache key -- trusted input",
        ] {
            assert_eq!(cited(text), [], "{text}");
        }
    }
}
