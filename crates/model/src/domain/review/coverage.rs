//! The files that a review covers, and those that it leaves out, with the reason.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// The file contains a NUL byte or is not text.
    Binary,
    /// A tool writes the file: its name says so (lock files, snapshots, `*.pb.go`), or a mark that the base has.
    Generated,
    /// The file is a copy of other people's code (`node_modules/`, `vendor/`).
    Vendored,
    /// The file holds data (`*.csv`).
    Data,
    /// Everything in the notebook but its cells: their outputs, counters and metadata.
    NotebookOutputs,
    /// The file is larger than `review.max_file_size`.
    Oversized,
    /// The file cannot be read.
    Unreadable,
    /// The file is not a regular file (a FIFO, a device, a socket, a link, a submodule).
    NotAFile,
    /// The change deletes the file.
    Deleted,
    /// A `.gleeignore` excludes the file.
    Ignored,
    /// The change of the file is larger than `review.max_file_size`. Only the beginning of the change was reviewed.
    Partial,
    /// The file is a document, and the reviewers read only code.
    Document,
    /// The file configures Glee, and nothing else changed.
    Configuration,
    /// The folder is another repository or work tree, and not a submodule.
    Repository,
    /// The pull request is a draft, and `pr.drafts` is false.
    Draft,
}

impl SkipReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Generated => "generated",
            Self::Vendored => "vendored",
            Self::Data => "data",
            Self::NotebookOutputs => "outputs of a notebook",
            Self::Oversized => "oversized",
            Self::Unreadable => "unreadable",
            Self::NotAFile => "not a regular file",
            Self::Deleted => "deleted",
            Self::Ignored => "named in .gleeignore",
            Self::Partial => "only in part: oversized",
            Self::Document => "a document that no reviewer reads",
            Self::Configuration => "the configuration of Glee",
            Self::Repository => "another repository or work tree",
            Self::Draft => "in a draft",
        }
    }

    /// Whether Glee did not send all that should have been reviewed, because it is too large or could not be read.
    /// All other files are left out by design.
    pub fn is_incomplete(self) -> bool {
        matches!(self, Self::Oversized | Self::Partial | Self::Unreadable)
    }

    /// Whether a rule says that nobody has to review the file: no person wrote it for this project.
    pub fn is_by_rule(self) -> bool {
        matches!(
            self,
            Self::Generated | Self::Vendored | Self::Data | Self::NotebookOutputs
        )
    }

    /// Whether the skipped file should have been reviewed. A file need not be reviewed if the change deletes the
    /// file, if the user excludes the file or drafts, if the file configures the review, or if it belongs to another
    /// repository.
    pub fn is_unread(self) -> bool {
        !matches!(
            self,
            Self::Deleted
                | Self::Ignored
                | Self::Configuration
                | Self::Repository
                | Self::NotebookOutputs
                | Self::Draft
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skip {
    pub file: String,
    pub reason: SkipReason,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    pub file: String,
    /// The number of lines shown to the reviewers as the target.
    pub lines: u32,
    /// The line ranges of the part of the file that a shard covers, 1-based and inclusive; empty if the shard covers
    /// all lines under review.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<(u32, u32)>,
}

/// A file that a reviewer received but could not read, because the reviewer has no rules for the file's
/// language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadFile {
    pub file: String,
    /// A language or a kind of file, such as `Ruby` or `.txt`.
    pub language: String,
}

impl UnreadFile {
    const NAMED: usize = 6;

    /// The languages of the files, sorted by first occurrence, as in `Ruby, C`.
    pub fn languages(files: &[Self]) -> String {
        let mut named: Vec<&str> = Vec::new();
        for file in files {
            if !named.contains(&file.language.as_str()) {
                named.push(&file.language);
            }
        }
        let more = named.len().saturating_sub(Self::NAMED);
        named.truncate(Self::NAMED);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        format!("{}{more}", named.join(", "))
    }
}
