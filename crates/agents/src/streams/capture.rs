//! Captures an output stream. The start of the stream is written to a file, and the end is kept in memory. The
//! length and the hash cover the whole stream.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::{Instant, timeout_at};

const TAIL: usize = 4096;
/// The maximum number of bytes that `drain` reads. A pipe's buffer is smaller than this maximum, so `drain` reads
/// everything that an exited process left in the pipe.
const DRAINED: usize = 4 << 20;

#[derive(Debug)]
pub struct OutputCapture {
    file: File,
    room: u64,
    pub total: u64,
    hasher: blake3::Hasher,
    tail: Vec<u8>,
}

impl OutputCapture {
    /// Creates a file for the first `cap` bytes of the stream. Only the file's owner is allowed to read the
    /// file, because the output can contain code.
    pub fn create(path: &Path, cap: u64) -> io::Result<Self> {
        Ok(Self {
            file: glee_system::private::options()
                .write(true)
                .create(true)
                .truncate(true)
                .open(path)?,
            room: cap,
            total: 0,
            hasher: blake3::Hasher::new(),
            tail: Vec::with_capacity(2 * TAIL),
        })
    }

    pub fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.total += bytes.len() as u64;
        self.hasher.update(bytes);
        self.tail
            .extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
        let kept = usize::try_from(self.room).map_or(bytes.len(), |room| room.min(bytes.len()));
        self.room -= kept as u64;
        let written = self.file.write_all(&bytes[..kept]);
        if written.is_err() {
            self.room = 0;
        }
        written
    }

    pub fn hash(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }

    /// Returns the last 4 KiB of the stream as text, without a truncated first character.
    pub fn tail(&self) -> String {
        let continued = self
            .tail
            .iter()
            .take(3)
            .take_while(|byte| **byte & 0xc0 == 0x80)
            .count();
        let cut = if self.total > self.tail.len() as u64 {
            continued
        } else {
            0
        };
        String::from_utf8_lossy(&self.tail[cut..]).into_owned()
    }

    pub fn last_line(&self, limit: u64) -> Option<String> {
        let mut lines = self.last_lines(limit);
        let last = lines.next()?;
        // Behind an uncaught error and its stack, Node prints its version.
        let error = lines
            .find(|line| {
                line.split([':', ' '])
                    .next()
                    .is_some_and(|word| word.ends_with("Error"))
            })
            .filter(|_| last.starts_with("Node.js v"));
        Some(error.unwrap_or(last))
    }

    /// Returns the non-blank lines in the last 4 KiB of the stream, from last to first. Each line is cut to `limit`
    /// bytes.
    pub(crate) fn last_lines(&self, limit: u64) -> impl Iterator<Item = String> {
        let lines = self.tail.rsplit(|byte| matches!(byte, b'\n' | b'\r'));
        lines
            .filter(|line| !line.trim_ascii().is_empty())
            .map(move |line| {
                let end = usize::try_from(limit).map_or(line.len(), |limit| limit.min(line.len()));
                String::from_utf8_lossy(&line[..end]).trim().to_owned()
            })
    }
}

pub struct Stream<R> {
    pipe: Option<R>,
    pub capture: OutputCapture,
    buffer: Box<[u8]>,
    fresh: usize,
}

impl<R: AsyncRead + Unpin> Stream<R> {
    pub fn new(pipe: Option<R>, capture: OutputCapture) -> Self {
        Self {
            pipe,
            capture,
            buffer: vec![0; 64 << 10].into_boxed_slice(),
            fresh: 0,
        }
    }

    pub fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Reads the next bytes, and returns the number of bytes read. This number is 0 at the end of the stream.
    /// Fails only if writing to the file fails.
    pub async fn pull(&mut self) -> io::Result<usize> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(0);
        };
        let read = pipe.read(&mut self.buffer).await.unwrap_or(0);
        self.fresh = read;
        if read == 0 {
            self.pipe = None;
        }
        self.capture.push(&self.buffer[..read])?;
        Ok(read)
    }

    pub fn fresh(&self) -> &[u8] {
        &self.buffer[..self.fresh]
    }

    /// Reads the rest of the stream, but stops at the deadline `until`, because another process can keep the pipe
    /// open forever.
    pub async fn drain(&mut self, until: Instant, mut on: impl FnMut(&[u8])) -> io::Result<()> {
        let mut room = DRAINED;
        while room > 0 {
            match timeout_at(until, self.pull()).await {
                Ok(Ok(0)) | Err(_) => break,
                Ok(Ok(read)) => {
                    room = room.saturating_sub(read);
                    on(self.fresh());
                }
                Ok(Err(error)) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn capture(cap: u64, pieces: &[&[u8]]) -> (OutputCapture, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut capture = OutputCapture::create(&path, cap).unwrap();
        for piece in pieces {
            capture.push(piece).unwrap();
        }
        let kept = std::fs::read(&path).unwrap();
        (capture, kept)
    }

    #[test]
    fn keeps_the_first_bytes_and_hashes_all() {
        let (capture, kept) = capture(5, &[b"abc", b"defg", b"hi"]);
        assert_eq!(kept, b"abcde");
        assert_eq!(capture.total, 9);
        assert_eq!(
            capture.hash(),
            blake3::hash(b"abcdefghi").to_hex().to_string()
        );
        assert_eq!(capture.tail(), "abcdefghi");
    }

    #[test]
    fn behind_an_error_the_version_of_node_is_not_what_failed() {
        for (text, last) in [
            (
                "a\nError: EACCES: denied\n    at open (x.js:1)\n\nNode.js v22.1.0\n",
                "Error: EACCES: denied",
            ),
            (
                "TypeError [CODE]: no\n  code: 1\n}\n\nNode.js v22.1.0\n",
                "TypeError [CODE]: no",
            ),
            ("starting\nNode.js v22.1.0\n", "Node.js v22.1.0"),
            ("Error: once\nno key\n", "no key"),
        ] {
            let (capture, _) = capture(999, &[text.as_bytes()]);
            assert_eq!(capture.last_line(99).as_deref(), Some(last));
        }
    }

    #[test]
    fn the_tail_is_bounded_and_begins_with_a_whole_character() {
        let text = format!("{}{}", "a", "é".repeat(TAIL));
        let (capture, _) = capture(0, &[text.as_bytes()]);
        assert_eq!(capture.tail(), "é".repeat(TAIL / 2));
        let odd = "é".repeat(TAIL) + "a";
        let (capture, _) = self::capture(0, &[odd.as_bytes()]);
        assert_eq!(capture.tail(), "é".repeat(TAIL / 2 - 1) + "a");
        let (capture, _) = self::capture(9, &[&[0x80, b'x', 0xff]]);
        assert_eq!(capture.tail(), "\u{fffd}x\u{fffd}");
    }

    #[test]
    fn the_last_line_is_the_last_that_says_something() {
        let cases: [(&[&[u8]], Option<&str>); 6] = [
            (&[], None),
            (&[b"\n\n  \n"], None),
            (&[b"one\ntwo\n\n"], Some("two")),
            (&[b"one\nhalf a li", b"ne"], Some("half a")),
            (&[b"10%\r20%\r"], Some("20%")),
            (&[b"\xff!\n"], Some("\u{fffd}!")),
        ];
        for (pieces, expected) in cases {
            assert_eq!(capture(99, pieces).0.last_line(6).as_deref(), expected);
        }
    }
}
