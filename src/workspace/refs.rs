//! The refs of a repository, by name.
//!
//! Where they are kept as git has always kept them, a file each and `packed-refs`, they are read from there; that takes
//! a fraction of what it takes to start git, which is asked where they are kept otherwise (gitrepository-layout(5),
//! gitformat-reftable(5)).

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::git::{Repository, object_id};
use super::{WorkspaceError, content, names};

/// The bytes of a ref's file that are read at most: an id, or the name of another ref.
const REF: u64 = 64 << 10;
/// The bytes of `packed-refs` that are read at most.
const PACKED: u64 = 1 << 30;

/// Names of refs with what they stand for.
pub(super) type Refs = BTreeMap<String, String>;

impl Repository {
    /// Every ref but Glee's own.
    pub(super) fn refs(&self) -> Result<Refs, WorkspaceError> {
        let mut refs = match self.refs_in_files() {
            Some(refs) => refs,
            None => self.listed_refs()?,
        };
        refs.retain(|name, _| !name.starts_with("refs/glee/"));
        Ok(refs)
    }

    /// The refs as git lists them.
    fn listed_refs(&self) -> Result<Refs, WorkspaceError> {
        let listed = self.call(["for-each-ref", "--format=%(refname) %(objectname) %(symref)"]).output()?;
        let lines = listed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let split = |line| {
            let line = names::shown(line);
            let (name, value) = line.split_once(' ').unwrap_or((&line, ""));
            (name.to_owned(), value.to_owned())
        };
        Ok(lines.map(split).collect())
    }

    /// The refs as their files have them; `None` if not all of them are kept in files as git writes them.
    pub(super) fn refs_in_files(&self) -> Option<Refs> {
        if self.common.join("reftable").symlink_metadata().is_ok() {
            return None;
        }
        let mut files = Refs::new();
        read_folder(&self.common.join("refs"), "refs", &mut files)?;
        if self.git_dir != self.common {
            read_folder(&self.git_dir.join("refs"), "refs", &mut files)?;
        }
        // Read last, for what git packs meanwhile stands there before its file is gone.
        let mut refs = packed(&self.common.join("packed-refs"))?;
        refs.append(&mut files);
        Some(refs)
    }
}

/// Reads every file below a folder of refs; `None` if something else is met there.
fn read_folder(folder: &Path, name: &str, refs: &mut Refs) -> Option<()> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(()),
        Err(_) => return None,
    };
    for entry in entries {
        let entry = entry.ok()?;
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        let name = format!("{name}/{}", names::shown(&names::bytes(Path::new(&entry.file_name()))));
        if kind.is_dir() {
            // Glee's own, of which there may be many.
            if name != "refs/glee" {
                read_folder(&path, &name, refs)?;
            }
        } else if !kind.is_file() {
            return None;
        } else if !name.ends_with(".lock") {
            match content::read_capped(&path, REF) {
                Ok(bytes) => drop(refs.insert(name, names::shown(bytes?.trim_ascii_end()))),
                // Removed or packed since.
                Err(_) if path.symlink_metadata().is_err() => {}
                Err(_) => return None,
            }
        }
    }
    Some(())
}

/// Reads the refs that git keeps in one file; `None` if it is not as git writes it.
fn packed(path: &Path) -> Option<Refs> {
    if path.symlink_metadata().is_err() {
        return Some(Refs::new());
    }
    let bytes = content::read_capped(path, PACKED).ok()??;
    let mut refs = Refs::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        // What it says of itself, and the commit that the tag in the line before stands for.
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"^") {
            continue;
        }
        let space = memchr::memchr(b' ', line)?;
        refs.insert(names::shown(&line[space + 1..]), object_id(&line[..space])?);
    }
    Some(refs)
}
