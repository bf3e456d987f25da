//! Hashes what agents read in the tree, so that a later run can see whether it changed.

use std::cell::Cell;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use globset::{GlobBuilder, GlobMatcher};
use regex::bytes::{Regex, RegexBuilder};

use crate::git::path_bytes;
use crate::select::ignores::Ignores;
use crate::select::walk;
use glee_model::domain::{ReadExtent, TracedRead};
use glee_system::files;

/// The maximum size of a file that is hashed, in bytes.
const LARGEST: u64 = 256 << 20;

/// The maximum number of bytes that are searched for matches.
const SEARCHED: u64 = 2 << 30;

const MISSING: &str = "missing";

const UNREADABLE: &str = "unreadable";

/// Computes the hashes of reads.
pub struct ReadHashes<'a> {
    root: &'a Path,
    /// A file that changed after this time has no hash, because the agent possibly read an earlier content.
    since: Option<SystemTime>,
    /// The number of bytes that can still be searched.
    left: Cell<u64>,
}

impl<'a> ReadHashes<'a> {
    pub fn now(root: &'a Path) -> Self {
        Self {
            root,
            since: None,
            left: Cell::new(SEARCHED),
        }
    }

    /// The hashes of what was read since a time.
    pub fn since(root: &'a Path, since: SystemTime) -> Self {
        Self {
            since: Some(since),
            ..Self::now(root)
        }
    }

    /// Returns `None` if Glee cannot tell whether the read would have the same result again. `sent` are the files that
    /// the agent received anyway: matches in these files do not count.
    pub fn of(&self, read: &TracedRead, sent: &[String]) -> Option<String> {
        let path = self.root.join(&read.path);
        match &read.extent {
            ReadExtent::Content if path.is_dir() => names(&path),
            ReadExtent::Content => self.content(&path),
            ReadExtent::Names { .. } | ReadExtent::Matches { .. }
                if Path::new(&read.path).is_absolute() =>
            {
                // Glee does not search folders outside the tree, because they can be of any size.
                (!path.exists()).then(|| MISSING.to_owned())
            }
            ReadExtent::Names { .. } | ReadExtent::Matches { .. } if path.is_file() => {
                self.content(&path)
            }
            ReadExtent::Names { .. } | ReadExtent::Matches { .. } if !path.is_dir() => {
                Some(MISSING.to_owned())
            }
            ReadExtent::Names { glob } => {
                let glob = NameGlob::of(glob.as_deref(), self.root)?;
                let mut hasher = blake3::Hasher::new();
                for file in self.files(&read.path)? {
                    if glob.is_match(&path, &self.root.join(&file)) {
                        hasher
                            .update(file.as_os_str().as_encoded_bytes())
                            .update(b"\0");
                    }
                }
                Some(hasher.finalize().to_hex().to_string())
            }
            ReadExtent::Matches { pattern } => {
                let pattern = pattern.as_deref().and_then(expression);
                let mut hasher = blake3::Hasher::new();
                for file in self.files(&read.path)? {
                    if sent.iter().any(|sent| file == Path::new(sent)) {
                        continue;
                    }
                    let bytes = match self.bytes(&self.root.join(&file)) {
                        Ok(bytes) => bytes?,
                        Err(_) => UNREADABLE.as_bytes().to_vec(),
                    };
                    self.left
                        .set(self.left.get().checked_sub(bytes.len() as u64)?);
                    if pattern
                        .as_ref()
                        .is_none_or(|pattern| pattern.is_match(&bytes))
                    {
                        hasher
                            .update(file.as_os_str().as_encoded_bytes())
                            .update(b"\0");
                        hasher.update(blake3::hash(&bytes).as_bytes());
                    }
                }
                Some(hasher.finalize().to_hex().to_string())
            }
        }
    }

    fn content(&self, path: &Path) -> Option<String> {
        match self.bytes(path) {
            Ok(bytes) => Some(blake3::hash(&bytes?).to_hex().to_string()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(MISSING.to_owned()),
            Err(_) => Some(UNREADABLE.to_owned()),
        }
    }

    /// Returns `None` if the file is too large or changed since the agent was called.
    fn bytes(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let file = files::regular(path)?;
        let metadata = file.metadata()?;
        let is_newer = match self.since {
            Some(since) => metadata.modified()? >= since,
            None => false,
        };
        if is_newer || metadata.len() > LARGEST {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// The files below a folder of the tree that git does not ignore, sorted by path.
    fn files(&self, folder: &str) -> Option<Vec<PathBuf>> {
        let folder = if folder == "." { "" } else { folder };
        let mut ignores = Ignores::git(self.root, None);
        let found = walk::files(self.root, folder.as_bytes(), &mut ignores).ok()?;
        let mut files: Vec<PathBuf> = found
            .iter()
            .map(|path| path_bytes::path(path).to_owned())
            .collect();
        files.sort();
        Some(files)
    }
}

/// Hashes all files of a folder with their names and modes, including ignored files. Returns `None` if the folder
/// cannot be read.
pub fn folder(path: &Path) -> Option<String> {
    let mut files = Vec::new();
    for entry in walk::everything(path) {
        let entry = entry.ok()?;
        if entry.file_type().is_some_and(|kind| !kind.is_dir()) && !is_of_git(entry.path(), path) {
            files.push(entry.into_path());
        }
    }
    files.sort();
    let hashes = ReadHashes::now(path);
    let mut hasher = blake3::Hasher::new();
    for file in files {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = file
            .metadata()
            .map_or(0, |metadata| metadata.permissions().mode());
        hasher
            .update(file.as_os_str().as_encoded_bytes())
            .update(b"\0");
        hasher.update(&mode.to_le_bytes());
        hasher.update(hashes.content(&file)?.as_bytes());
    }
    Some(hasher.finalize().to_hex().to_string())
}

fn is_of_git(file: &Path, folder: &Path) -> bool {
    file.strip_prefix(folder)
        .is_ok_and(|inside| inside.components().any(|part| part.as_os_str() == ".git"))
}

fn names(folder: &Path) -> Option<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).ok()? {
        names.push(entry.ok()?.file_name());
    }
    names.sort();
    let mut hasher = blake3::Hasher::new();
    for name in names {
        hasher.update(name.as_encoded_bytes()).update(b"\0");
    }
    Some(hasher.finalize().to_hex().to_string())
}

/// A pattern that is invalid here, but possibly valid for the program, matches every file. Programs differ in whether
/// they ignore case, so case is ignored.
fn expression(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern)
        .case_insensitive(true)
        .multi_line(true)
        .build()
        .ok()
}

struct NameGlob(Option<GlobMatcher>);

impl NameGlob {
    /// Returns `None` if the glob can match files outside the tree.
    fn of(glob: Option<&str>, root: &Path) -> Option<Self> {
        let Some(glob) = glob else {
            return Some(Self(None));
        };
        let is_outside = Path::new(glob).is_absolute() && !Path::new(glob).starts_with(root);
        if is_outside || glob.split('/').any(|part| part == "..") {
            return None;
        }
        let glob = glob.strip_prefix("./").unwrap_or(glob);
        let built = GlobBuilder::new(glob).case_insensitive(true).build();
        Some(Self(built.ok().map(|glob| glob.compile_matcher())))
    }

    fn is_match(&self, folder: &Path, file: &Path) -> bool {
        let Some(glob) = &self.0 else { return true };
        let inside = file.strip_prefix(folder).unwrap_or(file);
        glob.is_match(inside)
            || glob.is_match(file)
            || file.file_name().is_some_and(|name| glob.is_match(name))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::fs;
    use std::time::Duration;

    use super::*;

    fn read(path: &str, extent: ReadExtent) -> TracedRead {
        TracedRead::new(path, extent)
    }

    fn names(path: &str, glob: Option<&str>) -> TracedRead {
        let glob = glob.map(ToOwned::to_owned);
        read(path, ReadExtent::Names { glob })
    }

    fn matches(path: &str, pattern: Option<&str>) -> TracedRead {
        let pattern = pattern.map(ToOwned::to_owned);
        read(path, ReadExtent::Matches { pattern })
    }

    /// A name of a change, the change, and the reads whose result changes.
    type Row = (&'static str, fn(&Path), &'static [&'static str]);

    #[test]
    fn a_change_is_seen_by_the_reads_that_it_affects() {
        let reads = [
            ("a", read("src/a.py", ReadExtent::Content)),
            ("gone", read("src/gone.py", ReadExtent::Content)),
            ("link", read("link", ReadExtent::Content)),
            ("ignored", read("out/x", ReadExtent::Content)),
            ("folder", read("src", ReadExtent::Content)),
            ("python", names("src", Some("*.py"))),
            ("below", names(".", Some("src/**/*.md"))),
            ("all names", names(".", None)),
            ("def", matches(".", Some("def \\w+"))),
            ("invalid", matches("src", Some("(?<=x"))),
            ("tree", TracedRead::whole_tree()),
        ];
        let rows: &[Row] = &[
            ("nothing", |_| {}, &[]),
            (
                "a file changed",
                |root| fs::write(root.join("src/a.py"), "def f(): pass").unwrap(),
                &["a", "link", "def", "invalid", "tree"],
            ),
            (
                "a line end changed",
                |root| fs::write(root.join("src/a.py"), "x = 1\r\n").unwrap(),
                &["a", "link", "invalid", "tree"],
            ),
            (
                "a byte order mark",
                |root| fs::write(root.join("src/a.py"), "\u{feff}x = 1\n").unwrap(),
                &["a", "link", "invalid", "tree"],
            ),
            (
                "a missing file is there now",
                |root| fs::write(root.join("src/gone.py"), "x").unwrap(),
                &["gone", "folder", "python", "all names", "invalid", "tree"],
            ),
            (
                "a file that no glob matches",
                |root| fs::write(root.join("src/b.txt"), "x").unwrap(),
                &["folder", "all names", "invalid", "tree"],
            ),
            (
                "a file in a folder deeper down",
                |root| {
                    fs::create_dir(root.join("src/deep")).unwrap();
                    fs::write(root.join("src/deep/c.md"), "def g").unwrap();
                },
                &["folder", "below", "all names", "def", "invalid", "tree"],
            ),
            (
                "a file was renamed",
                |root| fs::rename(root.join("src/a.py"), root.join("src/z.py")).unwrap(),
                &[
                    "a",
                    "link",
                    "folder",
                    "python",
                    "all names",
                    "invalid",
                    "tree",
                ],
            ),
            (
                "a link has another target",
                |root| {
                    fs::remove_file(root.join("link")).unwrap();
                    std::os::unix::fs::symlink(".gitignore", root.join("link")).unwrap();
                },
                &["link", "tree"],
            ),
            (
                "an ignored file changed",
                |root| fs::write(root.join("out/x"), "def h").unwrap(),
                &["ignored"],
            ),
        ];
        for (name, change, affected) in rows {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path();
            fs::create_dir_all(root.join("src")).unwrap();
            fs::create_dir_all(root.join("out")).unwrap();
            fs::write(root.join(".gitignore"), "out/\n").unwrap();
            fs::write(root.join("src/a.py"), "x = 1\n").unwrap();
            fs::write(root.join("out/x"), "x").unwrap();
            std::os::unix::fs::symlink("src/a.py", root.join("link")).unwrap();
            let before = ReadHashes::now(root);
            let hashes: Vec<Option<String>> =
                reads.iter().map(|(_, read)| before.of(read, &[])).collect();
            change(root);
            let after = ReadHashes::now(root);
            let mut changed = Vec::new();
            for ((name, read), hash) in reads.iter().zip(hashes) {
                if after.of(read, &[]) != hash {
                    changed.push(*name);
                }
            }
            assert_eq!(changed, *affected, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_compared_has_no_hash() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("a"), "x").unwrap();
        let hashes = ReadHashes::now(root);
        assert_eq!(hashes.of(&names("/usr", None), &[]), None);
        let sent = ["a".to_owned()];
        let before = hashes.of(&matches(".", None), &sent);
        fs::write(root.join("a"), "y").unwrap();
        assert_eq!(
            hashes.of(&matches(".", None), &sent),
            before,
            "the file was sent"
        );
        assert_eq!(hashes.of(&matches("/usr", Some("x")), &[]), None);
        assert_eq!(hashes.of(&names(".", Some("../*.py")), &[]), None);
        assert_eq!(
            hashes.of(&names("/no/such/folder", None), &[]).as_deref(),
            Some(MISSING)
        );
        assert_eq!(
            hashes
                .of(&read("/dev/zero", ReadExtent::Content), &[])
                .as_deref(),
            Some(UNREADABLE)
        );
        let later = SystemTime::now() + Duration::from_secs(60);
        let earlier = SystemTime::now() - Duration::from_secs(60);
        let content = read("a", ReadExtent::Content);
        assert!(ReadHashes::since(root, later).of(&content, &[]).is_some());
        assert_eq!(
            ReadHashes::since(root, earlier).of(&content, &[]),
            None,
            "it changed while the agent worked"
        );
    }
}
