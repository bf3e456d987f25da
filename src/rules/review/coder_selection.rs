//! Which coder gets a target (design rule 3): the first whose domain matches, else the first. Never an error.

use globset::Glob;

use crate::domain::Agent;

/// Languages by file extension, with the names a domain may use, lower case.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("rs", &["rust"]),
    ("py", &["python"]),
    ("pyi", &["python"]),
    ("js", &["javascript", "js"]),
    ("mjs", &["javascript", "js"]),
    ("cjs", &["javascript", "js"]),
    ("jsx", &["javascript", "js", "react"]),
    ("ts", &["typescript", "ts"]),
    ("mts", &["typescript", "ts"]),
    ("tsx", &["typescript", "ts", "react"]),
    ("go", &["go", "golang"]),
    ("java", &["java"]),
    ("kt", &["kotlin"]),
    ("c", &["c"]),
    ("h", &["c", "c++", "cpp"]),
    ("cc", &["c++", "cpp"]),
    ("cpp", &["c++", "cpp"]),
    ("hpp", &["c++", "cpp"]),
    ("cs", &["c#", "csharp"]),
    ("rb", &["ruby"]),
    ("php", &["php"]),
    ("swift", &["swift"]),
    ("scala", &["scala"]),
    ("sh", &["shell", "bash", "sh"]),
    ("sql", &["sql"]),
    ("html", &["html"]),
    ("css", &["css"]),
    ("md", &["markdown", "docs"]),
    ("ex", &["elixir"]),
    ("exs", &["elixir"]),
    ("hs", &["haskell"]),
    ("lua", &["lua"]),
    ("zig", &["zig"]),
];

/// The coder for the files of a target.
pub fn coder_for<'a>(coders: &[&'a Agent], files: &[String]) -> Option<&'a Agent> {
    let matching = coders
        .iter()
        .find(|coder| coder.domain.iter().any(|domain| files.iter().any(|file| domain_matches(domain, file))));
    matching.or(coders.first()).copied()
}

/// Whether a domain word names a file: as a path glob, a language, or a component of its path.
pub fn domain_matches(domain: &str, file: &str) -> bool {
    let word = domain.trim().to_lowercase();
    let extension =
        file.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end.to_lowercase());
    let language = extension.is_some_and(|extension| {
        LANGUAGES.iter().any(|(known, names)| *known == extension && names.contains(&word.as_str()))
    });
    language
        || file.split('/').any(|component| component.eq_ignore_ascii_case(&word))
        || Glob::new(domain.trim()).is_ok_and(|glob| glob.compile_matcher().is_match(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{AgentName, Role};

    fn coder(name: &str, domain: &[&str]) -> Agent {
        Agent {
            name: AgentName::from(name),
            role: Role::Coder,
            command: vec![name.into()],
            adapter: "text".into(),
            domain: domain.iter().map(ToString::to_string).collect(),
            focus: Vec::new(),
            model: None,
            effort: None,
            env: std::collections::BTreeMap::new(),
            timeout: None,
            backup: None,
            price: None,
        }
    }

    #[test]
    fn a_domain_is_a_glob_a_language_or_a_component() {
        let rows = [
            ("rust", "src/db.rs", true),
            ("Rust", "src/db.rs", true),
            ("python", "src/db.rs", false),
            ("backend", "backend/api/x.py", true),
            ("backend", "src/backend.rs", false),
            ("src/api/**", "src/api/v1/x.go", true),
            ("src/api/**", "src/web/x.go", false),
            ("*.go", "x.go", true),
            ("[", "x.go", false),
        ];
        for (domain, file, expected) in rows {
            assert_eq!(domain_matches(domain, file), expected, "{domain} {file}");
        }
    }

    #[test]
    fn no_match_takes_the_first_coder() {
        let (a, b) = (coder("a", &["python"]), coder("b", &["rust", "backend"]));
        let name = |files: &[&str], coders: &[&Agent]| {
            let files: Vec<String> = files.iter().map(ToString::to_string).collect();
            coder_for(coders, &files).map(|agent| agent.name.0.clone())
        };
        assert_eq!(name(&["x.rs"], &[&a, &b]).as_deref(), Some("b"));
        assert_eq!(name(&["x.py", "x.rs"], &[&a, &b]).as_deref(), Some("a"));
        assert_eq!(name(&["x.cobol"], &[&a, &b]).as_deref(), Some("a"));
        assert_eq!(name(&["x.rs"], &[]), None);
    }
}
