//! A `redis-server` on loopback for the time of the measurement, and what it costs.

use core::time::Duration;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Instant;

use redis::io::tcp::TcpSettings;
use redis::{Client, Connection, IntoConnectionInfo, RedisResult};
use tempfile::TempDir;

use crate::clock;
use crate::measure::setup::Fallible;

/// How long the server may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server without persistence. It is killed when this is dropped.
pub(super) struct Server {
    process: Child,
    port: u16,
    _directory: TempDir,
}

impl Server {
    /// Starts the server on a free port.
    pub(super) fn start() -> Fallible<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let directory = tempfile::tempdir()?;
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
        command.args(["--save", "", "--appendonly", "no", "--dir"]).arg(directory.path());
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = process.map_err(|error| format!("redis-server: {error}"))?;
        let server = Self { process, port, _directory: directory };
        let start = Instant::now();
        while let Err(error) = server.connect() {
            if start.elapsed() > PATIENCE {
                return Err(error.into());
            }
            sleep(Duration::from_millis(10));
        }
        Ok(server)
    }

    pub(super) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
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

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
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
