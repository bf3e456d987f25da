//! Splits the prose of an answer into sentences and clauses.

use std::sync::LazyLock;

use regex::Regex;

use super::words::{self, is_negation};
use crate::text::{LineKind, Structure, location, markdown, pattern};
use glee_model::domain::fold;

#[derive(Debug)]
pub(crate) struct Sentence {
    pub text: String,
    pub(crate) clauses: Vec<Clause>,
    /// Whether the sentence is the item of a list, or a row of a table.
    pub(crate) is_item: bool,
    /// Whether the sentence names a line of a file.
    pub has_place: bool,
    pub is_question: bool,
    pub(crate) is_cjk: bool,
}

#[derive(Debug)]
pub(crate) struct Clause {
    pub words: Vec<String>,
    /// Whether the clause begins with a word such as `but`.
    pub(crate) is_behind_contrast: bool,
}

/// Says that only a part was read, as in `3 of the 7 files`.
static PART: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(\d+)\s*(?:of|/|out of|von|sur|de|из)\s*(?:the\s+|den\s+|les\s+|los\s+)?(\d+)\b",
    )
});

static PART_OF_FILE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:i|we) could (?:access|see|read|open|reach|view|inspect|load|find|cover|review|process|get)\b|\b(?:first|last|top|ersten|premières|primeras) (?:\d+|few|half|part|portion|hundred|thousand)\b|\blines? \d+\s*[-–]\s*\d+ of\b|\btoo (?:many|large|long|big|much)\b|\b(?:was|were) (?:left|visible)\b|\blimit (?:was |is )?reached\b",
    )
});

/// Advice and doubt of several words.
static ADVISES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i:\b(?:could|would|may) (?:also |still |well |perhaps )?(?:be|have|want|need|prefer|lead|cause|break|fail|lose|leak|result)\b)|^\W*TODO\b|\bTODO:",
    )
});

static DEMANDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:(?:needs?|has|have|ought) to be|(?:should|must) (?:first |also )?be)\s+(\w+)",
    )
});

/// A line that a program logs about its own work.
static LOG_LINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^\s*(?:\[(?i:info|debug|trace)\]|(?:INFO|DEBUG|TRACE)\b|(?i:info|debug|trace):)|(?i)^\s*\{.*"(?:level|severity)"\s*:\s*"(?:info|debug|trace)""#,
    )
});

/// Counts things that the answer then names, as in `two points`.
static COUNTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(one|two|three|four|five|some|several|a few|a couple of|[1-9]\d*)\s+(?:[\w-]+\s+)?(thing|point|issue|problem|note|question|remark|caveat|suggestion|nit|detail|concern|observation|comment)s?\b",
    )
});

const OF_A_PART: &[&str] = &[
    "i was shown",
    "with comments",
    "with remarks",
    "no obvious",
    "any obvious",
    "nothing obvious",
    "keine offensichtlichen",
    "no glaring",
    "first glance",
    "quick look",
    "at a glance",
    "quick review",
    "quick pass",
    "left in",
    "left behind",
    "hard to say",
    "can't tell",
    "cannot tell",
    "not sure",
    "difficult to",
    "only the names",
    "as far as i could",
    "as far as it",
    "as far as the",
    "needs attention",
    "able to read only",
    "the first half",
    "the second half",
    "rest of the file",
    "the other file",
    "the other files",
    "in the middle",
    "up to there",
    "up to that",
    "up to this",
    "before that",
    "until then",
    "that far",
    "up to line",
    "had time",
    "out of time",
    "ran out",
    "so far",
    "what i could",
    "can only",
    "i can see",
    "from what",
    "based on",
    "the part i",
    "in the part",
    "visible to me",
    "shown to me",
    "available to me",
    "given to me",
    "i was given",
];

impl Sentence {
    fn words(&self) -> Vec<&str> {
        let words = self.clauses.iter().flat_map(|clause| &clause.words);
        words.map(String::as_str).collect()
    }

    /// Whether the sentence says that the reviewer saw only a part.
    pub(crate) fn is_about_part(&self) -> bool {
        let words = self.words().join(" ");
        OF_A_PART.iter().any(|part| words.contains(part))
            || PART
                .captures_iter(&self.text)
                .any(|found| found[1] != found[2])
            || PART_OF_FILE.is_match(&self.text)
            || ADVISES.is_match(&self.text)
            || self.demands()
    }

    /// Whether the sentence is an item of a list of checks that did not pass, as in `[ ] documented` and `✘ tests`.
    pub(crate) fn is_unchecked(&self) -> bool {
        self.text.starts_with("[ ]") || self.text.contains(['✘', '✗', '❌', '⚠'])
    }

    /// Whether the sentence counts something that it then names.
    pub(super) fn counts(&self) -> bool {
        let Some(counted) = COUNTED.find(&self.text) else {
            return false;
        };
        let before = self.text[..counted.start()].to_lowercase();
        let is_whole =
            before.trim_end().ends_with("exactly") || before.trim_end().ends_with("does");
        let is_denied = is_whole
            || before.split_whitespace().any(is_negation)
            || self.words().iter().any(|word| {
                matches!(
                    *word,
                    "nothing" | "addressed" | "fixed" | "resolved" | "closed"
                )
            });
        !is_denied
    }

    /// Whether the sentence speaks of the reviewer, or of what it reads.
    pub(crate) fn is_about_reading(&self) -> bool {
        self.is_short()
            || self
                .words()
                .iter()
                .any(|word| words::READING.contains(word))
    }

    pub(super) fn is_short(&self) -> bool {
        self.words().iter().filter(|word| **word != ",").count() <= 7
    }

    /// Whether the sentence says what has to be done, as in `it needs to be fixed`.
    fn demands(&self) -> bool {
        DEMANDS.captures_iter(&self.text).any(|found| {
            let next = found.get(1).map_or("", |next| next.as_str());
            !matches!(
                next,
                "safe"
                    | "fine"
                    | "ok"
                    | "okay"
                    | "good"
                    | "correct"
                    | "right"
                    | "enough"
                    | "clear"
                    | "sufficient"
            )
        })
    }

    /// Whether the sentence only offers more work, as in `let me know if you have questions`.
    pub(crate) fn is_offer(&self) -> bool {
        let words = self.words();
        words
            .windows(4)
            .any(|four| four == ["let", "me", "know", "if"])
            && !words
                .iter()
                .any(|word| words::LIMITS.contains(word) || is_negation(word))
    }

    /// Whether the sentence says what the reviewer is going to do.
    pub(crate) fn announces_work(&self) -> bool {
        let words = self.words();
        let starts = |start: &[&str]| words.starts_with(start);
        !self.is_offer()
            && (words.windows(2).any(|two| {
                matches!(
                    two,
                    ["report", "back"]
                        | ["and", "will"]
                        | ["i", "will" | "shall"]
                        | ["going", "to"]
                        | ["about", "to"]
                        | ["in", "progress"]
                )
            }) || words.iter().any(|word| matches!(*word, "i'll" | "we'll"))
                || starts(&["let", "me"])
                || starts(&["let's"])
                || starts(&["starting"])
                || starts(&["next"])
                || starts(&["now", "i"])
                || words.windows(3).any(|three| three == ["let", "me", "know"]))
    }
}

pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

pub(super) fn split(text: &str) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let mut structure = Structure::default();
    let mut paragraph = String::new();
    let mut is_item = false;
    for line in text.lines() {
        let kind = structure.classify(line);
        if !matches!(kind, LineKind::Text | LineKind::Heading) || LOG_LINE.is_match(line) {
            end(&mut sentences, &mut paragraph, is_item);
            is_item = false;
            continue;
        }
        let row = markdown::table_row(line).map(|_| markdown::join_cells(line).replace('|', " : "));
        let peeled = markdown::peel_item(row.as_deref().unwrap_or(line));
        if peeled.listed || row.is_some() || kind == LineKind::Heading {
            end(&mut sentences, &mut paragraph, is_item);
            is_item = peeled.listed || row.is_some();
        }
        paragraph.push_str(peeled.rest);
        paragraph.push('\n');
        if kind == LineKind::Heading {
            paragraph.clear();
        }
    }
    end(&mut sentences, &mut paragraph, is_item);
    sentences
}

fn end(sentences: &mut Vec<Sentence>, paragraph: &mut String, is_item: bool) {
    let text = std::mem::take(paragraph);
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let ends = match letter {
            '。' | '！' | '？' | '；' => true,
            '.' | '!' | '?' => next
                .is_none_or(|next| next.is_whitespace() || matches!(next, '*' | '_' | ')' | '"')),
            _ => false,
        };
        if ends {
            let end = at + letter.len_utf8();
            sentences.extend(sentence(&text[start..end], is_item));
            start = end;
        }
    }
    sentences.extend(sentence(&text[start..], is_item));
}

fn sentence(text: &str, is_item: bool) -> Option<Sentence> {
    let text = text.trim();
    if !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    let shown = without_quotes(without_code(text));
    let has_place = location::find(text).is_some() || names_line(&shown);
    let tokens = tokens(&shown);
    let mut clauses = vec![Clause {
        words: Vec::new(),
        is_behind_contrast: false,
    }];
    let mut after_break = false;
    for token in tokens {
        let word = token.as_str();
        let is_than = word == "than"
            && clauses
                .last()
                .is_some_and(|clause| clause.words.last().is_some_and(|last| last == "other"));
        // At its start, `although` only announces a contrast.
        let opens = clauses.iter().all(|clause| clause.words.is_empty())
            && matches!(word, "although" | "though" | "obwohl");
        if opens {
            continue;
        }
        if words::CONTRASTS.contains(word) || is_than {
            clauses.push(Clause {
                words: Vec::new(),
                is_behind_contrast: true,
            });
            after_break = false;
            continue;
        }
        if matches!(word, "," | "(" | ")" | "--") {
            after_break = true;
            clauses
                .last_mut()
                .expect("there is a first clause")
                .words
                .push(",".to_owned());
            continue;
        }
        if after_break && words::STARTS.contains(word) || word == ";" {
            clauses.push(Clause {
                words: Vec::new(),
                is_behind_contrast: false,
            });
        }
        // `, and the handle leaks` begins a clause, `, and races` does not.
        after_break &= matches!(word, "and" | "or" | "nor" | "so" | "then");
        if word == ";" {
            continue;
        }
        clauses
            .last_mut()
            .expect("there is a first clause")
            .words
            .push(token);
    }
    clauses.retain(|clause| clause.words.iter().any(|word| word != ","));
    Some(Sentence {
        is_question: text
            .trim_end_matches(['*', '_', '"', ')'])
            .ends_with(['?', '？']),
        is_cjk: shown.chars().any(is_cjk),
        text: fold(text),
        clauses,
        is_item,
        has_place,
    })
}

/// Inline code repeats code, so it becomes a sign without meaning. Words in backticks that hold only letters and
/// blanks are what a tool said, and stay.
fn without_code(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('`') {
        let ticks = rest[open..].len() - rest[open..].trim_start_matches('`').len();
        let inner = &rest[open + ticks..];
        let Some(length) = inner.find(&rest[open..open + ticks]) else {
            break;
        };
        shown.push_str(&rest[..open]);
        let code = &inner[..length];
        let is_said = code.contains(' ') && code.chars().all(|c| c.is_alphabetic() || c == ' ');
        shown.push_str(if is_said { code } else { "\u{a7}" });
        rest = &inner[length + ticks..];
    }
    shown + rest
}

/// A quotation repeats the code, unless the sentence speaks of the reviewer or its tools.
fn without_quotes(text: String) -> String {
    let lower = text.to_lowercase();
    let is_own = lower.split(|c: char| !c.is_alphanumeric()).any(|word| {
        matches!(
            word,
            "i" | "we" | "me" | "tool" | "tools" | "command" | "read" | "ich" | "je"
        )
    });
    if is_own {
        return text;
    }
    QUOTED.replace_all(&text, "\u{a7}").into_owned()
}

static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#""[^"]{1,120}"|“[^”]{1,120}”|„[^“]{1,120}“|«[^»]{1,120}»"#));

fn names_line(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .peekable();
    while let Some(word) = words.next() {
        if matches!(word, "line" | "lines" | "zeile" | "ligne" | "línea")
            && words
                .peek()
                .is_some_and(|next| next.bytes().all(|byte| byte.is_ascii_digit()))
        {
            return true;
        }
    }
    false
}

/// The words of a text in lower case, and the marks that end a clause. Paths, calls and identifiers become `§`.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for chunk in text.split_whitespace() {
        if matches!(chunk, "-" | "–" | "—" | "--") {
            tokens.push("--".to_owned());
            continue;
        }
        let chunk = chunk.replace('’', "'");
        let mut word = String::new();
        let mut marks = Vec::new();
        let core = chunk.trim_matches(|c: char| {
            !c.is_alphanumeric() && !matches!(c, '§' | '✓' | '✔' | '✅' | '👍')
        });
        let lead = &chunk[..chunk.find(core).unwrap_or(0)];
        if lead.contains('(') {
            tokens.push("(".to_owned());
        }
        let tail = &chunk[chunk.find(core).unwrap_or(0) + core.len()..];
        for mark in tail.chars() {
            match mark {
                ',' | '、' | '，' => marks.push(","),
                ';' => marks.push(";"),
                ':' | '：' => marks.push(":"),
                '=' => marks.push("="),
                ')' => marks.push(")"),
                '—' | '–' => marks.push("--"),
                _ => {}
            }
        }
        if core.is_empty() {
            tokens.extend(marks.into_iter().map(str::to_owned));
            continue;
        }
        // `None` is a value of the code, except where it answers a question, as in `Findings: None`.
        let is_value = core == "None" && tokens.last().is_some_and(|last| last != ":");
        if is_code(core) || is_value {
            word.push('§');
        } else {
            word.push_str(&core.to_lowercase());
        }
        for part in word
            .split([
                '—', '–', '…', ':', '=', '/', '、', '，', ',', '(', ')', '*', '"',
            ])
            .filter(|part| !part.is_empty())
        {
            tokens.push(part.to_owned());
        }
        tokens.extend(marks.into_iter().map(str::to_owned));
    }
    tokens
}

fn is_code(word: &str) -> bool {
    let mut letters = word.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        let is_mark = matches!(letter, '_' | '\\' | '<' | '>' | '{' | '}' | '$' | '@' | '#')
            || letter == '.'
                && next.is_alphanumeric()
                && before.is_alphanumeric()
                && !before.is_ascii_digit()
            || letter == '(' && next == ')'
            || letter == ':' && next == ':';
        if is_mark || before.is_lowercase() && letter.is_uppercase() {
            return true;
        }
        before = letter;
    }
    word.contains("()")
}
