//! Text for people as pure functions: colour, glyphs, width, code with carets.
//!
//! Nothing here writes anywhere. What comes from files and agents goes through `protocol::printable` before it gets
//! colours, so the only escape sequences in what these functions return are their own.

pub mod snippet;

#[cfg(test)]
pub(crate) mod fixture;
pub mod watch_status;

use std::borrow::Cow;
use std::fmt::Write as _;

use console::{measure_text_width, truncate_str};
use indicatif::{BinaryBytes, HumanCount};
use textwrap::{Options, WordSplitter, WrapAlgorithm};

use crate::domain::{AgentName, RulingWord, Settler, Severity, Tag};
use crate::protocol::text::printable;

/// How text may look where it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether colours are used.
    pub color: bool,
    /// Whether glyphs beyond ASCII are used for decoration (text of others keeps its characters).
    pub unicode: bool,
    /// The columns of a line.
    pub width: usize,
}

/// A colour with a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// As the terminal shows it.
    Plain,
    Strong,
    /// What can be passed over.
    Faint,
    Good,
    Warn,
    Bad,
    Minor,
    Key,
}

impl Color {
    /// The tone of a severity; an unknown one is treated as grave.
    pub fn of(severity: &Severity) -> Self {
        match severity.tag {
            Some(Tag::Critical | Tag::Must | Tag::High) | None => Self::Bad,
            Some(Tag::Should | Tag::Medium) => Self::Warn,
            Some(Tag::Low) => Self::Minor,
        }
    }

    pub fn of_ruling(word: RulingWord) -> Self {
        match word {
            RulingWord::Enforce => Self::Bad,
            RulingWord::Dismiss => Self::Good,
            RulingWord::Escalate => Self::Warn,
        }
    }

    fn codes(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Warn => "33",
            Self::Bad => "1;31",
            Self::Minor => "34",
            Self::Key => "36",
        }
    }
}

/// The glyphs that carry a meaning; each has an ASCII form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyph {
    Done,
    Failed,
    Attention,
    /// Passes on to the next thing.
    Arrow,
    /// Stands between two facts of a line.
    Dot,
    /// Something was cut off here.
    Cut,
    /// The chosen line of a menu.
    Pointer,
    Minus,
}

impl Style {
    /// `text` in a tone. `text` must be printable already.
    pub fn paint(self, tone: Color, text: &str) -> String {
        if !self.color || tone == Color::Plain || text.is_empty() {
            return text.to_owned();
        }
        format!("\x1b[{}m{text}\x1b[0m", tone.codes())
    }

    /// A glyph in the form this place can show.
    pub fn glyph(self, glyph: Glyph) -> &'static str {
        let (unicode, ascii) = match glyph {
            Glyph::Done => ("✓", "+"),
            Glyph::Failed => ("✗", "x"),
            Glyph::Attention => ("!", "!"),
            Glyph::Arrow => ("→", "->"),
            Glyph::Dot => ("·", "|"),
            Glyph::Cut => ("…", "..."),
            Glyph::Pointer => ("❯", ">"),
            Glyph::Minus => ("−", "-"),
        };
        if self.unicode { unicode } else { ascii }
    }

    /// Joins facts with a dot between them; empty ones are left out.
    pub fn facts(self, facts: &[String]) -> String {
        let dot = self.paint(Color::Faint, self.glyph(Glyph::Dot));
        let mut joined = String::new();
        for fact in facts.iter().filter(|fact| !fact.is_empty()) {
            if !joined.is_empty() {
                let _ = write!(joined, " {dot} ");
            }
            joined.push_str(fact);
        }
        joined
    }

    /// `text` cut to `width` columns, with a mark where it was cut. Colours survive.
    pub fn cut(self, text: &str, width: usize) -> String {
        truncate_str(text, width, if width > 3 { self.glyph(Glyph::Cut) } else { "" }).into_owned()
    }

    /// Lines added and removed, as `+3 −1`.
    pub fn delta(self, added: u64, removed: u64) -> String {
        let minus = self.glyph(Glyph::Minus);
        format!(
            "{} {}",
            self.paint(Color::Good, &format!("+{added}")),
            self.paint(Color::Bad, &format!("{minus}{removed}"))
        )
    }
}

/// Rows as lines, each column as wide as its widest cell; of those in `right` the cells stand at the right.
pub fn table<const N: usize>(rows: &[[String; N]], right: &[usize]) -> Vec<String> {
    let widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| columns(&row[column])).max().unwrap_or(0));
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            let blanks = " ".repeat(width - columns(cell));
            if right.contains(&column) { blanks + cell } else { cell.clone() + &blanks }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// `text` filled up with blanks to `width` columns; colours do not count.
pub fn pad(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(measure_text_width(text));
    format!("{text}{:blanks$}", "")
}

/// The columns `text` takes; colours do not count.
pub fn columns(text: &str) -> usize {
    measure_text_width(text)
}

/// Breaks printable text into lines of at most `width` columns, between words where there are any.
///
/// Line breaks stay, an indented line keeps its indent on the lines it is broken into, empty lines at the ends go.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    for line in text.trim_end().trim_start_matches('\n').lines() {
        let line = line.trim_end().replace('\t', "    ");
        let content = line.trim_start();
        let indent = " ".repeat((line.len() - content.len()).min(width / 2));
        let words = content.split_whitespace().collect::<Vec<_>>().join(" ");
        let options = Options::new(width)
            .initial_indent(&indent)
            .subsequent_indent(&indent)
            .wrap_algorithm(WrapAlgorithm::FirstFit)
            .word_splitter(WordSplitter::NoHyphenation);
        lines.extend(textwrap::wrap(&words, options).into_iter().map(Cow::into_owned));
    }
    lines
}

/// Wrapped text behind a head, the other lines as far in.
pub fn paragraph(out: &mut String, look: Style, head: &str, text: &str) {
    let indent = columns(head);
    for (index, line) in wrap(text, look.width.saturating_sub(indent + 1)).into_iter().enumerate() {
        let head = if index == 0 { head.to_owned() } else { " ".repeat(indent) };
        let _ = writeln!(out, "{}", format!("{head}{line}").trim_end());
    }
}

/// `1 finding`, `2 findings`.
pub fn count(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// Names with commas between them.
pub fn names<'a>(names: impl IntoIterator<Item = &'a AgentName>) -> String {
    names.into_iter().map(|name| printable::line(&name.0)).collect::<Vec<_>>().join(", ")
}

/// The columns of the longest name, as far as columns are kept free for names.
pub fn names_width<'a>(names: impl IntoIterator<Item = &'a AgentName>) -> usize {
    names.into_iter().map(|name| columns(&printable::line(&name.0))).max().unwrap_or(0).min(24)
}

/// A number with commas between thousands.
pub fn thousands(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A number of bytes with a unit that fits.
pub fn size(bytes: u64) -> String {
    BinaryBytes(bytes).to_string()
}

/// Milliseconds as a person says them: `0.2s`, `12.3s`, `3m 05s`, `1h 02m`.
pub fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds}.{}s", millis % 1000 / 100),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Who decided, as it is told.
pub fn settler(by: &Settler) -> String {
    match by {
        Settler::Agents => "all agents".to_owned(),
        Settler::Arbiter { name } => printable::line(&name.0),
        Settler::Human => "a person".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_between_words_and_inside_long_ones() {
        assert_eq!(
            wrap("\none two three\n\n  indented words here\n\n", 11),
            ["one two", "three", "", "  indented", "  words", "  here"]
        );
        assert_eq!(wrap("abcdefghijklmnop", 8), ["abcdefgh", "ijklmnop"]);
        assert_eq!(wrap("日本語日本語", 8), ["日本語日", "本語"]);
        assert_eq!(wrap("", 8), Vec::<String>::new());
    }

    #[test]
    fn says_numbers_and_times_as_people_do() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0, 250, 12_340, 185_000, 3_720_000].map(duration),
            ["0.0s", "0.2s", "12.3s", "3m 05s", "1h 02m"]
        );
        assert_eq!([count(1, "file"), count(0, "file")], ["1 file", "0 files"]);
    }

    #[test]
    fn paints_only_where_colours_are_wanted() {
        let look = Style { color: true, unicode: true, width: 80 };
        assert_eq!(look.paint(Color::Bad, "x"), "\x1b[1;31mx\x1b[0m");
        assert_eq!(Style { color: false, ..look }.paint(Color::Bad, "x"), "x");
        assert_eq!(look.cut("abcdef", 4), "abc…");
        assert_eq!(Style { unicode: false, ..look }.cut("abcdef", 5), "ab...");
        assert_eq!(pad(&look.paint(Color::Good, "ab"), 4), "\x1b[32mab\x1b[0m  ");
    }
}
