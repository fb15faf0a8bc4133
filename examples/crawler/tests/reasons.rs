//! The words for pages that could not be fetched, in the summary and in the output.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::thread;

use tempfile::tempdir;

/// The bytes of a page that are read.
const MAX_BODY: usize = 4 << 20;

/// Starts a server that has a robots.txt, one page of which it does not send the end, and two whose
/// headers are not in ASCII, and closes the connection for all else.
fn start_rude_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let (mut stream, mut line) = (stream.unwrap(), String::new());
            _ = BufReader::new(&stream).read_line(&mut line);
            if line.starts_with("GET /robots.txt ") {
                let head = "HTTP/1.1 404 Not Found\r\nConnection: close\r\n";
                _ = write!(stream, "{head}Content-Length: 0\r\n\r\n");
            } else if line.starts_with("GET /long ") {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", MAX_BODY + 1);
                _ = stream.write_all(&[head.as_bytes(), &vec![b'x'; MAX_BODY]].concat());
                open.push(stream);
            } else if line.starts_with("GET /raw ") {
                let head = b"HTTP/1.0 301 Moved\r\nLocation: /r\xe9\r\n\r\n";
                _ = stream.write_all(head);
            } else if line.starts_with("GET /r%E9 ") {
                let head = b"HTTP/1.0 200 OK\r\nContent-Type: text/html; x=\"\xc3\xa9\"\r\n\r\n";
                _ = stream.write_all(&[&head[..], b"<a href=/last>"].concat());
            }
        }
    });
    address
}

/// Crawls from a URL, and returns the lines of the summary and of the output.
fn crawl(start: &str, host_map: Option<&str>) -> (String, String) {
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut command = Command::new(env!("CARGO_BIN_EXE_tamis-crawler"));
    command.args(["--delay", "1ms", "--start", start]).stdin(Stdio::null());
    command.arg("--state").arg(path("state")).arg("--output").arg(path("output"));
    if let Some(map) = host_map {
        fs::write(path("map"), map).unwrap();
        command.arg("--host-map").arg(path("map"));
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    (String::from_utf8(output.stdout).unwrap(), fs::read_to_string(path("output")).unwrap())
}

#[test]
fn the_summary_and_the_output_say_why_a_page_is_missing() {
    let rude = start_rude_server();
    // Nobody listens there. A port that was free a moment ago may be another test's now.
    let closed = "127.0.0.1:1";
    thread::scope(|scope| {
        scope.spawn(|| {
            let (summary, output) = crawl("http://a.example/x", Some(&format!("a.example {rude}")));
            assert!(summary.contains("by result: {\"broken\": 1}"), "{summary}");
            assert_eq!(output, "broken http://a.example/x 0\n");
        });
        scope.spawn(|| {
            let map = format!("a.example {rude}");
            let (_, output) = crawl("http://a.example/long", Some(&map));
            assert_eq!(output, format!("200 http://a.example/long {MAX_BODY}\n"));
        });
        // Headers with bytes that are not in ASCII are read, too.
        scope.spawn(|| {
            let (_, output) = crawl("http://a.example/raw", Some(&format!("a.example {rude}")));
            let lines = "301 http://a.example/raw 0\n200 http://a.example/r%E9 14\n\
                         broken http://a.example/last 0\n";
            assert_eq!(output, lines);
        });
        // Of a host without a robots.txt no page is fetched.
        scope.spawn(|| {
            let map = format!("a.example {closed}");
            let (summary, output) = crawl("http://a.example/", Some(&map));
            assert!(summary.contains("{\"robots.txt refused\": 1}"), "{summary}");
            assert!(summary.contains("left for a restart: 1\n"), "{summary}");
            assert_eq!(output, "");
        });
        // A label has at most 63 bytes, so no server is asked for this one.
        scope.spawn(|| {
            let (summary, _) = crawl(&format!("http://{}.example/", "a".repeat(64)), None);
            assert!(summary.contains("{\"robots.txt dns\": 1}"), "{summary}");
        });
        #[cfg(feature = "tls")]
        scope.spawn(|| {
            let map = format!("a.example {rude}");
            let (summary, _) = crawl("https://a.example/", Some(&map));
            assert!(summary.contains("{\"robots.txt tls\": 1}"), "{summary}");
        });
    });
}
