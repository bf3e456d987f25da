use std::collections::BTreeMap;

/// What `.gitattributes` says of files, as far as Glee asks.
#[derive(Debug, Default)]
pub(crate) struct Attributes(pub(crate) BTreeMap<Vec<u8>, BTreeMap<String, String>>);

pub(crate) const ASKED: [&str; 7] =
    ["linguist-generated", "text", "eol", "crlf", "filter", "ident", "working-tree-encoding"];

impl Attributes {
    /// Whether a file is marked as generated; `None` if nothing is said.
    pub(crate) fn generated(&self, path: &[u8]) -> Option<bool> {
        match self.value(path, "linguist-generated")? {
            "set" | "true" => Some(true),
            "unset" | "false" => Some(false),
            _ => None,
        }
    }

    /// Whether git may change the file's line ends; `None` if that is left to the configuration.
    pub(crate) fn converts_line_ends(&self, path: &[u8]) -> Option<bool> {
        let said = |name| self.value(path, name);
        match (said("text").or_else(|| said("crlf")), said("eol")) {
            (Some("unset"), _) => Some(false),
            (Some(_), _) | (_, Some(_)) => Some(true),
            (None, None) => None,
        }
    }

    /// Whether git may have written other bytes to the work tree than it has in the object.
    pub(crate) fn converts(&self, path: &[u8], autocrlf: bool) -> bool {
        self.converts_line_ends(path).unwrap_or(autocrlf) || self.is_filtered(path)
    }

    /// Whether git changes more of the file than its line ends.
    pub(crate) fn is_filtered(&self, path: &[u8]) -> bool {
        let says = |name| self.value(path, name).is_some_and(|value| value != "unset");
        says("filter") || says("ident") || says("working-tree-encoding")
    }

    fn value(&self, path: &[u8], name: &str) -> Option<&str> {
        self.0.get(path)?.get(name).map(String::as_str)
    }
}
