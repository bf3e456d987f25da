//! What a host knows about the request 7: its commits, threads, comments and checks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{BOT, HostDouble, KillAt, Request, git};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) id: u64,
    pub(crate) by: String,
    /// In the words of GitHub: OWNER, MEMBER, COLLABORATOR, CONTRIBUTOR or NONE.
    pub(crate) association: String,
    pub(crate) body: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Discussion {
    pub(crate) path: String,
    /// The line in the new file. `None` for a comment on the whole file.
    pub(crate) line: Option<u32>,
    pub(crate) is_resolved: bool,
    /// At least one comment, the oldest first.
    pub(crate) comments: Vec<Said>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) repository: PathBuf,
    /// The ref of the head commit, such as `refs/pull/7/head`.
    pub(crate) head_ref: String,
    /// The address of the server.
    pub(crate) address: String,
    pub(crate) title: String,
    /// The text of the request.
    pub(crate) body: String,
    /// The title and the text of the issue 12.
    pub(crate) issue: Option<[String; 2]>,
    pub(crate) branch: String,
    /// `open` or `closed`.
    pub(crate) state: String,
    pub(crate) threads: Vec<Discussion>,
    /// The comments that belong to no line.
    pub(crate) comments: Vec<Said>,
    /// The commit, the conclusion and the external id of each check.
    pub(crate) checks: Vec<[String; 3]>,
    /// The users with the permission to write.
    pub(crate) maintainers: BTreeSet<String>,
    /// What only one host has, such as drafts.
    #[allow(dead_code, reason = "not every host needs it")]
    pub(crate) other: BTreeMap<String, Value>,
    next: u64,
    /// The methods and targets of all requests.
    pub(crate) requests: Vec<String>,
    /// Whether each request changes something.
    pub(crate) writes: Vec<bool>,
    /// All bodies that were sent.
    pub(crate) sent: Vec<String>,
    /// The requests that do not fit the host's description, each with the reason.
    pub(crate) misfits: Vec<String>,
    pub(crate) kill: Option<KillAt>,
    /// The token can only read.
    pub(crate) is_read_only: bool,
    /// The token expires at this request.
    pub(crate) expires_at: Option<usize>,
    /// These requests meet a secondary limit.
    pub(crate) limited: BTreeSet<usize>,
}

impl State {
    pub(crate) fn new(host: &dyn HostDouble, repository: &Path) -> Self {
        Self {
            repository: repository.to_owned(),
            head_ref: host.head_ref().to_owned(),
            title: "A change".to_owned(),
            branch: "change".to_owned(),
            state: "open".to_owned(),
            next: 100,
            ..Self::default()
        }
    }

    /// Records the request, and returns its number, counted from 1.
    pub(super) fn record(&mut self, request: &Request, is_write: bool) -> usize {
        self.requests
            .push(format!("{} {}", request.method, request.target));
        self.sent.push(request.sent.clone());
        self.writes.push(is_write);
        self.requests.len()
    }

    /// A number that no object has.
    pub(crate) fn id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(crate) fn said(&mut self, by: &str, association: &str, body: &str) -> Said {
        Said {
            id: self.id(),
            by: by.to_owned(),
            association: association.to_owned(),
            body: body.to_owned(),
        }
    }

    /// The user of the token starts a thread.
    pub(crate) fn open(&mut self, path: &str, line: Option<u32>, body: &str) -> u64 {
        let said = self.said(BOT, "NONE", body);
        let id = said.id;
        self.threads.push(Discussion {
            path: path.to_owned(),
            line,
            is_resolved: false,
            comments: vec![said],
        });
        id
    }

    /// A person replies in the first thread about the file `path`.
    pub(crate) fn reply(&mut self, path: &str, by: &str, association: &str, body: &str) {
        let said = self.said(by, association, body);
        let thread = self.threads.iter_mut().find(|thread| thread.path == path);
        thread
            .unwrap_or_else(|| panic!("no thread is about {path}"))
            .comments
            .push(said);
    }

    /// Deletes a comment of the token's user, and its thread if it was the only comment. Returns false if there is no
    /// such comment.
    pub(crate) fn delete(&mut self, id: &str) -> bool {
        let is_it = |said: &Said| said.by == BOT && said.id.to_string() == id;
        let count = |state: &Self| {
            let of_threads = state.threads.iter().map(|thread| thread.comments.len());
            of_threads.sum::<usize>() + state.comments.len()
        };
        let before = count(self);
        for thread in &mut self.threads {
            thread.comments.retain(|said| !is_it(said));
        }
        self.threads.retain(|thread| !thread.comments.is_empty());
        self.comments.retain(|said| !is_it(said));
        count(self) < before
    }

    pub(crate) fn commit(&self, name: &str) -> String {
        git(&self.repository, &["rev-parse", name])
            .trim()
            .to_owned()
    }

    pub(crate) fn head(&self) -> String {
        self.commit(&self.head_ref)
    }

    /// Returns git's letter for the change of each file: `A`, `D`, `M` or `R`.
    pub(crate) fn statuses(&self) -> BTreeMap<String, char> {
        let range = format!("refs/heads/main...{}", self.head_ref);
        let listed = git(
            &self.repository,
            &["diff", "-M", "--name-status", "-z", &range],
        );
        let (mut fields, mut found) = (listed.split('\0'), BTreeMap::new());
        while let Some(letter) = fields.next().and_then(|status| status.chars().next()) {
            let old = if letter == 'R' { fields.next() } else { None };
            if let Some(path) = fields.next().or(old) {
                found.insert(path.to_owned(), letter);
            }
        }
        found
    }

    /// Returns the new path, the old path of a renamed file, and the hunks of each changed file.
    pub(crate) fn files(&self) -> Vec<(String, Option<String>, String)> {
        let diff = git(
            &self.repository,
            &[
                "diff",
                "-M",
                &format!("refs/heads/main...{}", self.head_ref),
            ],
        );
        let parts = diff.split("diff --git ").skip(1);
        let file = |part: &str| {
            let field = |name: &str| {
                part.lines()
                    .find_map(|line| line.strip_prefix(name))
                    .map(str::to_owned)
            };
            let patch = part
                .find("\n@@ ")
                .map(|at| part[at + 1..].trim_end().to_owned())
                .unwrap_or_default();
            let path = field("rename to ")
                .or_else(|| field("+++ b/"))
                .or_else(|| field("--- a/"));
            // Binary and empty files have only the first line, `a/PATH b/PATH`.
            let first = part
                .lines()
                .next()
                .and_then(|line| line.split(" b/").last())
                .map(str::to_owned);
            let path = path.or(first);
            (path.unwrap_or_default(), field("rename from "), patch)
        };
        parts.map(file).collect()
    }

    /// The lines of the new file that the diff shows: added lines and context.
    pub(crate) fn lines(&self, path: &str) -> BTreeSet<u32> {
        let files = self.files();
        let Some((.., patch)) = files.iter().find(|(name, ..)| name == path) else {
            return BTreeSet::new();
        };
        let (mut lines, mut number) = (BTreeSet::new(), 0);
        for line in patch.lines() {
            if let Some(hunk) = line.strip_prefix("@@ ") {
                let new = hunk
                    .split('+')
                    .nth(1)
                    .and_then(|new| new.split([',', ' ']).next()?.parse().ok());
                number = new.unwrap_or(0);
            } else if !line.starts_with(['-', '\\']) {
                lines.insert(number);
                number += 1;
            }
        }
        lines
    }
}
