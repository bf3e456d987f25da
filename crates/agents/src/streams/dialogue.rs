//! Defines conversations with programs that need more than a prompt on stdin. The runner forwards stdout to the
//! conversation and also records stdout, so that the answer can be parsed later.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::Stop;

/// Dropping the writer closes the program's stdin.
pub type StdinWriter = Box<dyn AsyncWrite + Send + Unpin>;

pub trait Dialogue: Send + Sync {
    /// Conducts the conversation until its end, or until `stop` is requested. The answer is read later from the
    /// recorded stdout.
    fn drive<'a>(
        &'a self,
        stdout: StdoutReader,
        stdin: StdinWriter,
        stop: Stop,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

#[derive(Debug)]
pub struct StdoutReader {
    pieces: UnboundedReceiver<Vec<u8>>,
    piece: Vec<u8>,
    taken: usize,
}

/// Forwards output to a [`StdoutReader`]. Forwarding ends at the first line that is too long.
#[derive(Debug)]
pub struct Relay {
    pieces: Option<UnboundedSender<Vec<u8>>>,
    longest: u64,
    line: u64,
}

pub fn relay(longest: u64) -> (Relay, StdoutReader) {
    let (sender, receiver) = unbounded_channel();
    let stdout = StdoutReader {
        pieces: receiver,
        piece: Vec::new(),
        taken: 0,
    };
    (
        Relay {
            pieces: Some(sender),
            longest,
            line: 0,
        },
        stdout,
    )
}

impl Relay {
    /// Sends `bytes` to the [`StdoutReader`]. If `bytes` is empty, the output has ended.
    pub fn pass(&mut self, bytes: &[u8]) {
        let Some(pieces) = &self.pieces else { return };
        let longest = bytes
            .split(|byte| *byte == b'\n')
            .map(|line| line.len() as u64)
            .max()
            .unwrap_or(0);
        let fits = self.line.saturating_add(longest) <= self.longest;
        if bytes.is_empty() || !fits || pieces.send(bytes.to_vec()).is_err() {
            self.pieces = None;
            return;
        }
        let rest = bytes
            .iter()
            .rev()
            .take_while(|byte| **byte != b'\n')
            .count();
        self.line = if rest == bytes.len() {
            self.line + rest as u64
        } else {
            rest as u64
        };
    }
}

impl AsyncRead for StdoutReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.taken == self.piece.len() {
            let Some(piece) = ready!(self.pieces.poll_recv(cx)) else {
                return Poll::Ready(Ok(()));
            };
            (self.piece, self.taken) = (piece, 0);
        }
        let end = self.piece.len().min(self.taken + into.remaining());
        into.put_slice(&self.piece[self.taken..end]);
        self.taken = end;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use tokio::io::AsyncReadExt as _;

    use super::*;

    async fn received(longest: u64, pieces: &[&str]) -> String {
        let (mut relay, mut stdout) = relay(longest);
        pieces.iter().for_each(|piece| relay.pass(piece.as_bytes()));
        drop(relay);
        let mut text = String::new();
        stdout.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn everything_is_passed_on_up_to_a_line_that_is_too_long() {
        assert_eq!(
            received(5, &["one\ntw", "o\n", "12345"]).await,
            "one\ntwo\n12345"
        );
        assert_eq!(
            received(5, &["one\n", "123", "456\n", "two\n"]).await,
            "one\n123"
        );
        assert_eq!(received(5, &["one\n", "", "two\n"]).await, "one\n");
    }
}
