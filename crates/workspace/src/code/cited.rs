//! The code that a ruling cites. The code is recorded when the ruling is given. A later run applies the ruling only
//! if the code still stands.

use crate::code::anchors::Blocks;
use crate::diff::unified;
use crate::root::Workspace;
use glee_model::domain::{
    CitedChange, CitedCode, Ruling, RulingRecord, RulingWord, Untrusted, is_inside, meanings,
};
use glee_protocol::secrets;
use glee_protocol::text::references::{self, Reference, references};

/// A ruling keeps at most this number of pieces of cited code.
const MOST: usize = 10;

/// A citation of more blocks than this number cites the whole file.
const BLOCKS: usize = 4;

/// The maximum number of characters of the text of a piece of cited code.
const TEXT: usize = 250;

/// Returns the text of the file at a path.
pub type ReadText<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Returns what a ruling cites. A ruling that dismisses a finding relies on the evidence of the objection, too.
pub fn relied_on(record: &RulingRecord, evidence: &[Untrusted]) -> Vec<Reference> {
    let word = record.ruling.ruling;
    if word == RulingWord::Escalate {
        return Vec::new();
    }
    let votes = record.votes.iter().filter_map(|vote| vote.ruling.as_ref());
    let mut cited = Vec::new();
    for Ruling {
        citations,
        rationale,
        ..
    } in votes
        .chain([&record.ruling])
        .filter(|ruling| ruling.ruling == word)
    {
        let citations = citations.iter().map(Untrusted::as_written);
        cited.extend(citations.filter_map(references::reference));
        cited.extend(in_text(rationale));
    }
    if word == RulingWord::Dismiss {
        cited.extend(evidence.iter().flat_map(in_text));
    }
    cited
}

/// The lines and definitions that a text cites. A mere name of a file is no citation.
pub(crate) fn in_text(text: &Untrusted) -> impl Iterator<Item = Reference> {
    references(text.as_written()).filter(|cited| cited.lines.is_some() || !cited.names.is_empty())
}

/// Records cited code. A path can be relative to any folder that encloses the file `from`. Citations of code that
/// does not exist are left out.
pub fn record(
    cited: impl IntoIterator<Item = Reference>,
    from: &str,
    read: ReadText<'_>,
) -> Vec<CitedCode> {
    let mut recorded: Vec<CitedCode> = Vec::new();
    for reference in cited {
        if recorded.len() >= MOST {
            break;
        }
        let found = meanings(&reference.path, from)
            .filter(|path| is_inside(path))
            .find_map(|path| Some((read(&path)?, path)));
        let Some((text, path)) = found else { continue };
        for piece in pieces(&reference, &path, &text) {
            if !recorded.contains(&piece) {
                recorded.push(piece);
            }
        }
    }
    recorded.truncate(MOST);
    recorded
}

/// Records the code that a person's reason cites.
pub fn in_reason(reason: &Untrusted, from: &str, workspace: &Workspace) -> Vec<CitedCode> {
    record(in_text(reason), from, &|path| workspace.read(path))
}

/// Divides a citation into one piece for each block that it touches.
fn pieces(cited: &Reference, path: &str, text: &str) -> Vec<CitedCode> {
    let blocks = Blocks::of(path, text);
    let named = cited.names.last().and_then(|name| {
        let mut lines = blocks.lines().iter();
        let line = lines.position(|line| mentions(line, name))?;
        u32::try_from(line + 1).ok()
    });
    let Some((first, last)) = cited.lines.or(named.map(|line| (line, line))) else {
        if !cited.names.is_empty() {
            return Vec::new();
        }
        return vec![CitedCode {
            file: path.to_owned(),
            line: None,
            end_line: None,
            text: Untrusted::default(),
            block: String::new(),
        }];
    };
    if !cited.is_in(text) {
        return Vec::new();
    }
    let mut pieces = Vec::new();
    let mut line = first;
    while line <= last {
        if blocks.lines()[line as usize - 1].trim().is_empty() {
            line += 1;
            continue;
        }
        if pieces.len() == BLOCKS {
            pieces = vec![(first, last, blocks.whole())];
            break;
        }
        let block = blocks.reached(line);
        let end = last.min(*block.end());
        pieces.push((line, end, blocks.hash(&block)));
        line = end + 1;
    }
    let clean = secrets::redact(text);
    let cited = pieces.into_iter().map(|(first, last, block)| {
        let lines = clean.lines().skip(first as usize - 1);
        let shown = folded(lines.take((last - first) as usize + 1));
        CitedCode {
            file: path.to_owned(),
            line: Some(first),
            end_line: (last > first).then_some(last),
            text: Untrusted::from(shown).first(TEXT),
            block,
        }
    });
    cited.collect()
}

/// Whether a line contains a name, which is an identifier or the title of a test.
fn mentions(line: &str, name: &str) -> bool {
    let is_identifier = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !is_identifier {
        return line.contains(name);
    }
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| word == name)
}

/// Records the code again as it is in `now`, if the cited lines of `then` are unchanged. Use this function if the
/// coder changed the file before the ruling.
pub fn follow(cited: CitedCode, then: &str, now: &str) -> CitedCode {
    let Some(line) = cited.line else { return cited };
    let moved = unified::line_now(&unified::lines(then, now), line);
    let length = cited.end_line.map_or(0, |end| end - line);
    let again = Reference {
        path: cited.file.clone(),
        lines: Some((moved, moved + length)),
        names: Vec::new(),
    };
    match pieces(&again, &cited.file, now).as_slice() {
        [piece] if piece.text == cited.text => piece.clone(),
        _ => cited,
    }
}

/// What happened to cited code. Returns `None` if the code stands: its block is still in the file, or has moved to
/// the file `here`, where the finding is.
pub fn change(cited: &CitedCode, here: &str, read: ReadText<'_>) -> Option<CitedChange> {
    let text = read(&cited.file);
    if text
        .as_deref()
        .is_some_and(|text| has_block(cited, &cited.file, text))
    {
        return None;
    }
    let is_moved =
        here != cited.file && read(here).is_some_and(|text| has_block(cited, here, &text));
    if is_moved && !cited.block.is_empty() {
        return None;
    }
    let is_there = text.is_some_and(|text| {
        folded(secrets::redact(&text).lines()).contains(cited.text.as_written())
    });
    Some(if is_there {
        CitedChange::Changed
    } else {
        CitedChange::Gone
    })
}

fn has_block(cited: &CitedCode, path: &str, text: &str) -> bool {
    cited.block.is_empty() || Blocks::of(path, text).find(&cited.block).is_some()
}

/// Joins lines to one line in which a sequence of white space is one space.
fn folded<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use glee_model::domain::{Grounds, Location, Ruler};

    const APP: &str = "import os\nimport auth\n\n\n@auth.admin\ndef gone(db):\n    check(db)\n    db.delete()\n\n\ndef b():\n    return 1\n\n\nclass C:\n    @auth.admin\n    def m(self):\n        return 2\n";
    const AUTH: &str = "fn admin() {\n    check();\n}\n\n// The caller checks.\nfn other() {}\n";

    fn tree(path: &str) -> Option<String> {
        match path {
            "src/app.py" => Some(APP.to_owned()),
            "src/auth.rs" => Some(AUTH.to_owned()),
            _ => None,
        }
    }

    fn recorded(text: &str) -> Vec<CitedCode> {
        record(in_text(&text.into()), "src/app.py", &tree)
    }

    fn places(text: &str) -> Vec<String> {
        let places = recorded(text).into_iter();
        places.map(|code| code.location().to_string()).collect()
    }

    #[test]
    fn a_citation_is_recorded_block_by_block_and_only_if_it_exists() {
        let rows: [(&str, &[&str]); 12] = [
            ("see src/app.py:7", &["src/app.py:7"]),
            (
                "app.py:5-8, and app.py:7 again",
                &["src/app.py:5-8", "src/app.py:7"],
            ),
            (
                "`auth.rs:2` and app.py:1-2",
                &["src/auth.rs:2", "src/app.py:1", "src/app.py:2"],
            ),
            ("app.py:6-12", &["src/app.py:6-8", "src/app.py:11-12"]),
            ("app.py:1-18 is all of it", &["src/app.py:1-18"]),
            ("the test app.py::m", &["src/app.py:17"]),
            ("app.py::nowhere, app.py:19, app.py:0, gone.py:1", &[]),
            ("app.py:1-4294967295", &[]),
            ("only blank lines: app.py:3-4", &[]),
            ("../src/app.py:1 /etc/passwd:1 .git/config.py:1", &[]),
            ("app.py without a line", &[]),
            ("nothing", &[]),
        ];
        for (text, expected) in rows {
            assert_eq!(places(text), expected, "{text}");
        }
        let many: String = (1..=18).map(|line| format!("app.py:{line} ")).collect();
        assert_eq!(recorded(&many).len(), MOST);
    }

    #[test]
    fn a_dismissal_relies_on_the_evidence_of_the_objection_and_an_escalation_on_nothing() {
        let evidence = ["src/auth.rs:2".into(), "it is so".into()];
        let relied = |word| {
            let ruling = Ruling {
                rationale: "app.py:7 checks, see README.md".into(),
                grounds: Some(Grounds::AlreadyHandled),
                citations: vec!["app.py:5".into(), "auth.rs".into()],
                ..Ruling::bare(word)
            };
            let record = RulingRecord::new(ruling, Ruler::Policy);
            let cited = relied_on(&record, &evidence).into_iter();
            cited.map(|cited| cited.to_string()).collect::<Vec<_>>()
        };
        let cited = ["app.py:5", "auth.rs", "app.py:7"];
        assert_eq!(relied(RulingWord::Enforce), cited);
        assert_eq!(
            relied(RulingWord::Dismiss),
            [cited.as_slice(), &["src/auth.rs:2"]].concat()
        );
        assert_eq!(relied(RulingWord::Escalate), [""; 0]);
    }

    /// Lines of the file that a change of a line affects: those with the same letter.
    fn same_block(line: usize) -> char {
        b"ab..cccc..ee..fggg"[line - 1].into()
    }

    #[test]
    fn cited_code_stands_until_its_block_changes() {
        let lines: Vec<&str> = APP.lines().collect();
        let cites: Vec<usize> = (1..=lines.len())
            .filter(|line| !lines[line - 1].is_empty())
            .collect();
        for cited in &cites {
            let known = &recorded(&format!("app.py:{cited}"))[0];
            let change_in = |text: String| {
                change(known, "src/app.py", &|path| {
                    (path == "src/app.py").then(|| text.clone())
                })
            };
            for changed in &cites {
                let mut now: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
                now[changed - 1].push_str("  # changed");
                let is_in_class = same_block(*cited) == 'f' && *changed >= 15;
                let is_hit = same_block(*cited) == same_block(*changed) || is_in_class;
                if cfg!(feature = "astgrep") {
                    let found = change_in(now.join("\n"));
                    assert_eq!(
                        found.is_some(),
                        is_hit,
                        "cited {cited}, changed {changed}: {found:?}"
                    );
                }
            }
            assert_eq!(
                change_in(APP.replace('\n', "\r\n")),
                None,
                "{cited}: other line ends"
            );
            assert_eq!(
                change_in(format!("\"\"\"x\"\"\"\n\n{APP}\n\nz = 1\n")),
                None,
                "{cited}: shifted"
            );
            assert_eq!(
                change_in("z = 1\n".to_owned()),
                Some(CitedChange::Gone),
                "{cited}"
            );
            assert_eq!(change_in(String::new()), Some(CitedChange::Gone), "{cited}");
        }
    }

    #[test]
    fn cited_code_moves_with_the_file_of_the_finding() {
        let [check] = &recorded("app.py:7")[..] else {
            panic!("one piece")
        };
        let moved = |path: &str| (path == "lib/app.py").then(|| APP.to_owned());
        assert_eq!(change(check, "lib/app.py", &moved), None);
        assert_eq!(change(check, "lib/b.py", &moved), Some(CitedChange::Gone));
        let edited = |path: &str| (path == "src/app.py").then(|| APP.replace("delete", "remove"));
        assert_eq!(
            change(check, "src/app.py", &edited),
            Some(CitedChange::Changed)
        );
        let file = CitedCode {
            line: None,
            text: Untrusted::default(),
            block: String::new(),
            ..check.clone()
        };
        assert_eq!(
            change(&file, "src/app.py", &edited),
            None,
            "the file exists"
        );
        assert_eq!(change(&file, "lib/app.py", &moved), Some(CitedChange::Gone));
    }

    #[test]
    fn the_coders_changes_before_the_ruling_are_followed() {
        let [check] = &recorded("app.py:7")[..] else {
            panic!("one piece")
        };
        let now = APP.replace("import os\n", "").replace("delete", "remove");
        let followed = follow(check.clone(), APP, &now);
        assert_eq!(followed.location(), Location::line("src/app.py", 6));
        assert_eq!(
            change(&followed, "src/app.py", &|path: &str| (path
                == "src/app.py")
                .then(|| now.clone())),
            None
        );
        let gone = APP.replace("check(db)", "pass");
        assert_eq!(
            follow(check.clone(), APP, &gone),
            *check,
            "the line itself was changed"
        );
    }

    #[test]
    fn a_secret_in_a_cited_line_is_not_kept() {
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
        let text = format!("token = '{secret}'\n");
        let cited = record(in_text(&"a.py:1".into()), "a.py", &|_| Some(text.clone()));
        assert!(
            cited[0].text.as_written().starts_with("token = '[secret:"),
            "{cited:?}"
        );
        assert_eq!(change(&cited[0], "a.py", &|_| Some(text.clone())), None);
        let other = text.replace("ghp_0", "ghp_1");
        assert!(change(&cited[0], "a.py", &|_| Some(other.clone())).is_some());
    }
}
