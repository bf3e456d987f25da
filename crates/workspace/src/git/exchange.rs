//! Exchanges records of the history with a git remote, through the ref `refs/glee/history` of the remote.
//!
//! Each record is a git blob. The path of the blob is the hash of the record, with a slash after the first two
//! digits (`ab/cdef...`). A push adds a commit to the remote's ref, without force. No ref of the user's repository
//! points to a fetched or pushed commit, so `git log --all` and `git push --mirror` ignore these commits.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use crate::git::objects::{GitObject, Objects};
use crate::git::plumbing::Repository;
use crate::git::{object_id, path_bytes};
use crate::{Result, Workspace, WorkspaceError};
use glee_store::history::{MAX_RECORD, Refusal};
use glee_system::private;

const REF: &str = "refs/glee/history";
/// Limits on the data that Glee reads from a remote. `MOST_BYTES` is the maximum total size of new records.
const MOST_RECORDS: usize = 20_000;
const MOST_COMMITS: usize = 20_000;
const MOST_BYTES: usize = 64 << 20;
/// The maximum sizes of git objects, in bytes.
const TREE_CAP: u64 = 4 << 20;
const COMMIT_CAP: u64 = 64 << 10;
/// The refs that earlier versions of Glee created in the user's repository.
const FORMER_REFS: [&str; 2] = ["refs/glee/remotes/", "refs/glee/outgoing/"];
const NETWORK: Duration = Duration::from_secs(120);
/// The limits of one push: the number of attempts, and the total time.
const TRIES: u32 = 60;
const PATIENCE: Duration = Duration::from_secs(180);
/// The longest wait between two attempts to push, in milliseconds.
const LONGEST_WAIT: u64 = 2_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedRecord {
    /// The path of the record in the remote's tree, such as `ab/cdef...`.
    pub path: String,
    /// The e-mail address of each author whose commit added the record.
    pub authors: BTreeSet<String>,
    /// The bytes of the record, or the reason why Glee refused the record.
    pub content: std::result::Result<Vec<u8>, String>,
}

/// A remote with which Glee exchanges records.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeRemote<'a> {
    pub name: &'a str,
    /// The path of the file in which Glee stores the id of the last fetched commit. The remote sends only the
    /// commits after the last fetched commit.
    pub last: &'a Path,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    name: Vec<u8>,
    id: String,
}

const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_644;

impl Workspace {
    /// Returns the name of the remote to use: the remote in `named` if given, else the remote of the current
    /// branch, else `origin`. Fails if the tree is not in a git repository, or if the remote does not exist.
    pub fn remote(&self, named: Option<&str>) -> Result<String> {
        let git = self.require_git()?;
        let remotes = git.remotes()?;
        let of_branch = || -> Result<String> {
            let branch = git
                .call(["symbolic-ref", "--quiet", "--short", "HEAD"])
                .answer()?
                .unwrap_or_default();
            let key = format!(
                "branch.{}.remote",
                path_bytes::shown(branch.trim_ascii_end())
            );
            let remote = git
                .call(["config", "--get", &key])
                .answer()?
                .unwrap_or_default();
            let remote = path_bytes::shown(remote.trim_ascii_end());
            Ok(if remotes.contains_key(&remote) {
                remote
            } else {
                "origin".to_owned()
            })
        };
        let remote = named.map_or_else(of_branch, |named| Ok(named.to_owned()))?;
        if remotes.contains_key(&remote) {
            return Ok(remote);
        }
        Err(WorkspaceError::NoRemote {
            remote,
            known: remotes.into_keys().collect(),
        })
    }

    pub fn author(&self) -> Result<(String, String)> {
        let call = self.require_git()?.call(["var", "GIT_AUTHOR_IDENT"]);
        let ident = call
            .with_variables(&["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"])
            .output();
        let ident = ident.map_err(|error| WorkspaceError::NoAuthor(error.to_string()))?;
        let ident = path_bytes::shown(&ident);
        let parts = ident
            .split_once(" <")
            .and_then(|(name, rest)| Some((name, rest.split_once('>')?.0)));
        let (name, email) =
            parts.ok_or_else(|| WorkspaceError::NoAuthor(ident.trim().to_owned()))?;
        Ok((name.to_owned(), email.to_owned()))
    }

    /// Fetches the records of a remote, and returns the new records. A record is new if the function `known`
    /// returns false for the hash of the record. An invalid record is returned with the reason for its refusal.
    /// Fails if the remote cannot be reached in time.
    pub fn fetch_records(
        &self,
        remote: ExchangeRemote<'_>,
        mut known: impl FnMut(&str) -> bool,
    ) -> Result<Vec<FetchedRecord>> {
        let git = self.require_git()?;
        git.remove_former_refs()?;
        let Some(tip) = git.fetch_tip(remote)? else {
            return Ok(Vec::new());
        };
        let mut reader = Reader::of(git)?;
        let mut listing = reader.listing(&tip)?;
        listing.good.retain(|hash, _| !known(hash));
        let refused = |(path, why)| FetchedRecord {
            path,
            authors: BTreeSet::new(),
            content: Err(why),
        };
        let mut fetched: Vec<FetchedRecord> = listing.bad.into_iter().map(refused).collect();
        let mut authors = reader.authors(&tip, &listing.good)?;
        let mut left = MOST_BYTES;
        for (hash, id) in listing.good {
            let content = match reader
                .objects
                .read(&id, (MAX_RECORD + 1).min(left) as u64)?
            {
                GitObject::Bytes(bytes) => {
                    left -= bytes.len();
                    Ok(bytes)
                }
                GitObject::Larger if left <= MAX_RECORD => Err(format!(
                    "the new records are larger than {} MiB in total",
                    MOST_BYTES >> 20
                )),
                GitObject::Larger => Err(Refusal::TooLarge.to_string()),
                GitObject::Missing => Err("its content is missing".to_owned()),
            };
            let authors = authors.remove(&hash).unwrap_or_default();
            fetched.push(FetchedRecord {
                path: path_of(&hash),
                authors,
                content,
            });
        }
        Ok(fetched)
    }

    /// Sends `records` to a remote. Each record is a pair of hash and content. Returns the number of records
    /// that the remote lacked. Fails if the remote cannot be reached in time, if the remote rejects the push, or
    /// if other clones push during every attempt.
    pub fn push_records(
        &self,
        remote: ExchangeRemote<'_>,
        records: &[(String, String)],
        author: (&str, &str),
    ) -> Result<usize> {
        let git = self.require_git()?;
        git.remove_former_refs()?;
        let began = Instant::now();
        let mut refused = String::new();
        for tried in 0..TRIES {
            let tip = git.fetch_tip(remote)?;
            let listing = tip
                .as_ref()
                .map(|tip| Reader::of(git)?.listing(tip))
                .transpose()?
                .unwrap_or_default();
            let missing: Vec<&(String, String)> = records
                .iter()
                .filter(|(hash, _)| !listing.good.contains_key(hash))
                .collect();
            if missing.is_empty() {
                return Ok(0);
            }
            let commit = git.commit_records(tip.as_deref(), &listing, &missing, author)?;
            match git.push(remote.name, &commit)? {
                None => return Ok(missing.len()),
                Some(why) => refused = why,
            }
            let is_final = ["declined", "denied", "prohibited", "hook"]
                .iter()
                .any(|word| refused.contains(word));
            if is_final || began.elapsed() > PATIENCE {
                break;
            }
            let longest = (50 << tried.min(6)).min(LONGEST_WAIT);
            let random = uuid::Uuid::new_v4().as_u64_pair().1 % longest;
            thread::sleep(Duration::from_millis(10 + random));
        }
        Err(WorkspaceError::NotPushed {
            remote: remote.name.to_owned(),
            message: refused,
        })
    }

    fn require_git(&self) -> Result<&Repository> {
        self.repository.as_ref().ok_or(WorkspaceError::NoExchange)
    }
}

impl Repository {
    fn remove_former_refs(&self) -> Result<()> {
        let format = ["for-each-ref", "--format=delete %(refname)"];
        let found = self.call(format.into_iter().chain(FORMER_REFS)).output()?;
        if found.is_empty() {
            return Ok(());
        }
        self.refuse_links(["refs/glee", "refs/glee/remotes"])?;
        self.call(["update-ref", "--no-deref", "--stdin"])
            .output_of(&found)
            .map(drop)
    }

    /// Fetches the records of a remote. Returns the fetched commit, or `None` if the remote has no records.
    fn fetch_tip(
        &self,
        ExchangeRemote { name, last }: ExchangeRemote<'_>,
    ) -> Result<Option<String>> {
        let list = ["ls-remote", "--quiet", "--end-of-options", name, REF];
        let listed = self.call(list).over_network(NETWORK).output()?;
        let Some(tip) = listed
            .split(|byte| *byte == b'\t')
            .next()
            .and_then(object_id)
        else {
            return Ok(None);
        };
        if !self.has(&tip) {
            let settings = [
                "-c",
                "fetch.fsckObjects=false",
                "-c",
                "transfer.fsckObjects=false",
                "-c",
                "gc.auto=0",
            ];
            let options = [
                "--quiet",
                "--no-tags",
                "--no-prune",
                "--no-recurse-submodules",
                "--no-write-fetch-head",
                "--refmap=",
            ];
            let known = std::fs::read_to_string(last)
                .ok()
                .filter(|id| object_id(id.as_bytes()).is_some() && self.has(id));
            let known = known.map(|id| format!("--negotiation-tip={id}"));
            let what = known
                .iter()
                .map(String::as_str)
                .chain(["--end-of-options", name, REF]);
            let call = self.call(
                settings
                    .into_iter()
                    .chain(["fetch"])
                    .chain(options)
                    .chain(what),
            );
            call.over_network(NETWORK).output()?;
        }
        private::write(last, tip.as_bytes()).map_err(WorkspaceError::state(last))?;
        Ok(Some(tip))
    }

    pub fn has(&self, commit: &str) -> bool {
        self.find(&format!("{commit}^{{tree}}"))
            .is_ok_and(|tree| tree.is_some())
    }

    /// Pushes a commit to the ref of the remote. Returns the remote's reason if the remote rejects the commit,
    /// and `None` on success.
    fn push(&self, remote: &str, commit: &str) -> Result<Option<String>> {
        let spec = format!("{commit}:{REF}");
        let options = [
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            "--no-recurse-submodules",
            "--no-signed",
        ];
        let call = self.call(["push"].into_iter().chain(options).chain([
            "--end-of-options",
            remote,
            &spec,
        ]));
        let Err((output, message)) = call.over_network(NETWORK).run(&[])? else {
            return Ok(None);
        };
        let output = path_bytes::shown(&output);
        match output.lines().find(|line| line.starts_with('!')) {
            Some(line) => Ok(Some(line.rsplit('\t').next().unwrap_or(line).to_owned())),
            None => Err(WorkspaceError::Git {
                command: "push".to_owned(),
                message,
            }),
        }
    }

    fn commit_records(
        &self,
        tip: Option<&str>,
        listing: &Listing,
        missing: &[&(String, String)],
        (name, email): (&str, &str),
    ) -> Result<String> {
        let plain = |text: &str| text.replace(['<', '>', '\n', '\r', '\0'], "");
        let who = format!(
            "{} <{}> {} +0000",
            plain(name),
            plain(email),
            jiff::Timestamp::now().as_second()
        );
        let message = format!("Add {} to the history of Glee\n", missing.len());
        let head = format!("commit refs/heads/outgoing\nmark :1\nauthor {who}\ncommitter {who}\n");
        let mut input = format!("{head}data {}\n{message}", message.len());
        if let Some(tip) = tip {
            input += &format!("from {tip}\n");
        }
        // Of the entries in the remote's tree, the new commit keeps only the records.
        if !listing.bad.is_empty() {
            input += "deleteall\n";
            for (hash, id) in &listing.good {
                input += &format!("M 100644 {id} {}\n", path_of(hash));
            }
        }
        for (hash, body) in missing {
            input += &format!(
                "M 100644 inline {}\ndata {}\n{body}\n",
                path_of(hash),
                body.len()
            );
        }
        // `fast-import` can create a commit only under a ref. Glee therefore runs `fast-import` in a temporary
        // repository, and stores the objects in the user's repository.
        input += "get-mark :1\ndone\n";
        let temporary = tempfile::tempdir().map_err(WorkspaceError::Start)?;
        self.create_empty(temporary.path())
            .map_err(WorkspaceError::state(temporary.path()))?;
        let own = Self::backup(temporary.path(), &self.top, self.empty_tree)?;
        let import = own.call(["fast-import", "--quiet", "--done", "--force"]);
        let commit = import
            .storing_in(&self.common.join("objects"))
            .created_id(input.as_bytes())?;
        Ok(commit)
    }
}

/// `good` maps hashes of records to blob ids. `bad` contains each refused path with the reason for the refusal.
#[derive(Debug, Default)]
struct Listing {
    good: BTreeMap<String, String>,
    bad: Vec<(String, String)>,
}

/// Maps the hash of a record to the e-mail addresses of the record's authors.
type Authors = BTreeMap<String, BTreeSet<String>>;

/// Parses raw git trees and commits. The size of each object is limited, because the objects of a remote can have
/// any size.
struct Reader {
    objects: Objects,
    trees: HashMap<String, Option<Rc<Vec<Entry>>>>,
}

impl Reader {
    fn of(git: &Repository) -> Result<Self> {
        Ok(Self {
            objects: git.objects(None)?,
            trees: HashMap::new(),
        })
    }

    fn tree(&mut self, id: &str) -> Result<Option<Rc<Vec<Entry>>>> {
        if !self.trees.contains_key(id) {
            let bytes = self.objects.read(id, TREE_CAP)?.bytes().ok();
            let entries = bytes
                .and_then(|bytes| entries(&bytes, id.len() / 2))
                .map(Rc::new);
            self.trees.insert(id.to_owned(), entries);
        }
        Ok(self.trees[id].clone())
    }

    fn commit(&mut self, id: &str) -> Result<Option<(String, Vec<String>, String)>> {
        let GitObject::Bytes(bytes) = self.objects.read(id, COMMIT_CAP)? else {
            return Ok(None);
        };
        let text = path_bytes::shown(&bytes);
        let head = text.split("\n\n").next().unwrap_or_default();
        let field =
            |name: &'static str| head.lines().filter_map(move |line| line.strip_prefix(name));
        let Some(tree) = field("tree ").next().map(str::to_owned) else {
            return Ok(None);
        };
        let author = field("author ")
            .next()
            .and_then(|author| author.rsplit_once('<')?.1.split('>').next());
        let parents = field("parent ").map(str::to_owned).collect();
        Ok(Some((tree, parents, author.unwrap_or_default().to_owned())))
    }

    fn listing(&mut self, commit: &str) -> Result<Listing> {
        let mut listing = Listing::default();
        let tree = self
            .commit(commit)?
            .map(|(tree, ..)| self.tree(&tree))
            .transpose()?;
        let Some(top) = tree.flatten() else {
            listing
                .bad
                .push(("/".to_owned(), "the tree cannot be read".to_owned()));
            return Ok(listing);
        };
        let mut refuse = |path: String, why: &str| listing.bad.push((path, why.to_owned()));
        let mut seen = BTreeSet::new();
        for folder in top.iter() {
            let shown = path_bytes::shown(&folder.name);
            if folder.mode != FOLDER
                || !is_hex(&folder.name, 2)
                || !seen.insert(folder.name.clone())
            {
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
                let is_record = file.mode == FILE
                    && is_hex(&file.name, 62)
                    && !listing.good.contains_key(&hash);
                if is_record {
                    listing.good.insert(hash, file.id.clone());
                } else {
                    refuse(path, "it is not a record");
                }
            }
        }
        Ok(listing)
    }

    /// A commit adds a record if the commit contains the record, and no parent of the commit contains the record.
    fn authors(&mut self, tip: &str, records: &BTreeMap<String, String>) -> Result<Authors> {
        let mut authors = Authors::new();
        let mut waiting = vec![tip.to_owned()];
        let mut seen: BTreeSet<String> = waiting.iter().cloned().collect();
        while let Some(id) = waiting.pop().filter(|_| !records.is_empty()) {
            let Some((tree, parents, author)) = self.commit(&id)? else {
                continue;
            };
            let mut above = Vec::new();
            for parent in parents {
                if let Some((tree, ..)) = self.commit(&parent)? {
                    above.extend(self.tree(&tree)?);
                }
                if seen.len() < MOST_COMMITS && seen.insert(parent.clone()) {
                    waiting.push(parent);
                }
            }
            let Some(top) = self.tree(&tree)? else {
                continue;
            };
            for folder in top
                .iter()
                .filter(|folder| folder.mode == FOLDER && is_hex(&folder.name, 2))
            {
                let same = above
                    .iter()
                    .filter_map(|parent| parent.iter().find(|entry| entry.name == folder.name));
                let same: Vec<String> = same.map(|entry| entry.id.clone()).collect();
                if same.contains(&folder.id) {
                    continue;
                }
                let mut before = Vec::new();
                for id in &same {
                    before.extend(self.tree(id)?);
                }
                let Some(files) = self.tree(&folder.id)? else {
                    continue;
                };
                for file in files.iter().filter(|file| is_hex(&file.name, 62)) {
                    let hash = format!(
                        "{}{}",
                        path_bytes::shown(&folder.name),
                        path_bytes::shown(&file.name)
                    );
                    let is_wanted = records.get(&hash) == Some(&file.id);
                    if is_wanted
                        && !before
                            .iter()
                            .any(|files| files.iter().any(|entry| entry == file))
                    {
                        authors.entry(hash).or_default().insert(author.clone());
                    }
                }
            }
        }
        Ok(authors)
    }
}

/// Parses a raw git tree whose object ids have `width` bytes. Returns `None` if the tree is malformed.
fn entries(mut bytes: &[u8], width: usize) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let end = memchr::memchr(0, bytes)?;
        let (head, rest) = (&bytes[..end], &bytes[end + 1..]);
        let space = memchr::memchr(b' ', head)?;
        let mode = u32::from_str_radix(std::str::from_utf8(&head[..space]).ok()?, 8).ok()?;
        let id = rest
            .get(..width)?
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        entries.push(Entry {
            mode,
            name: head[space + 1..].to_vec(),
            id,
        });
        bytes = &rest[width..];
    }
    Some(entries)
}

fn is_hex(name: &[u8], digits: usize) -> bool {
    name.len() == digits
        && name
            .iter()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn path_of(hash: &str) -> String {
    format!("{}/{}", &hash[..2], &hash[2..])
}
