//! Lists the programming languages that the rules of the embedded agents support.
//!
//! Glee passes only languages with a built-in grammar to ast-grep, because ast-grep panics for other languages.

use ast_grep_core::Language as _;
use ast_grep_language::SupportLang;

pub use glee_workspace::code::grammar::{BUILT_IN as ALL, language_of as of_path};

pub fn named(name: &str) -> Option<SupportLang> {
    name.parse().ok().filter(|language| ALL.contains(language))
}

pub(crate) fn applied_to(language: SupportLang) -> &'static [SupportLang] {
    match language {
        SupportLang::TypeScript => &[SupportLang::TypeScript, SupportLang::Tsx],
        other => ALL
            .iter()
            .find(|known| **known == other)
            .map_or(&[], std::slice::from_ref),
    }
}

/// Returns the languages whose packaged rules apply to code in `language`.
pub(crate) fn packaged_for(language: SupportLang) -> &'static [SupportLang] {
    match language {
        SupportLang::JavaScript => &[SupportLang::JavaScript, SupportLang::Tsx],
        SupportLang::TypeScript => &[SupportLang::JavaScript, SupportLang::TypeScript],
        SupportLang::Tsx => &[
            SupportLang::JavaScript,
            SupportLang::TypeScript,
            SupportLang::Tsx,
        ],
        other => applied_to(other),
    }
}

/// Returns the name of a file's language if the embedded reviewer has no rules for the language. If the language is
/// unknown, returns the file's extension. If the file has no extension, returns the file's name.
pub(crate) fn without_rules(path: &str) -> Option<String> {
    if of_path(path).is_some() {
        return None;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    Some(
        match (SupportLang::from_path(path), name.rsplit_once('.')) {
            (Some(SupportLang::Cpp), _) => "C++".to_owned(),
            (Some(SupportLang::CSharp), _) => "C#".to_owned(),
            (Some(language @ (SupportLang::Css | SupportLang::Hcl | SupportLang::Html)), _)
            | (Some(language @ (SupportLang::Json | SupportLang::Php | SupportLang::Yaml)), _) => {
                language.to_string().to_uppercase()
            }
            (Some(language), _) => language.to_string(),
            (None, Some((_, extension))) if !extension.is_empty() => format!(".{extension}"),
            (None, _) => name.to_owned(),
        },
    )
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
        let unread = [
            ("a.rb", Some("Ruby")),
            ("a.c", Some("C")),
            ("a.cpp", Some("C++")),
            ("a.yml", Some("YAML")),
            ("a.sql", Some(".sql")),
            ("docs/Makefile", Some("Makefile")),
            (".gitignore", Some(".gitignore")),
            ("a.py", None),
            ("a.tsx", None),
        ];
        for (path, language) in unread {
            assert_eq!(without_rules(path).as_deref(), language, "{path}");
        }
        assert_eq!(named("typescript"), Some(SupportLang::TypeScript));
        assert_eq!(named("Bash"), None);
        assert_eq!(named("Cobol"), None);
    }
}
