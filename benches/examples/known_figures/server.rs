//! A `redis-server` on loopback, for as long as its row is measured.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

use tempfile::TempDir;

use crate::Fallible;

/// The environment variable that names another program than `redis-server`.
const PROGRAM: &str = "TAMIS_REDIS_SERVER";
/// The environment variable that requires a server.
const REQUIRE: &str = "TAMIS_REQUIRE_REDIS";

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server without persistence. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    port: u16,
    folder: TempDir,
}

impl Server {
    /// Starts a server on a free port. Returns `None` if the program is not installed and not
    /// required.
    pub(crate) fn start() -> Fallible<Option<Self>> {
        let program = env::var(PROGRAM).unwrap_or_else(|_| "redis-server".to_owned());
        let mut log = String::new();
        // Another program may take the port in between: then the server ends at once.
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
            let folder = tempfile::tempdir()?;
            let process = Command::new(&program)
                .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
                .args(["--appendonly", "no", "--daemonize", "no", "--logfile", "log", "--dir"])
                .arg(folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            let process = match process {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    if [REQUIRE, PROGRAM].iter().any(|name| env::var_os(name).is_some()) {
                        return Err(format!("{program} is not installed, and is required").into());
                    }
                    return Ok(None);
                }
                spawned => spawned.map_err(|error| format!("{program}: {error}"))?,
            };
            let mut server = Self { process, port, folder };
            if server.is_ready()? {
                return Ok(Some(server));
            }
            log = fs::read_to_string(server.folder.path().join("log")).unwrap_or_default();
        }
        Err(format!("{program} does not start: {log}").into())
    }

    pub(crate) fn address(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Waits until the server answers. Returns `false` if it has ended, or does not answer.
    fn is_ready(&mut self) -> io::Result<bool> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE && self.process.try_wait()?.is_none() {
            if self.answers().unwrap_or(false) {
                return Ok(true);
            }
            sleep(Duration::from_millis(10));
        }
        Ok(false)
    }

    /// Returns whether this server, and no other, answers on the port.
    fn answers(&self) -> io::Result<bool> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.write_all(b"INFO server\r\nQUIT\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let field = format!("process_id:{}", self.process.id());
        Ok(text.lines().any(|line| line == field))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
