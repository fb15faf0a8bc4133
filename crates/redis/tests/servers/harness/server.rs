//! One server.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs, io};

use redis::{Client, Connection, FromRedisValue, RedisResult, Value};
use tamis_redis::{AsyncBuilder, AsyncRedisBloomFilter, Builder, RedisBloomFilter};
use tempfile::TempDir;

use super::PATIENCE;

/// The environment variable that names another program than `redis-server`.
const PROGRAM: &str = "TAMIS_REDIS_SERVER";

/// The log of a server, in its directory.
const LOG: &str = "log";

/// The ports of the servers: the first, and how many.
const FIRST_PORT: u16 = 20_001;
const PORTS: u64 = 2700;

/// The ports of all servers of this program: also of those that are down, and start again.
static TAKEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// A server on a free port of loopback, without persistence. It is killed when this is dropped.
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
        let mut log = String::new();
        // Another program may take the port in between: then the server ends at once.
        for _ in 0..10 {
            let (port, folder) = (free_port(), tempfile::tempdir().unwrap());
            match spawn(port, &arguments, &folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    // A program that was named is required too.
                    let is_set = |name| env::var_os(name).is_some();
                    let required = is_set("TAMIS_REQUIRE_REDIS") || is_set(PROGRAM);
                    let program = program();
                    assert!(!required, "{program} is not installed, and is required");
                    eprintln!("SKIPPED: {program} is not installed");
                    return None;
                }
                spawned => {
                    let process = spawned.unwrap();
                    let arguments = arguments.clone();
                    let mut server = Self { process, port, arguments, folder };
                    if server.is_ready() {
                        return Some(server);
                    }
                    log = fs::read_to_string(server.folder.path().join(LOG)).unwrap_or_default();
                }
            }
        }
        panic!("{} does not start: {log}", program());
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

    /// Returns a builder of the filter `seen`. At its rate, no test fails for a false positive.
    pub(crate) fn builder<T: ?Sized>(&self) -> Builder<T> {
        RedisBloomFilter::builder(&self.url(), "seen").false_positive_rate(1e-12)
    }

    /// Returns [`builder`](Self::builder) for tasks.
    pub(crate) fn async_builder<T: ?Sized>(&self) -> AsyncBuilder<T> {
        AsyncRedisBloomFilter::builder(&self.url(), "seen").false_positive_rate(1e-12)
    }

    /// Runs one command, and returns its reply.
    pub(crate) fn command(&self, words: &[&str]) -> Value {
        self.query(words)
    }

    /// Runs one command, and returns its reply as a value of a type.
    pub(crate) fn query<T: FromRedisValue>(&self, words: &[&str]) -> T {
        let reply = redis::cmd(words[0]).arg(&words[1..]).query(&mut self.connection());
        reply.unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// Returns the key of a slice of a shard of a filter.
    pub(crate) fn bits_key(&self, name: &str, shard: u32, slice: u32) -> String {
        let text: String = self.query(&["GET", &format!("{{{name}}}")]);
        let descriptor: serde_json::Value = serde_json::from_str(&text).unwrap();
        let life = descriptor["identity"].as_u64().unwrap();
        format!("{{{name}:{shard}}}:{life:016x}:{slice}")
    }

    /// Returns all keys, in order.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.keys_like("*")
    }

    /// Returns the keys that a pattern describes, in order.
    pub(crate) fn keys_like(&self, pattern: &str) -> Vec<String> {
        let mut keys: Vec<String> = self.query(&["KEYS", pattern]);
        keys.sort();
        keys
    }

    /// Returns how many of a command the server has executed.
    pub(crate) fn commands(&self, name: &str) -> u64 {
        self.executed().get(name).copied().unwrap_or(0)
    }

    /// Returns how many commands that insert items the server has executed: scripts too, in which
    /// an item counts bits.
    pub(crate) fn inserts(&self) -> u64 {
        self.commands("bitfield") + self.commands("eval")
    }

    /// Returns the names of the commands that the server has executed, and how many of each.
    pub(crate) fn executed(&self) -> BTreeMap<String, u64> {
        let report: String = self.query(&["INFO", "commandstats"]);
        let lines =
            report.lines().filter_map(|line| line.strip_prefix("cmdstat_")?.split_once(":calls="));
        let count = |numbers: &str| numbers.split(',').next().unwrap().parse().unwrap();
        lines.map(|(name, numbers)| (name.to_owned(), count(numbers))).collect()
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

    /// Returns the processor time that the server has used.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        let seconds = |field| self.field(&["INFO", "cpu"], field).parse::<f64>().unwrap();
        seconds("used_cpu_user") + seconds("used_cpu_sys")
    }

    /// Returns a field of a report, empty if the report does not have it.
    pub(crate) fn field(&self, words: &[&str], field: &str) -> String {
        let found = self.try_field(words, field);
        found.unwrap_or_else(|error| panic!("{}: no reply to {words:?}: {error}", self.url()))
    }

    fn try_field(&self, words: &[&str], field: &str) -> RedisResult<String> {
        let mut connection = Client::open(self.url())?.get_connection_with_timeout(PATIENCE)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        let report: String = redis::cmd(words[0]).arg(&words[1..]).query(&mut connection)?;
        let mut lines = report.lines().filter_map(|line| line.split_once(':'));
        let value = lines.find(|(name, _)| *name == field).map(|(_, value)| value.to_owned());
        Ok(value.unwrap_or_default())
    }

    /// Returns whether the server was not killed, and has not ended by itself.
    pub(crate) fn is_running(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }

    /// Waits until the server answers. Returns `false` if it has ended.
    fn is_ready(&mut self) -> bool {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if !self.is_running() {
                return false;
            }
            // If another server has taken the port, that one answers until this one ends.
            let found = self.try_field(&["INFO", "server"], "process_id");
            if found == Ok(self.process.id().to_string()) {
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
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.port);
    }
}

/// Returns the program of the servers.
pub(crate) fn program() -> String {
    env::var(PROGRAM).unwrap_or_else(|_| "redis-server".to_owned())
}

fn spawn(port: u16, arguments: &[String], folder: &TempDir) -> io::Result<Child> {
    Command::new(program())
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
        .args(["--appendonly", "no", "--daemonize", "no", "--logfile", LOG, "--dir"])
        .arg(folder.path())
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
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
