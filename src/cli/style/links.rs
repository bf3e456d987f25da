//! Turns source locations into terminal hyperlinks (OSC 8) that open the file in an editor.

use std::path::{Component, Path, PathBuf};

use glee_system::uri;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceLinks {
    /// The address of a link, with the placeholders `{path}`, `{line}` and `{column}`.
    format: String,
    folder: PathBuf,
}

impl PlaceLinks {
    pub const FILE: &str = "file://{path}";

    /// `folder` is absolute. The linked paths are relative to `folder`.
    pub fn new(format: impl Into<String>, folder: impl Into<PathBuf>) -> Self {
        Self {
            format: format.into(),
            folder: folder.into(),
        }
    }

    /// Links `text` to a line of a file. The caller has already escaped `text`. The result has the width of
    /// `text`.
    pub fn place(&self, text: &str, path: &str, line: Option<u32>) -> String {
        format!(
            "\x1b]8;;{}\x1b\\{text}\x1b]8;;\x1b\\",
            self.address(path, line)
        )
    }

    fn address(&self, path: &str, line: Option<u32>) -> String {
        // An encoded path cannot end the control sequence.
        let path = uri::path(normal(&self.folder.join(path)));
        let line = line.unwrap_or(1).to_string();
        // The path is inserted last, because a path can contain the text of a placeholder.
        self.format
            .replace("{line}", &line)
            .replace("{column}", "1")
            .replace("{path}", &path)
    }
}

/// Turns `text` into a link to a location, or returns `text` unchanged if `links` is `None`.
pub fn linked(links: Option<&PlaceLinks>, text: String, path: &str, line: Option<u32>) -> String {
    match links {
        Some(links) => links.place(&text, path, line),
        None => text,
    }
}

/// Resolves `..` in a path without reading the file system.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::style::{columns, wrap};

    #[test]
    fn a_link_has_the_width_of_its_text_and_no_path_breaks_it() {
        let links = PlaceLinks::new("vscode://file{path}:{line}:{column}", "/home/me/my project");
        assert_eq!(
            links.place("src/a.rs:7", "src/a.rs", Some(7)),
            "\x1b]8;;vscode://file/home/me/my%20project/src/a.rs:7:1\x1b\\src/a.rs:7\x1b]8;;\x1b\\"
        );
        let file = PlaceLinks::new(PlaceLinks::FILE, "/a/b");
        for (path, address) in [
            ("../c.py", "file:///a/c.py"),
            ("x\x1b\\\x07;y", "file:///a/b/x%1B%5C%07%3By"),
            ("{line} é", "file:///a/b/%7Bline%7D%20%C3%A9"),
            ("/etc/x", "file:///etc/x"),
        ] {
            let link = file.place("here", path, None);
            assert_eq!(
                link,
                format!("\x1b]8;;{address}\x1b\\here\x1b]8;;\x1b\\"),
                "{path:?}"
            );
            assert_eq!(columns(&link), 4, "{path:?}");
        }
        let lines = wrap(
            &format!(
                "{} and more",
                links.place("src/a.rs:7", "src/a.rs", Some(7))
            ),
            16,
        );
        assert_eq!(
            lines.iter().map(|line| columns(line)).collect::<Vec<_>>(),
            [14, 4]
        );
    }
}
