//! One server.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, io};

use redis::{Client, Connection, Value};
use tempfile::TempDir;

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// A `redis-server` on a free port of loopback, without persistence. It is killed when this is dropped.
pub(crate) struct Server {
    process: Child,
    port: u16,
    arguments: Vec<String>,
    folder: TempDir,
}

impl Server {
    /// Starts a server. Returns `None` if `redis-server` is not installed and not required.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// Starts a server with more arguments.
    pub(crate) fn start_with(arguments: &[&str]) -> Option<Self> {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        // Another program may take the port in between: then the server ends at once.
        for _ in 0..10 {
            let (port, folder) = (free_port(), tempfile::tempdir().unwrap());
            match spawn(port, &arguments, &folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let required = env::var_os("TAMIS_REQUIRE_REDIS").is_some();
                    assert!(!required, "redis-server is not installed, and is required");
                    eprintln!("SKIPPED: redis-server is not installed");
                    return None;
                }
                spawned => {
                    let process = spawned.unwrap();
                    let arguments = arguments.clone();
                    let mut server = Self { process, port, arguments, folder };
                    if server.is_ready() {
                        return Some(server);
                    }
                }
            }
        }
        panic!("redis-server does not start");
    }

    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    pub(crate) fn connection(&self) -> Connection {
        Client::open(self.url()).unwrap().get_connection().unwrap()
    }

    /// Runs one command, and returns its reply.
    pub(crate) fn command(&self, words: &[&str]) -> Value {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]).query(&mut self.connection()).unwrap()
    }

    /// Returns how many of a command the server has executed.
    pub(crate) fn commands(&self, name: &str) -> u64 {
        let Value::BulkString(report) = self.command(&["INFO", "commandstats"]) else { return 0 };
        let report = String::from_utf8(report).unwrap();
        let start = format!("cmdstat_{name}:calls=");
        let line = report.lines().find_map(|line| line.strip_prefix(&start));
        line.map_or(0, |line| line.split(',').next().unwrap().parse().unwrap())
    }

    /// Kills the server: nothing of its contents remains.
    pub(crate) fn kill(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }

    /// Starts the killed server again, empty, on the same port.
    pub(crate) fn restart(&mut self) {
        self.process = spawn(self.port, &self.arguments, &self.folder).unwrap();
        assert!(self.is_ready());
    }

    /// Stops or continues the server: it then answers nothing, and its connections stay open.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(process, signal).unwrap();
    }

    /// Waits until the server answers. Returns `false` if it has ended.
    fn is_ready(&mut self) -> bool {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if self.process.try_wait().unwrap().is_some() {
                return false;
            }
            let client = Client::open(self.url()).unwrap();
            if let Ok(mut connection) = client.get_connection_with_timeout(PATIENCE)
                && redis::cmd("PING").query::<String>(&mut connection).is_ok()
            {
                return true;
            }
            sleep(Duration::from_millis(10));
        }
        false
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(port: u16, arguments: &[String], folder: &TempDir) -> io::Result<Child> {
    Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
        .args(["--appendonly", "no", "--daemonize", "no", "--dir"])
        .arg(folder.path())
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// Returns a free port whose number plus 10,000, which nodes of a cluster use among themselves, is a port, too.
fn free_port() -> u16 {
    loop {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        if port < 55_000 && TcpListener::bind(("127.0.0.1", port + 10_000)).is_ok() {
            return port;
        }
    }
}
