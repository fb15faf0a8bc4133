//! A filter in Redis as FILTER of `new`, `query`, `info`, `merge` and `delete`.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs, io, process};

use crate::common::processes::{unread, until};
use crate::common::{homepages, program, tamis};
use tempfile::{TempDir, tempdir};

mod delete;
mod figures;
mod waits;

/// A server on loopback, which is killed when this is dropped.
struct Server {
    process: Child,
    port: u16,
    folder: TempDir,
}

impl Server {
    /// Starts a server. Without `redis-server` a test ends, unless `TAMIS_REQUIRE_REDIS` is set:
    /// then it fails.
    fn start() -> Option<Self> {
        for _ in 0..10 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let folder = tempdir().unwrap();
            let spawned = process::Command::new("redis-server")
                .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
                .args(["--unixsocket", "socket"])
                .arg("--dir")
                .arg(folder.path())
                .stdout(Stdio::null())
                .spawn();
            match spawned {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let required = env::var_os("TAMIS_REQUIRE_REDIS").is_some();
                    assert!(!required, "redis-server is not installed, and is required");
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

    /// Whether this server, and no other, answers at the port.
    fn answers(&self) -> io::Result<bool> {
        let field = format!("process_id:{}", self.process.id());
        Ok(self.asked("INFO server")?.lines().any(|line| line == field))
    }

    /// Sends a command, and returns the reply.
    fn asked(&self, command: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(format!("{command}\r\nQUIT\r\n").as_bytes())?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    }

    /// The address of a filter.
    fn filter(&self, name: &str) -> String {
        format!("redis://127.0.0.1:{}/#{name}", self.port)
    }

    /// The address of a filter by way of the server's socket.
    fn filter_by_socket(&self, name: &str) -> String {
        format!("unix://{}/socket#{name}", self.folder.path().display())
    }

    /// Stops or continues the server.
    fn signal(&self, signal: &str) {
        let id = self.process.id().to_string();
        assert!(process::Command::new("kill").args([signal, &id]).status().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// What a run prints.
fn printed(args: &[&str], input: &str) -> String {
    let mut command = tamis();
    let done = command.args(args).write_stdin(input).assert().success().stderr("");
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

/// The exit code of a run that fails, and its message.
fn failed(args: &[&str]) -> (i32, String) {
    let done = tamis().args(args).write_stdin("a\n").assert().failure().stdout("");
    let output = done.get_output();
    (output.status.code().unwrap(), String::from_utf8(output.stderr.clone()).unwrap())
}

/// Lines with these numbers.
fn lines(numbers: impl Iterator<Item = u32>) -> String {
    numbers.map(|number| format!("https://example.org/{number}\n")).collect()
}

#[test]
fn a_second_run_prints_news_only() {
    let Some(server) = Server::start() else { return };
    let filter = server.filter("seen");
    let list = fs::read_to_string(homepages()).unwrap();
    let first = printed(&["new", "-q", &filter, "--capacity", "1000", "--rate", "1e-9"], &list);
    // The first occurrence of each line, in input order; it has grown five times.
    let mut seen = HashSet::new();
    let distinct: Vec<&str> = list.lines().filter(|line| seen.insert(*line)).collect();
    assert_eq!(first.lines().collect::<Vec<_>>(), distinct);
    assert_eq!(printed(&["new", "-q", &filter], &format!("{list}one more\n")), "one more\n");
    assert_eq!(printed(&["query", "-q", &filter], &list), list);
    assert_eq!(
        printed(&["query", "-q", "--invert", &filter], &format!("{list}absent\n")),
        "absent\n"
    );

    let info = printed(&["info", &filter], "");
    assert!(info.contains("capacity         1,000 items, then it grows\n"), "{info}");
    let json = printed(&["info", "--json", &filter], "");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let items = json["items"].as_f64().unwrap();
    assert!((items / (distinct.len() + 1) as f64 - 1.0).abs() < 0.02, "{json}");
    assert_eq!((&json["shards"], &json["hash"]), (&16.into(), &"rapidhash-v3".into()));
    assert!(json["slices"].as_u64().unwrap() > 4, "{json}");
}

/// The filter, a copy in a file, and the file of two copies give the same answers, false positives
/// included.
#[test]
fn a_copied_filter_gives_the_same_answers() {
    let Some(server) = Server::start() else { return };
    let folder = tempdir().unwrap();
    let copy = folder.path().join("copy.tamis");
    let copy = copy.to_str().unwrap();
    let filter = server.filter("seen");
    printed(&["new", "-q", &filter, "--capacity", "20k", "--rate", "0.05"], &lines(0..50_000));
    printed(&["merge", "-q", "-o", copy, &filter], "");
    let all = lines(0..150_000);
    let answers = printed(&["query", "-q", &filter], &all);
    assert_eq!(printed(&["query", "-q", copy], &all), answers);
    let hits = answers.lines().count();
    assert!((50_100..55_000).contains(&hits), "{hits}: no false positive to compare");
    let (code, message) = failed(&["merge", "-o", copy, &filter, &filter]);
    assert_eq!(code, 2);
    assert!(message.contains("grows"), "{message}");
}

/// Two runs at once print each line once, and no other line.
#[test]
fn runs_at_once_share_the_lines() {
    let Some(server) = Server::start() else { return };
    let folder = tempdir().unwrap();
    let file = folder.path().join("lines");
    fs::write(&file, lines(0..100_000)).unwrap();
    let run = || {
        program()
            .args(["new", "-q", "--rate", "1e-9", &server.filter("seen")])
            .arg(&file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let mut both = String::new();
    for mut run in [run(), run()] {
        run.stdout.take().unwrap().read_to_string(&mut both).unwrap();
        assert!(run.wait().unwrap().success());
    }
    let mut printed: Vec<&str> = both.lines().collect();
    printed.sort_unstable();
    let expected = lines(0..100_000);
    let mut expected: Vec<&str> = expected.lines().collect();
    expected.sort_unstable();
    assert!(printed == expected, "{} lines of 100,000", printed.len());
}

#[test]
fn what_has_no_meaning_is_refused() {
    let Some(server) = Server::start() else { return };
    let filter = server.filter("seen");
    let filter = filter.as_str();
    printed(&["new", "-q", filter, "--capacity", "1000", "--rate", "0.01"], "a\n");
    let unnamed = filter.split_once('#').unwrap().0;
    for (args, part) in [
        (&["new", filter, "--rate", "0.02"][..], "false-positive rate"),
        (&["new", filter, "--capacity", "2000"], "capacity"),
        (&["new", filter, "--seed", "5"], "seed"),
        (&["new", filter, "--seed", "random"], "hash"),
        (&["new", filter, "--url", "crawl-1"], "policy"),
        (&["new", filter, "--kind", "cuckoo"], "--kind"),
        (&["new", filter, "--window", "9"], "--window"),
        (&["new", filter, "--window", "9h"], "window"),
        (&["new", filter, "--window", "1ms"], "one second"),
        (&["new", filter, "--save-every", "9s"], "--save-every"),
        (&["new", filter, "-o", "/tmp/x"], "--output"),
        (&["new", unnamed], "#seen"),
        (&["new", "redis://127.0.0.1/?db=3#seen"], "'?'"),
        (&["new", "redis://127.0.0.1:170000/#seen"], "port"),
        (&["query", filter, "--from", "guava"], "--from"),
        (&["query", &server.filter("none")], "no filter of this name"),
        (&["info", &server.filter("none")], "no filter of this name"),
        (&["build", "-o", filter], "give the name of a file"),
        (&["remove", filter], "give the name of a file"),
        (&["merge", "-o", filter, filter], "give the name of a file"),
    ] {
        let (code, message) = failed(args);
        assert_eq!(code, 2, "{args:?}: {message}");
        assert!(message.contains(part) && message.lines().count() == 1, "{args:?}: {message}");
    }
    // All of them have changed nothing.
    assert_eq!(printed(&["query", "-q", filter], "a\nb\n"), "a\n");
}

/// A filter with a window forgets. Its items are remembered for the span at least.
#[test]
fn a_window_forgets() {
    let Some(server) = Server::start() else { return };
    let filter = server.filter("recent");
    let new = ["new", "-q", &filter, "--window", "1s", "--capacity", "1000", "--rate", "1e-9"];
    assert_eq!(printed(&new, "a\nb\n"), "a\nb\n");
    assert!(printed(&["info", &filter], "").contains("window"));
    // A repeat does not refresh: both items are new again at last.
    let end = Instant::now() + Duration::from_secs(60);
    let mut again = HashSet::new();
    while again.len() < 2 {
        assert!(Instant::now() < end, "forgotten: {again:?}");
        sleep(Duration::from_millis(100));
        again.extend(printed(&new, "a\nb\n").lines().map(str::to_owned));
    }
    // Without the option the filter is the same one, and another window is refused.
    assert_eq!(printed(&["new", "-q", &filter], "c\n"), "c\n");
    let (code, message) = failed(&["new", &filter, "--window", "2s"]);
    assert_eq!(code, 2, "{message}");
    assert!(message.contains("window"), "{message}");
    // A file keeps records, and no time.
    let (code, message) = failed(&["new", "x.tamis", "--window", "24h"]);
    assert!(code == 2 && message.contains("number of records"), "{message}");
}

/// A filter has one name, however it is spelled, and one server has several addresses.
#[test]
fn a_name_has_one_meaning_in_every_spelling() {
    let Some(server) = Server::start() else { return };
    let port = server.port;
    assert_eq!(
        printed(&["new", "-q", &server.filter("my filter"), "--rate", "1e-9"], "a\n"),
        "a\n"
    );
    for other in [
        server.filter("my%20filter"),
        format!("VALKEY://127.0.0.1:{port}#m%79 filter"),
        server.filter_by_socket("my%20filter"),
        server.filter_by_socket("my filter").replace("unix://", "Redis+Unix://"),
    ] {
        assert_eq!(printed(&["new", "-q", &other], "a\n"), "", "{other}");
    }
    let info = printed(&["info", &server.filter("my filter")], "");
    assert!(info.contains("/#my%20filter\n"), "{info}");
    assert!(info.contains(" now, 1.00e-9 asked for\n"), "{info}");
}

/// A server that stops answering: the run fails, and all that it printed is in the filter.
#[test]
fn nothing_is_printed_that_is_not_stored() {
    let Some(server) = Server::start() else { return };
    let filter = server.filter("seen");
    printed(&["new", "-q", &filter, "--rate", "1e-9"], "");
    let mut run = program()
        .args(["new", "-q", &filter])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = run.stdin.take().unwrap();
    // The input does not end before the server does.
    let writer = std::thread::spawn(move || {
        for block in 0.. {
            if input.write_all(lines(1000 * block..1000 * (block + 1)).as_bytes()).is_err() {
                return;
            }
        }
    });
    // Nobody reads its output yet.
    until(|| unread(run.stdout.as_ref().unwrap()) > 40_000);
    server.signal("-STOP");
    let output = run.wait_with_output().unwrap();
    server.signal("-CONT");
    writer.join().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("may be stored and were not printed"), "{message}");
    let printed_lines = String::from_utf8(output.stdout).unwrap();
    assert!(printed_lines.lines().count() > 1000);
    assert_eq!(printed(&["query", "-q", &filter], &printed_lines), printed_lines);
}
