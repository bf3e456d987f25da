//! Selects the coder for a target (design rule 3): the first coder with a matching domain. Without a matching
//! domain, selects the first configured coder.

use globset::Glob;

use crate::domain::Agent;

const LANGUAGES: [(&str, &str); 24] = [
    ("rust", "rs"),
    ("python", "py pyi"),
    ("javascript js", "js mjs cjs jsx"),
    ("typescript ts", "ts mts tsx"),
    ("react", "jsx tsx"),
    ("go golang", "go"),
    ("java", "java"),
    ("kotlin", "kt"),
    ("c", "c h"),
    ("c++ cpp", "h cc cpp hpp"),
    ("c# csharp", "cs"),
    ("ruby", "rb"),
    ("php", "php"),
    ("swift", "swift"),
    ("scala", "scala"),
    ("shell bash sh", "sh"),
    ("sql", "sql"),
    ("html", "html"),
    ("css", "css"),
    ("markdown docs", "md"),
    ("elixir", "ex exs"),
    ("haskell", "hs"),
    ("lua", "lua"),
    ("zig", "zig"),
];

pub fn coder_for<'a>(coders: &[&'a Agent], files: &[String]) -> Option<&'a Agent> {
    let matching = coders.iter().find(|coder| {
        coder
            .domain
            .iter()
            .any(|domain| files.iter().any(|file| domain_matches(domain, file)))
    });
    matching.or(coders.first()).copied()
}

/// Whether a file matches a domain. A domain is a path glob, a language or the name of a path component.
pub fn domain_matches(domain: &str, file: &str) -> bool {
    let word = domain.trim().to_lowercase();
    let name = file.rsplit('/').next().unwrap_or(file);
    let extension = name
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_lowercase())
        .unwrap_or_default();
    let lists = |words: &str, word: &str| words.split(' ').any(|known| known == word);
    let language = LANGUAGES
        .iter()
        .any(|(names, extensions)| lists(names, &word) && lists(extensions, &extension));
    language
        || file
            .split('/')
            .any(|component| component.eq_ignore_ascii_case(&word))
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
