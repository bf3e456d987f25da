//! Evaluates the git attributes that Glee uses.

use std::collections::BTreeMap;

use crate::git::path_bytes;

/// The git attributes of files. The outer key is a path, and the inner key is the name of an attribute.
#[derive(Debug, Default)]
pub struct Attributes(pub BTreeMap<Vec<u8>, BTreeMap<String, String>>);

pub const ASKED: [&str; 7] = [
    "linguist-generated",
    "text",
    "eol",
    "crlf",
    "filter",
    "ident",
    "working-tree-encoding",
];

impl Attributes {
    /// Puts `folder` before all paths.
    pub fn below(self, folder: &[u8]) -> Self {
        let of_path = self.0.into_iter();
        Self(
            of_path
                .map(|(path, values)| (path_bytes::joined(folder, &path), values))
                .collect(),
        )
    }

    /// Whether a file is marked as generated, or `None` if the attribute `linguist-generated` is unspecified.
    pub fn generated(&self, path: &[u8]) -> Option<bool> {
        match self.value(path, "linguist-generated")? {
            "set" | "true" => Some(true),
            "unset" | "false" => Some(false),
            _ => None,
        }
    }

    /// Whether the attributes permit git to convert the line endings of a file. If the result is `None`, the
    /// attributes are unspecified, and git's configuration applies.
    pub(crate) fn converts_line_ends(&self, path: &[u8]) -> Option<bool> {
        let value = |name| self.value(path, name);
        match (value("text").or_else(|| value("crlf")), value("eol")) {
            (Some("unset"), _) => Some(false),
            (Some(_), _) | (_, Some(_)) => Some(true),
            (None, None) => None,
        }
    }

    /// Whether git can convert the file's content, for example the line endings. The content of the git object
    /// then differs from the content of the file.
    pub fn converts(&self, path: &[u8], autocrlf: bool) -> bool {
        self.converts_line_ends(path).unwrap_or(autocrlf) || self.is_filtered(path)
    }

    /// Whether git can convert more than the line endings of the file, for example because of the attribute
    /// `filter`.
    pub(crate) fn is_filtered(&self, path: &[u8]) -> bool {
        ["filter", "ident", "working-tree-encoding"]
            .into_iter()
            .any(|name| self.value(path, name).is_some_and(|value| value != "unset"))
    }

    fn value(&self, path: &[u8], name: &str) -> Option<&str> {
        self.0.get(path)?.get(name).map(String::as_str)
    }
}
