//! A `redis-server` on loopback.

#[path = "../../../crates/redis/tests/servers/harness/process.rs"]
mod process;

use self::process::Process;

/// A server, which is killed when this is dropped.
pub(crate) struct Redis(Process);

impl Redis {
    /// Starts a server. If the program is not installed, a test ends, unless `TAMIS_REQUIRE_REDIS`
    /// or `TAMIS_REDIS_SERVER` is set: then it fails. The latter names another program than
    /// `redis-server`.
    pub(crate) fn start() -> Option<Self> {
        Process::start_or_skip(&[]).map(Self)
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
