//! A stop request that cannot be withdrawn. Every clone of a [`Stop`] receives the stop request, even if the clone
//! calls [`Stop::stopped`] after the request.

use tokio::sync::watch;

#[derive(Debug)]
pub struct StopHandle(watch::Sender<bool>);

impl StopHandle {
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

#[derive(Clone, Debug)]
pub struct Stop {
    run: watch::Receiver<bool>,
    call: Option<watch::Receiver<bool>>,
}

impl Stop {
    pub fn new() -> (StopHandle, Self) {
        let (sender, run) = watch::channel(false);
        (StopHandle(sender), Self { run, call: None })
    }

    /// Returns a [`Stop`] for one call of the run, and a handle that stops only this call.
    pub fn of_call(&self) -> (StopHandle, Self) {
        let (sender, call) = watch::channel(false);
        (
            StopHandle(sender),
            Self {
                run: self.run.clone(),
                call: Some(call),
            },
        )
    }

    pub fn never() -> Self {
        Self::new().1
    }

    pub fn is_stopped(&self) -> bool {
        *self.run.borrow() || self.call.as_ref().is_some_and(|call| *call.borrow())
    }

    /// Returns whether this call was stopped while the run continues.
    pub fn is_skipped(&self) -> bool {
        self.is_stopped() && !*self.run.borrow()
    }

    /// Waits for a request to stop. Waits forever if the handle is dropped without a stop request.
    pub async fn stopped(&self) {
        match &self.call {
            None => requested(&self.run).await,
            Some(call) => tokio::select! {
                () = requested(&self.run) => {}
                () = requested(call) => {}
            },
        }
    }
}

async fn requested(receiver: &watch::Receiver<bool>) {
    if receiver.clone().wait_for(|stopped| *stopped).await.is_err() {
        std::future::pending::<()>().await;
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

    #[tokio::test]
    async fn a_call_is_stopped_alone_or_with_its_run() {
        let (run, stop) = Stop::new();
        let (skip, skipped) = stop.of_call();
        let (_other, other) = stop.of_call();
        skip.stop();
        skipped.stopped().await;
        assert!(skipped.is_skipped() && !stop.is_stopped() && !other.is_stopped());
        run.stop();
        other.stopped().await;
        assert!(other.is_stopped() && !other.is_skipped() && !skipped.is_skipped());
    }
}
