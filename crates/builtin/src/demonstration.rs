//! Tests that the embedded agents give, for unittest or pytest.
//!
//! A finding about a call that its fix replaces by another one gets a test in Python: the flagged function is called, and the
//! test fails if it makes the call. An objection that cites a test gets a copy of that test.

use std::path::Path;

use crate::code::symbols::{self, Syntax};
use crate::rules::scan::{self, Hit};
use glee_model::domain::Demonstration;
use glee_protocol::calls::parts::OfferedRunner;
use glee_protocol::text::references::Reference;
use glee_system::files;

/// The runners by the names that `glee init` proposes. Both run a `unittest.TestCase`.
const RUNNERS: [&str; 2] = ["unittest", "pytest"];

const TEST: &str = r#""""Calls `{function}` and watches `{callee}`."""

import importlib
import os
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.abspath("{root}"))


class Watched(unittest.TestCase):
    def test_{name}_is_not_called(self):
        try:
            importlib.import_module("{package}")
        except ImportError:
            sys.modules["{package}"] = mock.MagicMock()
        module = importlib.import_module("{module}")
        with mock.patch.object(module, "{package}") as package:
            module.{function}({arguments})
        package.{name}.assert_not_called()
"#;

/// The runner for tests in Python; `None` if none is offered.
fn runner(offered: &[OfferedRunner]) -> Option<&OfferedRunner> {
    let mut offered = offered.iter();
    offered.find(|runner| RUNNERS.contains(&runner.name.as_str()))
}

/// A test that fails as long as a function of a module makes the call that a rule found in it. Returns `None` if the fix
/// makes the same call, or if the call is not of the form `package.name(...)` in a function of the module.
pub(crate) fn of_call(
    path: &str,
    text: &str,
    hit: &Hit,
    fix: &str,
    offered: &[OfferedRunner],
    root: &Path,
) -> Option<Demonstration> {
    let runner = runner(offered)?;
    let stem = path.strip_suffix(".py")?;
    let (callee, _) = text.get(hit.range.clone())?.split_once('(')?;
    let (package, name) = callee.split_once('.')?;
    let is_word = |word: &str| !word.is_empty() && word.chars().all(is_word_char);
    if !is_word(package) || !is_word(name) || fix.contains(&format!("{callee}(")) {
        return None;
    }
    let tree = scan::tree(path, text)?;
    let (function, arguments) = function_around(&symbols::covering(&tree, &hit.range))?;
    let (folder, module) = importable(stem, root)?;
    let file = stem.rsplit('/').next().unwrap_or(stem);
    let code = TEST
        .replace("{root}", &folder)
        .replace("{module}", &module)
        .replace("{callee}", callee)
        .replace("{package}", package)
        .replace("{name}", name)
        .replace("{arguments}", &arguments)
        .replace("{function}", &function);
    let path = format!("{}/test_{file}_{function}.py", runner.folder);
    (!root.join(&path).exists()).then(|| Demonstration {
        runner: runner.name.clone(),
        path,
        code: code.into(),
    })
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The name of the function of the module around a node, and arguments for a call of it: an empty file for a parameter
/// whose name speaks of a path or a file, and a mock for every other one. Parameters with a default are left out.
fn function_around(node: &Syntax<'_>) -> Option<(String, String)> {
    let mut around = node.ancestors();
    let function = around.find(|node| node.kind() == "function_definition")?;
    let is_of_module = function.parent()?.kind() == "module";
    let name = function
        .field("name")
        .filter(|_| is_of_module)?
        .text()
        .into_owned();
    let parameters = function.field("parameters")?;
    let mut arguments = Vec::new();
    for parameter in parameters.children() {
        let word = match &*parameter.kind() {
            "identifier" => parameter.text().into_owned(),
            "typed_parameter" => parameter.child(0)?.text().into_owned(),
            _ => continue,
        };
        let is_file = ["path", "file"].iter().any(|part| word.contains(part));
        arguments.push(if is_file {
            "os.devnull"
        } else {
            "mock.MagicMock()"
        });
    }
    Some((name, arguments.join(", ")))
}

/// The folder from which a module is imported, and its name there: the packages around it have an `__init__.py`.
fn importable(stem: &str, root: &Path) -> Option<(String, String)> {
    let parts: Vec<&str> = stem.split('/').collect();
    let is_plain = |part: &&str| part.chars().all(is_word_char);
    let mut first = parts.len() - 1;
    while first > 0
        && root
            .join(parts[..first].join("/"))
            .join("__init__.py")
            .is_file()
    {
        first -= 1;
    }
    let (folder, module) = parts.split_at(first);
    let is_whole = module.iter().all(is_plain)
        && folder
            .iter()
            .all(|part| !part.contains(['"', '\\']) && !part.is_empty());
    let folder = if folder.is_empty() {
        ".".to_owned()
    } else {
        folder.join("/")
    };
    is_whole.then(|| (folder, module.join(".")))
}

/// A copy of the test that an objection cites, beside it, if it lies below the folder of a runner.
pub(crate) fn of_cited(
    cited: &Reference,
    from: &str,
    offered: &[OfferedRunner],
    root: &Path,
) -> Option<Demonstration> {
    let runner = runner(offered)?;
    let mut meanings = glee_model::domain::meanings(&cited.path, from);
    let path = meanings.find(|path| root.join(path).is_file())?;
    let (folder, name) = path.rsplit_once('/')?;
    let is_below = folder == runner.folder || folder.starts_with(&format!("{}/", runner.folder));
    let stem = name.strip_prefix("test_")?.strip_suffix(".py")?;
    let copy = format!("{folder}/test_cited_{stem}.py");
    let is_new = is_below && !root.join(&copy).exists();
    let code = files::read_to_string(&root.join(&path)).ok()?;
    is_new.then(|| Demonstration {
        runner: runner.name.clone(),
        path: copy,
        code: code.into(),
    })
}
