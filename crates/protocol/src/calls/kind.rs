//! What a kind of call is made of.

use std::io::{self, BufRead};

use schemars::{JsonSchema, Schema, schema_for};
use serde_json::Value;

use crate::prompts::fence::DataFence;
use glee_model::domain::event::CallAnswer;
use glee_model::domain::{DisputeNumber, FindingId, PairId, Role};

/// A published JSON form.
#[derive(Clone, Copy, Debug)]
pub struct JsonForm {
    pub name: &'static str,
    pub about: &'static str,
    /// Builds the JSON Schema (draft 2020-12).
    pub schema: fn() -> Schema,
    /// Whether the whole answer must have this form. Otherwise, an answer can also be prose.
    pub is_whole: bool,
}

impl JsonForm {
    /// A form that the whole answer must have.
    pub const fn whole<T: JsonSchema>(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            about,
            schema: || schema_for!(T),
            is_whole: true,
        }
    }

    /// A form of answers that can also be prose.
    pub const fn beside_prose<T: JsonSchema>(name: &'static str, about: &'static str) -> Self {
        Self {
            is_whole: false,
            ..Self::whole::<T>(name, about)
        }
    }

    /// Returns the JSON Schema as a command-line argument, without the key `$schema`. Some programs would fetch
    /// the address in the key `$schema`.
    pub fn argument(&self) -> String {
        let mut schema = (self.schema)();
        schema.remove("$schema");
        schema.to_value().to_string()
    }
}

/// What is the same in all calls of a kind.
#[derive(Clone, Copy, Debug)]
pub struct AboutKind {
    /// The value of the field `kind` in a task's JSON, and the name of the template.
    pub name: &'static str,
    pub role: Role,
    pub template: &'static str,
    /// The form of an answer in JSON; `None` if the answer is prose, or its fields are chosen by the user. A call can have
    /// another one (see [`CallKind::form`]).
    pub form: Option<JsonForm>,
}

pub trait CallKind {
    const ABOUT: AboutKind;
    /// Whether the model has to reason with more effort than its default.
    const WANTS_EFFORT: bool = false;

    /// The form of the answer in JSON.
    fn form(&self) -> Option<JsonForm> {
        Self::ABOUT.form
    }

    /// Returns the values of the prompt's template.
    fn context(&self, fence: &DataFence<'_>) -> Value;

    /// Returns the text that proves that an answer belongs to the request. In prose, this text is the closing line;
    /// in JSON, this text is the field `nonce`.
    fn closing(&self, nonce: &str) -> String {
        let kind = Self::ABOUT.name.to_uppercase();
        format!("GLEE-{kind}-END nonce={nonce} answers=<n>")
    }

    /// Returns the text that every prompt contains.
    fn must_contain(&self, nonce: &str) -> String {
        self.closing(nonce)
    }

    /// Reads an agent's answer. Fails only if the answer cannot be read from the disk.
    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer>;

    /// The findings that the answer has to name.
    fn findings(&self) -> Vec<FindingId> {
        Vec::new()
    }

    /// The pairs that the answer has to name.
    fn pairs(&self) -> Vec<PairId> {
        Vec::new()
    }

    /// The disputes that the answer has to decide.
    fn disputes(&self) -> Vec<DisputeNumber> {
        Vec::new()
    }
}
