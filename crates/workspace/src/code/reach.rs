//! What of the code a change reaches. A finding about code that the change does not reach is older than the change.
//!
//! A change reaches the blocks of its lines, the blocks that use what it defines, and the blocks that its own blocks use,
//! directly or through one other block. Names are compared by their spelling. Two things of one name count as one, so that
//! a finding that the change caused is not called older.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use crate::code::anchors::Blocks;
use crate::code::cited::ReadText;
use crate::code::names::{self, NamedPlaces};
use crate::diff::unified;
use crate::select::filter;
use glee_model::domain::{RawFinding, Untrusted, is_inside, meanings};
use glee_protocol::request::SourceFile;
use glee_protocol::text::references::{Reference, references};

/// The name of a block stands in one of this number of its first lines.
const OPENING: usize = 8;

/// Words with this number of equal letters at their start are of one stem.
const STEM: usize = 4;

/// A longer line is not searched for what it defines: each of its names counts as defined.
const LONG: usize = 400;

/// Files whose lines are settings or data. Any code can read each name in them.
const SETTINGS: &str = " cfg conf css csv env hcl html ini json json5 jsonc lock properties proto sql tf tfvars toml txt \
    xml yaml yml ";

type Names = BTreeSet<String>;

/// A changed file in its present text.
#[derive(Debug, Default)]
struct ChangedFile {
    /// The blocks of the changed lines.
    blocks: Vec<RangeInclusive<u32>>,
    /// Whether one of these blocks defines nothing.
    has_statements: bool,
    /// Whether any line counts as changed: the file was deleted, only its mode or its name changed, or nobody read it.
    is_whole: bool,
}

/// A change, as far as other code depends on it.
#[derive(Debug, Default)]
pub struct ChangeReach {
    files: BTreeMap<String, ChangedFile>,
    /// The names in the added and the removed lines.
    lines: Names,
    /// The names in the blocks of the changed lines.
    used: Names,
    /// The names that the change defines, sets or removes.
    defined: Names,
    /// The stems of the names in removed lines that no added line has.
    gone: Names,
}

impl ChangeReach {
    /// Reads a change. Returns `None` if a file is under review as a whole: without its base, nothing can be older. `now`
    /// has the present text of a file, which can have been changed again. `unread` are changed files that nobody was sent.
    pub fn of<'f>(
        files: impl Iterator<Item = &'f SourceFile>,
        unread: impl Iterator<Item = &'f str>,
        now: ReadText<'_>,
    ) -> Option<Self> {
        let mut reach = Self::default();
        let [mut added, mut removed] = [Names::new(), Names::new()];
        for file in files {
            let diff = file.diff.as_ref()?;
            if filter::is_document(&file.path) {
                reach.files.entry(file.path.clone()).or_default().is_whole = true;
                continue;
            }
            reach.add_blocks(file, &now(&file.path).unwrap_or_default());
            let [mut defined, mut lost] = [Names::new(), Names::new()];
            let body = diff.lines().skip_while(|line| !line.starts_with("@@ "));
            for line in body {
                if let Some(line) = line.strip_prefix('+') {
                    added.extend(words(line));
                    defined.extend(definitions(line));
                    reach.add_line(&file.path, line);
                } else if let Some(line) = line.strip_prefix('-') {
                    removed.extend(words(line));
                    lost.extend(definitions(line));
                    reach.add_line(&file.path, line);
                }
            }
            reach.defined.extend(lost.difference(&defined).cloned());
        }
        let has_base = !reach.files.is_empty();
        for path in unread {
            reach.files.entry(path.to_owned()).or_default().is_whole = true;
        }
        let gone = removed.difference(&added);
        reach.gone = gone
            .flat_map(|name| parts(name))
            .filter_map(|part| stem(&part))
            .collect();
        reach.lines = added;
        reach.lines.append(&mut removed);
        reach.used.extend(reach.lines.iter().cloned());
        has_base.then_some(reach)
    }

    fn add_blocks(&mut self, file: &SourceFile, text: &str) {
        let known = self.files.entry(file.path.clone()).or_default();
        known.is_whole |= file.changed.is_empty();
        let blocks = Blocks::of(&file.path, text);
        // Lines that follow each other are mostly in one block.
        let mut last_block = (0..=0, false);
        let moved = (file.text != text).then(|| unified::lines(&file.text, text));
        for (first, last) in &file.changed {
            for line in *first..=*last {
                let line = moved
                    .as_ref()
                    .map_or(line, |diff| unified::line_now(diff, line));
                let content = blocks.lines().get(line as usize - 1).copied();
                // The block of a blank line between two members is all that is around them.
                let Some(content) = content.filter(|content| !content.trim().is_empty()) else {
                    continue;
                };
                let block = blocks.reached(line);
                if block != last_block.0 {
                    let whole = blocks.text(&block);
                    last_block = (block.clone(), is_function(&whole));
                    if !known.blocks.contains(&block) {
                        let defined = defined_by(&file.path, &whole);
                        known.has_statements |= defined.is_empty();
                        self.defined.extend(defined);
                        self.used.extend(words(&whole));
                        known.blocks.push(block);
                    }
                }
                if !last_block.1 {
                    self.defined.extend(definitions(content));
                }
            }
        }
    }

    /// Adds what a changed line defines for other blocks.
    fn add_line(&mut self, path: &str, line: &str) {
        if line.len() > LONG {
            self.defined.extend(words(line));
            return;
        }
        if has_settings(path) {
            self.defined.extend(words(line).flat_map(spellings));
        } else if is_import(line) {
            self.defined.extend(words(line));
        } else if !line.starts_with([' ', '\t']) {
            self.defined.extend(definitions(line));
        }
        self.defined
            .extend(words(line).filter(|name| is_set(line, name)));
    }

    /// The names whose places [`Self::causes`] has to be given for these findings.
    pub fn searched<'f>(
        &self,
        findings: impl Iterator<Item = &'f RawFinding>,
        read: ReadText<'_>,
    ) -> Names {
        let mut names = self.defined.clone();
        for finding in findings {
            if let Some(own) = self.beside(finding, read) {
                names.extend(own.defines);
            }
        }
        names
    }

    /// Whether the change reaches the code that a finding is about. A finding without a file can be about the change.
    pub fn causes(&self, finding: &RawFinding, read: ReadText<'_>, places: &NamedPlaces) -> bool {
        let Some(own) = self.beside(finding, read) else {
            return true;
        };
        // A name that stands everywhere says nothing about who uses it.
        own.defines.iter().any(|name| {
            places
                .get(name)
                .is_some_and(|places| places.len() >= names::PLACES)
        }) || !users(own.defines.iter(), places, read).is_disjoint(&self.used)
            || !users(self.defined.iter(), places, read).is_disjoint(&own.uses)
    }

    /// The code of a finding that is not reached directly. Returns `None` if the change reaches it.
    fn beside(&self, finding: &RawFinding, read: ReadText<'_>) -> Option<FindingCode> {
        let places = finding.locations();
        let main = places.first()?;
        let mut texts = vec![&finding.title, &finding.body];
        texts.extend(&finding.suggestion);
        texts.extend(&finding.evidence);
        let mut cited = texts
            .iter()
            .flat_map(|text| references(text.as_written()).collect::<Vec<_>>());
        if cited.any(|reference| self.is_cited(&reference, &main.file, read)) {
            return None;
        }
        let mut own = FindingCode::default();
        for place in &places {
            let text = read(&place.file).unwrap_or_default();
            let blocks = Blocks::of(&place.file, &text);
            let last = unified::number(blocks.lines().len()).max(1);
            let (from, to) = place
                .line
                .map_or((1, last), |line| (line, place.end_line.unwrap_or(line)));
            if self.touches(&place.file, (from, to), &blocks) {
                return None;
            }
            let mut line = from.clamp(1, last);
            while line <= to.min(last) {
                let block = blocks.reached(line);
                let whole = blocks.text(&block);
                own.defines.extend(defined_by(&place.file, &whole));
                own.uses.extend(words(&whole));
                line = line.max(*block.end()) + 1;
            }
        }
        let is_joined =
            !own.defines.is_disjoint(&self.used) || !own.uses.is_disjoint(&self.defined);
        (!is_joined && !self.is_named(&texts, &own.uses)).then_some(own)
    }

    /// Whether a changed line is in a place that a finding cites.
    fn is_cited(&self, cited: &Reference, from: &str, read: ReadText<'_>) -> bool {
        let mut paths = meanings(&cited.path, from).filter(|path| is_inside(path));
        let Some(path) = paths.find(|path| self.files.contains_key(path)) else {
            return false;
        };
        let text = read(&path).unwrap_or_default();
        let blocks = Blocks::of(&path, &text);
        let lines = match (cited.lines, cited.names.last()) {
            (Some(lines), _) => lines,
            (None, Some(name)) => {
                let mut lines = blocks.lines().iter().zip(1..);
                let Some((_, line)) = lines.find(|(line, _)| names::defines(line, name)) else {
                    return true;
                };
                (line, line)
            }
            // The name of its own file says nothing more than the place of the finding.
            (None, None) => return path != from,
        };
        self.touches(&path, lines, &blocks)
    }

    /// Whether a changed line is in the blocks of these lines.
    fn touches(&self, path: &str, (from, to): (u32, u32), blocks: &Blocks<'_>) -> bool {
        let Some(changed) = self.files.get(path) else {
            return false;
        };
        let first = blocks.reached(from);
        let from = from.min(*first.start());
        let to = to.max(*blocks.reached(to).end());
        let mut touched = changed.blocks.iter();
        // The statements of a file run one after the other.
        let is_statement =
            || changed.has_statements && defined_by(path, &blocks.text(&first)).is_empty();
        changed.is_whole
            || touched.any(|block| *block.start() <= to && *block.end() >= from)
            || is_statement()
    }

    /// Whether the texts of a finding name something in the changed lines that is not in the finding's own code, or
    /// speak of something that the change removes.
    fn is_named(&self, texts: &[&Untrusted], own: &Names) -> bool {
        texts.iter().any(|text| {
            // Each second part is in backticks.
            let mut parts = text
                .as_written()
                .split('`')
                .zip([false, true].iter().cycle());
            parts.any(|(part, is_quoted)| {
                words(part).any(|word| {
                    let is_name = *is_quoted || word.contains('_') || is_mixed(&word);
                    is_name && !own.contains(&word) && self.lines.contains(&word)
                        || stem(&word.to_lowercase()).is_some_and(|stem| self.gone.contains(&stem))
                })
            })
        })
    }
}

/// The blocks that a finding is about.
#[derive(Debug, Default)]
struct FindingCode {
    defines: Names,
    uses: Names,
}

/// The names of the blocks in which `names` occur.
fn users<'n>(
    names: impl Iterator<Item = &'n String>,
    places: &NamedPlaces,
    read: ReadText<'_>,
) -> Names {
    let mut lines: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for place in names.filter_map(|name| places.get(name)).flatten() {
        lines.entry(&place.path).or_default().insert(place.line);
    }
    let mut found = Names::new();
    for (path, lines) in lines {
        let text = read(path).unwrap_or_default();
        let blocks = Blocks::of(path, &text);
        let mut end = 0;
        for line in lines {
            if line > end {
                let block = blocks.reached(line);
                end = *block.end();
                found.extend(defined_by(path, &blocks.text(&block)));
            }
        }
    }
    found
}

/// The names that a block defines for other code: its own name, or every key of settings.
fn defined_by(path: &str, block: &str) -> Names {
    if has_settings(path) {
        return block
            .lines()
            .flat_map(definitions)
            .flat_map(spellings)
            .collect();
    }
    let mut opening = block.lines().take(OPENING).map(|line| {
        let defined: Names = definitions(line).collect();
        if defined.is_empty() {
            called(line).into_iter().collect()
        } else {
            defined
        }
    });
    opening.find(|names| !names.is_empty()).unwrap_or_default()
}

fn definitions(line: &str) -> impl Iterator<Item = String> {
    let searched = if line.len() > LONG { "" } else { line };
    words(searched).filter(|name| names::defines(line, name))
}

/// The name in a line like `static int *name(int a)`, which opens a function in languages of the C family.
fn called(line: &str) -> Option<String> {
    let (before, after) = line.split_once('(')?;
    let is_opening = after.trim_end().ends_with([')', '{', '}'])
        && !names::begins_use(line)
        && !before.contains(['=', '.', '"', '\'', '#', '/']);
    let name = before.trim_end().rsplit([' ', '*', '&', ':']).next()?;
    let is_name = name.len() < before.trim().len() && !names::is_keyword(name);
    (is_opening && is_name).then(|| name.to_owned())
}

/// Whether the first lines of a block declare parameters.
fn is_function(block: &str) -> bool {
    let mut opening = block.lines().take(OPENING);
    let name = opening.find(|line| definitions(line).next().is_some());
    name.is_some_and(|line| line.contains('(') || line.contains("=>"))
}

/// Whether a line sets a field or a key, as in `self.name = 1` or `conf["name"] = 1`.
fn is_set(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = &line[..at];
        let behind = line[at + name.len()..].trim_start_matches(['"', '\'', ']', ' ']);
        let operator = behind.trim_start_matches(['+', '-', '*', '/', '|', '&', '?', ':']);
        before.ends_with(['.', '"', '\'']) | before.ends_with("->")
            && operator.starts_with('=')
            && !operator.starts_with("==")
            && !operator.starts_with("=>")
    })
}

fn is_import(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches("pub ");
    let begins = [
        "import ",
        "from ",
        "use ",
        "#include",
        "require",
        "export * from",
        "using ",
    ];
    begins.iter().any(|word| line.starts_with(word)) || line.contains("require(")
}

fn has_settings(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((_, ending)) => SETTINGS.contains(&format!(" {} ", ending.to_ascii_lowercase())),
        None => true,
    }
}

/// The names in a line of code, without the words of the language.
fn words(code: &str) -> impl Iterator<Item = String> + use<> {
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    let names = words.filter(|word| {
        !word.is_empty()
            && !word.starts_with(|c: char| c.is_ascii_digit())
            && !names::is_keyword(word)
    });
    names.map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// How code can spell a key: `retry_limit`, `RETRY_LIMIT`, `retryLimit` and `RetryLimit`.
fn spellings(key: String) -> impl Iterator<Item = String> {
    let parts: Vec<String> = parts(&key).collect();
    let capital = |part: &String| part[..1].to_uppercase() + &part[1..];
    let pascal: String = parts.iter().map(capital).collect();
    let camel = parts.first().cloned().unwrap_or_default()
        + &parts.iter().skip(1).map(capital).collect::<String>();
    let snake = parts.join("_");
    [snake.to_uppercase(), snake, camel, pascal, key].into_iter()
}

/// The words of a name in lower case: those of `retryLimit` and `RETRY_LIMIT` are `retry` and `limit`.
fn parts(name: &str) -> impl Iterator<Item = String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if c == '_' || c.is_uppercase() && was_lower {
            parts.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(part) = parts.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            part.push(c.to_ascii_lowercase());
        }
    }
    parts.into_iter().filter(|part| !part.is_empty())
}

/// Whether a word has capitals behind small letters, as only names have.
fn is_mixed(word: &str) -> bool {
    let mut was_lower = false;
    word.chars().any(|c| {
        let is_mixed = was_lower && c.is_uppercase();
        was_lower = c.is_lowercase();
        is_mixed
    })
}

/// The start of a word, which words of one stem share, as `authentication` and `auth`. Shorter words have none.
fn stem(word: &str) -> Option<String> {
    let stem: String = word.chars().take(STEM).collect();
    (stem.chars().count() == STEM).then_some(stem)
}
