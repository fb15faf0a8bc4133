//! The process of a server on loopback. Tests and benches of other crates include this file by its
//! path, so it needs nothing but `tempfile`.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

use tempfile::TempDir;

/// The environment variable that names another program than `redis-server`.
const PROGRAM: &str = "TAMIS_REDIS_SERVER";

/// The environment variable that requires a server.
const REQUIRE: &str = "TAMIS_REQUIRE_REDIS";

/// The log of a server, in its directory.
const LOG: &str = "log";

/// The ports of the servers: the first, and how many.
const FIRST_PORT: u16 = 20_001;
const PORTS: u64 = 2700;

/// The ports of all servers of this program: also of those that are down, and start again.
static TAKEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// How long a busy machine may take to start a server.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server on a free port of loopback, without persistence unless an argument asks for it. It is
/// killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) child: Child,
    pub(crate) port: u16,
    arguments: Vec<String>,
    folder: TempDir,
}

impl Process {
    /// Starts a server with more arguments. Returns `None` if the program is not installed and not
    /// required: then a test is skipped, and this prints so.
    ///
    /// # Panics
    ///
    /// If the program is required, or does not start.
    pub(crate) fn start_or_skip(arguments: &[&str]) -> Option<Self> {
        match Self::start(arguments) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // A program that was named is required too.
                let required = [REQUIRE, PROGRAM].iter().any(|name| env::var_os(name).is_some());
                assert!(!required, "{error}, and is required");
                eprintln!("SKIPPED: {error}");
                None
            }
            started => Some(started.unwrap()),
        }
    }

    /// Starts a server with more arguments.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] if the program is not installed; another one if it does not start.
    pub(crate) fn start(arguments: &[&str]) -> io::Result<Self> {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let mut log = String::new();
        // Another program may take the port in between: then the server ends at once.
        for _ in 0..10 {
            let (port, folder) = (free_port(), tempfile::tempdir()?);
            let child = spawn(port, &arguments, folder.path())?;
            let mut process = Self { child, port, arguments: arguments.clone(), folder };
            if process.is_ready() {
                return Ok(process);
            }
            log = fs::read_to_string(process.folder.path().join(LOG)).unwrap_or_default();
        }
        Err(io::Error::other(format!("{} does not start: {log}", program())))
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Kills the server. Of its contents only what it has written to disk remains: nothing without
    /// persistence.
    pub(crate) fn kill(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }

    /// Starts the killed server again on the same port, with what it has written to disk.
    pub(crate) fn restart(&mut self) {
        self.child = spawn(self.port, &self.arguments, self.folder.path()).unwrap();
        assert!(self.is_ready(), "{} does not start again", program());
    }

    /// Returns whether the server was not killed, and has not ended by itself.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits until the server answers. Returns `false` if it has ended.
    fn is_ready(&mut self) -> bool {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end && self.is_running() {
            // If another server has taken the port, that one answers until this one ends.
            if self.answers().unwrap_or(false) {
                return true;
            }
            sleep(Duration::from_millis(10));
        }
        false
    }

    /// Returns whether this server, and no other, answers at the port.
    fn answers(&self) -> io::Result<bool> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(b"INFO server\r\nQUIT\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let field = format!("process_id:{}", self.child.id());
        Ok(text.lines().any(|line| line == field))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.port);
    }
}

/// Returns the program of the servers.
pub(crate) fn program() -> String {
    env::var(PROGRAM).unwrap_or_else(|_| "redis-server".to_owned())
}

fn spawn(port: u16, arguments: &[String], folder: &Path) -> io::Result<Child> {
    let spawned = Command::new(program())
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
        .args(["--appendonly", "no", "--daemonize", "no", "--logfile", LOG, "--dir"])
        .arg(folder)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    spawned.map_err(|error| {
        let why = match error.kind() {
            ErrorKind::NotFound => "is not installed".to_owned(),
            _ => format!("does not start: {error}"),
        };
        io::Error::new(error.kind(), format!("{} {why}", program()))
    })
}

/// Returns a port that is free, and so is its number plus 10,000, which nodes of a cluster use
/// among themselves.
///
/// Systems give clients ports above 32,767, so neither is one of these: a client that connects to a
/// killed server again and again may be given that server's port, and then connects to itself, and
/// the server cannot start again.
fn free_port() -> u16 {
    let is_free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
    // Each `RandomState` has other keys.
    let random = || RandomState::new().build_hasher().finish();
    let mut ports = (0..10_000).map(|_| FIRST_PORT + (random() % PORTS) as u16);
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let port = ports
        .find(|port| !taken.contains(port) && is_free(*port) && is_free(port + 10_000))
        .expect("a free port");
    taken.insert(port);
    port
}
