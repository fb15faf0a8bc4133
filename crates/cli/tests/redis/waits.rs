//! What a run says while no server answers, and what is lost if it is killed.

use std::collections::HashSet;
use std::io::Read;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{fs, io, thread};

use rustix::process::Signal;

use super::{Server, lines, printed};
use crate::common::processes::{kill, unread, until};
use crate::common::{self, program, tamis};

/// The lines that a run says which fails since no server answers.
fn said(args: &[&str]) -> Vec<String> {
    let done = tamis().args(args).write_stdin("a\n").assert().code(1).stdout("");
    let message = common::said(&done);
    message.lines().map(str::to_owned).collect()
}

/// Checks what a run says that waits for a filter.
fn require_reported(args: &[&str], filter: &str, reason: &str) {
    let args = [args, &["--deadline", "6s"]].concat();
    let said = said(&args);
    let [waiting, failed] = &said[..] else { panic!("{args:?}: {said:?}") };
    let shown = filter.replace("secret", "***");
    assert!(waiting.starts_with(&format!("{shown}: ")), "{args:?}: {waiting}");
    assert!(waiting.contains(reason), "{args:?}: {waiting}");
    let (_, left) = waiting.split_once("; waiting, for at most ").expect("it says until when");
    let left: u32 = left.trim_end_matches(" s more").parse().expect("a number of seconds");
    assert!(left < 6, "{args:?}: {waiting}");
    assert!(failed.contains("not available"), "{args:?}: {failed}");
}

/// One line says what the run waits for, and until when, and one that it has failed.
#[test]
fn a_wait_is_reported_once() {
    let Some(server) = Server::start() else { return };
    let filter = server.filter("seen");
    printed(&["new", "-q", &filter, "--rate", "0.01"], "a\n");
    let away = "redis://:secret@127.0.0.1:1/#seen";
    for (filter, reason) in [(away, "refused"), (&filter, "no reply yet")] {
        if filter != away {
            server.signal("-STOP");
        }
        let runs = [
            &["new", filter][..],
            &["query", filter],
            &["info", filter],
            &["merge", "-o", "nowhere.tamis", filter],
            &["delete", "--yes", filter],
        ];
        // All of them wait at the same time.
        thread::scope(|scope| {
            for args in runs {
                scope.spawn(move || require_reported(args, filter, reason));
            }
            let quiet = said(&["query", "-q", filter, "--deadline", "1500ms"]);
            assert_eq!(quiet.len(), 1, "{quiet:?}");
        });
    }
    server.signal("-CONT");
    assert!(!fs::exists("nowhere.tamis").unwrap());
}

/// A run that was killed while it created a filter keeps its place for ten seconds, whichever
/// options it had. The next run says that it waits, and then creates the filter.
#[test]
fn a_run_takes_the_place_of_one_that_was_killed_while_it_created_the_filter() {
    let Some(server) = Server::start() else { return };
    let filter = server.filter("seen");
    for capacity in ["1000", "2000"] {
        printed(&["new", "-q", &filter, "--capacity", "1000", "--rate", "0.01"], "a\n");
        let found = server.asked("GET {seen}").unwrap();
        let ready = found.lines().find(|line| line.starts_with('{')).unwrap();
        let creating = ready.replace("\"ready\":true", "\"ready\":false");
        server.asked(&format!("SET {{seen}} '{creating}'")).unwrap();
        let (_, life) = ready.split_once("\"identity\":").unwrap();
        let life: u64 = life.split(',').next().unwrap().parse().unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let record = format!("'creating {} 16'", now + 5000);
        server.asked(&format!("HSET {{seen}}:lives {life:016x} {record}")).unwrap();
        let start = Instant::now();
        let args = ["new", &filter, "--capacity", capacity, "--rate", "0.01", "--deadline", "20s"];
        let done = tamis().args(args).write_stdin("a\nb\n").assert().success().stdout("a\nb\n");
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
        let said = common::said(&done);
        let waiting = said.lines().next().unwrap();
        assert!(
            waiting.contains("creating") && waiting.contains("; waiting, for at most"),
            "{said}"
        );
        printed(&["delete", "-q", "--yes", &filter], "");
    }
}

/// A run that is killed has claimed at most one chunk per thread that it has not printed.
#[test]
fn a_killed_run_has_claimed_little_that_it_has_not_printed() {
    let Some(server) = Server::start() else { return };
    let all = lines(0..50_000);
    let file = server.folder.path().join("lines");
    fs::write(&file, &all).unwrap();
    for (chunk, threads) in [(1, 1), (10, 1), (10, 3)] {
        let filter = server.filter(&format!("seen-{chunk}-{threads}"));
        printed(&["new", "-q", &filter, "--rate", "1e-9"], "");
        let mut run = program()
            .args(["new", "-q", "--chunk", &chunk.to_string(), "-j", &threads.to_string(), &filter])
            .arg(&file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // After its first lines nobody reads, so the run stops when the pipe is full: then no byte
        // is added.
        let mut pipe = run.stdout.take().unwrap();
        let mut first = [0];
        pipe.read_exact(&mut first).unwrap();
        until(|| {
            let before = unread(&pipe);
            sleep(Duration::from_millis(100));
            before > 60_000 && unread(&pipe) == before
        });
        run.kill().unwrap();
        let mut output = String::from(char::from(first[0]));
        match pipe.read_to_string(&mut output) {
            Err(error) if error.kind() != io::ErrorKind::InvalidData => panic!("{error}"),
            _ => {}
        }
        run.wait().unwrap();
        // The last line may be cut.
        let seen: HashSet<&str> =
            output.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
        let claimed = printed(&["query", "-q", &filter], &all);
        let lost = claimed.split_inclusive('\n').filter(|line| !seen.contains(line)).count();
        assert!(!seen.is_empty(), "nothing is printed");
        assert!(lost <= chunk * threads, "{lost} lost with {threads} times {chunk}");
    }
}

/// A server whose replies wait for a run that is stopped is not silent.
#[test]
fn a_run_that_is_stopped_goes_on() {
    let Some(server) = Server::start() else { return };
    let filter = server.filter("seen");
    let all = lines(0..400_000);
    let folder = server.folder.path();
    let (file, output) = (folder.join("lines"), folder.join("output"));
    fs::write(&file, &all).unwrap();
    let mut run = program();
    run.args(["new", "-q", &filter, "--rate", "1e-9"]).arg(&file);
    let mut run = run.stdout(fs::File::create(&output).unwrap()).spawn().unwrap();
    until(|| fs::metadata(&output).unwrap().len() > 300_000);
    kill(&run, Signal::STOP);
    // Longer than a server may be silent.
    sleep(Duration::from_secs(8));
    kill(&run, Signal::CONT);
    assert!(run.wait().unwrap().success());
    assert_eq!(fs::read_to_string(&output).unwrap(), all);
}
