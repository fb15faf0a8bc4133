//! A proxy before a `redis-server` that loses the answers to claims.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use crate::PAGES;
use crate::redis::Redis;
use crate::runs::{BATCH, World};

/// The name of the command that claims, as the protocol writes it. Queries have another one.
const CLAIM: &[u8] = b"\r\nBITFIELD\r\n";

/// When a connection is closed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// When the server has got a part of the command, which it does not execute.
    InTheCommand,
    /// When the server has got the command, and before it answers.
    AfterTheCommand,
    /// When the server has answered, and the client has got nothing of it.
    AfterTheAnswer,
    /// When the client has got a part of the answer.
    InTheAnswer,
}

/// A proxy. Its threads end with the program, or with their connections.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    server: u16,
    moment: Moment,
    /// Which claims lose their answer: each of this number.
    each: u64,
    /// The claims that were seen.
    claims: Mutex<u64>,
}

impl Shared {
    /// Returns whether the answer to a part of a request is to be lost.
    fn loses(&self, part: &[u8]) -> bool {
        let is_claim = part.windows(CLAIM.len()).any(|bytes| bytes == CLAIM);
        let mut claims = self.claims.lock().unwrap();
        *claims += u64::from(is_claim);
        is_claim && claims.is_multiple_of(self.each)
    }
}

impl Proxy {
    /// Starts a proxy before the server at a port.
    pub(crate) fn start(server: u16, moment: Moment, each: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared { server, moment, each, claims: Mutex::new(0) });
        let state = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming() {
                let shared = Arc::clone(&state);
                // A connection that breaks has done its part.
                thread::spawn(move || _ = serve(client.unwrap(), &shared));
            }
        });
        Self { port, shared }
    }

    /// Returns the number of claims whose answer was lost.
    pub(crate) fn lost(&self) -> u64 {
        *self.shared.claims.lock().unwrap() / self.shared.each
    }
}

/// Forwards all between a client and the server, until an answer is to be lost.
fn serve(mut client: TcpStream, shared: &Shared) -> io::Result<()> {
    let mut server = TcpStream::connect(("127.0.0.1", shared.server))?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let is_lost = Arc::new(Mutex::new(false));
    let answers = {
        let (server, client) = (server.try_clone()?, client.try_clone()?);
        let (is_lost, moment) = (Arc::clone(&is_lost), shared.moment);
        thread::spawn(move || answer(server, client, &is_lost, moment))
    };
    let mut request = vec![0; 1 << 16];
    loop {
        let len = client.read(&mut request)?;
        let part = &request[..len];
        if shared.loses(part) {
            let is_cut = matches!(shared.moment, Moment::InTheCommand);
            // From now on no answer goes to the client.
            *is_lost.lock().unwrap() = true;
            server.write_all(&part[..if is_cut { len / 2 } else { len }])?;
            if is_cut || matches!(shared.moment, Moment::AfterTheCommand) {
                close(&client, &server);
            }
            break;
        }
        server.write_all(part)?;
        if len == 0 {
            // The client has closed the connection.
            close(&client, &server);
            break;
        }
    }
    _ = answers.join();
    Ok(())
}

/// Forwards answers to the client, until one is to be lost.
fn answer(
    mut server: TcpStream,
    mut client: TcpStream,
    is_lost: &Mutex<bool>,
    moment: Moment,
) -> io::Result<()> {
    let mut answer = vec![0; 1 << 16];
    loop {
        let len = server.read(&mut answer)?;
        let is_lost = *is_lost.lock().unwrap();
        if is_lost && matches!(moment, Moment::InTheAnswer) {
            client.write_all(&answer[..len / 2])?;
        }
        if len == 0 || is_lost {
            close(&client, &server);
            return Ok(());
        }
        client.write_all(&answer[..len])?;
    }
}

fn close(client: &TcpStream, server: &TcpStream) {
    // The other end may have closed it already.
    _ = client.shutdown(Shutdown::Both);
    _ = server.shutdown(Shutdown::Both);
}

/// Whatever is lost on the way, no page is, and pages are fetched twice only if their claims had no
/// answer.
#[test]
fn a_claim_whose_answer_is_lost_loses_no_page() {
    let Some(redis) = Redis::start() else { return };
    thread::scope(|scope| {
        for moment in [
            Moment::InTheCommand,
            Moment::AfterTheCommand,
            Moment::AfterTheAnswer,
            Moment::InTheAnswer,
        ] {
            let redis = &redis;
            scope.spawn(move || lose_answers(redis, moment));
        }
    });
}

fn lose_answers(redis: &Redis, moment: Moment) {
    let start = Instant::now();
    let proxy = Proxy::start(redis.port(), moment, 3);
    let seen = format!("redis://127.0.0.1:{}/#{moment:?}", proxy.port);
    let world = World::new(PAGES.min(2000) / 2, 2).with(&["--seen", &seen]);
    world.run();
    let checked = world.check();
    checked.print(&format!("{} lost answers, {moment:?}", proxy.lost()), start);
    // The claims of one command have no answer together.
    let unknown: u64 = (0..2).map(|own| unanswered(&world.report(own))).sum();
    // A claim has at most a batch of URLs, so there are many.
    assert!(proxy.lost() >= checked.pages / BATCH / 3, "{}", proxy.lost());
    assert!(unknown >= proxy.lost(), "{unknown} of {}", proxy.lost());
    assert!(unknown <= proxy.lost() * BATCH, "{unknown}");
    assert!(checked.twice <= unknown, "{} of {unknown}", checked.twice);
    assert!(checked.lost.len() as u64 <= checked.most_lost(1e-9), "{:?}", checked.lost);
    checked.check_politeness(1);
}

/// Returns the number of claims without an answer of a summary.
fn unanswered(report: &str) -> u64 {
    let line = report.lines().find(|line| line.ends_with("claims without an answer")).unwrap();
    line.split(' ').next().unwrap().parse().unwrap()
}
