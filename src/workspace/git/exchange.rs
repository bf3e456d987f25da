//! Records of a history in git: fetched from and pushed to `refs/glee/history` of a remote.
//!
//! A record is a blob in a tree of two levels, `ab/cdef...`, named by the hash of its bytes. Push only adds: a commit on top
//! of what the remote has, pushed plainly and built again when somebody else was faster. Fetch goes into a ref of its own,
//! and what arrives is read raw and within bounds: no tree is checked out, no index is used, no hook runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write as _;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::{GitObject, Objects, Repository, object_id};
use crate::workspace::root::Workspace;
use crate::workspace::{Result, WorkspaceError};

/// Where a remote keeps the records.
const REF: &str = "refs/glee/history";
/// The most records, commits and bytes of new records that are read.
const MOST_RECORDS: usize = 20_000;
const MOST_COMMITS: usize = 20_000;
const MOST_BYTES: usize = 64 << 20;
/// The largest tree and commit that are read, in bytes.
const TREE_CAP: u64 = 4 << 20;
const COMMIT_CAP: u64 = 64 << 10;
/// How long one push or fetch may take.
const NETWORK: Duration = Duration::from_secs(120);
/// How often a push that somebody else overtook is tried, and for how long.
const TRIES: u32 = 60;
const PATIENCE: Duration = Duration::from_secs(180);
/// The longest wait between two tries, in milliseconds.
const LONGEST_WAIT: u64 = 2_000;

/// A record as it arrived, or why it was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its path in the tree of the remote.
    pub path: String,
    pub content: std::result::Result<Arrived, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The hash that its path names.
    pub hash: String,
    pub bytes: Vec<u8>,
    /// The e-mail addresses of the authors of the commits that added it.
    pub authors: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// How many records the remote did not have.
    pub added: usize,
}

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    name: Vec<u8>,
    id: String,
}

const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_644;

impl Workspace {
    /// The remote that is named; without a name that of the branch, else `origin`. Fails outside git, and where there is
    /// none.
    pub fn remote(&self, named: Option<&str>) -> Result<String> {
        let git = self.exchanging()?;
        let remotes = git.remotes()?;
        let unknown = |remote: &str| WorkspaceError::NoRemote {
            remote: remote.to_owned(),
            known: remotes.keys().cloned().collect(),
        };
        if let Some(named) = named {
            return remotes.get_key_value(named).map(|(name, _)| name.clone()).ok_or_else(|| unknown(named));
        }
        let branch = git.call(["symbolic-ref", "--quiet", "--short", "HEAD"]).answer()?.unwrap_or_default();
        let key = format!("branch.{}.remote", path_bytes::shown(branch.trim_ascii_end()));
        let of_branch = git.call(["config", "--get", &key]).answer()?.unwrap_or_default();
        let of_branch = path_bytes::shown(of_branch.trim_ascii_end());
        if remotes.contains_key(&of_branch) {
            return Ok(of_branch);
        }
        remotes.contains_key("origin").then(|| "origin".to_owned()).ok_or_else(|| unknown("origin"))
    }

    /// The name and the e-mail address that git gives the author of a commit.
    pub fn author(&self) -> Result<(String, String)> {
        let ident = self.exchanging()?.call(["var", "GIT_AUTHOR_IDENT"]).naming_the_author().output();
        let ident = ident.map_err(|error| WorkspaceError::NoAuthor(error.to_string()))?;
        let ident = path_bytes::shown(&ident);
        let parts = ident.split_once(" <").and_then(|(name, rest)| Some((name, rest.split_once('>')?.0)));
        let (name, email) = parts.ok_or_else(|| WorkspaceError::NoAuthor(ident.trim().to_owned()))?;
        Ok((name.to_owned(), email.to_owned()))
    }

    /// Fetches what a remote has, and reads every record that is not `known` by its hash. Fails when the remote cannot be
    /// reached in time; what is wrong with a single record is said in its place.
    pub fn fetch_records(&self, remote: &str, mut known: impl FnMut(&str) -> bool) -> Result<Vec<Arrival>> {
        let git = self.exchanging()?;
        let Some(tip) = git.fetch_tip(remote)? else { return Ok(Vec::new()) };
        let mut reader = Reader { objects: git.objects(None)?, trees: HashMap::new() };
        let mut listing = reader.listing(&tip)?;
        listing.good.retain(|hash, _| !known(hash));
        let mut arrivals: Vec<Arrival> =
            listing.bad.into_iter().map(|(path, why)| Arrival { path, content: Err(why) }).collect();
        let mut authors = reader.authors(&tip, &listing.good)?;
        let mut left = MOST_BYTES;
        for (hash, id) in listing.good {
            let cap = (crate::history::MAX_RECORD + 1).min(left);
            let content = match reader.objects.read(&id, cap as u64)? {
                GitObject::Bytes(bytes) => {
                    left -= bytes.len();
                    let authors = authors.remove(&hash).unwrap_or_default();
                    Ok(Arrived { hash: hash.clone(), bytes, authors })
                }
                GitObject::Larger(_) if left <= crate::history::MAX_RECORD => {
                    Err(format!("all new records are larger than {} MiB", MOST_BYTES >> 20))
                }
                GitObject::Larger(_) => Err(crate::history::Refusal::TooLarge.to_string()),
                GitObject::Missing => Err("its content is missing".to_owned()),
            };
            arrivals.push(Arrival { path: path_of(&hash), content });
        }
        Ok(arrivals)
    }

    /// Adds records, by their hashes, to those that a remote has. Fails when the remote cannot be reached in time, refuses,
    /// or changes before every retry.
    pub fn push_records(&self, remote: &str, records: &[(String, String)], author: (&str, &str)) -> Result<Pushed> {
        let git = self.exchanging()?;
        let began = Instant::now();
        let mut refused = String::new();
        for tried in 0..TRIES {
            let tip = git.fetch_tip(remote)?;
            let listing = match &tip {
                Some(tip) => Reader { objects: git.objects(None)?, trees: HashMap::new() }.listing(tip)?,
                None => Listing::default(),
            };
            let missing: Vec<&(String, String)> =
                records.iter().filter(|(hash, _)| !listing.good.contains_key(hash)).collect();
            if missing.is_empty() {
                return Ok(Pushed { added: 0 });
            }
            let commit = git.commit_records(tip.as_deref(), &listing, &missing, author)?;
            match git.push(remote, &commit)? {
                None => return Ok(Pushed { added: missing.len() }),
                Some(why) => refused = why,
            }
            let is_final = ["declined", "denied", "prohibited", "hook"].iter().any(|word| refused.contains(word));
            if is_final || began.elapsed() > PATIENCE {
                break;
            }
            let longest = (50 << tried.min(6)).min(LONGEST_WAIT);
            let random = uuid::Uuid::new_v4().as_u64_pair().1 % longest;
            thread::sleep(Duration::from_millis(10 + random));
        }
        Err(WorkspaceError::NotPushed { remote: remote.to_owned(), message: refused })
    }

    fn exchanging(&self) -> Result<&Repository> {
        self.repository.as_ref().ok_or(WorkspaceError::NoExchange)
    }
}

impl Repository {
    /// Fetches the records of a remote into a ref of this repository; `None` where the remote has none.
    fn fetch_tip(&self, remote: &str) -> Result<Option<String>> {
        let places = ["refs/glee", "refs/glee/remotes"].map(|place| self.common.join(place));
        if let Some(linked) = places.into_iter().find(|path| path.is_symlink()) {
            return Err(WorkspaceError::LinkedRefs(linked));
        }
        let own = format!("refs/glee/remotes/{remote}/history");
        let spec = format!("+{REF}:{own}");
        let quiet = ["--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head"];
        let settings = ["-c", "fetch.fsckObjects=false", "-c", "transfer.fsckObjects=false", "-c", "gc.auto=0"];
        let mut call = self.call(settings);
        for word in ["fetch"].iter().chain(&quiet).chain(&["--refmap=", "--end-of-options", remote, &spec]) {
            call = call.arg(word);
        }
        match call.over_network(NETWORK).output() {
            Ok(_) => self.find(&own),
            Err(WorkspaceError::Git { message, .. }) if message.contains("couldn't find remote ref") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Pushes a commit to where a remote keeps the records; `Some` says why the remote refuses it.
    fn push(&self, remote: &str, commit: &str) -> Result<Option<String>> {
        let spec = format!("{commit}:{REF}");
        let plain = ["--porcelain", "--no-verify", "--no-follow-tags", "--no-recurse-submodules", "--no-signed"];
        let mut call = self.call(["push"]);
        for word in plain.iter().chain(&["--end-of-options", remote, &spec]) {
            call = call.arg(word);
        }
        match call.over_network(NETWORK).outcome()? {
            Ok(_) => Ok(None),
            Err((output, message)) => {
                let output = path_bytes::shown(&output);
                let refused = output.lines().find(|line| line.starts_with('!'));
                match refused {
                    Some(line) => Ok(Some(line.rsplit('\t').next().unwrap_or(line).to_owned())),
                    None => Err(WorkspaceError::Git { command: "push".to_owned(), message }),
                }
            }
        }
    }

    /// Makes a commit that has the records of `tip` and those that it lacks.
    fn commit_records(
        &self,
        tip: Option<&str>,
        listing: &Listing,
        missing: &[&(String, String)],
        (name, email): (&str, &str),
    ) -> Result<String> {
        let plain = |text: &str| text.replace(['<', '>', '\n', '\r', '\0'], "");
        let who = format!("{} <{}> {} +0000", plain(name), plain(email), jiff::Timestamp::now().as_second());
        let own = format!("refs/glee/outgoing/{}", uuid::Uuid::new_v4().simple());
        let message = format!("Add {} to the history of Glee\n", missing.len());
        let mut input = Vec::new();
        let mut write = || -> std::io::Result<()> {
            write!(input, "commit {own}\nmark :1\nauthor {who}\ncommitter {who}\n")?;
            write!(input, "data {}\n{message}", message.len())?;
            if let Some(tip) = tip {
                writeln!(input, "from {tip}")?;
            }
            // What is no record does not go on.
            if !listing.bad.is_empty() {
                writeln!(input, "deleteall")?;
                for (hash, id) in &listing.good {
                    writeln!(input, "M 100644 {id} {}", path_of(hash))?;
                }
            }
            for (hash, body) in missing {
                writeln!(input, "M 100644 inline {}\ndata {}\n{body}", path_of(hash), body.len())?;
            }
            // The commit is pushed by its id; the ref only kept it while it was made.
            write!(input, "get-mark :1\ndone\n")
        };
        write().map_err(WorkspaceError::Start)?;
        let made = self.call(["fast-import", "--quiet", "--done", "--force"]).output_of(&input)?;
        drop(self.call(["update-ref", "-d", &own]).answer()?);
        object_id(made.trim_ascii_end()).ok_or_else(|| WorkspaceError::Git {
            command: "fast-import".to_owned(),
            message: "it named no commit".to_owned(),
        })
    }
}

/// What the tree of a commit lists: records by their hashes with the ids of their blobs, and what is none.
#[derive(Debug, Default)]
struct Listing {
    good: BTreeMap<String, String>,
    bad: Vec<(String, String)>,
}

/// Reads trees and commits raw: no git command has to understand what somebody else made.
struct Reader {
    objects: Objects,
    trees: HashMap<String, Option<Rc<Vec<Entry>>>>,
}

impl Reader {
    fn tree(&mut self, id: &str) -> Result<Option<Rc<Vec<Entry>>>> {
        if let Some(found) = self.trees.get(id) {
            return Ok(found.clone());
        }
        let entries = match self.objects.read(id, TREE_CAP)? {
            GitObject::Bytes(bytes) => entries(&bytes, id.len() / 2).map(Rc::new),
            GitObject::Larger(_) | GitObject::Missing => None,
        };
        self.trees.insert(id.to_owned(), entries.clone());
        Ok(entries)
    }

    /// The tree, the parents and the author's e-mail address of a commit.
    fn commit(&mut self, id: &str) -> Result<Option<(String, Vec<String>, String)>> {
        let GitObject::Bytes(bytes) = self.objects.read(id, COMMIT_CAP)? else { return Ok(None) };
        let text = path_bytes::shown(&bytes);
        let head = text.split("\n\n").next().unwrap_or_default();
        let field = |name: &'static str| head.lines().filter_map(move |line| line.strip_prefix(name));
        let Some(tree) = field("tree ").next().map(str::to_owned) else { return Ok(None) };
        let author = field("author ").next().and_then(|author| author.rsplit_once('<')?.1.split('>').next());
        let parents = field("parent ").map(str::to_owned).collect();
        Ok(Some((tree, parents, author.unwrap_or_default().to_owned())))
    }

    fn listing(&mut self, commit: &str) -> Result<Listing> {
        let mut listing = Listing::default();
        let top = match self.commit(commit)? {
            Some((tree, ..)) => self.tree(&tree)?,
            None => None,
        };
        let Some(top) = top else {
            listing.bad.push(("/".to_owned(), "the tree cannot be read".to_owned()));
            return Ok(listing);
        };
        let mut refuse = |path: String, why: &str| listing.bad.push((path, why.to_owned()));
        let mut seen = BTreeSet::new();
        for folder in top.iter() {
            let shown = path_bytes::shown(&folder.name);
            if folder.mode != FOLDER || !is_hex(&folder.name, 2) || !seen.insert(folder.name.clone()) {
                refuse(shown, "it is not a folder of records");
                continue;
            }
            let Some(files) = self.tree(&folder.id)? else {
                refuse(shown, "the folder cannot be read");
                continue;
            };
            for file in files.iter() {
                let path = format!("{shown}/{}", path_bytes::shown(&file.name));
                if listing.good.len() >= MOST_RECORDS {
                    refuse(path, "there are too many records");
                    return Ok(listing);
                }
                let hash = path.replace('/', "");
                let is_record = file.mode == FILE && is_hex(&file.name, 62) && !listing.good.contains_key(&hash);
                if is_record {
                    listing.good.insert(hash, file.id.clone());
                } else {
                    refuse(path, "it is not a record");
                }
            }
        }
        Ok(listing)
    }

    /// For each of these records the e-mail addresses of the authors of the commits that added it: that have it while
    /// none of their parents does.
    fn authors(
        &mut self,
        tip: &str,
        records: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, BTreeSet<String>>> {
        let mut authors: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut waiting = vec![tip.to_owned()];
        let mut seen: BTreeSet<String> = waiting.iter().cloned().collect();
        while let Some(id) = waiting.pop().filter(|_| !records.is_empty()) {
            let Some((tree, parents, author)) = self.commit(&id)? else { continue };
            let mut above = Vec::new();
            for parent in parents {
                if let Some((tree, ..)) = self.commit(&parent)? {
                    above.extend(self.tree(&tree)?);
                }
                if seen.len() < MOST_COMMITS && seen.insert(parent.clone()) {
                    waiting.push(parent);
                }
            }
            let Some(top) = self.tree(&tree)? else { continue };
            for folder in top.iter().filter(|folder| folder.mode == FOLDER && is_hex(&folder.name, 2)) {
                let same: Vec<String> = above
                    .iter()
                    .filter_map(|parent| parent.iter().find(|entry| entry.name == folder.name))
                    .map(|entry| entry.id.clone())
                    .collect();
                if same.contains(&folder.id) {
                    continue;
                }
                let mut before = Vec::new();
                for id in &same {
                    before.extend(self.tree(id)?);
                }
                let Some(files) = self.tree(&folder.id)? else { continue };
                for file in files.iter().filter(|file| is_hex(&file.name, 62)) {
                    let hash = format!("{}{}", path_bytes::shown(&folder.name), path_bytes::shown(&file.name));
                    let is_wanted = records.get(&hash) == Some(&file.id);
                    if is_wanted && !before.iter().any(|files| files.iter().any(|entry| entry == file)) {
                        authors.entry(hash).or_default().insert(author.clone());
                    }
                }
            }
        }
        Ok(authors)
    }
}

/// Reads the entries of a raw tree, whose ids have `width` bytes; `None` where it is none.
fn entries(mut bytes: &[u8], width: usize) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let end = memchr::memchr(0, bytes)?;
        let (head, rest) = (&bytes[..end], &bytes[end + 1..]);
        let space = memchr::memchr(b' ', head)?;
        let mode = u32::from_str_radix(std::str::from_utf8(&head[..space]).ok()?, 8).ok()?;
        let id = rest.get(..width)?.iter().map(|byte| format!("{byte:02x}")).collect();
        entries.push(Entry { mode, name: head[space + 1..].to_vec(), id });
        bytes = &rest[width..];
    }
    Some(entries)
}

fn is_hex(name: &[u8], digits: usize) -> bool {
    name.len() == digits && name.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn path_of(hash: &str) -> String {
    format!("{}/{}", &hash[..2], &hash[2..])
}
