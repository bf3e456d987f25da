use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::agents::calls::state_cache::Memory;
use crate::agents::process::runner::Execute;

#[derive(Clone)]
pub struct Agents {
    pub(crate) runner: Arc<dyn Execute>,
    pub(crate) memory: Memory,
    pub(crate) known: Arc<Mutex<Known>>,
}

pub(crate) type Cooldowns = BTreeMap<String, Cooldown>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cooldown {
    pub until: Timestamp,
    /// Why, in the words of the last failure.
    pub why: String,
}

/// What is known of the programs, by path.
pub(crate) type Known = BTreeMap<String, KnownProgram>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownProgram {
    pub(crate) size: u64,
    /// When the file was changed, in nanoseconds since 1970.
    pub(crate) changed: u64,
    pub(crate) version: Option<String>,
    pub(crate) words: Option<BTreeSet<String>>,
}
