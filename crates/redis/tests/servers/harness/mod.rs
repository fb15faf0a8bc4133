//! Starts real servers for tests, and breaks them.
//!
//! Where `redis-server` is missing, a test prints a notice and ends, unless the environment
//! variable `TAMIS_REQUIRE_REDIS` is set: then it fails. The variable `TAMIS_REDIS_SERVER` names
//! another program, such as a `valkey-server`, which must be there.

mod cluster;
mod server;

use std::fmt::Debug;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

pub(crate) use self::cluster::Cluster;
pub(crate) use self::server::Server;

/// How long a busy machine may take for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Stops threads when it is dropped. A test that fails while they run would wait for them for ever.
pub(crate) struct StopOnDrop<'s>(pub(crate) &'s OnceLock<()>);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        _ = self.0.set(());
    }
}

/// Repeats something until it succeeds.
pub(crate) fn patiently<T, E: Debug>(mut attempt: impl FnMut() -> Result<T, E>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Ok(done) => return done,
            Err(error) => assert!(Instant::now() < end, "this was awaited in vain: {error:?}"),
        }
        sleep(Duration::from_millis(20));
    }
}

/// Waits until something holds.
pub(crate) fn wait(what: &str, mut holds: impl FnMut() -> bool) {
    patiently(|| holds().then_some(()).ok_or(what));
}
