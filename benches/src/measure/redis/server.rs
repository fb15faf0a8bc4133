//! A `redis-server` on loopback for the time of the measurement, and what it costs.

#[path = "../../../../crates/redis/tests/servers/harness/process.rs"]
#[allow(dead_code, reason = "the tests of tamis-redis also restart it")]
mod process;

use std::time::Instant;

use redis::io::tcp::TcpSettings;
use redis::{Client, Connection, IntoConnectionInfo, RedisResult};

use self::process::Process;
pub(in crate::measure) use self::process::program;
use crate::clock;
use crate::measure::setup::Fallible;

/// A server without persistence. It is killed when this is dropped.
pub(super) struct Server(Process);

impl Server {
    /// Starts the server on a free port.
    pub(super) fn start() -> Fallible<Self> {
        Ok(Self(Process::start(&[])?))
    }

    /// Starts the server for a test, or returns `None` if the test is skipped.
    #[cfg(test)]
    pub(super) fn start_or_skip() -> Option<Self> {
        Process::start_or_skip(&[]).map(Self)
    }

    pub(super) fn url(&self) -> String {
        self.0.url()
    }

    /// Returns a new connection, which sends each request at once.
    pub(super) fn connect(&self) -> RedisResult<Connection> {
        let settings = TcpSettings::default().set_nodelay(true);
        Client::open(self.url().into_connection_info()?.set_tcp_settings(settings))?
            .get_connection()
    }

    /// Runs one command, which is not timed.
    pub(super) fn command<R: redis::FromRedisValue>(&self, words: &[&str]) -> Fallible<R> {
        Ok(redis::cmd(words[0]).arg(&words[1..]).query(&mut self.connect()?)?)
    }

    /// Returns the CPU time of the server in seconds, that of the system for it included.
    fn cpu(&self) -> Fallible<f64> {
        let text: String = self.command(&["INFO", "cpu"])?;
        let seconds = |field: &str| -> Fallible<f64> {
            let value = text.lines().find_map(|line| line.strip_prefix(field));
            Ok(value.ok_or_else(|| format!("INFO has no {field}"))?.trim().parse()?)
        };
        Ok(seconds("used_cpu_user:")? + seconds("used_cpu_sys:")?)
    }

    /// Returns what `work` returns, and its cost per item.
    pub(super) fn cost<R>(
        &self,
        items: usize,
        work: impl FnOnce() -> Fallible<R>,
    ) -> Fallible<(R, Cost)> {
        let server = self.cpu()?;
        let (client, wall) = (clock::process(), Instant::now());
        let result = work()?;
        let (client, wall) = (clock::process() - client, wall.elapsed());
        let server = self.cpu()? - server;
        let each = |seconds: f64| seconds * 1e6 / items as f64;
        let [client, wall] = [client, wall].map(|time| each(time.as_secs_f64()));
        Ok((result, Cost { server: each(server), client, wall }))
    }
}

/// Microseconds per item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    /// CPU time of the server.
    pub(super) server: f64,
    /// CPU time of the client.
    pub(super) client: f64,
    /// Time until the last answer.
    pub(super) wall: f64,
}
