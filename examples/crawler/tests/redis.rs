//! A `redis-server` on loopback.

use core::time::Duration;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Instant;

use tempfile::{TempDir, tempdir};

/// A server, which is killed when this is dropped.
pub(crate) struct Redis {
    process: Child,
    pub(crate) port: u16,
    folder: TempDir,
}

impl Redis {
    /// Starts a server. Without `redis-server` a test ends, unless `TAMIS_REQUIRE_REDIS` is set:
    /// then it fails.
    pub(crate) fn start() -> Option<Self> {
        // Another program may take the port in between.
        for _ in 0..10 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let folder = tempdir().unwrap();
            match spawn(port, &folder) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let is_required = std::env::var_os("TAMIS_REQUIRE_REDIS").is_some();
                    assert!(!is_required, "redis-server is not installed, and is required");
                    eprintln!("SKIPPED: redis-server is not installed");
                    return None;
                }
                spawned => {
                    let mut server = Self { process: spawned.unwrap(), port, folder };
                    if server.is_ready() {
                        return Some(server);
                    }
                }
            }
        }
        panic!("redis-server does not start");
    }

    /// Kills the server, and starts one at its address that has lost everything. Runs something
    /// while there is none.
    pub(crate) fn lose_everything(&mut self, meanwhile: impl FnOnce()) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        meanwhile();
        self.process = spawn(self.port, &self.folder).unwrap();
        assert!(self.is_ready(), "redis-server does not start again");
    }

    /// Returns the address of a filter.
    pub(crate) fn filter(&self, name: &str) -> String {
        format!("redis://127.0.0.1:{}/#{name}", self.port)
    }

    /// Waits until the server answers. Returns `false` if it has ended.
    fn is_ready(&mut self) -> bool {
        let end = Instant::now() + Duration::from_secs(20);
        while Instant::now() < end && self.process.try_wait().unwrap().is_none() {
            // If another server has taken the port, that one answers until this one ends.
            if self.answers().unwrap_or(false) {
                return true;
            }
            sleep(Duration::from_millis(10));
        }
        false
    }

    /// Returns whether this server, and no other, answers at the port.
    fn answers(&self) -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(b"INFO server\r\nQUIT\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let field = format!("process_id:{}", self.process.id());
        Ok(text.lines().any(|line| line == field))
    }
}

fn spawn(port: u16, folder: &TempDir) -> std::io::Result<Child> {
    Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
        .arg("--dir")
        .arg(folder.path())
        .stdout(Stdio::null())
        .spawn()
}

impl Drop for Redis {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
