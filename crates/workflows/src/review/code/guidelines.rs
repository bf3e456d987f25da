//! The project's guidelines for the code under review. A change does not choose the guidelines of its own review: they are
//! read from its base.

use serde::{Deserialize, Serialize};

use crate::run::error::RunError;
use crate::run::resources::RunResources;
use glee_model::domain::event::Plan;
use glee_model::domain::{Role, number_of};
use glee_protocol::request::Guideline;
use glee_protocol::text::printable;
use glee_store::config::schema::values::GuidelineChoice;
use glee_store::config::settings::Settings;
use glee_workspace::root::Workspace;
use glee_workspace::select::{GuidelineFile, GuidelineNames, is_guideline};

/// The bound of the guidelines in one call, in bytes of the prompt.
const CALL: usize = 8_000;

/// A notice names no more than this number of sections.
const NAMED: usize = 8;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Guidelines(Vec<GuidelineFile>);

/// The guidelines of one call.
#[derive(Debug, Default)]
pub(crate) struct CallGuidelines {
    pub sent: Vec<Guideline>,
    /// The ids of those that are above the bound.
    pub left_out: Vec<String>,
}

impl Guidelines {
    /// Reads the guidelines for a planned review: those of the commit whose rulings are in force, or without one those of
    /// the tree. Fails if `review.guidelines` names a file that exists in neither.
    pub(crate) fn read(
        workspace: &Workspace,
        settings: &Settings,
        plan: &Plan,
    ) -> Result<Self, RunError> {
        let choice = &settings.review.guidelines;
        let names = match choice {
            _ if !is_sent(plan) => return Ok(Self::default()),
            GuidelineChoice::Off => return Ok(Self::default()),
            GuidelineChoice::Auto => GuidelineNames::Usual,
            GuidelineChoice::Files(files) => GuidelineNames::Files(files),
        };
        let covered = plan.shards.iter().flatten();
        let commit = plan.rulings_at.as_deref();
        let paths = covered.map(|covered| covered.file.as_str());
        let found = workspace.guidelines(commit, names, paths)?;
        if let GuidelineChoice::Files(files) = choice {
            for file in files {
                let path = workspace.of_project(file);
                let is_found = found.iter().any(|known| known.path == path);
                if !is_found && !workspace.root().join(&path).is_file() {
                    return Err(RunError::MissingGuidelines(path));
                }
            }
        }
        Ok(Self(found))
    }

    /// A hash of all that applies to a file, for the key of an answer.
    pub(crate) fn key(&self, path: &str) -> String {
        let files = self.0.iter().filter(|file| file.applies(path));
        let lines = files.flat_map(|file| &file.sections);
        let lines: Vec<String> = lines.flat_map(Guideline::lines).collect();
        blake3::hash(lines.join("\n").as_bytes())
            .to_hex()
            .to_string()
    }

    /// The guidelines that apply to at least one of the files, as many as the bound allows. A section that is repeated, as in
    /// a copy of a file, is sent once.
    pub(crate) fn of_call(&self, files: &[&str]) -> CallGuidelines {
        let mut found = CallGuidelines::default();
        let mut left = CALL;
        let applies = |file: &&GuidelineFile| files.iter().any(|path| file.applies(path));
        for guideline in self
            .0
            .iter()
            .filter(applies)
            .flat_map(|file| &file.sections)
        {
            let is_copy = found.sent.iter().any(|known| {
                (&known.text, &known.applies_to) == (&guideline.text, &guideline.applies_to)
            });
            if is_copy {
                continue;
            }
            let size = guideline.size();
            if size > left {
                found.left_out.push(guideline.id.clone());
            } else {
                left -= size;
                found.sent.push(guideline.clone());
            }
        }
        found
    }

    pub(crate) fn with_id(&self, id: &str) -> Option<&Guideline> {
        let mut sections = self.0.iter().flat_map(|file| &file.sections);
        sections.find(|section| section.id == id)
    }

    /// Says which guidelines are not sent, and that an edit of guidelines is not applied. `changed` are the files with a diff.
    pub(crate) fn notices<'a>(
        &self,
        resources: &RunResources,
        plan: &Plan,
        changed: impl Iterator<Item = &'a str>,
    ) -> Vec<String> {
        let mut notices = Vec::new();
        let mut left_out: Vec<String> = Vec::new();
        for shard in &plan.shards {
            let paths: Vec<&str> = shard.iter().map(|covered| covered.file.as_str()).collect();
            for id in self.of_call(&paths).left_out {
                if !left_out.contains(&id) {
                    left_out.push(id);
                }
            }
        }
        if !left_out.is_empty() {
            let number = number_of(left_out.len(), "section");
            let bound = CALL / 1000;
            let named = listed(&left_out);
            notices.push(format!(
                "{number} of guidelines left out, because a call holds {bound} kB of them: {named}"
            ));
        }
        let edited = changed.filter(|path| match &resources.settings.review.guidelines {
            GuidelineChoice::Auto => is_guideline(path),
            GuidelineChoice::Off => false,
            GuidelineChoice::Files(files) => {
                let mut files = files.iter();
                files.any(|file| resources.workspace.of_project(file) == **path)
            }
        });
        let edited: Vec<String> = edited.map(str::to_owned).collect();
        if let Some(commit) = &plan.rulings_at
            && is_sent(plan)
            && !edited.is_empty()
        {
            let short: String = commit.chars().take(12).collect();
            let named = listed(&edited);
            notices.push(format!(
                "the change edits guidelines, and this review applies those of commit {short}: {named}"
            ));
        }
        notices
    }
}

/// An embedded reviewer is sent no guidelines.
fn is_sent(plan: &Plan) -> bool {
    let mut agents = plan.agents.iter();
    agents.any(|agent| agent.role == Role::Reviewer && !agent.is_embedded())
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMED);
    let shown: Vec<String> = shown
        .map(|name| format!("`{}`", printable::line(name)))
        .collect();
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}
