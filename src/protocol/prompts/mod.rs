//! Prompts: a request as the text that an agent reads.
//!
//! One template a task, which a project may replace by a file of the same name. The words of files and of other agents
//! reach a template only inside fences (see `context`), so no template can let them speak for Glee.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};

use super::request::{Request, Task};
use crate::domain::Advice;
use crate::system::files;

mod context;
mod own;

/// The templates, which a project may replace; each has the name of its task.
pub const TEMPLATES: [(&str, &str); 14] = [
    ("review.md", include_str!("templates/review/review.md")),
    ("respond.md", include_str!("templates/review/respond.md")),
    ("judge.md", include_str!("templates/review/judge.md")),
    ("examine.md", include_str!("templates/review/examine.md")),
    ("defend.md", include_str!("templates/review/defend.md")),
    ("recheck.md", include_str!("templates/review/recheck.md")),
    ("compare.md", include_str!("templates/review/compare.md")),
    ("stage.md", include_str!("templates/agreement/stage.md")),
    ("aggregate.md", include_str!("templates/agreement/aggregate.md")),
    ("arbitrate.md", include_str!("templates/agreement/arbitrate.md")),
    ("questions.md", include_str!("templates/agreement/questions.md")),
    ("validate.md", include_str!("templates/agreement/validate.md")),
    ("work.md", include_str!("templates/watch/work.md")),
    ("peer.md", include_str!("templates/watch/peer.md")),
];

/// The largest template of a project that is read, in bytes.
const LARGEST: u64 = 64 * 1024;

/// The steps a template may take; a loop over a thousand findings takes some ten thousand.
const FUEL: u64 = 10_000_000;

#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    #[error("the prompt template `{}` cannot be read", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// It is a folder, a link, a device.
    #[error("the prompt template `{}` is not a regular file", path.display())]
    NotAFile { path: PathBuf },
    #[error("the prompt template `{}` is larger than {LARGEST} bytes", path.display())]
    TooLarge { path: PathBuf },
    #[error("{place}:{line}: {message}")]
    Template {
        /// The file, or the name of the built-in template.
        place: String,
        /// The line, counted from 1.
        line: usize,
        message: String,
    },
    /// An answer to this prompt could not be told from anything else.
    #[error("{place}: the prompt does not say how the answer ends")]
    NoClosing { place: String },
}

impl Advice for PromptError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Read { .. } | Self::NotAFile { .. } => None,
            Self::TooLarge { .. } | Self::Template { .. } => {
                Some("docs/prompts.md lists the values a template may use".to_owned())
            }
            Self::NoClosing { .. } => Some("put `{{ closing }}` on a line of its own, at the end".to_owned()),
        }
    }
}

/// The prompt for a request. `overrides` is the project's folder of templates (`.glee/prompts`), which need not
/// exist. Fails when the project's template cannot be read or rendered.
pub fn render(request: &Request, overrides: Option<&Path>) -> Result<String, PromptError> {
    let (name, built_in) = template(&request.task);
    let own = overrides.map(|folder| folder.join(name));
    let source = own.as_deref().map(read).transpose()?.flatten();
    // A copy of the project's folder stands for it; the person edits the file in the project.
    let place = if source.is_some() { format!(".glee/prompts/{name}") } else { name.to_owned() };
    let failed = |error: &minijinja::Error| template_error(&place, error);
    let values = Value::from(Serde(context::context(request)));
    let text = match &source {
        Some(source) => bounded(source, &values, &place)?,
        None => {
            environment(Environment::new(), FUEL).render_str(built_in, values).map_err(|error| failed(&error))?
        }
    };
    if !text.contains(&context::closing(request)) {
        return Err(PromptError::NoClosing { place });
    }
    Ok(text)
}

/// The text of the template of a task: the project's own, else the built-in one. Fails when the project's cannot be read.
pub fn source(task: &str, overrides: Option<&Path>) -> Result<String, PromptError> {
    let found = TEMPLATES.iter().find(|(name, _)| name.strip_suffix(".md") == Some(task));
    let (name, built_in) = found.expect("each task has a template");
    let own = overrides.map(|folder| read(&folder.join(name))).transpose()?.flatten();
    Ok(own.unwrap_or_else(|| (*built_in).to_owned()))
}

/// The instructions of a stage out of the template in its file, which knows `id`, `stage` and `fields`. Fails when it
/// is no template, or asks for a value that does not exist.
pub fn instructions(template: &str, id: &str, stage: &str, fields: &[String]) -> Result<String, PromptError> {
    let values = minijinja::context! { id, stage, fields => fields.to_vec() };
    bounded(template, &values, &format!("`prompt` of stage {stage}"))
}

/// Renders a template that a project brings, within bounds.
fn bounded(source: &str, values: &Value, place: &str) -> Result<String, PromptError> {
    own::check(source).map_err(|(line, message)| PromptError::Template {
        place: place.to_owned(),
        line,
        message,
    })?;
    let environment = environment(own::environment(), own::FUEL);
    let template = environment.template_from_str(source).map_err(|error| template_error(place, &error))?;
    let mut text = own::Capped::new();
    let rendered = template.render_captured_to(values, &mut text).map(drop);
    match (text.full.take(), rendered) {
        (Some(message), _) => Err(PromptError::Template { place: place.to_owned(), line: 1, message }),
        (None, Err(error)) => Err(template_error(place, &error)),
        (None, Ok(())) => Ok(text.into_text()),
    }
}

fn template_error(place: &str, error: &minijinja::Error) -> PromptError {
    let message =
        error.detail().map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind()));
    PromptError::Template { place: place.to_owned(), line: error.line().unwrap_or(1), message }
}

fn template(task: &Task) -> (&'static str, &'static str) {
    let is_named = |name: &str| name.strip_suffix(".md") == Some(task.kind());
    TEMPLATES.into_iter().find(|(name, _)| is_named(name)).expect("each task has a template")
}

fn environment(mut environment: Environment<'_>, fuel: u64) -> Environment<'_> {
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(fuel));
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    environment.set_syntax(syntax.build().expect("the default delimiters differ from each other"));
    environment
}

/// A project's template; `None` if there is none.
fn read(path: &Path) -> Result<Option<String>, PromptError> {
    let failed = |source| PromptError::Read { path: path.to_owned(), source };
    // Neither `.glee` nor `prompts` may lead elsewhere.
    for folder in path.ancestors().skip(1).take(2) {
        if folder.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            return Err(PromptError::NotAFile { path: path.to_owned() });
        }
    }
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.is_file() => return Err(PromptError::NotAFile { path: path.to_owned() }),
        Ok(_) => {}
    }
    let mut text = String::new();
    let file = files::regular(path).map_err(failed)?;
    file.take(LARGEST + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > LARGEST {
        return Err(PromptError::TooLarge { path: path.to_owned() });
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests;
