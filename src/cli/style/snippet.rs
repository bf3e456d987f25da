//! Draws code with line numbers and a caret, using `annotate-snippets`.
//!
//! Every text range that is passed to `annotate-snippets` is computed from the displayed text. `annotate-snippets`
//! panics if a span is outside the text, or if a span starts or ends inside a character. In the drawn text,
//! control characters are escaped, tabs are replaced by spaces, and long lines are shortened on both sides of the
//! marked part.

use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::links::{PlaceLinks, linked};
use super::{Color, Glyph, Style, behind, columns, wrap};
use glee_protocol::text::printable;
use glee_workspace::code::anchors::Excerpt;

/// The maximum number of lines in a marked range. The excerpt marks only the first line of a longer range.
const LONGEST_RANGE: u64 = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code<'a> {
    /// Unescaped text, which the drawing functions escape.
    pub file: &'a str,
    pub text: &'a str,
    /// The line number of the first line of `text`, counted from 1.
    pub first_line: u32,
    /// The numbers of the first and the last marked line. Line numbers outside `text` are ignored.
    pub lines: (u32, u32),
    /// The reviewer's text about the code. If the reviewer's text quotes a part of the marked line, only that
    /// part is marked.
    pub quoted: String,
    pub links: Option<&'a PlaceLinks>,
}

/// A note below the code, drawn as `= name: text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnippetNote {
    pub name: &'static str,
    /// Unescaped text, which the drawing functions escape.
    pub text: String,
    pub color: Color,
    /// The maximum number of lines of the text.
    pub most: usize,
    /// Code is never wrapped.
    pub is_code: bool,
}

/// The first line of a diagnostic, such as `HIGH[F3]: title`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The escaped tag and id of the finding.
    pub tag: String,
    /// Unescaped text, which the drawing functions escape.
    pub title: String,
    pub color: Color,
}

/// Draws a heading, the code, and the notes below the code. The result does not end with a line break.
pub fn diagnostic(
    style: Style,
    heading: &Heading,
    at: Option<&Code<'_>>,
    notes: &[SnippetNote],
) -> String {
    let title = format!("{}: {}", heading.tag, printable::line(&heading.title));
    let mut lines: Vec<String> = Vec::new();
    for (index, line) in wrap(&title, style.width.saturating_sub(4))
        .into_iter()
        .enumerate()
    {
        lines.push(
            match line.strip_prefix(&heading.tag).filter(|_| index == 0) {
                Some(rest) => style.paint(heading.color, &heading.tag) + &style.strong(rest),
                None if index == 0 => style.strong(line),
                None => format!("    {}", style.strong(line)),
            },
        );
    }
    let prepared = at.and_then(|at| Prepared::new(style, at));
    let gutter = prepared.as_ref().map_or(0, |prepared| prepared.gutter);
    if let Some(at) = at {
        lines.push(render(style, heading.color, at, prepared.as_ref()));
        if prepared.is_some() && !notes.is_empty() {
            lines.push(format!("{:gutter$} {}", "", style.faint("|")));
        }
    }
    for SnippetNote {
        name,
        text,
        color,
        most,
        is_code,
    } in notes
    {
        let color = if *color == Color::Plain {
            Color::Strong
        } else {
            *color
        };
        let head = format!(
            "{:gutter$} {} {}: ",
            "",
            style.faint("="),
            style.paint(color, name)
        );
        let text = printable::block(text);
        if *is_code {
            let code = text.lines().take(*most).enumerate();
            let indent = " ".repeat(columns(&head));
            lines.extend(code.map(|(index, line)| {
                let line = line.replace('\t', "    ");
                let head = if index == 0 { &head } else { &indent };
                format!("{head}{line}").trim_end().to_owned()
            }));
        } else {
            lines.extend(behind(style, &head, gutter + 3, &text, *most));
        }
    }
    lines.join("\n")
}

/// Draws recorded code without a heading. If `quoted` quotes a part of the marked line, the drawing marks only
/// the quoted part.
pub fn excerpt(style: Style, color: Color, excerpt: &Excerpt, quoted: String) -> String {
    let Excerpt {
        file,
        text,
        first_line,
        lines,
    } = excerpt;
    code(
        style,
        color,
        &Code {
            file,
            text,
            first_line: *first_line,
            lines: *lines,
            quoted,
            links: None,
        },
    )
}

/// Draws code without a heading. The result does not end with a line break.
pub fn code(style: Style, color: Color, code: &Code<'_>) -> String {
    render(style, color, code, Prepared::new(style, code).as_ref())
}

fn render(style: Style, color: Color, code: &Code<'_>, prepared: Option<&Prepared>) -> String {
    let file = printable::line(code.file);
    let group = Group::with_level(level(color));
    let renderer = if style.color {
        Renderer::styled().hyperlink(false)
    } else {
        Renderer::plain()
    };
    let renderer = renderer.term_width(style.width);
    let Some(prepared) = prepared else {
        let origin = Origin::path(file.clone()).line(code.lines.0 as usize);
        let drawn = renderer.render(&[group.element(origin)]);
        let place = format!("{file}:{}", code.lines.0);
        return drawn.replacen(
            &place,
            &linked(code.links, place.clone(), code.file, Some(code.lines.0)),
            1,
        );
    };
    let (line, at) = prepared.place();
    let snippet: Snippet<'_, Annotation<'_>> = Snippet::source(prepared.text.clone())
        .line_start(prepared.first_line)
        .path(file.clone())
        .fold(false)
        .annotation(AnnotationKind::Primary.span(prepared.span.clone()));
    let drawn = renderer.render(&[group.element(snippet)]);
    // Before drawing, tabs are replaced by spaces, and long lines are truncated. The column number in the drawing
    // can therefore differ from the column number in the file. The number is removed from the drawing.
    let place = linked(
        code.links,
        format!("{file}:{line}"),
        code.file,
        u32::try_from(line).ok(),
    );
    drawn.replacen(&format!("{file}:{line}:{at}\n"), &format!("{place}\n"), 1)
}

fn level(color: Color) -> Level<'static> {
    match color {
        Color::Bad => Level::ERROR,
        Color::Warn => Level::WARNING,
        Color::Minor | Color::Key => Level::INFO,
        Color::Good => Level::HELP,
        Color::Plain | Color::Strong | Color::Faint => Level::NOTE,
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Prepared {
    text: String,
    first_line: usize,
    span: Range<usize>,
    gutter: usize,
}

impl Prepared {
    /// The line number and the column at which the marked part of the drawn text starts. Columns are counted in
    /// characters, from 1.
    fn place(&self) -> (usize, usize) {
        let before = &self.text[..self.span.start];
        let line = self.first_line + before.matches('\n').count();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        (line, before[start..].chars().count() + 1)
    }

    fn new(style: Style, code: &Code<'_>) -> Option<Self> {
        let first = u64::from(code.lines.0);
        let last = u64::from(code.lines.1);
        let last = if last.saturating_sub(first) >= LONGEST_RANGE {
            first
        } else {
            last.max(first)
        };
        let mut text = String::new();
        let mut span = None::<Range<usize>>;
        let quotes = quotes(&code.quoted);
        let end = u64::from(code.first_line) + (code.text.lines().count() as u64).saturating_sub(1);
        let gutter = end.to_string().len();
        // The line numbers, the bars and the bracket of a range take up the gutter and six more columns.
        let room = style.width.saturating_sub(gutter + 6).max(12);
        for (number, line) in (u64::from(code.first_line)..).zip(code.text.lines()) {
            let line = printable::line(&line.replace('\t', "    "));
            let content = line.len() - line.trim_start().len()..line.trim_end().len();
            let content = if content.is_empty() { 0..0 } else { content };
            let marked = (first..=last).contains(&number);
            let focus = quotes
                .iter()
                .find_map(|quote| find(&line, quote))
                .filter(|_| marked && first == last);
            let (line, focus) = cut(&line, focus.unwrap_or(content), room, style);
            if marked {
                let here = text.len() + focus.start..text.len() + focus.end;
                span = Some(span.map_or(here.clone(), |span| span.start..here.end));
            }
            text.push_str(&line);
            text.push('\n');
        }
        Some(Self {
            text,
            first_line: usize::try_from(code.first_line).ok()?,
            span: span?,
            gutter,
        })
    }
}

/// Returns the quoted code in a text: first the parts in backticks, then words such as `a.b`, `a_b` and `a()`.
fn quotes(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2).map(str::trim);
    let quoted = quoted.filter(|quote| !quote.is_empty() && !quote.contains('\n'));
    let words = text
        .split_whitespace()
        .map(|word| word.trim_matches(['.', ',', ';', ':', '!', '?', '"', '\'', '`']));
    let code = words.filter(|word| {
        word.len() > 2
            && word.starts_with(char::is_alphabetic)
            && word.contains(['.', '_', '('])
            && !word.contains('`')
    });
    quoted.chain(code).map(printable::line).collect()
}

/// Finds `needle` in `line` as a whole word.
fn find(line: &str, needle: &str) -> Option<Range<usize>> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(needle)
        .map(|(start, found)| start..start + found.len())
        .find(|range| {
            let before = line[..range.start].chars().next_back().is_some_and(word);
            let after = line[range.end..].chars().next().is_some_and(word);
            !(before && needle.starts_with(word) || after && needle.ends_with(word))
        })
}

/// Cuts a line to `room` columns around the range `focus`. Returns the shortened line, and the range of `focus` in
/// this line.
fn cut(line: &str, focus: Range<usize>, room: usize, style: Style) -> (String, Range<usize>) {
    if columns(line) <= room {
        return (line.to_owned(), focus);
    }
    let mark = style.glyph(Glyph::Cut);
    let inner = room.saturating_sub(2 * columns(mark)).max(4);
    let width = |c: char| columns(c.encode_utf8(&mut [0; 4]));
    // Up to a third of the columns show text before the focus. If the line ends soon after the focus, text
    // before the focus gets more columns.
    let mut before = 0;
    let shown = line[..focus.start]
        .char_indices()
        .rev()
        .take_while(|(index, c)| {
            before += width(*c);
            before <= inner / 3 || columns(&line[*index..]) < inner
        });
    let start = shown.last().map_or(focus.start, |(index, _)| index);
    let mut taken = 0;
    let end = start
        + line[start..]
            .chars()
            .take_while(|c| {
                taken += width(*c);
                taken <= inner
            })
            .map(char::len_utf8)
            .sum::<usize>();
    let head = if start > 0 { mark } else { "" };
    let tail = if end < line.len() { mark } else { "" };
    let shift = |at: usize| at.clamp(start, end) - start + head.len();
    (
        format!("{head}{}{tail}", &line[start..end]),
        shift(focus.start)..shift(focus.end),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style = Style {
        color: false,
        unicode: true,
        width: 60,
    };

    fn at<'a>(text: &'a str, lines: (u32, u32), quoted: &str) -> Code<'a> {
        Code {
            file: "a.rs",
            text,
            first_line: 1,
            lines,
            quoted: quoted.to_owned(),
            links: None,
        }
    }

    #[test]
    fn draws_ranges_quotes_and_long_lines() {
        let text =
            "fn q(u: &str) -> String {\n\tformat!(\"SELECT * FROM t WHERE u = '{}'\", u)\n}\n";
        let long = format!("{}eval(x){}", "abc ".repeat(100), " def".repeat(100));
        let heading = Heading {
            tag: "HIGH[F1]".into(),
            title: "SQL injection".into(),
            color: Color::Bad,
        };
        let why = "Whoever controls `u` controls the query, and so the whole database, and more";
        let notes = [
            SnippetNote {
                name: "why",
                text: why.into(),
                color: Color::Plain,
                most: 9,
                is_code: false,
            },
            SnippetNote {
                name: "fix",
                text: "bind it".into(),
                color: Color::Good,
                most: 9,
                is_code: false,
            },
        ];
        let style = STYLE;
        let drawn = [
            diagnostic(
                style,
                &heading,
                Some(&at(text, (2, 2), "the `format!` call")),
                &notes,
            ),
            diagnostic(style, &heading, Some(&at(text, (1, 3), "x")), &notes),
            diagnostic(style, &heading, None, &notes),
            code(style, Color::Bad, &at(text, (2, 2), "")),
            code(style, Color::Bad, &at("a\n\nb", (2, 2), "")),
            code(style, Color::Bad, &at("a\n", (7, 9), "")),
            code(style, Color::Bad, &at(&long, (1, 1), "`eval`")),
            code(
                Style {
                    color: true,
                    ..style
                },
                Color::Warn,
                &at(text, (2, 2), "`format!`"),
            )
            .replace('\x1b', "␛"),
        ];
        insta::assert_snapshot!(drawn.join("\n\n"));
    }

    #[test]
    fn finds_the_code_that_a_title_names() {
        assert_eq!(
            quotes("`a b` is weak; use hashlib.sha256, not os.exec(x)."),
            ["a b", "hashlib.sha256", "os.exec(x)"]
        );
        assert_eq!(
            find("hashlib.md5_x(hashlib.md5)", "hashlib.md5"),
            Some(14..25)
        );
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
            for lines in [
                (0, 0),
                (1, 1),
                (2, 1),
                (1, u32::MAX),
                (u32::MAX, u32::MAX),
                (2, 2),
            ] {
                for first_line in [0, 1, u32::MAX] {
                    for width in [0, 10, 20, 80] {
                        let quoted = "`本` `y` `` `é`".into();
                        let piece = Code {
                            file: "\x1b[2J",
                            text,
                            first_line,
                            lines,
                            quoted,
                            links: None,
                        };
                        let drawn = code(Style { width, ..STYLE }, Color::Bad, &piece);
                        assert!(
                            !drawn.chars().any(|c| c != '\n' && printable::is_unsafe(c)),
                            "{drawn:?}"
                        );
                    }
                }
            }
        }
    }
}
