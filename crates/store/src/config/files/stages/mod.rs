//! Reads stages (`.glee/stages/<stage>.yml`), pipelines and lists of questions. Stages, pipelines and lists of
//! questions can refer to configured agents by name, but contain no commands.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::file::{self, FileError, Links};
use super::yaml;
use crate::config::schema::suggest::closest;
use glee_model::domain::{Advice, Question, Role};

/// The folder of a project's stages, relative to the project's root.
pub const FOLDER: &str = ".glee/stages";

/// The name and the text of each packaged stage. The stage `ask` comes first. The stages after `ask` are in the
/// order of the specification.
const PACKAGED: [(&str, &str); 7] = [
    ("ask", include_str!("ask.yml")),
    ("plan", include_str!("plan.yml")),
    ("tasks", include_str!("tasks.yml")),
    ("implement", include_str!("implement.yml")),
    ("validate", include_str!("validate.yml")),
    ("audit", include_str!("audit.yml")),
    ("unlock", include_str!("unlock.yml")),
];

pub const CHECKPOINTS: [&str; 3] = ["pre-planning", "post-plan", "post-tasks"];

/// Finds a checkpoint by its name. The comparison ignores case, blanks, `-` and `_`: for example, `PostTasks`
/// and `post_tasks` find `post-tasks`.
pub fn checkpoint(name: &str) -> Option<&'static str> {
    CHECKPOINTS
        .into_iter()
        .find(|known| letters(known) == letters(name))
}

fn letters(word: &str) -> String {
    word.chars()
        .filter(|c| !"-_ ".contains(*c))
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    #[serde(skip)]
    pub name: String,
    pub prompt: String,
    /// The fields that every answer and the synthesis must have.
    #[serde(default)]
    pub required_fields: Vec<String>,
    /// The names of the agents. By default, every agent with a role in the field `roles` takes part.
    #[serde(default)]
    pub agents: Option<Vec<String>>,
    #[serde(default = "reviewers")]
    pub roles: Vec<Role>,
    /// The name of the aggregator. The default is the first configured aggregator.
    #[serde(default)]
    pub aggregator: Option<String>,
    /// The name of the judge that decides conflicts. The default is the first configured judge.
    #[serde(default)]
    pub arbiter: Option<String>,
    #[serde(default)]
    pub gates: Vec<Gate>,
}

fn reviewers() -> Vec<Role> {
    vec![Role::Reviewer]
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    pub gate: String,
    /// The path of a list of questions, relative to the file that contains the path.
    pub questions: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    #[serde(default)]
    pub prompt: Option<String>,
    pub stages: Vec<PipelineStep>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum PipelineStep {
    Stage(String),
    Gate(Gate),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Questions {
    questions: Vec<Asked>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    id: String,
    question: String,
    #[serde(default)]
    options: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum StagesError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("there is no file `{}`", .0.display())]
    Missing(PathBuf),
    #[error("{}{}: not valid YAML: {message}", path.display(), line.map(|line| format!(":{line}")).unwrap_or_default())]
    Syntax {
        path: PathBuf,
        line: Option<u32>,
        message: String,
    },
    #[error("{}: {message}", path.display())]
    Shape { path: PathBuf, message: String },
    #[error("there is no stage `{name}`")]
    UnknownStage {
        name: String,
        similar: Option<&'static str>,
    },
    #[error("invalid name `{0}`")]
    Name(String),
}

impl Advice for StagesError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::File(error) => error.hint(),
            Self::Missing(_) => Some("check the path".to_owned()),
            Self::Syntax { .. } | Self::Shape { .. } => Some("docs/consensus.md describes the format".to_owned()),
            Self::UnknownStage { name, similar } => Some(match similar {
                Some(similar) => format!("did you mean `{similar}`?"),
                None => {
                    let packaged = PACKAGED.map(|(name, _)| name).join(", ");
                    format!("use a packaged stage ({packaged}), or define the stage in {FOLDER}/{name}.yml")
                }
            }),
            Self::Name(_) => Some(
                "use up to 100 letters, digits, `-`, `_` and `.`, beginning with a letter or a digit".to_owned(),
            ),
        }
    }
}

/// Checks that an id or a name can be used as a file name.
pub fn name(word: &str) -> Result<(), StagesError> {
    let fits = word
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if fits && word.len() <= 100 && word.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        Ok(())
    } else {
        Err(StagesError::Name(word.to_owned()))
    }
}

/// Reads the stage `name` of the project. If the project does not define the stage `name`, reads the packaged
/// stage `name`.
pub fn stage(root: &Path, name: &str) -> Result<Stage, StagesError> {
    self::name(name)?;
    let path = root.join(FOLDER).join(format!("{name}.yml"));
    let (text, path) = match (
        file::read(&path, Links::Refused)?,
        PACKAGED.iter().find(|(known, _)| *known == name),
    ) {
        (Some(text), _) => (text, path),
        (None, Some((_, text))) => ((*text).to_owned(), format!("{name}.yml").into()),
        (None, None) => {
            let similar = closest(name, PACKAGED.map(|(name, _)| name));
            return Err(StagesError::UnknownStage {
                name: name.to_owned(),
                similar,
            });
        }
    };
    let mut stage: Stage = parse(&path, &text)?;
    name.clone_into(&mut stage.name);
    if stage
        .required_fields
        .iter()
        .any(|field| field.trim().is_empty() || field == "nonce")
    {
        let message = "`required_fields` must not contain an empty name or `nonce`".to_owned();
        return Err(shape(&path, message));
    }
    Ok(stage)
}

pub fn pipeline(path: &Path) -> Result<Pipeline, StagesError> {
    let pipeline: Pipeline = parse(path, &read(path)?)?;
    if pipeline.stages.is_empty() {
        return Err(shape(path, "`stages` is empty".to_owned()));
    }
    Ok(pipeline)
}

/// Reads a list of questions. Fails if two questions have the same id, or if a question has no text or only one
/// option.
pub fn questions(path: &Path) -> Result<Vec<Question>, StagesError> {
    let Questions { questions } = parse(path, &read(path)?)?;
    if questions.is_empty() {
        return Err(shape(path, "`questions` is empty".to_owned()));
    }
    for (index, question) in questions.iter().enumerate() {
        name(&question.id).map_err(|error| shape(path, error.to_string()))?;
        if questions[..index]
            .iter()
            .any(|before| before.id == question.id)
        {
            return Err(shape(
                path,
                format!("there are two questions `{}`", question.id),
            ));
        }
        if question.question.trim().is_empty() {
            return Err(shape(
                path,
                format!("question `{}` has no text", question.id),
            ));
        }
        if question.options.len() == 1 {
            return Err(shape(
                path,
                format!("question `{}` has only one option", question.id),
            ));
        }
    }
    Ok(questions
        .into_iter()
        .map(
            |Asked {
                 id,
                 question,
                 options,
             }| Question {
                id,
                question,
                options,
            },
        )
        .collect())
}

fn shape(path: &Path, message: String) -> StagesError {
    StagesError::Shape {
        path: path.to_owned(),
        message,
    }
}

fn read(path: &Path) -> Result<String, StagesError> {
    // Symbolic links are followed, because the user chose the path.
    file::read(path, Links::Followed)?.ok_or_else(|| StagesError::Missing(path.to_owned()))
}

fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, StagesError> {
    let node = yaml::parse(text).map_err(|error| StagesError::Syntax {
        path: path.to_owned(),
        line: error.at.map(|at| at.line),
        message: error.message,
    })?;
    serde_json::from_value(node.json()).map_err(|error| shape(path, error.to_string()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn every_packaged_stage_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        for (name, _) in PACKAGED {
            let stage = stage(folder.path(), name).unwrap();
            assert_eq!(stage.name, name);
            assert_eq!(stage.required_fields.is_empty(), name == "ask", "{name}");
            assert_eq!(
                stage.roles.contains(&Role::Coder),
                name == "implement",
                "{name}"
            );
        }
    }

    #[test]
    fn a_project_has_stages_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        write(
            folder.path(),
            ".glee/stages/plan.yml",
            "prompt: Plan.\nagents: [a, b]\narbiter: c\n",
        );
        let plan = stage(folder.path(), "plan").unwrap();
        assert_eq!(
            (plan.prompt.as_str(), plan.arbiter.as_deref()),
            ("Plan.", Some("c"))
        );
        assert_eq!(plan.agents, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert!(
            stage(folder.path(), "plann")
                .unwrap_err()
                .hint()
                .unwrap()
                .contains("`plan`")
        );
        for (text, part) in [
            ("promt: x\n", "unknown field `promt`"),
            ("agents: [a]\n", "missing field `prompt`"),
            ("prompt: [\n", "not valid YAML"),
            ("prompt: x\nrequired_fields: [nonce]\n", "`nonce`"),
        ] {
            write(folder.path(), ".glee/stages/own.yml", text);
            let error = stage(folder.path(), "own").unwrap_err().to_string();
            assert!(
                error.contains("own.yml") && error.contains(part),
                "{text}: {error}"
            );
        }
        for bad in ["..", ".x", "a/b", "", "-x"] {
            assert!(
                matches!(stage(folder.path(), bad), Err(StagesError::Name(_))),
                "{bad}"
            );
        }
    }

    #[test]
    fn pipelines_and_questions() {
        let folder = tempfile::tempdir().unwrap();
        let text = "prompt: Build it.\nstages:\n  - plan\n  - gate: post-plan\n    questions: q.yml\n  - tasks\n";
        let read = pipeline(&write(folder.path(), "p.yml", text)).unwrap();
        assert_eq!(read.stages.len(), 3);
        assert_eq!(
            read.stages[1],
            PipelineStep::Gate(Gate {
                gate: "post-plan".to_owned(),
                questions: "q.yml".into()
            })
        );
        assert!(pipeline(&write(folder.path(), "e.yml", "stages: []\n")).is_err());
        let text = "questions:\n  - id: db\n    question: Which database?\n    options: [SQLite, PostgreSQL]\n";
        let read = questions(&write(folder.path(), "q.yml", text)).unwrap();
        assert_eq!((read.len(), read[0].options.len()), (1, 2));
        for (text, part) in [
            ("questions: []\n", "empty"),
            (
                "questions:\n  - {id: a, question: x}\n  - {id: a, question: y}\n",
                "two questions `a`",
            ),
            ("questions:\n  - {id: a, question: ' '}\n", "has no text"),
            ("questions:\n  - {id: a/b, question: x}\n", "invalid name"),
            (
                "questions:\n  - {id: a, question: x, options: [y]}\n",
                "one option",
            ),
        ] {
            let error = questions(&write(folder.path(), "bad.yml", text))
                .unwrap_err()
                .to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(matches!(
            questions(&folder.path().join("none.yml")),
            Err(StagesError::Missing(_))
        ));
    }
}
