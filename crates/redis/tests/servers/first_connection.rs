//! The first connection: what no waiting heals is an error at once. A client that waited would
//! return another error, after its deadline of a day.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tamis_redis::{Error, RedisBloomFilter};

use crate::harness::{PATIENCE, Server, patiently};

/// Returns the reason why the first connection failed.
fn reason(address: &str) -> String {
    let builder = RedisBloomFilter::<u64>::builder(address, "seen");
    match builder.deadline(Duration::from_secs(86_400)).open() {
        Err(Error::Connect { reason }) => reason.to_string(),
        Err(error) => panic!("{address}: {error:?}"),
        Ok(_) => panic!("{address}: it is open"),
    }
}

/// Answers each connection with some bytes, which depend on the first byte that it reads, and hangs
/// up. Returns the port.
fn answer(bytes: impl Fn(u8) -> Option<&'static [u8]> + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        // Connections without an answer are kept open.
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut first = [0];
            if stream.read_exact(&mut first).is_ok() {
                match bytes(first[0]) {
                    Some(answer) => _ = stream.write_all(answer),
                    None => kept.push(stream),
                }
            }
        }
    });
    port
}

#[test]
fn what_no_waiting_heals_is_an_error_at_once() {
    let Some(server) = Server::start() else { return };
    let port = server.port();
    server.command(&["ACL", "SETUSER", "limited", "on", ">pw", "~*", "+@all"]);
    let wrong = reason(&format!("redis://limited:wrong@127.0.0.1:{port}/"));
    assert!(wrong.contains("authentication failed") && !wrong.contains("wrong@"), "{wrong}");
    let database = reason(&format!("redis://127.0.0.1:{port}/77"));
    assert!(database.contains("database"), "{database}");
    // A name that no resolver has to be asked about.
    let host = reason("redis://no..such..host:6379/");
    assert!(host.contains("no..such..host"), "{host}");
    // A port of another protocol.
    let other = answer(|_| Some(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
    let found = reason(&format!("redis://127.0.0.1:{other}/"));
    assert_eq!(found, format!("the server at 127.0.0.1:{other} is not Redis or Valkey"));
    // Without a password, where one is required.
    server.command(&["CONFIG", "SET", "requirepass", "secret"]);
    let missing = reason(&format!("redis://127.0.0.1:{port}/"));
    assert!(missing.contains("NOAUTH"), "{missing}");
}

/// A server that runs a long script is waited for, also if it refuses the number of a database.
#[test]
fn a_busy_server_is_waited_for() {
    let Some(server) = Server::start() else { return };
    server.command(&["CONFIG", "SET", "lua-time-limit", "1"]);
    let asked = |words: &[&str]| {
        let mut command = redis::Cmd::new();
        command.arg(words).query::<redis::Value>(&mut server.connection())
    };
    let database = format!("redis://127.0.0.1:{}/1", server.port());
    let builder = RedisBloomFilter::<u64>::builder(&database, "seen").deadline(PATIENCE);
    let (waits, waiting) = mpsc::channel();
    let builder = builder.on_event(move |_| _ = waits.send(()));
    thread::scope(|scope| {
        scope.spawn(|| asked(&["EVAL", "while true do end", "0"]));
        patiently(|| asked(&["PING"]).err().ok_or("it is not busy"));
        let opened = scope.spawn(|| builder.open().unwrap_err());
        // It has been refused. Without an event it has ended.
        _ = waiting.recv_timeout(PATIENCE);
        patiently(|| asked(&["SCRIPT", "KILL"]));
        assert_eq!(opened.join().unwrap(), Error::Missing);
    });
}

/// A server that expects encryption hangs up on a plain client without a word, and answers TLS with
/// an alert.
#[test]
fn encryption_on_one_side_only_is_said() {
    let encrypted =
        answer(|first| Some(if first == 0x16 { &[0x15, 3, 1, 0, 2, 2, 50] } else { b"" }));
    let found = reason(&format!("redis://127.0.0.1:{encrypted}/"));
    assert!(found.contains("expects encryption"), "{found}");
    if cfg!(feature = "tls") {
        // A server without encryption waits for the end of the line.
        let Some(plain) = Server::start() else { return };
        let found = reason(&format!("rediss://127.0.0.1:{}/", plain.port()));
        assert!(found.contains("without encryption"), "{found}");
        // Bytes that are no TLS.
        let other = answer(|_| Some(b"-ERR unknown command\r\n"));
        reason(&format!("rediss://127.0.0.1:{other}/"));
    }
}

/// One of several addresses is enough, and one that may heal is waited for.
#[test]
fn one_good_address_is_enough() {
    let Some(server) = Server::start() else { return };
    let Some(other) = Server::start() else { return };
    let wrong = format!("redis://127.0.0.1:{}/77", other.port());
    let builder = RedisBloomFilter::<u64>::builder(&wrong, "seen").capacity(1000);
    builder.clone().or_address(&server.url()).create().unwrap();
    // Nobody listens at the port 1.
    let refused = builder.or_address("redis://127.0.0.1:1/").deadline(Duration::ZERO).open();
    assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
}

/// A Sentinel has no data.
#[test]
fn a_sentinel_is_refused() {
    /// Killed when it is dropped.
    struct Process(Child);
    impl Drop for Process {
        fn drop(&mut self) {
            _ = self.0.kill();
            _ = self.0.wait();
        }
    }
    // Where there is no server, the harness says so.
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sentinel.conf");
    // No other process can take this, unlike a port.
    let socket = folder.path().join("socket");
    let socket = socket.display();
    let watched = server.port();
    let lines = format!(
        "port 0\nunixsocket {socket}\ndir {}\nsentinel monitor main 127.0.0.1 {watched} 1\n",
        folder.path().display()
    );
    fs::write(&file, lines).unwrap();
    let mut command = Command::new("redis-server");
    let command = command.arg(&file).arg("--sentinel").stdout(Stdio::null());
    let _sentinel = Process(command.spawn().unwrap());
    // It is awaited until it listens.
    let found = reason(&format!("unix://{socket}"));
    assert!(found.contains("Sentinel"), "{found}");
}
