//! One file a command, grouped as `glee --help` groups them.

pub(crate) mod history;
pub(crate) mod people;
pub(crate) mod settings;
pub(crate) mod tools;
pub(crate) mod work;
