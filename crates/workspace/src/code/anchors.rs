//! Anchors findings to blocks of code. A later run recognises a finding if the block of the finding is unchanged.
//!
//! The block of a line is the innermost function or method around the line. Outside of functions, the block is a
//! class member or a top-level item. A block begins with its decorators, attributes and doc comments. An anonymous
//! function that is passed to a call begins with the arguments before it, because these can be its guard. If Glee
//! has no grammar for the language, the block is a paragraph of lines. The hash of a block ignores line breaks,
//! indentation and code outside the block.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use crate::code::grammar::{self, SyntaxBlock};
use crate::select::filter;
use glee_model::domain::{Anchor, Ground, Location, RawFinding};
use glee_model::rules::consensus::similarity::identity;
use glee_model::rules::review::ground;

const NO_CATEGORY: &str = "bug";

/// A sequence of lines that are not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Paragraph {
    lines: RangeInclusive<u32>,
    /// The indentation of the paragraph's first line, in bytes.
    first: usize,
    /// The smallest indentation of all lines in the paragraph, in bytes.
    outermost: usize,
}

#[derive(Debug, PartialEq, Eq)]
struct Index {
    known: Vec<SyntaxBlock>,
    /// For each line, the number of the innermost block around the line, or 0 outside of blocks. The block with
    /// the number `n` is `known[n - 1]`.
    at: Vec<u32>,
    paragraphs: Vec<Paragraph>,
    /// The lines of each block, by the hash of the block.
    hashes: OnceLock<HashMap<String, RangeInclusive<u32>>>,
}

impl Index {
    fn from(mut known: Vec<SyntaxBlock>, lines: &[&str]) -> Self {
        known.sort_by_key(|block| {
            (
                block.reach.end() - block.reach.start(),
                *block.reach.start(),
            )
        });
        let mut at = vec![0; lines.len().max(1)];
        for (number, block) in (1..).zip(&known) {
            let first = *block.reach.start() as usize - 1;
            let end = *block.reach.end() as usize;
            let reached = at.iter_mut().take(end).skip(first);
            reached
                .filter(|line| **line == 0)
                .for_each(|line| *line = number);
        }
        Self {
            known,
            at,
            paragraphs: paragraphs(lines),
            hashes: OnceLock::new(),
        }
    }

    fn size(&self) -> usize {
        60 * self.known.len() + self.at.len() + 30 * self.paragraphs.len()
    }
}

/// Caches the block indexes of recent texts, so that Glee usually parses a text only once.
mod cache {
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex, PoisonError};

    use super::Index;

    /// The maximum total size of all cached indexes, in units of four bytes.
    const MOST: usize = 1 << 20;

    type Key = (String, blake3::Hash);

    static CACHE: Mutex<VecDeque<(Key, Arc<Index>)>> = Mutex::new(VecDeque::new());

    pub(super) fn index(path: &str, text: &str, make: impl FnOnce() -> Index) -> Arc<Index> {
        let lock = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = blake3::hash(text.as_bytes());
        let found = lock()
            .iter()
            .find(|((of, is), _)| *is == hash && of == path)
            .map(|(_, index)| Arc::clone(index));
        found.unwrap_or_else(|| {
            let index = Arc::new(make());
            let mut cache = lock();
            cache.push_back(((path.to_owned(), hash), Arc::clone(&index)));
            let mut size: usize = cache.iter().map(|(_, index)| index.size()).sum();
            while size > MOST || cache.len() > 64 {
                let Some((_, oldest)) = cache.pop_front() else {
                    break;
                };
                size -= oldest.size();
            }
            index
        })
    }
}

#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    path: &'a str,
    lines: Vec<&'a str>,
    ground: Ground,
    index: Arc<Index>,
    identifiers: RefCell<HashMap<(u32, u32), HashSet<&'a str>>>,
}

impl<'a> Blocks<'a> {
    /// Divides a file into blocks. The path determines the programming language.
    pub fn of(path: &'a str, text: &'a str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let index = cache::index(path, text, || {
            Index::from(grammar::blocks(path, text), &lines)
        });
        Self {
            path,
            lines,
            ground: ground_of(path, text),
            index,
            identifiers: RefCell::default(),
        }
    }

    pub fn lines(&self) -> &[&'a str] {
        &self.lines
    }

    /// Whether blocks were found by the syntax of the file's language.
    pub fn has_grammar(&self) -> bool {
        !self.index.known.is_empty()
    }

    /// What the code of the file is for.
    pub fn ground(&self) -> Ground {
        self.ground
    }

    fn innermost(&self, line: u32) -> Option<&SyntaxBlock> {
        let number = *self.index.at.get((line as usize).checked_sub(1)?)?;
        self.index.known.get((number as usize).checked_sub(1)?)
    }

    /// Returns the lines (1-based) of the block around a line. The block around a comment above a block is that
    /// block. If the line is outside the file, uses the nearest line of the file.
    pub fn enclosing(&self, line: u32) -> RangeInclusive<u32> {
        let line = line.clamp(1, self.last());
        if let Some(block) = self.innermost(line) {
            return block.lines.clone();
        }
        let found = self
            .index
            .paragraphs
            .partition_point(|paragraph| *paragraph.lines.end() < line);
        match self.index.paragraphs.get(found) {
            Some(paragraph) if paragraph.lines.contains(&line) => self.around(found),
            _ => line..=line,
        }
    }

    /// The lines of the block around a line. If the line is a comment above a block, the result begins with the
    /// comments.
    pub fn reached(&self, line: u32) -> RangeInclusive<u32> {
        match self.innermost(line) {
            Some(block) if !block.lines.contains(&line) => block.reach.clone(),
            _ => self.enclosing(line),
        }
    }

    /// Anchors a finding to the block around its line. A finding without a line is anchored to the whole file.
    /// If the line is a comment above a block, the anchor covers the comments and the block.
    pub fn anchor(&self, finding: &RawFinding) -> Anchor {
        let block = match finding.line {
            Some(line) => self.reached(line),
            None => 1..=self.last(),
        };
        let title = finding.title.as_written();
        Anchor {
            file: self.path.to_owned(),
            block: self.hash(&block),
            category: category(finding.rule.as_deref(), finding.category.as_deref()),
            text: words(title),
            offset: finding.line.map(|line| line.saturating_sub(*block.start())),
            rule: finding.rule.as_ref().map(|rule| rule.to_lowercase()),
            names: self.names(title, &block),
            cwe: finding.cwe,
            ground: self.ground,
        }
    }

    /// Anchors a further place of a finding. Returns `None` if the line of the place does not exist.
    pub fn anchor_at(&self, finding: &RawFinding, place: &Location) -> Option<Anchor> {
        let exists = place.line.is_none_or(|line| line <= self.last());
        exists.then(|| {
            self.anchor(&RawFinding {
                line: place.line,
                end_line: place.end_line,
                ..finding.clone()
            })
        })
    }

    /// Returns the lines of an anchor's block in this text, or `None` if the text does not contain the block.
    pub fn place(&self, anchor: &Anchor) -> Option<RangeInclusive<u32>> {
        self.find(&anchor.block)
    }

    /// Returns the lines of the block with this hash.
    pub fn find(&self, block: &str) -> Option<RangeInclusive<u32>> {
        self.all().get(block).cloned()
    }

    /// The hashes of all blocks.
    pub fn hashes(&self) -> impl Iterator<Item = &String> {
        self.all().keys()
    }

    fn all(&self) -> &HashMap<String, RangeInclusive<u32>> {
        self.index.hashes.get_or_init(|| {
            let whole = std::iter::once(1..=self.last());
            let known = self
                .index
                .known
                .iter()
                .flat_map(|block| [block.lines.clone(), block.reach.clone()]);
            let rest = (0..self.index.paragraphs.len()).map(|index| self.around(index));
            let mut all = HashMap::new();
            let mut hashed = HashSet::new();
            for block in whole.chain(known).chain(rest) {
                if hashed.insert(block.clone()) {
                    all.entry(self.hash(&block)).or_insert(block);
                }
            }
            all
        })
    }

    /// The hash of the whole file as one block.
    pub fn whole(&self) -> String {
        self.hash(&(1..=self.last()))
    }

    fn last(&self) -> u32 {
        u32::try_from(self.lines.len()).unwrap_or(u32::MAX).max(1)
    }

    /// Returns the identifiers of a block that occur in a text, sorted.
    pub fn names(&self, title: &str, block: &RangeInclusive<u32>) -> Vec<String> {
        let key = (*block.start(), *block.end());
        let mut known = self.identifiers.borrow_mut();
        let known = known.entry(key).or_insert_with(|| {
            self.slice(block)
                .iter()
                .flat_map(|line| identity::identifiers(line))
                .collect()
        });
        identity::names_among(title, |word| known.contains(word))
    }

    fn slice(&self, block: &RangeInclusive<u32>) -> &[&'a str] {
        let first = *block.start() as usize - 1;
        let last = *block.end() as usize;
        self.lines
            .get(first..last.min(self.lines.len()))
            .unwrap_or_default()
    }

    pub fn text(&self, block: &RangeInclusive<u32>) -> String {
        self.slice(block)
            .iter()
            .flat_map(|line| [*line, "\n"])
            .collect()
    }

    /// The BLAKE3 hash (hex) of a block. A sequence of white space counts as one space.
    pub fn hash(&self, block: &RangeInclusive<u32>) -> String {
        let mut hasher = blake3::Hasher::new();
        for word in self
            .slice(block)
            .iter()
            .flat_map(|line| line.split_whitespace())
        {
            hasher.update(word.as_bytes()).update(b" ");
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Returns the block that contains `paragraphs[index]`. Let `n` be the smallest indentation of a line in
    /// `paragraphs[index]`. A backward search from `paragraphs[index]` finds the start of the block: a paragraph
    /// whose first line is indented by at most `n`. The block ends before the next paragraph that is not indented
    /// more deeply than the block's first line.
    fn around(&self, index: usize) -> RangeInclusive<u32> {
        let paragraphs = &self.index.paragraphs;
        let outermost = paragraphs[index].outermost;
        let top = (0..=index)
            .rev()
            .find(|above| paragraphs[*above].first <= outermost)
            .unwrap_or(index);
        let depth = paragraphs[top].first;
        let deeper = paragraphs[index + 1..]
            .iter()
            .take_while(|below| below.first > depth)
            .count();
        *paragraphs[top].lines.start()..=*paragraphs[index + deeper].lines.end()
    }
}

/// Decides by the path and the text of a file what the code of the file is for.
pub fn ground_of(path: &str, text: &str) -> Ground {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_generated = filter::looks_generated(path, text)
        || [".gen.", ".generated.", ".pb.", "_pb2."]
            .iter()
            .any(|part| name.contains(part));
    if is_generated {
        return Ground::Generated;
    }
    match ground::of_path(path) {
        // In Go, code that only tests use imports the package `testing`, also outside of `_test.go`.
        Ground::Product if path.ends_with(".go") && text.contains("\n\t\"testing\"\n") => {
            Ground::Test
        }
        ground => ground,
    }
}

/// Returns the category of an anchor, in lower case. The finding's rule takes precedence over the reviewer's
/// category. The default is `bug`.
pub fn category(rule: Option<&str>, category: Option<&str>) -> String {
    rule.or(category).unwrap_or(NO_CATEGORY).to_lowercase()
}

fn paragraphs(lines: &[&str]) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    for (number, line) in (1_u32..).zip(lines) {
        let text = line.trim_start();
        if text.is_empty() {
            continue;
        }
        let depth = line.len() - text.len();
        match paragraphs.last_mut() {
            Some(last) if *last.lines.end() + 1 == number => {
                last.lines = *last.lines.start()..=number;
                last.outermost = last.outermost.min(depth);
            }
            _ => paragraphs.push(Paragraph {
                lines: number..=number,
                first: depth,
                outermost: depth,
            }),
        }
    }
    paragraphs
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    pub file: String,
    /// The number of the first line of `text` (1-based).
    pub first_line: u32,
    pub text: String,
    /// The first and the last line of the finding (1-based). If the finding extends beyond the end of the file,
    /// the second number is the last line of the file.
    pub lines: (u32, u32),
}

/// Returns the lines from `line` to `end_line`, and some lines before and after this range. The maximum number of
/// lines on each side is `around`. Returns `None` if the line number `line` does not exist in `text`.
pub fn excerpt(
    file: &str,
    text: &str,
    line: u32,
    end_line: Option<u32>,
    around: u32,
) -> Option<Excerpt> {
    let wanted = end_line.unwrap_or(line).max(line).saturating_add(around);
    let first_line = line.saturating_sub(around).max(1);
    // `last` is the number of the last line that was read. `start` and `end` are the byte offsets of the excerpt.
    let mut last = 0;
    let mut start = 0;
    let mut end = 0;
    for whole in text.split_inclusive('\n').take(wanted as usize) {
        last += 1;
        if last == first_line {
            start = end;
        }
        end += whole.len();
    }
    if line == 0 || line > last {
        return None;
    }
    let lines = (line, end_line.unwrap_or(line).clamp(line, last));
    Some(Excerpt {
        file: file.to_owned(),
        first_line,
        text: text[start..end].to_owned(),
        lines,
    })
}

/// The words of a title in lower case, separated by single spaces.
pub fn words(title: &str) -> String {
    let words = title
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use glee_model::domain::{Severity, Tag};

    use super::*;

    fn enclosing(path: &str, text: &str, line: u32) -> RangeInclusive<u32> {
        Blocks::of(path, text).enclosing(line)
    }

    fn anchor(finding: &RawFinding, path: &str, text: &str) -> Anchor {
        Blocks::of(path, text).anchor(finding)
    }

    fn finding(title: &str, line: Option<u32>) -> RawFinding {
        RawFinding {
            severity: Severity::known(Tag::Must),
            title: title.into(),
            body: "".into(),
            file: None,
            line,
            ..RawFinding::default()
        }
    }

    #[cfg(feature = "astgrep")]
    mod grammars {
        use super::*;

        /// The block around each line as `first-last`.
        fn blocks(path: &str, text: &str) -> Vec<String> {
            let blocks = Blocks::of(path, text);
            (1..=u32::try_from(text.lines().count()).unwrap_or(1))
                .map(|line| {
                    let block = blocks.enclosing(line);
                    format!("{}-{}", block.start(), block.end())
                })
                .collect()
        }

        #[test]
        fn rust() {
            let text = "use a;\n\
                /// Says.\n#[inline]\nfn f() {\n    let g = || {\n        1\n    };\n}\n\
                struct S {\n    a: u8,\n}\n\
                impl S {\n    fn m(&self) {\n    }\n    const N: u8 = 1;\n}\n\
                mod t {\n    fn n() {}\n}\n";
            let expected = [
                "1-1", "2-8", "2-8", "2-8", "2-8", "2-8", "2-8", "2-8", "9-11", "10-10", "9-11",
                "12-16", "13-14", "13-14", "15-15", "12-16", "17-19", "18-18", "17-19",
            ];
            assert_eq!(blocks("a.rs", text), expected);
        }

        #[test]
        fn python() {
            let text = "import a\n\n@wrap\ndef f():\n    if x:\n        y\n\nclass C:\n    z = 1\n    # why\n    def m(self):\n        pass\n\nprint(1)\n";
            let expected = [
                "1-1", "2-2", "3-6", "3-6", "3-6", "3-6", "7-7", "8-12", "9-9", "11-12", "11-12",
                "11-12", "13-13", "14-14",
            ];
            assert_eq!(blocks("a.py", text), expected);
        }

        #[test]
        fn javascript_and_typescript() {
            let text = "const a = 1;\nexport class C {\n  x = 1;\n  m() {\n    return 1;\n  }\n}\n\
                it('does', () => {\n  a();\n  list.map((x) => {\n    return x;\n  });\n  it('more', () => {\n    b();\n    c();\n  });\n});\n";
            let expected = [
                "1-1", "2-7", "3-3", "4-6", "4-6", "4-6", "2-7", "8-17", "8-17", "8-17", "8-17",
                "8-17", "13-16", "13-16", "13-16", "13-16", "8-17",
            ];
            for path in ["a.js", "a.ts", "a.tsx"] {
                assert_eq!(blocks(path, text), expected, "{path}");
            }
        }

        #[test]
        fn go_and_java() {
            let go = "package a\n\n// F does.\nfunc F() {\n\tx()\n}\n\nfunc (s *S) M() {\n}\n";
            assert_eq!(
                blocks("a.go", go),
                [
                    "1-1", "2-2", "3-6", "3-6", "3-6", "3-6", "7-7", "8-9", "8-9"
                ]
            );
            let java = "class A {\n  int x;\n  A() {\n  }\n  void m() {\n    x = 1;\n  }\n}\n";
            assert_eq!(
                blocks("A.java", java),
                ["1-8", "2-2", "3-4", "3-4", "5-7", "5-7", "5-7", "1-8"]
            );
        }
    }

    /// Paths, code, and the block around the call of `delete`. A change of any line of the block ends the anchor.
    const GUARDED: [(&str, &str, RangeInclusive<u32>); 17] = [
        (
            "a.py",
            "import app\n\n@requires_admin\n\n@app.route('/x')\ndef gone(db):\n    delete(db)\n\n@cached\ndef b():\n    1\n",
            3..=7,
        ),
        (
            "b.py",
            "class A(View):\n    x = 1\n\n    # why\n    @requires_admin\n    # and why\n    def gone(self):\n        delete(self)\n\n    def b(self):\n        1\n",
            5..=8,
        ),
        (
            "a.rs",
            "use x;\n\n/// Needs an admin.\n// why\n#[requires(admin)]\n\npub fn gone(db: &Db) {\n    delete(db)\n}\n\nfn b() {}\n",
            3..=9,
        ),
        (
            "b.rs",
            "impl A {\n    const X: u8 = 1;\n\n    // why\n    #[requires(admin)]\n    #[inline]\n    fn gone(&self) {\n        delete(self)\n    }\n\n    fn b() {}\n}\n",
            5..=9,
        ),
        (
            "a.ts",
            "class A {\n  x = 1;\n\n  /** Needs an admin. */\n  @UseGuards(AdminGuard)\n  @Delete()\n  gone(db: Db) {\n    delete(db);\n  }\n\n  b() {}\n}\n",
            4..=9,
        ),
        (
            "a.js",
            "class A {\n  x = 1;\n\n  // why\n  @requires(admin)\n  gone(db) {\n    delete(db);\n  }\n\n  b() {}\n}\n",
            5..=8,
        ),
        (
            "a.tsx",
            "const a = 1;\n\n/** Needs an admin. */\nexport async function gone(\n  db: Db,\n) {\n  delete(db);\n}\n\nfunction b() {}\n",
            3..=8,
        ),
        (
            "b.js",
            "const a = 1;\n\nrouter.post(\n  '/x',\n  requireAdmin,\n  withLog(\n    async (req) => {\n      const db = req.db;\n      delete(db);\n    },\n  ),\n);\n\nb();\n",
            3..=10,
        ),
        (
            "A.java",
            "class A {\n  int x;\n\n  // why\n  /** Needs an admin. */\n  @RolesAllowed(\"admin\")\n  @Override\n  void gone(Db db) {\n    delete(db);\n  }\n\n  void b() {}\n}\n",
            5..=10,
        ),
        (
            "a.go",
            "package a\n\nvar x = 1\n\n// Gone needs an admin.\n//\n// It deletes.\nfunc Gone(db *DB) {\n\tdelete(db)\n}\n\nfunc B() {}\n",
            5..=10,
        ),
        (
            "b.go",
            "package a\n\nvar x = 1\n\n// Gone needs an admin.\nfunc (s *S) Gone(db *DB) {\n\tdelete(db)\n}\n\nfunc B() {}\n",
            5..=8,
        ),
        (
            "c.go",
            "package a\n\ntype S struct {\n\ta int // why\n\t// The user.\n\tdelete int\n\tb int\n}\n",
            5..=6,
        ),
        (
            "b.ts",
            "const a = 1;\n\n@Guarded()\nexport class A {\n  delete = 1;\n}\n\nb();\n",
            5..=5,
        ),
        (
            "c.ts",
            "const a = 1;\n\n/** Needs an admin. */\nexport const gone = guarded(\n  ADMIN,\n  async (db: Db) => {\n    delete(db);\n    return 1;\n  },\n);\n\nb();\n",
            4..=9,
        ),
        (
            "c.rs",
            "fn a() {}\n\n#[cfg(admin)]\nstruct S {\n    delete: u8,\n}\n",
            5..=5,
        ),
        (
            "a.cs",
            "class A\n{\n    int x;\n\n    [Authorize]\n    void Gone(Db db)\n    {\n        delete(db);\n    }\n\n    void B() { }\n}\n",
            5..=9,
        ),
        (
            "a.kt",
            "val x = 1\n\n@RolesAllowed(\"admin\")\nfun gone(db: Db) {\n    delete(db)\n}\n\nfun b() {}\n",
            3..=6,
        ),
    ];

    #[test]
    fn a_block_includes_its_decorators_attributes_doc_comments_and_guards() {
        for (path, text, block) in GUARDED {
            if !cfg!(feature = "astgrep") && !["a.cs", "a.kt"].contains(&path) {
                continue;
            }
            let lines: Vec<&str> = text.lines().collect();
            let line = lines.iter().position(|line| line.contains("delete"));
            let line = u32::try_from(line.expect("the call") + 1).expect("a short text");
            assert_eq!(enclosing(path, text, line), block, "{path}");
            let known = anchor(&finding("Check the user", Some(line)), path, text);
            let is_found = |text: &str| Blocks::of(path, text).place(&known).is_some();
            for (index, number) in (0..lines.len()).zip(1..) {
                if lines[index].trim().is_empty() {
                    continue;
                }
                let mut changed = lines.clone();
                let longer = format!("{}1", lines[index]);
                changed[index] = &longer;
                let is_in_block = block.contains(&number);
                // A changed bracket outside of the block can change what the parser takes for the block.
                if is_in_block || lines[index].ends_with(char::is_alphanumeric) {
                    assert_eq!(
                        is_found(&changed.join("\n")),
                        !is_in_block,
                        "{path}:{number}"
                    );
                }
                changed.remove(index);
                if is_in_block {
                    assert!(
                        !is_found(&changed.join("\n")),
                        "{path}:{number} was removed"
                    );
                }
            }
            assert!(is_found(&text.replace('\n', "\r\n")), "{path}");
            assert!(is_found(&format!("{text}\n\n{}", lines[0])), "{path}");
            let above = if path.ends_with("java") || path.ends_with("go") {
                "// a\n\n"
            } else {
                "\n\n\n"
            };
            assert!(is_found(&format!("{above}{text}")), "{path}");
        }
    }

    #[test]
    fn paragraphs_where_there_is_no_grammar() {
        let text = "int f() {\n  a;\n\n  b;\n}\n\nint g() {\n}\n\nclass C {\n  int x;\n\n  void m() {\n    a;\n\n    b;\n  }\n\n  void n() {\n  }\n}\n";
        let at = |line| enclosing("a.cc", text, line);
        assert_eq!((at(1), at(2), at(5)), (1..=5, 1..=5, 1..=5));
        assert_eq!((at(7), at(8), at(6)), (7..=8, 7..=8, 6..=6));
        assert_eq!((at(13), at(16), at(17)), (13..=17, 13..=17, 13..=17));
        assert_eq!(at(0), 1..=5);
        assert_eq!(at(99), at(21));
        assert_eq!(enclosing("a.cc", "", 5), 1..=1);
    }

    #[test]
    fn an_anchor_survives_edits_elsewhere_and_moves_not_edits_of_its_block() {
        let text = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n";
        let moved =
            "// glee-allow: x -- why\nfn a() {\n    changed();\n}\n\nfn b()\n{\n\ttwo();\n}\n";
        let edited = "fn a() {\n    one();\n}\n\nfn b() {\n    three();\n}\n";
        for path in ["x.rs", "x.unknown"] {
            let anchor = anchor(&finding("Use  `three`, now!", Some(6)), path, text);
            assert_eq!(
                (anchor.category.as_str(), anchor.text.as_str()),
                ("bug", "use three now")
            );
            assert!(Blocks::of(path, moved).place(&anchor).is_some(), "{path}");
            assert!(Blocks::of(path, edited).place(&anchor).is_none(), "{path}");
            assert_eq!(
                self::anchor(&finding("Use three now", Some(8)), path, moved).block,
                anchor.block
            );
        }
        let whole = anchor(&finding("all of it", None), "x.rs", text);
        assert!(
            Blocks::of("x.rs", text).place(&whole).is_some()
                && Blocks::of("x.rs", edited).place(&whole).is_none()
        );
    }

    #[cfg(feature = "astgrep")]
    #[test]
    fn a_finding_about_a_comment_notices_that_it_is_gone() {
        let text = "# TODO one\nx = 1\n# TODO two\n";
        let comment = anchor(&finding("Resolve this", Some(1)), "a.py", text);
        assert!(Blocks::of("a.py", text).place(&comment).is_some());
        assert!(
            Blocks::of("a.py", "x = 1\n# TODO two\n")
                .place(&comment)
                .is_none()
        );
        let below = anchor(&finding("Name it", Some(2)), "a.py", text);
        assert!(
            Blocks::of("a.py", "x = 1\n# TODO two\n")
                .place(&below)
                .is_some(),
            "the comment is not its matter"
        );
    }

    proptest::proptest! {
        /// The index by line returns the block that a linear search finds first.
        #[test]
        fn the_index_agrees_with_a_walk(
            blocks in proptest::collection::vec((1..30_u32, 0..12_u32, 0..3_u32), 0..20), count in 1..35_usize,
        ) {
            let mut known: Vec<SyntaxBlock> = blocks
                .into_iter()
                .map(|(first, more, before)| SyntaxBlock {
                    lines: first..=first + more,
                    reach: first.saturating_sub(before).max(1)..=first + more,
                })
                .collect();
            let text = "x\n".repeat(count);
            let lines: Vec<&str> = text.lines().collect();
            let index = Index::from(known.clone(), &lines);
            known.sort_by_key(|block| (block.reach.end() - block.reach.start(), *block.reach.start()));
            for line in 1..=u32::try_from(count).unwrap_or(1) {
                let walked = known.iter().find(|block| block.reach.contains(&line));
                let found = (index.at[line as usize - 1] as usize).checked_sub(1).map(|number| &index.known[number]);
                proptest::prop_assert_eq!(found, walked);
            }
        }

        #[test]
        fn an_excerpt_equals_one_cut_from_all_lines(
            text in "[ab\n]{0,12}", line in 0..9_u32, end in proptest::option::of(0..9_u32), around in 0..4_u32,
        ) {
            let cut = || {
                let all: Vec<&str> = text.split_inclusive('\n').collect();
                let last = u32::try_from(all.len()).ok()?;
                if line == 0 || line > last {
                    return None;
                }
                let end = end.unwrap_or(line).clamp(line, last);
                let from = line.saturating_sub(around).max(1);
                let to = end.saturating_add(around).min(last);
                let text = all.get(from as usize - 1..to as usize)?.concat();
                Some(Excerpt { file: "a".to_owned(), first_line: from, text, lines: (line, end) })
            };
            proptest::prop_assert_eq!(excerpt("a", &text, line, end, around), cut());
        }
    }

    #[test]
    fn a_text_is_parsed_once_and_its_blocks_follow_the_text() {
        let text = "fn a() {\n    1\n}\n";
        let before = grammar::PARSED.get();
        for _ in 0..5 {
            assert_eq!(enclosing("once.rs", text, 2), 1..=3);
        }
        assert_eq!(
            grammar::PARSED.get() - before,
            usize::from(cfg!(feature = "astgrep"))
        );
        assert_eq!(enclosing("once.rs", "\n\nfn a() {\n    1\n}\n", 4), 3..=5);
    }

    #[test]
    fn an_excerpt_has_whole_lines_and_stays_in_the_file() {
        let text = "1\n2\n3\n4\n5";
        let lines = |first_line, text: &str, lines| {
            Some(Excerpt {
                file: "a".to_owned(),
                first_line,
                text: text.to_owned(),
                lines,
            })
        };
        assert_eq!(
            excerpt("a", text, 3, None, 1),
            lines(2, "2\n3\n4\n", (3, 3))
        );
        assert_eq!(
            excerpt("a", text, 4, Some(99), 2),
            lines(2, "2\n3\n4\n5", (4, 5))
        );
        assert_eq!(excerpt("a", text, 2, Some(1), 0), lines(2, "2\n", (2, 2)));
        assert_eq!(excerpt("a", text, 6, None, 1), None);
        assert_eq!(excerpt("a", text, 0, None, 1), None);
    }
}
