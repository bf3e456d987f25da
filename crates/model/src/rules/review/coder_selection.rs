//! Selects the coder for a file (design rule 3): the first coder with a matching domain. Without a file and without a
//! matching domain, selects the first coder.

use globset::{Glob, GlobMatcher};

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

/// The coders to choose from, each with its domains.
pub struct Coders<'a>(Vec<(&'a Agent, Vec<Domain<'a>>)>);

impl<'a> Coders<'a> {
    pub fn of(coders: impl Iterator<Item = &'a Agent>) -> Self {
        Self(
            coders
                .map(|coder| {
                    let domains = coder.domain.iter().map(|domain| Domain::of(domain));
                    (coder, domains.collect())
                })
                .collect(),
        )
    }

    pub fn of_file(&self, file: Option<&str>) -> Option<&'a Agent> {
        for (coder, domains) in &self.0 {
            if file.is_some_and(|file| domains.iter().any(|domain| domain.matches(file))) {
                return Some(coder);
            }
        }
        self.0.first().map(|(coder, _)| *coder)
    }
}

/// A path glob, a language or the name of a path component.
struct Domain<'a> {
    text: &'a str,
    word: String,
    /// A plain word is no glob.
    glob: Option<GlobMatcher>,
}

impl<'a> Domain<'a> {
    fn of(domain: &'a str) -> Self {
        let text = domain.trim();
        let glob = Glob::new(text)
            .ok()
            .filter(|_| text.contains(['*', '?', '[', '{']));
        Self {
            text,
            word: text.to_lowercase(),
            glob: glob.map(|glob| glob.compile_matcher()),
        }
    }

    fn matches(&self, file: &str) -> bool {
        let Self { text, word, glob } = self;
        let name = file.rsplit('/').next().unwrap_or(file);
        let extension = name
            .rsplit_once('.')
            .map(|(_, extension)| extension.to_lowercase())
            .unwrap_or_default();
        let lists = |words: &str, word: &str| words.split(' ').any(|known| known == word);
        let language = LANGUAGES
            .iter()
            .any(|(names, extensions)| lists(names, word) && lists(extensions, &extension));
        language
            || file
                .split('/')
                .any(|component| component.eq_ignore_ascii_case(word))
            || *text == file
            || glob.as_ref().is_some_and(|glob| glob.is_match(file))
    }
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
            vendor: None,
            profile: None,
            reads: None,
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
            ("src/x.{js,ts}", "src/x.ts", true),
            ("src/web.c", "src/web.c", true),
            ("src/web", "src/web/x.c", false),
            ("[", "x.go", false),
        ];
        for (domain, file, expected) in rows {
            assert_eq!(
                Domain::of(domain).matches(file),
                expected,
                "{domain} {file}"
            );
        }
    }

    #[test]
    fn no_match_takes_the_first_coder() {
        let rows = [
            (Some("x.py"), "a"),
            (Some("x.rs"), "b"),
            (Some("backend/x.py"), "a"),
            (Some("backend/x.cobol"), "b"),
            (Some("x.cobol"), "a"),
            (None, "a"),
        ];
        let coders = [coder("a", &["python"]), coder("b", &["rust", "backend"])];
        for (file, expected) in rows {
            let chosen = Coders::of(coders.iter()).of_file(file);
            let name = chosen.map(|coder| coder.name.0.as_str());
            assert_eq!(name, Some(expected), "{file:?}");
        }
        assert_eq!(Coders::of([].iter()).of_file(Some("x.rs")), None);
    }
}
