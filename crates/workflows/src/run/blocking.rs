//! Work that takes a thread of its own.

use tokio::task::spawn_blocking;

/// Runs `work` on a thread for blocking work. A panic goes on in the caller.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let done = spawn_blocking(work).await;
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}
