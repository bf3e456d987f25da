//! Selects the coder for a file (design rule 3): the first coder with a matching domain. Without a file and without a
//! matching domain, selects the first coder.

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

pub fn coder_for<'a>(
    coders: impl Iterator<Item = &'a Agent> + Clone,
    file: Option<&str>,
) -> Option<&'a Agent> {
    let is_of = |coder: &&Agent, file| {
        let mut domains = coder.domain.iter();
        domains.any(|domain| domain_matches(domain, file))
    };
    let matching = file.and_then(|file| coders.clone().find(|coder| is_of(coder, file)));
    matching.or_else(|| coders.clone().next())
}

/// Whether a file matches a domain. A domain is a path glob, a language or the name of a path component.
pub(crate) fn domain_matches(domain: &str, file: &str) -> bool {
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
        || domain.trim() == file
        // A glob is compiled for each file, so a plain word is not compared as a glob.
        || domain.contains(['*', '?', '[', '{'])
            && Glob::new(domain.trim()).is_ok_and(|glob| glob.compile_matcher().is_match(file))
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
            ("src/x.{js,ts}", "src/x.ts", true),
            ("src/web.c", "src/web.c", true),
            ("src/web", "src/web/x.c", false),
            ("[", "x.go", false),
        ];
        for (domain, file, expected) in rows {
            assert_eq!(domain_matches(domain, file), expected, "{domain} {file}");
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
            let chosen = coder_for(coders.iter(), file).map(|coder| coder.name.0.as_str());
            assert_eq!(chosen, Some(expected), "{file:?}");
        }
        assert_eq!(coder_for([].iter(), Some("x.rs")), None);
    }
}
