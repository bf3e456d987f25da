//! Defines the type [`Agents`] for calls to agents, and the types of the cached data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::agents::Execute;
use crate::agents::calls::checkouts::BaseRun;
use crate::agents::calls::state_cache::StateCache;

#[derive(Clone)]
pub struct Agents {
    pub(crate) runner: Arc<dyn Execute>,
    pub(crate) cache: StateCache,
    pub(crate) known: Arc<Mutex<KnownPrograms>>,
    /// The checkouts in which commands of the project run. `None` if all commands run in the tree.
    pub(crate) base: Option<Arc<BaseRun>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cooldown {
    pub until: Timestamp,
    pub why: String,
}

pub(crate) type KnownPrograms = BTreeMap<String, KnownProgram>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownProgram {
    pub(crate) size: u64,
    /// The modification time of the program's file, in nanoseconds since 1970.
    pub(crate) changed: u64,
    pub(crate) version: Option<String>,
    pub(crate) words: Option<BTreeSet<String>>,
}
