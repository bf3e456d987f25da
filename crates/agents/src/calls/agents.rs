//! Defines the type [`Agents`] for calls to agents, and the types of the cached data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, OnceCell};

use crate::Execute;
use crate::calls::checkouts::BaseRun;
use crate::calls::outage::Services;
use crate::calls::permits::Permits;
use crate::calls::state_cache::StateCache;

#[derive(Clone)]
pub struct Agents {
    pub runner: Arc<dyn Execute>,
    pub cache: StateCache,
    /// The programs that were asked in this process, by path, size and time of change.
    pub(crate) known: Arc<Mutex<ProbedPrograms>>,
    pub(crate) services: Services,
    /// The checkouts in which commands of the project run. `None` if all commands run in the tree.
    pub base: Option<Arc<BaseRun>>,
    /// `None` if calls need no permits.
    pub(crate) permits: Option<Arc<dyn Permits>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cooldown {
    pub until: Timestamp,
    pub why: String,
}

pub(crate) type KnownPrograms = BTreeMap<String, KnownProgram>;
type ProbedPrograms = BTreeMap<(String, Option<(u64, u64)>), Arc<OnceCell<KnownProgram>>>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownProgram {
    pub size: u64,
    /// The modification time of the program's file, in nanoseconds since 1970.
    pub changed: u64,
    pub version: Option<String>,
    pub words: Option<BTreeSet<String>>,
}
