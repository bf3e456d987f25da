//! The packaged rules are YAML files that are compiled into Glee.
//!
//! To add a rule, add a YAML document to one of these files, and add a sample with the rule's name to
//! `tests/rules/`.

use ast_grep_language::SupportLang;

pub struct RuleFile {
    pub language: SupportLang,
    pub path: &'static str,
    /// YAML definitions of matchers. A rule uses the key `matches:` to refer to a matcher.
    pub shared: &'static str,
    pub rules: &'static str,
}

macro_rules! rule_files {
    ($($language:ident $folder:literal: $($file:literal),+;)+) => {
        &[$(
            RuleFile {
                language: SupportLang::$language,
                path: concat!($folder, "/shared.yml"),
                shared: include_str!(concat!($folder, "/shared.yml")),
                rules: "",
            },
            $(RuleFile {
                language: SupportLang::$language,
                path: concat!($folder, "/", $file, ".yml"),
                shared: "",
                rules: include_str!(concat!($folder, "/", $file, ".yml")),
            },)+
        )+]
    };
}

pub const FILES: &[RuleFile] = rule_files! {
    Rust "rust": "injection", "protection", "robustness";
    Python "python": "injection", "protection", "robustness";
    JavaScript "javascript": "injection", "protection", "robustness";
    TypeScript "typescript": "injection", "robustness";
    Tsx "tsx": "injection";
    Go "go": "injection", "protection", "robustness";
    Java "java": "injection", "protection", "robustness";
};
