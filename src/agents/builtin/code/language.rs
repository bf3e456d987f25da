//! The languages the embedded agents read: ast-grep's names for the grammars that are compiled in.
//!
//! Nothing else may be handed to the engine: it panics on a language whose grammar is missing.

use ast_grep_language::{Language as _, SupportLang};

/// The languages with a grammar.
pub(crate) use crate::workspace::code::anchors::BUILT_IN as ALL;

pub(crate) fn of_path(path: &str) -> Option<SupportLang> {
    SupportLang::from_path(path).filter(|language| ALL.contains(language))
}

pub(crate) fn named(name: &str) -> Option<SupportLang> {
    name.parse().ok().filter(|language| ALL.contains(language))
}

/// The languages that a project's rule written for `language` looks at.
pub(crate) fn looked_at(language: SupportLang) -> &'static [SupportLang] {
    match language {
        SupportLang::TypeScript => &[SupportLang::TypeScript, SupportLang::Tsx],
        other => ALL.iter().find(|known| **known == other).map_or(&[], std::slice::from_ref),
    }
}

/// The languages whose packaged rules look at files in `language`: what is wrong in JavaScript is wrong in TypeScript,
/// and both have JSX.
pub(crate) fn packaged_for(language: SupportLang) -> &'static [SupportLang] {
    match language {
        SupportLang::JavaScript => &[SupportLang::JavaScript, SupportLang::Tsx],
        SupportLang::TypeScript => &[SupportLang::JavaScript, SupportLang::TypeScript],
        SupportLang::Tsx => &[SupportLang::JavaScript, SupportLang::TypeScript, SupportLang::Tsx],
        other => looked_at(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_by_its_extension_if_its_grammar_is_compiled_in() {
        let cases = [
            ("src/main.rs", Some(SupportLang::Rust)),
            ("a.py", Some(SupportLang::Python)),
            ("a.mjs", Some(SupportLang::JavaScript)),
            ("a.cjs", Some(SupportLang::JavaScript)),
            ("a.jsx", Some(SupportLang::JavaScript)),
            ("a.mts", Some(SupportLang::TypeScript)),
            ("a.tsx", Some(SupportLang::Tsx)),
            ("a.go", Some(SupportLang::Go)),
            ("A.java", Some(SupportLang::Java)),
            ("a.sh", None),
            ("README.md", None),
            ("Makefile", None),
        ];
        for (path, language) in cases {
            assert_eq!(of_path(path), language, "{path}");
        }
        assert_eq!(named("typescript"), Some(SupportLang::TypeScript));
        assert_eq!(named("Bash"), None);
        assert_eq!(named("Cobol"), None);
    }
}
