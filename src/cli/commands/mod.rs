//! The commands of Glee: one file per command, grouped as in `glee --help`.

pub(crate) mod history;
pub(crate) mod people;
pub(crate) mod settings;
pub(crate) mod tools;
pub(crate) mod work;
