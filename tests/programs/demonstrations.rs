//! Demonstrations with real runners: what each of them tells of a test, and what it cannot tell.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::Sandbox;
use crate::{has, python};

/// A project with one function that adds numbers and forgets the first.
struct Language {
    runner: String,
    /// A folder of programs before those of the machine.
    programs: Option<PathBuf>,
    /// The folder of the tests.
    folder: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// The place of the defect, as a reviewer names it.
    place: &'static str,
    /// The script that corrects it.
    fix: &'static str,
    /// The path of a test, with the number of the row for `{n}`.
    path: &'static str,
    /// Code of a test around the lines of a row for `{}`, with the imports of the row for `{use}`.
    test: &'static str,
}

/// What stands in the test of a row: its imports and its lines, and what it shows.
struct Row {
    imports: &'static str,
    lines: &'static str,
    shows: &'static str,
}

fn row(imports: &'static str, lines: &'static str, shows: &'static str) -> Row {
    Row {
        imports,
        lines,
        shows,
    }
}

pub(crate) const AGENT: &str = "#!/bin/sh\nhere=\"$(dirname \"$0\")/$GLEE_AGENT-$GLEE_TASK\"\ncat > /dev/null\n[ -e \"$here.sh\" ] && . \"$here.sh\"\nsed \"s/{nonce}/$GLEE_NONCE/g; s/{dispute}/$GLEE_DISPUTE/g\" \"$here\"\n";

impl Language {
    /// Runs the test of each row in a review without a coder.
    fn shows(&self, rows: &[Row]) {
        let sandbox = self.sandbox();
        for row in rows {
            let is_slow = row.shows.ends_with("timed_out");
            let limit = if is_slow { "8s" } else { "40s" };
            set(&sandbox, "limits.call_timeout", limit);
            let shown = self.review(&sandbox, row, &["--no-input"]);
            assert_eq!(
                shown.1, row.shows,
                "{}\n{}\n{}",
                row.imports, row.lines, shown.0
            );
        }
    }

    /// The test of a row fails before the fix, and passes after it.
    fn passes_after(&self, row: &Row) {
        let sandbox = self.sandbox();
        let (output, shown) = self.review(&sandbox, row, &["--fix", "--no-input"]);
        assert_eq!(shown, "passes_after", "{output}");
    }

    /// The test of a row passes, as the test of an objection.
    fn passes(&self, row: &Row) {
        let sandbox = self.sandbox();
        says(&sandbox, "pen-respond.sh", "");
        says(
            &sandbox,
            "pen-respond",
            &format!(
                "[F1] DISAGREE: the first one is a deposit\nEvidence: {}\n{}GLEE-RESPONSE-END nonce={{nonce}} answers=1\n",
                self.place,
                self.block(row)
            ),
        );
        let nothing = without_test();
        let (output, shown) = self.review(&sandbox, &nothing, &["--fix", "--no-input"]);
        assert_eq!(shown, "passes", "{output}");
    }

    fn sandbox(&self) -> Sandbox {
        let mut sandbox = Sandbox::new();
        if let Some(programs) = &self.programs {
            let machine = std::env::var("PATH").expect("a PATH");
            sandbox.env("PATH", format!("{}:{machine}", programs.display()));
        }
        sandbox.git_init();
        for (path, text) in self.files {
            sandbox.write(path, text);
        }
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-q", "-m", "The shop"]);
        for (name, role) in [("lens", "reviewer"), ("pen", "coder")] {
            sandbox.connect(name, role, AGENT, &["--user"]);
        }
        let runner = format!(
            "{{it: {{command: {:?}, folder: {}}}}}",
            self.runner, self.folder
        );
        for (key, value) in [
            ("review.runners", runner.as_str()),
            ("review.recheck", "false"),
            ("review.reuse", "false"),
            ("limits.call_timeout", "40s"),
        ] {
            set(&sandbox, key, value);
        }
        says(&sandbox, "pen-respond.sh", self.fix);
        says(
            &sandbox,
            "pen-respond",
            "[F1] IMPLEMENTED: all of them count\nGLEE-RESPONSE-END nonce={nonce} answers=1\n",
        );
        sandbox
    }

    fn block(&self, row: &Row) -> String {
        if row.lines.is_empty() {
            return String::new();
        }
        let indent: String = self
            .test
            .lines()
            .find_map(|line| line.strip_suffix("{}"))
            .unwrap_or_default()
            .to_owned();
        let code = self
            .test
            .replace("{use}", row.imports)
            .replace("{}", &row.lines.replace('\n', &format!("\n{indent}")));
        format!("```demonstration path={} runner=it\n{code}```\n", self.path)
    }

    /// The output of a review, and what the demonstration shows.
    fn review(&self, sandbox: &Sandbox, row: &Row, args: &[&str]) -> (String, String) {
        says(
            sandbox,
            "lens-review",
            &format!(
                "[MUST] {} The first one is not counted (confidence 90, bug)\n{}\nGLEE-REVIEW-END nonce={{nonce}} findings=1 read=all\n",
                self.place,
                self.block(row)
            ),
        );
        let output = sandbox.glee(&[&["review", "."], args].concat());
        let shown = sandbox.glee(&["runs", "show", "last", "--format", "json"]);
        let outcome: Value = serde_json::from_str(&shown.stdout).expect("JSON");
        let one = &outcome["findings"][0]["demonstrations"][0];
        let words = ["result", "reason"].map(|key| one[key].as_str().unwrap_or_default());
        (
            format!("{output}{one:#}"),
            words.join(" ").trim().to_owned(),
        )
    }
}

fn set(sandbox: &Sandbox, key: &str, value: &str) {
    let set = sandbox.glee(&["config", "set", "--user", key, value]);
    assert_eq!(set.code, 0, "{set}");
}

fn without_test() -> Row {
    row("", "", "")
}

pub(crate) fn says(sandbox: &Sandbox, task: &str, text: &str) {
    let bin = sandbox.root().with_file_name("bin");
    fs::write(bin.join(task), text).expect("an answer");
}

const PYTHON: &[(&str, &str)] = &[
    ("shop/__init__.py", ""),
    (
        "shop/total.py",
        "def total(prices):\n    result = 0\n    for price in prices[1:]:\n        result += price\n    return result\n",
    ),
    ("tests/__init__.py", ""),
];

fn python(runner: String, test: &'static str) -> Language {
    Language {
        runner,
        programs: None,
        folder: "tests",
        files: PYTHON,
        place: "shop/total.py:3",
        fix: "sed -i 's/prices.1:./prices/' shop/total.py\n",
        path: "tests/test_total.py",
        test,
    }
}

const UNITTEST: &str = "import os\nimport time\nimport unittest\n{use}\nfrom shop.total import total\n\n\nclass Total(unittest.TestCase):\n    def test_total(self):\n        {}\n";

const PYTEST: &str =
    "import os\nimport time\n{use}\nfrom shop.total import total\n\n\ndef test_total():\n    {}\n";

const FLAKY: &str =
    "total([])\nfirst = not os.path.exists('f')\nopen('f', 'w').close()\nassert not first";

fn rows_of_python() -> Vec<Row> {
    vec![
        row("", "assert total([1, 2, 3]) == 6", "fails_before"),
        row("", "assert total([0, 1]) == 1", "inconclusive passes"),
        row(
            "import missing",
            "assert total([1]) == 1",
            "inconclusive broken",
        ),
        row("", "total(None)", "inconclusive broken"),
        row("", "raise ValueError(total([1]))", "inconclusive broken"),
        row("", "assert False", "inconclusive not_reached"),
        row("", FLAKY, "inconclusive flaky"),
        row("", "time.sleep(60)", "inconclusive timed_out"),
    ]
}

#[test]
fn unittest_tells_all_ends() {
    if !has("python3", &["-c", "import unittest"], "python3") {
        return;
    }
    let language = python("unittest".to_owned(), UNITTEST);
    language.shows(&rows_of_python());
    language.shows(&[row("", "assert total([1] == 1", "inconclusive unclear")]);
    language.passes_after(&row("", "self.assertEqual(total([1, 2, 3]), 6)", ""));
    language.passes(&row("", "self.assertEqual(total([0, 1]), 1)", ""));
}

/// A program of the project that runs tests in its own way and writes a JUnit report.
#[test]
fn a_program_of_the_project_that_writes_junit_tells_all_ends() {
    if !has("python3", &["-c", "import unittest"], "python3") {
        return;
    }
    const PRODUCER: &str = "import sys\nimport unittest\nfrom xml.sax.saxutils import escape\n\nsys.path.insert(0, '.')\nreport, *files = sys.argv[1:]\nnames = [file[:-3].replace('/', '.') for file in files]\nresult = unittest.TestResult()\nunittest.defaultTestLoader.loadTestsFromNames(names).run(result)\nwith open(report, 'w') as out:\n    out.write('<testsuites><testsuite>')\n    for word, found in (('failure', result.failures), ('error', result.errors)):\n        for _, text in found:\n            out.write(f'<testcase name=\"t\"><{word}>{escape(text)}</{word}></testcase>')\n    for _ in range(result.testsRun - len(result.failures) - len(result.errors)):\n        out.write('<testcase name=\"t\"/>')\n    out.write('</testsuite></testsuites>')\nsys.exit(not result.wasSuccessful())\n";
    const FILES: &[(&str, &str)] = &[
        PYTHON[0],
        PYTHON[1],
        PYTHON[2],
        ("tools/junit.py", PRODUCER),
    ];
    let language = Language {
        files: FILES,
        ..python(
            "python3 tools/junit.py {junit} {files}".to_owned(),
            UNITTEST,
        )
    };
    language.shows(&rows_of_python());
    language.shows(&[row("", "assert total([1] == 1", "inconclusive broken")]);
    language.passes_after(&row("", "self.assertEqual(total([1, 2, 3]), 6)", ""));
    language.passes(&row("", "self.assertEqual(total([0, 1]), 1)", ""));
}

#[test]
fn pytest_tells_all_ends() {
    let Some(programs) = python::programs() else {
        return;
    };
    let python3 = programs.join("python");
    let language = python(
        format!(
            "{} -m pytest -q --junitxml={{junit}} {{files}}",
            python3.display()
        ),
        PYTEST,
    );
    language.shows(&rows_of_python());
    language.shows(&[row("", "assert total([1] == 1", "inconclusive broken")]);
    language.passes_after(&row("", "assert total([1, 2, 3]) == 6", ""));
    language.passes(&row("", "assert total([0, 1]) == 1", ""));
}

#[test]
fn node_tells_all_ends() {
    if !has("node", &["--test", "--version"], "nodejs") {
        return;
    }
    let language = Language {
        runner: "node".to_owned(),
        programs: None,
        folder: "tests",
        files: &[
            ("package.json", "{\"type\": \"module\"}\n"),
            (
                "shop/total.js",
                "export function total(prices) {\n  let result = 0;\n  for (const price of prices.slice(1)) {\n    result += price;\n  }\n  return result;\n}\n",
            ),
        ],
        place: "shop/total.js:3",
        fix: "sed -i 's/.slice(1)//' shop/total.js\n",
        path: "tests/total.test.js",
        test: "import assert from 'node:assert';\nimport fs from 'node:fs';\nimport test from 'node:test';\n{use}\nimport { total } from '../shop/total.js';\n\ntest('total', async () => {\n  {}\n});\n",
    };
    language.shows(&[
        row("", "assert.equal(total([1, 2, 3]), 6);", "fails_before"),
        row("", "assert.equal(total([0, 1]), 1);", "inconclusive passes"),
        row("", "assert.equal(total([1, 6);", "inconclusive broken"),
        row("import 'missing';", "assert.equal(total([1]), 1);", "inconclusive broken"),
        row("", "total(null);", "inconclusive broken"),
        row("", "throw new Error(total([1]));", "inconclusive broken"),
        row("", "assert.fail('no');", "inconclusive not_reached"),
        row(
            "",
            "const n = fs.readdirSync('.').length;\nfs.writeFileSync(`f${n}`, '');\ntotal([]);\nassert.equal(n, 5);",
            "inconclusive flaky",
        ),
        row(
            "",
            "await new Promise((done) => setTimeout(done, 60_000));",
            "inconclusive timed_out",
        ),
    ]);
    language.passes_after(&row("", "assert.equal(total([1, 2, 3]), 6);", ""));
    language.passes(&row("", "assert.equal(total([0, 1]), 1);", ""));
}

#[test]
fn go_tells_all_ends() {
    if !has("go", &["version"], "golang-go") {
        return;
    }
    let language = Language {
        runner: "go".to_owned(),
        programs: None,
        folder: "shop",
        files: &[
            ("go.mod", "module example.com/shop\n\ngo 1.19\n"),
            (
                "shop/total.go",
                "package shop\n\nfunc Total(prices []int) int {\n\tresult := 0\n\tfor _, price := range prices[1:] {\n\t\tresult += price\n\t}\n\treturn result\n}\n",
            ),
        ],
        place: "shop/total.go:5",
        fix: "sed -i 's/prices.1:./prices/' shop/total.go\n",
        path: "shop/total_test.go",
        test: "package shop\n\nimport (\n\t\"testing\"\n\t{use}\n)\n\nfunc TestTotal(t *testing.T) {\n\t{}\n}\n",
    };
    language.shows(&[
        row(
            "",
            "if Total([]int{1, 2, 3}) != 6 {\n\tt.Fatal(\"not 6\")\n}",
            "fails_before",
        ),
        row(
            "",
            "if Total([]int{0, 1}) != 1 {\n\tt.Fatal(\"not 1\")\n}",
            "inconclusive passes",
        ),
        row("", "if Total([]int{1 {", "inconclusive unclear"),
        row("\"missing\"", "Total([]int{1})", "inconclusive unclear"),
        row(
            "",
            "Total([]int{1})\npanic(\"by itself\")",
            "inconclusive broken",
        ),
        row("", "t.Fatal(\"no\")", "inconclusive not_reached"),
        row(
            "\"os\"",
            "Total([]int{1})\nif os.Mkdir(\"f\", 0o700) == nil {\n\tt.Fatal(\"once\")\n}",
            "inconclusive flaky",
        ),
        row(
            "\"time\"",
            "time.Sleep(time.Minute)",
            "inconclusive timed_out",
        ),
    ]);
    language.passes_after(&row(
        "",
        "if Total([]int{1, 2, 3}) != 6 {\n\tt.Fatal(\"not 6\")\n}",
        "",
    ));
    language.passes(&row(
        "",
        "if Total([]int{0, 1}) != 1 {\n\tt.Fatal(\"not 1\")\n}",
        "",
    ));
}

#[test]
fn cargo_tells_all_ends() {
    if !has("cargo", &["--version"], "cargo") {
        return;
    }
    let language = Language {
        runner: "cargo".to_owned(),
        // Outside of its home folder, rustup finds no toolchain.
        programs: Some(toolchain()),
        folder: "tests",
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"shop\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n",
            ),
            (
                "src/lib.rs",
                "pub fn total(prices: &[u32]) -> u32 {\n    prices[1..].iter().sum()\n}\n\npub fn other() {}\n",
            ),
        ],
        place: "src/lib.rs:2",
        fix: "sed -i 's/.1[.][.].//' src/lib.rs\n",
        path: "tests/total.rs",
        test: "{use}\n#[test]\nfn total() {\n    {}\n}\n",
    };
    language.shows(&[
        row(
            "",
            "assert_eq!(shop::total(&[1, 2, 3]), 6);",
            "fails_before",
        ),
        row(
            "",
            "assert_eq!(shop::total(&[0, 1]), 1);",
            "inconclusive passes",
        ),
        row(
            "",
            "assert_eq!(shop::total(&[0, 1), 1);",
            "inconclusive unclear",
        ),
        row(
            "use missing::x;",
            "assert_eq!(shop::total(&[0, 1]), 1);",
            "inconclusive unclear",
        ),
        row(
            "",
            "panic!(\"by itself {}\", shop::total(&[1]));",
            "inconclusive broken",
        ),
        row("", "assert!(false);", "inconclusive not_reached"),
        row(
            "",
            "shop::other();\nassert!(false);",
            "inconclusive not_reached",
        ),
        row(
            "",
            "shop::total(&[1]);\nassert!(std::fs::create_dir(\"f\").is_err());",
            "inconclusive flaky",
        ),
        row(
            "",
            "std::thread::sleep(std::time::Duration::from_secs(60));",
            "inconclusive timed_out",
        ),
    ]);
    language.passes_after(&row("", "assert_eq!(shop::total(&[1, 2, 3]), 6);", ""));
    language.passes(&row("", "assert_eq!(shop::total(&[0, 1]), 1);", ""));
}

#[test]
fn phpunit_tells_all_ends() {
    if !has("phpunit", &["--version"], "phpunit") {
        return;
    }
    let language = Language {
        runner: "phpunit".to_owned(),
        programs: None,
        folder: "tests",
        files: &[(
            "shop/total.php",
            "<?php\n\nnamespace Shop;\n\nfunction total(array $prices): int\n{\n    $result = 0;\n    foreach (array_slice($prices, 1) as $price) {\n        $result += $price;\n    }\n    return $result;\n}\n",
        )],
        place: "shop/total.php:8",
        fix: "sed -i 's/array_slice(.prices, 1)/$prices/' shop/total.php\n",
        path: "tests/TotalTest.php",
        test: "<?php\n\nuse PHPUnit\\Framework\\TestCase;\nuse function Shop\\total;\n\nrequire_once __DIR__ . '/../shop/total.php';\n{use}\n\nfinal class TotalTest extends TestCase\n{\n    public function testTotal(): void\n    {\n        {}\n    }\n}\n",
    };
    language.shows(&[
        row(
            "",
            "$this->assertSame(6, total([1, 2, 3]));",
            "fails_before",
        ),
        row(
            "",
            "$this->assertSame(1, total([0, 1]));",
            "inconclusive passes",
        ),
        row(
            "",
            "$this->assertSame(1, total([0, 1);",
            "inconclusive broken",
        ),
        row(
            "require_once 'missing.php';",
            "$this->assertSame(1, total([0, 1]));",
            "inconclusive broken",
        ),
        row("", "total(null);", "inconclusive broken"),
        row(
            "",
            "throw new RuntimeException((string) total([1]));",
            "inconclusive broken",
        ),
        row("", "$this->fail('no');", "inconclusive not_reached"),
        row(
            "",
            "total([]);\n$this->assertFalse(@mkdir('f'));",
            "inconclusive flaky",
        ),
        row("", "sleep(60);", "inconclusive timed_out"),
    ]);
    language.passes_after(&row("", "$this->assertSame(6, total([1, 2, 3]));", ""));
    language.passes(&row("", "$this->assertSame(1, total([0, 1]));", ""));
}

#[test]
fn rspec_tells_all_ends() {
    let formatter = &["-e", "require 'rspec_junit_formatter'"];
    if !has("rspec", &["--version"], "ruby-rspec")
        || !has("ruby", formatter, "ruby-rspec-junit-formatter")
    {
        return;
    }
    let language = Language {
        runner: "rspec".to_owned(),
        programs: None,
        folder: "spec",
        files: &[(
            "shop/total.rb",
            "def total(prices)\n  result = 0\n  prices.drop(1).each { |price| result += price }\n  result\nend\n",
        )],
        place: "shop/total.rb:3",
        fix: "sed -i 's/.drop(1)//' shop/total.rb\n",
        path: "spec/total_spec.rb",
        test: "require_relative '../shop/total'\n{use}\n\nRSpec.describe 'total' do\n  it 'counts' do\n    {}\n  end\nend\n",
    };
    language.shows(&[
        row("", "expect(total([1, 2, 3])).to eq(6)", "fails_before"),
        row("", "expect(total([0, 1])).to eq(1)", "inconclusive passes"),
        row("", "expect(total([0, 1]).to eq(1)", "inconclusive broken"),
        row(
            "require 'missing'",
            "expect(total([0, 1])).to eq(1)",
            "inconclusive broken",
        ),
        row("", "total(nil)", "inconclusive broken"),
        row("", "raise total([1]).to_s", "inconclusive broken"),
        row("", "exit!(total([1]))", "inconclusive broken"),
        row("", "expect(1).to eq(2)", "inconclusive not_reached"),
        row(
            "",
            "total([])\nfirst = !File.exist?('f')\nFile.write('f', '')\nexpect(first).to be(false)",
            "inconclusive flaky",
        ),
        row("", "sleep 60", "inconclusive timed_out"),
    ]);
    language.passes_after(&row("", "expect(total([1, 2, 3])).to eq(6)", ""));
    language.passes(&row("", "expect(total([0, 1])).to eq(1)", ""));
}

fn toolchain() -> PathBuf {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    let output = output.expect("rustc starts").stdout;
    Path::new(String::from_utf8_lossy(&output).trim()).join("bin")
}
