//! `builtin:referee`: rules on an objection by looking up what it refers to, and by nothing else.
//!
//! DISMISS when everything it refers to exists and what it cites names the flagged code; ENFORCE when it refers to
//! nothing that exists; ESCALATE otherwise. A reference into the flagged code itself proves nothing.

use std::path::Path;

use super::answer::Body;
use crate::agents::builtin::code::references::{ObjectionReference, references};
use crate::agents::builtin::code::{source, symbols};
use crate::agents::builtin::rules::scan;
use crate::domain::{Dispute, Grounds, Location, Ruling, RulingWord, meanings};
use crate::protocol::request::{CoderWritten, SourceFile};
use crate::system::files;

/// The largest file a reference is looked up in, in bytes.
const LARGEST_FILE: u64 = 4 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Missing,
    /// It is there, at this line, and what is cited names the flagged code.
    Names(u32),
    /// It is there and does not.
    Silent(u32),
    /// It is the flagged code itself.
    Itself(u32),
    /// The coder wrote it in this run.
    Written(u32),
    /// A whole file or folder: there, but nothing in it is cited.
    Whole,
    /// The tree cannot say.
    Elsewhere,
}

/// The tree that references are looked up in: the files of the request, then those on disk.
struct Shelf<'a> {
    files: &'a [SourceFile],
    written: &'a [CoderWritten],
    root: &'a Path,
}

impl Shelf<'_> {
    fn text(&self, path: &str) -> Option<String> {
        if let Some(file) = self.files.iter().find(|file| file.path == path) {
            return Some(file.text.clone());
        }
        let path = source::resolve(self.root, path).ok()?;
        (path.metadata().ok()?.len() <= LARGEST_FILE).then(|| files::read_to_string(&path).ok())?
    }

    /// The reference as it is meant from the flagged file: relative to the nearest folder around it that has it.
    fn found(&self, reference: ObjectionReference, from: &str) -> ObjectionReference {
        let meant =
            |path: &str| meanings(path, from).find(|path| self.text(path).is_some() || self.has_folder(path));
        match reference {
            ObjectionReference::File(path) => ObjectionReference::File(meant(&path).unwrap_or(path)),
            ObjectionReference::Lines(path, first, last) => {
                ObjectionReference::Lines(meant(&path).unwrap_or(path), first, last)
            }
            ObjectionReference::Name(path, names) => ObjectionReference::Name(meant(&path).unwrap_or(path), names),
            ObjectionReference::Elsewhere(text) => ObjectionReference::Elsewhere(text),
        }
    }

    /// Whether the coder wrote any of these lines in this run, or, without lines, anything in the file or folder.
    fn is_written(&self, path: &str, lines: Option<(u32, u32)>) -> bool {
        let below =
            |file: &str| file.strip_prefix(path.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'));
        self.written.iter().any(|file| match lines {
            Some((first, last)) if file.path == path => {
                file.lines.is_empty() || file.lines.iter().any(|(from, to)| *from <= last && first <= *to)
            }
            Some(_) => false,
            None => file.path == path || below(&file.path),
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
    /// The lines of the function or value it is in.
    block: (u32, u32),
}

pub(crate) fn judge(dispute: &Dispute, files: &[SourceFile], written: &[CoderWritten], root: &Path) -> Body {
    let shelf = Shelf { files, written, root };
    let objection = &dispute.objection;
    let mut cited: Vec<ObjectionReference> =
        objection.evidence.iter().flat_map(|line| references(line.as_written())).collect();
    if objection.evidence.is_empty() {
        cited = references(objection.text.as_written());
    }
    let place = dispute.finding.raw.location();
    let flagged = place.as_ref().and_then(|place| flagged(&shelf, place));
    if let Some(place) = &place {
        cited = cited.into_iter().map(|reference| shelf.found(reference, &place.file)).collect();
    }
    let checked: Vec<(&ObjectionReference, Standing)> =
        cited.iter().map(|reference| (reference, standing(&shelf, reference, flagged.as_ref()))).collect();
    let (ruling, grounds) = rule(&checked);
    let mut citations: Vec<String> =
        checked.iter().filter_map(|(reference, standing)| citation(reference, *standing)).collect();
    if let Some(place) = place.filter(|place| place.line.is_some() && flagged.is_some()) {
        citations.push(Location { end_line: None, ..place }.to_string());
    }
    let rationale = rationale(ruling, &checked, flagged.as_ref()).into();
    let citations = citations.into_iter().map(Into::into).collect();
    Body::Ruling {
        dispute: dispute.number,
        ruling: Ruling { rationale, grounds, citations, ..Ruling::bare(ruling) },
    }
}

fn rule(checked: &[(&ObjectionReference, Standing)]) -> (RulingWord, Option<Grounds>) {
    let standings = || checked.iter().map(|(_, standing)| *standing);
    let names = |standing: Standing| matches!(standing, Standing::Names(_));
    if standings().all(|standing| standing == Standing::Missing) {
        return (RulingWord::Enforce, None);
    }
    if standings().any(names) && standings().all(|standing| names(standing) || standing == Standing::Whole) {
        let by_name =
            checked.iter().any(|(cited, how)| names(*how) && matches!(cited, ObjectionReference::Name(..)));
        return (
            RulingWord::Dismiss,
            Some(if by_name { Grounds::AlreadyHandled } else { Grounds::MisunderstoodContext }),
        );
    }
    (RulingWord::Escalate, None)
}

fn flagged(shelf: &Shelf<'_>, place: &Location) -> Option<Flagged> {
    let line = place.line?;
    let text = shelf.text(&place.file)?;
    let tree = scan::tree(&place.file, &text)?;
    let names = symbols::owners(&tree, line);
    let block = symbols::block(&tree, line).unwrap_or((line, place.end_line.unwrap_or(line)));
    Some(Flagged { file: place.file.clone(), names, block })
}

fn standing(shelf: &Shelf<'_>, reference: &ObjectionReference, flagged: Option<&Flagged>) -> Standing {
    let names = flagged.map_or(&[][..], |flagged| &flagged.names);
    let itself = |path: &str, (first, last): (u32, u32)| {
        flagged.is_some_and(|flagged| flagged.file == path && flagged.block.0 <= last && first <= flagged.block.1)
    };
    match reference {
        ObjectionReference::Elsewhere(_) => Standing::Elsewhere,
        ObjectionReference::File(path) if shelf.is_written(path, None) => Standing::Written(1),
        ObjectionReference::File(path) if shelf.text(path).is_some() || shelf.has_folder(path) => Standing::Whole,
        ObjectionReference::File(_) => Standing::Missing,
        ObjectionReference::Lines(path, first, last) => {
            let Some(text) = shelf.text(path) else { return Standing::Missing };
            let Some(range) = bytes_of(&text, *first, *last) else { return Standing::Missing };
            if shelf.is_written(path, Some((*first, *last))) {
                return Standing::Written(*first);
            }
            if itself(path, (*first, *last)) {
                return Standing::Itself(*first);
            }
            let found = match scan::tree(path, &text) {
                Some(tree) => symbols::mentions(&tree, &range, names),
                None => has_word(&text[range], names),
            };
            if found { Standing::Names(*first) } else { Standing::Silent(*first) }
        }
        ObjectionReference::Name(path, name) => {
            let Some(tree) = shelf.text(path).and_then(|text| scan::tree(path, &text)) else {
                return Standing::Missing;
            };
            let Some(node) = symbols::definition(&tree, name) else { return Standing::Missing };
            let lines = symbols::lines(&node);
            if shelf.is_written(path, Some(lines)) {
                return Standing::Written(lines.0);
            }
            if itself(path, lines) {
                return Standing::Itself(lines.0);
            }
            let found = symbols::mentions(&tree, &node.range(), names);
            if found { Standing::Names(lines.0) } else { Standing::Silent(lines.0) }
        }
    }
}

/// The bytes of lines, if the text has them and they are not all blank.
fn bytes_of(text: &str, first: u32, last: u32) -> Option<std::ops::Range<usize>> {
    let (first, last) = (usize::try_from(first).ok()?, usize::try_from(last).ok()?);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let cited = lines.get(first.checked_sub(1)?..last)?;
    let start: usize = lines[..first - 1].iter().map(|line| line.len()).sum();
    let length: usize = cited.iter().map(|line| line.len()).sum();
    cited.iter().any(|line| !line.trim().is_empty()).then_some(start..start + length)
}

fn has_word(text: &str, names: &[String]) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c: char| !is_part(c)).any(|word| names.iter().any(|name| name == word))
}

fn citation(reference: &ObjectionReference, standing: Standing) -> Option<String> {
    let (ObjectionReference::Lines(path, ..) | ObjectionReference::Name(path, _)) = reference else { return None };
    match standing {
        Standing::Names(line) | Standing::Silent(line) | Standing::Itself(line) | Standing::Written(line) => {
            Some(format!("{path}:{line}"))
        }
        Standing::Missing | Standing::Whole | Standing::Elsewhere => None,
    }
}

fn rationale(ruling: RulingWord, checked: &[(&ObjectionReference, Standing)], flagged: Option<&Flagged>) -> String {
    let symbol = flagged.and_then(|flagged| flagged.names.first());
    let symbol = symbol.map_or_else(|| "the flagged code".to_owned(), |name| format!("`{name}`"));
    let what: Vec<String> = checked
        .iter()
        .map(|(reference, standing)| match standing {
            Standing::Missing => format!("`{reference}` does not exist"),
            Standing::Names(_) => format!("`{reference}` exists and names {symbol}"),
            Standing::Silent(_) => format!("`{reference}` exists but does not name {symbol}"),
            Standing::Itself(_) => format!("`{reference}` is the flagged code itself"),
            Standing::Written(_) => format!("`{reference}` was written by the coder in this run"),
            Standing::Whole => format!("`{reference}` exists"),
            Standing::Elsewhere => format!("`{reference}` cannot be looked up in the tree"),
        })
        .collect();
    let so = match ruling {
        RulingWord::Enforce if checked.is_empty() => {
            return "The objection refers to no line, test or file that would bear it out, so the finding stands."
                .to_owned();
        }
        RulingWord::Enforce => "nothing bears the objection out, so the finding stands",
        RulingWord::Dismiss => "the objection is borne out",
        RulingWord::Escalate => "that neither bears the objection out nor refutes it, so a person has to decide",
    };
    format!("{}: {so}.", what.join("; "))
}
