//! What a user may set: the schema, its layers with their origin, comment-preserving edits, and trust.
//!
//! [`schema`] is the one place that knows the keys; everything else is driven by its table. [`load()`] reads the layers
//! (built-in defaults, the user's file, the project's file, variables, flags) and resolves them to [`settings`].

pub mod edit;
pub mod file;
mod layer;
mod load;
pub mod paths;
pub mod renamed;
mod resolve;
pub mod rulings;
pub mod schema;
pub mod scripts;
pub mod settings;
pub mod stages;
mod suggest;
pub mod trust;
mod units;
mod values;
mod yaml;

pub use layer::{Origin, Setting};
pub use load::{
    ConfigError, Loaded, Owner, Sources, Untrusted, check_names, check_text, load, project_id, typed, unknown_key,
};
pub use resolve::shown;
pub use suggest::closest;
pub use trust::command_line;
pub use values::Misfit;
pub use yaml::flow;
