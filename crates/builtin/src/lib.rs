//! The embedded agents are a reviewer, a coder and a judge that require no model, key or network.
//!
//! An embedded agent runs as a child process of Glee's own binary: [`answer()`] is what the child process does. The only
//! inputs of an embedded agent are the request and the tree.

#[cfg(feature = "astgrep")]
mod answer;
pub mod code;
#[cfg(feature = "astgrep")]
mod demonstration;
#[cfg(feature = "astgrep")]
mod fixer;
#[cfg(feature = "astgrep")]
mod recheck;
#[cfg(feature = "astgrep")]
mod referee;
#[cfg(feature = "astgrep")]
mod reviewer;
pub mod rules;
#[cfg(all(test, feature = "astgrep"))]
mod tests;

use std::path::Path;

use glee_model::domain::{Advice, Role};
use glee_protocol::request::Request;

#[cfg(feature = "astgrep")]
pub use crate::rules::catalog::{Catalog, CatalogError, RuleInfo, RuleOrigin};
#[cfg(feature = "astgrep")]
pub use crate::rules::measure::{Measure, MeasureError, Score, measure};
/// The prefix of an embedded agent's `command` in the configuration.
pub const PREFIX: &str = "builtin:";

/// The hidden first argument that starts Glee as an embedded agent.
pub const ARGUMENT: &str = "__builtin";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    Rules,
    Fixer,
    Referee,
}

impl Builtin {
    pub const ALL: [Self; 3] = [Self::Rules, Self::Fixer, Self::Referee];

    pub fn as_str(self) -> &'static str {
        ["rules", "fixer", "referee"][self as usize]
    }

    pub fn parse(name: &str) -> Option<Self> {
        let name = name.strip_prefix(PREFIX).unwrap_or(name);
        Self::ALL
            .into_iter()
            .find(|builtin| builtin.as_str() == name)
    }

    pub fn role(self) -> Role {
        [Role::Reviewer, Role::Coder, Role::Judge][self as usize]
    }
}

#[derive(Debug, thiserror::Error)]
pub enum BuiltinError {
    #[error("unknown embedded agent `builtin:{0}`")]
    Unknown(String),
    #[error("the request to the embedded agent is not valid")]
    Request(#[source] serde_json::Error),
    #[error("`builtin:{agent}` cannot answer a request to a {role}")]
    WrongTask { agent: &'static str, role: Role },
    #[error("embedded agents have no answer to a request of the kind `{0}`")]
    Unanswerable(&'static str),
    #[error("Glee was built without its embedded agents (feature `astgrep`)")]
    NotBuilt,
    #[cfg(feature = "astgrep")]
    #[error(transparent)]
    Rules(#[from] CatalogError),
    #[error("the answer of the embedded agent is not valid")]
    Answer(#[source] serde_json::Error),
}

impl Advice for BuiltinError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown(_) => {
                let names = Builtin::ALL.map(|builtin| format!("`{PREFIX}{}`", builtin.as_str()));
                Some(format!(
                    "use one of the embedded agents {}",
                    names.join(", ")
                ))
            }
            Self::NotBuilt => Some("build Glee with the default features".to_owned()),
            #[cfg(feature = "astgrep")]
            Self::Rules(error) => error.hint(),
            Self::Request(_) | Self::WrongTask { .. } | Self::Unanswerable(_) | Self::Answer(_) => {
                None
            }
        }
    }
}

/// Returns the name of a file's language if the embedded reviewer has no rules for the language.
#[cfg(feature = "astgrep")]
pub fn language_without_rules(path: &str) -> Option<String> {
    code::language::without_rules(path)
}

#[cfg(not(feature = "astgrep"))]
pub fn language_without_rules(_path: &str) -> Option<String> {
    None
}

/// Returns the JSON answer of an embedded agent to a JSON request. Only the fixer writes to the tree at `root`.
pub fn answer(name: &str, request: &[u8], root: &Path) -> Result<String, BuiltinError> {
    let builtin = Builtin::parse(name).ok_or_else(|| BuiltinError::Unknown(name.to_owned()))?;
    let request: Request = serde_json::from_slice(request).map_err(BuiltinError::Request)?;
    if request.task.role() != builtin.role() {
        return Err(BuiltinError::WrongTask {
            agent: builtin.as_str(),
            role: request.task.role(),
        });
    }
    dispatch(&request, root)
}

#[cfg(feature = "astgrep")]
fn dispatch(request: &Request, root: &Path) -> Result<String, BuiltinError> {
    use glee_protocol::calls::judge::JudgeCall;
    use glee_protocol::calls::recheck::RecheckCall;
    use glee_protocol::calls::respond::RespondCall;
    use glee_protocol::calls::review::ReviewCall;
    use glee_protocol::request::Task;
    let body = match &request.task {
        Task::Review(ReviewCall { files, runners, .. }) => reviewer::review(files, runners, root)?,
        Task::Recheck(RecheckCall { changes, files }) => recheck::recheck(changes, files, root)?,
        Task::Respond(RespondCall { items, runners, .. }) => fixer::respond(items, runners, root)?,
        Task::Judge(JudgeCall {
            case,
            files,
            written,
            ..
        }) => referee::judge(&case.dispute, files, written, root),
        task => return Err(BuiltinError::Unanswerable(task.kind())),
    };
    serde_json::to_string_pretty(&answer::BuiltinAnswer {
        nonce: &request.nonce,
        body,
    })
    .map_err(BuiltinError::Answer)
}

#[cfg(not(feature = "astgrep"))]
fn dispatch(_request: &Request, _root: &Path) -> Result<String, BuiltinError> {
    Err(BuiltinError::NotBuilt)
}
