//! Parses unified diffs from git (with any git settings), `diff -u`, `diff -r`, Subversion and Mercurial. Parsing
//! fails for a truncated diff, for a hunk that does not match its header, and for a combined diff of a merge
//! commit. Otherwise, the review would skip changes.

use std::borrow::Cow;
use std::iter::Peekable;

use console::strip_ansi_codes;

use crate::code::text_files;
use crate::diff::unified;
use crate::git::path_bytes;

/// One hunk of a unified diff. The strings in `lines` do not contain line endings.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The line numbers (1-based) of the hunk's first line in the old file and in the new file. If the hunk
    /// contains no line of a file, the number for this file is the number of the line before the hunk.
    pub old_start: u32,
    pub new_start: u32,
    pub lines: Vec<(DiffMark, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffMark {
    Kept,
    Removed,
    Added,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Old,
    New,
}

impl Hunk {
    fn start(&self, side: Side) -> u32 {
        match side {
            Side::Old => self.old_start,
            Side::New => self.new_start,
        }
    }

    pub fn side(&self, side: Side) -> impl Iterator<Item = &str> {
        let other = match side {
            Side::Old => DiffMark::Added,
            Side::New => DiffMark::Removed,
        };
        self.lines
            .iter()
            .filter(move |(mark, _)| *mark != other)
            .map(|(_, line)| line.as_str())
    }

    /// Returns the line ranges under review in the new text. Line 1 is the first line of the hunk. If lines were
    /// removed without a replacement, the lines directly before and after the gap are under review.
    pub fn marked(&self) -> Vec<(u32, u32)> {
        let mut marked = Vec::new();
        let mut at = 0_u32;
        for group in self
            .lines
            .chunk_by(|a, b| (a.0 == DiffMark::Kept) == (b.0 == DiffMark::Kept))
        {
            let first = at.saturating_add(1);
            let count = group
                .iter()
                .filter(|(mark, _)| *mark != DiffMark::Removed)
                .count();
            at = at.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
            match group.last() {
                Some((DiffMark::Kept, _)) | None => {}
                Some((DiffMark::Removed, _)) => {
                    unified::push(&mut marked, (first.min(at).max(1), at.saturating_add(1)))
                }
                Some((DiffMark::Added, _)) => unified::push(&mut marked, (first, at)),
            }
        }
        marked
    }

    /// Parses a hunk and all added lines directly after the hunk. Returns `None` if the hunk is incomplete.
    fn read<'a>(
        &mut self,
        mut old_left: u32,
        mut new_left: u32,
        lines: &mut Peekable<impl Iterator<Item = (&'a str, usize)>>,
        text: &mut String,
    ) -> Option<()> {
        loop {
            let is_open = old_left > 0 || new_left > 0;
            let line = match lines.peek() {
                Some((line, _)) if is_open || goes_on(line) => *line,
                _ => return (!is_open).then_some(()),
            };
            let bare = line.strip_suffix('\n').unwrap_or(line);
            let bare = bare.strip_suffix('\r').unwrap_or(bare);
            // If a user edited the diff manually, a hunk can contain more added lines than its header states.
            let (mark, old, new) = match bare.bytes().next() {
                Some(b' ') | None => (
                    Some(DiffMark::Kept),
                    old_left.checked_sub(1)?,
                    new_left.checked_sub(1)?,
                ),
                Some(b'-') => (Some(DiffMark::Removed), old_left.checked_sub(1)?, new_left),
                Some(b'+') => (Some(DiffMark::Added), old_left, new_left.saturating_sub(1)),
                Some(b'\\') => (None, old_left, new_left),
                Some(_) => return None,
            };
            (old_left, new_left) = (old, new);
            self.lines
                .extend(mark.map(|mark| (mark, bare.get(1..).unwrap_or_default().to_owned())));
            text.push_str(line);
            lines.next();
        }
    }
}

fn goes_on(line: &str) -> bool {
    line.starts_with('\\') || line.starts_with('+') && !line.starts_with("+++ ")
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The path before the change, without a prefix, or `None` for a new file.
    pub old: Option<Vec<u8>>,
    pub new: Option<Vec<u8>>,
    /// The old and the new name of the file as written in the diff, with prefixes such as `a/`.
    pub written: Vec<Vec<u8>>,
    pub(crate) is_binary: bool,
    pub hunks: Vec<Hunk>,
    pub text: String,
    is_epoch: [bool; 2],
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Diff {
    pub patches: Vec<Patch>,
    /// The files that differ according to the diff, although the diff shows none of their changed lines.
    pub(crate) not_shown: Vec<Vec<u8>>,
    pub broken: Option<Broken>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    Combined,
    /// A hunk does not match its header. The number is the line number of the hunk's header in the diff.
    Hunk(usize),
}

impl Patch {
    /// Whether `text` contains the lines of every hunk at the line numbers in the hunk's header. `side` selects
    /// the old or the new lines of the hunks.
    pub fn matches(&self, text: &str, side: Side) -> bool {
        let lines: Vec<&str> = text.lines().collect();
        self.hunks.iter().all(|hunk| {
            let start = hunk.start(side).saturating_sub(1) as usize;
            let wanted: Vec<&str> = hunk.side(side).collect();
            wanted.is_empty()
                || lines
                    .get(start..start.saturating_add(wanted.len()))
                    .is_some_and(|found| found == wanted.as_slice())
        })
    }

    pub fn shows(&self, side: Side) -> bool {
        self.hunks
            .iter()
            .any(|hunk| hunk.side(side).next().is_some())
    }

    /// Applies the patch to `text`, or reverts the patch if `from` is [`Side::New`].
    pub fn replaced(&self, text: &str, from: Side) -> String {
        let mut lines = text.lines();
        let mut result = Vec::new();
        let mut at = 1_u32;
        for hunk in &self.hunks {
            let to = if from == Side::Old {
                Side::New
            } else {
                Side::Old
            };
            let start = hunk.start(from);
            let length = hunk.side(from).count();
            // If the hunk has no lines on the side `from`, its header contains the number of the line before the
            // hunk.
            let start = if length == 0 {
                start.saturating_add(1)
            } else {
                start
            };
            while at < start {
                let Some(line) = lines.next() else { break };
                result.push(line);
                at += 1;
            }
            lines.by_ref().take(length).for_each(drop);
            at = at.saturating_add(unified::number(length));
            result.extend(hunk.side(to));
        }
        result.extend(lines);
        result.iter().flat_map(|line| [line, "\n"]).collect()
    }

    /// Builds the file's new text from the hunks alone: the lines of the hunks keep their line numbers, and
    /// empty lines fill the gaps between the hunks. Returns `None` if the text, including its empty lines, is
    /// larger than `max_file` bytes.
    pub(crate) fn sketch(&self, max_file: u64) -> Option<String> {
        let mut text = String::new();
        let mut line = 1_u32;
        for hunk in &self.hunks {
            let missing = hunk.new_start.saturating_sub(line);
            if text.len() as u64 + u64::from(missing) > max_file {
                return None;
            }
            text.extend(std::iter::repeat_n('\n', missing as usize));
            line += missing;
            for known in hunk.side(Side::New) {
                text.push_str(known);
                text.push('\n');
                line = line.saturating_add(1);
            }
        }
        Some(text)
    }
}

/// Parses a unified diff and ignores all other text. After an error, parsing continues with the next line.
pub fn parse(bytes: &[u8]) -> Diff {
    let text = text_files::lossy(bytes.to_vec());
    let text = without_colours(text.strip_prefix('\u{feff}').unwrap_or(&text));
    let mut reader = Reader {
        diff: Diff::default(),
        header: None,
    };
    let mut lines = text.split_inclusive('\n').zip(1..).peekable();
    while let Some((line, number)) = lines.next() {
        if let Err(broken) = reader.line(line, number, &mut lines) {
            reader.diff.broken.get_or_insert(broken);
        }
    }
    reader.end_header();
    let mut diff = reader.diff;
    for patch in &mut diff.patches {
        let [is_new, is_deleted] = patch.is_epoch;
        if is_new && !patch.shows(Side::Old) {
            patch.old = None;
        } else if is_deleted && !patch.shows(Side::New) {
            patch.new = None;
        }
    }
    diff
}

/// The header for one file in a git diff, from the line `diff --git` to the first hunk.
#[derive(Debug, Default)]
struct Header {
    /// The two names in the `diff --git` line, with prefixes.
    names: Option<(Vec<u8>, Vec<u8>)>,
    is_new: bool,
    is_deleted: bool,
    /// The old name from a `rename from` or `copy from` line, without a prefix.
    from: Option<Vec<u8>>,
    to: Option<Vec<u8>>,
    is_binary: bool,
    text: String,
}

struct Reader {
    diff: Diff,
    /// The file header that the reader is currently parsing, or `None` after the line that starts with `---`.
    header: Option<Header>,
}

impl Reader {
    fn line<'a>(
        &mut self,
        line: &'a str,
        number: usize,
        lines: &mut Peekable<impl Iterator<Item = (&'a str, usize)>>,
    ) -> Result<(), Broken> {
        let bare = line.trim_end_matches(['\n', '\r']);
        if bare.starts_with("diff --cc ")
            || bare.starts_with("diff --combined ")
            || bare.starts_with("@@@ -")
        {
            return Err(Broken::Combined);
        }
        if let Some(rest) = bare.strip_prefix("diff --git ") {
            self.end_header();
            self.header = Some(Header {
                names: header_names(rest),
                text: line.to_owned(),
                ..Header::default()
            });
            return Ok(());
        }
        let next_is_plus = lines
            .peek()
            .is_some_and(|(next, _)| next.starts_with("+++ "));
        if let (Some(old), true) = (bare.strip_prefix("--- "), next_is_plus) {
            let plus = lines.next().map_or("", |(plus, _)| plus);
            let new = plus
                .trim_end_matches(['\n', '\r'])
                .strip_prefix("+++ ")
                .unwrap_or_default();
            if self
                .header
                .as_ref()
                .is_some_and(|header| !header.names_sides(old, new))
            {
                self.end_header();
            }
            let header = self.header.take().unwrap_or_default();
            let mut patch = header.patch(Some((old, new)));
            patch.text.extend([line, plus]);
            self.diff.patches.push(patch);
            return Ok(());
        }
        if bare.starts_with("@@ -") && self.header.is_none() {
            let Some(patch) = self.diff.patches.last_mut() else {
                return Ok(());
            };
            let header = hunk_header(&bare["@@ -".len()..]).ok_or(Broken::Hunk(number))?;
            patch.text.push_str(line);
            let [old_start, old_left, new_start, new_left] = header;
            let mut hunk = Hunk {
                old_start,
                new_start,
                lines: Vec::new(),
            };
            let read = hunk.read(old_left, new_left, lines, &mut patch.text);
            patch.hunks.push(hunk);
            return read.ok_or(Broken::Hunk(number));
        }
        match &mut self.header {
            Some(header) => header.line(bare, line),
            None => self.diff.not_shown.extend(not_shown(bare)),
        }
        Ok(())
    }

    /// Records a file without hunks: a renamed file, a file with a changed mode, a binary file or an empty file.
    fn end_header(&mut self) {
        if let Some(header) = self.header.take() {
            self.diff.patches.push(header.patch(None));
        }
    }
}

impl Header {
    fn line(&mut self, bare: &str, line: &str) {
        self.text.push_str(line);
        match bare.split_once(' ') {
            Some(("new", rest)) if rest.starts_with("file") => self.is_new = true,
            Some(("deleted", rest)) if rest.starts_with("file") => self.is_deleted = true,
            Some(("rename" | "copy", rest)) => {
                if let Some(to) = rest.strip_prefix("to ") {
                    self.to = path_bytes::unquoted(to.as_bytes());
                } else if let Some(from) = rest.strip_prefix("from ") {
                    self.from = path_bytes::unquoted(from.as_bytes());
                }
            }
            Some(("Binary" | "GIT", _)) => self.is_binary = true,
            _ => {}
        }
    }

    fn names_sides(&self, old: &str, new: &str) -> bool {
        let (old, _) = side_name(old);
        let (new, _) = side_name(new);
        self.names.as_ref().is_none_or(|(first, second)| {
            old.as_ref() == Some(first) || new.as_ref() == Some(second)
        }) || is_moved(&old, &self.from)
            || is_moved(&new, &self.to)
    }

    /// Converts the header of a file's diff to a patch. `sides` contains the texts after `---` and `+++`.
    fn patch(self, sides: Option<(&str, &str)>) -> Patch {
        let mut is_new = self.is_new;
        let mut is_deleted = self.is_deleted;
        let mut pair = self.names.clone();
        let mut epochs = [false; 2];
        if let Some((old, new)) = sides {
            let (old, old_time) = side_name(old);
            let (new, new_time) = side_name(new);
            is_new |= old.as_deref() == Some(NONE);
            is_deleted |= new.as_deref() == Some(NONE);
            epochs = [is_epoch(old_time), is_epoch(new_time)];
            pair = match (
                old.filter(|name| name != NONE),
                new.filter(|name| name != NONE),
            ) {
                (Some(old), Some(new)) => Some((old, new)),
                (Some(one), None) | (None, Some(one)) => pair.or_else(|| {
                    let one = known(&one);
                    Some((one.clone(), one))
                }),
                (None, None) => pair,
            };
        }
        let written: Vec<Vec<u8>> = pair
            .iter()
            .flat_map(|(old, new)| [new.clone(), old.clone()])
            .collect();
        let (old, new) = pair.map(|(old, new)| stripped(&old, &new)).unzip();
        // For a rename or a copy, the header contains the names without prefixes.
        let old = self.from.or(old);
        let new = self.to.or(new);
        Patch {
            old: old.filter(|_| !is_new),
            new: new.filter(|_| !is_deleted || is_new),
            written,
            is_binary: self.is_binary,
            hunks: Vec::new(),
            text: self.text,
            is_epoch: epochs,
        }
    }
}

fn is_moved(side: &Option<Vec<u8>>, header: &Option<Vec<u8>>) -> bool {
    side.as_ref()
        .zip(header.as_ref())
        .is_some_and(|(side, header)| side.ends_with(header))
}

const NONE: &[u8] = b"/dev/null";

/// Git adds the prefixes `a/` and `b/` to paths by default. With `diff.mnemonicPrefix`, git adds other prefixes.
const PREFIXES: [&[u8]; 8] = [b"a/", b"b/", b"i/", b"w/", b"c/", b"o/", b"1/", b"2/"];

/// Splits the text after `---` or `+++` into the unquoted name and the timestamp.
fn side_name(text: &str) -> (Option<Vec<u8>>, &str) {
    let (name, time) = text.split_once('\t').unwrap_or((text, ""));
    (path_bytes::unquoted(name.as_bytes()), time.trim())
}

/// Whether a timestamp is the Unix epoch in any time zone. `diff -N` writes this timestamp for a missing file.
fn is_epoch(time: &str) -> bool {
    ["1970-01-01 ", "1969-12-31 ", "Thu Jan 01 00:00:00 1970"]
        .iter()
        .any(|epoch| time.starts_with(epoch))
}

/// Returns the common end of two paths, such as `src/a.rs` for `old/src/a.rs` and `new/src/a.rs`. If the last
/// components of the two paths differ, the function returns both paths without git's prefixes, such as `a/` and
/// `b/`.
fn stripped(old: &[u8], new: &[u8]) -> (Vec<u8>, Vec<u8>) {
    if old == new {
        return (old.to_vec(), new.to_vec());
    }
    let olds = parts(old);
    let news = parts(new);
    let shared = olds
        .iter()
        .rev()
        .zip(news.iter().rev())
        .take_while(|(old, new)| old == new)
        .count();
    if shared == 0 {
        return (known(old), known(new));
    }
    let path = news[news.len() - shared..].join(&b'/');
    (path.clone(), path)
}

fn parts(name: &[u8]) -> Vec<Vec<u8>> {
    name.split(|byte| *byte == b'/')
        .map(<[u8]>::to_vec)
        .collect()
}

/// Removes a prefix of git, such as `a/`, from a name.
fn known(name: &[u8]) -> Vec<u8> {
    let prefix = PREFIXES
        .iter()
        .find(|prefix| name.len() > prefix.len() && name.starts_with(prefix));
    prefix.map_or(name, |prefix| &name[prefix.len()..]).to_vec()
}

/// Returns the two names in `diff --git a/x b/x`, with prefixes. Names can be quoted or contain spaces.
fn header_names(rest: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    let unquoted = |text: &str| path_bytes::unquoted(text.as_bytes());
    if let Some(inner) = rest.strip_prefix('"') {
        let mut is_escaped = false;
        let (end, _) = inner.char_indices().find(|(_, c)| {
            let was_escaped = std::mem::take(&mut is_escaped);
            is_escaped = *c == '\\' && !was_escaped;
            *c == '"' && !was_escaped
        })?;
        return Some((
            unquoted(&rest[..end + 2])?,
            unquoted(inner[end + 1..].trim_start())?,
        ));
    }
    if let Some((one, other)) = rest.split_once(" \"") {
        return Some((one.as_bytes().to_vec(), unquoted(&format!("\"{other}"))?));
    }
    let tail = |name: &str| name.split_once('/').map(|(_, tail)| tail.to_owned());
    // Names can contain spaces, so any space can separate the two names. Glee prefers the space at which the two
    // names differ only in their prefixes.
    let same = splits(rest)
        .find(|(one, other)| tail(one).is_some_and(|tail_of_one| tail(other) == Some(tail_of_one)));
    let same = same.or_else(|| splits(rest).find(|(one, other)| one == other));
    let (one, other) = same.or_else(|| splits(rest).next())?;
    Some((one.as_bytes().to_vec(), other.as_bytes().to_vec()))
}

fn splits(rest: &str) -> impl Iterator<Item = (&str, &str)> {
    rest.match_indices(' ')
        .map(|(at, _)| (&rest[..at], &rest[at + 1..]))
}

/// Returns the file name from a line such as `Binary files a/x and b/x differ`.
fn not_shown(line: &str) -> Option<Vec<u8>> {
    if let Some((folder, name)) = line
        .strip_prefix("Only in ")
        .and_then(|rest| rest.split_once(": "))
    {
        let path = format!("{folder}/{name}");
        return Some(
            path.split_once('/')
                .map_or(path.as_str(), |(_, path)| path)
                .as_bytes()
                .to_vec(),
        );
    }
    let named = |rest: &str| Some(rest.strip_suffix(" has changed")?.as_bytes().to_vec());
    match line.split_once(' ')? {
        ("Binary", rest) => {
            let rest = rest
                .strip_prefix("files ")
                .or_else(|| rest.strip_prefix("file "))?;
            binary_name(rest).or_else(|| named(rest))
        }
        ("Files", rest) => binary_name(rest),
        _ => None,
    }
}

fn binary_name(rest: &str) -> Option<Vec<u8>> {
    let (one, other) = rest.strip_suffix(" differ")?.split_once(" and ")?;
    Some(stripped(one.as_bytes(), other.as_bytes()).1)
}

fn hunk_header(text: &str) -> Option<[u32; 4]> {
    let (sides, _) = text.split_once(" @@")?;
    let (old, new) = sides.split_once(" +")?;
    let (old_start, old_length) = line_range(old)?;
    let (new_start, new_length) = line_range(new)?;
    Some([old_start, old_length, new_start, new_length])
}

fn line_range(side: &str) -> Option<(u32, u32)> {
    let (start, length) = side.split_once(',').unwrap_or((side, "1"));
    Some((start.parse().ok()?, length.parse().ok()?))
}

/// Removes the colour codes that git writes with `color.ui=always`. Text without coloured headers is unchanged.
fn without_colours(text: &str) -> Cow<'_, str> {
    let heads = ["diff --", "--- ", "+++ ", "@@ -"];
    let mut coloured = text.lines().filter(|line| line.starts_with("\x1b["));
    if coloured.any(|line| {
        let line = strip_ansi_codes(line);
        heads.iter().any(|head| line.starts_with(head))
    }) {
        strip_ansi_codes(text)
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(text: &str) -> Vec<(Option<String>, Option<String>)> {
        let shown = |name: &Option<Vec<u8>>| name.as_deref().map(path_bytes::shown);
        parse(text.as_bytes())
            .patches
            .iter()
            .map(|patch| (shown(&patch.old), shown(&patch.new)))
            .collect()
    }

    #[test]
    fn the_table_of_names() {
        let rows: &[(&str, Option<&str>, Option<&str>)] = &[
            (
                "diff --git a/src/x b/src/x\n--- a/src/x\n+++ b/src/x\n",
                Some("src/x"),
                Some("src/x"),
            ),
            (
                "diff --git i/src/x w/src/x\n--- i/src/x\n+++ w/src/x\n",
                Some("src/x"),
                Some("src/x"),
            ),
            (
                "diff --git c/a/x o/a/x\n--- c/a/x\n+++ o/a/x\n",
                Some("a/x"),
                Some("a/x"),
            ),
            (
                "diff --git 1/src/x 2/src/x\n--- 1/src/x\n+++ 2/src/x\n",
                Some("src/x"),
                Some("src/x"),
            ),
            (
                "diff --git a/x a/x\n--- a/x\n+++ a/x\n",
                Some("a/x"),
                Some("a/x"),
            ),
            (
                "diff --git src/x src/x\nold mode 100644\nnew mode 100755\n",
                Some("src/x"),
                Some("src/x"),
            ),
            (
                "diff --git old/x new/x\n--- old/x\n+++ new/x\n",
                Some("x"),
                Some("x"),
            ),
            (
                "diff --git i/new w/new\nnew file mode 100644\n--- /dev/null\n+++ w/new\n",
                None,
                Some("new"),
            ),
            (
                "diff --git w/gone i/gone\ndeleted file mode 100644\n--- w/gone\n+++ /dev/null\n",
                Some("gone"),
                None,
            ),
            (
                "diff --git new new\nnew file mode 100644\n--- /dev/null\n+++ new\n",
                None,
                Some("new"),
            ),
            (
                "diff --git a/my dir/a b b/my dir/a b\nindex 1..2\n",
                Some("my dir/a b"),
                Some("my dir/a b"),
            ),
            (
                "diff --git \"a/gr\\303\\266\" \"b/gr\\303\\266\"\nindex 1..2\n",
                Some("grö"),
                Some("grö"),
            ),
            (
                "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n",
                Some("x"),
                Some("y"),
            ),
            (
                "diff --git x y\nsimilarity index 90%\nrename from x\nrename to y\n--- x\n+++ y\n",
                Some("x"),
                Some("y"),
            ),
            (
                "diff --git a/x b/y\ncopy from x\ncopy to y\n",
                Some("x"),
                Some("y"),
            ),
            (
                "--- a/src/x\t2024-01-01 10:00:00.1 +0100\n+++ b/src/x\t2024-01-01 10:00:00.1 +0100\n",
                Some("src/x"),
                Some("src/x"),
            ),
            (
                "diff -ruN v1/src/x v2/src/x\n--- v1/src/x\t1970-01-01 01:00:00.0 +0100\n+++ v2/src/x\t2024-01-01\n",
                None,
                Some("src/x"),
            ),
            (
                "--- v1/x\t2024-01-01\n+++ v2/x\t1970-01-01 00:00:00.0 +0000\n",
                Some("x"),
                None,
            ),
            (
                "Index: src/x\n=====\n--- src/x\t(revision 1)\n+++ src/x\t(working copy)\n",
                Some("src/x"),
                Some("src/x"),
            ),
            (
                "diff -r 1234 src/x\n--- a/src/x\tThu Jan 01 00:00:01 2024 +0000\n+++ b/src/x\tFri\n",
                Some("src/x"),
                Some("src/x"),
            ),
            (
                "--- /dev/null\tThu Jan 01 00:00:00 1970 +0000\n+++ b/new\tFri\n",
                None,
                Some("new"),
            ),
            ("--- x.orig\n+++ x\n", Some("x.orig"), Some("x")),
            (
                "diff --git a/x b/x\r\n--- a/x\r\n+++ b/x\r\n",
                Some("x"),
                Some("x"),
            ),
        ];
        for (text, old, new) in rows {
            let expected = vec![(old.map(str::to_owned), new.map(str::to_owned))];
            assert_eq!(names_of(text), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let head = "--- a/x\n+++ b/x\n";
        let rows = [
            ("@@ -1,2 +1,2 @@\n-a\n+b\n", Broken::Hunk(3)),
            ("@@ -1 +1 @@\n-a\n", Broken::Hunk(3)),
            ("@@ -1 +1\n-a\n+b\n", Broken::Hunk(3)),
            (
                "@@ -1,2 +1,2 @@\n-a\n+b\ndiff --git a/y b/y\n",
                Broken::Hunk(3),
            ),
            ("@@ -1 +1 @@\n[-a-]{+b+}\n", Broken::Hunk(3)),
            ("@@@ -1,1 -1,1 +1,1 @@@\n--a\n++b\n", Broken::Combined),
        ];
        for (hunk, expected) in rows {
            assert_eq!(
                parse(format!("{head}{hunk}").as_bytes()).broken,
                Some(expected),
                "{hunk}"
            );
        }
        assert_eq!(
            parse(b"diff --cc x\nindex 1,2..3\n").broken,
            Some(Broken::Combined)
        );
    }

    #[test]
    fn lines_beyond_the_announced_ones_are_read() {
        let diff = parse(b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+evil\n-- \n2.47\n");
        assert_eq!(diff.broken, None);
        assert!(diff.patches[0].hunks[0].side(Side::New).eq(["b", "evil"]));
    }

    #[test]
    fn colours_and_other_encodings_are_no_obstacle() {
        let plain = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
        let coloured = "\x1b[1mdiff --git a/x b/x\x1b[m\n\x1b[1m--- a/x\x1b[m\n\x1b[1m+++ b/x\x1b[m\n\
            \x1b[36m@@ -1 +1 @@\x1b[m\n\x1b[31m-a\x1b[m\n\x1b[32m+\x1b[m\x1b[32mb\x1b[m\n";
        let expected = parse(plain.as_bytes());
        assert_eq!(parse(coloured.as_bytes()), expected);
        let utf16: Vec<u8> = plain.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(parse(&[b"\xff\xfe", utf16.as_slice()].concat()), expected);
        assert_eq!(
            parse(&[b"\xef\xbb\xbf", plain.as_bytes()].concat()),
            expected
        );
    }

    #[test]
    fn files_of_which_nothing_is_shown_are_named() {
        let text = "Only in b/src: evil.py\nBinary files a/p.png and b/p.png differ\nBinary file q.png has changed\n\
            Files a/x and b/x differ\ndiff --git a/r b/r\nBinary files a/r and b/r differ\n";
        let diff = parse(text.as_bytes());
        let not_shown: Vec<String> = diff
            .not_shown
            .iter()
            .map(|name| path_bytes::shown(name))
            .collect();
        assert_eq!(not_shown, ["src/evil.py", "p.png", "q.png", "x"]);
        assert!(diff.patches[0].is_binary);
    }
}
