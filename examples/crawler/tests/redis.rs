//! A `redis-server` on loopback.

#[path = "../../../crates/redis/tests/servers/harness/process.rs"]
#[allow(dead_code, reason = "the tests of tamis-redis also ask whether it runs")]
mod process;

use self::process::Process;

/// A server, which is killed when this is dropped.
pub(crate) struct Redis(Process);

impl Redis {
    /// Starts a server. Without `redis-server` a test ends, unless `TAMIS_REQUIRE_REDIS` is set:
    /// then it fails.
    pub(crate) fn start() -> Option<Self> {
        Process::start(&[]).map(Self)
    }

    pub(crate) const fn port(&self) -> u16 {
        self.0.port
    }

    /// Kills the server, and starts one at its address that has lost everything. Runs something
    /// while there is none.
    pub(crate) fn lose_everything(&mut self, meanwhile: impl FnOnce()) {
        self.0.kill();
        meanwhile();
        self.0.restart();
    }

    /// Returns the address of a filter.
    pub(crate) fn filter(&self, name: &str) -> String {
        format!("{}#{name}", self.0.url())
    }
}
