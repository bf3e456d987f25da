//! The checkouts of the base in which commands of a project run, and how a call of an agent moves there.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::TempDir;

use crate::process::sandbox;
use crate::{Confinement, Invocation};
use glee_model::domain::{Agent, AgentName, Role};

/// The folder that contains the change as data.
pub const CHANGE: &str = "GLEE_CHANGE";
/// The tree that a coder edits.
pub const TREE: &str = "GLEE_TREE";

#[derive(Debug)]
pub struct BaseRun {
    pub commit: String,
    pub tree: PathBuf,
    /// The folder of each agent, with the checkout and the change.
    pub places: BTreeMap<AgentName, Checkout>,
    pub(crate) is_mounted: bool,
    /// Whether a file of the commit names the tree's path.
    pub(crate) names_tree: bool,
    pub _folder: TempDir,
}

#[derive(Debug)]
pub struct Checkout {
    pub checkout: PathBuf,
    pub change: PathBuf,
    /// The paths of the files under review.
    pub reviewed: Mutex<Vec<String>>,
}

impl BaseRun {
    /// Moves a call of an agent to the checkout. Returns false if the agent's command runs in the tree.
    pub fn apply(
        &self,
        agent: &Agent,
        invocation: &mut Invocation,
        confinement: &mut Option<Confinement>,
    ) -> bool {
        let Some(Checkout {
            checkout, change, ..
        }) = self.places.get(&agent.name)
        else {
            return false;
        };
        set(&mut invocation.env, CHANGE, change);
        if let Some(confinement) = confinement {
            let folders = [checkout, change].map(|folder| sandbox::real(folder).into());
            confinement.open.extend(folders.clone());
            confinement.timed = [folders.as_slice(), &[self.tree.clone().into()]].concat();
        }
        if self.is_mounted && agent.role != Role::Coder {
            // The checkout also is at the tree's path, so `$0` and the paths in a command agree.
            if let Ok(inside) = invocation.program.strip_prefix(checkout) {
                invocation.program = self.tree.join(inside);
            }
            invocation.cwd.clone_from(&self.tree);
            let confinement = confinement.get_or_insert_default();
            confinement.over = Some((checkout.into(), self.tree.clone().into()));
        } else {
            invocation.cwd.clone_from(checkout);
            if let Some(path) = invocation.env.get_mut(OsStr::new("PATH")) {
                *path = moved(path, &self.tree, checkout);
            }
        }
        if agent.role == Role::Coder {
            set(&mut invocation.env, TREE, &self.tree);
        }
        true
    }
}

fn set(env: &mut BTreeMap<OsString, OsString>, name: &str, value: &Path) {
    env.insert(name.into(), value.into());
}

/// Replaces the folders of `path` inside the tree by the folders of the checkout.
fn moved(path: &OsStr, tree: &Path, checkout: &Path) -> OsString {
    let folders = std::env::split_paths(path).map(|folder| match folder.strip_prefix(tree) {
        Ok(inside) => checkout.join(inside),
        Err(_) => folder,
    });
    std::env::join_paths(folders).unwrap_or_default()
}
