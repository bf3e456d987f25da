//! A request to stop, which cannot be withdrawn. Every clone of a [`Stop`] receives the request, even if the clone
//! begins to wait after the request.

use tokio::sync::watch;

#[derive(Debug)]
pub struct StopHandle(watch::Sender<bool>);

impl StopHandle {
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

impl Stop {
    pub fn new() -> (StopHandle, Self) {
        let (sender, receiver) = watch::channel(false);
        (StopHandle(sender), Self(receiver))
    }

    pub fn never() -> Self {
        Self::new().1
    }

    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits for a request to stop. Waits forever if the handle is dropped without a request.
    pub async fn stopped(&self) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|stopped| *stopped).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_clone_sees_the_request_early_or_late() {
        let (handle, stop) = Stop::new();
        let waiting = tokio::spawn({
            let stop = stop.clone();
            async move { stop.stopped().await }
        });
        assert!(!stop.is_stopped());
        handle.stop();
        drop(handle);
        waiting.await.expect("the waiting task ends");
        stop.stopped().await;
        assert!(stop.is_stopped());
    }
}
