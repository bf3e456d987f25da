//! Parses lock files into packages and versions. A file in an unexpected format yields no packages.

use std::collections::BTreeSet;

use serde_json::Value;

use glee_model::rules::advisories::{Ecosystem, Locked};

pub(crate) const NAMES: [&str; 8] = [
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "poetry.lock",
    "uv.lock",
    "requirements.txt",
    "go.mod",
    "go.sum",
];

pub(crate) fn packages(name: &str, text: &str) -> BTreeSet<Locked> {
    let (ecosystem, found) = match name {
        "Cargo.lock" => (Ecosystem::Crates, tables(text)),
        "package-lock.json" | "npm-shrinkwrap.json" => (Ecosystem::Npm, npm(text)),
        "poetry.lock" | "uv.lock" => (Ecosystem::Pypi, tables(text)),
        "requirements.txt" => (Ecosystem::Pypi, pins(text)),
        "go.mod" | "go.sum" => (Ecosystem::Go, modules(text)),
        _ => return BTreeSet::new(),
    };
    let locked = found.into_iter().map(|(name, version)| Locked {
        ecosystem,
        name: ecosystem.canonical(&name),
        version,
    });
    locked.collect()
}

type Pairs = Vec<(String, String)>;

fn tables(text: &str) -> Pairs {
    let lock: toml::Table = toml::from_str(text).unwrap_or_default();
    let packages = lock
        .get("package")
        .and_then(toml::Value::as_array)
        .into_iter()
        .flatten();
    let word = |package: &toml::Value, key| Some(package.get(key)?.as_str()?.to_owned());
    packages
        .filter_map(|package| Some((word(package, "name")?, word(package, "version")?)))
        .collect()
}

/// Parses a lock file of npm. In versions 2 and 3 of the format, the object `packages` maps paths to packages. In
/// version 1, objects with the name `dependencies`, which can be nested, map names to packages.
fn npm(text: &str) -> Pairs {
    let lock: Value = serde_json::from_str(text).unwrap_or_default();
    let version = |entry: &Value| Some(entry.get("version")?.as_str()?.to_owned());
    if let Some(packages) = lock.get("packages").and_then(Value::as_object) {
        let named = packages.iter().filter_map(|(path, entry)| {
            let (_, last) = path.rsplit_once("node_modules/")?;
            let name = entry.get("name").and_then(Value::as_str).unwrap_or(last);
            Some((name.to_owned(), version(entry)?))
        });
        return named.collect();
    }
    let mut found = Vec::new();
    let mut open = vec![&lock];
    while let Some(node) = open.pop() {
        for (name, entry) in node
            .get("dependencies")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            found.extend(version(entry).map(|version| (name.clone(), version)));
            open.push(entry);
        }
    }
    found
}

/// Parses lines of the form `name==version`. Ignores the extras, markers, hashes and comments in a line.
fn pins(text: &str) -> Pairs {
    text.lines()
        .filter_map(|line| {
            let line = line.split(['#', ';']).next()?.split(" --").next()?.trim();
            let (name, version) = line.split_once("==")?;
            let name = name.split('[').next()?.trim();
            let version = version
                .trim_start_matches('=')
                .trim()
                .trim_end_matches('\\')
                .trim();
            let is_one = !version.is_empty() && !version.contains(['*', ',', ' ']);
            (is_one && !name.is_empty()).then(|| (name.to_owned(), version.to_owned()))
        })
        .collect()
}

/// Parses the paths and versions of modules in `go.sum`, or in the `require` directives of `go.mod`.
fn modules(text: &str) -> Pairs {
    text.lines()
        .filter_map(|line| {
            let line = line.split("//").next()?.trim();
            let mut words = line
                .strip_prefix("require ")
                .unwrap_or(line)
                .split_whitespace();
            let path = words.next()?;
            let version = words.next()?;
            let version = version.trim_end_matches("/go.mod");
            let is_version =
                version.starts_with('v') && version[1..].starts_with(|c: char| c.is_ascii_digit());
            (path.contains('.') && is_version).then(|| (path.to_owned(), version.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_lock_files() {
        let v3 = r#"{"lockfileVersion": 3, "packages": {"": {"version": "9.9.9"},
            "node_modules/@a/b": {"version": "1.0.0"}, "node_modules/x/node_modules/y": {"version": "2.0.0"}}}"#;
        let v1 = r#"{"lockfileVersion": 1, "dependencies": {"x": {"version": "1.0.0",
            "dependencies": {"y": {"version": "2.0.0"}}}}}"#;
        let cargo = "version = 4\n[[package]]\nname = \"time\"\nversion = \"0.1.43\"\n";
        let pins =
            "# pinned\nJinja2[i18n]==2.10.1 ; python_version > '3' --hash=x\nflask>=1\nfoo==1.*\n";
        let go = "module a.b/c\n\ngo 1.22\n\nrequire x.y/z v1.2.3 // indirect\nrequire (\n\tgolang.org/x/net v0.1.0\n)\n";
        let rows = [
            ("package-lock.json", v3, "@a/b 1.0.0, y 2.0.0"),
            ("package-lock.json", v1, "x 1.0.0, y 2.0.0"),
            ("Cargo.lock", cargo, "time 0.1.43"),
            (
                "uv.lock",
                "[[package]]\nname = \"Some_Lib\"\nversion = \"1\"\n",
                "some-lib 1",
            ),
            ("requirements.txt", pins, "jinja2 2.10.1"),
            ("go.mod", go, "golang.org/x/net v0.1.0, x.y/z v1.2.3"),
            (
                "go.sum",
                "x.y/z v1.2.3 h1:abc=\nx.y/z v1.2.3/go.mod h1:def=\n",
                "x.y/z v1.2.3",
            ),
            ("Cargo.lock", "{ not toml", ""),
            ("package-lock.json", "[", ""),
        ];
        for (name, text, expected) in rows {
            let found = packages(name, text);
            let shown: Vec<String> = found
                .iter()
                .map(|one| format!("{} {}", one.name, one.version))
                .collect();
            assert_eq!(shown.join(", "), expected, "{name}");
        }
    }
}
