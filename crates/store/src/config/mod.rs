//! Reads, checks and edits the configuration. The module [`settings`] declares the keys, and the [`schema`] is
//! derived from these declarations. [`load()`] merges the layers in this order: built-in defaults, the user's file,
//! the project's file, variables, flags.

pub mod choices;
pub mod error;
pub mod files;
pub mod layers;
pub mod origin;
pub mod presets;
pub mod programs;
pub mod schema;
pub mod settings;
pub mod test_runner;
pub mod trust;

pub use crate::config::error::ConfigError;
pub use crate::config::files::yaml::flow;
pub use crate::config::layers::layer::Setting;
pub use crate::config::layers::load::{
    ConfigSources, Loaded, UntrustedConfig, check_names, check_text, load, project_id, typed,
    unknown_key,
};
pub use crate::config::layers::resolve::{opposite_lists, shown, tags_without};
pub use crate::config::origin::{Origin, Owner};
pub use crate::config::schema::suggest::closest;
pub use crate::config::schema::values::InvalidValue;
pub use trust::command_line;
