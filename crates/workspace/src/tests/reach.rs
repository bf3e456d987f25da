//! Which findings a change causes, and which are older than the change.

use std::collections::BTreeMap;

use super::*;
use crate::code::reach::ChangeReach;
use crate::diff::unified;
use glee_model::domain::RawFinding;
use glee_protocol::request::SourceFile;

/// A file before and after the change. A file without the change is the same in both.
type File = (&'static str, &'static str, &'static str);

/// The files, the file of the finding and a text in its line, and what the finding says.
type Row = (&'static [File], (&'static str, &'static str), &'static str);

fn is_caused(row: &Row) -> bool {
    let (files, (path, needle), says) = row;
    let tree = Tree::git();
    let mut texts = BTreeMap::new();
    let mut changed = Vec::new();
    for (path, before, after) in *files {
        if !after.is_empty() {
            tree.write(path, after);
        }
        texts.insert((*path).to_owned(), (*after).to_owned());
        if before != after {
            let [old, new] =
                [before, after].map(|text| (!text.is_empty()).then_some(path.as_bytes()));
            let found = unified::between((old, before), (new, after));
            changed.push(SourceFile {
                path: (*path).to_owned(),
                text: (*after).to_owned(),
                changed: found.changed,
                diff: Some(found.text),
            });
        }
    }
    let mut lines = texts[*path].lines().zip(1..);
    let (_, line) = lines.find(|(line, _)| line.contains(needle)).unwrap();
    let finding = RawFinding {
        file: Some((*path).to_owned()),
        line: Some(line),
        title: (*says).into(),
        ..RawFinding::default()
    };
    let read = |path: &str| texts.get(path).cloned();
    let reach = ChangeReach::of(changed.iter(), std::iter::empty(), &read).unwrap();
    let names = reach.searched([&finding].into_iter(), &read);
    let places = Workspace::discover(&tree.root())
        .unwrap()
        .named_places(&names)
        .unwrap();
    reach.causes(&finding, &read, &places)
}

const DB: &str = "def remove(db, key):\n    db.execute('DELETE FROM t WHERE k = ' + key)\n";
const STORE_GO: &str = "package a\n\nfunc Open(name string) *File {\n\tif name == \"\" {\n\t\treturn nil\n\t}\n\treturn &File{}\n}\n\nfunc Size(f *File) int {\n\treturn f.size\n}\n";

#[test]
fn nothing_that_a_change_causes_is_older() {
    let rows: [Row; 36] = [
        // The line itself, its block, and the place beside a removed line.
        (
            &[(
                "a.py",
                "def f():\n    a()\n    b()\n",
                "def f():\n    a()\n    c()\n",
            )],
            ("a.py", "a()"),
            "fails",
        ),
        (
            &[(
                "a.py",
                "def f(u):\n    check(u)\n    drop(u)\n",
                "def f(u):\n    drop(u)\n",
            )],
            ("a.py", "drop(u)"),
            "anybody can drop",
        ),
        // A changed caller of old code.
        (
            &[
                ("db.py", DB, DB),
                (
                    "a.py",
                    "def f(q):\n    remove(db, '1')\n",
                    "def f(q):\n    remove(db, q)\n",
                ),
            ],
            ("db.py", "DELETE"),
            "SQL injection",
        ),
        (
            &[
                ("db.py", DB, DB),
                (
                    "a.py",
                    "def f(q):\n    q = clean(q)\n    remove(db, q)\n",
                    "def f(q):\n    remove(db, q)\n",
                ),
            ],
            ("db.py", "DELETE"),
            "SQL injection",
        ),
        (
            &[
                ("a.go", STORE_GO, STORE_GO),
                (
                    "b.go",
                    "package a\n\nfunc F() int {\n\treturn 0\n}\n",
                    "package a\n\nfunc F() int {\n\treturn Size(Open(\"\"))\n}\n",
                ),
            ],
            ("a.go", "return f.size"),
            "nil is dereferenced",
        ),
        (
            &[
                (
                    "a.c",
                    "int size(int n)\n{\n  return 8 / n;\n}\n",
                    "int size(int n)\n{\n  return 8 / n;\n}\n",
                ),
                (
                    "b.c",
                    "int f(void)\n{\n  return size(1);\n}\n",
                    "int f(void)\n{\n  return size(0);\n}\n",
                ),
            ],
            ("a.c", "8 / n"),
            "division by zero",
        ),
        // A changed caller of a caller.
        (
            &[
                ("db.py", DB, DB),
                (
                    "s.py",
                    "def delete_all(key):\n    remove(DB, key)\n",
                    "def delete_all(key):\n    remove(DB, key)\n",
                ),
                (
                    "a.py",
                    "def f(q):\n    return 0\n",
                    "def f(q):\n    delete_all(q)\n",
                ),
            ],
            ("db.py", "DELETE"),
            "SQL injection",
        ),
        // A new use of old code.
        (
            &[
                (
                    "u.ts",
                    "export function html(a: string) {\n  return `<b>${a}</b>`;\n}\n",
                    "export function html(a: string) {\n  return `<b>${a}</b>`;\n}\n",
                ),
                (
                    "a.ts",
                    "const a = 1;\n",
                    "const a = 1;\nshow(html(query.name));\n",
                ),
            ],
            ("u.ts", "<b>"),
            "not escaped",
        ),
        (
            &[
                (
                    "A.java",
                    "class A {\n  static int parse(String s) {\n    return Integer.parseInt(s);\n  }\n}\n",
                    "class A {\n  static int parse(String s) {\n    return Integer.parseInt(s);\n  }\n}\n",
                ),
                (
                    "B.java",
                    "class B {\n  int port;\n}\n",
                    "class B {\n  int port = A.parse(System.getenv(\"PORT\"));\n}\n",
                ),
            ],
            ("A.java", "parseInt"),
            "throws for no number",
        ),
        (
            &[
                (
                    "src/a.rs",
                    "pub fn port(s: &str) -> u16 {\n    s.parse().unwrap()\n}\n",
                    "pub fn port(s: &str) -> u16 {\n    s.parse().unwrap()\n}\n",
                ),
                (
                    "src/b.rs",
                    "fn g() {}\n",
                    "fn g() {\n    let p = port(&read_line());\n}\n",
                ),
            ],
            ("src/a.rs", "unwrap"),
            "panics",
        ),
        (
            &[(
                "a.py",
                "LIMIT = 0\nSIZE = 1\n\ndef f():\n    return SIZE\n",
                "LIMIT = 0\nSIZE = 1\n\ndef f():\n    return SIZE / LIMIT\n",
            )],
            ("a.py", "LIMIT = 0"),
            "division by zero",
        ),
        // A guard that is removed elsewhere.
        (
            &[
                (
                    "app.js",
                    "app.use(auth);\napp.use(log);\n",
                    "app.use(log);\n",
                ),
                (
                    "routes.js",
                    "router.get('/admin', (req, res) => {\n  res.send(all());\n});\n",
                    "router.get('/admin', (req, res) => {\n  res.send(all());\n});\n",
                ),
            ],
            ("routes.js", "/admin"),
            "this route has no authentication",
        ),
        (
            &[
                (
                    "h.py",
                    "@login_required\ndef view(request):\n    return erase(request.user)\n",
                    "def view(request):\n    return erase(request.user)\n",
                ),
                (
                    "m.py",
                    "def erase(user):\n    user.delete()\n",
                    "def erase(user):\n    user.delete()\n",
                ),
            ],
            ("m.py", "user.delete()"),
            "anybody can erase a user",
        ),
        (
            &[
                (
                    "v.go",
                    "package a\n\nfunc Handle(n int) {\n\tif n > 10 {\n\t\treturn\n\t}\n\tgrow(n)\n}\n",
                    "package a\n\nfunc Handle(n int) {\n\tgrow(n)\n}\n",
                ),
                (
                    "g.go",
                    "package a\n\nfunc grow(n int) {\n\tmake([]int, n)\n}\n",
                    "package a\n\nfunc grow(n int) {\n\tmake([]int, n)\n}\n",
                ),
            ],
            ("g.go", "make"),
            "no bound for the size",
        ),
        (
            &[
                ("conf.yaml", "csrf_check: true\nport: 1\n", "port: 1\n"),
                (
                    "a.py",
                    "def post(c):\n    if c['csrf_check']:\n        check()\n    save()\n",
                    "def post(c):\n    if c['csrf_check']:\n        check()\n    save()\n",
                ),
            ],
            ("a.py", "save()"),
            "forged requests are saved",
        ),
        (
            &[
                (
                    "s.py",
                    "def f(n):\n    validate(n)\n    keep(n)\n",
                    "def f(n):\n    keep(n)\n",
                ),
                (
                    "k.py",
                    "def keep(n):\n    put(n)\n\ndef put(n):\n    open(n, 'w')\n",
                    "def keep(n):\n    put(n)\n\ndef put(n):\n    open(n, 'w')\n",
                ),
            ],
            ("k.py", "open(n, 'w')"),
            "writes anywhere",
        ),
        (
            &[(
                "base.py",
                "class View(LoginRequired, Base):\n    size = 1\n\n    def get(self):\n        return 1\n",
                "class View(Base):\n    size = 1\n\n    def get(self):\n        return 1\n",
            )],
            ("base.py", "return 1"),
            "anybody sees it",
        ),
        // A moved block.
        (
            &[(
                "a.js",
                "app.get('/new', make);\napp.get('/old', old);\napp.get('/:id', show);\n",
                "app.get('/:id', show);\napp.get('/new', make);\napp.get('/old', old);\n",
            )],
            ("a.js", "/new"),
            "never reached",
        ),
        (
            &[(
                "a.py",
                "def f():\n    return 1\n\n\ndef g():\n    return 2\n",
                "def g():\n    return 2\n\n\ndef f():\n    return 1\n",
            )],
            ("a.py", "return 2"),
            "wrong",
        ),
        (
            &[
                ("a.py", "def load(p):\n    return eval(p)\n", ""),
                (
                    "b.py",
                    "import os\n",
                    "import os\n\n\ndef load(p):\n    return eval(p)\n",
                ),
            ],
            ("b.py", "eval"),
            "eval",
        ),
        (
            &[(
                "a.ts",
                "const b = read();\nconst a = 1;\nexport const c = b + 1;\n",
                "const a = 1;\nexport const c = b + 1;\nconst b = read();\n",
            )],
            ("a.ts", "b + 1"),
            "used before it is set",
        ),
        // A changed callee, and a caller of its caller.
        (
            &[
                (
                    "a.py",
                    "def find(x):\n    return {}\n",
                    "def find(x):\n    return None\n",
                ),
                (
                    "b.py",
                    "def name(x):\n    return find(x).name\n",
                    "def name(x):\n    return find(x).name\n",
                ),
            ],
            ("b.py", "find(x).name"),
            "None has no name",
        ),
        (
            &[
                (
                    "a.rs",
                    "pub fn area(a: u8) -> u8 {\n    a\n}\n",
                    "pub fn area(a: u8) -> u8 {\n    a + 1\n}\n",
                ),
                (
                    "b.rs",
                    "fn all() -> u8 {\n    area(255)\n}\n\nfn top() {\n    draw(all());\n}\n",
                    "fn all() -> u8 {\n    area(255)\n}\n\nfn top() {\n    draw(all());\n}\n",
                ),
            ],
            ("b.rs", "draw(all())"),
            "overflows",
        ),
        (
            &[(
                "a.py",
                "class S:\n    def __init__(self):\n        self.limit = 5\n\n    def ok(self):\n        return self.limit\n\n    def go(self, n):\n        return n / self.limit\n",
                "class S:\n    def __init__(self):\n        self.limit = 0\n\n    def ok(self):\n        return self.limit\n\n    def go(self, n):\n        return n / self.limit\n",
            )],
            ("a.py", "n / self.limit"),
            "division by zero",
        ),
        (
            &[(
                "a.rs",
                "struct A {\n    size: u8,\n    b: u8,\n}\n\nfn f(a: &A) -> u8 {\n    a.size\n}\n",
                "struct A {\n    size: u64,\n    b: u8,\n}\n\nfn f(a: &A) -> u8 {\n    a.size\n}\n",
            )],
            ("a.rs", "    a.size"),
            "wrong type",
        ),
        (
            &[(
                "a.py",
                "from safe import load\n\n\ndef f(p):\n    return load(p)\n",
                "from yaml import load\n\n\ndef f(p):\n    return load(p)\n",
            )],
            ("a.py", "return load(p)"),
            "loads any object",
        ),
        // What the change removes or renames.
        (
            &[
                ("a.py", "LIMIT = 1\nB = 2\n", "B = 2\n"),
                (
                    "b.py",
                    "def f():\n    return a.LIMIT\n",
                    "def f():\n    return a.LIMIT\n",
                ),
            ],
            ("b.py", "LIMIT"),
            "no such attribute",
        ),
        (
            &[
                ("a.py", "def old():\n    pass\n", ""),
                ("b.py", "def f():\n    old()\n", "def f():\n    old()\n"),
            ],
            ("b.py", "old()"),
            "is not defined",
        ),
        (
            &[
                (
                    "a.ts",
                    "export interface A {\n  retryLimit: number;\n  b: number;\n}\n",
                    "export interface A {\n  b: number;\n}\n",
                ),
                (
                    "b.ts",
                    "function f(a: A2) {\n  return a.retryLimit;\n}\n",
                    "function f(a: A2) {\n  return a.retryLimit;\n}\n",
                ),
            ],
            ("b.ts", "retryLimit"),
            "undefined",
        ),
        // Settings, versions, tables.
        (
            &[
                ("conf.yaml", "retry_limit: 3\n", "retry_limit: none\n"),
                (
                    "a.js",
                    "function f(c) {\n  return c.retryLimit + 1;\n}\n",
                    "function f(c) {\n  return c.retryLimit + 1;\n}\n",
                ),
            ],
            ("a.js", "retryLimit"),
            "not a number",
        ),
        (
            &[
                ("requirements.txt", "requests==2.31\n", "requests==2.0\n"),
                (
                    "a.py",
                    "def f(u):\n    return requests.get(u)\n",
                    "def f(u):\n    return requests.get(u)\n",
                ),
            ],
            ("a.py", "requests.get"),
            "certificates are not checked",
        ),
        (
            &[
                (
                    "m.sql",
                    "SELECT 1;\n",
                    "ALTER TABLE users DROP COLUMN email;\n",
                ),
                (
                    "a.py",
                    "def f(row):\n    return row['email']\n",
                    "def f(row):\n    return row['email']\n",
                ),
            ],
            ("a.py", "email"),
            "no such column",
        ),
        (
            &[
                ("a.h", "#define BUFFER 64\n", "#define BUFFER 4\n"),
                (
                    "a.c",
                    "void f(void)\n{\n  char b[BUFFER];\n  strcpy(b, s);\n}\n",
                    "void f(void)\n{\n  char b[BUFFER];\n  strcpy(b, s);\n}\n",
                ),
            ],
            ("a.c", "strcpy"),
            "overflow",
        ),
        // What the finding says or cites.
        (
            &[
                (
                    "a.py",
                    "def f():\n    pass\n",
                    "def f():\n    send_mail()\n",
                ),
                (
                    "b.py",
                    "def g(x):\n    return x\n",
                    "def g(x):\n    return x\n",
                ),
            ],
            ("b.py", "return x"),
            "`send_mail` gets it",
        ),
        (
            &[
                ("a.py", "def f():\n    pass\n", "def f():\n    send()\n"),
                (
                    "b.py",
                    "def g(x):\n    return x\n",
                    "def g(x):\n    return x\n",
                ),
            ],
            ("b.py", "return x"),
            "it is wrong since a.py:2",
        ),
        (
            &[
                (
                    "base.py",
                    "class A:\n    def save(self):\n        pass\n",
                    "class A:\n    def save(self):\n        raise E\n",
                ),
                (
                    "b.py",
                    "class B(A):\n    def save(self):\n        super().save()\n",
                    "class B(A):\n    def save(self):\n        super().save()\n",
                ),
            ],
            ("b.py", "super().save()"),
            "raises",
        ),
    ];
    let older: Vec<&Row> = rows.iter().filter(|row| !is_caused(row)).collect();
    assert!(older.is_empty(), "{older:#?}");
}

#[test]
fn code_that_the_change_does_not_reach_is_older() {
    let rows: [Row; 12] = [
        (
            &[(
                "a.py",
                "def token(u):\n    return md5(u)\n\n\ndef load(p):\n    return open(p)\n",
                "def token(u):\n    return md5(u)\n\n\ndef load(p):\n    return open(p)\n\n\ndef save(p, text):\n    write(p, text)\n",
            )],
            ("a.py", "md5"),
            "`md5` is broken as a hash",
        ),
        (
            &[
                ("db.py", DB, DB),
                (
                    "a.py",
                    "def f(q):\n    return 1\n",
                    "def f(q):\n    return 2\n",
                ),
            ],
            ("db.py", "DELETE"),
            "SQL injection: `key` is not quoted",
        ),
        (
            &[
                ("a.go", STORE_GO, STORE_GO),
                (
                    "b.go",
                    "package a\n\nfunc F() int {\n\treturn 0\n}\n",
                    "package a\n\nfunc F() int {\n\treturn 1\n}\n",
                ),
            ],
            ("a.go", "return f.size"),
            "`Size` dereferences nil",
        ),
        (
            &[(
                "A.java",
                "class A {\n  void one() {\n    run();\n  }\n\n  void two(String s) {\n    exec(s);\n  }\n}\n",
                "class A {\n  void one() {\n    stop();\n  }\n\n  void two(String s) {\n    exec(s);\n  }\n}\n",
            )],
            ("A.java", "exec(s)"),
            "a command is injected",
        ),
        (
            &[(
                "A.java",
                "class A {\n  void two(String s) {\n    exec(s);\n  }\n}\n",
                "class A {\n  void two(String s) {\n    exec(s);\n  }\n\n  void one() {\n    stop();\n  }\n}\n",
            )],
            ("A.java", "exec(s)"),
            "a command is injected",
        ),
        (
            &[(
                "a.rs",
                "fn one() {\n    let a = 1;\n}\n\nfn two() {\n    read().unwrap();\n}\n",
                "fn one() {\n    let a = 2;\n}\n\nfn two() {\n    read().unwrap();\n}\n",
            )],
            ("a.rs", "unwrap"),
            "panics if nothing can be read",
        ),
        (
            &[(
                "a.ts",
                "export function one() {\n  return 1;\n}\n\nexport function two(a: string) {\n  return eval(a);\n}\n",
                "export function one() {\n  return 2;\n}\n\nexport function two(a: string) {\n  return eval(a);\n}\n",
            )],
            ("a.ts", "eval"),
            "`eval` of an argument",
        ),
        (
            &[(
                "a.js",
                "const one = () => {\n  go(1);\n  return 1;\n};\n\nconst two = (a) => {\n  run(a);\n  return eval(a);\n};\n",
                "const one = () => {\n  go(2);\n  return 1;\n};\n\nconst two = (a) => {\n  run(a);\n  return eval(a);\n};\n",
            )],
            ("a.js", "eval"),
            "`eval` of an argument",
        ),
        (
            &[
                ("README.md", "# A\n", "# A\n\nRead `load`.\n"),
                (
                    "a.py",
                    "def load(p):\n    return eval(p)\n",
                    "def load(p):\n    return eval(p)\n",
                ),
            ],
            ("a.py", "eval"),
            "evaluates a file",
        ),
        (
            &[(
                "a.c",
                "int one(void)\n{\n  return 1;\n}\n\nint two(char *s)\n{\n  gets(s);\n}\n",
                "int one(void)\n{\n  return 2;\n}\n\nint two(char *s)\n{\n  gets(s);\n}\n",
            )],
            ("a.c", "gets(s)"),
            "no bound",
        ),
        (
            &[(
                "conf.yaml",
                "port: 1\nname: a\n\ndebug: true\n",
                "port: 2\nname: a\n\ndebug: true\n",
            )],
            ("conf.yaml", "debug"),
            "debugging is on",
        ),
        (
            &[(
                "a.py",
                "class A:\n    def one(self):\n        return 1\n\n    def two(self, q):\n        return eval(q)\n",
                "class A:\n    def one(self):\n        return 2\n\n    def two(self, q):\n        return eval(q)\n",
            )],
            ("a.py", "eval"),
            "evaluates a query",
        ),
    ];
    let caused: Vec<&Row> = rows.iter().filter(|row| is_caused(row)).collect();
    assert!(caused.is_empty(), "{caused:#?}");
}

#[test]
fn without_a_base_nothing_is_older() {
    let whole = SourceFile {
        path: "a.py".to_owned(),
        text: "x = 1\n".to_owned(),
        changed: Vec::new(),
        diff: None,
    };
    // What the coder of a later round changed is no base for the rest.
    let edited = SourceFile {
        diff: Some("@@ -1 +1 @@\n-x = 1\n+x = 2\n".to_owned()),
        changed: vec![(1, 1)],
        ..whole.clone()
    };
    let read = |_: &str| Some("x = 1\n".to_owned());
    for files in [vec![&whole], vec![&whole, &edited]] {
        assert!(ChangeReach::of(files.into_iter(), std::iter::empty(), &read).is_none());
    }
}
