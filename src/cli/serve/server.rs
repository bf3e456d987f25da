//! Accepts connections, with limits, so that no client can use up the memory.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tracing::debug;

use crate::agents::Stop;

/// The maximum number of open connections. Further connections wait.
const CONNECTIONS: usize = 512;

/// The maximum size of a request's head, in bytes.
const BUFFER: usize = 32 << 10;

/// The maximum time in which a client has to send the head of a request. The server closes the connection of a
/// slower client.
const HEAD_TIMEOUT: Duration = Duration::from_secs(20);

/// The maximum time that the server waits for open connections before it stops.
const PATIENCE: Duration = Duration::from_secs(2);

/// The pause after a failure to accept a connection, for example because the process has too many open files.
const PAUSE: Duration = Duration::from_millis(200);

/// Serves until `stop` requests the end.
pub(crate) async fn serve(listener: TcpListener, router: Router, stop: Stop) {
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    let graceful = GracefulShutdown::new();
    let mut stopped = pin!(stop.stopped());
    loop {
        let permit = tokio::select! {
            permit = Arc::clone(&connections).acquire_owned() => permit,
            () = &mut stopped => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stopped => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                debug!("a connection could not be accepted: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        // Events are small and must arrive without delay. An error of `set_nodelay` is ignored, because the
        // error only delays the events.
        drop(stream.set_nodelay(true));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .max_buf_size(BUFFER)
            .serve_connection(
                TokioIo::new(stream),
                TowerToHyperService::new(router.clone()),
            );
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                debug!("a connection failed: {error}");
            }
            drop(permit);
        });
    }
    drop(listener);
    if tokio::time::timeout(PATIENCE, graceful.shutdown())
        .await
        .is_err()
    {
        debug!("some connections were still open at the end");
    }
}
