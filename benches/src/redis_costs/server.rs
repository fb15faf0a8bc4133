//! A `redis-server` on loopback for the time of the measurement, and what it costs.

use core::error::Error;
use core::time::Duration;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Instant;

use redis::io::tcp::TcpSettings;
use redis::{Client, Connection, IntoConnectionInfo, RedisResult};
use tempfile::TempDir;

use crate::clock;

/// What a part of the measurement returns.
pub(super) type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// How long the server may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server without persistence. It is killed when this is dropped.
pub(super) struct Server {
    process: Child,
    port: u16,
    /// The connection for questions about the server.
    admin: Option<Connection>,
    _folder: TempDir,
}

impl Server {
    /// Starts the server on a free port.
    pub(super) fn start() -> Fallible<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let folder = tempfile::tempdir()?;
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
        command.args(["--save", "", "--appendonly", "no", "--dir"]).arg(folder.path());
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = process.map_err(|error| format!("redis-server: {error}"))?;
        let mut server = Self { process, port, admin: None, _folder: folder };
        let start = Instant::now();
        loop {
            match server.connect() {
                Ok(admin) => server.admin = Some(admin),
                // It ends at once if another program has taken the port.
                Err(error)
                    if start.elapsed() > PATIENCE || server.process.try_wait()?.is_some() =>
                {
                    return Err(error.into());
                }
                Err(_) => {
                    sleep(Duration::from_millis(10));
                    continue;
                }
            }
            return Ok(server);
        }
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

    /// Runs one command.
    pub(super) fn command<R: redis::FromRedisValue>(&mut self, words: &[&str]) -> Fallible<R> {
        let admin = self.admin.as_mut().ok_or("no connection")?;
        Ok(redis::cmd(words[0]).arg(&words[1..]).query(admin)?)
    }

    /// Returns the value of a field of `INFO`.
    pub(super) fn info(&mut self, section: &str, field: &str) -> Fallible<String> {
        let text: String = self.command(&["INFO", section])?;
        let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
        let value =
            pairs.find(|(name, _)| *name == field).map(|(_, value)| value.trim().to_owned());
        Ok(value.ok_or_else(|| format!("INFO {section} has no {field}"))?)
    }

    /// Returns the CPU time of the server in seconds, that of the system for it included.
    fn cpu(&mut self) -> Fallible<f64> {
        let mut read = |field| -> Fallible<f64> { Ok(self.info("cpu", field)?.parse()?) };
        Ok(read("used_cpu_user")? + read("used_cpu_sys")?)
    }

    /// Returns what `work` returns, and its cost per item.
    pub(super) fn cost<R>(
        &mut self,
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
pub struct Cost {
    /// CPU time of the server.
    pub server: f64,
    /// CPU time of the client.
    pub client: f64,
    /// Time until the last answer.
    pub wall: f64,
}
