//! What a person names as input: a file, taken from the folder of the command, or standard input (`-` or nothing).

use std::io::{self, BufReader, Read};
use std::path::Path;

use crate::cli::context::globals::Globals;
use crate::cli::error::CommandError;
use crate::system::files;

pub(crate) struct Input {
    /// The file in backticks, or `standard input`.
    pub(crate) name: String,
    pub(crate) reader: BufReader<Box<dyn Read + Send>>,
}

impl Input {
    pub(crate) fn open(globals: &Globals, file: Option<&Path>) -> Result<Self, CommandError> {
        let (name, opened): (_, io::Result<Box<dyn Read + Send>>) =
            match file.filter(|file| *file != Path::new("-")) {
                Some(file) => {
                    let opened = files::input(&globals.directory().join(file));
                    (format!("`{}`", file.display()), opened.map(|file| Box::new(file) as _))
                }
                None => ("standard input".to_owned(), Ok(Box::new(io::stdin()))),
            };
        match opened {
            Ok(source) => Ok(Self { name, reader: BufReader::new(source) }),
            Err(error) => Err(unreadable(&name, error)),
        }
    }

    /// All of it; more than `most` MiB is an error: a device has no end.
    pub(crate) fn bytes(self, most: u64) -> Result<Vec<u8>, CommandError> {
        let mut bytes = Vec::new();
        let read = self.reader.take((most << 20) + 1).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(&self.name, error))?;
        if bytes.len() as u64 > most << 20 {
            return Err(unreadable(&self.name, io::Error::other(format!("it is larger than {most} MiB"))));
        }
        Ok(bytes)
    }
}

pub(crate) fn unreadable(name: &str, error: io::Error) -> CommandError {
    CommandError::caused(format!("failed to read {name}"), error)
}
