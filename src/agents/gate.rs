//! Holds an agent back that is made ready, until it may begin.
//!
//! A process takes its time to start, and so does the disk on which it is recorded that the agent is asked: one need not
//! wait for the other, as long as the agent itself waits for both.

use tokio::sync::watch;

/// Opens a [`Gate`]. One that is dropped closed stays closed.
#[derive(Debug)]
pub struct Opener(watch::Sender<bool>);

impl Opener {
    /// Lets begin what waits, now or later.
    pub fn open(self) {
        self.0.send_replace(true);
    }
}

/// What an agent waits at before it begins.
#[derive(Clone, Debug)]
pub struct Gate(watch::Receiver<bool>);

impl Gate {
    /// A closed gate, and who opens it.
    pub fn closed() -> (Opener, Self) {
        let (sender, receiver) = watch::channel(false);
        (Opener(sender), Self(receiver))
    }

    /// A gate that stands open.
    pub fn open() -> Self {
        let (opener, gate) = Self::closed();
        opener.open();
        gate
    }

    /// Waits until it is open. Returns whether it is: it never will be if its opener is gone.
    pub async fn opened(&mut self) -> bool {
        self.0.wait_for(|is_open| *is_open).await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_opens_early_or_late_and_not_at_all_without_its_opener() {
        assert!(Gate::open().opened().await);
        let (opener, mut gate) = Gate::closed();
        let waiting = tokio::spawn({
            let mut gate = gate.clone();
            async move { gate.opened().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        opener.open();
        assert!(waiting.await.expect("it does not panic") && gate.opened().await);
        let (opener, mut gate) = Gate::closed();
        drop(opener);
        assert!(!gate.opened().await);
    }
}
