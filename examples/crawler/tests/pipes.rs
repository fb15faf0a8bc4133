//! An output that is a pipe: one that nobody reads for a time, and one that is closed.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tempfile::{TempDir, tempdir};

/// The pages of the site. Their lines of output are more than a pipe holds.
const PAGES: usize = 60;

/// The bytes of a URL. A pipe of Linux has place for 16 lines with one.
const URL_BYTES: usize = 3000;

/// Starts a server of pages without links, which counts its pages.
fn start_server() -> (TcpListener, Arc<Mutex<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let pages = Arc::new(Mutex::new(0));
    let (served, count) = (listener.try_clone().unwrap(), Arc::clone(&pages));
    thread::spawn(move || {
        for stream in served.incoming() {
            let (mut stream, mut line) = (stream.unwrap(), String::new());
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            _ = reader.read_line(&mut line);
            let is_page = !line.starts_with("GET /robots.txt ");
            *count.lock().unwrap() += usize::from(is_page);
            // A connection that is closed before all was read is reset.
            while reader.read_line(&mut line).is_ok_and(|len| len > 2) {}
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
            _ = write!(stream, "{head}Content-Length: 0\r\n\r\n");
        }
    });
    (listener, pages)
}

/// Starts a crawler with one connection, which writes its lines to a pipe. Returns once it has
/// opened that.
fn start(server: &TcpListener) -> (Child, BufReader<ChildStdout>, TempDir) {
    let folder = tempdir().unwrap();
    let map = folder.path().join("map");
    fs::write(&map, format!("a.example {}", server.local_addr().unwrap())).unwrap();
    let long = "x".repeat(URL_BYTES);
    let mut command = Command::new(env!("CARGO_BIN_EXE_tamis-crawler"));
    command.arg("--start").args((0..PAGES).map(|page| format!("http://a.example/{page}/{long}")));
    command.arg("--state").arg(folder.path().join("state")).arg("--host-map").arg(map);
    command.args(["--delay", "0s", "--connections", "1", "--output", "/dev/stdout"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut output = BufReader::with_capacity(1, child.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    (child, output, folder)
}

/// The next page is not asked for before the last one is recorded: a kill would let both be fetched
/// a second time.
#[test]
fn a_page_whose_record_waits_counts_as_in_flight() {
    let (server, pages) = start_server();
    let (mut child, mut output, _folder) = start(&server);
    let fetched = || *pages.lock().unwrap();
    // Until the pipe is full, and nothing moves for a time. To wait too briefly, or a larger pipe,
    // proves less.
    let mut before = 0;
    while child.try_wait().unwrap().is_none() && (before < 10 || fetched() != before) {
        before = fetched();
        thread::sleep(Duration::from_millis(300));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut lines = String::new();
    output.read_to_string(&mut lines).unwrap();
    let recorded = lines.lines().filter(|line| line.starts_with("200 http")).count();
    assert!(fetched() <= recorded + 1, "{} of {recorded}", fetched());
}

#[test]
fn a_crawl_ends_when_the_reader_of_its_output_has_ended() {
    let (server, _) = start_server();
    let (child, output, _folder) = start(&server);
    drop(output);
    let ended = child.wait_with_output().unwrap();
    let error = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success(), "{error}");
    assert!(error.contains("/dev/stdout") && error.contains("roken pipe"), "{error}");
}
