//! What an agent is sent of the code beside the lines that it is asked about.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use glee_agents::AdapterKind;
use glee_model::domain::Agent;
use glee_model::domain::is_inside;
use glee_protocol::request::SourceFile;
use glee_workspace::code::anchors::Blocks;
use glee_workspace::code::names::{self, NamePlace, NamedPlaces};
use glee_workspace::diff::{blocks, delta};
use glee_workspace::root::Workspace;

type Lines = (u32, u32);

/// A name is told to be defined at no more than this number of places. With more, the spelling says too little.
const DEFINITIONS: usize = 3;

/// The uses of a name that are listed.
const USES: usize = 6;

/// A name that the change does not define is listed with its uses only if there are no more than this number.
const RARE: usize = 6;

/// The bound of the list of places, in bytes.
const LIST: usize = 3 << 10;

/// The bound of the code at these places, in bytes.
const CODE: usize = 16 << 10;

/// Whether an agent can read files of the tree: what `agents.<name>.reads` says, otherwise whether Glee knows the program.
pub(crate) fn can_read(agent: &Agent) -> bool {
    let has_tools = AdapterKind::of(agent) != Ok(AdapterKind::Address);
    agent.reads.unwrap_or(is_known(agent) && has_tools)
}

/// Whether Glee knows the program, or the agent is a model.
pub(crate) fn is_known(agent: &Agent) -> bool {
    let kind = AdapterKind::of(agent);
    match &agent.profile {
        Some(profile) => profile.known.is_some(),
        None => !matches!(kind, Ok(AdapterKind::Text | AdapterKind::Json)),
    }
}

/// What a name is to a change. Names are listed in this order, the rarest first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum NameRank {
    /// The change, or the block around it, defines the name: its uses are listed.
    Own,
    /// Changed lines contain the name: its definitions are listed, and its uses if it is rare.
    Changed,
    /// Only lines around the changed ones contain the name: its definition is listed if there is only one.
    Context,
}

/// The places at which names of a change occur, outside of the lines that are shown.
pub(crate) struct Elsewhere {
    /// The names in the order of the list, each with its places. A definition has the lines of its block.
    names: Vec<(String, Vec<(String, Lines)>)>,
}

impl Elsewhere {
    /// `shown` has the shown lines of each file that is not shown whole.
    pub(crate) fn of(
        files: &[SourceFile],
        shown: &BTreeMap<String, Vec<Lines>>,
        places: &NamedPlaces,
        workspace: &Workspace,
    ) -> Self {
        let mut changed = BTreeSet::new();
        let mut own = BTreeSet::new();
        let mut seen = BTreeSet::new();
        for file in files {
            changed.extend(names::of_change(file));
            own.extend(names::defined(file));
            seen.extend(blocks::names_shown(file));
        }
        seen.extend(changed.iter().cloned());
        let folders: BTreeSet<&str> = files.iter().map(|file| folder(&file.path)).collect();
        let mut found = Vec::new();
        for name in seen {
            let all = places.get(&name).map(Vec::as_slice).unwrap_or_default();
            let hidden = all.iter().filter(|place| match shown.get(&place.path) {
                Some(lines) => !lines
                    .iter()
                    .any(|(first, last)| (*first..=*last).contains(&place.line)),
                None => files.iter().all(|file| file.path != place.path),
            });
            let (mut definitions, mut uses): (Vec<&NamePlace>, Vec<&NamePlace>) =
                hidden.partition(|place| place.is_definition);
            if definitions.len() > DEFINITIONS {
                definitions.retain(|place| folders.contains(folder(&place.path)));
            }
            if definitions.len() > DEFINITIONS {
                definitions.clear();
            }
            let rank = match () {
                () if own.contains(&name) => NameRank::Own,
                () if changed.contains(&name) => NameRank::Changed,
                () => NameRank::Context,
            };
            if rank == NameRank::Context || rank == NameRank::Changed && uses.len() > RARE {
                uses.clear();
            }
            if rank == NameRank::Context && definitions.len() > 1 {
                definitions.clear();
            }
            uses.sort_by_key(|place| !folders.contains(folder(&place.path)));
            uses.truncate(USES);
            let mut at: Vec<(String, Lines)> = Vec::new();
            for place in &definitions {
                let text = workspace.read(&place.path).unwrap_or_default();
                let block = Blocks::of(&place.path, &text).reached(place.line);
                at.push((
                    place.path.clone(),
                    (place.line, (*block.end()).max(place.line)),
                ));
            }
            at.extend(
                uses.iter()
                    .map(|place| (place.path.clone(), (place.line, place.line))),
            );
            if !at.is_empty() {
                found.push((rank, all.len(), name, at));
            }
        }
        found.sort();
        let names = found.into_iter().map(|(_, _, name, at)| (name, at));
        Self {
            names: names.collect(),
        }
    }

    /// The list: one name a line, its places by file.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut left = LIST;
        for (name, at) in &self.names {
            let mut line = format!("{name}:");
            for of_file in at.chunk_by(|(a, _), (b, _)| a == b) {
                let mark = if line.ends_with(':') { ' ' } else { ';' };
                let _ = write!(line, "{mark}{}", if mark == ';' { " " } else { "" });
                let _ = write!(line, "{}:", of_file[0].0);
                let numbers = of_file.iter().map(|(_, (first, last))| match last > first {
                    true => format!("{first}-{last}"),
                    false => first.to_string(),
                });
                line.push_str(&numbers.collect::<Vec<_>>().join(", "));
            }
            if line.len() < left {
                left -= line.len() + 1;
                lines.push(line);
            }
        }
        lines
    }

    /// The blocks at the places, for an agent that cannot read the tree: as many as the bound allows.
    pub(crate) fn code(&self, workspace: &Workspace) -> Vec<SourceFile> {
        let mut left = CODE;
        let mut ranges: BTreeMap<&str, Vec<Lines>> = BTreeMap::new();
        for (path, place) in self.names.iter().flat_map(|(_, at)| at) {
            let text = workspace.read(path).unwrap_or_default();
            let shown = blocks::shown(path, &text, &[(place.0, place.0)]);
            let is_size = |line: &u32| text.lines().nth(*line as usize - 1).map_or(0, str::len);
            let known = ranges.get(path.as_str()).cloned().unwrap_or_default();
            let lines = shown.iter().flat_map(|(first, last)| *first..=*last);
            let more = lines.filter(|line| !covers(&known, *line));
            let size: usize = more.map(|line| is_size(&line) + 3).sum();
            if size <= left {
                left -= size;
                ranges.entry(path).or_default().extend(shown);
            }
        }
        let parts = ranges
            .into_iter()
            .filter_map(|(path, shown)| Some(cut::part(path, workspace.read(path)?, &shown)));
        parts.collect()
    }
}

fn covers(ranges: &[Lines], line: u32) -> bool {
    ranges
        .iter()
        .any(|(first, last)| (*first..=*last).contains(&line))
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Cuts the files of a question about findings to the blocks of what the findings and the two sides name.
pub(crate) mod cut {
    use glee_model::domain::{Finding, Untrusted, meanings};
    use glee_protocol::calls::defend::DefendCall;
    use glee_protocol::calls::examine::ExamineCall;
    use glee_protocol::calls::judge::JudgeCall;
    use glee_protocol::text::references::{Reference, references};

    use super::{BTreeMap, Lines, SourceFile, blocks, delta, is_inside, names};

    pub(crate) fn judge(mut call: JudgeCall) -> JudgeCall {
        let mut named = Named::default();
        for case in call.cases() {
            let dispute = &case.dispute;
            let flagged = dispute.finding.raw.file.as_deref().unwrap_or_default();
            for finding in std::iter::once(&dispute.finding).chain(&dispute.members) {
                named.finding(finding);
            }
            named.texts([&dispute.objection.text], flagged);
            named.texts(&dispute.objection.evidence, flagged);
            let rulings = dispute.rulings.iter();
            named.texts(rulings.map(|record| &record.ruling.rationale), flagged);
        }
        call.files = named.cut(call.files);
        call
    }

    pub(crate) fn examine(mut call: ExamineCall) -> ExamineCall {
        let mut named = Named::default();
        for finding in call.findings.iter().chain(&call.own) {
            named.finding(finding);
        }
        call.files = named.cut(call.files);
        call
    }

    pub(crate) fn defend(mut call: DefendCall) -> DefendCall {
        let mut named = Named::default();
        for challenged in &call.challenged {
            named.finding(&challenged.finding);
            let file = challenged.finding.raw.file.as_deref().unwrap_or_default();
            let challenges = challenged.challenges.iter();
            named.texts(challenges.map(|challenge| &challenge.said.reasoning), file);
        }
        call.files = named.cut(call.files);
        call
    }

    /// What is named of each file. A file that is named without a line or a definition is shown whole.
    #[derive(Default)]
    struct Named(BTreeMap<String, Vec<Reference>>);

    impl Named {
        fn finding(&mut self, finding: &Finding) {
            let raw = &finding.raw;
            for place in raw.locations() {
                let lines = place
                    .line
                    .map(|first| (first, place.end_line.unwrap_or(first)));
                self.reference(Reference {
                    path: place.file.clone(),
                    lines,
                    names: Vec::new(),
                });
            }
            let file = raw.file.as_deref().unwrap_or_default();
            self.texts([&raw.body], file);
            self.texts(&raw.evidence, file);
        }

        /// What texts name besides a bare path, which the finding has already said.
        fn texts<'t>(&mut self, texts: impl IntoIterator<Item = &'t Untrusted>, from: &str) {
            let named = texts.into_iter().map(Untrusted::as_written);
            for reference in named.flat_map(references) {
                for path in meanings(&reference.path, from).filter(|path| is_inside(path)) {
                    self.reference(Reference {
                        path,
                        ..reference.clone()
                    });
                }
            }
        }

        fn reference(&mut self, reference: Reference) {
            self.0
                .entry(reference.path.clone())
                .or_default()
                .push(reference);
        }

        fn cut(&self, files: Vec<SourceFile>) -> Vec<SourceFile> {
            files.into_iter().map(|file| self.cut_file(file)).collect()
        }

        fn cut_file(&self, file: SourceFile) -> SourceFile {
            let named = self
                .0
                .get(&file.path)
                .map(Vec::as_slice)
                .unwrap_or_default();
            let mut places: Vec<Lines> = Vec::new();
            for reference in named {
                match (reference.lines, reference.names.last()) {
                    (Some(lines), _) => places.push(lines),
                    (None, Some(name)) => places.extend(mentions(&file.text, name)),
                    (None, None) => {}
                }
            }
            let shown = blocks::shown(&file.path, &file.text, &places);
            if shown.is_empty() {
                return file;
            }
            SourceFile {
                diff: file.diff.clone(),
                ..part(&file.path, file.text, &shown)
            }
        }
    }

    /// The lines that define a name, or else the first one that contains it.
    fn mentions(text: &str, name: &str) -> Vec<Lines> {
        let lines = || text.lines().zip(1_u32..);
        let mut defined = lines().filter(|(line, _)| names::defines(line, name));
        let first = defined
            .next()
            .or_else(|| lines().find(|(line, _)| line.contains(name)));
        first.into_iter().map(|(_, at)| (at, at)).collect()
    }

    /// A file of which only the lines in `shown` are not empty.
    pub(crate) fn part(path: &str, text: String, shown: &[Lines]) -> SourceFile {
        delta::part(&SourceFile::whole(path, text), &[], shown)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use glee_workspace::diff::unified;

    /// What is said of a change in `path`, beside a file whose cause stands at the line with `CAUSE`.
    fn said(path: &str, before: &str, after: &str, other: &str, text: &str) -> (String, String) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [(path, after), (other, text)] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let workspace = Workspace::discover(folder.path()).unwrap();
        let found = unified::between(
            (Some(path.as_bytes()), before),
            (Some(path.as_bytes()), after),
        );
        let file = SourceFile {
            path: path.to_owned(),
            text: after.to_owned(),
            changed: found.changed,
            diff: Some(found.text),
        };
        let shown = BTreeMap::from([(path.to_owned(), blocks::shown(path, after, &file.changed))]);
        let places = workspace.named_places(&names::of_change(&file)).unwrap();
        let elsewhere = Elsewhere::of(&[file], &shown, &places, &workspace);
        let code = elsewhere.code(&workspace);
        let code = code.iter().map(|file| file.text.as_str()).collect();
        (elsewhere.lines().join("\n"), code)
    }

    #[test]
    fn the_place_of_a_cause_outside_of_the_changed_block_is_named() {
        let rows = [
            // A function that the change calls.
            (
                "a.py",
                "def f(x):\n    return x\n",
                "def f(x):\n    return load(x).name\n",
                "b.py",
                "import os\n\ndef load(x):\n    return None  # CAUSE\n",
            ),
            (
                "src/a.rs",
                "fn f() {}\n",
                "fn f() {\n    parse_port(\"x\").unwrap();\n}\n",
                "src/b.rs",
                "pub fn parse_port(text: &str) -> Option<u16> {\n    None // CAUSE\n}\n",
            ),
            (
                "a.go",
                "package a\n\nfunc F() {\n}\n",
                "package a\n\nfunc F() {\n\tOpen(nil)\n}\n",
                "b.go",
                "package a\n\nfunc Open(p *int) int {\n\treturn *p // CAUSE\n}\n",
            ),
            (
                "a.ts",
                "function f() {}\n",
                "function f() {\n  return find(1)!.id;\n}\n",
                "lib/b.ts",
                "export function find(id: number) {\n  return undefined; // CAUSE\n}\n",
            ),
            (
                "a.js",
                "function f() {}\n",
                "function f() {\n  return clean(1);\n}\n",
                "b.js",
                "export const clean = (id) => id; // CAUSE\n",
            ),
            (
                "A.java",
                "class A {\n  void f() {\n  }\n}\n",
                "class A {\n  void f() {\n    lookup(1).run();\n  }\n}\n",
                "B.java",
                "class B {\n  static Runnable lookup(int id) {\n    return null; // CAUSE\n  }\n}\n",
            ),
            (
                "a.c",
                "int f(void) { return 0; }\n",
                "int f(void) { return fetch_size(0); }\n",
                "b.c",
                "int fetch_size(int n) {\n  return -1; // CAUSE\n}\n",
            ),
            // A method, a constant, a type, a macro and a setting that the change uses.
            (
                "a.py",
                "def f(s):\n    return s\n",
                "def f(s):\n    return s.fetch()\n",
                "b.py",
                "class Store:\n    def fetch(self):\n        raise KeyError  # CAUSE\n",
            ),
            (
                "a.go",
                "package a\n\nfunc F() {\n}\n",
                "package a\n\nfunc F() {\n\ts.Close()\n}\n",
                "b.go",
                "package a\n\nfunc (s *Store) Close() {\n\tpanic(1) // CAUSE\n}\n",
            ),
            (
                "a.py",
                "def f():\n    return 1\n",
                "def f():\n    return MAX_SIZE * 2\n",
                "b.py",
                "MAX_SIZE = 0  # CAUSE\n",
            ),
            (
                "a.rs",
                "fn f() {}\n",
                "fn f() {\n    let a = LIMIT - 1;\n}\n",
                "b.rs",
                "pub const LIMIT: usize = 0; // CAUSE\n",
            ),
            (
                "a.rs",
                "fn f() {}\n",
                "fn f() {\n    let a: Port = x;\n}\n",
                "b.rs",
                "pub struct Port(u8); // CAUSE\n",
            ),
            (
                "a.c",
                "int f(void) { return 0; }\n",
                "int f(void) { return BUFFER_SIZE; }\n",
                "b.h",
                "#define BUFFER_SIZE 4 // CAUSE\n",
            ),
            (
                "a.py",
                "def f(c):\n    return 1\n",
                "def f(c):\n    return c[\"retry_limit\"]\n",
                "conf.yaml",
                "retry_limit: none # CAUSE\n",
            ),
            (
                "a.js",
                "function f(c) {}\n",
                "function f(c) {\n  return c.retryLimit;\n}\n",
                "conf.json",
                "{\n  \"retryLimit\": \"CAUSE\"\n}\n",
            ),
            // A caller of what the change changes.
            (
                "a.py",
                "def size(x):\n    return 0\n",
                "def size(x):\n    return None\n",
                "b.py",
                "import a\n\nprint(a.size(1) + 1)  # CAUSE\n",
            ),
            (
                "a.rs",
                "pub fn area(a: u8) -> u8 {\n    a\n}\n",
                "pub fn area(a: u8) -> u8 {\n    a + 1\n}\n",
                "b.rs",
                "fn g() {\n    area(255); // CAUSE\n}\n",
            ),
            (
                "a.go",
                "package a\n\nfunc Area(a int) int {\n\treturn a\n}\n",
                "package a\n\nfunc Area(a int) int {\n\treturn -a\n}\n",
                "b.go",
                "package a\n\nvar x = make([]int, Area(1)) // CAUSE\n",
            ),
            (
                "a.ts",
                "export function area() {\n  return 1;\n}\n",
                "export function area() {\n  return null;\n}\n",
                "b.ts",
                "const a = area() + 1; // CAUSE\n",
            ),
            (
                "A.java",
                "class A {\n  int area() {\n    return 1;\n  }\n}\n",
                "class A {\n  int area() {\n    return -1;\n  }\n}\n",
                "B.java",
                "class B {\n  int[] b = new int[new A().area()]; // CAUSE\n}\n",
            ),
            // A use of a removed or changed name.
            (
                "a.py",
                "LIMIT = 1\nOTHER = 2\n",
                "OTHER = 2\n",
                "b.py",
                "import a\nprint(a.LIMIT)  # CAUSE\n",
            ),
            (
                "a.ts",
                "export const limit = 1;\n",
                "export const limit = 0;\n",
                "b.ts",
                "const b = 1 / limit; // CAUSE\n",
            ),
            (
                "a.rs",
                "pub enum Kind {\n    One,\n}\n",
                "pub enum Kind {\n    One,\n    Two,\n}\n",
                "b.rs",
                "fn g(a: Kind) {\n    match a { Kind::One => {} } // CAUSE\n}\n",
            ),
        ];
        for (path, before, after, other, text) in rows {
            let at = text
                .lines()
                .position(|line| line.contains("CAUSE"))
                .unwrap() as u32
                + 1;
            let (list, code) = said(path, before, after, other, text);
            let numbers = list.split_once(&format!("{other}:")).map(|(_, rest)| rest);
            let numbers = numbers
                .unwrap_or_default()
                .split(['\n', ';'])
                .next()
                .unwrap_or_default();
            let is_named = numbers.split(", ").any(|range| {
                let (first, last) = range
                    .trim()
                    .split_once('-')
                    .unwrap_or((range.trim(), range.trim()));
                let number = |text: &str| text.parse::<u32>().unwrap_or_default();
                (number(first)..=number(last)).contains(&at)
            });
            assert!(is_named, "{after}{text}{list}");
            assert!(code.contains("CAUSE"), "{after}{text}{code}");
        }
    }

    #[test]
    fn a_name_that_stands_everywhere_is_not_listed() {
        let text: String = (0..20).map(|n| format!("a{n} = value(data)\n")).collect();
        let (list, code) = said("a.py", "x = 1\n", "y = data\n", "b.py", &text);
        assert_eq!((list.as_str(), code.as_str()), ("", ""));
    }
}
