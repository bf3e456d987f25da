//! Reads the fields of a finding in JSON. Models use different names for the same field, and the reader accepts
//! all these names.

use crate::text::demonstration;
use crate::text::{LenientValue, location, markdown, tag, weakness};
use glee_model::domain::{
    Confidence, Cwe, DisputeId, DisputeNumber, Location, RawFinding, RulingRef, Severity, Tag,
    Untrusted, fold,
};
use glee_model::rules::consensus::UNTITLED;

/// Names of fields that contain the title, in the order of preference.
pub const HEADS: [&str; 4] = ["title", "headline", "summary", "name"];

/// Names of fields that contain the description, in the order of preference.
#[rustfmt::skip]
pub const BODIES: [&str; 11] = [
    "description", "body", "message", "text", "comment", "details", "detail", "explanation", "problem", "issue",
    "finding",
];

/// Names of fields that contain the severity. If an object has several of these fields, the severity is read from
/// the last of these fields in the object.
const SEVERITY: &[&str] = &["severity", "tag_raw"];
const TAG: &[&str] = &["tag"];
const LEVEL: &[&str] = &["priority", "level"];
pub const FILE: &[&str] = &[
    "file",
    "path",
    "filename",
    "file_path",
    "absolute_file_path",
];
pub const LINE: &[&str] = &["line", "start_line", "line_number"];
const END_LINE: &[&str] = &["end_line"];
const LOCATION: &[&str] = &["location", "code_location"];
/// An object with the first and the last line, as `codex review` writes it.
const LINE_RANGE: &[&str] = &["line_range", "range", "lines"];
/// Names of fields that list places. The first place is the main place if the finding has no other place.
const PLACES: &[&str] = &["places", "locations", "files"];
const CATEGORY: &[&str] = &["category"];
const SUGGESTION: &[&str] = &["suggestion", "fix", "recommendation"];
const REPLACEMENT: &[&str] = &["replacement", "suggested_replacement"];
const CONFIDENCE: &[&str] = &["confidence", "confidence_score"];
const EVIDENCE: &[&str] = &["evidence"];
const RULE: &[&str] = &["rule"];
const INSISTS_ON: &[&str] = &["insists_on", "ruling", "dispute"];

/// Names of fields whose values never become part of the description.
const NO_TEXT: [&str; 9] = [
    "id",
    "type",
    "role",
    "status",
    "nonce",
    "model",
    "reviewer",
    "agent",
    "timestamp",
];

static NOTHING: LenientValue = LenientValue::Nothing;

#[derive(Default)]
pub(crate) struct FindingFields<'a>(Vec<(&'a str, &'a LenientValue)>);

impl<'a> FindingFields<'a> {
    pub(crate) fn push(&mut self, name: &'a str, value: &'a LenientValue) {
        self.0.push((name, value));
    }

    fn get(&self, names: &[&str]) -> &'a LenientValue {
        let named = self.0.iter().rev().find(|(name, _)| names.contains(name));
        named.map_or(&LenientValue::Nothing, |(_, value)| value)
    }

    fn texts(&self, names: &[&str]) -> Vec<String> {
        names
            .iter()
            .filter_map(|name| self.get(&[name]).joined())
            .collect()
    }

    pub(crate) fn knows(name: &str) -> bool {
        let others = [
            SEVERITY,
            TAG,
            LEVEL,
            FILE,
            LINE,
            END_LINE,
            LOCATION,
            PLACES,
            CATEGORY,
            weakness::NAMES,
            SUGGESTION,
            REPLACEMENT,
            CONFIDENCE,
            EVIDENCE,
            RULE,
            INSISTS_ON,
            demonstration::FIELD,
        ];
        HEADS.contains(&name)
            || BODIES.contains(&name)
            || others.iter().any(|names| names.contains(&name))
    }

    pub(crate) fn has_text(&self) -> bool {
        self.0.iter().any(|(name, value)| {
            (HEADS.contains(name) || BODIES.contains(name)) && value.joined().is_some()
        })
    }

    pub(crate) fn has_severity(&self) -> bool {
        [SEVERITY, TAG, LEVEL]
            .into_iter()
            .any(|names| self.get(names).word().is_some())
    }

    pub(crate) fn is_log_line(&self) -> bool {
        let level = self.get(SEVERITY).word().or_else(|| self.get(LEVEL).word());
        let has_place = self.file().is_some() || !self.places(None).is_empty();
        !has_place && level.is_some_and(|word| tag::is_log_level(&word))
    }

    pub(crate) fn file(&self) -> Option<&'a str> {
        match self.get(FILE) {
            LenientValue::Text(file) => Some(file.trim()).filter(|file| !file.is_empty()),
            _ => None,
        }
    }

    pub(crate) fn summary(&self) -> Option<String> {
        self.get(&["summary"]).joined()
    }

    /// Returns all places of the finding, the main place first. `file` is the file of a finding that names no file.
    fn places(&self, file: Option<&str>) -> Vec<Location> {
        let mut places = Vec::new();
        let [named, line, end] = [FILE, LINE, END_LINE].map(|names| self.get(names));
        let location = self.get(LOCATION);
        add_places([named, line, end], None, &mut places);
        if !places.is_empty() {
            if let LenientValue::List(_) = location {
                let file = places[0].file.clone();
                add_located(location, Some(&file), &mut places);
            }
        } else if add_located(location, file, &mut places) {
            // The fields of the finding can state the lines of a location without lines.
            let main = &mut places[0];
            if main.line.is_none() {
                (main.line, main.end_line) = lines(line, end);
            } else if main.end_line.is_none() {
                main.end_line = lines(end, &NOTHING).0.filter(|end| Some(*end) > main.line);
            }
        } else if !line.is_nothing() {
            add_places([&NOTHING, line, end], file, &mut places);
        }
        for name in PLACES {
            let file = places
                .first()
                .map_or(file, |place| Some(&place.file))
                .map(str::to_owned);
            add_located(self.get(&[name]), file.as_deref(), &mut places);
        }
        if places.is_empty() {
            add_places([&NOTHING; 3], file, &mut places);
        }
        // A file without a line repeats the places in this file.
        if let [first, others @ ..] = places.as_slice()
            && first.line.is_none()
            && others.iter().any(|place| place.file == first.file)
        {
            places.remove(0);
        }
        places
    }

    fn lines_without_file(&self) -> (Option<u32>, Option<u32>) {
        let [line, end] = match self.get(LOCATION) {
            location @ LenientValue::Number(_) => [location, &NOTHING],
            location => [LINE, END_LINE].map(|names| location.get(names)),
        };
        if line.is_nothing() {
            lines(self.get(LINE), self.get(END_LINE))
        } else {
            lines(line, end)
        }
    }

    /// `file` is the file of a finding that names no file.
    pub(crate) fn finding(&self, file: Option<&str>) -> RawFinding {
        let word = |names| self.get(names).word();
        let raw = word(SEVERITY)
            .or_else(|| word(TAG))
            .or_else(|| word(LEVEL).map(level))
            .unwrap_or_default();
        let tag = word(TAG)
            .and_then(|word| Tag::parse(&word))
            .or_else(|| Tag::parse(&raw));
        let heads = self.texts(&HEADS);
        let mut bodies = self.texts(&BODIES);
        if heads.is_empty() && bodies.is_empty() {
            let others = self
                .0
                .iter()
                .filter(|(name, _)| !Self::knows(name) && !NO_TEXT.contains(name));
            bodies = others.filter_map(|(_, value)| value.joined()).collect();
            bodies.sort();
        }
        let (title, mut body) = texts(heads, bodies);
        let demonstration = demonstration::of_field(self.get(demonstration::FIELD))
            .or_else(|| demonstration::take(&mut body));
        let stated = weakness::take(self.get(weakness::NAMES), &mut body);
        let mut places = self.places(file).into_iter();
        let (file, (line, end_line)) = match places.next() {
            Some(main) => (Some(main.file), (main.line, main.end_line)),
            None => (None, self.lines_without_file()),
        };
        let [category, rule] = [CATEGORY, RULE].map(|names| self.get(names).string());
        let named = [category.as_deref(), rule.as_deref(), Some(&title)];
        let cwe = stated.or_else(|| named.into_iter().flatten().find_map(Cwe::find));
        RawFinding {
            cwe,
            places: places.collect(),
            severity: Severity { tag, raw },
            title: title.into(),
            body: body.into(),
            file,
            line,
            end_line,
            category,
            suggestion: self.get(SUGGESTION).string().map(Untrusted::from),
            replacement: self.get(REPLACEMENT).string().map(Untrusted::from),
            demonstration: demonstration.map(Box::new),
            confidence: confidence(self.get(CONFIDENCE)),
            evidence: self
                .get(EVIDENCE)
                .texts()
                .into_iter()
                .map(Untrusted::from)
                .collect(),
            rule,
            guideline: None,
            insists_on: self.get(INSISTS_ON).word().and_then(|word| ruling(&word)),
        }
    }
}

/// The word of a priority. `codex review` writes `P3` as the number 3.
fn level(word: String) -> String {
    match word.as_str() {
        "0" | "1" | "2" | "3" | "4" => format!("P{word}"),
        _ => word,
    }
}

/// Parses a reference to a ruling, such as `D12`. A string of 8 to 16 digits that begins with 0 is read as the
/// beginning of an id, because no dispute number begins with 0.
fn ruling(word: &str) -> Option<RulingRef> {
    let digits = word.trim().trim_start_matches(['D', 'd']);
    let is_id =
        (8..=16).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = digits
        .parse()
        .ok()
        .filter(|_| !(is_id && digits.starts_with('0')));
    let number = number.map(|number| RulingRef::Number(DisputeNumber(number)));
    number.or_else(|| is_id.then(|| RulingRef::Shared(DisputeId(digits.to_ascii_lowercase()))))
}

/// Returns the title and the description. The title is the first text in `heads`. If `heads` is empty, the title
/// is the first paragraph of `bodies`. The description consists of all texts except the title.
pub fn texts(heads: Vec<String>, bodies: Vec<String>) -> (String, String) {
    let mut heads = heads.into_iter();
    let head = heads.next();
    let text = bodies
        .into_iter()
        .chain(heads)
        .collect::<Vec<_>>()
        .join("\n\n");
    let (title, body) = match head {
        Some(title) => (fold(&title), text),
        None => {
            let text = text.trim();
            let (first, rest) = text.split_once("\n\n").unwrap_or((text, ""));
            (fold(first), markdown::trim_blank_lines(rest).to_owned())
        }
    };
    if title.is_empty() {
        (UNTITLED.to_owned(), body)
    } else {
        (title, body)
    }
}

/// Returns the numbers of the first and the last line. Line numbers that are zero or fractions are ignored. The
/// number of the last line is ignored if it is not greater than the number of the first line.
pub fn lines(line: &LenientValue, end: &LenientValue) -> (Option<u32>, Option<u32>) {
    let Some((line, range_end)) = line.word().and_then(|word| location::lines(&word)) else {
        return (None, None);
    };
    let end = end
        .word()
        .and_then(|word| location::lines(&word))
        .map(|(end, _)| end)
        .or(range_end);
    (Some(line), end.filter(|end| *end > line))
}

/// Reads a confidence in percent. A number between 0 and 1 counts as a fraction, so the function multiplies the
/// number by 100.
fn confidence(value: &LenientValue) -> Option<Confidence> {
    let number: f64 = value
        .word()?
        .trim_end_matches('%')
        .trim_end()
        .parse()
        .ok()
        .filter(|n: &f64| !n.is_nan())?;
    let percent = if number > 0.0 && number < 1.0 {
        number * 100.0
    } else {
        number
    };
    Some(Confidence::clamped(percent.round() as i64))
}

/// Returns the places in a value, which is a place or a list of places. `file` is the file of a place without a file.
pub(crate) fn places_in(value: &LenientValue, file: Option<&str>) -> Vec<Location> {
    let mut places = Vec::new();
    add_located(value, file, &mut places);
    places
}

/// Adds the places in a value to `places`. The value is a string such as `app.py:12`, a line of the file `file`, an
/// object with a file and lines, or a list of such values. Returns whether the value contains a place.
fn add_located(value: &LenientValue, file: Option<&str>, places: &mut Vec<Location>) -> bool {
    let before = places.len();
    match value {
        LenientValue::List(items) => {
            for item in items.iter().take(location::MOST) {
                add_located(item, file, places);
            }
        }
        LenientValue::Text(text) => {
            let of_file = file.filter(|_| location::lines(text).is_some());
            match (location::whole_list(text), of_file) {
                (Some(list), _) => list.into_iter().for_each(|place| add(place, places)),
                (None, Some(_)) => add_places([&NOTHING, value, &NOTHING], file, places),
                (None, None) => {
                    let (path, line, end_line) = match location::split(text.trim()) {
                        Some((path, line, end_line)) => (path, Some(line), end_line),
                        None => (text.trim(), None, None),
                    };
                    if !path.is_empty() {
                        let file = path.to_owned();
                        add(
                            Location {
                                file,
                                line,
                                end_line,
                            },
                            places,
                        );
                    }
                }
            }
        }
        LenientValue::Number(_) => add_places([&NOTHING, value, &NOTHING], file, places),
        LenientValue::Object(_) => {
            let [of_file, line, end] = object_place(value);
            if !(of_file.is_nothing() && line.is_nothing()) {
                add_places([of_file, line, end], file, places);
            }
        }
        LenientValue::Nothing | LenientValue::Bool(_) => {}
    }
    places.len() > before
}

/// Returns the file, the first line and the last line in an object. The object can be a location in SARIF.
fn object_place(object: &LenientValue) -> [&LenientValue; 3] {
    let place = object.get(&["physicalLocation"]);
    let range = object.get(LINE_RANGE);
    if let LenientValue::Object(_) = range {
        return [object.get(FILE), range.get(&["start"]), range.get(&["end"])];
    }
    if place.is_nothing() {
        return [FILE, LINE, END_LINE].map(|names| object.get(names));
    }
    let region = place.get(&["region"]);
    [
        place.get(&["artifactLocation"]).get(&["uri"]),
        region.get(&["startLine"]),
        region.get(&["endLine"]),
    ]
}

/// Adds the places that the three fields of an object state: a file or a list of files, a line or a list of lines,
/// and a last line. `file` is the file of an object without a file.
fn add_places(
    [files, line, end]: [&LenientValue; 3],
    file: Option<&str>,
    places: &mut Vec<Location>,
) {
    match files {
        LenientValue::List(files) => {
            let of_file = match line {
                LenientValue::List(lines) if lines.len() == files.len() => Some(lines),
                _ => None,
            };
            for (at, file) in files.iter().enumerate().take(location::MOST) {
                match of_file {
                    Some(lines) => add_places([file, &lines[at], &NOTHING], None, places),
                    None => drop(add_located(file, None, places)),
                }
            }
        }
        LenientValue::Text(text) if location::whole_list(text).is_some() => {
            add_located(files, None, places);
        }
        _ => {
            let Some(file) = files.string().or_else(|| file.map(str::to_owned)) else {
                return;
            };
            for (line, end_line) in all_lines(line, end) {
                let file = file.clone();
                add(
                    Location {
                        file,
                        line,
                        end_line,
                    },
                    places,
                );
            }
        }
    }
}

fn add(place: Location, places: &mut Vec<Location>) {
    if !places.contains(&place) && places.len() <= location::MOST {
        places.push(place);
    }
}

/// Reads the lines of one or more places in a file. The first item has no line if no line is stated.
fn all_lines(line: &LenientValue, end: &LenientValue) -> Vec<(Option<u32>, Option<u32>)> {
    match line {
        LenientValue::List(items) => {
            let several = items.iter().map(|item| lines(item, &NOTHING));
            let known: Vec<_> = several.filter(|(line, _)| line.is_some()).collect();
            if known.is_empty() {
                vec![(None, None)]
            } else {
                known
            }
        }
        LenientValue::Text(text) if location::lines_list(text).len() > 1 => {
            let several = location::lines_list(text).into_iter();
            several.map(|(line, end)| (Some(line), end)).collect()
        }
        _ => vec![lines(line, end)],
    }
}
