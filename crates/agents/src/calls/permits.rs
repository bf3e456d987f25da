//! Permits: how many requests to a vendor all workers of a server make at once.

use std::time::Duration;

/// Gives permits. The methods block.
pub trait Permits: Send + Sync {
    /// Zero if the call may begin. Otherwise, it has to ask again after the returned time.
    fn ask(&self, vendor: &str, call: &str) -> Duration;
    fn give_back(&self, vendor: &str, call: &str);
    /// Lets no worker call the vendor for a time.
    fn cool(&self, vendor: &str, time: Duration);
}
