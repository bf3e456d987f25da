//! Accepts connections, with limits, so that no client can use up the memory.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tracing::debug;

use glee_agents::Stop;

/// The maximum number of open connections. A further connection closes the oldest one whose client has not signed in:
/// every user of the computer can connect, and only the owner can sign in.
const CONNECTIONS: usize = 512;

/// The maximum size of a request's head, in bytes.
const BUFFER: usize = 32 << 10;

/// The maximum time in which a client has to send the head of a request. The server closes the connection of a
/// slower client.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum time that the server waits for open connections before it stops.
const PATIENCE: Duration = Duration::from_secs(2);

/// The pause after a failure to accept a connection, for example because the process has too many open files.
const PAUSE: Duration = Duration::from_millis(200);

/// The place of a connection. A request of a signed-in client makes the place its own until the connection ends.
#[derive(Clone, Default)]
pub(crate) struct Seat(Arc<AtomicBool>);

impl Seat {
    pub(crate) fn keep(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_kept(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The open connections. The oldest connection is first.
#[derive(Default)]
struct Seats(VecDeque<(Seat, AbortHandle)>);

impl Seats {
    /// Whether there is room for a further connection. Closes a connection if this is necessary.
    fn make_room(&mut self, most: usize) -> bool {
        if self.0.len() < most {
            return true;
        }
        self.0.retain(|(_, connection)| !connection.is_finished());
        if self.0.len() < most {
            return true;
        }
        let oldest = self.0.iter().position(|(seat, _)| !seat.is_kept());
        let closed = oldest.and_then(|oldest| self.0.remove(oldest));
        closed
            .inspect(|(_, connection)| connection.abort())
            .is_some()
    }
}

/// Serves until `stop` requests the end.
pub(crate) async fn serve(listener: TcpListener, router: Router, stop: Stop) {
    let mut seats = Seats::default();
    let graceful = GracefulShutdown::new();
    let mut stopped = pin!(stop.stopped());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stopped => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                debug!("a connection could not be accepted: {error}");
                seats.make_room(0);
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        if !seats.make_room(CONNECTIONS) {
            debug!("all connections are in use");
            continue;
        }
        // Events are small and must arrive without delay. An error of `set_nodelay` is ignored, because the
        // error only delays the events.
        drop(stream.set_nodelay(true));
        let seat = Seat::default();
        let pages = TowerToHyperService::new(router.clone());
        let own = seat.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(own.clone());
            pages.call(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .max_buf_size(BUFFER)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        let task = tokio::spawn(async move {
            if let Err(error) = connection.await {
                debug!("a connection failed: {error}");
            }
        });
        seats.0.push_back((seat, task.abort_handle()));
    }
    drop(listener);
    if tokio::time::timeout(PATIENCE, graceful.shutdown())
        .await
        .is_err()
    {
        debug!("some connections were still open at the end");
    }
}
