//! The files that receive the output of a process.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptFiles {
    pub stdout: PathBuf,
    pub stderr: PathBuf,
}

impl TranscriptFiles {
    /// The files in `folder` whose names begin with `stem`.
    pub fn new(folder: &Path, stem: &str) -> Self {
        Self {
            stdout: folder.join(format!("{stem}.stdout")),
            stderr: folder.join(format!("{stem}.stderr")),
        }
    }

    /// Returns the paths of all transcript files of the call, including the files of earlier tries.
    pub fn all(&self) -> io::Result<Vec<PathBuf>> {
        let stem = self.stdout.with_extension("");
        let stem = format!(
            "{}.",
            stem.file_name().unwrap_or_default().to_string_lossy()
        );
        let folder = self.stdout.parent().unwrap_or(Path::new("."));
        let files = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
        files
            .filter(|path| {
                path.as_ref().is_ok_and(|path| {
                    path.file_name()
                        .is_some_and(|name| name.to_string_lossy().starts_with(&stem))
                }) || path.is_err()
            })
            .collect()
    }

    pub fn put_aside(&self) {
        let tried = |number: u32| self.stdout.with_extension(format!("try{number}.stdout"));
        if !self.stdout.exists() {
            return;
        }
        let number = (1..).find(|number| !tried(*number).exists()).unwrap_or(1);
        for name in ["stdout", "stderr", "prompt", "answer", "call.json"] {
            let from = self.stdout.with_extension(name);
            // If renaming a file fails, the error is ignored, because at worst the new try overwrites a file of
            // the earlier try.
            drop(std::fs::rename(
                from,
                self.stdout.with_extension(format!("try{number}.{name}")),
            ));
        }
    }
}
