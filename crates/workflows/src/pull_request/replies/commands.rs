//! Parses a reply to Glee.
//!
//! A command is at the beginning of a comment: `@glee` or `/glee`, then `enforce`, `dismiss` or `object` in any
//! letter case, then the reason. Glee ignores a command in a quotation, a code block, an HTML comment or a later
//! line.
//!
//! A reply without a command is an objection if the reply
//! - does not begin with an acknowledgement such as `done`, `fixed` or `thanks`, and
//! - cites code as `path:line`, or has at least four words and does not end with a question mark.
//!
//! A reply is about all findings of its thread. If its text begins with ids such as `[F12b]`, the reply is about these
//! findings only. After a command, the brackets can be omitted.

use glee_model::domain::{FindingId, RulingWord, Untrusted};
use glee_protocol::text::references::references;
use glee_protocol::text::{LineKind, Structure};

/// The maximum number of characters of a reason or objection. Glee ignores the characters after the maximum.
const LONGEST: usize = 6_000;
/// The minimum number of words of an objection without a command and without citations.
const WORDS: usize = 4;
/// The maximum number of citations of one reply.
const CITED: usize = 20;

const ACKNOWLEDGEMENTS: &[&str] = &[
    "ack",
    "acknowledged",
    "addressed",
    "agree",
    "agreed",
    "changed",
    "done",
    "fair point",
    "fixed",
    "fixing",
    "good catch",
    "good point",
    "great catch",
    "i agree",
    "i fixed",
    "i will",
    "lgtm",
    "makes sense",
    "my bad",
    "nice",
    "nice catch",
    "no problem",
    "ok",
    "okay",
    "oops",
    "pushed",
    "resolved",
    "should be fixed",
    "sorry",
    "sure",
    "thank",
    "thanks",
    "thx",
    "updated",
    "will do",
    "will fix",
    "working on",
    "yep",
    "yes",
    "you are right",
    "you re right",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReplyKind {
    /// `word` is `Enforce` or `Dismiss`.
    Ruling {
        word: RulingWord,
        reason: Untrusted,
    },
    Objection {
        text: Untrusted,
        evidence: Vec<Untrusted>,
        is_command: bool,
    },
    Other,
}

/// Parses the body of a comment. `replies_object` is the setting `pr.replies_object`. Returns the ids of the findings
/// that the reply names, too. Without ids, the reply is about all findings of the thread.
pub(super) fn parse(body: &Untrusted, replies_object: bool) -> (ReplyKind, Vec<FindingId>) {
    let body = body.as_written();
    match command(body) {
        Some((name, rest)) => {
            let said = said(rest);
            let (named, reason) = named(&said, false);
            (commanded(&name, reason.to_owned()), named)
        }
        None => {
            let said = said(body);
            let (named, text) = named(&said, true);
            let kind = if replies_object && is_objection(text) {
                objection(text.to_owned(), false)
            } else {
                ReplyKind::Other
            };
            (kind, named)
        }
    }
}

/// Splits a text into the ids at its beginning and the rest.
fn named(text: &str, needs_brackets: bool) -> (Vec<FindingId>, &str) {
    let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | ':');
    let mut ids = Vec::new();
    let mut rest = text.trim();
    loop {
        let end = rest.find(is_between).unwrap_or(rest.len());
        let word = rest[..end].trim_end_matches('.');
        let is_bracketed = word.starts_with('[') && word.ends_with(']');
        let id = FindingId::parse(word).filter(|_| is_bracketed || !needs_brackets);
        let Some(id) = id else {
            return (ids, rest);
        };
        ids.push(id);
        rest = rest[end..].trim_start_matches(is_between);
    }
}

fn commanded(name: &str, reason: String) -> ReplyKind {
    match name {
        "enforce" => ReplyKind::Ruling {
            word: RulingWord::Enforce,
            reason: shortened(&reason),
        },
        "dismiss" => ReplyKind::Ruling {
            word: RulingWord::Dismiss,
            reason: shortened(&reason),
        },
        _ if reason.trim().is_empty() => ReplyKind::Other,
        _ => objection(reason, true),
    }
}

fn objection(text: String, is_command: bool) -> ReplyKind {
    let mut evidence: Vec<Untrusted> = Vec::new();
    for cited in references(&text).filter(|cited| cited.lines.is_some()) {
        let cited = Untrusted::from(cited.to_string());
        if evidence.len() < CITED && !evidence.contains(&cited) {
            evidence.push(cited);
        }
    }
    ReplyKind::Objection {
        text: shortened(&text),
        evidence,
        is_command,
    }
}

fn shortened(text: &str) -> Untrusted {
    Untrusted::from(text.trim()).first(LONGEST)
}

/// Returns the command in lower case, and the text after the command. The command has to be at the beginning of
/// `body`.
fn command(body: &str) -> Option<(String, &str)> {
    let indent = body.len() - body.trim_start_matches(' ').len();
    let text = &body[indent..];
    let called = text
        .get(..5)
        .filter(|name| matches!(name.to_ascii_lowercase().as_str(), "@glee" | "/glee"));
    let behind = &text[called.filter(|_| indent < 4)?.len()..];
    let line = behind.split(['\n', '\r']).next().unwrap_or_default();
    let word = line.trim_start_matches([' ', '\t']);
    if word.len() == line.len() {
        return None;
    }
    let end = word
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(word.len());
    let is_whole = word[end..]
        .chars()
        .next()
        .is_none_or(|c| c.is_whitespace() || matches!(c, ':' | ',' | '.' | '<'));
    let name = word[..end].to_ascii_lowercase();
    let start = behind.len() - behind.trim_start_matches([' ', '\t']).len() + end;
    (is_whole && matches!(name.as_str(), "enforce" | "dismiss" | "object"))
        .then(|| (name, behind[start..].trim_start_matches([':', ',', '.'])))
}

/// Removes HTML comments from a text, and also the parts that quote other comments.
fn said(body: &str) -> String {
    let mut text = String::new();
    let mut rest = body;
    while let Some((before, comment)) = rest.split_once("<!--") {
        text.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let mut structure = Structure::default();
    let lines = text
        .lines()
        .filter(|line| structure.classify(line) != LineKind::Quote);
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn is_objection(text: &str) -> bool {
    let mut structure = Structure::default();
    let prose = text
        .lines()
        .filter(|line| structure.classify(line).is_prose());
    let prose = prose.collect::<Vec<_>>().join(" ");
    let words: Vec<String> = prose
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is_acknowledged = ACKNOWLEDGEMENTS.iter().any(|with| {
        let mut words = words.iter();
        with.split(' ')
            .all(|word| words.next().is_some_and(|said| said == word))
    });
    if is_acknowledged {
        return false;
    }
    let cites = references(text).any(|cited| cited.lines.is_some());
    cites || words.len() >= WORDS && !prose.trim_end().ends_with(['?', '？'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(body: &str) -> &'static str {
        match parse(&body.into(), true).0 {
            ReplyKind::Ruling {
                word: RulingWord::Enforce,
                ..
            } => "enforce",
            ReplyKind::Ruling { .. } => "dismiss",
            ReplyKind::Objection {
                is_command: true, ..
            } => "object",
            ReplyKind::Objection { .. } => "objection",
            ReplyKind::Other => "other",
        }
    }

    #[test]
    fn the_table_of_replies() {
        let rows = [
            ("@glee dismiss", "dismiss"),
            ("@Glee DISMISS: it is only reached from tests", "dismiss"),
            ("/glee enforce the caller does not check", "enforce"),
            ("  @glee  enforce\r\nbecause", "enforce"),
            ("@glee object the value is checked", "object"),
            ("@glee object", "other"),
            ("@glee object <!-- nothing -->", "other"),
            ("    @glee dismiss", "other"),
            ("\t@glee dismiss", "other"),
            ("\n@glee dismiss", "other"),
            ("> @glee dismiss", "other"),
            ("```\n@glee dismiss\n```", "other"),
            ("`@glee dismiss`", "other"),
            ("<!-- @glee dismiss -->", "other"),
            ("<!--\n@glee dismiss\n-->", "other"),
            ("@gleeful dismiss", "other"),
            ("@glee-bot dismiss", "other"),
            ("@glee dismissed", "other"),
            ("@glee: dismiss", "other"),
            ("@glee\u{200b} dismiss", "other"),
            ("@glee dis\u{ad}miss", "other"),
            ("@glee please dismiss this finding now", "objection"),
            ("I would say: @glee dismiss", "objection"),
            ("Done", "other"),
            ("done, fixed in 1a2b3c4, thanks for the hint", "other"),
            ("Fixed in src/a.rs:12", "other"),
            ("Thanks! I will fix it in the next commit", "other"),
            ("👍", "other"),
            ("👍 👍 👍 👍 👍", "other"),
            ("Why is this a problem in this function?", "other"),
            ("Is src/a.rs:12 not enough?", "objection"),
            ("src/a.rs:12", "objection"),
            ("The caller validates the name", "objection"),
            ("Not a bug", "other"),
            ("> The name is not validated at all\n\nno", "other"),
            ("", "other"),
        ];
        for (body, expected) in rows {
            assert_eq!(kind(body), expected, "{body:?}");
        }
        assert_eq!(
            parse(&"The caller validates the name".into(), false).0,
            ReplyKind::Other
        );
        assert!(matches!(
            parse(&"@glee object no".into(), false).0,
            ReplyKind::Objection {
                is_command: true,
                ..
            }
        ));
    }

    #[test]
    fn a_reason_is_what_the_person_wrote() {
        let body =
            "@glee dismiss: see below\n\n> quoted\n<!-- hidden -->\nThe check is in `src/a.rs:12`.";
        let ReplyKind::Ruling { reason, .. } = parse(&body.into(), true).0 else {
            panic!("a ruling")
        };
        assert_eq!(reason, "see below\n\n\nThe check is in `src/a.rs:12`.");
        let body =
            "It is checked in src/a.rs:12 and src/a.rs:12, then in `b.py:3-5`; README.md says so";
        let ReplyKind::Objection { evidence, .. } = parse(&body.into(), true).0 else {
            panic!("an objection")
        };
        assert_eq!(
            evidence,
            [Untrusted::from("src/a.rs:12"), Untrusted::from("b.py:3-5")]
        );
        let ReplyKind::Objection { text, .. } =
            parse(&"word ".repeat(9_000).as_str().into(), true).0
        else {
            panic!()
        };
        assert_eq!(text.as_written().chars().count(), LONGEST);
    }

    #[test]
    fn a_reply_names_findings_at_its_beginning() {
        let rows = [
            ("@glee dismiss [F12b] it is checked", "dismiss", "F12b"),
            ("@glee dismiss F12b: it is checked", "dismiss", "F12b"),
            (
                "@glee dismiss: [F12], [f12b] it is checked",
                "dismiss",
                "F12 F12b",
            ),
            ("@glee enforce F12b", "enforce", "F12b"),
            ("@glee object [F12b] no", "object", "F12b"),
            ("@glee object [F12b]", "other", "F12b"),
            ("[F12b] The caller validates the name", "objection", "F12b"),
            (
                "[F12a], [F12b]: the caller validates it",
                "objection",
                "F12a F12b",
            ),
            ("F12b is checked by the caller", "objection", ""),
            ("It is like [F12b] in another file", "objection", ""),
            ("[F12b] fixed in the next commit", "other", "F12b"),
            ("> [F12b]\n\nThe caller validates the name", "objection", ""),
        ];
        for (body, expected, named) in rows {
            assert_eq!(kind(body), expected, "{body:?}");
            let ids = parse(&body.into(), true).1;
            let ids: Vec<String> = ids.iter().map(FindingId::to_string).collect();
            assert_eq!(ids.join(" "), named, "{body:?}");
        }
        let ReplyKind::Ruling { reason, .. } =
            parse(&"@glee dismiss [F1] because\nof this".into(), true).0
        else {
            panic!("a ruling")
        };
        assert_eq!(reason, "because\nof this");
    }
}
