//! What every kind of call uses.

pub(super) use std::io::{self, BufRead};

pub(super) use schemars::JsonSchema;
pub(super) use serde::{Deserialize, Serialize};
pub(super) use serde_json::{Value, json};

pub(super) use crate::calls::kind::{AboutKind, CallKind, JsonForm};
pub(super) use crate::calls::parts::SourceFile;
pub(super) use crate::calls::read::valid;
pub(super) use crate::prompts::fence::{DataFence, list};
pub(super) use glee_model::domain::event::CallAnswer;
pub(super) use glee_model::domain::{FindingId, Role, Untrusted};
