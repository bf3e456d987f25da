//! Code with line numbers and a caret, drawn by `annotate-snippets`.
//!
//! That crate panics on a span outside the text or inside a character; every span here is found in the very text
//! that is drawn, so no line number of an agent can lead there. Control characters are escaped and tabs become
//! blanks before anything is measured; a long line is cut around what is marked.

use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{Color, Style, columns, wrap};
use crate::protocol::text::printable;

/// A longer range is marked at its first line only.
const LONGEST_RANGE: u64 = 40;

/// A piece of code and what is marked in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code<'a> {
    /// The path of its file, as it came.
    pub file: &'a str,
    pub text: &'a str,
    /// The number of the first line of `text`, counted from 1.
    pub first_line: u32,
    /// The marked lines, both included; what lies outside the text is left out.
    pub lines: (u32, u32),
    /// What was said of the code: where it quotes a part of the marked line, that part is marked.
    pub quoted: String,
}

/// A line below the code: `= name: text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnippetNote {
    pub name: &'static str,
    /// The text, as it came.
    pub text: String,
    pub tone: Color,
}

/// The first line of a diagnostic: `HIGH[F3]: title`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub level: String,
    pub id: String,
    /// The title, as it came.
    pub title: String,
    /// The tone of all three and of the caret.
    pub tone: Color,
}

/// Draws code alone, without a line end after it.
pub fn code(look: Style, tone: Color, code: &Code<'_>) -> String {
    render(look, Group::with_level(level(tone)), Some(code), &[])
}

/// Draws a whole diagnostic: heading, code, notes; without a line end after it.
pub fn diagnostic(look: Style, heading: &Heading, code: Option<&Code<'_>>, notes: &[SnippetNote]) -> String {
    let title = level(heading.tone)
        .with_name(printable::line(&heading.level))
        .primary_title(printable::line(&heading.title))
        .id(printable::line(&heading.id));
    render(look, Group::with_title(title), code, notes)
}

fn render<'a>(look: Style, mut group: Group<'a>, code: Option<&Code<'_>>, notes: &[SnippetNote]) -> String {
    let prepared = code.and_then(|code| Prepared::new(look, code));
    let mut column = None;
    match (code, &prepared) {
        (Some(code), Some(prepared)) => {
            let file = printable::line(code.file);
            let (line, at) = prepared.place();
            column = Some((format!("{file}:{line}"), format!(":{at}")));
            let snippet: Snippet<'_, Annotation<'_>> = Snippet::source(prepared.text.clone())
                .line_start(prepared.first_line)
                .path(file)
                .fold(false)
                .annotation(AnnotationKind::Primary.span(prepared.span.clone()));
            group = group.element(snippet);
        }
        (Some(code), None) => {
            group = group.element(Origin::path(printable::line(code.file)).line(code.lines.0 as usize));
        }
        (None, _) => {}
    }
    let gutter = prepared.as_ref().map_or(1, |prepared| prepared.gutter);
    for note in notes {
        let room = look.width.saturating_sub(gutter + 5 + note.name.len());
        let text = wrap(&printable::block(&note.text), room).join("\n");
        group = group.element(level(note.tone).with_name(note.name).message(text));
    }
    let drawn = renderer(look).render(&[group]);
    let Some((place, column)) = column else { return drawn };
    // The column is that of the drawn text, where tabs are blanks and long lines are cut: no column of the file.
    drawn.replacen(&format!("{place}{column}\n"), &format!("{place}\n"), 1)
}

fn renderer(look: Style) -> Renderer {
    let renderer = if look.color { Renderer::styled().hyperlink(false) } else { Renderer::plain() };
    renderer.term_width(look.width)
}

fn level(tone: Color) -> Level<'static> {
    match tone {
        Color::Bad => Level::ERROR,
        Color::Warn => Level::WARNING,
        Color::Minor | Color::Key => Level::INFO,
        Color::Good => Level::HELP,
        Color::Plain | Color::Strong | Color::Faint => Level::NOTE,
    }
}

/// The lines as they are drawn, and the span to mark in them.
#[derive(Debug, PartialEq, Eq)]
struct Prepared {
    text: String,
    first_line: usize,
    span: Range<usize>,
    gutter: usize,
}

impl Prepared {
    /// The line of the mark, and its column in the drawn text, counted from 1 in characters.
    fn place(&self) -> (usize, usize) {
        let before = &self.text[..self.span.start];
        let line = self.first_line + before.matches('\n').count();
        (line, before.rfind('\n').map_or(before, |end| &before[end + 1..]).chars().count() + 1)
    }

    /// `None` if the marked lines are not in the text.
    fn new(look: Style, code: &Code<'_>) -> Option<Self> {
        let (first, last) = (u64::from(code.lines.0), u64::from(code.lines.1));
        let last = if last.saturating_sub(first) >= LONGEST_RANGE { first } else { last.max(first) };
        let (mut text, mut gutter, mut span) = (String::new(), 1, None::<Range<usize>>);
        let quotes = quotes(&code.quoted);
        let end = u64::from(code.first_line) + code.text.lines().count() as u64;
        gutter = gutter.max(end.to_string().len());
        // The gutter, its bar, and the bracket of a range stand left of the code.
        let room = look.width.saturating_sub(gutter + 6).max(12);
        for (number, line) in (u64::from(code.first_line)..).zip(code.text.lines()) {
            let line = printable::line(&line.replace('\t', "    "));
            let content = line.len() - line.trim_start().len()..line.trim_end().len();
            let content = if content.is_empty() { 0..0 } else { content };
            let marked = (first..=last).contains(&number);
            let focus = quotes.iter().find_map(|quote| find(&line, quote)).filter(|_| marked && first == last);
            let (line, focus) = cut(&line, focus.unwrap_or(content), room, look);
            if marked {
                let here = text.len() + focus.start..text.len() + focus.end;
                span = Some(span.map_or(here.clone(), |span| span.start..here.end));
            }
            text.push_str(&line);
            text.push('\n');
        }
        Some(Self { text, first_line: usize::try_from(code.first_line).ok()?, span: span?, gutter })
    }
}

/// The parts of a text that name code: what stands in backticks, then words that no prose has (`a.b`, `a_b`, `a()`).
fn quotes(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2).map(str::trim);
    let quoted = quoted.filter(|quote| !quote.is_empty() && !quote.contains('\n'));
    let words =
        text.split_whitespace().map(|word| word.trim_matches(['.', ',', ';', ':', '!', '?', '"', '\'', '`']));
    let code = words.filter(|word| {
        word.len() > 2
            && word.starts_with(char::is_alphabetic)
            && word.contains(['.', '_', '('])
            && !word.contains('`')
    });
    quoted.chain(code).map(printable::line).collect()
}

/// Where `needle` stands in `line` as a whole word.
fn find(line: &str, needle: &str) -> Option<Range<usize>> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(needle).map(|(start, found)| start..start + found.len()).find(|range| {
        let before = line[..range.start].chars().next_back().is_some_and(word);
        let after = line[range.end..].chars().next().is_some_and(word);
        !(before && needle.starts_with(word) || after && needle.ends_with(word))
    })
}

/// Cuts a line to `room` columns around `focus`; returns the line and where the focus is in it.
fn cut(line: &str, focus: Range<usize>, room: usize, look: Style) -> (String, Range<usize>) {
    if columns(line) <= room {
        return (line.to_owned(), focus);
    }
    let mark = look.glyph(super::Glyph::Cut);
    let inner = room.saturating_sub(2 * columns(mark)).max(4);
    // A third of the room is left before the focus, if the line has that much.
    let mut start = focus.start;
    let mut before = 0;
    for (index, c) in line[..focus.start].char_indices().rev() {
        before += columns(c.encode_utf8(&mut [0; 4]));
        if before > inner / 3 && columns_up_to(&line[index..], inner) {
            break;
        }
        start = index;
    }
    let mut end = start;
    let mut taken = 0;
    for (index, c) in line[start..].char_indices() {
        taken += columns(c.encode_utf8(&mut [0; 4]));
        if taken > inner {
            break;
        }
        end = start + index + c.len_utf8();
    }
    let head = if start > 0 { mark } else { "" };
    let tail = if end < line.len() { mark } else { "" };
    let shift = |at: usize| at.clamp(start, end) - start + head.len();
    (format!("{head}{}{tail}", &line[start..end]), shift(focus.start)..shift(focus.end))
}

/// Whether a text has at least `width` columns; looks at no more of it than that.
fn columns_up_to(text: &str, width: usize) -> bool {
    let mut taken = 0;
    text.chars().any(|c| {
        taken += columns(c.encode_utf8(&mut [0; 4]));
        taken >= width
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Style = Style { color: false, unicode: true, width: 60 };

    fn at<'a>(text: &'a str, lines: (u32, u32), quoted: &str) -> Code<'a> {
        Code { file: "a.rs", text, first_line: 1, lines, quoted: quoted.to_owned() }
    }

    #[test]
    fn draws_ranges_quotes_and_long_lines() {
        let text = "fn q(u: &str) -> String {\n\tformat!(\"SELECT * FROM t WHERE u = '{}'\", u)\n}\n";
        let long = format!("{}eval(x){}", "abc ".repeat(100), " def".repeat(100));
        let heading =
            Heading { level: "HIGH".into(), id: "F1".into(), title: "SQL injection".into(), tone: Color::Bad };
        let why = "Whoever controls `u` controls the query, and so the whole database, and more";
        let notes = [
            SnippetNote { name: "why", text: why.into(), tone: Color::Plain },
            SnippetNote { name: "fix", text: "bind it".into(), tone: Color::Good },
        ];
        let look = LOOK;
        let drawn = [
            diagnostic(look, &heading, Some(&at(text, (2, 2), "the `format!` call")), &notes),
            diagnostic(look, &heading, Some(&at(text, (1, 3), "x")), &notes),
            diagnostic(look, &heading, None, &notes),
            code(look, Color::Bad, &at(text, (2, 2), "")),
            code(look, Color::Bad, &at("a\n\nb", (2, 2), "")),
            code(look, Color::Bad, &at("a\n", (7, 9), "")),
            code(look, Color::Bad, &at(&long, (1, 1), "`eval`")),
            code(Style { color: true, ..look }, Color::Warn, &at(text, (2, 2), "`format!`")).replace('\x1b', "␛"),
        ];
        insta::assert_snapshot!(drawn.join("\n\n"));
    }

    #[test]
    fn finds_the_code_that_a_title_names() {
        assert_eq!(
            quotes("`a b` is weak; use hashlib.sha256, not os.exec(x)."),
            ["a b", "hashlib.sha256", "os.exec(x)"]
        );
        assert_eq!(find("hashlib.md5_x(hashlib.md5)", "hashlib.md5"), Some(14..25));
        assert_eq!(find("(x) + x()", "x()"), Some(6..9));
    }

    #[test]
    fn no_line_number_and_no_text_of_others_makes_it_panic_or_escape() {
        let texts = [
            "",
            "\n",
            "a",
            "日本\n\u{301}x\r\n",
            "\x1b]8;;http://x\x07y\x1b\\\n\u{202e}b\u{9b}2J\n",
            &"é".repeat(999),
        ];
        for text in texts {
            for lines in [(0, 0), (1, 1), (2, 1), (1, u32::MAX), (u32::MAX, u32::MAX), (2, 2)] {
                for first_line in [0, 1, u32::MAX] {
                    for width in [0, 10, 20, 80] {
                        let piece =
                            Code { file: "\x1b[2J", text, first_line, lines, quoted: "`本` `y` `` `é`".into() };
                        let drawn = code(Style { width, ..LOOK }, Color::Bad, &piece);
                        assert!(!drawn.chars().any(|c| c != '\n' && printable::is_unsafe(c)), "{drawn:?}");
                    }
                }
            }
        }
    }
}
