//! Pure functions that format text with colours, glyphs, column widths and code excerpts. The functions of this
//! module do not remove escape sequences. The caller must therefore first escape text from files and agents (see
//! `protocol::text::printable`).

pub(crate) mod calls;
#[cfg(test)]
pub(crate) mod fixture;
pub mod links;
pub mod snippet;
pub mod table;
pub mod watch_status;

use std::borrow::Cow;
use std::fmt::Write as _;

pub use console::measure_text_width as columns;
use console::truncate_str;
use indicatif::{BinaryBytes, HumanCount};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use textwrap::{Options, WordSplitter, WrapAlgorithm};

use glee_model::domain::{
    AgentName, FileChange, Finding, RulingWord, Settler, Severity, Skip, Tag,
};
use glee_protocol::text::printable;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    pub color: bool,
    /// Whether glyphs are allowed to be non-ASCII characters.
    pub unicode: bool,
    /// The width of a line in columns.
    pub width: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    Plain,
    Strong,
    Faint,
    Good,
    Warn,
    Bad,
    Minor,
    Key,
}

impl Color {
    /// An unknown severity gets the colour of the highest severity.
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

/// A symbol with a Unicode form and an ASCII form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyph {
    Done,
    Failed,
    Attention,
    Arrow,
    Dot,
    Cut,
    Pointer,
    Minus,
}

impl Glyph {
    pub fn color(self) -> Color {
        match self {
            Self::Done => Color::Good,
            Self::Failed => Color::Bad,
            Self::Attention => Color::Warn,
            Self::Arrow | Self::Dot | Self::Cut | Self::Pointer | Self::Minus => Color::Faint,
        }
    }
}

impl Style {
    /// Colours `text`, which must already be escaped.
    pub fn paint(self, color: Color, text: &str) -> String {
        if !self.color || color == Color::Plain || text.is_empty() {
            return text.to_owned();
        }
        format!("\x1b[{}m{text}\x1b[0m", color.codes())
    }

    pub fn strong(self, text: impl AsRef<str>) -> String {
        self.paint(Color::Strong, text.as_ref())
    }

    pub fn faint(self, text: impl AsRef<str>) -> String {
        self.paint(Color::Faint, text.as_ref())
    }

    pub fn mark(self, glyph: Glyph) -> String {
        self.paint(glyph.color(), self.glyph(glyph))
    }

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

    /// Formats the tag and the id of a finding, as in `MUST[F1]`.
    pub fn tag(self, finding: &Finding) -> String {
        self.paint(Color::of(&finding.raw.severity), &tag(finding))
    }

    /// Joins the non-empty texts in `facts` with dots.
    pub fn facts(self, facts: &[String]) -> String {
        let facts: Vec<&str> = facts
            .iter()
            .map(String::as_str)
            .filter(|fact| !fact.is_empty())
            .collect();
        facts.join(&format!(" {} ", self.mark(Glyph::Dot)))
    }

    /// Shortens `text` to at most `width` columns, marks a shortened text, and preserves colours.
    pub fn cut(self, text: &str, width: usize) -> String {
        truncate_str(
            text,
            width,
            if width > 3 {
                self.glyph(Glyph::Cut)
            } else {
                ""
            },
        )
        .into_owned()
    }

    /// Appends a mark such as `…` to a shortened line. If the line is already full, the mark replaces the last
    /// word. A full line that consists of a single word gets no mark.
    fn mark_cut(self, line: &mut String, width: usize) {
        let mark = self.glyph(Glyph::Cut);
        if columns(line) + 1 + columns(mark) > width
            && let Some((kept, _)) = line.rsplit_once(' ')
        {
            line.truncate(kept.trim_end().len());
        }
        let room = width.saturating_sub(columns(line));
        if room > columns(mark) {
            line.push(' ');
        }
        if room >= columns(mark) {
            line.push_str(mark);
        }
    }

    pub fn delta<'a>(self, changes: impl IntoIterator<Item = &'a FileChange>) -> String {
        let mut added = 0;
        let mut removed = 0;
        for change in changes {
            added += u64::from(change.added);
            removed += u64::from(change.removed);
        }
        let removed = format!("{}{removed}", self.glyph(Glyph::Minus));
        format!(
            "{} {}",
            self.paint(Color::Good, &format!("+{added}")),
            self.paint(Color::Bad, &removed)
        )
    }
}

/// Pads `text` with spaces to `width` columns. Colour codes in `text` have no width.
pub fn pad(text: &str, width: usize) -> String {
    console::pad_str(text, width, console::Alignment::Left, None).into_owned()
}

pub fn widest(texts: impl IntoIterator<Item = impl AsRef<str>>) -> usize {
    texts
        .into_iter()
        .map(|text| columns(text.as_ref()))
        .max()
        .unwrap_or(0)
}

/// Wraps text to `width` columns, between words if possible. Preserves line breaks and indentation, and removes
/// empty lines at the start and the end.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    for line in text.trim_end().trim_start_matches('\n').lines() {
        let line = line.trim_end().replace('\t', "    ");
        if columns(&line) <= width {
            lines.push(line);
            continue;
        }
        let content = line.trim_start();
        let indent = " ".repeat((line.len() - content.len()).min(width / 2));
        let words = content.split_whitespace().collect::<Vec<_>>().join(" ");
        let options = Options::new(width)
            .initial_indent(&indent)
            .subsequent_indent(&indent)
            .wrap_algorithm(WrapAlgorithm::FirstFit)
            .word_splitter(WordSplitter::NoHyphenation);
        lines.extend(
            textwrap::wrap(&words, options)
                .into_iter()
                .map(Cow::into_owned),
        );
    }
    lines
}

/// Wraps the lines of `text` that are wider than `width` columns. A command in backticks stays on one line, so
/// that it can be copied.
pub fn fit(text: &str, width: usize) -> String {
    const NO_BREAK_SPACE: &str = "\u{a0}";
    let options = Options::new(width.max(8))
        .subsequent_indent("  ")
        .break_words(false)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .word_splitter(WordSplitter::NoHyphenation);
    text.split('\n')
        .map(|line| {
            if columns(line) <= width {
                return line.to_owned();
            }
            let parts = line.split('`').enumerate().map(|(index, part)| {
                if index % 2 == 1 {
                    part.replace(' ', NO_BREAK_SPACE)
                } else {
                    part.to_owned()
                }
            });
            let protected = parts.collect::<Vec<_>>().join("`");
            textwrap::fill(&protected, &options).replace(NO_BREAK_SPACE, " ")
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Wraps `text` behind `head`, so that all lines of the text start in the column after `head`. A wide `head` gets
/// a line of its own. The lines of `text` follow below this line, indented by `least` columns. A `head` is wide in
/// two cases: the `head` fills more than half of the line, or the longest word of the text does not fit after the
/// `head`. The parameter `most` is the maximum number of lines of the text in the result.
pub fn behind(style: Style, head: &str, least: usize, text: &str, most: usize) -> Vec<String> {
    let longest = widest(text.split_whitespace());
    let mut indent = columns(head);
    let mut head = head.to_owned();
    let room = |indent: usize| style.width.saturating_sub(indent);
    let mut lines = Vec::new();
    if indent > least
        && (columns(head.trim_end()) > style.width / 2 || longest.min(room(least)) > room(indent))
    {
        lines.push(head.trim_end().to_owned());
        (head, indent) = (" ".repeat(least), least);
    }
    let mut text = wrap(text, room(indent));
    if text.len() > most {
        text.truncate(most);
        text.last_mut()
            .into_iter()
            .for_each(|last| style.mark_cut(last, room(indent)));
    }
    for line in text {
        lines.push(format!("{head}{line}").trim_end().to_owned());
        head = " ".repeat(indent);
    }
    lines
}

/// Appends `head` and the wrapped `text` in the layout of the function [`behind`]. The lines leave the last
/// column of the screen free.
pub fn paragraph(out: &mut String, style: Style, head: &str, text: &str) {
    let style = Style {
        width: style.width.saturating_sub(1),
        ..style
    };
    wrapped(out, style, head, text);
}

/// Appends `head` and the wrapped `text`. No line of the text is omitted.
pub fn wrapped(out: &mut String, style: Style, head: &str, text: &str) {
    for line in behind(style, head, 4, text, usize::MAX) {
        let _ = writeln!(out, "{line}");
    }
}

/// The tag and the id of a finding, as in `MUST[F1]`.
pub fn tag(finding: &Finding) -> String {
    format!(
        "{}[{}]",
        printable::line(&finding.raw.severity.to_string()),
        finding.id
    )
}

/// Formats a number with its noun, as in `1 finding` or `2 findings`.
pub fn count(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// Lists skipped files with reasons, as in `2 files: a.png (binary), b.lock (generated)`. Lists at most `most`
/// files.
pub fn skipped(skipped: &[Skip], most: usize) -> String {
    let mut files: Vec<String> = skipped
        .iter()
        .take(most)
        .map(|skip| format!("{} ({})", printable::line(&skip.file), skip.reason.as_str()))
        .collect();
    if skipped.len() > most {
        files.push(format!(
            "and {} more",
            thousands((skipped.len() - most) as u64)
        ));
    }
    format!("{}: {}", count(skipped.len(), "file"), files.join(", "))
}

pub fn names<'a>(names: impl IntoIterator<Item = &'a AgentName>) -> String {
    names
        .into_iter()
        .map(|name| printable::line(&name.0))
        .collect::<Vec<_>>()
        .join(", ")
}

pub fn names_width<'a>(names: impl IntoIterator<Item = &'a AgentName>) -> usize {
    widest(names.into_iter().map(|name| printable::line(&name.0))).min(24)
}

pub fn thousands(number: u64) -> String {
    HumanCount(number).to_string()
}

pub fn size(bytes: u64) -> String {
    BinaryBytes(bytes).to_string()
}

/// Formats an amount of dollars as `$1.50`. Formats an amount below one cent as `<$0.01`.
pub fn dollars(usd: f64) -> String {
    if usd > 0.0 && usd < 0.01 {
        "<$0.01".to_owned()
    } else {
        format!("${usd:.2}")
    }
}

/// Formats the known cost of calls. A `+` after the amount means that the cost of some calls is unknown. Returns `None` if
/// the cost of every call is unknown.
pub fn cost(usd: Option<f64>, unpriced_calls: u64) -> Option<String> {
    let more = if unpriced_calls > 0 { "+" } else { "" };
    usd.map(|usd| dollars(usd) + more)
}

/// Returns the version number that a program prints, such as `0.169.0` for the output `codex-cli 0.169.0`. If no
/// word begins with a digit, returns the whole output.
pub fn version(printed: &str) -> String {
    let word = printed
        .split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    printable::line(word.unwrap_or(printed))
}

/// Formats milliseconds as `0.2s`, `12.3s`, `3m 05s` or `1h 02m`.
pub fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds}.{}s", millis % 1000 / 100),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A moment of the next hours or days on the user's clock: `16:20`, or `Nov 28, 04:20` on another day.
pub fn moment(at: Timestamp) -> String {
    let at = at.to_zoned(TimeZone::system());
    let format = if at.date() == Zoned::now().date() {
        "%H:%M"
    } else {
        "%b %-d, %H:%M"
    };
    at.strftime(format).to_string()
}

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
    fn a_message_is_wrapped_outside_of_commands() {
        let text =
            "error: a line\nhint: run `glee config list --origin` first of all, and then look\n";
        assert_eq!(
            fit(text, 30),
            "error: a line\nhint: run\n  `glee config list --origin`\n  first of all, and then look\n"
        );
        assert_eq!(fit(text, 80), text);
        assert_eq!(
            fit("\u{1b}[31merror\u{1b}[0m: 123456", 13),
            "\u{1b}[31merror\u{1b}[0m: 123456"
        );
    }

    #[test]
    fn a_text_starts_behind_its_head_or_below_it() {
        let style = Style {
            color: false,
            unicode: true,
            width: 16,
        };
        let behind = |head, text, most| behind(style, head, 2, text, most);
        assert_eq!(
            behind("fix: ", "one two three", 9),
            ["fix: one two", "     three"]
        );
        assert_eq!(
            behind("fix: ", "a incomparable b", 9),
            ["fix:", "  a incomparable", "  b"]
        );
        assert_eq!(behind("a long head: ", "one", 9), ["a long head:", "  one"]);
        assert_eq!(behind("fix: ", "one two three", 1), ["fix: one two …"]);
        assert_eq!(behind("fix: ", "one twofive three", 1), ["fix: one …"]);
    }

    #[test]
    fn says_numbers_and_times_as_people_do() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(thousands),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [0, 250, 12_340, 185_000, 3_720_000].map(duration),
            ["0.0s", "0.2s", "12.3s", "3m 05s", "1h 02m"]
        );
        assert_eq!([count(1, "file"), count(0, "file")], ["1 file", "0 files"]);
    }

    #[test]
    fn paints_only_where_colours_are_wanted() {
        let style = Style {
            color: true,
            unicode: true,
            width: 80,
        };
        assert_eq!(style.paint(Color::Bad, "x"), "\x1b[1;31mx\x1b[0m");
        assert_eq!(
            Style {
                color: false,
                ..style
            }
            .paint(Color::Bad, "x"),
            "x"
        );
        assert_eq!(style.cut("abcdef", 4), "abc…");
        assert_eq!(
            Style {
                unicode: false,
                ..style
            }
            .cut("abcdef", 5),
            "ab..."
        );
        assert_eq!(
            pad(&style.paint(Color::Good, "ab"), 4),
            "\x1b[32mab\x1b[0m  "
        );
    }
}
