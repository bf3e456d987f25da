//! The vendors: a server that answers the calls of scripted agents, and sees what was really asked.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) port: u16,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
pub(crate) struct Seen {
    /// The nonce of each call, and its begin in microseconds since 1970.
    pub(crate) calls: Vec<(String, i64)>,
    /// The calls at once of each vendor: now, and at most.
    pub(crate) at_once: BTreeMap<String, (usize, usize)>,
}

impl World {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let world = Self {
            port: listener.local_addr().expect("an address").port(),
            seen: Arc::default(),
        };
        let server = world.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = server.clone();
                thread::spawn(move || server.serve(stream));
            }
        });
        world
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers one call after 50 to 200 ms, or forgets it when the caller goes away.
    fn serve(&self, mut stream: TcpStream) {
        let mut line = String::new();
        let reading = stream.try_clone().map(BufReader::new);
        if reading
            .and_then(|mut stream| stream.read_line(&mut line))
            .is_err()
        {
            return;
        }
        let Some((nonce, vendor)) = line.trim().split_once(' ') else {
            return;
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.expect("a time after 1970").as_micros();
        {
            let mut seen = self.seen();
            seen.calls.push((
                nonce.to_owned(),
                i64::try_from(now).expect("a time before 2500"),
            ));
            let (running, most) = seen.at_once.entry(vendor.to_owned()).or_default();
            *running += 1;
            *most = (*most).max(*running);
        }
        let millis = 50 + nonce.bytes().map(u64::from).sum::<u64>() % 151;
        let waiting = stream.set_read_timeout(Some(Duration::from_millis(millis)));
        let is_gone = waiting.is_err() || matches!(stream.read(&mut [0]), Ok(0));
        self.seen().at_once.entry(vendor.to_owned()).or_default().0 -= 1;
        if !is_gone {
            drop(stream.write_all(b"ok\n"));
        }
    }

    /// A reviewer that asks the vendor with the name of its program, and finds nothing.
    pub(crate) fn reviewer(&self) -> String {
        let port = self.port;
        format!(
            r#"#!/bin/bash
cat > /dev/null
exec 3<>/dev/tcp/127.0.0.1/{port} || exit 1
echo "$GLEE_NONCE ${{0##*/}}" >&3
read -r answer <&3 || exit 1
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0"
"#
        )
    }
}
