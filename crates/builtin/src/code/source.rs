//! Reads files of the tree for the fixer, and writes the fixed text. A file keeps its line ends, byte order mark
//! and permissions.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use glee_system::files;

/// The text of a file, its kind of line breaks, and whether the file begins with a byte order mark.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceText {
    /// The text has `\n` line ends and no byte order mark.
    pub text: String,
    mark: bool,
    crlf: bool,
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

impl SourceText {
    pub fn read(root: &Path, path: &str) -> Result<Self, String> {
        let text = files::read_to_string(&resolve(root, path)?).map_err(io_error(path))?;
        let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (true, rest.to_owned()),
            None => (false, text),
        };
        let ends = text.matches('\n').count();
        match text.matches("\r\n").count() {
            0 => Ok(Self {
                text,
                mark,
                crlf: false,
            }),
            count if count == ends => Ok(Self {
                text: text.replace("\r\n", "\n"),
                mark,
                crlf: true,
            }),
            _ => Err(format!("`{path}` mixes line endings")),
        }
    }

    fn bytes(&self) -> String {
        let text = if self.crlf {
            self.text.replace('\n', "\r\n")
        } else {
            self.text.clone()
        };
        if self.mark {
            format!("{BYTE_ORDER_MARK}{text}")
        } else {
            text
        }
    }
}

pub fn write(root: &Path, path: &str, source: &SourceText) -> Result<(), String> {
    let target = resolve(root, path)?;
    let bytes = source.bytes();
    // A version that a killed fixer leaves is in its own temporary folder, never in the tree.
    let aside = std::env::temp_dir().join("glee-fix");
    files::replace(&target, &aside, |new| {
        let mut file = fs::File::create_new(new)?;
        file.write_all(bytes.as_bytes())?;
        file.set_permissions(fs::metadata(&target)?.permissions())?;
        file.sync_all()
    })
    // The temporary folder can be on another file system. The tree was recorded before the fixer began.
    .or_else(|_| fs::write(&target, &bytes))
    .map_err(io_error(path))
}

/// Returns the path of a regular file inside `root`. Fails if the path contains a symbolic link or a `.git` folder.
pub fn resolve(root: &Path, path: &str) -> Result<PathBuf, String> {
    let outside = || format!("`{path}` is outside the tree");
    let mut target = root.to_owned();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(name) if !name.eq_ignore_ascii_case(".git") => target.push(name),
            Component::CurDir => continue,
            _ => return Err(outside()),
        }
        if fs::symlink_metadata(&target)
            .map_err(io_error(path))?
            .is_symlink()
        {
            return Err(outside());
        }
    }
    if !target.is_file() {
        return Err(format!("`{path}` is not a regular file"));
    }
    Ok(target)
}

fn io_error(path: &str) -> impl FnOnce(io::Error) -> String + '_ {
    move |error| format!("`{path}`: {error}")
}
