//! One server.

use std::collections::BTreeMap;

use redis::{Client, Connection, FromRedisValue, Value};
use tamis_redis::{AsyncBuilder, AsyncRedisBloomFilter, Builder, RedisBloomFilter};

use super::PATIENCE;
use super::process::Process;

/// A server, as tests use it.
pub(crate) struct Server(Process);

impl Server {
    /// Starts a server. Returns `None` if `redis-server` is not installed and not required.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// Starts a server with more arguments.
    pub(crate) fn start_with(arguments: &[&str]) -> Option<Self> {
        Process::start_or_skip(arguments).map(Self)
    }

    pub(crate) const fn port(&self) -> u16 {
        self.0.port
    }

    pub(crate) fn url(&self) -> String {
        self.0.url()
    }

    pub(crate) fn connection(&self) -> Connection {
        let client = Client::open(self.url()).unwrap();
        let connection = client.get_connection_with_timeout(PATIENCE).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        connection
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

    /// Kills the server. Of its contents only what it has written to disk remains: nothing without
    /// persistence.
    pub(crate) fn kill(&mut self) {
        self.0.kill();
    }

    /// Starts the killed server again on the same port, with what it has written to disk.
    pub(crate) fn restart(&mut self) {
        self.0.restart();
    }

    /// Stops or continues the server: it then answers nothing, and its connections stay open.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.0.child);
        rustix::process::kill_process(process, signal).unwrap();
    }

    /// Returns a field of a report, empty if the report does not have it.
    pub(crate) fn field(&self, words: &[&str], field: &str) -> String {
        let report: String = self.query(words);
        let mut lines = report.lines().filter_map(|line| line.split_once(':'));
        let value = lines.find(|(name, _)| *name == field).map(|(_, value)| value.to_owned());
        value.unwrap_or_default()
    }

    /// Returns whether the server was not killed, and has not ended by itself.
    pub(crate) fn is_running(&mut self) -> bool {
        self.0.is_running()
    }
}
