//! Tests against a server that falls silent or sends odd replies: every call ends at its deadline,
//! whichever reply was the last, and a creation whose last reply is lost keeps its filter.
//!
//! The clock of these tests does not depend on the machine: it goes on by a step after each few
//! hundred turns of the runtime, in which a client and a server of the same runtime exchange
//! replies.

use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::future::{join, join_all};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::yield_now;
use tokio::time::{Instant, advance, timeout};

use crate::builder::AsyncBuilder;
use crate::error::Error;
use crate::filter::AsyncRedisBloomFilter;
use crate::wire::descriptor::Descriptor;
use crate::wire::sizes::{MAX_SLICES, Sizes};
use crate::wire::tag::Identity;

const DEADLINE: Duration = Duration::from_millis(1700);

/// A time for a reply that is longer than the deadline.
const PATIENCE: Duration = Duration::from_secs(5);

/// The clock goes on by this time.
const STEP: Duration = Duration::from_millis(20);

/// The turns of the runtime in a step: it looks for bytes in every 61st.
const TURNS: u32 = 300;

/// A server that answers some commands, and then none until it may answer more.
struct Server {
    url: String,
    descriptor: Descriptor,
    state: Mutex<State>,
}

/// What a server does next, and what it has done.
struct State {
    /// The answers that are left.
    left: usize,
    /// The number of connections so far.
    connections: u32,
    is_there: bool,
    /// Another descriptor that has taken the place of the filter's.
    other: Option<Descriptor>,
    /// If the command that makes a filter ready fails: the state in which its life then is.
    failed_to: Option<&'static str>,
    /// The number of deletions of keys.
    deletions: u32,
    /// Whether time passes.
    is_timed: bool,
}

/// What a test calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Called {
    Create,
    Open,
    OpenOrCreate,
    Destroy,
    Insert,
    Contains,
    Figures,
    Pull,
    Push,
}

const ALL: [Called; 9] = [
    Called::Create,
    Called::Open,
    Called::OpenOrCreate,
    Called::Destroy,
    Called::Insert,
    Called::Contains,
    Called::Figures,
    Called::Pull,
    Called::Push,
];

impl Server {
    async fn start() -> Arc<Self> {
        Self::start_with(Sizes::new(1000, 0.01, false, Some(2)).unwrap()).await
    }

    async fn start_with(sizes: Sizes) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("redis://{}", listener.local_addr().unwrap());
        let descriptor = Descriptor::of_sizes(sizes);
        let state = State {
            left: usize::MAX,
            connections: 0,
            is_there: true,
            other: None,
            failed_to: None,
            deletions: 0,
            is_timed: false,
        };
        let server = Arc::new(Self { url, descriptor, state: Mutex::new(state) });
        // A runtime with a task that can run does not move its clock by itself.
        let clock = Arc::clone(&server);
        tokio::spawn(async move {
            loop {
                for _ in 0..TURNS {
                    yield_now().await;
                }
                let is_timed = clock.state().is_timed;
                if is_timed {
                    advance(STEP).await;
                }
            }
        });
        let accepting = Arc::clone(&server);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                accepting.state().connections += 1;
                tokio::spawn(Arc::clone(&accepting).serve(stream));
            }
        });
        server
    }

    async fn serve(self: Arc<Self>, mut stream: TcpStream) {
        stream.set_nodelay(true).unwrap();
        let mut bytes = Vec::with_capacity(1 << 16);
        while stream.read_buf(&mut bytes).await.is_ok_and(|count| count > 0) {
            while let Some((command, length)) = command(&bytes) {
                bytes.drain(..length);
                while !self.may_answer() {
                    yield_now().await;
                }
                let reply = self.reply(&command);
                if stream.write_all(&reply).await.is_err() {
                    return;
                }
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Takes one of the answers that are left.
    fn may_answer(&self) -> bool {
        let mut state = self.state();
        let less = state.left.checked_sub(1);
        state.left = less.unwrap_or(0);
        less.is_some()
    }

    /// Returns what a server with an empty filter would answer, roughly: enough to go on.
    fn reply(&self, command: &[String]) -> Vec<u8> {
        let bulk = |bytes: &[u8]| {
            let mut reply = format!("${}\r\n", bytes.len()).into_bytes();
            reply.extend(bytes.iter().chain(b"\r\n"));
            reply
        };
        let number = |text: &str| text.parse::<i64>().unwrap();
        let failed_to = self.state().failed_to;
        match command[0].as_str() {
            "CLUSTER" => b"-ERR This instance has cluster support disabled\r\n".to_vec(),
            "ROLE" | "HGETALL" => b"*0\r\n".to_vec(),
            "GET" if self.state().is_there => {
                let state = self.state();
                bulk(state.other.as_ref().unwrap_or(&self.descriptor).to_json().as_bytes())
            }
            "GET" => b"$-1\r\n".to_vec(),
            // The first number is the tag.
            "BITFIELD" | "BITFIELD_RO" => {
                let parts = command.iter().filter(|word| ["GET", "SET"].contains(&word.as_str()));
                let tag = i64::from_be_bytes(self.descriptor.identity.tag(false));
                let mut reply = format!("*{}\r\n:{tag}\r\n", parts.clone().count());
                reply.extend(parts.skip(1).map(|_| ":0\r\n"));
                reply.into_bytes()
            }
            "GETRANGE" => match (number(&command[3]) + 1 - number(&command[2])) as usize {
                8 => bulk(&self.descriptor.identity.tag(false)),
                bytes => bulk(&vec![0; bytes]),
            },
            "EVAL" if command[1].contains("return {there, lives}") => match failed_to {
                None => b"*2\r\n:1\r\n*0\r\n".to_vec(),
                // The life that the command names.
                Some(state) => {
                    let mut reply = b"*2\r\n:0\r\n*2\r\n".to_vec();
                    reply.extend(bulk(command[7].as_bytes()));
                    reply.extend(bulk(format!("{state} 1 2").as_bytes()));
                    reply
                }
            },
            "EVAL" if failed_to.is_some() && command[1].contains("if text == ARGV[3]") => {
                b"-ERR the reply is not that of the command\r\n".to_vec()
            }
            "UNLINK" => {
                self.state().deletions += 1;
                b":1\r\n".to_vec()
            }
            "SET" => b"+OK\r\n".to_vec(),
            _ => b":1\r\n".to_vec(),
        }
    }

    fn builder(&self, patience: Duration) -> AsyncBuilder<u64> {
        let builder = AsyncRedisBloomFilter::builder(&self.url, "name");
        builder.capacity(1000).shards(2).fixed().timeout(patience).deadline(DEADLINE)
    }

    /// Calls, with a server that answers `answers` commands from now on. Returns whether the call
    /// succeeded, and the time that it took.
    async fn call(&self, called: Called, answers: usize, patience: Duration) -> (bool, Duration) {
        let allow = |answers, is_timed| {
            let mut state = self.state();
            (state.left, state.is_timed) = (answers, is_timed);
        };
        let builder = self.builder(patience);
        self.state().is_there = true;
        allow(usize::MAX, false);
        let filter = builder.open().await.unwrap();
        let local = filter.local().unwrap();
        (0..100).for_each(|item| _ = local.insert(&item));
        self.state().is_there = !matches!(called, Called::Create | Called::OpenOrCreate);
        allow(answers, true);
        let start = Instant::now();
        let result = match called {
            Called::Create => builder.create().await.map(|_| ()),
            Called::Open => builder.open().await.map(|_| ()),
            Called::OpenOrCreate => builder.open_or_create().await.map(|_| ()),
            Called::Destroy => builder.destroy().await,
            Called::Insert => {
                filter.insert_many(0..10_000).await.into_iter().try_for_each(drop_verdict)
            }
            Called::Contains => filter.contains_many(0..10_000).await.map(|_| ()),
            Called::Figures => filter.figures().await.map(|_| ()),
            Called::Pull => filter.pull().await.map(|_| ()),
            Called::Push => filter.push(&local).await,
        };
        let took = start.elapsed();
        allow(usize::MAX, false);
        (result.is_ok(), took)
    }
}

/// Runs a test whose clock the test moves.
fn run(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().start_paused(true).build().unwrap().block_on(test);
}

fn drop_verdict(result: Result<bool, Error>) -> Result<(), Error> {
    result.map(|_| ())
}

/// Reads a command: its words, and its length in bytes.
fn command(bytes: &[u8]) -> Option<(Vec<String>, usize)> {
    let mut at = 0;
    let line = |at: &mut usize| {
        let length = bytes[*at..].windows(2).position(|two| two == b"\r\n")?;
        let line = str::from_utf8(&bytes[*at + 1..*at + length]).unwrap();
        *at += length + 2;
        Some(line.parse::<usize>().unwrap())
    };
    let mut words = Vec::new();
    for _ in 0..line(&mut at)? {
        let length = line(&mut at)?;
        let word = bytes.get(at..at + length)?;
        bytes.get(at + length + 1)?;
        words.push(String::from_utf8_lossy(word).into_owned());
        at += length + 2;
    }
    Some((words, at))
}

/// Each call ends at its deadline, after whichever command the server became silent, with replies
/// that may take longer than the deadline and with many tries before it.
#[test]
fn every_call_ends_at_its_deadline() {
    run(async {
        let server = Server::start().await;
        for patience in [Duration::from_secs(5), Duration::from_millis(200)] {
            for called in ALL {
                let mut answers = 0;
                loop {
                    let call = server.call(called, answers, patience);
                    let (is_ok, took) = timeout(20 * DEADLINE, call).await.expect("it ends");
                    let name =
                        format!("{called:?} after {answers} answers, {patience:?}: {took:?}");
                    assert!(took < DEADLINE + 2 * STEP, "{name}");
                    if is_ok {
                        break;
                    }
                    answers += 1;
                    assert!(answers < 100, "{name}");
                }
                // It is silent in the middle of each of them.
                assert!(answers >= 2, "{called:?} took {answers} answers");
            }
        }
    });
}

/// Inserts items into a filter with a server that falls silent after a pause: each item has an
/// error, after the time of one reply or at the deadline.
fn require_end(sizes: Sizes, pause: Duration, patience: Duration, items: u64) {
    run(async {
        let server = Server::start_with(sizes).await;
        let builder = AsyncRedisBloomFilter::<u64>::builder(&server.url, "name");
        let filter = builder.timeout(patience).deadline(DEADLINE).open().await.unwrap();
        advance(pause).await;
        server.state().left = 0;
        server.state().is_timed = true;
        let start = Instant::now();
        let results = filter.insert_many(0..items).await;
        assert!(results.len() as u64 == items && results.iter().all(Result::is_err));
        assert!(start.elapsed() < patience.min(DEADLINE) + 2 * STEP, "{:?}", start.elapsed());
    });
}

/// An insert without a reply is not repeated, so it takes the time of one reply.
#[test]
fn an_insert_waits_for_one_reply() {
    let sizes = Sizes::new(1000, 0.01, false, Some(2)).unwrap();
    require_end(sizes, Duration::ZERO, Duration::from_millis(300), 3);
}

/// An insert of which several items count bits, one after another, ends at its deadline.
#[test]
fn items_that_count_end_at_the_deadline() {
    let sizes = Sizes::new(100_000, 0.01, true, Some(8)).unwrap();
    require_end(sizes, Duration::ZERO, PATIENCE, 10_000);
}

/// So does an insert that has not sent its item by then: the connection was idle, and is tried
/// first.
#[test]
fn an_item_that_counts_is_not_sent_after_the_deadline() {
    let sizes = Sizes::new(100, 0.01, true, Some(1)).unwrap();
    require_end(sizes, Duration::from_secs(2), PATIENCE, 100);
}

/// In a forked child each call returns an error before it waits, and the connections stay to the
/// parent.
#[test]
fn a_forked_process_uses_no_connection_of_its_parent() {
    run(async {
        let server = Server::start().await;
        let mut filter = server.builder(PATIENCE).open().await.unwrap();
        let local = filter.local().unwrap();
        let router = Arc::clone(&filter.shared.router);
        Arc::get_mut(&mut filter.shared).unwrap().router.give_away();
        // A call that sends something ends at its deadline, with another error.
        server.state().left = 0;
        server.state().is_timed = true;
        let results = [
            filter.insert(&1).await.map(|_| ()),
            filter.contains(&1).await.map(|_| ()),
            filter.contains_many([1, 2]).await.map(|_| ()),
            filter.figures().await.map(|_| ()),
            filter.pull().await.map(|_| ()),
            filter.push(&local).await,
        ];
        for result in results {
            let Err(Error::System { reason }) = result else { panic!("{result:?}") };
            assert!(reason.contains("open it again in this process"), "{reason}");
        }
        drop(filter);
        assert_eq!(Arc::strong_count(&router), 2);
    });
}

/// A call that ends before a reply is late leaves the connection to others. One without any reply
/// for the timeout is given up, however short the calls are.
#[test]
fn a_connection_outlives_short_calls() {
    run(async {
        let server = Server::start().await;
        let filter = server.builder(3 * DEADLINE).open().await.unwrap();
        let answer = |answers| server.state().left = answers;
        server.state().is_timed = true;
        let connections = || server.state().connections;
        answer(0);
        assert!(matches!(filter.insert(&1).await, Err(Error::VerdictUnknown { .. })));
        answer(usize::MAX);
        assert_eq!((filter.contains(&2).await, connections()), (Ok(false), 1));
        // A third call without a reply makes the silence as long as the timeout.
        answer(0);
        for _ in 0..3 {
            assert!(matches!(filter.contains(&2).await, Err(Error::Unavailable { .. })));
        }
        answer(usize::MAX);
        assert_eq!((filter.contains(&2).await, connections()), (Ok(false), 2));
    });
}

/// A server that works off a long queue is not late: each reply comes within the timeout of the one
/// before. Once it sends nothing for the timeout, the rest has no verdict.
#[test]
fn a_queue_is_waited_for_while_replies_come() {
    run(async {
        let server = Server::start().await;
        let builder = server.builder(Duration::from_millis(300)).deadline(60 * DEADLINE);
        let filter = builder.open().await.unwrap();
        for answers in [10, 5] {
            server.state().left = 0;
            server.state().is_timed = true;
            let clock = async {
                for _ in 0..answers {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    server.state().left += 1;
                }
            };
            let inserts = join_all((0..10).map(|item| filter.insert_hash(item << 32)));
            let start = Instant::now();
            let (results, ()) = join(inserts, clock).await;
            let verdicts = results.iter().filter(|result| result.is_ok()).count();
            assert_eq!(verdicts, answers, "{results:?}");
            assert!(start.elapsed() < 2 * DEADLINE, "{:?}", start.elapsed());
        }
    });
}

/// A call whose deadline passes while the server answers loses no verdict. Once the server is
/// silent, such a call ends within a second.
#[test]
fn verdicts_that_are_on_their_way_are_waited_for() {
    run(async {
        const BETWEEN: Duration = Duration::from_millis(200);
        let server = Server::start().await;
        let filter = server.builder(PATIENCE).open().await.unwrap();
        // Both times, the last answer comes after the deadline.
        for answers in [20, 12] {
            server.state().left = 0;
            server.state().is_timed = true;
            let clock = async {
                for _ in 0..answers {
                    tokio::time::sleep(BETWEEN).await;
                    server.state().left += 1;
                }
            };
            let inserts = join_all((0..20).map(|item| filter.insert_hash(item << 32)));
            let start = Instant::now();
            let (results, ()) = join(inserts, clock).await;
            let verdicts = results.iter().filter(|result| result.is_ok()).count();
            assert_eq!(verdicts, answers as usize, "{results:?}");
            let silence = Duration::from_secs(u64::from(answers < 20));
            let took = start.elapsed();
            assert!(took < answers * BETWEEN + silence + 3 * STEP, "{took:?}");
        }
    });
}

/// If the filter is ready although the reply says otherwise, nothing of it is removed. If not, all
/// is.
#[test]
fn a_filter_that_is_ready_all_the_same_is_kept() {
    run(async {
        let server = Server::start().await;
        for (state, is_kept) in [("ready", true), ("ended", false)] {
            server.state().failed_to = Some(state);
            server.state().deletions = 0;
            let created = server.builder(DEADLINE).create().await;
            assert_eq!(created.is_ok(), is_kept, "{state}");
            let deletions = server.state().deletions;
            // Of two shards, each key that a slice could have.
            assert_eq!(deletions, if is_kept { 0 } else { 2 * MAX_SLICES as u32 }, "{state}");
        }
    });
}

/// A client whose keys are still there reads the descriptor at most 10 s after it did last: then
/// there is none, or that of another filter with the same sizes.
#[test]
fn a_client_notices_in_time_that_its_filter_was_deleted_or_replaced() {
    run(async {
        for is_there in [false, true] {
            let server = Server::start().await;
            let filter = server.builder(PATIENCE).open().await.unwrap();
            let other =
                Descriptor { identity: Identity::of_random(77), ..server.descriptor.clone() };
            assert_ne!(other.identity, server.descriptor.identity);
            server.state().is_there = is_there;
            server.state().other = Some(other);
            advance(Duration::from_millis(9999)).await;
            assert_eq!(filter.insert(&1).await, Ok(true));
            advance(Duration::from_millis(1)).await;
            assert_eq!(filter.insert(&2).await, Err(Error::Replaced), "{is_there}");
            assert_eq!(filter.insert(&3).await, Err(Error::Replaced), "{is_there}");
        }
    });
}
