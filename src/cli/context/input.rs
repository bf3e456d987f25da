//! The input of a command: a file, or stdin if the argument is `-` or missing.

use std::io::{self, BufReader, Read};
use std::path::Path;

use super::globals::Globals;
use crate::cli::error::CommandError;
use glee_system::files;

pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) reader: BufReader<Box<dyn Read + Send>>,
}

impl Input {
    pub(crate) fn open(globals: &Globals, file: Option<&Path>) -> Result<Self, CommandError> {
        let (name, source): (_, Box<dyn Read + Send>) =
            match file.filter(|file| *file != Path::new("-")) {
                Some(file) => {
                    let name = format!("`{}`", file.display());
                    let opened = files::input(&globals.directory().join(file));
                    let source = opened.map_err(|error| match error.kind() {
                        io::ErrorKind::NotFound => {
                            CommandError::usage(format!("there is no file {name}"))
                                .hint("check the path")
                        }
                        _ => unreadable(&name, error),
                    })?;
                    (name, Box::new(source))
                }
                None => ("standard input".to_owned(), Box::new(io::stdin())),
            };
        Ok(Self {
            name,
            reader: BufReader::new(source),
        })
    }

    /// Fails if the input is larger than `most` MiB. Without a limit, a device such as `/dev/zero` would fill
    /// the memory.
    pub(crate) fn bytes(self, most: u64) -> Result<Vec<u8>, CommandError> {
        let mut bytes = Vec::new();
        let read = self.reader.take((most << 20) + 1).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(&self.name, error))?;
        if bytes.len() as u64 > most << 20 {
            return Err(unreadable(
                &self.name,
                io::Error::other(format!("it is larger than {most} MiB")),
            ));
        }
        Ok(bytes)
    }
}

pub(crate) fn unreadable(name: &str, error: io::Error) -> CommandError {
    CommandError::caused(format!("failed to read {name}"), error)
}
