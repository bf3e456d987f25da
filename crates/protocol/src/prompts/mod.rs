//! Renders requests to agents as text prompts.
//!
//! Each task has one template. In place of a built-in template, a project can use its own template file with the
//! same name. A template receives text from files and other agents only inside fences (see `context`). The fences
//! distinguish this text from Glee's instructions.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};

use crate::calls::KINDS;
use crate::request::{Request, Task};
use glee_model::domain::Advice;
use glee_system::files;

mod context;
pub mod fence;
mod project_templates;

/// The file names of all templates.
pub fn names() -> impl Iterator<Item = String> {
    KINDS.iter().map(|kind| format!("{}.md", kind.name))
}

/// The maximum size of a template file in a project, in bytes.
const LARGEST: u64 = 64 * 1024;

const FUEL: u64 = 10_000_000;

#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    #[error("the prompt template `{}` cannot be read", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the prompt template `{}` is not a regular file", path.display())]
    NotAFile { path: PathBuf },
    #[error("the prompt template `{}` is larger than {LARGEST} bytes", path.display())]
    TooLarge { path: PathBuf },
    #[error("{place}:{line}: {message}")]
    Template {
        place: String,
        /// The 1-based line number in the template.
        line: usize,
        message: String,
    },
    #[error("{place}: the prompt does not contain the closing line")]
    NoClosing { place: String },
    #[error("{place}: the prompt does not contain the instructions of this run")]
    NoInstructions { place: String },
}

impl Advice for PromptError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Read { .. } | Self::NotAFile { .. } => None,
            Self::TooLarge { .. } | Self::Template { .. } => {
                Some("docs/prompts.md lists the values that a template can use".to_owned())
            }
            Self::NoClosing { .. } => {
                Some("put `{{ closing }}` on the last line, without other text".to_owned())
            }
            Self::NoInstructions { .. } => Some(
                "put `{{ instructions }}` into the template, or leave out `--instructions`"
                    .to_owned(),
            ),
        }
    }
}

/// Renders the prompt for a request. `overrides` is the path of the folder with the project's templates. The
/// folder need not exist.
pub fn render(request: &Request, overrides: Option<&Path>) -> Result<String, PromptError> {
    let (name, built_in, own) = template(request.task.kind(), overrides)?;
    // The folder `overrides` can be a temporary copy of `.glee/prompts`. An error message therefore contains the
    // path of the file in `.glee/prompts`.
    let place = if own.is_some() {
        format!(".glee/prompts/{name}")
    } else {
        name
    };
    let values = Value::from(Serde(context::context(request)));
    let text = match &own {
        Some(source) => bounded(source, &values, &place)?,
        None => environment(Environment::new(), FUEL)
            .render_str(built_in, values)
            .map_err(|error| template_error(&place, &error))?,
    };
    if !text.contains(&request.task.must_contain(&request.nonce)) {
        return Err(PromptError::NoClosing { place });
    }
    // What a person asks for is not left out silently.
    match &request.task {
        Task::Review(call) if !text.contains(&call.instructions_in(&context::fence(request))) => {
            Err(PromptError::NoInstructions { place })
        }
        _ => Ok(text),
    }
}

pub fn source(task: &str, overrides: Option<&Path>) -> Result<String, PromptError> {
    let (_, built_in, own) = template(task, overrides)?;
    Ok(own.unwrap_or_else(|| built_in.to_owned()))
}

/// Renders the instructions of a stage. The template can use the values `id`, `stage` and `fields`. Fails if the
/// template is malformed or uses an undefined value.
pub fn instructions(
    template: &str,
    id: &str,
    stage: &str,
    fields: &[String],
) -> Result<String, PromptError> {
    let values = minijinja::context! { id, stage, fields => fields.to_vec() };
    bounded(template, &values, &format!("`prompt` of stage {stage}"))
}

fn bounded(source: &str, values: &Value, place: &str) -> Result<String, PromptError> {
    project_templates::check(source).map_err(|(line, message)| refused(place, line, message))?;
    let environment = environment(project_templates::environment(), project_templates::FUEL);
    let template = environment
        .template_from_str(source)
        .map_err(|error| template_error(place, &error))?;
    let mut text = project_templates::Capped::new();
    let rendered = template.render_captured_to(values, &mut text).map(drop);
    match (text.full.take(), rendered) {
        (Some(message), _) => Err(refused(place, 1, message)),
        (None, Err(error)) => Err(template_error(place, &error)),
        (None, Ok(())) => Ok(String::from_utf8_lossy(&text.text).into_owned()),
    }
}

fn refused(place: &str, line: usize, message: String) -> PromptError {
    PromptError::Template {
        place: place.to_owned(),
        line,
        message,
    }
}

fn template_error(place: &str, error: &minijinja::Error) -> PromptError {
    let message = error.detail().map_or_else(
        || error.kind().to_string(),
        |detail| format!("{}: {detail}", error.kind()),
    );
    PromptError::Template {
        place: place.to_owned(),
        line: error.line().unwrap_or(1),
        message,
    }
}

/// Returns the file name of a kind's template, the built-in template, and the project's template (if any).
fn template(
    kind: &str,
    overrides: Option<&Path>,
) -> Result<(String, &'static str, Option<String>), PromptError> {
    let name = format!("{kind}.md");
    let about = KINDS.iter().find(|about| about.name == kind);
    let built_in = about.expect("each kind has a template").template;
    let own = overrides
        .map(|folder| read(&folder.join(&name)))
        .transpose()?
        .flatten();
    Ok((name, built_in, own))
}

fn environment(mut environment: Environment<'_>, fuel: u64) -> Environment<'_> {
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(fuel));
    let mut syntax = SyntaxConfig::builder();
    syntax
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true);
    environment.set_syntax(
        syntax
            .build()
            .expect("the default delimiters differ from each other"),
    );
    environment
}

fn read(path: &Path) -> Result<Option<String>, PromptError> {
    let failed = |source| PromptError::Read {
        path: path.to_owned(),
        source,
    };
    // The folders `.glee` and `prompts` must not be symbolic links.
    for folder in path.ancestors().skip(1).take(2) {
        if folder
            .symlink_metadata()
            .is_ok_and(|found| found.is_symlink())
        {
            return Err(PromptError::NotAFile {
                path: path.to_owned(),
            });
        }
    }
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.is_file() => {
            return Err(PromptError::NotAFile {
                path: path.to_owned(),
            });
        }
        Ok(_) => {}
    }
    let mut text = String::new();
    let file = files::regular(path).map_err(failed)?;
    file.take(LARGEST + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if text.len() as u64 > LARGEST {
        return Err(PromptError::TooLarge {
            path: path.to_owned(),
        });
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests;
