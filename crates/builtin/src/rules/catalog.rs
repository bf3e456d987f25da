//! Loads the rules of the embedded reviewer: the packaged rules, and the project's rules in `.glee/rules/*.yml`.
//!
//! If a rule file is invalid, the error names the file and the line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ast_grep_config::{
    DeserializeEnv, GlobalRules, RuleCollection, RuleConfig, SerializableGlobalRule,
    SerializableRuleConfig, Severity, from_multiple,
};
use ast_grep_language::SupportLang;
use serde::{Deserialize, Serialize};

use super::packaged::{self, RuleFile};
use crate::code::language;
use crate::rules::PROJECT_RULES;
use glee_model::domain::{Advice, Cwe, Ground, Tag};
use glee_protocol::text::{LenientValue, weakness};
use glee_system::files;

const LARGEST_FILE: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleOrigin {
    Packaged,
    Project,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleInfo {
    pub id: String,
    /// The language's name as ast-grep spells it.
    pub language: String,
    /// The class of the defects that the rule finds. Only rules of a project can lack a class.
    pub category: Option<String>,
    /// The weakness of the defects that the rule finds.
    pub cwe: Option<Cwe>,
    pub tag: Tag,
    /// The title of the rule's findings. In the title of a finding, each variable such as `$NAME` is replaced by
    /// the code that the variable matched.
    pub message: String,
    pub note: Option<String>,
    pub(crate) fixable: bool,
    /// Which code the rule is applied to. A rule of a project is applied to all code.
    pub(crate) applies_to: Vec<Ground>,
    pub origin: RuleOrigin,
}

#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("failed to read `{file}`")]
    Unreadable {
        file: String,
        #[source]
        source: std::io::Error,
    },
    #[error("`{file}` is not a rule file: {problem}")]
    NotAFile { file: String, problem: &'static str },
    #[error("invalid rule at `{file}:{line}`: {problem}")]
    Invalid {
        file: String,
        /// The line of the error. If the line of the error is unknown, `line` is the first line of the rule.
        line: u64,
        problem: String,
    },
}

impl Advice for CatalogError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable { .. } | Self::NotAFile { .. } => None,
            Self::Invalid { .. } => Some(
                "write rules in ast-grep's format (https://ast-grep.github.io/reference/yaml.html), and add \
                 `metadata: {tag: MUST|HIGH|SHOULD|MEDIUM|LOW, category: ..., cwe: ...}`"
                    .to_owned(),
            ),
        }
    }
}

pub struct Catalog {
    pub rules: RuleCollection<SupportLang>,
    infos: BTreeMap<String, RuleInfo>,
}

impl Catalog {
    /// Loads the packaged rules and the project's rules that apply to at least one of the `paths`.
    pub(crate) fn for_paths<'a>(
        root: &Path,
        paths: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, CatalogError> {
        Self::load(&languages(paths), None, &project_files(root)?)
    }

    /// Loads the packaged rules that have one of the `ids`, and all rules of the project. Rules that apply to none
    /// of the `paths` are omitted.
    pub(crate) fn for_rules<'a>(
        root: &Path,
        paths: impl IntoIterator<Item = &'a str>,
        ids: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, CatalogError> {
        let ids = ids.into_iter().collect();
        Self::load(&languages(paths), Some(&ids), &project_files(root)?)
    }

    pub fn all(root: &Path) -> Result<Self, CatalogError> {
        Self::load(&language::ALL, None, &project_files(root)?)
    }

    pub fn packaged() -> Result<Self, CatalogError> {
        Self::load(&language::ALL, None, &[])
    }

    pub fn infos(&self) -> impl Iterator<Item = &RuleInfo> {
        self.infos.values()
    }

    pub fn info(&self, id: &str) -> Option<&RuleInfo> {
        self.infos.get(id)
    }

    fn load(
        languages: &[SupportLang],
        ids: Option<&BTreeSet<&str>>,
        project: &[(String, String)],
    ) -> Result<Self, CatalogError> {
        let mut loading = Loading::default();
        for &language in languages {
            loading.packaged(language, ids)?;
        }
        // Glee validates all rules of the project, including rules that apply to none of the `languages`.
        for (file, text) in project {
            loading.project(languages, file, text)?;
        }
        let Loading { configs, infos } = loading;
        let rules = RuleCollection::try_new(configs).map_err(|error| {
            invalid(PROJECT_RULES, 1, &format!("`files` or `ignores`: {error}"))
        })?;
        Ok(Self { rules, infos })
    }
}

fn languages<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<SupportLang> {
    let found: Vec<SupportLang> = paths.into_iter().filter_map(language::of_path).collect();
    language::ALL
        .into_iter()
        .filter(|language| found.contains(language))
        .collect()
}

#[derive(Default)]
struct Loading {
    configs: Vec<RuleConfig<SupportLang>>,
    infos: BTreeMap<String, RuleInfo>,
}

impl Loading {
    /// Compiles the packaged rules that have one of the `ids`, or all packaged rules if `ids` is `None`. The
    /// compilation of a rule is slow, so rules without a requested id are skipped.
    fn packaged(
        &mut self,
        language: SupportLang,
        ids: Option<&BTreeSet<&str>>,
    ) -> Result<(), CatalogError> {
        let families = language::packaged_for(language);
        let all = packaged::FILES.iter();
        let files = all.filter(|file| families.contains(&file.language));
        let mut shared = Vec::new();
        for file in files.clone() {
            shared.extend(parse::<SerializableGlobalRule<SupportLang>>(
                file.path,
                file.shared,
            )?);
        }
        for rule in &mut shared {
            rule.language = language;
        }
        let globals = DeserializeEnv::parse_global_utils(shared)
            .map_err(|error| invalid("packaged rules", 1, &chain(&error)))?;
        for RuleFile { path, rules, .. } in files {
            for document in rules.split("\n---\n").filter(|document| {
                packaged_id(document).is_some_and(|id| ids.is_none_or(|ids| ids.contains(id)))
            }) {
                for rule in parse::<SerializableRuleConfig<SupportLang>>(path, document)? {
                    let fail = |problem: String| invalid(path, line_of(rules, &rule.id), &problem);
                    let info = info(&rule, RuleOrigin::Packaged).map_err(fail)?;
                    let config = compile(rule.clone(), language, &globals).map_err(fail)?;
                    self.infos.entry(info.id.clone()).or_insert(info);
                    self.configs.push(config);
                }
            }
        }
        Ok(())
    }

    fn project(
        &mut self,
        languages: &[SupportLang],
        file: &str,
        text: &str,
    ) -> Result<(), CatalogError> {
        for head in parse::<Head>(file, text)? {
            if language::named(&head.language).is_none() {
                let known = language::ALL
                    .map(|language| language.to_string())
                    .join(", ");
                let problem = format!("language `{}` is not one of {known}", head.language);
                return Err(invalid(file, line_of(text, &head.id), &problem));
            }
        }
        for rule in parse::<SerializableRuleConfig<SupportLang>>(file, text)? {
            let line = line_of(text, &rule.id);
            let fail = |problem: &str| invalid(file, line, problem);
            let info = info(&rule, RuleOrigin::Project).map_err(|problem| fail(&problem))?;
            if info.id.is_empty() {
                return Err(fail("the rule has no `id`"));
            }
            if self.infos.contains_key(&info.id) || is_packaged(&info.id) {
                return Err(fail(&format!(
                    "the id `{}` is taken by another rule",
                    info.id
                )));
            }
            for &target in language::applied_to(rule.language) {
                let config = compile(rule.clone(), target, &GlobalRules::default())
                    .map_err(|error| fail(&error))?;
                if languages.contains(&target) {
                    self.configs.push(config);
                }
            }
            self.infos.insert(info.id.clone(), info);
        }
        Ok(())
    }
}

fn packaged_id(document: &str) -> Option<&str> {
    document.lines().next()?.strip_prefix("id: ").map(str::trim)
}

fn is_packaged(id: &str) -> bool {
    packaged::FILES
        .iter()
        .flat_map(|file| file.rules.split("\n---\n"))
        .any(|document| packaged_id(document) == Some(id))
}

#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    id: String,
    language: String,
}

#[derive(Default, Deserialize)]
struct Meta {
    tag: Option<String>,
    category: Option<String>,
    #[serde(default)]
    cwe: LenientValue,
    /// The code other than product code to which a packaged rule is applied.
    #[serde(default)]
    also: Vec<Ground>,
}

fn info(
    rule: &SerializableRuleConfig<SupportLang>,
    origin: RuleOrigin,
) -> Result<RuleInfo, String> {
    let meta: Meta = match &rule.metadata {
        Some(metadata) => serde_json::to_value(metadata)
            .and_then(serde_json::from_value)
            .map_err(|error| format!("`metadata`: {error}"))?,
        None => Meta::default(),
    };
    let tag = match &meta.tag {
        Some(word) => Tag::parse(word.trim()).ok_or_else(|| {
            format!(
                "`metadata.tag` is `{word}`, not one of {}",
                Tag::ALL.map(|tag| tag.to_string()).join(", ")
            )
        })?,
        None => match rule.severity {
            Severity::Error => Tag::High,
            Severity::Warning => Tag::Medium,
            Severity::Info | Severity::Hint | Severity::Off => Tag::Low,
        },
    };
    let cwe = weakness::read(&meta.cwe)
        .map_err(|id| format!("`metadata.cwe` is `{id}`, which is no weakness of the CWE list"))?;
    let message = if rule.message.trim().is_empty() {
        rule.id.clone()
    } else {
        rule.message.trim().to_owned()
    };
    Ok(RuleInfo {
        id: rule.id.clone(),
        language: rule.language.to_string(),
        category: meta.category,
        cwe,
        tag,
        message,
        note: rule.note.as_ref().map(|note| note.trim().to_owned()),
        fixable: rule.fix.is_some(),
        applies_to: match origin {
            RuleOrigin::Packaged => std::iter::once(Ground::Product).chain(meta.also).collect(),
            RuleOrigin::Project => Ground::ALL.to_vec(),
        },
        origin,
    })
}

fn compile(
    mut rule: SerializableRuleConfig<SupportLang>,
    language: SupportLang,
    globals: &GlobalRules,
) -> Result<RuleConfig<SupportLang>, String> {
    rule.language = language;
    RuleConfig::try_from(rule, globals).map_err(|error| chain(&error))
}

fn parse<'a, T: Deserialize<'a>>(file: &str, text: &'a str) -> Result<Vec<T>, CatalogError> {
    from_multiple(text).map_err(|error| {
        let line = error.location().map_or(1, |place| place.line());
        invalid(
            file,
            line,
            error.to_string().lines().next().unwrap_or("not a rule"),
        )
    })
}

fn line_of(text: &str, id: &str) -> u64 {
    text.lines()
        .zip(1..)
        .find(|(line, _)| names(id, line))
        .map_or(1, |(_, number)| number)
}

fn names(id: &str, line: &str) -> bool {
    let value = line
        .trim_start_matches("- ")
        .trim_start()
        .strip_prefix("id:")
        .map(str::trim);
    value.map(|value| value.trim_matches(['"', '\''])) == Some(id)
}

fn invalid(file: &str, line: u64, problem: &str) -> CatalogError {
    CatalogError::Invalid {
        file: file.to_owned(),
        line,
        problem: problem.to_owned(),
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{}: {cause}", text.trim_end_matches('.'));
        source = cause.source();
    }
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

fn unreadable(file: &str) -> impl Fn(std::io::Error) -> CatalogError {
    move |source| CatalogError::Unreadable {
        file: file.to_owned(),
        source,
    }
}

fn project_files(root: &Path) -> Result<Vec<(String, String)>, CatalogError> {
    let folder = root.join(PROJECT_RULES);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(PROJECT_RULES)(error)),
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable(PROJECT_RULES))?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "yml" || extension == "yaml")
        {
            paths.push(path);
        }
    }
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let file = format!("{PROJECT_RULES}/{name}");
            let metadata = std::fs::symlink_metadata(&path).map_err(unreadable(&file))?;
            if !metadata.is_file() {
                return Err(CatalogError::NotAFile {
                    file,
                    problem: "not a regular file",
                });
            }
            if metadata.len() > LARGEST_FILE {
                return Err(CatalogError::NotAFile {
                    file,
                    problem: "larger than 1 MiB",
                });
            }
            let text = files::read_to_string(&path).map_err(unreadable(&file))?;
            Ok((file, text))
        })
        .collect()
}
